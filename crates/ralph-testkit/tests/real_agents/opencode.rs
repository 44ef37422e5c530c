//! OpenCode.

use crate::{GREETING, PROMPT, assert_greeted, assert_version, closing, done, kill};
use ralph_testkit::{OpenAiServer, RalphCommand, RealCli, Sandbox, Turn, opencode_setup};
use serde_json::{Value, json};

fn command(sandbox: &Sandbox, server: &OpenAiServer, prompt: &str) -> RalphCommand {
    let args = ["run", "--format", "json", "--auto"];
    sandbox.ralph(&RealCli::OPENCODE.program()).args(args).arg(prompt).envs(opencode_setup(sandbox, server))
}

fn write(sandbox: &Sandbox, name: &str, content: &str) -> Turn {
    let path = sandbox.project().join(name);
    Turn::text_and_tool("I will write it.", "write", json!({"filePath": path, "content": content}))
}

#[test]
fn the_version_is_the_pinned_one() {
    assert_version(RealCli::OPENCODE, RealCli::OPENCODE.version);
}

#[test]
fn opencode_writes_a_file_and_says_so() {
    let sandbox = Sandbox::new();
    let words = done();
    let server = OpenAiServer::start([write(&sandbox, "hello.txt", "hello\n"), closing(&words)]);
    let finished = command(&sandbox, &server, GREETING).run();
    assert_greeted(RealCli::OPENCODE, &sandbox, &server, &finished, ("authorization", "Bearer x"));

    let lines = finished.json_lines();
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
}

#[test]
fn a_refused_key_is_an_error_line() {
    let sandbox = Sandbox::new();
    let server = OpenAiServer::start([Turn::error(401, "invalid_request_error", "Not a valid API key.")]);
    let finished = command(&sandbox, &server, PROMPT).run();
    let lines = finished.json_lines();
    let [error] = &lines[..] else { panic!("one line\n{finished}") };
    assert_eq!(error["type"], "error", "{finished}");
    assert_eq!(error["error"]["data"]["statusCode"], 401, "{finished}");
    assert_eq!(error["error"]["data"]["isRetryable"], false, "{finished}");
    assert_eq!(server.main_requests().len(), 1);
}

/// No line tells that it is waiting.
#[test]
fn a_rate_limit_is_tried_again_without_a_word() {
    let sandbox = Sandbox::new();
    let refusal =
        Turn::error(429, "rate_limit_exceeded", "Too many requests.").header("retry-after-ms", "100");
    let server = OpenAiServer::start(vec![refusal; 50]);
    let running = command(&sandbox, &server, PROMPT).spawn();
    server.wait_for_main_requests(3);
    assert_eq!(kill(running).stdout, "");
}
