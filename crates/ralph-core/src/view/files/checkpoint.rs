//! `checkpoints/`: the project before a task and after it.

use serde_json::{Value, json};

use super::task_id;
use crate::check::CheckResult;
use crate::decision::{Stop, TreeMark};
use crate::event::Measured;
use crate::prelude::*;
use crate::state::{State, Totals};
use crate::time::Time;
use crate::view::json::checks;

struct Moment<'a> {
    when: &'static str,
    at: Time,
    mark: Option<TreeMark>,
    iterations: u64,
    totals: Totals,
    checks: &'a [CheckResult],
    stop: Option<&'a Stop>,
}

/// `ralph.checkpoint/1`, once it is known what there was before anything was done.
pub fn pre_task(state: &State) -> Option<Value> {
    let mark = state.base.clone()?;
    let moment = Moment {
        when: "pre",
        at: state.started_at,
        mark: Some(mark),
        iterations: 0,
        totals: Totals::default(),
        checks: &state.baseline.results,
        stop: None,
    };
    checkpoint(state, moment)
}

/// The same when the run has stopped.
pub fn post_task(state: &State) -> Option<Value> {
    let stop = state.stop()?;
    let mark = |after: &Measured| TreeMark { tree: after.tree.clone(), head: after.head.clone() };
    let iterations = [state.current.as_ref(), state.last.as_deref()];
    let measured = iterations.into_iter().flatten().find_map(|iteration| iteration.after.as_ref());
    let moment = Moment {
        when: "post",
        at: state.updated_at,
        mark: measured.map(mark).or_else(|| state.base.clone()),
        iterations: state.used,
        totals: state.totals,
        checks: state.last.as_ref().map_or(&[], |last| &last.checks),
        stop: Some(stop),
    };
    checkpoint(state, moment)
}

fn checkpoint(state: &State, moment: Moment<'_>) -> Option<Value> {
    let run = state.run.as_ref()?;
    let (mark, totals) = (moment.mark, moment.totals);
    Some(json!({
        "schema": "ralph.checkpoint/1",
        "id": task_id(run),
        "title": run.goal,
        "run": run.number,
        "when": moment.when,
        "at": moment.at,
        "tree": mark.as_ref().map(|mark| &mark.tree),
        "head": mark.as_ref().and_then(|mark| mark.head.as_ref()),
        "counts": {
            "iterations": moment.iterations,
            "files_changed": totals.files,
            "commits": totals.commits,
            "tasks_claimed": totals.tasks,
        },
        "checks": checks(moment.checks),
        "stop_reason": moment.stop.map(Stop::word),
        "stop_text": moment.stop.map(ToString::to_string),
        "proof": moment.stop.and_then(Stop::proof).map(|proof| proof.word()),
    }))
}
