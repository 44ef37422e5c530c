//! A link, or a folder, that an agent puts in the place of the task file.
#![expect(clippy::disallowed_methods, reason = "tests have files of their own")]

use ralph_testkit::{Sandbox, StatusBlock, Steps};
use serde_json::json;

use crate::common::repository;
use crate::stage::{
    HARNESS, another, claims, commits, committed, files_of, item_now, turns_green, two_items, worker,
    works_through, write_items, writer, writes,
};

/// A place outside of the project, with a file of the user's.
fn outside(sandbox: &Sandbox) -> std::path::PathBuf {
    let dir = sandbox.root().join("outside");
    std::fs::create_dir(&dir).expect("a folder");
    std::fs::write(dir.join("victim.txt"), "precious\n").expect("a file");
    dir
}

fn is_a_plain_file(sandbox: &Sandbox, path: &str) {
    let path = sandbox.project().join(path);
    for path in path.ancestors().take_while(|path| *path != sandbox.project()) {
        assert!(!path.is_symlink(), "{}", path.display());
    }
    assert!(path.is_file(), "{}", path.display());
}

#[test]
fn a_link_or_a_folder_in_the_place_of_the_task_file_refuses_the_pass_and_nothing_is_written_through_it() {
    let to_a_victim = "ln -sf \"$OUT/victim.txt\" LIST";
    let to_a_copy = "cp LIST \"$OUT/copy.json\"; ln -sf \"$OUT/copy.json\" LIST";
    let harness_moved = "mv .claude/harness \"$OUT/harness\"; ln -s \"$OUT/harness\" .claude/harness";
    let dangling = "ln -sf \"$OUT/nowhere\" LIST";
    let folder = "rm LIST; mkdir LIST; echo mine > LIST/notes";
    for (tampering, said) in [
        (to_a_victim, "feature_list.json, which is a link now"),
        (to_a_copy, "feature_list.json, which is a link now"),
        (harness_moved, ".claude/harness, which is a link now"),
        (dangling, "feature_list.json, which is a link now"),
        (folder, "feature_list.json, which is a folder now"),
    ] {
        for commit in ["", "; git add -A; git commit --quiet -m linked"] {
            let sandbox = two_items();
            sandbox.write(".claude/harness/rules.md", "be exact\n");
            sandbox.commit_all("rules");
            let outside = outside(&sandbox);
            let before = sandbox.read(HARNESS);
            let script = format!("{tampering}{commit}").replace("LIST", HARNESS);
            let script = script.replace("$OUT", &outside.to_string_lossy());
            let agent = another(&sandbox).call(claims(writes("one.txt").shell(&script))).install(&sandbox);
            let finished = worker(&sandbox, &agent).args(["--set", "failed_item=keep"]).run();
            finished.assert_code(3).assert_stderr_has(&format!("the agent changed {}", said_with(said)));
            finished.assert_stderr_has("the backlog is put back as it was before the attempt");
            is_a_plain_file(&sandbox, HARNESS);
            assert_eq!(sandbox.read(".claude/harness/rules.md"), "be exact\n", "{script}");
            let attempts = &item_now(&sandbox, "FEAT-1")["attempts"];
            assert_eq!(attempts[0]["result"], "FAILED", "{script}: {attempts}");
            assert_eq!(std::fs::read_to_string(outside.join("victim.txt")).expect("it"), "precious\n");
            for copy in ["copy.json", "harness/feature_list.json"] {
                let copy = std::fs::read_to_string(outside.join(copy)).unwrap_or_default();
                assert!(copy.is_empty() || !copy.contains("FAILED\""), "written outside: {copy}");
            }
            assert!(!outside.join("nowhere").exists());
            let head = sandbox.git(&["ls-tree", "-r", "HEAD", ".claude"]);
            assert!(!head.contains("120000") && head.contains("rules.md"), "{script}: {head}");
            assert_eq!(committed(&sandbox, HARNESS), before.trim_end(), "{script}");
            // The next attempt goes on as if nothing had been.
            worker(&sandbox, &writer(&sandbox, &["one.txt"])).run().assert_code(0);
            let head = sandbox.git(&["ls-tree", "-r", "HEAD", ".claude"]);
            assert!(!head.contains("120000") && head.contains("rules.md"), "{script}: {head}");
            assert_eq!(item_now(&sandbox, "FEAT-1")["status"], "PASSING");
        }
    }
}

fn said_with(said: &str) -> String {
    if said.starts_with('.') { said.into() } else { format!(".claude/harness/{said}") }
}

#[test]
fn a_folder_that_stood_in_the_place_of_the_task_file_is_kept() {
    let sandbox = two_items();
    let script = format!("rm {HARNESS}; mkdir {HARNESS}; echo mine > {HARNESS}/notes");
    let agent = another(&sandbox).call(claims(writes("one.txt").shell(&script))).install(&sandbox);
    let finished = worker(&sandbox, &agent).run();
    finished
        .assert_code(3)
        .assert_stderr_has("what stood in the place of the task file is kept: .git/ralph/");
    let kept = finished.stderr.lines().find_map(|line| line.split_once("is kept: ")).expect("a line").1;
    assert_eq!(sandbox.read(format!("{}/notes", kept.trim())), "mine\n");
}

#[test]
fn a_task_list_in_ralph_s_own_folder_is_not_followed_elsewhere_either() {
    let sandbox = repository();
    let list = "tasks:\n  - id: T-1\n    title: one\n    status: todo\n";
    sandbox.write(".ralph/ralph.yml", list);
    let outside = outside(&sandbox);
    let script = format!("ln -sf '{}/victim.txt' .ralph/ralph.yml", outside.display());
    let agent = another(&sandbox).call(claims(writes("one.txt").shell(&script))).install(&sandbox);
    let finished =
        works_through(&sandbox, &agent).args(["--once", "--test-cmd", "true", "--max-iterations", "1"]).run();
    finished.assert_stderr_has("the agent changed .ralph/ralph.yml, which is a link now");
    is_a_plain_file(&sandbox, ".ralph/ralph.yml");
    assert!(sandbox.read(".ralph/ralph.yml").starts_with("tasks:\n  - id: T-1\n    title: one\n"));
    assert_eq!(std::fs::read_to_string(outside.join("victim.txt")).expect("it"), "precious\n");
}

#[test]
fn a_link_that_the_user_made_is_worked_through_and_comes_back_where_an_agent_replaces_it() {
    let sandbox = repository();
    write_items(&sandbox, &[crate::stage::item("FEAT-1", "one.txt")]);
    let outside = outside(&sandbox);
    let list = outside.join("list.json");
    std::fs::rename(sandbox.project().join(HARNESS), &list).expect("moved");
    std::os::unix::fs::symlink(&list, sandbox.project().join(HARNESS)).expect("a link");
    sandbox.commit_all("a link");
    let script = format!("cat {HARNESS} > copy; rm {HARNESS}; mv copy {HARNESS}");
    let agent = another(&sandbox)
        .call(claims(writes("one.txt").shell(&script)))
        .call(claims(writes("one.txt")))
        .install(&sandbox);
    let finished = worker(&sandbox, &agent).run();
    finished.assert_code(3).assert_stderr_has(&format!("the agent changed {HARNESS}, which was a link"));
    assert_eq!(std::fs::read_link(sandbox.project().join(HARNESS)).expect("a link"), list);
    worker(&sandbox, &agent).run().assert_code(0);
    assert_eq!(std::fs::read_link(sandbox.project().join(HARNESS)).expect("a link"), list);
    assert_eq!(item_now(&sandbox, "FEAT-1")["status"], json!("PASSING"));
    assert_eq!((files_of(&sandbox, "HEAD"), commits(&sandbox)), (vec!["A one.txt".into()], 3));
}

#[test]
fn a_reviewer_s_link_in_the_place_of_the_task_file_goes_and_nothing_is_read_from_there() {
    let sandbox = repository();
    sandbox.write("fix_plan.md", "- [ ] first\n");
    sandbox.commit_all("plan");
    let outside = outside(&sandbox);
    let open = "- [x] first\n- [ ] more for me\n";
    std::fs::write(outside.join("other.md"), open).expect("a file");
    let link = format!("ln -sf '{}/other.md' fix_plan.md", outside.display());
    let done = |steps: Steps| steps.say("All tasks are complete.").status(&StatusBlock::done());
    let agent = another(&sandbox)
        .call(claims(writes("one.txt")))
        .call(done(Steps::new().shell(&link)))
        .call(done(Steps::new()))
        .install(&sandbox);
    let finished = turns_green(&sandbox, &agent).args(["--test-cmd", "test -e one.txt"]).run();
    finished.assert_code(0).assert_stderr_has("the agent changed fix_plan.md, which is a link now");
    is_a_plain_file(&sandbox, "fix_plan.md");
    assert_eq!(sandbox.read("fix_plan.md"), "- [x] first\n");
    assert_eq!(std::fs::read_to_string(outside.join("other.md")).expect("it"), open);
}

#[test]
fn a_ralph_that_comes_after_a_killed_one_believes_no_way_that_an_agent_wrote_down() {
    for forged in [true, false] {
        let sandbox = two_items();
        let outside = outside(&sandbox);
        let (list, copy) = (sandbox.project().join(HARNESS), outside.join("copy.json"));
        let kept = ".git/ralph/runs/0001/iteration-000001";
        let forge = match forged {
            true => format!(
                "printf '%s\\0%s\\0%s' '{0}' '{1}' '{0}' > {kept}/backlog-way",
                copy.display(),
                list.display()
            ),
            false => format!("rm {kept}/backlog"),
        };
        let link = format!("cp {HARNESS} '{0}'; ln -sf '{0}' {HARNESS}; {forge}", copy.display());
        let agent = another(&sandbox)
            .call(writes("one.txt").shell(&link).reach("linked").hang())
            .call(claims(writes("one.txt")))
            .install(&sandbox);
        let running = worker(&sandbox, &agent).spawn();
        sandbox.wait_for("linked");
        let before = std::fs::read_to_string(&copy).expect("the copy");
        running.kill9();
        running.wait();
        sandbox.assert_no_processes();
        let finished = worker(&sandbox, &agent).run();
        assert_eq!(std::fs::read_to_string(&copy).expect("the copy"), before, "{forged}: {finished}");
        is_a_plain_file(&sandbox, HARNESS);
    }
}
