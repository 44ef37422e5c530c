//! Items of a backlog, from the question for one to what came of it.

use super::*;
use crate::evidence::Items;
use crate::items::{Attempt, BacklogPlan, BacklogRead, Found, ItemAfter, Settled, Work};

fn read(found: Found) -> Event {
    let items = Items { open: 1, total: 2 };
    Event::BacklogRead(Box::new(BacklogRead { items, phase: None, phases: vec![], blocked: 0, found }))
}

fn work() -> Work {
    Work { id: "FEAT-1".into(), title: "Greets".into(), criteria: "digest".into(), ..Work::default() }
}

fn backlog(change: impl FnOnce(&mut Plan)) -> Plan {
    let mut plan = plan(&["make test"]);
    plan.backlog = Some(BacklogPlan { file: "feature_list.json".into(), ..BacklogPlan::default() });
    change(&mut plan);
    plan
}

/// Up to the agent at work on the item.
fn at_work(plan: Plan) -> Sim {
    let mut sim = Sim::new(plan);
    assert_eq!(sim.effects, [Effect::ReadBacklog]);
    sim.event(read(Found::Selected(Box::new(work()))));
    sim.tree(When::Before, 0);
    assert_eq!(sim.effects, [Effect::MarkItem { id: "FEAT-1".into() }]);
    assert_eq!(sim.state.phase, Phase::Selecting);
    sim.event(Event::ItemMarked { problem: None });
    assert_eq!(sim.effects, [Effect::StartAgent]);
    sim.event(Event::AgentStarted { pid: 7 });
    sim
}

/// The agent ended so, having changed so many files, and done this to the backlog.
fn ends(sim: &mut Sim, says: &str, code: i32, changed: u64, item: ItemAfter) {
    sim.event(ended(says, End::Exited { code }));
    let mut measured = Measured::new(When::After, format!("t{}", sim.now.millis()), None, &[]);
    measured.changed_total = changed;
    measured.item = Some(ItemAfter { criteria: "digest".into(), ..item });
    sim.event(Event::TreeMeasured(Box::new(measured)));
}

fn attempt(sim: &Sim) -> Option<Attempt> {
    sim.last.as_ref().and_then(|decision| decision.concluded.as_ref()).and_then(|concluded| concluded.attempt)
}

fn rules(sim: &Sim) -> Vec<&str> {
    sim.last.iter().flat_map(|decision| &decision.reasons).map(|reason| reason.rule.as_str()).collect()
}

#[test]
fn an_agent_that_could_not_begin_has_not_tried_the_item() {
    let ticked = || ItemAfter { ticked_others: vec!["FEAT-2".into()], ..ItemAfter::default() };
    for (says, code, changed, item, tried) in [
        (MORE, 0, 0, ItemAfter::default(), Some(Attempt::InProgress)),
        (MORE, 0, 3, ItemAfter::default(), Some(Attempt::InProgress)),
        (MORE, 1, 3, ItemAfter::default(), Some(Attempt::Failed)),
        (MORE, 1, 0, ticked(), Some(Attempt::Failed)),
        (MORE, 1, 0, ItemAfter::default(), None),
    ] {
        let mut sim = at_work(backlog(|_| {}));
        ends(&mut sim, says, code, changed, item.clone());
        assert_eq!(attempt(&sim), tried, "{code} {changed} {item:?}");
        assert!(!rules(&sim).contains(&"reviews"), "nothing was accepted: {:?}", rules(&sim));
        assert!(!sim.state.rules.items.declared, "nobody said that all is done");
    }
}

#[test]
fn only_a_claim_without_a_change_is_remembered_as_one() {
    for (says, changed, unchanged) in
        [(DONE, 2, None), (DONE, 0, Some("FEAT-1")), (MORE, 0, None), (MORE, 2, None)]
    {
        let mut sim = at_work(backlog(|_| {}));
        ends(&mut sim, says, 0, changed, ItemAfter::default());
        if says == DONE {
            sim.check(1);
        }
        assert_eq!(sim.state.rules.items.unchanged.as_deref(), unchanged, "{says} {changed}");
        assert_eq!(sim.state.rules.items.declared, says == DONE);
    }
}

#[test]
fn an_item_that_is_proved_speaks_of_no_reviews() {
    let mut sim = at_work(backlog(|_| {}));
    ends(&mut sim, DONE, 0, 2, ItemAfter::default());
    sim.check(0);
    assert_eq!(attempt(&sim), Some(Attempt::Passed));
    assert!(!rules(&sim).contains(&"reviews"), "{:?}", rules(&sim));
}

#[test]
fn the_whole_is_worked_on_where_nobody_has_to_review_it() {
    for (reviews, kind) in [("0", Kind::Work), ("2", Kind::Review)] {
        let mut sim = at_work(backlog(|plan| plan.policy.set("reviews", reviews).expect("a value")));
        let ticked = ItemAfter { ticked: true, ..ItemAfter::default() };
        ends(&mut sim, MORE, 0, 2, ticked);
        sim.check(0);
        assert!(matches!(sim.effects[..], [Effect::Settle { .. }]), "{:?}", sim.effects);
        sim.event(Event::Settled(Box::new(Settled::default())));
        assert_eq!(sim.effects, [Effect::ReadBacklog]);
        sim.event(read(Found::Complete));
        let begins = sim.last.as_ref().and_then(|decision| decision.begins.as_ref());
        assert_eq!(begins.map(|begins| begins.kind), Some(kind), "{reviews} reviews");
    }
}

#[test]
fn the_boot_ritual_comes_first_and_what_it_finds_broken_is_not_worked_on() {
    let booting = || backlog(|plan| plan.boot = Some(CheckSpec::named("boot", "./init.sh")));
    let mut sim = Sim::new(booting());
    let [Effect::RunCheck { check }] = &sim.effects[..] else { panic!("{:?}", sim.effects) };
    assert_eq!(check.command, "./init.sh");
    sim.check(0);
    assert_eq!(sim.effects, [Effect::ReadBacklog], "it passed");
    let mut sim = Sim::new(booting());
    sim.check(1);
    let Some(Stop::Error { what }) = sim.state.stop() else { panic!("{:?}", sim.state.phase) };
    assert!(what.starts_with("Fix build before running Ralph Loop: "), "{what}");
}
