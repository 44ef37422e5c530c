//! Points in debug builds: counted in a file, and one of them may strike.

use std::ffi::{OsStr, OsString};
use std::fs::OpenOptions;
use std::io::{self, Read, Write};
use std::path::Path;

use rustix::io::Errno;
use rustix::process::{Signal, getpid, kill_process};

/// To be kept from programs that are not ralph.
pub(crate) const VARIABLES: &[&str] = &[POINTS, POINT, CHECKPOINT];

const POINTS: &str = "RALPH_CRASH_POINTS";
const POINT: &str = "RALPH_CRASH_POINT";
const CHECKPOINT: &str = "RALPH_CHECKPOINT_EVERY";

/// Passes a point of this name.
pub(crate) fn pass(name: &str) -> io::Result<()> {
    strike(name, || Ok(()))
}

/// Passes the point before something is done to a file or folder: `rename session.md`.
pub(crate) fn file(verb: &str, path: &Path) -> io::Result<()> {
    if std::env::var_os(POINTS).is_none() {
        return Ok(());
    }
    pass(&format!("{verb} {}", common_name(path)))
}

/// Passes the point inside of a write: where it strikes, `half` is written first.
pub(crate) fn torn(path: &Path, half: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
    if std::env::var_os(POINTS).is_none() {
        return Ok(());
    }
    strike(&format!("write half of {}", common_name(path)), half)
}

/// Passes the point of a helper: `git status`.
pub(crate) fn call(verb: &str, program: &OsStr, args: &[OsString]) -> io::Result<()> {
    if std::env::var_os(POINTS).is_none() {
        return Ok(());
    }
    // Settings (`-c name=value`) come before the command.
    let word =
        args.iter().map(|arg| arg.to_string_lossy()).find(|arg| !arg.starts_with('-') && !arg.contains('='));
    pass(&format!("{verb} {} {}", program.to_string_lossy(), word.unwrap_or_default()))
}

/// Whether a checkpoint is due by the variable.
pub(crate) fn early_checkpoint(records: u32) -> bool {
    let every = std::env::var(CHECKPOINT).ok().and_then(|every| every.parse().ok());
    every.is_some_and(|every: u32| records >= every)
}

fn strike(name: &str, half: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
    let Some(points) = std::env::var_os(POINTS) else { return Ok(()) };
    let nth = count(Path::new(&points), name)?;
    let wanted = std::env::var(POINT).unwrap_or_default();
    let Some((how, point)) = wanted.split_once(':') else { return Ok(()) };
    let (point, from_then_on) = point.strip_suffix('+').map_or((point, false), |point| (point, true));
    let Some((_, first)) = point.rsplit_once('#').filter(|(named, _)| *named == name) else { return Ok(()) };
    let first = first.parse().unwrap_or(usize::MAX);
    if nth != first && !(from_then_on && nth > first) {
        return Ok(());
    }
    half()?;
    count(Path::new(&points), &format!("struck: {wanted}"))?;
    match how {
        "kill" => {
            kill_process(getpid(), Signal::KILL)?;
            unreachable!("nobody survives SIGKILL")
        }
        "panic" => panic!("struck at {name}"),
        "enospc" => Err(Errno::NOSPC.into()),
        _ => Err(Errno::IO.into()),
    }
}

/// Appends the name and says how often it stands there now. Locked, because threads and keepers pass points at the
/// same time.
fn count(points: &Path, name: &str) -> io::Result<usize> {
    let mut file = OpenOptions::new().read(true).append(true).create(true).open(points)?;
    file.lock()?;
    file.write_all(format!("{name}\n").as_bytes())?;
    let mut text = String::new();
    io::Seek::rewind(&mut file)?;
    file.read_to_string(&mut text)?;
    Ok(text.lines().filter(|line| *line == name).count())
}

/// The file's name without what differs from run to run: numbers and ids.
fn common_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let varies = |piece: &str| {
        let id = piece.len() >= 4 && piece.chars().all(|c| c.is_ascii_hexdigit());
        id || piece.chars().any(|c| c.is_ascii_digit())
    };
    let mut common = String::new();
    for piece in name.split_inclusive(['-', '.']) {
        let word = piece.trim_end_matches(['-', '.']);
        if !varies(word) {
            common.push_str(piece);
            continue;
        }
        if common.ends_with("#-") {
            common.truncate(common.len() - 2);
        }
        common.push('#');
        common.push_str(&piece[word.len()..]);
    }
    common
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_is_named_alike_in_every_run() {
        for (path, name) in [
            ("runs/0001/journal.jsonl", "journal.jsonl"),
            ("runs/0001", "#"),
            ("history/.iteration-012.md.new", ".iteration-#.md.new"),
            ("note-019a8b7c-1d2e-7f00-abcd-def012345678.txt", "note-#.txt"),
            ("stop-77-1750000000000", "stop-#"),
            ("check-test.out", "check-test.out"),
        ] {
            assert_eq!(common_name(Path::new(path)), name);
        }
    }
}
