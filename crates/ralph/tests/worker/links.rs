//! A link, or a folder, that an agent puts in the place of the task file.
#![expect(clippy::disallowed_methods, reason = "tests have files of their own")]

use ralph_testkit::Sandbox;
use serde_json::json;

use crate::common::repository;
use crate::stage::{
    HARNESS, another, claims, commits, committed, files_of, item_now, two_items, worker, works_through,
    write_items, writer, writes,
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
