//! The Gemini CLI.

use ralph_testkit::{Sandbox, Turn};
use serde_json::json;

use crate::common::{history, outcomes, ralph, status};
use crate::stage::{Cli, change, more, run, stage};
use crate::trouble::{self, FAR, FULL};

const GEMINI: Cli = Cli::Gemini;

#[test]
fn gemini_lies_is_refused_fixes_is_reviewed_and_completes() {
    let (sandbox, _) = trouble::lies_fixes_and_is_reviewed(GEMINI, "GEMINI.md");
    assert_eq!(status(&sandbox)["cost"]["tokens"], 600);
    let refused = ralph(&sandbox).args(["run", "x", "--agents", "gemini", "--budget", "1"]).args(FULL).run();
    refused.assert_code(64).assert_stderr_has("gemini does not report what it costs");
}

#[test]
fn gemini_stops_at_once_at_each_limit_and_says_what_to_do() {
    trouble::is_limited(
        GEMINI,
        &[
            (GEMINI.refuses(401), 1, &["Not a valid API key", "to log gemini in: run gemini and type /auth"]),
            (
                GEMINI.no_credit(),
                1,
                &["credits are depleted", "to give gemini credit: see its provider's billing page"],
            ),
            (GEMINI.refuses(429), 1, &["Too many requests", "gemini is out until"]),
            (GEMINI.quota(FAR), 1, &["exceeded your current quota", "gemini is out until"]),
            (GEMINI.refuses(529), 1, &["Overloaded", "gemini is out until"]),
        ],
    );
}

/// Its service tells a length of time, in a later line of its answer.
#[test]
fn gemini_tells_how_long_a_used_up_quota_lasts() {
    let (sandbox, actor) = stage(GEMINI, |_| vec![GEMINI.quota(FAR)]);
    run(&sandbox, &actor, &[&FULL[..], &["--set", "max_wait=30m"]].concat()).assert_code(4);
    actor.assert_asked(1);
    let journal = sandbox.read(".git/ralph/runs/0001/journal.jsonl");
    assert!(journal.contains(r#""reset":{"how":"after","ms":3600070}"#), "{journal}");
    let page = sandbox.read(".ralph/history/iteration-001.md");
    assert!(page.contains("\n- Limit: ") && !page.contains("until when is not said"), "{page}");
}

#[test]
fn gemini_goes_on_after_a_lost_connection_and_a_kill() {
    let (sandbox, ..) = trouble::loses_its_connection_and_is_killed(GEMINI, vec![Turn::cut()]);
    let outcomes: Vec<String> = outcomes(&sandbox).into_iter().map(|(_, outcome)| outcome).collect();
    assert_eq!(outcomes, ["failed", "failed", "accepted"]);
}

#[test]
fn gemini_with_its_own_permissions_writes_nothing_and_what_it_wanted_is_told() {
    // Somebody trusts the folder; without that it does not even begin.
    let trusted = |sandbox: &Sandbox| {
        let folders = json!({sandbox.project().to_string_lossy(): "TRUST_FOLDER"});
        let path = sandbox.home().join(".gemini/trustedFolders.json");
        sandbox.write(path, folders.to_string());
    };
    let once = |sandbox: &Sandbox| vec![GEMINI.writes(sandbox, "green"), more("It is in place.")];
    trouble::is_denied(GEMINI, "write_file", trusted, once);
}

#[test]
fn gemini_that_may_edit_runs_no_command() {
    trouble::may_edit_only(
        GEMINI,
        |_| GEMINI.shell("touch by-command"),
        |sandbox| sandbox.exists("by-command"),
    );
}

#[test]
fn gemini_that_reaches_its_last_turn_has_failed_and_its_work_is_kept() {
    let (sandbox, actor) = stage(GEMINI, |sandbox| vec![GEMINI.writes(sandbox, "green")]);
    let model = json!({"name": "gemini-2.5-pro", "maxSessionTurns": 1});
    change(&sandbox, ".gemini/settings.json", "model", model);
    run(&sandbox, &actor, &[&FULL[..], &["--max-iterations", "1"]].concat()).assert_code(3);
    let last = &history(&sandbox)[0];
    assert_eq!((&last["outcome"], &last["files_changed"]), (&json!("failed"), &json!(1)), "{last}");
    actor.assert_asked(1);
}
