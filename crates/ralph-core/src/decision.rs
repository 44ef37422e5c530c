//! What follows from an event: a verdict with its reasons, the effects to perform, and what each rule
//! knows from then on. Stored whole, so that reading a journal never decides anything again.

use core::fmt;

use serde::{Deserialize, Serialize};

use crate::agents::Agents;
use crate::beside::Beside;
use crate::breaker::Breaker;
use crate::check::CheckResult;
use crate::effect::Effect;
use crate::event::When;
use crate::evidence::Evidence;
use crate::items::{Attempt, Memory, ParkReason, Settlement, Work};
use crate::limits::Resource;
use crate::prelude::*;
use crate::questions::Questions;
use crate::reviews::Reviews;
use crate::saturation::Saturation;
use crate::text;
use crate::time::Time;
use crate::transcript::Format;

#[must_use]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    pub verdict: Verdict,
    /// Never empty.
    pub reasons: Vec<Reason>,
    pub effects: Vec<Effect>,
    pub next: Phase,
    pub rules: Rules,
    /// Set when this ended an iteration.
    pub concluded: Option<Conclusion>,
    /// Set when this began one.
    pub begins: Option<Begin>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The iteration goes on.
    Proceed,
    /// On to the next iteration.
    Continue,
    /// The same, after a wait.
    Wait,
    Halt,
}

/// One rule's part in a decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reason {
    pub rule: String,
    pub text: String,
}

impl Reason {
    pub fn new(rule: &str, text: impl Into<String>) -> Self {
        Self { rule: rule.into(), text: text.into() }
    }
}

/// Where a run is.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum Phase {
    #[default]
    Fresh,
    Measuring {
        when: When,
    },
    /// The backlog is asked for an item.
    Selecting,
    Working,
    Checking,
    /// An attempt is being recorded, committed or put back.
    Settling {
        settlement: Box<Settlement>,
        /// What the run stops with afterwards.
        #[serde(default)]
        then: Option<Box<Stop>>,
    },
    Waiting {
        until: Time,
        #[serde(default)]
        why: String,
    },
    Halted {
        stop: Stop,
    },
}

/// What each rule knows; every rule owns its part and reads no other's.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Rules {
    pub reviews: Reviews,
    pub agents: Agents,
    pub breaker: Breaker,
    pub saturation: Saturation,
    pub questions: Questions,
    pub items: Memory,
}

/// A new iteration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Begin {
    /// Through the life of the project.
    pub number: u64,
    /// Within the run.
    pub nth: u64,
    pub kind: Kind,
    pub agent: String,
    pub format: Format,
    /// The tree after the last iteration, where nothing ran in between.
    pub before: Option<TreeMark>,
    /// The item it works on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<Box<Work>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    Work,
    Review,
}

impl Kind {
    pub fn word(self) -> &'static str {
        match self {
            Self::Work => "work",
            Self::Review => "review",
        }
    }
}

/// A measured tree and the commit it stood on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TreeMark {
    pub tree: String,
    pub head: Option<String>,
    /// What the tree does not hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<Beside>,
}

/// What an iteration came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conclusion {
    pub outcome: Outcome,
    /// What the words amounted to.
    #[serde(default)]
    pub words: String,
    /// The policy asks for facts whatever the words say, and they did not say done.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub unasked: bool,
    /// Empty unless the words said done.
    pub evidence: Evidence,
    /// Why a claim was not accepted; goes into the next prompt.
    pub refusal: Option<String>,
    pub passes: u32,
    pub passes_needed: u32,
    /// What the breaker has to say, whether it opened or not, and what a budget cannot count.
    #[serde(default)]
    pub warnings: Vec<String>,
    /// Where what was claimed is more than what was measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<String>,
    /// What somebody should look at: tests and checks that the agent changed, what of the backlog was put back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<String>,
    /// Of a claim that was accepted: what agents changed of that by which it was judged, and nobody has committed since.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub proof_flags: Vec<String>,
    /// What it means for the item.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<Attempt>,
    /// Why its item is parked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parked: Option<ParkReason>,
    /// The item passed, and no file was changed for it in this run, nor did a check speak that could tell its work: nothing but
    /// the agents' word says that it is done.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub untouched: bool,
    /// The item passed by a check that can tell its work, and no file was changed for it: that check was green all along.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub without_change: bool,
    /// The item passed, or the claim was accepted, and all its checks are as red as when it was begun, which is tolerated: they speak
    /// for nothing.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub tolerated: bool,
    /// The item passed by checks that could not have failed for want of the work: all of them were green before it was begun, none is
    /// the item's own, and no iteration about it changed a test file. Of a goal: all were green before the run, and no test file was
    /// changed. `None`: nothing passed, or an earlier version did not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unmeasured: Option<bool>,
}

impl Conclusion {
    /// Whether this check spoke against the claim.
    pub fn refused(&self, check: &CheckResult) -> bool {
        let name = format!("check {}", check.name);
        self.evidence.failures().any(|condition| condition.name == name)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Claimed done, and the evidence held.
    Accepted,
    /// Claimed done, and the facts say otherwise.
    Refused,
    More,
    Silent,
    Blocked,
    /// The agent failed.
    Failed,
    /// Its provider would not go on: neither a failed nor a counted iteration.
    Limited,
    /// The user stopped it, or ralph was cut off.
    Interrupted,
}

/// Why a run stopped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "reason", rename_all = "snake_case")]
pub enum Stop {
    Complete {
        proof: Proof,
        /// What ended the run, where it was not a claim about the whole.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        early: Option<Early>,
    },
    Blocked {
        why: String,
    },
    MaxIterations {
        used: u64,
        max: u64,
    },
    /// The loop polishes what is there.
    Saturated {
        /// `test_saturation` or `done_saturation`
        word: String,
        why: String,
    },
    CircuitOpen {
        why: String,
        /// From when on a probe is allowed by itself.
        probe_at: Option<Time>,
    },
    Budget {
        what: Resource,
        used: u64,
        max: u64,
        /// What would have used it up, if it was not used yet.
        #[serde(default)]
        why: Option<String>,
        /// The end that the run was given by the clock, where that is what stopped it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<Time>,
    },
    AgentsExhausted {
        failures: u32,
        last: String,
    },
    /// `ralph stop`
    Stopped,
    /// `ralph reset`: it is not continued.
    Closed,
    Interrupted,
    Terminated,
    Error {
        what: String,
    },
    /// One item was asked for, and it is proved.
    ItemPassed {
        id: String,
        proof: Proof,
    },
    /// One attempt was asked for, and it did not prove its item.
    ItemFailed {
        id: String,
        why: String,
    },
    /// There was nothing to do.
    BacklogComplete {
        /// One item was asked for.
        once: bool,
        /// What is open and not for the loop, in words.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        for_people: Option<String>,
    },
    /// The backlog cannot be read or marked.
    Unreadable {
        what: String,
    },
    #[serde(other)]
    Unknown,
}

/// What ends a run as complete before a claim about the whole was accepted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "snake_case")]
pub enum Early {
    /// The loop only polishes what is there.
    Saturation {
        /// `test_saturation` or `done_saturation`
        word: String,
        why: String,
    },
    /// This phase was declared done, and later ones have open items.
    Phase { number: u32, name: String, open: u64 },
    #[serde(other)]
    Unknown,
}

impl fmt::Display for Early {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Saturation { word, why } => write!(f, "{word}: {why}"),
            Self::Phase { name, open, .. } => {
                let (name, items) = (text::one_line(name, 60), text::count(*open, "open item"));
                write!(f, "phase {name} is done, {items} in other phases")
            }
            Self::Unknown => f.write_str("ended early for a reason only a newer ralph knows"),
        }
    }
}

/// What a completion rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Proof {
    /// ralph ran the checks and they passed.
    Checks,
    /// Reviews confirmed it; there was nothing to run.
    Reviews,
    /// The agent's words alone.
    Words,
    /// Nobody said done; the loop only polished.
    None,
}

impl Proof {
    pub fn word(self) -> &'static str {
        match self {
            Self::Checks => "checks",
            Self::Reviews => "reviews",
            Self::Words => "words",
            Self::None => "none",
        }
    }
}

impl Stop {
    /// A claim about the whole was accepted.
    pub const fn complete(proof: Proof) -> Self {
        Self::Complete { proof, early: None }
    }

    /// What ended the run before that, if it is complete.
    pub fn early(&self) -> Option<&Early> {
        match self {
            Self::Complete { early, .. } => early.as_ref(),
            _ => None,
        }
    }

    /// What it rests on, if it is a completion.
    pub fn proof(&self) -> Option<Proof> {
        match self {
            Self::Complete { proof, .. } | Self::ItemPassed { proof, .. } => Some(*proof),
            _ => None,
        }
    }

    /// The stable word of the machine interfaces.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Complete { .. } => "complete",
            Self::Blocked { .. } => "blocked",
            Self::MaxIterations { .. } => "max_iterations",
            Self::Saturated { word, .. } if word == "done_saturation" => "done_saturation",
            Self::Saturated { .. } => "test_saturation",
            Self::CircuitOpen { .. } => "circuit_open",
            Self::Budget { until: Some(_), .. } => "until",
            Self::Budget { what: Resource::Money, .. } => "budget",
            Self::Budget { what: Resource::Tokens, .. } => "max_tokens",
            Self::Budget { what: Resource::Time, .. } => "max_time",
            Self::AgentsExhausted { .. } => "agents_exhausted",
            Self::Stopped => "stopped",
            Self::Closed => "closed",
            Self::Interrupted => "interrupted",
            Self::Terminated => "terminated",
            Self::Error { .. } => "error",
            Self::ItemPassed { .. } => "item_passed",
            Self::ItemFailed { .. } => "item_failed",
            Self::BacklogComplete { .. } => "backlog_complete",
            Self::Unreadable { .. } => "unreadable",
            Self::Unknown => "unknown",
        }
    }

    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Complete { .. } | Self::ItemPassed { .. } | Self::BacklogComplete { once: false, .. } => 0,
            Self::Error { .. } | Self::Unknown => 1,
            Self::Blocked { .. } => 2,
            Self::MaxIterations { .. } | Self::Saturated { .. } | Self::ItemFailed { .. } => 3,
            Self::AgentsExhausted { .. } => 4,
            Self::CircuitOpen { .. } => 5,
            Self::Budget { .. } => 6,
            Self::BacklogComplete { once: true, .. } => 7,
            Self::Unreadable { .. } => 65,
            Self::Interrupted | Self::Stopped | Self::Closed => 130,
            Self::Terminated => 143,
        }
    }
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Complete { proof: Proof::None, .. } => f.write_str("complete, with no proof"),
            Self::Complete { proof, .. } => write!(f, "complete, proved by {}", proof.word()),
            Self::Blocked { why } => write!(f, "blocked: {why}"),
            Self::MaxIterations { used, max } if used > max => {
                write!(f, "{used} iterations used, more than the limit of {max}")
            }
            Self::MaxIterations { used, max } => write!(f, "{used} of {max} iterations used"),
            Self::Saturated { word, why } => write!(f, "{word}: {why}"),
            Self::CircuitOpen { why, probe_at: None } => write!(f, "circuit open: {why}"),
            Self::CircuitOpen { why, probe_at: Some(at) } => {
                write!(f, "circuit open: {why}; no run begins before {at}")
            }
            Self::Budget { until: Some(at), why: None, .. } => write!(f, "the run was to end at {at}"),
            Self::Budget { until: Some(at), why: Some(why), .. } => {
                write!(f, "the run was to end at {at}, and {why}")
            }
            Self::Budget { what, used, max, why: None, .. } => {
                write!(f, "{} used", what.describe(*used, *max))
            }
            Self::Budget { what, used, max, why: Some(why), .. } => {
                write!(f, "{} used, and {why}", what.describe(*used, *max))
            }
            Self::AgentsExhausted { failures: 0, last } => write!(f, "no agent is left: {last}"),
            Self::AgentsExhausted { failures, last } => {
                write!(f, "the agent failed {failures} times in a row: {last}")
            }
            Self::Stopped => f.write_str("stopped, as asked"),
            Self::Closed => f.write_str("closed by hand: it is not continued"),
            Self::Interrupted => f.write_str("interrupted"),
            Self::Terminated => f.write_str("terminated"),
            Self::Error { what } | Self::Unreadable { what } => f.write_str(what),
            Self::ItemPassed { id, proof: Proof::Words } => {
                write!(f, "{id} passed by the agent's word alone")
            }
            Self::ItemPassed { id, proof } => write!(f, "{id} passed, proved by {}", proof.word()),
            Self::ItemFailed { id, why } => write!(f, "{id} is not proved: {why}"),
            Self::BacklogComplete { for_people: Some(left), .. } => {
                write!(f, "nothing is left for the loop: {left}")
            }
            Self::BacklogComplete { for_people: None, .. } => {
                f.write_str("backlog complete: nothing is left to do")
            }
            Self::Unknown => f.write_str("stopped for a reason only a newer ralph knows"),
        }
    }
}
