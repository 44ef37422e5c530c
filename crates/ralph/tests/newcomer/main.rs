//! What somebody sees who follows the README, command by command, on a terminal of 80 columns: `screens.txt` beside this
//! file. `RALPH_BLESS=1 cargo test -p ralph --test newcomer` writes it anew. `cargo xtask newcomer` has it tried with a ralph
//! that was installed from a clone.

#[path = "../common/mod.rs"]
mod common;

use common::{repository, snapshot};
use ralph_testkit::{ClaudeResult, FakeAgent, Sandbox, StatusBlock, Steps, Terminal};
use serde_json::json;

const COLUMNS: usize = 80;

/// Puts ralph on the search path: the one that was built with this test, or one that was installed.
fn install(sandbox: &Sandbox) {
    let built = env!("CARGO_BIN_EXE_ralph").into();
    let program = std::env::var_os("RALPH_NEWCOMER_PROGRAM").unwrap_or(built);
    let copied = sandbox.command("cp").arg(program).arg(sandbox.bin().join("ralph")).status();
    assert!(copied.expect("start cp").success());
}

/// A terminal on which commands are typed one after the other.
struct Session<'a> {
    sandbox: &'a Sandbox,
    screens: String,
}

impl Session<'_> {
    /// Starts a command, as it would be typed.
    fn start(&mut self, line: &str, args: &[&str]) -> Terminal {
        self.screens.push_str(&format!("$ {line}\n"));
        let ralph = self.sandbox.bin().join("ralph");
        Terminal::start(&self.sandbox.ralph(&ralph).args(args).into_command())
    }

    /// Waits for its end and notes what was to be seen.
    #[track_caller]
    fn ended(&mut self, mut terminal: Terminal, code: i32) {
        assert_eq!(terminal.wait(), code, "{}", terminal.all_output());
        let shown = terminal.all_output();
        for line in shown.lines() {
            assert!(line.chars().count() <= COLUMNS, "too wide: {line}\n{shown}");
        }
        self.screens.push_str(&stable(&shown, self.sandbox));
        self.screens.push_str(&format!("\n(exit {code})\n\n"));
    }

    #[track_caller]
    fn whole(&mut self, line: &str, args: &[&str], code: i32) {
        let terminal = self.start(line, args);
        self.ended(terminal, code);
    }
}

/// Without what is another each time: places, times, processes, hashes.
fn stable(shown: &str, sandbox: &Sandbox) -> String {
    let shown = shown.replace(&sandbox.root().display().to_string(), "ROOT");
    // How long its folder is called decides where these lines are broken.
    let mut demo = shown.replace("\n  ROOT/tmp/ralph-demo-", " ROOT/tmp/ralph-demo-");
    while let Some((before, at)) = demo.split_once("ralph-demo-") {
        demo = format!("{before}DEMO{}", at.trim_start_matches(|c: char| c.is_ascii_hexdigit()));
    }
    let shown = demo;
    // Lines of the history that were too wide are whole again: a number more, and they break elsewhere.
    let shown = shown.replace(&format!("\n{}", " ".repeat(29)), " ");
    let mut lines: Vec<String> = vec![];
    let mut used = false;
    for line in shown.lines() {
        // How long it took decides where the row is broken.
        used = line.contains("│  Used: ") || (used && line.starts_with("  │     "));
        if used && !line.contains("│  Used: ") {
            continue;
        }
        let words: Vec<String> = line.split(' ').map(word).collect();
        lines.push(match line {
            _ if used => "  │  Used:         (time, tokens and money)".into(),
            _ if line.contains("(pid ") => "status:     working (pid N, since MOMENT)".into(),
            _ => words.join(" ").trim_end().to_owned(),
        });
    }
    lines.join("\n")
}

fn word(word: &str) -> String {
    const AROUND: [char; 5] = ['(', ')', ',', ';', ':'];
    let core = word.trim_matches(AROUND);
    let is_hash = core.len() >= 7 && core.chars().all(|c| matches!(c, '0'..='9' | 'a'..='f'));
    let is_moment = core.len() >= 20 && core.ends_with('Z') && core.contains('T');
    let unit = core.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let is_span = core.len() > unit.len() && matches!(unit, "ms" | "s");
    let called = match () {
        () if is_hash => "HASH",
        () if is_moment => "MOMENT",
        () if is_span => "SPAN",
        () => return word.to_owned(),
    };
    word.replace(core, called)
}

fn works(steps: Steps, report: &StatusBlock) -> Steps {
    steps.claude_tool_ok("ok").claude_result(ClaudeResult::success(format!("I did it.\n\n{report}")))
}

#[test]
fn a_newcomer_gets_from_the_demo_to_undo() {
    let sandbox = repository();
    sandbox.write("Makefile", "test:\n\tsh test.sh\n");
    sandbox.install_script(
        "make",
        "#!/bin/sh\nif test -e greeting.txt; then echo ok; else echo 'greeting.txt is missing'; exit 2; fi\n",
    );
    sandbox.commit_all("a Makefile");
    let begins = || Steps::new().claude_init().claude_tool("Write", json!({"file_path": "greeting.txt"}));
    let done = StatusBlock { tasks: 1, files: 1, ..StatusBlock::done() };
    FakeAgent::new("claude")
        .call(begins().reach("working").hang())
        .call(works(begins(), &done))
        .call(works(begins().write("greeting.txt", "hello\n"), &done))
        .call(works(begins(), &done))
        .install(&sandbox);
    install(&sandbox);
    let mut session = Session { sandbox: &sandbox, screens: String::new() };
    session.whole("ralph demo", &["demo"], 0);
    session.whole("ralph init", &["init"], 0);
    session.whole("ralph backlog add \"Greet the world\"", &["backlog", "add", "Greet the world"], 0);
    let mut run = session.start("ralph run", &["run"]);
    run.wait_for("[full/edits/inherit/N]");
    run.type_text("edits\r");
    sandbox.wait_for("working");
    let mut other = Session { sandbox: &sandbox, screens: String::new() };
    other.whole("ralph status (on another terminal, while it works)", &["status"], 0);
    run.type_text("\u{3}");
    session.ended(run, 130);
    session.screens.push_str(&other.screens);
    session.whole("ralph status", &["status"], 0);
    session.whole("ralph run", &["run"], 0);
    session.whole("ralph status", &["status"], 0);
    session.whole("ralph history", &["history"], 0);
    session.whole("ralph history 2", &["history", "2"], 0);
    session.whole("ralph undo 3", &["undo", "3"], 0);
    assert!(!sandbox.exists("greeting.txt"));
    snapshot::holds("crates/ralph/tests/newcomer/screens.txt", &session.screens);
}
