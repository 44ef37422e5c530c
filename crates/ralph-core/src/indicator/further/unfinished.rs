//! What says that something is left, missing, short or red.

use super::words::{MAKING, STILL, UNFINISHED};
use super::{NONE, denied, has_condition_before};
use crate::indicator::sentence::{Sentence, is_past};
use crate::indicator::words::{DONE, NUMBERS, TESTS, THINGS, WORK};

/// "how many items remain", "which file is missing": what the program tells, not what is to do.
fn is_indirect(s: &Sentence<'_>, at: usize) -> bool {
    let clause = (0..at).rev().find(|place| s.mark(*place).is_some()).map_or(0, |place| place + 1);
    s.find(
        clause..at,
        &[
            "which", "how many", "how much", "where", "whose", "shows", "displays", "prints", "show", "see",
            "sees", "count", "counts", "while",
        ],
    )
    .is_some()
}

pub(super) fn left_over(s: &Sentence<'_>, at: usize) -> bool {
    const WORDS: &[&str] = &[
        "remaining", "remain", "remains", "left", "more", "further", "additional", "much", "lots", "plenty",
        "outstanding", "pending", "open", "needs", "need",
    ];
    if !s.is(at, WORDS) || is_indirect(s, at) {
        return false;
    }
    match s.word(at) {
        "remaining" => remaining(s, at),
        "remain" | "remains" => {
            let of_work =
                (0..at).any(|place| s.is(place, WORK) || s.is_number(place) || s.is(place, NUMBERS));
            let named = s.word(at + 1) == "is" && s.find(0..at, &["what", "all that"]).is_some();
            let open = s.is_edge(at + 1)
                || named
                || s.is(
                    at + 1,
                    &["to", "undone", "unfinished", "incomplete", "todo", "outstanding", "unimplemented"],
                )
                || (of_work && s.is(at + 1, &["open", "in", "for", "before", "on", "and"]));
            open && !denied(s, at) && !has_condition_before(s, at)
        }
        "left" => left(s, at),
        "more" | "further" | "additional" | "much" | "lots" | "plenty" => {
            let noun = s.skip(at + 1, &["more", "of"]);
            let to_do = s.says_any(noun, &["to do", "to be done", "to implement", "to come"]).is_some();
            let things = s
                .is(noun, &["tasks", "stories", "steps", "iterations", "items", "features", "things"])
                && (s.is(noun + 1, &["to", "remain", "left", "are", "follow", "in"])
                    && s.find(0..at, &["have", "are", "there", "i"]).is_some());
            let work = s.is(noun, &["work", "effort"]);
            (to_do || things || work)
                && !denied(s, at)
                && !has_condition_before(s, at)
                && !s.is(at.wrapping_sub(1), &["the"])
        }
        "outstanding" | "pending" | "open" => {
            let of_work = s.is(at.wrapping_sub(1), &["is", "are", "still", "remain", "remains", "as"])
                && (0..at).any(|place| s.is(place, WORK) && !s.is(place, &["open"]) || s.is_number(place));
            let some = s.is(at + 1, WORK)
                && at > 0
                && (s.is_number(at - 1) && s.word(at - 1) != "0"
                    || s.is(at - 1, NUMBERS)
                    || s.is(at - 1, &["has", "have", "one", "are"]));
            (of_work || some)
                && !denied(s, at)
                && !has_condition_before(s, at)
                && s.find(0..at, &["all", "checked", "looked", "was", "were"]).is_none()
        }
        "needs" | "need" => {
            (s.says_any(
                at + 1,
                &[
                    "to be done",
                    "to be implemented",
                    "to be finished",
                    "to be added",
                    "to be fixed",
                    "more work",
                    "work",
                    "another",
                    "doing",
                    "finishing",
                    "fixing",
                    "implementing",
                ],
            )
            .is_some()
                || s.is(at.wrapping_sub(1), &["still"]))
                && !denied(s, at)
                && !has_condition_before(s, at)
        }
        _ => false,
    }
}

/// "five remaining tasks", but not "the last remaining task went in" nor "remaining lives".
fn remaining(s: &Sentence<'_>, at: usize) -> bool {
    if denied(s, at) || has_condition_before(s, at) || s.is(at.wrapping_sub(1), &["last", "final", "all"]) {
        return false;
    }
    let clause = (0..at).rev().find(|place| s.mark(*place).is_some()).map_or(0, |place| place + 1);
    let settled = (clause..at).any(|place| is_past(s.word(place)) || s.is(place, &["were", "was"]))
        || s.find(
            at..s.len(),
            &[
                "were", "was", "have been", "has been", "went", "passed", "landed", "are done",
                "are complete", "are now", "are fixed", "is fixed", "are closed", "is done", "is closed",
                "is complete", "are in", "is in",
            ],
        )
        .is_some();
    let noun = (at + 1..at + 4).any(|place| s.is(place, WORK));
    let said = at > 0 && s.is(at - 1, &["is", "are", "'s", "still"])
        || s.is_edge(at + 1)
            && (s.is(at.wrapping_sub(1), WORK)
                || s.find(clause..at, &["still", "there are", "there is"]).is_some());
    (noun || said) && !settled
}

/// "two things left to do", "three tasks are left"; not "left out", "I left it alone".
fn left(s: &Sentence<'_>, at: usize) -> bool {
    if denied(s, at) || has_condition_before(s, at) {
        return false;
    }
    let to_do = s
        .says_any(
            at + 1,
            &[
                "to do", "to be done", "to implement", "to fix", "to build", "to finish", "to add",
                "to port", "to write", "to go",
            ],
        )
        .is_some();
    let kept = s.is(
        at + 1,
        &[
            "out", "alone", "untouched", "as", "unchanged", "it", "the", "off", "behind", "over", "side",
            "hand", "aligned", "join", "of",
        ],
    );
    let counted = at > 0
        && (s.is(at - 1, WORK)
            || (s.is(at - 1, &["is", "are", "'s", "still"])
                && (s.is_edge(at + 1) || s.is(at + 1, &["for", "in", "on", "before"]))));
    to_do || (counted && !kept)
}

/// "is not complete yet", "still missing", "in progress".
pub(super) fn unfinished(s: &Sentence<'_>, at: usize) -> bool {
    let negative =
        s.says_any(at, UNFINISHED).is_some() || s.says(at, "in progress").is_some_and(|end| s.is_edge(end));
    if !negative && !s.is(at, &["not", "still"]) {
        return false;
    }
    if has_condition_before(s, at)
        || s.is(at.wrapping_sub(1), &["that", "which", "who"])
        || is_indirect(s, at)
    {
        return false;
    }
    if s.word(at) == "not" && s.word(at + 1) != "only" {
        let verb = s.skip(
            at + 1,
            &[
                "yet", "fully", "quite", "entirely", "really", "all", "completely", "totally", "nearly",
                "even",
            ],
        );
        let present = at == 0
            || s.is(at - 1, &["is", "are", "am", "do", "does", "has", "have", "'s"])
            || s.is_start(at);
        let relative =
            (at.saturating_sub(3)..at).any(|place| s.is(place, &["that", "which", "who", "was", "were"]));
        let tests = (0..at).any(|place| s.is(place, CHECKS) || s.is(place, &["everything", "all"]));
        let whole = s.is(at + 1, &["all", "everything", "every"]) && s.is_start(at);
        return present
            && !relative
            && (s.is(verb, DONE)
                || s.is(verb, &["implemented", "passing", "started"])
                || tests && s.word(verb) == "pass"
                || whole);
    }
    if s.word(at) == "still" {
        return s.says_any(at + 1, STILL).is_some() && !denied(s, at);
    }
    negative && !denied(s, at) && s.find(at.saturating_sub(3)..at, &["was", "were"]).is_none()
}

/// "4 of 9 tasks are done", "5/12 tasks complete".
pub(super) fn counts_short(s: &Sentence<'_>, at: usize) -> bool {
    if !s.is_number(at) || has_condition_before(s, at) {
        return false;
    }
    let (some, all, end) = match s.word(at).split_once('/') {
        Some((some, all)) => (some, all, at + 1),
        None => match s.says_any(at + 1, &["of", "out of"]) {
            Some(of) => {
                let of = s.skip(of, &["the"]);
                (s.word(at), s.word(of), of + 1)
            }
            None => return false,
        },
    };
    let (Ok(some), Ok(all)) = (some.parse::<u32>(), all.parse::<u32>()) else { return false };
    let thing = s.skip(end, &["planned", "user", "the", "acceptance"]);
    let said = s.skip(thing + 1, &["are", "is", "now", "have", "been"]);
    some < all
        && (s.is(thing, THINGS) || s.is(thing, TESTS))
        && (s.is(said, DONE) || s.is(said, &["pass", "passing", "implemented"]))
}

/// "the exporter has to be written", "docs will be added later", "there are docs to write".
pub(super) fn to_be_made(s: &Sentence<'_>, at: usize) -> bool {
    const WORDS: &[&str] = &[
        "has", "have", "must", "needs", "need", "is", "are", "should", "will", "can", "gets", "get", "was",
        "were", "there", "waiting", "waits", "wait", "awaits", "awaiting", "blocked", "to",
    ];
    if !s.is(at, WORDS) || has_condition_before(s, at) || denied(s, at) || is_indirect(s, at) {
        return false;
    }
    if let Some(end) = s.says_any(
        at,
        &[
            "has to be", "have to be", "must be", "must still be", "needs to be", "need to be", "is to be",
            "are to be", "should be",
        ],
    ) {
        return s.is(end, MAKING) && s.is_edge(end + 1);
    }
    if let Some(end) = s.says_any(at, &["will be", "can be", "gets", "get"]) {
        return s.is(end, MAKING)
            && s.find(
                end..s.len(),
                &["later", "next", "soon", "tomorrow", "afterwards", "in a follow-up", "in the following"],
            )
            .is_some();
    }
    if s.says_any(at, &["has not been", "have not been", "was not", "were not"])
        .is_some_and(|end| s.is(end, MAKING) && s.word(at + 1) == "not" && !s.is(at, &["was", "were"]))
    {
        return true;
    }
    if let Some(end) = s.says_any(at, &["have not", "has not"]) {
        return s.is(
            s.skip(end, &["yet", "even"]),
            &["started", "begun", "implemented", "written", "finished", "completed"],
        );
    }
    if s.says_any(at, &["there is", "there are", "there 's"]).is_some() {
        let more = s.is(at + 2, &["still", "also", "yet", "more", "docs", "one", "a few"])
            || s.is(at + 2, WORK)
            || s.is(at + 2, NUMBERS);
        return more
            && s.find(
                at..s.len(),
                &["to write", "to implement", "to finish", "to port", "to build", "to test"],
            )
            .is_some_and(|end| !denied(s, end) && !s.is(end - 1, &["ways", "way", "scripts", "script"]));
    }
    if let Some(end) =
        s.says_any(at, &["waiting for", "waits for", "wait for", "awaits", "awaiting", "blocked on"])
    {
        return (end..end + 4).any(|place| {
            s.is(
                place,
                &["decision", "you", "your", "input", "approval", "credentials", "feedback", "answer", "key"],
            )
        });
    }
    s.says(at, "to go").is_some()
        && s.is_edge(at + 2)
        && at > 0
        && (s.is(at - 1, WORK) || s.is_number(at - 1))
}

/// "TODO: …", "left as a todo"; not "the todo app", "resolved the TODO comments".
pub(super) fn todo(s: &Sentence<'_>, at: usize) -> bool {
    if !s.is(at, &["todo", "todos", "to-do", "fixme", "wip"]) || denied(s, at) {
        return false;
    }
    (s.mark(at + 1) == Some(':') && !s.is(at + 2, NONE))
        || (s.is(at.wrapping_sub(1), &["still", "as", "is", "are", "remain", "remains"])
            && !has_condition_before(s, at))
        || (s.is(at.wrapping_sub(1), &["a"])
            && s.is(at.wrapping_sub(2), &["as"])
            && !has_condition_before(s, at))
        || (at == 0 && matches!(s.mark(1), Some('—')))
}

const CHECKS: &[&str] = &[
    "test", "tests", "suite", "build", "ci", "pipeline", "them", "ones", "lint", "compilation", "checks",
    "check",
];

/// "two tests fail", "the build is red": present, and about the project's own checks.
pub(super) fn fails(s: &Sentence<'_>, at: usize) -> bool {
    if s.word(at) == "failing"
        && s.is(at + 1, CHECKS)
        && at > 0
        && (s.is_number(at - 1) && s.word(at - 1) != "0" || s.is(at - 1, NUMBERS))
    {
        return s.find(0..at, &["fixed", "fix", "were", "was", "had"]).is_none();
    }
    let now = s.is(at, &["fail", "fails"])
        || (s.is(at, &["failing", "red", "broken"]) && s.is(at.wrapping_sub(1), &["is", "are", "still"]));
    if !now || has_condition_before(s, at) || denied(s, at) {
        return false;
    }
    let from = at.saturating_sub(4);
    if s.is(
        at + 1,
        &[
            "fast", "early", "loudly", "closed", "open", "gracefully", "safe", "over", "immediately",
            "cleanly",
        ],
    ) {
        return false;
    }
    let told = s
        .find(
            from..at,
            &["that", "which", "would", "should", "could", "can", "to", "may", "must", "makes", "make", "so"],
        )
        .is_some()
        || s.find(at..s.len(), &["if", "when", "unless", "without", "before", "on purpose"]).is_some();
    !told && (from..at).any(|place| s.is(place, CHECKS) || s.is_number(place) || s.is(place, NUMBERS))
}
