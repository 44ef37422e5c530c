//! What must hold after a strike and the run that follows it.

use std::collections::BTreeSet;

use ralph_testkit::Finished;
use serde_json::Value;

use crate::cases::{How, POINT};
use crate::common::{history, status};
use crate::scenario::{Copy, MICRO_USD, NOTE, Scenario, TOKENS};

const REQUESTS: &str = ".git/ralph/requests";

/// What is there when all is over.
struct After<'a> {
    copy: &'a Copy,
    history: Vec<Value>,
    status: Value,
    /// What ralph said last.
    said: String,
}

pub(crate) fn check(scenario: &Scenario, how: How, case: &str) {
    let copy = scenario.copy();
    let struck = copy.run().env(POINT, case).run();
    assert!(copy.points().contains(&format!("struck: {case}")), "it did not strike\n{struck}");
    first_end(how, case, &struck);
    let mut said = struck.to_string();
    let mut now = status(&copy.sandbox);
    let over = now["stop_reason"] == "complete";
    if !over {
        let last = copy.run_undisturbed().run();
        last.assert_code(0);
        said.push_str(&last.to_string());
        now = status(&copy.sandbox);
    }
    let after = After { copy: &copy, history: history(&copy.sandbox), status: now, said };
    let keeper_killed = how == How::Kill && is_keeper(case);
    after.attempts();
    after.note();
    // A keeper that is killed itself takes the piece with it that it had just read, or that a quick agent had said before
    // anybody listened.
    let unheard = ["write transcript", "tell start"].iter().any(|point| case.contains(point));
    after.budget(u64::from(keeper_killed && unheard));
    after.work(scenario);
    after.views(over);
    copy.sandbox.assert_no_processes();
}

fn is_keeper(case: &str) -> bool {
    case.contains(":keeper: ")
}

/// How ralph itself took it.
fn first_end(how: How, case: &str, struck: &Finished) {
    struck.assert_stderr_lacks("panicked");
    match how {
        How::Kill if !is_keeper(case) => {
            struck.assert_code(137);
        }
        _ if struck.code == 0 => {}
        _ => {
            struck.assert_code(1);
            let said = &struck.stderr;
            let what_why_and_what_to_do = if said.contains("✗ ERROR: ") {
                said.contains("once that is settled: ralph run")
            } else {
                said.contains("ralph: ") && said.contains("\n  why: ") && said.contains("\n  try: ")
            };
            assert!(what_why_and_what_to_do, "{struck}");
        }
    }
}

impl After<'_> {
    /// Every agent that was started is in the record, once.
    fn attempts(&self) {
        let After { copy, history, said, .. } = self;
        let numbers: Vec<u64> = history.iter().filter_map(|entry| entry["iteration"].as_u64()).collect();
        let expected: Vec<u64> = (1..=numbers.len() as u64).collect();
        assert_eq!(numbers, expected, "each iteration once\n{said}");
        let open: Vec<&Value> = history.iter().filter(|entry| entry["outcome"].is_null()).collect();
        assert!(open.is_empty(), "not concluded: {open:?}");
        let started = copy.diary("started");
        let started: Vec<u64> = started.lines().map(|line| line.parse().expect("a number")).collect();
        let distinct: BTreeSet<u64> = started.iter().copied().collect();
        assert_eq!(distinct.len(), started.len(), "started twice for one iteration: {started:?}\n{said}");
        assert!(distinct.iter().all(|number| numbers.contains(number)), "{started:?}, {numbers:?}\n{said}");
        assert!(numbers.len() <= 5, "a single strike costs two iterations at most: {history:#?}");
        let last = history.last().filter(|entry| entry["outcome"] == "accepted");
        assert_eq!(last.map(|last| &last["checks"][0]["passed"]), Some(&Value::Bool(true)), "{said}");
        assert_eq!(self.status["proof"], "checks");
    }

    /// The note was read, and by one iteration that came to its end.
    fn note(&self) {
        let prompts = self.copy.prompts().into_iter();
        let with: Vec<u64> =
            prompts.filter(|(_, prompt)| prompt.contains(NOTE)).map(|(number, _)| number).collect();
        let cut = |number: &&u64| {
            let entry = self.history.iter().find(|entry| entry["iteration"] == **number);
            entry.is_some_and(|entry| matches!(entry["outcome"].as_str(), Some("interrupted" | "failed")))
        };
        let cut = with.iter().filter(cut).count();
        assert_eq!(with.len() - cut, 1, "the note was in {with:?}, {cut} of them cut off\n{}", self.said);
    }

    /// All that agents told is counted, and nothing twice.
    fn budget(&self, lost: u64) {
        let count = |page: &str| self.copy.diary(page).lines().count() as u64;
        let (told, started, cost) = (count("reported") - lost, count("started"), &self.status["cost"]);
        for (key, each) in [("tokens", TOKENS), ("micro_usd", MICRO_USD)] {
            let counted = cost[key].as_u64().unwrap_or(0);
            let bounds = told * each..=started * each;
            assert!(bounds.contains(&counted), "{told} told, {started} started: {cost}\n{}", self.said);
        }
    }

    /// The agent's work is there, and the user's own is as it was.
    fn work(&self, scenario: &Scenario) {
        assert_eq!(self.copy.sandbox.read("first.txt"), "first.txt\n");
        assert_eq!(self.copy.sandbox.read("green"), "green\n");
        let made = ["first.txt", "green"];
        let mut changed = scenario.before.differences(&self.copy.sandbox.user_git_state());
        changed.retain(|line| !(line.starts_with('+') && made.iter().any(|file| line.contains(file))));
        assert!(changed.is_empty(), "the user's git state changed:\n{}", changed.join("\n"));
    }

    /// The views tell what the record does, and nothing half-made is left. Of a run that is over and was cut off before
    /// its views, when another begins.
    fn views(&self, over: bool) {
        if over && !self.stale_views().is_empty() {
            self.copy.another_run().run().assert_code(0);
        }
        let stale = self.stale_views();
        assert!(stale.is_empty(), "{stale:#?}\n{}", self.said);
    }

    fn stale_views(&self) -> Vec<String> {
        let sandbox = &self.copy.sandbox;
        let (run, last) = (&self.status["run"]["number"], self.history.len());
        let there = [
            ".ralph/session.md".to_owned(),
            format!(".ralph/checkpoints/pre-task-run-{run}.json"),
            format!(".ralph/checkpoints/post-task-run-{run}.json"),
        ];
        let logs = (1..=last).map(|number| format!(".ralph/history/iteration-{number:03}.md"));
        let mut stale: Vec<String> =
            there.into_iter().chain(logs).filter(|path| !sandbox.exists(path)).collect();
        let text = |path: &str| if sandbox.exists(path) { sandbox.read(path) } else { String::new() };
        if !text(".ralph/session.md").contains("Status: complete") {
            stale.push(text(".ralph/session.md"));
        }
        stale.extend(self.leftovers());
        stale
    }

    /// What is half-made.
    fn leftovers(&self) -> Vec<String> {
        let mut left = Vec::new();
        for folder in [".", ".ralph", ".ralph/history", ".ralph/checkpoints", ".git", ".git/ralph", REQUESTS]
        {
            let entries = std::fs::read_dir(self.copy.sandbox.project().join(folder)).into_iter().flatten();
            let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
            let half = |name: &String| {
                [".new", ".next", ".lock"].iter().any(|end| name.ends_with(end)) || name.starts_with("note-")
            };
            left.extend(names.filter(half).map(|name| format!("{folder}/{name}")));
        }
        left
    }
}
