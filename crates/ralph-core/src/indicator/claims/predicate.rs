//! What is said of the whole: "is complete", "pass".

use super::Topic;
use super::subject::{enclosed, place};
use crate::indicator::sentence::Sentence;
use crate::indicator::words::{
    ADVERBS, COPULAS, DETERMINERS, DONE, GOES_ON, MADE, MANNER, PASS, READY_FOR, THING, TURNS,
};

/// What is said of the whole. Gives the place behind it and whether it was said in the past.
pub(super) fn predicate(s: &Sentence<'_>, from: usize, topic: Topic) -> Option<(usize, bool)> {
    let mut at = from;
    let (mut verb, mut past) = (false, false);
    at = s.says_any(at, &["as a whole", "in full"]).unwrap_or(at);
    while s.is(at, COPULAS)
        || s.is(at, ADVERBS)
        || (s.says_any(at, &["green and", "and", "clean and", "stable and"]).is_some() && verb)
    {
        verb |= s.is(at, COPULAS);
        past |= s.is(at, &["was", "were"]);
        at += s.says_any(at, &["green and", "clean and", "stable and"]).map_or(1, |end| end - at);
    }
    // "is, at last, complete", "is — finally — complete"
    let at = if verb { enclosed(s, at).unwrap_or(at) } else { at };
    let considered =
        s.says_any(at, &["can be considered", "can now be considered", "can be called", "counts as", "do"]);
    let at = considered.filter(|next| s.is(*next, DONE) || s.is(*next, PASS)).unwrap_or(at);
    let verb = verb || considered.is_some();
    let keeps = s
        .says_any(at, &["continue to", "keep", "continues to", "run", "ran"])
        .filter(|next| s.is(*next, PASS));
    let at = keeps.unwrap_or(at);
    let marked =
        s.says_any(at, &["marked as", "marked", "checked off as"]).filter(|next| verb && s.is(*next, DONE));
    let at = marked.unwrap_or(at);
    let fully = s.before(at) == "fully" && s.is(at, MADE);
    let end = at + 1;
    let passes = s.is(at, PASS) && (verb || s.word(at) != "green");
    past |= s.is(at, &["passed", "succeeded"]) && !s.is(from, &["have", "has"]);
    let said = match topic {
        Topic::Tests => passes,
        Topic::Things => passes || s.is(at, DONE) || s.is(at, MADE),
        Topic::Everything => passes || s.is(at, DONE) || (verb && s.is(at, MADE)),
        Topic::Project => s.is(at, DONE) || fully,
        Topic::Absence | Topic::Deed => false,
    };
    if !said
        && s.says_any(at, &["checked off", "wrapped up", "in place"]).is_some()
        && verb
        && topic != Topic::Tests
    {
        return Some((at + 2, past));
    }
    (said && is_whole(s, at, verb)).then_some((end, past))
}

/// "done in one pass", "ready for the next step", "complete for the reader" are about something else.
pub(super) fn is_whole(s: &Sentence<'_>, at: usize, verb: bool) -> bool {
    let next = at + 1;
    const AS_AGREED: &[&str] = &[
        "as specified", "as planned", "as described", "as requested", "as agreed", "as required", "as of",
        "as well",
    ];
    let placed = s.word(next) != "for" && place(s, next).is_some();
    if (placed || s.says_any(next, AS_AGREED).is_some())
        && (verb || s.is(at, &["pass", "passes", "complete"]) || !participates(s, next))
    {
        return true;
    }
    let belongs = !verb && !s.is(at, &["pass", "passes", "complete", "ready"]) && participates(s, next);
    let closed =
        if verb { !s.is(next, TURNS) } else { s.is_edge(next) || s.is(next, GOES_ON) || s.is_code(next) };
    match s.word(at) {
        "ready" => !s.is(next, &["for", "to"]) || s.is(s.skip(next + 1, DETERMINERS), READY_FOR),
        "done" | "finished" => closed && !belongs && !s.is(next, MANNER),
        word if MADE.contains(&word) => closed && !belongs && !s.is(next, MANNER),
        "complete" | "completed" => {
            closed
                && !belongs
                && !(s.is(next, &["for", "within", "by", "as", "under", "in", "at"])
                    || !verb && s.is(next, MANNER))
        }
        _ => {
            const THROUGH: &[&str] = &[
                "through", "by", "to", "into", "over", "down", "via", "a", "an", "its", "their", "along",
                "between", "around", "validation",
            ];
            if s.is(next, THROUGH) || belongs || (s.word(next) == "the" && s.word(next + 1) != "first") {
                return false;
            }
            let all = s.says(next, "for the first time").is_some()
                || s.word(next) == "for"
                    && (s.is(next + 1, &["all", "both", "every", "each", "any"])
                        || s.is_number(next + 2) && !s.is(next + 1, THING));
            all || !(s.word(next) == "for" || (s.word(next) == "in" && is_part(s, next + 1)))
        }
    }
}

/// "All tasks completed by the worker are logged": another verb follows, so this one only describes.
pub(super) fn participates(s: &Sentence<'_>, from: usize) -> bool {
    (from..from + 7)
        .take_while(|at| {
            !s.is_edge(*at)
                && !s.is(
                    *at,
                    &[
                        "and", "so", "but", "because", "since", "i", "we", "there", "which", "that", "who",
                        "where", "when",
                    ],
                )
        })
        .any(|at| {
            s.is(
                at,
                &[
                    "are", "is", "get", "gets", "will", "have", "has", "were", "was", "must", "should",
                    "can", "appear", "go", "goes", "move",
                ],
            )
        })
}

/// "in the parser crate", "in `geo/`".
fn is_part(s: &Sentence<'_>, at: usize) -> bool {
    const PARTS: &[&str] = &[
        "module", "crate", "package", "folder", "file", "component", "directory", "section", "layer", "page",
        "screen", "subsystem", "area", "service", "class", "submodule", "library", "app", "frontend",
        "backend",
    ];
    let noun = s.skip(at, DETERMINERS);
    (s.is_code(noun) && s.word(noun + 1) != "mode")
        || s.is(noun, PARTS)
        || s.is(noun + 1, PARTS)
        || s.is(noun + 2, PARTS)
}
