//! The machine: orders the rules. It holds no rule of its own; what a rule knows, the rule keeps.
//!
//! Before the first iteration the checks are run once. An iteration goes: measure the tree, work, measure again,
//! check (if the words say done), conclude.

mod begin;
mod conclude;
mod items;
mod park;

use crate::check::CheckSpec;
use crate::decision::{Decision, Phase, Reason, Stop, Verdict};
use crate::effect::{Effect, Ending};
use crate::event::{End, Event, Plan, Stamped, StopBy, When};
use crate::journal::{Body, Record};
use crate::limits::{self, Left, Resource};
use crate::own_files;
use crate::prelude::*;
use crate::profile::{Policy, Todos};
use crate::state::{Iteration, State, observe, take_over};
use crate::time::{self, Time};
pub use begin::unnamed_failure;
use begin::{Selection, next_iteration};
pub use conclude::unread_claim;
use conclude::{conclude, wants_evidence, words_of};

/// What follows from an event. Pure: the same state and event give the same decision.
pub fn decide(state: &State, stamped: &Stamped) -> Decision {
    let seen = observe(state.clone(), stamped.at, &stamped.event);
    decide_seen(state.stop(), &seen, stamped)
}

/// `decide` and `apply` in one, without a copy of the state: for those who need no state that was not yet written.
pub(crate) fn step(state: State, stamped: Stamped) -> (State, Record) {
    let (seq, at) = (state.seq + 1, stamped.at);
    let stopped = state.stop().cloned();
    let seen = observe(state, at, &stamped.event);
    let decision = decide_seen(stopped.as_ref(), &seen, &stamped);
    let state = take_over(seen, seq, at, &decision);
    (state, Record { seq, at, body: Body::Step { event: stamped.event, decision } })
}

/// `stopped`: how the run had stopped before the event; `seen`: the state that knows of the event.
fn decide_seen(stopped: Option<&Stop>, seen: &State, stamped: &Stamped) -> Decision {
    let now = stamped.at;
    let Some(plan) = seen.run.as_ref().map(|run| &run.plan) else {
        return halt(seen, Stop::Error { what: "the run's first record is missing".into() });
    };
    match &stamped.event {
        Event::RunStarted(_) => next_iteration(seen, plan, now, None, Selection::None),
        Event::RunResumed(_) => resume(seen, plan, now),
        Event::CircuitReset => proceed(seen, "breaker", "closed by the user"),
        Event::RunClosed if !matches!(stopped, Some(Stop::Complete { .. })) => halt(seen, Stop::Closed),
        Event::TreePutBack(put_back) => proceed(seen, "user", &put_back.to_string()),
        Event::NoteAdded { .. } => proceed(seen, "user", "a note for the next prompt"),
        _ if stopped.is_some() => proceed(seen, "run", "the run has stopped"),
        Event::StopAsked { by } => stop_asked(seen, *by),
        Event::OwnFilesTouched { touches } => match own_files::judge(seen, touches) {
            Some(what) => halt(seen, Stop::Error { what }),
            None => proceed(seen, "safety", &own_files::describe(seen, touches).join("; ")),
        },
        Event::TreeMeasured(measured) => match measured.when {
            When::Before => start_agent(seen, &measured.tree),
            When::After => judge(seen, plan, now),
        },
        Event::MeasureFailed { error } => measure_failed(seen, error),
        Event::AgentStarted { .. } => proceed(seen, "agent", "the agent is running"),
        Event::AgentSilent { for_ms } => agent_silent(seen, *for_ms),
        Event::UsageSeen { tokens, micro_usd } => usage_seen(seen, *tokens, *micro_usd),
        Event::AgentNeverStarted => next_iteration(seen, plan, now, None, Selection::None),
        Event::AgentEnded(_) => measure_after(seen, plan, "the agent ended"),
        Event::CheckEnded(_) if seen.current.is_none() => {
            next_iteration(seen, plan, now, None, Selection::None)
        }
        Event::CheckEnded(_) => judge(seen, plan, now),
        Event::BacklogRead(read) => items::selected(seen, plan, now, read),
        Event::ItemMarked { problem } => items::marked(seen, problem.as_deref()),
        Event::Settled(_) => items::settled(seen, plan, now),
        Event::DeadlinePassed => deadline_passed(seen, plan, now),
        Event::Slept { .. } => proceed(seen, "run", "the machine slept, which no time limit counts"),
        Event::RunClosed => proceed(seen, "run", "the run is complete already"),
        Event::Unknown => proceed(seen, "run", "an event of a newer version"),
    }
}

/// When `deadline_passed` is due, if nothing else happens before.
pub fn deadline(state: &State) -> Option<Time> {
    let Plan { policy, until, .. } = &state.run.as_ref()?.plan;
    let (ending, check_started_at) = match &state.current {
        Some(current) => (current.ending, current.check_started_at),
        None => (state.baseline.ending, state.baseline.check_started_at),
    };
    match &state.phase {
        Phase::Waiting { until, .. } => Some(*until),
        _ if ending.is_some() => None,
        Phase::Working => {
            let current = state.current.as_ref()?;
            let (allowed_ms, _) = allowed(policy, current);
            let over = current.started_at?.plus(allowed_ms).plus(state.asleep_ms);
            Some(until.map_or(over, |until| until.min(over)))
        }
        Phase::Checking => Some(check_started_at?.plus(policy.check_timeout_ms).plus(state.asleep_ms)),
        _ => None,
    }
}

/// How long the agent of an iteration may work, and why it is ended then. Where the run's time is over before its own, it did
/// nothing wrong: the run ends, and the agent with it.
pub(crate) fn allowed(policy: &Policy, current: &Iteration) -> (u64, Ending) {
    match limits::time_left(&policy.budget, current.active_before_ms) {
        Some(left) if left <= policy.agent_timeout_ms => (left, Ending::Stop),
        _ => (policy.agent_timeout_ms, Ending::Timeout),
    }
}

/// After how long a silence of the running agent `agent_silent` is to be told. Checks have none: test suites and
/// linkers are quiet by nature, and cost no more than the time that `check_timeout` allows.
pub fn silence(state: &State) -> Option<u64> {
    let policy = &state.run.as_ref()?.plan.policy;
    Some(policy.idle_timeout_ms).filter(|ms| is_agent_at_work(state) && *ms > 0)
}

/// What the running agent may still use. `usage_seen` is to be told when it reaches that before its end.
pub fn left(state: &State) -> Left {
    match state.run.as_ref().filter(|_| is_agent_at_work(state)) {
        Some(run) => Left::of(&run.plan.policy.budget, state.spent()),
        None => Left::default(),
    }
}

/// Whether an agent runs that has not been asked to end.
fn is_agent_at_work(state: &State) -> bool {
    let current = state.current.as_ref().filter(|_| state.phase == Phase::Working);
    current.is_some_and(|current| current.ended.is_none() && current.ending.is_none())
}

/// Takes a run up where its records end.
fn resume(seen: &State, plan: &Plan, now: Time) -> Decision {
    if let Phase::Settling { settlement, then } = &seen.phase {
        // Whoever was cut off while settling does it again: what is there already is found.
        return items::settle(seen, (**settlement).clone(), then.as_deref().cloned());
    }
    match &seen.current {
        None => next_iteration(seen, plan, now, None, Selection::None),
        Some(current) if current.ended.is_none() => Decision {
            effects: vec![Effect::RecoverAgent],
            next: Phase::Working,
            ..proceed(seen, "run", "resumed: the agent was cut off")
        },
        // The claim is judged about the tree as it is now: somebody may have worked on it meanwhile.
        Some(_) => measure_after(seen, plan, "resumed before the iteration was concluded"),
    }
}

fn stop_asked(seen: &State, by: StopBy) -> Decision {
    let why = match by {
        StopBy::Interrupt => "Ctrl-C",
        StopBy::Terminate => "asked to terminate",
        StopBy::Request => "asked to stop after this iteration",
    };
    let (working, already) = match &seen.current {
        Some(current) => (true, current.ending.is_some()),
        None => (false, seen.baseline.ending.is_some()),
    };
    let effects = match seen.phase {
        _ if already || (working && by == StopBy::Request) => vec![],
        Phase::Working => vec![Effect::EndAgent { why: Ending::Stop }],
        Phase::Checking => vec![Effect::EndCheck { why: Ending::Stop }],
        Phase::Waiting { .. } | Phase::Fresh => return halt(seen, stop_of(by)),
        _ => vec![],
    };
    Decision { effects, ..proceed(seen, "interrupt", why) }
}

fn deadline_passed(seen: &State, plan: &Plan, now: Time) -> Decision {
    if deadline(seen).is_none_or(|due| now < due) {
        return proceed(seen, "limits", "no deadline is due");
    }
    let end = |effect, what: &str| Decision { effects: vec![effect], ..proceed(seen, "limits", what) };
    match seen.phase {
        Phase::Waiting { .. } => next_iteration(seen, plan, now, None, Selection::None),
        Phase::Checking => end(Effect::EndCheck { why: Ending::Timeout }, "the check ran past its time"),
        _ if plan.until.is_some_and(|until| now >= until) => {
            end(Effect::EndAgent { why: Ending::Stop }, "the run ends now, as asked (until)")
        }
        _ => match seen.current.as_ref().map(|current| allowed(&plan.policy, current)) {
            Some((_, why @ Ending::Stop)) => {
                end(Effect::EndAgent { why }, "the run's time is over (max_time)")
            }
            _ => end(Effect::EndAgent { why: Ending::Timeout }, "the agent ran past its time"),
        },
    }
}

fn agent_silent(seen: &State, for_ms: u64) -> Decision {
    match silence(seen).filter(|most| for_ms >= *most) {
        None => proceed(seen, "limits", "no silence is too long"),
        Some(ms) => Decision {
            effects: vec![Effect::EndAgent { why: Ending::Idle { ms } }],
            ..proceed(
                seen,
                "limits",
                &format!("the agent said nothing for {} (idle_timeout)", time::span(ms)),
            )
        },
    }
}

/// The budget is used up in the middle of an iteration: the run ends, and the agent with it.
fn usage_seen(seen: &State, tokens: u64, micro_usd: Option<u64>) -> Decision {
    let why = match left(seen).exceeded(tokens, micro_usd) {
        None | Some(Resource::Time) => return proceed(seen, "limits", "no limit is reached"),
        Some(Resource::Money) => "the run's money is used up (budget)",
        Some(Resource::Tokens) => "the run's tokens are used up (max_tokens)",
    };
    Decision { effects: vec![Effect::EndAgent { why: Ending::Stop }], ..proceed(seen, "limits", why) }
}

/// Where done is claimed, or may come of itself, somebody also looks for what the run left to do.
fn measure_after(seen: &State, plan: &Plan, why: &str) -> Decision {
    let claimed = seen.current.as_ref().is_some_and(|current| wants_evidence(seen, plan, current));
    let may_end = claimed || plan.policy.saturation.may_complete();
    let base = seen.base.as_ref().filter(|_| may_end && plan.policy.todos != Todos::Off);
    measure(seen, When::After, base.map(|base| base.tree.clone()), why)
}

fn measure(seen: &State, when: When, todos_since: Option<String>, why: &str) -> Decision {
    Decision {
        effects: vec![Effect::MeasureTree { when, todos_since }],
        next: Phase::Measuring { when },
        ..proceed(seen, "run", why)
    }
}

/// Whoever asked to stop had a measurement end that would have gone on: that is no fault, and the next start measures again.
fn measure_failed(seen: &State, error: &str) -> Decision {
    let what = format!("the tree could not be measured: {error}");
    let Some(by) = seen.stop_asked.filter(|by| *by != StopBy::Request) else {
        return halt(seen, Stop::Error { what });
    };
    let mut decision = halt(seen, stop_of(by));
    decision.reasons.push(Reason::new("interrupt", what));
    decision
}

fn start_agent(seen: &State, tree: &str) -> Decision {
    if let Some(by) = seen.stop_asked {
        return halt(seen, stop_of(by));
    }
    let mut rules = seen.rules.clone();
    let known = |last: &&Iteration| seen.resumed || last.checks.is_empty();
    let last = seen.last.as_deref().filter(known).and_then(|last| last.after.as_ref());
    if last.is_some_and(|last| last.tree != tree) {
        // Somebody worked on it while the run stood still or waited: what was reviewed is not what is there.
        rules.reviews = rules.reviews.after_foreign_change();
    }
    let measured = "the tree is measured";
    let decision = match seen.current.as_ref().and_then(|current| current.item.as_deref()) {
        // Marked only now, so that the mark is not taken for somebody's uncommitted work.
        Some(item) => Decision {
            effects: vec![Effect::MarkItem { id: item.id.clone() }],
            next: Phase::Selecting,
            ..proceed(seen, "run", measured)
        },
        None => start(seen, measured),
    };
    Decision { rules, ..decision }
}

fn start(seen: &State, why: &str) -> Decision {
    Decision { effects: vec![Effect::StartAgent], next: Phase::Working, ..proceed(seen, "run", why) }
}

/// The agent has ended and the tree is measured: are checks wanted, or can the iteration be concluded?
fn judge(seen: &State, plan: &Plan, now: Time) -> Decision {
    let Some(current) = seen.current.as_ref().filter(|current| current.ended.is_some()) else {
        return proceed(seen, "run", "no iteration is under way");
    };
    let by_itself = current.ended.as_ref().is_some_and(|ended| ended.end != End::Stopped);
    if let Some(by) = seen.stop_asked.filter(|by| *by != StopBy::Request)
        && by_itself
    {
        // The agent had ended by itself: its claim is judged when the run is taken up again.
        return halt(seen, stop_of(by));
    }
    if wants_evidence(seen, plan, current)
        && let Some(check) = seen.checks_for(plan, current.item.as_deref()).nth(current.checks.len())
    {
        let said = words_of(plan, current).describe();
        return run_check(seen, check, &format!("{said}; running check {}", check.name));
    }
    conclude(seen, plan, now, current)
}

fn run_check(seen: &State, check: &CheckSpec, why: &str) -> Decision {
    Decision {
        effects: vec![Effect::RunCheck { check: check.clone() }],
        next: Phase::Checking,
        ..proceed(seen, "evidence", why)
    }
}

fn stop_of(by: StopBy) -> Stop {
    match by {
        StopBy::Interrupt => Stop::Interrupted,
        StopBy::Terminate => Stop::Terminated,
        StopBy::Request => Stop::Stopped,
    }
}

fn halt(seen: &State, stop: Stop) -> Decision {
    let reason = stop.to_string();
    Decision { verdict: Verdict::Halt, next: Phase::Halted { stop }, ..proceed(seen, "stop", &reason) }
}

/// The iteration goes on, and of itself nothing changes.
fn proceed(seen: &State, rule: &str, why: &str) -> Decision {
    Decision {
        verdict: Verdict::Proceed,
        reasons: vec![Reason::new(rule, why)],
        effects: vec![],
        next: seen.phase.clone(),
        rules: seen.rules.clone(),
        concluded: None,
        begins: None,
    }
}

#[cfg(test)]
pub(crate) mod tests;
