//! `session.md`: where we are, for the next agent and for people; the lines of seed 004's template come first.

use super::{Tasks, item, phase};
use crate::event::RunInfo;
use crate::prelude::*;
use crate::state::{Recent, State};
use crate::text::one_line;
use crate::view::{changes, ended, nth_of, outcome_word, spent, status_word};

pub fn session(state: &State) -> String {
    let Some(run) = &state.run else { return String::new() };
    let tasks = Tasks::of(state);
    let mut text = format!(
        "# Ralph Session State\n\niteration: {}\nphase: {}\nstarted_at: {}\nlast_update: {}\nrun: {}\n",
        state.iteration,
        phase(state).unwrap_or("none"),
        state.started_at,
        state.updated_at,
        run.number
    );
    text.push_str("\n## Current Status\n");
    let mut line = |name: &str, value: &str| text.push_str(&format!("{name}: {value}\n"));
    line("Working on", &one_line(&working_on(state, run), 500));
    line("Tasks completed", &format!("{}/{}", tasks.done, tasks.total()));
    line("Tasks remaining", &tasks.remaining().to_string());
    line("Iteration", &format!("{} of this run", nth_of(state, state.used)));
    line("Status", status_word(state, true));
    if let Some(stop) = state.stop() {
        line("Stopped", &one_line(&ended(state, stop), 500));
    }
    for flagged in &state.flagged {
        line("Flagged", &format!("{} (#{})", one_line(&flagged.what, 500), flagged.iteration));
    }
    line("Cost", &spent(state));
    if !state.recent.is_empty() {
        text.push_str("\n## Recent History\n");
        state.recent.iter().rev().for_each(|recent| text.push_str(&line_of(recent)));
    }
    text
}

/// The item at hand, of which goal.
fn working_on(state: &State, run: &RunInfo) -> String {
    match item(state) {
        Some(item) => format!("{} {} ({})", item.id, item.title, run.goal),
        None => run.goal.clone(),
    }
}

fn line_of(recent: &Recent) -> String {
    let changed = changes(recent.files, recent.commits);
    let result = outcome_word(recent.outcome, recent.signal.as_deref(), recent.unasked);
    let item = recent.item.as_ref().map(|id| format!(" on {id}")).unwrap_or_default();
    let mut line = format!("- Iteration {}: {result}{item}, {changed}", recent.number);
    if let Some(words) = &recent.words {
        line.push_str(&format!("; {words}"));
    }
    line.push('\n');
    line
}
