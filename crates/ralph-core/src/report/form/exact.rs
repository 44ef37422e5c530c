//! The last block of a text, raw, compared with the template line by line.

use super::super::block::{self, BEGIN, Block, Delimiter, END, is_fence};
use super::{Check, Violation, recommendation_fault};
use crate::prelude::*;
use crate::text;

const STATUS: &[&str] = &["IN_PROGRESS", "COMPLETE", "BLOCKED"];
const TESTS: &[&str] = &["PASSING", "FAILING", "NOT_RUN"];
const WORK_TYPES: &[&str] = &["IMPLEMENTATION", "TESTING", "DOCUMENTATION", "REFACTORING"];

/// Some editors write it at the start of a file.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// What a field may hold.
enum Value {
    OneOf(&'static [&'static str]),
    Number,
    Line,
}

const TEMPLATE: [(&str, Value); 7] = [
    ("STATUS", Value::OneOf(STATUS)),
    ("TASKS_COMPLETED_THIS_LOOP", Value::Number),
    ("FILES_MODIFIED", Value::Number),
    ("TESTS_STATUS", Value::OneOf(TESTS)),
    ("WORK_TYPE", Value::OneOf(WORK_TYPES)),
    ("EXIT_SIGNAL", Value::OneOf(&["false", "true"])),
    ("RECOMMENDATION", Value::Line),
];

/// The block that the generous reader takes, as it understood it and as it stands there.
pub(super) fn last(words: &str) -> Option<(Block, Raw)> {
    let (block, _) = block::last(words);
    let block = block?;
    let unjoined = block::unjoined(words);
    let lines: Vec<&str> = unjoined.words.split('\n').collect();
    let mut end = lines.len();
    for start in (0..lines.len()).rev().filter(|at| begins(lines[*at])) {
        // The reader passes over templates; so does this.
        if block::last(&lines[start..end].join("\n")).0.is_some() {
            let after_fence = block::in_fence(&lines[..start]);
            let shares_line = unjoined.parted.iter().any(|line| (start..end).contains(line));
            let lines = lines[start..end].iter().map(|line| (*line).to_owned()).collect();
            let raw = Raw { lines, after_fence, shares_line };
            return Some((block, raw));
        }
        end = start;
    }
    None
}

/// The lines of a block from its begin line to whatever comes next.
pub(super) struct Raw {
    lines: Vec<String>,
    /// A code fence was opened before it and not closed.
    after_fence: bool,
    /// Something stands in one line with a delimiter.
    shares_line: bool,
}

impl Raw {
    /// Everything in which it is not the template, character for character.
    pub(super) fn compare(&self) -> Vec<Violation> {
        let mut found = Findings::default();
        let end = self.lines.iter().position(|line| ends(line));
        // Without an end line the block ends at the first gap.
        let is_gap = |line: &String| line.trim().is_empty() || is_fence(line);
        let gap = || self.lines[1..].iter().position(is_gap).map(|at| at + 1);
        let length = end.map(|end| end + 1).or_else(gap).unwrap_or(self.lines.len());
        let (inside, after) = self.lines.split_at(length);
        if self.after_fence && after.iter().any(|line| is_fence(line)) {
            found.format("the block stands in a code fence");
        }
        if self.shares_line {
            found.format("the block shares a line with other words");
        }
        if inside.iter().any(|line| line.ends_with('\r')) {
            found.format("CRLF line ends");
        }
        let odd = |c: char| c.is_control() && c != '\t';
        if inside.iter().any(|line| line.strip_suffix('\r').unwrap_or(line).contains(odd)) {
            found.format("control characters or terminal escape codes");
        }
        if inside[0].starts_with(BYTE_ORDER_MARK) {
            found.format("a byte order mark stands before the block");
        }
        let hides = |line: &str| !line.contains(char::is_control) && text::plain(line) != line;
        if inside.iter().any(|line| hides(line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line))) {
            found.format("characters that cannot be seen");
        }
        let inside: Vec<String> = inside.iter().map(|line| without_controls(line)).collect();
        found.delimiter(&inside[0], BEGIN);
        match end {
            Some(end) => found.delimiter(&inside[end], END),
            None => found.format(&format!("there is no line {END}")),
        }
        let fields = end.unwrap_or(inside.len());
        found.fields(&inside[1..fields.max(1)]);
        found.list
    }
}

/// Asks as the reader does, so that the two can never differ about where a block begins.
fn begins(line: &str) -> bool {
    hints_at_delimiter(line) && block::delimiter(&text::plain(line)) == Some(Delimiter::Begin)
}

fn ends(line: &str) -> bool {
    hints_at_delimiter(line) && block::delimiter(&text::plain(line)) == Some(Delimiter::End)
}

/// Cheap, and true for every line that can be a delimiter.
fn hints_at_delimiter(line: &str) -> bool {
    line.contains('-')
}

/// Said once for the whole block, they need not be said for each line.
fn without_controls(line: &str) -> String {
    text::plain(line.strip_suffix('\r').unwrap_or(line))
}

#[derive(Default)]
struct Findings {
    list: Vec<Violation>,
}

impl Findings {
    fn add(&mut self, check: Check, what: String) {
        self.list.push(Violation { check, what });
    }

    fn format(&mut self, what: &str) {
        self.add(Check::Format, what.to_owned());
    }

    fn delimiter(&mut self, line: &str, exact: &str) {
        if line != exact {
            self.format(&format!("{} is not exactly {exact}", quoted(line)));
        }
    }

    fn fields(&mut self, lines: &[String]) {
        let mut seen: Vec<usize> = Vec::new();
        for line in lines {
            let in_recommendation = seen.last() == Some(&(TEMPLATE.len() - 1));
            match name_of(line) {
                Some(Ok(at)) => {
                    if seen.contains(&at) {
                        self.format(&format!("{} is there more than once", TEMPLATE[at].0));
                    } else if seen.iter().any(|other| *other > at) {
                        self.format(&format!("{} is not in its place", TEMPLATE[at].0));
                    }
                    seen.push(at);
                    self.line(line, at);
                }
                // Prose with a colon goes on with the line before it; a name in capitals is meant as a field.
                Some(Err(name)) if !in_recommendation || name == name.to_ascii_uppercase() => {
                    self.add(Check::NoExtraFields, format!("{name} is not one of the 7 defined fields"));
                }
                _ if in_recommendation && !line.trim().is_empty() => {
                    let what = format!("RECOMMENDATION goes on in a second line: {}", quoted(line));
                    self.add(Check::RecommendationPresent, what);
                }
                _ => self.format(&format!("{} is not a line of the template", quoted(line))),
            }
        }
        for (at, (name, _)) in TEMPLATE.iter().enumerate().filter(|(at, _)| !seen.contains(at)) {
            let last = at == TEMPLATE.len() - 1;
            let check = if last { Check::RecommendationPresent } else { Check::Format };
            self.add(check, format!("{name} is missing"));
        }
    }

    /// One line with a field's name: exact, and its value allowed.
    fn line(&mut self, line: &str, at: usize) {
        let (name, allowed) = &TEMPLATE[at];
        let rest = line.strip_prefix(name).and_then(|rest| rest.strip_prefix(':'));
        let Some(rest) = rest else {
            return self.format(&format!("{} is not exactly `{name}: …`", quoted(line)));
        };
        if let (Value::Line, Some(fault)) = (allowed, recommendation_fault(rest)) {
            return self.add(Check::RecommendationPresent, fault.to_owned());
        }
        let value = rest.strip_prefix(' ').filter(|value| *value == value.trim());
        let Some(value) = value else {
            return self.format(&format!("{} has other white space than `{name}: …`", quoted(line)));
        };
        match allowed {
            Value::OneOf(words) if !words.contains(&value) => {
                self.format(&format!("{name} is {}, not one of {}", quoted(value), words.join(", ")));
            }
            Value::Number if !is_number(value) => {
                self.format(&format!("{name} is {}, not a number", quoted(value)));
            }
            _ => {}
        }
    }
}

fn is_number(value: &str) -> bool {
    value.bytes().all(|byte| byte.is_ascii_digit()) && value.parse::<u64>().is_ok()
}

/// Which field a line is meant to be, however it is decorated; or the name of one that there is not.
fn name_of(line: &str) -> Option<Result<usize, &str>> {
    let (name, _) = line.split_once(':')?;
    let name = name.trim_matches(|c: char| !c.is_ascii_alphanumeric());
    let known = TEMPLATE.iter().position(|(known, _)| known.eq_ignore_ascii_case(name));
    let is_name = || !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    known.map(Ok).or_else(|| is_name().then_some(Err(name)))
}

fn quoted(line: &str) -> String {
    format!("`{}`", text::head(line, 100))
}

#[cfg(test)]
mod tests;
