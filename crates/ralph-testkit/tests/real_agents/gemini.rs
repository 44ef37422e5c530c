//! The Gemini CLI.

use crate::{GREETING, PROMPT, asking, assert_greeted, assert_version, closing, done, kill, last_line};
use ralph_testkit::{GeminiServer, RalphCommand, RealCli, Sandbox, Turn, gemini_setup};
use serde_json::{Value, json};

const MODEL: &str = "gemini-2.5-pro";

fn command(sandbox: &Sandbox, server: &GeminiServer, prompt: &str) -> RalphCommand {
    let args = ["--output-format", "stream-json", "--yolo", "--skip-trust", "-m", MODEL, "-p"];
    sandbox.ralph(&RealCli::GEMINI.program()).args(args).arg(prompt).envs(gemini_setup(sandbox, server))
}

fn write(sandbox: &Sandbox, name: &str, content: &str) -> Turn {
    let path = sandbox.project().join(name);
    Turn::text_and_tool("I will write it.", "write_file", json!({"file_path": path, "content": content}))
}

#[test]
fn the_version_is_the_pinned_one() {
    assert_version(RealCli::GEMINI, RealCli::GEMINI.version);
}

#[test]
fn gemini_writes_a_file_and_says_so() {
    let sandbox = Sandbox::new();
    let words = done();
    let server = GeminiServer::start([write(&sandbox, "hello.txt", "hello\n"), closing(&words)]);
    let finished = command(&sandbox, &server, GREETING).run();
    assert_greeted(RealCli::GEMINI, &sandbox, &server, &finished, ("x-goog-api-key", "x"));

    let lines = finished.json_lines();
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
    let result = last_line(&lines);
    assert_eq!((&result["type"], &result["status"]), (&json!("result"), &json!("success")), "{finished}");
    let counts = ["input_tokens", "cached", "output_tokens"].map(|name| result["stats"][name].as_u64());
    assert_eq!(counts, [Some(400), Some(200), Some(70)], "{finished}");
}

#[test]
fn an_api_error_is_a_result_and_its_status_the_exit_code() {
    for (status, kind) in [(401, "UNAUTHENTICATED"), (429, "RESOURCE_EXHAUSTED")] {
        let sandbox = Sandbox::new();
        let server = GeminiServer::start([Turn::error(status, kind, "Not now.")]);
        let finished = command(&sandbox, &server, PROMPT).run();
        // An exit code has eight bits.
        finished.assert_code(i32::from(status % 256));
        let lines = finished.json_lines();
        let result = last_line(&lines);
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
    let finished = command(&sandbox, &server, PROMPT).run();
    finished.assert_code(1).assert_stdout_has("[API Error: terminated]");
}

/// It starts itself again as a child, which does the work and does not notice that its parent is gone.
#[test]
fn killing_gemini_is_not_enough() {
    let sandbox = Sandbox::new();
    let server = GeminiServer::start([Turn::hang()]);
    let running = asking(command(&sandbox, &server, PROMPT), &server);
    assert_eq!(sandbox.processes().len(), 2);
    kill(running);
    assert_eq!(sandbox.processes().len(), 1);
}
