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
        let known = cwd.ancestors().find(|dir| dir.join(".git").exists()).and_then(|root| {
            let git_dir = git_dir_of(&root.join(".git"))?;
            let (ralph_dir, truth) = (root.join(".ralph"), git_dir.join("ralph"));
            let usual = has_runs(&truth) && !has_runs(&ralph_dir.join(".state"));
            usual.then(|| Self { root: root.to_path_buf(), repo: None, ralph_dir, truth })
        });
        known.map_or_else(|| Self::at(&cwd), Ok)
    }

    /// The project above a folder in which a session may be held. Nobody is asked: every stop of every session comes
    /// here, and most have nothing to do with ralph.
    pub fn armed(from: &Path) -> Option<Self> {
        for root in from.ancestors() {
            let ralph_dir = root.join(".ralph");
            let truth = ralph_dir.join(".state");
            if truth.join(ARMED).is_file() {
                return Some(Self { root: root.to_path_buf(), repo: None, ralph_dir, truth });
            }
            let Some(git_dir) = git_dir_of(&root.join(".git")) else { continue };
            let truth = git_dir.join("ralph");
            if !truth.join(ARMED).is_file() {
                return None;
            }
            let common_dir = shared_by(&git_dir).unwrap_or_else(|| git_dir.clone());
            let repo = Some(Repo { root: root.to_path_buf(), git_dir, common_dir });
            return Some(Self { root: root.to_path_buf(), repo, ralph_dir, truth });
        }
        None
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
        Ok(Self { root, repo, ralph_dir, truth })
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
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let above = cwd.ancestors().skip(1).take_while(|dir| Some(*dir) != home.as_deref());
    std::iter::once(cwd).chain(above).find(|dir| has_runs(&dir.join(".ralph/.state"))).unwrap_or(cwd)
}

fn has_runs(truth: &Path) -> bool {
    truth.join("runs").is_dir()
}

/// A repository's `.git` is a folder, or, in a linked worktree, a file that names one.
fn git_dir_of(dot_git: &Path) -> Option<PathBuf> {
    if dot_git.is_dir() {
        return Some(dot_git.to_path_buf());
    }
    let text = std::fs::read_to_string(dot_git).ok()?;
    Some(dot_git.parent()?.join(text.strip_prefix("gitdir: ")?.trim_end()))
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
