//! Agents: how each CLI is started. An adapter is data plus a decoder, which is core's.

use std::path::{Path, PathBuf};

use ralph_core::agents::Role;
use ralph_core::event::{AgentInfo, Permissions};
use ralph_core::transcript::Format;

use crate::error::{Error, Result};
use crate::process::{self, Spec};
use crate::project::Project;

/// The agents ralph knows by name.
pub const KNOWN: [&str; 1] = ["claude"];

/// A custom command's name in the journal and on the screen.
pub const CUSTOM: &str = "custom";

/// The title of an agent in the boxes: `Claude working...`.
pub fn title(agent: &AgentInfo) -> &str {
    match agent.name.as_str() {
        "claude" => "Claude",
        _ => "Agent",
    }
}

/// A custom command, run by `sh -c`. It has no permissions of its own.
pub fn custom(command: String, format: Format) -> AgentInfo {
    AgentInfo {
        name: CUSTOM.into(),
        command: Some(command),
        format,
        model: None,
        permissions: None,
        args: vec![],
        role: Role::Any,
    }
}

/// Whether the agent reads the project's knowledge file by itself.
pub fn loads_knowledge(agent: &AgentInfo) -> bool {
    agent.name == "claude"
}

/// The agents that say what an iteration cost.
const TELL_COST: [&str; 1] = ["claude"];

/// Whether money can be counted. Of a custom command nobody knows before it ran.
pub fn may_tell_cost(agent: &AgentInfo) -> bool {
    agent.command.is_some() || TELL_COST.contains(&agent.name.as_str())
}

/// Makes sure that the agent can be started at all, before anything is begun.
pub fn find(agent: &AgentInfo) -> Result<()> {
    if agent.command.is_some() || process::find_program(&agent.name).is_some() {
        return Ok(());
    }
    Err(Error::new("no agent found")
        .because(format!("`{}` is not on the PATH", agent.name))
        .hint("npm install -g @anthropic-ai/claude-code")
        .hint(
            "or name any command that reads a prompt on standard input: ralph run --agent-cmd CMD \"GOAL\"",
        ))
}

/// A script that is not there is better said now than five times in a row. Only a plain path can be told; anything
/// else is the shell's business.
pub fn find_script(agent: &AgentInfo, root: &Path) -> Result<()> {
    let first = agent.command.as_deref().and_then(|command| command.split_whitespace().next()).unwrap_or("");
    let plain = first.contains('/') && first.chars().all(|c| c.is_ascii_alphanumeric() || "/._-".contains(c));
    if !plain || root.join(first).exists() {
        return Ok(());
    }
    Err(Error::usage(format!("there is no {first}"))
        .because(format!("agents and checks run at the top of the project: {}", root.display()))
        .hint("--agent-cmd with a path from there, or an absolute one"))
}

/// What to start for one iteration. The prompt comes on standard input and is named in the environment.
pub fn spec(agent: &AgentInfo, project: &Project, prompt: PathBuf) -> Spec {
    let spec = match &agent.command {
        Some(command) => Spec::shell(command, &project.root),
        None => claude(agent, project),
    };
    spec.env("RALPH_PROMPT_FILE", &prompt).env("RALPH_DIR", &project.ralph_dir).stdin_file(prompt)
}

fn claude(agent: &AgentInfo, project: &Project) -> Spec {
    let mut spec =
        Spec::new("claude", &project.root).args(["-p", "--output-format", "stream-json", "--verbose"]);
    match agent.permissions {
        Some(Permissions::Full) => spec = spec.arg("--dangerously-skip-permissions"),
        Some(Permissions::Edits) => spec = spec.args(["--permission-mode", "acceptEdits"]),
        Some(Permissions::Inherit) | None => {}
    }
    if let Some(model) = &agent.model {
        spec = spec.args(["--model", model]);
    }
    spec.args(&agent.args)
}
