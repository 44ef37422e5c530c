//! Telling another ralph that there is something for it to read, and whether there is one.

use std::io;

use rustix::process::{Pid, Signal, kill_process, test_kill_process};

/// Sends SIGUSR1, unless `still` says that this is not the process that is meant any more. Asked when the process is
/// pinned down already, so that a number that is given anew meanwhile is never hit. False: nobody was told.
pub fn nudge(pid: u32, still: impl FnOnce() -> bool) -> io::Result<bool> {
    let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return Ok(false) };
    let sent = send(pid, still);
    match sent {
        Err(rustix::io::Errno::SRCH) => Ok(false),
        other => Ok(other?),
    }
}

/// Whether a process has this number.
pub fn is_there(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    pid.is_some_and(|pid| test_kill_process(pid) != Err(rustix::io::Errno::SRCH))
}

#[cfg(target_os = "linux")]
fn send(pid: Pid, still: impl FnOnce() -> bool) -> rustix::io::Result<bool> {
    use rustix::process::{PidfdFlags, pidfd_open, pidfd_send_signal};
    match pidfd_open(pid, PidfdFlags::empty()) {
        Ok(process) => {
            if !still() {
                return Ok(false);
            }
            pidfd_send_signal(&process, Signal::USR1).map(|()| true)
        }
        // An old kernel, or one that forbids it.
        Err(rustix::io::Errno::NOSYS | rustix::io::Errno::PERM) => by_number(pid, still),
        Err(error) => Err(error),
    }
}

#[cfg(not(target_os = "linux"))]
fn send(pid: Pid, still: impl FnOnce() -> bool) -> rustix::io::Result<bool> {
    by_number(pid, still)
}

fn by_number(pid: Pid, still: impl FnOnce() -> bool) -> rustix::io::Result<bool> {
    if still() { kill_process(pid, Signal::USR1).map(|()| true) } else { Ok(false) }
}
