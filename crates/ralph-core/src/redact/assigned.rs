//! What is told to be a secret by the name before it: `password=…`, `"api_key": "…"`, `Authorization: Bearer …`, and the
//! password in `https://user:password@host`.

use super::MARK;
use super::shapes::{Found, begins_a_word, run};
use crate::prelude::*;

/// A name that ends like this names a secret. Hyphens count as underscores.
const NAMES: &[&str] = &[
    "password", "passwd", "passphrase", "secret", "secret_key", "secretkey", "token", "api_key", "apikey",
    "access_key", "accesskey", "private_key", "credential", "credentials",
];

/// So much of a value is looked at to tell whether it is one; all of it is hidden.
const MOST: usize = 256;

/// Marks of a value that stands for one.
const STAND_INS: &[&str] =
    &["your", "xxxx", "****", "placeholder", "changeme", "example", "redacted", "...."];

/// At an `=` or a `:`.
pub(super) fn find(bytes: &[u8], at: usize) -> Option<Found> {
    if bytes[at..].starts_with(b"://") {
        return address(bytes, at + 3);
    }
    // `a::b`, `a == b` and `a := b`: the last sign counts, and a path is no assignment.
    if bytes[at] == b':' && (bytes.get(at + 1) == Some(&b':') || at > 0 && bytes[at - 1] == b':') {
        return None;
    }
    let name = name_before(bytes, at)?;
    if name.ends_with("authorization") {
        return authorization(bytes, at + 1);
    }
    if !NAMES.iter().any(|known| name.ends_with(known)) {
        return None;
    }
    let (start, quoted) = value_start(bytes, at + 1);
    // A run of many assignments without a space is looked through once for each of them.
    let judged = start + run(bytes.get(..bytes.len().min(start + MOST))?, start, is_value);
    let value = bytes.get(start..judged)?;
    let value = core::str::from_utf8(value)
        .or_else(|error| core::str::from_utf8(&value[..error.valid_up_to()]))
        .ok()?;
    let called = bytes.get(judged) == Some(&b'(');
    let password = name.ends_with("password") || name.ends_with("passwd");
    (!called && is_real(value, quoted, password))
        .then(|| Found::Secret(start, judged + run(bytes, judged, is_value)))
}

/// `Bearer …`, with or without a header before it.
pub(super) fn bearer(bytes: &[u8], at: usize, copied: usize) -> Option<Found> {
    let word = bytes.get(at..at + 7)?;
    if !word.eq_ignore_ascii_case(b"bearer ") || !begins_a_word(bytes, at, copied) {
        return None;
    }
    let (start, end) = (at + 7, at + 7 + run(bytes, at + 7, is_credential));
    let random = bytes[start..end].iter().any(u8::is_ascii_digit);
    (end - start >= 16 && random).then_some(Found::Secret(start, end))
}

fn authorization(bytes: &[u8], after: usize) -> Option<Found> {
    let (mut start, _) = value_start(bytes, after);
    for scheme in ["bearer ", "basic ", "token ", "digest "] {
        let here = bytes.get(start..start + scheme.len());
        if here.is_some_and(|here| here.eq_ignore_ascii_case(scheme.as_bytes())) {
            start += scheme.len();
        }
    }
    let end = start + run(bytes, start, is_credential);
    let value = core::str::from_utf8(bytes.get(start..end)?).ok()?;
    (value.len() >= 8 && value.bytes().any(|byte| byte.is_ascii_digit() || byte == b'='))
        .then_some(Found::Secret(start, end))
}

/// The user's part of an address.
fn address(bytes: &[u8], start: usize) -> Option<Found> {
    let stops = |byte: &u8| {
        byte.is_ascii_whitespace() || matches!(byte, b'/' | b'"' | b'\'' | b'`' | b'<' | b'>' | b'\\')
    };
    let host =
        bytes[start..].iter().take(512).position(stops).unwrap_or(bytes.len().min(start + 512) - start);
    let at = bytes[start..start + host].iter().rposition(|byte| *byte == b'@')?;
    let user = &bytes[start..start + at];
    let secret = match user.iter().position(|byte| *byte == b':') {
        Some(colon) => colon + 1,
        None if user.len() >= 16 && user.iter().any(u8::is_ascii_digit) => 0,
        None => return None,
    };
    let stands_in = user.get(secret).is_none_or(|first| matches!(first, b'$' | b'{' | b'<' | b'*' | b'['));
    (!stands_in).then_some(Found::Secret(start + secret, start + at))
}

/// The word before the sign, in lower case.
fn name_before(bytes: &[u8], at: usize) -> Option<String> {
    let skipped = bytes[..at].iter().rev().take(4);
    let skipped = skipped.take_while(|byte| matches!(byte, b' ' | b'"' | b'\'' | b'`' | b'\\')).count();
    let end = at - skipped;
    let of = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let length = bytes[..end].iter().rev().take(64).take_while(of).count();
    let name = core::str::from_utf8(&bytes[end - length..end]).ok()?;
    (!name.is_empty()).then(|| name.to_ascii_lowercase().replace('-', "_"))
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

fn is_credential(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~' | b'+' | b'/' | b'=')
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
