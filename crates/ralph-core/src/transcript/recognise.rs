//! What output is where nobody said: it is a stream if it opens as one and its last word is an event.
//!
//! An agent that talks in plain text may quote another one's stream. So a stream opens before anything else is said, or
//! after a few lines of a wrapper; and plain words behind its last event are the agent's own, and make all of it text.
//! A warning among the events does not: an event comes after it.

use super::notices::is_notice;
use super::value::Value;
use super::{Format, claude, codex, gemini, opencode};
use crate::prelude::*;

/// How many lines a wrapper may say before the stream, and before all that there is of one.
const MOST_BEFORE: u32 = 20;
const MOST_BEFORE_WHOLE: u32 = 5;

/// How agents begin a sentence, and programs do not.
const TALK: [&str; 16] = [
    "I ", "I'", "I\u{2019}", "Let me", "Let's", "Here ", "Here'", "This ", "That ", "It ", "The last ",
    "The previous ", "From the ", "We ", "My ", "Below ",
];

/// How much of the plain lines is kept, in case that they are all there is.
const KEPT_ASIDE: usize = 256 << 10;

/// How sure it is that a line opens a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Opening {
    /// The stream introduces itself.
    Sure,
    /// It is all there is: a closing event with the final message in it.
    Whole,
    /// It could be the first event; it counts only where nothing was said before it.
    First,
}

/// What is remembered of the plain lines before and in a stream that was recognised.
#[derive(Debug, Default)]
pub(super) struct Recognising {
    /// Lines said before it.
    before: u32,
    /// No stream opens any more.
    over: bool,
    /// The last line announced something.
    announced: bool,
    /// Some line was a sentence of somebody who talks.
    talks: bool,
    /// How the stream opened, once it did.
    opened: Option<Opening>,
    /// The stream's last closing event was an error.
    failed: bool,
    /// There are plain lines since the last event.
    interrupted: bool,
    /// And some of them are words.
    words: bool,
    aside: Vec<u8>,
}

impl Recognising {
    /// The stream that this line opens.
    pub(super) fn open(&mut self, line: &[u8], cut: bool) -> Option<Format> {
        if self.over || cut {
            return None;
        }
        let (format, opening) = opening(line).filter(|(_, opening)| self.allows(*opening))?;
        self.opened = Some(opening);
        Some(format)
    }

    /// Whether a stream may open in this way after what was said.
    pub(super) fn allows(&self, opening: Opening) -> bool {
        let most = match opening {
            Opening::Sure => MOST_BEFORE,
            Opening::Whole => MOST_BEFORE_WHOLE,
            Opening::First => 0,
        };
        let quoted = self.announced || self.talks && opening == Opening::Whole;
        self.before == 0 || self.before <= most && !quoted
    }

    /// Whether a stream may open in any way.
    pub(super) fn may_open(&self) -> bool {
        !self.over && self.allows(Opening::Sure)
    }

    /// Whether the format was recognised, and may have to be taken back.
    pub(super) fn is_open(&self) -> bool {
        self.opened.is_some()
    }

    /// A line of plain text, with no stream before it.
    pub(super) fn said(&mut self, line: &[u8], text: &str) {
        let text = text.trim();
        if self.over || text.is_empty() {
            return;
        }
        // Events of some stream are nobody's words.
        self.before += u32::from(!(line.starts_with(b"{\"type\":\"") && line.ends_with(b"}")));
        self.announced = text.ends_with(':');
        self.talks |= TALK.iter().any(|start| text.starts_with(start));
        let fence = text.starts_with("```") || text.starts_with("~~~");
        self.over = self.before > MOST_BEFORE || fence || is_report(text);
        if self.over {
            self.aside = Vec::new();
        } else {
            self.keep(line);
        }
    }

    /// A line among the events that is none of them. Whether it proves that there is no stream.
    pub(super) fn interrupted(&mut self, line: &[u8], text: &str) -> bool {
        self.keep(line);
        self.interrupted = true;
        if is_torn(text) {
            return false;
        }
        let plain = crate::text::plain(text);
        self.words |= plain.contains(char::is_alphanumeric) && !is_notice(&plain);
        is_report(text)
    }

    /// The same for JSON that is not an event: it is nobody's words, unless it is a report.
    pub(super) fn digressed(&mut self, line: &[u8], value: &Value<'_>) -> bool {
        self.keep(line);
        !value["EXIT_SIGNAL"].is_null()
    }

    /// An event: what stood before it were warnings. Whether there were any.
    pub(super) fn went_on(&mut self) -> bool {
        self.words = false;
        core::mem::take(&mut self.interrupted)
    }

    pub(super) fn ended(&mut self, failed: bool) {
        self.failed = failed;
    }

    /// Whether plain words came last. A wrapper may well say that the run failed, and a run that failed claims nothing.
    pub(super) fn ends_in_words(&self) -> bool {
        self.words && !(self.failed && self.opened == Some(Opening::Sure))
    }

    /// There is no stream: the plain lines are all that was said.
    pub(super) fn take_back(&mut self) -> Vec<u8> {
        core::mem::replace(self, Self { over: true, ..Self::default() }).aside
    }

    fn keep(&mut self, line: &[u8]) {
        self.aside.extend_from_slice(&line[line.len().saturating_sub(KEPT_ASIDE)..]);
        self.aside.push(b'\n');
        if self.aside.len() > 2 * KEPT_ASIDE {
            self.aside.drain(..self.aside.len() - KEPT_ASIDE);
        }
    }
}

/// Whether it is an event of any stream.
pub(super) fn is_event(value: &Value<'_>) -> bool {
    let typed = value["type"].is_string() && value["EXIT_SIGNAL"].is_null();
    typed || claude::is_result(value) || gemini::is_document(value)
}

/// Whether a line of plain text is part of a report, in one of the dialects.
fn is_report(line: &str) -> bool {
    const MARKS: [&str; 6] =
        ["RALPH_STATUS", "EXIT_SIGNAL", "LOOP_COMPLETE", "LOOP_CONTINUE", "LOOP_BLOCKED", "<promise>"];
    MARKS.iter().any(|mark| line.contains(mark))
}

/// Whether a line that is not JSON begins like an event that lost its end. A report in one is escaped.
fn is_torn(line: &str) -> bool {
    let begins = |open: char, next: char| {
        line.trim_start().strip_prefix(open).is_some_and(|rest| rest.trim_start().starts_with(next))
    };
    let reports = || line.match_indices("\"EXIT_SIGNAL\"").any(|(at, _)| !line[..at].ends_with('\\'));
    (begins('{', '"') || begins('[', '{')) && !reports()
}

/// The object in a line, without the comma that joins it to the one before or behind it.
pub(super) fn object(line: &str) -> &str {
    let line = line.trim();
    let line = line.strip_prefix(',').map_or(line, str::trim_start);
    line.strip_suffix(',').filter(|line| line.ends_with('}')).unwrap_or(line)
}

/// The stream that a line opens, if it opens one.
pub(super) fn opening(line: &[u8]) -> Option<(Format, Opening)> {
    if !(line.starts_with(b"{") && (line.ends_with(b"}") || line.ends_with(b"},"))) {
        return None;
    }
    opened(&serde_json::from_str(object(core::str::from_utf8(line).ok()?)).ok()?)
}

/// The stream that an event opens, if it opens one.
pub(super) fn opened(event: &Value<'_>) -> Option<(Format, Opening)> {
    if claude::introduces(event) {
        Some((Format::Claude, Opening::Sure))
    } else if codex::introduces(event) {
        Some((Format::Codex, Opening::Sure))
    } else if opencode::introduces(event) {
        Some((Format::Opencode, Opening::Sure))
    } else if gemini::introduces(event) {
        Some((Format::Gemini, Opening::Sure))
    } else if claude::introduces_session(event) {
        Some((Format::Hook, Opening::First))
    } else if claude::is_result(event) {
        Some((Format::Claude, Opening::Whole))
    } else if gemini::is_document(event) {
        Some((Format::Gemini, Opening::Whole))
    } else if codex::may_be_first(event) {
        Some((Format::Codex, Opening::First))
    } else if opencode::may_be_first(event) {
        Some((Format::Opencode, Opening::First))
    } else if gemini::may_be_first(event) {
        Some((Format::Gemini, Opening::First))
    } else if claude::may_be_first(event) {
        Some((Format::Claude, Opening::First))
    } else {
        None
    }
}
