//! Tests and checks that fail before a backlog is begun: what has a name is excused, what has none is asked about.

use ralph_testkit::{RalphCommand, Sandbox, StatusBlock, Steps, Terminal};
use serde_json::{Value, json};

use super::stage::{another, checklist, claims, commits, ledger, works_through, writes};
use crate::common::{history, one_call, outcomes, ralph, repository, run};

const CHECK: &str = "sh test.sh";
/// Prints the names of tests as a runner does; each is green once its file is there.
const NAMED: &str = "s=0; for n in auth::login auth::logout; do if test -e ${n#auth::}.txt; then echo \"ok - $n\"; \
                     else echo \"not ok - $n\"; s=1; fi; done; test -e broken.txt && echo 'not ok - other' && s=1; exit $s\n";
const UNNAMED: &str = "test -e login.txt\n";

fn with_check(script: &str) -> Sandbox {
    let sandbox = checklist();
    sandbox.write("test.sh", script);
    sandbox.commit_all("tests");
    sandbox
}

fn done() -> Steps {
    Steps::new().status(&StatusBlock::done())
}

fn status(sandbox: &Sandbox) -> Value {
    ralph(sandbox).args(["status", "--json"]).run().json()
}

#[test]
fn items_pass_beside_tests_that_failed_before_the_run_and_their_proof_names_them() {
    let sandbox = with_check(NAMED);
    let before = commits(&sandbox);
    let agent = another(&sandbox)
        .call(claims(writes("one.txt")))
        .call(claims(writes("two.txt")))
        .call(done())
        .install(&sandbox);
    let finished = works_through(&sandbox, &agent).args(["--test-cmd", CHECK]).run();
    let still = "tests that failed before the run still fail: auth::login, auth::logout";
    finished
        .assert_code(0)
        .assert_stderr_has(
            "2 tests fail already: auth::login, auth::logout. They will not block items; new failures will.",
        )
        .assert_stderr_has(&format!("is claimed (flagged: {still}) and committed: "))
        .assert_stderr_lacks("refused");
    assert_eq!(commits(&sandbox), before + 2);
    assert_eq!(ledger(&sandbox)[0]["flagged"], json!([still]));
    assert_eq!(history(&sandbox)[0]["proof_flags"], json!([still]));
    assert_eq!(status(&sandbox)["proof_flags"], json!([still]));
    let body = sandbox.git(&["log", "-1", "--format=%B"]);
    assert!(body.split_whitespace().collect::<Vec<_>>().join(" ").contains(still), "{body}");
    assert!(agent.calls(&sandbox)[0].prompt.contains("Tests that failed then may still fail"));
}

#[test]
fn a_new_failure_beside_excused_ones_refuses_the_item() {
    let sandbox = with_check(NAMED);
    let agent = another(&sandbox)
        .call(claims(writes("broken.txt")))
        .call(claims(Steps::new().shell("rm broken.txt").write("one.txt", "")))
        .call(claims(writes("two.txt")))
        .call(done())
        .install(&sandbox);
    let finished = works_through(&sandbox, &agent).args(["--test-cmd", CHECK]).run();
    finished.assert_code(0).assert_stderr_has("(auth::login, auth::logout, other, 1 of them new)");
    let told: Vec<String> = outcomes(&sandbox).into_iter().map(|(_, outcome)| outcome).collect();
    assert_eq!(told, ["refused", "accepted", "accepted", "accepted"]);
}

#[test]
fn a_test_that_an_item_fixed_is_not_excused_when_it_fails_again() {
    let sandbox = with_check(NAMED);
    let agent = another(&sandbox)
        .call(claims(writes("login.txt")))
        .call(claims(Steps::new().shell("rm login.txt").write("two.txt", "")))
        .call(claims(writes("login.txt")))
        .call(done())
        .install(&sandbox);
    let finished = works_through(&sandbox, &agent).args(["--test-cmd", CHECK]).run();
    finished
        .assert_code(0)
        .assert_stderr_has("(auth::login, auth::logout, fixed in this run, and failing again)");
    let told: Vec<String> = outcomes(&sandbox).into_iter().map(|(_, outcome)| outcome).collect();
    assert_eq!(told, ["accepted", "refused", "accepted", "accepted"]);
}

#[test]
fn strict_profiles_and_goals_say_that_what_fails_already_must_pass() {
    let must = "They must pass before an item counts as done (--set baseline=tolerate excuses them).";
    for flags in [&["--profile", "strict"][..], &["--profile", "dual"], &["--set", "baseline=refuse"]] {
        let sandbox = with_check(NAMED);
        let agent = another(&sandbox).call(claims(writes("one.txt"))).install(&sandbox);
        let finished = works_through(&sandbox, &agent)
            .args(["--test-cmd", CHECK, "--max-iterations", "1"])
            .args(flags)
            .run();
        finished.assert_code(3).assert_stderr_has(must);
        assert_ne!(history(&sandbox)[0]["outcome"], "accepted", "{flags:?}");
    }
    let sandbox = repository();
    sandbox.write("test.sh", NAMED);
    sandbox.commit_all("tests");
    let agent = one_call(&sandbox, writes("one.txt").status(&StatusBlock::done()));
    run(&sandbox, &agent)
        .args(["--test-cmd", CHECK, "--max-iterations", "1"])
        .run()
        .assert_code(3)
        .assert_stderr_has(
            "2 tests fail already: auth::login, auth::logout. They must pass before the goal counts as done",
        );
}

fn unnamed_failure() -> (Sandbox, ralph_testkit::InstalledAgent) {
    let sandbox = with_check(UNNAMED);
    let agent = another(&sandbox)
        .call(claims(writes("one.txt")))
        .call(claims(writes("two.txt")))
        .call(done())
        .install(&sandbox);
    (sandbox, agent)
}

#[test]
fn a_check_that_fails_without_names_blocks_a_backlog_before_the_first_agent() {
    let (sandbox, agent) = unnamed_failure();
    let blocked = works_through(&sandbox, &agent).args(["--test-cmd", CHECK]).run();
    blocked
        .assert_code(2)
        .assert_stderr_has("sh test.sh fails before the run and names no tests")
        .assert_stderr_has("to go on without it: ralph run --test-cmd none")
        .assert_stderr_has("if the items are to make it pass: ralph run --set baseline=refuse");
    assert_eq!(agent.calls(&sandbox).len(), 0);

    // Without it there is no check at all: the reviews of the whole are what is left.
    let without = ralph(&sandbox).args(["run", "--yes", "--test-cmd", "none", "--reviews", "0"]).run();
    let left_out = "checks left out of this run: sh test.sh";
    without
        .assert_code(0)
        .assert_stderr_has("left out: check test: sh test.sh")
        .assert_stderr_has(&format!("(flagged: {left_out})"));
    assert_eq!(history(&sandbox)[0]["proof_flags"], json!([left_out]));
    assert_eq!(ledger(&sandbox)[0]["flagged"], json!([left_out]));
    assert_eq!(status(&sandbox)["checks_left_out"][0]["command"], CHECK);
}

#[test]
fn items_that_are_to_make_a_check_without_names_pass_are_held_against_it() {
    let sandbox = with_check(UNNAMED);
    let agent = another(&sandbox)
        .call(claims(writes("login.txt")))
        .call(claims(writes("two.txt")))
        .call(done())
        .install(&sandbox);
    works_through(&sandbox, &agent)
        .args(["--test-cmd", CHECK, "--set", "baseline=refuse"])
        .run()
        .assert_code(0)
        .assert_stderr_has(
            "sh test.sh fails already and names no tests. It must pass before an item counts as done.",
        );
    // A goal may be just that, and nobody is asked.
    let sandbox = repository();
    sandbox.write("test.sh", UNNAMED);
    sandbox.commit_all("tests");
    let agent = one_call(&sandbox, writes("login.txt").status(&StatusBlock::done()));
    run(&sandbox, &agent).args(["--test-cmd", CHECK, "--reviews", "0"]).run().assert_code(0);
}

fn on_a_terminal(command: RalphCommand) -> Terminal {
    let terminal = Terminal::builder(&command.into_command()).size(120, 50).start();
    terminal.wait_for("What to do? [w/k/S]");
    terminal
}

#[test]
fn on_a_terminal_a_check_without_names_is_asked_about_once() {
    let (sandbox, agent) = unnamed_failure();
    let asking = |more: &[&str]| {
        let run = ralph(&sandbox).args(["run", "--test-cmd", CHECK, "--reviews", "0"]).args(more);
        run.arg("--agent-cmd").arg(agent.path())
    };
    // The folder is known, so that nothing else is asked.
    works_through(&sandbox, &agent).args(["--test-cmd", CHECK, "--max-iterations", "1"]).run().assert_code(2);
    let mut stopped = on_a_terminal(asking(&["--fresh", "--backlog", "fix_plan.md"]));
    stopped.type_text("s\r");
    assert_eq!(stopped.wait(), 2, "{}", stopped.all_output());
    assert_eq!(agent.calls(&sandbox).len(), 0);

    let mut without = on_a_terminal(asking(&["--fresh", "--backlog", "fix_plan.md"]));
    without.type_text("w\r");
    assert_eq!(without.wait(), 0, "{}", without.all_output());
    let shown = without.all_output();
    assert!(shown.contains("without test: sh test.sh"), "{shown}");
    assert_eq!(shown.matches("What to do?").count(), 1, "{shown}");
    assert_eq!(status(&sandbox)["checks_left_out"][0]["name"], "test");
}
