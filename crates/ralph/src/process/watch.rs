//! Waiting until files grow or come into being, a process that is not ours ends, or nobody listens any more: without asking again
//! and again.

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::{Duration, Instant};

/// Why the wait is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Woken {
    Changed,
    /// The process is gone, or whoever listened.
    Ended,
    /// The time is over.
    Time,
}

/// An end that is waited for, and any number of files.
#[derive(Debug)]
pub struct Watch(system::Watch);

impl Watch {
    /// Until this process ends.
    pub fn new(pid: u32) -> io::Result<Self> {
        system::Watch::new(pid).map(Self)
    }

    /// Until nobody reads any more what is written there.
    pub fn while_read(output: OwnedFd) -> io::Result<Self> {
        system::Watch::while_read(output).map(Self)
    }

    /// A file, or all files in a folder. Twice is once.
    pub fn add(&self, path: &Path) -> io::Result<()> {
        self.0.add(path)
    }

    /// Changes count from the moment they are watched, so nothing is missed between two waits.
    pub fn wait(&self, longest: Option<Duration>) -> io::Result<Woken> {
        self.0.wait(longest.map(|longest| Instant::now() + longest))
    }
}

#[cfg(target_os = "linux")]
mod system {
    use super::{Instant, OwnedFd, Path, Woken, io};
    use crate::process::ready::wait_ready;
    use rustix::event::{PollFd, PollFlags};
    use rustix::fs::inotify::{CreateFlags, WatchFlags, add_watch, init};
    use rustix::io::Errno;
    use rustix::process::{Pid, PidfdFlags, pidfd_open};

    #[derive(Debug)]
    pub(super) struct Watch {
        files: OwnedFd,
        end: OwnedFd,
        /// What tells of the end; that nobody reads any more is told unasked.
        tells: PollFlags,
    }

    impl Watch {
        pub(super) fn new(pid: u32) -> io::Result<Self> {
            let pid = i32::try_from(pid).ok().and_then(Pid::from_raw).ok_or(io::ErrorKind::InvalidInput)?;
            Self::until(pidfd_open(pid, PidfdFlags::empty())?, PollFlags::IN)
        }

        pub(super) fn while_read(output: OwnedFd) -> io::Result<Self> {
            Self::until(output, PollFlags::empty())
        }

        fn until(end: OwnedFd, tells: PollFlags) -> io::Result<Self> {
            Ok(Self { files: init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?, end, tells })
        }

        pub(super) fn add(&self, path: &Path) -> io::Result<()> {
            let changes = WatchFlags::MODIFY | WatchFlags::CREATE | WatchFlags::MOVED_TO;
            add_watch(&self.files, path, changes)?;
            Ok(())
        }

        pub(super) fn wait(&self, until: Option<Instant>) -> io::Result<Woken> {
            let mut fds = [PollFd::new(&self.files, PollFlags::IN), PollFd::new(&self.end, self.tells)];
            if !wait_ready(&mut fds, until)? {
                return Ok(Woken::Time);
            }
            if fds[0].revents().is_empty() {
                return Ok(Woken::Ended);
            }
            // What changed is read anew anyway; which file it was does not matter.
            let mut buffer = [0; 4096];
            loop {
                match rustix::io::read(&self.files, &mut buffer) {
                    Ok(_) | Err(Errno::INTR) => {}
                    Err(Errno::AGAIN) => return Ok(Woken::Changed),
                    Err(error) => return Err(error.into()),
                }
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use super::{Instant, OwnedFd, Path, Woken, io};

    #[derive(Debug)]
    pub(super) struct Watch;

    impl Watch {
        pub(super) fn new(_pid: u32) -> io::Result<Self> {
            Err(unsupported())
        }

        pub(super) fn while_read(_output: OwnedFd) -> io::Result<Self> {
            Err(unsupported())
        }

        pub(super) fn add(&self, _path: &Path) -> io::Result<()> {
            Err(io::ErrorKind::Unsupported.into())
        }

        pub(super) fn wait(&self, _until: Option<Instant>) -> io::Result<Woken> {
            Err(io::ErrorKind::Unsupported.into())
        }
    }

    fn unsupported() -> io::Error {
        io::Error::new(io::ErrorKind::Unsupported, "files can be watched on Linux only")
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::process::Stdio;

    use super::*;
    use crate::process::Spec;

    #[test]
    fn a_change_and_an_end_are_seen_and_nothing_else() {
        let sandbox = ralph_testkit::Sandbox::new();
        sandbox.write("a", "1");
        let mut cat = Spec::new("cat", "/").command().stdin(Stdio::piped()).spawn().expect("cat");
        let watch = Watch::new(cat.id()).expect("watched");
        watch.add(&sandbox.project().join("a")).expect("watched");
        watch.add(&sandbox.project()).expect("watched");
        assert!(watch.add(&sandbox.project().join("none")).is_err());
        let at_once = Some(Duration::ZERO);
        assert_eq!(watch.wait(at_once).expect("waited"), Woken::Time);
        sandbox.write("a", "2");
        assert_eq!(watch.wait(None).expect("waited"), Woken::Changed);
        sandbox.write("b", "new");
        assert_eq!(watch.wait(None).expect("waited"), Woken::Changed);
        drop(cat.stdin.take());
        assert_eq!(watch.wait(None).expect("waited"), Woken::Ended);
        cat.wait().expect("reaped");
    }

    #[test]
    fn a_folder_that_is_made_and_a_reader_that_leaves_are_seen() {
        let sandbox = ralph_testkit::Sandbox::new();
        let (reader, writer) = io::pipe().expect("a pipe");
        let watch = Watch::while_read(writer.into()).expect("watched");
        watch.add(&sandbox.project()).expect("watched");
        assert_eq!(watch.wait(Some(Duration::ZERO)).expect("waited"), Woken::Time);
        sandbox.write("new/file", "");
        assert_eq!(watch.wait(None).expect("waited"), Woken::Changed);
        drop(reader);
        assert_eq!(watch.wait(None).expect("waited"), Woken::Ended);
    }
}
