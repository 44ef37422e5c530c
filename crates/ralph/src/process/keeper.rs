//! Starting a keeper, and giving it its order.

use std::io::{self, BufReader};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Instant;

use rustix::event::{PollFd, PollFlags};
use rustix::process::Pid;

use super::job::{Job, end_all_of, keeper_error};
use super::ready::wait_ready;
use super::wire::{Failure, KEEP, Order, Report};
use super::{End, Output, SpawnError, Spec, mark};
use crate::point;

/// A keeper that has nothing to keep yet. Dropped, it ends.
#[derive(Debug)]
pub(super) struct Keeper {
    process: Option<Child>,
    line: UnixStream,
}

impl Drop for Keeper {
    fn drop(&mut self) {
        if let Some(mut process) = self.process.take() {
            let _ = self.line.shutdown(std::net::Shutdown::Both);
            let _ = process.wait();
        }
    }
}

/// A keeper that gets ready beside something else: a program's start takes longer than all that is between two commands.
#[derive(Debug, Default)]
pub struct Ahead {
    keeper: Option<Keeper>,
    /// Our own, if none is named.
    program: Option<PathBuf>,
}

impl Ahead {
    /// With another program as the keeper, as in [`start_with_keeper`](super::start_with_keeper).
    pub fn with_keeper(program: &Path) -> Ahead {
        Ahead { keeper: None, program: Some(program.to_path_buf()) }
    }

    /// Starts one, unless there is one. If that fails there is none, and nobody minds.
    pub fn start(&mut self) {
        if self.keeper.is_none() {
            self.keeper = self.another().ok();
        }
    }

    /// Starts a command, with the keeper that is there or else with a new one.
    pub fn keep(&mut self, spec: &Spec) -> Result<Job, SpawnError> {
        let ready = self.keeper.take().filter(Keeper::is_there);
        let keeper = ready.map_or_else(|| self.another(), Ok);
        keeper.map_err(|error| keeper_error(spec, &error))?.keep(spec)
    }

    fn another(&self) -> io::Result<Keeper> {
        match &self.program {
            Some(program) => Keeper::of(program),
            None => Keeper::of(&own_program()?),
        }
    }
}

impl Keeper {
    #[expect(clippy::disallowed_methods, reason = "this is the spawner")]
    fn of(program: &Path) -> io::Result<Keeper> {
        let (line, theirs) = UnixStream::pair()?;
        let mut command = Command::new(program);
        command.arg0("ralph").arg(KEEP);
        command.stdin(OwnedFd::from(theirs)).stdout(Stdio::piped()).stderr(Stdio::piped());
        let process = point::pass("start keeper").and_then(|()| mark::started_with(None, || command.spawn()));
        // It holds the keeper's end of the socket, which would hide the keeper's death from us.
        drop(command);
        Ok(Keeper { process: Some(process?), line })
    }

    /// Nobody ended it while it waited.
    fn is_there(&self) -> bool {
        let mut line = [PollFd::new(&self.line, PollFlags::IN)];
        wait_ready(&mut line, Some(Instant::now())).is_ok() && line[0].revents().is_empty()
    }

    /// Returns when the command runs, or could not be started.
    pub(super) fn keep(mut self, spec: &Spec) -> Result<Job, SpawnError> {
        let order = Order::of(spec)?;
        let lost = |error: io::Error| keeper_error(spec, &error);
        let (over, job_over) = io::pipe().map_err(lost)?;
        let (out_over, err_over) = (over.try_clone().map_err(lost)?, over);
        let line = self.line.try_clone().map_err(lost)?;
        let mut reports = BufReader::new(self.line.try_clone().map_err(lost)?);
        point::pass("tell keeper").map_err(lost)?;
        // One that is gone is noticed when it should answer.
        let _ = order.write_to(&line);
        let _ = point::pass("hear from keeper");
        let report = Report::read_from(&mut reports);
        let Some(mut keeper) = self.process.take() else { unreachable!("it is taken once") };
        if let Some(Report::Started { pid }) = report
            && let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw)
            && let (Some(stdout), Some(stderr)) = (keeper.stdout.take(), keeper.stderr.take())
        {
            let output = (Output::new(stdout, out_over), Output::new(stderr, err_over));
            return Ok(Job {
                keeper,
                pid,
                line: Arc::new(line),
                reports,
                output,
                grace: spec.grace,
                mark: spec.mark,
                alone: spec.alone.clone(),
                over: job_over,
            });
        }
        drop((self, line, reports));
        let survivors = match report {
            Some(Report::Failed { .. }) => Vec::new(),
            // It may have started the command and died before it could say so.
            _ => end_all_of(&keeper, spec.mark, spec.alone.as_ref(), spec.grace),
        };
        let end = keeper.wait().map_err(lost)?;
        Err(match report {
            Some(Report::Failed { error, kind }) => match (kind, &spec.stdin) {
                (Failure::NotFound, _) => spec.spawn_error(&io::Error::new(io::ErrorKind::NotFound, error)),
                (Failure::Permission, _) => {
                    spec.spawn_error(&io::Error::new(io::ErrorKind::PermissionDenied, error))
                }
                (Failure::Folder, _) => SpawnError::Folder { folder: spec.cwd.clone(), reason: error },
                (Failure::Stdin, super::Stdin::File(file)) => SpawnError::stdin(file, error),
                (Failure::Stdin | Failure::Other, _) => spec.spawn_error(&io::Error::other(error)),
            },
            _ => SpawnError::KeeperLost {
                program: spec.program.to_string_lossy().into_owned(),
                end: End::from(end).to_string(),
                survivors,
            },
        })
    }
}

/// Our own program file. On Linux the file this process runs, even if it was replaced or deleted since by an
/// update: `current_exe` would then name a file that is gone or that talks another version of the wire.
fn own_program() -> io::Result<PathBuf> {
    let running = Path::new("/proc/self/exe");
    if cfg!(target_os = "linux") && running.exists() {
        return Ok(running.to_path_buf());
    }
    std::env::current_exe()
}
