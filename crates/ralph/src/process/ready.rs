//! Waiting for descriptors: pipes that can be read, and processes that have exited.

use std::io;
use std::os::fd::OwnedFd;
use std::time::Instant;

use rustix::event::{PollFd, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

/// Blocks until one of `fds` is ready or the deadline has passed; false for the latter.
pub(super) fn wait_ready(fds: &mut [PollFd<'_>], deadline: Option<Instant>) -> io::Result<bool> {
    loop {
        let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let timeout = left.and_then(|left| Timespec::try_from(left).ok());
        match poll(fds, timeout.as_ref()) {
            Ok(count) => return Ok(count > 0),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// A descriptor that becomes ready when the process has exited. It does not reap the process.
pub(super) fn exit_of(pid: Pid) -> io::Result<OwnedFd> {
    #[cfg(target_os = "linux")]
    if let Ok(fd) = rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()) {
        return Ok(fd);
    }
    exit_by_thread(pid)
}

/// The same for a child on systems without pidfd: a thread waits, and closes its end of a pipe.
fn exit_by_thread(pid: Pid) -> io::Result<OwnedFd> {
    let (ours, theirs) = io::pipe()?;
    std::thread::Builder::new().spawn(move || {
        wait_unreaped(&WaitId::Pid(pid));
        drop(theirs);
    })?;
    Ok(ours.into())
}

/// Blocks until such a child has exited, and leaves it to be reaped. False if there is no such child.
pub(super) fn wait_unreaped(id: &WaitId<'_>) -> bool {
    loop {
        match waitid(id.clone(), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT) {
            Ok(_) => return true,
            Err(Errno::INTR) => {}
            Err(_) => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::Stdio;
    use std::time::Duration;

    use rustix::event::PollFlags;

    use super::*;
    use crate::process::Spec;

    #[test]
    fn an_exit_is_seen_by_pidfd_and_by_thread_and_not_before_it_happens() {
        for watch in [exit_of, exit_by_thread] {
            let mut cat = Spec::new("cat", "/").command().stdin(Stdio::piped()).spawn().expect("cat");
            let exit = watch(Pid::from_child(&cat)).expect("watch");
            let mut fds = [PollFd::new(&exit, PollFlags::IN)];
            assert!(!wait_ready(&mut fds, Some(Instant::now() + Duration::from_millis(10))).expect("poll"));
            drop(cat.stdin.take());
            assert!(wait_ready(&mut fds, None).expect("poll"));
            assert!(cat.wait().expect("still there to be reaped").success());
        }
    }
}
