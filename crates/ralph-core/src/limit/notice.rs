//! Where in an output the CLI's own notice of a limit stands.

use core::iter;

use super::reset::reset_in;
use super::{LONGEST_NOTICE, Limit, answer, kinds, of, of_service, shape};
use crate::prelude::*;
use crate::text;

/// A notice ends the output; further up it is something the agent shows.
const LAST_LINES: usize = 10;
/// How much of a long output is read, from its end.
const LONGEST_TAIL: usize = 64 * 1024;

/// The limit in plain output: only of a process that failed, and only in a line that is the CLI's own.
pub fn from_prose(failed: bool, output: &str) -> Option<Limit> {
    if !failed {
        return None;
    }
    let tail = text::plain(text::tail(output, LONGEST_TAIL));
    let own = unfenced(&tail);
    let last = own.iter().rev().take(LAST_LINES).copied();
    gemini_report(&own).or_else(|| last.filter_map(bare_notice).find_map(|line| of(None, line)))
}

/// The limit on standard error of a process that failed: what a provider or the CLI says there, in whatever words.
pub fn from_stderr(failed: bool, output: &str) -> Option<Limit> {
    if !failed {
        return None;
    }
    let tail = text::plain(text::tail(output, LONGEST_TAIL));
    let own = unfenced(&tail);
    let last =
        own.iter().rev().filter(|line| !line.trim_start().starts_with("at ")).take(LAST_LINES).copied();
    let stated = || last.clone().filter(|line| !is_shown(line)).find_map(|line| of_service(None, line));
    from_prose(true, output).or_else(stated).map(|limit| with_reset(limit, &own))
}

/// The time may stand on a line of its own: `retry-after: 30`, `Resets at 3pm`.
fn with_reset(mut limit: Limit, own: &[&str]) -> Limit {
    let last = || own.iter().rev().take(LAST_LINES).filter(|line| !is_shown(line));
    limit.reset = limit.reset.or_else(|| last().find_map(|line| reset_in(line)));
    limit
}

/// The line of an error's text that is a notice, or the service's answer by itself.
pub(super) fn line_in(error: &str) -> Option<&str> {
    let answer = |line: &str| line.starts_with('{') && answer::words(line).is_some();
    unfenced(error)
        .into_iter()
        .find_map(|line| bare_notice(line).or_else(|| Some(line).filter(|line| answer(line))))
}

fn unfenced(text: &str) -> Vec<&str> {
    let mut own: Vec<&str> = Vec::new();
    let mut fenced = false;
    for line in text.lines() {
        let bare = line.trim();
        if bare.starts_with("```") || bare.starts_with("~~~") {
            fenced = !fenced;
        } else if !fenced && !bare.is_empty() {
            own.push(line);
        }
    }
    own
}

/// Gemini tells what was wrong at the end of a line about a report it wrote, or from there on in several, and shows where
/// that was and the error as an object below: a notice further up than others, whose status comes after it.
fn gemini_report(own: &[&str]) -> Option<Limit> {
    let at = own.iter().rposition(|line| line.starts_with("Error when talking to Gemini API "))?;
    let (_class, said) = own[at].split_once(".json ")?.1.split_once(": ")?;
    let below = &own[at + 1..];
    let more = below.iter().copied().take_while(|line| !line.trim_start().starts_with("at "));
    let status = below.iter().find_map(|line| kinds::status_in(line));
    of(status, &iter::once(said).chain(more).collect::<Vec<_>>().join("\n"))
}

/// A line that is a notice, without the marks around it.
fn bare_notice(line: &str) -> Option<&str> {
    let line = kinds::head(line, LONGEST_NOTICE);
    let bare = line.trim_matches(|c: char| {
        c.is_whitespace()
            || matches!(c, '[' | ']' | '⎿' | '✖' | '✗' | '×' | '❌' | '■' | '⚠' | '\u{fe0f}' | '●')
    });
    (!is_shown(line) && shape::is_notice(bare)).then_some(bare)
}

/// Whether a line is code or a quotation.
fn is_shown(line: &str) -> bool {
    line.starts_with("    ")
        || line.starts_with('\t')
        || line.trim_start().starts_with('>')
        || line.contains('`')
}
