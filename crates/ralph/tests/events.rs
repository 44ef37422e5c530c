//! `ralph run --json`: an event a line, each as `schemas/ralph.event-1.json` says.

mod common;

use common::{TEST, one_call, ralph, repository, run, says_done, says_more};
use ralph_testkit::{ClaudeResult, FakeAgent, Finished, Schema, StatusBlock, Steps};
use serde_json::{Value, json};

/// The events, each held against the schema.
fn events(finished: &Finished) -> Vec<Value> {
    let events = finished.json_lines();
    let schema = Schema::published("ralph.event/1");
    for event in &events {
        schema.assert(event);
    }
    events
}

fn types(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["type"].as_str().expect("a type")).collect()
}

#[test]
fn a_lie_a_fix_and_a_review_are_told_from_the_start_to_the_summary() {
    let sandbox = repository();
    let result = |block: &StatusBlock| ClaudeResult::success(block.to_string()).cost_usd(0.25);
    let lie = Steps::new().claude_init().claude_tool("Read", json!({"file_path": "README.md"}));
    let agent = FakeAgent::new("agent")
        .call(lie.claude_result(result(&StatusBlock::done())))
        .call(Steps::new().write("green", "").claude_init().claude_result(result(&StatusBlock::done())))
        .call(Steps::new().claude_init().claude_result(result(&StatusBlock::done())))
        .install(&sandbox);
    let finished = run(&sandbox, &agent).args(["--json", "--test-cmd", TEST]).run();
    finished.assert_code(0).assert_stderr_has("[ralph] ✓ COMPLETE");
    let events = events(&finished);
    let iteration = ["iteration_started", "agent_ended", "check_started", "check_ended", "decision"];
    let mut expected = vec!["run_started", "check_started", "check_ended", "iteration_started", "tool"];
    expected.extend(&iteration[1..]);
    expected.extend(iteration);
    expected.extend(iteration);
    expected.push("stop");
    assert_eq!(types(&events), expected);
    assert_eq!((&events[0]["goal"], &events[0]["resumed"]), (&json!(common::GOAL), &json!(false)));
    assert_eq!(events[2]["check"]["passed"], false, "before the run");
    let of = |kind: &str| -> Vec<&Value> {
        events.iter().filter(|event| event["type"] == kind).map(|event| &event["iteration"]).collect()
    };
    assert_eq!(of("check_ended"), [&Value::Null, &json!(1), &json!(2), &json!(3)]);
    assert_eq!(of("check_started"), of("check_ended"), "both belong to the same iteration");
    assert_eq!((&events[4]["name"], &events[4]["target"]), (&json!("Read"), &json!("README.md")));
    let decisions: Vec<&Value> = events.iter().filter(|event| event["type"] == "decision").collect();
    assert_eq!(decisions[0]["outcome"], "refused");
    assert!(decisions[0]["refusal"].as_str().is_some_and(|why| why.contains("is_green")), "{finished}");
    assert!(decisions.iter().all(|decision| !decision["reasons"].as_array().expect("a list").is_empty()));
    let stop = events.last().expect("a stop");
    assert_eq!(
        (&stop["stop_reason"], &stop["exit_code"], &stop["proof"]),
        (&json!("complete"), &json!(0), &json!("checks"))
    );
    assert_eq!((&stop["iterations"], &stop["cost_micro_usd"]), (&json!(3), &json!(750_000)));
    assert_eq!(stop["files"], json!([{"change": "A", "path": "green"}]));
    assert_eq!(stop["checks"][0]["passed"], true);
}

#[test]
fn a_wait_a_note_and_a_run_that_is_taken_up_again_are_told() {
    let sandbox = repository();
    let agent = FakeAgent::new("agent")
        .call(Steps::new().exit(3))
        .call(Steps::new().reach("here").hold("go").status(&StatusBlock::blocked("Blocked: x")))
        .call(says_done())
        .install(&sandbox);
    let running = run(&sandbox, &agent).args(["--json", "--quiet", "--set", "backoff=1ms"]).spawn();
    sandbox.wait_for("here");
    ralph(&sandbox).args(["note", "go left"]).run().assert_code(0);
    sandbox.release("go");
    let first = running.wait();
    first.assert_code(2);
    assert_eq!(first.stderr.lines().count(), 1, "quiet\n{first}");
    let told = events(&first);
    let (names, stop) = (types(&told), told.last().expect("a stop"));
    assert!(names.contains(&"waiting") && names.contains(&"note"), "{names:?}");
    assert_eq!((&stop["stop_reason"], &stop["exit_code"]), (&json!("blocked"), &json!(2)));
    let again = ralph(&sandbox).args(["run", "--json", "--reviews", "0"]).run();
    again.assert_code(0);
    let told = events(&again);
    assert_eq!((&told[0]["type"], &told[0]["resumed"]), (&json!("run_started"), &json!(true)));
}

#[test]
fn what_cannot_begin_is_told_too() {
    let sandbox = repository();
    let none = ralph(&sandbox).args(["run", "--json"]).run();
    none.assert_code(64);
    let told = events(&none);
    assert_eq!((types(&told), &told[0]["exit_code"]), (vec!["error"], &json!(64)));
    for wrong in [&["--max-iterations", "foo"][..], &["--nonsense"], &["two", "goals"]] {
        let refused = ralph(&sandbox).args(["run", "goal", "--json"]).args(wrong).run();
        refused.assert_code(64);
        let told = events(&refused);
        assert_eq!((types(&told), &told[0]["exit_code"]), (vec!["error"], &json!(64)), "{wrong:?}");
        let what = told[0]["what"].as_str().expect("what");
        assert!(refused.stderr.starts_with(&format!("error: {what}")), "{what}: {refused}");
    }
    let slip = ralph(&sandbox).args(["run", "goal", "--json", "--max-iteration", "5"]).run();
    assert_eq!(events(&slip)[0]["hints"], json!(["--max-iterations"]));
    // Where nobody asked for events, and where the word is the agent's, nothing is data.
    for quiet in [&["--max-iterations", "foo"][..], &["--max-iterations", "foo", "--", "--json"]] {
        let refused = ralph(&sandbox).args(["run", "goal"]).args(quiet).run();
        refused.assert_code(64);
        assert_eq!(refused.stdout, "", "{quiet:?}");
    }

    let agent = one_call(&sandbox, says_more());
    run(&sandbox, &agent).run().assert_code(5);
    let refused = ralph(&sandbox).args(["run", "another goal", "--json", "--agent-cmd", "true"]).run();
    refused.assert_code(5);
    let told = events(&refused);
    assert_eq!((types(&told), &told[0]["stop_reason"]), (vec!["stop"], &json!("circuit_open")));
    assert_eq!((&told[0]["run"], &told[0]["iterations"]), (&Value::Null, &json!(0)), "nothing was begun");
}

#[test]
fn tests_and_scripts_that_the_run_found_and_an_agent_changed_are_flagged_with_a_goal_too() {
    let sandbox = repository();
    sandbox.write("tests/test_calc.py", "def test_calc(): assert calc() == 3\n");
    sandbox.write("check.sh", "test -e green\n");
    sandbox.commit_all("tests");
    let agent = FakeAgent::new("agent")
        .call(
            Steps::new()
                .write("tests/test_calc.py", "")
                .write("tests/test_new.py", "a")
                .status(&StatusBlock::in_progress()),
        )
        .call(
            Steps::new()
                .write("tests/test_new.py", "b")
                .write("check.sh", "exit 0\n")
                .status(&StatusBlock::done()),
        )
        .install(&sandbox);
    let finished =
        run(&sandbox, &agent).args(["--json", "--reviews", "0", "--test-cmd", "sh check.sh"]).run();
    finished.assert_code(0);
    let flags =
        |values: &[Value]| -> Vec<Value> { values.iter().map(|value| value["flags"].clone()).collect() };
    let decisions: Vec<Value> =
        events(&finished).into_iter().filter(|event| event["type"] == "decision").collect();
    let expected = [
        json!(["existing tests were changed: tests/test_calc.py"]),
        json!(["files that checks run were changed: check.sh"]),
    ];
    assert_eq!(flags(&decisions), expected, "what the run made itself is its own");
    assert_eq!(flags(&common::history(&sandbox)), expected);
    finished.assert_stderr_has("existing tests were changed: tests/test_calc.py");
    finished.assert_stderr_has("files that checks run were changed: check.sh");
    let page = sandbox.read(".ralph/history/iteration-001.md");
    assert!(page.contains("- flagged: existing tests were changed: tests/test_calc.py"), "{page}");
    Schema::published("ralph.history/1").assert(&ralph(&sandbox).args(["history", "--json"]).run().json());

    // Whoever comes later and only asks how it ended is told as well.
    let listed = ralph(&sandbox).arg("history").run();
    listed
        .assert_stdout_has("; flagged: existing tests were changed: tests/test_calc.py\n")
        .assert_stdout_has("; flagged: files that checks run were changed: check.sh\n");
    ralph(&sandbox).arg("status").run().assert_stdout_has(
        "flagged:    existing tests were changed: tests/test_calc.py (#1); files that checks run were changed: check.sh (#2)\n",
    );
    let status = common::status(&sandbox);
    Schema::published("ralph.status/1").assert(&status);
    let flags = json!([
        {"iteration": 1, "text": "existing tests were changed: tests/test_calc.py", "put_back": false},
        {"iteration": 2, "text": "files that checks run were changed: check.sh", "put_back": false},
    ]);
    assert_eq!(status["flags"], flags);

    // Whoever reads no more than the line with the proof knows it too.
    const PROOF: &str = "checks (flagged: tests/test_calc.py, check.sh changed by the agent)";
    finished.assert_stderr_has(&format!("⚠ COMPLETE, proof: {PROOF}: sh check.sh exit 0"));
    let complete = format!("complete, proved by {PROOF}");
    ralph(&sandbox).arg("status").run().assert_stdout_has(&format!("status:     {complete}"));
    listed.assert_stdout_has(&format!("  stopped: {complete}"));
    let stop = events(&finished).pop().expect("the stop");
    Schema::published("ralph.event/1").assert(&stop);
    for told in [&stop, &status] {
        assert_eq!(
            (&told["proof"], &told["proof_flags"]),
            (&json!("checks"), &json!(expected.iter().map(|flags| &flags[0]).collect::<Vec<_>>()))
        );
    }
    let text = stop["text"].as_str().unwrap_or_default();
    assert!(text.starts_with(&complete), "{text}");
}

#[test]
fn a_recipe_that_an_agent_rewrites_is_flagged_where_no_item_is_judged_by_it() {
    let sandbox = repository();
    sandbox.install_script("make", "#!/bin/sh\ntest -e green\n");
    sandbox.write("Makefile", "test:\n\ttest -e green\n");
    sandbox.commit_all("make");
    let agent = one_call(&sandbox, says_done().write("green", "").write("Makefile", "test:\n\ttrue\n"));
    let finished = run(&sandbox, &agent).args(["--reviews", "0"]).run();
    finished.assert_code(0);
    finished
        .assert_stderr_has("checks run something else than when the run began: make test (Makefile, test)");
}

#[test]
fn tests_that_an_agent_changed_refuse_every_claim_where_that_is_asked_until_they_are_as_they_were() {
    const TEST: &str = "def test_calc(): assert calc() == 3\n";
    let sandbox = repository();
    sandbox.write("tests/test_calc.py", TEST);
    sandbox.write("check.sh", "test -e green\n");
    sandbox.commit_all("tests");
    let done = || Steps::new().status(&StatusBlock::done());
    let agent = FakeAgent::new("agent")
        .call(
            Steps::new()
                .write("check.sh", "exit 0\n")
                .write("tests/test_calc.py", "")
                .status(&StatusBlock::in_progress()),
        )
        // Whoever did it: an iteration that touches nothing of it inherits it.
        .call(Steps::new().write("other.txt", "a").status(&StatusBlock::done()))
        .call(Steps::new().write("check.sh", "test -e green\n").status(&StatusBlock::done()))
        .call(
            Steps::new()
                .write("tests/test_calc.py", TEST)
                .write("green", "")
                .write("tests/test_new.py", "")
                .status(&StatusBlock::done()),
        )
        .call(done())
        .install(&sandbox);
    let refuse = ["--set", "tests_changed=refuse", "--reviews", "1", "--test-cmd", "sh check.sh"];
    let finished = run(&sandbox, &agent).args(refuse).run();
    finished.assert_code(0).assert_stderr_has("✓ COMPLETE, proof: checks: sh check.sh exit 0");
    finished.assert_stderr_has("files that checks run were changed: check.sh (#1, put back)");
    let outcomes: Vec<Value> = common::history(&sandbox).iter().map(|one| one["outcome"].clone()).collect();
    assert_eq!(outcomes, ["more", "refused", "refused", "accepted", "accepted"]);
    let refusal =
        |nth: usize| common::history(&sandbox)[nth]["refusal"].as_str().unwrap_or_default().to_owned();
    let both = "not as when the run began: check.sh, tests/test_calc.py; put it back as it was";
    assert!(refusal(1).contains(both), "{}", refusal(1));
    // The check is what it was again, and says what it said.
    let one = "not as when the run began: tests/test_calc.py; put it back as it was";
    assert!(refusal(2).contains(one), "{}", refusal(2));
    let prompts: Vec<String> = agent.calls(&sandbox).into_iter().map(|call| call.prompt).collect();
    assert!(prompts[0].contains("Leave existing tests"), "{}", prompts[0]);
    assert!(prompts[2].contains(both), "{}", prompts[2]);
    assert!(!prompts[4].contains("Leave existing tests"), "a reviewer is not asked to write any");
}

#[test]
fn a_changed_test_refuses_though_its_name_became_a_secret() {
    let sandbox = repository();
    sandbox.write("tests/test_calc.py", "def test_calc(): assert calc() == 3\n");
    sandbox.commit_all("tests");
    let agent = FakeAgent::new("agent")
        .call(
            Steps::new()
                .write("tests/test_calc.py", "")
                .write(".env", "API_KEY=tests/test_calc.py\n")
                .status(&StatusBlock::in_progress()),
        )
        .call(Steps::new().write("other.txt", "a").status(&StatusBlock::done()))
        .install(&sandbox);
    let args =
        ["--set", "tests_changed=refuse", "--reviews", "0", "--test-cmd", "true", "--max-iterations", "2"];
    let finished = run(&sandbox, &agent).args(args).run();
    finished.assert_code(3).assert_stderr_has("not as when the run began: [redacted:API_KEY]; put it back");
    finished
        .assert_stderr_has("[ralph] refused: ")
        .assert_stderr_has("to have all as before the tests were changed: ralph undo 1");
}

#[test]
fn a_changed_test_refuses_though_the_snapshot_of_it_is_gone() {
    let sandbox = repository();
    sandbox.write("tests/test_calc.py", "def test_calc(): assert calc() == 3\n");
    sandbox.commit_all("tests");
    let agent = FakeAgent::new("agent")
        .call(Steps::new().write("tests/test_calc.py", "").status(&StatusBlock::in_progress()))
        .call(
            Steps::new().shell("rm -rf .git/ralph/objects").write("b.txt", "b").status(&StatusBlock::done()),
        )
        .install(&sandbox);
    let args =
        ["--set", "tests_changed=refuse", "--reviews", "0", "--test-cmd", "true", "--max-iterations", "2"];
    let finished = run(&sandbox, &agent).args(args).run();
    finished.assert_code(3).assert_stderr_has("nobody can compare any more");
}
