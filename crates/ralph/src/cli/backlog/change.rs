//! The commands that change the task file: only the bytes of the change, or not at all.

use std::process::ExitCode;

use ralph_core::backlog::{Attempt, Backlog, Change, Changed, NewItem, Refusal, State, created};
use serde_json::{Value, json};

use super::args::{AddArgs, AttemptArgs, Common, IncrementArgs, OneArgs, SetArgs, SkipArgs};
use super::beside::{is_an_agent_of, not_beside_a_run, projects_of};
use super::{in_ledger, own_word};
use crate::cli::ask::request_id;
use crate::error::{Error, Result};
use crate::project::Project;
use crate::store::{Ledger, Op, Requests, Steer};
use crate::suggest::quoted;
use crate::ui::Ui;
use crate::work::{self, Place, beads, steer_record};
use crate::{clock, secrets, store};

pub(super) fn add(args: &AddArgs, ui: &mut Ui) -> Result<ExitCode> {
    let new = NewItem {
        id: args.id.clone(),
        title: args.title.clone(),
        description: args.description.clone(),
        priority: args.priority.clone(),
        phase: args.phase.clone(),
        dependencies: args.depends.clone(),
        criteria: args.criterion.clone(),
        verification: args.verify.clone(),
    };
    let told = make(&args.common, &Change::Add(new))?;
    tell(ui, &args.common, &told, &format!("added {}", told.id));
    super::super::fine()
}

pub(super) fn set(args: &SetArgs, ui: &mut Ui) -> Result<ExitCode> {
    let change = Change::State { id: args.id.clone(), to: args.state, at: Some(clock::now()) };
    let told = make(&args.common, &change)?;
    let line = match told.changed {
        true => format!("{} is {} now{}", told.id, told.state.word(), told.beside),
        false => format!("{} is {} already{}", told.id, told.state.word(), told.beside),
    };
    tell(ui, &args.common, &told, &line);
    // Where the file keeps attempts it would have been refused.
    if args.state == State::Done && told.changed && told.iterations.is_none() {
        let place = args.common.place()?;
        let proved = in_ledger(&place, &told.id).0.last().is_some_and(|last| last.record.passed());
        if !proved {
            ui.warn(&format!(
                "that {} is done is your word: no evidence of it is recorded, and no check was run",
                told.id
            ));
        }
    }
    super::super::fine()
}

pub(super) fn attempt(args: &AttemptArgs, ui: &mut Ui) -> Result<ExitCode> {
    let trimmed = args.commands.iter().map(|command| command.trim().to_owned());
    let attempt = Attempt {
        run_id: args.run_id.clone(),
        at: clock::now(),
        outcome: args.result.into(),
        commands: trimmed.filter(|command| !command.is_empty()).collect(),
        summary: args.summary.clone(),
        commit: args.commit.clone(),
        reverted: args.reverted,
        failure_reason: args.failure_reason.clone(),
        investigation: args.investigation.clone(),
        files_changed: None,
    };
    let told = make(&args.common, &Change::Attempt { id: args.id.clone(), attempt })?;
    let run_id = told.run_id.as_deref().unwrap_or_default();
    let still = format!("{}{}", told.state.word(), told.beside);
    tell(ui, &args.common, &told, &format!("recorded {run_id} of {}; it is still {still}", told.id));
    super::super::fine()
}

pub(super) fn increment(args: &IncrementArgs, ui: &mut Ui) -> Result<ExitCode> {
    let change = Change::Increment {
        id: args.id.clone(),
        block_on_max: args.block_on_max,
        override_reason: args.override_reason.clone(),
    };
    let told = make(&args.common, &change)?;
    let (used, max) = told.iterations.unwrap_or_default();
    tell(ui, &args.common, &told, &format!("{}: iteration {used} of {max}", told.id));
    if told.blocked {
        ui.warn(&format!("{} has reached its limit and is blocked; a person must look", told.id));
    } else if used >= max && told.state != State::Blocked {
        ui.warn(&format!(
            "{} has reached its limit; --block-on-max --override-reason TEXT blocks it",
            told.id
        ));
    }
    super::super::fine()
}

pub(super) fn reset(args: &OneArgs, ui: &mut Ui) -> Result<ExitCode> {
    let told = make(&args.common, &Change::Reset { id: args.id.clone() })?;
    forget_attempts(&args.common.place()?, &told)?;
    let back = match told.iterations {
        Some(_) => "has its iterations back",
        None => "attempts at it are counted anew, where they are counted",
    };
    let now = format!("{}{}", told.state.word(), told.beside);
    tell(ui, &args.common, &told, &format!("{} is {now}; {back}", told.id));
    super::super::fine()
}

/// Where the file keeps no count, or not the only one, the attempts are counted by the ledger.
fn forget_attempts(place: &Place, told: &Told) -> Result<()> {
    // No run counts for a file elsewhere.
    for (project, backlog) in projects_of(place)? {
        apply_pending(&project)?;
        let ledger = Ledger::of(&project.truth);
        if ledger.path().exists() {
            let (item, title) = (told.id.clone(), told.title.clone());
            let steer = Steer { op: Op::Reset, backlog, item, title, text: String::new() };
            let record = steer_record(&steer, &secrets::of(&project.root));
            recorded(place, told, &ledger, record)?;
        }
    }
    Ok(())
}

pub(super) fn skip(args: &SkipArgs, ui: &mut Ui) -> Result<ExitCode> {
    let text = args.why.clone().unwrap_or_default();
    let steered = steer(&args.one.common.place()?, &args.one.id, Op::Skip, &text)?;
    ui.say(&match steered.queued {
        true => format!("{} will be skipped from the next iteration on", steered.id),
        false => format!(
            "{} is skipped; to have it back: ralph backlog unskip {}",
            steered.id,
            quoted(&steered.id)
        ),
    });
    super::super::fine()
}

pub(super) fn unskip(args: &OneArgs, ui: &mut Ui) -> Result<ExitCode> {
    let steered = steer(&args.common.place()?, &args.id, Op::Unskip, "")?;
    ui.say(&match steered.queued {
        true => format!("{} will be worked on again", steered.id),
        false => format!("{} is no longer skipped; its attempts start again", steered.id),
    });
    super::super::fine()
}

/// What became of a word about an item.
pub(in crate::cli) struct Steered {
    pub(in crate::cli) id: String,
    /// A run is active, and takes it in before its next iteration.
    pub(in crate::cli) queued: bool,
}

/// Records what a person says about an item, or leaves it to the run that is active.
pub(in crate::cli) fn steer(place: &Place, id: &str, op: Op, text: &str) -> Result<Steered> {
    place.is_there()?;
    let bytes = place.read()?;
    let backlog = place.parse(&bytes)?;
    let item = &backlog.items()[place.meant(&backlog, id)?];
    let (item, title) = (item.id.to_string(), item.title.to_string());
    let mut queued = false;
    for (project, file) in projects_of(place)? {
        let text = secrets::of(&project.root).hide(text).into_owned();
        let steer = Steer { op, backlog: file, item: item.clone(), title: title.clone(), text };
        if store::holder(&project.truth).is_none() {
            let ledger = Ledger::of(&project.truth);
            apply_pending(&project)?;
            work::steer(&project, &steer, &mut |record| ledger.append(record).map(drop))?;
            continue;
        }
        if is_an_agent_of(&project)? {
            return Err(Error::new("agents cannot answer or skip items")
                .because("only a person decides what is left out or answered")
                .hint("report BLOCKED, and say what you need"));
        }
        queued = true;
        Requests::of(&project.truth).steer(&request_id(), &steer)?;
    }
    Ok(Steered { id: item, queued })
}

/// What was said to a run that ended before it took that in comes first.
fn apply_pending(project: &Project) -> Result<()> {
    let (requests, ledger) = (Requests::of(&project.truth), Ledger::of(&project.truth));
    for (id, steer) in requests.steers() {
        work::steer(project, &steer, &mut |record| ledger.append(record).map(drop))?;
        requests.steer_is_taken(&id)?;
    }
    Ok(())
}

fn recorded(place: &Place, told: &Told, ledger: &Ledger, record: Value) -> Result<()> {
    let half = |error| {
        Error::new(format!("{} is open, and its attempts still count", told.id))
            .because(format!("{} cannot be written: {error}", ledger.path().display()))
            .hint(format!("ralph backlog reset {}{}", quoted(&told.id), place.flag()))
    };
    ledger.append(record).map(drop).map_err(half)
}

/// What there is to tell about a change.
#[derive(Debug)]
struct Told {
    file: String,
    id: String,
    /// Of an item that was there before.
    title: String,
    /// ralph's word for its state, and the file's own.
    state: State,
    status: String,
    /// The file's own beside it, where it is another.
    beside: String,
    changed: bool,
    run_id: Option<String>,
    iterations: Option<(u64, u64)>,
    blocked: bool,
}

fn make(common: &Common, change: &Change) -> Result<Told> {
    let place = common.place()?;
    place.is_there()?;
    not_beside_a_run(&place, change)?;
    if place.is_beads() {
        return called(&place, change);
    }
    store::edit(&place.path, |bytes| {
        let backlog = place.parse(bytes)?;
        let change = &of_one(change, &place, &backlog)?;
        has_a_count(change, &backlog).map_err(|refusal| place.refused(&refusal, &backlog))?;
        let changed = backlog.change(change).map_err(|refusal| place.refused(&refusal, &backlog))?;
        let title = backlog.find(&changed.id).map(|at| backlog.items()[at].title.to_string());
        let told = Told { title: title.unwrap_or_default(), ..told(&place, &changed) };
        Ok((Some(changed.text.into_bytes()), told))
    })
}

/// The same change, of the item that is meant.
fn of_one(change: &Change, place: &Place, backlog: &Backlog<'_>) -> Result<Change> {
    let mut change = change.clone();
    match &mut change {
        Change::Add(_) => {}
        Change::State { id, .. }
        | Change::Reset { id }
        | Change::Attempt { id, .. }
        | Change::Increment { id, .. } => {
            let at = place.meant(backlog, id)?;
            *id = backlog.items()[at].id.to_string();
        }
    }
    Ok(change)
}

/// A count that the file does not keep cannot be raised.
fn has_a_count(change: &Change, backlog: &Backlog<'_>) -> std::result::Result<(), Refusal> {
    let Change::Increment { id, .. } = change else { return Ok(()) };
    match backlog.find(id).map(|at| backlog.items()[at].limit) {
        Some(None) => Err(Refusal::NoPlace { shape: backlog.shape().word(), what: "a count of iterations" }),
        _ => Ok(()),
    }
}

/// The same where bd keeps the items.
fn called(place: &Place, change: &Change) -> Result<Told> {
    let root = place.root();
    let bytes = place.read()?;
    let backlog = place.parse(&bytes)?;
    let change = &of_one(change, place, &backlog)?;
    let call = backlog
        .call(change, &[], &beads::actor(root))
        .map_err(|refusal| place.refused(&refusal, &backlog))?;
    let printed = call.as_ref().map(|call| beads::call(root, call)).transpose()?;
    let id = match change {
        Change::Add(_) => created(&printed.unwrap_or_default()).unwrap_or_default(),
        Change::State { id, .. } | Change::Reset { id } => id.clone(),
        Change::Attempt { id, .. } | Change::Increment { id, .. } => id.clone(),
    };
    let bytes = place.read()?;
    let backlog = place.parse(&bytes)?;
    let at = place.item(&backlog, &id)?;
    Ok(Told {
        file: place.shown(),
        title: backlog.items()[at].title.to_string(),
        state: backlog.items()[at].state,
        beside: own_word(backlog.items()[at].state, &backlog.status(at), place),
        status: backlog.status(at),
        id,
        changed: call.is_some(),
        run_id: None,
        iterations: None,
        blocked: false,
    })
}

fn told(place: &Place, changed: &Changed) -> Told {
    Told {
        file: place.shown(),
        id: changed.id.clone(),
        title: String::new(),
        state: changed.state,
        beside: own_word(changed.state, &changed.status, place),
        status: changed.status.clone(),
        changed: !changed.edits.is_empty(),
        run_id: changed.run_id.clone(),
        iterations: changed.limit.map(|limit| (limit.used, limit.max)),
        blocked: changed.incremented.is_some_and(|told| told.blocked),
    }
}

fn tell(ui: &mut Ui, common: &Common, told: &Told, line: &str) {
    if !common.json {
        return ui.say(line);
    }
    let document: Value = json!({
        "schema": "ralph.change/1",
        "success": true,
        "backlog": told.file,
        "id": told.id,
        "status": told.status,
        "changed": told.changed,
        "run_id": told.run_id,
        "current_iteration": told.iterations.map(|(used, _)| used),
        "max_iterations": told.iterations.map(|(_, max)| max),
        "blocked": State::parse(&told.status) == Some(State::Blocked),
    });
    ui.json(&document);
}
