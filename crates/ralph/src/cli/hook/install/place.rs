//! Where an agent has its settings, and what ralph wrote down about what it put there.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use ralph_core::session::settings::{self, CAP, Hook, Put, Wanted};
use serde::{Deserialize, Serialize};

use super::super::{Agent, InstallArgs};
use crate::error::{self, Error, Result};
use crate::project::Project;
use crate::store::Own;

/// More blocks in a row than anybody wants; the limit is ralph's own.
const BLOCKS: &str = "1000000";
/// Checks may take long; ralph has its own limit for them.
const STOP_SECONDS: i64 = 7200;
const START_SECONDS: i64 = 60;
/// For which event, by which word, and how long it may take.
const HOOKS: [(&str, &str, i64); 2] =
    [("Stop", "stop", STOP_SECONDS), ("SessionStart", "session", START_SECONDS)];
const RECORD: &str = "ralph-installed.json";

const FILES: [(&str, &str); 6] = [
    ("commands/ralph.md", include_str!("../claude/ralph.md")),
    ("commands/ralph-loop.md", include_str!("../claude/ralph-loop.md")),
    ("commands/ralph-run.md", include_str!("../claude/ralph-run.md")),
    ("commands/ralph-status.md", include_str!("../claude/ralph-status.md")),
    ("commands/ralph-cancel.md", include_str!("../claude/ralph-cancel.md")),
    ("skills/ralph-report/SKILL.md", include_str!("../claude/ralph-report.md")),
];

/// Claude Code knows what to do about a hook that fails since 2.1.295, and earlier ones pass the key over; Codex takes no such key.
fn hook(ralph: &str, agent: Agent, (event, word, timeout): (&'static str, &str, i64)) -> Hook {
    Hook { event, command: format!("{ralph} hook {word}"), timeout, fails_closed: agent == Agent::Claude }
}

/// What is ralph's in an agent's folder. It is written before anything else is, so that whatever was cut off can be taken
/// out: what it names may be missing, and nothing else is touched.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Record {
    pub(super) schema: String,
    /// The settings were not there before.
    pub(super) settings_made: bool,
    /// The folder was not there before.
    pub(super) folder_made: bool,
    /// What was put into the settings.
    pub(super) settings: Put,
    /// The files, and their digests.
    pub(super) files: BTreeMap<String, String>,
    /// What those that are being replaced by newer ones had.
    pub(super) replaced: BTreeMap<String, String>,
    /// Ends the goal in the commands, which are pasted together as text: nobody who writes a goal knows it.
    pub(super) mark: String,
}

impl Record {
    /// Whether these bytes are what ralph wrote there.
    pub(super) fn wrote(&self, name: &str, digest: &str) -> bool {
        [&self.files, &self.replaced].iter().any(|known| known.get(name).is_some_and(|known| known == digest))
    }
}

/// An agent's folder of settings.
pub(super) struct Place {
    pub(super) agent: Agent,
    pub(super) dir: PathBuf,
    pub(super) settings: PathBuf,
}

impl Place {
    fn below(agent: Agent, above: &Path) -> Self {
        Self::at(
            agent,
            above.join(match agent {
                Agent::Claude => ".claude",
                Agent::Codex => ".codex",
            }),
        )
    }

    fn at(agent: Agent, dir: PathBuf) -> Self {
        let settings = match agent {
            Agent::Claude => "settings.json",
            Agent::Codex => "hooks.json",
        };
        Self { agent, settings: dir.join(settings), dir }
    }

    /// The user's own.
    fn of_user(agent: Agent) -> Option<Self> {
        let folder = |name: &str| std::env::var_os(name).filter(|dir| !dir.is_empty()).map(PathBuf::from);
        let named = match agent {
            Agent::Claude => "CLAUDE_CONFIG_DIR",
            Agent::Codex => "CODEX_HOME",
        };
        let at = folder(named).map(|dir| Self::at(agent, dir));
        at.or_else(|| Some(Self::below(agent, &folder("HOME")?)))
    }

    pub(super) fn meant(args: &InstallArgs) -> Result<Self> {
        if !args.user {
            return Ok(Self::below(args.agent, &Project::find()?.root));
        }
        Self::of_user(args.agent)
            .ok_or_else(|| Error::new("nobody knows where your settings are").because("HOME is not set"))
    }

    /// Everywhere that an agent looks for hooks when it is started in the project.
    pub(super) fn all(project: &Project) -> impl Iterator<Item = Self> {
        let agents = || [Agent::Claude, Agent::Codex].into_iter();
        let own = Self::below(Agent::Claude, &project.root);
        let local = Self { settings: own.dir.join("settings.local.json"), ..own };
        let root = project.root.clone();
        let here = agents().map(move |agent| Self::below(agent, &root));
        here.chain([local]).chain(agents().filter_map(Self::of_user))
    }

    pub(super) fn files(&self) -> &'static [(&'static str, &'static str)] {
        if self.agent == Agent::Claude { &FILES } else { &[] }
    }

    pub(super) fn wanted(&self, ralph: &str) -> Wanted {
        Wanted {
            hooks: HOOKS.map(|one| hook(ralph, self.agent, one)).into(),
            env: (self.agent == Agent::Claude).then_some((CAP, BLOCKS)),
        }
    }

    /// Whether its settings run the Stop hook, and whether the SessionStart hook.
    pub(super) fn runs(&self) -> [bool; 2] {
        let text = std::fs::read_to_string(&self.settings).unwrap_or_default();
        HOOKS.map(|one| settings::runs(&text, &hook("ralph", self.agent, one)))
    }

    pub(super) fn record_file(&self) -> Own {
        Own { path: self.dir.join(RECORD) }
    }

    /// `None` where ralph put nothing.
    pub(super) fn record(&self) -> Result<Option<Record>> {
        let path = self.record_file().path;
        let text = match std::fs::read(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            text => text.map_err(error::io("cannot read", &path))?,
        };
        let record = serde_json::from_slice(&text).map_err(|error| {
            Error::data(format!("{} cannot be read, so nobody knows what is ralph's there", path.display()))
                .because(error)
                .hint("take out by hand what runs ralph, and that file; then: ralph hook install")
        })?;
        Ok(Some(record))
    }

    pub(super) fn write_down(&self, record: &Record) -> Result<()> {
        let text = serde_json::to_string_pretty(record).unwrap_or_default();
        self.record_file().write(&format!("{text}\n"))
    }
}
