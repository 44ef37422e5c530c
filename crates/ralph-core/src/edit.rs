//! A change of somebody's file as the bytes that change, and nothing else.

use core::ops::Range;

use crate::prelude::*;

/// These bytes become that text. An empty range inserts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    pub range: Range<usize>,
    pub text: String,
}

impl Edit {
    pub fn replace(range: Range<usize>, text: impl Into<String>) -> Self {
        Self { range, text: text.into() }
    }

    pub fn insert(at: usize, text: impl Into<String>) -> Self {
        Self { range: at..at, text: text.into() }
    }
}

/// The text after all edits; none if they overlap or do not fall on characters of it. Edits of one place keep their
/// order.
pub fn splice(text: &str, edits: &[Edit]) -> Option<String> {
    let mut ordered: Vec<&Edit> = edits.iter().collect();
    ordered.sort_by_key(|edit| (edit.range.start, edit.range.end));
    let more: usize = edits.iter().map(|edit| edit.text.len()).sum();
    let mut out = String::with_capacity(text.len() + more);
    let mut at = 0;
    for edit in ordered {
        out.push_str(text.get(at..edit.range.start)?);
        text.get(edit.range.clone())?;
        out.push_str(&edit.text);
        at = edit.range.end;
    }
    out.push_str(text.get(at..)?);
    Some(out)
}

/// How the file ends its lines: as its first line does.
pub(crate) fn line_end(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text[..at].ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

/// The lines of bytes that are asked for one after the other: going on from the last one, a whole file is counted once.
#[derive(Debug)]
pub(crate) struct LineCount<'t> {
    text: &'t str,
    at: usize,
    line: usize,
}

impl<'t> LineCount<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        Self { text, at: 0, line: 1 }
    }

    pub(crate) fn of(&mut self, at: usize) -> usize {
        let at = at.min(self.text.len());
        if at < self.at {
            (self.at, self.line) = (0, 1);
        }
        self.line += self.text.as_bytes()[self.at..at].iter().filter(|byte| **byte == b'\n').count();
        self.at = at;
        self.line
    }
}

/// The line that a byte is on, counted from 1.
pub(crate) fn line_of(text: &str, at: usize) -> usize {
    let at = at.min(text.len());
    text.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_bytes_of_the_edits_change() {
        let edits = [Edit::insert(8, "!"), Edit::replace(0..3, "ONE"), Edit::insert(8, "?")];
        assert_eq!(splice("one two three", &edits).as_deref(), Some("ONE two !?three"));
        assert_eq!(splice("same", &[]).as_deref(), Some("same"));
    }

    #[test]
    fn edits_that_overlap_or_cut_a_character_are_refused() {
        assert_eq!(splice("abcdef", &[Edit::replace(0..3, ""), Edit::replace(2..4, "")]), None);
        assert_eq!(splice("ä", &[Edit::insert(1, "x")]), None);
        assert_eq!(splice("ab", &[Edit::insert(3, "x")]), None);
        let backwards = Edit { range: core::ops::Range { start: 2, end: 1 }, text: String::new() };
        assert_eq!(splice("abc", &[backwards]), None);
    }

    #[test]
    fn the_first_line_tells_how_lines_end() {
        assert_eq!((line_end("a\r\nb\n"), line_end("a\nb\r\n"), line_end("a")), ("\r\n", "\n", "\n"));
        assert_eq!((line_of("a\nb\nc", 0), line_of("a\nb\nc", 2), line_of("a\nb\nc", 99)), (1, 2, 3));
        let mut lines = LineCount::new("a\nb\nc");
        assert_eq!([0, 2, 4, 99, 2].map(|at| lines.of(at)), [1, 2, 3, 3, 2], "forwards, and back again");
    }
}
