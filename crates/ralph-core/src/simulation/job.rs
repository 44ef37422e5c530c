//! What goes on in a simulated world: one job at a time, and when it ends.

use super::MOMENT_MS;
use super::turn::Turn;
use crate::check::CheckSpec;
use crate::event::When;
use crate::items::Settlement;
use crate::prelude::*;
use crate::time::Time;

#[derive(Debug)]
pub(super) struct Pending {
    /// `None`: when somebody ends it.
    pub(super) ends: Option<Time>,
    pub(super) job: Job,
}

#[derive(Debug)]
pub(super) enum Job {
    Measure { when: When, todos: bool },
    Starting { turn: Turn },
    Agent { turn: Turn, began: Time, asked: bool },
    Recovering,
    Check { spec: CheckSpec, began: Time, asked: bool },
    Selecting,
    Marking,
    Settling { settlement: Box<Settlement> },
}

impl Pending {
    pub(super) fn agent(turn: Turn, now: Time) -> Self {
        let ends = (!turn.never_ends).then(|| now.plus(turn.takes_ms));
        Self { ends, job: Job::Agent { turn, began: now, asked: false } }
    }

    /// It ends at that time, unless it ends before by itself.
    pub(super) fn ask_to_end(&mut self, at: Time) {
        if self.ends.is_some_and(|ends| ends <= at) {
            return;
        }
        match &mut self.job {
            Job::Agent { asked, .. } | Job::Check { asked, .. } => {
                self.ends = Some(at);
                *asked = true;
            }
            // Nobody has started yet; it is ended as soon as it has.
            Job::Starting { turn } => {
                turn.never_ends = false;
                turn.signal = Some(15);
                turn.takes_ms = MOMENT_MS;
            }
            Job::Measure { .. } | Job::Recovering | Job::Selecting | Job::Marking | Job::Settling { .. } => {}
        }
    }
}
