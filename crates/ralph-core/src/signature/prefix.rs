//! What tools put before an error: quote marks, failure marks, times, positions.

/// Marks of quotations and of failed things, and words that only introduce the error.
const DECORATIONS: [&str; 17] = [
    "> ",
    "| ",
    "│ ",
    "┃ ",
    "✗ ",
    "✘ ",
    "× ",
    "✖ ",
    "✕ ",
    "⨯ ",
    "❌ ",
    "Uncaught (in promise) ",
    "Uncaught ",
    "Caused by: ",
    "PHP ",
    "stderr: ",
    "stderr | ",
];
/// More in a row is a drawing.
const MOST_DECORATIONS: usize = 6;
/// How pytest marks the lines of an explanation.
const PYTEST_MARK: &str = "E   ";

/// A line without its decoration.
pub(super) struct Bare<'a> {
    pub(super) text: &'a str,
    /// A time stood before it: a log's line.
    pub(super) logged: bool,
    /// A name stood before it that says what printed it: `[BUILD]`, `web-1 |`.
    pub(super) tagged: bool,
    /// pytest's mark stood before it.
    pub(super) explained: bool,
}

pub(super) fn strip(line: &str) -> Bare<'_> {
    let mut bare = Bare { text: line.trim_start(), logged: false, tagged: false, explained: false };
    for _ in 0..MOST_DECORATIONS {
        let rest = if let Some(rest) = bare.text.strip_prefix(PYTEST_MARK) {
            bare.explained = true;
            rest
        } else if let Some(rest) = DECORATIONS.iter().find_map(|mark| bare.text.strip_prefix(mark)) {
            rest
        } else if let Some(rest) = after_time(bare.text) {
            bare.logged = true;
            rest
        } else if let Some(rest) = after_tag(bare.text) {
            bare.tagged = true;
            rest
        } else {
            break;
        };
        bare.text = rest.trim_start();
    }
    bare
}

/// After `2025-01-02T03:04:05Z`, `[03:04:05]`, `2025-01-02`: digits with at least two separators.
fn after_time(text: &str) -> Option<&str> {
    let (word, rest) = text.split_once(' ')?;
    let time = word.trim_matches(['[', ']', '(', ')']);
    let separators = time.matches([':', '-']).count();
    let is_time = time.starts_with(|c: char| c.is_ascii_digit())
        && time.chars().all(|c| c.is_ascii_digit() || ":-.,+TZ".contains(c));
    (is_time && separators >= 2 && !time.ends_with(':')).then_some(rest)
}

/// What such a name is at most, in bytes.
const LONGEST_TAG: usize = 40;

/// After `[BUILD]`, `[web:build]`, `web-1  |`, `#12 3.456`: the name of what printed a line. `[x]` ticks an item, and
/// `[ERROR]` is the error itself.
fn after_tag(text: &str) -> Option<&str> {
    let is_name = |name: &str| {
        (2..=LONGEST_TAG).contains(&name.len())
            && !name.contains(char::is_whitespace)
            && name.starts_with(|c: char| c.is_ascii_alphanumeric() || matches!(c, '@' | '#' | '/'))
            && !["error", "fatal", "rejected"].iter().any(|level| name.eq_ignore_ascii_case(level))
    };
    if let Some((name, rest)) = text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        let rest = rest.strip_prefix(':').unwrap_or(rest);
        return (is_name(name) && rest.starts_with(' ')).then_some(rest);
    }
    if let Some(rest) = text.strip_prefix('#') {
        let (step, rest) = rest.split_once(' ')?;
        let (time, rest) = rest.split_once(' ')?;
        let is_number =
            |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit() || b == b'.');
        return (is_number(step) && time.contains('.') && is_number(time)).then_some(rest);
    }
    let (name, rest) = text.split_once('|')?;
    let name = name.trim_end();
    // A word alone is a cell of a table.
    let is_numbered = name.contains(['-', '_']) && name.ends_with(|c: char| c.is_ascii_digit());
    (is_name(name) && is_numbered && rest.starts_with(' ')).then_some(rest)
}

/// A place in a file that stood before a message.
pub(super) struct Position<'a> {
    pub(super) message: &'a str,
    pub(super) has_column: bool,
}

/// `x.c:3:5: message`, `x.c:3: message`, `x.cs(3,5): message`, `x.ts:3:5 - message`, and in eslint's
/// list `3:5  message`.
pub(super) fn position(text: &str) -> Option<Position<'_>> {
    let (word, rest) = text.split_once(char::is_whitespace)?;
    let message = rest.trim_start();
    let message = message.strip_prefix("- ").unwrap_or(message);
    let place = word.strip_suffix(':').unwrap_or(word);
    if let Some((_, numbers)) = place.strip_suffix(')').and_then(|place| place.rsplit_once('(')) {
        let (line, column) = numbers.split_once(',').unwrap_or((numbers, ""));
        return (is_number(line) && (column.is_empty() || is_number(column)))
            .then_some(Position { message, has_column: !column.is_empty() });
    }
    let (before, last) = place.rsplit_once(':')?;
    if !is_number(last) {
        return None;
    }
    let line = before.rsplit(':').next().unwrap_or(before);
    Some(Position { message, has_column: is_number(line) })
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}
