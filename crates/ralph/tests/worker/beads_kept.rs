//! What an agent does to issues beyond its part, and what bd would run by itself.

use ralph_testkit::{Beads, Sandbox, Steps};

use crate::beads::{on_beads, says_done, two_issues, verbs};
use crate::common::{ralph, repository};
use crate::stage::{another, claims, commits, recorded, worker, writer, writes};

/// A hook that says when it ran.
fn hook(sandbox: &Sandbox, name: &str, more: &str) {
    let hook = format!("#!/bin/sh\necho ran >> \"$RALPH_TEST_HOOKS\"\n{more}");
    sandbox.write(format!(".beads/hooks/{name}"), &hook);
    let path = format!(".beads/hooks/{name}");
    assert!(sandbox.command("chmod").args(["+x", &path]).status().expect("chmod").success());
}

#[test]
fn an_agent_cannot_take_issues_out_of_the_run() {
    for takes in [
        "bd update bd-b --assignee alice; bd update bd-b --status closed",
        "bd update bd-a --assignee x",
        "bd update bd-a --assignee ''",
        "bd update bd-b --status deferred",
        "bd update bd-a --defer 2099-01-01 --status open",
        "bd delete bd-b",
    ] {
        let sandbox = repository();
        let beads = two_issues(&sandbox);
        let agent = another(&sandbox)
            .call(claims(writes("one.txt").shell(takes)))
            .call(claims(writes("one.txt").shell("echo again > again.txt")))
            .call(claims(writes("two.txt")))
            .call(says_done())
            .install(&sandbox);
        let finished = on_beads(&sandbox, &agent).args(["--test-cmd", "true"]).run();
        finished.assert_code(0).assert_stderr_has(" COMPLETE");
        for id in ["bd-a", "bd-b"] {
            let issue = beads.issue(id);
            let reason = issue["close_reason"].as_str().unwrap_or_default();
            assert_eq!(issue["status"], "closed", "{takes}: {issue}");
            assert!(reason.starts_with("proved by ralph: "), "{takes}: {issue}");
        }
        assert!(agent.calls(&sandbox)[1].prompt.contains("refused"), "{takes}");
    }
}

#[test]
fn hooks_of_bd_are_asked_about_before_bd_is_called_at_all() {
    let sandbox = repository();
    let beads = two_issues(&sandbox);
    let agent = writer(&sandbox, &["one.txt", "two.txt"]);
    let ran = sandbox.root().join("tmp/hooks");
    hook(&sandbox, "on_update", "");
    sandbox.write(".beads/db/calls", "");
    let run = || {
        let run = ralph(&sandbox).args(["run", "--profile", "worker", "--agent-cmd"]).arg(agent.path());
        run.args(["--backlog", "beads", "--test-cmd", "true"]).env("RALPH_TEST_HOOKS", &ran)
    };
    run().run().assert_code(64).assert_stderr_has(".beads/hooks/on_update");
    assert_eq!(sandbox.read(".beads/db/calls"), "", "bd was not called");
    assert!(!ran.exists());
    run().arg("--yes").run().assert_code(0);
    assert!(ran.exists(), "what was agreed to runs");
    // Other words are another hook.
    hook(&sandbox, "on_update", "true");
    run().args(["--fresh"]).run().assert_code(64).assert_stderr_has(".beads/hooks/on_update");
    let listed = ralph(&sandbox).args(["backlog", "list", "--backlog", "beads"]).run();
    listed.assert_code(65).assert_stderr_has("nobody has agreed to .beads/hooks/on_update");
    assert_eq!(beads.issue("bd-a")["status"], "closed");
}

#[test]
fn hooks_and_settings_of_bd_that_an_agent_writes_are_never_run_and_refuse_the_claim() {
    let sandbox = repository();
    let beads = two_issues(&sandbox);
    sandbox.write(".beads/config.yaml", "prefix: bd\n");
    sandbox.commit_all("settings");
    let ran = sandbox.root().join("tmp/hooks");
    let plants = "mkdir -p .beads/hooks; printf '#!/bin/sh\\necho ran >> \"$RALPH_TEST_HOOKS\"\\n' > .beads/hooks/on_close; \
         cp .beads/hooks/on_close .beads/hooks/on_update; chmod +x .beads/hooks/on_*; echo 'hooks: x' >> .beads/config.yaml";
    let agent = another(&sandbox)
        .call(claims(writes("one.txt").shell(plants)))
        .call(claims(Steps::new().shell("echo again > again.txt")))
        .call(claims(writes("two.txt")))
        .call(says_done())
        .install(&sandbox);
    let run = on_beads(&sandbox, &agent).args(["--test-cmd", "true"]).env("RALPH_TEST_HOOKS", &ran);
    run.run().assert_code(0).assert_stderr_has(".beads/hooks/on_close");
    assert!(!ran.exists(), "nobody agreed to it");
    assert!(!sandbox.exists(".beads/hooks/on_close") && !sandbox.exists(".beads/hooks/on_update"));
    assert_eq!(sandbox.read(".beads/config.yaml"), "prefix: bd\n");
    assert!(agent.calls(&sandbox)[1].prompt.contains("refused"));
    assert_eq!(beads.issue("bd-b")["status"], "closed");
}

#[test]
fn in_a_linked_worktree_the_hooks_of_the_main_checkout_are_asked_about_and_kept_too() {
    let sandbox = repository();
    let beads = two_issues(&sandbox);
    sandbox.git(&["worktree", "add", "-q", "-b", "side", "side"]);
    hook(&sandbox, "on_update", "");
    sandbox.write(".beads/db/calls", "");
    let (main, ran) = (sandbox.project(), sandbox.root().join("tmp/hooks"));
    let plants = "cp \"$MAIN\"/.beads/hooks/on_update \"$MAIN\"/.beads/hooks/on_close";
    let agent = another(&sandbox)
        .call(claims(writes("one.txt").shell(plants)))
        .call(claims(writes("again.txt")))
        .install(&sandbox);
    let run = || {
        let run = ralph(&sandbox).in_folder("side").args(["run", "--profile", "worker", "--agent-cmd"]);
        let run = run.arg(agent.path()).args(["--backlog", "beads", "--test-cmd", "true"]);
        run.env("RALPH_TEST_HOOKS", &ran).env("MAIN", &main)
    };
    let asked = run().run();
    asked
        .assert_code(64)
        .assert_stderr_has("project/.beads/hooks/on_update")
        .assert_stderr_lacks("--no-detect");
    assert_eq!(sandbox.read(".beads/db/calls"), "", "bd was not called");
    run().arg("--yes").run().assert_code(3).assert_stderr_has("project/.beads/hooks/on_close");
    assert!(!sandbox.exists(".beads/hooks/on_close") && sandbox.exists(".beads/hooks/on_update"));
    run().run().assert_code(0);
    assert_eq!(beads.issue("bd-a")["status"], "closed");
    assert_eq!(
        sandbox.read("../tmp/hooks"),
        "ran\n",
        "it was claimed once, and closed without the agent's hook"
    );
}

#[test]
fn a_redirect_is_followed_past_its_comments() {
    let sandbox = repository();
    two_issues(&sandbox);
    sandbox.write(".beads/redirect", "# the team's\n\n../team/.beads\n");
    sandbox.write("../team/.beads/hooks/on_close", "#!/bin/sh\n");
    let listed = ralph(&sandbox).args(["backlog", "list", "--backlog", "beads"]).run();
    listed.assert_code(65).assert_stderr_has("team/.beads/hooks/on_close");
}

#[test]
fn what_a_hook_leaves_behind_is_ended_with_the_call() {
    let sandbox = repository();
    let beads = Beads::install(&sandbox);
    beads.create("bd-a", "Store notes", &[]);
    let ran = sandbox.root().join("tmp/hooks");
    hook(&sandbox, "on_close", "sleep 600 &\n");
    let agent = writer(&sandbox, &["one.txt"]);
    let run = worker(&sandbox, &agent).args(["--backlog", "beads", "--test-cmd", "true"]);
    run.env("RALPH_TEST_HOOKS", &ran).run().assert_code(0);
    assert!(ran.exists());
    sandbox.assert_no_processes();
}

#[test]
fn a_bd_that_fails_for_a_moment_is_called_again() {
    let sandbox = repository();
    let beads = Beads::install(&sandbox);
    beads.create("bd-a", "Store notes", &[]);
    beads.changes();
    beads.becomes("fails-once", "close");
    let agent = writer(&sandbox, &["one.txt"]);
    worker(&sandbox, &agent).args(["--backlog", "beads", "--test-cmd", "true"]).run().assert_code(0);
    assert_eq!(
        verbs(&beads.changes()),
        ["update bd-a --claim", "close bd-a --reason", "close bd-a --reason"]
    );
    assert_eq!(beads.issue("bd-a")["status"], "closed");
}

#[test]
fn a_bd_that_stays_down_stops_the_run_and_the_next_one_closes_what_is_proved_without_another_attempt() {
    // After the commit, and before it.
    for (how, words, check, commits_then) in
        [("fails", "close", "true", 2), ("", "", "test ! -e one.txt || echo locked > .beads/db/broken", 1)]
    {
        let sandbox = repository();
        let beads = Beads::install(&sandbox);
        beads.create("bd-a", "Store notes", &[]);
        beads.create("bd-b", "Find notes", &["--deps", "bd-a"]);
        if !how.is_empty() {
            beads.becomes(how, words);
        }
        let agent = writer(&sandbox, &["one.txt", "two.txt"]);
        let run = || worker(&sandbox, &agent).args(["--backlog", "beads", "--test-cmd", check]);
        let stopped = run().run();
        stopped
            .assert_code(65)
            .assert_stderr_has("iteration 1 could not be settled")
            .assert_stderr_has("locked");
        stopped.assert_stderr_has("settled without another attempt: ralph run");
        assert_eq!(commits(&sandbox), commits_then, "{check}");
        run().run().assert_code(65).assert_stderr_has("locked");
        beads.is_mended();
        assert_ne!(beads.issue("bd-a")["status"], "closed", "{check}");
        run().run().assert_code(0).assert_stderr_has("bd-a");
        let issue = beads.issue("bd-a");
        let reason = issue["close_reason"].as_str().expect("a reason");
        assert!(
            reason.contains(&format!("commit: {}", sandbox.git(&["rev-parse", "HEAD"]))),
            "{check}: {reason}"
        );
        assert_eq!(agent.calls(&sandbox).len(), 1, "{check}");
        assert_eq!(beads.issue("bd-b")["status"], "open", "{check}");
        let counted = (commits(&sandbox), recorded(&sandbox, "attempt"), recorded(&sandbox, "commit"));
        assert_eq!(counted, (2, 1, 1), "{check}");
    }
}

#[test]
fn a_close_that_nobody_could_prove_is_taken_back_once_bd_answers_again() {
    let sandbox = repository();
    let beads = Beads::install(&sandbox);
    beads.create("bd-a", "Store notes", &[]);
    beads.becomes("fails", "reopen");
    let agent = another(&sandbox)
        .call(claims(writes("bad.txt").shell("bd close bd-a")))
        .call(claims(writes("good.txt")))
        .install(&sandbox);
    let run = || worker(&sandbox, &agent).args(["--backlog", "beads", "--test-cmd", "test -e good.txt"]);
    run().run().assert_code(65).assert_stderr_has("iteration 1 could not be settled");
    beads.is_mended();
    assert_eq!(beads.issue("bd-a")["status"], "closed");
    run().run().assert_code(3);
    assert_eq!(beads.issue("bd-a")["status"], "open");
    assert_eq!((agent.calls(&sandbox).len(), recorded(&sandbox, "attempt")), (1, 1));
    run().run().assert_code(0);
    assert_eq!(beads.issue("bd-a")["status"], "closed");
}

#[test]
fn only_the_issues_at_the_top_of_the_project_are_meant() {
    let sandbox = repository();
    two_issues(&sandbox);
    sandbox.write("sub/.beads/issues.jsonl", "");
    let agent = writer(&sandbox, &["one.txt"]);
    let run = worker(&sandbox, &agent).args(["--backlog", "sub/.beads/issues.jsonl"]);
    run.run().assert_code(64).assert_stderr_has("--backlog beads");
    let listed = ralph(&sandbox).args(["backlog", "list", "--backlog", ".beads/issues.jsonl"]).run();
    listed.assert_code(0);
}
