//! Whether everything that runs need is in order. It looks and runs nothing of the repository.
//!
//! | file | holds |
//! |---|---|
//! | `tools` | git, agents, the programs of checks |
//! | `records` | `.ralph/`, the truth folder, journals, evidence, lock, clock |
//! | `disk` | room and rights |

mod disk;
mod records;
mod tools;

use std::path::Path;

use crate::config::{Config, Layers};
use crate::project::Project;
use crate::trust::{self, Commands};

/// How it stands with one thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Held,
    /// Runs work, but somebody should know.
    Warned,
    /// Runs do not work.
    Failed,
}

impl Outcome {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Held => "held",
            Self::Warned => "warned",
            Self::Failed => "failed",
        }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Finding {
    /// `git`, `agents`, `check test`
    pub(crate) about: String,
    pub(crate) outcome: Outcome,
    pub(crate) text: String,
    /// What to do, where something is to be done.
    pub(crate) remedy: Option<String>,
}

impl Finding {
    fn new(about: &str, outcome: Outcome, text: impl Into<String>) -> Self {
        Self { about: about.into(), outcome, text: text.into(), remedy: None }
    }

    fn held(about: &str, text: impl Into<String>) -> Self {
        Self::new(about, Outcome::Held, text)
    }

    fn warned(about: &str, text: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { remedy: Some(remedy.into()), ..Self::new(about, Outcome::Warned, text) }
    }

    fn failed(about: &str, text: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { remedy: Some(remedy.into()), ..Self::new(about, Outcome::Failed, text) }
    }
}

/// Everything that can be told about the project that `cwd` is in.
pub(crate) fn examine(cwd: &Path, run_checks: bool) -> Vec<Finding> {
    let mut findings = vec![tools::git(cwd)];
    let project = match Project::at(cwd) {
        Ok(project) => project,
        Err(error) => {
            let remedy = error.hints.first().cloned().unwrap_or_else(|| "run ralph somewhere else".into());
            findings.push(Finding::failed("project", error.what, remedy));
            return findings;
        }
    };
    let kind = if project.repo.is_some() { "a git work tree" } else { "a folder without git" };
    findings.push(Finding::held("project", format!("{}: {kind}", project.root.display())));
    let (settings, layers) = settings(&project);
    findings.push(settings);
    let config = layers.merged();
    findings.extend(tools::agents(&config, cwd));
    findings.push(trusted(&project, &layers.project));
    findings.extend(tools::checks(&project, &layers, run_checks));
    findings.extend(records::all(&project));
    findings.push(disk::room(&project));
    findings
}

/// What stands in the way of any run here: of what is examined, that which does not depend on who is to work.
pub(crate) fn in_the_way(project: &Project) -> Option<Finding> {
    let (settings, layers) = settings(project);
    let mut findings = vec![tools::git(&project.root), settings];
    findings.extend(tools::checks(project, &layers, false));
    findings.extend(records::folders(project));
    findings.push(disk::room(project));
    findings.into_iter().find(|finding| finding.outcome == Outcome::Failed)
}

fn settings(project: &Project) -> (Finding, Layers) {
    match Layers::read(&project.ralph_dir).and_then(|layers| layers.shown().map(|_| layers)) {
        Ok(layers) => {
            let said = layers.merged().said.len();
            let text =
                if said == 0 { "defaults".to_owned() } else { format!("{said} set: ralph config show") };
            (Finding::held("settings", text), layers)
        }
        Err(error) => {
            let remedy = error.hints.first().cloned().unwrap_or_else(|| "correct that line".into());
            (Finding::failed("settings", error.what, remedy), Layers::default())
        }
    }
}

/// The commands that the project's file brings.
fn brought(config: &Config) -> Commands {
    let mut commands = Commands::default();
    for check in &config.checks {
        commands.add(crate::config::check_source(&check.key), &check.value);
    }
    for (key, value) in config.powers() {
        commands.add(crate::config::source(&key), &value);
    }
    commands
}

fn trusted(project: &Project, config: &Config) -> Finding {
    let commands = brought(config);
    let unknown = trust::unknown(project, &commands);
    match (commands.is_empty(), unknown.as_slice()) {
        (true, _) => Finding::held("trust", "the project brings no commands"),
        (false, []) => Finding::held("trust", "you agreed to all commands that the project brings"),
        (false, unknown) => {
            let listed: Vec<String> = unknown
                .iter()
                .map(|command| format!("{} ({})", trust::shown(&command.command), command.source))
                .collect();
            Finding::warned(
                "trust",
                format!("nobody agreed yet to: {}", listed.join("; ")),
                "read them; ralph run asks, and takes --yes where there is no terminal",
            )
        }
    }
}
