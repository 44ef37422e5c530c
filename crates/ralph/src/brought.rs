//! The commands that a repository brings into a run: in its settings, by what its files stand for, with its backlog.
//! Whoever runs them, or tells about them, asks here.

use ralph_core::check::CheckSpec;
use ralph_core::detect::CHECKS;
use ralph_core::items::BacklogPlan;
use ralph_core::profile::Policy;

use crate::config::{self, Config};
use crate::error::Result;
use crate::project::Project;
use crate::settings::{NO_CHECK, Value, Wishes};
use crate::trust::Commands;
use crate::work::{self, Source, Steered, beads};

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

/// Those of a backlog: of its items, for every item, which become part of `checks`, and the boot ritual, which becomes
/// part of the plan.
pub(crate) fn by_backlog(
    project: &Project,
    policy: &Policy,
    backlog: &BacklogPlan,
    wishes: &Wishes,
    checks: &mut Vec<CheckSpec>,
) -> Result<(Commands, Option<CheckSpec>)> {
    let mut commands = Commands::default();
    let boot = if policy.boot { work::boot(project, backlog)? } else { None };
    if let Some(boot) = &boot {
        commands.add(&boot.source, &boot.content);
    }
    if backlog.file == beads::FILE {
        // bd runs these by itself.
        let brought = Steered::at(&project.root).commands(&project.root);
        brought.into_iter().for_each(|hook| commands.add(hook.source, hook.command));
    }
    // What cannot be read stops the run, with its own words.
    let source = Source::new(&project.root, backlog, 0)?;
    let of_items = source.commands().unwrap_or_default();
    of_items.into_iter().for_each(|(source, command)| commands.add(source, command));
    if policy.wants_checks() {
        for check in for_all(checks, wishes, &backlog.file, source.checks().unwrap_or_default()) {
            commands.add(check.source.unwrap_or_else(|| backlog.file.clone()), check.command);
        }
    }
    Ok((commands, boot.map(|boot| boot.check)))
}

/// The checks of a run by these settings, but for those of its backlog: what they name, and what was found.
pub(crate) fn checks(config: &Config, wishes: &Wishes) -> Vec<CheckSpec> {
    let named = config.checks.iter().filter(|check| check.value.trim() != NO_CHECK);
    let named = named.map(|check| CheckSpec::named(&*check.key, &*check.value));
    named.chain(wishes.found.iter().cloned()).collect()
}

/// Where one of them stands.
pub(crate) fn place_of(check: &CheckSpec, config: &Config) -> String {
    let set = || config.checks.iter().find(|set| set.key == check.name);
    check.source.clone().or_else(|| Some(set()?.origin.clone())).unwrap_or_default()
}

/// Puts what the backlog wants for every item among the checks, as it stands there now: somebody wrote it down for this
/// project, so it wins over what was found, and whoever names a check himself wins over it. What a run began with stays,
/// for an agent could have taken it out. Returns what the checks have of it.
pub(crate) fn for_all(
    checks: &mut Vec<CheckSpec>,
    wishes: &Wishes,
    file: &str,
    wanted: Vec<CheckSpec>,
) -> Vec<CheckSpec> {
    let own = format!("{file}, ");
    for check in wanted {
        let named = |known: &CheckSpec| known.name == check.name;
        let said =
            wishes.says(&check.name) || checks.iter().any(|known| named(known) && known.source.is_none());
        checks.retain(|known| said || !named(known));
        if !said && !checks.iter().any(|known| known.command == check.command) {
            checks.push(check);
        }
    }
    checks.sort_by_key(|check| CHECKS.iter().position(|name| *name == check.name).unwrap_or(CHECKS.len()));
    let of_file = |check: &&CheckSpec| check.source.as_ref().is_some_and(|source| source.starts_with(&own));
    checks.iter().filter(of_file).cloned().collect()
}
