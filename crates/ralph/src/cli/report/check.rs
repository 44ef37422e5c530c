//! `ralph report check`: seed 000's phase 5 for the last block of a text, or of an agent's own words in its stream.

use std::io::Read;
use std::path::Path;
use std::process::ExitCode;

use ralph_core::report::form::{self, Check, Facts, Tasks, Violation};
use ralph_core::report::{Builder, PROMISE, dialects};
use ralph_core::transcript::{Decoder, Format};

use super::{CheckArgs, changed, facts};
use crate::error::{self, Error, Exit, Result};
use crate::project::Project;
use crate::ui::Ui;

pub(super) fn main(args: &CheckArgs, ui: &mut Ui) -> Result<ExitCode> {
    let text = read(args.file.as_deref(), ui)?;
    let Some(found) = form::find(&text) else {
        let what = format!("there is no status block; {}", instead(&text));
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
    let done = found.claims_done();
    let tasks = match done || measured.plan.is_some() {
        true => facts::tasks(measured.plan.as_deref(), &root()?)?,
        false => Tasks::Untold,
    };
    // A block can be checked without git, too.
    let project = Project::find().ok().filter(|project| done && project.repo.is_some());
    let todos = project.map(|project| changed::todos(&project, measured.since.as_deref())).transpose()?;
    if let Some(warning) = found.warning() {
        ui.warn(&warning);
    }
    let facts = Facts { tests, files, tasks, todos };
    let violations = found.check(&facts);
    if violations.is_empty() {
        ui.say(&looked_at(&facts, done));
    }
    Ok(tell(&violations, ui))
}

/// What is there where no block is.
fn instead(text: &str) -> String {
    let other = dialects::json_and_marker(text).or_else(|| dialects::promise(text, PROMISE));
    match other {
        Some(said) => format!("this is another dialect, which `ralph analyze` reads: {}", said.quote),
        None => "every iteration ends with one".to_owned(),
    }
}

/// What a clean bill covers, and what it does not.
fn looked_at(facts: &Facts, claims_done: bool) -> String {
    let mut checked = vec!["form and consistency".to_owned()];
    let mut not = vec![];
    match &facts.tests {
        Some(fact) => checked.push(format!("tests: {}", fact.run)),
        None => not.push("tests (--test-cmd)"),
    }
    match &facts.files {
        Some(fact) => checked.push(format!("files since {}", fact.since)),
        None => not.push("files (--since)"),
    }
    match &facts.tasks {
        Tasks::Untold if claims_done => not.push("tasks that remain (--plan)"),
        // Whoever claims no end need not have reached it.
        Tasks::Untold => {}
        Tasks::None | Tasks::Remain(_) => checked.push("plan".to_owned()),
    }
    if facts.todos.is_some() {
        checked.push("no TODO, FIXME or unimplemented! added".to_owned());
    }
    let not = if not.is_empty() { String::new() } else { format!("; not checked: {}", not.join(", ")) };
    format!("checked: {}{not}", checked.join(", "))
}

fn tell(violations: &[Violation], ui: &Ui) -> ExitCode {
    for violation in violations {
        ui.data_line(&violation.to_string());
    }
    if violations.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(Exit::Error as u8) }
}

/// Where task files would be.
fn root() -> Result<std::path::PathBuf> {
    Project::find().map(|project| project.root).or_else(|_| {
        std::env::current_dir()
            .map_err(|error| Error::new("the current folder cannot be found").because(error))
    })
}

/// The whole text as it is, or the agent's own words where it is a stream.
fn read(file: Option<&Path>, ui: &Ui) -> Result<String> {
    let bytes = match file.filter(|file| *file != Path::new("-")) {
        Some(file) => std::fs::read(file).map_err(error::named("cannot read", file))?,
        None => {
            ui.reads_standard_input();
            let mut bytes = Vec::new();
            std::io::stdin()
                .read_to_end(&mut bytes)
                .map_err(|error| Error::new("cannot read standard input").because(error))?;
            bytes
        }
    };
    let (mut decoder, mut builder) = (Decoder::new(Format::Auto), Builder::default());
    decoder.feed(&bytes, |item| builder.add(item));
    decoder.finish(|item| builder.add(item));
    Ok(match decoder.format() {
        // Bytes that are no text cannot be part of a block that is right.
        Format::Auto | Format::Text => String::from_utf8_lossy(&bytes).into_owned(),
        _ => builder.into_words(),
    })
}
