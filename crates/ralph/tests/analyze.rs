//! `ralph analyze` on recordings of real CLIs and on words of our own, and what a run makes of such output.

#[path = "../../ralph-core/tests/loop_tools/case.rs"]
mod case;
mod common;

use std::collections::BTreeSet;
use std::path::PathBuf;

use common::{history, ralph, repository, run};
use ralph_testkit::{FakeAgent, Sandbox, StatusBlock, Steps};
use serde_json::{Value, json};

fn recording(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../ralph-testkit/recordings").join(name)
}

fn analyse(sandbox: &Sandbox, args: &[&str]) -> Value {
    let finished = ralph(sandbox).arg("analyze").args(args).run();
    finished.assert_code(0);
    finished.json()
}

#[test]
fn each_cli_is_recognised_from_its_bytes() {
    let sandbox = Sandbox::new();
    for (name, format) in [
        ("claude-work-stream.jsonl", "claude"),
        ("claude-work-json.json", "claude"),
        ("codex-work-json.jsonl", "codex"),
        ("gemini-work-stream.jsonl", "gemini"),
        ("opencode-work-json.jsonl", "opencode"),
        ("claude-work-text.txt", "text"),
    ] {
        let json = analyse(&sandbox, &[recording(name).to_str().expect("UTF-8")]);
        assert_eq!(json["format"], format, "{name}");
        assert_eq!(json["schema"], "ralph.analysis/1");
        assert_eq!(json["ralph_status"]["recommendation"], "Next: add the farewell", "{name}");
        assert_eq!(json["exit_decision"], "continue", "{name}");
    }
}

#[test]
fn standard_input_a_profile_and_an_explanation() {
    let sandbox = Sandbox::new();
    let words = format!("It works.\n\n{}", StatusBlock::done());
    let run = |args: &[&str]| ralph(&sandbox).arg("analyze").args(args).stdin(words.as_str()).run();
    assert_eq!(run(&["-", "--iteration", "7"]).json()["iteration"], 7);
    assert_eq!(run(&["-"]).json()["exit_decision"], "project_complete");
    let explained = run(&["-", "--explain"]);
    explained.assert_code(0).assert_stdout_has("project_complete").assert_stdout_has("EXIT_SIGNAL: true");
    // What is not so bad is not marked as if it were.
    run(&["-", "--explain", "--profile", "analyzer"])
        .assert_stdout_has("\n  - test_saturation: 0 iterations");
    run(&["-", "--profile", "analyser"]).assert_code(64).assert_stderr_has("--profile analyzer");
    ralph(&sandbox).args(["analyze", "missing.txt"]).run().assert_code(65).assert_stderr_has("missing.txt");
}

#[test]
fn previous_outputs_show_a_stuck_loop() {
    let sandbox = Sandbox::new();
    for n in 1..=3 {
        sandbox.write(format!("{n}.txt"), format!("error: cannot find `x` in line {n}\n"));
    }
    let json = analyse(&sandbox, &["3.txt", "--previous", "1.txt", "--previous", "2.txt"]);
    assert_eq!((&json["stuck_loop_detected"], &json["ralph_status"]["found"]), (&json!(true), &json!(false)));
    assert_eq!(json["iteration"], 3, "one more than the outputs before it");
    let two = analyse(&sandbox, &["3.txt", "--previous", "1.txt"]);
    assert_eq!((&two["stuck_loop_detected"], &two["iteration"]), (&json!(false), &json!(2)));
}

#[test]
fn three_outputs_without_file_changes_half_open_the_circuit_and_a_fourth_opens_it() {
    let sandbox = Sandbox::new();
    let idle = StatusBlock { files: 0, ..StatusBlock::in_progress() };
    for n in 1..=4 {
        sandbox.write(format!("{n}.txt"), idle.to_string());
    }
    sandbox.write("work.txt", StatusBlock { files: 2, ..StatusBlock::in_progress() }.to_string());
    let circuit = |previous: &[&str], profile: &str| {
        let previous = previous.iter().flat_map(|file| ["--previous", file]);
        let args: Vec<&str> = ["4.txt", "--profile", profile].into_iter().chain(previous).collect();
        analyse(&sandbox, &args)["circuit_breaker_state"].clone()
    };
    assert_eq!(circuit(&["1.txt"], "analyzer"), "CLOSED");
    assert_eq!(circuit(&["1.txt", "2.txt"], "analyzer"), "HALF_OPEN");
    assert_eq!(circuit(&["1.txt", "2.txt", "3.txt"], "analyzer"), "OPEN");
    assert_eq!(circuit(&["1.txt", "2.txt", "work.txt"], "analyzer"), "CLOSED");
    assert_eq!(circuit(&["1.txt", "2.txt"], "phases"), "OPEN", "this profile opens it at once");
}

#[test]
fn no_reason_of_an_analysis_speaks_against_its_decision() {
    let sandbox = Sandbox::new();
    let red = StatusBlock { tests: "FAILING".into(), ..StatusBlock::done() };
    let stuck = StatusBlock { status: "BLOCKED".into(), ..StatusBlock::done() };
    for (block, decision) in [(red, "project_complete"), (stuck, "blocked")] {
        sandbox.write("out.txt", block.to_string());
        let json = analyse(&sandbox, &["out.txt"]);
        assert_eq!(json["exit_decision"], decision);
        let done = json["reasons"].as_array().expect("a list").iter();
        let done = done.filter(|reason| reason["condition"] != "test_saturation");
        assert_eq!(
            done.clone().all(|reason| reason["held"] == true),
            decision == "project_complete",
            "{json}"
        );
        let believed = done.clone().any(|reason| reason["words"].to_string().contains("believes"));
        assert_eq!(believed, decision == "project_complete", "{json}");
    }
}

#[test]
fn previous_outputs_are_read_in_the_format_that_was_asked_for() {
    let sandbox = Sandbox::new();
    // Nothing in it introduces a stream.
    let failed = r#"{"type":"user","message":{"content":[{"type":"tool_result","content":"error: cannot find `x`","is_error":true}]}}"#;
    for n in 1..=3 {
        sandbox.write(format!("{n}.jsonl"), failed);
    }
    let stuck = |format: &str| {
        let args = ["3.jsonl", "--previous", "1.jsonl", "--previous", "2.jsonl", "--format", format];
        analyse(&sandbox, &args)["stuck_loop_detected"].clone()
    };
    assert_eq!((stuck("claude"), stuck("codex")), (json!(true), json!(false)));
}

#[test]
fn a_stream_that_plain_text_quotes_ends_nothing() {
    let sandbox = Sandbox::new();
    let quoted = json!({"type": "result", "subtype": "success", "is_error": false,
        "result": StatusBlock::done().to_string(), "session_id": "s"});
    for (before, after) in
        [("From the log of the last run:\n", ""), ("```json\n", "```\n"), ("", "is what it said.\n")]
    {
        let own = StatusBlock::in_progress().to_string();
        sandbox.write("out.txt", format!("{before}{quoted}\n{after}\n{own}\n"));
        let json = analyse(&sandbox, &["out.txt"]);
        assert_eq!(
            (&json["format"], &json["exit_decision"]),
            (&json!("text"), &json!("continue")),
            "{before}{after}"
        );
        assert_eq!(json["ralph_status"]["exit_signal"], false, "{before}{after}");
    }
}

#[test]
fn every_dialect_is_heard_and_every_decision_exits_0() {
    let sandbox = Sandbox::new();
    let json =
        |signal: bool| format!("RALPH_STATUS: {{\"completion_indicators\": 2, \"EXIT_SIGNAL\": {signal}}}");
    let blocked = StatusBlock::blocked("Blocked: no key").to_string();
    for (words, profile, decision, dialect) in [
        (
            format!("All tasks complete, project ready\n\n{}\n\nLOOP_COMPLETE", json(true)),
            "phases",
            "project_complete",
            "json",
        ),
        (
            format!("Phase complete, moving to next feature\n\n{}\n\nLOOP_CONTINUE", json(false)),
            "phases",
            "continue",
            "json",
        ),
        ("LOOP_BLOCKED: no key".into(), "phases", "blocked", "json"),
        ("<promise>COMPLETE</promise>".into(), "analyzer", "project_complete", "promise"),
        (blocked, "analyzer", "blocked", ""),
    ] {
        let finished = ralph(&sandbox).args(["analyze", "--profile", profile]).stdin(words.as_str()).run();
        finished.assert_code(0);
        let analysis = finished.json();
        assert_eq!(analysis["exit_decision"], decision, "{words}");
        assert_eq!(analysis["dialects"][0]["dialect"].as_str().unwrap_or(""), dialect, "{words}");
    }
}

#[test]
fn an_explanation_shows_the_report_and_does_not_say_anything_twice() {
    let sandbox = Sandbox::new();
    let explain = |words: &dyn ToString| {
        let finished = ralph(&sandbox).args(["analyze", "--explain"]).stdin(words.to_string()).run();
        finished.assert_code(0);
        finished.stdout
    };
    let blocked = explain(&StatusBlock::blocked("Blocked: no key"));
    assert!(blocked.contains("✗ not_blocked: no key\n"), "{blocked}");
    assert!(!blocked.contains("blocked: no key\n  ✗ explicit_done: blocked"), "{blocked}");
    for line in ["  STATUS: BLOCKED\n", "  TESTS_STATUS: ", "  RECOMMENDATION: Blocked: no key\n"] {
        assert!(blocked.contains(line), "{line}\n{blocked}");
    }
    let silent = explain(&StatusBlock::done().to_string().replace("EXIT_SIGNAL: true\n", ""));
    assert!(silent.contains("✗ explicit_done: no EXIT_SIGNAL\n"), "{silent}");
    let odd = explain(&StatusBlock::done().to_string().replace(": COMPLETE", ": ALMOST"));
    assert!(odd.contains("problem: unknown value of STATUS: ALMOST\n"), "{odd}");
    let red = explain(&StatusBlock { tests: "FAILING".into(), ..StatusBlock::done() });
    assert!(
        red.starts_with("project_complete") && red.contains("✓ contradiction_believed: EXIT_SIGNAL: true"),
        "{red}"
    );
}

#[test]
fn a_wrong_format_is_named_with_the_right_one() {
    let sandbox = Sandbox::new();
    let stream = recording("claude-work-stream.jsonl");
    let json = analyse(&sandbox, &["--format", "gemini", stream.to_str().expect("UTF-8")]);
    let problems = json["problems"].to_string();
    assert!(
        problems.contains("nothing in it looks like Gemini's output; it looks like Claude Code's"),
        "{json}"
    );
}

#[test]
fn output_as_other_loop_tools_have_it_is_read_one_of_each_kind() {
    let sandbox = Sandbox::new();
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../ralph-core/tests/loop_tools");
    let mut kinds = BTreeSet::new();
    for (kind, case) in case::cases(&folder) {
        if kinds.insert(kind.clone()) {
            sandbox.write("out.txt", &case.input);
            let found = case::differences(&case, &analyse(&sandbox, &["out.txt"]));
            assert!(found.is_empty(), "{kind}: {}: {found:?}", case.name);
        }
    }
    assert!(kinds.len() >= 8, "{kinds:?}");
}

/// What a run records of one call of an agent that does this, and fails.
fn recorded(steps: Steps) -> Value {
    let sandbox = repository();
    let agent =
        FakeAgent::new("agent").call(steps).call(Steps::new().say("Nothing to add.")).install(&sandbox);
    run(&sandbox, &agent).args(["--max-iterations", "1", "--set", "max_failures=1"]).run();
    history(&sandbox).remove(0)
}

#[test]
fn a_limit_on_standard_error_is_waited_for_and_words_about_one_are_a_failure() {
    let sandbox = repository();
    let agent = FakeAgent::new("agent")
        .call(Steps::new().complain("Request failed with status 429 (retry-after: 1)").exit(1))
        .call(Steps::new().write("green", "").status(&StatusBlock::done()))
        .install(&sandbox);
    let finished = run(&sandbox, &agent).args(["--test-cmd", common::TEST, "--reviews", "0"]).run();
    finished.assert_code(0).assert_stderr_has("[ralph] waiting until ");
    assert_eq!(history(&sandbox)[0]["outcome"], "limited");
    for line in [
        "I added handling for 429 rate limit errors to the client.",
        "FAILED tests/test_limits.py::test_rate_limit_exceeded",
    ] {
        let entry = recorded(Steps::new().complain(line).exit(1));
        assert_eq!(entry["outcome"], "failed", "{line}: {entry}");
    }
}

#[test]
fn the_error_that_an_agent_s_stream_names_is_told_with_the_iteration() {
    let start = r#"{"type":"step_start","sessionID":"o","part":{}}"#;
    let ended = r#"{"type":"step_finish","sessionID":"o","part":{"id":"p","reason":"stop"}}"#;
    let error = r#"{"type":"error","sessionID":"o","error":{"data":{"message":"the provider went away"}}}"#;
    let init = r#"{"type":"system","subtype":"init","session_id":"s"}"#;
    let result =
        r#"{"type":"result","subtype":"success","is_error":true,"result":"","terminal_reason":"model_gone"}"#;
    for (stream, words) in [
        (format!("{start}\n{error}\n{ended}"), "the provider went away"),
        (format!("{init}\n{result}"), "model_gone"),
        (format!("[\n{init},\n{result}\n]"), "model_gone"),
        (format!("{start}\n{}", ended.replace("stop", "tool-calls")), "ended without a result"),
    ] {
        let entry = recorded(Steps::new().say(stream));
        assert_eq!(entry["outcome"], "failed", "{entry}");
        assert!(entry.to_string().contains(words), "{words}: {entry}");
    }
}
