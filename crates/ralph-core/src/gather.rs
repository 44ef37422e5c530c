//! Sets and maps, an element after the other. `collect` sorts first, by code of its own for every type that is collected: for the few
//! elements of most sets that is no faster, and it made the binary larger by a fiftieth.

use alloc::collections::{BTreeMap, BTreeSet};

pub trait Gather: Iterator + Sized {
    fn into_set(self) -> BTreeSet<Self::Item>
    where
        Self::Item: Ord,
    {
        let mut set = BTreeSet::new();
        set.extend(self);
        set
    }

    /// Of two with the same name the last.
    fn into_map<K: Ord, V>(self) -> BTreeMap<K, V>
    where
        Self: Iterator<Item = (K, V)>,
    {
        let mut map = BTreeMap::new();
        map.extend(self);
        map
    }
}

impl<I: Iterator> Gather for I {}
