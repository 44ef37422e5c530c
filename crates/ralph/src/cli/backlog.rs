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

pub(super) use args::BacklogCommand;

use crate::error::Result;
use crate::ui::Ui;

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
    }
}
