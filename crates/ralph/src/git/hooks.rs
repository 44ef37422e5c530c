//! What may take as long as it likes while a commit is made: the user's hooks, and whoever signs. It runs in custody, for a
//! bounded time, and is ended when ralph is.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ralph_core::text;

use super::call::{IDENTITY, unwanted};
use super::{GitError, Repo};
use crate::process::{self, Brief, Ender, SpawnError, Spec};
use crate::unix::rights::PermissionsExt;

/// How such a command is kept.
pub struct Kept<'a> {
    pub custody: &'a dyn Fn(Spec) -> Spec,
    pub limit: Duration,
    /// Is told what runs, to end it if asked; `None` when it is over.
    pub running: &'a dyn Fn(Option<Ender>),
}

impl Kept<'_> {
    pub(super) fn run(&self, spec: &Spec) -> Result<Brief, GitError> {
        let spec = (self.custody)(spec.clone());
        let brief = process::run_for_or_until(&spec, self.limit, |ender| (self.running)(Some(ender)));
        (self.running)(None);
        brief.map_err(|error| match error {
            SpawnError::NotFound { .. } => GitError::Missing,
            error => GitError::Start(error),
        })
    }

    /// Why it failed; `said` is what it said itself.
    pub(super) fn reason(&self, brief: &Brief, said: String) -> String {
        if brief.asked {
            return "you asked ralph to stop".into();
        }
        match brief.end {
            process::End::TimedOut => {
                format!("it ran longer than {}s (check_timeout). {said}", self.limit.as_secs())
            }
            _ => said,
        }
    }
}

impl Repo {
    /// The hook of this name, if the user has one.
    pub(super) fn hook(&self, name: &str) -> Result<Option<PathBuf>, GitError> {
        let call = self.call("rev-parse").args(["--git-path", &format!("hooks/{name}")]);
        let path = call.line()?.map(|path| self.root.join(path));
        let runs = |path: &PathBuf| {
            let data = std::fs::metadata(path);
            data.is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
        };
        Ok(path.filter(runs))
    }

    /// Runs a hook as `git commit` would: at the top of the working tree, with the index that is to be committed.
    pub(super) fn run_hook(
        &self,
        name: &'static str,
        args: &[&Path],
        index: &Path,
        kept: &Kept<'_>,
    ) -> Result<(), GitError> {
        let Some(hook) = self.hook(name)? else { return Ok(()) };
        // A hook without a first line that names its program is the shell's, which `exec` alone does not know.
        let mut spec = Spec::shell("exec \"$0\" \"$@\"", &self.root).arg(hook).args(args);
        let identity = |variable: &OsString| IDENTITY.iter().any(|named| *variable == *named);
        spec = unwanted().filter(|variable| !identity(variable)).fold(spec, Spec::env_remove);
        spec = spec.env("GIT_INDEX_FILE", index).env("GIT_EDITOR", ":").env("GIT_PREFIX", "");
        if self.git_dir != self.root.join(".git") {
            // git tells it only where it cannot be found. A hook that starts test suites must not hand it on.
            spec = spec.env("GIT_DIR", &self.git_dir);
        }
        let brief = kept.run(&spec)?;
        match brief.end.success() {
            true => Ok(()),
            false => {
                let reason = kept.reason(&brief, text::one_line(&brief.words, 600));
                Err(GitError::Hook { name, end: brief.end.to_string(), reason })
            }
        }
    }
}
