//! How a run stopped, with what somebody should know who reads no more than that line.

use crate::decision::{Outcome, Stop};
use crate::evidence::Held;
use crate::prelude::*;
use crate::state::State;
use crate::text::count;

/// The stop in words, and what is to be said with it.
pub fn ended(state: &State, stop: &Stop) -> String {
    let missing = missing(state, stop).map(|missing| format!("missing: {missing}"));
    let said = [stop.to_string()].into_iter().chain(weak_points(state, stop)).chain(missing);
    said.collect::<Vec<_>>().join("; ")
}

/// What a proof does not show.
pub fn weak_points(state: &State, stop: &Stop) -> Vec<String> {
    if !matches!(stop, Stop::Complete { .. }) {
        return vec![];
    }
    let last = state.last.as_ref().filter(|last| last.item.is_none());
    let conditions = last.and_then(|last| last.conclusion.as_ref()).map(|told| &told.evidence.conditions);
    let unchanged = conditions
        .into_iter()
        .flatten()
        .find(|condition| condition.name == "change" && condition.held == Held::NotApplicable);
    let claimed = Some(state.rules.items.unchecked).filter(|claimed| *claimed > 0);
    let claimed = claimed.map(|claimed| format!("{} claimed without a check", count(claimed, "item")));
    unchanged.map(|condition| condition.fact.clone()).into_iter().chain(claimed).collect()
}

/// What a run lacks that stopped between a claim that was accepted and its review.
pub fn missing(state: &State, stop: &Stop) -> Option<String> {
    let cut = matches!(stop, Stop::MaxIterations { .. } | Stop::Budget { .. } | Stop::Stopped);
    let last = state.last.as_ref().filter(|last| last.item.is_none())?;
    let reviews = state.rules.reviews;
    let wanted = cut && last.outcome() == Some(Outcome::Accepted) && reviews.reviewing;
    let left = state.reviews_needed().saturating_sub(reviews.passes).max(1);
    wanted.then(|| format!("{} of the last claim, which was accepted", count(left.into(), "review")))
}
