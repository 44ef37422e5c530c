//! The same rules over a record: what is decided now must be what was decided then, in every part.

use crate::decision::{Decision, Reason};
use crate::event::{Event, Stamped};
use crate::journal::{Body, Record};
use crate::machine::decide;
use crate::prelude::*;
use crate::state::{State, apply};

/// Takes the records of a run, from the first one on.
#[derive(Debug, Default)]
pub struct Agreement {
    state: State,
    /// The version of ralph that wrote what comes.
    version: String,
    /// Steps that were decided again.
    pub steps: u64,
    /// The first of all.
    pub disagreement: Option<Disagreement>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Disagreement {
    pub seq: u64,
    /// The iteration under way, through the life of the project and within the run.
    pub number: u64,
    pub nth: u64,
    pub recorded: Vec<Reason>,
    pub decided: Vec<Reason>,
    /// The parts of the decision that differ.
    pub parts: Vec<&'static str>,
    /// The version of ralph that recorded it.
    pub version: String,
}

impl Agreement {
    pub fn take(&mut self, record: &Record) {
        if self.disagreement.is_some() {
            return;
        }
        if let Body::Step { event, decision } = &record.body {
            match event {
                Event::RunStarted(started) => self.version.clone_from(&started.run.version),
                Event::RunResumed(resumed) => self.version.clone_from(&resumed.version),
                _ => {}
            }
            // What only a newer version understands, only that one can decide again.
            if *event != Event::Unknown {
                self.compare(record, event, decision);
            }
        }
        self.state = apply(core::mem::take(&mut self.state), record);
    }

    fn compare(&mut self, record: &Record, event: &Event, recorded: &Decision) {
        let decided = decide(&self.state, &Stamped { at: record.at, event: event.clone() });
        self.steps += 1;
        if decided == *recorded {
            return;
        }
        self.disagreement = Some(Disagreement {
            seq: record.seq,
            number: self.state.iteration,
            nth: self.state.used,
            parts: differing(recorded, &decided),
            recorded: recorded.reasons.clone(),
            decided: decided.reasons,
            version: self.version.clone(),
        });
    }
}

fn differing(one: &Decision, other: &Decision) -> Vec<&'static str> {
    [
        ("verdict", one.verdict == other.verdict),
        ("reasons", one.reasons == other.reasons),
        ("effects", one.effects == other.effects),
        ("next", one.next == other.next),
        ("rules", one.rules == other.rules),
        ("concluded", one.concluded == other.concluded),
        ("begins", one.begins == other.begins),
    ]
    .into_iter()
    .filter_map(|(part, same)| (!same).then_some(part))
    .collect()
}
