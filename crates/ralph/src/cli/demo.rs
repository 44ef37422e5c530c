//! `ralph demo`: a throw-away project in which an agent lies, is caught, and mends its ways.

use std::process::ExitCode;

use super::args::DemoArgs;
use super::run::{self, Order, Which};
use crate::demo;
use crate::error::{Error, Result};
use crate::project::Project;
use crate::settings::{self, AgentWishes, For, Value, Wishes};
use crate::suggest;
use crate::ui::Ui;

pub(super) fn main(args: DemoArgs, ui: &mut Ui) -> Result<ExitCode> {
    let agent = match args.agent {
        Some(name) => AgentWishes {
            names: vec![name],
            permissions: args.permissions.map(|chosen| For::all(chosen.into())).into_iter().collect(),
            ..AgentWishes::default()
        },
        None => AgentWishes { commands: vec![demo::agent_command()?], ..AgentWishes::default() },
    };
    let most = Value { key: "max_iterations".into(), value: "10".into(), origin: "demo".into() };
    let checks = vec![("test", demo::TEST.to_owned())];
    let mut wishes = Wishes { agent, values: vec![most], checks, ..Wishes::default() };
    // Before the folder is made, so that none is left behind by a demo that cannot begin.
    let settled = settings::settle(&wishes, None).map_err(in_demo_s_words)?;
    let chosen = settled.plan.agents.first().and_then(|agent| agent.permissions);
    wishes.agent.permissions = chosen.map(For::all).into_iter().collect();
    let dir = demo::make(args.dir)?;
    ui.say(&format!("A project with a failing test, made for this: {}", dir.display()));
    ui.say("The agent may say what it likes; ralph runs the test itself.\n");
    let project = Project::at(&dir)?;
    let order = Order {
        goal: Some(demo::GOAL),
        which: Which::Fresh,
        probe: false,
        consent: None,
        branch: None,
        dry: false,
    };
    let stop = run::run(&project, order, &wishes, ui)?;
    ui.say("\nLook around, and delete the folder when you like:");
    ui.command(&format!("cd {}", suggest::quoted(&dir.display().to_string())));
    ui.command(&format!("{} history", demo::own_name()));
    Ok(ExitCode::from(stop.map_or(0, |stop| stop.exit_code())))
}

/// The demo has fewer options than a run.
fn in_demo_s_words(mut error: Error) -> Error {
    error.hints.retain(|hint| !hint.contains("--agent-cmd"));
    for hint in &mut error.hints {
        *hint = hint.replace("--agents ", "--agent ");
    }
    error.hint("ralph demo, which brings a scripted agent")
}
