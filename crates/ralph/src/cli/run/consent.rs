//! What the user agrees to before a run begins: the run itself where it is the first, the commands that the repository
//! brings, and the permissions where nobody chose them.

use ralph_core::event::{Permissions, Plan};
use ralph_core::state::State;

use super::super::introduction::introduction;
use crate::config::{self, Layers};
use crate::error::Result;
use crate::project::Project;
use crate::settings::{Wishes, pool};
use crate::trust::{self, Commands, Consent, Matter};
use crate::ui::Ui;

/// A run that may begin.
#[derive(Debug)]
pub(super) struct Proposal<'a> {
    pub(super) project: &'a Project,
    pub(super) goal: &'a str,
    pub(super) commands: &'a Commands,
    /// Nothing was ever run here.
    pub(super) first: bool,
    /// The permissions of its agents are still to be chosen.
    pub(super) unchosen: bool,
    /// A new branch to commit on.
    pub(super) branch: Option<&'a str>,
}

impl Proposal<'_> {
    pub(super) fn agree(&self, consent: Consent, plan: &mut Plan, ui: &mut Ui) -> Result<()> {
        let Self { project, goal, commands, first, unchosen, branch } = *self;
        let open = plan.agents.iter().find(|agent| agent.command.is_none()).filter(|_| unchosen);
        let open = open.map(|agent| agent.name.clone());
        let matter = Matter { project, commands, first, consent, unchosen: open.as_deref() };
        let mut chosen = trust::decide(&matter, || introduction(project, goal, plan, commands, branch), ui)?;
        if let (Some(agent), None) = (&open, chosen) {
            // The project is trusted already, so nothing was asked.
            chosen = Some(pool::ask_permissions(agent)?);
        }
        if let (Some(_), Some(chosen)) = (open, chosen) {
            let built_in = plan.agents.iter().filter(|agent| agent.command.is_none());
            built_in.into_iter().try_for_each(|agent| pool::knows_mode(&agent.name, chosen))?;
            permit(plan, Some(chosen));
        }
        Ok(())
    }
}

/// The permissions of all agents that have any.
pub(super) fn permit(plan: &mut Plan, permissions: Option<Permissions>) {
    let built_in = plan.agents.iter_mut().filter(|agent| agent.command.is_none());
    built_in.for_each(|agent| agent.permissions = permissions);
}

/// The command and the URL that the project wants to notify the user by.
pub(in crate::cli) fn brought_notify(layers: &Layers) -> Commands {
    let mut commands = Commands::default();
    for brought in layers.brought_notify() {
        commands.add(config::source(&brought.key), &brought.value);
    }
    commands
}

/// What a plan that is recorded below the project's folder would run and allow: it could have come from anybody together
/// with the folder. (A git directory does not travel.)
pub(in crate::cli) fn kept_in_tree(project: &Project, goal: &str, plan: &Plan) -> Commands {
    let mut commands = Commands::default();
    if !project.keeps_truth_in_tree() {
        return commands;
    }
    commands.add(".ralph/.state, goal", goal);
    for check in &plan.checks {
        commands.add(format!(".ralph/.state, check {}", check.name), &check.command);
    }
    for agent in &plan.agents {
        if let Some(command) = &agent.command {
            commands.add(format!(".ralph/.state, agent {}", agent.name), command);
        }
        if let Some(permissions) = agent.permissions {
            let word = format!("{permissions:?}").to_lowercase();
            commands.add(format!(".ralph/.state, agent {}, permissions", agent.name), word);
        }
        if !agent.args.is_empty() {
            commands.add(format!(".ralph/.state, agent {}, args", agent.name), format!("{:?}", agent.args));
        }
    }
    commands
}

/// The commands of items that such a record would have run again, unless somebody here agreed to these words.
pub(super) fn of_items_in_tree(project: &Project, state: &State) -> Commands {
    let mut commands = Commands::default();
    if !project.keeps_truth_in_tree() {
        return commands;
    }
    let current = state.current.iter().filter_map(|current| current.item.as_ref());
    let checks = current.flat_map(|item| &item.checks).chain(&state.rules.items.proofs);
    for check in checks.filter(|check| !trust::knows_words(project, &check.command)) {
        commands.add(format!(".ralph/.state, check {}", check.name), &check.command);
    }
    commands
}

/// Those that a record brings, without those that the user gave anew to go on with.
pub(super) fn not_said_again(kept: &Commands, recorded: &Commands, own: &Wishes) -> Commands {
    let mut commands = Commands::default();
    for command in kept.iter().filter(|command| recorded.iter().any(|known| known == *command)) {
        let agent =
            command.source.strip_prefix(".ralph/.state, agent ").and_then(|rest| rest.split(',').next());
        let said = (command.source.ends_with("permissions") && own.agent.permits(agent))
            || (command.source.ends_with("args") && !own.agent.args.is_empty());
        if !said {
            commands.add(&command.source, &command.command);
        }
    }
    commands
}
