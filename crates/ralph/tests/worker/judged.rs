//! What an item is judged by, and what is said of it.

use ralph_testkit::Sandbox;
use serde_json::{Value, json};

use crate::common::{history, repository};
use crate::stage::{another, claims, item, worker, writer, writes};

const TOP: &str = "feature_list.json";

/// A committed project whose task file lies at its top, beside the sources.
fn at_the_top(items: &[Value]) -> Sandbox {
    let sandbox = repository();
    sandbox.write(TOP, serde_json::to_string_pretty(&json!({"items": items})).expect("JSON") + "\n");
    sandbox.commit_all("items");
    sandbox
}

#[test]
fn what_ralph_writes_into_the_task_file_is_no_todo_of_the_agent_s() {
    for todos in ["todos=refuse", "todos=flag"] {
        let sandbox = at_the_top(&[item("FEAT-1", "one.txt"), item("FEAT-2", "two.txt")]);
        let agent = writer(&sandbox, &["one.txt", "two.txt"]);
        let finished = worker(&sandbox, &agent).args(["--all", "--set", todos, "--backlog", TOP]).run();
        finished.assert_code(0).assert_stderr_lacks("comment added");
        assert!(sandbox.read(TOP).contains("no TODO or FIXME was added"), "{todos}\n{}", sandbox.read(TOP));
        assert_eq!(history(&sandbox).len(), 2, "{todos}");
    }
    // In the sources they are looked for as ever.
    let sandbox = at_the_top(&[item("FEAT-1", "one.txt")]);
    let todo = claims(writes("one.txt").write("a.py", "# TODO: later\n"));
    let agent = another(&sandbox).call(todo).install(&sandbox);
    let run = worker(&sandbox, &agent).args(["--set", "todos=refuse", "--backlog", TOP]).run();
    run.assert_code(3).assert_stderr_has("1 TODO or FIXME comment added: a.py: # TODO: later");
}
