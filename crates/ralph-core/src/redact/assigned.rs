//! What is told to be a secret by the name before it: `password=…`, `"api_key": "…"`, `STRIPE_KEY=…`.

use super::MARK;
use super::login;
use super::names::{self, Tells};
use super::shapes::{Found, is_alnum, run};

/// So much of a value is looked at to tell whether it is one; all of it is hidden.
const MOST: usize = 256;

/// Marks of a value that stands for one.
const STAND_INS: &[&str] =
    &["your", "xxxx", "****", "placeholder", "changeme", "example", "redacted", "...."];

/// At an `=` or a `:`.
pub(super) fn find(bytes: &[u8], at: usize) -> Option<Found> {
    if bytes[at..].starts_with(b"://") {
        return login::address(bytes, at + 3);
    }
    // `a::b`, `a == b` and `a := b`: the last sign counts, and a path is no assignment.
    if bytes[at] == b':' && (bytes.get(at + 1) == Some(&b':') || at > 0 && bytes[at - 1] == b':') {
        return None;
    }
    let name = name_before(bytes, at)?;
    if names::ends_with(name, "authorization") {
        return login::authorization(bytes, value_start(bytes, at + 1).0);
    }
    let tells = names::in_text(name)?;
    let (start, quoted) = value_start(bytes, at + 1);
    // A run of many assignments without a space is looked through once for each of them.
    let judged = start + run(bytes.get(..bytes.len().min(start + MOST))?, start, is_value);
    let value = bytes.get(start..judged)?;
    let value = core::str::from_utf8(value)
        .or_else(|error| core::str::from_utf8(&value[..error.valid_up_to()]))
        .ok()?;
    let called = bytes.get(judged) == Some(&b'(');
    // `NAME=value` is how secrets are set; elsewhere a name that could mean anything needs a value that means nothing.
    let set = bytes[at] == b'='
        && names::is_loud(name)
        && bytes[..at].ends_with(name.as_bytes())
        && start - at == 1 + usize::from(quoted);
    let told = tells == Tells::Surely || set || is_drawn(value);
    (told && !called && is_real(value, quoted, names::is_password(name)))
        .then(|| Found::Secret(start, judged + run(bytes, judged, is_value)))
}

/// The word before the sign.
fn name_before(bytes: &[u8], at: usize) -> Option<&str> {
    let skipped = bytes[..at].iter().rev().take(4);
    let skipped = skipped.take_while(|byte| matches!(byte, b' ' | b'"' | b'\'' | b'`' | b'\\')).count();
    let end = at - skipped;
    let of = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let length = bytes[..end].iter().rev().take(64).take_while(of).count();
    let name = core::str::from_utf8(&bytes[end - length..end]).ok()?;
    (!name.is_empty()).then_some(name)
}

/// Where the value begins, and whether in quotation marks.
fn value_start(bytes: &[u8], after: usize) -> (usize, bool) {
    let space = |from: usize| run(bytes, from, |byte| byte == b' ' || byte == b'\t').min(4);
    let mut start = after + space(after);
    if matches!(bytes.get(start), Some(b'=' | b'>')) {
        start += 1 + space(start + 1);
    }
    let quoted = bytes.get(start) == Some(&b'\\') && matches!(bytes.get(start + 1), Some(b'"' | b'\''));
    start += usize::from(quoted);
    match bytes.get(start) {
        Some(b'"' | b'\'' | b'`') => (start + 1, true),
        _ => (start, false),
    }
}

fn is_value(byte: u8) -> bool {
    !byte.is_ascii_whitespace()
        && !byte.is_ascii_control()
        && !matches!(
            byte,
            b'"' | b'\''
                | b'`'
                | b','
                | b';'
                | b'('
                | b')'
                | b'['
                | b']'
                | b'{'
                | b'}'
                | b'<'
                | b'>'
                | b'&'
                | b'\\'
                | b'|'
        )
}

/// A value, and not a word, a name or a hole to be filled in.
fn is_real(value: &str, quoted: bool, password: bool) -> bool {
    let least = if password { 6 } else { 8 };
    if value.starts_with(['/', '.', '~', '$', '%', '*', '@']) || value.len() < least {
        return false;
    }
    let lower = value.to_ascii_lowercase();
    let stands_in = STAND_INS.iter().any(|mark| lower.contains(mark)) || value.starts_with(MARK);
    let is_place = value.contains("://") || value.contains("::");
    let mut bytes = value.bytes();
    let first = bytes.next();
    let varied = bytes.any(|byte| Some(byte) != first);
    let letter = value.bytes().any(|byte| byte.is_ascii_alphabetic());
    let digit = value.bytes().any(|byte| byte.is_ascii_digit());
    let odd = value.bytes().any(|byte| {
        byte.is_ascii_punctuation() && !matches!(byte, b'_' | b'-' | b'.' | b':' | b'/' | b'=' | b'?')
    });
    varied
        && !stands_in
        && !is_place
        && letter
        && (digit || (password && (odd || quoted && value.len() >= 8)))
}

/// As if drawn by chance: long, of letters and digits.
fn is_drawn(value: &str) -> bool {
    let drawn = |part: &[u8]| {
        let digits = part.iter().filter(|byte| byte.is_ascii_digit()).count();
        part.len() >= 12 && digits >= 3 && digits < part.len()
    };
    value.as_bytes().split(|byte| !is_alnum(*byte)).any(drawn)
}
