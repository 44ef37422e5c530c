//! What a decision asks the world to do. Each effect's outcome comes back as an event.

use serde::{Deserialize, Serialize};

use crate::check::CheckSpec;
use crate::event::When;
use crate::items::Settlement;
use crate::prelude::*;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Effect {
    /// Measure the tree; answered by `tree_measured` or `measure_failed`.
    MeasureTree {
        when: When,
        /// A tree: look for TODO comments that were added since.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        todos_since: Option<String>,
    },
    /// Start the agent of the current iteration; answered by `agent_started` and `agent_ended`.
    StartAgent,
    /// End the running agent; answered by its `agent_ended`.
    EndAgent { why: Ending },
    /// ralph died while the agent ran: read what it left behind; answered by `agent_ended`, or by
    /// `agent_never_started` where it is certain that it left nothing.
    RecoverAgent,
    /// Answered by `check_ended`.
    RunCheck { check: CheckSpec },
    /// End the running check; answered by its `check_ended`.
    EndCheck { why: Ending },
    /// Read the backlog and select an item; answered by `backlog_read`.
    ReadBacklog,
    /// Mark an item as begun in the backlog; answered by `item_marked`.
    MarkItem { id: String },
    /// An attempt is over: record it, mark it, commit it or put it back; answered by `settled`.
    Settle { settlement: Box<Settlement> },
    #[serde(other)]
    Unknown,
}

impl Effect {
    /// It leaves the world as it is: nothing is lost if the record that asks for it is.
    pub fn only_looks(&self) -> bool {
        matches!(self, Self::MeasureTree { .. } | Self::ReadBacklog)
    }
}

/// Why a process that is being ended is being ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    Timeout,
    /// An agent that said nothing for too long.
    Idle {
        ms: u64,
    },
    /// The run ends: the user asked for it, or its time, money or tokens are used up.
    Stop,
}
