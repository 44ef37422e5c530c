//! Before an iteration, before anything is spent: interrupt, breaker, limits, agents. Then the checks, if nobody has
//! looked at them yet.

use super::{halt, items, proceed, run_check, stop_of};
use crate::agents::{Next, Role};
use crate::check::{self, CheckResult, CheckSpec, failing};
use crate::decision::{Begin, Decision, Kind, Outcome, Phase, Reason, Rules, Stop, Verdict};
use crate::detect::CHECKS;
use crate::effect::Effect;
use crate::event::{End, Plan, When};
use crate::items::Work;
use crate::limits;
use crate::prelude::*;
use crate::profile;
use crate::state::{Iteration, State};
use crate::text;
use crate::time::{self, Time};

/// An iteration that was just concluded: what it came to and what the rules know now.
pub(super) struct Concluded<'a> {
    pub(super) iteration: &'a Iteration,
    pub(super) outcome: Outcome,
    pub(super) rules: Rules,
}

/// What a backlog has handed out.
#[derive(Debug, Clone, Copy)]
pub(super) enum Selection<'a> {
    /// Nobody has asked it yet.
    None,
    Item(&'a Work),
    /// No item is left: the whole is looked at.
    Whole,
}

pub(super) fn next_iteration(
    seen: &State,
    plan: &Plan,
    now: Time,
    after: Option<Concluded<'_>>,
    selection: Selection<'_>,
) -> Decision {
    let mut rules = after.as_ref().map_or_else(|| seen.rules.clone(), |after| after.rules.clone());
    // A limit is not a counted iteration.
    let limited = after.as_ref().is_some_and(|after| after.outcome == Outcome::Limited);
    let used = seen.used.saturating_sub(u64::from(limited));
    let policy = &plan.policy;
    let budget = limits::Context {
        iterations: used,
        max_iterations: plan.most_iterations(),
        used: seen.spent(),
        budget: &policy.budget,
        until: plan.until,
    };
    let with = |rules: Rules, decision: Decision| Decision { rules, ..decision };

    if let Some(by) = seen.stop_asked {
        return with(rules, halt(seen, stop_of(by)));
    }
    if let Selection::Item(work) = selection
        && !is_about(seen, work)
    {
        rules.breaker = rules.breaker.for_another_item();
        rules.questions = Default::default();
    }
    let guarded = match rules.breaker.guard(now, seen.probe) {
        Err(open) => {
            return with(rules, halt(seen, Stop::CircuitOpen { why: open.reason, probe_at: open.probe_at }));
        }
        Ok(guarded) => guarded,
    };
    if let Some(stop) = limits::judge(budget, now) {
        return with(rules, halt(seen, stop));
    }
    match selection {
        // An open item is worked on, whatever was reviewed before.
        Selection::Item(_) => rules.reviews = Default::default(),
        // The whole is doubted first. From then on it goes as with a goal: who was refused, or found more to do, works.
        Selection::Whole => rules.reviews.reviewing |= seen.reviews_needed() > 0 && !is_about_the_whole(seen),
        Selection::None => {}
    }
    let kind = if rules.reviews.reviewing { Kind::Review } else { Kind::Work };
    let roles: Vec<Role> = plan.agents.iter().map(|agent| agent.role).collect();
    let (agents, next) = rules.agents.choose(policy, now, kind, &roles);
    let agent = match next {
        Next::Agent(agent) => agent,
        Next::Nobody { failures, why } => {
            return with(rules, halt(seen, Stop::AgentsExhausted { failures, last: why }));
        }
        Next::Wait { until, why } => {
            let decision = match limits::wait(budget, now, until) {
                Some(stop) => halt(seen, stop),
                None => wait(seen, now, until, &why),
            };
            return with(rules, decision);
        }
    };
    match (&plan.boot, &seen.baseline.boot) {
        (Some(boot), None) => return with(rules, run_check(seen, boot, "the boot ritual comes first")),
        (Some(_), Some(ended)) if !ended.passed() => {
            let last = ended.output_tail.lines().rev().find(|line| !line.trim().is_empty());
            let last = last.map(|line| format!("; it printed last: {}", text::one_line(line, 200)));
            let what = format!(
                "Fix build before running Ralph Loop: {}{}",
                ended.describe(),
                last.unwrap_or_default()
            );
            return with(rules, halt(seen, Stop::Error { what }));
        }
        _ => {}
    }
    if let Some(check) = baseline_check(seen, plan) {
        let why = "how the checks stand before the first iteration";
        return with(rules, run_check(seen, check, why));
    }
    if let (Some(_), Selection::None) = (&plan.backlog, selection) {
        return with(rules, items::select(seen));
    }
    rules.agents = agents;
    // Only an iteration that begins is the probe. Until here the run may stop, and the circuit is as open as it was.
    rules.breaker = guarded;
    let before = after.map(|after| after.iteration).filter(|after| after.checks.is_empty());
    let item = match selection {
        Selection::Item(work) => Some(work),
        _ => None,
    };
    begin(seen, plan, rules, Beginning { used, kind, agent, before: before.is_some(), item })
}

/// Whether the last iteration was about this item.
fn is_about(seen: &State, work: &Work) -> bool {
    seen.last.as_ref().and_then(|last| last.item.as_ref()).is_some_and(|last| last.id == work.id)
}

/// Whether the last iteration was about the whole of a backlog already.
fn is_about_the_whole(seen: &State) -> bool {
    seen.last.as_ref().is_some_and(|last| last.item.is_none())
}

/// The next check of which nobody knows how it stood before the run.
fn baseline_check<'a>(seen: &State, plan: &'a Plan) -> Option<&'a CheckSpec> {
    let wanted = plan.proves_by_checks() && plan.baseline() != profile::Baseline::Off;
    let untouched = seen.last.is_none() && seen.current.is_none();
    let unknown =
        |check: &CheckSpec| seen.baseline.results.iter().all(|known| known.command != check.command);
    plan.checks.iter().find(|check| unknown(check)).filter(|_| wanted && untouched)
}

/// A check that would refuse every item: it failed before the run, and failures are excused by name, which it gives none or too many
/// of. A goal or a single item may be to make it pass, and so may the items where nothing is excused. What could not run is another
/// matter, and so are the commands that a task file wants for its items: they are what the items are to reach.
pub fn unnamed_failure(seen: &State) -> Option<&CheckResult> {
    let plan = &seen.run.as_ref()?.plan;
    let several = !plan.is_for_one_item() && seen.backlog.as_ref().is_some_and(|read| read.items.open > 1);
    let excuses = several && plan.backlog.is_some() && plan.baseline() == profile::Baseline::Tolerate;
    let untouched = seen.last.is_none() && seen.current.is_none();
    let unnamed = |check: &&CheckResult| {
        let ended = matches!(check.end, End::Exited { .. }) && check.never_ran().is_none();
        let named = !check.failing.is_empty() && check.failing.len() < failing::MOST;
        let can_be_left_out = CHECKS.contains(&check.name.as_str());
        ended && !check.passed() && !named && can_be_left_out
    };
    let asked = |check: &&CheckResult| plan.asked().iter().any(|asked| asked.command == check.command);
    seen.baseline.results.iter().filter(asked).find(unnamed).filter(|_| excuses && untouched)
}

/// The same as a reason to stop before an agent is spent.
pub(super) fn no_item_could_pass(seen: &State) -> Option<Stop> {
    let command = check::shown(&unnamed_failure(seen)?.command);
    let why = format!(
        "{command} fails before the run and names no tests, so old failures cannot be told from new ones: no item could pass"
    );
    Some(Stop::Blocked { why })
}

#[derive(Clone, Copy)]
struct Beginning<'a> {
    used: u64,
    kind: Kind,
    /// Its place in the plan.
    agent: usize,
    /// What checks wrote is not the next agent's doing, so the tree is settled only where none ran.
    before: bool,
    item: Option<&'a Work>,
}

fn begin(seen: &State, plan: &Plan, rules: Rules, beginning: Beginning<'_>) -> Decision {
    let Some(agent) = plan.agents.get(beginning.agent) else {
        return halt(seen, Stop::Error { what: "the plan has no such agent".into() });
    };
    let before = seen.settled.clone().filter(|_| beginning.before);
    let (effect, next) = match &before {
        Some(_) => (Effect::StartAgent, Phase::Working),
        None => {
            let when = When::Before;
            (Effect::MeasureTree { when, todos_since: None }, Phase::Measuring { when })
        }
    };
    let (number, nth) = (seen.iteration.saturating_add(1), beginning.used.saturating_add(1));
    let mut reasons = vec![Reason::new("run", format!("iteration {nth} begins"))];
    if rules.breaker.circuit == crate::breaker::Circuit::HalfOpen {
        reasons.push(Reason::new("breaker", "half-open: this iteration is the probe"));
    }
    Decision {
        verdict: Verdict::Continue,
        reasons,
        effects: vec![effect],
        next,
        begins: Some(Begin {
            number,
            nth,
            kind: beginning.kind,
            agent: agent.name.clone(),
            format: agent.format,
            before,
            item: beginning.item.cloned().map(Box::new),
        }),
        rules,
        concluded: None,
    }
}

fn wait(seen: &State, now: Time, until: Time, why: &str) -> Decision {
    let reason = format!("waiting {} until {until}: {why}", time::duration(until.since(now)));
    Decision {
        verdict: Verdict::Wait,
        next: Phase::Waiting { until, why: why.into() },
        ..proceed(seen, "agents", &reason)
    }
}
