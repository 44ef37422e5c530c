//! When to send which signal: the keeper's decisions, without processes or clocks.

use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::process::KILL_PATIENCE;

/// What the command left behind, and a command whose ralph is gone, get no more than this between TERM and KILL.
const SHORT_GRACE: Duration = Duration::from_secs(2);

/// Somebody wants the command to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Request {
    End,
    EndNow,
    /// Ralph is gone.
    LineCut,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// The command runs and nobody has asked it to end.
    Watch,
    Term(Instant),
    Kill(Instant),
    GaveUp,
}

#[derive(Debug)]
pub(super) struct Plan {
    grace: Duration,
    stage: Stage,
    asked: bool,
    at_once: bool,
    command_gone: bool,
}

impl Plan {
    pub(super) fn new(grace: Duration) -> Plan {
        Plan { grace, stage: Stage::Watch, asked: false, at_once: false, command_gone: false }
    }

    pub(super) fn asked_to_end(&mut self, request: Request, now: Instant) {
        self.asked |= !self.command_gone;
        self.stage = match (request, self.stage) {
            (_, Stage::Kill(_) | Stage::GaveUp) => self.stage,
            (Request::EndNow, _) => Stage::Kill(now + KILL_PATIENCE),
            (Request::End, Stage::Watch) => Stage::Term(now + self.grace),
            (Request::End, Stage::Term(_)) => self.stage,
            (Request::LineCut, Stage::Watch) => Stage::Term(now + self.short_grace()),
            (Request::LineCut, Stage::Term(deadline)) => Stage::Term(deadline.min(now + self.short_grace())),
        };
        self.at_once |= request == Request::EndNow;
    }

    /// What it has left behind is next.
    pub(super) fn command_exited(&mut self, now: Instant) {
        self.command_gone = true;
        self.stage = if self.at_once {
            Stage::Kill(now + KILL_PATIENCE)
        } else {
            Stage::Term(now + self.short_grace())
        };
    }

    pub(super) fn time_is_up(&mut self, now: Instant) {
        self.stage = match self.stage {
            Stage::Watch => Stage::Watch,
            Stage::Term(_) => Stage::Kill(now + KILL_PATIENCE),
            Stage::Kill(_) | Stage::GaveUp => Stage::GaveUp,
        };
    }

    /// What everything that is there should have got by now.
    pub(super) fn signal(&self) -> Option<Signal> {
        match self.stage {
            Stage::Watch | Stage::GaveUp => None,
            Stage::Term(_) => Some(Signal::TERM),
            Stage::Kill(_) => Some(Signal::KILL),
        }
    }

    pub(super) fn deadline(&self) -> Option<Instant> {
        match self.stage {
            Stage::Watch | Stage::GaveUp => None,
            Stage::Term(deadline) | Stage::Kill(deadline) => Some(deadline),
        }
    }

    pub(super) fn given_up(&self) -> bool {
        self.stage == Stage::GaveUp
    }

    pub(super) fn command_is_gone(&self) -> bool {
        self.command_gone
    }

    /// The end was asked for while the command was still there.
    pub(super) fn was_asked(&self) -> bool {
        self.asked
    }

    fn short_grace(&self) -> Duration {
        self.grace.min(SHORT_GRACE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRACE: Duration = Duration::from_secs(10);

    /// A plan and a clock that starts with it.
    fn plan() -> (Plan, impl Fn(u64) -> Instant) {
        let start = Instant::now();
        (Plan::new(GRACE), move |seconds| start + Duration::from_secs(seconds))
    }

    fn check(plan: &Plan, signal: Option<Signal>, deadline: Option<Instant>) {
        assert_eq!((plan.signal(), plan.deadline()), (signal, deadline), "{plan:?}");
    }

    #[test]
    fn a_command_nobody_asks_to_end_has_all_the_time() {
        let (plan, _) = plan();
        check(&plan, None, None);
    }

    #[test]
    fn asked_it_gets_term_then_kill_and_its_leftovers_the_same() {
        let (mut plan, at) = plan();
        plan.asked_to_end(Request::End, at(0));
        check(&plan, Some(Signal::TERM), Some(at(10)));
        plan.asked_to_end(Request::End, at(5));
        check(&plan, Some(Signal::TERM), Some(at(10)));
        plan.time_is_up(at(10));
        check(&plan, Some(Signal::KILL), Some(at(15)));
        plan.command_exited(at(11));
        check(&plan, Some(Signal::TERM), Some(at(13)));
        plan.time_is_up(at(13));
        check(&plan, Some(Signal::KILL), Some(at(18)));
        plan.time_is_up(at(18));
        assert!(plan.given_up() && plan.was_asked());
        check(&plan, None, None);
    }

    #[test]
    fn at_once_means_no_more_term_for_anybody() {
        let (mut plan, at) = plan();
        plan.asked_to_end(Request::End, at(0));
        plan.asked_to_end(Request::EndNow, at(1));
        check(&plan, Some(Signal::KILL), Some(at(6)));
        plan.command_exited(at(2));
        check(&plan, Some(Signal::KILL), Some(at(7)));
    }

    #[test]
    fn without_ralph_the_grace_is_short() {
        let (mut watched, at) = plan();
        watched.asked_to_end(Request::LineCut, at(0));
        check(&watched, Some(Signal::TERM), Some(at(2)));

        let (mut ending, at) = plan();
        ending.asked_to_end(Request::End, at(0));
        ending.asked_to_end(Request::LineCut, at(1));
        check(&ending, Some(Signal::TERM), Some(at(3)));
    }

    #[test]
    fn a_request_after_the_exit_does_not_count_as_asked() {
        let (mut plan, at) = plan();
        plan.command_exited(at(0));
        plan.asked_to_end(Request::End, at(1));
        assert!(!plan.was_asked());
        check(&plan, Some(Signal::TERM), Some(at(2)));
    }

    #[test]
    fn a_request_after_kill_does_not_prolong_it() {
        let (mut plan, at) = plan();
        plan.asked_to_end(Request::EndNow, at(0));
        for request in [Request::End, Request::LineCut, Request::EndNow] {
            plan.asked_to_end(request, at(3));
            check(&plan, Some(Signal::KILL), Some(at(5)));
        }
    }
}
