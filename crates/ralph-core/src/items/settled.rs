//! What came of a settlement.

use serde::{Deserialize, Serialize};

use super::PutAside;
use crate::prelude::*;

/// How the problem begins that what is proved is not committed.
pub const UNCOMMITTED: &str = "the work is proved and not committed";

/// What came of a settlement.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Settled {
    /// The commit that holds the work.
    pub commit: Option<String>,
    /// Files that were changed and not committed, for they were not clean before.
    pub left: Vec<String>,
    pub reverted: bool,
    /// The digest of the evidence record.
    pub evidence: Option<String>,
    pub problems: Vec<String>,
    /// What else was done, in words: what of the agent's commits HEAD has not any more.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
    /// The commit that takes back what the agent had committed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undid: Option<String>,
    /// Why what is proved, or a part of it, is not committed, where it was to be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uncommitted: Option<String>,
    /// Why the backlog does not say what came of the item. Whoever selected again would have it again, without end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unmarked: Option<String>,
    /// The digest of the task file as ralph left it: what differs from that later is somebody else's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_file: Option<String>,
    /// What became of the work of an item that is parked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub put_aside: Option<PutAside>,
    /// Where there was nothing to commit: how much of the files is in HEAD.
    #[serde(skip_serializing_if = "InHead::is_untold")]
    pub in_head: InHead,
}

impl Settled {
    /// What is said of the files that were left.
    pub fn left_why(&self) -> &'static str {
        match self.reverted {
            true => "stays in the agent's commit, for it was not clean before",
            false => "not committed, for it was not clean before",
        }
    }
}

/// How much of the files is in HEAD.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InHead {
    /// Nobody asked.
    #[default]
    Untold,
    /// The marks, and what agents changed since the last commit of ours.
    Work,
    /// All that git would commit.
    All,
}

impl InHead {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
    fn is_untold(&self) -> bool {
        *self == Self::Untold
    }
}
