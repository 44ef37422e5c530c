//! How one says who one is: `Authorization: Basic …`, `Bearer …`, `https://user:password@host`, `curl -u user:password`, and
//! the addresses of hooks, which whoever knows them may call.

use memchr::memmem;

use super::shapes::{Found, begins_a_word, run};

/// So far before `-u` the program is looked for that it is an option of.
const FAR: usize = 512;

/// `Bearer …` and `Basic …`, with or without a header before it.
pub(super) fn scheme(bytes: &[u8], at: usize, copied: usize) -> Option<Found> {
    let says =
        |word: &[u8]| bytes.get(at..at + word.len()).is_some_and(|here| here.eq_ignore_ascii_case(word));
    let bearer = says(b"bearer ");
    if !(bearer || says(b"basic ")) || !begins_a_word(bytes, at, copied) {
        return None;
    }
    let start = at + if bearer { 7 } else { 6 };
    let end = start + run(bytes, start, is_credential);
    let value = &bytes[start..end];
    let fits = match bearer {
        true => value.len() >= 16 && value.iter().any(u8::is_ascii_digit),
        false => is_basic(value),
    };
    fits.then_some(Found::Secret(start, end))
}

/// What follows the name of the header.
pub(super) fn authorization(bytes: &[u8], mut start: usize) -> Option<Found> {
    for scheme in ["bearer ", "basic ", "token ", "digest "] {
        let here = bytes.get(start..start + scheme.len());
        if here.is_some_and(|here| here.eq_ignore_ascii_case(scheme.as_bytes())) {
            start += scheme.len();
        }
    }
    let end = start + run(bytes, start, is_credential);
    let value = bytes.get(start..end)?;
    let told = value.len() >= 8 && value.iter().any(|byte| byte.is_ascii_digit() || *byte == b'=');
    (told || is_basic(value)).then_some(Found::Secret(start, end))
}

/// The user's part of an address, or what makes that of a hook secret.
pub(super) fn address(bytes: &[u8], start: usize) -> Option<Found> {
    for hook in ["hooks.slack.com/services/", "discord.com/api/webhooks/", "discordapp.com/api/webhooks/"] {
        if bytes[start..].starts_with(hook.as_bytes()) {
            let secret = start + hook.len();
            let length = run(bytes, secret, is_credential);
            return (length >= 20).then_some(Found::Secret(secret, secret + length));
        }
    }
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
    (!stands_in(user.get(secret))).then_some(Found::Secret(start + secret, start + at))
}

/// At a `-`: the password in `curl -u user:password`. Elsewhere such an option means a user and a group.
pub(super) fn option(bytes: &[u8], at: usize) -> Option<Found> {
    let alone = at > 0 && matches!(bytes[at - 1], b' ' | b'\t' | b'"' | b'\'');
    let options: &[&[u8]] = &[b"-u", b"--user", b"-U", b"--proxy-user"];
    let option = options.iter().find(|option| alone && bytes[at..].starts_with(option))?;
    let mut start = at + option.len();
    // `-u a:b`, `-ua:b`, `--user=a:b`, `"-u", "a:b"`
    let between = |byte: u8| matches!(byte, b' ' | b'\t' | b'=' | b'"' | b'\'' | b',' | b'\\');
    let gap = run(bytes, start, between).min(6);
    if gap == 0 && option.len() > 2 {
        return None;
    }
    start += gap;
    let user = run(&bytes[..bytes.len().min(start + 64)], start, |byte| is_login(byte) && byte != b':');
    let colon = start + user;
    if bytes.get(colon) != Some(&b':') || stands_in(bytes.get(colon + 1)) {
        return None;
    }
    let before = &bytes[at.saturating_sub(FAR)..at];
    let command =
        before.iter().rposition(|byte| matches!(byte, b'\n' | b'|' | b';')).map_or(0, |last| last + 1);
    memmem::find(&before[command..], b"curl")?;
    let quoted = matches!(bytes[start - 1], b'"' | b'\'');
    let end = colon + 1 + run(bytes, colon + 1, if quoted { is_quoted } else { is_login });
    (end > colon + 1).then_some(Found::Secret(colon + 1, end))
}

/// A hole to be filled in, or nothing.
fn stands_in(first: Option<&u8>) -> bool {
    first.is_none_or(|first| matches!(first, b'$' | b'{' | b'<' | b'*' | b'['))
}

fn is_quoted(byte: u8) -> bool {
    !byte.is_ascii_control() && !matches!(byte, b'"' | b'\'' | b'\\')
}

fn is_login(byte: u8) -> bool {
    is_quoted(byte) && !matches!(byte, b' ' | b'`' | b'<' | b'>' | b'|' | b';' | b'[' | b']')
}

fn is_credential(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~' | b'+' | b'/' | b'=')
}

/// A user and a password in base64.
fn is_basic(value: &[u8]) -> bool {
    let value = &value[..value.len().min(256)];
    let text = value.trim_ascii_end();
    let text = text.strip_suffix(b"==").or_else(|| text.strip_suffix(b"=")).unwrap_or(text);
    let (mut bits, mut held, mut colon) = (0u32, 0u32, false);
    for byte in text {
        let six = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return false,
        };
        bits = bits << 6 | u32::from(six);
        held += 6;
        if held >= 8 {
            held -= 8;
            let letter = (bits >> held) as u8;
            bits &= (1 << held) - 1;
            if !(letter.is_ascii_graphic() || letter == b' ') {
                return false;
            }
            colon |= letter == b':';
        }
    }
    colon && text.len() >= 6
}
