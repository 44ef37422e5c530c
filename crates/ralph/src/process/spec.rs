//! What to run, and why it could not be started.

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use super::{Mark, Patience};

/// How long a command may take to end after TERM, unless its spec says otherwise.
const GRACE: Duration = Duration::from_secs(5);

/// A command to run. The environment is ralph's own, with the changes listed in `env`.
#[derive(Debug, Clone)]
pub struct Spec {
    pub program: OsString,
    pub args: Vec<OsString>,
    pub cwd: PathBuf,
    /// In order; `None` removes the variable.
    pub env: Vec<(OsString, Option<OsString>)>,
    pub stdin: Stdin,
    /// How long a kept command may take to end after TERM before it gets KILL.
    pub grace: Duration,
    /// A file that the keeper holds locked, shared, for as long as anything of a kept command lives.
    pub hold: Option<PathBuf>,
    /// By which a kept command, and all that it starts, is found if its keeper is killed; for captured helpers, what they
    /// start.
    pub mark: Option<Mark>,
    /// For captured helpers only: how long the programs that it starts are waited for.
    pub patience: Option<Patience>,
    /// Files to which the keeper appends what a kept command prints, before it passes it on: standard output, standard
    /// error.
    pub transcripts: Option<[PathBuf; 2]>,
    /// Whether what has the mark is ours; where another ralph works in our place it may be its own.
    pub alone: Option<Alone>,
    /// A file on which the keeper leaves the time at the end: until when the command worked, though nobody else knows.
    pub sign: Option<PathBuf>,
}

/// A question that can be asked later.
#[derive(Clone)]
pub struct Alone(Arc<dyn Fn() -> bool + Send + Sync>);

impl Alone {
    pub(super) fn now(&self) -> bool {
        self.0()
    }
}

impl fmt::Debug for Alone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Alone")
    }
}

/// What a command reads on standard input. Never ralph's own terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stdin {
    Null,
    File(PathBuf),
    /// A kept command takes a few kilobytes of it, which a pipe holds, so that nobody has to stay to feed it.
    Bytes(Vec<u8>),
}

impl Spec {
    pub fn new(program: impl Into<OsString>, cwd: impl Into<PathBuf>) -> Spec {
        Spec {
            program: program.into(),
            args: Vec::new(),
            cwd: cwd.into(),
            env: Vec::new(),
            stdin: Stdin::Null,
            grace: GRACE,
            hold: None,
            mark: None,
            patience: None,
            alone: None,
            transcripts: None,
            sign: None,
        }
    }

    /// A command line for `sh -c`.
    pub fn shell(command: impl Into<OsString>, cwd: impl Into<PathBuf>) -> Spec {
        Spec::new("sh", cwd).arg("-c").arg(command)
    }

    #[must_use]
    pub fn arg(mut self, arg: impl Into<OsString>) -> Spec {
        self.args.push(arg.into());
        self
    }

    #[must_use]
    pub fn args(mut self, args: impl IntoIterator<Item = impl Into<OsString>>) -> Spec {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    #[must_use]
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Spec {
        self.env.push((name.into(), Some(value.into())));
        self
    }

    #[must_use]
    pub fn env_remove(mut self, name: impl Into<OsString>) -> Spec {
        self.env.push((name.into(), None));
        self
    }

    #[must_use]
    pub fn stdin_file(mut self, file: impl Into<PathBuf>) -> Spec {
        self.stdin = Stdin::File(file.into());
        self
    }

    #[must_use]
    pub fn stdin_bytes(mut self, bytes: impl Into<Vec<u8>>) -> Spec {
        self.stdin = Stdin::Bytes(bytes.into());
        self
    }

    #[must_use]
    pub fn grace(mut self, grace: Duration) -> Spec {
        self.grace = grace;
        self
    }

    #[must_use]
    pub fn hold(mut self, file: impl Into<PathBuf>) -> Spec {
        self.hold = Some(file.into());
        self
    }

    #[must_use]
    pub fn mark(mut self, mark: Mark) -> Spec {
        self.mark = Some(mark);
        self
    }

    #[must_use]
    pub fn patience(mut self, patience: Patience) -> Spec {
        self.patience = Some(patience);
        self
    }

    #[must_use]
    pub fn while_alone(mut self, alone: impl Fn() -> bool + Send + Sync + 'static) -> Spec {
        self.alone = Some(Alone(Arc::new(alone)));
        self
    }

    #[must_use]
    pub fn transcripts(mut self, stdout: impl Into<PathBuf>, stderr: impl Into<PathBuf>) -> Spec {
        self.transcripts = Some([stdout.into(), stderr.into()]);
        self
    }

    #[must_use]
    pub fn sign(mut self, file: impl Into<PathBuf>) -> Spec {
        self.sign = Some(file.into());
        self
    }

    /// Its program in its folder and environment, without arguments.
    #[expect(clippy::disallowed_methods, reason = "this is the spawner")]
    pub(super) fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.current_dir(&self.cwd);
        set_variables(&mut command, &self.env);
        command
    }

    /// What a failed spawn of this spec means. A missing folder and a missing program are the same error to
    /// the system, but not to the user.
    pub(super) fn spawn_error(&self, error: &io::Error) -> SpawnError {
        if let Some(error) = self.folder_error() {
            return error;
        }
        self.start_error(error.kind(), error.to_string())
    }

    pub(super) fn start_error(&self, kind: io::ErrorKind, reason: String) -> SpawnError {
        let program = self.program.to_string_lossy().into_owned();
        match kind {
            io::ErrorKind::NotFound => SpawnError::NotFound { program },
            io::ErrorKind::PermissionDenied => SpawnError::PermissionDenied { program },
            _ => SpawnError::Other { program, reason },
        }
    }

    pub(super) fn folder_error(&self) -> Option<SpawnError> {
        let reason = match std::fs::metadata(&self.cwd) {
            Ok(data) if data.is_dir() => return None,
            Ok(_) => "not a folder".to_owned(),
            Err(error) => error.to_string(),
        };
        Some(SpawnError::Folder { folder: self.cwd.clone(), reason })
    }
}

pub(super) fn set_variables(command: &mut Command, variables: &[(OsString, Option<OsString>)]) {
    for (name, value) in variables {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
}

/// Why a command did not start.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SpawnError {
    #[error("{program}: command not found")]
    NotFound { program: String },
    #[error("{program}: permission denied")]
    PermissionDenied { program: String },
    #[error("cannot work in {}: {reason}", folder.display())]
    Folder { folder: PathBuf, reason: String },
    #[error("cannot read {}: {reason}", file.display())]
    Stdin { file: PathBuf, reason: String },
    #[error("cannot start the keeper of {program}: {reason}")]
    Keeper { program: String, reason: String },
    /// Nobody knows whether it had started the command; what could be found of it was ended, but for the survivors.
    #[error("the keeper of {program} ended without a word ({end})")]
    KeeperLost { program: String, end: String, survivors: Vec<u32> },
    #[error("cannot start {program}: {reason}")]
    Other { program: String, reason: String },
}

impl SpawnError {
    pub(super) fn stdin(file: &Path, reason: impl Into<String>) -> SpawnError {
        SpawnError::Stdin { file: file.to_path_buf(), reason: reason.into() }
    }
}
