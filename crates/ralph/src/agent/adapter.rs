//! An adapter is data: what one CLI is called, how it is started, what it tells and what it reads by itself.
//!
//! Each of them reads its prompt on standard input when it gets none as an argument, so that no prompt is too long for
//! a command line and nobody waits for an end of input that never comes.

use ralph_core::event::Permissions;
use ralph_core::prices::Prices;
use ralph_core::transcript::Format;

#[derive(Debug, PartialEq, Eq)]
pub struct Adapter {
    /// Of the program and in `--agents`.
    pub name: &'static str,
    /// In the boxes: `Claude working...`
    pub title: &'static str,
    pub format: Format,
    /// Without a session at a terminal, and in that format.
    pub headless: &'static [&'static str],
    /// What it wants besides in a folder that is no repository.
    pub outside_git: &'static [&'static str],
    pub full: &'static [&'static str],
    /// `None`: it has no such mode.
    pub edits: Option<&'static [&'static str]>,
    /// In front of a model's name.
    pub model: &'static str,
    /// Whether its output says what it cost.
    pub tells_cost: bool,
    /// In front of the dollars after which it ends itself, where it can.
    pub budget: Option<&'static str>,
    /// No model of its costs more. A budget that is cut off with the agent is charged so.
    pub costs_at_most: Option<Prices>,
    /// The knowledge files that it reads by itself.
    pub reads: &'static [&'static str],
    pub install: &'static str,
    /// What to do where its login is refused.
    pub log_in: &'static str,
}

/// In the order in which they are looked for when none is named.
pub(super) const ADAPTERS: &[Adapter] = &[
    Adapter {
        name: "claude",
        title: "Claude",
        format: Format::Claude,
        headless: &["-p", "--output-format", "stream-json", "--verbose"],
        outside_git: &[],
        // Without a mode of its own, `-p` starts in one that depends on the version.
        full: &["--dangerously-skip-permissions", "--permission-mode", "bypassPermissions"],
        edits: Some(&["--permission-mode", "acceptEdits"]),
        model: "--model",
        tells_cost: true,
        budget: Some("--max-budget-usd"),
        costs_at_most: Some(Prices {
            input: 15_000_000,
            output: 75_000_000,
            cache_read: 1_500_000,
            cache_write: 30_000_000,
            assumed: true,
        }),
        reads: &["CLAUDE.md"],
        install: "npm install -g @anthropic-ai/claude-code",
        log_in: "run claude and type /login, or set ANTHROPIC_API_KEY to a valid key",
    },
    Adapter {
        name: "codex",
        title: "Codex",
        format: Format::Codex,
        headless: &["exec", "--json"],
        outside_git: &["--skip-git-repo-check"],
        full: &["--dangerously-bypass-approvals-and-sandbox"],
        edits: Some(&["--sandbox", "workspace-write"]),
        model: "--model",
        tells_cost: false,
        budget: None,
        costs_at_most: None,
        reads: &["AGENTS.md"],
        install: "npm install -g @openai/codex",
        log_in: "codex login",
    },
    Adapter {
        name: "opencode",
        title: "OpenCode",
        format: Format::Opencode,
        headless: &["run", "--format", "json"],
        outside_git: &[],
        full: &["--auto"],
        edits: None,
        model: "--model",
        tells_cost: true,
        budget: None,
        costs_at_most: None,
        reads: &["AGENTS.md", "CLAUDE.md"],
        install: "npm install -g opencode-ai",
        log_in: "opencode auth login",
    },
    Adapter {
        name: "gemini",
        title: "Gemini",
        format: Format::Gemini,
        headless: &["--output-format", "stream-json"],
        outside_git: &[],
        // In a folder that it does not trust it falls back to asking, whatever mode it is given.
        full: &["--approval-mode", "yolo", "--skip-trust"],
        edits: Some(&["--approval-mode", "auto_edit", "--skip-trust"]),
        model: "--model",
        tells_cost: false,
        budget: None,
        costs_at_most: None,
        reads: &["GEMINI.md"],
        install: "npm install -g @google/gemini-cli",
        log_in: "run gemini and type /auth, or set GEMINI_API_KEY to a valid key",
    },
];

/// The built-in agent of that name.
pub fn adapter(name: &str) -> Option<&'static Adapter> {
    ADAPTERS.iter().find(|adapter| adapter.name == name)
}

pub fn names() -> impl Iterator<Item = &'static str> {
    ADAPTERS.iter().map(|adapter| adapter.name)
}

impl Adapter {
    /// The arguments that let it do so much without asking; `None` if it cannot be told so.
    pub fn may(&self, permissions: Permissions) -> Option<&'static [&'static str]> {
        match permissions {
            Permissions::Full => Some(self.full),
            Permissions::Edits => self.edits,
            Permissions::Inherit => Some(&[]),
        }
    }
}
