//! Errors as a user meets them: what happened, why, what to do, and the exit code.

use std::fmt;
use std::process::ExitCode;

/// Exit codes are API. Those of a stopped run come from the stop reason; these are the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Something went wrong: the lock is held, no agent is there, a file cannot be written.
    Error = 1,
    /// The command line is wrong.
    Usage = 64,
    /// A file that somebody names is not there, or one cannot be read as what it should be.
    Data = 65,
}

#[derive(Debug, Clone)]
pub struct Error {
    pub exit: Exit,
    pub what: String,
    pub why: Option<String>,
    pub hints: Vec<String>,
    /// The message says it all: `ralph explain` has no more about it.
    pub is_all: bool,
}

pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    pub fn new(what: impl Into<String>) -> Self {
        Self { exit: Exit::Error, what: what.into(), why: None, hints: Vec::new(), is_all: false }
    }

    /// An answer that is no, and not that something went wrong.
    pub fn no(what: impl Into<String>) -> Self {
        Self { is_all: true, ..Self::new(what) }
    }

    pub fn usage(what: impl Into<String>) -> Self {
        // It says what was meant.
        Self { exit: Exit::Usage, is_all: true, ..Self::new(what) }
    }

    pub fn data(what: impl Into<String>) -> Self {
        Self { exit: Exit::Data, ..Self::new(what) }
    }

    #[must_use]
    pub fn because(mut self, why: impl fmt::Display) -> Self {
        self.why = Some(why.to_string());
        self
    }

    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    pub fn exit_code(&self) -> ExitCode {
        ExitCode::from(self.exit as u8)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ralph: {}", self.what)?;
        if let Some(why) = &self.why {
            write!(f, "\n  why: {why}")?;
        }
        for hint in &self.hints {
            write!(f, "\n  try: {hint}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {}

/// An I/O error with the path it is about.
pub fn io(what: &str, path: &std::path::Path) -> impl FnOnce(std::io::Error) -> Error {
    let what = format!("{what} {}", path.display());
    let path = path.to_path_buf();
    move |error| {
        let hint = remedy(&error).map(str::to_owned).or_else(|| rights(&error, &path));
        let error = Error::new(what).because(error);
        hint.into_iter().fold(error, Error::hint)
    }
}

/// The same for a file that the user names: it cannot be read.
pub fn named(what: &str, path: &std::path::Path) -> impl FnOnce(std::io::Error) -> Error {
    let told = io(what, path);
    |error| Error { exit: Exit::Data, ..told(error) }
}

/// What to do where something may not be done: what is there of the path has the rights.
fn rights(error: &std::io::Error, path: &std::path::Path) -> Option<String> {
    let there = path.ancestors().find(|path| path.symlink_metadata().is_ok()).unwrap_or(path);
    let denied = error.kind() == std::io::ErrorKind::PermissionDenied;
    denied.then(|| format!("see to the rights of {}, then try again", there.display()))
}

/// Whether a reason, of ralph's or of git's, is a disk that does not take anything. By its words: they come from many mouths.
pub fn is_of_the_disk(reason: &str) -> bool {
    ["No space left on device", "Input/output error", "Disk quota exceeded", "Read-only file system"]
        .iter()
        .any(|words| reason.contains(words))
}

/// What to do about a disk that does not take anything.
fn remedy(error: &std::io::Error) -> Option<&'static str> {
    use std::io::ErrorKind::{FileTooLarge, QuotaExceeded, ReadOnlyFilesystem, StorageFull};
    /// "Input/output error", which has no kind of its own.
    const EIO: i32 = 5;
    match error.kind() {
        StorageFull | QuotaExceeded | FileTooLarge => {
            Some("make room on that disk; a run that was cut off goes on with: ralph run")
        }
        ReadOnlyFilesystem => Some("make it writable; a run that was cut off goes on with: ralph run"),
        _ if error.raw_os_error() == Some(EIO) => {
            Some("look after that disk; a run that was cut off goes on with: ralph run")
        }
        _ => None,
    }
}
