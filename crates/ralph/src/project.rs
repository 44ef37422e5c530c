//! Where a project is, and where ralph keeps what.

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::git::{self, GitError, Repo};
use crate::suggest::quoted;

/// The file that says which session is held.
pub const ARMED: &str = "hook.json";

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
    /// The project that the current folder is in.
    pub fn find() -> Result<Self> {
        let cwd = std::env::current_dir()
            .map_err(|error| Error::new("the current folder cannot be found").because(error))?;
        Self::at(&cwd)
    }

    /// The same for commands that only look: where a run was made in this repository before, its truth folder tells,
    /// and git need not be asked.
    pub fn look() -> Result<Self> {
        let cwd = std::env::current_dir()
            .map_err(|error| Error::new("the current folder cannot be found").because(error))?;
        Self::look_from(&cwd)
    }

    /// The same for the project that a folder is in.
    pub fn look_from(dir: &Path) -> Result<Self> {
        match Self::by_its_folders(dir) {
            known if known.repo.is_some() && has_runs(&known.truth) => Ok(Self { repo: None, ..known }),
            _ => Self::at(dir),
        }
    }

    /// The project of a folder, if a session may be held there. Nobody is asked: every stop of every session comes here, and
    /// most have nothing to do with ralph.
    pub fn armed(from: &Path) -> Option<Self> {
        let from = from.canonicalize().unwrap_or_else(|_| from.to_path_buf());
        Some(Self::by_its_folders(&from)).filter(|project| project.truth.join(ARMED).is_file())
    }

    /// What [`Self::at`] finds, without git: where a repository is, is told by its `.git`.
    fn by_its_folders(cwd: &Path) -> Self {
        let repo = cwd.ancestors().find_map(|root| {
            let git_dir = git_dir_of(&root.join(".git"))?;
            let common_dir = shared_by(&git_dir).unwrap_or_else(|| git_dir.clone());
            Some(Repo { root: root.to_path_buf(), git_dir, common_dir })
        });
        Self::of(cwd, repo)
    }

    pub fn at(cwd: &Path) -> Result<Self> {
        let repo = git::discover(cwd).map_err(|error| match error {
            GitError::Missing => Error::new("git is not installed")
                .because("ralph measures what agents change with git, also in folders that are no repository")
                .hint("install git 2.34 or newer"),
            GitError::NoWorkTree { .. } => Error::new(error.to_string()).hint("run ralph in a work tree"),
            GitError::Start(_) => Error::new("the project cannot be found out about")
                .because(error)
                .hint("see that `git status` works here, then try again"),
            GitError::Refused { ref reason, .. } if reason.contains("dubious ownership") => {
                let named = reason.split('\'').nth(1).map_or_else(|| cwd.display().to_string(), Into::into);
                Error::new(error.to_string())
                    .because("the folder belongs to another user, and git trusts it only if you say so")
                    .hint(format!("git config --global --add safe.directory {}", quoted(&named)))
            }
            _ => Error::new(error.to_string()).hint("see that `git status` works here, then try again"),
        })?;
        Ok(Self::of(cwd, repo))
    }

    fn of(cwd: &Path, repo: Option<Repo>) -> Self {
        let root = match &repo {
            Some(repo) => repo.root.clone(),
            None => plain_root(cwd).to_path_buf(),
        };
        let ralph_dir = root.join(".ralph");
        let plain_truth = ralph_dir.join(".state");
        // What was begun without git stays where it is, though somebody made a repository here since: a truth that
        // moved would be forgotten, and its lock with it.
        let repo = repo.filter(|_| !has_runs(&plain_truth));
        let truth = match &repo {
            Some(repo) => repo.git_dir.join("ralph"),
            None => plain_truth,
        };
        Self { root, repo, ralph_dir, truth }
    }

    /// Whether the record lies in the project's folder, and so came with it if somebody handed the folder over.
    pub fn keeps_truth_in_tree(&self) -> bool {
        self.truth.starts_with(&self.ralph_dir)
    }

    pub fn name(&self) -> String {
        self.root.file_name().map_or_else(|| "project".into(), |name| name.to_string_lossy().into_owned())
    }
}

/// Without git: the nearest folder above in which something was run, but not the home folder or anything above it,
/// where one stray run would catch every folder below. Else the folder itself.
fn plain_root(cwd: &Path) -> &Path {
    let home = std::env::var_os("HOME").and_then(|home| PathBuf::from(home).canonicalize().ok());
    let below_home = |dir: &&Path| home.as_ref().is_none_or(|home| !home.starts_with(dir));
    let above = cwd.ancestors().skip(1).take_while(below_home);
    std::iter::once(cwd).chain(above).find(|dir| has_runs(&dir.join(".ralph/.state"))).unwrap_or(cwd)
}

fn has_runs(truth: &Path) -> bool {
    truth.join("runs").is_dir()
}

/// A repository's `.git` is a folder, or, in a linked worktree, a file that names one.
fn git_dir_of(dot_git: &Path) -> Option<PathBuf> {
    let git_dir = if dot_git.is_dir() {
        dot_git.to_path_buf()
    } else {
        let text = std::fs::read_to_string(dot_git).ok()?;
        dot_git.parent()?.join(text.strip_prefix("gitdir: ")?.trim_end())
    };
    // Without it git passes the folder over, too. But a record is found, though somebody removed the repository around it.
    let is_one = git_dir.join("HEAD").symlink_metadata().is_ok() || has_runs(&git_dir.join("ralph"));
    is_one.then_some(git_dir)
}

/// The git folder that a linked worktree shares with the others.
fn shared_by(git_dir: &Path) -> Option<PathBuf> {
    let shared = std::fs::read_to_string(git_dir.join("commondir")).ok()?;
    Some(git_dir.join(shared.trim_end()))
}

/// Where the repository of a linked worktree is at home: its main checkout, or the bare repository itself.
pub(crate) fn home_of_worktree(root: &Path) -> Option<PathBuf> {
    let shared = shared_by(&git_dir_of(&root.join(".git"))?)?.canonicalize().ok()?;
    match shared.file_name() {
        Some(name) if name == ".git" => Some(shared.parent()?.to_path_buf()),
        _ => Some(shared),
    }
}
