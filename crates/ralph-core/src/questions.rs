//! Questions: an agent that asks instead of working waits for a person, in a loop where nobody answers.

use serde::{Deserialize, Serialize};

use crate::prelude::*;
use crate::text;

/// How the reason of a stop begins that is a question.
pub(crate) const ASKS: &str = "it asks: ";

/// What this rule remembers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Questions {
    pub in_a_row: u32,
}

impl Questions {
    /// The next state, and the question that blocks the run. `most` 0 never blocks.
    #[must_use]
    pub fn step(self, most: u32, last_words: &str, progress: bool) -> (Self, Option<String>) {
        let question = asked(last_words).filter(|_| !progress);
        let in_a_row = if question.is_some() { self.in_a_row.saturating_add(1) } else { 0 };
        (Self { in_a_row }, question.filter(|_| most > 0 && in_a_row >= most))
    }
}

/// Where a report begins, be it a block or JSON.
const REPORT: &str = "RALPH_STATUS";

/// The question an agent's last words end with, a report after it left aside.
fn asked(last_words: &str) -> Option<String> {
    let prose = last_words.split(REPORT).next().unwrap_or_default();
    let quoted: &[char] = &['*', '_', '"', '`', ')', ' '];
    let said = |line: &&str| {
        line.contains(char::is_alphanumeric) && !line.starts_with("LOOP_") && !line.starts_with("<promise>")
    };
    let line = prose.lines().rev().map(str::trim).find(said)?;
    line.trim_end_matches(quoted).ends_with('?').then(|| text::one_line(line, 500))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_twice_with_nothing_changed_blocks() {
        let first = Questions::default().step(2, "Shall I use Postgres?", false);
        assert_eq!(first, (Questions { in_a_row: 1 }, None));
        assert_eq!(
            first.0.step(2, "I looked.\n\n**Postgres or SQLite?**", false).1.as_deref(),
            Some("**Postgres or SQLite?**")
        );
        assert_eq!(first.0.step(2, "Postgres?", true), (Questions::default(), None), "something changed");
        assert_eq!(first.0.step(2, "Done.", false), (Questions::default(), None));
        assert_eq!(first.0.step(0, "Postgres?", false).1, None, "off");
    }

    #[test]
    fn the_report_below_the_question_is_left_aside() {
        assert_eq!(asked("Which one?\n---RALPH_STATUS---\nSTATUS: IN_PROGRESS"), Some("Which one?".into()));
        let json = "Which one?\n\nRALPH_STATUS: {\"EXIT_SIGNAL\": false}\nLOOP_CONTINUE";
        assert_eq!(asked(json), Some("Which one?".into()));
        assert_eq!(asked("Which one?\n\nLOOP_CONTINUE"), Some("Which one?".into()));
        assert_eq!(asked("Is it ready? It is."), None);
        assert_eq!(asked(""), None);
    }
}
