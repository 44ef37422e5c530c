//! What people are told: about their own edits, about who did what, about what is gone, and what to do next.

mod common;

use common::{GOAL, TEST, one_call, ralph, repository, run, says_done, says_more};
use ralph_testkit::{FakeAgent, InstalledAgent, Sandbox, Schema, Signal, StatusBlock, Steps};
use serde_json::{Value, json};

#[test]
fn settings_are_not_changed_under_a_run_that_would_put_them_back() {
    let sandbox = repository();
    let agent = one_call(&sandbox, Steps::new().reach("agent").hold("go").status(&StatusBlock::done()));
    let running = run(&sandbox, &agent).args(["--reviews", "0"]).spawn();
    sandbox.wait_for("agent");
    let set = ralph(&sandbox).args(["config", "set", "profile", "strict"]).run();
    set.assert_code(1).assert_stderr_has("a run is going on here (pid").assert_stderr_has("ralph stop");
    assert!(!sandbox.exists(".ralph/config.toml"));
    sandbox.release("go");
    running.wait().assert_code(0).assert_stderr_lacks("put back");
    ralph(&sandbox).args(["config", "set", "profile", "strict"]).run().assert_code(0);
}

#[test]
fn a_project_is_not_set_up_under_a_run_that_would_take_the_files_away() {
    let sandbox = repository();
    let agent = one_call(&sandbox, Steps::new().reach("agent").hold("go").status(&StatusBlock::done()));
    let running = run(&sandbox, &agent).args(["--reviews", "0"]).spawn();
    sandbox.wait_for("agent");
    let init = ralph(&sandbox).args(["init", "--yes"]).run();
    init.assert_code(1).assert_stderr_has("a run is going on here (pid").assert_stderr_lacks("wrote");
    assert!(!sandbox.exists(".ralph/config.toml"));
    sandbox.release("go");
    running.wait().assert_code(0).assert_stderr_lacks("removed");
    ralph(&sandbox)
        .args(["init", "--yes"])
        .run()
        .assert_code(0)
        .assert_stderr_has("wrote   .ralph/config.toml");
}

#[test]
fn an_edit_of_the_user_s_own_is_kept_and_nobody_is_accused() {
    let sandbox = repository();
    sandbox.write(".ralph/prompt.md", "Be careful.\n");
    let agent = one_call(&sandbox, Steps::new().reach("agent").hold("go").status(&StatusBlock::done()));
    let running = run(&sandbox, &agent).args(["--reviews", "0"]).spawn();
    sandbox.wait_for("agent");
    sandbox.write(".ralph/prompt.md", "Be bold.\n");
    sandbox.release("go");
    let kept = ".git/ralph/runs/0001/iteration-000001/touched-prompt.md";
    let done = running.wait();
    done.assert_code(0)
        .assert_stderr_has(".ralph/prompt.md was changed while the agent worked: put back")
        .assert_stderr_has(&format!("your own change? it is kept in {kept}"))
        .assert_stderr_lacks("the agent changed");
    assert_eq!(sandbox.read(kept), "Be bold.\n");
}

#[test]
fn a_session_that_is_armed_says_which_run_it_leaves_unfinished() {
    let sandbox = repository();
    let agent = one_call(&sandbox, says_more());
    run(&sandbox, &agent).args(["--max-iterations", "1"]).run().assert_code(3);
    let armed = ralph(&sandbox).args(["hook", "arm", "another goal"]).run();
    armed
        .assert_code(0)
        .assert_stderr_has(&format!("run 1 is left unfinished and cannot be continued: {GOAL}"));
}

#[test]
fn whoever_goes_on_with_a_goal_is_told_how_to_get_to_the_task_file() {
    let sandbox = repository();
    let agent = one_call(&sandbox, says_more());
    run(&sandbox, &agent)
        .args(["--max-iterations", "1"])
        .run()
        .assert_code(3)
        .assert_stderr_lacks("task file");
    let again = || ralph(&sandbox).args(["run", "--yes", "--dry-run", "--max-iterations", "2"]).run();
    again().assert_code(0).assert_stderr_lacks("--backlog");
    sandbox.write("fix_plan.md", "- [ ] implement sub\n- [x] add\n");
    again().assert_code(0).assert_stderr_has(&format!(
        "this goes on with the goal of run 1: {GOAL}; to work on fix_plan.md instead (1 of 2 items open): \
         ralph run --backlog fix_plan.md; or close the goal first: ralph reset"
    ));
    sandbox.write("fix_plan.md", "- [x] implement sub\n");
    again().assert_code(0).assert_stderr_lacks("--backlog");
}

#[test]
fn an_item_is_found_by_the_beginning_of_its_id_and_by_its_title() {
    let sandbox = repository();
    sandbox.write("fix_plan.md", "- [ ] implement sub\n- [ ] implement mul\n");
    let backlog = |args: &[&str]| ralph(&sandbox).arg("backlog").args(args).run();
    let id = backlog(&["list", "--json"]).json()["items"][0]["id"].as_str().expect("an id").to_owned();
    for words in [&id, &id[..4], "implement sub"] {
        backlog(&["show", words]).assert_code(0).assert_stdout_has("implement sub");
        let next = ["next", "--json", "--task", words];
        assert_eq!(backlog(&next).assert_code(0).json()["selected"]["id"], *id);
    }
    let agent = one_call(&sandbox, says_done());
    let dry = ["run", "--yes", "--dry-run", "--task", "implement sub", "--agent-cmd"];
    ralph(&sandbox)
        .args(dry)
        .arg(agent.path())
        .run()
        .assert_code(0)
        .assert_stdout_has(&format!("item {id} of"));
    for words in [&id[..3], "implement"] {
        backlog(&["show", words]).assert_code(1).assert_stderr_has(&format!("there is no item {words}"));
    }
    backlog(&["set", "implement sub", "done"]).assert_code(0).assert_stderr_has(&format!("{id} is "));
    assert_eq!(sandbox.read("fix_plan.md"), "- [x] implement sub\n- [ ] implement mul\n");
}

#[test]
fn words_that_may_be_several_items_are_refused_with_all_of_them_and_an_exact_id_wins() {
    let sandbox = repository();
    let task = |id: &str, title: &str| format!("  - id: {id}\n    title: {title}\n    status: blocked\n");
    let tasks = [("FEAT-1", "one"), ("FEAT-10", "two"), ("FEAT-20", "two"), ("FEAT-20-b", "FEAT-1")];
    let tasks = tasks.map(|(id, title)| task(id, title)).concat();
    sandbox.write(".ralph/ralph.yml", format!("tasks:\n{tasks}"));
    let reset = |words: &str| ralph(&sandbox).args(["backlog", "reset", words]).run();
    let before = sandbox.read(".ralph/ralph.yml");
    reset("two")
        .assert_code(1)
        .assert_stderr_has("'two' may be any of several items")
        .assert_stderr_has("they are FEAT-10 (two), FEAT-20 (two)")
        .assert_stderr_has("try: write the whole id of one of them");
    reset("FEAT").assert_code(1).assert_stderr_has("FEAT-20-b (FEAT-1)");
    // A number is no beginning of a larger one.
    reset("FEAT-2").assert_code(1).assert_stderr_has("there is no item FEAT-2");
    assert_eq!(sandbox.read(".ralph/ralph.yml"), before);
    reset("FEAT-1").assert_code(0).assert_stderr_has("FEAT-1 is open (todo in .ralph/ralph.yml); ");
    reset("FEAT-20").assert_code(0).assert_stderr_has("FEAT-20 is open (todo in .ralph/ralph.yml); ");
}

#[test]
fn a_state_has_one_word_and_the_file_s_own_stands_beside_it() {
    let sandbox = repository();
    sandbox.write(".ralph/ralph.yml", "tasks:\n- id: t\n  title: T\n  status: todo\n");
    let told = |args: &[&str]| ralph(&sandbox).arg("backlog").args(args).run();
    for (set, state, own) in [
        ("in-progress", "in_progress", ""),
        ("todo", "open", "todo in .ralph/ralph.yml"),
        ("blocked", "blocked", ""),
        ("open", "open", "todo in .ralph/ralph.yml"),
        ("completed", "done", ""),
    ] {
        let beside = if own.is_empty() { String::new() } else { format!(" ({own})") };
        told(&["set", "t", set]).assert_code(0).assert_stderr_has(&format!("t is {state} now{beside}\n"));
        told(&["set", "t", set]).assert_code(0).assert_stderr_has(&format!("t is {state} already{beside}\n"));
        told(&["list"]).assert_stdout_has(&format!("{state:<11}  t  T\n"));
        told(&["status"]).assert_stdout_has(&format!("{:<13}1\n", format!("{state}:")));
        let own = if own.is_empty() { ".ralph/ralph.yml" } else { own };
        let shown = told(&["show", "t"]);
        assert!(shown.stdout.starts_with(&format!("{state} ({own}, line 2)\n")), "{}", shown.stdout);
    }
    assert_eq!(told(&["set", "t", "open", "--json"]).json()["status"], "todo", "as the file has it");
}

#[test]
fn the_words_of_a_harness_stand_beside_ralph_s_and_a_refusal_has_both() {
    const FILE: &str = "feature_list.json";
    let sandbox = repository();
    let item = json!({"id": "F", "title": "T", "status": "FAILING", "ralph_loop": {"enabled": true}, "attempts": []});
    let mut list = json!({"items": [item]});
    sandbox.write(FILE, list.to_string());
    let told = |args: &[&str]| ralph(&sandbox).arg("backlog").args(args).run();
    told(&["attempt", "F", "PASSED", "--commands", "make", "--summary", "fine"])
        .assert_stderr_has(&format!("it is still open (FAILING in {FILE})\n"));
    told(&["set", "F", "done"]).assert_stderr_has(&format!("F is done now (PASSING in {FILE})\n"));
    told(&["next", "--task", "F"]).assert_code(1).assert_stderr_has("F is PASSING already\n");
    list["items"][0]["ralph_loop"]["enabled"] = json!(false);
    sandbox.write(FILE, list.to_string());
    let shown = told(&["show", "F"]).stdout;
    let line = format!("disabled (FAILING in {FILE}, line 1): not for the loop\n");
    assert!(shown.starts_with(&line), "{shown}");
    sandbox.write("fix_plan.md", "- [x] one\n");
    let there = |args: &[&'static str]| told(&[args, &["--backlog", "fix_plan.md"]].concat());
    there(&["set", "one", "in_progress"])
        .assert_code(1)
        .assert_stderr_has("is done, and cannot become in_progress from there");
}

#[test]
fn a_checklist_says_where_commands_go() {
    let sandbox = repository();
    sandbox.write("fix_plan.md", "- [ ] a\n");
    let added = ralph(&sandbox).args(["backlog", "add", "x", "--verify", "make test"]).run();
    added
        .assert_code(1)
        .assert_stderr_has("a checklist has no place for verification commands")
        .assert_stderr_has("try: write it below a heading '## Validation Commands', as: - `CMD`");
}

#[test]
fn a_second_run_hears_of_the_first_before_it_hears_of_anything_else() {
    let sandbox = repository();
    let agent = one_call(&sandbox, Steps::new().reach("agent").hold("go").status(&StatusBlock::done()));
    let running = run(&sandbox, &agent).args(["--reviews", "0"]).spawn();
    sandbox.wait_for("agent");
    let other = ralph(&sandbox).args(["run", "other"]).run();
    other
        .assert_code(1)
        .assert_stderr_has("another run is going on here (pid")
        .assert_stderr_lacks("no agent");
    sandbox.release("go");
    running.wait().assert_code(0);
}

#[test]
fn a_window_that_closes_tells_twice_and_the_iteration_is_recorded_all_the_same() {
    let sandbox = repository();
    let agent = one_call(&sandbox, Steps::new().shell("trap '' TERM HUP").reach("agent").hang());
    let running = run(&sandbox, &agent).spawn();
    sandbox.wait_for("agent");
    running.signal(Signal::HUP);
    running.wait_for_stderr("ending the agent");
    running.signal(Signal::HUP);
    running.wait().assert_code(143).assert_stderr_has("⚠ TERMINATED").assert_stderr_lacks("left at once");
    let history = common::history(&sandbox);
    assert_eq!(history[0]["outcome"], "interrupted");
    let shown = ralph(&sandbox).args(["history"]).run();
    assert!(!shown.stdout.contains("when ralph was killed"), "{shown}");
    assert_eq!(common::status(&sandbox)["stop_reason"], "terminated");
}

#[test]
fn what_an_agent_removed_is_not_blamed_on_how_much_is_kept() {
    let sandbox = repository();
    let agent = FakeAgent::new("agent")
        .call(Steps::new().write("a.txt", "1").status(&StatusBlock::in_progress()))
        .call(Steps::new().write("b.txt", "2").shell("rm -rf .git/ralph").status(&StatusBlock::in_progress()))
        .install(&sandbox);
    run(&sandbox, &agent).args(["--max-iterations", "2"]).run().assert_code(3);
    for what in ["--transcript", "--diff"] {
        let shown = ralph(&sandbox).args(["history", "1", what]).run();
        shown
            .assert_code(1)
            .assert_stderr_has("in iteration 2: the agent removed .git/ralph/")
            .assert_stderr_lacks("keep_");
    }
}

#[test]
fn after_an_undo_status_says_so_and_how_to_take_it_back() {
    let sandbox = repository();
    let steps = |text: &str| Steps::new().append("a.txt", text).status(&StatusBlock::in_progress());
    let agent = FakeAgent::new("agent").call(steps("1\n")).call(steps("2\n")).install(&sandbox);
    run(&sandbox, &agent).args(["--max-iterations", "2"]).run().assert_code(3);
    let status = || ralph(&sandbox).arg("status").run();
    let last = "to take its last iteration back: ralph undo 2";
    status().assert_stdout_has(last);
    let undone = ralph(&sandbox).args(["undo", "1"]).run();
    undone.assert_code(0).assert_stderr_has("1 file is deleted: it was not there at that time");
    let line =
        undone.stderr.lines().find(|line| line.contains("ralph undo --to ")).expect("how to take it back");
    let tree = line.rsplit(' ').next().expect("a snapshot");
    let shown = status();
    shown.assert_stdout_has(
        "status:     2 of 2 iterations used; undone since\nundone:     1 file put back as",
    );
    shown.assert_stdout_has("undone:     1 file put back as before iteration 1: the files are not those");
    let told = ralph(&sandbox).arg("history").run();
    told.assert_stdout_has("  stopped: 2 of 2 iterations used\n  undone after #2: 1 file put back");
    shown.assert_stdout_has(&format!("to take the undo back: ralph undo --to {tree}"));
    assert!(!shown.stdout.contains(last), "it would bring back what was undone: {}", shown.stdout);
    ralph(&sandbox).args(["undo", "--to", tree]).run().assert_code(0);
    let shown = status();
    shown.assert_stdout_has(last);
    assert!(!shown.stdout.contains("undone:"), "{}", shown.stdout);
}

#[test]
fn a_summary_names_what_agents_changed_and_not_what_the_user_did() {
    let sandbox = repository();
    let more = |steps: Steps| steps.status(&StatusBlock::in_progress());
    let first = Steps::new().write("a.txt", "1\n").write("both.txt", "1\n");
    let agent = FakeAgent::new("agent").call(more(first)).call(more(Steps::new().write("b.txt", "2\n")));
    let agent = agent.install(&sandbox);
    run(&sandbox, &agent).args(["--max-iterations", "1"]).run().assert_code(3);
    sandbox.write("private-notes.txt", "mine\n");
    sandbox.write("README.md", "# mine\n");
    sandbox.write("both.txt", "mine\n");
    let again = ralph(&sandbox).args(["run", "--max-iterations", "2"]).run();
    again
        .assert_code(3)
        .assert_stderr_has("files: 3 files changed: a.txt (new), b.txt (new), both.txt (new)\n");
}

#[test]
fn an_undo_without_a_number_and_a_history_without_one_say_what_to_type() {
    let sandbox = repository();
    let agent = one_call(&sandbox, Steps::new().write("a.txt", "1").status(&StatusBlock::in_progress()));
    run(&sandbox, &agent).args(["--max-iterations", "1"]).run().assert_code(3);
    let nothing = ralph(&sandbox).arg("undo").run();
    nothing.assert_code(64).assert_stderr_has("ralph undo 1").assert_stderr_has("ralph undo --to SNAPSHOT");
    for command in ["history", "undo"] {
        let wrong = ralph(&sandbox).args([command, "x"]).run();
        wrong.assert_code(64).assert_stderr_has("it is not the number of an iteration; ralph history lists");
    }
    ralph(&sandbox).args(["history", "#1"]).run().assert_code(0);
}

#[test]
fn a_second_request_to_stop_says_that_it_is_one() {
    let sandbox = repository();
    let agent =
        one_call(&sandbox, Steps::new().reach("agent").hold("go").status(&StatusBlock::in_progress()));
    let running = run(&sandbox, &agent).spawn();
    sandbox.wait_for("agent");
    ralph(&sandbox).arg("stop").run().assert_code(0).assert_stderr_lacks("already");
    running.wait_for_stderr("asked to stop");
    ralph(&sandbox).arg("stop").run().assert_code(0).assert_stderr_has("it is asked already");
    sandbox.release("go");
    running.wait().assert_code(130);
}

#[test]
fn in_a_pool_status_and_history_say_who_did_what_and_what_a_limit_was() {
    let sandbox = repository();
    let refused = Steps::new().claude_init().claude_api_error("authentication_failed", "Please run /login");
    let first = FakeAgent::new("first").call(refused.exit(1)).install(&sandbox);
    let second = FakeAgent::new("second").call(says_more()).install(&sandbox);
    sandbox.write(
        ".ralph/config.toml",
        format!(
            "pool = [\"one\", \"two\"]\n[agents.one]\ncommand = {:?}\n[agents.two]\ncommand = {:?}\n",
            first.path().display().to_string(),
            second.path().display().to_string()
        ),
    );
    let ran = ralph(&sandbox).args(["run", GOAL, "--yes", "--max-iterations", "1"]).run();
    ran.assert_code(3).assert_stderr_has("Please run /login");
    let history = ralph(&sandbox).arg("history").run();
    history
        .assert_stdout_has(", by one")
        .assert_stdout_has(", by two")
        .assert_stdout_has("Please run /login");
    let status = ralph(&sandbox).arg("status").run();
    status.assert_stdout_has("one: ").assert_stdout_has(", out").assert_stdout_has(", by two");
}

#[test]
fn status_says_what_to_do_next_and_times_are_of_one_form() {
    let sandbox = repository();
    let agent = one_call(&sandbox, says_more());
    let open = run(&sandbox, &agent).run();
    open.assert_code(5).assert_stderr_has("no run begins before ").assert_stderr_lacks("Z\n");
    let status = ralph(&sandbox).arg("status").run();
    status.assert_stdout_has("next:       to try again, and go on if it makes progress: ralph run --probe");
    assert!(!status.stdout.contains("Z on"), "{status}");
    for args in [&["circuit", "status"][..], &["history"]] {
        let shown = ralph(&sandbox).args(args).run();
        assert!(!shown.stdout.contains("Z on") && !shown.stdout.contains(".000Z"), "{shown}");
    }
    // One hint, for the command that was typed.
    let refused = run(&sandbox, &agent).arg("--fresh").run();
    refused.assert_code(5).assert_stderr_has(&format!("ralph run --probe '{GOAL}' --yes --agent-cmd "));
    assert_eq!(refused.stderr.matches("--probe").count(), 1, "{refused}");
}

#[test]
fn not_looking_is_offered_only_where_something_was_found() {
    let sandbox = repository();
    sandbox.write(".ralph/config.toml", "[checks]\ntest = \"make test\"\n");
    let agent = one_call(&sandbox, says_done());
    let asked = ralph(&sandbox).args(["run", GOAL, "--agent-cmd"]).arg(agent.path()).run();
    asked.assert_code(64).assert_stderr_has("add --yes").assert_stderr_lacks("--no-detect");
}

#[test]
fn a_promise_inside_a_line_is_told_to_people_and_to_the_next_agent() {
    let sandbox = repository();
    let agent = FakeAgent::new("agent")
        .call(Steps::new().write("green", "").say("So here it is, <promise>COMPLETE</promise> and bye."))
        .call(says_done())
        .install(&sandbox);
    let done = run(&sandbox, &agent).args(["--test-cmd", TEST]).run();
    done.assert_code(0).assert_stderr_has("a promise was there, but not alone on its line");
    let second = &agent.calls(&sandbox)[1].prompt;
    assert!(second.contains("gave its promise inside a line"), "{second}");
}

#[test]
fn history_tells_every_stop_of_a_run_and_an_undo_that_was_taken_back() {
    let sandbox = repository();
    let steps = |text: &str| Steps::new().append("a.txt", text).status(&StatusBlock::in_progress());
    let agent = FakeAgent::new("agent").call(steps("1\n")).call(steps("2\n")).install(&sandbox);
    run(&sandbox, &agent).args(["--max-iterations", "1"]).run().assert_code(3);
    ralph(&sandbox).args(["run", "--max-iterations", "2"]).run().assert_code(3);
    let listed = || ralph(&sandbox).arg("history").run().stdout;
    let lines = |start: &str| -> Vec<String> {
        let begins = |line: &&str| line.trim_start().starts_with(start);
        listed().lines().filter(begins).map(|line| line.trim().to_owned()).collect()
    };
    assert_eq!(lines("stopped: "), ["stopped: 1 of 1 iterations used", "stopped: 2 of 2 iterations used"]);
    let place = |what: &str| listed().find(what).unwrap_or_else(|| panic!("{what}: {}", listed()));
    assert!(place("stopped: 1 of 1") < place("  #2 ") && place("  #2 ") < place("stopped: 2 of 2"));

    let undone = ralph(&sandbox).args(["undo", "2"]).run();
    let again = lines("back again: ");
    assert_eq!(again.len(), 1, "{}", listed());
    let tree = again[0].rsplit(' ').next().expect("a snapshot");
    undone.assert_code(0).assert_stderr_has(&format!("ralph undo --to {tree}"));
    ralph(&sandbox).args(["undo", "--to", tree]).run().assert_code(0);
    let said = ["undone after #2: 1 file put back as before iteration 2; taken back since"];
    assert_eq!(lines("undone after"), said);
    assert_eq!(lines("undo taken back"), ["undo taken back after #2: 1 file as before it"]);
    assert_eq!(lines("back again: "), [""; 0], "nothing is left to take back");

    let document = ralph(&sandbox).args(["history", "--json"]).run().json();
    Schema::published("ralph.history/1").assert(&document);
    let stops = document["stops"].as_array().expect("a list");
    let told = |stop: &Value| (stop["after"].as_u64(), stop["reason"].clone(), stop["exit_code"].as_u64());
    let limit = |after| (Some(after), json!("max_iterations"), Some(3));
    assert_eq!(stops.iter().map(told).collect::<Vec<_>>(), [limit(1), limit(2)]);
}

#[test]
fn what_the_user_said_stands_with_every_iteration_that_was_told_it() {
    let sandbox = repository();
    let agent = FakeAgent::new("agent").call(says_more()).call(says_more()).install(&sandbox);
    run(&sandbox, &agent).args(["--max-iterations", "1"]).run().assert_code(3);
    ralph(&sandbox).args(["note", "mind the gap"]).run().assert_code(0);
    ralph(&sandbox).args(["run", "--max-iterations", "3"]).run().assert_code(3);
    let said = |number: &str| {
        let page = ralph(&sandbox).args(["history", number]).run();
        page.assert_code(0);
        page.stdout.contains("- Your words in its prompt: mind the gap\n")
    };
    assert_eq!(["1", "2", "3"].map(said), [false, true, true]);
}

#[test]
fn rules_that_are_set_for_a_run_are_shown_before_it() {
    let sandbox = repository();
    let agent = one_call(&sandbox, says_done());
    let dry = |args: &[&str]| run(&sandbox, &agent).args(args).arg("--dry-run").run().stdout;
    let row =
        |shown: &str| shown.lines().find_map(|line| line.strip_prefix("  rules     ")).map(str::to_owned);
    assert_eq!(row(&dry(&[])), None);
    assert_eq!(row(&dry(&["--max-iterations", "3"])), None, "a row of its own tells that");
    let set = ["--profile", "strict", "--set", "tests_changed=refuse", "--reviews", "2"];
    assert_eq!(row(&dry(&set)).as_deref(), Some("profile strict, tests_changed = refuse, reviews = 2"));
}

/// The lines of `ralph history` below the run's, each by how it begins.
fn in_order(sandbox: &Sandbox) -> Vec<String> {
    let listed = ralph(sandbox).arg("history").run().stdout;
    let word = |line: &str| line.split([':', ' ']).next().unwrap_or_default().to_owned();
    listed
        .lines()
        .skip(1)
        .filter_map(|line| Some(word(line.strip_prefix("  ")?)))
        .filter(|it| !it.is_empty())
        .collect()
}

#[test]
fn an_iteration_that_was_under_way_is_told_before_the_stop_and_the_undo_after_it() {
    let sandbox = repository();
    let agent = one_call(&sandbox, Steps::new().write("a.txt", "1\n").status(&StatusBlock::done()));
    let check = format!("echo > '{}'; sleep 60", sandbox.point("checking").display());
    let running = run(&sandbox, &agent).args(["--set", "baseline=off", "--test-cmd", &check]).spawn();
    sandbox.wait_for("checking");
    running.signal(Signal::INT);
    running.wait().assert_code(130);
    assert_eq!(in_order(&sandbox), ["#1", "stopped"]);

    let sandbox = repository();
    let steps =
        Steps::new().write("a.txt", "1\n").reach("agent").hold("go").status(&StatusBlock::in_progress());
    let agent = one_call(&sandbox, steps);
    let running = run(&sandbox, &agent).spawn();
    sandbox.wait_for("agent");
    running.signal(Signal::KILL);
    running.wait();
    ralph(&sandbox).args(["undo", "1", "--all"]).run().assert_code(0);
    assert_eq!(in_order(&sandbox), ["#1", "undone"]);
    let next = FakeAgent::new("next").call(says_more()).install(&sandbox);
    let goes_on = ralph(&sandbox).args(["run", "--max-iterations", "2", "--agent-cmd"]).arg(next.path());
    goes_on.run().assert_code(3);
    assert_eq!(in_order(&sandbox), ["#1", "undone", "#2", "stopped"]);
}

#[test]
fn an_undo_that_was_taken_back_over_an_edit_or_done_again_names_its_way_back() {
    let sandbox = repository();
    let agent = one_call(&sandbox, Steps::new().write("a.txt", "1\n").status(&StatusBlock::in_progress()));
    run(&sandbox, &agent).args(["--max-iterations", "1"]).run().assert_code(3);
    let undo = |args: &[&str]| {
        let undone = ralph(&sandbox).arg("undo").args(args).run();
        undone.assert_code(0);
        let line =
            undone.stderr.lines().find(|line| line.contains("ralph undo --to ")).expect("the way back");
        line.rsplit(' ').next().expect("a snapshot").to_owned()
    };
    let ways = || {
        let listed = ralph(&sandbox).arg("history").run().stdout;
        let way = |line: &str| line.strip_prefix("    back again: ralph undo --to ").map(str::to_owned);
        listed.lines().filter_map(way).collect::<Vec<_>>()
    };
    let done = undo(&["1"]);
    let without = undo(&["--to", &done]);
    assert_eq!(ways(), [""; 0]);
    assert_eq!(undo(&["--to", &without]), done);
    assert_eq!(ways(), std::slice::from_ref(&done), "it is undone again");
    sandbox.write("a.txt", "mine\n");
    let mine = undo(&["--to", &done]);
    assert!(ways().contains(&mine), "what the user wrote is not lost: {:?}", ways());
}

/// Changes a file in its first call, and claims that all is done in each.
fn works_once(sandbox: &Sandbox) -> InstalledAgent {
    let works = Steps::new().write("a.txt", "1\n").status(&StatusBlock::done());
    FakeAgent::new("agent").call(works).call(says_done()).install(sandbox)
}

#[test]
fn where_tests_that_were_red_before_refuse_a_claim_it_is_said_how_it_counts_beside_them() {
    let sandbox = repository();
    let agent = works_once(&sandbox);
    let hint = "ralph circuit reset && ralph run --set baseline=tolerate";
    let stuck = run(&sandbox, &agent).args(["--test-cmd", TEST]).run();
    stuck.assert_code(5).assert_stderr_has(
        "if the tests that were red before are not what is asked for, to have it count beside them: ",
    );
    stuck.assert_stderr_has(hint);
    ralph(&sandbox).args(["circuit", "reset"]).run().assert_code(0);
    let goes_on = ralph(&sandbox).args(["run", "--set", "baseline=tolerate"]).run();
    goes_on.assert_code(0).assert_stderr_has("tolerated: red before the run");
    let ended = |line: &&str| line.contains("iteration 5/50 (#5): DONE");
    let line = goes_on.stderr.lines().find(ended).expect("how it ended");
    assert!(line.contains("exit 1 (is_green, tolerated: red before the run)"), "{line}");
}

#[test]
fn a_check_whose_command_is_not_there_can_be_named_anew_and_the_probe_counts() {
    let sandbox = repository();
    let agent = works_once(&sandbox);
    let stuck = run(&sandbox, &agent).args(["--test-cmd", "nosuchcmd"]).run();
    stuck
        .assert_code(5)
        .assert_stderr_has("to name another command for it: ralph run --probe --test-cmd CMD");
    let mended = ralph(&sandbox).args(["run", "--probe", "--test-cmd", "test -e a.txt"]).run();
    mended.assert_code(0).assert_stderr_has("circuit closed: what the probe claimed was proved");
}

#[test]
fn a_dry_run_says_what_a_new_goal_would_leave_behind() {
    let sandbox = repository();
    let agent = one_call(&sandbox, says_more());
    let dry = |goal: &str| {
        let dry = ralph(&sandbox).args(["run", goal, "--dry-run", "--agent-cmd"]).arg(agent.path()).run();
        dry.assert_code(0);
        dry.stdout
    };
    assert!(!dry(GOAL).contains("leaves"));
    run(&sandbox, &agent).args(["--max-iterations", "1"]).run().assert_code(3);
    ralph(&sandbox).args(["note", "unheard"]).run().assert_code(0);
    let shown = dry("something else");
    assert!(
        shown.contains(&format!("  leaves    run 1 is left unfinished and cannot be continued: {GOAL}\n")),
        "{shown}"
    );
}

#[test]
fn of_tests_that_were_changed_for_a_claim_that_counts_the_difference_is_named() {
    let sandbox = repository();
    sandbox.write("test.sh", "test -e green\n");
    sandbox.commit_all("test");
    let agent = one_call(&sandbox, Steps::new().write("test.sh", "true\n").status(&StatusBlock::done()));
    let done = run(&sandbox, &agent).args(["--test-cmd", "sh test.sh", "--reviews", "0"]).run();
    done.assert_code(0).assert_stderr_has("what was changed of the tests or checks: ralph history 1 --diff");
    let silent = ralph(&sandbox).args(["history", "1", "--diff"]).run();
    silent.assert_code(0).assert_stdout_has("-test -e green");
}

#[test]
fn an_agent_that_printed_nothing_is_told_so() {
    let sandbox = repository();
    let agent = one_call(&sandbox, Steps::new());
    run(&sandbox, &agent).args(["--max-iterations", "1"]).run().assert_code(3);
    let none = ralph(&sandbox).args(["history", "1", "--transcript"]).run();
    none.assert_code(0).assert_stderr_has("the agent of iteration 1 printed nothing");
    assert_eq!(none.stdout, "");
}

#[test]
fn a_dry_run_shows_the_commands_that_a_run_would_ask_about() {
    let sandbox = repository();
    ralph(&sandbox).args(["config", "set", "checks.test", "true"]).run().assert_code(0);
    sandbox.write(".ralph/ralph.yml", "tasks: []\n");
    ralph(&sandbox).args(["backlog", "add", "one"]).run().assert_code(0);
    ralph(&sandbox).args(["backlog", "add", "two", "--verify", "grep -q x NOTES"]).run().assert_code(0);
    let agent = one_call(&sandbox, says_more());
    let shown = ralph(&sandbox).args(["run", "--dry-run", "--agent-cmd"]).arg(agent.path()).run();
    shown
        .assert_code(0)
        .assert_stdout_has("  runs      grep -q x NOTES (.ralph/ralph.yml, two, command 1)\n")
        .assert_stdout_has(
            "  asks      first, whether the commands that come with this project may be run\n",
        );
    assert_eq!(shown.stdout.matches("(.ralph/config.toml, checks.test)").count(), 1, "{shown}");
}
