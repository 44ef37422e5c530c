//! What is staged: the user's stays, the agent's goes with its attempt.

use ralph_testkit::Steps;

use crate::stage::{HARNESS, another, claims, committed, files_of, harness, item, worker, writes};

#[test]
fn what_was_staged_before_is_the_user_s_though_the_files_are_as_committed() {
    let sandbox = harness(&[item("FEAT-1", "one.txt")]);
    sandbox.write("README.md", "# staged\n");
    sandbox.git(&["add", "README.md"]);
    sandbox.write("README.md", "# project\n");
    let steps = writes("one.txt").write("README.md", "# by the agent\n");
    let agent = another(&sandbox).call(claims(steps)).install(&sandbox);
    let finished = worker(&sandbox, &agent).run();
    finished
        .assert_code(0)
        .assert_stderr_lacks("not committed with FEAT-1")
        .assert_stderr_lacks("FEAT-1: not committed")
        .assert_stderr_has("⚠ FEAT-1 is proved and committed as ")
        .assert_stderr_has(", without README.md, which was not clean before")
        .assert_stderr_has(
            "FEAT-1, proved: its commit is without files that were not clean before: README.md",
        );
    let told = "Verified with, and not in this commit (not clean before): README.md";
    assert!(
        sandbox.git(&["log", "-1", "--format=%B"]).contains(told),
        "whoever checks it out has not got it"
    );
    assert_eq!(files_of(&sandbox, "HEAD"), ["A one.txt"]);
    assert_eq!(sandbox.git(&["show", ":README.md"]), "# staged");
    assert_eq!(sandbox.read("README.md"), "# by the agent\n");
}

#[test]
fn what_a_failed_attempt_staged_is_not_staged_any_more_and_what_it_unstaged_is() {
    let sandbox = harness(&[item("FEAT-1", "one.txt")]);
    sandbox.write("src.txt", "old\n");
    sandbox.commit_all("code");
    sandbox.write("mine.txt", "mine\n");
    sandbox.write("also.txt", "mine\n");
    sandbox.git(&["add", "mine.txt", "also.txt"]);
    let steps = Steps::new()
        .write("src.txt", "new\n")
        .write("new.txt", "new\n")
        .shell("git add -A; git rm -q --cached mine.txt")
        .write("src.txt", "newer\n");
    let agent = another(&sandbox).call(claims(steps)).install(&sandbox);
    worker(&sandbox, &agent).run().assert_code(3);
    let status = sandbox.git(&["status", "--porcelain"]);
    assert_eq!(status, format!(" M {HARNESS}\nA  also.txt\nA  mine.txt"));
    assert_eq!(sandbox.read("src.txt"), "old\n");
}

#[test]
fn what_the_agent_staged_itself_is_committed_as_proved() {
    let sandbox = harness(&[item("FEAT-1", "one.txt")]);
    let steps = writes("one.txt").shell("git add -A").write("one.txt", "final\n");
    let agent = another(&sandbox).call(claims(steps)).install(&sandbox);
    worker(&sandbox, &agent).run().assert_code(0);
    assert_eq!(committed(&sandbox, "one.txt"), "final");
    assert_eq!(sandbox.git(&["status", "--porcelain"]), format!(" M {HARNESS}"), "not even ralph's own lock");
}
