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

use super::helpers::Wait;
use super::ready::{exit_of, wait_ready};
use super::{End, Hurry, Mark, SpawnError, Spec, Stdin, mark};
use crate::point;

/// What a helper printed and how it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Captured {
    pub end: End,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    /// How many programs that it had started were ended, because they took too long.
    pub ended: usize,
    /// It did not come to its own end, and was ended itself.
    pub gave_up: bool,
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
            drop((child.stdin.take(), child.stdout.take(), child.stderr.take()));
            let until = self
                .spec
                .patience
                .as_ref()
                .map(|patience| Until::Helpers(Wait::new(patience, Duration::ZERO)));
            see_off(&mut child, Pipes::of_nobody(), until.unwrap_or(Until::Exit));
        }
    }
}

/// How long a helper is waited for.
#[derive(Debug, Clone, Copy)]
enum Until<'a> {
    Exit,
    /// Then it is killed.
    Killed(Instant),
    /// When its time is over, or where somebody is in a hurry, the programs that it has started are ended; itself only if it is
    /// expendable.
    Helpers(Wait<'a>),
}

impl<'a> Until<'a> {
    fn of(spec: &'a Spec, limit: Option<Duration>) -> Self {
        match (limit.and_then(|limit| Instant::now().checked_add(limit)), &spec.patience) {
            (Some(deadline), _) => Until::Killed(deadline),
            (None, Some(patience)) => Until::Helpers(Wait::new(patience, patience.limit)),
            (None, None) => Until::Exit,
        }
    }

    fn deadline(self) -> Option<Instant> {
        match self {
            Until::Exit => None,
            Until::Killed(at) => Some(at),
            Until::Helpers(wait) => Some(wait.next),
        }
    }

    fn hurry(self) -> Option<&'a Hurry> {
        if let Until::Helpers(wait) = self { wait.hurry } else { None }
    }
}

fn run(spec: &Spec, limit: Option<Duration>) -> Result<Captured, SpawnError> {
    let child = spawn(spec, limit.is_some())?;
    finish(spec, child, limit)
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
    let mark = spec.mark.map(Mark::of_helpers);
    let spawned = point::call("start", &spec.program, &spec.args)
        .and_then(|()| mark::started_with(mark, || command.spawn()));
    spawned.map_err(|error| spec.spawn_error(&error))
}

fn finish(spec: &Spec, mut child: Child, limit: Option<Duration>) -> Result<Captured, SpawnError> {
    let until = Until::of(spec, limit);
    let mut pipes = Pipes::of(&mut child, &spec.stdin);
    let captured = point::call("wait for", &spec.program, &spec.args)
        .and_then(|()| collect(&mut child, &mut pipes, until));
    captured.map_err(|error| {
        see_off(&mut child, pipes, until);
        spec.start_error(io::ErrorKind::Other, format!("lost touch with it: {error}"))
    })
}

/// Lets it come to its own end, with all that it is to read, so that it is gone when the caller goes on. It gets no signal, unless it
/// is expendable: a git that is asked to end between making a lock and noting that it did leaves the lock in the user's repository.
fn see_off(child: &mut Child, mut pipes: Pipes<'_>, until: Until<'_>) {
    if let Ok(None) = child.try_wait()
        && collect(child, &mut pipes, until).is_err()
        && matches!(until, Until::Killed(_))
    {
        // Nobody can tell when its time is over.
        let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
    }
    drop(pipes);
    let _ = child.wait();
}

/// Feeds and reads the child until it has exited. Not until end of file: a background process that it left may
/// hold the pipes open for ever.
fn collect(child: &mut Child, pipes: &mut Pipes<'_>, until: Until<'_>) -> io::Result<Captured> {
    let pid = Pid::from_child(child);
    let exit = exit_of(pid)?;
    if let (Some(stdin), _) = &pipes.stdin {
        ioctl_fionbio(stdin, true)?;
    }
    let mut until = until;
    let (mut timed_out, mut ended, mut gave_up) = (false, 0, false);
    loop {
        match (pipes.wait(&exit, until)?, &mut until) {
            (Ready::Pipes(ready), _) => pipes.advance(ready)?,
            (Ready::Exit, _) => break,
            (Ready::Hurry | Ready::Deadline, Until::Exit) => {}
            (Ready::Hurry, Until::Helpers(wait)) => *wait = wait.hurried(),
            (Ready::Deadline, Until::Helpers(wait)) => {
                let looked = wait.look(pid);
                ended += looked.ended;
                gave_up |= looked.gave_up;
            }
            (Ready::Hurry | Ready::Deadline, Until::Killed(_)) => {
                // The child is not reaped yet, so this number is still its group.
                let _ = kill_process_group(pid, Signal::KILL);
                (timed_out, until) = (true, Until::Exit);
            }
        }
    }
    let status = child.wait()?;
    pipes.drain()?;
    let end = if timed_out { End::TimedOut } else { status.into() };
    let (stdout, stderr) = (mem::take(&mut pipes.stdout.1), mem::take(&mut pipes.stderr.1));
    Ok(Captured { end, stdout, stderr, ended, gave_up })
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
    Hurry,
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

    fn of_nobody() -> Self {
        Pipes { stdin: (None, &[]), stdout: (None, Vec::new()), stderr: (None, Vec::new()) }
    }

    /// Waits for the next thing to happen. The exit comes before the pipes: all that the child wrote is in them
    /// by then, so draining them ends it even if somebody else goes on writing.
    fn wait(&self, exit: &OwnedFd, until: Until<'_>) -> io::Result<Ready> {
        let streams: [(Option<BorrowedFd<'_>>, PollFlags); 3] = [
            (self.stdin.0.as_ref().map(AsFd::as_fd), PollFlags::OUT),
            (self.stdout.0.as_ref().map(AsFd::as_fd), PollFlags::IN),
            (self.stderr.0.as_ref().map(AsFd::as_fd), PollFlags::IN),
        ];
        let mut fds = vec![PollFd::new(exit, PollFlags::IN)];
        for (fd, flags) in &streams {
            fds.extend(fd.map(|fd| PollFd::from_borrowed_fd(fd, *flags)));
        }
        fds.extend(until.hurry().map(|hurry| PollFd::from_borrowed_fd(hurry.told(), PollFlags::IN)));
        if !wait_ready(&mut fds, until.deadline())? {
            return Ok(Ready::Deadline);
        }
        let is_ready = |fd: &PollFd<'_>| !fd.revents().is_empty();
        let mut ready = fds.iter().map(is_ready);
        if ready.next() == Some(true) {
            return Ok(Ready::Exit);
        }
        if until.hurry().is_some() && fds.last().is_some_and(is_ready) {
            return Ok(Ready::Hurry);
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
