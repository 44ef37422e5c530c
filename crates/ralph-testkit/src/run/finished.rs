//! What a process that has ended leaves to check.

use super::Seen;
use std::fmt;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

/// How the process ended and all it said.
#[derive(Clone)]
pub struct Finished {
    /// 128 + the signal's number when a signal ended it, as a shell would say.
    pub code: i32,
    pub stdout: String,
    /// Without the time that plain lines have.
    pub stderr: String,
    /// As it was written.
    pub stamped_stderr: String,
    /// Something still held standard output or error open when the process had ended.
    pub output_left_open: bool,
}

impl Finished {
    pub(super) fn new(status: ExitStatus, seen: &Seen) -> Self {
        Finished {
            code: exit_code(status),
            stdout: without_stamps(&seen.stdout.text()),
            stderr: without_stamps(&seen.stderr.text()),
            stamped_stderr: seen.stderr.text(),
            output_left_open: !(seen.stdout.closed && seen.stderr.closed),
        }
    }

    #[track_caller]
    pub fn assert_code(&self, code: i32) -> &Self {
        assert!(self.code == code, "expected exit code {code}\n{self}");
        self
    }

    #[track_caller]
    pub fn assert_stdout_has(&self, text: &str) -> &Self {
        assert!(self.stdout.contains(text), "stdout lacks {text:?}\n{self}");
        self
    }

    #[track_caller]
    pub fn assert_stderr_has(&self, text: &str) -> &Self {
        assert!(self.stderr.contains(text), "stderr lacks {text:?}\n{self}");
        self
    }

    #[track_caller]
    pub fn assert_stderr_lacks(&self, text: &str) -> &Self {
        assert!(!self.stderr.contains(text), "stderr has {text:?}\n{self}");
        self
    }

    /// Standard output as one JSON value.
    #[track_caller]
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("stdout is not JSON: {error}\n{self}"))
    }

    /// Standard output as JSON values, one a line.
    #[track_caller]
    pub fn json_lines(&self) -> Vec<serde_json::Value> {
        let parse = |line| serde_json::from_str(line);
        let lines: Result<_, _> = self.stdout.lines().map(parse).collect();
        lines.unwrap_or_else(|error| panic!("stdout is not JSON lines: {error}\n{self}"))
    }
}

impl fmt::Display for Finished {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "exit code {}\n{}", self.code, sections(&self.stdout, &self.stderr))
    }
}

impl fmt::Debug for Finished {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// `[ralph] 2026-11-18 03:12:05 +01:00 words` as `[ralph] words`, so that a test names a line by its words alone.
pub fn without_stamps(text: &str) -> String {
    let line = |line: &str| match line.strip_prefix(MARK).and_then(after_stamp) {
        Some(words) => format!("{MARK}{words}"),
        None => line.to_owned(),
    };
    text.split_inclusive('\n').map(line).collect()
}

const MARK: &str = "[ralph] ";

/// What follows the time that a line begins with.
pub fn after_stamp(line: &str) -> Option<&str> {
    const STAMP: &str = "0000-00-00 00:00:00 +00:00 ";
    let stamp = line.get(..STAMP.len())?;
    let fits = |(c, form): (char, char)| match form {
        '0' => c.is_ascii_digit(),
        '+' => c == '+' || c == '-',
        form => c == form,
    };
    stamp.chars().zip(STAMP.chars()).all(fits).then(|| &line[STAMP.len()..])
}

pub(super) fn sections(stdout: &str, stderr: &str) -> String {
    format!("--- stdout\n{stdout}\n--- stderr\n{stderr}\n---")
}

pub(crate) fn exit_code(status: ExitStatus) -> i32 {
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or_default())
}
