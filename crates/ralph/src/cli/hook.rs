//! `ralph hook`: holding a session of Claude Code or Codex.

mod arm;
mod background;
mod fired;
mod install;
mod item;
mod turn;

use std::process::ExitCode;

use clap::{Args, Subcommand, ValueEnum};

use super::args::{key_value, whole};
use crate::error::Result;
use crate::project::Project;
use crate::settings::{Value, Wishes};
use crate::ui::Ui;
pub(super) use arm::{GONE, Order, arm, nobody_is_held};
pub(super) use fired::Fired;
pub(super) use install::Hooks;

#[derive(Debug, Subcommand)]
pub(super) enum HookCommand {
    /// The Stop hook: what the agent tells on standard input, whether the session goes on to standard output
    Stop,
    /// The SessionStart hook
    #[command(hide = true)]
    Session,
    /// Hold a session until its work is done: this one, or the next that starts here
    Arm(Box<ArmArgs>),
    /// Start a run over the backlog in the background, for /ralph-run
    #[command(hide = true)]
    Run {
        /// Task, most iterations and phase as one text; - reads it from standard input
        arguments: String,
        /// The last line of standard input must be this
        #[arg(long, value_name = "MARK")]
        whole: Option<String>,
    },
    /// Let go of the session
    Disarm,
    /// Show which session is held, and whose settings have the hooks
    Status {
        /// As JSON (schema ralph.hook/1)
        #[arg(long)]
        json: bool,
    },
    /// Put the hooks, commands and a skill into the settings of Claude Code or Codex
    Install(InstallArgs),
    /// Take out what install put in
    Uninstall(InstallArgs),
}

#[derive(Debug, Args)]
pub(super) struct ArmArgs {
    /// What is to be reached, in your own words; - reads it from standard input
    prompt: String,
    /// The session to hold [default: the next one that starts in this project]
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Let go after N iterations; 0 = no limit [default: 50]
    #[arg(long, value_name = "N", value_parser = whole::<u64>, allow_negative_numbers = true)]
    max_iterations: Option<u64>,
    /// The text that says done as <promise>TEXT</promise> [default: COMPLETE]
    #[arg(long, value_name = "TEXT")]
    promise: Option<String>,
    /// By whose rules to decide [default: analyzer]
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,
    /// One value of the rules
    #[arg(long, value_name = "KEY=VALUE", value_parser = key_value)]
    set: Vec<(String, String)>,
    /// The command that builds: exit 0 means it does
    #[arg(long, value_name = "CMD")]
    build_cmd: Option<String>,
    /// The command that proves the work: exit 0 means the tests pass
    #[arg(long, value_name = "CMD")]
    test_cmd: Option<String>,
    /// The command that lints: exit 0 means it is clean
    #[arg(long, value_name = "CMD")]
    lint_cmd: Option<String>,
    /// Try again although the circuit is open, and go on if that makes progress
    #[arg(long)]
    probe: bool,
    /// A number before the prompt is the most iterations: for commands that hand everything on as one text
    #[arg(long, hide = true, conflicts_with = "max_iterations")]
    leading_number: bool,
    /// The last line of standard input must be this: for commands that are pasted together as text, and may be cut off
    #[arg(long, hide = true, value_name = "MARK")]
    whole: Option<String>,
}

#[derive(Debug, Args)]
pub(super) struct InstallArgs {
    /// Whose settings
    #[arg(long, value_name = "NAME", default_value = "claude")]
    agent: Agent,
    /// In your own settings, for every project, instead of this project's
    #[arg(long)]
    user: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Agent {
    Claude,
    Codex,
}

impl Agent {
    fn word(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
        }
    }
}

pub(super) fn main(command: HookCommand, ui: &mut Ui) -> Result<ExitCode> {
    match command {
        HookCommand::Stop => Ok(Fired::Stop.answer()),
        HookCommand::Session => Ok(Fired::Session.answer()),
        HookCommand::Arm(mut args) => {
            let mut goal = arm::prompt(&args.prompt, args.whole.as_deref(), ui)?;
            if args.leading_number {
                let (number, rest) = goal.split_once(char::is_whitespace).unwrap_or((&goal, ""));
                if let Ok(number) = number.parse() {
                    (args.max_iterations, goal) = (Some(number), rest.trim().to_owned());
                }
            }
            let project = Project::find()?;
            let of_backlog = args.leading_number && goal.is_empty();
            if of_backlog {
                let next = item::next(&project, &install::command()?, ui)?;
                goal = next.goal;
                args.test_cmd = args.test_cmd.or(next.check);
            }
            let order = Order { goal: &goal, session: args.session.as_deref(), probe: args.probe };
            let armed = arm(&project, order, args.wishes(), ui)?;
            if of_backlog {
                // The session has not been told it in the command's own words.
                ui.data_line(&format!("\n{goal}"));
            }
            Ok(armed)
        }
        HookCommand::Run { arguments, whole } => {
            background::start(&arm::prompt(&arguments, whole.as_deref(), ui)?, ui)
        }
        HookCommand::Disarm => arm::disarm(ui),
        HookCommand::Status { json } => arm::status(json, ui),
        HookCommand::Install(args) => install::install(&args, ui),
        HookCommand::Uninstall(args) => install::uninstall(&args, ui),
    }
}

impl ArmArgs {
    fn wishes(&self) -> Wishes {
        let max = self.max_iterations.map(|max| max.to_string());
        let flags = [("max_iterations", "max-iterations", max), ("promise", "promise", self.promise.clone())];
        let flags = flags.into_iter().filter_map(|(key, flag, value)| {
            let value = value?;
            Some(Value { key: key.into(), origin: format!("--{flag} {value}"), value })
        });
        let checks = [("build", &self.build_cmd), ("test", &self.test_cmd), ("lint", &self.lint_cmd)];
        Wishes {
            profile: self.profile.clone(),
            values: self.set.iter().map(Value::set).chain(flags).collect(),
            checks: checks.into_iter().filter_map(|(name, command)| Some((name, command.clone()?))).collect(),
            ..Wishes::default()
        }
    }
}
