//! Seed 001: one word in a file.

use ralph_core::report::dialects::{Vote, status_file};

fn vote(content: &str) -> Option<Vote> {
    status_file(content, None).map(|saying| saying.vote)
}

#[test]
fn continue_and_rotate_ask_for_another_rotation() {
    for word in ["CONTINUE", "ROTATE", "CONTINUE\n", "  ROTATE \r\n"] {
        let saying = status_file(word, None).expect("a signal");
        assert_eq!(saying.vote, Vote::More, "{word:?}");
        assert_eq!(saying.problems, Vec::<String>::new(), "{word:?}");
    }
}

#[test]
fn done_claims_that_the_task_is_complete() {
    assert_eq!(vote("DONE\n"), Some(Vote::Done { phase: None }));
}

#[test]
fn stuck_asks_for_a_person() {
    assert!(matches!(vote("STUCK\n"), Some(Vote::Blocked { .. })));
}

#[test]
fn idle_is_no_signal_yet() {
    for content in ["IDLE", "IDLE\n", "", "\n"] {
        assert_eq!(vote(content), None, "{content:?}");
    }
}

#[test]
fn a_word_that_is_no_signal_goes_on_and_is_named() {
    for content in ["FINISHED", "DONE?", "DONE but STUCK", "NOT DONE", "done-ish"] {
        let saying = status_file(content, None).expect("something was written");
        assert_eq!(saying.vote, Vote::More, "{content}");
        assert_eq!(saying.problems.len(), 1, "{content}");
    }
}
