//! The absence of work: "nothing left to do", "no remaining tasks".

use super::subject::place;
use crate::indicator::sentence::Sentence;
use crate::indicator::words::{DETERMINERS, MANNER};

/// "nothing left to do", "no work remains", "no remaining tasks", "0 tasks left".
pub(super) fn absence(s: &Sentence<'_>, at: usize) -> Option<usize> {
    let end = match s.word(at) {
        "nothing" => nothing(s, at + 1)?,
        "no" | "zero" | "0" => no_work(s, at + 1)?,
        "none" => no_work(s, s.skip(s.says(at, "none of")?, DETERMINERS))?,
        // "I don't see anything left to do"
        "anything" if s.find(at.saturating_sub(5)..at, &["not", "no longer", "never"]).is_some() => {
            nothing(s, at + 1)?
        }
        _ => return None,
    };
    let next = s.skip(end, &["here", "now", "at", "all", "anymore", "any", "more"]);
    (place(s, next).is_some() || !s.is(next, MANNER)).then_some(end)
}

const TO_DO: &[&str] = &[
    "to do", "to be done", "to implement", "to build", "to fix", "to finish", "to complete", "to address",
    "for me to do", "for us to do", "to work on", "to improve", "undone", "unfinished", "unimplemented",
    "over", "open",
];

fn nothing(s: &Sentence<'_>, from: usize) -> Option<usize> {
    let from = place(s, from).unwrap_or(from);
    let at = s.skip(
        from,
        &[
            "else", "more", "further", "really", "at", "all", "is", "'s", "was", "now", "that", "are", "of",
            "substance", "meaningful",
        ],
    );
    let more = (from..at).any(|place| s.is(place, &["else", "more", "further"]));
    if s.is(at, &["left", "remains", "remaining", "remain", "outstanding", "pending"]) {
        let end = s.says_any(at + 1, TO_DO).unwrap_or(at + 1);
        return (end > at + 1
            || s.is_edge(end)
            || place(s, end).is_some()
            || s.is(end, &["and", "now", "here", "on"]))
        .then_some(end);
    }
    if more {
        return s.says_any(at, TO_DO);
    }
    None
}

fn no_work(s: &Sentence<'_>, from: usize) -> Option<usize> {
    const LEFT_OVER: &[&str] = &[
        "remaining", "open", "outstanding", "pending", "unfinished", "unchecked", "incomplete", "unticked",
        "further", "more",
    ];
    const BEHIND: &[&str] = &["left", "remaining", "remain", "remains", "open", "outstanding", "pending"];
    const NOUNS: &[&str] = &[
        "work", "task", "tasks", "item", "items", "story", "stories", "todo", "todos", "to-dos", "steps",
        "phases", "features", "requirements", "milestones",
    ];
    let noun = s.skip(
        from,
        &[
            "remaining", "open", "outstanding", "pending", "unfinished", "unchecked", "incomplete",
            "unticked", "further", "more", "planned", "other", "meaningful", "additional", "actual", "user",
            "plan",
        ],
    );
    if !s.is(noun, NOUNS) {
        return None;
    }
    let verb = s.skip(noun + 1, &["is", "are", "'s", "now", "items", "that"]);
    let behind = s.is(verb, BEHIND)
        || s.says_any(verb, &["to do", "to be done", "needed", "required", "necessary"]).is_some();
    let end = if s.is(verb, BEHIND) {
        s.says_any(verb + 1, TO_DO).unwrap_or(verb + 1)
    } else {
        s.says_any(verb, TO_DO)
            .or_else(|| s.says_any(verb, &["needed", "required", "necessary"]))
            .unwrap_or(noun + 1)
    };
    let more = (from..noun).any(|place| s.is(place, &["further", "more"]));
    let before = (from..noun).any(|place| s.is(place, LEFT_OVER))
        && !(more && s.is(noun, &["steps", "features", "requirements"]));
    ((behind && !(more && s.word(noun) == "steps") || before) && s.word(end) != "than").then_some(end)
}
