//! Items by their id, in one step: files of a hundred thousand items are searched once for each dependency.

use super::model::Item;
use crate::prelude::*;
use crate::text;

const FREE: u32 = u32::MAX;

/// A table of positions, twice as large as it need be, searched from where the hash points to.
#[derive(Debug, Clone, Default)]
pub(crate) struct Index {
    slots: Vec<u32>,
}

impl Index {
    /// Also tells which items have an id that an earlier one has.
    pub(crate) fn of(items: &[Item<'_>]) -> (Self, Vec<usize>) {
        let size = (items.len() * 2).next_power_of_two().max(2);
        let mut index = Self { slots: vec![FREE; size] };
        let mut again = Vec::new();
        for (at, item) in items.iter().enumerate() {
            let slot = index.slot(&item.id, items);
            if index.slots[slot] == FREE {
                index.slots[slot] = u32::try_from(at).unwrap_or(FREE);
            } else {
                again.push(at);
            }
        }
        (index, again)
    }

    /// The first item of this id.
    pub(crate) fn find(&self, id: &str, items: &[Item<'_>]) -> Option<usize> {
        if self.slots.is_empty() {
            return None;
        }
        let at = self.slots[self.slot(id, items)];
        (at != FREE).then_some(at as usize)
    }

    fn slot(&self, id: &str, items: &[Item<'_>]) -> usize {
        let mask = self.slots.len() - 1;
        let hash = text::hash(id);
        let mut slot = (hash ^ (hash >> 32)) as usize & mask;
        loop {
            let at = self.slots[slot];
            if at == FREE || items.get(at as usize).is_none_or(|item| item.id == id) {
                return slot;
            }
            slot = (slot + 1) & mask;
        }
    }
}
