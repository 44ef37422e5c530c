//! A list of which the first item is parked with what its agent committed and left, and the second is proved and committed.

use ralph_testkit::RalphCommand;
use serde_json::{Value, json};

use crate::cases::How;
use crate::common::repository_with_work_in_progress;
use crate::scenario::{BEGINS, Copy, REPORTS, Scenario, make_old, stream};
use crate::verdict::{After, SINCE, go_on_to, strike};

const HARNESS: &str = ".claude/harness/feature_list.json";

/// Works by the item that it is handed: the first cannot be done.
const WORK: &str = r#"
if grep -q 'make never.txt' "$SWEEP_DIARY/prompt-$RALPH_ITERATION"; then
    put wrong.txt
    echo >> "$SWEEP_DIARY/git-begun"
    git add wrong.txt && git commit --quiet --message 'by the agent' -- wrong.txt
    echo >> "$SWEEP_DIARY/git-ended"
    put worse.txt
    printf '%s\n' '@BLOCKED@' && echo "$RALPH_ITERATION" >> "$SWEEP_DIARY/reported"
    exit 0
fi
put one.txt
"#;

fn item(id: &str, proof: &str, priority: u64) -> Value {
    json!({"id": id, "title": format!("make {proof}"), "acceptance_criteria": [format!("{proof} is there")],
        "verification": [format!("test -e {proof}")], "status": "FAILING", "priority": priority, "dependencies": [],
        "attempts": [], "notes": "", "ralph_loop": {"enabled": true, "max_iterations": 9, "current_iteration": 0}})
}

pub(crate) fn scenario() -> Scenario {
    let template = repository_with_work_in_progress();
    let done = stream();
    let blocked = done
        .replace("STATUS: COMPLETE", "STATUS: BLOCKED")
        .replace("EXIT_SIGNAL: true", "EXIT_SIGNAL: false");
    let work = WORK.replace("@BLOCKED@", &blocked);
    template.install_script("agent", &format!("{BEGINS}{work}{}\n", REPORTS.replace("@STREAM@", &done)));
    std::fs::create_dir_all(template.root().join("diary")).expect("make a folder");
    let items = json!({"items": [item("FEAT-1", "never.txt", 1), item("FEAT-2", "one.txt", 2)]});
    template.write(HARNESS, serde_json::to_string_pretty(&items).expect("JSON") + "\n");
    template.git(&["add", HARNESS]);
    template.git(&["commit", "--quiet", "--message", "items", "--", HARNESS]);
    make_old(&template, &["README.md", "staged.txt", "untracked.txt", HARNESS]);
    let before = template.user_git_state();
    Scenario {
        name: "parking",
        template,
        before,
        after: None,
        code: 2,
        command: work_through,
        verdict: check,
    }
}

fn work_through(copy: &Copy) -> RalphCommand {
    copy.with_agent(&["run", "--yes"])
}

fn check(scenario: &Scenario, how: How, case: &str) {
    let (copy, struck) = strike(scenario, how, case);
    let after = go_on_to(&copy, &struck, "blocked", 2);
    after.attempts();
    let times = |page: &str| copy.diary(page).lines().count();
    let locked = after.leftovers().iter().any(|path| path.starts_with(".git/") && path.ends_with(".lock"));
    if locked && times("git-begun") > times("git-ended") {
        // The agent's own git was ended with the agent, and left its lock: that is for the user to remove.
        return;
    }
    items(&after);
    work(scenario, &after);
    copy.sandbox.assert_no_processes();
}

/// The first item is parked once, the second proved once.
fn items(After { copy, said, .. }: &After<'_>) {
    let file: Value = serde_json::from_str(&copy.sandbox.read(HARNESS)).expect("JSON");
    let states: Vec<&Value> =
        file["items"].as_array().expect("items").iter().map(|item| &item["status"]).collect();
    assert_eq!(states, ["BLOCKED", "PASSING"], "{said}");
    let ledger = std::fs::read_to_string(copy.sandbox.project().join(".git/ralph/evidence.jsonl"));
    let ledger = ledger.expect("the ledger");
    let records: Vec<Value> =
        ledger.lines().map(|line| serde_json::from_str(line).expect("a record")).collect();
    let parked = records.iter().filter(|record| record["parked"].is_object()).count();
    let passed = records.iter().filter(|record| record["result"] == "PASSED").count();
    assert_eq!((parked, passed), (1, 1), "{records:#?}\n{said}");
}

/// What the agent did for the parked item is in no file and not in HEAD, can be had as a patch, and nothing of the user's moved.
fn work(scenario: &Scenario, After { copy, said, .. }: &After<'_>) {
    let sandbox = &copy.sandbox;
    assert!(
        !sandbox.exists("wrong.txt") && !sandbox.exists("worse.txt") && sandbox.exists("one.txt"),
        "{said}"
    );
    let files = sandbox.git(&["ls-tree", "-r", "--name-only", "HEAD"]);
    assert_eq!(files.lines().collect::<Vec<_>>(), [HARNESS, "README.md", "one.txt"], "{said}");
    let patch = crate::common::ralph(sandbox).args(["backlog", "show", "FEAT-1", "--patch"]).run();
    patch.assert_code(0).assert_stdout_has("b/worse.txt").assert_stdout_has("b/wrong.txt");
    let log = sandbox.git(&["log", "--format=%s"]);
    let reverts = log.lines().filter(|line| line.starts_with("revert: FEAT-1")).count();
    assert_eq!(reverts, 1, "{log}\n{said}");
    assert_eq!(sandbox.git(&["diff", "--cached", "--name-status"]), "A\tstaged.txt", "{said}");
    let own = |line: &&String| {
        ["index", "refs/heads/main", HARNESS, "one.txt", SINCE].iter().any(|part| line.contains(part))
    };
    let changed = scenario.before.differences(&sandbox.user_git_state());
    let changed: Vec<&String> = changed.iter().filter(|line| !own(line)).collect();
    assert!(changed.is_empty(), "the user's git state changed: {changed:#?}\n{said}");
}
