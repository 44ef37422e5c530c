//! The last few iterations in a line each, so that showing them needs no journal.

use serde::{Deserialize, Serialize};

use super::Iteration;
use crate::decision::Outcome;
use crate::event::AgentEnded;
use crate::prelude::*;
use crate::text;

const MOST: usize = 5;
const LONGEST: usize = 160;

/// What one iteration came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recent {
    pub number: u64,
    pub outcome: Option<Outcome>,
    /// The agent's word in `.ralph/status`.
    pub signal: Option<String>,
    /// `None`: not measured.
    pub files: Option<u64>,
    pub commits: u64,
    /// Why it was refused, how it failed, or else what the agent recommended.
    pub words: Option<String>,
    /// The item that was worked on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<String>,
}

impl Recent {
    fn of(iteration: &Iteration) -> Self {
        let refusal = iteration.conclusion.as_ref().and_then(|conclusion| conclusion.refusal.clone());
        let failure = || iteration.ended.as_ref().and_then(AgentEnded::failure);
        let recommended = || iteration.block().and_then(|block| block.recommendation.clone());
        let words = refusal.or_else(failure).or_else(recommended);
        Self {
            number: iteration.number,
            outcome: iteration.outcome(),
            signal: iteration.signal().map(Into::into),
            files: iteration.after.as_ref().map(|after| after.changed_total),
            commits: iteration.after.as_ref().map_or(0, |after| after.commits),
            item: iteration.item.as_ref().map(|item| text::one_line(&item.id, 60)),
            words: words.map(|words| text::one_line(&words, LONGEST)).filter(|words| !words.is_empty()),
        }
    }
}

pub(super) fn remember(recent: &mut Vec<Recent>, iteration: &Iteration) {
    recent.push(Recent::of(iteration));
    let surplus = recent.len().saturating_sub(MOST);
    recent.drain(..surplus);
}
