//! What the user trusts, outside of every repository: `$XDG_STATE_HOME/ralph/trust/`, one file a project.

use std::io;
use std::path::{Path, PathBuf};

use ralph_core::text;
use serde::{Deserialize, Serialize};

use super::files;
use crate::trust::Command;

/// The file of one project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustFile {
    path: PathBuf,
    project: String,
}

#[derive(Serialize, Deserialize)]
struct Content {
    /// Its real path. The file's name is only a hash of it.
    project: String,
    commands: Vec<Command>,
}

impl TrustFile {
    /// `None` where there is no place to keep it.
    pub fn of(root: &Path) -> Option<Self> {
        let folder = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let state =
            folder("XDG_STATE_HOME").or_else(|| folder("HOME").map(|home| home.join(".local/state")))?;
        let root = root.canonicalize().ok()?;
        // Bytes that are no text are written out, so that no two folders share a name.
        let project = root.to_str().map_or_else(|| format!("{root:?}"), str::to_owned);
        let name = format!("{:016x}.json", text::hash(&project));
        Some(Self { path: state.join("ralph/trust").join(name), project })
    }

    /// The commands that were agreed to; `None` if nobody was asked about this project yet.
    pub fn read(&self) -> Option<Vec<Command>> {
        let content: Content = serde_json::from_slice(&std::fs::read(&self.path).ok()?).ok()?;
        (content.project == self.project).then_some(content.commands)
    }

    pub fn write(&self, commands: &[Command]) -> io::Result<()> {
        let content = Content { project: self.project.clone(), commands: commands.to_vec() };
        self.path.parent().map_or(Ok(()), files::private_dir)?;
        files::replace_durably(&self.path, serde_json::to_string_pretty(&content)?.as_bytes())
    }
}
