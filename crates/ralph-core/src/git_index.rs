//! An index of git's, where asking git would cost a process: which object it holds at a path, whether another one holds the
//! same, the trees that git makes of it ([`tree`]), and the same index with other files ([`change`]).
//!
//! All of the known forms are read (versions 2 to 4, ids of 20 and of 32 bytes). What is in another form is not guessed at:
//! whoever asks has git to ask as well.

mod change;
mod tree;

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::git_text::Object;
pub use change::{Held, Stat, changed};
pub use tree::{Trees, trees_of};

/// Times, device, inode, mode, owner and size of each entry come before its id.
const STAT: usize = 40;
const MODE_AT: usize = 24;
const HEADER: usize = 12;
/// In the flags of an entry: more flags follow, and the stages of a conflict.
const EXTENDED: u16 = 0x4000;
const STAGES: u16 = 0x3000;
/// Of a folder that a sparse index does not list.
const FOLDER: u32 = 0o40000;
/// The part of an index that says that most entries are in another file.
const SPLIT: &[u8] = b"link";

/// What an index holds at each of these paths, as far as it holds anything there. `like` is any id of the repository. `None`:
/// it is not the index of a whole tree, or in no form that is known.
pub fn objects_at(index: &[u8], paths: &BTreeSet<Vec<u8>>, like: &str) -> Option<BTreeMap<Vec<u8>, Object>> {
    let mut entries = Entries::of(index, like)?;
    let mut found = BTreeMap::new();
    while let Some(Entry { mode, id, stage }) = entries.next()? {
        if mode == FOLDER || stage != 0 {
            return None;
        }
        if paths.contains(&entries.path) {
            found.insert(entries.path.clone(), Object { mode, id: hex(id) });
        }
    }
    Some(found)
}

/// Whether two indexes hold the same objects at the same paths: git writes an index anew where only the times of files are others.
/// What is in no form that is known is never the same.
pub fn hold_the_same(one: &[u8], other: &[u8], like: &str) -> bool {
    let same = || {
        let (mut one, mut other) = (Entries::of(one, like)?, Entries::of(other, like)?);
        loop {
            match (one.next()?, other.next()?) {
                (None, None) => return Some(true),
                (mine, theirs) if mine == theirs && one.path == other.path => {}
                _ => return Some(false),
            }
        }
    };
    same().unwrap_or(false)
}

#[derive(PartialEq, Eq)]
struct Entry<'a> {
    mode: u32,
    id: &'a [u8],
    stage: u16,
}

/// The entries of an index, one after the other.
struct Entries<'a> {
    index: &'a [u8],
    /// How many bytes an id has.
    id: usize,
    version: u32,
    left: u32,
    at: usize,
    /// Of the entry that was read last.
    path: Vec<u8>,
    /// Its further flags.
    extended: u16,
}

impl<'a> Entries<'a> {
    fn of(index: &'a [u8], like: &str) -> Option<Self> {
        let (b"DIRC", version @ 2..=4) = (index.get(..4)?, number(index, 4)?) else { return None };
        let left = number(index, 8)?;
        Some(Self { index, id: like.len() / 2, version, left, at: HEADER, path: Vec::new(), extended: 0 })
    }

    /// The next one; inside, `None` after the last of an index that is whole.
    fn next(&mut self) -> Option<Option<Entry<'a>>> {
        let Some(left) = self.left.checked_sub(1) else {
            return is_whole(self.index, self.at, self.id).then_some(None);
        };
        let (index, start) = (self.index, self.at);
        let mode = number(index, start + MODE_AT)?;
        let id = index.get(start + STAT..start + STAT + self.id)?;
        let mut at = start + STAT + self.id;
        let flags = u16::from_be_bytes(index.get(at..at + 2)?.try_into().ok()?);
        self.extended = match flags & EXTENDED {
            0 => 0,
            _ => u16::from_be_bytes(index.get(at + 2..at + 4)?.try_into().ok()?),
        };
        at += if flags & EXTENDED == 0 { 2 } else { 4 };
        if self.version == 4 {
            let shorter = self.path.len().checked_sub(varint(index, &mut at)?)?;
            self.path.truncate(shorter);
        } else {
            self.path.clear();
        }
        let length = index.get(at..)?.iter().position(|byte| *byte == 0)?;
        self.path.extend_from_slice(&index[at..at + length]);
        at += length + 1;
        if self.version < 4 {
            // At least one NUL, and then so many that the next one begins at a multiple of eight.
            at = start + (at - start).next_multiple_of(8);
        }
        (self.left, self.at) = (left, at);
        Some(Some(Entry { mode, id, stage: flags & STAGES }))
    }
}

/// Whether the rest of an index is in its known form, and does not lead to another one.
fn is_whole(index: &[u8], mut at: usize, id: usize) -> bool {
    while let Some(left) = index.len().checked_sub(at).filter(|left| *left > id) {
        let (Some(name), Some(size)) = (index.get(at..at + 4), number(index, at + 4)) else { return false };
        if name == SPLIT || left < size as usize {
            return false;
        }
        at += 8 + size as usize;
    }
    index.len() == at + id
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

/// As in a pack: seven bits a byte, and no number in two forms.
fn varint(bytes: &[u8], at: &mut usize) -> Option<usize> {
    let mut value: usize = 0;
    loop {
        let byte = *bytes.get(*at)?;
        *at += 1;
        value = value.checked_mul(128)?.checked_add(usize::from(byte & 0x7f))?;
        if byte & 0x80 == 0 {
            return Some(value);
        }
        value = value.checked_add(1)?;
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use proptest::prelude::*;

    use super::*;

    pub(super) const LIKE: &str = "1111111111111111111111111111111111111111";

    pub(super) fn entry(name: &str, shared: usize, mode: u32, byte: u8, flags: u16, version: u32) -> Vec<u8> {
        let mut text = vec![0; MODE_AT];
        text.extend(mode.to_be_bytes());
        text.resize(STAT, 0);
        text.extend([byte; 20]);
        text.extend(flags.to_be_bytes());
        text.resize(text.len() + if flags & EXTENDED == 0 { 0 } else { 2 }, 0);
        if version == 4 {
            text.push(u8::try_from(shared).expect("small"));
        }
        text.extend(name.as_bytes());
        text.push(0);
        if version < 4 {
            text.resize(text.len().next_multiple_of(8), 0);
        }
        text
    }

    pub(super) fn index(version: u32, entries: &[Vec<u8>], more: &[u8]) -> Vec<u8> {
        let mut text = b"DIRC".to_vec();
        text.extend(version.to_be_bytes());
        text.extend(u32::try_from(entries.len()).expect("few").to_be_bytes());
        text.extend(entries.concat());
        text.extend(more);
        text.extend([0; 20]);
        text
    }

    fn asked(index: &[u8], paths: &[&str]) -> Option<Vec<(String, u32, String)>> {
        let paths = paths.iter().map(|path| path.as_bytes().to_vec()).collect();
        let found = objects_at(index, &paths, LIKE)?;
        let told = found.into_iter().map(|(path, Object { mode, id })| {
            (String::from_utf8(path).expect("plain"), mode, id[..2].into())
        });
        Some(told.collect())
    }

    #[test]
    fn what_is_held_at_a_path_is_told_in_every_version_and_what_is_not_is_left_out() {
        for version in 2..=4 {
            // In version 4 a name says how much of the end of the one before it goes.
            let name = |whole: &'static str, rest: &'static str| if version == 4 { rest } else { whole };
            let entries = [
                entry("dir/a", 0, 0o100_644, 0xaa, 5, version),
                entry(name("dir/b.x", "b.x"), 1, 0o100_755, 0xbb, 7 | EXTENDED, version),
                entry(name("dir/c", "c"), 3, 0o120_000, 0xcc, 5, version),
                entry("z", 5, 0o160_000, 0xdd, 1, version),
            ];
            let text = index(version, &entries, b"TREE\0\0\0\x03abc");
            let told = asked(&text, &["dir/a", "dir/b.x", "z", "not there", "dir"]).expect("a known form");
            assert_eq!(
                told,
                [
                    ("dir/a".into(), 0o100_644, "aa".into()),
                    ("dir/b.x".into(), 0o100_755, "bb".into()),
                    ("z".into(), 0o160_000, "dd".into())
                ],
                "version {version}"
            );
        }
    }

    #[test]
    fn an_index_that_does_not_hold_all_by_itself_is_left_to_git() {
        let one = |flags, mode| vec![entry("a", 0, mode, 1, flags, 2)];
        assert!(asked(&index(2, &one(1, 0o100_644), b""), &["a"]).is_some());
        assert_eq!(asked(&index(2, &one(1, FOLDER), b""), &["a"]), None, "sparse");
        assert_eq!(asked(&index(2, &one(0x1001, 0o100_644), b""), &["a"]), None, "a conflict");
        assert_eq!(asked(&index(2, &one(1, 0o100_644), b"link\0\0\0\0"), &["a"]), None, "split");
        assert_eq!(asked(&index(5, &one(1, 0o100_644), b""), &["a"]), None, "newer");
        let whole = index(2, &one(1, 0o100_644), b"");
        for end in 0..whole.len() {
            assert_eq!(asked(&whole[..end], &["a"]), None, "cut at {end}");
        }
    }

    #[test]
    fn two_indexes_are_the_same_where_they_hold_the_same_whatever_their_times_and_forms() {
        let files = |version: u32, byte: u8, mode: u32, time: u8| {
            let mut first = entry("dir/a", 0, mode, byte, 5, version);
            first[0] = time;
            let second = if version == 4 { "b" } else { "dir/b" };
            index(version, &[first, entry(second, 1, 0o100_644, 2, 5, version)], b"TREE\0\0\0\x01x")
        };
        let one = files(2, 1, 0o100_644, 1);
        let same = |other: &[u8]| hold_the_same(&one, other, LIKE);
        assert!(same(&one) && same(&files(2, 1, 0o100_644, 9)) && same(&files(4, 1, 0o100_644, 9)));
        assert!(!same(&files(2, 3, 0o100_644, 1)), "another content");
        assert!(!same(&files(2, 1, 0o100_755, 1)), "another mode");
        assert!(!same(&index(2, &[entry("dir/a", 0, 0o100_644, 1, 5, 2)], b"")), "one is gone");
        assert!(!same(&one[..one.len() - 1]), "not whole");
        let split = index(2, &[], b"link\0\0\0\0");
        assert!(!hold_the_same(&split, &split, LIKE), "what is in another file may differ");
    }

    proptest! {
        #[test]
        fn no_bytes_are_too_odd(version in 0u32..6, count in any::<u32>(), rest in any::<Vec<u8>>()) {
            let mut text = b"DIRC".to_vec();
            text.extend(version.to_be_bytes());
            text.extend(count.to_be_bytes());
            text.extend(rest);
            let _ = objects_at(&text, &BTreeSet::new(), LIKE);
            let _ = hold_the_same(&text, &text, LIKE);
            let _ = trees_of(&text, LIKE, &BTreeSet::new());
            let _ = changed(&text, LIKE, &BTreeMap::from([(b"a".to_vec(), None)]));
        }
    }
}
