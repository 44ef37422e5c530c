//! One CLI on the sandbox's PATH, pointed at its stand-in.

use std::ops::Deref;
use std::os::unix::fs::symlink;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ralph_testkit::{
    AnthropicServer, Finished, GeminiServer, ModelServer, OpenAiServer, RalphCommand, RealCli, Sandbox,
    StatusBlock, Turn, claude_env, codex_setup, gemini_setup, opencode_setup,
};
use serde_json::{Value, json};

use crate::common::{GOAL, ralph, repository};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cli {
    Claude,
    Codex,
    Gemini,
    Opencode,
}

impl Cli {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Cli::Claude => "claude",
            Cli::Codex => "codex",
            Cli::Gemini => "gemini",
            Cli::Opencode => "opencode",
        }
    }

    fn real(self) -> RealCli {
        match self {
            Cli::Claude => RealCli::CLAUDE,
            Cli::Codex => RealCli::CODEX,
            Cli::Gemini => RealCli::GEMINI,
            Cli::Opencode => RealCli::OPENCODE,
        }
    }

    /// The model's answer that writes a file of the project.
    pub(crate) fn writes(self, sandbox: &Sandbox, name: &str) -> Turn {
        let path = sandbox.project().join(name);
        let (tool, input) = match self {
            Cli::Claude => ("Write", json!({"file_path": path, "content": ""})),
            Cli::Codex => ("exec_command", json!({"cmd": format!("touch {}", path.display())})),
            Cli::Gemini => ("write_file", json!({"file_path": path, "content": ""})),
            Cli::Opencode => ("write", json!({"filePath": path, "content": ""})),
        };
        Turn::text_and_tool("I will write it.", tool, input)
    }

    /// The one that runs a command.
    pub(crate) fn shell(self, command: &str) -> Turn {
        match self {
            Cli::Claude => Turn::tool("Bash", json!({"command": command, "description": "x"})),
            Cli::Codex => Turn::tool("exec_command", json!({"cmd": command})),
            Cli::Gemini => Turn::tool("run_shell_command", json!({"command": command})),
            Cli::Opencode => Turn::tool("bash", json!({"command": command, "description": "x"})),
        }
    }

    /// A refusal in the words of its own service.
    pub(crate) fn refuses(self, status: u16) -> Turn {
        let (anthropic, openai, google, message) = match status {
            401 => {
                ("authentication_error", "invalid_request_error", "UNAUTHENTICATED", "Not a valid API key.")
            }
            429 => ("rate_limit_error", "rate_limit_exceeded", "RESOURCE_EXHAUSTED", "Too many requests."),
            _ => ("overloaded_error", "server_error", "UNAVAILABLE", "Overloaded"),
        };
        let kind = match self {
            Cli::Claude => anthropic,
            Cli::Codex | Cli::Opencode => openai,
            Cli::Gemini => google,
        };
        Turn::error(status, kind, message)
    }

    /// No money left, in the words of its own service.
    pub(crate) fn no_credit(self) -> Turn {
        match self {
            Cli::Claude => Turn::error(
                400,
                "invalid_request_error",
                "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade \
                 or purchase credits.",
            ),
            Cli::Codex | Cli::Opencode => Turn::error(
                429,
                "insufficient_quota",
                "You exceeded your current quota, please check your plan and billing details.",
            )
            .field("code", json!("insufficient_quota")),
            Cli::Gemini => Turn::error(
                402,
                "FAILED_PRECONDITION",
                "Your prepayment credits are depleted. Please go to AI Studio to manage your billing.",
            ),
        }
    }

    /// A used-up allowance, with the time it comes back where the service tells it.
    pub(crate) fn quota(self, resets_at: u64) -> Turn {
        match self {
            Cli::Claude => {
                Turn::error(429, "rate_limit_error", "This would exceed your account's rate limit.")
                    .header("anthropic-ratelimit-unified-status", "rejected")
                    .header("anthropic-ratelimit-unified-reset", &resets_at.to_string())
                    .header("anthropic-ratelimit-unified-representative-claim", "five_hour")
                    .header("anthropic-ratelimit-unified-overage-status", "rejected")
            }
            Cli::Codex => Turn::error(429, "usage_limit_reached", "The usage limit has been reached")
                .field("plan_type", json!("plus"))
                .field("resets_at", json!(resets_at)),
            Cli::Gemini => {
                let message = "You exceeded your current quota, please check your plan and billing details. \n\
                    * Quota exceeded for metric: generate_content_requests, limit: 250\nPlease retry in 3600.07s.";
                let retry =
                    json!({"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "3600s"});
                Turn::error(429, "RESOURCE_EXHAUSTED", message).field("details", json!([retry]))
            }
            Cli::Opencode => self.refuses(429),
        }
    }
}

const TMP_IS_NOT_WRITABLE: &str =
    "\n[sandbox_workspace_write]\nexclude_slash_tmp = true\nexclude_tmpdir_env_var = true\n";

/// Several starts of a CLI on a machine that is busy with others.
const LONG: Duration = Duration::from_secs(180);

/// A CLI with its stand-in.
pub(crate) struct Actor {
    pub(crate) cli: Cli,
    pub(crate) server: Box<dyn Deref<Target = ModelServer> + Send + Sync>,
    env: Vec<(String, String)>,
}

impl Actor {
    /// Puts the CLI on the PATH of the sandbox.
    pub(crate) fn enter(cli: Cli, sandbox: &Sandbox, script: impl IntoIterator<Item = Turn>) -> Self {
        let link = sandbox.bin().join(cli.name());
        if !link.exists() {
            symlink(cli.real().program(), link).expect("the CLI on the sandbox's PATH");
        }
        let (server, env): (Box<dyn Deref<Target = ModelServer> + Send + Sync>, _) = match cli {
            Cli::Claude => {
                let server = AnthropicServer::start(script);
                let env = claude_env(&server);
                (Box::new(server), env)
            }
            Cli::Codex => {
                let server = OpenAiServer::start(script);
                let env = codex_setup(sandbox, &server);
                // Its sandbox puts a `.git` of its own into every folder that may be written to, while it runs; in the
                // temporary folder of the system that would be everybody's.
                append(sandbox, ".codex/config.toml", TMP_IS_NOT_WRITABLE);
                (Box::new(server), env)
            }
            Cli::Opencode => {
                let server = OpenAiServer::start(script);
                let env = opencode_setup(sandbox, &server);
                (Box::new(server), env)
            }
            Cli::Gemini => {
                let server = GeminiServer::start(script);
                let env = gemini_setup(sandbox, &server);
                // Without a model of its own it asks a router first.
                change(sandbox, ".gemini/settings.json", "model", json!({"name": "gemini-2.5-pro"}));
                (Box::new(server), env)
            }
        };
        Self { cli, server, env }
    }

    /// Claude with a subscription instead of a key: only then does it tell when a limit ends.
    pub(crate) fn subscribed(mut self) -> Self {
        self.env.retain(|(name, _)| name != "ANTHROPIC_API_KEY");
        self.env.push(("CLAUDE_CODE_OAUTH_TOKEN".into(), "x".into()));
        self
    }

    /// What points the CLI at its stand-in.
    pub(crate) fn env(&self) -> Vec<(String, String)> {
        self.env.clone()
    }

    /// So many turns were asked for, by the CLI in the version that the tests are made for; nobody else was called.
    #[track_caller]
    pub(crate) fn assert_asked(&self, times: usize) {
        let requests = self.server.main_requests();
        assert_eq!(requests.len(), times, "requests of {}", self.cli.name());
        let version = self.cli.real().version;
        for request in requests {
            let agent = request.header("user-agent").unwrap_or_default().to_owned();
            assert!(agent.contains(version), "{agent}");
        }
        assert_eq!(self.server.calls_outside(), [""; 0]);
    }

    /// Some request had this in it.
    pub(crate) fn was_told(&self, text: &str) -> bool {
        self.server.main_requests().iter().any(|request| request.mentions(text))
    }
}

/// A repository with one actor.
pub(crate) fn stage(cli: Cli, script: impl FnOnce(&Sandbox) -> Vec<Turn>) -> (Sandbox, Actor) {
    let sandbox = repository();
    let script = script(&sandbox);
    let actor = Actor::enter(cli, &sandbox, script);
    (sandbox, actor)
}

/// `ralph run GOAL` with these CLIs.
pub(crate) fn command(sandbox: &Sandbox, pool: &str, actors: &[&Actor], args: &[&str]) -> RalphCommand {
    let command = ralph(sandbox).args(["run", GOAL, "--agents", pool]).args(args).limit(LONG);
    actors.iter().fold(command, |command, actor| command.envs(actor.env()))
}

pub(crate) fn run(sandbox: &Sandbox, actor: &Actor, args: &[&str]) -> Finished {
    command(sandbox, actor.cli.name(), &[actor], args).run()
}

fn append(sandbox: &Sandbox, path: &str, text: &str) {
    let path = sandbox.home().join(path);
    let before = sandbox.read(&path);
    sandbox.write(&path, before + text);
}

/// Sets one key of a settings file in the home.
pub(crate) fn change(sandbox: &Sandbox, path: &str, key: &str, value: Value) {
    let path = sandbox.home().join(path);
    let mut settings: Value = serde_json::from_str(&sandbox.read(&path)).expect("settings in JSON");
    settings[key] = value;
    sandbox.write(&path, settings.to_string());
}

/// For a reset that is near.
#[expect(clippy::disallowed_methods, reason = "what the service tells is a time")]
pub(crate) fn epoch_seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs()
}

pub(crate) fn done(words: &str) -> Turn {
    Turn::text(format!("{words}\n\n{}", StatusBlock::done()))
}

pub(crate) fn more(words: &str) -> Turn {
    Turn::text(format!("{words}\n\n{}", StatusBlock::in_progress()))
}
