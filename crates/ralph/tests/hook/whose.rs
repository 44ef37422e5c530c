//! Whose session it is: that of the project it was started in.

use ralph_testkit::Sandbox;
use serde_json::{Value, json};

use crate::common::{ralph, repository};
use crate::{SESSION, arm, is_blocked, more, transcript};

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
        "transcript_path": transcript(sandbox, "2999-01-01T00:00:00Z"),
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
    assert!(is_blocked(started_in(&sandbox, &home, "stop", "own").as_ref()));
}

#[test]
fn a_session_that_was_bound_by_its_name_is_held_wherever_it_was_started() {
    let sandbox = repository();
    let other = elsewhere(&sandbox);
    arm(&sandbox, &["--session", SESSION]);
    assert!(is_blocked(started_in(&sandbox, &other, "stop", SESSION).as_ref()));
    assert_eq!(started_in(&sandbox, &other, "stop", "visitor"), None);
}
