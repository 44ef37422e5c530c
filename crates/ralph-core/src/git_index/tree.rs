//! The trees that `git write-tree` makes of an index: what they are called, and their content, so that nobody has to wait for git.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use super::{Entries, Entry, FOLDER};
use crate::git_object::{self, Id, Kind};

/// In the further flags of an entry: the file is meant to be added, and no tree holds it yet.
const INTENT_TO_ADD: u16 = 0x2000;

/// A tree and some of those below it.
#[derive(Debug, PartialEq, Eq)]
pub struct Trees {
    /// What the whole is called.
    pub top: String,
    /// The content of the folders that were asked for, the top too.
    pub contents: Vec<Vec<u8>>,
}

/// The tree of an index. `like` is any id of the repository, `within` are folders whose content is wanted, from the top and with a slash at
/// their ends. `None`: ask git, for it is a repository with other ids, or an index that is no whole tree or in no form that is known.
pub fn trees_of(index: &[u8], like: &str, within: &BTreeSet<Vec<u8>>) -> Option<Trees> {
    if like.len() != git_object::DIGITS {
        return None;
    }
    let mut entries = Entries::of(index, like)?;
    let mut contents = Vec::new();
    // The folders that the last entry was in, the top first.
    let mut open = vec![Folder::default()];
    while let Some(Entry { mode, id, stage }) = entries.next()? {
        if mode == FOLDER || stage != 0 || entries.extended & INTENT_TO_ADD != 0 {
            return None;
        }
        let path = entries.path.as_slice();
        while let Some(folder) = open.pop_if(|folder| !path.starts_with(&folder.path)) {
            close(folder, &mut open, within, &mut contents)?;
        }
        let mut begins = open.last()?.path.len();
        while let Some(slash) = path[begins..].iter().position(|byte| *byte == b'/') {
            begins += slash + 1;
            open.push(Folder { path: path[..begins].to_vec(), content: Vec::new() });
        }
        open.last_mut()?.add(mode, &path[begins..], id);
    }
    while let Some(folder) = open.pop_if(|folder| !folder.path.is_empty()) {
        close(folder, &mut open, within, &mut contents)?;
    }
    let top = open.pop()?;
    let name = super::hex(&top.id());
    contents.push(top.content);
    Some(Trees { top: name, contents })
}

#[derive(Default)]
struct Folder {
    /// From the top, with a slash at its end; empty for the top itself.
    path: Vec<u8>,
    /// As git stores it. The entries of an index come in the order of those of its folders.
    content: Vec<u8>,
}

impl Folder {
    fn add(&mut self, mode: u32, name: &[u8], id: &[u8]) {
        self.content.extend_from_slice(format!("{mode:o} ").as_bytes());
        self.content.extend_from_slice(name);
        self.content.push(0);
        self.content.extend_from_slice(id);
    }

    fn id(&self) -> Id {
        git_object::id(Kind::Tree, &self.content)
    }
}

/// A folder that is complete becomes an entry of the one around it.
fn close(
    folder: Folder,
    open: &mut [Folder],
    within: &BTreeSet<Vec<u8>>,
    contents: &mut Vec<Vec<u8>>,
) -> Option<()> {
    let around = open.last_mut()?;
    let name = folder.path.get(around.path.len()..folder.path.len() - 1)?;
    around.add(FOLDER, name, &folder.id());
    if within.contains(&folder.path) {
        contents.push(folder.content);
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::super::tests::{LIKE, entry, index};
    use super::*;

    fn tree_of(index: &[u8], like: &str) -> Option<String> {
        trees_of(index, like, &BTreeSet::new()).map(|trees| trees.top)
    }

    /// Made with `git update-index --index-info` and `git write-tree`.
    #[test]
    fn a_tree_is_called_what_git_calls_it() {
        assert_eq!(
            tree_of(&index(2, &[], b""), LIKE).as_deref(),
            Some("4b825dc642cb6eb9a060e54bf8d69288fbee4904")
        );
        let file = |name: &str, mode: u32, byte: u8| entry(name, 0, mode, byte, 1, 2);
        let entries = [
            file("a-b", 0o100_644, 0xaa),
            file("a/b/c", 0o100_755, 0xbb),
            file("a/b/d/e", 0o120_000, 0xcc),
            file("a/f", 0o100_644, 0xdd),
            file("a0", 0o160_000, 0xee),
            file("z/y", 0o100_644, 0x11),
        ];
        assert_eq!(
            tree_of(&index(2, &entries, b""), LIKE).as_deref(),
            Some("22760226028e540f92c583160bf59a166bdb59db")
        );
    }

    #[test]
    fn the_content_of_a_folder_is_told_where_it_is_asked_for() {
        let file = |name: &str, byte: u8| entry(name, 0, 0o100_644, byte, 1, 2);
        let index = index(2, &[file("a/b/c", 1), file("a/d", 2), file("e/f", 3)], b"");
        let within = ["a/", "a/b/"].map(|path| path.as_bytes().to_vec());
        let asked = trees_of(&index, LIKE, &within.into_iter().collect()).expect("a known form");
        let line =
            |mode: &str, name: &str, id: &[u8]| [mode.as_bytes(), b" ", name.as_bytes(), b"\0", id].concat();
        let c = line("100644", "c", &[1; 20]);
        let b = git_object::id(Kind::Tree, &c);
        let a = [line("40000", "b", &b), line("100644", "d", &[2; 20])].concat();
        let e = git_object::id(Kind::Tree, &line("100644", "f", &[3; 20]));
        let top = [line("40000", "a", &git_object::id(Kind::Tree, &a)), line("40000", "e", &e)].concat();
        assert_eq!(asked.top, super::super::hex(&git_object::id(Kind::Tree, &top)));
        assert_eq!(asked.contents, [c, a, top]);
    }

    #[test]
    fn what_git_would_not_write_as_it_is_is_left_to_git() {
        let one = |flags: u16, more: u8, mode: u32| {
            let mut entry = entry("a", 0, mode, 1, flags, 2);
            entry[62] |= more;
            index(2, &[entry], b"")
        };
        const LONG: u16 = super::super::EXTENDED | 1;
        assert!(tree_of(&one(LONG, 0x40, 0o100_644), LIKE).is_some(), "not in the work tree");
        assert_eq!(tree_of(&one(LONG, 0x20, 0o100_644), LIKE), None, "to be added");
        assert_eq!(tree_of(&one(0x1001, 0, 0o100_644), LIKE), None, "a conflict");
        assert_eq!(tree_of(&one(1, 0, FOLDER), LIKE), None, "sparse");
        assert_eq!(tree_of(&one(1, 0, 0o100_644), &LIKE.repeat(2)[..64]), None, "other ids");
    }
}
