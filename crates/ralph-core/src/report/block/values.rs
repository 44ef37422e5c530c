//! What the values of a block mean, where they are not exactly the words that were asked for.
//!
//! Honest agents vary: `PASSED`, `PASSING (12/12)`, `COMPLETED`, `true.`. A good value is read only if every word in it is
//! known to be harmless, so that nothing negated, partial or conditional passes for it ("PASSED except 2").

use super::{Status, Tests, bare, word};
use crate::prelude::*;

const DONE: &[&str] = &["complete", "completed", "done", "finished", "success", "successful", "succeeded"];
const PASS: &[&str] =
    &["passing", "passed", "pass", "passes", "green", "ok", "success", "successful", "succeeded"];
const FAIL: &[&str] =
    &["fail", "fails", "failed", "failing", "failure", "failures", "red", "broken", "error", "errors"];
const NO: &[&str] = &["no", "0", "zero"];

/// What may stand with a word for done.
const WITH_DONE: &[&str] = &[
    "all", "everything", "is", "are", "fully", "the", "task", "tasks", "project", "goal", "stories", "items",
    "work", "and", "now", "tests", "pass", "passing", "passed", "verified", "implemented", "goals",
    "reached", "criteria", "met", "requirements",
];
/// What may stand with a word for passing tests: what was run, and how long it took.
const WITH_PASS: &[&str] = &[
    "all", "tests", "test", "the", "suite", "suites", "unit", "integration", "e2e", "and", "in", "run",
    "runs", "cases", "checks", "check", "total", "now", "fully", "are", "is", "still", "skipped", "ignored",
    "cargo", "nextest", "pytest", "npm", "yarn", "pnpm", "jest", "vitest", "mocha", "go", "make", "mvn",
    "gradle", "lint", "clippy", "build", "typecheck", "assertions", "examples", "specs", "files",
    "everything", "verified", "s", "ms", "seconds",
];
/// Where "passing" does not stand first, only these may.
const BEFORE_PASS: &[&str] = &["all", "tests", "the", "everything", "100%"];

pub(super) fn status(value: &str) -> Status {
    match word(value).as_str() {
        "IN_PROGRESS" => return Status::InProgress,
        "COMPLETE" => return Status::Complete,
        "BLOCKED" => return Status::Blocked,
        _ => {}
    }
    let words = words(value);
    let is = |at: usize, list: &[&str]| words.get(at).is_some_and(|word| list.contains(&word.as_str()));
    let under_way = [
        "ongoing", "wip", "working", "continue", "continuing", "incomplete", "partial", "partially", "partly",
    ];
    if is(0, &["blocked", "stuck"]) {
        Status::Blocked
    } else if is(0, &under_way) || is(0, &["in"]) && is(1, &["progress"]) || is(0, &["not"]) && is(1, DONE) {
        Status::InProgress
    } else if is_calm(value) && says(&words, DONE, WITH_DONE) && counts_are_whole(&words, true) {
        Status::Complete
    } else {
        Status::Unknown
    }
}

pub(super) fn tests(value: &str) -> Tests {
    match word(value).as_str() {
        "PASSING" => return Tests::Passing,
        "FAILING" => return Tests::Failing,
        "NOT_RUN" => return Tests::NotRun,
        _ => {}
    }
    let words = words(value);
    let is = |at: usize, list: &[&str]| words.get(at).is_some_and(|word| list.contains(&word.as_str()));
    let first = is(0, PASS) || is(0, BEFORE_PASS) || words.first().is_some_and(|word| is_number(word));
    if is_calm(value) && first && says_passing(&words) && counts_are_whole(&words, false) {
        return Tests::Passing;
    }
    let denies = |at: usize| at > 0 && (is(at - 1, NO) || is(at - 1, &["not", "never", "without"]));
    if (0..words.len()).any(|at| is(at, FAIL) && !denies(at)) {
        return Tests::Failing;
    }
    let passes = (0..words.len()).any(|at| is(at, PASS) || is(at, FAIL));
    let not_run = is(0, &["n/a", "na", "none", "skipped", "untested", "notrun"])
        || is(0, &["not"]) && is(1, &["run", "applicable", "executed"])
        || is(0, &["no"]) && is(1, &["tests", "test"]);
    if not_run && !passes { Tests::NotRun } else { Tests::Unknown }
}

/// `None`: neither plainly true nor plainly false.
pub(super) fn signal(value: &str) -> Option<bool> {
    let plain = bare(value);
    if plain.eq_ignore_ascii_case("true") || plain.eq_ignore_ascii_case("false") {
        return Some(plain.eq_ignore_ascii_case("true"));
    }
    let words = words(value);
    let (first, rest) = words.split_first().filter(|_| is_calm(value))?;
    match first.as_str() {
        // What says no may explain itself: it is believed whatever follows.
        "no" if rest.is_empty() => Some(false),
        "false" if !rest.iter().any(|word| matches!(word.as_str(), "true" | "yes")) => Some(false),
        "true" | "yes" => {
            let harmless =
                |word: &String| DONE.contains(&word.as_str()) || WITH_DONE.contains(&word.as_str());
            (rest.iter().all(harmless)).then_some(true)
        }
        _ => None,
    }
}

/// "0 failed" says nothing against it; any other word that is not known does.
fn says_passing(words: &[String]) -> bool {
    let mut kept = vec![];
    let mut rest = words;
    while let Some((word, after)) = rest.split_first() {
        let none_failed =
            NO.contains(&word.as_str()) && after.first().is_some_and(|next| FAIL.contains(&next.as_str()));
        if none_failed {
            rest = &after[1..];
        } else {
            kept.push(word.clone());
            rest = after;
        }
    }
    says(&kept, PASS, WITH_PASS)
}

/// One of the words that say it, and nothing that is not known to go with it.
fn says(words: &[String], heads: &[&str], harmless: &[&str]) -> bool {
    let known = |word: &String| {
        let word = word.as_str();
        heads.contains(&word) || harmless.contains(&word) || is_number(word) || word == "of" || word == "100%"
    };
    words.iter().any(|word| heads.contains(&word.as_str())) && words.iter().all(known)
}

/// "12/12", "4 of 4". Of tests a number alone is how many there are; of work it may be one of several.
fn counts_are_whole(words: &[String], of_work: bool) -> bool {
    (0..words.len()).all(|at| {
        let word = words[at].as_str();
        let (before, after) = (at.checked_sub(1).map(|at| words[at].as_str()), words.get(at + 1));
        if let Some((some, all)) = word.split_once('/') {
            return some == all && some != "0";
        }
        if word == "of" {
            let some = before.filter(|word| is_number(word));
            return some.is_some_and(|some| some != "0" && after.is_some_and(|all| all == some));
        }
        let counted = matches!(before, Some("all" | "of")) || after.is_some_and(|next| next == "of");
        !is_number(word) || counted || !of_work && (word != "0" || after.is_some_and(|next| next != "passed"))
    })
}

fn is_number(word: &str) -> bool {
    let digits = word.trim_end_matches(['s', 'm']);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'/')
}

/// The words of a value, in lower case.
fn words(value: &str) -> Vec<String> {
    let parts = |c: char| !(c.is_alphanumeric() || matches!(c, '/' | '%' | '\''));
    value.split(parts).filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
}

/// Closing marks, brackets and ticks; no question, no cross, no "about", no "!" before a word.
fn is_calm(value: &str) -> bool {
    const MARKS: &str = ".,;:()[]{}\"'`*_-/%#|=+ \t✅✔☑✓🎉🟢👍💚🚀✨\u{fe0f}–—…·•“”";
    let mut chars = value.chars().peekable();
    while let Some(c) = chars.next() {
        let closing = c == '!' && !chars.peek().is_some_and(|next| next.is_alphanumeric());
        if !(c.is_ascii_alphanumeric() || MARKS.contains(c) || closing) {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn honest_variants_of_tests_mean_what_they_say() {
        for value in [
            "PASSING",
            "passing",
            "PASSED",
            "Pass",
            "ALL PASSING",
            "ALL TESTS PASSING",
            "PASSING (12/12)",
            "12/12 PASSING",
            "12 of 12 passed",
            "PASSING ✅",
            "✅ All passing",
            "GREEN",
            "passing.",
            "PASSED!",
            "PASSING - 48 tests in 2s",
            "PASSING (cargo test)",
            "12 passed, 0 failed",
            "PASSING, no failures",
            "PASSED # 120 tests",
            "PASSING (unit and integration)",
            "\"PASSED\"",
            "100% passing",
            "41 passed, 2 skipped",
            "OK",
            "tests pass",
        ] {
            assert_eq!(tests(value), Tests::Passing, "{value}");
        }
        for value in [
            "FAILED",
            "FAILING (3/12)",
            "2 FAILED",
            "12 passed, 1 failed",
            "RED",
            "failing.",
            "passing but 1 fails",
            "NOT_RUN (build broken)",
        ] {
            assert_eq!(tests(value), Tests::Failing, "{value}");
        }
        for value in
            ["NOT RUN", "N/A", "none", "SKIPPED", "not run (docs only)", "NO TESTS", "not applicable"]
        {
            assert_eq!(tests(value), Tests::NotRun, "{value}");
        }
    }

    #[test]
    fn tests_that_do_not_plainly_pass_are_not_taken_for_it() {
        for value in [
            "NOT PASSING",
            "PASSED except 2",
            "MOSTLY PASSING",
            "ALMOST ALL PASSING",
            "PASSING (11/12)",
            "11/12 passed",
            "PASSING?",
            "PASSING ❌",
            "0/0 passing",
            "NO TESTS PASSED",
            "none passed",
            "PASSING ~90%",
            "90% passing",
            "!PASSING",
            "PASSING (unit only)",
            "should be passing",
            "PASSING when the server runs",
            "UNIT PASSING",
            "",
            "MOSTLY",
            "never passed",
            "0 passed",
            "isn't passing",
            "PASSING (unverified)",
            "not all passing",
            "passing soon",
            "11 of 12 passed",
            "PARTIALLY PASSING",
            "nearly passing",
            "PASSING, I think",
            "nicht OK",
        ] {
            assert_ne!(tests(value), Tests::Passing, "{value}");
        }
    }

    #[test]
    fn honest_variants_of_a_status_mean_what_they_say() {
        for value in [
            "COMPLETE",
            "COMPLETED",
            "Done",
            "FINISHED",
            "COMPLETE ✅",
            "ALL DONE",
            "100% COMPLETE",
            "PROJECT COMPLETE",
            "COMPLETE (all 4 stories)",
            "COMPLETE (5/5)",
            "complete.",
            "SUCCESS",
            "TASK COMPLETED",
            "`DONE`",
        ] {
            assert_eq!(status(value), Status::Complete, "{value}");
        }
        for value in ["BLOCKED", "blocked: no key", "BLOCKED (need access)", "STUCK"] {
            assert_eq!(status(value), Status::Blocked, "{value}");
        }
        for value in [
            "NOT COMPLETED",
            "PARTIALLY COMPLETE",
            "INCOMPLETE",
            "WIP",
            "IN PROGRESS (3/5)",
            "not done",
            "in-progress",
        ] {
            assert_eq!(status(value), Status::InProgress, "{value}");
        }
        for value in [
            "COMPLETE except the docs",
            "NEARLY COMPLETE",
            "COMPLETE?",
            "STORY 3 COMPLETE",
            "TASK 3 COMPLETE",
            "COMPLETE (4/5)",
            "PHASE 1 COMPLETE",
            "UNCOMPLETED",
            "TO BE COMPLETED",
            "COMPLETE when merged",
            "",
            "90% DONE",
            "COMPLETE (untested)",
            "!COMPLETE",
            "NOT BLOCKED",
            "NEVER DONE",
            "3 of 5 done",
            "can't be completed",
        ] {
            assert_eq!(status(value), Status::Unknown, "{value}");
        }
    }

    #[test]
    fn only_a_plain_signal_is_true() {
        for value in [
            "true",
            "True",
            "TRUE",
            "true.",
            "TRUE!",
            "\"true\"",
            "**true**",
            "true ✅",
            "yes",
            "Yes.",
            "true (all tasks complete)",
            "true # everything is done",
            "[true]",
            "true, all tests pass",
        ] {
            assert_eq!(signal(value), Some(true), "{value}");
        }
        for value in ["false", "False.", "no", "false (3 stories left)", "FALSE"] {
            assert_eq!(signal(value), Some(false), "{value}");
        }
        for value in [
            "true?",
            "true (almost)",
            "true, I think",
            "not true",
            "true or false",
            "true/false",
            "probably",
            "1",
            "",
            "yes, but see below",
            "true once merged",
            "true if CI passes",
            "!true",
            "true (no tests pass)",
            "true when done",
            "yes and no",
            "false, no: true",
            "truetrue",
            "true true false",
            "not yet",
            "true (not done)",
        ] {
            assert_eq!(signal(value), None, "{value}");
        }
    }
}
