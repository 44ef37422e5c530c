//! Limits of the provider behind an agent: usage, rate, overload, credit, authentication.
//!
//! What a CLI reports in a structured field is taken at its word ([`of`]). In plain output the same words
//! may be the agent's own prose about some program, so there a limit is believed only when the process
//! failed and the line has the shape of the CLI's own notice ([`from_prose`]). Prose read as a limit puts
//! a loop to sleep for nothing.

mod kinds;
mod notice;
mod reset;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use crate::prelude::*;
use crate::text;
use crate::time::Time;

pub use kinds::status_in;
pub use notice::from_prose;
pub use reset::reset_in;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LimitKind {
    /// The plan's allowance is used up until it resets.
    Usage,
    /// Too many requests at a time.
    Rate,
    /// The provider's servers are busy or broken.
    Overload,
    /// No money left.
    Credit,
    /// Not logged in, or a key that is not accepted.
    Auth,
}

/// When a limit ends, as far as it was said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "how", rename_all = "snake_case")]
pub enum Reset {
    At {
        time: Time,
    },
    /// The next time a clock shows this; without a zone, the clock of this machine.
    Clock {
        hour: u8,
        minute: u8,
        zone: Option<String>,
    },
    /// That day, when a clock shows this.
    Day {
        year: i16,
        month: u8,
        day: u8,
        hour: u8,
        minute: u8,
        zone: Option<String>,
    },
    After {
        ms: u64,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limit {
    pub kind: LimitKind,
    pub status: Option<u16>,
    pub reset: Option<Reset>,
    /// The notice, on one line.
    pub text: String,
}

const LONGEST_TEXT: usize = 300;
/// A notice is short; nothing behind this is read.
const LONGEST_NOTICE: usize = 4000;

/// The limit in a CLI's own error text, by its status first, then by its words.
pub fn of(status: Option<u16>, text: &str) -> Option<Limit> {
    let start = kinds::head(text, LONGEST_NOTICE);
    let status = status.or_else(|| status_in(start));
    let kind = kinds::by_status(status, start)?;
    Some(Limit { kind, status, reset: reset_in(start), text: text::one_line(start, LONGEST_TEXT) })
}
