//! Items of a backlog, worked on by the real Claude Code: what becomes of an attempt, and of what lay in the tree before.

use std::time::Duration;

use ralph_testkit::{Finished, RalphCommand, Sandbox, Turn};
use serde_json::json;

use crate::common::ralph;
use crate::harness::{HARNESS, commits, files_of, harness, item, item_now, ledger, recorded};
use crate::stage::{Actor, Cli, more};
use crate::trouble::FULL;

const CLAUDE: Cli = Cli::Claude;

/// One attempt: a command of the agent's, and its claim.
fn attempt(command: &str) -> Vec<Turn> {
    vec![CLAUDE.shell(command), more("Did my part.")]
}

/// What one item, proved by `one.txt`, comes to.
struct Case {
    /// In the user's tree when the run begins.
    before: &'static [(&'static str, &'static str)],
    /// Each is the command of one attempt.
    attempts: &'static [&'static str],
    code: i32,
    says: &'static [&'static str],
    status: &'static str,
    results: &'static [&'static str],
    /// The subjects of the commits since, newest first, each with its files.
    history: &'static [(&'static str, &'static [&'static str])],
    /// What git says of everything but the task file.
    left: &'static [&'static str],
}

const PASSES: Case = Case {
    before: &[],
    attempts: &["touch one.txt"],
    code: 0,
    says: &["✓ ITEM PASSED"],
    status: "PASSING",
    results: &["PASSED"],
    history: &[("feat(FEAT-1): make one.txt", &["A one.txt"])],
    left: &[],
};

const FAILS: Case = Case {
    before: &[],
    attempts: &["touch wrong.txt"],
    code: 3,
    says: &["✗ ITEM NOT PROVED"],
    status: "FAILING",
    results: &["FAILED"],
    history: &[],
    left: &[],
};

fn project() -> Sandbox {
    let sandbox = harness(&[item("FEAT-1", "one.txt")]);
    sandbox.write("tests/a_test.py", "def test_a(): pass\n");
    sandbox.commit_all("tests");
    sandbox
}

fn worker(sandbox: &Sandbox, actor: &Actor) -> RalphCommand {
    let run = ralph(sandbox).args(["run", "--profile", "worker", "--yes", "--agents", "claude"]).args(FULL);
    run.envs(actor.env()).limit(Duration::from_secs(180))
}

/// Runs the case, with `--all` where it takes several attempts, and looks at everything that came of it.
#[track_caller]
fn comes_to(case: &Case) -> (Sandbox, Actor, Finished) {
    let sandbox = project();
    for (path, text) in case.before {
        sandbox.write(path, text);
    }
    let start = sandbox.git(&["rev-parse", "HEAD"]);
    let actor = Actor::enter(CLAUDE, &sandbox, case.attempts.iter().flat_map(|command| attempt(command)));
    let all = if case.attempts.len() > 1 { &["--all"][..] } else { &[] };
    let finished = worker(&sandbox, &actor).args(all).run();
    finished.assert_code(case.code);
    for words in case.says {
        finished.assert_stderr_has(words);
    }
    actor.assert_asked(2 * case.attempts.len());
    let now = item_now(&sandbox, "FEAT-1");
    let results: Vec<_> = now["attempts"]
        .as_array()
        .expect("attempts")
        .iter()
        .map(|attempt| attempt["result"].clone())
        .collect();
    assert_eq!(now["status"], case.status, "{finished}");
    assert_eq!(results, case.results, "{finished}");
    let records = ledger(&sandbox);
    let recorded: Vec<_> =
        records.iter().filter(|record| record["type"] == "attempt").map(|record| &record["result"]).collect();
    assert_eq!(recorded, case.results, "{finished}");
    let since = sandbox.git(&["log", "--format=%H", &format!("{start}..HEAD")]);
    let history: Vec<(String, Vec<String>)> = since
        .lines()
        .map(|commit| {
            let files = files_of(&sandbox, commit).into_iter().filter(|file| !file.ends_with(HARNESS));
            (sandbox.git(&["show", "-s", "--format=%s", commit]), files.collect())
        })
        .collect();
    let expected: Vec<(String, Vec<String>)> = case
        .history
        .iter()
        .map(|(subject, files)| {
            ((*subject).to_owned(), files.iter().map(|file| (*file).to_owned()).collect())
        })
        .collect();
    assert_eq!(history, expected, "{finished}");
    let left = sandbox.git(&["status", "--porcelain"]);
    let left: Vec<_> = left.lines().map(str::trim).filter(|line| !line.ends_with(HARNESS)).collect();
    assert_eq!(left, case.left, "{finished}");
    sandbox.assert_no_processes();
    (sandbox, actor, finished)
}

#[test]
fn an_item_of_claude_fails_twice_and_then_passes() {
    let (sandbox, actor, _) = comes_to(&Case {
        attempts: &["touch wrong.txt", "touch worse.txt", "touch one.txt"],
        says: &["✗ claimed done, refused: test -e one.txt exit 1", "✓ "],
        results: &["FAILED", "FAILED", "PASSED"],
        ..PASSES
    });
    let attempts = &item_now(&sandbox, "FEAT-1")["attempts"];
    assert_eq!((&attempts[0]["reverted"], &attempts[2]["reverted"]), (&json!(true), &json!(false)));
    let requests = actor.server.main_requests();
    assert!(requests[2].mentions("attempt 2 of at most 3") && requests[2].mentions("was refused"));
}

#[test]
fn an_item_of_claude_that_reaches_its_limit_is_blocked_with_a_note() {
    let (sandbox, ..) = comes_to(&Case {
        attempts: &["touch wrong.txt", "touch wrong.txt", "touch wrong.txt"],
        code: 2,
        says: &[
            "every item that is left waits for a person: FEAT-1",
            "to try FEAT-1 again: ralph backlog reset FEAT-1",
        ],
        status: "BLOCKED",
        results: &["FAILED", "FAILED", "FAILED"],
        ..FAILS
    });
    let now = item_now(&sandbox, "FEAT-1");
    assert!(now["notes"].as_str().is_some_and(|notes| notes.contains("human review required")), "{now}");
    assert_eq!(now["ralph_loop"]["current_iteration"], 3);
}

#[test]
fn claude_that_edits_what_it_is_judged_by_passes_nothing_and_deleted_tests_are_flagged() {
    let easier = comes_to(&Case {
        attempts: &["sed -i 's/test -e one.txt/true/' .claude/harness/feature_list.json; touch wrong.txt"],
        says: &["the agent changed the criteria of FEAT-1"],
        ..FAILS
    });
    assert_eq!(item_now(&easier.0, "FEAT-1")["verification"], json!(["test -e one.txt"]), "put back");
    let (sandbox, ..) = comes_to(&Case {
        attempts: &["rm tests/a_test.py; touch one.txt"],
        says: &["existing tests were changed: tests/a_test.py"],
        history: &[("feat(FEAT-1): make one.txt", &["A one.txt", "D tests/a_test.py"])],
        ..PASSES
    });
    assert_eq!(ledger(&sandbox)[0]["custody"]["existing_tests_changed"], json!(["tests/a_test.py"]));
}

#[test]
fn claude_that_ticks_without_work_or_changes_nothing_passes_nothing() {
    let (sandbox, ..) = comes_to(&Case {
        attempts: &["sed -i 's/FAILING/PASSING/' .claude/harness/feature_list.json"],
        says: &["test -e one.txt exit 1"],
        ..FAILS
    });
    assert_eq!(commits(&sandbox), 3);
    comes_to(&Case { attempts: &["true"], says: &["test -e one.txt exit 1"], ..FAILS });
}

#[test]
fn commits_of_claude_itself_are_kept_where_they_are_proved_and_taken_back_where_not() {
    let (sandbox, ..) = comes_to(&Case {
        attempts: &["touch one.txt; git add one.txt; git commit -qm mine"],
        says: &["by the agent itself"],
        history: &[("mine", &["A one.txt"])],
        ..PASSES
    });
    let head = sandbox.git(&["rev-parse", "HEAD"]);
    assert_eq!(item_now(&sandbox, "FEAT-1")["attempts"][0]["commit"], json!(head));
    comes_to(&Case {
        attempts: &["touch wrong.txt; git add wrong.txt; git commit -qm mine"],
        history: &[("revert: FEAT-1 - test -e one.txt exit 1", &["D wrong.txt"]), ("mine", &["A wrong.txt"])],
        ..FAILS
    });
}

#[test]
fn what_was_dirty_before_claude_began_is_not_committed_and_a_path_that_it_changed_too_is_named() {
    let before = &[("README.md", "# half of my work\n"), ("mine.txt", "mine\n")];
    let (sandbox, ..) = comes_to(&Case {
        before,
        attempts: &["touch one.txt; echo by the agent >> README.md"],
        says: &["not committed", "README.md"],
        left: &["M README.md", "?? mine.txt"],
        ..PASSES
    });
    assert_eq!(sandbox.read("README.md"), "# half of my work\nby the agent\n");
    let (sandbox, ..) = comes_to(&Case { before, left: &["M README.md", "?? mine.txt"], ..FAILS });
    assert_eq!(
        (sandbox.read("README.md"), sandbox.read("mine.txt")),
        ("# half of my work\n".into(), "mine\n".into())
    );
}

#[test]
fn ralph_killed_between_the_commit_and_its_record_takes_claude_s_item_up_again() {
    let sandbox = project();
    let actor = Actor::enter(CLAUDE, &sandbox, attempt("touch one.txt"));
    let list = sandbox.root().join("tmp/points");
    let cut = worker(&sandbox, &actor).env("RALPH_CRASH_POINTS", &list);
    // The first record is the attempt's, which comes before the commit.
    cut.env("RALPH_CRASH_POINT", "kill:open evidence.jsonl#2").run().assert_code(137);
    assert_eq!((commits(&sandbox), recorded(&sandbox, "commit")), (4, 0), "between the two");
    worker(&sandbox, &actor).run().assert_code(0);
    actor.assert_asked(2);
    assert_eq!((commits(&sandbox), recorded(&sandbox, "attempt"), recorded(&sandbox, "commit")), (4, 1, 1));
    let now = item_now(&sandbox, "FEAT-1");
    let head = sandbox.git(&["rev-parse", "HEAD"]);
    assert_eq!(now["attempts"].as_array().map(Vec::len), Some(1), "{now}");
    assert_eq!((&now["status"], &now["attempts"][0]["commit"]), (&json!("PASSING"), &json!(head)));
    sandbox.assert_no_processes();
}
