//! ralph is cut off at every point of a settlement: one commit, one record of each kind, one attempt afterwards.

use ralph_testkit::Sandbox;
use serde_json::json;

use crate::common::history;
use crate::stage::{another, claims, commits, harness, item, item_now, recorded, worker, writes};

fn project() -> Sandbox {
    let mut done = item("FEAT-0", "README.md");
    done["status"] = json!("PASSING");
    done["attempts"] = json!([{"run_id": "worker-001", "timestamp": "2026-01-07T19:30:00Z", "result": "PASSED",
        "evidence": {"commands_run": ["true"], "results_summary": "ok"}, "commit": "abc1234", "reverted": false}]);
    harness(&[done, item("FEAT-1", "one.txt")])
}

/// The points of a run, from the one before which its agent has ended.
fn points(sandbox: &Sandbox, file: &str) -> Vec<String> {
    let agent = another(sandbox).call(claims(writes(file))).install(sandbox);
    let list = sandbox.root().join("tmp/points");
    worker(sandbox, &agent).env("RALPH_CRASH_POINTS", &list).run();
    let text = std::fs::read_to_string(list).expect("points");
    let mut seen = std::collections::BTreeMap::<&str, usize>::new();
    let mut named = vec![];
    for line in text.lines() {
        let nth = seen.entry(line).or_default();
        *nth += 1;
        named.push(format!("{line}#{nth}"));
    }
    // The first and the last passing of each name; every one where everything is swept.
    let full = std::env::var("RALPH_SWEEP").is_ok_and(|value| value == "full");
    let last = |name: &String| name.rsplit_once('#').is_some_and(|(name, nth)| seen[name].to_string() == nth);
    let struck = |name: &String| full || name.ends_with("#1") || last(name);
    let begun = named.iter().position(|name| name.contains("evidence.jsonl")).expect("the ledger is written");
    named.split_off(begun.saturating_sub(1)).into_iter().filter(struck).collect()
}

/// Cut off at each of these points, then run again.
fn cut_and_go_on(file: &str, code: i32, check: impl Fn(&Sandbox, &str)) {
    let points = points(&project(), file);
    assert!(points.len() > 20, "{points:#?}");
    for point in &points {
        let sandbox = project();
        let agent = another(&sandbox).call(claims(writes(file))).install(&sandbox);
        let cut = worker(&sandbox, &agent).env("RALPH_CRASH_POINT", format!("kill:{point}")).run();
        if cut.code != 137 {
            // A thread passed it at another time; nothing was cut off.
            cut.assert_code(code);
            continue;
        }
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
