//! Keys that can be told by how they look. One pass over the text; each place that could begin one is looked at, and no
//! run of letters is looked through again and again for the same kind.

use super::{HIDDEN, MARK, assigned, login, pem};
use crate::prelude::*;

/// A kind of key: how it begins, and what has to follow.
struct Key {
    prefix: &'static str,
    /// It begins a word; else it counts wherever it stands.
    at_a_word: bool,
    least: usize,
    of: fn(u8) -> bool,
}

const fn key(prefix: &'static str, at_a_word: bool, least: usize, of: fn(u8) -> bool) -> Key {
    Key { prefix, at_a_word, least, of }
}

/// By their first letter; longer beginnings before shorter ones.
const KEYS: &[Key] = &[
    key("AIza", false, 30, is_token),
    key("AGE-SECRET-KEY-1", true, 50, is_alnum),
    key("dapi", true, 32, is_hex),
    key("dckr_pat_", true, 20, is_token),
    key("dop_v1_", true, 32, is_alnum),
    key("doo_v1_", true, 32, is_alnum),
    key("dor_v1_", true, 32, is_alnum),
    key("figd_", true, 30, is_token),
    key("ghp_", false, 20, is_alnum),
    key("gho_", false, 20, is_alnum),
    key("ghu_", false, 20, is_alnum),
    key("ghs_", false, 20, is_alnum),
    key("ghr_", false, 20, is_alnum),
    key("github_pat_", false, 20, is_token),
    key("glpat-", false, 16, is_token),
    key("gldt-", true, 20, is_token),
    key("glptt-", true, 20, is_token),
    key("glrt-", true, 20, is_token),
    key("glsa_", true, 32, is_token),
    key("gsk_", true, 40, is_alnum),
    key("GOCSPX-", true, 20, is_token),
    key("hf_", true, 30, is_alnum),
    key("hvs.", true, 24, is_token),
    key("lin_api_", true, 32, is_alnum),
    key("npm_", true, 30, is_alnum),
    key("NRAK-", true, 24, is_alnum),
    key("pplx-", true, 32, is_alnum),
    key("pul-", true, 40, is_hex),
    key("pypi-", true, 40, is_token),
    key("r8_", true, 32, is_alnum),
    key("rk_live_", true, 16, is_alnum),
    key("rk_test_", true, 16, is_alnum),
    key("rubygems_", true, 40, is_hex),
    key("sb_secret_", true, 20, is_token),
    key("sbp_", true, 40, is_hex),
    key("shpat_", true, 32, is_alnum),
    key("shpca_", true, 32, is_alnum),
    key("shppa_", true, 32, is_alnum),
    key("shpss_", true, 32, is_alnum),
    key("sk-ant-", false, 12, is_token),
    key("sk-proj-", false, 20, is_token),
    key("sk_live_", true, 16, is_alnum),
    key("sk_test_", true, 16, is_alnum),
    key("sntrys_", true, 40, is_token),
    key("sq0atp-", true, 20, is_token),
    key("sq0csp-", true, 40, is_token),
    key("SK", true, 32, is_hex),
    key("tskey-", true, 20, is_token),
    key("whsec_", true, 16, is_alnum),
    key("xai-", true, 60, is_alnum),
    key("xapp-", true, 20, is_token),
    key("ya29.", true, 20, is_token),
];

/// From where to where the keys with a first letter stand: what begins none costs a look into this table.
const BY_LETTER: [(usize, usize); 256] = by_letter();

const fn by_letter() -> [(usize, usize); 256] {
    let mut table = [(0, 0); 256];
    let mut nth = 0;
    while nth < KEYS.len() {
        let letter = KEYS[nth].prefix.as_bytes()[0] as usize;
        let (from, to) = table[letter];
        table[letter] = (if to == 0 { nth } else { from }, nth + 1);
        nth += 1;
    }
    table
}

/// For each byte those that may follow it where something is to be found, by their last six bits. Most places of a text can
/// begin nothing, and are passed over by this alone.
const PAIRS: [u64; 256] = pairs();

const fn pairs() -> [u64; 256] {
    /// How everything begins that is told neither by a key's prefix nor by an assignment.
    const BEGIN: [(u8, &[u8]); 9] = [
        (b'[', b"r"),
        (b'-', b"-uU"),
        (b'e', b"y"),
        (b'A', b"KS"),
        (b'B', b"AEae"),
        (b'b', b"AEae"),
        (b'S', b"G"),
        (b'x', b"o"),
        (b's', b"k"),
    ];
    let mut table = [0; 256];
    let mut nth = 0;
    while nth < BEGIN.len() {
        let (first, seconds) = BEGIN[nth];
        let mut second = 0;
        while second < seconds.len() {
            table[first as usize] |= bit(seconds[second]);
            second += 1;
        }
        nth += 1;
    }
    let mut nth = 0;
    while nth < KEYS.len() {
        let prefix = KEYS[nth].prefix.as_bytes();
        table[prefix[0] as usize] |= bit(prefix[1]);
        nth += 1;
    }
    // Anything may be assigned.
    table[b'=' as usize] = u64::MAX;
    table[b':' as usize] = u64::MAX;
    table
}

const fn bit(second: u8) -> u64 {
    1 << (second & 63)
}

/// The next place, from this one on, at which something may be found.
fn next_place(bytes: &[u8], at: usize) -> Option<usize> {
    let may_begin = |pair: &[u8]| PAIRS[usize::from(pair[0])] & bit(pair[1]) != 0;
    bytes.get(at..)?.windows(2).position(may_begin).map(|skipped| at + skipped)
}

pub(super) fn is_alnum(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
}

fn is_hex(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'a'..=b'f')
}

/// What keys are made of.
pub(super) fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

/// What was found at a place.
pub(super) enum Found {
    /// To be hidden, from here to there.
    Secret(usize, usize),
    /// Nothing up to there.
    Skip(usize),
}

/// Up to where a run is known not to hold a key of a kind: what a whole run lacks, its end lacks too.
#[derive(Default)]
struct Dull {
    jwt: usize,
    openai: usize,
    slack: usize,
}

/// The text with every such key replaced, if there is any. What is hidden may free what stood beside it, so it is looked
/// at again.
pub(super) fn hide(text: &str) -> Option<String> {
    let mut hidden = pass(text)?;
    for _ in 0..8 {
        match pass(&hidden) {
            Some(again) => hidden = again,
            None => break,
        }
    }
    Some(hidden)
}

fn pass(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let (mut out, mut copied, mut at) = (String::new(), 0, 0);
    let mut dull = Dull::default();
    while let Some(place) = next_place(bytes, at) {
        at = place;
        match find(bytes, at, copied, &mut dull) {
            Some(Found::Secret(start, end)) if start >= copied && end > start => {
                // What is hidden is told by bytes of ASCII, or ends where a character does.
                let (Some(before), Some(_)) = (text.get(copied..start), text.get(start..end)) else {
                    at += 1;
                    continue;
                };
                out.push_str(before);
                out.push_str(HIDDEN);
                (copied, at) = (end, end.max(at));
            }
            Some(Found::Skip(end)) => at = end.max(at + 1),
            _ => at += 1,
        }
    }
    if copied == 0 && out.is_empty() {
        return None;
    }
    out.push_str(&text[copied..]);
    Some(out)
}

fn find(bytes: &[u8], at: usize, copied: usize, dull: &mut Dull) -> Option<Found> {
    match bytes[at] {
        b'[' if bytes[at..].starts_with(MARK.as_bytes()) => {
            let end = bytes[at..].iter().take(100).position(|byte| *byte == b']')?;
            Some(Found::Skip(at + end + 1))
        }
        b'=' => assigned::find(bytes, at),
        b':' => telegram(bytes, at).or_else(|| assigned::find(bytes, at)),
        b'-' => pem::find(bytes, at, copied).or_else(|| login::option(bytes, at)),
        b'e' => jwt(bytes, at, &mut dull.jwt),
        b'A' => amazon(bytes, at, copied).or_else(|| known(bytes, at, copied)),
        b'B' | b'b' => login::scheme(bytes, at, copied),
        b'S' => sendgrid(bytes, at, copied).or_else(|| known(bytes, at, copied)),
        b'x' => slack(bytes, at, &mut dull.slack).or_else(|| known(bytes, at, copied)),
        b's' => known(bytes, at, copied).or_else(|| openai(bytes, at, copied, &mut dull.openai)),
        _ => known(bytes, at, copied),
    }
}

fn known(bytes: &[u8], at: usize, copied: usize) -> Option<Found> {
    let (from, to) = BY_LETTER[usize::from(bytes[at])];
    let rest = &bytes[at..];
    let fits = |key: &&Key| {
        rest.starts_with(key.prefix.as_bytes())
            && (!key.at_a_word || begins_a_word(bytes, at, copied))
            && run(rest, key.prefix.len(), key.of) >= key.least
    };
    let key = KEYS[from..to].iter().find(fits)?;
    let end = at + key.prefix.len();
    Some(Found::Secret(at, end + run(bytes, end, key.of)))
}

/// `sk-` alone begins many a word: what follows has to look random.
fn openai(bytes: &[u8], at: usize, copied: usize, dull: &mut usize) -> Option<Found> {
    if at < *dull || !bytes[at..].starts_with(b"sk-") || !begins_a_word(bytes, at, copied) {
        return None;
    }
    let length = run(bytes, at + 3, is_token);
    let key = &bytes[at + 3..at + 3 + length];
    *dull = at + 3 + length;
    let longest = key.split(|byte| !is_alnum(*byte)).map(<[u8]>::len).max().unwrap_or(0);
    let random =
        key.iter().any(u8::is_ascii_digit) && (longest >= 16 || key.iter().any(u8::is_ascii_uppercase));
    (length >= 20 && random).then_some(Found::Secret(at, at + 3 + length))
}

fn amazon(bytes: &[u8], at: usize, copied: usize) -> Option<Found> {
    let rest = &bytes[at..];
    let of = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit();
    let fits = (rest.starts_with(b"AKIA") || rest.starts_with(b"ASIA"))
        && begins_a_word(bytes, at, copied)
        && run(rest, 4, of) >= 16
        && rest[4..20].iter().any(u8::is_ascii_digit);
    fits.then_some(Found::Secret(at, at + 20))
}

/// `SG.`, and two parts of a known length.
fn sendgrid(bytes: &[u8], at: usize, copied: usize) -> Option<Found> {
    let rest = &bytes[at..];
    let fits = rest.starts_with(b"SG.")
        && begins_a_word(bytes, at, copied)
        && run(rest, 3, is_token) == 22
        && rest.get(25) == Some(&b'.')
        && run(rest, 26, is_token) >= 43;
    fits.then(|| Found::Secret(at, at + 26 + 43))
}

/// A bot: its number, a colon, and 35 letters the first two of which are known.
fn telegram(bytes: &[u8], at: usize) -> Option<Found> {
    let fits =
        bytes[at + 1..].starts_with(b"AA") && run(&bytes[..bytes.len().min(at + 37)], at + 1, is_token) == 35;
    let digits = || bytes[..at].iter().rev().take(11).take_while(|byte| byte.is_ascii_digit()).count();
    (fits && (8..=10).contains(&digits())).then_some(Found::Secret(at + 1, at + 36))
}

fn slack(bytes: &[u8], at: usize, dull: &mut usize) -> Option<Found> {
    let rest = &bytes[at..];
    let fits = at >= *dull
        && rest.starts_with(b"xox")
        && rest.get(3).is_some_and(u8::is_ascii_lowercase)
        && rest.get(4) == Some(&b'-');
    let length = if fits { run(rest, 5, is_token) } else { 0 };
    *dull = (*dull).max(at + length);
    (length >= 10 && rest[5..5 + length].iter().any(u8::is_ascii_digit))
        .then_some(Found::Secret(at, at + 5 + length))
}

/// Three parts, the first of which is JSON in base64.
fn jwt(bytes: &[u8], at: usize, dull: &mut usize) -> Option<Found> {
    if at < *dull || !bytes[at..].starts_with(b"eyJ") {
        return None;
    }
    let mut end = at;
    for part in 0..3 {
        if part > 0 {
            if bytes.get(end) != Some(&b'.') {
                return None;
            }
            end += 1;
        }
        let length = run(bytes, end, is_token);
        if length < 8 {
            return None;
        }
        end += length;
        if part == 0 {
            *dull = end;
        }
    }
    Some(Found::Secret(at, end))
}

pub(super) fn run(bytes: &[u8], from: usize, of: fn(u8) -> bool) -> usize {
    bytes.get(from..).unwrap_or_default().iter().take_while(|byte| of(**byte)).count()
}

/// No letter or digit comes before it, but for those of an escape like `\n`; what was just hidden is none.
pub(super) fn begins_a_word(bytes: &[u8], at: usize, copied: usize) -> bool {
    if at == copied {
        return true;
    }
    let before = |back: usize| at.checked_sub(back).map(|at| bytes[at]);
    match before(1) {
        Some(b'n' | b'r' | b't') if before(2) == Some(b'\\') => true,
        Some(byte) => !is_alnum(byte),
        None => true,
    }
}
