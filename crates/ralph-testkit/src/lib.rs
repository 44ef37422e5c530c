//! What the tests of ralph stand on. Never part of the product.
//!
//! | module | gives |
//! |---|---|
//! | `sandbox` | [`Sandbox`]: a folder of its own with home, project and programs, a clean environment, git helpers, custody of every process started in it |
//! | `run` | [`RalphCommand`], [`Running`], [`Finished`]: the real binary, its output, its signals |
//! | `agent` | [`FakeAgent`] and [`Steps`]: scripted agents, real processes written in `/bin/sh` |
//! | `beads` | [`Beads`]: a stand-in for `bd`, which keeps issues |
//! | `claude` | [`ClaudeResult`]: lines shaped like Claude Code's stream |
//! | `status` | [`StatusBlock`] |
//! | `schema` | [`Schema`]: what the program writes against what is published |
//! | `anthropic`, `openai`, `gemini` | [`AnthropicServer`], [`OpenAiServer`], [`GeminiServer`]: stand-ins for the models' APIs, for running the real CLIs |
//! | `server`, `turn` | [`ModelServer`] and [`Turn`]: what the stand-ins share, and what they answer |
//! | `real_cli`, `setup` | [`RealCli`], [`codex_setup`], [`opencode_setup`], [`gemini_setup`]: the real CLIs, pointed at a stand-in |
//! | `http` | the little HTTP server under the stand-ins, loopback only |
//! | `terminal` | [`Terminal`]: a program on a pseudo-terminal, its screen as text |
//! | `sync`, `watched` | waiting for something with a time limit, never by sleeping |
//!
//! Variables read from outside: `RALPH_SANDBOX_BASE` (where sandboxes are made; not inside a git repository),
//! `RALPH_KEEP_SANDBOX` (keep and name them). What feature `real-agents` builds reads the paths of the CLIs from
//! `RALPH_TEST_CLAUDE`, `RALPH_TEST_CODEX`, `RALPH_TEST_GEMINI`, `RALPH_TEST_OPENCODE`; `cargo xtask` sets them.
//!
//! Helpers panic with all they know when something is not as the test said; nothing here returns an error.
//! Waits block until the thing happens and fail the test after a limit.

mod agent;
mod anthropic;
mod beads;
mod claude;
mod gemini;
mod http;
mod openai;
mod real_cli;
mod run;
mod sandbox;
mod schema;
mod server;
mod setup;
mod status;
mod sync;
mod terminal;
mod turn;
mod watched;

pub use agent::{AgentCall, Background, FakeAgent, InstalledAgent, Steps};
pub use anthropic::{AnthropicServer, claude_env};
pub use beads::Beads;
pub use claude::ClaudeResult;
pub use gemini::GeminiServer;
pub use openai::OpenAiServer;
pub use real_cli::RealCli;
pub use run::{Finished, RalphCommand, Running, after_stamp, without_stamps};
pub use rustix::process::Signal;
pub use sandbox::{GitState, MARKER, Sandbox};
pub use schema::Schema;
pub use server::{ApiRequest, ModelServer};
pub use setup::{codex_setup, gemini_setup, opencode_setup};
pub use status::StatusBlock;
pub use terminal::{Terminal, TerminalBuilder};
pub use turn::Turn;
pub use vt100::{Cell, Color};

use std::time::Duration;

/// How long any wait may take before the test fails. Long enough for a busy machine: a wait that is met
/// returns at once.
pub const LIMIT: Duration = Duration::from_secs(60);
