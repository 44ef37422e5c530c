//! What follows a claim and takes it back, and what leads to one and takes it away.

use super::words::{
    AIMS, BUTS, CLAIMED, CONTRASTS, FUTURE, HEDGES_AFTER, LACKS, LACKS_NEARBY, LISTS, MENTIONED, OTHER_TIMES,
    QUALIFIED, REPORTED,
};
use crate::indicator::claims::Claim;
use crate::indicator::sentence::Sentence;
use crate::indicator::words::{CONDITIONS, NUMBERS, TEST, TESTS, WORK};

pub(super) fn doubted_behind(s: &Sentence<'_>, claim: &Claim) -> bool {
    const AFFIRMED: &[&str] = &[
        "not only", "not just", "once again", "once more", "before and after", "when run", "not to mention",
    ];
    let end = claim.range.end;
    let stop = (end..s.len())
        .find(|at| {
            s.mark(*at).is_some()
                || (s.is(*at, &["and", "so", "because", "since"]) && s.word(at + 1) != "far")
        })
        .unwrap_or(s.len());
    let hedged = |at: usize| {
        s.says_any(at, HEDGES_AFTER).is_some() && s.says_any(at, AFFIRMED).is_none() && s.before(at) != "as"
    };
    if (end..stop).any(hedged)
        || s.word(end) == "but"
        || (claim.past && s.find(end..stop, OTHER_TIMES).is_some())
    {
        return true;
    }
    if s.mark(stop).is_some_and(|c| matches!(c, ',' | '—' | '('))
        && hedged(stop + 1)
        && !is_courtesy(s, stop + 1)
    {
        return true;
    }
    // "All tests pass, but two are skipped."
    s.find(end..s.len(), CONTRASTS).is_some_and(|at| {
        let opposed = s.word(at) != "only" || s.is_start(at);
        let straight = s.is(at, &["but", "however", "yet"]) && at <= stop + 1;
        if straight
            && (s.find(at..s.len(), BUTS).is_some() || (at..s.len()).any(|place| is_lacking(s, place)))
        {
            return true;
        }
        opposed && (s.find(at..s.len(), LACKS).is_some() || s.find(at..s.len(), LACKS_NEARBY).is_some())
    })
}

/// "The project is complete - almost.": the last word takes back the whole sentence.
pub(super) fn ends_qualified(s: &Sentence<'_>) -> bool {
    let last = (0..s.len()).rev().find(|at| s.mark(*at).is_none()).map_or(0, |at| at + 1);
    (last.saturating_sub(4)..last).any(|at| {
        let set_off = at > 0 && s.mark(at - 1).is_some_and(|c| matches!(c, ',' | '—' | '(' | ':'));
        set_off && s.says_any(s.skip(at, &["well", "or", "at", "least"]), QUALIFIED) == Some(last)
    })
}

/// "one story waits", "the reader still leaks"; not "one of them takes 40 s", "it still works".
fn is_lacking(s: &Sentence<'_>, at: usize) -> bool {
    const FINE: &[&str] = &[
        "takes", "take", "works", "work", "runs", "run", "builds", "passes", "pass", "compiles", "supports",
        "supported",
    ];
    let some = s.is_number(at) || s.is(at, NUMBERS) || s.word(at) == "one";
    some && (s.is(at + 1, WORK) || s.is(at + 1, TESTS) || s.is(at + 1, TEST))
        || s.word(at) == "still" && !s.is(at + 1, FINE)
}

/// "if you'd like a walkthrough", "if anything is unclear".
fn is_courtesy(s: &Sentence<'_>, at: usize) -> bool {
    s.is(at, &["if", "when", "whenever", "should"])
        && s.is(at + 1, &["you", "anything", "something"])
        && s.find(
            at + 2..s.len(),
            &["ignore", "mean", "count", "skip", "exclude", "forget", "disregard", "leave"],
        )
        .is_none()
}

/// A sentence that takes back the one before: "Not quite.", "They are not.", "However, two are skipped."
pub(in crate::indicator) fn takes_back(s: &Sentence<'_>) -> bool {
    const OPENINGS: &[&str] = &[
        "not quite",
        "not really",
        "not exactly",
        "not so",
        "not true",
        "or so",
        "just kidding",
        "nope",
        "that is wrong",
        "that is false",
        "that 's wrong",
        "that 's false",
        "this is wrong",
        "this is false",
        "that was wrong",
        "that was a lie",
        "that claim is",
        "this claim is",
        "except",
        "or rather",
        "in theory",
        "none of that",
        "none of this",
        "so it says",
        "so they say",
        "that is not true",
        "that 's not true",
        "this is not true",
        "that is not the case",
        "this is not the case",
        "at least that",
        "at least locally",
        "that 's what",
        "that is what",
        "on paper",
        "or at least",
        "only for",
        "only in",
        "only on",
        "only with",
        "only locally",
        "only when",
        "only if",
        "they say",
        "it says",
        "so says",
    ];
    const ALONE: &[&str] = &[
        "almost", "wrong", "false", "they are not", "it is not", "they do not", "it does not", "not yet",
        "nearly", "it 's not", "that is not so", "that is a lie", "not at all",
    ];
    let mut at = s.skip(0, &["well", "actually", "sadly", "unfortunately", "no"]);
    if s.mark(at) == Some(',') {
        at += 1;
    }
    s.says_any(at, OPENINGS).is_some()
        || s.says_any(at, ALONE).is_some_and(|end| s.is_edge(end))
        || s.is(0, &["but", "however", "yet", "still", "unfortunately", "sadly", "though"])
            && s.find(1..s.len(), LACKS).is_some()
}

/// A heading or lead-in under which claims are aims, conditions or somebody's words.
pub(in crate::indicator) fn leads_astray(s: &Sentence<'_>) -> bool {
    let all = 0..s.len();
    [REPORTED, CLAIMED, MENTIONED, CONDITIONS, FUTURE, AIMS]
        .iter()
        .any(|words| s.find(all.clone(), words).is_some())
}

/// A heading or lead-in of a list that is not yet what is: a plan, a log.
pub(in crate::indicator) fn leads_list(s: &Sentence<'_>) -> bool {
    s.find(0..s.len(), LISTS).is_some()
}
