//! Makes what was written durable while something else is done. One thread for all records: to start one for each costs about
//! as much as the disk does.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;

use crate::point;

#[derive(Debug, Default)]
pub(super) struct Syncer {
    worker: Option<Worker>,
    /// Something was begun and not waited for.
    begun: bool,
}

#[derive(Debug)]
struct Worker {
    orders: Sender<File>,
    done: Receiver<io::Result<()>>,
}

impl Worker {
    fn start(sync: fn(&File) -> io::Result<()>) -> io::Result<Worker> {
        let (orders, inbox) = mpsc::channel::<File>();
        let (outbox, done) = mpsc::channel();
        let work = move || inbox.iter().all(|file| outbox.send(sync(&file)).is_ok());
        thread::Builder::new().name("journal".into()).spawn(work)?;
        Ok(Worker { orders, done })
    }
}

impl Syncer {
    /// Begins, when what was begun before is done. Where no thread can be had it is done at once.
    pub(super) fn begin(&mut self, file: &File, path: &Path) -> io::Result<()> {
        self.settle()?;
        point::file("sync", path)?;
        if self.worker.is_none() {
            self.worker = Worker::start(File::sync_data).ok();
        }
        let clone = file.try_clone()?;
        self.begun = self.worker.as_ref().is_some_and(|worker| worker.orders.send(clone).is_ok());
        if self.begun { Ok(()) } else { file.sync_data() }
    }

    pub(super) fn is_begun(&self) -> bool {
        self.begun
    }

    /// What was begun is durable when this returns.
    pub(super) fn settle(&mut self) -> io::Result<()> {
        if !std::mem::take(&mut self.begun) {
            return Ok(());
        }
        let done = self.worker.as_ref().and_then(|worker| worker.done.recv().ok());
        done.unwrap_or_else(|| Err(io::Error::other("the thread that syncs it failed")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_synced_and_a_failure_is_told_once() {
        let sandbox = ralph_testkit::Sandbox::new();
        sandbox.write("a", "1");
        let path = sandbox.project().join("a");
        let file = File::open(&path).expect("a file");
        let mut syncer = Syncer::default();
        for _ in 0..3 {
            syncer.begin(&file, &path).expect("begun");
            assert!(syncer.is_begun());
        }
        syncer.settle().expect("durable");
        assert!(!syncer.is_begun());
        // A pipe cannot be made durable.
        let (pipe, _end) = io::pipe().expect("a pipe");
        syncer.begin(&File::from(std::os::fd::OwnedFd::from(pipe)), &path).expect("begun");
        syncer.settle().expect_err("told");
        syncer.settle().expect("once");
        syncer.begin(&file, &path).and_then(|()| syncer.settle()).expect("and it goes on");
    }
}
