//! `ralph backlog`: the real binary on real task files, seed 003's command lines with our names.

mod common;

use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

use common::{ralph, repository};
use ralph_testkit::{Beads, Finished, Sandbox, Schema};
use serde_json::{Value, json};

const HARNESS: &str = ".claude/harness/feature_list.json";

fn features() -> Value {
    json!({"items": [
        {"id": "FEAT-1", "title": "Store", "acceptance_criteria": ["kept"], "verification": ["true"], "status": "FAILING",
         "priority": 2, "dependencies": [], "attempts": [], "notes": "",
         "ralph_loop": {"enabled": true, "max_iterations": 2, "current_iteration": 0},
         "prd_reference": {"file": "FEAT-1.json", "last_updated": "2026-01-07T00:00:00Z", "version": "1.0.0"}},
        {"id": "FEAT-2", "title": "Search", "status": "FAILING", "priority": 1, "dependencies": ["FEAT-1"], "attempts": [],
         "ralph_loop": {"enabled": true}}
    ]})
}

fn prd() -> Value {
    json!({"feature_id": "FEAT-1", "title": "Storing", "overview": "Notes are kept on disk, for good.",
        "functional_requirements": ["FR-1: a file"], "acceptance_criteria": ["AC-1: it is there"], "constraints": ["no cloud"]})
}

/// A project with a harness, written as seed 003's scripts write it.
fn harness() -> Sandbox {
    let sandbox = repository();
    sandbox.write(HARNESS, serde_json::to_string_pretty(&features()).expect("JSON") + "\n");
    sandbox.write(".claude/prd/FEAT-1.json", prd().to_string());
    sandbox
}

fn backlog(sandbox: &Sandbox, args: &[&str]) -> Finished {
    ralph(sandbox).arg("backlog").args(args).run()
}

/// The JSON of a command, which is as its schema says.
#[track_caller]
fn document(sandbox: &Sandbox, code: i32, args: &[&str]) -> Value {
    let finished = backlog(sandbox, &[args, &["--json"]].concat());
    finished.assert_code(code);
    let document = finished.json();
    Schema::published(document["schema"].as_str().expect("a schema")).assert(&document);
    document
}

#[test]
fn the_seed_s_command_lines_go_from_selection_to_proof() {
    let sandbox = harness();
    let dir = ["--harness-dir", ".claude/harness"];
    let with = |args: &[&'static str]| [args, &dir].concat();
    let next = document(&sandbox, 0, &with(&["next"]));
    assert_eq!(
        (&next["success"], &next["selected"]["id"], &next["selected"]["title"]),
        (&json!(true), &json!("FEAT-1"), &json!("Store"))
    );
    assert_eq!(next["selected"]["priority"], 2);
    assert_eq!(next["selected"]["ralph_loop"]["max_iterations"], 2);
    assert_eq!(
        next["selected"]["prd_reference"],
        json!({"file": "FEAT-1.json", "last_updated": "2026-01-07T00:00:00Z", "version": "1.0.0"})
    );
    assert_eq!(next["dependency_check"], json!({"satisfied": true, "blocking_deps": []}));
    let args = [
        "attempt",
        "FEAT-1",
        "PASSED",
        "--commands",
        "pio run,grep NUM_LEDS",
        "--summary",
        "Build passes",
        "--commit",
        "abc1234",
    ];
    let told = document(&sandbox, 0, &with(&args));
    assert_eq!((&told["run_id"], &told["status"]), (&json!("worker-001"), &json!("FAILING")));
    let file: Value = serde_json::from_str(&sandbox.read(HARNESS)).expect("JSON");
    let attempt = &file["items"][0]["attempts"][0];
    assert_eq!(
        attempt["evidence"],
        json!({"commands_run": ["pio run", "grep NUM_LEDS"], "results_summary": "Build passes"})
    );
    assert_eq!(
        (&attempt["commit"], &attempt["reverted"], &attempt["result"]),
        (&json!("abc1234"), &json!(false), &json!("PASSED"))
    );
    backlog(&sandbox, &with(&["validate", "FEAT-1"])).assert_code(0);
    assert_eq!(document(&sandbox, 0, &with(&["set", "FEAT-1", "PASSING"]))["status"], "PASSING");
    assert_eq!(document(&sandbox, 0, &with(&["next"]))["selected"]["id"], "FEAT-2");
    let done = document(&sandbox, 1, &with(&["next", "--task", "FEAT-1"]));
    assert_eq!(done["message"], "FEAT-1 is PASSING already", "though another one is open");
}

#[test]
fn another_harness_folder_is_meant_by_all_four_scripts_and_has_its_requirements_beside_it() {
    let sandbox = harness();
    let decoy = sandbox.read(HARNESS);
    let file = "tools/harness/feature_list.json";
    sandbox.write(file, decoy.replace("\"Store\"", "\"Keep\""));
    sandbox.write("tools/prd/FEAT-1.json", prd().to_string().replace("no cloud", "no disk"));
    let there = |args: &[&'static str]| [args, &["--harness-dir", "tools/harness"]].concat();
    assert_eq!(document(&sandbox, 0, &there(&["next"]))["selected"]["title"], "Keep");
    backlog(&sandbox, &there(&["show", "FEAT-1"])).assert_code(0).assert_stdout_has("no disk");
    document(&sandbox, 0, &there(&["attempt", "FEAT-1", "IN_PROGRESS", "--summary", "half of it"]));
    document(&sandbox, 0, &there(&["increment", "FEAT-1"]));
    let item = &serde_json::from_str::<Value>(&sandbox.read(file)).expect("JSON")["items"][0];
    let attempt = &item["attempts"][0];
    assert_eq!((&attempt["result"], &item["status"]), (&json!("IN_PROGRESS"), &json!("FAILING")));
    assert_eq!(attempt["evidence"], json!({"commands_run": [], "results_summary": "half of it"}));
    assert_eq!(item["ralph_loop"]["current_iteration"], 1);
    let validated = document(&sandbox, 0, &there(&["validate"]));
    assert_eq!(validated["checked"], 2);
    sandbox.write(file, sandbox.read(file).replace("\"worker-001\"", "\"\""));
    backlog(&sandbox, &there(&["validate"])).assert_code(1);
    backlog(&sandbox, &["validate"]).assert_code(0);
    assert_eq!(sandbox.read(HARNESS), decoy, "the other one is not touched");
}

#[test]
fn what_was_added_is_told_as_published() {
    let sandbox = harness();
    let told = document(&sandbox, 0, &["add", "Share notes", "--priority", "3"]);
    assert_eq!((&told["id"], &told["status"]), (&json!("share-notes"), &json!("FAILING")));
    let file: Value = serde_json::from_str(&sandbox.read(HARNESS)).expect("JSON");
    assert_eq!((&file["items"][2]["id"], &file["items"][2]["priority"]), (&told["id"], &json!(3)));
}

#[test]
fn the_lowest_number_comes_first_whatever_the_order_of_ids_and_lines() {
    let sandbox = Sandbox::new();
    let item = |id: &str, priority: u64| json!({"id": id, "title": id, "status": "FAILING", "priority": priority, "ralph_loop": {"enabled": true}});
    sandbox.write("feature_list.json", json!({"items": [item("A-1", 10), item("B-2", 9)]}).to_string());
    assert_eq!(document(&sandbox, 0, &["next"])["selected"]["id"], "B-2");
}

#[test]
fn an_item_may_begin_when_what_it_depends_on_is_passing_or_cancelled_and_not_before() {
    let sandbox = harness();
    let with = |status: &str| {
        let mut list = features();
        list["items"][0]["status"] = json!(status);
        list["items"][0]["ralph_loop"]["enabled"] = json!(false);
        sandbox.write(HARNESS, list.to_string());
    };
    for status in ["PASSING", "CANCELLED"] {
        with(status);
        let next = document(&sandbox, 0, &["next"]);
        assert_eq!(next["selected"]["id"], "FEAT-2", "{status}");
        assert_eq!(next["dependency_check"], json!({"satisfied": true, "blocking_deps": []}), "{status}");
    }
    for status in ["FAILING", "BLOCKED"] {
        with(status);
        let refused = backlog(&sandbox, &["next"]);
        assert_eq!(refused.json()["selected"], Value::Null, "{status}: {refused}");
        refused.assert_stderr_has("FEAT-1");
    }
}

#[test]
fn what_changes_an_item_refuses_an_id_that_two_items_have() {
    let sandbox = harness();
    let twice = sandbox.read(HARNESS).replace("\"id\": \"FEAT-2\"", "\"id\": \"FEAT-1\"");
    sandbox.write(HARNESS, &twice);
    for args in [
        &["set", "FEAT-1", "BLOCKED"][..],
        &["attempt", "FEAT-1", "FAILED", "--summary", "red"],
        &["increment", "FEAT-1"],
        &["reset", "FEAT-1"],
    ] {
        let refused = backlog(&sandbox, args);
        refused.assert_stderr_has("there are several items with the id FEAT-1");
        refused.assert_stderr_has("give one of them another id");
        refused.assert_code(1);
        assert_eq!(sandbox.read(HARNESS), twice, "{args:?}");
    }
}

#[test]
fn requirements_may_name_their_schema_which_lies_beside_them_and_is_none_itself() {
    let sandbox = harness();
    let published = Schema::published("ralph.prd/1");
    let own = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas/ralph.prd-1.json");
    let own = std::fs::read_to_string(own).expect("the published schema");
    sandbox.write(".claude/prd/schema.json", &own);
    let mut named = prd();
    named["$schema"] = json!("https://lightwave-os.local/schemas/prd-v1.json");
    sandbox.write(".claude/prd/FEAT-1.json", named.to_string());
    published.assert(&named);
    Schema::new(serde_json::from_str(&sandbox.read(".claude/prd/schema.json")).expect("JSON")).assert(&named);
    backlog(&sandbox, &["validate", "--strict"]).assert_code(0).assert_stderr_lacks("schema");
    let shown = backlog(&sandbox, &["show", "FEAT-1"]);
    shown.assert_code(0).assert_stdout_has("FR-1: a file");
    assert_eq!(sandbox.read(".claude/prd/schema.json"), own, "left as it is");
    // A schema that is no text is no name of one.
    named["$schema"] = json!(1);
    assert!(!published.complaints(&named).is_empty());
}

#[test]
fn nothing_passes_by_an_attempt_that_lacks_something_and_the_file_stays() {
    let whole = json!({"run_id": "worker-001", "timestamp": "2026-01-07T19:30:00Z", "result": "PASSED",
        "evidence": {"commands_run": ["make"], "results_summary": "fine"}, "commit": null, "reverted": false});
    let sandbox = harness();
    let with = |attempt: &Value| {
        let mut list = features();
        list["items"][0]["attempts"] = json!([attempt]);
        sandbox.write(HARNESS, list.to_string());
        sandbox.read(HARNESS)
    };
    for lacking in ["/run_id", "/timestamp", "/evidence/commands_run", "/evidence/results_summary", "/result"]
    {
        let mut attempt = whole.clone();
        let (parent, name) = lacking.rsplit_once('/').expect("a path");
        attempt.pointer_mut(parent).and_then(Value::as_object_mut).expect("an object").remove(name);
        let before = with(&attempt);
        backlog(&sandbox, &["set", "FEAT-1", "PASSING"])
            .assert_code(1)
            .assert_stderr_has("FEAT-1 cannot become done (PASSING): ");
        assert_eq!(sandbox.read(HARNESS), before, "{lacking}");
    }
    with(&whole);
    backlog(&sandbox, &["set", "FEAT-1", "PASSING"]).assert_code(0);
    // From there nothing but FAILING is left.
    let before = sandbox.read(HARNESS);
    backlog(&sandbox, &["set", "FEAT-1", "BLOCKED"])
        .assert_code(1)
        .assert_stderr_has("FEAT-1 is done (PASSING), and cannot become blocked");
    assert_eq!(sandbox.read(HARNESS), before, "an illegal move changes nothing");
}

#[test]
fn the_harness_is_found_where_the_seed_has_it() {
    let sandbox = harness();
    let next = backlog(&sandbox, &["next"]);
    next.assert_code(0);
    let selected = &next.json()["selected"];
    assert_eq!((&selected["id"], &selected["title"]), (&json!("FEAT-1"), &json!("Store")));
}

#[test]
fn failures_count_up_warn_and_block_only_with_a_reason() {
    let sandbox = harness();
    let reason = "the disk is too slow";
    backlog(
        &sandbox,
        &[
            "attempt", "FEAT-1", "FAILED", "--failure-reason", reason, "--investigation", "try memory",
            "--reverted",
        ],
    )
    .assert_code(0);
    assert!(sandbox.read(HARNESS).contains("\"failure_reason\": \"the disk is too slow\""));
    backlog(&sandbox, &["increment", "FEAT-1"]).assert_code(0).assert_stderr_has("iteration 1 of 2");
    let before = sandbox.read(HARNESS);
    backlog(&sandbox, &["increment", "FEAT-1", "--block-on-max"])
        .assert_code(1)
        .assert_stderr_has("--override-reason");
    assert_eq!(sandbox.read(HARNESS), before, "a refusal changes nothing");
    backlog(&sandbox, &["increment", "FEAT-1"]).assert_code(0).assert_stderr_has("has reached its limit");
    let next = document(&sandbox, 2, &["next"]);
    assert_eq!((&next["reason"], &next["at_limit"]), (&json!("waiting_at_limit"), &json!(["FEAT-1"])));
    assert_eq!(next["waiting"], json!([{"id": "FEAT-2", "on": ["FEAT-1"]}]));
    assert_eq!(next["dependency_check"], json!({"satisfied": false, "blocking_deps": ["FEAT-1"]}));
    let told = document(&sandbox, 0, &["increment", "FEAT-1", "--block-on-max", "--override-reason", reason]);
    assert_eq!((&told["blocked"], &told["status"]), (&json!(true), &json!("BLOCKED")));
    assert!(sandbox.read(HARNESS).contains("Max iterations reached, human review required"));
    backlog(&sandbox, &["show", "FEAT-1"]).assert_code(0).assert_stdout_has("What was found out: try memory");
    let told = document(&sandbox, 0, &["reset", "FEAT-1"]);
    assert_eq!((&told["status"], &told["current_iteration"]), (&json!("FAILING"), &json!(0)));
}

#[test]
fn next_tells_complete_waiting_limit_and_cycle_apart() {
    let sandbox = Sandbox::new();
    let story = |id: &str, passes: bool, depends: &[&str]| json!({"id": id, "title": id, "passes": passes, "dependsOn": depends});
    let put = |stories: Vec<Value>| sandbox.write("prd.json", json!({ "userStories": stories }).to_string());
    put(vec![story("a", true, &[])]);
    backlog(&sandbox, &["next"]).assert_code(1).assert_stderr_has("Backlog complete");
    put(vec![story("a", false, &["gone"])]);
    backlog(&sandbox, &["next"]).assert_code(1).assert_stderr_has("a waits for gone (not in the file)");
    put(vec![story("a", false, &["b"]), story("b", false, &["a"]), story("c", false, &[])]);
    backlog(&sandbox, &["next"]).assert_code(2).assert_stderr_has("a -> b -> a; take one");
    assert_eq!(document(&sandbox, 2, &["next"])["cycle"], json!(["a", "b", "a"]));
    put(vec![]);
    let mut limited = features();
    limited["items"][0]["ralph_loop"]["current_iteration"] = 2.into();
    limited["items"].as_array_mut().expect("a list").pop();
    sandbox.write("feature_list.json", limited.to_string());
    let next = document(&sandbox, 2, &["next"]);
    assert_eq!((&next["reason"], &next["at_limit"]), (&json!("at_limit"), &json!(["FEAT-1"])));
}

#[test]
fn unreadable_data_is_65_with_its_line_and_no_backlog_is_64() {
    let sandbox = Sandbox::new();
    sandbox.write("TODO.md", "- [ ] not a backlog by its name\n");
    let none = backlog(&sandbox, &["add", "x"]);
    none.assert_code(64).assert_stderr_has("there is no backlog here").assert_stderr_has("try: ralph init");
    backlog(&sandbox, &["next", "--backlog", "gone.json"]).assert_code(65).assert_stderr_has("gone.json");
    backlog(&sandbox, &["set", "a", "done", "--backlog", "gone.json"]).assert_code(65);
    sandbox.write("prd.json", "{\n  \"userStories\": [\n    {]\n");
    for args in [&["next"][..], &["list"], &["validate"], &["set", "a", "done"], &["add", "x"]] {
        backlog(&sandbox, args).assert_code(65).assert_stderr_has("line 3");
    }
    backlog(&sandbox, &["list", "--backlog", "TODO.md"])
        .assert_code(0)
        .assert_stdout_has("not a backlog by its name");
    backlog(&sandbox, &["next", "--backlog", "tasks.txt"]).assert_code(64).assert_stderr_has(".yml");
}

#[test]
fn an_empty_backlog_says_so_and_gives_way_to_one_with_items() {
    let sandbox = Sandbox::new();
    sandbox.write(".ralph/ralph.yml", "tasks: []\n");
    backlog(&sandbox, &["list"]).assert_code(0).assert_stderr_has("has no items yet; ralph backlog add");
    backlog(&sandbox, &["status"]).assert_code(0).assert_stdout_has("none: there are no items yet");
    sandbox.write("prd.json", r#"{"userStories":[{"id":"p","passes":false}]}"#);
    assert_eq!(document(&sandbox, 0, &["status"])["next"], "p");
    sandbox.write(".ralph/ralph.yml", "tasks: {\n");
    backlog(&sandbox, &["list"])
        .assert_code(64)
        .assert_stderr_has("open items: .ralph/ralph.yml (cannot be read: line 1: ")
        .assert_stderr_has(", prd.json");
    sandbox.write(".ralph/ralph.yml", "tasks:\n  - title: y\n    status: done\n");
    assert_eq!(document(&sandbox, 0, &["status"])["next"], "p");
}

#[test]
fn what_is_disabled_blocked_or_no_phase_is_called_so() {
    let sandbox = Sandbox::new();
    let item = |id: &str, status: &str, enabled: bool| json!({"id": id, "title": id, "status": status, "ralph_loop": {"enabled": enabled}});
    let items = json!({"items": [item("OFF", "FAILING", false), item("BAD", "BLOCKED", true)]});
    sandbox.write("feature_list.json", items.to_string());
    backlog(&sandbox, &["list"])
        .assert_stdout_has("disabled     OFF")
        .assert_stdout_has("blocked      BAD")
        .assert_stderr_has("1 item disabled: not for the loop, and not counted as open");
    backlog(&sandbox, &["status"])
        .assert_stdout_has("items:       2\nblocked:     1\ndisabled:    1\n")
        .assert_stdout_has("to do:       nothing")
        .assert_stdout_has("none: only blocked items are left: BAD; to open one: ralph backlog reset BAD");
    let yaml = "tasks:\n  - id: a\n    phase: build\n";
    sandbox.write(".ralph/ralph.yml", yaml);
    for (phase, said) in [("biuld", "try: --phase build"), ("release", "phases: build")] {
        let args = ["next", "--phase", phase];
        backlog(&sandbox, &args).assert_code(64).assert_stderr_has("has no phase").assert_stderr_has(said);
    }
    backlog(&sandbox, &["next", "--phase", "build"]).assert_code(0);
}

/// The examples of docs/formats.md: where each stands, and its text.
fn examples() -> Vec<(String, String)> {
    let page = include_str!("../../../docs/formats.md");
    let mut examples = vec![];
    let mut open: Option<(String, String)> = None;
    for line in page.lines() {
        match (line.strip_prefix("```"), &mut open) {
            (Some(_), Some(_)) => examples.extend(open.take()),
            (Some(words), None) => {
                let (_, path) = words.split_once(' ').expect("a language and a file");
                open = Some((path.to_owned(), String::new()));
            }
            (None, Some((_, text))) => text.push_str(&format!("{line}\n")),
            (None, None) => {}
        }
    }
    examples
}

#[test]
fn the_published_examples_are_what_ralph_reads() {
    let examples = examples();
    let files: Vec<&str> = examples.iter().map(|(path, _)| path.as_str()).collect();
    let prd = ".claude/prd/search.json";
    assert_eq!(files, [".ralph/ralph.yml", HARNESS, prd, "prd.json", "IMPLEMENTATION_PLAN.md"]);
    let sandbox = Sandbox::new();
    examples.iter().for_each(|(path, text)| sandbox.write(path, text));
    for (file, items, next) in [
        (".ralph/ralph.yml", 4, "Find notes by a word"),
        (HARNESS, 3, "Find notes by a word"),
        ("prd.json", 2, "Find notes by a word"),
        ("IMPLEMENTATION_PLAN.md", 5, "Find notes by a word"),
    ] {
        let valid = document(&sandbox, 0, &["validate", "--backlog", file]);
        assert_eq!((&valid["valid"], &valid["checked"]), (&json!(true), &json!(items)), "{file}: {valid}");
        let listed = document(&sandbox, 0, &["list", "--backlog", file]);
        assert_eq!(
            (&listed["problems"], &listed["stats"]["done"]),
            (&json!([]), &json!(1)),
            "{file}: {listed}"
        );
        let selected = document(&sandbox, 0, &["next", "--backlog", file])["selected"].clone();
        assert_eq!(selected["title"], next, "{file}");
        let shown = backlog(&sandbox, &["show", selected["id"].as_str().expect("an id"), "--backlog", file]);
        let case = if file == HARNESS { "in the middle of a line" } else { "ase do" };
        shown.assert_code(0).assert_stdout_has(case);
    }
}

#[test]
fn details_below_a_box_are_shown_and_a_priority_finds_its_heading() {
    let sandbox = Sandbox::new();
    sandbox.write("fix_plan.md", "## High\n- [ ] first\n  with care\n\n## Low\n- [ ] last\n");
    let id = document(&sandbox, 0, &["next"])["selected"]["id"].as_str().expect("an id").to_owned();
    backlog(&sandbox, &["show", &id]).assert_code(0).assert_stdout_has("with care");
    assert_eq!(document(&sandbox, 0, &["show", &id])["description"], "with care");
    backlog(&sandbox, &["add", "second", "--priority", "high"]).assert_code(0);
    assert_eq!(
        sandbox.read("fix_plan.md"),
        "## High\n- [ ] first\n  with care\n- [ ] second\n\n## Low\n- [ ] last\n"
    );
    backlog(&sandbox, &["add", "x", "--priority", "critical"]).assert_code(1).assert_stderr_has("## High");
}

#[test]
fn every_refusal_has_its_message_and_leaves_the_file_alone() {
    let sandbox = harness();
    let before = sandbox.read(HARNESS);
    for (args, message) in [
        (&["set", "FEAT-11", "BLOCKED"][..], "try: write FEAT-1 instead of FEAT-11"),
        (&["show", "FEAT-11"], "try: write FEAT-1 instead of FEAT-11"),
        (&["add", "Again", "--id", "FEAT-1"], "there is an item FEAT-1 already"),
        (&["add", "New", "--id", " "], "an id needs letters"),
        (&["add", "New", "--id", "N", "--depends", "GONE"], "N depends on GONE, which is not in the file"),
        (
            &["add", "New", "--id", "N", "--depends", "N"],
            "items would depend on each other in a ring: N -> N",
        ),
        (&["set", "FEAT-1", "PASSING"], "it has no PASSED attempt"),
        (&["set", "FEAT-1", "in-progress"], "a feature list has no state 'in_progress'"),
        (
            &["attempt", "FEAT-1", "PASSED", "--summary", "fine"],
            "PASSED needs evidence: --commands is missing",
        ),
        (
            &["attempt", "FEAT-1", "PASSED", "--commands", "make"],
            "PASSED needs evidence: --summary is missing",
        ),
        (&["attempt", "FEAT-9", "FAILED"], "there is no item FEAT-9"),
    ] {
        backlog(&sandbox, args).assert_code(1).assert_stderr_has(message);
        assert_eq!(sandbox.read(HARNESS), before, "{args:?}");
    }
    backlog(&sandbox, &["set", "FEAT-1", "CANCELLED"]).assert_code(0);
    let before = sandbox.read(HARNESS);
    backlog(&sandbox, &["set", "FEAT-1", "PASSING"])
        .assert_code(1)
        .assert_stderr_has("FEAT-1 is cancelled, and cannot become done (PASSING)");
    assert_eq!(sandbox.read(HARNESS), before, "an illegal move changes nothing");
    backlog(&sandbox, &["attempt", "FEAT-1", "MAYBE"]).assert_code(64);
    backlog(&sandbox, &["set", "FEAT-1", "almost"]).assert_code(64);
}

#[test]
fn hints_offer_what_the_file_takes_as_a_shell_takes_it() {
    let sandbox = Sandbox::new();
    let stories = r#"{"userStories": [{"id": "US-1", "title": "One", "passes": true, "priority": 1}]}"#;
    sandbox.write("prd.json", stories);
    backlog(&sandbox, &["add", "Two", "--phase", "mvp"]).assert_code(1).assert_stderr_has("a phase");
    assert_eq!(sandbox.read("prd.json"), stories);
    sandbox.write(".ralph/ralph.yml", "tasks:\n  - title: Update the README\n    status: done\n");
    backlog(&sandbox, &["add", "x", "--priority", "7"])
        .assert_code(1)
        .assert_stderr_has("try: critical, high, medium or low");
    backlog(&sandbox, &["reset", "Update the README"])
        .assert_code(1)
        .assert_stderr_has("ralph backlog set 'Update the README' open");
}

#[test]
fn comments_line_ends_and_quotes_of_a_task_file_survive() {
    let sandbox = Sandbox::new();
    let text = "# ours\r\nproject: {name: 'P', version: \"1.0.0\"}\r\ntasks:\r\n  - id: \"a\"   # first\r\n    title: 'A'\r\n    status: \"todo\"\t# open\r\n    priority: low\r\n  # between\r\n  - {id: b, title: B, status: todo, priority: critical}";
    sandbox.write(".ralph/ralph.yml", text);
    assert_eq!(document(&sandbox, 0, &["next"])["selected"]["id"], "b", "priority wins over order");
    backlog(&sandbox, &["set", "a", "in-progress"]).assert_code(0);
    assert_eq!(document(&sandbox, 0, &["next"])["selected"]["id"], "a", "what was begun is resumed");
    backlog(&sandbox, &["set", "b", "done"]).assert_code(0);
    let expected = text.replace("\"todo\"", "\"in-progress\"").replace("status: todo", "status: done");
    assert_eq!(sandbox.read(".ralph/ralph.yml"), expected);
    let list = document(&sandbox, 0, &["list"]);
    assert_eq!(list["project"], json!({"name": "P", "version": "1.0.0"}));
    assert_eq!(list["items"][1]["line"], 9);
    assert_eq!(document(&sandbox, 0, &["show", "a"])["value"]["priority"], "low");
}

#[test]
fn a_checklist_is_ticked_and_grows() {
    let sandbox = Sandbox::new();
    sandbox.write("fix_plan.md", "# Plan\n* [ ] first\n* [x] second\n");
    let id = document(&sandbox, 0, &["next"])["selected"]["id"].as_str().expect("an id").to_owned();
    backlog(&sandbox, &["set", &id, "in-progress"]).assert_code(0);
    backlog(&sandbox, &["add", "third"]).assert_code(0);
    assert_eq!(sandbox.read("fix_plan.md"), "# Plan\n* [/] first\n* [x] second\n* [ ] third\n");
    backlog(&sandbox, &["set", &id, "done"]).assert_code(0);
    assert_eq!(document(&sandbox, 0, &["status"])["stats"]["done"], 2);
}

#[test]
fn validation_covers_evidence_requirements_and_commits() {
    let sandbox = harness();
    assert_eq!(document(&sandbox, 0, &["validate"])["checked"], 2);
    let head = sandbox.git(&["rev-parse", "HEAD"]).trim().to_owned();
    for commit in ["0123456789abcdef0123456789abcdef01234567", head.as_str()] {
        let args =
            ["attempt", "FEAT-1", "PASSED", "--commands", "make", "--summary", "green", "--commit", commit];
        backlog(&sandbox, &args).assert_code(0);
        if commit == head {
            continue;
        }
        backlog(&sandbox, &["set", "FEAT-1", "PASSING"]).assert_code(0);
        backlog(&sandbox, &["validate"]).assert_code(0);
        backlog(&sandbox, &["validate", "--strict"]).assert_code(1).assert_stdout_has("commit: FEAT-1:");
    }
    backlog(&sandbox, &["validate", "--strict"]).assert_code(0);
    let named = sandbox.read(HARNESS).replace(&head, "HEAD");
    sandbox.write("named.json", named.replace("0123456789abcdef0123456789abcdef01234567", &head));
    backlog(&sandbox, &["validate", "--strict", "--backlog", "named.json"])
        .assert_code(1)
        .assert_stdout_has("commit: FEAT-1: its newest attempt names 'HEAD', which is no commit's hash");
    // A branch may be called like a hash.
    sandbox.git(&["branch", "abcd1234"]);
    sandbox.write("named.json", named.replace("HEAD", "abcd1234"));
    backlog(&sandbox, &["validate", "--strict", "--backlog", "named.json"])
        .assert_code(1)
        .assert_stdout_has("the commit abcd1234 is not in this repository");
    sandbox.write(".claude/prd/FEAT-1.json", prd().to_string().replace("FEAT-1", "FEAT-2"));
    backlog(&sandbox, &["validate"])
        .assert_code(1)
        .assert_stdout_has("its PRD: its feature_id is FEAT-2, which is another item");
    sandbox.write(".claude/prd/FEAT-1.json", prd().to_string());
    backlog(&sandbox, &["attempt", "FEAT-1", "FAILED"]).assert_code(0);
    backlog(&sandbox, &["validate"]).assert_code(0);
    backlog(&sandbox, &["validate", "--strict"]).assert_code(1).assert_stdout_has("newest_attempt: FEAT-1");
    sandbox.write(".claude/prd/FEAT-1.json", r#"{"feature_id": "FEAT-1", "title": "Sto"}"#);
    let found = document(&sandbox, 1, &["validate", "FEAT-1"]);
    let what: Vec<&str> =
        found["findings"].as_array().expect("a list").iter().filter_map(|one| one["what"].as_str()).collect();
    assert_eq!(
        what,
        [
            "its PRD: title is shorter than 5 characters",
            "its PRD: overview is missing",
            "its PRD: functional_requirements is missing",
            "its PRD: acceptance_criteria is missing",
        ]
    );
    backlog(&sandbox, &["validate", "FEAT-2"]).assert_code(0);
}

#[test]
fn validation_tells_slips_from_what_others_mark_in_their_own_way() {
    let sandbox = repository();
    sandbox.write("fix_plan.md", "- [ ] one\n- [~] theirs\n");
    let fine = backlog(&sandbox, &["validate"]);
    fine.assert_code(0).assert_stdout_has("warning: the file: line 2 is not read as an item: - [~] theirs");
    fine.assert_stderr_has("1 item checked: all in order, 1 warning");
    sandbox.write("fix_plan.md", "- [ ] one\n-[ ] two\n- [x]three\n- [ ]\n");
    let found = document(&sandbox, 1, &["validate"]);
    let lines: Vec<_> =
        found["findings"].as_array().expect("a list").iter().map(|one| &one["line"]).collect();
    assert_eq!(lines, [2, 3, 4]);
    assert!(found["findings"].as_array().expect("a list").iter().all(|one| one["severity"] == "error"));
    backlog(&sandbox, &["list"]).assert_code(0).assert_stderr_has("line 2 is not read as an item: -[ ] two");

    let sandbox = repository();
    sandbox.write(
        "feature_list.json",
        "{\"items\": [\n{\"id\": \"F-1\", \"title\": \"a\",\n\"ralph_loop\": {\"enabled\": \"true\"}}]}\n",
    );
    backlog(&sandbox, &["validate"]).assert_code(1).assert_stdout_has(
        "kind: F-1 (line 3): ralph_loop.enabled is \"true\", so the item is not for the loop; write true or false, \
         without quotes",
    );
    backlog(&sandbox, &["validate", "F-1"]).assert_code(1);
}

#[test]
fn the_counts_of_a_backlog_add_up() {
    let sandbox = repository();
    let tasks = [
        ("a", "done"),
        ("b", "todo"),
        ("c", "in-progress"),
        ("d", "blocked"),
        ("e", "cancelled"),
        ("f", "almost"),
    ];
    let tasks: String =
        tasks.iter().map(|(id, state)| format!("- id: {id}\n  title: {id}\n  status: {state}\n")).collect();
    sandbox.write(".ralph/ralph.yml", format!("tasks:\n{tasks}- id: g\n  title: g\n  dependencies: [b]\n"));
    let stats = document(&sandbox, 0, &["status"])["stats"].clone();
    let sum = |names: &[&str]| names.iter().map(|name| stats[name].as_u64().expect("a count")).sum::<u64>();
    assert_eq!(sum(&["open", "in_progress", "done", "blocked", "cancelled", "unknown"]), sum(&["total"]));
    assert_eq!(sum(&["eligible", "waiting", "at_limit", "disabled"]), sum(&["open", "in_progress"]));
    assert_eq!((sum(&["total"]), sum(&["unknown"]), sum(&["waiting"])), (7, 1, 1));
    let shown = backlog(&sandbox, &["status"]);
    shown
        .assert_stdout_has("unknown:     1\n")
        .assert_stdout_has("to do:       3: 2 could begin now, 1 waiting for others\n");
}

#[test]
fn done_by_a_person_s_word_is_called_so_where_a_file_keeps_no_evidence() {
    let sandbox = repository();
    sandbox.write(".ralph/ralph.yml", "tasks:\n- id: t\n  title: t\n  status: todo\n");
    let set = backlog(&sandbox, &["set", "t", "done"]);
    set.assert_code(0).assert_stderr_has("that t is done is your word: no evidence of it is recorded");
    backlog(&sandbox, &["set", "t", "open"]).assert_code(0).assert_stderr_lacks("your word");
    let increment = ["increment", "t", "--block-on-max", "--override-reason", "why"];
    backlog(&sandbox, &increment).assert_code(1).assert_stderr_has("no place for a count of iterations");
}

#[test]
fn the_published_schema_of_requirements_says_the_same_as_validate() {
    let sandbox = harness();
    let schema = Schema::published("ralph.prd/1");
    let mut wrong = vec![prd()];
    for (key, value) in [
        ("title", json!("Stor")),
        ("overview", json!("too short")),
        ("functional_requirements", json!([])),
        ("acceptance_criteria", json!([1])),
        ("constraints", json!("none")),
        ("last_updated", json!("today")),
        ("version", json!("1.0")),
        ("version", json!("v1.0.0")),
        ("feature_id", json!("")),
    ] {
        let mut document = prd();
        document[key] = value;
        wrong.push(document);
    }
    for (nth, document) in wrong.iter().enumerate() {
        sandbox.write(".claude/prd/FEAT-1.json", document.to_string());
        assert_eq!(schema.complaints(document).is_empty(), nth == 0, "{document}");
        backlog(&sandbox, &["validate"]).assert_code(i32::from(nth != 0));
    }
}

#[test]
fn the_words_for_an_agent_have_the_requirements_or_else_the_item_s_own_criteria() {
    let sandbox = harness();
    let shown = backlog(&sandbox, &["show", "FEAT-1"]);
    for part in [
        "FR-1: a file",
        "AC-1: it is there",
        "no cloud",
        "kept on disk",
        "Commands that must succeed:\n- true",
    ] {
        shown.assert_stdout_has(part);
    }
    sandbox.write(HARNESS, serde_json::to_string(&features()).expect("JSON").replace("prd_reference", "was"));
    backlog(&sandbox, &["show", "FEAT-1"]).assert_stdout_has("Acceptance criteria:\n- kept");
}

#[test]
fn the_mode_of_the_file_and_the_link_to_it_stay() {
    let sandbox = Sandbox::new();
    sandbox.write("elsewhere/plan.md", "- [ ] a\n- [ ] b\n");
    let real = sandbox.project().join("elsewhere/plan.md");
    std::fs::set_permissions(&real, std::fs::Permissions::from_mode(0o640)).expect("a mode");
    symlink("elsewhere/plan.md", sandbox.project().join("fix_plan.md")).expect("a link");
    backlog(&sandbox, &["add", "c"]).assert_code(0);
    assert_eq!(sandbox.read("elsewhere/plan.md"), "- [ ] a\n- [ ] b\n- [ ] c\n");
    assert_eq!(std::fs::metadata(&real).expect("there").mode() & 0o777, 0o640);
    assert!(sandbox.project().join("fix_plan.md").is_symlink());
    let left: Vec<_> =
        std::fs::read_dir(sandbox.project().join("elsewhere")).expect("a folder").flatten().collect();
    assert_eq!(left.len(), 1, "nothing is left beside it");
}

#[test]
fn attempts_of_many_at_once_are_all_recorded() {
    let sandbox = harness();
    let runs: Vec<_> =
        (0..8).map(|_| ralph(&sandbox).args(["backlog", "attempt", "FEAT-1", "FAILED"]).spawn()).collect();
    for run in runs {
        run.wait().assert_code(0);
    }
    let file: Value = serde_json::from_str(&sandbox.read(HARNESS)).expect("JSON");
    let mut ids: Vec<&str> = (file["items"][0]["attempts"].as_array().expect("a list").iter())
        .filter_map(|attempt| attempt["run_id"].as_str())
        .collect();
    ids.sort_unstable();
    let expected: Vec<String> = (1..=8).map(|nth| format!("worker-{nth:03}")).collect();
    assert_eq!(ids, expected);
}

#[test]
fn issues_of_beads_are_looked_at_and_changed_through_bd() {
    let sandbox = repository();
    let beads = Beads::install(&sandbox);
    beads.create("bd-a", "Store", &["--description", "on disk", "--acceptance", "kept"]);
    beads.create("bd-b", "Search", &["--priority", "0", "--deps", "bd-a"]);
    let with = |args: &[&'static str]| [args, &["--backlog", "beads"]].concat();
    let next = document(&sandbox, 0, &with(&["next"]));
    assert_eq!((&next["selected"]["id"], &next["backlog"]), (&json!("bd-a"), &json!("beads")));
    let list = document(&sandbox, 0, &with(&["list"]));
    assert_eq!((&list["format"], &list["items"][1]["dependencies"]), (&json!("beads"), &json!(["bd-a"])));
    assert_eq!(document(&sandbox, 0, &with(&["status"]))["stats"]["waiting"], 1);
    let shown = document(&sandbox, 0, &with(&["show", "bd-a"]));
    assert_eq!((&shown["criteria"], &shown["description"]), (&json!(["kept"]), &json!("on disk")));
    backlog(&sandbox, &with(&["show", "bd-a"])).assert_code(0).assert_stdout_has("open (beads)");
    beads.changes();
    let added = document(&sandbox, 0, &with(&["add", "Export", "--priority", "high", "--depends", "bd-b"]));
    assert_eq!((&added["id"], &added["status"]), (&json!("bd-3"), &json!("open")));
    assert_eq!(beads.issue("bd-3")["priority"], 1);
    assert_eq!(document(&sandbox, 0, &with(&["set", "bd-a", "blocked"]))["status"], "blocked");
    assert_eq!(document(&sandbox, 0, &with(&["reset", "bd-a"]))["status"], "open");
    assert_eq!(document(&sandbox, 0, &with(&["set", "bd-a", "done"]))["status"], "closed");
    assert_eq!(document(&sandbox, 0, &with(&["set", "bd-a", "done"]))["changed"], false);
    let calls = beads.changes();
    assert_eq!(calls.len(), 4, "what is so already needs no call: {calls:?}");
    for (args, said) in [
        (&["attempt", "bd-b", "FAILED"][..], "has no place for attempts"),
        (&["increment", "bd-b"], "has no place for iterations"),
        (&["validate"], "ralph evidence verify"),
        (&["add", "x", "--verify", "true"], "has no place for verification commands"),
        (&["set", "bd-b", "cancelled"], "bd close"),
        (&["set", "bd-9", "done"], "there is no item bd-9"),
    ] {
        backlog(&sandbox, &with(args)).assert_code(1).assert_stderr_has(said);
    }
    assert_eq!(beads.changes(), [""; 0], "a refusal changes nothing");
}

#[test]
fn a_task_without_a_box_is_never_done_in_silence() {
    let sandbox = Sandbox::new();
    let plan = "# Plan\n\n### Task 1: Rows\n- [x] a\n\n### Task 2: Columns\n- [x] b\n\n### Task 3: Sums\n\nAdd them up.\n";
    sandbox.write("fix_plan.md", plan);
    let told = "'Task 3: Sums' in line 9 has no box below it: it is neither worked on nor done; write '- [ ] words' below its heading";
    backlog(&sandbox, &["validate"]).assert_code(1).assert_stdout_has(told);
    let next = document(&sandbox, 1, &["next"]);
    assert_eq!((&next["reason"], &next["stats"]["unknown"]), (&json!("unknown_status"), &json!(1)));
    backlog(&sandbox, &["next"])
        .assert_code(1)
        .assert_stderr_has("'Task 3: Sums' in line 9; write '- [ ] words'");
    let id = document(&sandbox, 0, &["list"])["items"][2]["id"].as_str().expect("an id").to_owned();
    backlog(&sandbox, &["set", &id, "done"]).assert_code(1).assert_stderr_has("has no box below its heading");
    assert_eq!(sandbox.read("fix_plan.md"), plan);
    backlog(&sandbox, &["add", "Means"]).assert_code(0);
    assert_eq!(
        sandbox.read("fix_plan.md"),
        format!("{}\n\n### Task 4: Means\n\n- [ ] Means\n", plan.trim_end())
    );
}

#[test]
fn what_is_said_to_be_next_is_what_next_hands_out() {
    let sandbox = Sandbox::new();
    let twice = "tasks:\n  - id: A\n    title: a\n  - id: A\n    title: b\n";
    sandbox.write(".ralph/ralph.yml", twice);
    backlog(&sandbox, &["next"]).assert_code(65);
    let told = backlog(&sandbox, &["status"]);
    told.assert_stdout_has("none: there are several items with the id A")
        .assert_stdout_has("2: 2 held up by what");
    assert_eq!(document(&sandbox, 0, &["status"])["next"], Value::Null);
    let ring = "tasks:\n  - id: A\n    dependencies: [B]\n  - id: B\n    dependencies: [A]\n  - id: C\n";
    sandbox.write(".ralph/ralph.yml", ring);
    backlog(&sandbox, &["status"])
        .assert_stdout_has("3: 3 waiting for others")
        .assert_stdout_has("none: items depend");
    let blocked = document(&sandbox, 0, &["set", "C", "blocked"]);
    assert_eq!((&blocked["status"], &blocked["blocked"]), (&json!("blocked"), &json!(true)));
}
