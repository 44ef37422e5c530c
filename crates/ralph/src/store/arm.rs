//! Which session a run holds: one small file in the truth folder, looked at by every hook before anything else. And
//! files that ralph leaves in an agent's own folder, and takes away again.

use std::io;
use std::path::{Path, PathBuf};

use ralph_core::session::Arm;

use super::files;
use crate::error::{self, Error, Result};
use crate::project::ARMED;

#[derive(Debug, Clone)]
pub struct ArmFile {
    path: PathBuf,
}

impl ArmFile {
    pub fn of(truth: &Path) -> Self {
        Self { path: truth.join(ARMED) }
    }

    pub fn read(&self) -> Result<Option<Arm>> {
        match std::fs::read(&self.path) {
            Ok(bytes) => serde_json::from_slice(&bytes).map(Some).map_err(|error| {
                Error::data(format!("{} cannot be read", self.path.display()))
                    .because(error)
                    .hint("to let go of every session: ralph hook disarm")
            }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error::io("cannot read", &self.path)(error)),
        }
    }

    pub fn write(&self, arm: &Arm) -> Result<()> {
        let text = serde_json::to_vec(arm).unwrap_or_default();
        files::replace_durably(&self.path, &text).map_err(error::io("cannot write", &self.path))
    }

    pub fn remove(&self) -> Result<()> {
        files::remove(&self.path).map_err(error::io("cannot remove", &self.path))
    }
}

/// A file of ralph's own in a folder that is not.
#[derive(Debug, Clone)]
pub struct Own {
    pub path: PathBuf,
}

impl Own {
    /// Written with its folders, whatever stands there.
    pub fn write(&self, text: &str) -> Result<()> {
        let dir = self.path.parent().unwrap_or(&self.path);
        files::make_dir(dir)
            .and_then(|()| files::replace(&self.path, text.as_bytes()))
            .map_err(error::io("cannot write", &self.path))
    }

    /// Removed, with the folders that are empty then, up to `top`.
    pub fn remove(&self, top: &Path) -> Result<()> {
        files::remove(&self.path).map_err(error::io("cannot remove", &self.path))?;
        let above = self.path.ancestors().skip(1).take_while(|dir| *dir != top);
        // One that somebody else uses is not empty, and stays.
        let _ = above.map(std::fs::remove_dir).take_while(io::Result::is_ok).count();
        Ok(())
    }
}
