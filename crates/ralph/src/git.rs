//! The only caller of git.
//!
//! git is run as a program, because it then honours the user's filters, worktrees, hooks and signing. Every call
//! goes through [`Call`], which keeps the environment of whoever started ralph out of it: a `GIT_DIR` or
//! `GIT_INDEX_FILE` that came along (from a hook, say) would point git at the wrong repository.
//!
//! | file | holds |
//! |---|---|
//! | `branch` | which branch is the main one; beginning another |
//! | `anchors` | commits that name evidence |
//! | `checkout` | a clean checkout elsewhere |
//! | `call` | one invocation: how it is built and run, and what its failure is called |
//! | `commit` | a commit of given contents, and of nothing else |
//! | `hooks` | the user's hooks, in custody |
//! | `index` | what is staged; changing single entries of the user's index |
//! | `history` | HEAD, branch, and the commits between two heads |
//! | `refs` | branches and tags, as files have them |
//!
//! Needs git 2.34 or newer.

mod anchors;
mod branch;
mod call;
mod checkout;
mod commit;
mod history;
mod hooks;
mod index;
mod refs;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use ralph_core::git_text;

use crate::process::SpawnError;
use crate::unix::names::OsStrExt;

pub use anchors::Named;
pub use call::Call;
pub use commit::{IDENTIFY, Made, NESTED, Wanted};
pub use history::Commits;
pub use hooks::Kept;
pub use index::{Entry, as_staged};

/// A repository with a working tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repo {
    /// Top of the working tree.
    pub root: PathBuf,
    /// Where HEAD and the index of this working tree are; each linked worktree has its own.
    pub git_dir: PathBuf,
    /// Where objects, branches and the configuration are; shared by linked worktrees.
    pub common_dir: PathBuf,
}

/// Why git did not answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GitError {
    #[error("git is not installed, or not on the PATH")]
    Missing,
    #[error("git could not be started: {0}")]
    Start(SpawnError),
    /// Dubious ownership, a broken `.git` file, a format that this git does not know.
    #[error("git refuses to work in {}: {reason}", dir.display())]
    Refused { dir: PathBuf, reason: String },
    #[error("{} has no working tree: it is a bare repository or the inside of a .git folder", dir.display())]
    NoWorkTree { dir: PathBuf },
    #[error("git {command} failed ({end}): {reason}")]
    Failed { command: &'static str, end: String, reason: String },
    /// What git printed and wrote without it would not be what the user wants.
    #[error(
        "git {command} ran a filter (.gitattributes) that was ended: it took more than half an hour, or ralph was asked to stop"
    )]
    Filter { command: &'static str },
    #[error("git {command} was ended: {why}")]
    Ended { command: &'static str, why: String },
    #[error("the {name} hook refused ({end}): {reason}")]
    Hook { name: &'static str, end: String, reason: String },
    #[error("git {command} gave an answer that makes no sense here: {reason}")]
    Strange { command: &'static str, reason: String },
}

impl GitError {
    /// Somebody else's git is at work in the repository, or left its lock behind.
    pub fn is_locked(&self) -> bool {
        matches!(self, Self::Failed { reason, .. } if is_locked(reason))
    }
}

/// Whether git says so.
pub fn is_locked(reason: &str) -> bool {
    reason.contains(".lock': File exists")
}

/// The repository whose working tree `cwd` is in; `None` if it is in no repository.
pub fn discover(cwd: &Path) -> Result<Option<Repo>, GitError> {
    let questions = [
        "--is-inside-work-tree",
        "--show-toplevel",
        "--absolute-git-dir",
        "--path-format=absolute",
        "--git-common-dir",
    ];
    let answer = Call::new(cwd, "rev-parse").args(questions).run()?;
    if !answer.end.success() {
        let reason = git_text::reason(&answer.stderr);
        return match answer.stdout.as_slice() {
            _ if reason.starts_with("not a git repository (or any") => Ok(None),
            b"false\n" => Err(GitError::NoWorkTree { dir: cwd.to_path_buf() }),
            _ => Err(GitError::Refused { dir: cwd.to_path_buf(), reason }),
        };
    }
    let lines: Vec<&[u8]> = answer.stdout.split(|byte| *byte == b'\n').collect();
    let path = |line: &[u8]| PathBuf::from(OsStr::from_bytes(line));
    match lines.as_slice() {
        [b"true", root, git_dir, common_dir, b""] => {
            Ok(Some(Repo { root: path(root), git_dir: path(git_dir), common_dir: path(common_dir) }))
        }
        [b"false", ..] => Err(GitError::NoWorkTree { dir: cwd.to_path_buf() }),
        _ => Err(GitError::Strange {
            command: "rev-parse",
            reason: "folders with a line break in their name are not supported".into(),
        }),
    }
}

/// As it is called in messages.
pub const NAME: &str = "git";

/// What `git version` says, such as `git version 2.43.0`.
pub fn version(cwd: &Path) -> Result<String, GitError> {
    let told = Call::new(cwd, "version").output()?;
    Ok(String::from_utf8_lossy(&told).trim().to_owned())
}

impl Repo {
    /// A call for this repository, at the top of its working tree.
    pub fn call(&self, command: &'static str) -> Call {
        Call::new(&self.root, command).env("GIT_DIR", &self.git_dir).env("GIT_WORK_TREE", &self.root)
    }
}
