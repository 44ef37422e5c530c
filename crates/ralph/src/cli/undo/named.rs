//! Files that are named on the command line, from wherever it was typed.

use std::path::{Component, Path, PathBuf};

use crate::error::{Error, Result};
use crate::project::Project;
use crate::unix::names::OsStrExt;

/// From the top of the project; none: every file is meant.
pub(super) struct Named(Vec<PathBuf>);

impl Named {
    pub(super) fn new(files: &[PathBuf], project: &Project) -> Result<Self> {
        let here = std::env::current_dir().ok().and_then(|here| here.canonicalize().ok());
        let root = project.root.canonicalize().unwrap_or_else(|_| project.root.clone());
        let below = |file: &PathBuf| {
            let whole = plain(&here.as_deref().unwrap_or(&root).join(file));
            whole.strip_prefix(&root).map(Path::to_path_buf).map_err(|_| {
                Error::usage(format!("{} is not in this project", file.display()))
                    .because(format!("its top is {}", root.display()))
            })
        };
        files.iter().map(below).collect::<Result<_>>().map(Self)
    }

    /// Whether this file is meant, or a folder that it is in.
    pub(super) fn covers(&self, path: &[u8]) -> bool {
        let path = Path::new(std::ffi::OsStr::from_bytes(path));
        self.0.is_empty() || self.0.iter().any(|named| path.starts_with(named))
    }
}

/// Without `.` and `..`: the file need not be there.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    plain
}
