//! What one run hands on to the next. Every `run --once` is a run of its own: what an agent left, what nobody proved and what
//! proved an item must not change its meaning by that.

use std::time::{Duration, Instant};

use ralph_testkit::{FakeAgent, Finished, InstalledAgent, Sandbox, StatusBlock, Steps};
use serde_json::{Value, json};

use crate::common::{history, one_call, ralph, repository};
use crate::stage::{
    HARNESS, another, checklist, claims, commits, committed, files_of, harness, item, item_now, two_items,
    works_through, write_items, writes,
};

/// One attempt at one item, by an agent that does this.
fn once(sandbox: &Sandbox, steps: Steps, args: &[&str]) -> Finished {
    let agent = another(sandbox).call(claims(steps)).install(sandbox);
    works_through(sandbox, &agent).args(["--once", "--commit"]).args(args).run()
}

fn verify(sandbox: &Sandbox) -> Finished {
    ralph(sandbox).args(["evidence", "verify"]).run()
}

fn verified_by(id: &str, command: &str) -> Value {
    let mut item = item(id, "one.txt");
    item["verification"] = json!([command]);
    item
}

#[test]
fn what_a_failed_attempt_left_is_committed_with_the_attempt_that_passes() {
    for staged in [false, true] {
        let sandbox = harness(&[verified_by("FEAT-1", "test -e half.txt && test -e one.txt")]);
        sandbox.write("notes.txt", "mine, and not committed\n");
        let half = if staged { writes("half.txt").shell("git add half.txt") } else { writes("half.txt") };
        once(&sandbox, half, &[]).assert_code(3);
        assert_eq!(commits(&sandbox), 2, "nothing is proved yet");
        once(&sandbox, writes("one.txt"), &[]).assert_code(0).assert_stderr_lacks("not clean before");
        let mut files = files_of(&sandbox, "HEAD");
        files.retain(|file| !file.ends_with(HARNESS));
        assert_eq!(files, ["A half.txt", "A one.txt"], "staged: {staged}");
        verify(&sandbox).assert_code(0);
    }
}

#[test]
fn the_next_call_is_told_what_the_failing_check_printed_and_what_was_claimed_beyond_it() {
    for profile in ["worker", "default"] {
        let shows = "echo 'the seventh greeting is missing'; test -e one.txt";
        let sandbox = harness(&[verified_by("FEAT-1", shows), item("FEAT-2", "two.txt")]);
        let boasts = StatusBlock { files: 9, ..StatusBlock::done() };
        let agent = another(&sandbox)
            .call(Steps::new().write("wrong.txt", "w\n").status(&boasts))
            .call(claims(writes("one.txt")))
            .call(claims(Steps::new()))
            .install(&sandbox);
        let run = |args: &[&str]| {
            works_through(&sandbox, &agent).args(["--profile", profile, "--once"]).args(args).run()
        };
        run(&[]).assert_code(3);
        let told = |prompt: &str| {
            let printed = prompt.contains("    the seventh greeting is missing");
            let refused = prompt.contains("# The last \"done\" was refused\n\nIteration 1 said done.");
            assert_eq!(printed, refused, "{prompt}");
            (refused, prompt.contains("FILES_MODIFIED: 9, and 1 file changed"))
        };
        let dry = run(&["--dry-run"]);
        assert_eq!(told(&dry.assert_code(0).stdout), (true, true), "{profile}");
        run(&[]).assert_code(0);
        run(&[]).assert_code(3);
        let prompts: Vec<String> = agent.calls(&sandbox).into_iter().map(|call| call.prompt).collect();
        let told: Vec<_> = prompts.iter().map(|prompt| told(prompt)).collect();
        assert_eq!(told, [(false, false), (true, true), (false, false)], "{profile}");
    }
}

#[test]
fn what_was_refused_of_one_item_is_not_told_to_who_has_another() {
    let sandbox = two_items();
    let run = |args: &[&str]| once(&sandbox, Steps::new(), args);
    run(&["--task", "FEAT-1"]).assert_code(3);
    run(&["--task", "FEAT-2"]).assert_code(3);
    run(&["--task", "FEAT-2"]).assert_code(3);
    let refused = |prompt: &str| prompt.contains("# The last \"done\" was refused");
    let told: Vec<bool> = sandbox.agent_calls().iter().map(|call| refused(&call.prompt)).collect();
    assert_eq!(told, [false, false, true]);
}

#[test]
fn what_the_user_changed_between_the_attempts_stays_his() {
    let sandbox = harness(&[verified_by("FEAT-1", "test -e one.txt")]);
    once(&sandbox, writes("half.txt").write("other.txt", "by the agent\n"), &[]).assert_code(3);
    sandbox.write("half.txt", "the user's words\n");
    sandbox.write("mine.txt", "new\n");
    once(&sandbox, writes("one.txt"), &[]).assert_code(0);
    let mut files = files_of(&sandbox, "HEAD");
    files.retain(|file| !file.ends_with(HARNESS));
    assert_eq!(files, ["A one.txt", "A other.txt"]);
    assert_eq!(sandbox.read("half.txt"), "the user's words\n");
}

#[test]
fn what_was_dirty_before_the_first_attempt_is_never_committed() {
    let sandbox = harness(&[verified_by("FEAT-1", "test -e one.txt")]);
    sandbox.write("README.md", "the user's half sentence\n");
    once(&sandbox, Steps::new().append("README.md", "an agent's line\n"), &[]).assert_code(3);
    once(&sandbox, writes("one.txt"), &[]).assert_code(0);
    assert!(files_of(&sandbox, "HEAD").iter().all(|file| !file.ends_with("README.md")));
}

#[test]
fn what_is_proved_and_not_committed_goes_into_the_next_commit() {
    let sandbox = checklist();
    let agent = another(&sandbox).call(claims(writes("one.txt"))).install(&sandbox);
    works_through(&sandbox, &agent).arg("--once").args(["--set", "commits=never"]).run().assert_code(0);
    assert_eq!(commits(&sandbox), 2);
    once(&sandbox, writes("two.txt"), &[]).assert_code(0);
    assert_eq!(files_of(&sandbox, "HEAD"), ["M fix_plan.md", "A one.txt", "A two.txt"]);
}

const MAKEFILE: &str = "test:\n\ttest -e one.txt\n";

/// An item that the Makefile's tests prove, by a make that reads it.
fn with_make() -> Sandbox {
    let sandbox = repository();
    sandbox.install_script("make", "#!/bin/sh\nsh -c \"$(sed -n '/^'$1':/{n;p;}' Makefile)\"\n");
    sandbox.write("Makefile", MAKEFILE);
    write_items(&sandbox, &[verified_by("FEAT-1", "make test")]);
    sandbox.commit_all("make");
    sandbox
}

#[test]
fn a_recipe_that_was_refused_is_not_the_next_run_s_standard() {
    let easier = "printf 'test:\\n\\ttrue\\n' > Makefile";
    for commit in ["", " && git add Makefile && git commit --quiet -m easier"] {
        let sandbox = with_make();
        let refused = once(&sandbox, writes("a.txt").shell(&format!("{easier}{commit}")), &["--no-detect"]);
        refused.assert_code(3).assert_stderr_has("what is run by make test (Makefile, test)");
        // Nor a third one's.
        for file in ["b.txt", "c.txt"] {
            let again = once(&sandbox, writes(file), &["--no-detect"]);
            again.assert_stderr_has("what is run by make test (Makefile, test)");
        }
        assert_ne!(item_now(&sandbox, "FEAT-1")["status"], "PASSING", "{commit}");
    }
    // Whoever means it changes it himself.
    let sandbox = with_make();
    once(&sandbox, writes("a.txt").shell(easier), &["--no-detect"]).assert_code(3);
    sandbox.write("Makefile", "test:\n\ttest -e b.txt\n");
    once(&sandbox, writes("b.txt"), &["--no-detect"]).assert_code(0);
}

#[test]
fn a_check_that_was_found_stays_though_a_refused_change_hides_it() {
    let sandbox = with_make();
    write_items(&sandbox, &[verified_by("FEAT-1", "test -e a.txt")]);
    sandbox.commit_all("another proof");
    let gone = "printf 'tests:\\n\\ttrue\\n' > Makefile";
    let flags = ["--set", "baseline=refuse"];
    once(&sandbox, writes("a.txt").shell(gone), &flags).assert_code(3);
    once(&sandbox, writes("b.txt"), &flags).assert_code(3);
    assert_ne!(item_now(&sandbox, "FEAT-1")["status"], "PASSING");
}

#[test]
fn a_run_does_not_begin_where_the_last_agent_left_the_branch() {
    let sandbox = two_items();
    let branch = sandbox.git(&["branch", "--show-current"]);
    once(&sandbox, writes("one.txt").shell("git switch --quiet --create aside"), &[]).assert_code(3);
    let refused = once(&sandbox, writes("one.txt"), &[]);
    refused.assert_code(1).assert_stderr_has("the last agent left HEAD elsewhere");
    refused.assert_stderr_has(&format!("to get back: git switch {branch}")).assert_stderr_has("--fresh");
    assert_eq!(history(&sandbox).len(), 1, "nothing was begun");
    // Whoever says so goes on from there, and whoever went back just goes on.
    once(&sandbox, writes("one.txt"), &["--fresh"]).assert_code(0);
    let sandbox = two_items();
    once(&sandbox, writes("one.txt").shell("git switch --quiet --create aside"), &[]).assert_code(3);
    sandbox.git(&["switch", "--quiet", &branch]);
    once(&sandbox, writes("one.txt"), &[]).assert_code(0);
}

#[test]
fn a_run_does_not_go_on_where_its_last_agent_left_the_branch_either() {
    let sandbox = checklist();
    let branch = sandbox.git(&["branch", "--show-current"]);
    let leaves = claims(writes("one.txt").shell("git switch --quiet --create aside"));
    let agent = another(&sandbox).call(leaves).call(claims(writes("two.txt"))).install(&sandbox);
    let works = |most: &str| {
        works_through(&sandbox, &agent).args(["--test-cmd", "true", "--max-iterations", most]).run()
    };
    works("1").assert_code(2).assert_stderr_has("the agent changed where commits go");
    let refused = works("2");
    refused.assert_code(1).assert_stderr_has("the last agent left HEAD elsewhere");
    refused.assert_stderr_has(&format!("to get back: git switch {branch}"));
    assert_eq!(history(&sandbox).len(), 1, "nothing was begun");
    sandbox.git(&["switch", "--quiet", &branch]);
    works("2").assert_stderr_has("green already, and is committed");
    assert_eq!(sandbox.git(&["branch", "--show-current"]), branch);
}

#[test]
fn a_backlog_is_not_complete_while_what_proved_an_item_does_not_hold() {
    let breaks = || writes("two.txt").delete("one.txt");
    let sandbox = two_items();
    once(&sandbox, writes("one.txt"), &[]).assert_code(0);
    once(&sandbox, breaks(), &[]).assert_code(0);
    let broken = once(&sandbox, writes("three.txt"), &[]);
    broken
        .assert_stderr_has("to have it mended: ralph run --all")
        .assert_code(2)
        .assert_stderr_has("what proved one does not hold any more")
        .assert_stderr_has("test -e one.txt");
    assert_eq!(
        history(&sandbox).len(),
        2,
        "no agent is spent on it where one attempt at one item is asked for"
    );
    // Without --once it is mended.
    let agent = another(&sandbox)
        .call(writes("one.txt").say("Mended.").status(&StatusBlock::done()))
        .install(&sandbox);
    works_through(&sandbox, &agent).args(["--all", "--commit", "--set", "reviews=0"]).run().assert_code(0);
    assert_eq!(agent.calls(&sandbox).len(), 1);
    // And then it is said without running anything again.
    let said = once(&sandbox, writes("four.txt"), &[]);
    said.assert_code(7).assert_stderr_has("BACKLOG COMPLETE").assert_stderr_lacks("proof-1");
}

#[test]
fn a_backlog_whose_proofs_hold_is_complete_and_that_is_looked_at_once() {
    let sandbox = two_items();
    once(&sandbox, writes("one.txt"), &[]).assert_code(0);
    once(&sandbox, writes("two.txt"), &[]).assert_code(0);
    once(&sandbox, writes("three.txt"), &[]).assert_code(7).assert_stderr_has("BACKLOG COMPLETE");
    sandbox.git(&["rm", "--quiet", "one.txt"]);
    once(&sandbox, writes("four.txt"), &[]).assert_code(7).assert_stderr_has("BACKLOG COMPLETE");
    assert_eq!(history(&sandbox).len(), 2);
}

#[test]
fn what_the_user_did_after_a_kill_is_not_the_agent_s() {
    let sandbox = harness(&[verified_by("FEAT-1", "test -e one.txt && test -e half.txt")]);
    let agent = another(&sandbox)
        .call(writes("half.txt").write("both.txt", "agent\n").reach("working").hang())
        .call(writes("one.txt").say("All done.").status(&StatusBlock::done()))
        .install(&sandbox);
    let running = works_through(&sandbox, &agent).arg("--commit").spawn();
    sandbox.wait_for("working");
    running.kill9();
    running.wait();
    sandbox.write("mine.txt", "the user's\n");
    let since = Instant::now();
    while !sandbox.processes().is_empty() {
        assert!(since.elapsed() < Duration::from_secs(60), "its keeper ends what it kept");
        std::thread::yield_now();
    }
    // The times of files are coarse: nobody writes within a tick of the system's clock.
    let written =
        |path: &std::path::Path| std::fs::metadata(path).and_then(|data| data.modified()).expect("a time");
    let ended = written(&sandbox.project().join(".git/ralph/runs/0001/iteration-000001/transcript.out"));
    while written(&sandbox.project().join("mine.txt")) <= ended {
        sandbox.write("mine.txt", "the user's\n");
    }
    sandbox.write("both.txt", "the user's too\n");
    let resumed = works_through(&sandbox, &agent).args(["--commit", "--set", "reviews=0"]).run();
    resumed.assert_stderr_has(
        "changed since the agent was cut off, and not taken for its work: both.txt, mine.txt",
    );
    assert_eq!(item_now(&sandbox, "FEAT-1")["status"], "PASSING");
    let mut files = files_of(&sandbox, "HEAD");
    files.retain(|file| !file.ends_with(HARNESS));
    assert_eq!(files, ["A half.txt", "A one.txt"]);
    assert_eq!(committed(&sandbox, "half.txt"), "half.txt");
    assert_eq!(sandbox.read("both.txt"), "the user's too\n");
    // An undo leaves it to him as well.
    ralph(&sandbox).args(["undo", "1", "--yes"]).run();
    assert_eq!(sandbox.read("mine.txt"), "the user's\n");
}

#[test]
fn a_second_agent_that_finds_an_item_done_is_heard_though_each_attempt_is_a_run() {
    let sandbox = checklist();
    let nothing = || Steps::new().shell("true");
    let first = once(&sandbox, nothing(), &[]);
    first.assert_code(3).assert_stderr_has("a second attempt must say so too");
    once(&sandbox, nothing(), &[]).assert_code(0);
    assert!(sandbox.read("fix_plan.md").contains("- [x] first thing"));
}

/// The recipe is another one, and the agent claims the item.
fn easier() -> Steps {
    writes("a.txt").shell("printf 'test:\\n\\ttrue\\n' > Makefile")
}

const REFUSED: &str = "what is run by make test (Makefile, test)";

#[test]
fn a_run_about_something_else_in_between_changes_nothing() {
    let sandbox = with_make();
    once(&sandbox, easier(), &["--no-detect"]).assert_code(3);
    let agent = another(&sandbox).call(writes("goal.txt").status(&StatusBlock::done())).install(&sandbox);
    let goal =
        ralph(&sandbox).args(["run", "a goal", "--yes", "--no-detect", "--reviews", "0", "--agent-cmd"]);
    goal.arg(agent.path()).run().assert_code(0);
    once(&sandbox, writes("b.txt"), &["--no-detect"]).assert_code(3).assert_stderr_has(REFUSED);
}

#[test]
fn a_revert_does_not_forget_what_an_earlier_iteration_left() {
    let sandbox = with_make();
    let says_nothing = |steps: Steps| steps.say("Still at it.");
    let agent = another(&sandbox)
        .call(says_nothing(easier()))
        .call(claims(writes("b.txt")))
        .call(claims(writes("c.txt")))
        .install(&sandbox);
    let revert = ["--no-detect", "--commit", "--set", "failed_item=revert", "--max-iterations", "2"];
    works_through(&sandbox, &agent).args(revert).run().assert_code(3);
    assert_eq!(sandbox.read("Makefile"), "test:\n\ttrue\n", "nobody claimed, and nothing was put back");
    let again = works_through(&sandbox, &agent).args(revert).args(["--fresh", "--once"]).run();
    again.assert_code(2).assert_stderr_has(REFUSED);
}

#[test]
fn where_nobody_can_tell_what_agents_left_no_run_begins_unless_that_is_said() {
    let sandbox = with_make();
    sandbox.damages_the_record();
    sandbox.write("mine.txt", "mine\n");
    let gone = easier().shell("rm -rf .git/ralph/objects/??");
    once(&sandbox, gone, &["--no-detect"]).assert_code(3);
    let refused = once(&sandbox, writes("b.txt"), &["--no-detect"]);
    refused
        .assert_code(1)
        .assert_stderr_has("what agents of earlier runs left cannot be told from your work");
    refused.assert_stderr_has("--fresh");
    assert_eq!(history(&sandbox).len(), 1);
    let anew = once(&sandbox, writes("b.txt"), &["--no-detect", "--fresh"]);
    anew.assert_code(0).assert_stderr_has("is taken for yours");
}

/// The whole was proved before; what a later run breaks of it is found all the same.
#[test]
fn what_proved_an_item_of_a_list_that_was_complete_has_to_hold_when_more_is_added_to_it() {
    let sandbox = repository();
    let add = |id: &str| {
        let verify = format!("test -e {id}.txt");
        ralph(&sandbox).args(["backlog", "add", id, "--id", id, "--verify", &verify]).run().assert_code(0);
    };
    sandbox.write(".ralph/ralph.yml", "tasks: []\n");
    let works = |agent: &InstalledAgent| {
        let args = ["run", "--fresh", "--yes", "--reviews", "0", "--max-iterations", "3", "--agent-cmd"];
        ralph(&sandbox).args(args).arg(agent.path()).run()
    };
    let done = |steps: Steps| steps.status(&StatusBlock::done());
    add("one");
    works(&one_call(&sandbox, done(Steps::new().write("one.txt", "")))).assert_code(0);
    add("two");
    let breaks = FakeAgent::new("breaker").call(done(Steps::new().write("two.txt", "").delete("one.txt")));
    let broken = works(&breaks.install(&sandbox));
    broken.assert_code(3).assert_stderr_has("test -e one.txt exit 1");
    // What the list does not ask for any more is not held against it.
    let list = sandbox.read(".ralph/ralph.yml").replace("test -e one.txt", "true");
    sandbox.write(".ralph/ralph.yml", &list);
    add("three");
    let third = FakeAgent::new("third").call(done(Steps::new().write("three.txt", ""))).install(&sandbox);
    works(&third).assert_code(0).assert_stderr_lacks("one.txt exit");
}

#[test]
fn what_a_phase_proved_has_to_hold_when_the_backlog_is_complete() {
    let mut first = item("FEAT-1", "one.txt");
    first["phase"] = json!("mvp");
    let mut second = item("FEAT-2", "two.txt");
    second["phase"] = json!("later");
    let sandbox = harness(&[first, second]);
    let all_of = |phase: &str, steps: Steps| {
        let agent = another(&sandbox).call(steps.status(&StatusBlock::done())).install(&sandbox);
        works_through(&sandbox, &agent).args(["--commit", "--set", "reviews=0", "--phase", phase]).run()
    };
    all_of("mvp", writes("one.txt")).assert_code(0);
    let broken = all_of("later", writes("two.txt").delete("one.txt"));
    broken.assert_code(5).assert_stderr_has("claimed done, refused: test -e one.txt exit 1");
    assert_eq!(item_now(&sandbox, "FEAT-2")["status"], "PASSING", "it is proved, and not the whole");
    sandbox.write("one.txt", "");
    ralph(&sandbox).args(["circuit", "reset"]).run().assert_code(0);
    let run = once(&sandbox, writes("x"), &["--fresh"]);
    run.assert_code(7).assert_stderr_has("proved before: ✓ test -e one.txt exit 0");
}

#[test]
fn what_was_flagged_is_flagged_though_the_agent_committed_it_itself() {
    let sandbox = repository();
    sandbox.write("verify.sh", "test -e one.txt && test -e half.txt\n");
    write_items(&sandbox, &[verified_by("FEAT-1", "sh verify.sh")]);
    sandbox.commit_all("items");
    let weaker = writes("a.txt").shell("echo 'test -e one.txt' > verify.sh; git commit --quiet -am weaker");
    once(&sandbox, weaker, &[]).assert_code(3);
    once(&sandbox, writes("one.txt"), &[]).assert_code(0);
    let message = sandbox.git(&["log", "-1", "--format=%B"]);
    assert!(message.contains("Flagged: files that checks run were changed: verify.sh"), "{message}");
}

#[test]
fn what_is_proved_and_not_committed_is_a_standard_for_the_next_item() {
    let sandbox = with_make();
    sandbox.write("Makefile", "a:\n\ttest -e a.txt\nb:\n\ttest -e b.txt\n");
    write_items(&sandbox, &[verified_by("FEAT-1", "make a"), verified_by("FEAT-2", "make b")]);
    sandbox.commit_all("two targets");
    let both = "printf 'a:\\n\\ttest -e a.txt\\nb:\\n\\ttest -e c.txt\\n' > Makefile";
    let once = |steps: Steps| {
        let agent = another(&sandbox).call(claims(steps)).install(&sandbox);
        works_through(&sandbox, &agent).args(["--once", "--no-detect", "--set", "commits=never"]).run()
    };
    once(writes("a.txt").shell(both)).assert_code(0);
    once(writes("c.txt")).assert_code(0);
}

#[test]
fn iterations_of_earlier_runs_are_found_and_can_be_undone() {
    let sandbox = two_items();
    once(&sandbox, writes("one.txt"), &[]).assert_code(0);
    once(&sandbox, writes("two.txt"), &[]).assert_code(0);
    for number in ["1", "2"] {
        ralph(&sandbox).args(["history", number]).run().assert_code(0);
        let diff = ralph(&sandbox).args(["history", number, "--diff"]).run();
        diff.assert_code(0).assert_stdout_has(if number == "1" { "one.txt" } else { "two.txt" });
    }
    ralph(&sandbox).args(["undo", "1", "--all"]).run().assert_code(0);
    assert!(!sandbox.exists("one.txt") && !sandbox.exists("two.txt"));
}

const PLAN: &str =
    "# Plan\n\n### Task 1: one\n\n- [ ] a\n- [ ] b\n\n### Task 2: two\n\n- [x] d\n- [ ] e\n- [ ] f\n";

#[test]
fn steps_that_an_agent_ticked_in_another_task_are_taken_back_and_the_user_s_stay() {
    let sandbox = repository();
    sandbox.write("PLAN.md", PLAN);
    sandbox.commit_all("plan");
    for ticked in ["s/- .. . e/- [x] e/", "s/- .. . [ef]/- [x] &/; s/x. - .. . /x] /"] {
        let steps = writes("a.txt").shell(&format!("sed -i '{ticked}' PLAN.md"));
        let agent = another(&sandbox).call(steps.say("Nothing is claimed.")).install(&sandbox);
        let run = works_through(&sandbox, &agent).args(["--once", "--backlog", "PLAN.md", "--commit"]).run();
        run.assert_code(3);
        assert_eq!(sandbox.read("PLAN.md"), PLAN, "{ticked}\n{run}");
    }
}
