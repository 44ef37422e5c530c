//! What somebody who does not watch wants to hear of.

use crate::decision::{Phase, Stop, Verdict};
use crate::event::Event;
use crate::journal::{Body, Record};
use crate::prelude::*;
use crate::state::State;
use crate::text;
use crate::view::ended;

/// Shorter waits are over before anybody has looked.
const WORTH_A_WORD_MS: u64 = 60_000;
const LONGEST: usize = 300;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// `complete`, `blocked`, `circuit_open`, `waiting`, or `stopped` for any other end that nobody asked for.
    pub event: &'static str,
    /// On one line.
    pub text: String,
    pub goal: String,
    pub run: u64,
}

/// What a record means to somebody who does not watch: mostly nothing.
pub fn of(state: &State, record: &Record) -> Option<Notice> {
    let Body::Step { event, decision } = &record.body else { return None };
    let (word, what) = match (&decision.next, decision.verdict) {
        (_, Verdict::Halt) => state.stop().and_then(|stop| Some((word(stop)?, ended(state, stop))))?,
        (Phase::Waiting { until, why }, Verdict::Wait)
            if until.since(record.at) >= WORTH_A_WORD_MS && !matches!(event, Event::NoteAdded { .. }) =>
        {
            ("waiting", format!("waiting until {until}: {why}"))
        }
        _ => return None,
    };
    let run = state.run.as_ref()?;
    Some(Notice {
        event: word,
        text: text::one_line(&what, LONGEST),
        goal: text::one_line(&run.goal, LONGEST),
        run: run.number,
    })
}

/// Whoever stopped a run knows that it stopped.
fn word(stop: &Stop) -> Option<&'static str> {
    match stop {
        Stop::Complete { .. } | Stop::ItemPassed { .. } | Stop::BacklogComplete { .. } => Some("complete"),
        Stop::Blocked { .. } => Some("blocked"),
        Stop::CircuitOpen { .. } => Some("circuit_open"),
        Stop::MaxIterations { .. }
        | Stop::Saturated { .. }
        | Stop::Budget { .. }
        | Stop::AgentsExhausted { .. }
        | Stop::Error { .. }
        | Stop::ItemFailed { .. }
        | Stop::Unreadable { .. } => Some("stopped"),
        Stop::Stopped | Stop::Closed | Stop::Interrupted | Stop::Terminated | Stop::Unknown => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decision::Proof;

    #[test]
    fn an_end_that_the_user_did_not_make_is_told_and_one_that_the_user_made_is_not() {
        let blocked = Stop::Blocked { why: "a key".into() };
        let open = Stop::CircuitOpen { why: "x".into(), probe_at: None };
        let complete = Stop::complete(Proof::Checks);
        let limit = Stop::MaxIterations { used: 1, max: 1 };
        for (stop, told) in
            [(blocked, "blocked"), (open, "circuit_open"), (complete, "complete"), (limit, "stopped")]
        {
            assert_eq!(word(&stop), Some(told));
        }
        for stop in [Stop::Stopped, Stop::Closed, Stop::Interrupted, Stop::Terminated] {
            assert_eq!(word(&stop), None, "{stop}");
        }
    }
}
