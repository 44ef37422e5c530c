//! Deciding again over a recorded run: by the same rules, which must agree with the record at every step, or by other
//! rules, to see what they would have come to.
//!
//! Both take the records one by one, so that nobody needs to hold a whole journal.

mod agreement;
mod changed;
mod missing;

use alloc::collections::VecDeque;

pub use agreement::{Agreement, Disagreement};
pub use changed::Changed;

use crate::decision::{Decision, Kind, Outcome, Reason, Stop, Verdict};
use crate::prelude::*;
use crate::state::{State, Totals};

/// What other rules make of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    pub recorded: Side,
    /// As far as it can be told.
    pub replayed: Side,
    pub came: Came,
    pub divergence: Option<Divergence>,
    /// Turns that went the same way for other reasons, before anything diverged.
    pub other_reasons: u64,
    /// What the reader should know about how far this can be trusted.
    pub remarks: Vec<String>,
}

/// How far a run came, and what it used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Side {
    pub iterations: u64,
    pub totals: Totals,
    /// `None`: it goes on.
    pub stop: Option<Stop>,
}

/// How the other rules end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Came {
    /// Where the record ends, in the same way.
    Same,
    /// They stop where the record does not, or for another reason.
    Stops,
    /// They do not stop where the record does.
    GoesOn,
    /// They ask for something that nobody recorded.
    CannotBeTold { why: String },
}

/// Where the two go different ways for the first time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Divergence {
    /// `None`: the record ends before that.
    pub recorded: Option<Turn>,
    pub replayed: Turn,
}

/// A decision after which something else begins or nothing does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    pub seq: u64,
    /// Through the life of the project, and within the run; of the iteration that ended, else of the one that begins.
    pub number: u64,
    pub nth: u64,
    pub verdict: Verdict,
    pub outcome: Option<Outcome>,
    pub stop: Option<Stop>,
    /// What the next iteration is for, and who works.
    pub next: Option<(Kind, String)>,
    pub reasons: Vec<Reason>,
}

impl Side {
    fn of(state: &State) -> Self {
        Self { iterations: state.used, totals: state.totals, stop: state.stop().cloned() }
    }
}

impl Turn {
    /// `after` is the state that the decision led to.
    fn of(decision: &Decision, after: &State, seq: u64) -> Option<Self> {
        if decision.verdict == Verdict::Proceed && decision.concluded.is_none() {
            return None;
        }
        let ended = after.last.as_ref().filter(|_| decision.concluded.is_some());
        Some(Self {
            seq,
            number: ended.map_or(after.iteration, |ended| ended.number),
            nth: ended.map_or(after.used, |ended| ended.nth),
            verdict: decision.verdict,
            outcome: decision.concluded.as_ref().map(|concluded| concluded.outcome),
            stop: after.stop().filter(|_| decision.verdict == Verdict::Halt).cloned(),
            next: decision.begins.as_ref().map(|begin| (begin.kind, begin.agent.clone())),
            reasons: decision.reasons.clone(),
        })
    }

    /// Reasons apart.
    fn goes_the_same_way(&self, other: &Self) -> bool {
        let way =
            |turn: &Self| (turn.verdict, turn.outcome, turn.stop.as_ref().map(Stop::word), turn.next.clone());
        way(self) == way(other)
    }
}

/// The turns of both sides, compared in pairs until the first that differ.
#[derive(Debug, Default)]
struct Turns {
    recorded: VecDeque<Turn>,
    replayed: VecDeque<Turn>,
    divergence: Option<Divergence>,
    other_reasons: u64,
}

impl Turns {
    fn compare(&mut self) {
        while self.divergence.is_none() && !self.recorded.is_empty() && !self.replayed.is_empty() {
            let (Some(recorded), Some(replayed)) = (self.recorded.pop_front(), self.replayed.pop_front())
            else {
                return;
            };
            if !replayed.goes_the_same_way(&recorded) {
                self.divergence = Some(Divergence { recorded: Some(recorded), replayed });
            } else if replayed.reasons != recorded.reasons {
                self.other_reasons += 1;
            }
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
