//! Rows of the seeds 000, 001, 002 and 004 that no other file is about, by the real binary.

mod common;

use common::{GOAL, history, one_call, ralph, repository, run, status};
use ralph_testkit::{FakeAgent, InstalledAgent, Sandbox, StatusBlock, Steps};
use serde_json::{Value, json};

/// What `ralph analyze` makes of an agent's last words.
fn analysis(profile: &str, words: &str) -> Value {
    let sandbox = Sandbox::new();
    let finished = ralph(&sandbox).args(["analyze", "--profile", profile]).stdin(words.to_owned()).run();
    finished.assert_code(0);
    finished.json()
}

fn indicators(words: &str) -> u64 {
    analysis("analyzer", words)["completion_indicators"].as_u64().expect("a number")
}

fn decision(profile: &str, words: &str) -> String {
    analysis(profile, words)["exit_decision"].as_str().expect("a word").to_owned()
}

fn json_report(words: &str, signal: bool, marker: &str) -> String {
    format!(
        "{words}\n\nRALPH_STATUS: {{\"completion_indicators\": 2, \"EXIT_SIGNAL\": {signal}}}\n{marker}\n"
    )
}

fn block(status: &str, exit_signal: bool) -> String {
    StatusBlock { status: status.into(), exit_signal, ..StatusBlock::done() }.to_string()
}

#[test]
fn every_completion_pattern_of_seed_002_counts_alone_and_whatever_its_case() {
    for words in [
        "All tests pass.",
        "All the stories are now complete.",
        "The project is complete.",
        "Implementation complete.",
        "There is nothing left for me to do.",
        "All tasks completed.",
        "Everything is COMPLETE.",
        "100% complete.",
    ] {
        for words in [words.to_owned(), words.to_lowercase(), words.to_uppercase()] {
            assert_eq!(indicators(&words), 1, "{words}");
        }
    }
    for words in ["It is 90% complete.", "The lexer is COMPLETE."] {
        assert_eq!(indicators(words), 0, "{words}");
    }
}

#[test]
fn every_phrase_and_word_of_seeds_000_and_004_counts_about_the_whole_and_further_work_cancels() {
    for words in
        ["All done.", "Everything passes.", "No remaining work.", "All tasks complete.", "Project ready."]
    {
        assert_eq!(indicators(words), 1, "{words}");
    }
    assert_eq!(indicators("The phase is finished."), 1);
    for word in ["done", "complete", "finished", "ready", "implemented", "built"] {
        assert_eq!(indicators(&format!("Everything is {word}.")), 1, "{word}");
        assert_eq!(indicators(&format!("The login page is {word}.")), 0, "{word}");
    }
    let twice = "All tasks complete. The project is ready.";
    assert_eq!(indicators(twice), 2);
    for words in [
        "Next I write the exporter.",
        "I will continue with the exporter.",
        "There is more work in the exporter.",
        "Remaining: the exporter.",
        "TODO: the exporter.",
    ] {
        assert_eq!(indicators(&format!("{twice} {words}")), 0, "{words}");
    }
}

#[test]
fn the_exit_logic_of_seed_002_branch_by_branch() {
    let twice = "All tests pass. All stories are complete.\n\n";
    for (words, report, expected) in [
        (twice, block("COMPLETE", true), "project_complete"),
        (twice, block("COMPLETE", false), "continue"),
        ("", block("COMPLETE", true), "project_complete"),
        ("", block("COMPLETE", false), "continue"),
        ("", block("BLOCKED", false), "blocked"),
        (twice, block("BLOCKED", true), "blocked"),
        ("", block("IN_PROGRESS", false), "continue"),
        (twice, String::new(), "continue"),
    ] {
        assert_eq!(decision("analyzer", &format!("{words}{report}")), expected, "{words}{report}");
    }
    let boast = format!("{}{}", twice.repeat(10), block("COMPLETE", false));
    assert_eq!(decision("analyzer", &boast), "continue", "an explicit false beats any completion language");
    let both = format!("{}\n\n{}", block("COMPLETE", true), block("IN_PROGRESS", false));
    assert_eq!(decision("analyzer", &both), "continue", "the last of several");
    let odd = block("COMPLETE", true).replace("EXIT_SIGNAL: true", "EXIT_SIGNAL: maybe");
    assert_eq!(decision("analyzer", &format!("{twice}{odd}")), "continue", "an ambiguous signal is false");
}

#[test]
fn the_dual_tables_of_seeds_000_and_004_and_every_marker() {
    let (twice, once, none) = ("All done. Everything passes.", "All done.", "I looked around.");
    for (words, signal, expected) in [
        (twice, true, "project_complete"),
        (twice, false, "continue"),
        (once, true, "continue"),
        (none, true, "continue"),
        (none, false, "continue"),
    ] {
        let marker = if signal { "LOOP_COMPLETE" } else { "LOOP_CONTINUE" };
        assert_eq!(decision("phases", &json_report(words, signal, marker)), expected, "{words} {signal}");
        let said = format!("{words}\n\n{}", block("COMPLETE", signal));
        assert_eq!(decision("dual", &said), expected, "{words} {signal}");
    }
    for (marker, vote) in [
        ("LOOP_COMPLETE_PHASE_1", json!({"vote": "done", "phase": 1})),
        ("LOOP_COMPLETE_PHASE_2", json!({"vote": "done", "phase": 2})),
        ("LOOP_COMPLETE_PHASE_3", json!({"vote": "done", "phase": 3})),
        ("LOOP_COMPLETE", json!({"vote": "done", "phase": null})),
        ("LOOP_BLOCKED: no database", json!({"vote": "blocked", "why": "no database"})),
        ("LOOP_CONTINUE", json!({"vote": "more"})),
    ] {
        assert_eq!(
            analysis("phases", &json_report(twice, true, marker))["dialects"][0]["vote"],
            vote,
            "{marker}"
        );
    }
    let boast = json_report(none, true, "LOOP_COMPLETE").replace(": 2,", ": 9,");
    assert_eq!(decision("phases", &boast), "continue", "the agent's own number does not decide");
    let template = "RALPH_STATUS: {\"completion_indicators\": N, \"EXIT_SIGNAL\": true/false}\n\nLOOP_BLOCKED: [specific reason]";
    assert_eq!(analysis("phases", template)["dialects"], json!([]), "a template is not a report");
}

fn plays(sandbox: &Sandbox, turns: Vec<Steps>) -> InstalledAgent {
    turns.into_iter().fold(FakeAgent::new("agent"), FakeAgent::call).install(sandbox)
}

fn phases(sandbox: &Sandbox, agent: &InstalledAgent, most: usize) -> ralph_testkit::Finished {
    run(sandbox, agent).args(["--profile", "phases", "--max-iterations", &most.to_string()]).run()
}

fn state(sandbox: &Sandbox) -> Value {
    serde_json::from_str(&sandbox.read(".ralph/state.json")).expect("JSON")
}

/// Each saturation of seed 004 names its reason wherever somebody looks.
fn says_why(sandbox: &Sandbox, finished: &ralph_testkit::Finished, why: &str) {
    finished.assert_code(0).assert_stderr_has("✓ COMPLETE").assert_stderr_has(&format!("ended by: {why}"));
    assert!(status(sandbox)["stop_text"].to_string().contains(why), "{}", status(sandbox));
    ralph(sandbox).arg("status").run().assert_code(0).assert_stdout_has(why);
    assert!(sandbox.read(".ralph/session.md").contains(why), "{}", sandbox.read(".ralph/session.md"));
    assert_eq!(state(sandbox)["last_iteration_status"], "LOOP_COMPLETE");
}

#[test]
fn each_saturation_of_seed_004_completes_and_names_its_reason_everywhere() {
    let goes_on = || json_report("Going on.", false, "LOOP_CONTINUE");
    let tests = || Steps::new().append("tests/a_test.py", "x\n").say(goes_on());
    let work = || Steps::new().append("src/a.py", "x\n").say(goes_on());

    let sandbox = repository();
    let agent = plays(&sandbox, vec![tests(), tests(), tests()]);
    let why = "test_saturation: 3 iterations in a row touched tests alone";
    says_why(&sandbox, &phases(&sandbox, &agent, 5), why);
    assert_eq!(state(&sandbox)["exit_conditions"]["consecutive_test_loops"], 3);

    let sandbox = repository();
    let talks = || {
        let said = json_report("All tasks complete. The project is ready.", false, "LOOP_CONTINUE");
        Steps::new().append("src/a.py", "x\n").say(said)
    };
    let agent = plays(&sandbox, vec![talks(), talks()]);
    let why = "done_saturation: 2 iterations in a row talked of being done while work went on";
    says_why(&sandbox, &phases(&sandbox, &agent, 5), why);

    let sandbox = repository();
    let turns = (0..10).map(|nth| if [0, 4, 8].contains(&nth) { tests() } else { work() }).collect();
    let agent = plays(&sandbox, turns);
    says_why(
        &sandbox,
        &phases(&sandbox, &agent, 12),
        "test_saturation: 30% of 10 iterations touched tests alone",
    );
    assert_eq!(history(&sandbox).len(), 10);
    assert_eq!(state(&sandbox)["exit_conditions"]["test_percentage"], 30);
}

#[test]
fn each_reason_of_seed_004_s_breaker_opens_it_and_is_told_as_a_block() {
    let goes_on = json_report("Going on.", false, "LOOP_CONTINUE");
    let idle = || Steps::new().say(&goes_on);
    let failing = || {
        let said = json_report("error: no such table: users", false, "LOOP_CONTINUE");
        Steps::new().append("src/a.py", "x\n").say(said)
    };
    let long = || Steps::new().append("src/a.py", "x\n").say("x ".repeat(500));
    let shrinks = || Steps::new().say("x ".repeat(100));
    for (turns, why) in [
        (vec![idle(), idle(), idle()], "no_progress: 3 iterations with no file changes"),
        (
            vec![failing(), failing(), failing(), failing(), failing()],
            "same_error: 5 iterations with error: error: no such table: users",
        ),
        (vec![long(), long(), long(), shrinks()], "output_decline: output declined by 80%"),
    ] {
        let (sandbox, count) = (repository(), turns.len());
        let agent = plays(&sandbox, turns);
        phases(&sandbox, &agent, 9).assert_code(5).assert_stderr_has(why);
        assert_eq!(history(&sandbox).len(), count);
        let state = state(&sandbox);
        assert_eq!(state["blocker_reason"], format!("circuit_breaker_open - {why}"));
        assert_eq!(state["last_iteration_status"], "LOOP_BLOCKED");
        assert_eq!(
            (&state["circuit_breaker"]["state"], &state["circuit_breaker"]["reason"]),
            (&json!("open"), &json!(why))
        );
        let next = run(&sandbox, &agent).args(["--profile", "phases"]).run();
        next.assert_code(5);
        assert_eq!(agent.calls(&sandbox).len(), count, "an open circuit starts no agent");
    }
}

#[test]
fn each_stuck_indicator_of_seed_002_has_its_action() {
    let analyzer = |sandbox: &Sandbox, agent: &InstalledAgent, most: &str| {
        run(sandbox, agent).args(["--profile", "analyzer", "--max-iterations", most]).run()
    };
    let idle = || Steps::new().status(&StatusBlock::in_progress());
    let sandbox = repository();
    let agent = one_call(&sandbox, idle());
    analyzer(&sandbox, &agent, "3").assert_code(3);
    assert_eq!(status(&sandbox)["circuit"]["state"], "HALF_OPEN", "three without a change");
    let sandbox = repository();
    let agent = one_call(&sandbox, idle());
    analyzer(&sandbox, &agent, "9").assert_code(5);
    assert_eq!(history(&sandbox).len(), 4, "one more decides");

    let sandbox = repository();
    let failing = Steps::new().append("a.py", "x\n").say("error[E0308]: mismatched types");
    let agent = one_call(&sandbox, failing.status(&StatusBlock::in_progress()));
    analyzer(&sandbox, &agent, "9").assert_code(5).assert_stderr_has("same_error: 5 iterations");

    let sandbox = repository();
    let long = || Steps::new().append("a.py", "x\n").say("x ".repeat(500));
    let agent = plays(&sandbox, vec![long(), long(), long(), Steps::new().say("x ".repeat(100))]);
    let declined = analyzer(&sandbox, &agent, "4");
    declined.assert_code(3).assert_stderr_has("output_decline: output declined by 80%");
    assert_eq!(status(&sandbox)["circuit"]["state"], "CLOSED", "a warning is all");
}

#[test]
fn an_agent_that_says_nothing_is_told_in_the_words_of_its_profile() {
    for (profile, asks) in [
        ("rotations", "CONTINUE, ROTATE, DONE or STUCK in .ralph/status"),
        ("phases", "RALPH_STATUS: {…} and a marker such as LOOP_CONTINUE"),
        ("default", "the prompt asks for a status block"),
    ] {
        let sandbox = repository();
        let agent = one_call(&sandbox, Steps::new().append("a.txt", "x\n").say("I worked on it."));
        let finished = run(&sandbox, &agent).args(["--profile", profile, "--max-iterations", "1"]).run();
        finished.assert_code(3).assert_stderr_has(asks);
    }
}

#[test]
fn every_signal_of_seed_001_can_be_explained() {
    let sandbox = Sandbox::new();
    for (word, says) in [
        ("STUCK", "exit code 2"),
        ("DONE", "one pass"),
        ("ROTATE", "fresh context"),
        ("CONTINUE", "starts the next iteration"),
        ("IDLE", "No signal yet"),
    ] {
        let finished = ralph(&sandbox).args(["explain", word]).run();
        finished.assert_code(0).assert_stdout_has(says);
        assert!(finished.stdout.starts_with(word), "{finished}");
    }
}

const TWICE: &str = "All tasks are complete. There is nothing left to do.";

#[test]
fn a_goal_in_profile_dual_is_refused_while_a_task_file_has_open_items() {
    let tasks = json!({"stories": [{"id": "S-1", "title": "one", "passes": true}, {"id": "S-2", "title": "two", "passes": false}]});
    for (file, text) in
        [("IMPLEMENTATION_PLAN.md", "- [x] one\n- [ ] two\n".to_owned()), ("prd.json", tasks.to_string())]
    {
        for (profile, refused) in [("dual", true), ("default", false)] {
            let sandbox = repository();
            sandbox.write(file, &text);
            sandbox.commit_all("a plan");
            let done = Steps::new().append("a.txt", "x\n").say(TWICE).status(&StatusBlock::done());
            let agent = one_call(&sandbox, done);
            let common =
                ["--profile", profile, "--test-cmd", "true", "--reviews", "0", "--max-iterations", "2"];
            let finished = run(&sandbox, &agent).args(common).run();
            finished.assert_code(if refused { 3 } else { 0 });
            let told = format!("1 of 2 items in {file} open");
            assert_eq!(finished.stderr.contains(&told), refused, "{finished}");
            assert_eq!(agent.calls(&sandbox).last().is_some_and(|call| call.prompt.contains(&told)), refused);
        }
    }
    let sandbox = repository();
    sandbox.write("IMPLEMENTATION_PLAN.md", "- [ ] one\n");
    let ticks = Steps::new().write("IMPLEMENTATION_PLAN.md", "- [x] one\n").append("a.txt", "x\n");
    let agent = one_call(&sandbox, ticks.say(TWICE).status(&StatusBlock::done()));
    run(&sandbox, &agent).args(["--profile", "dual", "--test-cmd", "true"]).run().assert_code(0);
}

fn emit(sandbox: &Sandbox) -> ralph_testkit::Finished {
    let told = "All tasks complete, tests passing";
    let args = [
        "report", "emit", "--tasks", "1", "--work-type", "TESTING", "--test-cmd", "true", "--recommendation",
        told,
    ];
    ralph(sandbox).args(args).run()
}

#[test]
fn a_report_sees_open_items_of_every_task_file_and_work_that_was_put_off() {
    let check = |sandbox: &Sandbox| {
        ralph(sandbox).args(["report", "check"]).stdin(StatusBlock::done().to_string()).run()
    };
    let stories =
        |done: bool| json!({"stories": [{"id": "S-1", "title": "pay", "passes": done}]}).to_string();
    let sandbox = repository();
    sandbox.write("IMPLEMENTATION_PLAN.md", "- [x] one\n");
    sandbox.write("prd.json", stories(false));
    sandbox.write("src/old.rs", "// TODO: was here before\n");
    sandbox.commit_all("a plan");
    emit(&sandbox)
        .assert_code(0)
        .assert_stdout_has("STATUS: IN_PROGRESS\n")
        .assert_stdout_has("EXIT_SIGNAL: false");
    check(&sandbox).assert_code(1).assert_stdout_has("1 open item in the plan: pay (prd.json)");

    sandbox.write("prd.json", stories(true));
    sandbox.commit_all("paid");
    emit(&sandbox).assert_code(0).assert_stdout_has("EXIT_SIGNAL: true");
    check(&sandbox).assert_code(0).assert_stderr_has("no TODO, FIXME or unimplemented! added");

    for (left, file) in [
        ("// TODO: b", "src/old.rs"),
        ("// FIXME", "src/new.rs"),
        (concat!("unimplemented!", "()"), "src/new.rs"),
    ] {
        let before = if file == "src/old.rs" { "// TODO: was here before\n" } else { "" };
        sandbox.write(file, format!("{before}{left}\n"));
        let told = format!("1 line with TODO, FIXME or unimplemented! added: {file}: {left}");
        let emitted = emit(&sandbox);
        emitted.assert_code(0).assert_stdout_has("EXIT_SIGNAL: false").assert_stderr_has(&told);
        let checked = check(&sandbox);
        checked.assert_code(1).assert_stdout_has("exit_signal_justified: ").assert_stdout_has(&told);
        sandbox.git(&["checkout", "-q", "--", "src/old.rs"]);
        if file == "src/new.rs" {
            sandbox.git(&["clean", "-fq", file]);
        }
    }
}

#[test]
fn an_agent_s_own_report_sees_what_the_run_put_off_though_it_is_committed() {
    let sandbox = repository();
    let emits = format!(
        "git add -A && git commit -qm work && {} report emit --tasks 1 --work-type TESTING --test-cmd true \
         --recommendation 'All tasks complete, tests passing' --status COMPLETE > .git/emitted",
        env!("CARGO_BIN_EXE_ralph")
    );
    let agent = one_call(
        &sandbox,
        Steps::new()
            .write("a.rs", concat!("todo!", "()\n"))
            .shell(&emits)
            .status(&StatusBlock::in_progress()),
    );
    ralph(&sandbox)
        .args(["run", GOAL, "--yes", "--max-iterations", "1", "--agent-cmd"])
        .arg(agent.path())
        .run()
        .assert_code(3);
    assert!(sandbox.read(".git/emitted").contains("EXIT_SIGNAL: false"), "{}", sandbox.read(".git/emitted"));
}

#[test]
fn every_field_of_a_block_is_in_the_analysis_under_the_seed_s_key() {
    for (status, tests, work_type, exit_signal) in [
        ("IN_PROGRESS", "PASSING", "IMPLEMENTATION", false),
        ("COMPLETE", "PASSING", "DOCUMENTATION", true),
        ("BLOCKED", "NOT_RUN", "REFACTORING", false),
        ("IN_PROGRESS", "FAILING", "TESTING", false),
    ] {
        let block = StatusBlock {
            status: status.into(),
            tests: tests.into(),
            work_type: work_type.into(),
            exit_signal,
            tasks: 4,
            files: 7,
            recommendation: "Continue to US-006".into(),
        };
        let analysed = analysis("analyzer", &block.to_string());
        let expected = json!({"found": true, "status": status, "tasks_completed": 4, "files_modified": 7,
            "tests_status": tests, "work_type": work_type, "exit_signal": exit_signal,
            "recommendation": "Continue to US-006"});
        for (key, value) in expected.as_object().expect("an object") {
            assert_eq!(analysed["ralph_status"][key], *value, "{key} of {analysed:#}");
        }
        assert_eq!(analysed["completion_indicators"], 0);
        let at = analysed["timestamp"].as_str().expect("a time");
        assert!(at.contains('T') && at.ends_with('Z'), "{at}");
    }
    let silent = analysis("analyzer", "Nothing to say.");
    assert_eq!(silent["ralph_status"]["found"], false);
    assert_eq!(silent["ralph_status"]["status"], Value::Null);
}

#[test]
fn a_block_in_broken_json_is_found_in_its_text() {
    let words = json!(format!("All set.\n\n{}", block("COMPLETE", true)));
    let whole = format!(r#"{{"type":"result","subtype":"success","is_error":false,"result":{words}}}"#);
    let torn = &whole[..whole.len() - 2];
    let analysed = analysis("analyzer", torn);
    assert_eq!(analysed["ralph_status"]["found"], true, "{analysed:#}");
    assert_eq!(analysed["exit_decision"], "project_complete");
}

fn checked(text: &str) -> ralph_testkit::Finished {
    ralph(&Sandbox::new()).args(["report", "check"]).stdin(text.to_owned()).run()
}

#[test]
fn the_examples_of_seed_000_are_right_and_a_recommendation_only_warns() {
    let example = |status: &str, tests: &str, signal: bool, recommendation: &str| {
        StatusBlock {
            status: status.into(),
            tests: tests.into(),
            exit_signal: signal,
            recommendation: recommendation.into(),
            ..StatusBlock::done()
        }
        .to_string()
    };
    for right in [
        example("IN_PROGRESS", "PASSING", false, "Next: implement user authentication middleware"),
        example("COMPLETE", "PASSING", true, "All tasks complete, tests passing, documentation updated"),
        example("BLOCKED", "PASSING", false, "Blocked: need database credentials for integration tests"),
    ] {
        checked(&right).assert_code(0).assert_stderr_lacks("warning");
    }
    for odd in [
        example("IN_PROGRESS", "FAILING", false, "3 tests failing in auth module, investigating root cause"),
        example("COMPLETE", "PASSING", true, "Ready"),
        example("BLOCKED", "NOT_RUN", false, "credentials"),
    ] {
        let finished = checked(&odd);
        finished.assert_code(0).assert_stderr_has("RECOMMENDATION");
    }
}

#[test]
fn a_report_that_is_blocked_and_done_or_has_a_field_too_many_is_refused_and_blocked_wins() {
    let both = block("BLOCKED", true);
    checked(&both).assert_code(1).assert_stdout_has("EXIT_SIGNAL");
    assert_eq!(decision("dual", &both), "blocked");
    let more = block("COMPLETE", true).replace("RECOMMENDATION:", "DETAIL: more\nRECOMMENDATION:");
    checked(&more).assert_code(1).assert_stdout_has("DETAIL");
    assert_eq!(decision("phases", &json_report("No key.", true, "LOOP_BLOCKED: no key")), "blocked");
}

#[test]
fn a_goal_without_a_report_is_not_done_and_a_block_that_lasts_opens_the_breaker() {
    let sandbox = repository();
    let silent = one_call(&sandbox, Steps::new().write("green", "").say("All tests pass. All done."));
    run(&sandbox, &silent).args(["--profile", "dual", "--max-iterations", "1"]).run().assert_code(3);
    assert_eq!(history(&sandbox)[0]["outcome"], "silent");

    let sandbox = repository();
    let blocked = one_call(&sandbox, Steps::new().status(&StatusBlock::blocked("Blocked: no credentials")));
    for _ in 0..3 {
        run(&sandbox, &blocked).args(["--profile", "dual"]).run().assert_code(2);
    }
    run(&sandbox, &blocked).args(["--profile", "dual"]).run().assert_code(5);
    assert_eq!(blocked.calls(&sandbox).len(), 3, "an open circuit starts no agent");
}

#[test]
fn a_done_of_seed_001_with_changes_starts_again_and_one_without_counts() {
    let sandbox = repository();
    let done = |steps: Steps| steps.write(".ralph/status", "DONE\n");
    let agent = FakeAgent::new("agent")
        .call(done(Steps::new().write("a", "1\n")))
        .call(done(Steps::new()))
        .call(done(Steps::new().write("a", "2\n")))
        .call(done(Steps::new()))
        .install(&sandbox);
    let finished = run(&sandbox, &agent).args(["--profile", "rotations"]).run();
    finished.assert_code(0);
    let passes: Vec<&str> =
        finished.stderr.lines().filter_map(|line| line.split_once("verification ")?.1.get(..3)).collect();
    assert_eq!(passes, ["0/3", "1/3", "0/3", "1/3", "2/3", "3/3"], "{finished}");
}

#[test]
fn three_outputs_without_errors_are_not_stuck_though_they_are_alike() {
    let sandbox = Sandbox::new();
    for name in ["1", "2", "3"] {
        sandbox.write(name, "Looked around.\n");
    }
    let args = ["analyze", "3", "--previous", "1", "--previous", "2"];
    let finished = ralph(&sandbox).args(args).run();
    finished.assert_code(0);
    assert_eq!(finished.json()["stuck_loop_detected"], false);
}

#[test]
fn where_no_exit_condition_of_seed_004_is_met_the_run_goes_on() {
    let sandbox = repository();
    let turn = |file: &str| {
        Steps::new().append(file, "x\n").say(json_report("Worked on it.", false, "LOOP_CONTINUE"))
    };
    let agent =
        plays(&sandbox, vec![turn("src/a.rs"), turn("tests/a.rs"), turn("src/b.rs"), turn("tests/b.rs")]);
    phases(&sandbox, &agent, 4).assert_code(3);
    assert_eq!(status(&sandbox)["stop_reason"], "max_iterations");
}
