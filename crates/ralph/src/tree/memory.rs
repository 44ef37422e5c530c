//! What one snapshot leaves for the next: which index it was made from, and its result.
//!
//! It is a cache, written without waiting for the disk. A file that is missing, torn or does not fit what is on disk costs time, nothing else.

use std::fs;
use std::io;
use std::path::Path;

use super::{Place, TreeError, TreeId};
use crate::unix::identity::MetadataExt;
use crate::{digest, store};

const FIRST_LINE: &str = "ralph snapshot 4";
/// Another text each time the machine starts. Elsewhere than on Linux there is none.
const BOOT: &str = "/proc/sys/kernel/random/boot_id";

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Memory {
    /// The private index after the last snapshot. Any other stamp: somebody was cut off in between.
    index: Stamp,
    /// The user's index when it was last looked into.
    pub(super) user_index: Stamp,
    /// The ignore rules outside the working tree.
    pub(super) exclude: Stamp,
    /// A digest of the paths in the user's index.
    pub(super) listing: u64,
    /// Some of them need not be in the working tree (a sparse checkout).
    pub(super) skips: bool,
    /// Files that are tracked, ignored and deleted. The private index does not have them any more, and git would
    /// not tell if they came back.
    pub(super) gone: Vec<Vec<u8>>,
    /// The last snapshot.
    pub(super) tree: Option<TreeId>,
    /// What is on disk as this memory.
    saved: String,
}

/// Tells versions of a file apart: device, inode, size, time of change. Empty if there is no file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Stamp(String);

impl Stamp {
    pub(super) fn of(data: &fs::Metadata) -> Stamp {
        let (mtime, ctime) = ((data.mtime(), data.mtime_nsec()), (data.ctime(), data.ctime_nsec()));
        Stamp(format!(
            "{}:{}:{}:{}.{:09}:{}.{:09}",
            data.dev(),
            data.ino(),
            data.size(),
            mtime.0,
            mtime.1,
            ctime.0,
            ctime.1
        ))
    }

    /// Of two files at once.
    pub(super) fn and(&self, other: &Stamp) -> Stamp {
        Stamp(format!("{}+{}", self.0, other.0))
    }

    pub(super) fn at(path: &Path) -> Result<Stamp, TreeError> {
        match fs::metadata(path) {
            Ok(data) => Ok(Stamp::of(&data)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Stamp::default()),
            Err(error) => Err(TreeError::file(path)(error)),
        }
    }
}

impl Memory {
    pub(super) fn load(place: &Place) -> Memory {
        let saved = fs::read_to_string(place.memory()).unwrap_or_default();
        let (memory, boot) = Memory::parse(&saved).unwrap_or_default();
        // What was written just before a power cut may be there in part, with the times of all of it.
        if boot == self::boot() { Memory { saved, ..memory } } else { Memory::default() }
    }

    /// The private index is as the last snapshot left it, so `tree` is what it stands for.
    pub(super) fn fits_index(&self, place: &Place) -> Result<bool, TreeError> {
        Ok(self.tree.is_some() && self.index == Stamp::at(&place.index())?)
    }

    /// Makes the next snapshot start over from the user's index.
    pub(super) fn distrust_index(&mut self) {
        self.index = Stamp("distrusted".into());
    }

    /// To be called when the private index stands for `tree`.
    pub(super) fn save(&mut self, place: &Place) -> Result<(), TreeError> {
        self.index = Stamp::at(&place.index())?;
        let text = self.text(&boot());
        if text == self.saved {
            return Ok(());
        }
        let path = place.memory();
        store::take_turns(&path.with_extension("other"), &path, text.as_bytes())
            .map_err(TreeError::file(&path))?;
        self.saved = text;
        Ok(())
    }

    fn text(&self, boot: &str) -> String {
        let Memory { index, user_index, exclude, listing, skips, gone, tree, .. } = self;
        let gone: Vec<String> = gone.iter().map(|path| to_hex(path)).collect();
        let tree = tree.as_ref().map_or("", TreeId::as_str);
        let text = format!(
            "{FIRST_LINE}\nboot {boot}\nindex {}\nuser-index {}\nexclude {}\nlisting {listing:016x}\nskips {skips}\ngone {}\ntree {tree}\n",
            index.0,
            user_index.0,
            exclude.0,
            gone.join(" ")
        );
        // After a power cut some of it may be of an earlier memory.
        let sum = digest::of(text.as_bytes());
        format!("{text}sum {sum}\n")
    }

    /// And the start of the machine that it is of.
    fn parse(text: &str) -> Option<(Memory, String)> {
        let (text, sum) = text.strip_suffix('\n')?.rsplit_once("sum ")?;
        let mut lines = text.split('\n');
        if digest::of(text.as_bytes()) != sum {
            return None;
        }
        if lines.next()? != FIRST_LINE {
            return None;
        }
        let mut value = |name: &str| lines.next()?.strip_prefix(name)?.strip_prefix(' ');
        let boot = value("boot")?.to_owned();
        let memory = Memory {
            index: Stamp(value("index")?.to_owned()),
            user_index: Stamp(value("user-index")?.to_owned()),
            exclude: Stamp(value("exclude")?.to_owned()),
            listing: u64::from_str_radix(value("listing")?, 16).ok()?,
            skips: value("skips")?.parse().ok()?,
            gone: value("gone")?.split_terminator(' ').map(from_hex).collect::<Option<_>>()?,
            tree: Some(TreeId::new(value("tree")?)?),
            saved: String::new(),
        };
        Some((memory, boot))
    }
}

fn boot() -> String {
    fs::read_to_string(BOOT).map(|id| id.trim_end().to_owned()).unwrap_or_default()
}

fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let pairs = text.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).ok());
    pairs.map(|pair| u8::from_str_radix(pair?, 16).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_memory_comes_back_whole_or_not_at_all() {
        let memory = Memory {
            index: Stamp("1:2:3:4.000000005:6.000000007".into()),
            user_index: Stamp::default(),
            exclude: Stamp("x".into()),
            listing: u64::MAX - 7,
            skips: true,
            gone: vec![b"a b".to_vec(), b"\xff\n".to_vec()],
            tree: TreeId::new("4b825dc642cb6eb9a060e54bf8d69288fbee4904"),
            saved: String::new(),
        };
        let text = memory.text("then");
        assert_eq!(Memory::parse(&text), Some((memory.clone(), "then".to_owned())));
        for end in 0..text.len() {
            assert_eq!(Memory::parse(&text[..end]), None, "cut at {end}");
        }
        let other = "4b825dc642cb6eb9a060e54bf8d69288fbee4905";
        let later = Memory { tree: TreeId::new(other), skips: false, ..memory }.text("then");
        assert_ne!(later, text);
        for at in 0..text.len().min(later.len()) {
            let mixed = format!("{}{}", &later[..at], &text[at..]);
            assert_eq!(Memory::parse(&mixed).is_some(), mixed == text || mixed == later, "joined at {at}");
        }
        assert_eq!(Memory::parse(&text.replace("snapshot 4", "snapshot 3")), None);
    }
}
