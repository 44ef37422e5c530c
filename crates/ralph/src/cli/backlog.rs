//! `ralph backlog`: seed 003's scripts as commands, for every task file that ralph reads.
//!
//! | file | holds |
//! |---|---|
//! | `args` | the commands as data |
//! | `next`, `look`, `validate` | commands that only look: `next`; `list`, `show`, `status`; `validate` |
//! | `change` | commands that change the file |
//! | `beside` | which of them have to wait while a run works through it |

mod args;
mod beside;
mod change;
mod look;
mod next;
mod validate;

use std::process::ExitCode;

use ralph_core::backlog::State;
use ralph_core::items::BacklogPlan;
use ralph_core::ledger::Attempted;

pub(super) use args::BacklogCommand;
pub(super) use change::steer;
pub(super) use next::{as_a_run_would, message};

use crate::config::Layers;
use crate::error::Result;
use crate::settings;
use crate::store::{Ledger, Tally, Tried};
use crate::ui::Ui;
use crate::verify::{Anchored, load};
use crate::work::{Place, Source};

/// The task file's own word for a state, beside ralph's, where it is another: ` (todo in .ralph/ralph.yml)`.
fn own_word(state: State, status: &str, place: &Place) -> String {
    if state.is_called(status) { String::new() } else { format!(" ({status} in {})", place.shortly()) }
}

/// How many of an item's attempts are shown, and how much of each.
const SHOWN: usize = 5;
const REASON: usize = 300;

/// The backlog as a run by the project's settings would take it: with what the ledger counts, where these settings count
/// attempts at each item.
fn counted(place: &Place) -> Option<Source> {
    let (project, file) = beside::projects_of(place).ok()?.into_iter().next()?;
    let config = Layers::read(&project.ralph_dir).ok()?.merged();
    let mut policy = settings::profile(config.profile.as_deref().unwrap_or("default")).ok()?.policy();
    settings::set(&mut policy, &config.values).ok()?;
    let most = if policy.each_item { policy.max_iterations } else { 0 };
    let plan = BacklogPlan { file, ..BacklogPlan::default() };
    let source = Source::new(&project.root, &plan, most).ok()?;
    let tried = Tally::default().of(&Ledger::of(&project.truth), source.below(&project.root).as_deref());
    (!tried.is_empty() || source.counts()).then(|| source.knowing(tried))
}

/// How the items of a backlog passed, by what the ledger says.
fn tried(place: &Place) -> Tried {
    let found = beside::projects_of(place).ok().and_then(|found| found.into_iter().next());
    found.map_or_else(Tried::default, |(project, file)| {
        Tally::default().of(&Ledger::of(&project.truth), Some(file.as_bytes()))
    })
}

/// The newest attempts at an item that the ledger has, oldest first, and how many there are.
pub(in crate::cli) fn in_ledger(place: &Place, id: &str) -> (Vec<Attempted>, usize) {
    let found = || {
        let (project, file) = beside::projects_of(place).ok()?.into_iter().next()?;
        let mut attempts = load(&project, Anchored::NotAsked).ok()?.attempts;
        attempts.retain(|attempted| {
            let record = &attempted.record;
            record.item.as_deref() == Some(id) && record.backlog.as_deref() == Some(&*file)
        });
        Some(attempts)
    };
    let mut attempts = found().unwrap_or_default();
    let all = attempts.len();
    (attempts.split_off(all.saturating_sub(SHOWN)), all)
}

pub(super) fn main(command: &BacklogCommand, ui: &mut Ui) -> Result<ExitCode> {
    match command {
        BacklogCommand::Next(args) => next::main(args, ui),
        BacklogCommand::List(args) => look::list(args, ui),
        BacklogCommand::Show(args) => look::show(args, ui),
        BacklogCommand::Status(args) => look::status(args, ui),
        BacklogCommand::Validate(args) => validate::main(args, ui),
        BacklogCommand::Add(args) => change::add(args, ui),
        BacklogCommand::Set(args) => change::set(args, ui),
        BacklogCommand::Attempt(args) => change::attempt(args, ui),
        BacklogCommand::Increment(args) => change::increment(args, ui),
        BacklogCommand::Reset(args) => change::reset(args, ui),
        BacklogCommand::Skip(args) => change::skip(args, ui),
        BacklogCommand::Unskip(args) => change::unskip(args, ui),
    }
}
