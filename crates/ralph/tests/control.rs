//! Steering from beside a run: `stop`, `note`, `circuit`, `reset`.

mod common;

use std::fs;
use std::path::Path;

use common::{GOAL, TEST, history, one_call, outcomes, ralph, repository, run, says_done, says_more, status};
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

fn requests(sandbox: &Sandbox) -> Vec<String> {
    let entries = fs::read_dir(sandbox.project().join(".git/ralph/requests"));
    entries.into_iter().flatten().flatten().map(|e| e.file_name().to_string_lossy().into_owned()).collect()
}

#[test]
fn an_open_circuit_is_shown_with_its_reason_and_how_to_go_on() {
    let (sandbox, agent) = open_circuit();
    let text = ralph(&sandbox).args(["circuit", "status"]).run();
    text.assert_code(0)
        .assert_stdout_has("circuit:    OPEN")
        .assert_stdout_has("no_progress: 3 iterations with no file changes")
        .assert_stdout_has("next run:   from ")
        .assert_stdout_has("3 without progress")
        .assert_stdout_has("ralph run --probe");
    let doctor = || ralph(&sandbox).arg("doctor").run().stdout;
    let told = doctor();
    let line = told.lines().find(|line| line.contains(" circuit ")).unwrap_or_else(|| panic!("{told}"));
    assert!(line.starts_with("warned") && line.contains("open: no_progress"), "{told}");
    for part in ["no run begins before", "ralph run --probe", "ralph circuit reset"] {
        assert!(told.contains(part), "{part}: {told}");
    }
    let json = circuit(&sandbox);
    assert_eq!((&json["schema"], &json["state"]), (&json!("ralph.circuit/1"), &json!("OPEN")));
    assert_eq!((&json["no_progress_count"], &json["run"]), (&json!(3), &json!(1)));
    ralph(&sandbox).arg("status").run().assert_stdout_has("circuit:    OPEN: no_progress");
    ralph(&sandbox).arg("run").run().assert_code(5);
    let noted = ralph(&sandbox).args(["note", "look elsewhere"]).run();
    noted.assert_code(0).assert_stderr_has("kept for: ralph run --probe");
    assert_eq!(agent.calls(&sandbox).len(), 3, "nothing was spent");
    ralph(&sandbox).args(["circuit", "reset"]).run().assert_code(0);
    assert!(!doctor().contains(" circuit "), "{}", doctor());
}

#[test]
fn a_run_that_was_torn_before_it_began_hides_no_open_circuit() {
    let (sandbox, _) = open_circuit();
    sandbox.damages_the_record();
    let before = (circuit(&sandbox), status(&sandbox));
    let journal = sandbox.read(".git/ralph/runs/0001/journal.jsonl");
    sandbox.write(".git/ralph/runs/0002/journal.jsonl", &journal[..100]);
    assert_eq!(before.0["state"], "OPEN");
    assert_eq!((circuit(&sandbox), status(&sandbox)), before);
    ralph(&sandbox).args(["circuit", "reset"]).run().assert_code(0).assert_stderr_has("it was OPEN");
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
    ralph(&sandbox).arg("stop").run().assert_code(1).assert_stderr_has("no run is going on");
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

#[test]
fn stop_lets_the_iteration_finish_with_its_checks() {
    let (sandbox, agent, running) = at_work();
    let asked = ralph(&sandbox).arg("stop").run();
    asked.assert_code(0).assert_stderr_has("when this iteration is over");
    running.wait_for_stderr("asked to stop after this iteration");
    assert_eq!(status(&sandbox)["status"], "working", "the agent is not ended");
    assert_eq!(status(&sandbox)["stop_asked"], true);
    ralph(&sandbox).arg("status").run().assert_stdout_has("working, stops after this iteration (pid ");
    sandbox.release("go");
    running.wait().assert_code(130).assert_stderr_has("⚠ STOPPED").assert_stderr_has("ralph run");
    assert_eq!(outcomes(&sandbox), [(1, "refused".to_owned())], "it was checked and concluded");
    assert_eq!(status(&sandbox)["stop_reason"], "stopped");
    assert_eq!(status(&sandbox)["stop_asked"], false, "it has stopped");
    assert_eq!(agent.calls(&sandbox).len(), 1);
    assert_eq!(requests(&sandbox), [""; 0]);
    ralph(&sandbox).args(["run", "--max-iterations", "2"]).run().assert_code(3);
    assert_eq!(agent.calls(&sandbox).len(), 2, "it goes on where it was");
}

#[test]
fn a_stop_in_the_last_iteration_that_is_allowed_names_a_limit_with_which_it_goes_on() {
    let sandbox = repository();
    let agent = FakeAgent::new("agent")
        .call(Steps::new().reach("working").hold("go").status(&StatusBlock::in_progress()))
        .install(&sandbox);
    let running = run(&sandbox, &agent).args(["--max-iterations", "1"]).spawn();
    sandbox.wait_for("working");
    ralph(&sandbox).arg("stop").run().assert_code(0);
    running.wait_for_stderr("asked to stop after this iteration");
    sandbox.release("go");
    running.wait().assert_code(130).assert_stderr_has("to go on: ralph run --max-iterations 11");
}

#[test]
fn a_run_that_is_only_just_beginning_can_be_stopped() {
    let sandbox = repository();
    let agent = one_call(&sandbox, says_more());
    // It holds the lock and waits for a keeper of an earlier run; nobody listens to signals yet.
    sandbox.write(".git/ralph/custody", "");
    let custody = fs::File::open(sandbox.project().join(".git/ralph/custody")).expect("there");
    custody.lock_shared().expect("free");
    let running = run(&sandbox, &agent).spawn();
    while ralph(&sandbox).arg("stop").run().code != 0 {}
    drop(custody);
    running.wait().assert_code(130);
    assert_eq!((&status(&sandbox)["stop_reason"], agent.calls(&sandbox).len()), (&json!("stopped"), 0));
}

#[test]
fn stop_ends_a_wait_at_once() {
    let sandbox = repository();
    let agent = one_call(&sandbox, Steps::new().complain("no").exit(1));
    let running = run(&sandbox, &agent).args(["--set", "backoff=1h", "--set", "max_backoff=1h"]).spawn();
    running.wait_for_stderr("failure 1 in a row");
    ralph(&sandbox).arg("stop").run().assert_code(0);
    running.wait().assert_code(130);
    assert_eq!(status(&sandbox)["stop_reason"], "stopped");
}

#[test]
fn an_old_request_to_stop_never_ends_a_new_run() {
    let sandbox = repository();
    let agent = one_call(&sandbox, says_more());
    // Asked of a run that was killed before it could read it.
    sandbox.write(".git/ralph/requests/stop-1-1700000000000", "");
    run(&sandbox, &agent).args(["--max-iterations", "1"]).run().assert_code(3);
    assert_eq!(requests(&sandbox), [""; 0], "it is cleared away");
}

#[test]
fn a_signal_without_a_request_changes_nothing() {
    let (sandbox, _agent, running) = at_work();
    running.signal(Signal::USR1);
    ralph(&sandbox).args(["note", "still", "there?"]).run().assert_code(0);
    running.wait_for_stderr("note for the next prompt: still there?");
    running.signal(Signal::INT);
    running.wait().assert_code(130);
}

#[test]
fn a_note_reaches_the_next_prompt_once() {
    let sandbox = repository();
    let agent = FakeAgent::new("agent")
        .call(Steps::new().reach("working").hold("go").write("a", "").status(&StatusBlock::in_progress()))
        .call(Steps::new().write("b", "").status(&StatusBlock::in_progress()))
        .call(says_more())
        .install(&sandbox);
    let running = run(&sandbox, &agent).args(["--max-iterations", "3"]).spawn();
    sandbox.wait_for("working");
    let noted = ralph(&sandbox).args(["note", "use the staging server"]).run();
    noted.assert_code(0).assert_stderr_has("the next iteration will read it");
    running.wait_for_stderr("note for the next prompt");
    ralph(&sandbox).arg("status").run().assert_stdout_has("note:       use the staging server");
    assert_eq!(requests(&sandbox), [""; 0], "it is in the journal");
    sandbox.release("go");
    running.wait().assert_code(3);
    let prompts: Vec<bool> = agent
        .calls(&sandbox)
        .iter()
        .map(|call| call.prompt.contains("# Notes from the user\n\nuse the staging server\n"))
        .collect();
    assert_eq!(prompts, [false, true, false]);
    let earlier = |prompt: &str| prompt.contains("# What the user said earlier in this run");
    let prompts: Vec<bool> = agent.calls(&sandbox).iter().map(|call| earlier(&call.prompt)).collect();
    assert_eq!(prompts, [false, false, true], "whoever starts without a memory is told again");
    let status = ralph(&sandbox).arg("status").run();
    assert!(!status.stdout.contains("note:"), "{status}");
}

#[test]
fn the_status_tells_machines_what_nobody_has_read_and_why_a_run_waits() {
    let sandbox = repository();
    let agent = one_call(&sandbox, Steps::new().exit(3));
    let running = run(&sandbox, &agent).args(["--set", "backoff=1h"]).spawn();
    running.wait_for_stderr("failure 1 in a row");
    ralph(&sandbox).args(["note", "mind the gap"]).run().assert_code(0);
    running.wait_for_stderr("note for the next prompt");
    let shown = status(&sandbox);
    assert_eq!(
        (&shown["status"], &shown["notes"]),
        (&"waiting".into(), &serde_json::json!(["mind the gap"]))
    );
    assert_eq!(shown["waiting"]["why"], "agent: failure 1 in a row: exit 3", "{shown:#}");
    let people = ralph(&sandbox).arg("status").run();
    people.assert_stdout_has("doing:      waiting until ").assert_stdout_has("left): agent: failure 1");
    ralph(&sandbox).arg("stop").run().assert_code(0);
    running.wait().assert_code(130);
    assert_eq!(status(&sandbox)["waiting"], Value::Null);
}

#[test]
fn a_note_without_a_run_is_kept_and_answers_a_block() {
    let sandbox = repository();
    let agent = FakeAgent::new("agent")
        .call(Steps::new().status(&StatusBlock::blocked("Blocked: need the password")))
        .call(says_more())
        .install(&sandbox);
    run(&sandbox, &agent).run().assert_code(2).assert_stderr_has("ralph note");
    let asked = ralph(&sandbox).arg("status").run();
    asked.assert_stdout_has("to answer and go on: ralph note \"…\", then ralph run\n");
    for text in ["it is swordfish", "and keep it quiet"] {
        let noted = ralph(&sandbox).args(["note", text]).run();
        noted.assert_code(0).assert_stderr_has("kept for the next");
    }
    let shown = ralph(&sandbox).arg("status").run();
    shown.assert_stdout_has("note:       it is swordfish");
    shown.assert_stdout_has("next:       to go on with your note: ralph run\n");
    ralph(&sandbox).args(["run", "--max-iterations", "2"]).run().assert_code(3);
    let prompt = &agent.calls(&sandbox)[1].prompt;
    assert!(prompt.contains("it is swordfish\n\nand keep it quiet\n"), "{prompt}");
    assert_eq!(requests(&sandbox), [""; 0]);
}

#[test]
fn an_answer_is_told_to_the_review_too_and_ends_with_its_run() {
    let sandbox = repository();
    let answered = |steps: Steps| steps.status(&StatusBlock::done());
    let agent = FakeAgent::new("agent")
        .call(Steps::new().status(&StatusBlock::blocked("Blocked: MySQL or SQLite?")))
        .call(answered(Steps::new().write("green", "")))
        .call(answered(Steps::new()))
        .call(says_more())
        .install(&sandbox);
    run(&sandbox, &agent).args(["--test-cmd", TEST]).run().assert_code(2);
    ralph(&sandbox).args(["note", "take the first"]).run().assert_code(0);
    ralph(&sandbox).arg("run").run().assert_code(0).assert_stderr_has("✓ COMPLETE");
    let calls = agent.calls(&sandbox);
    assert!(calls[1].prompt.contains("# Notes from the user\n\ntake the first\n"), "{}", calls[1].prompt);
    let review = &calls[2].prompt;
    assert!(review.contains("# This iteration is a review"), "{review}");
    let told = "Asked: MySQL or SQLite?\nAnswered: take the first\n";
    assert!(review.contains(told) && !review.contains("# Notes from the user"), "{review}");
    let other = ralph(&sandbox).args(["run", "another goal", "--max-iterations", "1", "--agent-cmd"]);
    other.arg(agent.path()).run().assert_code(3);
    let prompt = &agent.calls(&sandbox)[3].prompt;
    assert!(!prompt.contains("take the first"), "{prompt}");
}

#[test]
fn a_note_before_the_first_run_leaves_only_itself_and_reaches_that_run() {
    let plain = Sandbox::new();
    let noted = ralph(&plain).args(["note", "use the staging key"]).run();
    noted.assert_code(0).assert_stderr_has("kept for the next: ralph run \"GOAL\"");
    assert_eq!(plain.read(".ralph/.gitignore").lines().last(), Some("*"));
    assert_eq!(names(&plain.project()), [".ralph"]);
    assert_eq!(names(&plain.project().join(".ralph")), [".gitignore", ".state"]);
    assert_eq!(names(&plain.project().join(".ralph/.state")), ["requests"]);
    plain.init_git();
    assert_eq!(plain.git(&["status", "--porcelain"]), "", "nothing of it would be committed");

    let sandbox = repository();
    ralph(&sandbox).args(["note", "use the staging key"]).run().assert_code(0);
    assert!(!sandbox.exists(".ralph"));
    let agent = one_call(&sandbox, says_done());
    run(&sandbox, &agent).args(["--reviews", "0"]).run().assert_code(0);
    assert!(agent.calls(&sandbox)[0].prompt.contains("use the staging key"));
    let noted = ralph(&sandbox).args(["note", "and now this"]).run();
    noted.assert_stderr_has("kept for the next: ralph run \"GOAL\"");
    sandbox.write("fix_plan.md", "- [ ] one\n");
    let noted = ralph(&sandbox).args(["note", "or that"]).run();
    noted.assert_stderr_has("kept for the next: ralph run\n");
}

#[test]
fn where_nothing_was_run_there_is_nothing_to_stop_and_nothing_is_left_behind() {
    for sandbox in [Sandbox::new(), repository()] {
        let before = names(&sandbox.project());
        let refused = ralph(&sandbox).arg("stop").run();
        refused
            .assert_code(1)
            .assert_stderr_has("no run is going on here")
            .assert_stderr_has("try: ralph status");
        assert_eq!(names(&sandbox.project()), before);
        assert!(!sandbox.exists(".git/ralph"));
    }
}

/// What is in a folder, by name.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder").flatten();
    let mut names: Vec<String> = entries.map(|entry| entry.file_name().display().to_string()).collect();
    names.sort();
    names
}

#[test]
fn a_note_waits_for_a_run_that_does_more_than_stop() {
    let (sandbox, agent) = open_circuit();
    ralph(&sandbox).args(["note", "look at the lock file"]).run().assert_code(0);
    ralph(&sandbox).arg("run").run().assert_code(5);
    ralph(&sandbox).args(["run", "--probe"]).run().assert_code(5);
    assert!(agent.calls(&sandbox)[3].prompt.contains("look at the lock file"));
}

#[test]
fn a_note_survives_a_kill_before_anybody_read_it() {
    let (sandbox, agent, running) = at_work();
    ralph(&sandbox).args(["note", "mind the gap"]).run().assert_code(0);
    running.wait_for_stderr("note for the next prompt");
    running.kill9();
    running.wait().assert_code(137);
    ralph(&sandbox).args(["run", "--max-iterations", "2"]).run().assert_code(3);
    assert!(agent.calls(&sandbox)[1].prompt.contains("mind the gap"));
}

#[test]
fn a_note_that_came_too_late_is_not_lost_silently() {
    let sandbox = repository();
    let agent = FakeAgent::new("agent")
        .call(says_done())
        .call(Steps::new().reach("reviewing").hold("go").status(&StatusBlock::done()))
        .install(&sandbox);
    let running = run(&sandbox, &agent).args(["--test-cmd", "true"]).spawn();
    sandbox.wait_for("reviewing");
    ralph(&sandbox).args(["note", "one more thing"]).run().assert_code(0);
    running.wait_for_stderr("note for the next prompt");
    sandbox.release("go");
    running
        .wait()
        .assert_code(0)
        .assert_stderr_has("your note reached no iteration that came to its end: one more thing");
}

#[test]
fn a_note_goes_with_its_run_and_that_is_said_when_another_begins() {
    let (sandbox, agent, running) = at_work();
    ralph(&sandbox).args(["note", "left behind"]).run().assert_code(0);
    running.wait_for_stderr("note for the next prompt");
    running.signal(Signal::INT);
    running.wait().assert_code(130);
    let other = ralph(&sandbox).args(["run", "another goal", "--max-iterations", "1", "--agent-cmd"]);
    other
        .arg(agent.path())
        .run()
        .assert_code(3)
        .assert_stderr_has("reached no iteration that came to its end: left behind");
    assert!(!agent.calls(&sandbox)[1].prompt.contains("left behind"));
}

#[test]
fn an_agent_that_failed_is_told_with_its_last_line_where_standard_error_has_none() {
    let sandbox = repository();
    let agent = one_call(&sandbox, Steps::new().say("Starting.\nno such model: x-1").exit(3));
    let finished = run(&sandbox, &agent).args(["--set", "backoff=1ms", "--set", "max_failures=2"]).run();
    finished
        .assert_code(4)
        .assert_stderr_has("✗ AGENT FAILED: 2 times in a row: exit 3")
        .assert_stderr_has("last line: no such model: x-1\n");
    let shown = ralph(&sandbox).arg("status").run();
    shown.assert_stdout_has("2 times in a row: exit 3; it printed last: no such model: x-1\n");
}

#[test]
fn an_empty_or_endless_note_is_wrong_usage() {
    let sandbox = repository();
    ralph(&sandbox).args(["note", "  "]).run().assert_code(64).assert_stderr_has("empty");
    ralph(&sandbox).arg("note").run().assert_code(64);
    ralph(&sandbox).args(["note", &"x".repeat(9000)]).run().assert_code(64).assert_stderr_has("prompt.md");
    assert!(!sandbox.exists(".git/ralph"));
}

#[test]
fn a_note_is_nobody_else_s_to_read() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = repository();
    ralph(&sandbox).args(["note", "the key is 42"]).run().assert_code(0);
    let name = requests(&sandbox).pop().expect("a request");
    assert!(name.starts_with("note-"), "{name}");
    let data = fs::metadata(sandbox.project().join(".git/ralph/requests").join(&name)).expect("there");
    assert_eq!(data.permissions().mode() & 0o777, 0o600);
}

#[test]
fn after_the_circuit_was_closed_by_hand_a_plain_run_is_all_that_is_suggested() {
    let (sandbox, agent) = open_circuit();
    let open = ralph(&sandbox).arg("status").run();
    open.assert_stdout_has("next:       to close it: ralph circuit reset");
    ralph(&sandbox).args(["circuit", "reset"]).run().assert_code(0);
    let closed = ralph(&sandbox).arg("status").run();
    closed.assert_stdout_has("closed since").assert_stdout_has("next:       to go on: ralph run\n");
    for gone in ["circuit reset", "--probe", "ralph explain"] {
        assert!(!closed.stdout.contains(gone), "{gone}: {closed}");
    }
    ralph(&sandbox).args(["run", "--max-iterations", "4"]).run().assert_code(3);
    assert_eq!(agent.calls(&sandbox).len(), 4);
}

#[test]
fn where_a_task_list_is_the_status_names_the_run_that_works_through_it() {
    let sandbox = repository();
    let begin = "nothing has been run here yet; start with: ralph run";
    let told = |args: &[&str]| ralph(&sandbox).args(args).run().stdout;
    sandbox.write(".ralph/ralph.yml", "tasks: []\n");
    for args in [&["status"][..], &["history"]] {
        assert_eq!(told(args), format!("{begin} \"GOAL\"\n"), "nothing is in it");
    }
    sandbox.write("IMPLEMENTATION_PLAN.md", "- [ ] one\n");
    for args in [&["status"][..], &["history"]] {
        let with = format!("{begin}, which works through the task list here, or ralph run \"GOAL\"\n");
        assert_eq!(told(args), with);
    }
}

#[test]
fn a_dry_run_shows_the_note_that_waits_for_the_next_run() {
    let sandbox = common::repository();
    let agent = common::one_call(&sandbox, common::says_more());
    common::run(&sandbox, &agent).args(["--max-iterations", "1"]).run().assert_code(3);
    common::ralph(&sandbox).args(["note", "use the color blue"]).run().assert_code(0);
    let dry = common::ralph(&sandbox).args(["run", "--dry-run"]).run();
    dry.assert_code(0).assert_stdout_has("# Notes from the user\n\nuse the color blue\n");
}
