//! The files on disk against the private index: what differs, and taking it in.

use ralph_core::git_text::{self, Change};

use super::memory::Memory;
use super::{Place, TreeError, WAITS, pause};
use crate::git::{Call, GitError};
use crate::process::Begun;

/// Untracked files over this size are named, not stored.
const BIG: u64 = 50_000_000;

/// Of a nested repository only the commit is part of a snapshot.
const UNSETTLED: &str = "a repository of its own with changes that are not committed, which are not measured";

/// What differs, and where HEAD is.
pub(super) struct Found {
    pub(super) head: Option<String>,
    pub(super) branch: Option<String>,
    /// Paths to take in. One that ends with a slash is a nested repository.
    pub(super) dirty: Vec<Vec<u8>>,
    /// What became of each of them since the last snapshot.
    pub(super) changes: Vec<Change>,
    /// Those of them that are no longer there.
    pub(super) gone: Vec<Vec<u8>>,
    /// A file with ignore rules is among them.
    pub(super) ignore_rules: bool,
    pub(super) too_big: Vec<Vec<u8>>,
    /// Where ralph's own words go: `nohup.out` grows with every line, and that is nobody's work.
    pub(super) own_output: Vec<Vec<u8>>,
    pub(super) problems: Vec<String>,
}

/// A comparison that git is making.
#[derive(Debug)]
pub(super) struct Looking {
    call: Call,
    begun: Begun,
}

/// Begins to compare. git may write the index here, to note files that were touched but are the same, so that it need not
/// read them next time; not if somebody `holds` it.
pub(super) fn begin_to_look(place: &Place, memory: &Memory, holds: bool) -> Result<Looking, TreeError> {
    let locks = if holds { "0" } else { "1" };
    let call = seeing_all(place, memory, "status").env("GIT_OPTIONAL_LOCKS", locks).args([
        "--porcelain=v2",
        "-z",
        "--branch",
        "--no-ahead-behind",
        "--no-renames",
        "--untracked-files=all",
        "--ignore-submodules=none",
    ]);
    let begun = call.begin()?;
    Ok(Looking { call, begun })
}

/// What the comparison came to.
pub(super) fn look(place: &Place, looking: Looking, outputs: &[(u64, u64)]) -> Result<Found, TreeError> {
    let Looking { call, begun } = looking;
    let captured = begun.finish(Vec::new()).map_err(GitError::Start)?;
    if !captured.end.success() {
        return Err(call.failure(&captured).into());
    }
    let status = git_text::parse_status(&captured.stdout)?;
    let mut found = Found {
        head: status.head,
        // Without git it is the branch of ralph's own repository.
        branch: status.branch.filter(|_| place.user_index.is_some()),
        dirty: Vec::new(),
        changes: Vec::new(),
        gone: Vec::new(),
        ignore_rules: false,
        too_big: Vec::new(),
        own_output: Vec::new(),
        problems: git_text::complaints(&captured.stderr),
    };
    for entry in status.dirty {
        if place.is_ours(&entry.path) {
            continue;
        }
        if !outputs.is_empty() && place.file_id(&entry.path).is_some_and(|id| outputs.contains(&id)) {
            found.own_output.push(entry.path);
            continue;
        }
        found.ignore_rules |= entry.path.rsplit(|b| *b == b'/').next() == Some(b".gitignore");
        if entry.gone {
            found.gone.push(entry.path.clone());
        }
        if !entry.in_head && place.file_size(&entry.path) > BIG {
            found.too_big.push(entry.path);
        } else {
            found.changes.push(Change { path: entry.path.clone(), kind: entry.kind, old: None, new: None });
            found.dirty.push(entry.path);
        }
    }
    found.too_big.sort();
    found.changes.sort_by(|one, other| one.path.cmp(&other.path));
    for path in status.unsettled.iter().filter(|path| !place.is_ours(path)) {
        let name = String::from_utf8_lossy(path);
        found.problems.push(format!("{name}: {UNSETTLED}"));
    }
    Ok(found)
}

/// What became of the private index.
pub(super) enum Taken {
    /// It has exactly what was found.
    All,
    /// Some of that, or something else: files moved, or could not be read.
    Some,
    Nothing,
}

/// Takes files into the private index by name, which spares git another walk over all of them. It stops at the first
/// file that it cannot read.
fn by_name(place: &Place, memory: &Memory) -> Call {
    let call = seeing_all(place, memory, "update-index");
    call.args(["-z", "--add", "--remove", "--replace", "--stdin"])
}

/// Begins to take in what is yet to be found: git gets ready meanwhile. It holds the private index until then. `None`: it
/// cannot be started, which whoever has something to take in finds out.
pub(super) fn begin_to_take_in(place: &Place, memory: &Memory) -> Option<Begun> {
    by_name(place, memory).begin().ok()
}

/// Takes the dirty files into the private index.
pub(super) fn take_in(
    place: &Place,
    memory: &Memory,
    found: &mut Found,
    begun: Option<Begun>,
) -> Result<Taken, TreeError> {
    if found.dirty.iter().all(|path| !path.ends_with(b"/")) {
        let names = list("", &found.dirty);
        let taken = match begun {
            Some(begun) => begun.finish(names).map_err(GitError::Start)?,
            None => by_name(place, memory).stdin(names).run()?,
        };
        if taken.end.success() {
            return Ok(Taken::All);
        }
    } else {
        drop(begun);
    }
    Ok(if add_all(place, memory, found)? { Taken::Some } else { Taken::Nothing })
}

/// Takes in all that can be read, and names the rest.
fn add_all(place: &Place, memory: &Memory, found: &mut Found) -> Result<bool, TreeError> {
    let mut paths = b":(top)\0".to_vec();
    paths.extend(list(":(exclude,top,literal)", &found.too_big));
    paths.extend(list(":(exclude,top,literal)", &found.own_output));
    paths.extend(list(":(exclude,top,literal)", place.ours()));
    let call = seeing_all(place, memory, "add").stdin(paths).args([
        "--all",
        "--verbose",
        "--sparse",
        "--ignore-errors",
        "--no-warn-embedded-repo",
        "--pathspec-from-file=-",
        "--pathspec-file-nul",
    ]);
    let mut changed = false;
    let mut waits = WAITS.into_iter();
    loop {
        let captured = call.run()?;
        // With --ignore-errors, exit 1 means: all but the files that are complained about.
        if !matches!(captured.end.code(), Some(0 | 1)) {
            return Err(call.failure(&captured).into());
        }
        changed |= !captured.stdout.is_empty();
        if git_text::files_moved(&captured.stderr)
            && let Some(wait) = waits.next()
        {
            pause(wait);
            continue;
        }
        for problem in git_text::complaints(&captured.stderr) {
            if !found.problems.contains(&problem) {
                found.problems.push(problem);
            }
        }
        return Ok(changed);
    }
}

/// A call that looks whether files that need not be there are there after all. Asked for only where it matters:
/// without patterns of a sparse checkout `git add` looks for them again at every file.
fn seeing_all(place: &Place, memory: &Memory, command: &'static str) -> Call {
    let call = place.call(command);
    if memory.skips {
        call.setting("core.sparseCheckout=true").setting("sparse.expectFilesOutsideOfPatterns=false")
    } else {
        call
    }
}

/// Paths for standard input, because they may be too many or too strange for arguments.
fn list<P: AsRef<[u8]>>(magic: &str, paths: impl IntoIterator<Item = P>) -> Vec<u8> {
    let mut list = Vec::new();
    for path in paths {
        list.extend_from_slice(magic.as_bytes());
        list.extend_from_slice(path.as_ref());
        list.push(0);
    }
    list
}
