//! The last few iterations in a line each, so that showing them needs no journal.

use serde::{Deserialize, Serialize};

use super::Iteration;
use crate::decision::{Kind, Outcome};
use crate::event::AgentEnded;
use crate::prelude::*;
use crate::text;

const MOST: usize = 5;
const LONGEST: usize = 160;
const MOST_PATHS: usize = 20;

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
    /// The agent had not said done, and was not asked.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub unasked: bool,
    /// The item that was worked on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<String>,
    /// What it changed though it was a review that confirmed the claim; bounded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reviewed_into: Vec<String>,
}

/// How many reviews in a row change something before that is worth a word of its own.
const RESTLESS: usize = 3;

/// The files that every one of the last reviews changed, of which none could ever be the last; `None` where there were
/// not several such reviews in a row.
pub fn restless(recent: &[Recent]) -> Option<Vec<&str>> {
    let changing: Vec<_> =
        recent.iter().rev().take_while(|recent| !recent.reviewed_into.is_empty()).collect();
    let (last, others) = changing.split_first().filter(|_| changing.len() >= RESTLESS)?;
    let always = |path: &&String| others.iter().all(|other| other.reviewed_into.contains(path));
    Some(last.reviewed_into.iter().filter(always).map(String::as_str).collect())
}

/// Whether the first of so many passes in a row was the claim itself, which changed nothing, and no review; `None` where that
/// was too long ago. `all`: how many iterations there were.
pub fn claim_passed(recent: &[Recent], passes: u32, all: u64) -> Option<bool> {
    let no_opinion = [Outcome::Failed, Outcome::Limited, Outcome::Interrupted, Outcome::Silent].map(Some);
    let mut earlier = recent.iter().rev().filter(|recent| !no_opinion.contains(&recent.outcome));
    let counted = earlier.by_ref().take(passes as usize).count();
    match earlier.next() {
        // What comes after the items of a backlog is a review from the start.
        Some(before) => Some(before.outcome != Some(Outcome::Accepted) && before.item.is_none()),
        None => (counted == passes as usize && all <= recent.len() as u64).then_some(true),
    }
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
            unasked: iteration.is_unasked(),
            files: iteration.after.as_ref().map(|after| after.changed_total),
            commits: iteration.after.as_ref().map_or(0, |after| after.commits),
            reviewed_into: reviewed_into(iteration),
            item: iteration.item.as_ref().map(|item| text::one_line(&item.id, 60)),
            words: words.map(|words| text::one_line(&words, LONGEST)).filter(|words| !words.is_empty()),
        }
    }
}

fn reviewed_into(iteration: &Iteration) -> Vec<String> {
    let accepted = iteration.kind == Kind::Review && iteration.outcome() == Some(Outcome::Accepted);
    let after = iteration.after.as_ref().filter(|_| accepted && iteration.progress());
    let paths = after.into_iter().flat_map(|after| &after.changed).map(|changed| changed.path.clone());
    paths.take(MOST_PATHS).collect()
}

pub(super) fn remember(recent: &mut Vec<Recent>, iteration: &Iteration) {
    recent.push(Recent::of(iteration));
    let surplus = recent.len().saturating_sub(MOST);
    recent.drain(..surplus);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_that_changed_nothing_is_told_from_the_reviews_after_it() {
        use Outcome::{Accepted, Failed, More};
        let of = |outcomes: &[Outcome], passes: u32, all: u64| {
            let one = |outcome: &Outcome| Recent {
                unasked: false,
                number: 1,
                outcome: Some(*outcome),
                signal: None,
                files: None,
                commits: 0,
                words: None,
                item: None,
                reviewed_into: vec![],
            };
            claim_passed(&outcomes.iter().map(one).collect::<Vec<_>>(), passes, all)
        };
        assert_eq!(of(&[Accepted, Accepted, Accepted], 3, 3), Some(true), "nothing came before it");
        assert_eq!(of(&[More, Accepted, Failed, Accepted, Accepted], 3, 9), Some(true));
        assert_eq!(of(&[Accepted, Accepted, Accepted, Accepted], 3, 4), Some(false), "the claim had changes");
        assert_eq!(of(&[Accepted; 5], 5, 6), None, "nobody knows what was before");
    }
}
