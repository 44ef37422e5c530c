//! Objects of snapshots that git does not have yet. Ten files a snapshot would be as many new files in git's store, each of which costs a file system
//! more than all else about it; here they are appended to one. git gets them when somebody asks for more than the name of a
//! snapshot, or when they have become many, while an agent works.
//!
//! A record is the length of an object as it stands in a pack, the object, and a digest of it. A ralph that is cut off leaves a
//! part of one at most, and the next goes on before it. Nothing waits for the disk here, as git does not for loose objects: after a power cut
//! snapshots may be missing, which whoever asks for them finds out.
#![expect(clippy::disallowed_methods, reason = "snapshots keep files of their own in the store")]

use std::cell::Cell;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use ralph_core::git_object::{self, Kind};

use super::{Place, TreeError};
use crate::{digest, point, store};

/// What is appended to, and what is on its way into a pack.
const NAMES: [&str; 2] = ["spool", "spool.full"];
/// From how many bytes on they become a pack.
const MANY: u64 = 8 << 20;
/// From how many objects on they are worth a pack of their own.
const WORTH_A_PACK: usize = 1_024;
/// Characters of a digest that stand behind an object.
const SUM: usize = 16;
const LENGTH: usize = 4;

#[derive(Debug)]
pub(super) struct Spool {
    /// Nobody but this process writes to it.
    owned: bool,
    /// Something may be in it.
    filled: Cell<bool>,
}

impl Spool {
    /// For whoever only reads it, beside a run that may be going on.
    pub(super) fn look() -> Spool {
        Spool { owned: false, filled: Cell::new(true) }
    }

    /// For whoever has ralph's lock.
    pub(super) fn open(place: &Place) -> Result<Spool, TreeError> {
        let spool = Spool { owned: true, filled: Cell::new(true) };
        let path = place.spool();
        let mended = match read(&path) {
            Ok(None) => Ok(()),
            Ok(Some(bytes)) => match whole(&bytes).1 {
                end if end < bytes.len() => cut(&path, end as u64),
                _ => Ok(()),
            },
            // It is nothing that ralph wrote.
            Err(_) => point::file("remove", &path).and_then(|()| fs::remove_file(&path)),
        };
        mended.map(|()| spool).map_err(TreeError::file(&path))
    }

    pub(super) fn add(&self, place: &Place, objects: &[(Kind, &[u8])]) -> Result<(), TreeError> {
        let path = place.spool();
        let mut records = Vec::new();
        for (kind, content) in objects {
            let object = store::deflated(git_object::head(*kind, content.len()), content)
                .map_err(TreeError::file(&path))?;
            records.extend(record(&object));
        }
        let mut file = store::append_private(&path).map_err(TreeError::file(&path))?;
        let end = file.metadata().map_err(TreeError::file(&path))?.len();
        let half = &records[..records.len() / 2];
        let written = point::torn(&path, || (&file).write_all(half)).and_then(|()| file.write_all(&records));
        self.filled.set(true);
        written.map_err(|error| {
            // What comes next must not stand behind half a record.
            let _ = file.set_len(end);
            TreeError::file(&path)(error)
        })
    }

    /// Hands everything to git.
    pub(super) fn empty(&self, place: &Place) -> Result<(), TreeError> {
        if !self.filled.get() {
            return Ok(());
        }
        for name in NAMES {
            hand_over(place, &place.beside(name), self.owned)?;
        }
        // Whoever only reads may find more the next time.
        self.filled.set(!self.owned);
        Ok(())
    }

    /// Sets aside what has become much, for somebody who hands it over meanwhile. `None`: there is not much.
    pub(super) fn set_aside(&self, place: &Place) -> Option<PathBuf> {
        let (path, full) = (place.spool(), place.beside(NAMES[1]));
        let much = fs::metadata(&path).is_ok_and(|data| data.len() >= MANY);
        if much && !full.exists() {
            point::file("rename", &full).and_then(|()| fs::rename(&path, &full)).ok()?;
        }
        full.exists().then_some(full)
    }
}

impl Place {
    fn spool(&self) -> PathBuf {
        self.beside(NAMES[0])
    }
}

/// Hands the objects of a file to git, and lets it go if it is ours.
pub(super) fn hand_over(place: &Place, path: &Path, ours: bool) -> Result<(), TreeError> {
    let Some(bytes) = read(path).map_err(TreeError::file(path))? else { return Ok(()) };
    let (objects, _) = whole(&bytes);
    if !objects.is_empty() {
        let call = match objects.len() < WORTH_A_PACK {
            true => super::place::storing(place.call("unpack-objects")).unwatched().arg("-q"),
            false => place.call("index-pack").unwatched().args(["--stdin", "--threads=1"]),
        };
        let pack = git_object::pack(&objects).ok_or_else(|| call.strange("there are too many objects"))?;
        call.stdin(pack).output()?;
    }
    if !ours || bytes.is_empty() && path == place.spool() {
        return Ok(());
    }
    // The one that is appended to keeps its place: a new file costs more than what is written into it.
    let let_go = match path == place.spool() {
        true => cut(path, 0),
        false => point::file("remove", path).and_then(|()| fs::remove_file(path)),
    };
    match let_go {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(TreeError::file(path)(error)),
        _ => Ok(()),
    }
}

fn record(object: &[u8]) -> Vec<u8> {
    // An object is no larger than what is taken in at once.
    let length = u32::try_from(object.len()).unwrap_or(u32::MAX);
    let sum = digest::of(object);
    [&length.to_le_bytes()[..], object, &sum.as_bytes()[..SUM]].concat()
}

/// The objects of the whole records at the beginning, and where these end.
fn whole(bytes: &[u8]) -> (Vec<&[u8]>, usize) {
    let (mut objects, mut at) = (Vec::new(), 0);
    while let Some((object, end)) = next(bytes, at) {
        objects.push(object);
        at = end;
    }
    (objects, at)
}

fn next(bytes: &[u8], at: usize) -> Option<(&[u8], usize)> {
    let begins = at + LENGTH;
    let length = u32::from_le_bytes(bytes.get(at..begins)?.try_into().ok()?) as usize;
    let ends = begins.checked_add(length)?;
    let (object, sum) = (bytes.get(begins..ends)?, bytes.get(ends..ends.checked_add(SUM)?)?);
    (digest::of(object).as_bytes()[..SUM] == *sum).then_some((object, ends + SUM))
}

fn cut(path: &Path, end: u64) -> io::Result<()> {
    point::file("cut", path).and_then(|()| File::options().write(true).open(path)?.set_len(end))
}

/// An agent can put anything there, so no more is read than ralph would have written.
fn read(path: &Path) -> io::Result<Option<Vec<u8>>> {
    match crate::bounded::read(path, 4 * MANY) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        read => read.map(Some),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_come_back_up_to_the_first_that_is_not_whole() {
        let (one, two) = (record(b"one"), record(b"two, and more"));
        let both = [one.clone(), two].concat();
        assert_eq!(whole(&both), (vec![&b"one"[..], b"two, and more"], both.len()));
        for end in one.len()..both.len() {
            assert_eq!(whole(&both[..end]), (vec![&b"one"[..]], one.len()), "cut at {end}");
        }
        let mut bent = both;
        bent[LENGTH] ^= 1;
        assert_eq!(whole(&bent), (vec![], 0));
    }
}
