//! The line that tells what goes on: on a terminal only, and never in the way.

mod common;

use common::{one_call, repository, run, says_done};
use ralph_testkit::{ClaudeResult, Sandbox, StatusBlock, Steps, Terminal};
use serde_json::json;

const SPINNER: [char; 10] = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

/// Uses a tool, waits to be released, and is done.
fn edits() -> Steps {
    Steps::new()
        .claude_init()
        .claude_tool("Edit", json!({"file_path": "src/auth.rs"}))
        .reach("editing")
        .hold("go")
        .claude_tool_ok("ok")
        .claude_result(ClaudeResult::success(StatusBlock::done().to_string()))
}

fn spinning(screen: &str) -> Vec<&str> {
    screen.lines().filter(|line| line.contains(SPINNER)).collect()
}

#[test]
fn it_tells_tool_time_and_tokens_counts_the_seconds_and_is_gone_at_the_end() {
    let sandbox = repository();
    let agent = one_call(&sandbox, edits());
    let mut terminal = Terminal::start(&run(&sandbox, &agent).args(["--reviews", "0"]).into_command());
    terminal.wait_for("Edit src/auth.rs · 0:01 · 150 tokens");
    let wheel = |screen: &str| spinning(screen)[0].trim_start_matches("  │  ").chars().next();
    let before = wheel(&terminal.screen());
    terminal.wait_for("Edit src/auth.rs · 0:03 · 150 tokens");
    let screen = terminal.screen();
    assert_eq!(spinning(&screen).len(), 1, "{screen}");
    assert_eq!(wheel(&screen), before, "nothing was heard since, so it stands\n{screen}");
    sandbox.release("go");
    assert_eq!(terminal.wait(), 0, "{}", terminal.all_output());
    assert_eq!(spinning(&terminal.all_output()), Vec::<&str>::new(), "{}", terminal.all_output());
}

#[test]
fn it_follows_the_window_and_never_wraps() {
    for columns in [120, 80, 64, 40] {
        let sandbox = repository();
        let deep = "src/one/two/three/four/five/six/seven/eight/nine/ten/eleven/twelve/auth.rs";
        let steps = Steps::new()
            .claude_init()
            .claude_tool("Edit", json!({"file_path": deep}))
            .hold("go")
            .claude_result(ClaudeResult::success(StatusBlock::done().to_string()));
        let agent = one_call(&sandbox, steps);
        let command = run(&sandbox, &agent).args(["--reviews", "0"]).into_command();
        let mut terminal = Terminal::builder(&command).size(columns, 24).start();
        terminal.wait_for("Edit src/one");
        terminal.resize(columns - 10, 24);
        let (now, later) = (terminal.screen(), |second: u32| format!("· 0:0{second}"));
        // A second that had not begun when the window changed.
        let next = (0..9).find(|second| now.contains(&later(*second))).map_or(1, |second| second + 1);
        terminal.wait_for(&later(next));
        let screen = terminal.screen();
        let lines = spinning(&screen);
        assert_eq!(lines.len(), 1, "{screen}");
        assert!(lines[0].chars().count() < usize::from(columns - 10), "{screen}");
        assert!(lines[0].contains("… · 0:0") || columns == 120, "what is cut is the name\n{screen}");
        sandbox.release("go");
        assert_eq!(terminal.wait(), 0, "{}", terminal.all_output());
    }
}

#[test]
fn a_plain_agent_is_shown_by_its_last_words() {
    let sandbox = repository();
    let agent =
        one_call(&sandbox, Steps::new().say("Looking at the parser").hold("go").status(&StatusBlock::done()));
    let mut terminal = Terminal::start(&run(&sandbox, &agent).args(["--reviews", "0"]).into_command());
    terminal.wait_for("Looking at the parser · 0:0");
    sandbox.release("go");
    assert_eq!(terminal.wait(), 0, "{}", terminal.all_output());
}

#[test]
fn a_check_is_shown_while_it_runs() {
    let sandbox = repository();
    let gate = sandbox.root().join("tmp/gate");
    assert!(sandbox.command("mkfifo").arg(&gate).status().expect("mkfifo").success());
    let agent = one_call(&sandbox, says_done());
    let check = format!("read x < {}", gate.display());
    let arguments = ["--reviews", "0", "--set", "baseline=off", "--test-cmd", &check];
    let mut terminal =
        Terminal::builder(&run(&sandbox, &agent).args(arguments).into_command()).size(120, 24).start();
    terminal.wait_for("⠋ checking: read x < ");
    terminal.wait_for("gate · 0:01");
    #[expect(clippy::disallowed_methods, reason = "the test's own pipe")]
    std::fs::write(&gate, "go\n").expect("the check reads");
    assert_eq!(terminal.wait(), 0, "{}", terminal.all_output());
    assert!(!terminal.all_output().contains("checking:"), "{}", terminal.all_output());
}

/// Runs into a limit that ends soon, then is done.
fn limited(sandbox: &Sandbox) -> ralph_testkit::InstalledAgent {
    ralph_testkit::FakeAgent::new("agent")
        .call(Steps::new().complain("API Error: 429 rate limited, retry after 1 seconds").exit(1))
        .call(says_done())
        .install(sandbox)
}

#[test]
fn a_wait_is_counted_down_with_its_end_and_its_reason() {
    let sandbox = repository();
    let agent = limited(&sandbox);
    let mut terminal = Terminal::builder(&run(&sandbox, &agent).args(["--reviews", "0"]).into_command())
        .size(120, 24)
        .start();
    terminal.wait_for("(0:02 left): agent: API Error: 429");
    terminal.wait_for("(0:01 left): agent: API Error: 429");
    assert_eq!(terminal.wait(), 0, "{}", terminal.all_output());
    let shown = terminal.all_output();
    assert!(!shown.contains("left)"), "{shown}");
    assert!(shown.contains("⚠ waiting until "), "{shown}");
}

#[test]
fn nothing_of_it_goes_into_a_pipe_and_a_wait_is_one_line() {
    let sandbox = repository();
    let agent = limited(&sandbox);
    let finished = run(&sandbox, &agent).args(["--reviews", "0"]).env("TERM", "xterm-256color").run();
    finished.assert_code(0);
    assert!(!finished.stderr.contains(['\r', '\u{1b}']), "{finished}");
    assert!(!finished.stderr.contains(SPINNER), "{finished}");
    let waits: Vec<&str> = finished.stderr.lines().filter(|line| line.contains("waiting")).collect();
    assert_eq!(waits.len(), 1, "{finished}");
    assert!(
        waits[0].starts_with("[ralph] waiting until ") && waits[0].contains(": agent: API Error"),
        "{finished}"
    );
}

#[test]
fn a_note_from_beside_stands_in_the_box() {
    let sandbox = repository();
    let agent = one_call(&sandbox, Steps::new().reach("here").hold("go").status(&StatusBlock::done()));
    let mut terminal = Terminal::start(&run(&sandbox, &agent).args(["--reviews", "0"]).into_command());
    sandbox.wait_for("here");
    common::ralph(&sandbox).args(["note", "mind the gap"]).run().assert_code(0);
    terminal.wait_for("│  You:          note for the next prompt: mind the gap");
    sandbox.release("go");
    assert_eq!(terminal.wait(), 0, "{}", terminal.all_output());
}

#[test]
fn ctrl_c_on_a_line_that_fills_the_window_leaves_nothing_of_itself_behind() {
    let sandbox = repository();
    let agent = one_call(&sandbox, Steps::new().exit(3));
    let command = run(&sandbox, &agent).args(["--set", "backoff=1h"]).into_command();
    let mut terminal = Terminal::builder(&command).size(70, 40).start();
    terminal.wait_for("left): agent: ");
    terminal.type_text("\u{3}");
    assert_eq!(terminal.wait(), 130, "{}", terminal.all_output());
    let screen = terminal.screen();
    assert!(!screen.contains('^') && !screen.contains("left): agent"), "{screen}");
}
