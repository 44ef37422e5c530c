//! Where a project is, and where ralph keeps what.

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::git::{self, GitError, Repo};

/// A project: a git work tree, or a plain folder.
#[derive(Debug, Clone)]
pub struct Project {
    pub root: PathBuf,
    pub repo: Option<Repo>,
    /// `.ralph/`: what people and agents read.
    pub ralph_dir: PathBuf,
    /// The truth: `<git dir>/ralph`, which survives `git clean -fdx` and `rm -rf .ralph`.
    pub truth: PathBuf,
}

impl Project {
    /// The project that the current folder is in: the git work tree, else the nearest folder above with a
    /// `.ralph/`, else the folder itself.
    pub fn find() -> Result<Self> {
        let cwd = std::env::current_dir()
            .map_err(|error| Error::new("the current folder cannot be found").because(error))?;
        Self::at(&cwd)
    }

    pub fn at(cwd: &Path) -> Result<Self> {
        let repo = git::discover(cwd).map_err(|error| match error {
            GitError::Missing => Error::new("git is not installed")
                .because("ralph measures what agents change with git, also in folders that are no repository")
                .hint("install git 2.34 or newer"),
            GitError::NoWorkTree { .. } => Error::new(error.to_string()).hint("run ralph in a work tree"),
            _ => Error::new(error.to_string()),
        })?;
        let root = match &repo {
            Some(repo) => repo.root.clone(),
            None => cwd.ancestors().find(|dir| dir.join(".ralph").is_dir()).unwrap_or(cwd).to_path_buf(),
        };
        let ralph_dir = root.join(".ralph");
        let truth = match &repo {
            Some(repo) => repo.git_dir.join("ralph"),
            None => ralph_dir.join(".state"),
        };
        Ok(Self { root, repo, ralph_dir, truth })
    }

    pub fn name(&self) -> String {
        self.root.file_name().map_or_else(|| "project".into(), |name| name.to_string_lossy().into_owned())
    }
}
