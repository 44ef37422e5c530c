//! The same index with other files in it, as git would write it, without a digest over the whole (`index.skipHash`).
//!
//! What an index remembers of folders (the `TREE` part) is kept for those in which nothing changed.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::vec;
use alloc::vec::Vec;

use super::{EXTENDED, Entries, Entry, FOLDER, HEADER, STAT, number};
use crate::git_object::{DIGITS, Id};

const TREE: &[u8] = b"TREE";
/// Parts that help to read a large index in several threads. git does without them.
const DISPENSABLE: [&[u8]; 2] = [b"EOIE", b"IEOT"];
/// Of files and links: what a snapshot of files can take the place of.
const KIND: u32 = 0o170_000;
const FILE: u32 = 0o100_000;
const LINK: u32 = 0o120_000;
/// In the flags of an entry: git was told to take its file for unchanged.
const ASSUMED: u16 = 0x8000;
/// The longest path whose length the flags can tell.
const LONGEST: usize = 0xfff;

/// What the system says of a file, as an index keeps it: the lower halves of larger numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stat {
    pub changed: (u32, u32),
    pub modified: (u32, u32),
    pub device: u32,
    pub inode: u32,
    pub user: u32,
    pub group: u32,
    pub size: u32,
}

/// What an index is to hold at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Held {
    pub stat: Stat,
    pub executable: bool,
    pub id: Id,
}

impl Held {
    fn mode(&self) -> u32 {
        if self.executable { 0o100_755 } else { 0o100_644 }
    }

    fn bytes(&self) -> Vec<u8> {
        let Stat { changed, modified, device, inode, user, group, size } = self.stat;
        let numbers =
            [changed.0, changed.1, modified.0, modified.1, device, inode, self.mode(), user, group, size];
        let mut bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_be_bytes()).collect();
        bytes.extend(self.id);
        bytes
    }

    /// A whole entry.
    fn entry(&self, path: &[u8]) -> Vec<u8> {
        let mut entry = self.bytes();
        // The length fits: it is cut to what the flags can tell.
        entry.extend((path.len().min(LONGEST) as u16).to_be_bytes());
        entry.extend_from_slice(path);
        entry.push(0);
        entry.resize(entry.len().next_multiple_of(8), 0);
        entry
    }
}

/// The index with these files; `None` for one that is gone. `like` is any id of the repository. The outer `None`: ask git, for the index is in a form that is not
/// changed here, or holds something else than a file in the place of one.
pub fn changed(index: &[u8], like: &str, files: &BTreeMap<Vec<u8>, Option<Held>>) -> Option<Vec<u8>> {
    if like.len() != DIGITS {
        return None;
    }
    let folders: BTreeSet<&[u8]> = files.keys().flat_map(|path| above(path)).collect();
    let mut entries = Entries::of(index, like)?;
    let compressed = entries.version == 4;
    let mut text = index.get(..HEADER)?.to_vec();
    let mut count = 0u32;
    let mut waiting = files.iter().peekable();
    let adds = files.values().any(Option::is_some);
    loop {
        let start = entries.at;
        let entry = entries.next()?;
        let path = entry.as_ref().map(|_| entries.path.as_slice());
        // Those that belong before this one are new, or were never there.
        while let Some((new, held)) =
            waiting.next_if(|(new, _)| path.is_none_or(|path| new.as_slice() < path))
        {
            if let Some(held) = held {
                if compressed {
                    return None;
                }
                text.extend(held.entry(new));
                count = count.checked_add(1)?;
            }
        }
        let (Some(Entry { mode, stage, .. }), Some(path)) = (entry, path) else { break };
        if stage != 0 || mode == FOLDER {
            return None;
        }
        match waiting.next_if(|(new, _)| new.as_slice() == path) {
            None => {
                // A file where a folder is now, or the other way round: git sorts that out.
                let in_the_way = |path: &[u8]| matches!(files.get(path), Some(Some(_)));
                if adds
                    && (folders.contains([path, b"/"].concat().as_slice())
                        || above(path).any(|folder| in_the_way(&folder[..folder.len().saturating_sub(1)])))
                {
                    return None;
                }
                text.extend_from_slice(index.get(start..entries.at)?);
                count = count.checked_add(1)?;
            }
            Some((_, Some(held))) => {
                let flags_at = start + STAT + DIGITS / 2;
                let flags = u16::from_be_bytes(index.get(flags_at..flags_at + 2)?.try_into().ok()?);
                if flags & (EXTENDED | ASSUMED) != 0 || !matches!(mode & KIND, FILE | LINK) {
                    return None;
                }
                text.extend(held.bytes());
                text.extend_from_slice(index.get(flags_at..entries.at)?);
                count = count.checked_add(1)?;
            }
            Some((_, None)) if compressed || !matches!(mode & KIND, FILE | LINK) => return None,
            Some((_, None)) => {}
        }
    }
    text[8..HEADER].copy_from_slice(&count.to_be_bytes());
    parts(index.get(entries.at..)?, files, &folders, &mut text)?;
    text.extend([0; DIGITS / 2]);
    Some(text)
}

/// The folders that a path is in, from the top, with a slash at their ends; the top itself is empty.
fn above(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at + 1);
    core::iter::once(0).chain(slashes).map(|end| &path[..end])
}

/// What follows the entries, as far as it still holds.
fn parts(
    mut rest: &[u8],
    files: &BTreeMap<Vec<u8>, Option<Held>>,
    folders: &BTreeSet<&[u8]>,
    text: &mut Vec<u8>,
) -> Option<()> {
    while rest.len() > DIGITS / 2 {
        let (name, size) = (rest.get(..4)?, number(rest, 4)? as usize);
        let part = rest.get(8..size.checked_add(8)?)?;
        if name == TREE {
            let known = forgetting(part, files, folders)?;
            text.extend_from_slice(TREE);
            text.extend(u32::try_from(known.len()).ok()?.to_be_bytes());
            text.extend(known);
        } else if !DISPENSABLE.contains(&name) {
            return None;
        }
        rest = &rest[8 + size..];
    }
    Some(())
}

/// What is remembered of folders without those in which something changed: each is a name, how many entries it has (-1: nobody knows),
/// how many folders, and its id where it is known; then come its folders.
fn forgetting(
    part: &[u8],
    files: &BTreeMap<Vec<u8>, Option<Held>>,
    folders: &BTreeSet<&[u8]>,
) -> Option<Vec<u8>> {
    let mut known = Vec::with_capacity(part.len());
    let mut at = 0;
    // The folder that is read, and how many of each one around it are left.
    let (mut path, mut left) = (Vec::new(), vec![1usize]);
    let mut lengths = vec![0usize];
    while at < part.len() {
        while left.last() == Some(&0) {
            left.pop();
            path.truncate(lengths.pop()?);
        }
        *left.last_mut()? -= 1;
        let name = &part[at..at + part[at..].iter().position(|byte| *byte == 0)?];
        at += name.len() + 1;
        let line = &part[at..at + part[at..].iter().position(|byte| *byte == b'\n')?];
        at += line.len() + 1;
        let (entries, below) = core::str::from_utf8(line).ok()?.split_once(' ')?;
        let id = match entries.parse::<i64>().ok()? {
            0.. => part.get(at..at + DIGITS / 2)?,
            _ => &[],
        };
        at += id.len();
        let above = path.len();
        path.extend_from_slice(name);
        if !name.is_empty() {
            // It was a folder, and is a file now.
            if files.get(&path).is_some_and(Option::is_some) {
                return None;
            }
            path.push(b'/');
        }
        known.extend_from_slice(name);
        known.push(0);
        match id.is_empty() || folders.contains(path.as_slice()) {
            true => known.extend_from_slice(format!("-1 {below}\n").as_bytes()),
            false => {
                known.extend_from_slice(line);
                known.push(b'\n');
                known.extend_from_slice(id);
            }
        }
        lengths.push(above);
        left.push(below.parse().ok()?);
    }
    Some(known)
}

#[cfg(test)]
mod tests {
    use alloc::string::String;

    use super::super::tests::{LIKE, entry, index};
    use super::*;

    fn held(byte: u8, executable: bool) -> Option<Held> {
        let stat =
            Stat { changed: (1, 2), modified: (3, 4), device: 5, inode: 6, user: 7, group: 8, size: 9 };
        Some(Held { stat, executable, id: [byte; 20] })
    }

    fn files(files: &[(&str, Option<Held>)]) -> BTreeMap<Vec<u8>, Option<Held>> {
        files.iter().map(|(path, held)| (path.as_bytes().to_vec(), *held)).collect()
    }

    fn named(name: &str, byte: u8) -> Vec<u8> {
        entry(name, 0, 0o100_644, byte, u16::try_from(name.len()).expect("short"), 2)
    }

    /// Each path with the first byte of its id and its mode, and the parts behind the entries.
    fn told(index: &[u8]) -> (Vec<(String, u8, u32)>, Vec<u8>) {
        let mut entries = Entries::of(index, LIKE).expect("an index");
        let mut told = Vec::new();
        while let Some(Entry { mode, id, .. }) = entries.next().expect("whole") {
            told.push((String::from_utf8(entries.path.clone()).expect("plain"), id[0], mode));
        }
        (told, index[entries.at..index.len() - 20].to_vec())
    }

    #[test]
    fn files_are_put_in_taken_out_and_exchanged_and_all_others_stay_byte_for_byte() {
        let old = index(2, &[named("a", 1), named("b/c", 2), named("b/d", 3), named("e", 4)], b"");
        let new =
            files(&[("b/c", held(9, true)), ("b/cc", held(8, false)), ("e", None), ("z", held(7, false))]);
        let text = changed(&old, LIKE, &new).expect("a known form");
        let (paths, rest) = told(&text);
        assert_eq!(
            paths,
            [
                ("a".into(), 1, 0o100_644),
                ("b/c".into(), 9, 0o100_755),
                ("b/cc".into(), 8, 0o100_644),
                ("b/d".into(), 3, 0o100_644),
                ("z".into(), 7, 0o100_644)
            ]
        );
        assert!(rest.is_empty());
        let first = HEADER..HEADER + named("a", 1).len();
        assert_eq!(text[first.clone()], old[first], "the first entry");
        let numbers = |at: usize| number(&text, at).expect("there");
        let second = 12 + named("a", 1).len();
        let stat: Vec<u32> = (0..10).map(|field| numbers(second + 4 * field)).collect();
        assert_eq!(stat, [1, 2, 3, 4, 5, 6, 0o100_755, 7, 8, 9]);
    }

    #[test]
    fn an_index_that_names_only_what_differs_from_the_entry_before_gets_other_contents_and_no_other_paths() {
        let old = index(4, &[entry("dir/a", 0, 0o100_644, 1, 5, 4), entry("b", 1, 0o100_644, 2, 5, 4)], b"");
        let text = changed(&old, LIKE, &files(&[("dir/b", held(9, false))])).expect("the same paths");
        assert_eq!(told(&text).0, [("dir/a".into(), 1, 0o100_644), ("dir/b".into(), 9, 0o100_644)]);
        assert_eq!(changed(&old, LIKE, &files(&[("dir/c", held(9, false))])), None);
        assert_eq!(changed(&old, LIKE, &files(&[("dir/a", None)])), None);
    }

    #[test]
    fn what_is_known_of_folders_is_forgotten_where_something_changed() {
        let id = [0xab; 20];
        let node = |name: &str, entries: i32, below: u32| {
            let id: &[u8] = if entries < 0 { &[] } else { &id };
            [name.as_bytes(), b"\0", format!("{entries} {below}\n").as_bytes(), id].concat()
        };
        let part = |nodes: &[Vec<u8>]| {
            let nodes = nodes.concat();
            let length = u32::try_from(nodes.len()).expect("short").to_be_bytes();
            [&b"TREE"[..], &length, &nodes].concat()
        };
        let known = [
            node("", 4, 2),
            node("a", 2, 2),
            node("b", 1, 0),
            node("c", 1, 0),
            node("d", -1, 1),
            node("e", 1, 0),
        ];
        let eoie = [&b"EOIE"[..], &24u32.to_be_bytes(), &[0; 24]].concat();
        let entries = ["a/b/x", "a/c/y", "d/e/z", "top"].map(|name| named(name, 1));
        let old = index(2, &entries, &[part(&known), eoie].concat());
        let after = |new: &[(&str, Option<Held>)]| told(&changed(&old, LIKE, &files(new)).expect("known")).1;
        let mut expected = known;
        expected[0] = node("", -1, 2);
        assert_eq!(after(&[("top", held(2, false))]), part(&expected));
        expected[1] = node("a", -1, 2);
        expected[3] = node("c", -1, 0);
        assert_eq!(after(&[("a/c/new", held(2, false))]), part(&expected));
        assert_eq!(after(&[("a/c/y", None)]), part(&expected));
        let instead = files(&[("a/c", held(2, false)), ("a/c/y", None)]);
        assert_eq!(changed(&old, LIKE, &instead), None, "a file where a folder was");
    }

    #[test]
    fn what_git_knows_better_is_left_to_git() {
        let new = files(&[("b", held(9, false))]);
        let one = |name: &str, mode: u32, flags: u16| vec![entry(name, 0, mode, 1, flags, 2)];
        let with = |entries: &[Vec<u8>], more: &[u8]| changed(&index(2, entries, more), LIKE, &new);
        assert!(with(&one("b", 0o100_644, 1), b"").is_some());
        assert!(with(&one("b", 0o120_000, 1), b"").is_some(), "a link that became a file");
        for (what, entries) in [
            ("a nested repository", one("b", 0o160_000, 1)),
            ("a folder that is not listed", one("a", FOLDER, 1)),
            ("a conflict", one("b", 0o100_644, 0x1001)),
            ("to be taken for unchanged", one("b", 0o100_644, ASSUMED | 1)),
            ("more flags", one("b", 0o100_644, EXTENDED | 1)),
            ("a file below it", one("b/c", 0o100_644, 3)),
        ] {
            assert_eq!(with(&entries, b""), None, "{what}");
        }
        let below = files(&[("b/c", held(9, false))]);
        assert_eq!(changed(&index(2, &one("b", 0o100_644, 1), b""), LIKE, &below), None, "a file above it");
        assert_eq!(with(&one("a", 0o100_644, 1), b"UNTR\0\0\0\0"), None, "a part that is not known");
        assert_eq!(with(&one("a", 0o100_644, 1), b"link\0\0\0\0"), None, "another file");
        let whole = index(2, &one("ab", 0o100_644, 2), b"");
        assert_eq!(changed(&whole, &LIKE.repeat(2)[..64], &new), None, "other ids");
        for end in 0..whole.len() {
            assert_eq!(changed(&whole[..end], LIKE, &new), None, "cut at {end}");
        }
    }
}
