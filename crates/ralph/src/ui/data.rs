//! Standard output: data for whoever asked, and what others printed.

use std::borrow::Cow;
use std::io::{ErrorKind, IsTerminal, Write};
use std::process::ExitCode;

use ralph_core::text;
use unicode_width::UnicodeWidthStr;

use super::fold::{fold, fold_row};
use super::stream::Stream;
use super::{Tone, Ui};
use crate::error::{Error, Exit};

impl Ui {
    /// Data, for standard output, as it is.
    #[expect(clippy::disallowed_methods, reason = "the owner of standard output")]
    pub fn data(&self, bytes: &[u8]) {
        if self.lost.get() {
            return;
        }
        let mut out = std::io::stdout().lock();
        match out.write_all(bytes).and_then(|()| out.flush()) {
            // A reader that has seen enough closes the pipe; that is no error.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => self.unheard.set(true),
            Err(error) => {
                self.lost.set(true);
                let error = Error::new("cannot write to standard output").because(error);
                self.talk(&format!("{error}\n"));
            }
            _ => {}
        }
    }

    /// Whether anybody still reads what is written to standard output.
    pub fn is_heard(&self) -> bool {
        !self.unheard.get()
    }

    /// How the program ends that would end like this: whoever asked for data and did not get it all is told.
    pub fn ending(&self, code: ExitCode) -> ExitCode {
        if self.lost.get() { ExitCode::from(Exit::Error as u8) } else { code }
    }

    /// What somebody else printed, kept in a file. It must not play with the terminal, which is behind most pipes too.
    pub fn kept(&self, bytes: &[u8]) {
        self.data(text::plain(&String::from_utf8_lossy(bytes)).as_bytes());
    }

    /// What differs, line by line: as it is into a pipe; on a terminal in colours, and without anybody else's codes.
    #[expect(clippy::disallowed_methods, reason = "the owner of standard output")]
    pub fn patch(&self, bytes: &[u8]) {
        if !std::io::stdout().is_terminal() {
            return self.data(bytes);
        }
        let mut shown = String::new();
        for line in text::plain(&String::from_utf8_lossy(bytes)).lines() {
            let tone = match line.as_bytes() {
                [b'+', ..] => Tone::Good,
                [b'-', ..] => Tone::Bad,
                [b'@', ..] => Tone::Faint,
                _ => Tone::Plain,
            };
            shown.push_str(&self.painted(tone, line));
            shown.push('\n');
        }
        self.data(shown.as_bytes());
    }

    /// A line for people: on a terminal it is broken between words.
    pub fn data_line(&self, text: &str) {
        let columns = *self.output.get_or_init(|| Stream::Output.window());
        let text = columns.map_or(Cow::Borrowed(text), |columns| fold(text, columns));
        self.data(format!("{text}\n").as_bytes());
    }

    /// Whether a line has room in the window; a file or a pipe takes any.
    pub fn fits(&self, text: &str) -> bool {
        self.output.get_or_init(|| Stream::Output.window()).is_none_or(|columns| text.width() <= columns)
    }

    /// The same for a row of a table, whose last column begins there.
    pub fn data_row(&self, last: usize, text: &str) {
        let columns = *self.output.get_or_init(|| Stream::Output.window());
        let text = columns.map_or(Cow::Borrowed(text), |columns| fold_row(text, columns, last));
        self.data(format!("{text}\n").as_bytes());
    }

    /// A line that must stay as it is.
    pub fn exact_line(&self, text: &str) {
        self.data(format!("{text}\n").as_bytes());
    }

    /// A document for machines.
    pub fn json(&self, document: &impl serde::Serialize) {
        self.exact_line(&serde_json::to_string_pretty(document).unwrap_or_default());
    }

    /// One of many, on a line of its own.
    pub fn json_line(&mut self, document: &serde_json::Value) {
        self.clear();
        self.exact_line(&document.to_string());
    }
}
