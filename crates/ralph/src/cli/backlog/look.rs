//! `ralph backlog list`, `show` and `status`.

use std::process::ExitCode;

use ralph_core::backlog::{Backlog, Item, Selection, State, Stats, Wish};
use ralph_core::ledger::Attempted;
use ralph_core::text;
use ralph_core::view::evidence;
use serde_json::{Value, json};

use super::args::{ListArgs, ShowArgs};
use super::next::as_a_run_would;
use super::{REASON, in_ledger, tried};
use crate::clock;
use crate::error::{Error, Result};
use crate::project::Project;
use crate::secrets;
use crate::store::{Pass, Tried};
use crate::suggest::quoted;
use crate::tree::{Tree, TreeId};
use crate::ui::Ui;
use crate::work::Place;

pub(super) fn list(args: &ListArgs, ui: &mut Ui) -> Result<ExitCode> {
    let place = args.common.place()?;
    let bytes = place.read()?;
    let backlog = place.parse(&bytes)?;
    if args.common.json {
        let mut document = overview(&place, &backlog);
        let lines = backlog.lines();
        let known = tried(&place);
        let entries = lines.iter().enumerate().map(|(at, line)| entry(&backlog, at, *line, &known));
        document["items"] = entries.collect();
        ui.json(&document);
    } else {
        let wide = backlog.items().iter().map(|item| item.id.chars().count()).max().unwrap_or(0).min(40);
        let known = tried(&place);
        for item in backlog.items() {
            let title = text::one_line(&item.title, 200);
            let (state, _) = stands(&known, &backlog, item);
            ui.data_row(wide + 15, &format!("{state:<11}  {:<wide$}  {title}", item.id));
        }
        if backlog.items().is_empty() {
            let which = place.flag();
            ui.say(&format!("{} has no items yet; ralph backlog add \"TITLE\"{which}", place.shown()));
        }
        let left = disabled(&backlog, State::is_open);
        if left > 0 {
            ui.say(&format!(
                "{} disabled: not for the loop, and not counted as open",
                text::count(left, "item")
            ));
        }
        let by_words = claimed(&known, &backlog);
        if by_words > 0 {
            ui.say(&format!(
                "{} claimed: done by an agent's word, and no check speaks for it; ralph backlog show ID",
                text::count(by_words, "item")
            ));
        }
        problems(&backlog, ui);
    }
    super::super::fine()
}

/// The word for how an item stands, and what there is to say about it: where it is not for the loop, or is done and nothing but
/// an agent's word speaks for that.
fn stands(known: &Tried, backlog: &Backlog<'_>, item: &Item<'_>) -> (&'static str, String) {
    let (id, title) = (&*item.id, &*item.title);
    let unfinished = item.state.is_unfinished();
    if let Some(why) = known.skipped(id, title).filter(|_| unfinished) {
        return (
            "skipped",
            if why.is_empty() { String::new() } else { format!(": {}", text::one_line(why, REASON)) },
        );
    }
    let opened =
        || item.state.is_open() && backlog.find(id).is_some_and(|at| backlog.can_say(at, State::Blocked));
    let park = known.park(id, title).filter(|_| unfinished && known.is_parked(id, title) && !opened());
    if let Some(park) = park {
        return ("parked", format!(": {}", park.reason));
    }
    let (word, why) = match item.state.word() {
        _ if !item.enabled && item.state.is_open() => ("disabled", ": not for the loop"),
        _ if is_claimed(known, item) => ("claimed", ": done by an agent's word, and no check speaks for it"),
        word => (word, ""),
    };
    (word, why.to_owned())
}

fn pass<'a>(known: &'a Tried, item: &Item<'_>) -> Option<&'a Pass> {
    (item.state == State::Done).then(|| known.passed(&item.id, &item.title)).flatten()
}

fn is_claimed(known: &Tried, item: &Item<'_>) -> bool {
    pass(known, item).is_some_and(|pass| pass.claimed)
}

/// How many items are done by a word alone.
fn claimed(known: &Tried, backlog: &Backlog<'_>) -> u64 {
    backlog.items().iter().filter(|item| is_claimed(known, item)).count() as u64
}

/// How many items in such a state are not for the loop.
fn disabled(backlog: &Backlog<'_>, is_meant: impl Fn(State) -> bool) -> u64 {
    backlog.items().iter().filter(|item| !item.enabled && is_meant(item.state)).count() as u64
}

pub(super) fn status(args: &ListArgs, ui: &mut Ui) -> Result<ExitCode> {
    let place = args.common.place()?;
    let bytes = place.read()?;
    let backlog = place.parse(&bytes)?;
    if args.common.json {
        ui.json(&overview(&place, &backlog));
    } else {
        let (selection, stats) = as_a_run_would(&place, &backlog, Wish::default());
        let line = |name: &str, value: String| ui.data_row(13, &format!("{name:<13}{value}"));
        line("backlog:", format!("{} ({})", place.shown(), backlog.shape().word()));
        line("items:", stats.total.to_string());
        for (name, count) in [
            ("open:", stats.open - disabled(&backlog, |state| state == State::Open)),
            ("in_progress:", stats.in_progress - disabled(&backlog, |state| state == State::InProgress)),
            ("done:", stats.done),
            ("blocked:", stats.blocked),
            ("cancelled:", stats.cancelled),
            ("unknown:", stats.unknown),
            ("disabled:", stats.disabled),
        ] {
            if count > 0 {
                line(name, count.to_string());
            }
        }
        let by_words = claimed(&tried(&place), &backlog);
        if by_words > 0 {
            line("claimed:", format!("{by_words} of what is done: nothing but an agent's word says so"));
        }
        let refused = refused(&place, &backlog, &selection);
        line("to do:", to_do(&stats, refused.is_some()));
        line(
            "next:",
            match selection {
                Selection::Item(at) => refused.map_or_else(
                    || {
                        let item = &backlog.items()[at];
                        format!("{}  {}", item.id, text::one_line(&item.title, 200))
                    },
                    |error| format!("none: {}", error.what),
                ),
                Selection::Complete if stats.total == 0 => "none: there are no items yet".into(),
                other => format!("none: {}", super::next::message(&other, &backlog, &stats, &place)),
            },
        );
        problems(&backlog, ui);
    }
    super::super::fine()
}

pub(super) fn show(args: &ShowArgs, ui: &mut Ui) -> Result<ExitCode> {
    let (patch, args) = (args.patch, &args.one);
    let place = args.common.place()?;
    let bytes = place.read()?;
    let backlog = place.parse(&bytes)?;
    let at = place.meant(&backlog, &args.id)?;
    let id = &*backlog.items()[at].id;
    if patch {
        return show_patch(&place, id, &backlog.items()[at].title, ui);
    }
    let prd = place.requirements(&backlog, at);
    if args.common.json {
        let mut document = entry(&backlog, at, backlog.line(at), &tried(&place));
        document["schema"] = "ralph.item/1".into();
        document["backlog"] = place.shown().into();
        document["status"] = backlog.status(at).into();
        document["description"] = backlog.description(at).into();
        document["criteria"] = backlog.criteria(at).into();
        document["verification"] = backlog.verification(at).into();
        document["notes"] = backlog.notes(at).into();
        document["attempts"] = backlog.attempts(at).len().into();
        document["recorded"] = in_ledger(&place, id).0.iter().map(recorded).collect();
        document["value"] = backlog.value(at);
        ui.json(&document);
    } else {
        let item = &backlog.items()[at];
        let line = if place.is_beads() { String::new() } else { format!(", line {}", backlog.line(at)) };
        let known = tried(&place);
        let (word, why) = stands(&known, &backlog, item);
        let own = match backlog.status(at) {
            own if word == item.state.word() && item.state.is_called(&own) => String::new(),
            own => format!("{own} in "),
        };
        ui.data_line(&format!("{word} ({own}{}{line}){why}", place.shortly()));
        if item.priority != i64::MAX {
            ui.data_line(&format!("priority: {}", item.priority));
        }
        if let Some(phase) = &item.phase {
            ui.data_line(&format!("phase: {}", text::one_line(phase, 200)));
        }
        if let Some(limit) = item.limit {
            ui.data_line(&format!("iterations: {} of {}", limit.used, limit.max));
        }
        if !item.dependencies.is_empty() {
            ui.data_line(&format!("depends on: {}", item.dependencies.join(", ")));
        }
        let required = prd.as_ref().and_then(|prd| prd.as_ref().ok());
        ui.data_line(&format!("\n{}", backlog.words(at, required).trim_end()));
        if let Some(Err(why)) = &prd {
            ui.warn(why);
        }
        for answer in known.answers(id, &item.title) {
            ui.data_line(&format!("\nyou said: {}", text::one_line(answer, REASON)));
        }
        if known.park(id, &item.title).is_some_and(|park| park.patch.is_some()) {
            ui.data_line(&format!(
                "\nwork set aside: ralph backlog show {} --patch{}",
                quoted(id),
                place.flag()
            ));
        }
        let (attempts, all) = in_ledger(&place, id);
        if all > 0 {
            ui.data_line(&format!(
                "\nAttempts, newest last ({} of {all}; all of each: ralph evidence show {}):",
                attempts.len(),
                quoted(id)
            ));
        }
        for attempted in &attempts {
            ui.data_line(&attempt_line(attempted));
        }
    }
    super::super::fine()
}

/// The work that was set aside with a parked item.
fn show_patch(place: &Place, id: &str, title: &str, ui: &mut Ui) -> Result<ExitCode> {
    let none = || Error::no(format!("no work of {id} was set aside"));
    let known = tried(place);
    let patch = known.park(id, title).and_then(|park| park.patch.as_ref()).ok_or_else(none)?;
    let (project, _) = super::beside::projects_of(place)?.into_iter().next().ok_or_else(none)?;
    // A snapshot borrows what the repository has already.
    let project = Project::at(&project.root)?;
    let (Some(before), Some(after)) = (TreeId::new(&patch.before), TreeId::new(&patch.after)) else {
        return Err(Error::data("the ledger names a snapshot that cannot be one"));
    };
    let tree = Tree::look(&project.root, &project.truth, project.repo.as_ref());
    let bytes = tree.and_then(|tree| tree.patch(&before, &after));
    let bytes =
        bytes.map_err(|error| Error::new(format!("the work of {id} cannot be read")).because(error))?;
    ui.data(secrets::of(&project.root).hide(&String::from_utf8_lossy(&bytes)).as_bytes());
    super::super::fine()
}

/// Why an item that would be next is not handed out.
fn refused(place: &Place, backlog: &Backlog<'_>, selection: &Selection) -> Option<Error> {
    let Selection::Item(at) = selection else { return None };
    place.is_alone(backlog, *at).err()
}

/// How what is open or begun stands, of what is for the loop: `3: 2 could begin now, 1 waiting for others`
fn to_do(stats: &Stats, held_up: bool) -> String {
    let parts = [
        (stats.eligible, if held_up { "held up by what is said of the next" } else { "could begin now" }),
        (stats.waiting, "waiting for others"),
        (stats.at_limit, "out of iterations"),
        (stats.parked, "parked"),
        (stats.skipped, "skipped"),
    ];
    let parts = parts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}"));
    let all = stats.open + stats.in_progress - stats.disabled;
    match parts.collect::<Vec<_>>().join(", ") {
        parts if parts.is_empty() => "nothing".into(),
        parts => format!("{all}: {parts}"),
    }
}

/// `- #3 FAILED, 2026-…: cargo test exit 101`
fn attempt_line(attempted: &Attempted) -> String {
    let record = &attempted.record;
    let at = clock::for_people(&record.at);
    let mut line = format!("- #{} {}, {at}", record.iteration, evidence::result(record));
    if !record.why.is_empty() {
        line.push_str(&format!(": {}", text::one_line(&record.why, REASON)));
    }
    line
}

fn recorded(attempted: &Attempted) -> Value {
    let record = &attempted.record;
    json!({
        "attempt": record.attempt,
        "iteration": record.iteration,
        "at": record.at,
        "result": record.result,
        "claimed": record.is_claimed(),
        "without_change": record.without_change,
        "why": text::one_line(&record.why, REASON),
        "commit": attempted.commit(),
    })
}

fn overview(place: &Place, backlog: &Backlog<'_>) -> Value {
    let (selection, stats) = as_a_run_would(place, backlog, Wish::default());
    let (name, version) = backlog.project();
    let next = match selection {
        Selection::Item(at) if refused(place, backlog, &selection).is_none() => Some(&backlog.items()[at].id),
        _ => None,
    };
    json!({
        "schema": "ralph.backlog/1",
        "backlog": place.shown(),
        "format": backlog.shape().word(),
        "project": { "name": name, "version": version },
        "phases": backlog.phases(),
        "next": next,
        "stats": stats,
        "claimed": claimed(&tried(place), backlog),
        "problems": backlog.problems().iter().map(ToString::to_string).collect::<Vec<_>>(),
    })
}

fn entry(backlog: &Backlog<'_>, at: usize, line: usize, known: &Tried) -> Value {
    let item = &backlog.items()[at];
    let pass = pass(known, item);
    json!({
        "id": item.id,
        "title": item.title,
        "state": item.state.word(),
        "claimed": pass.is_some_and(|pass| pass.claimed),
        "without_change": pass.is_some_and(|pass| pass.without_change),
        "priority": if item.priority == i64::MAX { None } else { Some(item.priority) },
        "phase": item.phase,
        "dependencies": item.dependencies,
        "enabled": item.enabled,
        "current_iteration": item.limit.map(|limit| limit.used),
        "max_iterations": item.limit.map(|limit| limit.max),
        "line": line,
    })
}

fn problems(backlog: &Backlog<'_>, ui: &mut Ui) {
    for problem in backlog.problems() {
        ui.warn(&problem.to_string());
    }
}
