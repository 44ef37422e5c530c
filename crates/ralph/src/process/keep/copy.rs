//! What the command prints, kept in files before it is passed on to ralph.
//!
//! Here and not in ralph: what an agent has said, and what it says it has spent, must not be lost with a ralph that is
//! killed between reading and writing it. When ralph is gone, the files alone are filled, up to the command's end.

use std::fs::File;
use std::io::{self, PipeWriter, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::thread::{self, JoinHandle};

use crate::point;
use crate::process::Output;
use crate::store;

/// Copying, until the command is gone.
pub(super) struct Copies {
    /// Closed when the command is gone.
    over: PipeWriter,
    threads: Vec<JoinHandle<io::Result<()>>>,
}

/// Where the command is to write to instead of `streams`.
pub(super) fn start(streams: [OwnedFd; 2], files: &[PathBuf; 2]) -> io::Result<([OwnedFd; 2], Copies)> {
    let (is_over, over) = io::pipe()?;
    let mut threads = Vec::new();
    let mut ends = Vec::new();
    for (stream, path) in streams.into_iter().zip(files) {
        let (pipe, end) = io::pipe()?;
        let (file, output) = (open(path)?, Output::new(pipe, is_over.try_clone()?));
        let path = path.clone();
        threads.push(thread::Builder::new().spawn(move || copy(output, file, &path, stream.into()))?);
        ends.push(OwnedFd::from(end));
    }
    match <[OwnedFd; 2]>::try_from(ends) {
        Ok(ends) => Ok((ends, Copies { over, threads })),
        Err(_) => Err(io::Error::other("there are two streams")),
    }
}

impl Copies {
    /// What was printed is in the files when this returns, or why it is not.
    pub(super) fn finish(self) -> io::Result<()> {
        drop(self.over);
        let kept = self.threads.into_iter().map(|thread| thread.join().unwrap_or(Ok(())));
        kept.fold(Ok(()), Result::and)
    }
}

fn open(path: &Path) -> io::Result<File> {
    store::open_itself("keeper: open", path, File::options().read(true).append(true).mode(0o600))
}

fn copy(mut from: Output, mut file: File, path: &Path, ralph: PipeWriter) -> io::Result<()> {
    let mut ralph = Some(ralph);
    let mut buffer = vec![0; 256 << 10];
    let mut kept = Ok(());
    loop {
        let read = match from.read(&mut buffer) {
            // An agent may have taken its own transcript away.
            Ok(0) => return kept.and_then(|()| store::put_back_if_gone(path, &mut file)),
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return kept.and(Err(error)),
        };
        // A full disk must not leave the command hanging on a full pipe: go on reading, and tell at the end.
        if kept.is_ok() {
            kept = point::file("keeper: write", path).and_then(|()| file.write_all(&buffer[..read]));
        }
        ralph = ralph.filter(|mut ralph| ralph.write_all(&buffer[..read]).is_ok());
    }
}
