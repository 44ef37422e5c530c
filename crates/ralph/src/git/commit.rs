//! Committing named paths and nothing else. What is staged of other paths stays staged, and the user's hooks and
//! signing have their say.

use std::path::Path;

use ralph_core::git_text::is_object_id;

use super::{Call, GitError, Repo};

/// How far back a commit of ours is looked for: it was made moments before ralph was cut off.
const RECENT: &str = "--max-count=50";

impl Repo {
    /// The newest commit of HEAD that carries this trailer with this value.
    pub fn commit_with_trailer(&self, name: &str, value: &str) -> Result<Option<String>, GitError> {
        if self.head()?.is_none() {
            return Ok(None);
        }
        let format = format!("--format=%H %(trailers:key={name},valueonly,separator=%x20)");
        let output = self.call("log").args([RECENT, "--no-show-signature", &format, "HEAD"]).output()?;
        let text = String::from_utf8_lossy(&output);
        let found =
            text.lines().filter_map(|line| line.split_once(' ')).find(|(_, found)| found.trim() == value);
        Ok(found.map(|(id, _)| id.to_owned()).filter(|id| is_object_id(id)))
    }

    /// The tree of a commit; of `None` the tree without files.
    pub fn tree_of(&self, commit: Option<&str>) -> Result<String, GitError> {
        let call = match commit {
            Some(commit) => self.call("rev-parse").args(["--verify", &format!("{commit}^{{tree}}")]),
            None => self.call("hash-object").args(["-t", "tree", "/dev/null"]),
        };
        call.line()?.filter(|id| is_object_id(id)).ok_or_else(|| call.strange("a tree was asked for"))
    }

    /// Whether a merge, a rebase or the like is under way, in which a commit of single paths would be wrong.
    pub fn is_busy(&self) -> Option<&'static str> {
        let there = |name: &str| self.git_dir.join(name).exists();
        [
            ("MERGE_HEAD", "a merge"),
            ("CHERRY_PICK_HEAD", "a cherry-pick"),
            ("REVERT_HEAD", "a revert"),
            ("rebase-merge", "a rebase"),
            ("rebase-apply", "a rebase"),
        ]
        .into_iter()
        .find(|(name, _)| there(name))
        .map(|(_, what)| what)
    }

    /// Commits these paths as they are on disk. `list` is a file of ours for their names. `Err` leaves the index as it
    /// was, but for paths that could not be taken out of it again.
    pub fn commit_paths(&self, paths: &[Vec<u8>], list: &Path, message: &str) -> Result<String, GitError> {
        let new: Vec<Vec<u8>> = self.unknown_to_the_index(paths)?;
        if !new.is_empty() {
            // A commit of single paths knows only what the index knows.
            let add = ["--intent-to-add", "--pathspec-from-file=-", "--pathspec-file-nul"];
            self.literal("add").args(add).stdin(joined(&new)).output()?;
        }
        let from_file = format!("--pathspec-from-file={}", list.display());
        let only = ["--quiet", "--only", "--file=-", "--pathspec-file-nul", &from_file];
        let commit = self.literal("commit").as_the_user().args(only);
        if let Err(error) = commit.stdin(message.as_bytes().to_vec()).output() {
            if !new.is_empty() {
                let reset = ["--quiet", "--pathspec-from-file=-", "--pathspec-file-nul"];
                let _ = self.literal("reset").args(reset).stdin(joined(&new)).output();
            }
            return Err(error);
        }
        self.head()?.ok_or_else(|| self.call("commit").strange("there is no commit afterwards"))
    }

    /// Those of the paths that are on disk and not in the user's index.
    fn unknown_to_the_index(&self, paths: &[Vec<u8>]) -> Result<Vec<Vec<u8>>, GitError> {
        let known = self.literal("ls-files").args(["-z", "--cached"]).output()?;
        let known: std::collections::HashSet<&[u8]> = known.split(|byte| *byte == 0).collect();
        let on_disk = |path: &[u8]| {
            use crate::unix::names::OsStrExt;
            self.root.join(std::ffi::OsStr::from_bytes(path)).symlink_metadata().is_ok()
        };
        let unknown = paths.iter().filter(|path| !known.contains(path.as_slice()) && on_disk(path));
        Ok(unknown.cloned().collect())
    }

    /// A call that takes names as they are. It may write the index: its locks are not optional.
    fn literal(&self, command: &'static str) -> Call {
        self.call(command).env("GIT_LITERAL_PATHSPECS", "1")
    }
}

/// Names for git, each ended by NUL.
pub fn joined(paths: &[Vec<u8>]) -> Vec<u8> {
    paths.iter().flat_map(|path| path.iter().copied().chain([0])).collect()
}
