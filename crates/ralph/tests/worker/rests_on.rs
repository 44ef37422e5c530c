//! What a pass rests on, and that it is told wherever the pass is.

use ralph_testkit::{Sandbox, Schema, StatusBlock, Steps};
use serde_json::{Value, json};

use crate::common::{history, ralph, repository, status};
use crate::stage::{
    HARNESS, another, checklist, claims, commits, harness, item, ledger, worker, works_through, writes,
};

const TASKS: &str = "ralph.yml";

/// A committed project with one task that this command proves.
fn proved_by(command: &str) -> Sandbox {
    let sandbox = repository();
    let task =
        format!("tasks:\n  - id: one\n    title: One\n    status: todo\n    verification: [\"{command}\"]\n");
    sandbox.write(TASKS, task);
    sandbox.commit_all("a task");
    sandbox
}

fn done() -> Steps {
    Steps::new().status(&StatusBlock::done())
}

/// The record of the last attempt at an item.
fn last_item(sandbox: &Sandbox) -> Value {
    let mut attempts = ledger(sandbox).into_iter().filter(|record| record["type"] == "attempt");
    attempts.rfind(|record| record["item"].is_string()).expect("an attempt")
}

#[test]
fn an_item_whose_own_check_was_green_before_anybody_worked_is_told_so_wherever_it_is_told() {
    let sandbox = proved_by("test -e ralph.yml");
    let before = commits(&sandbox);
    let agent = another(&sandbox).call(done()).install(&sandbox);
    let finished = works_through(&sandbox, &agent).args(["--commit", "--backlog", TASKS]).run();
    const TOLD: &str = "1 item passed its checks with nothing changed for it";
    finished
        .assert_code(0)
        .assert_stderr_has("⚠ one passed its checks with nothing changed for it")
        .assert_stderr_has(TOLD)
        .assert_stderr_has("items: 1 proved in this run (1 with nothing changed), 0 of 1 item open")
        .assert_stderr_has("no file was changed for it, and a mark alone is not committed");
    assert_eq!(commits(&sandbox), before, "nor when all is done: {finished}");
    let review = &agent.calls(&sandbox)[1].prompt;
    assert!(review.contains("its item's checks were green without a change for it"), "{review}");

    ralph(&sandbox).args(["status"]).run().assert_stdout_has(TOLD);
    let now = status(&sandbox);
    Schema::published("ralph.status/1").assert(&now);
    let counts = [&now["backlog"]["passed"], &now["backlog"]["unchecked"], &now["backlog"]["without_change"]];
    assert_eq!(counts, [&json!(1), &json!(0), &json!(1)]);
    ralph(&sandbox)
        .args(["history"])
        .run()
        .assert_stdout_has("; one PASSED with nothing changed for it")
        .assert_stdout_has(TOLD);
    ralph(&sandbox)
        .args(["history", "1"])
        .run()
        .assert_stdout_has("- attempt: PASSED: it passed its checks with nothing changed for it")
        .assert_stdout_has("change not applicable: nothing was changed for it: its own checks alone decide");
    let rows = history(&sandbox);
    assert_eq!((&rows[0]["claimed"], &rows[0]["without_change"]), (&json!(false), &json!(true)));
    assert!(rows[1..].iter().all(|row| row["without_change"] == false), "reviews are about no item");
    let record = last_item(&sandbox);
    assert_eq!((&record["untouched"], &record["without_change"]), (&json!(false), &json!(true)), "{record}");
    let shown = ralph(&sandbox).args(["evidence", "show", "one"]).run();
    shown.assert_stdout_has("one One: PASSED with nothing changed for it in #1");
}

#[test]
fn one_item_that_passed_without_a_change_says_so_in_its_proof_and_in_the_events() {
    let sandbox = proved_by("test -e ralph.yml");
    let agent = another(&sandbox).call(claims(Steps::new())).install(&sandbox);
    let finished =
        works_through(&sandbox, &agent).args(["--once", "--commit", "--json", "--backlog", TASKS]).run();
    finished.assert_code(0);
    let events: Vec<Value> =
        finished.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    events.iter().for_each(|event| Schema::published("ralph.event/1").assert(event));
    let of = |kind: &str| events.iter().rfind(|event| event["type"] == kind).expect("the event");
    assert_eq!(of("settled")["without_change"], true);
    let stop = of("stop");
    assert_eq!((&stop["proof"], &stop["items"]["without_change"]), (&json!("checks"), &json!(1)));
    let text = stop["text"].as_str().unwrap_or_default();
    assert!(text.contains("it passed its checks with nothing changed for it"), "{text}");
}

/// Ticks the task, and commits that.
fn commits_its_tick(from: &str, to: &str, file: &str) -> Steps {
    Steps::new().shell(&format!("sed -i '0,/{from}/s//{to}/' {file}; git commit --quiet -am tick"))
}

#[test]
fn an_agent_that_commits_its_tick_alone_has_changed_nothing() {
    let sandbox = proved_by("test -e ralph.yml");
    let agent = another(&sandbox)
        .call(claims(commits_its_tick("status: todo", "status: done", TASKS)))
        .install(&sandbox);
    let finished = works_through(&sandbox, &agent).args(["--once", "--commit", "--backlog", TASKS]).run();
    finished
        .assert_code(0)
        .assert_stderr_has("⚠ one passed its checks with nothing changed for it")
        .assert_stderr_lacks("and committed");
    let row = history(&sandbox).remove(0);
    assert_eq!((&row["commits"], &row["commit"]), (&json!(1), &Value::Null), "{row}");
    assert_eq!(commits(&sandbox), 3, "ralph adds none to it");

    // Without a check of its own, such a tick is no more than a word.
    let sandbox = checklist();
    let agent =
        another(&sandbox).call(claims(commits_its_tick("\\[ \\]", "[x]", "fix_plan.md"))).install(&sandbox);
    let finished = works_through(&sandbox, &agent).args(["--once", "--test-cmd", "true"]).run();
    finished.assert_code(3).assert_stderr_has("a second attempt must say so too");
}

#[test]
fn what_an_earlier_run_left_for_an_item_is_a_change_for_it_and_what_was_put_back_is_none() {
    let sandbox = proved_by("test -e one.txt");
    let once = |steps: Steps| {
        let agent = another(&sandbox).call(steps).install(&sandbox);
        works_through(&sandbox, &agent).args(["--once", "--backlog", TASKS]).run()
    };
    once(writes("one.txt").say("More is to do.")).assert_code(3);
    once(claims(Steps::new())).assert_code(0).assert_stderr_lacks("nothing changed for it");
    assert_eq!(last_item(&sandbox)["without_change"], false);

    // Green at the second look, whatever an agent does.
    let mut moody = item("FEAT-1", "one.txt");
    moody["verification"] = json!(["test -e ../seen || { touch ../seen; false; }"]);
    let sandbox = harness(&[moody]);
    let agent =
        another(&sandbox).call(claims(writes("one.txt"))).call(claims(Steps::new())).install(&sandbox);
    let finished = worker(&sandbox, &agent).args(["--all"]).run();
    finished
        .assert_code(0)
        .assert_stderr_has("the code is put back")
        .assert_stderr_has("FEAT-1 passed its checks with nothing changed for it");
    assert!(sandbox.read(HARNESS).contains("nothing was changed for it"), "{}", sandbox.read(HARNESS));
}

/// A project whose one task was claimed by agents that changed nothing, beside a check that is green anyway.
fn claimed_twice() -> Sandbox {
    let sandbox = repository();
    sandbox.write(TASKS, "tasks:\n  - id: one\n    title: One\n    status: todo\n");
    sandbox.commit_all("a task");
    let agent = another(&sandbox).call(done()).install(&sandbox);
    let finished =
        works_through(&sandbox, &agent).args(["--commit", "--test-cmd", "true", "--backlog", TASKS]).run();
    finished
        .assert_code(0)
        .assert_stderr_has("1 item claimed without a change and without a check of its own");
    sandbox
}

#[test]
fn evidence_and_history_call_neither_a_claimed_item_proved_nor_the_goal_that_it_is() {
    let sandbox = claimed_twice();
    let shown = ralph(&sandbox).args(["evidence", "show"]).run();
    shown
        .assert_stdout_has("⚠ one One: PASSED, claimed without a change and without a check of its own in #2")
        .assert_stdout_has(": PASSED, 1 of 1 item claimed in #3")
        .assert_stdout_has(
            "but       1 item claimed without a change and without a check of its own, and no agent changed a file",
        );
    assert!(!shown.stdout.contains('✓') && !shown.stdout.contains("  proved "), "{shown}");
    assert_eq!(shown.stdout.matches("  rests on  the agent's word: ").count(), 2, "{shown}");
    let goal = ledger(&sandbox).into_iter().rfind(|record| record["type"] == "attempt").expect("the goal");
    assert_eq!(goal["items"], json!({"passed": 1, "claimed": 1, "without_change": 0}), "{goal}");
    let exported = ralph(&sandbox).args(["evidence", "export"]).run();
    exported
        .assert_stdout_has("- but: 1 item claimed without a change and without a check of its own")
        .assert_stdout_has("but for what is called claimed below: that rests on an agent's word");
    assert!(!exported.stdout.contains("- proof:"), "{exported}");
    let json: Value =
        serde_json::from_str(&ralph(&sandbox).args(["evidence", "show", "--json"]).run().stdout)
            .expect("JSON");
    Schema::published("ralph.evidence/1").assert(&json);

    ralph(&sandbox).args(["history"]).run().assert_stdout_has("; one PASSED, claimed");
    ralph(&sandbox)
        .args(["backlog", "show", "one", "--backlog", TASKS])
        .run()
        .assert_stdout_has("- #2 PASSED, claimed without a change and without a check of its own, ");
    let item: Value = serde_json::from_str(
        &ralph(&sandbox).args(["backlog", "show", "one", "--json", "--backlog", TASKS]).run().stdout,
    )
    .expect("JSON");
    Schema::published("ralph.item/1").assert(&item);
    assert_eq!(item["recorded"][1]["claimed"], true, "{item}");
    let verified = ralph(&sandbox).args(["evidence", "verify", "--no-run"]).run();
    verified.assert_stdout_has("note: PASSED, claimed without a change and without a check of its own");
    let document: Value = serde_json::from_str(
        &ralph(&sandbox).args(["evidence", "verify", "--no-run", "--json"]).run().stdout,
    )
    .expect("JSON");
    Schema::published("ralph.verification/1").assert(&document);
    let claimed = document["attempts"].as_array().expect("attempts").iter().map(|one| &one["claimed"]);
    assert_eq!(claimed.collect::<Vec<_>>(), [false, true, true]);
}

#[test]
fn no_word_of_proof_by_checks_stands_where_every_item_is_claimed_and_nothing_was_changed() {
    const HEADLINE: &str = "complete, 1 item claimed, none proved; claimed without a change and without a check of its own, and no agent changed a file";
    let sandbox = claimed_twice();
    let now = ralph(&sandbox).args(["status"]).run();
    now.assert_stdout_has(&format!("status:     {HEADLINE}"));
    assert!(!now.stdout.contains("proved by"), "{now}");
    let now = status(&sandbox);
    Schema::published("ralph.status/1").assert(&now);
    assert_eq!(
        (&now["proof"], &now["stop_text"]),
        (&json!("reviews"), &json!(HEADLINE)),
        "one has doubted it"
    );

    // Where nobody reviews, words are all there is.
    ralph(&sandbox).args(["backlog", "set", "one", "open", "--backlog", TASKS]).run().assert_code(0);
    let agent = another(&sandbox).call(done()).install(&sandbox);
    let words = works_through(&sandbox, &agent)
        .args(["--test-cmd", "true", "--reviews", "0", "--backlog", TASKS])
        .run();
    words
        .assert_code(0)
        .assert_stderr_has("⚠ COMPLETE, ALL CLAIMED, proof: words: 1 item claimed without a change and without a check of its own")
        .assert_stderr_lacks("✓ COMPLETE");
    assert_eq!(status(&sandbox)["proof"], "words");
}

#[test]
fn backlog_list_and_status_tell_a_claimed_item_from_a_proved_one() {
    let sandbox = claimed_twice();
    let of = |what: &[&str]| ralph(&sandbox).arg("backlog").args(what).args(["--backlog", TASKS]).run();
    let json = |what: &str| -> Value {
        let document = serde_json::from_str(&of(&[what, "--json"]).stdout).expect("JSON");
        Schema::published("ralph.backlog/1").assert(&document);
        document
    };
    of(&["list"])
        .assert_stdout_has("claimed      one  One")
        .assert_stderr_has("1 item claimed: done by an agent's word, and no check speaks for it");
    of(&["show", "one"])
        .assert_stdout_has("claimed (done in ")
        .assert_stdout_has(", line 2): done by an agent's word, and no check speaks for it\n");
    of(&["status"])
        .assert_stdout_has("done:        1\n")
        .assert_stdout_has("claimed:     1 of what is done: nothing but an agent's word says so");
    let listed = json("list");
    assert_eq!(
        (&listed["items"][0]["state"], &listed["items"][0]["claimed"]),
        (&json!("done"), &json!(true))
    );
    assert_eq!(json("status")["claimed"], 1);

    of(&["set", "one", "open"]).assert_code(0);
    of(&["list"]).assert_stdout_has("open         one  One");
    let agent = another(&sandbox).call(claims(writes("tests/one.rs"))).install(&sandbox);
    let proved = works_through(&sandbox, &agent).args(["--once", "--test-cmd", "true", "--backlog", TASKS]);
    proved.run().assert_code(0);
    of(&["list"]).assert_stdout_has("done         one  One").assert_stderr_lacks("claimed");
    assert!(!of(&["status"]).stdout.contains("claimed"));
    assert_eq!(
        (&json("status")["claimed"], &json("list")["items"][0]["claimed"]),
        (&json!(0), &json!(false))
    );
}

#[test]
fn a_later_run_says_what_of_a_finished_backlog_is_only_claimed() {
    let sandbox = claimed_twice();
    let agent = another(&sandbox).call(done()).install(&sandbox);
    const CLAIMED: &str = "1 item claimed in an earlier run: one";
    let again = works_through(&sandbox, &agent).args(["--backlog", TASKS]).run();
    again.assert_code(0).assert_stderr_has("BACKLOG COMPLETE").assert_stderr_has(CLAIMED);
    let json = works_through(&sandbox, &agent).args(["--json", "--backlog", TASKS]).run();
    let stop: Value = serde_json::from_str(json.stdout.lines().last().expect("an event")).expect("JSON");
    Schema::published("ralph.event/1").assert(&stop);
    assert!(stop["text"].as_str().is_some_and(|text| text.contains(CLAIMED)), "{stop}");
    works_through(&sandbox, &agent)
        .args(["--task", "one", "--backlog", TASKS])
        .run()
        .assert_code(0)
        .assert_stderr_has("one is done already: claimed, and nothing but the agent's word says so, in #2");

    // A run that has something to do says it of what was there before.
    ralph(&sandbox)
        .args(["backlog", "add", "Two", "--id", "two", "--verify", "test -e two.txt", "--backlog", TASKS])
        .run()
        .assert_code(0);
    let agent = another(&sandbox).call(writes("two.txt").status(&StatusBlock::done())).install(&sandbox);
    let finished = works_through(&sandbox, &agent).args(["--test-cmd", "true", "--backlog", TASKS]).run();
    finished
        .assert_code(0)
        .assert_stderr_has(CLAIMED)
        .assert_stderr_has("items: 1 proved in this run, 0 of 2");
    ralph(&sandbox).args(["status"]).run().assert_stdout_has(CLAIMED);

    // Whoever opens an item again begins anew.
    ralph(&sandbox).args(["backlog", "set", "one", "open", "--backlog", TASKS]).run().assert_code(0);
    let agent = another(&sandbox).call(claims(writes("tests/one.rs"))).install(&sandbox);
    let proved =
        works_through(&sandbox, &agent).args(["--once", "--test-cmd", "true", "--backlog", TASKS]).run();
    proved.assert_code(0);
    let agent = another(&sandbox).call(done()).install(&sandbox);
    works_through(&sandbox, &agent)
        .args(["--once", "--backlog", TASKS])
        .run()
        .assert_code(7)
        .assert_stderr_lacks("claimed");
}

/// A committed project with one task that `one.txt` proves, and a test.
fn with_a_test() -> Sandbox {
    let sandbox = proved_by("test -e one.txt");
    sandbox.write("tests/login_test.py", "def test_login(): assert False\n");
    sandbox.commit_all("a test");
    sandbox
}

const WEAKENED: &str = "(flagged: tests/login_test.py changed by the agent)";

fn weakens(steps: Steps) -> Steps {
    claims(steps.write("tests/login_test.py", "def test_login(): pass\n"))
}

#[test]
fn a_proof_says_in_its_own_line_that_the_agent_changed_a_test() {
    let sandbox = with_a_test();
    let agent = another(&sandbox).call(weakens(writes("one.txt"))).install(&sandbox);
    let finished = works_through(&sandbox, &agent).args(["--once", "--commit", "--backlog", TASKS]).run();
    finished
        .assert_code(0)
        .assert_stderr_has(&format!("⚠ one is proved {WEAKENED} and committed: "))
        .assert_stderr_has(&format!("proof: checks {WEAKENED}: test -e one.txt exit 0"));
    let passed = format!("one passed, proved by checks {WEAKENED}");
    ralph(&sandbox).args(["status"]).run().assert_stdout_has(&format!("status:     {passed}"));
    let listed = ralph(&sandbox).args(["history"]).run();
    listed.assert_stdout_has(&format!("; one PASSED {WEAKENED}, committed")).assert_stdout_has(&passed);
    let page = ralph(&sandbox).args(["history", "1"]).run();
    page.assert_stdout_has(&format!("- attempt: PASSED {WEAKENED}"));
    let shown = ralph(&sandbox).args(["evidence", "show"]).run();
    shown.assert_stdout_has(&format!("✓ one One: PASSED {WEAKENED} in #1"));
    let flags = json!(["existing tests were changed: tests/login_test.py"]);
    assert_eq!(history(&sandbox)[0]["proof_flags"], flags);
    assert_eq!((&status(&sandbox)["proof_flags"], &last_item(&sandbox)["flagged"]), (&flags, &flags));
}

#[test]
fn a_test_that_an_earlier_attempt_changed_is_flagged_in_the_proof_of_the_next_run_too() {
    let sandbox = with_a_test();
    let once = |steps: Steps| {
        let agent = another(&sandbox).call(steps).install(&sandbox);
        works_through(&sandbox, &agent).args(["--once", "--commit", "--backlog", TASKS]).run()
    };
    once(weakens(Steps::new())).assert_code(3);
    let second = once(claims(writes("one.txt")));
    second.assert_code(0).assert_stderr_has(&format!("proof: checks {WEAKENED}: "));
    let shown = ralph(&sandbox).args(["evidence", "show"]).run();
    shown
        .assert_stdout_has(&format!("✓ one One: PASSED {WEAKENED} in #2"))
        .assert_stdout_has("one One: FAILED in #1");
}

#[test]
fn what_was_put_back_is_not_flagged_in_a_proof() {
    let sandbox = harness(&[item("FEAT-1", "one.txt")]);
    sandbox.write("tests/login_test.py", "def test_login(): assert False\n");
    sandbox.commit_all("a test");
    let agent =
        another(&sandbox).call(weakens(writes("junk.txt"))).call(claims(writes("one.txt"))).install(&sandbox);
    let finished = worker(&sandbox, &agent).args(["--all"]).run();
    finished
        .assert_code(0)
        .assert_stderr_has("existing tests were changed: tests/login_test.py (#1, put back)")
        .assert_stderr_has("✓ FEAT-1 is proved and committed: ")
        .assert_stderr_lacks("(flagged: ");
    let now = status(&sandbox);
    Schema::published("ralph.status/1").assert(&now);
    assert_eq!((&now["proof_flags"], &now["flags"][0]["put_back"]), (&json!([]), &json!(true)));
}

#[test]
fn a_red_test_that_an_agent_deletes_is_named_in_the_proof() {
    let sandbox = with_a_test();
    let script = "test -e tests/login_test.py || exit 0\necho 'FAILED tests/login_test.py::test_login - assert False'\nexit 1\n";
    sandbox.write("runner.sh", script);
    sandbox.commit_all("a runner");
    let steps = writes("one.txt").delete("tests/login_test.py");
    let agent = another(&sandbox).call(claims(steps)).install(&sandbox);
    let finished = works_through(&sandbox, &agent)
        .args(["--once", "--commit", "--test-cmd", "sh runner.sh", "--backlog", TASKS])
        .run();
    const GONE: &str =
        "tests that were red before the run are gone with their file: tests/login_test.py::test_login";
    finished.assert_code(0).assert_stderr_has(&format!(
        "proof: checks (flagged: {GONE}; tests/login_test.py changed by the agent): "
    ));
    let flags = history(&sandbox)[0]["flags"].clone();
    assert_eq!(flags, json!([GONE, "existing tests were changed: tests/login_test.py"]));
    let message = sandbox.git(&["log", "-1", "--format=%B"]).replace('\n', " ");
    assert!(message.contains(&format!("Flagged: {GONE}; existing tests were changed")), "{message}");
    let shown = ralph(&sandbox).args(["evidence", "show"]).run();
    shown.assert_stdout_has(&format!("PASSED (flagged: {GONE}; "));
}
