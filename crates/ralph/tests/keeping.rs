//! What is kept of an iteration's output, and how it is read back.

mod common;

use std::os::unix::fs::PermissionsExt;

use common::{history, one_call, ralph, repository, run};
use ralph_testkit::{StatusBlock, Steps};

const FIRST: &str = ".git/ralph/runs/0001/iteration-000001";

#[test]
fn output_is_packed_when_its_iteration_is_over_and_read_as_if_it_were_not() {
    let sandbox = repository();
    let words = "I looked at another part of it.\n".repeat(4_000);
    let steps =
        Steps::new().print(&words).complain("a complaint ".repeat(1_000)).status(&StatusBlock::done());
    let agent = one_call(&sandbox, steps);
    let loud = "i=0; while [ $i -lt 500 ]; do echo checking part $i; i=$((i+1)); done";
    run(&sandbox, &agent).args(["--test-cmd", loud, "--set", "reviews=0"]).run().assert_code(0);
    for name in ["transcript.out", "transcript.err", "check-test.out"] {
        let path = format!("{FIRST}/{name}");
        assert!(!sandbox.exists(&path), "{name} is packed");
        let packed = std::fs::metadata(sandbox.project().join(format!("{path}.gz"))).expect(name);
        assert_eq!(packed.permissions().mode() & 0o777, 0o600, "{name}");
    }
    let transcript = ralph(&sandbox).args(["history", "1", "--transcript"]).run();
    transcript
        .assert_code(0)
        .assert_stdout_has("EXIT_SIGNAL: true")
        .assert_stdout_has("a complaint a complaint");
    assert!(transcript.stdout.starts_with(&words));
    ralph(&sandbox).args(["history", "--checks"]).run().assert_code(0).assert_stdout_has("checking part 499");
    // By the name it had, by the name it has, and by whatever unpacks such files.
    for name in ["transcript.out", "transcript.out.gz"] {
        let analysed = ralph(&sandbox).args(["analyze", &format!("{FIRST}/{name}")]).run();
        assert_eq!(analysed.assert_code(0).json()["ralph_status"]["exit_signal"], true, "{name}");
    }
    let zcat =
        sandbox.command("gzip").args(["-dc", &format!("{FIRST}/transcript.out.gz")]).output().expect("gzip");
    assert!(zcat.stdout.starts_with(words.as_bytes()));
}

#[test]
fn the_output_of_old_iterations_goes_and_their_record_stays() {
    let sandbox = repository();
    let agent = one_call(&sandbox, Steps::new().say("Going on.").status(&StatusBlock::in_progress()));
    let keep = ["--set", "keep_output=10", "--set", "no_progress=off", "--max-iterations", "13"];
    run(&sandbox, &agent).args(keep).run().assert_code(3);
    assert_eq!(history(&sandbox).len(), 13, "the journal is whole");
    let transcript = |number: &str| ralph(&sandbox).args(["history", number, "--transcript"]).run();
    transcript("3")
        .assert_code(1)
        .assert_stderr_has("the output of iteration 3 is not kept any more")
        .assert_stderr_has("keep_output");
    transcript("4").assert_code(0).assert_stdout_has("Going on.");
    assert!(!sandbox.exists(FIRST));
    ralph(&sandbox).args(["history", "3"]).run().assert_code(0);

    // Another run goes on with what is older.
    let more = [
        "run", "other", "--set", "keep_output=10", "--set", "no_progress=off", "--max-iterations", "2",
        "--agent-cmd",
    ];
    ralph(&sandbox).args(more).arg(agent.path()).run().assert_code(3);
    transcript("5").assert_code(1);
    transcript("6").assert_code(0);
    ralph(&sandbox)
        .args(["run", "x", "--agent-cmd", "true", "--set", "keep_output=3"])
        .run()
        .assert_code(64)
        .assert_stderr_has("a number from 10 on, or 0");
}
