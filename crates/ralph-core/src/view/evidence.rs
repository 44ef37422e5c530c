//! What people and programs see of the evidence ledger.

mod document;
mod markdown;

use super::flagged::beside;
use super::money;
use crate::event::{OTHERS_RUN, SCRIPTS_CHANGED, TESTS_CHANGED};
use crate::evidence::Held;
use crate::items;
use crate::ledger::{Attempted, Ran, Record, Verdict, Verified};
use crate::prelude::*;
use crate::text::{count, one_line};
use crate::{check, time};

pub use document::{Ledger, document, verification};
pub use markdown::markdown;

/// How much of a digest or a commit is shown.
const SHORT: usize = 12;

fn short(id: &str) -> &str {
    id.get(..SHORT).unwrap_or(id)
}

/// `FEAT-1 Store`, `the goal`
fn subject(record: &Record) -> String {
    match (&record.item, &record.title) {
        (Some(item), Some(title)) if item != title => format!("{item} {}", one_line(title, 100)),
        (Some(item), _) => one_line(item, 100),
        (None, _) if !record.why.is_empty() => format!("goal: {}", one_line(&record.why, 100)),
        (None, _) => "the goal".into(),
    }
}

/// `test: cargo test exit 101 (auth::login)`
fn ran(check: &Ran) -> String {
    let failing = match check.failing.as_slice() {
        [] => String::new(),
        names => format!(" ({})", one_line(&names.join(", "), 200)),
    };
    let took = time::duration(check.duration_ms);
    format!("{}: {} {}{failing} in {took}", check.name, check::shown(check.command()), check.end)
}

/// What speaks against an attempt or is worth a look in what it is judged by.
fn custody(record: &Record) -> Vec<String> {
    let mut told = vec![];
    if record.custody.criteria_changed {
        told.push("the item's criteria or commands were changed (refuses)".into());
    }
    if !record.custody.changed.is_empty() {
        let names = one_line(&record.custody.changed.join(", "), 300);
        told.push(format!("what it is judged by was changed (refuses): {names}"));
    }
    told.extend(flagged(record));
    told
}

/// What refuses nothing and is worth a look.
fn flagged(record: &Record) -> Vec<String> {
    let flagged = [
        ("existing tests were changed or deleted", &record.custody.existing_tests_changed),
        ("files that checks run were changed", &record.custody.scripts_changed),
        ("checks run something else than when the run began", &record.custody.recipes_changed),
    ];
    let named = flagged.into_iter().filter(|(_, names)| !names.is_empty());
    named.map(|(what, names)| format!("{what} (flagged): {}", one_line(&names.join(", "), 300))).collect()
}

/// What the words amounted to.
fn claimed(record: &Record) -> String {
    let words = record.claimed.as_deref().filter(|words| !words.is_empty()).unwrap_or("nothing");
    one_line(words.strip_prefix("claims ").unwrap_or(words), 300)
}

fn measured(record: &Record) -> String {
    let changed = |n: u64| match n {
        0 => "nothing changed".to_owned(),
        n => format!("{} changed", count(n, "file")),
    };
    let nth = record.iteration;
    // A goal is reached in several iterations, of which the last one is a review that changes nothing.
    let files = match (record.files_in_all, record.files_changed) {
        (_, None) => "nobody measured the files".into(),
        (Some(all), Some(0)) => format!("{} in all, nothing in #{nth},", changed(all)),
        (Some(all), Some(n)) => format!("{} in all, {} in #{nth},", changed(all), count(n, "file")),
        (None, Some(n)) if record.item.is_none() => format!("{} in #{nth}", changed(n)),
        (None, Some(n)) => changed(n),
    };
    let cost = record.cost_micro_usd.map(|cost| format!(", {}", money(cost))).unwrap_or_default();
    let tokens = record.tokens.filter(|tokens| *tokens > 0);
    let tokens = tokens.map(|tokens| format!(", {}", count(tokens, "token"))).unwrap_or_default();
    format!("{files} by {}{tokens}{cost}", one_line(&record.agent, 60))
}

/// `PASSED, claimed without a check`: the word, what is flagged about a pass, and what it rests on where that is little.
pub fn result(record: &Record) -> String {
    let flagged = if record.passed() { beside(&flags_of(record)) } else { String::new() };
    format!("{}{flagged}{}", record.result, little(record))
}

/// What is flagged about the proof. Older records tell of their own iteration alone.
fn flags_of(record: &Record) -> Vec<String> {
    if !record.flagged.is_empty() {
        return record.flagged.clone();
    }
    let custody = &record.custody;
    let lists = [
        (TESTS_CHANGED, &custody.existing_tests_changed),
        (SCRIPTS_CHANGED, &custody.scripts_changed),
        (OTHERS_RUN, &custody.recipes_changed),
    ];
    let some = lists.into_iter().filter(|(_, names)| !names.is_empty());
    some.map(|(what, names)| format!("{what}: {}", items::some(names))).collect()
}

/// What a pass rests on, where that is little.
fn little(record: &Record) -> String {
    let bare = match (record.is_claimed(), record.checks.is_empty()) {
        (true, false) if record.tolerated => ", claimed with checks as red as before",
        (false, _) if record.passed() && record.unmeasured => " by checks that were green already",
        _ if record.item.is_none() => return little_of_goal(record),
        (true, true) => ", claimed without a check",
        (true, false) => ", claimed without a change and without a check of its own",
        (false, _) if record.without_change => " with nothing changed for it",
        (false, _) => "",
    };
    bare.into()
}

fn little_of_goal(record: &Record) -> String {
    let items = record.items.unwrap_or_default();
    match items.claimed {
        0 => String::new(),
        n => format!(", {n} of {} claimed", count(items.passed, "item")),
    }
}

/// How that is called which decided; `proved` where it is a proof.
fn decided<'a>(record: &Record, proved: &'a str) -> &'a str {
    match record.passed() {
        true if record.is_claimed() || record.unmeasured => "rests on",
        true => proved,
        false => "why",
    }
}

/// What decided. Where there is no item, `why` is the goal itself, and the conditions tell.
fn proof(record: &Record) -> String {
    let facts = || {
        let conditions = record.conditions.iter().flatten().filter(|condition| condition.held == Held::Held);
        conditions.map(|condition| condition.fact.as_str()).collect::<Vec<_>>().join("; ")
    };
    let told = Some(facts()).filter(|facts| record.item.is_none() && !facts.is_empty());
    let word = if record.is_claimed() { "the agent's word: " } else { "" };
    one_line(&format!("{word}{}", told.unwrap_or_else(|| record.why.clone())), 400)
}

/// One attempt for people: what was claimed, measured and proved.
pub fn lines(attempted: &Attempted) -> Vec<String> {
    let record = &attempted.record;
    let mark = match record.passed() {
        true if record.is_claimed() || record.unmeasured => "⚠",
        true => "✓",
        false => "✗",
    };
    let mut lines = vec![format!(
        "{mark} {}: {} in #{}, {}",
        subject(record),
        result(record),
        record.iteration,
        record.at
    )];
    let mut line = |name: &str, text: &str| lines.push(format!("  {name:<9} {text}"));
    line("claimed", &claimed(record));
    line("measured", &measured(record));
    record.checks.iter().for_each(|check| line("check", &ran(check)));
    custody(record).iter().for_each(|told| line("custody", told));
    let told = proof(record);
    let failed = record.conditions.iter().flatten().filter(|condition| condition.held == Held::Failed);
    // What decided is told below.
    for condition in failed.filter(|condition| !told.contains(&one_line(&condition.fact, 300))) {
        line("against", &format!("{}: {}", condition.name, one_line(&condition.fact, 300)));
    }
    line(decided(record, "proved"), &told);
    record.weak.iter().for_each(|weak| line("but", &one_line(weak, 300)));
    match attempted.commit() {
        Some(commit) => line("commit", short(commit)),
        None => line("commit", "none"),
    }
    if let Some(left) = attempted.commit.as_ref().map(|commit| &commit.left).filter(|left| !left.is_empty()) {
        line("left out", &one_line(&left.join(", "), 300));
    }
    line("record", &format!("{} {} ({})", record.seq, short(&record.digest), record.attempt));
    lines
}

/// One attempt that was verified.
pub fn verified(verified: &Verified) -> Vec<String> {
    let word = match verified.verdict {
        Verdict::Holds if verified.checks.is_empty() => "✓ as recorded, not run again",
        Verdict::Holds => "✓ holds",
        Verdict::Fails => "✗ fails",
        Verdict::CouldNotRun => "? could not run",
        Verdict::NotProved => "- not proved",
    };
    let record = &verified.record;
    let commit = verified.commit.as_deref().map(|commit| format!(", commit {}", short(commit)));
    let head = format!("{word}: {} (#{}{})", subject(record), record.iteration, commit.unwrap_or_default());
    let mut lines = vec![head, format!("  {}", one_line(&verified.why, 400))];
    lines.extend(verified.remarks.iter().map(|remark| format!("  note: {}", one_line(remark, 400))));
    let little = little(record);
    if !little.is_empty() {
        lines.push(format!("  note: {}{little}", record.result));
    }
    lines.extend(flagged(record).iter().map(|flag| format!("  note: {flag}")));
    lines
}

/// Whether something about a proof that holds is worth a look all the same.
pub fn is_flagged(verified: &Verified) -> bool {
    verified.verdict == Verdict::Holds && !flagged(&verified.record).is_empty()
}

#[cfg(test)]
mod tests;
