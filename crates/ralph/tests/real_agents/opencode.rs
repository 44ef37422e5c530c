//! OpenCode.

use ralph_testkit::Turn;
use serde_json::json;

use crate::common::{outcomes, ralph, repository, status};
use crate::stage::{Cli, change};
use crate::trouble;

const OPENCODE: Cli = Cli::Opencode;

#[test]
fn opencode_lies_is_refused_fixes_is_reviewed_and_completes() {
    let (sandbox, _) = trouble::lies_fixes_and_is_reviewed(OPENCODE, "AGENTS.md");
    let status = status(&sandbox);
    assert_eq!(status["cost"]["tokens"], 600, "{status}");
    assert!(status["cost"]["micro_usd"].as_u64().is_some_and(|cost| cost > 0), "{status}");
}

/// It never says that it is limited otherwise: see `hanging`.
#[test]
fn opencode_stops_at_once_at_a_refused_login_and_says_what_to_do() {
    trouble::is_limited(
        OPENCODE,
        &[(OPENCODE.refuses(401), &["Not a valid API key", "to log opencode in: opencode auth login"])],
    );
}

/// It asks again by itself when an answer is cut off, within the same iteration.
#[test]
fn opencode_goes_on_after_a_lost_connection_and_a_kill() {
    let (sandbox, ..) = trouble::loses_its_connection_and_is_killed(OPENCODE, vec![Turn::cut()]);
    let outcomes: Vec<String> = outcomes(&sandbox).into_iter().map(|(_, outcome)| outcome).collect();
    assert_eq!(outcomes, ["failed", "accepted"]);
}

#[test]
fn opencode_with_rules_of_its_own_writes_nothing() {
    let (_sandbox, actor) = trouble::is_denied(OPENCODE, |sandbox| {
        change(
            sandbox,
            ".config/opencode/opencode.json",
            "permission",
            json!({"edit": "ask", "bash": "deny"}),
        );
    });
    // A refusal ends its session.
    actor.assert_asked(1);
}

#[test]
fn opencode_is_not_told_to_edit_only_for_it_has_no_such_mode() {
    let sandbox = repository();
    sandbox.install_script("opencode", "#!/bin/sh\nexit 0\n");
    let run = ralph(&sandbox).args(["run", "x", "--agents", "opencode", "--permissions", "edits"]).run();
    run.assert_code(64)
        .assert_stderr_has("opencode has no mode")
        .assert_stderr_has("--permissions opencode=inherit");
}
