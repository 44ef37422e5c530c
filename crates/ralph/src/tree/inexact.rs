//! Contents that git will not put back byte for byte: their line ends go through `core.autocrlf` and `.gitattributes`. What git
//! warned of when it was taken in is kept in a file, so that an undo can name it, for as long as a snapshot holds it.
#![expect(clippy::disallowed_methods, reason = "snapshots keep files of their own in the store")]

use std::collections::HashSet;
use std::fs;
use std::io::Write;
use std::path::PathBuf;

use ralph_core::git_text::{Change, parse_listing};

use super::memory::Stamp;
use super::{Place, TreeError};
use crate::{point, store};

/// From more files than these on all are listed.
const MOST_ASKED: usize = 100;
/// More than these are not looked through.
const MOST_BYTES: u64 = 16 << 20;
const FULL: &str = "holds more notes than ralph looks through, so that an undo will not name further files whose line ends \
                    git does not put back as they were; a smaller keep_snapshots leaves room for new ones";

impl Place {
    fn inexact(&self) -> PathBuf {
        self.beside("inexact")
    }
}

/// What is noted, as far as this process has read it: the file is read again only where it is another one.
#[derive(Debug, Default)]
pub(super) struct Inexact {
    known: HashSet<Vec<u8>>,
    stamp: Stamp,
    /// It was said that there is no room.
    told: bool,
}

impl Inexact {
    /// Notes what the private index holds at these paths. Returns what to say where that is not possible any more.
    pub(super) fn note(&mut self, place: &Place, paths: &[String]) -> Result<Option<String>, TreeError> {
        if paths.is_empty() {
            return Ok(None);
        }
        let file = place.inexact();
        let stamp = Stamp::at(&file)?;
        if stamp != self.stamp {
            (self.known, self.stamp) = (known(place), stamp);
        }
        if fs::metadata(&file).is_ok_and(|data| data.len() > MOST_BYTES) {
            let told = std::mem::replace(&mut self.told, true);
            return Ok((!told).then(|| format!("{}: {FULL}", file.display())));
        }
        let text = self.new_among(place, paths)?;
        if !text.is_empty() {
            point::file("append", &file)
                .and_then(|()| store::append_private(&file)?.write_all(&text))
                .map_err(TreeError::file(&file))?;
            self.known.extend(lines(&text));
            self.stamp = Stamp::at(&file)?;
        }
        Ok(None)
    }

    /// The notes about these paths that are not there yet.
    fn new_among(&self, place: &Place, paths: &[String]) -> Result<Vec<u8>, TreeError> {
        let call = place.call("ls-files").env("GIT_LITERAL_PATHSPECS", "1").args(["-v", "-s", "-z", "--"]);
        let asked = if paths.len() > MOST_ASKED { &[] } else { paths };
        let listing = call.args(asked).output()?;
        let paths: HashSet<&[u8]> = paths.iter().map(String::as_bytes).collect();
        let mut text = Vec::new();
        for entry in parse_listing(&listing)?.into_iter().filter(|entry| paths.contains(entry.path)) {
            let Some(id) = entry.entry.split(|byte| *byte == b' ').nth(1) else { continue };
            let line = [id, b" ", entry.path].concat();
            if !self.known.contains(&line) {
                text.extend(line);
                text.push(0);
            }
        }
        Ok(text)
    }
}

/// Lets go of notes about contents that no snapshot has which is kept. Nobody may note something meanwhile.
pub(super) fn let_go(place: &Place, kept: &HashSet<String>) -> Result<(), TreeError> {
    let file = place.inexact();
    let Ok(old) = fs::read(&file) else { return Ok(()) };
    let id = |line: &[u8]| {
        line.split(|byte| *byte == b' ').next().map(|id| String::from_utf8_lossy(id).into_owned())
    };
    let stays = |line: &Vec<u8>| id(line).is_some_and(|id| kept.contains(&id));
    let new: Vec<u8> = lines(&old).filter(stays).flat_map(|line| [line, vec![0]].concat()).collect();
    if new.len() == old.len() {
        return Ok(());
    }
    let made = file.with_extension("new");
    store::write_private(&made, &new)
        .and_then(|()| point::file("rename", &file))
        .and_then(|()| fs::rename(&made, &file))
        .map_err(TreeError::file(&file))
}

/// Those of these changes that lead to such a content.
pub(super) fn among(place: &Place, changes: &[Change]) -> Vec<String> {
    let known = known(place);
    let is_known = |change: &&Change| {
        change.new.as_ref().is_some_and(|new| {
            known.contains([new.id.as_bytes(), b" ", change.path.as_slice()].concat().as_slice())
        })
    };
    match known.is_empty() {
        true => vec![],
        false => changes.iter().filter(is_known).map(|change| change.name().into_owned()).collect(),
    }
}

fn known(place: &Place) -> HashSet<Vec<u8>> {
    lines(&fs::read(place.inexact()).unwrap_or_default()).collect()
}

fn lines(text: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    text.split(|byte| *byte == 0).filter(|line| !line.is_empty()).map(<[u8]>::to_vec)
}
