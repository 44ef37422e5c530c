//! A claim about one item: what the words amount to, and what stands against it beside its checks.

use super::{ItemAfter, Memory, Work, some};
use crate::event::Judging;
use crate::evidence::{CHANGE, Condition, Held};
use crate::gate::Words;
use crate::prelude::*;
use crate::report::IterationReport;
use crate::report::block::Tests;

/// What the words amount to where one item was to be done: a mark in the backlog or a task that was counted claims it.
/// `words` is what they say about the whole.
pub fn claim(words: Words, report: &IterationReport, after: Option<&ItemAfter>) -> Words {
    let block = report.block.as_ref();
    let tasks = block.and_then(|block| block.tasks).unwrap_or(0);
    let failing = block.is_some_and(|block| block.tests == Some(Tests::Failing));
    match words {
        Words::Blocked { .. } | Words::Done { unasked: false, .. } => words,
        _ if failing && !words.is_unasked() => Words::More { why: "TESTS_STATUS: FAILING".into() },
        _ if after.is_some_and(|after| after.ticked) => Words::done("marked as done"),
        _ if tasks > 0 => Words::done(format!("TASKS_COMPLETED_THIS_LOOP: {tasks}")),
        other => other,
    }
}

/// Why nothing could prove an item where neither words nor reviews are asked.
pub fn unprovable(work: &Work) -> String {
    format!(
        "{} has no check at all, so nothing can prove it; give it a verification command, or name one for all items: \
         --test-cmd CMD",
        work.id
    )
}

/// What stands against a claim about an item, beside its checks. `provable`: it has checks, or others than checks may
/// prove it. `judging` is what became of that by which claims are judged.
pub fn conditions(
    work: &Work,
    after: Option<&ItemAfter>,
    judging: Option<&Judging>,
    changed: bool,
    provable: bool,
    memory: &Memory,
) -> Vec<Condition> {
    let condition = |name: &str, held, fact: String| Condition { name: name.into(), held, fact };
    let mut conditions = vec![];
    if !provable {
        conditions.push(condition("proof", Held::Failed, unprovable(work)));
    }
    if let Some(after) = after {
        let mut touched: Vec<String> = after.changed.iter().cloned().chain(after.all_tampered()).collect();
        let recipes = judging.iter().flat_map(|judging| &judging.recipes);
        touched.extend(recipes.map(|check| format!("what is run by {check}")));
        let only_there = after.committed.iter().filter(|file| !after.tampered.contains(file));
        touched.extend(only_there.map(|file| format!("{file} in a commit")));
        if after.criteria != work.criteria && !after.deleted {
            touched.insert(0, format!("the criteria of {}", work.id));
        }
        let changed = (!touched.is_empty()).then(|| format!("the agent changed {}", some(&touched)));
        let removed =
            (!after.removed.is_empty()).then(|| format!("the agent removed {}", some(&after.removed)));
        let unreadable = after.unreadable.then(|| match after.deleted {
            true => "the agent deleted the backlog".to_owned(),
            false => "the agent left the backlog unreadable".to_owned(),
        });
        let against = [changed, removed, unreadable].into_iter().flatten().collect::<Vec<_>>();
        let flagged =
            judging.is_some_and(|judging| judging.touched().chain(judging.others_run(true)).next().is_some());
        let but = if flagged { ", but for what is flagged" } else { "" };
        conditions.push(match against.is_empty() {
            true => condition("custody", Held::Held, format!("what it is judged by is as it was{but}")),
            false => condition("custody", Held::Failed, against.join("; ")),
        });
    }
    if !changed && !work.has_own_checks() {
        let again = memory.unchanged.as_deref() == Some(&work.id);
        conditions.push(match again {
            true => condition(CHANGE, Held::Held, "nothing was changed, as a second attempt found too".into()),
            false => condition(
                CHANGE,
                Held::Failed,
                "nothing was changed, and the item has no check of its own; if it was done before, a second attempt \
                 must say so too"
                    .into(),
            ),
        });
    } else if !changed && memory.is_untouched(&work.id) {
        let fact = "nothing was changed for it: its own checks alone decide";
        conditions.push(condition(CHANGE, Held::NotApplicable, fact.into()));
    }
    conditions
}
