//! What a scripted agent does in one call.

use crate::claude::{ClaudeLine, ClaudeResult};
use crate::status::StatusBlock;
use serde_json::Value;

/// Steps of one call, done in order. Paths are relative to the folder the agent is started in.
#[derive(Clone, Debug, Default)]
pub struct Steps {
    pub(super) list: Vec<Step>,
}

#[derive(Clone, Debug)]
pub(super) enum Step {
    Write(String, Vec<u8>),
    Append(String, Vec<u8>),
    Delete(String),
    Shell(String),
    Print(Vec<u8>),
    PrintError(Vec<u8>),
    Claude(ClaudeLine),
    Background(Background),
    Reach(String),
    Hold(String),
    Hang,
    Exit(u8),
}

impl Steps {
    pub fn new() -> Self {
        Steps::default()
    }

    #[must_use]
    fn and(mut self, step: Step) -> Self {
        self.list.push(step);
        self
    }

    #[must_use]
    pub fn write(self, path: &str, text: impl AsRef<[u8]>) -> Self {
        self.and(Step::Write(path.into(), text.as_ref().to_vec()))
    }

    #[must_use]
    pub fn append(self, path: &str, text: impl AsRef<[u8]>) -> Self {
        self.and(Step::Append(path.into(), text.as_ref().to_vec()))
    }

    /// A file or a whole folder.
    #[must_use]
    pub fn delete(self, path: &str) -> Self {
        self.and(Step::Delete(path.into()))
    }

    /// Any shell text. `$call` is the number of this agent's call. A failing line does not end the agent.
    #[must_use]
    pub fn shell(self, line: &str) -> Self {
        self.and(Step::Shell(line.into()))
    }

    /// Prints the text and a line end.
    #[must_use]
    pub fn say(self, text: impl AsRef<str>) -> Self {
        self.print(format!("{}\n", text.as_ref()))
    }

    /// Prints exactly these bytes.
    #[must_use]
    pub fn print(self, bytes: impl AsRef<[u8]>) -> Self {
        self.and(Step::Print(bytes.as_ref().to_vec()))
    }

    /// Prints the text and a line end to standard error.
    #[must_use]
    pub fn complain(self, text: impl AsRef<str>) -> Self {
        self.and(Step::PrintError(format!("{}\n", text.as_ref()).into_bytes()))
    }

    #[must_use]
    pub fn status(self, block: &StatusBlock) -> Self {
        self.say(block.to_string())
    }

    /// The first line of a Claude Code stream.
    #[must_use]
    pub fn claude_init(self) -> Self {
        self.and(Step::Claude(ClaudeLine::Init))
    }

    /// The assistant's words. Blocks without a tool result between them belong to one message, as in the
    /// real stream: one line each, repeating the message's id and usage.
    #[must_use]
    pub fn claude_text(self, text: impl AsRef<str>) -> Self {
        self.and(Step::Claude(ClaudeLine::Text(text.as_ref().into())))
    }

    #[must_use]
    pub fn claude_tool(self, name: &str, input: Value) -> Self {
        self.and(Step::Claude(ClaudeLine::Tool { name: name.into(), input }))
    }

    /// The result of the last tool.
    #[must_use]
    pub fn claude_tool_ok(self, content: &str) -> Self {
        self.and(Step::Claude(ClaudeLine::ToolOk(content.into())))
    }

    #[must_use]
    pub fn claude_tool_error(self, content: &str) -> Self {
        self.and(Step::Claude(ClaudeLine::ToolError(content.into())))
    }

    /// The line Claude Code makes up itself when the API refuses: `rate_limit`, `authentication_failed`,
    /// `billing_error`, `server_error`.
    #[must_use]
    pub fn claude_api_error(self, error: &str, text: &str) -> Self {
        self.and(Step::Claude(ClaudeLine::ApiError { error: error.into(), text: text.into() }))
    }

    /// The last line of the stream.
    #[must_use]
    pub fn claude_result(self, result: ClaudeResult) -> Self {
        self.and(Step::Claude(ClaudeLine::Result(result)))
    }

    /// A process left running.
    #[must_use]
    pub fn background(self, child: Background) -> Self {
        self.and(Step::Background(child))
    }

    /// Tells the test that the agent is here ([`crate::Sandbox::wait_for`]); the agent goes on at once.
    #[must_use]
    pub fn reach(self, point: &str) -> Self {
        self.and(Step::Reach(point.into()))
    }

    /// Waits until the test lets go ([`crate::Sandbox::release`]). A point to hold at needs another name than a
    /// point to reach.
    #[must_use]
    pub fn hold(self, point: &str) -> Self {
        self.and(Step::Hold(point.into()))
    }

    /// Blocks for ever. Use `shell("trap '' TERM INT")` before it for an agent that does not listen.
    #[must_use]
    pub fn hang(self) -> Self {
        self.and(Step::Hang)
    }

    /// Ends here; without it the agent ends with 0 after its last step.
    #[must_use]
    pub fn exit(self, code: u8) -> Self {
        self.and(Step::Exit(code))
    }
}

/// A process that sleeps for ever beside the agent, as dev servers and watchers do.
#[derive(Clone, Copy, Debug, Default)]
pub struct Background {
    pub(super) own_session: bool,
    pub(super) clean_environment: bool,
    pub(super) keeps_output: bool,
    pub(super) ignores_term: bool,
}

impl Background {
    pub fn new() -> Self {
        Background::default()
    }

    /// `setsid`: outside the agent's process group and session.
    #[must_use]
    pub fn own_session(self) -> Self {
        Background { own_session: true, ..self }
    }

    /// `env -i`: nothing ralph put into the environment is left. Only the sandbox's marker stays, so that the
    /// sandbox can end the process whatever ralph does.
    #[must_use]
    pub fn clean_environment(self) -> Self {
        Background { clean_environment: true, ..self }
    }

    /// Holds the agent's standard output and error open.
    #[must_use]
    pub fn keeps_output(self) -> Self {
        Background { keeps_output: true, ..self }
    }

    #[must_use]
    pub fn ignores_term(self) -> Self {
        Background { ignores_term: true, ..self }
    }
}
