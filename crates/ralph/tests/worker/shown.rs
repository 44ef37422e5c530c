//! What people and programs see of a backlog that is worked through.

use ralph_testkit::{Schema, StatusBlock, Steps, Terminal};
use serde_json::{Value, json};

use crate::common::{history, ralph, status};
use crate::stage::{
    HARNESS, another, checklist, claims, harness, item, turns_green, two_items, worker, works_through,
    writer, writes,
};

fn view(sandbox: &ralph_testkit::Sandbox, path: &str) -> Value {
    serde_json::from_str(&sandbox.read(path)).expect("JSON")
}

#[test]
fn lines_name_the_item_the_commit_and_how_to_have_work_back() {
    let sandbox = two_items();
    let agent = writer(&sandbox, &["wrong.txt", "one.txt"]);
    let failed = worker(&sandbox, &agent).run();
    failed.assert_code(3).assert_stderr_has("item FEAT-1 make one.txt (attempt 1/3)");
    failed.assert_stderr_has("FEAT-1: the code is put back as it was before the attempt");
    failed.assert_stderr_has("items: 0 proved in this run, 2 of 2 items open");
    failed.assert_stderr_has("items are proved by their own");
    failed.assert_stderr_has("more about this stop: ralph explain item_failed");
    let passed = worker(&sandbox, &agent).run();
    let head = sandbox.git(&["rev-parse", "HEAD"]);
    passed
        .assert_stderr_has("(attempt 2/3)")
        .assert_stderr_has("proof: checks: ")
        .assert_stderr_lacks("docs/troubleshooting.md")
        .assert_stderr_has("items: 1 proved in this run, 1 of 2 items open");
    passed.assert_stderr_has(&format!("FEAT-1 is proved and committed: {}", &head[..12]));
    passed.assert_stderr_has("ralph undo 2").assert_stderr_lacks("verification 0/");
    let lines = ralph(&sandbox).arg("history").run();
    lines
        .assert_stdout_has("FEAT-1 FAILED, put back")
        .assert_stdout_has(&format!("FEAT-1 PASSED, committed {}", &head[..12]));
    let page = sandbox.read(".ralph/history/iteration-002.md");
    assert!(page.contains("- attempt: PASSED") && page.contains(&format!("- commit: {head}")), "{page}");
}

#[test]
fn an_item_that_passed_by_words_alone_says_that_no_check_was_run() {
    let mut bare = item("FEAT-1", "one.txt");
    bare["verification"] = json!([]);
    let sandbox = harness(&[bare]);
    let agent = another(&sandbox).call(claims(writes("one.txt"))).install(&sandbox);
    let passed = works_through(&sandbox, &agent).arg("--once").run();
    passed.assert_code(0).assert_stderr_has("⚠ ITEM CLAIMED: FEAT-1\n").assert_stderr_lacks("ITEM PASSED");
    passed.assert_stderr_has("proof: words: no check was run\n");
    let words = "FEAT-1 passed by the agent's word alone; no check was run\n";
    ralph(&sandbox).arg("status").run().assert_stdout_has(words);
}

#[test]
fn an_item_without_a_check_is_claimed_and_not_counted_as_proved() {
    let mut bare = item("FEAT-2", "two.txt");
    bare["verification"] = json!([]);
    let sandbox = harness(&[item("FEAT-1", "one.txt"), bare]);
    let done = || Steps::new().status(&StatusBlock::done());
    let agent = another(&sandbox).call(claims(writes("one.txt"))).call(done()).install(&sandbox);
    let told = "1 of 2 open items has no check, so only words and reviews say that it is done: FEAT-2";
    let dry = works_through(&sandbox, &agent).arg("--dry-run").run();
    dry.assert_code(0).assert_stdout_has("those of each item; 1 of 2 open items has no check");
    let finished = works_through(&sandbox, &agent).run();
    finished
        .assert_code(0)
        .assert_stderr_has(told)
        .assert_stderr_has(
            "FEAT-2 is claimed, and no file was changed and no check was run: nothing but the agent's word says so yet",
        )
        .assert_stderr_has("reviews without a change; 1 item claimed without a change and without a check")
        .assert_stderr_has("items: 1 proved in this run, 1 claimed, 0 of 2 items open");
    let now = status(&sandbox);
    Schema::published("ralph.status/1").assert(&now);
    assert_eq!((&now["backlog"]["passed"], &now["backlog"]["unchecked"]), (&json!(2), &json!(1)));
    let words =
        "complete, proved by checks but for 1 item; 1 item claimed without a change and without a check";
    ralph(&sandbox).arg("status").run().assert_stdout_has(words);
    ralph(&sandbox).arg("history").run().assert_stdout_has(words);
    let shown = ralph(&sandbox).args(["evidence", "show", "FEAT-2"]).run();
    shown
        .assert_stdout_has("PASSED, claimed without a check")
        .assert_stdout_has("rests on  the agent's word: ");
    let verified = ralph(&sandbox).args(["evidence", "verify"]).run();
    verified.assert_stderr_lacks("FEAT-2 (#").assert_stdout_has(
        "1 held, 0 failed, 1 could not run (1 claimed, with no check to run again), 1 not proved",
    );
    let shown = ralph(&sandbox).args(["evidence", "show", "FEAT-1"]).run();
    shown.assert_stdout_has("FEAT-1 make one.txt: PASSED in #1").assert_stdout_has("  proved ");

    // A check for every item is one for this one too.
    let sandbox = harness(&[item("FEAT-1", "one.txt")]);
    let agent = another(&sandbox).call(claims(writes("one.txt"))).call(done()).install(&sandbox);
    let finished = works_through(&sandbox, &agent).run();
    finished.assert_code(0).assert_stderr_lacks("no check").assert_stderr_lacks("claimed without");
}

#[test]
fn boxes_name_the_item_on_a_terminal() {
    let sandbox = two_items();
    let agent = writer(&sandbox, &["one.txt"]);
    let command = worker(&sandbox, &agent).into_command();
    let mut terminal = Terminal::builder(&command).size(100, 60).start();
    assert_eq!(terminal.wait(), 0);
    let screen = terminal.screen();
    assert!(screen.contains("Item:         FEAT-1 make one.txt (attempt 1/3)"), "{screen}");
    assert!(screen.contains("✓ ITEM PASSED") && screen.contains("is proved and committed"), "{screen}");
}

#[test]
fn status_history_and_views_tell_item_attempt_commit_and_evidence() {
    let sandbox = two_items();
    let agent = another(&sandbox).call(claims(writes("one.txt").reach("there").hold("go"))).install(&sandbox);
    let running = worker(&sandbox, &agent).spawn();
    sandbox.wait_for("there");
    let now = status(&sandbox);
    Schema::published("ralph.status/1").assert(&now);
    assert_eq!(
        now["backlog"],
        json!({"file": HARNESS, "phase": null, "total": 2, "done": 0, "open": 2, "passed": 0, "unchecked": 0, "without_change": 0,
            "current": {"id": "FEAT-1", "title": "make one.txt", "attempt": 1, "max_attempts": 3}})
    );
    ralph(&sandbox).arg("status").run().assert_stdout_has("item:       FEAT-1 make one.txt (attempt 1/3)");
    let state = view(&sandbox, ".ralph/state.json");
    assert_eq!(
        (&state["current_task_id"], &state["current_task_status"]),
        (&json!("FEAT-1"), &json!("in-progress"))
    );
    assert_eq!(state["tasks"], json!({"total": 2, "done": 0, "in_progress": 1, "todo": 1}));
    let pre = view(&sandbox, ".ralph/checkpoints/pre-task-FEAT-1.json");
    assert_eq!((&pre["id"], &pre["head"]), (&json!("FEAT-1"), &json!(sandbox.git(&["rev-parse", "HEAD"]))));
    sandbox.release("go");
    running.wait().assert_code(0);

    let head = sandbox.git(&["rev-parse", "HEAD"]);
    let entry = &history(&sandbox)[0];
    assert_eq!(
        (&entry["item"]["id"], &entry["attempt"], &entry["commit"]),
        (&json!("FEAT-1"), &json!("PASSED"), &json!(head))
    );
    assert!(entry["evidence"].as_str().is_some_and(|digest| digest.len() == 64), "{entry}");
    let state = view(&sandbox, ".ralph/state.json");
    assert_eq!((&state["tasks_completed"], &state["tasks_remaining"]), (&json!(1), &json!(1)));
    assert_eq!(
        (&state["current_task"], &state["current_task_status"]),
        (&json!("make one.txt"), &json!("done"))
    );
    let session = sandbox.read(".ralph/session.md");
    assert!(
        session.contains("Tasks completed: 1/2") && session.contains("Working on: FEAT-1 make one.txt"),
        "{session}"
    );
    let post = view(&sandbox, ".ralph/checkpoints/post-task-FEAT-1.json");
    assert_eq!((&post["attempt"], &post["commit"]), (&json!("PASSED"), &json!(head)));
    assert_eq!(post["counts"]["commits"], 1, "ralph's own counts too");
    for path in [
        ".ralph/state.json",
        ".ralph/checkpoints/pre-task-FEAT-1.json",
        ".ralph/checkpoints/post-task-FEAT-1.json",
    ] {
        let document = view(&sandbox, path);
        Schema::published(document["schema"].as_str().expect("a schema")).assert(&document);
    }
    let document = ralph(&sandbox).args(["history", "--json"]).run().json();
    Schema::published("ralph.history/1").assert(&document);
}

#[test]
fn the_summary_counts_commits_of_ralph_s_and_of_agents() {
    let commit = "git add one.txt && git commit -q -m mine";
    let ways = [
        (writes("one.txt"), "1"),
        (writes("one.txt").shell(commit).write("more.txt", "more\n"), "1, and 1 by agents"),
    ];
    for (steps, said) in ways {
        let sandbox = harness(&[item("FEAT-1", "one.txt")]);
        let agent = another(&sandbox).call(claims(steps)).install(&sandbox);
        worker(&sandbox, &agent).run().assert_code(0).assert_stderr_has(&format!("commits: {said}\n"));
    }
}

#[test]
fn marks_in_the_task_file_are_no_files_that_a_run_changed() {
    let sandbox = checklist();
    let agent = another(&sandbox).call(claims(Steps::new())).install(&sandbox);
    let call = || turns_green(&sandbox, &agent).args(["--max-iterations", "1", "--test-cmd", "false"]);
    call().run().assert_code(3).assert_stderr_has("files: no changes").assert_stderr_lacks("fix_plan.md (");
    let told = call().args(["--fresh", "--json"]).run().json_lines();
    let stop = told.last().expect("a stop");
    assert_eq!((&stop["files_changed"], &stop["files"]), (&json!(0), &json!([])), "{stop:#}");
    let sandbox = two_items();
    let agent = writer(&sandbox, &["one.txt"]);
    worker(&sandbox, &agent).run().assert_stderr_has("files: 1 file changed: one.txt (new)");
}

#[test]
fn the_count_of_a_backlog_is_told_as_that_of_the_moment_when_the_run_stopped() {
    let sandbox = checklist();
    let agent = another(&sandbox)
        .call(claims(writes("a.txt")))
        .call(claims(Steps::new().reach("working").hold("go")))
        .install(&sandbox);
    let args = ["--max-iterations", "1", "--test-cmd", "true"];
    works_through(&sandbox, &agent).args(args).run().assert_code(3);
    ralph(&sandbox).args(["backlog", "add", "third thing"]).run().assert_code(0);
    let shown = ralph(&sandbox).arg("status").run();
    shown.assert_stdout_has("backlog:    fix_plan.md, 1 of 2 items open when the run stopped\n");
    let running = ralph(&sandbox).args(["run", "--max-iterations", "2"]).spawn();
    sandbox.wait_for("working");
    ralph(&sandbox).arg("status").run().assert_stdout_has("backlog:    fix_plan.md, 2 of 3 items open\n");
    sandbox.release("go");
    running.wait();
}

#[test]
fn a_difference_tells_the_mark_that_ralph_set_from_one_that_the_agent_set() {
    // The box of its own item is marked as begun by then, so that the first agent finds no empty one to tick there.
    for (tick, told) in [
        (
            "s/\\[ \\] first/[x] first/",
            Some("is begun is ralph's own mark; the agent marked nothing as done"),
        ),
        ("s/\\[ \\]/[x]/", Some("is begun is ralph's own mark; what else differs there is the agent's")),
        ("s/\\[.\\] first/[x] first/", None),
    ] {
        let sandbox = checklist();
        let steps = Steps::new().shell(&format!("sed -i '{tick}' fix_plan.md")).say("That is it.");
        let agent = another(&sandbox).call(steps).install(&sandbox);
        let finished = works_through(&sandbox, &agent).args(["--once", "--test-cmd", "true"]).run();
        finished.assert_code(3);
        let diff = ralph(&sandbox).args(["history", "1", "--diff"]).run();
        let own = "marked as done without proof, and taken back: ";
        match told {
            Some(told) => diff.assert_stdout_has("+- [/] first").assert_stderr_has(told),
            None => diff.assert_stdout_has("+- [x] first").assert_stderr_lacks("own mark"),
        };
        let history = ralph(&sandbox).args(["history", "1"]).run();
        for (where_told, text) in [("screen", &finished.stderr), ("history", &history.stdout)] {
            assert_eq!(text.contains(own), told.is_none(), "{where_told}: {text}");
        }
    }
}
