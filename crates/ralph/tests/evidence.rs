//! `ralph evidence`: the ledger of real runs, tampered with in every way, and its checks run again in clean checkouts.
#![expect(clippy::disallowed_methods, reason = "tests have files of their own")]

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use common::{GOAL, TEST, ralph, repository};
use ralph_testkit::{
    ClaudeResult, FakeAgent, Finished, InstalledAgent, RalphCommand, Sandbox, Schema, Signal, StatusBlock,
    Steps,
};
use serde_json::{Value, json};

const LEDGER: &str = ".git/ralph/evidence.jsonl";
const PLAN: &str = "# Plan\n\n- [ ] make it green\n- [ ] write the notes\n";

fn claims(steps: Steps) -> Steps {
    steps.status(&StatusBlock::in_progress())
}

/// One item refused, then proved; a second one proved.
fn calls() -> [Steps; 3] {
    [
        claims(Steps::new().write("red", "1\n")),
        claims(Steps::new().write("green", "1\n")),
        Steps::new().write("notes.txt", "1\n").status(&StatusBlock::done()),
    ]
}

fn planned() -> Sandbox {
    let sandbox = repository();
    sandbox.write("IMPLEMENTATION_PLAN.md", PLAN);
    sandbox.commit_all("plan");
    sandbox
}

/// Works through the plan with a check.
fn work(sandbox: &Sandbox, calls: impl IntoIterator<Item = Steps>, test: &str) -> RalphCommand {
    let agent = calls.into_iter().fold(FakeAgent::new("agent"), FakeAgent::call).install(sandbox);
    with(sandbox, &agent, test)
}

fn with(sandbox: &Sandbox, agent: &InstalledAgent, test: &str) -> RalphCommand {
    ralph(sandbox)
        .args(["run", "--yes", "--set", "reviews=0", "--set", "max_iterations=8", "--set", "baseline=refuse"])
        .args(["--test-cmd", test])
        .args(["--backlog", "IMPLEMENTATION_PLAN.md", "--agent-cmd"])
        .arg(agent.path())
}

fn proved_by(test: &str) -> Sandbox {
    let sandbox = planned();
    work(&sandbox, calls(), test).run().assert_code(0);
    sandbox
}

fn evidence(sandbox: &Sandbox, args: &[&str]) -> Finished {
    ralph(sandbox).arg("evidence").args(args).run()
}

/// What `verify` says as JSON, which is as its schema says.
#[track_caller]
fn verify(sandbox: &Sandbox, code: i32, args: &[&str]) -> Value {
    let finished = evidence(sandbox, &[&["verify", "--json"], args].concat());
    finished.assert_code(code);
    let document = finished.json();
    Schema::published("ralph.verification/1").assert(&document);
    document
}

fn verdicts(document: &Value) -> Vec<&str> {
    let attempts = document["attempts"].as_array().expect("a list");
    attempts.iter().map(|attempt| attempt["verdict"].as_str().expect("a word")).collect()
}

fn faults(document: &Value) -> Vec<(&str, Option<u64>)> {
    let faults = document["ledger"]["faults"].as_array().expect("a list");
    faults.iter().map(|fault| (fault["kind"].as_str().expect("a word"), fault["line"].as_u64())).collect()
}

fn records(sandbox: &Sandbox) -> Vec<Value> {
    sandbox.read(LEDGER).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

/// Writes the ledger anew with what `change` makes of its lines.
fn tamper(sandbox: &Sandbox, change: impl FnOnce(&mut Vec<String>)) {
    let mut lines: Vec<String> = sandbox.read(LEDGER).lines().map(str::to_owned).collect();
    change(&mut lines);
    sandbox.write(LEDGER, lines.iter().map(|line| format!("{line}\n")).collect::<String>());
}

/// Every file below a folder with its bytes.
fn files(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(dir).expect("a folder").flatten() {
        let path = entry.path();
        match path.is_dir() && !path.is_symlink() {
            true => found.extend(files(&path)),
            false => drop(found.insert(path.clone(), fs::read(&path).unwrap_or_default())),
        }
    }
    found
}

#[test]
fn who_shows_or_exports_a_ledger_that_was_tampered_with_is_warned_and_it_counts_as_a_failure() {
    let sandbox = proved_by(TEST);
    for args in [&["show"][..], &["show", "--json"], &["export"], &["export", "--format", "json"]] {
        evidence(&sandbox, args).assert_code(0).assert_stderr_lacks("ledger");
    }
    let whole = sandbox.read(LEDGER);
    tamper(&sandbox, |lines| lines[0] = lines[0].replacen("FAILED", "PASSED", 1));
    for args in [&["show"][..], &["show", "--json"], &["export"], &["export", "--format", "json"]] {
        let shown = evidence(&sandbox, args);
        shown.assert_code(1).assert_stderr_has("warning: ledger changed: line 1 ");
        shown.assert_stderr_has("ralph evidence verify");
        assert!(!shown.stdout.is_empty(), "what is there is shown all the same");
    }
    // Emptied, and gone.
    sandbox.write(LEDGER, "");
    let emptied = || {
        for args in [&["show"][..], &["show", "--json"], &["export"]] {
            let shown = evidence(&sandbox, args);
            shown.assert_code(1).assert_stderr_has("warning: ledger missing: the record of ");
            shown.assert_stderr_lacks("no evidence is recorded here yet");
        }
        evidence(&sandbox, &["show", "1"])
            .assert_code(1)
            .assert_stderr_has("records are missing from the ledger");
        let verified = evidence(&sandbox, &["verify"]);
        verified.assert_code(1).assert_stderr_lacks("no evidence is recorded here yet");
    };
    emptied();
    fs::remove_file(sandbox.project().join(LEDGER)).expect("remove the ledger");
    emptied();
    sandbox.write(LEDGER, whole);
    evidence(&sandbox, &["show"]).assert_code(0);
}

#[test]
fn a_ledger_of_refused_attempts_alone_is_no_success() {
    let sandbox = planned();
    work(&sandbox, [claims(Steps::new().write("red", "1\n"))], TEST).arg("--once").run().assert_code(3);
    let verified = evidence(&sandbox, &["verify"]);
    verified.assert_code(3).assert_stdout_has("nothing is proved yet, so there is nothing to verify: 0 held");
    verified.assert_stdout_has("1 not proved");
}

#[track_caller]
fn assert_no_checkout_left(sandbox: &Sandbox) {
    let left = fs::read_dir(sandbox.root().join("tmp")).expect("a folder").flatten();
    let left: Vec<_> = left.map(|entry| entry.file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().starts_with("ralph-verify")), "{left:?}");
}

#[test]
fn what_was_claimed_measured_and_proved_is_shown_and_exported() {
    let sandbox = proved_by(TEST);
    let shown = evidence(&sandbox, &["show"]);
    shown
        .assert_code(0)
        .assert_stdout_has("make it green: FAILED in #1")
        .assert_stdout_has("exit 1 (is_green)")
        .assert_stdout_has("make it green: PASSED in #2")
        .assert_stdout_has("claimed   done: TASKS_COMPLETED_THIS_LOOP: 1")
        .assert_stdout_has("write the notes: PASSED by checks that were green already in #3");
    let document = evidence(&sandbox, &["show", "--json"]).json();
    Schema::published("ralph.evidence/1").assert(&document);
    assert_eq!(document["records"], json!(records(&sandbox)), "as they stand in the ledger");
    let kinds: Vec<&Value> =
        document["records"].as_array().expect("a list").iter().map(|record| &record["type"]).collect();
    assert_eq!(kinds, ["attempt", "attempt", "commit", "attempt", "commit"]);

    let (proved, commit) = (&document["records"][1], &document["records"][2]);
    let trailer = |key: &str| {
        sandbox.git(&["log", "-1", &format!("--format=%(trailers:key={key},valueonly)"), "HEAD~1"])
    };
    assert_eq!(trailer("Ralph-Evidence").trim(), proved["digest"]);
    assert_eq!(trailer("Ralph-Iteration").trim(), proved["attempt"]);
    assert_eq!(commit["commit"], sandbox.git(&["rev-parse", "HEAD~1"]));
    assert_eq!(proved["checks"][0]["argv"], json!(["sh", "-c", TEST]));
    assert!(proved["checks"][0]["output_digest"].is_string());
    let message = sandbox.git(&["log", "-1", "--format=%B", "HEAD~1"]);
    assert!(message.starts_with("feat: ") && message.contains("Verification:\n- "), "{message}");

    let item = proved["item"].as_str().expect("an id");
    for (what, count) in [(item, 2), ("3", 1), (proved["attempt"].as_str().expect("an id"), 1)] {
        let shown = evidence(&sandbox, &["show", what]);
        assert_eq!(shown.stdout.matches("\n  record ").count(), count, "{what}\n{shown}");
    }
    evidence(&sandbox, &["show", "NONE"])
        .assert_code(64)
        .assert_stderr_has("no evidence is recorded of 'NONE'");

    let exported = evidence(&sandbox, &["export", "--item", item]);
    exported
        .assert_code(0)
        .assert_stdout_has("make it green: PASSED")
        .assert_stdout_has("| check | command |");
    exported.assert_stdout_has(&format!("`{}`", commit["commit"].as_str().expect("a commit")));
    exported.assert_stdout_has(document["ledger"]["head"].as_str().expect("a head"));
    assert!(!exported.stdout.contains("write the notes"), "{exported}");
    let json = evidence(&sandbox, &["export", "--format", "json"]).json();
    Schema::published("ralph.evidence/1").assert(&json);
    assert_eq!(json, document);
}

#[test]
fn what_was_proved_holds_in_a_clean_checkout_and_nothing_of_the_user_s_is_touched() {
    let sandbox = proved_by(TEST);
    sandbox.write("README.md", "# edited\n");
    sandbox.write("untracked.txt", "mine\n");
    sandbox.git(&["rm", "-q", "green"]);
    let (before, inside) = (sandbox.user_git_state(), files(&sandbox.project().join(".git")));
    let told = evidence(&sandbox, &["verify"]);
    told.assert_code(0)
        .assert_stdout_has("ledger: 5 records in an unbroken chain")
        .assert_stdout_has(
            "2 held (1 by checks that were green already), 0 failed, 0 could not run, 1 not proved",
        )
        .assert_stderr_has("in a clean checkout of its commit:");
    let document = verify(&sandbox, 0, &[]);
    assert_eq!(document["result"], "holds");
    assert_eq!(verdicts(&document), ["not_proved", "holds", "holds"]);
    assert_eq!(document["attempts"][1]["checks"][0]["now"], "exit 0");
    before.assert_same(&sandbox.user_git_state());
    assert!(inside == files(&sandbox.project().join(".git")), "the git directory is as it was");
    assert_no_checkout_left(&sandbox);
    sandbox.assert_no_processes();
}

#[test]
fn a_goal_that_was_reached_and_committed_has_evidence_too() {
    let sandbox = repository();
    let done = || Steps::new().write("green", "1\n").status(&StatusBlock::done());
    let agent = FakeAgent::new("agent").call(done()).install(&sandbox);
    let run = ralph(&sandbox).args(["run", GOAL, "--yes", "--commit", "--test-cmd", TEST, "--agent-cmd"]);
    run.arg(agent.path()).run().assert_code(0);
    evidence(&sandbox, &["show"])
        .assert_stdout_has("goal: make it green: PASSED")
        .assert_stdout_has("1 file changed in all, nothing in #2, by agent")
        .assert_stdout_has("exit 0;");
    evidence(&sandbox, &["export"]).assert_stdout_has("1 file changed in all");
    Schema::published("ralph.evidence/1").assert(&evidence(&sandbox, &["show", "--json"]).json());
    let document = verify(&sandbox, 0, &[]);
    assert_eq!((&document["attempts"][0]["item"], verdicts(&document)), (&Value::Null, vec!["holds"]));
}

#[test]
fn a_goal_that_was_not_committed_says_where_its_proof_is_told() {
    let sandbox = repository();
    let done = || Steps::new().write("green", "1\n").status(&StatusBlock::done());
    let agent = FakeAgent::new("agent").call(done()).install(&sandbox);
    let run = ralph(&sandbox).args(["run", GOAL, "--yes", "--test-cmd", TEST, "--agent-cmd"]);
    run.arg(agent.path()).run().assert_code(0);
    for (word, code) in [("show", 0), ("verify", 3)] {
        let told = evidence(&sandbox, &[word]);
        told.assert_code(code).assert_stderr_has("ralph run --commit").assert_stderr_has("ralph history");
    }
}

#[test]
fn a_goal_for_which_nothing_was_changed_has_no_commit_and_that_is_said() {
    let sandbox = repository();
    sandbox.write("green", "");
    sandbox.commit_all("green");
    let agent = FakeAgent::new("agent").call(Steps::new().status(&StatusBlock::done())).install(&sandbox);
    let run = ralph(&sandbox).args(["run", GOAL, "--yes", "--commit", "--test-cmd", TEST, "--agent-cmd"]);
    let finished = run.arg(agent.path()).args(["--reviews", "0"]).run();
    finished.assert_code(0).assert_stderr_has("[ralph] commits: none, for nothing was changed");
    for (word, code) in [("show", 0), ("verify", 3)] {
        let told = evidence(&sandbox, &[word]);
        told.assert_code(code).assert_stderr_has("the last run made none, for nothing was changed");
        told.assert_stderr_has("ralph history").assert_stderr_lacks("ralph run --commit");
    }
}

#[test]
fn records_that_were_changed_removed_or_moved_are_found_and_named() {
    let sandbox = proved_by(TEST);
    let whole = sandbox.read(LEDGER);
    type Case = (fn(&mut Vec<String>), &'static [(&'static str, Option<u64>)]);
    let cases: [Case; 8] = [
        (|lines| lines[1] = lines[1].replace("PASSED", "FAILED"), &[("changed", Some(2))]),
        (|lines| lines[3] = "{\"seq\":".into(), &[("unreadable", Some(4)), ("missing", None)]),
        (|lines| drop(lines.remove(0)), &[("removed", Some(1)), ("missing", None)]),
        (|lines| lines.swap(0, 1), &[("moved", Some(1)), ("moved", Some(2))]),
        (|lines| lines.truncate(3), &[("missing", None)]),
        (|lines| lines.truncate(4), &[("missing", None)]),
        (|lines| lines.truncate(2), &[("missing", None), ("missing", None)]),
        (Vec::clear, &[("missing", None), ("missing", None), ("missing", None)]),
    ];
    for (nth, (change, expected)) in cases.into_iter().enumerate() {
        sandbox.write(LEDGER, &whole);
        tamper(&sandbox, change);
        let document = verify(&sandbox, 1, &["--no-run"]);
        assert_eq!(faults(&document), expected, "case {nth}: {document:#}");
        assert_eq!((&document["result"], &document["ledger"]["intact"]), (&json!("fails"), &json!(false)));
    }
    sandbox.write(LEDGER, &whole);
    tamper(&sandbox, |lines| lines.truncate(3));
    let head = sandbox.git(&["rev-parse", "HEAD"]);
    evidence(&sandbox, &["verify", "--no-run"])
        .assert_code(1)
        .assert_stdout_has(&format!("is gone, and commit {} names it", &head[..12]));
    sandbox.write(LEDGER, &whole);
    verify(&sandbox, 0, &["--no-run"]);
}

/// Two runs, of one item each.
fn two_runs() -> Sandbox {
    let sandbox = planned();
    let [_, second, third] = calls();
    let agent = FakeAgent::new("agent").call(second).call(third).install(&sandbox);
    with(&sandbox, &agent, TEST).arg("--once").run().assert_code(0);
    with(&sandbox, &agent, TEST).arg("--once").run().assert_code(0);
    sandbox
}

#[test]
fn a_whole_run_that_was_cut_out_with_its_journal_is_missed_by_the_commit() {
    let sandbox = two_runs();
    let first = records(&sandbox)[0]["digest"].as_str().expect("a digest").to_owned();
    let trailer = |commit: &str| {
        sandbox
            .git(&["log", "-1", "--format=%(trailers:key=Ralph-Ledger,valueonly)", commit])
            .trim()
            .to_owned()
    };
    assert_eq!((trailer("HEAD"), trailer("HEAD~1")), (first.clone(), first), "each commit names the ledger");
    verify(&sandbox, 0, &["--no-run"]);
    tamper(&sandbox, |lines| lines.truncate(2));
    fs::remove_dir_all(sandbox.project().join(".git/ralph/runs/0002")).expect("removed");
    let document = verify(&sandbox, 1, &["--no-run"]);
    assert_eq!((faults(&document), verdicts(&document)), (vec![("missing", None)], vec!["holds"]));
    assert_eq!(document["recorded_elsewhere"], 0);
}

#[test]
fn a_record_that_neither_a_journal_nor_a_commit_names_is_never_run() {
    let sandbox = planned();
    let ran = sandbox.root().join("ran");
    let test = format!("test -e green && echo x >>{}", ran.display());
    work(&sandbox, calls(), &test).run().assert_code(0);
    let times = || fs::read_to_string(&ran).unwrap_or_default().lines().count();
    let before = times();
    sandbox.git(&["reset", "-q", "--hard", "HEAD~2"]);
    fs::remove_dir_all(sandbox.project().join(".git/ralph/runs")).expect("removed");
    let document = verify(&sandbox, 1, &[]);
    let unnamed = |line: u64| ("unnamed", Some(line));
    assert_eq!(faults(&document), [unnamed(1), unnamed(2), unnamed(4)]);
    assert_eq!(verdicts(&document), ["not_proved", "could_not_run", "could_not_run"]);
    assert_eq!(times(), before, "nothing was run");
}

#[test]
fn a_commit_that_names_other_evidence_fails_and_one_on_no_branch_is_remarked() {
    let sandbox = two_runs();
    let (first, last) = (sandbox.git(&["rev-parse", "HEAD~1"]), sandbox.git(&["rev-parse", "HEAD"]));
    sandbox.git(&["replace", &last, &first]);
    let document = verify(&sandbox, 1, &["--no-run"]);
    assert_eq!(verdicts(&document), ["holds", "fails"], "{document:#}");
    let why = document["attempts"][1]["why"].as_str().expect("why");
    assert!(why.ends_with("names other evidence than this record"), "{why}");
    sandbox.git(&["replace", "-d", &last]);

    sandbox.git(&["reset", "-q", "--hard", "HEAD~1"]);
    let document = verify(&sandbox, 0, &["--no-run"]);
    assert_eq!(
        (verdicts(&document), &document["attempts"][0]["remarks"]),
        (vec!["holds", "holds"], &json!([]))
    );
    let note = format!("commit {} is on no branch any more", &last[..12]);
    assert_eq!(document["attempts"][1]["remarks"], json!([note]));
    sandbox.git(&["commit", "-q", "--allow-empty", "-m", "in between"]);
    sandbox.git(&["cherry-pick", &last]);
    let head = sandbox.git(&["rev-parse", "HEAD"]);
    evidence(&sandbox, &["verify", "--no-run"])
        .assert_code(0)
        .assert_stdout_has(&format!("{note}; commit {} names the same evidence", &head[..12]))
        .assert_stdout_has("✓ as recorded, not run again: ")
        .assert_stdout_has("the records and their commits are as they were, and no check was run: 2 held");
}

#[test]
fn a_rewritten_commit_that_names_the_evidence_of_other_files_fails() {
    let sandbox = two_runs();
    let work = sandbox.git(&["diff", "--name-only", "HEAD~1", "HEAD"]);
    let file = work.lines().find(|name| name.ends_with(".txt")).expect("the work").to_owned();
    // Other words, or another file beside it: the files that were proved are the same.
    sandbox.write("beside.txt", "mine");
    sandbox.git(&["add", "beside.txt"]);
    sandbox.git(&["commit", "-q", "--amend", "--no-edit"]);
    evidence(&sandbox, &["verify"]).assert_code(0).assert_stdout_has("all that passed holds: 2 held");
    for rewrite in [&["add", "-A"][..], &["rm", "-q", "--cached", &file]] {
        sandbox.write(&file, "something else");
        sandbox.git(rewrite);
        sandbox.git(&["commit", "-q", "--amend", "--no-edit"]);
        let head = sandbox.git(&["rev-parse", "HEAD"]);
        let why = format!(
            "commit {} names this evidence and holds other files than were proved: {file}; ",
            &head[..12]
        );
        for args in [&["--no-run"][..], &[]] {
            let document = verify(&sandbox, 1, args);
            assert_eq!(verdicts(&document), ["holds", "fails"], "{document:#}");
            assert!(
                document["attempts"][1]["why"].as_str().is_some_and(|text| text.starts_with(&why)),
                "{document:#}"
            );
        }
    }
    // Also where nobody has the commit itself any more.
    sandbox.git(&["reflog", "expire", "--expire=now", "--all"]);
    sandbox.git(&["gc", "-q", "--prune=now"]);
    sandbox.git(&["add", &file]);
    sandbox.git(&["commit", "-q", "--amend", "--no-edit"]);
    let document = verify(&sandbox, 1, &["--no-run"]);
    assert_eq!(verdicts(&document), ["holds", "fails"], "{document:#}");
}

#[test]
fn a_commit_that_names_the_evidence_of_other_files_fails_though_a_tag_or_branch_keeps_the_old_one() {
    for keep in ["tag", "branch"] {
        let sandbox = two_runs();
        sandbox.git(&[keep, "keep"]);
        sandbox.write("notes.txt", "something else");
        sandbox.git(&["commit", "-q", "-a", "--amend", "--no-edit"]);
        let document = verify(&sandbox, 1, &["--no-run"]);
        assert_eq!(verdicts(&document), ["holds", "fails"], "{keep}: {document:#}");
        let why = document["attempts"][1]["why"].as_str().expect("why");
        assert!(
            why.contains("names this evidence and holds other files than were proved: notes.txt"),
            "{why}"
        );
        // Whoever has the old one checked out has what was proved, and is told of the other.
        sandbox.git(&["checkout", "-q", "keep"]);
        let document = verify(&sandbox, 0, &["--no-run"]);
        let remarks = document["attempts"][1]["remarks"].to_string();
        assert!(remarks.contains("of another branch names this evidence and holds other files"), "{remarks}");
    }
}

#[test]
fn of_a_squash_that_names_two_proofs_only_what_the_later_one_changed_may_differ_from_the_earlier() {
    let squash = |sandbox: &Sandbox| {
        let messages = sandbox.git(&["log", "--reverse", "--format=%B", "HEAD~2.."]);
        sandbox.git(&["reset", "-q", "--soft", "HEAD~2"]);
        sandbox.git(&["commit", "-q", "-m", &messages]);
        let trailers = sandbox.git(&["log", "-1", "--format=%B"]);
        assert_eq!(trailers.matches("Ralph-Evidence: ").count(), 2, "{trailers}");
    };
    for (file, expected) in [("green", ["fails", "holds"]), ("notes.txt", ["holds", "fails"])] {
        let sandbox = two_runs();
        sandbox.write(file, "something else");
        sandbox.git(&["add", file]);
        squash(&sandbox);
        let document = verify(&sandbox, 1, &["--no-run"]);
        assert_eq!(verdicts(&document), expected, "{document:#}");
    }
    // The second one goes on with the file of the first.
    let sandbox = planned();
    let agent = FakeAgent::new("agent")
        .call(claims(Steps::new().write("green", "1\n")))
        .call(claims(Steps::new().append("green", "2\n")))
        .install(&sandbox);
    with(&sandbox, &agent, TEST).arg("--once").run().assert_code(0);
    with(&sandbox, &agent, TEST).arg("--once").run().assert_code(0);
    squash(&sandbox);
    let document = verify(&sandbox, 0, &["--no-run"]);
    assert_eq!(verdicts(&document), ["holds", "holds"], "{document:#}");
    let remarks = document["attempts"][0]["remarks"].to_string();
    assert!(
        remarks.contains("names the evidence of later work too, which changed files of this one: green"),
        "{remarks}"
    );
}

#[test]
fn each_attempt_in_a_squashed_commit_costs_as_many_git_calls_as_the_one_before() {
    let sandbox = repository();
    sandbox.write("IMPLEMENTATION_PLAN.md", "# Plan\n\n- [ ] one\n- [ ] two\n- [ ] three\n- [ ] four\n");
    sandbox.commit_all("plan");
    let call = |block: &StatusBlock| Steps::new().append("green", "1\n").status(block);
    let more = call(&StatusBlock::in_progress());
    let calls = [more.clone(), more.clone(), more, call(&StatusBlock::done())];
    work(&sandbox, calls, TEST).run().assert_code(0);
    let tip = sandbox.git(&["rev-parse", "HEAD"]);
    let calls = [2, 3, 4].map(|squashed: usize| {
        sandbox.git(&["reset", "-q", "--soft", tip.trim()]);
        let messages = sandbox.git(&["log", "--reverse", "--format=%B", &format!("HEAD~{squashed}..")]);
        sandbox.git(&["reset", "-q", "--soft", &format!("HEAD~{squashed}")]);
        sandbox.git(&["commit", "-q", "-m", &messages]);
        let points = sandbox.root().join(format!("tmp/points-{squashed}"));
        let verified = ralph(&sandbox).args(["evidence", "verify", "--no-run", "--json"]);
        let verified = verified.env("RALPH_CRASH_POINTS", &points).run();
        assert_eq!(verdicts(&verified.assert_code(0).json()), ["holds"; 4]);
        let remarks = verified.stdout.matches("names the evidence of later work too").count();
        assert_eq!(remarks, squashed - 1, "{verified}");
        sandbox.read(&points).lines().filter(|line| line.starts_with("start git ")).count()
    });
    assert_eq!(calls[2] - calls[1], calls[1] - calls[0], "{calls:?}");
}

#[test]
fn commands_of_a_changed_record_are_never_run() {
    let sandbox = proved_by(TEST);
    let trap = sandbox.root().join("trap");
    tamper(&sandbox, |lines| {
        let mut record: Value = serde_json::from_str(&lines[3]).expect("JSON");
        record["checks"][0]["argv"][2] = json!(format!("touch {}", trap.display()));
        lines[3] = record.to_string();
    });
    let document = verify(&sandbox, 1, &[]);
    assert_eq!(verdicts(&document), ["not_proved", "holds", "could_not_run"]);
    assert!(!trap.exists());
}

#[test]
fn a_check_that_needs_what_is_not_committed_fails() {
    let sandbox = planned();
    sandbox.write(".git/info/exclude", "local.txt\n");
    sandbox.write("local.txt", "only here\n");
    let test = "if test -e local.txt; then test -e green; else echo 'not ok 1 - is_local'; exit 1; fi";
    work(&sandbox, calls(), test).run().assert_code(0);
    let document = verify(&sandbox, 1, &["3"]);
    assert_eq!((verdicts(&document), faults(&document)), (vec!["fails"], vec![]));
    let check = &document["attempts"][0]["checks"][0];
    assert_eq!((&check["now"], &check["recorded"]), (&json!("exit 1"), &json!("exit 0")));
    assert_eq!(check["failing"], json!(["is_local"]));
    evidence(&sandbox, &["verify"]).assert_code(1).assert_stderr_has("| not ok 1 - is_local");
    // A file that is only not added yet is named.
    let sandbox = planned();
    sandbox.write("local.txt", "only here\n");
    work(&sandbox, calls(), test).run().assert_code(0);
    let document = verify(&sandbox, 1, &["3"]);
    let told = "files that git does not track were there when it was proved: local.txt";
    assert_eq!(document["attempts"][0]["remarks"], json!([told]));
}

#[test]
fn what_cannot_be_run_is_told_apart_from_what_fails() {
    let sandbox = planned();
    let tool = sandbox.install_script("tool", "#!/bin/sh\ntest -e green\n");
    work(&sandbox, calls(), "tool").run().assert_code(0);
    verify(&sandbox, 0, &[]);
    fs::remove_file(tool).expect("removed");
    let document = verify(&sandbox, 3, &[]);
    assert_eq!(document["result"], "could_not_run");
    assert!(
        document["attempts"][1]["why"].as_str().expect("why").contains("a tool that it needs is not here")
    );
    sandbox.git(&["reset", "-q", "--hard", "HEAD~2"]);
    sandbox.git(&["reflog", "expire", "--expire=now", "--all"]);
    sandbox.git(&["gc", "-q", "--prune=now"]);
    let document = verify(&sandbox, 3, &["--no-run"]);
    assert_eq!(verdicts(&document), ["not_proved", "could_not_run", "could_not_run"]);
    assert!(document["attempts"][1]["why"].as_str().expect("why").contains("is gone"), "{document:#}");
}

#[test]
fn what_was_not_committed_cannot_be_run_again() {
    let sandbox = planned();
    work(&sandbox, calls(), TEST).args(["--set", "commits=never"]).run().assert_code(0);
    let document = verify(&sandbox, 3, &[]);
    assert_eq!(verdicts(&document), ["not_proved", "could_not_run", "could_not_run"]);
    assert!(document["attempts"][1]["why"].as_str().expect("why").contains("not committed"));
}

/// Hangs once the file is there.
fn slow(sandbox: &Sandbox) -> (String, PathBuf) {
    let file = sandbox.root().join("slow");
    (format!("test -e green || exit 1; if test -e {}; then sleep 1000; fi", file.display()), file)
}

#[test]
fn a_check_that_takes_too_long_could_not_run_and_leaves_nothing_running() {
    let sandbox = planned();
    let (test, file) = slow(&sandbox);
    work(&sandbox, calls(), &test).run().assert_code(0);
    fs::write(file, "").expect("written");
    let document = verify(&sandbox, 3, &["3", "--timeout", "100ms"]);
    assert_eq!(document["attempts"][0]["checks"][0]["now"], "timed out");
    sandbox.assert_no_processes();
    assert_no_checkout_left(&sandbox);
}

#[test]
fn ctrl_c_ends_the_check_and_removes_the_checkout() {
    let sandbox = planned();
    let (test, file) = slow(&sandbox);
    work(&sandbox, calls(), &test).run().assert_code(0);
    fs::write(file, "").expect("written");
    let running = ralph(&sandbox).args(["evidence", "verify"]).spawn();
    running.wait_for_stderr("  test: ");
    running.signal(Signal::INT);
    running.wait().assert_code(130).assert_stderr_has("its checkout is removed");
    sandbox.assert_no_processes();
    assert_no_checkout_left(&sandbox);
}

#[test]
fn a_commit_whose_hook_rewrote_the_work_is_not_what_was_proved() {
    let sandbox = planned();
    let hook = sandbox.install_script("hook", "#!/bin/sh\necho rewritten >green\ngit add green\n");
    fs::copy(hook, sandbox.project().join(".git/hooks/pre-commit")).expect("installed");
    let call = Steps::new().write("green", "1\n").status(&StatusBlock::done());
    work(&sandbox, [call], TEST).args(["--once"]).run().assert_code(0);
    let document = verify(&sandbox, 1, &[]);
    assert_eq!((verdicts(&document), faults(&document)), (vec!["fails"], vec![]));
    let why = document["attempts"][0]["why"].as_str().expect("why");
    assert!(why.contains("other files than were proved: green"), "{why}");
}

#[test]
fn commits_of_somebody_else_are_not_held_against_the_ledger_and_nothing_is_no_success() {
    let sandbox = proved_by(TEST);
    sandbox.git(&["clone", "-q", ".", "../clone"]);
    let clone = |args: &[&str]| ralph(&sandbox).in_folder("../clone").arg("evidence").args(args).run();
    clone(&["verify"])
        .assert_code(3)
        .assert_stdout_has("there is nothing to verify")
        .assert_stderr_has("2 commits name evidence that was recorded elsewhere");
    let document = clone(&["verify", "--json"]).json();
    assert_eq!((&document["recorded_elsewhere"], faults(&document)), (&json!(2), vec![]));
    clone(&["show"]).assert_code(0).assert_stderr_has("no evidence is recorded here yet");
}

#[test]
fn a_run_that_finds_the_end_of_the_ledger_broken_says_so_and_goes_on() {
    let sandbox = planned();
    let agent = calls().into_iter().fold(FakeAgent::new("agent"), FakeAgent::call).install(&sandbox);
    with(&sandbox, &agent, TEST).args(["--max-iterations", "1"]).run().assert_code(3);
    // While no run goes on, nobody looks.
    sandbox.write(LEDGER, sandbox.read(LEDGER).replace("FAILED", "PASSED"));
    ralph(&sandbox)
        .args(["run", "--max-iterations", "8"])
        .run()
        .assert_code(0)
        .assert_stderr_has("the last record of the evidence ledger is not what was recorded");
    let kinds: Vec<Value> = records(&sandbox).iter().map(|record| record["type"].clone()).collect();
    assert_eq!(kinds, ["attempt", "break", "attempt", "commit", "attempt", "commit"]);
    Schema::published("ralph.evidence/1").assert(&evidence(&sandbox, &["show", "--json"]).json());
    let document = verify(&sandbox, 1, &[]);
    assert_eq!(faults(&document), [("changed", Some(1))]);
    assert_eq!(verdicts(&document), ["could_not_run", "holds", "holds"], "what came after is whole");
}

#[test]
fn a_ledger_that_an_agent_exchanges_for_another_is_put_back() {
    let sandbox = planned();
    let [first, _, third] = calls();
    let second = Steps::new().shell(&format!("sed -i 's/FAILED/PASSED/' {LEDGER}")).write("green", "1\n");
    work(&sandbox, [first, claims(second), third], TEST)
        .run()
        .assert_code(0)
        .assert_stderr_has(".git/ralph/evidence.jsonl: put back");
    let kinds: Vec<Value> = records(&sandbox).iter().map(|record| record["type"].clone()).collect();
    assert_eq!(kinds, ["attempt", "attempt", "commit", "attempt", "commit"]);
    assert_eq!(faults(&verify(&sandbox, 0, &[])), []);
}

#[test]
fn records_hold_no_secrets_and_say_what_that_costs() {
    let sandbox = planned();
    let secret = "hunter2-correct-horse-battery";
    let test = format!("test -e green && test {secret} = \"$DEPLOY_TOKEN\"");
    work(&sandbox, calls(), &test).env("DEPLOY_TOKEN", secret).run().assert_code(0);
    assert!(!sandbox.read(LEDGER).contains(secret));
    assert!(sandbox.read(LEDGER).contains("[redacted:DEPLOY_TOKEN]"));
    let document = verify(&sandbox, 3, &["3"]);
    assert_eq!(document["attempts"][0]["why"], "test holds a secret, which is not recorded");
}

#[test]
fn what_an_item_is_judged_by_is_in_its_record() {
    let sandbox = planned();
    sandbox.write("tests/green_test.sh", "test -e green\n");
    sandbox.commit_all("a test");
    let weaker = Steps::new().write("tests/green_test.sh", "true\n").write("green", "1\n");
    let criteria = Steps::new()
        .write("green", "1\n")
        .shell("sed -i 's/make it green/make it red/' IMPLEMENTATION_PLAN.md");
    work(&sandbox, [claims(weaker)], "sh tests/green_test.sh").args(["--once"]).run().assert_code(0);
    let record = &records(&sandbox)[0];
    assert_eq!(record["custody"]["existing_tests_changed"], json!(["tests/green_test.sh"]));
    assert_eq!(record["result"], "PASSED", "flagged, not refused");
    evidence(&sandbox, &["show"])
        .assert_stdout_has("existing tests were changed or deleted (flagged): tests/green_test.sh");
    evidence(&sandbox, &["verify"])
        .assert_stdout_has("note: existing tests were changed or deleted (flagged): tests/green_test.sh")
        .assert_stdout_has("1 held (1 flagged)");

    let sandbox = planned();
    work(&sandbox, [claims(criteria)], TEST).args(["--once"]).run().assert_code(3);
    let record = &records(&sandbox)[0];
    assert_eq!((&record["result"], &record["custody"]["criteria_changed"]), (&json!("FAILED"), &json!(true)));
    evidence(&sandbox, &["show"]).assert_stdout_has("criteria or commands were changed (refuses)");
}

#[test]
fn every_field_of_a_record_says_what_was_measured() {
    let sandbox = planned();
    let head = sandbox.git(&["rev-parse", "HEAD"]);
    let says = |steps: Steps, block: &StatusBlock| {
        let result = ClaudeResult::success(block.to_string()).usage(100, 20).cost_usd(0.05);
        steps.claude_init().claude_result(result)
    };
    let [_, _, third] = calls();
    let first = says(Steps::new().write("red", "1\n"), &StatusBlock::in_progress());
    let second = says(Steps::new().write("green", "1\n"), &StatusBlock::in_progress());
    work(&sandbox, [first, second, third], TEST).run().assert_code(0);
    let records = records(&sandbox);
    let (refused, proved) = (&records[0], &records[1]);
    for (record, output, exit, failing, number) in [
        (refused, "not ok 1 - is_green\n", 1, json!(["is_green"]), 1),
        (proved, "ok 1 - is_green\n", 0, json!([]), 2),
    ] {
        let check = &record["checks"][0];
        assert_eq!((&check["name"], &check["argv"]), (&json!("test"), &json!(["sh", "-c", TEST])));
        assert_eq!((&check["exit"], &check["end"]), (&json!(exit), &json!(format!("exit {exit}"))));
        assert_eq!(check["failing"], failing);
        assert!(check["duration_ms"].as_u64().is_some_and(|took| took < 60_000), "{check}");
        let digest = blake3::hash(output.as_bytes()).to_hex().to_string();
        assert_eq!(check["output_digest"], digest, "of what it printed");
        assert_eq!((&record["iteration"], &record["agent"]), (&json!(number), &json!("agent")));
        assert_eq!((&record["tokens"], &record["cost_micro_usd"]), (&json!(120), &json!(50_000)));
        assert_eq!(record["attempt"], json!(format!("{}/{number}", record["run"].as_str().expect("a run"))));
        assert_eq!((&record["title"], &record["base"]["head"]), (&json!("make it green"), &json!(head)));
        assert_eq!(record["criteria"], refused["criteria"], "they stayed as they were");
        assert!(record["criteria"].as_str().is_some_and(|digest| digest.len() > 8), "{record}");
        assert_ne!(record["base"]["tree"], record["tree"]);
    }
    assert_eq!(proved["base"]["tree"].as_str().map(str::len), Some(40));
    // The second item began where the first one ended.
    assert_eq!(records[3]["base"]["head"], records[2]["commit"]);
}

const HARNESS: &str = ".claude/harness/feature_list.json";

fn harness() -> Sandbox {
    let sandbox = repository();
    let item = json!({"id": "FEAT-1", "title": "Store", "acceptance_criteria": ["kept"], "verification": ["test -e green"],
        "status": "FAILING", "priority": 1, "dependencies": [], "attempts": [],
        "ralph_loop": {"enabled": true, "max_iterations": 5, "current_iteration": 0}});
    sandbox.write(HARNESS, serde_json::to_string_pretty(&json!({"items": [item]})).expect("JSON") + "\n");
    sandbox.write(".claude/harness/rules.md", "be good\n");
    sandbox.commit_all("harness");
    sandbox
}

fn worker(sandbox: &Sandbox, name: &str, steps: Steps) -> Finished {
    let agent = FakeAgent::new(name).call(claims(steps)).install(sandbox);
    let run =
        ralph(sandbox).args(["run", "--yes", "--profile", "worker", "--harness-dir", ".claude/harness"]);
    run.arg("--agent-cmd").arg(agent.path()).run()
}

#[test]
fn an_item_s_own_commands_its_harness_and_its_attempt_agree_with_the_ledger() {
    let sandbox = harness();
    worker(
        &sandbox,
        "lazy",
        Steps::new().write("green", "1\n").write(".claude/harness/rules.md", "be lazy\n"),
    )
    .assert_code(3);
    let refused = &records(&sandbox)[0];
    assert_eq!(
        (&refused["result"], &refused["custody"]["changed"]),
        (&json!("FAILED"), &json!([".claude/harness/rules.md"]))
    );
    sandbox.git(&["checkout", "-q", ".claude/harness/rules.md"]);

    worker(&sandbox, "honest", Steps::new().write("green", "1\n")).assert_code(0);
    let records = records(&sandbox);
    let (proved, commit) = (&records[1], &records[2]);
    assert_eq!(proved["checks"][0]["argv"], json!(["sh", "-c", "test -e green"]));
    let file: Value = serde_json::from_str(&sandbox.read(HARNESS)).expect("JSON");
    let attempt = &file["items"][0]["attempts"][1];
    assert_eq!((&attempt["commit"], &attempt["run_id"]), (&commit["commit"], &proved["attempt"]));
    assert_eq!(commit["commit"], sandbox.git(&["rev-parse", "HEAD"]));
    assert_eq!(verdicts(&verify(&sandbox, 0, &["FEAT-1"])), ["not_proved", "holds"]);
}
