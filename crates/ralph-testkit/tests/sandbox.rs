//! A sandbox lets nothing in from outside and leaves nothing behind.

use ralph_testkit::{Background, FakeAgent, MARKER, Sandbox, Signal, Steps};
use std::collections::BTreeMap;
use std::path::Path;

#[test]
fn the_environment_has_nothing_from_outside() {
    let sandbox = Sandbox::new();
    let output = sandbox.command("env").arg("-0").output().expect("start env");
    let text = String::from_utf8(output.stdout).expect("an environment in UTF-8");
    let found: BTreeMap<&str, &str> =
        text.split_terminator('\0').filter_map(|line| line.split_once('=')).collect();
    let expected = [
        "GIT_CONFIG_NOSYSTEM",
        "HOME",
        "LC_ALL",
        "PATH",
        MARKER,
        "TERM",
        "TMPDIR",
        "TZ",
        "XDG_CACHE_HOME",
        "XDG_CONFIG_HOME",
        "XDG_DATA_HOME",
        "XDG_RUNTIME_DIR",
        "XDG_STATE_HOME",
    ];
    assert_eq!(found.keys().copied().collect::<Vec<_>>(), expected);
    for (name, value) in &found {
        if name.starts_with("XDG_") || ["HOME", "TMPDIR"].contains(name) {
            assert!(Path::new(value).starts_with(sandbox.root()), "{name}={value}");
        }
    }
    assert!(found["PATH"].starts_with(sandbox.bin().to_str().expect("a path in UTF-8")));
    assert_eq!(found[MARKER], sandbox.id());
}

#[test]
fn the_folder_is_gone_afterwards() {
    let sandbox = Sandbox::new();
    sandbox.write("deep/er/file.txt", "text");
    let root = sandbox.root().to_path_buf();
    assert!(root.is_dir());
    drop(sandbox);
    assert!(!root.exists() || std::env::var_os("RALPH_KEEP_SANDBOX").is_some());
}

#[test]
fn git_has_the_user_of_the_sandbox() {
    let sandbox = Sandbox::new();
    sandbox.init_git();
    sandbox.write("a.txt", "one\n");
    let commit = sandbox.commit_all("first");
    assert_eq!(sandbox.git(&["rev-parse", "main"]), commit);
    assert_eq!(
        sandbox.git(&["log", "-1", "--format=%an <%ae> %s"]),
        "Test User <user@example.invalid> first"
    );
}

#[test]
fn looking_at_the_git_state_does_not_change_it() {
    let sandbox = Sandbox::new();
    sandbox.init_git();
    sandbox.user_git_state().assert_same(&sandbox.user_git_state());
    sandbox.write("a.txt", "one\n");
    sandbox.commit_all("first");
    // Same content, newer time: a refresh of the index would write it.
    sandbox.write("a.txt", "one\n");
    let before = sandbox.user_git_state();
    assert_eq!(before, sandbox.user_git_state());
}

#[test]
fn every_kind_of_change_shows_in_the_git_state() {
    let sandbox = Sandbox::new();
    sandbox.init_git();
    sandbox.write("a.txt", "one\n");
    sandbox.write(".gitignore", "ignored.txt\n");
    sandbox.commit_all("first");
    let differences_after = |change: &dyn Fn()| {
        let before = sandbox.user_git_state();
        change();
        let after = sandbox.user_git_state();
        assert_eq!(before == after, before.differences(&after).is_empty());
        before.differences(&after).join("\n")
    };
    assert_eq!(differences_after(&|| sandbox.write("ignored.txt", "x")), "");
    let shown = differences_after(&|| sandbox.write("a.txt", "two\n"));
    assert!(shown.contains(r#"- file "a.txt": mode 644, "one\n""#), "{shown}");
    assert!(shown.contains(r#"+ file "a.txt": mode 644, "two\n""#), "{shown}");
    assert!(differences_after(&|| sandbox.write("new.txt", "x")).contains("+ status: ? new.txt"));
    assert!(differences_after(&|| drop(sandbox.git(&["add", "a.txt"]))).contains("+ index: "));
    assert!(differences_after(&|| drop(sandbox.git(&["stash"]))).contains("+ stash: stash@{0}"));
    assert!(
        differences_after(&|| drop(sandbox.git(&["switch", "-q", "-c", "b"])))
            .contains("+ HEAD: ref: refs/heads/b")
    );
    assert!(differences_after(&|| drop(sandbox.git(&["tag", "v1"]))).contains("refs/tags/v1"));
}

#[test]
fn a_command_is_run_to_its_end_and_may_leave_its_output_open() {
    let sandbox = Sandbox::new();
    let script = "cat; echo talk >&2; sleep 100000 & exit 3";
    let finished = sandbox.ralph(Path::new("sh")).args(["-c", script]).stdin("data\n").run();
    finished.assert_code(3).assert_stdout_has("data\n").assert_stderr_has("talk").assert_stderr_lacks("data");
    assert!(finished.output_left_open);
    assert_eq!(sandbox.processes().len(), 1, "{:?}", sandbox.processes());
}

#[test]
fn a_running_command_is_watched_and_signalled() {
    let sandbox = Sandbox::new();
    let script = "trap 'echo caught >&2; exit 42' INT; echo one ready >&2; while :; do sleep 0.01; done";
    let running = sandbox.ralph(Path::new("sh")).args(["-c", script]).spawn();
    assert_eq!(running.wait_for_stderr("ready"), "one ready");
    running.signal(Signal::INT);
    running.wait().assert_code(42).assert_stderr_has("caught");

    let running = sandbox.ralph(Path::new("sh")).args(["-c", "echo up >&2; exec sleep 100000"]).spawn();
    running.wait_for_stderr("up");
    running.kill9();
    running.wait().assert_code(137);
    sandbox.assert_no_processes();
}

#[test]
#[should_panic(expected = "never showed \"missing\": it closed")]
fn waiting_for_a_line_that_never_comes_fails_as_soon_as_that_is_certain() {
    let sandbox = Sandbox::new();
    sandbox.ralph(Path::new("sh")).args(["-c", "echo other >&2"]).spawn().wait_for_stderr("missing");
}

#[test]
fn processes_are_found_whatever_they_did_to_escape() {
    let sandbox = Sandbox::new();
    let all = Background::new().own_session().clean_environment().ignores_term();
    let steps = Steps::new()
        .background(Background::new())
        .background(all)
        .background(Background::new().own_session());
    let agent = FakeAgent::new("agent").call(steps).install(&sandbox);
    let finished = sandbox.ralph(agent.path()).run();
    finished.assert_code(0);
    let left = sandbox.processes();
    assert_eq!(left.len(), 3, "{left:?}");
    assert!(!finished.output_left_open);

    let other = Sandbox::new();
    assert!(other.processes().is_empty());
    drop(sandbox);
    for (pid, _) in left {
        assert!(!Path::new(&format!("/proc/{pid}/cwd")).exists(), "process {pid} outlived its sandbox");
    }
}

#[test]
#[should_panic(expected = "processes left behind")]
fn a_process_left_behind_is_named() {
    let sandbox = Sandbox::new();
    let agent = FakeAgent::new("agent").call(Steps::new().background(Background::new())).install(&sandbox);
    sandbox.ralph(agent.path()).run().assert_code(0);
    sandbox.assert_no_processes();
}
