//! One above the other: the user's file, the project's, the environment. What a higher one says wins, value by value.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use ralph_core::profile::{self, Policy};

use super::{Config, FILE, NAME, environment, keys, project_file, read};
use crate::error::Result;
use crate::notify::{Channels, Target};
use crate::settings::pool::{FileAgents, Table};
use crate::settings::{self, Value};

#[derive(Debug, Clone, Default)]
pub struct Layers {
    pub user: Config,
    pub project: Config,
    pub environment: Config,
}

/// Which of them a value comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    Default,
    Profile,
    User,
    Project,
    Environment,
}

impl Origin {
    pub fn word(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Profile => "profile",
            Self::User => "user",
            Self::Project => "project",
            Self::Environment => "environment",
        }
    }
}

/// A key with the value that new runs would get.
#[derive(Debug, Clone)]
pub struct Shown {
    pub key: keys::Key,
    pub value: String,
    pub origin: Origin,
    /// `.ralph/config.toml:3`, `RALPH_GATE`, `profile strict`
    pub place: String,
}

/// The user's own file and how messages call it; `None` where there is no home for it.
pub fn user_file() -> Option<(PathBuf, String)> {
    let folder = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let home = folder("HOME");
    let base = folder("XDG_CONFIG_HOME").or_else(|| Some(home.as_ref()?.join(".config")))?;
    let path = base.join("ralph").join(FILE);
    let name = match home.as_ref().and_then(|home| path.strip_prefix(home).ok()) {
        Some(below) => format!("~/{}", below.display()),
        None => path.display().to_string(),
    };
    Some((path, name))
}

impl Layers {
    pub fn read(ralph_dir: &Path) -> Result<Self> {
        let var = |name: &str| -> Option<OsString> { std::env::var_os(name) };
        let user = match user_file() {
            Some((path, name)) => read(&path, &name)?,
            None => Config::default(),
        };
        Ok(Self {
            user,
            project: read(&project_file(ralph_dir), NAME)?,
            environment: environment::read(var)?,
        })
    }

    fn lowest_first(&self) -> [(Origin, &Config); 3] {
        [
            (Origin::User, &self.user),
            (Origin::Project, &self.project),
            (Origin::Environment, &self.environment),
        ]
    }

    /// All of them as one.
    pub fn merged(&self) -> Config {
        let mut all = Config::default();
        for (_, layer) in self.lowest_first() {
            let layer = layer.clone();
            all.profile = layer.profile.or(all.profile);
            all.values.extend(layer.values);
            all.checks.retain(|check| layer.checks.iter().all(|own| own.key != check.key));
            all.checks.extend(layer.checks);
            all.detect = layer.detect.or(all.detect);
            all.agents = above(layer.agents, all.agents);
            all.backlog = layer.backlog.or(all.backlog);
            all.notify.command = layer.notify.command.or(all.notify.command);
            all.notify.terminal = layer.notify.terminal.or(all.notify.terminal);
            all.notify.url = layer.notify.url.or(all.notify.url);
            all.notify.url_kind = layer.notify.url_kind.or(all.notify.url_kind);
            all.said.extend(layer.said);
        }
        all
    }

    /// What of the repository's tells the user, a command or a URL: it needs the user's trust.
    pub fn brought_notify(&self) -> impl Iterator<Item = &Value> {
        self.project.notify.command.iter().chain(&self.project.notify.url)
    }

    /// How the user wants to be told; `brought`: also by what the repository names.
    pub fn channels(&self, brought: bool) -> Channels {
        let project = Some(&self.project).filter(|_| brought);
        let layers = || [Some(&self.environment), project, Some(&self.user)].into_iter().flatten();
        let command = layers().find_map(|layer| layer.notify.command.as_ref());
        let url = layers().find_map(|layer| layer.notify.url.as_ref());
        let merged = self.merged().notify;
        let kind = merged.url_kind.unwrap_or_default();
        Channels {
            command: command.map(|told| told.value.clone()),
            url: url.map(|told| Target::new(told.value.clone(), kind)),
            terminal: merged.terminal.unwrap_or_default(),
        }
    }

    /// Every key with its value and where that comes from.
    pub fn shown(&self) -> Result<Vec<Shown>> {
        let merged = self.merged();
        let profile = merged.profile.as_deref().unwrap_or("default");
        let mut policy = settings::profile(profile)?.policy();
        settings::set(&mut policy, &merged.values)?;
        let default = Policy::default();
        let mut rows = Vec::new();
        for key in keys::all() {
            if key.name.contains("NAME") {
                continue;
            }
            let said = self.said(&key.name);
            let value = match key.name.strip_prefix("policy.").and_then(profile::key) {
                Some(of) => (of.get)(&policy),
                None => said.map_or_else(|| key.default.clone(), |(_, said)| said.value.clone()),
            };
            let by_profile = key.name.strip_prefix("policy.").and_then(profile::key);
            let by_profile = by_profile.is_some_and(|of| (of.get)(&policy) != (of.get)(&default));
            let (origin, place) = match said {
                Some((origin, said)) => (origin, said.origin.clone()),
                None if by_profile => (Origin::Profile, format!("profile {profile}")),
                None => (Origin::Default, Origin::Default.word().into()),
            };
            rows.push(Shown { key, value, origin, place });
        }
        // Tables of agents have names of the user's own.
        let mut seen: Vec<&str> = Vec::new();
        for said in merged.said.iter().rev().filter(|said| said.key.starts_with("agents.")) {
            if let (false, Some(key)) = (seen.contains(&&*said.key), keys::find(&said.key)) {
                seen.push(&said.key);
                let origin = self.said(&said.key).map_or(Origin::Default, |(origin, _)| origin);
                let key = keys::Key { name: said.key.clone(), ..key };
                rows.push(Shown { key, value: said.value.clone(), origin, place: said.origin.clone() });
            }
        }
        Ok(rows)
    }

    /// The highest that says anything about a key.
    fn said(&self, key: &str) -> Option<(Origin, &Value)> {
        let layers = self.lowest_first().into_iter().rev();
        layers.into_iter().find_map(|(origin, layer)| {
            layer.said.iter().find(|said| said.key == key).map(|said| (origin, said))
        })
    }
}

fn above(high: FileAgents, low: FileAgents) -> FileAgents {
    let mut tables = low.tables;
    for table in high.tables {
        match tables.iter_mut().find(|known| known.name == table.name) {
            // Another command is another agent: nothing of the old one is meant for it.
            Some(known) if table.command.is_some() || known.command.is_some() => *known = table,
            Some(known) => {
                *known = Table {
                    model: table.model.or(known.model.take()),
                    permissions: table.permissions.or(known.permissions),
                    prices: table.prices.or(known.prices),
                    args: if table.args.is_empty() { std::mem::take(&mut known.args) } else { table.args },
                    ..table
                }
            }
            None => tables.push(table),
        }
    }
    let (pool, pool_from) = match high.pool.is_empty() {
        true => (low.pool, low.pool_from),
        false => (high.pool, high.pool_from),
    };
    FileAgents { pool, pool_from, permissions: high.permissions.or(low.permissions), tables }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::parse;

    fn layers(user: &str, project: &str, environment: &[(&str, &str)]) -> Layers {
        let var = |name: &str| -> Option<OsString> {
            environment.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into())
        };
        Layers {
            user: parse(user, "~/c.toml").expect("user"),
            project: parse(project, NAME).expect("project"),
            environment: environment::read(var).expect("environment"),
        }
    }

    #[test]
    fn a_higher_layer_wins_value_by_value_and_the_place_is_told() {
        let layers = layers(
            "profile = 'strict'\npermissions = 'edits'\n[policy]\ngate = 'dual'\nreviews = 2\ntimeout = '5m'\n\
             [checks]\ntest = 'a'\nlint = 'b'\n[agents.claude]\nmodel = 'x'\nargs = ['1']\n[notify]\nterminal = 'bell'\n",
            "[policy]\nreviews = 4\ntimeout = '6m'\n[checks]\ntest = 'c'\n[agents.claude]\nmodel = 'y'\n",
            &[("RALPH_TIMEOUT", "7m")],
        );
        let shown = layers.shown().expect("shown");
        let told = |key: &str| {
            let row = shown.iter().find(|row| row.key.name == key).expect(key);
            (row.value.as_str(), row.origin.word(), row.place.as_str())
        };
        assert_eq!(told("profile"), ("strict", "user", "~/c.toml:1"));
        assert_eq!(told("policy.gate"), ("dual", "user", "~/c.toml:4"));
        assert_eq!(told("policy.reviews"), ("4", "project", ".ralph/config.toml:2"));
        assert_eq!(told("policy.timeout"), ("7m", "environment", "RALPH_TIMEOUT"));
        assert_eq!(told("policy.max_iterations"), ("50", "default", "default"));
        assert_eq!(told("checks.test"), ("c", "project", ".ralph/config.toml:5"));
        assert_eq!(told("checks.lint"), ("b", "user", "~/c.toml:9"));
        assert_eq!(told("agents.claude.model"), ("y", "project", ".ralph/config.toml:7"));
        assert_eq!(told("notify.terminal"), ("bell", "user", "~/c.toml:14"));
        let merged = layers.merged();
        assert_eq!(merged.agents.tables[0].args, ["1"], "what nobody overrules stays");
        assert_eq!(merged.checks.len(), 2);
        assert_eq!(layers.channels(false).terminal, crate::config::InTerminal::Bell);
    }

    #[test]
    fn what_a_profile_changes_is_told_as_its_own() {
        let shown = layers("", "profile = 'strict'\n", &[]).shown().expect("shown");
        let gate = shown.iter().find(|row| row.key.name == "policy.gate").expect("gate");
        assert_eq!((gate.value.as_str(), gate.place.as_str()), ("dual", "profile strict"));
    }

    #[test]
    fn a_command_of_a_higher_layer_is_another_agent() {
        let layers =
            layers("[agents.mine]\ncommand = 'a'\ntitle = 'A'\n", "[agents.mine]\ncommand = 'b'\n", &[]);
        let table = layers.merged().agents.tables.remove(0);
        assert_eq!((table.command.as_deref(), table.title), (Some("b"), None));
    }
}
