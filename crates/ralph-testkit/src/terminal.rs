//! A program on a pseudo-terminal, and what a person would see there.

mod pty;
mod render;

use crate::LIMIT;
use crate::run::{exit_code, when_ended};
use crate::watched::Watched;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::termios::{Winsize, tcsetwinsize};
use std::ffi::OsString;
use std::fs::File;
use std::io::{PipeReader, PipeWriter, Read, Write, pipe};
use std::num::NonZeroU16;
use std::process::{Child, Command};
use std::sync::Arc;
use std::thread;
use std::time::Duration;
use vt100::{Cell, Parser};

/// Lines kept that have left the screen.
const SCROLLBACK: usize = 10_000;
/// The last output may arrive a moment after the program's end.
const DRAIN: Duration = Duration::from_secs(2);

/// ```
/// use ralph_testkit::{Sandbox, Terminal};
/// let sandbox = Sandbox::new();
/// let mut command = sandbox.command("sh");
/// command.args(["-c", "echo ready; read answer; echo got $answer"]);
/// let mut terminal = Terminal::start(&command);
/// terminal.wait_for("ready");
/// terminal.type_text("yes\r");
/// assert_eq!(terminal.wait(), 0);
/// assert!(terminal.screen().contains("got yes"));
/// ```
pub struct Terminal {
    child: Child,
    /// `None` once the window is closed.
    master: Option<File>,
    /// Closed with the window, which is what tells the reader.
    window: Option<PipeWriter>,
    seen: Arc<Watched<Seen>>,
}

struct Seen {
    parser: Parser,
    raw: Vec<u8>,
    closed: bool,
    ended: bool,
}

/// Size and kind of the terminal: 80 columns, 24 rows, `xterm-256color` unless said.
pub struct TerminalBuilder<'a> {
    command: &'a Command,
    columns: u16,
    rows: u16,
    term: OsString,
}

impl TerminalBuilder<'_> {
    #[must_use]
    pub fn size(mut self, columns: u16, rows: u16) -> Self {
        (self.columns, self.rows) = (columns, rows);
        self
    }

    /// The variable `TERM`.
    #[must_use]
    pub fn term(mut self, term: &str) -> Self {
        self.term = term.into();
        self
    }

    #[track_caller]
    pub fn start(self) -> Terminal {
        let (master, slave) = pty::open(winsize(self.columns, self.rows));
        let child = pty::spawn(self.command, &self.term, &slave);
        // The terminal ends when the last process has closed it, so this one must not hold it.
        drop(slave);
        let parser = Parser::new(size(self.rows), size(self.columns), SCROLLBACK);
        let seen = Arc::new(Watched::new(Seen { parser, raw: Vec::new(), closed: false, ended: false }));
        let (closing, window) = pipe().expect("a pipe");
        follow(master.try_clone().expect("another handle of the terminal"), closing, Arc::clone(&seen));
        let watcher = Arc::clone(&seen);
        when_ended(&child, move || watcher.update(|seen| seen.ended = true));
        Terminal { child, master: Some(master), window: Some(window), seen }
    }
}

impl Terminal {
    /// Runs the command with its own arguments, folder and variables on a new terminal. Only variables that were
    /// set on the command are passed on, as in [`crate::Sandbox::command`].
    #[track_caller]
    pub fn start(command: &Command) -> Self {
        Self::builder(command).start()
    }

    pub fn builder(command: &Command) -> TerminalBuilder<'_> {
        TerminalBuilder { command, columns: 80, rows: 24, term: "xterm-256color".into() }
    }

    /// Blocks until the text is to be seen, on the screen or scrolled out of it.
    #[track_caller]
    pub fn wait_for(&self, text: &str) {
        self.wait_for_in_order(&[text]);
    }

    /// Blocks until all of the texts are to be seen, each after the one before it.
    #[track_caller]
    pub fn wait_for_in_order(&self, texts: &[&str]) {
        let shown = |seen: &Seen| {
            let screen = seen.parser.screen();
            has_in_order(&render::screen(screen), texts) || has_in_order(&render::everything(screen), texts)
        };
        let found =
            self.seen.wait(LIMIT, |seen| if shown(seen) { Some(true) } else { seen.closed.then_some(false) });
        assert!(found == Some(true), "the terminal never showed {texts:?}\n{}", self.all_output());
    }

    /// Types on the keyboard: `\r` is the return key, `\x03` Ctrl-C.
    pub fn type_text(&mut self, text: &str) {
        self.open().write_all(text.as_bytes()).expect("type on the terminal");
    }

    /// Closes the window: what runs there gets SIGHUP, and can write no more. What was shown is still known.
    pub fn hang_up(&mut self) {
        (self.master, self.window) = (None, None);
        self.seen.wait(LIMIT, |seen| seen.closed.then_some(()));
    }

    fn open(&self) -> &File {
        self.master.as_ref().expect("a window that was not closed")
    }

    pub fn resize(&self, columns: u16, rows: u16) {
        self.seen.update(|seen| seen.parser.set_size(size(rows), size(columns)));
        tcsetwinsize(self.open(), winsize(columns, rows)).expect("resize the terminal");
    }

    /// The rows as they stand on the screen, without blank ends.
    pub fn screen(&self) -> String {
        self.seen.read(|seen| render::screen(seen.parser.screen()))
    }

    /// All lines, those scrolled out first; a line that was too wide is one line again.
    pub fn all_output(&self) -> String {
        self.seen.read(|seen| render::everything(seen.parser.screen()))
    }

    /// One character of the screen with its colours; rows and columns count from 0.
    pub fn cell(&self, row: u16, column: u16) -> Option<Cell> {
        self.seen.read(|seen| seen.parser.screen().cell(row, column).cloned())
    }

    /// Row and column of the cursor, from 0.
    pub fn cursor(&self) -> (u16, u16) {
        self.seen.read(|seen| seen.parser.screen().cursor_position())
    }

    /// The bytes as they came.
    pub fn raw(&self) -> Vec<u8> {
        self.seen.read(|seen| seen.raw.clone())
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits for the program's end; 128 + the signal's number when a signal ended it.
    #[track_caller]
    pub fn wait(&mut self) -> i32 {
        let ended = self.seen.wait(LIMIT, |seen| seen.ended.then_some(())).is_some();
        assert!(ended, "the program on the terminal did not end\n{}", self.all_output());
        let status = self.child.wait().expect("collect an ended process");
        self.seen.wait(DRAIN, |seen| seen.closed.then_some(()));
        exit_code(status)
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // Both do nothing to a process that was waited for.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reading fails once the last process has closed its end: that is the end of file of a terminal.
fn follow(mut master: File, closing: PipeReader, seen: Arc<Watched<Seen>>) {
    thread::spawn(move || {
        let mut buffer = [0; 8192];
        loop {
            let mut fds = [PollFd::new(&closing, PollFlags::IN), PollFd::new(&master, PollFlags::IN)];
            // Interrupted: what is not ready is looked at again.
            let _ = poll(&mut fds, None);
            if !fds[0].revents().is_empty() {
                break;
            }
            let Ok(count @ 1..) = master.read(&mut buffer) else { break };
            seen.update(|seen| {
                seen.raw.extend_from_slice(&buffer[..count]);
                seen.parser.process(&buffer[..count]);
            });
        }
        drop(master);
        seen.update(|seen| seen.closed = true);
    });
}

fn has_in_order(shown: &str, texts: &[&str]) -> bool {
    let mut rest = Some(shown);
    for text in texts {
        rest = rest.and_then(|rest| Some(rest.split_once(text)?.1));
    }
    rest.is_some()
}

fn size(count: u16) -> NonZeroU16 {
    NonZeroU16::new(count).expect("a terminal has rows and columns")
}

fn winsize(columns: u16, rows: u16) -> Winsize {
    Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }
}

#[cfg(test)]
mod tests {
    use super::has_in_order;

    #[test]
    fn texts_count_only_in_their_order() {
        assert!(has_in_order("one two one", &["one", "two", "one"]));
        assert!(!has_in_order("one two", &["two", "one"]));
        assert!(!has_in_order("one", &["one", "one"]), "each text is one of its own");
    }
}
