//! `.ralph/status`: one word. IDLE, an empty file and a missing one are silence.

use super::{Dialect, INVISIBLE, Saying, Vote};
use crate::prelude::*;
use crate::text;

/// `handoff` is what the agent left in `.ralph/handoff.md`, where it says what it needs.
pub fn status_file(content: &str, handoff: Option<&str>) -> Option<Saying> {
    // Some editors and shells begin every file with such a mark.
    let content = content.strip_prefix('\u{feff}').unwrap_or(content);
    let word = text::one_line(content, 100);
    let upper = word.to_ascii_uppercase();
    let hidden = text::hides(content);
    let vote = match upper.as_str() {
        "" | "IDLE" => return None,
        "DONE" if !hidden => Vote::Done { phase: None },
        "STUCK" => Vote::Blocked {
            why: handoff.and_then(needs).map_or_else(
                || "the agent wrote STUCK into .ralph/status and nothing into .ralph/handoff.md".into(),
                |needs| format!("STUCK, by .ralph/handoff.md: {needs}"),
            ),
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

/// Headings below which an agent says what it needs.
const NEEDS: [&str; 6] = ["block", "stuck", "need", "help", "question", "human"];
const LONGEST_NEED: usize = 400;

/// What a handoff says that it needs: the part under such a heading, else its end. Headings are not part of it.
fn needs(handoff: &str) -> Option<String> {
    let is_heading = |line: &&str| line.starts_with('#');
    let asks = |line: &&str| is_heading(line) && NEEDS.iter().any(|word| line.to_lowercase().contains(word));
    let lines = || handoff.lines().map(str::trim);
    let asked: Vec<&str> =
        lines().skip_while(|line| !asks(line)).skip(1).take_while(|line| !is_heading(line)).collect();
    let all: Vec<&str> = lines().filter(|line| !is_heading(line) && !line.starts_with("<!--")).collect();
    let told = |lines: Vec<&str>| Some(lines.join("\n").trim().to_owned()).filter(|text| !text.is_empty());
    let (part, newest_last) = match told(asked) {
        Some(asked) => (asked, false),
        None => (told(all)?, true),
    };
    let part = if newest_last { text::tail(&part, LONGEST_NEED) } else { &part };
    Some(text::one_line(part, LONGEST_NEED))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_stuck_agent_needs_is_read_from_its_handoff() {
        let why = |handoff: Option<&str>| match status_file("STUCK\n", handoff).map(|saying| saying.vote) {
            Some(Vote::Blocked { why }) => why,
            other => panic!("{other:?}"),
        };
        let seed = "# Handoff\n\nDid a.\n\n## Blockers\n- the staging password\n- ask Ann\n\n## Next\nb\n";
        assert_eq!(why(Some(seed)), "STUCK, by .ralph/handoff.md: - the staging password - ask Ann");
        assert_eq!(why(Some("Which server?\n")), "STUCK, by .ralph/handoff.md: Which server?");
        let long = format!("{}\nWhich server?", "old words ".repeat(200));
        assert!(why(Some(&long)).ends_with("Which server?"), "{}", why(Some(&long)));
        for nothing in [None, Some(""), Some("# Handoff\n\n<!-- a template -->\n")] {
            assert!(why(nothing).ends_with("nothing into .ralph/handoff.md"), "{nothing:?}");
        }
    }
}
