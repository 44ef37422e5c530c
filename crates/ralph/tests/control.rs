//! Steering from beside a run: `circuit`, `reset`.

mod common;

use common::{GOAL, history, one_call, ralph, repository, run, says_done, says_more, status};
use ralph_testkit::{FakeAgent, Running, Sandbox, Signal, StatusBlock, Steps};
use serde_json::{Value, json};

fn circuit(sandbox: &Sandbox) -> Value {
    let finished = ralph(sandbox).args(["circuit", "status", "--json"]).run();
    finished.assert_code(0);
    finished.json()
}

/// A run that stopped with an open circuit.
fn open_circuit() -> (Sandbox, ralph_testkit::InstalledAgent) {
    let sandbox = repository();
    let agent = one_call(&sandbox, says_more());
    run(&sandbox, &agent).run().assert_code(5);
    (sandbox, agent)
}

/// A run whose first iteration is at work and waits.
fn at_work() -> (Sandbox, ralph_testkit::InstalledAgent, Running) {
    let sandbox = repository();
    let agent = FakeAgent::new("agent")
        .call(Steps::new().reach("working").hold("go").status(&StatusBlock::done()))
        .call(says_more())
        .install(&sandbox);
    let running = run(&sandbox, &agent).args(["--test-cmd", "false"]).spawn();
    sandbox.wait_for("working");
    (sandbox, agent, running)
}

#[test]
fn an_open_circuit_is_shown_with_its_reason_and_how_to_go_on() {
    let (sandbox, agent) = open_circuit();
    let text = ralph(&sandbox).args(["circuit", "status"]).run();
    text.assert_code(0)
        .assert_stdout_has("circuit:    OPEN")
        .assert_stdout_has("no_progress: 3 iterations with no file changes")
        .assert_stdout_has("probe:      allowed from 20")
        .assert_stdout_has("3 without progress")
        .assert_stdout_has("ralph run --probe");
    let json = circuit(&sandbox);
    assert_eq!((&json["schema"], &json["state"]), (&json!("ralph.circuit/1"), &json!("OPEN")));
    assert_eq!((&json["no_progress_count"], &json["run"]), (&json!(3), &json!(1)));
    ralph(&sandbox).arg("status").run().assert_stdout_has("circuit:    OPEN: no_progress");
    ralph(&sandbox).arg("run").run().assert_code(5);
    assert_eq!(agent.calls(&sandbox).len(), 3, "nothing was spent");
}

#[test]
fn a_reset_circuit_lets_the_same_run_go_on() {
    let (sandbox, agent) = open_circuit();
    let reset = ralph(&sandbox).args(["circuit", "reset"]).run();
    reset.assert_code(0).assert_stderr_has("it was OPEN: no_progress: 3 iterations");
    assert_eq!(
        (&circuit(&sandbox)["state"], &circuit(&sandbox)["no_progress_count"]),
        (&json!("CLOSED"), &json!(0))
    );
    ralph(&sandbox).arg("status").run().assert_stdout_has("closed since, to go on: ralph run");
    ralph(&sandbox).args(["circuit", "reset"]).run().assert_code(0).assert_stderr_has("counted nothing");
    ralph(&sandbox)
        .args(["run", "--max-iterations", "4"])
        .run()
        .assert_code(3)
        .assert_stderr_has("run 1 continued");
    assert_eq!(agent.calls(&sandbox).len(), 4);
}

#[test]
fn an_open_circuit_outlives_its_run_until_it_is_reset() {
    let (sandbox, agent) = open_circuit();
    let other = |sandbox: &Sandbox| {
        ralph(sandbox)
            .args(["run", "another goal", "--max-iterations", "1", "--agent-cmd"])
            .arg(agent.path())
            .run()
    };
    other(&sandbox).assert_code(5);
    ralph(&sandbox).args(["circuit", "reset"]).run().assert_code(0);
    other(&sandbox).assert_code(3);
}

#[test]
fn where_nothing_was_run_there_is_nothing_to_reset_stop_or_show() {
    let sandbox = repository();
    ralph(&sandbox).args(["circuit", "reset"]).run().assert_code(0).assert_stderr_has("nothing has been run");
    ralph(&sandbox).arg("reset").run().assert_code(0).assert_stderr_has("nothing has been run");
    ralph(&sandbox).args(["circuit", "status"]).run().assert_code(0).assert_stdout_has("CLOSED");
    assert_eq!((&circuit(&sandbox)["state"], &circuit(&sandbox)["run"]), (&json!("CLOSED"), &json!(null)));
    assert!(!sandbox.exists(".ralph") && !sandbox.exists(".git/ralph"), "looking writes nothing");
}

#[test]
fn a_reset_closes_run_and_circuit_and_deletes_no_history() {
    let (sandbox, agent) = open_circuit();
    let reset = ralph(&sandbox).arg("reset").run();
    reset
        .assert_code(0)
        .assert_stderr_has("it was OPEN")
        .assert_stderr_has(&format!("run 1 is closed: {GOAL}"))
        .assert_stderr_has("nothing was deleted");
    assert_eq!((&status(&sandbox)["stop_reason"], history(&sandbox).len()), (&json!("closed"), 3));
    assert!(sandbox.read(".ralph/state.json").contains("\"closed\""), "the views know");
    ralph(&sandbox).arg("run").run().assert_code(64).assert_stderr_has("no unfinished run");
    ralph(&sandbox).arg("reset").run().assert_code(0).assert_stderr_has("nothing to close");
    // The same goal begins a new run.
    run(&sandbox, &agent)
        .args(["--max-iterations", "1"])
        .run()
        .assert_code(3)
        .assert_stderr_has("run 2 started");
}

#[test]
fn a_complete_run_stays_complete_when_it_is_reset() {
    let sandbox = repository();
    let agent = one_call(&sandbox, says_done());
    run(&sandbox, &agent).args(["--test-cmd", "true"]).run().assert_code(0);
    ralph(&sandbox).arg("reset").run().assert_code(0);
    assert_eq!(status(&sandbox)["stop_reason"], "complete");
}

#[test]
fn nothing_is_reset_while_a_run_is_going_on() {
    let (sandbox, _agent, running) = at_work();
    for args in [&["reset"][..], &["circuit", "reset"]] {
        ralph(&sandbox)
            .args(args)
            .run()
            .assert_code(1)
            .assert_stderr_has("a run is going on")
            .assert_stderr_has("ralph stop");
    }
    running.signal(Signal::INT);
    running.wait().assert_code(130);
    ralph(&sandbox).arg("reset").run().assert_code(0).assert_stderr_has("run 1 is closed");
}
