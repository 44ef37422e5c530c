//! The evidence of an attempt, as the ledger keeps it: what was to be proved, what was measured, what came of it.

use ralph_core::check::CheckResult;
use ralph_core::event::End;
use ralph_core::items::{Settlement, attempt_id};
use ralph_core::state::Iteration;
use serde_json::{Value, json};

use crate::store::IterationFiles;
use crate::{clock, digest};

/// `ralph.evidence/1`, without its place in the chain.
pub(super) fn of(settlement: &Settlement, iteration: &Iteration, run: &str, files: &IterationFiles) -> Value {
    let item = settlement.item.as_ref();
    let (after, ended) = (iteration.after.as_ref(), iteration.ended.as_ref());
    let report = ended.map(|ended| &ended.report);
    let tests: Vec<&str> =
        after.map_or(vec![], |after| after.touched_tests().map(|change| change.path.as_str()).collect());
    json!({
        "schema": "ralph.evidence/1",
        "type": "attempt",
        "attempt": attempt_id(run, settlement.iteration),
        "at": clock::now(),
        "run": run,
        "iteration": settlement.iteration,
        "item": item.map(|item| &item.id),
        "title": item.map(|item| &item.title),
        "result": settlement.result.word(),
        "why": settlement.why,
        "blocked": settlement.block.is_some(),
        "criteria": item.map(|item| &item.criteria),
        "base": {"tree": iteration.before.as_ref().map(|mark| &mark.tree), "head": iteration.before.as_ref().and_then(|mark| mark.head.as_ref())},
        "tree": after.map(|after| &after.tree),
        "files_changed": after.map(|after| after.changed_total),
        "existing_tests_changed": tests,
        "checks": iteration.checks.iter().map(|result| check(result, files)).collect::<Vec<_>>(),
        "conditions": iteration.conclusion.as_ref().map(|conclusion| &conclusion.evidence.conditions),
        "agent": iteration.agent,
        "tokens": report.map(|report| report.usage.total()),
        "cost_micro_usd": report.and_then(|report| report.cost_micro_usd),
    })
}

/// The commit that holds an attempt, once there is one.
pub(super) fn committed(settlement: &Settlement, run: &str, commit: &str, evidence: &str) -> Value {
    json!({
        "schema": "ralph.evidence/1",
        "type": "commit",
        "attempt": attempt_id(run, settlement.iteration),
        "at": clock::now(),
        "item": settlement.item.as_ref().map(|item| &item.id),
        "commit": commit,
        "evidence": evidence,
    })
}

fn check(result: &CheckResult, files: &IterationFiles) -> Value {
    let exit = match result.end {
        End::Exited { code } => Some(code),
        _ => None,
    };
    json!({
        "name": result.name,
        "argv": ["sh", "-c", result.command],
        "exit": exit,
        "end": result.end.to_string(),
        "failing": result.failing,
        "duration_ms": result.duration_ms,
        "output_digest": digest::of_file(&files.check(&result.name)).ok(),
    })
}
