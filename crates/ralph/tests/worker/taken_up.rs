//! ralph is interrupted or killed after its agent has ended, the user works on, and the same command goes on: what the user did
//! is neither put back nor committed.

use ralph_testkit::{InstalledAgent, RalphCommand, Sandbox, Signal};
use serde_json::json;

use crate::common::{history, ralph, run};
use crate::stage::{another, claims, commits, files_of, harness, item, item_now, recorded, worker, writes};

/// How ralph comes to its end.
#[derive(Debug, Clone, Copy)]
enum By {
    Interrupt,
    Kill,
}

const BOTH: [By; 2] = [By::Interrupt, By::Kill];

/// Tells that it runs, goes on when it is let go, and is green where `one.txt` is.
fn slow_check(sandbox: &Sandbox) -> String {
    let (here, go) = (sandbox.point("checking"), sandbox.point("let-go"));
    format!("echo > '{}'; read _ < '{}'; test -e one.txt", here.display(), go.display())
}

/// An item that is proved by that, among files of the project.
fn project() -> Sandbox {
    let sandbox = harness(&[]);
    let mut slow = item("FEAT-1", "one.txt");
    slow["verification"] = json!([slow_check(&sandbox)]);
    crate::stage::write_items(&sandbox, &[slow]);
    sandbox.write("both.txt", "first\n");
    sandbox.write("kept.txt", "kept\n");
    sandbox.commit_all("a slow item");
    sandbox
}

/// The command is cut off while the check runs, and goes on later: what it said then.
fn cut_off(sandbox: &Sandbox, command: impl Fn() -> RalphCommand, by: By, work: impl Fn()) -> String {
    let running = command().spawn();
    sandbox.wait_for("checking");
    match by {
        By::Interrupt => running.signal(Signal::INT),
        By::Kill => running.kill9(),
    }
    let code = running.wait().code;
    assert_eq!(code, if matches!(by, By::Kill) { 137 } else { 130 });
    // Of a ralph that was killed the check may wait for a moment, and it is not to be let go.
    sandbox.assert_no_processes();
    work();
    sandbox.release("let-go");
    let finished = command().run();
    finished.to_string()
}

/// New, changed, and changed where the agent had changed it too.
fn users_work(sandbox: &Sandbox) {
    sandbox.write("mine.txt", "mine\n");
    sandbox.write("kept.txt", "kept, and mine\n");
    sandbox.write("both.txt", "first\nthe agent's\nmine\n");
}

fn is_as_the_user_left_it(sandbox: &Sandbox, said: &str) {
    assert_eq!(sandbox.read("mine.txt"), "mine\n", "{said}");
    assert_eq!(sandbox.read("kept.txt"), "kept, and mine\n", "{said}");
    assert_eq!(sandbox.read("both.txt"), "first\nthe agent's\nmine\n", "{said}");
}

fn agent(sandbox: &Sandbox, file: &str) -> InstalledAgent {
    let steps = writes(file).append("both.txt", "the agent's\n");
    another(sandbox).call(claims(steps)).install(sandbox)
}

const TOLD: &str = "changed since the agent ended, and not taken for its work: both.txt, kept.txt, mine.txt";

#[test]
fn a_red_check_after_an_interrupt_puts_back_what_the_agent_did_and_nothing_of_the_user_s() {
    for by in BOTH {
        let sandbox = project();
        let agent = agent(&sandbox, "wrong.txt");
        let said = cut_off(&sandbox, || worker(&sandbox, &agent), by, || users_work(&sandbox));
        is_as_the_user_left_it(&sandbox, &said);
        assert!(!sandbox.exists("wrong.txt"), "{by:?}: {said}");
        assert!(said.contains(TOLD), "{by:?}: {said}");
        assert!(said.contains("changed since the attempt, and left as it is: both.txt"), "{by:?}: {said}");
        assert_eq!(item_now(&sandbox, "FEAT-1")["attempts"].as_array().map(Vec::len), Some(1), "{said}");
        assert_eq!(history(&sandbox)[0]["files_changed"], 2, "wrong.txt and both.txt: {said}");
    }
}

#[test]
fn a_green_check_after_an_interrupt_commits_what_the_agent_did_and_nothing_of_the_user_s() {
    for by in BOTH {
        let sandbox = project();
        let agent = agent(&sandbox, "one.txt");
        let said = cut_off(&sandbox, || worker(&sandbox, &agent), by, || users_work(&sandbox));
        is_as_the_user_left_it(&sandbox, &said);
        assert_eq!(files_of(&sandbox, "HEAD"), ["A one.txt"], "{by:?}: {said}");
        assert!(said.contains(TOLD), "{by:?}: {said}");
        assert_eq!(sandbox.git(&["status", "--porcelain", "mine.txt"]), "?? mine.txt", "{said}");
        assert_eq!(recorded(&sandbox, "commit"), 1, "{said}");
    }
}

#[test]
fn what_is_committed_for_a_goal_after_an_interrupt_is_the_agent_s_alone() {
    for by in BOTH {
        let sandbox = project();
        let steps = writes("one.txt").append("both.txt", "the agent's\n");
        let agent = another(&sandbox).call(says_done_after(steps)).install(&sandbox);
        let check = slow_check(&sandbox);
        let goal = || {
            let command = run(&sandbox, &agent);
            command.args(["--reviews", "0", "--commit", "--set", "baseline=off", "--test-cmd", &check])
        };
        let said = cut_off(&sandbox, goal, by, || users_work(&sandbox));
        is_as_the_user_left_it(&sandbox, &said);
        assert_eq!(files_of(&sandbox, "HEAD"), ["A one.txt"], "{by:?}: {said}");
        assert!(said.contains(TOLD), "{by:?}: {said}");
    }
}

fn says_done_after(steps: ralph_testkit::Steps) -> ralph_testkit::Steps {
    steps.say("All done.").status(&ralph_testkit::StatusBlock::done())
}

#[test]
fn a_commit_of_the_user_s_after_an_interrupt_is_not_taken_back_and_what_is_staged_stays_staged() {
    for by in BOTH {
        let sandbox = project();
        let agent = agent(&sandbox, "wrong.txt");
        let said = cut_off(
            &sandbox,
            || worker(&sandbox, &agent),
            by,
            || {
                sandbox.write("kept.txt", "kept, and committed\n");
                sandbox.git(&["commit", "--quiet", "-m", "mine", "kept.txt"]);
                sandbox.write("staged.txt", "staged\n");
                sandbox.git(&["add", "staged.txt"]);
            },
        );
        assert_eq!(sandbox.read("kept.txt"), "kept, and committed\n", "{by:?}: {said}");
        assert_eq!(sandbox.git(&["log", "-1", "--format=%s"]), "mine", "{by:?}: {said}");
        assert_eq!(sandbox.git(&["diff", "--cached", "--name-status"]), "A\tstaged.txt", "{by:?}: {said}");
        assert!(!sandbox.exists("wrong.txt"), "{by:?}: {said}");
        assert_eq!(history(&sandbox)[0]["commits"], 0, "{said}");
    }
}

/// The ralph that takes it up knows by the record what was kept.
#[test]
fn what_an_agent_forged_of_that_which_ralph_kept_is_not_believed_by_the_next_ralph() {
    let forged = [
        (
            "git switch --quiet --create elsewhere; sed -i s/main/elsewhere/",
            "stand-before",
            "what ralph had kept of your branch",
        ),
        ("sed -i s/one.txt/two.txt/", "backlog", "ralph's copy of the task file"),
        ("rm", "stand-before", "what ralph had kept of your branch"),
    ];
    for (how, file, told) in forged {
        let sandbox = project();
        let steps = writes("one.txt").shell(&format!("{how} .git/ralph/runs/0001/iteration-000001/{file}"));
        let agent = another(&sandbox).call(claims(steps)).install(&sandbox);
        let said = cut_off(&sandbox, || worker(&sandbox, &agent), By::Kill, || ());
        assert!(said.contains(told), "{how} {file}: {said}");
        assert_eq!(item_now(&sandbox, "FEAT-1")["status"], "FAILING", "{how} {file}: {said}");
        assert_eq!(commits(&sandbox), 3, "{how} {file}: {said}");
    }
}

/// Killed twice: what the user did in between is not the agent's, however often it is measured.
#[test]
fn what_the_user_did_between_two_interrupts_is_told_apart_as_well() {
    let sandbox = project();
    let agent = agent(&sandbox, "wrong.txt");
    let first = worker(&sandbox, &agent).spawn();
    sandbox.wait_for("checking");
    first.kill9();
    first.wait();
    sandbox.assert_no_processes();
    sandbox.write("mine.txt", "mine\n");
    let said = cut_off(
        &sandbox,
        || worker(&sandbox, &agent),
        By::Interrupt,
        || sandbox.write("later.txt", "mine too\n"),
    );
    assert_eq!(sandbox.read("mine.txt"), "mine\n", "{said}");
    assert_eq!(sandbox.read("later.txt"), "mine too\n", "{said}");
    assert!(!sandbox.exists("wrong.txt"), "{said}");
    assert_eq!(history(&sandbox)[0]["files_changed"], 2, "{said}");
}

/// Nobody had measured what the agent left: what was written after its end is told by the times of the files.
#[test]
fn what_is_written_between_the_agent_s_end_and_the_first_measurement_is_not_its_work() {
    let sandbox = harness(&[item("FEAT-1", "one.txt")]);
    sandbox.write("kept.txt", "kept\n");
    sandbox.commit_all("more");
    let steps = writes("wrong.txt").reach("working");
    let agent = another(&sandbox).call(claims(steps)).install(&sandbox);
    let list = sandbox.root().join("tmp/points");
    let ended = worker(&sandbox, &agent)
        .env("RALPH_CRASH_POINTS", &list)
        .env("RALPH_CRASH_POINT", "kill:wait for git status#3")
        .run();
    ended.assert_code(137);
    assert!(sandbox.exists("wrong.txt"), "{ended}");
    sandbox.write("mine.txt", "mine\n");
    sandbox.write("kept.txt", "kept, and mine\n");
    sandbox.git(&["commit", "--quiet", "-m", "mine", "kept.txt"]);
    let finished = worker(&sandbox, &agent).run();
    finished
        .assert_stderr_has("changed since the agent ended, and not taken for its work: kept.txt, mine.txt");
    assert_eq!(sandbox.read("mine.txt"), "mine\n");
    assert_eq!(sandbox.read("kept.txt"), "kept, and mine\n");
    assert!(!sandbox.exists("wrong.txt"), "{finished}");
    assert!(commits(&sandbox) >= 3, "{finished}");
}

#[test]
fn what_is_done_again_after_an_interrupted_iteration_was_undone_is_committed() {
    for taken_back in [false, true] {
        let sandbox = harness(&[item("FEAT-1", "one.txt"), item("FEAT-2", "two.txt")]);
        let held = writes("two.txt").reach("here").hold("never");
        let last = if taken_back { writes("three.txt") } else { writes("two.txt") };
        let agent =
            another(&sandbox).call(claims(writes("one.txt"))).call(held).call(claims(last)).install(&sandbox);
        let command = || worker(&sandbox, &agent).arg("--all");
        let running = command().spawn();
        sandbox.wait_for("here");
        running.signal(Signal::INT);
        running.wait().assert_code(130);
        let undone = ralph(&sandbox).args(["undo", "2"]).run();
        undone.assert_code(0);
        assert!(!sandbox.exists("two.txt"));
        if taken_back {
            let line = undone.stderr.lines().find(|line| line.contains("undo --to")).expect("the way back");
            let tree = line.rsplit(' ').next().expect("a snapshot");
            ralph(&sandbox).args(["undo", "--to", tree]).run().assert_code(0);
        }
        let finished = command().run();
        finished.assert_code(0).assert_stderr_lacks("not clean before");
        let files = files_of(&sandbox, "HEAD");
        assert!(files.contains(&"A two.txt".to_owned()), "{taken_back}: {files:?}\n{finished}");
    }
}
