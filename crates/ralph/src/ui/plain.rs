//! The same without a terminal: one line for each thing worth knowing.

use ralph_core::decision::{Decision, Kind, Phase, Stop, Verdict};
use ralph_core::effect::Effect;
use ralph_core::event::{Event, StopBy};
use ralph_core::state::{Iteration, State};
use ralph_core::{text, time, view};

use super::{Tone, baseline, boxes, cost_line, proof_line, remarks, stops, touched};

pub(super) fn lines(state: &State, event: &Event, decision: &Decision) -> Vec<(Tone, String)> {
    let mut lines = Vec::new();
    if let Event::RunStarted(_) | Event::RunResumed(_) = event
        && let Some(run) = &state.run
    {
        let verb = if matches!(event, Event::RunResumed(_)) { "continued" } else { "started" };
        let plan = &run.plan;
        let limit = boxes::limit(plan.policy.max_iterations);
        lines.push((
            Tone::Plain,
            format!(
                "run {} {verb}{}, at most {limit}: {}",
                run.number,
                boxes::by_rules(&plan.policy),
                text::one_line(&run.goal, 400)
            ),
        ));
        for agent in &plan.agents {
            lines.push((Tone::Plain, format!("agent: {}", boxes::named_agent(plan, agent))));
        }
        if plan.checks.is_empty() {
            lines.push((Tone::Plain, format!("checks: {}", boxes::no_checks(state))));
        }
        for check in &plan.checks {
            lines.push((
                Tone::Plain,
                format!("check {}: {}", check.name, text::one_line(&check.command, 200)),
            ));
        }
    }
    if let (Some(_), Some(last)) = (&decision.concluded, &state.last) {
        lines.push((Tone::Plain, concluded(state, last)));
        lines.extend(remarks(last));
    }
    lines.extend(baseline(state, event));
    lines.extend(touched(state, event));
    lines.extend(asked(event, decision).map(|line| (Tone::Plain, line)));
    if let Verdict::Wait = decision.verdict
        && let Some(reason) = decision.reasons.last()
    {
        lines.push((Tone::Warning, reason.text.clone()));
    }
    for effect in &decision.effects {
        match (effect, &state.current) {
            (Effect::StartAgent, Some(current)) => {
                lines.push((
                    Tone::Plain,
                    format!("{} begins{}", name(state, current), by_whom(state, current)),
                ));
            }
            (Effect::RunCheck { check }, _) => {
                lines.push((
                    Tone::Plain,
                    format!(
                        "{}: {}",
                        decision.reasons.last().map_or("running a check", |reason| reason.text.as_str()),
                        text::one_line(&check.command, 200)
                    ),
                ));
            }
            (Effect::EndAgent { .. }, _) => {
                lines.push((Tone::Warning, decision_text(decision, "ending the agent")));
            }
            (Effect::EndCheck { .. }, _) => {
                lines.push((Tone::Warning, decision_text(decision, "ending the check")));
            }
            _ => {}
        }
    }
    if let Phase::Halted { stop } = &decision.next {
        lines.push((stops::tone(stop), halted(state, stop)));
        let used = time::duration(state.totals.agent_ms);
        lines.push((
            Tone::Plain,
            format!("{} in {used}, {}", text::count(state.used, "iteration"), cost_line(state)),
        ));
    }
    lines
}

/// In a pool it matters who works.
fn by_whom(state: &State, iteration: &Iteration) -> String {
    match state.run.as_ref().is_some_and(|run| run.plan.agents.len() > 1) {
        true => format!(", by {}", iteration.agent),
        false => String::new(),
    }
}

fn decision_text(decision: &Decision, what: &str) -> String {
    let why = decision.reasons.first().map_or("", |reason| reason.text.as_str());
    format!("{what}: {why}")
}

fn name(state: &State, iteration: &Iteration) -> String {
    let review = if iteration.kind == Kind::Review { " [REVIEW]" } else { "" };
    format!("iteration {} (#{}){review}", view::nth_of(state, iteration.nth), iteration.number)
}

fn concluded(state: &State, last: &Iteration) -> String {
    let mut parts = vec![view::result_word(last).to_owned(), view::files(last)];
    parts.extend(last.checks.iter().map(|check| check.describe()));
    if let Some(ended) = &last.ended {
        parts.extend(ended.failure());
        if ended.leftovers > 0 {
            parts.push(format!("{} ended", text::count(u64::from(ended.leftovers), "background process")));
        }
        parts.push(time::duration(ended.duration_ms));
        if ended.report.block.is_none() && ended.report.sayings.is_empty() {
            parts.push("no report".into());
        }
    }
    if let Some(conclusion) = &last.conclusion
        && conclusion.outcome == ralph_core::decision::Outcome::Accepted
        && conclusion.passes_needed > 0
    {
        parts.push(format!("verification {}/{}", conclusion.passes, conclusion.passes_needed));
    }
    format!("{}: {}", name(state, last), parts.join(", "))
}

/// What was asked from beside the run and changes nothing yet.
pub(super) fn asked(event: &Event, decision: &Decision) -> Option<String> {
    match event {
        Event::NoteAdded { text, .. } => {
            Some(format!("note for the next prompt: {}", text::one_line(text, 200)))
        }
        Event::StopAsked { by: StopBy::Request }
            if decision.effects.is_empty() && decision.verdict != Verdict::Halt =>
        {
            decision.reasons.first().map(|reason| reason.text.clone())
        }
        _ => None,
    }
}

fn halted(state: &State, stop: &Stop) -> String {
    let title = stops::title(stop);
    match stop {
        Stop::Complete { .. } => format!("{title}, proof: {}", proof_line(state)),
        Stop::Blocked { why } => format!("{title}, human input needed: {}", text::one_line(why, 500)),
        _ => stops::in_a_line(stop),
    }
}
