//! What a person says about an item outside of its file: an answer, or that it is left out. It is kept in the ledger, and a
//! parked item is opened again in the file too.

use std::io;

use ralph_core::backlog::{Change, State};
use ralph_core::items::BacklogPlan;
use serde_json::Value;

use super::{Source, record};
use crate::error::{Error, Result};
use crate::project::Project;
use crate::secrets;
use crate::store::{Ledger, Op, Steer, Tally};

/// Does what a person says. `append` writes a record to the ledger.
pub(crate) fn apply(
    project: &Project,
    steer: &Steer,
    append: &mut dyn FnMut(Value) -> io::Result<()>,
) -> Result<()> {
    let plan = BacklogPlan { file: steer.backlog.clone(), ..BacklogPlan::default() };
    let source = Source::new(&project.root, &plan, 0)?;
    if steer.op != Op::Skip && is_held(project, &source, steer)? {
        source.change(&Change::Reset { id: steer.item.clone() })?;
    }
    let record = record::steered(steer, &secrets::of(&project.root));
    append(record).map_err(|error| {
        Error::new(format!("{} is as it was", steer.item))
            .because(format!("{} cannot be written: {error}", Ledger::of(&project.truth).path().display()))
    })
}

/// Whether it is blocked in the file, or parked by the record.
fn is_held(project: &Project, source: &Source, steer: &Steer) -> Result<bool> {
    let tried = Tally::default().of(&Ledger::of(&project.truth), Some(steer.backlog.as_bytes()));
    let parked = tried.is_parked(&steer.item, &steer.title);
    Ok(parked || source.state_of(&steer.item)? == Some(State::Blocked))
}
