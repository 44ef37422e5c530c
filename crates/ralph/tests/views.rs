//! The views: what seed 004 calls session, state, history and checkpoints, and seed 002's session file.

mod common;

use common::{GOAL, TEST, history, one_call, ralph, repository, run, says_done, says_more};
use ralph_testkit::{ClaudeResult, FakeAgent, Sandbox, StatusBlock, Steps};
use serde_json::{Value, json};

const NEXT: &str = "Next: write the farewell";

/// A run whose only iteration changed a file and is not done.
fn one_iteration() -> Sandbox {
    let sandbox = repository();
    let more = StatusBlock { recommendation: NEXT.into(), ..StatusBlock::in_progress() };
    let steps = Steps::new().write("hello.txt", "hello\n").say("Going on.").status(&more);
    let agent = one_call(&sandbox, steps);
    run(&sandbox, &agent).args(["--max-iterations", "1"]).run().assert_code(3);
    sandbox
}

fn json_of(sandbox: &Sandbox, path: &str) -> Value {
    serde_json::from_str(&sandbox.read(path)).expect("JSON")
}

fn state(sandbox: &Sandbox) -> Value {
    json_of(sandbox, ".ralph/state.json")
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().expect("an object").keys().map(String::as_str).collect()
}

#[test]
fn the_status_block_is_kept_verbatim_for_people_and_as_claims_for_machines() {
    let sandbox = one_iteration();
    let log = sandbox.read(".ralph/history/iteration-001.md");
    let block = StatusBlock { recommendation: NEXT.into(), ..StatusBlock::in_progress() };
    assert!(log.contains(&block.to_string()), "{log}");
    assert!(log.contains("A hello.txt"), "{log}");
    let claims = &history(&sandbox)[0]["claims"];
    assert_eq!(claims["status"], "IN_PROGRESS");
    assert_eq!((&claims["exit_signal"], &claims["recommendation"]), (&json!(false), &json!(NEXT)));
}

#[test]
fn the_session_file_tells_iteration_times_goal_and_what_came_last() {
    let session = one_iteration().read(".ralph/session.md");
    assert!(session.starts_with("# Ralph Session State\n"), "{session}");
    for line in ["iteration: 1", "## Current Status", "## Recent History", "- Iteration 1: "] {
        assert!(session.lines().any(|found| found.starts_with(line)), "{line}\n{session}");
    }
    assert!(session.contains(&format!("Working on: {GOAL}\n")), "{session}");
    for name in ["started_at: ", "last_update: "] {
        let time = session.lines().find_map(|line| line.strip_prefix(name)).expect("a time");
        assert!(time.starts_with("20") && time.ends_with('Z'), "{name}{time}");
    }
}

#[test]
fn the_state_file_tells_goal_signal_and_how_the_last_iteration_ended() {
    let sandbox = one_iteration();
    let more = state(&sandbox);
    assert_eq!((&more["iteration"], &more["current_task"]), (&json!(1), &json!(GOAL)));
    assert_eq!(
        (&more["exit_signal"], &more["last_iteration_status"]),
        (&json!(false), &json!("LOOP_CONTINUE"))
    );
    assert_eq!((&more["blocked"], &more["blocker_reason"]), (&json!(false), &json!(null)));
    assert!(more["last_updated"].as_str().is_some_and(|time| time.ends_with('Z')));

    let sandbox = repository();
    let agent = one_call(&sandbox, Steps::new().status(&StatusBlock::blocked("Blocked: no key")));
    run(&sandbox, &agent).run().assert_code(2);
    let blocked = state(&sandbox);
    assert_eq!((&blocked["blocked"], &blocked["blocker_reason"]), (&json!(true), &json!("no key")));
    assert_eq!(blocked["last_iteration_status"], "LOOP_BLOCKED");
}

#[test]
fn the_state_file_has_the_keys_of_the_template_and_of_the_sample() {
    let state = state(&one_iteration());
    for key in [
        "iteration",
        "phase",
        "current_task_id",
        "current_task_status",
        "tasks",
        "phases",
        "tech_stack",
        "last_updated",
        "exit_signal",
        "completion_indicators",
        "last_iteration_status",
        "blocked",
        "blocker_reason",
        "circuit_breaker",
        "exit_conditions",
        "current_task",
        "tasks_completed",
        "tasks_remaining",
    ] {
        assert!(keys(&state).contains(&key), "{key}\n{state:#}");
    }
    // In goal mode the goal is the one task, and nobody knows of phases or languages.
    assert_eq!(
        (&state["current_task_id"], &state["current_task_status"]),
        (&json!("run-1"), &json!("in-progress"))
    );
    assert_eq!(state["tasks"], json!({"total": 1, "done": 0, "in_progress": 1, "todo": 0}));
    assert_eq!((&state["tasks_completed"], &state["tasks_remaining"]), (&json!(0), &json!(1)));
    assert_eq!((&state["phase"], &state["phases"]), (&json!(null), &json!({"current": null})));
    assert_eq!(state["tech_stack"], json!({"language": null, "detected_from": null}));
    let breaker = [
        "last_error",
        "last_output_size",
        "no_progress_count",
        "opened_at",
        "reason",
        "same_error_count",
        "state",
    ];
    assert_eq!(keys(&state["circuit_breaker"]), breaker);
    let conditions = json!({
        "consecutive_test_loops": 0, "consecutive_done_signals": 0, "total_iterations": 1,
        "test_only_iterations": 0, "test_percentage": 0,
    });
    assert_eq!(state["exit_conditions"], conditions);
}

#[test]
fn the_state_file_counts_what_the_rules_count() {
    let sandbox = repository();
    let tests = StatusBlock { work_type: "TESTING".into(), ..StatusBlock::in_progress() };
    let words = "All tests pass. The project is complete.\nerror: cannot find `x`";
    let agent = FakeAgent::new("agent")
        .call(Steps::new().write("tests/a.rs", "a\n").say(words).status(&tests))
        .call(Steps::new().write("tests/a.rs", "b\n").say(words).status(&tests))
        .call(says_more())
        .install(&sandbox);
    run(&sandbox, &agent).args(["--max-iterations", "2"]).run().assert_code(3);
    let two = state(&sandbox);
    let conditions = json!({
        "consecutive_test_loops": 2, "consecutive_done_signals": 2, "total_iterations": 2,
        "test_only_iterations": 2, "test_percentage": 100,
    });
    assert_eq!((&two["exit_conditions"], &two["completion_indicators"]), (&conditions, &json!(2)));
    let breaker = &two["circuit_breaker"];
    assert_eq!((&breaker["state"], &breaker["same_error_count"]), (&json!("closed"), &json!(2)), "{breaker}");
    assert!(breaker["last_error"].as_str().is_some_and(|error| error.contains("cannot find")), "{breaker}");
    assert!(breaker["last_output_size"].as_u64().is_some_and(|size| size > words.len() as u64), "{breaker}");

    let log = sandbox.read(".ralph/history/iteration-002.md");
    assert!(log.contains("- saturation: 2 iterations in a row touched tests alone\n"), "{log}");
    assert!(log.contains("- the run stops: 2 of 2 iterations used\n"), "{log}");

    run(&sandbox, &agent).args(["--max-iterations", "9"]).run().assert_code(5);
    let open = state(&sandbox);
    let breaker = &open["circuit_breaker"];
    assert_eq!((&breaker["state"], &breaker["no_progress_count"]), (&json!("open"), &json!(3)), "{breaker}");
    let reason = "no_progress: 3 iterations with no file changes";
    assert_eq!((&breaker["reason"], &breaker["same_error_count"]), (&json!(reason), &json!(0)));
    assert!(breaker["opened_at"].is_string(), "{breaker}");
    assert_eq!((&open["blocked"], &open["last_iteration_status"]), (&json!(true), &json!("LOOP_BLOCKED")));
    assert_eq!(open["blocker_reason"], format!("circuit_breaker_open - {reason}"));
    let log = sandbox.read(".ralph/history/iteration-005.md");
    ralph(&sandbox).args(["circuit", "reset"]).run().assert_code(0);
    let closed = state(&sandbox);
    assert_eq!((&closed["blocked"], &closed["circuit_breaker"]["state"]), (&json!(false), &json!("closed")));
    for line in [format!("- breaker: {reason}\n"), "- circuit: open, no run begins before ".into()] {
        assert!(log.contains(&line), "{log}");
    }
}

#[test]
fn the_session_file_has_the_template_s_lines_and_the_last_iterations() {
    let sandbox = repository();
    let agent = FakeAgent::new("agent")
        .call(
            Steps::new()
                .shell("echo $call > n")
                .status(&StatusBlock { recommendation: NEXT.into(), ..StatusBlock::in_progress() }),
        )
        .install(&sandbox);
    run(&sandbox, &agent).args(["--max-iterations", "7"]).run().assert_code(3);
    let session = sandbox.read(".ralph/session.md");
    let names = [
        "iteration: 7",
        "phase: none",
        "started_at: 2",
        "last_update: 2",
        "Working on: ",
        "Tasks completed: 0/1",
        "Tasks remaining: 1",
    ];
    let lines: Vec<&str> = session.lines().collect();
    let places: Vec<usize> =
        names.iter().map(|name| lines.iter().position(|line| line.starts_with(name)).expect(name)).collect();
    assert!(places.is_sorted(), "{session}");
    let recent: Vec<String> =
        [7, 6, 5, 4, 3].map(|n| format!("- Iteration {n}: CONTINUE, 1 file changed; {NEXT}")).into();
    assert!(session.ends_with(&format!("## Recent History\n{}\n", recent.join("\n"))), "{session}");
}

#[test]
fn a_run_has_a_checkpoint_before_its_first_agent_and_one_when_it_stops() {
    let sandbox = repository();
    let agent = FakeAgent::new("agent")
        .call(
            Steps::new()
                .shell("cp .ralph/checkpoints/pre-task-run-1.json seen")
                .shell("grep -qx 'Cost: not told yet' .ralph/session.md")
                .write("green", "")
                .status(&StatusBlock::done()),
        )
        .call(says_done())
        .install(&sandbox);
    let head = sandbox.git(&["rev-parse", "HEAD"]);
    let base = sandbox.git(&["rev-parse", "HEAD^{tree}"]);
    run(&sandbox, &agent).args(["--test-cmd", TEST]).run().assert_code(0);
    let pre = json_of(&sandbox, ".ralph/checkpoints/pre-task-run-1.json");
    assert_eq!(pre, json_of(&sandbox, "seen"), "written before the agent started");
    assert_eq!((&pre["id"], &pre["title"], &pre["when"]), (&json!("run-1"), &json!(GOAL), &json!("pre")));
    assert_eq!((&pre["tree"], &pre["head"]), (&json!(base.trim()), &json!(head.trim())));
    assert_eq!(
        (&pre["checks"][0]["passed"], &pre["checks"][0]["failing"]),
        (&json!(false), &json!(["is_green"]))
    );
    assert_eq!(pre["counts"], json!({"iterations": 0, "files_changed": 0, "commits": 0, "tasks_claimed": 0}));
    assert_eq!((&pre["stop_reason"], &pre["proof"]), (&json!(null), &json!(null)));

    let post = json_of(&sandbox, ".ralph/checkpoints/post-task-run-1.json");
    assert_eq!((&post["id"], &post["when"], &post["head"]), (&json!("run-1"), &json!("post"), &pre["head"]));
    assert_eq!(post["tree"], history(&sandbox)[1]["tree_after"]);
    assert_ne!(post["tree"], pre["tree"]);
    assert_eq!(post["checks"][0]["passed"], true);
    assert_eq!(
        post["counts"],
        json!({"iterations": 2, "files_changed": 2, "commits": 0, "tasks_claimed": 2})
    );
    assert_eq!((&post["stop_reason"], &post["proof"]), (&json!("complete"), &json!("checks")));

    let done = state(&sandbox);
    assert_eq!(
        (&done["current_task_status"], &done["last_iteration_status"]),
        (&json!("done"), &json!("LOOP_COMPLETE"))
    );
    assert_eq!(done["tasks"], json!({"total": 1, "done": 1, "in_progress": 0, "todo": 0}));
    let log = sandbox.read(".ralph/history/iteration-001.md");
    assert!(log.contains("; red before the run\n"), "{log}");
}

#[test]
fn the_log_of_a_limited_iteration_names_the_agent_of_the_pool_and_the_limit() {
    let sandbox = repository();
    let limit = "API Error: Rate limit reached";
    let limited = Steps::new()
        .claude_init()
        .claude_api_error("rate_limit", limit)
        .claude_result(ClaudeResult::api_error(429, limit))
        .exit(1);
    let first = FakeAgent::new("first").call(limited).install(&sandbox);
    let second = FakeAgent::new("second").call(says_more()).install(&sandbox);
    let both = run(&sandbox, &first).arg("--agent-cmd").arg(second.path());
    both.args(["--max-iterations", "1", "--set", "limit_backoff=1h"]).run().assert_code(3);
    let log = sandbox.read(".ralph/history/iteration-001.md");
    for line in ["- Result: LIMITED\n".to_owned(), format!("- Limit: {limit}, until when is not said\n")] {
        assert!(log.contains(&line), "{log}");
    }
    let agent = |n| {
        let log = sandbox.read(format!(".ralph/history/iteration-00{n}.md"));
        log.lines().find(|line| line.starts_with("- Agent: ")).expect("an agent").to_owned()
    };
    let (first, second) = (agent(1), agent(2));
    assert_ne!(first, second);
    assert_eq!(first.split_once(" (of ").expect("a pool").1, second.split_once(" (of ").expect("a pool").1);
}

const SESSION: &str = ".ralph-session.json";

/// A run under profile analyzer that stopped at its limit after two iterations.
fn analyzed() -> (Sandbox, ralph_testkit::InstalledAgent) {
    let sandbox = repository();
    let agent = FakeAgent::new("agent")
        .call(
            Steps::new()
                .write("a", "a\n")
                .shell("git add a; git commit -qm a")
                .status(&StatusBlock::in_progress()),
        )
        .call(Steps::new().write("b", "b\n").write("c", "c\n").say("No report."))
        .call(says_done())
        .install(&sandbox);
    run(&sandbox, &agent).args(["--profile", "analyzer", "--max-iterations", "2"]).run().assert_code(3);
    (sandbox, agent)
}

#[test]
fn profile_analyzer_keeps_the_seed_s_session_file() {
    let (sandbox, _) = analyzed();
    let session = json_of(&sandbox, SESSION);
    let started = session["started_at"].as_str().expect("a time");
    let id = format!("ralph-{}-{}", &started[..10], started[11..19].replace(':', ""));
    assert_eq!(session["session_id"], id);
    assert_eq!(
        keys(&session),
        [
            "iterations",
            "session_id",
            "started_at",
            "total_commits",
            "total_files_modified",
            "total_tasks_completed"
        ]
    );
    let [first, second] = session["iterations"].as_array().expect("a list").as_slice() else {
        panic!("{session:#}");
    };
    let entry = ["exit_decision", "files_modified", "number", "status", "tasks_completed", "timestamp"];
    assert_eq!((keys(first), keys(second)), (entry.into(), entry.into()));
    let told = |entry: &Value| {
        ["number", "status", "tasks_completed", "files_modified", "exit_decision"]
            .map(|key| entry[key].clone())
    };
    assert_eq!(json!(told(first)), json!([1, "IN_PROGRESS", 1, 1, "continue"]));
    assert_eq!(json!(told(second)), json!([2, null, null, 2, "max_iterations"]));
    let totals =
        ["total_tasks_completed", "total_files_modified", "total_commits"].map(|key| session[key].clone());
    assert_eq!(json!(totals), json!([1, 3, 1]));
    assert_eq!(history(&sandbox)[1]["files_changed"], 2, "its own file is not a change");
    assert!(!sandbox.exists(".ralph-session.json.other"), "nothing half-made is ever in the project");
}

#[test]
fn the_session_file_goes_on_where_it_is_whole_missing_or_another_s() {
    let foreign = r#"{"session_id":"ralph-2025-01-13-103000","iterations":[]}"#;
    let mut seen = Vec::new();
    for before in [None, Some(""), Some(foreign)] {
        let (sandbox, agent) = analyzed();
        match before {
            None => {}
            Some("") => drop(sandbox.git(&["clean", "-fq", "--", SESSION])),
            Some(text) => sandbox.write(SESSION, text),
        }
        assert_eq!(sandbox.exists(SESSION), before != Some(""));
        run(&sandbox, &agent).args(["--profile", "analyzer", "--max-iterations", "9"]).run().assert_code(0);
        let session = json_of(&sandbox, SESSION);
        let entries = session["iterations"].as_array().expect("a list");
        seen.push(entries.iter().map(|entry| entry["exit_decision"].clone()).collect::<Vec<_>>());
        assert_eq!(session["total_tasks_completed"], 2);
    }
    assert_eq!(json!(seen[0]), json!(["continue", "max_iterations", "project_complete"]));
    assert!(seen.iter().all(|list| *list == seen[0]), "{seen:?}");
}

#[test]
fn other_profiles_keep_no_session_file_unless_it_is_asked_for() {
    let sandbox = one_iteration();
    assert!(!sandbox.exists(SESSION));
    let agent = FakeAgent::new("other").call(says_more()).install(&sandbox);
    let asked = run(&sandbox, &agent).args(["--max-iterations", "2", "--set", "session_view=true"]);
    asked.run().assert_code(3);
    let entries = json_of(&sandbox, SESSION)["iterations"].clone();
    assert_eq!(entries.as_array().map(Vec::len), Some(2), "those before it was asked for too: {entries}");
}

#[test]
fn why_an_iteration_ran_no_checks_is_told_as_it_is() {
    let asked = |sandbox: &Sandbox| ralph(sandbox).args(["history", "1", "--checks"]).run();
    let without = asked(&one_iteration());
    without
        .assert_code(0)
        .assert_stderr_has("iteration 1 ran no checks: its run has none")
        .assert_stderr_has("--test-cmd");

    let sandbox = repository();
    let agent =
        one_call(&sandbox, Steps::new().write("hello.txt", "hello\n").status(&StatusBlock::in_progress()));
    run(&sandbox, &agent).args(["--max-iterations", "1", "--test-cmd", "true"]).run().assert_code(3);
    let none = asked(&sandbox);
    none.assert_code(0).assert_stderr_has("ran no checks: they run when the agent says done");
    assert_eq!(none.stdout, "");
}
