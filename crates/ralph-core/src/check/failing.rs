//! The names of failing tests in what a test runner printed.
//!
//! Most runners put each failure on a line of its own, which is told by its shape alone. Some name it only within a list or
//! behind a heading, and there the line before counts: `Place` says what it was.

mod lists;
mod single;

use crate::prelude::*;
use crate::text;
use crate::transcript::lines::Lines;
use lists::Place;

pub(crate) const MOST: usize = 50;

/// Reads a check's output as it streams by.
#[derive(Debug, Default)]
pub struct FailingTests {
    lines: Lines,
    names: Names,
}

#[derive(Debug, Default)]
struct Names {
    place: Place,
    names: Vec<String>,
}

impl FailingTests {
    pub fn feed(&mut self, bytes: &[u8]) {
        let Self { lines, names } = self;
        lines.feed(bytes, |line| names.note(line.bytes));
    }

    pub fn finish(mut self) -> Vec<String> {
        let names = &mut self.names;
        self.lines.finish(|line| names.note(line.bytes));
        self.names.names
    }
}

impl Names {
    fn note(&mut self, line: &[u8]) {
        if self.names.len() >= MOST || line.len() > 10_000 {
            return;
        }
        let line = text::plain(&String::from_utf8_lossy(line));
        let name = single::name(&line);
        let listed = self.place.read(&line);
        if let Some(name) = name.or(listed) {
            let name = text::one_line(name.trim(), 200);
            let again =
                single::summed_up(&line).is_some() && self.names.iter().any(|k| single::means(&name, k));
            if !name.is_empty() && !again && !self.names.contains(&name) {
                self.names.push(name);
            }
        }
    }
}

#[cfg(test)]
mod tests;
