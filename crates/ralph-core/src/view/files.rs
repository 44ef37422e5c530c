//! The files of `.ralph/` that are views: `session.md`, `state.json`, `history/iteration-NNN.md`.

use serde_json::{Value, json};

use super::{cost, files, nth_of, result_word, status_word};
use crate::decision::{Kind, Outcome, Stop};
use crate::evidence::Held;
use crate::prelude::*;
use crate::state::{Iteration, State};
use crate::time::duration;

/// `session.md`, in the shape of seed 004.
pub fn session(state: &State) -> String {
    let Some(run) = &state.run else { return String::new() };
    let mut text = format!(
        "# Ralph Session State\n\niteration: {}\nrun: {}\nstarted_at: {}\nlast_update: {}\n\n## Current Status\n",
        state.iteration, run.number, state.started_at, state.updated_at
    );
    text.push_str(&format!("Working on: {}\n", crate::text::one_line(&run.goal, 500)));
    text.push_str(&format!("Iteration: {} of this run\n", nth_of(state, state.used)));
    text.push_str(&format!("Status: {}\n", status_word(state, true)));
    if let Some(stop) = state.stop() {
        text.push_str(&format!("Stopped: {stop}\n"));
    }
    text.push_str(&format!("Cost: {}\n", cost(&state.totals)));
    if let Some(last) = &state.last {
        let line = format!(
            "\n## Recent History\n- Iteration {}: {}, {}\n",
            last.number,
            result_word(last),
            files(last)
        );
        text.push_str(&line);
    }
    text
}

/// `state.json`: the keys of seed 004's template that goal mode knows.
pub fn state_json(state: &State) -> Value {
    let block = state
        .last
        .as_ref()
        .and_then(|last| last.ended.as_ref())
        .and_then(|ended| ended.report.block.as_ref());
    let blocker = match state.stop() {
        Some(Stop::Blocked { why }) => Some(why.as_str()),
        _ => None,
    };
    json!({
        "schema": "ralph.state/1",
        "iteration": state.iteration,
        "run_iteration": state.used,
        "current_task": state.run.as_ref().map(|run| &run.goal),
        "last_updated": state.updated_at,
        "exit_signal": block.is_some_and(|block| block.exit_signal),
        "last_iteration_status": state.last.as_deref().map(marker),
        "status": status_word(state, true),
        "blocked": blocker.is_some(),
        "blocker_reason": blocker,
    })
}

/// Seed 004's word for how an iteration ended.
fn marker(last: &Iteration) -> &'static str {
    match last.conclusion.as_ref().map(|conclusion| conclusion.outcome) {
        Some(Outcome::Accepted) => "LOOP_COMPLETE",
        Some(Outcome::Blocked) => "LOOP_BLOCKED",
        _ => "LOOP_CONTINUE",
    }
}

/// `history/iteration-NNN.md`: summary, status block verbatim, files, checks, decision.
pub fn history(state: &State, iteration: &Iteration) -> String {
    let kind = if iteration.kind == Kind::Review { " (review)" } else { "" };
    let mut text = format!("# Iteration {}{kind}\n\n", iteration.number);
    let mut line = |name: &str, value: &str| text.push_str(&format!("- {name}: {value}\n"));
    if let Some(run) = &state.run {
        line("Goal", &crate::text::one_line(&run.goal, 500));
        line("Run", &format!("{}, iteration {}", run.number, nth_of(state, iteration.nth)));
        line("Agent", &iteration.agent);
    }
    line("Began", &iteration.began_at.to_string());
    line("Result", result_word(iteration));
    if let Some(ended) = &iteration.ended {
        line("Agent process", &format!("{} after {}", ended.end, duration(ended.duration_ms)));
        if let Some(failure) = ended.failure() {
            line("Failure", &failure);
        }
        if ended.leftovers > 0 {
            line("Background processes ended", &ended.leftovers.to_string());
        }
        if ended.report.usage.total() > 0 {
            line("Tokens", &super::thousands(ended.report.usage.total()));
        }
        if let Some(cost) = ended.report.cost_micro_usd {
            line("Cost", &super::money(cost));
        }
        for problem in &ended.report.problems {
            line("Problem in the report", problem);
        }
    }
    files_part(&mut text, iteration);
    checks_part(&mut text, iteration);
    decision_part(&mut text, iteration);
    if let Some(ended) = &iteration.ended {
        match &ended.report.block {
            Some(block) => fenced(&mut text, "Status block", &block.verbatim),
            None if ended.report.last_words.is_empty() => {
                let error = ended.stderr.as_deref().unwrap_or("(nothing)");
                fenced(&mut text, "No status block and no words. The last line of its error output", error);
            }
            None => fenced(&mut text, "No status block. Its last words", &ended.report.last_words),
        }
    }
    text
}

fn files_part(text: &mut String, iteration: &Iteration) {
    text.push_str(&format!("\n## Files\n\n{}\n", files(iteration)));
    let Some(after) = &iteration.after else { return };
    if !after.changed.is_empty() {
        text.push('\n');
    }
    for change in &after.changed {
        // A name is somebody's text: it must not forge lines of ours.
        text.push_str(&format!("- {} {}\n", change.kind, crate::text::one_line(&change.path, 1000)));
    }
    let unnamed = after.changed_total.saturating_sub(after.changed.len() as u64);
    if unnamed > 0 {
        text.push_str(&format!("- and {unnamed} more\n"));
    }
    for note in &after.notes {
        text.push_str(&format!("- note: {}\n", crate::text::one_line(note, 1000)));
    }
}

fn checks_part(text: &mut String, iteration: &Iteration) {
    if iteration.checks.is_empty() {
        return;
    }
    text.push_str("\n## Checks\n\n");
    for check in &iteration.checks {
        let mark = if check.passed() { "passed" } else { "FAILED" };
        text.push_str(&format!("- {mark}: {} in {}\n", check.describe(), duration(check.duration_ms)));
    }
}

fn decision_part(text: &mut String, iteration: &Iteration) {
    let Some(conclusion) = &iteration.conclusion else { return };
    text.push_str("\n## Decision\n\n");
    text.push_str(&format!("- words: {}\n", crate::text::one_line(&conclusion.words, 500)));
    if let Some(refusal) = &conclusion.refusal {
        text.push_str(&format!("- claimed done, refused: {refusal}\n"));
    }
    for condition in &conclusion.evidence.conditions {
        let held = match condition.held {
            Held::Held => "held",
            Held::Failed => "failed",
            Held::NotApplicable => "not applicable",
        };
        text.push_str(&format!("- {} {held}: {}\n", condition.name, condition.fact));
    }
    if conclusion.outcome == Outcome::Accepted {
        text.push_str(&format!("- verification {}/{}\n", conclusion.passes, conclusion.passes_needed));
        if iteration.kind == Kind::Review && iteration.progress() {
            text.push_str("- the review changed something, so it is reviewed again\n");
        }
    }
}

fn fenced(text: &mut String, title: &str, content: &str) {
    // A fence longer than any inside keeps the agent's words from ending it.
    let mut fence = "```".to_owned();
    while content.contains(&fence) {
        fence.push('`');
    }
    text.push_str(&format!("\n## {title}\n\n{fence}\n{}\n{fence}\n", content.trim_end()));
}
