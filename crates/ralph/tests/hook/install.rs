//! What `hook install` puts into an agent's folder, and that exactly that goes again.

use std::fs;
use std::path::Path;

use ralph_testkit::Schema;

use crate::common::{ralph, repository};

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
    for settings in
        [None, Some("{\n  \"model\": \"opus\",\n  \"hooks\": {}\n}\n"), Some("{\"env\":{\"A\":\"b\"}}")]
    {
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
            hook("install");
            let installed = tree(&sandbox.project());
            let text = sandbox.read(file);
            assert!(text.contains("hook stop") && text.contains("hook session"), "{text}");
            assert_eq!(text.contains("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"), agent == "claude");
            hook("install");
            assert_eq!(tree(&sandbox.project()), installed, "twice is once");
            hook("uninstall");
            assert_eq!(tree(&sandbox.project()), before);
            assert_eq!(sandbox.exists(file), settings.is_some());
        }
    }
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
