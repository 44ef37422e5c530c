//! One invocation of git.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use ralph_core::git_text;

use super::{GitError, Kept};
use crate::process::{self, Begun, Captured, SpawnError, Spec};

/// Settings of the user that must not have a say in a measurement, because they run programs, write files of
/// their own, hide edits or turn a warning into a refusal.
const MEASURING: [&str; 7] = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.splitIndex=false",
    "core.ignoreStat=false",
    "core.safecrlf=false",
    // git 2.47 aborts on some sparse indexes when files appear outside the patterns.
    "index.sparse=false",
    // A checksum over the private index, written several times a snapshot, costs more than it tells: one that does not
    // fit what is remembered of it is made again.
    "index.skipHash=true",
];

/// Who the user is, if the environment says it.
pub(super) const IDENTITY: [&str; 4] =
    ["GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"];

/// A git command with its arguments, to be run any number of times.
#[derive(Debug, Clone)]
#[must_use]
pub struct Call {
    command: &'static str,
    spec: Spec,
    /// How many arguments before the command are settings.
    settings: usize,
}

impl Call {
    /// A call in `cwd`, free of the `GIT_*` variables that ralph was started with. git finds the repository
    /// itself.
    pub fn new(cwd: &Path, command: &'static str) -> Call {
        let inherited = std::env::vars_os().map(|(name, _)| name);
        let mut spec = Spec::new("git", cwd);
        for name in inherited.filter(|name| name.as_encoded_bytes().starts_with(b"GIT_")) {
            spec = spec.env_remove(name);
        }
        spec = spec.env("GIT_OPTIONAL_LOCKS", "0").env("GIT_TERMINAL_PROMPT", "0").env("LC_ALL", "C");
        Call { command, spec: spec.arg(command), settings: 0 }
    }

    /// Leaves out what would make a measurement run hooks, write files or trust somebody's word, and never goes
    /// to the network.
    pub fn measuring(mut self) -> Call {
        for setting in MEASURING {
            self = self.setting(setting);
        }
        self.env("GIT_NO_LAZY_FETCH", "1")
    }

    /// By the identity that the environment names: what is committed for the user is the user's.
    pub fn as_the_user(mut self) -> Call {
        for name in IDENTITY {
            if let Some(value) = std::env::var_os(name) {
                self = self.env(name, value);
            }
        }
        self
    }

    /// Overrules the configuration, and settings that were given earlier.
    pub fn setting(mut self, setting: &str) -> Call {
        let at = self.settings..self.settings;
        self.spec.args.splice(at, [OsString::from("-c"), OsString::from(setting)]);
        self.settings += 2;
        self
    }

    pub fn arg(mut self, arg: impl Into<OsString>) -> Call {
        self.spec = self.spec.arg(arg);
        self
    }

    pub fn args(mut self, args: impl IntoIterator<Item = impl Into<OsString>>) -> Call {
        self.spec = self.spec.args(args);
        self
    }

    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Call {
        self.spec = self.spec.env(name, value.as_ref());
        self
    }

    /// What git reads on its standard input: NUL-terminated paths, mostly.
    pub fn stdin(mut self, bytes: Vec<u8>) -> Call {
        self.spec = self.spec.stdin_bytes(bytes);
        self
    }

    /// Runs it in custody: where hooks or a signature may have it wait. Any exit but 0 is an error.
    pub fn kept(&self, kept: &Kept<'_>) -> Result<String, GitError> {
        let brief = kept.run(&self.spec)?;
        match brief.end.success() {
            true => Ok(brief.stdout.trim_end_matches('\n').to_owned()),
            false => {
                let reason = kept.reason(&brief, git_text::reason(brief.words.as_bytes()));
                Err(GitError::Failed { command: self.command, end: brief.end.to_string(), reason })
            }
        }
    }

    /// Runs it; any exit is an answer.
    pub fn run(&self) -> Result<Captured, GitError> {
        process::capture(&self.spec).map_err(start_error)
    }

    /// Starts it; what it is to read on its standard input follows.
    pub fn begin(&self) -> Result<Begun, GitError> {
        process::begin(&self.spec).map_err(start_error)
    }

    /// Runs it and hands back what it printed; any exit but 0 is an error.
    pub fn output(&self) -> Result<Vec<u8>, GitError> {
        let captured = self.run()?;
        if captured.end.success() { Ok(captured.stdout) } else { Err(self.failure(&captured)) }
    }

    /// Runs a call that answers with one line. Exit 1 is git's quiet way to say that there is none.
    pub fn line(&self) -> Result<Option<String>, GitError> {
        let captured = self.run()?;
        match captured.end.code() {
            Some(0) => {
                let text = String::from_utf8_lossy(&captured.stdout);
                Ok(Some(text.trim_end_matches('\n').to_owned()))
            }
            Some(1) if captured.stderr.is_empty() => Ok(None),
            _ => Err(self.failure(&captured)),
        }
    }

    /// What to call a run that did not end as hoped.
    pub fn failure(&self, captured: &Captured) -> GitError {
        let reason = git_text::reason(&captured.stderr);
        GitError::Failed { command: self.command, end: captured.end.to_string(), reason }
    }

    /// What to call an answer that is none.
    pub fn strange(&self, reason: &str) -> GitError {
        GitError::Strange { command: self.command, reason: reason.to_owned() }
    }
}

fn start_error(error: SpawnError) -> GitError {
    match error {
        SpawnError::NotFound { .. } => GitError::Missing,
        error => GitError::Start(error),
    }
}
