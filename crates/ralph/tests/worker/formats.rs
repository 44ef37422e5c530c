//! Every format from its first item to its last.

use ralph_testkit::{InstalledAgent, Sandbox, StatusBlock, Steps};
use serde_json::json;

use crate::common::{ralph, repository};
use crate::stage::{
    another, claims, commits, files_of, harness, item, item_now, worker, works_through, writes,
};

/// Two items and a review that says done.
fn works_through_two(sandbox: &Sandbox) {
    let agent = another(sandbox)
        .call(claims(writes("one.txt")))
        .call(claims(writes("two.txt")))
        .call(Steps::new().status(&StatusBlock::done()))
        .install(sandbox);
    let finished = works_through(sandbox, &agent).args(["--test-cmd", "true"]).run();
    finished.assert_code(0).assert_stderr_has(" COMPLETE");
    assert_eq!(agent.calls(sandbox).len(), 3);
}

#[test]
fn ralph_yml_with_comments_and_quotes() {
    let sandbox = repository();
    let text = "# my tasks\nproject: x\ntasks:\n  - id: \"T-1\"   # first\n    title: 'one'\n    status: todo\n    priority: low\n  - id: T-2\n    title: two\n    status: todo\n    priority: high\n";
    sandbox.write(".ralph/ralph.yml", text);
    works_through_two(&sandbox);
    assert_eq!(sandbox.read(".ralph/ralph.yml"), text.replace("status: todo", "status: done"));
    let subjects = sandbox.git(&["log", "--format=%s"]);
    assert_eq!(
        subjects.lines().collect::<Vec<_>>(),
        ["feat(T-1): one", "feat(T-2): two", "first"],
        "priority first"
    );
    assert_eq!(files_of(&sandbox, "HEAD"), ["A two.txt"], "ralph's own folder is not committed");
}

#[test]
fn phases_come_one_after_the_other_and_one_can_be_asked_for() {
    let tasks = "tasks:\n  - id: B-1\n    title: base\n    status: todo\n    phase: build\n  - id: P-1\n    title: shine\n    status: todo\n    phase: polish\n    priority: critical\n";
    let sandbox = repository();
    sandbox.write(".ralph/ralph.yml", tasks);
    works_through_two(&sandbox);
    assert_eq!(sandbox.git(&["log", "--format=%s", "-2"]), "feat(P-1): shine\nfeat(B-1): base");
    let prompts: Vec<String> = sandbox.agent_calls().into_iter().map(|call| call.prompt).collect();
    assert!(
        prompts[0].contains("The phase is build.") && prompts[1].contains("The phase is polish."),
        "{}",
        prompts[0]
    );
    assert!(sandbox.read(".ralph/session.md").contains("\nphase: polish\n"));
    let state: serde_json::Value = serde_json::from_str(&sandbox.read(".ralph/state.json")).expect("JSON");
    assert_eq!((&state["phase"], &state["phases"]["current"]), (&json!("polish"), &json!("polish")));
    assert_eq!(
        (&state["phases"]["build_complete"], &state["phases"]["polish_complete"]),
        (&json!(true), &json!(true))
    );

    let sandbox = repository();
    sandbox.write(".ralph/ralph.yml", tasks);
    let agent = another(&sandbox)
        .call(claims(writes("p.txt")))
        .call(Steps::new().status(&StatusBlock::done()))
        .install(&sandbox);
    works_through(&sandbox, &agent).args(["--phase", "polish", "--test-cmd", "true"]).run().assert_code(0);
    assert!(sandbox.read(".ralph/ralph.yml").contains("id: B-1\n    title: base\n    status: todo"));
    let unknown = works_through(&sandbox, &agent).args(["--phase", "polisch", "--test-cmd", "true"]).run();
    unknown.assert_code(64).assert_stderr_has("polisch").assert_stderr_has("build, polish");
}

const PHASED: &str = "tasks:\n  - id: M-1\n    title: one\n    status: todo\n    phase: mvp\n  - id: M-2\n    title: two\n    status: todo\n    phase: mvp\n  - id: P-1\n    title: three\n    status: todo\n    phase: phase_2\n";

/// Does an item, keeps what `state.json` said meanwhile, and reports as seed 004 has it.
fn phased(file: &str, marker: &str) -> Steps {
    writes(file).shell(&format!("cp .ralph/state.json {file}.json")).say(reported(marker))
}

fn reported(marker: &str) -> String {
    let report = format!("RALPH_STATUS: {{\"completion_indicators\": 2, \"EXIT_SIGNAL\": true}}\n{marker}");
    format!("All tasks are complete. There is nothing left to do.\n\n{report}")
}

#[test]
fn profile_phases_goes_from_phase_to_phase_and_holds_a_marker_against_its_items() {
    let sandbox = repository();
    sandbox.write(".ralph/ralph.yml", PHASED);
    let agent = another(&sandbox)
        .call(phased("one", "LOOP_COMPLETE_PHASE_1"))
        .call(phased("two", "LOOP_COMPLETE_PHASE_1"))
        .call(phased("three", "LOOP_COMPLETE_PHASE_2"))
        .install(&sandbox);
    let finished = works_through(&sandbox, &agent).args(["--profile", "phases", "--all-phases"]).run();
    finished.assert_code(0).assert_stderr_has(" COMPLETE");
    let told = "LOOP_COMPLETE_PHASE_1, and of mvp there is 1 item open";
    assert_eq!(finished.stderr.matches(told).count(), 1, "only the first marker came too soon\n{finished}");
    finished.assert_stderr_lacks("LOOP_COMPLETE_PHASE_2, and");
    let prompts: Vec<String> = agent.calls(&sandbox).into_iter().map(|call| call.prompt).collect();
    assert_eq!(prompts.len(), 3);
    assert!(prompts[1].contains(told) && !prompts[2].contains("claimed more"), "{}", prompts[1]);
    let state = |name: &str| {
        let state: serde_json::Value = serde_json::from_str(&sandbox.read(name)).expect("JSON");
        (state["phase"].clone(), state["phases"].clone(), state["tasks_remaining"].clone())
    };
    let phases = |current: &str, mvp: bool, second: bool| json!({"current": current, "mvp_complete": mvp, "phase_2_complete": second});
    assert_eq!(state("two.json"), (json!("mvp"), phases("mvp", false, false), json!(2)));
    assert_eq!(state("three.json"), (json!("phase_2"), phases("phase_2", true, false), json!(1)));
    assert_eq!(state(".ralph/state.json").1, phases("phase_2", true, true));
    assert_eq!(sandbox.read(".ralph/ralph.yml"), PHASED.replace("status: todo", "status: done"));
}

/// Two items of which one brings a command, and an agent that claims and does nothing.
fn lied_about(sandbox: &Sandbox) -> InstalledAgent {
    let own = "tasks:\n- {id: a, title: A, status: todo, phase: mvp, verification: [\"test -f a.txt\"]}\n\
               - {id: b, title: B, status: todo, phase: phase_2}\n";
    sandbox.write(".ralph/ralph.yml", own);
    let lie = || Steps::new().say(reported("LOOP_COMPLETE"));
    (0..3).fold(another(sandbox), |agent, _| agent.call(lie())).install(sandbox)
}

#[test]
fn an_item_s_own_commands_are_run_under_every_profile() {
    for profile in ["default", "strict", "dual", "rotations", "analyzer", "worker", "phases"] {
        let sandbox = repository();
        let agent = lied_about(&sandbox);
        let run = works_through(&sandbox, &agent).args(["--profile", profile, "--task", "a"]);
        let refused = run.args(["--max-iterations", "1"]).run();
        refused.assert_code(if profile == "worker" { 2 } else { 3 });
        refused.assert_stderr_has("✗ claimed done, refused: test -f a.txt exit 1");
        refused.assert_stderr_has("items are proved by their own");
        let open = sandbox.read(".ralph/ralph.yml").replace("in-progress", "todo").replace("blocked", "todo");
        assert!(open.contains("id: a, title: A, status: todo"), "{profile}: {open}");
        let prompt = &agent.calls(&sandbox)[0].prompt;
        assert!(prompt.contains("when its checks pass") && prompt.contains("    test -f a.txt"), "{prompt}");
    }
}

#[test]
fn where_only_the_backlog_is_evidence_an_item_without_a_command_is_told_to_rest_on_words() {
    let sandbox = repository();
    let agent = lied_about(&sandbox);
    let run = works_through(&sandbox, &agent).args(["--profile", "phases", "--task", "b"]);
    let passed = run.args(["--max-iterations", "2"]).run();
    // Two agents say that it was done before.
    passed
        .assert_code(0)
        .assert_stderr_has("1 of 1 open item has no check, so only words say that it is done: b");
    assert!(agent.calls(&sandbox)[0].prompt.contains("No command is run for it"));
    let agent = another(&sandbox).call(Steps::new()).install(&sandbox);
    let asked =
        ralph(&sandbox).args(["run", "--fresh", "--profile", "phases", "--agent-cmd"]).arg(agent.path());
    asked.run().assert_code(64).assert_stderr_has("test -f a.txt");
}

#[test]
fn the_build_and_the_tests_are_asked_for_unless_an_item_says_otherwise() {
    for (build, tests, code, said) in [
        ("true", "true", 0, ""),
        ("false", "true", 3, "✗ claimed done, refused: false exit 1"),
        ("true", "false", 3, "✗ claimed done, refused: false exit 1"),
    ] {
        let mut asks = item("FEAT-1", "one.txt");
        asks["ralph_loop"]["convergence_criteria"] =
            json!({"build_passes": true, "tests_pass": true, "acceptance_met": true});
        let sandbox = harness(&[asks]);
        let agent = another(&sandbox).call(claims(writes("one.txt"))).install(&sandbox);
        let run = worker(&sandbox, &agent).args(["--build-cmd", build, "--test-cmd", tests]).run();
        run.assert_code(code).assert_stderr_has(said);
        let result = if code == 0 { "PASSED" } else { "FAILED" };
        assert_eq!(item_now(&sandbox, "FEAT-1")["attempts"][0]["result"], result, "{build} {tests}");
    }
}

#[test]
fn prd_json_with_stories() {
    let sandbox = repository();
    let story = |id: &str, priority: u64| json!({"id": id, "title": format!("story {id}"), "acceptanceCriteria": ["it works"], "priority": priority, "passes": false, "notes": ""});
    let text = serde_json::to_string_pretty(
        &json!({"project": "p", "branchName": "b", "userStories": [story("US-2", 2), story("US-1", 1)]}),
    )
    .expect("JSON");
    sandbox.write("prd.json", &text);
    sandbox.commit_all("stories");
    works_through_two(&sandbox);
    assert_eq!(sandbox.read("prd.json"), text.replace("\"passes\": false", "\"passes\": true"));
    assert_eq!(sandbox.git(&["log", "--format=%s", "-2"]), "feat(US-2): story US-2\nfeat(US-1): story US-1");
    assert_eq!(files_of(&sandbox, "HEAD"), ["M prd.json", "A two.txt"], "the mark is in the commit");
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "");
}

#[test]
fn a_checklist_in_markdown() {
    let sandbox = repository();
    sandbox.write(
        "IMPLEMENTATION_PLAN.md",
        "# Plan\n\n## Low\n* [ ] later\n\n## High\n* [ ] sooner\n\nprose [ ] stays\n",
    );
    sandbox.commit_all("plan");
    works_through_two(&sandbox);
    assert_eq!(
        sandbox.read("IMPLEMENTATION_PLAN.md"),
        "# Plan\n\n## Low\n* [x] later\n\n## High\n* [x] sooner\n\nprose [ ] stays\n"
    );
    assert_eq!(
        sandbox.git(&["log", "--format=%s", "-2"]),
        "feat: later\nfeat: sooner",
        "no id that nobody wrote"
    );
    let trailer = sandbox.git(&["log", "-1", "--format=%(trailers:key=Ralph-Item,valueonly)"]);
    assert_eq!(trailer.trim().len(), 8, "{trailer}");
    assert_eq!((commits(&sandbox), sandbox.git(&["status", "--porcelain"]).as_str()), (4, ""));
}

#[test]
fn the_other_dialects_of_json_and_yaml_are_worked_through_to_their_last_byte() {
    let features = r#"[
  {"category": "a", "description": "one", "steps": ["look"], "passes": false},
  {"category": "b", "description": "two", "steps": [], "passes": false}
]
"#;
    let second = r#"{"schemaVersion": "2.0", "config": {"max_iterations": 9}, "userStories": [
  {"id": "S1", "title": "one", "status": "pending", "execution": {"attempts": 0}},
  {"id": "S2", "title": "two", "status": "failed", "dependencies": {"depends_on": ["S1"], "blocks": []}}
]}"#;
    let completed = "tasks:\r\n  - title: one\r\n    completed: false # soon\r\n  - title: two\r\n    completed: false\r\n";
    for (file, text, done) in [
        ("features.json", features, features.replace("false", "true")),
        (
            "prd.json",
            second,
            second.replace("\"pending\"", "\"completed\"").replace("\"failed\"", "\"completed\""),
        ),
        ("tasks.yml", completed, completed.replace("false", "true")),
    ] {
        let sandbox = repository();
        sandbox.write(file, text);
        sandbox.commit_all("tasks");
        let agent = another(&sandbox)
            .call(claims(writes("one.txt")))
            .call(claims(writes("two.txt")))
            .call(Steps::new().status(&StatusBlock::done()))
            .install(&sandbox);
        let args = ["--test-cmd", "true", "--backlog", file];
        works_through(&sandbox, &agent).args(args).run().assert_code(0).assert_stderr_has(" COMPLETE");
        assert_eq!(sandbox.read(file), done, "{file}");
    }
}

#[test]
fn stories_with_a_status_get_their_times() {
    let sandbox = repository();
    let story = |id: &str| json!({"id": id, "title": id, "status": "open"});
    sandbox.write("prd.json", json!({"stories": [story("one"), story("two")]}).to_string());
    sandbox.commit_all("stories");
    works_through_two(&sandbox);
    let file: serde_json::Value = serde_json::from_str(&sandbox.read("prd.json")).expect("JSON");
    for story in file["stories"].as_array().expect("a list") {
        assert_eq!(story["status"], "done", "{story}");
        let time = |name: &str| story[name].as_str().map(str::to_owned).unwrap_or_default();
        let (began, ended) = (time("startedAt"), time("completedAt"));
        assert!(began.starts_with("20") && ended.ends_with('Z') && began <= ended, "{story}");
    }
}

#[test]
fn convergence_criteria_choose_which_checks_are_asked_for() {
    let mut only = item("FEAT-1", "one.txt");
    only["ralph_loop"]["convergence_criteria"] =
        json!({"build_passes": false, "tests_pass": false, "acceptance_met": true});
    let sandbox = harness(&[only]);
    let agent = another(&sandbox).call(claims(writes("one.txt"))).install(&sandbox);
    let run = worker(&sandbox, &agent).args(["--build-cmd", "false", "--test-cmd", "false"]);
    run.run().assert_code(0);
    assert_eq!(
        item_now(&sandbox, "FEAT-1")["attempts"][0]["evidence"]["commands_run"],
        json!(["test -e one.txt"])
    );
}

/// A run on this file with these arguments; the commands that proved its one item.
fn proved_by(file: &str, text: &str, args: &[&str]) -> serde_json::Value {
    let sandbox = repository();
    sandbox.write(file, text);
    sandbox.commit_all("tasks");
    let agent = another(&sandbox).call(claims(writes("one.txt"))).install(&sandbox);
    let run = works_through(&sandbox, &agent).args(["--once", "--backlog", file]).args(args).run();
    run.assert_code(0);
    let checks = crate::stage::ledger(&sandbox)[0]["checks"].as_array().expect("checks").clone();
    checks.iter().map(|check| check["argv"][2].clone()).collect()
}

#[test]
fn gates_and_validation_commands_of_a_backlog_are_run_for_every_item() {
    let stories = json!({"qualityGates": ["test -e one.txt", "true gate"],
        "stories": [{"id": "S-1", "title": "one", "status": "open"}]})
    .to_string();
    let gates = json!(["test -e one.txt", "true gate"]);
    assert_eq!(proved_by("prd.json", &stories, &[]), gates);
    assert_eq!(
        proved_by("prd.json", &stories, &["--test-cmd", "true mine"]),
        json!(["true mine", "test -e one.txt", "true gate"])
    );
    let tasks =
        json!({"config": {"build_command": "true build", "test_command": "true tests", "lint_command": ""},
        "tasks": [{"id": "T-1", "title": "one", "completed": false}]})
        .to_string();
    assert_eq!(proved_by("tasks.json", &tasks, &[]), json!(["true build", "true tests"]));
    assert_eq!(
        proved_by("tasks.json", &tasks, &["--test-cmd", "true mine"]),
        json!(["true build", "true mine"])
    );
    assert_eq!(proved_by("tasks.json", &tasks, &["--test-cmd", "none"]), json!(["true build"]));
    let plan = "# Plan\n\n## Validation Commands\n\n- `test -e one.txt`\n\n## Tasks\n\n- [ ] one\n";
    assert_eq!(proved_by("IMPLEMENTATION_PLAN.md", plan, &[]), json!(["test -e one.txt"]));
}

#[test]
fn a_red_gate_refuses_and_gates_need_trust_and_are_shown() {
    let sandbox = repository();
    let stories = json!({"qualityGates": ["test -e gate.txt"], "stories": [{"id": "S-1", "title": "one", "status": "open"}]});
    sandbox.write("prd.json", stories.to_string());
    sandbox.commit_all("stories");
    let agent =
        another(&sandbox).call(claims(writes("one.txt"))).call(claims(writes("gate.txt"))).install(&sandbox);
    let untrusted =
        crate::common::ralph(&sandbox).args(["run", "--once", "--agent-cmd"]).arg(agent.path()).run();
    untrusted
        .assert_code(64)
        .assert_stderr_has("prd.json, qualityGates 1")
        .assert_stderr_has("test -e gate.txt");
    let dry = works_through(&sandbox, &agent).args(["--once", "--dry-run"]).run();
    dry.assert_code(0).assert_stdout_has("gate-1: test -e gate.txt (prd.json, qualityGates 1)");
    let refused = works_through(&sandbox, &agent).arg("--once").run();
    refused.assert_code(3).assert_stderr_has("✗ claimed done, refused: test -e gate.txt exit 1");
    works_through(&sandbox, &agent).arg("--once").run().assert_code(0);
}

#[test]
fn a_gate_that_a_run_began_with_stays_though_the_file_has_lost_it() {
    let sandbox = repository();
    let story = json!({"id": "S-1", "title": "one", "status": "open"});
    sandbox.write("prd.json", json!({"qualityGates": ["test -e gate.txt"], "stories": [story]}).to_string());
    sandbox.commit_all("stories");
    let agent = another(&sandbox)
        .call(Steps::new().status(&StatusBlock::blocked("need a key")))
        .call(claims(writes("one.txt")))
        .install(&sandbox);
    works_through(&sandbox, &agent).args(["--max-iterations", "2"]).run().assert_code(2);
    sandbox.write("prd.json", json!({"stories": [story]}).to_string());
    ralph(&sandbox).args(["note", "--item", "S-1", "the key is in .env"]).run().assert_code(0);
    let resumed = works_through(&sandbox, &agent).run();
    resumed.assert_code(3).assert_stderr_has("✗ claimed done, refused: test -e gate.txt exit 1");
}

#[test]
fn a_plan_with_a_task_that_has_no_box_is_not_complete() {
    let sandbox = repository();
    sandbox.write("fix_plan.md", "### Task 1: Rows\n- [ ] a\n\n### Task 2: Sums\n\nAdd them up.\n");
    sandbox.commit_all("a plan");
    let agent = another(&sandbox).call(claims(writes("one.txt"))).install(&sandbox);
    let finished = works_through(&sandbox, &agent).args(["--test-cmd", "true"]).run();
    finished
        .assert_code(2)
        .assert_stderr_has("'Task 2: Sums' in line 4")
        .assert_stderr_has("write '- [ ] words'");
    assert!(sandbox.read("fix_plan.md").starts_with("### Task 1: Rows\n- [x] a\n"));
}
