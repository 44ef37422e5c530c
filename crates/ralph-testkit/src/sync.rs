//! Points where a scripted agent and the test meet, so that no test has to guess with a sleep.
//!
//! A point is a named pipe which the sandbox holds open at both ends: the agent never blocks when it tells
//! ("I am here"), and blocks exactly as long as the test wants when it is held.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

pub(crate) struct Points {
    folder: PathBuf,
    open: Mutex<BTreeMap<String, Arc<File>>>,
}

impl Points {
    pub(crate) fn new(folder: PathBuf) -> Self {
        Points { folder, open: Mutex::default() }
    }

    /// The pipe of that name, made on first use.
    pub(crate) fn pipe(&self, name: &str) -> (PathBuf, Arc<File>) {
        let path = self.folder.join(name);
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let file = open.entry(name.to_owned()).or_insert_with(|| Arc::new(make_pipe(&path)));
        (path, Arc::clone(file))
    }

    #[track_caller]
    pub(crate) fn wait_for(&self, name: &str, limit: Duration) {
        let (_, pipe) = self.pipe(name);
        let mut fds = [PollFd::new(&*pipe, PollFlags::IN)];
        let timeout = Timespec::try_from(limit).expect("a time limit that fits");
        let ready = poll(&mut fds, Some(&timeout)).expect("poll on a named pipe");
        assert!(ready == 1, "no agent reached the point '{name}' within {limit:?}");
        // One byte a visit, so that an agent may pass the same point in several iterations.
        (&*pipe).read_exact(&mut [0]).expect("read from a named pipe");
    }

    pub(crate) fn release(&self, name: &str) {
        let (_, pipe) = self.pipe(name);
        (&*pipe).write_all(b"\n").expect("write to a named pipe");
    }
}

fn make_pipe(path: &Path) -> File {
    let status = Command::new("mkfifo").arg(path).status().expect("start mkfifo");
    assert!(status.success(), "mkfifo {} failed", path.display());
    OpenOptions::new().read(true).write(true).open(path).expect("open a named pipe at both ends")
}
