//! `ralph init` in every kind of folder: what it finds, what it writes, what it leaves alone.
#![expect(clippy::disallowed_methods, reason = "the test's own files")]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use ralph_testkit::{Finished, Sandbox, Terminal};

use crate::common::{one_call, ralph, repository, run, says_done};

const ALL: [&str; 6] = [".gitignore", "config.toml", "guardrails.md", "prompt.md", "ralph.yml", "status"];

fn init(sandbox: &Sandbox, args: &[&str]) -> Finished {
    ralph(sandbox).args(["init", "--yes"]).args(args).run()
}

/// The files below a folder of the project with what is in them.
fn files(sandbox: &Sandbox, folder: &str) -> BTreeMap<String, Vec<u8>> {
    let root = sandbox.project().join(folder);
    let entries = fs::read_dir(&root).into_iter().flatten().flatten();
    let files = entries.filter(|entry| entry.path().is_file());
    files
        .map(|entry| {
            (entry.file_name().to_string_lossy().into_owned(), fs::read(entry.path()).expect("read"))
        })
        .collect()
}

#[track_caller]
fn wrote(sandbox: &Sandbox, names: &[&str]) {
    let files = files(sandbox, ".ralph");
    assert_eq!(files.keys().map(String::as_str).collect::<Vec<_>>(), names);
    assert_eq!(files["status"], b"IDLE\n");
}

fn without_backlog() -> Vec<&'static str> {
    ALL.into_iter().filter(|name| *name != "ralph.yml").collect()
}

#[test]
fn an_empty_repository_gets_all_of_it_and_none_is_committed() {
    let sandbox = Sandbox::new();
    sandbox.init_git();
    let done = init(&sandbox, &[]);
    done.assert_code(0);
    wrote(&sandbox, &ALL);
    for name in ALL {
        done.assert_stderr_has(&format!("wrote   .ralph/{name}"));
    }
    assert_eq!(sandbox.git(&["status", "--short"]), "");
    assert_eq!(done.stdout, "");
    ralph(&sandbox).args(["config", "show"]).run().assert_code(0);
    ralph(&sandbox).args(["backlog", "add", "First"]).run().assert_code(0);
    ralph(&sandbox).args(["backlog", "list"]).run().assert_code(0).assert_stdout_has("First");
}

#[test]
fn a_second_init_changes_nothing() {
    let sandbox = repository();
    init(&sandbox, &[]).assert_code(0);
    sandbox.write(".ralph/prompt.md", "mine\n");
    let before = files(&sandbox, ".ralph");
    let again = init(&sandbox, &[]);
    again.assert_code(0).assert_stderr_has("nothing to do").assert_stderr_has("kept    .ralph/prompt.md");
    assert_eq!(files(&sandbox, ".ralph"), before);
}

#[test]
fn force_writes_anew_and_keeps_a_copy_but_never_touches_the_backlog() {
    let sandbox = repository();
    init(&sandbox, &[]).assert_code(0);
    let fresh = sandbox.read(".ralph/config.toml");
    sandbox.write(".ralph/config.toml", "profile = 'strict'\n");
    sandbox.write(".ralph/ralph.yml", "tasks:\n  - id: a\n    title: A\n    status: todo\n");
    init(&sandbox, &["--force"]).assert_code(0).assert_stderr_has("as it was: .ralph/config.toml.1.old");
    assert_eq!(sandbox.read(".ralph/config.toml"), fresh);
    assert_eq!(sandbox.read(".ralph/config.toml.1.old"), "profile = 'strict'\n");
    assert!(sandbox.read(".ralph/ralph.yml").contains("title: A"));
    sandbox.write(".ralph/config.toml", "profile = 'dual'\n");
    init(&sandbox, &["--force"]).assert_code(0);
    assert_eq!(sandbox.read(".ralph/config.toml.2.old"), "profile = 'dual'\n");
    assert!(!sandbox.exists(".ralph/prompt.md.1.old"), "what is the same needs no copy");
}

#[test]
fn that_git_ignores_what_was_written_is_said_with_the_way_to_share_it() {
    let said = "git ignores these; to commit settings, prompt, backlog and guardrails: ralph init --share";
    let sandbox = repository();
    init(&sandbox, &[]).assert_stderr_has(said);
    init(&sandbox, &[]).assert_stderr_has(said);
    init(&sandbox, &["--share"]).assert_stderr_lacks(said);
    init(&sandbox, &[]).assert_stderr_lacks(said);
}

#[test]
fn what_is_shared_is_seen_by_git_and_the_rest_is_not() {
    let sandbox = repository();
    init(&sandbox, &[]).assert_code(0);
    init(&sandbox, &["--share"]).assert_code(0).assert_stderr_has("wrote   .ralph/.gitignore");
    let agent = one_call(&sandbox, says_done());
    run(&sandbox, &agent).args(["--reviews", "0"]).run().assert_code(0);
    let seen = sandbox.git(&["status", "--short", "--untracked-files=all"]);
    let seen: Vec<&str> = seen.lines().map(|line| line.trim_start_matches("?? ")).collect();
    let shared = [".gitignore", "config.toml", "guardrails.md", "prompt.md", "ralph.yml"];
    assert_eq!(seen, shared.map(|name| format!(".ralph/{name}")));
}

#[test]
fn a_clone_has_what_the_shared_settings_name() {
    for (backlog, prompt) in [
        (".ralph/fix_plan.md", ".ralph/PROMPT.md"),
        (".ralph/prd.json", "PROMPT.md"),
        (".ralph/IMPLEMENTATION_PLAN.md", "PROMPT.md"),
    ] {
        let sandbox = repository();
        let text = match backlog.ends_with(".json") {
            true => r#"{"userStories":[{"id":"A","title":"Do A","passes":false}]}"#,
            false => "- [ ] Do A\n",
        };
        init(&sandbox, &["--share"]).assert_code(0);
        fs::remove_file(sandbox.project().join(".ralph/config.toml")).expect("removed");
        fs::remove_file(sandbox.project().join(".ralph/prompt.md")).expect("removed");
        fs::remove_file(sandbox.project().join(".ralph/ralph.yml")).expect("removed");
        sandbox.write(backlog, text);
        sandbox.write(prompt, "Do as we do.\n");
        // What was shared before is shared still, and what came to it too.
        init(&sandbox, &["--share"]).assert_code(0).assert_stderr_has("wrote   .ralph/.gitignore");
        init(&sandbox, &["--share"]).assert_code(0).assert_stderr_lacks("is yours");
        sandbox.commit_all("shared");
        sandbox.git(&["clone", "--quiet", ".", "../clone"]);
        let in_clone = |args: &[&str]| ralph(&sandbox).args(args).in_folder("../clone").run();
        in_clone(&["backlog", "list"]).assert_code(0).assert_stdout_has("Do A");
        let read = fs::read_to_string(sandbox.root().join("clone").join(prompt)).expect("shared");
        assert_eq!(read, "Do as we do.\n");
        assert!(!sandbox.root().join("clone/.ralph/status").exists());
    }
}

#[test]
fn sharing_says_when_a_rule_of_the_project_is_against_it() {
    let sandbox = repository();
    sandbox.write(".gitignore", "/.ralph/\n");
    let done = init(&sandbox, &["--share"]);
    done.assert_code(0)
        .assert_stderr_has("git ignores .ralph/config.toml all the same: .gitignore:1:/.ralph/");
}

#[test]
fn an_ignore_file_of_the_user_s_own_is_left_alone() {
    let sandbox = repository();
    sandbox.write(".ralph/.gitignore", "history/\n");
    init(&sandbox, &["--share"]).assert_code(0).assert_stderr_has(".ralph/.gitignore is yours");
    assert_eq!(sandbox.read(".ralph/.gitignore"), "history/\n");
}

#[test]
fn a_backlog_that_is_there_is_used_where_it_is() {
    for (path, text, told) in [
        (
            "prd.json",
            r#"{"userStories":[{"id":"A","title":"a","passes":false},{"id":"B","title":"b","passes":true}]}"#,
            "1 of 2 items open",
        ),
        (
            "feature_list.json",
            r#"{"items":[{"id":"A","title":"a","status":"FAILING","ralph_loop":{"enabled":true}}]}"#,
            "1 of 1 item open",
        ),
        (".claude/harness/feature_list.json", r#"{"items":[]}"#, "no items yet"),
        ("IMPLEMENTATION_PLAN.md", "- [ ] a\n- [x] b\n- [ ] c\n", "2 of 3 items open"),
        ("fix_plan.md", "## High\n- [ ] a\n", "1 of 1 item open"),
    ] {
        let sandbox = repository();
        sandbox.write(path, text);
        let done = init(&sandbox, &[]);
        done.assert_code(0).assert_stderr_has(&format!("backlog {path}: {told}"));
        wrote(&sandbox, &without_backlog());
        assert_eq!(sandbox.read(path), text);
        assert!(!sandbox.read(".ralph/config.toml").contains("\nbacklog ="), "{path} is found by its name");
    }
}

#[test]
fn the_backlog_that_the_settings_name_comes_before_those_that_are_found() {
    let sandbox = repository();
    sandbox.install_script("claude", "#!/bin/sh\nexit 0\n");
    sandbox.write("plans/prd.json", r#"{"userStories":[{"id":"A","title":"Do A","passes":false}]}"#);
    sandbox.write("scripts/ralph/prd.json", r#"{"userStories":[{"id":"B","title":"Do B","passes":false}]}"#);
    sandbox.write(".ralph/config.toml", "profile = 'strict'\n");
    let found = "backlog scripts/ralph/prd.json: 1 of 1 item open";
    init(&sandbox, &[]).assert_code(0).assert_stderr_has(found);
    assert_eq!(sandbox.read(".ralph/config.toml"), "profile = 'strict'\n");
    ralph(&sandbox).args(["config", "set", "backlog", "plans/prd.json"]).run().assert_code(0);
    sandbox.write("prd.json", r#"{"userStories":[]}"#);
    let again = init(&sandbox, &["--force"]);
    again.assert_code(0).assert_stderr_has("next:   ralph run, which works through the backlog");
    assert!(sandbox.read(".ralph/config.toml").contains("\nbacklog = \"plans/prd.json\"\n"));
}

#[test]
fn the_plugin_s_file_is_read_and_what_it_says_is_told_and_taken_over() {
    let text = |active: &str| {
        format!(
            "---\nactive: {active}\niteration: 4\nmax_iterations: 12\ncompletion_promise: \"SHIPPED\"\n---\n\nShip it.\n"
        )
    };
    for (active, told) in [("true", "/cancel-ralph ends it"), ("false", "that is not active")] {
        let sandbox = repository();
        sandbox.install_script("claude", "#!/bin/sh\nexit 0\n");
        sandbox.write(".claude/ralph-loop.local.md", text(active));
        let done = init(&sandbox, &[]);
        done.assert_code(0).assert_stderr_has(told).assert_stderr_has("next:   ralph run \"Ship it.\"");
        assert_eq!(done.stderr.contains("is active"), active == "true", "{}", done.stderr);
        let config = sandbox.read(".ralph/config.toml");
        assert!(config.contains("\nmax_iterations = 12\n") && config.contains("\npromise = \"SHIPPED\"\n"));
        assert_eq!(sandbox.read(".claude/ralph-loop.local.md"), text(active));
    }
}

#[test]
fn whatever_the_plugin_s_file_says_the_settings_that_init_writes_are_read() {
    let long = "x".repeat(201);
    for (line, taken) in [
        ("completion_promise: \"a -> b\"", None),
        ("completion_promise: <done>", None),
        (&*format!("completion_promise: {long}"), None),
        ("completion_promise: \"a\0b\"", None),
        ("completion_promise: \"say \"done\"\"", Some(("promise", "say \"done\""))),
        ("completion_promise: 'it's \\ done'", Some(("promise", "it's \\ done"))),
        ("completion_promise: \u{e4}\u{1b}\t\u{1F600}", Some(("promise", "\u{e4}"))),
        ("completion_promise: true", Some(("promise", "true"))),
        ("completion_promise: 07", Some(("promise", "07"))),
        ("completion_promise: [a, b] # c", Some(("promise", "[a, b] # c"))),
        ("max_iterations: 18446744073709551616", None),
        ("max_iterations: ten", None),
        ("max_iterations: 12", Some(("max_iterations", "12"))),
        ("max_iterations: -3", None),
    ] {
        let sandbox = repository();
        sandbox.write(".claude/ralph-loop.local.md", format!("---\nactive: false\n{line}\n---\n\nGo on.\n"));
        let done = init(&sandbox, &[]);
        done.assert_code(0);
        let key = if line.starts_with("max") { "max_iterations" } else { "promise" };
        let read = ralph(&sandbox).args(["config", "get", key]).run();
        read.assert_code(0);
        match taken {
            Some((key, value)) => {
                done.assert_stderr_has("taken   policy.").assert_stderr_lacks("not taken over");
                assert!(read.stdout.starts_with(value), "{line}: {key} = {}", read.stdout);
            }
            None => {
                done.assert_stderr_lacks("taken   policy.");
                done.assert_stderr_has(&format!("policy.{key} is not taken over"));
            }
        }
    }
}

#[test]
fn a_backlog_of_any_name_leaves_settings_that_are_read() {
    for name in ["a 'b' \"c\".md", "x\ny.md", "#.md", "=.md"] {
        let sandbox = repository();
        sandbox.write(name, "- [ ] one\n");
        ralph(&sandbox).args(["config", "set", "backlog", name]).run().assert_code(0);
        init(&sandbox, &["--force"]).assert_code(0);
        assert_eq!(
            ralph(&sandbox).args(["config", "get", "backlog"]).run().assert_code(0).stdout,
            format!("{name}\n")
        );
    }
}

#[test]
fn the_command_that_goes_on_with_the_plugin_s_prompt_hands_it_over_whole() {
    let prompt = "Make the login work for $5,\n---\nthen \"say\" so.";
    let text = format!("---\nactive: false\niteration: 4\n---\n\n{prompt}\n");
    for text in [text.clone(), text.replace('\n', "\r\n")] {
        let sandbox = repository();
        sandbox.install_script("claude", "#!/bin/sh\nexit 0\n");
        sandbox.install_script("ralph", "#!/bin/sh\nprintf '%s|' \"$@\"\n");
        sandbox.write(".claude/ralph-loop.local.md", &text);
        let done = init(&sandbox, &[]);
        let next = done.stderr.lines().find_map(|line| line.strip_prefix("next:   ")).expect("a command");
        let told = sandbox.command("sh").args(["-c", next]).output().expect("a shell");
        let told = String::from_utf8_lossy(&told.stdout).replace('\r', "");
        assert_eq!(told, format!("run|\n{prompt}|"), "{next}");
    }
}

#[test]
fn a_backlog_that_cannot_be_read_is_told_and_no_other_is_made() {
    let sandbox = repository();
    sandbox.write("prd.json", "{ not json");
    init(&sandbox, &[])
        .assert_code(0)
        .assert_stderr_has("prd.json is there and cannot be read as a backlog: line 1");
    wrote(&sandbox, &without_backlog());
}

#[test]
fn instructions_of_another_loop_are_pointed_to() {
    for path in ["PROMPT.md", "@PROMPT.md", "scripts/ralph/prompt.md"] {
        let sandbox = repository();
        sandbox.write(path, "Do as we do.\n");
        init(&sandbox, &[]).assert_code(0).assert_stderr_has(&format!("prompt  {path} is pointed to"));
        assert!(sandbox.read(".ralph/prompt.md").starts_with(&format!("Read {path} first")));
        sandbox.write(".ralph/prompt.md", "mine\n");
        init(&sandbox, &[]).assert_code(0).assert_stderr_lacks("pointed to");
        init(&sandbox, &["--force"]).assert_code(0).assert_stderr_has("pointed to");
        assert!(sandbox.read(".ralph/prompt.md").starts_with(&format!("Read {path} first")));
        assert_eq!(sandbox.read(path), "Do as we do.\n");
    }
}

#[test]
fn other_loops_files_are_named_and_left_alone() {
    let sandbox = repository();
    let others = [".claude/ralph-loop.local.md", "ralph.yml", ".ralphrc", "progress.txt"];
    for path in others {
        sandbox.write(path, "theirs\n");
    }
    let done = init(&sandbox, &[]);
    done.assert_code(0)
        .assert_stderr_has("does not say whether its loop is active")
        .assert_stderr_has("belongs to another tool");
    for path in others {
        assert_eq!(sandbox.read(path), "theirs\n");
    }
    wrote(&sandbox, &ALL);
}

#[test]
fn a_folder_of_the_fourth_seed_is_taken_over_as_it_is() {
    let sandbox = repository();
    let backlog = "# ours\nproject:\n  name: x\ntasks:\n  - id: a\n    title: A\n    status: todo\n";
    sandbox.write(".ralph/ralph.yml", backlog);
    sandbox.write(".ralph/state.json", "{}\n");
    sandbox.write(".ralph/session.md", "# Session\n");
    sandbox.write(".ralph/scratchpad.md", "so far\n");
    let done = init(&sandbox, &[]);
    done.assert_code(0).assert_stderr_has("backlog .ralph/ralph.yml: 1 of 1 item open");
    done.assert_stderr_has("to .ralph/before-ralph: .ralph/session.md, .ralph/state.json");
    assert_eq!(sandbox.read(".ralph/before-ralph/session.md"), "# Session\n");
    assert_eq!(sandbox.read(".ralph/ralph.yml"), backlog);
    assert_eq!(sandbox.read(".ralph/scratchpad.md"), "so far\n");
    assert!(sandbox.exists(".ralph/config.toml"));
}

#[test]
fn it_is_made_at_the_top_of_the_project_wherever_it_is_called() {
    let sandbox = repository();
    sandbox.write("deep/er/x", "");
    ralph(&sandbox).args(["init", "--yes"]).in_folder("deep/er").run().assert_code(0);
    wrote(&sandbox, &ALL);
    assert!(!sandbox.exists("deep/er/.ralph"));
}

#[test]
fn a_nested_repository_is_a_project_of_its_own() {
    let sandbox = repository();
    sandbox.write("inner/x", "");
    sandbox.git(&["init", "--quiet", "inner"]);
    ralph(&sandbox).args(["init", "--yes"]).in_folder("inner").run().assert_code(0);
    assert!(sandbox.exists("inner/.ralph/config.toml") && !sandbox.exists(".ralph"));
}

#[test]
fn a_linked_worktree_is_one_too() {
    let sandbox = repository();
    sandbox.git(&["worktree", "add", "--quiet", "../other"]);
    ralph(&sandbox).args(["init", "--yes"]).in_folder("../other").run().assert_code(0);
    assert!(sandbox.exists("../other/.ralph/config.toml") && !sandbox.exists(".ralph"));
    assert_eq!(sandbox.git(&["-C", "../other", "status", "--short"]), "");
}

#[test]
fn a_folder_without_git_works_too_and_has_nobody_to_share_with() {
    let sandbox = Sandbox::new();
    init(&sandbox, &["--share"]).assert_code(0).assert_stderr_has("this folder is no git repository");
    wrote(&sandbox, &ALL);
}

#[test]
fn a_bare_repository_is_refused_and_nothing_is_written() {
    let sandbox = Sandbox::new();
    sandbox.git(&["init", "--quiet", "--bare", "."]);
    let before = files(&sandbox, ".");
    init(&sandbox, &[]).assert_code(1).assert_stderr_has("run ralph in a work tree");
    assert_eq!(files(&sandbox, "."), before);
}

#[test]
fn a_place_that_cannot_be_written_is_told_and_what_to_do() {
    let sandbox = repository();
    sandbox.write(".ralph", "a file\n");
    init(&sandbox, &[])
        .assert_code(1)
        .assert_stderr_has(".ralph is not a folder")
        .assert_stderr_has("move it away");
    fs::remove_file(sandbox.project().join(".ralph")).expect("removed");
    symlink("/nowhere/at/all", sandbox.project().join(".ralph")).expect("linked");
    init(&sandbox, &[]).assert_code(1).assert_stderr_has("is not written to").assert_stderr_has("why: ");
}

#[test]
fn a_link_out_of_the_project_is_not_written_through() {
    let sandbox = repository();
    sandbox.write("../elsewhere/x", "");
    symlink("../elsewhere", sandbox.project().join(".ralph")).expect("linked");
    for args in [&["init", "--yes", "--force"][..], &["config", "set", "profile", "strict"]] {
        let refused = ralph(&sandbox).args(args).run();
        refused.assert_code(1).assert_stderr_has("leads out of the project");
        assert_eq!(files(&sandbox, "../elsewhere").len(), 1, "{args:?}");
    }
    fs::remove_file(sandbox.project().join(".ralph")).expect("removed");
    sandbox.write("kept/x", "");
    symlink("kept", sandbox.project().join(".ralph")).expect("linked");
    init(&sandbox, &[]).assert_code(0);
    assert!(sandbox.exists("kept/config.toml"), "a link within the project is somebody's decision");
}

#[test]
fn links_and_folders_in_a_file_s_place_are_somebody_s_decision() {
    let sandbox = repository();
    sandbox.write("shared/prompt.md", "for all\n");
    fs::create_dir_all(sandbox.project().join(".ralph/guardrails.md")).expect("made");
    symlink("../shared/prompt.md", sandbox.project().join(".ralph/prompt.md")).expect("linked");
    init(&sandbox, &["--force"]).assert_code(0);
    assert_eq!(sandbox.read("shared/prompt.md"), "for all\n");
    assert!(Path::new(&sandbox.project().join(".ralph/prompt.md")).is_symlink());
}

#[test]
fn settings_that_are_wrong_are_told_before_anything_is_written() {
    let sandbox = repository();
    sandbox.write(".ralph/config.toml", "profil = 1\n");
    init(&sandbox, &[]).assert_code(64).assert_stderr_has(".ralph/config.toml:1: there is no key 'profil'");
    assert_eq!(files(&sandbox, ".ralph").len(), 1);
}

#[test]
fn installed_agents_are_named_and_so_is_the_next_command() {
    let sandbox = repository();
    init(&sandbox, &[]).assert_code(0).assert_stderr_has("next:   ralph doctor");
    sandbox.install_script("codex", "#!/bin/sh\nexit 0\n");
    sandbox.install_script("claude", "#!/bin/sh\nexit 0\n");
    let done = init(&sandbox, &[]);
    done.assert_stderr_has("agents  claude, codex")
        .assert_stderr_has("next:   ralph run \"what is to be reached\"");
    sandbox.write(".ralph/ralph.yml", "tasks:\n  - id: a\n    title: A\n    status: todo\n");
    init(&sandbox, &[]).assert_stderr_has("next:   ralph run, which works through the backlog");
}

#[test]
fn on_a_terminal_it_asks_for_the_one_thing_it_cannot_find_out() {
    let sandbox = repository();
    let mut terminal = Terminal::start(&ralph(&sandbox).arg("init").into_command());
    terminal.wait_for("Which command proves");
    terminal.type_text("make check\r");
    assert_eq!(terminal.wait(), 0, "{}", terminal.all_output());
    assert!(sandbox.read(".ralph/config.toml").contains("\ntest = \"make check\"\n"));
    let shown = terminal.all_output();
    assert!(shown.contains("check   make check: the first run shows it and asks once"), "{shown}");
    let doctor = ralph(&sandbox).arg("doctor").run();
    doctor.assert_stdout_has("no items yet; to add one: ralph backlog add \"TITLE\"");
    let mut again = Terminal::start(&ralph(&sandbox).arg("init").into_command());
    assert_eq!(again.wait(), 0, "{}", again.all_output());
    assert!(!again.all_output().contains("Which command"), "{}", again.all_output());
}

#[test]
fn stack_and_checks_are_told_and_nothing_is_asked_where_there_are_some() {
    let sandbox = repository();
    sandbox.install_script("cargo", "#!/bin/sh\nexit 0\n");
    sandbox.write("Cargo.toml", "[package]\nname = 'x'\n");
    for (config, told) in [
        ("", "checks  test: cargo test (Cargo.toml)"),
        ("[checks]\ntest = 'make test'\n", "checks  test: make test (~/.config/ralph/config.toml:2)"),
    ] {
        sandbox.write("../home/.config/ralph/config.toml", config);
        let _ = fs::remove_dir_all(sandbox.project().join(".ralph"));
        let mut terminal = Terminal::start(&ralph(&sandbox).arg("init").into_command());
        assert_eq!(terminal.wait(), 0, "{}", terminal.all_output());
        let shown = terminal.all_output();
        assert!(shown.contains(told) && !shown.contains("Which command"), "{shown}");
        assert!(shown.contains("stack   Rust (Cargo.toml)"), "{shown}");
    }
}

#[test]
fn what_a_backlog_wants_for_every_item_is_told_as_a_check_and_nothing_is_asked() {
    let sandbox = repository();
    let story = r#"{"id": "S-1", "title": "one", "status": "open"}"#;
    sandbox.write("prd.json", format!(r#"{{"qualityGates": ["make gate"], "stories": [{story}]}}"#));
    let mut terminal = Terminal::start(&ralph(&sandbox).arg("init").into_command());
    assert_eq!(terminal.wait(), 0, "{}", terminal.all_output());
    let shown = terminal.all_output();
    assert!(shown.contains("checks  gate-1: make gate (prd.json, qualityGates 1)"), "{shown}");
    assert!(!shown.contains("Which command"), "{shown}");
}

#[test]
fn what_init_wrote_reaches_the_agent() {
    let sandbox = repository();
    init(&sandbox, &[]).assert_code(0);
    let agent = one_call(&sandbox, says_done());
    run(&sandbox, &agent).args(["--reviews", "0"]).run().assert_code(0);
    let prompt = &sandbox.agent_calls()[0].prompt;
    assert!(prompt.contains("# How to work on project"), "{prompt}");
}

#[test]
fn a_second_task_file_with_open_items_is_named() {
    let sandbox = repository();
    sandbox.write("IMPLEMENTATION_PLAN.md", "- [ ] one\n");
    sandbox.write("fix_plan.md", "- [ ] two\n- [x] three\n");
    ralph(&sandbox).args(["config", "set", "backlog", "IMPLEMENTATION_PLAN.md"]).run().assert_code(0);
    let told = init(&sandbox, &[]);
    told.assert_code(0).assert_stderr_has("fix_plan.md: another task file (1 of 2 items open)");
    sandbox.write("fix_plan.md", "- [x] two\n");
    init(&sandbox, &[]).assert_code(0).assert_stderr_lacks("another task file");
}
