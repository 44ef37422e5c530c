//! Files that are named on the command line, from wherever it was typed.

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use crate::error::{Error, Result};
use crate::project::Project;
use crate::tree::{Tree, TreeId};
use crate::unix::names::OsStrExt;

/// As they were typed, and from the top of the project; none: every file is meant.
pub(super) struct Named(Vec<(PathBuf, PathBuf)>);

impl Named {
    pub(super) fn new(files: &[PathBuf], project: &Project) -> Result<Self> {
        let here = std::env::current_dir().ok();
        let root = project.root.canonicalize().unwrap_or_else(|_| project.root.clone());
        let below = |file: &PathBuf| {
            let whole = real(&here.as_deref().unwrap_or(&root).join(file));
            let below = whole.strip_prefix(&root).map(|below| (file.clone(), below.to_path_buf()));
            below.map_err(|_| {
                Error::usage(format!("{} is not in this project", file.display()))
                    .because(format!("its top is {}", root.display()))
            })
        };
        files.iter().map(below).collect::<Result<_>>().map(Self)
    }

    /// Whether this file is meant, or a folder that it is in.
    pub(super) fn covers(&self, path: &[u8]) -> bool {
        let path = Path::new(OsStr::from_bytes(path));
        self.0.is_empty() || self.0.iter().any(|(_, named)| path.starts_with(named))
    }

    /// Nobody may think that a file is as it was which no snapshot holds.
    pub(super) fn are_held(&self, tree: &Tree, snapshots: [&TreeId; 2]) -> Result<()> {
        let unknown = |named: &Path| {
            let holds = |snapshot: &&TreeId| tree.holds_any(snapshot, named.as_os_str()).unwrap_or(true);
            !named.as_os_str().is_empty() && !snapshots.iter().any(holds)
        };
        match self.0.iter().find(|(_, named)| unknown(named)) {
            None => Ok(()),
            Some((typed, _)) => {
                Err(Error::usage(format!("no snapshot holds {}; no file was touched", typed.display()))
                    .because("there is no such file, now or then, or git ignores it")
                    .hint("to see what an iteration changed: ralph history N"))
            }
        }
    }
}

/// The file itself need not be there, and a link is put back as a link; the folder that it is in may be reached by one.
fn real(path: &Path) -> PathBuf {
    let plain = plain(path);
    let there = plain.parent().and_then(|folder| folder.canonicalize().ok());
    match (there, plain.file_name()) {
        (Some(folder), Some(name)) => folder.join(name),
        _ => plain,
    }
}

/// Without `.` and `..`.
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
