//! Runs with hostile agents in which somebody meddles: stops, notes, resets, crashes, resumes.

use proptest::prelude::*;
use ralph_core::event::{Event, Plan, RunResumed, RunStarted, Stamped, StopBy};
use ralph_core::journal::Record;
use ralph_core::limits::Used;
use ralph_core::profile::{PROFILES, Policy};
use ralph_core::simulation::hostile::scene;
use ralph_core::simulation::turn::Agent;
use ralph_core::simulation::{Reader, Simulation};
use ralph_core::state::State;
use ralph_core::time::Time;

/// A record with the state before and after it.
pub(crate) struct Moment {
    pub(crate) before: State,
    pub(crate) record: Record,
    pub(crate) after: State,
    pub(crate) overlaps: u64,
    pub(crate) busy: bool,
    /// What was really used.
    pub(crate) spent: Used,
    /// It holds what an agent used that died with ralph, and ralph does not know yet.
    pub(crate) unrecovered: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct Life {
    pub(crate) policy: Policy,
    pub(crate) seed: u64,
    /// After how many records somebody does what.
    pub(crate) meddling: Vec<(usize, Meddling)>,
}

#[derive(Debug, Clone)]
pub(crate) enum Meddling {
    Stop(StopBy),
    Note,
    Reset,
    /// ralph dies so much later and is started again; with a probe or not, by the same plan or another one.
    Crash {
        later_ms: u64,
        probe: bool,
        plan: Option<Box<Plan>>,
    },
    /// The run is closed while no ralph is running.
    Close,
    /// A deadline too early.
    Tick,
}

/// A run that is neither stopped nor resumed ends within this many records: at most seven counted iterations.
const MOST: usize = 4_000;

pub(crate) fn lives() -> impl Strategy<Value = Life> {
    let stops = prop_oneof![Just(StopBy::Interrupt), Just(StopBy::Terminate), Just(StopBy::Request)];
    let meddling = prop_oneof![
        3 => stops.prop_map(Meddling::Stop),
        1 => Just(Meddling::Note),
        1 => Just(Meddling::Reset),
        4 => (later(), any::<bool>(), prop::option::of(plans()))
            .prop_map(|(later_ms, probe, plan)| Meddling::Crash { later_ms, probe, plan: plan.map(Box::new) }),
        1 => Just(Meddling::Close),
        1 => Just(Meddling::Tick),
    ];
    let meddling = prop::collection::vec((0..12usize, meddling), 0..8);
    (policies(), any::<u64>(), meddling).prop_map(|(policy, seed, meddling)| Life { policy, seed, meddling })
}

/// At once, or while something is going on, or just before it ends.
fn later() -> impl Strategy<Value = u64> {
    prop_oneof![Just(0u64), 1..3_600_000u64, Just(u64::MAX)]
}

/// Another policy, other checks, other agents: as many as the world has, or not.
fn plans() -> impl Strategy<Value = Plan> {
    (policies(), any::<u64>()).prop_map(|(policy, seed)| scene(&policy, seed).started.run.plan)
}

/// A profile with limits that are reached.
fn policies() -> impl Strategy<Value = Policy> {
    let maybe = |values: &'static [&'static str]| prop::sample::select(values);
    (
        0..PROFILES.len(),
        1..7u64,
        maybe(&["none", "none", "30m", "2h"]),
        maybe(&["0", "0", "30000", "400000"]),
        maybe(&["none", "none", "0.10", "2"]),
    )
        .prop_map(|(profile, iterations, time, tokens, money)| {
            let mut policy = PROFILES[profile].policy();
            let iterations = iterations.to_string();
            let set = [
                ("max_iterations", iterations.as_str()),
                ("max_time", time),
                ("max_tokens", tokens),
                ("budget", money),
            ];
            for (key, value) in set {
                policy.set(key, value).expect("a value");
            }
            policy
        })
}

impl Life {
    fn started(&self) -> RunStarted {
        scene(&self.policy, self.seed).started
    }

    pub(crate) fn first(&self) -> Stamped {
        Stamped { at: Time::from_millis(0), event: Event::RunStarted(Box::new(self.started())) }
    }

    pub(crate) fn play(&self) -> Vec<Moment> {
        let scene = scene(&self.policy, self.seed);
        let agents = scene.agents.into_iter().map(|agent| Box::new(agent) as Box<dyn Agent>).collect();
        let mut reader = Reader::default();
        let mut sim = Simulation::new(scene.world, agents, &mut reader);
        let mut moments = vec![];
        let mut before = sim.state.clone();
        let mut keep = |sim: &Simulation<'_>, record: Record| {
            let after = sim.state.clone();
            let before = std::mem::replace(&mut before, after.clone());
            let (busy, unrecovered) = (sim.busy(), sim.unrecovered());
            let (overlaps, spent) = (sim.overlaps, sim.spent);
            moments.push(Moment { before, record, after, overlaps, busy, spent, unrecovered });
        };
        let record = sim.start(scene.started);
        keep(&sim, record);
        for (wait, what) in &self.meddling {
            for _ in 0..*wait {
                let Some(record) = sim.step() else { break };
                keep(&sim, record);
            }
            let record = meddle(&mut sim, what);
            keep(&sim, record);
        }
        for _ in 0..MOST {
            let Some(record) = sim.step() else { break };
            keep(&sim, record);
        }
        moments
    }
}

fn meddle(sim: &mut Simulation<'_>, what: &Meddling) -> Record {
    let event = match what {
        Meddling::Stop(by) => Event::StopAsked { by: *by },
        Meddling::Note => Event::NoteAdded { id: sim.now.to_string(), text: "use tabs".into() },
        Meddling::Reset => Event::CircuitReset,
        Meddling::Tick => Event::DeadlinePassed,
        Meddling::Close => {
            sim.crash(0);
            Event::RunClosed
        }
        Meddling::Crash { later_ms, probe, plan } => {
            // One that would never end is not left alone for ever.
            sim.crash((*later_ms).min(4 * 3_600_000));
            sim.now = sim.now.plus(3_600_000);
            let same = || sim.state.run.as_ref().expect("a run").plan.clone();
            let plan = plan.as_deref().cloned().unwrap_or_else(same);
            Event::RunResumed(Box::new(RunResumed {
                plan,
                version: "2".into(),
                probe: *probe,
                unrecorded_ms: 0,
            }))
        }
    };
    sim.take(event)
}
