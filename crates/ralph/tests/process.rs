//! Commands in custody and captured helpers, with real processes.
//!
//! Nothing here sleeps to wait for something: tests read a line that a command prints when it is ready, and a
//! command that must die holds the write end of a fifo, whose end of file is its death.
//!
//! Linux only: elsewhere custody is best effort, and there is no /proc to prove it with.
#![cfg(target_os = "linux")]
#![expect(clippy::disallowed_methods, reason = "tests have files and processes of their own")]

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use ralph::process::{
    self, Ahead, End, Hurry, Job, JobEnd, Mark, Output, Patience, SpawnError, Spec, Stdin, Swept, begin,
    capture, capture_for, start_with_keeper, sweep,
};
use rustix::fs::{CWD, Mode, mkfifoat};
use rustix::process::{Pid, Signal, kill_process, test_kill_process};

const GRACE: Duration = Duration::from_millis(300);

fn keeper() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_ralph"))
}

fn sh(command: &str) -> Spec {
    Spec::shell(command, "/").grace(GRACE)
}

fn start(spec: &Spec) -> Job {
    start_with_keeper(spec, keeper()).expect("the command starts")
}

/// A number of seconds to sleep that no other process in the world sleeps: it marks a process in the list.
fn marker() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("98765.{}{:04}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// How many processes run `sleep MARKER`.
fn sleepers(marker: &str) -> usize {
    let wanted = format!("sleep\0{marker}\0");
    let entries = fs::read_dir("/proc").expect("/proc").flatten();
    entries
        .filter(|entry| fs::read(entry.path().join("cmdline")).is_ok_and(|line| line == wanted.as_bytes()))
        .count()
}

/// For what cannot be waited for by blocking.
fn until(what: &str, happened: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !happened() {
        assert!(Instant::now() < deadline, "in vain: {what}");
        thread::yield_now();
    }
}

fn scratch(name: &str) -> PathBuf {
    let folder =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("process-{}-{name}", std::process::id()));
    // There may be one of an earlier process of that number.
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("scratch folder");
    folder
}

fn fifo(name: &str) -> PathBuf {
    let path = scratch(name).join("fifo");
    mkfifoat(CWD, &path, Mode::RUSR | Mode::WUSR).expect("fifo");
    path
}

/// Reads both streams to their end while the job runs.
fn finish(mut job: Job) -> (JobEnd, Vec<u8>, Vec<u8>) {
    let (stdout, stderr) = job.take_output();
    let (stdout, stderr) = (thread::spawn(|| read_all(stdout)), thread::spawn(|| read_all(stderr)));
    let end = job.wait();
    (end, stdout.join().expect("stdout"), stderr.join().expect("stderr"))
}

fn read_all(mut stream: impl Read) -> Vec<u8> {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).expect("read");
    bytes
}

/// Takes the output and waits for the first line, with which a command says that it is ready.
fn ready(job: &mut Job) -> (BufReader<Output>, Output) {
    let (stdout, stderr) = job.take_output();
    let mut stdout = BufReader::new(stdout);
    let mut line = String::new();
    stdout.read_line(&mut line).expect("a line");
    assert_eq!(line, "ready\n");
    (stdout, stderr)
}

fn ended(end: End) -> JobEnd {
    JobEnd { end, leftovers: 0, survivors: Vec::new(), asked: false, unkept: None }
}

#[test]
fn a_process_is_found_by_its_marker_while_it_is_there() {
    let mark = marker();
    let job = start(&Spec::new("sleep", "/").arg(&mark));
    // It runs, but the kernel may not show its arguments yet.
    until("it is found", || sleepers(&mark) == 1);
    job.ender().end();
    assert_eq!(job.wait(), JobEnd { asked: true, ..ended(End::Signaled(15)) });
    assert_eq!(sleepers(&mark), 0);
}

#[test]
fn a_job_reports_its_exit_code_and_output() {
    let (end, stdout, stderr) = finish(start(&sh("echo out; echo err >&2; exit 7")));
    assert_eq!(end, ended(End::Exited(7)));
    assert_eq!((stdout, stderr), (b"out\n".to_vec(), b"err\n".to_vec()));
}

#[test]
fn transcripts_hold_what_a_command_printed_though_nobody_listens() {
    let folder = scratch("transcripts");
    let [out, err] = ["out", "err"].map(|name| folder.join(name));
    let spec = sh("printf 1; echo a >&2; head -c 200000 /dev/zero; printf 2").transcripts(&out, &err);
    for times in 1..=2 {
        // Its output is closed, not read.
        assert_eq!(start(&spec).wait(), ended(End::Exited(0)));
        let kept = fs::read(&out).expect("kept");
        assert_eq!((kept.len(), kept.last()), (times * 200_002, Some(&b'2')), "appended");
        assert_eq!(fs::read(&err).expect("kept"), b"a\n".repeat(times));
    }
    let (end, stdout, stderr) = finish(start(&sh("echo b; echo c >&2").transcripts(&out, &err)));
    assert_eq!((end, stdout, stderr), (ended(End::Exited(0)), b"b\n".to_vec(), b"c\n".to_vec()), "passed on");

    let nowhere = folder.join("no such folder/out");
    let refused =
        start_with_keeper(&sh("true").transcripts(&nowhere, &err), keeper()).expect_err("no transcript");
    assert!(refused.to_string().contains("what it prints cannot be kept"), "{refused}");
}

#[test]
fn a_job_reports_the_signal_that_ended_it() {
    let (end, ..) = finish(start(&sh("kill -USR1 $$")));
    assert_eq!(end, ended(End::Signaled(Signal::USR1.as_raw())));
    assert_eq!(end.end.to_string(), "killed by signal 10 (SIGUSR1)");
}

#[test]
fn what_cannot_start_says_why() {
    let error = |spec: &Spec| start_with_keeper(spec, keeper()).expect_err("it cannot start");
    let missing = Spec::new("no-such-program", "/");
    assert_eq!(error(&missing), SpawnError::NotFound { program: "no-such-program".into() });
    assert_eq!(error(&missing), capture(&missing).expect_err("nor here"));
    assert_eq!(error(&missing).to_string(), "no-such-program: command not found");

    let plain = scratch("not-a-program").join("file");
    fs::write(&plain, "").expect("write");
    fs::set_permissions(&plain, fs::Permissions::from_mode(0o644)).expect("chmod");
    assert!(matches!(error(&Spec::new(&plain, "/")), SpawnError::PermissionDenied { .. }));
    assert!(matches!(capture(&Spec::new(&plain, "/")), Err(SpawnError::PermissionDenied { .. })));

    let nowhere = Spec::new("true", "/no/such/folder");
    assert!(matches!(error(&nowhere), SpawnError::Folder { .. }));
    assert!(matches!(capture(&nowhere), Err(SpawnError::Folder { .. })));

    let unfed = sh("cat").stdin_file("/no/such/prompt");
    assert!(matches!(error(&unfed), SpawnError::Stdin { .. }));
    assert!(matches!(capture(&unfed), Err(SpawnError::Stdin { .. })));

    assert!(matches!(error(&sh("cat").stdin_bytes([b'x'; 20_000])), SpawnError::Other { .. }));
    assert!(matches!(error(&sh("true").arg("x".repeat(10_000_000))), SpawnError::Other { .. }));

    let no_keeper = start_with_keeper(&sh("true"), Path::new("/no/such/keeper")).expect_err("no keeper");
    assert!(matches!(no_keeper, SpawnError::Keeper { .. }));
    let not_a_keeper = start_with_keeper(&sh("true"), Path::new("/bin/true")).expect_err("not a keeper");
    assert!(matches!(not_a_keeper, SpawnError::KeeperLost { .. }));
}

#[test]
fn arguments_environment_folder_and_stdin_arrive_byte_for_byte() {
    let odd = OsString::from_vec(b"a \xff\n'\"".to_vec());
    let folder = scratch("arrive").join(&odd);
    fs::create_dir_all(&folder).expect("folder");
    fs::write(folder.join("prompt"), b"do \0 it\n").expect("prompt");
    let spec = Spec::new("sh", &folder)
        .args(["-c", "pwd; printf %s \"$1\" \"$ODD\" \"${HOME-gone}\"; cat", "sh"])
        .arg(&odd)
        .env("ODD", &odd)
        .env_remove("HOME")
        .stdin_file(folder.join("prompt"));
    let mut expected = folder.into_os_string().into_vec();
    expected.extend_from_slice(b"\n");
    expected.extend_from_slice(&odd.clone().into_vec());
    expected.extend_from_slice(&odd.into_vec());
    expected.extend_from_slice(b"gonedo \0 it\n");
    let (end, stdout, _) = finish(start(&spec));
    assert_eq!(end, ended(End::Exited(0)));
    assert_eq!(stdout, expected);
    assert_eq!(capture(&spec).expect("runs").stdout, expected);
}

#[test]
fn a_stdin_file_may_be_named_relative_to_ralphs_own_folder() {
    let (end, stdout, _) = finish(start(&sh("cat").stdin_file("Cargo.toml")));
    assert_eq!(end, ended(End::Exited(0)));
    assert_eq!(stdout, fs::read("Cargo.toml").expect("this package's manifest"));
}

#[test]
fn without_a_file_stdin_is_empty_and_there_is_no_terminal() {
    let (end, stdout, _) = finish(start(&sh("cat; (: </dev/tty) 2>/dev/null || echo none")));
    assert_eq!(end, ended(End::Exited(0)));
    assert_eq!(stdout, b"none\n");
    assert_eq!(capture(&sh("cat")).expect("runs").stdout, b"");
}

#[test]
fn background_processes_do_not_stall_the_end_and_do_not_outlive_it() {
    for (background, leftovers) in [
        ("sleep MARK &", 1),
        ("setsid sleep MARK &", 1),
        ("nohup sleep MARK &", 1),
        ("(sleep MARK & sleep MARK &); sleep MARK &", 3),
    ] {
        let mark = marker();
        let (end, ..) = finish(start(&sh(&format!("{} exit 3", background.replace("MARK", &mark)))));
        assert_eq!(sleepers(&mark), 0, "{background}");
        assert_eq!(end, JobEnd { leftovers, ..ended(End::Exited(3)) }, "{background}");
    }
}

/// Starts `hidden` in the background of a command that exits as soon as `hidden` has written a line to `pipe`.
fn finish_with_hidden(name: &str, hidden: &str) -> (JobEnd, Vec<u8>, Vec<u8>) {
    let folder = fifo(name);
    let folder = folder.parent().expect("its folder");
    let script = folder.join("hidden");
    fs::write(&script, hidden).expect("script");
    let command = "env -i PATH=\"$PATH\" setsid nohup sh hidden & read line <fifo; exit 0";
    finish(start(&Spec { cwd: folder.into(), ..sh(command) }))
}

#[test]
fn what_leaves_environment_session_and_signals_behind_is_ended_too() {
    let mark = marker();
    let hidden = format!("trap '' TERM HUP INT\nsleep {mark} & sleep {mark} & echo >fifo; wait");
    let (end, ..) = finish_with_hidden("stubborn", &hidden);
    assert_eq!(sleepers(&mark), 0);
    assert_eq!(end, JobEnd { leftovers: 3, ..ended(End::Exited(0)) });
}

#[test]
fn generations_that_surface_only_when_their_parents_die_are_ended() {
    let mark = marker();
    let hidden = format!("setsid sh -c \"trap '' TERM; setsid sleep {mark} & echo >fifo; wait\" & wait");
    let (end, ..) = finish_with_hidden("generations", &hidden);
    assert_eq!(sleepers(&mark), 0);
    assert_eq!(end, JobEnd { leftovers: 3, ..ended(End::Exited(0)) });
}

#[test]
fn many_leftovers_are_ended() {
    let mark = marker();
    let command = format!("i=0; while [ $i -lt 300 ]; do setsid sleep {mark} & i=$((i+1)); done; exit 0");
    let (end, ..) = finish(start(&sh(&command)));
    assert_eq!(sleepers(&mark), 0);
    assert_eq!(end, JobEnd { leftovers: 300, ..ended(End::Exited(0)) });
}

#[test]
fn orphans_are_reaped_while_the_command_runs() {
    let fifo = fifo("orphans");
    let _writer = File::options().read(true).write(true).open(&fifo).expect("fifo");
    let mut job = start(&sh("(sh -c 'echo $$' &); echo ready >&2; read line").stdin_file(&fifo));
    let (stdout, stderr) = job.take_output();
    let (mut stdout, mut stderr) = (BufReader::new(stdout), BufReader::new(stderr));
    let mut line = String::new();
    stdout.read_line(&mut line).expect("a line");
    let orphan = Pid::from_raw(line.trim().parse().expect("a number")).expect("a process");
    stderr.read_line(&mut line).expect("a line");
    // A zombie has closed all it had.
    until("the orphan is reaped", || test_kill_process(orphan).is_err());
    job.ender().end_now();
    assert_eq!(job.wait().leftovers, 0);
}

#[test]
fn asked_to_end_a_command_gets_term_once_and_time_to_tidy_up() {
    let fifo = fifo("tidy");
    let _writer = File::options().read(true).write(true).open(&fifo).expect("fifo");
    let command = "trap 'echo tidied; exit 4' TERM; echo ready; read line";
    let mut job = start(&sh(command).stdin_file(&fifo).grace(Duration::from_secs(3600)));
    let (stdout, _stderr) = ready(&mut job);
    let ender = job.ender();
    ender.end();
    assert_eq!(job.wait(), JobEnd { asked: true, ..ended(End::Exited(4)) });
    assert_eq!(read_all(stdout), b"tidied\n");
    // Too late is not wrong.
    ender.end();
    ender.end_now();
}

#[test]
fn a_command_that_ignores_term_is_killed_after_the_grace_period() {
    let mark = marker();
    let mut job = start(&sh(&format!("trap '' TERM; echo ready; sleep {mark}; sleep {mark}")));
    let _output = ready(&mut job);
    let asked = Instant::now();
    job.ender().end();
    let end = job.wait();
    assert!(asked.elapsed() >= GRACE);
    assert_eq!((end.end, end.asked), (End::Signaled(9), true));
    assert_eq!(sleepers(&mark), 0);
}

#[test]
fn at_once_means_without_grace_for_all() {
    let mark = marker();
    let command = format!("trap '' TERM; setsid sleep {mark} & echo ready; sleep {mark}; :");
    let mut job = start(&sh(&command).grace(Duration::from_secs(3600)));
    let _output = ready(&mut job);
    let ender = job.ender();
    ender.end();
    thread::spawn(move || ender.end_now()).join().expect("any thread may ask");
    let end = job.wait();
    assert_eq!((end.end, end.asked), (End::Signaled(9), true));
    assert_eq!(sleepers(&mark), 0);
}

#[test]
fn a_dropped_job_is_ended_though_an_ender_is_kept() {
    let (fifo, mark) = (fifo("dropped"), marker());
    let job = start(&sh(&stubborn(&fifo, &mark)));
    let mut lines = BufReader::new(File::open(&fifo).expect("fifo"));
    lines.read_line(&mut String::new()).expect("a line");
    let _ender = job.ender();
    drop(job);
    read_all(lines);
    assert_eq!(sleepers(&mark), 0);
}

/// A command that holds a fifo open with a family that does not want to die.
fn stubborn(fifo: &Path, mark: &str) -> String {
    let fifo = fifo.display();
    format!(
        "trap '' TERM; exec 9>{fifo}; setsid sleep {mark} & nohup sleep {mark} & echo >&9; sleep {mark}; :"
    )
}

/// Not a test by itself: the ralph that the next test kills.
#[test]
fn ralph_to_be_killed() {
    if let Some(fifo) = std::env::var_os("RALPH_TEST_FIFO") {
        let mark = std::env::var("RALPH_TEST_MARK").expect("a marker");
        let job = start(&sh(&stubborn(Path::new(&fifo), &mark)));
        job.wait();
        panic!("it was not killed");
    }
}

#[test]
fn nothing_is_left_when_ralph_is_killed() {
    let (fifo, mark) = (fifo("killed"), marker());
    let mut ralph = Command::new(std::env::current_exe().expect("this test"))
        .args(["--exact", "ralph_to_be_killed", "--nocapture"])
        .env("RALPH_TEST_FIFO", &fifo)
        .env("RALPH_TEST_MARK", &mark)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("another ralph");
    let mut lines = BufReader::new(File::open(&fifo).expect("fifo"));
    lines.read_line(&mut String::new()).expect("a line");
    ralph.kill().expect("kill -9");
    ralph.wait().expect("dead");
    read_all(lines);
    assert_eq!(sleepers(&mark), 0);
}

#[test]
fn a_killed_keeper_is_a_lost_job_and_not_a_hang() {
    process::become_reaper().expect("this system has reapers");
    let (fifo, mark) = (fifo("keeper"), marker());
    let command = format!("exec 9>{}; trap '' TERM; echo ready; sleep {mark}; :", fifo.display());
    let mut job = start(&sh(&command));
    let mut held = File::open(&fifo).expect("fifo");
    let (stdout, _stderr) = ready(&mut job);
    let command = Pid::from_raw(job.pid().try_into().expect("a number")).expect("a process");
    kill_process(parent(command), Signal::KILL).expect("kill -9");
    assert_eq!(job.wait(), ended(End::Lost));
    assert!(test_kill_process(command).is_err(), "the command is gone, and not even a zombie");
    read_all(&mut held);
    assert_eq!(sleepers(&mark), 0);
    read_all(stdout);
}

/// A folder of its own for a mark.
fn mark(name: &str) -> Mark {
    Mark::of(&scratch(name)).expect("a folder")
}

#[test]
fn what_left_the_session_of_a_killed_keeper_is_found_by_its_mark() {
    let sleeping = marker();
    let hidden =
        format!("env -i setsid sh -c \"trap '' TERM; setsid sleep {sleeping} & sleep {sleeping}; :\" &");
    let mut job = start(&sh(&format!("{hidden} echo ready; wait")).mark(mark("killed-keeper")));
    let _output = ready(&mut job);
    until("both are there", || sleepers(&sleeping) == 2);
    let command = Pid::from_raw(job.pid().try_into().expect("a number")).expect("a process");
    kill_process(parent(command), Signal::KILL).expect("kill -9");
    assert_eq!(job.wait(), ended(End::Lost));
    assert_eq!(sleepers(&sleeping), 0);
}

#[test]
fn what_a_keeper_started_that_died_before_it_said_so_is_ended() {
    let (fifo, sleeping) = (fifo("unsaid"), marker());
    let keeper = scratch("dying-keeper").join("keeper");
    let script = format!("exec setsid sh -c 'exec 9>{}; sleep {sleeping} & exit 7'", fifo.display());
    fs::write(&keeper, format!("#!/bin/sh\n{script}\n")).expect("a script");
    fs::set_permissions(&keeper, fs::Permissions::from_mode(0o755)).expect("executable");
    let held = thread::spawn(move || read_all(File::open(&fifo).expect("fifo")));
    let lost = start_with_keeper(&sh("true"), &keeper).expect_err("nobody told of a start");
    assert!(matches!(&lost, SpawnError::KeeperLost { survivors, .. } if survivors.is_empty()), "{lost}");
    until("what it started is dead", || held.is_finished());
    assert_eq!(sleepers(&sleeping), 0);
}

#[test]
fn a_sweep_ends_what_has_its_mark_and_nobody_else() {
    let (ours, others, none) = (marker(), marker(), marker());
    let (mark, other) = (mark("swept"), mark("unswept"));
    assert_ne!(mark, other);
    let runaway =
        |sleeping: &str| sh(&format!("trap '' TERM; env -i setsid sleep {sleeping} & echo ready; wait"));
    let mut swept = start(&runaway(&ours).mark(mark));
    let mut other = start(&runaway(&others).mark(other));
    let mut unmarked = start(&runaway(&none));
    let _outputs = [&mut swept, &mut other, &mut unmarked].map(ready);
    until("all are there", || [&ours, &others, &none].iter().all(|sleeping| sleepers(sleeping) == 1));
    let found = sweep(mark, GRACE);
    assert!(found.ended >= 2 && found.survivors.is_empty(), "{found:?}");
    assert_eq!([&ours, &others, &none].map(|sleeping| sleepers(sleeping)), [0, 1, 1]);
    assert_eq!(sweep(mark, GRACE), Swept::default(), "nothing is left to do");
    assert_eq!(swept.wait().end, End::Lost, "the keeper had the mark too");
    for job in [other, unmarked] {
        job.ender().end_now();
        job.wait();
    }
}

#[test]
fn output_ends_with_a_lost_job_though_a_process_holds_it_open() {
    let mut job = start(&sh(&format!("setsid sleep {} & echo $!; wait", marker())));
    let mut stdout = BufReader::new(job.take_output().0);
    let mut line = String::new();
    stdout.read_line(&mut line).expect("a line");
    let holder = Pid::from_raw(line.trim().parse().expect("a number")).expect("a process");
    let command = Pid::from_raw(job.pid().try_into().expect("a number")).expect("a process");
    kill_process(parent(command), Signal::KILL).expect("kill -9");
    assert_eq!(job.wait(), ended(End::Lost));
    assert_eq!(read_all(stdout), b"");
    kill_process(holder, Signal::KILL).expect("it was still there");
}

fn parent(pid: Pid) -> Pid {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).expect("stat");
    let (_, fields) = stat.rsplit_once(')').expect("a name");
    let parent = fields.split_whitespace().nth(1).expect("a parent");
    Pid::from_raw(parent.parse().expect("a number")).expect("a process")
}

const MUCH: usize = 10_000_000;
const TALK: &str = "head -c 10000000 /dev/zero & head -c 10000000 /dev/zero >&2; wait";

#[test]
fn much_output_on_both_streams_is_read_in_full() {
    let (end, stdout, stderr) = finish(start(&sh(TALK)));
    assert_eq!(end, ended(End::Exited(0)));
    assert_eq!((stdout.len(), stderr.len()), (MUCH, MUCH));

    let captured = capture(&sh(TALK)).expect("runs");
    assert_eq!(captured.end, End::Exited(0));
    assert_eq!((captured.stdout.len(), captured.stderr.len()), (MUCH, MUCH));
}

#[test]
fn a_captured_helper_is_fed_bytes_while_it_answers() {
    let bytes: Vec<u8> = (0..MUCH).map(|n| (n % 251) as u8).collect();
    let captured = capture(&Spec::new("cat", "/").stdin_bytes(bytes.clone())).expect("runs");
    assert_eq!(captured.end, End::Exited(0));
    assert!(captured.stdout == bytes);

    // Neither a helper that reads nothing nor one with nothing to read is a problem.
    let deaf = capture(&Spec { stdin: Stdin::Bytes(bytes), ..sh("exit 5") }).expect("runs");
    assert_eq!(deaf.end, End::Exited(5));
    assert_eq!(capture(&sh("cat").stdin_bytes([])).expect("runs").stdout, b"");
}

#[test]
fn a_captured_helper_tells_its_signal_and_both_streams() {
    let captured = capture(&sh("echo out; echo err >&2; kill -KILL $$")).expect("runs");
    assert_eq!(captured.end, End::Signaled(9));
    assert_eq!((captured.stdout, captured.stderr), (b"out\n".to_vec(), b"err\n".to_vec()));
}

#[test]
fn what_a_captured_helper_leaves_behind_does_not_stall_it() {
    let mark = marker();
    let captured = capture(&sh(&format!("sleep {mark} & echo $!"))).expect("runs");
    let left = String::from_utf8(captured.stdout).expect("a number");
    let left = Pid::from_raw(left.trim().parse().expect("a number")).expect("a process");
    kill_process(left, Signal::KILL).expect("it was still there");
}

#[test]
fn a_helper_that_takes_too_long_is_killed_with_its_group_and_its_words_are_kept() {
    let (fifo, mark) = (fifo("timeout"), marker());
    let command = format!("exec 9>{}; echo words; sleep {mark}; :", fifo.display());
    let held = thread::spawn(move || read_all(File::open(fifo).expect("fifo")));
    let captured = capture_for(&sh(&command), GRACE).expect("runs");
    assert_eq!(captured.end, End::TimedOut);
    assert_eq!(captured.stdout, b"words\n");
    held.join().expect("all holders are dead");
    assert_eq!(sleepers(&mark), 0);

    let quick = capture_for(&sh("echo 1.2.3"), Duration::from_secs(3600)).expect("runs");
    assert_eq!((quick.end, quick.stdout), (End::Exited(0), b"1.2.3\n".to_vec()));
}

#[test]
fn the_keeper_holds_no_stream_open_and_leaves_the_terminal_alone() {
    let fifo = fifo("streams");
    let _writer = File::options().read(true).write(true).open(&fifo).expect("fifo");
    let mut job = start(&sh("echo ready; exec >/dev/null 2>&1; read line").stdin_file(&fifo));
    let (stdout, stderr) = ready(&mut job);
    // The command runs on, but has closed its output: that is seen although the keeper is there.
    assert_eq!((read_all(stdout), read_all(stderr)), (vec![], vec![]));
    job.ender().end();
    assert_eq!(job.wait().end, End::Signaled(15));
}

#[test]
fn jobs_beside_each_other_do_not_hold_each_others_lines() {
    let marks: Vec<_> = (0..8).map(|_| marker()).collect();
    let mut jobs: Vec<_> =
        marks.iter().map(|mark| start(&sh(&format!("echo ready; sleep {mark}; :")))).collect();
    let _outputs: Vec<_> = jobs.iter_mut().map(ready).collect();
    // In the order of their start: a line held by a later keeper would keep an earlier one waiting.
    for (job, mark) in jobs.into_iter().zip(&marks) {
        job.ender().end();
        assert!(job.wait().asked);
        assert_eq!(sleepers(mark), 0);
    }
}

/// Children of this thread that wait to be keepers, or are. Other tests may run in other threads.
fn keepers() -> Vec<Pid> {
    let children = fs::read_to_string("/proc/thread-self/children").expect("children");
    let pids = children.split_ascii_whitespace().filter_map(|pid| Pid::from_raw(pid.parse().ok()?));
    let is_keeper = |pid: &Pid| {
        fs::read(format!("/proc/{}/cmdline", pid.as_raw_pid())).is_ok_and(|line| line == b"ralph\0__keep\0")
    };
    pids.filter(is_keeper).collect()
}

#[test]
fn a_keeper_that_was_started_ahead_keeps_what_comes_and_one_that_was_ended_is_replaced() {
    let mut ahead = Ahead::with_keeper(keeper());
    ahead.start();
    ahead.start();
    // A program that was just started has no name for a moment.
    until("it is there", || !keepers().is_empty());
    assert_eq!(keepers().len(), 1, "one is enough");
    until("it leads a session of its own, which no Ctrl-C or Ctrl-Z of ours reaches", || {
        let leader = keepers()[0].as_raw_pid();
        let stat = fs::read_to_string(format!("/proc/{leader}/stat")).unwrap_or_default();
        let session = stat.rsplit(") ").next().and_then(|fields| fields.split(' ').nth(3));
        session == Some(leader.to_string().as_str())
    });
    let spec = sh("pwd; echo $WORD").env("WORD", "said");
    let (end, stdout, _) = finish(ahead.keep(&spec).expect("it starts"));
    assert_eq!((end, stdout), (ended(End::Exited(0)), b"/\nsaid\n".to_vec()));

    ahead.start();
    until("it is there", || !keepers().is_empty());
    let waiting = keepers()[0];
    kill_process(waiting, Signal::KILL).expect("kill -9");
    until("it is dead", || {
        let stat = fs::read_to_string(format!("/proc/{}/stat", waiting.as_raw_pid())).unwrap_or_default();
        stat.contains(") Z ")
    });
    let (end, stdout, _) = finish(ahead.keep(&spec).expect("another one starts it"));
    assert_eq!((end, stdout), (ended(End::Exited(0)), b"/\nsaid\n".to_vec()));
    assert!(keepers().is_empty());

    ahead.start();
    until("it is there", || !keepers().is_empty());
    drop(ahead);
    assert!(keepers().is_empty(), "one that is not needed leaves");
}

#[test]
fn a_keeper_that_is_given_words_refuses_as_one_of_another_version() {
    let refused = capture(&Spec::new(keeper(), "/").arg("__keep").arg("5000").arg("sh")).expect("it runs");
    assert_eq!(refused.end, End::Exited(64));
}

#[test]
fn a_helper_that_was_begun_reads_what_comes_later_or_nothing() {
    let sum =
        begin(&sh("cat; echo end")).expect("it starts").finish(b"some words\n".to_vec()).expect("it ends");
    assert_eq!((sum.end, sum.stdout), (End::Exited(0), b"some words\nend\n".to_vec()));
    // It prints more than a pipe holds, and nobody reads it.
    drop(begin(&sh("cat; yes")).expect("it starts"));
    let file = scratch("begun").join("done");
    drop(begin(&sh(&format!("cat; touch {}", file.display()))).expect("it starts"));
    assert!(file.exists(), "it was waited for");
}

fn patient(limit: Duration) -> Patience {
    Patience { limit, hurry: None, expendable: false }
}

#[test]
fn programs_that_a_helper_starts_get_their_time_and_the_helper_comes_to_its_own_end() {
    let sleeping = marker();
    let twice = sh(&format!("sleep {sleeping}; sh -c 'sleep {sleeping}; true'; echo its own end"));
    let captured = capture(&twice.patience(patient(Duration::from_millis(1)))).expect("it starts");
    assert_eq!((captured.end, captured.stdout.as_slice()), (End::Exited(0), b"its own end\n".as_slice()));
    assert_eq!((captured.ended, sleepers(&sleeping)), (2, 0));
    let quick = capture(&sh("true").patience(patient(Duration::from_secs(3600)))).expect("it starts");
    assert_eq!((quick.end, quick.ended), (End::Exited(0), 0));
}

#[test]
fn whoever_is_in_a_hurry_does_not_wait_for_what_a_helper_started() {
    let sleeping = marker();
    let hurry = Hurry::new().expect("a pipe");
    let patience =
        Patience { limit: Duration::from_secs(3600), hurry: Some(hurry.clone()), expendable: false };
    let spec = sh(&format!("sleep {sleeping}; sleep {sleeping}; echo its own end")).patience(patience);
    let waits = thread::spawn(move || capture(&spec).expect("it starts"));
    until("it waits", || sleepers(&sleeping) == 1);
    hurry.up();
    let captured = waits.join().expect("it ends");
    assert_eq!((captured.ended, captured.stdout.as_slice()), (2, b"its own end\n".as_slice()));
}

#[test]
fn a_helper_that_nobody_wants_any_more_is_not_held_up_by_what_it_started() {
    let sleeping = marker();
    let begun = begin(&sh(&format!("sleep {sleeping}")).patience(patient(Duration::from_secs(3600))));
    let begun = begun.expect("it starts");
    until("it waits", || sleepers(&sleeping) == 1);
    drop(begun);
    assert_eq!(sleepers(&sleeping), 0);
}

#[test]
fn what_a_helper_leaves_behind_is_ended_and_nobody_else_is() {
    process::become_reaper().expect("a reaper");
    let (left, others) = (marker(), marker());
    let leave = |sleeping: &str| {
        sh(&format!("env -i setsid sh -c 'trap \"\" TERM; sleep {sleeping} & wait' >/dev/null 2>&1 & true"))
    };
    let (mark, other) = (mark("left"), mark("left-by-another"));
    capture(&leave(&left).mark(mark)).expect("it starts");
    capture(&leave(&others).mark(other)).expect("it starts");
    until("both are there", || sleepers(&left) == 1 && sleepers(&others) == 1);
    process::end_left(mark);
    assert_eq!((sleepers(&left), sleepers(&others)), (0, 1));
    process::end_left(other);
    assert_eq!(sleepers(&others), 0);
}

/// A shell that opens a pipe which nobody opens at the other end.
fn waits_for_ever(name: &str) -> Spec {
    let pipe = scratch(name).join("pipe");
    capture(&Spec::new("mkfifo", "/").arg(&pipe)).expect("mkfifo");
    sh(&format!("read word < {}", pipe.display()))
}

#[cfg(target_os = "linux")]
#[test]
fn a_helper_that_may_be_ended_is_where_it_waits_for_a_pipe_that_nobody_opens() {
    let patience = Patience { limit: Duration::from_secs(3600), hurry: None, expendable: true };
    let captured = capture(&waits_for_ever("alone").patience(patience.clone())).expect("it starts");
    assert_eq!((captured.end, captured.ended, captured.gave_up), (End::Signaled(9), 0, true));
    // Also where what it started waits so; what it makes of that is its own matter.
    let below = waits_for_ever("below");
    let words = below.args.last().expect("a command").to_string_lossy().into_owned();
    let captured =
        capture(&sh(&format!("sh -c '{words}'; echo went on")).patience(patience)).expect("it starts");
    assert_eq!((captured.end, captured.gave_up), (End::Exited(0), true));
    assert_eq!(captured.stdout, b"went on\n");
}

#[test]
fn a_helper_that_may_be_ended_gets_a_moment_in_a_hurry_and_one_that_nobody_wants_any_more_as_well() {
    let hurry = Hurry::new().expect("a pipe");
    hurry.up();
    let patience = Patience { limit: Duration::from_secs(3600), hurry: Some(hurry), expendable: true };
    let captured = capture(&waits_for_ever("hurry").patience(patience.clone())).expect("it starts");
    assert!(captured.gave_up, "{captured:?}");
    let file = scratch("given-a-moment").join("done");
    // Nothing but the shell itself has to be started within that moment.
    let words = format!("while read -r line; do :; done; : > '{}'", file.display());
    let begun = begin(&sh(&words).patience(patience.clone()));
    drop(begun.expect("it starts"));
    assert!(file.exists(), "it came to its own end");
    drop(begin(&waits_for_ever("dropped").patience(patience)).expect("it starts"));
}

#[test]
fn a_helper_that_may_be_ended_and_is_only_slow_comes_to_its_own_end_though_somebody_is_in_a_hurry() {
    let hurry = Hurry::new().expect("a pipe");
    assert!(!hurry.is_up());
    hurry.up();
    assert!(hurry.is_up() && hurry.is_up(), "for good");
    let patience = Patience { limit: Duration::from_secs(3600), hurry: Some(hurry), expendable: true };
    let captured = capture(&Spec::new("sleep", "/").arg("5").patience(patience)).expect("it starts");
    assert_eq!((captured.end, captured.gave_up), (End::Exited(0), false));
}

#[cfg(target_os = "linux")]
#[test]
fn a_git_below_a_script_of_that_name_is_no_program_that_it_started() {
    let (scripts, real) = (scratch("script"), scratch("real"));
    let (script, sleep) = (scripts.join("git"), real.join("git"));
    let text = format!("{} 1; echo its own end", sleep.display());
    let made = format!(
        "cp \"$(command -v sleep)\" {sleep}; printf '#!/bin/sh\\n{text}\\n' > {script}; chmod +x {script}",
        sleep = sleep.display(),
        script = script.display()
    );
    assert!(capture(&sh(&made)).expect("it is made").end.success());
    let patience = Patience { limit: Duration::from_millis(1), hurry: None, expendable: true };
    let captured = capture(&Spec::new(script, "/").patience(patience)).expect("it starts");
    assert_eq!((captured.ended, captured.gave_up), (0, false), "{captured:?}");
    assert_eq!(captured.stdout, b"its own end\n");
}
