//! What a record says. A record that another version wrote is read as far as it goes.

use alloc::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::evidence::Condition;
use crate::prelude::*;

/// One record, of whatever type.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default)]
pub struct Record {
    #[serde(rename = "type")]
    pub kind: String,
    pub seq: u64,
    pub digest: String,
    pub at: String,
    pub attempt: String,
    pub iteration: u64,
    pub item: Option<String>,
    pub title: Option<String>,
    /// Seed 003's word.
    pub result: String,
    /// What the agent's words amounted to.
    pub claimed: Option<String>,
    pub why: String,
    /// Digest of what the item was judged by when it was handed out.
    pub criteria: Option<String>,
    pub base: Base,
    /// The files as they were when the checks ran.
    pub tree: Option<String>,
    pub files_changed: Option<u64>,
    /// By all the iterations since the last commit, where they are several.
    pub files_in_all: Option<u64>,
    /// The item passed, no file was changed for it in its run, and no check could tell its work. Older records do not say.
    pub untouched: bool,
    /// The item passed by a check that can tell its work, and no file was changed for it. Older records do not say.
    pub without_change: bool,
    /// It passed, and all its checks are as red as when it was begun. Older records do not say.
    pub tolerated: bool,
    /// It passed by checks that were green already, none of them its own, and no test was changed for it. Older records do not say.
    pub unmeasured: bool,
    /// Of a goal that is a backlog: how its items passed in its run. Older records do not say.
    pub items: Option<Passed>,
    /// What is flagged about its proof, in words. Older records have what its own iteration did in `custody` alone.
    pub flagged: Vec<String>,
    /// What its proof does not show, in words.
    pub weak: Vec<String>,
    /// The task file, which ralph changes itself.
    pub backlog: Option<String>,
    pub custody: Custody,
    pub checks: Vec<Ran>,
    pub conditions: Option<Vec<Condition>>,
    pub agent: String,
    pub tokens: Option<u64>,
    pub cost_micro_usd: Option<u64>,
    /// Of a `commit` record.
    pub commit: Option<String>,
    /// Changed files that are not in it.
    pub left: Vec<String>,
    /// Of a `break` record: what ralph found.
    pub problem: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default)]
pub struct Base {
    pub tree: Option<String>,
    pub head: Option<String>,
}

/// How many items passed, and what for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Passed {
    pub passed: u64,
    /// Those for which nothing but the agent's word speaks.
    pub claimed: u64,
    /// Those that passed their checks with nothing changed for them.
    pub without_change: u64,
}

/// What an item is judged by, and what became of it while the agent worked.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Custody {
    /// Criteria and verification commands of the item are others than before: refuses.
    pub criteria_changed: bool,
    /// Harness, requirements and check commands that were changed: refuses.
    pub changed: Vec<String>,
    /// Tests that were there before and were changed or deleted: flagged.
    pub existing_tests_changed: Vec<String>,
    /// Files that checks run, likewise.
    pub scripts_changed: Vec<String>,
    /// Checks that run something else than when the run began, where that is flagged.
    pub recipes_changed: Vec<String>,
}

/// One check as it was recorded.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default)]
pub struct Ran {
    pub name: String,
    pub argv: Vec<String>,
    pub exit: Option<i32>,
    /// `exit 101`, `timed out`
    pub end: String,
    pub failing: Vec<String>,
    pub duration_ms: u64,
    pub output_digest: Option<String>,
}

impl Ran {
    /// The words that `sh -c` runs.
    pub fn command(&self) -> &str {
        self.argv.last().map_or("", String::as_str)
    }

    pub fn passed(&self) -> bool {
        self.exit == Some(0)
    }
}

impl Record {
    pub fn passed(&self) -> bool {
        self.result == "PASSED"
    }

    /// Whether it passed, and nothing but words speaks for it: of an item, that no check was run, or none that could tell its work; of
    /// a goal, that its items all passed so; of both, that the checks are as red as before.
    pub fn is_claimed(&self) -> bool {
        let items = self.items.filter(|items| items.claimed > 0 && items.claimed == items.passed);
        let by_word = match self.item {
            Some(_) => is_by_word(self.checks.is_empty(), self.untouched, self.tolerated),
            None => self.tolerated || items.is_some(),
        };
        self.passed() && by_word
    }
}

/// Whether an item that passed did so by words alone.
pub fn is_by_word(no_check: bool, untouched: bool, tolerated: bool) -> bool {
    no_check || untouched || tolerated
}

/// An attempt and its commit, if it has one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempted {
    pub record: Record,
    pub commit: Option<Record>,
}

impl Attempted {
    pub fn commit(&self) -> Option<&str> {
        self.commit.as_ref()?.commit.as_deref()
    }
}

/// Attempts in the order in which they were recorded.
pub fn attempts(records: &[Record]) -> Vec<Attempted> {
    let commits: BTreeMap<&str, &Record> = records
        .iter()
        .filter(|record| record.kind == "commit")
        .map(|record| (record.attempt.as_str(), record))
        .into_map();
    let commit = |id: &str| commits.get(id).copied();
    records
        .iter()
        .filter(|record| record.kind == "attempt")
        .map(|record| Attempted { record: record.clone(), commit: commit(&record.attempt).cloned() })
        .collect()
}

/// Those of an item; else the one of that name, whole or by the number of its iteration.
pub fn select(attempts: Vec<Attempted>, name: &str) -> Vec<Attempted> {
    let of_item = |attempted: &Attempted| attempted.record.item.as_deref() == Some(name);
    if attempts.iter().any(of_item) {
        return attempts.into_iter().filter(of_item).collect();
    }
    let number: Option<u64> = name.trim_start_matches('#').parse().ok();
    let meant =
        |record: &Record| record.attempt == name || (number.is_some() && number == Some(record.iteration));
    attempts.into_iter().filter(|attempted| meant(&attempted.record)).collect()
}
