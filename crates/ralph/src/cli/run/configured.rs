//! What files and environment say for a run, and what of it the repository brings.

use crate::brought;
use crate::config::{Config, Layers};
use crate::error::Result;
use crate::notify::Notifier;
use crate::project::Project;
use crate::settings::Wishes;
use crate::settings::pool::{FileAgents, Table};
use crate::trust::Commands;
use crate::ui::Ui;

#[derive(Debug)]
pub(super) struct Configured {
    pub(super) config: Config,
    /// Commands that somebody must agree to.
    pub(super) brought: Commands,
    pub(super) notifier: Notifier,
}

/// A run that goes on keeps its plan: the settings are for new ones. How the user is told is no part of a plan.
pub(super) fn configured(project: &Project, own: &Wishes, goes_on: bool, ui: &mut Ui) -> Result<Configured> {
    let names_agents = !own.agent.names.is_empty();
    let layers = match Layers::read(&project.ralph_dir) {
        Err(error) if goes_on && !names_agents => {
            ui.warn(&format!("the run goes on as it was planned, and nobody is notified: {}", error.what));
            Layers::default()
        }
        layers => layers?,
    };
    let part = |config: &Config| match goes_on {
        false => config.clone(),
        true => Config {
            agents: named(&config.agents, &own.agent.names),
            notify: config.notify.clone(),
            ..Config::default()
        },
    };
    let merged = layers.merged();
    Ok(Configured {
        brought: brought::by_settings(&part(&layers.project), own),
        notifier: Notifier::new(layers.channels(true)),
        config: part(&merged),
    })
}

/// Somebody names other agents to go on with, which may be those of a file.
fn named(agents: &FileAgents, names: &[String]) -> FileAgents {
    if names.is_empty() {
        return FileAgents::default();
    }
    let is_meant = |table: &&Table| names.iter().any(|name| name.split(':').next() == Some(&table.name));
    FileAgents { tables: agents.tables.iter().filter(is_meant).cloned().collect(), ..agents.clone() }
}
