//! Running the real ralph binary: to its end, or beside the test so that it can be watched and killed.

mod finished;

pub use finished::{Finished, after_stamp, without_stamps};

pub(crate) use finished::exit_code;

use crate::LIMIT;
use crate::watched::Watched;
use finished::sections;
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};
use std::ffi::OsStr;
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// After the process ended, its output is read to the end; a child it left behind may hold the pipe open.
const DRAIN: Duration = Duration::from_secs(2);

/// ```no_run
/// # let sandbox = ralph_testkit::Sandbox::new();
/// # let exe = std::path::Path::new("ralph");
/// let finished = sandbox.ralph(exe).args(["run", "a goal"]).env("NO_COLOR", "1").run();
/// finished.assert_code(0).assert_stderr_has("COMPLETE");
/// ```
pub struct RalphCommand {
    command: Command,
    stdin: Option<Vec<u8>>,
    limit: Duration,
}

impl RalphCommand {
    pub(crate) fn new(command: Command) -> Self {
        RalphCommand { command, stdin: None, limit: LIMIT }
    }

    #[must_use]
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.command.arg(arg);
        self
    }

    #[must_use]
    pub fn args<S: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = S>) -> Self {
        self.command.args(args);
        self
    }

    #[must_use]
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    #[must_use]
    pub fn envs<K: AsRef<OsStr>, V: AsRef<OsStr>>(
        mut self,
        variables: impl IntoIterator<Item = (K, V)>,
    ) -> Self {
        self.command.envs(variables);
        self
    }

    /// A folder of the project to run in.
    #[must_use]
    pub fn in_folder(mut self, folder: &str) -> Self {
        let project = self.command.get_current_dir().expect("sandbox commands have a folder").to_path_buf();
        self.command.current_dir(project.join(folder));
        self
    }

    /// What stands on standard input; nothing unless said.
    #[must_use]
    pub fn stdin(mut self, text: impl Into<Vec<u8>>) -> Self {
        self.stdin = Some(text.into());
        self
    }

    /// How long any wait on this process may take, where [`LIMIT`] is not right.
    #[must_use]
    pub fn limit(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// The plain command, for a [`crate::Terminal`].
    pub fn into_command(self) -> Command {
        self.command
    }

    #[track_caller]
    pub fn run(self) -> Finished {
        self.spawn().wait()
    }

    #[track_caller]
    pub fn spawn(mut self) -> Running {
        let stdin = if self.stdin.is_some() { Stdio::piped() } else { Stdio::null() };
        self.command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child =
            self.command.spawn().unwrap_or_else(|error| panic!("start {:?}: {error}", self.command));
        if let (Some(text), Some(mut pipe)) = (self.stdin, child.stdin.take()) {
            // A program may end without reading all of it.
            thread::spawn(move || drop(pipe.write_all(&text)));
        }
        let seen = Arc::new(Watched::new(Seen::default()));
        follow(child.stdout.take().expect("piped"), &seen, |seen| &mut seen.stdout);
        follow(child.stderr.take().expect("piped"), &seen, |seen| &mut seen.stderr);
        let watcher = Arc::clone(&seen);
        when_ended(&child, move || watcher.update(|seen| seen.ended = true));
        Running { child, seen, limit: self.limit }
    }
}

/// What a process has shown of itself so far.
#[derive(Default)]
struct Seen {
    stdout: Stream,
    stderr: Stream,
    ended: bool,
}

#[derive(Default)]
struct Stream {
    bytes: Vec<u8>,
    closed: bool,
}

impl Stream {
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }
}

fn follow(
    mut pipe: impl Read + Send + 'static,
    seen: &Arc<Watched<Seen>>,
    pick: fn(&mut Seen) -> &mut Stream,
) {
    let seen = Arc::clone(seen);
    thread::spawn(move || {
        let mut buffer = [0; 8192];
        while let Ok(count @ 1..) = pipe.read(&mut buffer) {
            seen.update(|seen| pick(seen).bytes.extend_from_slice(&buffer[..count]));
        }
        seen.update(|seen| pick(seen).closed = true);
    });
}

/// Leaves the ended process to be collected by its handle, so that its number stays its own until then.
pub(crate) fn when_ended(child: &Child, then: impl FnOnce() + Send + 'static) {
    let pid = Pid::from_child(child);
    thread::spawn(move || {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while matches!(waitid(WaitId::Pid(pid), options), Err(Errno::INTR)) {}
        then();
    });
}

/// A process at work. Killed when dropped before its end.
pub struct Running {
    child: Child,
    seen: Arc<Watched<Seen>>,
    limit: Duration,
}

impl Running {
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Blocks until standard error shows the text, and gives back the whole line once it is complete.
    #[track_caller]
    pub fn wait_for_stderr(&self, text: &str) -> String {
        self.wait_for_line(text, "stderr", |seen| &seen.stderr)
    }

    #[track_caller]
    pub fn wait_for_stdout(&self, text: &str) -> String {
        self.wait_for_line(text, "stdout", |seen| &seen.stdout)
    }

    #[track_caller]
    fn wait_for_line(&self, text: &str, name: &str, pick: fn(&Seen) -> &Stream) -> String {
        let found = self.seen.wait(self.limit, |seen| {
            let shown = without_stamps(&pick(seen).text());
            let complete =
                shown.split_inclusive('\n').filter(|line| line.ends_with('\n') || pick(seen).closed);
            let line = complete.map(|line| line.trim_end_matches('\n')).find(|line| line.contains(text));
            line.map(|line| Ok(line.to_owned())).or_else(|| pick(seen).closed.then_some(Err("it closed")))
        });
        match found.unwrap_or(Err("the time limit passed")) {
            Ok(line) => line,
            Err(why) => panic!("{name} never showed {text:?}: {why}\n{}", self.so_far()),
        }
    }

    /// Sends a signal to the process itself, not to its children. An ended process is left alone.
    pub fn signal(&self, signal: Signal) {
        // Not collected yet, so the number is still ours even if it has just ended.
        let _ = kill_process(Pid::from_child(&self.child), signal);
    }

    pub fn kill9(&self) {
        self.signal(Signal::KILL);
    }

    /// Waits for its end, but not for longer than this; whether it has ended.
    pub fn ends_within(&self, time: Duration) -> bool {
        self.seen.wait(time, |seen| seen.ended.then_some(())).is_some()
    }

    /// Waits for the end of the process, not for the end of its output: something it left behind may keep
    /// that open.
    #[track_caller]
    pub fn wait(mut self) -> Finished {
        assert!(
            self.ends_within(self.limit),
            "the process did not end within {:?}\n{}",
            self.limit,
            self.so_far()
        );
        let status = self.child.wait().expect("collect an ended process");
        self.seen.wait(DRAIN, |seen| (seen.stdout.closed && seen.stderr.closed).then_some(()));
        self.seen.read(|seen| Finished::new(status, seen))
    }

    fn so_far(&self) -> String {
        self.seen.read(|seen| sections(&seen.stdout.text(), &seen.stderr.text()))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Both do nothing to a process that was waited for.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
