//! What is staged, what differs from HEAD, and changing single entries of the user's index.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::time::Duration;

use ralph_core::git_text::{self, Change, Object};
use ralph_core::lost::Staged;

use super::{Call, GitError, Repo};
use crate::store;

/// How long to wait before the next attempts while somebody else's git holds a lock: over three seconds in all.
const WAITS_MS: [u64; 6] = [50, 100, 200, 400, 800, 1_600];

/// What is to be at a path; `None`: nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub path: Vec<u8>,
    pub object: Option<Object>,
}

impl Repo {
    /// Whether a tracked file is another one in HEAD.
    pub fn differs_from_head(&self, path: &OsStr) -> Result<bool, GitError> {
        let mut literal = OsString::from(":(literal)");
        literal.push(path);
        let call = self.call("diff").args(["--quiet", "--no-ext-diff", "HEAD", "--"]).arg(literal);
        let captured = call.run()?;
        match captured.end.code() {
            Some(0) => Ok(false),
            Some(1) => Ok(true),
            _ => Err(call.failure(&captured)),
        }
    }

    /// As git tells it, for [`Repo::read_staged`].
    pub fn staged_raw(&self) -> Result<Vec<u8>, GitError> {
        // Asked before and after every agent: where HEAD is, and which tree it stands for, git finds out by itself.
        match self.diff_index().args(["HEAD", "--"]).output() {
            Err(GitError::Failed { .. }) if self.head()?.is_none() => {
                self.diff_index().arg(self.tree_of(None)?).output()
            }
            told => told,
        }
    }

    fn diff_index(&self) -> Call {
        let call = self.call("diff-index").measuring().args(["--cached", "-z", "--no-renames"]);
        call.args(["--ignore-submodules=none", "--diff-filter=ACDMT"])
    }

    /// What was staged by a copy of an index, where this commit was HEAD.
    pub fn staged_by(&self, index: &Path, head: Option<&str>) -> Result<Staged, GitError> {
        let call = self.diff_index().env("GIT_INDEX_FILE", index).arg(self.tree_of(head)?);
        Self::read_staged(&call.output()?)
            .ok_or_else(|| call.strange("a list of what is staged was asked for"))
    }

    pub fn read_staged(raw: &[u8]) -> Option<Staged> {
        Some(as_staged(git_text::parse_diff(raw).ok()?))
    }

    /// From what HEAD holds to what is staged.
    pub fn staged(&self) -> Result<Vec<Change>, GitError> {
        let unknown = |_| self.call("diff-index").strange("a list of what is staged was asked for");
        git_text::parse_diff(&self.staged_raw()?).map_err(unknown)
    }

    /// Puts these entries into the user's index and leaves the others alone. `like` is any id of this repository.
    pub fn stage(&self, entries: &[Entry], like: &str) -> Result<(), GitError> {
        if entries.is_empty() {
            return Ok(());
        }
        for piece in pieces(&index_info(entries, like), HELD_BY_A_PIPE) {
            let call = self.call("update-index").args(["-z", "--replace", "--index-info"]);
            let call = call.stdin(piece.to_vec());
            when_unlocked(|| call.output())?;
        }
        // What was put in carries no times yet, and `git diff-index` would take it for changed. Other files may be so.
        let _ = self.call("update-index").args(["-q", "--refresh"]).run();
        Ok(())
    }
}

/// Tries again for a while where somebody else's git is at work. A lock that stays is not ours to remove.
pub(super) fn when_unlocked<T>(mut attempt: impl FnMut() -> Result<T, GitError>) -> Result<T, GitError> {
    for wait in WAITS_MS {
        match attempt() {
            Err(error) if error.is_locked() => store::pause(Duration::from_millis(wait)),
            done => return done,
        }
    }
    attempt()
}

pub fn as_staged(changes: Vec<Change>) -> Staged {
    changes.into_iter().map(|change| (change.path, change.new)).collect()
}

/// What git has whole as soon as it is written, though ralph were killed then: of a list that breaks off in the middle of a name
/// git takes the half name for one.
const HELD_BY_A_PIPE: usize = 32 << 10;

/// A list of names in pieces of at most so many bytes, as long as no name is longer.
fn pieces(mut list: &[u8], most: usize) -> Vec<&[u8]> {
    let mut pieces = vec![];
    while !list.is_empty() {
        let end = |bytes: &[u8]| bytes.iter().rposition(|byte| *byte == 0).map(|at| at + 1);
        let whole = list.get(..most).map_or(Some(list.len()), end);
        let first = || list.iter().position(|byte| *byte == 0).map_or(list.len(), |at| at + 1);
        let (piece, rest) = list.split_at(whole.unwrap_or_else(first));
        pieces.push(piece);
        list = rest;
    }
    pieces
}

/// For `update-index --index-info -z`. What goes comes first: a file may make room for a folder.
pub(super) fn index_info(entries: &[Entry], like: &str) -> Vec<u8> {
    let (gone, there): (Vec<&Entry>, Vec<&Entry>) = entries.iter().partition(|entry| entry.object.is_none());
    let mut text = Vec::new();
    for entry in gone.into_iter().chain(there) {
        match &entry.object {
            Some(Object { mode, id }) => text.extend(format!("{mode:o} {id}\t").bytes()),
            None => text.extend(format!("0 {}\t", "0".repeat(like.len())).bytes()),
        }
        text.extend_from_slice(&entry.path);
        text.push(0);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_cut_between_names_only_and_nothing_of_it_is_lost() {
        let list = b"one\0two\0three\0a name that is longer than a piece\0four\0";
        for most in 1..=list.len() + 1 {
            let cut = pieces(list, most);
            assert_eq!(cut.concat(), list, "{most}");
            assert!(cut.iter().all(|piece| piece.ends_with(b"\0")), "{most}");
            let one = |piece: &&&[u8]| piece.iter().filter(|byte| **byte == 0).count() > 1;
            assert!(cut.iter().filter(one).all(|piece| piece.len() <= most), "{most}");
        }
        assert_eq!(pieces(list, 8)[0], b"one\0two\0");
        assert!(pieces(b"", 8).is_empty());
    }
}
