//! Changing the task file beside a run that works through it: what a person changes there while an agent works cannot be
//! told from what the agent does, and is put back.

use ralph_core::backlog::Change;

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
    let project = Project::look()?;
    let Some(holder) = store::holder(&project.truth) else { return Ok(()) };
    let Ok(file) = below(&project, &place.path) else { return Ok(()) };
    let Some((_, opened)) = Runs::of(&project.truth).shown()? else { return Ok(()) };
    let Some(run) = &opened.state.run else { return Ok(()) };
    if std::env::var_os(RUN).is_some_and(|own| own == run.id.as_str()) {
        return Ok(());
    }
    let worked_through = run.plan.backlog.as_ref().is_some_and(|plan| plan.file == file);
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
    Err(Error::new(format!("a run is going on here (pid {})", holder.pid))
        .because(format!("{why}; nothing was changed"))
        .hint("ralph stop, and try again when it has stopped")
        .hint("to tell the next iteration something: ralph note \"TEXT\""))
}
