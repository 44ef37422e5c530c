//! Seed 004: the breaker's conditions with their reasons, and the conditions that end a run which only polishes.

use ralph_core::breaker::Circuit;
use ralph_core::decision::{Outcome, Proof, Stop};
use ralph_core::profile::{self, SaturationPolicy};
use ralph_core::saturation::{Facts, Saturation};
use ralph_core::simulation::turn::{Report, Turn};
use ralph_core::view::files::state_json;

use crate::{Played, Run, carrying, says, times, writing};

const SRC: &[&str] = &["src/lib.rs"];
const TESTS: &[&str] = &["tests/parser.rs"];
const TWICE: &str = "All tasks complete. The project is ready.";

/// Words with the JSON report and a marker below them.
fn reports(words: &str, exit_signal: bool, marker: &str) -> Turn {
    let report = format!("RALPH_STATUS: {{\"completion_indicators\": 2, \"EXIT_SIGNAL\": {exit_signal}}}");
    says(&format!("{words}\n\n{report}\n\n{marker}\n"))
}

fn goes_on() -> Turn {
    reports("Going on.", false, "LOOP_CONTINUE")
}

fn work() -> Turn {
    writing(goes_on(), SRC)
}

fn play(turns: &[Turn]) -> Played {
    Run::new("phases", turns).play()
}

#[test]
fn a_run_exits_only_on_two_indicators_and_a_true_signal() {
    for (words, exit_signal, marker, word) in [
        (TWICE, true, "LOOP_COMPLETE", "complete"),
        (TWICE, false, "LOOP_CONTINUE", "max_iterations"),
        ("All tasks complete.", true, "LOOP_COMPLETE", "max_iterations"),
        ("I worked on it.", false, "LOOP_CONTINUE", "max_iterations"),
    ] {
        let played = play(&[writing(reports(words, exit_signal, marker), SRC)]);
        assert_eq!(played.word(), word, "{words} {exit_signal}");
    }
}

#[test]
fn open_tasks_refuse_the_exit_whatever_is_said() {
    let done = writing(reports(TWICE, true, "LOOP_COMPLETE"), SRC);
    let played = Run { items: Some(2), ..Run::new("phases", std::slice::from_ref(&done)) }.play();
    assert_eq!((played.word(), played.outcomes[0]), ("max_iterations", Outcome::Refused));
    let last = Turn { closes: 2, ..done };
    assert_eq!(Run { items: Some(2), ..Run::new("phases", &[last]) }.word(), "complete");
}

#[test]
fn three_iterations_without_a_file_change_open_the_circuit() {
    assert_eq!(play(&times(2, &goes_on())).word(), "max_iterations");
    let played = play(&times(3, &goes_on()));
    assert_eq!(played.open_because(), Some("no_progress: 3 iterations with no file changes"));
    assert_eq!(play(&[goes_on(), goes_on(), work(), goes_on(), goes_on()]).word(), "max_iterations");
}

#[test]
fn the_same_error_in_five_iterations_opens_the_circuit() {
    let failing = writing(reports("error: no such table: users", false, "LOOP_CONTINUE"), SRC);
    assert_eq!(play(&times(4, &failing)).word(), "max_iterations");
    let played = play(&times(5, &failing));
    assert_eq!(
        played.open_because(),
        Some("same_error: 5 iterations with error: error: no such table: users")
    );
}

#[test]
fn output_that_declines_by_more_than_70_percent_opens_the_circuit() {
    let mut turns = times(3, &writing(says(&"x ".repeat(500)), SRC));
    turns.push(says(&"x ".repeat(100)));
    assert_eq!(play(&turns).open_because(), Some("output_decline: output declined by 80%"));
    turns[3] = says(&"x ".repeat(150));
    assert_eq!(play(&turns).word(), "max_iterations", "70 % is not more than that");
    turns[3] = writing(says("x"), SRC);
    assert_eq!(play(&turns).word(), "max_iterations", "few words and a change are work");
}

#[test]
fn an_open_circuit_is_told_as_a_block_with_each_of_its_reasons() {
    let failing = writing(says("error: no such table: users"), SRC);
    let mut shrinking = times(3, &writing(says(&"x ".repeat(500)), SRC));
    shrinking.push(says(&"x ".repeat(100)));
    for (turns, reason) in [
        (times(3, &goes_on()), "no_progress: 3 iterations with no file changes"),
        (times(5, &failing), "same_error: 5 iterations with error: error: no such table: users"),
        (shrinking, "output_decline: output declined by 80%"),
    ] {
        let played = play(&turns);
        let view = state_json(&played.state);
        assert_eq!(view["blocker_reason"], format!("circuit_breaker_open - {reason}"));
        assert_eq!(view["last_iteration_status"], "LOOP_BLOCKED", "{reason}");
        assert_eq!(view["circuit_breaker"]["state"], "open", "{reason}");
        assert_eq!(view["circuit_breaker"]["reason"], reason);
        assert_eq!(played.exit_code(), Some(5));
    }
}

#[test]
fn an_open_circuit_ends_the_next_run_before_anything_is_done() {
    let open = play(&times(3, &goes_on())).state.rules.breaker;
    assert_eq!(open.circuit, Circuit::Open);
    let next = Run { carried: carrying(&open), ..Run::new("phases", &[work()]) }.play();
    assert_eq!((next.word(), next.state.used), ("circuit_open", 0));
    assert_eq!(next.open_because(), Some("no_progress: 3 iterations with no file changes"));
}

#[test]
fn three_iterations_of_tests_alone_complete_a_run() {
    let tests = writing(goes_on(), TESTS);
    assert_eq!(play(&times(2, &tests)).word(), "max_iterations");
    let played = play(&times(3, &tests));
    assert_eq!((played.word(), played.exit_code()), ("complete", Some(0)));
    assert_eq!(state_json(&played.state)["last_iteration_status"], "LOOP_COMPLETE");
    let open = Run { items: Some(1), ..Run::new("phases", &times(3, &tests)) };
    assert_eq!(open.word(), "test_saturation", "an open task is no completion");
}

#[test]
fn two_iterations_that_say_done_while_work_goes_on_complete_a_run() {
    let talks = writing(reports(TWICE, false, "LOOP_CONTINUE"), SRC);
    assert_eq!(play(std::slice::from_ref(&talks)).word(), "max_iterations");
    let played = play(&[talks.clone(), talks.clone()]);
    assert_eq!(played.state.stop().and_then(Stop::proof), Some(Proof::None));
    let early = played.state.stop().and_then(Stop::early).map(ToString::to_string);
    assert!(early.is_some_and(|why| why.starts_with("done_saturation: 2 iterations")), "{:?}", played.stops);
    assert_eq!(play(&[talks.clone(), work(), talks.clone()]).word(), "max_iterations", "not in a row");
    let appears = Turn { opens: 1, ..talks };
    let open = Run { items: Some(0), ..Run::new("phases", &times(2, &appears)) };
    assert_eq!(open.word(), "done_saturation", "the new task is open");
}

#[test]
fn a_run_of_which_30_percent_were_tests_is_complete_but_not_before_ten_iterations() {
    let tests = writing(goes_on(), TESTS);
    let tested = |at: &[usize], of: usize| {
        (0..of).map(|nth| if at.contains(&nth) { tests.clone() } else { work() }).collect::<Vec<_>>()
    };
    assert_eq!(play(&tested(&[0], 1)).word(), "max_iterations", "the first iteration may test");
    assert_eq!(play(&tested(&[0, 2, 4, 6], 9)).word(), "max_iterations");
    assert_eq!(play(&tested(&[0, 4], 10)).word(), "max_iterations", "20 %");
    let played = play(&tested(&[0, 4, 8], 10));
    assert_eq!((played.word(), played.state.used), ("complete", 10));
    assert_eq!(state_json(&played.state)["exit_conditions"]["test_percentage"], 30);
}

#[test]
fn an_iteration_is_of_tests_alone_if_no_code_changed_and_the_files_or_its_work_type_say_so() {
    let testing = |turn: Turn| Turn { report: Some(Report::Testing), ..turn };
    for (turn, counts) in [
        (writing(goes_on(), TESTS), 1),
        (writing(goes_on(), &["tests/parser.rs", "src/lib.rs"]), 0),
        (writing(says("All 12 tests pass, none fail."), SRC), 0),
        (testing(writing(says("All 12 tests pass."), &["docs/testing.md"])), 1),
        (testing(says("All 12 tests pass.")), 1),
        (testing(writing(says("All 12 tests pass."), SRC)), 0),
        (says("I read the code."), 0),
    ] {
        assert_eq!(play(std::slice::from_ref(&turn)).state.rules.saturation.test_loops, counts, "{turn:?}");
    }
}

#[test]
fn the_exit_conditions_are_asked_in_the_seed_s_order() {
    let policy: SaturationPolicy = profile::profile("phases").expect("there").policy().saturation;
    let all = Facts { test_only: true, done_signal: true, review: false };
    let reached = |test_loops: u32, done_signals: u32, test_iterations: u32| {
        let before = Saturation { test_loops, done_signals, iterations: 9, test_iterations };
        before.step(&policy, all).1.map(|reached| reached.why)
    };
    let (loops, done, share) = (
        "3 iterations in a row touched tests alone",
        "2 iterations in a row talked of being done while work went on",
        "30% of 10 iterations touched tests alone",
    );
    assert_eq!(reached(2, 1, 2).as_deref(), Some(loops), "all three hold");
    assert_eq!(reached(0, 1, 2).as_deref(), Some(done), "two hold");
    assert_eq!(reached(0, 0, 2).as_deref(), Some(share));
    assert_eq!(reached(0, 0, 0), None, "otherwise it goes on");
}

#[test]
fn the_breaker_is_asked_before_the_exit_conditions() {
    // Three iterations that only ran tests and changed nothing at all.
    let idle = Turn { report: Some(Report::Testing), ..says("All 12 tests pass.") };
    let played = play(&times(3, &idle));
    assert_eq!((played.word(), played.state.rules.saturation.test_loops), ("circuit_open", 3));
    assert!(played.reasons[2].iter().any(|why| why.starts_with("saturation: 3 iterations")));
}

#[test]
fn otherwise_the_run_goes_on() {
    let played = play(&times(9, &work()));
    assert_eq!((played.word(), &played.outcomes[..]), ("max_iterations", &[Outcome::More; 9][..]));
}

#[test]
fn each_iteration_is_judged_by_the_report_and_the_marker_at_its_end() {
    let played = play(&[
        work(),
        writing(says(TWICE), SRC),
        work(),
        writing(reports("It waits for a key.", false, "LOOP_BLOCKED: no key"), SRC),
    ]);
    assert_eq!(played.outcomes, [Outcome::More, Outcome::Silent, Outcome::More, Outcome::Blocked]);
    assert_eq!(played.stops, [Stop::Blocked { why: "no key".into() }]);
    assert_eq!(state_json(&played.state)["last_iteration_status"], "LOOP_BLOCKED");
}
