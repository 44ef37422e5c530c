//! `ralph profile`: the rules by name, and every value of one.

use std::process::ExitCode;

use clap::{Args, Subcommand};
use ralph_core::profile::{KEYS, PROFILES, Policy};
use serde_json::json;

use crate::error::Result;
use crate::settings;
use crate::ui::Ui;

#[derive(Debug, Subcommand)]
pub(super) enum ProfileCommand {
    /// Name the profiles, and when to use each
    List(ListArgs),
    /// Show every value of a profile, and what it means
    Show(ShowArgs),
}

#[derive(Debug, Args)]
pub(super) struct ListArgs {
    /// As JSON (schema ralph.profiles/1)
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub(super) struct ShowArgs {
    /// Which one
    #[arg(default_value = "default")]
    name: String,
    /// As JSON (schema ralph.profile/1)
    #[arg(long)]
    json: bool,
}

pub(super) fn main(command: &ProfileCommand, ui: &Ui) -> Result<ExitCode> {
    match command {
        ProfileCommand::List(args) => list(args, ui),
        ProfileCommand::Show(args) => return show(args, ui),
    }
    super::fine()
}

fn list(args: &ListArgs, ui: &Ui) {
    if args.json {
        let profiles: Vec<_> =
            PROFILES.iter().map(|p| json!({"name": p.name, "use_when": p.use_when})).collect();
        return ui.json(&json!({"schema": "ralph.profiles/1", "profiles": profiles}));
    }
    ui.data_row(12, "PROFILE     USE IT WHEN");
    for profile in PROFILES {
        ui.data_row(12, &format!("{:<11} {}", profile.name, profile.use_when));
    }
}

fn show(args: &ShowArgs, ui: &Ui) -> Result<ExitCode> {
    let profile = settings::profile(&args.name).map_err(|error| {
        let hints =
            error.hints.iter().map(|hint| hint.replace("--profile ", "ralph profile show ")).collect();
        crate::error::Error { hints, ..error }
    })?;
    let (policy, default) = (profile.policy(), Policy::default());
    let rows = KEYS.iter().map(|key| (key, (key.get)(&policy), (key.get)(&default)));
    if args.json {
        let keys: Vec<_> = rows
            .map(|(key, value, default)| {
                let differs = value != default;
                json!({"key": key.name, "value": value, "default": default, "differs": differs, "about": key.about, "takes": key.takes()})
            })
            .collect();
        let document = json!({
            "schema": "ralph.profile/1",
            "name": profile.name,
            "use_when": profile.use_when,
            "keys": keys,
        });
        ui.json(&document);
        return super::fine();
    }
    ui.data_line(&format!("profile {}: {}", profile.name, profile.use_when));
    for (key, value, default) in rows {
        let (mark, was) = match value == default {
            true => (' ', String::new()),
            false => ('*', format!(" [default: {default}]")),
        };
        ui.data_row(42, &format!("{mark} {:<23} {value:<15} {}: {}{was}", key.name, key.about, key.takes()));
    }
    if profile.name != "default" {
        ui.data_line("* differs from profile default");
    }
    super::fine()
}
