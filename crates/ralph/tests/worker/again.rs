//! One attempt after the other: what the user is told to type, and what the next agent is told.

use ralph_testkit::{Sandbox, Schema};

use crate::common::{ralph, repository};
use crate::stage::{
    another, checklist, claims, turns_green, two_items, worker, works_through, writer, writes,
};

/// Where the words after `what` can be typed.
#[track_caller]
fn told(text: &str, what: &str) -> String {
    let found = text.lines().find_map(|line| line.split_once(what));
    found.unwrap_or_else(|| panic!("'{what}' is not told:\n{text}")).1.trim().to_owned()
}

/// A plan that is found only by its name, which a shell would take apart.
fn hidden_plan() -> Sandbox {
    let sandbox = repository();
    sandbox.write(
        "my plan.md",
        "- [ ] make the file\n\n## Validation Commands\n\n```sh\ntest \\\n  -e made.txt\n```\n",
    );
    sandbox.commit_all("plan");
    sandbox
}

/// Types a command as a shell takes it.
fn typed(sandbox: &Sandbox, line: &str) -> String {
    let ralph = line.replacen("ralph", env!("CARGO_BIN_EXE_ralph"), 1);
    let output = sandbox.command("sh").args(["-c", &ralph]).output().expect("start sh");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    format!("{}{}", text(&output.stdout), text(&output.stderr))
}

#[test]
fn the_next_attempt_is_begun_as_the_last_one_and_its_agent_is_told_why_that_failed() {
    let sandbox = hidden_plan();
    let agent = writer(&sandbox, &["wrong.txt", "wrong.txt", "made.txt"]);
    let first = turns_green(&sandbox, &agent).args(["--once", "--backlog", "my plan.md"]).run();
    first.assert_code(3);
    let again = told(&first.stderr, "the next attempt: ");
    assert!(again.contains(" --once --backlog 'my plan.md'"), "{again}");
    let status = ralph(&sandbox).arg("status").run().stdout;
    let own = format!(" --agent-cmd {}", agent.path().display());
    assert_eq!(told(&status, "the next attempt: "), format!("ralph run --backlog 'my plan.md' --once{own}"));
    let second = typed(&sandbox, &again);
    assert!(second.contains("ITEM NOT PROVED"), "{second}");
    let third = typed(&sandbox, &told(&second, "the next attempt: "));
    assert!(third.contains("ITEM PASSED"), "{third}");
    let prompts = agent.calls(&sandbox);
    let why = "The last attempt failed: ";
    assert!(!prompts[0].prompt.contains(why), "{}", prompts[0].prompt);
    for call in &prompts[1..] {
        let line = told(&call.prompt, why);
        assert!(line.contains("-e made.txt exit 1"), "{line}");
    }
}

#[test]
fn the_next_attempt_of_a_run_that_was_continued_has_the_checks_that_were_named() {
    let named = ["--test-cmd", "test -e 'the file'"];
    let check = r"--test-cmd 'test -e '\''the file'\'''";
    // The check is the run's, whether it is named once more or not.
    for once_more in [&named[..], &[]] {
        let sandbox = checklist();
        let agent = another(&sandbox).call(claims(writes("wrong.txt"))).install(&sandbox);
        turns_green(&sandbox, &agent).args(named).args(["--max-iterations", "1"]).run().assert_code(3);
        let goes_on = turns_green(&sandbox, &agent).args(["--once", "--max-iterations", "9"]);
        let goes_on = goes_on.args(once_more).run();
        goes_on.assert_code(3).assert_stderr_has("ITEM NOT PROVED");
        let again = told(&goes_on.stderr, "the next attempt: ");
        assert!(again.ends_with(check), "{again}");
        let next = typed(&sandbox, &again);
        assert!(next.contains("ITEM NOT PROVED") && next.contains("exit 1"), "{next}");
        assert!(told(&next, "the next attempt: ").ends_with(check), "{next}");
        let status = ralph(&sandbox).arg("status").run().stdout;
        assert!(told(&status, "the next attempt: ").ends_with(check), "{status}");
    }
}

#[test]
fn attempts_are_counted_from_run_to_run_also_where_nothing_limits_them() {
    let sandbox = checklist();
    let agent = another(&sandbox).call(claims(writes("wrong.txt"))).install(&sandbox);
    let once = || turns_green(&sandbox, &agent).args(["--once", "--test-cmd", "test -e right.txt"]).run();
    for attempt in ["(attempt 1)", "(attempt 2)", "(attempt 3)"] {
        once().assert_code(3).assert_stderr_has(attempt);
    }
    let item = ralph(&sandbox).args(["history", "3"]).run();
    item.assert_stdout_has("(attempt 3)");
}

#[test]
fn a_profile_is_named_again_too() {
    let sandbox = two_items();
    let agent = writer(&sandbox, &["wrong.txt"]);
    let failed = worker(&sandbox, &agent).run();
    let again = told(&failed.stderr, "the next attempt: ");
    assert!(again.starts_with("ralph run --profile worker --yes --agent-cmd "), "{again}");
    let status = ralph(&sandbox).arg("status").run().stdout;
    let wanted = format!("ralph run --once --profile worker --agent-cmd {}", agent.path().display());
    assert_eq!(told(&status, "the next attempt: "), wanted, "the file is found by itself");
}

#[test]
fn what_an_attempt_changed_and_is_put_back_is_called_so() {
    let sandbox = two_items();
    let agent = writer(&sandbox, &["wrong.txt"]);
    let failed = worker(&sandbox, &agent).run();
    failed
        .assert_code(3)
        .assert_stderr_has("files: no changes")
        .assert_stderr_has("put back: 1 file, as before the attempt: wrong.txt (new)");
}

#[test]
fn an_item_that_had_its_attempts_is_reset_by_what_is_typed() {
    let sandbox = hidden_plan();
    let agent = writer(&sandbox, &["a.txt", "b.txt", "made.txt"]);
    let run = || {
        let limited = ["--backlog", "my plan.md", "--set", "max_iterations=1"];
        worker(&sandbox, &agent).args(limited).run()
    };
    let blocked = run();
    blocked.assert_code(2);
    let steps = told(&blocked.stderr, "to try ");
    let (_, steps) = steps.split_once(" again: ").expect("an item");
    let (reset, _) = steps.split_once("; to leave it out: ").expect("two commands");
    let then = told(&blocked.stderr, "then: ");
    assert!(reset.ends_with(" --backlog 'my plan.md'"), "{reset}");
    assert_eq!(then, "ralph run");
    assert_eq!(told(&blocked.stderr, "all items: "), "ralph backlog list --backlog 'my plan.md'");
    let next = ralph(&sandbox).args(["backlog", "next", "--backlog", "my plan.md"]).run();
    next.assert_code(1).assert_stderr_has("ralph backlog reset");
    let out = typed(&sandbox, reset);
    assert!(out.contains("attempts at it are counted anew"), "{out}");
    // Still told, for nobody has mended it.
    run();
    let told = &agent.calls(&sandbox)[1].prompt;
    assert!(told.contains("-e made.txt exit 1"), "{told}");
}

#[test]
fn a_task_that_is_done_is_said_to_be_done_with_its_proof_and_the_way_to_do_it_again() {
    let sandbox = hidden_plan();
    let agent =
        another(&sandbox).call(claims(writes("made.txt"))).call(claims(writes("more.txt"))).install(&sandbox);
    let flags = ["--once", "--backlog", "my plan.md"];
    turns_green(&sandbox, &agent).args(flags).run().assert_code(0);
    let listed = ralph(&sandbox).args(["backlog", "list", "--backlog", "my plan.md", "--json"]).run().json();
    let id = listed["items"][0]["id"].as_str().expect("an id").to_owned();
    let head = sandbox.git(&["rev-parse", "HEAD"]);
    let asked = || turns_green(&sandbox, &agent).args(["--backlog", "my plan.md", "--task", &id]);
    let over = asked().run();
    over.assert_code(0)
        .assert_stderr_has(&format!("{id} is done already: passed in #1, "))
        .assert_stderr_has(&format!("commit {}", &head[..12]))
        .assert_stderr_lacks("BACKLOG COMPLETE");
    assert_eq!(asked().arg("--once").run().code, 7, "as every call that finds nothing to do");
    asked().arg("--dry-run").run().assert_stdout_has(&format!("none: {id} is done already"));
    let json = asked().arg("--json").run();
    let event: serde_json::Value = serde_json::from_str(json.stdout.trim()).expect("one event");
    Schema::published("ralph.event/1").assert(&event);
    let steps = told(&over.stderr, "to have it done again: ");
    let (open, run) = steps.split_once(", then ").expect("two commands");
    assert!(typed(&sandbox, open).contains("is open now"));
    let again = format!("{run} --yes --agent-cmd '{}'", agent.path().display());
    typed(&sandbox, &again);
    assert_eq!(agent.calls(&sandbox).len(), 2);
}

#[test]
fn one_attempt_is_said_to_be_one_and_a_slip_is_told_before_anything_else() {
    let sandbox = checklist();
    let agent = writer(&sandbox, &["one.txt"]);
    let dry = |flags: &[&str]| works_through(&sandbox, &agent).args(flags).arg("--dry-run").run();
    let once = dry(&["--once", "--branch", "work/one"]);
    once.assert_stdout_has("one attempt at one item of fix_plan.md")
        .assert_stdout_has("limits    one attempt, ");
    once.assert_stdout_has("branch    work/one, which is begun on main");
    assert!(!once.stdout.contains("50 iterations,"), "{}", once.stdout);
    dry(&["--profile", "worker"]).assert_stdout_has("one attempt now, 5 iterations for each item in all");
    dry(&[]).assert_stdout_has("every item of fix_plan.md").assert_stdout_has("50 iterations");
    for name in ["bad name", "-x", "a..b"] {
        let refused = works_through(&sandbox, &agent).arg(format!("--branch={name}")).run();
        refused.assert_code(64).assert_stderr_has(&format!("'{name}' is no name for a branch"));
    }
    assert_eq!(agent.calls(&sandbox).len(), 0);
    let empty = Sandbox::new();
    let slip = ralph(&empty).args(["run", "--profile", "wrker", "--once"]).run();
    slip.assert_code(64)
        .assert_stderr_has("there is no profile 'wrker'")
        .assert_stderr_has("--profile worker");
    slip.assert_stderr_lacks("no backlog");
}

#[test]
fn a_folder_without_git_says_what_is_proved() {
    let sandbox = Sandbox::new();
    sandbox.write("prd.json", r#"{"userStories": [{"id": "US-1", "title": "one", "passes": false, "verification": ["test -e one.txt"]}]}"#);
    let agent = writer(&sandbox, &["one.txt"]);
    let once = works_through(&sandbox, &agent).arg("--once").run();
    once.assert_code(0).assert_stderr_has("✓ US-1 is proved; it is in your files, and not committed");
}

#[test]
fn a_task_that_is_blocked_at_its_limit_says_so_in_ralph_yml_until_it_is_reset() {
    let sandbox = repository();
    sandbox.write(
        ".ralph/ralph.yml",
        "tasks:\n  - id: t # mine\n    title: one\n    status: todo\n    verification: [test -e one.txt]\n",
    );
    let agent = writer(&sandbox, &["wrong.txt"]);
    worker(&sandbox, &agent).args(["--set", "max_iterations=1"]).run().assert_code(2);
    let file = sandbox.read(".ralph/ralph.yml");
    assert!(file.contains("status: blocked") && file.contains("- id: t # mine"), "{file}");
    assert!(file.contains("notes: Max iterations reached, human review required"), "{file}");
    ralph(&sandbox).args(["backlog", "reset", "t"]).run().assert_code(0);
    let file = sandbox.read(".ralph/ralph.yml");
    assert!(file.contains("status: todo") && !file.contains("Max iterations"), "{file}");
}

#[test]
fn the_limit_that_a_prd_names_holds_where_nobody_says_another() {
    let sandbox = repository();
    let story = r#"{"id": "US-1", "title": "one", "passes": false, "verification": ["test -e one.txt"]}"#;
    sandbox.write(
        "prd.json",
        format!(r#"{{"version": "2.0", "config": {{"max_iterations": 2}}, "userStories": [{story}]}}"#),
    );
    let agent = writer(&sandbox, &["a.txt", "b.txt", "c.txt"]);
    let dry = |flags: &[&str]| works_through(&sandbox, &agent).args(flags).arg("--dry-run").run();
    dry(&["--max-iterations", "7"]).assert_stdout_has("limits    7 iterations");
    dry(&["--profile", "worker", "--all"]).assert_stdout_has("limits    5 iterations for each item");
    let limited = works_through(&sandbox, &agent).run();
    limited.assert_code(3).assert_stderr_has("at most 2 iterations");
    assert_eq!(agent.calls(&sandbox).len(), 2);
    // A run that goes on has its own.
    works_through(&sandbox, &agent).args(["--max-iterations", "3"]).run().assert_code(3);
    assert_eq!(agent.calls(&sandbox).len(), 3);
}

#[test]
fn a_task_of_a_plan_is_worked_on_as_one_item_and_its_steps_are_ticked_when_it_is_proved() {
    let sandbox = repository();
    let plan = "# Plan\n\n### Task 1: Make two\n\nSome words.\n\n- [ ] one\n- [ ] two\n\n### Task 2: Make three\n\n- [ ] three\n";
    sandbox.write("IMPLEMENTATION_PLAN.md", plan);
    sandbox.commit_all("plan");
    let ticks = "sed -i 's/- \\[.\\] one/- [x] one/; s/- \\[.\\] two/- [x] two/' IMPLEMENTATION_PLAN.md";
    let agent = another(&sandbox)
        .call(claims(writes("one.txt").shell(ticks)))
        .call(claims(writes("two.txt")))
        .install(&sandbox);
    let once = || turns_green(&sandbox, &agent).args(["--once", "--test-cmd", "test -e two.txt"]).run();
    once().assert_code(3);
    assert_eq!(sandbox.read("IMPLEMENTATION_PLAN.md"), plan, "ticks that are not proved are taken back");
    once().assert_code(0).assert_stderr_has("Task 1: Make two");
    let proved = plan.replace("- [ ] one\n- [ ] two", "- [x] one\n- [x] two");
    assert_eq!(sandbox.read("IMPLEMENTATION_PLAN.md"), proved);
    assert_eq!(
        sandbox.git(&["log", "-1", "--format=%s"]).split_once(": ").map(|(_, title)| title),
        Some("Task 1: Make two")
    );
    let told = &agent.calls(&sandbox)[1].prompt;
    assert!(told.contains("Some words.\n\n- [ ] one\n- [ ] two"), "{told}");
}

#[test]
fn a_task_file_that_is_put_back_is_kept_where_it_is_said() {
    let sandbox = checklist();
    let bend = writes("one.txt").shell("sed -i 's/second/third/' fix_plan.md");
    let agent = another(&sandbox).call(claims(bend)).install(&sandbox);
    let run = works_through(&sandbox, &agent).args(["--once", "--test-cmd", "true"]).run();
    run.assert_code(3).assert_stderr_has("the backlog is put back as it was before the attempt");
    let kept = told(&run.stderr, "what the task file had been made into is kept: ");
    assert!(sandbox.read(&kept).contains("third thing"), "{kept}");
    assert!(sandbox.read("fix_plan.md").contains("second thing"));
}
