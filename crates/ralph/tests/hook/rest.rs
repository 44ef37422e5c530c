//! What is done when a session has its answer: the user is told, and what iterations left is tidied up.

use ralph_testkit::{Sandbox, StatusBlock};
use serde_json::{Value, json};

use crate::common::{GOAL, ralph, repository};
use crate::{SESSION, arm, is_blocked, more, says, stops};

const PROJECT: &str = ".ralph/config.toml";
const USER: &str = "../home/.config/ralph/config.toml";
const LOG: &str =
    "[notify]\ncommand = 'echo \"$RALPH_NOTIFY_EVENT/$RALPH_NOTIFY_GOAL/$RALPH_NOTIFY_TEXT\" >> ../told'\n";

fn told(sandbox: &Sandbox) -> String {
    if sandbox.exists("../told") { sandbox.read("../told") } else { String::new() }
}

fn blocked() -> String {
    says("Help.", &StatusBlock::blocked("a key is missing"))
}

#[test]
fn a_held_run_that_ends_is_told_and_one_that_goes_on_is_not() {
    let sandbox = repository();
    sandbox.write(USER, LOG);
    arm(&sandbox, &["--session", SESSION]);
    assert!(is_blocked(stops(&sandbox, SESSION, &more()).as_ref()));
    assert_eq!(told(&sandbox), "");
    stops(&sandbox, SESSION, &blocked()).expect("an answer");
    let told = told(&sandbox);
    assert!(told.starts_with(&format!("blocked/{GOAL}/Run 1: blocked\n")), "{told}");
    assert!(told.contains("the goal: blocked: a key is missing\n"), "{told}");
}

#[test]
fn the_session_has_its_answer_before_anybody_is_told() {
    let sandbox = repository();
    // It waits for whoever reads the answer.
    sandbox.write(USER, "[notify]\ncommand = 'read -r line < ../answered; echo \"$line\" > ../told'\n");
    let made = sandbox.command("mkfifo").arg("../answered").status();
    assert!(made.expect("mkfifo").success());
    arm(&sandbox, &["--session", SESSION]);
    let stop = json!({"session_id": SESSION, "last_assistant_message": blocked()}).to_string();
    let hook = ralph(&sandbox).args(["hook", "stop"]).stdin(stop).spawn();
    let answer: Value = serde_json::from_str(&hook.wait_for_stdout("systemMessage")).expect("JSON");
    assert!(
        answer["systemMessage"].as_str().is_some_and(|words| words.contains("a key is missing")),
        "{answer}"
    );
    sandbox.write("../answered", "after the answer\n");
    hook.wait().assert_code(0);
    assert_eq!(told(&sandbox), "after the answer\n");
}

#[test]
fn a_command_that_the_project_brings_is_run_only_where_somebody_agreed_to_it() {
    let sandbox = repository();
    sandbox.write(PROJECT, LOG);
    arm(&sandbox, &["--session", SESSION]).assert_stderr_has("ralph notify test");
    stops(&sandbox, SESSION, &blocked()).expect("an answer");
    assert_eq!(told(&sandbox), "");
    ralph(&sandbox).args(["notify", "test", "--yes"]).run().assert_code(0);
    arm(&sandbox, &["--session", SESSION]);
    stops(&sandbox, SESSION, &blocked()).expect("an answer");
    assert!(told(&sandbox).contains("blocked/"), "{}", told(&sandbox));
}

#[test]
fn a_notification_that_hangs_is_ended_and_holds_up_nobody_else() {
    let sandbox = repository();
    sandbox.write(USER, "[notify]\ncommand = 'echo begun > ../told; exec tail -f /dev/null'\n");
    arm(&sandbox, &["--session", SESSION]);
    let stop = json!({"session_id": SESSION, "last_assistant_message": blocked()}).to_string();
    let hook = ralph(&sandbox).args(["hook", "stop"]).stdin(stop).spawn();
    hook.wait_for_stdout("systemMessage");
    ralph(&sandbox).args(["hook", "arm", GOAL]).run().assert_code(0);
    hook.wait().assert_code(0);
    assert_eq!(told(&sandbox), "begun\n");
}

const STORE: &str = ".git/ralph/objects";

/// So many packs that they are made into one.
fn litter(sandbox: &Sandbox) {
    let packs = format!(
        "export GIT_OBJECT_DIRECTORY={STORE}; mkdir -p {STORE}/pack; for i in 1 2 3 4 5 6 7 8; do \
         echo pack $i | git hash-object -w --stdin | git pack-objects -q {STORE}/pack/pack > /dev/null; done"
    );
    assert!(sandbox.command("sh").args(["-c", &packs]).status().expect("sh").success());
}

fn packs(sandbox: &Sandbox) -> usize {
    let found = sandbox.command("sh").args(["-c", &format!("ls {STORE}/pack/*.pack | wc -l")]).output();
    String::from_utf8_lossy(&found.expect("sh").stdout).trim().parse().expect("a number")
}

#[test]
fn snapshots_past_the_retention_are_let_go_and_output_is_packed() {
    let sandbox = repository();
    arm(&sandbox, &["--session", SESSION, "--set", "keep_snapshots=2"]);
    for text in ["1\n", "2\n", "3\n", "4\n"] {
        sandbox.write("a.txt", text);
        assert!(is_blocked(
            stops(&sandbox, SESSION, &says(&"word ".repeat(4000), &StatusBlock::in_progress())).as_ref()
        ));
    }
    litter(&sandbox);
    sandbox.write("a.txt", "5\n");
    assert!(is_blocked(stops(&sandbox, SESSION, &more()).as_ref()));
    assert_eq!(packs(&sandbox), 1, "all packs became one");
    let diff = |n: &str| ralph(&sandbox).args(["history", n, "--diff"]).run();
    diff("2").assert_code(1).assert_stderr_has("not stored any more");
    diff("5").assert_code(0).assert_stdout_has("-4\n+5");
    for n in 1..=4 {
        let packed = format!(".git/ralph/runs/0001/iteration-{n:06}/transcript.out.gz");
        assert!(sandbox.exists(&packed), "{packed}");
    }
}
