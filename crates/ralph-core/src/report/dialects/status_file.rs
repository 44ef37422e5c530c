//! `.ralph/status`: one word. IDLE, an empty file and a missing one are silence.

use super::{Dialect, INVISIBLE, Saying, Vote};
use crate::prelude::*;
use crate::text;

pub fn status_file(content: &str) -> Option<Saying> {
    // Some editors and shells begin every file with such a mark.
    let content = content.strip_prefix('\u{feff}').unwrap_or(content);
    let word = text::one_line(content, 100);
    let upper = word.to_ascii_uppercase();
    let hidden = text::hides(content);
    let vote = match upper.as_str() {
        "" | "IDLE" => return None,
        "DONE" if !hidden => Vote::Done { phase: None },
        "STUCK" => Vote::Blocked {
            why: "the agent wrote STUCK into .ralph/status; .ralph/handoff.md may say what it needs".into(),
        },
        _ => Vote::More,
    };
    let mut problems = Vec::new();
    if !["DONE", "STUCK", "CONTINUE", "ROTATE"].contains(&upper.as_str()) {
        problems.push(format!("unknown signal '{word}'"));
    } else if word != upper {
        problems.push(format!("{upper} is not in upper case"));
    }
    if hidden {
        problems.push(INVISIBLE.to_owned());
    }
    Some(Saying { dialect: Dialect::StatusFile, vote, quote: word, problems })
}
