//! The keeper's side: starts the command, watches over it, leaves nothing of it behind.
//!
//! Three threads: one listens to ralph, one reaps, and the main thread decides and signals. They meet in one
//! channel, where the main thread blocks until something happens or a grace period is over.

mod copy;
mod family;
mod plan;

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::Instant;

use rustix::event::{PollFd, PollFlags};
use rustix::process::{Pid, WaitStatus, setsid};
use rustix::stdio::{dup2_stderr, dup2_stdout, stderr, stdin, stdout};

use super::children::become_reaper;
use super::mark::wear;
use super::ready::wait_ready;
use super::spec;
use super::wire::{END, END_NOW, Ended, Failure, Order, Report};
use crate::{point, store};
use copy::Copies;
use family::Family;
use plan::{Plan, Request};

/// What `ralph __keep` does: keep one command, which is named on standard input, the socket shared with ralph. Standard
/// output and error are the command's.
pub fn main(mut args: impl Iterator<Item = OsString>) -> ExitCode {
    // An older ralph gave its order as arguments, and would wait for ever for an answer.
    if args.next().is_some() {
        return ExitCode::from(64);
    }
    // One that is started ahead is not to be stopped or ended with ralph's group: Ctrl-C and Ctrl-Z are ralph's affair.
    if setsid().is_err() {
        return ExitCode::FAILURE;
    }
    call_yourself_keeper();
    let Ok(line) = stdin().try_clone_to_owned().map(UnixStream::from) else { return ExitCode::FAILURE };
    // A keeper that is started ahead may turn out not to be needed.
    let Some(order) = Order::read_from(&line) else { return ExitCode::from(64) };
    match keep(&order, &line) {
        Ok(()) => ExitCode::SUCCESS,
        // There is nobody to tell more: ralph is gone, or never was.
        Err(_) => ExitCode::FAILURE,
    }
}

fn keep(order: &Order, line: &UnixStream) -> io::Result<()> {
    let requests = line.try_clone()?;
    let _held = match order.hold.as_deref().map(hold).transpose() {
        Ok(held) => held,
        Err(error) => {
            let error = format!("its custody cannot be told: {error}");
            return Report::Failed { error, kind: Failure::Other }.write_to(line);
        }
    };
    // A later ralph that asked for the lock before we held it did not wait for us. It could ask only because ours was
    // dead, and then nothing may be started any more.
    if is_cut(line)? {
        return Ok(());
    }
    let (command, copies) = match begin(order) {
        Ok(begun) => begun,
        Err((kind, error)) => return Report::Failed { error: error.to_string(), kind }.write_to(line),
    };
    // If ralph cannot be told any more it is gone; the listener sees that too, and ends the command.
    let _ = point::pass("keeper: tell start");
    let _ = Report::Started { pid: raw(command) }.write_to(line);
    let mut ended = watch(command, order, requests);
    ended.unkept = copies.and_then(|copies| copies.finish().err()).map(|error| error.to_string());
    order.sign.iter().for_each(|file| store::sign_of_life(file));
    let _ = point::pass("keeper: tell end");
    Report::Ended(ended).write_to(line)
}

/// For those who look at a process list; started as /proc/self/exe we would be called "exe".
fn call_yourself_keeper() {
    if cfg!(target_os = "linux") {
        let name = File::options().write(true).open("/proc/self/comm");
        let _ = name.and_then(|mut name| name.write_all(b"ralph-keeper"));
    }
}

/// Tells a ralph that comes after that something is still kept here.
fn hold(file: &Path) -> io::Result<File> {
    let file = store::open_itself("keeper: hold", file, File::options().read(true).write(true))?;
    file.lock_shared()?;
    Ok(file)
}

/// Whether ralph is gone.
fn is_cut(line: &UnixStream) -> io::Result<bool> {
    let mut ready = [PollFd::new(line, PollFlags::IN)];
    wait_ready(&mut ready, Some(Instant::now()))?;
    Ok(ready[0].revents().contains(PollFlags::HUP))
}

/// Starts the command. The keeper left ralph's session, so neither Ctrl-C nor the terminal reaches it.
#[expect(clippy::disallowed_methods, reason = "this is the spawner")]
fn begin(order: &Order) -> Result<(Pid, Option<Copies>), (Failure, io::Error)> {
    let other = |error| (Failure::Other, error);
    let mut streams = hand_over_output().map_err(other)?;
    become_reaper().map_err(other)?;
    // Without a mark all is well as long as the keeper lives.
    let _ = order.mark.map(wear);
    std::env::set_current_dir(&order.cwd).map_err(|error| (Failure::Folder, error))?;
    let stdin = match &order.stdin {
        None if !order.fed.is_empty() => fed(&order.fed).map_err(|error| (Failure::Stdin, error))?,
        None => Stdio::null(),
        Some(file) => File::open(file).map_err(|error| (Failure::Stdin, error))?.into(),
    };
    let mut copies = None;
    if let Some(files) = &order.transcripts {
        let (ends, begun) = copy::start(streams, files).map_err(|error| {
            (Failure::Other, io::Error::new(error.kind(), format!("what it prints cannot be kept: {error}")))
        })?;
        (streams, copies) = (ends, Some(begun));
    }
    let [stdout, stderr] = streams;
    let mut command = Command::new(&order.program);
    command.args(&order.args).stdin(stdin).stdout(stdout).stderr(stderr).process_group(0);
    spec::set_variables(&mut command, &order.env);
    for name in point::VARIABLES {
        command.env_remove(name);
    }
    let child =
        point::pass("keeper: start").and_then(|()| command.spawn()).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => (Failure::NotFound, error),
            io::ErrorKind::PermissionDenied => (Failure::Permission, error),
            _ => (Failure::Other, error),
        })?;
    Ok((Pid::from_child(&child), copies))
}

/// A pipe that holds these bytes and then ends: nobody has to stay to feed it.
fn fed(bytes: &[u8]) -> io::Result<Stdio> {
    let (reader, mut writer) = io::pipe()?;
    writer.write_all(bytes)?;
    Ok(reader.into())
}

/// Gives up the keeper's own standard output and error for the command's sake: the keeper must neither write
/// there nor hold the pipes open.
fn hand_over_output() -> io::Result<[OwnedFd; 2]> {
    let stdout = stdout().try_clone_to_owned()?;
    let stderr = stderr().try_clone_to_owned()?;
    let null = File::options().read(true).write(true).open("/dev/null")?;
    dup2_stdout(&null)?;
    dup2_stderr(&null)?;
    Ok([stdout, stderr])
}

enum Event {
    Asked(Request),
    Reaped(Pid, WaitStatus),
    /// No child is left, and so no descendant.
    NoneLeft,
}

/// Watches until nothing of the command is left, or what is left cannot be ended.
fn watch(command: Pid, order: &Order, requests: UnixStream) -> Ended {
    let family = Arc::new(Family::new(command));
    let (tell, inbox) = mpsc::channel();
    thread::spawn({
        let tell = tell.clone();
        move || listen(requests, &tell)
    });
    thread::spawn({
        let family = Arc::clone(&family);
        move || {
            family.reap(|pid, status| drop(tell.send(Event::Reaped(pid, status))));
            let _ = tell.send(Event::NoneLeft);
        }
    });

    let mut plan = Plan::new(order.grace);
    let mut ended = Ended::default();
    let mut told = HashSet::new();
    let mut left = HashSet::new();
    loop {
        let signal_before = plan.signal();
        let first = next(&inbox, plan.deadline());
        let now = Instant::now();
        if first.is_none() {
            plan.time_is_up(now);
        }
        let mut none_left = false;
        for event in first.into_iter().chain(inbox.try_iter()) {
            match event {
                Event::Asked(request) => plan.asked_to_end(request, now),
                Event::Reaped(pid, status) => {
                    told.remove(&pid);
                    if pid == command {
                        (ended.code, ended.signal) = (status.exit_status(), status.terminating_signal());
                        plan.command_exited(now);
                    }
                }
                Event::NoneLeft => none_left = true,
            }
        }
        if none_left || plan.given_up() {
            break;
        }
        if plan.signal() != signal_before {
            told.clear();
        }
        if let Some(signal) = plan.signal() {
            let alive = family.signal(signal, &mut told);
            left.extend(alive.into_iter().filter(|_| plan.command_is_gone()));
        }
    }
    if plan.given_up() {
        ended.survivors = family.alive().into_iter().map(raw).collect();
    }
    left.retain(|pid| !ended.survivors.contains(&raw(*pid)));
    ended.leftovers = u32::try_from(left.len()).unwrap_or(u32::MAX);
    ended.asked = plan.was_asked();
    ended
}

/// The next event; `None` when the deadline came first.
fn next(inbox: &Receiver<Event>, deadline: Option<Instant>) -> Option<Event> {
    match deadline {
        // The senders go only after the last event, which is `NoneLeft`.
        None => Some(inbox.recv().unwrap_or(Event::NoneLeft)),
        Some(deadline) => inbox.recv_timeout(deadline.saturating_duration_since(Instant::now())).ok(),
    }
}

/// Passes on what ralph asks for, until ralph is gone.
fn listen(mut requests: UnixStream, tell: &Sender<Event>) {
    let mut byte = [0];
    loop {
        let request = match requests.read(&mut byte) {
            Ok(0) => Request::LineCut,
            Ok(_) if byte[0] == END => Request::End,
            Ok(_) if byte[0] == END_NOW => Request::EndNow,
            Ok(_) => continue,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => Request::LineCut,
        };
        if tell.send(Event::Asked(request)).is_err() || request == Request::LineCut {
            return;
        }
    }
}

fn raw(pid: Pid) -> u32 {
    pid.as_raw_pid().unsigned_abs()
}
