//! The views: `.ralph/`, and `.ralph-session.json` beside it. They are made from the state and may be deleted; a view
//! that cannot be written is said once and stops nothing.

mod progress;

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use ralph_core::profile::Protocol;
use ralph_core::redact::Secrets;
use ralph_core::state::{Iteration, State};
use ralph_core::view::files as made;
use serde_json::Value;

use super::{HarnessLock, Run, Runs, alternate, files};
use crate::error::{self, Result};
use progress::Progress;
pub use progress::{NAME as SESSION_VIEW, is_there as has_session_view};

/// What the signal says before an agent starts.
pub(super) const IDLE: &[u8] = b"IDLE\n";

/// The names in `.ralph/` that views are written to, and those that they are made under.
pub(super) fn written() -> impl Iterator<Item = String> {
    let views = ["session.md", "state.json", "status", "history", "checkpoints"].map(str::to_owned);
    let made = [".session.md.other", ".state.json.other", ".status.new"].map(str::to_owned);
    views.into_iter().chain(made).chain([progress::workshop()])
}

pub(super) const OWN_IGNORE: &str = "# ralph's own files; nothing here is committed\n*\n";

/// `.ralph/`, which ignores itself.
pub(super) fn make_own_folder(dir: &Path) -> io::Result<()> {
    files::make_dir(dir)?;
    let ignore = dir.join(".gitignore");
    if ignore.exists() { Ok(()) } else { files::replace(&ignore, OWN_IGNORE.as_bytes()) }
}

/// An empty file for what a run in the background says, in the folder that ignores itself.
pub fn background_log(root: &Path, dir: &Path) -> io::Result<(PathBuf, File)> {
    files::stays_within(root, dir)?;
    make_own_folder(dir)?;
    let path = dir.join("background.log");
    Ok((path.clone(), files::new_private(&path)?))
}

#[derive(Debug)]
pub struct Views {
    root: PathBuf,
    dir: PathBuf,
    /// The checkpoint before the task was written by this process. What an earlier one left may be of a forgotten run.
    checked_in: bool,
    progress: Progress,
    harness_lock: HarnessLock,
    run: Run,
    /// Something could not be written, so logs of earlier iterations may be missing.
    behind: bool,
}

impl Views {
    pub fn new(root: &Path, ralph_dir: &Path, run: Run) -> Self {
        Self {
            root: root.to_path_buf(),
            dir: ralph_dir.to_path_buf(),
            checked_in: false,
            progress: Progress::new(root, ralph_dir, run.clone()),
            harness_lock: HarnessLock::of(root),
            run,
            behind: false,
        }
    }

    /// Before an agent starts: an old signal must never be taken for a new one. Where this fails, nobody may listen.
    pub fn reset_signal(&self) -> io::Result<()> {
        self.own_dir(&self.dir)?;
        let signal = self.signal();
        let is_file = std::fs::symlink_metadata(&signal)
            .is_ok_and(|data| data.is_file() && data.len() == IDLE.len() as u64);
        // Most agents never write it; replacing a file costs more than looking at it.
        if is_file && std::fs::read(&signal).is_ok_and(|text| text == IDLE) {
            return Ok(());
        }
        files::replace(&signal, IDLE)
    }

    /// Makes the folder and the files that must be there before an agent starts.
    pub fn prepare(&mut self, state: &State) -> io::Result<()> {
        self.make_folder()?;
        self.make_scratchpad(state)?;
        if let (false, Some(run), Some(checkpoint)) = (self.checked_in, &state.run, made::pre_task(state)) {
            self.write_checkpoint("pre", &made::task_id(run), &checkpoint)?;
            self.checked_in = true;
        }
        if let Some((id, checkpoint)) = made::pre_item(state) {
            // Later attempts begin where the first one did.
            if checkpoint["counts"]["iterations"] == 0 || !self.checkpoint("pre", &id).exists() {
                self.write_checkpoint("pre", &id, &checkpoint)?;
            }
        }
        Ok(())
    }

    /// Where the prompt asks for handoff notes, their file is there from the start.
    fn make_scratchpad(&self, state: &State) -> io::Result<()> {
        const TEMPLATE: &[u8] = b"# Scratchpad - Handoff Notes\n\n\
            <!-- For the next iteration: what was done, what did not work, what to do next, blockers. -->\n";
        let asked = state.run.as_ref().is_some_and(|run| run.plan.policy.protocol == Protocol::Json);
        let is_there = |name: &str| self.dir.join(name).symlink_metadata().is_ok();
        if !asked || is_there("scratchpad.md") || is_there("handoff.md") {
            return Ok(());
        }
        files::replace(&self.dir.join("scratchpad.md"), TEMPLATE)
    }

    /// Seed 001's signal: the one file here that an agent may write to be heard.
    pub fn signal(&self) -> PathBuf {
        self.dir.join("status")
    }

    /// The folder and its own ignore file, so that nothing of it is ever committed by accident.
    fn make_folder(&self) -> io::Result<()> {
        files::stays_within(&self.root, &self.dir)?;
        make_own_folder(&self.dir)
    }

    /// A folder for views, which is the project's own.
    fn own_dir(&self, dir: &Path) -> io::Result<()> {
        files::stays_within(&self.root, dir)?;
        files::make_dir(dir)
    }

    /// Brings every view up to the state; one that cannot be written does not hold up the others.
    pub fn publish(&mut self, state: &State) -> io::Result<()> {
        files::stays_within(&self.root, &self.dir).inspect_err(|_| self.behind = true)?;
        let folder = self.make_folder();
        let session = self.alternate("session.md", made::session(state).as_bytes());
        let json = self.alternate("state.json", &pretty(&made::state_json(state)));
        let history = self.write_history(state);
        let checkpoint = match (made::post_task(state), &state.run) {
            (Some(checkpoint), Some(run)) => self.write_checkpoint("post", &made::task_id(run), &checkpoint),
            _ => Ok(()),
        };
        let item =
            made::post_item(state).map_or(Ok(()), |(id, item)| self.write_checkpoint("post", &id, &item));
        let lock = self.harness_lock.publish(state);
        let progress = self.progress.publish(state);
        folder.and(session).and(json).and(history).and(checkpoint).and(item).and(lock).and(progress)
    }

    fn alternate(&self, name: &str, text: &[u8]) -> io::Result<()> {
        alternate::replace(&self.dir.join(format!(".{name}.other")), &self.dir.join(name), text)
    }

    /// Pages of the history that are not there any more, from the journals, and what is known of the start. To be asked for
    /// when somebody took them away.
    pub fn remake_pages(&mut self, state: &State, runs: &Runs, secrets: &Secrets) -> Result<()> {
        self.checked_in = false;
        self.prepare(&secrets.shown_state(state)).map_err(error::io("cannot write", &self.dir))?;
        for run in runs.all() {
            let mut written = Ok(());
            run.iterations(|iteration, state| {
                if iteration.conclusion.is_some() && written.is_ok() {
                    let (iteration, state) = (secrets.shown_iteration(iteration), secrets.shown_state(state));
                    written = self.write_log(&iteration, &state, false);
                }
            })?;
            written.map_err(error::io("cannot write", &self.dir))?;
        }
        Ok(())
    }

    /// The log of the last iteration; after trouble, of every one that has none.
    fn write_history(&mut self, state: &State) -> io::Result<()> {
        let Some(last) = state.last.as_deref() else { return Ok(()) };
        // The record that concluded an iteration knows most about it; a later one fills in what is missing.
        let anew = state.just_concluded(last) || last.settled.is_some();
        let written = self.write_log(last, state, anew).and_then(|()| self.catch_up());
        self.behind = written.is_err();
        written
    }

    fn catch_up(&self) -> io::Result<()> {
        if !self.behind {
            return Ok(());
        }
        let mut written = Ok(());
        let read = self.run.iterations(|iteration, state| {
            if iteration.conclusion.is_some() && written.is_ok() {
                written = self.write_log(iteration, state, false);
            }
        });
        read.map_err(io::Error::other).and(written)
    }

    fn write_log(&self, iteration: &Iteration, state: &State, again: bool) -> io::Result<()> {
        let history = self.dir.join("history");
        let path = history.join(format!("iteration-{:03}.md", iteration.number));
        if !again && path.exists() {
            return Ok(());
        }
        self.own_dir(&history)?;
        // Under one name for all of them: the next page takes the place of one that was cut off.
        let beside = history.join(".iteration.md.new");
        files::replace_through(&beside, &path, made::history(state, iteration, None).as_bytes())
    }

    fn write_checkpoint(&self, when: &str, id: &str, checkpoint: &Value) -> io::Result<()> {
        self.own_dir(&self.dir.join("checkpoints"))?;
        let (path, text) = (self.checkpoint(when, id), pretty(checkpoint));
        // Another process of the same run wrote it already.
        let there = std::fs::symlink_metadata(&path).is_ok_and(|data| data.is_file());
        if there && std::fs::read(&path).is_ok_and(|old| old == text) {
            return Ok(());
        }
        files::replace(&path, &text)
    }

    fn checkpoint(&self, when: &str, id: &str) -> PathBuf {
        self.dir.join("checkpoints").join(format!("{when}-task-{}.json", made::safe_name(id)))
    }
}

fn pretty(value: &Value) -> Vec<u8> {
    let mut text = serde_json::to_vec_pretty(value).unwrap_or_default();
    text.push(b'\n');
    text
}
