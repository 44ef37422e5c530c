//! What must hold after a strike and the run that follows it.

use std::collections::BTreeSet;

use ralph_testkit::Finished;
use serde_json::Value;

use crate::cases::{How, POINT};
use crate::common::{history, status};
use crate::scenario::{Copy, MICRO_USD, NOTE, Scenario, TOKENS};

pub(crate) fn check(scenario: &Scenario, how: How, case: &str) {
    let copy = scenario.copy();
    let struck = copy.run().env(POINT, case).run();
    assert!(copy.points().contains(&format!("struck: {case}")), "it did not strike\n{struck}");
    first_end(how, case, &struck);
    let mut last = struck;
    if status(&copy.sandbox)["stop_reason"] != "complete" {
        last = copy.run_undisturbed().run();
        last.assert_code(0);
    }
    attempts(&copy, &last);
    note(&copy);
    budget(&copy);
    work(scenario, &copy);
    views(&copy);
    leftovers(&copy);
    copy.sandbox.assert_no_processes();
}

/// How ralph itself took it.
fn first_end(how: How, case: &str, struck: &Finished) {
    struck.assert_stderr_lacks("panicked");
    let keeper = case.contains(":keeper: ");
    match how {
        How::Kill if !keeper => {
            struck.assert_code(137);
        }
        _ if struck.code == 0 => {}
        _ => {
            // What, why, what to do.
            struck.assert_code(1).assert_stderr_has("why: ").assert_stderr_has("ralph run");
        }
    }
}

/// Every agent that was started is in the record, once.
fn attempts(copy: &Copy, last: &Finished) {
    let history = history(&copy.sandbox);
    let numbers: Vec<u64> = history.iter().filter_map(|entry| entry["iteration"].as_u64()).collect();
    let expected: Vec<u64> = (1..=numbers.len() as u64).collect();
    assert_eq!(numbers, expected, "each iteration once\n{last}");
    let open: Vec<&Value> = history.iter().filter(|entry| entry["outcome"].is_null()).collect();
    assert!(open.is_empty(), "not concluded: {open:?}");
    let started: Vec<u64> =
        copy.diary("started").lines().map(|line| line.parse().expect("a number")).collect();
    let distinct: BTreeSet<u64> = started.iter().copied().collect();
    assert_eq!(distinct.len(), started.len(), "an agent was started twice for one iteration: {started:?}");
    assert!(
        started.iter().all(|number| numbers.contains(number)),
        "started {started:?}, recorded {numbers:?}"
    );
    assert!(numbers.len() <= 5, "a single strike costs one iteration at most: {history:#?}");
    let accepted = |entry: &&Value| entry["outcome"] == "accepted";
    let last = history.last().filter(accepted).expect("the last iteration is the proof");
    assert_eq!(last["checks"][0]["passed"], true);
    assert_eq!(status(&copy.sandbox)["proof"], "checks");
}

/// The note was read, and not again by an iteration after one that came to its end.
fn note(copy: &Copy) {
    let history = history(&copy.sandbox);
    let with: Vec<u64> = copy
        .prompts()
        .into_iter()
        .filter(|(_, prompt)| prompt.contains(NOTE))
        .map(|(number, _)| number)
        .collect();
    let cut = |number: &u64| {
        let entry = history.iter().find(|entry| entry["iteration"] == *number);
        entry.is_some_and(|entry| matches!(entry["outcome"].as_str(), Some("interrupted" | "failed")))
    };
    let (cut, whole): (Vec<u64>, Vec<u64>) = with.iter().partition(|number| cut(number));
    assert_eq!(whole.len(), 1, "the note was in the prompts of {with:?}, of which {cut:?} were cut off");
}

/// All that agents told is counted, and nothing twice.
fn budget(copy: &Copy) {
    let told = copy.diary("reported").lines().count() as u64;
    let started = copy.diary("started").lines().count() as u64;
    let cost = &status(&copy.sandbox)["cost"];
    let (tokens, money) = (cost["tokens"].as_u64().unwrap_or(0), cost["micro_usd"].as_u64().unwrap_or(0));
    assert!((told * TOKENS..=started * TOKENS).contains(&tokens), "{told} told, {started} started: {cost}");
    assert!(
        (told * MICRO_USD..=started * MICRO_USD).contains(&money),
        "{told} told, {started} started: {cost}"
    );
}

/// The agent's work is there, and the user's own is as it was.
fn work(scenario: &Scenario, copy: &Copy) {
    assert_eq!(copy.sandbox.read("first.txt"), "first.txt\n");
    assert_eq!(copy.sandbox.read("green"), "green\n");
    let made = ["first.txt", "green", ".ralph-session.json"];
    let after = copy.sandbox.user_git_state();
    let mut changed = scenario.before.differences(&after);
    changed.retain(|line| !(line.starts_with('+') && made.iter().any(|file| line.contains(file))));
    assert!(changed.is_empty(), "the user's git state changed:\n{}", changed.join("\n"));
}

/// The views tell what the record does.
fn views(copy: &Copy) {
    let sandbox = &copy.sandbox;
    assert!(
        sandbox.read(".ralph/session.md").contains("Status: complete"),
        "{}",
        sandbox.read(".ralph/session.md")
    );
    let iterations = history(sandbox).len();
    let session: Value = serde_json::from_str(&sandbox.read(".ralph-session.json")).expect("JSON");
    assert_eq!(session["iterations"].as_array().map(Vec::len), Some(iterations), "{session}");
    assert!(sandbox.exists(format!(".ralph/history/iteration-{iterations:03}.md")));
}

/// Nothing half-made is left.
fn leftovers(copy: &Copy) {
    let mut left = Vec::new();
    for folder in
        [".ralph", ".ralph/history", ".ralph/checkpoints", ".git", ".git/ralph", ".git/ralph/requests"]
    {
        let entries = std::fs::read_dir(copy.sandbox.project().join(folder)).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let half = |name: &String| {
            [".new", ".next", ".lock"].iter().any(|end| name.ends_with(end)) || name.starts_with("note-")
        };
        left.extend(names.filter(half).map(|name| format!("{folder}/{name}")));
    }
    assert!(left.is_empty(), "left behind: {left:?}");
}
