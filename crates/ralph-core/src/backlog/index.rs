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

/// Where the dependencies of all items are, each looked up once.
#[derive(Debug)]
pub(crate) struct Dependencies {
    /// The first of each item's, and behind the last item the end.
    starts: Vec<u32>,
    places: Vec<u32>,
}

impl Dependencies {
    pub(crate) fn of(backlog: &super::Backlog<'_>) -> Self {
        let items = backlog.items();
        let mut all = Self { starts: Vec::with_capacity(items.len() + 1), places: Vec::new() };
        for item in items {
            all.begin();
            let place = |id: &alloc::borrow::Cow<'_, str>| {
                backlog.find(id).and_then(|at| u32::try_from(at).ok()).unwrap_or(FREE)
            };
            all.places.extend(item.dependencies.iter().map(place));
        }
        all.begin();
        all
    }

    fn begin(&mut self) {
        self.starts.push(u32::try_from(self.places.len()).unwrap_or(FREE));
    }

    /// The places of an item's dependencies; none of those that are not in the file.
    pub(crate) fn at(&self, item: usize) -> impl Iterator<Item = Option<usize>> {
        self.slice(item).iter().map(|at| (*at != FREE).then_some(*at as usize))
    }

    pub(crate) fn nth(&self, item: usize, nth: usize) -> Option<Option<usize>> {
        self.slice(item).get(nth).map(|at| (*at != FREE).then_some(*at as usize))
    }

    fn slice(&self, item: usize) -> &[u32] {
        let bound = |at: usize| self.starts.get(at).map_or(0, |start| *start as usize);
        self.places.get(bound(item)..bound(item + 1)).unwrap_or_default()
    }
}
