//! Nobody of an earlier run may still be at work; and what they did after the last record counts.

use std::time::Duration;

use ralph_core::state::State;

use crate::error::{Error, Result};
use crate::process::{self, Mark};
use crate::project::Project;
use crate::store::{self, IterationFiles, Run};
use crate::ui::Ui;
use crate::{clock, runner};

/// How long what nobody keeps any more may take to end after TERM.
const LEFTOVERS: Duration = Duration::from_secs(2);
/// How long keepers of an earlier run may take to end what they keep, before we give up.
const KEEPERS: Duration = Duration::from_secs(20);

/// How long an agent or a check went on after the last record of a run that was cut off.
pub(super) fn unrecorded(run: &Run, state: &State) -> u64 {
    let sign = files_in_use(run, state).last_sign().unwrap_or_default();
    sign.min(clock::now()).since(state.updated_at)
}

/// What was left at work went on without anybody.
pub(super) fn went_on_until_now(run: &Run, state: &State) {
    files_in_use(run, state).sign();
}

fn files_in_use(run: &Run, state: &State) -> IterationFiles {
    match state.current {
        Some(_) => run.files(state.iteration),
        None => run.baseline_files(),
    }
}

/// Waits until nobody of an earlier run is at work on the files, or ends them; whether it had to.
pub(in crate::cli) fn be_alone(project: &Project, ui: &mut Ui) -> Result<bool> {
    let custody = runner::custody_file(&project.truth);
    let waited = store::wait_for_keepers(&custody, KEEPERS);
    // A keeper that does not do its duty is ended with what it keeps: it has the mark too.
    let ended = end_leftovers(project, ui)?;
    waited.or_else(|_| store::wait_for_keepers(&custody, LEFTOVERS))?;
    Ok(ended)
}

/// What an earlier run left because it was killed together with its keeper.
fn end_leftovers(project: &Project, ui: &mut Ui) -> Result<bool> {
    let Ok(mark) = Mark::of(&project.root) else { return Ok(false) };
    let swept = process::sweep(mark, LEFTOVERS);
    if !swept.survivors.is_empty() {
        return Err(Error::new("an agent or check of an earlier run is still at work here")
            .because(format!("these processes cannot be ended: {:?}", swept.survivors))
            .hint("end them yourself, then try again"));
    }
    if swept.ended > 0 {
        let word = if swept.ended == 1 { "process" } else { "processes" };
        ui.warn(&format!("ended {} {word} that a killed run had left at work", swept.ended));
    }
    Ok(swept.ended > 0)
}
