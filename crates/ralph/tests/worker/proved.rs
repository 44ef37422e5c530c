//! A commit holds what was proved, on the branch where the user is, whatever happened since.

use ralph_testkit::{Sandbox, Schema, StatusBlock, Steps};
use serde_json::{Value, json};

use crate::common::{history, one_call, ralph, repository, run, status};
use crate::stage::{
    HARNESS, another, checklist, claims, commits, committed, files_of, harness, item, item_now, ledger,
    recorded, slow_hook, turns_green, two_items, worker, works_through, writer, writes,
};

fn one_item() -> Sandbox {
    harness(&[item("FEAT-1", "one.txt")])
}

fn is_clean_but_for_the_attempt(sandbox: &Sandbox) {
    assert_eq!(sandbox.git(&["status", "--porcelain"]), format!(" M {HARNESS}"));
}

#[test]
fn what_a_check_does_to_the_files_is_not_committed() {
    let mut changing = item("FEAT-1", "one.txt");
    changing["verification"] = json!(["test -e one.txt", "echo by the check >> one.txt"]);
    let sandbox = harness(&[changing]);
    let agent = writer(&sandbox, &["one.txt"]);
    let finished = worker(&sandbox, &agent).run();
    finished.assert_code(0).assert_stderr_has("changed since it was proved");
    assert_eq!(committed(&sandbox, "one.txt"), "one.txt");
    assert_eq!(sandbox.read("one.txt"), "one.txt\nby the check\n");
    assert_eq!(sandbox.git(&["diff", "--cached", "--name-only"]), "");
    ralph(&sandbox).args(["evidence", "verify", "--no-run"]).run().assert_code(0);
}

#[test]
fn ralph_is_killed_in_a_slow_hook_and_what_the_user_writes_then_is_not_committed_as_proved() {
    let sandbox = one_item();
    slow_hook(&sandbox, "");
    let agent = writer(&sandbox, &["one.txt"]);
    let running = worker(&sandbox, &agent).spawn();
    sandbox.wait_for("hooked");
    running.kill9();
    running.wait();
    sandbox.assert_no_processes();
    assert_eq!(
        (commits(&sandbox), sandbox.exists(".git/index.lock")),
        (2, false),
        "nothing is committed behind our back"
    );
    sandbox.write("one.txt", "mine\n");
    let edited = sandbox.read(HARNESS).replace("make one.txt", "make one.txt, mind");
    sandbox.write(HARNESS, edited);
    sandbox.release("let-go");
    let finished = worker(&sandbox, &agent).run();
    finished.assert_code(0).assert_stderr_has("changed since it was proved").assert_stderr_has("one.txt");
    assert_eq!((commits(&sandbox), recorded(&sandbox, "commit"), recorded(&sandbox, "attempt")), (3, 1, 1));
    assert_eq!(committed(&sandbox, "one.txt"), "one.txt");
    assert_eq!(sandbox.read("one.txt"), "mine\n");
    assert_eq!(files_of(&sandbox, "HEAD"), ["A one.txt"], "nor is the user's edit of the task file");
    assert!(sandbox.read(HARNESS).contains("mind") && item_now(&sandbox, "FEAT-1")["status"] == "PASSING");
    assert_eq!(sandbox.git(&["diff", "--cached", "--name-only"]), "");
}

#[test]
fn who_commits_while_a_hook_runs_keeps_that_commit() {
    let sandbox = one_item();
    slow_hook(&sandbox, "");
    let agent = writer(&sandbox, &["one.txt"]);
    let running = worker(&sandbox, &agent).spawn();
    sandbox.wait_for("hooked");
    sandbox.write("mine.txt", "mine\n");
    sandbox.git(&["add", "mine.txt"]);
    sandbox.git(&["commit", "--quiet", "--no-verify", "-m", "mine"]);
    sandbox.release("let-go");
    running.wait().assert_code(0).assert_stderr_has("somebody else committed meanwhile");
    assert_eq!((commits(&sandbox), files_of(&sandbox, "HEAD")), (3, vec!["A mine.txt".to_owned()]));
    assert_eq!(sandbox.git(&["diff", "--cached", "--name-only"]), "");
}

#[test]
fn a_file_that_became_a_folder_and_a_folder_that_became_a_file_are_committed() {
    let sandbox = one_item();
    sandbox.write("a", "file\n");
    sandbox.write("d/e", "in a folder\n");
    sandbox.commit_all("files");
    let steps = writes("one.txt").shell("rm a; mkdir a; echo b > a/b; rm -r d; echo d > d");
    let agent = another(&sandbox).call(claims(steps)).install(&sandbox);
    worker(&sandbox, &agent).run().assert_code(0);
    assert_eq!(files_of(&sandbox, "HEAD"), ["D a", "A a/b", "A d", "D d/e", "A one.txt"]);
    is_clean_but_for_the_attempt(&sandbox);
}

#[test]
fn a_repository_that_the_agent_made_is_named_and_not_committed() {
    let sandbox = one_item();
    let steps =
        writes("one.txt").shell("git init --quiet sub; cd sub; git commit --quiet --allow-empty -m in");
    let agent = another(&sandbox).call(claims(steps)).install(&sandbox);
    let finished = worker(&sandbox, &agent).run();
    finished.assert_code(0).assert_stderr_has("a repository of its own: sub");
    assert_eq!(files_of(&sandbox, "HEAD"), ["A one.txt"]);
}

const FORGED: &str = "Ralph-Iteration: $RALPH_RUN_ID/$RALPH_ITERATION";

#[test]
fn a_commit_of_the_agent_is_not_taken_for_ralph_s_own() {
    let sandbox = one_item();
    let steps = Steps::new()
        .write("bad.txt", "bad\n")
        .shell(&format!("git add bad.txt; git commit --quiet -m forged -m \"{FORGED}\""));
    let agent = another(&sandbox).call(claims(steps)).install(&sandbox);
    worker(&sandbox, &agent).run().assert_code(3);
    assert_eq!((commits(&sandbox), files_of(&sandbox, "HEAD")), (4, vec!["D bad.txt".to_owned()]));

    let sandbox = one_item();
    let steps =
        writes("one.txt").shell(&format!("git commit --quiet --allow-empty -m forged -m \"{FORGED}\""));
    let agent = another(&sandbox).call(claims(steps)).install(&sandbox);
    worker(&sandbox, &agent).run().assert_code(0).assert_stderr_lacks("by the agent itself");
    assert_eq!((commits(&sandbox), files_of(&sandbox, "HEAD")), (4, vec!["A one.txt".to_owned()]));
}

#[test]
fn an_agent_that_drops_or_rewrites_commits_proves_nothing() {
    for drop in ["git reset --quiet --hard HEAD~1", "git commit --quiet --amend -m amended"] {
        let sandbox = one_item();
        sandbox.write("mine.txt", "mine\n");
        let mine = sandbox.commit_all("mine");
        let agent =
            another(&sandbox).call(claims(Steps::new().shell(drop).write("one.txt", ""))).install(&sandbox);
        let finished = worker(&sandbox, &agent).run();
        finished.assert_code(3).assert_stderr_has(&format!(
            "to have it back, leaving the files alone: git reset {}",
            &mine[..12]
        ));
        let head = sandbox.git(&["log", "-1", "--format=%s"]);
        assert!(!head.starts_with("feat") && !head.starts_with("revert"), "{drop}: {head}");
        assert_eq!(item_now(&sandbox, "FEAT-1")["status"], "FAILING", "{drop}");
        assert_eq!(sandbox.read("mine.txt"), "mine\n", "{drop}");
    }
}

#[test]
fn an_agent_that_goes_to_another_branch_proves_nothing_and_the_way_back_is_named() {
    let sandbox = two_items();
    let steps = writes("one.txt").shell("git switch --quiet --create elsewhere");
    let agent = another(&sandbox).call(claims(steps)).call(claims(writes("one.txt"))).install(&sandbox);
    let finished = worker(&sandbox, &agent).args(["--all", "--max-iterations", "2"]).run();
    finished.assert_stderr_has("HEAD was on branch main").assert_stderr_has("git switch main");
    assert_eq!(sandbox.git(&["rev-list", "--count", "--all"]), "2", "not on the other branch either, later");

    let sandbox = two_items();
    let steps = Steps::new().shell("git switch --quiet --create elsewhere").write("bad.txt", "");
    let steps = steps.shell("git add bad.txt; git commit --quiet -m bad");
    let agent = another(&sandbox).call(claims(steps)).install(&sandbox);
    worker(&sandbox, &agent).run().assert_code(3).assert_stderr_has("git switch main");
    assert_eq!(sandbox.git(&["log", "-1", "--format=%s"]), "bad", "nothing is added to that branch");

    let sandbox = crate::common::repository();
    let steps = writes("green").shell("git switch --quiet --create elsewhere");
    let agent = another(&sandbox).call(claims(steps)).install(&sandbox);
    let run = ralph(&sandbox).args(["run", "make it green", "--yes", "--max-iterations", "1", "--agent-cmd"]);
    run.arg(agent.path()).run().assert_stderr_has("to get back: git switch main");
    let page = ralph(&sandbox).args(["history", "1"]).run();
    page.assert_stdout_has("HEAD was on branch main");
}

#[test]
fn a_branch_that_was_left_is_named_without_a_commit_of_another_one_and_at_the_end() {
    let sandbox = crate::common::repository();
    let main = sandbox.git(&["rev-parse", "HEAD"]);
    let strays = Steps::new().shell("git switch --quiet --create elsewhere").write("one.txt", "");
    let strays = strays.shell("git add one.txt; git commit --quiet -m theirs");
    let agent = another(&sandbox).call(claims(strays)).call(claims(writes("two.txt"))).install(&sandbox);
    let run = ralph(&sandbox).args(["run", "make it green", "--yes", "--max-iterations", "2", "--agent-cmd"]);
    let finished = run.arg(agent.path()).run();
    let other = sandbox.git(&["rev-parse", "elsewhere"]);
    finished
        .assert_stderr_has(&format!("HEAD was on branch main at {} and is on branch elsewhere", &main[..12]));
    finished.assert_stderr_has("HEAD was on branch main when the run began and is on branch elsewhere");
    finished.assert_stderr_lacks(&format!("branch main at {}", &other[..12]));
    finished.assert_stderr_has(
        "HEAD is on branch elsewhere, and was on branch main when the run began; to get back: git switch main",
    );
}

/// Whoever does what ralph says loses nothing by it.
#[test]
fn a_branch_that_lost_commits_comes_back_without_a_loss_of_what_the_agent_committed_of_the_user_s() {
    let sandbox = one_item();
    sandbox.write("new.txt", "mine\n");
    sandbox.git(&["add", "new.txt"]);
    let steps = writes("one.txt").shell("git add -A; git commit --quiet --amend -m amended");
    let agent = another(&sandbox).call(claims(steps)).install(&sandbox);
    let before = sandbox.git(&["rev-parse", "HEAD"]);
    let finished = worker(&sandbox, &agent).run();
    finished.assert_code(3).assert_stderr_has("files of yours that were not committed before: new.txt");
    let (_, advice) = finished.stderr.split_once("leaving the files alone: ").expect("the way back");
    let typed: Vec<&str> = advice.split_whitespace().take(3).collect();
    assert_eq!(&typed[..2], ["git", "reset"]);
    let commit = typed[2].trim_end_matches([')', ';', ',']);
    sandbox.git(&["reset", "--quiet", commit]);
    assert_eq!(sandbox.git(&["rev-parse", "HEAD"]), before);
    assert_eq!(sandbox.read("new.txt"), "mine\n");
}

/// What ralph keeps for one that comes after it is for that one only.
#[test]
fn an_agent_that_goes_to_another_branch_and_forges_where_the_user_stood_proves_nothing() {
    let sandbox = one_item();
    let forge = "git switch --quiet --create elsewhere; \
                 for kept in .git/ralph/runs/*/*/stand-before; do sed -i s/main/elsewhere/ $kept; done";
    let agent = another(&sandbox).call(claims(writes("one.txt").shell(forge))).install(&sandbox);
    let finished = worker(&sandbox, &agent).run();
    finished.assert_code(3).assert_stderr_has("HEAD was on branch main");
    assert_eq!(item_now(&sandbox, "FEAT-1")["status"], "FAILING");
    assert_eq!(commits(&sandbox), 2, "nothing is committed on that branch: {finished}");
}

#[test]
fn a_commit_says_which_other_items_it_holds_work_of() {
    let sandbox = harness(&[item("FEAT-1", "one.txt"), item("FEAT-2", "two.txt")]);
    let agent = writer(&sandbox, &["half.txt", "two.txt"]);
    let one = |id: &str| worker(&sandbox, &agent).args(["--set", "failed_item=keep", "--task", id]).run();
    one("FEAT-1").assert_code(3);
    one("FEAT-2").assert_code(0);
    assert_eq!(sandbox.git(&["log", "-1", "--format=%s"]), "feat(FEAT-2): make two.txt");
    assert!(files_of(&sandbox, "HEAD").contains(&"A half.txt".to_owned()));
    let message = sandbox.git(&["log", "-1", "--format=%B"]);
    assert!(message.contains("what attempts at other items left: FEAT-1."), "{message}");
}

#[test]
fn secrets_in_commands_reach_neither_the_message_nor_the_task_file() {
    let mut secret = item("FEAT-1", "one.txt");
    secret["verification"] = json!(["test -e one.txt # --token hunter2-4711-xyzzy"]);
    let sandbox = harness(&[secret]);
    sandbox.write(".gitignore", ".env\n");
    sandbox.commit_all("rules");
    sandbox.write(".env", "API_TOKEN=hunter2-4711-xyzzy\n");
    let agent = writer(&sandbox, &["one.txt"]);
    worker(&sandbox, &agent).run().assert_code(0);
    let message = sandbox.git(&["log", "-1", "--format=%B"]);
    assert!(!message.contains("hunter2") && message.contains("Ralph-Evidence: "), "{message}");
    let attempt = item_now(&sandbox, "FEAT-1")["attempts"][0].to_string();
    assert!(!attempt.contains("hunter2") && attempt.contains("redacted"), "{attempt}");
}

#[test]
fn a_mark_that_cannot_be_taken_back_does_not_keep_others() {
    let sandbox =
        harness(&[item("FEAT-1", "one.txt"), item("FEAT-2", "two.txt"), item("FEAT-3", "three.txt")]);
    let twice = "python3 - <<'END'\nimport json\np='.claude/harness/feature_list.json'\nd=json.load(open(p))\n\
                 for i in d['items'][1:]: i['status']='PASSING'\nd['items'].insert(2, dict(d['items'][1]))\n\
                 json.dump(d, open(p,'w'), indent=2)\nEND\n";
    let agent = another(&sandbox).call(claims(Steps::new().shell(twice))).install(&sandbox);
    worker(&sandbox, &agent).run();
    assert_eq!(item_now(&sandbox, "FEAT-3")["status"], "FAILING");
    assert_eq!(history(&sandbox).len(), 1);
}

#[test]
fn a_command_that_item_and_run_both_name_is_run_once() {
    let sandbox = harness(&[item("FEAT-1", "one.txt")]);
    let agent = writer(&sandbox, &["one.txt"]);
    let finished =
        worker(&sandbox, &agent).args(["--test-cmd", "test -e one.txt", "--set", "baseline=off"]).run();
    finished.assert_code(0);
    assert_eq!(finished.stderr.matches("running check").count(), 1, "{finished}");
    assert_eq!(ledger(&sandbox)[0]["checks"].as_array().map(Vec::len), Some(1), "{finished}");
}

#[test]
fn an_item_whose_checks_were_green_all_the_time_says_so_and_one_with_a_test_of_its_own_does_not() {
    const WEAK: &str =
        "passed by checks that were green already, with none of its own and no test file changed";
    for (file, weak) in [("one.txt", true), ("tests/one.rs", false)] {
        let sandbox = checklist();
        let agent = writer(&sandbox, &[file]);
        let finished = works_through(&sandbox, &agent).args(["--once", "--test-cmd", "true"]).run();
        finished.assert_code(0);
        assert_eq!(finished.stderr.replace("\n", " ").contains(WEAK), weak, "{file}: {finished}");
    }
    // Written by an iteration that did not claim it yet.
    let sandbox = checklist();
    let more = StatusBlock { tasks: 0, ..StatusBlock::in_progress() };
    let begun = Steps::new().write("tests/one.rs", "").status(&more);
    let agent = another(&sandbox).call(begun).call(claims(writes("one.txt"))).install(&sandbox);
    let flags = ["--test-cmd", "true", "--max-iterations", "2"];
    works_through(&sandbox, &agent)
        .args(flags)
        .run()
        .assert_code(3)
        .assert_stderr_has("is proved and committed: ")
        .assert_stderr_lacks("passed by checks that were green already");
    let sandbox = checklist();
    let agent = writer(&sandbox, &["one.txt", "two.txt"]);
    let finished = works_through(&sandbox, &agent)
        .args(["--test-cmd", "true", "--reviews", "0", "--set", "gate=evidence"])
        .run();
    let ids: Vec<String> =
        history(&sandbox).iter().map(|row| row["item"]["id"].as_str().unwrap().into()).collect();
    let several = WEAK.replace("its own", "their own");
    let weak = format!("2 items {several}: {}", ids.join(", "));
    finished.assert_code(0).assert_stderr_has(&weak).assert_stderr_lacks("is proved and committed");
    for id in ids {
        let line = format!("⚠ {id} passed by checks that were green already, and is committed: ");
        finished.assert_stderr_has(&line);
    }
}

/// Without reviews, which would need an agent of their own.
const BY_FACTS: [&str; 4] = ["--reviews", "0", "--set", "gate=evidence"];

/// A check that the first item turned green speaks for that one, and for none that comes after it.
#[test]
fn a_check_that_an_earlier_item_turned_green_does_not_speak_for_the_next() {
    let sandbox = checklist();
    let agent = writer(&sandbox, &["one.txt", "two.txt"]);
    let finished = turns_green(&sandbox, &agent).args(["--test-cmd", "test -e one.txt"]).args(BY_FACTS).run();
    finished.assert_code(0);
    let ids: Vec<String> =
        history(&sandbox).iter().filter_map(|row| Some(row["item"]["id"].as_str()?.into())).collect();
    finished
        .assert_stderr_has(&format!("✓ {} is proved and committed: ", ids[0]))
        .assert_stderr_has(&format!("⚠ {} passed by checks that were green already, and is", ids[1]))
        .assert_stderr_has(
            "items: 1 proved in this run, 1 passed by checks that were green already, 0 of 2 items open",
        );
}

/// Prints the names of tests that fail, as a runner does.
const NAMED: &str = "sh test.sh";
const TWO_TESTS: &str = "s=0; for n in one two; do if test -e $n.txt; then echo \"ok - $n\"; \
                         else echo \"not ok - $n\"; s=1; fi; done; exit $s\n";

#[test]
fn a_tolerated_check_that_is_as_red_as_before_proves_nothing_and_one_with_a_red_test_less_does() {
    let tolerate = ["--test-cmd", NAMED, "--set", "baseline=tolerate"];
    let sandbox = checklist();
    sandbox.write("test.sh", TWO_TESTS);
    sandbox.commit_all("tests");
    let agent = writer(&sandbox, &["comment.txt", "more.txt"]);
    let finished = works_through(&sandbox, &agent).args(tolerate).args(BY_FACTS).run();
    finished
        .assert_code(0)
        .assert_stderr_has("is claimed (flagged: tests that failed before the run still fail: one, two) and committed: ")
        .assert_stderr_has(
            "is claimed, and its checks are as red as before: nothing but the agent's word says so yet",
        )
        .assert_stderr_has("items: 0 proved in this run, 2 claimed, 0 of 2 items open")
        .assert_stderr_has("⚠ COMPLETE, ALL CLAIMED, proof: words (flagged: tests that failed before the run still fail: one, two): ")
        .assert_stderr_lacks("proof: checks");
    let ledger = ledger(&sandbox);
    assert_eq!((&ledger[0]["result"], &ledger[0]["tolerated"]), (&json!("PASSED"), &json!(true)));
    let told = |args: &[&str]| ralph(&sandbox).args(args).run().stdout;
    assert_eq!(told(&["backlog", "list"]).matches("claimed  ").count(), 2, "{}", told(&["backlog", "list"]));
    let verified = told(&["evidence", "verify"]);
    assert!(verified.contains("all of it is only claimed"), "{verified}");
    works_through(&sandbox, &agent).run().assert_stderr_has("2 items claimed in an earlier run");
    let sandbox = checklist();
    sandbox.write("test.sh", TWO_TESTS);
    sandbox.commit_all("tests");
    let agent = writer(&sandbox, &["one.txt", "two.txt"]);
    let finished = works_through(&sandbox, &agent).args(tolerate).args(BY_FACTS).run();
    finished.assert_code(0).assert_stderr_has("items: 2 proved in this run, 0 of 2 items open");
}

#[test]
fn a_goal_whose_checks_are_as_red_as_before_is_claimed_and_its_commit_says_so() {
    let sandbox = repository();
    sandbox.write("test.sh", TWO_TESTS);
    sandbox.commit_all("tests");
    let agent = one_call(&sandbox, Steps::new().write("comment.txt", "").status(&StatusBlock::done()));
    let flags = ["--test-cmd", NAMED, "--set", "baseline=tolerate", "--reviews", "0", "--commit"];
    let finished = run(&sandbox, &agent).args(flags).run();
    finished
        .assert_code(0)
        .assert_stderr_has(
            "⚠ the goal is claimed (flagged: tests that failed before the run still fail: one, two) and committed: ",
        )
        .assert_stderr_has("⚠ COMPLETE, ONLY CLAIMED")
        .assert_stderr_lacks("proved and");
    assert!(
        sandbox.git(&["log", "-1", "--format=%B"]).contains("Claimed, not proved: its checks are as red")
    );
    ralph(&sandbox)
        .args(["evidence", "show"])
        .run()
        .assert_stdout_has("claimed with checks as red as before");
}

/// An attempt that broke the test was put back: who comes after it finds the test green, and has not turned it so.
#[test]
fn a_check_that_an_attempt_broke_and_that_was_put_back_does_not_speak_for_the_next_item() {
    let sandbox = checklist();
    let breaks = || claims(Steps::new().write("broken.txt", ""));
    let agent =
        another(&sandbox).call(breaks()).call(breaks()).call(claims(writes("note.txt"))).install(&sandbox);
    let flags =
        ["--profile", "worker", "--all", "--set", "max_iterations=2", "--test-cmd", "test ! -e broken.txt"];
    let finished = works_through(&sandbox, &agent).args(flags).run();
    let id = history(&sandbox)[2]["item"]["id"].as_str().expect("an item").to_owned();
    finished.assert_stderr_has(&format!("⚠ {id} passed by checks that were green already, and is committed"));
    finished.assert_stderr_has("0 proved in this run, 1 passed by checks that were green already");
}

#[test]
fn where_what_was_red_before_refuses_an_item_it_is_said_whether_it_can_be_tolerated() {
    let stuck = |script: &str, flags: &[&str]| {
        let sandbox = checklist();
        sandbox.write("test.sh", script);
        sandbox.commit_all("tests");
        // The agent does its part and then finds nothing to do.
        let agent =
            another(&sandbox).call(claims(writes("one.txt"))).call(claims(Steps::new())).install(&sandbox);
        works_through(&sandbox, &agent).args(["--test-cmd", NAMED]).args(flags).run()
    };
    let refuse = ["--set", "baseline=refuse"];
    let named = stuck(TWO_TESTS, &refuse);
    named.assert_code(2).assert_stderr_has("ralph run --set baseline=tolerate");
    let unnamed = stuck("test -e one.txt && test -e two.txt\n", &refuse);
    unnamed
        .assert_code(2)
        .assert_stderr_has("names no tests, so none can be tolerated; to check only what is asked for: ")
        .assert_stderr_has("ralph run --test-cmd CMD");
}

/// Two agents in a row change nothing and say that the item is done, while a check that knows nothing of it is green.
#[test]
fn two_words_beside_a_green_check_make_an_item_claimed_and_commit_no_mark_alone() {
    let sandbox = checklist();
    let before = commits(&sandbox);
    let lie = || Steps::new().status(&StatusBlock::done());
    let agent = another(&sandbox).call(lie()).install(&sandbox);
    // Four iterations without a change would open the circuit before the last item.
    let finished = works_through(&sandbox, &agent)
        .args(["--commit", "--test-cmd", "true", "--set", "no_progress=off"])
        .run();
    finished
        .assert_code(0)
        .assert_stderr_has("a second attempt must say so too")
        .assert_stderr_has(
            "is claimed, and no file was changed for it and no check is its own: nothing but the agent's word says so yet",
        )
        .assert_stderr_has("2 items claimed without a change and without a check of their own, and no agent changed a file")
        .assert_stderr_has("items: 0 proved in this run, 2 claimed, 0 of 2 items open")
        .assert_stderr_has("claimed: no file was changed for them, and marks alone are not committed")
        .assert_stderr_lacks("is proved");
    assert_eq!(commits(&sandbox), before, "a mark alone is no work: {finished}");
    assert_eq!(sandbox.read("fix_plan.md").matches("[x]").count(), 2);
    let review = &agent.calls(&sandbox)[4].prompt;
    assert!(review.contains("said done, and nothing but its word says so"), "{review}");
    let record = ledger(&sandbox).into_iter().rfind(|record| record["item"].is_string()).unwrap();
    assert_eq!(record["untouched"], true, "{record}");
    let shown = ralph(&sandbox).args(["evidence", "show"]).run();
    shown
        .assert_stdout_has("PASSED, claimed without a change and without a check of its own")
        .assert_stdout_has("rests on  the agent's word: ");
    let now = status(&sandbox);
    Schema::published("ralph.status/1").assert(&now);
    assert_eq!((&now["backlog"]["passed"], &now["backlog"]["unchecked"]), (&json!(2), &json!(2)));
    let told = now["stop_text"].as_str().expect("how it stopped");
    assert!(told.starts_with("complete, 2 items claimed, none proved; claimed without"), "{told}");
    let claimed = |row: &&Value| row["claimed"] == true;
    assert_eq!(history(&sandbox).iter().filter(claimed).count(), 2);
    ralph(&sandbox)
        .args(["history", "2"])
        .run()
        .assert_stdout_has("PASSED, claimed: nothing but the agent's word");
}

#[test]
fn an_item_that_is_only_claimed_rests_on_words_also_where_each_attempt_is_a_run() {
    let sandbox = checklist();
    let before = commits(&sandbox);
    let agent = another(&sandbox).call(Steps::new().status(&StatusBlock::done())).install(&sandbox);
    let once = || works_through(&sandbox, &agent).args(["--once", "--commit", "--test-cmd", "true"]).run();
    once().assert_code(3);
    let second = once();
    second
        .assert_code(0)
        .assert_stderr_has("⚠ ITEM CLAIMED: ")
        .assert_stderr_has("proof: words")
        .assert_stderr_has("no file was changed, and no check is its own")
        .assert_stderr_lacks("is proved");
    assert_eq!(commits(&sandbox), before, "{second}");
    // What is really done next takes the mark along.
    let agent = another(&sandbox).call(claims(writes("tests/two.rs"))).install(&sandbox);
    let third = works_through(&sandbox, &agent).args(["--once", "--commit", "--test-cmd", "true"]).run();
    third.assert_code(0).assert_stderr_has("is proved and committed");
    assert_eq!(committed(&sandbox, "fix_plan.md").matches("[x]").count(), 2, "{third}");
}

#[test]
fn an_item_that_an_earlier_attempt_worked_on_is_proved_though_the_last_one_changed_nothing() {
    let sandbox = checklist();
    let agent = another(&sandbox)
        .call(writes("tests/one.rs").status(&StatusBlock::in_progress()))
        .call(claims(Steps::new()))
        .install(&sandbox);
    let finished = works_through(&sandbox, &agent)
        .args(["--commit", "--test-cmd", "true", "--max-iterations", "3"])
        .run();
    finished.assert_stderr_has("is proved and committed").assert_stderr_has("items: 1 proved in this run");
    assert!(committed(&sandbox, "tests/one.rs").contains("one"), "{finished}");
}
