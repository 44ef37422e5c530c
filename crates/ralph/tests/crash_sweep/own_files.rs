//! A run whose agent removes everything of ralph's and prints more than is worth keeping as it is: own files come back,
//! output is packed, and what is too old goes.

use ralph_testkit::RalphCommand;

use crate::cases::How;
use crate::common::{GOAL, ralph, repository_with_work_in_progress};
use crate::scenario::{Copy, Scenario, install_agent, make_old};
use crate::verdict::{go_on, is_keeper, lost_its_keeper, strike, unheard};

/// The whole run's agent with heavy hands.
const WORK: &str = r#"
if [ ! -e first.txt ]; then
    put first.txt
elif [ ! -e green ]; then
    # Once ralph has written down that it works, and will look again when it has ended.
    until cat .git/ralph/runs/*/journal.jsonl | grep agent_started | grep -qE "\"pid\":($$|$PPID)[,}]"; do :; done
    rm -rf .git/ralph .ralph
    echo >> "$SWEEP_DIARY/removed"
    put green
fi
# As much as a pipe takes at once.
n=0; while [ $n -lt 128 ]; do n=$((n + 1)); echo "a line that is like many others"; done > "$SWEEP_DIARY/noise.$$"
cat "$SWEEP_DIARY/noise.$$" >&2
"#;

const JOURNAL: &str = ".git/ralph/runs/0002/journal.jsonl";
const EARLIER: &str = ".git/ralph/runs/0001/journal.jsonl";
const LEDGER: &str = ".git/ralph/evidence.jsonl";
/// What people wrote for ralph.
const MINE: [(&str, &str); 3] = [
    (".ralph/config.toml", "[policy]\nmax_iterations = 20\n"),
    (".ralph/prompt.md", "Be careful.\n"),
    (".ralph/guardrails.md", "Never push.\n"),
];

pub(crate) fn scenario() -> Scenario {
    let template = repository_with_work_in_progress();
    install_agent(&template, WORK);
    MINE.into_iter().for_each(|(path, text)| template.write(path, text));
    // An earlier run, with evidence and as many iterations as are kept.
    template.write("plan.md", "- [ ] something\n- [ ] more\n");
    let earlier = "sed -i '1s/. ./x/' plan.md; echo a line that is like many others";
    let first = ralph(&template).args(["run", "--yes", "--backlog", "plan.md", "--test-cmd", "true"]);
    let first = first.args(["--max-iterations", "10", "--set", "no_progress=off", "--set", "commits=never"]);
    first.args(["--agent-cmd", earlier]).run().assert_code(3);
    std::fs::remove_file(template.project().join("plan.md")).expect("removed");
    assert!(template.exists(LEDGER), "there is evidence");
    make_old(&template, &["README.md", "staged.txt", "untracked.txt"]);
    let before = template.user_git_state();
    Scenario { name: "own files", template, before, after: None, code: 0, command: run, verdict: check }
}

fn run(copy: &Copy) -> RalphCommand {
    copy.run_for(GOAL).args(["--set", "keep_output=10"])
}

/// Whether this point's effect came so many times before the strike.
fn had_come(copy: &Copy, point: &str, times: usize) -> bool {
    let points = copy.points();
    let struck = points.iter().position(|name| name.starts_with("struck: ")).expect("struck");
    // The last one is the one that struck.
    points[..struck - 1].iter().filter(|name| *name == point).count() >= times
}

fn check(scenario: &Scenario, how: How, case: &str) {
    let (copy, struck) = strike(scenario, how, case);
    let killed = how == How::Kill && !is_keeper(case) && !lost_its_keeper(&struck);
    // Copies of what the agent removed are ralph's own, and go with it: whoever kills it before they are used has killed
    // the record. Then a new run works on, with all that the tree has.
    let removed = copy.diary("removed").lines().count() == 1;
    let is_lost = removed && killed && !had_come(&copy, "rename journal.jsonl", 1);
    assert!(is_lost || !removed || copy.sandbox.exists(JOURNAL), "the record is lost\n{struck}");
    let mut after = go_on(&copy, &struck);
    after.history.retain(|entry| entry["run"] == after.status["run"]["number"]);
    after.came_to_its_end(5);
    after.work(scenario);
    if !is_lost {
        after.attempts();
        after.budget(unheard(how, case).max(u64::from(lost_its_keeper(&struck))));
        for (path, point, nth) in [(EARLIER, "rename journal.jsonl", 2), (LEDGER, "rename evidence.jsonl", 1)]
        {
            let gone = removed && killed && !had_come(&copy, point, nth);
            let (was, is) = (scenario.template.read(path), copy.sandbox.project().join(path));
            let is = std::fs::read_to_string(is).unwrap_or_default();
            assert!(gone || is == was, "{path} is not what it was\n{}", after.said);
        }
        after.views();
    }
    for (path, text) in MINE {
        let name = path.rsplit('/').next().unwrap_or_default();
        let gone = removed && killed && !had_come(&copy, &format!("rename {name}"), 1);
        let is = std::fs::read_to_string(copy.sandbox.project().join(path)).unwrap_or_default();
        assert!(gone || is == text, "{path} is not what it was: {is}\n{}", after.said);
    }
    let left = after.leftovers();
    assert!(left.is_empty(), "{left:?}\n{}", after.said);
    copy.sandbox.assert_no_processes();
}
