//! The machine: orders the rules. It holds no rule of its own; what a rule knows, the rule keeps.
//!
//! An iteration goes: measure the tree, work, measure again, check (if the words say done), conclude.

use crate::agents::{self, Health};
use crate::decision::{
    Begin, Conclusion, Decision, Kind, Outcome, Phase, Proof, Reason, Rules, Stop, Verdict,
};
use crate::effect::{Effect, Ending};
use crate::event::{End, Event, Plan, Stamped, StopBy, When};
use crate::evidence::{self, Evidence};
use crate::gate::{self, Words};
use crate::limits;
use crate::prelude::*;
use crate::reviews;
use crate::state::{Iteration, State};
use crate::time::Time;

/// What follows from an event. Pure: the same state and event give the same decision.
pub fn decide(state: &State, stamped: &Stamped) -> Decision {
    let seen = &state.seeing(stamped);
    let now = stamped.at;
    let Some(plan) = seen.run.as_ref().map(|run| &run.plan) else {
        return halt(seen, Stop::Error { what: "the run's first record is missing".into() });
    };
    match &stamped.event {
        Event::RunStarted(_) => next_iteration(seen, plan, seen.rules, None),
        Event::RunResumed(_) => resume(seen, plan),
        _ if state.stop().is_some() => proceed(seen, "run", "the run has stopped"),
        Event::StopAsked { by } => stop_asked(seen, *by),
        Event::TreeMeasured(measured) => match measured.when {
            When::Before => start_agent(seen, &measured.tree),
            When::After => judge(seen, plan, now),
        },
        Event::MeasureFailed { error } => {
            halt(seen, Stop::Error { what: format!("the tree could not be measured: {error}") })
        }
        Event::AgentStarted { .. } => proceed(seen, "agent", "the agent is running"),
        Event::AgentNeverStarted => measure(seen, When::Before, "the agent had not been started yet"),
        Event::AgentEnded(_) => measure(seen, When::After, "the agent ended"),
        Event::CheckEnded(_) => judge(seen, plan, now),
        Event::DeadlinePassed => deadline_passed(seen, plan, now),
        Event::Unknown => proceed(seen, "run", "an event of a newer version"),
    }
}

/// When `deadline_passed` is due, if nothing else happens before.
pub fn deadline(state: &State) -> Option<Time> {
    let policy = &state.run.as_ref()?.plan.policy;
    let current = state.current.as_ref();
    match &state.phase {
        Phase::Waiting { until } => Some(*until),
        _ if current.is_some_and(|current| current.ending.is_some()) => None,
        Phase::Working => Some(current?.started_at?.plus(policy.agent_timeout_ms)),
        Phase::Checking => Some(current?.check_started_at?.plus(policy.check_timeout_ms)),
        _ => None,
    }
}

/// Takes a run up where its records end.
fn resume(seen: &State, plan: &Plan) -> Decision {
    match &seen.current {
        None => next_iteration(seen, plan, seen.rules, None),
        Some(current) if current.started_at.is_none() => {
            measure(seen, When::Before, "resumed before the agent started")
        }
        Some(current) if current.ended.is_none() => Decision {
            effects: vec![Effect::RecoverAgent],
            next: Phase::Working,
            ..proceed(seen, "run", "resumed: the agent was cut off")
        },
        Some(current) if current.after.is_none() => {
            measure(seen, When::After, "resumed after the agent ended")
        }
        // The claim is judged about the tree as it is now: somebody may have worked on it meanwhile.
        Some(_) => measure(seen, When::After, "resumed before the iteration was concluded"),
    }
}

fn stop_asked(seen: &State, by: StopBy) -> Decision {
    let why = match by {
        StopBy::Interrupt => "Ctrl-C",
        StopBy::Terminate => "asked to terminate",
    };
    let already = seen.current.as_ref().is_some_and(|current| current.ending.is_some());
    let effects = match seen.phase {
        Phase::Working if !already => vec![Effect::EndAgent { why: Ending::Stop }],
        Phase::Checking if !already => vec![Effect::EndCheck { why: Ending::Stop }],
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
        Phase::Waiting { .. } => next_iteration(seen, plan, seen.rules, None),
        Phase::Checking => end(Effect::EndCheck { why: Ending::Timeout }, "the check ran past its time"),
        _ => end(Effect::EndAgent { why: Ending::Timeout }, "the agent ran past its time"),
    }
}

fn measure(seen: &State, when: When, why: &str) -> Decision {
    Decision {
        effects: vec![Effect::MeasureTree { when }],
        next: Phase::Measuring { when },
        ..proceed(seen, "run", why)
    }
}

fn start_agent(seen: &State, tree: &str) -> Decision {
    if let Some(by) = seen.stop_asked {
        return halt(seen, stop_of(by));
    }
    let last = seen.last.as_ref().and_then(|last| last.after.as_ref());
    let mut rules = seen.rules;
    if seen.resumed && last.is_some_and(|last| last.tree != tree) {
        // Somebody worked on it while the run stood still: what was reviewed is not what is there.
        rules.reviews = rules.reviews.after_foreign_change();
    }
    Decision {
        rules,
        effects: vec![Effect::StartAgent],
        next: Phase::Working,
        ..proceed(seen, "run", "the tree is measured")
    }
}

/// The agent has ended and the tree is measured: are checks wanted, or can the iteration be concluded?
fn judge(seen: &State, plan: &Plan, now: Time) -> Decision {
    let Some((current, ended)) =
        seen.current.as_ref().and_then(|current| Some((current, current.ended.as_ref()?)))
    else {
        return proceed(seen, "run", "no iteration is under way");
    };
    if let Some(by) = seen.stop_asked
        && ended.end != End::Stopped
    {
        // The agent had ended by itself: its claim is judged when the run is taken up again.
        return halt(seen, stop_of(by));
    }
    let has_test_check = plan.checks.iter().any(|check| check.name == "test");
    let words = gate::judge(
        gate::Context { gate: plan.policy.gate, has_test_check, believes_contradictions: false },
        &ended.report,
    );
    let failure = ended.failure();
    if let Words::Done { why } = &words
        && failure.is_none()
        && let Some(check) = plan.checks.get(current.checks.len())
    {
        return Decision {
            effects: vec![Effect::RunCheck { check: check.clone() }],
            next: Phase::Checking,
            ..proceed(seen, "gate", &format!("claims done ({why}); running check {}", check.name))
        };
    }
    conclude(seen, plan, now, current, &words, failure.as_deref())
}

/// Every fact of the iteration is in: apply the rules in their order.
fn conclude(
    seen: &State,
    plan: &Plan,
    now: Time,
    current: &Iteration,
    words: &Words,
    failure: Option<&str>,
) -> Decision {
    let ended = current.ended.as_ref();
    let stopped = ended.is_some_and(|ended| matches!(ended.end, End::Stopped | End::Cut));
    let claimed = matches!(words, Words::Done { .. });
    let evidence = if claimed { evidence::judge(failure, &current.checks) } else { Evidence::default() };
    let outcome = match words {
        _ if stopped => Outcome::Interrupted,
        Words::Blocked { .. } => Outcome::Blocked,
        Words::Done { .. } if evidence.holds() => Outcome::Accepted,
        Words::Done { .. } => Outcome::Refused,
        _ if failure.is_some() => Outcome::Failed,
        Words::More { .. } => Outcome::More,
        Words::Silence => Outcome::Silent,
    };

    let needed = seen.reviews_needed();
    let opinion = match outcome {
        Outcome::Accepted => reviews::Outcome::Accepted,
        // A crash has no opinion, whatever was said before it; nor has silence.
        _ if failure.is_some() || outcome == Outcome::Silent => reviews::Outcome::NoOpinion,
        _ => reviews::Outcome::NotDone,
    };
    let (reviews, proved) = seen.rules.reviews.step(needed, opinion, current.progress());
    let (agents, health) = if stopped {
        // Neither the agent's failure nor its success.
        (seen.rules.agents, Health::Fine)
    } else {
        seen.rules.agents.step(agents_context(plan), failure.is_some())
    };
    let rules = Rules { reviews, agents };

    let mut reasons = reasons(words, failure, &evidence);
    if outcome == Outcome::Accepted {
        reasons.push(Reason::new("reviews", format!("{}/{needed} passes", reviews.passes.min(needed))));
    }
    let refusal = (outcome == Outcome::Refused).then(|| {
        let facts: Vec<&str> = evidence.failures().map(|condition| condition.fact.as_str()).collect();
        facts.join("; ")
    });
    let conclusion = Conclusion {
        outcome,
        words: said(words),
        evidence,
        refusal,
        passes: reviews.passes.min(needed),
        passes_needed: needed,
    };

    // The order of the rules: interrupt, blocked, proved complete, agents, then the limits of what comes next.
    let stop = match (seen.stop_asked, words, &health) {
        (Some(by), _, _) => Some(stop_of(by)),
        (_, Words::Blocked { why }, _) if !stopped => Some(Stop::Blocked { why: why.clone() }),
        _ if proved => Some(Stop::Complete { proof: proof(plan, needed) }),
        (_, _, Health::Exhausted) => Some(Stop::AgentsExhausted {
            failures: agents.failures,
            last: failure.unwrap_or("unknown").to_owned(),
        }),
        _ => None,
    };
    let decision = match (stop, health) {
        (Some(stop), _) => halt(seen, stop),
        (None, Health::BackOff(millis)) => match limits::judge(limit_context(seen, plan)) {
            Some(stop) => halt(seen, stop),
            None => wait(seen, now.plus(millis), agents.failures, millis),
        },
        (None, _) => next_iteration(seen, plan, rules, Some(current)),
    };
    reasons.extend(decision.reasons);
    Decision { reasons, rules, concluded: Some(conclusion), ..decision }
}

fn agents_context(plan: &Plan) -> agents::Context {
    agents::Context {
        max_failures: plan.policy.max_failures,
        backoff_ms: plan.policy.backoff_ms,
        max_backoff_ms: plan.policy.max_backoff_ms,
    }
}

fn wait(seen: &State, until: Time, failures: u32, millis: u64) -> Decision {
    let why = format!("failure {failures} in a row: waiting {}", crate::time::duration(millis));
    Decision { verdict: Verdict::Wait, next: Phase::Waiting { until }, ..proceed(seen, "agents", &why) }
}

fn reasons(words: &Words, failure: Option<&str>, evidence: &Evidence) -> Vec<Reason> {
    let mut reasons = vec![Reason::new("gate", said(words))];
    if evidence.conditions.is_empty() {
        reasons.extend(failure.map(|failure| Reason::new("agent", failure)));
    }
    reasons
        .extend(evidence.conditions.iter().map(|condition| Reason::new("evidence", condition.fact.clone())));
    reasons
}

fn said(words: &Words) -> String {
    match words {
        Words::Done { why } => format!("claims done: {why}"),
        Words::Blocked { why } => format!("says blocked: {why}"),
        Words::More { why } => format!("not done: {why}"),
        Words::Silence => "no report: not a vote".into(),
    }
}

fn proof(plan: &Plan, reviews_needed: u32) -> Proof {
    match (plan.checks.is_empty(), reviews_needed) {
        (false, _) => Proof::Checks,
        (true, 1..) => Proof::Reviews,
        (true, 0) => Proof::Words,
    }
}

fn limit_context(seen: &State, plan: &Plan) -> limits::Context {
    limits::Context { used_iterations: seen.used, max_iterations: plan.policy.max_iterations }
}

/// Before an iteration, before anything is spent: interrupt, then the limits.
fn next_iteration(seen: &State, plan: &Plan, rules: Rules, after: Option<&Iteration>) -> Decision {
    if let Some(by) = seen.stop_asked {
        return halt(seen, stop_of(by));
    }
    if let Some(stop) = limits::judge(limit_context(seen, plan)) {
        return halt(seen, stop);
    }
    let kind = if rules.reviews.reviewing { Kind::Review } else { Kind::Work };
    // What checks wrote is not the next agent's doing, so the tree is settled only where none ran.
    let before = after.filter(|after| after.checks.is_empty()).and(seen.settled.clone());
    let (effect, next) = match &before {
        Some(_) => (Effect::StartAgent, Phase::Working),
        None => (Effect::MeasureTree { when: When::Before }, Phase::Measuring { when: When::Before }),
    };
    let (number, nth) = (seen.iteration.saturating_add(1), seen.used.saturating_add(1));
    Decision {
        verdict: Verdict::Continue,
        effects: vec![effect],
        next,
        begins: Some(Begin {
            number,
            nth,
            kind,
            agent: plan.agent.name.clone(),
            format: plan.agent.format,
            before,
        }),
        ..proceed(seen, "run", &format!("iteration {nth} begins"))
    }
}

fn stop_of(by: StopBy) -> Stop {
    match by {
        StopBy::Interrupt => Stop::Interrupted,
        StopBy::Terminate => Stop::Terminated,
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
        rules: seen.rules,
        concluded: None,
        begins: None,
    }
}

#[cfg(test)]
pub(crate) mod tests;
