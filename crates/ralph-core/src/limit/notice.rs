//! Whether a line of plain output is the CLI's own notice of a limit.

use super::{LONGEST_NOTICE, Limit, kinds, of};
use crate::prelude::*;
use crate::text;

/// A notice ends the output; further up it is something the agent shows.
const LAST_LINES: usize = 10;
/// How much of a long output is read, from its end.
const LONGEST_TAIL: usize = 64 * 1024;

/// What CLIs put before an error of theirs.
const TAGS: &[&str] = &["api error", "error", "stream error", "fatal error", "request failed", "failed"];

/// How notices begin, in lower case. `*` stands for up to three words.
const OPENINGS: &[&str] = &[
    "claude ai usage limit reached",
    "claude usage limit reached",
    "you've hit your * limit",
    "you have hit your * limit",
    "you've reached your * limit",
    "you have reached your * limit",
    "* limit reached",
    "you've hit your limit",
    "you're out of extra usage",
    "you are out of extra usage",
    "credit balance is too low",
    "credit balance too low",
    "your credit balance is too low",
    "insufficient credits",
    "insufficient_quota",
    "insufficient quota",
    "insufficient balance",
    "quota exceeded",
    "you exceeded your current quota",
    "you have exhausted your * quota",
    "you have exceeded your * quota",
    "exceeded your current quota",
    "payment required",
    "invalid api key",
    "incorrect api key provided",
    "invalid x-api-key",
    "api key not valid",
    "not a valid api key",
    "not logged in",
    "please run /login",
    "oauth token has expired",
    "oauth token revoked",
    "your access token could not be refreshed",
    "failed to authenticate",
    "authentication failed",
    "authentication_error",
    "your session has expired",
    "login expired",
    "unauthorized",
    "missing bearer",
    "rate limit reached",
    "rate limit exceeded",
    "rate limited",
    "rate_limit_error",
    "rate_limit_exceeded",
    "this request would exceed * rate limit",
    "too many requests",
    "exceeded retry limit",
    "resource exhausted",
    "resource_exhausted",
    "resource has been exhausted",
    "overloaded",
    "overloaded_error",
    "selected model is at capacity",
    "the model is overloaded",
    "model is overloaded",
    "model overloaded",
    "the model is at capacity",
    "we're currently experiencing high demand",
    "service unavailable",
    "the service is unavailable",
    "internal server error",
    "request rejected",
    "repeated",
    "unexpected status",
    "no api key",
    "api key expired",
    "forbidden",
    "server overloaded",
    "the server is overloaded",
    "please log in",
    "please sign in",
    "not authenticated",
    "you are not logged in",
    "you're not logged in",
    "you must be logged in",
    "the engine is currently overloaded",
    "bad gateway",
    "http",
    "status",
    "please set an auth method",
    "please set the * api key",
    "your * quota",
    "usage limit reached",
    "usage limit exceeded",
    "monthly usage limit",
    "out of credits",
    "you're out of credits",
    "you are out of credits",
    "you have run out of credits",
];

/// The limit in plain output: only of a process that failed, and only in a line that is the CLI's own.
pub fn from_prose(failed: bool, output: &str) -> Option<Limit> {
    if !failed {
        return None;
    }
    let tail = text::plain(text::tail(output, LONGEST_TAIL));
    let mut own: Vec<&str> = Vec::new();
    let mut fenced = false;
    for line in tail.lines() {
        let bare = line.trim();
        if bare.starts_with("```") || bare.starts_with("~~~") {
            fenced = !fenced;
        } else if !fenced && !bare.is_empty() {
            own.push(line);
        }
    }
    gemini_report(&own).or_else(|| own.iter().rev().take(LAST_LINES).find_map(|line| notice(line)))
}

/// Gemini tells what was wrong at the end of a line about a report it wrote, and shows the error as an object below: a
/// notice further up than others, whose status comes after it.
fn gemini_report(own: &[&str]) -> Option<Limit> {
    let at = own.iter().rposition(|line| line.starts_with("Error when talking to Gemini API "))?;
    let (_class, said) = own[at].split_once(".json ")?.1.split_once(": ")?;
    let status = own[at + 1..].iter().find_map(|line| kinds::status_in(line));
    of(status, said)
}

fn notice(line: &str) -> Option<Limit> {
    let line = kinds::head(line, LONGEST_NOTICE);
    let shown = line.starts_with("    ")
        || line.starts_with('\t')
        || line.trim_start().starts_with('>')
        || line.contains('`');
    if shown {
        return None;
    }
    let bare = line.trim_matches(|c: char| {
        c.is_whitespace()
            || matches!(c, '[' | ']' | '⎿' | '✖' | '✗' | '×' | '❌' | '■' | '⚠' | '\u{fe0f}' | '●' | '*')
    });
    let lower = bare.to_lowercase().replace('’', "'");
    let (rest, tagged) = untagged(&lower);
    let known = OPENINGS.iter().any(|opening| opens(rest, opening))
        || (tagged && (is_bare_status(rest) || rest.starts_with('{')));
    if known { of(None, bare) } else { None }
}

/// A line without what CLIs put before an error: "API Error:", "ERROR:", "AI_APICallError:".
fn untagged(lower: &str) -> (&str, bool) {
    let mut rest = lower;
    let mut tagged = false;
    for _ in 0..4 {
        let Some((tag, behind)) = rest.split_once([':', '(']) else { break };
        let tag = tag.trim();
        let class = !tag.contains(' ') && (tag.ends_with("error") || tag.ends_with("exception"));
        if !(TAGS.contains(&tag) || class) {
            break;
        }
        rest = behind.trim_start();
        tagged = true;
    }
    (rest, tagged)
}

/// "529 {…}", "402 Payment Required": a status and its reason, not a sentence about one.
fn is_bare_status(rest: &str) -> bool {
    let Some((number, behind)) = rest.split_at_checked(3) else { return false };
    let status = number.parse::<u16>().is_ok_and(|status| (400..600).contains(&status));
    let behind = behind.trim_start();
    status
        && (behind.is_empty()
            || behind.starts_with(['{', '·', '"', ')', '-', ':', '.'])
            || OPENINGS.iter().any(|opening| opens(behind, opening))
            || opens(behind, "status code"))
}

/// Whether a line opens like this and then ends or pauses, as a notice does and a sentence does not.
fn opens(line: &str, opening: &str) -> bool {
    let mut words = line.split_whitespace();
    let mut last = "";
    let mut wanted = opening.split(' ').peekable();
    while let Some(want) = wanted.next() {
        if want == "*" {
            let stop = wanted.next().unwrap_or("");
            let leads = last.is_empty();
            let found = words.by_ref().take(4).find(|word| bare(word) == stop || (leads && !is_scope(word)));
            let Some(found) = found.filter(|word| bare(word) == stop) else { return false };
            last = found;
            continue;
        }
        match words.next() {
            Some(word) if bare(word) == want => last = word,
            _ => return false,
        }
    }
    let paused = last.ends_with(|c: char| !c.is_alphanumeric());
    let next = words.next().unwrap_or("");
    paused || next.is_empty() || next.starts_with(|c: char| !c.is_alphanumeric()) || goes_on(next, opening)
}

/// What stands before "limit reached" in a notice: "5-hour", "Opus weekly".
fn is_scope(word: &str) -> bool {
    const SCOPES: &[&str] = &[
        "claude", "ai", "opus", "sonnet", "haiku", "gpt", "codex", "gemini", "usage", "session", "weekly",
        "daily", "monthly", "hourly", "model", "plan", "your", "the", "api", "token", "request", "extra",
    ];
    SCOPES.contains(&word) || (word.starts_with(|c: char| c.is_ascii_digit()) && word.ends_with("hour"))
}

/// How a notice goes on without a pause: "rate limit reached for gpt-5", "unexpected status 401".
fn goes_on(next: &str, opening: &str) -> bool {
    match next {
        "resets" | "try" => true,
        "for" => {
            opening.starts_with("rate limit")
                || opening.starts_with("quota")
                || opening.ends_with("limit reached")
        }
        "on" => opening.ends_with("quota"),
        "to" => opening.contains("credit balance"),
        "because" => opening.contains("could not be refreshed"),
        _ => {
            matches!(opening, "unexpected status" | "repeated" | "http" | "status")
                && next.starts_with(['4', '5'])
        }
    }
}

fn bare(word: &str) -> &str {
    word.split('|').next().unwrap_or(word).trim_end_matches(|c: char| !c.is_alphanumeric())
}
