//! Agents that do to a repository what agents do: what ralph measures then, and that nothing of the user's is changed
//! by ralph.

mod common;

use common::{
    history, one_call, ralph, repository, repository_with_work_in_progress, run, says_done, says_more, status,
};
use ralph_testkit::{ClaudeResult, FakeAgent, Sandbox, Signal, StatusBlock, Steps};
use serde_json::Value;

/// One iteration of this shell text.
fn iteration(sandbox: &Sandbox, shell: &str) -> Value {
    let name = format!("agent-{}", history(sandbox).len());
    let steps = Steps::new().shell(shell).status(&StatusBlock::in_progress());
    let agent = FakeAgent::new(&name).call(steps).install(sandbox);
    let agent = run(sandbox, &agent).args(["--fresh", "--max-iterations", "1"]);
    agent.run().assert_code(3);
    history(sandbox).pop().expect("an iteration")
}

fn files(iteration: &Value) -> Vec<String> {
    let files = iteration["files"].as_array().expect("a list").iter();
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    files.map(|file| format!("{} {}", word(&file["change"]), word(&file["path"]))).collect()
}

#[test]
fn an_amended_commit_is_measured_by_its_files() {
    let sandbox = repository();
    let seen = iteration(&sandbox, "echo more >> README.md; git commit -q --amend -a -m amended");
    assert_eq!(files(&seen), ["M README.md"]);
    assert_eq!(seen["commits"], 1);
    let seen = iteration(&sandbox, "git commit -q --amend -m 'other words'");
    assert_eq!((files(&seen), &seen["commits"]), (vec![], &1.into()));
}

#[test]
fn a_switched_branch_is_measured_by_its_files() {
    let sandbox = repository();
    sandbox.git(&["checkout", "-q", "-b", "other"]);
    sandbox.write("other.txt", "1\n");
    sandbox.commit_all("other");
    sandbox.git(&["checkout", "-q", "main"]);
    sandbox.write("untracked.txt", "mine\n");
    let seen = iteration(&sandbox, "git checkout -q other");
    assert_eq!(files(&seen), ["A other.txt"]);
    assert_eq!(sandbox.git(&["symbolic-ref", "--short", "HEAD"]), "other", "the agent's doing stays");
    let seen = iteration(&sandbox, "git checkout -q main");
    assert_eq!(files(&seen), ["D other.txt"]);
    assert_eq!(sandbox.read("untracked.txt"), "mine\n");
}

#[test]
fn a_history_that_was_rewritten_and_cleaned_up_is_survived_and_said() {
    let sandbox = repository();
    let clean = "git reflog expire --expire=now --all; git gc -q --prune=now";
    let seen =
        iteration(&sandbox, &format!("echo new > new.txt; git add .; git commit -q --amend -m x; {clean}"));
    assert_eq!(seen["files_changed"], 1, "{seen}");
    let told = ralph(&sandbox).args(["history", "1"]).run();
    told.assert_stdout_has("the history was rewritten and cleaned up");
    let seen = iteration(&sandbox, "git gc -q --prune=now");
    assert_eq!(files(&seen), [""; 0]);
}

#[test]
fn the_user_s_stale_lock_stays_and_ours_goes() {
    let sandbox = repository();
    sandbox.write(".git/index.lock", "somebody's");
    sandbox.write(".git/ralph/index.lock", "left by a killed git");
    let seen = iteration(&sandbox, "echo more >> README.md");
    assert_eq!(files(&seen), ["M README.md"]);
    assert_eq!(sandbox.read(".git/index.lock"), "somebody's");
    assert!(!sandbox.exists(".git/ralph/index.lock"));
}

#[test]
fn somebody_who_commits_all_the_time_neither_spoils_nor_holds_the_measurement() {
    let sandbox = repository();
    let busy = "i=0; while test ! -e ../tmp/enough; do i=$((i+1)); echo $i > busy.txt; git add busy.txt; \
                git commit -q -m $i busy.txt; git gc -q --auto; done";
    let mut beside = sandbox.command("sh").args(["-c", busy]).spawn().expect("sh");
    let steps = Steps::new().shell("echo $call > own.txt").status(&StatusBlock::in_progress());
    let agent = one_call(&sandbox, steps);
    run(&sandbox, &agent).args(["--max-iterations", "8"]).run().assert_code(3);
    sandbox.write("../tmp/enough", "");
    assert!(beside.wait().expect("sh").success());
    let seen = history(&sandbox);
    assert_eq!(seen.len(), 8);
    for iteration in seen {
        assert!(files(&iteration).iter().any(|file| file.ends_with(" own.txt")), "{iteration}");
    }
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "?? own.txt");
    sandbox.git(&["fsck", "--connectivity-only", "--no-progress"]);
}

#[test]
fn edits_inside_a_submodule_are_said_and_its_commits_are_changes() {
    let sandbox = repository();
    let source = Sandbox::new();
    source.init_git();
    source.write("lib.txt", "1\n");
    source.commit_all("lib");
    let url = source.project().display().to_string();
    sandbox.git(&["-c", "protocol.file.allow=always", "submodule", "add", "-q", &url, "lib"]);
    sandbox.commit_all("with a submodule");
    let seen = iteration(&sandbox, "echo 2 > lib/lib.txt");
    assert_eq!(files(&seen), [""; 0]);
    let number = seen["iteration"].to_string();
    ralph(&sandbox)
        .args(["history", &number])
        .run()
        .assert_stdout_has("lib: a repository of its own with changes");
    let seen = iteration(&sandbox, "git -C lib commit -q -a -m two");
    assert_eq!(files(&seen), ["M lib"]);
    let number = seen["iteration"].to_string();
    let told = ralph(&sandbox).args(["history", &number]).run();
    assert!(!told.stdout.contains("repository of its own"), "{told}");
}

#[test]
fn what_ralphignore_names_is_not_measured_kept_or_put_back() {
    for git in [true, false] {
        let sandbox = if git { repository() } else { Sandbox::new() };
        sandbox.write("dist/app.js", "built\n");
        sandbox.write("src/app.js", "1\n");
        sandbox.write(".ralphignore", "dist/\n*.tmp\n!keep.tmp\n");
        if git {
            sandbox.commit_all("dist is tracked");
        }
        let build = "echo 2 > src/app.js; echo again > dist/app.js; echo x > dist/new.js; echo x > a.tmp; echo x > keep.tmp";
        let seen = iteration(&sandbox, build);
        assert_eq!(files(&seen), ["A keep.tmp", "M src/app.js"], "git: {git}");
        ralph(&sandbox).args(["undo", "1"]).run().assert_code(0);
        assert_eq!(
            (sandbox.read("src/app.js"), sandbox.read("dist/app.js")),
            ("1\n".into(), "again\n".into())
        );
        assert!(sandbox.exists("a.tmp") && !sandbox.exists("keep.tmp"));

        // Rules that come and go: what they hide is not deleted, and does not come back by itself.
        let seen =
            iteration(&sandbox, "printf 'dist/\\n*.tmp\\nsrc/\\n' > .ralphignore; echo 3 > src/app.js");
        assert_eq!(files(&seen), ["M .ralphignore"], "git: {git}");
        ralph(&sandbox).args(["undo", "1"]).run().assert_code(0);
        assert_eq!(sandbox.read("src/app.js"), "3\n");
    }
}

#[test]
fn ignore_rules_of_the_user_hold_beside_those_of_ralphignore() {
    let sandbox = repository();
    sandbox.write("../home/.config/git/ignore", "*.mine\n");
    sandbox.write(".ralphignore", "*.tmp\n");
    let seen = iteration(&sandbox, "echo 1 > a.mine; echo 1 > a.tmp; echo 1 > a.txt");
    assert_eq!(files(&seen), ["A a.txt"]);
}

#[test]
fn filters_run_and_what_they_hold_back_is_put_back_as_it_was() {
    let sandbox = repository();
    sandbox.git(&["config", "filter.rot.clean", "tr a-z n-za-m"]);
    sandbox.git(&["config", "filter.rot.smudge", "tr a-z n-za-m"]);
    sandbox.write(".gitattributes", "*.rot filter=rot\n*.crlf text eol=crlf\n");
    sandbox.write("a.rot", "hello\n");
    sandbox.write("b.crlf", "one\r\ntwo\r\n");
    sandbox.commit_all("filtered");
    let seen = iteration(&sandbox, "echo world > a.rot; printf 'three\\r\\n' > b.crlf");
    assert_eq!(files(&seen), ["M a.rot", "M b.crlf"]);
    ralph(&sandbox).args(["undo", "1"]).run().assert_code(0);
    assert_eq!((sandbox.read("a.rot"), sandbox.read("b.crlf")), ("hello\n".into(), "one\r\ntwo\r\n".into()));
}

#[test]
fn nothing_that_ralph_stores_can_be_pushed() {
    let sandbox = repository();
    let seen = iteration(&sandbox, "echo secret > secret.txt");
    assert_eq!(files(&seen), ["A secret.txt"]);
    let target = sandbox.root().join("tmp/mirror.git");
    sandbox.git(&["init", "-q", "--bare", &target.display().to_string()]);
    sandbox.git(&["push", "-q", "--mirror", &target.display().to_string()]);
    let blob = sandbox.git(&["hash-object", "secret.txt"]);
    let found = sandbox.command("git").arg("-C").arg(&target).args(["cat-file", "-e", &blob]).output();
    assert!(!found.expect("git").status.success(), "a snapshot was pushed");
    let own = sandbox.command("git").args(["cat-file", "-e", &blob]).output();
    assert!(!own.expect("git").status.success(), "a snapshot is in the user's objects");
}

/// Every stop reason that no other test compares: index, HEAD, refs, stash, status and files.
#[test]
fn the_user_s_own_work_is_the_same_after_the_other_stop_reasons() {
    let question = || Steps::new().say("Which database do you want?");
    let result = ClaudeResult::success("Going on.").usage(100, 50);
    let costly = || Steps::new().claude_init().claude_result(result.clone());
    let stops: [(&str, Steps, &[&str], i32); 4] = [
        ("circuit_open", says_more(), &[], 5),
        ("blocked", question(), &["--set", "no_progress=off"], 2),
        ("max_tokens", costly(), &["--max-tokens", "10"], 6),
        ("complete", says_done(), &["--reviews", "0"], 0),
    ];
    for (reason, steps, args, code) in stops {
        let sandbox = repository_with_work_in_progress();
        let agent = one_call(&sandbox, steps);
        let before = sandbox.user_git_state();
        run(&sandbox, &agent).args(args).run().assert_code(code);
        assert_eq!(status(&sandbox)["stop_reason"], reason);
        before.assert_same(&sandbox.user_git_state());
    }
}

#[test]
fn the_user_s_own_work_is_the_same_after_saturation_a_stop_and_a_reset() {
    let sandbox = repository_with_work_in_progress();
    let before = sandbox.user_git_state();
    let testing = Steps::new().shell("mkdir -p tests; echo $call >> tests/one_test.rs");
    let tester = FakeAgent::new("tester").call(testing.status(&StatusBlock::in_progress())).install(&sandbox);
    // Profile analyzer keeps a view in the project, which comes again with the next run.
    let saturated =
        run(&sandbox, &tester).args(["--profile", "analyzer", "--set", "session_view=false"]).run();
    saturated.assert_code(3);
    assert_eq!(status(&sandbox)["stop_reason"], "test_saturation");
    ralph(&sandbox).args(["undo", "1"]).run().assert_code(0);
    before.assert_same(&sandbox.user_git_state());

    let held = FakeAgent::new("held").call(Steps::new().reach("agent").hold("go")).install(&sandbox);
    let running = run(&sandbox, &held).arg("--fresh").spawn();
    sandbox.wait_for("agent");
    ralph(&sandbox).arg("stop").run().assert_code(0);
    sandbox.release("go");
    running.wait().assert_code(130);
    assert_eq!(status(&sandbox)["stop_reason"], "stopped");
    ralph(&sandbox).arg("reset").run().assert_code(0);
    before.assert_same(&sandbox.user_git_state());

    let hanging = FakeAgent::new("hanging").call(Steps::new().reach("hung").hang()).install(&sandbox);
    let running = run(&sandbox, &hanging).arg("--fresh").spawn();
    sandbox.wait_for("hung");
    running.signal(Signal::HUP);
    running.wait().assert_code(143);
    before.assert_same(&sandbox.user_git_state());
}

#[test]
fn what_was_uncommitted_before_the_run_is_no_progress_of_it() {
    let sandbox = repository_with_work_in_progress();
    let agent = one_call(&sandbox, says_more());
    run(&sandbox, &agent).run().assert_code(5);
    assert_eq!(status(&sandbox)["stop_reason"], "circuit_open");
    let entries = history(&sandbox);
    assert_eq!(entries.len(), 3);
    assert!(entries.iter().all(|entry| files(entry).is_empty()), "{entries:?}");
}

#[test]
fn a_file_that_cannot_be_read_is_named_and_the_rest_is_measured() {
    let sandbox = repository();
    if rustix::process::geteuid().is_root() {
        // Who may read everything is not asked: git works without that right.
        let real = sandbox.command("sh").args(["-c", "command -v git"]).output().expect("git").stdout;
        let real = String::from_utf8(real).expect("a path");
        let without = "setpriv --bounding-set=-dac_override,-dac_read_search";
        sandbox.install_script("git", &format!("#!/bin/sh\nexec {without} {} \"$@\"\n", real.trim()));
    }
    let seen = iteration(&sandbox, "echo x > secret; chmod 000 secret; echo 1 > a.txt");
    assert_eq!(files(&seen), ["A a.txt"]);
    let journal = sandbox.read(".git/ralph/runs/0001/journal.jsonl");
    assert!(journal.contains("secret: cannot be read (Permission denied)"), "{journal}");
}
