//! Whole runs without a process: scripted agents, files, checks and a clock, through the same `decide` and `apply` as a
//! real run.
//!
//! The [`world::World`] holds the files and checks, a [`turn::Agent`] says what it prints and changes, and a
//! [`Simulation`] answers every effect with its event and moves the clock. What an agent prints is read by the real
//! decoders. [`script`] reads all this from JSON; [`hostile`] makes agents that lie, stall and break things.

mod backlog;
pub mod hostile;
mod job;
mod reading;
pub mod script;
pub mod turn;
pub mod world;

use crate::decision::Stop;
use crate::effect::Effect;
use crate::event::{Event, RunStarted, Stamped};
use crate::journal::{Body, Record};
use crate::limits::Used;
use crate::machine;
use crate::prelude::*;
use crate::prompt::{self, Materials};
use crate::state::State;
use crate::time::Time;
use job::{Job, Pending};
use reading::Ran;
use turn::{Agent, Glance};
use world::World;

pub use reading::Reader;

/// How long it takes to measure a tree, to start a process, to end one.
pub const MOMENT_MS: u64 = 20;

/// A run that is simulated.
pub struct Simulation<'a> {
    pub state: State,
    pub world: World,
    pub now: Time,
    /// Times that something was started while something else was running. There must be none.
    pub overlaps: u64,
    /// What was really used, whoever counts: time at work, and what the agents printed. Of a job that ralph died over,
    /// only an agent's time can be known afterwards.
    pub spent: Used,
    /// In the order of the plan.
    agents: Vec<Box<dyn Agent + 'a>>,
    pending: Option<Pending>,
    /// The agent that died with ralph, and how long it had worked.
    cut: Option<(turn::Turn, u64)>,
    reader: &'a mut Reader,
}

impl<'a> Simulation<'a> {
    /// A world in which nothing has happened; the first event is `start`.
    pub fn new(world: World, agents: Vec<Box<dyn Agent + 'a>>, reader: &'a mut Reader) -> Self {
        let now = Time::from_millis(1_750_000_000_000);
        Self {
            state: State::default(),
            world,
            now,
            overlaps: 0,
            spent: Used::default(),
            agents,
            pending: None,
            cut: None,
            reader,
        }
    }

    pub fn start(&mut self, started: RunStarted) -> Record {
        self.take(Event::RunStarted(Box::new(started)))
    }

    /// Something happens: decided about, applied, and its effects begun.
    pub fn take(&mut self, event: Event) -> Record {
        let stamped = Stamped { at: self.now, event };
        let (state, record) = machine::step(core::mem::take(&mut self.state), stamped);
        self.state = state;
        if let Body::Step { decision, .. } = &record.body {
            decision.effects.iter().for_each(|effect| self.perform(effect));
        }
        record
    }

    /// The next thing that happens by itself: a job ends or a deadline passes. None when the run has halted, or when
    /// nothing is left that could happen.
    pub fn step(&mut self) -> Option<Record> {
        if self.state.stop().is_some() {
            return None;
        }
        let ends = self.pending.as_ref().and_then(|pending| pending.ends);
        let due = machine::deadline(&self.state);
        let silent = self
            .too_silent()
            .filter(|at| ends.is_none_or(|ends| *at < ends) && due.is_none_or(|due| *at < due));
        if let Some(at) = silent {
            let for_ms = machine::silence(&self.state)?;
            self.work_until(at);
            return Some(self.take(Event::AgentSilent { for_ms }));
        }
        let event = match (ends, due) {
            (None, None) => return None,
            (Some(ends), due) if due.is_none_or(|due| ends <= due) => {
                self.work_until(ends);
                self.finish()?
            }
            (_, due) => {
                self.work_until(due?);
                Event::DeadlinePassed
            }
        };
        Some(self.take(event))
    }

    /// When the running agent will have said nothing for too long.
    fn too_silent(&self) -> Option<Time> {
        let limit = machine::silence(&self.state)?;
        match &self.pending.as_ref()?.job {
            Job::Agent { turn, began, .. } if turn.silent => Some(began.plus(limit)),
            _ => None,
        }
    }

    fn work_until(&mut self, then: Time) {
        self.spent.time_ms += then.since(self.now);
        self.now = self.now.max(then);
    }

    fn pay(&mut self, turn: &turn::Turn) {
        self.spent.tokens += turn.tokens;
        self.spent.micro_usd += turn.cost_micro_usd.unwrap_or(0);
    }

    /// Runs to the end, but not longer than `most` records. `each` sees every record and the world after it.
    pub fn run(
        &mut self,
        started: RunStarted,
        most: u64,
        mut each: impl FnMut(&Record, &Self),
    ) -> Option<&Stop> {
        let first = self.start(started);
        each(&first, self);
        while self.state.seq < most
            && let Some(record) = self.step()
        {
            each(&record, self);
        }
        self.state.stop()
    }

    /// Whether something is going on: an agent, a check, a measuring.
    pub fn busy(&self) -> bool {
        self.pending.is_some()
    }

    /// Whether an agent died with ralph and nobody has looked yet at what it left.
    pub fn unrecovered(&self) -> bool {
        self.cut.is_some()
    }

    /// ralph dies that much later, or just before what is going on ends, and with it all that it kept; files that were
    /// changed meanwhile stay changed.
    pub fn crash(&mut self, later_ms: u64) {
        let Some(Pending { ends, job }) = self.pending.take() else { return };
        let at = self.now.plus(later_ms);
        let at = ends.map_or(at, |ends| at.min(ends)).max(self.now);
        let lost = core::mem::replace(&mut self.now, at);
        if let Job::Agent { turn, .. } = job {
            self.spent.time_ms += at.since(lost);
            self.pay(&turn);
            self.world.changed_by(&turn);
            let started_at = self.state.current.as_ref().and_then(|current| current.started_at);
            self.cut = Some((turn, self.now.since(started_at.unwrap_or(self.now))));
        }
    }

    fn perform(&mut self, effect: &Effect) {
        let soon = self.now.plus(MOMENT_MS);
        let begun = match effect {
            Effect::MeasureTree { when, todos_since } => {
                Pending { ends: Some(soon), job: Job::Measure { when: *when, todos: todos_since.is_some() } }
            }
            Effect::StartAgent => {
                let Some(turn) = self.turn() else { return };
                self.world.agent_starts();
                self.cut = None;
                Pending { ends: Some(soon), job: Job::Starting { turn } }
            }
            Effect::RecoverAgent => Pending { ends: Some(soon), job: Job::Recovering },
            Effect::RunCheck { check: spec } => {
                let check = self.world.checks.iter().find(|check| check.name == spec.name);
                let ends = check.filter(|check| !check.never_ends).map(|check| self.now.plus(check.takes_ms));
                Pending { ends, job: Job::Check { spec: spec.clone(), began: self.now, asked: false } }
            }
            Effect::EndAgent { .. } | Effect::EndCheck { .. } => {
                if let Some(pending) = &mut self.pending {
                    pending.ask_to_end(soon);
                }
                return;
            }
            Effect::ReadBacklog => Pending { ends: Some(soon), job: Job::Selecting },
            Effect::MarkItem { .. } => Pending { ends: Some(soon), job: Job::Marking },
            Effect::Settle { settlement } => {
                Pending { ends: Some(soon), job: Job::Settling { settlement: settlement.clone() } }
            }
            Effect::Unknown => return,
        };
        self.overlaps += u64::from(self.pending.is_some());
        self.pending = Some(begun);
    }

    /// What the agent of the current iteration will do.
    fn turn(&mut self) -> Option<turn::Turn> {
        let (run, current) = self.state.run.as_ref().zip(self.state.current.as_ref())?;
        let place = run.plan.agents.iter().position(|agent| agent.name == current.agent)?;
        let glance = Glance { nth: current.nth, kind: current.kind, world: &self.world };
        // A plan that came later may have more agents than the world.
        let place = place % self.agents.len().max(1);
        Some(self.agents.get_mut(place)?.turn(glance))
    }

    /// The job that was going on ends.
    fn finish(&mut self) -> Option<Event> {
        Some(match self.pending.take()?.job {
            Job::Measure { when, todos } => Event::TreeMeasured(Box::new(self.world.measured(when, todos))),
            Job::Starting { turn } if turn.not_started.is_some() => self.agent_ended(&turn, 0, false),
            Job::Starting { turn } => {
                self.pending = Some(Pending::agent(turn, self.now));
                Event::AgentStarted { pid: 1000, noted: Default::default() }
            }
            Job::Agent { turn, began, asked } => {
                self.world.changed_by(&turn);
                self.agent_ended(&turn, self.now.since(began), asked)
            }
            Job::Recovering => {
                let (turn, duration_ms) = self.cut.take().map_or((None, 0), |(turn, ms)| (Some(turn), ms));
                let Self { state, reader, .. } = self;
                Event::AgentEnded(Box::new(reader.cut(turn.as_ref(), || prompt(state), duration_ms)))
            }
            Job::Selecting => Event::BacklogRead(Box::new(self.world.selected())),
            Job::Marking => Event::ItemMarked { problem: None },
            Job::Settling { settlement } => Event::Settled(Box::new(self.world.settle(&settlement))),
            Job::Check { spec, began, asked } => {
                let ran = self.now.since(began);
                Event::CheckEnded(Box::new(self.world.checked(&spec, ran, asked)))
            }
        })
    }

    fn agent_ended(&mut self, turn: &turn::Turn, duration_ms: u64, asked: bool) -> Event {
        self.pay(turn);
        let Self { state, reader, now, .. } = self;
        Event::AgentEnded(Box::new(reader.ended(turn, || prompt(state), *now, Ran { duration_ms, asked })))
    }
}

fn prompt(state: &State) -> String {
    prompt::render(state, Materials { project: "simulated", ..Materials::default() })
}

#[cfg(test)]
mod tests;
