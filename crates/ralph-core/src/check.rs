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
        let mut text = format!("{} {}", crate::text::one_line(&self.command, 120), self.end);
        if self.passed() || self.failing.is_empty() {
            return text;
        }
        text.push_str(" (");
        text.push_str(&self.failing.iter().take(3).cloned().collect::<Vec<_>>().join(", "));
        if self.failing.len() > 3 {
            text.push_str(&format!(" and {} more", self.failing.len() - 3));
        }
        text.push(')');
        text
    }
}
