//! When a limit ends: "resets 3pm (Europe/Berlin)", "|1731720000", "try again in 5 minutes".

use super::{LONGEST_NOTICE, Reset, kinds};
use crate::prelude::*;
use crate::time::Time;

/// Words behind which a moment is named.
const MOMENTS: &[&str] = &[
    "resets at",
    "resets on",
    "resets",
    "reset at",
    "reset on",
    "resetsat",
    "try again at",
    "try again after",
    "available at",
    "available again at",
    "retry at",
    "regain access on",
    "regain access at",
    "until",
    "reset",
];
/// Words behind which a length of time is named.
const LENGTHS: &[&str] = &[
    "try again in",
    "retry in",
    "resets in",
    "reset in",
    "retry after",
    "retry-after",
    "retry_after",
    "retrydelay",
    "available in",
    "available again in",
    "wait for",
    "wait",
    "try again after",
    "reset after",
    "retrying in",
    "reset-requests",
    "reset-tokens",
];
/// Words behind which it is named in milliseconds.
const MILLISECONDS: &[&str] = &["retry-after-ms", "retry_after_ms", "retryafterms", "retrydelayms"];
const DAY: u64 = 24 * 3_600_000;
/// No provider's limit is longer; a larger number is something else.
const LONGEST_WAIT: u64 = 60 * DAY;

/// The end of a limit that a notice names.
pub fn reset_in(text: &str) -> Option<Reset> {
    let text = kinds::head(text, LONGEST_NOTICE);
    // In ASCII lower case offsets stay those of the original.
    let lower = text.to_ascii_lowercase();
    let in_ms = |at: usize| digits(lower[at..].trim_start_matches([' ', ':', '=', '"'])).parse().ok();
    epoch_behind_bar(&lower)
        .or_else(|| {
            let ms = behind(&lower, MILLISECONDS).find_map(in_ms);
            ms.filter(|ms| (1..=LONGEST_WAIT).contains(ms)).map(|ms| Reset::After { ms })
        })
        .or_else(|| behind(&lower, LENGTHS).find_map(|at| length(&lower[at..])).map(|ms| Reset::After { ms }))
        .or_else(|| behind(&lower, MOMENTS).find_map(|at| moment(&text[at..], &lower[at..])))
}

/// Places behind each of the phrases, in the order of the table.
fn behind<'a>(lower: &'a str, phrases: &'a [&str]) -> impl Iterator<Item = usize> + 'a {
    phrases.iter().flat_map(move |phrase| {
        lower.match_indices(phrase).filter_map(move |(at, _)| {
            let end = at + phrase.len();
            let whole = !lower[end..].starts_with(|c: char| c.is_ascii_alphanumeric());
            whole.then_some(end)
        })
    })
}

/// `…limit reached|1731720000`
fn epoch_behind_bar(lower: &str) -> Option<Reset> {
    lower.match_indices('|').find_map(|(at, _)| epoch(&lower[at + 1..]))
}

fn epoch(text: &str) -> Option<Reset> {
    let digits = digits(text);
    let number: i64 = digits.parse().ok()?;
    let millis = match digits.len() {
        10 => number.checked_mul(1000)?,
        13 => number,
        _ => return None,
    };
    Some(Reset::At { time: Time::from_millis(millis) })
}

fn digits(text: &str) -> &str {
    let end = text.bytes().take_while(u8::is_ascii_digit).count();
    &text[..end]
}

/// `5 minutes`, `2 days 3 hours`, `1h30m`, `7.06s`, `30` (seconds).
fn length(lower: &str) -> Option<u64> {
    let unit = ["_seconds", "-seconds", "_secs", " (seconds)", " seconds:"];
    let named = unit.iter().find_map(|unit| lower.strip_prefix(unit)).unwrap_or(lower);
    let mut rest =
        named.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, ':' | '=' | '"' | '~'));
    for vague in ["about ", "approximately ", "around ", "another "] {
        rest = rest.strip_prefix(vague).unwrap_or(rest);
    }
    let mut total = 0.0_f64;
    let mut found = false;
    loop {
        let number_len = rest.bytes().take_while(|b| b.is_ascii_digit() || *b == b'.').count();
        let Ok(number) = rest[..number_len].trim_end_matches('.').parse::<f64>() else { break };
        let behind = rest[number_len..].trim_start();
        let unit_len = behind.bytes().take_while(u8::is_ascii_alphabetic).count();
        let unit = match &behind[..unit_len] {
            "ms" | "milliseconds" | "millisecond" => 1.0,
            "s" | "sec" | "secs" | "second" | "seconds" => 1000.0,
            "m" | "min" | "mins" | "minute" | "minutes" => 60_000.0,
            "h" | "hr" | "hrs" | "hour" | "hours" => 3_600_000.0,
            "d" | "day" | "days" => 86_400_000.0,
            "" if !found && !behind.starts_with(':') => {
                total = number * 1000.0;
                found = true;
                break;
            }
            _ => break,
        };
        total += number * unit;
        found = true;
        rest = behind[unit_len..].trim_start_matches([' ', ',']);
        rest = rest.strip_prefix("and ").unwrap_or(rest).trim_start();
    }
    // Rounded up: a moment too late is better than one too early.
    let whole = total as u64;
    let ms = if (whole as f64) < total { whole.saturating_add(1) } else { whole };
    (found && ms > 0 && ms <= LONGEST_WAIT).then_some(ms)
}

/// A time of day, with or without its day, an RFC 3339 time or an epoch, within the next words.
fn moment(text: &str, lower: &str) -> Option<Reset> {
    let start = lower.len()
        - lower.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, ':' | '=' | '"')).len();
    let (text, lower) = (&text[start..], &lower[start..]);
    if let Some(at) = epoch(lower) {
        return Some(at);
    }
    let first = text.split([' ', '"', ',', ')']).next().unwrap_or("").trim_end_matches('.');
    if let Some(time) = Time::parse(first) {
        return Some(Reset::At { time });
    }
    if let Some(day) = day(text, lower).or_else(|| iso_day(text, lower)) {
        return Some(day);
    }
    let mut at = 0;
    for _ in 0..6 {
        at += lower[at..].len() - lower[at..].trim_start().len();
        if let Some((hour, minute, end)) = clock(&lower[at..]) {
            return Some(Reset::Clock { hour, minute, zone: zone(&text[at + end..]) });
        }
        at += lower[at..].find(char::is_whitespace)?;
    }
    None
}

/// `Jan 1st, 2030 12:00 AM`. Without its year a day is not enough to wait for.
fn day(text: &str, lower: &str) -> Option<Reset> {
    const MONTHS: [&str; 12] =
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    let (month, rest) = first_word(lower);
    let (day, rest) = first_word(rest);
    let (year, rest) = first_word(rest);
    let month = 1 + MONTHS.iter().position(|name| month.starts_with(name))?;
    let day = digits(day).parse().ok().filter(|day| (1..=31).contains(day))?;
    let year = Some(digits(year)).filter(|year| year.len() == 4)?.parse().ok()?;
    let rest = rest.strip_prefix("at ").unwrap_or(rest).trim_start();
    let (hour, minute, end) = clock(rest)?;
    let zone = zone(&text[lower.len() - rest.len() + end..]);
    Some(Reset::Day { year, month: u8::try_from(month).ok()?, day, hour, minute, zone })
}

/// `2030-01-31 at 00:00 UTC`, `2030-01-31 15:04:05`
fn iso_day(text: &str, lower: &str) -> Option<Reset> {
    let (date, rest) = first_word(lower);
    let mut numbers = date.split('-');
    let mut next =
        |length: usize| numbers.next().filter(|number| number.len() == length && digits(number) == *number);
    let (year, month, day) = (next(4)?.parse().ok()?, next(2)?.parse().ok()?, next(2)?.parse().ok()?);
    let rest = rest.strip_prefix("at ").unwrap_or(rest).trim_start();
    let (hour, minute, end) = clock(rest)?;
    let behind = &text[lower.len() - rest.len() + end..];
    let seconds = behind.strip_prefix(':').map_or(behind, |rest| &rest[digits(rest).len()..]);
    let known = (1..=12).contains(&month) && (1..=31).contains(&day);
    known.then(|| Reset::Day { year, month, day, hour, minute, zone: zone(seconds) })
}

fn first_word(text: &str) -> (&str, &str) {
    let (word, rest) = text.split_at(text.find(char::is_whitespace).unwrap_or(text.len()));
    (word, rest.trim_start())
}

/// `3pm`, `3:05 pm`, `15:05`. Gives the place behind it.
fn clock(lower: &str) -> Option<(u8, u8, usize)> {
    let hour_digits = digits(lower);
    let mut hour: u8 = hour_digits.parse().ok().filter(|_| hour_digits.len() <= 2)?;
    let mut end = hour_digits.len();
    let mut minute = None;
    if let Some(rest) = lower[end..].strip_prefix(':') {
        let digits = digits(rest);
        minute = Some(digits.parse::<u8>().ok().filter(|minute| *minute < 60 && digits.len() == 2)?);
        end += 1 + digits.len();
    }
    let behind = lower[end..].trim_start();
    let half = ["am", "pm", "a.m.", "p.m."].into_iter().find(|half| {
        behind.strip_prefix(half).is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_alphanumeric()))
    });
    match half {
        Some(half) => {
            if !(1..=12).contains(&hour) {
                return None;
            }
            hour = hour % 12 + if half.starts_with('p') { 12 } else { 0 };
            end = lower.len() - behind.len() + half.len();
        }
        // Without either, a lone number may be a day of the month.
        None => {
            minute?;
        }
    }
    (hour < 24).then_some((hour, minute.unwrap_or(0), end))
}

/// `(Europe/Berlin)`, `UTC`.
fn zone(text: &str) -> Option<String> {
    let text = text.trim_start();
    if let Some(inside) = text.strip_prefix('(') {
        let name = inside.split_once(')')?.0.trim();
        let is_zone = !name.is_empty()
            && name.len() <= 60
            && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '/' | '_' | '-' | '+' | ':'));
        return is_zone.then(|| name.to_owned());
    }
    let word = text.split(|c: char| !c.is_ascii_alphanumeric()).next()?;
    matches!(word, "UTC" | "GMT" | "Z").then(|| "UTC".to_owned())
}
