mod backlogs;

use super::hostile::{CHARACTERS, scene};
use super::script::Script;
use super::*;
use crate::decision::Outcome;
use crate::event::RunResumed;
use crate::journal;
use crate::profile::PROFILES;

/// The outcomes of its iterations and the word it stopped with.
fn played(json: &str) -> (Vec<Outcome>, String) {
    let script = Script::read(json).expect("a script");
    let mut reader = Reader::default();
    let mut sim = Simulation::new(script.world(), script.agents(), &mut reader);
    let mut outcomes = vec![];
    let stop = sim.run(script.started().expect("a plan"), script.most_records, |record, _| {
        if let Body::Step { decision, .. } = &record.body {
            outcomes.extend(decision.concluded.as_ref().map(|concluded| concluded.outcome));
        }
    });
    let stop = stop.map_or("endless", Stop::word).to_owned();
    assert_eq!(sim.overlaps, 0);
    (outcomes, stop)
}

#[test]
fn a_lie_is_refused_a_fix_accepted_and_a_review_completes() {
    let (outcomes, stop) = played(
        r#"{"checks": [{"needs": ["src/a.rs"]}],
            "agents": [{"name": "a", "steps": [
                {"do": {"report": "done"}},
                {"do": {"report": "done", "writes": ["src/a.rs"]}},
                {"do": {"report": "done"}}]}]}"#,
    );
    assert_eq!(outcomes, [Outcome::Refused, Outcome::Accepted, Outcome::Accepted]);
    assert_eq!(stop, "complete");
}

#[test]
fn an_agent_that_never_ends_is_ended_at_its_deadline() {
    let script = r#"{"set": {"max_iterations": "1", "timeout": "5m"},
        "agents": [{"name": "a", "steps": [{"do": {"never_ends": true, "writes": ["src/a.rs"]}}]}]}"#;
    let script = Script::read(script).expect("a script");
    let mut reader = Reader::default();
    let mut sim = Simulation::new(script.world(), script.agents(), &mut reader);
    let word = sim.run(script.started().expect("a plan"), 100, |_, _| {}).map(Stop::word);
    assert_eq!(word, Some("max_iterations"));
    let last = sim.state.last.as_ref().expect("an iteration");
    let ended = last.ended.as_ref().expect("ended");
    assert_eq!(ended.end, crate::event::End::TimedOut);
    assert!((300_000..301_000).contains(&ended.duration_ms), "{}", ended.duration_ms);
    assert!(last.progress(), "what it wrote is there");
}

#[test]
fn an_agent_that_falls_silent_is_ended_long_before_its_deadline() {
    let script = r#"{"set": {"max_iterations": "1", "idle_timeout": "4m"},
        "agents": [{"name": "a", "steps": [{"do": {"never_ends": true, "silent": true}}]}]}"#;
    let script = Script::read(script).expect("a script");
    let mut reader = Reader::default();
    let mut sim = Simulation::new(script.world(), script.agents(), &mut reader);
    sim.run(script.started().expect("a plan"), 100, |_, _| {});
    let ended = sim.state.last.as_ref().and_then(|last| last.ended.clone()).expect("ended");
    assert_eq!(ended.end, crate::event::End::Idle { ms: 240_000 });
    assert!((240_000..241_000).contains(&ended.duration_ms), "{}", ended.duration_ms);
}

#[test]
fn a_limit_with_a_reset_is_waited_for_and_not_counted() {
    let (outcomes, stop) = played(
        r#"{"set": {"max_iterations": "1"},
            "agents": [{"name": "a", "steps": [
                {"do": {"stderr": "You've hit your usage limit. Try again in 5 minutes.", "exit": 1}},
                {"do": {"report": "more", "writes": ["src/a.rs"]}}]}]}"#,
    );
    assert_eq!(outcomes, [Outcome::Limited, Outcome::More]);
    assert_eq!(stop, "max_iterations");
}

#[test]
fn an_echo_of_the_prompt_is_no_report() {
    let script = r#"{"agents": [{"name": "a", "steps": [{"do": {"says": "{{PROMPT}}"}}]}]}"#;
    assert_eq!(played(script), (vec![Outcome::Silent; 3], "circuit_open".into()));
}

#[test]
fn tokens_and_money_are_read_from_the_agent_s_own_stream() {
    let script = r#"{"set": {"budget": "0.50"}, "agents": [{"name": "a", "steps": [
        {"do": {"report": "more", "writes": ["src/a.rs"], "tokens": 1200, "cost_micro_usd": 250000}}]}]}"#;
    let script = Script::read(script).expect("a script");
    let mut reader = Reader::default();
    let mut sim = Simulation::new(script.world(), script.agents(), &mut reader);
    let word = sim.run(script.started().expect("a plan"), 100, |_, _| {}).map(Stop::word);
    assert_eq!(word, Some("budget"));
    assert_eq!((sim.state.spent().tokens, sim.state.spent().micro_usd), (2_400, 500_000));
}

#[test]
fn what_an_agent_used_before_ralph_was_killed_counts() {
    let script = r#"{"set": {"max_time": "50m"}, "agents": [{"name": "a", "steps": [
        {"do": {"report": "more", "writes": ["src/a.rs"], "takes_ms": 2400000, "tokens": 7}}]}]}"#;
    let script = Script::read(script).expect("a script");
    let mut reader = Reader::default();
    let mut sim = Simulation::new(script.world(), script.agents(), &mut reader);
    let started = script.started().expect("a plan");
    let plan = started.run.plan.clone();
    sim.start(started);
    for killed in 1..=2u64 {
        while sim.state.current.as_ref().is_none_or(|current| current.pid.is_none()) {
            sim.step().expect("an agent starts");
        }
        // A record while it works is not counted twice.
        sim.now = sim.now.plus(600_000);
        sim.take(Event::NoteAdded { id: killed.to_string(), text: "use tabs".into() });
        sim.crash(1_200_000);
        sim.now = sim.now.plus(86_400_000);
        let resumed = RunResumed { plan: plan.clone(), version: "2".into(), probe: false, unrecorded_ms: 0 };
        sim.take(Event::RunResumed(Box::new(resumed)));
        while sim.state.last.as_ref().is_none_or(|last| last.nth < killed) {
            sim.step().expect("it is recovered");
        }
        let spent = sim.state.spent();
        assert_eq!((spent.time_ms / 60_000, spent.tokens), (killed * 30, killed * 7));
    }
    assert_eq!(sim.state.stop().map(Stop::word), Some("max_time"));
}

#[test]
fn a_script_that_cannot_be_played_says_what_is_wrong() {
    for (json, wrong) in [
        ("{}", "there are no agents"),
        (r#"{"agents": [{"name": "a", "steps": []}]}"#, "agent a has no steps"),
        (r#"{"profile": "x", "agents": [{"name": "a", "steps": [{"do": {}}]}]}"#, "no profile 'x'"),
        (r#"{"agents": [{"name": "a", "steps": [{"do": {"sings": 1}}]}]}"#, "unknown field `sings`"),
        (r#"{"set": {"gate": "x"}, "agents": [{"name": "a", "steps": [{"do": {}}]}]}"#, "no value for gate"),
        (
            r#"{"agents": [{"name": "a", "steps": [{"do": {}}]}, {"name": "a", "steps": [{"do": {}}]}]}"#,
            "two agents are called a",
        ),
    ] {
        let error = Script::read(json).expect_err(json);
        assert!(error.contains(wrong), "{error}");
    }
}

#[test]
fn the_same_seed_gives_the_same_journal() {
    let play = |seed| {
        let scene = scene(&PROFILES[0].policy(), seed);
        let agents = scene.agents.into_iter().map(|agent| Box::new(agent) as Box<dyn Agent>).collect();
        let mut reader = Reader::default();
        let mut lines = String::new();
        let mut sim = Simulation::new(scene.world, agents, &mut reader);
        sim.run(scene.started, 10_000, |record, _| lines.push_str(&journal::encode(record)));
        lines
    };
    assert_eq!(play(7), play(7));
    assert_ne!(play(7), play(7 + CHARACTERS.len() as u64), "another run of the same character");
}
