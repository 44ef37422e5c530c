//! After every stop reason the user's git state is as it was before, but for what the agent wrote and a declared commit.
#![expect(clippy::disallowed_methods, reason = "tests have files of their own")]

mod common;

use std::collections::BTreeSet;
use std::fs;

use common::{in_seconds, ralph, repository_with_work_in_progress, run, status};
use ralph_core::decision::{Proof, Stop};
use ralph_core::limits::Resource;
use ralph_core::time::Time;
use ralph_testkit::{
    ClaudeResult, FakeAgent, InstalledAgent, RalphCommand, Sandbox, Signal, StatusBlock, Steps,
};

const PLAN: &str = "fix_plan.md";

/// What may differ afterwards, apart from what the agent wrote.
#[derive(Clone, Copy, PartialEq)]
enum Ours {
    Nothing,
    /// Marks in the task file.
    Marks,
    /// A commit on the user's branch, and its entries in the index.
    Commit,
    /// A commit with the marks.
    MarksInACommit,
}

/// How a run comes to a stop.
struct Way {
    word: &'static str,
    code: i32,
    /// The file that the agent writes, if it comes to that.
    file: Option<&'static str>,
    steps: fn(Steps) -> Steps,
    /// Arguments that follow `run GOAL --yes --agent-cmd AGENT`; of a run on the backlog they follow without the goal.
    args: &'static [&'static str],
    plan: Option<&'static str>,
    ours: Ours,
    /// What happens from outside.
    then: fn(&Sandbox, RalphCommand) -> i32,
}

const USUAL: Way = Way {
    word: "",
    code: 0,
    file: Some("agent.txt"),
    steps: more,
    args: &[],
    plan: None,
    ours: Ours::Nothing,
    then: |_, command| command.run().code,
};

fn more(steps: Steps) -> Steps {
    steps.say("Going on.").status(&StatusBlock::in_progress())
}

fn done(steps: Steps) -> Steps {
    steps.say("All done.").status(&StatusBlock::done())
}

fn costly(steps: Steps) -> Steps {
    let result = ClaudeResult::success("Going on.").usage(100, 50).cost_usd(0.01);
    steps.claude_init().claude_result(result)
}

fn hangs(steps: Steps) -> Steps {
    steps.reach("agent").hang()
}

fn ended_by(sandbox: &Sandbox, command: RalphCommand, signal: Signal) -> i32 {
    let running = command.spawn();
    sandbox.wait_for("agent");
    running.signal(signal);
    running.wait().code
}

const OPEN: Option<&str> = Some("- [ ] first thing\n- [ ] second thing\n");
const DONE: Option<&str> = Some("- [x] first thing\n");
const ONE: Option<&str> = Some("- [ ] first thing\n");

fn goals() -> Vec<Way> {
    let proved = &["--reviews", "0", "--test-cmd", "true"];
    vec![
        Way { word: "complete", steps: done, args: proved, ..USUAL },
        Way {
            word: "complete",
            steps: done,
            args: &["--reviews", "0", "--test-cmd", "true", "--commit"],
            ours: Ours::Commit,
            ..USUAL
        },
        Way {
            word: "blocked",
            code: 2,
            steps: |steps| steps.status(&StatusBlock::blocked("need a key")),
            ..USUAL
        },
        Way { word: "max_iterations", code: 3, args: &["--max-iterations", "1"], ..USUAL },
        Way {
            word: "test_saturation",
            code: 3,
            file: Some("tests/agent_test.rs"),
            args: &["--profile", "analyzer", "--set", "session_view=false"],
            ..USUAL
        },
        Way {
            word: "done_saturation",
            code: 3,
            steps: |steps| {
                let said = steps.say("All tasks are complete. The project is done.");
                said.status(&StatusBlock::in_progress())
            },
            file: Some("grows.txt"),
            args: &["--set", "done_signals=halt"],
            ..USUAL
        },
        Way { word: "circuit_open", code: 5, file: Some("once.txt"), ..USUAL },
        Way { word: "budget", code: 6, steps: costly, args: &["--budget", "0.001"], ..USUAL },
        Way { word: "max_tokens", code: 6, steps: costly, args: &["--max-tokens", "10"], ..USUAL },
        Way { word: "max_time", code: 6, steps: |steps| steps.hang(), args: &["--max-time", "4s"], ..USUAL },
        Way {
            word: "until",
            code: 6,
            steps: |steps| steps.hang(),
            then: |_, command| command.args(["--until", &in_seconds(4)]).run().code,
            ..USUAL
        },
        Way { word: "agents_exhausted", code: 4, steps: |steps| steps.exit(1), ..USUAL },
        // The private index is a folder: nothing can be measured, and no agent is started.
        Way {
            word: "error",
            code: 1,
            file: None,
            then: |sandbox, command| {
                sandbox.write(".git/ralph/index/in-the-way", "x");
                command.run().code
            },
            ..USUAL
        },
    ]
}

fn ended() -> Vec<Way> {
    let by = Way { steps: hangs, ..USUAL };
    vec![
        Way {
            word: "stopped",
            code: 130,
            steps: |steps| more(steps.reach("agent").hold("go")),
            then: |sandbox, command| {
                let running = command.spawn();
                sandbox.wait_for("agent");
                ralph(sandbox).arg("stop").run().assert_code(0);
                sandbox.release("go");
                running.wait().code
            },
            ..USUAL
        },
        Way {
            word: "closed",
            code: 3,
            args: &["--max-iterations", "1"],
            then: |sandbox, command| {
                let code = command.run().code;
                ralph(sandbox).arg("reset").run().assert_code(0);
                code
            },
            ..USUAL
        },
        Way {
            word: "interrupted",
            code: 130,
            then: |sandbox, command| ended_by(sandbox, command, Signal::INT),
            ..by
        },
        // Twice: at once, and what the record then lacks the next run finds out.
        Way {
            word: "",
            code: 130,
            steps: |steps| steps.shell("trap '' TERM").reach("agent").shell("while :; do sleep 1000; done"),
            then: |sandbox, command| {
                let running = command.spawn();
                sandbox.wait_for("agent");
                running.signal(Signal::INT);
                running.wait_for_stderr("ending the agent");
                running.signal(Signal::INT);
                running.wait().code
            },
            ..USUAL
        },
        Way {
            word: "terminated",
            code: 143,
            then: |sandbox, command| ended_by(sandbox, command, Signal::TERM),
            ..by
        },
        Way {
            word: "terminated",
            code: 143,
            then: |sandbox, command| ended_by(sandbox, command, Signal::HUP),
            ..by
        },
        Way { word: "", code: 64, file: None, args: &["--no-such-flag"], ..USUAL },
    ]
}

fn items() -> Vec<Way> {
    vec![
        Way {
            word: "item_passed",
            args: &["--once", "--test-cmd", "true"],
            plan: OPEN,
            ours: Ours::MarksInACommit,
            ..USUAL
        },
        Way {
            word: "complete",
            steps: done,
            args: &["--reviews", "0", "--test-cmd", "true"],
            plan: ONE,
            ours: Ours::MarksInACommit,
            ..USUAL
        },
        Way {
            word: "item_failed",
            code: 3,
            args: &["--once", "--test-cmd", "false", "--set", "baseline=off"],
            plan: OPEN,
            ours: Ours::Marks,
            ..USUAL
        },
        Way { word: "backlog_complete", code: 7, file: None, args: &["--once"], plan: DONE, ..USUAL },
        // Somebody has made a folder of it by the time that the run goes on.
        Way {
            word: "unreadable",
            code: 65,
            steps: |steps| more(steps.shell("touch gone.txt")),
            args: &["--test-cmd", "false", "--set", "baseline=off", "--max-iterations", "1"],
            plan: OPEN,
            ours: Ours::Marks,
            then: |sandbox, command| {
                command.run().assert_code(3);
                fs::remove_file(sandbox.project().join(PLAN)).expect("a plan");
                fs::create_dir(sandbox.project().join(PLAN)).expect("a folder");
                ralph(sandbox).args(["run", "--max-iterations", "3"]).run().code
            },
            ..USUAL
        },
    ]
}

fn agent(sandbox: &Sandbox, way: &Way) -> InstalledAgent {
    let steps = match way.file {
        Some(file @ ("tests/agent_test.rs" | "grows.txt")) => Steps::new().append(file, "// again\n"),
        Some(file) => Steps::new().write(file, "by the agent\n"),
        None => Steps::new(),
    };
    FakeAgent::new("agent").call((way.steps)(steps)).install(sandbox)
}

fn assert_only_that_differs(way: &Way) {
    let sandbox = repository_with_work_in_progress();
    if let Some(plan) = way.plan {
        sandbox.write(PLAN, plan);
        sandbox.git(&["add", PLAN]);
        sandbox.git(&["commit", "-q", "-m", "plan", "--", PLAN]);
    }
    let agent = agent(&sandbox, way);
    let before = sandbox.user_git_state();
    let command = match way.plan {
        Some(_) => ralph(&sandbox).args(["run", "--yes", "--agent-cmd"]).arg(agent.path()),
        None => run(&sandbox, &agent),
    };
    let code = (way.then)(&sandbox, command.args(way.args));
    assert_eq!(code, way.code, "{}", way.word);
    // Where there is nothing to do no run begins, and none is recorded.
    if !["", "backlog_complete"].contains(&way.word) {
        assert_eq!(status(&sandbox)["stop_reason"], way.word);
    }
    let mut seen = BTreeSet::new();
    for line in before.differences(&sandbox.user_git_state()) {
        let about = |what: &str| line.contains(what);
        let plan = about(PLAN) || about("gone.txt");
        let kind = match () {
            () if way.file.is_some_and(|file| about(file) || about("tests/")) => "agent",
            () if plan && matches!(way.ours, Ours::Marks | Ours::MarksInACommit) => "plan",
            () if matches!(way.ours, Ours::Commit | Ours::MarksInACommit)
                && (about("refs/heads/main") || about("index: ")) =>
            {
                "commit"
            }
            () => panic!("{}: {line}", way.word),
        };
        seen.insert(kind);
    }
    assert_eq!(seen.contains("agent"), way.file.is_some(), "{}", way.word);
    let commits = matches!(way.ours, Ours::Commit | Ours::MarksInACommit);
    assert_eq!(seen.contains("commit"), commits, "{}", way.word);
    if commits {
        let listing = sandbox.git(&["diff", "--name-only", "HEAD~1", "HEAD"]);
        let marks: &[&str] = if way.ours == Ours::MarksInACommit { &[PLAN] } else { &[] };
        let wanted: Vec<&str> = way.file.into_iter().chain(marks.iter().copied()).collect();
        assert_eq!(listing.lines().collect::<Vec<_>>(), wanted, "{}", way.word);
        assert_eq!(sandbox.git(&["rev-list", "--count", "main"]), if way.plan.is_some() { "3" } else { "2" });
    }
    sandbox.assert_no_processes();
}

#[test]
fn the_user_s_git_state_is_the_same_however_a_run_for_a_goal_stops() {
    goals().iter().for_each(assert_only_that_differs);
}

#[test]
fn the_user_s_git_state_is_the_same_whoever_ends_a_run() {
    ended().iter().for_each(assert_only_that_differs);
}

#[test]
fn the_user_s_git_state_is_the_same_however_a_run_on_a_backlog_stops() {
    items().iter().for_each(assert_only_that_differs);
}

/// Each kind of stop leads to the next one: a new kind does not compile before it has its place, and its way above.
fn next(stop: &Stop) -> Option<Stop> {
    let why = || "why".to_owned();
    let budget = |what| Stop::Budget { what, used: 2, max: 1, why: None, until: None };
    Some(match stop {
        Stop::Complete { .. } => Stop::Blocked { why: why() },
        Stop::Blocked { .. } => Stop::MaxIterations { used: 1, max: 1 },
        Stop::MaxIterations { .. } => Stop::Saturated { word: "test_saturation".into(), why: why() },
        Stop::Saturated { word, .. } if word == "test_saturation" => {
            Stop::Saturated { word: "done_saturation".into(), why: why() }
        }
        Stop::Saturated { .. } => Stop::CircuitOpen { why: why(), probe_at: None },
        Stop::CircuitOpen { .. } => budget(Resource::Money),
        Stop::Budget { until: Some(_), .. } => Stop::AgentsExhausted { failures: 1, last: why() },
        Stop::Budget { what: Resource::Money, .. } => budget(Resource::Tokens),
        Stop::Budget { what: Resource::Tokens, .. } => budget(Resource::Time),
        Stop::Budget { what: Resource::Time, used, max, why, .. } => Stop::Budget {
            what: Resource::Time,
            used: *used,
            max: *max,
            why: why.clone(),
            until: Some(Time::default()),
        },
        Stop::AgentsExhausted { .. } => Stop::Stopped,
        Stop::Stopped => Stop::Closed,
        Stop::Closed => Stop::Interrupted,
        Stop::Interrupted => Stop::Terminated,
        Stop::Terminated => Stop::Error { what: why() },
        Stop::Error { .. } => Stop::ItemPassed { id: why(), proof: Proof::Checks },
        Stop::ItemPassed { .. } => Stop::ItemFailed { id: why(), why: why() },
        Stop::ItemFailed { .. } => Stop::BacklogComplete { once: true, for_people: None },
        Stop::BacklogComplete { .. } => Stop::Unreadable { what: why() },
        // The last one is what a later version may have recorded; nobody stops so.
        Stop::Unreadable { .. } | Stop::Unknown => return None,
    })
}

#[test]
fn no_way_to_stop_is_left_out() {
    let first = Stop::complete(Proof::Checks);
    let all: BTreeSet<&str> = std::iter::successors(Some(first), next).map(|stop| stop.word()).collect();
    let ways = goals().into_iter().chain(ended()).chain(items());
    let tried: BTreeSet<&str> = ways.map(|way| way.word).filter(|word| !word.is_empty()).collect();
    assert_eq!(tried, all);
}
