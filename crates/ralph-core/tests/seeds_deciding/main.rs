//! What the seeds say about deciding, row by row: whole runs under each seed's profile, by the same rules as real ones.
//! `seeds.toml` maps each row to its tests.

mod complaints;
mod seed_000;
mod seed_001;
mod seed_002;
mod seed_004;

use std::collections::BTreeMap;

use ralph_core::breaker::Breaker;
use ralph_core::decision::{Outcome, Stop};
use ralph_core::event::{Carried, Event, RunResumed, RunStarted};
use ralph_core::journal::{Body, Record};
use ralph_core::simulation::script::{Player, Script, Step};
use ralph_core::simulation::turn::{Report, Turn};
use ralph_core::simulation::world::Check;
use ralph_core::simulation::{Reader, Simulation};
use ralph_core::state::State;

/// More records than a run of a few iterations has.
const MOST: u64 = 2_000;

/// A run that is to be played.
#[derive(Default)]
struct Run {
    profile: &'static str,
    set: Vec<(&'static str, &'static str)>,
    /// Open items of a backlog.
    items: Option<u64>,
    checks: Vec<Check>,
    turns: Vec<Turn>,
    /// What an earlier run left behind.
    carried: Carried,
    /// How often it is taken up again when it has stopped.
    resumed: usize,
}

/// What came of it.
struct Played {
    state: State,
    /// Why it stopped, each time that it did.
    stops: Vec<Stop>,
    outcomes: Vec<Outcome>,
    /// What each conclusion gave as its reasons: `rule: why`.
    reasons: Vec<Vec<String>>,
    /// How long it waited, in milliseconds.
    waits: Vec<u64>,
}

impl Played {
    /// The last stop in a word; `max_iterations` where nothing ended the run but the end of the turns.
    fn word(&self) -> &str {
        self.stops.last().map_or("endless", Stop::word)
    }

    fn exit_code(&self) -> Option<u8> {
        self.stops.last().map(Stop::exit_code)
    }

    fn open_because(&self) -> Option<&str> {
        match self.stops.last() {
            Some(Stop::CircuitOpen { why, .. }) => Some(why),
            _ => None,
        }
    }
}

impl Run {
    fn new(profile: &'static str, turns: &[Turn]) -> Self {
        Self { profile, turns: turns.to_vec(), ..Self::default() }
    }

    /// Every turn is taken once; who stops earlier, stops earlier.
    fn play(&self) -> Played {
        let most = self.turns.len().to_string();
        let mut set: BTreeMap<String, String> = BTreeMap::from([("max_iterations".into(), most)]);
        set.extend(self.set.iter().map(|(key, value)| ((*key).into(), (*value).into())));
        let steps = self.turns.iter().map(|turn| Step { times: 1, turn: turn.clone() }).collect();
        let script = Script {
            profile: self.profile.into(),
            set,
            items: self.items,
            checks: self.checks.clone(),
            agents: vec![Player { name: "agent".into(), role: Default::default(), steps }],
            ..Script::default()
        };
        let mut reader = Reader::default();
        let mut sim = Simulation::new(script.world(), script.agents(), &mut reader);
        let started = script.started().expect("a plan");
        let resumed = RunResumed {
            plan: started.run.plan.clone(),
            version: "0".into(),
            probe: false,
            unrecorded_ms: 0,
        };
        let mut played = Played {
            state: State::default(),
            stops: vec![],
            outcomes: vec![],
            reasons: vec![],
            waits: vec![],
        };
        sim.run(RunStarted { carried: self.carried.clone(), ..started }, MOST, |record, _| {
            played.heard(record);
        });
        played.stops.extend(sim.state.stop().cloned());
        for _ in 0..self.resumed {
            let record = sim.take(Event::RunResumed(Box::new(resumed.clone())));
            played.heard(&record);
            while let Some(record) = sim.step() {
                played.heard(&record);
            }
            played.stops.extend(sim.state.stop().cloned());
        }
        played.state = sim.state;
        played
    }

    fn word(&self) -> String {
        self.play().word().to_owned()
    }
}

impl Played {
    fn heard(&mut self, record: &Record) {
        let Body::Step { decision, .. } = &record.body else { return };
        if let ralph_core::decision::Phase::Waiting { until, .. } = decision.next {
            self.waits.push(until.since(record.at));
        }
        if let Some(concluded) = &decision.concluded {
            self.outcomes.push(concluded.outcome);
            self.reasons
                .push(decision.reasons.iter().map(|why| format!("{}: {}", why.rule, why.text)).collect());
        }
    }
}

/// A later run of a project whose breaker is like this.
fn carrying(breaker: &Breaker) -> Carried {
    Carried { breaker: breaker.clone(), ..Carried::default() }
}

fn says(words: &str) -> Turn {
    Turn { says: words.into(), ..Turn::default() }
}

fn reports(words: &str, report: Report) -> Turn {
    Turn { report: Some(report), ..says(words) }
}

fn signals(word: &str) -> Turn {
    Turn { status: format!("{word}\n"), ..Turn::default() }
}

fn writing(turn: Turn, paths: &[&str]) -> Turn {
    Turn { writes: paths.iter().map(|path| (*path).into()).collect(), ..turn }
}

/// Work that goes on.
fn more() -> Turn {
    reports("Going on.", Report::More)
}

fn times(count: usize, turn: &Turn) -> Vec<Turn> {
    vec![turn.clone(); count]
}
