//! Reviews: how often an accepted claim must be confirmed by an iteration that doubts it and changes nothing.

use serde::{Deserialize, Serialize};

/// What this rule remembers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Reviews {
    /// Consecutive passes so far.
    pub passes: u32,
    /// Whether the next iteration is a review.
    pub reviewing: bool,
}

/// What one iteration means to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It said done and the evidence held.
    Accepted,
    /// It said more work, or its claim was refused.
    NotDone,
    /// It crashed or was cut off: no opinion.
    NoOpinion,
}

impl Reviews {
    /// Somebody else changed the tree: still to be reviewed, from the start.
    #[must_use]
    pub fn after_foreign_change(self) -> Self {
        Self { passes: 0, ..self }
    }

    /// The next state, and whether that completes the run. Where reviews are needed at all, the last word is a
    /// review's: a claim that changed nothing counts as a pass, but nobody has doubted it yet.
    #[must_use]
    pub fn step(self, needed: u32, outcome: Outcome, changed: bool) -> (Self, bool) {
        match (outcome, changed) {
            (Outcome::Accepted, true) => (Self { passes: 0, reviewing: true }, needed == 0),
            (Outcome::Accepted, false) => {
                let passes = self.passes.saturating_add(1);
                (Self { passes, reviewing: true }, needed == 0 || (self.reviewing && passes >= needed))
            }
            (Outcome::NoOpinion, false) => (self, false),
            (Outcome::NotDone | Outcome::NoOpinion, _) => (Self::default(), false),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(needed: u32, steps: &[(Outcome, bool)]) -> (Reviews, bool) {
        let mut reviews = Reviews::default();
        let mut complete = false;
        for (outcome, changed) in steps {
            assert!(!complete, "completed early");
            (reviews, complete) = reviews.step(needed, *outcome, *changed);
        }
        (reviews, complete)
    }

    use Outcome::{Accepted, NoOpinion, NotDone};

    #[test]
    fn somebody_else_s_change_is_reviewed_from_the_start() {
        let reviewing = Reviews { passes: 2, reviewing: true };
        assert_eq!(reviewing.after_foreign_change(), Reviews { passes: 0, reviewing: true });
        assert_eq!(Reviews::default().after_foreign_change(), Reviews::default(), "work goes on as work");
    }

    #[test]
    fn three_dones_without_changes_complete() {
        assert!(!run(3, &[(Accepted, false), (Accepted, false)]).1);
        assert!(run(3, &[(Accepted, false), (Accepted, false), (Accepted, false)]).1);
    }

    #[test]
    fn a_change_starts_again_at_zero() {
        let (reviews, complete) = run(3, &[(Accepted, false), (Accepted, false), (Accepted, true)]);
        assert_eq!((reviews.passes, reviews.reviewing, complete), (0, true, false));
    }

    #[test]
    fn more_work_ends_reviewing() {
        assert_eq!(run(3, &[(Accepted, false), (NotDone, false)]).0, Reviews::default());
    }

    #[test]
    fn a_crash_without_change_neither_counts_nor_resets() {
        let (reviews, _) = run(3, &[(Accepted, false), (NoOpinion, false)]);
        assert_eq!((reviews.passes, reviews.reviewing), (1, true));
        assert_eq!(run(3, &[(Accepted, false), (NoOpinion, true)]).0, Reviews::default());
    }

    #[test]
    fn a_claim_that_changed_nothing_still_meets_one_who_doubts_it() {
        assert!(!run(1, &[(Accepted, false)]).1);
        assert!(run(1, &[(Accepted, false), (Accepted, false)]).1);
    }

    #[test]
    fn with_no_reviews_the_accepted_claim_completes_changes_or_not() {
        assert!(run(0, &[(Accepted, true)]).1);
        assert!(run(0, &[(Accepted, false)]).1);
    }
}
