//! One run at a time in a tree, and no agent of an earlier run still at work.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

use ralph_core::own_files::How;
use ralph_core::time::Time;
use serde::{Deserialize, Serialize};

use super::files;
use super::stamp::Stamp;
use crate::error::{self, Error, Result};
use crate::{clock, point};

/// Who holds the lock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    pub pid: u32,
    pub since: Time,
}

/// Held while a run goes on; the system lets go of it when the process ends, however it ends.
#[derive(Debug)]
pub struct Lock {
    /// Held as well, in a repository: nobody can remove the git folder and go on working in it. Let go of first, so that
    /// whoever waits for the file finds it free.
    _folder: Option<File>,
    file: File,
    path: PathBuf,
    holder: Holder,
}

impl Lock {
    pub fn take(truth: &Path, now: Time) -> Result<Self> {
        let (path, mut file) = lock_file(truth)?;
        // `status` holds it shared for a moment, so one refusal is no proof.
        for _ in 0..3 {
            match file.try_lock() {
                Ok(()) => return Self::held(truth, path, file, now),
                Err(TryLockError::WouldBlock) => pause(Duration::from_millis(50)),
                Err(TryLockError::Error(error)) => return Err(error::io("cannot lock", &path)(error)),
            }
        }
        Err(another_run(read(&mut file).as_ref()))
    }

    /// The same for those whose turn is short: others of them may be at work, and end soon.
    pub fn await_turn(truth: &Path, now: Time, longest: Duration) -> Result<Self> {
        let (path, file) = lock_file(truth)?;
        match file.try_lock() {
            Ok(()) => return Self::held(truth, path, file, now),
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(error)) => return Err(error::io("cannot lock", &path)(error)),
        }
        let (done, waiting) = mpsc::channel();
        std::thread::spawn(move || {
            let locked = file.lock();
            // Where nobody waits any more, it is let go of at once.
            let _ = done.send(locked.map(|()| file));
        });
        match waiting.recv_timeout(longest) {
            Ok(Ok(file)) => Self::held(truth, path, file, now),
            Ok(Err(error)) => Err(error::io("cannot lock", &path)(error)),
            Err(_) => Err(another_run(open(&path).ok().and_then(|mut file| read(&mut file)).as_ref())),
        }
    }

    fn held(truth: &Path, path: PathBuf, mut file: File, now: Time) -> Result<Self> {
        let folder = hold_folder(truth)?;
        let holder = Holder { pid: std::process::id(), since: now };
        write(&mut file, &path, &holder).map_err(error::io("cannot write", &path))?;
        Ok(Self { _folder: folder, file, path, holder })
    }

    /// What was done to the file since it was taken.
    pub fn touched(&mut self) -> Option<How> {
        match (Stamp::of_open(&self.file), Stamp::at(&self.path)) {
            (_, None) => Some(How::Removed),
            (Some(held), Some(named)) if held.same_file(named) => match read(&mut self.file) {
                Some(holder) if holder == self.holder => None,
                _ => Some(How::Changed),
            },
            _ => Some(How::Changed),
        }
    }

    /// Takes it anew where it was. Whoever took it meanwhile has it, and then this is the error.
    pub fn put_back(&mut self) -> std::io::Result<()> {
        if let Some(truth) = self.path.parent() {
            files::private_dir(truth)?;
        }
        if self.path.is_symlink() {
            files::remove(&self.path)?;
        }
        let mut file = open(&self.path)?;
        let held = Stamp::of_open(&self.file).zip(Stamp::of_open(&file));
        if !held.is_some_and(|(held, named)| held.same_file(named)) {
            let locked = (0..3).any(|_| match file.try_lock() {
                Ok(()) => true,
                Err(_) => {
                    pause(Duration::from_millis(50));
                    false
                }
            });
            if !locked {
                let other = read(&mut file).map_or_else(String::new, |other| format!(" (pid {})", other.pid));
                return Err(std::io::Error::other(format!(
                    "another ralph{other} has taken its place, and two cannot work in one tree"
                )));
            }
        }
        write(&mut file, &self.path, &self.holder)?;
        // The lock of the same file goes with its last descriptor; ours is kept where it is the same.
        if !held.is_some_and(|(held, named)| held.same_file(named)) {
            self.file = file;
        }
        Ok(())
    }

    /// Who holds it: us.
    pub fn holder(&self) -> &Holder {
        &self.holder
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // So that the next one who holds it is not taken for us before it has written who it is.
        let _ = point::pass("empty lock").and_then(|()| self.file.set_len(0));
    }
}

/// The lock's file, in a folder that is there.
fn lock_file(truth: &Path) -> Result<(PathBuf, File)> {
    if let Some(above) = truth.parent() {
        files::make_dir(above).map_err(error::io("cannot make", above))?;
    }
    files::private_dir(truth).map_err(error::io("cannot make", truth))?;
    let path = truth.join("lock");
    let file = open(&path).map_err(error::io("cannot open", &path))?;
    Ok((path, file))
}

/// The second lock of a run in a repository. Where the system has no such locks on folders, the first must do.
fn hold_folder(truth: &Path) -> Result<Option<File>> {
    let git_dir = truth.parent().filter(|_| truth.ends_with("ralph"));
    let Some(folder) = git_dir.and_then(|folder| File::open(folder).ok()) else { return Ok(None) };
    // `status` holds it shared for a moment as well.
    let mut locked = folder.try_lock();
    for _ in 0..3 {
        if matches!(locked, Err(TryLockError::WouldBlock)) {
            pause(Duration::from_millis(50));
            locked = folder.try_lock();
        }
    }
    match locked {
        Ok(()) => Ok(Some(folder)),
        Err(TryLockError::WouldBlock) => Err(Error::new("another run is going on here")
            .because("its lock file was removed under it, and it is still at work")
            .hint("wait for it, or look for it: ps")),
        Err(TryLockError::Error(_)) => Ok(None),
    }
}

fn write(file: &mut File, path: &Path, holder: &Holder) -> std::io::Result<()> {
    point::file("write", path)?;
    let text = serde_json::to_string(holder).unwrap_or_default();
    file.rewind()?;
    file.set_len(0)?;
    file.write_all(text.as_bytes())
}

/// How it stands with a lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LockState {
    Free,
    /// It may be too early to say by whom.
    Held(Option<Holder>),
}

/// Whether somebody holds the lock of this truth folder now.
pub fn lock_state(truth: &Path) -> std::io::Result<LockState> {
    let mut file = match File::open(truth.join("lock")) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(LockState::Free),
        opened => opened?,
    };
    match file.try_lock_shared() {
        Ok(()) => Ok(LockState::Free),
        Err(TryLockError::WouldBlock) => Ok(LockState::Held(read(&mut file))),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Who holds the lock of this truth folder now, if anybody does.
pub fn holder(truth: &Path) -> Option<Holder> {
    match lock_state(truth) {
        Ok(LockState::Held(holder)) => holder,
        _ => None,
    }
}

/// Refuses what would be undone by the run that goes on.
pub fn nobody_is_at_work(truth: &Path, why: &str) -> Result<()> {
    match holder(truth) {
        None => Ok(()),
        Some(holder) => Err(Error::new(format!("a run is going on here (pid {})", holder.pid))
            .because(why)
            .hint("wait for it, or stop it: ralph stop")),
    }
}

/// Refuses a second run.
pub fn no_other_run(truth: &Path) -> Result<()> {
    holder(truth).map_or(Ok(()), |holder| Err(another_run(Some(&holder))))
}

fn another_run(holder: Option<&Holder>) -> Error {
    let error = match holder {
        Some(holder) => Error::new(format!(
            "another run is going on here (pid {}, since {})",
            holder.pid,
            clock::local(holder.since, clock::now())
        )),
        None => Error::new("another run is going on here"),
    };
    error
        .because("two agents in one tree would undo each other's work")
        .hint("ralph status")
        .hint("wait for it, or stop it: ralph stop")
}

/// Whether a run goes on in this repository though its lock file is gone.
pub fn folder_is_held(truth: &Path) -> bool {
    let git_dir = truth.parent().filter(|_| truth.ends_with("ralph"));
    let folder = git_dir.and_then(|folder| File::open(folder).ok());
    folder.is_some_and(|folder| matches!(folder.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

/// Waits until no keeper of an earlier run is left: each holds this file shared while its command lives.
/// After a `kill -9` of ralph they need a moment to end what they keep.
pub fn wait_for_keepers(file: &Path, longest: Duration) -> Result<()> {
    let lock = open(file).map_err(error::io("cannot open", file))?;
    let (done, waiting) = mpsc::channel();
    std::thread::spawn(move || {
        let locked = lock.lock();
        let _ = done.send(locked);
    });
    match waiting.recv_timeout(longest) {
        Ok(locked) => locked.map_err(error::io("cannot lock", file)),
        Err(_) => Err(Error::new("an agent or check of an earlier run is still at work here")
            .because("its keeper has not ended it yet")
            .hint("try again in a moment; `ps` shows it as `ralph __keep`")),
    }
}

fn open(path: &Path) -> std::io::Result<File> {
    files::open_itself("open", path, OpenOptions::new().read(true).write(true))
}

fn read(file: &mut File) -> Option<Holder> {
    let mut text = String::new();
    file.rewind().ok()?;
    file.read_to_string(&mut text).ok()?;
    serde_json::from_str(&text).ok()
}

/// A short wait for another process.
pub fn pause(time: Duration) {
    let (_keep, nothing) = mpsc::channel::<()>();
    let _ = nothing.recv_timeout(time);
}
