//! What must hold after a strike and the run that follows it.

use std::collections::BTreeSet;

use ralph_testkit::Finished;
use serde_json::Value;

use crate::cases::{How, POINT};
use crate::common::{history, status};
use crate::scenario::{Copy, MICRO_USD, NOTE, Scenario, TOKENS};

const REQUESTS: &str = ".git/ralph/requests";

/// What the user writes after the strike, before the same command goes on.
pub(crate) const SINCE: &str = "since-the-strike.txt";

/// What is there when all is over.
pub(crate) struct After<'a> {
    pub(crate) copy: &'a Copy,
    pub(crate) history: Vec<Value>,
    pub(crate) status: Value,
    /// It had come to its end before it was struck.
    pub(crate) over: bool,
    /// What ralph said from the strike on.
    pub(crate) said: String,
}

/// A copy in which ralph was struck, and took it as it should.
pub(crate) fn strike(scenario: &Scenario, how: How, case: &str) -> (Copy, Finished) {
    let copy = scenario.copy();
    let struck = copy.run().env(POINT, case).run();
    assert!(copy.points().contains(&format!("struck: {case}")), "it did not strike\n{struck}");
    first_end(how, case, &struck);
    (copy, struck)
}

/// The same command goes on, and must finish.
pub(crate) fn go_on<'a>(copy: &'a Copy, struck: &Finished) -> After<'a> {
    go_on_to(copy, struck, "complete", 0)
}

/// The same where it ends for this reason, with this code.
pub(crate) fn go_on_to<'a>(copy: &'a Copy, struck: &Finished, end: &str, code: i32) -> After<'a> {
    let mut said = struck.to_string();
    let mut now = status(&copy.sandbox);
    let over = now["stop_reason"] == end;
    if !over {
        // The keeper of a ralph that was killed may still be ending its agent, whose work is not the user's.
        copy.sandbox.assert_no_processes();
        copy.sandbox.write(SINCE, "mine\n");
        let last = copy.run_undisturbed().run();
        last.assert_code(code);
        said.push_str(&last.to_string());
        now = status(&copy.sandbox);
        assert_eq!(copy.sandbox.read(SINCE), "mine\n", "{said}");
        let holding = copy.sandbox.git(&["log", "--all", "--format=%h %s", "--", SINCE]);
        assert_eq!(holding, "", "the user's file was committed\n{said}");
    }
    After { copy, history: history(&copy.sandbox), status: now, over, said }
}

pub(crate) fn check(scenario: &Scenario, how: How, case: &str) {
    let (copy, struck) = strike(scenario, how, case);
    let after = go_on(&copy, &struck);
    after.attempts();
    after.came_to_its_end(5);
    after.note();
    after.budget(unheard(how, case));
    after.work(scenario);
    after.views();
    copy.sandbox.assert_no_processes();
}

/// How many reports nobody heard: a keeper that is killed itself takes the piece with it that it had just read, or that a
/// quick agent had said before anybody listened.
pub(crate) fn unheard(how: How, case: &str) -> u64 {
    let unheard = ["write transcript", "tell start"].iter().any(|point| case.contains(point));
    u64::from(how == How::Kill && is_keeper(case) && unheard)
}

/// A keeper puts its own files back too, by points that ralph passes as well.
pub(crate) fn lost_its_keeper(struck: &Finished) -> bool {
    struck.stderr.contains("its keeper was killed")
}

pub(crate) fn is_keeper(case: &str) -> bool {
    case.contains(":keeper: ")
}

/// How ralph itself took it.
fn first_end(how: How, case: &str, struck: &Finished) {
    struck.assert_stderr_lacks("panicked");
    match how {
        How::Kill if !is_keeper(case) && !lost_its_keeper(struck) => {
            struck.assert_code(137);
        }
        _ if struck.code == 0 || struck.code == 2 => {}
        _ => {
            let said = &struck.stderr;
            // A backlog that cannot be written before an agent is started is told apart from other trouble.
            let code = if said.contains("cannot be marked in the backlog") { 65 } else { 1 };
            struck.assert_code(code);
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
    pub(crate) fn attempts(&self) {
        let After { copy, history, said, .. } = self;
        let numbers: Vec<u64> = history.iter().filter_map(|entry| entry["iteration"].as_u64()).collect();
        let first = numbers.first().copied().unwrap_or(1);
        let expected: Vec<u64> = (first..).take(numbers.len()).collect();
        assert_eq!(numbers, expected, "each iteration once\n{said}");
        let open: Vec<&Value> = history.iter().filter(|entry| entry["outcome"].is_null()).collect();
        assert!(open.is_empty(), "not concluded: {open:?}");
        let started = copy.diary("started");
        let started: Vec<u64> = started.lines().map(|line| line.parse().expect("a number")).collect();
        let distinct: BTreeSet<u64> = started.iter().copied().collect();
        assert_eq!(distinct.len(), started.len(), "started twice for one iteration: {started:?}\n{said}");
        assert!(distinct.iter().all(|number| numbers.contains(number)), "{started:?}, {numbers:?}\n{said}");
    }

    /// The last iteration was accepted, and there were not many more than without a strike.
    pub(crate) fn came_to_its_end(&self, most: usize) {
        let After { history, said, .. } = self;
        assert!(history.len() <= most, "a single strike costs two iterations at most: {history:#?}");
        let last = history.last().filter(|entry| entry["outcome"] == "accepted");
        assert_eq!(last.map(|last| &last["checks"][0]["passed"]), Some(&Value::Bool(true)), "{said}");
        assert_eq!(self.status["proof"], "checks");
    }

    /// The note was new to one iteration that came to its end, and known to all after it.
    pub(crate) fn note(&self) {
        let prompts = self.copy.prompts();
        let told = |from: &str| -> Vec<u64> {
            let part =
                |prompt: &str| prompt.split("\n# ").any(|part| part.starts_with(from) && part.contains(NOTE));
            prompts.iter().filter(|(_, prompt)| part(prompt)).map(|(number, _)| *number).collect()
        };
        let with = told("Notes from the user");
        let known = told("What the user said earlier");
        let after = prompts.keys().copied().filter(|number| Some(number) > with.last());
        assert_eq!(known, after.collect::<Vec<_>>(), "new in {with:?}\n{}", self.said);
        let cut = |number: &&u64| {
            let entry = self.history.iter().find(|entry| entry["iteration"] == **number);
            entry.is_some_and(|entry| matches!(entry["outcome"].as_str(), Some("interrupted" | "failed")))
        };
        let cut = with.iter().filter(cut).count();
        assert_eq!(with.len() - cut, 1, "the note was in {with:?}, {cut} of them cut off\n{}", self.said);
    }

    /// All that agents told is counted, and nothing twice.
    pub(crate) fn budget(&self, lost: u64) {
        let count = |page: &str| self.copy.diary(page).lines().count() as u64;
        let (told, started, cost) = (count("reported") - lost, count("started"), &self.status["cost"]);
        for (key, each) in [("tokens", TOKENS), ("micro_usd", MICRO_USD)] {
            let counted = cost[key].as_u64().unwrap_or(0);
            let bounds = told * each..=started * each;
            assert!(bounds.contains(&counted), "{told} told, {started} started: {cost}\n{}", self.said);
        }
    }

    /// The agent's work is there, and the user's own is as it was.
    pub(crate) fn work(&self, scenario: &Scenario) {
        assert_eq!(self.copy.sandbox.read("first.txt"), "first.txt\n");
        assert_eq!(self.copy.sandbox.read("green"), "green\n");
        let made = ["first.txt", "green", SINCE];
        let mut changed = scenario.before.differences(&self.copy.sandbox.user_git_state());
        changed.retain(|line| !(line.starts_with('+') && made.iter().any(|file| line.contains(file))));
        assert!(changed.is_empty(), "the user's git state changed:\n{}", changed.join("\n"));
    }

    /// The views tell what the record does, and nothing half-made is left. Of a run that is over and was cut off before
    /// its views, when another begins.
    pub(crate) fn views(&self) {
        if self.over && !self.stale_views().is_empty() {
            self.copy.another_run().run().assert_code(0);
        }
        let stale = self.stale_views();
        assert!(stale.is_empty(), "{stale:#?}\n{}", self.said);
    }

    pub(crate) fn stale_views(&self) -> Vec<String> {
        let sandbox = &self.copy.sandbox;
        let run = &self.status["run"]["number"];
        let there = [
            ".ralph/session.md".to_owned(),
            format!(".ralph/checkpoints/pre-task-run-{run}.json"),
            format!(".ralph/checkpoints/post-task-run-{run}.json"),
        ];
        let numbers = self.history.iter().filter_map(|entry| entry["iteration"].as_u64());
        let logs = numbers.map(|number| format!(".ralph/history/iteration-{number:03}.md"));
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
    pub(crate) fn leftovers(&self) -> Vec<String> {
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
