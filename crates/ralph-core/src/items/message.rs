//! The words of a commit that holds a proved item, and of one that takes a failed attempt back.

use super::Settlement;
use crate::decision::Kind;
use crate::indicator::indicators;
use crate::prelude::*;
use crate::state::Iteration;
use crate::text::one_line;

/// The trailers by which ralph knows its own commits again.
pub(super) const ITERATION: &str = "Ralph-Iteration";
pub(super) const ITEM: &str = "Ralph-Item";
pub(super) const EVIDENCE: &str = "Ralph-Evidence";

/// How many files a commit names.
const NAMED: usize = 20;

/// What a commit is made of.
#[derive(Debug, Clone, Copy, Default)]
pub struct CommitFiles<'a> {
    /// In the commit, without the task file.
    pub changed: &'a [String],
    /// Proved, and not in the commit.
    pub left: &'a [String],
}

/// `feat(scope): title`, or `feat: title` where only ralph has an id for it; what was done, how it was verified, what was flagged,
/// and trailers. `iteration` is the one that was settled, `evidence` the digest of its record, `run` the run's id.
pub fn commit_message(
    settlement: &Settlement,
    iteration: &Iteration,
    run: &str,
    evidence: Option<&str>,
    files: CommitFiles<'_>,
) -> String {
    let CommitFiles { changed, left } = files;
    let title = match &settlement.item {
        Some(item) if item.made_id => format!("feat: {}", one_line(&item.title, 60)),
        Some(item) => format!("feat({}): {}", scope(&item.id), one_line(&item.title, 60)),
        None => format!("feat: {}", one_line(&settlement.why, 60)),
    };
    let mut text = format!("{title}\n\n");
    // Of the goal the last word is a reviewer's, who did nothing for it.
    let worked = settlement.item.is_some() || iteration.kind == Kind::Work;
    let said = || account(iteration).filter(|_| worked);
    if let Some(said) = settlement.said.clone().or_else(said) {
        text.push_str(&wrapped(&one_line(&format!("The agent says: {said}"), 400)));
        text.push_str("\n\n");
    }
    if !changed.is_empty() {
        let mut names = changed.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
        if changed.len() > NAMED {
            names.push_str(&format!(" and {} more", changed.len() - NAMED));
        }
        text.push_str(&wrapped(&one_line(&format!("Changed: {names}"), 800)));
        text.push_str("\n\n");
    }
    if let Some(others) = others(settlement) {
        text.push_str(&wrapped(&one_line(&others, 400)));
        text.push_str("\n\n");
    }
    text.push_str(&verification(iteration));
    if let Some(word) = &settlement.unchecked {
        text.push_str(&wrapped(&one_line(&format!("Claimed, not proved: {word}."), 400)));
        text.push_str("\n\n");
    }
    if iteration.is_without_change() && settlement.item.is_some() {
        text.push_str("No file was changed for this item: its checks were green without it.\n\n");
    }
    if iteration.passed_anyway() {
        text.push_str(
            "These checks were green already: none is its own, and no test was changed for it.\n\n",
        );
    }
    if !left.is_empty() {
        let names = left.join(", ");
        let were = if left.len() == 1 { "it was" } else { "they were" };
        let left = match settlement.unchecked.is_some() || iteration.checks.is_empty() {
            true => format!("Not in this commit, for {were} not clean before: {names}"),
            // The checks ran on all files, and whoever checks this commit out has not got these.
            false => format!("Verified with, and not in this commit (not clean before): {names}"),
        };
        text.push_str(&wrapped(&one_line(&left, 800)));
        text.push_str("\n\n");
    }
    let flagged = settlement.commit.as_ref().map_or(&[][..], |order| &order.flagged);
    if !flagged.is_empty() {
        text.push_str(&wrapped(&one_line(&format!("Flagged: {}", flagged.join("; ")), 800)));
        text.push_str("\n\n");
    }
    text.push_str(&trailers(settlement, run, evidence));
    text
}

/// What the agent said that it did: the last paragraph before its report that announces no further work and asks nothing.
pub(crate) fn account(iteration: &Iteration) -> Option<String> {
    const REPORT: [&str; 3] = ["RALPH_STATUS", "LOOP_", "<promise>"];
    let words = &iteration.ended.as_ref()?.report.last_words;
    let of_report = |line: &str| REPORT.iter().any(|mark| line.contains(mark));
    let prose: Vec<&str> = words.lines().take_while(|line| !of_report(line)).map(str::trim).collect();
    let told = |lines: &&[&str]| {
        let paragraph = lines.join("\n");
        let plain = paragraph.trim_end_matches(['*', '_', '"', '`', ')', '\n']);
        paragraph.contains(char::is_alphanumeric)
            && !plain.ends_with(['?', ':'])
            && indicators(&paragraph).cancelled_by.is_none()
    };
    let paragraph = prose.split(|line| line.is_empty() || line.starts_with("```")).rev().find(told)?;
    Some(one_line(&paragraph.join(" "), 400))
}

/// What else was there when the item was proved, and so is in its commit.
fn others(settlement: &Settlement) -> Option<String> {
    let own = settlement.item.as_ref()?.id.as_str();
    let spans = settlement.commit.iter().flat_map(|order| &order.spans);
    let mut ids: Vec<&str> = vec![];
    for id in spans.filter_map(|span| span.item.as_deref()).filter(|id| *id != own) {
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    (!ids.is_empty()).then(|| format!("Holds as well what attempts at other items left: {}.", ids.join(", ")))
}

/// `revert: ID - reason`, or its title for an id that only ralph has; with what was tried.
pub fn revert_message(
    settlement: &Settlement,
    iteration: &Iteration,
    run: &str,
    evidence: Option<&str>,
) -> String {
    let name = named(settlement);
    let mut text = format!("revert: {name} - {}\n\n", one_line(&settlement.why, 60));
    let next = iteration.block().and_then(|block| block.recommendation.as_deref());
    let mut investigation = format!("Investigation: {}.", settlement.why);
    if let Some(tried) = account(iteration) {
        investigation.push_str(&format!(" The agent says: {tried}"));
    }
    if let Some(next) = next {
        investigation.push_str(&format!(" It recommends: {next}"));
    }
    text.push_str(&wrapped(&one_line(&investigation, 800)));
    text.push_str("\n\n");
    text.push_str(&trailers(settlement, run, evidence));
    text
}

/// What a commit says that takes nothing back but what HEAD may not hold.
pub fn mend_message(settlement: &Settlement, run: &str, evidence: Option<&str>) -> String {
    let name = named(settlement);
    let text =
        "A commit of the agent's held files of the loop, or what items are judged by, otherwise than before.";
    let trailers = trailers(settlement, run, evidence);
    format!("revert: {name} - what no agent may commit\n\n{}\n\n{trailers}", wrapped(text))
}

fn named(settlement: &Settlement) -> String {
    match &settlement.item {
        Some(item) if item.made_id => one_line(&item.title, 60),
        Some(item) => item.id.clone(),
        None => "goal".into(),
    }
}

fn verification(iteration: &Iteration) -> String {
    let checks = &iteration.checks;
    if checks.is_empty() {
        return "Verification: no check was configured.\n\n".into();
    }
    let mut text = "Verification:\n".to_owned();
    checks
        .iter()
        .for_each(|check| text.push_str(&format!("- {}\n", one_line(&iteration.describe(check), 200))));
    text.push('\n');
    text
}

fn trailers(settlement: &Settlement, run: &str, evidence: Option<&str>) -> String {
    let mut text = String::new();
    let mut trailer = |name: &str, value: &str| text.push_str(&format!("{name}: {value}\n"));
    if let Some(item) = &settlement.item {
        trailer(ITEM, &one_line(&item.id, 120));
    }
    trailer(ITERATION, &attempt_id(run, settlement.iteration));
    if let Some(evidence) = evidence {
        trailer(EVIDENCE, evidence);
    }
    text
}

/// What names one attempt, wherever it is written.
pub fn attempt_id(run: &str, iteration: u64) -> String {
    format!("{run}/{iteration}")
}

/// A scope has no white space and no brackets.
fn scope(id: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() || "-_./".contains(c) { c } else { '-' };
    id.chars().map(plain).take(40).collect()
}

/// Lines of at most 72 characters, broken at spaces.
fn wrapped(text: &str) -> String {
    let mut lines: Vec<String> = vec![];
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= 72 => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.into()),
        }
    }
    lines.join("\n")
}
