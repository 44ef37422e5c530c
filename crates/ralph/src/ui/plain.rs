//! The same without a terminal: one line for each thing worth knowing.

use ralph_core::decision::{Decision, Kind, Outcome, Phase, Stop, Verdict};
use ralph_core::effect::Effect;
use ralph_core::event::{Event, StopBy};
use ralph_core::state::{Iteration, State};
use ralph_core::time::{self, Time};
use ralph_core::view::event::RunChanges;
use ralph_core::{redact, text, view};

use super::remarks::{baseline, failing_already, remarks, settled, touched};
use super::{Tone, boxes, stops, summary};
use crate::clock;

pub(super) fn lines(state: &State, event: &Event, decision: &Decision, now: Time) -> Vec<(Tone, String)> {
    let mut lines = Vec::new();
    if let Event::RunStarted(_) | Event::RunResumed(_) = event
        && let Some(run) = &state.run
    {
        let verb = if matches!(event, Event::RunResumed(_)) { "continued" } else { "started" };
        let plan = &run.plan;
        let limit = boxes::limit(plan);
        lines.push((
            Tone::Plain,
            format!(
                "run {} {verb}{}, at most {limit}: {}",
                run.number,
                boxes::by_rules(&plan.policy),
                text::one_line(&run.goal, 400)
            ),
        ));
        let rules = boxes::rules_set(&plan.policy);
        if !rules.is_empty() {
            lines.push((Tone::Plain, format!("rules: {}", rules.join(", "))));
        }
        for agent in &plan.agents {
            lines.push((Tone::Plain, format!("agent: {}", boxes::named_agent(plan, agent))));
        }
        if plan.asked().is_empty() {
            lines.push((Tone::Plain, format!("checks: {}", boxes::no_checks(state))));
        }
        for check in plan.asked() {
            lines.push((Tone::Plain, format!("check {}", check.described())));
        }
        for check in &plan.left_out {
            lines.push((Tone::Warning, format!("left out: check {}", check.described())));
        }
    }
    if let (Some(_), Some(last)) = (&decision.concluded, &state.last) {
        lines.push((Tone::Plain, concluded(state, last)));
        lines.extend(remarks(state, last));
    }
    lines.extend(baseline(state, event));
    lines.extend(failing_already(state, event, decision));
    lines.extend(touched(state, event));
    lines.extend(settled(state, event));
    lines.extend(asked(event, decision).map(|line| (Tone::Plain, line)));
    lines.extend(wait(event, decision, now).map(|line| (Tone::Warning, line)));
    for effect in &decision.effects {
        match (effect, &state.current) {
            (Effect::StartAgent, Some(current)) => {
                lines.push((
                    Tone::Plain,
                    format!("{} begins{}{}", name(state, current), by_whom(state, current), on_what(current)),
                ));
            }
            (Effect::RunCheck { check }, _) => {
                lines.push((
                    Tone::Plain,
                    format!(
                        "{}: {}",
                        decision.reasons.last().map_or("running a check", |reason| reason.text.as_str()),
                        redact::command(&check.command, 200)
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
    lines
}

/// In a pool it matters who works.
fn by_whom(state: &State, iteration: &Iteration) -> String {
    match state.run.as_ref().is_some_and(|run| run.plan.agents.len() > 1) {
        true => format!(", by {}", iteration.agent),
        false => String::new(),
    }
}

fn on_what(iteration: &Iteration) -> String {
    iteration
        .item
        .as_ref()
        .map_or_else(String::new, |item| format!(": item {}", text::one_line(&item.named(), 300)))
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
    let mut parts = vec![view::result_for_people(last).to_owned(), view::files(last)];
    if last.outcome() == Some(Outcome::Limited) {
        parts.push("not counted".into());
    }
    parts.extend(last.checks.iter().map(|check| last.describe(check)));
    let limit = view::limit_words(last);
    if let Some(ended) = &last.ended {
        let failure = view::failure(state, last);
        let said = limit.filter(|limit| failure.as_ref().is_none_or(|failure| !failure.contains(limit)));
        parts.extend(failure.into_iter().chain(said));
        if ended.left_running() > 0 {
            parts.push(format!(
                "{} ended",
                text::count(u64::from(ended.left_running()), "background process")
            ));
        }
        parts.push(time::duration(ended.duration_ms));
        if ended.report.block.is_none() && ended.report.sayings.is_empty() {
            parts.push("no report".into());
        }
    }
    if let Some(conclusion) = &last.conclusion
        && conclusion.outcome == Outcome::Accepted
        && conclusion.passes_needed > 0
    {
        let passes = format!("{}/{}", conclusion.passes, conclusion.passes_needed);
        parts.push(format!("verification {passes}{}", boxes::to_come(last, conclusion)));
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

/// How long nobody works, and why.
pub(super) fn wait(event: &Event, decision: &Decision, now: Time) -> Option<String> {
    let Phase::Waiting { until, why } = &decision.next else { return None };
    // Whoever says something meanwhile does not begin another wait.
    if decision.verdict != Verdict::Wait || matches!(event, Event::NoteAdded { .. }) {
        return None;
    }
    let (at, length) = (clock::local(*until, now), time::duration(until.since(now)));
    Some(format!("waiting until {at} ({length}): {}", text::one_line(why, 300)))
}

/// The last lines of a run.
pub(super) fn stopped(state: &State, stop: &Stop, changes: Option<&RunChanges>) -> Vec<(Tone, String)> {
    let mut rows = summary::rows(state, stop, changes);
    let title = match (stop, rows.first()) {
        (Stop::Complete { .. }, Some(("Proof:", proof))) => {
            let line = format!("{}, proof: {proof}", stops::title_of(state, stop));
            rows.remove(0);
            line
        }
        (Stop::Blocked { why }, _) => {
            format!("{}, human input needed: {}", stops::title(stop), text::one_line(why, 500))
        }
        _ => stops::in_a_line(stop),
    };
    let mut lines = vec![(stops::tone_of(state, stop), title)];
    lines.extend(
        rows.into_iter().map(|(label, value)| (Tone::Plain, format!("{} {value}", label.to_lowercase()))),
    );
    let used = summary::used(state);
    lines.push((Tone::Plain, format!("{} in {used}", text::count(state.used, "iteration"))));
    lines
}
