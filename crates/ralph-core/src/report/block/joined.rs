//! A block that shares a line with other words: "All done. ---RALPH_STATUS---", or all of it on one line.

use alloc::borrow::Cow;

use super::{BEGIN, END, FIELDS, field};
use crate::prelude::*;
use crate::report::withheld::is_withheld;
use crate::text;

/// The words of a message with every delimiter of a block on a line of its own.
pub(crate) struct Unjoined<'a> {
    pub(crate) words: Cow<'a, str>,
    /// The lines that shared one with what is before them, by number.
    pub(crate) parted: Vec<usize>,
    /// A block begins behind words that put it off ("I will end with"), and is left where it is.
    pub(super) put_off: bool,
}

/// How many lines behind a begin are looked at for its first field.
const MOST_BLANK: usize = 5;

pub(crate) fn unjoined(words: &str) -> Unjoined<'_> {
    let mut found = Unjoined { words: Cow::Borrowed(words), parted: vec![], put_off: false };
    if !words.contains("---") {
        return found;
    }
    let mut lines: Vec<&str> = vec![];
    let mut following = words.split('\n');
    while let Some(line) = following.next() {
        match shared_begin(line, following.clone()) {
            Some(start) if is_withheld(last_sentence(&line[..start])) => {
                found.put_off = true;
                lines.push(line);
            }
            Some(start) => {
                let (before, rest) = line.split_at(start);
                let (begin, rest) = rest.split_at(BEGIN.len());
                lines.extend(Some(before).filter(|before| !before.trim().is_empty()));
                found.part(&mut lines, begin);
                found.part_fields(&mut lines, rest);
            }
            None => match shared_end(line) {
                Some(start) => {
                    let (before, end) = line.split_at(start);
                    lines.extend(Some(before).filter(|before| !before.trim().is_empty()));
                    found.part_end(&mut lines, end);
                }
                None => lines.push(line),
            },
        }
    }
    if !found.parted.is_empty() {
        found.words = Cow::Owned(lines.join("\n"));
    }
    found
}

impl Unjoined<'_> {
    fn part<'a>(&mut self, lines: &mut Vec<&'a str>, part: &'a str) {
        if !is_bare(part) {
            self.parted.push(lines.len());
            lines.push(part);
        }
    }

    /// The fields that follow a begin on its line, each on its own, and the end behind them.
    fn part_fields<'a>(&mut self, lines: &mut Vec<&'a str>, rest: &'a str) {
        let ends = find(rest, END).unwrap_or(rest.len());
        let (mut fields, end) = rest.split_at(ends);
        while let Some(start) = next_field(fields) {
            let name_end = start + fields[start..].find(':').unwrap_or(0);
            let recommends = fields[start..].starts_with("RECOMMENDATION");
            let next = next_field(&fields[name_end..]).filter(|_| !recommends).map(|next| name_end + next);
            let (one, more) = fields.split_at(next.unwrap_or(fields.len()));
            self.part(lines, one[start..].trim());
            fields = more;
        }
        self.part(lines, fields);
        self.part_end(lines, end);
    }

    fn part_end<'a>(&mut self, lines: &mut Vec<&'a str>, end: &'a str) {
        let (end, after) = end.split_at(END.len().min(end.len()));
        self.part(lines, end);
        self.part(lines, after);
    }
}

/// Where a begin stands that shares its line, with a field behind it; without one it is only mentioned.
fn shared_begin<'a>(line: &str, mut following: impl Iterator<Item = &'a str>) -> Option<usize> {
    let start = find(line, BEGIN)?;
    let (before, after) = (&line[..start], &line[start + BEGIN.len()..]);
    let is_field = |line: &str| matches!(field(line), Some((Ok(_), _)));
    let alone = is_bare(after);
    let in_code = before.matches('`').count() % 2 == 1;
    if alone && is_bare(before) || in_code {
        return None;
    }
    let followed = match alone {
        true => {
            following.by_ref().take(MOST_BLANK).find(|line| !line.trim().is_empty()).is_some_and(is_field)
        }
        false => next_field(after).is_some(),
    };
    followed.then_some(start)
}

/// Where an end stands behind a field, or before other words.
fn shared_end(line: &str) -> Option<usize> {
    let start = find(line, END)?;
    let (before, after) = (&line[..start], &line[start + END.len()..]);
    let behind_field = matches!(field(text::undecorated(before)), Some((Ok(_), _)));
    (behind_field || is_bare(before) && !is_bare(after)).then_some(start)
}

/// Nothing but decoration, colours and what cannot be seen.
fn is_bare(text: &str) -> bool {
    text::undecorated(&text::plain(text)).is_empty()
}

fn find(line: &str, delimiter: &str) -> Option<usize> {
    if !line.contains("---") {
        return None;
    }
    line.to_ascii_uppercase().find(delimiter)
}

/// Where the next `NAME:` of a field begins.
fn next_field(text: &str) -> Option<usize> {
    let begins = |at: &usize| !text[..*at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
    let named = |name: &str| text.match_indices(&format!("{name}:")).map(|(at, _)| at).find(begins);
    FIELDS.iter().filter_map(|(name, _)| named(name)).min()
}

fn last_sentence(words: &str) -> &str {
    words.trim_end().rsplit(['.', '!', '?']).next().unwrap_or_default()
}
