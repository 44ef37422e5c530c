//! Public JSON: its own vocabulary, with a schema name and version, apart from the journal's.

use serde_json::{Value, json};

use super::agent_of;
use super::{ended, flagged, result_word, status_word};
use crate::breaker::Breaker;
use crate::check::CheckResult;
use crate::decision::{Phase, Stop};
use crate::event::PutBack;
use crate::items::Work;
use crate::prelude::*;
use crate::redact::shapes;
use crate::state::{Iteration, State, Undone};

/// An entry of `ralph.history/1`: files that the user had put back.
pub fn undone(undone: &Undone, run: u64) -> Value {
    let PutBack { iteration, from, to, files, head: _, only } = &undone.put_back;
    json!({
        "run": run,
        "at": undone.at,
        "after": undone.after,
        "iteration": iteration,
        "files": files,
        "only": only,
        "tree_before": from,
        "tree_after": to,
    })
}

/// An entry of `ralph.history/1`: a stop, by the state of that moment.
pub fn stopped(state: &State, stop: &Stop, run: u64) -> Value {
    json!({
        "run": run,
        "at": state.updated_at,
        "after": state.iteration,
        "reason": stop.word(),
        "text": ended(state, stop),
        "exit_code": stop.exit_code(),
    })
}

/// What the shell knows beside the state.
#[derive(Debug, Clone, Copy, Default)]
pub struct Surroundings<'a> {
    /// Whether the project has a `.ralph/` folder or any run.
    pub initialized: bool,
    /// The process that holds the lock.
    pub pid: Option<u32>,
    /// A hook holds a session for it, or waits for one.
    pub held: bool,
    /// The user's words that no iteration has read yet.
    pub notes: &'a [String],
}

/// `ralph.status/1`
pub fn status(state: Option<&State>, around: Surroundings<'_>) -> Value {
    let running = around.pid.is_some() || around.held;
    let run = state.and_then(|state| state.run.as_ref());
    let current = state.and_then(|state| state.current.as_ref());
    json!({
        "schema": "ralph.status/1",
        "initialized": around.initialized,
        "running": running,
        "pid": around.pid,
        "run": run.map(|run| json!({
            "id": run.id,
            "number": run.number,
            "profile": run.plan.policy.profile,
            "started_at": state.map(|state| state.started_at),
            "updated_at": state.map(|state| state.updated_at),
        })),
        "iteration": state.map_or(0, |state| state.iteration),
        "run_iteration": state.map_or(0, |state| state.used),
        "max_iterations": run.map(|run| run.plan.policy.max_iterations),
        "kind": current.map(|current| current.kind.word()),
        "status": state.map_or("idle", |state| status_word(state, running)),
        "waiting": state.and_then(|state| match &state.phase {
            Phase::Waiting { until, why } if running => Some(json!({"until": until, "why": why})),
            _ => None,
        }),
        "stop_asked": running && state.is_some_and(|state| state.stop().is_none() && state.stop_asked.is_some()),
        "stop_reason": state.and_then(State::stop).map(Stop::word),
        "stop_text": state.and_then(|state| Some(ended(state, state.stop()?))),
        "done_count": state.map_or(0, |state| state.rules.reviews.passes),
        "done_needed": state.map(State::reviews_needed),
        "goal": run.map(|run| &run.goal),
        "agent": state.and_then(agent_of).map(|agent| json!({
            "name": agent.name,
            "model": agent.model,
            "pid": current.and_then(|current| current.pid).filter(|_| running),
        })),
        "agents": run.map_or(vec![], |run| run.plan.agents.iter().map(|agent| agent.name.as_str()).collect()),
        "checks": run.map_or(vec![], |run| run.plan.checks.iter().map(|c| json!({"name": c.name, "command": shapes(&c.command), "source": c.source})).collect()),
        "checks_left_out": run.map_or(vec![], |run| run.plan.left_out.iter().map(|c| json!({"name": c.name, "command": shapes(&c.command), "source": c.source})).collect()),
        "circuit": state.map(|state| circuit(&state.rules.breaker)),
        "backlog": state.and_then(backlog),
        "cost": state.map(|state| json!({
            "micro_usd": state.totals.cost_micro_usd,
            "tokens": state.totals.usage.total(),
            "input_tokens": state.totals.usage.input,
            "output_tokens": state.totals.usage.output,
            "cache_read_tokens": state.totals.usage.cache_read,
            "cache_write_tokens": state.totals.usage.cache_write,
            "iterations_without_cost": state.totals.without_cost,
        })),
        "last_decision": state.and_then(|state| state.last.as_deref()).map(last_decision),
        "notes": around.notes,
        "proof": state.and_then(State::stop).and_then(Stop::proof).map(|proof| proof.word()),
        "proof_flags": state.and_then(|state| Some(flagged::of_stop(state, state.stop()?))).unwrap_or_default(),
        "flags": state.map_or_else(|| json!([]), flags),
        "uncommitted": state.map_or(vec![], |state| state.uncommitted.iter().map(|u| json!({"what": u.what, "why": u.why})).collect()),
        "committed_of_yours": state.map_or(&[][..], |state| &state.taken),
    })
}

/// What agents of the run are flagged for, each with its iteration.
pub(super) fn flags(state: &State) -> Value {
    state
        .flagged
        .iter()
        .map(|flagged| json!({"iteration": flagged.iteration, "text": flagged.what, "put_back": flagged.put_back}))
        .collect()
}

/// The task file, how far it is, and the item that is worked on.
fn backlog(state: &State) -> Option<Value> {
    let plan = state.run.as_ref()?.plan.backlog.as_ref()?;
    let read = state.backlog.as_ref();
    let items = read.map(|read| read.items).unwrap_or_default();
    Some(json!({
        "file": plan.file,
        "phase": read.and_then(|read| read.phase.as_ref()),
        "total": items.total,
        "done": items.total.saturating_sub(items.open),
        "open": items.open,
        "passed": state.rules.items.passed,
        "unchecked": state.rules.items.unchecked,
        "without_change": state.rules.items.without_change,
        "current": state.current.as_ref().and_then(|current| current.item.as_deref()).map(item),
    }))
}

/// An item, and which attempt at it this is.
pub(super) fn item(item: &Work) -> Value {
    json!({
        "id": item.id,
        "title": item.title,
        "attempt": item.attempts.saturating_add(1),
        "max_attempts": Some(item.max_attempts).filter(|most| *most > 0),
    })
}

/// `ralph.circuit/1`, without its name.
pub fn circuit(breaker: &Breaker) -> Value {
    json!({
        "state": breaker.circuit.word(),
        "reason": breaker.reason,
        "opened_at": breaker.opened_at,
        "probe_at": breaker.probe_at,
        "failed_probes": breaker.failed_probes,
        "no_progress_count": breaker.no_progress,
        "same_error_count": breaker.same_error,
        "last_error": breaker.last_errors.errors.first(),
        "denial_count": breaker.denials,
    })
}

fn last_decision(last: &Iteration) -> Value {
    let conclusion = last.conclusion.as_ref();
    json!({
        "iteration": last.number,
        "outcome": conclusion.map(|conclusion| conclusion.outcome),
        "refusal": conclusion.and_then(|conclusion| conclusion.refusal.as_deref()),
        "at": last.concluded_at,
    })
}

/// One entry of `ralph.history/1`.
pub fn iteration(iteration: &Iteration, run: u64) -> Value {
    let ended = iteration.ended.as_ref();
    let report = ended.map(|ended| &ended.report);
    let block = report.and_then(|report| report.block.as_ref());
    json!({
        "iteration": iteration.number,
        "run": run,
        "run_iteration": iteration.nth,
        "kind": iteration.kind.word(),
        "began_at": iteration.began_at,
        "concluded_at": iteration.concluded_at,
        "result": result_word(iteration),
        "outcome": iteration.conclusion.as_ref().map(|c| c.outcome),
        "words": iteration.conclusion.as_ref().map(|c| c.words.as_str()),
        "refusal": iteration.conclusion.as_ref().and_then(|c| c.refusal.as_deref()),
        "agent": ended.map(|ended| json!({
            "name": iteration.agent,
            "end": ended.end.to_string(),
            "duration_ms": ended.duration_ms,
            "leftovers": ended.leftovers,
            "failure": ended.failure(),
        })),
        "claims": block.map(|block| json!({
            "status": block.status,
            "tasks_completed": block.tasks,
            "files_modified": block.files,
            "tests_status": block.tests,
            "work_type": block.work_type,
            "exit_signal": block.exit_signal,
            "recommendation": block.recommendation,
        })),
        "own_files": iteration.own_files,
        "denied": report.map_or(&[][..], |report| &report.denied),
        "problems": report.map_or(&[][..], |report| &report.problems),
        "files_changed": iteration.after.as_ref().map(|after| after.changed_total),
        "files": iteration.after.as_ref().map_or(vec![], |after| {
            after.changed.iter().map(|change| json!({"change": change.kind, "path": change.path})).collect()
        }),
        "commits": iteration.after.as_ref().map(|after| after.commits),
        "tree_before": iteration.before.as_ref().map(|mark| &mark.tree),
        "tree_after": iteration.after.as_ref().map(|after| &after.tree),
        "checks": checks(&iteration.checks),
        "item": iteration.item.as_deref().map(item),
        "attempt": iteration.conclusion.as_ref().and_then(|c| c.attempt).map(|attempt| attempt.word()),
        "claimed": iteration.is_claimed(),
        "without_change": iteration.is_without_change(),
        "differences": iteration.conclusion.as_ref().map_or(&[][..], |c| &c.differences),
        "flags": iteration.conclusion.as_ref().map_or(&[][..], |c| &c.flags),
        "proof_flags": iteration.conclusion.as_ref().map_or(&[][..], |c| &c.proof_flags),
        "commit": iteration.settled.as_ref().and_then(|settled| settled.commit.as_ref()),
        "evidence": iteration.settled.as_ref().and_then(|settled| settled.evidence.as_ref()),
        "reverted": iteration.settled.as_ref().is_some_and(|settled| settled.reverted),
        "not_committed": iteration.settled.as_ref().map_or(&[][..], |settled| &settled.left),
        "committed_of_yours": iteration.after.as_ref().map_or(&[][..], |after| &after.taken),
        "tokens": report.map(|report| report.usage.total()),
        "cost_micro_usd": report.and_then(|report| report.cost_micro_usd),
    })
}

pub(super) fn checks(results: &[CheckResult]) -> Value {
    results.iter().map(check).collect()
}

pub(super) fn check(check: &CheckResult) -> Value {
    json!({
        "name": check.name,
        "command": shapes(&check.command),
        "passed": check.passed(),
        "end": check.end.to_string(),
        "failing": check.failing,
        "duration_ms": check.duration_ms,
    })
}
