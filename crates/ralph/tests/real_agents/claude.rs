//! Claude Code.

use ralph_testkit::{Sandbox, Turn};
use serde_json::json;

use crate::common::{TEST, history, outcomes, ralph, status};
use crate::stage::{Cli, done, epoch_seconds, more, run, stage};
use crate::trouble::{self, FAR, FULL};

const CLAUDE: Cli = Cli::Claude;

#[test]
fn claude_lies_is_refused_fixes_is_reviewed_and_completes() {
    let (sandbox, _) = trouble::lies_fixes_and_is_reviewed(CLAUDE, "CLAUDE.md");
    let status = status(&sandbox);
    assert!(status["cost"]["micro_usd"].as_u64().is_some_and(|cost| cost > 0), "{status}");
    assert_eq!(status["cost"]["tokens"], 600);
}

#[test]
fn claude_stops_at_once_at_each_limit_and_says_what_to_do() {
    trouble::is_limited(
        CLAUDE,
        &[
            (
                CLAUDE.refuses(401),
                1,
                &["Not a valid API key", "to log claude in: run claude and type /login"],
            ),
            (
                CLAUDE.no_credit(),
                1,
                &["Credit balance is too low", "to give claude credit: see its provider's billing page"],
            ),
            (CLAUDE.refuses(429), 1, &["claude is out until"]),
            (CLAUDE.refuses(529), 1, &["529", "claude is out until"]),
        ],
    );
}

#[test]
fn claude_of_a_subscription_tells_when_its_allowance_comes_back() {
    let (sandbox, actor) = stage(CLAUDE, |_| vec![CLAUDE.quota(FAR)]);
    let actor = actor.subscribed();
    let finished = run(&sandbox, &actor, &FULL);
    finished.assert_code(4).assert_stderr_has("claude is out until Sun 01 Jan 2040 00:00");
    actor.assert_asked(1);
}

#[test]
fn claude_whose_allowance_comes_back_soon_is_waited_for_and_completes() {
    let soon = epoch_seconds() + 6;
    let (sandbox, actor) = stage(CLAUDE, |sandbox| {
        vec![CLAUDE.quota(soon), CLAUDE.writes(sandbox, "green"), done("It is green.")]
    });
    let actor = actor.subscribed();
    let args = ["--reviews", "0", "--test-cmd", TEST, "--set", "limit_backoff=1s"];
    let finished = run(&sandbox, &actor, &[&FULL[..], &args].concat());
    finished.assert_code(0).assert_stderr_has("waiting until ").assert_stderr_has("✓ COMPLETE");
    actor.assert_asked(3);
    let expected = [(1, "limited"), (2, "accepted")].map(|(n, word)| (n, word.to_owned()));
    assert_eq!(outcomes(&sandbox), expected);
    let journal = sandbox.read(".git/ralph/runs/0001/journal.jsonl");
    assert!(journal.contains(r#""reset":{"how":"at","#), "the second and not the minute: {journal}");
}

/// Told not to try again, it does so once all the same, without streaming.
#[test]
fn claude_goes_on_after_a_lost_connection_and_a_kill() {
    let (sandbox, ..) = trouble::loses_its_connection_and_is_killed(CLAUDE, vec![Turn::cut(), Turn::cut()]);
    let outcomes: Vec<String> = outcomes(&sandbox).into_iter().map(|(_, outcome)| outcome).collect();
    assert_eq!(outcomes, ["failed", "failed", "accepted"]);
}

#[test]
fn claude_with_its_own_permissions_writes_nothing_and_what_it_wanted_is_told() {
    let once = |sandbox: &Sandbox| vec![CLAUDE.writes(sandbox, "green"), more("It is in place.")];
    trouble::is_denied(CLAUDE, "Write", |_| {}, once);
}

#[test]
fn claude_that_may_edit_runs_no_command() {
    // It counts touch and mkdir among the edits.
    trouble::may_edit_only(
        CLAUDE,
        |_| CLAUDE.shell("git init elsewhere"),
        |sandbox| sandbox.exists("elsewhere"),
    );
}

#[test]
fn claude_that_reaches_its_last_turn_has_failed_and_its_work_is_kept() {
    let (sandbox, actor) = stage(CLAUDE, |sandbox| vec![CLAUDE.writes(sandbox, "green")]);
    let args = [&FULL[..], &["--max-iterations", "1", "--", "--max-turns", "1"]].concat();
    run(&sandbox, &actor, &args).assert_code(3);
    let last = &history(&sandbox)[0];
    assert_eq!((&last["outcome"], &last["files_changed"]), (&json!("failed"), &json!(1)), "{last}");
    actor.assert_asked(1);
}

#[test]
fn claude_ends_itself_where_the_run_s_money_is_used_up_and_that_is_no_failure() {
    let (sandbox, actor) = stage(CLAUDE, |sandbox| {
        vec![CLAUDE.writes(sandbox, "one"), CLAUDE.writes(sandbox, "two"), CLAUDE.writes(sandbox, "three")]
    });
    let stopped = run(&sandbox, &actor, &[&FULL[..], &["--budget", "0.001"]].concat());
    stopped.assert_code(6).assert_stderr_has("⚠ BUDGET USED UP").assert_stderr_has("of $0.0010");
    assert_eq!(outcomes(&sandbox), [(1, "interrupted".to_owned())]);
    assert!(sandbox.exists("one"), "its work is kept");
    assert!(!sandbox.exists("three"), "it did not go on");
}

#[test]
fn claude_that_uses_up_the_tokens_is_ended_in_the_middle_of_its_work() {
    let (sandbox, actor) = stage(CLAUDE, |sandbox| {
        let hangs = CLAUDE.shell("sleep 600");
        vec![CLAUDE.writes(sandbox, "one"), hangs]
    });
    let stopped = run(&sandbox, &actor, &[&FULL[..], &["--max-tokens", "200"]].concat());
    stopped.assert_code(6).assert_stderr_has("the run's tokens are used up (max_tokens)");
    assert_eq!(outcomes(&sandbox), [(1, "interrupted".to_owned())]);
    assert!(sandbox.exists("one"), "its work is kept");
    sandbox.assert_no_processes();
}

#[test]
fn claude_is_told_its_permission_mode_whatever_its_settings_say() {
    for (permissions, edits, runs) in
        [("full", true, true), ("edits", true, false), ("inherit", false, false)]
    {
        let (sandbox, actor) = stage(CLAUDE, |sandbox| {
            vec![CLAUDE.writes(sandbox, "edited"), CLAUDE.shell("git init ran"), more("I have tried.")]
        });
        sandbox.write(".claude/settings.json", json!({"permissions": {"defaultMode": "plan"}}).to_string());
        run(&sandbox, &actor, &["--permissions", permissions, "--max-iterations", "1"]).assert_code(3);
        assert_eq!((sandbox.exists("edited"), sandbox.exists("ran")), (edits, runs), "{permissions}");
    }
}

#[test]
fn a_login_that_is_refused_stops_at_once_and_the_next_run_goes_on() {
    let (sandbox, actor) =
        stage(CLAUDE, |_| vec![CLAUDE.refuses(401), done("Nothing to do."), done("I agree.")]);
    let finished = run(&sandbox, &actor, &[&FULL[..], &["--test-cmd", "true"]].concat());
    finished.assert_code(4).assert_stderr_has("✗ NO AGENT LEFT").assert_stderr_has("Not a valid API key");
    assert_eq!(outcomes(&sandbox), [(1, "limited".to_owned())]);
    run(&sandbox, &actor, &[]).assert_code(0).assert_stderr_has("⚠ COMPLETE");
    actor.assert_asked(3);
}

#[test]
fn the_demo_runs_with_the_real_claude() {
    let fix = json!({
        "command": "printf '%s\\n' '#!/bin/sh' 'echo \"Hello, ${1:-world}!\"' > greet.sh",
        "description": "fix it",
    });
    let (sandbox, actor) = stage(CLAUDE, |_| {
        vec![
            done("All done."),
            Turn::tool("Bash", fix),
            done("Now it greets by name."),
            done("Nothing to change."),
        ]
    });
    let demo = ralph(&sandbox).args(["demo", "--dir", "here", "--agent", "claude"]).args(FULL);
    let demo = demo.envs(actor.env()).run();
    demo.assert_code(0).assert_stderr_has("(greets_by_name)").assert_stderr_has("✓ COMPLETE");
    actor.assert_asked(4);
}

#[test]
fn a_background_process_of_its_shell_tool_is_ended_with_the_iteration() {
    let (sandbox, actor) =
        stage(CLAUDE, |_| vec![CLAUDE.shell("nohup sleep 86400 > /dev/null 2>&1 &"), more("Started.")]);
    let finished = run(&sandbox, &actor, &[&FULL[..], &["--max-iterations", "1"]].concat());
    finished.assert_code(3).assert_stderr_has("background process ended");
    actor.assert_asked(2);
    sandbox.assert_no_processes();
}

#[test]
fn claude_works_through_two_items_and_each_is_committed() {
    let (sandbox, actor) = stage(CLAUDE, |sandbox| {
        vec![
            CLAUDE.writes(sandbox, "one.txt"),
            more("The first item is there."),
            CLAUDE.writes(sandbox, "two.txt"),
            more("The second item is there, too."),
        ]
    });
    let item = |id: &str, file: &str| {
        json!({"id": id, "title": format!("make {file}"), "status": "FAILING", "priority": 1, "dependencies": [],
            "acceptance_criteria": [format!("{file} is there")], "verification": [format!("test -e {file}")],
            "attempts": [], "ralph_loop": {"enabled": true, "max_iterations": 3, "current_iteration": 0}})
    };
    let items = json!({"items": [item("FEAT-1", "one.txt"), item("FEAT-2", "two.txt")]});
    sandbox.write("feature_list.json", serde_json::to_string_pretty(&items).expect("JSON"));
    sandbox.commit_all("items");
    let run = ralph(&sandbox)
        .args(["run", "--profile", "worker", "--all", "--yes", "--agents", "claude"])
        .args(FULL);
    run.envs(actor.env()).limit(std::time::Duration::from_secs(180)).run().assert_code(0);
    actor.assert_asked(4);
    assert!(actor.was_told("one.txt is there") && actor.was_told("two.txt is there"));
    let subjects = sandbox.git(&["log", "--format=%s", "-2"]);
    assert_eq!(subjects, "feat(FEAT-2): make two.txt\nfeat(FEAT-1): make one.txt");
    let done: serde_json::Value = serde_json::from_str(&sandbox.read("feature_list.json")).expect("JSON");
    assert_eq!(
        (&done["items"][0]["status"], &done["items"][1]["status"]),
        (&json!("PASSING"), &json!("PASSING"))
    );
    sandbox.assert_no_processes();
}

#[test]
fn a_model_and_arguments_of_its_own_reach_claude() {
    let (sandbox, actor) = stage(CLAUDE, |_| vec![done("Nothing to do.")]);
    let words = [
        "--reviews",
        "0",
        "--model",
        "claude-haiku-9",
        "--",
        "--append-system-prompt",
        "Remember xylophones.",
    ];
    run(&sandbox, &actor, &[&FULL[..], &words].concat()).assert_code(0);
    actor.assert_asked(1);
    let request = &actor.server.main_requests()[0];
    assert_eq!(request.body["model"], "claude-haiku-9");
    assert!(request.mentions("Remember xylophones."));
    assert_eq!(status(&sandbox)["agent"]["model"], "claude-haiku-9");
}
