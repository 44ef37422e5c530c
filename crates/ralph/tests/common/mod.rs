//! What the end-to-end tests share: the real binary in a sandbox.

#![allow(dead_code, reason = "each test file uses its own part")]

pub(crate) mod snapshot;

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use ralph_core::time::Time;
use ralph_testkit::{FakeAgent, InstalledAgent, RalphCommand, Sandbox, StatusBlock, Steps};
use serde_json::Value;

pub(crate) const GOAL: &str = "make it green";

/// Red until the file `green` exists; names its test as TAP.
pub(crate) const TEST: &str =
    "if test -e green; then echo 'ok 1 - is_green'; else echo 'not ok 1 - is_green'; exit 1; fi";

pub(crate) fn ralph(sandbox: &Sandbox) -> RalphCommand {
    sandbox.ralph(Path::new(env!("CARGO_BIN_EXE_ralph")))
}

/// `ralph run GOAL` with this agent; nobody is asked, on a terminal neither.
pub(crate) fn run(sandbox: &Sandbox, agent: &InstalledAgent) -> RalphCommand {
    ralph(sandbox).args(["run", GOAL, "--yes", "--agent-cmd"]).arg(agent.path())
}

/// A moment that has yet to come, in UTC.
#[expect(clippy::disallowed_methods, reason = "tests have a clock of their own")]
pub(crate) fn in_seconds(seconds: u64) -> String {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock");
    let now = i64::try_from(since_1970.as_millis()).expect("a time");
    Time::from_millis(now).plus(seconds * 1000).to_string()
}

/// A repository with one commit.
pub(crate) fn repository() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.init_git();
    sandbox.write("README.md", "# project\n");
    sandbox.commit_all("first");
    sandbox
}

/// Work of every kind that a run must leave alone: staged, changed, untracked, stashed, on another branch.
pub(crate) fn repository_with_work_in_progress() -> Sandbox {
    let sandbox = repository();
    sandbox.write("stashed.txt", "stash me\n");
    sandbox.git(&["add", "stashed.txt"]);
    sandbox.git(&["stash"]);
    sandbox.git(&["branch", "other"]);
    sandbox.write("staged.txt", "staged\n");
    sandbox.git(&["add", "staged.txt"]);
    sandbox.write("README.md", "# project, edited\n");
    sandbox.write("untracked.txt", "untracked\n");
    sandbox
}

pub(crate) fn says_done() -> Steps {
    Steps::new().say("All done.").status(&StatusBlock::done())
}

pub(crate) fn says_more() -> Steps {
    Steps::new().say("Going on.").status(&StatusBlock::in_progress())
}

pub(crate) fn one_call(sandbox: &Sandbox, steps: Steps) -> InstalledAgent {
    FakeAgent::new("agent").call(steps).install(sandbox)
}

pub(crate) fn status(sandbox: &Sandbox) -> Value {
    let finished = ralph(sandbox).args(["status", "--json"]).run();
    finished.assert_code(0);
    finished.json()
}

pub(crate) fn history(sandbox: &Sandbox) -> Vec<Value> {
    let finished = ralph(sandbox).args(["history", "--json"]).run();
    finished.assert_code(0);
    finished.json()["iterations"].as_array().expect("a list").clone()
}

/// `(iteration, outcome)` of the whole history.
pub(crate) fn outcomes(sandbox: &Sandbox) -> Vec<(u64, String)> {
    let outcome = |entry: &Value| entry["outcome"].as_str().unwrap_or("open").to_owned();
    history(sandbox)
        .iter()
        .map(|entry| (entry["iteration"].as_u64().expect("a number"), outcome(entry)))
        .collect()
}
