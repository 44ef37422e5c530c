//! Which task file is taken where none is named, which profile fits it, and the branch that it names.

use ralph_testkit::{FakeAgent, InstalledAgent, RalphCommand, Sandbox, StatusBlock, Steps, Terminal};
use serde_json::{Value, json};

use crate::common::{ralph, repository};

const STORY: &str = r#"{"userStories":[{"id":"A","title":"Do A","passes":false}]}"#;
const FEATURE: &str = r#"{"items":[{"id":"A","title":"Do A","status":"FAILING","priority":1,"dependencies":[],
    "verification":["test -e a.txt"],"attempts":[],"ralph_loop":{"enabled":true}}]}"#;

fn text_of(path: &str) -> &'static str {
    match path.rsplit('/').next().unwrap_or(path) {
        "feature_list.json" => FEATURE,
        name if name.ends_with(".json") => STORY,
        name if name.ends_with(".yml") => "tasks:\n  - id: A\n    title: Do A\n    status: todo\n",
        _ => "## Tasks\n\n- [ ] Do A\n",
    }
}

fn agent(sandbox: &Sandbox) -> InstalledAgent {
    let steps = Steps::new().write("a.txt", "a\n").say("Did it.").status(&StatusBlock::done());
    FakeAgent::new("agent").call(steps).install(sandbox)
}

fn works(sandbox: &Sandbox, agent: &InstalledAgent) -> RalphCommand {
    ralph(sandbox).args(["run", "--yes", "--test-cmd", "test -e a.txt", "--agent-cmd"]).arg(agent.path())
}

fn next(sandbox: &Sandbox) -> Value {
    let next = ralph(sandbox).args(["backlog", "next", "--json"]).run();
    next.assert_code(0);
    next.json()
}

#[test]
fn every_place_of_a_task_file_is_found_by_run_next_and_init_alike() {
    for path in [
        ".ralph/ralph.yml",
        "feature_list.json",
        ".claude/harness/feature_list.json",
        "prd.json",
        "scripts/ralph/prd.json",
        ".ralph/prd.json",
        ".agents/tasks/prd.json",
        "IMPLEMENTATION_PLAN.md",
        ".ralph/IMPLEMENTATION_PLAN.md",
        "fix_plan.md",
        ".ralph/fix_plan.md",
        "@fix_plan.md",
        ".ralph/@fix_plan.md",
        "docs/plans/2026-01-02-search.md",
    ] {
        let sandbox = repository();
        sandbox.write(path, text_of(path));
        sandbox.write("docs/plans/notes.md", "A document without a box.\n");
        let selected = next(&sandbox);
        assert!(selected["backlog"].as_str().is_some_and(|file| file.ends_with(path)), "{path}: {selected}");
        let plan = works(&sandbox, &agent(&sandbox)).arg("--dry-run").run();
        plan.assert_code(0).assert_stdout_has(&format!("every item of {path}"));
        let init = ralph(&sandbox).args(["init", "--yes"]).run();
        init.assert_code(0).assert_stderr_has(&format!("backlog {path}: 1 of 1 item open"));
        let config = sandbox.read(".ralph/config.toml");
        assert!(!config.contains("\nbacklog ="), "{path} is found without a setting: {config}");
    }
}

#[test]
fn a_run_works_through_a_plan_in_the_folder_of_plans() {
    let sandbox = repository();
    sandbox.write("docs/plans/search.md", "## Tasks\n\n- [ ] Do A\n");
    sandbox.write("docs/plans/old.md", "- [x] long done\n");
    let done = works(&sandbox, &agent(&sandbox)).args(["--reviews", "0"]).run();
    done.assert_code(0);
    assert_eq!(sandbox.read("docs/plans/search.md"), "## Tasks\n\n- [x] Do A\n");
}

#[test]
fn of_several_with_open_items_one_must_be_named() {
    let sandbox = repository();
    sandbox.write("prd.json", STORY);
    sandbox.write("docs/plans/b.md", "- [ ] Do B\n");
    sandbox.write("fix_plan.md", "- [x] done\n");
    sandbox.write("IMPLEMENTATION_PLAN.md", "Nothing here.\n");
    let agent = agent(&sandbox);
    let calls = [
        works(&sandbox, &agent).run(),
        works(&sandbox, &agent).arg("--once").run(),
        ralph(&sandbox).args(["backlog", "next"]).run(),
        ralph(&sandbox).args(["backlog", "list"]).run(),
    ];
    for call in calls {
        call.assert_code(64)
            .assert_stderr_has("several task files have open items: prd.json, docs/plans/b.md")
            .assert_stderr_has("--backlog prd.json");
    }
    assert!(agent.calls(&sandbox).is_empty());
    let init = ralph(&sandbox).args(["init", "--yes"]).run();
    init.assert_code(0).assert_stderr_has("several task files have open items: prd.json, docs/plans/b.md");
    assert!(!sandbox.exists(".ralph/ralph.yml"), "no third one is made");
    let named = works(&sandbox, &agent).args(["--backlog", "docs/plans/b.md", "--reviews", "0"]).run();
    named.assert_code(0);
    assert_eq!(sandbox.read("docs/plans/b.md"), "- [x] Do B\n");
    // Only one has open items now.
    works(&sandbox, &agent).arg("--dry-run").run().assert_code(0).assert_stdout_has("every item of prd.json");
}

#[test]
fn on_a_terminal_a_run_and_init_ask_which_one() {
    let sandbox = repository();
    sandbox.write("prd.json", STORY);
    sandbox.write("docs/plans/b.md", "- [ ] Do B\n");
    let agent = agent(&sandbox);
    // Whoever says yes beforehand is not there to be asked.
    let mut unattended = Terminal::start(&works(&sandbox, &agent).into_command());
    assert_eq!(unattended.wait(), 64, "{}", unattended.all_output());
    let args = ["run", "--reviews", "0", "--test-cmd", "test -e a.txt", "--agent-cmd"];
    let mut terminal = Terminal::start(&ralph(&sandbox).args(args).arg(agent.path()).into_command());
    terminal.wait_for("2  docs/plans/b.md: 1 of 1 item open");
    terminal.wait_for("Which one?");
    terminal.type_text("2\r");
    terminal.wait_for("[y/N]");
    terminal.type_text("y\r");
    assert_eq!(terminal.wait(), 0, "{}", terminal.all_output());
    assert_eq!(sandbox.read("docs/plans/b.md"), "- [x] Do B\n");
    // The last run was about that one, so nothing is asked though both have open items.
    sandbox.write("docs/plans/b.md", "- [ ] Do C\n");
    works(&sandbox, &agent)
        .arg("--dry-run")
        .run()
        .assert_code(0)
        .assert_stdout_has("item of docs/plans/b.md");
    let sandbox = repository();
    sandbox.write("prd.json", STORY);
    sandbox.write("docs/plans/b.md", "- [ ] Do B\n");
    let mut init = Terminal::start(&ralph(&sandbox).args(["init"]).into_command());
    init.wait_for("Which one?");
    init.type_text("prd.json\r");
    init.wait_for("Which command");
    init.type_text("\r");
    assert_eq!(init.wait(), 0, "{}", init.all_output());
    assert!(sandbox.read(".ralph/config.toml").contains("\nbacklog = \"prd.json\"\n"));
}

#[test]
fn the_profile_that_fits_is_proposed_with_its_reason_and_written_with_new_settings_alone() {
    let phased = "tasks:\n  - id: A\n    title: Do A\n    status: todo\n    phase: build\n";
    for (path, text, profile) in [
        (".claude/harness/feature_list.json", FEATURE, Some("worker")),
        (".ralph/ralph.yml", phased, Some("phases")),
        ("IMPLEMENTATION_PLAN.md", "- [ ] Do A\n", None),
        ("prd.json", STORY, None),
    ] {
        let sandbox = repository();
        sandbox.write(path, text);
        sandbox.write(".ralph/config.toml", "");
        let kept = ralph(&sandbox).args(["init", "--yes"]).run();
        kept.assert_code(0);
        assert_eq!(sandbox.read(".ralph/config.toml"), "");
        let wrote = ralph(&sandbox).args(["init", "--yes", "--force"]).run();
        let set = ralph(&sandbox).args(["config", "get", "profile"]).run();
        match profile {
            Some(profile) => {
                let told = format!("profile {profile} fits {path}: ");
                kept.assert_stderr_has(&told)
                    .assert_stderr_has(&format!("to use it: ralph config set profile {profile}"));
                wrote.assert_code(0).assert_stderr_has(&told);
                assert!(set.stdout.starts_with(profile), "{path}: {}", set.stdout);
            }
            None => {
                kept.assert_stderr_lacks("profile ");
                assert!(set.stdout.starts_with("default"), "{path}: {}", set.stdout);
            }
        }
        let chosen = ralph(&sandbox).args(["config", "set", "profile", "strict"]).run();
        chosen.assert_code(0);
        ralph(&sandbox).args(["init", "--yes"]).run().assert_code(0).assert_stderr_lacks(" fits ");
    }
}

#[test]
fn the_branch_that_a_prd_names_is_where_a_committing_run_works() {
    let prd = |branch: &str| {
        let story = json!({"id": "A", "title": "Do A", "priority": 1, "passes": false});
        json!({"project": "x", "branchName": branch, "userStories": [story]}).to_string()
    };
    let sandbox = repository();
    sandbox.write("prd.json", prd("ralph/search"));
    sandbox.commit_all("stories");
    let agent = agent(&sandbox);
    let main = sandbox.git(&["branch", "--show-current"]);
    let done = works(&sandbox, &agent).args(["--reviews", "0"]).run();
    done.assert_code(0).assert_stderr_has("prd.json names the branch ralph/search; another: --branch NAME");
    assert_eq!(sandbox.git(&["branch", "--show-current"]), "ralph/search");
    assert!(sandbox.git(&["log", "-1", "--format=%s"]).starts_with("feat(A): Do A"));
    assert_eq!(sandbox.git(&["log", "-1", "--format=%s", &main]), "stories", "{main} is as it was");
    // It is there by now: whoever is elsewhere is asked to go there, and an explicit branch wins.
    sandbox.git(&["switch", "--quiet", &main]);
    let refused = works(&sandbox, &agent).run();
    refused
        .assert_code(64)
        .assert_stderr_has("prd.json names the branch ralph/search, which is not checked out")
        .assert_stderr_has("git switch ralph/search")
        .assert_stderr_has(&format!("--branch {main}, which stays on it"));
    works(&sandbox, &agent).args(["--reviews", "0", "--branch", &main]).run().assert_code(0);
    assert!(sandbox.git(&["log", "-1", "--format=%s", &main]).starts_with("feat(A): Do A"));
    // A goal, and a run that makes no commit, stay where they are.
    sandbox.write("prd.json", prd("not a name"));
    let goal =
        ralph(&sandbox).args(["run", "a goal", "--yes", "--reviews", "0", "--agent-cmd"]).arg(agent.path());
    goal.run().assert_code(0);
    works(&sandbox, &agent).run().assert_code(64).assert_stderr_has("correct branchName in prd.json");
}

#[test]
fn init_puts_the_schema_of_requirements_where_the_harness_has_it() {
    for (list, schema) in [
        (".claude/harness/feature_list.json", ".claude/prd/schema.json"),
        ("feature_list.json", ".claude/prd/schema.json"),
    ] {
        let sandbox = repository();
        sandbox.write(list, FEATURE);
        let init = ralph(&sandbox).args(["init", "--yes"]).run();
        init.assert_code(0).assert_stderr_has(&format!("wrote   {schema}, the schema of its PRDs"));
        let written: Value = serde_json::from_str(&sandbox.read(schema)).expect("JSON");
        assert_eq!(written["$schema"], "http://json-schema.org/draft-07/schema#");
        let fields = ["feature_id", "title", "overview", "functional_requirements", "acceptance_criteria"];
        assert_eq!(written["required"], json!(fields));
        let of = |field: &str, limit: &str| written["properties"][field][limit].clone();
        assert_eq!((of("title", "minLength"), of("overview", "minLength")), (json!(5), json!(20)));
        assert_eq!(of("functional_requirements", "minItems"), 1);
        assert_eq!(of("last_updated", "format"), "date-time");
        sandbox.write(schema, "theirs\n");
        let again = ralph(&sandbox).args(["init", "--yes", "--force"]).run();
        again.assert_code(0).assert_stderr_lacks("the schema of its PRDs");
        assert_eq!(sandbox.read(schema), "theirs\n");
    }
    let sandbox = repository();
    sandbox.write("prd.json", STORY);
    ralph(&sandbox).args(["init", "--yes"]).run().assert_code(0);
    assert!(!sandbox.exists(".claude"), "only a harness has PRDs");
}
