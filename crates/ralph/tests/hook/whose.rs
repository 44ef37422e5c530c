//! Whose session it is: that of the project it was started in.

use std::io::Write;
use std::os::unix::fs::symlink;
use std::process::Stdio;

use ralph_testkit::Sandbox;
use serde_json::{Value, json};

use crate::common::{GOAL, ralph, repository};
use crate::{SESSION, arm, is_blocked, more, starts, stops};

/// Another repository, beside the project.
fn elsewhere(sandbox: &Sandbox) -> String {
    let path = sandbox.root().join("elsewhere");
    let made = sandbox.command("git").args(["init", "-q"]).arg(&path).status();
    assert!(made.expect("git").success());
    path.to_string_lossy().into_owned()
}

/// A session that Claude Code started in one folder, and whose shell is in the project now.
fn started_in(sandbox: &Sandbox, folder: &str, event: &str, session: &str) -> Option<Value> {
    let told = json!({
        "session_id": session, "cwd": sandbox.project(), "source": "startup", "last_assistant_message": more(),
    });
    let hook = ralph(sandbox).args(["hook", event]).env("CLAUDE_PROJECT_DIR", folder);
    let finished = hook.stdin(told.to_string()).run();
    finished.assert_code(0);
    (!finished.stdout.is_empty()).then(|| finished.json())
}

#[test]
fn a_session_of_another_project_whose_shell_came_here_is_not_the_next_one() {
    let sandbox = repository();
    let other = elsewhere(&sandbox);
    arm(&sandbox, &[]);
    assert_eq!(started_in(&sandbox, &other, "session", "visitor"), None);
    assert_eq!(started_in(&sandbox, &other, "stop", "visitor"), None);
    let home = sandbox.project().to_string_lossy().into_owned();
    assert!(started_in(&sandbox, &home, "session", "own").is_some());
    assert!(is_blocked(started_in(&sandbox, &other, "stop", "own").as_ref()), "it is known by its name now");
}

#[test]
fn a_session_that_was_bound_by_its_name_is_held_wherever_it_was_started() {
    let sandbox = repository();
    let other = elsewhere(&sandbox);
    arm(&sandbox, &["--session", SESSION]);
    assert!(is_blocked(started_in(&sandbox, &other, "stop", SESSION).as_ref()));
    assert_eq!(started_in(&sandbox, &other, "stop", "visitor"), None);
}

/// What one command finds, and what a hook does, in the same folder.
fn agree(sandbox: &Sandbox, folder: &str, started_in: &str) -> bool {
    let status = ralph(sandbox).in_folder(folder).args(["hook", "status", "--json"]).run().json();
    let told = json!({"session_id": "new", "source": "startup"}).to_string();
    let start =
        ralph(sandbox).in_folder(folder).args(["hook", "session"]).env("CLAUDE_PROJECT_DIR", started_in);
    let held = start.stdin(told).run().assert_code(0).stdout.contains(GOAL);
    assert_eq!(status["armed"], held, "{folder}");
    held
}

#[test]
fn a_hook_finds_the_project_that_every_command_finds() {
    let below_home = |sandbox: &Sandbox| sandbox.write(sandbox.home().join("foo/bar/x"), "");
    for (armed_in, session_in, held) in [
        ("../home", "../home", true),
        ("../home", "../home/foo", false),
        ("../home/foo", "../home/foo/bar", true),
        ("..", "../home", false),
    ] {
        let sandbox = Sandbox::new();
        below_home(&sandbox);
        ralph(&sandbox).in_folder(armed_in).args(["hook", "arm", GOAL]).run().assert_code(0);
        let started_in = sandbox.project().join(session_in);
        assert_eq!(agree(&sandbox, session_in, &started_in.to_string_lossy()), held, "{session_in}");
    }
    // By another name of the home, too.
    let sandbox = Sandbox::new();
    below_home(&sandbox);
    let link = sandbox.root().join("link");
    symlink(sandbox.home(), &link).expect("a link");
    ralph(&sandbox).in_folder("../home").args(["hook", "arm", GOAL]).run().assert_code(0);
    assert!(!agree(&sandbox, "../home/foo", &link.join("foo").to_string_lossy()));
    assert!(agree(&sandbox, "../home", &link.to_string_lossy()));
}

#[test]
fn a_folder_of_git_s_that_is_none_is_passed_over_as_git_does() {
    let sandbox = repository();
    arm(&sandbox, &[]);
    sandbox.write("sub/.git/config", "");
    let folder = sandbox.project().join("sub");
    assert!(agree(&sandbox, "sub", &folder.to_string_lossy()));
}

#[test]
fn a_session_whose_hook_was_fired_before_arming_is_not_held_though_it_finds_something_armed() {
    let sandbox = repository();
    let mut hook = ralph(&sandbox).args(["hook", "session"]).into_command();
    let mut hook = hook.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("a hook");
    let mut pipe = hook.stdin.take().expect("piped");
    // More than a pipe holds: it was fired and reads when this is written.
    pipe.write_all(&vec![b' '; 1 << 20]).expect("read");
    arm(&sandbox, &[]);
    let told = json!({"session_id": "old", "source": "startup"}).to_string();
    pipe.write_all(told.as_bytes()).expect("read");
    drop(pipe);
    let answered = hook.wait_with_output().expect("its end");
    assert_eq!((answered.status.code(), String::from_utf8_lossy(&answered.stdout).as_ref()), (Some(0), ""));
    assert_eq!(stops(&sandbox, "old", &more()), None);
    assert!(starts(&sandbox, "new", "startup").contains(GOAL), "the next one is waited for still");
}
