//! The loop: one thread that takes an event, decides, makes it durable, and performs what follows.
//!
//! Threads that read an agent's output, wait for its end, or wait for signals feed the channel; this thread
//! alone owns the state. It sleeps on the channel until the deadline core names.

mod agent_job;
mod check_job;
mod effects;
mod reader;
mod signals;
mod still;

use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::Duration;

use ralph_core::decision::{Stop, Verdict};
use ralph_core::event::{Event, StopBy};
use ralph_core::journal::{Body, Record};
use ralph_core::machine::deadline;
use ralph_core::state::{State, apply};

use crate::clock;
use crate::error::{Error, Result};
use crate::project::Project;
use crate::store::{JournalFile, Lock, Requests, Run, Views};
use crate::tree::Tree;
use crate::ui::Ui;
use effects::Jobs;
pub(crate) use effects::custody_file;
pub(crate) use reader::Reader;
pub(crate) use signals::heed;
pub(crate) use still::Still;

/// What reaches the loop.
#[derive(Debug)]
pub(crate) enum Input {
    Event(Event),
    /// The agent uses a tool; for the screen only.
    Tool {
        name: String,
        target: Option<String>,
    },
    /// Somebody left a request.
    Requests,
    /// What is shown changes by itself.
    Tick,
}

pub struct Runner<'a> {
    project: &'a Project,
    lock: &'a Lock,
    run: Run,
    journal: JournalFile,
    state: State,
    tree: Tree,
    views: Views,
    ui: &'a mut Ui,
    inbox: Receiver<Input>,
    outbox: Sender<Input>,
    jobs: Jobs,
    views_failed: bool,
}

impl<'a> Runner<'a> {
    pub fn new(
        project: &'a Project,
        lock: &'a Lock,
        run: Run,
        journal: JournalFile,
        state: State,
        ui: &'a mut Ui,
    ) -> Result<Self> {
        let tree = Tree::open(&project.root, &project.truth, project.repo.as_ref())
            .map_err(|error| Error::new("the tree cannot be measured").because(error))?;
        let (outbox, inbox) = mpsc::channel();
        let views = Views::new(&project.root, &project.ralph_dir, run.clone());
        let jobs = Jobs::default();
        Ok(Self {
            project,
            lock,
            run,
            journal,
            state,
            tree,
            views,
            ui,
            inbox,
            outbox,
            jobs,
            views_failed: false,
        })
    }

    /// Runs until the run stops, beginning with the event that starts or resumes it.
    pub fn run(mut self, first: Event) -> Result<(Stop, State)> {
        signals::listen(self.outbox.clone())?;
        self.step(first)?;
        // Whatever was asked before we listened.
        self.take_requests()?;
        loop {
            if let Some(stop) = self.state.stop().cloned() {
                let changes = self.changes_of_the_run();
                self.ui.stopped(&self.state, &stop, changes.as_ref());
                return Ok((stop, self.state));
            }
            match self.next() {
                Input::Event(event) => self.step(event)?,
                Input::Tool { name, target } => self.ui.tool(&self.state, &name, target.as_deref()),
                Input::Requests => self.take_requests()?,
                Input::Tick => self.ui.draw(),
            }
        }
    }

    /// The next thing that happens: by itself, at the time core named, or on the screen.
    fn next(&self) -> Input {
        let due = deadline(&self.state).map(|due| Duration::from_millis(due.since(clock::now())));
        let tick = self.ui.next_change();
        let Some(wait) = due.into_iter().chain(tick).min() else {
            // The runner holds a sender itself, so the channel cannot close.
            return self.inbox.recv().unwrap_or(Input::Event(Event::DeadlinePassed));
        };
        match self.inbox.recv_timeout(wait) {
            Ok(input) => input,
            Err(_) if due.is_none_or(|due| wait < due) => Input::Tick,
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                Input::Event(Event::DeadlinePassed)
            }
        }
    }

    /// One event: decide, record, apply, show, act. Nothing acts before its record is durable.
    fn step(&mut self, event: Event) -> Result<()> {
        let record = still::record(&mut self.journal, &mut self.state, event)?;
        let Body::Step { event, decision } = &record.body else { return Ok(()) };
        // What stands in the views changes when an iteration begins or ends; `status` reads the journal. A run that is
        // taken up again may have been cut off before it wrote them.
        let worth_a_view = matches!(event, Event::RunResumed(_))
            || decision.begins.is_some()
            || decision.concluded.is_some()
            || decision.verdict == Verdict::Halt;
        self.ui.show(&self.state, &record);
        if worth_a_view {
            self.publish();
        }
        if self.state.wants_checkpoint() {
            self.checkpoint()?;
        }
        for effect in &decision.effects {
            self.perform(effect)?;
        }
        Ok(())
    }

    /// Takes in what was asked from beside the run. A run that stops at once leaves notes to the next.
    fn take_requests(&mut self) -> Result<()> {
        let requests = Requests::of(&self.project.truth);
        let pending = requests.pending(self.lock.holder())?;
        for note in pending.notes {
            if self.state.stop().is_none() {
                self.step(Event::NoteAdded { id: note.id.clone(), text: note.text })?;
                requests.note_is_taken(&note.id)?;
            }
        }
        if pending.stop {
            if self.state.stop().is_none() {
                self.step(Event::StopAsked { by: StopBy::Request })?;
            }
            requests.stop_is_taken(self.lock.holder())?;
        }
        Ok(())
    }

    fn checkpoint(&mut self) -> Result<()> {
        let body = Body::Checkpoint { state: Box::new(self.state.clone()) };
        let record = Record { seq: self.state.seq + 1, at: clock::now(), body };
        self.journal.append(&record)?;
        self.state = apply(std::mem::take(&mut self.state), &record);
        Ok(())
    }

    /// Views are for people; one that cannot be written is said once and stops nothing.
    fn publish(&mut self) {
        if let Err(error) = self.views.publish(&self.state) {
            self.warn_of_views(&error);
        }
    }

    fn warn_of_views(&mut self, error: &std::io::Error) {
        if !std::mem::replace(&mut self.views_failed, true) {
            let dir = self.project.ralph_dir.display();
            self.ui.warn(&format!("the views in {dir} cannot be written: {error}"));
        }
    }
}
