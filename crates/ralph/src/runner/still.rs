//! Recording an event, and doing so to a run that stands still.

use ralph_core::event::{Event, Stamped};
use ralph_core::journal::{Body, Record};
use ralph_core::machine::decide;
use ralph_core::state::{State, apply};

use crate::clock;
use crate::error::{Error, Result};
use crate::project::Project;
use crate::secrets;
use crate::store::{self, JournalFile, Lock, Run, Runs, Views};
use crate::ui::Ui;

/// One event: decide, make it durable, apply. What follows from it is the caller's to do.
fn record(journal: &mut JournalFile, state: &mut State, event: Event) -> Result<Record> {
    let record = begin(journal, state, event)?;
    journal.settle()?;
    Ok(record)
}

/// The same; the record is on its way to the disk when this returns.
pub(super) fn begin(journal: &mut JournalFile, state: &mut State, event: Event) -> Result<Record> {
    let stamped = Stamped { at: clock::now(), event };
    let decision = decide(state, &stamped);
    let body = Body::Step { event: stamped.event, decision };
    let record = Record { seq: state.seq + 1, at: stamped.at, body };
    journal.begin(&record)?;
    *state = apply(std::mem::take(state), &record);
    Ok(record)
}

/// The newest run while nobody works on it, and held so.
#[derive(Debug)]
pub(crate) struct Still {
    pub(crate) state: State,
    run: Run,
    journal: JournalFile,
    _lock: Lock,
}

impl Still {
    /// `None` where nothing was run.
    pub(crate) fn open(project: &Project) -> Result<Option<Self>> {
        let runs = Runs::of(&project.truth);
        if runs.newest(false)?.is_none() {
            return Ok(None);
        }
        if let Some(holder) = store::holder(&project.truth) {
            return Err(Error::new(format!(
                "a run is going on here (pid {}, since {})",
                holder.pid,
                clock::local(holder.since, clock::now())
            ))
            .hint("ralph stop, and try again when it has stopped"));
        }
        let lock = Lock::take(&project.truth, clock::now())?;
        let Some((run, _)) = runs.newest(false)? else { return Ok(None) };
        let (journal, state) = JournalFile::resume_briefly(&run.journal())?;
        Ok(Some(Self { state, run, journal, _lock: lock }))
    }

    /// For events that ask for nothing to be done.
    pub(crate) fn take(&mut self, event: Event) -> Result<()> {
        record(&mut self.journal, &mut self.state, event).map(drop)
    }

    /// Brings the views up to it.
    pub(crate) fn publish(&self, project: &Project, ui: &mut Ui) {
        publish(project, &self.run, &self.state, ui);
    }
}

/// Brings the views up to a run that stands still.
pub(crate) fn publish(project: &Project, run: &Run, state: &State, ui: &mut Ui) {
    let mut views = Views::new(&project.root, &project.ralph_dir, run.clone());
    if let Err(error) = views.publish(&secrets::of(&project.root).shown_state(state)) {
        ui.warn(&format!("the views in {} cannot be written: {error}", project.ralph_dir.display()));
    }
}

/// Whether it goes on as soon as its session stops.
pub(crate) fn waits_for_session(state: &State) -> bool {
    let plan = state.run.as_ref().map(|run| &run.plan);
    state.stop().is_none() && plan.is_some_and(|plan| plan.agents.iter().any(|agent| agent.session))
}

/// Closes the newest run if a session is its agent, armed or not; whether there was one.
pub(crate) fn close_session(project: &Project, _held: &Lock, ui: &mut Ui) -> Result<bool> {
    let Some((run, _)) = Runs::of(&project.truth).newest(false)? else { return Ok(false) };
    let (mut journal, mut state) = JournalFile::resume(&run.journal())?;
    if !waits_for_session(&state) {
        return Ok(false);
    }
    record(&mut journal, &mut state, Event::RunClosed)?;
    publish(project, &run, &state, ui);
    Ok(true)
}
