//! Whether a line is worded as CLIs word a notice of a limit.
//!
//! Agents write about statuses, logins and quotas too, at the start of a line as well. So words that say a limit are
//! not enough. Behind a tag (`API Error:`) they must end or pause; without one they must end the line, or go on as
//! notices do and sentences about a program do not.

/// What CLIs put before an error of theirs.
const TAGS: &[&str] = &[
    "api error",
    "error",
    "stream error",
    "stream disconnected before completion",
    "fatal error",
    "request failed",
    "failed",
];

/// How notices begin, in lower case. `*` stands for up to three words.
const OPENINGS: &[&str] = &[
    "claude ai usage limit reached",
    "claude usage limit reached",
    "you've hit your * limit",
    "you have hit your * limit",
    "you've reached your * limit",
    "you have reached your * limit",
    "* limit reached",
    "you have reached your * limits",
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
    "api key not found",
    "not a valid api key",
    "anthropic api key is missing",
    "openai api key is missing",
    "google generative ai api key is missing",
    "not logged in",
    "please run /login",
    "oauth token has expired",
    "oauth token revoked",
    "your access token could not be refreshed",
    "your authentication session could not be refreshed automatically",
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
    "too many tokens",
    "exceeded retry limit",
    "resource exhausted",
    "resource_exhausted",
    "resource has been exhausted",
    "overloaded",
    "overloaded_error",
    "selected model is at capacity",
    "the model is overloaded",
    "the model is currently overloaded",
    "our servers are currently overloaded",
    "the server had an error",
    "model is overloaded",
    "model overloaded",
    "the model is at capacity",
    "we're currently experiencing high demand",
    "service unavailable",
    "the service is unavailable",
    "internal server error",
    "request rejected",
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
    "gateway timeout",
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

/// Sentences to the user about the user's own plan: after these, another may follow.
const ADDRESSED: &[&str] = &[
    "claude ai usage limit reached",
    "claude usage limit reached",
    "you've hit your",
    "you have hit your",
    "you've reached your",
    "you have reached your",
    "you're out of",
    "you are out of",
    "you have run out of",
    "you exceeded your current quota",
    "you have exhausted your",
    "you have exceeded your",
    "your access token could not be refreshed",
    "selected model is at capacity",
    "we're currently experiencing",
];

/// How the sentence after a notice begins: what the user may do now, or the service's answer.
const ADVICE: &[&str] = &[
    "please ", "pass it using", "try again", "resets ", "your limit ", "upgrade ", "visit ",
    "check your plan", "add more", "api error",
];

/// What stands before a status.
const BEFORE_STATUS: &[&str] = &["unexpected status", "http", "status", "repeated"];

pub(super) fn is_notice(line: &str) -> bool {
    let lower = line.to_lowercase().replace('’', "'");
    let tag = untagged(&lower);
    let rest = tag.rest;
    let ends = |behind: &str, opening: &str| {
        if tag.tagged { pauses(behind, opening) } else { closes(behind, opening) }
    };
    let said = |rest: &str| {
        OPENINGS.iter().any(|opening| behind(rest, opening).is_some_and(|behind| ends(behind, opening)))
    };
    if said(rest) || (tag.tagged && rest.starts_with('{')) {
        return true;
    }
    let named = BEFORE_STATUS.iter().find_map(|before| behind(rest, before));
    let Some(reason) = status(named.unwrap_or(rest).trim_start_matches([':', ' '])) else { return false };
    let answer = reason.starts_with(['{', '"', '<']);
    let reason = reason.trim_start_matches(['-', ':', ' ']);
    // Without a tag, a status without the words of a limit is what some program answered.
    if tag.tagged {
        let whole = reason.trim_matches(['.', '!', ')']).is_empty();
        let code = behind(reason, "status code").is_some_and(|behind| pauses(behind, ""));
        whole || answer || said(reason) || code || (tag.of_the_service && named.is_none() && parted(rest))
    } else {
        said(reason) || (named.is_some() && reason.starts_with('{'))
    }
}

struct Untagged<'a> {
    rest: &'a str,
    tagged: bool,
    /// The tag says whose error it is.
    of_the_service: bool,
}

/// A line without what CLIs put before an error: "API Error:", "ERROR:", "AI_APICallError:".
fn untagged(lower: &str) -> Untagged<'_> {
    let mut found = Untagged { rest: lower, tagged: false, of_the_service: false };
    for _ in 0..4 {
        let Some((tag, behind)) = found.rest.split_once([':', '(']) else { break };
        let tag = tag.trim();
        let class = !tag.contains(' ') && (tag.ends_with("error") || tag.ends_with("exception"));
        if !(TAGS.contains(&tag) || class) {
            break;
        }
        found.rest = behind.trim_start();
        found.tagged = true;
        found.of_the_service |= tag == "api error" || tag == "ai_apicallerror";
    }
    found
}

/// What stands behind an HTTP status of failure.
fn status(rest: &str) -> Option<&str> {
    let (number, behind) = rest.split_at_checked(3)?;
    let known = number.parse::<u16>().is_ok_and(|status| (400..600).contains(&status));
    let parted = !behind.starts_with(char::is_alphanumeric);
    (known && parted).then(|| behind.trim_start())
}

/// "529 · …", "500: …", "(401) …": the service's answer in its own words follows.
fn parted(rest: &str) -> bool {
    rest.get(3..).is_some_and(|behind| behind.trim_start().starts_with(['·', ')', '-', ':', '.']))
}

/// What stands behind these words at the start of a line. `*` stands for up to three words.
fn behind<'a>(line: &'a str, opening: &str) -> Option<&'a str> {
    let mut rest = line;
    let mut first = true;
    let mut wanted = opening.split(' ');
    while let Some(want) = wanted.next() {
        if want == "*" {
            let stop = wanted.next().unwrap_or("");
            let mut words = 0;
            loop {
                let (word, after) = next_word(rest)?;
                rest = after;
                words += 1;
                if word == stop {
                    break;
                }
                if words == 4 || (first && !is_scope(word)) {
                    return None;
                }
            }
        } else {
            let (word, after) = next_word(rest)?;
            if word != want {
                return None;
            }
            rest = after;
        }
        first = false;
    }
    Some(rest)
}

/// The next word without the punctuation that ends it, and what follows the word.
fn next_word(line: &str) -> Option<(&str, &str)> {
    let line = line.trim_start();
    let word = line.split_whitespace().next()?;
    let bare = word.split('|').next().unwrap_or(word).trim_end_matches(|c: char| !c.is_alphanumeric());
    Some((bare, &line[bare.len()..]))
}

/// What stands before "limit reached" in a notice: "5-hour", "Opus weekly".
fn is_scope(word: &str) -> bool {
    const SCOPES: &[&str] = &[
        "claude", "ai", "opus", "sonnet", "haiku", "gpt", "codex", "gemini", "usage", "session", "weekly",
        "daily", "monthly", "hourly", "model", "plan", "your", "the", "api", "token", "request", "extra",
    ];
    SCOPES.contains(&word) || (word.starts_with(|c: char| c.is_ascii_digit()) && word.ends_with("hour"))
}

/// Behind a tag: the line ends, pauses, or goes on as a notice does: "rate limit reached for gpt-5".
fn pauses(behind: &str, opening: &str) -> bool {
    let next = behind.trim_start();
    let to_a_model = opening.starts_with("rate limit")
        || opening.starts_with("quota")
        || opening.ends_with("limit reached");
    !next.starts_with(char::is_alphanumeric)
        || goes_on(next, opening)
        || (to_a_model && next.starts_with("for "))
        || matches!(next, "error" | "errors")
}

/// Without a tag: the line ends here, or only what notices say follows.
fn closes(behind: &str, opening: &str) -> bool {
    let next = behind.trim_start();
    let whole = next.trim_end_matches(['.', '!', ')']).is_empty();
    let advice = next.trim_start_matches(['.', '!', '-', '–', '—', ' ']);
    let addressed = ADDRESSED.iter().any(|start| opening.starts_with(start));
    whole
        || next.starts_with(['·', '∙', '|', '{'])
        || ADVICE.iter().any(|start| advice.starts_with(start))
        || goes_on(next, opening)
        || (addressed && (next.starts_with(['.', '!']) || next.starts_with("for ")))
}

/// How a notice goes on without a pause.
fn goes_on(next: &str, opening: &str) -> bool {
    let next_is = |words: &str| next.starts_with(words);
    next_is("resets ")
        || next_is("try again")
        || (next_is("on ") && opening.ends_with("quota"))
        || (next_is("to access ") && opening.contains("credit balance"))
        || (next_is("because ") && opening.contains("could not be refreshed"))
        || (next_is("while processing your request") && opening == "the server had an error")
        || (next_is("processing your request") && opening == "the server had an error")
        || (next_is(", last status") && opening == "exceeded retry limit")
        || (next_is(", which may cause") && opening.contains("high demand"))
}
