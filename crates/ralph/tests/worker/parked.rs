//! Items that cannot be finished now are parked, and the run continues with the others.

use ralph_testkit::{InstalledAgent, RalphCommand, Sandbox, StatusBlock, Steps};
use serde_json::{Value, json};

use crate::common::{ralph, repository, status};
use crate::stage::{
    HARNESS, another, checklist, claims, commits, files_of, harness, item, item_now, ledger, worker,
    works_through, writes,
};

fn blocked(steps: Steps, why: &str) -> Steps {
    steps.say("I cannot go on.").status(&StatusBlock::blocked(why))
}

fn idle() -> Steps {
    Steps::new().say("Still looking.").status(&StatusBlock { tasks: 0, ..StatusBlock::in_progress() })
}

fn reviews() -> Steps {
    Steps::new().say("All done.").status(&StatusBlock::done())
}

fn backlog(sandbox: &Sandbox, args: &[&str]) -> RalphCommand {
    ralph(sandbox).arg("backlog").args(args)
}

/// A run through the whole list, with a check that always passes.
fn night(sandbox: &Sandbox, agent: &InstalledAgent) -> RalphCommand {
    works_through(sandbox, agent).args(["--test-cmd", "true"])
}

fn with(mut item: Value, key: &str, value: Value) -> Value {
    item[key] = value;
    item
}

#[test]
fn a_night_proves_what_can_be_proved_and_parks_the_rest_with_what_to_do() {
    let sandbox = harness(&[
        with(item("A", "a.txt"), "verification", json!(["false"])),
        item("B", "b.txt"),
        item("C", "c.txt"),
        with(item("D", "d.txt"), "dependencies", json!(["C"])),
        item("E", "e.txt"),
    ]);
    let agent = another(&sandbox)
        .call(claims(writes("a.txt")))
        .call(claims(Steps::new()))
        .call(claims(Steps::new()))
        .call(claims(Steps::new()))
        .call(claims(writes("b.txt")))
        .call(blocked(writes("half.txt"), "Postgres or SQLite?"))
        .call(claims(writes("e.txt")))
        .install(&sandbox);
    let finished = night(&sandbox, &agent).run();
    finished.assert_code(2).assert_stderr_has("A is parked: 3 attempts used");
    finished.assert_stderr_has("C is parked: blocked: ").assert_stderr_has("Postgres or SQLite?");
    finished.assert_stderr_has("waiting: D make d.txt: for C");
    finished.assert_stderr_has("to answer C: ralph note --item C \"…\"");
    finished.assert_stderr_has("to leave it out: ralph backlog skip A");
    let statuses =
        |sandbox: &Sandbox| ["A", "B", "C", "D", "E"].map(|id| item_now(sandbox, id)["status"].clone());
    assert_eq!(statuses(&sandbox), ["BLOCKED", "PASSING", "BLOCKED", "FAILING", "PASSING"]);
    for (file, there) in [("a.txt", false), ("half.txt", false), ("b.txt", true), ("e.txt", true)] {
        assert_eq!(sandbox.exists(file), there, "{file}");
    }
    assert_eq!(files_of(&sandbox, "HEAD"), [format!("M {HARNESS}"), "A e.txt".into()]);
    backlog(&sandbox, &["show", "C", "--patch"]).run().assert_code(0).assert_stdout_has("+half.txt");
    backlog(&sandbox, &["list"]).run().assert_code(0).assert_stdout_has("parked");

    ralph(&sandbox).args(["note", "--item", "C", "SQLite"]).run().assert_code(0);
    backlog(&sandbox, &["skip", "A", "--why", "not now"]).run().assert_code(0);
    let agent = another(&sandbox)
        .call(claims(writes("c.txt")))
        .call(claims(writes("d.txt")))
        .call(reviews())
        .install(&sandbox);
    let finished = night(&sandbox, &agent).run();
    finished.assert_code(0).assert_stderr_has("COMPLETE").assert_stderr_has("1 skipped");
    let prompt = &agent.calls(&sandbox)[0].prompt;
    assert!(prompt.contains("SQLite") && prompt.contains("ralph backlog show C --patch"), "{prompt}");
    assert_eq!(statuses(&sandbox), ["BLOCKED", "PASSING", "PASSING", "PASSING", "PASSING"]);
    backlog(&sandbox, &["list"]).run().assert_code(0).assert_stdout_has("skipped");
}

#[test]
fn edits_of_the_user_before_between_and_after_attempts_stay_in_the_files() {
    let sandbox = harness(&[with(item("A", "a.txt"), "verification", json!(["false"])), item("B", "b.txt")]);
    sandbox.write("mine.txt", "before\n");
    sandbox.write("shared.txt", "before\n");
    // The check runs after the agent, and stands for a person at work meanwhile.
    let check = "test -e b.txt || echo mine >> between.txt";
    let agent = another(&sandbox)
        .call(claims(Steps::new().write("shared.txt", "agent\n").write("between.txt", "agent\n")))
        .call(claims(Steps::new().write("new.txt", "agent\n").append("between.txt", "agent again\n")))
        .call(claims(Steps::new()))
        .call(claims(writes("b.txt").append("between.txt", "for B\n")))
        .install(&sandbox);
    let finished = works_through(&sandbox, &agent).args(["--test-cmd", check]).run();
    finished.assert_code(2).assert_stderr_has(
        "somebody else changed it too, so it is left as it is and not committed: between.txt",
    );
    assert_eq!(sandbox.read("mine.txt"), "before\n");
    assert_eq!(sandbox.read("shared.txt"), "before\n", "as it was before the first attempt");
    assert!(sandbox.read("between.txt").matches("mine\n").count() >= 3, "{}", sandbox.read("between.txt"));
    assert!(!sandbox.exists("new.txt"));
    assert_eq!(files_of(&sandbox, "HEAD"), [format!("M {HARNESS}"), "A b.txt".into()]);
    let patch = backlog(&sandbox, &["show", "A", "--patch"]).run();
    patch.assert_stdout_has("+++ b/new.txt").assert_stdout_has("-before").assert_stdout_has("+agent again");
}

#[test]
fn commits_of_the_agent_are_undone_by_one_commit_over_all_attempts() {
    let sandbox = harness(&[with(item("A", "a.txt"), "verification", json!(["false"])), item("B", "b.txt")]);
    let commit = |steps: Steps| steps.shell("git add -A . ':!.claude' && git commit -qm 'agent'");
    let agent = another(&sandbox)
        .call(claims(commit(writes("a.txt"))))
        .call(claims(Steps::new()))
        .call(claims(commit(writes("more.txt"))))
        .call(claims(writes("b.txt")))
        .install(&sandbox);
    let before = commits(&sandbox);
    night(&sandbox, &agent).run().assert_code(2);
    assert!(!sandbox.exists("a.txt") && !sandbox.exists("more.txt") && sandbox.exists("b.txt"));
    let subjects = sandbox.git(&["log", "--format=%s"]);
    assert_eq!(subjects.matches("revert: A - ").count(), 1, "{subjects}");
    assert_eq!(commits(&sandbox), before + 4, "{subjects}");
    assert_eq!(sandbox.git(&["status", "--porcelain"]), format!(" M {HARNESS}"));
}

#[test]
fn where_the_run_makes_no_commits_what_the_agent_committed_stays_and_that_is_said() {
    let sandbox = harness(&[item("A", "a.txt"), item("B", "b.txt")]);
    let commits = writes("a.txt").shell("git add a.txt && git commit -qm 'agent'");
    let agent = another(&sandbox)
        .call(blocked(commits, "Which port?"))
        .call(claims(writes("b.txt")))
        .install(&sandbox);
    let finished = night(&sandbox, &agent).args(["--set", "commits=never"]).run();
    finished.assert_code(2).assert_stderr_has("its work stays in the files: the agent committed it");
    assert!(sandbox.exists("a.txt") && sandbox.exists("b.txt"));
}

#[test]
fn an_item_that_asks_twice_is_parked_and_its_mark_is_cleared() {
    let sandbox = checklist();
    let asks = || Steps::new().say("Shall I use tabs or spaces?");
    let agent =
        another(&sandbox).call(asks()).call(asks()).call(claims(writes("second.txt"))).install(&sandbox);
    let finished = night(&sandbox, &agent).run();
    finished.assert_code(2).assert_stderr_has("is parked: asks: Shall I use tabs or spaces?");
    assert_eq!(sandbox.read("fix_plan.md"), "# Plan\n\n- [ ] first thing\n- [x] second thing\n");
    let id = ledger(&sandbox)[0]["item"].as_str().expect("an id").to_owned();
    // Another run does not take it up by itself.
    night(&sandbox, &agent).run().assert_code(2);
    assert_eq!(agent.calls(&sandbox).len(), 3);
    backlog(&sandbox, &["next"]).run().assert_code(1);
    backlog(&sandbox, &["reset", &id]).run().assert_code(0);
    let agent = another(&sandbox).call(claims(writes("first.txt"))).call(reviews()).install(&sandbox);
    night(&sandbox, &agent).run().assert_code(0);
}

#[test]
fn the_breaker_parks_items_and_only_three_in_a_row_open_the_circuit() {
    let items = ["A", "B", "C", "D"]
        .map(|id| with(item(id, id), "ralph_loop", json!({"enabled": true, "max_iterations": 9})));
    let sandbox = harness(&items);
    let agent = (0..3).fold(another(&sandbox), |agent, _| agent.call(idle()));
    let agent =
        agent.call(claims(writes("B"))).call(idle()).call(idle()).call(idle()).call(claims(writes("D")));
    let agent = agent.install(&sandbox);
    let finished = night(&sandbox, &agent).run();
    finished.assert_code(2).assert_stderr_has("A is parked: no_progress: 3 iterations with no file changes");
    assert_eq!(item_now(&sandbox, "D")["status"], "PASSING");
    assert_eq!(status(&sandbox)["circuit"]["state"], "CLOSED");

    let sandbox = harness(&items);
    let agent = (0..9).fold(another(&sandbox), |agent, _| agent.call(idle())).install(&sandbox);
    let finished = night(&sandbox, &agent).run();
    finished.assert_code(5).assert_stderr_has("on 3 items in a row");
    assert_eq!(agent.calls(&sandbox).len(), 9);
    assert_eq!(item_now(&sandbox, "C")["status"], "BLOCKED");
    assert_eq!(item_now(&sandbox, "D")["status"], "FAILING");
}

#[test]
fn an_item_whose_last_attempt_trips_the_breaker_is_parked_and_the_circuit_stays_closed() {
    let sandbox = harness(&[item("A", "a.txt"), item("B", "b.txt")]);
    let agent = another(&sandbox).call(idle()).call(idle()).call(idle()).call(claims(writes("b.txt")));
    let agent = agent.install(&sandbox);
    night(&sandbox, &agent).run().assert_code(2).assert_stderr_has("A is parked: 3 attempts used");
    assert_eq!(item_now(&sandbox, "B")["status"], "PASSING");
    assert_eq!(status(&sandbox)["circuit"]["state"], "CLOSED");
}

#[test]
fn an_agent_that_reports_blocked_and_then_fails_has_its_item_parked() {
    let sandbox = harness(&[item("A", "a.txt"), item("B", "b.txt")]);
    let agent =
        another(&sandbox).call(blocked(Steps::new(), "Which port?").exit(1)).call(claims(writes("b.txt")));
    let agent = agent.install(&sandbox);
    night(&sandbox, &agent).run().assert_code(2).assert_stderr_has("A is parked: blocked: ");
    assert_eq!(
        (agent.calls(&sandbox).len(), item_now(&sandbox, "A")["status"].clone()),
        (2, json!("BLOCKED"))
    );
}

#[test]
fn an_item_that_is_parked_again_without_work_keeps_the_patch_of_the_first_time() {
    let sandbox = harness(&[item("A", "a.txt")]);
    let agent = another(&sandbox)
        .call(blocked(writes("half.txt"), "Which port?"))
        .call(blocked(Steps::new(), "Which host?"))
        .install(&sandbox);
    night(&sandbox, &agent).run().assert_code(2);
    ralph(&sandbox).args(["note", "--item", "A", "8080"]).run().assert_code(0);
    night(&sandbox, &agent).run().assert_code(2).assert_stderr_has("Which host?");
    backlog(&sandbox, &["show", "A", "--patch"]).run().assert_code(0).assert_stdout_has("+half.txt");
}

#[test]
fn a_hook_that_refuses_the_revert_leaves_the_agent_s_work_in_the_files() {
    let sandbox = harness(&[item("A", "a.txt"), item("B", "b.txt")]);
    crate::stage::hook(&sandbox, "commit-msg", "! grep -q '^revert: ' \"$1\"");
    let commits = writes("a2.txt").shell("git add a2.txt && git commit -qm 'agent'");
    let agent = another(&sandbox).call(blocked(commits, "Which port?")).call(claims(writes("b.txt")));
    let agent = agent.install(&sandbox);
    let finished = night(&sandbox, &agent).run();
    finished.assert_code(2).assert_stderr_has("its work stays in the files");
    assert!(sandbox.exists("a2.txt"), "{finished}");
    assert_eq!(sandbox.git(&["diff", "--name-only", "HEAD", "--", "a2.txt"]), "");
}

#[test]
fn a_worker_and_one_attempt_park_a_blocked_item_and_exit_2() {
    let sandbox = harness(&[item("A", "a.txt"), item("B", "b.txt")]);
    let agent = another(&sandbox).call(blocked(writes("half.txt"), "Which port?")).install(&sandbox);
    let finished = worker(&sandbox, &agent).run();
    finished.assert_code(2).assert_stderr_has("Which port?").assert_stderr_has("ralph note --item A");
    assert_eq!(
        (item_now(&sandbox, "A")["status"].clone(), sandbox.exists("half.txt")),
        (json!("BLOCKED"), false)
    );
    let agent = another(&sandbox).call(claims(writes("b.txt"))).install(&sandbox);
    worker(&sandbox, &agent).run().assert_code(0).assert_stderr_has("B");
}

#[test]
fn a_phase_with_parked_items_does_not_hand_over_to_the_next() {
    let sandbox = repository();
    let task = |id: &str, phase: &str| {
        format!("  - id: {id}\n    title: make {id}\n    phase: {phase}\n    status: todo\n")
    };
    let tasks = [task("a", "mvp"), task("b", "mvp"), task("c", "later")].concat();
    sandbox.write(".ralph/ralph.yml", format!("project:\n  name: p\ntasks:\n{tasks}"));
    let agent = another(&sandbox)
        .call(blocked(Steps::new(), "Which port?"))
        .call(claims(writes("b")))
        .install(&sandbox);
    let finished = night(&sandbox, &agent).run();
    finished.assert_code(2).assert_stderr_has("waiting: c make c: for a");
    assert_eq!(agent.calls(&sandbox).len(), 2);
    let file = sandbox.read(".ralph/ralph.yml");
    assert!(
        file.contains("status: blocked") && file.contains("status: done") && file.contains("status: todo"),
        "{file}"
    );
}

#[test]
fn a_list_whose_items_were_all_done_in_one_go_is_finished() {
    let sandbox = repository();
    sandbox.write("fix_plan.md", "- [ ] one\n- [ ] two\n- [ ] three\n- [ ] four\n");
    sandbox.commit_all("plan");
    let all =
        ["one", "two", "three", "four"].iter().fold(Steps::new(), |steps, name| steps.write(name, "x\n"));
    let agent = (0..6).fold(another(&sandbox).call(claims(all)), |agent, _| agent.call(claims(Steps::new())));
    let agent = agent.call(reviews()).install(&sandbox);
    night(&sandbox, &agent).run().assert_code(0).assert_stderr_has("COMPLETE");
    assert_eq!(sandbox.read("fix_plan.md").matches("[x]").count(), 4);
}

#[test]
fn a_branch_that_the_agent_left_stops_the_run_at_once_with_the_way_back() {
    let sandbox = harness(&[item("A", "a.txt"), item("B", "b.txt")]);
    let leaves = writes("a.txt").shell("git switch --quiet --create elsewhere");
    let agent = another(&sandbox).call(claims(leaves)).install(&sandbox);
    let finished = night(&sandbox, &agent).run();
    finished.assert_code(2).assert_stderr_has("HEAD was on branch main").assert_stderr_has("git switch main");
    assert_eq!(agent.calls(&sandbox).len(), 1, "no other claim could be accepted there");
}

#[test]
fn a_note_to_all_agents_says_how_a_parked_item_is_answered() {
    let sandbox = harness(&[item("A", "a.txt")]);
    let agent = another(&sandbox).call(blocked(Steps::new(), "Which port?")).install(&sandbox);
    night(&sandbox, &agent).run().assert_code(2);
    let noted = ralph(&sandbox).args(["note", "port 8080"]).run();
    noted.assert_code(0).assert_stderr_has("A is still parked; to answer it: ralph note --item A");
}

#[test]
fn a_person_steers_items_while_a_run_works_and_an_agent_cannot() {
    let sandbox = harness(&[item("A", "a.txt"), item("B", "b.txt"), item("C", "c.txt")]);
    let skip = format!("'{}' backlog skip C", env!("CARGO_BIN_EXE_ralph"));
    let agent = another(&sandbox)
        .call(blocked(Steps::new(), "Which port?"))
        .call(claims(
            writes("b.txt").shell(&format!("{skip} 2> refused.txt || true")).reach("working").hold("go"),
        ))
        .call(claims(writes("a.txt")))
        .call(reviews())
        .install(&sandbox);
    let run = night(&sandbox, &agent).spawn();
    sandbox.wait_for("working");
    ralph(&sandbox)
        .args(["note", "--item", "A", "port 8080"])
        .run()
        .assert_code(0)
        .assert_stderr_has("noted");
    backlog(&sandbox, &["skip", "C"]).run().assert_code(0);
    sandbox.release("go");
    let finished = run.wait();
    finished.assert_code(0).assert_stderr_has("C is skipped, as you asked");
    assert!(sandbox.read("refused.txt").contains("agents cannot"), "{}", sandbox.read("refused.txt"));
    assert!(agent.calls(&sandbox)[2].prompt.contains("port 8080"));
    backlog(&sandbox, &["unskip", "C"]).run().assert_code(0);
    backlog(&sandbox, &["next"]).run().assert_code(0).assert_stdout_has("C");
}
