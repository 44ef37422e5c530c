//! The views in `.ralph/`. They are made from the state and may be deleted; a view that cannot be written is
//! said once and stops nothing.

use std::io;
use std::path::{Path, PathBuf};

use ralph_core::state::State;
use ralph_core::view;

use super::files;

const OWN_IGNORE: &str = "# ralph's own files; nothing here is committed\n*\n";

#[derive(Debug)]
pub struct Views {
    dir: PathBuf,
    /// The last iteration whose history file was written.
    written: u64,
}

impl Views {
    pub fn new(ralph_dir: &Path) -> Self {
        Self { dir: ralph_dir.to_path_buf(), written: 0 }
    }

    /// Makes the folder and the files that must be there before an agent starts: the signal is reset, so that
    /// an old one can never be taken for a new one.
    pub fn prepare(&self) -> io::Result<()> {
        self.make_folder()?;
        files::replace(&self.signal(), b"IDLE\n")
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
        files::replace(&self.dir.join("session.md"), view::files::session(state).as_bytes())?;
        let json = serde_json::to_string_pretty(&view::files::state_json(state)).unwrap_or_default();
        files::replace(&self.dir.join("state.json"), format!("{json}\n").as_bytes())?;
        if let Some(last) = state.last.as_deref().filter(|last| last.number != self.written) {
            let history = self.dir.join("history");
            files::make_dir(&history)?;
            let path = history.join(format!("iteration-{:03}.md", last.number));
            files::replace(&path, view::files::history(state, last).as_bytes())?;
            self.written = last.number;
        }
        Ok(())
    }
}
