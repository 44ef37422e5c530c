//! What somebody probably meant, and words that can be typed.

use ralph_core::redact;
pub use ralph_core::text::quoted;
use ralph_core::text::slips;

/// What to do about a word that was a slip.
pub fn instead(near: &str, wrong: &str) -> String {
    format!("write {near} instead of {wrong}")
}

/// A goal as it can be typed, where it is short enough to be; else what stands for it.
pub fn goal(goal: &str) -> String {
    let typed = !goal.is_empty() && goal.chars().count() <= 100 && !goal.chars().any(char::is_control);
    if typed { quoted(goal) } else { "\"GOAL\"".into() }
}

/// A command as it can be typed on a line. One that cannot be shown as it is has to be named again, for another one would be run.
pub fn command(command: &str) -> String {
    match redact::command(command, 400) {
        shown if shown == command && !shown.contains("[redacted") => quoted(&shown),
        _ => "CMD".into(),
    }
}

/// The known word that is a slip of the finger away, or two where the word is long.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let near = known.into_iter().map(|known| (slips(known, word), known)).min()?;
    let letters = word.chars().count().max(near.1.chars().count());
    let slips = if letters < 5 { 1 } else { 2 };
    (near.0 <= slips && near.0 < letters).then_some(near.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_finger_is_close_and_another_word_is_not() {
        assert_eq!(slips("claude", "claude"), 0);
        assert_eq!(slips("claude", "cluade"), 1, "two letters are exchanged");
        assert_eq!(slips("", "abc"), 3);
        assert_eq!(slips("claude", "claud"), 1);
        assert!(slips("claude", "banana") > 2);
    }

    #[test]
    fn the_nearest_word_is_suggested_and_a_far_one_is_not() {
        assert_eq!(nearest("rnu", ["status", "run"]), Some("run"));
        assert_eq!(nearest("elephant", ["status", "run"]), None);
        assert_eq!(nearest("foo", ["boot", "once"]), None, "half of a short word is another word");
        assert_eq!(nearest("ful", ["edits", "full", "inherit"]), Some("full"));
        assert_eq!(nearest("tcsh", ["bash", "zsh"]), None);
        assert_eq!(nearest("reveiwes", ["reviews"]), Some("reviews"));
        for (word, other) in [("Z", "A"), ("", "A"), ("xy", "A"), ("T1", "AB")] {
            assert_eq!(nearest(word, [other]), None, "{word} and {other} have nothing in common");
        }
        assert_eq!(nearest("T1", ["A", "T2"]), Some("T2"));
    }
}
