//! Issues that `bd` keeps, worked through and proved: with a stand-in for bd.

use ralph_testkit::{Beads, InstalledAgent, RalphCommand, Sandbox, StatusBlock, Steps};

use crate::common::{ralph, repository};
use crate::stage::{
    another, claims, commits, committed, files_of, recorded, turns_green, worker, works_through, writer,
    writes,
};

/// A committed project with two issues, of which the urgent one waits for the other.
pub(crate) fn two_issues(sandbox: &Sandbox) -> Beads<'_> {
    let beads = Beads::install(sandbox);
    beads.create(
        "bd-a",
        "Store notes",
        &["--description", "One \"file\" each.\nAt once.", "--design", "Plain text"],
    );
    beads.create(
        "bd-b",
        "Find notes",
        &["--priority", "0", "--deps", "bd-a", "--acceptance", "case is no matter"],
    );
    sandbox.commit_all("issues");
    beads.changes();
    beads
}

pub(crate) fn on_beads(sandbox: &Sandbox, agent: &InstalledAgent) -> RalphCommand {
    works_through(sandbox, agent).args(["--backlog", "beads"])
}

pub(crate) fn says_done() -> Steps {
    Steps::new().status(&StatusBlock::done())
}

/// The verbs and ids of calls that changed something.
pub(crate) fn verbs(calls: &[String]) -> Vec<String> {
    calls.iter().map(|call| call.split(' ').take(3).collect::<Vec<_>>().join(" ")).collect()
}

#[test]
fn issues_are_claimed_proved_and_closed_in_the_order_of_bd() {
    let sandbox = repository();
    let beads = two_issues(&sandbox);
    let agent = another(&sandbox)
        .call(claims(writes("one.txt").shell("bd update bd-a --claim > claimed.txt")))
        .call(claims(writes("two.txt")))
        .call(says_done())
        .install(&sandbox);
    let finished = on_beads(&sandbox, &agent).args(["--test-cmd", "true"]).run();
    finished.assert_code(0).assert_stderr_has(" COMPLETE").assert_stderr_has("every item of beads");
    let calls = beads.changes();
    assert_eq!(
        verbs(&calls),
        [
            "update bd-a --claim",
            "update bd-a --claim",
            "close bd-a --reason",
            "update bd-b --claim",
            "close bd-b --reason"
        ]
    );
    assert!(sandbox.read("claimed.txt").contains("in_progress"), "the agent is for bd who ralph is");
    let proved = sandbox.git(&["rev-parse", "HEAD~1"]);
    let reason = beads.issue("bd-a")["close_reason"].as_str().expect("a reason").to_owned();
    assert!(reason.starts_with("proved by ralph: ") && reason.contains("ran: true"), "{reason}");
    assert!(reason.contains(&format!("commit: {proved}")), "{reason}");
    assert_eq!(sandbox.git(&["log", "--format=%s", "-2"]), "feat(bd-b): Find notes\nfeat(bd-a): Store notes");
    assert_eq!(files_of(&sandbox, "HEAD"), ["A two.txt"], "what bd writes is not the agent's work");
    assert_eq!(files_of(&sandbox, "HEAD~1"), ["A claimed.txt", "A one.txt"]);
    finished.assert_stderr_has(".beads/issues.jsonl has ralph's last records, which are not committed");
    let prompts: Vec<String> = agent.calls(&sandbox).into_iter().map(|call| call.prompt).collect();
    for words in ["Store notes", "One \"file\" each.\nAt once.", "Design:\nPlain text", "bd show bd-a"] {
        assert!(prompts[0].contains(words), "{words}: {}", prompts[0]);
    }
    assert!(prompts[1].contains("Acceptance criteria:\n- case is no matter"), "{}", prompts[1]);
    ralph(&sandbox).args(["evidence", "verify"]).run().assert_code(0);
}

#[test]
fn bd_is_asked_once_for_each_look_at_the_issues() {
    let sandbox = repository();
    let beads = Beads::install(&sandbox);
    let ids = ["bd-a", "bd-b", "bd-c", "bd-d"];
    ids.iter().for_each(|id| beads.create(id, "Store notes", &[]));
    let agent = writer(&sandbox, &["1.txt", "2.txt", "3.txt", "4.txt"]);
    beads.calls();
    let run = worker(&sandbox, &agent).args(["--backlog", "beads", "--all", "--test-cmd", "true"]);
    run.run().assert_code(0);
    assert_eq!(agent.calls(&sandbox).len(), ids.len());
    // Two to begin with, to claim, after the agent, before the commit and after it; and to claim and to close.
    let (each, around) = (2 * 5 + 2, 2 * 4);
    let calls = beads.calls();
    assert!(calls <= each * ids.len() + around, "{calls} calls for {} issues", ids.len());
}

#[test]
fn an_issue_that_fails_twice_stays_claimed_and_is_closed_once_it_is_proved() {
    let sandbox = repository();
    let beads = Beads::install(&sandbox);
    beads.create("bd-a", "Make it good", &[]);
    beads.create("bd-z", "Later", &["--priority", "0"]);
    beads.call(&["update", "bd-z", "--status", "deferred"]);
    sandbox.write(".ralph/config.toml", "backlog = \"beads\"\n");
    beads.changes();
    let agent = another(&sandbox)
        .call(claims(writes("bad.txt")))
        .call(claims(writes("worse.txt")))
        .call(claims(writes("good.txt")))
        .call(says_done())
        .install(&sandbox);
    let run = turns_green(&sandbox, &agent).args(["--test-cmd", "test -e good.txt"]);
    run.run().assert_code(0).assert_stderr_has(" COMPLETE");
    assert_eq!(verbs(&beads.changes()), ["update bd-a --claim", "close bd-a --reason"]);
    assert_eq!(recorded(&sandbox, "attempt"), 3, "the ledger counts");
    assert_eq!(beads.issue("bd-z")["status"], "deferred", "what bd does not hand out is left alone");
    let backlog = |args: &[&str]| ralph(&sandbox).arg("backlog").args(args).run();
    backlog(&["list"]).assert_code(0).assert_stdout_has("disabled     bd-z");
    backlog(&["next"]).assert_code(1).assert_stderr_has("1 issue left that others have in hand");
    backlog(&["set", "bd-z", "open"]).assert_code(0);
    assert_eq!(beads.issue("bd-z")["status"], "open");
    backlog(&["list"]).assert_code(0).assert_stdout_has("open         bd-z");
}

#[test]
fn an_issue_at_its_limit_is_blocked_with_a_note_and_a_reset_opens_it() {
    let sandbox = repository();
    let beads = Beads::install(&sandbox);
    beads.create("bd-a", "Make it good", &["--notes", "mind the gap"]);
    beads.changes();
    let agent = writer(&sandbox, &["1.txt", "2.txt", "3.txt"]);
    let run = || {
        worker(&sandbox, &agent)
            .args(["--backlog", "beads", "--all", "--max-iterations", "2", "--test-cmd", "test -e 3.txt"])
    };
    run().run().assert_code(2).assert_stderr_has("ralph backlog reset bd-a --backlog beads");
    assert_eq!(agent.calls(&sandbox).len(), 2);
    assert_eq!(verbs(&beads.changes()), ["update bd-a --claim", "update bd-a --status"]);
    let issue = beads.issue("bd-a");
    let notes = issue["notes"].as_str().expect("notes");
    assert_eq!(issue["status"], "blocked");
    assert!(notes.starts_with("mind the gap\nblocked by ralph: "), "{notes}");
    assert!(notes.contains("last attempt: ") && notes.contains("test -e 3.txt"), "{notes}");
    let reset = ralph(&sandbox).args(["backlog", "reset", "bd-a", "--backlog", "beads"]).run();
    reset.assert_code(0).assert_stderr_has("bd-a is open");
    run().run().assert_code(0);
    assert_eq!(beads.issue("bd-a")["status"], "closed");
}

#[test]
fn an_issue_that_an_agent_closes_without_proof_is_opened_again_and_that_is_told() {
    let sandbox = repository();
    let beads = two_issues(&sandbox);
    for id in ["bd-c", "bd-d"] {
        beads.create(id, "Alice is at it", &[]);
        beads.call(&["update", id, "--claim", "--actor", "alice"]);
    }
    beads.changes();
    // Also one that nobody handed out, and one of somebody who meanwhile finishes another.
    let closes = "bd close bd-a; bd update bd-b --status closed; bd close bd-c --actor alice; bd close bd-d";
    let agent = another(&sandbox)
        .call(claims(Steps::new().shell(closes)))
        .call(claims(writes("good.txt")))
        .call(claims(writes("two.txt")))
        .call(says_done())
        .install(&sandbox);
    let finished =
        on_beads(&sandbox, &agent).args(["--test-cmd", "test -e good.txt", "--set", "baseline=refuse"]).run();
    finished.assert_code(0).assert_stderr_has(" COMPLETE");
    let calls = verbs(&beads.changes());
    let reopened: Vec<&String> = calls.iter().filter(|call| call.starts_with("reopen")).collect();
    assert_eq!(
        reopened,
        ["reopen bd-a --reason", "reopen bd-b --reason", "reopen bd-d --reason"],
        "{calls:?}"
    );
    assert_eq!(calls.iter().filter(|call| call.starts_with("close bd-a")).count(), 2, "the agent's and ours");
    assert_eq!(beads.issue("bd-c")["status"], "closed", "what others have in hand is theirs");
    assert_eq!(beads.issue("bd-d")["assignee"], "alice");
    let told = &agent.calls(&sandbox)[1].prompt;
    assert!(told.contains("refused") && told.contains("bd-b, bd-d"), "{told}");
}

#[test]
fn criteria_that_an_agent_changes_are_put_back_and_the_claim_is_refused() {
    let sandbox = repository();
    let beads = Beads::install(&sandbox);
    beads.create("bd-a", "Hard", &["--acceptance", "all of it"]);
    beads.create("bd-b", "Before", &["--description", "more"]);
    beads.changes();
    let tampers = "bd update bd-a --acceptance easy --title Soft; bd dep add bd-b bd-a; bd create Found";
    let agent = another(&sandbox)
        .call(claims(writes("one.txt").shell(tampers)))
        .call(claims(writes("one.txt")))
        .call(claims(writes("two.txt")))
        .call(claims(writes("three.txt")))
        .call(says_done())
        .install(&sandbox);
    let finished = on_beads(&sandbox, &agent).args(["--test-cmd", "true"]).run();
    finished.assert_code(0).assert_stderr_has("the agent changed");
    let issue = beads.issue("bd-a");
    assert_eq!((&issue["acceptance_criteria"], &issue["title"]), (&"all of it".into(), &"Hard".into()));
    assert!(beads.issue("bd-b")["dependencies"].is_null(), "an edge that was added is gone");
    assert_eq!(beads.issue("bd-3")["status"], "closed", "what was added stays, and is worked on");
}

#[test]
fn cut_off_between_commit_and_close_an_issue_is_closed_once() {
    for point in ["start bd close#1", "wait for bd close#1", "start bd update#1", "wait for bd update#1"] {
        let sandbox = repository();
        let beads = Beads::install(&sandbox);
        beads.create("bd-a", "Store notes", &[]);
        beads.changes();
        let agent = writer(&sandbox, &["one.txt"]);
        let run = || worker(&sandbox, &agent).args(["--backlog", "beads", "--test-cmd", "true"]);
        let list = sandbox.root().join("tmp/points");
        let cut = run().env("RALPH_CRASH_POINTS", list).env("RALPH_CRASH_POINT", format!("kill:{point}"));
        cut.run().assert_code(137);
        sandbox.assert_no_processes();
        run().run().assert_code(0);
        let calls = verbs(&beads.changes());
        assert_eq!(calls, ["update bd-a --claim", "close bd-a --reason"], "{point}");
        assert_eq!(agent.calls(&sandbox).len(), 1, "{point}");
        assert_eq!((commits(&sandbox), recorded(&sandbox, "commit")), (2, 1), "{point}");
        assert_eq!(committed(&sandbox, "one.txt"), "one.txt", "{point}");
    }
}

#[test]
fn a_bd_that_does_not_know_a_flag_is_told_in_another_way() {
    let sandbox = repository();
    let beads = Beads::install(&sandbox);
    beads.create("bd-a", "Make it good", &["--notes", "mind the gap"]);
    beads.becomes("old", "");
    let agent = writer(&sandbox, &["1.txt"]);
    let run =
        worker(&sandbox, &agent).args(["--backlog", "beads", "--max-iterations", "1", "--test-cmd", "false"]);
    run.run().assert_code(2);
    let issue = beads.issue("bd-a");
    assert_eq!(issue["status"], "blocked");
    assert!(issue["assignee"].as_str().is_some_and(|who| who.starts_with("ralph-project@")), "{issue}");
    assert!(
        issue["notes"].as_str().is_some_and(|notes| notes.starts_with("mind the gap\nblocked by ralph: "))
    );
}

#[test]
fn what_bd_cannot_do_is_said_and_nothing_is_begun() {
    let sandbox = repository();
    let agent = writer(&sandbox, &["one.txt"]);
    let missing = on_beads(&sandbox, &agent).run();
    missing.assert_code(64).assert_stderr_has("bd is not there").assert_stderr_has("try: install beads");
    let beads = two_issues(&sandbox);
    let unnamed = works_through(&sandbox, &agent).run();
    unnamed.assert_code(64).assert_stderr_has("ralph run --backlog beads");
    ralph(&sandbox).args(["backlog", "next"]).run().assert_code(64).assert_stderr_has("--backlog beads");
    beads.becomes("garbage", "Welcome to beads!\n");
    on_beads(&sandbox, &agent).run().assert_code(65).assert_stderr_has("bd list: it is no JSON");
    beads.becomes("broken", "database is locked");
    let broken = on_beads(&sandbox, &agent).run();
    broken.assert_code(65).assert_stderr_has("failed: exit 1").assert_stderr_has("database is locked");
    assert!(!sandbox.exists(".git/ralph/runs"), "no run was begun");
    assert_eq!(agent.calls(&sandbox).len(), 0);
}

#[test]
fn a_bd_that_breaks_while_an_agent_works_stops_the_run_and_loses_nothing() {
    let sandbox = repository();
    let beads = two_issues(&sandbox);
    let agent = another(&sandbox)
        .call(claims(writes("one.txt").shell("echo locked > .beads/db/broken")))
        .call(claims(writes("one.txt")))
        .call(claims(writes("two.txt")))
        .call(says_done())
        .install(&sandbox);
    let run = || on_beads(&sandbox, &agent).args(["--test-cmd", "true"]);
    run().run().assert_code(65).assert_stderr_has("locked");
    beads.is_mended();
    assert_eq!(beads.issue("bd-a")["status"], "in_progress");
    run().run().assert_code(0).assert_stderr_has("⚠ COMPLETE, NO ITEM PROVED");
    assert_eq!(
        (beads.issue("bd-a")["status"].clone(), beads.issue("bd-b")["status"].clone()),
        ("closed".into(), "closed".into())
    );
}

#[test]
fn a_failed_attempt_that_is_reverted_leaves_what_bd_wrote() {
    let sandbox = repository();
    let beads = two_issues(&sandbox);
    let agent = another(&sandbox).call(claims(writes("one.txt").shell("bd create Found"))).install(&sandbox);
    worker(&sandbox, &agent).args(["--backlog", "beads", "--test-cmd", "false"]).run().assert_code(3);
    assert!(!sandbox.exists("one.txt"), "the code is put back");
    assert!(sandbox.read(".beads/issues.jsonl").contains("Found"), "the export is bd's");
    let trail = sandbox.read(".beads/interactions.jsonl");
    assert!(
        trail.contains("\"kind\":\"create\",\"issue_id\":\"bd-3\""),
        "and so is what else it writes: {trail}"
    );
    assert_eq!(beads.issue("bd-3")["title"], "Found");
}
