//! `ralph.event/1`: what `ralph run --json` tells while a run goes on, one object a line.

use serde_json::{Value, json};

use super::json::{check, checks, flags, item};
use super::{ended, flagged, result_word};
use crate::check::CheckSpec;
use crate::decision::{Decision, Phase, Stop};
use crate::effect::Effect;
use crate::event::{AgentEnded, ChangedPath, Event};
use crate::items::Settled;
use crate::journal::{Body, Record};
use crate::prelude::*;
use crate::redact::shapes;
use crate::state::{Iteration, State};
use crate::time::Time;

/// What differs between the tree before a run and the one it left, where agents touched it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RunChanges {
    /// Bounded.
    pub paths: Vec<ChangedPath>,
    pub total: u64,
}

/// What a record means to somebody who watches; in this order. How a run stopped is told by [`stopped`].
pub fn of(state: &State, record: &Record) -> Vec<Value> {
    let Body::Step { event, decision } = &record.body else { return vec![] };
    let at = record.at;
    let mut events = Vec::new();
    match event {
        Event::RunStarted(_) => events.extend(begun(state, at, false)),
        Event::RunResumed(_) => events.extend(begun(state, at, true)),
        Event::AgentEnded(ended) => {
            // The state knows whether we asked it to end.
            let known = state.current.as_ref().and_then(|current| current.ended.as_ref());
            events.push(agent_ended(state, at, known.unwrap_or(ended)));
        }
        Event::CheckEnded(result) => {
            let mut event = about(state, at, "check_ended");
            // The state has gone on already: to the next iteration, or from the checks before the first to that.
            if decision.concluded.is_some() {
                event["iteration"] = state.last.as_ref().map(|last| last.number).into();
            } else if decision.begins.is_some() {
                event["iteration"] = Value::Null;
            }
            event["check"] = check(result);
            events.push(event);
        }
        Event::Settled(settled) => {
            events.extend(state.last.as_ref().map(|last| settlement(state, at, last, settled)));
        }
        Event::NoteAdded { text, .. } => {
            let mut event = about(state, at, "note");
            event["text"] = text.as_str().into();
            events.push(event);
        }
        _ => {}
    }
    if decision.concluded.is_some()
        && let Some(last) = &state.last
    {
        events.push(decided(state, at, last, decision));
    }
    if let Phase::Waiting { until, why } = &decision.next
        && !matches!(event, Event::NoteAdded { .. })
    {
        let mut event = about(state, at, "waiting");
        (event["until"], event["why"]) = (json!(until), why.as_str().into());
        events.push(event);
    }
    if let (Some(_), Some(current)) = (&decision.begins, &state.current) {
        let mut event = about(state, at, "iteration_started");
        event["run_iteration"] = current.nth.into();
        event["kind"] = current.kind.word().into();
        event["agent"] = current.agent.as_str().into();
        event["item"] = current.item.as_deref().map(item).into();
        events.push(event);
    }
    for effect in &decision.effects {
        if let Effect::RunCheck { check } = effect {
            let mut event = about(state, at, "check_started");
            (event["name"], event["command"]) = (check.name.as_str().into(), shapes(&check.command).into());
            events.push(event);
        }
    }
    events
}

/// The agent of the current iteration used a tool.
pub fn tool(state: &State, at: Time, name: &str, target: Option<&str>) -> Value {
    let mut event = about(state, at, "tool");
    (event["name"], event["target"]) = (name.into(), target.into());
    event
}

/// The last one of a run: why it stopped, and all that came of it.
pub fn stopped(state: &State, stop: &Stop, changes: Option<&RunChanges>, at: Time) -> Value {
    let mut event = about(state, at, "stop");
    event["iteration"] = state.last.as_ref().map(|last| last.number).into();
    let more = json!({
        "stop_reason": stop.word(),
        "text": ended(state, stop),
        "exit_code": stop.exit_code(),
        "proof": stop.proof().map(|proof| proof.word()),
        "proof_flags": flagged::of_stop(state, stop),
        "iterations": state.used,
        "duration_ms": state.active_ms,
        "agent_ms": state.totals.agent_ms,
        "tokens": state.totals.usage.total(),
        "cost_micro_usd": state.totals.cost_micro_usd,
        "iterations_without_cost": state.totals.without_cost,
        "commits": state.totals.commits.saturating_add(state.own_commits()),
        "commits_by_agents": state.totals.commits,
        "items": state.backlog.as_ref().map(|backlog| json!({
            "passed": state.rules.items.passed,
            "unchecked": state.rules.items.unchecked,
            "without_change": state.rules.items.without_change,
            "open": backlog.items.open,
            "total": backlog.items.total,
        })),
        "files_changed": changes.map(|changes| changes.total),
        "files": changes.map_or(vec![], |changes| changes.paths.iter().map(path).collect()),
        "checks": state.last.as_ref().map_or_else(|| json!([]), |last| checks(&last.checks)),
        "flags": flags(state),
    });
    add(&mut event, more);
    event
}

/// What kept a run from going on, or from beginning.
pub fn failed(at: Time, what: &str, why: Option<&str>, hints: &[String], exit_code: u8) -> Value {
    json!({
        "schema": SCHEMA, "at": at, "type": "error", "run": null, "iteration": null,
        "what": what, "why": why, "hints": hints, "exit_code": exit_code,
    })
}

const SCHEMA: &str = "ralph.event/1";

/// What every event has.
fn about(state: &State, at: Time, kind: &str) -> Value {
    json!({
        "schema": SCHEMA,
        "at": at,
        "type": kind,
        "run": state.run.as_ref().map(|run| run.number),
        "iteration": state.current.as_ref().map(|current| current.number),
    })
}

fn add(event: &mut Value, more: Value) {
    if let (Some(event), Value::Object(more)) = (event.as_object_mut(), more) {
        event.extend(more);
    }
}

fn begun(state: &State, at: Time, resumed: bool) -> Option<Value> {
    let run = state.run.as_ref()?;
    let command = |check: &CheckSpec| json!({"name": check.name, "command": shapes(&check.command)});
    let mut event = about(state, at, "run_started");
    let more = json!({
        "id": run.id,
        "goal": run.goal,
        "resumed": resumed,
        "profile": run.plan.policy.profile,
        "max_iterations": run.plan.policy.max_iterations,
        "agents": run.plan.agents.iter().map(|agent| agent.name.as_str()).collect::<Vec<_>>(),
        "checks": run.plan.checks.iter().map(command).collect::<Vec<_>>(),
        "checks_left_out": run.plan.left_out.iter().map(command).collect::<Vec<_>>(),
        "done_needed": state.reviews_needed(),
    });
    // It may have begun an iteration, which is the next event's to say.
    event["iteration"] = Value::Null;
    add(&mut event, more);
    Some(event)
}

fn agent_ended(state: &State, at: Time, ended: &AgentEnded) -> Value {
    let mut event = about(state, at, "agent_ended");
    let more = json!({
        "end": ended.end.to_string(),
        "failure": ended.failure(),
        "duration_ms": ended.duration_ms,
        "tools": ended.report.tools,
        "denied": ended.report.denied,
        "tokens": ended.report.usage.total(),
        "cost_micro_usd": ended.report.cost_micro_usd,
        "leftovers": ended.leftovers,
    });
    add(&mut event, more);
    event
}

fn decided(state: &State, at: Time, last: &Iteration, decision: &Decision) -> Value {
    let mut event = about(state, at, "decision");
    event["iteration"] = last.number.into();
    let conclusion = last.conclusion.as_ref();
    let after = last.after.as_ref();
    let reason = |reason: &crate::decision::Reason| json!({"rule": reason.rule, "text": reason.text});
    let more = json!({
        "result": result_word(last),
        "outcome": conclusion.map(|conclusion| conclusion.outcome),
        "words": conclusion.map(|conclusion| conclusion.words.as_str()),
        "refusal": conclusion.and_then(|conclusion| conclusion.refusal.as_deref()),
        "reasons": decision.reasons.iter().map(reason).collect::<Vec<_>>(),
        "warnings": conclusion.map_or(&[][..], |conclusion| &conclusion.warnings),
        "done_count": conclusion.map_or(0, |conclusion| conclusion.passes),
        "done_needed": conclusion.map_or(0, |conclusion| conclusion.passes_needed),
        "files_changed": after.map(|after| after.changed_total),
        "commits": after.map(|after| after.commits),
        "attempt": conclusion.and_then(|conclusion| conclusion.attempt).map(|attempt| attempt.word()),
        "differences": conclusion.map_or(&[][..], |conclusion| &conclusion.differences),
        "flags": conclusion.map_or(&[][..], |conclusion| &conclusion.flags),
    });
    add(&mut event, more);
    event
}

/// What was recorded, committed or put back when an attempt was over.
fn settlement(state: &State, at: Time, last: &Iteration, settled: &Settled) -> Value {
    let mut event = about(state, at, "settled");
    event["iteration"] = last.number.into();
    let attempt = last.conclusion.as_ref().and_then(|conclusion| conclusion.attempt);
    let more = json!({
        "item": last.item.as_deref().map(item),
        "attempt": attempt.map(|attempt| attempt.word()),
        "claimed": last.item.is_some() && last.is_claimed(),
        "without_change": last.item.is_some() && last.is_without_change(),
        "commit": settled.commit,
        "evidence": settled.evidence,
        "reverted": settled.reverted,
        "not_committed": settled.left,
        "problems": settled.problems,
    });
    add(&mut event, more);
    event
}

fn path(changed: &ChangedPath) -> Value {
    json!({"change": changed.kind, "path": changed.path})
}
