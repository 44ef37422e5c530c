//! The real Codex against the stand-in API. `RALPH_TEST_CODEX` names its executable.

use ralph_testkit::{
    Finished, OpenAiServer, RalphCommand, Sandbox, StatusBlock, Turn, codex_setup, real_cli,
};
use serde_json::{Value, json};
use std::path::PathBuf;

const VERSION: &str = "0.166.0";

fn codex() -> PathBuf {
    real_cli("RALPH_TEST_CODEX", "@openai/codex")
}

fn command(sandbox: &Sandbox, server: &OpenAiServer, prompt: &str) -> RalphCommand {
    let args = ["exec", "--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"];
    sandbox.ralph(&codex()).args(args).arg(prompt).envs(codex_setup(sandbox, server))
}

fn lines(finished: &Finished) -> Vec<Value> {
    let parse =
        |line| serde_json::from_str(line).unwrap_or_else(|error| panic!("not JSON: {error}\n{finished}"));
    finished.stdout.lines().map(parse).collect()
}

fn shell(command: &str) -> Turn {
    Turn::text_and_tool("I will run it.", "exec_command", json!({"cmd": command}))
}

#[test]
fn the_version_is_the_pinned_one() {
    let sandbox = Sandbox::new();
    let finished = sandbox.ralph(&codex()).arg("--version").run();
    finished.assert_code(0);
    assert_eq!(finished.stdout.trim(), format!("codex-cli {VERSION}"));
}

#[test]
fn codex_writes_a_file_and_says_so() {
    let sandbox = Sandbox::new();
    let words = format!("The greeting is in place.\n\n{}", StatusBlock::done());
    let script = [shell("echo hello > hello.txt"), Turn::text(&words).usage(300, 20).cached(200)];
    let server = OpenAiServer::start(script);
    let finished = command(&sandbox, &server, "Write a greeting.").run();
    finished.assert_code(0);
    assert_eq!(sandbox.read("hello.txt"), "hello\n");

    let lines = lines(&finished);
    assert_eq!(lines[0]["type"], "thread.started", "{finished}");
    let items = lines.iter().filter(|line| line["type"] == "item.completed").map(|line| &line["item"]);
    let items: Vec<&Value> = items.filter(|item| item["type"] != "error").collect();
    let kinds: Vec<&Value> = items.iter().map(|item| &item["type"]).collect();
    assert_eq!(kinds, ["agent_message", "command_execution", "agent_message"], "{finished}");
    assert_eq!((&items[1]["exit_code"], &items[1]["status"]), (&json!(0), &json!("completed")), "{finished}");
    assert_eq!(items[2]["text"], words);
    let last = lines.last().expect("a last line");
    assert_eq!(last["type"], "turn.completed", "{finished}");
    let usage = &last["usage"];
    let counts = ["input_tokens", "cached_input_tokens", "output_tokens"].map(|name| usage[name].as_u64());
    assert_eq!(counts, [Some(400), Some(200), Some(70)], "{finished}");

    let asked = server.main_requests();
    assert_eq!(asked.len(), 2, "{finished}");
    assert!(asked[0].mentions("Write a greeting."));
    assert_eq!(asked[0].header("authorization"), Some("Bearer x"));
    assert!(asked[0].header("user-agent").is_some_and(|agent| agent.contains(VERSION)));
    assert_eq!(server.calls_outside(), [""; 0]);
    sandbox.assert_no_processes();
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
        let finished = command(&sandbox, &server, "Anything.").run();
        finished.assert_code(1);
        let lines = lines(&finished);
        let last = lines.last().expect("a last line");
        assert_eq!(last["type"], "turn.failed", "{finished}");
        assert!(last["error"]["message"].as_str().is_some_and(|text| text.contains(words)), "{finished}");
        assert_eq!(server.main_requests().len(), 1);
    }
}

#[test]
fn a_hanging_answer_keeps_codex_running_until_it_is_killed() {
    let sandbox = Sandbox::new();
    let server = OpenAiServer::start([Turn::hang()]);
    let running = command(&sandbox, &server, "Anything.").spawn();
    server.wait_for_main_requests(1);
    running.wait_for_stdout("turn.started");
    running.kill9();
    running.wait().assert_code(137);
    sandbox.assert_no_processes();
}
