//! What an item is judged by is not the agent's to change.

use ralph_testkit::{Sandbox, Steps};
use serde_json::{Value, json};

use crate::common::{history, ralph, repository};
use crate::stage::{
    HARNESS, another, checklist, claims, commits, committed, files_of, harness, item, item_now, ledger,
    turns_green, two_items, worker, works_through, write_items, writer, writes,
};

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
        assert_eq!(item_now(&sandbox, "FEAT-1")["verification"], json!(["test -e one.txt"]), "{tampering}");
        assert_eq!(sandbox.read(".claude/prd/FEAT-1.json"), prd.to_string());
        let prompt = &agent.calls(&sandbox)[0].prompt;
        assert!(prompt.contains("AC-1: b"), "{prompt}");
    }
}

/// Weakens the item in the task file, adds a file, and commits all of it.
fn weakens_in_a_commit() -> Steps {
    let weaken = edit("test -e one.txt", "true");
    Steps::new().shell(&weaken).write("x.txt", "x\n").shell("git add -A; git commit --quiet -m weak")
}

fn head_s_criteria(sandbox: &Sandbox) -> Value {
    let file: Value = serde_json::from_str(&committed(sandbox, HARNESS)).expect("JSON");
    file["items"][0]["verification"].clone()
}

#[test]
fn criteria_that_the_agent_weakened_in_its_own_commit_do_not_stay_in_head() {
    let said = format!("HEAD has them as before its commits: {HARNESS}");
    for keep in [false, true] {
        let sandbox = two_items();
        let agent = another(&sandbox).call(claims(weakens_in_a_commit())).install(&sandbox);
        let set = if keep { "failed_item=keep" } else { "failed_item=revert" };
        let finished = worker(&sandbox, &agent).args(["--set", set]).run();
        finished.assert_code(3).assert_stderr_has("the agent changed the criteria of FEAT-1");
        finished.assert_stderr_has(&said);
        assert_eq!(head_s_criteria(&sandbox), json!(["test -e one.txt"]), "{set}");
        let mut undone = vec![format!("M {HARNESS}"), "D .harness.lock".into()];
        undone.extend((!keep).then(|| "D x.txt".into()));
        assert_eq!(files_of(&sandbox, "HEAD"), undone, "nothing else, and no record of ralph's");
        assert_eq!(sandbox.git(&["diff", "--name-only", "HEAD~2", "HEAD"]), if keep { "x.txt" } else { "" });
        assert!(sandbox.git(&["log", "-1", "--format=%s"]).starts_with("revert: FEAT-1 - "));
        assert_eq!(sandbox.git(&["status", "--porcelain"]), format!(" M {HARNESS}"));
        let page = sandbox.read(".ralph/history/iteration-001.md");
        assert!(page.contains(&said), "{page}");
        // Who takes the file from HEAD has what it was.
        sandbox.git(&["checkout", "--quiet", "--", HARNESS]);
        let lazy = another(&sandbox).call(claims(Steps::new())).install(&sandbox);
        worker(&sandbox, &lazy).run().assert_code(3).assert_stderr_has("test -e one.txt exit 1");
    }
}

#[test]
fn criteria_that_are_weak_in_a_commit_alone_refuse_the_pass() {
    let sandbox = two_items();
    let steps = weakens_in_a_commit().shell(&format!("git checkout --quiet HEAD~1 -- {HARNESS}"));
    let agent = another(&sandbox).call(claims(steps.write("one.txt", "1\n"))).install(&sandbox);
    let finished = worker(&sandbox, &agent).run();
    finished.assert_code(3).assert_stderr_has(&format!("the agent changed {HARNESS} in a commit"));
    assert_eq!(head_s_criteria(&sandbox), json!(["test -e one.txt"]));
    let record = &ledger(&sandbox)[0];
    assert_eq!(record["custody"]["changed"], json!([HARNESS]), "{record}");
}

#[test]
fn harness_and_requirements_that_an_agent_committed_are_as_before_in_head_and_the_user_s_edit_is_not_committed()
 {
    let sandbox = two_items();
    let mut asks = item("FEAT-1", "one.txt");
    asks["prd_reference"] = json!({"file": "one.json"});
    write_items(&sandbox, &[asks]);
    let prd = |asked: &str| {
        json!({"feature_id": "FEAT-1", "title": "t", "overview": "o", "functional_requirements": ["FR-1: a"],
            "acceptance_criteria": [asked]})
        .to_string()
    };
    sandbox.write(".claude/prd/one.json", prd("AC-1: it is there"));
    sandbox.write(".claude/harness/rules.md", "be exact\n");
    sandbox.commit_all("requirements");
    sandbox.write(".claude/prd/one.json", prd("AC-1: the user thinks"));
    let steps = Steps::new()
        .write(".claude/prd/one.json", prd("AC-1: whatever"))
        .write(".claude/harness/rules.md", "be kind\n")
        .write(".claude/harness/notes.md", "tried\n")
        .write("one.txt", "1\n")
        .shell("git add -A; git commit --quiet -m all");
    let agent = another(&sandbox).call(claims(steps)).install(&sandbox);
    let finished = worker(&sandbox, &agent).run();
    finished.assert_code(3);
    assert_eq!(committed(&sandbox, ".claude/prd/one.json"), prd("AC-1: it is there"));
    assert_eq!(committed(&sandbox, ".claude/harness/rules.md"), "be exact");
    assert_eq!(sandbox.read(".claude/prd/one.json"), prd("AC-1: the user thinks"));
    assert_eq!(committed(&sandbox, ".claude/harness/notes.md"), "tried", "what it learnt stays");
    let status = sandbox.git(&["status", "--porcelain"]);
    assert_eq!(status, format!(" M {HARNESS}\n M .claude/prd/one.json"));
}

#[test]
fn where_ralph_makes_no_commits_criteria_in_an_agent_s_commit_are_named() {
    let sandbox = two_items();
    let agent = another(&sandbox).call(claims(weakens_in_a_commit())).install(&sandbox);
    let kept = ["--set", "failed_item=keep", "--set", "commits=never"];
    let finished = worker(&sandbox, &agent).args(kept).run();
    finished.assert_code(3).assert_stderr_has(&format!("stays in HEAD: {HARNESS} (ralph makes no commits"));
    assert_eq!(sandbox.git(&["log", "-1", "--format=%s"]), "weak");
}

#[test]
fn a_harness_script_that_the_agent_changed_refuses_the_pass() {
    let sandbox = harness(&[item("FEAT-1", "one.txt")]);
    sandbox.write(".claude/harness/rules.md", "rules\n");
    sandbox.commit_all("rules");
    let agent = another(&sandbox)
        .call(claims(writes("one.txt").append(".claude/harness/rules.md", "but not for me\n")))
        .install(&sandbox);
    worker(&sandbox, &agent).run().assert_code(3).assert_stderr_has("rules.md").assert_stderr_has("put back");
    assert_eq!(sandbox.read(".claude/harness/rules.md"), "rules\n", "or the next attempt would pass");
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

/// A worker whose first agent does this beside its work, and whose second one does the work alone.
fn harmed(tampering: &str, says: &str) {
    harmed_by(|steps| steps.shell(tampering), says);
}

/// The same, with the items written anew.
fn rewritten(edit: impl Fn(&mut Vec<Value>), says: &str) {
    let mut items = vec![item("FEAT-1", "one.txt"), item("FEAT-2", "two.txt")];
    edit(&mut items);
    harmed_by(|steps| steps.write(HARNESS, json!({"items": items}).to_string()), says);
}

fn harmed_by(tampers: impl Fn(Steps) -> Steps, says: &str) {
    let sandbox = two_items();
    let before = item_now(&sandbox, "FEAT-2");
    let agent = another(&sandbox)
        .call(claims(tampers(writes("one.txt"))))
        .call(claims(writes("one.txt")))
        .install(&sandbox);
    let refused = worker(&sandbox, &agent).run();
    refused.assert_code(3).assert_stderr_has("✗ claimed done, refused: ").assert_stderr_has(says);
    refused.assert_stderr_has("the backlog is put back as it was before the attempt");
    assert_eq!(item_now(&sandbox, "FEAT-2"), before, "{says}");
    let own = item_now(&sandbox, "FEAT-1");
    assert_eq!((&own["status"], &own["ralph_loop"]["current_iteration"]), (&json!("FAILING"), &json!(1)));
    assert_eq!(own["attempts"].as_array().map(Vec::len), Some(1), "the attempt counts");
    assert_eq!(ledger(&sandbox)[0]["result"], "FAILED");
    worker(&sandbox, &agent).run().assert_code(0);
}

#[test]
fn an_agent_that_removes_cancels_weakens_or_renames_another_item_is_refused_and_it_is_put_back() {
    rewritten(|items| items.truncate(1), "the agent removed FEAT-2");
    rewritten(|items| items[1]["status"] = json!("CANCELLED"), "the agent changed FEAT-2 (state)");
    rewritten(|items| items[1]["verification"] = json!([]), "the agent changed FEAT-2 (verification)");
    rewritten(|items| items[1]["title"] = json!("easier"), "the agent changed FEAT-2 (title)");
    rewritten(|items| items[1]["id"] = json!("FEAT-3"), "the agent removed FEAT-2");
    harmed(&format!("rm {HARNESS}"), "the agent deleted the backlog");
}

#[test]
fn the_counts_of_an_item_are_not_the_agent_s_to_edit() {
    let looping =
        |items: &mut Vec<Value>, at: usize, key: &str, n: u64| items[at]["ralph_loop"][key] = json!(n);
    rewritten(|items| looping(items, 1, "current_iteration", 2), "FEAT-2 (its iterations)");
    rewritten(|items| looping(items, 0, "max_iterations", 300), "FEAT-1 (its iterations)");
    rewritten(|items| items[0]["attempts"] = json!([{"result": "PASSED"}]), "FEAT-1 (attempts)");
    // A count that is set back while nobody looks is not believed either.
    let sandbox = harness(&[item("FEAT-1", "one.txt")]);
    let agent = another(&sandbox).call(claims(writes("wrong.txt"))).install(&sandbox);
    worker(&sandbox, &agent).run().assert_code(3).assert_stderr_has("(attempt 1/3)");
    write_items(&sandbox, &[item("FEAT-1", "one.txt")]);
    worker(&sandbox, &agent).run().assert_code(3).assert_stderr_has("(attempt 2/3)");
    // Whatever it edits and whatever it claims, it has its attempts and no more.
    let sandbox = harness(&[item("FEAT-1", "one.txt")]);
    let zero = "sed -i 's/\"current_iteration\": [0-9]*/\"current_iteration\": 0/' .claude/harness/feature_list.json";
    let agent = another(&sandbox).call(claims(writes("wrong.txt").shell(zero))).install(&sandbox);
    worker(&sandbox, &agent).arg("--all").run().assert_code(2);
    assert_eq!(agent.calls(&sandbox).len(), 3);
    assert_eq!(item_now(&sandbox, "FEAT-1")["status"], "BLOCKED");
}

#[test]
fn requirements_of_other_items_are_put_back_too() {
    let mut second = item("FEAT-2", "two.txt");
    second["prd_reference"] = json!({"file": "FEAT-2.json"});
    let sandbox = harness(&[item("FEAT-1", "one.txt"), second]);
    let prd = json!({"feature_id": "FEAT-2", "title": "title", "overview": "o", "functional_requirements": ["FR-1: a"],
        "acceptance_criteria": ["AC-1: b"]});
    sandbox.write(".claude/prd/FEAT-2.json", prd.to_string());
    sandbox.commit_all("requirements");
    let easier = "sed -i 's/AC-1: b/AC-1/' .claude/prd/FEAT-2.json";
    let agent = another(&sandbox).call(claims(writes("one.txt").shell(easier))).install(&sandbox);
    worker(&sandbox, &agent)
        .run()
        .assert_code(3)
        .assert_stderr_has("the agent changed .claude/prd/FEAT-2.json");
    assert_eq!(sandbox.read(".claude/prd/FEAT-2.json"), prd.to_string());
}

#[test]
fn other_formats_are_looked_after_as_well() {
    let sandbox = checklist();
    let agent =
        another(&sandbox).call(claims(writes("a").shell("sed -i '/second/d' fix_plan.md"))).install(&sandbox);
    let run = works_through(&sandbox, &agent).args(["--once", "--test-cmd", "true"]).run();
    run.assert_code(3).assert_stderr_has("the agent removed ");
    assert_eq!(sandbox.read("fix_plan.md"), "# Plan\n\n- [/] first thing\n- [ ] second thing\n");

    let sandbox = repository();
    let tasks = "tasks:\n  - id: T-1\n    title: one\n    status: todo\n  - id: T-2\n    title: two\n    status: todo\n";
    sandbox.write(".ralph/ralph.yml", tasks);
    let agent = another(&sandbox)
        .call(claims(
            writes("a").shell("sed -i '/T-2/,$d' .ralph/ralph.yml; echo '  - id: T-9' >> .ralph/ralph.yml"),
        ))
        .install(&sandbox);
    let run = works_through(&sandbox, &agent).args(["--once", "--test-cmd", "true"]).run();
    run.assert_code(3).assert_stderr_has("the agent removed T-2").assert_stderr_has("went with it: T-9");
    assert_eq!(sandbox.read(".ralph/ralph.yml"), tasks.replacen("todo", "in-progress", 1));
}

#[test]
fn a_check_that_edits_the_backlog_while_it_runs_changes_nothing() {
    let mut first = item("FEAT-1", "one.txt");
    first["verification"] = json!([format!("test -e one.txt && sed -i 's/\"FEAT-2\"/\"GONE\"/' {HARNESS}")]);
    let sandbox = harness(&[first, item("FEAT-2", "two.txt")]);
    let agent = another(&sandbox).call(claims(writes("one.txt"))).install(&sandbox);
    let finished = worker(&sandbox, &agent).run();
    finished
        .assert_code(0)
        .assert_stderr_has("the backlog was changed while the checks ran, and is put back");
    assert_eq!(
        (&item_now(&sandbox, "FEAT-1")["status"], &item_now(&sandbox, "FEAT-2")["status"]),
        (&json!("PASSING"), &json!("FAILING"))
    );
}

#[test]
fn while_a_run_works_through_a_file_only_its_agents_and_new_items_get_into_it() {
    let sandbox = two_items();
    sandbox.write("other.json", json!({"items": [item("FEAT-1", "x")]}).to_string());
    sandbox.commit_all("another");
    let agent = another(&sandbox).call(claims(writes("one.txt").reach("agent").hold("go"))).install(&sandbox);
    let running = worker(&sandbox, &agent).spawn();
    sandbox.wait_for("agent");
    let before = sandbox.read(HARNESS);
    let backlog = |args: &[&str]| ralph(&sandbox).arg("backlog").args(args).run();
    let attempt = ["attempt", "FEAT-2", "PASSED", "--commands", "true", "--summary", "fine"];
    for args in [&["set", "FEAT-2", "blocked"][..], &attempt, &["increment", "FEAT-2"], &["reset", "FEAT-2"]]
    {
        let refused = backlog(args);
        refused.assert_code(1).assert_stderr_has(&format!("a run is going on here (pid {})", running.id()));
        refused.assert_stderr_has("ralph stop").assert_stderr_has("ralph note");
        assert_eq!(sandbox.read(HARNESS), before, "{args:?}");
    }
    // Another file is nobody's business, unless the ledger is written for it.
    backlog(&["increment", "FEAT-1", "--backlog", "other.json"]).assert_code(0);
    backlog(&["reset", "FEAT-1", "--backlog", "other.json"]).assert_code(1);
    let ticks = ralph(&sandbox).args(["backlog", "increment", "FEAT-2"]).env("RALPH_RUN_ID", "another");
    ticks.run().assert_code(1);
    // Wherever ralph is called, and by whatever name the file goes.
    let file = sandbox.project().join(HARNESS);
    let elsewhere = sandbox.root().join("elsewhere");
    std::fs::create_dir_all(&elsewhere).expect("a folder");
    std::os::unix::fs::symlink(&file, elsewhere.join("linked.json")).expect("a link");
    std::os::unix::fs::symlink(sandbox.project(), elsewhere.join("project")).expect("a link");
    let through = format!("project/{HARNESS}");
    for name in [file.to_str().expect("a path"), "linked.json", &through] {
        let from = ralph(&sandbox)
            .in_folder(elsewhere.to_str().expect("a path"))
            .args(["backlog", "increment", "FEAT-2", "--backlog", name]);
        from.run().assert_code(1).assert_stderr_has(&format!(" (pid {})", running.id()));
    }
    backlog(&["add", "one more", "--id", "FEAT-9"]).assert_code(0);
    sandbox.release("go");
    running.wait().assert_code(0);
    assert_eq!(item_now(&sandbox, "FEAT-9")["title"], "one more", "it is kept");
    assert_eq!(item_now(&sandbox, "FEAT-1")["status"], "PASSING");
    backlog(&["increment", "FEAT-2"]).assert_code(0);
}

#[test]
fn an_agent_that_uses_the_backlog_commands_is_judged_by_what_they_did() {
    let sandbox = checklist();
    let tick = format!("{} backlog set 'first thing' done", env!("CARGO_BIN_EXE_ralph"));
    let agent = another(&sandbox).call(claims(writes("a").shell(&tick))).install(&sandbox);
    let run = works_through(&sandbox, &agent).args(["--once", "--test-cmd", "true"]).run();
    run.assert_code(0);
    assert_eq!(sandbox.read("fix_plan.md"), "# Plan\n\n- [x] first thing\n- [ ] second thing\n");
}

#[test]
fn what_an_agent_did_to_the_backlog_is_put_back_whatever_its_iteration_came_to() {
    let sandbox = two_items();
    let limited = "sed -i 's/FEAT-2/GONE/' .claude/harness/feature_list.json; echo 'Invalid API key' >&2";
    let agent = another(&sandbox).call(Steps::new().shell(limited).exit(1)).install(&sandbox);
    let finished = worker(&sandbox, &agent).run();
    assert_ne!(finished.code, 0);
    assert_eq!(item_now(&sandbox, "FEAT-2")["status"], "FAILING");
}

/// A checklist whose test is a target of the Makefile.
fn with_makefile() -> Sandbox {
    let sandbox = checklist();
    // As make would for these few lines.
    let make = "#!/bin/sh\nsh -c \"$(sed -n '/^'$1':/{n;p;}' Makefile)\"\n";
    sandbox.install_script("make", make);
    sandbox.write("Makefile", "all:\n\ttrue\n\ntest:\n\ttest -e one.txt\n");
    sandbox.commit_all("make");
    sandbox
}

#[test]
fn a_recipe_that_the_agent_rewrites_refuses_the_pass_until_it_is_as_it_was() {
    let sandbox = with_makefile();
    let cheat = "sed -i 's/test -e one.txt/true/' Makefile";
    let mend = "sed -i '$s/true/test -e one.txt/' Makefile";
    let agent = another(&sandbox)
        .call(claims(writes("a.txt").shell(cheat)))
        .call(claims(writes("b.txt")))
        .call(claims(writes("one.txt").shell(mend).append("Makefile", "\ndoc:\n\ttrue\n")))
        .install(&sandbox);
    let finished = turns_green(&sandbox, &agent).args(["--max-iterations", "3"]).run();
    finished.assert_code(3).assert_stderr_has("the agent changed what is run by make test (Makefile, test)");
    let results: Vec<_> = history(&sandbox).iter().map(|entry| entry["outcome"].clone()).collect();
    assert_eq!(results, ["refused", "refused", "accepted"], "another attempt does not make it right");
    assert_eq!(ledger(&sandbox)[0]["custody"]["changed"], json!(["make test (Makefile, test)"]));
}

#[test]
fn a_script_that_a_check_runs_is_flagged_when_the_agent_changes_it() {
    let sandbox = checklist();
    sandbox.write("test.sh", "test -e one.txt\n");
    sandbox.commit_all("test");
    let agent = another(&sandbox).call(claims(Steps::new().write("test.sh", "exit 0\n"))).install(&sandbox);
    let run = turns_green(&sandbox, &agent).args(["--once", "--test-cmd", "sh test.sh"]).run();
    run.assert_code(0).assert_stderr_has("files that checks run were changed: test.sh");
    assert_eq!(ledger(&sandbox)[0]["custody"]["scripts_changed"], json!(["test.sh"]));
    // One that only a recipe runs, and that is called as tests are.
    let sandbox = checklist();
    sandbox.write("test.sh", "test -e one.txt\n");
    sandbox.commit_all("test");
    let agent = another(&sandbox).call(claims(Steps::new().write("test.sh", "exit 0\n"))).install(&sandbox);
    let run = turns_green(&sandbox, &agent).args(["--once", "--test-cmd", "true"]).run();
    run.assert_code(0).assert_stderr_has("existing tests were changed: test.sh");
}

#[test]
fn a_task_file_that_was_deleted_and_put_back_is_not_told_as_deleted() {
    let sandbox = repository();
    sandbox.write("fix_plan.md", "- [ ] one\n");
    sandbox.commit_all("plan");
    let agent = another(&sandbox).call(claims(writes("a.txt").shell("rm fix_plan.md"))).install(&sandbox);
    let finished = works_through(&sandbox, &agent).args(["--once", "--test-cmd", "true"]).run();
    finished.assert_code(3).assert_stderr_has("files: 1 file changed: a.txt (new)");
    assert_eq!(sandbox.read("fix_plan.md"), "- [/] one\n");
}

/// Two stories, of which the first is worked on.
fn stories() -> Sandbox {
    let sandbox = repository();
    let story = |id: &str| json!({"id": id, "title": id, "passes": false});
    let file = json!({"config": {"max_iterations": 9}, "userStories": [story("S1"), story("S2")]});
    sandbox.write("prd.json", serde_json::to_string_pretty(&file).expect("JSON") + "\n");
    sandbox.commit_all("stories");
    sandbox
}

/// Which stories are done in HEAD.
fn done_in_head(sandbox: &Sandbox) -> Vec<bool> {
    let file: Value = serde_json::from_str(&committed(sandbox, "prd.json")).expect("JSON");
    let stories = file["userStories"].as_array().expect("stories");
    stories.iter().map(|story| story["passes"] == json!(true)).collect()
}

const TICKS_ALL: &str = "sed -i 's/\"passes\": false/\"passes\": true/' prd.json";

#[test]
fn marks_that_nobody_proved_do_not_stay_in_head_where_the_agent_committed_them() {
    let steps = || {
        let commit = format!("{TICKS_ALL}; git add -A; git commit --quiet -m 'all done'");
        claims(Steps::new().write("one.txt", "1\n").shell(&commit))
    };
    for (check, done, undone) in [("false", [false, false], "S1, S2"), ("true", [true, false], "S2")] {
        let sandbox = stories();
        let agent = another(&sandbox).call(steps()).install(&sandbox);
        let finished = turns_green(&sandbox, &agent)
            .args(["--once", "--test-cmd", check, "--max-iterations", "1"])
            .run();
        finished.assert_stderr_has(&format!("which HEAD does not have any more: {undone} in prd.json"));
        assert_eq!(done_in_head(&sandbox), done, "{check}\n{finished}");
        finished.assert_stderr_has("commits: 1, and 1 by agents");
        assert_eq!(sandbox.git(&["log", "--format=%s", "-1", "--", "one.txt"]), "all done", "the work stays");
    }
    let sandbox = stories();
    let agent = another(&sandbox).call(steps()).install(&sandbox);
    let never = ["--once", "--test-cmd", "false", "--max-iterations", "1", "--set", "commits=never"];
    let finished = turns_green(&sandbox, &agent).args(never).run();
    finished.assert_stderr_has(
        "holds marks that nobody proved, and stays in HEAD: S1, S2 (ralph makes no commits",
    );
}

#[test]
fn the_mark_of_a_proved_item_may_stand_in_the_agent_s_commit() {
    let sandbox = stories();
    let tick =
        "sed -i '0,/\"passes\": false/s//\"passes\": true/' prd.json; git add -A; git commit --quiet -m mine";
    let agent =
        another(&sandbox).call(claims(Steps::new().write("one.txt", "1\n").shell(tick))).install(&sandbox);
    let finished = works_through(&sandbox, &agent).args(["--once", "--test-cmd", "true"]).run();
    finished.assert_code(0);
    assert!(!finished.stderr.contains("nobody proved"), "{finished}");
    assert_eq!(done_in_head(&sandbox), [true, false]);
}

#[test]
fn an_agent_cannot_raise_the_limit_of_its_own_run() {
    let sandbox = stories();
    let raise = "sed -i 's/\"max_iterations\": 9/\"max_iterations\": 99/' prd.json";
    let agent =
        another(&sandbox).call(claims(Steps::new().write("one.txt", "1\n").shell(raise))).install(&sandbox);
    let finished = works_through(&sandbox, &agent).args(["--once", "--test-cmd", "true"]).run();
    finished
        .assert_stderr_has("the agent changed how many iterations a run may have (config.max_iterations)");
    let file: Value = serde_json::from_str(&sandbox.read("prd.json")).expect("JSON");
    assert_eq!(file["config"]["max_iterations"], 9, "{file}");
}

#[test]
fn what_an_undo_took_away_and_an_agent_writes_again_is_nobody_s_loss() {
    let sandbox = repository();
    sandbox.write("fix_plan.md", "- [ ] one\n- [ ] two\n");
    sandbox.commit_all("plan");
    let agent = writer(&sandbox, &["one.txt", "one.txt"]);
    let once = || turns_green(&sandbox, &agent).args(["--once", "--test-cmd", "test -e one.txt"]).run();
    once().assert_code(0);
    ralph(&sandbox).args(["undo", "1"]).run().assert_code(0);
    assert!(!sandbox.project().join("one.txt").exists());
    once().assert_code(0).assert_stderr_lacks("what you had not committed is gone");
}

#[test]
fn marks_of_parts_and_counts_that_an_agent_wrote_go_with_a_refused_attempt_and_stay_with_a_proved_one() {
    let story = |id: &str| {
        json!({"id": id, "title": id, "status": "pending", "acceptanceCriteria": [{"id": 1, "description": "a", "done": false}],
            "tasks": [{"title": "t", "done": false}], "execution": {"attempts": 0}})
    };
    let whole = "s/\"status\": \"in_progress\"/\"status\": \"completed\"/";
    let parts = "s/\"done\": false/\"done\": true/; s/\"attempts\": 0/\"attempts\": 7/";
    for (script, check) in
        [(parts.to_owned(), "false"), (format!("{parts}; {whole}"), "false"), (parts.into(), "true")]
    {
        let sandbox = repository();
        let file = json!({"schemaVersion": "2.0", "userStories": [story("S1")]});
        sandbox.write("prd.json", serde_json::to_string_pretty(&file).expect("JSON"));
        sandbox.commit_all("stories");
        let steps = Steps::new().write("one.txt", "1\n").shell(&format!("sed -i '{script}' prd.json"));
        let agent = another(&sandbox).call(claims(steps)).install(&sandbox);
        let finished = turns_green(&sandbox, &agent)
            .args(["--once", "--test-cmd", check, "--max-iterations", "1"])
            .run();
        let now: Value = serde_json::from_str(&sandbox.read("prd.json")).expect("JSON");
        let now = &now["userStories"][0];
        let told =
            (&now["acceptanceCriteria"][0]["done"], &now["tasks"][0]["done"], &now["execution"]["attempts"]);
        if check == "true" {
            assert_eq!(
                (told, &now["status"]),
                ((&json!(true), &json!(true), &json!(7)), &json!("completed"))
            );
        } else {
            assert_eq!(told, (&json!(false), &json!(false), &json!(0)), "{script}\n{finished}");
            assert_ne!(now["status"], "completed");
            finished.assert_stderr_has(
                "parts of S1 that were marked as done, or its attempts, which are taken back",
            );
        }
    }
}

#[test]
fn a_proved_item_stays_so_though_the_agent_of_another_marks_its_parts() {
    let story = |id: &str, status: &str| {
        json!({"id": id, "title": id, "status": status, "startedAt": "2026-01-01T00:00:00Z",
            "acceptanceCriteria": [{"id": 1, "description": "a", "done": false}]})
    };
    let sandbox = repository();
    let stories = [story("S1", "completed"), story("S2", "pending"), story("S3", "blocked")];
    let file = json!({"schemaVersion": "2.0", "userStories": stories});
    sandbox.write("prd.json", serde_json::to_string_pretty(&file).expect("JSON"));
    sandbox.commit_all("stories");
    let marks = "sed -i 's/\"done\": false/\"done\": true/' prd.json";
    let agent =
        another(&sandbox).call(claims(Steps::new().write("one.txt", "1\n").shell(marks))).install(&sandbox);
    // What the disk refuses once is settled anew: then there is nothing left to take back.
    let finished = works_through(&sandbox, &agent)
        .args(["--once", "--test-cmd", "true"])
        .env("RALPH_CRASH_POINT", "eio:start git commit-tree#1")
        .run();
    finished.assert_code(0);
    let now: Value = serde_json::from_str(&sandbox.read("prd.json")).expect("JSON");
    let told: Vec<_> = (0..3)
        .map(|nth| {
            (&now["userStories"][nth]["status"], &now["userStories"][nth]["acceptanceCriteria"][0]["done"])
        })
        .collect();
    assert_eq!(
        told,
        [
            (&json!("completed"), &json!(true)),
            (&json!("completed"), &json!(true)),
            (&json!("blocked"), &json!(false))
        ],
        "{finished}"
    );
}

#[test]
fn marks_that_stay_in_head_because_the_task_file_is_the_user_s_to_commit_are_told() {
    let sandbox = stories();
    // Not committed by the user, so that no commit of ralph's has the file.
    sandbox.write("prd.json", sandbox.read("prd.json") + "\n");
    let commit = format!("{TICKS_ALL}; git add -A; git commit --quiet -m 'all done'");
    let agent =
        another(&sandbox).call(claims(Steps::new().write("one.txt", "1\n").shell(&commit))).install(&sandbox);
    let finished = works_through(&sandbox, &agent).args(["--once", "--test-cmd", "true"]).run();
    finished.assert_code(0).assert_stderr_has(
        "holds marks that nobody proved, and stays in HEAD: S2 (commit the task file as it is now)",
    );
    assert_eq!(done_in_head(&sandbox), [true, true]);
}
