//! Scripted agents: real processes, written as shell scripts into the sandbox's `bin/`.
//!
//! Each call saves what the agent was given (`prompts/NNN.txt`, beside it arguments and environment), then does
//! the steps of its script. Texts are kept in files of their own and copied by `cat`, so that nothing has to be
//! quoted for the shell.

mod calls;
mod script;
mod steps;

pub use calls::AgentCall;
pub use steps::{Background, Steps};

pub(crate) use calls::calls;

use crate::Sandbox;
use std::path::{Path, PathBuf};

/// ```
/// use ralph_testkit::{FakeAgent, Sandbox, StatusBlock, Steps};
/// let sandbox = Sandbox::new();
/// let agent = FakeAgent::new("agent")
///     .call(Steps::new().write("a.txt", "one\n").status(&StatusBlock::in_progress()))
///     .call(Steps::new().say("The whole project is done.").status(&StatusBlock::done()))
///     .install(&sandbox);
/// let output = sandbox.command(agent.path()).output().expect("start the agent");
/// assert!(output.status.success());
/// assert_eq!(sandbox.read("a.txt"), "one\n");
/// assert_eq!(sandbox.agent_calls().len(), 1);
/// ```
pub struct FakeAgent {
    name: String,
    calls: Vec<Steps>,
    by_iteration: bool,
    reads_stdin: bool,
}

impl FakeAgent {
    /// The name is the program's: `claude` stands in for Claude Code.
    pub fn new(name: &str) -> Self {
        FakeAgent { name: name.into(), calls: Vec::new(), by_iteration: false, reads_stdin: true }
    }

    /// What the next call does. Calls beyond the last repeat it; an agent without any does nothing.
    #[must_use]
    pub fn call(mut self, steps: Steps) -> Self {
        self.calls.push(steps);
        self
    }

    /// Chooses by `$RALPH_ITERATION` (1 = the first steps) instead of by how often this agent was called.
    #[must_use]
    pub fn by_iteration(mut self) -> Self {
        self.by_iteration = true;
        self
    }

    /// Never reads its prompt; the saved one is empty.
    #[must_use]
    pub fn ignoring_stdin(mut self) -> Self {
        self.reads_stdin = false;
        self
    }

    pub fn install(self, sandbox: &Sandbox) -> InstalledAgent {
        let text = script::write(&self, sandbox);
        InstalledAgent { path: sandbox.install_script(&self.name, &text), name: self.name }
    }
}

/// A scripted agent that can be started.
pub struct InstalledAgent {
    name: String,
    path: PathBuf,
}

impl InstalledAgent {
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// The calls of this agent, where a sandbox has several.
    pub fn calls(&self, sandbox: &Sandbox) -> Vec<AgentCall> {
        sandbox.agent_calls().into_iter().filter(|call| call.agent == self.name).collect()
    }
}
