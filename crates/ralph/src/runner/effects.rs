//! Performing effects. Each ends in an event on the channel; none decides anything.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ralph_core::effect::Effect;
use ralph_core::event::{AgentInfo, Event, Measured, When};
use ralph_core::machine::{left, silence};
use ralph_core::profile::{Policy, Protocol};
use ralph_core::prompt;
use ralph_core::transcript::Format;

use super::agent_job::{Meter, Talk, UNHEARD};
use super::{Input, Runner, Texts, agent_job, beside, check_job};
use crate::error::{self, Error, Result};
use crate::point;
use crate::process::{Ender, Hurry, Mark, Spec};
use crate::store::{self, Ledger, Runs};
use crate::tree::{Tree, TreeId};
use crate::ui::Pulse;
use crate::{agent, git};

/// What a rewritten history that was cleaned up at once takes with it.
const LOST_TREE: &str = "the files before this iteration were stored in your repository's history only, which was \
                         rewritten and cleaned up: which of them changed cannot be told";
const LOST_SNAPSHOTS: &str = "removed while somebody worked, and the snapshots in it are gone: which files changed cannot \
                              be told, and this iteration cannot be undone";
const LOST_COMMIT: &str = "was checked out before this iteration and is gone: the history was rewritten and cleaned \
                           up, so its commits are not counted";

/// Where what is heard of a job goes: to the loop, and to the screen.
#[derive(Debug, Clone)]
pub(super) struct Heard {
    pub(super) outbox: Sender<Input>,
    pub(super) pulse: Pulse,
}

/// What is running, to be ended when asked: by the loop, or by the second Ctrl-C.
#[derive(Debug, Clone, Default)]
pub(super) struct Jobs(Arc<Mutex<Running>>);

#[derive(Debug, Default)]
struct Running {
    agent: Option<Ender>,
    check: Option<Ender>,
    /// A hook of the user's, while a commit is made. The loop waits for it.
    hook: Option<Ender>,
    /// Tells whoever measures the files, which the loop waits for too.
    hurry: Option<Hurry>,
    /// The user asked to stop.
    stopping: bool,
}

impl Jobs {
    fn lock(&self) -> MutexGuard<'_, Running> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The check that runs now.
    pub(super) fn check(&self, running: Option<Ender>) {
        self.lock().check = running;
    }

    /// The hook that runs now.
    pub(super) fn hook(&self, running: Option<Ender>) {
        let mut known = self.lock();
        known.hook = running;
        known.end_hook();
    }

    /// Ends what the loop itself waits for, which it could not.
    pub(super) fn stopping(&self) {
        let mut known = self.lock();
        known.stopping = true;
        known.end_hook();
        known.hurry.iter().for_each(Hurry::up);
    }

    /// Has a measurement of these files end soon where the user asks to stop.
    pub(super) fn hurrying(&self, tree: Tree) -> Tree {
        let mut known = self.lock();
        if known.hurry.is_none() {
            known.hurry = Hurry::new().ok();
        }
        match known.hurry.clone() {
            Some(hurry) => tree.until(hurry),
            None => tree,
        }
    }

    pub(super) fn end_now(&self) {
        let running = self.lock();
        running.agent.iter().chain(&running.check).chain(&running.hook).for_each(Ender::end_now);
    }
}

impl Running {
    fn end_hook(&self) {
        self.hook.iter().filter(|_| self.stopping).for_each(Ender::end);
    }
}

/// How the agents and checks of a project are kept.
#[derive(Debug, Clone, Copy)]
pub(super) struct Custody<'a> {
    truth: &'a Path,
    mark: Option<Mark>,
}

impl<'a> Custody<'a> {
    pub(super) fn at(truth: &'a Path, mark: Option<Mark>) -> Self {
        Self { truth, mark }
    }

    pub(super) fn over(self, spec: Spec) -> Spec {
        let truth = self.truth.to_path_buf();
        let alone = move || store::holder(&truth).is_none_or(|holder| holder.pid == std::process::id());
        let spec = spec.hold(custody_file(self.truth)).while_alone(alone);
        self.mark.into_iter().fold(spec, Spec::mark)
    }
}

impl Runner<'_> {
    pub(super) fn perform(&mut self, effect: &Effect) -> Result<()> {
        match effect {
            Effect::MeasureTree { when, todos_since } => {
                let event = match self.measure(*when, todos_since.as_deref()) {
                    Ok(measured) => Event::TreeMeasured(Box::new(measured)),
                    Err(error) => {
                        Event::MeasureFailed { error: self.without_a_repository().unwrap_or(error) }
                    }
                };
                self.send(event);
            }
            Effect::StartAgent if self.is_session() => self.hand_over()?,
            Effect::StartAgent => self.start_agent()?,
            // It is asked anew: what it did since is what it is asked about next.
            Effect::RecoverAgent if self.is_session() => self.send(Event::AgentNeverStarted),
            Effect::RecoverAgent => {
                let (files, current) = (self.files(), self.state.current.as_ref());
                let started = current.is_some_and(|current| current.pid.is_some());
                let format = current.map_or(Format::Auto, |current| current.format);
                let started_at = current.and_then(|current| current.started_at);
                // A keeper begins the transcript before it starts an agent, so without one there was none.
                let event = match started || files.transcript().exists() {
                    true => Event::AgentEnded(Box::new(agent_job::recover(
                        &files, format, started_at, &self.secrets,
                    ))),
                    false => Event::AgentNeverStarted,
                };
                self.send(event);
            }
            Effect::RunCheck { check } => {
                let files = self.files_in_use();
                files.make()?;
                self.watch_own_files();
                let (root, secrets) = (&self.project.root, self.secrets.clone());
                let spec =
                    self.custody().over(Spec::shell(&check.command, root)).sign(files.check(&check.name));
                let heard = self.heard();
                let check = check_job::start(check, &spec, &mut self.ahead, &files, secrets, heard);
                self.jobs.check(check);
            }
            Effect::EndAgent { .. } => self.jobs.lock().agent.iter().for_each(Ender::end),
            Effect::EndCheck { .. } => self.jobs.lock().check.iter().for_each(Ender::end),
            Effect::ReadBacklog => self.read_backlog()?,
            Effect::MarkItem { id } => self.mark_item(id)?,
            Effect::Settle { settlement } => self.settle(settlement)?,
            Effect::Unknown => {}
        }
        Ok(())
    }

    pub(super) fn send(&self, event: Event) {
        // The runner holds the receiver itself, so this cannot fail.
        let _ = self.outbox.send(Input::Event(event));
    }

    /// The agent of the current iteration.
    fn agent(&self) -> Result<AgentInfo> {
        let state = &self.state;
        let (run, current) = (state.run.as_ref(), state.current.as_ref());
        let agent = run.zip(current).and_then(|(run, current)| run.plan.agent(&current.agent));
        agent.cloned().ok_or_else(|| Error::data("the record names an agent that the plan does not have"))
    }

    pub(super) fn policy(&self) -> Policy {
        self.state.run.as_ref().map(|run| run.plan.policy.clone()).unwrap_or_default()
    }

    pub(super) fn files(&self) -> store::IterationFiles {
        self.run.files(self.state.iteration)
    }

    /// Of the current iteration, or of the checks before the first one.
    pub(super) fn files_in_use(&self) -> store::IterationFiles {
        match self.state.current {
            Some(_) => self.files(),
            None => self.run.baseline_files(),
        }
    }

    fn measure(&mut self, when: When, todos_since: Option<&str>) -> std::result::Result<Measured, String> {
        // An agent or a check is next, mostly; a session is started by its user.
        let (is_session, ahead) = (self.is_session(), &mut self.ahead);
        let keeper = || {
            if !is_session {
                ahead.start();
            }
        };
        let snapshot = match when {
            When::After => self.tree.snapshot_after_work(keeper),
            _ => self.tree.snapshot_while(keeper),
        };
        let snapshot = snapshot.map_err(|error| error.to_string())?;
        self.measured_branch = Some(snapshot.branch.clone());
        if !snapshot.own_output.is_empty() && !std::mem::replace(&mut self.output_told, true) {
            let names = snapshot.own_output.join(", ");
            self.ui
                .remark(&format!("{names}: ralph itself writes to it now, so it does not count as a change"));
        }
        let before = self.state.current.as_ref().and_then(|current| current.before.clone());
        let mut lost = Vec::new();
        let mut changes = match (when, before.as_ref().and_then(|mark| TreeId::new(&mark.tree))) {
            (When::After, Some(before)) => match self.tree.changes(&before, &snapshot) {
                Ok(changes) => changes,
                Err(error) if self.tree.has(&before) => return Err(error.to_string()),
                Err(_) => {
                    lost.push(self.lost_tree());
                    Vec::new()
                }
            },
            _ => Vec::new(),
        };
        let old = before.as_ref().map_or(&[][..], |mark| &mark.beside);
        let beside = self.not_held(&snapshot);
        let flags = match when {
            When::After => beside::add(&self.tree, &mut changes, old, &beside, &snapshot.outdated),
            When::Before => vec![],
        };
        let mark = before.clone();
        let since = self.since_it_ended(when, before.as_ref(), &snapshot, &changes);
        let since = since.map_err(|error| error.to_string())?;
        let changes = since.agents.unwrap_or(changes);
        let progress = self.but_the_backlog(changes.clone());
        let head_left = since.head.unwrap_or_else(|| snapshot.head.clone());
        let measured = Measured::new(when, snapshot.tree.to_string(), snapshot.head, &progress);
        let mut measured = measured.with_head_left_at(head_left.as_deref());
        measured.left = since.left;
        measured.beside = beside;
        measured.flags = flags;
        if let Some(told) = since.told {
            self.ui.warn(&told);
            measured.notes.push(told);
        }
        self.measure_backlog(&mut measured, &changes);
        let gone = self.measure_stand(&mut measured, snapshot.branch.as_deref());
        self.measure_judging(&mut measured, &progress);
        // The two trees are not the same one, so something changed.
        measured.changed_total += lost.len() as u64;
        measured.untold = !lost.is_empty();
        if measured.untold {
            self.measure_gone(&mut measured);
        }
        if let (When::After, Some(repo), Some(before)) = (when, &self.project.repo, before)
            && before.head.as_deref() != measured.left_head()
        {
            let is_noted = self.is_noted();
            let (from, to) = (before.head.as_deref(), measured.left_head());
            match repo.commits_of_work(from, to, |path| !is_noted(path)) {
                Ok(git::Commits { total, changed_tree, .. }) => {
                    measured.commits = total;
                    measured.committed_change = changed_tree;
                    self.measure_taken(&mut measured, repo, &before);
                }
                Err(error) => match before.head.as_deref().map(|head| (head, repo.has_commit(head))) {
                    Some((head, Ok(false))) => lost.push(format!("{head} {LOST_COMMIT}")),
                    _ => return Err(error.to_string()),
                },
            }
        }
        if let (When::After, Some(mark)) = (when, &mark)
            && !progress.is_empty()
        {
            self.measure_thrown_away(&mut measured, &progress, mark);
        }
        let too_big =
            snapshot.too_big.iter().map(|path| format!("{path} is over 50 MB, so no snapshot holds it"));
        measured.notes.extend(lost.into_iter().chain(snapshot.problems).chain(too_big).take(50));
        if let Some(base) = todos_since.and_then(TreeId::new) {
            match self.tree.added_todos(&base, &snapshot.tree, &self.own_notes()) {
                Ok(todos) => measured.todos = Some(todos),
                Err(error) => measured.notes.push(format!("nobody could look for TODO comments: {error}")),
            }
        }
        // A refused claim about an item says it itself.
        if let (Some(where_to), None) = (gone, &measured.item) {
            self.ui.warn(&where_to);
        }
        Ok(measured)
    }

    /// Why nobody knows the files before this iteration any more.
    fn lost_tree(&self) -> String {
        match self.snapshots_gone || self.project.repo.is_none() {
            true => format!("{}/ was {LOST_SNAPSHOTS}", self.shown(&self.project.truth)),
            false => LOST_TREE.to_owned(),
        }
    }

    fn start_agent(&mut self) -> Result<()> {
        let agent = self.agent()?;
        let files = self.files();
        files.make()?;
        let signal = match self.views.reset_signal() {
            Ok(()) => Some(self.views.signal()),
            Err(error) => {
                self.ui.warn(&format!("{UNHEARD}: {error}"));
                None
            }
        };
        if let Err(error) = self.views.prepare(&self.secrets.shown_state(&self.state)) {
            self.warn_of_views(&error);
        }
        self.keep_stand(&files);
        self.keep_whole_backlog();
        let prompt = self.prompt(agent::unread_knowledge(&agent, &self.project.root));
        let path = files.prompt();
        // A prompt that is there says that an agent may have been started.
        self.journal.settle()?;
        store::write_private(&path, prompt.as_bytes()).map_err(error::io("cannot write", &path))?;
        let run = self.state.run.as_ref().map(|run| run.id.clone()).unwrap_or_default();
        self.watch_own_files();
        let silence = silence(&self.state).map(Duration::from_millis);
        let secrets = &self.secrets;
        let promise = self.policy().promise;
        let promise = promise.as_str();
        let noted = self.noted();
        let left = left(&self.state);
        let (format, meter) = (agent.format, Meter::of(&agent, left));
        let talk = Talk { format, prompt: &prompt, promise, secrets, signal, silence, meter, noted };
        let spec = agent::spec(&agent, self.project, path, left.micro_usd)
            .env("RALPH_ITERATION", self.state.iteration.to_string())
            .env("RALPH_RUN_ID", run);
        let spec =
            self.as_its_actor(spec).transcripts(files.transcript(), files.stderr()).sign(files.transcript());
        let (spec, heard) = (self.custody().over(spec), self.heard());
        let started = agent_job::start(&spec, &mut self.ahead, &talk, &files, &heard);
        self.jobs.lock().agent = started;
        self.tidy();
        Ok(())
    }

    /// While the agent works nobody needs the snapshots.
    pub(super) fn tidy(&mut self) {
        let Some(run) = &self.state.run else { return };
        let keep = run.plan.policy.keep_snapshots;
        let base = self.state.base.iter().map(|base| base.tree.as_str());
        let spans = self.state.rules.items.spans.iter().chain(&self.state.unproved);
        let spans = spans.flat_map(|span| [span.from.as_str(), span.to.as_str()]);
        let base: Vec<TreeId> = base.chain(spans).filter_map(TreeId::new).collect();
        let pinned = self.tally.pinned(&Ledger::of(&self.project.truth));
        let base: Vec<TreeId> =
            base.into_iter().chain(pinned.iter().filter_map(|tree| TreeId::new(tree))).collect();
        let (runs, last) = (Runs::of(&self.project.truth), self.state.iteration);
        self.tree.tidy(move || -> Result<Vec<TreeId>> {
            let trees = runs.trees()?.into_iter();
            let kept = trees.filter(|(number, _)| keep == 0 || last.saturating_sub(*number) < keep);
            Ok(base.into_iter().chain(kept.filter_map(|(_, tree)| TreeId::new(&tree))).collect())
        });
    }

    fn heard(&self) -> Heard {
        Heard { outbox: self.outbox.clone(), pulse: self.ui.pulse() }
    }

    pub(super) fn custody(&self) -> Custody<'_> {
        Custody::at(&self.project.truth, self.mark)
    }

    fn prompt(&mut self, knowledge: Option<&str>) -> String {
        let protocol = self.state.run.as_ref().map_or(Protocol::Block, |run| run.plan.policy.protocol);
        let texts = Texts::read(self.project, protocol, knowledge);
        for warning in &texts.warnings {
            self.ui.warn(warning);
        }
        prompt::render(&self.state, texts.materials(&self.project.name()))
    }
}

/// A command outside of a run, kept as those of one are, where anything was run before.
pub(crate) fn kept(spec: Spec, truth: &Path) -> Spec {
    if !truth.is_dir() {
        return spec;
    }
    Custody { truth, mark: Mark::of(truth).ok() }.over(spec)
}

/// Held by every keeper of this project while its command lives.
pub(crate) fn custody_file(truth: &Path) -> PathBuf {
    truth.join("custody")
}

/// Copies a stream to a file while it is read, so that nothing read is lost to a crash. Where that fails, it is read on
/// all the same: a full disk must not leave a check hanging on a full pipe.
pub(super) fn tee(from: impl io::Read, path: &Path, mut each: impl FnMut(&[u8])) -> io::Result<()> {
    let mut file = store::append_private(path);
    read_all(from, |bytes| {
        if let Ok(open) = &mut file
            && let Err(error) = point::file("write", path).and_then(|()| io::Write::write_all(open, bytes))
        {
            file = Err(error);
        }
        each(bytes);
    })?;
    store::put_back_if_gone(path, &mut file?)
}

/// Reads a stream to its end.
pub(super) fn read_all(mut from: impl io::Read, mut each: impl FnMut(&[u8])) -> io::Result<()> {
    let mut buffer = vec![0; 256 << 10];
    loop {
        match from.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(read) => each(&buffer[..read]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
