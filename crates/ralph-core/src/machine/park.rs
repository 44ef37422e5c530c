//! Parking: in a backlog, an item that cannot be finished now is set aside and the run continues with the others.

use crate::breaker::Breaker;
use crate::decision::Outcome;
use crate::event::Plan;
use crate::gate::Words;
use crate::items::{Attempt, Memory, ParkReason, Parking, Work};
use crate::prelude::*;
use crate::state::{Iteration, State};

/// What an iteration about an item came to.
pub(super) struct Judged<'a> {
    pub(super) outcome: Outcome,
    pub(super) words: &'a Words,
    pub(super) attempt: Option<Attempt>,
    pub(super) question: Option<&'a str>,
    /// Why the claim was refused, or the agent failed.
    pub(super) why: Option<&'a str>,
    /// The breaker after it.
    pub(super) breaker: &'a Breaker,
}

/// Why the item is parked now, if it is.
pub(super) fn reason(seen: &State, current: &Iteration, judged: &Judged<'_>) -> Option<ParkReason> {
    let item = current.item.as_deref()?;
    match (judged.outcome, judged.words) {
        (Outcome::Accepted | Outcome::Limited | Outcome::Interrupted, _) => return None,
        (Outcome::Blocked, Words::Blocked { why }) => return Some(ParkReason::blocked(why)),
        _ => {}
    }
    let spent = is_spent(item, judged.attempt).then(|| {
        let last = judged.why.map_or_else(|| judged.words.describe(), ToOwned::to_owned);
        ParkReason::attempts(item.attempts.saturating_add(1), &last)
    });
    // An agent that could not even begin has not tried the item.
    let tripped = || judged.attempt.and_then(|_| seen.rules.breaker.trips_on_item(judged.breaker));
    judged
        .question
        .map(ParkReason::question)
        .or(spent)
        .or_else(|| tripped().map(|trip| ParkReason::breaker(&trip)))
}

/// Whether this attempt was the item's last.
pub(super) fn is_spent(item: &Work, attempt: Option<Attempt>) -> bool {
    let counted = matches!(attempt, Some(Attempt::Failed | Attempt::InProgress));
    counted && item.max_attempts > 0 && item.attempts.saturating_add(1) >= item.max_attempts
}

/// What is to be put aside with it.
pub(super) fn order(reason: ParkReason, item: &Work, plan: &Plan, memory: &Memory) -> Parking {
    Parking {
        reason,
        spans: memory.spans_of(&item.id),
        began: memory.began(&item.id).cloned(),
        may_commit: plan.commits(),
    }
}
