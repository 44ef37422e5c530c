//! The files of `.ralph/` that people read: what seed 004 calls session, state and history.

mod common;

use common::{GOAL, history, one_call, repository, run};
use ralph_testkit::{Sandbox, StatusBlock, Steps};
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

fn state(sandbox: &Sandbox) -> Value {
    serde_json::from_str(&sandbox.read(".ralph/state.json")).expect("JSON")
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
    assert_eq!((&blocked["blocked"], &blocked["blocker_reason"]), (&json!(true), &json!("Blocked: no key")));
    assert_eq!(blocked["last_iteration_status"], "LOOP_BLOCKED");
}
