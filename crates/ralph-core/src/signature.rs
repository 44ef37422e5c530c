//! The errors of an iteration in a form that can be compared with those of the next: is the agent
//! stuck at the same place?
//!
//! [`Errors`] collects them: what the transcript itself calls a failure, and only where it has none,
//! lines of the agent's words that have an error's shape ([`has_error_shape`]). Each is normalised
//! ([`normalise`]), so that the same error on another line or at another hour stays the same.

mod normal;
mod prefix;
mod runners;
mod shape;
#[cfg(test)]
mod tests;

use alloc::borrow::Cow;
use alloc::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::prelude::*;
use crate::text;
pub use normal::normalise;
pub use shape::has_error_shape;

/// How many errors of one iteration are compared.
const MOST: usize = 20;
/// How many outputs with the same errors make a loop stuck (seed 002).
const STUCK_AFTER: usize = 3;
/// How much of a line is looked at: a longer one is data.
const LINE_READ: usize = 2 << 10;

/// Lines of a failure that only say that it failed: taken if there is nothing better.
const SAYS_LITTLE: [&str; 6] = [
    "Exit code ",
    "exit code ",
    "exit status ",
    "Process exited with code ",
    "Process finished with exit code ",
    "Command failed with exit code ",
];

/// Lines that tools put after or among the real ones, and that differ from run to run.
const NOISE: [&str; 4] = ["Shell cwd was reset to ", "A complete log of this run", "</", "```"];

/// The errors of one iteration, each normalised; the same error = the same non-empty set.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ErrorSet {
    /// At most 20, each at most 200 bytes.
    pub errors: BTreeSet<String>,
}

impl ErrorSet {
    pub fn is_empty(&self) -> bool {
        self.errors.is_empty()
    }

    /// Two iterations without errors have nothing in common.
    pub fn same_as(&self, other: &Self) -> bool {
        !self.is_empty() && self == other
    }

    /// One of them, to be shown.
    pub fn first(&self) -> Option<&str> {
        self.errors.first().map(String::as_str)
    }

    /// Of too many, the smallest stay: which ones does not depend on the order they came in.
    fn keep(&mut self, line: &str) {
        let error = normalise(line);
        if error.is_empty() {
            return;
        }
        self.errors.insert(error);
        if self.errors.len() > MOST {
            self.errors.pop_last();
        }
    }
}

/// Collects errors while an iteration is read. Each text is read whole lines at once, and not kept.
#[derive(Debug, Default)]
pub struct Errors {
    failures: ErrorSet,
    /// Failures of which no more is known than that they failed.
    bare: ErrorSet,
    said: ErrorSet,
}

impl Errors {
    /// A structured failure: a failed tool result, a non-zero command with its output, `is_error`,
    /// `turn.failed`. Without a word it cannot be compared, and is left out.
    pub fn tool_failed(&mut self, text: &str) {
        let mut found = false;
        for line in lines(text).filter(|line| has_error_shape(line) && !is_noise(line)) {
            self.failures.keep(line);
            found = true;
        }
        if found {
            return;
        }
        match last_line(text, |line| !says_little(line)) {
            Some(line) => self.failures.keep(line),
            None => {
                if let Some(line) = last_line(text, says_little) {
                    self.bare.keep(line);
                }
            }
        }
    }

    /// The agent's own plain text: only lines that have an error's shape, and only where nothing has failed yet.
    pub fn words(&mut self, text: &str) {
        if !self.failures.is_empty() || !self.bare.is_empty() {
            return;
        }
        for line in lines(text).filter(|line| has_error_shape(line) && !is_noise(line)) {
            self.said.keep(line);
        }
    }

    pub fn finish(self) -> ErrorSet {
        [self.failures, self.bare, self.said].into_iter().find(|set| !set.is_empty()).unwrap_or_default()
    }
}

/// Whether the last three outputs ended in the same errors. Three without any hash alike in seed 002,
/// and are no loop.
pub fn stuck(last: &[ErrorSet]) -> bool {
    let Some(from) = last.len().checked_sub(STUCK_AFTER) else { return false };
    last[from..].windows(2).all(|pair| pair[0].same_as(&pair[1]))
}

/// A carriage return ends a line as well: progress bars stand before the error otherwise.
fn lines(text: &str) -> impl DoubleEndedIterator<Item = &str> {
    text.split(['\n', '\r']).filter(|line| !line.is_empty())
}

/// What is read of a line: its start, without colours. Most lines are plain already, and not copied.
fn readable(line: &str) -> Cow<'_, str> {
    let start = &line[..line.floor_char_boundary(LINE_READ)];
    if start.bytes().all(|byte| matches!(byte, b'\t' | b' '..=b'~')) {
        Cow::Borrowed(start)
    } else {
        Cow::Owned(text::plain(start))
    }
}

fn last_line(text: &str, wanted: impl Fn(&str) -> bool) -> Option<&str> {
    lines(text).rev().find(|line| {
        let line = readable(line);
        let line = line.trim();
        !line.is_empty() && !is_noise(line) && wanted(line)
    })
}

fn says_little(line: &str) -> bool {
    SAYS_LITTLE.iter().any(|start| line.starts_with(start))
}

fn is_noise(line: &str) -> bool {
    let line = line.trim_start();
    let line = ["npm error ", "npm ERR! "].iter().find_map(|npm| line.strip_prefix(npm)).unwrap_or(line);
    NOISE.iter().any(|start| line.starts_with(start))
}
