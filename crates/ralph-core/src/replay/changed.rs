//! Other rules over the facts of a record.
//!
//! The machine decides for itself and is handed what was recorded: the k-th iteration gets what the k-th agent did. It
//! can be a little ahead of the record (a check that it does not want is passed over), never behind. What it asks for
//! and nobody recorded ends the replay.

use super::missing;
use super::{Came, Divergence, Side, Told, Turn, Turns};
use crate::decision::{Phase, Stop};
use crate::effect::Effect;
use crate::event::{Event, Plan, RunResumed, RunStarted, Stamped, StopBy, When};
use crate::journal::{Body, Record};
use crate::machine::decide;
use crate::prelude::*;
use crate::state::{State, apply, names};
use crate::time::Time;

/// Takes the records of a run, from the first one on, and decides by plans that `change` has altered. It may alter the
/// policy only: other checks or agents would need other facts.
pub struct Changed<F> {
    change: F,
    pub(super) recorded: State,
    pub(super) replayed: State,
    /// What the replayed clock is ahead of the recorded one, in milliseconds: time that was not needed is not spent.
    shift: i64,
    turns: Turns,
    /// Set when the replay is over; the record is still read to its end.
    came: Option<Came>,
    /// Whether the last measuring was asked to look for TODO comments: by the record, and by the replay.
    pub(super) todos: (bool, bool),
    remarks: Vec<String>,
}

impl<F: Fn(&mut Plan)> Changed<F> {
    pub fn new(change: F) -> Self {
        Self {
            change,
            recorded: State::default(),
            replayed: State::default(),
            shift: 0,
            turns: Turns::default(),
            came: None,
            todos: (false, false),
            remarks: vec![],
        }
    }

    pub fn take(&mut self, record: &Record) {
        if self.came.is_none() {
            match &record.body {
                Body::Step { event, .. } => self.hand_over(record, event),
                Body::Checkpoint { .. } | Body::Unknown => self.pass_over(record),
            }
        }
        self.recorded = apply(core::mem::take(&mut self.recorded), record);
        if let Body::Step { decision, .. } = &record.body {
            self.todos.0 = asks_for_todos(&decision.effects).unwrap_or(self.todos.0);
            self.turns.recorded.extend(Turn::of(decision, &self.recorded, record.seq));
        }
        if self.came.is_none() {
            self.catch_up(record.seq);
        }
        self.turns.compare();
    }

    /// What became of it, once the record is at its end.
    pub fn finish(mut self) -> Told {
        let came = self.came.take().unwrap_or(match (self.replayed.stop(), self.recorded.stop()) {
            (None, Some(_)) => Came::GoesOn,
            (Some(_), None) => Came::Stops,
            _ => Came::Same,
        });
        let Turns { replayed, divergence, other_reasons, .. } = self.turns;
        let left = || match came {
            Came::Stops => {
                replayed.into_iter().next().map(|replayed| Divergence { recorded: None, replayed })
            }
            _ => None,
        };
        Told {
            divergence: divergence.or_else(left),
            recorded: Side::of(&self.recorded),
            replayed: Side::of(&self.replayed),
            came,
            other_reasons,
            remarks: self.remarks,
        }
    }

    /// One recorded event: handed to the replayed machine where that waits for the same thing.
    fn hand_over(&mut self, record: &Record, event: &Event) {
        let in_step = self.in_step();
        let event = match event {
            Event::RunStarted(started) => {
                let mut run = started.run.clone();
                (self.change)(&mut run.plan);
                Event::RunStarted(Box::new(RunStarted { run, ..(**started).clone() }))
            }
            Event::RunResumed(resumed) => {
                let mut plan = resumed.plan.clone();
                (self.change)(&mut plan);
                if !in_step {
                    self.adopt(plan);
                    return self.stand_still(record.at);
                }
                Event::RunResumed(Box::new(RunResumed { plan, ..(**resumed).clone() }))
            }
            Event::NoteAdded { .. }
            | Event::OwnFilesTouched { .. }
            | Event::CircuitReset
            | Event::TreePutBack(_)
            | Event::Unknown => event.clone(),
            Event::StopAsked { by } if !in_step && *by != StopBy::Request => {
                if self.replayed.stop().is_some() {
                    self.came = Some(Came::Stops);
                } else if self.recorded.stop().is_none() {
                    let why =
                        "the user stopped the run at a moment when these rules would have been elsewhere";
                    self.came = Some(Came::CannotBeTold { why: why.into() });
                }
                return self.stand_still(record.at);
            }
            Event::StopAsked { .. } if self.recorded.stop().is_none() => event.clone(),
            _ if !in_step => return self.stand_still(record.at),
            Event::DeadlinePassed => {
                self.wait_as_long_as_wanted(record.at);
                event.clone()
            }
            _ => event.clone(),
        };
        if let Some(why) = missing::fact(self, &event) {
            self.came = Some(Came::CannotBeTold { why });
            return;
        }
        self.remark(&event);
        self.decide(self.clock(record.at), event, record.seq);
    }

    /// Whether both wait for the same thing.
    fn in_step(&self) -> bool {
        let place = |state: &State| {
            let at = match &state.phase {
                Phase::Fresh => 0,
                Phase::Measuring { when: When::Before } => 1,
                Phase::Measuring { when: When::After } => 2,
                Phase::Working => 3,
                Phase::Checking => 4,
                Phase::Waiting { .. } => 5,
                Phase::Halted { .. } => 6,
                Phase::Selecting => 7,
                Phase::Settling { .. } => 8,
            };
            let checks = match &state.current {
                Some(_) => 0,
                None => state.baseline.results.len() + usize::from(state.baseline.boot.is_some()),
            };
            let checks = if at == 4 { checks } else { 0 };
            (state.iteration, state.current.is_some(), at, checks)
        };
        place(&self.replayed) == place(&self.recorded)
            && wanted(&self.replayed).next() == wanted(&self.recorded).next()
    }

    /// Whether the check that the replay waits for is among those that the record still runs.
    fn comes_to_it(&self) -> bool {
        let first = wanted(&self.replayed).next();
        self.recorded.iteration == self.replayed.iteration
            && first.is_some_and(|first| wanted(&self.recorded).any(|command| command == first))
    }

    /// Whether the record has yet to conclude what the replay has concluded.
    fn is_ahead(&self) -> bool {
        let agent_ended =
            |state: &State| state.current.as_ref().is_some_and(|current| current.ended.is_some());
        self.recorded.iteration == self.replayed.iteration && agent_ended(&self.recorded)
    }

    fn clock(&self, at: Time) -> Time {
        Time::from_millis(at.millis().saturating_add(self.shift))
    }

    fn set_clock(&mut self, at: Time, to: Time) {
        self.shift = to.millis().saturating_sub(at.millis());
    }

    /// What happened meanwhile would not have happened.
    fn stand_still(&mut self, at: Time) {
        self.set_clock(at, self.replayed.updated_at);
    }

    /// Both wait, but perhaps not until the same time; the process woke up a little later than it was to.
    fn wait_as_long_as_wanted(&mut self, at: Time) {
        if let (Phase::Waiting { until, .. }, Phase::Waiting { until: recorded, .. }) =
            (&self.replayed.phase, &self.recorded.phase)
        {
            let late = at.millis().saturating_sub(recorded.millis());
            self.set_clock(at, Time::from_millis(until.millis().saturating_add(late)));
        }
    }

    fn adopt(&mut self, plan: Plan) {
        let Some(run) = &mut self.replayed.run else { return };
        let agents = &mut self.replayed.rules.agents;
        if names(&run.plan) != names(&plan) {
            *agents = agents.for_run(&names(&plan), agents.dice);
        }
        run.plan = plan;
    }

    fn decide(&mut self, at: Time, event: Event, seq: u64) {
        let stamped = Stamped { at, event };
        let decision = decide(&self.replayed, &stamped);
        let body = Body::Step { event: stamped.event, decision };
        let record = Record { seq, at, body };
        self.replayed = apply(core::mem::take(&mut self.replayed), &record);
        if let Body::Step { decision, .. } = &record.body {
            self.todos.1 = asks_for_todos(&decision.effects).unwrap_or(self.todos.1);
            self.turns.replayed.extend(Turn::of(decision, &self.replayed, seq));
        }
    }

    /// A record that is no step: only its number and its time count.
    fn pass_over(&mut self, record: &Record) {
        let at = self.clock(record.at);
        let nothing = Record { seq: record.seq, at, body: Body::Unknown };
        self.replayed = apply(core::mem::take(&mut self.replayed), &nothing);
        if matches!(record.body, Body::Checkpoint { .. }) {
            self.replayed.since_checkpoint = 0;
        }
    }

    /// Both have decided: what the replayed machine can do without the record, it does now.
    fn catch_up(&mut self, seq: u64) {
        loop {
            match (&self.replayed.phase, &self.recorded.phase) {
                (Phase::Halted { stop }, Phase::Halted { stop: recorded }) if same(stop, recorded) => return,
                // It stopped without a check that the record still has to judge by.
                (Phase::Halted { .. }, _) if self.is_ahead() => return,
                (Phase::Halted { .. }, _) => {
                    self.came = Some(Came::Stops);
                    return;
                }
                // The record has yet to come to it.
                (Phase::Checking, Phase::Checking) if self.comes_to_it() => return,
                (Phase::Checking, _) if !self.in_step() => {
                    self.came = Some(Came::CannotBeTold { why: missing::check(&self.replayed) });
                    return;
                }
                (_, Phase::Halted { .. }) | (Phase::Waiting { .. }, Phase::Waiting { .. }) => return,
                (Phase::Waiting { until, .. }, _) => {
                    let until = *until;
                    self.set_clock(self.recorded.updated_at, until);
                    self.decide(until, Event::DeadlinePassed, seq);
                }
                _ if self.recorded.iteration > self.replayed.iteration => {
                    let why = format!(
                        "the record does not hold what iteration {} would have needed",
                        self.replayed.used
                    );
                    self.came = Some(Came::CannotBeTold { why });
                    return;
                }
                _ => return,
            }
        }
    }

    fn remark(&mut self, event: &Event) {
        let (Event::AgentEnded(_), Some(replayed), Some(recorded)) =
            (event, &self.replayed.current, &self.recorded.current)
        else {
            return;
        };
        if replayed.kind != recorded.kind && self.remarks.is_empty() {
            self.remarks.push(format!(
                "from iteration {} on, what was done as {} is judged as {}",
                recorded.nth,
                recorded.kind.word(),
                replayed.kind.word()
            ));
        }
    }
}

fn same(one: &Stop, other: &Stop) -> bool {
    one.word() == other.word()
}

/// Whether the tree after the agent is also to be searched; `None` where it is not measured.
fn asks_for_todos(effects: &[Effect]) -> Option<bool> {
    effects.iter().find_map(|effect| match effect {
        Effect::MeasureTree { when: When::After, todos_since } => Some(todos_since.is_some()),
        _ => None,
    })
}

/// The checks of an iteration that are still to be run, where it is about to be judged.
pub(super) fn wanted(state: &State) -> impl Iterator<Item = &str> {
    let checking = state.current.as_ref().filter(|_| state.phase == Phase::Checking);
    let both = state.run.as_ref().zip(checking);
    both.into_iter().flat_map(|(run, current)| {
        let all = state.checks_for(&run.plan, current.item.as_deref());
        all.skip(current.checks.len()).map(|check| check.command.as_str())
    })
}
