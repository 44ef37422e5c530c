//! The status block: `---RALPH_STATUS---` to `---END_RALPH_STATUS---`, seven fields.
//!
//! Read generously, believed narrowly: decoration (fences, quotes, bold, colours, case, spacing) and other words for the
//! same (`PASSED`, `COMPLETED`) are read all the same and named as a problem; a block whose values are placeholders is
//! quoted instructions and no report; only what is plainly true is an exit signal.

mod joined;
mod values;

use serde::{Deserialize, Serialize};

use super::marks;
use crate::prelude::*;
use crate::text::{self, Fences};
pub(crate) use joined::unjoined;

pub const BEGIN: &str = "---RALPH_STATUS---";
pub const END: &str = "---END_RALPH_STATUS---";

const MOST_PROBLEMS: usize = 20;

/// From best to worst: of several in one block the worst counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Status {
    Complete,
    InProgress,
    /// A word that is none of the three; it counts as in progress.
    Unknown,
    Blocked,
}

/// From best to worst, likewise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Tests {
    Passing,
    NotRun,
    /// A word that is none of the three; it is not passing.
    Unknown,
    Failing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum WorkType {
    Implementation,
    Testing,
    Documentation,
    Refactoring,
}

/// One status block as it was read.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Block {
    pub status: Option<Status>,
    pub tasks: Option<u64>,
    pub files: Option<u64>,
    pub tests: Option<Tests>,
    pub work_type: Option<WorkType>,
    pub exit_signal: bool,
    /// What stands there as EXIT_SIGNAL, where that is neither true nor false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub odd_signal: Option<String>,
    /// What stands there as STATUS and as TESTS_STATUS, where that is not understood.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub odd_status: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub odd_tests: Option<String>,
    pub recommendation: Option<String>,
    /// The block as the agent wrote it, bounded.
    pub verbatim: String,
    pub problems: Vec<String>,
}

/// The last block of `words`, with what is odd about it. Templates and frames with nothing in them are passed over. No
/// block reaches from one message into the next.
pub fn last(words: &str) -> (Option<Block>, Vec<String>) {
    let mut passed = Passed::default();
    let block = text::messages(words).rev().find_map(|message| last_in(message, &mut passed));
    let mut problems = block.as_ref().map_or_else(Vec::new, |block| block.problems.clone());
    if passed.template && block.is_none() {
        problems.push("only the template of a status block, not a report".to_owned());
    }
    if passed.put_off && block.is_none() {
        problems.push("a status block begins in a sentence that puts it off, so it was not read".to_owned());
    }
    if passed.empty {
        problems.insert(0, "a status block without any field is no report".to_owned());
        problems.truncate(MOST_PROBLEMS);
    }
    (block, problems)
}

/// What looked like a block and is none.
#[derive(Default)]
struct Passed {
    template: bool,
    empty: bool,
    put_off: bool,
}

fn last_in(message: &str, passed: &mut Passed) -> Option<Block> {
    let unjoined = unjoined(message);
    passed.put_off |= unjoined.put_off;
    let message: &str = &unjoined.words;
    let clean = text::plain(message);
    let lines: Vec<&str> = clean.lines().collect();
    let mut end = lines.len();
    while let Some(start) = lines[..end].iter().rposition(|line| delimiter(line) == Some(Delimiter::Begin)) {
        // Line by line the same as the clean ones.
        let raw = || message.split('\n').skip(start);
        match read(&lines[start..end], raw) {
            Read::Block(mut block) => {
                if message.contains('\u{1b}') {
                    block.problem("terminal escape codes");
                }
                if message.contains("\r\n") {
                    block.problem("CRLF line ends");
                }
                if in_fence(&lines[..start]) {
                    block.problem("code fence");
                }
                if unjoined.parted.contains(&start) {
                    block.problem("the block begins in the middle of a line");
                } else if unjoined.parted.iter().any(|line| (start..end).contains(line)) {
                    block.problem("the end of the block shares its line");
                }
                return Some(*block);
            }
            Read::Template => passed.template = true,
            Read::Empty => passed.empty = true,
        }
        end = start;
    }
    None
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Delimiter {
    Begin,
    End,
}

pub(crate) fn delimiter(line: &str) -> Option<Delimiter> {
    let bare = text::undecorated(line);
    let is = |delimiter: &str| {
        let mut chars = bare.chars().filter(|c| !c.is_whitespace());
        delimiter.chars().all(|c| chars.next().is_some_and(|found| found.eq_ignore_ascii_case(&c)))
            && chars.next().is_none()
    };
    match bare {
        _ if is(BEGIN) => Some(Delimiter::Begin),
        _ if is(END) => Some(Delimiter::End),
        _ => None,
    }
}

/// Whether a fence is open behind these lines, quoted or not.
pub(super) fn in_fence(lines: &[&str]) -> bool {
    let mut fences = Fences::default();
    for line in lines {
        fences.line(unquoted(line));
    }
    fences.is_open()
}

/// Opens or closes a code fence, quoted or not.
pub(super) fn is_fence(line: &str) -> bool {
    text::opens_fence(unquoted(line)).is_some()
}

fn unquoted(line: &str) -> &str {
    line.trim_start_matches(|c: char| c.is_whitespace() || c == '>')
}

/// What stands behind a begin line.
enum Read {
    Block(Box<Block>),
    Template,
    /// Nothing but the frame, as in prose about it.
    Empty,
}

/// Reads one block from its begin line on; `raw` gives the same lines with what nobody sees.
fn read<'a, I: Iterator<Item = &'a str>>(lines: &[&str], raw: impl Fn() -> I) -> Read {
    let mut block = Block::default();
    block.judge_delimiter(lines[0], BEGIN);
    let mut fields: Vec<(Field, String)> = Vec::new();
    let has_end = lines[1..].iter().any(|line| delimiter(line) == Some(Delimiter::End));
    let mut ended = false;
    let mut used = 1;
    for line in &lines[1..] {
        if delimiter(line) == Some(Delimiter::End) {
            block.judge_delimiter(line, END);
            ended = true;
            used += 1;
            break;
        }
        match field(line) {
            Some((Ok(name), value)) => {
                block.judge_line(line, value);
                fields.push((name, value.to_owned()));
            }
            Some((Err(name), _)) => block.problem(&format!("unknown field {name}")),
            None if line.trim().is_empty() || is_fence(line) => {
                if is_fence(line) {
                    block.problem("code fence");
                }
                // Without an end line the block ends at the first gap after its fields.
                if !fields.is_empty() && !has_end {
                    break;
                }
            }
            None => match fields.last_mut() {
                Some((Field::Recommendation, value)) => {
                    value.push(' ');
                    value.push_str(line.trim());
                    block.problem("a value runs over the line");
                }
                _ => block.problem("a line that is no field"),
            },
        }
        used += 1;
    }
    if !ended {
        block.problem("missing end line");
    }
    if fields.is_empty() {
        return Read::Empty;
    }
    if is_template(&fields) {
        return Read::Template;
    }
    block.verbatim = text::head(&lines[..used].join("\n"), 2000);
    block.fill(&fields);
    if raw().take(used).any(text::hides) {
        block.problem("invisible characters");
        let of_signal = |line: &str| matches!(field(line), Some((Ok(Field::ExitSignal), _)));
        let odd = lines[..used].iter().zip(raw()).any(|(line, raw)| of_signal(line) && text::hides(raw));
        if odd && block.exit_signal {
            block.exit_signal = false;
            block.problem("EXIT_SIGNAL is not plainly true or false");
            block.odd_signal = Some("true, with invisible characters in its line".to_owned());
        }
    }
    Read::Block(Box::new(block))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Field {
    Status,
    Tasks,
    Files,
    Tests,
    WorkType,
    ExitSignal,
    Recommendation,
}

const FIELDS: [(&str, Field); 7] = [
    ("STATUS", Field::Status),
    ("TASKS_COMPLETED_THIS_LOOP", Field::Tasks),
    ("FILES_MODIFIED", Field::Files),
    ("TESTS_STATUS", Field::Tests),
    ("WORK_TYPE", Field::WorkType),
    ("EXIT_SIGNAL", Field::ExitSignal),
    ("RECOMMENDATION", Field::Recommendation),
];

/// `NAME: value`, with the name known or not. Prose with a colon is no field: names are one word.
fn field(line: &str) -> Option<(Result<Field, String>, &str)> {
    let (name, value) = line.split_once(':')?;
    let name =
        name.trim_matches(|c: char| c.is_whitespace() || matches!(c, '>' | '*' | '`' | '-' | '"' | '|'));
    if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
        return None;
    }
    let upper = name.to_ascii_uppercase();
    match FIELDS.iter().find(|(known, _)| *known == upper) {
        Some((_, field)) => Some((Ok(*field), value)),
        None if name == upper => Some((Err(upper), value)),
        None => None,
    }
}

/// Quoted instructions: the two values that decide are both placeholders, or the only one of them that is there.
/// A report in which one of them was left unfilled is a bad report, and must not make an older one count.
fn is_template(fields: &[(Field, String)]) -> bool {
    let mut deciding =
        fields.iter().filter(|(name, _)| matches!(name, Field::Status | Field::ExitSignal)).peekable();
    deciding.peek().is_some() && deciding.all(|(_, value)| is_placeholder(value))
}

/// `[IN_PROGRESS | COMPLETE | BLOCKED]`, `<status>`, `false|true`, `...`: what instructions show.
fn is_placeholder(value: &str) -> bool {
    let value = bare(value);
    let framed = |open, close| value.starts_with(open) && value.ends_with(close);
    let choice = value.trim_matches('|');
    framed('<', '>')
        || framed('{', '}')
        || matches!(value, "..." | "…")
        || choice.contains('|')
        || choice.split('/').count() > 1 && choice.split('/').all(is_choice)
}

/// A word that instructions offer.
fn is_choice(value: &str) -> bool {
    ["IN_PROGRESS", "COMPLETE", "BLOCKED", "TRUE", "FALSE"].contains(&word(value).as_str())
}

/// A value without marks around it. Brackets too: the instructions show them, so agents leave them.
fn bare(value: &str) -> &str {
    let marks = |c: char| c.is_whitespace() || matches!(c, '*' | '`' | '"' | '\'' | ',');
    let value = value.trim_matches(marks);
    value.strip_prefix('[').and_then(|value| value.strip_suffix(']')).unwrap_or(value).trim_matches(marks)
}

/// A word of an enum, whatever its case and whether spaces or hyphens stand for underscores.
fn word(value: &str) -> String {
    bare(value).chars().map(|c| if matches!(c, ' ' | '-') { '_' } else { c.to_ascii_uppercase() }).collect()
}

/// The last of the values that are not understood, bounded.
fn odd(values: &[&str], is_odd: impl Fn(&str) -> bool) -> Option<String> {
    let value = values.iter().rev().find(|value| is_odd(value))?;
    Some(text::one_line(bare(value), 60))
}

impl Block {
    fn problem(&mut self, what: &str) {
        if self.problems.len() < MOST_PROBLEMS && !self.problems.iter().any(|known| known == what) {
            self.problems.push(text::head(what, 100));
        }
    }

    fn judge_delimiter(&mut self, line: &str, exact: &str) {
        if line == exact {
            return;
        }
        self.problem("decorated delimiter");
        self.judge_marks(line);
        let bare = text::undecorated(line);
        if bare.contains(char::is_whitespace) {
            self.problem("spaces in a delimiter");
        }
        if bare.contains(|c: char| c.is_ascii_lowercase()) {
            self.problem("a delimiter is not in upper case");
        }
    }

    /// A line with a field, as far as it is not the value's word that is odd.
    fn judge_line(&mut self, line: &str, value: &str) {
        let before = &line[..line.len() - value.len() - 1];
        self.judge_marks(before);
        let name = before.trim_matches(|c: char| !c.is_ascii_alphanumeric());
        if before.trim_start().starts_with(['-', '+']) {
            self.problem("list marks");
        }
        if name.contains(|c: char| c.is_ascii_lowercase()) {
            self.problem(&format!("the name {} is not in upper case", name.to_ascii_uppercase()));
        }
        let spaced = value.is_empty() || value.strip_prefix(' ').is_some_and(|value| value == value.trim());
        if before.ends_with(char::is_whitespace) || !spaced {
            self.problem(&format!("spaces around the colon or the value of {}", name.to_ascii_uppercase()));
        }
    }

    /// Names the marks at the edges of a text.
    fn judge_marks(&mut self, text: &str) {
        for name in marks::around(text) {
            self.problem(name);
        }
    }

    fn fill(&mut self, fields: &[(Field, String)]) {
        for (name, field) in FIELDS {
            let values: Vec<&str> =
                fields.iter().filter(|(f, _)| *f == field).map(|(_, v)| v.as_str()).collect();
            let Some(value) = values.last() else {
                self.problem(&format!("missing field {name}"));
                continue;
            };
            if values.len() > 1 {
                self.problem(&format!("repeated field {name}"));
            }
            if bare(value) != value.trim() && field != Field::Recommendation {
                self.problem(&format!("decorated value of {name}"));
                self.judge_marks(value.trim());
            }
            self.set(name, field, value, &values);
        }
    }

    fn set(&mut self, name: &str, field: Field, value: &str, all: &[&str]) {
        match field {
            Field::Status => {
                self.status = all.iter().map(|value| values::status(value)).max();
                self.odd_status = odd(all, |value| values::status(value) == Status::Unknown);
                let meant = match values::status(value) {
                    Status::Complete => Some("COMPLETE"),
                    Status::InProgress => Some("IN_PROGRESS"),
                    Status::Blocked => Some("BLOCKED"),
                    Status::Unknown => None,
                };
                self.judge_word(name, value, meant);
            }
            Field::Tests => {
                self.tests = all.iter().map(|value| values::tests(value)).max();
                self.odd_tests = odd(all, |value| values::tests(value) == Tests::Unknown);
                let meant = match values::tests(value) {
                    Tests::Passing => Some("PASSING"),
                    Tests::Failing => Some("FAILING"),
                    Tests::NotRun => Some("NOT_RUN"),
                    Tests::Unknown => None,
                };
                self.judge_word(name, value, meant);
            }
            Field::WorkType => {
                let (work_type, meant) = match word(value).trim_end_matches(['.', '!']) {
                    "IMPLEMENTATION" | "IMPLEMENTING" | "FEATURE" | "BUGFIX" | "BUG_FIX" | "FIX" => {
                        (Some(WorkType::Implementation), Some("IMPLEMENTATION"))
                    }
                    "TESTING" | "TEST" | "TESTS" => (Some(WorkType::Testing), Some("TESTING")),
                    "DOCUMENTATION" | "DOCS" => (Some(WorkType::Documentation), Some("DOCUMENTATION")),
                    "REFACTORING" | "REFACTOR" => (Some(WorkType::Refactoring), Some("REFACTORING")),
                    _ => (None, None),
                };
                self.work_type = work_type;
                self.judge_word(name, value, meant);
            }
            Field::Tasks => self.tasks = self.number(name, value),
            Field::Files => self.files = self.number(name, value),
            Field::ExitSignal => {
                // Said twice in two ways, it is not plainly true.
                self.exit_signal = all.iter().all(|value| values::signal(value) == Some(true));
                match values::signal(value) {
                    _ if matches!(bare(value), "true" | "false") => {}
                    None => {
                        self.problem("EXIT_SIGNAL is not plainly true or false");
                        self.odd_signal = Some(text::one_line(value, 60)).filter(|value| !value.is_empty());
                    }
                    Some(meant) if word(value) == if meant { "TRUE" } else { "FALSE" } => {
                        self.problem("EXIT_SIGNAL is not in lower case");
                    }
                    Some(meant) => self.read_as(name, value, if meant { "true" } else { "false" }),
                }
            }
            Field::Recommendation => {
                let line = text::one_line(value, 500);
                if line.is_empty() {
                    self.problem("empty RECOMMENDATION");
                }
                self.recommendation = Some(line).filter(|line| !line.is_empty());
            }
        }
    }

    /// `meant`: the word that was asked for, as far as the value means one of them.
    fn judge_word(&mut self, name: &str, value: &str, meant: Option<&str>) {
        let bare = bare(value);
        let Some(meant) = meant else {
            return self.problem(&format!("unknown value of {name}: {}", text::one_line(bare, 60)));
        };
        if word(value) != meant {
            self.read_as(name, value, meant);
        } else if bare.contains(|c: char| c.is_ascii_lowercase()) {
            self.problem(&format!("{name} is not in upper case"));
        } else if word(value) != bare {
            self.problem(&format!("{name} has no underscore between its words"));
        }
    }

    fn read_as(&mut self, name: &str, value: &str, meant: &str) {
        self.problem(&format!("{name}: {} was read as {meant}", text::one_line(bare(value), 60)));
    }

    /// `3`, or one with words behind it: `3 files`, `2 (src/a.rs, src/b.rs)`.
    fn number(&mut self, name: &str, value: &str) -> Option<u64> {
        let value = bare(value);
        let number = value.split([' ', '(', ',']).next().and_then(|first| first.parse().ok());
        if number.is_none() {
            self.problem(&format!("{name} is not a number"));
        } else if value.parse::<u64>().is_err() {
            self.problem(&format!("{name} is not a number alone"));
        }
        number
    }
}

#[cfg(test)]
mod tests;
