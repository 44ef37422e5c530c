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
use crate::view::{ended, flagged};

struct Moment<'a> {
    id: String,
    title: String,
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
    let run = state.run.as_ref()?;
    let moment = Moment {
        id: task_id(run),
        title: run.goal.clone(),
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
    let iterations = [state.current.as_ref(), state.last.as_deref()];
    let measured = iterations.into_iter().flatten().find_map(|iteration| iteration.after.as_ref());
    let run = state.run.as_ref()?;
    let moment = Moment {
        id: task_id(run),
        title: run.goal.clone(),
        when: "post",
        at: state.updated_at,
        mark: measured.map(Measured::mark).or_else(|| state.base.clone()),
        iterations: state.used,
        totals: Totals { commits: state.totals.commits.saturating_add(state.committed), ..state.totals },
        checks: state.last.as_ref().map_or(&[], |last| &last.checks),
        stop: Some(stop),
    };
    checkpoint(state, moment)
}

/// The same of the item that an agent is about to work on, with its id.
pub fn pre_item(state: &State) -> Option<(String, Value)> {
    let current = state.current.as_ref()?;
    let (item, before) = (current.item.as_deref()?, current.before.clone()?);
    let moment = Moment {
        id: item.id.clone(),
        title: item.title.clone(),
        when: "pre",
        at: current.began_at,
        mark: Some(before),
        iterations: item.attempts,
        totals: Totals::default(),
        checks: &[],
        stop: None,
    };
    Some((item.id.clone(), checkpoint(state, moment)?))
}

/// The same of an item whose attempt is settled, with its id.
pub fn post_item(state: &State) -> Option<(String, Value)> {
    let last = state.last.as_ref().filter(|last| last.settled.is_some())?;
    let (item, after) = (last.item.as_deref()?, last.after.as_ref()?);
    let count = |n: Option<u64>| n.unwrap_or(0);
    // An agent that committed everything itself has its own commit named.
    let commit = last.settled.as_ref().and_then(|settled| settled.commit.as_ref());
    let made = u64::from(commit.is_some() && commit != after.head.as_ref());
    let totals = Totals {
        files: after.changed_total,
        commits: after.commits.saturating_add(made),
        tasks: count(last.block().and_then(|block| block.tasks)),
        ..Totals::default()
    };
    let moment = Moment {
        id: item.id.clone(),
        title: item.title.clone(),
        when: "post",
        at: last.concluded_at.unwrap_or(state.updated_at),
        mark: Some(after.mark()),
        iterations: item.attempts.saturating_add(1),
        totals,
        checks: &last.checks,
        stop: None,
    };
    let mut value = checkpoint(state, moment)?;
    let settled = last.settled.as_ref();
    value["attempt"] =
        last.conclusion.as_ref().and_then(|conclusion| conclusion.attempt).map(|a| a.word()).into();
    value["commit"] = settled.and_then(|settled| settled.commit.clone()).into();
    value["evidence"] = settled.and_then(|settled| settled.evidence.clone()).into();
    Some((item.id.clone(), value))
}

fn checkpoint(state: &State, moment: Moment<'_>) -> Option<Value> {
    let run = state.run.as_ref()?;
    let (mark, totals) = (moment.mark, moment.totals);
    Some(json!({
        "schema": "ralph.checkpoint/1",
        "id": moment.id,
        "title": moment.title,
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
        "stop_text": moment.stop.map(|stop| ended(state, stop)),
        "proof": moment.stop.and_then(Stop::proof).map(|proof| proof.word()),
        "proof_flags": moment.stop.map_or(vec![], |stop| flagged::of_stop(state, stop)),
    }))
}
