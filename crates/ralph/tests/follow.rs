//! `ralph status --follow`: a run of another process, as it goes on.

mod common;

use common::{TEST, one_call, ralph, repository, run, says_done};
use ralph_testkit::{ClaudeResult, FakeAgent, Schema, StatusBlock, Steps, Terminal};
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
    for words in ["│  Result:       DONE", "│  Iteration:    2/50 [REVIEW]", "✓ COMPLETE"] {
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
fn a_run_that_is_killed_ends_it_and_without_a_run_it_is_a_status() {
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
