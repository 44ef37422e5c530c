//! The shapes of a completion claim: a whole ("all tasks", "everything", "the project") and what is
//! said of it ("is complete", "pass"), or the absence of work ("nothing left to do").

use core::ops::Range;

use super::further::is_past;
use super::sentence::Sentence;
use super::words::{
    ADJECTIVES, ADVERBS, COPULAS, DETERMINERS, DONE, GOES_ON, MADE, MANNER, NUMBERS, PASS, PLACES, READY_FOR,
    TEST, TEST_KINDS, TESTS, THING, THINGS, TURNS, WHOLES, WORK,
};
use crate::prelude::*;

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

/// The claims of a sentence, from left to right, none inside another.
pub(super) fn claims(sentence: &Sentence<'_>) -> Vec<Claim> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < sentence.len() {
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
    if s.word(at) == "work" && s.word(end - 1) == "ready" {
        return None;
    }
    Some(Claim { range: at..end, topic, past })
}

fn is_plural(word: &str) -> bool {
    TESTS.contains(&word) || (THINGS.contains(&word) && word != "work")
}

/// The whole that a claim is about, and the place behind it.
fn subject(s: &Sentence<'_>, at: usize) -> Option<(usize, Topic)> {
    let word = s.word(at);
    match word {
        "all" | "100%" => counted(s, at + 1).or_else(|| pronoun(s, at + 1)),
        "every" | "each" => {
            let mut noun = s.skip(at + 1, &["one", "single"]);
            if s.word(noun) == "of" {
                return counted(s, noun + 1);
            }
            noun = s.skip(noun, ADJECTIVES);
            if s.is(noun, TEST) {
                Some((noun + 1, Topic::Tests))
            } else if s.is(noun, THING) {
                Some((noun + 1, Topic::Things))
            } else {
                None
            }
        }
        "everything" if s.word(at + 1) != "else" => Some((at + 1, Topic::Everything)),
        "whole" | "entire" | "full" | "complete" => whole(s, at + 1),
        _ if s.is_number(at) || s.is(at, NUMBERS) => all_of_them(s, at).and_then(|next| counted(s, next)),
        "project" | "implementation" if stands_alone(s, at) => Some((at + 1, Topic::Project)),
        "work" if s.is(at.wrapping_sub(1), &["the"]) || s.is_start(at) && s.word(at + 1) != "done" => {
            Some((at + 1, Topic::Project))
        }
        "plan" | "prd" | "spec" | "backlog" | "roadmap"
            if stands_alone(s, at) && s.is(at + 2, &["fully", "completely", "entirely"]) =>
        {
            Some((at + 1, Topic::Everything))
        }
        "phase" if stands_alone(s, at) || s.is(at.wrapping_sub(1), &["mvp", "current", "final", "last"]) => {
            Some((at + 1, Topic::Project)).filter(|_| !s.is_number(at + 1))
        }
        _ if is_plural(word)
            && (s.is_start(at) || s.is(at - 1, &["the", "and", "all", "my", "your", "our"])) =>
        {
            Some((at + 1, Topic::Project))
        }
        _ => None,
    }
}

/// "40 tests", "of the tasks", "existing and new tests", "unit and integration tests".
fn counted(s: &Sentence<'_>, from: usize) -> Option<(usize, Topic)> {
    let mut at = from;
    let mut kinds = 0;
    let mut joined = false;
    while at < s.len() && at < from + 12 {
        let parenthesised = s.mark(at) == Some(',');
        if s.is(at, TEST_KINDS) && !s.is(at, ADJECTIVES) {
            kinds += 1;
        } else if s.is(at, &["and", "or"]) || parenthesised {
            joined = true;
        } else if let Some(next) = all_of_them(s, at) {
            at = next;
            continue;
        } else if s.is_number(at) && s.word(at).bytes().all(|b| b.is_ascii_digit()) {
            if s.word(at + 1) == "of" && s.is_number(at + 2) {
                return None;
            }
        } else if !s.is(at, ADJECTIVES)
            && !s.word(at).split('-').next().is_some_and(|word| NUMBERS.contains(&word))
        {
            break;
        }
        at += 1;
    }
    if kinds == 1 && !joined {
        return None;
    }
    if s.is(at, TESTS) {
        Some((at + 1, Topic::Tests))
    } else if s.is(at, THINGS) {
        Some((at + 1, Topic::Things))
    } else {
        s.says_any(at, &["test cases", "test suites"]).map(|end| (end, Topic::Tests))
    }
}

/// "all of it", "all is done".
fn pronoun(s: &Sentence<'_>, at: usize) -> Option<(usize, Topic)> {
    if let Some(end) = s.says_any(at, &["of it", "of this", "of that"]) {
        return Some((end, Topic::Everything));
    }
    s.is(at, &["is"]).then_some((at, Topic::Everything))
}

/// "7 of 7", "7/7", "7 out of 7": a count that is the whole.
fn all_of_them(s: &Sentence<'_>, at: usize) -> Option<usize> {
    if !s.is_number(at) && !s.is(at, NUMBERS) {
        return None;
    }
    if let Some((some, all)) = s.word(at).split_once('/') {
        return (some == all && some != "0").then_some(at + 1);
    }
    let of = s.says_any(at + 1, &["of", "out of"])?;
    let of = s.skip(of, &["the", "all"]);
    ((s.is_number(of) || s.is(of, NUMBERS)) && s.word(of) == s.word(at) && s.word(at) != "0")
        .then_some(of + 1)
}

fn whole(s: &Sentence<'_>, at: usize) -> Option<(usize, Topic)> {
    if let Some(end) = s.says_any(at, &["test suite", "suite", "set of tests"]) {
        return Some((end, Topic::Tests));
    }
    s.is(at, WHOLES).then_some((at + 1, Topic::Everything))
}

/// Not the end of a longer name: "the parser implementation" is a part.
fn stands_alone(s: &Sentence<'_>, at: usize) -> bool {
    const BEFORE: &[&str] = &[
        "the", "this", "our", "your", "my", "and", "so", "therefore", "thus", "now", "that", "hence", "here",
        "but", "because", "since", "as", "means", "ok", "okay", "with", "whole", "entire", "overall", "then",
        "a", "is", "if", "when", "once",
    ];
    s.is_start(at) || s.is(at - 1, BEFORE)
}

/// What may stand between the whole and the verb: "in the plan", "you listed", "(unit and e2e)", "— a, b —".
fn described(s: &Sentence<'_>, from: usize, topic: Topic) -> usize {
    let mut at = from;
    for _ in 0..3 {
        // Tests in one file are a part; tasks in one file are the plan.
        let place = place(s, at).filter(|end| topic != Topic::Tests || !s.is_code(end - 1));
        let stretch = Some(at).filter(|_| topic == Topic::Everything && s.word(at) == "from");
        let stretch = stretch.and_then(|at| {
            (at + 3..at + 10)
                .find(|end| s.is(*end, COPULAS))
                .filter(|end| s.find(at..*end, &["to"]).is_some())
        });
        at = enclosed(s, at)
            .or(place)
            .or(stretch)
            .or_else(|| relative(s, at))
            .or_else(|| participle(s, at))
            .unwrap_or(at);
    }
    at
}

/// "assigned to me", "listed above".
fn participle(s: &Sentence<'_>, at: usize) -> Option<usize> {
    const GIVEN: &[&str] = &[
        "assigned", "listed", "planned", "given", "requested", "described", "defined", "mentioned",
        "required", "tracked", "recorded", "asked",
    ];
    if !s.is(at, GIVEN) {
        return None;
    }
    let end = s
        .says_any(at + 1, &["to me", "by you", "above", "here", "below", "for", "to us", "for this project"]);
    Some(end.unwrap_or(at + 1))
}

fn enclosed(s: &Sentence<'_>, at: usize) -> Option<usize> {
    let close = match s.mark(at)? {
        '(' => ')',
        c @ ('—' | ',') => c,
        _ => return None,
    };
    let longest = if close == ',' { 8 } else { 30 };
    (at + 1..(at + longest).min(s.len())).find(|place| s.mark(*place) == Some(close)).map(|place| place + 1)
}

/// Words before the name of a place.
const NAMES_OF_PLACES: &[&str] =
    &["implementation", "fix", "task", "whole", "entire", "mvp", "issue", "feature", "product", "work"];

/// "in the plan", "of `PLAN.md`", "from the backlog".
pub(super) fn place(s: &Sentence<'_>, at: usize) -> Option<usize> {
    if !s.is(at, &["in", "of", "from", "on", "across", "under", "for", "within", "with"]) {
        return None;
    }
    let start = s.skip(at + 1, DETERMINERS);
    let mut end = None;
    for noun in start..start + 5 {
        if s.is(noun, PLACES) || s.is_code(noun) {
            end = Some(if s.is_number(noun + 1) { noun + 2 } else { noun + 1 });
        } else if !s.is(noun, ADJECTIVES) && !s.is(noun, NAMES_OF_PLACES) && s.mark(noun).is_none() {
            break;
        }
        if s.mark(noun).is_some() || s.is_code(noun) {
            break;
        }
    }
    end
}

/// "you listed", "that we planned", "I was given".
fn relative(s: &Sentence<'_>, at: usize) -> Option<usize> {
    let who = s.skip(at, &["that", "which"]);
    if who > at && s.is(who, &["was", "were", "is", "are", "needed", "had"]) {
        return (who + 2..who + 6).find(|place| s.is(*place, COPULAS));
    }
    if !s.is(who, &["you", "we", "i"]) {
        return None;
    }
    let end = (who + 2..who + 6).find(|place| s.is(*place, COPULAS) || s.is(*place, PASS));
    end.filter(|end| !s.is(*end, &["have"]) || end - who > 2)
}

/// What is said of the whole. Gives the place behind it and whether it was said in the past.
fn predicate(s: &Sentence<'_>, from: usize, topic: Topic) -> Option<(usize, bool)> {
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
fn is_whole(s: &Sentence<'_>, at: usize, verb: bool) -> bool {
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
fn participates(s: &Sentence<'_>, from: usize) -> bool {
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

/// "nothing left to do", "no work remains", "no remaining tasks", "0 tasks left".
fn absence(s: &Sentence<'_>, at: usize) -> Option<usize> {
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
