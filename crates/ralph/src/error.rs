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
        let hint = Disk::of(&error).map(|disk| disk.remedy().to_owned()).or_else(|| rights(&error, &path));
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

/// How a disk does not take anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Disk {
    Full,
    ReadOnly,
    Failing,
}

impl Disk {
    /// How the libraries of several systems word it: git tells no more than that.
    const WORDS: [(&str, Disk); 8] = [
        ("No space left on device", Disk::Full),
        ("Disk quota exceeded", Disk::Full),
        ("Disc quota exceeded", Disk::Full),
        ("Quota exceeded", Disk::Full),
        ("File too large", Disk::Full),
        ("Read-only file system", Disk::ReadOnly),
        ("Input/output error", Disk::Failing),
        ("I/O error", Disk::Failing),
    ];

    /// The only place where trouble is put down to a disk.
    fn of(error: &std::io::Error) -> Option<Disk> {
        use std::io::ErrorKind::{FileTooLarge, QuotaExceeded, ReadOnlyFilesystem, StorageFull};
        /// It has no kind of its own.
        const EIO: i32 = 5;
        match error.kind() {
            StorageFull | QuotaExceeded | FileTooLarge => Some(Disk::Full),
            ReadOnlyFilesystem => Some(Disk::ReadOnly),
            _ if error.raw_os_error() == Some(EIO) => Some(Disk::Failing),
            _ => None,
        }
    }

    /// Of a reason that passed through several hands: by the number that an error of ralph's own is shown with, whatever the system
    /// calls it; by its words where git told it.
    fn told(reason: &str) -> Option<Disk> {
        let numbers =
            reason.split("(os error ").skip(1).filter_map(|rest| rest.split_once(')')?.0.parse().ok());
        let known = |number| Disk::of(&std::io::Error::from_raw_os_error(number));
        let worded = || Disk::WORDS.iter().find(|(words, _)| reason.contains(words)).map(|(_, disk)| *disk);
        numbers.into_iter().find_map(known).or_else(worded)
    }

    fn remedy(self) -> &'static str {
        match self {
            Disk::Full => "make room on that disk; a run that was cut off goes on with: ralph run",
            Disk::ReadOnly => "make it writable; a run that was cut off goes on with: ralph run",
            Disk::Failing => "look after that disk; a run that was cut off goes on with: ralph run",
        }
    }
}

/// Whether a reason, of ralph's or of git's, is a disk that does not take anything.
pub fn is_of_the_disk(reason: &str) -> bool {
    Disk::told(reason).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trouble_with_a_disk_is_known_by_its_number_and_where_git_tells_it_by_its_words() {
        for (number, disk) in [(28, Disk::Full), (30, Disk::ReadOnly), (5, Disk::Failing)] {
            let error = std::io::Error::from_raw_os_error(number);
            assert_eq!(Disk::of(&error), Some(disk));
            assert_eq!(Disk::told(&format!("the code was not put back: {error}")), Some(disk));
            // Whatever the system calls it.
            assert_eq!(
                Disk::told(&format!("cannot use x: trouble (os error {number}), and more")),
                Some(disk)
            );
        }
        let git =
            "git write-tree failed (exit 128): unable to write file .git/objects/4b: No space left on device";
        assert_eq!(Disk::told(git), Some(Disk::Full));
        for reason in
            ["no such file (os error 2)", "it failed (os error", "(os error x)", "HEAD is elsewhere", ""]
        {
            assert!(!is_of_the_disk(reason), "{reason}");
        }
    }
}
