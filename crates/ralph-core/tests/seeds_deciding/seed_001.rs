//! Seed 001: what follows from the word in the status file.

use ralph_core::decision::{Kind, Outcome, Proof, Stop};
use ralph_core::simulation::turn::Turn;

use crate::{Run, signals, writing};

fn play(turns: &[Turn]) -> crate::Played {
    Run::new("rotations", turns).play()
}

#[test]
fn continue_and_rotate_start_the_next_rotation() {
    for word in ["CONTINUE", "ROTATE"] {
        let mut played = play(&[signals(word), signals(word), signals("STUCK")]);
        assert_eq!(played.outcomes, [Outcome::More, Outcome::More, Outcome::Blocked], "{word}");
        assert_eq!(played.state.used, 3);
        let last = played.state.last.take().expect("an iteration");
        assert_eq!(last.kind, Kind::Work);
    }
}

#[test]
fn done_is_believed_after_three_times_without_a_change() {
    let done = signals("DONE");
    assert_eq!(play(&[done.clone(), done.clone()]).word(), "max_iterations");
    let played = play(&[done.clone(), done.clone(), done]);
    assert_eq!(played.stops, [Stop::complete(Proof::Reviews)]);
    assert_eq!(played.exit_code(), Some(0));
}

#[test]
fn a_done_with_changes_was_none_and_the_count_begins_again() {
    let (done, edits) = (signals("DONE"), writing(signals("DONE"), &["src/lib.rs"]));
    let turns = [edits.clone(), done.clone(), done.clone(), edits, done.clone(), done.clone(), done];
    assert_eq!(play(&turns[..6]).word(), "max_iterations");
    let played = play(&turns);
    assert_eq!((played.word(), played.state.used), ("complete", 7));
}

#[test]
fn more_work_found_while_verifying_goes_on_working() {
    let played = play(&[signals("DONE"), signals("DONE"), signals("CONTINUE")]);
    assert_eq!(played.word(), "max_iterations");
    assert_eq!(played.state.rules.reviews.passes, 0);
}

#[test]
fn stuck_stops_and_asks_with_exit_code_2() {
    let played = play(&[signals("STUCK"), signals("CONTINUE")]);
    assert_eq!((played.word(), played.exit_code(), played.state.used), ("blocked", Some(2), 1));
}

#[test]
fn idle_neither_ends_a_run_nor_counts_as_done() {
    let played = play(&[signals("DONE"), signals("DONE"), signals("IDLE"), Turn::default(), signals("DONE")]);
    assert_eq!(
        played.outcomes,
        [Outcome::Accepted, Outcome::Accepted, Outcome::Silent, Outcome::Silent, Outcome::Accepted]
    );
    assert_eq!(played.word(), "complete");
}

#[test]
fn rotations_have_no_breaker_and_twenty_of_them_unless_told_otherwise() {
    let run = Run { set: vec![("max_iterations", "20")], ..Run::new("rotations", &[signals("CONTINUE")]) };
    let played = run.play();
    assert_eq!((played.word(), played.state.used), ("max_iterations", 20));
    let policy = ralph_core::profile::profile("rotations").expect("there").policy();
    assert_eq!(policy.max_iterations, 20);
}
