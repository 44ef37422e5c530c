//! What holds for every run, whoever works in it and whoever meddles with it.

#[path = "properties/any.rs"]
mod any;
#[path = "properties/life.rs"]
mod life;

use proptest::prelude::*;
use ralph_core::breaker::Circuit;
use ralph_core::decision::{Decision, Outcome, Phase, Stop};
use ralph_core::effect::Effect;
use ralph_core::event::{Event, Stamped};
use ralph_core::journal::{self, Body, Record};
use ralph_core::machine;
use ralph_core::simulation::MOMENT_MS;
use ralph_core::state::{State, apply};

use life::{Life, Moment, lives};

fn step(record: &Record) -> (&Event, &Decision) {
    match &record.body {
        Body::Step { event, decision } => (event, decision),
        other => panic!("not a step: {other:?}"),
    }
}

/// A few of each in the gate; PROPTEST_CASES asks for more.
fn config() -> ProptestConfig {
    let cases =
        if std::env::var_os("PROPTEST_CASES").is_some() { ProptestConfig::default().cases } else { 32 };
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn every_decision_has_a_reason_and_every_stop_says_why(life in lives()) {
        let moments = life.play();
        for moment in &moments {
            prop_assert!(!step(&moment.record).1.reasons.is_empty());
            if let Some(stop) = moment.after.stop() {
                prop_assert!(!stop.to_string().is_empty());
            }
        }
    }

    #[test]
    fn never_two_jobs_in_one_tree_and_none_is_left_when_the_run_halts(life in lives()) {
        for moment in life.play() {
            prop_assert_eq!(moment.overlaps, 0);
            prop_assert!(!moment.busy || moment.after.stop().is_none(), "{:?}", moment.after.stop());
        }
    }

    #[test]
    fn a_run_that_nobody_stops_goes_on_until_it_halts(life in lives()) {
        let moments = Life { meddling: vec![], ..life }.play();
        let last = moments.last().expect("a first record");
        prop_assert!(last.after.stop().is_some(), "{} records: {:?}", moments.len(), last.after.phase);
    }

    #[test]
    fn decide_survives_any_event_in_any_state_that_can_be_reached(
        life in lives(),
        events in prop::collection::vec(any::stamped(), 1..12),
    ) {
        for moment in life.play() {
            for stamped in &events {
                let decision = machine::decide(&moment.after, stamped);
                prop_assert!(!decision.reasons.is_empty(), "{:?}", stamped.event);
            }
        }
    }

    #[test]
    fn events_in_any_order_are_survived_too(
        life in lives(),
        surprises in prop::collection::vec(any::surprise(), 1..60),
    ) {
        let Stamped { at, event } = life.first();
        let (mut state, mut now, mut effects) = (State::default(), at, vec![]);
        let mut next = Some(event);
        for surprise in surprises {
            let event = next.take().unwrap_or_else(|| surprise.event(&effects));
            now = surprise.later(now);
            let decision = machine::decide(&state, &Stamped { at: now, event: event.clone() });
            prop_assert!(!decision.reasons.is_empty());
            effects = decision.effects.clone();
            state = apply(state, &Record { seq: 1, at: now, body: Body::Step { event, decision } });
            let _ = machine::deadline(&state);
        }
    }

    #[test]
    fn a_halt_stays_a_halt_until_the_run_is_resumed(
        life in lives(),
        events in prop::collection::vec(any::stamped(), 1..20),
    ) {
        for moment in life.play().iter().filter(|moment| moment.after.stop().is_some()) {
            for stamped in events.iter().filter(|stamped| !any::begins(&stamped.event)) {
                let decision = machine::decide(&moment.after, stamped);
                prop_assert!(decision.effects.is_empty(), "{:?}: {:?}", stamped.event, decision.effects);
                prop_assert!(decision.begins.is_none() && decision.concluded.is_none());
                let complete = matches!(moment.after.stop(), Some(Stop::Complete { .. }));
                let closed = Phase::Halted { stop: Stop::Closed };
                let expected =
                    if stamped.event == Event::RunClosed && !complete { &closed } else { &moment.after.phase };
                prop_assert_eq!(&decision.next, expected);
            }
        }
    }

    #[test]
    fn the_circuit_closes_by_measured_progress_or_by_hand(life in lives()) {
        for Moment { before, record, after, .. } in life.play() {
            let (was, is) = (before.rules.breaker.circuit, after.rules.breaker.circuit);
            if was != Circuit::Closed && is == Circuit::Closed {
                let by_hand = *step(&record).0 == Event::CircuitReset;
                let progress = step(&record).1.concluded.is_some()
                    && after.last.as_ref().is_some_and(|last| last.progress());
                prop_assert!(by_hand || progress, "{:?}", step(&record));
            }
        }
    }

    #[test]
    fn an_open_circuit_starts_no_iteration_but_a_probe(life in lives()) {
        for Moment { before, record, after, .. } in life.play() {
            let open = before.rules.breaker.circuit == Circuit::Open;
            if open && step(&record).1.begins.is_some() && *step(&record).0 != Event::CircuitReset {
                prop_assert_eq!(after.rules.breaker.circuit, Circuit::HalfOpen);
            }
        }
    }

    #[test]
    fn what_was_used_is_counted_whoever_was_killed(life in lives()) {
        let mut looking_ms = 0;
        for Moment { record, after, spent, unrecovered, .. } in life.play() {
            // The moment in which ralph looks for what a dead agent left may be missing, and nothing else.
            looking_ms += if matches!(step(&record).0, Event::RunResumed(_)) { MOMENT_MS } else { 0 };
            let counted = after.spent();
            prop_assert!(counted.time_ms <= spent.time_ms, "{counted:?} of {spent:?}");
            if !unrecovered {
                prop_assert_eq!(counted.tokens, spent.tokens);
                // Where a price was not told, one is taken for it.
                let told = after.totals.without_cost == 0;
                prop_assert!(counted.micro_usd >= spent.micro_usd, "{counted:?} of {spent:?}");
                prop_assert!(!told || counted.micro_usd == spent.micro_usd, "{counted:?} of {spent:?}");
                prop_assert!(spent.time_ms <= counted.time_ms + looking_ms, "{counted:?} of {spent:?}");
            }
        }
    }

    #[test]
    fn nothing_is_begun_when_a_budget_is_used_up(life in lives()) {
        let mut looking_ms = 0;
        for Moment { record, after, spent, unrecovered, .. } in life.play() {
            looking_ms += if matches!(step(&record).0, Event::RunResumed(_)) { MOMENT_MS } else { 0 };
            let plan = &after.run.as_ref().expect("a run").plan;
            let policy = &plan.policy;
            let of_items = policy.each_item && plan.backlog.is_some();
            let budget = &policy.budget;
            let left = |used: u64, most: u64| most == 0 || used < most;
            let time_ms = spent.time_ms.saturating_sub(looking_ms);
            let decision = step(&record).1;
            if decision.begins.is_some() {
                prop_assert!(!unrecovered, "{:?}", step(&record));
                prop_assert!(left(spent.micro_usd, budget.micro_usd), "{spent:?} of {budget:?}");
                prop_assert!(left(spent.tokens, budget.tokens), "{spent:?} of {budget:?}");
                prop_assert!(left(time_ms, budget.time_ms), "{spent:?} of {budget:?}");
                prop_assert!(of_items || left(after.used - 1, policy.max_iterations));
            }
            if let Phase::Waiting { until, .. } = &decision.next {
                let at_the_end = time_ms + until.since(record.at);
                prop_assert!(left(at_the_end, budget.time_ms), "{spent:?} of {budget:?}");
            }
        }
    }

    #[test]
    fn only_agents_and_checks_of_the_plan_that_holds_are_started(life in lives()) {
        for Moment { record, after, .. } in life.play() {
            let plan = &after.run.as_ref().expect("a run").plan;
            for effect in &step(&record).1.effects {
                match effect {
                    Effect::StartAgent => {
                        let agent = after.current.as_ref().map(|current| current.agent.as_str());
                        prop_assert!(agent.is_some_and(|name| plan.agent(name).is_some()), "{:?}", agent);
                    }
                    Effect::RunCheck { check } => prop_assert!(plan.checks.contains(check), "{:?}", check),
                    _ => {}
                }
            }
        }
    }

    #[test]
    fn an_iteration_that_a_limit_ended_is_not_counted(life in lives()) {
        let mut counted = 0u64;
        let mut begun = false;
        for Moment { record, after, .. } in life.play() {
            let (event, decision) = step(&record);
            let limited = decision.concluded.as_ref().is_some_and(|ended| ended.outcome == Outcome::Limited);
            // One whose agent was never started is begun again.
            let never = matches!(event, Event::AgentNeverStarted);
            let again = never || (begun && matches!(event, Event::RunResumed(_)));
            counted = counted - u64::from(limited || again) + u64::from(decision.begins.is_some());
            prop_assert_eq!(after.used, counted);
            begun = after.current.as_ref().is_some_and(|current| current.started_at.is_none());
        }
    }

    #[test]
    fn a_journal_read_in_two_parts_is_the_journal_read_whole(life in lives(), cut in any::<prop::sample::Index>()) {
        let moments = life.play();
        let lines: Vec<String> = moments.iter().map(|moment| journal::encode(&moment.record)).collect();
        let whole = journal::open(lines.concat().as_bytes(), |_, _| {});
        let last = &moments.last().expect("a record").after;
        prop_assert_eq!(&whole.problems, &vec![]);
        prop_assert_eq!(&whole.state, last, "through the codec");

        let at = cut.index(moments.len());
        let first = journal::open(lines[..=at].concat().as_bytes(), |_, _| {});
        let rest = moments[at + 1..].iter().map(|moment| &moment.record);
        let folded = rest.clone().fold(first.state.clone(), apply);
        prop_assert_eq!(&folded, last);

        let checkpoint = Body::Checkpoint { state: Box::new(first.state.clone()) };
        let mut marked = lines[..=at].concat();
        let seq = first.state.seq + 1;
        marked += &journal::encode(&Record { seq, at: first.state.updated_at, body: checkpoint });
        rest.for_each(|record| marked += &journal::encode(&Record { seq: record.seq + 1, ..record.clone() }));
        let marked_whole = journal::open(marked.as_bytes(), |_, _| {});
        let from = journal::last_checkpoint(marked.as_bytes(), true).expect("the checkpoint");
        let marked_end = journal::open(&marked.as_bytes()[from..], |_, _| {});
        prop_assert_eq!(&marked_whole.problems, &vec![]);
        prop_assert_eq!(&marked_end.state, &marked_whole.state, "opened at the checkpoint");
        let unmarked = State { seq: last.seq, since_checkpoint: last.since_checkpoint, ..marked_end.state };
        prop_assert_eq!(&unmarked, last, "a checkpoint changes nothing else");
    }

    #[test]
    fn the_same_event_in_the_same_state_gives_the_same_decision_and_state(life in lives()) {
        for Moment { before, record, after, .. } in life.play() {
            let (event, decision) = step(&record);
            let stamped = Stamped { at: record.at, event: event.clone() };
            prop_assert_eq!(&machine::decide(&before, &stamped), decision);
            prop_assert_eq!(&apply(before, &record), &after);
        }
    }
}
