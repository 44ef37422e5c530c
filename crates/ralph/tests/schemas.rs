//! Every JSON that the program writes is as `schemas/` says, and says nothing more.

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use common::{TEST, history, one_call, ralph, repository, run, says_done, says_more, status};
use ralph_core::breaker::{Breaker, Circuit};
use ralph_core::decision::{Phase, Proof, Stop};
use ralph_core::event::RunInfo;
use ralph_core::limits::Resource;
use ralph_core::profile::PROFILES;
use ralph_core::state::State;
use ralph_core::time::Time;
use ralph_core::view;
use ralph_testkit::{ClaudeResult, FakeAgent, Sandbox, Schema, StatusBlock, Steps};
use serde_json::{Value, json};

/// Holds everything that a project shows of its runs against the schemas; how many documents there were.
fn hold(sandbox: &Sandbox) -> usize {
    let mut documents = vec![("status".to_owned(), status(sandbox))];
    documents.push(("circuit".into(), ralph(sandbox).args(["circuit", "status", "--json"]).run().json()));
    documents.push(("history".into(), ralph(sandbox).args(["history", "--json"]).run().json()));
    documents.push(("summary".into(), ralph(sandbox).args(["summary", "--json"]).run().json()));
    for entry in history(sandbox) {
        let number = entry["iteration"].to_string();
        let one = ralph(sandbox).args(["history", &number, "--json"]).run().json();
        documents.push((format!("history {number}"), one));
    }
    let mut files = Vec::new();
    json_files(&sandbox.project(), &mut files);
    for path in files {
        let text = fs::read_to_string(&path).expect("readable");
        let value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        documents.push((path.file_name().expect("a name").to_string_lossy().into_owned(), value));
    }
    for (name, document) in &documents {
        let schema = match document["schema"].as_str() {
            Some(schema) => schema,
            None if name == ".ralph-session.json" => "ralph.session/1",
            None => panic!("{name} names no schema: {document:#}"),
        };
        let complaints = Schema::published(schema).complaints(document);
        assert!(complaints.is_empty(), "{name}: {}\n{document:#}", complaints.join("\n"));
    }
    documents.len()
}

/// The views, hidden ones too, but not the truth.
fn json_files(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() && entry.file_name() != ".git" && entry.file_name() != ".state" {
            json_files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "json") {
            found.push(path);
        }
    }
}

#[test]
fn a_project_without_runs() {
    assert_eq!(hold(&Sandbox::new()), 4);
}

#[test]
fn a_run_that_is_refused_mended_reviewed_and_complete() {
    let sandbox = repository();
    let agent = FakeAgent::new("agent")
        .call(says_done())
        .call(Steps::new().write("green", "").delete("README.md").status(&StatusBlock::done()))
        .call(says_done())
        .install(&sandbox);
    run(&sandbox, &agent).args(["--test-cmd", TEST]).run().assert_code(0);
    assert_eq!(status(&sandbox)["proof"], "checks");
    assert_eq!(hold(&sandbox), 10);
}

#[test]
fn a_run_while_its_agent_works() {
    let sandbox = repository();
    let agent =
        one_call(&sandbox, Steps::new().reach("here").hold("go").status(&StatusBlock::blocked("Blocked: x")));
    let running = run(&sandbox, &agent).args(["--profile", "analyzer"]).spawn();
    sandbox.wait_for("here");
    assert_eq!(status(&sandbox)["running"], true);
    assert_eq!(hold(&sandbox), 8);
    sandbox.release("go");
    running.wait().assert_code(2);
    assert_eq!(hold(&sandbox), 9);
}

#[test]
fn runs_that_fail_are_limited_or_go_nowhere() {
    let sandbox = repository();
    let limit = "API Error: Rate limit reached";
    let limited = Steps::new()
        .claude_init()
        .claude_api_error("rate_limit", limit)
        .claude_result(ClaudeResult::api_error(429, limit))
        .exit(1);
    let first = FakeAgent::new("first").call(limited).install(&sandbox);
    let second = FakeAgent::new("second")
        .call(Steps::new().say("error: cannot find `x`").complain("odd").exit(3))
        .call(says_more())
        .install(&sandbox);
    let both = run(&sandbox, &first).arg("--agent-cmd").arg(second.path());
    both.args([
        "--set", "backoff=1ms", "--set", "limit_backoff=1h", "--profile", "analyzer", "--set",
        "no_progress=open",
    ])
    .run()
    .assert_code(5);
    let outcomes: Vec<Value> = history(&sandbox).iter().map(|entry| entry["outcome"].clone()).collect();
    assert_eq!(json!(outcomes), json!(["limited", "failed", "more", "more", "more"]));
    assert_eq!(hold(&sandbox), 13);
}

#[test]
fn each_way_to_stop_has_its_word_in_the_schemas() {
    let run = RunInfo {
        id: "an id".into(),
        number: 1,
        goal: "a goal".into(),
        plan: serde_json::from_value(json!({"policy": {}, "checks": [], "agents": []})).expect("a plan"),
        version: "0".into(),
    };
    let why = || "why".to_owned();
    let budget = |what| Stop::Budget { what, used: 2, max: 1, why: None, until: None };
    let complete = [Proof::Checks, Proof::Reviews, Proof::Words, Proof::None].map(Stop::complete);
    let others = [
        Stop::Blocked { why: why() },
        Stop::MaxIterations { used: 1, max: 1 },
        Stop::Saturated { word: "test_saturation".into(), why: why() },
        Stop::Saturated { word: "done_saturation".into(), why: why() },
        Stop::CircuitOpen { why: why(), probe_at: None },
        budget(Resource::Time),
        budget(Resource::Tokens),
        budget(Resource::Money),
        Stop::Budget { what: Resource::Time, used: 2, max: 0, why: None, until: Some(Time::default()) },
        Stop::AgentsExhausted { failures: 1, last: why() },
        Stop::Stopped,
        Stop::Closed,
        Stop::Interrupted,
        Stop::Terminated,
        Stop::Error { what: why() },
        Stop::Unknown,
    ];
    for stop in complete.into_iter().chain(others) {
        let state = State { run: Some(run.clone()), phase: Phase::Halted { stop }, ..State::default() };
        let mut status = view::json::status(Some(&state), Default::default());
        status["problems"] = json!([]);
        Schema::published("ralph.status/1").assert(&status);
        Schema::published("ralph.state/1").assert(&view::files::state_json(&state));
        Schema::published("ralph.checkpoint/1")
            .assert(&view::files::post_task(&state).expect("it has stopped"));
    }
}

#[test]
fn each_state_of_the_circuit_is_as_published() {
    for circuit in [Circuit::Closed, Circuit::HalfOpen, Circuit::Open] {
        let breaker = Breaker { circuit, opened_at: Some(Time::from_millis(0)), ..Breaker::default() };
        let mut document = view::json::circuit(&breaker);
        (document["schema"], document["run"]) = ("ralph.circuit/1".into(), 1.into());
        Schema::published("ralph.circuit/1").assert(&document);
    }
}

#[test]
fn the_profiles_are_as_published() {
    let sandbox = Sandbox::new();
    let shown = |args: &[&str]| ralph(&sandbox).arg("profile").args(args).arg("--json").run().json();
    Schema::published("ralph.profiles/1").assert(&shown(&["list"]));
    for profile in PROFILES {
        Schema::published("ralph.profile/1").assert(&shown(&["show", profile.name]));
    }
}

#[test]
fn an_agent_that_signals_by_file() {
    let sandbox = repository();
    let signal =
        |word: &str| Steps::new().say("See the file.").shell(&format!("echo {word} > .ralph/status"));
    let agent = FakeAgent::new("agent").call(signal("ROTATE")).call(signal("STUCK")).install(&sandbox);
    run(&sandbox, &agent).args(["--profile", "rotations"]).run().assert_code(2);
    let results: Vec<Value> = history(&sandbox).iter().map(|entry| entry["result"].clone()).collect();
    assert_eq!(json!(results), json!(["ROTATE", "STUCK"]));
    let session = sandbox.read(".ralph/session.md");
    assert!(session.contains("- Iteration 1: ROTATE, no changes"), "{session}");
    assert_eq!(hold(&sandbox), 9);
}

#[test]
fn the_analysis_of_every_recording_is_as_published() {
    let recordings = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../ralph-testkit/recordings");
    let sandbox = Sandbox::new();
    let schema = Schema::published("ralph.analysis/1");
    let mut limits = 0;
    for entry in fs::read_dir(recordings).expect("recordings").flatten() {
        let finished = ralph(&sandbox).arg("analyze").arg(entry.path()).run();
        let document = finished.assert_code(0).json();
        let complaints = schema.complaints(&document);
        assert!(complaints.is_empty(), "{:?}: {}", entry.file_name(), complaints.join("\n"));
        limits += document["limits"].as_array().map_or(0, Vec::len);
    }
    assert!(limits > 0, "recordings of limits are among them");
    for words in [
        "<promise>COMPLETE</promise>",
        "RALPH_STATUS: {\"completion_indicators\": 2, \"EXIT_SIGNAL\": true}\nLOOP_COMPLETE_PHASE_2",
        "LOOP_BLOCKED: no key",
        "---RALPH_STATUS---\nSTATUS: PERHAPS\nTESTS_STATUS: MAYBE\n---END_RALPH_STATUS---",
    ] {
        for profile in ["default", "dual", "analyzer", "worker"] {
            let finished = ralph(&sandbox).args(["analyze", "-", "--profile", profile]).stdin(words).run();
            schema.assert(&finished.assert_code(0).json());
        }
    }
}
