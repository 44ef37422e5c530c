//! How each CLI is pointed at its stand-in and started.

use crate::cases::Case;
use ralph_testkit::{
    AnthropicServer, GeminiServer, ModelServer, OpenAiServer, RealCli, Sandbox, claude_env, codex_setup,
    gemini_setup, opencode_setup,
};
use serde_json::{Value, json};
use std::fs;
use std::ops::Deref;
use std::path::PathBuf;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Agent {
    Claude,
    Codex,
    Gemini,
    Opencode,
}

/// One way of printing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Form {
    pub(crate) name: &'static str,
    pub(crate) extension: &'static str,
}

const STREAM: Form = Form { name: "stream", extension: "jsonl" };
const JSON: Form = Form { name: "json", extension: "json" };
const JSON_LINES: Form = Form { name: "json", extension: "jsonl" };
const TEXT: Form = Form { name: "text", extension: "txt" };

type Prepared = (Box<dyn Deref<Target = ModelServer>>, Vec<(String, String)>);

impl Agent {
    pub(crate) const ALL: [Agent; 4] = [Agent::Claude, Agent::Codex, Agent::Gemini, Agent::Opencode];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Agent::Claude => "claude",
            Agent::Codex => "codex",
            Agent::Gemini => "gemini",
            Agent::Opencode => "opencode",
        }
    }

    pub(crate) fn forms(self) -> &'static [Form] {
        match self {
            Agent::Claude | Agent::Gemini => &[STREAM, JSON, TEXT],
            Agent::Codex | Agent::Opencode => &[JSON_LINES, TEXT],
        }
    }

    /// Codex has no limit of turns, and OpenCode's is only a request to its model. Told not to try again, Codex
    /// and Gemini do not, even when a stream is cut.
    pub(crate) fn knows(self, case: Case) -> bool {
        match case {
            Case::MaxTurns => matches!(self, Agent::Claude | Agent::Gemini),
            Case::CutOnce => matches!(self, Agent::Claude | Agent::Opencode),
            _ => true,
        }
    }

    pub(crate) fn program(self) -> PathBuf {
        let cli = match self {
            Agent::Claude => RealCli::CLAUDE,
            Agent::Codex => RealCli::CODEX,
            Agent::Gemini => RealCli::GEMINI,
            Agent::Opencode => RealCli::OPENCODE,
        };
        cli.program()
    }

    /// The prompt follows.
    pub(crate) fn args(self, case: Case, form: Form) -> Vec<&'static str> {
        let free = case != Case::Denied;
        let mut args = match self {
            Agent::Claude => vec!["-p"],
            Agent::Codex => vec!["exec", "--skip-git-repo-check"],
            Agent::Gemini => vec!["--skip-trust", "-m", "gemini-2.5-pro"],
            Agent::Opencode => vec!["run"],
        };
        args.extend(match (self, form.name) {
            (Agent::Claude, "stream") => vec!["--verbose", "--output-format", "stream-json"],
            (Agent::Gemini, "stream") => vec!["--output-format", "stream-json"],
            (Agent::Claude | Agent::Gemini, name) => vec!["--output-format", name],
            (Agent::Codex, "json") => vec!["--json"],
            (Agent::Opencode, "json") => vec!["--format", "json"],
            _ => Vec::new(),
        });
        args.extend(match self {
            Agent::Claude if free => &["--dangerously-skip-permissions"][..],
            Agent::Codex if free => &["--dangerously-bypass-approvals-and-sandbox"],
            Agent::Codex => &["-s", "read-only"],
            Agent::Gemini if free => &["--yolo"],
            Agent::Opencode if free => &["--auto"],
            _ => &[],
        });
        if (self, case) == (Agent::Claude, Case::MaxTurns) {
            args.extend(["--max-turns", "1"]);
        }
        if self == Agent::Gemini {
            args.push("-p");
        }
        args
    }

    pub(crate) fn prepare(self, sandbox: &Sandbox, case: Case) -> Prepared {
        let script = case.script(self, &sandbox.project().to_string_lossy());
        match self {
            Agent::Claude => {
                let server = AnthropicServer::start(script);
                let variables = claude_env(&server);
                (Box::new(server), variables)
            }
            Agent::Codex => {
                let server = OpenAiServer::start(script);
                let variables = codex_setup(sandbox, &server);
                (Box::new(server), variables)
            }
            Agent::Gemini => {
                let server = GeminiServer::start(script);
                let variables = gemini_setup(sandbox, &server);
                if case == Case::MaxTurns {
                    change(sandbox, ".gemini/settings.json", "model", json!({"maxSessionTurns": 1}));
                }
                (Box::new(server), variables)
            }
            Agent::Opencode => {
                let server = OpenAiServer::start(script);
                let variables = opencode_setup(sandbox, &server);
                if case == Case::Denied {
                    let rules = json!({"edit": "ask", "bash": "deny"});
                    change(sandbox, ".config/opencode/opencode.json", "permission", rules);
                }
                (Box::new(server), variables)
            }
        }
    }

    pub(crate) fn write_call(self, path: &str, content: &str) -> (&'static str, Value) {
        match self {
            Agent::Claude => ("Write", json!({"file_path": path, "content": content})),
            Agent::Codex => {
                ("exec_command", json!({"cmd": format!("printf '{}' > {path}", content.escape_default())}))
            }
            Agent::Gemini => ("write_file", json!({"file_path": path, "content": content})),
            Agent::Opencode => ("write", json!({"filePath": path, "content": content})),
        }
    }

    pub(crate) fn shell_call(self, command: &str) -> (&'static str, Value) {
        match self {
            Agent::Claude => ("Bash", json!({"command": command})),
            Agent::Codex => ("exec_command", json!({"cmd": command})),
            Agent::Gemini => ("run_shell_command", json!({"command": command})),
            Agent::Opencode => ("bash", json!({"command": command, "description": "Looks at the files"})),
        }
    }
}

/// Sets one key of a settings file in the home.
fn change(sandbox: &Sandbox, path: &str, key: &str, value: Value) {
    let path = sandbox.home().join(path);
    let text = fs::read_to_string(&path).expect("read settings");
    let mut settings: Value = serde_json::from_str(&text).expect("settings in JSON");
    settings[key] = value;
    fs::write(&path, settings.to_string()).expect("write settings");
}
