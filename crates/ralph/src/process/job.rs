//! Ralph's side of a kept command.

use std::io::{self, BufReader, PipeWriter, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::Child;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};
use rustix::process::{Pid, Signal, WaitId, WaitOptions, kill_process_group, waitpid};

use super::children::session;
use super::keeper::Ahead;
use super::ready::{exit_of, wait_ready, wait_unreaped};
use super::spec::Alone;
use super::sweep::{Ours, sweep_all};
use super::wire::{END, END_NOW, Report};
use super::{End, KILL_PATIENCE, Mark, Output, SpawnError, Spec};

/// Starts a command in the custody of a keeper. Returns when it runs, or could not be started.
pub fn start(spec: &Spec) -> Result<Job, SpawnError> {
    Ahead::default().keep(spec)
}

/// [`start`] with another program as the keeper: one that calls [`keep::main`](super::keep::main) when its first
/// argument is `__keep`.
pub fn start_with_keeper(spec: &Spec, keeper: &Path) -> Result<Job, SpawnError> {
    Ahead::with_keeper(keeper).keep(spec)
}

/// Waits until a keeper is dead, and ends what can be found without it: what has its mark or its session. The keeper is
/// left to be reaped, so that its number stays its own until then. Returns what could not be ended.
pub(super) fn end_all_of(
    keeper: &Child,
    mark: Option<Mark>,
    alone: Option<&Alone>,
    grace: Duration,
) -> Vec<u32> {
    let keeper = Pid::from_child(keeper);
    wait_unreaped(&WaitId::Pid(keeper));
    let mark = mark.filter(|_| alone.is_none_or(Alone::now));
    sweep_all(Ours { mark, helpers: false, session: Some(keeper) }, grace).survivors
}

pub(super) fn keeper_error(spec: &Spec, error: &io::Error) -> SpawnError {
    SpawnError::Keeper { program: spec.program.to_string_lossy().into_owned(), reason: error.to_string() }
}

/// A running command and its keeper.
///
/// Dropping a job without [`wait`](Job::wait) ends it as ralph's death would: the keeper sees end of file.
#[derive(Debug)]
pub struct Job {
    pub(super) keeper: Child,
    pub(super) pid: Pid,
    pub(super) line: Arc<UnixStream>,
    pub(super) reports: BufReader<UnixStream>,
    pub(super) output: (Output, Output),
    pub(super) grace: Duration,
    pub(super) mark: Option<Mark>,
    pub(super) alone: Option<Alone>,
    /// Closed with the job, which is what tells the outputs that it is over.
    pub(super) over: PipeWriter,
}

/// A keeper that has said all it had to say. It is waited for when this is dropped.
#[derive(Debug)]
pub struct Leaving(Child);

impl Drop for Leaving {
    fn drop(&mut self) {
        let _ = self.0.wait();
    }
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
    pub fn wait(self) -> JobEnd {
        self.wait_for_word().0
    }

    /// The same, for those who have something to do until the keeper itself is gone, too.
    pub fn wait_for_word(mut self) -> (JobEnd, Leaving) {
        drop(self.take_output());
        let report = Report::read_from(&mut self.reports);
        // A keeper that talks nonsense is told that this is the end; a dead one does not mind.
        let _ = self.line.shutdown(Shutdown::Both);
        let end = match report {
            Some(Report::Ended(ended)) => JobEnd {
                end: End::of(ended.code, ended.signal),
                leftovers: ended.leftovers,
                survivors: ended.survivors,
                asked: ended.asked,
                unkept: ended.unkept,
            },
            _ => {
                let survivors = end_all_of(&self.keeper, self.mark, self.alone.as_ref(), self.grace);
                self.end_group();
                JobEnd { end: End::Lost, leftovers: 0, survivors, asked: false, unkept: None }
            }
        };
        drop(self.over);
        (end, Leaving(self.keeper))
    }

    /// Ends the command's process group, which is all that can be found where nothing is marked.
    fn end_group(&self) {
        // A number that was given to somebody else meanwhile is not in the keeper's session. (A session's number
        // is not given away while one of its processes lives.)
        let keeper = Pid::from_child(&self.keeper).as_raw_pid();
        if session(self.pid).is_some_and(|session| session != keeper) {
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
