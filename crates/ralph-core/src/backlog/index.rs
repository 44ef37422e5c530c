//! Items by their id, in one step: files of a hundred thousand items are searched once for each dependency.

use alloc::borrow::Cow;
use core::ops::Range;

use super::Backlog;
use super::hands::{Hands, in_halves};
use super::model::Item;
use crate::prelude::*;
use crate::text;

const FREE: u32 = u32::MAX;

/// A table of positions, twice as large as it need be, searched from where the hash points to.
#[derive(Debug, Clone, Default)]
pub(crate) struct Index {
    slots: Vec<Slot>,
}

/// With a part of the hash, so that an item that is not meant is hardly ever looked at.
#[derive(Debug, Clone, Copy)]
struct Slot {
    hash: u32,
    at: u32,
}

impl Index {
    /// Also tells which items have an id that an earlier one has.
    pub(crate) fn of(items: &[Item<'_>]) -> (Self, Vec<usize>) {
        let size = (items.len() * 2).next_power_of_two().max(2);
        let mut index = Self { slots: vec![Slot { hash: 0, at: FREE }; size] };
        let mut again = Vec::new();
        for (at, item) in items.iter().enumerate() {
            let (slot, hash) = index.slot(&item.id, items);
            if index.slots[slot].at == FREE {
                index.slots[slot] = Slot { hash, at: u32::try_from(at).unwrap_or(FREE) };
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
        let at = self.slots[self.slot(id, items).0].at;
        (at != FREE).then_some(at as usize)
    }

    /// Where an id is or would be, and its part of the hash.
    fn slot(&self, id: &str, items: &[Item<'_>]) -> (usize, u32) {
        let mask = self.slots.len() - 1;
        let hash = text::hash(id);
        let part = (hash >> 32) as u32;
        let mut slot = (hash ^ (hash >> 32)) as usize & mask;
        loop {
            let Slot { hash, at } = self.slots[slot];
            let meant = || items.get(at as usize).is_none_or(|item| item.id == id);
            if at == FREE || hash == part && meant() {
                return (slot, part);
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
    pub(crate) fn of(backlog: &Backlog<'_>, hands: &impl Hands) -> Self {
        let items = backlog.items();
        let look_up = |part: Range<usize>| look_up(backlog, part);
        let places = in_halves(hands, backlog.text(), items.len(), look_up).concat();
        let ends = items.iter().scan(0, |end: &mut usize, item| {
            *end += item.dependencies.len();
            Some(u32::try_from(*end).unwrap_or(FREE))
        });
        Self { starts: [0].into_iter().chain(ends).collect(), places }
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

/// The places of what these items depend on.
fn look_up(backlog: &Backlog<'_>, part: Range<usize>) -> Vec<u32> {
    let place = |id: &Cow<'_, str>| backlog.find(id).and_then(|at| u32::try_from(at).ok()).unwrap_or(FREE);
    backlog.items()[part].iter().flat_map(|item| &item.dependencies).map(place).collect()
}

/// The shortest beginning of an id that stands for it.
const SHORTEST: usize = 4;

/// The ids that these words stand for: that id alone where it is one, else those that begin so, or whose title this is.
pub fn meant<'i>(words: &str, items: impl Iterator<Item = (&'i str, Option<&'i str>)>) -> Vec<&'i str> {
    let mut ids: Vec<&str> = Vec::new();
    for (id, title) in items {
        if id == words {
            return vec![id];
        }
        if (begins(id, words) || title == Some(words)) && !ids.contains(&id) {
            ids.push(id);
        }
    }
    ids
}

/// A number is no beginning of a larger one, but in a hash: `FEAT-1` does not stand for `FEAT-10`.
fn begins(id: &str, words: &str) -> bool {
    let Some(rest) = id.strip_prefix(words) else { return false };
    let digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
    let in_a_number = digit(words.chars().next_back()) && digit(rest.chars().next());
    let hash = id.chars().all(|c| c.is_ascii_hexdigit());
    words.chars().count() >= SHORTEST && (hash || !in_a_number)
}
