//! The evidence of an attempt, as the ledger keeps it: what was to be proved, what was measured, what came of it.

use ralph_core::check::CheckResult;
use ralph_core::decision::Stop;
use ralph_core::event::{End, Judging};
use ralph_core::items::{ItemAfter, Parking, Patch, Settlement, attempt_id};
use ralph_core::ledger::{Custody, Passed};
use ralph_core::redact::Secrets;
use ralph_core::state::{Iteration, State};
use ralph_core::view;
use serde_json::{Value, json};

use crate::store::{self, IterationFiles, Park, Steer};
use crate::{clock, digest};

/// What a goal rests on.
#[derive(Debug, Default)]
pub(crate) struct Whole {
    /// How items passed, where they are the goal.
    pub(crate) items: Option<Passed>,
    /// What is flagged about the proof.
    pub(crate) flagged: Vec<String>,
    /// What the proof does not show.
    pub(crate) weak: Vec<String>,
}

impl Whole {
    /// Of a run that stops so once it is settled.
    pub(crate) fn of(state: &State, stop: &Stop) -> Self {
        let memory = &state.rules.items;
        let passed = Passed {
            passed: memory.passed,
            claimed: memory.unchecked,
            without_change: memory.without_change,
        };
        let flagged = view::flagged::of_stop(state, stop);
        Self { items: state.backlog.as_ref().map(|_| passed), flagged, weak: view::weak_points(state, stop) }
    }
}

/// The record of an attempt, without its place in the chain. `backlog` is the task file, from the top of the project, and
/// `in_all` how many files earlier iterations and this one changed, where that is more to tell than its own; `whole` is told where the
/// goal is settled.
pub(super) fn of(
    settlement: &Settlement,
    iteration: &Iteration,
    run: &str,
    files: &IterationFiles,
    backlog: Option<&[u8]>,
    in_all: Option<usize>,
    whole: Option<&Whole>,
) -> Value {
    let item = settlement.item.as_ref();
    let (before, after) = (iteration.before.as_ref(), iteration.after.as_ref());
    let report = iteration.ended.as_ref().map(|ended| &ended.report);
    let conclusion = iteration.conclusion.as_ref();
    json!({
        "v": 1,
        "type": "attempt",
        "attempt": attempt_id(run, settlement.iteration),
        "at": clock::now(),
        "run": run,
        "iteration": settlement.iteration,
        "item": item.map(|item| &item.id),
        "title": item.map(|item| &item.title),
        "result": settlement.result.word(),
        "claimed": conclusion.map(|conclusion| &conclusion.words),
        "why": settlement.why,
        "blocked": settlement.block.is_some(),
        "criteria": item.map(|item| &item.criteria),
        "base": {"tree": before.map(|mark| &mark.tree), "head": before.and_then(|mark| mark.head.as_ref())},
        "tree": after.map(|after| &after.tree),
        "files_changed": after.map(|after| after.changed_total),
        "files_in_all": in_all,
        "untouched": item.is_some() && iteration.is_untouched(),
        "without_change": item.is_some() && iteration.is_without_change(),
        "tolerated": iteration.is_tolerated(),
        "unmeasured": iteration.passed_anyway(),
        "flagged": whole.map(|whole| &whole.flagged).or(conclusion.map(|conclusion| &conclusion.proof_flags)),
        "items": whole.and_then(|whole| whole.items),
        "weak": whole.map_or(&[][..], |whole| &whole.weak),
        "backlog": backlog.map(String::from_utf8_lossy),
        "custody": custody(settlement, iteration),
        "checks": iteration.checks.iter().map(|result| check(result, files)).collect::<Vec<_>>(),
        "conditions": conclusion.map(|conclusion| &conclusion.evidence.conditions),
        "agent": iteration.agent,
        "tokens": report.map(|report| report.usage.total()),
        "cost_micro_usd": report.and_then(|report| report.cost_micro_usd),
    })
}

/// The same of an attempt with which its item is parked.
pub(super) fn with_park(record: Value, park: &Parking, patch: Option<&Patch>) -> Value {
    let mut record = record;
    record["parked"] = json!(Park { reason: park.reason.clone(), patch: patch.cloned() });
    record
}

/// The commit that holds an attempt, once there is one. `left` was changed and is not in it.
pub(super) fn committed(
    settlement: &Settlement,
    run: &str,
    commit: &str,
    evidence: &str,
    left: &[String],
) -> Value {
    json!({
        "v": 1,
        "type": "commit",
        "attempt": attempt_id(run, settlement.iteration),
        "at": clock::now(),
        "item": settlement.item.as_ref().map(|item| &item.id),
        "commit": commit,
        "evidence": evidence,
        "left": left,
    })
}

/// What a person says about an item.
pub(crate) fn steered(steer: &Steer, secrets: &Secrets) -> Value {
    let record = json!({
        "v": 1,
        "type": steer.op.word(),
        "text": steer.text,
        "at": clock::now(),
        "item": steer.item,
        "title": steer.title,
        "backlog": steer.backlog,
    });
    without_secrets(record, secrets)
}

/// What happened to what the item is judged by. Without an item nobody asked.
fn custody(settlement: &Settlement, iteration: &Iteration) -> Custody {
    let after = iteration.after.as_ref();
    let item = after.and_then(|after| after.item.as_ref()).zip(settlement.item.as_ref());
    let judging = after.and_then(|after| after.judging.as_ref());
    Custody {
        criteria_changed: item.is_some_and(|(after, work)| after.criteria != work.criteria),
        changed: item.map_or(vec![], |(after, _)| changed(after, judging)),
        existing_tests_changed: judging.map_or(vec![], |judging| judging.tests.clone()),
        scripts_changed: judging.map_or(vec![], |judging| judging.scripts.clone()),
        recipes_changed: judging.map_or(vec![], |judging| flagged_recipes(judging, item.is_some())),
    }
}

/// Where there is no item to be refused, every check that runs something else is flagged.
fn flagged_recipes(judging: &Judging, about_an_item: bool) -> Vec<String> {
    let refusing: &[String] = if about_an_item { &[] } else { &judging.recipes };
    refusing.iter().chain(&judging.named_recipes).cloned().collect()
}

/// What refuses the pass.
fn changed(after: &ItemAfter, judging: Option<&Judging>) -> Vec<String> {
    let removed = after.removed.iter().map(|id| format!("{id} (removed)"));
    let recipes = judging.iter().flat_map(|judging| judging.recipes.iter().cloned());
    let committed = after.committed.iter().filter(|file| !after.tampered.contains(file));
    let changed = after.changed.iter().cloned().chain(after.all_tampered()).chain(committed.cloned());
    changed.chain(removed).chain(recipes).collect()
}

fn check(result: &CheckResult, files: &IterationFiles) -> Value {
    let exit = match result.end {
        End::Exited { code } => Some(code),
        _ => None,
    };
    let output = store::open_kept(&files.check(&result.name)).and_then(digest::of_stream);
    json!({
        "name": result.name,
        "argv": ["sh", "-c", result.command],
        "exit": exit,
        "end": result.end.to_string(),
        "failing": result.failing,
        "duration_ms": result.duration_ms,
        "output_digest": output.ok(),
    })
}

/// Ids and digests are what they are; every other text may hold a secret.
const IDS: [&str; 11] = [
    "before", "after", "attempt", "run", "criteria", "tree", "head", "commit", "evidence", "output_digest",
    "type",
];

/// The record as it may be kept. A command with a secret in it cannot be run again from it.
pub(super) fn without_secrets(mut record: Value, secrets: &Secrets) -> Value {
    hide(&mut record, secrets);
    record
}

fn hide(value: &mut Value, secrets: &Secrets) {
    match value {
        Value::String(text) => *text = secrets.hide(text).into_owned(),
        Value::Array(list) => list.iter_mut().for_each(|value| hide(value, secrets)),
        Value::Object(map) => map
            .iter_mut()
            .filter(|(key, _)| !IDS.contains(&key.as_str()))
            .for_each(|(_, value)| hide(value, secrets)),
        _ => {}
    }
}
