//! Which state may follow which, and what each dialect calls it.

use super::model::{Shape, State};
use crate::prelude::*;

/// What comes back from blocked, done or cancelled is open first: then it is worked on and proved like anything else.
pub fn legal(from: State, to: State) -> bool {
    match from {
        State::Open | State::InProgress | State::Unknown => to != State::Unknown && from != to,
        State::Blocked => matches!(to, State::Open | State::Cancelled),
        State::Done | State::Cancelled => to == State::Open,
    }
}

/// The dialect's word for a state; none where it has no such state. Dialects with a truth value have only two.
pub fn word(shape: Shape, state: State) -> Option<&'static str> {
    Some(match (shape, state) {
        (Shape::Features, State::Open) => "FAILING",
        (Shape::Features, State::Done) => "PASSING",
        (Shape::Features, State::Blocked) => "BLOCKED",
        (Shape::Features, State::Cancelled) => "CANCELLED",
        (Shape::Tasks, State::Open) => "todo",
        (Shape::Tasks, State::InProgress) => "in-progress",
        (Shape::Tasks | Shape::Stories, State::Done) => "done",
        (Shape::Tasks | Shape::UserStories | Shape::Beads, State::Blocked) => "blocked",
        (Shape::UserStories, State::Open) => "pending",
        (Shape::UserStories | Shape::Stories | Shape::Beads, State::InProgress) => "in_progress",
        (Shape::UserStories, State::Done) => "completed",
        (Shape::Stories | Shape::Beads, State::Open) => "open",
        (Shape::Beads, State::Done) => "closed",
        (Shape::Checklist, State::Open) => " ",
        (Shape::Checklist, State::InProgress) => "/",
        (Shape::Checklist, State::Done) => "x",
        _ => return None,
    })
}

/// All its words, to be told: `todo, in-progress, done or blocked`.
pub(crate) fn words(shape: Shape) -> String {
    let states = [State::Open, State::InProgress, State::Done, State::Blocked, State::Cancelled];
    let mut words: Vec<&str> = states.into_iter().filter_map(|state| word(shape, state)).collect();
    let Some(last) = words.pop() else { return "passes: true or passes: false".into() };
    format!("{} or {last}", words.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_passes_from_blocked_or_cancelled_without_being_open_first() {
        use State::{Blocked, Cancelled, Done, InProgress, Open};
        for (from, to, right) in [
            (Open, InProgress, true),
            (Open, Done, true),
            (InProgress, Done, true),
            (InProgress, Open, true),
            (Open, Blocked, true),
            (Blocked, Open, true),
            (Blocked, Done, false),
            (Blocked, InProgress, false),
            (Done, Open, true),
            (Done, Blocked, false),
            (Done, Cancelled, false),
            (Cancelled, Open, true),
            (Cancelled, Done, false),
            (Open, Open, false),
            (State::Unknown, Open, true),
            (Open, State::Unknown, false),
        ] {
            assert_eq!(legal(from, to), right, "{from:?} -> {to:?}");
        }
    }

    #[test]
    fn a_dialect_s_word_is_read_back_as_the_same_state() {
        let shapes = [Shape::Features, Shape::Tasks, Shape::UserStories, Shape::Stories, Shape::Beads];
        let states = [State::Open, State::InProgress, State::Done, State::Blocked, State::Cancelled];
        for shape in shapes {
            for state in states {
                if let Some(word) = word(shape, state) {
                    assert_eq!(State::parse(word), Some(state), "{shape:?} {word}");
                }
            }
        }
        assert_eq!(word(Shape::Features, State::InProgress), None);
        assert_eq!(word(Shape::FeatureArray, State::Done), None);
    }
}
