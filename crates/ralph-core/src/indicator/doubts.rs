//! What around a claim makes it no claim: negation, condition, exception, future, report, question.

mod behind;
mod words;

use super::claims::{Claim, Topic};
use super::sentence::{Sentence, is_past};
use super::words::{CONDITIONS, DETERMINERS, DONE, THING};
use crate::prelude::*;
use behind::{doubted_behind, ends_qualified};
pub(super) use behind::{leads_astray, leads_list, takes_back};
use words::{
    CAUSATIVES, CLAIMED, DOUBTING, EXCEPTIONS, FUTURE, MENTIONED, NEGATIONS, NOT_ALWAYS, OTHER_TIMES,
    OWN_DEEDS, PARTIALS, REPORTED, WITHOUT,
};

/// The claims of a sentence that stand.
pub(super) fn standing(sentence: &Sentence<'_>, claims: Vec<Claim>) -> Vec<Claim> {
    if claims.is_empty()
        || sentence.end == '?'
        || sentence.find(0..sentence.len(), EXCEPTIONS).is_some()
        || ends_qualified(sentence)
    {
        return Vec::new();
    }
    let mut standing = Vec::new();
    let mut doubted_until = 0;
    for claim in claims {
        if doubted(sentence, &claim) {
            // "If all tests pass and the project is complete": the doubt reaches on to the next strong break.
            let end = claim.range.end;
            doubted_until = (end..sentence.len())
                .find(|at| {
                    matches!(sentence.mark(*at), Some(';' | ':' | '—')) || sentence.is(*at, &["but", "so"])
                })
                .unwrap_or(sentence.len());
        } else if claim.range.start >= doubted_until {
            standing.push(claim);
        }
    }
    standing
}

fn doubted(s: &Sentence<'_>, claim: &Claim) -> bool {
    let start = claim.range.start;
    let conjunctions = &["and", "but", "so", "because", "since"];
    let near = clause_start(s, start, &[',', ';', ':', '—', '(', ')', '|'], conjunctions);
    let past_colon = clause_start(s, start, &[',', ';', '—', '(', ')', '|'], conjunctions);
    let past_comma = clause_start(s, start, &[';', '—', '(', ')', '|'], conjunctions);
    let past_and = clause_start(s, start, &[';', '—', '(', ')', '|'], &["but", "so", "because", "since"]);
    negated(s, near, claim)
        || partial(s, claim)
        || s.find(near..start, FUTURE).is_some_and(|at| !is_present(s, at))
        || (claim.past && s.find(near..start, OTHER_TIMES).is_some())
        || s.find(mention_start(s, near, past_colon)..start, MENTIONED).is_some()
        || reported(s, past_comma, claim)
        || s.find(past_and..start, CLAIMED).is_some()
        || conditional(s, claim)
        || ordered(s, claim)
        || about_a_part(s, claim)
        || (claim.topic != Topic::Absence && s.find(claim.range.clone(), DOUBTING).is_some())
        || doubted_behind(s, claim)
}

/// "as expected", "I'd call the project done": no future after all.
fn is_present(s: &Sentence<'_>, at: usize) -> bool {
    (s.word(at) == "expected" && s.before(at) == "as")
        || s.says_any(at, &["would call", "would consider"]).is_some()
            && s.is(at.wrapping_sub(1), &["i", "we"])
}

/// A colon passes on what was named before it ("The banner reads: …"), unless the agent tells what it did
/// ("I checked the messages: …").
fn mention_start(s: &Sentence<'_>, near: usize, past_colon: usize) -> usize {
    let passes_on = near >= 2 && s.is(near - 2, &["to", "as", "with", "is", "reads", "says", "into"]);
    let done_by_agent =
        s.is(past_colon, &["i", "we"]) && is_past(s.word(past_colon + 1)) || is_past(s.word(past_colon));
    if done_by_agent && !passes_on { near } else { past_colon }
}

/// The word before a claim, articles and the like passed over.
fn word_before(s: &Sentence<'_>, claim: &Claim) -> Option<usize> {
    let mut before = claim.range.start;
    while before > 0 && s.is(before - 1, DETERMINERS) && !s.is(before - 1, &["that", "this"]) {
        before -= 1;
    }
    before.checked_sub(1)
}

/// "almost all", "half of the project".
fn partial(s: &Sentence<'_>, claim: &Claim) -> bool {
    let near = clause_start(
        s,
        claim.range.start,
        &[',', ';', ':', '—', '(', ')', '|'],
        &["and", "but", "so", "because", "since"],
    );
    let unsure = s.find(near..claim.range.start, NOT_ALWAYS);
    // "After some cleanup all tests pass."
    if unsure.is_some_and(|at| s.find(near..at, &["after", "following", "with", "despite", "not"]).is_none())
    {
        return true;
    }
    let Some(mut before) = word_before(s, claim) else { return false };
    while before > 0 && s.is(before, &["of", "the"]) {
        before -= 1;
    }
    (before.saturating_sub(3)..=before).any(|at| s.says_any(at, PARTIALS) == Some(before + 1))
}

fn reported(s: &Sentence<'_>, from: usize, claim: &Claim) -> bool {
    let start = claim.range.start;
    (from..start).any(|at| {
        let told = s.says_any(at, REPORTED).is_some_and(|end| end <= start);
        let own = s.is(at, OWN_DEEDS)
            && (at == 0 || s.is(at - 1, &["i", "we", "you", "have", "also"]))
            && s.word(at + 1) != "that"
            && at + 1 != start
            || s.says_any(at, &["asks for", "asked for"]).is_some();
        told && !own
    })
}

/// Where the words that bear on a claim begin: behind the nearest of these marks or words. A comma counts
/// as a wide break only together with the conjunction that follows it.
fn clause_start(s: &Sentence<'_>, start: usize, marks: &[char], words: &[&str]) -> usize {
    (0..start)
        .rev()
        .find(|at| {
            s.mark(*at).is_some_and(|c| marks.contains(&c))
                || s.is(*at, words)
                || (s.mark(*at) == Some(',') && s.is(at + 1, &["and", "which"]))
        })
        .map_or(0, |at| at + 1)
}

fn negated(s: &Sentence<'_>, from: usize, claim: &Claim) -> bool {
    // "I don't see anything left to do": the negation is part of the claim.
    if s.word(claim.range.start) == "anything" {
        return false;
    }
    let mut at = from;
    while let Some(found) = s.find(at..claim.range.start, NEGATIONS) {
        // "not only … but" affirms.
        if s.says_any(found, &["not only", "not just", "no doubt", "no further", "no more"]).is_none()
            && !(s.word(found) == "no" && s.before(found) == "with")
        {
            return true;
        }
        at = found + 1;
    }
    false
}

fn conditional(s: &Sentence<'_>, claim: &Claim) -> bool {
    let start = claim.range.start;
    let from = clause_start(s, start, &[';'], &[]);
    let part = (0..start).rev().find(|at| s.mark(*at) == Some(';')).map_or(0, |at| at + 1);
    // Near, it governs the claim; at the head of a clause, it governs what follows as well.
    let governed = (part..start).filter(|at| is_condition(s, *at)).any(|at| {
        let near = at >= from && (near(s, at, start) || !is_narrated(s, part, at));
        near || opens_clause(s, at)
    });
    // "after all tasks are complete", not "after that all tests pass".
    let straight = word_before(s, claim).is_some_and(|at| s.is(at, &["after", "before", "while"]));
    let later = claim.topic == Topic::Deed && s.find(from..start, &["after"]).is_some();
    governed || straight || later || s.find(from..start, &["before"]).is_some_and(|at| near(s, at, start))
}

fn is_condition(s: &Sentence<'_>, at: usize) -> bool {
    let narrated = s.word(at) == "when" && s.is(at + 1, &["i", "we"]) && is_past(s.word(at + 2));
    let other_sense = match s.word(at) {
        "provided" => at > 0 && s.is(at - 1, &["i", "we", "you", "it", "is", "are", "was", "have"]),
        "once" => s.is(at + 1, &["again", "more"]) || at > 0 && s.is(at - 1, &["at", "than", "ran", "only"]),
        "the" => at > 0 && s.is(at - 1, &["at", "for"]),
        "every" | "each" => at > 0,
        _ => false,
    };
    s.says_any(at, CONDITIONS).is_some() && !narrated && !other_sense
}

/// "It crashed when the file was empty, …": a story, not a condition for what follows.
fn is_narrated(s: &Sentence<'_>, from: usize, at: usize) -> bool {
    (from..at).any(|place| s.is(place, &["i", "we", "was", "were"]) || is_past(s.word(place)))
}

fn near(s: &Sentence<'_>, from: usize, to: usize) -> bool {
    (from..to).all(|at| s.mark(at).is_none())
}

fn opens_clause(s: &Sentence<'_>, at: usize) -> bool {
    s.is_start(at) || s.is(at - 1, &["and", "but", "so", "that", "only", "even"])
}

/// "get all tests to pass", "check that all tests pass", "the docs of the project".
fn ordered(s: &Sentence<'_>, claim: &Claim) -> bool {
    if matches!(claim.topic, Topic::Absence | Topic::Deed) {
        return false;
    }
    let mut before = claim.range.start;
    while before > 0 && s.is(before - 1, DETERMINERS) {
        before -= 1;
    }
    let Some(at) = before.checked_sub(1) else { return false };
    let confirmed =
        s.is(at, &["confirm", "see", "verify"]) && at > 0 && s.is(at - 1, &["can", "i", "we", "to"]);
    let carried_out =
        s.is(at, &["of", "on"]) && at > 0 && s.is(at - 1, &["implementation", "work", "development"]);
    let told = s.is(at, &["makes", "made"]) && at > 0 && s.is(at - 1, &["that", "this", "which"])
        || s.is(at, &["is", "was"])
            && at > 0
            && s.is(at - 1, &["news", "result", "outcome", "line", "upshot", "status", "summary"]);
    let counted = s.word(at) == "at" && s.is_number(claim.range.start);
    let affirmed = s.is(at, &["do", "are", "is"]) && at >= 2 && s.says(at - 2, "not only").is_some();
    let all_done = s.word(claim.range.start) == "all" && s.is(claim.range.start + 1, DONE);
    let timed = s.is(at, &["at", "by", "in"]) && s.is(at + 1, &["that", "this"]);
    s.is(at, CAUSATIVES) && !(confirmed || carried_out || timed || told || counted || all_done || affirmed)
        || s.says_any(at.saturating_sub(1), WITHOUT) == Some(at + 1)
        || s.is(at, WITHOUT)
}

/// "Task 3: implementation complete", "With no remaining tasks the worker exits".
fn about_a_part(s: &Sentence<'_>, claim: &Claim) -> bool {
    const PARTS: &[&str] =
        &["module", "component", "part", "page", "endpoint", "backend", "frontend", "parser"];
    let start = claim.range.start;
    match claim.topic {
        Topic::Project | Topic::Everything => {
            let Some(colon) = (0..start).rev().find(|at| s.mark(*at).is_some()) else { return false };
            matches!(s.mark(colon), Some(':' | '—'))
                && (0..colon).any(|at| {
                    let numbered = s.word(at).bytes().any(|b| b.is_ascii_digit()) && !s.is_number(at)
                        || s.is(at, THING) && s.is_number(at + 1);
                    numbered
                        || s.is(at, PARTS)
                        || (claim.topic == Topic::Project && s.is_code(at) && at + 1 == colon)
                })
        }
        Topic::Absence => {
            let before = start.checked_sub(1);
            before.is_some_and(|at| {
                (s.word(at) == "with" && !(at > 0 && s.mark(at - 1) == Some(',')))
                    || (s.is(at, &["has", "have", "is", "are"])
                        && at > 0
                        && s.is(at - 1, &["that", "which", "who"]))
            })
        }
        _ => false,
    }
}
