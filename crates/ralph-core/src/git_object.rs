//! Objects of git's as bytes: what one is called, and many of them as a pack, which git reads on its standard input.

use alloc::format;
use alloc::vec::Vec;

use sha1_smol::Sha1;

/// Digits of an id that this module can make.
pub const DIGITS: usize = 40;

/// The bytes of an id.
pub type Id = [u8; 20];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Tree,
    Blob,
}

impl Kind {
    fn word(self) -> &'static str {
        match self {
            Kind::Tree => "tree",
            Kind::Blob => "blob",
        }
    }

    /// As packs have it.
    fn number(self) -> u8 {
        match self {
            Kind::Tree => 2,
            Kind::Blob => 3,
        }
    }
}

pub fn id(kind: Kind, content: &[u8]) -> Id {
    let mut digest = Sha1::from(format!("{} {}\0", kind.word(), content.len()));
    digest.update(content);
    digest.digest().bytes()
}

/// What stands before the deflated content of an object in a pack: its kind and its length, four bits and then seven a byte.
pub fn head(kind: Kind, length: usize) -> Vec<u8> {
    let (mut byte, mut left) = (kind.number() << 4 | (length & 0xf) as u8, length >> 4);
    let mut head = Vec::new();
    while left != 0 {
        head.push(byte | 0x80);
        (byte, left) = ((left & 0x7f) as u8, left >> 7);
    }
    head.push(byte);
    head
}

/// A pack of these objects, each with its head. `None`: there are more than a pack can count.
pub fn pack(objects: &[&[u8]]) -> Option<Vec<u8>> {
    let count = u32::try_from(objects.len()).ok()?;
    let mut pack = Vec::with_capacity(objects.iter().map(|object| object.len()).sum::<usize>() + 32);
    pack.extend_from_slice(b"PACK");
    pack.extend(2u32.to_be_bytes());
    pack.extend(count.to_be_bytes());
    objects.iter().for_each(|object| pack.extend_from_slice(object));
    let sum = Sha1::from(&pack).digest().bytes();
    pack.extend(sum);
    Some(pack)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By `git hash-object`.
    #[test]
    fn an_object_is_called_what_git_calls_it() {
        let hex = |id: Id| id.iter().map(|byte| format!("{byte:02x}")).collect::<alloc::string::String>();
        assert_eq!(hex(id(Kind::Blob, b"")), "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
        assert_eq!(hex(id(Kind::Blob, b"hello\n")), "ce013625030ba8dba906f756967f9e9ca394464a");
        assert_eq!(hex(id(Kind::Tree, b"")), "4b825dc642cb6eb9a060e54bf8d69288fbee4904");
    }

    /// As `git verify-pack` reads them.
    #[test]
    fn a_head_tells_kind_and_length() {
        assert_eq!(head(Kind::Blob, 0), [0x30]);
        assert_eq!(head(Kind::Blob, 15), [0x3f]);
        assert_eq!(head(Kind::Tree, 16), [0xa0, 0x01]);
        assert_eq!(head(Kind::Blob, 300), [0xbc, 0x12]);
        assert_eq!(head(Kind::Blob, 1 << 20), [0xb0, 0x80, 0x80, 0x04]);
    }

    #[test]
    fn a_pack_counts_its_objects_and_ends_with_a_digest() {
        let pack = pack(&[b"one", b"two"]).expect("few");
        assert_eq!(pack[..12], *b"PACK\0\0\0\x02\0\0\0\x02");
        assert_eq!(pack[12..18], *b"onetwo");
        assert_eq!(pack.len(), 18 + 20);
    }
}
