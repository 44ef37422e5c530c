//! Before anything is selected: the boot ritual, trust, the advisory lock, the branch, and a dry run.

use ralph_testkit::{Sandbox, Schema, StatusBlock, Steps};
use serde_json::{Value, json};

use crate::common::{one_call, ralph, repository, run};
use crate::stage::{
    HARNESS, another, claims, commits, item, item_now, two_items, worker, works_through, writer, writes,
};

const INIT: &str = ".claude/harness/init.sh";

fn with_init(script: &str) -> Sandbox {
    let sandbox = two_items();
    sandbox.write(INIT, script);
    sandbox.commit_all("init");
    sandbox
}

#[test]
fn a_worker_selects_nothing_until_init_sh_passes() {
    let sandbox =
        with_init("#!/bin/sh\npwd > ../../where\necho 'the build is broken' >&2\ntest -e ../../fixed\n");
    let agent = writer(&sandbox, &["one.txt"]);
    let finished = worker(&sandbox, &agent).run();
    finished
        .assert_code(1)
        .assert_stderr_has("Fix build before running Ralph Loop")
        .assert_stderr_has("it printed last: the build is broken");
    assert!(agent.calls(&sandbox).is_empty());
    assert_eq!(item_now(&sandbox, "FEAT-1")["attempts"], json!([]));
    assert!(sandbox.read("where").trim_end().ends_with("/.claude/harness"));
    sandbox.write("fixed", "");
    worker(&sandbox, &agent).run().assert_code(0);
    // It is asked each time, also by a run that goes on.
    assert!(sandbox.command("rm").arg("fixed").status().expect("start rm").success());
    worker(&sandbox, &agent).run().assert_code(1);
    // Other profiles have no such ritual, unless told.
    let other = works_through(&sandbox, &agent).args(["--fresh", "--once", "--backlog", HARNESS]);
    other.run().assert_code(3);
}

#[test]
fn commands_of_a_harness_need_trust_and_changed_ones_are_asked_about_again() {
    let sandbox = with_init("#!/bin/sh\ntouch booted\n");
    let agent = writer(&sandbox, &["one.txt", "two.txt"]);
    let run = || ralph(&sandbox).args(["run", "--profile", "worker", "--agent-cmd"]).arg(agent.path());
    let refused = run().run();
    refused
        .assert_code(64)
        .assert_stderr_has("nobody has agreed to run")
        .assert_stderr_has("test -e one.txt");
    refused.assert_stderr_has(INIT).assert_stderr_has("add --yes");
    assert!(!sandbox.exists(".claude/harness/booted"));
    run().arg("--yes").run().assert_code(0);
    assert!(sandbox.exists(".claude/harness/booted"));
    let known = sandbox.read(INIT);
    sandbox.write(INIT, "#!/bin/sh\ntouch other\n");
    run().run().assert_code(64).assert_stderr_has(INIT);
    sandbox.write(INIT, known);
    run().run().assert_code(0);
    // What proved them is run together, once. With nothing left to do nothing is run, so nobody has to agree.
    run().run().assert_code(7);
    sandbox.write(INIT, "#!/bin/sh\ntouch other\n");
    run().run().assert_code(7);
    assert!(!sandbox.exists(".claude/harness/other"));
}

#[test]
fn the_advisory_lock_tells_who_works_on_what_and_is_gone_afterwards() {
    let sandbox = two_items();
    let agent = another(&sandbox).call(claims(writes("one.txt").reach("there").hold("go"))).install(&sandbox);
    let running = worker(&sandbox, &agent).spawn();
    sandbox.wait_for("there");
    let lock: Value = serde_json::from_str(&sandbox.read(".harness.lock")).expect("JSON");
    let mut keys: Vec<&String> = lock.as_object().expect("an object").keys().collect();
    keys.sort();
    assert_eq!(keys, ["agent_id", "feature_id", "hostname", "timestamp"]);
    assert_eq!(lock["feature_id"], "FEAT-1");
    sandbox.release("go");
    running.wait().assert_code(0).assert_stderr_lacks(".harness.lock");
    assert!(!sandbox.exists(".harness.lock"));

    let foreign = |at: String| json!({"agent_id": "worker-7", "timestamp": at, "feature_id": "FEAT-2", "hostname": "elsewhere"});
    let now = sandbox.command("date").args(["-u", "+%Y-%m-%dT%H:%M:%SZ"]).output().expect("date");
    let now = String::from_utf8_lossy(&now.stdout).trim().to_owned();
    sandbox.write(".harness.lock", foreign(now).to_string());
    let agent = writer(&sandbox, &["two.txt"]);
    worker(&sandbox, &agent).run().assert_code(0).assert_stderr_has("worker-7 on elsewhere works on FEAT-2");
    assert!(sandbox.read(".harness.lock").contains("worker-7"), "it is another's, and stays");
    // After half an hour nobody is there any more.
    for (age, warns) in [("29 minutes ago", true), ("31 minutes ago", false)] {
        let sandbox = two_items();
        let at =
            sandbox.command("date").args(["-u", "-d", age, "+%Y-%m-%dT%H:%M:%SZ"]).output().expect("date");
        let at = String::from_utf8_lossy(&at.stdout).trim().to_owned();
        sandbox.write(".harness.lock", foreign(at).to_string());
        let finished = worker(&sandbox, &writer(&sandbox, &["one.txt"])).run();
        finished.assert_code(0);
        assert_eq!(finished.stderr.contains("worker-7 on elsewhere"), warns, "{age}: {finished}");
    }
}

#[test]
fn on_the_default_branch_it_is_said_and_another_one_can_be_begun() {
    let sandbox = two_items();
    let agent = writer(&sandbox, &["one.txt", "two.txt"]);
    worker(&sandbox, &agent)
        .run()
        .assert_code(0)
        .assert_stderr_has("committed on main, the default branch")
        .assert_stderr_has("--branch NAME");
    let main = sandbox.git(&["rev-parse", "main"]);
    let finished = worker(&sandbox, &agent).args(["--branch", "ralph/work"]).run();
    finished.assert_code(0).assert_stderr_lacks("default branch");
    finished.assert_stderr_has("[ralph] you are on branch ralph/work; back: git switch main");
    assert_eq!(sandbox.git(&["branch", "--show-current"]), "ralph/work");
    assert_eq!((sandbox.git(&["rev-parse", "main"]), commits(&sandbox)), (main, 4));
    // On it already, that is no error; from elsewhere an existing branch is left alone.
    worker(&sandbox, &agent).args(["--branch", "ralph/work"]).run().assert_code(7);
    sandbox.git(&["checkout", "--quiet", "-f", "main"]);
    worker(&sandbox, &agent)
        .args(["--branch", "ralph/work"])
        .run()
        .assert_code(64)
        .assert_stderr_has("there is a branch ralph/work already");
}

#[test]
fn a_branch_for_a_goal_gets_the_commit_without_another_word() {
    let sandbox = repository();
    let agent = one_call(&sandbox, Steps::new().write("new.txt", "new\n").status(&StatusBlock::done()));
    let main = sandbox.git(&["rev-parse", "main"]);
    let goal = run(&sandbox, &agent).args(["--branch", "b", "--reviews", "0", "--test-cmd", "true"]).run();
    goal.assert_code(0).assert_stderr_has("commits go to the new branch b");
    assert_eq!(sandbox.git(&["branch", "--show-current"]), "b");
    assert_eq!(sandbox.git(&["show", "b:new.txt"]), "new");
    assert_eq!(sandbox.git(&["rev-parse", "main"]), main);
    let bare = Sandbox::new();
    let refused = ralph(&bare).args(["run", "x", "--yes", "--branch", "b", "--agent-cmd", "true"]).run();
    refused.assert_code(64).assert_stderr_has("--branch needs a git repository");
}

#[test]
fn a_dry_run_shows_everything_and_writes_nothing() {
    let sandbox = with_init("#!/bin/sh\ntouch ../../booted\n");
    let agent = writer(&sandbox, &["one.txt"]);
    let before = sandbox.user_git_state();
    let shown =
        worker(&sandbox, &agent).args(["--dry-run", "--branch", "b", "--test-cmd", "make test"]).run();
    shown.assert_code(0);
    for part in [
        "FEAT-1 make one.txt (attempt 1/3)",
        "test -e one.txt",
        "make test",
        "5 iterations",
        "one for each item",
        "init.sh",
        "---RALPH_STATUS---",
        "one.txt is there",
        "agent-0",
    ] {
        shown.assert_stdout_has(part);
    }
    before.assert_same(&sandbox.user_git_state());
    assert!(!sandbox.exists(".ralph") && !sandbox.exists(".git/ralph") && !sandbox.exists("booted"));
    assert!(agent.calls(&sandbox).is_empty());
    assert_eq!(std::fs::read_dir(sandbox.home()).expect("home").count(), 1, "no trust is remembered");
    let goal = ralph(&sandbox).args(["run", "shine", "--dry-run", "--agent-cmd"]).arg(agent.path()).run();
    goal.assert_code(0)
        .assert_stdout_has("# Goal")
        .assert_stdout_has("shine")
        .assert_stdout_has("ralph makes none");
    worker(&sandbox, &agent).run().assert_code(0);
    let blocked = worker(&sandbox, &agent).args(["--task", "FEAT-1", "--dry-run"]).run();
    blocked.assert_code(0).assert_stdout_has("No agent would be started");
}

#[test]
fn what_an_item_s_events_tell_is_as_published() {
    let sandbox = two_items();
    let agent = writer(&sandbox, &["wrong.txt", "one.txt"]);
    let finished = worker(&sandbox, &agent).args(["--all", "--task", "FEAT-1", "--json"]).run();
    finished.assert_code(0);
    let events = finished.json_lines();
    let schema = Schema::published("ralph.event/1");
    events.iter().for_each(|event| schema.assert(event));
    let of = |kind: &str| events.iter().filter(|event| event["type"] == kind).cloned().collect::<Vec<_>>();
    let begun: Vec<_> =
        of("iteration_started").iter().map(|event| event["item"]["attempt"].clone()).collect();
    assert_eq!(begun, [1, 2]);
    let settled = of("settled");
    assert_eq!((&settled[0]["attempt"], &settled[0]["reverted"]), (&json!("FAILED"), &json!(true)));
    assert_eq!(settled[1]["commit"], json!(sandbox.git(&["rev-parse", "HEAD"])));
    assert_eq!(
        of("stop")[0]["items"],
        json!({"passed": 1, "unchecked": 0, "without_change": 0, "open": 0, "total": 1})
    );
    assert_eq!((&of("stop")[0]["commits"], &of("stop")[0]["commits_by_agents"]), (&json!(1), &json!(0)));
    assert_eq!(of("stop")[0]["flags"], json!([]));
    let _ = item("x", "y");
}

#[test]
fn without_an_init_sh_a_worker_asks_for_what_the_doctor_does() {
    let sandbox = two_items();
    let agent = writer(&sandbox, &["one.txt"]);
    sandbox.write(".ralph/config.toml", "[checks]\nlint = \"no-such-program --all\"\n");
    let finished = worker(&sandbox, &agent).run();
    finished.assert_code(1).assert_stderr_has("Fix build before running Ralph Loop");
    finished
        .assert_stderr_has("no-such-program is not there, or cannot be run")
        .assert_stderr_has("ralph doctor");
    assert!(agent.calls(&sandbox).is_empty());
    sandbox.write(".ralph/config.toml", "");
    worker(&sandbox, &agent).run().assert_code(0);
}
