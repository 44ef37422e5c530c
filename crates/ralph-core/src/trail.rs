//! Who changed the files, as far as snapshots tell: agents in their iterations, ralph where it put files back, and
//! somebody else in between. What somebody else brought is the user's, until he says otherwise.

use alloc::collections::{BTreeMap, BTreeSet};

use crate::decision::Verdict;
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
    /// The checks of an iteration, and ralph as it settled it: nothing else was going on in between.
    Checks,
    /// The user, or whoever else.
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
    /// Checks ran since the last snapshot.
    checked: bool,
    /// Since then ralph waited, stopped or began anew: the user had time to work.
    apart: bool,
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
                match &measured.left {
                    // Measured once already, the agent's part is there, and what came since is somebody else's.
                    Some(left) if self.at_work => {
                        self.push(left, By::Agent);
                        self.push(&measured.tree, By::Else);
                    }
                    _ => self.reach(&measured.tree),
                }
            }
            // Agents have their end before ralph goes on or puts files back; the time in between is anybody's.
            Event::RunStarted(_) | Event::RunResumed(_) => (self.cut_off, self.apart) = (self.at_work, true),
            Event::TreePutBack(put_back) => {
                self.end(&put_back.from);
                self.push(&put_back.to, By::Ralph);
            }
            Event::AgentNeverStarted | Event::ItemMarked { problem: Some(_) } => {
                (self.at_work, self.cut_off) = (false, false);
            }
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
        self.checked |= decision.effects.iter().any(|effect| matches!(effect, Effect::RunCheck { .. }));
        self.apart |= matches!(decision.verdict, Verdict::Wait | Verdict::Halt);
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
            self.forget();
        }
        self.begun = true;
    }

    fn reach(&mut self, tree: &str) {
        match (self.at_work, self.cut_off) {
            (true, false) => self.push(tree, By::Agent),
            (false, _) if self.checked && !self.apart => self.push(tree, By::Checks),
            _ => self.end(tree),
        }
    }

    fn push(&mut self, tree: &str, by: By) {
        if self.begun {
            self.points.push((tree.into(), by));
            self.forget();
        }
    }

    /// What happened before the last snapshot.
    fn forget(&mut self) {
        (self.at_work, self.cut_off, self.checked, self.apart) = (false, false, false, false);
    }
}

/// What is not only the agents' of what an undo would put back.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Outside {
    /// Files that somebody else changed, perhaps among others.
    pub paths: BTreeSet<Vec<u8>>,
    /// Files of which nobody knows whether an agent changed them or somebody else did.
    pub untold: BTreeSet<Vec<u8>>,
    /// Files that no agent changed, but a check did, or somebody beside it.
    pub checked: BTreeSet<Vec<u8>>,
    /// Agents changed files, and perhaps somebody else did so too.
    pub mixed: bool,
}

/// Whose a content of a file is that is not an agent's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// As ralph left the task file.
    Ralphs,
    /// The task file, with something else in it: no check writes there.
    TaskFile,
    Other,
}

/// `back`: the changes from the files as they are to those of the first step. `steps`: who changed what since. What
/// somebody else put back as it had been is nothing new, and `whose` tells what ralph itself wrote.
pub fn outside(
    back: &[Change],
    steps: &[(By, Vec<Change>)],
    mut whose: impl FnMut(&Change) -> Content,
) -> Outside {
    let mut seen: BTreeMap<&[u8], Vec<Option<&Object>>> =
        back.iter().map(|change| (change.path.as_slice(), vec![change.new.as_ref()])).collect();
    let (mut outside, mut agents) = (Outside::default(), BTreeSet::new());
    for (by, changes) in steps {
        for change in changes {
            let Some(seen) = seen.get_mut(change.path.as_slice()) else { continue };
            if *by == By::Agent {
                agents.insert(&change.path);
            }
            let new = change.new.as_ref();
            if seen.contains(&new) {
                continue;
            }
            let paths = match by {
                By::Agent | By::Ralph => None,
                By::Unknown => Some(&mut outside.untold),
                By::Else | By::Checks => match whose(change) {
                    Content::Ralphs => None,
                    Content::Other if *by == By::Checks => Some(&mut outside.checked),
                    Content::Other | Content::TaskFile => Some(&mut outside.paths),
                },
            };
            if let Some(paths) = paths {
                paths.insert(change.path.clone());
            }
            seen.push(new);
        }
    }
    let unknown = outside.untold.len();
    outside.untold.retain(|path| !agents.contains(path));
    outside.mixed = outside.untold.len() < unknown;
    outside.untold.retain(|path| !outside.paths.contains(path));
    let Outside { paths, untold, checked, .. } = &mut outside;
    checked.retain(|path| !agents.contains(path) && !paths.contains(path) && !untold.contains(path));
    outside
}
