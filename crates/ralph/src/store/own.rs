//! Files that ralph leaves in an agent's own folder, and takes away again.

use std::io;
use std::path::{Path, PathBuf};

use super::files;
use crate::error::{self, Result};

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
