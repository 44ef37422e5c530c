//! What is meant of a backlog, and what a call says about it.

use ralph_testkit::{Finished, Sandbox};
use serde_json::{Value, json};

use crate::common::{ralph, repository};
use crate::stage::{
    HARNESS, another, claims, commits, item_now, turns_green, two_items, worker, works_through, writer,
    writes,
};

#[test]
fn one_item_by_its_id_whatever_its_place() {
    let sandbox = two_items();
    let agent = writer(&sandbox, &["two.txt"]);
    works_through(&sandbox, &agent)
        .args(["--task", "FEAT-2"])
        .run()
        .assert_code(0)
        .assert_stderr_has("FEAT-2");
    assert_eq!(item_now(&sandbox, "FEAT-1")["status"], "FAILING");
    let unknown = works_through(&sandbox, &agent).args(["--task", "FEAT-22"]).run();
    unknown.assert_code(64).assert_stderr_has("try: write FEAT-");
    works_through(&sandbox, &agent)
        .args(["--task", "FEAT-2"])
        .run()
        .assert_code(0)
        .assert_stderr_has("FEAT-2 is done already");
    assert_eq!(agent.calls(&sandbox).len(), 1);
}

#[test]
fn an_item_of_another_phase_is_no_complete_backlog() {
    let sandbox = repository();
    let task = |id: &str, phase: &str| {
        format!("  - id: {id}\n    title: {id}\n    status: todo\n    phase: {phase}\n")
    };
    sandbox.write(".ralph/ralph.yml", format!("tasks:\n{}{}", task("t1", "mvp"), task("t3", "later")));
    let agent = writer(&sandbox, &["a.txt"]);
    let refused = works_through(&sandbox, &agent).args(["--task", "t3", "--phase", "mvp"]).run();
    refused.assert_code(64).assert_stderr_has("t3 is not in phase 'mvp'").assert_stderr_has("in phase later");
    let next = ralph(&sandbox).args(["backlog", "next", "--task", "t3", "--phase", "mvp"]).run();
    next.assert_code(64);
    assert_eq!(agent.calls(&sandbox).len(), 0);
}

#[test]
fn a_run_without_an_iteration_names_none_to_look_at() {
    let sandbox = repository();
    let task = |id: &str, on: &str| format!("  - id: {id}\n    title: {id}\n    dependencies: [{on}]\n");
    sandbox.write(".ralph/ralph.yml", format!("tasks:\n{}{}", task("a", "b"), task("b", "a")));
    let agent = writer(&sandbox, &["a.txt"]);
    let stopped = works_through(&sandbox, &agent).run();
    stopped.assert_code(2).assert_stderr_has("in a ring").assert_stderr_lacks("ralph history 0");
    sandbox.write(".ralph/ralph.yml", format!("tasks:\n{}", task("a", "")));
    works_through(&sandbox, &agent).args(["--fresh", "--max-iterations", "1"]).run();
    let listed = ralph(&sandbox).arg("history").run().stdout;
    let lines: Vec<&str> = listed.lines().collect();
    assert!(
        lines[0].starts_with("run 1: every item of") && lines[1].starts_with("  stopped: blocked: "),
        "{listed}"
    );
    assert!(lines[2].starts_with("run 2: every item of") && lines[3].starts_with("  #1 "), "{listed}");
}

#[test]
fn what_dependencies_stop_is_told_with_what_settles_it() {
    let sandbox = repository();
    let story = |id: &str, on: &str| json!({"id": id, "title": id, "passes": false, "dependsOn": [on]});
    let put = |stories: Vec<Value>| sandbox.write("prd.json", json!({ "userStories": stories }).to_string());
    let agent = writer(&sandbox, &["a.txt"]);
    put(vec![story("A", "B"), story("B", "A")]);
    let ring = works_through(&sandbox, &agent).run();
    ring.assert_code(2)
        .assert_stderr_has("to go on: take one of these dependencies out of prd.json, then ralph run");
    ring.assert_stderr_lacks("ralph note");
    let doctor = ralph(&sandbox).arg("doctor").run();
    doctor.assert_stdout_has("prd.json: items depend on each other in a ring: A -> B -> A");
    put(vec![story("A", "Q")]);
    let missing = works_through(&sandbox, &agent).run();
    missing
        .assert_code(2)
        .assert_stderr_has("A waits for Q (not in the file)")
        .assert_stderr_lacks("ralph note");
    missing.assert_stderr_has(
        "to go on: add Q to prd.json, or take it out of what A depends on, then ralph run",
    );
    let doctor = ralph(&sandbox).arg("doctor").run();
    doctor.assert_stdout_has("1 of 1 item open; A: it depends on Q, which is not in the file");
    put(vec![story("A", "B"), json!({"id": "B", "title": "B", "passes": false})]);
    let alone = works_through(&sandbox, &agent).args(["--task", "A", "--fresh"]).run();
    alone.assert_code(2).assert_stderr_has("to go on: ralph run --task B, and then this again");
    assert_eq!(agent.calls(&sandbox).len(), 0);
}

#[test]
fn two_items_with_one_id_are_refused_before_anything_is_run() {
    let sandbox = repository();
    let stories = |passes: bool| {
        let story = |title: &str| format!("{{\"id\": \"A\", \"title\": \"{title}\", \"passes\": {passes}}}");
        let rest = "{\"id\": \"B\", \"title\": \"b\", \"passes\": true}";
        format!("[\n{},\n{rest},\n{}\n]\n", story("one"), story("two"))
    };
    sandbox.write("prd.json", stories(false));
    let agent = writer(&sandbox, &["a.txt"]);
    let refused = works_through(&sandbox, &agent).run();
    refused.assert_code(65).assert_stderr_has("there are several items with the id A");
    refused.assert_stderr_has("prd.json:2 and ").assert_stderr_has("prd.json:4\n");
    assert_eq!(agent.calls(&sandbox).len(), 0);
    assert!(!sandbox.exists(".ralph/session.md"), "no run was begun");
    let next = ralph(&sandbox).args(["backlog", "next"]).run();
    next.assert_code(65).assert_stderr_has("give one of them another id");
    ralph(&sandbox).arg("doctor").run().assert_stdout_has("A is there twice, again in line 4");
    sandbox.write("prd.json", stories(true));
    works_through(&sandbox, &agent).run().assert_code(0).assert_stderr_has("BACKLOG COMPLETE");
}

#[test]
fn a_run_that_goes_on_tells_of_a_second_item_with_the_id_in_one_line() {
    let sandbox = repository();
    let story = |id: &str, passes: bool| json!({"id": id, "title": id, "passes": passes}).to_string();
    let put = |stories: &[String]| sandbox.write("prd.json", format!("[\n{}\n]\n", stories.join(",\n")));
    put(&[story("A", false), story("B", false)]);
    sandbox.commit_all("stories");
    let agent = writer(&sandbox, &["a.txt"]);
    let most =
        |n: &str| turns_green(&sandbox, &agent).args(["--test-cmd", "false", "--max-iterations", n]).run();
    most("1").assert_code(3);
    put(&[story("A", true), story("B", false), story("B", false)]);
    let stopped = most("3");
    stopped.assert_code(65);
    let told = stopped.stderr.lines().find(|line| line.contains("several items with the id B"));
    assert!(told.is_some_and(|line| line.contains("prd.json:3 and ")), "{stopped}");
    assert_eq!(agent.calls(&sandbox).len(), 1);
}

#[test]
fn another_file_and_another_harness_can_be_named() {
    let sandbox = repository();
    sandbox.write("plans/mine.md", "- [ ] thing\n");
    sandbox.write("elsewhere/feature_list.json", sandbox_items());
    sandbox.commit_all("plans");
    let agent = writer(&sandbox, &["a.txt", "one.txt"]);
    works_through(&sandbox, &agent)
        .args(["--backlog", "plans/mine.md", "--once", "--test-cmd", "true"])
        .run()
        .assert_code(0);
    assert_eq!(sandbox.read("plans/mine.md"), "- [x] thing\n");
    worker(&sandbox, &agent).args(["--harness-dir", "elsewhere"]).run().assert_code(0);
    assert!(sandbox.read("elsewhere/feature_list.json").contains("\"PASSING\""));
    let missing = works_through(&sandbox, &agent).args(["--backlog", "none.md"]).run();
    missing.assert_code(65).assert_stderr_has("none.md");
    let outside = works_through(&sandbox, &agent).args(["--backlog", "/etc/passwd.md"]).run();
    assert!([64, 65].contains(&outside.code), "{outside}");
    works_through(&sandbox, &agent).args(["--backlog", "README.txt"]).run().assert_code(64);
}

fn sandbox_items() -> String {
    serde_json::to_string_pretty(&json!({"items": [crate::stage::item("FEAT-1", "one.txt")]})).expect("JSON")
}

#[test]
fn the_project_s_file_may_name_the_backlog() {
    let sandbox = repository();
    sandbox.write("todo/list.md", "- [ ] thing\n");
    sandbox.write(
        ".ralph/config.toml",
        "backlog = \"todo/list.md\"\nprofile = \"worker\"\n[checks]\ntest = \"true\"\n",
    );
    let agent = writer(&sandbox, &["a.txt"]);
    works_through(&sandbox, &agent).run().assert_code(0);
    assert_eq!(sandbox.read("todo/list.md"), "- [x] thing\n");
    let list = ralph(&sandbox).args(["backlog", "status"]).run();
    list.assert_code(0);
    sandbox.write(".ralph/config.toml", "backlog = \"todo/gone.md\"\n");
    works_through(&sandbox, &agent).run().assert_code(65).assert_stderr_has("todo/gone.md");
}

#[test]
fn a_task_file_that_an_agent_adds_does_not_take_the_place_of_the_one_that_is_worked_on() {
    let sandbox = repository();
    sandbox.write("fix_plan.md", "- [ ] make one\n- [ ] make two\n");
    sandbox.commit_all("plan");
    let list = |state: &str| format!("tasks:\n- id: z\n  title: z\n  status: {state}\n");
    let adds =
        another(&sandbox).call(writes("junk").write(".ralph/ralph.yml", list("todo"))).install(&sandbox);
    let once = |more: &[&str]| turns_green(&sandbox, &adds).arg("--once").args(more).run();
    let about = |call: Finished, file: &str| {
        call.assert_code(0).assert_stdout_has(&format!(" of {file}\n"));
    };
    once(&["--test-cmd", "false"]).assert_code(3);
    about(once(&["--dry-run"]), "fix_plan.md");
    about(turns_green(&sandbox, &adds).args(["--fresh", "--dry-run"]).run(), "fix_plan.md");
    sandbox.write(".ralph/ralph.yml", list("done"));
    about(once(&["--dry-run"]), "fix_plan.md");
    once(&["--backlog", ".ralph/ralph.yml"]).assert_code(7);
    sandbox.write("fix_plan.md", "- [x] make one\n- [x] make two\n");
    once(&[]).assert_code(7);
}

#[test]
fn a_goal_and_a_backlog_are_two_things() {
    let sandbox = two_items();
    let agent = writer(&sandbox, &["one.txt"]);
    let both = works_through(&sandbox, &agent).args(["a goal", "--backlog", HARNESS]).run();
    both.assert_code(64);
    assert_eq!(commits(&sandbox), 2);
}

#[test]
fn nothing_to_do_without_a_backlog_says_what_to_do() {
    let sandbox = Sandbox::new();
    let agent = another(&sandbox).call(claims(writes("a"))).install(&sandbox);
    works_through(&sandbox, &agent).run().assert_code(64).assert_stderr_has("no goal given");
    works_through(&sandbox, &agent)
        .arg("--once")
        .run()
        .assert_code(64)
        .assert_stderr_has("there is no backlog here");
}

#[test]
fn a_stopped_run_goes_on_with_its_item_and_counts_its_attempts_once() {
    let sandbox = two_items();
    let agent = another(&sandbox)
        .call(writes("half.txt").reach("there").hang())
        .call(claims(writes("one.txt")))
        .install(&sandbox);
    let running = worker(&sandbox, &agent).spawn();
    sandbox.wait_for("there");
    running.signal(rustix::process::Signal::INT);
    running.wait().assert_code(130);
    assert_eq!(item_now(&sandbox, "FEAT-1")["attempts"], json!([]), "an interrupt is no attempt");
    worker(&sandbox, &agent).run().assert_code(0);
    let now = item_now(&sandbox, "FEAT-1");
    assert_eq!((now["attempts"].as_array().map(Vec::len), &now["status"]), (Some(1), &json!("PASSING")));
}

#[test]
fn an_empty_backlog_says_what_to_do_before_anything_is_run() {
    let sandbox = repository();
    sandbox.write(".ralph/ralph.yml", "project: x\ntasks: []\n");
    let agent = another(&sandbox).call(claims(writes("a"))).install(&sandbox);
    let call = || works_through(&sandbox, &agent).args(["--test-cmd", "touch ran"]);
    let finished = call().run();
    finished
        .assert_code(0)
        .assert_stderr_has("the backlog .ralph/ralph.yml is empty: ralph backlog add \"TITLE\"");
    finished.assert_stderr_lacks("COMPLETE");
    call().arg("--once").run().assert_code(7);
    let told = call().arg("--json").run().json_lines();
    assert_eq!((told.len(), &told[0]["stop_reason"]), (1, &json!("backlog_complete")));
    call().args(["--profile", "worker"]).run().assert_code(7);
    assert!(!sandbox.exists("ran") && agent.calls(&sandbox).is_empty());
}

#[test]
fn what_proves_an_item_is_shown_as_it_is() {
    let sandbox = crate::stage::checklist();
    let agent = another(&sandbox).call(claims(writes("a"))).install(&sandbox);
    let dry = works_through(&sandbox, &agent).arg("--dry-run").run();
    dry.assert_stdout_has("none, and no item has any: done is a matter of words and reviews");
    let worker = works_through(&sandbox, &agent).args(["--dry-run", "--profile", "worker"]).run();
    worker.assert_stdout_has("none, and no item has any: nothing could prove one; --test-cmd CMD adds one");
    let sandbox = two_items();
    let agent = another(&sandbox).call(claims(writes("a"))).install(&sandbox);
    works_through(&sandbox, &agent).arg("--dry-run").run().assert_stdout_has("those of each item");
}
