//! Checks that nobody names are found in the project's files, told with their source, and run only with consent.

mod common;

use common::{GOAL, one_call, ralph, repository, run, says_done, status};
use ralph_testkit::{FakeAgent, InstalledAgent, RalphCommand, Sandbox, StatusBlock, Steps, Terminal};
use serde_json::{Value, json};

/// A Rust project, and a cargo whose tests are red until the file `green` exists.
fn rust_project() -> Sandbox {
    let sandbox = repository();
    sandbox.write("Cargo.toml", "[package]\nname = \"greet\"\n");
    sandbox.commit_all("a manifest");
    let tests = "test \"$1\" != test || test -e green || { echo 'test is_green ... FAILED'; exit 101; }\n";
    sandbox.install_script("cargo", &format!("#!/bin/sh\necho \"$@\" >> .git/cargo-calls\n{tests}"));
    sandbox.install_script("cargo-clippy", "#!/bin/sh\n");
    sandbox
}

fn liar_then_worker(sandbox: &Sandbox) -> InstalledAgent {
    let works = Steps::new().write("green", "").say("All done.").status(&StatusBlock::done());
    FakeAgent::new("agent").call(says_done()).call(works).install(sandbox)
}

fn asking(sandbox: &Sandbox, agent: &InstalledAgent) -> RalphCommand {
    ralph(sandbox).args(["run", GOAL, "--reviews", "0", "--agent-cmd"]).arg(agent.path())
}

/// Name, command and source of the last run's checks.
fn checks(sandbox: &Sandbox) -> Value {
    status(sandbox)["checks"].clone()
}

#[test]
fn checks_that_nobody_names_are_found_run_and_told_with_their_source() {
    let sandbox = rust_project();
    let agent = liar_then_worker(&sandbox);
    let finished = run(&sandbox, &agent).args(["--reviews", "0"]).run();
    finished.assert_code(0);
    finished
        .assert_stderr_has("check build: cargo build (Cargo.toml)")
        .assert_stderr_has("check test: cargo test (Cargo.toml)")
        .assert_stderr_has("check lint: cargo clippy (Cargo.toml)")
        .assert_stderr_has("cargo test exit 101 (is_green");
    assert!(sandbox.read(".git/cargo-calls").contains("clippy"), "{}", sandbox.read(".git/cargo-calls"));
    let state: Value = serde_json::from_str(&sandbox.read(".ralph/state.json")).expect("JSON");
    assert_eq!(state["tech_stack"], json!({"language": "Rust", "detected_from": "Cargo.toml"}));
    assert_eq!(checks(&sandbox)[1], json!({"name": "test", "command": "cargo test", "source": "Cargo.toml"}));
    ralph(&sandbox).arg("status").run().assert_stdout_has("test: cargo test (Cargo.toml)");
}

#[test]
fn what_was_found_needs_a_yes_and_can_be_declined() {
    let sandbox = rust_project();
    let agent = one_call(&sandbox, says_done());
    let refused = asking(&sandbox, &agent).run();
    refused.assert_code(64).assert_stderr_has("cargo test (Cargo.toml)").assert_stderr_has("--no-detect");
    assert!(!sandbox.exists(".git/cargo-calls") && sandbox.agent_calls().is_empty());

    asking(&sandbox, &agent).arg("--no-detect").run().assert_code(0);
    assert_eq!(checks(&sandbox), json!([]));
    let none = ["--build-cmd", "none", "--test-cmd", "none", "--lint-cmd", "none"];
    asking(&sandbox, &agent).args(none).run().assert_code(0);
    assert_eq!(checks(&sandbox), json!([]));
    sandbox.write(".ralph/config.toml", "[checks]\ndetect = false\n");
    asking(&sandbox, &agent).run().assert_code(0);
    assert_eq!(checks(&sandbox), json!([]));
    assert!(!sandbox.exists(".git/cargo-calls"), "nothing was run");
}

#[test]
fn the_first_screen_shows_what_was_found_and_where() {
    let sandbox = rust_project();
    let agent = one_call(&sandbox, says_done());
    let command = asking(&sandbox, &agent).into_command();
    let mut terminal = Terminal::builder(&command).size(100, 40).start();
    terminal.wait_for("[y/N]");
    let screen = terminal.screen();
    for words in ["checks    build: cargo build (Cargo.toml)", "test: cargo test (Cargo.toml)"] {
        assert!(screen.contains(words), "{words}\n{screen}");
    }
    assert!(screen.contains("run the commands that come with this project?"), "{screen}");
    terminal.type_text("n\r");
    assert_eq!(terminal.wait(), 1, "{}", terminal.all_output());
    assert!(!sandbox.exists(".git/cargo-calls"));
}

#[test]
fn whoever_names_a_check_has_said_what_proves_the_work() {
    let sandbox = rust_project();
    let agent = one_call(&sandbox, says_done());
    run(&sandbox, &agent).args(["--reviews", "0", "--test-cmd", "true"]).run().assert_code(0);
    assert_eq!(checks(&sandbox), json!([{"name": "test", "command": "true", "source": null}]));
    let state: Value = serde_json::from_str(&sandbox.read(".ralph/state.json")).expect("JSON");
    assert_eq!(state["tech_stack"]["language"], "Rust", "what it is written in is known all the same");
}

#[test]
fn a_check_that_is_declined_leaves_the_others() {
    let sandbox = rust_project();
    let agent = one_call(&sandbox, says_done());
    sandbox.write(".ralph/config.toml", "[checks]\nlint = \"none\"\ntest = \"none\"\n");
    run(&sandbox, &agent).args(["--reviews", "0"]).run().assert_code(0);
    assert_eq!(
        checks(&sandbox),
        json!([{"name": "build", "command": "cargo build", "source": "Cargo.toml"}])
    );
}

#[test]
fn a_tool_that_is_not_there_is_named_and_left_out() {
    let sandbox = repository();
    sandbox.write("composer.json", "{}");
    sandbox.write("phpunit.xml", "<phpunit/>");
    let agent = one_call(&sandbox, says_done());
    let finished = asking(&sandbox, &agent).run();
    finished.assert_code(0).assert_stderr_has("vendor/bin/phpunit is not there");
    assert_eq!(checks(&sandbox), json!([]));
}

#[test]
fn parts_below_the_top_are_checked_where_they_are() {
    let sandbox = repository();
    let tests = "test -e ../green || { echo 'not ok 1 - greets by name'; false; }";
    sandbox.write("my api/Makefile", format!("test:\n\t@{tests}\n"));
    let agent = liar_then_worker(&sandbox);
    let finished = run(&sandbox, &agent).args(["--reviews", "0"]).run();
    finished.assert_code(0).assert_stderr_has("make test)` exit 2 (greets by name");
    assert_eq!(
        checks(&sandbox),
        json!([{"name": "test", "command": "(cd './my api' && make test)", "source": "my api/Makefile, test"}])
    );
}

#[test]
fn a_profile_that_runs_no_checks_is_not_given_any() {
    let sandbox = rust_project();
    let agent = one_call(&sandbox, says_done());
    asking(&sandbox, &agent).args(["--profile", "analyzer"]).run().assert_code(0);
    assert_eq!(checks(&sandbox), json!([]));
}

#[test]
fn a_run_that_goes_on_keeps_what_it_found_until_told_otherwise() {
    let sandbox = rust_project();
    let works = Steps::new().append("work.txt", "more\n").status(&StatusBlock::in_progress());
    let agent = one_call(&sandbox, works);
    run(&sandbox, &agent).args(["--max-iterations", "1"]).run().assert_code(3);
    sandbox.write("Makefile", "test:\n\ttrue\n");
    let more = |n: &str| ralph(&sandbox).args(["run", "--yes", "--max-iterations", n]);
    more("2").run().assert_code(3);
    assert_eq!(checks(&sandbox)[1]["command"], "cargo test");
    more("3").arg("--no-detect").run().assert_code(3);
    assert_eq!(checks(&sandbox), json!([]));
}

#[test]
fn parts_two_levels_down_are_checked_and_what_is_left_out_is_said() {
    let sandbox = repository();
    let tested = |command: &str| json!({"scripts": {"test": command}}).to_string();
    sandbox.write("apps/api/package.json", tested("sh api.sh"));
    sandbox.write("apps/web/package.json", tested("jest --watch"));
    sandbox.commit_all("apps");
    sandbox.install_script("npm", "#!/bin/sh\npwd >> \"$(git rev-parse --git-dir)/npm-calls\"\n");
    let agent = one_call(&sandbox, says_done());
    let finished = run(&sandbox, &agent).args(["--reviews", "0"]).run();
    finished
        .assert_code(0)
        .assert_stderr_has("check test: (cd apps/api && npm test) (apps/api/package.json, scripts.test)")
        .assert_stderr_has(
            "apps/web/package.json, scripts.test is left out: `jest --watch` waits for changes",
        );
    assert!(sandbox.read(".git/npm-calls").lines().all(|line| line.ends_with("apps/api")));
}

#[test]
fn all_members_of_a_large_workspace_are_tested_and_folders_that_nobody_looked_into_are_counted() {
    let sandbox = repository();
    sandbox.install_script("npm", "#!/bin/sh\nexit 0\n");
    let test = "{\"scripts\": {\"test\": \"jest\"}}";
    sandbox.write("pnpm-workspace.yaml", "packages: [\"parts/*\"]\n");
    sandbox.write("package.json", "{\"private\": true}");
    (0..60).for_each(|nth| sandbox.write(format!("parts/p{nth:02}/package.json"), test));
    sandbox.commit_all("parts");
    let agent = one_call(&sandbox, says_done());
    run(&sandbox, &agent).args(["--reviews", "0", "--dry-run"]).run().assert_stdout_has("parts/p59");
    let sandbox = repository();
    sandbox.install_script("npm", "#!/bin/sh\nexit 0\n");
    (0..60).for_each(|nth| sandbox.write(format!("services/p{nth:02}/package.json"), test));
    sandbox.commit_all("services");
    let agent = one_call(&sandbox, says_done());
    let finished = run(&sandbox, &agent).args(["--reviews", "0"]).run();
    finished.assert_stderr_has("11 folders were not looked into for checks, beyond the first 50");
}
