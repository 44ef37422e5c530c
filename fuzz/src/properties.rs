//! The properties: each takes any bytes and panics if what it says does not hold.

mod backlog;
mod journal;
mod streams;
mod words;

pub use streams::{Reading, read, same_in_pieces};

/// Panics if it does not hold for these bytes.
pub type Property = fn(&[u8]);

/// Every target, by the name `cargo xtask fuzz` knows it by.
pub const TARGETS: [(&str, Property); 19] = [
    ("auto", streams::auto),
    ("claude", streams::claude),
    ("codex", streams::codex),
    ("opencode", streams::opencode),
    ("gemini", streams::gemini),
    ("hook", streams::hook),
    ("text", streams::text),
    ("analysis", streams::analysis),
    ("failing", streams::failing),
    ("block", words::block),
    ("form", words::form),
    ("dialects", words::dialects),
    ("indicator", words::indicator),
    ("limit", words::limit),
    ("signature", words::signature),
    ("git", words::git),
    ("redact", words::redact),
    ("journal", journal::journal),
    ("backlog", backlog::backlog),
];

pub fn named(name: &str) -> Option<Property> {
    TARGETS.iter().find(|(known, _)| *known == name).map(|(_, property)| *property)
}
