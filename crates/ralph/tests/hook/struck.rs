//! Hooks and commands that are cut off, or whose disk is full, at every point.

use std::fs;

use ralph_testkit::{Finished, Sandbox};
use serde_json::json;

use crate::common::{history, ralph, repository};
use crate::{SESSION, arm, is_blocked, more, stops};

/// A stop that is struck at one of its points; every point it passes is listed in a file.
fn stop_struck(sandbox: &Sandbox, strike: &str) -> (Finished, Vec<String>) {
    let points = sandbox.root().join("tmp/points");
    sandbox.write(&points, "");
    let told = json!({"session_id": SESSION, "last_assistant_message": more()}).to_string();
    let stop = ralph(sandbox)
        .args(["hook", "stop"])
        .env("RALPH_CRASH_POINTS", &points)
        .env("RALPH_CRASH_POINT", strike);
    let finished = stop.stdin(told).run();
    let passed = fs::read_to_string(&points).unwrap_or_default();
    (finished, passed.lines().map(str::to_owned).collect())
}

fn without_end(sandbox: &Sandbox) {
    arm(sandbox, &["--session", SESSION, "--max-iterations", "0", "--set", "no_progress=off"]);
}

#[test]
fn a_hook_that_is_killed_anywhere_holds_the_session_again_at_its_next_stop() {
    let sandbox = repository();
    without_end(&sandbox);
    let (whole, points) = stop_struck(&sandbox, "");
    assert!(is_blocked(Some(&whole.json())) && points.len() > 10, "{points:?}");
    let mut passed: Vec<&String> = Vec::new();
    // What is known of the last snapshot is kept only where no file is too young to be told apart.
    for point in points.iter().filter(|point| !point.contains(" snapshot")) {
        passed.push(point);
        let nth = passed.iter().filter(|known| **known == point).count();
        let strike = format!("kill:{point}#{nth}");
        let (killed, passed) = stop_struck(&sandbox, &strike);
        assert!(passed.contains(&format!("struck: {strike}")), "{strike}: it did not strike\n{killed}");
        killed.assert_code(137);
        let next = stops(&sandbox, SESSION, &more());
        assert!(is_blocked(next.as_ref()), "after {point}#{nth} ({}): {next:?}", killed.code);
    }
    assert!(history(&sandbox).len() > points.len());
}

#[test]
fn a_fault_of_ralph_s_own_or_a_full_disk_lets_the_session_stop() {
    let sandbox = repository();
    without_end(&sandbox);
    for (how, says) in [("panic", "a fault of its own"), ("enospc", "No space left")] {
        let (struck, _) = stop_struck(&sandbox, &format!("{how}:append to journal.jsonl#1"));
        struck.assert_code(0);
        let answer = struck.json();
        assert_eq!(answer.get("decision"), None, "{answer}");
        assert!(answer["systemMessage"].as_str().is_some_and(|words| words.contains(says)), "{answer}");
        assert!(is_blocked(stops(&sandbox, SESSION, &more()).as_ref()), "the next stop is as ever");
    }
}
