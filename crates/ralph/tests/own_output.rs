//! A log inside the project: what ralph itself prints is nobody's work.

mod common;

use std::fs::File;

use common::{TEST, history, one_call, repository, run, says_done, says_more};
use ralph_testkit::{FakeAgent, RalphCommand, Sandbox, Steps};

/// Runs with both outputs into files of the project, the same one if they have one name.
fn into_files(sandbox: &Sandbox, command: RalphCommand, out: &str, err: &str) -> i32 {
    let open =
        |name| File::options().create(true).append(true).open(sandbox.project().join(name)).expect("opened");
    let mut command = command.into_command();
    let mut child = command.stdout(open(out)).stderr(open(err)).spawn().expect("started");
    child.wait().expect("ended").code().expect("a code")
}

#[test]
fn what_ralph_prints_into_the_project_is_no_progress_and_trips_the_breaker() {
    for (sandbox, tracked) in [(repository(), false), (repository(), true), (Sandbox::new(), false)] {
        if tracked {
            sandbox.write("nohup.out", "of last night\n");
            sandbox.commit_all("a log");
        }
        let agent = one_call(&sandbox, says_more());
        let code = into_files(&sandbox, run(&sandbox, &agent), "nohup.out", "nohup.out");
        let log = sandbox.read("nohup.out");
        assert_eq!(code, 5, "{log}");
        assert!(history(&sandbox).iter().all(|entry| entry["files_changed"] == 0), "{log}");
        assert_eq!(log.matches("nohup.out: ralph itself writes to it now").count(), 1, "{log}");
        assert!(!log.contains("1 file changed"), "{log}");
    }
}

#[test]
fn a_review_holds_though_the_log_grows_and_the_agent_s_own_files_count() {
    let sandbox = repository();
    let work = Steps::new().write("green", "").write("notes.txt", "x").say("All done.");
    let first = work.status(&ralph_testkit::StatusBlock::done());
    let agent = FakeAgent::new("agent").call(first).call(says_done()).install(&sandbox);
    let command = run(&sandbox, &agent).args(["--json", "--test-cmd", TEST, "--max-iterations", "4"]);
    let code = into_files(&sandbox, command, "events.json", "err.txt");
    let log = sandbox.read("err.txt");
    assert_eq!(code, 0, "{log}");
    assert_eq!(history(&sandbox)[0]["files_changed"], 2, "{log}");
    assert_eq!(history(&sandbox)[1]["files_changed"], 0, "{log}");
    assert!(log.contains("err.txt, events.json: ralph itself"), "{log}");
}
