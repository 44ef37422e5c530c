//! Is this line an error, or does it talk about one?
//!
//! The rule: a shape counts at the start of a line, after what tools put before it ([`prefix`]). In
//! the middle of a sentence it is prose, behind a quotation mark it is a JSON key, and a shape that
//! goes on to say that there was nothing (`error: none`) is none.

use super::prefix::{self, Bare, Position};
use super::readable;
use super::runners::failed_test;

/// With a colon after them.
const HEADS: [&str; 15] = [
    "error",
    "Error",
    "ERROR",
    "fatal error",
    "Fatal error",
    "fatal",
    "Fatal",
    "FATAL",
    "fatal runtime error",
    "internal compiler error",
    "panic",
    "Parse error",
    "syntax error",
    "API Error",
    "FAILURE",
];
/// Enough by themselves.
const OPENINGS: [&str; 26] = [
    "Traceback (most recent call last)",
    "+ Exception Group Traceback (most recent call last)",
    "npm ERR! ",
    "Exception in thread ",
    "Unhandled exception",
    "terminate called after throwing an instance of",
    "panicked at ",
    "assertion failed: ",
    "assertion `",
    "Assertion failed: ",
    "called `Result::",
    "called `Option::",
    "undefined reference to `",
    "CONFLICT (",
    "! [rejected]",
    "! [remote rejected]",
    "CMake Error at ",
    "ninja: build stopped: ",
    "error Command failed with exit code ",
    "ERROR in ",
    "ERROR collecting ",
    "BUILD FAILED",
    "--- FAIL: ",
    "test result: FAILED",
    "FAILED (",
    "FAIL [",
];
/// The whole line, a core dump aside.
const DEATHS: [&str; 7] = [
    "Segmentation fault",
    "Bus error",
    "Aborted",
    "Killed",
    "Illegal instruction",
    "Floating point exception",
    "Trace/breakpoint trap",
];
/// A part between colons, after a program's name.
const SYSTEM_MESSAGES: [&str; 12] = [
    "command not found",
    "No such file or directory",
    "Permission denied",
    "Operation not permitted",
    "Is a directory",
    "Not a directory",
    "File exists",
    "Directory not empty",
    "No space left on device",
    "Connection refused",
    "Read-only file system",
    "cannot execute binary file",
];
/// The start of a part between colons, after a program's name.
const PROGRAM_MESSAGES: [&str; 8] = [
    "undefined reference to `",
    "cannot find -l",
    "can't open file '",
    "Assertion `",
    "unrecognized option '",
    "invalid option -- ",
    "(6) Could not resolve host",
    "(7) Failed to connect to ",
];
/// After a line and a column: compilers that do not say "error" (go).
const LOCATED_MESSAGES: [&str; 9] = [
    "undefined: ",
    "cannot use ",
    "declared and not used: ",
    "syntax error",
    "missing return",
    "not enough arguments in call to ",
    "too many arguments in call to ",
    "invalid operation: ",
    "no required module provides package ",
];
const LOG_LEVELS: [&str; 7] = ["ERROR", "FATAL", "CRITICAL", "SEVERE", "[ERROR]", "[error]", "[FATAL]"];
/// npm's list since version 10; other words after `npm error` are prose.
const NPM_FIELDS: [&str; 8] =
    ["code", "errno", "syscall", "path", "command", "network", "enoent", "notarget"];
/// What follows `error:` if there was none.
const NOTHING: [&str; 15] = [
    "none", "none found", "no", "no error", "no errors", "nothing", "0", "0 errors", "zero", "null", "nil",
    "false", "undefined", "n/a", "ok",
];

/// Whether a line is an error's, by its shape.
pub fn has_error_shape(line: &str) -> bool {
    let line = readable(line);
    let line = line.trim();
    if line.is_empty() {
        return false;
    }
    let bare = prefix::strip(line);
    failed_test(line) || failed_test(bare.text) || starts_as_error(&bare) || located(bare.text)
}

fn starts_as_error(bare: &Bare<'_>) -> bool {
    let text = bare.text;
    headed(text)
        || class(text)
        || opens_with(&OPENINGS, text)
        || death(text)
        || panicked(text)
        || program(text)
        || part(text, bare.tagged || bare.logged)
        || service(text)
        || bare.explained && text.starts_with("assert ")
        || (bare.logged || bare.tagged) && opens_with_word(&LOG_LEVELS, text)
        || text.strip_prefix("[ERROR] ").is_some_and(says_something)
        || text.strip_prefix("npm error ").is_some_and(|rest| {
            opens_with_word(&NPM_FIELDS, rest) || !rest.starts_with(|c: char| c.is_lowercase())
        })
}

fn opens_with(table: &[&str], text: &str) -> bool {
    // The tables are long, and a line begins none of their entries.
    let Some(first) = text.as_bytes().first() else { return false };
    table.iter().any(|start| start.as_bytes().first() == Some(first) && text.starts_with(start))
}

fn opens_with_word(table: &[&str], text: &str) -> bool {
    table.contains(&text.split([' ', ':']).next().unwrap_or(text))
}

/// `error: mismatched types`, `error[E0308]: …`, `error TS2322: …`.
fn headed(text: &str) -> bool {
    HEADS.iter().filter_map(|head| text.strip_prefix(head)).any(|rest| {
        if let Some((code, rest)) = rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            let is_code = !code.is_empty() && !code.contains(char::is_whitespace);
            return is_code && (rest.is_empty() || rest.starts_with(':'));
        }
        match rest.strip_prefix(' ').and_then(|rest| rest.split_once(':')) {
            Some((code, _)) => is_code(code),
            None => rest.strip_prefix(':').is_some_and(announces),
        }
    })
}

/// `TS2322`, `CS1002`, `LNK2019`.
fn is_code(text: &str) -> bool {
    let digits = text.trim_start_matches(|c: char| c.is_ascii_uppercase());
    digits.len() < text.len() && !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// `TypeError: …`, `java.io.IOException: …`, `Error [ERR_X]: …`, and a line that is only such a name.
fn class(text: &str) -> bool {
    let part_of_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '$' | ':');
    let end = text.find(|c| !part_of_name(c)).unwrap_or(text.len());
    let name = text[..end].trim_end_matches(':');
    let last = name.rsplit(['.', ':', '$']).next().unwrap_or(name);
    let is_class = last.starts_with(char::is_uppercase)
        && ["Error", "Exception"].iter().any(|ending| last.ends_with(ending));
    if !is_class {
        return false;
    }
    let rest = &text[name.len()..];
    let rest = match rest.strip_prefix(" [").and_then(|rest| rest.split_once(']')) {
        Some((_, rest)) => rest,
        None => rest,
    };
    if rest.is_empty() {
        return !matches!(name, "Error" | "Exception");
    }
    rest.strip_prefix(':').is_some_and(announces)
}

/// Whether what follows the colon is a message or still to come: not nothing, and not source code.
pub(super) fn announces(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with(char::is_whitespace) && says_something(rest)
}

fn says_something(rest: &str) -> bool {
    let rest = rest.trim();
    let is_code = rest.ends_with([',', ';']) || matches!(rest, "{" | "[" | "(");
    let bare = rest.trim_matches(|c: char| c.is_ascii_punctuation());
    !is_code && !NOTHING.iter().any(|nothing| bare.eq_ignore_ascii_case(nothing))
}

/// `Segmentation fault (core dumped)`
fn death(text: &str) -> bool {
    let text = text.strip_suffix("(core dumped)").unwrap_or(text);
    DEATHS.contains(&text.trim_end())
}

/// `thread 'main' panicked at src/main.rs:3:5:`
fn panicked(text: &str) -> bool {
    let Some((_, rest)) = text.strip_prefix("thread '").and_then(|rest| rest.split_once('\'')) else {
        return false;
    };
    rest.starts_with(" panicked at ") || rest.starts_with(" (") && rest.contains(") panicked at ")
}

/// `collect2: error: …`, `bash: x: command not found`, `make[1]: *** [all] Error 2`.
fn program(text: &str) -> bool {
    let Some((name, rest)) = text.split_once(": ") else { return false };
    // A capital starts a sentence: `Note: …`.
    if name.is_empty() || name.contains(char::is_whitespace) || name.starts_with(char::is_uppercase) {
        return false;
    }
    if name.contains("make") && rest.starts_with("*** ") || headed(rest) {
        return true;
    }
    rest.split(": ").any(|part| {
        let part = part.trim();
        let after_process = part.trim_start_matches(|c: char| c.is_ascii_digit() || c == ' ');
        let dead = after_process.split_once("(core dumped)").map(|(before, _)| death(before));
        SYSTEM_MESSAGES.contains(&part.trim_end_matches('.'))
            || opens_with(&PROGRAM_MESSAGES, part)
            || dead == Some(true)
            || name.ends_with("sh") && part == "not found"
    })
}

/// `Link: error: …` behind a tag or a time, `LINK : fatal error LNK1120: …` without one, `web:build: src/a.ts(3,5): error
/// TS2322: …`. Without either, a capital starts a sentence.
fn part(text: &str, introduced: bool) -> bool {
    let Some((name, rest)) = text.split_once(": ").or_else(|| text.split_once(" : ")) else { return false };
    let name = name.trim_end();
    let known = introduced
        || name.len() > 1
            && name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || "_-".contains(c))
        || name.contains(':') && name.starts_with(|c: char| c.is_ascii_lowercase() || c == '@');
    let is_level =
        LOG_LEVELS.contains(&name) || name.eq_ignore_ascii_case("note") || name.eq_ignore_ascii_case("todo");
    let one_word = !name.is_empty() && !name.contains(char::is_whitespace) && !is_level;
    let rest = rest.trim_start();
    known && one_word && (headed(rest) || class(rest) || failed_test(rest) || located(rest))
}

/// Marks of services that run builds: `##[error]…`, `::error file=a.rs::…`, ` ERR_PNPM_NO_SCRIPT  …`, `level=error msg=…`.
fn service(text: &str) -> bool {
    let opens = |start: &str| text.strip_prefix(start).is_some_and(|rest| !rest.trim().is_empty());
    let pnpm = |text: &str| {
        text.split_whitespace().next().is_some_and(|word| word.len() > 9 && word.starts_with("ERR_PNPM_"))
    };
    let logfmt = || {
        text.split_whitespace().take(3).any(|word| matches!(word, "level=error" | "level=fatal" | "lvl=eror"))
    };
    opens("##[error]")
        || opens("::error ")
        || opens("::error::")
        || pnpm(text)
        || opens("ELIFECYCLE  ")
        || logfmt()
}

/// With a position before it, also what would be too little at the start of a line.
fn located(text: &str) -> bool {
    let Some(Position { message, has_column }) = prefix::position(text) else {
        // Ruby's: `x.rb:3:in 'f': message (NoMethodError)`
        return text.ends_with("Error)") && text.contains(":in ");
    };
    headed(message)
        || class(message)
        || opens_with(&["undefined reference to `"], message)
        || has_column
            && (message.starts_with("error  ")
                || opens_with(&LOCATED_MESSAGES, message)
                || message.ends_with(" imported and not used"))
}
