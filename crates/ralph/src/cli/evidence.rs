//! `ralph evidence`: what was claimed, measured and proved; whether it still holds; a document of it.

mod verify;

use std::process::ExitCode;

use clap::{Args, Subcommand, ValueEnum};
use ralph_core::backlog::meant;
use ralph_core::ledger::{Attempted, select};
use ralph_core::state::State;
use ralph_core::view::evidence;
use ralph_core::{text, view};
use serde_json::Value;

use crate::error::{Error, Result};
use crate::project::Project;
use crate::store::Runs;
use crate::ui::Ui;
use crate::verify::{Anchored, Loaded, load};

/// Where a run was proved and there is no record all the same, its history tells.
const NOTHING: &str = "no evidence is recorded here yet: ralph records it for each attempt at an item of a backlog, and for a goal with \
                       ralph run --commit; what runs did and why it counted: ralph history";

/// The same where the last run was to commit its goal.
const NOTHING_CHANGED: &str = "no evidence is recorded here yet: ralph records that of a goal with its commit, and the last run made none, for \
                               nothing was changed; why it counted: ralph history";

/// Why there is none.
fn nothing(project: &Project) -> &'static str {
    let last = Runs::of(&project.truth).newest(true).ok().flatten();
    let unchanged = |state: &State| state.stop().is_some_and(|stop| view::nothing_to_commit(state, stop));
    if last.is_some_and(|(_, state)| unchanged(&state)) { NOTHING_CHANGED } else { NOTHING }
}

#[derive(Debug, Subcommand)]
pub(super) enum EvidenceCommand {
    /// Show what was claimed, measured and proved, newest last: exit 1 if the chain of records is broken
    Show(ShowArgs),
    /// Check the chain of records, and run the recorded checks again in a clean checkout of each commit: exit 0 all
    /// that was proved holds, 1 something fails or the chain is broken, 3 something could not be run, or nothing is proved
    Verify(VerifyArgs),
    /// Write a document that stands by itself, for a pull request or an archive: exit 1 if the chain of records is broken
    Export(ExportArgs),
}

#[derive(Debug, Args)]
pub(super) struct ShowArgs {
    /// An item of the backlog, an attempt, or an iteration's number [default: all]
    what: Option<String>,
    /// As JSON (schema ralph.evidence/1)
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub(super) struct VerifyArgs {
    /// An item of the backlog, an attempt, or an iteration's number [default: all]
    what: Option<String>,
    /// Only look at records and commits; run nothing
    #[arg(long)]
    no_run: bool,
    /// Longest time for one check, such as 90s or 2h [default: 30m]
    #[arg(long, value_name = "TIME", conflicts_with = "no_run")]
    timeout: Option<String>,
    /// As JSON (schema ralph.verification/1)
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub(super) struct ExportArgs {
    #[arg(long, value_enum, default_value_t = ExportFormat::Md)]
    format: ExportFormat,
    /// Only this item of the backlog, this attempt, or this iteration
    #[arg(long, value_name = "ID")]
    item: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ExportFormat {
    /// As in the ledger (schema ralph.evidence/1)
    Json,
    /// Markdown
    Md,
}

pub(super) fn main(command: &EvidenceCommand, ui: &mut Ui) -> Result<ExitCode> {
    match command {
        EvidenceCommand::Show(args) => show(args, ui),
        EvidenceCommand::Verify(args) => verify::main(args, ui),
        EvidenceCommand::Export(args) => export(args, ui),
    }
}

fn show(args: &ShowArgs, ui: &mut Ui) -> Result<ExitCode> {
    let project = Project::look()?;
    let mut loaded = load(&project, Anchored::NotAsked)?;
    if loaded.lines.is_empty() {
        // It has none yet, or has none any more: journals and commits know.
        loaded = load(&project, Anchored::Asked)?;
    }
    let sound = is_sound(&loaded, ui);
    let attempts = chosen(&loaded, args.what.as_deref())?;
    if args.json {
        ui.json(&document(&loaded, args.what.as_deref(), &attempts));
        return Ok(sound);
    }
    for attempted in &attempts {
        evidence::lines(attempted).iter().for_each(|line| ui.data_line(line));
    }
    if attempts.is_empty() && loaded.summary.faults.is_empty() {
        ui.say(nothing(&project));
    }
    Ok(sound)
}

/// Says what is wrong with the ledger, for whoever takes what is shown for evidence; and as `verify` does, 1 if anything is.
fn is_sound(loaded: &Loaded, ui: &mut Ui) -> ExitCode {
    let faults = &loaded.summary.faults;
    for fault in faults {
        ui.warn(&format!("ledger {}: {}", fault.kind.word(), text::one_line(&fault.what, 400)));
    }
    if faults.is_empty() {
        return ExitCode::SUCCESS;
    }
    ui.warn(
        "the ledger is not as ralph wrote it; to look at every record and its commit: ralph evidence verify",
    );
    ExitCode::FAILURE
}

fn export(args: &ExportArgs, ui: &mut Ui) -> Result<ExitCode> {
    let loaded = load(&Project::find()?, Anchored::Asked)?;
    let sound = is_sound(&loaded, ui);
    let attempts = chosen(&loaded, args.item.as_deref())?;
    match args.format {
        ExportFormat::Json => ui.json(&document(&loaded, args.item.as_deref(), &attempts)),
        ExportFormat::Md => ui.data(evidence::markdown(&loaded.summary, &attempts).as_bytes()),
    }
    Ok(sound)
}

/// Where all is meant, what belongs to no attempt too.
fn document(loaded: &Loaded, what: Option<&str>, attempts: &[Attempted]) -> Value {
    let records = if what.is_some() { loaded.records_of(attempts) } else { loaded.records() };
    evidence::document(&loaded.summary, &records)
}

/// The attempts that are meant.
fn chosen(loaded: &Loaded, what: Option<&str>) -> Result<Vec<Attempted>> {
    let Some(what) = what else { return Ok(loaded.attempts.clone()) };
    let mut found = select(loaded.attempts.clone(), what);
    if found.is_empty() {
        let records = loaded.attempts.iter().map(|attempted| &attempted.record);
        let known = records.filter_map(|record| Some((record.item.as_deref()?, record.title.as_deref())));
        match meant(what, known).as_slice() {
            [] => {}
            [id] => found = select(loaded.attempts.clone(), id),
            several => {
                return Err(Error::usage(format!("'{what}' may be any of several items"))
                    .because(format!("they are {}", text::one_line(&several.join(", "), 400)))
                    .hint("write the whole id of one of them"));
            }
        }
    }
    match found.is_empty() {
        true if !loaded.summary.faults.is_empty() => {
            Err(Error::no(format!("no evidence is recorded of '{what}'"))
                .because(
                    "records are missing from the ledger, or are not what was recorded; it may be among them",
                )
                .hint("ralph evidence verify"))
        }
        true => Err(Error::usage(format!("no evidence is recorded of '{what}'"))
            .because("it is neither an item, nor an attempt, nor an iteration that has a record")
            .hint("ralph evidence show")),
        false => Ok(found),
    }
}
