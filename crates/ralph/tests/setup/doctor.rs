//! `ralph doctor`: each thing that runs need, in order and out of order.
#![expect(clippy::disallowed_methods, reason = "the test's own files")]

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use ralph_testkit::{RalphCommand, Sandbox, Schema, StatusBlock, Steps};
use serde_json::{Value, json};

use crate::common::{one_call, ralph, repository, run, says_done};

fn examined(sandbox: &Sandbox, args: &[&str], code: i32) -> Value {
    let told = ralph(sandbox).args(["doctor", "--json"]).args(args).run();
    told.assert_code(code);
    let document = told.json();
    Schema::published("ralph.doctor/1").assert(&document);
    assert_eq!(document["ok"], code == 0);
    document
}

#[track_caller]
fn finding<'a>(document: &'a Value, about: &str) -> (&'a str, &'a str) {
    let findings = document["findings"].as_array().expect("a list");
    let found = findings.iter().find(|finding| finding["about"] == about);
    let found = found.unwrap_or_else(|| panic!("nothing about {about}: {document:#}"));
    (found["outcome"].as_str().expect("a word"), found["text"].as_str().expect("a text"))
}

fn healthy() -> Sandbox {
    let sandbox = repository();
    sandbox.install_script("claude", "#!/bin/sh\necho '2.1.0 (Claude Code)'\n");
    sandbox
}

#[test]
fn an_item_that_is_not_for_the_loop_is_not_counted_as_open() {
    let sandbox = healthy();
    let item = |id: &str, status: &str, enabled: bool| json!({"id": id, "title": id, "status": status, "ralph_loop": {"enabled": enabled}});
    let items = [item("A", "PASSING", true), item("B", "PASSING", true), item("C", "FAILING", false)];
    sandbox.write("feature_list.json", json!({ "items": items }).to_string());
    assert_eq!(
        finding(&examined(&sandbox, &[], 0), "backlog").1,
        "feature_list.json: 0 of 2 items open, 1 disabled"
    );
}

#[test]
fn a_project_in_order_is_told_line_by_line() {
    let sandbox = healthy();
    let agent = one_call(&sandbox, says_done());
    run(&sandbox, &agent).args(["--reviews", "0"]).run().assert_code(0);
    let told = examined(&sandbox, &[], 0);
    for about in [
        "git", "project", "settings", "trust", ".ralph", "records", "journal", "clock", "evidence", "lock",
        "disk",
    ] {
        assert_eq!(finding(&told, about).0, "held", "{about}: {told:#}");
    }
    assert_eq!(finding(&told, "agent claude"), ("held", "2.1.0 (Claude Code)"));
    assert_eq!(finding(&told, "checks").0, "warned");
    assert_eq!(finding(&told, "journal").1, "1 readable run");
    let text = ralph(&sandbox).arg("doctor").run();
    text.assert_code(0)
        .assert_stdout_has("ok      lock           free")
        .assert_stdout_has("try: ralph config set");
}

/// The command without the right to write wherever it likes, where the tests have it.
fn without_all_rights(sandbox: &Sandbox, args: &[&str]) -> RalphCommand {
    let project = sandbox.project();
    fs::set_permissions(&project, fs::Permissions::from_mode(0o555)).expect("changed");
    if fs::write(project.join("may-everything"), "").is_err() {
        return ralph(sandbox).args(args);
    }
    fs::remove_file(project.join("may-everything")).expect("removed");
    let rights = ["--bounding-set", "-dac_override,-dac_read_search", env!("CARGO_BIN_EXE_ralph")];
    sandbox.ralph(Path::new("setpriv")).args(rights).args(args)
}

#[test]
fn a_folder_that_cannot_be_written_to_is_named_with_what_to_do() {
    let sandbox = Sandbox::new();
    let project = sandbox.project().display().to_string();
    let told = without_all_rights(&sandbox, &["doctor"]).run();
    told.assert_code(1).assert_stdout_has(&format!("try: see to the rights of {project}\n"));
    let run = without_all_rights(&sandbox, &["run", "goal", "--yes", "--agent-cmd", "true"]).run();
    run.assert_code(1).assert_stderr_has("try: see to the rights");
    fs::set_permissions(sandbox.project(), fs::Permissions::from_mode(0o755)).expect("changed");
}

#[test]
fn a_git_that_does_not_know_the_user_is_warned_of_with_what_to_type() {
    let sandbox = healthy();
    sandbox.write(sandbox.root().join("home/.gitconfig"), "[user]\n\tuseConfigOnly = true\n");
    let told = examined(&sandbox, &[], 0);
    let (outcome, text) = finding(&told, "git identity");
    assert_eq!(outcome, "warned");
    assert!(text.starts_with("what is proved could not be committed: "), "{text}");
    let text = ralph(&sandbox).arg("doctor").run();
    text.assert_stdout_has("try: git config user.name \"NAME\" && git config user.email \"ADDRESS\"");
    // Whom the environment names is known.
    let named = ["GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"];
    let told = named.iter().fold(ralph(&sandbox).arg("doctor"), |told, name| told.env(name, "ada@localhost"));
    assert!(!told.run().stdout.contains("git identity"));
}

#[test]
fn it_writes_nothing_and_runs_nothing_of_the_repository() {
    let sandbox = healthy();
    sandbox.write(".ralph/config.toml", "[checks]\ntest = 'touch ran'\n[notify]\ncommand = 'touch ran'\n");
    let told = examined(&sandbox, &[], 0);
    assert_eq!(finding(&told, "trust").0, "warned");
    assert_eq!(finding(&told, "check test"), ("held", "not run: touch ran (.ralph/config.toml:2)"));
    let told = examined(&sandbox, &["--run-checks"], 1);
    assert!(finding(&told, "check test").1.contains("nobody agreed"), "{told:#}");
    assert!(!sandbox.exists("ran") && !sandbox.exists(".git/ralph"));
}

#[test]
fn checks_are_run_where_they_are_the_user_s_or_agreed_to() {
    let sandbox = healthy();
    sandbox.write(
        "../home/.config/ralph/config.toml",
        "[checks]\ntest = 'test -e README.md'\nlint = 'echo bad; exit 3'\n",
    );
    let told = examined(&sandbox, &["--run-checks"], 1);
    assert_eq!(finding(&told, "check test"), ("held", "passed: test -e README.md"));
    let (outcome, text) = finding(&told, "check lint");
    assert!(outcome == "failed" && text.contains("exit 3: bad"), "{text}");
}

#[test]
fn missing_tools_and_agents_are_named_with_what_to_do() {
    let sandbox = repository();
    assert_eq!(finding(&examined(&sandbox, &[], 1), "agents").0, "failed");
    sandbox.write(
        ".ralph/config.toml",
        "pool = ['codex', 'mine', 'other']\n[agents.mine]\ncommand = 'sh agent.sh'\n[agents.other]\ncommand = './other.sh'\n\
         [checks]\nlint = 'no-such-linter .'\n",
    );
    let told = examined(&sandbox, &[], 1);
    assert_eq!(finding(&told, "agent codex").0, "failed");
    assert_eq!(finding(&told, "agent mine"), ("held", "a command of the settings: sh agent.sh"));
    let (outcome, text) = finding(&told, "agent other");
    assert!(outcome == "failed" && text.starts_with("./other.sh is not there"), "{text}");
    assert!(finding(&told, "check lint").1.starts_with("no-such-linter is not there"), "{told:#}");
    let told = ralph(&sandbox).arg("doctor").env("PATH", sandbox.bin()).run();
    told.assert_code(1).assert_stdout_has("failed  git").assert_stdout_has("install git 2.34 or newer");
}

#[test]
fn where_no_check_is_known_one_is_suggested_that_fits_the_project() {
    let sandbox = healthy();
    let doctor = || ralph(&sandbox).arg("doctor").run();
    doctor().assert_stdout_has("ralph config set checks.test \"make test\"");
    sandbox.write("calc.py", "");
    doctor().assert_stdout_has("ralph config set checks.test \"python3 -m unittest\"");
}

#[test]
fn checks_that_were_found_and_cannot_be_run_are_named_and_never_suggested() {
    let sandbox = healthy();
    sandbox.write("go.mod", "module x\n");
    sandbox.install_script("git", "#!/bin/sh\nexec /usr/bin/git \"$@\"\n");
    let told = ralph(&sandbox).arg("doctor").env("PATH", sandbox.bin()).run();
    told.assert_stdout_has("go is not on the PATH: the check `go test ./...` (go.mod) is left out");
    told.assert_stdout_has("try: install go, or name another command: ralph config set checks.test CMD");
    told.assert_stdout_has("none is left: every check that was found is left out, as said above");
    assert!(!told.stdout.contains("none were found") && !told.stdout.contains("cargo test"), "{told}");
}

#[test]
fn a_git_that_is_too_old_is_told() {
    let sandbox = healthy();
    sandbox.install_script("git", "#!/bin/sh\nif [ \"$1\" = version ]; then echo git version 2.25.1; else exec /usr/bin/git \"$@\"; fi\n");
    let told = ralph(&sandbox).args(["doctor", "--json"]).run().json();
    assert_eq!(finding(&told, "git"), ("failed", "git version 2.25.1 is too old"));
}

#[test]
fn wrong_settings_are_told_with_their_line() {
    let sandbox = healthy();
    sandbox.write(".ralph/config.toml", "[policy]\ngate = 'half'\n");
    let told = examined(&sandbox, &[], 1);
    let (outcome, text) = finding(&told, "settings");
    assert!(
        outcome == "failed" && text.starts_with(".ralph/config.toml:2: 'half' is no value for gate"),
        "{text}"
    );
}

#[test]
fn what_says_which_session_is_held_is_looked_at_where_it_is() {
    let sandbox = healthy();
    let arm = || ralph(&sandbox).args(["hook", "arm", "make it blue"]).run();
    arm().assert_code(0);
    assert_eq!(finding(&examined(&sandbox, &[], 0), "session").0, "held");
    for damaged in ["{{", "", "[]"] {
        sandbox.write(".git/ralph/hook.json", damaged);
        let told = examined(&sandbox, &[], 0);
        assert_eq!(finding(&told, "session").0, "warned", "{damaged}");
        let doctor = ralph(&sandbox).arg("doctor").run();
        doctor.assert_stdout_has("hook.json cannot be read").assert_stdout_has("ralph hook disarm");
        let status = ralph(&sandbox).arg("status").run().assert_code(0).stdout.replace("\n            ", " ");
        for part in
            ["nobody can tell which session it holds", "hook.json cannot be read", "ralph hook disarm"]
        {
            assert!(status.contains(part), "{part}: {status}");
        }
        assert!(!status.contains("holds no session") && !status.contains("hook arm"), "{status}");
        let status = ralph(&sandbox).args(["status", "--json"]).run().json();
        assert!(status["problems"].to_string().contains("hook.json cannot be read"), "{status}");
        arm().assert_code(65).assert_stderr_has("ralph hook disarm");
    }
    ralph(&sandbox).args(["hook", "disarm"]).run().assert_code(0);
    arm().assert_code(0);
}

#[test]
fn damaged_records_are_found() {
    let sandbox = healthy();
    sandbox.damages_the_record();
    let agent = one_call(&sandbox, says_done());
    run(&sandbox, &agent).args(["--reviews", "0"]).run().assert_code(0);
    sandbox.write(".git/ralph/evidence.jsonl", "{\"seq\":1,\"previous\":\"\",\"digest\":\"forged\"}\n");
    assert_eq!(finding(&examined(&sandbox, &[], 1), "evidence").0, "failed");
    sandbox.write(".git/ralph/evidence.jsonl", "");
    let path = ".git/ralph/runs/0001/journal.jsonl";
    let journal = sandbox.read(path);
    sandbox.write(path, journal.replacen("\"seq\":2", "\"seq\":9", 1));
    let told = examined(&sandbox, &[], 1);
    assert_eq!(finding(&told, "journal").0, "failed", "{told:#}");
}

#[test]
fn damage_before_the_last_checkpoint_is_found_too() {
    let sandbox = healthy();
    sandbox.damages_the_record();
    let agent = one_call(&sandbox, says_done());
    let run = run(&sandbox, &agent).args(["--reviews", "0"]).env("RALPH_CHECKPOINT_EVERY", "3").run();
    run.assert_code(0);
    let path = ".git/ralph/runs/0001/journal.jsonl";
    let journal = sandbox.read(path);
    assert!(journal.lines().skip(2).any(|line| line.contains("\"checkpoint\"")), "{journal}");
    assert_eq!(finding(&examined(&sandbox, &[], 0), "journal").0, "held");
    sandbox.write(path, journal.replacen("\"seq\":2", "\"seq\":9", 1));
    let told = examined(&sandbox, &[], 0);
    for about in ["journal", "evidence"] {
        let (outcome, text) = finding(&told, about);
        assert!(outcome == "warned" && text.contains("line 2: the checksum does not fit"), "{about}: {text}");
    }
    let verified = ralph(&sandbox).args(["evidence", "verify", "--no-run"]).run();
    verified.assert_stderr_has("the journal of run 1: line 2: the checksum does not fit; what it knows");
}

#[test]
fn before_the_first_run_all_is_looked_at_too() {
    let sandbox = healthy();
    let told = examined(&sandbox, &[], 0);
    for about in ["journal", "evidence", "lock"] {
        let (outcome, text) = finding(&told, about);
        assert!(outcome == "held" && text.starts_with("not there yet"), "{about}: {text}");
    }
    assert_eq!(finding(&told, "clock").0, "held");
}

#[test]
fn an_agent_that_does_not_tell_its_version_is_a_warning() {
    let sandbox = repository();
    for (script, told) in [("exit 3", "exit 3"), ("exit 0", "it says nothing")] {
        sandbox.install_script("claude", &format!("#!/bin/sh\n{script}\n"));
        let document = examined(&sandbox, &[], 0);
        let text = format!("does not tell its version: {told}");
        assert_eq!(finding(&document, "agent claude"), ("warned", text.as_str()));
    }
}

#[test]
fn what_a_backlog_wants_for_every_item_is_a_check_and_to_be_agreed_to() {
    let sandbox = healthy();
    let story = r#"{"id": "S-1", "title": "one", "status": "open"}"#;
    sandbox.write("prd.json", format!(r#"{{"qualityGates": ["touch ran"], "stories": [{story}]}}"#));
    let told = examined(&sandbox, &[], 0);
    assert_eq!(finding(&told, "check gate-1"), ("held", "not run: touch ran (prd.json, qualityGates 1)"));
    let (outcome, text) = finding(&told, "trust");
    assert!(outcome == "warned" && text.contains("touch ran (prd.json, qualityGates 1)"), "{text}");
    let told = examined(&sandbox, &["--run-checks"], 1);
    assert!(finding(&told, "check gate-1").1.contains("nobody agreed to it"), "{told:#}");
    assert!(!sandbox.exists("ran"));
    sandbox.write(".ralph/config.toml", "profile = 'analyzer'\n");
    assert!(!examined(&sandbox, &[], 0).to_string().contains("touch ran"), "this profile runs no checks");
}

#[test]
fn a_check_that_takes_longer_than_the_settings_allow_is_ended() {
    let sandbox = healthy();
    sandbox.write(
        "../home/.config/ralph/config.toml",
        "[policy]\ncheck_timeout = '1s'\n[checks]\ntest = 'exec sleep 1000'\n",
    );
    let told = examined(&sandbox, &["--run-checks"], 1);
    let (outcome, text) = finding(&told, "check test");
    assert!(outcome == "failed" && text.contains("ended after 1.0s, the longest time"), "{text}");
}

#[test]
fn a_check_that_is_declined_or_the_shell_s_own_is_no_trouble() {
    let sandbox = healthy();
    sandbox.write(".ralph/config.toml", "[checks]\nlint = 'none'\ntest = 'export CI=1 && true'\n");
    let told = examined(&sandbox, &[], 0);
    assert_eq!(finding(&told, "check test").0, "held");
    assert!(!told.to_string().contains("check lint"), "{told:#}");
    assert!(!finding(&told, "trust").1.contains("none"), "{told:#}");
}

#[test]
fn stack_and_checks_of_the_project_are_found_and_run_where_they_are_trusted() {
    let sandbox = healthy();
    sandbox.install_script("cargo", "#!/bin/sh\ntouch \"ran-$1\"\n");
    sandbox.write("Cargo.toml", "[package]\nname = 'x'\n");
    let told = examined(&sandbox, &[], 0);
    assert_eq!(finding(&told, "stack"), ("held", "Rust (Cargo.toml)"));
    assert_eq!(finding(&told, "check test"), ("held", "not run: cargo test (Cargo.toml)"));
    let (outcome, text) = finding(&told, "trust");
    assert!(outcome == "warned" && text.contains("cargo test (Cargo.toml)"), "{text}");
    let told = examined(&sandbox, &["--run-checks"], 1);
    assert!(finding(&told, "check test").1.contains("nobody agreed to it"), "{told:#}");
    assert!(!sandbox.exists("ran-test"));
    let agent = one_call(&sandbox, says_done());
    run(&sandbox, &agent).args(["--reviews", "0"]).run().assert_code(0);
    let told = examined(&sandbox, &["--run-checks"], 0);
    assert_eq!(finding(&told, "check test"), ("held", "passed: cargo test"));
    assert_eq!(finding(&told, "trust").0, "held");
    fs::remove_file(sandbox.bin().join("cargo")).expect("removed");
    sandbox.install_script("git", "#!/bin/sh\nexec /usr/bin/git \"$@\"\n");
    symlink("/bin/sh", sandbox.bin().join("sh")).expect("linked");
    let told = ralph(&sandbox).args(["doctor", "--json"]).env("PATH", sandbox.bin()).run().json();
    let (outcome, text) = finding(&told, "checks");
    assert!(outcome == "warned" && text.contains("cargo is not on the PATH"), "{told:#}");
}

#[test]
fn what_cannot_be_read_is_never_said_to_hold() {
    let sandbox = healthy();
    sandbox.write(".ralph/config.toml", "profil = 1\n");
    let told = examined(&sandbox, &[], 1);
    for about in ["agents", "trust", "checks"] {
        let (outcome, text) = finding(&told, about);
        assert!(outcome == "warned" && text.starts_with("not looked at"), "{about}: {text}");
    }
    sandbox.write(".ralph/config.toml", "");
    sandbox.write(".ralph/ralph.yml", "tasks: [\n");
    let told = examined(&sandbox, &[], 1);
    let (outcome, text) = finding(&told, "backlog");
    assert!(
        outcome == "failed" && text.starts_with(".ralph/ralph.yml cannot be read as a backlog"),
        "{text}"
    );
    assert_eq!(finding(&told, "trust").0, "warned");
    sandbox.write(".ralph/ralph.yml", "tasks:\n  - id: a\n    title: A\n    status: todo\n");
    assert_eq!(finding(&examined(&sandbox, &[], 0), "backlog").1, ".ralph/ralph.yml: 1 of 1 item open");
    sandbox.write(".ralph/config.toml", "backlog = 'gone.md'\n");
    assert_eq!(finding(&examined(&sandbox, &[], 1), "backlog").0, "failed");
}

#[test]
fn the_boot_script_of_a_harness_counts_where_the_profile_runs_it() {
    let sandbox = healthy();
    sandbox.write(".claude/harness/feature_list.json", r#"{"items":[]}"#);
    sandbox.write(".claude/harness/init.sh", "touch ran\n");
    assert_eq!(finding(&examined(&sandbox, &[], 0), "trust").0, "held");
    sandbox.write(".ralph/config.toml", "profile = 'worker'\n");
    let told = examined(&sandbox, &[], 0);
    let (outcome, text) = finding(&told, "trust");
    assert!(outcome == "warned" && text.contains("(.claude/harness/init.sh)"), "{text}");
    assert!(!sandbox.exists("ran"));
}

#[test]
fn a_ledger_that_was_cut_is_found_by_what_the_journals_hold() {
    let sandbox = healthy();
    sandbox.damages_the_record();
    sandbox.write(".ralph/ralph.yml", "tasks:\n  - id: a\n    title: A\n    status: todo\n");
    let done = StatusBlock { tasks: 1, ..StatusBlock::done() };
    let agent = one_call(&sandbox, Steps::new().write("green", "").status(&done));
    let run = ralph(&sandbox).args(["run", "--yes", "--once", "--test-cmd", "true", "--agent-cmd"]);
    run.arg(agent.path()).run().assert_code(0);
    let path = ".git/ralph/evidence.jsonl";
    let ledger = sandbox.read(path);
    assert_eq!(finding(&examined(&sandbox, &[], 0), "evidence"), ("held", "2 records"));
    let first = ledger.lines().next().expect("a record").to_owned() + "\n";
    for cut in [first.as_str(), ""] {
        sandbox.write(path, cut);
        let told = examined(&sandbox, &[], 1);
        let (outcome, text) = finding(&told, "evidence");
        assert!(outcome == "failed" && text.contains("is gone"), "{text}");
    }
}

#[test]
fn a_lock_that_cannot_be_looked_at_or_does_not_say_whose_it_is_is_told() {
    let sandbox = healthy();
    let agent = one_call(&sandbox, says_done());
    run(&sandbox, &agent).args(["--reviews", "0"]).run().assert_code(0);
    let lock = sandbox.project().join(".git/ralph/lock");
    let held = fs::File::open(&lock).expect("there");
    held.lock().expect("locked");
    assert_eq!(finding(&examined(&sandbox, &[], 0), "lock").0, "warned");
    drop(held);
    fs::remove_file(&lock).expect("removed");
    symlink("lock", &lock).expect("linked");
    let told = examined(&sandbox, &[], 1);
    assert!(finding(&told, "lock").1.starts_with("cannot be looked at"), "{told:#}");
}

#[test]
fn a_folder_that_others_can_look_into_is_a_warning() {
    let sandbox = healthy();
    let agent = one_call(&sandbox, says_done());
    run(&sandbox, &agent).args(["--reviews", "0"]).run().assert_code(0);
    let truth = sandbox.project().join(".git/ralph");
    fs::set_permissions(&truth, fs::Permissions::from_mode(0o755)).expect("changed");
    let told = examined(&sandbox, &[], 0);
    assert_eq!(finding(&told, "privacy").0, "warned");
}

#[test]
fn a_run_that_goes_on_is_no_trouble() {
    let sandbox = healthy();
    let agent = one_call(&sandbox, says_done().reach("working").hold("go"));
    let running = run(&sandbox, &agent).args(["--reviews", "0"]).spawn();
    sandbox.wait_for("working");
    let told = examined(&sandbox, &[], 0);
    assert!(
        finding(&told, "lock").1.starts_with(&format!("a run is going on (pid {}", running.id())),
        "{told:#}"
    );
    sandbox.release("go");
    running.wait().assert_code(0);
}

#[test]
fn a_folder_without_git_and_one_without_a_work_tree_are_told_apart() {
    let sandbox = Sandbox::new();
    sandbox.install_script("claude", "#!/bin/sh\necho 2\n");
    assert!(finding(&examined(&sandbox, &[], 0), "project").1.ends_with("a folder without git"));
    sandbox.git(&["init", "--quiet", "--bare", "."]);
    assert_eq!(finding(&examined(&sandbox, &[], 1), "project").0, "failed");
}
