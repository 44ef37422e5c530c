//! What an item is judged by is not the agent's to change.

use ralph_testkit::Steps;
use serde_json::json;

use crate::common::history;
use crate::stage::{HARNESS, another, claims, commits, harness, item, item_now, ledger, worker, writes};

fn edit(from: &str, to: &str) -> String {
    format!("sed -i 's/{from}/{to}/' {HARNESS}")
}

#[test]
fn criteria_commands_and_requirements_that_the_agent_changed_refuse_the_pass() {
    for tampering in [
        edit("one.txt is there", "anything"),
        edit("test -e one.txt", "true"),
        "echo '{}' > .claude/prd/FEAT-1.json".into(),
    ] {
        let mut first = item("FEAT-1", "one.txt");
        first["prd_reference"] = json!({"file": "FEAT-1.json"});
        let sandbox = harness(&[first]);
        let prd = json!({"feature_id": "FEAT-1", "title": "t", "overview": "o", "functional_requirements": ["FR-1: a"],
            "acceptance_criteria": ["AC-1: b"]});
        sandbox.write(".claude/prd/FEAT-1.json", prd.to_string());
        sandbox.commit_all("requirements");
        let agent = another(&sandbox).call(claims(writes("one.txt").shell(&tampering))).install(&sandbox);
        let finished = worker(&sandbox, &agent).run();
        finished.assert_code(3).assert_stderr_has("the agent changed the criteria of FEAT-1");
        assert_eq!(
            (&item_now(&sandbox, "FEAT-1")["status"], commits(&sandbox)),
            (&json!("FAILING"), 3),
            "{tampering}"
        );
        assert_eq!(ledger(&sandbox)[0]["result"], "FAILED");
        let prompt = &agent.calls(&sandbox)[0].prompt;
        assert!(prompt.contains("AC-1: b"), "{prompt}");
    }
}

#[test]
fn a_harness_script_that_the_agent_changed_refuses_the_pass() {
    let sandbox = harness(&[item("FEAT-1", "one.txt")]);
    sandbox.write(".claude/harness/rules.md", "rules\n");
    sandbox.commit_all("rules");
    let agent = another(&sandbox)
        .call(claims(writes("one.txt").append(".claude/harness/rules.md", "but not for me\n")))
        .install(&sandbox);
    worker(&sandbox, &agent).run().assert_code(3).assert_stderr_has("rules.md");
}

#[test]
fn existing_tests_that_were_changed_or_deleted_are_flagged_and_new_ones_are_not() {
    let sandbox = harness(&[item("FEAT-1", "one.txt")]);
    sandbox.write("tests/a_test.py", "def test_a(): pass\n");
    sandbox.write("tests/b_test.py", "def test_b(): pass\n");
    sandbox.commit_all("tests");
    let steps = writes("one.txt")
        .delete("tests/a_test.py")
        .append("tests/b_test.py", "# easier\n")
        .write("tests/c_test.py", "new\n");
    let agent = another(&sandbox).call(claims(steps)).install(&sandbox);
    let finished = worker(&sandbox, &agent).run();
    finished
        .assert_code(0)
        .assert_stderr_has("existing tests were changed: tests/a_test.py, tests/b_test.py");
    finished.assert_stderr_lacks("c_test.py, ");
    assert_eq!(
        ledger(&sandbox)[0]["custody"]["existing_tests_changed"],
        json!(["tests/a_test.py", "tests/b_test.py"])
    );
}

#[test]
fn an_item_that_the_agent_adds_is_worked_on_but_its_commands_need_a_person() {
    let sandbox = harness(&[item("FEAT-1", "one.txt")]);
    let mut added = item("FEAT-9", "nine.txt");
    added["verification"] = json!(["touch pwned; true"]);
    let with =
        serde_json::to_string_pretty(&json!({"items": [item("FEAT-1", "one.txt"), added]})).expect("JSON");
    let agent = another(&sandbox)
        .call(claims(writes("one.txt").write(HARNESS, with)))
        .call(claims(writes("nine.txt")))
        .install(&sandbox);
    let finished = worker(&sandbox, &agent).arg("--all").run();
    finished.assert_code(2).assert_stderr_has("FEAT-9").assert_stderr_has("nobody has agreed to");
    assert_eq!(item_now(&sandbox, "FEAT-1")["status"], "PASSING");
    assert!(!sandbox.exists("pwned"));
    assert_eq!(history(&sandbox).len(), 1, "and no agent was spent on it");
    // Whoever says yes has read them.
    let agent = another(&sandbox).call(claims(writes("nine.txt"))).install(&sandbox);
    worker(&sandbox, &agent).run().assert_code(0);
}

#[test]
fn a_claim_that_reports_more_than_was_measured_is_told_so() {
    let sandbox = harness(&[item("FEAT-1", "one.txt")]);
    let agent = another(&sandbox).call(claims(Steps::new().write("one.txt", ""))).install(&sandbox);
    worker(&sandbox, &agent).run().assert_code(0).assert_stderr_has("FILES_MODIFIED: 2, and 1 file changed");
}
