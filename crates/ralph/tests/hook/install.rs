//! What `hook install` puts into an agent's folder, and that exactly that goes again.

use std::fs;
use std::path::Path;

use ralph_testkit::{FakeAgent, Finished, Sandbox, Schema, Steps};

use crate::common::{ralph, repository};
use crate::{SESSION, arm, is_blocked, more, stops};

fn tree(dir: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        match entry.path() {
            path if path.is_dir() && entry.file_name() == ".git" => drop(path),
            path if path.is_dir() => found.extend(tree(&path)),
            path => found.push((path.display().to_string(), fs::read_to_string(&path).expect("text"))),
        }
    }
    found.sort();
    found
}

#[test]
fn install_and_uninstall_leave_every_byte_as_it_was() {
    let kept = "{\n  \"model\": \"opus\",\n  \"hooks\": {}\n}\n";
    let empty = "{\"hooks\": {\"Stop\": [ ], \"SessionStart\": null}, \"env\": {\"A\":\"b\"}}";
    for settings in [None, Some(""), Some(kept), Some(empty)] {
        for agent in ["claude", "codex"] {
            let sandbox = repository();
            let file = if agent == "claude" { ".claude/settings.json" } else { ".codex/hooks.json" };
            if let Some(settings) = settings {
                sandbox.write(file, settings);
            }
            let before = tree(&sandbox.project());
            let hook = |word: &str| {
                ralph(&sandbox).args(["hook", word, "--agent", agent]).run().assert_code(0).stderr.clone()
            };
            assert!(hook("install").contains("installed in"));
            let installed = tree(&sandbox.project());
            let text = sandbox.read(file);
            assert!(text.contains("hook stop") && text.contains("hook session"), "{text}");
            assert_eq!(text.contains("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"), agent == "claude");
            assert_eq!(text.matches("onFailure").count(), if agent == "claude" { 2 } else { 0 }, "{text}");
            assert!(hook("install").contains("it was there already"));
            assert_eq!(tree(&sandbox.project()), installed, "twice is once");
            hook("uninstall");
            assert_eq!(tree(&sandbox.project()), before);
            assert_eq!(sandbox.exists(file), settings.is_some());
        }
    }
}

#[test]
fn install_names_every_file_that_it_writes_and_the_variable() {
    let sandbox = repository();
    let installed = hook(&sandbox, "install");
    installed.assert_code(0).assert_stderr_has("env CLAUDE_CODE_STOP_HOOK_BLOCK_CAP = 1000000");
    installed.assert_stderr_has("settings.json: hooks Stop, SessionStart; ");
    for (name, _) in tree(&sandbox.project().join(".claude")) {
        installed.assert_stderr_has(&name);
    }
}

#[test]
fn hooks_that_are_taken_out_while_a_session_is_held_are_warned_of_and_nothing_is_said_to_be_held() {
    let sandbox = repository();
    hook(&sandbox, "install").assert_code(0);
    arm(&sandbox, &["--session", SESSION]);
    assert!(is_blocked(stops(&sandbox, SESSION, &more()).as_ref()));
    let was = "session 5f3c was held, last in iteration 2/50";
    let taken = hook(&sandbox, "uninstall");
    taken.assert_code(0).assert_stderr_has(was).assert_stderr_has("ralph hook disarm lets go of it");
    for words in [&["hook", "status"][..], &["status"]] {
        let told = ralph(&sandbox).args(words).run();
        told.assert_code(0).assert_stdout_has("5f3c was held");
        assert!(!told.stdout.contains("5f3c is held") && !told.stdout.contains("nothing is held"), "{told}");
    }
    hook(&sandbox, "install").assert_code(0);
    ralph(&sandbox).args(["hook", "status"]).run().assert_stdout_has("session 5f3c is held");
    ralph(&sandbox).args(["hook", "disarm"]).run().assert_code(0);
    hook(&sandbox, "uninstall").assert_code(0).assert_stderr_lacks("5f3c");
}

#[test]
fn files_of_the_user_s_own_survive_install_and_uninstall() {
    let sandbox = repository();
    sandbox.write(".claude/commands/ralph.md", "mine\n");
    let install = ralph(&sandbox).args(["hook", "install"]).run();
    install.assert_code(0).assert_stderr_has("was left alone");
    sandbox.write(".claude/commands/ralph-status.md", "changed\n");
    ralph(&sandbox)
        .args(["hook", "uninstall"])
        .run()
        .assert_code(0)
        .assert_stderr_has("was changed since and stays");
    assert_eq!(sandbox.read(".claude/commands/ralph.md"), "mine\n");
    assert_eq!(sandbox.read(".claude/commands/ralph-status.md"), "changed\n");
    assert!(!sandbox.exists(".claude/commands/ralph-cancel.md") && !sandbox.exists(".claude/skills"));
}

#[test]
fn settings_that_cannot_be_edited_without_loss_are_refused() {
    let sandbox = repository();
    sandbox.write(".claude/settings.json", "{\n  // mine\n}\n");
    let refused = ralph(&sandbox).args(["hook", "install"]).run();
    refused.assert_code(65).assert_stderr_has("cannot be edited without loss").assert_stderr_has("line 2");
    // What is to be put in by hand is all there, and is what install would have put in.
    let said = refused.stderr.lines().find_map(|line| line.split_once("put this in by hand: "));
    let by_hand: serde_json::Value = serde_json::from_str(said.expect("what to put in").1).expect("JSON");
    let other = repository();
    ralph(&other).args(["hook", "install"]).run().assert_code(0);
    let installed: serde_json::Value =
        serde_json::from_str(&other.read(".claude/settings.json")).expect("JSON");
    assert_eq!(by_hand, installed);
    assert_eq!(sandbox.read(".claude/settings.json"), "{\n  // mine\n}\n");
    assert!(!sandbox.exists(".claude/commands"));
}

#[test]
fn user_settings_are_installed_in_the_home() {
    let sandbox = repository();
    ralph(&sandbox).args(["hook", "install", "--user"]).run().assert_code(0);
    assert!(sandbox.home().join(".claude/commands/ralph.md").exists() && !sandbox.exists(".claude"));
    let record = sandbox.read(sandbox.home().join(".claude/ralph-installed.json"));
    let record = serde_json::from_str(&record).expect("JSON");
    assert_eq!(Schema::published("ralph.installed/1").complaints(&record), Vec::<String>::new());
    ralph(&sandbox).args(["hook", "uninstall", "--user"]).run().assert_code(0);
    assert!(!sandbox.home().join(".claude").exists());
}

pub(crate) fn hook(sandbox: &Sandbox, word: &str) -> Finished {
    ralph(sandbox).args(["hook", word]).run()
}

#[test]
fn hooks_of_the_user_s_own_are_neither_replaced_nor_taken_out() {
    let sandbox = repository();
    let own = "{\"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"cd sub && ralph hook stop || true\"}]}]}, \
               \"env\": {\"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP\": \"1000000\"}}";
    sandbox.write(".claude/settings.json", own);
    hook(&sandbox, "uninstall").assert_code(0).assert_stderr_has("ralph put nothing into");
    assert_eq!(sandbox.read(".claude/settings.json"), own);
    hook(&sandbox, "install").assert_code(0).assert_stderr_has("cd sub && ralph hook stop");
    assert_eq!(sandbox.read(".claude/settings.json").matches("hook stop").count(), 1);
    hook(&sandbox, "uninstall").assert_code(0);
    assert_eq!(sandbox.read(".claude/settings.json"), own);
}

#[test]
fn a_file_of_the_user_s_own_that_says_the_same_stays() {
    let sandbox = repository();
    hook(&sandbox, "install").assert_code(0);
    let text = sandbox.read(".claude/commands/ralph-status.md");
    hook(&sandbox, "uninstall").assert_code(0);
    sandbox.write(".claude/commands/ralph-status.md", &text);
    let before = tree(&sandbox.project());
    hook(&sandbox, "install").assert_code(0);
    hook(&sandbox, "uninstall").assert_code(0);
    assert_eq!(tree(&sandbox.project()), before);
}

#[test]
fn an_install_that_fails_half_way_can_be_taken_out() {
    let sandbox = repository();
    sandbox.write(".claude/commands", "a file where a folder should be\n");
    let before = tree(&sandbox.project());
    hook(&sandbox, "install").assert_code(1).assert_stderr_has("ralph hook uninstall");
    assert!(sandbox.read(".claude/settings.json").contains("hook stop"));
    hook(&sandbox, "uninstall").assert_code(0);
    assert_eq!(tree(&sandbox.project()), before);
}

/// Installs or takes out, struck at a point; the points that were passed.
fn struck(sandbox: &Sandbox, word: &str, strike: &str) -> Vec<String> {
    let points = sandbox.root().join("tmp/points");
    sandbox.write(&points, "");
    let command = ralph(sandbox).args(["hook", word]);
    command.env("RALPH_CRASH_POINTS", &points).env("RALPH_CRASH_POINT", strike).run();
    sandbox.read(&points).lines().map(str::to_owned).collect()
}

#[test]
fn install_and_uninstall_cut_off_anywhere_can_be_finished_or_taken_back() {
    for settings in [None, Some("{\"model\": \"opus\", \"hooks\": { }}")] {
        let sandbox = repository();
        if let Some(settings) = settings {
            sandbox.write(".claude/settings.json", settings);
        }
        let before = tree(&sandbox.project());
        for (word, before_it) in [("install", "uninstall"), ("uninstall", "install")] {
            hook(&sandbox, before_it).assert_code(0);
            let mut points = struck(&sandbox, word, "");
            points.retain(|point| !point.contains("git"));
            assert!(points.len() > 10, "{points:?}");
            for (nth, point) in points.iter().enumerate() {
                let times = points[..=nth].iter().filter(|known| *known == point).count();
                let taken_out = &["uninstall"][..];
                for (how, then) in
                    [("kill", taken_out), ("kill", &["install", "uninstall"]), ("enospc", taken_out)]
                {
                    let at = format!("{how}:{point}#{times}");
                    hook(&sandbox, before_it).assert_code(0);
                    struck(&sandbox, word, &at);
                    for next in then {
                        hook(&sandbox, next).assert_code(0);
                    }
                    assert_eq!(tree(&sandbox.project()), before, "{word} struck by {at}, then {then:?}");
                }
            }
        }
    }
}

#[test]
fn hooks_are_found_wherever_the_agents_look_for_them() {
    let missing = "no agent's settings name ralph's hooks";
    for (agent, variable) in [("claude", "CLAUDE_CONFIG_DIR"), ("codex", "CODEX_HOME")] {
        let sandbox = repository();
        let dir = sandbox.root().join("settings");
        let in_there = |args: &[&str]| ralph(&sandbox).args(args).env(variable, &dir).run();
        in_there(&["hook", "install", "--user", "--agent", agent]).assert_code(0);
        let status = in_there(&["hook", "status"]);
        assert!(!status.stdout.contains(missing), "{}", status.stdout);
        ralph(&sandbox).args(["hook", "status"]).run().assert_stdout_has(missing);
    }
    let sandbox = repository();
    hook(&sandbox, "install").assert_code(0);
    let settings = sandbox.read(".claude/settings.json");
    hook(&sandbox, "uninstall").assert_code(0);
    hook(&sandbox, "status").assert_stdout_has(missing);
    sandbox.write(".claude/settings.local.json", settings);
    assert!(!hook(&sandbox, "status").stdout.contains(missing));
}

/// What the shell is handed when the goal was pasted into an installed command.
pub(crate) fn pasted(sandbox: &Sandbox, command: &str, goal: &str) -> String {
    let text = sandbox.read(format!(".claude/commands/{command}.md"));
    let script = text.split("```!\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a script");
    script.replace("$ARGUMENTS", goal).replace("${CLAUDE_SESSION_ID}", SESSION)
}

#[test]
fn nothing_in_a_goal_reaches_the_shell() {
    let goal = "make it green\nEND_OF_GOAL\ntouch pwned\n$(touch pwned) `touch pwned` '\"\nEND_OF_GOAL_\ntouch pwned";
    for (command, given, iterations) in
        [("ralph", goal.to_owned(), 50), ("ralph-loop", format!("3 {goal}"), 3)]
    {
        let sandbox = repository();
        hook(&sandbox, "install").assert_code(0);
        let script = pasted(&sandbox, command, &given);
        let armed = sandbox.command("sh").args(["-c", &script]).output().expect("sh");
        let said = String::from_utf8_lossy(&armed.stdout).into_owned();
        assert!(said.contains("armed: "), "{said}\n{}", String::from_utf8_lossy(&armed.stderr));
        let held = ralph(&sandbox).args(["hook", "status", "--json"]).run().json();
        assert_eq!((held["goal"].as_str(), held["max_iterations"].as_u64()), (Some(goal), Some(iterations)));
        assert!(!sandbox.exists("pwned"), "{command}");
        hook(&sandbox, "disarm").assert_code(0);
        // Where the goal brings the end of the command, the shell ends the rest as best it can.
        let cut = script.split_inclusive('\n').take(3).collect::<String>();
        let refused = sandbox.command("sh").args(["-c", &cut]).output().expect("sh");
        let said = String::from_utf8_lossy(&refused.stdout).into_owned();
        assert!(refused.status.code() == Some(64) && said.contains("the text is cut off"), "{said}");
    }
}

#[test]
fn the_loop_command_without_words_holds_the_session_to_the_next_item() {
    let sandbox = repository();
    let item = |id: &str, priority: u32| {
        serde_json::json!({"id": id, "title": format!("Make {id}"), "acceptance_criteria": [format!("{id}.txt is there")],
            "verification": [format!("test -e {id}.txt")], "status": "FAILING", "priority": priority, "dependencies": [],
            "attempts": [], "notes": "", "ralph_loop": {"enabled": true, "max_iterations": 3, "current_iteration": 0}})
    };
    let list = serde_json::json!({"items": [item("LATER", 2), item("FIRST", 1)]});
    sandbox.write(".claude/harness/feature_list.json", list.to_string());
    sandbox.write(".claude/harness/init.sh", "exit 0\n");
    hook(&sandbox, "install").assert_code(0);
    let call = |words: &str| {
        let script = pasted(&sandbox, "ralph-loop", words);
        let output = sandbox.command("sh").args(["-c", &script]).output().expect("sh");
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let status = || ralph(&sandbox).args(["hook", "status", "--json"]).run().json();
    for (words, iterations) in [("", 50), ("4", 4)] {
        let (code, said) = call(words);
        assert_eq!(code, Some(0), "{said}");
        for part in [
            "armed: ",
            "not approved yet",
            "First run .claude/harness/init.sh",
            "FIRST.txt is there",
            "It is verified by: test -e FIRST.txt",
            "backlog attempt FIRST PASSED",
            "backlog increment FIRST --block-on-max",
        ] {
            assert!(said.contains(part), "'{part}' in {said}");
        }
        assert!(!said.contains("LATER"), "one item a session: {said}");
        let held = status();
        assert_eq!(held["max_iterations"], iterations);
        assert!(held["goal"].as_str().is_some_and(|goal| goal.contains("FIRST.txt is there")), "{held}");
        hook(&sandbox, "disarm").assert_code(0);
    }
    // What the user agreed to, ralph runs itself.
    let agent = FakeAgent::new("agent").call(Steps::new()).install(&sandbox);
    let agreed =
        ralph(&sandbox).args(["run", "--profile", "worker", "--yes", "--agent-cmd"]).arg(agent.path());
    agreed.run().assert_code(3);
    let (_, said) = call("");
    assert!(said.contains("ralph sees this pass: ") && said.contains("test -e FIRST.txt"), "{said}");
    hook(&sandbox, "disarm").assert_code(0);
    // Nothing left: no session is held, and the command says why.
    sandbox.write(".claude/harness/feature_list.json", r#"{"items": []}"#);
    let (code, said) = call("");
    assert!(code == Some(1) && said.contains("the backlog is empty"), "{code:?} {said}");
    assert_eq!(status()["armed"], false);
}

#[test]
fn the_end_of_a_goal_is_another_in_every_place_and_the_same_in_one() {
    let marks: Vec<String> = (0..2)
        .map(|_| {
            let sandbox = repository();
            hook(&sandbox, "install").assert_code(0);
            let first = pasted(&sandbox, "ralph", "x");
            hook(&sandbox, "install").assert_code(0);
            assert_eq!(pasted(&sandbox, "ralph", "x"), first);
            first
        })
        .collect();
    assert_ne!(marks[0], marks[1]);
}
