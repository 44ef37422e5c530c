//! The names of failing tests in what a test runner printed.
//!
//! Most runners put each failure on a line of its own, which is told by its shape alone (`single`). Some name it only
//! within a list or behind a heading, and there the lines before count (`lists`); some nest tests in suites that fail with
//! them, and are not named beside them (`suites`). What a test printed itself is no name where that can be told.

mod lists;
mod single;
mod suites;

use alloc::borrow::Cow;

use crate::prelude::*;
use crate::text;
use crate::transcript::lines::Lines;
use lists::Lists;
use suites::Suites;

pub(crate) const MOST: usize = 50;

/// What stands between a suite and its test: jest, vitest and bun, nextest.
const BETWEEN: [&str; 3] = [" › ", " > ", " "];

/// Reads a check's output as it streams by.
#[derive(Debug, Default)]
pub struct FailingTests {
    lines: Lines,
    names: Names,
}

#[derive(Debug, Default)]
struct Names {
    lists: Lists,
    suites: Suites,
    names: Vec<Name>,
}

#[derive(Debug)]
struct Name {
    text: String,
    /// Without its suites, which another line may tell.
    short: bool,
}

/// A name as a line has it.
struct Found<'l> {
    name: Cow<'l, str>,
    short: bool,
}

impl<'l> Found<'l> {
    fn whole(name: impl Into<Cow<'l, str>>) -> Self {
        Self { name: name.into(), short: false }
    }

    fn short(name: impl Into<Cow<'l, str>>) -> Self {
        Self { name: name.into(), short: true }
    }
}

impl FailingTests {
    pub fn feed(&mut self, bytes: &[u8]) {
        let Self { lines, names } = self;
        lines.feed(bytes, |line| names.note(line.bytes));
    }

    /// With what another stream of the same check showed: some runners mark a test on one and name it on the other.
    #[must_use]
    pub fn and(mut self, mut other: Self) -> Self {
        self.end();
        other.end();
        other.names.names.into_iter().for_each(|name| self.names.add(name));
        self
    }

    pub fn finish(mut self) -> Vec<String> {
        self.end();
        self.names.names.into_iter().map(|name| name.text).collect()
    }

    fn end(&mut self) {
        let names = &mut self.names;
        core::mem::take(&mut self.lines).finish(|line| names.note(line.bytes));
    }
}

impl Names {
    fn note(&mut self, line: &[u8]) {
        if self.names.len() >= MOST || line.len() > 10_000 {
            return;
        }
        let line = text::plain(&String::from_utf8_lossy(line));
        let listed = self.lists.read(&line);
        let found = match self.lists.quotes() {
            true => listed,
            false => self.suites.read(&line).or_else(|| single::name(&line)).or(listed),
        };
        let Some(Found { name, short }) = found else { return };
        let text = text::one_line(name.trim(), 200);
        let again = single::summed_up(&line).is_some()
            && self.names.iter().any(|known| single::means(&text, &known.text));
        if !text.is_empty() && !again {
            self.add(Name { text, short });
        }
    }

    /// One failure has one name: the one with its suites, where both are told.
    fn add(&mut self, name: Name) {
        let within = |whole: &str, short: &str| {
            whole.strip_suffix(short).is_some_and(|before| BETWEEN.iter().any(|end| before.ends_with(end)))
        };
        if let Some(known) = self.names.iter_mut().find(|known| known.text == name.text) {
            known.short &= name.short;
        } else if name.short {
            let told = self.names.iter().any(|known| !known.short && within(&known.text, &name.text));
            if !told && self.names.len() < MOST {
                self.names.push(name);
            }
        } else if let Some(known) =
            self.names.iter_mut().find(|known| known.short && within(&name.text, &known.text))
        {
            *known = name;
        } else if self.names.len() < MOST {
            self.names.push(name);
        }
    }
}

#[cfg(test)]
mod tests;
