//! The marker line of the JSON dialect: `LOOP_CONTINUE`, `LOOP_COMPLETE`, `LOOP_COMPLETE_PHASE_n`, `LOOP_BLOCKED: why`.

use super::{INVISIBLE, Vote};
use crate::prelude::*;
use crate::report::marks;
use crate::report::shown::Shown;
use crate::text;

/// Said where a marker names none.
pub(super) const NO_REASON: &str = "no reason given";

pub(super) struct Marker {
    pub(super) quote: String,
    pub(super) vote: Vote,
    pub(super) problems: Vec<&'static str>,
}

/// The last marker in `clean` from `from` on. One that is shown or quoted counts only straight behind a report, that
/// is if one ends at `from`.
pub(super) fn last(raw: &str, clean: &str, shown: &Shown, from: usize, after_report: bool) -> Option<Marker> {
    let behind = &clean[from..];
    let mut end = clean.len();
    behind.split('\n').rev().find_map(|line| {
        let start = end - line.len();
        end = start.saturating_sub(1);
        let (bare, vote) = read(line)?;
        let at = start + line.find(bare).unwrap_or(0);
        let fenced = shown.in_fence(at);
        let is_mark = |c: char| matches!(c, '>' | '`' | '"' | '\'' | '“');
        let is_shown = fenced || shown.in_quote(at) || clean[start..at].contains(is_mark);
        if is_shown && !(after_report && is_gap(&clean[from..start])) {
            return None;
        }
        // Behind a report on the same line a space is no indentation.
        let before = if start == from { clean[start..at].trim_start() } else { &clean[start..at] };
        let mut problems = marks::at_edges(before, &clean[at + bare.len()..start + line.len()]);
        problems.extend(fenced.then_some("code fence"));
        let number = clean[..start].matches('\n').count();
        problems.extend(raw.split('\n').nth(number).filter(|raw| text::hides(raw)).map(|_| INVISIBLE));
        Some(Marker { quote: text::one_line(bare, 200), vote, problems })
    })
}

/// Nothing but blank lines, fences and decoration.
fn is_gap(text: &str) -> bool {
    text.lines().all(|line| text::undecorated(line).is_empty() || text::opens_fence(line).is_some())
}

/// A marker alone on its line, decoration aside. A placeholder for a reason is quoted instructions.
fn read(line: &str) -> Option<(&str, Vote)> {
    let bare = match line.trim() {
        reason if reason.starts_with("LOOP_BLOCKED:") => reason,
        line => text::undecorated(line),
    };
    let rest = bare.strip_prefix("LOOP_")?;
    let vote = match rest {
        "CONTINUE" => Vote::More,
        "COMPLETE" => Vote::Done { phase: None },
        _ => match rest.strip_prefix("COMPLETE_PHASE_") {
            Some(phase) => Vote::Done { phase: Some(phase.parse().ok()?) },
            None => {
                let why = rest.strip_prefix("BLOCKED")?;
                let why = why.strip_prefix(':').or_else(|| why.is_empty().then_some(why))?.trim();
                if is_placeholder(why) {
                    return None;
                }
                let why = if why.is_empty() { NO_REASON } else { why };
                Vote::Blocked { why: text::one_line(why, 500) }
            }
        },
    };
    Some((bare, vote))
}

/// `[reason]`, `<reason>`, `{reason}`, `...`.
fn is_placeholder(why: &str) -> bool {
    let framed = |open, close| why.starts_with(open) && why.ends_with(close);
    framed('[', ']') || framed('<', '>') || framed('{', '}') || matches!(why, "..." | "…")
}
