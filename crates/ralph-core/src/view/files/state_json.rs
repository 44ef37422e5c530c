//! `state.json`: the same for machines. The keys of seed 004's template and of its sample, and a few of ours.

use serde_json::{Value, json};

use super::{Tasks, current_id, current_title, phase};
use crate::breaker::{Breaker, Circuit};
use crate::decision::{Early, Outcome, Stop};
use crate::prelude::*;
use crate::report::IterationReport;
use crate::report::dialects::Vote;
use crate::saturation::Saturation;
use crate::state::State;
use crate::view::status_word;

/// `ralph.state/1`
pub fn state_json(state: &State) -> Value {
    let tasks = Tasks::of(state);
    let report = state.last.as_ref().and_then(|last| last.ended.as_ref()).map(|ended| &ended.report);
    let blocker = blocker(state);
    let stack = state.run.as_ref().and_then(|run| run.plan.stack.as_ref());
    json!({
        "schema": "ralph.state/1",
        "iteration": state.iteration,
        "run_iteration": state.used,
        "phase": phase(state),
        "current_task_id": current_id(state),
        "current_task_status": tasks.status,
        "current_task": current_title(state),
        "tasks": {
            "total": tasks.total(),
            "done": tasks.done,
            "in_progress": tasks.in_progress,
            "todo": tasks.todo,
        },
        "tasks_completed": tasks.done,
        "tasks_remaining": tasks.remaining(),
        "phases": phases(state),
        "tech_stack": {
            "language": stack.map(|stack| &stack.language),
            "detected_from": stack.map(|stack| &stack.detected_from),
        },
        "last_updated": state.updated_at,
        "exit_signal": report.is_some_and(declares_done),
        "completion_indicators": report.map_or(0, |report| report.indicators.count),
        "last_iteration_status": state.last.as_ref().map(|last| marker(state, last.outcome())),
        "status": status_word(state, true),
        "blocked": blocker.is_some(),
        "blocker_reason": blocker,
        "circuit_breaker": circuit_breaker(&state.rules.breaker, report.map_or(0, |report| report.words)),
        "exit_conditions": exit_conditions(state.rules.saturation),
    })
}

/// The current one, and `<phase>_complete` for each.
fn phases(state: &State) -> Value {
    let mut phases = json!({"current": phase(state)});
    for phase in state.backlog.iter().flat_map(|backlog| &backlog.phases) {
        phases[format!("{}_complete", phase.name)] = (phase.items.open == 0).into();
    }
    phases
}

/// Whether the agent said so itself, in whichever dialect.
fn declares_done(report: &IterationReport) -> bool {
    let done = |vote: &Vote| matches!(vote, Vote::Done { .. });
    match &report.block {
        Some(block) => block.exit_signal,
        None => report.sayings.iter().any(|saying| done(&saying.vote)),
    }
}

/// Why a person is needed; an open circuit, unless it was closed since, in seed 004's words.
fn blocker(state: &State) -> Option<String> {
    match state.stop()? {
        Stop::Blocked { why } => Some(why.clone()),
        Stop::CircuitOpen { why, .. } if state.rules.breaker.circuit == Circuit::Open => {
            Some(format!("circuit_breaker_open - {why}"))
        }
        _ => None,
    }
}

/// Seed 004's word for what the loop does after an iteration. A claim that is still to be reviewed goes on.
fn marker(state: &State, last: Option<Outcome>) -> String {
    match (state.stop(), last) {
        (Some(Stop::Complete { early: Some(Early::Phase { number, .. }), .. }), _) => {
            return format!("LOOP_COMPLETE_PHASE_{number}");
        }
        (Some(Stop::Complete { .. }), _) => "LOOP_COMPLETE",
        (_, Some(Outcome::Blocked)) => "LOOP_BLOCKED",
        _ if blocker(state).is_some() => "LOOP_BLOCKED",
        _ => "LOOP_CONTINUE",
    }
    .into()
}

fn circuit_breaker(breaker: &Breaker, output: u64) -> Value {
    json!({
        "state": match breaker.circuit {
            Circuit::Closed => "closed",
            Circuit::HalfOpen => "half-open",
            Circuit::Open => "open",
        },
        "no_progress_count": breaker.no_progress,
        "same_error_count": breaker.same_error,
        "last_error": breaker.last_errors.errors.first(),
        "last_output_size": output,
        "opened_at": breaker.opened_at,
        "reason": breaker.reason,
    })
}

fn exit_conditions(saturation: Saturation) -> Value {
    json!({
        "consecutive_test_loops": saturation.test_loops,
        "consecutive_done_signals": saturation.done_signals,
        "total_iterations": saturation.iterations,
        "test_only_iterations": saturation.test_iterations,
        "test_percentage": saturation.test_percentage(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_circuit_is_spelled_as_in_the_template() {
        for (circuit, word) in
            [(Circuit::Closed, "closed"), (Circuit::HalfOpen, "half-open"), (Circuit::Open, "open")]
        {
            let mut state = State::default();
            state.rules.breaker.circuit = circuit;
            assert_eq!(state_json(&state)["circuit_breaker"]["state"], word);
        }
    }

    #[test]
    fn before_the_first_iteration_nothing_is_claimed() {
        let json = state_json(&State::default());
        assert_eq!((&json["last_iteration_status"], &json["exit_signal"]), (&Value::Null, &false.into()));
        assert_eq!((&json["completion_indicators"], &json["blocked"]), (&0.into(), &false.into()));
    }
}
