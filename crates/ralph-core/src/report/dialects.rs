//! The other ways in which agents say how it stands: a JSON line with markers, a promise, a status file.
//!
//! All dialects are always heard. Several of one: the last. Which one counts when they disagree is the gate's to say.

mod json;
mod marker;
mod promise;
mod status_file;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use crate::prelude::*;

pub use json::json_and_marker;
pub use promise::{misplaced, promise};
pub use status_file::status_file;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Dialect {
    /// `---RALPH_STATUS---` … `---END_RALPH_STATUS---`
    Block,
    /// `RALPH_STATUS: {…}` and a marker line
    Json,
    /// `.ralph/status`
    StatusFile,
    /// `<promise>TEXT</promise>`
    Promise,
}

/// What one dialect said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Saying {
    pub dialect: Dialect,
    pub vote: Vote,
    /// The words that said it.
    pub quote: String,
    pub problems: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "vote", rename_all = "snake_case")]
pub enum Vote {
    Done {
        /// The phase that is done, where the marker names one.
        phase: Option<u32>,
    },
    More,
    Blocked {
        why: String,
    },
}

/// A problem that more than one dialect has.
const INVISIBLE: &str = "invisible characters";
