//! What the lines of a report are decorated with, each mark by its name.

use crate::prelude::*;

const MARKS: [(&[char], &str); 5] = [
    (&['>', '"', '\'', '“', '”'], "quote marks"),
    (&['*'], "bold"),
    (&['`'], "code marks"),
    (&['|'], "table marks"),
    (&['['], "brackets"),
];

/// The names of the marks at the edges of a text.
pub(super) fn around(text: &str) -> Vec<&'static str> {
    let bare = text.trim_matches(|c: char| !c.is_alphanumeric() && c != '-');
    let at = text.find(bare).unwrap_or(0);
    at_edges(&text[..at], &text[at + bare.len()..])
}

/// The names of the marks in what stands before and behind a text on its line.
pub(super) fn at_edges(before: &str, behind: &str) -> Vec<&'static str> {
    let indented = before.starts_with([' ', '\t']).then_some("indentation");
    let found = MARKS.iter().filter(|(marks, _)| before.contains(*marks) || behind.contains(*marks));
    indented.into_iter().chain(found.map(|(_, name)| *name)).collect()
}
