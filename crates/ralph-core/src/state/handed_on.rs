//! What a run that is over hands on to the next one about the same backlog, for its agents to know.

use serde::{Deserialize, Serialize};

use super::{Refusal, State};
use crate::check::CheckResult;
use crate::prelude::*;

/// What the agents of a new run are told of the attempt before it, if they have the same item.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct HandedOn {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refusal: Option<Refusal>,
    /// Where the last attempt claimed more than was measured, and at which item.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claimed: Option<(String, Vec<String>)>,
}

impl HandedOn {
    /// How many red checks are handed on; the prompt has the end of what each printed.
    const MOST_CHECKS: usize = 5;

    /// What a run that is over hands on to the next one about the same backlog.
    pub fn from(last: &State) -> Self {
        let refusal = last.refusal.clone().filter(|refusal| refusal.item.is_some());
        let refusal = refusal.map(|refusal| Refusal {
            checks: refusal.checks.into_iter().take(Self::MOST_CHECKS).map(CheckResult::in_short).collect(),
            ..refusal
        });
        let claimed = match &last.last {
            None => last.claimed.clone(),
            Some(last) => last.item.as_ref().zip(last.conclusion.as_ref()).and_then(|(item, conclusion)| {
                let differences = conclusion.differences.clone();
                (!differences.is_empty()).then(|| (item.id.clone(), differences))
            }),
        };
        Self { refusal, claimed }
    }

    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}
