//! Ralph's side of a kept command.

use std::io::{self, BufReader, PipeWriter, Write};
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};
use rustix::process::{Pid, Signal, WaitId, WaitOptions, getsid, kill_process_group, waitpid};

use super::ready::{exit_of, wait_ready, wait_unreaped};
use super::spec::Alone;
use super::sweep::{Ours, sweep_all};
use super::wire::{END, END_NOW, Failure, KEEP, Order, Report};
use super::{End, KILL_PATIENCE, Mark, Output, SpawnError, Spec};
use crate::point;

/// Starts a command in the custody of a keeper. Returns when it runs, or could not be started.
pub fn start(spec: &Spec) -> Result<Job, SpawnError> {
    let keeper = own_program().map_err(|error: io::Error| keeper_error(spec, &error))?;
    start_with_keeper(spec, &keeper)
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

/// [`start`] with another program as the keeper: one that calls [`keep::main`](super::keep::main) when its first
/// argument is `__keep`.
pub fn start_with_keeper(spec: &Spec, keeper: &Path) -> Result<Job, SpawnError> {
    let order = Order::of(spec)?;
    let lost = |error: io::Error| keeper_error(spec, &error);
    let (ours, theirs) = UnixStream::pair().map_err(lost)?;
    let (over, job_over) = io::pipe().map_err(lost)?;
    let (out_over, err_over) = (over.try_clone().map_err(lost)?, over);
    let mut reports = BufReader::new(ours.try_clone().map_err(lost)?);

    let mut command = spec.command(keeper.as_os_str());
    command.arg0("ralph").arg(KEEP).args(order.into_args());
    command.stdin(OwnedFd::from(theirs)).stdout(Stdio::piped()).stderr(Stdio::piped());
    let spawned = point::pass("start keeper").and_then(|()| command.spawn());
    // It holds the keeper's end of the socket, which would hide the keeper's death from us.
    drop(command);
    let mut keeper = spawned.map_err(|error| match error.kind() {
        // It is the command's own arguments that the system does not take.
        io::ErrorKind::ArgumentListTooLong | io::ErrorKind::InvalidInput => spec.spawn_error(&error),
        _ => spec.folder_error().unwrap_or_else(|| lost(error)),
    })?;

    let _ = point::pass("hear from keeper");
    let report = Report::read_from(&mut reports);
    if let Some(Report::Started { pid }) = report
        && let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw)
        && let (Some(stdout), Some(stderr)) = (keeper.stdout.take(), keeper.stderr.take())
    {
        let output = (Output::new(stdout, out_over), Output::new(stderr, err_over));
        let line = Arc::new(ours);
        return Ok(Job {
            keeper,
            pid,
            line,
            reports,
            output,
            grace: spec.grace,
            mark: spec.mark,
            alone: spec.alone.clone(),
            _over: job_over,
        });
    }
    drop((ours, reports));
    let survivors = match report {
        Some(Report::Failed { .. }) => Vec::new(),
        // It may have started the command and died before it could say so.
        _ => end_all_of(&keeper, spec.mark, spec.alone.as_ref(), spec.grace),
    };
    let end = keeper.wait().map_err(lost)?;
    Err(match report {
        Some(Report::Failed { error, kind }) => match (kind, &spec.stdin) {
            (Failure::NotFound, _) => spec.start_error(io::ErrorKind::NotFound, error),
            (Failure::Permission, _) => spec.start_error(io::ErrorKind::PermissionDenied, error),
            (Failure::Stdin, super::Stdin::File(file)) => SpawnError::stdin(file, error),
            (Failure::Stdin | Failure::Other, _) => spec.start_error(io::ErrorKind::Other, error),
        },
        _ => SpawnError::KeeperLost {
            program: spec.program.to_string_lossy().into_owned(),
            end: End::from(end).to_string(),
            survivors,
        },
    })
}

/// Waits until a keeper is dead, and ends what can be found without it: what has its mark or its session. The keeper is
/// left to be reaped, so that its number stays its own until then. Returns what could not be ended.
fn end_all_of(keeper: &Child, mark: Option<Mark>, alone: Option<&Alone>, grace: Duration) -> Vec<u32> {
    let keeper = Pid::from_child(keeper);
    wait_unreaped(&WaitId::Pid(keeper));
    let mark = mark.filter(|_| alone.is_none_or(Alone::now));
    sweep_all(Ours { mark, session: Some(keeper) }, grace).survivors
}

fn keeper_error(spec: &Spec, error: &io::Error) -> SpawnError {
    SpawnError::Keeper { program: spec.program.to_string_lossy().into_owned(), reason: error.to_string() }
}

/// A running command and its keeper.
///
/// Dropping a job without [`wait`](Job::wait) ends it as ralph's death would: the keeper sees end of file.
#[derive(Debug)]
pub struct Job {
    keeper: Child,
    pid: Pid,
    line: Arc<UnixStream>,
    reports: BufReader<UnixStream>,
    output: (Output, Output),
    grace: Duration,
    mark: Option<Mark>,
    alone: Option<Alone>,
    /// Closed with the job, which is what tells the outputs that it is over.
    _over: PipeWriter,
}

/// How a job ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobEnd {
    pub end: End,
    /// Processes that were still there when the command itself had exited, and were ended.
    pub leftovers: u32,
    /// Processes that could not be ended, for example because they run as another user.
    pub survivors: Vec<u32>,
    /// The end was asked for before the command exited.
    pub asked: bool,
    /// Why not all that it printed is in its transcripts.
    pub unkept: Option<String>,
}

impl Job {
    /// The command's own process id, which is also its process group.
    pub fn pid(&self) -> u32 {
        self.pid.as_raw_pid().unsigned_abs()
    }

    /// Standard output and standard error, to be read by threads of their own while the job runs. Both end with
    /// the job at the latest. What a second call returns is empty.
    pub fn take_output(&mut self) -> (Output, Output) {
        std::mem::take(&mut self.output)
    }

    pub fn ender(&self) -> Ender {
        Ender { line: Arc::downgrade(&self.line) }
    }

    /// Blocks until the command and everything it left behind are gone. Output that was not taken is closed.
    pub fn wait(mut self) -> JobEnd {
        drop(self.take_output());
        let report = Report::read_from(&mut self.reports);
        // A keeper that talks nonsense is told that this is the end; a dead one does not mind.
        let _ = self.line.shutdown(Shutdown::Both);
        let Some(Report::Ended(ended)) = report else {
            let survivors = end_all_of(&self.keeper, self.mark, self.alone.as_ref(), self.grace);
            self.end_group();
            let _ = self.keeper.wait();
            return JobEnd { end: End::Lost, leftovers: 0, survivors, asked: false, unkept: None };
        };
        let _ = self.keeper.wait();
        JobEnd {
            end: End::of(ended.code, ended.signal),
            leftovers: ended.leftovers,
            survivors: ended.survivors,
            asked: ended.asked,
            unkept: ended.unkept,
        }
    }

    /// Ends the command's process group, which is all that can be found where nothing is marked.
    fn end_group(&self) {
        // A number that was given to somebody else meanwhile is not in the keeper's session. (A session's number
        // is not given away while one of its processes lives.)
        if getsid(Some(self.pid)).is_ok_and(|session| session != Pid::from_child(&self.keeper)) {
            return;
        }
        let exit = exit_of(self.pid);
        for (signal, patience) in [(Signal::TERM, self.grace), (Signal::KILL, KILL_PATIENCE)] {
            if kill_process_group(self.pid, signal).is_err() {
                break;
            }
            if let Ok(exit) = &exit {
                let mut exit = [PollFd::new(exit, PollFlags::IN)];
                let _ = wait_ready(&mut exit, Instant::now().checked_add(patience));
            }
        }
        // If ralph is a reaper the command has become its child; if not, this is refused.
        let _ = waitpid(Some(self.pid), WaitOptions::NOHANG);
    }
}

/// Asks the keeper to end a job, from any thread. Asking for what is gone already does nothing.
#[derive(Debug, Clone)]
pub struct Ender {
    /// Weak, so that a forgotten ender does not keep the life-line up.
    line: Weak<UnixStream>,
}

impl Ender {
    /// TERM, and KILL after the grace period.
    pub fn end(&self) {
        self.ask(END);
    }

    /// KILL, now.
    pub fn end_now(&self) {
        self.ask(END_NOW);
    }

    fn ask(&self, what: u8) {
        if let Some(line) = self.line.upgrade() {
            let _ = (&*line).write_all(&[what]);
        }
    }
}
