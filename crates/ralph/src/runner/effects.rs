//! Performing effects. Each ends in an event on the channel; none decides anything.

use std::io;
use std::path::{Path, PathBuf};

use ralph_core::effect::Effect;
use ralph_core::event::{AgentInfo, Event, Measured, When};
use ralph_core::profile::Protocol;
use ralph_core::prompt::{self, Materials};
use ralph_core::transcript::Format;

use super::agent_job::{Talk, UNHEARD};
use super::{Input, Runner, agent_job, check_job};
use crate::error::{self, Error, Result};
use crate::process::Ender;
use crate::store;
use crate::tree::TreeId;
use crate::{agent, git};

/// What is running, to be ended when asked.
#[derive(Debug, Default)]
pub(super) struct Jobs {
    agent: Option<Ender>,
    check: Option<Ender>,
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
                    true => Event::AgentEnded(Box::new(agent_job::recover(&files, format, started_at))),
                    false => Event::AgentNeverStarted,
                };
                self.send(event);
            }
            Effect::RunCheck { check } => {
                let files = match self.state.current {
                    Some(_) => self.files(),
                    None => self.run.baseline_files(),
                };
                files.make()?;
                self.ui.live(&format!("checking: {}", check.command));
                let custody = custody_file(&self.project.truth);
                self.jobs.check =
                    check_job::start(check, &self.project.root, &files, &custody, self.outbox.clone());
            }
            Effect::EndAgent { .. } => self.jobs.agent.iter().for_each(Ender::end),
            Effect::EndCheck { .. } => self.jobs.check.iter().for_each(Ender::end),
            // No plan of a run has a backlog yet.
            Effect::ReadBacklog | Effect::MarkItem { .. } | Effect::Settle { .. } | Effect::Unknown => {}
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

    fn files(&self) -> store::IterationFiles {
        self.run.files(self.state.iteration)
    }

    fn measure(&mut self, when: When, todos_since: Option<&str>) -> std::result::Result<Measured, String> {
        let snapshot = self.tree.snapshot().map_err(|error| error.to_string())?;
        let before = self.state.current.as_ref().and_then(|current| current.before.as_ref());
        let changes = match (when, before.and_then(|mark| TreeId::new(&mark.tree))) {
            (When::After, Some(before)) => {
                self.tree.changes(&before, &snapshot).map_err(|error| error.to_string())?
            }
            _ => Vec::new(),
        };
        let mut measured = Measured::new(when, snapshot.tree.to_string(), snapshot.head, &changes);
        if let (When::After, Some(repo), Some(before)) = (when, &self.project.repo, before)
            && before.head != measured.head
        {
            let commits = repo.commits_between(before.head.as_deref(), measured.head.as_deref());
            let git::Commits { total, changed_tree, .. } = commits.map_err(|error| error.to_string())?;
            measured.commits = total;
            measured.committed_change = changed_tree;
        }
        let too_big =
            snapshot.too_big.iter().map(|path| format!("{path} is over 50 MB and was not measured"));
        measured.notes = too_big.chain(snapshot.problems).take(50).collect();
        if let Some(base) = todos_since.and_then(TreeId::new) {
            match self.tree.added_todos(&base, &snapshot.tree) {
                Ok(todos) => measured.todos = Some(todos),
                Err(error) => measured.notes.push(format!("nobody could look for TODO comments: {error}")),
            }
        }
        Ok(measured)
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
        let prompt = self.prompt(agent::loads_knowledge(&agent));
        let path = files.prompt();
        store::write_private(&path, prompt.as_bytes()).map_err(error::io("cannot write", &path))?;
        let run = self.state.run.as_ref().map(|run| run.id.clone()).unwrap_or_default();
        let talk = Talk { format: agent.format, prompt: &prompt, signal };
        let spec = agent::spec(&agent, self.project, path)
            .env("RALPH_ITERATION", self.state.iteration.to_string())
            .env("RALPH_RUN_ID", run)
            .hold(custody_file(&self.project.truth));
        self.jobs.agent = agent_job::start(&spec, &talk, &files, &self.outbox);
        Ok(())
    }

    fn prompt(&mut self, knowledge_is_loaded: bool) -> String {
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
        let mut root = |name: &str| read(root, name);
        let knowledge =
            if knowledge_is_loaded { None } else { root("CLAUDE.md").or_else(|| root("AGENTS.md")) };
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

/// Copies a stream to a file while it is read, so that nothing read is lost to a crash.
pub(super) fn tee(mut from: impl io::Read, file: &Path, mut each: impl FnMut(&[u8])) -> io::Result<()> {
    let mut file = store::append_private(file)?;
    let mut buffer = vec![0; 256 << 10];
    let mut kept = Ok(());
    loop {
        let read = match from.read(&mut buffer) {
            Ok(0) => return kept,
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        // A full disk must not leave the agent hanging on a full pipe: go on reading, and tell at the end.
        if kept.is_ok() {
            kept = io::Write::write_all(&mut file, &buffer[..read]);
        }
        each(&buffer[..read]);
    }
}
