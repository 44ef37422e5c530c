//! The line that is written over while something takes time: an agent, a check, a wait. Only on a terminal.
//!
//! The spinner shows life and nothing else: it moves when something was heard, and stands when nothing was.

use std::sync::{Arc, Mutex, PoisonError};

use ralph_core::state::Totals;
use ralph_core::time::{self, Time};
use ralph_core::view::doing::{self, Doing, Heard};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::clock;

const SPINNER: [char; 10] = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

/// What was heard, shared with the threads that listen.
#[derive(Debug, Clone, Default)]
pub(crate) struct Pulse(Arc<Mutex<Heard>>);

impl Pulse {
    /// Something was heard just now; `what` may add what it was.
    pub(crate) fn beat(&self, what: impl FnOnce(&mut Heard)) {
        let mut heard = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        what(&mut heard);
        heard.something(clock::now());
    }

    fn heard(&self) -> Heard {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// What the line is about, and how far its spinner has turned.
#[derive(Debug, Default)]
pub(super) struct Live {
    doing: Option<Doing>,
    totals: Totals,
    pulse: Pulse,
    /// Something to say instead, once.
    notice: Option<String>,
    turned: usize,
    times: u64,
    /// The line stands on the screen.
    pub(super) drawn: bool,
}

impl Live {
    /// What the run does now. A new thing has not been heard of yet.
    pub(super) fn is(&mut self, doing: Option<Doing>, totals: Totals) {
        if doing != self.doing {
            (self.doing, self.pulse, self.turned, self.times) = (doing, Pulse::default(), 0, 0);
        }
        self.totals = totals;
        self.notice = None;
    }

    pub(super) fn pulse(&self) -> Pulse {
        self.pulse.clone()
    }

    pub(super) fn notice(&mut self, words: String) {
        self.notice = Some(words);
    }

    /// How long until the line changes by itself.
    pub(super) fn next_change_ms(&self, now: Time) -> Option<u64> {
        self.doing.as_ref().map(|doing| doing.next_change_ms(now))
    }

    /// The line for so many columns, if there is anything to tell.
    pub(super) fn line(&mut self, now: Time, columns: usize) -> Option<String> {
        let heard = self.pulse.heard();
        if heard.times != self.times {
            (self.times, self.turned) = (heard.times, self.turned + 1);
        }
        let spinner = SPINNER[self.turned % SPINNER.len()];
        if let Some(notice) = &self.notice {
            return Some(fit(&format!("{spinner} {notice}"), columns));
        }
        match self.doing.as_ref()? {
            Doing::Wait { until, why } => {
                let (at, left) = (clock::local(*until, now), time::counted(until.since(now) + 999));
                Some(fit(&format!("◷ waiting until {at} ({left} left): {why}"), columns))
            }
            doing => {
                let (what, rest) = doing::parts(doing, &heard, &self.totals, now);
                let room = columns.saturating_sub(rest.width() + 5);
                let what = if room < 4 { String::new() } else { format!("{} · ", fit(&what, room)) };
                Some(fit(&format!("{spinner} {what}{rest}"), columns))
            }
        }
    }
}

/// The start of a text that fits into so many columns.
pub(super) fn fit(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let mut out = String::new();
    for c in text.chars() {
        if out.width() + c.width().unwrap_or(0) + 1 > columns {
            break;
        }
        out.push(c);
    }
    out.push('…');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Time {
        Time::from_millis(second * 1000)
    }

    fn live() -> Live {
        let mut live = Live::default();
        live.is(Some(Doing::Agent { since: at(0) }), Totals::default());
        live
    }

    #[test]
    fn the_spinner_moves_only_when_something_was_heard() {
        let mut live = live();
        let pulse = live.pulse();
        let mut first = |second| live.line(at(second), 80).and_then(|line| line.chars().next());
        assert_eq!((first(1), first(2), first(3)), (Some('⠋'), Some('⠋'), Some('⠋')));
        pulse.beat(|heard| heard.what = Some("Read a".into()));
        assert_eq!((first(4), first(5)), (Some('⠙'), Some('⠙')));
    }

    #[test]
    fn no_line_is_wider_than_its_columns_and_the_figures_outlive_the_words() {
        let mut live = live();
        live.pulse().beat(|heard| {
            heard.what = Some("Edit src/日本語/a/very/long/path/to/some/file/deep/down.rs".into());
            heard.tokens = 48_000;
        });
        for columns in 1..120 {
            let line = live.line(at(133), columns).expect("a line");
            assert!(line.width() <= columns, "{columns}: {line}");
        }
        let line = live.line(Time::from_millis(133_000), 40).expect("a line");
        assert!(line.starts_with("⠙ Edit src/") && line.contains("… · 2:13 · 48k tokens"), "{line}");
    }

    #[test]
    fn another_thing_has_not_been_heard_of_yet() {
        let mut live = live();
        let old = live.pulse();
        let check = Doing::Check { command: "cargo test".into(), since: at(5) };
        live.is(Some(check), Totals::default());
        old.beat(|heard| heard.what = Some("late words".into()));
        assert_eq!(live.line(at(17), 80).as_deref(), Some("⠋ checking: cargo test · 0:12 · quiet for 0:12"));
        live.is(None, Totals::default());
        assert_eq!(live.line(at(18), 80), None);
    }
}
