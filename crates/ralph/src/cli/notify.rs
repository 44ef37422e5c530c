//! `ralph notify test`: whether the user would hear of it.

use std::process::ExitCode;

use clap::{Args, Subcommand};
use ralph_core::view::notice::Notice;

use crate::config::{self, Layers};
use crate::error::{Error, Result};
use crate::notify::Notifier;
use crate::project::Project;
use crate::trust::{self, Commands, Consent, Matter};
use crate::ui::{Introduction, Ui};

#[derive(Debug, Subcommand)]
pub(super) enum NotifyCommand {
    /// Tell you now, as a run would when it ends or waits
    Test(TestArgs),
}

#[derive(Debug, Args)]
pub(super) struct TestArgs {
    /// Agree to the command that the project brings
    #[arg(long)]
    yes: bool,
}

pub(super) fn main(command: &NotifyCommand, ui: &mut Ui) -> Result<ExitCode> {
    let NotifyCommand::Test(args) = command;
    let project = Project::find()?;
    let layers = Layers::read(&project.ralph_dir)?;
    let told = layers.merged().notify.command;
    let mut notifier = Notifier::new(told.map(|told| told.value), layers.in_terminal());
    if notifier.does_nothing() {
        return Err(Error::usage("nobody would be notified")
            .because("neither notify.command nor notify.terminal is set")
            .hint("ralph config set --user notify.terminal bell")
            .hint("ralph config set --user notify.command 'notify-send \"$RALPH_NOTIFY_TEXT\"'"));
    }
    if let Some(brought) = layers.brought_notify() {
        let mut commands = Commands::default();
        commands.add(config::source(&brought.key), &brought.value);
        let consent = if args.yes { Consent::Given } else { Consent::Ask };
        let matter = Matter { project: &project, commands: &commands, first: false, consent, unchosen: None };
        let title = "This project wants to run a command to notify you".into();
        trust::decide(&matter, || Introduction { title, ..Introduction::default() }, ui)?;
    }
    let notice = Notice {
        event: "test",
        text: "this is how a run would reach you".into(),
        goal: "none: this is a test".into(),
        run: 0,
    };
    let called = notifier.tell(&notice, &project, ui);
    notifier.finish().map_err(|why| Error::new("the command of [notify] failed").because(why))?;
    match called {
        Ok(()) => ui.say("notified"),
        Err(why) if notifier.has_command() => {
            ui.say("notified by the command");
            ui.warn(&format!("the terminal did nothing: {why}"));
        }
        Err(why) => {
            return Err(Error::new("nobody was notified: the terminal did nothing")
                .because(why)
                .hint("try it on the terminal that a run would be on")
                .hint("ralph config set --user notify.command 'notify-send \"$RALPH_NOTIFY_TEXT\"'"));
        }
    }
    super::fine()
}
