//! The loop: one thread that takes an event, decides, makes it durable, and performs what follows.
//!
//! Threads that read an agent's output, wait for its end, or wait for signals feed the channel; this thread
//! alone owns the state. It sleeps on the channel; an alarm wakes it at the deadline that core names.

mod again;
mod agent_job;
mod backlog;
mod beside;
mod check_job;
mod cut_off;
mod effects;
mod gone;
mod judging;
mod own_files;
mod reader;
mod session;
mod signals;
mod silence;
mod stand;
mod still;
mod texts;
mod whole;

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ralph_core::decision::{Phase, Stop, Verdict};
use ralph_core::effect::Effect;
use ralph_core::event::{Event, StopBy};
use ralph_core::journal::{Body, Record};
use ralph_core::machine::deadline;
use ralph_core::redact::Secrets;
use ralph_core::state::{State, apply};
use ralph_core::trail::Trail;
use ralph_core::view::notice::{self, Notice};

use crate::clock::{self, Alarm, Naps};
use crate::error::{Error, Result};
use crate::notify::{Failure, Message, Notifier};
use crate::point;
use crate::process::{self, Ahead, Leaving, Mark};
use crate::project::Project;
use crate::secrets;
use crate::store::{
    Guard, JournalFile, Keeping, Ledger, Lock, Past, Requests, Run, Runs, Tally, Tried, Views, Way,
};
use crate::tree::Tree;
use crate::ui::Ui;
use crate::work::{InHead, Steered, beads};
pub(crate) use again::Again;
use effects::Jobs;
pub(crate) use effects::{custody_file, kept};
use gone::{Mine, Seen};
pub(crate) use judging::on_disk;
pub(crate) use reader::Reader;
pub(crate) use session::{Heard, heard};
pub(crate) use signals::heed;
use stand::KeptStands;
pub(crate) use still::{Still, close_session, publish, waits_for_session};
pub(crate) use texts::Texts;
pub(crate) use whole::{changes_of, patch_of};

/// What reaches the loop.
#[derive(Debug)]
pub(crate) enum Input {
    Event(Event),
    /// The keeper of what ended; what it had to say comes next.
    Leaving(Leaving),
    /// The agent used tools; for the screen only.
    Tools(Tools),
    /// Time may have come, or leapt.
    Alarm,
    /// Somebody left a request.
    Requests,
    /// What is shown changes by itself.
    Tick,
}

/// The tools that an agent used, until somebody looks. One that is faster than the screen does not pile up here: what is
/// too much is let go.
#[derive(Debug, Clone)]
pub(crate) struct Tools {
    used: Arc<Mutex<Vec<Tool>>>,
    outbox: Sender<Input>,
}

#[derive(Debug)]
pub(crate) struct Tool {
    pub(crate) name: String,
    pub(crate) target: Option<String>,
}

impl Tools {
    const MOST: usize = 1_000;

    fn new(outbox: Sender<Input>) -> Self {
        Self { used: Arc::default(), outbox }
    }

    fn used(&self, tool: Tool) {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let unseen = used.len();
        if unseen < Self::MOST {
            used.push(tool);
        }
        if unseen == 0 {
            let _ = self.outbox.send(Input::Tools(self.clone()));
        }
    }

    fn take(&self) -> Vec<Tool> {
        std::mem::take(&mut *self.used.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// How long the end of a run waits until its output is packed; what is not is packed by the next run.
const PACKING: Duration = Duration::from_secs(3);

pub struct Runner<'a> {
    project: &'a Project,
    lock: &'a mut Lock,
    guard: Guard,
    past: Past,
    secrets: Secrets,
    dotenvs: secrets::Seen,
    run: Run,
    journal: JournalFile,
    state: State,
    tree: Tree,
    views: Views,
    ui: &'a mut Ui,
    inbox: Receiver<Input>,
    outbox: Sender<Input>,
    jobs: Jobs,
    /// For what is started next.
    ahead: Ahead,
    /// The keeper of what ended last.
    leaving: Option<Leaving>,
    /// By which what a killed keeper leaves is found.
    mark: Option<Mark>,
    /// Made when something is first waited for; inside, `None` where the system has none.
    alarm: OnceCell<Option<Alarm>>,
    naps: Naps,
    /// What came in while the machine's sleep had to be told first.
    held: Option<Input>,
    keeping: Keeping,
    /// Commands of items that the user agreed to.
    agreed: Vec<String>,
    /// What the user had not committed when the run began, once somebody asked.
    dirty: Option<BTreeSet<Vec<u8>>>,
    /// What HEAD has in place of it.
    in_head: InHead,
    /// Somebody removed the snapshots while this ralph ran.
    snapshots_gone: bool,
    /// The task file as it was before the item that is worked on. The copy on disk is for a ralph that comes after us.
    backlog: Option<Vec<u8>>,
    /// By which names and links it was reached then.
    way: Option<Way>,
    /// The hooks and settings of bd as they were then.
    steered: Option<Steered>,
    /// What bd had written down of changes by then.
    issues_changed: Option<beads::Changes>,
    /// A digest of it as it was left when the tree was last measured.
    backlog_after: Option<String>,
    /// Who changed the files in this run; `None` where another ralph began it, whose record has to be read for that.
    trail: Option<Trail>,
    /// What was tried, by the ledger.
    tally: Tally,
    /// What it said of the run's backlog when an item was last selected.
    tried: Rc<Tried>,
    views_failed: bool,
    /// That ralph's own output is not measured was said.
    output_told: bool,
    notifier: Notifier,
    /// What is to be told when a session has its answer.
    untold: Vec<Notice>,
    /// The prompt for the session that is this run's agent.
    handed: Option<String>,
    /// The branch when this ralph started its first agent; inside, `None` if there was none.
    branch: Option<Option<String>>,
    /// The same when the tree was last measured.
    measured_branch: Option<Option<String>>,
    /// HEAD was elsewhere already before the agent that was started last.
    astray: bool,
    /// Where the user stood, as far as this ralph kept it. The files of it are for one that comes after us.
    stands: KeptStands,
    /// What else was in the repository before the agent.
    seen: Seen,
    /// What of it is the user's, since the first agent.
    mine: Option<Mine>,
}

/// How far a run came by itself.
#[derive(Debug)]
pub enum Came {
    Stopped(Stop),
    /// It is the session's turn, with this prompt.
    HandedOver(String),
    /// Nothing is to be done before that moment, and nobody but the loop would wait for it.
    Waits(String),
}

/// A run and what it is about.
#[derive(Debug)]
pub struct Opened {
    pub run: Run,
    pub journal: JournalFile,
    pub state: State,
    pub tree: Tree,
}

/// The project's files, to be measured. The caller holds the lock.
pub fn open_tree(project: &Project) -> Result<Tree> {
    Tree::open(&project.root, &project.truth, project.repo.as_ref()).map_err(|error| {
        Error::new("the tree cannot be measured").because(error).hint("once that is settled: ralph run")
    })
}

impl<'a> Runner<'a> {
    pub fn new(
        project: &'a Project,
        lock: &'a mut Lock,
        opened: Opened,
        secrets: Secrets,
        ui: &'a mut Ui,
    ) -> Self {
        let Opened { run, journal, state, tree } = opened;
        let (outbox, inbox) = mpsc::channel();
        let views = Views::new(&project.root, &project.ralph_dir, run.clone());
        let jobs = Jobs::default();
        let tree = jobs.hurrying(tree);
        let mut tally = Tally::default();
        let backlog = state.run.as_ref().and_then(|run| run.plan.backlog.as_ref());
        let tried = backlog.map(|plan| tally.of(&Ledger::of(&project.truth), Some(plan.file.as_bytes())));
        let keeping = Keeping::new(Runs::of(&project.truth), run.clone());
        Self {
            project,
            lock,
            secrets,
            dotenvs: secrets::Seen::default(),
            guard: Guard::new(&project.root, &project.ralph_dir),
            past: Past::hold(&project.truth, &run),
            run,
            journal,
            state,
            tree,
            views,
            ui,
            inbox,
            outbox,
            jobs,
            ahead: Ahead::default(),
            leaving: None,
            mark: Mark::of(&project.root).ok(),
            alarm: OnceCell::new(),
            naps: Naps::from_now(),
            held: None,
            keeping,
            agreed: Vec::new(),
            dirty: None,
            in_head: InHead::default(),
            snapshots_gone: false,
            backlog: None,
            way: None,
            steered: None,
            issues_changed: None,
            backlog_after: None,
            trail: None,
            tally,
            tried: Rc::new(tried.unwrap_or_default()),
            views_failed: false,
            output_told: false,
            notifier: Notifier::default(),
            untold: Vec::new(),
            handed: None,
            branch: None,
            measured_branch: None,
            astray: false,
            stands: KeptStands::default(),
            seen: Seen::default(),
            mine: None,
        }
    }

    /// Commands that the repository brings and the user agreed to.
    #[must_use]
    pub fn agreed(mut self, commands: Vec<String>) -> Self {
        self.agreed = commands;
        self
    }

    /// Tells a user who does not watch.
    #[must_use]
    pub fn notifying(mut self, notifier: Notifier) -> Self {
        self.notifier = notifier;
        self
    }

    /// Runs until the run stops, beginning with the event that starts or resumes it.
    pub fn run(mut self, first: Event) -> Result<(Stop, State)> {
        self.listen()?;
        // A ralph that was cut off may have left it as it was. Not the iteration that is still to be recovered.
        match &first {
            Event::RunStarted(started) => self.keeping.concluded(started.carried.iteration, 0),
            _ => self.state.last.iter().for_each(|last| self.keeping.concluded(last.number, 0)),
        }
        self.clear_beside_the_backlog(&first);
        let mut first = Some(first);
        loop {
            if let Came::Stopped(stop) = self.go_on(&mut first)? {
                let changes = self.changes_of_the_run();
                self.ui.stopped(&self.state, &stop, changes.as_ref());
                self.say_what_is_not_committed();
                self.say_where_head_is();
                self.keeping.finish(PACKING);
                for Failure { what, why } in self.notifier.finish() {
                    self.ui.warn(&format!("{what}: {why}; to try it: ralph notify test"));
                }
                return Ok((stop, self.state));
            }
        }
    }

    /// What the user is sent about it.
    fn message(&self, notice: Notice) -> Message {
        Message::about(notice, self.project, &self.run, &self.secrets)
    }

    /// Takes events in until the run stops or it is the session's turn. What comes after a turn begins the next one.
    /// A signal that comes while no command runs may end ralph where it stands: the next turn reads what is recorded.
    pub(crate) fn hold(&mut self, events: impl IntoIterator<Item = Event>) -> Result<Came> {
        if self.state.run.as_ref().is_none_or(|run| !run.plan.checks.is_empty()) {
            self.listen()?;
        }
        let mut came = Came::HandedOver(String::new());
        for event in events {
            came = self.go_on(&mut Some(event))?;
            if !matches!(came, Came::HandedOver(_)) {
                break;
            }
        }
        Ok(came)
    }

    fn listen(&self) -> Result<()> {
        signals::listen(self.outbox.clone(), self.jobs.clone())?;
        // Where it cannot be, what a killed keeper leaves is found by its mark alone.
        let _ = process::become_reaper();
        Ok(())
    }

    fn go_on(&mut self, first: &mut Option<Event>) -> Result<Came> {
        let came = self.go_as_far(first)?;
        self.keep_record()?;
        Ok(came)
    }

    /// What was recorded last is durable when this returns.
    fn keep_record(&mut self) -> Result<()> {
        match self.journal.settle() {
            Err(error) if self.journal.is_given_up() => Err(self.leave_the_record(error, true)),
            Err(error) => Err(self.leave_what_is_ours(error, true)),
            done => done,
        }
    }

    fn go_as_far(&mut self, first: &mut Option<Event>) -> Result<Came> {
        if let Some(first) = first.take() {
            self.step(first)?;
            // Whatever was asked before we listened.
            self.take_requests()?;
        }
        let session = self.is_session();
        loop {
            if let Some(stop) = self.state.stop().cloned() {
                return Ok(Came::Stopped(stop));
            }
            if let Some(prompt) = self.handed.take() {
                return Ok(Came::HandedOver(prompt));
            }
            if let (true, Phase::Waiting { why, .. }) = (session, &self.state.phase) {
                return Ok(Came::Waits(why.clone()));
            }
            // Nobody is kept waiting by it now, and a disk that fails is heard of at once.
            if matches!(self.state.phase, Phase::Working | Phase::Checking | Phase::Waiting { .. }) {
                self.keep_record()?;
            }
            if matches!(self.state.phase, Phase::Waiting { .. }) {
                self.ahead = Ahead::default();
            }
            match self.next() {
                Input::Event(event) => self.step(event)?,
                // The one before is gone by now; this one is waited for at the end.
                Input::Leaving(keeper) => self.leaving = Some(keeper),
                Input::Tools(tools) => {
                    for Tool { name, target } in tools.take() {
                        self.ui.tool(&self.state, &name, target.as_deref());
                    }
                }
                Input::Alarm => {}
                Input::Requests => self.take_requests()?,
                Input::Tick => self.ui.draw(),
            }
        }
    }

    /// The next thing to look at. If the machine slept, that comes first: what follows is judged by time.
    fn next(&mut self) -> Input {
        if let Some(input) = self.held.take() {
            return input;
        }
        let input = self.await_input();
        match self.naps.since_last() {
            None => input,
            Some(ms) => {
                self.held = Some(input);
                Input::Event(Event::Slept { ms })
            }
        }
    }

    /// The next thing that happens: by itself, at the time core named, or on the screen.
    fn await_input(&self) -> Input {
        let passed = || Input::Event(Event::DeadlinePassed);
        let due = deadline(&self.state).map(|due| Duration::from_millis(due.since(clock::now())));
        let tick = self.ui.next_change();
        // What has happened comes before what is due.
        if due.is_some_and(|left| left.is_zero()) {
            return self.inbox.recv_timeout(Duration::ZERO).unwrap_or_else(|_| passed());
        }
        let rings = due.is_some_and(|left| self.alarm().is_some_and(|alarm| alarm.set(left)));
        let due = due.filter(|_| !rings);
        match due.into_iter().chain(tick).min() {
            // The runner holds a sender itself, so the channel cannot close.
            None => self.inbox.recv().unwrap_or_else(|_| passed()),
            Some(wait) => self.inbox.recv_timeout(wait).unwrap_or_else(|_| match due {
                Some(due) if due <= wait => passed(),
                _ => Input::Tick,
            }),
        }
    }

    fn alarm(&self) -> Option<&Alarm> {
        let make = || {
            let bell = self.outbox.clone();
            Alarm::new(move || bell.send(Input::Alarm).is_ok())
        };
        self.alarm.get_or_init(make).as_ref()
    }

    /// One event, and before it what somebody did to the files that hold the record.
    fn step(&mut self, event: Event) -> Result<()> {
        let session = matches!(event, Event::AgentEnded(_)) && self.is_session();
        if matches!(event, Event::AgentEnded(_)) && !session {
            // It is measured next: git compares while the record is looked after and written.
            self.tree.measure_ahead();
        }
        if matches!(event, Event::AgentEnded(_) | Event::CheckEnded(_)) && !session {
            // What was a secret when the run began stays one, though it no longer stands where it stood.
            if let Some(told) = self.dotenvs.changed(&self.project.root) {
                self.hide_too(told);
            }
        }
        let at_work = !matches!(event, Event::AgentEnded(_) | Event::CheckEnded(_));
        match self.look_after_own_files(&event).and_then(|()| self.take(event)) {
            Err(error) if self.journal.is_given_up() => Err(self.leave_the_record(error, at_work)),
            Err(error) => Err(self.leave_what_is_ours(error, at_work)),
            done => done,
        }
    }

    fn hide_too(&mut self, told: Secrets) {
        let said = secrets::beyond(&self.secrets).is_some();
        self.secrets.also(told);
        self.ui.hides(&self.secrets);
        if let Some(beyond) = secrets::beyond(&self.secrets).filter(|_| !said) {
            self.ui.warn(&beyond);
        }
    }

    /// Hide what is secret, decide, record, apply, show, act. Nothing is done, and nobody is told of an end, before the
    /// record of it is durable; only what looks may look meanwhile.
    fn take(&mut self, event: Event) -> Result<()> {
        let event = self.secrets.hide_event(event);
        let record = still::begin(&mut self.journal, &mut self.state, event)?;
        let Body::Step { event, decision } = &record.body else { return Ok(()) };
        if matches!(event, Event::RunStarted(_)) {
            self.trail = Some(Trail::default());
        }
        if let Some(trail) = &mut self.trail {
            trail.take(&record, &self.state);
        }
        // What stands in the views changes when an iteration begins or ends; `status` reads the journal. A run that is
        // taken up again may have been cut off before it wrote them.
        let worth_a_view = matches!(event, Event::RunResumed(_) | Event::Settled(_))
            || decision.begins.is_some()
            || decision.concluded.is_some()
            || decision.verdict == Verdict::Halt;
        if decision.verdict == Verdict::Halt {
            self.journal.settle()?;
        }
        self.ui.show(&self.state, &record);
        let shown = self.secrets.shown_state(&self.state);
        let notice = notice::of(&shown, &self.secrets.shown_record(&self.state, &record));
        if notice.is_some() {
            self.journal.settle()?;
        }
        match notice {
            Some(notice) if self.is_session() => self.untold.push(notice),
            Some(notice) if !self.notifier.does_nothing() => {
                let message = self.message(notice);
                // A run that nobody watches has no terminal.
                let _ = self.notifier.tell(&message, self.project, self.ui);
            }
            _ => {}
        }
        if let (Some(_), Some(last), Some(run)) = (&decision.concluded, &self.state.last, &self.state.run) {
            self.keeping.concluded(last.number, run.plan.policy.keep_output);
        }
        if worth_a_view {
            self.publish();
        }
        if self.state.wants_checkpoint() || point::early_checkpoint(self.state.since_checkpoint) {
            self.checkpoint()?;
        }
        // Who measures after an item's agent also puts back what it did to the task file. Whoever starts an agent renders its
        // prompt first, and waits for the record before that is written.
        let about_item = self.state.current.as_ref().is_some_and(|current| current.item.is_some());
        let waits = |effect: &Effect| effect.only_looks() || *effect == Effect::StartAgent;
        if about_item || !decision.effects.iter().all(waits) {
            self.journal.settle()?;
        }
        for effect in &decision.effects {
            self.perform(effect)?;
        }
        self.tree.forget_ahead();
        Ok(())
    }

    /// Takes in what was asked from beside the run. A run that stops at once leaves notes to the next.
    fn take_requests(&mut self) -> Result<()> {
        let requests = Requests::of(&self.project.truth);
        let pending = requests.pending(self.lock.holder())?;
        for note in pending.notes {
            if self.state.stop().is_none() {
                self.step(Event::NoteAdded { id: note.id.clone(), text: note.text })?;
                self.keep_record()?;
                requests.note_is_taken(&note.id)?;
            }
        }
        if pending.stop {
            if self.state.stop().is_none() {
                self.step(Event::StopAsked { by: StopBy::Request })?;
                self.keep_record()?;
            }
            requests.stop_is_taken(self.lock.holder())?;
        }
        Ok(())
    }

    fn checkpoint(&mut self) -> Result<()> {
        let body = Body::Checkpoint { state: Box::new(self.state.clone()) };
        let record = Record { seq: self.state.seq + 1, at: clock::now(), body };
        self.journal.begin(&record)?;
        self.state = apply(std::mem::take(&mut self.state), &record);
        Ok(())
    }

    /// Views are for people; one that cannot be written is said once and stops nothing.
    fn publish(&mut self) {
        if let Err(error) = self.views.publish(&self.secrets.shown_state(&self.state)) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_that_nobody_looks_at_do_not_pile_up() {
        let (outbox, inbox) = mpsc::channel();
        let tools = Tools::new(outbox);
        let shown = || match inbox.try_recv() {
            Ok(Input::Tools(tools)) => tools.take().into_iter().map(|tool| tool.name).collect(),
            _ => vec![],
        };
        (1..=5000).for_each(|n| tools.used(Tool { name: n.to_string(), target: None }));
        let some = shown();
        assert_eq!((some.len(), some[0].as_str()), (1000, "1"));
        assert!(shown().is_empty(), "and they are told once");
        tools.used(Tool { name: "Bash".into(), target: None });
        assert_eq!(shown(), ["Bash"]);
    }
}
