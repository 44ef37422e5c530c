//! The circuit breaker: stops a loop that goes nowhere, and lets it try once more after a while.
//!
//! CLOSED counts what goes wrong in a row. OPEN starts no agent until a probe is allowed. HALF_OPEN is that probe: one
//! iteration, which closes the circuit by progress and opens it again by anything else. Where it opened for an error, a probe
//! that comes to the same one has made none.

use serde::{Deserialize, Serialize};

use crate::prelude::*;
use crate::profile::{BreakerPolicy, Trip};
use crate::report;
use crate::signature::ErrorSet;
use crate::text;
use crate::time::Time;

/// How a reason begins that is about denied tools.
pub const DENIED: &str = "permission_denied";
/// How one begins that is about the same errors, again and again.
const SAME_ERROR: &str = "same_error";
/// How many earlier iterations the length of the words is compared with.
const COMPARED: usize = 3;
/// So many items in a row that trip it open the circuit of the whole run.
const ITEMS_IN_A_ROW: u32 = 3;
/// The longest cool-down, however many probes failed.
const LONGEST_COOLDOWN: u64 = 24 * 3_600_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Circuit {
    #[default]
    Closed,
    HalfOpen,
    Open,
}

impl Circuit {
    /// Seed 002's spelling.
    pub fn word(self) -> &'static str {
        match self {
            Self::Closed => "CLOSED",
            Self::HalfOpen => "HALF_OPEN",
            Self::Open => "OPEN",
        }
    }
}

/// What this rule remembers.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Breaker {
    pub circuit: Circuit,
    /// Iterations in a row that changed nothing.
    pub no_progress: u32,
    /// Iterations in a row with the same errors.
    pub same_error: u32,
    pub last_errors: ErrorSet,
    /// Iterations in a row that were denied a tool and changed nothing.
    pub denials: u32,
    /// How many bytes of words the last iterations had.
    pub sizes: Vec<u64>,
    /// Why it is not closed.
    pub reason: Option<String>,
    pub opened_at: Option<Time>,
    /// From when on a probe is allowed; `None`: only if somebody asks for one.
    pub probe_at: Option<Time>,
    pub failed_probes: u32,
    /// Items in a row that were parked because they tripped it.
    #[serde(skip_serializing_if = "is_none_yet")]
    pub parked_items: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_none_yet(count: &u32) -> bool {
    *count == 0
}

/// One iteration, as far as it matters here.
#[derive(Debug, Clone, Copy)]
pub struct Facts<'a> {
    pub progress: bool,
    pub errors: &'a ErrorSet,
    /// Bytes of the agent's own words.
    pub words: u64,
    /// Tools it was denied.
    pub denied: &'a [String],
    /// The agent process failed. Whether it is started again is not this rule's business; only a probe is lost by it.
    pub failed: bool,
    /// What it claimed was proved, to the end or by checks that tell of something new. There is nothing left for a probe to change
    /// then.
    pub proved: bool,
    /// What it claimed was accepted, whatever speaks for it.
    pub claimed: bool,
    /// In a review, or where a claim was accepted for which more than words speaks, nothing is to be changed and little to be
    /// said, so stall, decline and denials stand still.
    pub review: bool,
}

/// An open circuit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Open {
    pub reason: String,
    pub probe_at: Option<Time>,
}

impl Breaker {
    /// Asked before an iteration: may one be started? A probe is used up when the iteration is judged.
    pub fn guard(&self, now: Time, probe_asked: bool) -> Result<Self, Open> {
        let due = self.probe_at.is_some_and(|due| now >= due);
        match self.circuit {
            Circuit::Open if !probe_asked && !due => Err(self.open()),
            Circuit::Open => Ok(Self { circuit: Circuit::HalfOpen, ..self.clone() }),
            Circuit::Closed | Circuit::HalfOpen => Ok(self.clone()),
        }
    }

    /// What a new run takes over: an open circuit stays open, but what an earlier goal's iterations counted is
    /// nothing to this one.
    #[must_use]
    pub fn carried(&self) -> Self {
        match self.circuit {
            Circuit::Closed => Self::default(),
            Circuit::HalfOpen | Circuit::Open => Self { sizes: vec![], ..self.clone() },
        }
    }

    /// A person told the agent something: a new count begins. An open circuit stays open.
    #[must_use]
    pub fn after_a_word(&self) -> Self {
        match self.circuit {
            Circuit::Closed => Self::default(),
            Circuit::HalfOpen | Circuit::Open => self.clone(),
        }
    }

    /// Whether it counts for the item that is worked on: the circuit of the run was never open.
    pub(crate) fn is_of_item(&self) -> bool {
        self.circuit == Circuit::Closed || self.circuit == Circuit::HalfOpen && self.opened_at.is_none()
    }

    /// Another item begins with fresh counters.
    #[must_use]
    pub fn for_another_item(&self) -> Self {
        match self.is_of_item() {
            true => Self { parked_items: self.parked_items, ..Self::default() },
            false => self.clone(),
        }
    }

    /// Why the item that was worked on is to be parked, where `next` is what came of its iteration.
    pub(crate) fn trips_on_item(&self, next: &Self) -> Option<String> {
        let opened = self.is_of_item() && next.circuit == Circuit::Open;
        opened.then(|| next.reason.clone().unwrap_or_default())
    }

    /// After an item was parked for tripping it: the run's own circuit stays open only if too many items in a row did.
    #[must_use]
    pub(crate) fn after_parking(self) -> Self {
        let parked_items = self.parked_items.saturating_add(1);
        if parked_items < ITEMS_IN_A_ROW {
            return Self { parked_items, ..Self::default() };
        }
        let reason = self.reason.as_ref().map(|why| format!("{why}, on {parked_items} items in a row"));
        Self { reason, parked_items: 0, ..self }
    }

    fn open(&self) -> Open {
        Open { reason: self.reason.clone().unwrap_or_default(), probe_at: self.probe_at }
    }

    /// The next state after an iteration that ended by itself, with what is to be said about it.
    #[must_use]
    pub fn step(&self, policy: &BreakerPolicy, now: Time, facts: Facts<'_>) -> (Self, Vec<String>) {
        if self.circuit == Circuit::Closed && facts.failed && !facts.progress {
            return (self.clone(), vec![]);
        }
        let next = self.counted(facts);
        if self.circuit != Circuit::Closed {
            let closed = Self { sizes: next.sizes.clone(), ..Self::default() };
            let stuck = self.is_stuck(facts);
            return match (facts.progress && !stuck, facts.proved) {
                (true, _) => (closed, vec!["circuit closed: the probe made progress".into()]),
                (false, true) => (closed, vec!["circuit closed: what the probe claimed was proved".into()]),
                (false, false) => {
                    let failed_probes = self.failed_probes.saturating_add(1);
                    // What it opened for stays what the next probe is held against.
                    let last_errors = match self.is_open_for(SAME_ERROR) {
                        true => self.last_errors.clone(),
                        false => next.last_errors,
                    };
                    let next = Self { failed_probes, last_errors, ..next };
                    // The same trigger counts on.
                    let known = self.reason.clone().unwrap_or_default();
                    let same = |reason: &String| reason.split(':').next() == known.split(':').next();
                    let mut fired = next.fired(policy, self, facts).into_iter().map(|(_, reason)| reason);
                    let reason = fired.find(same).unwrap_or(known);
                    (next.opened(policy, now, reason), vec![no_progress(facts, stuck).into()])
                }
            };
        }
        let fired = next.fired(policy, self, facts);
        let mut said: Vec<String> = vec![];
        let mut worst: Option<(Trip, String)> = None;
        for (trip, reason) in fired {
            said.push(reason.clone());
            if worst.as_ref().is_none_or(|(known, _)| rank(trip) > rank(*known)) {
                worst = Some((trip, reason));
            }
        }
        let next = match worst {
            Some((Trip::Open, reason)) => next.opened(policy, now, reason),
            Some((Trip::HalfOpen, reason)) => {
                Self { circuit: Circuit::HalfOpen, reason: Some(reason), ..next }
            }
            _ => next,
        };
        (next, said)
    }

    /// Whether it opened by this trigger.
    fn is_open_for(&self, trigger: &str) -> bool {
        self.reason.as_deref().and_then(|reason| reason.split(':').next()) == Some(trigger)
    }

    /// Whether a probe came to the very errors that the circuit opened for: files that it changed all the same are no progress.
    fn is_stuck(&self, facts: Facts<'_>) -> bool {
        let accepted = facts.proved || facts.claimed;
        self.is_open_for(SAME_ERROR) && facts.errors.same_as(&self.last_errors) && !accepted
    }

    /// Why no further iteration may be started, if so.
    pub fn stopped(&self) -> Option<Open> {
        (self.circuit == Circuit::Open).then(|| self.open())
    }

    fn counted(&self, facts: Facts<'_>) -> Self {
        let count = |known: u32, again: bool| if again { known.saturating_add(1) } else { 0 };
        let same = facts.errors.same_as(&self.last_errors);
        let mut next = self.clone();
        next.same_error = if facts.errors.is_empty() { 0 } else { count(self.same_error, same).max(1) };
        next.last_errors = facts.errors.clone();
        if !facts.review {
            next.denials = count(self.denials, !facts.denied.is_empty() && !facts.progress);
        }
        if facts.progress {
            next.no_progress = 0;
        } else if !facts.review {
            next.no_progress = count(self.no_progress, true);
        }
        if !facts.review {
            next.sizes.push(facts.words);
            if next.sizes.len() > COMPARED {
                next.sizes.remove(0);
            }
        }
        next
    }

    /// The triggers that fire now; `before` knows the sizes without this iteration's.
    fn fired(&self, policy: &BreakerPolicy, before: &Self, facts: Facts<'_>) -> Vec<(Trip, String)> {
        let mut fired = vec![];
        if !facts.review && self.no_progress >= policy.no_progress_after {
            let n = self.no_progress;
            fired.push((policy.no_progress, format!("no_progress: {n} iterations with no file changes")));
        }
        if self.same_error >= policy.same_error_after {
            let error = self.last_errors.errors.first().map(String::as_str).unwrap_or_default();
            let (n, error) = (self.same_error, text::one_line(error, 200));
            fired.push((policy.same_error, format!("{SAME_ERROR}: {n} iterations with error: {error}")));
        }
        if let Some(shrunk) = before.shrunk(facts, policy.decline_percent) {
            let reason = format!("output_decline: output declined by {shrunk}%");
            let trip =
                if facts.progress && policy.decline != Trip::Off { Trip::Warn } else { policy.decline };
            fired.push((trip, reason));
        }
        if self.denials >= policy.denials_after {
            let n = self.denials;
            let tools = report::denied_tools(facts.denied).unwrap_or_default();
            fired.push((policy.denials, format!("{DENIED}: {n} iterations were denied {tools}")));
        }
        fired.retain(|(trip, _)| *trip != Trip::Off);
        fired
    }

    /// By how many per cent the words shrank against the mean of the iterations before, if by more than `percent`.
    fn shrunk(&self, facts: Facts<'_>, percent: u32) -> Option<u128> {
        if facts.review || self.sizes.len() < COMPARED {
            return None;
        }
        let mean = self.sizes.iter().map(|size| u128::from(*size)).sum::<u128>() / COMPARED as u128;
        let less = mean.checked_sub(facts.words.into())? * 100;
        (less > mean * u128::from(percent)).then(|| less.div_ceil(mean))
    }

    fn opened(self, policy: &BreakerPolicy, now: Time, reason: String) -> Self {
        let doubled = |cooldown: u64| cooldown.saturating_mul(1 << self.failed_probes.min(20));
        let probe_at = policy.cooldown_ms.map(|cooldown| now.plus(doubled(cooldown).min(LONGEST_COOLDOWN)));
        Self { circuit: Circuit::Open, reason: Some(reason), opened_at: Some(now), probe_at, ..self }
    }
}

/// What is said of a probe that opens the circuit again.
fn no_progress(facts: Facts<'_>, stuck: bool) -> &'static str {
    match (facts.claimed, stuck) {
        (true, _) => {
            "the probe made no progress: it claimed done and changed nothing, and no check that was red is green"
        }
        (false, true) => "the probe made no progress: it ended in the error that the circuit opened for",
        (false, false) => "the probe made no progress",
    }
}

fn rank(trip: Trip) -> u8 {
    match trip {
        Trip::Off => 0,
        Trip::Warn => 1,
        Trip::HalfOpen => 2,
        Trip::Open => 3,
    }
}

#[cfg(test)]
mod tests;
