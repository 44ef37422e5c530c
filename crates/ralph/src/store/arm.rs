//! Which session a run holds: one small file in the truth folder, looked at by every hook before anything else.

use std::io;
use std::path::{Path, PathBuf};

use ralph_core::session::Arm;

use super::{Lock, files};
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

    /// Only by whoever holds the lock, and has read it since: another hook may have been there.
    pub fn write(&self, arm: &Arm, _held: &Lock) -> Result<()> {
        let text = serde_json::to_vec(arm).unwrap_or_default();
        files::replace_durably(&self.path, &text).map_err(error::io("cannot write", &self.path))
    }

    pub fn remove(&self, _held: &Lock) -> Result<()> {
        files::remove(&self.path).map_err(error::io("cannot remove", &self.path))
    }
}
