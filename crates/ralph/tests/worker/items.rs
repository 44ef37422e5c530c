//! What becomes of an item: proved, refused, blocked.

use ralph_testkit::{Schema, StatusBlock, Steps};
use serde_json::json;

use crate::common::{history, outcomes, ralph, repository, status};
use crate::stage::{
    HARNESS, another, checklist, claims, commits, files_of, harness, item, item_now, ledger, turns_green,
    two_items, worker, works_through, write_items, writer, writes,
};

#[test]
fn a_worker_proves_one_item_commits_it_and_stops() {
    let sandbox = two_items();
    let agent = writer(&sandbox, &["one.txt"]);
    let finished = worker(&sandbox, &agent).run();
    finished.assert_code(0).assert_stderr_has("✓ ITEM PASSED").assert_stderr_has("FEAT-1");
    finished.assert_stderr_has("proof: checks: test -e one.txt exit 0");
    finished.assert_stderr_has(
        "checks: none for every item (--test-cmd CMD adds one): items are proved by their own",
    );
    let now = item_now(&sandbox, "FEAT-1");
    assert_eq!((&now["status"], &now["ralph_loop"]["current_iteration"]), (&json!("PASSING"), &json!(0)));
    let attempt = &now["attempts"][0];
    let head = sandbox.git(&["rev-parse", "HEAD"]);
    assert_eq!((&attempt["result"], &attempt["commit"]), (&json!("PASSED"), &json!(head)));
    assert_eq!(attempt["evidence"]["commands_run"], json!(["test -e one.txt"]));
    assert_eq!(now["attempts"].as_array().map(Vec::len), Some(1));
    assert_eq!(item_now(&sandbox, "FEAT-2")["status"], "FAILING");
    assert_eq!(commits(&sandbox), 3);
    assert_eq!(files_of(&sandbox, "HEAD"), ["A one.txt"]);
    let message = sandbox.git(&["log", "-1", "--format=%B"]);
    assert!(message.starts_with("feat(FEAT-1): make one.txt\n"), "{message}");
    for part in [
        "Verification:\n- test -e one.txt exit 0",
        "Ralph-Item: FEAT-1",
        "Ralph-Iteration: ",
        "Ralph-Evidence: ",
    ] {
        assert!(message.contains(part), "{part} is missing:\n{message}");
    }
    let records = ledger(&sandbox);
    assert_eq!((&records[0]["type"], &records[0]["result"]), (&json!("attempt"), &json!("PASSED")));
    assert_eq!((&records[1]["type"], &records[1]["commit"]), (&json!("commit"), &json!(head)));
    assert!(message.contains(records[0]["digest"].as_str().expect("a digest")), "{message}");
    ralph(&sandbox).args(["backlog", "validate", "--strict"]).run().assert_code(0);
    let prompt = &agent.calls(&sandbox)[0].prompt;
    assert!(prompt.contains("FEAT-1") && prompt.contains("one.txt is there"), "{prompt}");
    // Another call, another item; what ralph itself left uncommitted in the backlog is committed with it.
    let agent = writer(&sandbox, &["two.txt"]);
    worker(&sandbox, &agent).run().assert_code(0).assert_stderr_has("FEAT-2");
    assert_eq!(files_of(&sandbox, "HEAD"), [format!("M {HARNESS}"), "A two.txt".into()]);
    worker(&sandbox, &agent).run().assert_code(7).assert_stderr_has("BACKLOG COMPLETE");
    assert_eq!(agent.calls(&sandbox).len(), 1, "nothing left to do costs nothing");
}

#[test]
fn a_run_works_through_every_item_and_a_review_confirms_the_whole() {
    let sandbox = two_items();
    let agent = another(&sandbox)
        .call(claims(writes("one.txt")))
        .call(claims(writes("two.txt")))
        .call(Steps::new().say("All done.").status(&StatusBlock::done()))
        .install(&sandbox);
    let finished = works_through(&sandbox, &agent).args(["--test-cmd", "true"]).run();
    finished.assert_code(0).assert_stderr_has(" COMPLETE").assert_stderr_has("[REVIEW]");
    assert_eq!(commits(&sandbox), 4);
    assert_eq!(files_of(&sandbox, "HEAD"), [format!("M {HARNESS}"), "A two.txt".into()]);
    assert_eq!(item_now(&sandbox, "FEAT-2")["status"], "PASSING");
    works_through(&sandbox, &agent).run().assert_code(0).assert_stderr_has("BACKLOG COMPLETE");
    works_through(&sandbox, &agent).arg("--once").run().assert_code(7);
}

#[test]
fn with_nothing_left_to_do_no_agent_is_looked_for_and_no_run_is_begun() {
    let sandbox = repository();
    sandbox.write("fix_plan.md", "- [x] first thing\n- [x] second thing\n");
    let call = |more: &[&str]| ralph(&sandbox).arg("run").args(more).run();
    for (more, code) in [
        (&[][..], 0),
        (&["--once"], 7),
        (&["--profile", "worker"], 7),
        (&["--profile", "worker", "--all"], 0),
        (&["--fresh", "--test-cmd", "touch ran"], 0),
    ] {
        let finished = call(more);
        finished.assert_code(code).assert_stderr_has("✓ BACKLOG COMPLETE: nothing is left to do");
        finished.assert_stderr_has("no new run was begun").assert_stderr_has("ralph backlog list");
    }
    let told = call(&["--json"]);
    told.assert_code(0);
    let events = told.json_lines();
    assert_eq!(events.len(), 1, "{told}");
    Schema::published("ralph.event/1").assert(&events[0]);
    assert_eq!((&events[0]["type"], &events[0]["stop_reason"]), (&json!("stop"), &json!("backlog_complete")));
    assert!(!sandbox.exists("ran") && !sandbox.exists(".git/ralph/runs"), "nothing was run or written");
    let dry = ralph(&sandbox).args(["run", "--dry-run", "--agent-cmd", "true"]).run();
    dry.assert_code(0).assert_stdout_has("No run would begin").assert_stdout_has("No agent would be started");
    // An open item is work, and needs somebody.
    sandbox.write("fix_plan.md", "- [x] first thing\n- [ ] second thing\n");
    call(&[]).assert_code(1).assert_stderr_has("no agent found");
}

#[test]
fn open_items_that_are_not_for_the_loop_are_no_complete_backlog() {
    for list in [
        json!({"features": [
            {"id": "F1", "description": "login works", "status": "FAILING"},
            {"id": "F2", "description": "logout works", "status": "FAILING"}]}),
        json!({"items": [
            {"id": "F1", "title": "login works", "status": "FAILING"},
            {"id": "F2", "title": "logout works", "status": "FAILING", "ralph_loop": {"enabled": false}},
            {"id": "F3", "title": "starts", "status": "PASSING", "ralph_loop": {"enabled": true}}]}),
    ] {
        let sandbox = repository();
        sandbox.write("feature_list.json", list.to_string());
        let agent = writer(&sandbox, &["one.txt"]);
        let call = |more: &[&str]| works_through(&sandbox, &agent).args(more).run();
        for (more, code) in [(&[][..], 0), (&["--once"], 7)] {
            let finished = call(more);
            finished
                .assert_code(code)
                .assert_stderr_lacks("✓")
                .assert_stderr_lacks("COMPLETE")
                .assert_stderr_has("⚠ NOTHING LEFT FOR THE LOOP: 2 open items lack ralph_loop.enabled: true");
            finished.assert_stderr_has(
                "to hand one to ralph: write \"ralph_loop\": {\"enabled\": true} into it in feature_list.json, then ralph run",
            );
        }
        let told = call(&["--json"]).json_lines();
        Schema::published("ralph.event/1").assert(&told[0]);
        assert_eq!(told[0]["stop_reason"], "backlog_complete");
        assert_eq!(
            told[0]["text"],
            "nothing is left for the loop: 2 open items lack ralph_loop.enabled: true"
        );
        let dry = call(&["--dry-run"]);
        dry.assert_stdout_has("No run would begin: nothing is left for the loop");
        dry.assert_stdout_has("2 open items lack ralph_loop.enabled: true");
        assert!(agent.calls(&sandbox).is_empty());
    }
}

#[test]
fn what_a_run_leaves_for_people_is_told_with_its_end() {
    let mut other = item("FEAT-2", "two.txt");
    other["ralph_loop"]["enabled"] = json!(false);
    let sandbox = harness(&[item("FEAT-1", "one.txt"), other]);
    let agent = another(&sandbox)
        .call(claims(writes("one.txt")))
        .call(Steps::new().say("All done.").status(&StatusBlock::done()))
        .install(&sandbox);
    let finished = works_through(&sandbox, &agent).args(["--test-cmd", "true"]).run();
    let words = "1 open item lacks ralph_loop.enabled: true";
    finished.assert_code(0).assert_stderr_has(" COMPLETE").assert_stderr_has(words);
    ralph(&sandbox).arg("status").run().assert_stdout_has(words);
    // Where the checks are run once more before it is said, a run is begun and recorded.
    let sandbox = harness(&[item("FEAT-1", "one.txt"), item("FEAT-2", "two.txt")]);
    let agent = writer(&sandbox, &["one.txt"]);
    works_through(&sandbox, &agent).arg("--once").run().assert_code(0);
    let text = sandbox.read(HARNESS).replacen("\"enabled\": true", "\"enabled\": false", 2);
    sandbox.write(HARNESS, text.replacen("\"enabled\": false", "\"enabled\": true", 1));
    let said = works_through(&sandbox, &agent).run();
    said.assert_code(0).assert_stderr_has("⚠ NOTHING LEFT FOR THE LOOP").assert_stderr_lacks("✓ BACKLOG");
    let status = ralph(&sandbox).arg("status").run();
    status.assert_stdout_has("nothing is left for the loop: 1 open item lacks ralph_loop.enabled: true");
    status.assert_stdout_has("to hand one to ralph: write");
}

/// Does the second item and takes the first one's work away again.
fn breaks_the_first() -> Steps {
    claims(writes("two.txt").delete("one.txt"))
}

#[test]
fn a_run_is_not_complete_where_a_later_item_broke_an_earlier_one() {
    let sandbox = two_items();
    let agent = another(&sandbox)
        .call(claims(writes("one.txt")))
        .call(breaks_the_first())
        .call(Steps::new().say("All done.").status(&StatusBlock::done()))
        .call(writes("one.txt").say("All done.").status(&StatusBlock::done()))
        .call(Steps::new().say("All done.").status(&StatusBlock::done()))
        .install(&sandbox);
    let finished = works_through(&sandbox, &agent).args(["--test-cmd", "true"]).run();
    finished.assert_code(0).assert_stderr_has("claimed done, refused: test -e one.txt exit 1");
    finished.assert_stderr_has(" COMPLETE");
    assert_eq!(agent.calls(&sandbox).len(), 5, "mended, and reviewed");
    assert!(sandbox.exists("one.txt") && sandbox.exists("two.txt"));
    let prompts: Vec<String> = agent.calls(&sandbox).into_iter().map(|call| call.prompt).collect();
    assert!(
        prompts[2].contains("test -e one.txt") && prompts[2].contains("test -e two.txt"),
        "{}",
        prompts[2]
    );
    assert!(prompts[3].contains("test -e one.txt exit 1"), "{}", prompts[3]);
}

#[test]
fn where_nobody_reviews_what_was_proved_is_run_again_at_the_end_also_by_a_ralph_that_comes_after() {
    let sandbox = two_items();
    let agent = another(&sandbox)
        .call(claims(writes("one.txt")))
        .call(claims(Steps::new()))
        .call(breaks_the_first())
        .call(writes("one.txt").say("All done.").status(&StatusBlock::done()))
        .install(&sandbox);
    let run = || works_through(&sandbox, &agent).args(["--set", "reviews=0", "--set", "gate=evidence"]);
    run().args(["--max-iterations", "2"]).run().assert_code(3);
    let finished = run().args(["--max-iterations", "9"]).run();
    finished.assert_code(0).assert_stderr_has(" COMPLETE").assert_stderr_has("proof: checks");
    let calls = agent.calls(&sandbox);
    assert_eq!(calls.len(), 4, "nobody reviews, and somebody mends");
    let broken = "This was proved, and does not hold any more: test -e one.txt exit 1";
    assert!(calls[3].prompt.contains(broken), "{}", calls[3].prompt);
}

#[test]
fn an_item_fails_twice_and_passes_with_every_attempt_recorded() {
    let sandbox = harness(&[item("FEAT-1", "one.txt")]);
    let agent = writer(&sandbox, &["wrong.txt", "worse.txt", "one.txt"]);
    let finished = worker(&sandbox, &agent).arg("--all").run();
    finished.assert_code(0).assert_stderr_has("✗ claimed done, refused: test -e one.txt exit 1");
    let now = item_now(&sandbox, "FEAT-1");
    let results: Vec<_> =
        now["attempts"].as_array().expect("attempts").iter().map(|a| a["result"].clone()).collect();
    assert_eq!(results, ["FAILED", "FAILED", "PASSED"]);
    assert_eq!((&now["status"], &now["ralph_loop"]["current_iteration"]), (&json!("PASSING"), &json!(2)));
    assert_eq!(
        (&now["attempts"][0]["reverted"], &now["attempts"][2]["reverted"]),
        (&json!(true), &json!(false))
    );
    assert!(!sandbox.exists("wrong.txt") && !sandbox.exists("worse.txt"), "put back");
    assert_eq!(commits(&sandbox), 3, "one commit, of the proved attempt");
    let prompts: Vec<String> = agent.calls(&sandbox).into_iter().map(|call| call.prompt).collect();
    assert!(
        prompts[1].contains("attempt 2 of at most 3") && prompts[1].contains("was refused"),
        "{}",
        prompts[1]
    );
}

#[test]
fn a_run_that_stops_for_another_reason_says_how_its_item_at_the_limit_is_tried_again() {
    let mut first = item("FEAT-1", "one.txt");
    first["ralph_loop"]["max_iterations"] = json!(1);
    let sandbox = harness(&[first, item("FEAT-2", "two.txt")]);
    let agent = writer(&sandbox, &["wrong.txt"]);
    let stopped = works_through(&sandbox, &agent).args(["--max-iterations", "1"]).run();
    stopped.assert_code(3).assert_stderr_has("0 proved in this run, 1 of 2 items open, 1 parked");
    stopped.assert_stderr_has(
        "to try FEAT-1 again: ralph backlog reset FEAT-1; to leave it out: ralph backlog skip FEAT-1\n",
    );
}

#[test]
fn at_its_limit_an_item_is_blocked_with_a_note_and_a_person_is_asked_for() {
    let sandbox = harness(&[item("FEAT-1", "one.txt")]);
    let agent = writer(&sandbox, &["wrong.txt"]);
    worker(&sandbox, &agent).run().assert_code(3).assert_stderr_has("✗ ITEM NOT PROVED");
    worker(&sandbox, &agent).run().assert_code(3);
    let last = worker(&sandbox, &agent).run();
    last.assert_code(2).assert_stderr_has("Max iterations reached, human review required");
    last.assert_stderr_has("to try FEAT-1 again: ralph backlog reset FEAT-1; ")
        .assert_stderr_lacks("ralph note");
    last.assert_stderr_has("items: 0 proved in this run, 0 of 1 item open, 1 parked");
    let now = item_now(&sandbox, "FEAT-1");
    assert_eq!((&now["status"], &now["ralph_loop"]["current_iteration"]), (&json!("BLOCKED"), &json!(3)));
    assert!(now["notes"].as_str().is_some_and(|notes| notes.contains("human review required")), "{now}");
    assert_eq!(now["attempts"].as_array().map(Vec::len), Some(3));
    let again = worker(&sandbox, &agent).run();
    again.assert_code(2).assert_stderr_has("every item that is left waits for a person: FEAT-1");
    again
        .assert_stderr_has("to try FEAT-1 again: ralph backlog reset FEAT-1; ")
        .assert_stderr_lacks("ralph note");
    assert_eq!(agent.calls(&sandbox).len(), 3, "a blocked item costs nothing");
    ralph(&sandbox).args(["backlog", "reset", "FEAT-1"]).run().assert_code(0);
    let agent = writer(&sandbox, &["one.txt"]);
    worker(&sandbox, &agent).run().assert_code(0);
}

#[test]
fn a_mark_without_proof_is_taken_back_and_marks_of_other_items_too() {
    let sandbox = checklist();
    let ticks_all = "sed -i 's/\\[ \\]/[x]/; s/\\[\\/\\]/[x]/' fix_plan.md";
    let agent = another(&sandbox)
        .call(Steps::new().shell(ticks_all).say("ok"))
        .call(claims(writes("green").shell(ticks_all)))
        .call(claims(writes("second")))
        .call(Steps::new().status(&StatusBlock::done()))
        .install(&sandbox);
    let finished = turns_green(&sandbox, &agent).args(["--test-cmd", "test -e green"]).run();
    finished.assert_code(0).assert_stderr_has("marked as done without being worked on, and taken back");
    assert_eq!(sandbox.read("fix_plan.md"), "# Plan\n\n- [x] first thing\n- [x] second thing\n");
    let results: Vec<String> = outcomes(&sandbox).into_iter().map(|(_, outcome)| outcome).collect();
    assert_eq!(results, ["refused", "accepted", "accepted", "accepted"]);
    assert_eq!(commits(&sandbox), 4);
    let prompts: Vec<String> = agent.calls(&sandbox).into_iter().map(|call| call.prompt).collect();
    assert!(prompts[1].contains("first thing") && prompts[2].contains("second thing"), "{}", prompts[2]);
}

#[test]
fn marks_of_other_items_are_told_though_the_agent_gives_no_report() {
    let sandbox = checklist();
    let tick = "sed -i 's/\\[ \\] second/[x] second/' fix_plan.md";
    let agent = another(&sandbox)
        .call(writes("a").shell(tick).say("ok"))
        .call(claims(writes("b")))
        .call(claims(writes("c")))
        .install(&sandbox);
    let args = ["--test-cmd", "test -e green", "--max-iterations", "3"];
    let finished = turns_green(&sandbox, &agent).args(args).run();
    let told = "claimed more than was measured: marked as done without being worked on, and taken back: ";
    finished.assert_code(3).assert_stderr_has(told);
    assert_eq!(outcomes(&sandbox)[0].1, "silent");
    assert_eq!(sandbox.read("fix_plan.md").matches("[x]").count(), 0);
    assert!(sandbox.read(".ralph/history/iteration-001.md").contains(told));
    let prompts: Vec<String> = agent.calls(&sandbox).into_iter().map(|call| call.prompt).collect();
    assert!(prompts[1].contains("It claimed more than was measured: marked as done"), "{}", prompts[1]);
    // A count that nobody could prove is told in the same way.
    let count = "It claimed more than was measured: FILES_MODIFIED: 2, and 1 file changed; \
                 TASKS_COMPLETED_THIS_LOOP: 1, and 0 proved.";
    assert!(prompts[2].contains(count) && !prompts[1].contains(count), "{}", prompts[2]);
}

#[test]
fn marks_of_an_agent_that_was_limited_are_taken_back() {
    let sandbox = checklist();
    let ticks_all = "sed -i 's/\\[.\\]/[x]/' fix_plan.md; echo 'Invalid API key' >&2";
    let agent = another(&sandbox).call(Steps::new().shell(ticks_all).exit(1)).install(&sandbox);
    let finished = works_through(&sandbox, &agent).args(["--test-cmd", "true"]).run();
    assert_ne!(finished.code, 0);
    assert_eq!(outcomes(&sandbox)[0].1, "limited");
    finished.assert_stderr_has("marked as done without being worked on, and taken back");
    assert_eq!(sandbox.read("fix_plan.md").matches("[x]").count(), 0, "{finished}");
}

#[test]
fn changing_nothing_proves_nothing_until_a_second_agent_agrees() {
    let sandbox = checklist();
    let tick = "sed -i '0,/\\[.\\]/s//[x]/' fix_plan.md";
    let agent = another(&sandbox)
        .call(Steps::new().shell(tick).status(&StatusBlock::in_progress()))
        .install(&sandbox);
    let run = || {
        works_through(&sandbox, &agent)
            .args(["--test-cmd", "true", "--once", "--fresh", "--backlog", "fix_plan.md"])
    };
    let refused = run().run();
    refused.assert_code(3).assert_stderr_has("nothing was changed, and the item has no check of its own");
    assert_eq!(sandbox.read("fix_plan.md").matches("[x]").count(), 0, "the mark is taken back");
    let taken_back = "claimed more than was measured: FILES_MODIFIED: 2, and 0 files changed; \
                      TASKS_COMPLETED_THIS_LOOP: 1, and 0 proved; marked as done without proof, and taken back: 125567dc";
    let last = taken_back.rsplit("; ").next().unwrap();
    refused.assert_stderr_has(&format!("claimed more than was measured: {last}"));
    ralph(&sandbox).args(["history", "1"]).run().assert_stdout_has(last);
    run().run();
    let prompts: Vec<String> = agent.calls(&sandbox).into_iter().map(|call| call.prompt).collect();
    assert!(prompts[1].contains(taken_back) && !prompts[0].contains(last), "{}", prompts[1]);
    // Its own check is proof enough, whoever made it true.
    let sandbox = harness(&[item("FEAT-1", "README.md")]);
    let agent = another(&sandbox).call(claims(Steps::new())).install(&sandbox);
    worker(&sandbox, &agent).run().assert_code(0);
    assert_eq!(item_now(&sandbox, "FEAT-1")["status"], "PASSING");
}

#[test]
fn a_blocked_item_is_parked_and_taken_up_again_once_it_is_answered() {
    let sandbox = checklist();
    let agent =
        another(&sandbox).call(Steps::new().status(&StatusBlock::blocked("need a key"))).install(&sandbox);
    works_through(&sandbox, &agent).run().assert_code(2).assert_stderr_has("need a key");
    assert!(sandbox.read("fix_plan.md").contains("- [ ] first thing"));
    ralph(&sandbox).args(["note", "--item", "first thing", "it is in .env"]).run().assert_code(0);
    let agent = another(&sandbox).call(claims(writes("a.txt"))).install(&sandbox);
    works_through(&sandbox, &agent).args(["--once", "--test-cmd", "true"]).run().assert_code(0);
    assert!(sandbox.read("fix_plan.md").contains("- [x] first thing"), "it is answered");
}

#[test]
fn items_that_wait_for_blocked_ones_or_for_each_other_are_named() {
    let mut first = item("FEAT-1", "one.txt");
    first["status"] = json!("BLOCKED");
    let mut second = item("FEAT-2", "two.txt");
    second["dependencies"] = json!(["FEAT-1"]);
    let sandbox = harness(&[first, second.clone()]);
    let agent = writer(&sandbox, &["two.txt"]);
    let waits = worker(&sandbox, &agent).run();
    waits.assert_code(2).assert_stderr_has("FEAT-2 waits for FEAT-1 (blocked)");
    ralph(&sandbox).args(["backlog", "next"]).run().assert_code(1).assert_stderr_has(
        "no item can begin: FEAT-2 waits for FEAT-1 (blocked); to have FEAT-1 tried again: ralph backlog reset FEAT-1",
    );
    waits.assert_stderr_has("to go on: ralph backlog reset FEAT-1, then ralph run");
    let mut first = item("FEAT-1", "one.txt");
    first["dependencies"] = json!(["FEAT-2"]);
    write_items(&sandbox, &[first, second]);
    worker(&sandbox, &agent).run().assert_code(2).assert_stderr_has("FEAT-1");
    assert!(agent.calls(&sandbox).is_empty());
}

#[test]
fn data_that_cannot_be_read_stops_with_65_and_is_left_as_it_is() {
    let sandbox = repository();
    let agent = writer(&sandbox, &["one.txt"]);
    sandbox.write(HARNESS, "{\"items\": [");
    worker(&sandbox, &agent).run().assert_code(65).assert_stderr_has("feature_list.json");
    assert_eq!(sandbox.read(HARNESS), "{\"items\": [");
    assert!(agent.calls(&sandbox).is_empty());
    // The agent breaks it while it works.
    write_items(&sandbox, &[item("FEAT-1", "one.txt")]);
    let agent = another(&sandbox).call(claims(writes("one.txt").write(HARNESS, "broken"))).install(&sandbox);
    let before = sandbox.read(HARNESS);
    let finished = worker(&sandbox, &agent).run();
    finished.assert_code(3).assert_stderr_has("the criteria of FEAT-1");
    finished.assert_stderr_has("the backlog is put back as it was before the attempt (made unreadable)");
    assert_ne!(sandbox.read(HARNESS), before, "with the attempt");
    assert_eq!(item_now(&sandbox, "FEAT-1")["attempts"][0]["result"], "FAILED");
}

#[test]
fn an_agent_that_fails_has_made_an_attempt_and_one_that_is_limited_has_not() {
    let sandbox = harness(&[item("FEAT-1", "one.txt")]);
    let agent = another(&sandbox).call(writes("half.txt").exit(1)).install(&sandbox);
    worker(&sandbox, &agent).run().assert_code(3);
    assert_eq!(item_now(&sandbox, "FEAT-1")["attempts"][0]["result"], "FAILED");
    assert!(!sandbox.exists("half.txt"));
    assert_eq!(history(&sandbox).len(), 1);
    // One that could not even begin has not tried the item.
    let sandbox = harness(&[item("FEAT-1", "one.txt")]);
    let agent = another(&sandbox).call(Steps::new().exit(1)).install(&sandbox);
    worker(&sandbox, &agent).args(["--set", "max_failures=1"]).run().assert_code(4);
    assert_eq!(item_now(&sandbox, "FEAT-1")["attempts"], json!([]));
}

#[test]
fn attempts_of_earlier_calls_count_where_the_file_does_not() {
    let sandbox = repository();
    sandbox.write(".ralph/ralph.yml", "tasks:\n  - id: T-1\n    title: one\n    status: todo\n");
    let agent = writer(&sandbox, &["wrong.txt"]);
    let call = || worker(&sandbox, &agent).args(["--max-iterations", "2", "--test-cmd", "test -e one.txt"]);
    call().run().assert_code(3).assert_stderr_has("(attempt 1/2)");
    call().run().assert_code(2).assert_stderr_has("(attempt 2/2)").assert_stderr_has("human review required");
    assert!(sandbox.read(".ralph/ralph.yml").contains("status: blocked"));
    call().run().assert_code(2).assert_stderr_has("every item that is left waits for a person: T-1");
    ralph(&sandbox).args(["backlog", "set", "T-1", "todo"]).run().assert_code(0);
    call().run().assert_code(3).assert_stderr_has("(attempt 1/2)");

    let sandbox = checklist();
    let agent = writer(&sandbox, &["wrong.txt"]);
    let call = || worker(&sandbox, &agent).args(["--max-iterations", "1", "--test-cmd", "test -e one.txt"]);
    call().run().assert_code(2);
    call().run().assert_code(2);
    call().run().assert_code(2).assert_stderr_has("1 attempt used; last: ");
    assert_eq!(agent.calls(&sandbox).len(), 2, "one for each item");
}

#[test]
fn a_worker_spends_nothing_on_an_item_without_a_check_and_says_what_to_do() {
    let mut bare = item("FEAT-1", "one.txt");
    bare["verification"] = json!([]);
    let sandbox = harness(&[bare]);
    let agent = writer(&sandbox, &["one.txt"]);
    let finished = worker(&sandbox, &agent).arg("--all").run();
    finished
        .assert_code(2)
        .assert_stderr_has("FEAT-1 has no check at all")
        .assert_stderr_has("--test-cmd CMD");
    assert_eq!((agent.calls(&sandbox).len(), commits(&sandbox)), (0, 2));
    assert_eq!(item_now(&sandbox, "FEAT-1")["status"], "FAILING");
    worker(&sandbox, &agent).args(["--fresh", "--test-cmd", "test -e one.txt"]).run().assert_code(0);
    assert_eq!(item_now(&sandbox, "FEAT-1")["status"], "PASSING");
}

#[test]
fn where_reviews_prove_an_item_without_a_check_is_marked_and_says_what_it_rests_on() {
    let bare = ["one.txt", "two.txt"].map(|name| {
        let mut bare = item(name, name);
        bare["verification"] = json!([]);
        bare
    });
    let sandbox = harness(&bare);
    let agent = another(&sandbox)
        .call(claims(writes("one.txt")))
        .call(claims(writes("two.txt")))
        .call(Steps::new().status(&StatusBlock::done()))
        .install(&sandbox);
    let finished = works_through(&sandbox, &agent).run();
    finished
        .assert_code(0)
        .assert_stderr_has(" COMPLETE")
        .assert_stderr_has("⚠ one.txt is claimed and committed");
    finished.assert_stderr_has("proof: reviews").assert_stderr_lacks("is proved and committed");
    for id in ["one.txt", "two.txt"] {
        let now = item_now(&sandbox, id);
        assert_eq!(now["status"], "PASSING");
        let ran = &now["attempts"][0]["evidence"]["commands_run"];
        assert_eq!(*ran, json!(["no check was run: the agent's word, before anybody reviewed the whole"]));
    }
    assert_eq!((agent.calls(&sandbox).len(), commits(&sandbox)), (5, 4));
    ralph(&sandbox).args(["backlog", "validate"]).run().assert_code(0);
}

#[test]
fn an_item_that_the_backlog_cannot_take_in_stops_the_run_before_anything_is_committed() {
    let mut odd = item("FEAT-1", "one.txt");
    odd["attempts"] = json!("none yet");
    let sandbox = harness(&[odd]);
    let agent = writer(&sandbox, &["one.txt"]);
    let finished = worker(&sandbox, &agent).arg("--all").run();
    finished.assert_code(65).assert_stderr_has("FEAT-1 cannot be marked in the backlog");
    assert_eq!((agent.calls(&sandbox).len(), commits(&sandbox)), (1, 2));
    assert_eq!(item_now(&sandbox, "FEAT-1")["attempts"], "none yet");
    assert!(sandbox.exists("one.txt"), "the work is kept");
}

#[test]
fn looking_at_a_backlog_knows_what_the_ledger_knows() {
    let sandbox = checklist();
    sandbox.write(".ralph/config.toml", "profile = \"worker\"\n[policy]\nmax_iterations = 1\n");
    let agent = writer(&sandbox, &["wrong.txt"]);
    let next = || ralph(&sandbox).args(["backlog", "next", "--json"]).run().json()["selected"]["id"].clone();
    let id = next().as_str().expect("an id").to_owned();
    works_through(&sandbox, &agent).args(["--test-cmd", "test -e one.txt"]).run().assert_code(2);
    assert_ne!(next(), json!(id), "a run would not take it any more");
    let counted = ralph(&sandbox).args(["backlog", "status"]).run();
    counted.assert_stdout_has("1 parked");
    let shown = ralph(&sandbox).args(["backlog", "show", &id]).run();
    shown.assert_stdout_has("Attempts, newest last (1 of 1").assert_stdout_has("- #1 FAILED, ");
    let document = ralph(&sandbox).args(["backlog", "show", &id, "--json"]).run().json();
    Schema::published("ralph.item/1").assert(&document);
    assert_eq!((&document["attempts"], &document["recorded"][0]["result"]), (&json!(0), &json!("FAILED")));
}

#[test]
fn a_replay_with_once_stops_after_the_first_attempt() {
    let sandbox = two_items();
    let agent = writer(&sandbox, &["one.txt", "two.txt"]);
    worker(&sandbox, &agent).arg("--all").run().assert_code(0);
    let replay = |set: &str| ralph(&sandbox).args(["replay", "--set", set]).run();
    let told = replay("once=true");
    told.assert_code(0).assert_stdout_has("stops after iteration 1: FEAT-1 passed");
    replay("once=false").assert_code(0).assert_stdout_has("like the record");
}

#[test]
fn a_reset_gives_attempts_back_where_only_the_ledger_counts() {
    let sandbox = checklist();
    let agent = writer(&sandbox, &["wrong.txt"]);
    let call = || worker(&sandbox, &agent).args(["--max-iterations", "1", "--test-cmd", "test -e one.txt"]);
    let id = ralph(&sandbox).args(["backlog", "next", "--json"]).run().json()["selected"]["id"].clone();
    let id = id.as_str().expect("an id");
    call().run().assert_code(2);
    call().run().assert_code(2);
    call().run().assert_code(2).assert_stderr_has("1 attempt used; last: ");
    ralph(&sandbox).args(["backlog", "reset", id]).run().assert_code(0).assert_stderr_has("counted anew");
    let records = ledger(&sandbox);
    let last = records.last().expect("a record");
    assert_eq!(
        (&last["type"], &last["item"], &last["backlog"]),
        (&json!("reset"), &json!(id), &json!("fix_plan.md"))
    );
    call().run().assert_code(2).assert_stderr_has("first thing (attempt 1/1)");
    assert_eq!(agent.calls(&sandbox).len(), 3, "once more");
    let shown = ralph(&sandbox).args(["evidence", "show", "--json"]).run().json();
    Schema::published("ralph.evidence/1").assert(&shown);
    ralph(&sandbox)
        .args(["evidence", "verify", "--no-run"])
        .run()
        .assert_code(3)
        .assert_stdout_has("unbroken chain");
}

#[test]
fn another_item_of_the_same_id_has_attempts_of_its_own() {
    let sandbox = repository();
    let story =
        |title: &str| json!({"userStories": [{"id": "US-1", "title": title, "passes": false}]}).to_string();
    sandbox.write("prd.json", story("the old one"));
    let agent = writer(&sandbox, &["wrong.txt"]);
    let call = || worker(&sandbox, &agent).args(["--max-iterations", "1", "--test-cmd", "test -e one.txt"]);
    call().run().assert_code(2);
    call().run().assert_code(2).assert_stderr_has("1 attempt used; last: ");
    sandbox.write("prd.json", story("the new one"));
    call().arg("--dry-run").run().assert_code(0).assert_stdout_has("the new one");
    call().run().assert_code(2).assert_stderr_has("the new one");
    assert_eq!(agent.calls(&sandbox).len(), 2);
}

#[test]
fn a_claim_that_all_is_done_proves_the_one_item_that_was_worked_on_and_the_run_goes_on() {
    let sandbox = repository();
    sandbox.write("fix_plan.md", "- [ ] first thing\n- [ ] second thing\n- [ ] third thing\n");
    sandbox.commit_all("plan");
    let done = |file: &str| writes(file).say("All done.").status(&StatusBlock::done());
    let agent = another(&sandbox).call(done("1")).call(done("2")).call(done("3")).install(&sandbox);
    let run = || works_through(&sandbox, &agent).args(["--set", "reviews=0", "--test-cmd", "true"]);
    run().args(["--max-iterations", "1"]).run().assert_code(3).assert_stderr_has("2 of 3 items open");
    assert_eq!(status(&sandbox)["stop_reason"], "max_iterations", "one of three is not complete");
    assert_eq!(sandbox.read("fix_plan.md").matches("[x]").count(), 1);
    run().args(["--max-iterations", "9"]).run().assert_code(0).assert_stderr_has(" COMPLETE");
    assert_eq!(agent.calls(&sandbox).len(), 3);
}
