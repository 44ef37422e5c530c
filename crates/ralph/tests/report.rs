//! `ralph report check` and `ralph report emit`: the real binary against real repositories and real test commands.

mod common;

use common::{TEST, ralph, repository, repository_with_work_in_progress};
use ralph_testkit::{Finished, Sandbox, StatusBlock};
use serde_json::json;

fn check(sandbox: &Sandbox, text: &dyn ToString, args: &[&str]) -> Finished {
    ralph(sandbox).args(["report", "check"]).args(args).stdin(text.to_string()).run()
}

fn emit(sandbox: &Sandbox, recommendation: &str, args: &[&str]) -> Finished {
    let always = ["report", "emit", "--tasks", "1", "--work-type", "IMPLEMENTATION", "--recommendation"];
    ralph(sandbox).args(always).arg(recommendation).args(args).run()
}

fn delete(sandbox: &Sandbox, name: &str) {
    assert!(sandbox.command("rm").arg(name).status().expect("start rm").success());
}

/// The names of the violated checks, one a line.
fn names(finished: &Finished) -> Vec<&str> {
    finished.stdout.lines().map(|line| line.split_once(": ").expect("check: reason").0).collect()
}

/// What a block says after `NAME: `.
fn value<'a>(finished: &'a Finished, name: &str) -> &'a str {
    let line = |line: &'a str| line.strip_prefix(name)?.strip_prefix(": ");
    finished.stdout.lines().find_map(line).unwrap_or_else(|| panic!("no {name}\n{finished}"))
}

/// Edited, staged, untracked, deleted and committed since `first`: five files. Two more are ignored, and one is
/// only touched.
fn repository_with_five_changes() -> (Sandbox, String) {
    let sandbox = repository();
    for name in ["edited", "deleted", "touched"] {
        sandbox.write(name, "before\n");
    }
    sandbox.write(".gitignore", "*.log\n");
    let first = sandbox.commit_all("second");
    sandbox.write("committed", "new\n");
    sandbox.commit_all("third");
    sandbox.write("edited", "after\n");
    sandbox.write("staged", "staged\n");
    sandbox.git(&["add", "staged"]);
    sandbox.write("folder/untracked", "untracked\n");
    delete(&sandbox, "deleted");
    sandbox.write("touched", "before\n");
    sandbox.write("noise.log", "ignored\n");
    sandbox.write(".ralph/scratchpad.md", "ralph's own\n");
    (sandbox, first)
}

#[test]
fn a_block_that_is_right_passes_from_a_file_or_standard_input_saying_what_was_checked() {
    let sandbox = Sandbox::new();
    let block = StatusBlock::done();
    sandbox.write("out.txt", format!("{block}"));
    for args in [&[][..], &["-"], &["out.txt"]] {
        let finished = check(&sandbox, &format!("All done.\n\n{block}\n"), args);
        finished.assert_code(0);
        let said = "checked: form and consistency; \
                    not checked: tests (--test-cmd), files (--since), tasks that remain (--plan)\n";
        assert_eq!((finished.stdout.as_str(), finished.stderr.as_str()), ("", said));
    }
}

#[test]
fn the_block_in_an_agent_s_stream_is_checked_in_its_own_words() {
    let sandbox = Sandbox::new();
    let recordings = concat!(env!("CARGO_MANIFEST_DIR"), "/../ralph-testkit/recordings");
    let names_of = ["claude-work-stream.jsonl", "claude-work-json.json", "codex-work-json.jsonl"];
    for name in names_of.into_iter().chain(["opencode-work-json.jsonl", "gemini-work-stream.jsonl"]) {
        let finished = ralph(&sandbox).args(["report", "check"]).arg(format!("{recordings}/{name}")).run();
        finished.assert_code(0).assert_stderr_has("checked: form and consistency");
    }
    let said =
        |block: &str| json!({"type": "assistant", "message": {"content": [{"type": "text", "text": block}]}});
    let wrong = StatusBlock { tests: "FAILING".into(), ..StatusBlock::done() }.to_string();
    let finished = check(&sandbox, &said(&wrong), &[]);
    finished.assert_code(1);
    assert_eq!(names(&finished), ["status_consistency", "exit_signal_justified"]);
    let quoted = json!({"type": "user", "message": {"content": StatusBlock::done().to_string()}});
    let only_quoted = format!("{}\n{quoted}", said("Looking."));
    check(&sandbox, &only_quoted, &[]).assert_code(1).assert_stdout_has("there is no status block");
}

#[test]
fn another_dialect_is_named_as_one() {
    let sandbox = Sandbox::new();
    for text in ["RALPH_STATUS: {\"EXIT_SIGNAL\": true}\n\nLOOP_COMPLETE", "<promise>COMPLETE</promise>"] {
        check(&sandbox, &text, &[]).assert_code(1).assert_stdout_has("this is another dialect");
    }
}

#[test]
fn an_exit_signal_that_is_held_back_says_why() {
    let sandbox = repository();
    for (recommendation, arg, why) in [
        ("All tasks complete, tests passing", "--errors", "--errors"),
        ("All tasks complete, tests passing", "--more-work", "--more-work"),
        ("Next: more", "--tasks=1", "names a next task"),
    ] {
        let args = ["report", "emit", "--work-type=TESTING", "--test-cmd=true", "--status=COMPLETE"];
        let tasks = if arg == "--tasks=1" { &[][..] } else { &["--tasks=1"] };
        let finished =
            ralph(&sandbox).args(args).args(tasks).args([arg, "--recommendation", recommendation]).run();
        finished.assert_code(0).assert_stdout_has("EXIT_SIGNAL: false");
        finished.assert_stderr_has("although STATUS is COMPLETE").assert_stderr_has(why);
    }
}

#[test]
fn every_violated_check_is_named_on_standard_output() {
    let sandbox = Sandbox::new();
    let block = StatusBlock { status: "BLOCKED".into(), tests: "failing".into(), ..StatusBlock::done() };
    let text = block.to_string().replace("RECOMMENDATION: ", "MOOD: fine\nRECOMMENDATION:");
    let text = text.replace("All tasks complete, tests passing, summary", "");
    let finished = check(&sandbox, &text, &["--test-cmd", "true"]);
    finished.assert_code(1);
    let expected = "format status_consistency tests_match_reality exit_signal_justified exit_signal_justified \
                    recommendation_present no_extra_fields";
    assert_eq!(names(&finished).join(" "), expected);
}

#[test]
fn a_recommendation_over_several_lines_and_other_delimiters_are_violations() {
    let sandbox = Sandbox::new();
    let block = StatusBlock::done().to_string();
    let lines = block.replace("tests passing, summary", "tests passing,\nsummary");
    check(&sandbox, &lines, &[]).assert_code(1).assert_stdout_has("recommendation_present: ");
    let other = block.replace("---RALPH_STATUS---", "=== RALPH_STATUS ===");
    check(&sandbox, &other, &[]).assert_code(1).assert_stdout_has("format: ");
}

#[test]
fn no_block_or_only_the_template_is_told() {
    let sandbox = Sandbox::new();
    let template = StatusBlock { status: "[IN_PROGRESS | COMPLETE]".into(), ..StatusBlock::done() };
    let template = template.to_string().replace("SIGNAL: true", "SIGNAL: [false | true]");
    for text in ["I am done.", "", &template] {
        check(&sandbox, &text, &[]).assert_code(1).assert_stdout_has("format: there is no status block");
    }
}

#[test]
fn decoration_that_the_loop_would_read_is_a_violation_and_an_odd_recommendation_only_a_warning() {
    let sandbox = Sandbox::new();
    let block = StatusBlock::done().to_string();
    for text in
        [block.replace('\n', "\r\n"), format!("```\n{block}\n```\n"), block.replace(": true", ": True")]
    {
        let finished = check(&sandbox, &text, &[]);
        finished.assert_code(1);
        assert_eq!(names(&finished), ["format"]);
    }
    let odd = StatusBlock { recommendation: "3 tests failing".into(), ..StatusBlock::in_progress() };
    let finished = check(&sandbox, &odd, &[]);
    finished.assert_code(0).assert_stderr_has("\"Next: \"");
    assert_eq!(finished.stdout, "");
}

#[test]
fn claims_are_compared_with_tests_files_and_plan() {
    let (sandbox, first) = repository_with_five_changes();
    let block = |files, tests: &str| StatusBlock { files, tests: tests.into(), ..StatusBlock::in_progress() };
    let reality = ["--test-cmd", TEST, "--since", &first];
    check(&sandbox, &block(5, "FAILING"), &reality).assert_code(0);
    let wrong = check(&sandbox, &block(4, "PASSING"), &reality);
    wrong
        .assert_code(1)
        .assert_stdout_has("exit 1")
        .assert_stdout_has("git counts 5")
        .assert_stderr_has("not ok 1");
    assert_eq!(names(&wrong), ["tests_match_reality", "files_match_reality"]);
    sandbox.write("green", "");
    check(&sandbox, &block(6, "PASSING"), &reality).assert_code(0);

    sandbox.write("IMPLEMENTATION_PLAN.md", "- [x] one\n- [/] two\n");
    check(&sandbox, &StatusBlock::in_progress(), &[]).assert_code(0);
    let done = check(&sandbox, &StatusBlock::done(), &[]);
    assert_eq!(names(&done), ["status_consistency", "exit_signal_justified"], "{done}");
    sandbox.write("IMPLEMENTATION_PLAN.md", "- [x] one\n- [x] two\n");
    check(&sandbox, &StatusBlock::done(), &[]).assert_code(0);
}

#[test]
fn files_are_counted_since_a_revision_and_nothing_of_the_user_is_touched() {
    let (sandbox, first) = repository_with_five_changes();
    let before = sandbox.user_git_state();
    assert_eq!(value(&emit(&sandbox, "Next: x", &[]), "FILES_MODIFIED"), "4");
    assert_eq!(value(&emit(&sandbox, "Next: x", &["--since", &first]), "FILES_MODIFIED"), "5");
    before.assert_same(&sandbox.user_git_state());
    // What was taken back since is no change, committed or not.
    sandbox.write("edited", "after\n");
    sandbox.commit_all("fourth");
    sandbox.write("edited", "before\n");
    delete(&sandbox, "committed");
    assert_eq!(value(&emit(&sandbox, "Next: x", &["--since", &first]), "FILES_MODIFIED"), "3");

    let other = repository_with_work_in_progress();
    let before = other.user_git_state();
    assert_eq!(value(&emit(&other, "Next: x", &[]), "FILES_MODIFIED"), "3");
    before.assert_same(&other.user_git_state());
}

#[test]
fn before_the_first_commit_every_file_is_new() {
    let sandbox = Sandbox::new();
    sandbox.init_git();
    sandbox.write("staged", "");
    sandbox.git(&["add", "staged"]);
    sandbox.write("untracked", "");
    assert_eq!(value(&emit(&sandbox, "Next: x", &[]), "FILES_MODIFIED"), "2");
}

#[test]
fn a_block_is_written_character_for_character_and_passes_the_check() {
    let sandbox = repository();
    sandbox.write("IMPLEMENTATION_PLAN.md", "# Plan\n- [x] one\n");
    sandbox.write("green", "");
    let words = "All tasks complete, tests passing, it is green";
    let finished = emit(&sandbox, words, &["--test-cmd", TEST]);
    finished.assert_code(0);
    let expected = StatusBlock { recommendation: words.into(), ..StatusBlock::done() };
    assert_eq!(finished.stdout, format!("{expected}\n"));
    assert_eq!(finished.stderr, "");
    check(&sandbox, &finished.stdout, &["--test-cmd", TEST, "--since", "HEAD"]).assert_code(0);
}

#[test]
fn no_block_is_written_before_every_metric_is_told() {
    let sandbox = repository();
    let all = [["--tasks", "1"], ["--work-type", "testing"], ["--recommendation", "Next: x"]];
    for missing in all {
        let given = all.iter().filter(|arg| **arg != missing).flatten();
        let finished = ralph(&sandbox).args(["report", "emit"]).args(given).run();
        finished.assert_code(64).assert_stderr_has(missing[0]);
        assert_eq!(finished.stdout, "");
    }
}

#[test]
fn every_work_type_is_written_as_given() {
    let sandbox = repository();
    for word in ["IMPLEMENTATION", "TESTING", "DOCUMENTATION", "REFACTORING"] {
        let args = ["report", "emit", "--tasks", "3", "--work-type", word, "--recommendation", "Next: x"];
        let finished = ralph(&sandbox).args(args).run();
        finished.assert_code(0);
        assert_eq!(
            (value(&finished, "WORK_TYPE"), value(&finished, "TASKS_COMPLETED_THIS_LOOP")),
            (word, "3")
        );
    }
}

#[test]
fn status_and_exit_signal_follow_from_plan_and_tests() {
    let (done, open, prose) = ("- [x] one\n", "- [x] one\n- [ ] two\n", "no list\n");
    let (green, red) = ("--test-cmd=true", "--test-cmd=false");
    for (plan, prefix, args, expected) in [
        (Some(done), "", &[green][..], ["COMPLETE", "PASSING", "true"]),
        (Some(done), "", &[red], ["IN_PROGRESS", "FAILING", "false"]),
        (Some(done), "", &[], ["IN_PROGRESS", "NOT_RUN", "false"]),
        (Some(open), "", &[green], ["IN_PROGRESS", "PASSING", "false"]),
        (Some(prose), "", &[green], ["IN_PROGRESS", "PASSING", "false"]),
        (None, "", &[green], ["IN_PROGRESS", "PASSING", "false"]),
        (None, "", &[green, "--status=complete"], ["COMPLETE", "PASSING", "true"]),
        (Some(done), "", &[green, "--status=BLOCKED"], ["BLOCKED", "PASSING", "false"]),
        (Some(done), "", &[green, "--status=IN_PROGRESS"], ["IN_PROGRESS", "PASSING", "false"]),
        (Some(done), "", &[green, "--errors"], ["COMPLETE", "PASSING", "false"]),
        (Some(done), "", &[green, "--more-work"], ["COMPLETE", "PASSING", "false"]),
        (Some(done), "Next: ", &[green], ["COMPLETE", "PASSING", "false"]),
        (Some(done), "Blocked: ", &[green], ["BLOCKED", "PASSING", "false"]),
    ] {
        let sandbox = repository();
        if let Some(plan) = plan {
            sandbox.write("IMPLEMENTATION_PLAN.md", plan);
        }
        let finished = emit(&sandbox, &format!("{prefix}the work"), args);
        finished.assert_code(0);
        let said = ["STATUS", "TESTS_STATUS", "EXIT_SIGNAL"].map(|name| value(&finished, name));
        assert_eq!(said, expected, "{plan:?} {prefix} {args:?}");
    }
}

#[test]
fn a_claim_that_the_facts_contradict_is_refused_with_each_contradiction() {
    let sandbox = repository();
    sandbox.write("todo.md", "* [ ] write it\n* [/] prove it\n");
    let finished =
        emit(&sandbox, "x", &["--status", "COMPLETE", "--test-cmd", "exit 3", "--plan", "todo.md"]);
    finished
        .assert_code(1)
        .assert_stderr_has("2 open items in the plan: write it, prove it")
        .assert_stderr_has("TESTS_STATUS is FAILING");
    assert_eq!(finished.stdout, "");
    let not_run = emit(&sandbox, "x", &["--status", "COMPLETE"]);
    not_run.assert_code(1).assert_stderr_has("TESTS_STATUS is NOT_RUN");
}

#[test]
fn the_tests_run_at_the_top_of_the_project_and_leave_nothing_behind() {
    let sandbox = repository();
    sandbox.write("sub/file", "");
    sandbox.write("green", "");
    let left = format!("sleep 1000 & {TEST}");
    let args = ["report", "emit", "--tasks", "0", "--work-type", "testing", "--recommendation", "Next: x"];
    let finished = ralph(&sandbox).in_folder("sub").args(args).args(["--test-cmd", &left]).run();
    finished.assert_code(0);
    assert_eq!(value(&finished, "TESTS_STATUS"), "PASSING");
    sandbox.assert_no_processes();
}

#[test]
fn what_cannot_be_done_says_why() {
    let sandbox = repository();
    for wrong in ["", "  ", "one\ntwo", "a\u{1b}[1m"] {
        emit(&sandbox, wrong, &[]).assert_code(64).assert_stderr_has("RECOMMENDATION");
    }
    emit(&sandbox, "x", &["--status", "DONE"]).assert_code(64).assert_stderr_has("IN_PROGRESS");
    let negative = ["report", "emit", "--tasks=-1", "--work-type", "testing", "--recommendation", "x"];
    ralph(&sandbox).args(negative).run().assert_code(64).assert_stderr_has("-1");
    emit(&sandbox, "x", &["--test-cmd", " "]).assert_code(64).assert_stderr_has("--test-cmd is empty");
    emit(&sandbox, "x", &["--since", "nowhere"]).assert_code(64).assert_stderr_has("no revision 'nowhere'");
    emit(&sandbox, "x", &["--plan", "missing.md"]).assert_code(65).assert_stderr_has("missing.md");
    check(&sandbox, &"", &["missing.txt"]).assert_code(65).assert_stderr_has("cannot read missing.txt");
    ralph(&sandbox).arg("report").run().assert_code(64);
    ralph(&sandbox).args(["report", "emit"]).run().assert_code(64).assert_stderr_has("--recommendation");
    let bare = Sandbox::new();
    emit(&bare, "x", &[]).assert_code(1).assert_stderr_has("not in a git repository");
    check(&bare, &StatusBlock::done(), &["--since", "HEAD"]).assert_code(1).assert_stderr_has("git init");
}
