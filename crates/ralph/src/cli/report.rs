//! `ralph report`: check a status block, or have one written from what can be measured.

mod changed;
mod check;
mod emit;
mod facts;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand, ValueEnum};
use ralph_core::report::block::{Status, WorkType};

use crate::error::{Error, Result};
use crate::ui::Ui;

#[derive(Debug, Subcommand)]
pub(super) enum ReportCommand {
    /// Tell whether the last status block of a text is right; exit 1 with every violated check named
    Check(CheckArgs),
    /// Write a status block from what git, the tests and the plan say; exit 1 if that contradicts --status
    Emit(EmitArgs),
}

#[derive(Debug, Args)]
pub(super) struct CheckArgs {
    /// The text with the block; - or nothing: standard input
    file: Option<PathBuf>,
    #[command(flatten)]
    measured: MeasuredArgs,
}

#[derive(Debug, Args)]
pub(super) struct EmitArgs {
    /// How the iteration ended [default: derived from plan and tests]
    #[arg(long, ignore_case = true)]
    status: Option<StatusArg>,
    /// How many tasks were completed in this iteration
    #[arg(long, value_name = "N", value_parser = super::args::whole::<u64>, allow_negative_numbers = true)]
    tasks: u64,
    /// What the work mostly was
    #[arg(long, value_name = "TYPE", ignore_case = true)]
    work_type: WorkTypeArg,
    /// What comes next, or how it ended, in one line: "Next: …", "Blocked: …"
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    recommendation: String,
    /// Something went wrong and is not settled: no exit signal
    #[arg(long)]
    errors: bool,
    /// There is work left that is in no plan: no exit signal
    #[arg(long)]
    more_work: bool,
    #[command(flatten)]
    measured: MeasuredArgs,
}

#[derive(Debug, Args)]
struct MeasuredArgs {
    /// Run the tests with this command, in the project: exit 0 means PASSING
    #[arg(long, value_name = "CMD")]
    test_cmd: Option<String>,
    /// Count the files that changed since this revision, and look for TODO, FIXME and unimplemented! that were added
    /// [default: HEAD; `check` counts files only with --since]
    #[arg(long, value_name = "REV")]
    since: Option<String>,
    /// The task file whose open items mean that tasks remain [default: each that `ralph run` would find]
    #[arg(long, value_name = "FILE")]
    plan: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum StatusArg {
    /// Tasks remain, or tests fail
    #[value(name = "IN_PROGRESS")]
    InProgress,
    /// All is done and the tests pass
    #[value(name = "COMPLETE")]
    Complete,
    /// Nothing goes on without help from outside
    #[value(name = "BLOCKED")]
    Blocked,
}

impl From<StatusArg> for Status {
    fn from(status: StatusArg) -> Self {
        match status {
            StatusArg::InProgress => Self::InProgress,
            StatusArg::Complete => Self::Complete,
            StatusArg::Blocked => Self::Blocked,
        }
    }
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum WorkTypeArg {
    /// New code
    #[value(name = "IMPLEMENTATION")]
    Implementation,
    /// Writing or mending tests
    #[value(name = "TESTING")]
    Testing,
    /// Docs, specifications, comments
    #[value(name = "DOCUMENTATION")]
    Documentation,
    /// New structure, same behaviour
    #[value(name = "REFACTORING")]
    Refactoring,
}

impl From<WorkTypeArg> for WorkType {
    fn from(work_type: WorkTypeArg) -> Self {
        match work_type {
            WorkTypeArg::Implementation => Self::Implementation,
            WorkTypeArg::Testing => Self::Testing,
            WorkTypeArg::Documentation => Self::Documentation,
            WorkTypeArg::Refactoring => Self::Refactoring,
        }
    }
}

pub(super) fn main(command: &ReportCommand, ui: &mut Ui) -> Result<ExitCode> {
    let (ReportCommand::Check(CheckArgs { measured, .. }) | ReportCommand::Emit(EmitArgs { measured, .. })) =
        command;
    // An empty command would pass, and an empty revision would be taken for another one.
    for (name, value) in [("--test-cmd", &measured.test_cmd), ("--since", &measured.since)] {
        if value.as_ref().is_some_and(|value| value.trim().is_empty()) {
            return Err(Error::usage(format!("{name} is empty")));
        }
    }
    match command {
        ReportCommand::Check(args) => check::main(args, ui),
        ReportCommand::Emit(args) => emit::main(args, ui),
    }
}
