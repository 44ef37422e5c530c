//! The private object store: packed beside a run, and cleared of snapshots that nobody may ask for any more.

mod common;

use common::{ralph, repository, run};
use ralph_testkit::{FakeAgent, Sandbox, StatusBlock, Steps};

const STORE: &str = ".git/ralph/objects";

fn writes(what: &str) -> Steps {
    Steps::new().write("a.txt", what).status(&StatusBlock::in_progress())
}

fn does(shell: &str) -> Steps {
    Steps::new().shell(shell).status(&StatusBlock::in_progress())
}

/// How many loose objects and packs the private store has.
fn stored(sandbox: &Sandbox) -> (usize, usize) {
    let list = |what: &str| {
        let found = sandbox.command("sh").args(["-c", &format!("find {STORE} {what} | wc -l")]).output();
        String::from_utf8_lossy(&found.expect("sh").stdout).trim().parse().expect("a number")
    };
    (list("-type f -path '*/??/*'"), list("-name '*.pack'"))
}

fn diff(sandbox: &Sandbox, iteration: u64) -> ralph_testkit::Finished {
    ralph(sandbox).args(["history", &iteration.to_string(), "--diff"]).run()
}

#[test]
fn many_loose_objects_are_packed_while_an_agent_works() {
    let sandbox = repository();
    let litter = format!(
        "mkdir ../tmp/l; for i in $(seq 9500); do echo $i > ../tmp/l/$i; done; \
         find ../tmp/l -type f | GIT_OBJECT_DIRECTORY={STORE} git hash-object -w --stdin-paths > /dev/null"
    );
    let agent =
        FakeAgent::new("agent").call(writes("1\n")).call(does(&litter)).call(writes("3\n")).install(&sandbox);
    let limits = ["--max-iterations", "3", "--set", "no_progress=off"];
    run(&sandbox, &agent).args(limits).run().assert_code(3);
    let (loose, packs) = stored(&sandbox);
    assert!(loose < 100 && packs == 1, "{loose} loose objects, {packs} packs");
    diff(&sandbox, 1).assert_code(0).assert_stdout_has("+1");
    diff(&sandbox, 3).assert_code(0).assert_stdout_has("-1\n+3");
    ralph(&sandbox).args(["undo", "3"]).run().assert_code(0);
    assert_eq!(sandbox.read("a.txt"), "1\n");
}

#[test]
fn snapshots_past_the_retention_are_let_go_and_the_journal_is_not() {
    let sandbox = repository();
    let packs = format!(
        "export GIT_OBJECT_DIRECTORY={STORE}; for i in 1 2 3 4 5 6 7 8; do \
         echo pack $i | git hash-object -w --stdin | git pack-objects -q {STORE}/pack/pack > /dev/null; done"
    );
    let mut agent = FakeAgent::new("agent");
    for text in ["1\n", "2\n", "3\n", "4\n", "5\n"] {
        agent = agent.call(writes(text));
    }
    let agent = agent.call(does(&packs)).call(writes("7\n")).install(&sandbox);
    let limits = ["--max-iterations", "7", "--set", "no_progress=off", "--set", "keep_snapshots=3"];
    run(&sandbox, &agent).args(limits).run().assert_code(3);

    let (_, packs) = stored(&sandbox);
    assert_eq!(packs, 1, "all packs became one");
    let gone = diff(&sandbox, 2);
    gone.assert_code(1).assert_stderr_has("not stored any more").assert_stderr_has("keep_snapshots");
    let before = sandbox.user_git_state();
    ralph(&sandbox).args(["undo", "2"]).run().assert_code(1).assert_stderr_has("none was touched");
    before.assert_same(&sandbox.user_git_state());
    ralph(&sandbox).args(["history", "2"]).run().assert_code(0).assert_stdout_has("- M a.txt");

    diff(&sandbox, 5).assert_code(0).assert_stdout_has("-4\n+5");
    ralph(&sandbox).args(["undo", "5"]).run().assert_code(0);
    assert_eq!(sandbox.read("a.txt"), "4\n");
    // The tree before the run is what TODO comments are told apart by.
    ralph(&sandbox).args(["undo", "1"]).run().assert_code(0);
    assert!(!sandbox.exists("a.txt"));
}

#[test]
fn zero_keeps_every_snapshot() {
    let sandbox = repository();
    let packs = format!(
        "export GIT_OBJECT_DIRECTORY={STORE}; for i in 1 2 3 4 5 6 7 8; do \
         echo pack $i | git hash-object -w --stdin | git pack-objects -q {STORE}/pack/pack > /dev/null; done"
    );
    let agent = FakeAgent::new("agent")
        .call(writes("1\n"))
        .call(writes("2\n"))
        .call(does(&packs))
        .call(writes("4\n"))
        .install(&sandbox);
    let limits = ["--max-iterations", "4", "--set", "keep_snapshots=0"];
    run(&sandbox, &agent).args(limits).run().assert_code(3);
    assert_eq!(stored(&sandbox).1, 1);
    diff(&sandbox, 1).assert_code(0).assert_stdout_has("+1");
    diff(&sandbox, 2).assert_code(0).assert_stdout_has("-1\n+2");
}
