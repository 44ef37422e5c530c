//! Performing effects. Each ends in an event on the channel; none decides anything.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ralph_core::effect::Effect;
use ralph_core::event::{AgentInfo, Event, Measured, When};
use ralph_core::machine::silence;
use ralph_core::profile::Protocol;
use ralph_core::prompt::{self, Materials};
use ralph_core::transcript::Format;
use ralph_core::view::event::RunChanges;

use super::agent_job::{Talk, UNHEARD};
use super::{Input, Runner, agent_job, check_job};
use crate::error::{self, Error, Result};
use crate::point;
use crate::process::{Ender, Mark, Spec};
use crate::store::{self, Runs};
use crate::tree::TreeId;
use crate::ui::Pulse;
use crate::{agent, git};

/// What a rewritten history that was cleaned up at once takes with it.
const LOST_TREE: &str = "the files before this iteration were stored in your repository's history only, which was \
                         rewritten and cleaned up: which of them changed cannot be told";
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
}

impl Jobs {
    fn lock(&self) -> MutexGuard<'_, Running> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn end_now(&self) {
        let running = self.lock();
        running.agent.iter().chain(&running.check).for_each(Ender::end_now);
    }
}

/// How the agents and checks of a project are kept.
#[derive(Debug, Clone, Copy)]
pub(super) struct Custody<'a> {
    truth: &'a Path,
    mark: Option<Mark>,
}

impl Custody<'_> {
    pub(super) fn over(self, spec: Spec) -> Spec {
        let spec = spec.hold(custody_file(self.truth));
        self.mark.into_iter().fold(spec, Spec::mark)
    }
}

impl Runner<'_> {
    pub(super) fn perform(&mut self, effect: &Effect) -> Result<()> {
        match effect {
            Effect::MeasureTree { when, todos_since } => {
                let event = match self.measure(*when, todos_since.as_deref()) {
                    Ok(measured) => Event::TreeMeasured(Box::new(measured)),
                    Err(error) => Event::MeasureFailed { error },
                };
                self.send(event);
            }
            Effect::StartAgent => self.start_agent()?,
            Effect::RecoverAgent => {
                let (files, current) = (self.files(), self.state.current.as_ref());
                let started = current.is_some_and(|current| current.pid.is_some());
                let format = current.map_or(Format::Auto, |current| current.format);
                let started_at = current.and_then(|current| current.started_at);
                // The prompt is written before the agent starts, so without it there was none.
                let event = match started || files.prompt().exists() {
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
                let check = check_job::start(check, root, &files, self.custody(), secrets, self.heard());
                self.jobs.lock().check = check;
            }
            Effect::EndAgent { .. } => self.jobs.lock().agent.iter().for_each(Ender::end),
            Effect::EndCheck { .. } => self.jobs.lock().check.iter().for_each(Ender::end),
            Effect::Unknown => {}
        }
        Ok(())
    }

    fn send(&self, event: Event) {
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
        let snapshot = self.tree.snapshot().map_err(|error| error.to_string())?;
        let before = self.state.current.as_ref().and_then(|current| current.before.as_ref());
        let mut lost = Vec::new();
        let changes = match (when, before.and_then(|mark| TreeId::new(&mark.tree))) {
            (When::After, Some(before)) => match self.tree.changes(&before, &snapshot) {
                Ok(changes) => changes,
                Err(error) if self.tree.has(&before) => return Err(error.to_string()),
                Err(_) => {
                    lost.push(LOST_TREE.to_owned());
                    Vec::new()
                }
            },
            _ => Vec::new(),
        };
        let mut measured = Measured::new(when, snapshot.tree.to_string(), snapshot.head, &changes);
        // The two trees are not the same one, so something changed.
        measured.changed_total += lost.len() as u64;
        if let (When::After, Some(repo), Some(before)) = (when, &self.project.repo, before)
            && before.head != measured.head
        {
            match repo.commits_between(before.head.as_deref(), measured.head.as_deref()) {
                Ok(git::Commits { total, changed_tree, .. }) => {
                    measured.commits = total;
                    measured.committed_change = changed_tree;
                }
                Err(error) => match before.head.as_deref().map(|head| (head, repo.has_commit(head))) {
                    Some((head, Ok(false))) => lost.push(format!("{head} {LOST_COMMIT}")),
                    _ => return Err(error.to_string()),
                },
            }
        }
        let too_big =
            snapshot.too_big.iter().map(|path| format!("{path} is over 50 MB and was not measured"));
        measured.notes = lost.into_iter().chain(too_big).chain(snapshot.problems).take(50).collect();
        if let Some(base) = todos_since.and_then(TreeId::new) {
            match self.tree.added_todos(&base, &snapshot.tree) {
                Ok(todos) => measured.todos = Some(todos),
                Err(error) => measured.notes.push(format!("nobody could look for TODO comments: {error}")),
            }
        }
        Ok(measured)
    }

    /// What differs between the tree before the run and the last one that was measured, for the summary.
    pub(super) fn changes_of_the_run(&self) -> Option<RunChanges> {
        let after = self.state.last.as_ref()?.after.as_ref()?;
        let (before, after) = (TreeId::new(&self.state.base.as_ref()?.tree)?, TreeId::new(&after.tree)?);
        let changes = self.tree.diff(&before, &after).ok()?;
        let Measured { changed, changed_total, .. } =
            Measured::new(When::After, after.to_string(), None, &changes);
        Some(RunChanges { paths: changed, total: changed_total })
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
        if let Err(error) = self.views.prepare(&self.state) {
            self.warn_of_views(&error);
        }
        let prompt = self.prompt(agent::unread_knowledge(&agent, &self.project.root));
        let path = files.prompt();
        store::write_private(&path, prompt.as_bytes()).map_err(error::io("cannot write", &path))?;
        let run = self.state.run.as_ref().map(|run| run.id.clone()).unwrap_or_default();
        self.watch_own_files();
        let silence = silence(&self.state).map(Duration::from_millis);
        let secrets = &self.secrets;
        let talk = Talk { format: agent.format, prompt: &prompt, secrets, signal, silence };
        let spec = agent::spec(&agent, self.project, path)
            .env("RALPH_ITERATION", self.state.iteration.to_string())
            .env("RALPH_RUN_ID", run)
            .transcripts(files.transcript(), files.stderr());
        let started = agent_job::start(&self.custody().over(spec), &talk, &files, &self.heard());
        self.jobs.lock().agent = started;
        self.tidy();
        Ok(())
    }

    /// While the agent works nobody needs the snapshots.
    fn tidy(&mut self) {
        let Some(run) = &self.state.run else { return };
        let keep = run.plan.policy.keep_snapshots;
        let base = self.state.base.as_ref().and_then(|base| TreeId::new(&base.tree));
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

    fn custody(&self) -> Custody<'_> {
        Custody { truth: &self.project.truth, mark: self.mark }
    }

    fn prompt(&mut self, knowledge: Option<&str>) -> String {
        let mut warnings = Vec::new();
        let mut read = |dir: &Path, name: &str| read_text(&dir.join(name), &mut warnings);
        let (own, root) = (&self.project.ralph_dir, &self.project.root);
        let (instructions, guardrails) = (read(own, "prompt.md"), read(own, "guardrails.md"));
        let protocol = self.state.run.as_ref().map(|run| run.plan.policy.protocol);
        let names = match protocol {
            Some(Protocol::StatusFile) => ["handoff.md", "scratchpad.md"],
            _ => ["scratchpad.md", "handoff.md"],
        };
        let handoff = names.iter().find_map(|name| read(own, name));
        let knowledge = knowledge.and_then(|name| read(root, name));
        for warning in warnings {
            self.ui.warn(&warning);
        }
        let materials = Materials {
            project: &self.project.name(),
            instructions: instructions.as_deref(),
            knowledge: knowledge.as_deref(),
            handoff: handoff.as_deref(),
            guardrails: guardrails.as_deref(),
        };
        prompt::render(&self.state, materials)
    }
}

/// A file for the prompt, whatever its bytes; absent if it is empty or not there. Only regular files: a pipe would
/// hold the loop up.
fn read_text(path: &Path, warnings: &mut Vec<String>) -> Option<String> {
    let data = std::fs::metadata(path).ok()?;
    if !data.is_file() {
        warnings.push(format!("{} is not a file and was left out of the prompt", path.display()));
        return None;
    }
    match std::fs::read(path) {
        Ok(bytes) => {
            Some(String::from_utf8_lossy(&bytes).into_owned()).filter(|text| !text.trim().is_empty())
        }
        Err(error) => {
            warnings.push(format!("{} was left out of the prompt: {error}", path.display()));
            None
        }
    }
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
