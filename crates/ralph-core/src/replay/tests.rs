//! Records made by the machine's own simulation, replayed under other policies.

use proptest::prelude::*;

use super::*;
use crate::check::CheckSpec;
use crate::event::{End, Event, Plan, RunResumed, When};
use crate::evidence::Items;
use crate::items::{BacklogPlan, BacklogRead, Found, Work};
use crate::journal::{self, Record};
use crate::machine::tests::{DONE, MORE, Sim, ended, plan};
use crate::profile::{Policy, profile};

fn set(policy: &mut Policy, values: &[(&str, &str)]) {
    for (key, value) in values {
        policy.set(key, value).unwrap_or_else(|error| panic!("{error}"));
    }
}

fn start(values: &[(&str, &str)], checks: &[&str]) -> Sim {
    let mut plan = plan(checks);
    set(&mut plan.policy, values);
    Sim::new(plan)
}

fn replay(sim: &Sim, change: impl Fn(&mut Plan)) -> Told {
    let mut changed = Changed::new(change);
    journal::open(sim.journal.as_bytes(), |record, _| changed.take(record));
    changed.finish()
}

fn under(sim: &Sim, values: &[(&str, &str)]) -> Told {
    replay(sim, |plan| set(&mut plan.policy, values))
}

fn stop(side: &Side) -> &str {
    side.stop.as_ref().map_or("running", Stop::word)
}

fn records(sim: &Sim) -> Vec<Record> {
    let mut records = vec![];
    journal::open(sim.journal.as_bytes(), |record, _| records.push(record.clone()));
    records
}

fn resumed(sim: &Sim, values: &[(&str, &str)]) -> Event {
    let mut plan = sim.state.run.as_ref().expect("started").plan.clone();
    set(&mut plan.policy, values);
    Event::RunResumed(Box::new(RunResumed { plan, version: "0".into(), probe: true, unrecorded_ms: 0 }))
}

#[test]
fn a_record_whose_decision_was_altered_disagrees_and_names_the_part() {
    let mut sim = start(&[], &[]);
    sim.work(MORE, 1);
    let mut agreement = Agreement::default();
    let mut altered = 0;
    for mut record in records(&sim) {
        if let journal::Body::Step { decision, .. } = &mut record.body
            && decision.concluded.is_some()
        {
            decision.reasons[0].text = "because".into();
            decision.rules.breaker.no_progress = 7;
            altered = record.seq;
        }
        agreement.take(&record);
    }
    let found = agreement.disagreement.expect("altered");
    assert_eq!((found.seq, found.nth, found.number), (altered, 1, 11));
    assert_eq!(found.parts, ["reasons", "rules"]);
    assert_eq!(found.recorded[0].text, "because");
    assert_eq!(
        (found.decided[0].text.as_str(), found.version.as_str()),
        ("not done: EXIT_SIGNAL: false", "0")
    );
}

#[test]
fn a_lower_limit_stops_earlier_and_saves_the_rest() {
    let mut sim = start(&[("max_iterations", "4")], &[]);
    (0..4).for_each(|_| sim.work(MORE, 1));
    let told = under(&sim, &[("max_iterations", "2")]);
    assert_eq!((told.came, stop(&told.recorded)), (Came::Stops, "max_iterations"));
    assert_eq!(told.replayed.stop, Some(Stop::MaxIterations { used: 2, max: 2 }));
    assert_eq!((told.recorded.iterations, told.replayed.iterations), (4, 2));
    assert_eq!(told.recorded.totals.cost_micro_usd, Some(400));
    assert_eq!(told.replayed.totals.cost_micro_usd, Some(200));
    let Divergence { recorded, replayed } = told.divergence.expect("diverges");
    let recorded = recorded.expect("the record goes on");
    assert_eq!((recorded.number, recorded.nth, recorded.seq), (12, 2, replayed.seq));
    assert_eq!((recorded.verdict, replayed.verdict), (Verdict::Continue, Verdict::Halt));
    assert_eq!((recorded.outcome, replayed.outcome), (Some(Outcome::More), Some(Outcome::More)));
    assert_eq!(replayed.reasons.last().expect("why").text, "2 of 2 iterations used");
    assert_eq!(recorded.reasons.last().expect("why").text, "iteration 3 begins");
}

#[test]
fn where_the_breaker_stopped_the_record_no_breaker_goes_on() {
    let mut sim = start(&[], &[]);
    (0..3).for_each(|_| sim.work(MORE, 0));
    assert_eq!(sim.stop(), "circuit_open");
    let told = under(&sim, &[("no_progress", "off")]);
    assert_eq!((told.came, stop(&told.replayed)), (Came::GoesOn, "running"));
    assert_eq!((told.recorded.iterations, told.replayed.iterations), (3, 4), "the fourth has begun");
    let replayed = told.divergence.expect("diverges").replayed;
    assert_eq!((replayed.nth, replayed.verdict), (3, Verdict::Continue));
}

#[test]
fn what_was_done_after_the_record_was_continued_is_known() {
    let mut sim = start(&[], &[]);
    (0..3).for_each(|_| sim.work(MORE, 0));
    sim.now = sim.now.plus(3_600_000);
    let event = resumed(&sim, &[]);
    sim.event(event);
    sim.work(MORE, 1);
    sim.work("BLOCKED NOT_RUN false", 0);
    let told = under(&sim, &[("no_progress", "off"), ("max_time", "1h")]);
    assert_eq!((told.came, stop(&told.replayed)), (Came::Same, "blocked"));
    assert_eq!(told.replayed.iterations, 5);
    assert_eq!(told.divergence.expect("diverges").replayed.nth, 3);
    let told = under(&sim, &[("no_progress_after", "4")]);
    assert_eq!((told.came, stop(&told.replayed)), (Came::Same, "blocked"));
    let told = under(&sim, &[("no_progress_after", "2")]);
    assert_eq!((told.came, stop(&told.replayed), told.replayed.iterations), (Came::Stops, "circuit_open", 2));
}

#[test]
fn what_the_user_changed_when_continuing_holds_though_nothing_had_stopped() {
    let mut sim = start(&[("max_iterations", "4")], &[]);
    (0..3).for_each(|_| sim.work(MORE, 0));
    let event = resumed(&sim, &[("max_iterations", "5")]);
    sim.event(event);
    sim.work(MORE, 1);
    sim.work(MORE, 1);
    let told = under(&sim, &[("no_progress", "off")]);
    assert_eq!(
        (told.came, stop(&told.replayed), told.replayed.iterations),
        (Came::Same, "max_iterations", 5)
    );
}

#[test]
fn a_run_that_was_stopped_by_the_user_and_continued_is_followed() {
    let mut sim = start(&[], &[]);
    sim.work(MORE, 1);
    sim.event(Event::StopAsked { by: crate::event::StopBy::Interrupt });
    sim.event(crate::machine::tests::ended("", End::Signaled { signal: 15 }));
    sim.tree(crate::event::When::After, 0);
    assert_eq!(sim.stop(), "interrupted");
    let event = resumed(&sim, &[("max_iterations", "9")]);
    sim.event(event);
    sim.work(MORE, 1);
    sim.work(MORE, 1);
    let told = under(&sim, &[("max_iterations", "3")]);
    assert_eq!(
        (told.came, stop(&told.replayed), told.replayed.iterations),
        (Came::Stops, "max_iterations", 3)
    );
    let told = under(&sim, &[("max_iterations", "2")]);
    assert_eq!(told.replayed.iterations, 2, "it is not taken up again");
}

#[test]
fn more_reviews_go_on_and_none_stop_at_once() {
    let mut sim = start(&[], &["make test"]);
    sim.work(DONE, 1);
    sim.check(0);
    sim.work(DONE, 0);
    sim.check(0);
    assert_eq!(sim.stop(), "complete");
    let told = replay(&sim, |plan| {
        plan.policy = profile("strict").expect("a profile").policy();
        set(&mut plan.policy, &[("baseline", "off"), ("gate", "explicit")]);
    });
    assert_eq!(told.came, Came::GoesOn);
    let told = under(&sim, &[("reviews", "0")]);
    assert_eq!((told.came, stop(&told.replayed), told.replayed.iterations), (Came::Stops, "complete", 1));
}

#[test]
fn words_that_do_not_convince_the_dual_gate_are_more_work() {
    let mut sim = start(&[("reviews", "0")], &["make test"]);
    sim.work(DONE, 1);
    sim.check(0);
    assert_eq!(sim.stop(), "complete");
    let told = under(&sim, &[("gate", "dual")]);
    assert_eq!(told.came, Came::GoesOn);
    let Divergence { recorded, replayed } = told.divergence.expect("diverges");
    assert_eq!(recorded.expect("recorded").outcome, Some(Outcome::Accepted));
    assert_eq!(replayed.outcome, Some(Outcome::More), "and its check is passed over");
    assert!(replayed.reasons[0].text.contains("0 of 2 times"), "{:?}", replayed.reasons);
}

#[test]
fn a_check_that_was_red_before_the_run_may_be_tolerated() {
    let mut sim = start(&[("baseline", "refuse"), ("max_iterations", "2")], &["make test"]);
    sim.check(1);
    for _ in 0..2 {
        sim.work(DONE, 1);
        sim.check(1);
    }
    assert_eq!(sim.stop(), "max_iterations");
    let told = under(&sim, &[("baseline", "tolerate"), ("reviews", "0")]);
    assert_eq!((told.came, stop(&told.replayed), told.replayed.iterations), (Came::Stops, "complete", 1));
    let replayed = told.divergence.expect("diverges").replayed;
    assert_eq!(replayed.outcome, Some(Outcome::Accepted));
}

#[test]
fn a_check_that_nobody_ran_cannot_be_told() {
    let mut sim = start(&[("evidence", "off"), ("reviews", "0")], &["make test"]);
    sim.work(MORE, 1);
    sim.work(DONE, 1);
    let told = under(&sim, &[("evidence", "required")]);
    let why = "the record does not hold how `make test` stood after iteration 2".to_owned();
    assert_eq!((told.came, told.divergence), (Came::CannotBeTold { why }, None));
    let told = under(&sim, &[("evidence", "required"), ("baseline", "refuse")]);
    let why = "the record does not hold how `make test` stood before the run".to_owned();
    assert_eq!(told.came, Came::CannotBeTold { why });
}

#[test]
fn checks_that_are_not_wanted_are_passed_over() {
    let mut sim = start(&[("baseline", "refuse")], &["make test"]);
    sim.check(0);
    sim.work(MORE, 1);
    sim.work(DONE, 1);
    sim.check(1);
    sim.work(DONE, 1);
    sim.check(0);
    sim.work(DONE, 0);
    sim.check(0);
    assert_eq!(sim.stop(), "complete");
    // Without evidence three reviews are wanted: the fourth claim in a row changes something only once.
    let told = under(&sim, &[("evidence", "off"), ("baseline", "off")]);
    assert_eq!(told.came, Came::GoesOn);
    assert_eq!(told.divergence.expect("diverges").replayed.nth, 2);
    assert_eq!(told.remarks, ["from iteration 3 on, what was done as work is judged as review"]);
    let told = under(&sim, &[("evidence", "off"), ("reviews", "0")]);
    assert_eq!((told.came, stop(&told.replayed), told.replayed.iterations), (Came::Stops, "complete", 2));
}

#[test]
fn an_item_s_own_check_is_wanted_under_any_rules_and_is_not_taken_for_another() {
    let mut plan = plan(&["make test"]);
    set(&mut plan.policy, &[("baseline", "off")]);
    plan.backlog = Some(BacklogPlan { file: "prd.json".into(), once: true, ..BacklogPlan::default() });
    let mut sim = Sim::new(plan);
    let check = CheckSpec::named("verify-1", "sh own.sh");
    let work = Work { id: "a".into(), checks: vec![check], ..Work::default() };
    let found = Found::Selected(Box::new(work));
    let (items, phase, phases, blocked) = (Items { open: 1, total: 1 }, None, vec![], 0);
    sim.event(Event::BacklogRead(Box::new(BacklogRead {
        items,
        phase,
        phases,
        blocked,
        ..BacklogRead::new(found)
    })));
    sim.tree(When::Before, 0);
    sim.event(Event::ItemMarked { problem: None });
    sim.event(Event::AgentStarted { pid: 7, noted: Default::default() });
    sim.event(ended(DONE, End::Exited { code: 0 }));
    sim.tree(When::After, 1);
    sim.check(0);
    sim.check(1);
    sim.event(Event::Settled(Box::default()));
    assert_eq!(sim.stop(), "item_failed");
    let told = under(&sim, &[("evidence", "off")]);
    assert_eq!((told.came, stop(&told.replayed)), (Came::Same, "item_failed"), "by its own check alone");
}

#[test]
fn todos_that_nobody_looked_for_cannot_be_told() {
    let mut sim = start(&[("todos", "off"), ("reviews", "0")], &[]);
    sim.work(DONE, 1);
    assert_eq!(under(&sim, &[("todos", "flag")]).came, Came::Same);
    let why = "the record does not hold which TODO comments there were after iteration 1".to_owned();
    assert_eq!(under(&sim, &[("todos", "refuse")]).came, Came::CannotBeTold { why });
}

#[test]
fn another_wait_is_another_wait_and_failures_may_be_fewer() {
    let mut sim = start(&[], &[]);
    for _ in 0..3 {
        sim.iteration("", 0, End::Exited { code: 1 });
        sim.now = crate::machine::deadline(&sim.state).expect("a wait");
        sim.event(Event::DeadlinePassed);
    }
    sim.work("BLOCKED NOT_RUN false", 0);
    let told = under(&sim, &[("backoff", "1h"), ("max_backoff", "1h")]);
    assert_eq!((told.came, told.divergence), (Came::Same, None), "it waits as well, only longer");
    assert!(told.other_reasons > 0);
    let told = under(&sim, &[("backoff", "1h"), ("max_backoff", "1h"), ("max_time", "90m")]);
    assert_eq!((told.came, stop(&told.replayed), told.replayed.iterations), (Came::Stops, "max_time", 2));
    let told = under(&sim, &[("max_failures", "2")]);
    assert_eq!((stop(&told.replayed), told.replayed.iterations), ("agents_exhausted", 2));
}

#[test]
fn time_that_is_not_needed_is_not_spent() {
    let mut sim = start(&[("max_iterations", "3"), ("check_timeout", "2h")], &["make test"]);
    for _ in 0..3 {
        sim.work(DONE, 1);
        sim.now = sim.now.plus(3_600_000);
        sim.check(1);
    }
    let told = under(&sim, &[("max_time", "90m")]);
    assert_eq!((told.came, stop(&told.replayed), told.replayed.iterations), (Came::Stops, "max_time", 2));
    let told = under(&sim, &[("max_time", "30m"), ("evidence", "off"), ("reviews", "9")]);
    assert_eq!((told.came, stop(&told.replayed)), (Came::Same, "max_iterations"));

    let mut sim = start(&[("backoff", "1h"), ("max_backoff", "1h")], &[]);
    sim.iteration("", 0, End::Exited { code: 1 });
    sim.now = crate::machine::deadline(&sim.state).expect("a wait");
    sim.event(Event::DeadlinePassed);
    sim.work(MORE, 1);
    let told = under(&sim, &[("backoff", "1s"), ("max_time", "30m")]);
    assert_eq!((told.came, told.replayed.iterations), (Came::Same, 3), "it waits a second");
}

#[test]
fn what_an_agent_that_was_stopped_with_its_run_would_have_done_nobody_knows() {
    let mut sim = start(&[("max_time", "10m")], &[]);
    sim.tree(When::Before, 0);
    sim.event(Event::AgentStarted { pid: 7, noted: Default::default() });
    sim.now = crate::machine::deadline(&sim.state).expect("a deadline");
    sim.event(Event::DeadlinePassed);
    let mut event = ended(MORE, End::Signaled { signal: 15 });
    if let Event::AgentEnded(ended) = &mut event {
        ended.duration_ms = 600_000;
    }
    sim.event(event);
    sim.tree(When::After, 1);
    assert_eq!(sim.stop(), "max_time");
    assert_eq!(under(&sim, &[]).came, Came::Same);
    for (time, word) in
        [("20m", "with more time, nobody knows"), ("5m", "would have been ended after 4m 59s")]
    {
        let Came::CannotBeTold { why } = under(&sim, &[("max_time", time)]).came else { panic!("{time}") };
        assert!(why.ends_with(word), "{why}");
    }
}

#[test]
fn a_wait_that_the_record_was_stopped_before_is_waited_for() {
    let mut sim = start(&[("no_progress_after", "1"), ("no_progress", "half_open")], &[]);
    sim.work(MORE, 0);
    sim.iteration("", 0, End::Exited { code: 1 });
    assert_eq!(sim.stop(), "circuit_open", "the failed probe");
    let event = resumed(&sim, &[]);
    sim.event(event);
    assert_eq!(sim.stop(), "running");
    sim.now = crate::machine::deadline(&sim.state).unwrap_or(sim.now);
    sim.event(Event::DeadlinePassed);
    sim.work("BLOCKED NOT_RUN false", 0);
    let told = under(&sim, &[("no_progress", "off")]);
    assert_eq!((told.came, stop(&told.replayed), told.replayed.iterations), (Came::Same, "blocked", 3));
    assert_eq!(told.divergence.expect("diverges").replayed.verdict, Verdict::Wait);
    let told = under(&sim, &[("no_progress", "off"), ("backoff", "1h"), ("max_time", "30m")]);
    assert_eq!((stop(&told.replayed), told.replayed.iterations), ("blocked", 3), "the longest is a minute");
}

#[test]
fn a_user_who_stops_a_check_that_is_not_wanted_stops_something_else() {
    let mut sim = start(&[], &["make test"]);
    sim.work(DONE, 1);
    sim.event(Event::StopAsked { by: crate::event::StopBy::Interrupt });
    let Came::CannotBeTold { why } = under(&sim, &[("evidence", "off")]).came else { panic!("tells") };
    assert!(why.contains("the user stopped the run"), "{why}");
    let told = under(&sim, &[("evidence", "off"), ("reviews", "0")]);
    assert_eq!((told.came, stop(&told.replayed)), (Came::Stops, "complete"), "it had stopped before");
}

#[test]
fn another_agent_or_another_time_out_cannot_be_told() {
    let mut two = plan(&[]);
    two.agents.push(crate::machine::tests::agent("second"));
    let mut sim = Sim::new(two);
    sim.work(MORE, 1);
    sim.work(MORE, 1);
    let Came::CannotBeTold { why } = under(&sim, &[("order", "round_robin")]).came else { panic!("tells") };
    assert_eq!(why, "iteration 2 would have been second's, and the record holds what custom did");
    let Came::CannotBeTold { why } = under(&sim, &[("timeout", "1ms")]).came else { panic!("tells") };
    assert_eq!(why, "the agent of iteration 1 took 5ms; by these rules it would have been ended after 1ms");

    let mut sim = start(&[], &[]);
    sim.tree(crate::event::When::Before, 0);
    sim.now = crate::machine::deadline(&sim.state).expect("a deadline");
    sim.event(Event::DeadlinePassed);
    sim.event(crate::machine::tests::ended("", End::Signaled { signal: 15 }));
    sim.tree(crate::event::When::After, 0);
    let Came::CannotBeTold { why } = under(&sim, &[("timeout", "2h")]).came else { panic!("tells") };
    assert!(why.starts_with("the agent of iteration 1 was ended after 30m"), "{why}");
}

#[test]
fn a_silence_that_was_too_long_is_told_and_a_shorter_one_was_never_recorded() {
    let mut sim = start(&[], &[]);
    sim.tree(crate::event::When::Before, 0);
    sim.event(Event::AgentSilent { for_ms: 600_000 });
    sim.event(crate::machine::tests::ended("", End::Signaled { signal: 15 }));
    sim.tree(crate::event::When::After, 0);
    let Came::CannotBeTold { why } = under(&sim, &[("idle_timeout", "1h")]).came else { panic!("tells") };
    assert!(why.starts_with("the agent of iteration 1 was ended after 10m of silence"), "{why}");
    assert_eq!(under(&sim, &[("idle_timeout", "9m")]).came, Came::Same);

    let mut sim = start(&[], &[]);
    sim.work(MORE, 1);
    let Came::CannotBeTold { why } = under(&sim, &[("idle_timeout", "1ms")]).came else { panic!("tells") };
    assert_eq!(why, "the record does not hold whether the agent of iteration 1 was silent for 1ms");
    assert_eq!(under(&sim, &[("idle_timeout", "1h")]).came, Came::Same);
}

/// What each agent of a run says, changes and how it ends, and how the check stands then.
type Script = Vec<(&'static str, u64, i32, i32)>;

fn script() -> impl Strategy<Value = Script> {
    let says = prop_oneof![Just(DONE), Just(DONE), Just(MORE), Just("")];
    proptest::collection::vec((says, 0u64..2, 0i32..2, 0i32..2), 1..12)
}

/// Plays a script to its end, or until the run stops.
fn play(values: &[(&str, &str)], script: &Script) -> Sim {
    let mut sim = start(values, &["make test"]);
    for (says, changed, code, check) in script {
        if let crate::decision::Phase::Waiting { until, .. } = sim.state.phase {
            sim.now = until;
            sim.event(Event::DeadlinePassed);
        }
        if sim.stop() != "running" {
            break;
        }
        sim.iteration(says, *changed, End::Exited { code: *code });
        if matches!(sim.effects[..], [crate::effect::Effect::RunCheck { .. }]) {
            sim.check(*check);
        }
    }
    sim
}

const CHANGES: &[&[(&str, &str)]] = &[
    &[("max_iterations", "3")],
    &[("no_progress", "off")],
    &[("no_progress_after", "2")],
    &[("no_progress", "half_open"), ("cooldown", "none")],
    &[("reviews", "0")],
    &[("reviews", "2")],
    &[("evidence", "off")],
    &[("gate", "dual"), ("indicators", "1")],
    &[("gate", "dual")],
    &[("max_failures", "1")],
    &[("max_failures", "2"), ("backoff", "5s")],
    &[("budget", "0.0004")],
    &[("max_tokens", "60")],
    &[("test_only", "halt"), ("test_only_after", "2")],
];

/// Whatever was recorded, also nonsense: other rules come to an end, and to one that fits what they came to.
pub(crate) fn holds_under_another_policy(sim: &Sim) {
    let told = under(sim, CHANGES[sim.journal.len() % CHANGES.len()]);
    match told.came {
        Came::Stops => assert!(told.replayed.stop.is_some() && told.divergence.is_some()),
        Came::GoesOn => assert!(told.replayed.stop.is_none() && told.recorded.stop.is_some()),
        Came::Same => assert_eq!(stop(&told.replayed), stop(&told.recorded)),
        Came::CannotBeTold { why } => assert!(!why.is_empty()),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// Where the replay says how it ends, a run by those rules with the same agents ends like that.
    #[test]
    fn what_is_told_is_what_would_have_happened(
        script in script(),
        then in 0..CHANGES.len(),
        now in 0..CHANGES.len(),
    ) {
        let recorded = play(CHANGES[then], &script);
        let told = replay(&recorded, |plan| {
            plan.policy = start(CHANGES[now], &[]).state.run.as_ref().expect("started").plan.policy.clone();
        });
        let length = told.recorded.iterations as usize;
        let really = play(CHANGES[now], &script[..length.min(script.len())].to_vec());
        match &told.came {
            Came::CannotBeTold { .. } => {}
            Came::GoesOn => prop_assert_eq!(really.stop(), "running"),
            Came::Same | Came::Stops => {
                prop_assert_eq!(stop(&told.replayed), really.stop());
                prop_assert_eq!(told.replayed.totals, really.state.totals);
            }
        }
        prop_assert!(told.replayed.totals.usage.total() <= told.recorded.totals.usage.total());
        let end = |side: &Side| (stop(side).to_owned(), side.iterations);
        if told.came == Came::Stops {
            prop_assert_ne!(end(&told.replayed), end(&told.recorded));
        }
        if then == now {
            prop_assert_eq!(told.divergence, None);
        }
    }
}
