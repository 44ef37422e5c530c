//! `ralph demo`: a throw-away project in which an agent lies, is caught, and mends its ways.

use std::process::ExitCode;

use super::args::DemoArgs;
use super::run::{self, Which};
use crate::demo;
use crate::error::Result;
use crate::project::Project;
use crate::settings::{AgentWishes, Wishes};
use crate::ui::Ui;

pub(super) fn main(args: DemoArgs, ui: &mut Ui) -> Result<ExitCode> {
    let agent = match args.agent {
        Some(name) => AgentWishes {
            name: Some(name),
            permissions: args.permissions.map(Into::into),
            ..AgentWishes::default()
        },
        None => AgentWishes { command: Some(demo::agent_command()?), ..AgentWishes::default() },
    };
    let wishes =
        Wishes { agent, max_iterations: Some(10), test_cmd: Some(demo::TEST.into()), ..Wishes::default() };
    let dir = demo::make(args.dir)?;
    ui.say(&format!("A project with a failing test, made for this: {}", dir.display()));
    ui.say("The agent may say what it likes; ralph runs the test itself.\n");
    let project = Project::at(&dir)?;
    let stop = run::run(&project, Some(demo::GOAL), Which::Fresh, &wishes, ui)?;
    ui.say(&format!("\nLook around, and delete it when you like: cd {}", dir.display()));
    ui.say(&format!("There: {} history", demo::own_name()));
    Ok(ExitCode::from(stop.exit_code()))
}
