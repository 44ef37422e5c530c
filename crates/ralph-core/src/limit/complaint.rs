//! A limit in the words of a provider or a CLI, where an agent does not speak: on standard error of a process that
//! failed, and in the error of an event.
//!
//! Providers word their limits in many ways, so any line that states one counts ([`STATED`], or a status). But builds,
//! tests and agents write to standard error as well: a line that talks about code does not count ([`is_about_code`]).

use super::{LimitKind, kinds};
use crate::prelude::*;

/// How limits are stated, in lower case, with `-` and `_` as spaces.
const STATED: &[(&str, LimitKind)] = &[
    ("hit your limit", LimitKind::Usage),
    ("reached your limit", LimitKind::Usage),
    ("usage limit", LimitKind::Usage),
    ("usage limits", LimitKind::Usage),
    ("limit will reset", LimitKind::Usage),
    ("request allowance", LimitKind::Usage),
    ("out of extra usage", LimitKind::Usage),
    ("insufficient credit", LimitKind::Credit),
    ("insufficient credits", LimitKind::Credit),
    ("insufficient balance", LimitKind::Credit),
    ("insufficient funds", LimitKind::Credit),
    ("insufficient quota", LimitKind::Credit),
    ("not enough credits", LimitKind::Credit),
    ("out of credits", LimitKind::Credit),
    ("no credits", LimitKind::Credit),
    ("more credits", LimitKind::Credit),
    ("credits exhausted", LimitKind::Credit),
    ("credit balance", LimitKind::Credit),
    ("payment required", LimitKind::Credit),
    ("billing hard limit", LimitKind::Credit),
    ("billing limit", LimitKind::Credit),
    ("billing is not active", LimitKind::Credit),
    ("billing not active", LimitKind::Credit),
    ("billing error", LimitKind::Credit),
    ("billing issue", LimitKind::Credit),
    ("spending limit", LimitKind::Credit),
    ("spend limit", LimitKind::Credit),
    ("quota exceeded", LimitKind::Usage),
    ("quota exhausted", LimitKind::Usage),
    ("quota reached", LimitKind::Usage),
    ("quota has been", LimitKind::Usage),
    ("quota limit", LimitKind::Usage),
    ("exceeded quota", LimitKind::Usage),
    ("out of quota", LimitKind::Usage),
    ("current quota", LimitKind::Usage),
    ("daily quota", LimitKind::Usage),
    ("your quota", LimitKind::Usage),
    ("rate limited", LimitKind::Rate),
    ("rate limit hit", LimitKind::Rate),
    ("rate limit error", LimitKind::Rate),
    ("rate limit retry", LimitKind::Rate),
    ("rate limit please", LimitKind::Rate),
    ("hit rate limit", LimitKind::Rate),
    ("hit the rate limit", LimitKind::Rate),
    ("hit a rate limit", LimitKind::Rate),
    ("rate exceeded", LimitKind::Rate),
    ("throttlingexception", LimitKind::Rate),
    ("toomanyrequestsexception", LimitKind::Rate),
    ("too many requests", LimitKind::Rate),
    ("too many tokens", LimitKind::Rate),
    ("tokens per minute", LimitKind::Rate),
    ("requests per minute", LimitKind::Rate),
    ("throttled", LimitKind::Rate),
    ("throttling", LimitKind::Rate),
    ("resource exhausted", LimitKind::Rate),
    ("resource has been exhausted", LimitKind::Rate),
    ("backoff and retry", LimitKind::Rate),
    ("back off and retry", LimitKind::Rate),
    ("overloaded", LimitKind::Overload),
    ("overloaded error", LimitKind::Overload),
    ("at capacity", LimitKind::Overload),
    ("over capacity", LimitKind::Overload),
    ("high demand", LimitKind::Overload),
    ("service unavailable", LimitKind::Overload),
    ("temporarily unavailable", LimitKind::Overload),
    ("server is busy", LimitKind::Overload),
];

/// `request limit exceeded`, `exceeded API limit`: not of these, which are a program's own.
const OTHER_LIMITS: &[&str] = &[
    "time", "memory", "recursion", "size", "depth", "stack", "heap", "file", "files", "line", "turn",
    "turns", "iteration", "iterations", "step", "steps", "length", "context", "output", "process", "disk",
    "nesting", "redirect", "retry", "retries", "attempt", "attempts", "descriptor", "descriptors", "loop",
    "upload", "character",
];

/// Words of people who talk about a program, and of programs that test one.
const ABOUT_CODE: &[&str] = &[
    "i", "i'm", "i've", "i'll", "added", "adds", "implemented", "implements", "implementing",
    "implementation", "fixed", "fixes", "refactored", "wrote", "handles", "handled", "handler", "handling",
    "middleware", "tests", "test", "tested", "testing", "function", "method", "module", "class", "returns",
    "responses", "documented", "docs", "readme", "fixture", "mock", "mocks", "mocked", "simulates",
    "simulated", "assert", "assertion", "asserts", "expects", "expected", "panicked", "users", "feature",
    "todo", "retrying", "retried", "import", "logic", "parser", "captcha", "operator", "overload",
    "template", "argument", "arguments",
];

/// Errors of a language, not of a service.
const LANGUAGE_ERRORS: &[&str] = &[
    "typeerror", "referenceerror", "syntaxerror", "assertionerror", "valueerror", "keyerror", "nameerror",
    "attributeerror", "importerror", "indexerror", "rangeerror",
];

/// The limit that a line states, if it states one.
pub(super) fn kind(line: &str) -> Option<LimitKind> {
    if is_about_code(line) {
        return None;
    }
    let status =
        kinds::status_in(line).filter(|status| matches!(status, 402 | 429 | 529) || names_service(line));
    kinds::by_status(status, line).or_else(|| {
        let words = spaced(line);
        let stated = STATED.iter().find(|(phrase, _)| words.contains(&format!(" {phrase} ")));
        let plan = || is_used_up(&words).then_some(LimitKind::Usage);
        stated.map(|(_, kind)| *kind).or_else(plan).or_else(|| exceeds(&words).then_some(LimitKind::Rate))
    })
}

/// Lower case words with one space around each.
fn spaced(line: &str) -> String {
    let mut words = String::from(" ");
    let lower = line.to_lowercase().replace('’', "'");
    for word in lower.split(|c: char| !c.is_alphanumeric() && c != '\'').filter(|word| !word.is_empty()) {
        words.push_str(word);
        words.push(' ');
    }
    words
}

/// `You have hit the 5-hour limit`; not `Daily limit: 50`.
fn is_used_up(words: &str) -> bool {
    let scoped = ["hour", "session", "weekly", "daily", "monthly"].iter();
    let says = |phrase: &str| words.contains(&format!(" {phrase} "));
    scoped.clone().any(|scope| says(&format!("{scope} limit")))
        && ["hit", "reached", "exceeded", "exhausted", "resets", "used"].into_iter().any(says)
}

/// `request limit exceeded`, `exceeded API limit`, `429: rate limit`.
fn exceeds(words: &str) -> bool {
    let words: Vec<&str> = words.split_whitespace().collect();
    let is_limit = |word: &str| word == "limit" || word == "limits";
    words.iter().enumerate().filter(|(_, word)| is_limit(word)).any(|(at, _)| {
        let before = &words[at.saturating_sub(4)..at];
        let behind = &words[at + 1..words.len().min(at + 4)];
        let own = before.last().is_some_and(|word| OTHER_LIMITS.contains(word));
        let passed = |word: &&str| matches!(*word, "exceeded" | "reached" | "exceeds");
        let ends = behind.is_empty() && before.last() == Some(&"rate");
        !own && (ends || before.iter().any(passed) || behind.iter().any(passed))
    })
}

/// Whether a status of a server is that of the model's service: others fail with 503 as well.
fn names_service(line: &str) -> bool {
    const NAMES: [&str; 10] = [
        "api", "anthropic", "claude", "openai", "codex", "gemini", "google", "openrouter", "model",
        "provider",
    ];
    let words = spaced(line);
    NAMES.iter().any(|name| words.contains(&format!(" {name} ")))
}

/// Whether a line speaks about a program rather than for one.
fn is_about_code(line: &str) -> bool {
    let lower = line.trim().to_lowercase().replace('’', "'").replace("expected available", "");
    let first = lower.split(':').next().unwrap_or("");
    if LANGUAGE_ERRORS.contains(&first)
        || lower.contains("the requested url")
        || lower.contains("disk quota")
        || lower.contains("resource temporarily unavailable")
    {
        return true;
    }
    let is_source = |word: &str| {
        let name = word.trim_matches(|c: char| !c.is_alphanumeric()).rsplit_once('/').map(|(_, name)| name);
        let path = !word.contains("://") && name.is_some_and(|name| name.contains('.'));
        path || ["::", "=>", "()"].iter().any(|mark| word.contains(mark))
    };
    lower.split_whitespace().any(is_source)
        || lower.split(|c: char| !c.is_alphanumeric() && c != '\'').any(|word| ABOUT_CODE.contains(&word))
}
