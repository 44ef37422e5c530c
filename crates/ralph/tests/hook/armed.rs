//! Arming and letting go, beside others who do it at the same time, and cut off in between.

use std::fs::{self, File};
use std::time::Duration;

use ralph_testkit::{Running, Sandbox};
use serde_json::{Value, json};

use crate::common::{GOAL, one_call, outcomes, ralph, repository, run, says_done, status};
use crate::{SESSION, arm, done, is_blocked, more, starts, stops};

/// The lock of the project, as another ralph would have it.
fn lock(sandbox: &Sandbox) -> File {
    let path = sandbox.project().join(".git/ralph/lock");
    let lock = File::options().write(true).open(path).expect("a lock");
    lock.lock().expect("free");
    lock
}

/// Until the process is in the kernel's list of those who wait for a lock.
fn waits_for_a_lock(process: &Running) {
    let waiting = || {
        let locks = fs::read_to_string("/proc/locks").expect("Linux tells who waits");
        let id = process.id().to_string();
        locks.lines().any(|line| line.contains("-> ") && line.split_whitespace().any(|word| word == id))
    };
    while !waiting() {
        assert!(!process.ends_within(Duration::from_millis(1)), "it did not wait");
    }
}

/// Until the process has waited for a lock in vain, and waits anew: each time with a thread.
fn waits_for_longer(process: &Running) {
    let threads = || fs::read_dir(format!("/proc/{}/task", process.id())).map_or(0, Iterator::count);
    while threads() < 3 {
        assert!(!process.ends_within(Duration::from_millis(1)), "it did not wait any longer");
    }
}

fn message(answer: &str) -> String {
    let answer: Value = serde_json::from_str(answer).unwrap_or_else(|_| panic!("no JSON: {answer:?}"));
    answer["systemMessage"].as_str().expect("a message").to_owned()
}

#[test]
fn a_session_that_starts_while_another_hook_is_at_work_waits_for_its_turn() {
    let sandbox = repository();
    arm(&sandbox, &[]);
    let busy = lock(&sandbox);
    let told = json!({"session_id": "new", "source": "startup"}).to_string();
    let start = ralph(&sandbox).args(["hook", "session"]).stdin(told).spawn();
    waits_for_a_lock(&start);
    busy.unlock().expect("held");
    start.wait().assert_code(0).assert_stdout_has(GOAL);
    assert!(is_blocked(stops(&sandbox, "new", &more()).as_ref()));
}

#[test]
fn a_session_that_starts_beside_a_run_is_told_that_it_is_not_held_and_what_to_do() {
    let sandbox = repository();
    arm(&sandbox, &[]);
    let busy = lock(&sandbox);
    let said = message(&starts(&sandbox, "new", "startup"));
    for part in ["ralph does not hold this session, because", "another run", "start another one"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    busy.unlock().expect("held");
    assert_eq!(stops(&sandbox, "new", &more()), None, "as it was said");
    assert!(starts(&sandbox, "newer", "startup").contains(GOAL), "the next one is waited for still");
}

#[test]
fn a_session_that_was_there_before_waits_for_nobody_and_changes_nothing() {
    let sandbox = repository();
    arm(&sandbox, &[]);
    let armed = sandbox.read(".git/ralph/hook.json");
    let busy = lock(&sandbox);
    for source in ["resume", "clear", "compact"] {
        assert_eq!(starts(&sandbox, "old", source), "");
        assert_eq!(stops(&sandbox, "old", &more()), None);
    }
    busy.unlock().expect("held");
    assert_eq!(sandbox.read(".git/ralph/hook.json"), armed);
}

#[test]
fn a_session_that_could_not_be_told_its_goal_is_told_when_it_stops() {
    for (how, says) in [("panic", "a fault of its own"), ("enospc", "No space left")] {
        let sandbox = repository();
        arm(&sandbox, &[]);
        let told = json!({"session_id": "new", "source": "startup"}).to_string();
        let start = ralph(&sandbox).args(["hook", "session"]).stdin(told);
        let start = start
            .env("RALPH_CRASH_POINTS", sandbox.root().join("tmp/points"))
            .env("RALPH_CRASH_POINT", format!("{how}:append to journal.jsonl#1"));
        let said = message(&start.run().assert_code(0).stdout);
        assert!(said.contains("ralph holds this session, but could not tell it its goal"), "{said}");
        assert!(said.contains(says), "{said}");
        let answer = stops(&sandbox, "new", &more()).expect("an answer");
        assert!(is_blocked(Some(&answer)) && answer["reason"].to_string().contains(GOAL), "{answer}");
    }
}

#[test]
fn what_an_earlier_ralph_armed_is_held_by_the_same_rules() {
    let sandbox = repository();
    arm(&sandbox, &[]);
    let mut old: Value = serde_json::from_str(&sandbox.read(".git/ralph/hook.json")).expect("JSON");
    old["others"] = json!(["old"]);
    sandbox.write(".git/ralph/hook.json", old.to_string());
    assert_eq!(stops(&sandbox, "old", &more()), None);
    assert!(starts(&sandbox, "new", "startup").contains(GOAL));
    assert!(is_blocked(stops(&sandbox, "new", &more()).as_ref()));
}

#[test]
fn a_session_that_starts_when_all_is_over_is_told_so() {
    let sandbox = repository();
    arm(&sandbox, &[]);
    ralph(&sandbox).arg("reset").run().assert_code(0);
    let said = message(&starts(&sandbox, "new", "startup"));
    assert!(said.contains("ralph holds no session here"), "{said}");
    assert_eq!(starts(&sandbox, "newer", "startup"), "", "it is said once");
}

#[test]
fn letting_go_beside_somebody_at_work_changes_nothing_or_all() {
    let sandbox = repository();
    arm(&sandbox, &["--session", SESSION]);
    let busy = lock(&sandbox);
    let refused = ralph(&sandbox).args(["hook", "disarm"]).run();
    refused.assert_code(1).assert_stderr_has("another run is going on");
    assert!(sandbox.exists(".git/ralph/hook.json"), "it is still held");
    let disarm = ralph(&sandbox).args(["hook", "disarm"]).spawn();
    waits_for_a_lock(&disarm);
    busy.unlock().expect("held");
    disarm.wait().assert_code(0).assert_stderr_has("disarmed");
    assert_eq!(status(&sandbox)["stop_reason"], "closed");
    assert_eq!(stops(&sandbox, SESSION, &more()), None);
}

#[test]
fn a_number_before_the_goal_is_the_limit_and_no_goal_of_its_own() {
    let arms = |given: &str| {
        let sandbox = repository();
        let args = ["hook", "arm", "--leading-number", "--whole", "M", "--session", SESSION, "-"];
        let armed = ralph(&sandbox).args(args).stdin(format!("{given}\nM\n")).run();
        (armed, ralph(&sandbox).args(["hook", "status", "--json"]).run().json())
    };
    for empty in ["10", " 10 ", "", "\n10\n"] {
        let (refused, status) = arms(empty);
        // Without words it is the next item that is meant, and there is none.
        refused.assert_code(64).assert_stderr_has("there is no backlog here");
        refused.assert_stderr_has("/ralph-loop N GOAL, for a goal of your own");
        assert_eq!(status["armed"], false, "{empty:?}");
    }
    for (given, goal, most) in
        [("10 go on", "go on", 10), ("10\ngo", "go", 10), ("ten go", "ten go", 50), ("go", "go", 50)]
    {
        let (armed, status) = arms(given);
        armed.assert_code(0);
        assert_eq!((&status["goal"], &status["max_iterations"]), (&json!(goal), &json!(most)), "{given:?}");
    }
}

#[test]
fn of_two_who_arm_at_once_one_is_refused() {
    let sandbox = repository();
    let arms: Vec<_> = (0..3).map(|_| ralph(&sandbox).args(["hook", "arm", GOAL]).spawn()).collect();
    let mut codes: Vec<i32> = arms.into_iter().map(|arm| arm.wait().code).collect();
    codes.sort_unstable();
    assert_eq!(codes, [0, 1, 1]);
}

#[test]
fn arming_that_is_cut_off_is_named_and_can_be_closed_or_begun_anew() {
    for way_out in [&["hook", "disarm"][..], &["reset"], &["hook", "arm", "another goal"]] {
        let sandbox = repository();
        let points = sandbox.root().join("tmp/points");
        let killed = ralph(&sandbox)
            .args(["hook", "arm", GOAL])
            .env("RALPH_CRASH_POINTS", &points)
            .env("RALPH_CRASH_POINT", "kill:create .hook.json.new#1")
            .run();
        killed.assert_code(137);
        let shown = ralph(&sandbox).arg("status").run();
        shown.assert_stdout_has("ralph hook arm").assert_stdout_has("ralph reset");
        ralph(&sandbox).args(way_out).run().assert_code(0);
        let after = status(&sandbox);
        match way_out {
            ["hook", "arm", goal] => {
                assert_eq!((&after["goal"], &after["running"]), (&json!(goal), &json!(true)));
            }
            _ => assert_eq!(after["stop_reason"], "closed"),
        }
    }
}

#[test]
fn letting_go_that_is_cut_off_anywhere_is_finished_by_the_next() {
    let points_of = |strike: &str| {
        let sandbox = repository();
        arm(&sandbox, &["--session", SESSION]);
        let points = sandbox.root().join("tmp/points");
        let disarm = ralph(&sandbox).args(["hook", "disarm"]);
        disarm.env("RALPH_CRASH_POINTS", &points).env("RALPH_CRASH_POINT", strike).run();
        let passed: Vec<String> = sandbox.read(&points).lines().map(str::to_owned).collect();
        (sandbox, passed)
    };
    let (_, points) = points_of("");
    assert!(points.iter().any(|point| point == "remove hook.json"), "{points:?}");
    for (nth, point) in points.iter().enumerate() {
        let times = points[..=nth].iter().filter(|known| *known == point).count();
        let (sandbox, _) = points_of(&format!("kill:{point}#{times}"));
        ralph(&sandbox).args(["hook", "disarm"]).run().assert_code(0);
        assert_eq!(status(&sandbox)["stop_reason"], "closed", "after {point}#{times}");
        assert!(!sandbox.exists(".git/ralph/hook.json"), "after {point}#{times}");
    }
}

#[test]
fn in_script_mode_ralph_starts_the_agent_itself_and_holds_no_session() {
    let sandbox = repository();
    let agent = one_call(&sandbox, says_done());
    let run = |mode: &str| run(&sandbox, &agent).args(["--reviews", "0", "--mode", mode]).run();
    run("script").assert_code(0);
    assert_eq!((sandbox.agent_calls().len(), sandbox.exists(".git/ralph/hook.json")), (1, false));
    run("scrpt").assert_code(64).assert_stderr_has("script");
    run("hook").assert_code(64);
    assert_eq!(sandbox.agent_calls().len(), 1);
}

#[test]
fn a_session_is_held_by_its_own_rules_and_what_the_settings_say_in_vain_is_named() {
    let sandbox = repository();
    sandbox.write(
        ".ralph/config.toml",
        "profile = 'strict'\n[policy]\nreviews = 4\nmax_iterations = 7\n[checks]\ntest = 'false'\n\
         [agents.claude]\nmodel = 'opus'\n",
    );
    ralph(&sandbox).args(["config", "show"]).run().assert_stderr_has("ralph hook arm");
    sandbox.write(
        "../home/.config/ralph/config.toml",
        "backlog = 'prd.json'\npool = ['claude']\npermissions = 'edits'\n",
    );
    let armed = arm(&sandbox, &["--session", SESSION]);
    for part in [
        "profile (.ralph/config.toml:1)",
        "policy.reviews (.ralph/config.toml:3)",
        "checks.test",
        "agents.claude.model (.ralph/config.toml:8)",
        "backlog (~/.config/ralph/config.toml:1)",
        "pool (~/.config/ralph/config.toml:2)",
        "permissions (~/.config/ralph/config.toml:3)",
    ] {
        armed.assert_stderr_has(part);
    }
    assert!(!armed.stderr.contains("max_iterations"), "{}", armed.stderr);
    assert_eq!(status(&sandbox)["max_iterations"], 7);
    ralph(&sandbox).arg("status").run().assert_stdout_has("reviews:    none wanted");
    let let_go = stops(&sandbox, SESSION, &done()).expect("an answer");
    assert_eq!(let_go.get("decision"), None, "the words count, at once: {let_go}");
    let armed = arm(&sandbox, &["--session", SESSION, "--profile", "strict", "--set", "reviews=2"]);
    assert!(
        !armed.stderr.contains("policy.reviews") && !armed.stderr.contains("profile ("),
        "{}",
        armed.stderr
    );
    ralph(&sandbox).arg("status").run().assert_stdout_has("reviews:    0/2");
}

#[test]
fn arming_warns_of_another_loop_and_not_of_a_check_that_was_given() {
    let sandbox = repository();
    let quiet = arm(&sandbox, &["--test-cmd", "true"]);
    quiet.assert_stderr_lacks("runs no checks").assert_stderr_lacks("plugin");
    ralph(&sandbox).args(["hook", "disarm"]).run().assert_code(0);
    let plugin = |active: bool| format!("---\nactive: {active}\niteration: 3\n---\n\nGo on.\n");
    sandbox.write(".claude/ralph-loop.local.md", plugin(true));
    arm(&sandbox, &[]).assert_stderr_has("two loops would hold one session");
    ralph(&sandbox).args(["hook", "disarm"]).run().assert_code(0);
    sandbox.write(".claude/ralph-loop.local.md", plugin(false));
    arm(&sandbox, &[]).assert_stderr_lacks("plugin");
}

#[test]
fn hooks_that_are_fired_for_the_same_stop_are_one_iteration_and_one_answers() {
    let sandbox = repository();
    arm(&sandbox, &["--session", SESSION]);
    let lock = lock(&sandbox);
    let told = json!({"session_id": SESSION, "last_assistant_message": more()}).to_string();
    let hooks = [(); 2].map(|()| ralph(&sandbox).args(["hook", "stop"]).stdin(told.clone()).spawn());
    hooks.iter().for_each(waits_for_a_lock);
    drop(lock);
    let answers = hooks.map(|hook| hook.wait().stdout);
    let blocked = answers.iter().filter(|answer| answer.contains("\"block\"")).count();
    assert_eq!((blocked, answers.iter().filter(|answer| answer.is_empty()).count()), (1, 1), "{answers:?}");
    let concluded = || outcomes(&sandbox).iter().filter(|(_, outcome)| outcome == "more").count();
    assert_eq!(concluded(), 1);
    assert!(is_blocked(stops(&sandbox, SESSION, &more()).as_ref()), "the next stop is another");
    assert_eq!(concluded(), 2);
}

/// Two hooks that are fired for the same stop; the first is at a check that goes on until there is a file `go`, and the
/// second has waited for its turn in vain.
fn two_at_a_long_check(sandbox: &Sandbox) -> [Running; 2] {
    let check = "echo x >> ../at-work; until test -e ../go; do sleep 0.02; done; test -e green";
    arm(sandbox, &["--session", SESSION, "--test-cmd", check]);
    let told = json!({"session_id": SESSION, "last_assistant_message": done()}).to_string();
    let fire = || ralph(sandbox).args(["hook", "stop"]).stdin(told.clone()).spawn();
    let lock = lock(sandbox);
    let hooks = [fire(), fire()];
    hooks.iter().for_each(waits_for_a_lock);
    drop(lock);
    while !sandbox.exists("../at-work") {
        assert!(!hooks[0].ends_within(Duration::from_millis(1)), "it ran no check");
    }
    let holder: Value = serde_json::from_str(&sandbox.read(".git/ralph/lock")).expect("who holds it");
    let [one, other] = hooks;
    let (first, second) = if holder["pid"] == one.id() { (one, other) } else { (other, one) };
    waits_for_longer(&second);
    [first, second]
}

#[test]
fn a_hook_says_nothing_where_another_one_is_long_at_the_checks_of_the_same_stop() {
    let sandbox = repository();
    let [first, second] = two_at_a_long_check(&sandbox);
    sandbox.write("../go", "");
    assert!(is_blocked(Some(&first.wait().json())), "the test fails");
    assert_eq!(second.wait().assert_code(0).stdout, "");
    assert_eq!(outcomes(&sandbox)[0], (1, "refused".to_owned()));
    assert_eq!(sandbox.read("../at-work"), "x\n", "it was one stop");
}

#[test]
fn where_the_first_hook_of_a_stop_is_killed_at_its_checks_the_second_holds_the_session() {
    let sandbox = repository();
    let [first, second] = two_at_a_long_check(&sandbox);
    first.kill9();
    sandbox.write("../go", "");
    let answer = second.wait().assert_code(0).json();
    assert!(is_blocked(Some(&answer)), "{answer}");
    assert!(is_blocked(stops(&sandbox, SESSION, &more()).as_ref()), "and goes on holding it");
}
