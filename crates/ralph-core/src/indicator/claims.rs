//! The shapes of a completion claim: a whole ("all tasks", "everything", "the project") and what is
//! said of it ("is complete", "pass"), or the absence of work ("nothing left to do").

mod absence;
mod predicate;
mod subject;

use core::ops::Range;

use super::sentence::{Sentence, is_past};
use super::words::{COPULAS, DETERMINERS, DONE, GOES_ON, MANNER, PASS, TESTS, THINGS, WORK};
use crate::prelude::*;
use absence::absence;
use predicate::{is_whole, participates, predicate};
use subject::{all_of_them, described, is_plural, place, subject};

/// What a claim is about; it decides which words complete it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Topic {
    Tests,
    Things,
    Everything,
    Project,
    /// "nothing left", "no remaining work": complete by themselves.
    Absence,
    /// "I have completed all tasks".
    Deed,
}

#[derive(Debug)]
pub(super) struct Claim {
    pub range: Range<usize>,
    pub topic: Topic,
    /// "passed", "were": it may tell of another time.
    pub past: bool,
}

/// More claims than anybody puts into a sentence.
const MOST: usize = 12;

/// The claims of a sentence, from left to right, none inside another.
pub(super) fn claims(sentence: &Sentence<'_>) -> Vec<Claim> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < sentence.len() && found.len() < MOST {
        match claim(sentence, at) {
            Some(claim) => {
                at = claim.range.end.max(at + 1);
                found.push(claim);
            }
            None => at += 1,
        }
    }
    found
}

fn claim(s: &Sentence<'_>, at: usize) -> Option<Claim> {
    if s.word(at).is_empty() {
        return None;
    }
    stated(s, at)
        .or_else(|| absence(s, at).map(|end| Claim { range: at..end, topic: Topic::Absence, past: false }))
        .or_else(|| {
            all_done(s, at).map(|end| Claim { range: at..end, topic: Topic::Everything, past: false })
        })
        .or_else(|| achieved(s, at).map(|end| Claim { range: at..end, topic: Topic::Deed, past: false }))
        .or_else(|| so_is(s, at).map(|end| Claim { range: at..end, topic: Topic::Everything, past: false }))
        .or_else(|| completes(s, at).map(|end| Claim { range: at..end, topic: Topic::Deed, past: false }))
        .or_else(|| {
            all_pass(s, at).map(|end| Claim { range: at..end, topic: Topic::Everything, past: false })
        })
        .or_else(|| percent(s, at).map(|end| Claim { range: at..end, topic: Topic::Everything, past: false }))
        .or_else(|| labelled(s, at).map(|end| Claim { range: at..end, topic: Topic::Project, past: false }))
}

/// Subject and predicate.
fn stated(s: &Sentence<'_>, at: usize) -> Option<Claim> {
    let (mut end, mut topic) = subject(s, at)?;
    let spread = s.skip(end, COPULAS);
    if topic == Topic::Project && end > at && is_plural(s.word(end - 1)) {
        // "the tests all pass", "tasks are all complete": without the "all" it may be some of them.
        if s.word(spread) != "all" {
            return None;
        }
        topic = if TESTS.contains(&s.word(end - 1)) { Topic::Tests } else { Topic::Things };
    }
    end = described(s, end, topic);
    let (end, past) = predicate(s, end, topic)?;
    if s.is(at, &["work", "branch"]) && s.word(end - 1) == "ready" {
        return None;
    }
    Some(Claim { range: at..end, topic, past })
}

/// "all done", "it's all done", "we are all finished".
fn all_done(s: &Sentence<'_>, at: usize) -> Option<usize> {
    if s.word(at) != "all" || !s.is(at + 1, &["done", "complete", "completed", "finished", "ready", "green"])
    {
        return None;
    }
    let mut before = at;
    while before > 0
        && s.is(
            before - 1,
            &[
                "is", "'s", "are", "am", "now", "so", "and", "ok", "okay", "yes", "yep", "well", "finally",
                "then",
            ],
        )
    {
        before -= 1;
    }
    let who = s.is_start(before) || s.is(before - 1, &["it", "we", "i", "everything"]);
    let rest = at + 2;
    let with = s.word(rest) != "with"
        || s.is(s.skip(rest + 1, DETERMINERS), &["everything", "project", "plan", "tasks", "work", "that"]);
    (who && with
        && (place(s, rest).is_some() || s.word(rest) == "with" || !s.is(rest, MANNER))
        && !joins_a_name(s, rest))
    .then_some(rest)
}

/// "312 tests, all passing", "there are 312 tests and they all pass".
fn all_pass(s: &Sentence<'_>, at: usize) -> Option<usize> {
    let verb = s.says_any(at, &["all of them are", "all of them", "all are", "all"])?;
    if !s.is(verb, PASS) || !s.is_edge(verb + 1) {
        return None;
    }
    let tests = (1..at).find(|place| s.is(*place, TESTS) && s.is_number(place - 1))?;
    // "I added 12 tests, all passing" tells of the new ones.
    (0..tests).all(|place| !is_past(s.word(place)) && !s.is(place, &["new", "wrote"])).then_some(verb + 1)
}

/// "all complete records": the word belongs to what follows.
fn joins_a_name(s: &Sentence<'_>, at: usize) -> bool {
    let plural = s.word(at).ends_with('s')
        && s.word(at).len() > 3
        && !s.is(at, &["this", "thanks", "tests", "across", "pass"]);
    plural || (!s.is_edge(at) && !s.is(at, &["i", "we", "the", "tests"]) && participates(s, at + 1))
}

/// "I have completed all tasks", "done with everything", "finished the project".
fn achieved(s: &Sentence<'_>, at: usize) -> Option<usize> {
    let mut first = at;
    while first > 0
        && s.is(
            first - 1,
            &["have", "now", "successfully", "also", "finally", "just", "am", "are", "fully", "already"],
        )
    {
        first -= 1;
    }
    // Only the agent itself: "users who have completed all tasks" are somebody else.
    let own = s.is_start(first)
        || s.is(first - 1, &["i", "we"])
        || (s.word(first - 1) == "and" && s.is(0, &["i", "we"]));
    let verb = s.word(at);
    if !own || !matches!(verb, "completed" | "finished" | "implemented" | "done" | "did" | "delivered") {
        return None;
    }
    let object = s.skip(s.skip(at + 1, &["with", "up", "off"]), DETERMINERS);
    let (end, topic) = subject(s, object)?;
    let fits = match topic {
        Topic::Things | Topic::Everything => true,
        Topic::Project => {
            (matches!(verb, "completed" | "finished") || s.word(at + 1) == "with")
                && !is_plural(s.word(end - 1))
                && s.word(object) != "phase"
        }
        Topic::Tests | Topic::Absence | Topic::Deed => false,
    };
    let end = described(s, end, topic);
    let closed =
        s.is_edge(end) || s.is(end, GOES_ON) && !s.is(end, &["i", "we", "it"]) || s.is(end, &["you", "that"]);
    (fits && closed && !s.is(end, &["of", "for", "in", "on", "about", "else", "but"])).then_some(end)
}

/// "The page is complete, and so is everything else on the list."
fn so_is(s: &Sentence<'_>, at: usize) -> Option<usize> {
    let end = s.says_any(at, &["so is everything else", "so is everything", "so are all the others"])?;
    let end = place(s, end).unwrap_or(end);
    (s.find(0..at, DONE).is_some() && s.is_edge(end)).then_some(end)
}

/// "That completes the work", "which completes the project".
fn completes(s: &Sentence<'_>, at: usize) -> Option<usize> {
    let own = s.is(at, &["completes", "concludes", "finishes"])
        && s.is(at.wrapping_sub(1), &["this", "that", "which"]);
    let (end, topic) = own.then(|| subject(s, s.skip(at + 1, DETERMINERS)))??;
    let whole = matches!(topic, Topic::Project | Topic::Things | Topic::Everything);
    (whole && !is_plural(s.word(end - 1)) && s.is_edge(end)).then_some(end)
}

/// "100% complete", about no particular part.
fn percent(s: &Sentence<'_>, at: usize) -> Option<usize> {
    let next = match s.word(at) {
        "100%" => at + 1,
        "100" if s.is(at + 1, &["percent", "per-cent"]) => at + 2,
        _ => return None,
    };
    let known = s.is_start(at)
        || s.is(at - 1, &["at"])
        || (at >= 2
            && s.is(at - 1, &["is", "are", "'s", "now"])
            && s.is(at - 2, &["it", "we", "everything", "project"]));
    (known && s.is(next, &["complete", "completed", "done", "finished"]) && is_whole(s, next, true))
        .then_some(next + 1)
}

/// "Project status: complete", "Remaining work: none".
fn labelled(s: &Sentence<'_>, at: usize) -> Option<usize> {
    if !s.is_start(at) {
        return None;
    }
    if let Some(colon) =
        s.says_any(at, &["project status", "overall status", "final status", "overall", "project"])
    {
        return (s.mark(colon) == Some(':')
            && s.is(colon + 1, &["complete", "completed", "done", "finished"])
            && s.is_edge(colon + 2))
        .then_some(colon + 2);
    }
    if let Some(colon) =
        s.says_any(at, &["tests", "test suite", "checks", "ci", "tasks", "stories", "progress", "items"])
    {
        if let Some(said) = all_of_them(s, colon + 1).map(|next| s.skip(s.skip(next, THINGS), TESTS)) {
            return (s.mark(colon) == Some(':') && (s.is(said, DONE) || s.is(said, PASS)))
                .then_some(said + 1);
        }
        let passes = s.word(colon + 1) == "all" && s.is(colon + 2, PASS) && s.is_edge(colon + 3);
        return (s.mark(colon) == Some(':') && passes).then_some(colon + 3);
    }
    let noun = s.skip(at, &["remaining", "open", "outstanding"]);
    let colon = s.skip(noun, WORK);
    let none = s.is(colon + 1, &["none", "nothing", "0", "zero"]);
    (noun > at && s.mark(colon) == Some(':') && none && s.is_edge(colon + 2)).then_some(colon + 2)
}
