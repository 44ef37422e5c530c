//! The rules as a user meets them: real runs under profiles and settings, with their exit codes and words.

mod common;

use common::{TEST, history, one_call, ralph, repository, run, says_done, says_more, status};
use ralph_testkit::{FakeAgent, Steps};

fn works(file: &str) -> Steps {
    Steps::new().append(file, "more\n")
}

#[test]
fn three_iterations_that_change_nothing_open_the_circuit_and_the_next_run_starts_no_agent() {
    let sandbox = repository();
    let agent = one_call(&sandbox, says_more());
    run(&sandbox, &agent)
        .run()
        .assert_code(5)
        .assert_stderr_has(
            "✗ CIRCUIT OPEN: no_progress: 3 iterations with no file changes; no run begins before ",
        )
        .assert_stderr_has("ralph run --probe");
    let state = status(&sandbox);
    assert_eq!(
        (state["stop_reason"].as_str(), state["circuit"]["state"].as_str()),
        (Some("circuit_open"), Some("OPEN"))
    );

    let another = ralph(&sandbox).args(["run", "another goal", "--agent-cmd"]).arg(agent.path());
    for refused in [run(&sandbox, &agent).args(["--fresh"]), another] {
        refused
            .run()
            .assert_code(5)
            .assert_stderr_has("✗ CIRCUIT OPEN: no_progress")
            .assert_stderr_has("no new run was begun")
            .assert_stderr_has("ralph circuit reset");
    }
    let again = ralph(&sandbox).arg("run").run();
    again
        .assert_code(5)
        .assert_stderr_has("✗ CIRCUIT OPEN: no_progress")
        .assert_stderr_has("run 1 is as it was: nothing was run or written")
        .assert_stderr_has("go on if it makes progress: ralph run --probe")
        .assert_stderr_lacks("continued")
        .assert_stderr_lacks("3 iterations in");
    assert_eq!(status(&sandbox), state, "nothing was written");
    assert_eq!(agent.calls(&sandbox).len(), 3, "nothing was spent");

    ralph(&sandbox)
        .args(["run", "--probe"])
        .run()
        .assert_code(5)
        .assert_stderr_has("the probe made no progress");
    assert_eq!(agent.calls(&sandbox).len(), 4, "exactly one iteration");
}

#[test]
fn a_limit_that_is_lowered_below_what_is_used_is_told_as_such() {
    let sandbox = repository();
    let agent = one_call(&sandbox, works("a.txt").status(&ralph_testkit::StatusBlock::in_progress()));
    run(&sandbox, &agent)
        .args(["--max-iterations", "2"])
        .run()
        .assert_code(3)
        .assert_stderr_has("2 of 2 used, not done");
    let lowered = ralph(&sandbox).args(["run", "--max-iterations", "1"]).run();
    lowered.assert_code(3).assert_stderr_has("⚠ MAX ITERATIONS: 2 used, more than the limit of 1, not done");
    let status = ralph(&sandbox).arg("status").run();
    status.assert_stdout_has("status:     2 iterations used, more than the limit of 1");
    assert_eq!(agent.calls(&sandbox).len(), 2);
}

#[test]
fn a_probe_for_which_there_is_no_iteration_left_lets_nobody_in() {
    let sandbox = repository();
    let agent = one_call(&sandbox, says_more());
    run(&sandbox, &agent).args(["--max-iterations", "3"]).run().assert_code(5);
    ralph(&sandbox).args(["run", "--probe"]).run().assert_code(3).assert_stderr_has("3 of 3 used");
    assert_eq!(status(&sandbox)["circuit"]["state"], "OPEN");
    let other = ralph(&sandbox).args(["run", "other", "--agent-cmd"]).arg(agent.path());
    other.run().assert_code(5).assert_stderr_has("no new run was begun");
    assert_eq!(agent.calls(&sandbox).len(), 3, "nothing was spent");
}

#[test]
fn a_probe_whose_claim_is_proved_closes_the_circuit_though_nothing_was_left_to_change() {
    let sandbox = repository();
    let agent = one_call(&sandbox, says_done());
    run(&sandbox, &agent).args(["--test-cmd", TEST]).run().assert_code(5);
    let seen = ralph(&sandbox).args(["run", "--dry-run"]).run();
    seen.assert_code(0)
        .assert_stdout_has("Run 1 would be continued, but the circuit is open")
        .assert_stdout_has("no_progress: 3 iterations with no file changes; no run begins before ")
        .assert_stdout_has("---RALPH_STATUS---");
    assert_eq!(status(&sandbox)["circuit"]["state"], "OPEN", "nothing was tried");
    sandbox.write("green", "");
    let mended = ralph(&sandbox).args(["run", "--probe"]).run();
    mended
        .assert_code(0)
        .assert_stderr_has("circuit closed: what the probe claimed was proved")
        .assert_stderr_has("✓ COMPLETE");
    assert_eq!(status(&sandbox)["circuit"]["state"], "CLOSED");
}

#[test]
fn a_probe_that_ends_in_the_error_that_the_circuit_opened_for_opens_it_again() {
    let sandbox = repository();
    let agent = one_call(&sandbox, works("notes.md").status(&ralph_testkit::StatusBlock::done()));
    let opened = run(&sandbox, &agent).args(["--test-cmd", TEST]).run();
    opened.assert_code(5).assert_stderr_has("✗ CIRCUIT OPEN: same_error: 5 iterations");
    let probe = ralph(&sandbox).args(["run", "--probe"]).run();
    probe
        .assert_code(5)
        .assert_stderr_has("the probe made no progress: it ended in the error that the circuit opened for")
        .assert_stderr_has("✗ CIRCUIT OPEN: same_error: 6 iterations")
        .assert_stderr_lacks("circuit closed");
    assert_eq!(agent.calls(&sandbox).len(), 6, "exactly one iteration");
    assert_eq!(status(&sandbox)["circuit"]["failed_probes"], 1);
    sandbox.write("green", "");
    let mended = ralph(&sandbox).args(["run", "--probe", "--reviews", "0"]).run();
    mended.assert_code(0).assert_stderr_has("circuit closed: the probe made progress");
}

#[test]
fn a_probe_for_whose_claim_nothing_but_words_speaks_opens_the_circuit_again() {
    let sandbox = repository();
    sandbox.write("fix_plan.md", "- [ ] one\n- [ ] two\n- [ ] three\n- [ ] four\n- [ ] five\n");
    sandbox.commit_all("plan");
    // Three items trip the breaker one after the other; then only words come.
    let nothing = ralph_testkit::StatusBlock { tasks: 0, ..ralph_testkit::StatusBlock::in_progress() };
    let idle = || Steps::new().say("Still looking.").status(&nothing);
    let agent = (0..9).fold(FakeAgent::new("agent"), |agent, _| agent.call(idle()));
    let agent = agent.call(says_done()).install(&sandbox);
    let begun = ralph(&sandbox).args(["run", "--test-cmd", "true", "--agent-cmd"]).arg(agent.path()).run();
    begun.assert_code(5).assert_stderr_has(
        "✗ CIRCUIT OPEN: no_progress: 3 iterations with no file changes, on 3 items in a row",
    );
    let before = agent.calls(&sandbox).len();
    assert_eq!(before, 9);
    for probes in 1..=2 {
        let probe = ralph(&sandbox).args(["run", "--probe"]).run();
        probe
            .assert_code(5)
            .assert_stderr_has("the probe made no progress")
            .assert_stderr_has("✗ CIRCUIT OPEN: no_progress")
            .assert_stderr_lacks("closed:");
        let known = status(&sandbox);
        assert_eq!(known["circuit"]["state"], "OPEN");
        assert_eq!(known["circuit"]["failed_probes"], probes);
        assert_eq!(agent.calls(&sandbox).len(), before + probes, "exactly one iteration");
    }
}

#[test]
fn a_probe_about_the_whole_that_changes_nothing_needs_a_check_that_was_red() {
    let sandbox = repository();
    let agent = FakeAgent::new("agent")
        .call(says_more())
        .call(says_more())
        .call(says_more())
        .call(says_done())
        .install(&sandbox);
    run(&sandbox, &agent).args(["--test-cmd", "true"]).run().assert_code(5);
    let words = ralph(&sandbox).args(["run", "--probe"]).run();
    words.assert_code(5).assert_stderr_has(
        "the probe made no progress: it claimed done and changed nothing, and no check that was red is green",
    );
    // The next one is the review that the claim needs: with it the run is complete.
    let complete = ralph(&sandbox).args(["run", "--probe"]).run();
    complete.assert_code(0).assert_stderr_has("⚠ COMPLETE").assert_stderr_has("nothing was changed");
    assert_eq!(status(&sandbox)["circuit"]["state"], "CLOSED");
}

#[test]
fn a_probe_that_makes_progress_closes_the_circuit() {
    let sandbox = repository();
    let more = says_more();
    let agent = FakeAgent::new("agent")
        .call(more.clone())
        .call(more.clone())
        .call(more)
        .call(works("a.txt").status(&ralph_testkit::StatusBlock::in_progress()))
        .call(Steps::new().write("green", "").status(&ralph_testkit::StatusBlock::done()))
        .call(says_done())
        .install(&sandbox);
    run(&sandbox, &agent).args(["--test-cmd", TEST]).run().assert_code(5);
    ralph(&sandbox).args(["run", "--probe"]).run().assert_code(0).assert_stderr_has("✓ COMPLETE");
    assert_eq!(status(&sandbox)["circuit"]["state"], "CLOSED");
}

#[test]
fn profile_rotations_hears_the_status_file_and_needs_three_unchanged_dones() {
    let sandbox = repository();
    let agent = FakeAgent::new("agent")
        .call(works("a.txt").write(".ralph/handoff.md", "next: b\n").write(".ralph/status", "CONTINUE\n"))
        .call(works("b.txt").write(".ralph/status", "ROTATE\n"))
        .call(works("b.txt").write(".ralph/status", "DONE\n"))
        .call(Steps::new().write(".ralph/status", "DONE\n"))
        .install(&sandbox);
    run(&sandbox, &agent)
        .args(["--profile", "rotations"])
        .run()
        .assert_code(0)
        .assert_stderr_has("iteration 4/20 (#4) [REVIEW] begins")
        .assert_stderr_has("iteration 1/20 (#1): CONTINUE, 1 file changed")
        .assert_stderr_has("iteration 2/20 (#2): ROTATE, 1 file changed")
        .assert_stderr_has("✓ COMPLETE, proof: reviews: 3/3 reviews without a change")
        .assert_stderr_lacks("no report");
    let calls = agent.calls(&sandbox);
    assert_eq!(calls.len(), 6);
    assert!(calls[0].prompt.contains("Write one word into .ralph/status"), "{}", calls[0].prompt);
    assert!(calls[1].prompt.contains("next: b"), "{}", calls[1].prompt);
}

#[test]
fn a_stuck_signal_blocks_and_an_old_one_never_ends_a_new_run() {
    let sandbox = repository();
    let agent = FakeAgent::new("agent")
        .call(Steps::new().write(".ralph/status", "STUCK\n"))
        .call(works("a.txt").say("no signal this time"))
        .install(&sandbox);
    run(&sandbox, &agent)
        .args(["--profile", "rotations"])
        .run()
        .assert_code(2)
        .assert_stderr_has("(#1): STUCK")
        .assert_stderr_has("the agent wrote STUCK into .ralph/status and nothing into .ralph/handoff.md");
    ralph(&sandbox).args(["run", "--max-iterations", "2"]).run().assert_code(3);
}

#[test]
fn the_signal_is_idle_until_the_agent_writes_it_and_can_be_read_afterwards() {
    let sandbox = repository();
    let needs = "I need the password of the staging server.\n";
    let agent = FakeAgent::new("agent")
        .call(works("a.txt").shell("cp .ralph/status first").write(".ralph/status", "ROTATE\n"))
        .call(
            Steps::new()
                .shell("cp .ralph/status second")
                .write(".ralph/handoff.md", needs)
                .write(".ralph/status", "STUCK\n"),
        )
        .install(&sandbox);
    let told = "STUCK, by .ralph/handoff.md: I need the password of the staging server.";
    run(&sandbox, &agent).args(["--profile", "rotations"]).run().assert_code(2).assert_stderr_has(told);
    ralph(&sandbox).args(["history", "2"]).run().assert_code(0).assert_stdout_has(told);
    ralph(&sandbox).arg("history").run().assert_code(0).assert_stdout_has(told);
    assert_eq!((sandbox.read("first").trim(), sandbox.read("second").trim()), ("IDLE", "IDLE"));
    assert_eq!(sandbox.read(".ralph/status"), "STUCK\n");
    assert_eq!(sandbox.read(".ralph/handoff.md"), needs);
    ralph(&sandbox)
        .arg("status")
        .run()
        .assert_code(0)
        .assert_stdout_has("status:     blocked: ")
        .assert_stdout_has(told)
        .assert_stdout_has("last:       #2 STUCK, 1 file changed");
}

#[test]
fn a_signal_that_cannot_be_reset_is_not_heard_again() {
    let sandbox = repository();
    let agent = FakeAgent::new("agent")
        .call(Steps::new().write(".ralph/status", "DONE\n").write(".ralph/.status.new/in-the-way", ""))
        .call(Steps::new().say("no signal this time"))
        .install(&sandbox);
    run(&sandbox, &agent)
        .args(["--profile", "rotations", "--max-iterations", "4"])
        .run()
        .assert_code(3)
        .assert_stderr_has(".ralph/status cannot be reset, so no signal in it is heard");
    let history = history(&sandbox);
    let outcomes: Vec<_> = history.iter().map(|entry| &entry["outcome"]).collect();
    assert_eq!(outcomes, ["accepted", "silent", "silent", "silent"]);
    let problems = history[1]["problems"].to_string();
    assert!(problems.contains("no signal in it is heard"), "{problems}");
}

#[test]
fn profile_phases_hears_json_and_marker_and_wants_completion_language() {
    let sandbox = repository();
    let report = "RALPH_STATUS: {\"completion_indicators\": 2, \"EXIT_SIGNAL\": true}\nLOOP_COMPLETE";
    let agent = FakeAgent::new("agent")
        .call(works("a.txt").say(report))
        .call(works("a.txt").say(format!("All tasks are complete. There is nothing left to do.\n\n{report}")))
        .install(&sandbox);
    run(&sandbox, &agent)
        .args(["--profile", "phases"])
        .run()
        .assert_code(0)
        .assert_stderr_has("claims done, but its prose says so 0 of 2 times")
        .assert_stderr_has("✓ COMPLETE, proof: words");
    assert!(agent.calls(&sandbox)[0].prompt.contains("LOOP_COMPLETE_PHASE_1"));
}

#[test]
fn a_check_that_was_red_before_is_named_and_can_be_tolerated() {
    let sandbox = repository();
    let agent = one_call(&sandbox, works("a.txt").status(&ralph_testkit::StatusBlock::done()));
    run(&sandbox, &agent)
        .args(["--test-cmd", TEST, "--max-iterations", "1"])
        .run()
        .assert_code(3)
        .assert_stderr_has("before the run: ✗")
        .assert_stderr_has("(is_green, red before the run)");
    assert!(agent.calls(&sandbox)[0].prompt.contains("Before the loop began:"));
    ralph(&sandbox)
        .args([
            "run",
            "another goal",
            "--test-cmd",
            TEST,
            "--set",
            "baseline=tolerate",
            "--reviews",
            "0",
            "--agent-cmd",
        ])
        .arg(agent.path())
        .run()
        .assert_code(0)
        .assert_stderr_has("tolerated: red before the run");
}

#[test]
fn a_new_failure_is_called_new() {
    let sandbox = repository();
    sandbox.write("green", "");
    let agent = one_call(&sandbox, Steps::new().delete("green").status(&ralph_testkit::StatusBlock::done()));
    run(&sandbox, &agent)
        .args(["--test-cmd", TEST, "--max-iterations", "1"])
        .run()
        .assert_code(3)
        .assert_stderr_has("exit 1 (is_green, new)");
}

#[test]
fn todo_comments_that_the_run_added_are_shown_and_refuse_in_profile_dual() {
    let prose = "All tasks are complete. There is nothing left to do.";
    for (profile, code, word) in [("default", 0, "⚠ COMPLETE"), ("dual", 3, "refused")] {
        let sandbox = repository();
        sandbox.write("old.rs", "// TODO: was here before\n");
        let steps = Steps::new().write("new.rs", "// TODO: do it properly\n").say(prose);
        let agent = one_call(&sandbox, steps.status(&ralph_testkit::StatusBlock::done()));
        run(&sandbox, &agent)
            .args(["--profile", profile, "--test-cmd", "true", "--max-iterations", "2"])
            .run()
            .assert_code(code)
            .assert_stderr_has(word)
            .assert_stderr_has(
                "1 line with TODO, FIXME or unimplemented! added: new.rs: // TODO: do it properly",
            );
    }
}

#[test]
fn budgets_of_tokens_and_money_stop_with_six_and_say_how_to_go_on() {
    let result = || ralph_testkit::ClaudeResult::success("Going on.").usage(100, 50).cost_usd(0.01);
    for (args, word) in [(["--max-tokens", "10"], "max_tokens"), (["--budget", "0.001"], "budget")] {
        let sandbox = repository();
        let agent = one_call(&sandbox, works("a.txt").claude_init().claude_result(result()));
        run(&sandbox, &agent)
            .args(args)
            .run()
            .assert_code(6)
            .assert_stderr_has(&format!("ralph run {}", args[0]));
        assert_eq!(status(&sandbox)["stop_reason"], word);
        assert_eq!(agent.calls(&sandbox).len(), 1);
    }
}

#[test]
fn a_usage_limit_is_handed_to_the_next_agent_and_is_not_counted() {
    let sandbox = repository();
    let limited = Steps::new().complain("You've hit your session limit · resets 3:00am (UTC)").exit(1);
    let first = FakeAgent::new("first").call(limited).install(&sandbox);
    let second =
        one_call(&sandbox, Steps::new().write("green", "").status(&ralph_testkit::StatusBlock::done()));
    let finished = ralph(&sandbox)
        .args(["run", "goal", "--test-cmd", TEST, "--reviews", "0", "--max-iterations", "1", "--agent-cmd"])
        .arg(first.path())
        .arg("--agent-cmd")
        .arg(second.path())
        .run();
    finished.assert_code(0).assert_stderr_has("LIMITED");
    let entries = history(&sandbox);
    assert_eq!(entries.len(), 2);
    assert_eq!((&entries[0]["outcome"], &entries[1]["outcome"]), (&"limited".into(), &"accepted".into()));
    assert_eq!(status(&sandbox)["run_iteration"], 1);
}

#[test]
fn a_limit_with_a_known_end_is_waited_for() {
    let sandbox = repository();
    let agent = FakeAgent::new("agent")
        .call(Steps::new().complain("API Error: 429 rate limited, retry after 1 seconds").exit(1))
        .call(Steps::new().write("green", "").status(&ralph_testkit::StatusBlock::done()))
        .install(&sandbox);
    run(&sandbox, &agent)
        .args(["--test-cmd", TEST, "--reviews", "0"])
        .run()
        .assert_code(0)
        .assert_stderr_has("[ralph] waiting until ")
        .assert_stderr_has("✓ COMPLETE");
}

#[test]
fn a_question_asked_twice_blocks_with_the_question() {
    let sandbox = repository();
    let agent = one_call(&sandbox, Steps::new().say("Shall I use Postgres or SQLite?"));
    run(&sandbox, &agent).run().assert_code(2).assert_stderr_has("it asks: Shall I use Postgres or SQLite?");
    assert_eq!(agent.calls(&sandbox).len(), 2);
}

#[test]
fn tests_alone_three_times_saturate_in_profile_analyzer() {
    let sandbox = repository();
    let agent =
        one_call(&sandbox, works("tests/a_test.py").status(&ralph_testkit::StatusBlock::in_progress()));
    run(&sandbox, &agent)
        .args(["--profile", "analyzer"])
        .run()
        .assert_code(3)
        .assert_stderr_has("test_saturation: 3 iterations in a row touched tests alone");
}

#[test]
fn build_test_and_lint_run_in_that_order_and_each_can_refuse() {
    let sandbox = repository();
    let agent = one_call(&sandbox, works("a.txt").status(&ralph_testkit::StatusBlock::done()));
    run(&sandbox, &agent)
        .args(["--lint-cmd", "echo lint; exit 3", "--build-cmd", "true", "--test-cmd", "true"])
        .args(["--max-iterations", "1", "--set", "baseline=off"])
        .run()
        .assert_code(3)
        .assert_stderr_has("refused: `echo lint; exit 3` exit 3");
    let names: Vec<String> = history(&sandbox)[0]["checks"]
        .as_array()
        .expect("checks")
        .iter()
        .map(|check| check["name"].as_str().unwrap_or_default().to_owned())
        .collect();
    assert_eq!(names, ["build", "test", "lint"]);
}

#[test]
fn wrong_profiles_and_settings_are_64_and_name_what_would_be_right() {
    let sandbox = repository();
    let agent = one_call(&sandbox, says_done());
    for (args, says) in [
        (["--profile", "strickt"], "--profile strict"),
        (["--set", "reviewz=1"], "try: write reviews instead of reviewz"),
        (["--set", "gate=both"], "one of dual, explicit, evidence"),
        (["--set", "gate"], "KEY=VALUE"),
        (["--budget", "lots"], "dollars"),
        (["--profile", "worker"], "--test-cmd"),
    ] {
        run(&sandbox, &agent).args(args).run().assert_code(64).assert_stderr_has(says);
    }
    assert!(!sandbox.exists(".ralph"), "nothing was written");
}

const NARRATED: &str = "The sum is fixed. All tests pass, and all tasks are complete.\n\n";

/// An agent as Claude Code prints one: it says what it will do, does it, and reports.
fn narrates(final_message: &str) -> Steps {
    let edit = serde_json::json!({"file_path": "green", "old_string": "a", "new_string": "b"});
    Steps::new()
        .claude_init()
        .claude_text("Let me look at the module first.")
        .claude_tool("Read", serde_json::json!({"file_path": "README.md"}))
        .claude_tool_ok("# project")
        .claude_text("The sign is wrong. I'll fix it now; the tests remain to be run.")
        .claude_tool("Edit", edit)
        .write("green", "yes\n")
        .claude_tool_ok("done")
        .claude_text(final_message)
        .claude_result(ralph_testkit::ClaudeResult::success(final_message))
}

fn block(status: &str, tests: &str, signal: &str) -> String {
    format!(
        "---RALPH_STATUS---\nSTATUS: {status}\nTASKS_COMPLETED_THIS_LOOP: 1\nFILES_MODIFIED: 1\nTESTS_STATUS: {tests}\nWORK_TYPE: IMPLEMENTATION\nEXIT_SIGNAL: {signal}\nRECOMMENDATION: none\n---END_RALPH_STATUS---"
    )
}

#[test]
fn an_agent_that_narrates_completes_under_every_profile_that_reads_its_prose() {
    let json =
        "RALPH_STATUS: {\"completion_indicators\": 2, \"EXIT_SIGNAL\": true}\nLOOP_COMPLETE".to_owned();
    let plain = block("COMPLETE", "PASSING", "true");
    for (profile, report) in [("strict", &plain), ("dual", &plain), ("phases", &json)] {
        let sandbox = repository();
        let agent = one_call(&sandbox, narrates(&format!("{NARRATED}{report}")));
        run(&sandbox, &agent)
            .args(["--profile", profile, "--test-cmd", TEST])
            .run()
            .assert_code(0)
            .assert_stderr_has("COMPLETE")
            .assert_stderr_lacks("announces further work");
    }
}

#[test]
fn a_plain_agent_that_narrates_in_paragraphs_of_its_own_completes() {
    let sandbox = repository();
    let steps = Steps::new()
        .say("I'll start with the module.\n")
        .write("green", "yes\n")
        .say(format!("{NARRATED}{}", block("COMPLETE", "PASSING", "true")));
    let agent = one_call(&sandbox, steps);
    run(&sandbox, &agent).args(["--profile", "dual", "--test-cmd", TEST]).run().assert_code(0);
}

#[test]
fn honest_variants_of_a_report_complete_and_are_named_on_the_screen() {
    for (words, problem) in [
        (
            format!("{NARRATED}{}", block("COMPLETED", "PASSED (12/12)", "true.")),
            "in its output: STATUS: COMPLETED was read as COMPLETE; TESTS_STATUS: PASSED (12/12) was read as PASSING; EXIT_SIGNAL: true. was read as true",
        ),
        (
            format!("{} {}", NARRATED.trim(), block("COMPLETE", "PASSING", "true")),
            "in its output: the block begins in the middle of a line",
        ),
    ] {
        let sandbox = repository();
        let agent = one_call(&sandbox, narrates(&words));
        run(&sandbox, &agent)
            .args(["--profile", "dual", "--test-cmd", TEST])
            .run()
            .assert_code(0)
            .assert_stderr_has(problem);
    }
}

#[test]
fn an_open_circuit_says_how_a_claim_was_read_that_it_did_not_take_for_done() {
    for (profile, prose, tests, claim) in [
        ("default", NARRATED, "MOSTLY", "claim: the claim was read as not done: TESTS_STATUS 'MOSTLY'"),
        (
            "dual",
            "All tests pass. Next I will write the docs.\n\n",
            "PASSING",
            "claim: tests pass, but the claim was read as not done: its last message announces further work: \"Next I will write the docs\"",
        ),
    ] {
        let sandbox = repository();
        let words = format!("{prose}{}", block("COMPLETE", tests, "true"));
        let agent = one_call(&sandbox, Steps::new().say(words));
        run(&sandbox, &agent)
            .args(["--profile", profile])
            .run()
            .assert_code(5)
            .assert_stderr_has("✗ CIRCUIT OPEN: no_progress")
            .assert_stderr_has(claim);
    }
}
