//! What becomes of a backlog as a whole, when no item is open any more.

use ralph_testkit::{StatusBlock, Steps};
use serde_json::{Value, json};

use crate::common::{history, repository};
use crate::stage::{another, turns_green};

#[test]
fn a_review_of_the_whole_that_is_refused_is_followed_by_work_that_counts() {
    let sandbox = repository();
    sandbox.write("fix_plan.md", "- [ ] say bye\n");
    sandbox.commit_all("plan");
    let done = StatusBlock::done();
    let agent = another(&sandbox)
        .call(Steps::new().write("bye", "bye\n").status(&done))
        .call(Steps::new().delete("bye").status(&done))
        .call(Steps::new().status(&done))
        .install(&sandbox);
    let finished = turns_green(&sandbox, &agent).args(["--test-cmd", "test -f bye"]).run();
    finished.assert_code(5).assert_stderr_has("CIRCUIT OPEN: no_progress: 3 iterations with no file changes");
    let kinds: Vec<Value> = history(&sandbox).iter().map(|entry| entry["kind"].clone()).collect();
    assert_eq!(kinds, [json!("work"), json!("review"), json!("work"), json!("work"), json!("work")]);
    let prompts: Vec<String> = agent.calls(&sandbox).into_iter().map(|call| call.prompt).collect();
    assert!(prompts[1].contains("This iteration is a review"), "{}", prompts[1]);
    assert!(!prompts[2].contains("This iteration is a review"), "{}", prompts[2]);
    assert!(prompts[2].contains("What the loop found: test -f bye exit 1"), "{}", prompts[2]);
}
