//! What tools put before an error: quote marks, failure marks, times, positions.

/// Marks of quotations and of failed things, and words that only introduce the error.
const DECORATIONS: [&str; 15] = [
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
    /// pytest's mark stood before it.
    pub(super) explained: bool,
}

pub(super) fn strip(line: &str) -> Bare<'_> {
    let mut bare = Bare { text: line.trim_start(), logged: false, explained: false };
    for _ in 0..MOST_DECORATIONS {
        let rest = if let Some(rest) = bare.text.strip_prefix(PYTEST_MARK) {
            bare.explained = true;
            rest
        } else if let Some(rest) = DECORATIONS.iter().find_map(|mark| bare.text.strip_prefix(mark)) {
            rest
        } else if let Some(rest) = after_time(bare.text) {
            bare.logged = true;
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
