//! Which limit a text speaks of.

use super::LimitKind;
use crate::prelude::*;

/// Words of a plan's allowance, before all others: such notices also offer to buy credits.
const USAGE: &[&str] = &[
    "usage limit",
    "session limit",
    "weekly limit",
    "daily limit",
    "monthly limit",
    "hour limit",
    "hit your limit",
    "reached your limit",
    "plan limit",
    "opus limit",
    "sonnet limit",
    "daily quota",
    "usage_limit",
    "limit will reset",
    "out of extra usage",
    "usage cap",
];
const CREDIT: &[&str] = &[
    "credit balance",
    "insufficient credit",
    "insufficient_quota",
    "insufficient quota",
    "billing",
    "payment required",
    "out of credits",
    "no credits",
    "purchase credits",
    "insufficient funds",
    "insufficient balance",
    "prepaid",
    "spending limit",
    "spend limit",
    "budget exceeded",
];
const QUOTA: &[&str] = &["quota"];
const AUTH: &[&str] = &[
    "invalid api key",
    "api key not valid",
    "not a valid api key",
    "incorrect api key",
    "invalid x-api-key",
    "invalid_api_key",
    "api key expired",
    "api key is missing",
    "no api key",
    "api key not found",
    "missing api key",
    "not logged in",
    "run /login",
    "unauthorized",
    "authentication_error",
    "authentication_failed",
    "authentication failed",
    "failed to authenticate",
    "unauthenticated",
    "not authenticated",
    "oauth token",
    "token has expired",
    "token expired",
    "access token",
    "refresh token",
    "sign in again",
    "log in again",
    "please log in",
    "please sign in",
    "please login",
    "missing bearer",
    "forbidden",
    "permission_error",
    "permission_denied",
    "api key has been disabled",
    "account has been disabled",
    "token revoked",
    "login expired",
    "invalid authentication",
    "authentication required",
    "invalid credentials",
    "credentials have expired",
    "session expired",
    "session has expired",
];
const RATE: &[&str] = &[
    "rate limit",
    "rate-limit",
    "rate_limit",
    "ratelimit",
    "too many requests",
    "too_many_requests",
    "tokens per min",
    "requests per min",
    "per-minute",
    "exceeded retry limit",
    "resource_exhausted",
    "resource exhausted",
    "resource has been exhausted",
    "throttl",
    "slow down",
];
const OVERLOAD: &[&str] = &[
    "overloaded",
    "service is unavailable",
    "at capacity",
    "over capacity",
    "service unavailable",
    "temporarily unavailable",
    "server is busy",
    "high demand",
    "\"unavailable\"",
    "internal server error",
    "bad gateway",
    "gateway timeout",
    "api_error",
    "server_error",
    "server had an error",
    "high load",
];

/// What a status says by itself; words only refine it.
pub(super) fn by_status(status: Option<u16>, text: &str) -> Option<LimitKind> {
    let lower = text.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    match status {
        Some(401 | 403) => Some(LimitKind::Auth),
        Some(402) => Some(LimitKind::Credit),
        Some(429) if says(USAGE) => Some(LimitKind::Usage),
        Some(429) if says(&["insufficient_quota", "credit balance", "insufficient credit"]) => {
            Some(LimitKind::Credit)
        }
        Some(429) if says(QUOTA) => Some(LimitKind::Usage),
        Some(429) => Some(LimitKind::Rate),
        Some(500..=599) => Some(LimitKind::Overload),
        _ => None,
    }
}

/// What a notice's words say.
pub(super) fn by_words(notice: &str) -> Option<LimitKind> {
    let lower = notice.to_lowercase();
    // A curly apostrophe changes no word of these tables, and a disk's quota is nobody's limit.
    if lower.contains("disk quota") {
        return None;
    }
    [
        (USAGE, LimitKind::Usage),
        (CREDIT, LimitKind::Credit),
        (QUOTA, LimitKind::Usage),
        (AUTH, LimitKind::Auth),
        (RATE, LimitKind::Rate),
        (OVERLOAD, LimitKind::Overload),
    ]
    .into_iter()
    .find(|(words, _)| words.iter().any(|word| lower.contains(word)))
    .map(|(_, kind)| kind)
}

/// Words before which a number is a status, and behind which it is one.
const BEFORE: &[&str] = &[
    "status", "error", "http", "code", "rejected", "repeated", "http/1.1", "http/2", "statuscode",
    "status_code",
];
const BEHIND: &[&str] = &[
    "unauthorized",
    "forbidden",
    "payment",
    "too",
    "overloaded",
    "service",
    "internal",
    "bad",
    "gateway",
    "{\"type\":\"error\"",
    "conflict",
];

/// The HTTP status an error text names: "unexpected status 401 Unauthorized", "Request rejected (429)".
pub fn status_in(text: &str) -> Option<u16> {
    let text = head(text, super::LONGEST_NOTICE);
    let bytes = text.as_bytes();
    let mut before = String::new();
    let mut at = 0;
    while at < bytes.len() {
        let len = bytes[at..]
            .iter()
            .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'/' | b'.'))
            .count();
        if len == 0 {
            // A full stop or a line end parts the number from the word.
            if bytes[at] == b'\n' {
                before.clear();
            }
            at += 1;
            continue;
        }
        let word = &text[at..at + len];
        if let Some(status) = http_error(word.trim_end_matches('.')) {
            let behind = text[at + len..].split_whitespace().next().unwrap_or("").to_lowercase();
            if BEFORE.contains(&before.as_str()) || BEHIND.iter().any(|word| behind.starts_with(word)) {
                return Some(status);
            }
        }
        before = word.trim_end_matches('.').to_ascii_lowercase();
        at += len;
    }
    None
}

fn http_error(word: &str) -> Option<u16> {
    if word.len() != 3 {
        return None;
    }
    word.parse().ok().filter(|status| (400..600).contains(status))
}

pub(super) fn head(text: &str, max: usize) -> &str {
    let mut end = max.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}
