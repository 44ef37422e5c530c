//! The trust decision: before the first run, and before any command that comes from the repository.

mod common;

use common::{TEST, one_call, ralph, repository, repository_with_work_in_progress, run, says_done};
use ralph_testkit::{InstalledAgent, RalphCommand, Sandbox, StatusBlock, Steps, Terminal};

const CONFIG: &str = ".ralph/config.toml";

/// `ralph run` without `--yes`.
fn asking(sandbox: &Sandbox, agent: &InstalledAgent) -> RalphCommand {
    ralph(sandbox).args(["run", common::GOAL, "--reviews", "0", "--agent-cmd"]).arg(agent.path())
}

fn project_with_checks() -> Sandbox {
    let sandbox = repository();
    sandbox.write(CONFIG, "[checks]\ntest = \"test -e README.md\"\nlint = \"true\"\n");
    sandbox
}

#[test]
fn the_question_says_how_many_items_are_open_and_where_commits_go() {
    let sandbox = repository();
    sandbox.write("fix_plan.md", "- [ ] one\n- [x] two\n");
    sandbox.commit_all("plan");
    let agent = one_call(&sandbox, says_done());
    let asked = |args: &[&str]| {
        let command = ralph(&sandbox).args(["run", "--test-cmd", "true", "--agent-cmd"]).arg(agent.path());
        let mut terminal = Terminal::start(&command.args(args).into_command());
        terminal.wait_for("[y/N]");
        let screen = terminal.screen();
        terminal.type_text("n\r");
        assert_eq!(terminal.wait(), 1, "{}", terminal.all_output());
        screen.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let each = "commits one for each item that passes, on";
    let screen = asked(&[]);
    assert!(screen.contains("items 1 of 2 open"), "{screen}");
    assert!(
        screen.contains(&format!("{each} main, the default branch; elsewhere: --branch NAME")),
        "{screen}"
    );
    let screen = asked(&["--branch", "ralph/plan"]);
    assert!(screen.contains(&format!("{each} ralph/plan ")), "{screen}");
    sandbox.git(&["switch", "--quiet", "--create", "mine"]);
    let screen = asked(&[]);
    assert!(screen.contains(&format!("{each} mine ")) && !screen.contains("--branch NAME"), "{screen}");
}

#[test]
fn the_first_run_on_a_terminal_shows_all_and_asks_once() {
    let sandbox = repository_with_work_in_progress();
    let agent = one_call(&sandbox, says_done());
    let command = || asking(&sandbox, &agent).args(["--test-cmd", "true", "--budget", "5"]).into_command();
    let before = (sandbox.user_git_state(), sandbox.exists(".ralph"), sandbox.exists(".git/ralph"));
    for answer in ["n\r", "\r", "\u{4}"] {
        let mut terminal = Terminal::start(&command());
        terminal.wait_for("[y/N]");
        terminal.type_text(answer);
        assert_eq!(terminal.wait(), 1, "{}", terminal.all_output());
        assert!(
            terminal.all_output().contains("not begun: you did not say yes"),
            "{}",
            terminal.all_output()
        );
        assert!(!terminal.all_output().contains("ralph explain"), "{}", terminal.all_output());
    }
    assert_eq!(before, (sandbox.user_git_state(), false, false), "nothing was written");
    assert!(sandbox.agent_calls().is_empty());

    let mut terminal = Terminal::start(&command());
    terminal.wait_for("[y/N]");
    let screen = terminal.screen();
    for words in [
        "The first run in this project",
        "goal      make it green",
        "folder    ",
        "branch    main, 3 uncommitted files left alone",
        "agent     ",
        "checks    test: true (your command line)",
        "limits    50 iterations, 30m for each agent process, $5.00",
        "commits   ralph makes none",
    ] {
        assert!(screen.contains(words), "{words}\n{screen}");
    }
    terminal.type_text("y\r");
    assert_eq!(terminal.wait(), 0, "{}", terminal.all_output());

    let mut again = Terminal::start(&command());
    assert_eq!(again.wait(), 0, "{}", again.all_output());
    assert!(!again.all_output().contains("[y/N]"), "{}", again.all_output());
}

#[test]
fn without_a_terminal_the_first_run_says_where_it_works_unless_a_program_listens_or_only_the_end_is_wanted() {
    let said = "the first run in this project: in ";
    for hushed in ["--quiet", "--json"] {
        let sandbox = repository();
        let agent = one_call(&sandbox, says_done());
        asking(&sandbox, &agent).arg(hushed).run().assert_code(0).assert_stderr_lacks(said);
    }
    let sandbox = repository_with_work_in_progress();
    let agent = one_call(&sandbox, says_done());
    let first = asking(&sandbox, &agent).run();
    let place = format!("[ralph] {said}{} on branch main; ", sandbox.project().display());
    first.assert_code(0).assert_stderr_has(&place).assert_stderr_has("not committed alone");
    let second = ["run", common::GOAL, "--agent-cmd", "cat", "--max-iterations", "1"];
    ralph(&sandbox).args(second).run().assert_code(3).assert_stderr_lacks(said);
}

#[test]
fn without_a_terminal_only_commands_of_the_repository_need_a_yes() {
    let sandbox = repository();
    let agent = one_call(&sandbox, says_done());
    asking(&sandbox, &agent).args(["--test-cmd", "true"]).run().assert_code(0);
    sandbox.write(CONFIG, "[checks]\ntest = \"touch ran; test -e README.md\"\n");
    let refused = asking(&sandbox, &agent).run();
    refused
        .assert_code(64)
        .assert_stderr_has("touch ran; test -e README.md (.ralph/config.toml, checks.test)");
    refused.assert_stderr_has("--yes");
    assert!(!sandbox.exists("ran"));
    // The command line's own command takes its place.
    asking(&sandbox, &agent).args(["--test-cmd", "true"]).run().assert_code(0);
    assert!(!sandbox.exists("ran"));
    let agreed = asking(&sandbox, &agent).arg("--yes").run();
    agreed.assert_code(0).assert_stderr_has("proof: checks: `touch ran; test -e README.md` exit 0");
    assert!(sandbox.exists("ran"));
    asking(&sandbox, &agent).run().assert_code(0);
}

#[test]
fn changed_commands_ask_again_and_show_what_changed() {
    let sandbox = project_with_checks();
    let agent = one_call(&sandbox, says_done());
    let mut first = Terminal::builder(&asking(&sandbox, &agent).into_command()).size(100, 30).start();
    first.wait_for("[y/N]");
    let screen = first.screen();
    assert!(screen.contains("test: test -e README.md (.ralph/config.toml, checks.test)"), "{screen}");
    assert!(!screen.contains("runs "), "what is shown already is not shown again\n{screen}");
    first.type_text("yes\r");
    assert_eq!(first.wait(), 0, "{}", first.all_output());

    // Moved within the file, and one less: nothing new.
    sandbox.write(CONFIG, "# checks\n\n[checks]\ntest = \"test -e README.md\"\n");
    asking(&sandbox, &agent).run().assert_code(0);

    sandbox.write(CONFIG, "[checks]\ntest = \"test -e README.md && echo evil\"\n");
    asking(&sandbox, &agent).run().assert_code(64).assert_stderr_has("echo evil");
    let mut changed = Terminal::builder(&asking(&sandbox, &agent).into_command()).size(100, 30).start();
    changed.wait_for("[y/N]");
    let screen = changed.screen();
    for words in [
        "have changed since you trusted it",
        "runs      test -e README.md && echo evil",
        "was: test -e README.md",
    ] {
        assert!(screen.contains(words), "{words}\n{screen}");
    }
    changed.type_text("n\r");
    assert_eq!(changed.wait(), 1, "{}", changed.all_output());
}

#[test]
fn a_command_that_was_added_is_new_and_changes_none() {
    let sandbox = project_with_checks();
    let agent = one_call(&sandbox, says_done());
    asking(&sandbox, &agent).arg("--yes").run().assert_code(0);
    sandbox.write(CONFIG, format!("{}build = \"true\"\n", sandbox.read(CONFIG)));
    let mut asked = Terminal::builder(&asking(&sandbox, &agent).into_command()).size(100, 30).start();
    asked.wait_for("[y/N]");
    let screen = asked.screen();
    assert!(screen.contains("New commands of this project, since you trusted it"), "{screen}");
    assert!(screen.contains("runs      true") && !screen.contains("was: "), "{screen}");
    asked.type_text("n\r");
    assert_eq!(asked.wait(), 1, "{}", asked.all_output());
}

#[test]
fn a_command_is_shown_whole_and_cannot_play_with_the_terminal() {
    let sandbox = repository();
    let long = format!("true {} \\u001b[2J\\n; echo the end of it", "x".repeat(3000));
    sandbox.write(CONFIG, format!("[checks]\ntest = \"{long}\"\n"));
    let agent = one_call(&sandbox, says_done());
    let mut terminal = Terminal::start(&asking(&sandbox, &agent).into_command());
    terminal.wait_for("[y/N]");
    let shown = terminal.all_output().split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(shown.contains("\\u{1b}[2J ⏎ ; echo the end of it"), "{shown}");
    assert!(shown.contains("The first run in this project"), "the screen was not cleared\n{shown}");
    assert_eq!(shown.matches('x').count() / 1000, 3, "{shown}");
    terminal.type_text("n\r");
    assert_eq!(terminal.wait(), 1);
    let refused = asking(&sandbox, &agent).run();
    refused.assert_code(64).assert_stderr_has("echo the end of it");
    assert!(!refused.stderr.contains('\u{1b}'), "{refused}");
}

#[test]
fn a_copy_of_a_trusted_project_is_another_project() {
    let sandbox = project_with_checks();
    let agent = one_call(&sandbox, says_done());
    asking(&sandbox, &agent).arg("--yes").run().assert_code(0);
    let copy = sandbox.command("cp").args(["-r", ".", "../copy"]).status().expect("cp");
    assert!(copy.success());
    asking(&sandbox, &agent).in_folder("../copy").run().assert_code(64).assert_stderr_has("--yes");
}

#[test]
fn permissions_that_are_not_chosen_are_the_question() {
    let sandbox = repository();
    sandbox.install_script("claude", "#!/bin/sh\nprintf '%s ' \"$@\" > args.txt\n");
    let command = || ralph(&sandbox).args(["run", "goal", "--max-iterations", "1"]).into_command();
    for answer in ["\r", "n\r"] {
        let mut terminal = Terminal::start(&command());
        terminal.wait_for("[full/edits/inherit/N]");
        terminal.type_text(answer);
        assert_eq!(terminal.wait(), 1, "{}", terminal.all_output());
        assert!(!sandbox.exists("args.txt") && !sandbox.exists(".ralph"));
    }
    let mut terminal = Terminal::start(&command());
    terminal.wait_for("[full/edits/inherit/N]");
    let screen = terminal.screen();
    assert!(screen.contains("agent     claude, permissions as you choose below"), "{screen}");
    terminal.type_text("y\r");
    terminal.wait_for("To begin, say full, edits or inherit");
    terminal.type_text("edits\r");
    assert_eq!(terminal.wait(), 3, "{}", terminal.all_output());
    assert!(sandbox.read("args.txt").contains("--permission-mode acceptEdits"));
    assert!(terminal.all_output().contains("claude, may edit files"), "{}", terminal.all_output());
}

#[test]
fn yes_agrees_to_commands_and_chooses_no_permissions() {
    let sandbox = project_with_checks();
    sandbox.install_script("claude", "#!/bin/sh\ntouch ran\n");
    let finished = ralph(&sandbox).args(["run", "goal", "--yes"]).run();
    finished.assert_code(64).assert_stderr_has("the agent's permissions are not chosen");
    assert!(!sandbox.exists("ran"));
}

#[test]
fn without_a_home_the_run_goes_on_and_says_that_nothing_is_remembered() {
    let sandbox = project_with_checks();
    let agent = one_call(&sandbox, says_done());
    let homeless = || asking(&sandbox, &agent).env("HOME", "").env("XDG_STATE_HOME", "");
    homeless().run().assert_code(64);
    let finished = homeless().arg("--yes").run();
    finished.assert_code(0).assert_stderr_has("cannot be remembered: neither XDG_STATE_HOME nor HOME");
    homeless().run().assert_code(64);
}

#[test]
fn a_record_that_came_with_its_folder_starts_nothing_by_itself() {
    let sandbox = Sandbox::new();
    let agent = one_call(&sandbox, Steps::new().status(&StatusBlock::blocked("Blocked: x")));
    let begin = || run(&sandbox, &agent).args(["--test-cmd", TEST]).run();
    begin().assert_code(2);
    ralph(&sandbox).args(["run"]).run().assert_code(2);
    // As somebody else would find it, who was handed this folder.
    let stranger = || ralph(&sandbox).arg("run").env("XDG_STATE_HOME", sandbox.root().join("other"));
    let calls = sandbox.agent_calls().len();
    stranger().run().assert_code(64).assert_stderr_has(".ralph/.state, agent agent");
    assert_eq!(sandbox.agent_calls().len(), calls);
    stranger().arg("--yes").run().assert_code(2);
    assert_eq!(sandbox.agent_calls().len(), calls + 1);
}

#[test]
fn the_demo_asks_nothing() {
    let sandbox = Sandbox::new();
    let mut terminal = Terminal::start(&ralph(&sandbox).arg("demo").into_command());
    assert_eq!(terminal.wait(), 0, "{}", terminal.all_output());
    assert!(!terminal.all_output().contains("[y/N]"), "{}", terminal.all_output());
}

/// A `claude` that only says with which arguments it was started.
fn claude_that_tells_its_arguments(sandbox: &Sandbox) {
    sandbox.install_script("claude", "#!/bin/sh\nprintf '%s\\n' \"$@\" >> args.txt\n");
}

#[test]
fn yes_does_not_agree_to_permissions_and_arguments_of_the_repository() {
    for (file, said) in [
        ("permissions = \"full\"\n", &["--permissions", "inherit"][..]),
        ("[agents.claude]\npermissions = \"full\"\n", &["--permissions", "claude=inherit"]),
        (
            "[agents.claude]\nargs = [\"--dangerously-skip-permissions\"]\n",
            &["--permissions", "inherit", "--", "--max-turns", "9"],
        ),
    ] {
        let sandbox = repository();
        claude_that_tells_its_arguments(&sandbox);
        sandbox.write(CONFIG, file);
        let yes = || ralph(&sandbox).args(["run", "goal", "--yes", "--max-iterations", "1"]);
        let refused = if file.contains("args") { yes().args(["--permissions", "inherit"]) } else { yes() };
        refused.run().assert_code(64).assert_stderr_has("--yes does not agree to that");
        // Without a terminal it is not advised either.
        let unasked = ralph(&sandbox).args(["run", "goal", "--max-iterations", "1"]);
        let unasked =
            if file.contains("args") { unasked.args(["--permissions", "inherit"]) } else { unasked };
        unasked
            .run()
            .assert_code(64)
            .assert_stderr_has("say it yourself: --permissions")
            .assert_stderr_lacks("add --yes");
        assert!(!sandbox.exists("args.txt"), "{file}");
        yes().args(said).run().assert_code(3);
        assert!(!sandbox.read("args.txt").contains("--dangerously-skip-permissions"), "{file}");
    }
}

#[test]
fn agents_of_the_file_are_asked_about_when_a_run_goes_on_with_them_too() {
    let sandbox = repository();
    let agent = one_call(&sandbox, Steps::new().status(&StatusBlock::blocked("Blocked: x")));
    run(&sandbox, &agent).run().assert_code(2);
    sandbox.write(CONFIG, "[agents.mine]\ncommand = \"touch ran\"\n");
    let go_on = || ralph(&sandbox).args(["run", "--agents", "mine", "--max-iterations", "2"]);
    go_on().run().assert_code(64).assert_stderr_has("touch ran (.ralph/config.toml, agents.mine.command)");
    assert!(!sandbox.exists("ran"));
    go_on().arg("--yes").run().assert_code(3);
    assert!(sandbox.exists("ran"));
}

#[test]
fn a_first_run_with_commands_of_the_file_alone_asks_for_no_permissions() {
    let sandbox = repository();
    sandbox.write(CONFIG, "pool = [\"mine\"]\n[agents.mine]\ncommand = \"touch ran\"\n");
    let command = ralph(&sandbox).args(["run", "goal", "--max-iterations", "1"]).into_command();
    let mut terminal = Terminal::start(&command);
    terminal.wait_for("[y/N]");
    terminal.type_text("y\r");
    assert_eq!(terminal.wait(), 3, "{}", terminal.all_output());
    assert!(sandbox.exists("ran"));
}

#[test]
fn where_nobody_can_be_asked_all_that_is_missing_is_told_at_once() {
    let sandbox = repository();
    claude_that_tells_its_arguments(&sandbox);
    sandbox.write(CONFIG, "[checks]\ntest = \"true\"\n");
    let run = |more: &[&str]| {
        ralph(&sandbox).args(["run", "goal", "--agents", "claude", "--max-iterations", "1"]).args(more).run()
    };
    run(&[]).assert_code(64).assert_stderr_has("read them, then add --yes").assert_stderr_has(
        "also say what claude may do without asking: --permissions full, edits or inherit",
    );
    run(&["--yes"]).assert_code(64).assert_stderr_has("the agent's permissions are not chosen");
    run(&["--permissions", "edits"]).assert_code(64).assert_stderr_lacks("also say what");
    run(&["--yes", "--permissions", "edits"]).assert_code(3);
}

#[test]
fn arguments_that_look_alike_when_joined_are_not_alike() {
    let sandbox = repository();
    claude_that_tells_its_arguments(&sandbox);
    let run = || {
        ralph(&sandbox).args(["run", "goal", "--fresh", "--max-iterations", "1", "--permissions", "inherit"])
    };
    sandbox.write(CONFIG, "[agents.claude]\nargs = [\"--say\", \"no --full\"]\n");
    let mut terminal = Terminal::start(&run().into_command());
    terminal.wait_for("[y/N]");
    terminal.type_text("y\r");
    assert_eq!(terminal.wait(), 3, "{}", terminal.all_output());
    run().run().assert_code(3);
    sandbox.write(CONFIG, "[agents.claude]\nargs = [\"--say\", \"no\", \"--full\"]\n");
    run().run().assert_code(64).assert_stderr_has("nobody has agreed to run");
}

#[test]
fn permissions_of_a_record_that_came_with_its_folder_are_not_taken_over() {
    let sandbox = Sandbox::new();
    claude_that_tells_its_arguments(&sandbox);
    let begin = ralph(&sandbox).args(["run", "goal", "--max-iterations", "1", "--permissions", "full"]);
    begin.run().assert_code(3);
    let more = || ralph(&sandbox).args(["run", "--max-iterations", "2"]);
    let stranger = || more().env("XDG_STATE_HOME", sandbox.root().join("other"));
    stranger().run().assert_code(64).assert_stderr_has("goal (.ralph/.state, goal)");
    stranger().arg("--yes").run().assert_code(64).assert_stderr_has("agent claude, permissions");
    assert_eq!(sandbox.read("args.txt").matches("--dangerously-skip-permissions").count(), 1);
    more().run().assert_code(3);
    assert_eq!(
        sandbox.read("args.txt").matches("--dangerously-skip-permissions").count(),
        2,
        "one's own goes on"
    );
}

#[test]
fn a_private_repository_that_came_with_its_folder_runs_nothing() {
    let sandbox = Sandbox::new();
    let agent = one_call(&sandbox, says_done());
    run(&sandbox, &agent).run().assert_code(0);
    let config = sandbox.read(".ralph/.state/git/config");
    sandbox.write(
        ".ralph/.state/git/config",
        format!("{config}[filter \"x\"]\n\tclean = touch {}/ran; cat\n", sandbox.project().display()),
    );
    sandbox.write(".gitattributes", "* filter=x\n");
    sandbox.write("new.txt", "new\n");
    run(&sandbox, &agent).arg("--fresh").run().assert_code(0);
    assert!(!sandbox.exists("ran"));
    assert!(!sandbox.read(".ralph/.state/git/config").contains("filter"));
}

#[test]
fn the_end_of_input_is_a_no_and_what_is_said_then_has_a_line_of_its_own() {
    let sandbox = repository();
    let agent = one_call(&sandbox, says_done());
    let mut terminal = Terminal::start(&asking(&sandbox, &agent).into_command());
    terminal.wait_for("[y/N]");
    terminal.type_text("\u{4}");
    assert_eq!(terminal.wait(), 1);
    let shown = terminal.all_output();
    assert!(shown.lines().any(|line| line.starts_with("ralph: not begun")), "{shown}");
}
