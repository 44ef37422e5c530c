//! A project that another tool worked in: its files are kept before ralph's first write.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use ralph_testkit::{Finished, InstalledAgent, RalphCommand, Sandbox};

use crate::common::{one_call, ralph, repository, run, says_done};

/// Every file below a folder with what is in it, by its path from there.
fn files(top: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![top.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let name = path.strip_prefix(top).expect("below").display().to_string();
            if path.is_dir() && name != ".git" {
                folders.push(path);
            } else if path.is_file() {
                found.insert(name, fs::read(path).expect("read"));
            }
        }
    }
    found
}

/// What several tools leave: seeds 001, 002 and 004, and a loop with files of its own.
fn of_another_tool(sandbox: &Sandbox) {
    for (path, text) in [
        (".ralph/session.md", "# their session\n"),
        (".ralph/state.json", r#"{"circuit_breaker": {"state": "open", "reason": "no_progress: 3"}}"#),
        (".ralph/status", "DONE\n"),
        (".ralph/history/iteration-001.md", "their first iteration\n"),
        (".ralph/history/deep/notes.md", "their notes\n"),
        (".ralph/checkpoints/pre-task-1.json", "{}\n"),
        (".ralph/.session.md.other", "theirs too\n"),
        (".ralph/.prompt.md.new", "half of theirs\n"),
        (".ralph/scratchpad.md", "so far\n"),
        (".ralph/logs/run.log", "\u{0}binary\n"),
        (".ralph-session.json", "{\"theirs\": true}\n"),
    ] {
        sandbox.write(path, text);
    }
}

fn project_of_another_tool() -> Sandbox {
    let sandbox = repository();
    of_another_tool(&sandbox);
    sandbox
}

/// Every byte of `before` is where it was, or below `.ralph/before-ralph/` under the same name.
#[track_caller]
fn no_byte_is_lost(sandbox: &Sandbox, before: &BTreeMap<String, Vec<u8>>) {
    let after = files(&sandbox.project());
    for (name, bytes) in before {
        let kept = format!(".ralph/before-ralph/{}", name.strip_prefix(".ralph/").unwrap_or(name));
        let places = [name, &kept];
        assert!(
            places.iter().any(|place| after.get(*place) == Some(bytes)),
            "{name} is lost: {:?}",
            after.keys()
        );
    }
}

fn goal_run(sandbox: &Sandbox, agent: &InstalledAgent) -> RalphCommand {
    run(sandbox, agent).args(["--reviews", "0", "--profile", "analyzer"])
}

#[test]
fn files_of_another_tool_are_kept_byte_for_byte_whatever_begins() {
    type Begin = fn(&Sandbox) -> Finished;
    let begins: [(&str, Begin); 3] = [
        ("run", |sandbox| goal_run(sandbox, &one_call(sandbox, says_done())).run()),
        ("init", |sandbox| {
            ralph(sandbox).args(["init", "--yes", "--force"]).run().assert_code(0);
            goal_run(sandbox, &one_call(sandbox, says_done())).run()
        }),
        ("arm", |sandbox| ralph(sandbox).args(["hook", "arm", "a goal"]).run()),
    ];
    for (name, begin) in begins {
        let sandbox = project_of_another_tool();
        let before = files(&sandbox.project());
        begin(&sandbox).assert_code(0);
        no_byte_is_lost(&sandbox, &before);
        assert_eq!(sandbox.read(".ralph/before-ralph/history/deep/notes.md"), "their notes\n", "{name}");
        assert_ne!(sandbox.read(".ralph/session.md"), "# their session\n", "{name}: the view is ralph's now");
        assert_eq!(sandbox.read(".ralph/scratchpad.md"), "so far\n", "{name}: agents go on with it");
    }
}

#[test]
fn the_move_is_told_in_one_line_with_an_open_breaker() {
    let sandbox = project_of_another_tool();
    let agent = one_call(&sandbox, says_done());
    let done = goal_run(&sandbox, &agent).run();
    done.assert_code(0)
        .assert_stderr_has("moved files of an earlier tool to .ralph/before-ralph: .ralph/session.md, .ralph/state.json, .ralph/status, .ralph/history, .ralph/checkpoints, ")
        .assert_stderr_has("the circuit breaker of the earlier tool is open (.ralph/state.json): no_progress: 3; ralph's own starts closed");
    let again = goal_run(&sandbox, &agent).run();
    again.assert_code(0).assert_stderr_lacks("moved files").assert_stderr_lacks("earlier tool");
    for (file, text) in [
        (".circuit_breaker_state", r#"{"state": "OPEN", "reason": "stuck"}"#),
        (".ralph/.circuit_breaker_state", r#"{"state": "OPEN"}"#),
        (".ralph-session.json", r#"{"circuit_breaker_state": "OPEN"}"#),
    ] {
        let sandbox = repository();
        sandbox.write(file, text);
        let told = format!("the circuit breaker of the earlier tool is open ({file})");
        ralph(&sandbox).args(["init", "--yes"]).run().assert_code(0).assert_stderr_has(&told);
        sandbox.write(file, text.replace("OPEN", "CLOSED"));
        let done = goal_run(&sandbox, &one_call(&sandbox, says_done())).run();
        done.assert_code(0).assert_stderr_lacks("circuit breaker of");
    }
}

#[test]
fn a_ralph_that_is_killed_while_it_moves_them_loses_nothing() {
    for cut in ["make folder before-ralph#1", "rename session.md#1", "rename status#1", "rename history#1"] {
        let sandbox = project_of_another_tool();
        let before = files(&sandbox.project());
        let agent = one_call(&sandbox, says_done());
        let points = sandbox.root().join("points.txt");
        let killed = goal_run(&sandbox, &agent)
            .env("RALPH_CRASH_POINTS", &points)
            .env("RALPH_CRASH_POINT", format!("kill:{cut}"))
            .run();
        assert_eq!(killed.code, 137, "{cut}: {killed}");
        no_byte_is_lost(&sandbox, &before);
        goal_run(&sandbox, &agent).run().assert_code(0);
        no_byte_is_lost(&sandbox, &before);
        assert!(!sandbox.exists(".ralph/before-ralph-2"), "{cut}");
    }
}

#[test]
fn what_was_kept_before_is_never_written_over() {
    let sandbox = project_of_another_tool();
    sandbox.write(".ralph/before-ralph/session.md", "of the tool before that\n");
    goal_run(&sandbox, &one_call(&sandbox, says_done())).run().assert_code(0);
    assert_eq!(sandbox.read(".ralph/before-ralph/session.md"), "of the tool before that\n");
    assert_eq!(sandbox.read(".ralph/before-ralph-2/session.md"), "# their session\n");
    assert_eq!(sandbox.read(".ralph/before-ralph-2/history/deep/notes.md"), "their notes\n");
}

#[test]
fn what_ralph_itself_wrote_is_not_moved() {
    let sandbox = repository();
    ralph(&sandbox).args(["init", "--yes"]).run().assert_code(0);
    let agent = one_call(&sandbox, says_done());
    for _ in 0..2 {
        let done = goal_run(&sandbox, &agent).run();
        done.assert_code(0).assert_stderr_lacks("moved files");
    }
    ralph(&sandbox)
        .args(["init", "--yes", "--force"])
        .run()
        .assert_code(0)
        .assert_stderr_lacks("moved files");
    assert!(!sandbox.exists(".ralph/before-ralph"));
    // A folder without a repository has its record in there.
    let plain = Sandbox::new();
    let agent = one_call(&plain, says_done());
    for _ in 0..2 {
        goal_run(&plain, &agent).run().assert_code(0).assert_stderr_lacks("moved files");
    }
}
