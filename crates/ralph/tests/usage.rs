//! Wrong usage and missing things: each says what, why and what to do, with its exit code.

mod common;

use std::fs::File;
use std::process::{Output, Stdio};

use common::{ralph, repository};
use ralph_testkit::Sandbox;

#[test]
fn a_misspelt_command_is_64_with_a_suggestion() {
    let sandbox = Sandbox::new();
    ralph(&sandbox).arg("rnu").run().assert_code(64).assert_stderr_has("'ralph run'");
    ralph(&sandbox).arg("statu").run().assert_code(64).assert_stderr_has("'status'");
    ralph(&sandbox)
        .args(["run", "x", "--max-iteration", "3"])
        .run()
        .assert_code(64)
        .assert_stderr_has("--max-iterations")
        .assert_stderr_lacks("meant for the agent");
    ralph(&sandbox).args(["run", "x", "--timeout", "soon"]).run().assert_code(64).assert_stderr_has("30m");
    ralph(&sandbox).run().assert_code(64).assert_stderr_has("Usage");
    ralph(&sandbox)
        .args(["run", "fix", "the", "login"])
        .run()
        .assert_code(64)
        .assert_stderr_has("put in quotes");
    let two = ralph(&sandbox).args(["analyze", "a", "b"]).run();
    two.assert_code(64);
    assert!(!two.stderr.contains("goal"), "{two}");
    ralph(&sandbox)
        .arg("fix the login")
        .run()
        .assert_code(64)
        .assert_stderr_has("ralph run \"fix the login\"");
}

#[test]
fn what_other_tools_call_resume_or_start_is_run_here() {
    let sandbox = Sandbox::new();
    for word in ["resume", "continue", "restart"] {
        let refused = ralph(&sandbox).arg(word).run();
        refused.assert_code(64).assert_stderr_has("tip: to continue the last run: ralph run\n");
        refused.assert_stderr_lacks("similar");
    }
    for word in ["start", "go", "loop"] {
        let refused = ralph(&sandbox).args([word, "now"]).run();
        refused.assert_code(64).assert_stderr_has("to start a run, or to continue the last one: ralph run\n");
        refused.assert_stderr_lacks("similar");
    }
    ralph(&sandbox).args(["config", "start"]).run().assert_code(64).assert_stderr_lacks("ralph run");
}

#[test]
fn suggestions_name_the_commands_of_this_project() {
    let sandbox = repository();
    let nothing = |told: &str| {
        let refused = ralph(&sandbox).arg("run").run();
        refused
            .assert_code(64)
            .assert_stderr_has(&format!("--test-cmd {told}\n"))
            .assert_stderr_lacks("cargo");
    };
    nothing("CMD");
    sandbox.write("Makefile", "test:\n\ttrue\n");
    sandbox.write("pyproject.toml", "[project]\nname = 'x'\n");
    nothing("'make test'");
    ralph(&sandbox).args(["init", "--yes"]).run().assert_code(0);
    assert!(sandbox.read(".ralph/ralph.yml").contains("#       - make test\n"));
    assert!(sandbox.read(".ralph/config.toml").contains("# test = \"make test\"\n"));
    for file in ["config.toml", "ralph.yml", "prompt.md"] {
        assert!(!sandbox.read(format!(".ralph/{file}")).contains("cargo"), "{file}");
    }
}

#[test]
fn a_word_below_a_command_is_never_taken_for_another_command() {
    let sandbox = Sandbox::new();
    let below = ralph(&sandbox).args(["config", "reset"]).run();
    below.assert_code(64).assert_stderr_lacks("'ralph reset'");
    ralph(&sandbox).args(["config", "shw"]).run().assert_code(64).assert_stderr_has("show");
}

#[test]
fn a_value_that_is_none_is_told_what_is_taken() {
    let sandbox = Sandbox::new();
    for (flag, value, said) in [
        ("--max-iterations", "many", "it takes a whole number, 0 or more"),
        ("--max-iterations", "-1", "it takes a whole number, 0 or more"),
        ("--reviews", "x", "it takes a whole number, 0 or more"),
        ("--max-tokens", "1e6", "it takes a whole number, 0 or more"),
        ("--reviews", "99999999999", "the number is too large"),
        ("--budget", "-5", "dollars, such as 5 or 0.50"),
        ("--timeout", "-5", "30m"),
    ] {
        let spaced = ralph(&sandbox).args(["run", "x", flag, value]).run();
        let joined = ralph(&sandbox).args(["run", "x", &format!("{flag}={value}")]).run();
        for refused in [spaced, joined] {
            refused.assert_code(64).assert_stderr_has(flag).assert_stderr_has(said);
            refused.assert_stderr_lacks("invalid digit").assert_stderr_lacks("tip:");
        }
    }
    let replay = ralph(&sandbox).args(["replay", "last"]).run();
    replay.assert_code(64).assert_stderr_has("it takes a whole number");
    // Behind -- is what the agent gets, so nothing of ralph's is sent there.
    ralph(&sandbox)
        .args(["run", "x", "--max-time", "-1h"])
        .run()
        .assert_code(64)
        .assert_stderr_lacks("-- -1");
    let agent_s = ralph(&sandbox).args(["run", "x", "--verbose"]).run();
    agent_s
        .assert_code(64)
        .assert_stderr_has("what is meant for the agent stands at the end, behind --: -- --verbose")
        .assert_stderr_lacks("a similar argument exists");
}

#[test]
fn help_and_version_are_data() {
    let sandbox = Sandbox::new();
    let version = ralph(&sandbox).arg("--version").run();
    version.assert_code(0);
    assert_eq!(version.stdout, concat!("ralph ", env!("CARGO_PKG_VERSION"), "\n"));
    let help = ralph(&sandbox).args(["run", "--help"]).run();
    help.assert_code(0).assert_stdout_has("--test-cmd");
    assert_eq!(help.stderr, "");
}

#[test]
fn no_agent_found_says_what_to_install() {
    let sandbox = repository();
    let finished = ralph(&sandbox).args(["run", "goal", "--permissions", "full"]).run();
    finished
        .assert_code(1)
        .assert_stderr_has("no agent found")
        .assert_stderr_has("npm install")
        .assert_stderr_has("--agent-cmd");
    assert!(!sandbox.exists(".ralph"), "nothing was begun");
}

#[test]
fn a_script_that_is_not_there_is_said_at_once_with_the_folder_it_was_looked_for_in() {
    let sandbox = repository();
    sandbox.write("sub/my.sh", "");
    let missing =
        ralph(&sandbox).in_folder("sub").args(["run", "goal", "--agent-cmd", "./my.sh --fast"]).run();
    missing.assert_code(64).assert_stderr_has("./my.sh").assert_stderr_has("top of the project");
    assert!(!sandbox.exists(".ralph"));
}

#[test]
fn a_command_that_is_not_there_is_said_at_once_and_one_of_the_shell_s_is_not() {
    let sandbox = repository();
    let missing = ralph(&sandbox).args(["run", "goal", "--agent-cmd", "nosuchagent --fast"]).run();
    missing.assert_code(64).assert_stderr_has("there is no command nosuchagent").assert_stderr_has("PATH");
    assert!(!sandbox.exists(".ralph"));
    // What only the shell can tell is left to it.
    for words in ["exit 3", "eval exit 3", "PATH=$PATH:. nosuchagent", "nosuchagent; exit 3"] {
        let args = ["--set", "max_failures=1", "--agent-cmd", words];
        let failed = ralph(&sandbox).args(["run", "--fresh", "goal"]).args(args).run();
        failed
            .assert_code(4)
            .assert_stderr_has("to try again: ralph run")
            .assert_stderr_has("with another command: ralph run --agent-cmd CMD");
    }
}

#[test]
fn a_typo_in_the_agent_s_name_runs_nothing_and_suggests() {
    let sandbox = repository();
    let typo = ralph(&sandbox).args(["run", "goal", "--agents", "cluade", "--permissions", "full"]).run();
    typo.assert_code(64).assert_stderr_has("unknown agent 'cluade'").assert_stderr_has("--agents claude");
    let other = ralph(&sandbox).args(["run", "goal", "--agents", "banana"]).run();
    other.assert_code(64).assert_stderr_has("--agent-cmd");
}

#[test]
fn nobody_but_the_user_chooses_permissions() {
    let sandbox = repository();
    sandbox.install_script("claude", "#!/bin/sh\nexit 0\n");
    let finished = ralph(&sandbox).args(["run", "goal"]).run();
    finished
        .assert_code(64)
        .assert_stderr_has("--permissions full")
        .assert_stderr_has("--permissions inherit");
}

#[test]
fn a_run_needs_a_goal_or_something_to_continue() {
    let sandbox = repository();
    let nothing = ralph(&sandbox).arg("run").run();
    nothing.assert_code(64).assert_stderr_has("no goal given, no unfinished run to continue, and no backlog");
    nothing
        .assert_stderr_has("fix_plan.md")
        .assert_stderr_has("try: ralph init, then ralph backlog add \"TITLE\"");
    // What it says to type is what makes it one.
    let begun = repository();
    ralph(&begun).args(["init", "--yes"]).run();
    ralph(&begun).args(["backlog", "add", "greet by name"]).run().assert_code(0);
    ralph(&begun).arg("run").run().assert_code(1).assert_stderr_has("no agent found");
    ralph(&sandbox).args(["run", "  "]).run().assert_code(64).assert_stderr_has("empty");
    ralph(&sandbox).args(["run", "--fresh"]).run().assert_code(64);
    ralph(&sandbox)
        .args(["run", "goal", "--resume"])
        .run()
        .assert_code(64)
        .assert_stderr_has("no unfinished run");
    ralph(&sandbox).args(["run", "goal", "--agent-cmd", " "]).run().assert_code(64);
}

#[test]
fn looking_where_nothing_was_run_is_no_error_and_writes_nothing() {
    let sandbox = repository();
    let status = ralph(&sandbox).args(["status", "--json"]).run();
    status.assert_code(0);
    assert_eq!(status.json()["initialized"], false);
    assert_eq!(status.json()["status"], "idle");
    ralph(&sandbox).arg("status").run().assert_code(0).assert_stdout_has("nothing has been run");
    ralph(&sandbox).arg("history").run().assert_code(0).assert_stdout_has("nothing has been run");
    ralph(&sandbox).args(["history", "1"]).run().assert_code(64).assert_stderr_has("no iteration 1");
    assert!(!sandbox.exists(".ralph") && !sandbox.exists(".git/ralph"));
}

/// What becomes of a command whose data goes here.
fn into(sandbox: &Sandbox, stdout: impl Into<Stdio>, args: &[&str]) -> Output {
    let mut command = ralph(sandbox).args(args).into_command();
    command.stdin(Stdio::null()).stdout(stdout).stderr(Stdio::piped()).output().expect("start ralph")
}

#[test]
fn data_that_cannot_be_written_is_an_error_and_a_reader_that_has_seen_enough_is_not() {
    let sandbox = repository();
    sandbox.write("said.txt", "hello\n");
    let emit = ["report", "emit", "--tasks", "1", "--work-type", "TESTING", "--recommendation", "Next: x"];
    for args in [
        &["analyze", "said.txt"][..],
        &["status", "--json"],
        &["history"],
        &emit,
        &["--version"],
        &["--help"],
    ] {
        let full = File::options().write(true).open("/dev/full").expect("/dev/full");
        let ended = into(&sandbox, full, args);
        assert_eq!(ended.status.code(), Some(1), "{args:?}");
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert_eq!(said.matches("cannot write to standard output").count(), 1, "{args:?}: {said}");
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let ended = into(&sandbox, writer, args);
        assert_eq!(ended.status.code(), Some(0), "{args:?}: {}", String::from_utf8_lossy(&ended.stderr));
    }
}

#[test]
fn a_demo_that_cannot_begin_makes_no_folder_and_names_only_options_it_has() {
    let sandbox = Sandbox::new();
    sandbox.write("tmp/keep", "");
    for (agent, said) in
        [("cluade", "--agent claude"), ("banana", "scripted agent"), ("claude", "npm install")]
    {
        let demo = ralph(&sandbox).args(["demo", "--agent", agent]);
        let finished = demo.env("TMPDIR", sandbox.project().join("tmp")).run();
        assert_ne!(finished.code, 0, "{finished}");
        finished.assert_stderr_has(said);
        assert!(
            !finished.stderr.contains("--agent-cmd") && !finished.stderr.contains("--agents"),
            "{finished}"
        );
        let left = std::fs::read_dir(sandbox.project().join("tmp")).expect("a folder").count();
        assert_eq!(left, 1, "{agent}");
    }
}

#[test]
fn two_flags_that_do_not_go_together_are_refused_with_the_reason_and_what_to_do() {
    let sandbox = Sandbox::new();
    for (args, said) in [
        (
            &["run", "x", "--agent-cmd", "a", "--permissions", "full"][..],
            "leave --permissions out, and say it in the",
        ),
        (
            &["run", "x", "--permissions=full", "--agent-cmd=a"],
            "leave --permissions out, and say it in the command",
        ),
        (&["run", "x", "--once"], "leave one of the two out"),
        (
            &["history", "1", "--diff", "--checks"],
            "give one of --diff, --checks, --transcript, --raw and --json",
        ),
        (&["undo", "1", "--to", "abcd"], "give one of them"),
        (&["run", "x", "--agent-format", "codex"], "--agent-cmd CMD --agent-format FORMAT"),
        (&["demo", "--permissions", "full"], "ralph demo --agent claude --permissions edits"),
    ] {
        let refused = ralph(&sandbox).args(args).run();
        refused.assert_code(64).assert_stderr_has("  tip: ").assert_stderr_has(said);
    }
}

#[test]
fn a_time_without_a_unit_is_told_how_it_is_written_and_no_limit_is_0() {
    let sandbox = repository();
    let given = |args: &[&str]| ralph(&sandbox).args(["run", "x", "--agent-cmd", "true"]).args(args).run();
    given(&["--timeout", "5"])
        .assert_code(64)
        .assert_stderr_has("a time has a unit")
        .assert_stderr_has("try: --timeout 5m for minutes, --timeout 5s for seconds");
    given(&["--timeout", "0"]).assert_code(64).assert_stderr_has("try: a long time, such as 24h");
    for none in ["0", "0h", "none"] {
        given(&["--max-time", none, "--dry-run"])
            .assert_code(0)
            .assert_stdout_has("50 iterations, 30m for each agent process\n");
    }
    given(&["--max-time", "2h", "--dry-run"]).assert_code(0).assert_stdout_has("2h in all");
}

#[test]
fn what_is_suggested_is_what_was_meant_or_nothing() {
    let sandbox = repository();
    let tried = |args: &[&str]| {
        let refused = ralph(&sandbox).args(args).run();
        refused.assert_code(64);
        refused.stderr
    };
    for (args, said) in [
        (&["config", "set", "permissions", "ful"][..], "try: permissions = \"full\""),
        (&["config", "set", "pool", "claude,cluade"], "try: ralph config set pool claude\n"),
        (&["config", "set", "agents.claude.modle", "x"], "try: write agents.claude.model instead"),
        (&["run", "x", "--set", "foo"], "a key needs its value: foo=VALUE"),
        (&["completions", "tcsh"], "[possible values: bash, elvish, fish, powershell, zsh]"),
        (&["man", "nothing"], "ralph --help lists the commands"),
    ] {
        let told = tried(args);
        assert!(told.contains(said), "{args:?}: {told}");
    }
    let far = tried(&["run", "x", "--set", "foo=1", "--agent-cmd", "true"]);
    assert!(!far.contains("boot") && far.contains("lists the keys"), "{far}");
    assert!(!tried(&["completions", "tcsh"]).contains("tip:"), "zsh is another shell");
}

#[test]
fn a_folder_that_git_does_not_trust_is_told_with_the_command_that_helps() {
    let sandbox = repository();
    sandbox.install_script(
        "git",
        "#!/bin/sh\necho \"fatal: detected dubious ownership in repository at '/a b'\" >&2\nexit 128\n",
    );
    let refused = ralph(&sandbox).args(["run", "x"]).run();
    refused.assert_code(1).assert_stderr_has("try: git config --global --add safe.directory '/a b'\n");
}

#[test]
fn a_slip_in_a_part_of_a_stop_reason_is_told_with_what_was_meant() {
    let sandbox = Sandbox::new();
    ralph(&sandbox)
        .args(["explain", "circut"])
        .run()
        .assert_code(64)
        .assert_stderr_has("try: ralph explain circuit");
}

#[test]
fn an_agent_whose_path_has_a_space_in_it_is_to_be_quoted() {
    let sandbox = repository();
    sandbox.write("my agents/agent.sh", "exit 0\n");
    let run = |command: &str| {
        ralph(&sandbox).args(["run", "goal", "--yes", "--max-iterations", "1", "--agent-cmd", command]).run()
    };
    run("./my agents/agent.sh")
        .assert_code(64)
        .assert_stderr_has("there is a file of that name, and it has a space in it")
        .assert_stderr_has("try: --agent-cmd \"'./my agents/agent.sh'\"");
    run("sh './my agents/agent.sh'").assert_code(3);
}
