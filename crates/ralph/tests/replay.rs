//! `ralph replay` end to end: real runs, decided again.

mod common;

use common::{TEST, one_call, ralph, repository, run, says_done, says_more};
use ralph_core::journal::{self, Body};
use ralph_testkit::{ClaudeResult, FakeAgent, Sandbox, Schema, StatusBlock, Steps};
use serde_json::{Value, json};

fn replay(sandbox: &Sandbox, args: &[&str]) -> Value {
    let finished = ralph(sandbox).arg("replay").args(args).arg("--json").run();
    finished.assert_code(0);
    let document = finished.json();
    Schema::published("ralph.replay/1").assert(&document);
    document
}

/// Goes on for ever, at a quarter of a dollar each.
fn costly() -> Steps {
    let words = format!("Going on.\n\n{}", StatusBlock::in_progress());
    Steps::new()
        .shell("echo x >> work.txt")
        .claude_init()
        .claude_text(&words)
        .claude_result(ClaudeResult::success(&words).cost_usd(0.25).usage(1000, 200))
}

#[test]
fn a_run_decided_again_is_as_recorded() {
    let sandbox = repository();
    let agent = FakeAgent::new("agent")
        .call(says_done())
        .call(Steps::new().write("green", "").status(&StatusBlock::done()))
        .call(says_done())
        .install(&sandbox);
    run(&sandbox, &agent).args(["--test-cmd", TEST]).run().assert_code(0);
    let document = replay(&sandbox, &[]);
    assert_eq!((&document["agrees"], &document["disagreement"]), (&json!(true), &json!(null)));
    assert_eq!(&document["run"], &json!(1));
    let number = |key: &str| document[key].as_u64().expect("a number");
    // Checkpoints are records too, and decide nothing.
    assert_eq!(number("steps") + number("records") / 17, number("records"));
    assert_eq!(document["recorded"]["stop_reason"], "complete");
    let shown = ralph(&sandbox).args(["replay", "1"]).run();
    shown
        .assert_code(0)
        .assert_stdout_has("run 1, 3 iterations, stopped: complete, proved by checks")
        .assert_stdout_has("steps, all as recorded");
}

#[test]
fn a_lower_limit_saves_iterations_and_money() {
    let sandbox = repository();
    let agent = one_call(&sandbox, costly());
    run(&sandbox, &agent).args(["--max-iterations", "4"]).run().assert_code(3);
    let shown = ralph(&sandbox).args(["replay", "--set", "max_iterations=2"]).run();
    shown
        .assert_code(0)
        .assert_stdout_has("run 1, 4 iterations, stopped: 4 of 4 iterations used")
        .assert_stdout_has("under max_iterations=2: stops after iteration 2: 2 of 2 iterations used")
        .assert_stdout_has("first divergence: iteration 2 (#2), record ")
        .assert_stdout_has("  recorded: goes on with work by agent")
        .assert_stdout_has("    run: iteration 3 begins")
        .assert_stdout_has("  replayed: stops, max_iterations")
        .assert_stdout_has("saves 2 iterations, $0.5000, 2,400 tokens");
    let document = replay(&sandbox, &["1", "--set", "budget=0.75"]);
    assert_eq!(
        (&document["result"], &document["replayed"]["stop_reason"]),
        (&json!("stops"), &json!("budget"))
    );
    assert_eq!(
        document["saved"],
        json!({"iterations": 1, "micro_usd": 250_000, "tokens": 1200, "at_least": false})
    );
    let divergence = &document["divergence"];
    assert_eq!(
        (&divergence["run_iteration"], &divergence["recorded"]["verdict"]),
        (&json!(3), &json!("continue"))
    );
    assert_eq!(divergence["replayed"]["verdict"], "halt");
}

#[test]
fn where_the_record_stopped_and_these_rules_do_not_the_cost_cannot_be_known() {
    let sandbox = repository();
    let agent = one_call(&sandbox, says_more());
    run(&sandbox, &agent).run().assert_code(5);
    let shown = ralph(&sandbox).args(["replay", "--profile", "rotations"]).run();
    shown
        .assert_code(0)
        .assert_stdout_has("under profile rotations: goes on after iteration 3")
        .assert_stdout_has("at least 1 more iteration; what that would have cost cannot be known");
    let document = replay(&sandbox, &["--set", "no_progress=warn"]);
    assert_eq!((&document["result"], &document["saved"]["at_least"]), (&json!("goes_on"), &json!(true)));
}

#[test]
fn what_nobody_recorded_cannot_be_told() {
    let sandbox = repository();
    let agent = one_call(&sandbox, says_done());
    run(&sandbox, &agent).args(["--test-cmd", TEST, "--set", "evidence=off"]).run().assert_code(0);
    let finished = ralph(&sandbox).args(["replay", "--profile", "strict"]).run();
    finished
        .assert_code(1)
        .assert_stdout_has("cannot be told: the record does not hold how `if test -e green");
    let document = ralph(&sandbox).args(["replay", "--profile", "strict", "--json"]).run().json();
    Schema::published("ralph.replay/1").assert(&document);
    assert_eq!((&document["result"], &document["saved"]), (&json!("cannot_be_told"), &json!(null)));
}

#[test]
fn the_checks_of_a_run_count_under_a_profile_that_has_none() {
    let sandbox = repository();
    let agent = FakeAgent::new("agent")
        .call(says_done())
        .call(Steps::new().write("green", "").status(&StatusBlock::done()))
        .call(says_done())
        .install(&sandbox);
    run(&sandbox, &agent).args(["--test-cmd", TEST]).run().assert_code(0);
    let document = replay(&sandbox, &["--profile", "analyzer"]);
    assert_eq!((&document["result"], &document["replayed"]["iterations"]), (&json!("stops"), &json!(2)));
    assert_eq!(
        document["remarks"],
        json!(["profile analyzer runs no checks, but the run has one: evidence = required"])
    );
    let document = replay(&sandbox, &["--profile", "analyzer", "--set", "evidence=off"]);
    assert_eq!(document["replayed"]["iterations"], 1);
    let shown = ralph(&sandbox).args(["replay", "--profile", "analyzer", "--set", "evidence=off"]).run();
    shown
        .assert_stdout_has("  recorded: the claim is refused, goes on with work by agent\n")
        .assert_stdout_has("  replayed: the claim is accepted, stops, complete\n");
}

#[test]
fn wrong_usage_names_what_there_is() {
    let sandbox = repository();
    ralph(&sandbox).arg("replay").run().assert_code(64).assert_stderr_has("nothing has been run");
    let agent = one_call(&sandbox, says_more());
    run(&sandbox, &agent).args(["--max-iterations", "1"]).run().assert_code(3);
    ralph(&sandbox).args(["replay", "7"]).run().assert_code(64).assert_stderr_has("runs: 1");
    ralph(&sandbox)
        .args(["replay", "--profile", "strickt"])
        .run()
        .assert_code(64)
        .assert_stderr_has("--profile strict");
    ralph(&sandbox)
        .args(["replay", "--set", "gate=half"])
        .run()
        .assert_code(64)
        .assert_stderr_has("one of dual, explicit, evidence");
}

#[test]
fn a_damaged_journal_is_not_replayed_and_a_torn_one_is() {
    let sandbox = repository();
    sandbox.damages_the_record();
    let agent = one_call(&sandbox, says_more());
    run(&sandbox, &agent).args(["--max-iterations", "2"]).run().assert_code(3);
    let journal = ".git/ralph/runs/0001/journal.jsonl";
    let whole = sandbox.read(journal);
    sandbox.write(journal, &whole[..whole.len() - 10]);
    assert_eq!(replay(&sandbox, &[])["problems"], json!(["the last line is cut off"]));
    sandbox.write(journal, &whole[..100]);
    ralph(&sandbox).arg("replay").run().assert_code(0).assert_stdout_has("run 1 was never begun");
    sandbox.write(journal, whole.replacen("make it green", "make it gone!", 1));
    ralph(&sandbox).arg("replay").run().assert_code(65).assert_stderr_has("checksum");
}

#[test]
fn a_record_that_was_decided_otherwise_disagrees_and_no_sandbox_lets_that_pass() {
    let sandbox = repository();
    let agent = one_call(&sandbox, says_more());
    run(&sandbox, &agent).args(["--max-iterations", "2"]).run().assert_code(3);
    let path = ".git/ralph/runs/0001/journal.jsonl";
    let mut altered = String::new();
    journal::open(sandbox.read(path).as_bytes(), |record, _| {
        let mut record = record.clone();
        if let Body::Step { decision, .. } = &mut record.body
            && decision.concluded.is_some()
        {
            decision.reasons[0].text = "the moon was full".into();
        }
        altered.push_str(&journal::encode(&record));
    });
    sandbox.write(path, altered);

    let finished = ralph(&sandbox).args(["replay", "1"]).run();
    finished
        .assert_code(1)
        .assert_stdout_has("decided again: iteration 1 (#1), record ")
        .assert_stdout_has("comes out otherwise: reasons")
        .assert_stdout_has(concat!("  recorded by version ", env!("CARGO_PKG_VERSION")))
        .assert_stdout_has("    gate: the moon was full")
        .assert_stdout_has("    gate: not done: EXIT_SIGNAL: false");
    let document = ralph(&sandbox).args(["replay", "1", "--json"]).run().json();
    Schema::published("ralph.replay/1").assert(&document);
    assert_eq!(
        (&document["agrees"], &document["disagreement"]["parts"]),
        (&json!(false), &json!(["reasons"]))
    );

    let dropped = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(sandbox)));
    let why = dropped.expect_err("the sandbox objects");
    let why = why.downcast_ref::<String>().expect("with words");
    assert!(why.contains("does not agree with the record of run 1"), "{why}");
}
