//! Seed 003's rows that a person reads: what a run says where evidence alone decides, what its commit tells, limits and evidence.

use ralph_testkit::{Sandbox, StatusBlock, Steps, Terminal};
use serde_json::{Value, json};

use crate::common::{history, ralph};
use crate::stage::{HARNESS, another, harness, item, item_now, worker, write_items, writes};

const AT_LIMIT: &str = "Max iterations reached, human review required";

/// Says what it did, that more is to do, and what is next; it counts no task as done.
fn says_no_word_of_done(steps: Steps, did: &str) -> Steps {
    let block = StatusBlock {
        tasks: 0,
        tests: "NOT_RUN".into(),
        recommendation: "Next: look at the rest of the list".into(),
        ..StatusBlock::in_progress()
    };
    steps.say(format!("{did}\n\nNext steps: look at the rest of the list.\n")).status(&block)
}

fn at_limit(id: &str, proof: &str) -> Value {
    let mut item = item(id, proof);
    item["ralph_loop"]["current_iteration"] = 3.into();
    item
}

#[track_caller]
fn claims_nothing(place: &str, text: &str) {
    for word in ["claims done", "claimed done", "said done", "done: words", "claimed   done"] {
        assert!(!text.contains(word), "{place} has '{word}': {text}");
    }
}

#[test]
fn where_evidence_alone_decides_nothing_says_that_the_agent_claimed_done() {
    let sandbox = harness(&[item("FEAT-1", "one.txt")]);
    let agent = another(&sandbox)
        .call(says_no_word_of_done(writes("wrong.txt"), "I made a file."))
        .call(says_no_word_of_done(writes("one.txt"), "I made the right file."))
        .call(writes("unheard.txt"))
        .install(&sandbox);
    let failed = worker(&sandbox, &agent).run();
    failed
        .assert_code(3)
        .assert_stderr_has("judged by evidence alone (the agent: not done: EXIT_SIGNAL: false)")
        .assert_stderr_has(": NOT PASSED")
        .assert_stderr_has("✗ not done: test -e one.txt exit 1");
    let passed = worker(&sandbox, &agent).run();
    passed.assert_code(0).assert_stderr_has(": PASSED");
    let shown = |args: &[&str]| ralph(&sandbox).args(args).run().stdout;
    for (place, text) in [
        ("the screen", &failed.stderr),
        ("the screen", &passed.stderr),
        ("history", &shown(&["history"])),
        ("history --json", &shown(&["history", "--json"])),
        ("evidence show", &shown(&["evidence", "show"])),
        ("status", &shown(&["status"])),
        ("session.md", &sandbox.read(".ralph/session.md")),
        ("iteration-001.md", &sandbox.read(".ralph/history/iteration-001.md")),
        ("the next prompt", &agent.calls(&sandbox)[1].prompt),
        ("the commit", &sandbox.git(&["log", "-1", "--format=%B"])),
    ] {
        claims_nothing(place, text);
    }
    assert!(agent.calls(&sandbox)[1].prompt.contains("# The last attempt did not pass"));
    let results: Vec<Value> = history(&sandbox).iter().map(|entry| entry["result"].clone()).collect();
    assert_eq!(results, ["NOT PASSED", "PASSED"]);
}

#[test]
fn the_body_of_a_commit_tells_what_was_changed_and_not_what_is_next() {
    let sandbox = harness(&[item("FEAT-1", "one.txt")]);
    let work = writes("one.txt").write("src/deep.rs", "fn deep() {}\n");
    let agent = another(&sandbox)
        .call(says_no_word_of_done(work, "I added one.txt and the function that reads it."))
        .install(&sandbox);
    worker(&sandbox, &agent).run().assert_code(0);
    let body = sandbox.git(&["log", "-1", "--format=%b"]);
    let told = "The agent says: I added one.txt and the function that reads it.\n\nChanged: one.txt, src/deep.rs\n\n\
                Verification:\n- test -e one.txt exit 0\n";
    assert!(body.starts_with(told), "{body}");
    assert!(!body.contains("Next") && !body.contains("rest of the list"), "{body}");
}

#[test]
fn a_failed_attempt_is_recorded_whole_counted_and_taken_back_and_the_item_stays_failing() {
    let sandbox = harness(&[item("FEAT-1", "one.txt")]);
    let agent =
        another(&sandbox).call(says_no_word_of_done(writes("wrong.txt"), "I tried it.")).install(&sandbox);
    let failed = worker(&sandbox, &agent).run();
    failed.assert_code(3).assert_stderr_has("✗ ITEM NOT PROVED");
    let now = item_now(&sandbox, "FEAT-1");
    assert_eq!((&now["status"], &now["ralph_loop"]["current_iteration"]), (&json!("FAILING"), &json!(1)));
    let attempt = &now["attempts"][0];
    assert_eq!(
        (&attempt["result"], &attempt["commit"], &attempt["reverted"]),
        (&json!("FAILED"), &Value::Null, &json!(true))
    );
    assert_eq!(attempt["evidence"]["commands_run"], json!(["test -e one.txt"]));
    assert_eq!(attempt["files_changed"], json!(["wrong.txt"]));
    let summary = attempt["evidence"]["results_summary"].as_str();
    assert!(summary.is_some_and(|text| text.contains("exit 1")), "{attempt}");
    assert!(attempt["failure_reason"].as_str().is_some_and(|text| text.contains("exit 1")), "{attempt}");
    assert!(attempt["run_id"].as_str().is_some_and(|id| id.ends_with("/1")), "{attempt}");
    let moment = attempt["timestamp"].as_str().expect("a time").as_bytes();
    assert!(moment.len() >= 20 && moment[10] == b'T' && moment.ends_with(b"Z"), "{attempt}");
    assert!(!sandbox.exists("wrong.txt"), "the code went back");
    ralph(&sandbox).args(["backlog", "validate"]).run().assert_code(0);
    assert_eq!(
        ralph(&sandbox).args(["backlog", "next"]).run().json()["selected"]["id"],
        "FEAT-1",
        "ready for the next call"
    );
}

#[test]
fn the_prompt_has_the_whole_prd_or_else_the_item_s_own_criteria() {
    let mut first = item("FEAT-1", "one.txt");
    first["prd_reference"] =
        json!({"file": "FEAT-1.json", "last_updated": "2026-01-07T00:00:00Z", "version": "1.0.0"});
    let sandbox = harness(&[first, item("FEAT-2", "two.txt")]);
    let prd = json!({"feature_id": "FEAT-1", "title": "Storing", "overview": "Notes are kept on disk, for good.",
        "functional_requirements": ["FR-1: a file"], "acceptance_criteria": ["AC-1: it holds a note"],
        "constraints": ["no cloud"], "nonfunctional_requirements": ["within 50 ms"]});
    sandbox.write(".claude/prd/FEAT-1.json", prd.to_string());
    sandbox.commit_all("requirements");
    let agent = another(&sandbox).call(writes("one.txt")).call(writes("two.txt")).install(&sandbox);
    worker(&sandbox, &agent).run().assert_code(0);
    worker(&sandbox, &agent).run().assert_code(0);
    let prompts: Vec<String> = agent.calls(&sandbox).into_iter().map(|call| call.prompt).collect();
    let parts = ["kept on disk", "FR-1: a file", "AC-1: it holds a note", "no cloud", "within 50 ms"];
    for part in parts {
        assert!(prompts[0].contains(part), "'{part}' in {}", prompts[0]);
        assert!(!prompts[1].contains(part), "'{part}' is another item's: {}", prompts[1]);
    }
    assert!(prompts[1].contains("Acceptance criteria:\n- two.txt is there"), "{}", prompts[1]);
}

#[test]
fn an_item_that_is_found_at_its_limit_is_blocked_with_the_note_and_next_and_run_agree() {
    let waits = |id: &str, on: &str| {
        let mut item = item(id, "never.txt");
        item["dependencies"] = json!([on]);
        item
    };
    let next = |sandbox: &Sandbox, reason: &str| {
        let next = ralph(sandbox).args(["backlog", "next", "--json"]).run();
        next.assert_code(2);
        assert_eq!((next.json()["reason"].as_str(), &next.json()["success"]), (Some(reason), &json!(false)));
        next.json()
    };
    for (items, before, after) in [
        (vec![at_limit("FEAT-1", "one.txt")], "at_limit", "blocked"),
        (
            vec![at_limit("FEAT-1", "one.txt"), waits("FEAT-2", "FEAT-1"), waits("FEAT-3", "FEAT-2")],
            "waiting_at_limit",
            "waiting_at_limit",
        ),
    ] {
        let sandbox = harness(&items);
        let agent = another(&sandbox).call(writes("one.txt")).install(&sandbox);
        assert_eq!(next(&sandbox, before)["at_limit"], json!(["FEAT-1"]));
        let run = worker(&sandbox, &agent).run();
        run.assert_code(2).assert_stderr_has("a person has to look: FEAT-1");
        assert!(agent.calls(&sandbox).is_empty(), "nothing is spent on it");
        let now = item_now(&sandbox, "FEAT-1");
        assert_eq!((now["status"].as_str(), now["notes"].as_str()), (Some("BLOCKED"), Some(AT_LIMIT)));
        assert_eq!(now["ralph_loop"]["current_iteration"], 3, "the count stays as it is");
        next(&sandbox, after);
        worker(&sandbox, &agent).run().assert_code(2).assert_stderr_lacks("a person has to look");
        // A person gives it new iterations.
        ralph(&sandbox).args(["backlog", "reset", "FEAT-1"]).run().assert_code(0);
        let now = item_now(&sandbox, "FEAT-1");
        assert_eq!((now["status"].as_str(), now["notes"].as_str()), (Some("FAILING"), Some("")));
        ralph(&sandbox).args(["backlog", "next"]).run().assert_code(0);
    }
    // Others are worked on meanwhile.
    let sandbox = harness(&[at_limit("FEAT-1", "one.txt"), item("FEAT-2", "two.txt")]);
    let agent = another(&sandbox).call(writes("two.txt")).install(&sandbox);
    worker(&sandbox, &agent).run().assert_code(0);
    let states = ["FEAT-1", "FEAT-2"].map(|id| item_now(&sandbox, id)["status"].clone());
    assert_eq!(states, ["BLOCKED", "PASSING"]);
}

#[test]
fn next_prints_json_in_a_pipe_and_text_on_a_terminal() {
    let sandbox = harness(&[item("FEAT-1", "one.txt")]);
    let piped = ralph(&sandbox).args(["backlog", "next"]).run();
    piped.assert_code(0);
    let selected = &piped.json()["selected"];
    assert_eq!((selected["id"].as_str(), selected["title"].as_str()), (Some("FEAT-1"), Some("make one.txt")));
    let on_terminal = |args: &[&str]| {
        let mut terminal =
            Terminal::start(&ralph(&sandbox).args(["backlog", "next"]).args(args).into_command());
        assert_eq!(terminal.wait(), 0);
        terminal.all_output()
    };
    let shown = on_terminal(&[]);
    assert!(shown.contains("FEAT-1") && shown.contains("make one.txt") && !shown.contains('{'), "{shown}");
    assert!(on_terminal(&["--json"]).contains("\"dependency_check\""));
}

#[test]
fn an_item_that_passed_without_a_change_has_evidence_that_validates() {
    let sandbox = harness(&[item("FEAT-1", "README.md"), item("FEAT-2", "two.txt")]);
    let agent = another(&sandbox)
        .call(says_no_word_of_done(Steps::new(), "It is there already."))
        .call(says_no_word_of_done(writes("two.txt"), "I made it."))
        .install(&sandbox);
    worker(&sandbox, &agent).run().assert_code(0);
    worker(&sandbox, &agent).run().assert_code(0);
    let now = item_now(&sandbox, "FEAT-1");
    assert_eq!((now["status"].as_str(), &now["attempts"][0]["commit"]), (Some("PASSING"), &Value::Null));
    assert_eq!(now["attempts"][0]["files_changed"], json!([]));
    for args in [&["validate"][..], &["validate", "--strict"], &["validate", "FEAT-1", "--strict"]] {
        ralph(&sandbox).arg("backlog").args(args).run().assert_code(0);
    }
    // One that changed something has to name its commit.
    let list = sandbox.read(HARNESS);
    let commit = item_now(&sandbox, "FEAT-2")["attempts"][0]["commit"].as_str().expect("a commit").to_owned();
    sandbox.write(HARNESS, list.replace(&format!("\"{commit}\""), "null"));
    let strict = ralph(&sandbox).args(["backlog", "validate", "--strict"]).run();
    strict.assert_code(1).assert_stdout_has("FEAT-2: its newest attempt names no commit");
}

#[test]
fn only_what_is_enabled_and_failing_is_selected_and_five_iterations_are_the_limit_where_none_is_named() {
    let sandbox = Sandbox::new();
    let document = |code: i32, args: &[&str]| {
        let finished = ralph(&sandbox).arg("backlog").args(args).arg("--json").run();
        finished.assert_code(code);
        finished.json()
    };
    let item = |id: &str, status: &str, enabled: bool, used: u64| {
        json!({"id": id, "title": id, "status": status, "priority": 1, "notes": "",
            "ralph_loop": {"enabled": enabled, "current_iteration": used}})
    };
    let items = [
        item("A-OFF", "FAILING", false, 0),
        item("B-DONE", "PASSING", true, 0),
        item("C-BAD", "BLOCKED", true, 0),
        item("D-OVER", "CANCELLED", true, 0),
        json!({"id": "E-BARE", "title": "e", "status": "FAILING", "priority": 1}),
        item("F-OPEN", "FAILING", true, 4),
    ];
    sandbox.write("feature_list.json", json!({ "items": items }).to_string());
    assert_eq!(document(0, &["next"])["selected"]["id"], "F-OPEN");
    let told = document(0, &["increment", "F-OPEN"]);
    assert_eq!((&told["current_iteration"], &told["status"]), (&json!(5), &json!("FAILING")));
    assert_eq!(document(2, &["next"])["at_limit"], json!(["F-OPEN"]));
}

#[test]
fn each_of_the_five_rules_of_evidence_is_told_with_its_item() {
    let whole = json!({"run_id": "worker-001", "timestamp": "2026-01-07T19:30:00Z", "result": "PASSED",
        "evidence": {"commands_run": ["make"], "results_summary": "fine"}, "commit": null, "reverted": false});
    let sandbox = harness(&[]);
    let rules = |attempts: Vec<Value>| -> Vec<String> {
        let mut passing = item("FEAT-1", "one.txt");
        passing["status"] = json!("PASSING");
        passing["attempts"] = json!(attempts);
        write_items(&sandbox, &[passing]);
        let found = ralph(&sandbox).args(["backlog", "validate", "--json"]).run().json();
        let of = |one: &Value| {
            format!("{} {}", one["id"].as_str().unwrap_or("-"), one["rule"].as_str().unwrap_or("-"))
        };
        found["findings"].as_array().expect("a list").iter().map(of).collect()
    };
    assert_eq!(rules(vec![whole.clone()]), [""; 0]);
    assert_eq!(rules(vec![]), ["FEAT-1 passed_attempt"]);
    for (pointer, value, rule) in [
        ("/evidence/commands_run", json!([]), "commands_run"),
        ("/evidence/results_summary", json!(""), "results_summary"),
        ("/timestamp", Value::Null, "timestamp"),
        ("/timestamp", json!("yesterday"), "timestamp"),
        ("/run_id", json!(""), "run_id"),
    ] {
        let mut lacking = whole.clone();
        *lacking.pointer_mut(pointer).expect("a field") = value;
        assert_eq!(rules(vec![lacking]), [format!("FEAT-1 {rule}")], "{pointer}");
    }
}
