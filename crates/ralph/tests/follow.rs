//! `ralph status --follow`: a run of another process, as it goes on.

mod common;

use common::{GOAL, TEST, one_call, ralph, repository, run, says_done, says_more};
use ralph_testkit::{
    ClaudeResult, FakeAgent, Running, Sandbox, Schema, Signal, StatusBlock, Steps, Terminal,
};
use serde_json::json;

#[test]
fn another_terminal_shows_what_the_run_does_until_it_ends() {
    let sandbox = repository();
    let steps = Steps::new()
        .claude_init()
        .claude_tool("Edit", json!({"file_path": "src/auth.rs"}))
        .reach("first")
        .hold("go")
        .claude_tool("Bash", json!({"command": "make all"}))
        .reach("second")
        .hold("on")
        .write("green", "")
        .claude_result(ClaudeResult::success(StatusBlock::done().to_string()));
    let agent = FakeAgent::new("agent").call(steps).call(says_done()).install(&sandbox);
    let running = run(&sandbox, &agent).args(["--test-cmd", TEST]).spawn();
    sandbox.wait_for("first");
    let mut terminal = Terminal::start(&ralph(&sandbox).args(["status", "--follow"]).into_command());
    terminal.wait_for("status:     working");
    terminal.wait_for("│  Iteration:    1/50");
    terminal.wait_for("Edit src/auth.rs · 0:0");
    sandbox.release("go");
    sandbox.wait_for("second");
    terminal.wait_for("Bash make all · 0:0");
    sandbox.release("on");
    running.wait().assert_code(0);
    assert_eq!(terminal.wait(), 0, "{}", terminal.all_output());
    let shown = terminal.all_output();
    for words in [
        "│  Result:       DONE",
        "│  Iteration:    2/50 [REVIEW]",
        "✓ COMPLETE",
        "│  Files:        1 file changed: green (new)",
        "why it counts: ralph history",
    ] {
        assert!(shown.contains(words), "{words}\n{shown}");
    }
}

#[test]
fn as_json_it_is_a_status_a_line_and_the_last_one_says_how_it_ended() {
    let sandbox = repository();
    let agent = one_call(&sandbox, Steps::new().reach("here").hold("go").status(&StatusBlock::done()));
    let running = run(&sandbox, &agent).args(["--reviews", "0"]).spawn();
    sandbox.wait_for("here");
    let following = ralph(&sandbox).args(["status", "--follow", "--json"]).spawn();
    following.wait_for_stdout("\"working\"");
    sandbox.release("go");
    running.wait().assert_code(0);
    let finished = following.wait();
    finished.assert_code(0);
    let documents = finished.json_lines();
    documents.iter().for_each(|document| Schema::published("ralph.status/1").assert(document));
    let (first, last) = (&documents[0], documents.last().expect("one"));
    assert_eq!((&first["running"], &first["status"]), (&json!(true), &json!("working")));
    assert_eq!((&last["running"], &last["stop_reason"]), (&json!(false), &json!("complete")));
    assert!(documents.len() > 2, "{finished}");
}

#[test]
fn a_run_that_is_killed_ends_it_and_a_script_is_then_told_how_it_ended() {
    let sandbox = repository();
    let agent = one_call(&sandbox, Steps::new().reach("here").hang());
    let running = run(&sandbox, &agent).spawn();
    sandbox.wait_for("here");
    let following = ralph(&sandbox).args(["status", "--follow"]).spawn();
    following.wait_for_stdout("status:     working");
    running.kill9();
    let finished = following.wait();
    finished.assert_code(0).assert_stdout_has("cut off; to go on: ralph run");
    running.wait();
    sandbox.assert_no_processes();
    let still = ralph(&sandbox).args(["status", "--follow"]).run();
    still.assert_code(0).assert_stdout_has("cut off; to go on: ralph run");
}

fn waits(process: &Running) {
    process.wait_for_stderr("waiting for a run to begin here; Ctrl-C ends this");
}

#[test]
fn where_nothing_was_run_yet_it_waits_for_the_first_run_and_shows_it() {
    for sandbox in [repository(), Sandbox::new()] {
        let following = ralph(&sandbox).args(["status", "--follow"]).spawn();
        waits(&following);
        let agent = one_call(&sandbox, Steps::new().reach("here").hold("go").status(&StatusBlock::done()));
        let running = run(&sandbox, &agent).args(["--reviews", "0"]).spawn();
        sandbox.wait_for("here");
        following.wait_for_stdout("status:     ");
        sandbox.release("go");
        running.wait().assert_code(0);
        let finished = following.wait();
        finished.assert_code(0).assert_stdout_has("nothing has been run here yet");
        finished.assert_stdout_has(&format!("goal:       {GOAL}")).assert_stdout_has("COMPLETE");
    }
}

#[test]
fn a_run_that_is_over_before_anybody_looks_is_told_all_the_same() {
    let sandbox = repository();
    let following = ralph(&sandbox).args(["status", "--follow", "--json"]).spawn();
    waits(&following);
    following.signal(Signal::STOP);
    run(&sandbox, &one_call(&sandbox, says_done())).args(["--reviews", "0"]).run().assert_code(0);
    following.signal(Signal::CONT);
    let finished = following.wait();
    finished.assert_code(0);
    let told: Vec<_> = finished.json_lines().iter().map(|line| line["status"].clone()).collect();
    assert_eq!(told, [json!("idle"), json!("complete")]);
}

#[test]
fn on_a_terminal_it_tells_how_the_last_run_ended_and_shows_the_next() {
    let sandbox = repository();
    let second = Steps::new().reach("here").hold("go").status(&StatusBlock::done());
    let agent = FakeAgent::new("agent").call(says_done()).call(second).install(&sandbox);
    run(&sandbox, &agent).args(["--reviews", "0"]).run().assert_code(0);
    let mut terminal = Terminal::start(&ralph(&sandbox).args(["status", "--follow"]).into_command());
    terminal.wait_for("waiting for a run to begin here; Ctrl-C ends this");
    assert!(terminal.all_output().contains("status:     complete"), "{}", terminal.all_output());
    ralph(&sandbox).args(["undo", "1"]).run().assert_code(0);
    let next = ralph(&sandbox).args(["run", "the next goal", "--yes", "--reviews", "0", "--agent-cmd"]);
    let running = next.arg(agent.path()).spawn();
    sandbox.wait_for("here");
    terminal.wait_for("goal:       the next goal");
    sandbox.release("go");
    running.wait().assert_code(0);
    assert_eq!(terminal.wait(), 0, "{}", terminal.all_output());
    assert!(terminal.all_output().contains("COMPLETE, ONLY CLAIMED"), "{}", terminal.all_output());
}

#[test]
fn a_run_that_stopped_is_shown_when_it_goes_on() {
    let sandbox = repository();
    let agent = FakeAgent::new("agent").call(says_more()).call(says_done()).install(&sandbox);
    run(&sandbox, &agent).args(["--reviews", "0", "--max-iterations", "1"]).run().assert_code(3);
    let mut terminal = Terminal::start(&ralph(&sandbox).args(["status", "--follow"]).into_command());
    terminal.wait_for("waiting for a run to begin here");
    ralph(&sandbox).args(["run", "--max-iterations", "2"]).run().assert_code(0);
    assert_eq!(terminal.wait(), 0, "{}", terminal.all_output());
    assert!(terminal.all_output().to_lowercase().contains("complete"), "{}", terminal.all_output());
}

#[test]
fn a_run_that_is_only_closed_ends_no_wait() {
    let sandbox = repository();
    let agent = FakeAgent::new("agent").call(says_more()).call(says_done()).install(&sandbox);
    run(&sandbox, &agent).args(["--reviews", "0", "--max-iterations", "1"]).run().assert_code(3);
    let mut terminal = Terminal::start(&ralph(&sandbox).args(["status", "--follow"]).into_command());
    terminal.wait_for("waiting for a run to begin here");
    ralph(&sandbox).arg("reset").run().assert_code(0);
    let next = ralph(&sandbox).args(["run", "the next goal", "--yes", "--reviews", "0", "--agent-cmd"]);
    next.arg(agent.path()).run().assert_code(0);
    assert_eq!(terminal.wait(), 0, "{}", terminal.all_output());
    let shown = terminal.all_output();
    assert!(
        shown.contains("goal:       the next goal") && shown.to_lowercase().contains("complete"),
        "{shown}"
    );
}

#[test]
fn ctrl_c_ends_the_wait_and_so_does_a_reader_that_leaves() {
    let sandbox = repository();
    let mut terminal = Terminal::start(&ralph(&sandbox).args(["status", "--follow"]).into_command());
    terminal.wait_for("waiting for a run to begin here");
    terminal.type_text("\u{3}");
    assert_eq!(terminal.wait(), 130);
    let line = "exec \"$0\" status --follow --json | head -n 1";
    let mut piped = sandbox.command("sh");
    let piped = piped.args(["-c", line, env!("CARGO_BIN_EXE_ralph")]).output().expect("start sh");
    assert!(piped.status.success(), "{piped:?}");
    sandbox.assert_no_processes();
}

#[test]
fn a_session_that_is_waited_for_is_told_and_not_waited_for_twice() {
    let sandbox = repository();
    ralph(&sandbox).args(["hook", "arm", GOAL]).run().assert_code(0);
    let mut terminal = Terminal::start(&ralph(&sandbox).args(["status", "--follow"]).into_command());
    assert_eq!(terminal.wait(), 0);
    let shown = terminal.all_output();
    assert!(shown.contains("is to be held") && !shown.contains("waiting for a run"), "{shown}");
}

#[test]
fn a_journal_that_is_put_back_under_it_is_followed_on() {
    for removed in [".git/ralph/runs/0001/journal.jsonl", ".git/ralph/runs", ".git/ralph"] {
        let sandbox = repository();
        let first = Steps::new().reach("here").hold("go").shell(&format!("rm -rf {removed}"));
        let agent = FakeAgent::new("agent")
            .call(first.status(&StatusBlock::in_progress()))
            .call(says_done())
            .install(&sandbox);
        let running = run(&sandbox, &agent).args(["--reviews", "0"]).spawn();
        sandbox.wait_for("here");
        let following = ralph(&sandbox).args(["status", "--follow", "--json"]).spawn();
        following.wait_for_stdout("\"working\"");
        sandbox.release("go");
        running.wait().assert_code(0);
        let finished = following.wait();
        finished.assert_code(0);
        let documents = finished.json_lines();
        assert_eq!(documents.last().expect("one")["stop_reason"], "complete", "{removed}: {finished}");
    }
}
