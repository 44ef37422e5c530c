//! The files that are views: `session.md`, `state.json`, `history/` and `checkpoints/` in `.ralph/`, and
//! `.ralph-session.json` beside it.
//!
//! Goal mode has one task, which is the goal itself; its id is the run's. What nobody knows is null: a run without a
//! backlog has no phases, and nobody has looked for a language.

mod checkpoint;
mod history;
pub mod progress;
mod session;
mod state_json;

pub use checkpoint::{post_item, post_task, pre_item, pre_task};
pub use history::history;
pub use session::session;
pub use state_json::state_json;

use crate::decision::Stop;
use crate::event::RunInfo;
use crate::evidence::Items;
use crate::items::{Attempt, Work};
use crate::prelude::*;
use crate::state::State;

/// The goal as the task that seed 004's files speak of.
pub fn task_id(run: &RunInfo) -> String {
    format!("run-{}", run.number)
}

/// The item that is worked on, or was last.
fn item(state: &State) -> Option<&Work> {
    let iterations = [state.current.as_ref(), state.last.as_deref()];
    iterations.into_iter().flatten().find_map(|iteration| iteration.item.as_deref())
}

/// The id of the task at hand: an item's, or that of the goal.
fn current_id(state: &State) -> Option<String> {
    let item = item(state).map(|item| item.id.clone());
    item.or_else(|| state.run.as_ref().map(task_id))
}

/// What it is called.
fn current_title(state: &State) -> Option<String> {
    let item = item(state).map(|item| item.title.clone());
    item.or_else(|| state.run.as_ref().map(|run| run.goal.clone()))
}

/// The phase that is worked on, where there are phases.
fn phase(state: &State) -> Option<&str> {
    state.backlog.as_ref()?.phase.as_deref()
}

/// An id as a part of a file name: short, of plain characters, and another one for another id.
pub fn safe_name(id: &str) -> String {
    const LONGEST: usize = 80;
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if (1..=LONGEST).contains(&id.len()) && id.chars().all(plain) {
        return id.into();
    }
    let made: String = id.chars().map(|c| if plain(c) { c } else { '_' }).take(LONGEST).collect();
    // FNV-1a: what was made alike stays apart.
    let hash =
        id.bytes().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    format!("{made}-{hash:08x}")
}

/// Tasks as seed 004 counts them. A blocked task is begun and not done.
struct Tasks {
    status: &'static str,
    done: u64,
    in_progress: u64,
    todo: u64,
}

impl Tasks {
    fn of(state: &State) -> Self {
        if let Some(backlog) = &state.backlog {
            return Self::of_items(state, backlog.items);
        }
        let open = |status| Self { status, done: 0, in_progress: 1, todo: 0 };
        match state.stop() {
            Some(Stop::Complete { .. }) => Self { status: "done", done: 1, in_progress: 0, todo: 0 },
            Some(Stop::Blocked { .. }) => open("blocked"),
            _ => open("in-progress"),
        }
    }

    fn of_items(state: &State, items: Items) -> Self {
        let working = state.current.as_ref().is_some_and(|current| current.item.is_some());
        let last = state.last.as_ref().filter(|last| last.item.is_some());
        let passed = last.and_then(|last| last.conclusion.as_ref()?.attempt) == Some(Attempt::Passed);
        let status = match (working, state.stop()) {
            (true, _) => "in-progress",
            (_, Some(Stop::Blocked { .. })) => "blocked",
            _ if passed || items.open == 0 => "done",
            _ => "todo",
        };
        let in_progress = u64::from(working).min(items.open);
        Self {
            status,
            done: items.total.saturating_sub(items.open),
            in_progress,
            todo: items.open - in_progress,
        }
    }

    fn total(&self) -> u64 {
        self.done + self.in_progress + self.todo
    }

    fn remaining(&self) -> u64 {
        self.total() - self.done
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_safe_as_file_names_and_stay_apart() {
        assert_eq!(safe_name("run-3"), "run-3");
        assert_eq!(safe_name("US_001.a"), "US_001.a");
        for id in ["../../etc/passwd", "a/b", "", "a b", "\n", "ü", &"x".repeat(300)] {
            let name = safe_name(id);
            assert!(!name.contains(['/', ' ', '\n']) && name.len() < 100, "{name}");
            assert!(name.chars().all(|c| c.is_ascii_graphic()), "{name}");
        }
        assert_ne!(safe_name("a/b"), safe_name("a b"));
        assert_ne!(safe_name(&"x".repeat(300)), safe_name(&"x".repeat(301)));
    }
}
