//! Git and the agents.

use std::path::Path;
use std::time::Duration;

use ralph_core::{git_text, text};

use super::Finding;
use crate::config::Config;
use crate::git::Repo;
use crate::process::{self, Spec};
use crate::settings::pool;
use crate::{agent, git};

/// The oldest git that does all that ralph asks of it.
const OLDEST_GIT: (u32, u32) = (2, 34);
/// How long an agent may take to tell its version.
const VERSION: Duration = Duration::from_secs(10);

pub(super) fn git(cwd: &Path) -> Finding {
    const REMEDY: &str = "install git 2.34 or newer";
    let told = match git::version(cwd) {
        Ok(told) => told,
        Err(error) => return Finding::failed(git::NAME, error.to_string(), REMEDY),
    };
    match git_text::version(&told) {
        Some(version) if version >= OLDEST_GIT => Finding::held(git::NAME, told),
        Some(_) => Finding::failed(git::NAME, format!("{told} is too old"), REMEDY),
        None => Finding::warned(git::NAME, format!("its version cannot be read: {told}"), REMEDY),
    }
}

/// Whether git knows whose commits would be; nothing to say where it does.
pub(super) fn identity(repo: &Repo) -> Option<Finding> {
    let error = repo.identity().err()?;
    Some(Finding::warned(
        "git identity",
        format!("what is proved could not be committed: {error}"),
        git::IDENTIFY,
    ))
}

/// Those of the pool, else all that are installed.
pub(super) fn agents(config: &Config, cwd: &Path) -> Vec<Finding> {
    let own = |name: &str| {
        let table = config.agents.tables.iter().find(|table| table.name == name);
        table.and_then(|table| table.command.as_deref())
    };
    let named: Vec<&str> =
        config.agents.pool.iter().filter_map(|name| pool::role_of(name).ok()).map(|(name, _)| name).collect();
    if named.is_empty() {
        let installed: Vec<Finding> = agent::names()
            .filter(|name| process::find_program(name).is_some())
            .map(|name| version(name, cwd))
            .collect();
        if !installed.is_empty() {
            return installed;
        }
        let install = agent::adapter("claude").map_or("", |adapter| adapter.install);
        let names = agent::names().collect::<Vec<_>>().join(", ");
        return vec![Finding::failed(
            "agents",
            format!("none of {names} is installed"),
            format!(
                "{install}; or make any command your agent: ralph config set agents.mine.command CMD && ralph config \
                 set pool mine"
            ),
        )];
    }
    let each = |name: &&str| match agent::adapter(name) {
        _ if own(name).is_some() => command(name, own(name).unwrap_or_default(), cwd),
        Some(_) if process::find_program(name).is_some() => version(name, cwd),
        Some(adapter) => {
            Finding::failed(&format!("agent {name}"), "is in the pool and not installed", adapter.install)
        }
        None => Finding::failed(
            &format!("agent {name}"),
            match &config.agents.pool_from {
                Some(from) => format!("is in the pool and nobody knows it ({from})"),
                None => "is in the pool and nobody knows it".into(),
            },
            format!(
                "correct the pool, or make a command that agent: ralph config set agents.{name}.command CMD"
            ),
        ),
    };
    named.iter().map(each).collect()
}

/// An agent that the settings make of a command.
fn command(name: &str, command: &str, root: &Path) -> Finding {
    let about = format!("agent {name}");
    let shown = text::one_line(command, 200);
    match process::missing_program(command, root) {
        None => Finding::held(&about, format!("a command of the settings: {shown}")),
        Some(tool) => Finding::failed(
            &about,
            format!("{tool} is not there, or cannot be run: {shown}"),
            format!("install {tool}, or correct agents.{name}.command"),
        ),
    }
}

fn version(name: &str, cwd: &Path) -> Finding {
    let about = format!("agent {name}");
    let remedy = format!("see what `{name} --version` says");
    match process::capture_for(&Spec::new(name, cwd).arg("--version"), VERSION) {
        Ok(told) if told.end.success() => {
            let said = text::one_line(&text::plain(&String::from_utf8_lossy(&told.stdout)), 100);
            match said.is_empty() {
                false => Finding::held(&about, said),
                true => Finding::warned(&about, "does not tell its version: it says nothing", remedy),
            }
        }
        Ok(told) => Finding::warned(&about, format!("does not tell its version: {}", told.end), remedy),
        Err(error) => Finding::failed(&about, error.to_string(), remedy),
    }
}
