//! Changing the task file beside a run that works through it: what a person changes there while an agent works cannot be
//! told from what the agent does, and is put back.

use ralph_core::backlog::Change;
use ralph_core::event::RunInfo;

use super::super::run::below;
use crate::error::{Error, Result};
use crate::project::Project;
use crate::store::{self, Runs};
use crate::work::Place;

/// Told to every agent.
const RUN: &str = "RALPH_RUN_ID";

/// Refuses what the run that goes on would undo. Items may be added at any time; what an agent of that run does is looked
/// at when it has ended.
pub(super) fn not_beside_a_run(place: &Place, change: &Change) -> Result<()> {
    if matches!(change, Change::Add(_)) {
        return Ok(());
    }
    for (project, file) in projects_of(place)? {
        beside(&project, &file, change)?;
    }
    Ok(())
}

/// The projects that a task file is in, wherever ralph was called: the one here; the one that its path leads into; and
/// the one that it leads to where it is a link. With what each calls it.
pub(super) fn projects_of(place: &Place) -> Result<Vec<(Project, String)>> {
    let full = std::path::absolute(&place.path).unwrap_or_else(|_| place.path.clone());
    let real = full.canonicalize().unwrap_or_else(|_| full.clone());
    let elsewhere = [&full, &real].into_iter().filter_map(|path| Project::look_from(path.parent()?).ok());
    let mut found: Vec<(Project, String)> = Vec::new();
    for project in std::iter::once(Project::look()?).chain(elsewhere) {
        let known = found.iter().any(|(known, _)| known.truth == project.truth);
        if let Some(file) = below(&project, &full).ok().filter(|_| !known) {
            found.push((project, file));
        }
    }
    Ok(found)
}

/// Whether an agent of the run that is active here calls.
pub(super) fn is_an_agent_of(project: &Project) -> Result<bool> {
    let shown = Runs::of(&project.truth).shown()?;
    Ok(shown.is_some_and(|(_, opened)| opened.state.run.as_ref().is_some_and(is_of)))
}

fn is_of(run: &RunInfo) -> bool {
    std::env::var_os(RUN).is_some_and(|own| own == run.id.as_str())
}

fn beside(project: &Project, file: &str, change: &Change) -> Result<()> {
    let Some(holder) = store::holder(&project.truth) else { return Ok(()) };
    let Some((_, opened)) = Runs::of(&project.truth).shown()? else { return Ok(()) };
    let Some(run) = &opened.state.run else { return Ok(()) };
    if is_of(run) {
        return Ok(());
    }
    let is_it = |plan: &str| {
        let real = |file: &str| project.root.join(file).canonicalize().ok();
        plan == file || real(plan).is_some_and(|plan| Some(plan) == real(file))
    };
    let worked_through = run.plan.backlog.as_ref().is_some_and(|plan| is_it(&plan.file));
    // A reset is a record in the ledger as well, whichever file it is about.
    let why = match change {
        _ if worked_through => {
            format!("it works through {file}, and would take your change for its agent's and put it back")
        }
        Change::Reset { .. } => {
            "it would take the record of the reset for its agent's and remove it".to_owned()
        }
        _ => return Ok(()),
    };
    let here = Project::look().is_ok_and(|here| here.truth == project.truth);
    let place = if here { "here".to_owned() } else { format!("in {}", project.root.display()) };
    Err(Error::new(format!("a run is going on {place} (pid {})", holder.pid))
        .because(format!("{why}; nothing was changed"))
        .hint("ralph stop, and try again when it has stopped")
        .hint("to tell the next iteration something: ralph note \"TEXT\""))
}
