//! The real Claude Code CLI against the stand-in API on loopback. `cargo xtask test` installs it and names it in
//! `RALPH_TEST_CLAUDE`.

mod common;

use std::os::unix::fs::symlink;
use std::path::PathBuf;

use common::{GOAL, TEST, history, outcomes, ralph, repository, status};
use ralph_testkit::{AnthropicServer, Finished, Sandbox, StatusBlock, Turn, claude_env};
use serde_json::json;

/// The version the tests are made for; `cargo xtask agents` pins the same.
const VERSION: &str = "2.1.197";

fn with_claude() -> Sandbox {
    let claude = std::env::var_os("RALPH_TEST_CLAUDE").map(PathBuf::from);
    let claude = claude.expect("RALPH_TEST_CLAUDE must name the claude executable: run `cargo xtask test`");
    let sandbox = repository();
    symlink(&claude, sandbox.bin().join("claude")).expect("claude on the sandbox's PATH");
    sandbox
}

fn run(sandbox: &Sandbox, server: &AnthropicServer, args: &[&str]) -> Finished {
    ralph(sandbox).args(["run", GOAL, "--agents", "claude"]).args(args).envs(claude_env(server)).run()
}

fn done(words: &str) -> Turn {
    Turn::text(format!("{words}\n\n{}", StatusBlock::done()))
}

fn write(sandbox: &Sandbox, name: &str) -> Turn {
    let path = sandbox.project().join(name);
    Turn::text_and_tool("I will write it.", "Write", json!({"file_path": path, "content": ""}))
}

#[test]
fn claude_lies_is_refused_fixes_is_reviewed_and_completes() {
    let sandbox = with_claude();
    let server = AnthropicServer::start([
        done("All done, the tests pass."),
        write(&sandbox, "green"),
        done("Now it is green."),
        done("I checked it; nothing to change."),
    ]);
    let before = sandbox.git(&["rev-parse", "HEAD"]);
    let finished = run(&sandbox, &server, &["--permissions", "full", "--test-cmd", TEST]);
    finished
        .assert_code(0)
        .assert_stderr_has("✗ claimed done, refused: ")
        .assert_stderr_has("(is_green)")
        .assert_stderr_has("[REVIEW]")
        .assert_stderr_has("✓ COMPLETE");
    let expected = [(1, "refused"), (2, "accepted"), (3, "accepted")].map(|(n, word)| (n, word.to_owned()));
    assert_eq!(outcomes(&sandbox), expected);
    assert!(sandbox.exists("green"));
    assert_eq!(sandbox.git(&["rev-parse", "HEAD"]), before);

    // It was the real one, and it asked our server.
    let transcript = ralph(&sandbox).args(["history", "1", "--transcript"]).run();
    transcript.assert_stdout_has(&format!("\"claude_code_version\":\"{VERSION}\""));
    let requests = server.main_requests();
    assert_eq!(requests.len(), 4, "one for each turn");
    assert_eq!(server.turns_left(), 0);
    assert!(
        requests
            .iter()
            .all(|request| request.header("user-agent").is_some_and(|agent| agent.contains(VERSION)))
    );
    assert!(requests[0].mentions(GOAL));
    assert!(requests[1].mentions("was refused"), "the refusal reached the model");
    assert!(requests[3].mentions("This iteration is a review"));
    let status = status(&sandbox);
    assert!(status["cost"]["micro_usd"].as_u64().is_some_and(|cost| cost > 0), "{status}");
    assert_eq!(status["cost"]["tokens"], 600);
    sandbox.assert_no_processes();
}

#[test]
fn the_demo_runs_with_the_real_claude() {
    let sandbox = with_claude();
    let fix = json!({
        "command": "printf '%s\\n' '#!/bin/sh' 'echo \"Hello, ${1:-world}!\"' > greet.sh",
        "description": "fix it",
    });
    let server = AnthropicServer::start([
        done("All done."),
        Turn::tool("Bash", fix),
        done("Now it greets by name."),
        done("Nothing to change."),
    ]);
    let demo = ralph(&sandbox)
        .args(["demo", "--dir", "here", "--agent", "claude", "--permissions", "full"])
        .envs(claude_env(&server))
        .run();
    demo.assert_code(0).assert_stderr_has("(greets_by_name)").assert_stderr_has("✓ COMPLETE");
    assert_eq!(server.main_requests().len(), 4);
    let transcript = ralph(&sandbox).in_folder("here").args(["history", "3", "--transcript"]).run();
    transcript.assert_stdout_has(&format!("\"claude_code_version\":\"{VERSION}\""));
}

#[test]
fn a_login_that_is_refused_stops_at_once_and_the_next_run_goes_on() {
    let sandbox = with_claude();
    let server = AnthropicServer::start([
        Turn::error(401, "authentication_error", "invalid x-api-key"),
        done("Nothing to do."),
        done("I agree."),
    ]);
    let finished = run(&sandbox, &server, &["--permissions", "full", "--test-cmd", "true"]);
    finished.assert_code(4).assert_stderr_has("✗ NO AGENT LEFT").assert_stderr_has("Invalid API key");
    assert_eq!(outcomes(&sandbox), [(1, "limited".to_owned())]);
    run(&sandbox, &server, &[]).assert_code(0).assert_stderr_has("✓ COMPLETE");
}

#[test]
fn with_its_own_permissions_a_denied_write_changes_nothing() {
    let sandbox = with_claude();
    let words = format!("It is in place.\n\n{}", StatusBlock::in_progress());
    let server = AnthropicServer::start([write(&sandbox, "green"), Turn::text(words)]);
    run(&sandbox, &server, &["--permissions", "inherit", "--max-iterations", "1"]).assert_code(3);
    assert_eq!(history(&sandbox)[0]["files_changed"], 0);
    assert!(!sandbox.exists("green"));
}

#[test]
fn a_background_process_of_its_shell_tool_is_ended_with_the_iteration() {
    let sandbox = with_claude();
    let command = json!({"command": "nohup sleep 86400 > /dev/null 2>&1 &", "description": "wait"});
    let words = format!("Started.\n\n{}", StatusBlock::in_progress());
    let server = AnthropicServer::start([Turn::tool("Bash", command), Turn::text(words)]);
    let finished = run(&sandbox, &server, &["--permissions", "full", "--max-iterations", "1"]);
    finished.assert_code(3).assert_stderr_has("background process ended");
    sandbox.assert_no_processes();
}
