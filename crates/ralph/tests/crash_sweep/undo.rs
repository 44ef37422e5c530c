//! `ralph undo` of two iterations, in a project where the user has gone on working.

use ralph_testkit::{GitState, RalphCommand};

use crate::cases::How;
use crate::common::{GOAL, ralph, repository_with_work_in_progress, status};
use crate::scenario::{Copy, DIARY, Scenario, install_agent, make_old};
use crate::verdict::strike;

const WORK: &str = r#"
if [ ! -e first.txt ]; then
    put first.txt && put README.md && mkdir new && echo deep > new/deep.txt && rm untracked.txt
else
    put second.txt && put staged.txt
fi
"#;

const MINE: &str = "mine.txt";

pub(crate) fn scenario() -> Scenario {
    let template = repository_with_work_in_progress();
    install_agent(&template, WORK);
    make_old(&template, &["README.md", "staged.txt", "untracked.txt"]);
    let run =
        ralph(&template).args(["run", GOAL, "--test-cmd", "true", "--max-iterations", "2", "--agent-cmd"]);
    let run = run.arg(template.bin().join("agent")).env(DIARY, template.root().join("diary"));
    run.args(["--reviews", "9"]).run().assert_code(3);
    template.write(MINE, "mine\n");
    make_old(&template, &["new/deep.txt", MINE]);
    let before = template.user_git_state();
    let scenario =
        Scenario { name: "undo", template, before, after: None, code: 0, command: undo, verdict: check };
    Scenario { after: Some(afterwards(&scenario)), ..scenario }
}

fn undo(copy: &Copy) -> RalphCommand {
    ralph(&copy.sandbox).args(["undo", "1"])
}

/// How it looks when nobody strikes.
fn afterwards(scenario: &Scenario) -> GitState {
    let copy = scenario.copy();
    copy.run_undisturbed().run().assert_code(0);
    assert_eq!(copy.sandbox.read("untracked.txt"), "untracked\n");
    assert_eq!(copy.sandbox.read(MINE), "mine\n");
    assert!(!copy.sandbox.exists("new") && !copy.sandbox.exists("second.txt"));
    copy.sandbox.user_git_state()
}

fn check(scenario: &Scenario, how: How, case: &str) {
    let undone = scenario.after.clone().expect("how it is to look");
    let (copy, struck) = strike(scenario, how, case);
    // A helper of git's that ralph was killed beside may be at work for a moment.
    copy.sandbox.assert_no_processes();
    let now = copy.sandbox.user_git_state();
    let (is_before, is_after) = (now == scenario.before, now == undone);
    let differs = || [scenario.before.differences(&now), undone.differences(&now)];
    assert!(is_before || is_after, "half undone: {:#?}\n{struck}", differs());
    assert!(
        how == How::Kill || struck.code != 0 || is_after,
        "it said it was done: {:#?}\n{struck}",
        differs()
    );
    let again = copy.run_undisturbed().run();
    again.assert_code(0);
    let now = copy.sandbox.user_git_state();
    assert!(now == undone, "{:#?}\n{struck}\n{again}", undone.differences(&now));
    // And it can be taken back.
    let told = ralph(&copy.sandbox).args(["history", "--json"]).run().json();
    let first = told["undone"][0]["tree_before"].as_str().expect("the snapshot before it").to_owned();
    ralph(&copy.sandbox).args(["undo", "--to", &first]).run().assert_code(0);
    let now = copy.sandbox.user_git_state();
    assert!(now == scenario.before, "{:#?}", scenario.before.differences(&now));
    assert_eq!(status(&copy.sandbox)["running"], false);
    copy.sandbox.assert_no_processes();
}
