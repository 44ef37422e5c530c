//! What a message shows or quotes, rather than says: code in fences, quotations.

use core::ops::Range;

use crate::prelude::*;
use crate::text::{self, Fences, Place};

/// A quotation longer than this is taken for an unpaired mark.
const LONGEST_QUOTE: usize = 2000;

/// The stretches of one message that are not the agent's own words, each list in order.
#[derive(Debug, Default)]
pub(super) struct Shown {
    fenced: Vec<Range<usize>>,
    quoted: Vec<Range<usize>>,
}

impl Shown {
    pub(super) fn in_fence(&self, at: usize) -> bool {
        holds(&self.fenced, at)
    }

    /// In quotation marks, in a line that begins with `>` or goes on with one, or indented as code.
    pub(super) fn in_quote(&self, at: usize) -> bool {
        holds(&self.quoted, at)
    }
}

fn holds(ranges: &[Range<usize>], at: usize) -> bool {
    let next = ranges.partition_point(|range| range.start <= at);
    next.checked_sub(1).is_some_and(|last| ranges[last].contains(&at))
}

pub(super) fn shown(message: &str) -> Shown {
    let mut shown = Shown::default();
    let mut fences = Fences::default();
    let mut in_quotation = false;
    let mut start = 0;
    for line in message.split_inclusive('\n') {
        let end = start + line.len();
        let bare = line.trim();
        let own = fences.line(line) == Place::Outside;
        // Up to a gap, lines without the mark belong to the quotation as well.
        in_quotation = own && !bare.is_empty() && (in_quotation || bare.starts_with('>'));
        if !own {
            shown.fenced.push(start..end);
        } else if in_quotation || line.starts_with("    ") || line.starts_with('\t') {
            shown.quote(start..end);
        } else {
            shown.marks(message, start..end);
        }
        start = end;
    }
    shown
}

impl Shown {
    fn quote(&mut self, range: Range<usize>) {
        let start = self.quoted.last().map_or(range.start, |last| last.end.max(range.start));
        if start < range.end {
            self.quoted.push(start..range.end);
        }
    }

    /// The quotation marks that open in one line.
    fn marks(&mut self, message: &str, line: Range<usize>) {
        let mut at = self.quoted.last().map_or(line.start, |last| last.end.max(line.start));
        while at < line.end {
            let Some((found, mark)) =
                message[at..line.end].char_indices().find(|(_, c)| closing(*c).is_some())
            else {
                return;
            };
            let start = at + found;
            at = start + mark.len_utf8();
            if opens(message, start, mark) {
                at = end_of_quotation(message, at, closing(mark).unwrap_or_default());
                self.quote(start..at);
            }
        }
    }
}

fn closing(mark: char) -> Option<&'static [char]> {
    match mark {
        '"' => Some(&['"']),
        '\'' => Some(&['\'']),
        '“' => Some(&['”']),
        '„' => Some(&['“', '”']),
        '«' => Some(&['»']),
        '‘' => Some(&['’']),
        _ => None,
    }
}

/// Straight marks open before a word or at the end of a line, and never behind one: `5"`, `the users' data`.
fn opens(message: &str, at: usize, mark: char) -> bool {
    if !matches!(mark, '"' | '\'') {
        return true;
    }
    let before = message[..at].chars().next_back();
    let after = message[at + 1..].chars().next();
    let first = before.is_none_or(|c| c.is_whitespace() || matches!(c, '(' | ':' | '—'));
    let ends_line = after.is_none_or(|c| matches!(c, '\n' | '\r'));
    // An apostrophe may stand before a word: '90s.
    first && (ends_line || mark == '"' && after.is_some_and(|c| !c.is_whitespace()))
}

/// Behind the closing mark; without one near by, the end of the paragraph.
fn end_of_quotation(message: &str, from: usize, closing: &[char]) -> usize {
    let near = text::start(&message[from..], LONGEST_QUOTE);
    let closed = near.char_indices().find(|(_, c)| closing.contains(c)).map(|(at, c)| at + c.len_utf8());
    let paragraph = || near.find("\n\n").map_or(near.len(), |at| at + 1);
    from + closed.unwrap_or_else(paragraph)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is left of the words when everything shown is taken out.
    fn own(message: &str) -> String {
        let shown = shown(message);
        message
            .char_indices()
            .filter(|(at, _)| !shown.in_fence(*at) && !shown.in_quote(*at))
            .map(|(_, c)| c)
            .collect()
    }

    #[test]
    fn fences_quotations_and_indented_code_are_not_own_words() {
        for (message, expected) in [
            ("a\n````\n```\nb\n```\n````\nc", "a\nc"),
            ("> a\nstill a\n\nb", "\nb"),
            ("a \"b\nc\" d", "a  d"),
            ("a:\n\"\nb\n\"\nc", "a:\n\nc"),
            ("“a\n\nb” c", " c"),
            ("„a“ «b» ‘c’ d", "   d"),
            ("    code\na", "a"),
            ("a '\nb\n' c", "a  c"),
        ] {
            assert_eq!(own(message), expected, "{message}");
        }
    }

    #[test]
    fn inches_apostrophes_and_lone_marks_quote_nothing_further_down() {
        for message in ["a 5\" disk b", "the users' data isn't lost, that's it", "a \" b", "the '90s"] {
            assert_eq!(own(message), message);
        }
        assert_eq!(own("a \"b c\nd\n\ne"), "a \ne", "one that is never closed ends with its paragraph");
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read_without_a_panic(message in "(\"|'|“|”|>|`{3,4}|~~~|\n|    |[ -~]|ä){0,60}") {
            let own = own(&message);
            proptest::prop_assert!(own.len() <= message.len());
        }
    }
}
