//! Runs that work through a backlog.

use super::*;
use crate::items::Attempt;
use serde_json::{Value, json};

/// What became of each attempt, and how the run stopped.
fn worked(script: &Value) -> (Vec<Option<Attempt>>, String, World) {
    let script = Script::read(&script.to_string()).expect("a script");
    let mut reader = Reader::default();
    let mut sim = Simulation::new(script.world(), script.agents(), &mut reader);
    let mut attempts = vec![];
    let stop = sim.run(script.started().expect("a plan"), 2_000, |record, _| {
        if let Body::Step { decision, .. } = &record.body {
            attempts.extend(decision.concluded.as_ref().map(|concluded| concluded.attempt));
        }
    });
    let stop = stop.map_or_else(|| "endless".into(), |stop| format!("{} {}", stop.word(), stop.exit_code()));
    assert_eq!(sim.overlaps, 0);
    (attempts, stop, sim.world)
}

#[expect(clippy::needless_pass_by_value, reason = "called with what json! makes")]
fn script(items: u64, extra: Value, turns: Value) -> Value {
    let mut script = json!({"backlog": true, "items": items, "checks": [{"needs": ["src/a.rs"]}],
        "agents": [{"name": "a", "steps": turns}]});
    for (key, value) in extra.as_object().into_iter().flatten() {
        script[key] = value.clone();
    }
    script
}

const PASSED: Option<Attempt> = Some(Attempt::Passed);
const FAILED: Option<Attempt> = Some(Attempt::Failed);
const OPEN: Option<Attempt> = Some(Attempt::InProgress);

#[test]
fn every_item_is_proved_and_one_review_confirms_the_whole() {
    let turns = json!([{"do": {"closes": 1, "writes": ["src/a.rs"]}}, {"do": {"closes": 1, "writes": ["src/b.rs"]}},
        {"do": {"report": "done"}}]);
    let (attempts, stop, world) = worked(&script(2, json!({}), turns));
    assert_eq!(attempts, [PASSED, PASSED, None]);
    assert_eq!((stop.as_str(), world.open_items()), ("complete 0", 0));
}

#[test]
fn a_mark_that_the_checks_do_not_prove_fails_and_the_work_is_kept_for_the_next_attempt() {
    let turns = json!([{"do": {"closes": 1, "writes": ["src/b.rs"]}}, {"do": {"closes": 1, "writes": ["src/a.rs"]}},
        {"do": {"report": "done"}}]);
    let refuse = json!({"set": {"baseline": "refuse"}});
    let (attempts, stop, world) = worked(&script(1, refuse, turns));
    assert_eq!(attempts, [FAILED, PASSED, None]);
    assert!(world.has("src/b.rs"));
    assert_eq!(stop, "complete 0");
}

#[test]
fn a_worker_makes_one_attempt_and_reverts_what_it_cannot_prove() {
    let worker = json!({"profile": "worker", "once": true});
    let wrong = json!([{"do": {"report": "done", "writes": ["src/b.rs"]}}]);
    let (attempts, stop, world) = worked(&script(2, worker.clone(), wrong));
    assert_eq!((attempts.as_slice(), stop.as_str()), (&[FAILED][..], "item_failed 3"));
    assert!(!world.has("src/b.rs"), "put back");
    let right = json!([{"do": {"writes": ["src/a.rs"]}}]);
    let (attempts, stop, world) = worked(&script(2, worker.clone(), right));
    assert_eq!((attempts.as_slice(), stop.as_str()), (&[PASSED][..], "item_passed 0"));
    assert!(world.has("src/a.rs") && world.open_items() == 1);
    let (attempts, stop, _) = worked(&script(0, worker, json!([{"do": {}}])));
    assert_eq!((attempts.as_slice(), stop.as_str()), (&[][..], "backlog_complete 7"));
}

#[test]
fn an_item_that_had_its_attempts_waits_for_a_person() {
    let all = json!({"profile": "worker"});
    let wrong = json!([{"do": {"report": "done", "writes": ["src/b.rs"]}}]);
    let (attempts, stop, world) = worked(&script(1, all, wrong));
    assert_eq!(attempts, [FAILED; 5]);
    assert_eq!((stop.as_str(), world.open_items()), ("blocked 2", 1));
}

#[test]
fn nothing_to_do_is_no_error() {
    assert_eq!(worked(&script(0, json!({}), json!([{"do": {}}]))).1, "backlog_complete 0");
}

#[test]
fn criteria_that_the_agent_changed_refuse_the_pass() {
    let turns = json!([{"do": {"closes": 1, "tampers": true, "writes": ["src/a.rs"]}},
        {"do": {"closes": 1, "writes": ["src/b.rs"]}}, {"do": {"report": "done"}}]);
    assert_eq!(worked(&script(1, json!({}), turns)).0, [FAILED, PASSED, None]);
}

#[test]
fn a_mark_without_work_is_refused_once_and_needs_a_second_agent_to_agree() {
    let files = json!({"files": ["src/a.rs"]});
    let turns = json!([{"do": {"closes": 1}}, {"do": {"closes": 1}}, {"do": {"report": "done"}}]);
    assert_eq!(worked(&script(1, files, turns)).0, [FAILED, PASSED, None]);
}

#[test]
fn what_is_not_claimed_goes_on() {
    let turns = json!([{"do": {"says": "working on it", "writes": ["src/a.rs"]}}, {"do": {"closes": 1, "writes": ["src/b.rs"]}},
        {"do": {"report": "done"}}]);
    assert_eq!(worked(&script(1, json!({}), turns)).0, [OPEN, PASSED, None]);
}

#[test]
fn a_review_that_opens_an_item_sends_the_loop_back_to_work() {
    let turns = json!([{"do": {"closes": 1, "writes": ["src/a.rs"]}}, {"do": {"report": "more", "opens": 1}},
        {"do": {"closes": 1, "writes": ["src/b.rs"]}}, {"do": {"report": "done"}}]);
    let (attempts, stop, _) = worked(&script(1, json!({}), turns));
    assert_eq!(attempts, [PASSED, None, PASSED, None]);
    assert_eq!(stop, "complete 0");
}

#[test]
fn without_reviews_the_words_of_the_last_item_may_complete_the_whole() {
    let none = json!({"set": {"reviews": "0"}});
    let said = json!([{"do": {"report": "done", "closes": 1, "writes": ["src/a.rs"]}}]);
    assert_eq!(worked(&script(1, none.clone(), said)).0, [PASSED]);
    let silent = json!([{"do": {"closes": 1, "writes": ["src/a.rs"]}}, {"do": {"report": "done"}}]);
    let (attempts, stop, _) = worked(&script(1, none, silent));
    assert_eq!((attempts.as_slice(), stop.as_str()), (&[PASSED, None][..], "complete 0"));
}

#[test]
fn a_crash_while_settling_settles_once() {
    let turns = json!([{"do": {"closes": 1, "writes": ["src/a.rs"]}}, {"do": {"report": "done"}}]);
    let script = Script::read(&script(2, json!({}), turns).to_string()).expect("a script");
    let mut reader = Reader::default();
    let mut sim = Simulation::new(script.world(), script.agents(), &mut reader);
    let started = script.started().expect("a plan");
    let plan = started.run.plan.clone();
    sim.start(started);
    while !matches!(sim.state.phase, crate::decision::Phase::Settling { .. }) {
        sim.step().expect("goes on");
    }
    // It was all done, and the event was lost.
    let crate::decision::Phase::Settling { settlement, .. } = sim.state.phase.clone() else { unreachable!() };
    sim.world.settle(&settlement);
    sim.crash(1);
    sim.take(Event::RunResumed(Box::new(RunResumed {
        plan,
        version: "1".into(),
        probe: false,
        unrecorded_ms: 0,
    })));
    sim.step().expect("settled again");
    assert_eq!(sim.world.open_items(), 1, "one item was closed, once");
}

#[test]
fn no_agent_is_spent_on_an_item_that_nothing_could_prove() {
    let worker = json!({"profile": "worker", "checks": []});
    let (attempts, stop, world) = worked(&script(1, worker, json!([{"do": {"writes": ["src/a.rs"]}}])));
    assert_eq!((attempts.as_slice(), stop.as_str()), (&[][..], "blocked 2"));
    assert_eq!((world.open_items(), world.has("src/a.rs")), (1, false));
    // Where words and reviews are asked, they prove the whole.
    let turns = json!([{"do": {"closes": 1, "writes": ["src/a.rs"]}}, {"do": {"report": "done"}}]);
    let (attempts, stop, _) = worked(&script(1, json!({"checks": []}), turns));
    assert_eq!((attempts.as_slice(), stop.as_str()), (&[PASSED, None, None, None][..], "complete 0"));
}

#[test]
fn an_item_that_cannot_be_marked_stops_the_run_instead_of_being_handed_out_again() {
    let turns = json!([{"do": {"closes": 1, "writes": ["src/a.rs"]}}]);
    let script = Script::read(&script(2, json!({}), turns).to_string()).expect("a script");
    let mut reader = Reader::default();
    let mut sim = Simulation::new(script.world(), script.agents(), &mut reader);
    sim.start(script.started().expect("a plan"));
    while !matches!(sim.state.phase, crate::decision::Phase::Settling { .. }) {
        sim.step().expect("goes on");
    }
    let unmarked = Some("item-0 cannot be marked".to_owned());
    sim.take(Event::Settled(Box::new(crate::items::Settled { unmarked, ..Default::default() })));
    let stop = sim.state.stop().expect("it stops");
    assert_eq!((stop.word(), stop.exit_code()), ("unreadable", 65));
    assert_eq!(
        (sim.state.rules.items.passed, sim.state.backlog.as_ref().map(|read| read.items.open)),
        (0, Some(2))
    );
}

#[test]
fn an_agent_that_harms_other_items_does_not_pass_with_its_own() {
    let turns = json!([{"do": {"closes": 1, "harms": true, "writes": ["src/a.rs"]}},
        {"do": {"closes": 1, "writes": ["src/b.rs"]}}, {"do": {"report": "done"}}]);
    assert_eq!(worked(&script(1, json!({}), turns)).0, [FAILED, PASSED, None]);
    // An agent that crashes has tried the item all the same.
    let crash = json!([{"do": {"harms": true, "exit": 1}}, {"do": {"closes": 1, "writes": ["src/a.rs"]}},
        {"do": {"report": "done"}}]);
    assert_eq!(worked(&script(1, json!({}), crash)).0, [FAILED, PASSED, None]);
}
