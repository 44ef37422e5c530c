//! Codex.

use ralph_core::time::Time;
use ralph_testkit::Turn;
use serde_json::json;

use crate::common::{history, outcomes, ralph, status};
use crate::stage::{Actor, Cli, command, done, epoch_seconds, more, run, stage};
use crate::trouble::{self, FAR, FULL};

const CODEX: Cli = Cli::Codex;

#[test]
fn codex_lies_is_refused_fixes_is_reviewed_and_completes() {
    let (sandbox, _) = trouble::lies_fixes_and_is_reviewed(CODEX, "AGENTS.md");
    assert_eq!(status(&sandbox)["cost"]["tokens"], 600);
    let refused = ralph(&sandbox).args(["run", "x", "--agents", "codex", "--budget", "1"]).args(FULL).run();
    refused.assert_code(64).assert_stderr_has("codex does not report what it costs");
}

#[test]
fn codex_stops_at_once_at_each_limit_and_says_what_to_do() {
    trouble::is_limited(
        CODEX,
        &[
            (CODEX.refuses(401), 1, &["401 Unauthorized", "to log codex in: codex login"]),
            (
                CODEX.no_credit(),
                1,
                &["Quota exceeded", "to give codex credit: see its provider's billing page"],
            ),
            (CODEX.refuses(429), 1, &["429", "codex is out until"]),
            (CODEX.quota(FAR), 1, &["usage limit", "codex is out until Sun 01 Jan 2040 00:00"]),
            (CODEX.refuses(529), 1, &["529", "codex is out until"]),
        ],
    );
}

#[test]
fn codex_goes_on_after_a_lost_connection_and_a_kill() {
    let (sandbox, ..) = trouble::loses_its_connection_and_is_killed(CODEX, vec![Turn::cut()]);
    let outcomes: Vec<String> = outcomes(&sandbox).into_iter().map(|(_, outcome)| outcome).collect();
    assert_eq!(outcomes, ["failed", "failed", "accepted"]);
}

#[test]
fn codex_with_its_own_permissions_writes_nothing_and_its_commands_fail_as_others_do() {
    let (sandbox, actor) = stage(CODEX, |sandbox| {
        vec![vec![CODEX.writes(sandbox, "green"), more("It is in place.")]; 3].concat()
    });
    let finished = run(&sandbox, &actor, &["--permissions", "inherit"]);
    finished.assert_code(5).assert_stderr_has("no_progress: 3 iterations").assert_stderr_lacks("denied");
    actor.assert_asked(6);
    assert!(!sandbox.exists("green"));
    let told = history(&sandbox);
    assert!(told.iter().all(|entry| entry["denied"] == json!([])), "{told:?}");
    // The model hears of it; the stream may leave out a command that ended at once.
    assert!(actor.was_told("Read-only file system"));
}

#[test]
fn codex_that_may_edit_writes_in_the_project_and_nowhere_else() {
    trouble::may_edit_only(
        CODEX,
        |sandbox| CODEX.shell(&format!("touch .git/by-command {}/by-command", sandbox.home().display())),
        |sandbox| sandbox.exists(".git/by-command") || sandbox.home().join("by-command").exists(),
    );
}

#[test]
fn codex_works_in_a_folder_that_is_no_repository() {
    let sandbox = ralph_testkit::Sandbox::new();
    let actor = Actor::enter(CODEX, &sandbox, [CODEX.writes(&sandbox, "green"), done("Done.")]);
    let finished =
        run(&sandbox, &actor, &[&FULL[..], &["--reviews", "0", "--test-cmd", "test -e green"]].concat());
    finished.assert_code(0).assert_stderr_has("✓ COMPLETE");
    actor.assert_asked(2);
}

#[test]
fn a_model_and_arguments_of_its_own_reach_codex() {
    let (sandbox, actor) = stage(CODEX, |_| vec![done("Nothing to do.")]);
    let args = [&FULL[..], &["--reviews", "0", "--model", "codex=gpt-9", "--", "-c", "model_verbosity=high"]]
        .concat();
    command(&sandbox, "codex", &[&actor], &args).run().assert_code(0);
    actor.assert_asked(1);
    let body = &actor.server.main_requests()[0].body;
    assert_eq!(body["model"], "gpt-9", "{body}");
    let header = status(&sandbox);
    assert_eq!(header["agent"]["model"], "gpt-9", "{header}");
}

#[test]
fn a_background_process_that_codex_leaves_is_ended_with_the_iteration() {
    let (sandbox, actor) =
        stage(CODEX, |_| vec![CODEX.shell("setsid sleep 86400 > /dev/null 2>&1 &"), more("Started.")]);
    let finished = run(&sandbox, &actor, &[&FULL[..], &["--max-iterations", "1"]].concat());
    finished.assert_code(3).assert_stderr_has("background process ended");
    actor.assert_asked(2);
    sandbox.assert_no_processes();
}

/// It tells the minute in which its allowance comes back, and that may be this one.
#[test]
fn codex_whose_allowance_comes_back_within_the_minute_is_waited_for_that_long() {
    let (sandbox, actor) = stage(CODEX, |_| vec![CODEX.quota(epoch_seconds() + 1)]);
    let running = command(&sandbox, "codex", &[&actor], &FULL).spawn();
    running.wait_for_stderr("waiting until");
    let waits = &status(&sandbox)["waiting"];
    let until = waits["until"].as_str().and_then(Time::parse).expect("a time").millis().unsigned_abs();
    assert!(until / 1000 <= epoch_seconds() + 62, "{waits}");
    ralph(&sandbox).arg("stop").run().assert_code(0);
    running.wait();
    actor.assert_asked(1);
}
