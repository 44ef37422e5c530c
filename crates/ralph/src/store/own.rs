//! Files that ralph leaves in an agent's own folder, and takes away again.

use std::io;
use std::path::{Path, PathBuf};

use super::files;
use crate::error::{self, Result};
use crate::point;

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

    /// What a ralph that was cut off while it wrote or edited this file left beside it.
    pub fn sweep(&self) -> Result<()> {
        let path = self.path.canonicalize().unwrap_or_else(|_| self.path.clone());
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_left = |entry: &str| {
            let rest = entry.strip_prefix('.').and_then(|rest| rest.strip_prefix(&*name)).unwrap_or_default();
            let middle = rest.strip_prefix('.').and_then(|rest| rest.strip_suffix("new"));
            middle
                .is_some_and(|middle| middle.trim_end_matches('.').bytes().all(|byte| byte.is_ascii_digit()))
        };
        let entries =
            path.parent().and_then(|dir| std::fs::read_dir(dir).ok()).into_iter().flatten().flatten();
        let left = entries.filter(|entry| entry.file_name().to_str().is_some_and(is_left));
        left.map(|entry| entry.path())
            .try_for_each(|path| files::remove(&path).map_err(error::io("cannot remove", &path)))
    }

    /// Removed, with the folders that are empty then, up to `top`.
    pub fn remove(&self, top: &Path) -> Result<()> {
        self.sweep()?;
        files::remove(&self.path).map_err(error::io("cannot remove", &self.path))?;
        let above = self.path.ancestors().skip(1).take_while(|dir| *dir != top);
        // One that somebody else uses is not empty, and stays.
        let remove = |dir: &Path| point::file("remove folder", dir).and_then(|()| std::fs::remove_dir(dir));
        let _ = above.map(remove).take_while(io::Result::is_ok).count();
        Ok(())
    }
}
