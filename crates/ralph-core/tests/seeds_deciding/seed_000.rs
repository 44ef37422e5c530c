//! Seed 000: the gate of two conditions, the four conditions of done, and a breaker that reads the reports.

use ralph_core::breaker::Circuit;
use ralph_core::decision::Outcome;
use ralph_core::simulation::turn::{Report, Turn};
use ralph_core::simulation::world::Check;

use crate::{Run, more, reports, says, times, writing};

const TWICE: &str = "All done. Everything passes.";

/// Green as soon as the feature is there.
fn checks() -> Vec<Check> {
    vec![Check { needs: vec!["src/feature.rs".into()], ..Check::default() }]
}

fn works(words: &str, report: Report) -> Turn {
    writing(reports(words, report), &["src/feature.rs"])
}

#[test]
fn only_both_conditions_together_end_the_loop() {
    for (words, report, word) in [
        (TWICE, Report::Done, "complete"),
        (TWICE, Report::More, "max_iterations"),
        ("All done.", Report::Done, "max_iterations"),
        ("I looked around.", Report::Done, "max_iterations"),
        ("I looked around.", Report::More, "max_iterations"),
    ] {
        let run = Run { checks: checks(), ..Run::new("dual", &[works(words, report)]) };
        assert_eq!(run.word(), word, "{words} {report:?}");
    }
}

#[test]
fn both_conditions_end_no_loop_while_one_of_the_four_is_not_met() {
    let done = works(TWICE, Report::Done);
    let of = |items: Option<u64>, checks: Vec<Check>, turn: Turn| {
        let played = Run { items, checks, ..Run::new("dual", &[turn]) }.play();
        (played.word().to_owned(), played.outcomes[0])
    };
    let goes_on = ("max_iterations".to_owned(), Outcome::Refused);
    assert_eq!(of(Some(0), checks(), done.clone()), ("complete".into(), Outcome::Accepted));
    assert_eq!(of(Some(1), checks(), done.clone()), goes_on, "a task remains");
    let red = vec![Check { needs: vec!["src/other.rs".into()], ..Check::default() }];
    assert_eq!(of(Some(0), red, done.clone()), goes_on, "a test fails");
    assert_eq!(of(Some(0), checks(), Turn { exit: 1, ..done.clone() }), goes_on, "an error");
    assert_eq!(of(Some(0), checks(), Turn { todos: 1, ..done }), goes_on, "work is left");
}

#[test]
fn a_block_that_lasts_opens_the_breaker() {
    let blocked = times(3, &reports("No credentials.", Report::Blocked));
    let played = Run { resumed: 3, set: vec![("max_iterations", "9")], ..Run::new("dual", &blocked) }.play();
    let words: Vec<&str> = played.stops.iter().map(|stop| stop.word()).collect();
    assert_eq!(words, ["blocked", "blocked", "blocked", "circuit_open"]);
    assert_eq!(played.open_because(), Some("no_progress: 3 iterations with no file changes"));
    assert_eq!(played.state.used, 3, "the open breaker started no agent");
}

#[test]
fn the_breaker_reads_every_report_and_believes_no_number_in_it() {
    // Each block says that a file was modified and a task completed.
    let idle = Run::new("dual", &times(3, &more())).play();
    let claimed = idle.state.last.as_ref().and_then(|last| last.ended.as_ref()?.report.block.clone());
    assert_eq!(claimed.and_then(|block| block.files), Some(1));
    assert_eq!(idle.open_because(), Some("no_progress: 3 iterations with no file changes"));

    let failing = writing(reports("error[E0308]: mismatched types", Report::More), &["src/feature.rs"]);
    let played = Run::new("dual", &times(5, &failing)).play();
    assert_eq!(
        played.open_because(),
        Some("same_error: 5 iterations with error: error[E0308]: mismatched types")
    );

    let talks = writing(reports(&"I think about the parser. ".repeat(60), Report::More), &["src/feature.rs"]);
    let mut turns = times(3, &talks);
    turns.push(says("Hm."));
    let played = Run::new("dual", &turns).play();
    assert!(
        played.open_because().is_some_and(|why| why.starts_with("output_decline: output declined by ")),
        "{:?}",
        played.open_because()
    );
}

#[test]
fn work_that_goes_on_keeps_the_breaker_closed() {
    let played = Run::new("dual", &times(9, &works("Going on.", Report::More))).play();
    assert_eq!((played.word(), played.state.rules.breaker.circuit), ("max_iterations", Circuit::Closed));
}
