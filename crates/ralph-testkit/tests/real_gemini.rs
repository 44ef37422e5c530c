//! The real Gemini CLI against the stand-in API. `RALPH_TEST_GEMINI` names its executable.

use ralph_testkit::{
    Finished, GeminiServer, RalphCommand, Sandbox, StatusBlock, Turn, gemini_setup, real_cli,
};
use serde_json::{Value, json};
use std::path::PathBuf;

const VERSION: &str = "0.61.0";
const MODEL: &str = "gemini-2.5-pro";

fn gemini() -> PathBuf {
    real_cli("RALPH_TEST_GEMINI", "@google/gemini-cli")
}

fn command(sandbox: &Sandbox, server: &GeminiServer, prompt: &str) -> RalphCommand {
    let args = ["--output-format", "stream-json", "--yolo", "--skip-trust", "-m", MODEL, "-p"];
    sandbox.ralph(&gemini()).args(args).arg(prompt).envs(gemini_setup(sandbox, server))
}

fn lines(finished: &Finished) -> Vec<Value> {
    let parse =
        |line| serde_json::from_str(line).unwrap_or_else(|error| panic!("not JSON: {error}\n{finished}"));
    finished.stdout.lines().map(parse).collect()
}

fn write(sandbox: &Sandbox, name: &str, content: &str) -> Turn {
    let path = sandbox.project().join(name);
    Turn::text_and_tool("I will write it.", "write_file", json!({"file_path": path, "content": content}))
}

#[test]
fn the_version_is_the_pinned_one() {
    let sandbox = Sandbox::new();
    let finished = sandbox.ralph(&gemini()).arg("--version").run();
    finished.assert_code(0);
    assert_eq!(finished.stdout.trim(), VERSION);
}

#[test]
fn gemini_writes_a_file_and_says_so() {
    let sandbox = Sandbox::new();
    let words = format!("The greeting is in place.\n\n{}", StatusBlock::done());
    let closing = Turn::text(&words).usage(300, 20).cached(200);
    let server = GeminiServer::start([write(&sandbox, "hello.txt", "hello\n"), closing]);
    let finished = command(&sandbox, &server, "Write a greeting.").run();
    finished.assert_code(0);
    assert_eq!(sandbox.read("hello.txt"), "hello\n");

    let lines = lines(&finished);
    assert_eq!((&lines[0]["type"], &lines[0]["model"]), (&json!("init"), &json!(MODEL)), "{finished}");
    let of_type = |kind: &str| lines.iter().filter(|line| line["type"] == kind).collect::<Vec<_>>();
    let words_of = |line: &&Value| line["role"] == "assistant" && line["delta"] == true;
    let pieces = of_type("message").into_iter().filter(words_of).filter_map(|line| line["content"].as_str());
    assert_eq!(pieces.collect::<String>(), format!("I will write it.{words}"), "{finished}");
    let ([call], [outcome]) = (&of_type("tool_use")[..], &of_type("tool_result")[..]) else {
        panic!("one tool call\n{finished}")
    };
    assert_eq!((&call["tool_name"], &call["tool_id"]), (&json!("write_file"), &outcome["tool_id"]));
    assert_eq!(outcome["status"], "success", "{finished}");
    let result = lines.last().expect("a last line");
    assert_eq!((&result["type"], &result["status"]), (&json!("result"), &json!("success")), "{finished}");
    let counts = ["input_tokens", "cached", "output_tokens"].map(|name| result["stats"][name].as_u64());
    assert_eq!(counts, [Some(400), Some(200), Some(70)], "{finished}");

    let asked = server.main_requests();
    assert_eq!(asked.len(), 2, "{finished}");
    assert!(asked[0].mentions("Write a greeting."));
    assert_eq!(asked[0].header("x-goog-api-key"), Some("x"));
    assert!(asked[0].header("user-agent").is_some_and(|agent| agent.contains(VERSION)));
    assert_eq!(server.calls_outside(), [""; 0]);
    sandbox.assert_no_processes();
}

#[test]
fn an_api_error_is_a_result_and_its_status_the_exit_code() {
    for (status, kind) in [(401, "UNAUTHENTICATED"), (429, "RESOURCE_EXHAUSTED")] {
        let sandbox = Sandbox::new();
        let server = GeminiServer::start([Turn::error(status, kind, "Not now.")]);
        let finished = command(&sandbox, &server, "Anything.").run();
        // An exit code has eight bits.
        finished.assert_code(i32::from(status % 256));
        let lines = lines(&finished);
        let result = lines.last().expect("a last line");
        assert_eq!((&result["type"], &result["status"]), (&json!("result"), &json!("error")), "{finished}");
        let message = result["error"]["message"].as_str().expect("a message");
        assert!(message.starts_with("[API Error: ") && message.contains("Not now."), "{finished}");
        assert_eq!(server.main_requests().len(), 1);
    }
}

#[test]
fn a_cut_stream_is_an_error() {
    let sandbox = Sandbox::new();
    let server = GeminiServer::start([Turn::cut()]);
    let finished = command(&sandbox, &server, "Anything.").run();
    finished.assert_code(1).assert_stdout_has("[API Error: terminated]");
}

/// It starts itself again as a child, which does the work and does not notice that its parent is gone.
#[test]
fn killing_gemini_is_not_enough() {
    let sandbox = Sandbox::new();
    let server = GeminiServer::start([Turn::hang()]);
    let running = command(&sandbox, &server, "Anything.").spawn();
    server.wait_for_main_requests(1);
    assert_eq!(sandbox.processes().len(), 2);
    running.kill9();
    running.wait().assert_code(137);
    assert_eq!(sandbox.processes().len(), 1);
}
