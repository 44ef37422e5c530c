//! `ralph backlog next`: seed 003's selection.

use std::process::ExitCode;

use ralph_core::backlog::{Backlog, Selection, Shape, State, Stats, Waiting, Wish, select_but, select_with};
use ralph_core::text;
use serde_json::{Value, json};

use super::args::NextArgs;
use super::own_word;
use crate::error::Result;
use crate::suggest::quoted;
use crate::ui::{self, Ui};
use crate::work::{Place, TO_GIVE_STEPS, TwoHands, spent, without_steps};

/// How many of the items that wait are named to people.
const NAMED: usize = 10;

pub(super) fn main(args: &NextArgs, ui: &mut Ui) -> Result<ExitCode> {
    let place = args.common.place()?;
    let bytes = place.read()?;
    let backlog = place.parse(&bytes)?;
    let task = args.task.as_ref().map(|id| place.meant(&backlog, id)).transpose()?;
    let id = task.map(|at| &*backlog.items()[at].id);
    if let Some(phase) = &args.phase {
        place.has_phase(&backlog, phase)?;
        id.map_or(Ok(()), |id| place.is_in_phase(&backlog, id, phase))?;
    }
    let wish = Wish { phase: args.phase.as_deref(), task: id };
    let (selection, stats) = as_a_run_would(&place, &backlog, wish);
    if let Selection::Item(at) = selection {
        place.is_alone(&backlog, at)?;
    }
    let as_json = args.common.json || !ui::shown();
    let message = match (&selection, task) {
        (Selection::Complete, Some(at)) => not_to_do(&backlog, at, &place, as_json),
        _ => message(&selection, &backlog, &stats, &place),
    };
    if as_json {
        let mut document = document(&selection, &backlog, &stats);
        document["backlog"] = place.shown().into();
        document["message"] = message.clone().into();
        ui.json(&document);
        // Standard output is a script's, and whoever started that reads why nothing is left.
        if !args.common.json && !matches!(selection, Selection::Item(_)) {
            ui.say(&message);
        }
    } else if let Selection::Item(at) = selection {
        let item = &backlog.items()[at];
        ui.exact_line(&format!("{}\t{}", item.id, text::one_line(&item.title, 400)));
    } else {
        ui.say(&message);
    }
    Ok(ExitCode::from(selection.exit(&backlog)))
}

/// Why the item that was asked for is not handed out, whatever others there are.
fn not_to_do(backlog: &Backlog<'_>, at: usize, place: &Place, as_json: bool) -> String {
    let item = &backlog.items()[at];
    match item.state {
        State::Open | State::InProgress => {
            format!("{} is left for people: it is not for the loop (ralph_loop.enabled)", item.id)
        }
        // There the file's own word is expected.
        _ if as_json => format!("{} is {} already", item.id, backlog.status(at)),
        state => {
            let own = own_word(state, &backlog.status(at), place);
            format!("{} is {} already{own}", item.id, state.word())
        }
    }
}

/// What a run by the project's settings would select.
pub(in crate::cli) fn as_a_run_would(
    place: &Place,
    backlog: &Backlog<'_>,
    wish: Wish<'_>,
) -> (Selection, Stats) {
    match super::counted(place) {
        Some(source) => select_but(backlog, wish, |at| source.left_out(backlog, at)),
        None => select_with(backlog, wish, &TwoHands),
    }
}

fn document(selection: &Selection, backlog: &Backlog<'_>, stats: &Stats) -> Value {
    let id = |at: &usize| backlog.items()[*at].id.clone().into_owned();
    let (mut waiting, mut blocking): (Vec<Value>, Vec<String>) = (vec![], vec![]);
    if let Selection::Waiting(items) = selection {
        waiting = items.iter().map(|one| json!({ "id": id(&one.item), "on": one.on })).collect();
        blocking = items.iter().flat_map(|one| one.on.clone()).collect();
        blocking.sort();
        blocking.dedup();
    }
    let mut at_limit: Vec<String> = match selection {
        Selection::AtLimit(items) => items.iter().map(id).collect(),
        Selection::Waiting(items) => items.iter().flat_map(|one| one.at_limit.clone()).collect(),
        _ => vec![],
    };
    at_limit.sort();
    at_limit.dedup();
    let cycle: &[String] = if let Selection::Cycle(ring) = selection { ring } else { &[] };
    json!({
        "schema": "ralph.next/1",
        "success": matches!(selection, Selection::Item(_)),
        "reason": selection.reason(),
        "selected": if let Selection::Item(at) = selection { selected(backlog, *at) } else { Value::Null },
        "dependency_check": { "satisfied": blocking.is_empty() && cycle.is_empty(), "blocking_deps": blocking },
        "waiting": waiting,
        "at_limit": at_limit,
        "cycle": cycle,
        "stats": stats,
    })
}

/// Seed 003's keys, and those of the other dialects.
fn selected(backlog: &Backlog<'_>, at: usize) -> Value {
    let item = &backlog.items()[at];
    let value = backlog.value(at);
    json!({
        "id": item.id,
        "title": item.title,
        "priority": value["priority"],
        "status": backlog.status(at),
        "state": item.state.word(),
        "phase": item.phase,
        "line": backlog.line(at),
        "ralph_loop": value["ralph_loop"],
        "prd_reference": value["prd_reference"],
    })
}

pub(in crate::cli) fn message(
    selection: &Selection,
    backlog: &Backlog<'_>,
    stats: &Stats,
    place: &Place,
) -> String {
    let id = |at: &usize| backlog.items()[*at].id.clone().into_owned();
    // Of several, the command for the first: it can be typed as it stands.
    let typed = |items: &[usize]| items.first().map(|at| quoted(&id(at))).unwrap_or_default();
    let named = |items: &[usize]| {
        let names: Vec<String> = items.iter().take(NAMED).map(id).collect();
        more(&names.join(", "), items.len())
    };
    match selection {
        Selection::Item(at) => format!("selected {}", id(at)),
        Selection::Complete if stats.disabled > 0 && backlog.shape() == Shape::Beads => {
            let left = text::count(stats.disabled, "issue");
            format!("Backlog complete: {left} left that others have in hand, or that bd does not hand out")
        }
        Selection::Complete if stats.disabled > 0 => {
            let left = text::count(stats.disabled, "item");
            format!("Backlog complete: {left} without ralph_loop.enabled left for people")
        }
        Selection::Complete if backlog.items().is_empty() => {
            "the backlog is empty; to add an item: ralph backlog add \"TITLE\"".into()
        }
        Selection::Complete => "Backlog complete".into(),
        Selection::Waiting(items) => {
            let waits = items.iter().take(NAMED).map(|one| one.told(backlog));
            let waits = more(&waits.collect::<Vec<_>>().join("; "), items.len());
            format!("no item can begin: {waits}{}", to_settle(items, backlog, place))
        }
        Selection::AtLimit(items) => format!(
            "all that is left has used up its iterations: {}; to give one new ones: ralph backlog reset {}{}",
            named(items),
            typed(items),
            place.flag()
        ),
        Selection::Blocked(items) => {
            let (first, which) = (typed(items), place.flag());
            format!(
                "only blocked items are left: {}; to open one: ralph backlog reset {first}{which}",
                named(items)
            )
        }
        Selection::Unknown(items) if items.iter().all(|at| backlog.lacks_steps(*at)) => {
            format!("{}; {TO_GIVE_STEPS}", without_steps(backlog, items))
        }
        Selection::Unknown(items) => format!(
            "what is left has a status that nobody knows: {}; to have one worked on: ralph backlog set {} open{}",
            named(items),
            typed(items),
            place.flag()
        ),
        Selection::Cycle(ring) => format!(
            "items depend on each other in a ring: {}; take one of these dependencies out of the file",
            ring.join(" -> ")
        ),
    }
}

/// The command without which nothing begins, where there is one.
fn to_settle(waiting: &[Waiting], backlog: &Backlog<'_>, place: &Place) -> String {
    let counted = super::counted(place);
    let is_out = |at: usize| counted.as_ref().is_some_and(|source| source.left_out(backlog, at).is_some());
    match spent(backlog, waiting, is_out) {
        Some(id) => format!("; to have {id} tried again: ralph backlog reset {}{}", quoted(id), place.flag()),
        None => String::new(),
    }
}

fn more(names: &str, all: usize) -> String {
    if all > NAMED { format!("{names} and {} more", all - NAMED) } else { names.to_owned() }
}
