//! What the user says while a run goes on, or to one that stands still.

use super::*;
use crate::breaker::Circuit;
use crate::event::PutBack;

fn note(id: &str, text: &str) -> Event {
    Event::NoteAdded { id: id.into(), text: text.into() }
}

#[test]
fn a_note_stays_until_an_iteration_that_saw_it_was_concluded() {
    let mut sim = Sim::new(plan(&[]));
    sim.event(note("a", "first"));
    sim.event(note("a", "first"));
    assert_eq!(sim.state.notes.len(), 1, "handed in again after a crash");
    sim.tree(When::Before, 0);
    sim.event(Event::AgentStarted { pid: 7, noted: Default::default() });
    sim.event(note("b", "second"));
    sim.event(ended(MORE, End::Exited { code: 0 }));
    sim.tree(When::After, 1);
    assert_eq!(sim.state.notes.iter().map(|note| note.id.as_str()).collect::<Vec<_>>(), ["b"]);
    sim.iteration(MORE, 1, End::Exited { code: 3 });
    assert_eq!((sim.outcome(), sim.state.notes.len()), (Outcome::Failed, 1), "perhaps nobody read it");
    sim.now = deadline(&sim.state).expect("a rest");
    sim.event(Event::DeadlinePassed);
    sim.work(MORE, 1);
    assert_eq!(sim.state.notes.len(), 0);
}

#[test]
fn a_request_to_stop_lets_the_iteration_and_its_checks_finish() {
    let mut sim = Sim::new(plan(&["make test"]));
    sim.tree(When::Before, 0);
    sim.event(Event::StopAsked { by: StopBy::Request });
    assert_eq!(sim.effects, [], "nothing is ended");
    sim.event(ended(DONE, End::Exited { code: 0 }));
    sim.tree(When::After, 1);
    sim.check(1);
    assert_eq!((sim.outcome(), sim.stop()), (Outcome::Refused, "stopped"));
    assert_eq!(sim.state.stop().map(Stop::exit_code), Some(130));
}

#[test]
fn the_time_until_somebody_resets_a_cut_off_run_is_not_its_own() {
    let mut sim = Sim::new(plan(&[]));
    sim.tree(When::Before, 0);
    let worked = sim.state.active_ms;
    sim.now = sim.now.plus(86_400_000);
    sim.event(Event::CircuitReset);
    sim.now = sim.now.plus(86_400_000);
    sim.event(Event::RunClosed);
    assert_eq!((sim.state.active_ms, sim.stop()), (worked, "closed"));
}

#[test]
fn a_reset_closes_an_open_circuit_of_a_stopped_run() {
    let mut sim = Sim::new(plan(&[]));
    for _ in 0..3 {
        sim.work(MORE, 0);
    }
    assert_eq!((sim.stop(), sim.state.rules.breaker.circuit), ("circuit_open", Circuit::Open));
    sim.event(Event::CircuitReset);
    assert_eq!((sim.stop(), sim.state.rules.breaker.circuit), ("circuit_open", Circuit::Closed));
}

#[test]
fn an_undo_is_told_to_the_next_iteration_and_takes_the_refusal_with_the_work() {
    let put_back = |iteration| {
        let (from, to) = ("a".repeat(40), "b".repeat(40));
        Event::TreePutBack(Box::new(PutBack { iteration, from, to, files: 2, head: None, only: vec![] }))
    };
    let mut sim = Sim::new(plan(&["make test"]));
    sim.tree(When::Before, 0);
    sim.event(ended(DONE, End::Exited { code: 0 }));
    sim.tree(When::After, 1);
    sim.check(1);
    assert!(sim.state.refusal.is_some());
    let number = sim.state.last.as_ref().map(|last| last.number);
    sim.event(Event::StopAsked { by: StopBy::Interrupt });
    let worked = sim.state.active_ms;
    sim.now = sim.now.plus(86_400_000);
    sim.event(put_back(number.map(|number| number + 1)));
    assert!(sim.state.refusal.is_some(), "what came after it was undone");
    sim.event(put_back(number));
    assert_eq!((sim.state.refusal.clone(), sim.state.active_ms), (None, worked));
    let told = sim.state.undone_since_last().map(|undone| undone.put_back.to_string());
    assert_eq!(told, number.map(|number| format!("2 files put back as before iteration {number}")));
    let taken_back = PutBack {
        iteration: None,
        from: "b".repeat(40),
        to: "a".repeat(40),
        files: 2,
        head: None,
        only: vec![],
    };
    sim.event(Event::TreePutBack(Box::new(taken_back)));
    assert_eq!(sim.state.undone_since_last(), None, "the files are as the first undo found them");
    for _ in 0..30 {
        sim.event(put_back(None));
    }
    assert!(sim.state.undone_since_last().is_some());
    assert_eq!(sim.state.undone.len(), 20, "bounded");
}

#[test]
fn a_budget_that_cannot_be_counted_is_said_once() {
    let mut limited = plan(&[]);
    limited.policy.budget.micro_usd = 1_000_000;
    let mut sim = Sim::new(limited);
    assert!(matches!(&silent(&mut sim, true)[..], [said] if said.contains("told no cost")));
    assert_eq!(silent(&mut sim, true), [""; 0]);
    let said = |usd: u64, most_tokens: u64, tells_tokens: bool| {
        let mut limited = plan(&[]);
        (limited.policy.budget.micro_usd, limited.policy.budget.tokens) = (usd, most_tokens);
        silent(&mut Sim::new(limited), tells_tokens).join("; ")
    };
    let many = 1_000_000;
    for (usd, tokens, tells, part) in [
        (many, 0, true, "the agent told no cost, so the budget counts nothing"),
        (many, 0, false, "the agent told no cost and no tokens, so the budget counts nothing"),
        (many, many, true, "the agent told no cost, so the budget counts nothing"),
        (many, many, false, "neither the budget nor max_tokens"),
        (0, many, false, "the agent told no tokens, so max_tokens counts nothing"),
    ] {
        let said = said(usd, tokens, tells);
        assert!(said.contains(part), "{usd} {tokens} {tells}: {said}");
    }
    for (usd, tokens, tells) in [(0, 0, true), (0, 0, false), (0, many, true)] {
        assert_eq!(said(usd, tokens, tells), "", "{usd} {tokens} {tells}");
    }
}

/// What is said about an iteration whose agent tells no cost, and perhaps no tokens.
fn silent(sim: &mut Sim, tokens: bool) -> Vec<String> {
    if sim.effects != [Effect::StartAgent] {
        sim.tree(When::Before, 0);
    }
    let mut end = ended(MORE, End::Exited { code: 0 });
    if let Event::AgentEnded(ended) = &mut end {
        ended.report.cost_micro_usd = None;
        if !tokens {
            ended.report.usage = Default::default();
        }
    }
    sim.event(end);
    sim.tree(When::After, 1);
    sim.state.last.as_ref().and_then(|last| last.conclusion.clone()).expect("concluded").warnings
}

#[test]
fn a_measurement_that_ends_because_somebody_asked_to_stop_is_no_error_and_is_made_again() {
    let failed = || Event::MeasureFailed { error: "a filter was ended".into() };
    for (by, stop) in
        [(None, "error"), (Some(StopBy::Interrupt), "interrupted"), (Some(StopBy::Terminate), "terminated")]
    {
        let mut sim = Sim::new(plan(&[]));
        sim.tree(When::Before, 0);
        sim.event(Event::AgentStarted { pid: 7, noted: Default::default() });
        sim.event(ended(DONE, End::Exited { code: 0 }));
        if let Some(by) = by {
            sim.event(Event::StopAsked { by });
        }
        sim.event(failed());
        assert_eq!(sim.stop(), stop);
        sim.event(Event::RunResumed(Box::new(RunResumed {
            plan: plan(&[]),
            version: "0".into(),
            probe: false,
            unrecorded_ms: 0,
        })));
        assert!(matches!(sim.effects[..], [Effect::MeasureTree { when: When::After, .. }]), "{stop}");
    }
}
