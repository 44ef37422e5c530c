//! What the tree is called that `git write-tree` makes of an index. The name is a digest of the content, so it is known before git
//! has stored a thing.

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use super::{Entries, Entry, FOLDER};

/// In the further flags of an entry: the file is meant to be added, and no tree holds it yet.
const INTENT_TO_ADD: u16 = 0x2000;
/// Digits of an id that this module can make.
const SHA1: usize = 40;

/// The id of the tree. `like` is any id of the repository. `None`: ask git, for it is a repository with other ids, or an index
/// that is no whole tree or in no form that is known.
pub fn tree_of(index: &[u8], like: &str) -> Option<String> {
    if like.len() != SHA1 {
        return None;
    }
    let mut entries = Entries::of(index, like)?;
    // The folders that the last entry was in, the top first.
    let mut open = vec![Folder::default()];
    while let Some(Entry { mode, id, stage }) = entries.next()? {
        if mode == FOLDER || stage != 0 || entries.extended & INTENT_TO_ADD != 0 {
            return None;
        }
        let path = entries.path.as_slice();
        close(&mut open, |folder| path.starts_with(&folder.path));
        let mut begins = open.last()?.path.len();
        while let Some(slash) = path[begins..].iter().position(|byte| *byte == b'/') {
            begins += slash + 1;
            open.push(Folder { path: path[..begins].to_vec(), content: Vec::new() });
        }
        open.last_mut()?.add(mode, &path[begins..], id);
    }
    close(&mut open, |folder| folder.path.is_empty());
    open.pop().map(|top| super::hex(&top.id()))
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

    fn id(&self) -> [u8; 20] {
        let mut digest = sha1_smol::Sha1::from(format!("tree {}\0", self.content.len()));
        digest.update(&self.content);
        digest.digest().bytes()
    }
}

/// Ends the innermost folders up to one that stays open; each becomes an entry of the one around it.
fn close(open: &mut Vec<Folder>, stays: impl Fn(&Folder) -> bool) {
    while let Some(folder) = open.pop_if(|folder| !stays(folder)) {
        let Some(around) = open.last_mut() else { return };
        let name = folder.path.get(around.path.len()..folder.path.len() - 1).unwrap_or_default();
        around.add(FOLDER, name, &folder.id());
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{LIKE, entry, index};
    use super::*;

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
