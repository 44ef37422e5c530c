//! `ralph report check`: seed 000's phase 5 for the last block of a text.

use std::io::Read;
use std::path::Path;
use std::process::ExitCode;

use ralph_core::report::form::{self, Check, Facts, Violation};

use super::{CheckArgs, changed, facts};
use crate::error::{self, Error, Exit, Result};
use crate::project::Project;
use crate::ui::Ui;

pub(super) fn main(args: &CheckArgs, ui: &mut Ui) -> Result<ExitCode> {
    let text = read(args.file.as_deref())?;
    let Some(found) = form::find(&text) else {
        let what = "there is no status block; every iteration ends with one".to_owned();
        return Ok(tell(&[Violation { check: Check::Format, what }], ui));
    };
    let measured = &args.measured;
    let files = match &measured.since {
        Some(rev) => Some(changed::since(&Project::find()?, Some(rev))?),
        None => None,
    };
    let tests = match &measured.test_cmd {
        Some(command) => Some(facts::run_tests(command, &Project::find()?.root, ui)?),
        None => None,
    };
    let plan = if found.claims_done() || measured.plan.is_some() {
        facts::plan(measured.plan.as_deref(), &root()?)?
    } else {
        None
    };
    if let Some(warning) = found.warning() {
        ui.warn(&warning);
    }
    Ok(tell(&found.check(&Facts { tests, files, tasks: plan.into() }), ui))
}

fn tell(violations: &[Violation], ui: &Ui) -> ExitCode {
    for violation in violations {
        ui.data_line(&violation.to_string());
    }
    if violations.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(Exit::Error as u8) }
}

/// Where a plan would be. A block can be checked without git, too.
fn root() -> Result<std::path::PathBuf> {
    Project::find().map(|project| project.root).or_else(|_| {
        std::env::current_dir()
            .map_err(|error| Error::new("the current folder cannot be found").because(error))
    })
}

/// The whole text; bytes that are no text cannot be part of a block that is right.
fn read(file: Option<&Path>) -> Result<String> {
    let bytes = match file.filter(|file| *file != Path::new("-")) {
        Some(file) => std::fs::read(file).map_err(error::io("cannot read", file))?,
        None => {
            let mut bytes = Vec::new();
            std::io::stdin()
                .read_to_end(&mut bytes)
                .map_err(|error| Error::new("cannot read standard input").because(error))?;
            bytes
        }
    };
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
