//! What is said of commits: where there is no git, of what is only claimed, of marks and files that are in none.

use ralph_testkit::{Sandbox, StatusBlock, Steps};
use serde_json::{Value, json};

use crate::common::{ralph, repository, run, status};
use crate::stage::{another, checklist, claims, commits, turns_green, works_through, writer, writes};

fn done() -> Steps {
    Steps::new().status(&StatusBlock::done())
}

/// Writes these files, one a call, and then says that everything is done.
fn writes_all(sandbox: &Sandbox, files: &[&str]) -> ralph_testkit::InstalledAgent {
    let agent = files.iter().fold(another(sandbox), |agent, file| agent.call(claims(writes(file))));
    agent.call(done()).install(sandbox)
}

#[test]
fn without_git_no_item_is_told_as_uncommitted_and_no_command_of_git_is_named() {
    let sandbox = Sandbox::new();
    sandbox.write("fix_plan.md", "- [ ] first thing\n- [ ] second thing\n- [ ] third thing\n");
    // For the third one nothing is changed.
    let agent = writes_all(&sandbox, &["one.txt", "two.txt"]);
    let finished = works_through(&sandbox, &agent).run();
    finished
        .assert_code(0)
        .assert_stderr_has("proved work is not committed, for this folder is no git repository")
        .assert_stderr_has("3 claimed,")
        .assert_stderr_lacks("uncommitted:")
        .assert_stderr_lacks("a mark alone")
        .assert_stderr_lacks("git status");
    let told = ralph(&sandbox).args(["status"]).run();
    told.assert_code(0);
    assert!(!told.stdout.contains("to commit:") && !told.stdout.contains("git status"), "{told}");
    assert_eq!(status(&sandbox)["uncommitted"], json!([]));
    let second = sandbox.read(".ralph/.state/evidence.jsonl").lines().nth(1).map(str::to_owned);
    let second: Value = serde_json::from_str(&second.expect("two items")).expect("a record");
    assert_eq!((&second["files_changed"], &second["files_in_all"]), (&json!(1), &Value::Null), "{second}");
}

#[test]
fn after_an_undo_of_the_whole_list_it_is_said_how_items_are_worked_on_again() {
    let sandbox = repository();
    // No snapshot holds it, so that no undo changes it.
    let tasks = "tasks:\n  - {id: a, title: one, status: todo}\n  - {id: b, title: two, status: todo}\n";
    sandbox.write(".ralph/ralph.yml", tasks);
    let agent = writes_all(&sandbox, &["one.txt", "two.txt"]);
    works_through(&sandbox, &agent).run().assert_code(0);
    let again = || works_through(&sandbox, &agent).run();
    let hint = "what was done from #1 on was undone, and items may still be marked as done; to have one worked on again: ralph backlog set ID open";
    again().assert_code(0).assert_stderr_lacks(hint);
    ralph(&sandbox).args(["undo", "1"]).run().assert_code(0);
    again().assert_code(0).assert_stderr_has(hint);
}

#[test]
fn where_items_have_no_check_it_is_said_before_that_claims_are_committed_and_no_claim_has_the_mark_of_proof()
{
    let sandbox = checklist();
    let agent = writes_all(&sandbox, &["one.txt", "two.txt"]);
    let row = "one for each item that passes, or claimed where it has no check, on main";
    works_through(&sandbox, &agent).arg("--dry-run").run().assert_code(0).assert_stdout_has(row);
    let checked = works_through(&sandbox, &agent).args(["--test-cmd", "true", "--dry-run"]).run();
    checked.assert_code(0).assert_stdout_has("one for each item that passes, on main");
    let finished = works_through(&sandbox, &agent).run();
    finished
        .assert_code(0)
        .assert_stderr_has(
            "what passes is committed on main, the default branch, and so is, as claimed, what is claimed without a check; ",
        )
        .assert_stderr_lacks("is proved and committed");
    let line = |sign: &str| finished.stderr.matches(&format!("[ralph] {sign} ")).count();
    assert_eq!((line("⚠"), line("✓")), (2, 1), "two claims, and the end: {finished}");
    let message = sandbox.git(&["log", "-1", "--format=%B"]);
    assert!(message.contains("Claimed, not proved: no check was run: the agent's word"), "{message}");
}

#[test]
fn one_attempt_announces_no_review() {
    let sandbox = checklist();
    let agent = writer(&sandbox, &["one.txt", "two.txt"]);
    let once = works_through(&sandbox, &agent).arg("--once").run();
    once.assert_code(0)
        .assert_stderr_has("so only words say that they are done")
        .assert_stderr_has("items are proved by their own")
        .assert_stderr_lacks("review");
    let message = sandbox.git(&["log", "-1", "--format=%B"]);
    assert!(message.contains("the agent's word.\n"), "{message}");
    works_through(&sandbox, &agent).arg("--dry-run").run().assert_stdout_has("words and reviews");
}

/// The agent ticks what was done before and commits that: nothing of it is left for anybody to commit.
#[test]
fn marks_that_the_agent_committed_itself_are_not_told_as_uncommitted() {
    let sandbox = checklist();
    let tick = "sed -i '0,/\\[[ /]\\]/s//[x]/' fix_plan.md; git commit --quiet --all --message ticked";
    let tick = || claims(Steps::new().shell(tick));
    // Each needs a second attempt that says so too.
    let agent = another(&sandbox).call(tick()).call(tick()).call(tick()).call(tick()).call(done());
    let agent = agent.install(&sandbox);
    let finished =
        works_through(&sandbox, &agent).args(["--set", "no_progress=off", "--set", "reviews=1"]).run();
    finished
        .assert_code(0)
        .assert_stderr_has("2 claimed,")
        .assert_stderr_lacks("a mark alone")
        .assert_stderr_lacks("git status");
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "");
    assert_eq!(status(&sandbox)["uncommitted"], json!([]));
}

/// A mark that ralph made stays uncommitted, until an agent commits it with the next one.
#[test]
fn a_mark_that_a_later_agent_commits_is_not_told_any_more() {
    let sandbox = checklist();
    let tick = "sed -i '0,/\\[[ /]\\]/s//[x]/' fix_plan.md; git commit --quiet --all --message ticked";
    let agent = another(&sandbox)
        .call(claims(Steps::new()))
        .call(claims(Steps::new()))
        .call(claims(Steps::new()))
        .call(claims(Steps::new().shell(tick)))
        .call(done())
        .install(&sandbox);
    let rules = ["--set", "no_progress=off", "--set", "reviews=1"];
    let finished = works_through(&sandbox, &agent).args(rules).run();
    finished.assert_code(0).assert_stderr_lacks("a mark alone").assert_stderr_lacks("git status");
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "");

    let sandbox = checklist();
    let agent = another(&sandbox).call(claims(Steps::new())).call(claims(Steps::new()));
    let agent = agent.call(claims(Steps::new())).call(claims(Steps::new())).call(done()).install(&sandbox);
    let finished = works_through(&sandbox, &agent).args(rules).run();
    finished
        .assert_code(0)
        .assert_stderr_has("claimed: no file was changed for them, and marks alone are not committed")
        .assert_stderr_has("what is claimed and not committed is in your files: git status");
}

#[test]
fn a_task_file_that_is_not_clean_is_told_before_and_each_commit_names_it() {
    let sandbox = checklist();
    sandbox.write("fix_plan.md", sandbox.read("fix_plan.md") + "- [ ] third thing\n");
    let agent = writes_all(&sandbox, &["one.txt", "two.txt", "three.txt"]);
    let works = || turns_green(&sandbox, &agent).args(["--test-cmd", "test -e one.txt"]);
    works()
        .arg("--dry-run")
        .run()
        .assert_code(0)
        .assert_stdout_has("main, 1 uncommitted file left alone, but for marks in fix_plan.md")
        .assert_stdout_has("fix_plan.md, which has uncommitted changes: commit it first");
    let finished = works().run();
    let first = "git add -- :/fix_plan.md && git commit -m \"tasks\" -- :/fix_plan.md";
    finished
        .assert_code(0)
        .assert_stderr_has(
            "fix_plan.md has changes that are not committed, so its marks are not committed with the items",
        )
        .assert_stderr_has(first)
        .assert_stderr_has("passed: their commits are without files that were not clean before: fix_plan.md")
        .assert_stderr_lacks("but for files");
    let made = sandbox.git(&["log", "--format=%h", "--abbrev=12", "-3"]);
    for commit in made.lines() {
        let line = format!(" committed as {commit}, without fix_plan.md, which was not clean before");
        finished.assert_stderr_has(&line);
    }

    // As it is said, and a file that is as ralph left it is no work of the user's.
    let sandbox = checklist();
    sandbox.write("fix_plan.md", sandbox.read("fix_plan.md") + "- [ ] third thing\n");
    assert!(
        sandbox.command("sh").args(["-c", first]).current_dir(sandbox.project()).status().unwrap().success()
    );
    let agent = writes_all(&sandbox, &["one.txt", "two.txt", "three.txt"]);
    let once = turns_green(&sandbox, &agent).args(["--once", "--test-cmd", "test -e one.txt"]);
    once.run().assert_code(0).assert_stderr_lacks("not clean").assert_stderr_lacks("commit it first");
    let rest = turns_green(&sandbox, &agent).args(["--test-cmd", "test -e one.txt"]).run();
    rest.assert_code(0).assert_stderr_lacks("commit it first").assert_stderr_lacks("uncommitted:");
    assert_eq!((commits(&sandbox), sandbox.git(&["status", "--porcelain"])), (6, String::new()));
}

/// Of a goal the last word is a reviewer's; the commit has that of whoever did the work.
#[test]
fn the_commit_of_a_goal_says_what_the_agent_said_that_did_the_work() {
    let sandbox = repository();
    let says = |steps: Steps, words: &str| steps.say(format!("{words}\n")).status(&StatusBlock::done());
    let agent = another(&sandbox)
        .call(says(writes("one.txt"), "made the one file"))
        .call(says(Steps::new(), "nothing left to do"))
        .install(&sandbox);
    run(&sandbox, &agent).args(["--commit", "--reviews", "1"]).run().assert_code(0);
    let message = sandbox.git(&["log", "-1", "--format=%B"]);
    assert!(message.contains("\n\nThe agent says: made the one file\n\n"), "{message}");
    assert!(!message.contains("nothing left to do"), "{message}");
}
