//! The real agent CLIs that tests and recordings are made with.

use std::path::PathBuf;

/// One of them, in the version that `cargo xtask agents` installs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RealCli {
    pub version: &'static str,
    /// Names the executable.
    variable: &'static str,
    package: &'static str,
}

impl RealCli {
    pub const CLAUDE: RealCli =
        RealCli { version: "2.1.327", variable: "RALPH_TEST_CLAUDE", package: "@anthropic-ai/claude-code" };
    pub const CODEX: RealCli =
        RealCli { version: "0.169.0", variable: "RALPH_TEST_CODEX", package: "@openai/codex" };
    pub const GEMINI: RealCli =
        RealCli { version: "0.61.0", variable: "RALPH_TEST_GEMINI", package: "@google/gemini-cli" };
    pub const OPENCODE: RealCli =
        RealCli { version: "1.18.33", variable: "RALPH_TEST_OPENCODE", package: "opencode-ai" };

    /// The executable, from the environment.
    #[track_caller]
    pub fn program(&self) -> PathBuf {
        let RealCli { variable, package, version } = self;
        let path = std::env::var_os(variable).map(PathBuf::from).unwrap_or_else(|| {
            panic!("{variable} must name the executable of {package}@{version}: `cargo xtask agents` does")
        });
        assert!(path.is_file(), "{variable} names no file: {}", path.display());
        path
    }
}
