//! Short helpers, run to their end: all they print is collected.

use std::fs::File;
use std::io::{self, Read, Write};
use std::mem;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};
use rustix::io::{ioctl_fionbio, ioctl_fionread};
use rustix::process::{Pid, Signal, kill_process_group};

use super::ready::{exit_of, wait_ready};
use super::{End, SpawnError, Spec, Stdin};
use crate::point;

/// What a helper printed and how it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Captured {
    pub end: End,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
}

/// Runs a helper to its end. It stays in ralph's process group, so that git can ask for a passphrase on the
/// terminal and Ctrl-C reaches it.
pub fn capture(spec: &Spec) -> Result<Captured, SpawnError> {
    run(spec, None)
}

/// Runs a helper for at most `limit`; then it is killed with its process group and its end is
/// [`End::TimedOut`]. What it printed until then is kept.
pub fn capture_for(spec: &Spec, limit: Duration) -> Result<Captured, SpawnError> {
    run(spec, Some(limit))
}

/// Starts a helper before it is known what it is to read, so that its start costs no time then. `spec` says nothing about
/// its standard input.
pub fn begin(spec: &Spec) -> Result<Begun, SpawnError> {
    let spec = Spec { stdin: Stdin::Bytes(Vec::new()), ..spec.clone() };
    Ok(Begun { child: Some(spawn(&spec, false)?), spec })
}

/// A helper that waits for its input. Dropped, it gets none, and is waited for.
#[derive(Debug)]
pub struct Begun {
    child: Option<Child>,
    spec: Spec,
}

impl Begun {
    pub fn finish(mut self, stdin: Vec<u8>) -> Result<Captured, SpawnError> {
        let Some(child) = self.child.take() else { unreachable!("it is taken once") };
        self.spec.stdin = Stdin::Bytes(stdin);
        finish(&self.spec, child, None)
    }
}

impl Drop for Begun {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            // Nobody reads what it prints; waiting closes its standard input first.
            drop((child.stdout.take(), child.stderr.take()));
            let _ = child.wait();
        }
    }
}

fn run(spec: &Spec, limit: Option<Duration>) -> Result<Captured, SpawnError> {
    let deadline = limit.and_then(|limit| Instant::now().checked_add(limit));
    let child = spawn(spec, limit.is_some())?;
    finish(spec, child, deadline)
}

fn spawn(spec: &Spec, own_group: bool) -> Result<Child, SpawnError> {
    let mut command = spec.command();
    command.args(&spec.args).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.stdin(match &spec.stdin {
        Stdin::Null => Stdio::null(),
        Stdin::File(file) => {
            File::open(file).map_err(|error| SpawnError::stdin(file, error.to_string()))?.into()
        }
        Stdin::Bytes(_) => Stdio::piped(),
    });
    if own_group {
        command.process_group(0);
    }
    for name in point::VARIABLES {
        command.env_remove(name);
    }
    let spawned = point::call("start", &spec.program, &spec.args).and_then(|()| command.spawn());
    spawned.map_err(|error| spec.spawn_error(&error))
}

fn finish(spec: &Spec, mut child: Child, deadline: Option<Instant>) -> Result<Captured, SpawnError> {
    let mut pipes = Pipes::of(&mut child, &spec.stdin);
    let captured = point::call("wait for", &spec.program, &spec.args)
        .and_then(|()| collect(&mut child, &mut pipes, deadline));
    captured.map_err(|error| {
        see_off(&mut child, pipes, deadline);
        spec.start_error(io::ErrorKind::Other, format!("lost touch with it: {error}"))
    })
}

/// Lets it come to its own end, with all that it is to read, so that it is gone when the caller goes on. It gets no signal: a
/// git that is asked to end between making a lock and noting that it did leaves the lock in the user's repository.
fn see_off(child: &mut Child, mut pipes: Pipes<'_>, deadline: Option<Instant>) {
    if let Ok(None) = child.try_wait()
        && collect(child, &mut pipes, deadline).is_err()
        && deadline.is_some()
    {
        // Nobody can tell when its time is over.
        let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
    }
    drop(pipes);
    let _ = child.wait();
}

/// Feeds and reads the child until it has exited. Not until end of file: a background process that it left may
/// hold the pipes open for ever.
fn collect(child: &mut Child, pipes: &mut Pipes<'_>, deadline: Option<Instant>) -> io::Result<Captured> {
    let pid = Pid::from_child(child);
    let exit = exit_of(pid)?;
    if let (Some(stdin), _) = &pipes.stdin {
        ioctl_fionbio(stdin, true)?;
    }
    let mut deadline = deadline;
    let mut timed_out = false;
    loop {
        match pipes.wait(&exit, deadline)? {
            Ready::Pipes(ready) => pipes.advance(ready)?,
            Ready::Exit => break,
            Ready::Deadline => {
                // The child is not reaped yet, so this number is still its group.
                let _ = kill_process_group(pid, Signal::KILL);
                (timed_out, deadline) = (true, None);
            }
        }
    }
    let status = child.wait()?;
    pipes.drain()?;
    let end = if timed_out { End::TimedOut } else { status.into() };
    Ok(Captured { end, stdout: mem::take(&mut pipes.stdout.1), stderr: mem::take(&mut pipes.stderr.1) })
}

/// Our ends of the child's standard streams. A stream that is done is closed and `None`.
struct Pipes<'a> {
    stdin: (Option<ChildStdin>, &'a [u8]),
    stdout: (Option<ChildStdout>, Vec<u8>),
    stderr: (Option<ChildStderr>, Vec<u8>),
}

enum Ready {
    Exit,
    Deadline,
    Pipes([bool; 3]),
}

impl<'a> Pipes<'a> {
    fn of(child: &mut Child, stdin: &'a Stdin) -> Pipes<'a> {
        let bytes = if let Stdin::Bytes(bytes) = stdin { bytes.as_slice() } else { &[] };
        Pipes {
            stdin: (child.stdin.take().filter(|_| !bytes.is_empty()), bytes),
            stdout: (child.stdout.take(), Vec::new()),
            stderr: (child.stderr.take(), Vec::new()),
        }
    }

    /// Waits for the next thing to happen. The exit comes before the pipes: all that the child wrote is in them
    /// by then, so draining them ends it even if somebody else goes on writing.
    fn wait(&self, exit: &OwnedFd, deadline: Option<Instant>) -> io::Result<Ready> {
        let streams: [(Option<BorrowedFd<'_>>, PollFlags); 3] = [
            (self.stdin.0.as_ref().map(AsFd::as_fd), PollFlags::OUT),
            (self.stdout.0.as_ref().map(AsFd::as_fd), PollFlags::IN),
            (self.stderr.0.as_ref().map(AsFd::as_fd), PollFlags::IN),
        ];
        let mut fds = vec![PollFd::new(exit, PollFlags::IN)];
        for (fd, flags) in &streams {
            fds.extend(fd.map(|fd| PollFd::from_borrowed_fd(fd, *flags)));
        }
        if !wait_ready(&mut fds, deadline)? {
            return Ok(Ready::Deadline);
        }
        let mut ready = fds.iter().map(|fd| !fd.revents().is_empty());
        if ready.next() == Some(true) {
            return Ok(Ready::Exit);
        }
        Ok(Ready::Pipes(streams.map(|(fd, _)| fd.is_some() && ready.next() == Some(true))))
    }

    fn advance(&mut self, [stdin, stdout, stderr]: [bool; 3]) -> io::Result<()> {
        if stdin {
            feed(&mut self.stdin)?;
        }
        if stdout {
            read_some(&mut self.stdout)?;
        }
        if stderr {
            read_some(&mut self.stderr)?;
        }
        Ok(())
    }

    /// Takes what is in the pipes now that the child has exited.
    fn drain(&mut self) -> io::Result<()> {
        drain(&mut self.stdout)?;
        drain(&mut self.stderr)
    }
}

fn feed((pipe, bytes): &mut (Option<ChildStdin>, &[u8])) -> io::Result<()> {
    let Some(stdin) = pipe else { return Ok(()) };
    match stdin.write(bytes) {
        Ok(count) => *bytes = &bytes[count..],
        Err(error) if is_passing(&error) => {}
        // A helper may end without reading all of it.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => *bytes = &[],
        Err(error) => return Err(error),
    }
    if bytes.is_empty() {
        *pipe = None;
    }
    Ok(())
}

fn read_some<P: Read>((pipe, bytes): &mut (Option<P>, Vec<u8>)) -> io::Result<()> {
    let Some(reader) = pipe else { return Ok(()) };
    let mut buffer = [0; 64 * 1024];
    match reader.read(&mut buffer) {
        Ok(0) => *pipe = None,
        Ok(count) => bytes.extend_from_slice(&buffer[..count]),
        Err(error) if is_passing(&error) => {}
        Err(error) => return Err(error),
    }
    Ok(())
}

fn drain<P: Read + AsFd>((pipe, bytes): &mut (Option<P>, Vec<u8>)) -> io::Result<()> {
    if let Some(reader) = pipe.take() {
        let left = ioctl_fionread(&reader)?;
        reader.take(left).read_to_end(bytes)?;
    }
    Ok(())
}

fn is_passing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}
