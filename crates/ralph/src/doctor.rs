//! Whether everything that runs need is in order. It looks and runs nothing of the repository unless it is asked to and
//! somebody agreed. What could not be looked at is never said to hold.
//!
//! | file | holds |
//! |---|---|
//! | `meant` | what a run by these settings would do: its checks, its backlog, the commands it brings |
//! | `tools` | git, agents |
//! | `checks` | checks and their programs |
//! | `records` | `.ralph/`, the truth folder, journals, evidence, lock, clock, circuit |
//! | `disk` | room and rights |

mod checks;
mod disk;
mod meant;
mod records;
mod tools;

use std::path::Path;

use crate::config::Layers;
use crate::project::Project;
use crate::trust;
use meant::Meant;

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
    findings.extend(project.repo.as_ref().and_then(tools::identity));
    match settings(&project) {
        Ok((finding, layers)) => {
            findings.push(finding);
            findings.extend(tools::agents(&layers.merged(), &project.root));
            let meant = Meant::by(&project, &layers);
            findings.extend(meant.backlog.iter().cloned());
            findings.push(trusted(&project, &meant));
            findings.extend(checks::all(&project, &meant, run_checks));
        }
        Err(finding) => {
            findings.push(finding);
            for about in ["agents", "trust", "checks"] {
                let text = "not looked at: the settings that tell about it cannot be read";
                findings.push(Finding::warned(about, text, "mend the settings, then ralph doctor"));
            }
        }
    }
    findings.extend(records::all(&project));
    findings.push(disk::room(&project));
    findings
}

/// What stands in the way of any run here: of what is examined, that which does not depend on who is to work.
pub(crate) fn in_the_way(project: &Project) -> Option<Finding> {
    let mut findings = vec![tools::git(&project.root)];
    match settings(project) {
        Ok((finding, layers)) => {
            findings.push(finding);
            findings.extend(checks::all(project, &Meant::by(project, &layers), false));
        }
        Err(finding) => findings.push(finding),
    }
    findings.extend(records::folders(project));
    findings.push(disk::room(project));
    findings.into_iter().find(|finding| finding.outcome == Outcome::Failed)
}

fn settings(project: &Project) -> Result<(Finding, Layers), Finding> {
    match Layers::read(&project.ralph_dir).and_then(|layers| layers.shown().map(|_| layers)) {
        Ok(layers) => {
            let said = layers.merged().said.len();
            let text = match said {
                0 => "nothing is set, so that the defaults hold; to see them: ralph config show".to_owned(),
                1 => "1 value is set, all others are defaults; to see them: ralph config show".to_owned(),
                _ => {
                    format!("{said} values are set, all others are defaults; to see them: ralph config show")
                }
            };
            Ok((Finding::held("settings", text), layers))
        }
        Err(error) => {
            let remedy = error.hints.first().cloned().unwrap_or_else(|| "correct that line".into());
            Err(Finding::failed("settings", error.what, remedy))
        }
    }
}

fn trusted(project: &Project, meant: &Meant) -> Finding {
    let commands = &meant.brought;
    let unknown = trust::unknown(project, commands);
    match (commands.is_empty(), unknown.as_slice()) {
        (_, []) if !meant.all_known => Finding::warned(
            "trust",
            "not all was looked at: commands of the backlog cannot be read",
            "mend the backlog, then ralph doctor",
        ),
        (true, _) => Finding::held("trust", "a run by these settings brings no commands of the project's"),
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
