//! Projects with a backlog, and how they are worked on.

use ralph_testkit::{FakeAgent, InstalledAgent, RalphCommand, Sandbox, StatusBlock, Steps};
use serde_json::{Value, json};

use crate::common::{ralph, repository};

pub(crate) const HARNESS: &str = ".claude/harness/feature_list.json";

/// An item that is proved by a file.
pub(crate) fn item(id: &str, proof: &str) -> Value {
    json!({"id": id, "title": format!("make {proof}"), "acceptance_criteria": [format!("{proof} is there")],
        "verification": [format!("test -e {proof}")], "status": "FAILING", "priority": 1, "dependencies": [], "attempts": [],
        "notes": "", "ralph_loop": {"enabled": true, "max_iterations": 3, "current_iteration": 0}})
}

pub(crate) fn write_items(sandbox: &Sandbox, items: &[Value]) {
    let text = serde_json::to_string_pretty(&json!({"items": items})).expect("JSON") + "\n";
    sandbox.write(HARNESS, text);
}

/// A committed project with these items in its harness.
pub(crate) fn harness(items: &[Value]) -> Sandbox {
    let sandbox = repository();
    write_items(&sandbox, items);
    sandbox.commit_all("items");
    sandbox
}

/// Two items, proved by `one.txt` and `two.txt`.
pub(crate) fn two_items() -> Sandbox {
    harness(&[item("FEAT-1", "one.txt"), item("FEAT-2", "two.txt")])
}

/// Two items in a Markdown list.
pub(crate) fn checklist() -> Sandbox {
    let sandbox = repository();
    sandbox.write("fix_plan.md", "# Plan\n\n- [ ] first thing\n- [ ] second thing\n");
    sandbox.commit_all("plan");
    sandbox
}

/// `ralph run --profile worker` with this agent.
pub(crate) fn worker(sandbox: &Sandbox, agent: &InstalledAgent) -> RalphCommand {
    ralph(sandbox).args(["run", "--profile", "worker", "--yes", "--agent-cmd"]).arg(agent.path())
}

/// `ralph run` on the project's backlog.
pub(crate) fn works_through(sandbox: &Sandbox, agent: &InstalledAgent) -> RalphCommand {
    ralph(sandbox).args(["run", "--yes", "--agent-cmd"]).arg(agent.path())
}

/// The same where the items are to make a check pass that fails before the run and names no tests.
pub(crate) fn turns_green(sandbox: &Sandbox, agent: &InstalledAgent) -> RalphCommand {
    works_through(sandbox, agent).args(["--set", "baseline=refuse"])
}

/// Claims the item and says that more is to do.
pub(crate) fn claims(steps: Steps) -> Steps {
    steps.say("Did my part.").status(&StatusBlock::in_progress())
}

pub(crate) fn writes(path: &str) -> Steps {
    Steps::new().write(path, format!("{path}\n"))
}

/// Writes these files, one a call, and claims each time.
pub(crate) fn writer(sandbox: &Sandbox, files: &[&str]) -> InstalledAgent {
    let agent = files.iter().fold(another(sandbox), |agent, file| agent.call(claims(writes(file))));
    agent.install(sandbox)
}

/// An agent with a name of its own.
pub(crate) fn another(sandbox: &Sandbox) -> FakeAgent {
    let made = std::fs::read_dir(sandbox.root().join("agents")).expect("the agents' folder").count();
    FakeAgent::new(&format!("agent-{made}"))
}

/// An item as the harness has it now.
pub(crate) fn item_now(sandbox: &Sandbox, id: &str) -> Value {
    let file: Value = serde_json::from_str(&sandbox.read(HARNESS)).expect("JSON");
    let items = file["items"].as_array().expect("items").clone();
    items.into_iter().find(|item| item["id"] == id).expect("the item")
}

pub(crate) fn commits(sandbox: &Sandbox) -> usize {
    sandbox.git(&["rev-list", "--count", "HEAD"]).parse().expect("a number")
}

/// The files of a commit, with how they changed.
pub(crate) fn files_of(sandbox: &Sandbox, commit: &str) -> Vec<String> {
    let listing = sandbox.git(&["show", "--format=", "--name-status", "--no-renames", commit]);
    listing.lines().map(|line| line.replace('\t', " ")).collect()
}

/// The records of the evidence ledger.
pub(crate) fn ledger(sandbox: &Sandbox) -> Vec<Value> {
    let path = sandbox.project().join(".git/ralph/evidence.jsonl");
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).expect("a record")).collect()
}

/// How often the ledger has a record of this type.
pub(crate) fn recorded(sandbox: &Sandbox, kind: &str) -> usize {
    ledger(sandbox).iter().filter(|record| record["type"] == kind).count()
}

/// A hook of the user's.
pub(crate) fn hook(sandbox: &Sandbox, name: &str, script: &str) {
    let path = format!(".git/hooks/{name}");
    sandbox.write(&path, format!("#!/bin/sh\n{script}\n"));
    let status = sandbox.command("chmod").arg("755").arg(sandbox.project().join(&path)).status();
    assert!(status.expect("start chmod").success());
}

/// A commit hook that tells that it runs, and goes on when it is let go.
pub(crate) fn slow_hook(sandbox: &Sandbox, before: &str) {
    let (here, go) = (sandbox.point("hooked"), sandbox.point("let-go"));
    let script = format!("{before}\necho > '{}'\nread _ < '{}'", here.display(), go.display());
    hook(sandbox, "pre-commit", &script);
}

/// A file as HEAD has it.
pub(crate) fn committed(sandbox: &Sandbox, path: &str) -> String {
    sandbox.git(&["show", &format!("HEAD:{path}")])
}
