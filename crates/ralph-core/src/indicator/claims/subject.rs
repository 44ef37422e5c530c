//! The whole that a claim is about: "all 12 tasks in the plan", "everything", "the project".

use super::Topic;
use crate::indicator::sentence::Sentence;
use crate::indicator::words::{
    ADJECTIVES, COPULAS, DETERMINERS, NUMBERS, PASS, PLACES, TEST, TEST_KINDS, TESTS, THING, THINGS, WHOLES,
};

pub(super) fn is_plural(word: &str) -> bool {
    TESTS.contains(&word) || (THINGS.contains(&word) && word != "work")
}

/// The whole that a claim is about, and the place behind it.
pub(super) fn subject(s: &Sentence<'_>, at: usize) -> Option<(usize, Topic)> {
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
        // A plan that is complete may be one that is written to its end.
        "plan" | "prd" | "spec" | "backlog" | "roadmap"
            if stands_alone(s, at)
                && s.is(at + 2, &["fully", "completely", "entirely", "done", "finished"]) =>
        {
            Some((at + 1, Topic::Everything))
        }
        "phase" if stands_alone(s, at) || s.is(at.wrapping_sub(1), &["mvp", "current", "final", "last"]) => {
            let named = s.phase.is_some_and(|phase| s.word(at + 1).parse() == Ok(phase));
            match s.is_number(at + 1) {
                true => named.then_some((at + 2, Topic::Project)),
                false => Some((at + 1, Topic::Project)),
            }
        }
        "task" | "goal" | "job" | "assignment" | "request" | "branch" if is_the_one(s, at) => {
            Some((at + 1, if word == "goal" { Topic::Things } else { Topic::Project }))
        }
        "suite" if is_the_one(s, at) || s.before(at) == "test" && is_the_one(s, at - 1) => {
            Some((at + 1, Topic::Tests))
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
pub(super) fn all_of_them(s: &Sentence<'_>, at: usize) -> Option<usize> {
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

/// "the task", "this task": the one that was given.
fn is_the_one(s: &Sentence<'_>, at: usize) -> bool {
    s.is(at.wrapping_sub(1), &["the", "this", "your", "my", "our", "whole", "entire"])
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
pub(super) fn described(s: &Sentence<'_>, from: usize, topic: Topic) -> usize {
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

pub(super) fn enclosed(s: &Sentence<'_>, at: usize) -> Option<usize> {
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
