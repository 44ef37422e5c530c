//! Checks: commands ralph runs itself. What they printed is read here for the names of failing tests.

pub mod failing;

use serde::{Deserialize, Serialize};

use crate::event::End;
use crate::prelude::*;

/// A command whose success is evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckSpec {
    /// `test`, later also `build`, `lint` and an item's own.
    pub name: String,
    /// As the user gave it, run by `sh -c`.
    pub command: String,
}

/// One run of a check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckResult {
    pub name: String,
    pub command: String,
    pub end: End,
    /// It was asked to end before it ended by itself.
    #[serde(default)]
    pub asked: bool,
    /// Names of tests that failed, where the output tells; bounded.
    pub failing: Vec<String>,
    pub duration_ms: u64,
    /// The end of its output, for the next prompt.
    pub output_tail: String,
}

impl CheckResult {
    pub fn passed(&self) -> bool {
        self.end == End::Exited { code: 0 }
    }

    /// `cargo test exit 101 (auth::login, auth::logout and 3 more)`
    pub fn describe(&self) -> String {
        self.describe_as(None)
    }

    /// The same with a remark: `cargo test exit 101 (auth::login, new)`
    pub fn describe_as(&self, remark: Option<&str>) -> String {
        let mut notes: Vec<String> = vec![];
        if !self.passed() {
            notes.extend(self.failing.iter().take(3).cloned());
            if let Some(last) = notes.last_mut()
                && self.failing.len() > 3
            {
                last.push_str(&format!(" and {} more", self.failing.len() - 3));
            }
        }
        notes.extend(remark.map(Into::into));
        let text = format!("{} {}", crate::text::one_line(&self.command, 120), self.end);
        if notes.is_empty() { text } else { format!("{text} ({})", notes.join(", ")) }
    }
}
