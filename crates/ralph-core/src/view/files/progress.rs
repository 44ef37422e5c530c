//! `.ralph-session.json`: seed 002's record of a run, with exactly its keys. It grows by a line an iteration, so a line
//! is made once and kept.

use serde::Serialize;

use crate::decision::Stop;
use crate::prelude::*;
use crate::report::block::Status;
use crate::state::{Iteration, State};
use crate::time::Time;

/// One iteration. What the agent did not tell, or ralph did not measure, is null.
#[derive(Debug, Serialize)]
struct Entry {
    number: u64,
    timestamp: Option<Time>,
    status: Option<Status>,
    tasks_completed: Option<u64>,
    files_modified: Option<u64>,
    exit_decision: String,
}

/// The line of an iteration; `state` is that of the record that concluded it.
pub fn line(state: &State, iteration: &Iteration) -> String {
    let block = iteration.block();
    written(&Entry {
        number: iteration.number,
        timestamp: iteration.concluded_at,
        status: block.and_then(|block| block.status),
        tasks_completed: block.and_then(|block| block.tasks),
        files_modified: iteration.after.as_ref().map(|after| after.changed_total),
        exit_decision: match state.stop() {
            None => "continue".into(),
            Some(Stop::Complete { .. }) => "project_complete".into(),
            Some(stop) => stop.word().into(),
        },
    })
}

/// The whole file.
pub fn document(state: &State, lines: &[String]) -> String {
    let mut text = opening(state);
    for (nth, line) in lines.iter().enumerate() {
        text.push_str(if nth == 0 { FIRST } else { NEXT });
        text.push_str(line);
    }
    text.push_str(if lines.is_empty() { "]" } else { LAST });
    let totals = state.totals;
    for (key, total) in TOTALS.iter().zip([totals.tasks, totals.files, totals.commits]) {
        text.push_str(&format!(",\n  \"{key}\": {total}"));
    }
    text.push_str("\n}\n");
    text
}

const FIRST: &str = "\n    ";
const NEXT: &str = ",\n    ";
const LAST: &str = "\n  ]";
const TOTALS: [&str; 3] = ["total_tasks_completed", "total_files_modified", "total_commits"];

const OPENING: &str = "{\n  \"session_id\": ";

fn opening(state: &State) -> String {
    let (id, started) = (string(&session_id(state.started_at)), string(&state.started_at.to_string()));
    format!("{OPENING}{id},\n  \"started_at\": {started},\n  \"iterations\": [")
}

/// Whether there is anything to tell. A session that is only waited for, or has not stopped yet, has left nothing; it may be
/// let go of before it does, and then the project is to be as it was.
pub fn is_due(state: &State) -> bool {
    let plan = state.run.as_ref().map(|run| &run.plan);
    let held = plan.is_some_and(|plan| plan.agents.iter().any(|agent| agent.session));
    plan.is_some_and(|plan| plan.policy.session_view) && (!held || state.totals.concluded > 0)
}

/// Whether a file of that name was written by some run, rather than by somebody else.
pub fn is_own(text: &str) -> bool {
    text.strip_prefix(OPENING).is_some_and(|rest| rest.starts_with("\"ralph-"))
}

/// The lines of a file that was written for this run before; nothing, if it is another's or was changed in form. They are
/// told by their form, not read: a session's hook does this at every stop.
pub fn lines_of(text: &str, state: &State) -> Option<Vec<String>> {
    let rest = text.strip_prefix(&opening(state))?;
    let (lines, totals) = match rest.strip_prefix(']') {
        Some(totals) => (Vec::new(), totals),
        None => {
            let (lines, totals) = rest.strip_prefix(FIRST)?.rsplit_once(LAST)?;
            (lines.split(NEXT).map(str::to_owned).collect(), totals)
        }
    };
    let keys = totals.strip_suffix("\n}\n")?.strip_prefix(",\n  ")?.split(",\n  ");
    let keys = keys.filter_map(|line| line.strip_prefix('"')?.split_once("\": ").map(|(key, _)| key));
    let ours =
        |line: &String| line.starts_with("{\"number\":") && line.ends_with('}') && !line.contains('\n');
    (keys.eq(TOTALS) && lines.iter().all(ours)).then_some(lines)
}

/// `ralph-2026-11-16-003239`
fn session_id(started: Time) -> String {
    let text = started.to_string();
    let (date, clock) = text.split_once('T').unwrap_or((&text, ""));
    let clock: String = clock.chars().filter(char::is_ascii_digit).take(6).collect();
    format!("ralph-{date}-{clock}")
}

fn written(entry: &Entry) -> String {
    // Nothing in it can fail to be written.
    serde_json::to_string(entry).unwrap_or_default()
}

fn string(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state() -> State {
        State { started_at: Time::from_millis(1_794_789_159_120), ..State::default() }
    }

    #[test]
    fn the_session_id_is_the_start_in_utc() {
        assert_eq!(session_id(state().started_at), "ralph-2026-11-16-003239");
    }

    #[test]
    fn a_file_of_ours_gives_its_lines_back_and_another_none() {
        let state = state();
        let entry = Entry {
            number: 7,
            timestamp: Some(Time::from_millis(0)),
            status: Some(Status::InProgress),
            tasks_completed: Some(1),
            files_modified: None,
            exit_decision: "continue".into(),
        };
        for lines in [vec![], vec![written(&entry)], vec![written(&entry), written(&entry)]] {
            let text = document(&state, &lines);
            assert_eq!(lines_of(&text, &state), Some(lines));
        }
        let text = document(&state, &[]);
        assert!(is_own(&text) && !is_own("{\"session_id\": \"mine\"}"));
        let other = State { started_at: Time::from_millis(1), ..State::default() };
        for (text, state) in [
            (text.clone(), &other),
            (text.replace("total_commits", "commits"), &state),
            (String::new(), &state),
        ] {
            assert_eq!(lines_of(&text, state), None, "{text}");
        }
    }
}
