//! `ralph run` end to end: real binary, real git, scripted agents.

mod common;

use common::{
    GOAL, TEST, history, in_seconds, one_call, outcomes, ralph, repository, run, says_done, says_more, status,
};
use ralph_testkit::{Background, ClaudeResult, FakeAgent, Sandbox, StatusBlock, Steps};
use serde_json::json;

#[test]
fn a_lie_is_refused_with_the_test_s_name_then_a_fix_and_a_review_complete() {
    let sandbox = repository();
    let agent = FakeAgent::new("agent")
        .call(says_done())
        .call(Steps::new().write("green", "").say("Fixed.").status(&StatusBlock::done()))
        .call(says_done())
        .install(&sandbox);
    let finished = run(&sandbox, &agent).args(["--test-cmd", TEST]).run();
    finished
        .assert_code(0)
        .assert_stderr_has("✗ claimed done, refused: ")
        .assert_stderr_has("exit 1 (is_green)")
        .assert_stderr_has("full output: ralph history 1 --checks")
        .assert_stderr_has("[REVIEW]")
        .assert_stderr_has("✓ COMPLETE");
    assert_eq!(finished.stdout, "", "talk is not data");
    assert!(!finished.stderr.contains('\u{1b}'), "no escape codes in a pipe");

    let expected = [(1, "refused"), (2, "accepted"), (3, "accepted")].map(|(n, word)| (n, word.to_owned()));
    assert_eq!(outcomes(&sandbox), expected);
    let prompts: Vec<String> = agent.calls(&sandbox).into_iter().map(|call| call.prompt).collect();
    assert!(prompts[0].contains(GOAL) && prompts[0].contains("---RALPH_STATUS---"));
    assert!(
        prompts[1].contains("was refused") && prompts[1].contains("not ok 1 - is_green"),
        "{}",
        prompts[1]
    );
    assert!(prompts[2].contains("This iteration is a review") && !prompts[2].contains("was refused"));

    let status = status(&sandbox);
    assert_eq!(status["schema"], "ralph.status/1");
    assert_eq!((&status["status"], &status["proof"]), (&json!("complete"), &json!("checks")));
    assert_eq!((&status["running"], &status["pid"]), (&json!(false), &json!(null)));
    assert_eq!((&status["iteration"], &status["max_iterations"]), (&json!(3), &json!(50)));
    ralph(&sandbox)
        .args(["history", "1", "--checks"])
        .run()
        .assert_code(0)
        .assert_stdout_has("not ok 1 - is_green");
    ralph(&sandbox).args(["history", "2", "--transcript"]).run().assert_code(0).assert_stdout_has("Fixed.");
    assert!(sandbox.read(".ralph/history/iteration-001.md").contains("claimed done, refused"));
    assert!(sandbox.git(&["status", "--porcelain"]).lines().all(|line| !line.contains(".ralph")));
}

#[test]
fn the_stream_of_claude_is_read_with_its_cost() {
    let sandbox = repository();
    let words = format!("Done.\n\n{}", StatusBlock::done());
    let steps = Steps::new()
        .claude_init()
        .claude_tool("Read", json!({"file_path": "README.md"}))
        .claude_tool_ok("# project")
        .claude_text(&words)
        .claude_result(ClaudeResult::success(&words).cost_usd(0.25).usage(1000, 200));
    let agent = one_call(&sandbox, steps);
    run(&sandbox, &agent).args(["--test-cmd", "true"]).run().assert_code(0).assert_stderr_has("$0.50");
    assert_eq!(status(&sandbox)["cost"]["micro_usd"], 500_000);
    assert_eq!(status(&sandbox)["cost"]["tokens"], 2400);
}

#[test]
fn a_goal_whose_checks_were_green_all_the_time_says_so_unless_a_test_was_written_for_it() {
    const WEAK: &str = "the checks were green before the run, and no test file was changed";
    for (file, weak) in [("notes.txt", true), ("tests/new_test.py", false)] {
        let sandbox = repository();
        let work = Steps::new().write(file, "x\n").status(&StatusBlock::done());
        let agent = FakeAgent::new("agent").call(work).call(says_done()).install(&sandbox);
        let finished = run(&sandbox, &agent).args(["--test-cmd", "true"]).run();
        finished.assert_code(0).assert_stderr_has(if weak {
            "⚠ COMPLETE, proof: checks"
        } else {
            "✓ COMPLETE"
        });
        let status = ralph(&sandbox).arg("status").run().stdout;
        assert_eq!(
            (finished.stderr.contains(WEAK), status.contains(WEAK)),
            (weak, weak),
            "{finished}\n{status}"
        );
    }
}

#[test]
fn without_a_check_three_reviews_are_needed_and_the_proof_says_so() {
    let sandbox = repository();
    let agent = one_call(&sandbox, says_done());
    run(&sandbox, &agent)
        .run()
        .assert_code(0)
        .assert_stderr_has("checks: none")
        .assert_stderr_has("done needs 3 reviews, or 2 where the claim changed nothing");
    assert_eq!(outcomes(&sandbox).len(), 3, "the claim, which changed nothing, and two reviews");
    assert_eq!(status(&sandbox)["proof"], "reviews");
}

#[test]
fn the_laziest_lie_meets_a_reviewer_though_the_tests_are_green() {
    let sandbox = repository();
    let agent = FakeAgent::new("agent").call(says_done()).call(says_more()).install(&sandbox);
    let finished = run(&sandbox, &agent).args(["--test-cmd", "true", "--max-iterations", "2"]).run();
    finished.assert_code(3).assert_stderr_has("[REVIEW]").assert_stderr_lacks("COMPLETE");
}

#[test]
fn a_check_that_is_no_command_is_not_told_like_a_test_that_fails() {
    let sandbox = repository();
    let agent = one_call(&sandbox, says_done());
    let check = ["--test-cmd", "nosuchcmd --foo", "--max-iterations", "2"];
    let finished = run(&sandbox, &agent).args(check).run();
    finished
        .assert_code(3)
        .assert_stderr_has(
            "before the run: ✗ nosuchcmd --foo exit 127 (command not found): is it spelt right? It printed: ",
        )
        .assert_stderr_has("refused: nosuchcmd --foo exit 127 (command not found, red before the run)");
    assert!(agent.calls(&sandbox)[0].prompt.contains("nosuchcmd --foo exit 127 (command not found)"));

    // The work may be to bring it.
    let sandbox = repository();
    let steps = Steps::new().write("t.sh", "exit 0\n").shell("chmod +x t.sh").status(&StatusBlock::done());
    let agent = one_call(&sandbox, steps);
    let finished = run(&sandbox, &agent).args(["--test-cmd", "./t.sh"]).run();
    finished.assert_code(0).assert_stderr_has("./t.sh exit 127 (command not found): is it spelt right?");
}

#[test]
fn a_goal_for_which_nothing_was_done_says_what_its_green_checks_are_worth() {
    let sandbox = repository();
    let agent = one_call(&sandbox, says_done());
    let worth = "nothing was changed, and the checks were green before the run: the goal was reached already";
    let finished = run(&sandbox, &agent).args(["--test-cmd", "true"]).run();
    finished
        .assert_code(0)
        .assert_stderr_has("COMPLETE, proof: checks: true exit 0; 1/1 reviews without a change; nothing was")
        .assert_stderr_has(worth);
    assert_eq!(status(&sandbox)["proof"], "checks", "its word is a promise");
    assert!(status(&sandbox)["stop_text"].as_str().is_some_and(|text| text.contains(worth)));
    let shown = ralph(&sandbox).arg("status").run();
    shown.assert_stdout_has("complete, reviewed and not measured; nothing was changed");
    ralph(&sandbox)
        .arg("history")
        .run()
        .assert_stdout_has("complete, reviewed and not measured; nothing was changed");
    ralph(&sandbox)
        .args(["history", "2"])
        .run()
        .assert_stdout_has(&format!("- change not applicable: {worth}"));

    let sandbox = repository();
    let agent = one_call(&sandbox, Steps::new().write("green", "").status(&StatusBlock::done()));
    let finished = run(&sandbox, &agent).args(["--test-cmd", "true"]).run();
    finished.assert_code(0).assert_stderr_lacks("nothing was changed");
}

#[test]
fn a_goal_for_which_nothing_speaks_but_words_is_not_called_proved() {
    let sandbox = repository();
    let agent = one_call(&sandbox, says_done());
    let finished = run(&sandbox, &agent).run();
    finished.assert_code(0).assert_stderr_has("⚠ COMPLETE, ONLY CLAIMED, proof: reviews: ");
    finished.assert_stderr_has("nothing was changed in this run, and no check was run");
    let shown = ralph(&sandbox).arg("status").run();
    shown.assert_stdout_has("complete, claimed and not proved; nothing was changed");

    let sandbox = repository();
    let agent = one_call(&sandbox, Steps::new().write("NOTES.md", "").status(&StatusBlock::done()));
    run(&sandbox, &agent).run().assert_code(0).assert_stderr_has("✓ COMPLETE, proof: reviews: ");
}

#[test]
fn a_run_that_stops_before_the_review_of_an_accepted_claim_says_what_is_missing() {
    let sandbox = repository();
    let agent = one_call(&sandbox, says_done());
    let finished = run(&sandbox, &agent).args(["--test-cmd", "true", "--max-iterations", "1"]).run();
    let missing = "missing: 1 review of the last claim, which was accepted";
    finished
        .assert_code(3)
        .assert_stderr_has("verification 1/1")
        .assert_stderr_has("verification 1/1, by the claim itself: its review is still to come")
        .assert_stderr_has("nobody has doubted the claim yet: a review has the last word")
        .assert_stderr_has(missing);
    ralph(&sandbox).arg("status").run().assert_stdout_has(&format!("1 of 1 iterations used; {missing}"));
    ralph(&sandbox).arg("history").run().assert_stdout_has(missing);
    let finished = ralph(&sandbox).args(["run", "--max-iterations", "2"]).run();
    finished.assert_code(0).assert_stderr_lacks("missing: ");
}

#[test]
fn a_report_that_contradicts_itself_is_named() {
    let sandbox = repository();
    let mut block = StatusBlock::done();
    block.tests = "FAILING".into();
    let agent = one_call(&sandbox, Steps::new().status(&block));
    let finished = run(&sandbox, &agent).args(["--test-cmd", "true", "--max-iterations", "2"]).run();
    finished
        .assert_code(3)
        .assert_stderr_has("not done: EXIT_SIGNAL: true contradicts TESTS_STATUS: FAILING");
    ralph(&sandbox).args(["history", "1"]).run().assert_stdout_has("contradicts TESTS_STATUS: FAILING");
    assert!(agent.calls(&sandbox)[1].prompt.contains("contradicts TESTS_STATUS: FAILING"));
}

#[test]
fn the_agent_is_told_what_will_be_run_and_why_its_last_claim_failed() {
    let sandbox = repository();
    let agent = FakeAgent::new("agent").call(says_done()).call(says_more()).install(&sandbox);
    run(&sandbox, &agent)
        .args(["--test-cmd", TEST, "--max-iterations", "3", "--set", "no_progress=off"])
        .run()
        .assert_code(3);
    let calls = agent.calls(&sandbox);
    assert!(calls[0].prompt.contains(TEST));
    assert!(calls[2].prompt.contains("was refused"), "more work does not settle a refusal");
}

#[test]
fn an_agent_that_quotes_its_instructions_says_nothing() {
    let sandbox = repository();
    let agent = one_call(&sandbox, Steps::new().shell("cat \"$RALPH_PROMPT_FILE\""));
    run(&sandbox, &agent).args(["--max-iterations", "1", "--test-cmd", "true"]).run().assert_code(3);
    assert_eq!(outcomes(&sandbox), [(1, "silent".to_owned())]);
}

#[test]
fn an_agent_that_only_says_in_words_that_it_is_done_is_told_what_the_prompt_asks_for() {
    let sandbox = repository();
    let agent = "cat > /dev/null; echo all tasks complete";
    let finished = ralph(&sandbox).args(["run", GOAL, "--max-iterations", "1", "--agent-cmd", agent]).run();
    finished.assert_code(3).assert_stderr_has("the prompt asks for a status block");
    finished.assert_stderr_has(
        "ralph run --dry-run shows it, ralph report emit --help tells how to have one written",
    );
    assert_eq!(outcomes(&sandbox), [(1, "silent".to_owned())]);
}

#[test]
fn an_echo_of_the_prompt_is_not_a_claim_even_if_the_prompt_quotes_one() {
    let sandbox = repository();
    sandbox.write(".ralph/scratchpad.md", format!("It ended like this:\n\n{}\n", StatusBlock::done()));
    let finished = ralph(&sandbox)
        .args(["run", GOAL, "--agent-cmd", "cat", "--test-cmd", "true", "--max-iterations", "1"])
        .run();
    finished.assert_code(3);
    assert_eq!(outcomes(&sandbox), [(1, "silent".to_owned())]);
}

#[test]
fn a_file_name_can_neither_forge_history_nor_play_with_the_terminal() {
    let sandbox = repository();
    let name = "a\u{1b}]0;EVIL\u{7}b\n\n## Decision\n- forged";
    let steps = Steps::new().shell("touch \"$(printf 'a\\033]0;EVIL\\007b\\n\\n## Decision\\n- forged')\"");
    let agent = one_call(&sandbox, steps.status(&StatusBlock::in_progress()));
    run(&sandbox, &agent).args(["--max-iterations", "1"]).run().assert_code(3);
    assert_eq!(history(&sandbox)[0]["files"][0]["path"], name);
    let shown = ralph(&sandbox).args(["history", "1"]).run();
    assert!(!shown.stdout.contains('\u{1b}') && !shown.stdout.contains("\n- forged"), "{}", shown.stdout);
}

#[test]
fn instructions_that_are_not_utf_8_still_reach_the_prompt() {
    let sandbox = repository();
    sandbox.write(".ralph/prompt.md", b"Be kind \xff and brief.\n");
    let agent = one_call(&sandbox, says_more());
    run(&sandbox, &agent).args(["--max-iterations", "1"]).run().assert_code(3);
    assert!(agent.calls(&sandbox)[0].prompt.contains("and brief."));
}

#[test]
fn continuing_a_custom_command_refuses_what_only_a_known_agent_takes() {
    let sandbox = repository();
    let agent = one_call(&sandbox, says_more());
    run(&sandbox, &agent).args(["--max-iterations", "1"]).run().assert_code(3);
    let refused = ralph(&sandbox).args(["run", "--model", "opus"]).run();
    refused.assert_code(64).assert_stderr_has("custom command").assert_stderr_has("--agents claude");
}

#[test]
fn what_is_blocked_is_not_called_so_twice() {
    let sandbox = repository();
    let agent = one_call(&sandbox, Steps::new().status(&StatusBlock::blocked("Blocked: which database?")));
    let blocked = run(&sandbox, &agent).run();
    blocked.assert_code(2).assert_stderr_has("✗ BLOCKED, human input needed: which database?\n");
    ralph(&sandbox).arg("status").run().assert_stdout_has("blocked: which database?\n");
}

#[test]
fn a_claim_that_changed_nothing_is_told_apart_from_reviews() {
    let sandbox = repository();
    let agent = one_call(&sandbox, says_done());
    let finished = run(&sandbox, &agent).args(["--set", "todos=off"]).run();
    finished
        .assert_code(0)
        .assert_stderr_has("proof: reviews: 3/3 passes without a change, the claim itself one of them");
    let sandbox = repository();
    let writes = Steps::new().write("a.txt", "").status(&StatusBlock::done());
    let agent = FakeAgent::new("agent").call(writes).call(says_done()).install(&sandbox);
    let finished = run(&sandbox, &agent).run();
    finished.assert_code(0).assert_stderr_has("proof: reviews: 3/3 reviews without a change");
}

#[test]
fn blocked_stops_with_what_the_agent_needs() {
    let sandbox = repository();
    let steps = Steps::new().status(&StatusBlock::blocked("Blocked: need the database password"));
    let agent = one_call(&sandbox, steps);
    let finished = run(&sandbox, &agent).run();
    finished.assert_code(2).assert_stderr_has("✗ BLOCKED").assert_stderr_has("need the database password");
    assert_eq!(status(&sandbox)["stop_reason"], "blocked");
}

#[test]
fn the_limit_stops_and_a_higher_one_goes_on_with_the_same_run() {
    let sandbox = repository();
    let agent = FakeAgent::new("agent").call(says_more()).call(says_done()).install(&sandbox);
    let finished = run(&sandbox, &agent).args(["--max-iterations", "1", "--test-cmd", "true"]).run();
    finished
        .assert_code(3)
        .assert_stderr_has("⚠ MAX ITERATIONS")
        .assert_stderr_has("ralph run --max-iterations");
    ralph(&sandbox)
        .arg("run")
        .run()
        .assert_code(3)
        .assert_stderr_has("⚠ MAX ITERATIONS: 1 of 1 used, not done");
    assert_eq!(agent.calls(&sandbox).len(), 1, "nothing was spent");
    ralph(&sandbox)
        .args(["run", "--max-iterations", "5"])
        .run()
        .assert_code(0)
        .assert_stderr_has("run 1 continued");
    assert_eq!(history(&sandbox).len(), 3);
    ralph(&sandbox).arg("run").run().assert_code(64).assert_stderr_has("no unfinished run");
    ralph(&sandbox).args(["run", "--resume"]).run().assert_code(64);
}

#[test]
fn another_goal_begins_a_new_run_says_so_and_goes_on_counting() {
    let sandbox = repository();
    let agent = one_call(&sandbox, says_more());
    run(&sandbox, &agent).args(["--max-iterations", "2"]).run().assert_code(3);
    let other = ralph(&sandbox)
        .args(["run", "another goal", "--max-iterations", "1", "--agent-cmd"])
        .arg(agent.path())
        .run();
    other
        .assert_code(3)
        .assert_stderr_has("run 1 is left unfinished")
        .assert_stderr_has("iteration 1/1 (#3)");
    assert_eq!(status(&sandbox)["run"]["number"], 2);
    ralph(&sandbox).args(["history", "2"]).run().assert_code(0).assert_stdout_has("# Iteration 2");
    ralph(&sandbox).args(["history", "3"]).run().assert_code(0).assert_stdout_has("another goal");
    ralph(&sandbox).args(["history", "4"]).run().assert_code(64);
}

#[test]
fn an_agent_past_its_time_is_ended_with_all_it_started() {
    let sandbox = repository();
    let child = Background::new().own_session().ignores_term().keeps_output();
    let agent = one_call(&sandbox, Steps::new().background(child).hang());
    run(&sandbox, &agent)
        .args(["--timeout", "1s", "--max-iterations", "1"])
        .run()
        .assert_code(3)
        .assert_stderr_has("timed out");
    sandbox.assert_no_processes();
}

#[test]
fn an_agent_that_hangs_when_the_run_s_time_is_over_is_stopped_and_its_work_stays() {
    let sandbox = repository();
    let agent = one_call(&sandbox, Steps::new().write("half.txt", "half\n").hang());
    run(&sandbox, &agent)
        .args(["--timeout", "1h", "--max-time", "8s"])
        .run()
        .assert_code(6)
        .assert_stderr_has("stopped with the run")
        .assert_stderr_lacks("timed out");
    let entries = history(&sandbox);
    assert_eq!((entries.len(), &entries[0]["outcome"]), (1, &json!("interrupted")));
    assert_eq!(status(&sandbox)["stop_reason"], "max_time");
    assert_eq!(sandbox.read("half.txt"), "half\n");
    sandbox.assert_no_processes();
}

#[test]
fn a_run_that_is_to_end_at_an_hour_ends_then_and_is_continued_without_it() {
    let sandbox = repository();
    let agent = FakeAgent::new("agent")
        .call(Steps::new().write("half.txt", "half\n").hang())
        .call(Steps::new().status(&StatusBlock::done()))
        .install(&sandbox);
    let stopped = run(&sandbox, &agent).args(["--reviews", "0", "--until", &in_seconds(6)]).run();
    stopped
        .assert_code(6)
        .assert_stderr_has("at most 50 iterations, until ")
        .assert_stderr_has("⚠ TIME IS UP");
    stopped
        .assert_stderr_has("the run ends now, as asked (until)")
        .assert_stderr_has("to go on: ralph run\n");
    let entries = history(&sandbox);
    assert_eq!((entries.len(), &entries[0]["outcome"]), (1, &json!("interrupted")));
    assert_eq!(status(&sandbox)["stop_reason"], "until");
    assert_eq!(sandbox.read("half.txt"), "half\n", "its work is kept");
    sandbox.assert_no_processes();
    ralph(&sandbox).arg("run").run().assert_code(0).assert_stderr_lacks("until ");
}

#[test]
fn the_hour_at_which_a_run_ends_is_shown_and_a_continued_run_keeps_it_or_gets_another() {
    let sandbox = repository();
    let agent = one_call(&sandbox, Steps::new().shell("echo x >> work").status(&StatusBlock::in_progress()));
    let run = |args: &[&str]| run(&sandbox, &agent).args(args).run();
    run(&["--until", "2999-01-02T07:00", "--dry-run"])
        .assert_code(0)
        .assert_stdout_has("until Wed 02 Jan 2999 07:00");
    assert!(!sandbox.exists(".git/ralph"), "nothing was begun");
    run(&["--until", "2999-01-02T07:00", "--max-iterations", "1"]).assert_code(3);
    ralph(&sandbox).arg("status").run().assert_stdout_has("until:      Wed 02 Jan 2999 07:00\n");
    let kept = ralph(&sandbox).args(["run", "--max-iterations", "2"]).run();
    kept.assert_code(3).assert_stderr_has("until Wed 02 Jan 2999 07:00");
    let other = ralph(&sandbox).args(["run", "--max-iterations", "3", "--until", "2999-01-03T07:00Z"]).run();
    other.assert_code(3).assert_stderr_has("until Thu 03 Jan 2999 07:00");
    for (wrong, told) in [
        ("2001-01-01T07:00", "--until 2001-01-01T07:00 is in the past"),
        ("25:00", "invalid time '25:00' for --until"),
        ("2999-01-02", "invalid time '2999-01-02' for --until"),
        ("soon", "--until 07:00"),
    ] {
        run(&["--until", wrong]).assert_code(64).assert_stderr_has(told);
    }
}

#[test]
fn what_an_agent_leaves_in_the_background_neither_stalls_nor_survives() {
    let sandbox = repository();
    let child = Background::new().own_session().clean_environment().keeps_output();
    let agent = one_call(&sandbox, Steps::new().background(child).status(&StatusBlock::done()));
    run(&sandbox, &agent)
        .args(["--test-cmd", "true"])
        .run()
        .assert_code(0)
        .assert_stderr_has("background process");
    sandbox.assert_no_processes();
}

#[test]
fn an_agent_that_always_fails_is_given_up_after_five_times() {
    let sandbox = repository();
    let agent = one_call(&sandbox, Steps::new().complain("no such model").exit(1));
    let finished = run(&sandbox, &agent).run();
    finished
        .assert_code(4)
        .assert_stderr_has("exit 1: no such model")
        .assert_stderr_has("failure 4 in a row");
    assert_eq!(agent.calls(&sandbox).len(), 5);
    assert_eq!(status(&sandbox)["stop_reason"], "agents_exhausted");
}

#[test]
fn a_claim_with_a_crash_is_refused() {
    let sandbox = repository();
    let agent = FakeAgent::new("agent").call(says_done().exit(9)).call(says_done()).install(&sandbox);
    run(&sandbox, &agent)
        .args(["--test-cmd", "true"])
        .run()
        .assert_code(0)
        .assert_stderr_has("did not end normally: exit 9");
    assert_eq!(outcomes(&sandbox)[0].1, "refused");
}

#[test]
fn a_commit_by_the_agent_is_progress_and_notes_are_not() {
    let sandbox = repository();
    let commit = Steps::new()
        .shell("echo x > new.txt && git add new.txt && git commit -qm work")
        .status(&StatusBlock::in_progress());
    let notes = Steps::new().write("CLAUDE.md", "learned\n").status(&StatusBlock::in_progress());
    let agent = FakeAgent::new("agent").call(commit).call(notes).install(&sandbox);
    run(&sandbox, &agent).args(["--max-iterations", "2"]).run().assert_code(3);
    let history = history(&sandbox);
    assert_eq!((&history[0]["commits"], &history[0]["files_changed"]), (&json!(1), &json!(1)));
    assert_eq!(history[1]["files_changed"], 0);
}

#[test]
fn commits_of_nothing_but_notes_open_the_circuit() {
    let sandbox = repository();
    let notes = Steps::new()
        .shell("mkdir -p .claude/harness && date +%s%N | tee CLAUDE.md AGENTS.md > .claude/harness/x.json")
        .shell("git add -A && git commit -qm notes")
        .status(&StatusBlock::in_progress());
    let agent = one_call(&sandbox, notes);
    run(&sandbox, &agent).run().assert_code(5).assert_stderr_has("no_progress: 3 iterations");
    let history = history(&sandbox);
    let commits: Vec<_> = history.iter().map(|entry| &entry["commits"]).collect();
    assert_eq!(commits, [1, 1, 1]);
}

#[test]
fn a_folder_without_git_works_too() {
    let sandbox = Sandbox::new();
    sandbox.write("a.txt", "a\n");
    let agent = FakeAgent::new("agent")
        .call(Steps::new().write("green", "").status(&StatusBlock::done()))
        .call(says_done())
        .install(&sandbox);
    run(&sandbox, &agent).args(["--test-cmd", TEST]).run().assert_code(0);
    assert_eq!(
        history(&sandbox)[0]["files"],
        json!([{"change": "A", "path": "green", "added": 0, "removed": 0}])
    );
    assert!(!sandbox.exists(".git"));
    assert!(sandbox.exists(".ralph/.state/runs/0001/journal.jsonl"));
}

#[test]
fn a_run_in_a_subfolder_belongs_to_the_repository() {
    let sandbox = repository();
    sandbox.write("sub/deep/file.txt", "x\n");
    let agent = one_call(&sandbox, says_done());
    run(&sandbox, &agent)
        .in_folder("sub/deep")
        .args(["--test-cmd", "test -e README.md"])
        .run()
        .assert_code(0);
    assert!(sandbox.exists(".ralph/session.md"));
    assert!(!sandbox.exists("sub/deep/.ralph"));
}

#[test]
fn a_linked_worktree_has_a_record_of_its_own() {
    let sandbox = repository();
    sandbox.git(&["worktree", "add", "-q", "-b", "side", "side"]);
    let agent = one_call(&sandbox, says_done());
    run(&sandbox, &agent).in_folder("side").args(["--test-cmd", "true"]).run().assert_code(0);
    ralph(&sandbox)
        .in_folder("side")
        .arg("status")
        .run()
        .assert_code(0)
        .assert_stdout_has("complete, reviewed and not measured");
    ralph(&sandbox).arg("status").run().assert_code(0).assert_stdout_has("nothing has been run");
}

#[test]
fn files_of_the_project_reach_the_prompt() {
    let sandbox = repository();
    sandbox.write(".ralph/prompt.md", "House rules for {{PROJECT_NAME}}: be kind.\n");
    sandbox.write(".ralph/guardrails.md", "Never touch the moon.\n");
    sandbox.write("AGENTS.md", "The answer is 42.\n");
    let agent = FakeAgent::new("agent")
        .call(
            Steps::new()
                .write(".ralph/scratchpad.md", "left the key under the mat\n")
                .status(&StatusBlock::in_progress()),
        )
        .call(says_more())
        .install(&sandbox);
    run(&sandbox, &agent).args(["--max-iterations", "2"]).run().assert_code(3);
    let calls = agent.calls(&sandbox);
    for words in ["House rules for project: be kind.", "Never touch the moon.", "The answer is 42."] {
        assert!(calls[0].prompt.contains(words), "{words}");
    }
    assert!(calls[1].prompt.contains("left the key under the mat"));
    let env = calls[1].ralph_env();
    assert_eq!(env.get("RALPH_ITERATION"), Some(&"2"));
    assert!(
        env.contains_key("RALPH_RUN_ID")
            && env.contains_key("RALPH_PROMPT_FILE")
            && env.contains_key("RALPH_DIR")
    );
}

/// The sections of seed 004's scratchpad.
const HANDED_OVER: &str = "\
# Scratchpad - Handoff Notes

## Last Iteration (Iteration 1)
Accomplished:
- the parser reads comments

What didn't work:
- a regular expression, because comments nest

## Next Iteration Should:
- Work on task: strings

## Blockers
None currently
";

#[test]
fn notes_in_the_seed_s_form_and_what_the_last_iteration_did_reach_the_next_prompt_whole() {
    let sandbox = repository();
    let more = StatusBlock { recommendation: "Next: strings".into(), ..StatusBlock::in_progress() };
    let noted = Steps::new().write("parser.rs", "x\n").write(".ralph/scratchpad.md", HANDED_OVER);
    let agent = FakeAgent::new("agent")
        .call(noted.status(&more))
        .call(Steps::new().status(&StatusBlock::blocked("Blocked: no grammar")))
        .call(says_more())
        .install(&sandbox);
    run(&sandbox, &agent).run().assert_code(2);
    ralph(&sandbox).args(["run", "--max-iterations", "3"]).run().assert_code(3);
    let calls = agent.calls(&sandbox);
    for call in &calls[1..] {
        let handed = format!("# Notes handed over by the last iteration\n\n{HANDED_OVER}");
        assert!(call.prompt.contains(&handed), "{}", call.prompt);
    }
    let did = "The last iteration changed 1 file and did not say done.";
    assert!(calls[1].prompt.contains(did), "{}", calls[1].prompt);
    assert!(calls[1].prompt.contains("Its recommendation: Next: strings"), "{}", calls[1].prompt);
    let stuck = "changed 0 files and said that it is blocked. Its recommendation: Blocked: no grammar";
    assert!(calls[2].prompt.contains(stuck), "{}", calls[2].prompt);
}

#[test]
fn strange_output_is_ordinary_input() {
    let sandbox = repository();
    let mut bytes = b"\xff\xfe\0 noise \x1b[2J\x1b]0;title\x07 ".to_vec();
    bytes.extend(vec![b'x'; 9 << 20]);
    bytes.extend_from_slice(format!("\n{}", StatusBlock::done()).as_bytes());
    let agent = one_call(&sandbox, Steps::new().print(bytes));
    let finished = run(&sandbox, &agent).args(["--test-cmd", "true"]).run();
    finished.assert_code(0);
    assert!(!finished.stderr.contains('\u{1b}'));
    assert_eq!(history(&sandbox)[0]["problems"][0], "a line over 8 MB was cut");
    let piped = ralph(&sandbox).args(["history", "1", "--transcript"]).run();
    piped.assert_code(0).assert_stdout_has(" noise ");
    assert!(!piped.stdout.contains(['\u{1b}', '\u{7}', '\0']), "what is behind a pipe may be a terminal");
    let raw = sandbox.project().join(".git/ralph/runs/0001/iteration-000001");
    assert!(std::fs::read_dir(raw).expect("kept").count() > 1, "the bytes are where the docs say");
}

#[test]
fn quiet_says_only_how_it_ended() {
    let sandbox = repository();
    let agent = one_call(&sandbox, says_done());
    let finished = run(&sandbox, &agent).args(["--test-cmd", "true", "--quiet"]).run();
    finished
        .assert_code(0)
        .assert_stderr_has("complete, reviewed and not measured")
        .assert_stderr_lacks("iteration 1");
}

#[test]
fn the_demo_catches_the_lie_and_completes() {
    let sandbox = Sandbox::new();
    let finished = ralph(&sandbox).args(["demo", "--dir", "here"]).run();
    finished
        .assert_code(0)
        .assert_stderr_has("✗ claimed done, refused: sh test.sh exit 1 (greets_by_name, red before the run)")
        .assert_stderr_has("[REVIEW]")
        .assert_stderr_has("✓ COMPLETE");
    assert!(sandbox.read("here/greet.sh").contains("${1:-world}"));
    let rights = |file: &str| {
        let data = std::fs::metadata(sandbox.project().join("here").join(file)).expect("there");
        std::os::unix::fs::PermissionsExt::mode(&data.permissions())
    };
    // Nobody edits this one: it is as the user's own are.
    for edited in ["greet.sh", "README.md"] {
        assert_eq!(rights(edited), rights("test.sh"), "{edited}");
    }
    ralph(&sandbox)
        .args(["demo", "--dir", "here"])
        .run()
        .assert_code(64)
        .assert_stderr_has("not an empty folder");
}

#[test]
fn a_run_of_a_command_that_goes_on_can_be_looked_at_before() {
    let sandbox = repository();
    let agent = one_call(&sandbox, says_more());
    run(&sandbox, &agent).args(["--max-iterations", "1"]).run().assert_code(3);
    let shown = ralph(&sandbox).args(["run", "--dry-run", "--max-iterations", "2"]).run();
    assert!(shown.assert_code(0).stdout.contains("Run 1 would be continued"), "{shown}");
}

#[test]
fn reviews_that_all_change_the_same_file_are_told_with_the_ways_out() {
    let sandbox = repository();
    let steps = |n: u32| Steps::new().append("notes.md", format!("{n}\n")).status(&StatusBlock::done());
    let agent = FakeAgent::new("agent")
        .call(steps(1))
        .call(steps(2).write("a.txt", "1"))
        .call(steps(3))
        .call(steps(4))
        .install(&sandbox);
    let told = "all of the last reviews changed notes.md; notes and logs that are no work: name them in .ralphignore";
    let two = run(&sandbox, &agent).args(["--test-cmd", "true", "--max-iterations", "3"]).run();
    two.assert_code(3)
        .assert_stderr_has("so it is reviewed again")
        .assert_stderr_lacks("all of the last reviews");
    let three = ralph(&sandbox).args(["run", "--max-iterations", "4"]).run();
    three.assert_code(3).assert_stderr_has(&format!("so it is reviewed again; {told}"));
    three.assert_stderr_has(&format!("[ralph] {told}; to do without reviews: ralph run --reviews 0"));
}
