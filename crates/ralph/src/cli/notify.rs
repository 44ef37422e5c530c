//! `ralph notify test`: whether the user would hear of it.

use std::process::ExitCode;

use clap::{Args, Subcommand};
use ralph_core::view::notice::Notice;

use super::run::consent;
use crate::config::Layers;
use crate::error::{Error, Result};
use crate::notify::{Failure, Message, Notifier};
use crate::project::Project;
use crate::trust::{self, Consent, Matter};
use crate::ui::{Introduction, Ui};

const BY_COMMAND: &str =
    "ralph config set --user notify.command 'notify-send \"$RALPH_NOTIFY_TITLE\" \"$RALPH_NOTIFY_TEXT\"'";

#[derive(Debug, Subcommand)]
pub(super) enum NotifyCommand {
    /// Tell you now, as a run would when it ends or waits
    Test(TestArgs),
}

#[derive(Debug, Args)]
pub(super) struct TestArgs {
    /// Approve the command or URL that the project brings
    #[arg(long)]
    yes: bool,
}

pub(super) fn main(command: &NotifyCommand, ui: &mut Ui) -> Result<ExitCode> {
    let NotifyCommand::Test(args) = command;
    let project = Project::find()?;
    let layers = Layers::read(&project.ralph_dir)?;
    let mut notifier = Notifier::new(layers.channels(true));
    if notifier.does_nothing() {
        return Err(Error::usage("nobody would be notified")
            .because("none of notify.command, notify.url and notify.terminal is set")
            .hint("ralph config set --user notify.terminal bell")
            .hint(BY_COMMAND)
            .hint("ralph config set --user notify.url https://ntfy.sh/my-topic"));
    }
    let commands = consent::brought_notify(&layers);
    if commands.iter().next().is_some() {
        let consent = if args.yes { Consent::Given } else { Consent::Ask };
        let matter = Matter { project: &project, commands: &commands, first: false, consent, unchosen: None };
        let title = "This project wants to notify you".into();
        trust::decide(&matter, || Introduction { title, ..Introduction::default() }, ui)?;
    }
    let notice = Notice {
        event: "test",
        text: "this is how a run would reach you".into(),
        goal: "none: this is a test".into(),
        run: 0,
    };
    let called = notifier.tell(&Message::of(notice, &project), &project, ui);
    // Each is named; the first is the error.
    let mut failures = notifier.finish().into_iter();
    if let Some(first) = failures.next() {
        failures.for_each(|Failure { what, why }| ui.warn(&format!("{what}: {why}")));
        return Err(Error::new(first.what).because(first.why));
    }
    if let Some(target) = notifier.target() {
        ui.say(&format!("sent to {}", target.shown()));
    }
    match called {
        Ok(()) => ui.say("notified"),
        Err(why) if notifier.sends() => {
            ui.say("notified, but not by the terminal");
            ui.warn(&format!("the terminal did nothing: {why}"));
        }
        Err(why) => {
            return Err(Error::new("nobody was notified: the terminal did nothing")
                .because(why)
                .hint("try it on the terminal that a run would be on")
                .hint(BY_COMMAND));
        }
    }
    super::fine()
}
