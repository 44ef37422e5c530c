//! `ralph circuit`: how the circuit breaker stands, and closing it.

use std::process::ExitCode;

use clap::{Args, Subcommand};
use ralph_core::breaker::{Breaker, Circuit};
use ralph_core::event::Event;
use ralph_core::text;
use ralph_core::time::Time;
use ralph_core::view::json;

use crate::clock;
use crate::error::Result;
use crate::project::Project;
use crate::runner::Still;
use crate::store::Runs;
use crate::ui::Ui;

#[derive(Debug, Subcommand)]
pub(super) enum CircuitCommand {
    /// Show whether it is open, why, and how to go on
    Status(StatusArgs),
    /// Close it, and forget what it counted
    Reset,
}

#[derive(Debug, Args)]
pub(super) struct StatusArgs {
    /// As JSON (schema ralph.circuit/1)
    #[arg(long)]
    json: bool,
}

pub(super) fn main(command: &CircuitCommand, ui: &mut Ui) -> Result<ExitCode> {
    let project = Project::look()?;
    match command {
        CircuitCommand::Status(args) => status(args, &project, ui),
        CircuitCommand::Reset => reset(&project, ui),
    }
}

fn status(args: &StatusArgs, project: &Project, ui: &Ui) -> Result<ExitCode> {
    let opened = Runs::of(&project.truth).shown()?;
    let damage = opened.as_ref().filter(|(_, opened)| !opened.writable()).map(|(run, _)| run.number);
    let state = opened.map(|(_, opened)| opened.state).filter(|state| state.run.is_some());
    let breaker = state.as_ref().map_or_else(Breaker::default, |state| state.rules.breaker.clone());
    if args.json {
        let mut document = json::circuit(&breaker);
        document["schema"] = "ralph.circuit/1".into();
        document["run"] = state.as_ref().and_then(|state| state.run.as_ref()).map(|run| run.number).into();
        ui.json(&document);
    } else {
        for line in lines(&breaker, clock::now()) {
            ui.data_line(&line);
        }
        if let Some(run) = damage {
            ui.data_line(&format!(
                "journal:    that of run {run} is damaged, and may know more: ralph doctor"
            ));
        }
    }
    super::fine()
}

fn lines(breaker: &Breaker, now: Time) -> Vec<String> {
    let mut lines = vec![];
    let mut add = |name: &str, value: String| lines.push(format!("{name:<12}{value}"));
    add("circuit:", breaker.circuit.word().into());
    if let Some(reason) = &breaker.reason {
        add("reason:", text::one_line(reason, 400));
    }
    if let Some(at) = breaker.opened_at {
        add("since:", clock::local(at, now));
    }
    if breaker.circuit == Circuit::Open {
        add(
            "next run:",
            match breaker.probe_at {
                Some(at) if now >= at => "may begin now".into(),
                Some(at) => format!("from {} on; before that only with --probe", clock::local(at, now)),
                None => "only with --probe".into(),
            },
        );
    }
    let mut counted = format!(
        "{} without progress, {} with the same errors, {} denied a tool",
        breaker.no_progress, breaker.same_error, breaker.denials
    );
    if breaker.failed_probes > 0 {
        counted.push_str(&format!(", {}", text::count(breaker.failed_probes.into(), "failed probe")));
    }
    add("in a row:", counted);
    match (breaker.circuit, breaker.probe_at) {
        (Circuit::Closed, _) => {}
        (Circuit::Open, Some(at)) if now >= at => {
            add("to go on:", "ralph run tries again, and goes on if it makes progress".into());
        }
        (Circuit::Open, _) => {
            add("to go on:", "ralph run --probe tries again, and goes on if it makes progress; ralph circuit reset closes it".into());
        }
        (Circuit::HalfOpen, _) => add("to go on:", "ralph run: the next iteration decides".into()),
    }
    lines
}

fn reset(project: &Project, ui: &mut Ui) -> Result<ExitCode> {
    let Some(mut still) = Still::open(project)? else {
        ui.say("nothing has been run here yet; there is no circuit to close");
        return super::fine();
    };
    match close(&mut still)? {
        Some(closed) => {
            still.publish(project, ui);
            ui.say(&closed);
        }
        None => ui.say("the circuit is closed, and has counted nothing"),
    }
    super::fine()
}

/// Closes it, if there is anything to close; tells what was.
pub(super) fn close(still: &mut Still) -> Result<Option<String>> {
    let breaker = still.state.rules.breaker.clone();
    if breaker == Breaker::default() {
        return Ok(None);
    }
    still.take(Event::CircuitReset)?;
    let why = breaker.reason.map(|reason| format!(": {}", text::one_line(&reason, 400))).unwrap_or_default();
    Ok(Some(match breaker.circuit {
        Circuit::Closed => "the circuit was closed; what it counted is forgotten".into(),
        circuit => format!("the circuit is closed; it was {}{why}", circuit.word()),
    }))
}
