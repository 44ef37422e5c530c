//! `ralph util simulate`: scripted runs without a process.

mod common;

use common::ralph;
use ralph_testkit::{Sandbox, Schema};
use serde_json::Value;

/// The script that docs/testing.md shows.
fn documented() -> &'static str {
    let page = include_str!("../../../docs/testing.md");
    let script = page.split_once("```json\n").and_then(|(_, rest)| rest.split_once("```"));
    script.expect("a script in docs/testing.md").0
}

#[test]
fn the_documented_script_plays_as_a_run_would() {
    let sandbox = Sandbox::new();
    sandbox.write("script.json", documented());
    let shown = ralph(&sandbox).args(["util", "simulate", "script.json"]).run();
    shown.assert_code(0).assert_stdout_has("stop: complete (complete, proved by checks)");
    shown.assert_stdout_has("evidence: make test exit 1 (src/greet.rs, red before the run)");
    let json = ralph(&sandbox).args(["util", "simulate", "script.json", "--json"]).run().json();
    let outcomes: Vec<&Value> =
        json["iterations"].as_array().expect("a list").iter().map(|i| &i["outcome"]).collect();
    assert_eq!(outcomes, ["refused", "limited", "limited", "accepted", "accepted"]);
    Schema::published("ralph.simulation/1").assert(&json);
    assert_eq!((&json["counted"], &json["cost_micro_usd"]), (&Value::from(3), &Value::from(30_000)));
    assert!(!sandbox.exists(".ralph"), "nothing is written");
}

#[test]
fn a_simulated_stop_has_the_exit_code_of_a_real_one_and_a_bad_script_is_named() {
    let sandbox = Sandbox::new();
    sandbox.write("idle.json", r#"{"agents": [{"name": "a", "steps": [{"do": {}}]}]}"#);
    let idle = ralph(&sandbox).args(["util", "simulate", "idle.json"]).run();
    idle.assert_code(5).assert_stdout_has("no_progress: 3 iterations with no file changes");
    sandbox.write("bad.json", "{}");
    let bad = ralph(&sandbox).args(["util", "simulate", "bad.json"]).run();
    bad.assert_code(65).assert_stderr_has("bad.json is no script").assert_stderr_has("there are no agents");
}
