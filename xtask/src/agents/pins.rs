//! The agent CLIs and the versions that the tests are made for. `RealCli` of ralph-testkit knows the same ones.

use super::program::Program;

/// One CLI as npm has it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pin {
    pub(super) name: &'static str,
    pub(super) package: &'static str,
    pub(super) version: &'static str,
    pub(super) program: Program,
    /// Set while it proves its version.
    pub(super) env: &'static [(&'static str, &'static str)],
    /// Tells the tests where the program is.
    pub(super) variable: &'static str,
}

pub(super) const PINS: &[Pin] = &[
    Pin {
        name: "claude",
        package: "@anthropic-ai/claude-code",
        version: "2.1.327",
        program: Program::Native("@anthropic-ai/claude-code-*/claude"),
        env: &[("DISABLE_AUTOUPDATER", "1")],
        variable: "RALPH_TEST_CLAUDE",
    },
    Pin {
        name: "codex",
        package: "@openai/codex",
        version: "0.169.0",
        program: Program::Native("@openai/codex-*/vendor/*/bin/codex"),
        env: &[],
        variable: "RALPH_TEST_CODEX",
    },
    Pin {
        name: "gemini",
        package: "@google/gemini-cli",
        version: "0.61.0",
        program: Program::Script { path: "@google/gemini-cli/bundle/gemini.js", node: 20 },
        env: &[],
        variable: "RALPH_TEST_GEMINI",
    },
    Pin {
        name: "opencode",
        package: "opencode-ai",
        version: "1.18.33",
        program: Program::Native("opencode-*/bin/opencode"),
        env: &[("OPENCODE_DISABLE_AUTOUPDATE", "1"), ("OPENCODE_DISABLE_MODELS_FETCH", "1")],
        variable: "RALPH_TEST_OPENCODE",
    },
];
