//! Items that are set aside: why, what was done for them until then, and what waits for them.

use core::fmt;

use serde::{Deserialize, Serialize};

use super::{Memory, Span};
use crate::decision::TreeMark;
use crate::prelude::*;
use crate::text;

/// How much of an agent's words a reason holds.
const LONGEST: usize = 500;

/// Why the run continues without an item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum ParkReason {
    /// The agent reported that it cannot proceed.
    Blocked { says: String },
    /// The agent asks instead of working.
    Question { asks: String },
    /// The item used up its attempts.
    Attempts { used: u64, last: String },
    /// The circuit breaker tripped on it.
    Breaker { trip: String },
    /// Written by a newer version.
    #[serde(other)]
    Unknown,
}

impl ParkReason {
    pub(crate) fn blocked(says: &str) -> Self {
        Self::Blocked { says: text::one_line(says, LONGEST) }
    }

    pub(crate) fn question(asks: &str) -> Self {
        Self::Question { asks: text::one_line(asks, LONGEST) }
    }

    pub(crate) fn attempts(used: u64, last: &str) -> Self {
        Self::Attempts { used, last: text::one_line(last, LONGEST) }
    }

    pub(crate) fn breaker(trip: &str) -> Self {
        Self::Breaker { trip: text::one_line(trip, LONGEST) }
    }

    /// The stable word of the machine interfaces.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Blocked { .. } => "blocked",
            Self::Question { .. } => "question",
            Self::Attempts { .. } => "attempts",
            Self::Breaker { .. } => "breaker",
            Self::Unknown => "unknown",
        }
    }

    /// What a person has to answer, in the agent's words.
    pub fn asks(&self) -> Option<&str> {
        match self {
            Self::Blocked { says: asks } | Self::Question { asks } => Some(asks),
            Self::Attempts { .. } | Self::Breaker { .. } | Self::Unknown => None,
        }
    }

    /// The words in it that come from elsewhere.
    pub(crate) fn words_mut(&mut self) -> Option<&mut String> {
        match self {
            Self::Blocked { says: words }
            | Self::Question { asks: words }
            | Self::Attempts { last: words, .. }
            | Self::Breaker { trip: words } => Some(words),
            Self::Unknown => None,
        }
    }
}

impl fmt::Display for ParkReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Blocked { says } => write!(f, "blocked: {says}"),
            Self::Question { asks } => write!(f, "asks: {asks}"),
            Self::Attempts { used, last } => {
                write!(f, "{} used; last: {last}", text::count(*used, "attempt"))
            }
            Self::Breaker { trip } => f.write_str(trip),
            Self::Unknown => f.write_str("for a reason only a newer ralph knows"),
        }
    }
}

/// What the shell does to set an item aside: keep its work as a snapshot, then put the files back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parking {
    pub reason: ParkReason,
    /// What agents changed for it, oldest first.
    pub spans: Vec<Span>,
    /// Before its first attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub began: Option<Began>,
    /// The run makes commits, so it may take back those of an agent.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub may_commit: bool,
}

/// Where the first attempt at an item began, and who moved HEAD since.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Began {
    pub iteration: u64,
    pub mark: TreeMark,
    /// HEAD as the last agent, or ralph after it, left it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<String>,
    /// Somebody else committed between two attempts.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub others_committed: bool,
}

/// What became of a parked item's work.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PutAside {
    /// The snapshots without and with the work; `None` where there was none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patch: Option<Patch>,
    /// How many files were put back.
    pub files: u64,
    /// Files that stay, because they changed after the agent left them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left: Vec<String>,
    /// Files that were not clean before: the agent's version of them stays in HEAD.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub in_head: Vec<String>,
    /// Why the files were not put back at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stays: Option<String>,
}

/// A change as two snapshots.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Patch {
    pub before: String,
    pub after: String,
}

/// An item that is set aside, as the backlog and the ledger tell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParkedItem {
    pub id: String,
    pub title: String,
    pub reason: ParkReason,
    /// Its work is kept as a patch.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub patch: bool,
}

/// An item that cannot begin before others are done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitingItem {
    pub id: String,
    pub title: String,
    pub on: Vec<String>,
}

impl Memory {
    /// With an iteration about an item, as far as it matters for taking its work back.
    #[must_use]
    pub(crate) fn followed(
        mut self,
        id: &str,
        iteration: u64,
        before: &TreeMark,
        left: Option<&str>,
    ) -> Self {
        let head = left.map(ToOwned::to_owned);
        let tried = self.tried_mut(id);
        match &mut tried.began {
            Some(began) => {
                began.others_committed |= began.head != before.head;
                began.head = head;
            }
            None => {
                let mark = TreeMark { beside: vec![], ..before.clone() };
                tried.began = Some(Began { iteration, mark, head, others_committed: false });
            }
        }
        self
    }

    /// ralph committed after the last attempt.
    pub(crate) fn moved_head(&mut self, id: &str, head: &str) {
        if let Some(began) = self.tried_mut(id).began.as_mut() {
            began.head = Some(head.into());
        }
    }

    pub(crate) fn began(&self, id: &str) -> Option<&Began> {
        self.tried.iter().find(|tried| tried.id == id)?.began.as_ref()
    }

    /// What agents changed for an item. What an earlier run left is its own only where no other item was worked on then.
    pub(crate) fn spans_of(&self, id: &str) -> Vec<Span> {
        let of_item = |span: &&Span| span.item.as_deref() == Some(id);
        let alone = self.spans.iter().filter(|span| span.earlier).all(|span| of_item(&span));
        self.spans.iter().filter(of_item).filter(|span| alone || !span.earlier).cloned().collect()
    }

    /// The item is parked, and its attempts start again if somebody takes it up. `put_back`: its work is not in the files any more.
    pub(crate) fn parked(&mut self, id: &str, put_back: bool) {
        match put_back {
            true => self.tried.retain(|tried| tried.id != id),
            false => self.tried_mut(id).attempts = 0,
        }
        self.unchanged.take_if(|unchanged| unchanged == id);
        if put_back {
            let gone = self.spans_of(id);
            self.spans.retain(|span| !gone.contains(span));
            self.standing.put_back();
            if self.spans.is_empty() {
                self.flagged.clear();
            }
        }
    }
}
