//! What a captured helper starts in turn. git runs programs that a repository names (filters of `.gitattributes`); an agent can
//! name them too, and nobody keeps them. So they get a time, or none any more where somebody is in a hurry, and what they leave
//! behind is ended. git itself gets no signal: with its filter gone it comes to its own end. But where an agent leaves a named
//! pipe in place of a file that git reads (`.gitignore`), git itself waits for ever: a helper that only looks, or writes nothing
//! but what is ralph's, is expendable, and is ended then.
//!
//! One that is only slow is let go on for a minute in a hurry: it has work to do, on a slow disk or in a big repository.
//!
//! What a helper started and what it waits for is found on Linux only; elsewhere an expendable one is ended when its time is
//! over, and any other is waited for.

use std::io::{self, PipeReader, PipeWriter, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};
use rustix::process::{Pid, Signal, kill_process};

use super::Mark;
use super::ready::wait_ready;

/// How long to wait for the programs that a helper starts.
#[derive(Debug, Clone)]
pub struct Patience {
    pub limit: Duration,
    pub hurry: Option<Hurry>,
    /// The helper itself may be ended, where time is over and it does not come to its own end.
    pub expendable: bool,
}

impl Patience {
    /// A helper may start one program after the other, each of which hangs: when time is over it is looked for them this often.
    pub(super) const AGAIN: Duration = Duration::from_millis(100);
    /// What has work for a moment may finish it, though somebody is in a hurry.
    pub(super) const MOMENT: Duration = Duration::from_secs(2);
    /// How long an expendable helper itself may go on then, if it does not wait for a pipe.
    const MINUTE: Duration = Duration::from_secs(60);
    /// How often it is looked whether an expendable helper waits for a named pipe. Twice in a row, and nobody will come.
    const LOOK: Duration = Duration::from_secs(2);
}

/// Waiting for a helper with patience.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wait<'a> {
    /// When to look after it again.
    pub(super) next: Instant,
    /// From when on nobody waits any longer for what it started.
    over: Instant,
    /// And from when on not for itself.
    own_end: Instant,
    pub(super) hurry: Option<&'a Hurry>,
    expendable: bool,
    /// It waited for a pipe when it was last looked after.
    stuck: bool,
}

/// What a look came to.
#[derive(Debug, Default)]
pub(super) struct Looked {
    /// How many programs of the helper's were ended.
    pub(super) ended: usize,
    /// So was the helper, or what is the same program below it.
    pub(super) gave_up: bool,
}

impl<'a> Wait<'a> {
    pub(super) fn new(patience: &'a Patience, limit: Duration) -> Self {
        let now = Instant::now();
        let wait = Wait {
            next: now,
            over: now + limit,
            own_end: now + limit + Patience::MOMENT,
            hurry: patience.hurry.as_ref(),
            expendable: patience.expendable,
            stuck: false,
        };
        wait.later(now)
    }

    /// Nobody wants to wait for more than a moment.
    pub(super) fn hurried(self) -> Self {
        let now = Instant::now();
        let over = self.over.min(now + Patience::MOMENT);
        let own_end = self.own_end.min(now + Patience::MINUTE);
        Wait { over, own_end, hurry: None, ..self }.later(now)
    }

    fn later(self, now: Instant) -> Self {
        let next = if self.expendable { self.over.min(now + Patience::LOOK) } else { self.over };
        Wait { next, ..self }
    }

    /// Looks after a helper when it is time to.
    pub(super) fn look(&mut self, helper: Pid) -> Looked {
        let now = Instant::now();
        let stuck = self.expendable && waits_for_a_pipe(helper);
        let stays_stuck = std::mem::replace(&mut self.stuck, stuck) && stuck;
        if now < self.over {
            if stays_stuck {
                (self.over, self.own_end) = (now, now);
                self.next = now + Patience::AGAIN;
                return Looked { ended: 0, gave_up: give_up(helper) };
            }
            *self = self.later(now);
            return Looked::default();
        }
        self.next = now + Patience::AGAIN;
        let ended = end_below(helper);
        // With nothing to wait for it may be about to end.
        let alone = ended == 0 && (stays_stuck || now >= self.own_end);
        Looked { ended, gave_up: alone && self.expendable && give_up(helper) }
    }
}

/// Ends what is below a helper; where there is nothing, itself. So it can reap what it started.
fn give_up(helper: Pid) -> bool {
    end_all_below(helper) > 0 || kill_process(helper, Signal::KILL).is_ok()
}

/// Tells those who wait, in whatever thread, that nobody wants to wait any longer.
#[derive(Debug, Clone)]
pub struct Hurry(Arc<(PipeReader, PipeWriter)>);

impl Hurry {
    pub fn new() -> io::Result<Self> {
        Ok(Self(Arc::new(io::pipe()?)))
    }

    /// From now on and for good.
    pub fn up(&self) {
        // A full pipe has said it often enough.
        let _ = (&self.0.1).write(&[1]);
    }

    pub fn is_up(&self) -> bool {
        let told = PollFd::from_borrowed_fd(self.told(), PollFlags::IN);
        wait_ready(&mut [told], Some(Instant::now())).unwrap_or(false)
    }

    /// Can be read when there is a hurry.
    pub(super) fn told(&self) -> BorrowedFd<'_> {
        self.0.0.as_fd()
    }
}

/// Ends what a helper left behind: programs that it started and that are nobody's now. They wear the mark of helpers, and have come to
/// this process, if it is a reaper. No helper with the mark may run meanwhile.
pub fn end_left(mark: Mark) {
    left::end(mark.of_helpers());
}

#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
use linux::{end_all_below, end_below, waits_for_a_pipe};
#[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
use other::{end_all_below, end_below, waits_for_a_pipe};

#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
use linux as left;
#[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
use other as left;

#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod linux {
    use std::ffi::OsStr;
    use std::os::fd::OwnedFd;
    use std::os::unix::fs::MetadataExt;
    use std::path::{Path, PathBuf};
    use std::time::Instant;

    use rustix::event::{PollFd, PollFlags};
    use rustix::process::{Pid, PidfdFlags, Signal, WaitOptions, pidfd_open, pidfd_send_signal, waitpid};

    use crate::process::KILL_PATIENCE;
    use crate::process::children::{Child, list, of};
    use crate::process::mark::{Mark, worn_by};
    use crate::process::ready::wait_ready;

    /// Ends the programs below a helper, but for those that are the same program: git asks git about a submodule. How many there
    /// were.
    pub(super) fn end_below(helper: Pid) -> usize {
        end_some_below(helper, &|child| !is_like(child, helper))
    }

    /// Ends all programs below a helper.
    pub(super) fn end_all_below(helper: Pid) -> usize {
        end_some_below(helper, &|_| true)
    }

    fn end_some_below(helper: Pid, is_meant: &dyn Fn(Pid) -> bool) -> usize {
        let mut ended = 0;
        for child in of(helper).into_iter().filter(|child| child.alive) {
            ended += end_some_below(child.pid, is_meant);
            if is_meant(child.pid) {
                let is_its = |now| of(helper).iter().any(|child| child.pid == now);
                ended += usize::from(kill(child.pid, is_its).is_some());
            }
        }
        ended
    }

    /// The same program as the helper, or one of its name: where the git that ralph starts is somebody's script, the one that it
    /// starts is another program.
    fn is_like(pid: Pid, helper: Pid) -> bool {
        program(pid) == program(helper) || has_its_name(pid, helper)
    }

    /// The file that it runs, by device and inode: names are anybody's choice.
    fn program(pid: Pid) -> Option<(u64, u64)> {
        let file = std::fs::metadata(of_process(pid, "exe")).ok()?;
        Some((file.dev(), file.ino()))
    }

    /// Of a script the kernel tells its own name, and not that of the shell.
    fn has_its_name(pid: Pid, helper: Pid) -> bool {
        let file = std::fs::read_link(of_process(pid, "exe"));
        let name = std::fs::read_to_string(of_process(helper, "comm"));
        file.ok()
            .zip(name.ok())
            .is_some_and(|(file, name)| file.file_name() == Some(OsStr::new(name.trim_end())))
    }

    /// Whether it, or one like it below it, opens a named pipe that nobody opens at the other end: the kernel tells where a thread
    /// waits. What else it started may have pipes of its own.
    pub(super) fn waits_for_a_pipe(pid: Pid) -> bool {
        let threads = std::fs::read_dir(of_process(pid, "task")).into_iter().flatten().flatten();
        let waits = |place: String| matches!(place.as_str(), "wait_for_partner" | "fifo_open");
        threads
            .map(|thread| thread.path().join("wchan"))
            .any(|file| std::fs::read_to_string(file).is_ok_and(waits))
            || of(pid).iter().any(|child| is_like(child.pid, pid) && waits_for_a_pipe(child.pid))
    }

    fn of_process(pid: Pid, name: &str) -> PathBuf {
        Path::new("/proc").join(pid.to_string()).join(name)
    }

    pub(super) fn end(mark: Mark) {
        let until = Instant::now() + KILL_PATIENCE;
        let mut before = None;
        loop {
            let children = list();
            let is_left = |pid| worn_by(pid) == Some(mark);
            let (left, exited): (Vec<&Child>, Vec<&Child>) =
                children.iter().filter(|child| is_left(child.pid)).partition(|child| child.alive);
            // Whoever started it is gone, so nobody else will reap it.
            for child in exited {
                let _ = waitpid(Some(child.pid), WaitOptions::NOHANG);
            }
            let mut found = false;
            for child in left {
                if let Some(process) = kill(child.pid, is_left) {
                    found = true;
                    // What it had started comes to us in turn. One that is stuck in the kernel is not waited for.
                    let _ = wait_ready(&mut [PollFd::new(&process, PollFlags::IN)], Some(until));
                    let _ = waitpid(Some(child.pid), WaitOptions::NOHANG);
                }
            }
            // While another thread reaps a child the kernel's list may lack one: it holds if it is the same again.
            let now: Vec<Pid> = children.iter().map(|child| child.pid).collect();
            if !found && before.as_ref() == Some(&now) || Instant::now() >= until {
                return;
            }
            before = Some(now);
        }
    }

    /// The number alone could be a stranger's by now; whoever has it and is the one that is meant is the one of the handle.
    fn kill(pid: Pid, is_meant: impl Fn(Pid) -> bool) -> Option<OwnedFd> {
        let process = pidfd_open(pid, PidfdFlags::empty()).ok()?;
        let killed = is_meant(pid) && pidfd_send_signal(&process, Signal::KILL).is_ok();
        killed.then_some(process)
    }
}

#[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
mod other {
    use rustix::process::Pid;

    use crate::process::mark::Mark;

    pub(super) fn end_below(_: Pid) -> usize {
        0
    }

    pub(super) fn end_all_below(_: Pid) -> usize {
        0
    }

    pub(super) fn waits_for_a_pipe(_: Pid) -> bool {
        false
    }

    pub(super) fn end(_: Mark) {}
}
