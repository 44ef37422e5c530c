//! The rules in their order, as the machine applies them: scripts of iterations under a policy, and what stops them.

use super::*;
use crate::breaker::Circuit;
use crate::event::ChangedPath;
use crate::evidence::{AddedTodos, Items};
use crate::limit::{Limit, LimitKind};
use crate::report::Builder;
use crate::transcript::Item;

/// One iteration: what the agent prints, what it changes, and how it ends.
#[derive(Clone, Default)]
struct Step {
    words: String,
    changed: Vec<&'static str>,
    code: i32,
    denied: bool,
    error: Option<&'static str>,
    limit: Option<(LimitKind, Option<u64>)>,
    items: Option<Items>,
    todos: u64,
}

fn report(status: &str, tests: &str, work: &str, exit: bool) -> String {
    format!(
        "{}\nSTATUS: {status}\nTASKS_COMPLETED_THIS_LOOP: 1\nFILES_MODIFIED: 1\nTESTS_STATUS: {tests}\nWORK_TYPE: {work}\nEXIT_SIGNAL: {exit}\nRECOMMENDATION: Next: more\n{}",
        block::BEGIN,
        block::END
    )
}

fn more() -> Step {
    Step { words: report("IN_PROGRESS", "PASSING", "IMPLEMENTATION", false), ..Step::default() }
}

fn done() -> Step {
    Step { words: report("COMPLETE", "PASSING", "IMPLEMENTATION", true), ..Step::default() }
}

/// Done in the block and in prose, as the dual gate wants it.
fn twice_done() -> Step {
    let prose = "All tasks are complete. There is nothing left to do.\n";
    Step { words: format!("{prose}{}", done().words), ..Step::default() }
}

impl Step {
    fn changing(mut self, paths: &[&'static str]) -> Self {
        self.changed = paths.to_vec();
        self
    }

    fn crashing(mut self) -> Self {
        self.code = 1;
        self
    }

    fn limited(mut self, kind: LimitKind, reset_in: Option<u64>) -> Self {
        self.limit = Some((kind, reset_in));
        self.crashing()
    }
}

fn policy(profile: &str, sets: &[(&str, &str)]) -> Policy {
    let mut policy = profile::profile(profile).expect("a profile").policy();
    policy.set("baseline", "off").expect("a value");
    for (key, value) in sets {
        policy.set(key, value).unwrap_or_else(|error| panic!("{error}"));
    }
    policy
}

fn start(policy: Policy, checks: &[&str]) -> Sim {
    Sim::new(Plan { policy, ..plan(checks) })
}

impl Sim {
    fn step(&mut self, step: &Step) {
        if let Phase::Waiting { until, .. } = self.state.phase {
            self.now = until;
            self.event(Event::DeadlinePassed);
        }
        assert_eq!(self.stop(), "running");
        if let [Effect::MeasureTree { when: When::Before, .. }] = self.effects[..] {
            self.tree(When::Before, 0);
        }
        assert_eq!(self.effects, [Effect::StartAgent]);
        let mut builder = Builder::default();
        if let Some(error) = step.error {
            builder.add(Item::ToolFailed(error.into()));
        }
        builder.add(Item::Words(step.words.clone()));
        let mut report = builder.finish();
        report.cost_micro_usd = Some(100_000);
        report.usage.input = 1000;
        report.denied = if step.denied { vec!["Bash".into()] } else { vec![] };
        report.limit =
            step.limit.map(|(kind, _)| Limit { kind, status: None, reset: None, text: "limit".into() });
        let reset_at = step.limit.and_then(|(_, reset)| reset).map(|ms| self.now.plus(ms));
        let end = End::Exited { code: step.code };
        let ended =
            AgentEnded { end, duration_ms: 5, asked: false, leftovers: 0, report, stderr: None, reset_at };
        self.event(Event::AgentEnded(Box::new(ended)));
        let mut after = Measured::new(When::After, format!("t{}", self.now.millis()), None, &[]);
        let path = |path: &&str| ChangedPath { kind: 'M', path: (*path).into() };
        after.changed = step.changed.iter().map(path).collect();
        after.changed_total = after.changed.len() as u64;
        after.items = step.items;
        let [Effect::MeasureTree { when: When::After, todos_since }] = &self.effects[..] else {
            panic!("measures")
        };
        after.todos = todos_since.as_ref().map(|_| AddedTodos { total: step.todos, samples: vec![] });
        self.event(Event::TreeMeasured(Box::new(after)));
    }

    fn steps(&mut self, steps: &[Step]) -> &str {
        steps.iter().for_each(|step| self.step(step));
        self.stop()
    }
}

const SRC: &[&str] = &["src/lib.rs"];
const TESTS: &[&str] = &["tests/a.rs"];

#[test]
fn the_dual_gate_exits_only_on_both_conditions() {
    let run = |step: Step| start(policy("phases", &[]), &[]).steps(&[step]).to_owned();
    assert_eq!(run(twice_done().changing(SRC)), "complete");
    assert_eq!(run(done().changing(SRC)), "running", "the threshold is not met");
    let prose =
        Step { words: format!("All tasks are complete. Nothing left to do.\n{}", more().words), ..more() };
    assert_eq!(run(prose.changing(SRC)), "running", "explicit not-done wins");
    assert_eq!(run(more().changing(SRC)), "running");
}

#[test]
fn in_a_review_an_explicit_done_is_enough() {
    let mut sim = start(policy("strict", &[]), &["make test"]);
    sim.step(&twice_done().changing(SRC));
    sim.check(0);
    for _ in 0..3 {
        assert_eq!(sim.stop(), "running");
        sim.step(&done());
        sim.check(0);
    }
    assert_eq!(sim.state.stop(), Some(&Stop::complete(Proof::Checks)));
}

#[test]
fn profile_rotations_needs_three_unchanged_dones_and_runs_no_check() {
    let mut sim = start(policy("rotations", &[]), &["make test"]);
    assert_eq!(sim.steps(&[done().changing(SRC), done(), done()]), "running");
    assert_eq!(sim.steps(&[done()]), "complete");
    assert_eq!(sim.state.stop(), Some(&Stop::complete(Proof::Reviews)));
}

#[test]
fn profile_analyzer_believes_the_exit_signal() {
    let red = Step { words: report("IN_PROGRESS", "FAILING", "IMPLEMENTATION", true), ..Step::default() };
    let mut sim = start(policy("analyzer", &[]), &[]);
    assert_eq!(sim.steps(&[red]), "complete");
    assert_eq!(sim.state.stop(), Some(&Stop::complete(Proof::Words)));
}

#[test]
fn profile_worker_asks_no_words_and_needs_facts() {
    let mut sim = start(policy("worker", &[]), &["make test"]);
    sim.step(&more().changing(SRC));
    sim.check(1);
    assert_eq!((sim.outcome(), sim.stop()), (Outcome::Refused, "running"));
    sim.step(&Step::default().changing(SRC));
    sim.check(0);
    assert_eq!(sim.state.stop(), Some(&Stop::complete(Proof::Checks)));
    assert_eq!(
        start(policy("worker", &[]), &[]).steps(&[done().changing(SRC)]),
        "running",
        "no facts, no proof"
    );
}

#[test]
fn open_items_refuse_a_claim_where_the_backlog_counts() {
    let open = Step { items: Some(Items { open: 1, total: 3 }), ..twice_done() };
    let none = Step { items: Some(Items { open: 0, total: 3 }), ..twice_done() };
    for (profile, checks) in [("phases", &[][..]), ("dual", &["make test"])] {
        let mut sim = start(policy(profile, &[]), checks);
        sim.step(&open.clone().changing(SRC));
        if profile == "dual" {
            sim.check(0);
        }
        assert_eq!((sim.outcome(), sim.stop()), (Outcome::Refused, "running"), "{profile}");
        sim.step(&none.clone().changing(SRC));
        if profile == "dual" {
            sim.check(0);
        }
        assert_eq!(sim.stop(), "complete", "{profile}");
    }
}

#[test]
fn todos_that_the_run_added_refuse_in_dual_and_are_flagged_elsewhere() {
    let left = Step { todos: 2, ..twice_done() };
    for (profile, outcome) in [("dual", Outcome::Refused), ("default", Outcome::Accepted)] {
        let mut sim = start(policy(profile, &[]), &["make test"]);
        sim.step(&left.clone().changing(SRC));
        sim.check(0);
        assert_eq!(sim.outcome(), outcome, "{profile}");
    }
}

#[test]
fn the_breaker_opens_with_its_reason_and_a_new_run_stays_stopped() {
    let mut sim = start(policy("default", &[]), &[]);
    assert_eq!(sim.steps(&[more(), more(), more()]), "circuit_open");
    let Some(Stop::CircuitOpen { why, probe_at }) = sim.state.stop() else { panic!("open") };
    assert_eq!(why, "no_progress: 3 iterations with no file changes");
    let probe_at = probe_at.expect("a probe by itself");

    let breaker = sim.state.rules.breaker.clone();
    let again = |probe: bool, now: Time| {
        let mut next = start(policy("default", &[]), &[]);
        let run = next.state.run.clone().expect("a run");
        next.state = State::default();
        next.now = now;
        let carried = Carried { breaker: breaker.clone(), probe, ..Carried::default() };
        next.event(Event::RunStarted(Box::new(RunStarted { run, carried })));
        next
    };
    assert_eq!(again(false, sim.now).stop(), "circuit_open", "nothing is spent");
    assert_eq!(again(false, sim.now).state.used, 0);
    assert_eq!(again(true, sim.now).stop(), "running");
    assert_eq!(again(false, probe_at).stop(), "running");

    let mut failed = again(true, sim.now);
    assert_eq!(failed.steps(&[more()]), "circuit_open", "exactly one iteration");
    assert_eq!(failed.state.used, 1);
    let mut closed = again(true, sim.now);
    assert_eq!(closed.steps(&[more().changing(SRC), more(), more()]), "running", "closed by progress");
}

#[test]
fn limits_and_interrupts_do_not_use_the_probe_up() {
    let mut sim = start(policy("analyzer", &[]), &[]);
    assert_eq!(sim.steps(&[more(), more(), more()]), "running");
    assert_eq!(sim.state.rules.breaker.circuit, Circuit::HalfOpen);
    sim.steps(&[more().limited(LimitKind::Usage, Some(60_000))]);
    assert_eq!(sim.state.rules.breaker.circuit, Circuit::HalfOpen);
    assert_eq!(sim.steps(&[more()]), "circuit_open");
}

#[test]
fn a_run_that_stops_before_its_iteration_leaves_the_circuit_open_for_everybody() {
    let mut sim = start(policy("default", &[("max_iterations", "3")]), &[]);
    assert_eq!(sim.steps(&[more(), more(), more()]), "circuit_open");
    let plan = sim.state.run.clone().expect("a run").plan;
    let resumed = |plan: Plan| RunResumed { plan, version: "0".into(), probe: true, unrecorded_ms: 0 };
    sim.event(Event::RunResumed(Box::new(resumed(plan.clone()))));
    assert_eq!(sim.stop(), "max_iterations");
    assert_eq!(sim.state.rules.breaker.circuit, Circuit::Open);
    let carried = sim.state.rules.breaker.carried();
    assert!(carried.guard(sim.now, false).is_err(), "another run is not let in");
    // With room for it, the iteration that begins is the probe.
    let mut more_room = plan;
    more_room.policy.max_iterations = 4;
    sim.event(Event::RunResumed(Box::new(resumed(more_room))));
    assert_eq!(sim.state.rules.breaker.circuit, Circuit::HalfOpen);
}

#[test]
fn time_that_nobody_recorded_counts_when_a_run_was_cut_off_and_only_then() {
    let mut sim = start(policy("default", &[]), &[]);
    let plan = sim.state.run.clone().expect("a run").plan;
    let resumed = |ms| {
        let resumed = RunResumed { plan: plan.clone(), version: "0".into(), probe: false, unrecorded_ms: ms };
        Event::RunResumed(Box::new(resumed))
    };
    let before = sim.state.active_ms;
    sim.event(resumed(5_000));
    assert_eq!(sim.state.active_ms, before + 5_000);
    let mut sim = start(policy("default", &[]), &[]);
    assert_eq!(sim.steps(&[more(), more(), more()]), "circuit_open");
    let before = sim.state.active_ms;
    sim.event(resumed(5_000));
    assert_eq!(sim.state.active_ms, before, "a run that had stopped was not at work");
}

#[test]
fn a_completion_wins_over_the_breaker_and_the_breaker_over_saturation_and_limits() {
    let mut sim = start(policy("analyzer", &[("max_iterations", "3"), ("no_progress", "open")]), &[]);
    assert_eq!(sim.steps(&[more(), more(), done()]), "complete");
    let testing = Step { words: report("IN_PROGRESS", "PASSING", "TESTING", false), ..Step::default() };
    let mut sim = start(policy("analyzer", &[("max_iterations", "3"), ("no_progress", "open")]), &[]);
    assert_eq!(sim.steps(&[testing.clone(), testing.clone(), testing.clone()]), "circuit_open");
    let mut sim = start(policy("analyzer", &[("max_iterations", "3")]), &[]);
    let tests = testing.changing(TESTS);
    assert_eq!(sim.steps(&[tests.clone(), tests.clone(), tests]), "test_saturation", "before the limit");
}

#[test]
fn the_same_error_five_times_opens_though_files_change() {
    let step = Step { error: Some("error[E0308]: mismatched types"), ..more() }.changing(SRC);
    let mut sim = start(policy("default", &[]), &[]);
    assert_eq!(sim.steps(&[step.clone(), step.clone(), step.clone(), step.clone()]), "running");
    assert_eq!(sim.steps(&[step]), "circuit_open");
}

#[test]
fn two_denials_without_progress_open_and_name_the_tool() {
    let denied = Step { denied: true, ..more() };
    let mut sim = start(policy("worker", &[]), &["make test"]);
    sim.step(&denied);
    sim.check(1);
    sim.step(&denied);
    sim.check(1);
    assert!(
        matches!(sim.state.stop(), Some(Stop::CircuitOpen { why, probe_at: None }) if why.contains("Bash"))
    );
}

#[test]
fn reviews_do_not_count_as_no_progress() {
    let mut sim = start(policy("default", &[("reviews", "6")]), &["make test"]);
    sim.step(&done().changing(SRC));
    sim.check(0);
    for _ in 0..6 {
        sim.step(&done());
        sim.check(0);
    }
    assert_eq!(sim.stop(), "complete");
}

#[test]
fn saturation_completes_only_where_the_evidence_holds() {
    let tests = more().changing(TESTS);
    let three = [tests.clone(), tests.clone(), tests.clone()];
    let mut sim = start(policy("phases", &[]), &[]);
    assert_eq!(sim.steps(&three), "complete");
    let Some(Stop::Complete { proof: Proof::None, early: Some(early) }) = sim.state.stop() else {
        panic!("{:?}", sim.state.stop())
    };
    assert_eq!(early.to_string(), "test_saturation: 3 iterations in a row touched tests alone");

    let open = Step { items: Some(Items { open: 1, total: 2 }), ..tests };
    let mut sim = start(policy("phases", &[]), &[]);
    sim.steps(&three[..2]);
    assert_eq!(sim.steps(&[open]), "test_saturation");
    assert_eq!(sim.state.stop().map(Stop::exit_code), Some(3));

    for (code, expected) in [(0, "complete"), (1, "test_saturation")] {
        let mut sim = start(policy("phases", &[("evidence", "required")]), &["make test"]);
        sim.steps(&three);
        sim.check(code);
        assert_eq!(sim.stop(), expected);
        let proof = (code == 0).then_some(Proof::Checks);
        assert_eq!(sim.state.stop().and_then(Stop::proof), proof, "what the checks prove is proved by them");
    }
}

#[test]
fn an_iteration_that_failed_tells_nothing_about_polishing() {
    let mut sim = start(policy("phases", &[]), &[]);
    sim.step(&more().changing(TESTS).crashing());
    assert_eq!(sim.state.rules.saturation, Default::default());
    sim.step(&more().changing(TESTS));
    assert_ne!(sim.state.rules.saturation, Default::default());
}

#[test]
fn an_agent_that_met_a_limit_is_limited_whatever_it_said_last() {
    let blocked = Step { words: report("BLOCKED", "NOT_RUN", "IMPLEMENTATION", false), ..Step::default() };
    let mut sim = start(policy("default", &[]), &[]);
    assert_eq!(sim.steps(&[blocked.clone().limited(LimitKind::Rate, Some(60_000))]), "running");
    assert_eq!(sim.steps(&[blocked]), "blocked");
}

#[test]
fn an_iteration_that_says_testing_counts_as_such_unless_it_changed_the_source() {
    let testing = Step { words: report("IN_PROGRESS", "PASSING", "TESTING", false), ..Step::default() };
    for (paths, stop) in [(&["README.md"][..], "complete"), (SRC, "running")] {
        let step = testing.clone().changing(paths);
        let mut sim = start(policy("phases", &[]), &[]);
        assert_eq!(sim.steps(&[step.clone(), step.clone(), step]), stop, "{paths:?}");
    }
}

#[test]
fn two_done_signals_while_work_goes_on_end_a_phased_run() {
    let talk =
        Step { words: format!("All tasks are complete. Nothing left to do.\n{}", more().words), ..more() };
    let talk = talk.changing(SRC);
    assert_eq!(start(policy("phases", &[]), &[]).steps(&[talk.clone(), talk.clone()]), "complete");
    assert_eq!(start(policy("default", &[]), &[]).steps(&[talk.clone(), talk]), "running");
}

#[test]
fn budgets_stop_before_the_next_iteration_and_by_their_own_word() {
    let work = more().changing(SRC);
    for (key, value, word, most) in [
        ("budget", "0.25", "budget", 3),
        ("max_tokens", "2000", "max_tokens", 2),
        ("max_time", "50ms", "max_time", 2),
    ] {
        let mut sim = start(policy("default", &[(key, value)]), &[]);
        while sim.stop() == "running" {
            sim.step(&work);
        }
        assert_eq!((sim.stop(), sim.state.used), (word, most), "{key}");
        assert_eq!(sim.state.stop().map(Stop::exit_code), Some(6));
    }
}

#[test]
fn a_limit_is_neither_a_failed_nor_a_counted_iteration() {
    let mut sim = start(policy("default", &[("max_iterations", "2")]), &[]);
    sim.steps(&[more().limited(LimitKind::Usage, Some(3_600_000))]);
    let Phase::Waiting { until, .. } = sim.state.phase else { panic!("waits") };
    assert_eq!(sim.outcome(), Outcome::Limited);
    assert_eq!((sim.state.used, sim.state.rules.agents.members[0].failures), (0, 0));
    assert!(until.since(sim.now) > 3_590_000);
    assert_eq!(sim.steps(&[more().changing(SRC), more().changing(SRC)]), "max_iterations");
    assert_eq!((sim.state.used, sim.state.iteration), (2, 13), "numbers go on through the project's life");
}

#[test]
fn a_limit_is_handed_to_the_next_agent_of_the_pool() {
    let mut two = Plan { policy: policy("default", &[]), ..plan(&[]) };
    two.agents.push(agent("second"));
    let mut sim = Sim::new(two);
    sim.steps(&[more().limited(LimitKind::Usage, Some(3_600_000))]);
    assert_eq!(sim.state.current.as_ref().expect("goes on").agent, "second");
    sim.steps(&[more().changing(SRC).limited(LimitKind::Auth, None)]);
    let Phase::Waiting { until, why } = &sim.state.phase else { panic!("waits for the first") };
    assert!(why.starts_with("custom: ") && until.since(sim.now) > 3_000_000, "{why}");
}

#[test]
fn no_credit_ends_a_run_with_one_agent_at_once() {
    let mut sim = start(policy("default", &[]), &[]);
    assert_eq!(sim.steps(&[more().limited(LimitKind::Credit, None)]), "agents_exhausted");
}

#[test]
fn a_crash_after_progress_is_no_failure_in_a_row_but_is_waited_after_and_the_same_one_five_times_opens() {
    for (same_error, stop) in [("open", "circuit_open"), ("off", "max_iterations")] {
        let mut sim = start(policy("default", &[("max_iterations", "8"), ("same_error", same_error)]), &[]);
        let crash = more().changing(SRC).crashing();
        while sim.stop() == "running" {
            sim.step(&crash);
            let rest = deadline(&sim.state).map(|until| until.since(sim.now));
            assert!(sim.stop() != "running" || rest == Some(1_000), "{rest:?}");
        }
        assert_eq!(sim.stop(), stop);
    }
}

#[test]
fn whoever_works_until_its_time_is_over_each_time_goes_on_without_a_rest() {
    let mut sim = start(policy("default", &[("max_iterations", "8")]), &[]);
    while sim.stop() == "running" {
        sim.iteration("", 1, End::TimedOut);
        assert!(!matches!(sim.state.phase, Phase::Waiting { .. }));
    }
    assert_eq!(sim.stop(), "max_iterations");
}

#[test]
fn a_question_twice_with_nothing_changed_is_blocked_with_the_question() {
    let asks = Step { words: "Shall I use Postgres or SQLite?".into(), ..Step::default() };
    let mut sim = start(policy("default", &[]), &[]);
    assert_eq!(sim.steps(&[asks.clone(), asks.clone()]), "blocked");
    assert_eq!(
        sim.state.stop(),
        Some(&Stop::Blocked { why: "it asks: Shall I use Postgres or SQLite?".into() })
    );
    let mut sim = start(policy("default", &[]), &[]);
    let between = [asks.clone().changing(SRC), asks.clone(), more().changing(SRC), asks.clone()];
    assert_eq!(sim.steps(&between), "running");
    let mut sim = start(policy("default", &[]), &[]);
    assert_eq!(sim.steps(&[asks.clone(), more().crashing(), asks]), "blocked", "a crash answers nothing");
}

#[test]
fn a_request_to_stop_lets_the_iteration_end_and_completion_wins() {
    let mut sim = start(policy("default", &[]), &[]);
    sim.event(Event::StopAsked { by: StopBy::Request });
    assert_eq!(sim.effects, [], "nothing is ended");
    let mut working = start(policy("default", &[]), &[]);
    working.tree(When::Before, 0);
    working.event(Event::StopAsked { by: StopBy::Request });
    working.event(ended(MORE, End::Exited { code: 0 }));
    working.tree(When::After, 1);
    assert_eq!((working.outcome(), working.stop()), (Outcome::More, "stopped"));

    let mut done_now = start(policy("default", &[("reviews", "0")]), &[]);
    done_now.tree(When::Before, 0);
    done_now.event(Event::StopAsked { by: StopBy::Request });
    done_now.event(ended(DONE, End::Exited { code: 0 }));
    done_now.tree(When::After, 1);
    assert_eq!(done_now.stop(), "complete");
}

#[test]
fn notes_stay_until_an_iteration_that_saw_them_was_heard() {
    let note = |id: &str| Event::NoteAdded { id: id.into(), text: "use Postgres".into() };
    let mut sim = start(policy("default", &[]), &[]);
    sim.event(note("1"));
    sim.event(note("1"));
    assert_eq!(sim.state.notes.len(), 1, "handed in twice");
    sim.effects = vec![Effect::MeasureTree { when: When::Before, todos_since: None }];
    sim.step(&more().crashing());
    assert_eq!(sim.state.notes.len(), 1, "a crash did not hear it");
    sim.step(&more().changing(SRC));
    assert_eq!(sim.state.notes, []);
}

#[test]
fn a_reset_closes_the_circuit_and_a_closed_run_is_not_continued() {
    let mut sim = start(policy("default", &[]), &[]);
    sim.steps(&[more(), more(), more()]);
    sim.event(Event::CircuitReset);
    assert_eq!(sim.state.rules.breaker.circuit, Circuit::Closed);
    assert_eq!(sim.stop(), "circuit_open", "the run stands still until it is taken up again");
    sim.event(Event::RunClosed);
    assert_eq!(sim.stop(), "closed");
}

#[test]
fn the_checks_are_run_before_the_first_iteration_and_a_refusal_says_what_is_new() {
    let red_before = |code: i32, baseline: &str| {
        let mut policy = policy("default", &[]);
        policy.set("baseline", baseline).expect("a value");
        let mut sim = start(policy, &["make test"]);
        sim.check(code);
        sim.step(&done().changing(SRC));
        sim.check(1);
        sim
    };
    let refusal =
        |sim: &Sim| sim.state.refusal.as_ref().map(|refusal| refusal.why.clone()).unwrap_or_default();
    assert_eq!(refusal(&red_before(0, "refuse")), "make test exit 1 (greets, new)");
    assert_eq!(refusal(&red_before(1, "refuse")), "make test exit 1 (greets, red before the run)");
    assert_eq!(red_before(1, "tolerate").outcome(), Outcome::Accepted);
    assert_eq!(red_before(0, "tolerate").outcome(), Outcome::Refused);
}

#[test]
fn a_baseline_that_is_cut_off_is_taken_again() {
    let mut policy = policy("default", &[]);
    policy.set("baseline", "refuse").expect("a value");
    let mut sim = start(policy, &["make test"]);
    sim.event(Event::StopAsked { by: StopBy::Interrupt });
    assert_eq!(sim.effects, [Effect::EndCheck { why: Ending::Stop }]);
    sim.check_cut_off();
    assert_eq!(sim.stop(), "interrupted");
    let plan = sim.state.run.as_ref().expect("a run").plan.clone();
    sim.event(Event::RunResumed(Box::new(RunResumed {
        plan,
        version: "0".into(),
        probe: false,
        unrecorded_ms: 0,
    })));
    assert!(matches!(sim.effects[..], [Effect::RunCheck { .. }]), "{:?}", sim.effects);
    sim.check(0);
    assert!(matches!(sim.effects[..], [Effect::MeasureTree { when: When::Before, .. }]));
}

#[test]
fn a_baseline_that_hangs_is_ended_at_its_deadline() {
    let mut policy = policy("default", &[("check_timeout", "1s")]);
    policy.set("baseline", "refuse").expect("a value");
    let mut sim = start(policy, &["make test"]);
    let due = deadline(&sim.state).expect("a deadline");
    sim.now = due;
    sim.event(Event::DeadlinePassed);
    assert_eq!(sim.effects, [Effect::EndCheck { why: Ending::Timeout }]);
}

#[test]
fn an_answered_block_does_not_open_the_circuit() {
    let mut sim = start(policy("default", &[]), &[]);
    let blocked = Step { words: report("BLOCKED", "NOT_RUN", "IMPLEMENTATION", false), ..Step::default() };
    for _ in 0..5 {
        assert_eq!(sim.steps(core::slice::from_ref(&blocked)), "blocked");
        assert_eq!(sim.state.rules.breaker.circuit, Circuit::Closed);
        sim.event(Event::NoteAdded {
            id: format!("{}", sim.now.millis()),
            text: "the key is in .env".into(),
        });
        resume(&mut sim);
    }
    let asks = Step { words: "Postgres or SQLite?".into(), ..Step::default() };
    assert_eq!(sim.steps(&[asks.clone(), asks.clone()]), "blocked");
    sim.event(Event::NoteAdded { id: "last".into(), text: "Postgres".into() });
    resume(&mut sim);
    assert_eq!(sim.steps(&[asks]), "running", "one question after an answer is one question");
}

fn resume(sim: &mut Sim) {
    let plan = sim.state.run.as_ref().expect("a run").plan.clone();
    sim.event(Event::RunResumed(Box::new(RunResumed {
        plan,
        version: "0".into(),
        probe: false,
        unrecorded_ms: 0,
    })));
}

#[test]
fn the_same_red_check_five_times_is_the_same_error() {
    let mut sim = start(policy("default", &[]), &["make test"]);
    for _ in 0..5 {
        assert_eq!(sim.stop(), "running");
        sim.step(&done().changing(SRC));
        sim.check(1);
    }
    let Some(Stop::CircuitOpen { why, .. }) = sim.state.stop() else { panic!("{}", sim.stop()) };
    assert_eq!(why, "same_error: 5 iterations with error: make test exit 1 (greets)");
}

#[test]
fn an_accepted_claim_that_changed_nothing_is_no_stall_and_a_denied_review_none_either() {
    let mut sim = start(policy("default", &[]), &["make test"]);
    sim.steps(&[more(), more()]);
    sim.step(&done());
    sim.check(0);
    assert_eq!(sim.stop(), "running");
    let denied = Step { denied: true, ..done() };
    let mut sim = start(policy("default", &[]), &[]);
    assert_eq!(sim.steps(&[done().changing(SRC), denied.clone(), denied.clone(), denied]), "complete");
}

#[test]
fn a_reviewer_that_says_nothing_does_not_review_for_ever() {
    let mut sim = start(policy("default", &[("max_iterations", "0")]), &[]);
    sim.step(&done().changing(SRC));
    let silent = Step { words: "I looked around.".into(), ..Step::default() };
    assert_eq!(sim.steps(&[silent.clone(), silent.clone(), silent]), "circuit_open");
}

#[test]
fn what_somebody_changes_while_a_review_waits_is_reviewed_from_the_start() {
    let mut sim = start(policy("default", &[("reviews", "2")]), &[]);
    sim.steps(&[done().changing(SRC), done(), done().limited(LimitKind::Usage, Some(60_000))]);
    assert_eq!(sim.state.rules.reviews.passes, 1);
    let Phase::Waiting { until, .. } = sim.state.phase else { panic!("waits") };
    sim.now = until;
    sim.event(Event::DeadlinePassed);
    sim.tree(When::Before, 0);
    assert_eq!(sim.state.rules.reviews.passes, 0, "the tree is another one");
}

#[test]
fn todos_are_looked_for_where_polishing_may_complete() {
    let tests = Step { todos: 1, ..more() }.changing(TESTS);
    let refuse = policy("phases", &[("todos", "refuse"), ("evidence", "required")]);
    let mut sim = start(refuse, &["make test"]);
    sim.steps(&[tests.clone(), tests.clone(), tests]);
    sim.check(0);
    assert_eq!(sim.stop(), "test_saturation");
}

#[test]
fn an_iteration_that_was_not_begun_is_begun_again_by_the_plan_of_now() {
    let mut sim = start(policy("default", &[]), &[]);
    assert_eq!(sim.state.current.as_ref().map(|current| current.agent.clone()), Some("custom".into()));
    let mut other = sim.state.run.as_ref().expect("a run").plan.clone();
    other.agents = vec![agent("other")];
    sim.event(Event::RunResumed(Box::new(RunResumed {
        plan: other.clone(),
        version: "0".into(),
        probe: false,
        unrecorded_ms: 0,
    })));
    let current = sim.state.current.as_ref().expect("begun again");
    assert_eq!((current.agent.as_str(), current.number, current.nth), ("other", 11, 1));
    other.policy.max_iterations = 1;
    sim.tree(When::Before, 0);
    sim.event(Event::RunResumed(Box::new(RunResumed {
        plan: other,
        version: "0".into(),
        probe: false,
        unrecorded_ms: 0,
    })));
    assert_eq!(sim.effects, [Effect::RecoverAgent]);
    sim.event(Event::AgentNeverStarted);
    assert_eq!((sim.state.iteration, sim.state.used), (11, 1));
}

#[test]
fn a_check_that_is_new_on_resume_gets_its_baseline() {
    let mut policy = policy("default", &[]);
    policy.set("baseline", "refuse").expect("a value");
    let mut sim = start(policy, &["make test"]);
    sim.check(0);
    let mut more = sim.state.run.as_ref().expect("a run").plan.clone();
    more.checks.insert(0, CheckSpec::named("build", "make"));
    sim.event(Event::RunResumed(Box::new(RunResumed {
        plan: more,
        version: "0".into(),
        probe: false,
        unrecorded_ms: 0,
    })));
    let [Effect::RunCheck { check }] = &sim.effects[..] else { panic!("{:?}", sim.effects) };
    assert_eq!(check.command, "make");
}

#[test]
fn what_an_agent_has_worked_on_has_no_baseline_any_more() {
    let mut policy = policy("default", &[]);
    policy.set("baseline", "refuse").expect("a value");
    let mut sim = start(policy, &["make test"]);
    sim.check(0);
    sim.step(&more().changing(SRC));
    let mut plan = sim.state.run.as_ref().expect("a run").plan.clone();
    plan.checks.push(CheckSpec::named("build", "make"));
    sim.event(Event::StopAsked { by: StopBy::Interrupt });
    sim.event(ended("", End::Signaled { signal: 15 }));
    sim.tree(When::After, 0);
    assert_eq!(sim.stop(), "interrupted");
    let (version, probe, unrecorded_ms) = ("0".into(), false, 0);
    sim.event(Event::RunResumed(Box::new(RunResumed { plan, version, probe, unrecorded_ms })));
    assert!(!matches!(sim.effects[..], [Effect::RunCheck { .. }]), "{:?}", sim.effects);
}

#[test]
fn a_killed_agent_s_tokens_are_charged_at_the_dearest_price_so_far() {
    let mut sim = start(policy("default", &[]), &[]);
    sim.step(&more().changing(SRC));
    assert_eq!(sim.state.totals.cost_micro_usd, Some(100_000));
    let mut killed = crate::report::IterationReport::default();
    killed.usage.input = 2000;
    let end = End::Signaled { signal: 9 };
    let ended = AgentEnded {
        end,
        duration_ms: 5,
        asked: false,
        leftovers: 0,
        report: killed,
        stderr: None,
        reset_at: None,
    };
    sim.event(Event::AgentEnded(Box::new(ended)));
    assert_eq!(sim.state.totals.cost_micro_usd, Some(300_000));
}
