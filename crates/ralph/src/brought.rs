//! The commands that a repository brings into a run: in its settings, by what its files stand for, with its backlog.
//! Whoever runs them, or tells about them, asks here.

use ralph_core::check::CheckSpec;
use ralph_core::items::BacklogPlan;
use ralph_core::profile::Policy;

use crate::config::{self, Config};
use crate::error::Result;
use crate::project::Project;
use crate::settings::{NO_CHECK, Value, Wishes};
use crate::trust::Commands;
use crate::work::{self, Source};

/// The commands that the project's file brings into a run, where the command line says nothing else.
pub(crate) fn by_settings(config: &Config, own: &Wishes) -> Commands {
    let mut commands = Commands::default();
    let said = |name: &str| own.checks.iter().any(|(own, _)| *own == name);
    let runs = |check: &&Value| !said(&check.key) && check.value.trim() != NO_CHECK;
    for check in config.checks.iter().filter(runs) {
        commands.add(config::check_source(&check.key), &check.value);
    }
    let agent = |key: &str| Some(key.strip_prefix("agents.")?.split('.').next()?.to_owned());
    // What the command line says itself is not the file's to say.
    let said = |key: &str| {
        let permits = key.ends_with("permissions") && own.agent.permits(agent(key).as_deref());
        permits || (key.ends_with(".args") && !own.agent.args.is_empty())
    };
    for (key, value) in config.powers().into_iter().filter(|(key, _)| !said(key)) {
        // Commands on the command line are the whole pool.
        if own.agent.commands.is_empty() || !config::is_of_agents(&key) {
            commands.add(config::source(&key), &value);
        }
    }
    commands
}

/// Checks that were found are the repository's, however they were found.
pub(crate) fn by_detection(checks: &[CheckSpec]) -> Commands {
    let mut commands = Commands::default();
    for check in checks {
        if let Some(source) = &check.source {
            commands.add(source, &check.command);
        }
    }
    commands
}

/// Those of a backlog's items, and the boot ritual, which becomes part of the plan.
pub(crate) fn by_backlog(
    project: &Project,
    policy: &Policy,
    backlog: &BacklogPlan,
) -> Result<(Commands, Option<CheckSpec>)> {
    let mut commands = Commands::default();
    let boot = if policy.boot { work::boot(project, backlog)? } else { None };
    if let Some(boot) = &boot {
        commands.add(&boot.source, &boot.content);
    }
    if policy.wants_checks() {
        // What cannot be read stops the run, with its own words.
        let of_items = Source::new(&project.root, backlog, 0)?.commands().unwrap_or_default();
        of_items.into_iter().for_each(|(source, command)| commands.add(source, command));
    }
    Ok((commands, boot.map(|boot| boot.check)))
}
