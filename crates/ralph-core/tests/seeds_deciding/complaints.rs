//! What users of such loops complain about: runs that never end, limits that are not understood.

use ralph_core::decision::Outcome;
use ralph_core::simulation::turn::{Report, Turn};

use crate::{Run, more, reports, says, times, writing};

#[test]
fn a_run_that_commits_each_time_is_never_stopped_as_stale() {
    let commits = Turn { commits: 1, ..writing(more(), &["src/lib.rs"]) };
    assert_eq!(Run::new("default", &times(12, &commits)).word(), "max_iterations");
    let played = Run::new("default", &times(3, &Turn { commits: 1, ..more() })).play();
    assert_eq!(played.word(), "circuit_open", "an empty commit is no progress");
}

#[test]
fn a_limit_in_unknown_words_backs_off_and_ends_the_run_and_is_no_work() {
    let refusal = "Your abundance window is presently depleted.";
    let failing = Turn { stderr: refusal.into(), exit: 1, ..Turn::default() };
    let played = Run { set: vec![("max_iterations", "50")], ..Run::new("default", &[failing]) }.play();
    assert_eq!((played.word(), played.exit_code()), ("agents_exhausted", Some(4)));
    assert_eq!(played.outcomes, [Outcome::Failed; 5]);
    assert_eq!(played.waits, [1_000, 2_000, 4_000, 8_000]);
    // Where the agent ends as if nothing were wrong, it has still done nothing.
    let played = Run { set: vec![("max_iterations", "50")], ..Run::new("default", &[says(refusal)]) }.play();
    assert_eq!((played.word(), &played.outcomes[..]), ("circuit_open", &[Outcome::Silent; 3][..]));
}

#[test]
fn a_limit_without_a_reset_is_asked_again_ever_more_rarely_and_not_for_ever() {
    let limited = Turn { stderr: "API Error: 429 rate limited".into(), exit: 1, ..Turn::default() };
    let played = Run { set: vec![("max_iterations", "1")], ..Run::new("default", &[limited]) }.play();
    assert_eq!(played.word(), "agents_exhausted");
    assert_eq!(played.outcomes, [Outcome::Limited; 10]);
    assert_eq!(played.waits[..4], [60_000, 120_000, 240_000, 480_000]);
    assert!(played.waits.is_sorted() && played.waits.len() == 9, "{:?}", played.waits);
}

#[test]
fn a_reset_that_was_told_is_waited_for_and_no_longer() {
    let limited = |words: &str| Turn { stderr: words.into(), exit: 1, ..Turn::default() };
    let turns =
        [limited("You've hit your usage limit. Try again in 5 minutes."), writing(more(), &["src/lib.rs"])];
    let played = Run { set: vec![("max_iterations", "1")], ..Run::new("default", &turns) }.play();
    assert_eq!(played.outcomes, [Outcome::Limited, Outcome::More]);
    assert!(matches!(played.waits[..], [299_000..=301_000]), "{:?}", played.waits);
}

#[test]
fn questions_blocks_and_errors_that_repeat_all_end() {
    let failing = writing(says("error: no such table: users"), &["src/lib.rs"]);
    for (turn, word, most) in [
        (says("Shall I use Postgres or SQLite?"), "blocked", 2),
        (reports("", Report::Blocked), "blocked", 1),
        (failing, "circuit_open", 5),
    ] {
        let played = Run { set: vec![("max_iterations", "50")], ..Run::new("default", &[turn]) }.play();
        assert_eq!((played.word(), played.outcomes.len()), (word, most));
    }
}
