//! ralph is cut off at every point of a settlement: one commit, one record of each kind, one attempt afterwards.

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

/// The points of a run, from the one before which its agent has ended.
fn points(sandbox: &Sandbox, file: &str) -> Vec<String> {
    let mut named = passed(sandbox, writes(file));
    let mut times = BTreeMap::<String, usize>::new();
    for (name, _) in named.iter().filter_map(|name| name.rsplit_once('#')) {
        *times.entry(name.to_owned()).or_default() += 1;
    }
    // The first and the last passing of each name; every one where everything is swept.
    let full = std::env::var("RALPH_SWEEP").is_ok_and(|value| value == "full");
    let last =
        |name: &String| name.rsplit_once('#').is_some_and(|(name, nth)| times[name].to_string() == nth);
    let struck = |name: &String| full || name.ends_with("#1") || last(name);
    let begun = named.iter().position(|name| name.contains("evidence.jsonl")).expect("the ledger is written");
    named.split_off(begun.saturating_sub(1)).into_iter().filter(struck).collect()
}

/// Cut off at each of these points, then run again.
fn cut_and_go_on(file: &str, code: i32, check: impl Fn(&Sandbox, &str)) {
    let points = points(&project(), file);
    assert!(points.len() > 20, "{points:#?}");
    let mut struck_at = 0;
    for point in &points {
        let sandbox = project();
        let agent = another(&sandbox).call(claims(writes(file))).install(&sandbox);
        let cut = struck(&sandbox, &agent, point);
        if cut.code != 137 {
            // A thread passed it at another time, or a keeper was struck: nothing was cut off.
            cut.assert_code(code);
            continue;
        }
        struck_at += 1;
        let stopped = crate::common::status(&sandbox)["stop_reason"].is_string();
        if !stopped {
            worker(&sandbox, &agent).run().assert_code(code);
        }
        assert_eq!(history(&sandbox).len(), 1, "{point}: one iteration");
        assert_eq!(agent.calls(&sandbox).len(), 1, "{point}: one agent");
        assert_eq!(recorded(&sandbox, "attempt"), 1, "{point}");
        let now = item_now(&sandbox, "FEAT-1");
        assert_eq!(now["attempts"].as_array().map(Vec::len), Some(1), "{point}: {now}");
        assert_eq!(
            item_now(&sandbox, "FEAT-0")["status"],
            "PASSING",
            "{point}: what was done before stays done"
        );
        check(&sandbox, point);
    }
    assert!(struck_at * 4 > points.len() * 3, "ralph was cut off at {struck_at} of {} points", points.len());
}

/// A run that is killed at this point.
fn struck(sandbox: &Sandbox, agent: &InstalledAgent, point: &str) -> Finished {
    let list = sandbox.root().join("tmp/points");
    let run = worker(sandbox, agent).env("RALPH_CRASH_POINTS", list);
    run.env("RALPH_CRASH_POINT", format!("kill:{point}")).run()
}

#[test]
fn a_proved_item_is_committed_and_recorded_once_wherever_ralph_is_cut_off() {
    cut_and_go_on("one.txt", 0, |sandbox, point| {
        let now = item_now(sandbox, "FEAT-1");
        assert_eq!((commits(sandbox), recorded(sandbox, "commit")), (3, 1), "{point}");
        assert_eq!(
            (&now["status"], &now["ralph_loop"]["current_iteration"]),
            (&json!("PASSING"), &json!(0)),
            "{point}"
        );
        assert_eq!(now["attempts"][0]["commit"], json!(sandbox.git(&["rev-parse", "HEAD"])), "{point}");
        assert_eq!(sandbox.git(&["diff", "--cached", "--name-only"]), "", "{point}: the index");
    });
}

#[test]
fn a_failed_item_is_counted_and_put_back_once_wherever_ralph_is_cut_off() {
    cut_and_go_on("wrong.txt", 3, |sandbox, point| {
        let now = item_now(sandbox, "FEAT-1");
        assert_eq!((commits(sandbox), recorded(sandbox, "commit")), (2, 0), "{point}");
        assert_eq!(
            (&now["status"], &now["ralph_loop"]["current_iteration"]),
            (&json!("FAILING"), &json!(1)),
            "{point}"
        );
        assert!(!sandbox.exists("wrong.txt"), "{point}");
    });
}

#[test]
fn work_of_the_user_s_is_not_put_back_when_ralph_goes_on_with_what_it_had_put_back() {
    let steps = || writes("wrong.txt").write("README.md", "# by the agent\n");
    let points = passed(&project(), steps());
    let done = points.iter().rposition(|name| name.starts_with("wait for git read-tree#")).expect("put back");
    let sandbox = project();
    let agent = another(&sandbox).call(claims(steps())).install(&sandbox);
    struck(&sandbox, &agent, &points[done + 1]).assert_code(137);
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
        struck(&sandbox, &agent, &points[marked + 1]).assert_code(137);
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
    struck(&sandbox, &agent, &points[moved + 1]).assert_code(137);
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
