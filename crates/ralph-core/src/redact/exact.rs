//! Known values in a text, in one pass over it: what one pays is the text, not the text times the values.

use alloc::collections::BTreeSet;
use core::cmp::Ordering;

use super::{HIDDEN, MARK};
use crate::prelude::*;

/// More are not kept: a file with more values than this is data that happens to be called `.env`.
pub(super) const MOST: usize = 1_000;
/// No value is shorter (`values::is_worth`), so as many bytes tell where one may begin.
const BEGIN: usize = 4;
const SIEVE: usize = 256;

/// A value, and what stands in its place.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Exact {
    pub(super) value: String,
    pub(super) mark: String,
    /// Its name tells a secret. Such values are kept before others.
    pub(super) named: bool,
}

#[derive(Clone, Default, PartialEq, Eq)]
pub(super) struct Values {
    /// By value, so that what begins at a place is found by halving.
    sorted: Vec<Exact>,
    /// For each of them the longest other one that it begins with.
    within: Vec<Option<usize>>,
    /// A bit for every beginning, so that most places of a text cost a look at one word.
    sieve: Vec<u64>,
    /// How many there were beyond what is kept.
    left_out: usize,
}

impl Values {
    /// Those that are known stay. Of a value that is told twice the first name counts; where there are too many, those with
    /// telling names come first.
    pub(super) fn new(known: Vec<Exact>, told: impl IntoIterator<Item = Exact>, left_out: usize) -> Self {
        let mut seen: BTreeSet<String> = known.iter().map(|exact| exact.value.clone()).into_set();
        let mut more: Vec<Exact> =
            told.into_iter().filter(|exact| seen.insert(exact.value.clone())).collect();
        more.sort_by_key(|exact| !exact.named);
        let room = MOST.saturating_sub(known.len());
        let left_out = left_out.max(more.len().saturating_sub(room));
        more.truncate(room);
        let kept = known.into_iter().chain(more).collect();
        let all = Self::of(kept, left_out);
        // A mark must not be marked again.
        let mut marked = vec![false; all.sorted.len()];
        for mark in all.sorted.iter().map(|exact| exact.mark.as_str()).chain([HIDDEN]) {
            for at in 0..mark.len() {
                let mut found = all.at(&mark.as_bytes()[at..]);
                while let Some(n) = found {
                    marked[n] = true;
                    found = all.within[n];
                }
            }
        }
        if !marked.contains(&true) {
            return all;
        }
        let kept = all.sorted.into_iter().zip(marked).filter(|(_, marked)| !marked).map(|(exact, _)| exact);
        Self::of(kept.collect(), left_out)
    }

    fn of(mut sorted: Vec<Exact>, left_out: usize) -> Self {
        sorted.sort_by(|a, b| a.value.cmp(&b.value));
        let mut within = Vec::with_capacity(sorted.len());
        let mut sieve = if sorted.is_empty() { Vec::new() } else { vec![0; SIEVE] };
        for (n, exact) in sorted.iter().enumerate() {
            let mut before = n.checked_sub(1);
            while let Some(other) = before.filter(|other| !exact.value.starts_with(&sorted[*other].value)) {
                before = within[other];
            }
            within.push(before);
            if let Some((word, bit)) = place(exact.value.as_bytes()) {
                sieve[word] |= bit;
            }
        }
        Self { sorted, within, sieve, left_out }
    }

    pub(super) fn len(&self) -> usize {
        self.sorted.len()
    }

    pub(super) fn left_out(&self) -> usize {
        self.left_out
    }

    /// These too.
    pub(super) fn also(&mut self, others: Values) {
        self.left_out = self.left_out.max(others.left_out);
        if !others.sorted.iter().all(|other| self.knows(&other.value)) {
            *self = Self::new(core::mem::take(&mut self.sorted), others.sorted, self.left_out);
        }
    }

    fn knows(&self, value: &str) -> bool {
        self.sorted.binary_search_by(|exact| exact.value.as_str().cmp(value)).is_ok()
    }

    /// The longest value that the bytes begin with. Whatever they begin with, the last one that does not come after them
    /// begins with it too.
    fn at(&self, bytes: &[u8]) -> Option<usize> {
        let (word, bit) = place(bytes)?;
        if self.sieve.get(word)? & bit == 0 {
            return None;
        }
        let after = |exact: &Exact| exact.value.as_bytes().cmp(bytes) != Ordering::Greater;
        let mut found = self.sorted.partition_point(after).checked_sub(1);
        while let Some(n) = found.filter(|n| !bytes.starts_with(self.sorted[*n].value.as_bytes())) {
            found = self.within[n];
        }
        found
    }

    /// The text without them, if there is any in it. Where they overlap, all of it goes, by the name of the longest.
    pub(super) fn hide(&self, text: &str) -> Option<String> {
        if self.sorted.is_empty() {
            return None;
        }
        let bytes = text.as_bytes();
        let (mut hidden, mut told) = (String::new(), 0);
        let mut at = 0;
        while at + BEGIN <= bytes.len() {
            let Some(mut longest) = self.at(&bytes[at..]) else {
                at += 1;
                continue;
            };
            let length = |n: usize| self.sorted[n].value.len();
            let (begin, mut end) = (at, at + length(longest));
            while at + 1 < end {
                at += 1;
                if let Some(other) = self.at(&bytes[at..]) {
                    end = end.max(at + length(other));
                    longest = if length(other) > length(longest) { other } else { longest };
                }
            }
            hidden.push_str(&text[told..begin]);
            hidden.push_str(&self.sorted[longest].mark);
            (at, told) = (end, end);
        }
        if told == 0 {
            return None;
        }
        hidden.push_str(&text[told..]);
        Some(hidden)
    }
}

/// Where the sieve tells of values that begin like this.
fn place(bytes: &[u8]) -> Option<(usize, u64)> {
    let begin = bytes.first_chunk::<BEGIN>()?;
    let mixed = u32::from_le_bytes(*begin).wrapping_mul(0x9E37_79B1) >> 18;
    Some((usize::try_from(mixed >> 6).ok()?, 1 << (mixed & 63)))
}

/// How a value is marked.
pub(super) fn mark(label: &str) -> String {
    format!("{MARK}:{label}]")
}
