//! The world of a simulated run: files with versions, commits, checks that depend on the files, items, TODO comments.

use alloc::collections::BTreeMap;

use serde::Deserialize;

use super::backlog::Backlog;
use super::turn::Turn;
use crate::check::{CheckResult, CheckSpec};
use crate::event::{End, Measured, When};
use crate::evidence::{AddedTodos, Items};
use crate::git_text::{Change, ChangeKind};
use crate::items::{Settled, Settlement};
use crate::prelude::*;

#[derive(Debug, Clone, Default)]
pub struct World {
    /// A file's version is the edit that wrote it.
    files: BTreeMap<String, u64>,
    edits: u64,
    commits: u64,
    /// The tree of the last commit.
    committed: u64,
    pub items: Option<Items>,
    todos: u64,
    /// Whether the plan runs them or not: together they are the truth about the work.
    pub checks: Vec<Check>,
    since: Since,
    pub(super) backlog: Option<Backlog>,
}

/// What happened since an agent started.
#[derive(Debug, Clone, Default)]
struct Since {
    /// The version a file had before, if it was there.
    touched: BTreeMap<String, Option<u64>>,
    commits: u64,
    committed_change: bool,
}

/// A check: green or red by which files there are.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Check {
    pub name: String,
    /// Green only when all of these are there.
    pub needs: Vec<String>,
    /// Red when one of these is there.
    pub fails_with: Vec<String>,
    /// What it leaves behind.
    pub writes: Vec<String>,
    pub takes_ms: u64,
    /// It runs until it is ended.
    pub never_ends: bool,
}

impl Default for Check {
    fn default() -> Self {
        Self {
            name: "test".into(),
            needs: vec![],
            fails_with: vec![],
            writes: vec![],
            takes_ms: 5_000,
            never_ends: false,
        }
    }
}

impl Check {
    pub fn spec(&self) -> CheckSpec {
        CheckSpec::named(&self.name, format!("make {}", self.name))
    }

    pub fn green(&self, world: &World) -> bool {
        !self.never_ends && self.complaints(world).next().is_none()
    }

    /// What is missing or should not be there.
    fn complaints<'a>(&'a self, world: &'a World) -> impl Iterator<Item = &'a String> {
        let missing = self.needs.iter().filter(|path| !world.has(path));
        missing.chain(self.fails_with.iter().filter(|path| world.has(path)))
    }
}

impl World {
    pub fn new(files: &[String], checks: Vec<Check>, items: Option<Items>) -> Self {
        let mut world = Self { checks, items, ..Self::default() };
        files.iter().for_each(|path| world.write(path));
        world.committed = world.tree();
        world
    }

    pub fn has(&self, path: &str) -> bool {
        self.files.contains_key(path)
    }

    /// Whether a check is red now.
    pub fn red(&self) -> bool {
        self.checks.iter().any(|check| !check.green(self))
    }

    pub fn open_items(&self) -> u64 {
        self.items.map_or(0, |items| items.open)
    }

    /// The first file that a check misses.
    pub fn missing(&self) -> Option<&str> {
        let needs = self.checks.iter().flat_map(|check| &check.needs);
        needs.map(String::as_str).find(|path| !self.has(path))
    }

    /// A file that should not be there.
    pub fn harmful(&self) -> Option<&str> {
        let harmful = self.checks.iter().flat_map(|check| &check.fails_with);
        harmful.map(String::as_str).find(|path| self.has(path))
    }

    fn write(&mut self, path: &str) {
        self.edits += 1;
        let old = self.files.insert(path.into(), self.edits);
        self.since.touched.entry(path.into()).or_insert(old);
    }

    fn remove(&mut self, path: &str) {
        if let Some(old) = self.files.remove(path) {
            self.since.touched.entry(path.into()).or_insert(Some(old));
        }
    }

    /// A number for what the files are now.
    fn tree(&self) -> u64 {
        let start = 0xCBF2_9CE4_8422_2325u64;
        self.files.iter().fold(start, |tree, (path, version)| {
            path.bytes()
                .chain(version.to_le_bytes())
                .fold(tree, |tree, byte| (tree ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3))
        })
    }

    pub(super) fn agent_starts(&mut self) {
        self.since = Since::default();
    }

    /// An agent's work lands.
    pub(super) fn changed_by(&mut self, turn: &Turn) {
        turn.writes.iter().for_each(|path| self.write(path));
        turn.removes.iter().for_each(|path| self.remove(path));
        if turn.commits > 0 {
            let tree = self.tree();
            self.since.committed_change |= tree != self.committed;
            self.committed = tree;
            self.commits += turn.commits;
            self.since.commits += turn.commits;
        }
        self.todos += turn.todos;
        let believed = if self.backlog.is_some() { 0 } else { turn.closes };
        if let Some(items) = &mut self.items {
            items.total += turn.opens;
            items.open = (items.open + turn.opens).saturating_sub(believed);
        }
        self.claimed_by(turn);
    }

    /// What ralph commits.
    pub(super) fn commit(&mut self, settlement: &Settlement) -> Settled {
        let tree = self.tree();
        let commit = settlement.commit.is_some() && tree != self.committed;
        if commit {
            self.committed = tree;
            self.commits += 1;
        }
        Settled { commit: commit.then(|| format!("commit-{}", self.commits)), ..Settled::default() }
    }

    /// The files as they were before the agent.
    pub(super) fn put_back(&mut self) {
        for (path, old) in core::mem::take(&mut self.since.touched) {
            match old {
                Some(old) => self.files.insert(path, old),
                None => self.files.remove(&path),
            };
        }
    }

    pub(super) fn measured(&self, when: When, todos: bool) -> Measured {
        let before = when == When::Before;
        let changes: Vec<Change> = self
            .since
            .touched
            .iter()
            .filter(|_| !before)
            .filter_map(|touched| self.change(touched))
            .collect();
        let head = format!("commit-{}", self.commits);
        let mut measured = Measured::new(when, format!("tree-{:016x}", self.tree()), Some(head), &changes);
        measured.items = self.items;
        if !before {
            self.item_after(&mut measured);
            measured.commits = self.since.commits;
            measured.committed_change = self.since.committed_change;
        }
        // Every file is new to a world that began without any.
        measured.todos = todos.then(|| AddedTodos { total: self.todos, samples: self.todo_samples() });
        measured
    }

    fn todo_samples(&self) -> Vec<String> {
        (0..self.todos.min(3)).map(|nth| format!("src/lib.rs: // TODO: part {nth}")).collect()
    }

    fn change(&self, (path, old): (&String, &Option<u64>)) -> Option<Change> {
        let kind = match (old, self.files.get(path)) {
            (Some(old), Some(new)) if old == new => return None,
            (None, None) => return None,
            (None, Some(_)) => ChangeKind::Added,
            (Some(_), None) => ChangeKind::Deleted,
            (Some(_), Some(_)) => ChangeKind::Modified,
        };
        Some(Change { kind, path: path.clone().into_bytes(), old: None, new: None })
    }

    /// A check ends: by itself, or because it was asked to.
    pub(super) fn checked(&mut self, spec: &CheckSpec, duration_ms: u64, asked: bool) -> CheckResult {
        let check = self.checks.iter().find(|check| check.name == spec.name).cloned().unwrap_or_default();
        let failing: Vec<String> = check.complaints(self).into_set().into_iter().cloned().collect();
        let end = match asked {
            true => End::Signaled { signal: 15 },
            false => End::Exited { code: i32::from(!failing.is_empty()) },
        };
        check.writes.iter().for_each(|path| self.write(path));
        let output_tail = failing.join("\n");
        CheckResult {
            name: spec.name.clone(),
            command: spec.command.clone(),
            end,
            asked,
            failing,
            duration_ms,
            output_tail,
            hollow: false,
        }
    }
}
