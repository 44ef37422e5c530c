//! Agents that do to a repository what agents do: what ralph measures then, and that nothing of the user's is changed
//! by ralph.

mod common;

use std::collections::BTreeMap;
use std::time::Duration;

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
fn edits_inside_a_submodule_are_changes_that_no_undo_has_and_so_are_its_commits() {
    let sandbox = repository();
    let source = Sandbox::new();
    source.init_git();
    source.write("lib.txt", "1\n");
    source.commit_all("lib");
    let url = source.project().display().to_string();
    sandbox.git(&["-c", "protocol.file.allow=always", "submodule", "add", "-q", &url, "lib"]);
    sandbox.commit_all("with a submodule");
    let seen = iteration(&sandbox, "echo 2 > lib/lib.txt");
    assert_eq!(files(&seen), ["M lib/"]);
    let number = seen["iteration"].to_string();
    ralph(&sandbox)
        .args(["history", &number])
        .run()
        .assert_stdout_has("lib: a repository of its own with changes");
    assert_eq!(files(&iteration(&sandbox, "true")), [""; 0], "what was there before is no change");
    ralph(&sandbox)
        .args(["undo", &number])
        .run()
        .assert_code(0)
        .assert_stderr_has("lib: a repository of its own");
    assert_eq!(sandbox.read("lib/lib.txt"), "2\n");
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
        // And ralph leaves files to it that settings may convert.
        sandbox.git(&["config", "core.eol", "crlf"]);
    }
    let seen = iteration(&sandbox, "echo x > secret; chmod 000 secret; echo 1 > a.txt");
    assert_eq!(files(&seen), ["A a.txt"]);
    let journal = sandbox.read(".git/ralph/runs/0001/journal.jsonl");
    assert!(journal.contains("secret: cannot be read (Permission denied)"), "{journal}");
}

#[test]
fn what_takes_the_place_of_a_file_or_a_folder_is_measured_and_undone_whatever_it_is() {
    for (swap, seen) in [
        ("mv d e; ln -s e d", vec!["A d", "D d/kept.log", "D d/x", "A e/x"]),
        (
            "mv d e; ln -s e d; git add -A; git commit -qm swapped",
            vec!["A d", "D d/kept.log", "D d/x", "A e/x"],
        ),
        ("rm -rf d; ln -s nowhere d", vec!["A d", "D d/kept.log", "D d/x"]),
        ("rm -rf d; ln -s /tmp d", vec!["A d", "D d/kept.log", "D d/x"]),
        ("rm -rf d; echo 1 > d", vec!["A d", "D d/kept.log", "D d/x"]),
        ("mv mine theirs; ln -s theirs mine", vec!["A mine", "D mine/y", "A theirs/y"]),
        ("rm f; mkdir f; echo 1 > f/z", vec!["D f", "A f/z"]),
        ("rm f; mkdir f; mv d/x f; rm -r d; ln -s f d", vec!["A d", "D d/kept.log", "D d/x", "D f", "A f/x"]),
        ("rm l; mkdir l; echo 1 > l/z", vec!["D l", "A l/z"]),
    ] {
        let sandbox = repository();
        sandbox.write("d/x", "1\n");
        sandbox.write("d/kept.log", "1\n");
        sandbox.write("f", "1\n");
        assert!(sandbox.command("ln").args(["-s", "f", "l"]).status().expect("ln").success());
        sandbox.commit_all("more");
        sandbox.git(&["rm", "-q", "--cached", "d/kept.log"]);
        sandbox.write(".gitignore", "*.log\n");
        sandbox.git(&["add", "-f", ".gitignore", "d/kept.log"]);
        sandbox.git(&["commit", "-qm", "ignored and tracked"]);
        sandbox.write("mine/y", "1\n");
        let before = sandbox.user_git_state();
        assert_eq!(files(&iteration(&sandbox, swap)), seen, "{swap}");
        assert_eq!(files(&iteration(&sandbox, "true")), [""; 0], "{swap}");
        ralph(&sandbox).args(["undo", "1"]).run().assert_code(0);
        assert_eq!((sandbox.read("d/x"), sandbox.read("d/kept.log")), ("1\n".into(), "1\n".into()), "{swap}");
        // Where the user's index has no such file any more, it is ignored like others.
        if !swap.contains("commit") {
            before.assert_same(&sandbox.user_git_state());
            let seen = iteration(&sandbox, "echo 2 > d/kept.log");
            assert_eq!(files(&seen), ["M d/kept.log"], "{swap}");
        }
    }
}

#[test]
fn a_repository_in_the_place_of_a_file_or_a_folder_is_measured_and_stays() {
    let nest = |name: &str| {
        let made = format!("rm -rf {name}; git init -q {name}; echo 2 > {name}/x; git -C {name} add x");
        format!("{made}; git -C {name} commit -qm x; echo 1 > new.txt")
    };
    for (name, seen) in [("d", ["M d/x", "A new.txt"]), ("f", ["T f", "A new.txt"])] {
        let sandbox = repository();
        sandbox.write("d/x", "1\n");
        sandbox.write("f", "1\n");
        sandbox.commit_all("more");
        assert_eq!(files(&iteration(&sandbox, &nest(name))), seen, "{name}");
        assert_eq!(files(&iteration(&sandbox, "true")), [""; 0], "{name}");
        let undone = ralph(&sandbox).args(["undo", "1"]).run();
        undone.assert_code(0);
        assert!(!sandbox.exists("new.txt") && sandbox.exists(format!("{name}/.git")), "{name}");
        // What is tracked by name comes back, whatever else came into its folder.
        assert_eq!(sandbox.read(format!("{name}/x")), if name == "d" { "1\n" } else { "2\n" });
        if name == "f" {
            undone.assert_stderr_has("f is a repository of its own and stays as it is");
        }
    }
}

fn flags(iteration: &Value) -> String {
    iteration["flags"].to_string()
}

#[test]
fn a_big_file_of_the_user_s_that_is_lost_or_changed_counts_and_is_said_to_be_in_no_snapshot() {
    let sandbox = repository();
    let grow = "truncate -s 60000000";
    assert!(
        sandbox
            .command("sh")
            .args(["-c", &format!("{grow} a.bin b.bin c.bin d.bin; echo 1 > small")])
            .status()
            .expect("sh")
            .success()
    );
    assert_eq!(files(&iteration(&sandbox, "true")), [""; 0], "they are there, and nobody touched them");
    let seen =
        iteration(&sandbox, "rm a.bin; echo 1 > b.bin; echo 1 >> c.bin; truncate -s 70000000 small new.bin");
    assert_eq!(files(&seen), ["D a.bin", "A b.bin", "M c.bin", "A new.bin", "M small"]);
    let told = flags(&seen);
    for words in
        ["a.bin is gone: it was over 50 MB", "b.bin was changed", "c.bin was changed", "small was changed"]
    {
        assert!(told.contains(words), "{words}: {told}");
    }
    assert!(!told.contains("new.bin") && !told.contains("d.bin"), "{told}");
    assert_eq!(status(&sandbox)["flags"].as_array().map(Vec::len), Some(4));
    ralph(&sandbox).arg("status").run().assert_stdout_has("a.bin is gone: it was over 50 MB");

    // What is only ignored from now on, or committed, is neither.
    let seen = iteration(&sandbox, "echo 'c.bin' > .gitignore; git add d.bin; git commit -qm d");
    assert_eq!(files(&seen), ["A .gitignore", "A d.bin"]);
    assert_eq!(flags(&seen), "[]");
}

#[test]
fn work_in_a_nested_repository_is_progress_and_a_review_that_does_some_is_not_clean() {
    let sandbox = repository();
    sandbox.git(&["init", "-q", "in"]);
    sandbox.write("in/a.txt", "1\n");
    sandbox.git(&["-C", "in", "add", "a.txt"]);
    sandbox.git(&["-C", "in", "commit", "-q", "-m", "a"]);
    sandbox.write("in/b.txt", "1\n");
    let work = |block: &StatusBlock| Steps::new().shell("echo more >> in/b.txt").status(block);
    let agent = FakeAgent::new("writes").call(work(&StatusBlock::in_progress())).install(&sandbox);
    let told = run(&sandbox, &agent).args(["--fresh", "--max-iterations", "4"]).run();
    told.assert_code(3).assert_stderr_has("files: 1 file changed: in/");
    told.assert_stderr_has("in/: files of this repository of its own were changed and not committed");
    assert!(history(&sandbox).iter().all(|entry| files(entry) == ["M in/"]), "{:?}", history(&sandbox));

    let agent = FakeAgent::new("reviews").call(work(&StatusBlock::done())).install(&sandbox);
    let told = run(&sandbox, &agent).args(["--fresh", "--max-iterations", "3", "--reviews", "1"]).run();
    told.assert_code(3).assert_stderr_has("the review changed something");

    assert_eq!(files(&iteration(&sandbox, "git init -q out; echo 1 > out/x")), ["M out/"], "without commits");
    assert_eq!(files(&iteration(&sandbox, "echo 2 > out/x")), ["M out/"]);
    assert_eq!(files(&iteration(&sandbox, "true")), [""; 0]);
    let inner = "git -C in add b.txt; git -C in commit -qm b; git init -q in/deep; echo 1 > in/deep/x";
    assert_eq!(files(&iteration(&sandbox, inner)), ["M in"]);
    assert_eq!(files(&iteration(&sandbox, "echo 22 > in/deep/x")), ["M in/"]);
}

#[test]
fn bytes_that_are_written_again_are_no_progress_where_no_snapshot_holds_them() {
    let sandbox = repository();
    sandbox.git(&["init", "-q", "in"]);
    sandbox.write("in/a.txt", "1\n");
    sandbox.write("in/b.bin", "b".repeat(300_000));
    sandbox.git(&["config", "filter.lfs.required", "true"]);
    sandbox.git(&["config", "filter.lfs.clean", "nosuchprogram"]);
    sandbox.write(".gitattributes", "*.bin filter=lfs\n");
    sandbox.write("small.bin", "1\n");
    assert!(sandbox.command("truncate").args(["-s", "51M", "big.dat"]).status().expect("truncate").success());
    let seen = iteration(&sandbox, "echo 1 > small.bin; echo 1 > in/a.txt; touch big.dat");
    assert_eq!(files(&seen), [""; 0]);
    assert!(flags(&seen).contains("big.dat: it was written with as many bytes as before"), "{seen}");
    assert!(!flags(&seen).contains("small.bin") && !flags(&seen).contains("in/"), "{seen}");
    let seen = iteration(&sandbox, "echo 2 > small.bin; echo 2 > in/a.txt; echo 1 >> big.dat");
    assert_eq!(files(&seen), ["M big.dat", "M in/", "M small.bin"]);
    let seen = iteration(&sandbox, "touch in/b.bin");
    assert_eq!(files(&seen), [""; 0]);
    assert!(flags(&seen).contains("in/: files of this repository of its own were written"), "{seen}");
}

#[test]
fn of_very_many_files_that_no_snapshot_holds_one_that_comes_into_view_is_no_progress() {
    let sandbox = repository();
    sandbox.git(&["config", "filter.lfs.required", "true"]);
    sandbox.git(&["config", "filter.lfs.clean", "nosuchprogram"]);
    sandbox.write(".gitattributes", "*.bin filter=lfs\n");
    for number in 0..102 {
        sandbox.write(format!("{number:03}.bin"), "1\n");
    }
    assert_eq!(files(&iteration(&sandbox, "rm 000.bin")), ["D 000.bin"]);
    assert_eq!(files(&iteration(&sandbox, "true")), [""; 0]);
    let page = ralph(&sandbox).args(["history", "2"]).run();
    page.assert_stdout_has("1 of the files that no snapshot holds were not looked at");
}

#[test]
fn files_whose_filter_fails_are_named_and_the_rest_is_measured_and_undone() {
    let sandbox = repository();
    sandbox.write("old.bin", "1\n");
    sandbox.commit_all("before the filter");
    sandbox.git(&["config", "filter.lfs.required", "true"]);
    sandbox.git(&["config", "filter.lfs.clean", "nosuchprogram"]);
    sandbox.write(".gitattributes", "*.bin filter=lfs\n");
    let names: Vec<String> = (0..8).map(|nth| format!("{nth}.bin")).collect();
    let seen = iteration(&sandbox, &format!("touch {}; echo 2 > old.bin; echo 1 > a.txt", names.join(" ")));
    let mut all: Vec<String> = names.iter().map(|name| format!("A {name}")).collect();
    all.extend(["A a.txt".to_owned(), "M old.bin".to_owned()]);
    assert_eq!(files(&seen), all);
    assert!(flags(&seen).contains("old.bin was changed: it was left out because its filter fails"), "{seen}");
    ralph(&sandbox).args(["history", "1"]).run().assert_stdout_has("7.bin: its filter 'lfs' fails");
    assert_eq!(files(&iteration(&sandbox, "true")), [""; 0]);
    ralph(&sandbox)
        .args(["undo", "1"])
        .run()
        .assert_code(0)
        .assert_stderr_has("old.bin: its filter 'lfs' fails");
    assert!(!sandbox.exists("a.txt") && sandbox.exists("0.bin"));
    assert_eq!(sandbox.read("old.bin"), "2\n");
}

#[test]
fn a_deleted_file_is_a_change_though_its_filter_fails_and_an_undo_brings_it_back() {
    let sandbox = repository();
    sandbox.write("old.bin", "1\n");
    sandbox.commit_all("before the filter");
    sandbox.git(&["config", "filter.lfs.required", "true"]);
    sandbox.git(&["config", "filter.lfs.clean", "nosuchprogram"]);
    sandbox.write(".gitattributes", "*.bin filter=lfs\n");
    let seen = iteration(&sandbox, "rm old.bin; echo 1 > new.bin");
    assert_eq!(files(&seen), ["A new.bin", "D old.bin"]);
    assert_eq!(flags(&seen), "[]", "{seen}");
    assert_eq!(files(&iteration(&sandbox, "true")), [""; 0]);
    sandbox.git(&["config", "--unset", "filter.lfs.clean"]);
    sandbox.git(&["config", "--unset", "filter.lfs.required"]);
    ralph(&sandbox).args(["undo", "1"]).run().assert_code(0);
    assert_eq!(sandbox.read("old.bin"), "1\n");
}

#[test]
fn work_that_goes_together_with_the_snapshots_is_named_and_no_undo_is_advised() {
    let sandbox = repository();
    sandbox.write("mine.txt", "mine\n");
    let wreck = "rm -rf .ralph .git/ralph; git clean -fdxq; echo 1 >> c.txt";
    let agent = FakeAgent::new("agent").call(Steps::new().shell(wreck).status(&StatusBlock::in_progress()));
    let told = run(&sandbox, &agent.install(&sandbox)).args(["--max-iterations", "2"]).run();
    told.assert_code(3)
        .assert_stderr_has("no snapshot has it any more: mine.txt")
        .assert_stderr_lacks("ralph undo");
    assert_eq!(told.stderr.matches("[ralph] what you had not committed").count(), 1, "{told}");
    let page = ralph(&sandbox).args(["history", "1"]).run();
    page.assert_stdout_has(".git/ralph/ was removed while somebody worked, and the snapshots in it are gone");
    assert!(!page.stdout.contains("rewritten"), "{page}");
}

#[test]
fn an_agent_that_removes_the_repository_is_told_of_as_such() {
    let sandbox = repository();
    let agent = one_call(&sandbox, Steps::new().shell("rm -rf .git"));
    run(&sandbox, &agent)
        .run()
        .assert_code(1)
        .assert_stderr_has(".git was removed since the run began")
        .assert_stderr_has("git clone");
    assert!(!sandbox.read("README.md").is_empty());
    ralph(&sandbox).arg("status").run().assert_code(0).assert_stdout_has("make it green");
}

#[test]
fn a_stash_of_the_user_s_that_an_agent_drops_can_be_had_back_by_what_is_said() {
    let sandbox = repository();
    sandbox.write("README.md", "# put aside\n");
    sandbox.git(&["stash", "push", "-q", "-m", "half 'done'"]);
    let seen = iteration(&sandbox, "echo 2 > b.txt; git stash -q -u; git stash drop -q; echo 1 > a.txt");
    assert_eq!(flags(&seen), "[]", "its own stash is its own");
    let seen = iteration(&sandbox, "git stash clear");
    let told = seen["flags"][0].as_str().expect("a flag").to_owned();
    let (said, command) = told.split_once("; to have it back: ").expect("a command");
    assert!(said.contains("half 'done'"), "{said}");
    assert!(sandbox.command("sh").args(["-c", command]).status().expect("sh").success(), "{command}");
    assert!(sandbox.git(&["stash", "show", "-p"]).contains("# put aside"));
}

#[test]
fn what_an_earlier_agent_made_is_its_own_to_take_away_and_a_loss_of_the_user_s_is_told_once() {
    let sandbox = repository();
    sandbox.write("README.md", "# put aside\n");
    sandbox.git(&["stash", "push", "-q", "-m", "mine"]);
    sandbox.git(&["branch", "mine"]);
    sandbox.write("mine.txt", "staged only\n");
    sandbox.git(&["add", "mine.txt"]);
    sandbox.write("mine.txt", "other\n");
    let makes = "git branch theirs; git tag theirs; echo 1 > b.txt; git stash push -q -u -m theirs -- b.txt; \
                 echo 1 > t.txt; git add t.txt; echo 2 > t.txt; git branch -f mine $(git commit-tree -p mine -m on HEAD^{tree})";
    let takes = "git branch -q -D theirs; git tag -d theirs > /dev/null; git stash pop -q; git reset -q -- t.txt; \
                 git branch -f mine mine~1";
    let loses = "git branch -q -D mine; git stash clear; git reset -q -- mine.txt";
    let step = |shell: &str| Steps::new().shell(shell).status(&StatusBlock::in_progress());
    let calls = [makes, takes, loses, "echo 4 > d.txt"];
    let agent = calls.into_iter().fold(FakeAgent::new("agent"), |agent, shell| agent.call(step(shell)));
    let finished = run(&sandbox, &agent.install(&sandbox)).args(["--max-iterations", "4"]).run();
    finished.assert_code(3);
    let told: Vec<String> = history(&sandbox).iter().map(flags).collect();
    for nth in [0, 1, 3] {
        assert_eq!(told[nth], "[]", "{nth}: {told:?}");
    }
    let words = [
        "a stash of yours is gone (On main: mine)",
        "a branch of yours is gone (mine)",
        "what you had staged of mine.txt is in no file any more",
    ];
    for words in words {
        assert!(told[2].contains(words), "{words}: {told:?}");
    }
    assert!(!told[2].contains("theirs") && !told[2].contains("t.txt"), "{told:?}");
}

#[test]
fn a_file_that_comes_back_with_other_line_ends_is_named_and_others_come_back_as_they_were() {
    let sandbox = repository();
    sandbox.git(&["config", "core.autocrlf", "true"]);
    sandbox.write("lf.txt", "lf\nonly\n");
    sandbox.write("mixed.txt", "m\r\nn\n");
    sandbox.write("crlf.txt", "one\r\ntwo\r\n");
    iteration(&sandbox, "rm mixed.txt crlf.txt; echo x >> lf.txt");
    let undone = ralph(&sandbox).args(["undo", "1"]).run();
    undone.assert_code(0).assert_stderr_lacks("crlf.txt has the line ends");
    for name in ["lf.txt", "mixed.txt"] {
        undone.assert_stderr_has(&format!("warning: {name} has the line ends that git gives it"));
    }
    assert_eq!(
        (sandbox.read("lf.txt"), sandbox.read("crlf.txt")),
        ("lf\r\nonly\r\n".into(), "one\r\ntwo\r\n".into())
    );
    let page = ralph(&sandbox).args(["history", "1"]).run();
    assert!(!page.stdout.contains("replaced by"), "{page}");
}

/// How often each git command was started, by the points that ralph passed.
fn git_calls(points: &std::path::Path) -> BTreeMap<String, usize> {
    let mut calls = BTreeMap::new();
    for line in std::fs::read_to_string(points).expect("points").lines() {
        if let Some(call) = line.strip_prefix("start git ") {
            *calls.entry(call.to_owned()).or_default() += 1;
        }
    }
    calls
}

#[test]
fn an_iteration_on_files_that_the_user_had_not_committed_asks_git_no_more_than_any_other() {
    let calls = |iterations: &str| {
        let sandbox = repository();
        sandbox.write("half.txt", "committed\n");
        sandbox.commit_all("second");
        sandbox.write("half.txt", "half a sentence\n");
        let agent = Steps::new().shell("echo $$ >> half.txt; echo $$ >> README.md");
        let agent = one_call(&sandbox, agent.status(&StatusBlock::in_progress()));
        let points = sandbox.root().join("tmp/points");
        let run = run(&sandbox, &agent).args(["--max-iterations", iterations]);
        run.env("RALPH_CRASH_POINTS", &points).run().assert_code(3).assert_stderr_lacks("is gone with");
        git_calls(&points)
    };
    let (few, many) = (calls("3"), calls("5"));
    let more: Vec<_> = many.iter().filter_map(|(call, count)| Some((call, count - few.get(call)?))).collect();
    let more: Vec<_> =
        more.iter().filter(|(_, more)| *more > 0).map(|(call, more)| (call.as_str(), *more)).collect();
    assert_eq!(more, [("status", 2)], "{few:?} {many:?}");
}

#[test]
fn a_file_of_the_user_s_that_becomes_what_head_has_is_noticed_however_often_agents_worked_on_it() {
    let sandbox = repository();
    sandbox.write("README.md", "half a sentence\n");
    sandbox.write("other.txt", "mine\n");
    let adds = || Steps::new().shell("echo $$ >> README.md").status(&StatusBlock::in_progress());
    let restores = Steps::new().shell("git checkout -q README.md").status(&StatusBlock::in_progress());
    let agent = FakeAgent::new("agent").call(adds()).call(adds()).call(restores).call(adds());
    let agent = agent.call(Steps::new().shell("rm other.txt").status(&StatusBlock::in_progress()));
    let agent = agent.install(&sandbox);
    let finished = run(&sandbox, &agent).args(["--max-iterations", "5"]).run();
    let told =
        "[ralph] what you had not committed is gone with what the agent did (to have it back: ralph undo ";
    finished
        .assert_code(3)
        .assert_stderr_has(&format!("{told}3 FILE): README.md"))
        .assert_stderr_has(&format!("{told}5 FILE): other.txt"));
    assert_eq!(finished.stderr.matches(told).count(), 2, "{}", finished.stderr);
}

#[test]
fn an_index_that_git_only_wrote_anew_is_not_asked_about() {
    let sandbox = repository();
    sandbox.write("mine.txt", "staged\n");
    sandbox.git(&["add", "mine.txt"]);
    let calls = |name: &str, shell: &str| {
        let agent = Steps::new().shell(shell).status(&StatusBlock::in_progress());
        let agent = FakeAgent::new(name).call(agent).install(&sandbox);
        let points = sandbox.root().join("tmp").join(name);
        let run = run(&sandbox, &agent).args(["--fresh", "--max-iterations", "1"]);
        run.env("RALPH_CRASH_POINTS", &points).run().assert_code(3).assert_stderr_lacks("you had staged");
        git_calls(&points).get("diff-index").copied().unwrap_or_default()
    };
    let written = "before=$(cksum < .git/index); touch -d 2001-01-01 README.md; git update-index --refresh; \
                   test \"$before\" != \"$(cksum < .git/index)\" && echo 1 >> x.txt";
    let usual = calls("works", "echo 1 >> z.txt");
    assert_eq!(calls("looks", written), usual);
    assert!(sandbox.exists("x.txt"), "the index was written");
    assert!(calls("stages", "echo 1 > y.txt; git add y.txt") > usual);
}

#[test]
fn nobody_waits_for_a_pipe_in_the_place_of_what_git_wrote_down_of_stashes() {
    let sandbox = repository();
    sandbox.write("README.md", "# put aside\n");
    sandbox.git(&["stash", "push", "-q", "-m", "mine"]);
    let pipe = "rm -f .git/logs/refs/stash; mkfifo .git/logs/refs/stash; echo 1 > a.txt";
    let zero = "rm -f .git/logs/refs/stash; ln -s /dev/zero .git/logs/refs/stash; echo 1 > b.txt";
    let step = |shell: &str| Steps::new().shell(shell).status(&StatusBlock::in_progress());
    let agent = FakeAgent::new("agent").call(step(pipe)).call(step(zero)).call(step("echo 1 > c.txt"));
    let finished = run(&sandbox, &agent.install(&sandbox)).args(["--max-iterations", "3"]).run();
    finished.assert_code(3).assert_stderr_has("a stash of yours is gone (On main: mine)");
    assert_eq!(history(&sandbox).len(), 3);
}

#[cfg(target_os = "linux")]
#[test]
fn a_pipe_at_which_git_would_wait_for_ever_does_not_hold_a_run_nor_who_wants_to_stop_it() {
    let pipe = "mkdir sub; echo 1 > sub/x; mkfifo sub/.gitignore";
    let words = "it waits for a named pipe in the place of a file; remove it: sub/.gitignore";
    let sandbox = repository();
    let agent = one_call(&sandbox, Steps::new().shell(pipe).status(&StatusBlock::in_progress()));
    run(&sandbox, &agent).run().assert_code(1).assert_stderr_has(words);
    // Where it is there from the start, it is said as well.
    run(&sandbox, &agent).args(["--fresh"]).run().assert_code(1).assert_stderr_has(words);

    let sandbox = repository();
    let agent = one_call(&sandbox, Steps::new().shell(pipe).status(&StatusBlock::in_progress()));
    let running = run(&sandbox, &agent).spawn();
    let is_git = |(_, words): &(u32, String)| words.contains("git") && words.contains("status");
    let waits = |pid: u32| std::fs::read_to_string(format!("/proc/{pid}/wchan"));
    let waits = || {
        let gits = sandbox.processes().into_iter().filter(is_git);
        gits.filter_map(|(pid, _)| waits(pid).ok()).any(|place| place == "wait_for_partner")
    };
    while !waits() {
        assert!(!running.ends_within(Duration::from_millis(5)), "git does not wait at the pipe");
    }
    running.signal(Signal::INT);
    running.wait().assert_code(130);
    sandbox.assert_no_processes();
}
