//! Limits of the provider behind an agent: usage, rate, overload, credit, authentication.
//!
//! A status that a CLI reports in a field of its own is taken at its word. Words may be the agent's own prose about
//! some program: they are believed only in a line that has the shape of a CLI's notice ([`of`]), and in plain output
//! only at its end and when the process failed ([`from_prose`]). Where agents do not speak, any line that states a limit
//! counts ([`of_service`], [`from_stderr`]). Prose read as a limit puts a loop to sleep for nothing.

mod answer;
mod complaint;
mod kinds;
mod notice;
mod reset;
mod shape;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use crate::prelude::*;
use crate::text;
use crate::time::Time;

pub use kinds::status_in;
pub use notice::{from_prose, from_stderr};
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

/// The limit in an error's text: by the status the CLI reports with it, else by a line that has the shape of a notice.
/// Such a text may be the agent's last words, so its words alone tell nothing.
pub fn of(status: Option<u16>, text: &str) -> Option<Limit> {
    let start = kinds::head(text, LONGEST_NOTICE);
    let (kind, status) = kinds::by_status(status, start).map(|kind| (kind, status)).or_else(|| {
        let notice = notice::line_in(start)?;
        let status = status.or_else(|| status_in(notice));
        let words = || answer::words(notice).unwrap_or_else(|| notice.to_owned());
        Some((kinds::by_status(status, notice).or_else(|| kinds::by_words(&words()))?, status))
    })?;
    Some(Limit { kind, status, reset: reset_in(start), text: text::one_line(start, LONGEST_TEXT) })
}

/// The limit in a text that cannot be the agent's: also by any line that states one.
pub fn of_service(status: Option<u16>, text: &str) -> Option<Limit> {
    of(status, text).or_else(|| {
        let start = kinds::head(text, LONGEST_NOTICE);
        let kind = start.lines().find_map(complaint::kind)?;
        let status = status.or_else(|| status_in(start));
        Some(Limit { kind, status, reset: reset_in(start), text: text::one_line(start, LONGEST_TEXT) })
    })
}
