//! Objects of snapshots that git does not have yet. Ten files a snapshot would be as many new files in git's store, each of which costs a file system
//! more than all else about it; here they are appended to one. git gets them when somebody asks for more than the name of a
//! snapshot, or when they have become many, while an agent works.
//!
//! A record is the length of an object as it stands in a pack, the object, and a digest of it. A ralph that is cut off leaves a
//! part of one at most, and the next goes on before it. Nothing waits for the disk here, as git does not for loose objects: after a power cut
//! snapshots may be missing, which whoever asks for them finds out.
#![expect(clippy::disallowed_methods, reason = "snapshots keep files of their own in the store")]

use std::cell::Cell;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use ralph_core::git_object::{self, Kind};

use super::{Place, TreeError};
use crate::unix::identity::MetadataExt;
use crate::{digest, point, store};

/// What is appended to, and what is on its way into a pack.
const NAMES: [&str; 2] = ["spool", "spool.full"];
/// From how many bytes on they become a pack, beside an agent.
const MANY: u64 = 8 << 20;
/// From how many on nothing is added before git has them: more than what is taken in at once is left of [`LARGEST`].
const TOO_MANY: u64 = 2 * MANY;
const LARGEST: u64 = 4 * MANY;
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
    /// How this process left it. `None`: it has not written to it.
    left: Cell<Option<Left>>,
}

/// Which file it is, and how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Left {
    file: (u64, u64),
    length: u64,
}

impl Left {
    fn of(file: &File) -> io::Result<Left> {
        file.metadata().map(|data| Left { file: (data.dev(), data.ino()), length: data.len() })
    }
}

impl Spool {
    /// For whoever only reads it, beside a run that may be going on.
    pub(super) fn look() -> Spool {
        Spool { owned: false, filled: Cell::new(true), left: Cell::new(None) }
    }

    /// For whoever has ralph's lock. Where it cannot be mended, git takes everything in.
    pub(super) fn open(place: &Place) -> Spool {
        for name in NAMES {
            let path = place.beside(name);
            match read(&path) {
                Ok(Some(bytes)) if name == NAMES[0] => {
                    let end = whole(&bytes).1;
                    if end < bytes.len() {
                        let _ = cut(&path, end as u64);
                    }
                }
                Err(error) if error.kind() == ErrorKind::InvalidInput => take_away(&path),
                _ => {}
            }
        }
        Spool { owned: true, ..Spool::look() }
    }

    pub(super) fn is_owned(&self) -> bool {
        self.owned
    }

    /// Whether somebody else wrote to it or removed it, so that objects are missing which snapshots are made of.
    pub(super) fn is_damaged(&self, place: &Place) -> bool {
        let Some(left) = self.left.get() else { return false };
        let now = own(&place.spool()).ok().flatten().and_then(|file| Left::of(&file).ok());
        if now == Some(left) {
            return false;
        }
        take_away(&place.spool());
        self.left.set(None);
        true
    }

    /// Takes these objects for git. `false`: git has to do it.
    pub(super) fn add(&self, place: &Place, objects: &[(Kind, &[u8])]) -> bool {
        objects.is_empty() || self.try_to_add(place, objects).is_ok()
    }

    fn try_to_add(&self, place: &Place, objects: &[(Kind, &[u8])]) -> io::Result<()> {
        let path = place.spool();
        let there = own(&path)?.map(|file| file.metadata()).transpose()?;
        if there.is_some_and(|data| data.len() >= TOO_MANY) {
            self.empty(place).map_err(io::Error::other)?;
        }
        let mut records = Vec::new();
        for (kind, content) in objects {
            records.extend(record(&store::deflated(git_object::head(*kind, content.len()), content)?));
        }
        let mut file = store::append_private(&path)?;
        let end = file.metadata()?.len();
        self.filled.set(true);
        let half = &records[..records.len() / 2];
        let written = point::torn(&path, || (&file).write_all(half)).and_then(|()| file.write_all(&records));
        if written.is_err() {
            // What comes next must not stand behind half a record.
            let _ = file.set_len(end);
        }
        self.left.set(Left::of(&file).ok());
        written
    }

    /// Hands everything to git.
    pub(super) fn empty(&self, place: &Place) -> Result<(), TreeError> {
        if !self.filled.get() {
            return Ok(());
        }
        for name in NAMES {
            let path = place.beside(name);
            hand_over(place, &path, self.owned)?;
        }
        if self.owned && self.left.get().is_some() {
            self.left.set(own(&place.spool()).ok().flatten().and_then(|file| Left::of(&file).ok()));
        }
        // Whoever only reads may find more the next time.
        self.filled.set(!self.owned);
        Ok(())
    }

    /// Sets aside what has become much, for somebody who hands it over meanwhile. `None`: there is not much.
    pub(super) fn set_aside(&self, place: &Place) -> Option<PathBuf> {
        let (path, full) = (place.spool(), place.beside(NAMES[1]));
        let much = fs::symlink_metadata(&path).is_ok_and(|data| data.len() >= MANY);
        if much && !full.exists() {
            point::file("rename", &full).and_then(|()| fs::rename(&path, &full)).ok()?;
            self.left.set(None);
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
    // A content that came back is there twice.
    let objects: Vec<&[u8]> = whole(&bytes).0.into_iter().collect::<BTreeSet<_>>().into_iter().collect();
    if !objects.is_empty() {
        // Whoever only looks may do so again and again, and is not to leave a pack each time.
        let call = match objects.len() < WORTH_A_PACK || !ours {
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
        Err(error) if error.kind() != ErrorKind::NotFound => Err(TreeError::file(path)(error)),
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
    point::file("cut", path)?;
    own(path)?.map_or(Ok(()), |file| file.set_len(end))
}

/// No more than ralph would have written.
fn read(path: &Path) -> io::Result<Option<Vec<u8>>> {
    let Some(file) = own(path)? else { return Ok(None) };
    let mut bytes = Vec::new();
    file.take(LARGEST).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

/// The file of this name, if there is one and it is ours alone. A link, or a file that has another name too, may be anybody's, and a pipe has
/// no end: an agent can put anything there, and a folder may come with it.
fn own(path: &Path) -> io::Result<Option<File>> {
    let named = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        named => named?,
    };
    let stranger = || io::Error::new(ErrorKind::InvalidInput, "it is nothing that ralph wrote");
    if !named.is_file() || named.nlink() != 1 {
        return Err(stranger());
    }
    let file = match File::options().read(true).write(true).open(path) {
        // Whoever only looks need not be able to write.
        Err(error) if error.kind() == ErrorKind::PermissionDenied => File::open(path)?,
        file => file?,
    };
    let opened = file.metadata()?;
    match (opened.dev(), opened.ino()) == (named.dev(), named.ino()) {
        true => Ok(Some(file)),
        false => Err(stranger()),
    }
}

/// The name alone: what a link leads to is not touched. A folder is left under another name.
fn take_away(path: &Path) {
    let _ = point::file("remove", path)
        .and_then(|()| fs::remove_file(path).or_else(|_| fs::rename(path, path.with_extension("odd"))));
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
