//! What a person sees, in a real pseudo-terminal of 80 columns.

mod common;

use common::{TEST, one_call, ralph, repository, run, says_done};
use ralph_testkit::{FakeAgent, Sandbox, StatusBlock, Steps, Terminal};

#[test]
fn the_boxes_are_intact_at_80_columns() {
    let sandbox = repository();
    let mut long = StatusBlock::done();
    long.recommendation =
        "All tasks complete, 日本語 and a very long explanation of everything that was done".into();
    let agent = FakeAgent::new("agent")
        .call(says_done())
        .call(Steps::new().write("green", "").status(&long))
        .call(says_done())
        .install(&sandbox);
    let mut terminal = Terminal::start(&run(&sandbox, &agent).args(["--test-cmd", TEST]).into_command());
    assert_eq!(terminal.wait(), 0, "{}", terminal.all_output());
    let screen = terminal.all_output();
    for words in [
        "╭── Agent working... ",
        "│  Iteration:    1/50 ",
        "├── Iteration complete ",
        "│  Result:       DONE ",
        "│  Files:        no changes ",
        "│  Files:        1 file changed ",
        "✗ claimed done, refused: ",
        "(is_green)",
        "╭── Agent reviewing... ",
        "│  Iteration:    3/50 [REVIEW] ",
        "│  Verification: 1/1 [●] ",
        "│  ✓ COMPLETE ",
        "│  Proof:        checks: ",
    ] {
        assert!(screen.contains(words), "{words}\n{screen}");
    }
    for line in screen.lines().filter(|line| line.trim_start().starts_with(['╭', '│', '├', '╰'])) {
        assert!(line.starts_with("  "), "{line}");
        assert!(line.trim_end().ends_with(['╮', '│', '┤', '╯']), "an open edge: {line}\n{screen}");
        let wide = line.trim_end().chars().filter(|c| ('\u{3000}'..='\u{9fff}').contains(c)).count();
        assert_eq!(line.trim_end().chars().count() + wide, 59, "{line}\n{screen}");
    }
}

#[test]
fn going_on_and_being_blocked_look_like_the_seed_s_boxes() {
    let sandbox = repository();
    let files = ["a", "b", "c", "d"].iter().fold(Steps::new(), |steps, name| steps.write(name, "x\n"));
    let agent = FakeAgent::new("agent")
        .call(files.status(&StatusBlock::in_progress()))
        .call(Steps::new().status(&StatusBlock::blocked("Blocked: no key")))
        .install(&sandbox);
    let mut terminal =
        Terminal::start(&run(&sandbox, &agent).args(["--max-iterations", "20"]).into_command());
    assert_eq!(terminal.wait(), 2, "{}", terminal.all_output());
    let screen = terminal.all_output();
    for words in [
        "│  Iteration:    1/20 ",
        "├── Iteration complete ─────────────────────────────────┤",
        "│  Result:       CONTINUE                               │",
        "│  Files:        4 files changed                        │",
        "│  Files:        no changes                             │",
        "│  ✗ BLOCKED                                            │",
        "│  Human input needed                                   │",
    ] {
        assert!(screen.contains(words), "{words}\n{screen}");
    }
}

#[test]
fn rotating_and_being_stuck_look_like_the_seed_s_boxes() {
    let sandbox = repository();
    let script = r#"#!/bin/sh
if test -e a; then word=STUCK; else word=ROTATE; touch a b; fi
echo $word > .ralph/status
echo '{"type":"thread.started","thread_id":"s"}'
echo '{"type":"item.completed","item":{"id":"1","type":"agent_message","text":"Signalled."}}'
echo '{"type":"turn.completed","usage":{"input_tokens":1,"output_tokens":1}}'
"#;
    sandbox.install_script("codex", script);
    let command = ralph(&sandbox)
        .args(["run", "goal", "--yes", "--permissions", "inherit", "--profile", "rotations"])
        .into_command();
    let mut terminal = Terminal::start(&command);
    assert_eq!(terminal.wait(), 2, "{}", terminal.all_output());
    let screen = terminal.all_output();
    let edges = |middle: &str| format!("  {middle}");
    let boxes = [
        "╭── Codex working... ───────────────────────────────────╮",
        "│  Iteration:    1/20                                   │",
        "├── Rotation complete ──────────────────────────────────┤",
        "│  Result:       ROTATE                                 │",
        "│  Files:        2 files changed                        │",
        "│  Iteration:    2/20                                   │",
        "│  Result:       STUCK                                  │",
        "│  Files:        no changes                             │",
        "│  ✗ BLOCKED                                            │",
        "│  Human input needed                                   │",
    ];
    let mut rest = screen.as_str();
    for line in boxes.map(edges) {
        let at = rest.find(&line).unwrap_or_else(|| panic!("{line} is not there, or too early\n{screen}"));
        rest = &rest[at + line.len()..];
    }
    assert!(!screen.contains("no report"), "the signal is one\n{screen}");
}

#[test]
fn no_color_means_no_colour_codes() {
    let sandbox = repository();
    let agent = one_call(&sandbox, says_done());
    let command = run(&sandbox, &agent).args(["--test-cmd", "true"]).env("NO_COLOR", "1").into_command();
    let mut terminal = Terminal::start(&command);
    assert_eq!(terminal.wait(), 0);
    let raw = String::from_utf8_lossy(&terminal.raw()).into_owned();
    for code in ["\u{1b}[32m", "\u{1b}[31m", "\u{1b}[2m"] {
        assert!(!raw.contains(code), "{raw:?}");
    }
    assert!(raw.contains("⚠ COMPLETE"));
}

#[test]
fn a_narrow_or_dumb_terminal_gets_plain_lines() {
    let sandbox = repository();
    let agent = one_call(&sandbox, says_done());
    let command = || run(&sandbox, &agent).args(["--fresh", "--test-cmd", "true"]).into_command();
    for (columns, term) in [(40, "xterm-256color"), (80, "dumb")] {
        let mut terminal = Terminal::builder(&command()).size(columns, 24).term(term).start();
        assert_eq!(terminal.wait(), 0, "{}", terminal.all_output());
        assert!(terminal.all_output().contains("[ralph] ⚠ COMPLETE"), "{}", terminal.all_output());
        assert!(!terminal.all_output().contains('╭'));
    }
}

#[test]
fn ctrl_c_while_a_check_runs_tells_what_was_done_and_a_check_before_the_run_that_was_ended_is_not_red() {
    let sandbox = repository();
    let agent = one_call(&sandbox, Steps::new().write("a.txt", "1").status(&StatusBlock::done()));
    let there = sandbox.point("check");
    let check = |when: &str| format!("if {when}; then echo > {}; sleep 1000; fi", there.display());
    let interrupted = |check: &str| {
        let command = run(&sandbox, &agent).args(["--fresh", "--test-cmd", check]).into_command();
        let mut terminal = Terminal::start(&command);
        sandbox.wait_for("check");
        terminal.type_text("\u{3}");
        assert_eq!(terminal.wait(), 130, "{}", terminal.all_output());
        terminal.all_output()
    };
    let shown = interrupted(&check("test -e a.txt"));
    assert!(shown.contains("UNFINISHED") && shown.contains("Iteration interrupted"), "{shown}");
    assert!(shown.contains("Files:        1 file changed: a.txt (new)"), "{shown}");
    let status = ralph(&sandbox).arg("status").run();
    assert!(status.stdout.contains("#1 UNFINISHED, 1 file changed"), "{status}");
    let shown = interrupted(&check("true"));
    assert!(shown.contains("was ended by you, so nobody knows how it stands"), "{shown}");
    assert!(!shown.contains("before the run: ✗"), "{shown}");
}

#[test]
fn ctrl_c_at_the_terminal_stops_the_run() {
    let sandbox = repository();
    // It waits for a command of its own, which is there still when the agent itself is gone.
    let waits =
        Steps::new().shell("( trap '' TERM INT").reach("agent").shell("sleep 1000; true )").say("Slept.");
    let agent = one_call(&sandbox, waits);
    let mut terminal = Terminal::start(&run(&sandbox, &agent).into_command());
    sandbox.wait_for("agent");
    terminal.type_text("\u{3}");
    assert_eq!(terminal.wait(), 130, "{}", terminal.all_output());
    let shown = terminal.all_output();
    assert!(shown.contains("⚠ INTERRUPTED") && shown.contains("Iteration interrupted"), "{shown}");
    assert!(!shown.contains("Iteration complete"), "{shown}");
    assert!(!shown.contains("background process"), "what it waited for was in the foreground\n{shown}");
    sandbox.assert_no_processes();
}

#[test]
fn permissions_are_asked_for_on_a_terminal() {
    let sandbox = repository();
    sandbox.install_script("claude", "#!/bin/sh\nprintf '%s ' \"$@\" > args.txt\n");
    let command = ralph(&sandbox).args(["run", "goal", "--yes", "--max-iterations", "1"]).into_command();
    let mut terminal = Terminal::start(&command);
    terminal.wait_for("What may claude do");
    terminal.type_text("edits\r");
    assert_eq!(terminal.wait(), 3, "{}", terminal.all_output());
    assert!(sandbox.read("args.txt").contains("--permission-mode acceptEdits"));

    let mut terminal = Terminal::start(&ralph(&sandbox).args(["run", "other goal"]).into_command());
    terminal.wait_for("What may claude do");
    terminal.type_text("whatever\r");
    terminal.wait_for("one of full, edits, inherit?");
    terminal.type_text("nothing\rreally\r");
    assert_eq!(terminal.wait(), 64, "{}", terminal.all_output());
}

#[test]
fn whoever_is_expected_to_type_is_told_so() {
    let sandbox = Sandbox::new();
    for args in [&["analyze"][..], &["report", "check"]] {
        let mut terminal = Terminal::start(&ralph(&sandbox).args(args).into_command());
        terminal.wait_for("reading standard input");
        terminal.type_text("hello\n\u{4}");
        terminal.wait();
        assert!(terminal.all_output().contains("status"), "{}", terminal.all_output());
    }
}

#[test]
fn no_word_is_cut_by_the_edge_of_the_window_and_commands_stay_one_line() {
    let sandbox = repository();
    let mut terminal =
        Terminal::builder(&ralph(&sandbox).args(["doctor"]).into_command()).size(80, 200).start();
    terminal.wait();
    let (screen, whole) = (terminal.screen(), terminal.all_output());
    let at = screen.find("try: npm install").unwrap_or_else(|| panic!("{screen}"));
    let mut rows = screen[at..].lines();
    let first = rows.next().unwrap_or_default();
    let second = rows.next().unwrap_or_default();
    assert!(whole.contains(first), "{whole}");
    assert_eq!(second.find(|c| c != ' '), Some(28), "below what it continues\n{screen}");
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    // A row is cut between words if all rows have the words that the line has.
    assert_eq!(words(&screen), words(&whole));
    assert!(
        whole.lines().any(|line| line.contains("try: npm install") && line.contains("agents.mine.command")),
        "{whole}"
    );
}

#[test]
fn rows_of_a_table_go_on_below_their_last_column() {
    let sandbox = repository();
    sandbox.write(".ralph/ralph.yml", "tasks:\n  - id: a-task\n    title: a title of very many words that does not fit into a window of eighty columns\n");
    let shown = |args: &[&str]| {
        let mut terminal =
            Terminal::builder(&ralph(&sandbox).args(args).into_command()).size(80, 200).start();
        assert_eq!(terminal.wait(), 0, "{}", terminal.all_output());
        terminal.screen()
    };
    let indent = |line: &str| line.find(|c| c != ' ').unwrap_or(0);
    let screen = shown(&["profile", "show", "strict"]);
    for line in screen.lines().skip(1).filter(|line| indent(line) > 2) {
        assert_eq!(indent(line), 42, "{screen}");
    }
    let screen = shown(&["backlog", "list"]);
    assert_eq!(screen.lines().map(indent).collect::<Vec<_>>(), [0, 21], "{screen}");
    let screen = shown(&["backlog", "status"]);
    assert_eq!(screen.lines().map(indent).max(), Some(13), "{screen}");
}
