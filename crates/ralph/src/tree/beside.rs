//! What is in the working tree and in no snapshot, with a stamp of each, so that a change is noticed.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::Metadata;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use ralph_core::beside::{Beside, Why};
use ralph_core::git_text;

use super::Place;
use super::files::Found;
use crate::digest;
use crate::unix::identity::MetadataExt;
use crate::unix::names::OsStrExt;

/// How many are kept in mind.
const MOST: usize = 100;
/// How deep repositories within repositories are looked into, and into how many of them within one.
const DEPTH: usize = 4;
const WITHIN: usize = 10;
/// How many are asked at the same time.
const AT_ONCE: usize = 8;

pub(super) fn of(place: &Place, found: &Found) -> Vec<Beside> {
    let file = |path: &[u8], why: Why| {
        let stamp = stamp(&place.metadata(path)?);
        Some(Beside { path: String::from_utf8_lossy(path).into_owned(), why, stamp })
    };
    let big = found.too_big.iter().filter_map(|path| file(path, Why::Big));
    let refused = found.refused.iter().filter_map(|path| file(path, Why::Filter));
    let mut all: Vec<Beside> =
        nested(place, found).into_iter().chain(big.chain(refused).take(MOST)).collect();
    all.sort_by(|one, other| one.path.cmp(&other.path));
    all
}

/// What to say where there are more repositories than are looked into.
pub(super) fn unasked(found: &Found) -> Option<String> {
    let more = to_ask(found).len().checked_sub(MOST).filter(|more| *more > 0)?;
    Some(format!(
        "{more} of the repositories within this one were not looked into: a change there that is not committed is not noticed"
    ))
}

/// By name: which ones are asked, where there are too many, must not depend on the order in which they were found.
fn to_ask(found: &Found) -> BTreeSet<&[u8]> {
    found.nested.iter().map(Vec::as_slice).collect()
}

/// What is not committed in nested repositories. Each needs a git of its own, so several are asked at the same time.
fn nested(place: &Place, found: &Found) -> Vec<Beside> {
    let asked: Vec<&[u8]> = to_ask(found).into_iter().take(MOST).collect();
    let next = AtomicUsize::new(0);
    let work = || {
        let mut told = Vec::new();
        while let Some(path) = asked.get(next.fetch_add(1, Ordering::Relaxed)) {
            let dir = place.in_work_tree(OsStr::from_bytes(path));
            let stamp = uncommitted(place, &dir, DEPTH, &mut { WITHIN });
            let path = || format!("{}/", String::from_utf8_lossy(path));
            told.extend(stamp.map(|stamp| Beside { path: path(), why: Why::Nested, stamp }));
        }
        told
    };
    thread::scope(|scope| {
        let others: Vec<_> = (1..asked.len().min(AT_ONCE)).map(|_| scope.spawn(work)).collect();
        let mine = work();
        let theirs = others.into_iter().flat_map(|other| other.join().unwrap_or_default());
        mine.into_iter().chain(theirs).collect()
    })
}

/// Whether it is still there as it was.
pub(super) fn is_same(place: &Place, one: &Beside) -> bool {
    one.why != Why::Nested
        && place.metadata(one.path.as_bytes()).is_some_and(|data| stamp(&data) == one.stamp)
}

fn stamp(data: &Metadata) -> String {
    format!("{}:{}.{:09}", data.size(), data.mtime(), data.mtime_nsec())
}

/// A digest of what is not committed in the repository at `dir`; `None` where there is nothing, or nobody can tell.
/// `within`: into how many repositories within it somebody may still look.
fn uncommitted(place: &Place, dir: &Path, depth: usize, within: &mut usize) -> Option<String> {
    // Without one of its own git would take the repository around it.
    if depth == 0 || dir.join(".git").symlink_metadata().is_err() {
        return None;
    }
    let call = place.call_below(dir, "status").env("GIT_CEILING_DIRECTORIES", dir.parent()?);
    let call = call.args([
        "--porcelain=v2",
        "-z",
        "--branch",
        "--no-ahead-behind",
        "--no-renames",
        "--untracked-files=all",
        "--ignore-submodules=none",
    ]);
    let told = call.output().ok()?;
    let status = git_text::parse_status(&told).ok()?;
    let lines = told.split(|byte| *byte == 0);
    // Where HEAD is the snapshot tells.
    let lines: Vec<&[u8]> = lines.filter(|line| !line.is_empty() && !line.starts_with(b"# ")).collect();
    if lines.is_empty() {
        return None;
    }
    let mut text = lines.join(&0);
    for dirty in &status.dirty {
        let path = dir.join(OsStr::from_bytes(&dirty.path));
        text.extend(path.symlink_metadata().map(|data| stamp(&data)).unwrap_or_default().bytes());
        text.push(0);
    }
    let inside = status.dirty.iter().filter(|dirty| dirty.path.ends_with(b"/")).map(|dirty| &dirty.path);
    let inside: BTreeSet<&Vec<u8>> = status.unsettled.iter().chain(inside).collect();
    for path in inside {
        let Some(left) = within.checked_sub(1) else { break };
        *within = left;
        let deeper = uncommitted(place, &dir.join(OsStr::from_bytes(path)), depth - 1, within);
        text.extend(deeper.unwrap_or_default().bytes());
        text.push(0);
    }
    Some(digest::of(&text))
}
