//! One error, without what differs from run to run: numbers, hex, times, positions, colours and
//! temporary folders. Names stay, also names with digits (`E0308`, `test_login2`), and so do paths.

use super::readable;
use crate::prelude::*;
use crate::text;

/// The longest normalised error, in bytes.
const LONGEST: usize = 200;
/// What stands for all that was taken out.
const OUT: char = '#';
/// Shorter words of hex digits are names (`E0308`); a short commit id has 7.
const SHORTEST_HEX: usize = 7;
/// Between two digits these go with the number: `1.5`, `12:30:01`, `2025-01-02T03:04`, `1_000`.
const JOINERS: [char; 7] = ['.', ',', ':', '-', '+', '_', 'T'];
const TIME_UNITS: [&str; 13] =
    ["ns", "us", "µs", "μs", "ms", "s", "sec", "secs", "m", "min", "mins", "h", "Z"];
/// What may stand before a path, glued to it.
const OPENERS: [char; 10] = ['(', '[', '{', '<', '"', '\'', '`', '‘', '“', '='];
/// Below these, names are made up anew by each run.
const TEMPORARY: [&str; 6] =
    ["/tmp/", "/var/tmp/", "/private/tmp/", "/var/folders/", "/private/var/folders/", "/proc/"];

/// Takes out of a line what differs from run to run, folds white space, and cuts at 200 bytes.
pub fn normalise(line: &str) -> String {
    let out = without_changing(&readable(line));
    if out.len() <= LONGEST {
        return out;
    }
    // The cut can make another word of the last one, so that it is read again.
    without_changing(&text::head(&out, LONGEST - '…'.len_utf8()))
}

fn without_changing(line: &str) -> String {
    let mut out = String::with_capacity(line.len().min(LONGEST));
    for word in line.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        if is_temporary(word) {
            push_temporary(word, &mut out);
        } else {
            let (path, rest) = word.split_at(path_end(word));
            push(path, false, &mut out);
            push(rest, true, &mut out);
        }
    }
    out
}

/// Where the path that a word starts with ends: before `:12:5` or `(12,5)`. 0 if it is none.
fn path_end(word: &str) -> usize {
    let name = word.trim_start_matches(OPENERS);
    // `3/10`, `5MB/s` and addresses have a slash as well.
    if name.starts_with(|c: char| c.is_ascii_digit()) || name.contains("://") {
        return 0;
    }
    let bytes = word.as_bytes();
    let position = |pair: &[u8]| matches!(pair[0], b':' | b'(') && pair[1].is_ascii_digit();
    let end = bytes.windows(2).position(position).unwrap_or(bytes.len());
    if word[..end].contains(['/', '\\']) { end } else { 0 }
}

fn is_temporary(word: &str) -> bool {
    let path = word.trim_start_matches(OPENERS);
    TEMPORARY.iter().any(|root| path.starts_with(root))
}

fn push_temporary(path: &str, out: &mut String) {
    for (n, part) in path.split('/').enumerate() {
        if n > 0 {
            out.push('/');
        }
        let made_up = part.strip_prefix('.').unwrap_or(part).strip_prefix("tmp");
        if made_up.is_some() && part != "tmp" {
            out.push_str("tmp");
            out.push(OUT);
        } else {
            push(part, true, out);
        }
    }
}

/// Copies text without hex words, and without numbers if those are to go.
fn push(text: &str, numbers_go: bool, out: &mut String) {
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let word = rest.len() - rest.trim_start_matches(is_word).len();
        let taken_out = match identifier(rest, word) {
            0 if numbers_go => number(rest),
            length => length,
        };
        let (length, shown) = match (taken_out, word) {
            (0, 0) => (c.len_utf8(), &rest[..c.len_utf8()]),
            (0, word) => (word, &rest[..word]),
            (length, _) => (length, "#"),
        };
        out.push_str(shown);
        rest = &rest[length..];
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The length of the address, hash or UUID that text starts with, or 0; `word` is that of its first word.
fn identifier(text: &str, word: usize) -> usize {
    const UUID: usize = 36;
    let uuid = text.as_bytes().get(..UUID).is_some_and(|bytes| {
        bytes.iter().enumerate().all(|(n, byte)| match n {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
    });
    if uuid {
        return UUID;
    }
    let name = &text.as_bytes()[..word];
    let digits = name.strip_prefix(b"0x").filter(|digits| !digits.is_empty());
    let hex = digits.unwrap_or(name).iter().all(u8::is_ascii_hexdigit);
    let hash = name.len() >= SHORTEST_HEX
        && name.iter().any(u8::is_ascii_digit)
        && name.iter().any(u8::is_ascii_alphabetic);
    if hex && (digits.is_some() || hash) { word } else { 0 }
}

/// The length of the number, time or duration that text starts with, or 0.
fn number(text: &str) -> usize {
    let mut end = digits(text);
    while end > 0 {
        let rest = &text[end..];
        let joined = rest.strip_prefix(JOINERS).map_or(0, digits);
        let unit = time_unit(rest);
        end += match (joined, unit) {
            (0, 0) => return end,
            (0, unit) => unit + digits(&rest[unit..]),
            // Every joiner is one byte.
            (joined, _) => 1 + joined,
        };
    }
    0
}

fn digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

fn time_unit(text: &str) -> usize {
    let letters = text.len() - text.trim_start_matches(|c: char| is_word(c) && !c.is_ascii_digit()).len();
    if TIME_UNITS.contains(&&text[..letters]) { letters } else { 0 }
}
