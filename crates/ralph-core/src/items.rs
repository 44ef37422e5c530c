//! Items: what a backlog hands out, when one is proved, and what follows from an attempt.
//!
//! The shell reads the backlog and selects; this rule says what the claim about an item is held against, what is to be
//! done when the attempt is over (the [`Settlement`]), and what the run remembers of its items.

mod claim;
mod message;
mod parked;
mod reported;
mod settled;
mod standing;
mod tried;

use serde::{Deserialize, Serialize};

use crate::check::CheckSpec;
use crate::decision::TreeMark;
use crate::event::PutBack;
use crate::evidence::Items;
use crate::prelude::*;
use crate::state::{HandedOn, Iteration};

pub use claim::{claim, conditions, unprovable};
pub(crate) use message::account;
pub use message::{CommitFiles, attempt_id, commit_message, mend_message, revert_message};
pub use parked::{Began, ParkReason, ParkedItem, Parking, Patch, PutAside, WaitingItem};
pub use reported::reported_done;
pub use settled::{InHead, Settled, UNCOMMITTED};
pub use standing::Standing;
pub(crate) use standing::{Says, all_as_red};
pub use tried::Tried;

/// The backlog of a run and which part of it is meant.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct BacklogPlan {
    /// From the top of the project.
    pub file: String,
    /// Only this item.
    pub task: Option<String>,
    /// Only this phase.
    pub phase: Option<String>,
    /// One attempt at one item, then stop.
    pub once: bool,
    /// Continue with the next phase after an agent declared one done.
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub all_phases: bool,
}

impl BacklogPlan {
    /// Every item is meant.
    pub fn is_whole(&self) -> bool {
        self.task.is_none() && self.phase.is_none()
    }
}

/// What the backlog holds now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BacklogRead {
    /// Of the part that is meant.
    pub items: Items,
    /// The phase that is worked on, where there are phases.
    #[serde(default)]
    pub phase: Option<String>,
    #[serde(default)]
    pub phases: Vec<PhaseItems>,
    /// How many of those that are open wait for a person.
    #[serde(default)]
    pub blocked: u64,
    /// What is open and not for the loop, in words: it is none of the items above.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub for_people: Option<String>,
    /// Where nothing is open: what is done and rests on little, by the record of earlier runs.
    #[serde(default, skip_serializing_if = "Earlier::is_nothing")]
    pub earlier: Earlier,
    /// Items that are set aside and wait for a person.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parked: Vec<ParkedItem>,
    /// Items that a person left out, by their ids.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<String>,
    /// Items that wait for others, where nothing else is left.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waiting: Vec<WaitingItem>,
    pub found: Found,
}

impl BacklogRead {
    /// Nothing but this is known.
    pub fn new(found: Found) -> Self {
        Self {
            items: Items::default(),
            phase: None,
            phases: vec![],
            blocked: 0,
            for_people: None,
            earlier: Earlier::default(),
            parked: vec![],
            skipped: vec![],
            waiting: vec![],
            found,
        }
    }

    /// The phase that `LOOP_COMPLETE_PHASE_n` means: the one that has the number in its name, or else by its place.
    pub(crate) fn numbered(&self, number: u32) -> Option<&PhaseItems> {
        let own_number = |phase: &&PhaseItems| {
            let name = phase.name.to_ascii_lowercase();
            let digits = name.trim_start_matches("phase").trim_start_matches([' ', '_', '-', '.']);
            digits.parse() == Ok(number)
        };
        let by_place = || self.phases.get(usize::try_from(number).ok()?.checked_sub(1)?);
        self.phases.iter().find(own_number).or_else(by_place)
    }

    /// An item of the phase that is worked on was proved since it was read.
    pub(crate) fn one_less_open(&mut self) {
        let close = |items: &mut Items| items.open = items.open.saturating_sub(1);
        close(&mut self.items);
        let current = self.phases.iter_mut().filter(|phase| Some(&phase.name) == self.phase.as_ref());
        current.for_each(|phase| close(&mut phase.items));
    }
}

/// Items that earlier runs saw pass, by their ids.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Earlier {
    /// Nothing but an agent's word says that they are done.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub claimed: Vec<String>,
    /// Their checks passed, and no file was changed for them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub without_change: Vec<String>,
}

impl Earlier {
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhaseItems {
    pub name: String,
    pub items: Items,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum Found {
    Selected(Box<Work>),
    /// Nothing is open.
    Complete,
    /// Something is open, and nothing of it can be worked on.
    Stuck {
        why: String,
        /// What to type about it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        next: Option<String>,
    },
    Unreadable {
        why: String,
    },
}

/// An item to be worked on.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Work {
    pub id: String,
    /// ralph made that of the item's words, so that it says nothing to people.
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub made_id: bool,
    pub title: String,
    /// For the prompt: description, criteria, requirements; bounded.
    pub text: String,
    /// A digest of what it is judged by.
    pub criteria: String,
    /// Its own verification commands.
    pub checks: Vec<CheckSpec>,
    pub needs: Needs,
    /// Attempts so far, and how many it may have; 0 = no limit.
    pub attempts: u64,
    pub max_attempts: u64,
}

/// Which checks an item asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Needs {
    pub build: bool,
    pub tests: bool,
    pub acceptance: bool,
}

impl Default for Needs {
    fn default() -> Self {
        Self { build: true, tests: true, acceptance: true }
    }
}

impl Work {
    /// The checks that decide about it: the project's as far as it asks for them, then its own. What both name is run once, as its
    /// own, of which nothing may change.
    pub fn checks<'a>(&'a self, project: &'a [CheckSpec]) -> impl Iterator<Item = &'a CheckSpec> {
        let own = || self.checks.iter().filter(|_| self.needs.acceptance);
        let asked_for = move |check: &&CheckSpec| match check.name.as_str() {
            "build" => self.needs.build,
            "test" => self.needs.tests,
            _ => true,
        };
        let once = move |check: &&CheckSpec| own().all(|own| own.command != check.command);
        project.iter().filter(asked_for).filter(once).chain(own())
    }

    /// `FEAT-1 title (attempt 2/5)`
    pub fn named(&self) -> String {
        let most = if self.max_attempts > 0 { format!("/{}", self.max_attempts) } else { String::new() };
        format!("{} {} (attempt {}{most})", self.id, self.title, self.attempts.saturating_add(1))
    }

    pub fn has_own_checks(&self) -> bool {
        self.needs.acceptance && !self.checks.is_empty()
    }
}

/// The backlog after an agent worked on an item.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ItemAfter {
    /// The agent marked it as done in the backlog.
    pub ticked: bool,
    /// It marked parts of it as done, or counted its attempts.
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub in_part: bool,
    pub criteria: String,
    /// Other items that it marked as done.
    pub ticked_others: Vec<String>,
    /// What the item is judged by and the agent changed: harness, requirements, check commands.
    pub tampered: Vec<String>,
    /// Items that it removed, or changed in more than a tick, each with what of it. The file was put back.
    pub removed: Vec<String>,
    pub changed: Vec<String>,
    /// Items that it had added, and that went with what was put back.
    pub let_go: Vec<String>,
    /// It left the backlog unreadable.
    pub unreadable: bool,
    /// It deleted the file, which is why.
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub deleted: bool,
    /// The backlog was put back as it was before the attempt.
    pub put_back: bool,
    /// Other files that were put back with it: harness and requirements.
    pub restored: Vec<String>,
    /// What its own commits hold of the backlog, harness and requirements that nobody may change.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub committed: Vec<String>,
    /// Items that its own commits hold as done, in the backlog, and that were not.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ticked_in_commits: Vec<String>,
    /// HEAD is not where it was before the agent, and how to get back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub departed: Option<String>,
}

impl ItemAfter {
    /// With what was seen when it was looked at before: what ralph put back then does not show any more. Where commits go is
    /// looked at anew.
    #[must_use]
    pub fn seen_before(mut self, first: &Self) -> Self {
        let join = |into: &mut Vec<String>, from: &[String]| {
            let new: Vec<String> = from.iter().filter(|name| !into.contains(name)).cloned().collect();
            into.extend(new);
        };
        join(&mut self.tampered, &first.tampered);
        join(&mut self.ticked_others, &first.ticked_others);
        join(&mut self.removed, &first.removed);
        join(&mut self.changed, &first.changed);
        join(&mut self.let_go, &first.let_go);
        join(&mut self.restored, &first.restored);
        self.ticked |= first.ticked;
        self.unreadable |= first.unreadable;
        self.deleted |= first.deleted;
        self.put_back |= first.put_back;
        self
    }

    /// What the item is judged by and the agent changed, with where commits go.
    pub fn all_tampered(&self) -> impl Iterator<Item = String> {
        let departed = self.departed.iter().map(|to| format!("where commits go ({to})"));
        self.tampered.iter().cloned().chain(departed)
    }

    /// Whether it marked items as done.
    pub(crate) fn is_marked(&self) -> bool {
        self.ticked || !self.ticked_others.is_empty()
    }

    /// Whether the agent did anything to the backlog that is to be taken back.
    pub(crate) fn is_touched(&self) -> bool {
        let files = !self.restored.is_empty() || self.is_committed();
        self.is_marked() || self.put_back || self.unreadable || files
    }

    /// Whether its commits hold anything that HEAD is not to keep.
    pub(crate) fn is_committed(&self) -> bool {
        !self.committed.is_empty() || !self.ticked_in_commits.is_empty()
    }

    /// That the backlog was put back, on a line.
    pub(crate) fn describe_put_back(&self) -> Option<String> {
        let files = (!self.restored.is_empty()).then(|| {
            format!("put back as before the attempt, for items are judged by it: {}", some(&self.restored))
        });
        match (self.describe_backlog(), files) {
            (Some(backlog), Some(files)) => Some(format!("{backlog}; {files}")),
            (backlog, files) => backlog.or(files),
        }
    }

    fn describe_backlog(&self) -> Option<String> {
        let removed = (!self.removed.is_empty()).then(|| format!("removed {}", some(&self.removed)));
        let changed = (!self.changed.is_empty()).then(|| format!("changed {}", some(&self.changed)));
        let unreadable =
            self.unreadable.then(|| if self.deleted { "deleted" } else { "made unreadable" }.to_owned());
        let let_go =
            (!self.let_go.is_empty()).then(|| format!("what was added went with it: {}", some(&self.let_go)));
        let parts: Vec<String> = [removed, changed, unreadable, let_go].into_iter().flatten().collect();
        let parts = if parts.is_empty() { String::new() } else { format!(" ({})", parts.join("; ")) };
        self.put_back.then(|| format!("the backlog is put back as it was before the attempt{parts}"))
    }
}

/// What an attempt came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Attempt {
    Passed,
    Failed,
    /// Nothing was claimed yet, and the item goes on.
    InProgress,
}

impl Attempt {
    /// Seed 003's word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Passed => "PASSED",
            Self::Failed => "FAILED",
            Self::InProgress => "IN_PROGRESS",
        }
    }
}

/// What is to be done when an attempt is over. Doing it twice does it once: each part can be recognised when it is
/// there already.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settlement {
    /// The iteration that it settles.
    pub iteration: u64,
    /// `None`: the goal, or the backlog as a whole.
    pub item: Option<Work>,
    pub result: Attempt,
    /// What was found, on a line.
    pub why: String,
    /// Commit what the iterations changed.
    pub commit: Option<CommitOrder>,
    /// Put the code back to this.
    pub revert: Option<TreeMark>,
    /// The item has had its attempts: it waits for a person, with this note.
    pub block: Option<String>,
    /// Marks in the backlog that nobody could prove, to be taken back.
    pub untick: Vec<String>,
    /// What a pass rests on where no check was run, or none that could tell its work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unchecked: Option<String>,
    /// The item is set aside, and the run continues with others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub park: Option<Parking>,
    /// It was no attempt: marks are taken back, and nothing is recorded.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub uncounted: bool,
    /// Where it is the goal: what the agent said that last changed something for it. Whoever came after it only reviewed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said: Option<String>,
}

impl Settlement {
    /// What the attempt names as what was run: the checks, or what stands for them.
    pub fn commands(&self, iteration: &Iteration) -> Vec<String> {
        let commands = iteration.checks.iter().map(|check| check.command.clone());
        commands.chain(self.unchecked.clone()).collect()
    }
}

/// What may go into a commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommitOrder {
    /// Trees before and after what the agents did.
    pub spans: Vec<Span>,
    /// The tree when the run began: what was uncommitted then is not ours.
    pub base: Option<TreeMark>,
    /// What was flagged about it, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flagged: Vec<String>,
    /// No commit where it would hold nothing but the task file: a mark for which no file was changed is no work.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub with_work: bool,
    /// Files that parking left, for somebody else had worked on them too: no commit holds them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_ours: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    pub from: String,
    pub to: String,
    /// The item that was worked on, if it was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<String>,
    /// Agents of an earlier run did it.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub earlier: bool,
}

/// What a run takes over from an earlier one that worked on the same backlog. What an agent did does not become the user's
/// by a new run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Inherited {
    /// The files as they would be without what agents left uncommitted, and HEAD; `None` where they left nothing.
    pub base: Option<TreeMark>,
    /// What they left: the first goes from that tree to the files as they are, others name further items.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left: Vec<Span>,
    /// What was flagged about it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub flagged: Vec<String>,
    /// From the files without what agents changed and nobody proved, to the files as they are.
    pub unproved: Option<Span>,
    /// By what items were proved, where the whole was not proved since.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub proofs: Vec<CheckSpec>,
    /// The item that was last claimed without a change: a second attempt has the next word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unchanged: Option<String>,
    /// Items that are not done and for which agents have changed files that are still there.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub worked_on: Vec<String>,
    /// Those of them for which tests were changed, and in which iterations.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tested: Vec<(String, Vec<u64>)>,
    /// What the next agent at the same item is told.
    #[serde(skip_serializing_if = "HandedOn::is_nothing")]
    pub told: HandedOn,
}

impl Inherited {
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

/// What the run remembers of its items.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Memory {
    /// Attempts of this run that did not pass, by item.
    pub tried: Vec<Tried>,
    /// Items that passed in this run.
    pub passed: u64,
    /// Those of them that are claimed: no check was run, or none that could tell their work and no file was changed, or all are as
    /// red as before. The agent's word, and what reviews find in the whole.
    #[serde(skip_serializing_if = "is_none_yet")]
    pub unchecked: u64,
    /// Those of the claimed ones for which no file was changed.
    #[serde(skip_serializing_if = "is_none_yet")]
    pub untouched: u64,
    /// Those whose checks were all green before they were begun, none of them the item's own, and no test file was changed for it.
    #[serde(skip_serializing_if = "is_none_yet")]
    pub unmeasured: u64,
    /// The first of them by their ids; bounded.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unmeasured_items: Vec<String>,
    /// Those that a check of their own proved, or one that was red before, and for which no file was changed.
    #[serde(skip_serializing_if = "is_none_yet")]
    pub without_change: u64,
    /// What agents changed since the last commit of ours.
    pub spans: Vec<Span>,
    /// What was flagged about that.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub flagged: Vec<String>,
    /// Files that parking left, for somebody else had worked on them too.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_ours: Vec<String>,
    /// Whether the last words said that everything is done.
    pub declared: bool,
    /// The phase that they said is done, by its number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub declared_phase: Option<u32>,
    /// The item that was last claimed without a change.
    pub unchanged: Option<String>,
    /// By what items were proved, each command once. The whole has to hold it too: a later item may break an earlier one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub proofs: Vec<CheckSpec>,
    /// The tree with the last item that was proved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proved_tree: Option<String>,
    /// Iterations about the whole, one after the other, that were not accepted.
    #[serde(skip_serializing_if = "is_none_yet")]
    pub whole_refused: u64,
    /// Whether an agent changed a test for the goal, and not for an item.
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub goal_tested: bool,
    /// How checks stood when the item that is worked on was begun.
    #[serde(skip_serializing_if = "Standing::is_nothing")]
    pub standing: Standing,
    /// What was said last by an agent that changed something for the goal and not for an item; bounded, until it is committed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub said: Option<String>,
}

fn proof_name(nth: usize) -> String {
    format!("proof-{nth}")
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_none_yet(count: &u64) -> bool {
    *count == 0
}

impl Memory {
    /// What a new run knows from the beginning.
    #[must_use]
    pub(crate) fn inherited(work: &Inherited) -> Self {
        let tested = |id: &String| {
            let known = work.tested.iter().find(|(known, _)| known == id);
            known.map_or(vec![], |(_, iterations)| iterations.clone())
        };
        Self {
            spans: work.left.clone(),
            flagged: work.flagged.clone(),
            proofs: (1..)
                .zip(&work.proofs)
                .map(|(nth, proof)| CheckSpec { name: proof_name(nth), ..proof.clone() })
                .collect(),
            unchanged: work.unchanged.clone(),
            tried: work
                .worked_on
                .iter()
                .map(|id| Tried { id: id.clone(), tested_in: tested(id), ..Tried::default() })
                .collect(),
            ..Self::default()
        }
    }

    /// With an undo of what agents had left, or one that was taken back: it goes on from there, so that nobody takes what differs
    /// for the user's. An undo that goes further back than that is the user's own change.
    #[must_use]
    pub(crate) fn put_back(mut self, put_back: &PutBack, taken_back: bool) -> Self {
        // What checks came to since may be gone with it: they are held against how they stood before the run.
        self.standing = Standing::default();
        self.goal_tested = false;
        let known = taken_back || self.spans.iter().any(|span| span.from == put_back.to);
        let last = self.spans.last().filter(|last| known && last.to == put_back.from);
        let Some(item) = last.map(|last| last.item.clone()) else { return self };
        self.changed(&put_back.from, &put_back.to, item.as_deref())
    }

    /// What agents changed since the last item that was proved, in this order. Nobody has accepted it.
    pub fn unproved(&self) -> &[Span] {
        let proved = self.proved_tree.as_ref();
        let accepted = self.spans.iter().rposition(|span| Some(&span.to) == proved);
        &self.spans[accepted.map_or(0, |last| last + 1)..]
    }

    /// With what an agent changed.
    #[must_use]
    pub fn changed(mut self, from: &str, to: &str, item: Option<&str>) -> Self {
        match self.spans.last_mut() {
            _ if from == to => {}
            Some(last) if last.to == from && last.item.as_deref() == item && !last.earlier => {
                last.to = to.into();
            }
            _ => self.spans.push(Span {
                from: from.into(),
                to: to.into(),
                item: item.map(Into::into),
                earlier: false,
            }),
        }
        self
    }

    /// With what is to be said of it.
    #[must_use]
    pub fn flagged(mut self, flags: impl Iterator<Item = String>) -> Self {
        const MOST: usize = 20;
        for flag in flags {
            if self.flagged.len() < MOST && !self.flagged.contains(&flag) {
                self.flagged.push(flag);
            }
        }
        self
    }

    /// With an attempt that was judged. `unchanged`: it was claimed, and nothing was changed.
    #[must_use]
    pub fn judged(mut self, id: &str, attempt: Attempt, unchanged: bool) -> Self {
        self.unchanged = unchanged.then(|| id.into());
        match attempt {
            Attempt::Passed => {
                self.passed = self.passed.saturating_add(1);
                self.tried.retain(|tried| tried.id != id);
            }
            _ => match self.tried.iter_mut().find(|tried| tried.id == id) {
                Some(tried) => tried.attempts = tried.attempts.saturating_add(1),
                None => {
                    self.tried.push(Tried {
                        id: id.into(),
                        attempts: 1,
                        untouched: true,
                        ..Tried::default()
                    });
                }
            },
        }
        self
    }

    /// An item is proved by its own checks, in this tree.
    #[must_use]
    pub(crate) fn proved(mut self, item: &Work, tree: Option<&str>) -> Self {
        for check in item.checks.iter().filter(|_| item.needs.acceptance) {
            if self.proofs.iter().all(|known| known.command != check.command) {
                let name = proof_name(self.proofs.len() + 1);
                self.proofs.push(CheckSpec { name, ..check.clone() });
            }
        }
        self.proved_tree = tree.map(Into::into).or(self.proved_tree);
        self.whole_refused = 0;
        self
    }

    /// An item passed, and nothing but the agent's word speaks for it; `untouched`: no file was changed for it either.
    #[must_use]
    pub(crate) fn claimed(self, untouched: bool) -> Self {
        Self {
            unchecked: self.unchecked.saturating_add(1),
            untouched: self.untouched.saturating_add(u64::from(untouched)),
            ..self
        }
    }

    /// An item passed, and its checks could not have failed for want of it.
    #[must_use]
    pub(crate) fn unmeasured(mut self, id: &str) -> Self {
        if self.unmeasured_items.len() < SHOWN {
            self.unmeasured_items.push(id.into());
        }
        Self { unmeasured: self.unmeasured.saturating_add(1), ..self }
    }

    /// The item is as open as it was.
    pub(crate) fn not_unmeasured(&mut self, id: &str) {
        self.unmeasured = self.unmeasured.saturating_sub(1);
        self.unmeasured_items.pop_if(|last| last == id);
    }

    /// An item passed by checks that can tell its work, and no file was changed for it.
    #[must_use]
    pub(crate) fn without_change(self) -> Self {
        Self { without_change: self.without_change.saturating_add(1), ..self }
    }

    /// How many items checks have proved in this run.
    pub fn proved_by_checks(&self) -> u64 {
        self.passed.saturating_sub(self.unchecked)
    }

    /// Whether items passed, each of them by words, and no check is known that proved one before.
    pub(crate) fn are_all_claimed(&self) -> bool {
        self.passed > 0 && self.unchecked == self.passed && self.proofs.is_empty()
    }

    /// Whether items passed, each of them by words and without a change, and no check is known that proved one before.
    pub(crate) fn is_claimed_alone(&self) -> bool {
        self.passed > 0 && self.untouched == self.passed && self.proofs.is_empty()
    }

    /// Without what is committed or put back.
    #[must_use]
    pub fn settled(mut self, settled: &Settled, last: Option<&Iteration>) -> Self {
        if let (Some(undid), Some(item)) = (&settled.undid, last.and_then(|last| last.item.as_ref()))
            && settled.put_aside.is_none()
        {
            self.moved_head(&item.id, undid);
        }
        if settled.put_aside.is_some() {
            return self;
        }
        if settled.commit.is_some() {
            self.spans.clear();
            self.said = None;
        } else if settled.reverted
            && let Some((before, after)) = last.and_then(|last| last.before.as_ref().zip(last.after.as_ref()))
        {
            // What earlier iterations left is still there.
            match self.spans.last_mut().filter(|span| span.to == after.left()) {
                Some(span) if span.from == before.tree => drop(self.spans.pop()),
                Some(span) => span.to.clone_from(&before.tree),
                None => {}
            }
            self.standing.put_back();
            self.nothing_is_left_of(last.and_then(|last| last.item.as_deref()));
            self.undone_from(last.map_or(u64::MAX, |last| last.number));
        }
        if self.spans.is_empty() {
            self.flagged.clear();
        }
        self
    }

    /// What was changed for an item is put back, unless an earlier attempt left something.
    fn nothing_is_left_of(&mut self, item: Option<&Work>) {
        let Some(id) = item.map(|item| item.id.as_str()) else { return };
        let left = self.spans.iter().any(|span| span.item.as_deref() == Some(id));
        if let Some(tried) = self.tried.iter_mut().find(|tried| tried.id == id) {
            tried.untouched |= !left;
        }
    }
}

/// How many of many names are shown.
const SHOWN: usize = 10;

/// The first of many names, and how many more there are.
pub fn some(names: &[String]) -> String {
    some_of(names, names.len() as u64)
}

/// The same where only the first of so many are known.
pub fn some_of(names: &[String], all: u64) -> String {
    let shown: Vec<&str> = names.iter().take(SHOWN).map(String::as_str).collect();
    let more = all.saturating_sub(shown.len() as u64);
    let shown = shown.join(", ");
    match more {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

#[cfg(test)]
mod tests;
