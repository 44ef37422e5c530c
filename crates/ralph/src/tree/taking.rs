//! Taking files into the private index without git, which would cost a process and a new file for each of them. Only where that is sure to
//! come to the same: plain files that nothing converts, in an index of a known form. Else git does it.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io::Read;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use ralph_core::git_index::{self, Held, Stat};
use ralph_core::git_object::{self, Kind};
use ralph_core::git_text::ChangeKind;
use ralph_core::time::Time;

use super::files::Found;
use super::plain::Plain;
use super::spool::Spool;
use super::{Place, TreeId};
use crate::store;
use crate::unix::identity::MetadataExt;
use crate::unix::names::OsStrExt;

/// More than these, or larger ones, are left to git.
const MOST_FILES: usize = 1_000;
const MOST_BYTES: u64 = 4 << 20;
/// The first bits of a mode that let the owner run a file.
const EXECUTABLE: u32 = 0o100;
/// What takes turns with the private index.
pub(super) const OTHER_INDEX: &str = "index.other";
/// How many milliseconds the times of files may lag behind the clock.
const TICK: u64 = 20;

/// Takes in all that differs by a look that began at `since`. `false`: nothing was done, and git has to do it.
pub(super) fn take_in(
    place: &Place,
    before: &TreeId,
    since: Time,
    found: &Found,
    plain: &mut Plain,
    spool: &Spool,
) -> bool {
    let is_ours = |path: &Vec<u8>| !path.ends_with(b"/") && name(path) != b".gitattributes";
    let mut new = found.changes.iter().filter(|change| change.kind == ChangeKind::Added);
    if !place.failing.is_empty()
        || found.dirty.len() > MOST_FILES
        || !found.dirty.iter().all(is_ours)
        || new.any(|change| is_odd(&change.path))
        || !plain.holds(place, &found.dirty)
    {
        return false;
    }
    let Some(files) = read(place, found) else { return false };
    let held = files.iter().map(|(path, file)| (path.clone(), file.as_ref().map(|file| file.held))).collect();
    let index = std::fs::read(place.index()).ok();
    let Some(index) = index.and_then(|index| git_index::changed(&index, before.as_str(), &held)) else {
        return false;
    };
    let blobs: Vec<(Kind, &[u8])> =
        files.values().flatten().map(|file| (Kind::Blob, file.content.as_slice())).collect();
    // git takes a file for unchanged that is older than its index; one that somebody wrote to since the look is not to be.
    let time = u64::try_from(since.millis()).unwrap_or_default().saturating_sub(TICK);
    let time = UNIX_EPOCH + Duration::from_millis(time);
    let other = place.beside(OTHER_INDEX);
    spool.add(place, &blobs) && store::take_turns_as_of(&other, &place.index(), &index, Some(time)).is_ok()
}

/// The tree that the private index stands for, stored as far as folders with something new in them go. `None`: git has to make it.
pub(super) fn tree(place: &Place, before: &TreeId, changed: &[Vec<u8>], spool: &Spool) -> Option<TreeId> {
    let index = std::fs::read(place.index()).ok()?;
    let folders = |path: &Vec<u8>| -> Vec<Vec<u8>> {
        let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/');
        slashes.map(|(at, _)| path[..=at].to_vec()).collect()
    };
    let within: BTreeSet<Vec<u8>> = changed.iter().flat_map(folders).collect();
    let trees = git_index::trees_of(&index, before.as_str(), &within)?;
    let contents: Vec<(Kind, &[u8])> =
        trees.contents.iter().map(|content| (Kind::Tree, content.as_slice())).collect();
    spool.add(place, &contents).then(|| TreeId::new(&trees.top)).flatten()
}

struct Plainly {
    held: Held,
    content: Vec<u8>,
}

/// The files as they are; `None` for those that are gone. The outer `None`: one of them is not what is taken in here.
fn read(place: &Place, found: &Found) -> Option<BTreeMap<Vec<u8>, Option<Plainly>>> {
    let gone: BTreeSet<&Vec<u8>> = found.gone.iter().collect();
    let mut left = MOST_BYTES;
    let mut files = BTreeMap::new();
    for path in &found.dirty {
        let file = match gone.contains(path) {
            true => None,
            false => {
                let file = read_one(place, path, left)?;
                left -= file.content.len() as u64;
                Some(file)
            }
        };
        files.insert(path.clone(), file);
    }
    Some(files)
}

fn read_one(place: &Place, path: &[u8], most: u64) -> Option<Plainly> {
    // Not beyond a link, and no pipe: what git takes in is at this very place.
    let data = place.metadata(path).filter(|data| data.is_file() && data.len() <= most)?;
    let file = File::open(place.in_work_tree(Path::new(OsStr::from_bytes(path)))).ok()?;
    let mut content = Vec::with_capacity(usize::try_from(data.len()).ok()?);
    (&file).take(most + 1).read_to_end(&mut content).ok()?;
    let after = file.metadata().ok()?;
    // Somebody writes to it, or it is another one by now.
    let still = |one: &Metadata| (one.dev(), one.ino(), one.len(), one.mtime(), one.mtime_nsec(), one.mode());
    if still(&data) != still(&after) || content.len() as u64 != data.len() || content.contains(&b'\r') {
        return None;
    }
    let held = Held {
        stat: stat(&data),
        executable: data.mode() & EXECUTABLE != 0,
        id: git_object::id(Kind::Blob, &content),
    };
    Some(Plainly { held, content })
}

/// An index keeps the lower halves.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "as git does")]
fn stat(data: &Metadata) -> Stat {
    Stat {
        changed: (data.ctime() as u32, data.ctime_nsec() as u32),
        modified: (data.mtime() as u32, data.mtime_nsec() as u32),
        device: data.dev() as u32,
        inode: data.ino() as u32,
        user: data.uid(),
        group: data.gid(),
        size: data.len() as u32,
    }
}

fn name(path: &[u8]) -> &[u8] {
    path.rsplit(|byte| *byte == b'/').next().unwrap_or(path)
}

/// Names that git may refuse, because some file system takes them for `.git`.
fn is_odd(path: &[u8]) -> bool {
    path.split(|byte| *byte == b'/').any(|name| {
        let lower = name.to_ascii_lowercase();
        let is_own = lower
            .strip_prefix(b".git")
            .is_some_and(|rest| !rest.first().is_some_and(u8::is_ascii_alphanumeric));
        is_own
            || lower.starts_with(b"git~")
            || lower.iter().any(|byte| matches!(byte, b'\\' | b':'))
            || lower.starts_with(b".") && !lower.is_ascii()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_git_may_refuse_are_left_to_it() {
        for odd in [".git", "a/.GIT/b", "git~1", ".git .", "a\\b", "x:y", ".g\u{200c}it"] {
            assert!(is_odd(odd.as_bytes()), "{odd}");
        }
        for fine in [".gitignore", ".github/workflows/x.yml", ".gitkeep", "src/git.rs", "a~1", "\u{e9}.txt"] {
            assert!(!is_odd(fine.as_bytes()), "{fine}");
        }
    }
}
