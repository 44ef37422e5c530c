//! `<promise>TEXT</promise>`, alone on a line or at the very end, outside code and quotation.

use super::{Dialect, Saying, Vote};
use crate::prelude::*;
use crate::report::shown::{Shown, shown};
use crate::report::withheld::is_withheld;
use crate::text;

const OPEN: &str = "<promise>";
const CLOSE: &str = "</promise>";

/// No promise is longer, in bytes.
const LONGEST_PROMISE: usize = 4000;

/// How many are looked at, from the end of a message.
const MOST_PROMISES: usize = 50;

/// A promise with exactly this text, white space folded. Of several the last: another one takes it back.
pub fn promise(words: &str, expected: &str) -> Option<Saying> {
    let words = words.trim_end_matches(|c: char| c.is_whitespace() || text::MESSAGE_ENDS.contains(&c));
    let last = text::messages(words).count();
    let kept = text::messages(words)
        .enumerate()
        .filter_map(|(nth, message)| last_in(message, expected, nth + 1 == last))
        .last()?;
    kept.then(|| Saying {
        dialect: Dialect::Promise,
        vote: Vote::Done { phase: None },
        quote: format!("{OPEN}{}{CLOSE}", text::one_line(expected, 200)),
        problems: vec![],
    })
}

/// Whether the promise stands in the middle of a line, where it is not heard: in words of the agent's own, and not as
/// something to be said later.
pub fn misplaced(words: &str, expected: &str) -> bool {
    let expected = text::one_line(expected, 1000);
    text::messages(words).filter(|message| message.contains(OPEN)).any(|message| {
        let clean = text::plain(message);
        let shown = shown(&clean);
        clean.rmatch_indices(OPEN).take(MOST_PROMISES).any(|(at, _)| {
            let line = clean[..at].rfind('\n').map_or(0, |end| end + 1);
            Place::of(&clean, at, &shown).is_some_and(|place| {
                !place.is_alone
                    && text::one_line(place.said, 1000) == expected
                    && !is_withheld(&clean[line..at])
            })
        })
    })
}

/// Whether the last promise of a message is the expected one; `None` without any.
fn last_in(message: &str, expected: &str, may_end: bool) -> Option<bool> {
    // Most messages hold none.
    if !message.contains('<') {
        return None;
    }
    let clean = text::plain(message);
    let clean = clean.trim_end();
    let shown = shown(clean);
    let expected = text::one_line(expected, 1000);
    clean.rmatch_indices(OPEN).take(MOST_PROMISES).find_map(|(at, _)| {
        let place = Place::of(clean, at, &shown)?;
        if text::one_line(place.said, 1000) != expected {
            return Some(false);
        }
        let heard = place.is_alone || (place.is_end && may_end);
        heard.then(|| !is_withheld(place.lead) && !hides(message, clean, at, place.said))
    })
}

/// Whether something invisible stands in the lines of a promise. The lines of the clean text are those of the message.
fn hides(message: &str, clean: &str, at: usize, said: &str) -> bool {
    let ends = |text: &str| text.matches('\n').count();
    message.split('\n').skip(ends(&clean[..at])).take(ends(said) + 1).any(text::hides)
}

/// A promise and where it stands.
struct Place<'a> {
    said: &'a str,
    is_alone: bool,
    /// At the very end, behind a whole sentence.
    is_end: bool,
    /// What leads to it: the sentence before, if that ends in a colon.
    lead: &'a str,
}

impl<'a> Place<'a> {
    fn of(text: &'a str, at: usize, shown: &Shown) -> Option<Self> {
        let line = text[..at].rfind('\n').map_or(0, |end| end + 1);
        let before = text[line..at].trim();
        let in_code = before.matches('`').count() % 2 == 1;
        if shown.in_fence(at) || shown.in_quote(at) || in_code {
            return None;
        }
        let rest = &text[at + OPEN.len()..];
        // Looked for only so far: from every one to the very end would take the square of the time.
        let (said, _) = text::start(rest, LONGEST_PROMISE).split_once(CLOSE)?;
        let after = &rest[said.len() + CLOSE.len()..];
        let rest_of_line = after.split('\n').next().unwrap_or_default();
        let above = if before.is_empty() { text[..line].trim_end() } else { before };
        let sentence = above.strip_suffix(':').unwrap_or_default();
        let lead = sentence.rfind(['.', '!', '?', '\n']).map_or(sentence, |end| &sentence[end + 1..]);
        Some(Self {
            said,
            is_alone: before.is_empty() && rest_of_line.trim().is_empty(),
            is_end: after.trim().is_empty() && (before.is_empty() || before.ends_with(['.', '!', ':'])),
            lead: lead.trim(),
        })
    }
}
