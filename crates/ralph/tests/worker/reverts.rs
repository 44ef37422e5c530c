//! What a failed attempt of a worker leaves: the harness, and nothing of the code.

use ralph_testkit::{StatusBlock, Steps};
use serde_json::json;

use crate::common::{history, ralph};
use crate::stage::{
    HARNESS, another, claims, commits, files_of, harness, item, item_now, two_items, worker, writes,
};

#[test]
fn code_goes_back_new_files_too_and_notes_and_harness_stay() {
    let mut tried = item("FEAT-1", "one.txt");
    let earlier = json!({"run_id": "worker-001", "timestamp": "2026-01-07T19:30:00Z", "result": "FAILED",
        "evidence": {"commands_run": ["make"], "results_summary": "red"}, "commit": null, "reverted": true});
    tried["attempts"] = json!([earlier]);
    let sandbox = harness(&[tried]);
    sandbox.write("src/a.rs", "fn a() {}\n");
    sandbox.write("CLAUDE.md", "# known\n");
    sandbox.commit_all("code");
    sandbox.write("mine.txt", "mine\n");
    let steps = Steps::new()
        .write("src/a.rs", "broken\n")
        .write("src/new/b.rs", "new\n")
        .append("CLAUDE.md", "learnt: no\n")
        .write(".claude/harness/notes.md", "tried b\n")
        .delete("README.md");
    let agent = another(&sandbox).call(claims(steps)).install(&sandbox);
    let before = sandbox.git(&["rev-parse", "HEAD"]);
    let finished = worker(&sandbox, &agent).run();
    finished.assert_code(3).assert_stderr_has("ralph undo --to ");
    assert_eq!(sandbox.read("src/a.rs"), "fn a() {}\n");
    assert!(!sandbox.exists("src/new") && sandbox.exists("README.md"));
    assert_eq!(
        (sandbox.read("mine.txt"), sandbox.read("CLAUDE.md")),
        ("mine\n".into(), "# known\nlearnt: no\n".into())
    );
    assert_eq!(sandbox.read(".claude/harness/notes.md"), "tried b\n");
    assert_eq!(sandbox.git(&["rev-parse", "HEAD"]), before, "no commit where nothing was committed");
    // What the harness keeps is added to, never taken back with the code.
    let now = item_now(&sandbox, "FEAT-1");
    let attempts = now["attempts"].as_array().expect("attempts");
    assert_eq!((attempts.len(), &attempts[0]), (2, &earlier));
    assert_eq!((&attempts[1]["reverted"], &attempts[1]["commit"]), (&json!(true), &json!(null)));
    assert_eq!((&now["status"], &now["ralph_loop"]["current_iteration"]), (&json!("FAILING"), &json!(1)));
    assert_eq!(history(&sandbox)[0]["reverted"], true);
    // The work is not lost: what was said brings it back.
    let line = finished.stderr.lines().find(|line| line.contains("ralph undo --to ")).expect("a hint");
    let tree = line.rsplit(' ').next().expect("a snapshot");
    ralph(&sandbox).args(["undo", "--to", tree]).run().assert_code(0);
    assert_eq!(sandbox.read("src/new/b.rs"), "new\n");
}

#[test]
fn commits_of_the_agent_are_undone_by_one_commit_that_says_why() {
    let sandbox = harness(&[item("FEAT-1", "one.txt")]);
    sandbox.write("src/a.rs", "fn a() {}\n");
    let before = sandbox.commit_all("code");
    let block =
        StatusBlock { recommendation: "Next: look at the parser".into(), ..StatusBlock::in_progress() };
    let steps = Steps::new()
        .write("src/a.rs", "one\n")
        .shell("git commit --quiet -am first")
        .write("src/b.rs", "two\n")
        .shell("git add -A; git commit --quiet -m second")
        .write("src/c.rs", "three\n")
        .status(&block);
    let agent = another(&sandbox).call(steps).install(&sandbox);
    worker(&sandbox, &agent).run().assert_code(3);
    assert_eq!(commits(&sandbox), 6, "three before, two of the agent, one that takes them back");
    assert_eq!(sandbox.git(&["diff", "--stat", &before, "HEAD", "--", "src"]), "");
    assert_eq!(
        files_of(&sandbox, "HEAD"),
        ["D .harness.lock", "M src/a.rs", "D src/b.rs"],
        "and what is ralph's own is not left in the history"
    );
    assert_eq!(sandbox.git(&["status", "--porcelain"]), format!(" M {HARNESS}"));
    assert!(!sandbox.exists("src/c.rs"));
    let message = sandbox.git(&["log", "-1", "--format=%B"]);
    assert!(message.starts_with("revert: FEAT-1 - test -e one.txt exit 1\n"), "{message}");
    assert!(
        message.contains("Investigation: ") && message.replace('\n', " ").contains("look at the parser"),
        "{message}"
    );
    assert_eq!(item_now(&sandbox, "FEAT-1")["attempts"][0]["investigation"], "Next: look at the parser");
}

#[test]
fn what_the_user_had_not_committed_stays_in_the_agent_s_commit_and_that_is_said() {
    let sandbox = harness(&[item("FEAT-1", "one.txt")]);
    sandbox.write("mine.txt", "half a sentence\n");
    let steps = Steps::new().write("b.rs", "").shell("git add -A; git commit --quiet -m all");
    let agent = another(&sandbox).call(claims(steps)).install(&sandbox);
    let finished = worker(&sandbox, &agent).run();
    let said = "stays in the agent's commit, for it was not clean before: mine.txt";
    finished.assert_code(3).assert_stderr_has(&format!("FEAT-1: {said}"));
    let page = sandbox.read(".ralph/history/iteration-001.md");
    assert!(page.contains(&format!("- {said}")) && !page.contains("- not committed"), "{page}");
    assert_eq!(sandbox.read("mine.txt"), "half a sentence\n");
}

#[test]
fn what_the_agent_did_not_touch_is_not_put_back() {
    let sandbox = two_items();
    sandbox.write("mine.txt", "one\n");
    let agent = another(&sandbox)
        .call(
            Steps::new()
                .write("wrong.txt", "")
                .reach("working")
                .hold("go")
                .status(&StatusBlock::in_progress()),
        )
        .install(&sandbox);
    let mut late = item("FEAT-1", "one.txt");
    late["verification"] = json!(["echo by the check > made.txt; test -e one.txt"]);
    crate::stage::write_items(&sandbox, &[late]);
    let running = worker(&sandbox, &agent).spawn();
    sandbox.wait_for("working");
    sandbox.release("go");
    running.wait().assert_code(3);
    assert!(!sandbox.exists("wrong.txt"));
    assert_eq!(
        (sandbox.read("mine.txt"), sandbox.read("made.txt")),
        ("one\n".into(), "by the check\n".into())
    );
}

#[test]
fn an_attempt_that_is_kept_goes_into_the_commit_of_the_next_one() {
    let sandbox = harness(&[item("FEAT-1", "one.txt")]);
    let agent =
        another(&sandbox).call(claims(writes("half.txt"))).call(claims(writes("one.txt"))).install(&sandbox);
    let run = worker(&sandbox, &agent).args(["--all", "--set", "failed_item=keep"]).run();
    run.assert_code(0);
    assert_eq!(files_of(&sandbox, "HEAD"), [format!("M {HARNESS}"), "A half.txt".into(), "A one.txt".into()]);
}
