//! What an item is judged by, and what is said of it.

use ralph_testkit::{Finished, Sandbox, Steps};
use serde_json::{Value, json};

use crate::common::{history, ralph, repository};
use crate::stage::{another, claims, commits, item, ledger, worker, writer, writes};

const TOP: &str = "feature_list.json";

/// A committed project whose task file lies at its top, beside the sources.
fn at_the_top(items: &[Value]) -> Sandbox {
    let sandbox = repository();
    sandbox.write(TOP, serde_json::to_string_pretty(&json!({"items": items})).expect("JSON") + "\n");
    sandbox.commit_all("items");
    sandbox
}

#[test]
fn what_ralph_writes_into_the_task_file_is_no_todo_of_the_agent_s() {
    for todos in ["todos=refuse", "todos=flag"] {
        let sandbox = at_the_top(&[item("FEAT-1", "one.txt"), item("FEAT-2", "two.txt")]);
        let agent = writer(&sandbox, &["one.txt", "two.txt"]);
        let finished = worker(&sandbox, &agent).args(["--all", "--set", todos, "--backlog", TOP]).run();
        finished.assert_code(0).assert_stderr_lacks("comment added");
        assert!(
            sandbox.read(TOP).contains("no TODO, FIXME or unimplemented! was added"),
            "{todos}\n{}",
            sandbox.read(TOP)
        );
        assert_eq!(history(&sandbox).len(), 2, "{todos}");
    }
    // In the sources they are looked for as ever.
    let sandbox = at_the_top(&[item("FEAT-1", "one.txt")]);
    let todo = claims(writes("one.txt").write("a.py", "# TODO: later\n"));
    let agent = another(&sandbox).call(todo).install(&sandbox);
    let run = worker(&sandbox, &agent).args(["--set", "todos=refuse", "--backlog", TOP]).run();
    run.assert_code(3)
        .assert_stderr_has("1 line with TODO, FIXME or unimplemented! added: a.py: # TODO: later");
}

const MAKEFILE: &str = "-include local.mk\nfirst:\n\ttrue\n\ntest:\n\ttest -e one.txt\n";
const EASIER: &str = "sed -i 's/test -e one.txt/true/' Makefile";
const SOMETHING_ELSE: &str = "checks run something else than when the run began: make test (Makefile, test)";

/// An item with these commands of its own.
fn verified_by(commands: Value) -> Value {
    let mut item = item("FEAT-1", "one.txt");
    item["verification"] = commands;
    item
}

/// A project with a Makefile that tests for `one.txt`, and a make that takes it as the real one would.
fn with_make(items: &[Value]) -> Sandbox {
    let sandbox = at_the_top(items);
    let names = "f=Makefile; for n in makefile GNUmakefile; do test -e $n && f=$n; done";
    let done = "test -e $1 && echo \"make: '$1' is up to date.\" && exit";
    let make = format!("#!/bin/sh\n{done}\n{names}\nsh -c \"$(sed -n '/^'$1':/{{n;p;}}' $f)\"\n");
    sandbox.install_script("make", &make);
    sandbox.write("Makefile", MAKEFILE);
    sandbox.commit_all("make");
    sandbox
}

/// One attempt that writes a file which proves nothing, and does this beside it.
fn attempt(sandbox: &Sandbox, steps: Steps, args: &[&str]) -> Finished {
    let agent = another(sandbox).call(claims(steps)).install(sandbox);
    worker(sandbox, &agent).args(["--backlog", TOP]).args(args).run()
}

/// What the ledger says of what the first attempt was judged by.
fn custody(sandbox: &Sandbox, key: &str) -> Value {
    ledger(sandbox)[0]["custody"][key].clone()
}

#[test]
fn a_check_that_somebody_names_is_watched_and_another_recipe_of_it_is_flagged() {
    for by_settings in [false, true] {
        let sandbox = with_make(&[verified_by(json!(["test -e a.txt"]))]);
        if by_settings {
            sandbox.write(".ralph/config.toml", "[checks]\ntest = \"make test\"\n");
        }
        let args: &[&str] = if by_settings { &[] } else { &["--test-cmd", "make test"] };
        let finished = attempt(&sandbox, writes("a.txt").shell(EASIER), args);
        finished.assert_code(0).assert_stderr_has(&format!("[ralph] {SOMETHING_ELSE}\n"));
        finished.assert_stderr_has(&format!("flagged: {SOMETHING_ELSE} (#1)"));
        assert_eq!(custody(&sandbox, "recipes_changed"), json!(["make test (Makefile, test)"]));
        assert_eq!(custody(&sandbox, "changed"), json!([]));
        let why = ledger(&sandbox)[0]["why"].to_string();
        assert!(why.contains("what it is judged by is as it was, but for what is flagged"), "{why}");
        let message = sandbox.git(&["log", "-1", "--format=%B"]).replace('\n', " ");
        assert!(message.contains(&format!("Flagged: {SOMETHING_ELSE} ")), "{message}");
        let trailers = sandbox.git(&["log", "-1", "--format=%(trailers:only)"]);
        assert!(trailers.contains("Ralph-Item") && !trailers.contains("Flagged"), "{trailers}");
    }
    // What is as it was is not spoken of.
    let sandbox = with_make(&[verified_by(json!(["test -e a.txt"]))]);
    let other = writes("one.txt").write("a.txt", "").append("Makefile", "\ndoc:\n\ttrue\n");
    attempt(&sandbox, other, &["--test-cmd", "make test"]).assert_code(0).assert_stderr_lacks("lagged");
    let why = ledger(&sandbox)[0]["why"].to_string();
    assert!(why.contains("what it is judged by is as it was;"), "{why}");
}

#[test]
fn another_recipe_behind_an_item_s_own_check_refuses_the_pass_until_it_is_as_it_was() {
    let sandbox = with_make(&[verified_by(json!(["make test"]))]);
    let agent = another(&sandbox)
        .call(claims(writes("a.txt").shell(EASIER)))
        .call(claims(writes("b.txt")))
        .call(claims(writes("one.txt").shell("sed -i '$s/true/test -e one.txt/' Makefile")))
        .install(&sandbox);
    let keep = ["--all", "--no-detect", "--set", "failed_item=keep", "--backlog", TOP];
    let finished = worker(&sandbox, &agent).args(keep).run();
    finished.assert_code(0).assert_stderr_has("the agent changed what is run by make test (Makefile, test)");
    let results: Vec<_> = history(&sandbox).iter().map(|entry| entry["outcome"].clone()).collect();
    assert_eq!(results, ["refused", "refused", "accepted"], "another attempt does not make it right");
    assert_eq!(custody(&sandbox, "changed"), json!(["make test (Makefile, test)"]));

    // Commands that the task file has for every item are no different.
    let sandbox = with_make(&[]);
    let items = [verified_by(json!(["test -e a.txt"]))];
    sandbox.write(TOP, json!({"config": {"test_command": "make test"}, "items": items}).to_string());
    sandbox.commit_all("for all");
    let finished = attempt(&sandbox, writes("a.txt").shell(EASIER), &[]);
    finished.assert_code(3).assert_stderr_has("what is run by make test (Makefile, test)");
}

#[test]
fn a_target_that_is_the_work_itself_may_be_written() {
    let sandbox = with_make(&[verified_by(json!(["make new"]))]);
    let finished = attempt(&sandbox, Steps::new().append("Makefile", "\nnew:\n\ttrue\n"), &["--no-detect"]);
    finished.assert_code(0).assert_stderr_lacks("lagged");
    assert_eq!(commits(&sandbox), 4);
}

#[test]
fn a_folder_that_has_the_name_of_a_target_proves_nothing() {
    let sandbox = with_make(&[verified_by(json!(["make test"]))]);
    let finished = attempt(&sandbox, writes("a.txt").write("test/x", ""), &["--no-detect"]);
    finished.assert_code(3).assert_stderr_has("make test exit 0 (make ran nothing: ");
    let sandbox = with_make(&[verified_by(json!(["test -e a.txt"]))]);
    let finished = attempt(&sandbox, writes("a.txt").write("test/x", ""), &["--test-cmd", "make test"]);
    finished.assert_code(3).assert_stderr_has("make ran nothing");
}

#[test]
fn a_makefile_that_is_no_file_is_taken_by_make_all_the_same() {
    let sandbox = with_make(&[verified_by(json!(["make test"]))]);
    let links = writes("a.txt").shell("ln -s /dev/null GNUmakefile");
    attempt(&sandbox, links, &["--no-detect"]).assert_code(3).assert_stderr_has("what is run by make test");
}

#[test]
fn a_makefile_that_make_takes_instead_is_another_recipe() {
    for name in ["GNUmakefile", "makefile"] {
        let easier = || writes("a.txt").write(name, "test:\n\ttrue\n");
        let sandbox = with_make(&[verified_by(json!(["make test"]))]);
        let finished = attempt(&sandbox, easier(), &["--no-detect"]);
        finished.assert_code(3).assert_stderr_has("what is run by make test (Makefile, test)");
        let sandbox = with_make(&[verified_by(json!(["test -e a.txt"]))]);
        let finished = attempt(&sandbox, easier(), &["--test-cmd", "make test"]);
        finished.assert_code(0).assert_stderr_has(SOMETHING_ELSE);
        // Found by nobody's word.
        let sandbox = with_make(&[verified_by(json!(["test -e a.txt"]))]);
        attempt(&sandbox, easier(), &[]).assert_code(3).assert_stderr_has("what is run by make test");
    }
}

#[test]
fn the_stop_event_has_the_commits_and_the_flags_of_the_run() {
    let sandbox = with_make(&[verified_by(json!(["test -e a.txt"]))]);
    let finished = attempt(&sandbox, writes("a.txt").shell(EASIER), &["--test-cmd", "make test", "--json"]);
    finished.assert_code(0).assert_stderr_has("commits: 1\n");
    let events = finished.json_lines();
    let stop = events.last().expect("a stop");
    ralph_testkit::Schema::published("ralph.event/1").assert(stop);
    assert_eq!((&stop["commits"], &stop["commits_by_agents"]), (&json!(1), &json!(0)));
    assert_eq!(stop["flags"], json!([{"iteration": 1, "text": SOMETHING_ELSE, "put_back": false}]));
    assert_eq!(ralph(&sandbox).args(["status", "--json"]).run().json()["flags"], stop["flags"]);
}

#[test]
fn what_a_recipe_takes_from_other_files_is_flagged() {
    let included = writes("one.txt").write("local.mk", "SHELL = true\n");
    let sandbox = with_make(&[verified_by(json!(["make test"]))]);
    attempt(&sandbox, included, &[])
        .assert_code(0)
        .assert_stderr_has("files that checks run were changed: local.mk");
    assert_eq!(custody(&sandbox, "scripts_changed"), json!(["local.mk"]));
    assert_eq!(custody(&sandbox, "existing_tests_changed"), json!([]));

    let sandbox = at_the_top(&[verified_by(json!(["npm test"]))]);
    sandbox.install_script("npm", "#!/bin/sh\ntest -e one.txt\n");
    sandbox.write("package.json", r#"{"scripts": {"test": "vitest"}}"#);
    sandbox.commit_all("npm");
    let shell = writes("one.txt").write(".npmrc", "script-shell=/bin/true\n");
    attempt(&sandbox, shell, &[])
        .assert_code(0)
        .assert_stderr_has("files that checks run were changed: .npmrc");
}

#[test]
fn a_script_that_a_check_runs_is_not_told_as_a_test() {
    let sandbox = at_the_top(&[verified_by(json!(["sh calc.sh mul 5 3"]))]);
    sandbox.write("calc.sh", "exit 1\n");
    sandbox.write("tests/t1.sh", "true\n");
    sandbox.commit_all("calc");
    let steps = Steps::new().write("calc.sh", "echo $(($2 * $3))\n");
    attempt(&sandbox, steps, &[])
        .assert_code(0)
        .assert_stderr_has("flagged: files that checks run were changed: calc.sh (#1)");
    assert_eq!(custody(&sandbox, "scripts_changed"), json!(["calc.sh"]));
    for told in [&["evidence", "show"][..], &["evidence", "export", "--format", "md"]] {
        let shown = ralph(&sandbox).args(told).run();
        shown.assert_code(0).assert_stdout_has("files that checks run were changed (flagged): calc.sh");
        shown.assert_stdout_has("what it is judged by is as it was, but for what is flagged");
        assert!(!shown.stdout.contains("existing tests"), "{shown}");
    }
    let message = sandbox.git(&["log", "-1", "--format=%B"]);
    assert!(message.contains("\n\nFlagged: files that checks run were changed: calc.sh\n\n"), "{message}");
}

#[test]
fn what_an_unfinished_attempt_did_to_tests_is_told_with_the_commit_that_holds_it() {
    let sandbox = at_the_top(&[item("FEAT-1", "one.txt")]);
    sandbox.write("tests/t1.sh", "false\n");
    sandbox.commit_all("tests");
    let agent = another(&sandbox)
        .call(claims(writes("a.txt").write("tests/t1.sh", "true\n")))
        .call(claims(writes("one.txt")))
        .install(&sandbox);
    let keep = ["--all", "--set", "failed_item=keep", "--backlog", TOP];
    let finished = worker(&sandbox, &agent).args(keep).run();
    finished.assert_code(0).assert_stderr_has("flagged: existing tests were changed: tests/t1.sh (#1)");
    let message = sandbox.git(&["log", "-1", "--format=%B"]);
    assert!(message.contains("\n\nFlagged: existing tests were changed: tests/t1.sh\n\n"), "{message}");
}

#[test]
fn a_script_that_a_check_runs_refuses_the_item_where_that_is_asked() {
    let sandbox = at_the_top(&[item("FEAT-1", "one.txt")]);
    sandbox.write("calc.sh", "test -e sums.txt\n");
    sandbox.commit_all("a check");
    let agent = another(&sandbox)
        .call(claims(writes("one.txt").write("calc.sh", "true\n")))
        .call(claims(writes("one.txt").write("sums.txt", "3")))
        .install(&sandbox);
    let args = ["--all", "--set", "tests_changed=refuse", "--test-cmd", "sh calc.sh", "--backlog", TOP];
    let finished = worker(&sandbox, &agent).args(args).run();
    finished.assert_code(0).assert_stderr_has("not as when the run began: calc.sh; put it back as it was");
    let outcomes: Vec<Value> = history(&sandbox).iter().map(|one| one["outcome"].clone()).collect();
    assert_eq!(outcomes, ["refused", "accepted"]);
    assert_eq!(sandbox.read("calc.sh"), "test -e sums.txt\n", "put back with the attempt");
}

#[test]
fn a_test_that_an_earlier_run_s_agent_changed_and_nobody_accepted_refuses_the_next_run_too() {
    let sandbox = at_the_top(&[item("FEAT-1", "one.txt")]);
    sandbox.write("tests/t1.sh", "false\n");
    sandbox.commit_all("tests");
    let agent = another(&sandbox)
        .call(claims(writes("one.txt").write("tests/t1.sh", "true\n")))
        .call(claims(writes("two.txt")))
        .call(claims(writes("three.txt").write("tests/t1.sh", "false\n")))
        .install(&sandbox);
    let keep = ["--set", "failed_item=keep", "--set", "tests_changed=refuse", "--backlog", TOP];
    let attempt = || worker(&sandbox, &agent).args(keep).run();
    for _ in 0..2 {
        attempt().assert_code(3).assert_stderr_has("not as when the run began: tests/t1.sh; put it back");
    }
    attempt().assert_code(0);
}
