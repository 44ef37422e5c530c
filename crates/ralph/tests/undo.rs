//! `ralph undo` and `ralph history --diff`: what comes back, what stays, and what is refused before a file is touched.

mod common;

use common::{GOAL, one_call, ralph, repository, repository_with_work_in_progress, run, says_more, status};
use ralph_testkit::{Background, FakeAgent, Finished, Sandbox, Schema, Signal, StatusBlock, Steps, Terminal};

/// Runs these calls, one an iteration.
fn iterations(sandbox: &Sandbox, calls: Vec<Steps>) {
    let limit = calls.len().to_string();
    let more = |steps: Steps| steps.status(&StatusBlock::in_progress());
    let agent = calls.into_iter().fold(FakeAgent::new("agent"), |agent, steps| agent.call(more(steps)));
    let agent = agent.install(sandbox);
    run(sandbox, &agent).args(["--max-iterations", &limit, "--set", "no_progress=off"]).run().assert_code(3);
}

fn undo(sandbox: &Sandbox, what: &[&str]) -> Finished {
    ralph(sandbox).arg("undo").args(what).run()
}

/// The command that an undo says would take it back.
fn taking_back(undone: &Finished) -> String {
    let line = undone.stderr.lines().find_map(|line| line.split_once("ralph undo --to "));
    line.expect("how to take it back").1.trim().to_owned()
}

#[test]
fn an_undo_brings_the_user_s_work_back_and_can_itself_be_undone() {
    let sandbox = repository_with_work_in_progress();
    let before = sandbox.user_git_state();
    let first =
        Steps::new().write("README.md", "# agent\n").write("new/deep.txt", "1\n").delete("untracked.txt");
    iterations(&sandbox, vec![first, Steps::new().write("staged.txt", "agent\n").write("second.txt", "2\n")]);
    let after = sandbox.user_git_state();

    let undone = undo(&sandbox, &["1"]);
    undone.assert_code(0).assert_stderr_has("5 files put back as before iteration 1");
    assert_eq!(undone.stdout, "");
    before.assert_same(&sandbox.user_git_state());
    assert!(!sandbox.exists("new"), "folders that nobody needs are gone too");

    undo(&sandbox, &["--to", &taking_back(&undone)]).assert_code(0);
    after.assert_same(&sandbox.user_git_state());

    let undone = undo(&sandbox, &["2"]);
    undone.assert_code(0).assert_stderr_has("2 files put back as before iteration 2");
    assert_eq!((sandbox.read("staged.txt"), sandbox.exists("second.txt")), ("staged\n".into(), false));
    assert_eq!(sandbox.read("README.md"), "# agent\n", "the first iteration's work stays");
    undo(&sandbox, &["2"]).assert_code(0).assert_stderr_has("nothing was put back");
}

#[test]
fn an_undo_is_on_record_and_the_next_iteration_is_told() {
    let sandbox = repository();
    iterations(&sandbox, vec![Steps::new().write("a.txt", "1\n"), Steps::new().write("a.txt", "2\n")]);
    let undone = undo(&sandbox, &["2"]);
    undone.assert_code(0);
    let listed = ralph(&sandbox).arg("history").run();
    listed
        .assert_code(0)
        .assert_stdout_has("undone after #2: 1 file put back as before iteration 2")
        .assert_stdout_has(&format!("ralph undo --to {}", taking_back(&undone)));
    let document = ralph(&sandbox).args(["history", "--json"]).run().json();
    Schema::published("ralph.history/1").assert(&document);
    assert_eq!(document["undone"][0]["iteration"], 2);

    let agent = FakeAgent::new("next").call(says_more()).install(&sandbox);
    ralph(&sandbox)
        .args(["run", "--max-iterations", "4", "--agent-cmd"])
        .arg(agent.path())
        .run()
        .assert_code(3);
    let calls = agent.calls(&sandbox);
    let prompts: Vec<&str> = calls.iter().rev().take(2).map(|call| call.prompt.as_str()).collect();
    assert!(
        prompts[1].contains("the user undid work: 1 file put back as before iteration 2"),
        "{}",
        prompts[1]
    );
    assert!(!prompts[0].contains("undid"), "said once");
    let listed = ralph(&sandbox).arg("history").run().stdout;
    let place = |what: &str| listed.find(what).unwrap_or_else(|| panic!("{what}: {listed}"));
    assert!(
        place("  #2 ") < place("undone after #2") && place("undone after #2") < place("  #3 "),
        "{listed}"
    );
    assert_eq!(sandbox.read("a.txt"), "1\n");
}

#[test]
fn a_dry_run_lists_the_files_and_touches_none() {
    let sandbox = repository();
    let steps = Steps::new().write("README.md", "x\n").write("new.txt", "x\n");
    iterations(&sandbox, vec![steps]);
    let before = sandbox.user_git_state();
    let listed = undo(&sandbox, &["1", "--dry-run"]);
    listed.assert_code(0);
    assert_eq!(listed.stdout, "M README.md\nD new.txt\n");
    before.assert_same(&sandbox.user_git_state());
    assert!(!ralph(&sandbox).arg("history").run().stdout.contains("undone"));
}

/// Continues the run with another agent, up to this many iterations in all.
fn goes_on(sandbox: &Sandbox, name: &str, steps: Steps, limit: &str) -> Finished {
    let agent = FakeAgent::new(name).call(steps.status(&StatusBlock::in_progress())).install(sandbox);
    let finished =
        ralph(sandbox).args(["run", "--max-iterations", limit, "--agent-cmd"]).arg(agent.path()).run();
    finished.assert_code(3);
    finished
}

const STAY: &str = "changed outside of the iterations, by you or somebody else";

#[test]
fn what_no_iteration_changed_stays_and_is_named() {
    let sandbox = repository();
    sandbox.write("old.txt", "old\n");
    sandbox.write("both.txt", "0\n");
    sandbox.commit_all("more");
    iterations(&sandbox, vec![Steps::new().write("notes.txt", "1\n").write("both.txt", "1\n")]);
    sandbox.write("mine.txt", "mine\n");
    sandbox.write("both.txt", "mine\n");
    assert!(sandbox.command("rm").arg("old.txt").status().expect("rm").success());
    goes_on(&sandbox, "second", Steps::new().append("notes.txt", "2\n").append("both.txt", "2\n"), "2");
    sandbox.write("mine2.txt", "mine\n");
    sandbox.write("README.md", "# mine\n");

    let said = format!(
        "5 files stay as they are: {STAY}\n  README.md\n  both.txt\n  mine.txt\n  mine2.txt\n  old.txt\n\
         to have them as at that time too, which deletes those that were not there: ralph undo 1 --all\n"
    );
    let before = sandbox.user_git_state();
    let listed = undo(&sandbox, &["1", "--dry-run"]);
    listed
        .assert_code(0)
        .assert_stderr_has(&said)
        .assert_stderr_has("1 file would be deleted: it was not there at that time");
    assert_eq!(listed.stdout, "D notes.txt\n");
    before.assert_same(&sandbox.user_git_state());

    let undone = undo(&sandbox, &["1"]);
    undone.assert_code(0).assert_stderr_has(&said).assert_stderr_has("1 file put back as before iteration 1");
    assert!(!sandbox.exists("notes.txt") && !sandbox.exists("old.txt"));
    let read = |name: &str| sandbox.read(name);
    assert_eq!(["README.md", "mine.txt", "mine2.txt"].map(read), ["# mine\n", "mine\n", "mine\n"]);
    assert_eq!(sandbox.read("both.txt"), "mine\n2\n", "what both changed is not cut in two");
    undo(&sandbox, &["1"]).assert_code(0).assert_stderr_has("all others are like that already");

    undo(&sandbox, &["--to", &taking_back(&undone)]).assert_code(0).assert_stderr_lacks("files stay");
    before.assert_same(&sandbox.user_git_state());
    // Only what came after the wanted snapshot.
    let last = undo(&sandbox, &["2", "--dry-run"]);
    last.assert_code(0).assert_stderr_has("  README.md\n  mine2.txt\nto have them");
    assert_eq!(last.stdout, "M both.txt\nM notes.txt\n");
}

#[test]
fn all_of_it_is_put_back_where_that_is_asked_for() {
    let sandbox = repository();
    iterations(&sandbox, vec![Steps::new().write("notes.txt", "1\n")]);
    sandbox.write("mine.txt", "mine\n");
    sandbox.write("README.md", "# mine\n");
    let said = format!("2 files are put back too: {STAY}\n  README.md\n  mine.txt\n");
    let listed = undo(&sandbox, &["1", "--all", "--dry-run"]);
    listed.assert_code(0).assert_stderr_has(&said.replace("are put", "would be put"));
    assert_eq!(listed.stdout, "M README.md\nD mine.txt\nD notes.txt\n");
    let undone = undo(&sandbox, &["1", "--all"]);
    undone
        .assert_code(0)
        .assert_stderr_has(&said)
        .assert_stderr_has("2 files are deleted: they were not there at that time");
    assert_eq!((sandbox.read("README.md"), sandbox.exists("mine.txt")), ("# project\n".into(), false));
    // What came since is named, and goes: a snapshot is exact.
    sandbox.write("later.txt", "mine\n");
    let tree = taking_back(&undone);
    undo(&sandbox, &["--to", &tree]).assert_code(0).assert_stderr_has(
        "1 file is put back too: changed since the last iteration or undo, by you or somebody else\n  later.txt\n",
    );
    assert_eq!((sandbox.read("README.md"), sandbox.exists("later.txt")), ("# mine\n".into(), false));
    undo(&sandbox, &["--to", &tree, "--all"]).assert_code(64);
}

#[test]
fn what_the_user_took_back_himself_or_by_an_undo_is_no_work_of_his() {
    let sandbox = repository();
    iterations(&sandbox, vec![Steps::new().write("README.md", "1\n"), Steps::new().write("a.txt", "2\n")]);
    sandbox.git(&["checkout", "README.md"]);
    undo(&sandbox, &["2"])
        .assert_code(0)
        .assert_stderr_has("1 file stays as it is")
        .assert_stderr_has("  README.md\n");
    goes_on(&sandbox, "third", Steps::new().write("README.md", "3\n").write("a.txt", "3\n"), "3");
    let undone = undo(&sandbox, &["1"]);
    undone.assert_code(0).assert_stderr_lacks("stay").assert_stderr_has("2 files put back");
    assert_eq!((sandbox.read("README.md"), sandbox.exists("a.txt")), ("# project\n".into(), false));
}

#[test]
fn marks_of_ralph_in_a_task_file_go_back_and_what_the_user_wrote_there_stays() {
    let sandbox = repository();
    sandbox.write("fix_plan.md", "- [ ] first thing\n- [ ] second thing\n");
    let write = |file: &str, status| Steps::new().write(file, "1\n").status(&status);
    let agent = FakeAgent::new("agent").call(write("a", StatusBlock::in_progress()));
    let agent = agent.call(write("b", StatusBlock::done())).install(&sandbox);
    let work =
        ["run", "--yes", "--set", "reviews=0", "--set", "commits=never", "--test-cmd", "true", "--agent-cmd"];
    ralph(&sandbox).args(work).arg(agent.path()).run().assert_code(0);
    assert_eq!(sandbox.read("fix_plan.md").matches("[x]").count(), 2, "{}", sandbox.read("fix_plan.md"));
    let undone = undo(&sandbox, &["1"]);
    undone.assert_code(0).assert_stderr_lacks("stay");
    assert_eq!(sandbox.read("fix_plan.md"), "- [ ] first thing\n- [ ] second thing\n");
    undo(&sandbox, &["--to", &taking_back(&undone)]).assert_code(0);
    let mine = sandbox.read("fix_plan.md") + "- [ ] third thing\n";
    sandbox.write("fix_plan.md", &mine);
    let undone = undo(&sandbox, &["1"]);
    undone.assert_code(0).assert_stderr_has("1 file stays as it is").assert_stderr_has("  fix_plan.md\n");
    undone.assert_stderr_has("still done in fix_plan.md: ");
    assert_eq!((sandbox.read("fix_plan.md"), sandbox.exists("a")), (mine, false));
}

#[test]
fn what_the_user_adds_to_a_task_file_while_checks_run_stays() {
    for limit in ["1", "2"] {
        let sandbox = repository();
        sandbox.write("fix_plan.md", "- [ ] first thing\n- [ ] second thing\n");
        sandbox.commit_all("plan");
        let once = sandbox.root().join("tmp/once");
        let adds = format!("test -e {0} || {{ : > {0}; echo '- [ ] mine' >> fix_plan.md; }}", once.display());
        let agent = FakeAgent::new("agent");
        let write = |file: &str| Steps::new().write(file, "1\n").status(&StatusBlock::in_progress());
        let agent = agent.call(write("a")).call(write("b")).install(&sandbox);
        ralph(&sandbox)
            .args(["run", "--yes", "--set", "commits=never", "--set", "baseline=off", "--test-cmd", &adds])
            .args(["--max-iterations", limit, "--agent-cmd"])
            .arg(agent.path())
            .run()
            .assert_code(3);
        let left = sandbox.read("fix_plan.md");
        assert!(left.contains("- [x] first thing") && left.ends_with("- [ ] mine\n"), "{left}");
        let undone = undo(&sandbox, &["1"]);
        undone.assert_code(0).assert_stderr_has("1 file stays as it is").assert_stderr_has("  fix_plan.md\n");
        assert_eq!((sandbox.read("fix_plan.md"), sandbox.exists("a")), (left, false), "{limit}");
    }
}

#[test]
fn nothing_is_undone_while_a_run_is_going_on() {
    let sandbox = repository();
    let agent = one_call(&sandbox, Steps::new().write("a.txt", "1\n").reach("agent").hold("go"));
    let running = run(&sandbox, &agent).args(["--max-iterations", "1"]).spawn();
    sandbox.wait_for("agent");
    undo(&sandbox, &["1"]).assert_code(1).assert_stderr_has("a run is going on here");
    assert_eq!(sandbox.read("a.txt"), "1\n");
    sandbox.release("go");
    running.wait().assert_code(3);
}

#[test]
fn what_a_killed_run_left_is_not_told_from_what_the_user_did_since_and_undone_only_with_all_of_it() {
    let sandbox = repository();
    let agent = one_call(&sandbox, Steps::new().write("README.md", "half\n").reach("agent").hang());
    let running = run(&sandbox, &agent).spawn();
    sandbox.wait_for("agent");
    running.kill9();
    running.wait();
    sandbox.write("mine.txt", "a day's work\n");
    let before = sandbox.user_git_state();
    for words in [&["1"][..], &["1", "--dry-run"]] {
        let refused = undo(&sandbox, words);
        refused
            .assert_code(1)
            .assert_stderr_has("2 files, changed in or after an iteration that was cut off")
            .assert_stderr_has("\n  README.md\n  mine.txt\n")
            .assert_stderr_has("no file was touched")
            .assert_stderr_has("ralph undo 1 --all --dry-run")
            .assert_stderr_has("take that back: ralph undo 1 --all\n");
        assert_eq!(refused.stdout, "");
        before.assert_same(&sandbox.user_git_state());
    }
    let listed = undo(&sandbox, &["1", "--all", "--dry-run"]);
    listed.assert_code(0);
    assert_eq!(listed.stdout, "M README.md\nD mine.txt\n");
    let undone = undo(&sandbox, &["1", "--all"]);
    undone
        .assert_code(0)
        .assert_stderr_has("2 files are put back too: changed in or after an iteration that was cut off")
        .assert_stderr_has("\n  README.md\n  mine.txt\n");
    assert_eq!((sandbox.read("README.md"), sandbox.exists("mine.txt")), ("# project\n".into(), false));
    sandbox.assert_no_processes();
    assert_eq!(status(&sandbox)["status"], "cut_off", "the run can still be continued");
    undo(&sandbox, &["--to", &taking_back(&undone)]).assert_code(0);
    before.assert_same(&sandbox.user_git_state());
}

#[test]
fn what_checks_wrote_between_iterations_goes_with_them_and_what_came_after_the_last_stays() {
    let sandbox = repository();
    let check = "test -e Cargo.lock || echo 1 > Cargo.lock; test -e second && echo 2 > other.lock; exit 1";
    let claims = |file: &str| Steps::new().write(file, "1\n").status(&StatusBlock::done());
    let agent = FakeAgent::new("agent").call(claims("first")).call(claims("second")).install(&sandbox);
    run(&sandbox, &agent)
        .args(["--test-cmd", check, "--set", "baseline=off", "--max-iterations", "2"])
        .run()
        .assert_code(3);
    assert!(sandbox.exists("Cargo.lock") && sandbox.exists("other.lock"));
    let undone = undo(&sandbox, &["1"]);
    undone.assert_code(0).assert_stderr_has(&format!("1 file stays as it is: {STAY}\n  other.lock\n"));
    assert!(!sandbox.exists("first") && !sandbox.exists("second"));
    assert!(!sandbox.exists("Cargo.lock"), "it was written between two iterations, by a check");
    assert!(sandbox.exists("other.lock"), "nobody measured after the last check");
}

#[test]
#[cfg(target_os = "linux")]
fn whoever_a_killed_run_left_at_work_is_ended_before_anything_is_put_back() {
    use rustix::process::{Pid, kill_process};
    let sandbox = repository();
    let runaway = Background::new().own_session().clean_environment().ignores_term();
    let steps = Steps::new().write("README.md", "half\n").background(runaway).reach("agent").hang();
    let agent = one_call(&sandbox, steps);
    let running = run(&sandbox, &agent).spawn();
    sandbox.wait_for("agent");
    let kept = sandbox.processes().into_iter().find(|(_, line)| line.contains("__keep"));
    let keeper = kept.and_then(|(pid, _)| Pid::from_raw(i32::try_from(pid).ok()?)).expect("a keeper");
    kill_process(keeper, Signal::STOP).expect("stopped");
    running.kill9();
    running.wait();
    kill_process(keeper, Signal::KILL).expect("kill -9");
    undo(&sandbox, &["1", "--all"]).assert_code(0).assert_stderr_has("that a killed run had left at work");
    assert_eq!(sandbox.read("README.md"), "# project\n");
    sandbox.assert_no_processes();
}

/// `git read-tree` fails where it is not only tried, as it does when the disk is full.
#[test]
fn an_undo_that_stops_half_way_says_so_and_both_ways_on() {
    let sandbox = repository();
    iterations(&sandbox, vec![Steps::new().write("a.txt", "1\n").write("README.md", "# agent\n")]);
    let real = sandbox.command("sh").args(["-c", "command -v git"]).output().expect("git").stdout;
    let real = String::from_utf8(real).expect("a path");
    let script = "#!/bin/sh\ncase \" $* \" in\n*' -n '*) ;;\n*' read-tree '*' -u '*) echo 'disk full' >&2; exit 128;;\nesac\n";
    sandbox.install_script("git", &format!("{script}exec {} \"$@\"\n", real.trim()));
    let stopped = undo(&sandbox, &["1"]);
    stopped
        .assert_code(1)
        .assert_stderr_has("not all files could be put back; some may have been")
        .assert_stderr_has("to put back the rest: ralph undo 1")
        .assert_stderr_has("to have all as it was before: ralph undo --to ")
        .assert_stderr_lacks("none was touched");
}

#[test]
fn commits_stay_and_how_to_take_the_branch_back_is_said() {
    let sandbox = repository();
    let before = sandbox.git(&["rev-parse", "HEAD"]);
    iterations(&sandbox, vec![Steps::new().write("README.md", "x\n").shell("git commit -q -a -m work")]);
    let head = sandbox.git(&["rev-parse", "HEAD"]);
    let undone = undo(&sandbox, &["1"]);
    undone
        .assert_code(0)
        .assert_stderr_has(&format!("HEAD is {}, and was {}", &head[..12], &before[..12]))
        .assert_stderr_has(&format!("git reset {}", &before[..12]));
    assert_eq!(sandbox.read("README.md"), "# project\n");
    assert_eq!(sandbox.git(&["rev-parse", "HEAD"]), head);
    sandbox.git(&["reset", "-q", &before[..12]]);
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "");
}

#[test]
fn links_modes_and_strange_names_come_back() {
    let sandbox = repository();
    sandbox.write("tool.sh", "#!/bin/sh\n");
    sandbox.write("old", "becomes a folder\n");
    sandbox.git(&["config", "core.fileMode", "true"]);
    let setup = "ln -s README.md link; chmod 755 tool.sh; printf x > \"$(printf 'a\\377b')\"";
    assert!(sandbox.command("sh").args(["-c", setup]).status().expect("sh").success());
    let before = sandbox.user_git_state();
    let mess = "rm link; ln -s nowhere link; chmod 644 tool.sh; rm old; mkdir old; echo x > old/file; rm a*b";
    iterations(&sandbox, vec![Steps::new().shell(mess)]);
    assert_ne!(before, sandbox.user_git_state());
    undo(&sandbox, &["1"]).assert_code(0);
    before.assert_same(&sandbox.user_git_state());
}

#[test]
fn what_no_snapshot_holds_is_neither_overwritten_nor_removed() {
    let sandbox = repository();
    sandbox.write("out/1.o", "mine\n");
    sandbox.write("out/2.o", "same\n");
    let ignore =
        Steps::new().write(".gitignore", "out/\n").write("out/1.o", "built\n").write("out/9.o", "new\n");
    iterations(&sandbox, vec![ignore]);
    let before = sandbox.user_git_state();
    undo(&sandbox, &["1"])
        .assert_code(1)
        .assert_stderr_has("none was touched")
        .assert_stderr_has("out/1.o would be lost")
        .assert_stderr_has("move them elsewhere");
    before.assert_same(&sandbox.user_git_state());
    assert_eq!(sandbox.read("out/1.o"), "built\n");

    assert!(sandbox.command("rm").arg("out/1.o").status().expect("rm").success());
    undo(&sandbox, &["1"]).assert_code(0);
    assert_eq!((sandbox.read("out/1.o"), sandbox.exists(".gitignore")), ("mine\n".into(), false));
    assert_eq!(sandbox.read("out/9.o"), "new\n", "ignored files stay");
}

#[test]
fn files_that_are_too_big_are_named_and_left_alone() {
    let sandbox = repository();
    iterations(&sandbox, vec![Steps::new().write("a.txt", "1\n").shell("truncate -s 60000000 big.bin")]);
    undo(&sandbox, &["1"]).assert_code(0).assert_stderr_has("big.bin is over 50 MB");
    assert!(sandbox.exists("big.bin") && !sandbox.exists("a.txt"));
}

#[test]
fn a_nested_repository_is_named_and_left_alone() {
    let sandbox = repository();
    let nest = "git init -q inner && echo 1 > inner/x && git -C inner add x && git -C inner commit -q -m x";
    iterations(&sandbox, vec![Steps::new().shell(nest).write("a.txt", "1\n")]);
    undo(&sandbox, &["1"]).assert_code(0).assert_stderr_has("inner is a repository of its own and stays");
    assert!(!sandbox.exists("a.txt"));
    assert_eq!(sandbox.read("inner/x"), "1\n");
}

#[test]
fn what_went_with_a_rewritten_history_is_refused_before_anything_is_touched() {
    let sandbox = repository();
    let rewrite =
        "git commit -q --amend -a -m other; git reflog expire --expire=now --all; git gc -q --prune=now";
    iterations(&sandbox, vec![Steps::new().write("README.md", "# other\n").shell(rewrite)]);
    let before = sandbox.user_git_state();
    undo(&sandbox, &["1"])
        .assert_code(1)
        .assert_stderr_has("not stored any more")
        .assert_stderr_has("none was touched");
    before.assert_same(&sandbox.user_git_state());
    ralph(&sandbox)
        .args(["history", "1", "--diff"])
        .run()
        .assert_code(1)
        .assert_stderr_has("what iteration 1 changed is not stored any more");
}

#[test]
fn what_went_with_ralph_s_own_folder_is_told_so_and_not_put_down_to_its_age() {
    let sandbox = repository();
    let write = |text: &str| Steps::new().write("a.txt", text);
    iterations(&sandbox, vec![write("1\n"), write("2\n").shell("rm -rf .git/ralph"), write("3\n")]);
    undo(&sandbox, &["2"])
        .assert_code(1)
        .assert_stderr_has("is not stored any more; in iteration 2: the agent removed .git/ralph/")
        .assert_stderr_has("what came after that can be undone; to see the iterations: ralph history")
        .assert_stderr_lacks("keep_snapshots");
    assert_eq!(sandbox.read("a.txt"), "3\n");
    undo(&sandbox, &["3"]).assert_code(0);
    assert_eq!(sandbox.read("a.txt"), "2\n");

    assert!(sandbox.command("rm").args(["-rf", ".git/ralph"]).status().expect("rm").success());
    for what in [&["3"][..], &[]] {
        undo(&sandbox, what)
            .assert_code(1)
            .assert_stderr_has("the record of what was run here is gone, and the snapshots with it")
            .assert_stderr_lacks("ralph history");
    }
    assert!(sandbox.command("rm").args(["-rf", ".git"]).status().expect("rm").success());
    undo(&sandbox, &["3"])
        .assert_code(1)
        .assert_stderr_has("if this was one, somebody removed .git")
        .assert_stderr_lacks("git status");
    assert_eq!(sandbox.read("a.txt"), "2\n");
}

#[test]
fn what_was_removed_in_every_iteration_is_put_down_to_the_one_in_which_it_went() {
    let sandbox = repository();
    let write = |text: &str| Steps::new().write("a.txt", text).shell("rm -rf .git/ralph");
    iterations(&sandbox, vec![write("1\n"), write("2\n"), write("3\n")]);
    undo(&sandbox, &["3"])
        .assert_code(1)
        .assert_stderr_has("is not stored any more; in iteration 3: the agent removed .git/ralph/");
}

#[test]
fn a_folder_without_git_is_undone_too() {
    let sandbox = Sandbox::new();
    sandbox.write("a.txt", "1\n");
    sandbox.write("b.txt", "1\n");
    iterations(&sandbox, vec![Steps::new().write("a.txt", "2\n").delete("b.txt").write("c.txt", "2\n")]);
    let undone = undo(&sandbox, &["1"]);
    undone.assert_code(0).assert_stderr_lacks("commits stay");
    assert_eq!((sandbox.read("a.txt"), sandbox.read("b.txt")), ("1\n".into(), "1\n".into()));
    assert!(!sandbox.exists("c.txt"));
    undo(&sandbox, &["--to", &taking_back(&undone)]).assert_code(0);
    assert_eq!((sandbox.read("a.txt"), sandbox.exists("b.txt")), ("2\n".into(), false));
}

#[test]
fn items_that_stay_done_are_named_with_how_to_open_them() {
    let sandbox = repository();
    sandbox.write(".ralph/ralph.yml", "tasks:\n  - id: one\n    title: One\n  - id: two\n    title: Two\n");
    let write = |file: &str, status| Steps::new().write(file, "1\n").status(&status);
    let agent = FakeAgent::new("agent").call(write("a", StatusBlock::in_progress()));
    let agent = agent.call(write("b", StatusBlock::done())).install(&sandbox);
    let work =
        ["run", "--yes", "--set", "reviews=0", "--set", "commits=never", "--test-cmd", "true", "--agent-cmd"];
    ralph(&sandbox).args(work).arg(agent.path()).run().assert_code(0);
    let undone = undo(&sandbox, &["2"]);
    undone.assert_code(0).assert_stderr_has("still done in .ralph/ralph.yml: two\n");
    undone.assert_stderr_has("ralph backlog set two open\nthen: ralph run --agent-cmd ");
    ralph(&sandbox).args(["backlog", "set", "two", "open"]).run().assert_code(0);
    let undone = undo(&sandbox, &["1"]);
    undone.assert_code(0).assert_stderr_has("still done in .ralph/ralph.yml: one\n");
}

#[test]
fn an_undo_that_is_taken_back_tells_of_a_branch_and_an_item_that_were_taken_back_meanwhile() {
    let sandbox = repository();
    sandbox.write(".ralph/ralph.yml", "tasks:\n  - id: one\n    title: One\n");
    let before = sandbox.git(&["rev-parse", "HEAD"]);
    let agent = one_call(&sandbox, Steps::new().write("a", "1\n").status(&StatusBlock::done()));
    let work = ["run", "--yes", "--set", "reviews=0", "--test-cmd", "true", "--agent-cmd"];
    ralph(&sandbox).args(work).arg(agent.path()).run().assert_code(0);
    let proved = sandbox.git(&["rev-parse", "HEAD"]);
    assert_ne!(proved, before, "the item is committed");
    let undone = undo(&sandbox, &["1"]);
    let reset = format!("git reset {}", &before[..12]);
    let open = format!(
        "to have it worked on again and committed: {reset} && ralph backlog set one open\nthen: ralph run --agent-cmd "
    );
    undone.assert_code(0).assert_stderr_has(&open);
    let to = taking_back(&undone);
    // Nothing else was taken back: the undo is all there is.
    let back = undo(&sandbox, &["--to", &to]);
    back.assert_code(0).assert_stderr_lacks("HEAD").assert_stderr_lacks("ralph.yml");
    undo(&sandbox, &["1"]).assert_code(0);
    sandbox.git(&["reset", "-q", &before]);
    ralph(&sandbox).args(["backlog", "set", "one", "open"]).run().assert_code(0);
    let back = undo(&sandbox, &["--to", &to]);
    let there =
        format!("to take the branch there again, leaving the files alone: git reset {}\n", &proved[..12]);
    back.assert_code(0).assert_stderr_has(&there);
    back.assert_stderr_has("passed by what is back, and not done in .ralph/ralph.yml: one\n")
        .assert_stderr_has("to have it marked as done again: ralph backlog set one done\n");
    sandbox.git(&["reset", "-q", &proved[..12]]);
    let marked = ralph(&sandbox).args(["backlog", "set", "one", "done"]).run();
    marked.assert_code(0).assert_stderr_lacks("your word");
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "");
}

/// What an undo brought back was committed once: whoever does the work again throws nothing of the user's away.
#[test]
fn what_an_undo_brought_back_is_no_work_of_the_user_s_that_an_agent_could_throw_away() {
    let sandbox = repository();
    sandbox.write(".ralph/ralph.yml", "tasks:\n  - id: one\n    title: One\n");
    let steps = || Steps::new().write("README.md", "better\n").status(&StatusBlock::done());
    let agent = FakeAgent::new("agent").call(steps()).call(steps()).install(&sandbox);
    let work = || {
        let args = ["run", "--yes", "--set", "reviews=0", "--test-cmd", "true", "--agent-cmd"];
        ralph(&sandbox).args(args).arg(agent.path()).run()
    };
    work().assert_code(0);
    undo(&sandbox, &["1"]).assert_code(0);
    ralph(&sandbox).args(["backlog", "set", "one", "open"]).run().assert_code(0);
    work().assert_code(0).assert_stderr_lacks("what you had not committed is gone");
    // The same of what no commit has is told.
    undo(&sandbox, &["1"]).assert_code(0);
    sandbox.write("README.md", "mine\n");
    ralph(&sandbox).args(["backlog", "set", "one", "open"]).run().assert_code(0);
    work().assert_code(0).assert_stderr_has("what you had not committed is gone");
}

#[test]
fn one_file_can_be_had_back_alone_whoever_changed_it() {
    let sandbox = repository();
    sandbox.write("mine.txt", "mine\n");
    let steps = Steps::new().delete("mine.txt").write("work/a.txt", "1\n").write("work/b.txt", "1\n");
    iterations(&sandbox, vec![steps]);
    let listed = undo(&sandbox, &["1", "mine.txt", "--dry-run"]);
    listed.assert_code(0).assert_stderr_has("1 file would be put back as before iteration 1");
    assert_eq!(listed.stdout, "A mine.txt\n");
    let back = undo(&sandbox, &["1", "mine.txt"]);
    back.assert_code(0).assert_stderr_has("1 file put back as before iteration 1\n  A mine.txt\n");
    assert_eq!((sandbox.read("mine.txt"), sandbox.exists("work/a.txt")), ("mine\n".into(), true));
    undo(&sandbox, &["--to", &taking_back(&back)]).assert_code(0);
    assert!(!sandbox.exists("mine.txt"));
    // A folder, from within it, and what the user changed since.
    sandbox.write("work/a.txt", "2\n");
    let folder = ralph(&sandbox).args(["undo", "1", "."]).in_folder("work").run();
    folder.assert_code(0).assert_stderr_has("2 files put back");
    assert!(!sandbox.exists("work/a.txt") && !sandbox.exists("work/b.txt") && !sandbox.exists("mine.txt"));
    sandbox.write("work/a.txt", "mine\n");
    ralph(&sandbox).args(["undo", "1", "work"]).run().assert_code(0);
    undo(&sandbox, &["1", "README.md"])
        .assert_code(0)
        .assert_stderr_has("what was named is like that already");
    assert!(!sandbox.exists("work/a.txt"));
    undo(&sandbox, &["1", "mispelt.txt"]).assert_code(64).assert_stderr_has("no snapshot holds mispelt.txt");
    undo(&sandbox, &["1", "/etc/passwd"]).assert_code(64).assert_stderr_has("is not in this project");
    undo(&sandbox, &["1", "--all", "mine.txt"]).assert_code(64);
}

#[test]
fn what_cannot_be_meant_is_wrong_usage() {
    let sandbox = repository();
    undo(&sandbox, &["1"]).assert_code(64).assert_stderr_has("nothing has been run here");
    iterations(&sandbox, vec![Steps::new().write("a.txt", "1\n")]);
    undo(&sandbox, &[]).assert_code(64).assert_stderr_has("ralph history").assert_stderr_has("undo --to");
    undo(&sandbox, &["7"]).assert_code(64).assert_stderr_has("there is no iteration 7");
    // A tree of git's that is no snapshot would be taken for the whole project.
    sandbox.write("folder/b.txt", "1\n");
    sandbox.commit_all("folder");
    let folder = sandbox.git(&["rev-parse", "HEAD:folder"]);
    undo(&sandbox, &["--to", &folder]).assert_code(64).assert_stderr_has("no snapshot is called");
    undo(&sandbox, &["--to", "1", "2"]).assert_code(64);
}

#[test]
fn the_diff_of_an_iteration_is_data_and_of_old_ones_too() {
    let sandbox = repository();
    let first = Steps::new().write("README.md", "# project\nmore\n").write("new.txt", "new\n");
    iterations(&sandbox, vec![first, Steps::new(), Steps::new().delete("new.txt")]);
    let diff = |number: &[&str]| ralph(&sandbox).arg("history").args(number).arg("--diff").run();
    let first = diff(&["1"]);
    first
        .assert_code(0)
        .assert_stdout_has("diff --git a/README.md b/README.md")
        .assert_stdout_has("\n+more\n");
    first.assert_stdout_has("new file mode 100644");
    assert!(!first.stdout.contains('\u{1b}'), "no colours in a pipe");
    let second = diff(&["2"]);
    second.assert_code(0).assert_stderr_has("iteration 2 changed no files");
    assert_eq!(second.stdout, "");
    diff(&["3"]).assert_code(0).assert_stdout_has("deleted file mode 100644");
    // It is a patch that git takes.
    sandbox.git(&["checkout", "-q", "--", "."]);
    sandbox.write("../patch", &first.stdout);
    sandbox.git(&["apply", "../patch"]);
    assert_eq!(sandbox.read("README.md"), "# project\nmore\n");
}

#[test]
fn on_a_terminal_a_diff_has_colours_of_ours_and_no_codes_of_others() {
    let sandbox = repository();
    iterations(&sandbox, vec![Steps::new().write("new.txt", "\u{1b}[2Jgone\u{1b}]0;title\u{7}\n")]);
    let command = ralph(&sandbox).args(["history", "1", "--diff"]).into_command();
    let mut terminal = Terminal::start(&command);
    assert_eq!(terminal.wait(), 0, "{}", terminal.all_output());
    let shown = String::from_utf8_lossy(&terminal.raw()).into_owned();
    assert!(shown.contains("\u{1b}[32m+"), "{shown:?}");
    assert!(!shown.contains("\u{1b}[2J") && !shown.contains("\u{1b}]0;"), "{shown:?}");
}

#[test]
fn repositories_of_every_kind_are_undone_and_left_as_they_were() {
    let commits = |sandbox: &Sandbox| {
        sandbox.write("src/a.txt", "1\n");
        sandbox.write("docs/b.txt", "1\n");
        sandbox.commit_all("files");
    };
    type Kind = (&'static str, fn(&Sandbox));
    let kinds: [Kind; 5] = [
        ("detached", |sandbox| drop(sandbox.git(&["checkout", "-q", "--detach"]))),
        ("sparse", |sandbox| drop(sandbox.git(&["sparse-checkout", "set", "--no-sparse-index", "src"]))),
        ("sparse index", |sandbox| drop(sandbox.git(&["sparse-checkout", "set", "--sparse-index", "src"]))),
        ("overlooked", |sandbox| drop(sandbox.git(&["update-index", "--assume-unchanged", "src/a.txt"]))),
        ("in a merge", |sandbox| {
            sandbox.git(&["checkout", "-q", "-b", "side"]);
            sandbox.write("src/a.txt", "side\n");
            sandbox.commit_all("side");
            sandbox.git(&["checkout", "-q", "main"]);
            sandbox.write("src/a.txt", "main\n");
            sandbox.commit_all("main");
            let merged = sandbox.command("git").args(["merge", "-q", "side"]).output().expect("git");
            assert!(!merged.status.success());
        }),
    ];
    for (kind, make) in kinds {
        let sandbox = repository();
        commits(&sandbox);
        make(&sandbox);
        let before = sandbox.user_git_state();
        iterations(
            &sandbox,
            vec![Steps::new().write("src/a.txt", "agent\n").write("src/new.txt", "agent\n")],
        );
        let undone = undo(&sandbox, &["1"]);
        assert_eq!(undone.code, 0, "{kind}: {undone}");
        assert!(
            before == sandbox.user_git_state(),
            "{kind}: {:?}",
            before.differences(&sandbox.user_git_state())
        );
    }
    let empty = Sandbox::new();
    empty.init_git();
    empty.write("a.txt", "1\n");
    iterations(&empty, vec![Steps::new().write("a.txt", "2\n").write("b.txt", "2\n")]);
    undo(&empty, &["1"]).assert_code(0);
    assert_eq!((empty.read("a.txt"), empty.exists("b.txt")), ("1\n".into(), false));
}

#[test]
fn what_is_staged_stays_so_by_the_advice_that_takes_the_branch_back() {
    let sandbox = repository();
    let before = sandbox.git(&["rev-parse", "HEAD"]);
    iterations(&sandbox, vec![Steps::new().write("README.md", "x\n").shell("git commit -q -a -m work")]);
    sandbox.write("mine.txt", "mine\n");
    sandbox.git(&["add", "mine.txt"]);
    let undone = undo(&sandbox, &["1"]);
    let advice = format!("git reset --soft {}", &before[..12]);
    undone.assert_code(0).assert_stderr_has(&advice).assert_stderr_has("what is staged alone");
    sandbox.git(&["reset", "--soft", &before[..12]]);
    assert_eq!(sandbox.git(&["rev-parse", "HEAD"]), before);
    assert!(sandbox.git(&["diff", "--cached", "--name-only"]).contains("mine.txt"));
    assert_eq!(sandbox.read("README.md"), "# project\n");
}

#[test]
fn where_the_task_list_is_empty_the_goal_that_was_undone_is_named() {
    let sandbox = repository();
    let agent = one_call(&sandbox, Steps::new().write("green", "").status(&StatusBlock::done()));
    run(&sandbox, &agent).args(["--test-cmd", "true", "--reviews", "0"]).run().assert_code(0);
    sandbox.write(".ralph/ralph.yml", "tasks: []\n");
    let again = format!("run 1 was undone; to have its goal worked on again: ralph run '{GOAL}'");
    let empty = || ralph(&sandbox).arg("run").run();
    empty().assert_code(0).assert_stderr_has("is empty").assert_stderr_lacks(&again);
    ralph(&sandbox).args(["undo", "1"]).run().assert_code(0);
    empty().assert_code(0).assert_stderr_has("is empty").assert_stderr_has(&again);
}
