//! Who changed the files, as far as snapshots tell: agents in their iterations, ralph where it put files back, and
//! somebody else in between. What somebody else brought is the user's, until he says otherwise.

use alloc::collections::{BTreeMap, BTreeSet};

use crate::effect::Effect;
use crate::event::{Event, When};
use crate::git_text::{Change, Object};
use crate::journal::{Body, Record};
use crate::prelude::*;
use crate::state::State;

#[cfg(test)]
mod tests;

/// Who worked between one snapshot and the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    Agent,
    /// An undo.
    Ralph,
    /// The user, a check, or whoever else.
    Else,
    /// An agent, and perhaps somebody else: nobody measured in between, or the snapshot is gone.
    Unknown,
}

/// The way from one snapshot to the next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    pub from: String,
    pub to: String,
    pub by: By,
}

/// The snapshots of a project in their order, read off its records.
#[derive(Debug, Clone, Default)]
pub struct Trail {
    /// Begin before this iteration; 0: with the first record.
    first: u64,
    begun: bool,
    /// An agent was started since the last snapshot; ralph has not seen it end.
    at_work: bool,
    cut_off: bool,
    /// Each with who worked before it was taken.
    points: Vec<(String, By)>,
    /// Task files of the runs, and digests of what ralph left in them.
    pub task_files: BTreeSet<String>,
    pub left: BTreeSet<String>,
}

impl Trail {
    /// From the snapshot before this iteration on.
    pub fn from(iteration: u64) -> Self {
        Self { first: iteration, ..Self::default() }
    }

    /// The next record of the journals, and the state after it.
    pub fn take(&mut self, record: &Record, state: &State) {
        let Body::Step { event, decision } = &record.body else { return };
        match event {
            Event::TreeMeasured(measured) => {
                let now = state.current.as_ref().map(|current| current.number);
                if self.first == 0 || measured.when == When::Before && now == Some(self.first) {
                    self.begin();
                }
                self.reach(&measured.tree);
            }
            // Agents have their end before ralph goes on or puts files back; the time in between is anybody's.
            Event::RunStarted(_) | Event::RunResumed(_) => self.cut_off = self.at_work,
            Event::TreePutBack(put_back) => {
                self.end(&put_back.from);
                self.push(&put_back.to, By::Ralph);
            }
            Event::AgentNeverStarted => (self.at_work, self.cut_off) = (false, false),
            Event::Settled(settled) => self.left.extend(settled.task_file.clone()),
            _ => {}
        }
        if let Some(begin) = &decision.begins
            && begin.number == self.first
            && let Some(before) = &begin.before
        {
            self.begin();
            self.reach(&before.tree);
        }
        // The item is marked for the agent.
        let starts = |effect: &Effect| matches!(effect, Effect::StartAgent | Effect::MarkItem { .. });
        self.at_work |= decision.effects.iter().any(starts);
        if let Some(backlog) = state.run.as_ref().and_then(|run| run.plan.backlog.as_ref())
            && !self.task_files.contains(&backlog.file)
        {
            self.task_files.insert(backlog.file.clone());
        }
    }

    /// The way ends here. An agent whose end nobody measured may not have been the last to work.
    pub fn end(&mut self, tree: &str) {
        let by = if self.at_work { By::Unknown } else { By::Else };
        self.push(tree, by);
    }

    /// From the last snapshot on.
    #[must_use]
    pub fn last_point(mut self) -> Self {
        self.points.drain(..self.points.len().saturating_sub(1));
        self
    }

    pub fn trees(&self) -> impl Iterator<Item = &str> {
        self.points.iter().map(|(tree, _)| tree.as_str())
    }

    /// The way by the snapshots that are still there, without steps that changed nothing.
    pub fn steps(&self, is_there: impl Fn(&str) -> bool) -> Vec<Step> {
        let mut steps = Vec::new();
        let mut from: Option<&str> = None;
        let mut over: Option<By> = None;
        for (tree, by) in &self.points {
            let by = match over.take() {
                Some(before) if before != *by => By::Unknown,
                _ => *by,
            };
            if !is_there(tree) {
                over = from.map(|_| by);
                continue;
            }
            if let Some(from) = from.filter(|from| from != tree) {
                steps.push(Step { from: from.into(), to: tree.clone(), by });
            }
            from = Some(tree);
        }
        steps
    }

    /// An iteration that never came to its agent is begun again with its number.
    fn begin(&mut self) {
        if self.first > 0 {
            self.points.clear();
            (self.at_work, self.cut_off) = (false, false);
        }
        self.begun = true;
    }

    fn reach(&mut self, tree: &str) {
        match self.at_work && !self.cut_off {
            true => self.push(tree, By::Agent),
            false => self.end(tree),
        }
    }

    fn push(&mut self, tree: &str, by: By) {
        if self.begun {
            self.points.push((tree.into(), by));
            (self.at_work, self.cut_off) = (false, false);
        }
    }
}

/// What is not only the agents' of what an undo would put back.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Outside {
    /// Files that somebody else changed, perhaps among others.
    pub paths: BTreeSet<Vec<u8>>,
    /// Some may be so without anybody knowing.
    pub untold: bool,
}

/// `back`: the changes from the files as they are to those of the first step. `steps`: who changed what since. What
/// somebody else put back as it had been is nothing new, and `is_ours` tells what ralph itself wrote.
pub fn outside(
    back: &[Change],
    steps: &[(By, Vec<Change>)],
    mut is_ours: impl FnMut(&Change) -> bool,
) -> Outside {
    let mut seen: BTreeMap<&[u8], Vec<Option<&Object>>> =
        back.iter().map(|change| (change.path.as_slice(), vec![change.new.as_ref()])).collect();
    let mut outside = Outside::default();
    for (by, changes) in steps {
        for change in changes {
            let Some(seen) = seen.get_mut(change.path.as_slice()) else { continue };
            let new = change.new.as_ref();
            if seen.contains(&new) {
                continue;
            }
            match by {
                By::Else if !is_ours(change) => {
                    outside.paths.insert(change.path.clone());
                }
                By::Unknown => outside.untold = true,
                _ => {}
            }
            seen.push(new);
        }
    }
    outside
}
