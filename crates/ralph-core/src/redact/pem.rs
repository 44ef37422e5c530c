//! Private keys between their two lines, also where one of the lines was cut off.

use super::MARK;
use super::shapes::Found;

/// The two lines of a key are not farther apart.
const MOST: usize = 16 << 10;

pub(super) fn find(bytes: &[u8], at: usize, copied: usize) -> Option<Found> {
    let rest = &bytes[at..];
    if let Some(header) = line(rest, b"-----BEGIN ") {
        let body = at + header;
        let close = bytes.len().min(body + MOST);
        let end = memchr::memmem::find(&bytes[body..close], b"-----END").map_or_else(
            || body + bytes[body..].iter().take_while(|byte| is_body(**byte)).count(),
            |end| body + end,
        );
        return match bytes[body..end].trim_ascii().starts_with(MARK.as_bytes()) || end == body {
            true => Some(Found::Skip(end)),
            false => Some(Found::Secret(body, end)),
        };
    }
    line(rest, b"-----END ")?;
    // The beginning is not here: whole lines of the body before it are told by what they are made of.
    let copied = copied.max(at.saturating_sub(MOST));
    let before = &bytes[copied..at];
    // Most often something else stands there, and the line need not be looked for.
    before.trim_ascii_end().last().filter(|byte| is_body(**byte))?;
    let mut start = before.len();
    while start > 0 {
        let end = start - usize::from(before[start - 1] == b'\n');
        let begin = before[..end].iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
        let text = before[begin..end].trim_ascii();
        if text.is_empty() || !text.iter().all(|byte| is_body(*byte) && !byte.is_ascii_whitespace()) {
            break;
        }
        start = begin;
    }
    let body = before[start..].trim_ascii().len();
    (body >= 16).then_some(Found::Secret(copied + start, at))
}

/// How long the line is, if it begins like this and is about a private key.
fn line(rest: &[u8], begins: &[u8]) -> Option<usize> {
    let rest = rest.strip_prefix(begins)?;
    let close = b"PRIVATE KEY-----";
    let end = memchr::memmem::find(&rest[..rest.len().min(64)], close)?;
    Some(begins.len() + end + close.len())
}

/// Base64 and white space; a backslash for line ends in JSON.
fn is_body(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte.is_ascii_whitespace() || matches!(byte, b'+' | b'/' | b'=' | b'\\')
}
