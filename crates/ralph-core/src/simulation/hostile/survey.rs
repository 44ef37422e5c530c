//! Many seeded runs of one policy: how they ended, and whether anything happened that must not.

use alloc::collections::BTreeMap;
use core::ops::Range;

use super::scene;
use crate::decision::{Outcome, Proof, Stop};
use crate::evidence::FAILED_BEFORE;
use crate::journal::{Body, Record};
use crate::prelude::*;
use crate::profile::{EvidenceNeeded, Policy};
use crate::simulation::turn::Agent;
use crate::simulation::{Reader, Simulation};
use crate::view::flagged;

/// Records that an iteration can come to at most, checks, deadlines and waits included.
const RECORDS_EACH: u64 = 16;

/// What came of many runs.
#[derive(Debug, Clone, Default)]
pub struct Survey {
    pub runs: u64,
    pub iterations: u64,
    pub records: u64,
    /// By the word of the stop.
    pub stops: BTreeMap<&'static str, u64>,
    /// Completions, by what they rest on.
    pub complete: BTreeMap<&'static str, u64>,
    /// Completions of work that was not done, by the same; `flagged` where the proof names tests that are excused.
    pub wrong: BTreeMap<&'static str, u64>,
    /// What must not happen, with the seed; bounded.
    pub violations: Vec<String>,
}

impl Survey {
    /// Runs these seeds.
    pub fn of(policy: &Policy, seeds: Range<u64>, reader: &mut Reader) -> Self {
        let mut survey = Self::default();
        for seed in seeds {
            survey.run(policy, seed, reader);
        }
        survey
    }

    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.runs += other.runs;
        self.iterations += other.iterations;
        self.records += other.records;
        for (mine, theirs) in [
            (&mut self.stops, other.stops),
            (&mut self.complete, other.complete),
            (&mut self.wrong, other.wrong),
        ] {
            for (word, count) in theirs {
                *mine.entry(word).or_default() += count;
            }
        }
        self.violations.extend(other.violations);
        self
    }

    /// Completions whose proof says that checks passed, though the work was not done.
    pub fn falsely_proved(&self) -> u64 {
        self.wrong.get(Proof::Checks.word()).copied().unwrap_or(0)
    }

    fn run(&mut self, policy: &Policy, seed: u64, reader: &mut Reader) {
        let scene = scene(policy, seed);
        let checked = !scene.started.run.plan.checks.is_empty();
        let pool = scene.agents.len() as u64;
        let agents = scene.agents.into_iter().map(|agent| Box::new(agent) as Box<dyn Agent>).collect();
        let mut sim = Simulation::new(scene.world, agents, reader);
        let began = sim.now;
        let mut seen = Seen::default();
        // What is counted ends at the limit of iterations; what is not counted, at the limit of limits.
        let most = (policy.max_iterations + 1) * (1 + pool * u64::from(policy.max_limits));
        let stop = sim.run(scene.started, most * RECORDS_EACH, |record, _| seen.record(record)).cloned();

        self.runs += 1;
        self.iterations += seen.begun;
        self.records += sim.state.seq;
        let mut wrong = vec![];
        match &stop {
            None => wrong.push(format!("no end after {} records", sim.state.seq)),
            Some(stop) => {
                *self.stops.entry(stop.word()).or_default() += 1;
                if stop.to_string().is_empty() {
                    wrong.push("a stop without a reason".to_owned());
                }
            }
        }
        if let Some(stop @ Stop::Complete { proof, .. }) = &stop {
            *self.complete.entry(proof.word()).or_default() += 1;
            let (red, open) = (sim.world.red(), sim.world.open_items() > 0);
            // What failed before the run may be excused, and the proof says so then.
            let flags = flagged::of_stop(&sim.state, stop);
            let excused = flags.iter().any(|flag| flag.starts_with(FAILED_BEFORE));
            if red || open {
                *self.wrong.entry(if excused { "flagged" } else { proof.word() }).or_default() += 1;
            }
            let judged = policy.evidence == EvidenceNeeded::Required && checked && red && !excused;
            if judged || (policy.evidence != EvidenceNeeded::Off && open) {
                wrong.push(format!("completed with checks red: {red}, items open: {open}"));
            }
        }
        if sim.world.wrongly_passed() > 0 {
            wrong.push(format!("{} passed by moving the goalposts", sim.world.wrongly_passed()));
        }
        if sim.overlaps > 0 {
            wrong.push("two jobs at a time".to_owned());
        }
        if sim.state.used != seen.counted {
            wrong.push(format!("{} iterations counted of {} that count", sim.state.used, seen.counted));
        }
        // Where each item has iterations of its own, an item more gives more, and an agent that cannot begin takes none
        // of them; the whole takes a few beside them.
        let backlog = sim.state.run.as_ref().is_some_and(|run| run.plan.backlog.is_some());
        let items = sim.world.items.map_or(1, |items| items.total + 1);
        let most = match policy.each_item && backlog {
            true => policy.max_iterations * items * (1 + u64::from(policy.max_failures)),
            false => policy.max_iterations,
        };
        if most > 0 && sim.state.used > most {
            wrong.push(format!("{} iterations of {most}", sim.state.used));
        }
        let longest = policy.agent_timeout_ms + 4 * policy.check_timeout_ms + policy.max_wait_ms + 60_000;
        if sim.now.since(began) > (seen.begun + 1) * longest {
            wrong.push(format!("{} ms for {} iterations", sim.now.since(began), seen.begun));
        }
        wrong.extend(seen.without_reason.then(|| "a decision without a reason".to_owned()));
        self.violations.extend(wrong.into_iter().map(|what| format!("seed {seed}: {what}")));
        self.violations.truncate(20);
    }
}

/// What the records of one run showed.
#[derive(Debug, Default)]
struct Seen {
    begun: u64,
    /// All but those that a limit ended.
    counted: u64,
    without_reason: bool,
}

impl Seen {
    fn record(&mut self, record: &Record) {
        let Body::Step { decision, .. } = &record.body else { return };
        self.without_reason |= decision.reasons.is_empty();
        let limited = decision.concluded.as_ref().is_some_and(|ended| ended.outcome == Outcome::Limited);
        self.counted = self.counted.saturating_sub(u64::from(limited)) + u64::from(decision.begins.is_some());
        self.begun += u64::from(decision.begins.is_some());
    }
}
