//! Where talk goes: standard error, or standard output for a command whose talk is what it was asked for.

use std::borrow::Cow;
use std::fs::File;
use std::io::{IsTerminal, Write};

use super::fold::{fold, fold_whole};
use crate::unix::identity::{AsFd, MetadataExt, OwnedFd};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stream {
    Error,
    Output,
}

#[expect(clippy::disallowed_methods, reason = "the owner of standard output and standard error")]
impl Stream {
    pub(super) fn is_terminal(self) -> bool {
        match self {
            Self::Error => std::io::stderr().is_terminal(),
            Self::Output => std::io::stdout().is_terminal(),
        }
    }

    /// How wide the window is now.
    pub(super) fn columns(self) -> usize {
        let size = match self {
            Self::Error => rustix::termios::tcgetwinsize(std::io::stderr()),
            Self::Output => rustix::termios::tcgetwinsize(std::io::stdout()),
        };
        size.map(|size| usize::from(size.ws_col)).ok().filter(|columns| *columns > 0).unwrap_or(80)
    }

    /// How wide its window is, if it has one.
    pub(super) fn window(self) -> Option<usize> {
        self.is_terminal().then(|| self.columns())
    }

    /// For a window's width; for a file or a pipe as it is.
    pub(super) fn folded(self, text: &str) -> Cow<'_, str> {
        self.window().map_or(Cow::Borrowed(text), |columns| fold(text, columns))
    }

    /// The same for a line with a command in it.
    pub(super) fn folded_whole(self, line: &str) -> Cow<'_, str> {
        self.window().map_or(Cow::Borrowed(line), |columns| fold_whole(line, columns))
    }

    /// The file that it goes to, by its numbers on this machine; `None` for a terminal or a pipe.
    pub(super) fn file(self) -> Option<(u64, u64)> {
        let data = File::from(self.held().ok()?).metadata().ok()?;
        data.is_file().then(|| (data.dev(), data.ino()))
    }

    /// What it goes to, as a descriptor of its own.
    pub(super) fn held(self) -> std::io::Result<OwnedFd> {
        match self {
            Self::Error => std::io::stderr().as_fd().try_clone_to_owned(),
            Self::Output => std::io::stdout().as_fd().try_clone_to_owned(),
        }
    }

    /// Whoever does not want to hear it any more is not told.
    pub(super) fn write(self, bytes: &[u8]) {
        fn put(mut to: impl Write, bytes: &[u8]) {
            let _ = to.write_all(bytes).and_then(|()| to.flush());
        }
        match self {
            Self::Error => put(std::io::stderr().lock(), bytes),
            Self::Output => put(std::io::stdout().lock(), bytes),
        }
    }
}
