//! Seed 002's `.ralph-session.json`, where the policy wants it: a line for each iteration of the run.
//!
//! The lines are kept in memory. A run that is taken up again finds them in the file; where that is missing or another's,
//! in the journal.

use std::io;
use std::path::{Path, PathBuf};

use ralph_core::state::State;
use ralph_core::view::files::progress;

use crate::store::{Run, alternate};

pub const NAME: &str = ".ralph-session.json";

#[derive(Debug)]
pub(super) struct Progress {
    path: PathBuf,
    /// Made here and moved to its place: nothing half-written is ever seen in the project.
    workshop: PathBuf,
    run: Run,
    /// `None` until somebody looked.
    lines: Option<Vec<String>>,
}

/// Whether a run left it in this project.
pub fn is_there(root: &Path) -> bool {
    std::fs::read_to_string(root.join(NAME)).is_ok_and(|text| progress::is_own(&text))
}

/// The name under which it is made, in `.ralph/`.
pub(super) fn workshop() -> String {
    format!("{NAME}.other")
}

impl Progress {
    pub(super) fn new(root: &Path, ralph_dir: &Path, run: Run) -> Self {
        Self { path: root.join(NAME), workshop: ralph_dir.join(workshop()), run, lines: None }
    }

    pub(super) fn publish(&mut self, state: &State) -> io::Result<()> {
        if !progress::is_due(state) {
            return Ok(());
        }
        let wanted = usize::try_from(state.totals.concluded).unwrap_or(usize::MAX);
        let mut lines = self.lines.take().unwrap_or_else(|| self.in_the_file(state));
        if let Some(last) = state.last.as_deref().filter(|last| state.just_concluded(last))
            && lines.len() + 1 == wanted
        {
            lines.push(progress::line(state, last));
        }
        if lines.len() != wanted {
            lines = self.in_the_journal()?;
        }
        let text = progress::document(state, &lines);
        self.lines = Some(lines);
        alternate::replace(&self.workshop, &self.path, text.as_bytes())
    }

    fn in_the_file(&self, state: &State) -> Vec<String> {
        let text = std::fs::read_to_string(&self.path).unwrap_or_default();
        progress::lines_of(&text, state).unwrap_or_default()
    }

    fn in_the_journal(&self) -> io::Result<Vec<String>> {
        let mut lines = Vec::new();
        let read = self.run.iterations(|iteration, state| {
            if iteration.conclusion.is_some() {
                lines.push(progress::line(state, iteration));
            }
        });
        read.map_err(io::Error::other)?;
        Ok(lines)
    }
}
