//! What is in the working tree and in no snapshot, with a stamp of each, so that a change is noticed.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use ralph_core::beside::{Beside, MOST, Why};
use ralph_core::gather::Gather as _;
use ralph_core::git_text;

use super::Place;
use super::files::Found;
use crate::unix::identity::MetadataExt;
use crate::unix::names::OsStrExt;
use crate::{bounded, digest};

/// How deep repositories within repositories are looked into, and into how many of them within one.
const DEPTH: usize = 4;
const WITHIN: usize = 10;
/// How many are asked at the same time.
const AT_ONCE: usize = 8;
/// Files up to this size are read. To read big ones before and after every agent would cost more than it tells.
const READ: u64 = 256 << 10;
/// Where more files are not committed in a nested repository, none of them is read.
const MANY: usize = 1_000;

pub(super) fn of(place: &Place, found: &Found) -> Vec<Beside> {
    let file = |(path, why): (&[u8], Why)| {
        let stamp = file_stamp(place, path)?;
        Some(Beside { path: String::from_utf8_lossy(path).into_owned(), why, stamp })
    };
    let files = left_out(found).into_iter().filter_map(file).take(MOST);
    let mut all: Vec<Beside> = nested(place, found).into_iter().chain(files).collect();
    all.sort_by(|one, other| one.path.cmp(&other.path));
    all
}

/// What to say where there are more than are looked at.
pub(super) fn unasked(found: &Found) -> Vec<String> {
    let more = |count: usize| count.checked_sub(MOST).filter(|more| *more > 0);
    let repositories = more(to_ask(found).len()).map(|more| {
        format!(
            "{more} of the repositories within this one were not looked into: a change there that is not committed is not noticed"
        )
    });
    let files = more(left_out(found).len()).map(|more| {
        format!(
            "{more} of the files that no snapshot holds were not looked at: a change of them is not noticed"
        )
    });
    repositories.into_iter().chain(files).collect()
}

/// Files that are left out, by name as well.
fn left_out(found: &Found) -> BTreeMap<&[u8], Why> {
    let big = found.too_big.iter().map(|path| (path.as_slice(), Why::Big));
    big.chain(found.refused.iter().map(|path| (path.as_slice(), Why::Filter))).into_map()
}

/// By name: which ones are asked, where there are too many, must not depend on the order in which they were found.
fn to_ask(found: &Found) -> BTreeSet<&[u8]> {
    found.nested.iter().map(Vec::as_slice).into_set()
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
    one.why != Why::Nested && file_stamp(place, one.path.as_bytes()).is_some_and(|stamp| one.is_like(&stamp))
}

fn file_stamp(place: &Place, path: &[u8]) -> Option<String> {
    let data = place.metadata(path)?;
    let (content, time) = stamp(&place.in_work_tree(OsStr::from_bytes(path)), &data, true);
    Some(time.map_or_else(|| content.clone(), |time| format!("{content}:{time}")))
}

/// What is known of its content, and its time where it was not read.
fn stamp(path: &Path, data: &Metadata, reads: bool) -> (String, Option<String>) {
    let size = data.size();
    let bytes = match data.file_type() {
        kind if kind.is_symlink() => fs::read_link(path).ok().map(|to| to.as_os_str().as_bytes().to_vec()),
        kind if kind.is_file() && reads => bounded::read(path, READ).ok(),
        _ => None,
    };
    match bytes {
        Some(bytes) => (format!("{size}-{}", digest::of(&bytes)), None),
        None => (size.to_string(), Some(format!("{}.{:09}", data.mtime(), data.mtime_nsec()))),
    }
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
    let (mut text, mut times) = (lines.join(&0), Vec::new());
    let reads = status.dirty.len() <= MANY;
    for dirty in &status.dirty {
        let path = dir.join(OsStr::from_bytes(&dirty.path));
        let known = path.symlink_metadata().map(|data| stamp(&path, &data, reads));
        let (content, time) = known.unwrap_or_default();
        text.extend(content.bytes().chain([0]));
        times.extend(time.unwrap_or_default().bytes());
    }
    let inside = status.dirty.iter().filter(|dirty| dirty.path.ends_with(b"/")).map(|dirty| &dirty.path);
    let inside: BTreeSet<&Vec<u8>> = status.unsettled.iter().chain(inside).into_set();
    for path in inside {
        let Some(left) = within.checked_sub(1) else { break };
        *within = left;
        let deeper = uncommitted(place, &dir.join(OsStr::from_bytes(path)), depth - 1, within);
        let deeper = deeper.unwrap_or_default();
        let (content, time) = deeper.split_once(':').unwrap_or((&deeper, ""));
        text.extend(content.bytes().chain([0]));
        times.extend(time.bytes());
    }
    let content = digest::of(&text);
    Some(if times.is_empty() { content } else { format!("{content}:{}", digest::of(&times)) })
}
