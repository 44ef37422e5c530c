//! Seed 002: stuck loops. Half-open first, a warning where the words shrink, saturation as a stop of its own.

use ralph_core::breaker::Circuit;
use ralph_core::decision::{Outcome, Proof, Stop};
use ralph_core::simulation::turn::{Report, Turn};

use crate::{Played, Run, more, reports, says, times, writing};

const SRC: &[&str] = &["src/lib.rs"];

fn play(turns: &[Turn]) -> Played {
    Run::new("analyzer", turns).play()
}

fn circuit(played: &Played) -> Circuit {
    played.state.rules.breaker.circuit
}

#[test]
fn three_iterations_without_a_file_change_half_open_the_breaker() {
    let twice = play(&times(2, &more()));
    assert_eq!((twice.word(), circuit(&twice)), ("max_iterations", Circuit::Closed));
    let thrice = play(&times(3, &more()));
    assert_eq!((thrice.word(), circuit(&thrice)), ("max_iterations", Circuit::HalfOpen), "the run goes on");
    let again = play(&times(4, &more()));
    assert_eq!((again.word(), again.exit_code()), ("circuit_open", Some(5)), "the probe changed nothing");
    let mut turns = times(3, &more());
    turns.push(writing(more(), SRC));
    assert_eq!(circuit(&play(&turns)), Circuit::Closed, "the probe made progress");
}

#[test]
fn the_same_error_in_five_iterations_opens_the_breaker() {
    let failing = |line: &str| writing(reports(line, Report::More), SRC);
    let same = failing("error[E0308]: mismatched types");
    assert_eq!(circuit(&play(&times(4, &same))), Circuit::Closed);
    let played = play(&times(5, &same));
    assert_eq!((played.word(), played.exit_code()), ("circuit_open", Some(5)));
    assert!(played.open_because().is_some_and(|why| why.starts_with("same_error: 5 iterations")));
    let mut turns = times(4, &same);
    turns.push(failing("error[E0432]: unresolved import"));
    assert_eq!(circuit(&play(&turns)), Circuit::Closed, "another error is another place");
    assert_eq!(play(&times(9, &writing(more(), SRC))).word(), "max_iterations", "no errors are not the same");
}

#[test]
fn three_iterations_of_tests_alone_stop_as_test_saturation() {
    let files = writing(more(), &["tests/parser.rs"]);
    let words = writing(reports("Testing.", Report::Testing), &["docs/testing.md"]);
    for tests in [files, words] {
        assert_eq!(play(&times(2, &tests)).word(), "max_iterations");
        let played = play(&times(3, &tests));
        assert_eq!((played.word(), played.exit_code()), ("test_saturation", Some(3)));
        let mut turns = times(2, &tests);
        turns.extend([writing(more(), SRC), tests]);
        assert_eq!(play(&turns).word(), "max_iterations", "not in a row");
    }
}

#[test]
fn words_that_shrink_by_more_than_70_percent_are_a_warning() {
    let long = writing(says(&"x ".repeat(500)), SRC);
    let mut turns = times(3, &long);
    turns.push(says(&"x ".repeat(100)));
    let played = play(&turns);
    assert_eq!((played.word(), circuit(&played)), ("max_iterations", Circuit::Closed));
    let warned = |played: &Played| {
        played
            .state
            .last
            .as_ref()
            .and_then(|last| last.conclusion.as_ref())
            .expect("concluded")
            .warnings
            .clone()
    };
    assert_eq!(warned(&played), ["output_decline: output declined by 80%"]);
    turns[3] = says(&"x ".repeat(150));
    assert_eq!(warned(&play(&turns)), Vec::<String>::new(), "70 % is not more than that");
}

#[test]
fn each_result_is_recorded_for_the_breaker_with_its_files_and_errors() {
    let failing = writing(says("error[E0308]: mismatched types"), SRC);
    for (turns, no_progress, same_error) in [
        (vec![more()], 1, 0),
        (vec![more(), more()], 2, 0),
        (vec![more(), failing.clone()], 0, 1),
        (vec![failing.clone(), failing.clone()], 0, 2),
        (vec![failing.clone(), failing, more()], 1, 0),
    ] {
        let breaker = play(&turns).state.rules.breaker;
        assert_eq!((breaker.no_progress, breaker.same_error), (no_progress, same_error), "{turns:?}");
    }
}

#[test]
fn the_exit_signal_ends_the_run_whatever_the_words_and_the_tests_say() {
    for report in [Report::Done, Report::Contradiction] {
        let played = play(&[more(), reports("I looked around.", report)]);
        assert_eq!(played.stops, [Stop::complete(Proof::Words)], "{report:?}");
    }
    let prose = "All tests pass. All stories complete. Nothing left to do.";
    assert_eq!(play(&[reports(prose, Report::More)]).word(), "max_iterations", "the signal has priority");
    assert_eq!(play(&[says(prose)]).word(), "max_iterations", "words alone end nothing");
    let blocked = play(&[reports("", Report::Blocked)]);
    assert_eq!((blocked.outcomes[0], blocked.exit_code()), (Outcome::Blocked, Some(2)));
}
