//! `ralph report emit`: a block whose numbers were counted and whose STATUS and EXIT_SIGNAL follow from facts.

use std::process::ExitCode;

use ralph_core::report::block::{Status, Tests};
use ralph_core::report::form::{self, Form, Situation};
use ralph_core::todos;

use super::{EmitArgs, changed, facts};
use crate::error::{Error, Result};
use crate::project::Project;
use crate::ui::Ui;

pub(super) fn main(args: &EmitArgs, ui: &mut Ui) -> Result<ExitCode> {
    if let Some(fault) = form::recommendation_fault(&args.recommendation) {
        return Err(Error::usage(fault).hint("--recommendation \"Next: the next task, in one line\""));
    }
    let recommendation = args.recommendation.trim();
    let project = Project::find()?;
    // Before the tests: what they write is not what was worked on.
    let files = changed::since(&project, args.measured.since.as_deref())?;
    let added = changed::todos(&project, args.measured.since.as_deref())?;
    let tasks = facts::tasks(args.measured.plan.as_deref(), &project.root)?;
    let tests = match &args.measured.test_cmd {
        Some(command) => facts::run_tests(command, &project.root, ui)?.tests,
        None => Tests::NotRun,
    };
    let claimed = args.status.map(Status::from);
    let situation = Situation {
        blocked: claimed == Some(Status::Blocked) || form::says_blocked(recommendation),
        tasks,
        tests,
        errors: args.errors,
        more_work: args.more_work || form::says_next(recommendation) || added.total > 0,
    };
    let status = match claimed {
        Some(claimed) => accept(claimed, &situation)?,
        None => form::status(&situation),
    };
    let form = Form {
        status,
        tasks: args.tasks,
        files: files.names.len() as u64,
        tests,
        work_type: args.work_type.into(),
        exit_signal: form::exit_signal(status, &situation),
        recommendation: recommendation.to_owned(),
    };
    if let Some(warning) = form.warning() {
        ui.warn(&warning);
    }
    if status == Status::Complete && !form.exit_signal {
        let why = match (args.errors, args.more_work) {
            (true, _) => "--errors says that something is not settled".into(),
            (false, true) => "--more-work says that there is work left".into(),
            (false, false) if added.total > 0 => todos::told(&added),
            (false, false) => "the RECOMMENDATION names a next task".to_owned(),
        };
        ui.warn(&format!("EXIT_SIGNAL is false although STATUS is COMPLETE: {why}"));
    }
    ui.exact_line(&form.to_string());
    super::super::fine()
}

fn accept(claimed: Status, situation: &Situation) -> Result<Status> {
    let contradictions = form::contradictions(claimed, situation);
    if contradictions.is_empty() {
        return Ok(claimed);
    }
    Err(Error::new("the claimed STATUS contradicts the facts")
        .because(contradictions.join("\n       "))
        .hint("leave --status out: it is then derived from the facts"))
}
