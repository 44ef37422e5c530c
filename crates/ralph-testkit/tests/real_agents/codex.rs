//! Codex.

use crate::{GREETING, PROMPT, asking, assert_greeted, assert_version, closing, done, kill, last_line};
use ralph_testkit::{OpenAiServer, RalphCommand, RealCli, Sandbox, Turn, codex_setup};
use serde_json::{Value, json};

fn command(sandbox: &Sandbox, server: &OpenAiServer, prompt: &str) -> RalphCommand {
    let args = ["exec", "--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"];
    sandbox.ralph(&RealCli::CODEX.program()).args(args).arg(prompt).envs(codex_setup(sandbox, server))
}

fn shell(command: &str) -> Turn {
    Turn::text_and_tool("I will run it.", "exec_command", json!({"cmd": command}))
}

#[test]
fn the_version_is_the_pinned_one() {
    assert_version(RealCli::CODEX, &format!("codex-cli {}", RealCli::CODEX.version));
}

#[test]
fn codex_writes_a_file_and_says_so() {
    let sandbox = Sandbox::new();
    let words = done();
    let script = [shell("echo hello > hello.txt"), closing(&words)];
    let server = OpenAiServer::start(script);
    let finished = command(&sandbox, &server, GREETING).run();
    assert_greeted(RealCli::CODEX, &sandbox, &server, &finished, ("authorization", "Bearer x"));

    let lines = finished.json_lines();
    assert_eq!(lines[0]["type"], "thread.started", "{finished}");
    let items = lines.iter().filter(|line| line["type"] == "item.completed").map(|line| &line["item"]);
    let items: Vec<&Value> = items.filter(|item| item["type"] != "error").collect();
    let kinds: Vec<&Value> = items.iter().map(|item| &item["type"]).collect();
    assert_eq!(kinds, ["agent_message", "command_execution", "agent_message"], "{finished}");
    assert_eq!((&items[1]["exit_code"], &items[1]["status"]), (&json!(0), &json!("completed")), "{finished}");
    assert_eq!(items[2]["text"], words);
    let last = last_line(&lines);
    assert_eq!(last["type"], "turn.completed", "{finished}");
    let usage = &last["usage"];
    let counts = ["input_tokens", "cached_input_tokens", "output_tokens"].map(|name| usage[name].as_u64());
    assert_eq!(counts, [Some(400), Some(200), Some(70)], "{finished}");
}

#[test]
fn api_errors_end_the_turn_at_once() {
    for (turn, words) in [
        (Turn::error(401, "invalid_request_error", "Incorrect API key."), "401 Unauthorized"),
        (Turn::error(429, "rate_limit_exceeded", "Slow down.").header("retry-after", "30"), "429"),
        (Turn::cut(), "stream disconnected before completion"),
    ] {
        let sandbox = Sandbox::new();
        let server = OpenAiServer::start([turn]);
        let finished = command(&sandbox, &server, PROMPT).run();
        finished.assert_code(1);
        let lines = finished.json_lines();
        let last = last_line(&lines);
        assert_eq!(last["type"], "turn.failed", "{finished}");
        assert!(last["error"]["message"].as_str().is_some_and(|text| text.contains(words)), "{finished}");
        assert_eq!(server.main_requests().len(), 1);
    }
}

#[test]
fn a_hanging_answer_keeps_codex_running_until_it_is_killed() {
    let sandbox = Sandbox::new();
    let server = OpenAiServer::start([Turn::hang()]);
    let running = asking(command(&sandbox, &server, PROMPT), &server);
    running.wait_for_stdout("turn.started");
    kill(running);
    sandbox.assert_no_processes();
}
