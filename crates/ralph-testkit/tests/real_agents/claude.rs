//! Claude Code.

use crate::{GREETING, PROMPT, asking, assert_greeted, assert_version, done, kill, last_line};
use ralph_testkit::{AnthropicServer, Finished, RalphCommand, RealCli, Sandbox, Turn, claude_env};
use serde_json::{Value, json};

fn command(sandbox: &Sandbox, server: &AnthropicServer, prompt: &str) -> RalphCommand {
    let args = ["-p", "--output-format", "stream-json", "--verbose", "--dangerously-skip-permissions"];
    sandbox.ralph(&RealCli::CLAUDE.program()).args(args).envs(claude_env(server)).stdin(prompt)
}

fn run(sandbox: &Sandbox, server: &AnthropicServer, prompt: &str) -> Finished {
    command(sandbox, server, prompt).run()
}

fn of_type<'a>(lines: &'a [Value], kind: &str) -> Vec<&'a Value> {
    lines.iter().filter(|line| line["type"] == kind).collect()
}

fn write(sandbox: &Sandbox, name: &str, content: &str) -> Turn {
    let path = sandbox.project().join(name);
    Turn::text_and_tool("I will write it.", "Write", json!({"file_path": path, "content": content}))
}

#[test]
fn the_version_is_the_pinned_one() {
    assert_version(RealCli::CLAUDE, &format!("{} (Claude Code)", RealCli::CLAUDE.version));
}

#[test]
fn claude_writes_a_file_and_says_so() {
    let sandbox = Sandbox::new();
    let words = done();
    let server = AnthropicServer::start([write(&sandbox, "hello.txt", "hello\n"), Turn::text(&words)]);
    let finished = run(&sandbox, &server, GREETING);
    assert_greeted(RealCli::CLAUDE, &sandbox, &server, &finished, ("x-api-key", "x"));

    let lines = finished.json_lines();
    assert_eq!((&lines[0]["type"], &lines[0]["subtype"]), (&json!("system"), &json!("init")), "{finished}");
    assert_eq!(lines[0]["permissionMode"], "bypassPermissions");
    let blocks = of_type(&lines, "assistant");
    let kinds: Vec<&Value> = blocks.iter().map(|line| &line["message"]["content"][0]["type"]).collect();
    assert_eq!(kinds, ["text", "tool_use", "text"], "{finished}");
    assert_eq!(blocks[0]["message"]["id"], blocks[1]["message"]["id"]);
    assert_eq!(blocks[2]["message"]["content"][0]["text"], words);
    let [outcome] = of_type(&lines, "user")[..] else { panic!("one tool result\n{finished}") };
    assert_ne!(outcome["message"]["content"][0]["is_error"], true, "{finished}");
    let result = last_line(&lines);
    assert_eq!((&result["type"], &result["is_error"]), (&json!("result"), &json!(false)), "{finished}");
    assert_eq!((&result["result"], &result["num_turns"]), (&json!(words), &json!(2)));
    assert_eq!(result["usage"]["input_tokens"], 200, "{finished}");
    assert!(result["total_cost_usd"].as_f64().is_some_and(|cost| cost > 0.0), "{finished}");
}

#[test]
fn sessions_follow_each_other_through_one_script() {
    let sandbox = Sandbox::new();
    let server = AnthropicServer::start([
        write(&sandbox, "one.txt", "1\n"),
        Turn::text("First done."),
        write(&sandbox, "two.txt", "2\n"),
        Turn::text("Second done."),
    ]);
    let sessions = ["First", "Second"].map(|word| {
        let finished = run(&sandbox, &server, &format!("{word}, please."));
        finished.assert_code(0).assert_stdout_has(&format!("{word} done."));
        finished.json_lines()[0]["session_id"].clone()
    });
    assert_ne!(sessions[0], sessions[1]);
    assert_eq!((sandbox.read("one.txt"), sandbox.read("two.txt")), ("1\n".into(), "2\n".into()));
    assert_eq!(server.turns_left(), 0);
}

#[test]
fn an_api_error_is_a_success_that_is_an_error() {
    for (status, kind, error) in
        [(429, "rate_limit_error", "rate_limit"), (529, "overloaded_error", "server_error")]
    {
        let sandbox = Sandbox::new();
        let server =
            AnthropicServer::start([Turn::error(status, kind, "Not now.").header("retry-after", "30")]);
        let finished = run(&sandbox, &server, PROMPT);
        finished.assert_code(1);
        let lines = finished.json_lines();
        let result = last_line(&lines);
        assert_eq!(
            (&result["subtype"], &result["is_error"]),
            (&json!("success"), &json!(true)),
            "{finished}"
        );
        assert_eq!(result["api_error_status"], status, "{finished}");
        assert_eq!(of_type(&lines, "assistant")[0]["error"], error, "{finished}");
    }
}

#[test]
fn a_lost_connection_is_tried_again_without_streaming() {
    let sandbox = Sandbox::new();
    let server = AnthropicServer::start([Turn::cut(), Turn::text("Second try."), Turn::cut(), Turn::cut()]);
    let finished = run(&sandbox, &server, PROMPT);
    finished.assert_code(0).assert_stdout_has("Second try.");
    assert_ne!(server.main_requests()[1].body["stream"], Value::Bool(true));

    let finished = run(&sandbox, &server, PROMPT);
    finished.assert_code(1);
    let lines = finished.json_lines();
    let result = last_line(&lines);
    assert_eq!(
        (&result["is_error"], &result["api_error_status"]),
        (&json!(true), &Value::Null),
        "{finished}"
    );
    assert_eq!(of_type(&lines, "assistant")[0]["error"], "server_error", "{finished}");
}

#[test]
fn a_hanging_answer_keeps_claude_running_until_it_is_killed() {
    let sandbox = Sandbox::new();
    let server = AnthropicServer::start([Turn::hang()]);
    let running = asking(command(&sandbox, &server, PROMPT), &server);
    running.wait_for_stdout(r#""subtype":"init""#);
    kill(running);
    sandbox.assert_no_processes();
}
