//! One invocation of git.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::time::Duration;

use ralph_core::git_text;

use super::{GitError, Kept};
use crate::process::{self, Begun, Captured, Hurry, Mark, Patience, SpawnError, Spec};

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

/// How long programs that git runs in one call, filters mostly, are waited for. Filters for many large files have work for minutes.
const FILTERS: Duration = Duration::from_secs(30 * 60);

/// Commands that only read, and take no lock where `GIT_OPTIONAL_LOCKS` forbids it: wherever they are ended, nothing is left.
const READING: [&str; 15] = [
    "cat-file", "check-attr", "check-ignore", "config", "diff", "diff-index", "diff-tree", "log", "ls-files",
    "ls-tree", "rev-list", "rev-parse", "show-ref", "status", "version",
];

const GAVE_UP: &str =
    "it waited for something that never came, took more than half an hour, or ralph was asked to stop";

/// Who the user is, if the environment says it.
pub(super) const IDENTITY: [&str; 4] =
    ["GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"];

/// Where the user's settings are, if the environment says it. They point at no repository.
const SETTINGS: [&str; 3] = ["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"];

/// The variables that no git of ours, and no hook, is to inherit.
pub(super) fn unwanted() -> impl Iterator<Item = OsString> {
    std::env::vars_os().filter(|(name, value)| is_unwanted(name, value)).map(|(name, _)| name)
}

fn is_unwanted(name: &OsStr, value: &OsStr) -> bool {
    // A place that depends on the folder would be another file in each.
    let fixed = name == "GIT_CONFIG_NOSYSTEM" || value.is_empty() || Path::new(value).is_absolute();
    let settings = SETTINGS.iter().any(|kept| name == *kept) && fixed;
    name.as_encoded_bytes().starts_with(b"GIT_") && !settings
}

/// A git command with its arguments, to be run any number of times.
#[derive(Debug, Clone)]
#[must_use]
pub struct Call {
    command: &'static str,
    spec: Spec,
    /// How many arguments before the command are settings.
    settings: usize,
    /// How many settings are in the environment.
    named: usize,
}

impl Call {
    /// A call in `cwd`, free of the `GIT_*` variables that ralph was started with, but for those that say where settings are. git
    /// finds the repository itself.
    pub fn new(cwd: &Path, command: &'static str) -> Call {
        let mut spec = unwanted().fold(Spec::new("git", cwd), Spec::env_remove);
        spec = spec.env("GIT_OPTIONAL_LOCKS", "0").env("GIT_TERMINAL_PROMPT", "0").env("LC_ALL", "C");
        let expendable = READING.contains(&command);
        spec = spec.patience(Patience { limit: FILTERS, hurry: None, expendable });
        Call { command, spec: spec.arg(command), settings: 0, named: 0 }
    }

    /// Leaves out what would make a measurement run hooks, write files or trust somebody's word, and never goes
    /// to the network.
    pub fn measuring(mut self) -> Call {
        for setting in MEASURING {
            self = self.setting(setting);
        }
        self.env("GIT_NO_LAZY_FETCH", "1")
    }

    /// Has the programs that git runs wear a mark, so that those it leaves are found, and waits for them only until somebody is in
    /// a hurry.
    pub fn watched(mut self, mark: Option<Mark>, hurry: Option<&Hurry>) -> Call {
        self.spec.mark = mark;
        if let Some(patience) = &mut self.spec.patience {
            patience.hurry = hurry.cloned();
        }
        self
    }

    /// It may be ended where it does not come to its own end: all that it writes is ralph's own, its locks too.
    pub fn expendable(self) -> Call {
        self.may_be_ended(true)
    }

    /// It changes files of the user's, and half of that would be worse than to wait, though somebody is in a hurry.
    pub fn to_its_end(mut self) -> Call {
        if let Some(patience) = &mut self.spec.patience {
            patience.hurry = None;
        }
        self.may_be_ended(false)
    }

    fn may_be_ended(mut self, expendable: bool) -> Call {
        if let Some(patience) = &mut self.spec.patience {
            patience.expendable = expendable;
        }
        self
    }

    /// For calls beside others: they run no programs, and nobody may take them for what another left.
    pub fn unwatched(mut self) -> Call {
        self.spec.mark = None;
        self
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

    /// The same for a key with a name in it, which may be any: in an argument it would end at its first `=`.
    pub fn setting_named(mut self, key: &str, value: &str) -> Call {
        let (at, count) = (self.named, self.named + 1);
        self.named = count;
        self.env(&format!("GIT_CONFIG_KEY_{at}"), key)
            .env(&format!("GIT_CONFIG_VALUE_{at}"), value)
            .env("GIT_CONFIG_COUNT", count.to_string())
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
        self.whole(process::capture(&self.spec).map_err(start_error)?)
    }

    /// Feeds what was begun and waits for its end.
    pub fn finish(&self, begun: Begun, stdin: Vec<u8>) -> Result<Captured, GitError> {
        self.whole(begun.finish(stdin).map_err(GitError::Start)?)
    }

    /// Without its filters git goes on, with other content than the user's settings ask for. That is no answer.
    fn whole(&self, captured: Captured) -> Result<Captured, GitError> {
        match (captured.gave_up, captured.ended) {
            (true, _) => Err(GitError::Ended { command: self.command, why: GAVE_UP.to_owned() }),
            (false, 0) => Ok(captured),
            (false, _) => Err(GitError::Filter { command: self.command }),
        }
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
