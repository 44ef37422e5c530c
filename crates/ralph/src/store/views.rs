//! The views: `.ralph/`, and `.ralph-session.json` beside it. They are made from the state and may be deleted; a view
//! that cannot be written is said once and stops nothing.

mod progress;

use std::io;
use std::path::{Path, PathBuf};

use ralph_core::event::RunInfo;
use ralph_core::state::State;
use ralph_core::view::files as made;
use serde_json::Value;

use super::{Run, Runs, files};
use crate::error::{self, Result};
use progress::Progress;

const OWN_IGNORE: &str = "# ralph's own files; nothing here is committed\n*\n";

#[derive(Debug)]
pub struct Views {
    dir: PathBuf,
    /// The checkpoint before the task was written by this process. What an earlier one left may be of a forgotten run.
    checked_in: bool,
    progress: Progress,
}

impl Views {
    pub fn new(root: &Path, ralph_dir: &Path, run: Run) -> Self {
        Self {
            dir: ralph_dir.to_path_buf(),
            checked_in: false,
            progress: Progress::new(root, ralph_dir, run),
        }
    }

    /// Before an agent starts: an old signal must never be taken for a new one. Where this fails, nobody may listen.
    pub fn reset_signal(&self) -> io::Result<()> {
        files::make_dir(&self.dir)?;
        files::replace(&self.signal(), b"IDLE\n")
    }

    /// Makes the folder and the files that must be there before an agent starts.
    pub fn prepare(&mut self, state: &State) -> io::Result<()> {
        self.make_folder()?;
        if let (false, Some(run), Some(checkpoint)) = (self.checked_in, &state.run, made::pre_task(state)) {
            self.write_checkpoint("pre", run, &checkpoint)?;
            self.checked_in = true;
        }
        Ok(())
    }

    /// Seed 001's signal: the one file here that an agent may write to be heard.
    pub fn signal(&self) -> PathBuf {
        self.dir.join("status")
    }

    /// The folder and its own ignore file, so that nothing of it is ever committed by accident.
    fn make_folder(&self) -> io::Result<()> {
        files::make_dir(&self.dir)?;
        let ignore = self.dir.join(".gitignore");
        if ignore.exists() { Ok(()) } else { files::replace(&ignore, OWN_IGNORE.as_bytes()) }
    }

    /// Brings every view up to the state.
    pub fn publish(&mut self, state: &State) -> io::Result<()> {
        self.make_folder()?;
        files::replace(&self.dir.join("session.md"), made::session(state).as_bytes())?;
        files::replace(&self.dir.join("state.json"), &pretty(&made::state_json(state)))?;
        self.write_history(state)?;
        if let (Some(checkpoint), Some(run)) = (made::post_task(state), &state.run) {
            self.write_checkpoint("post", run, &checkpoint)?;
        }
        self.progress.publish(state)
    }

    /// Pages of the history that are not there any more, from the journals. To be asked for when somebody took them away.
    pub fn remake_history(&self, runs: &Runs) -> Result<()> {
        if self.dir.join("history").is_dir() {
            return Ok(());
        }
        for run in runs.all() {
            let mut written = Ok(());
            run.iterations(|_, state| {
                if written.is_ok() {
                    written = self.write_history(state);
                }
            })?;
            written.map_err(error::io("cannot write", &self.dir))?;
        }
        Ok(())
    }

    fn write_history(&self, state: &State) -> io::Result<()> {
        let Some(last) = state.last.as_deref() else { return Ok(()) };
        let history = self.dir.join("history");
        let path = history.join(format!("iteration-{:03}.md", last.number));
        // The record that concluded an iteration knows most about it; a later one fills in what is missing.
        if !state.just_concluded(last) && path.exists() {
            return Ok(());
        }
        files::make_dir(&history)?;
        files::replace(&path, made::history(state, last).as_bytes())
    }

    fn write_checkpoint(&self, when: &str, run: &RunInfo, checkpoint: &Value) -> io::Result<()> {
        let (dir, id) = (self.dir.join("checkpoints"), made::safe_name(&made::task_id(run)));
        files::make_dir(&dir)?;
        files::replace(&dir.join(format!("{when}-task-{id}.json")), &pretty(checkpoint))
    }
}

fn pretty(value: &Value) -> Vec<u8> {
    let mut text = serde_json::to_vec_pretty(value).unwrap_or_default();
    text.push(b'\n');
    text
}
