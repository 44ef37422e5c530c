//! The real OpenCode against the stand-in API. `RALPH_TEST_OPENCODE` names its executable.

use ralph_testkit::{
    Finished, OpenAiServer, RalphCommand, Sandbox, StatusBlock, Turn, opencode_setup, real_cli,
};
use serde_json::{Value, json};
use std::path::PathBuf;

const VERSION: &str = "1.18.33";

fn opencode() -> PathBuf {
    real_cli("RALPH_TEST_OPENCODE", "opencode-ai")
}

fn command(sandbox: &Sandbox, server: &OpenAiServer, prompt: &str) -> RalphCommand {
    let args = ["run", "--format", "json", "--auto"];
    sandbox.ralph(&opencode()).args(args).arg(prompt).envs(opencode_setup(sandbox, server))
}

fn lines(finished: &Finished) -> Vec<Value> {
    let parse =
        |line| serde_json::from_str(line).unwrap_or_else(|error| panic!("not JSON: {error}\n{finished}"));
    finished.stdout.lines().map(parse).collect()
}

fn write(sandbox: &Sandbox, name: &str, content: &str) -> Turn {
    let path = sandbox.project().join(name);
    Turn::text_and_tool("I will write it.", "write", json!({"filePath": path, "content": content}))
}

#[test]
fn the_version_is_the_pinned_one() {
    let sandbox = Sandbox::new();
    let finished = sandbox.ralph(&opencode()).arg("--version").run();
    finished.assert_code(0);
    assert_eq!(finished.stdout.trim(), VERSION);
}

#[test]
fn opencode_writes_a_file_and_says_so() {
    let sandbox = Sandbox::new();
    let words = format!("The greeting is in place.\n\n{}", StatusBlock::done());
    let closing = Turn::text(&words).usage(300, 20).cached(200);
    let server = OpenAiServer::start([write(&sandbox, "hello.txt", "hello\n"), closing]);
    let finished = command(&sandbox, &server, "Write a greeting.").run();
    finished.assert_code(0);
    assert_eq!(sandbox.read("hello.txt"), "hello\n");

    let lines = lines(&finished);
    let kinds: Vec<&Value> = lines.iter().map(|line| &line["type"]).collect();
    let expected = ["step_start", "text", "tool_use", "step_finish", "step_start", "text", "step_finish"];
    assert_eq!(kinds, expected, "{finished}");
    assert_eq!(
        (&lines[2]["part"]["tool"], &lines[2]["part"]["state"]["status"]),
        (&json!("write"), &json!("completed"))
    );
    assert_eq!(lines[5]["part"]["text"], words);
    let part = &lines[6]["part"];
    let tokens =
        json!({"total": 320, "input": 100, "output": 20, "reasoning": 0, "cache": {"read": 200, "write": 0}});
    assert_eq!((&part["reason"], &part["tokens"]), (&json!("stop"), &tokens), "{finished}");
    assert!(part["cost"].as_f64().is_some_and(|cost| cost > 0.0), "{finished}");

    let asked = server.main_requests();
    assert_eq!(asked.len(), 2, "{finished}");
    assert!(asked[0].mentions("Write a greeting."));
    assert_eq!(asked[0].header("authorization"), Some("Bearer x"));
    assert!(
        asked[0].header("user-agent").is_some_and(|agent| agent.contains(VERSION)),
        "{:?}",
        asked[0].headers
    );
    assert_eq!(server.calls_outside(), [""; 0]);
    sandbox.assert_no_processes();
}

#[test]
fn a_refused_key_is_an_error_line() {
    let sandbox = Sandbox::new();
    let server = OpenAiServer::start([Turn::error(401, "invalid_request_error", "Not a valid API key.")]);
    let finished = command(&sandbox, &server, "Anything.").run();
    let lines = lines(&finished);
    let [error] = &lines[..] else { panic!("one line\n{finished}") };
    assert_eq!(error["type"], "error", "{finished}");
    assert_eq!(error["error"]["data"]["statusCode"], 401, "{finished}");
    assert_eq!(error["error"]["data"]["isRetryable"], false, "{finished}");
    assert_eq!(server.main_requests().len(), 1);
}

/// No line tells that it is waiting, and it never gives up.
#[test]
fn a_rate_limit_is_tried_again_without_a_word() {
    let sandbox = Sandbox::new();
    let refusal =
        Turn::error(429, "rate_limit_exceeded", "Too many requests.").header("retry-after-ms", "100");
    let server = OpenAiServer::start(vec![refusal; 50]);
    let running = command(&sandbox, &server, "Anything.").spawn();
    server.wait_for_main_requests(3);
    running.kill9();
    let finished = running.wait();
    finished.assert_code(137);
    assert_eq!(finished.stdout, "");
}
