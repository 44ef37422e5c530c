//! ralph is cut off in the middle of a settlement, and somebody goes on working before it is taken up again; or the disk goes
//! on refusing it. The crash sweep's backlog (`tests/crash_sweep/backlog.rs`) cuts it off at every point.

use std::collections::BTreeMap;

use ralph_testkit::{Finished, InstalledAgent, Sandbox, Steps};
use serde_json::json;

use crate::common::{history, ralph};
use crate::stage::{HARNESS, another, claims, commits, harness, item, item_now, recorded, worker, writes};

fn project() -> Sandbox {
    let mut done = item("FEAT-0", "README.md");
    done["status"] = json!("PASSING");
    done["attempts"] = json!([{"run_id": "worker-001", "timestamp": "2026-01-07T19:30:00Z", "result": "PASSED",
        "evidence": {"commands_run": ["true"], "results_summary": "ok"}, "commit": "abc1234", "reverted": false}]);
    harness(&[done, item("FEAT-1", "one.txt")])
}

/// Every point of a run, with which passing of its name it is.
fn passed(sandbox: &Sandbox, steps: Steps) -> Vec<String> {
    let agent = another(sandbox).call(claims(steps)).install(sandbox);
    let list = sandbox.root().join("tmp/points");
    worker(sandbox, &agent).env("RALPH_CRASH_POINTS", &list).run();
    let text = std::fs::read_to_string(list).expect("points");
    let mut seen = BTreeMap::<&str, usize>::new();
    let mut number = |line| {
        let nth = seen.entry(line).or_default();
        *nth += 1;
        format!("{line}#{nth}")
    };
    text.lines().map(&mut number).collect()
}

/// A run that is struck in this way.
fn struck(sandbox: &Sandbox, agent: &InstalledAgent, strike: &str) -> Finished {
    let list = sandbox.root().join("tmp/points");
    let run = worker(sandbox, agent).env("RALPH_CRASH_POINTS", &list);
    let finished = run.env("RALPH_CRASH_POINT", strike).run();
    let points = std::fs::read_to_string(list).expect("points");
    assert!(points.contains(&format!("struck: {strike}\n")), "{strike}: it did not strike\n{finished}");
    finished
}

/// A run that is killed at this point.
fn killed(sandbox: &Sandbox, agent: &InstalledAgent, point: &str) {
    struck(sandbox, agent, &format!("kill:{point}")).assert_code(137);
}

#[test]
fn a_settlement_that_the_disk_goes_on_refusing_stops_the_run_and_the_next_one_settles_it_once() {
    let points = passed(&project(), writes("one.txt"));
    let marked = points.iter().rfind(|name| name.starts_with("rename feature_list.json#")).expect("marks");
    for refused in [
        "enospc:append evidence.jsonl#1+",
        "eio:start git update-ref#1+",
        "enospc:sync evidence.jsonl#2+",
        &format!("eio:{marked}+"),
    ] {
        let sandbox = project();
        let agent = another(&sandbox).call(claims(writes("one.txt"))).install(&sandbox);
        let stopped = struck(&sandbox, &agent, refused);
        stopped
            .assert_code(1)
            .assert_stderr_has("ralph: iteration 1 could not be settled\n  why: ")
            .assert_stderr_has(
                "\n  try: make room on that disk, or look after it; then go on, and it is settled: ralph run",
            );
        let now = crate::common::status(&sandbox);
        assert!(now["stop_reason"].is_null(), "{refused}: {now}");
        worker(&sandbox, &agent).run().assert_code(0);
        assert_eq!((history(&sandbox).len(), agent.calls(&sandbox).len()), (1, 1), "{refused}");
        assert_eq!((recorded(&sandbox, "attempt"), recorded(&sandbox, "commit")), (1, 1), "{refused}");
        assert_eq!(commits(&sandbox), 3, "{refused}");
        let now = item_now(&sandbox, "FEAT-1");
        assert_eq!((&now["status"], now["attempts"].as_array().map(Vec::len)), (&json!("PASSING"), Some(1)));
        assert_eq!(now["attempts"][0]["commit"], json!(sandbox.git(&["rev-parse", "HEAD"])), "{refused}");
    }
}

/// Sent a signal between making a lock and noting that it did, git leaves the lock in the user's repository.
#[test]
fn a_git_that_the_disk_cut_ralph_off_from_comes_to_its_own_end_before_it_is_tried_again() {
    let sandbox = project();
    let agent = another(&sandbox).call(claims(writes("one.txt"))).install(&sandbox);
    let which = sandbox.command("sh").args(["-c", "command -v git"]).output().expect("sh");
    let real = String::from_utf8(which.stdout).expect("UTF-8");
    let diary = sandbox.root().join("tmp/update-ref");
    let script = format!(
        r#"#!/bin/sh
case "$*" in *update-ref*) ;; *) exec {git} "$@" ;; esac
echo begun >> {diary}
{git} "$@"
code=$?
echo ended >> {diary}
exit $code
"#,
        git = real.trim(),
        diary = diary.display()
    );
    sandbox.install_script("git", &script);
    struck(&sandbox, &agent, "eio:wait for git update-ref#1").assert_code(0);
    assert_eq!(sandbox.read(&diary), "begun\nended\n");
    assert_eq!(commits(&sandbox), 3);
    assert_eq!(sandbox.git(&["diff", "--cached", "--name-only"]), "", "the index has what HEAD has");
}

#[test]
fn work_of_the_user_s_is_not_put_back_when_ralph_goes_on_with_what_it_had_put_back() {
    let steps = || writes("wrong.txt").write("README.md", "# by the agent\n");
    let points = passed(&project(), steps());
    let done = points.iter().rposition(|name| name.starts_with("wait for git read-tree#")).expect("put back");
    let sandbox = project();
    let agent = another(&sandbox).call(claims(steps())).install(&sandbox);
    killed(&sandbox, &agent, &points[done + 1]);
    assert!(!sandbox.exists("wrong.txt") && sandbox.read("README.md") == "# project\n", "it was put back");
    sandbox.write("wrong.txt", "mine\n");
    sandbox.write("README.md", "# mine\n");
    let finished = worker(&sandbox, &agent).run();
    finished
        .assert_code(3)
        .assert_stderr_has("changed since the attempt, and left as it is: README.md, wrong.txt");
    assert_eq!((sandbox.read("wrong.txt"), sandbox.read("README.md")), ("mine\n".into(), "# mine\n".into()));
    assert_eq!(item_now(&sandbox, "FEAT-1")["attempts"].as_array().map(Vec::len), Some(1));
}

#[test]
fn what_the_user_writes_into_the_task_file_of_a_cut_off_settlement_is_no_mark_of_ralph_s() {
    let points = passed(&project(), writes("one.txt"));
    // What ralph left in the task file is noted, and that it is settled is not.
    let marked = points.iter().rposition(|name| name.contains("backlog-left")).expect("a note");
    for mine in [false, true] {
        let sandbox = project();
        let agent = another(&sandbox).call(claims(writes("one.txt"))).install(&sandbox);
        killed(&sandbox, &agent, &points[marked + 1]);
        if mine {
            let text = sandbox.read(HARNESS).replacen("\"notes\": \"\"", "\"notes\": \"mine\"", 1);
            sandbox.write(HARNESS, text);
        }
        worker(&sandbox, &agent).run().assert_code(0);
        assert_eq!(item_now(&sandbox, "FEAT-1")["status"], "PASSING");
        let undone = ralph(&sandbox).args(["undo", "1"]).run();
        undone.assert_code(0);
        assert_eq!(undone.stderr.contains("1 file stays as it is"), mine, "{undone}");
        assert_eq!(sandbox.read(HARNESS).contains("\"notes\": \"mine\""), mine);
        assert!(!sandbox.exists("one.txt"));
    }
}

#[test]
fn what_a_commit_lacks_is_named_though_ralph_was_cut_off_after_it() {
    let project = || {
        let sandbox = project();
        sandbox.write("README.md", "# mine\n");
        sandbox
    };
    let steps = || writes("one.txt").append("README.md", "and the agent's\n");
    let points = passed(&project(), steps());
    let moved = points.iter().rposition(|name| name.starts_with("wait for git update-ref#")).expect("HEAD");
    let sandbox = project();
    let agent = another(&sandbox).call(claims(steps())).install(&sandbox);
    killed(&sandbox, &agent, &points[moved + 1]);
    assert_eq!(commits(&sandbox), 3, "the commit is there");
    let finished = worker(&sandbox, &agent).run();
    finished
        .assert_code(0)
        .assert_stderr_has("its commit is without files that were not clean before: README.md");
    assert_eq!(commits(&sandbox), 3);
    assert_eq!(crate::common::status(&sandbox)["uncommitted"][0]["what"], "FEAT-1");
}

#[test]
fn what_a_ralph_that_was_killed_left_beside_the_task_file_goes_and_nothing_else() {
    let sandbox = project();
    let beside = |sandbox: &Sandbox| -> Vec<String> {
        let folder = sandbox.project().join(".claude/harness");
        let names =
            std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").file_name());
        let mut names: Vec<String> = names.map(|name| name.to_string_lossy().into_owned()).collect();
        names.retain(|name| name != "feature_list.json");
        names.sort();
        names
    };
    let list = sandbox.root().join("tmp/points");
    let increment = || ralph(&sandbox).args(["backlog", "increment", "FEAT-1"]);
    let killed = || {
        sandbox.write(&list, "");
        let cut = increment().env("RALPH_CRASH_POINTS", &list);
        cut.env("RALPH_CRASH_POINT", "kill:rename feature_list.json#1").run().assert_code(137);
    };
    killed();
    assert_eq!(beside(&sandbox).len(), 1, "{:?}", beside(&sandbox));
    // Of a process that is there, of another file, and of other names.
    let own = std::process::id();
    let others = [
        format!(".feature_list.json.{own}.new"),
        ".feature_list.json.00999999999.new".into(),
        ".feature_list.json.mine.new".into(),
        ".other.json.999999999.new".into(),
        "feature_list.json.999999999.new".into(),
    ];
    let path = |name: &str| format!(".claude/harness/{name}");
    others.iter().for_each(|name| sandbox.write(path(name), "x"));
    sandbox.write(path(".feature_list.json.999999998.new/in-the-way"), "x");
    increment().run().assert_code(0);
    let mut kept: Vec<String> = others.to_vec();
    kept.push(".feature_list.json.999999998.new".into());
    kept.sort();
    assert_eq!(beside(&sandbox), kept);

    // A run removes it before it looks at the files.
    killed();
    assert_eq!(beside(&sandbox).len(), kept.len() + 1);
    let agent = another(&sandbox).call(claims(writes("one.txt"))).install(&sandbox);
    worker(&sandbox, &agent).run().assert_code(0);
    assert_eq!(beside(&sandbox), kept);
    let changed = history(&sandbox)[0]["files"].to_string();
    assert!(!changed.contains(".new"), "{changed}");
}
