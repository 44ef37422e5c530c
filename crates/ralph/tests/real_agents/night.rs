//! A whole night with the real Claude Code: what can be proved is, the rest is parked, and the morning takes two commands.

use std::time::Duration;

use ralph_testkit::{RalphCommand, Sandbox, StatusBlock, Turn};
use serde_json::{Value, json};

use crate::common::ralph;
use crate::harness::{files_of, harness, item, item_now};
use crate::stage::{Actor, Cli, done, more};
use crate::trouble::FULL;

const CLAUDE: Cli = Cli::Claude;

fn with(mut item: Value, key: &str, value: Value) -> Value {
    item[key] = value;
    item
}

fn night(sandbox: &Sandbox, actor: &Actor) -> RalphCommand {
    let run = ralph(sandbox).args(["run", "--yes", "--agents", "claude", "--test-cmd", "true"]).args(FULL);
    run.envs(actor.env()).limit(Duration::from_secs(300))
}

/// Works on an item as an agent does: it says what it is about to do, does it, and claims.
fn works(command: &str) -> [Turn; 2] {
    let input = json!({"command": command, "description": "x"});
    [Turn::text_and_tool("Let me look at the module first.", "Bash", input), more("Did my part.")]
}

fn statuses(sandbox: &Sandbox) -> [Value; 6] {
    ["IMPOSSIBLE", "LIE", "ASKS", "AFTER", "ONE", "TWO"].map(|id| item_now(sandbox, id)["status"].clone())
}

#[test]
fn six_items_of_claude_end_proved_or_parked_and_two_commands_finish_the_list() {
    let sandbox = harness(&[
        with(item("IMPOSSIBLE", "never.txt"), "verification", json!(["false"])),
        with(item("LIE", "lie.txt"), "priority", json!(2)),
        with(item("ASKS", "asks.txt"), "priority", json!(3)),
        with(with(item("AFTER", "after.txt"), "dependencies", json!(["ASKS"])), "priority", json!(4)),
        with(item("ONE", "one.txt"), "priority", json!(5)),
        with(item("TWO", "two.txt"), "priority", json!(6)),
    ]);
    let blocked = StatusBlock::blocked("Blocked: Postgres or SQLite?");
    let asks = [CLAUDE.shell("touch half.txt"), Turn::text(format!("I need an answer.\n\n{blocked}"))];
    let script = [
        works("touch never.txt"),
        works("touch never2.txt"),
        works("touch never3.txt"),
        works("true"),
        works("touch lie.txt"),
        asks,
        works("touch one.txt"),
        works("touch two.txt"),
    ];
    let actor = Actor::enter(CLAUDE, &sandbox, script.into_iter().flatten());
    let finished = night(&sandbox, &actor).run();
    finished.assert_code(2);
    assert_eq!(
        statuses(&sandbox),
        ["BLOCKED", "PASSING", "BLOCKED", "FAILING", "PASSING", "PASSING"],
        "{finished}"
    );
    for (file, there) in [("never.txt", false), ("half.txt", false), ("lie.txt", true), ("two.txt", true)] {
        assert_eq!(sandbox.exists(file), there, "{file}: {finished}");
    }
    assert!(files_of(&sandbox, "HEAD").contains(&"A two.txt".to_owned()), "{finished}");
    let summary = ralph(&sandbox).arg("summary").run();
    summary.assert_code(0).assert_stdout_has("Postgres or SQLite?");
    summary.assert_stdout_has("ralph note --item ASKS").assert_stdout_has("ralph backlog skip IMPOSSIBLE");
    assert!(summary.stdout.lines().count() <= 25, "{summary}");

    ralph(&sandbox).args(["note", "--item", "ASKS", "SQLite, please"]).run().assert_code(0);
    ralph(&sandbox).args(["backlog", "skip", "IMPOSSIBLE"]).run().assert_code(0);
    let script = [works("touch asks.txt"), works("touch after.txt")];
    let reviews = done("I looked at everything again. All is done.");
    let actor = Actor::enter(CLAUDE, &sandbox, script.into_iter().flatten().chain([reviews]));
    let finished = night(&sandbox, &actor).run();
    finished.assert_code(0).assert_stderr_has("COMPLETE");
    assert!(actor.server.main_requests()[0].mentions("SQLite, please"));
    assert_eq!(
        statuses(&sandbox),
        ["BLOCKED", "PASSING", "PASSING", "PASSING", "PASSING", "PASSING"],
        "{finished}"
    );
    sandbox.assert_no_processes();
}
