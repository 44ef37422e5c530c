//! `RALPH_STATUS: {…}` on lines of its own, and the marker behind it.

mod object;

use super::marker::{self, Marker, NO_REASON};
use super::{Dialect, INVISIBLE, Saying, Vote};
use crate::prelude::*;
use crate::report::marks;
use crate::report::shown::{Shown, shown};
use crate::text;

const KEY: &str = "RALPH_STATUS:";

/// How many reports are looked at, from the end of a message.
const MOST_REPORTS: usize = 50;

/// The last JSON report, and the last marker behind it: one that stands before a report belongs to an older one.
pub fn json_and_marker(words: &str) -> Option<Saying> {
    let mut marker = None;
    let report = text::messages(words).rev().find_map(|message| {
        // Most messages hold neither.
        if !message.contains('_') {
            return None;
        }
        let clean = text::plain(message);
        let shown = shown(&clean);
        let report = last_report(message, &clean, &shown);
        let from = report.as_ref().map_or(0, |report| report.end);
        if marker.is_none() {
            marker = marker::last(message, &clean, &shown, from, report.is_some());
        }
        report
    });
    combine(report, marker)
}

fn combine(report: Option<Report>, marker: Option<Marker>) -> Option<Saying> {
    let mut problems: Vec<&str> = report.iter().flat_map(|report| report.problems.clone()).collect();
    let vote = match (report.as_ref().map(|report| report.signal), marker.as_ref().map(|marker| &marker.vote))
    {
        (None, None) => return None,
        (_, Some(Vote::Blocked { why })) => {
            let told = report.as_ref().and_then(|report| report.reason.clone());
            Vote::Blocked { why: told.filter(|_| why == NO_REASON).unwrap_or_else(|| why.clone()) }
        }
        (Some(true), Some(done @ Vote::Done { .. })) => done.clone(),
        (Some(true), None) => {
            problems.push("EXIT_SIGNAL is true and no marker says so");
            Vote::Done { phase: None }
        }
        (Some(false), Some(Vote::Done { .. })) => {
            problems.push("the marker says complete and EXIT_SIGNAL is false");
            Vote::More
        }
        (None, Some(Vote::Done { .. })) => {
            problems.push("a marker without its JSON report");
            Vote::More
        }
        _ => Vote::More,
    };
    let decoration = marker.iter().flat_map(|marker| marker.problems.clone());
    for problem in decoration {
        if !problems.contains(&problem) {
            problems.push(problem);
        }
    }
    let problems = problems.into_iter().map(ToOwned::to_owned).collect();
    let quotes = [report.map(|report| report.quote), marker.map(|marker| marker.quote)];
    let quote = quotes.into_iter().flatten().collect::<Vec<_>>().join(" ");
    Some(Saying { dialect: Dialect::Json, vote, quote, problems })
}

/// A JSON report: its words, what it declares, and what is wrong with it.
struct Report {
    quote: String,
    signal: bool,
    /// Why it is blocked, where the marker does not say.
    reason: Option<String>,
    problems: Vec<&'static str>,
    /// Where it ends in its message.
    end: usize,
}

/// The last report that begins its line; a template is none. What says true must stand alone, what says false is heard
/// whatever follows: passed over, it would leave the word to an older report.
fn last_report(raw: &str, clean: &str, shown: &Shown) -> Option<Report> {
    clean.rmatch_indices(KEY).take(MOST_REPORTS).find_map(|(at, _)| {
        let line = clean[..at].rfind('\n').map_or(0, |end| end + 1);
        if !text::undecorated(&clean[line..at]).trim_start_matches('#').is_empty() {
            return None;
        }
        let behind = &clean[at + KEY.len()..];
        let (skipped, object) = object::braced(behind).or_else(|| object::plain_keys(behind))?;
        let end = at + KEY.len() + skipped + object.len();
        let mut read = object::read(object)?;
        let rest = clean[end..].lines().next().unwrap_or_default();
        let bare = text::undecorated(rest);
        if read.signal && !(bare.is_empty() || bare.starts_with("LOOP_")) {
            return None;
        }
        let mut problems: Vec<&str> = read.problem.into_iter().collect();
        if hides(raw, clean, line, end) {
            read.signal = false;
            problems.push(INVISIBLE);
        }
        problems.extend(marks::at_edges(&clean[line..at], if bare.is_empty() { rest } else { "" }));
        problems.extend(shown.in_fence(at).then_some("code fence"));
        let quote = format!("{KEY} {}", text::one_line(object, 300));
        Some(Report { quote, signal: read.signal, reason: read.reason, problems, end })
    })
}

/// Whether something invisible stands in these lines. The lines of the clean text are those of the message.
fn hides(raw: &str, clean: &str, start: usize, end: usize) -> bool {
    let ends = |text: &str| text.matches('\n').count();
    raw.split('\n').skip(ends(&clean[..start])).take(ends(&clean[start..end]) + 1).any(text::hides)
}
