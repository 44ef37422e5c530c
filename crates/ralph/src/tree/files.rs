//! The files on disk against the private index: what differs, and taking it in.

use std::collections::HashSet;

use ralph_core::git_text::{self, Change, ChangeKind};

use super::memory::Memory;
use super::place::{lenient, storing};
use super::{Place, TreeError, WAITS, pause};
use crate::git::Call;
use crate::process::Begun;

/// Untracked files over this size are named, not stored.
const BIG: u64 = 50_000_000;

/// Of a nested repository only the commit is part of a snapshot.
const UNSETTLED: &str =
    "a repository of its own with changes that are not committed, which no snapshot holds";

/// Has git warn of files that will not have the same line ends when it puts them back.
const TELLING: &str = "core.safecrlf=warn";

/// How many filters may fail.
const FILTERS: usize = 10;

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
    /// Files that are left out and of which the private index has an earlier content.
    pub(super) outdated: Vec<Vec<u8>>,
    /// Files that a filter of the user's refuses.
    pub(super) refused: Vec<Vec<u8>>,
    /// Nested repositories in which something may not be committed, without a slash at their end.
    pub(super) nested: Vec<Vec<u8>>,
    /// Where ralph's own words go: `nohup.out` grows with every line, and that is nobody's work.
    pub(super) own_output: Vec<Vec<u8>>,
    pub(super) problems: Vec<String>,
    /// Files that were taken in and whose line ends will be others when they are put back.
    pub(super) converted: Vec<String>,
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
pub(super) fn look(place: &mut Place, looking: Looking, outputs: &[(u64, u64)]) -> Result<Found, TreeError> {
    let Looking { mut call, begun } = looking;
    let mut captured = call.finish(begun, Vec::new())?;
    while !captured.end.success()
        && let Some(filter) = learn(place, &captured.stderr)
    {
        call = lenient(call, &filter);
        captured = call.run()?;
    }
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
        outdated: Vec::new(),
        refused: Vec::new(),
        nested: status.unsettled.iter().filter(|path| !place.is_ours(path)).cloned().collect(),
        own_output: Vec::new(),
        problems: git_text::complaints(&captured.stderr),
        converted: Vec::new(),
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
        if let Some(path) = entry.path.strip_suffix(b"/") {
            found.nested.push(path.to_vec());
        }
        if !entry.in_head && place.file_size(&entry.path) > BIG {
            if entry.kind != ChangeKind::Added {
                found.outdated.push(entry.path.clone());
            }
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
    let call = storing(seeing_all(place, memory, "update-index").setting(TELLING));
    call.args(["-z", "--add", "--remove", "--replace", "--stdin"])
}

/// Begins to take in what is yet to be found: git gets ready meanwhile. It holds the private index until then. `None`: it
/// cannot be started, which whoever has something to take in finds out.
pub(super) fn begin_to_take_in(place: &Place, memory: &Memory) -> Option<Begun> {
    by_name(place, memory).begin().ok()
}

/// Takes the dirty files into the private index.
pub(super) fn take_in(
    place: &mut Place,
    memory: &Memory,
    found: &mut Found,
    begun: Option<Begun>,
) -> Result<Taken, TreeError> {
    if place.failing.is_empty() && found.dirty.iter().all(|path| !path.ends_with(b"/")) {
        let names = list("", &found.dirty);
        let taken = match begun {
            Some(begun) => by_name(place, memory).finish(begun, names)?,
            None => by_name(place, memory).stdin(names).run()?,
        };
        if taken.end.success() {
            found.converted.extend(git_text::other_line_ends(&taken.stderr));
            return Ok(Taken::All);
        }
    } else {
        drop(begun);
    }
    Ok(if add_all(place, memory, found)? { Taken::Some } else { Taken::Nothing })
}

/// Takes in all that can be read, and names the rest.
fn add_all(place: &mut Place, memory: &Memory, found: &mut Found) -> Result<bool, TreeError> {
    let mut changed = false;
    let mut waits = WAITS.into_iter();
    loop {
        if !place.failing.is_empty() {
            leave_out(place, found)?;
        }
        let call = adding(place, memory, found);
        let captured = call.run()?;
        changed |= !captured.stdout.is_empty();
        if !captured.end.success() && learn(place, &captured.stderr).is_some() {
            continue;
        }
        // With --ignore-errors, exit 1 means: all but the files that are complained about.
        if !matches!(captured.end.code(), Some(0 | 1)) {
            return Err(call.failure(&captured).into());
        }
        if git_text::files_moved(&captured.stderr)
            && let Some(wait) = waits.next()
        {
            pause(wait);
            continue;
        }
        found.converted.extend(git_text::other_line_ends(&captured.stderr));
        for problem in git_text::complaints(&captured.stderr) {
            if !found.problems.contains(&problem) {
                found.problems.push(problem);
            }
        }
        return Ok(changed);
    }
}

/// A call that takes in all but what no snapshot is to hold.
fn adding(place: &Place, memory: &Memory, found: &Found) -> Call {
    let mut paths = b":(top)\0".to_vec();
    for others in [&found.too_big, &found.refused, &found.own_output] {
        paths.extend(list(":(exclude,top,literal)", others));
    }
    paths.extend(list(":(exclude,top,literal)", place.ours()));
    seeing_all(place, memory, "add").setting(TELLING).stdin(paths).args([
        "--all",
        "--verbose",
        "--sparse",
        "--ignore-errors",
        "--no-warn-embedded-repo",
        "--pathspec-from-file=-",
        "--pathspec-file-nul",
    ])
}

/// Notes a filter that failed; `None` where git complains of something else, or of too many of them.
fn learn(place: &mut Place, stderr: &[u8]) -> Option<String> {
    let filter = git_text::failed_filter(stderr)?.to_owned();
    let new = !place.failing.contains(&filter) && place.failing.len() < FILTERS;
    new.then(|| {
        place.failing.push(filter.clone());
        filter
    })
}

/// Leaves out the files that are to go through a filter that failed. What is gone goes through none.
fn leave_out(place: &Place, found: &mut Found) -> Result<(), TreeError> {
    let gone: HashSet<&Vec<u8>> = found.gone.iter().collect();
    let there = found.dirty.iter().filter(|path| !gone.contains(path));
    let call = place.call("check-attr").args(["-z", "--stdin", "filter"]).stdin(list("", there));
    let answer = call.output()?;
    found.refused.clear();
    for filter in &place.failing {
        for path in git_text::with_attribute(&answer, filter)? {
            let name = String::from_utf8_lossy(&path);
            let problem = format!("{name}: its filter '{filter}' fails, so no snapshot holds it");
            if !found.problems.contains(&problem) {
                found.problems.push(problem);
            }
            let was_there = |known: &Change| known.path == path && known.kind != ChangeKind::Added;
            if found.changes.iter().any(was_there) && !found.outdated.contains(&path) {
                found.outdated.push(path.clone());
            }
            found.refused.push(path);
        }
    }
    Ok(())
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
