//! A worker's item: the first attempt fails and is taken back, with what the agent had committed of it; the second is proved
//! and committed.

use std::collections::BTreeSet;

use ralph_testkit::RalphCommand;
use serde_json::{Value, json};

use crate::cases::How;
use crate::common::{history, repository_with_work_in_progress};
use crate::scenario::{Copy, Scenario, install_agent, make_old};
use crate::verdict::{After, SINCE, go_on, strike, unheard};

const HARNESS: &str = ".claude/harness/feature_list.json";
const BY_THE_AGENT: &str = "by the agent";

/// The first agent commits what is wrong and leaves more of it; the next one does better.
const WORK: &str = r#"
if [ ! -e "$SWEEP_DIARY/failed" ]; then
    put wrong.txt
    echo >> "$SWEEP_DIARY/git-begun"
    git add wrong.txt && git commit --quiet --message 'by the agent' -- wrong.txt
    echo >> "$SWEEP_DIARY/git-ended"
    put worse.txt
    : > "$SWEEP_DIARY/failed"
else
    put one.txt
fi
"#;

fn item(id: &str, proof: &str) -> Value {
    json!({"id": id, "title": format!("make {proof}"), "acceptance_criteria": [format!("{proof} is there")],
        "verification": [format!("test -e {proof}")], "status": "FAILING", "priority": 1, "dependencies": [], "attempts": [],
        "notes": "", "ralph_loop": {"enabled": true, "max_iterations": 9, "current_iteration": 0}})
}

pub(crate) fn scenario() -> Scenario {
    let template = repository_with_work_in_progress();
    install_agent(&template, WORK);
    let items = json!({"items": [item("FEAT-1", "one.txt")]});
    template.write(HARNESS, serde_json::to_string_pretty(&items).expect("JSON") + "\n");
    template.git(&["add", HARNESS]);
    template.git(&["commit", "--quiet", "--message", "items", "--", HARNESS]);
    make_old(&template, &["README.md", "staged.txt", "untracked.txt", HARNESS]);
    let before = template.user_git_state();
    Scenario {
        name: "backlog",
        template,
        before,
        after: None,
        code: 0,
        command: work_through,
        verdict: check,
    }
}

/// The rest of it, from the middle of a settlement on: the commit that takes the agent's back is about to be made.
pub(crate) fn settled_again() -> Scenario {
    scenario().cut_at(CUT, "settled again")
}

const CUT: &str = "start git update-ref#1";

fn work_through(copy: &Copy) -> RalphCommand {
    copy.with_agent(&["run", "--profile", "worker", "--all", "--yes"])
}

fn check(scenario: &Scenario, how: How, case: &str) {
    let (copy, struck) = strike(scenario, how, case);
    let after = go_on(&copy, &struck);
    after.attempts();
    assert!(after.history.len() <= 4, "a single strike costs two iterations at most: {:#?}", after.history);
    after.budget(unheard(how, case));
    if after.over && !after.leftovers().is_empty() {
        // Of a run that was over when it was cut off: the next one, which has nothing to do.
        copy.run_undisturbed().run().assert_code(0);
        assert_eq!(history(&copy.sandbox).len(), after.history.len());
    }
    let (git_s, left): (Vec<String>, Vec<String>) =
        after.leftovers().into_iter().partition(|path| is_lock_of_git(path));
    assert!(left.is_empty(), "{left:?}\n{}", after.said);
    let times = |page: &str| copy.diary(page).lines().count();
    if !git_s.is_empty() && times("git-begun") > times("git-ended") {
        // The agent's own git was ended with the agent, and left its lock: that is for the user to remove.
        return;
    }
    assert!(git_s.is_empty(), "{git_s:?}\n{}", after.said);
    items(&after);
    commits(scenario, &after);
    copy.sandbox.assert_no_processes();
}

/// In the user's repository, and not among ralph's own files.
fn is_lock_of_git(path: &str) -> bool {
    path.starts_with(".git/") && !path.starts_with(".git/ralph/") && path.ends_with(".lock")
}

/// Every attempt stands in the file and in the ledger, once, and none is forgotten in the count.
fn items(After { copy, history, said, .. }: &After<'_>) {
    let file: Value = serde_json::from_str(&copy.sandbox.read(HARNESS)).expect("JSON");
    let ledger = std::fs::read_to_string(copy.sandbox.project().join(".git/ralph/evidence.jsonl"));
    let ledger: Vec<Value> = ledger
        .expect("the ledger")
        .lines()
        .map(|line| serde_json::from_str(line).expect("a record"))
        .collect();
    // An agent that could not be started has tried nothing, nor has one that broke down before it did anything.
    let started = copy.diary("started");
    let broke_down = |entry: &Value| {
        let nothing = ["files_changed", "commits"].iter().all(|key| entry[*key].as_u64() == Some(0));
        nothing && entry["agent"]["failure"].is_string()
    };
    let worked = |entry: &&Value| {
        let known = started.lines().any(|line| line.parse().ok() == entry["iteration"].as_u64());
        known && !broke_down(entry)
    };
    for item in file["items"].as_array().expect("items") {
        let tried = history.iter().filter(|entry| entry["item"]["id"] == item["id"]).filter(worked);
        let tried =
            tried.filter(|entry| entry["outcome"] != "interrupted" && entry["outcome"] != "failed").count();
        let attempts = item["attempts"].as_array().expect("attempts");
        let distinct: BTreeSet<String> =
            attempts.iter().map(|attempt| attempt["run_id"].to_string()).collect();
        assert_eq!(distinct.len(), attempts.len(), "one attempt twice: {attempts:#?}\n{said}");
        assert!(attempts.len() >= tried, "{tried} tried: {attempts:#?}\n{history:#?}\n{said}");
        let of = |kind: &str| {
            ledger.iter().filter(|record| record["item"] == item["id"] && record["type"] == kind).count()
        };
        assert_eq!((of("attempt"), of("commit")), (attempts.len(), 1), "{ledger:#?}\n{said}");
        let passed = attempts.iter().filter(|attempt| attempt["result"] == "PASSED").count();
        assert_eq!((passed, &item["status"]), (1, &json!("PASSING")), "{item:#}\n{said}");
        let done = attempts.iter().find(|attempt| attempt["result"] == "PASSED");
        let head = copy.sandbox.git(&["rev-parse", "HEAD"]);
        assert_eq!(done.map(|attempt| &attempt["commit"]), Some(&json!(head)), "{item:#}\n{said}");
        // What is proved keeps the count of what failed before.
        let failed = attempts.len() - passed;
        assert_eq!(item["ralph_loop"]["current_iteration"], json!(failed), "{item:#}\n{said}");
    }
}

/// One commit for the item, one that takes back each of the agent's, and nothing of the user's in any of them. What an agent did
/// that ralph was cut off from stays, also where a later one commits it: it was no attempt.
fn commits(scenario: &Scenario, After { copy, history, said, .. }: &After<'_>) {
    let sandbox = &copy.sandbox;
    let worked =
        |entry: &Value| ["files_changed", "commits"].iter().any(|key| entry[*key].as_u64() > Some(0));
    let stays = history.iter().any(|entry| entry["outcome"] == "interrupted" && worked(entry));
    let log = sandbox.git(&["log", "--format=%s", "HEAD"]);
    let count = |start: &str| log.lines().filter(|line| line.starts_with(start)).count();
    let (theirs, reverts) = (count(BY_THE_AGENT), count("revert: "));
    // An agent that was lost after its commit had not written down that it failed, so the next one does the same.
    let lost = |entry: &&Value| entry["agent"]["failure"].is_string() && entry["commits"].as_u64() > Some(0);
    let most = 1 + history.iter().filter(lost).count().min(1);
    assert!(theirs <= most && (reverts == theirs || stays && reverts == 0), "{log}\n{said}");
    assert_eq!(log.lines().count(), 2 + 1 + theirs + reverts, "{log}\n{said}");
    let files = sandbox.git(&["ls-tree", "-r", "--name-only", "HEAD"]);
    let wrong = |file: &&str| ["wrong.txt", "worse.txt"].contains(file);
    let others: Vec<&str> = files.lines().filter(|file| !stays || !wrong(file)).collect();
    assert_eq!(others, [HARNESS, "README.md", "one.txt"], "{log}\n{said}");
    assert!(stays || !sandbox.exists("wrong.txt") && !sandbox.exists("worse.txt"), "{said}");
    assert_eq!(sandbox.git(&["show", "HEAD:README.md"]), "# project");
    assert_eq!(sandbox.git(&["diff", "--cached", "--name-status"]), "A\tstaged.txt", "{said}");
    let own = |line: &&String| {
        ["index", "wrong.txt", "worse.txt", "refs/heads/main", HARNESS, "one.txt", SINCE]
            .iter()
            .any(|part| line.contains(part))
    };
    let changed = scenario.before.differences(&sandbox.user_git_state());
    let changed: Vec<&String> = changed.iter().filter(|line| !own(line)).collect();
    assert!(changed.is_empty(), "the user's git state changed: {changed:#?}\n{said}");
}
