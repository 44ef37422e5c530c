//! What a proved item puts into the history, and what it leaves alone.

use std::os::unix::ffi::OsStrExt;

use ralph_testkit::{Sandbox, Schema, StatusBlock, Steps};
use serde_json::json;

use crate::common::{history, ralph, repository, status};
use crate::stage::{
    HARNESS, another, checklist, claims, commits, files_of, harness, hook, item, item_now, ledger, recorded,
    two_items, worker, works_through, write_items, writer, writes,
};

fn one_item() -> Sandbox {
    harness(&[item("FEAT-1", "one.txt")])
}

#[test]
fn work_that_was_there_before_is_neither_committed_nor_unstaged() {
    let sandbox = one_item();
    sandbox.write("mine.txt", "mine\n");
    sandbox.write("README.md", "# edited\n");
    sandbox.write("staged.txt", "staged\n");
    sandbox.git(&["add", "staged.txt"]);
    let agent = writer(&sandbox, &["one.txt"]);
    worker(&sandbox, &agent).run().assert_code(0);
    assert_eq!(files_of(&sandbox, "HEAD"), ["A one.txt"]);
    let status = sandbox.git(&["status", "--porcelain"]);
    for line in ["A  staged.txt", " M README.md", "?? mine.txt"] {
        assert!(status.lines().any(|known| known == line), "{line} is missing in\n{status}");
    }
    assert_eq!(sandbox.read("mine.txt"), "mine\n");
}

#[test]
fn a_big_file_that_no_snapshot_holds_is_named_as_not_committed() {
    let sandbox = one_item();
    let steps = writes("one.txt").shell("truncate -s 60000000 new.bin");
    let agent = another(&sandbox).call(claims(steps)).install(&sandbox);
    let finished = worker(&sandbox, &agent).run();
    finished.assert_code(0).assert_stderr_has("over 50 MB and no snapshot holds it: new.bin");
    assert_eq!(files_of(&sandbox, "HEAD"), ["A one.txt"]);
}

#[test]
fn a_file_whose_filter_fails_is_named_as_not_committed() {
    let sandbox = one_item();
    sandbox.git(&["config", "filter.lfs.required", "true"]);
    sandbox.git(&["config", "filter.lfs.clean", "nosuchprogram"]);
    sandbox.write(".gitattributes", "*.bin filter=lfs\n");
    sandbox.commit_all("a filter");
    sandbox.write("mine.bin", "1\n");
    let steps = writes("one.txt").shell("echo 1 > new.bin; echo 1 > mine.bin");
    let agent = another(&sandbox).call(claims(steps)).install(&sandbox);
    let finished = worker(&sandbox, &agent).run();
    finished.assert_code(0).assert_stderr_has("its filter fails and no snapshot holds it: new.bin");
    finished.assert_stderr_lacks("holds it: mine.bin");
    assert_eq!(files_of(&sandbox, "HEAD"), ["A one.txt"]);
}

#[test]
fn the_commit_is_by_whom_the_environment_names() {
    let sandbox = one_item();
    let agent = writer(&sandbox, &["one.txt"]);
    let named =
        worker(&sandbox, &agent).env("GIT_AUTHOR_NAME", "Ada").env("GIT_COMMITTER_EMAIL", "ada@localhost");
    named.run().assert_code(0);
    assert_eq!(sandbox.git(&["log", "-1", "--format=%an %ce"]), "Ada ada@localhost");
}

#[test]
fn settings_of_git_that_the_environment_names_are_the_user_s() {
    let sandbox = one_item();
    sandbox.write(sandbox.root().join("home/.gitconfig"), "[user]\n\tuseConfigOnly = true\n");
    let settings = sandbox.root().join("settings");
    sandbox.write(&settings, "[user]\n\tname = Ada\n\temail = ada@localhost\n");
    let agent = writer(&sandbox, &["one.txt"]);
    worker(&sandbox, &agent).env("GIT_CONFIG_GLOBAL", &settings).run().assert_code(0);
    assert_eq!(sandbox.git(&["log", "-1", "--format=%an %ce"]), "Ada ada@localhost");
}

#[test]
fn where_git_does_not_know_the_user_the_missing_commits_are_named_until_the_end_with_what_to_type() {
    let sandbox = two_items();
    let config = sandbox.root().join("home/.gitconfig");
    assert!(config.exists());
    sandbox.write(&config, "[user]\n\tuseConfigOnly = true\n");
    let agent = writer(&sandbox, &["one.txt", "two.txt"]);
    let finished = worker(&sandbox, &agent).arg("--all").run();
    finished.assert_code(0);
    finished.assert_stderr_has("⚠ FEAT-1: the work is proved and not committed: git commit-tree failed");
    finished
        .assert_stderr_has("tell git who you are: git config user.name \"NAME\" && git config user.email");
    finished.assert_stderr_has("uncommitted: ⚠ FEAT-1, FEAT-2, proved: git commit-tree failed");
    finished.assert_stderr_has("what is proved and not committed is in your files: git status");
    let shown = ralph(&sandbox).arg("status").run();
    shown.assert_stdout_has("to commit:  ⚠ FEAT-1, FEAT-2, proved: git commit-tree failed");
    let told = status(&sandbox);
    Schema::published("ralph.status/1").assert(&told);
    let items: Vec<_> =
        told["uncommitted"].as_array().expect("a list").iter().map(|one| &one["what"]).collect();
    assert_eq!(items, ["FEAT-1", "FEAT-2"]);
    assert!(told["uncommitted"][0]["why"].as_str().is_some_and(|why| why.contains("commit-tree")), "{told}");
    assert_eq!(commits(&sandbox), 2);
    let verified = ralph(&sandbox).args(["evidence", "verify"]).run();
    verified.assert_code(3).assert_stdout_has("its files may be in your working tree");
    // Nor is there where the user has done it.
    sandbox.git(&["add", "--all"]);
    let me = ["-c", "user.name=me", "-c", "user.email=me@localhost", "commit", "-qm", "by hand"];
    sandbox.git(&me);
    let shown = ralph(&sandbox).arg("status").run().stdout;
    assert!(!shown.contains("to commit:") && !shown.contains("git status"), "{shown}");

    // What is committed later takes it along, and then there is nothing to name.
    let sandbox = two_items();
    let config = sandbox.root().join("home/.gitconfig");
    let known = std::fs::read_to_string(&config).expect("readable");
    sandbox.write(&config, "[user]\n\tuseConfigOnly = true\n");
    let mend = format!("printf '{}' > '{}'", known.replace('\n', "\\n"), config.display());
    let agent = another(&sandbox)
        .call(claims(writes("one.txt")))
        .call(claims(writes("two.txt").shell(&mend)))
        .install(&sandbox);
    let finished = worker(&sandbox, &agent).arg("--all").run();
    finished.assert_code(0).assert_stderr_has("⚠ FEAT-1: the work is proved and not committed");
    finished.assert_stderr_lacks("uncommitted: ");
    assert_eq!(status(&sandbox)["uncommitted"], json!([]));
    assert!(files_of(&sandbox, "HEAD").contains(&"A one.txt".to_owned()));
}

#[test]
fn files_of_the_user_s_that_an_agent_commits_along_are_named() {
    let sandbox = two_items();
    sandbox.write("mine.txt", "mine\n");
    sandbox.write("README.md", "# half of my work\n");
    sandbox.write("staged.txt", "staged\n");
    sandbox.git(&["add", "staged.txt"]);
    let all = "git add -A && git commit -qm all";
    let agent = another(&sandbox).call(claims(writes("one.txt").shell(all))).install(&sandbox);
    let finished = worker(&sandbox, &agent).run();
    let names = "README.md, mine.txt, staged.txt\n";
    finished.assert_code(0).assert_stderr_has("commits: 1, and 1 by agents");
    let said = "its commit also holds files of yours that were not committed before: ";
    finished.assert_stderr_has(&format!("⚠ {said}{names}"));
    finished
        .assert_stderr_has(&format!("yours: ⚠ agents committed files that you had not committed: {names}"));
    let shown = ralph(&sandbox).arg("status").run();
    shown.assert_stdout_has(&format!(
        "yours:      ⚠ agents committed files that you had not committed: {names}"
    ));
    for told in [&history(&sandbox)[0], &status(&sandbox)] {
        assert_eq!(told["committed_of_yours"], json!(["README.md", "mine.txt", "staged.txt"]));
    }
    assert!(sandbox.read(".ralph/history/iteration-001.md").contains(said));

    // What agents left, and what ralph wrote to the task file, is nobody's; nor is anything said of clean files.
    let sandbox = two_items();
    sandbox.write("mine.txt", "mine\n");
    let agent = another(&sandbox)
        .call(Steps::new().write("a.txt", "a").status(&StatusBlock::in_progress()))
        .call(claims(writes("one.txt").shell("git add a.txt one.txt .claude && git commit -qm mine")))
        .install(&sandbox);
    let finished =
        works_through(&sandbox, &agent).args(["--test-cmd", "true", "--max-iterations", "2"]).run();
    finished.assert_code(3).assert_stderr_lacks("files of yours").assert_stderr_lacks("yours: ");
}

#[test]
fn what_is_recorded_after_the_last_commit_is_named_with_the_command_that_commits_it() {
    let sandbox = one_item();
    let agent = writer(&sandbox, &["one.txt"]);
    let finished = worker(&sandbox, &agent).run();
    let command = format!("git commit -m \"record the last attempt\" -- {HARNESS}");
    let line = format!("{HARNESS} has ralph's last records, which are not committed: {command}");
    finished.assert_code(0).assert_stderr_has(&line);
    assert!(sandbox.git(&["status", "--porcelain"]).contains(HARNESS));
    sandbox.git(&["commit", "-q", "-m", "record the last attempt", "--", HARNESS]);
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "", "and then nothing is left");

    // What ralph never commits is named as well, if it is tracked.
    for share in [true, false] {
        let sandbox = repository();
        let init: &[&str] = if share { &["init", "--share"] } else { &["init"] };
        ralph(&sandbox).args(init).run().assert_code(0);
        ralph(&sandbox).args(["backlog", "add", "make one.txt"]).run().assert_code(0);
        sandbox.commit_all("settings");
        let agent = writer(&sandbox, &["one.txt"]);
        let finished = works_through(&sandbox, &agent).args(["--once", "--test-cmd", "true"]).run();
        finished.assert_code(0).assert_stderr_has("green already, and is committed");
        let said = ".ralph/ralph.yml has ralph's last records, which are not committed: git commit";
        match share {
            true => finished.assert_stderr_has(said),
            false => finished.assert_stderr_lacks("last records"),
        };
        assert!(!files_of(&sandbox, "HEAD").iter().any(|file| file.contains(".ralph")));
    }

    // A file that the user had changed is not ralph's to speak of.
    let sandbox = one_item();
    sandbox.write(HARNESS, sandbox.read(HARNESS) + "\n");
    let agent = writer(&sandbox, &["one.txt"]);
    worker(&sandbox, &agent).run().assert_code(0).assert_stderr_lacks("last records");
}

#[test]
fn a_file_that_was_dirty_before_is_never_committed_and_is_named() {
    let sandbox = one_item();
    sandbox.write("README.md", "# half of my work\n");
    let agent = another(&sandbox)
        .call(claims(writes("one.txt").append("README.md", "and the agent's\n")))
        .install(&sandbox);
    let finished = worker(&sandbox, &agent).run();
    finished.assert_code(0).assert_stderr_has("README.md").assert_stderr_has("not committed");
    assert_eq!(files_of(&sandbox, "HEAD"), ["A one.txt"]);
    assert_eq!(sandbox.read("README.md"), "# half of my work\nand the agent's\n");
    assert_eq!(item_now(&sandbox, "FEAT-1")["status"], "PASSING");
    // The proof itself may be such a file: proved, and no commit at all.
    let sandbox = harness(&[item("FEAT-1", "one.txt")]);
    sandbox.write("one.txt", "begun\n");
    let agent = another(&sandbox).call(claims(Steps::new().append("one.txt", "more\n"))).install(&sandbox);
    worker(&sandbox, &agent).run().assert_code(0).assert_stderr_has("one.txt");
    assert_eq!(commits(&sandbox), 2);
    assert_eq!(
        (&item_now(&sandbox, "FEAT-1")["status"], recorded(&sandbox, "commit")),
        (&json!("PASSING"), 0)
    );
}

#[test]
fn a_hook_that_refuses_leaves_the_work_proved_and_says_so() {
    let sandbox = one_item();
    let hook = sandbox.project().join(".git/hooks/pre-commit");
    sandbox.write(".git/hooks/pre-commit", "#!/bin/sh\necho 'no commits on Mondays' >&2\nexit 1\n");
    let status = sandbox.command("chmod").arg("755").arg(&hook).status().expect("start chmod");
    assert!(status.success());
    let agent = writer(&sandbox, &["one.txt"]);
    let finished = worker(&sandbox, &agent).run();
    finished
        .assert_code(0)
        .assert_stderr_has("proved and not committed")
        .assert_stderr_has("no commits on Mondays");
    assert_eq!(commits(&sandbox), 2);
    let now = item_now(&sandbox, "FEAT-1");
    assert_eq!((&now["status"], &now["attempts"][0]["commit"]), (&json!("PASSING"), &json!(null)));
    assert_eq!(sandbox.git(&["diff", "--cached", "--name-only"]), "", "the index is as it was");
    assert!(sandbox.exists("one.txt"));
}

#[test]
fn the_user_s_hooks_have_their_say() {
    let sandbox = one_item();
    sandbox.write(".git/hooks/prepare-commit-msg", "#!/bin/sh\necho 'Signed-off-by: hook' >> \"$1\"\n");
    let hook = sandbox.project().join(".git/hooks/prepare-commit-msg");
    assert!(sandbox.command("chmod").arg("755").arg(&hook).status().expect("chmod").success());
    let agent = writer(&sandbox, &["one.txt"]);
    worker(&sandbox, &agent).run().assert_code(0);
    let message = sandbox.git(&["log", "-1", "--format=%B"]);
    assert!(message.contains("Signed-off-by: hook") && message.contains("Ralph-Item: FEAT-1"), "{message}");
}

#[test]
fn while_a_merge_is_under_way_nothing_is_committed() {
    let sandbox = one_item();
    sandbox.git(&["checkout", "--quiet", "-b", "side"]);
    sandbox.write("README.md", "# theirs\n");
    sandbox.commit_all("theirs");
    sandbox.git(&["checkout", "--quiet", "main"]);
    sandbox.write("README.md", "# ours\n");
    sandbox.commit_all("ours");
    let merge = sandbox.command("git").args(["merge", "side"]).output().expect("start git");
    assert!(!merge.status.success(), "a conflict");
    let agent = writer(&sandbox, &["one.txt"]);
    let finished = worker(&sandbox, &agent).run();
    finished.assert_code(0).assert_stderr_has("not committed").assert_stderr_has("a merge is under way");
    assert!(sandbox.exists(".git/MERGE_HEAD") && sandbox.read("README.md").contains("<<<<<<<"));
    assert_eq!(item_now(&sandbox, "FEAT-1")["status"], "PASSING");
}

#[test]
fn a_detached_head_and_a_branch_without_commits_get_their_commit_too() {
    let sandbox = one_item();
    sandbox.git(&["checkout", "--quiet", "--detach"]);
    let agent = writer(&sandbox, &["one.txt"]);
    worker(&sandbox, &agent).run().assert_code(0).assert_stderr_has("HEAD is, which is on no branch");
    assert_eq!(files_of(&sandbox, "HEAD"), ["A one.txt"]);
    assert_eq!(sandbox.git(&["rev-list", "--count", "main"]), "2", "no branch moves");

    let sandbox = Sandbox::new();
    sandbox.init_git();
    write_items(&sandbox, &[item("FEAT-1", "one.txt")]);
    let agent = writer(&sandbox, &["one.txt"]);
    worker(&sandbox, &agent).run().assert_code(0);
    assert_eq!(files_of(&sandbox, "HEAD"), ["A one.txt"], "what was there before stays uncommitted");
    assert_eq!(commits(&sandbox), 1);
}

#[test]
fn without_git_items_are_proved_and_nothing_is_committed() {
    let sandbox = Sandbox::new();
    write_items(&sandbox, &[item("FEAT-1", "one.txt"), item("FEAT-2", "two.txt")]);
    let agent = writer(&sandbox, &["one.txt", "wrong.txt"]);
    let first = worker(&sandbox, &agent).run();
    first
        .assert_code(0)
        .assert_stderr_has("proved work is not committed, for this folder is no git repository");
    assert_eq!(item_now(&sandbox, "FEAT-1")["status"], "PASSING");
    let dry = worker(&sandbox, &agent).arg("--dry-run").run();
    dry.assert_code(0).assert_stdout_has("none, for this folder is no git repository");
    worker(&sandbox, &agent)
        .args(["--set", "commits=never", "--dry-run"])
        .run()
        .assert_stdout_has("ralph makes none");
    worker(&sandbox, &agent).run().assert_code(3);
    assert!(!sandbox.exists("wrong.txt") && sandbox.exists("one.txt"), "put back all the same");
}

#[test]
fn a_commit_that_is_asked_for_where_nobody_can_make_it_is_refused() {
    let sandbox = Sandbox::new();
    let agent = writer(&sandbox, &["one.txt"]);
    let goal =
        ralph(&sandbox).args(["run", "goal", "--yes", "--commit", "--agent-cmd"]).arg(agent.path()).run();
    goal.assert_code(64).assert_stderr_has("--commit needs a git repository").assert_stderr_has("git init");
    assert!(!sandbox.exists(".ralph") && agent.calls(&sandbox).is_empty(), "nothing was run or written");
}

#[test]
fn new_deleted_renamed_and_oddly_named_files_are_in_the_commit() {
    let sandbox = one_item();
    sandbox.write("old.txt", "moves\n");
    sandbox.write("gone.txt", "goes\n");
    sandbox.write("-dash *?[x].txt", "odd\n");
    sandbox.commit_all("files");
    let odd = std::ffi::OsStr::from_bytes(b"caf\xe9.txt");
    let steps = writes("one.txt")
        .shell("mv old.txt new.txt; rm gone.txt; echo more >> './-dash *?[x].txt'; chmod +x README.md")
        .shell("printf x > \"$(printf 'caf\\351.txt')\"; ln -s one.txt link; mkdir -p a/b; echo y > 'a/b/ü\"q.txt'");
    let agent = another(&sandbox).call(claims(steps)).install(&sandbox);
    worker(&sandbox, &agent).run().assert_code(0);
    assert_eq!(
        files_of(&sandbox, "HEAD"),
        [
            "M -dash *?[x].txt",
            "M README.md",
            "A \"a/b/\\303\\274\\\"q.txt\"",
            "A \"caf\\351.txt\"",
            "D gone.txt",
            "A link",
            "A new.txt",
            "D old.txt",
            "A one.txt",
        ]
    );
    assert!(sandbox.project().join(odd).exists());
    assert_eq!(sandbox.git(&["status", "--porcelain"]), format!(" M {HARNESS}"), "the attempt with its hash");
}

#[test]
fn what_an_agent_committed_itself_is_the_commit_of_the_attempt() {
    let sandbox = one_item();
    let steps = writes("one.txt").shell("git add one.txt; git commit --quiet -m 'my own words'");
    let agent = another(&sandbox).call(claims(steps)).install(&sandbox);
    let finished = worker(&sandbox, &agent).run();
    finished.assert_code(0).assert_stderr_has("1 by agents");
    finished.assert_stderr_has(&format!("{HARNESS} has ralph's last records, which are not committed"));
    let now = item_now(&sandbox, "FEAT-1");
    let head = sandbox.git(&["rev-parse", "HEAD"]);
    assert_eq!((&now["attempts"][0]["commit"], commits(&sandbox)), (&json!(head), 3));
    assert_eq!(sandbox.git(&["log", "-1", "--format=%s"]), "my own words");
    assert_eq!(ledger(&sandbox)[1]["commit"], json!(head));
}

#[test]
fn the_harness_s_lock_that_an_agent_commits_along_is_taken_out_of_head_by_the_item_s_commit() {
    let sandbox = one_item();
    let steps = writes("one.txt").shell("git add -A; git commit --quiet -m 'all of it'");
    let agent = another(&sandbox).call(claims(steps)).install(&sandbox);
    let finished = worker(&sandbox, &agent).run();
    finished.assert_code(0).assert_stderr_has("HEAD does not have it any more: .harness.lock");
    finished.assert_stderr_has(&format!("{HARNESS} has ralph's last records, which are not committed"));
    assert_eq!(files_of(&sandbox, "HEAD~1"), ["A .harness.lock", "A one.txt"]);
    assert_eq!(files_of(&sandbox, "HEAD"), ["D .harness.lock"]);
    let head = sandbox.git(&["rev-parse", "HEAD"]);
    assert_eq!(item_now(&sandbox, "FEAT-1")["attempts"][0]["commit"], json!(head));
    assert_eq!(sandbox.git(&["status", "--porcelain"]), format!(" M {HARNESS}"), "no lock is missed");
    ralph(&sandbox).args(["evidence", "verify"]).run().assert_code(0);
}

#[test]
fn a_lock_that_was_committed_before_the_run_is_the_user_s_business() {
    let sandbox = one_item();
    sandbox.write(".harness.lock", "old\n");
    sandbox.commit_all("a lock");
    let steps = writes("one.txt").shell("git add -A; git commit --quiet -m 'all of it'");
    let agent = another(&sandbox).call(claims(steps)).install(&sandbox);
    worker(&sandbox, &agent).run().assert_code(0).assert_stderr_lacks("HEAD does not have it any more");
    assert_eq!(files_of(&sandbox, "HEAD"), ["M .harness.lock", "A one.txt"]);
}

#[test]
fn a_hook_that_refuses_to_take_the_lock_out_costs_no_proved_item() {
    let sandbox = one_item();
    hook(
        &sandbox,
        "pre-commit",
        "git diff --cached --name-only --diff-filter=D | grep -q . && exit 1; exit 0",
    );
    let steps = writes("one.txt").shell("git add -A; git commit --quiet -m 'all of it'");
    let agent = another(&sandbox).call(claims(steps)).install(&sandbox);
    let finished = worker(&sandbox, &agent).run();
    finished.assert_code(0).assert_stderr_has("what is ralph's own stays in the agent's commit: ");
    finished.assert_stderr_lacks("proved and not committed");
    assert_eq!(sandbox.git(&["log", "-1", "--format=%s"]), "all of it");
}

#[test]
fn a_goal_is_committed_only_when_asked() {
    let sandbox = repository();
    let agent = another(&sandbox)
        .call(writes("green").status(&StatusBlock::done()))
        .call(Steps::new().status(&StatusBlock::done()))
        .install(&sandbox);
    let run = |goal: &str| {
        ralph(&sandbox)
            .args(["run", goal, "--yes", "--test-cmd", "test -e green", "--agent-cmd"])
            .arg(agent.path())
    };
    run("make it green").run().assert_code(0);
    assert_eq!(commits(&sandbox), 1);
    sandbox.commit_all("mine");
    sandbox.git(&["rm", "--quiet", "green"]);
    sandbox.commit_all("gone");
    let agent = another(&sandbox)
        .call(writes("green").status(&StatusBlock::done()))
        .call(Steps::new().status(&StatusBlock::done()))
        .install(&sandbox);
    let finished = ralph(&sandbox)
        .args([
            "run",
            "make it green again",
            "--commit",
            "--yes",
            "--test-cmd",
            "test -e green",
            "--agent-cmd",
        ])
        .arg(agent.path())
        .run();
    finished.assert_code(0);
    assert_eq!(files_of(&sandbox, "HEAD"), ["A green"]);
    let message = sandbox.git(&["log", "-1", "--format=%B"]);
    assert!(
        message.starts_with("feat: make it green again\n") && message.contains("- test -e green exit 0"),
        "{message}"
    );
}

#[test]
fn a_user_who_edits_the_backlog_between_two_runs_keeps_that_edit_to_himself() {
    let sandbox = two_items();
    let agent = writer(&sandbox, &["one.txt", "two.txt"]);
    worker(&sandbox, &agent).run().assert_code(0);
    let edited = sandbox.read(HARNESS).replace("make two.txt", "make two.txt, mind");
    sandbox.write(HARNESS, edited);
    let finished = works_through(&sandbox, &agent).args(["--profile", "worker"]).run();
    finished.assert_code(0).assert_stderr_has("feature_list.json");
    assert_eq!(files_of(&sandbox, "HEAD"), ["A two.txt"]);
}

/// A git that does something before, or after, it puts entries into the index.
fn git_that(sandbox: &Sandbox, after: &str) {
    let real = sandbox.command("sh").args(["-c", "command -v git"]).output().expect("git").stdout;
    let real = String::from_utf8(real).expect("a path");
    let script = format!(
        "#!/bin/sh\ncase \" $* \" in\n*' --index-info '*) {0} \"$@\"; code=$?\n{after}\nexit $code;;\nesac\nexec {0} \"$@\"\n",
        real.trim()
    );
    sandbox.install_script("git", &script);
}

#[test]
fn a_lock_that_another_git_held_for_a_moment_costs_no_commit() {
    let sandbox = one_item();
    let tried = sandbox.root().join("tmp/tried");
    let lock = sandbox.project().join(".git/index.lock");
    git_that(
        &sandbox,
        &format!("[ $code = 0 ] || {{ echo failed >> {}; rm {}; }}", tried.display(), lock.display()),
    );
    let agent =
        another(&sandbox).call(claims(writes("one.txt").shell(": > .git/index.lock"))).install(&sandbox);
    let finished = worker(&sandbox, &agent).run();
    finished.assert_code(0).assert_stderr_lacks("proved and not committed");
    assert_eq!(std::fs::read_to_string(tried).expect("it was locked"), "failed\n", "tried again once");
    assert_eq!(files_of(&sandbox, "HEAD"), ["A one.txt"]);
    assert_eq!(sandbox.git(&["diff", "--cached", "--name-only"]), "");
}

#[test]
fn a_lock_that_stays_leaves_a_proved_item_uncommitted_and_is_named_and_not_removed() {
    let sandbox = one_item();
    let agent =
        another(&sandbox).call(claims(writes("one.txt").shell(": > .git/index.lock"))).install(&sandbox);
    let finished = worker(&sandbox, &agent).run();
    finished
        .assert_code(0)
        .assert_stderr_has("FEAT-1: the work is proved and not committed: git update-index failed")
        .assert_stderr_has("index.lock': File exists")
        .assert_stderr_has("if no other git is at work here, remove that file");
    assert!(sandbox.exists(".git/index.lock"), "it is not ralph's");
    assert_eq!((commits(&sandbox), item_now(&sandbox, "FEAT-1")["status"].clone()), (2, json!("PASSING")));
    let told = status(&sandbox);
    assert_eq!(told["uncommitted"][0]["what"], "FEAT-1", "{told}");
}

#[test]
fn files_of_several_iterations_are_counted_as_those_of_one_are() {
    let sandbox = one_item();
    let first = Steps::new().write("half.txt", "1\n").write("CLAUDE.md", "notes\n");
    let first = first.write(".claude/harness/notes.md", "notes\n");
    let agent = another(&sandbox).call(claims(first)).call(claims(writes("one.txt"))).install(&sandbox);
    works_through(&sandbox, &agent).args(["--set", "reviews=0", "--max-iterations", "2"]).run();
    let attempts: Vec<_> =
        ledger(&sandbox).into_iter().filter(|record| record["type"] == "attempt").collect();
    let counts: Vec<_> =
        attempts.iter().map(|record| (&record["files_changed"], &record["files_in_all"])).collect();
    assert_eq!(counts, [(&json!(1), &json!(null)), (&json!(1), &json!(2))], "{attempts:#?}");
}

#[test]
fn what_an_agent_throws_away_of_the_user_s_is_said_with_the_way_back() {
    for (throws, gone) in [
        ("git stash --quiet --include-untracked", "README.md, mine.txt"),
        ("rm mine.txt", "mine.txt"),
        ("git checkout --quiet README.md", "README.md"),
    ] {
        let sandbox = two_items();
        sandbox.write("README.md", "half a sentence\n");
        sandbox.write("mine.txt", "mine\n");
        let agent =
            another(&sandbox).call(claims(Steps::new().shell(throws).write("one.txt", ""))).install(&sandbox);
        let run = worker(&sandbox, &agent).run();
        let told = format!(
            "what you had not committed is gone with what the agent did (to have it back: ralph undo 1 FILE): {gone}"
        );
        run.assert_code(0).assert_stderr_has(&told).assert_stderr_has(&format!("flagged: {told} (#1)"));
        run.assert_stderr_has("to have back what you had not committed: ralph undo 1 FILE");
        let status = ralph(&sandbox).args(["status", "--json"]).run().json();
        assert_eq!(status["flags"], json!([{"iteration": 1, "text": told, "put_back": false}]));
        ralph(&sandbox).arg("status").run().assert_stdout_has(&told);
        ralph(&sandbox).arg("history").run().assert_stdout_has(&format!("flagged: {told}"));
        assert!(sandbox.read(".ralph/session.md").contains(&format!("Flagged: {told} (#1)")));
        ralph(&sandbox).args(["undo", "1", "--all"]).run().assert_code(0);
        assert_eq!(
            (sandbox.read("README.md"), sandbox.read("mine.txt")),
            ("half a sentence\n".into(), "mine\n".into())
        );
    }
    // Who works on a file of the user's throws nothing away.
    let sandbox = two_items();
    sandbox.write("mine.txt", "mine\n");
    let agent =
        another(&sandbox).call(claims(writes("one.txt").append("mine.txt", "more\n"))).install(&sandbox);
    worker(&sandbox, &agent).run().assert_code(0).assert_stderr_lacks("is gone with");
}

#[test]
fn where_none_of_the_work_can_be_committed_the_tick_is_not_either() {
    let sandbox = checklist();
    sandbox.write("work.txt", "mine\n");
    let agent = writer(&sandbox, &["work.txt"]);
    let finished = works_through(&sandbox, &agent).args(["--once", "--test-cmd", "true"]).run();
    finished.assert_code(0).assert_stderr_has("its files were not clean before the run");
    assert_eq!(commits(&sandbox), 2, "{finished}");
    assert!(sandbox.read("fix_plan.md").contains("- [x] first thing"), "it stays proved");
}
