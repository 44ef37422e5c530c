//! Putting hooks, commands and a skill into an agent's folder, and taking them out again. What ralph made is written down
//! beside it, so that exactly that goes.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use ralph_core::session::settings::{self, CAP, Hook, Wanted};
use serde::{Deserialize, Serialize};

use super::{Agent, InstallArgs};
use crate::error::{self, Error, Result};
use crate::project::Project;
use crate::store::{self, Own};
use crate::ui::Ui;
use crate::{digest, process};

/// More blocks in a row than anybody wants; the limit is ralph's own.
const BLOCKS: &str = "1000000";
/// Checks may take long; ralph has its own limit for them.
const STOP_SECONDS: i64 = 7200;
const START_SECONDS: i64 = 60;
const RECORD: &str = "ralph-installed.json";

const FILES: [(&str, &str); 5] = [
    ("commands/ralph.md", include_str!("claude/ralph.md")),
    ("commands/ralph-loop.md", include_str!("claude/ralph-loop.md")),
    ("commands/ralph-status.md", include_str!("claude/ralph-status.md")),
    ("commands/ralph-cancel.md", include_str!("claude/ralph-cancel.md")),
    ("skills/ralph-report/SKILL.md", include_str!("claude/ralph-report.md")),
];

/// What was made, to be taken away again.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Record {
    schema: String,
    /// The settings were not there before.
    settings_made: bool,
    /// The folder was not there before.
    folder_made: bool,
    /// Objects and lists in the settings that were not.
    made: Vec<String>,
    /// The files, and their digests.
    files: BTreeMap<String, String>,
}

/// An agent's folder of settings.
struct Place {
    agent: Agent,
    dir: PathBuf,
    settings: PathBuf,
}

impl Place {
    fn of(agent: Agent, above: &Path) -> Self {
        let (dir, settings) = match agent {
            Agent::Claude => (".claude", "settings.json"),
            Agent::Codex => (".codex", "hooks.json"),
        };
        let dir = above.join(dir);
        Self { agent, settings: dir.join(settings), dir }
    }

    fn meant(args: &InstallArgs) -> Result<Self> {
        if !args.user {
            return Ok(Self::of(args.agent, &Project::find()?.root));
        }
        let own = match args.agent {
            Agent::Claude => "CLAUDE_CONFIG_DIR",
            Agent::Codex => "CODEX_HOME",
        };
        if let Some(dir) = std::env::var_os(own).map(PathBuf::from) {
            let settings = Self::of(args.agent, Path::new("")).settings;
            let settings = dir.join(settings.file_name().unwrap_or_default());
            return Ok(Self { agent: args.agent, dir, settings });
        }
        let home = std::env::var_os("HOME").map(PathBuf::from);
        let home = home
            .ok_or_else(|| Error::new("nobody knows where your settings are").because("HOME is not set"))?;
        Ok(Self::of(args.agent, &home))
    }

    fn record(&self) -> Own {
        Own { path: self.dir.join(RECORD) }
    }

    fn files(&self) -> &'static [(&'static str, &'static str)] {
        if self.agent == Agent::Claude { &FILES } else { &[] }
    }

    fn wanted(&self, ralph: &str) -> Wanted {
        let hook =
            |event, word: &str, timeout| Hook { event, command: format!("{ralph} hook {word}"), timeout };
        Wanted {
            hooks: vec![hook("Stop", "stop", STOP_SECONDS), hook("SessionStart", "session", START_SECONDS)],
            env: (self.agent == Agent::Claude).then_some((CAP, BLOCKS)),
        }
    }

    fn read_record(&self) -> Record {
        let text = std::fs::read(self.record().path).unwrap_or_default();
        serde_json::from_slice(&text).unwrap_or_default()
    }
}

/// Whether some agent's settings name the hooks, the project's or the user's own.
pub(super) fn anywhere(project: &Project) -> bool {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let above = [Some(project.root.clone()), home].into_iter().flatten();
    let places = above.flat_map(|above| [Agent::Claude, Agent::Codex].map(|agent| Place::of(agent, &above)));
    places.into_iter().any(|place| {
        let text = std::fs::read_to_string(&place.settings).unwrap_or_default();
        settings::is_installed(&text, &place.wanted("ralph"))
    })
}

pub(super) fn install(args: &InstallArgs, ui: &mut Ui) -> Result<ExitCode> {
    let place = Place::meant(args)?;
    let ralph = command()?;
    let wanted = place.wanted(&ralph);
    let mut record = place.read_record();
    if !place.record().path.exists() {
        record.folder_made = !place.dir.exists();
        record.settings_made = !place.settings.exists();
    }
    record.schema = "ralph.installed/1".into();
    let refuse = |why: String| {
        Error::data(format!("{} cannot be edited without loss", place.settings.display()))
            .because(why)
            .hint("put the hooks in by hand: docs/hook-mode.md shows them")
    };
    let mut said = Vec::new();
    if record.settings_made && !place.settings.exists() {
        let installed = settings::install("{}", &wanted).map_err(refuse)?;
        let value: serde_json::Value = serde_json::from_str(&installed.text).unwrap_or_default();
        let text = serde_json::to_string_pretty(&value).unwrap_or_default();
        Own { path: place.settings.clone() }.write(&format!("{text}\n"))?;
        record.made = installed.made;
    } else {
        let installed = store::edit(&place.settings, |bytes| {
            let text = std::str::from_utf8(bytes).map_err(|error| refuse(error.to_string()))?;
            let installed = settings::install(text, &wanted).map_err(&refuse)?;
            Ok((Some(installed.text.clone().into_bytes()), installed))
        })?;
        record.made.extend(installed.made);
        said.extend(installed.remarks);
    }
    for (name, text) in place.files() {
        let (own, text) = (Own { path: place.dir.join(name) }, text.replace("@RALPH@", &ralph));
        let known = std::fs::read(&own.path).ok().map(|bytes| digest::of(&bytes));
        if known.is_some()
            && known.as_ref() != record.files.get(*name)
            && known != Some(digest::of(text.as_bytes()))
        {
            said.push(format!("{} is somebody's own and was left alone", own.path.display()));
            continue;
        }
        own.write(&text)?;
        record.files.insert((*name).to_owned(), digest::of(text.as_bytes()));
    }
    place.record().write(&format!("{}\n", serde_json::to_string_pretty(&record).unwrap_or_default()))?;
    for remark in said {
        ui.warn(&remark);
    }
    ui.say(&format!("installed in {}", place.dir.display()));
    ui.say(match place.agent {
        Agent::Claude => "in a session: /ralph GOAL, /ralph-loop N GOAL, /ralph-status, /ralph-cancel; sessions that are open load them when they start again",
        Agent::Codex => "Codex asks once whether it may run these hooks: type /hooks in it; then: ralph hook arm \"GOAL\"",
    });
    crate::cli::fine()
}

pub(super) fn uninstall(args: &InstallArgs, ui: &mut Ui) -> Result<ExitCode> {
    let place = Place::meant(args)?;
    let record = place.read_record();
    let wanted = place.wanted(&command()?);
    let top = if record.folder_made { place.dir.parent().unwrap_or(&place.dir) } else { &place.dir };
    if place.settings.exists() {
        let left = store::edit(&place.settings, |bytes| {
            let refuse = |why: String| {
                Error::data(format!("{} cannot be edited without loss", place.settings.display()))
                    .because(why)
                    .hint("take the hooks that run ralph out by hand")
            };
            let text = std::str::from_utf8(bytes).map_err(|error| refuse(error.to_string()))?;
            let after = settings::uninstall(text, &wanted, &record.made).map_err(refuse)?;
            Ok((Some(after.clone().into_bytes()), after))
        })?;
        let empty = left.split_whitespace().collect::<String>() == "{}";
        if record.settings_made && empty {
            Own { path: place.settings.clone() }.remove(top)?;
        }
    }
    for (name, made) in &record.files {
        let own = Own { path: place.dir.join(name) };
        match std::fs::read(&own.path) {
            Ok(bytes) if digest::of(&bytes) == *made => own.remove(top)?,
            Ok(_) => ui.warn(&format!("{} was changed since and stays", own.path.display())),
            Err(_) => {}
        }
    }
    place.record().remove(top)?;
    ui.say(&format!("taken out of {}", place.dir.display()));
    crate::cli::fine()
}

/// How the hooks call this program: by its name where that leads here, else by its path.
fn command() -> Result<String> {
    let own =
        std::env::current_exe().map_err(|error| Error::new("this program cannot be found").because(error))?;
    let own = own.canonicalize().map_err(error::io("cannot find", &own))?;
    let found = process::find_program("ralph").and_then(|path| path.canonicalize().ok());
    if found.as_deref() == Some(&own) {
        return Ok("ralph".into());
    }
    let path = own
        .to_str()
        .ok_or_else(|| Error::new("this program's path is no text").hint("put ralph on the PATH"))?;
    let plain = path.chars().all(|c| c.is_ascii_alphanumeric() || "/._-+".contains(c));
    Ok(if plain { path.to_owned() } else { format!("'{}'", path.replace('\'', r"'\''")) })
}
