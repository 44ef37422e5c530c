//! Which processes belong to a sandbox: those that carry its marker in their environment, or work in its folder.
//!
//! Reads `/proc`, so it finds processes on Linux only; elsewhere the list is empty.

use std::fs;
use std::path::Path;
use std::time::Duration;

/// The variable that everything started in a sandbox inherits.
pub const MARKER: &str = "RALPH_TEST_SANDBOX";

/// All living processes of the sandbox but this one, zombies left out.
pub(super) fn of_sandbox(id: &str, root: &Path) -> Vec<(u32, String)> {
    let belongs = |pid: u32| carries(pid, id) || works_in(pid, root);
    all().filter(|&pid| belongs(pid)).map(|pid| (pid, command_line(pid))).collect()
}

/// Kills what carries the marker and waits until it is gone. Processes may start others meanwhile, hence the rounds.
pub(super) fn end_marked(id: &str) {
    for _ in 0..20 {
        let marked: Vec<u32> = all().filter(|&pid| carries(pid, id)).collect();
        if marked.is_empty() {
            return;
        }
        for &pid in &marked {
            kill(pid, id);
        }
        for &pid in &marked {
            wait_for_end(pid, Duration::from_secs(1));
        }
    }
}

fn all() -> impl Iterator<Item = u32> {
    let own = std::process::id();
    fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(move |&pid| pid != own)
}

fn carries(pid: u32, id: &str) -> bool {
    let wanted = format!("{MARKER}={id}");
    let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    environment.split(|&byte| byte == 0).any(|variable| variable == wanted.as_bytes())
}

/// Catches programs that overwrite their environment, or were started without one.
fn works_in(pid: u32, root: &Path) -> bool {
    fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|folder| folder.starts_with(root))
}

fn command_line(pid: u32) -> String {
    let bytes = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let words: Vec<_> = bytes.split(|&byte| byte == 0).map(String::from_utf8_lossy).collect();
    words.join(" ").trim_end().to_owned()
}

/// The process is pinned first and its marker read again, so that a number given to a new process meanwhile
/// cannot be hit.
#[cfg(target_os = "linux")]
fn kill(pid: u32, id: &str) {
    use rustix::process::{Signal, pidfd_send_signal};
    if let Some(process) = pin(pid)
        && carries(pid, id)
    {
        // It may have ended by itself: that is what we want.
        let _ = pidfd_send_signal(process, Signal::KILL);
    }
}

/// Blocks until the process has ended, at most for the limit.
#[cfg(target_os = "linux")]
pub(super) fn wait_for_end(pid: u32, limit: Duration) {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let Some(process) = pin(pid) else { return };
    let timeout = Timespec::try_from(limit).expect("a time limit that fits");
    // Woken too early or not at all: the caller looks at the list again.
    let _ = poll(&mut [PollFd::new(&process, PollFlags::IN)], Some(&timeout));
}

#[cfg(target_os = "linux")]
fn pin(pid: u32) -> Option<std::os::fd::OwnedFd> {
    use rustix::process::{Pid, PidfdFlags, pidfd_open};
    let pid = Pid::from_raw(i32::try_from(pid).ok()?)?;
    pidfd_open(pid, PidfdFlags::empty()).ok()
}

#[cfg(not(target_os = "linux"))]
fn kill(_pid: u32, _id: &str) {}

#[cfg(not(target_os = "linux"))]
pub(super) fn wait_for_end(_pid: u32, _limit: Duration) {}
