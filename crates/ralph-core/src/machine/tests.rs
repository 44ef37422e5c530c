//! Scripts of iterations through the same `decide` and `apply` as a real run, every record through the codec.

mod backlog;
mod rules;
mod user;

use super::*;
use crate::agents::Role;
use crate::check::{CheckResult, CheckSpec};
use crate::decision::{Kind, Outcome, Proof};
use crate::event::{AgentEnded, AgentInfo, Carried, Measured, RunInfo, RunResumed, RunStarted};
use crate::journal::{self, Body, Record};
use crate::profile::{self, Policy};
use crate::replay::{Agreement, Came, Changed};
use crate::report::{IterationReport, block};
use crate::state::apply;
use crate::transcript::{Format, Usage};

pub(crate) struct Sim {
    pub state: State,
    pub journal: String,
    pub now: Time,
    pub effects: Vec<Effect>,
    pub last: Option<Decision>,
}

pub(crate) fn plan(checks: &[&str]) -> Plan {
    Plan {
        backlog: None,
        commit: false,
        boot: None,
        stack: None,
        stack_commands: vec![],
        left_out: vec![],
        until: None,
        policy: Policy { baseline: profile::Baseline::Off, item_baseline: None, ..Policy::default() },
        checks: checks.iter().map(|c| CheckSpec::named("test", *c)).collect(),
        agents: vec![agent("custom")],
    }
}

pub(crate) fn agent(name: &str) -> AgentInfo {
    AgentInfo {
        name: name.into(),
        command: Some("agent".into()),
        format: Format::Auto,
        model: None,
        permissions: None,
        args: vec![],
        role: Role::Any,
        title: None,
        tells_cost: None,
        prices: None,
        session: false,
    }
}

impl Sim {
    pub(crate) fn new(plan: Plan) -> Self {
        let run = RunInfo { id: "r".into(), number: 1, goal: "goal".into(), plan, version: "0".into() };
        let mut sim = Self {
            state: State::default(),
            journal: String::new(),
            now: Time::from_millis(1_000_000),
            effects: vec![],
            last: None,
        };
        sim.event(Event::RunStarted(Box::new(RunStarted {
            run,
            carried: Carried { iteration: 10, ..Carried::default() },
        })));
        sim
    }

    pub(crate) fn event(&mut self, event: Event) -> &Decision {
        self.now = self.now.plus(10);
        let stamped = Stamped { at: self.now, event };
        let decision = decide(&self.state, &stamped);
        assert!(!decision.reasons.is_empty(), "every decision says why");
        let body = Body::Step { event: stamped.event, decision: decision.clone() };
        let record = Record { seq: self.state.seq + 1, at: self.now, body };
        self.journal.push_str(&journal::encode(&record));
        self.state = apply(core::mem::take(&mut self.state), &record);
        self.effects = decision.effects.clone();
        self.last.insert(decision)
    }

    pub(crate) fn tree(&mut self, when: When, changed: u64) {
        let mut measured = Measured::new(when, format!("t{}", self.now.millis()), None, &[]);
        measured.changed_total = changed;
        self.event(Event::TreeMeasured(Box::new(measured)));
    }

    /// One iteration up to and including the measuring after it.
    pub(crate) fn iteration(&mut self, says: &str, changed: u64, end: End) {
        if self.effects == [Effect::MeasureTree { when: When::Before, todos_since: None }] {
            self.tree(When::Before, 0);
        }
        assert_eq!(self.effects, [Effect::StartAgent]);
        self.event(Event::AgentStarted { pid: 7, noted: Default::default() });
        self.event(ended(says, end));
        assert!(matches!(self.effects[..], [Effect::MeasureTree { when: When::After, .. }]));
        self.tree(When::After, changed);
    }

    pub(crate) fn work(&mut self, says: &str, changed: u64) {
        self.iteration(says, changed, End::Exited { code: 0 });
    }

    pub(crate) fn check(&mut self, code: i32) {
        let [Effect::RunCheck { check }] = &self.effects[..] else { panic!("{:?}", self.effects) };
        let result = CheckResult {
            name: check.name.clone(),
            command: check.command.clone(),
            end: End::Exited { code },
            asked: false,
            failing: if code == 0 { vec![] } else { vec!["greets".into()] },
            duration_ms: 1,
            output_tail: "boom".into(),
            hollow: false,
        };
        self.event(Event::CheckEnded(Box::new(result)));
    }

    /// The check was ended because somebody asked.
    fn check_cut_off(&mut self) {
        let result = CheckResult {
            name: "test".into(),
            command: "make test".into(),
            end: End::Signaled { signal: 15 },
            asked: true,
            failing: vec![],
            duration_ms: 1,
            output_tail: String::new(),
            hollow: false,
        };
        self.event(Event::CheckEnded(Box::new(result)));
    }

    pub(crate) fn stop(&self) -> &str {
        self.state.stop().map_or("running", Stop::word)
    }

    fn outcome(&self) -> Outcome {
        self.state.last.as_ref().expect("an iteration").conclusion.as_ref().expect("concluded").outcome
    }
}

/// Whatever a test does with it: what was recorded is decided again in the same way, and the same policy handed in as a
/// change changes nothing.
impl Drop for Sim {
    fn drop(&mut self) {
        if std::thread::panicking() {
            return;
        }
        let (mut agreement, mut changed) = (Agreement::default(), Changed::new(|_: &mut Plan| {}));
        journal::open(self.journal.as_bytes(), |record, _| {
            agreement.take(record);
            changed.take(record);
        });
        assert_eq!(agreement.disagreement, None);
        let told = changed.finish();
        assert_eq!((&told.came, &told.divergence), (&Came::Same, &None));
        assert_eq!((told.replayed, told.other_reasons), (told.recorded, 0));
    }
}

pub(crate) const DONE: &str = "COMPLETE PASSING true";
pub(crate) const MORE: &str = "IN_PROGRESS PASSING false";
pub(crate) const BLOCKED: &str = "BLOCKED NOT_RUN false";

pub(crate) fn ended(says: &str, end: End) -> Event {
    let mut words = says.split(' ');
    let block = says.contains(' ').then(|| {
        let mut word = || words.next().unwrap_or_default();
        let text = format!(
            "{}\nSTATUS: {}\nTASKS_COMPLETED_THIS_LOOP: 0\nFILES_MODIFIED: 0\nTESTS_STATUS: {}\nWORK_TYPE: TESTING\nEXIT_SIGNAL: {}\nRECOMMENDATION: need a key\n{}",
            block::BEGIN, word(), word(), word(), block::END
        );
        block::last(&text).0.expect("a block")
    });
    let report = IterationReport {
        block,
        usage: Usage { input: 10, output: 5, ..Usage::default() },
        cost_micro_usd: Some(100),
        ..IterationReport::default()
    };
    let asked = matches!(end, End::Signaled { signal: 15 });
    Event::AgentEnded(Box::new(AgentEnded {
        end,
        duration_ms: 5,
        asked,
        leftovers: 0,
        report,
        stderr: None,
        reset_at: None,
    }))
}

#[test]
fn a_lie_is_refused_a_fix_accepted_a_review_completes() {
    let mut sim = Sim::new(plan(&["make test"]));
    sim.work(DONE, 1);
    sim.check(1);
    assert_eq!(sim.outcome(), Outcome::Refused);
    let refusal = sim.state.last.as_ref().and_then(|l| l.conclusion.as_ref()?.refusal.clone());
    assert_eq!(refusal.as_deref(), Some("make test exit 1 (greets)"));

    sim.work(DONE, 1);
    sim.check(0);
    assert_eq!(sim.outcome(), Outcome::Accepted);
    assert_eq!(sim.state.current.as_ref().expect("begun").kind, Kind::Review);

    sim.work(DONE, 0);
    sim.check(0);
    assert_eq!(sim.state.stop(), Some(&Stop::complete(Proof::Checks)));
    assert_eq!((sim.state.used, sim.state.iteration), (3, 13));
    assert_eq!(sim.state.totals.cost_micro_usd, Some(300));
    assert_eq!(sim.state.totals.usage.total(), 45);
}

#[test]
fn a_claim_that_changed_nothing_is_reviewed_all_the_same() {
    let mut sim = Sim::new(plan(&["make test"]));
    sim.work(DONE, 0);
    sim.check(0);
    assert_eq!(sim.stop(), "running");
    assert_eq!(sim.state.current.as_ref().expect("begun").kind, Kind::Review);
    sim.work(DONE, 0);
    sim.check(0);
    assert_eq!(sim.stop(), "complete");
}

#[test]
fn without_checks_three_reviews_are_the_proof() {
    let mut sim = Sim::new(plan(&[]));
    sim.work(DONE, 2);
    sim.work(DONE, 0);
    sim.work(DONE, 0);
    assert_eq!(sim.stop(), "running");
    sim.work(DONE, 0);
    assert_eq!(sim.state.stop(), Some(&Stop::complete(Proof::Reviews)));
}

#[test]
fn a_review_that_finds_more_work_sends_the_loop_back_to_work() {
    let mut sim = Sim::new(plan(&["make test"]));
    sim.work(DONE, 1);
    sim.check(0);
    sim.work(MORE, 0);
    assert_eq!(sim.state.current.as_ref().expect("begun").kind, Kind::Work);
}

#[test]
fn more_work_runs_no_check_and_settles_the_tree() {
    let mut sim = Sim::new(plan(&["make test"]));
    sim.work(MORE, 1);
    assert_eq!(sim.effects, [Effect::StartAgent], "the tree after is the tree before the next");
    sim.work(DONE, 1);
    sim.check(1);
    assert_eq!(
        sim.effects,
        [Effect::MeasureTree { when: When::Before, todos_since: None }],
        "a check may have written"
    );
}

#[test]
fn blocked_halts_with_the_agent_s_reason() {
    let mut sim = Sim::new(plan(&["make test"]));
    sim.work(BLOCKED, 0);
    assert_eq!(sim.state.stop(), Some(&Stop::Blocked { why: "need a key".into() }));
}

#[test]
fn completion_on_the_last_iteration_is_completion() {
    let mut plan = plan(&["make test"]);
    plan.policy.max_iterations = 2;
    let mut sim = Sim::new(plan);
    sim.work(DONE, 1);
    sim.check(0);
    sim.work(DONE, 0);
    sim.check(0);
    assert_eq!(sim.stop(), "complete");
}

#[test]
fn the_limit_halts_before_anything_is_spent_and_a_higher_one_goes_on() {
    let mut low = plan(&[]);
    low.policy.max_iterations = 2;
    let mut sim = Sim::new(low.clone());
    sim.work(MORE, 1);
    sim.work("", 1);
    assert_eq!(sim.state.stop(), Some(&Stop::MaxIterations { used: 2, max: 2 }));
    assert_eq!(sim.outcome(), Outcome::Silent);
    assert_eq!(sim.effects, []);

    low.policy.max_iterations = 3;
    sim.event(Event::RunResumed(Box::new(RunResumed {
        plan: low,
        version: "0".into(),
        probe: false,
        unrecorded_ms: 0,
    })));
    assert_eq!(sim.stop(), "running");
    sim.work(MORE, 1);
    assert_eq!(sim.state.stop(), Some(&Stop::MaxIterations { used: 3, max: 3 }));
}

#[test]
fn a_claim_by_an_agent_that_crashed_is_refused_without_running_checks() {
    let mut sim = Sim::new(plan(&["make test"]));
    sim.iteration(DONE, 1, End::Exited { code: 1 });
    assert_eq!(sim.outcome(), Outcome::Refused);
}

#[test]
fn failures_back_off_and_the_fifth_in_a_row_halts() {
    let mut sim = Sim::new(plan(&[]));
    let mut waits = vec![];
    for _ in 0..4 {
        sim.iteration("", 0, End::Exited { code: 1 });
        let Phase::Waiting { until, .. } = sim.state.phase else { panic!("waits") };
        waits.push(until.since(sim.now));
        assert_eq!(deadline(&sim.state), Some(until));
        sim.event(Event::DeadlinePassed);
        assert!(matches!(sim.state.phase, Phase::Waiting { .. }), "too early");
        sim.now = until;
        sim.event(Event::DeadlinePassed);
    }
    assert_eq!(waits, [1000, 2000, 4000, 8000]);
    sim.iteration("", 0, End::Signaled { signal: 9 });
    assert_eq!(sim.stop(), "agents_exhausted");
}

#[test]
fn an_agent_past_its_time_is_ended_once_and_counts_as_failed() {
    let mut sim = Sim::new(plan(&[]));
    sim.tree(When::Before, 0);
    sim.event(Event::AgentStarted { pid: 7, noted: Default::default() });
    sim.now = deadline(&sim.state).expect("a deadline");
    sim.event(Event::DeadlinePassed);
    assert_eq!(sim.effects, [Effect::EndAgent { why: Ending::Timeout }]);
    assert_eq!(deadline(&sim.state), None);
    sim.event(ended("", End::Signaled { signal: 15 }));
    sim.tree(When::After, 0);
    let last = sim.state.last.as_ref().expect("concluded");
    assert_eq!(last.ended.as_ref().expect("ended").end, End::TimedOut);
    assert_eq!(sim.outcome(), Outcome::Failed);
}

#[test]
fn an_agent_at_work_when_the_run_s_time_is_over_is_stopped_with_it_and_has_not_failed() {
    let mut hasty = plan(&[]);
    hasty.policy.set("max_time", "40m").expect("a value");
    let mut sim = Sim::new(hasty.clone());
    sim.tree(When::Before, 0);
    assert_eq!(deadline(&sim.state), Some(sim.now.plus(30 * 60_000)), "the first has as long as any");
    sim.now = sim.now.plus(25 * 60_000);
    sim.event(ended(MORE, End::Exited { code: 0 }));
    sim.tree(When::After, 1);
    assert_eq!(sim.effects, [Effect::StartAgent]);
    let due = sim.now.plus(40 * 60_000 - sim.state.active_ms);
    assert_eq!(deadline(&sim.state), Some(due), "the second has what is left");
    sim.now = sim.now.plus(3_600_000);
    sim.event(Event::Slept { ms: 3_600_000 });
    let due = due.plus(3_600_000);
    assert_eq!(deadline(&sim.state), Some(due));
    sim.event(Event::DeadlinePassed);
    assert_eq!(sim.effects, [], "it has its time yet");
    sim.now = due;
    sim.event(Event::DeadlinePassed);
    assert_eq!(sim.effects, [Effect::EndAgent { why: Ending::Stop }]);
    assert_eq!(deadline(&sim.state), None);
    sim.event(ended(DONE, End::Signaled { signal: 15 }));
    sim.tree(When::After, 1);
    assert_eq!((sim.stop(), sim.outcome()), ("max_time", Outcome::Interrupted));
    assert_eq!(sim.state.rules.agents.members[0].failures, 0);
    hasty.policy.set("max_time", "60m").expect("a value");
    sim.event(Event::RunResumed(Box::new(RunResumed {
        plan: hasty,
        version: "0".into(),
        probe: false,
        unrecorded_ms: 0,
    })));
    assert_eq!(sim.state.current.as_ref().expect("begun").nth, 3);
}

#[test]
fn an_agent_that_says_nothing_for_too_long_is_ended_and_counts_as_failed() {
    let mut sim = Sim::new(plan(&[]));
    assert_eq!(silence(&sim.state), None, "nobody works yet");
    sim.tree(When::Before, 0);
    sim.event(Event::AgentStarted { pid: 7, noted: Default::default() });
    assert_eq!(silence(&sim.state), Some(600_000));
    sim.event(Event::AgentSilent { for_ms: 599_999 });
    assert_eq!(sim.effects, []);
    sim.event(Event::AgentSilent { for_ms: 600_000 });
    assert_eq!(sim.effects, [Effect::EndAgent { why: Ending::Idle { ms: 600_000 } }]);
    assert_eq!((silence(&sim.state), deadline(&sim.state)), (None, None), "it is ended once");
    sim.event(ended("", End::Signaled { signal: 15 }));
    sim.tree(When::After, 0);
    let last = sim.state.last.as_ref().expect("concluded");
    let end = &last.ended.as_ref().expect("ended").end;
    assert_eq!(end.to_string(), "ended: it said nothing for 10m");
    assert_eq!(sim.outcome(), Outcome::Failed);
    assert!(matches!(sim.state.phase, Phase::Waiting { .. }), "as after any failure");
}

#[test]
fn silence_may_last_for_ever_where_the_policy_says_so() {
    let mut quiet = plan(&[]);
    quiet.policy.set("idle_timeout", "0").expect("a value");
    let mut sim = Sim::new(quiet);
    sim.tree(When::Before, 0);
    sim.event(Event::AgentStarted { pid: 7, noted: Default::default() });
    assert_eq!(silence(&sim.state), None);
    sim.event(Event::AgentSilent { for_ms: u64::MAX });
    assert_eq!(sim.effects, []);
}

#[test]
fn time_that_the_machine_slept_is_neither_worked_nor_counted_against_the_agent() {
    let mut sim = Sim::new(plan(&[]));
    sim.tree(When::Before, 0);
    sim.event(Event::AgentStarted { pid: 7, noted: Default::default() });
    let (due, worked) = (deadline(&sim.state).expect("a deadline"), sim.state.active_ms);
    let since = sim.state.updated_at;
    sim.now = sim.now.plus(60_000 + 8 * 3_600_000);
    sim.event(Event::Slept { ms: 8 * 3_600_000 });
    let awake = sim.state.updated_at.since(since) - 8 * 3_600_000;
    assert_eq!(deadline(&sim.state), Some(due.plus(8 * 3_600_000)));
    assert_eq!(sim.state.active_ms, worked + awake);
    sim.event(Event::DeadlinePassed);
    assert_eq!(sim.effects, [], "it has its time yet");
    sim.event(ended(MORE, End::Exited { code: 0 }));
    sim.tree(When::After, 1);
    sim.event(Event::AgentStarted { pid: 8, noted: Default::default() });
    let fresh = deadline(&sim.state).expect("a deadline").since(sim.now);
    assert!(fresh <= 30 * 60_000, "the next one is not given the night: {fresh}");
}

#[test]
fn a_wait_is_over_at_its_time_though_the_machine_slept() {
    let mut sim = Sim::new(plan(&[]));
    sim.iteration("", 0, End::Exited { code: 1 });
    let due = deadline(&sim.state).expect("a wait");
    sim.now = due.plus(3_600_000);
    sim.event(Event::Slept { ms: 3_600_000 });
    assert_eq!(deadline(&sim.state), Some(due));
    sim.event(Event::DeadlinePassed);
    assert!(!matches!(sim.state.phase, Phase::Waiting { .. }));
}

#[test]
fn ctrl_c_ends_the_agent_keeps_the_work_and_halts() {
    let mut sim = Sim::new(plan(&["make test"]));
    sim.tree(When::Before, 0);
    sim.event(Event::AgentStarted { pid: 7, noted: Default::default() });
    sim.event(Event::StopAsked { by: StopBy::Interrupt });
    assert_eq!(sim.effects, [Effect::EndAgent { why: Ending::Stop }]);
    sim.event(ended(DONE, End::Signaled { signal: 15 }));
    sim.tree(When::After, 1);
    assert_eq!(sim.stop(), "interrupted");
    assert_eq!(sim.outcome(), Outcome::Interrupted);
    let plan = plan(&["make test"]);
    sim.event(Event::RunResumed(Box::new(RunResumed {
        plan,
        version: "0".into(),
        probe: false,
        unrecorded_ms: 0,
    })));
    assert_eq!(sim.state.current.as_ref().expect("begun").nth, 2);
}

#[test]
fn ctrl_c_during_a_check_checks_again_on_resume_in_the_same_iteration() {
    let mut sim = Sim::new(plan(&["make test"]));
    sim.work(DONE, 0);
    sim.event(Event::StopAsked { by: StopBy::Terminate });
    assert_eq!(sim.effects, [Effect::EndCheck { why: Ending::Stop }]);
    sim.check_cut_off();
    assert_eq!(sim.stop(), "terminated");
    sim.event(Event::RunResumed(Box::new(RunResumed {
        plan: plan(&["make test"]),
        version: "0".into(),
        probe: false,
        unrecorded_ms: 0,
    })));
    assert_eq!(sim.state.current.as_ref().expect("still open").nth, 1);
    assert!(matches!(sim.effects[..], [Effect::MeasureTree { when: When::After, .. }]));
    sim.tree(When::After, 0);
    sim.check(0);
    assert_eq!(sim.state.current.as_ref().expect("begun").kind, Kind::Review);
}

#[test]
fn work_done_while_the_run_stood_still_is_reviewed() {
    // In the middle of an iteration: the claim is judged about the tree as it is now.
    let mut sim = Sim::new(plan(&["make test"]));
    sim.work(DONE, 0);
    let resumed = || {
        Event::RunResumed(Box::new(RunResumed {
            plan: plan(&["make test"]),
            version: "0".into(),
            probe: false,
            unrecorded_ms: 0,
        }))
    };
    sim.event(resumed());
    sim.tree(When::After, 1);
    sim.check(0);
    assert_eq!((sim.stop(), sim.state.rules.reviews.passes), ("running", 0));

    // Between two reviews: passes count only for the tree they were made on.
    let mut sim = Sim::new(plan(&[]));
    sim.work(DONE, 0);
    sim.work(DONE, 0);
    sim.event(Event::StopAsked { by: StopBy::Interrupt });
    sim.event(ended("", End::Signaled { signal: 15 }));
    sim.tree(When::After, 0);
    assert_eq!((sim.stop(), sim.state.rules.reviews.passes), ("interrupted", 2));
    sim.event(Event::RunResumed(Box::new(RunResumed {
        plan: plan(&[]),
        version: "0".into(),
        probe: false,
        unrecorded_ms: 0,
    })));
    sim.tree(When::Before, 0);
    assert_eq!(sim.state.rules.reviews.passes, 0, "the simulated tree is another one each time");
}

#[test]
fn an_agent_that_ended_by_itself_before_it_was_asked_keeps_its_claim() {
    let mut sim = Sim::new(plan(&[]));
    sim.tree(When::Before, 0);
    sim.now = deadline(&sim.state).expect("a deadline");
    sim.event(Event::DeadlinePassed);
    sim.event(ended(DONE, End::Exited { code: 0 }));
    sim.tree(When::After, 0);
    assert_eq!(sim.outcome(), Outcome::Accepted);
}

#[test]
fn a_crash_or_silence_in_a_review_neither_counts_nor_resets() {
    let mut sim = Sim::new(plan(&[]));
    sim.work(DONE, 0);
    sim.iteration(DONE, 0, End::Exited { code: 1 });
    assert_eq!(sim.state.rules.reviews.passes, 1);
    sim.now = deadline(&sim.state).expect("a wait");
    sim.event(Event::DeadlinePassed);
    let tree = sim.state.last.as_ref().and_then(|last| last.after.as_ref()).expect("measured").tree.clone();
    sim.event(Event::TreeMeasured(Box::new(Measured::new(When::Before, tree, None, &[]))));
    sim.work("", 0);
    assert_eq!(sim.state.rules.reviews.passes, 1);
}

#[test]
fn an_interrupt_does_not_forget_failures() {
    let mut sim = Sim::new(plan(&[]));
    sim.iteration("", 0, End::Exited { code: 1 });
    sim.now = deadline(&sim.state).expect("a wait");
    sim.event(Event::DeadlinePassed);
    sim.tree(When::Before, 0);
    sim.event(Event::StopAsked { by: StopBy::Interrupt });
    sim.event(ended("", End::Signaled { signal: 15 }));
    sim.tree(When::After, 0);
    assert_eq!(sim.state.rules.agents.members[0].failures, 1);
}

#[test]
fn a_refusal_is_remembered_over_a_failed_iteration() {
    let mut sim = Sim::new(plan(&["make test"]));
    sim.work(DONE, 1);
    sim.check(1);
    sim.iteration("", 0, End::Exited { code: 1 });
    assert_eq!(sim.state.refusal.as_ref().map(|refusal| refusal.iteration), Some(11));
    sim.now = deadline(&sim.state).expect("a wait");
    sim.event(Event::DeadlinePassed);
    sim.work(MORE, 1);
    assert!(sim.state.refusal.is_some(), "more work does not settle it");
    sim.work(DONE, 1);
    sim.check(0);
    assert_eq!(sim.state.refusal, None);
}

#[test]
fn a_crash_while_the_agent_ran_is_an_interrupted_iteration_and_the_next_one_follows() {
    let mut sim = Sim::new(plan(&["make test"]));
    sim.tree(When::Before, 0);
    sim.event(Event::AgentStarted { pid: 7, noted: Default::default() });
    sim.event(Event::RunResumed(Box::new(RunResumed {
        plan: plan(&["make test"]),
        version: "0".into(),
        probe: false,
        unrecorded_ms: 0,
    })));
    assert_eq!(sim.effects, [Effect::RecoverAgent]);
    sim.event(ended(DONE, End::Cut));
    sim.tree(When::After, 1);
    assert_eq!(sim.outcome(), Outcome::Interrupted);
    assert_eq!(sim.state.rules.agents.members[0].failures, 0);
    assert_eq!(sim.state.current.as_ref().expect("begun").nth, 2);
    assert_eq!(sim.state.totals.usage.total(), 15, "what the cut-off agent used is counted");
}

#[test]
fn a_crash_before_the_agent_was_started_starts_it_in_the_same_iteration() {
    let mut sim = Sim::new(plan(&["make test"]));
    sim.tree(When::Before, 0);
    sim.event(Event::RunResumed(Box::new(RunResumed {
        plan: plan(&["make test"]),
        version: "0".into(),
        probe: false,
        unrecorded_ms: 0,
    })));
    assert_eq!(sim.effects, [Effect::RecoverAgent]);
    sim.event(Event::AgentNeverStarted);
    assert_eq!(sim.effects, [Effect::MeasureTree { when: When::Before, todos_since: None }]);
    assert_eq!(sim.state.used, 1);
    sim.work(DONE, 0);
    sim.check(0);
    sim.work(DONE, 0);
    sim.check(0);
    assert_eq!((sim.stop(), sim.state.used), ("complete", 2));
}

#[test]
fn a_run_that_had_to_stop_beside_its_agent_works_again_when_it_is_taken_up() {
    use crate::own_files::{How, OwnFile, Touch};
    let mut sim = Sim::new(plan(&[]));
    sim.tree(When::Before, 0);
    sim.event(Event::AgentStarted { pid: 7, noted: Default::default() });
    let lost = Some("it cannot be put back".to_owned());
    let (name, kind, how) = ("journal".to_owned(), OwnFile::Journal, How::Removed);
    sim.event(Event::OwnFilesTouched { touches: vec![Touch { name, kind, how, lost, kept: None }] });
    assert_eq!(sim.stop(), "error");
    let (plan, version) = (plan(&[]), "0".into());
    sim.event(Event::RunResumed(Box::new(RunResumed { plan, version, probe: false, unrecorded_ms: 0 })));
    assert_eq!(sim.effects, [Effect::RecoverAgent]);
    assert_eq!(sim.state.phase, Phase::Working);
}

#[test]
fn deciding_and_applying_in_one_go_is_the_same_as_one_after_the_other() {
    let mut sim = Sim::new(plan(&["make test"]));
    sim.work(DONE, 1);
    sim.check(1);
    sim.work(MORE, 1);
    let mut records = Vec::new();
    let whole = journal::open(sim.journal.as_bytes(), |record, _| records.push(record.clone()));
    let mut state = State::default();
    for record in records {
        let Body::Step { event, .. } = record.body.clone() else { continue };
        let (next, made) = step(state, Stamped { at: record.at, event });
        assert_eq!(made, record);
        state = next;
    }
    assert_eq!(state, whole.state);
}

#[test]
fn a_wait_ends_at_once_when_somebody_asks_and_what_is_complete_stays_so() {
    for (by, stop) in
        [(StopBy::Interrupt, "interrupted"), (StopBy::Terminate, "terminated"), (StopBy::Request, "stopped")]
    {
        let mut sim = Sim::new(plan(&[]));
        sim.iteration("", 0, End::Exited { code: 1 });
        assert!(matches!(sim.state.phase, Phase::Waiting { .. }), "{:?}", sim.state.phase);
        sim.event(Event::StopAsked { by });
        assert_eq!(sim.stop(), stop);
    }
    let mut sim = Sim::new(plan(&[]));
    sim.work(DONE, 2);
    (0..3).for_each(|_| sim.work(DONE, 0));
    assert_eq!(sim.stop(), "complete");
    sim.event(Event::RunClosed);
    assert_eq!(sim.stop(), "complete", "closing it does not take that back");
}

#[test]
fn halt_is_absorbing() {
    let mut sim = Sim::new(plan(&[]));
    sim.work(BLOCKED, 0);
    let stopped = sim.state.clone();
    for event in [
        ended(DONE, End::Exited { code: 0 }),
        Event::DeadlinePassed,
        Event::StopAsked { by: StopBy::Interrupt },
        Event::AgentStarted { pid: 1, noted: Default::default() },
        Event::MeasureFailed { error: "late".into() },
    ] {
        sim.event(event);
        assert_eq!(sim.effects, []);
        assert_eq!(sim.state.phase, stopped.phase);
    }
}

#[test]
fn reading_the_journal_gives_the_same_state_whole_or_in_two_parts() {
    let mut sim = Sim::new(plan(&["make test"]));
    sim.work(DONE, 1);
    sim.check(1);
    sim.work(DONE, 0);
    sim.check(0);
    let mut states = vec![];
    let whole = journal::open(sim.journal.as_bytes(), |_, state| states.push(state.clone()));
    assert_eq!(whole.problems, []);
    assert_eq!(whole.state, sim.state);

    for (at, state) in states.iter().enumerate() {
        let record = Record {
            seq: state.seq,
            at: state.updated_at,
            body: Body::Checkpoint { state: Box::new(state.clone()) },
        };
        let mut text = journal::encode(&record);
        for line in sim.journal.lines().skip(at + 1) {
            text.push_str(line);
            text.push('\n');
        }
        let parts = journal::open(text.as_bytes(), |_, _| {});
        assert_eq!(parts.problems, []);
        let mut state = parts.state;
        state.since_checkpoint = sim.state.since_checkpoint;
        assert_eq!(state, sim.state, "checkpoint after record {at}");
    }
}

mod any_events {
    use super::*;
    use proptest::prelude::*;

    fn event() -> impl Strategy<Value = Event> {
        prop_oneof![
            Just(Event::DeadlinePassed),
            Just(Event::AgentStarted { pid: 1, noted: Default::default() }),
            Just(Event::StopAsked { by: StopBy::Interrupt }),
            Just(Event::MeasureFailed { error: "x".into() }),
            Just(Event::Unknown),
            Just(Event::AgentNeverStarted),
            (any::<bool>(), 0u64..3).prop_map(|(before, changed)| {
                let when = if before { When::Before } else { When::After };
                let mut measured = Measured::new(when, "t".into(), None, &[]);
                measured.changed_total = changed;
                Event::TreeMeasured(Box::new(measured))
            }),
            (prop_oneof![Just(DONE), Just(MORE), Just(BLOCKED), Just("")], -1i32..2)
                .prop_map(|(says, code)| ended(says, End::Exited { code })),
            (0i32..2).prop_map(|code| Event::CheckEnded(Box::new(CheckResult {
                name: "test".into(),
                command: "c".into(),
                end: End::Exited { code },
                asked: false,
                failing: vec![],
                duration_ms: 0,
                output_tail: String::new(),
                hollow: false,
            }))),
            Just(Event::RunResumed(Box::new(RunResumed {
                plan: plan(&["c"]),
                version: "0".into(),
                probe: false,
                unrecorded_ms: 0
            }))),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// In any order, also nonsense: no panic, every decision says why, at most one effect that starts
        /// something, and complete only with a green check.
        #[test]
        fn never_break_the_machine(events in proptest::collection::vec(event(), 0..60)) {
            let mut sim = Sim::new(plan(&["c"]));
            for event in events {
                sim.event(event);
                let starts = sim.effects.iter().filter(|e| !matches!(e, Effect::EndAgent { .. } | Effect::EndCheck { .. }));
                prop_assert!(starts.count() <= 1);
                if sim.stop() == "complete" {
                    let last = sim.state.last.as_ref().expect("an iteration");
                    prop_assert!(last.checks.iter().all(CheckResult::passed) && !last.checks.is_empty());
                }
            }
            prop_assert_eq!(journal::open(sim.journal.as_bytes(), |_, _| {}).state, sim.state.clone());
            crate::replay::tests::holds_under_another_policy(&sim);
        }
    }
}
