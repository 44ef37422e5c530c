//! The real agent CLIs against the stand-in APIs. `cargo xtask test` installs them and tells where they are.

mod claude;
mod codex;
mod gemini;
mod opencode;

use ralph_testkit::{Finished, ModelServer, RalphCommand, RealCli, Running, Sandbox, StatusBlock, Turn};
use serde_json::Value;

/// What the model is asked where the answer is an error, or none.
const PROMPT: &str = "Anything.";
/// What it is asked where a file is to be written.
const GREETING: &str = "Write a greeting.";

/// The model's last words.
fn done() -> String {
    format!("The greeting is in place.\n\n{}", StatusBlock::done())
}

fn closing(words: &str) -> Turn {
    Turn::text(words).usage(300, 20).cached(200)
}

fn last_line(lines: &[Value]) -> &Value {
    lines.last().expect("a last line")
}

#[track_caller]
fn assert_version(cli: RealCli, said: &str) {
    let sandbox = Sandbox::new();
    let finished = sandbox.ralph(&cli.program()).arg("--version").run();
    finished.assert_code(0);
    assert_eq!(finished.stdout.trim(), said);
}

/// The greeting is written; it was this CLI that asked our server, in two turns and with our key; nobody else was
/// called, and nothing runs on.
#[track_caller]
fn assert_greeted(
    cli: RealCli,
    sandbox: &Sandbox,
    server: &ModelServer,
    finished: &Finished,
    key: (&str, &str),
) {
    finished.assert_code(0);
    assert_eq!(sandbox.read("hello.txt"), "hello\n");
    let asked = server.main_requests();
    assert_eq!(asked.len(), 2, "{finished}");
    assert!(asked[0].mentions(GREETING));
    assert_eq!(asked[0].header(key.0), Some(key.1));
    let agent = asked[0].header("user-agent").unwrap_or_default();
    assert!(agent.contains(cli.version), "{agent}");
    assert_eq!(server.calls_outside(), [""; 0]);
    sandbox.assert_no_processes();
}

/// Starts a command whose model never answers, and comes back when it has asked.
#[track_caller]
fn asking(command: RalphCommand, server: &ModelServer) -> Running {
    let running = command.spawn();
    server.wait_for_main_requests(1);
    running
}

#[track_caller]
fn kill(running: Running) -> Finished {
    running.kill9();
    let finished = running.wait();
    finished.assert_code(137);
    finished
}
