//! Lines that package managers, runtimes and loggers put around what they run: not the agent's words.

/// How such lines begin.
const STARTS: [&str; 26] = [
    "npm notice",
    "npm warn",
    "npm WARN",
    "npm info",
    "(node:",
    "(Use `node --trace",
    "Debugger attached",
    "Debugger listening",
    "Waiting for the debugger",
    "For help, see: https://nodejs.org",
    "WARN ",
    "WARNING: ",
    "Warning: ",
    "warning: ",
    "warning ",
    "warn ",
    "make: Entering directory",
    "make: Leaving directory",
    "make[",
    "Browserslist: ",
    "[dotenv@",
    "yarn run v",
    "bun run v",
    "Update available",
    "New version available",
    "A new version of ",
];
/// Words in brackets at the start of a logger's line.
const LEVELS: [&str; 8] = ["warn", "warning", "info", "debug", "notice", "trace", "log", "verbose"];

/// Whether a line without colours is such a line.
pub(super) fn is_notice(line: &str) -> bool {
    let line = line.trim();
    STARTS.iter().any(|start| line.starts_with(start)) || is_tagged(line) || is_logged(line) || is_timed(line)
}

/// `[warn] telemetry is off`
fn is_tagged(line: &str) -> bool {
    let tag = line.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    tag.is_some_and(|(tag, _)| LEVELS.iter().any(|level| tag.eq_ignore_ascii_case(level)))
}

/// `2026-11-18T12:00:01Z  INFO codex_core: …`, `12:00:01 WARN …`
fn is_logged(line: &str) -> bool {
    let mut words = line.split_whitespace();
    let is_time = |word: &str| {
        let word = word.trim_matches(['[', ']']);
        word.starts_with(|c: char| c.is_ascii_digit()) && word.matches([':', '-']).count() >= 2
    };
    let level = |word: &str| {
        let word = word.trim_matches(['[', ']', ':', '|']);
        LEVELS.iter().any(|level| word.eq_ignore_ascii_case(level)) && word == word.to_uppercase()
    };
    words.next().is_some_and(is_time) && words.take(3).any(level)
}

/// yarn's last line: `Done in 12.41s.`
fn is_timed(line: &str) -> bool {
    let time = line.strip_prefix("Done in ").and_then(|rest| rest.trim_end_matches('.').strip_suffix('s'));
    time.is_some_and(|time| !time.is_empty() && time.chars().all(|c| c.is_ascii_digit() || c == '.'))
}
