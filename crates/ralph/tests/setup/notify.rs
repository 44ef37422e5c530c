//! A user who does not watch is told, and nothing about it disturbs the run.

use ralph_testkit::{Sandbox, StatusBlock, Steps, Terminal};

use crate::common::{GOAL, one_call, ralph, repository, run, says_done, says_more};

const PROJECT: &str = ".ralph/config.toml";
const USER: &str = "../home/.config/ralph/config.toml";
const LOG: &str = "command = 'echo \"$RALPH_NOTIFY_EVENT/$RALPH_NOTIFY_RUN/$RALPH_NOTIFY_GOAL/$RALPH_NOTIFY_TITLE\" >> ../told'\n";

fn told(sandbox: &Sandbox) -> Vec<String> {
    if sandbox.exists("../told") {
        sandbox.read("../told").lines().map(str::to_owned).collect()
    } else {
        vec![]
    }
}

fn notifying() -> Sandbox {
    let sandbox = repository();
    sandbox.write(USER, format!("[notify]\n{LOG}"));
    sandbox
}

#[test]
fn a_run_that_completes_tells_so() {
    let sandbox = notifying();
    let agent = one_call(&sandbox, says_done());
    run(&sandbox, &agent).args(["--reviews", "0"]).run().assert_code(0);
    let told = told(&sandbox);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].starts_with(&format!("complete/1/{GOAL}/project: Run 1: complete, ")), "{told:?}");
}

#[test]
fn a_command_has_the_summary_of_the_run_as_its_text() {
    let sandbox = repository();
    sandbox.write(USER, "[notify]\ncommand = 'printf %s \"$RALPH_NOTIFY_TEXT\" > ../text'\n");
    let agent = one_call(&sandbox, says_done());
    run(&sandbox, &agent).args(["--reviews", "0"]).run().assert_code(0);
    let text = sandbox.read("../text");
    assert_eq!(text, ralph(&sandbox).arg("summary").run().stdout.trim_end());
    assert!(text.lines().count() > 2 && text.contains(GOAL), "{text}");
}

#[test]
fn blocked_an_open_circuit_and_a_limit_are_told_each_by_its_word() {
    for (steps, more, exit, word) in [
        (
            Steps::new().say("I need a key.").status(&StatusBlock::blocked("a key is missing")),
            vec![],
            2,
            "blocked/",
        ),
        (says_more(), vec!["--set", "no_progress_after=1"], 5, "circuit_open/"),
        (says_more(), vec!["--max-iterations", "1"], 3, "stopped/"),
        // The wait in between is too short for a word.
        (Steps::new().exit(1), vec!["--set", "max_failures=2", "--set", "backoff=1s"], 4, "stopped/"),
    ] {
        let sandbox = notifying();
        let agent = one_call(&sandbox, steps);
        run(&sandbox, &agent).args(more).run().assert_code(exit);
        let told = told(&sandbox);
        assert!(told.len() == 1 && told[0].starts_with(word), "{word}: {told:?}");
    }
}

#[test]
fn a_long_wait_is_told_and_so_is_nothing_that_the_user_did() {
    let sandbox = notifying();
    let limit = Steps::new().claude_api_error("rate_limit", "You've hit your session limit").exit(1);
    let agent = one_call(&sandbox, limit);
    let running =
        run(&sandbox, &agent).args(["--agent-format", "claude", "--set", "limit_backoff=2h"]).spawn();
    running.wait_for_stderr("waiting until");
    running.signal(ralph_testkit::Signal::INT);
    running.wait().assert_code(130);
    let told = told(&sandbox);
    assert!(told.len() == 1 && told[0].starts_with("waiting/1/") && told[0].contains("limit"), "{told:?}");
}

#[test]
fn a_command_that_fails_is_a_warning_and_the_run_ends_as_it_would() {
    let sandbox = repository();
    sandbox.write(USER, "[notify]\ncommand = 'echo no bus >&2; exit 7'\n");
    let agent = one_call(&sandbox, says_done());
    let run = run(&sandbox, &agent).args(["--reviews", "0"]).run();
    run.assert_code(0).assert_stderr_has("the command of [notify] failed: exit 7: no bus");
    let test = ralph(&sandbox).args(["notify", "test"]).run();
    test.assert_code(1).assert_stderr_has("exit 7: no bus");
}

#[test]
fn a_command_that_hangs_is_ended_with_all_that_it_started() {
    let sandbox = repository();
    sandbox.write(
        USER,
        "[notify]\ncommand = 'setsid sh -c \"echo up > ../up; exec sleep 1000\" & sleep 1000'\n",
    );
    let agent = one_call(&sandbox, says_done());
    let run = run(&sandbox, &agent).args(["--reviews", "0"]).run();
    run.assert_code(0).assert_stderr_has("it did not end within 10 seconds and was ended");
    assert!(sandbox.exists("../up"));
    sandbox.assert_no_processes();
}

#[test]
fn a_command_of_the_project_needs_consent_for_a_run_and_for_a_test() {
    let sandbox = repository();
    sandbox.write(PROJECT, format!("[notify]\n{LOG}"));
    let agent = one_call(&sandbox, says_done());
    let asking =
        || ralph(&sandbox).args(["run", GOAL, "--fresh", "--reviews", "0", "--agent-cmd"]).arg(agent.path());
    asking().run().assert_code(64).assert_stderr_has("(.ralph/config.toml, notify.command)");
    ralph(&sandbox).args(["notify", "test"]).run().assert_code(64).assert_stderr_has("notify.command");
    assert_eq!(told(&sandbox), Vec::<String>::new());
    ralph(&sandbox).args(["notify", "test", "--yes"]).run().assert_code(0);
    assert!(told(&sandbox)[0].starts_with("test/0/"));
    asking().run().assert_code(0);
    assert_eq!(told(&sandbox).len(), 2, "what was agreed to is remembered");
}

#[test]
fn the_terminal_rings_or_shows_a_message_and_a_pipe_does_neither() {
    let sandbox = repository();
    let agent = one_call(&sandbox, says_done());
    let command = || run(&sandbox, &agent).args(["--fresh", "--reviews", "0"]);
    for (word, bytes) in [("bell", "\u{7}"), ("message", "\u{1b}]9;ralph: complete, ")] {
        sandbox.write(USER, format!("[notify]\nterminal = '{word}'\n"));
        let mut terminal = Terminal::builder(&command().into_command()).term("xterm-256color").start();
        assert_eq!(terminal.wait(), 0, "{}", terminal.all_output());
        let raw = String::from_utf8_lossy(&terminal.raw()).into_owned();
        assert!(raw.contains(bytes), "{word}: {raw:?}");
        let piped = command().run();
        piped.assert_code(0);
        assert!(!piped.stderr.contains('\u{7}'), "{word}");
    }
}

#[test]
fn a_test_without_anything_to_test_says_how_to_set_it() {
    let sandbox = repository();
    let test = ralph(&sandbox).args(["notify", "test"]).run();
    test.assert_code(64).assert_stderr_has("ralph config set --user notify.terminal bell");
}

#[test]
fn a_test_says_notified_only_where_something_happened() {
    let sandbox = repository();
    let test = || ralph(&sandbox).args(["notify", "test"]);
    sandbox.write(USER, "[notify]\nterminal = 'bell'\n");
    let piped = test().run();
    piped.assert_code(1).assert_stderr_has("nobody was notified").assert_stderr_has("standard error is no");
    for (term, code, words) in [("dumb", 1, "why: TERM says"), ("xterm-256color", 0, "notified")] {
        let mut terminal = Terminal::builder(&test().into_command()).term(term).start();
        assert_eq!(terminal.wait(), code, "{}", terminal.all_output());
        assert!(terminal.all_output().contains(words), "{term}: {}", terminal.all_output());
        assert_eq!(terminal.raw().contains(&7), code == 0, "{term}");
    }
    sandbox.write(USER, format!("[notify]\nterminal = 'bell'\n{LOG}"));
    let both = test().run();
    both.assert_code(0)
        .assert_stderr_has("notified, but not by the terminal")
        .assert_stderr_has("did nothing");
    assert_eq!(told(&sandbox).len(), 1);
}
