//! The private index, taken over from the user's.
//!
//! Only the user's index knows which ignored files are tracked and which tracked files a sparse checkout leaves
//! out; both matter to what a snapshot holds. All else in it (staged content, conflicts, intents to add) is
//! overruled by the files on disk. So while its list of paths stays the same, the warm private index does.
#![expect(clippy::disallowed_methods, reason = "snapshots keep files of their own in the store")]

use std::collections::HashSet;
use std::fs::{self, File, FileTimes};
use std::hash::{DefaultHasher, Hasher};
use std::io;
use std::path::Path;

use ralph_core::git_text::{Listed, parse_listing, parse_paths};

use super::memory::{Memory, Stamp};
use super::{Place, TreeError, rules};
use crate::point;

/// Brings the private index up to date with the user's, if need be. `true`: it was replaced, and what it stands
/// for is not known.
pub(super) fn refresh(place: &mut Place, memory: &mut Memory) -> Result<bool, TreeError> {
    let is_back = memory.gone.iter().any(|path| place.has_file(path));
    let rules = rules::look(place)?;
    let made = !place.has_own_rules || place.rules().exists();
    if is_back || !made || !memory.fits_index(place)? || memory.exclude != rules {
        rules::make(place)?;
        memory.exclude = rules;
        rebuild(place, memory)?;
        return Ok(true);
    }
    let Some(user_index) = &place.user_index else { return Ok(false) };
    if memory.user_index == Stamp::at(user_index)? {
        return Ok(false);
    }
    let Some(next) = prepare(place)? else {
        rebuild(place, memory)?;
        return Ok(true);
    };
    if next.digest()? == memory.listing {
        memory.user_index = next.user_index;
        remove(&place.next_index())?;
        return Ok(false);
    }
    next.install(place, memory)?;
    Ok(true)
}

/// Replaces a private index that fits, because ignore rules changed: what is ignored now must leave it.
pub(super) fn replace(place: &Place, memory: &mut Memory) -> Result<(), TreeError> {
    match prepare(place)? {
        Some(next) => next.install(place, memory),
        // Nothing is tracked, so what is ignored goes. Cheaper than reading all the others again.
        None => {
            let listing = place.call("ls-files").args(["-z", "-c", "-i", "--exclude-standard"]).output()?;
            update_index(place, &place.index(), "--force-remove", &parse_paths(&listing)?)
        }
    }
}

fn rebuild(place: &Place, memory: &mut Memory) -> Result<(), TreeError> {
    match prepare(place)? {
        Some(next) => next.install(place, memory),
        None => {
            memory.gone.clear();
            memory.user_index = Stamp::default();
            memory.listing = 0;
            memory.skips = false;
            remove(&place.index())
        }
    }
}

/// Remembers deleted files that would be overlooked if they came back, because they are ignored.
pub(super) fn note_gone(place: &Place, memory: &mut Memory, gone: &[Vec<u8>]) -> Result<(), TreeError> {
    if gone.is_empty() {
        return Ok(());
    }
    let gone: Vec<&[u8]> = gone.iter().map(Vec::as_slice).collect();
    let call = place.call("check-ignore").args(["-z", "--no-index", "--stdin"]).stdin(joined(&gone));
    let captured = call.run()?;
    let ignored = match captured.end.code() {
        // Exit 1: none of them.
        Some(0 | 1) => parse_paths(&captured.stdout)?,
        // git does not answer where a link took the place of a folder. To remember too many costs time, nothing else.
        _ => gone,
    };
    memory.gone.extend(ignored.into_iter().map(<[u8]>::to_vec));
    Ok(())
}

/// A candidate for the private index, in [`Place::next_index`].
struct Next {
    user_index: Stamp,
    listing: Vec<u8>,
}

impl Next {
    /// Of what is tracked only the name counts, because the content comes from the disk; but of a file that need
    /// not be there all that is known.
    fn digest(&self) -> Result<u64, TreeError> {
        let mut digest = DefaultHasher::new();
        for entry in parse_listing(&self.listing)? {
            digest.write_u8(u8::from(entry.assumed) + 2 * u8::from(entry.skipped));
            digest.write(if entry.skipped { entry.entry } else { entry.path });
            digest.write_u8(0);
        }
        Ok(digest.finish())
    }

    /// Makes it fit for measuring and puts it in place.
    fn install(self, place: &Place, memory: &mut Memory) -> Result<(), TreeError> {
        let (next, index) = (place.next_index(), place.index());
        let entries = parse_listing(&self.listing)?;
        look_again(place, &next, &entries)?;
        let ours = entries.iter().map(|e| e.path).filter(|path| place.is_ours(path));
        update_index(place, &next, "--force-remove", &ours.collect::<Vec<_>>())?;
        let left_out = rules::left_out(place, &next)?;
        update_index(place, &next, "--force-remove", &parse_paths(&left_out)?)?;
        point::file("rename", &index)
            .and_then(|()| fs::rename(&next, &index))
            .map_err(TreeError::file(&index))?;

        memory.listing = self.digest()?;
        memory.skips = entries.iter().any(|e| e.skipped);
        memory.gone.clear();
        memory.user_index = self.user_index;
        Ok(())
    }
}

/// Copies the user's index. `None`: nothing is tracked.
fn prepare(place: &Place) -> Result<Option<Next>, TreeError> {
    let Some(user_index) = &place.user_index else { return Ok(None) };
    let next = place.next_index();
    let user_index = match File::open(user_index) {
        Ok(file) => copy(&file, &next).map_err(TreeError::file(&next))?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            remove(&next)?;
            let call = place.call_on(&next, "read-tree").arg("HEAD");
            let read = call.run()?;
            match read.end.code() {
                Some(0) => Stamp::default(),
                // No commits yet either.
                Some(128) => return Ok(None),
                _ => return Err(call.failure(&read).into()),
            }
        }
        Err(error) => return Err(TreeError::file(user_index)(error)),
    };

    // As it is written, not as git would read it.
    let list = place.call_on(&next, "ls-files").setting("core.sparseCheckout=false").args(["-v", "-s", "-z"]);
    Ok(Some(Next { user_index, listing: list.output()? }))
}

/// Makes git look at files of which it was told to take no notice: takes the flags from their entries, and the
/// times too, because git has not kept those true.
fn look_again(place: &Place, index: &Path, entries: &[Listed<'_>]) -> Result<(), TreeError> {
    let there = present(place, entries.iter().filter(|e| e.skipped).map(|e| e.path));
    let (mut read, mut absent) = (Vec::new(), Vec::new());
    for entry in entries.iter().filter(|e| e.assumed || e.skipped) {
        if !entry.skipped || there.contains(entry.path) {
            read.push(entry.entry);
        } else if entry.assumed {
            absent.push(entry.path);
        }
    }
    if !read.is_empty() {
        let call = place.call_on(index, "update-index").args(["-z", "--index-info"]);
        call.stdin(joined(&read)).output()?;
    }
    update_index(place, index, "--no-assume-unchanged", &absent)
}

/// The paths that have a file. They come sorted, so a missing folder is asked for once.
fn present<'a>(place: &Place, paths: impl Iterator<Item = &'a [u8]>) -> HashSet<&'a [u8]> {
    let mut missing: Option<&[u8]> = None;
    let mut found = HashSet::new();
    for path in paths {
        if missing.is_some_and(|folder| path.starts_with(folder)) {
            continue;
        }
        if place.has_file(path) {
            found.insert(path);
        } else if let Some(slash) = path.iter().rposition(|byte| *byte == b'/')
            && !place.has_folder(&path[..slash])
        {
            missing = Some(&path[..=slash]);
        }
    }
    found
}

/// The copy keeps the time of the original: git takes it for the moment at which files were last compared, and a
/// later one would hide edits that were made since, within the same second.
fn copy(mut from: &File, to: &Path) -> io::Result<Stamp> {
    let data = from.metadata()?;
    point::file("create", to)?;
    // Whatever an earlier one left, or somebody put there: nothing is written through a link.
    let _ = fs::remove_file(to);
    let mut file = File::create_new(to)?;
    point::file("fill", to)?;
    io::copy(&mut from, &mut file)?;
    file.set_times(FileTimes::new().set_modified(data.modified()?))?;
    Ok(Stamp::of(&data))
}

pub(super) fn update_index(place: &Place, index: &Path, how: &str, paths: &[&[u8]]) -> Result<(), TreeError> {
    if !paths.is_empty() {
        let call = place.call_on(index, "update-index").args(["-z", how, "--stdin"]);
        call.stdin(joined(paths)).output()?;
    }
    Ok(())
}

fn joined(paths: &[&[u8]]) -> Vec<u8> {
    let mut joined = paths.join(&0);
    joined.push(0);
    joined
}

pub(super) fn remove(path: &Path) -> Result<(), TreeError> {
    match point::file("remove", path).and_then(|()| fs::remove_file(path)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(TreeError::file(path)(error)),
        _ => Ok(()),
    }
}
