//! Changing a file that is the user's: whole or not at all, keeping its mode and the link that leads to it, and never
//! over what somebody else wrote meanwhile.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::Path;

use super::files;
use crate::error::{self, Error, Result};
use crate::unix::identity::MetadataExt;
use crate::unix::rights::OpenOptionsExt;
use crate::{point, process};

/// How often a file may change under our hands before we give up.
const TIMES: usize = 20;

/// Reads a file, hands it to `change`, and replaces it by what comes back; `None` leaves it alone. If the file is
/// another one by then, it is read and changed again. Other ralphs wait for their turn.
pub fn edit<T>(path: &Path, mut change: impl FnMut(&[u8]) -> Result<(Option<Vec<u8>>, T)>) -> Result<T> {
    let cannot = |what: &'static str| error::io(what, path);
    // A link stays a link: what it leads to is replaced.
    let file = fs::canonicalize(path).map_err(cannot("cannot read"))?;
    for _ in 0..TIMES {
        let mut held = File::open(&file).map_err(cannot("cannot read"))?;
        held.lock().map_err(cannot("cannot lock"))?;
        if !is_same(&held, &file) {
            continue;
        }
        remove_leftovers(&file);
        let mut before = Vec::new();
        held.read_to_end(&mut before).map_err(cannot("cannot read"))?;
        let (after, told) = change(&before)?;
        let Some(after) = after.filter(|after| *after != before) else { return Ok(told) };
        let made = Made::beside(&file, &held, &after).map_err(cannot("cannot write a copy of"))?;
        if still_says(&file, &before).map_err(cannot("cannot read"))? {
            made.replace(&file).map_err(cannot("cannot replace"))?;
            return Ok(told);
        }
    }
    Err(Error::new(format!("{} changes all the time", path.display()))
        .because("somebody else writes to it, and ralph does not overwrite what it has not read")
        .hint("try again when the other program has finished"))
}

/// Removes what a ralph that was killed while it changed this file left beside it, unless somebody changes it now.
pub fn clear_leftovers(path: &Path) {
    let Ok(file) = fs::canonicalize(path) else { return };
    let Ok(held) = File::open(&file) else { return };
    if held.try_lock().is_ok() && is_same(&held, &file) {
        remove_leftovers(&file);
    }
}

/// For whoever holds the file locked: then nobody else is about to replace it. Files of another naming, and of a process
/// that is there, are let be.
fn remove_leftovers(file: &Path) {
    let (Some(dir), Some(name)) = (file.parent(), file.file_name()) else { return };
    let name = name.to_string_lossy();
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let beside = entry.file_name();
        let number = beside.to_str().and_then(|beside| made_by(beside, &name));
        let Some(pid) = number.filter(|_| entry.file_type().is_ok_and(|kind| kind.is_file())) else {
            continue;
        };
        if pid == std::process::id() || !process::is_there(pid) {
            // Where it cannot be, it is in nobody's way.
            let _ = files::remove(&entry.path());
        }
    }
}

/// What a copy that is to take the file's place is called.
fn copy_name(name: &str, pid: u32) -> String {
    format!(".{name}.{pid}.new")
}

/// The process that named a copy of this file so.
fn made_by(beside: &str, name: &str) -> Option<u32> {
    let number = beside.strip_prefix('.')?.strip_prefix(name)?.strip_prefix('.')?.strip_suffix(".new")?;
    number.parse().ok().filter(|pid| copy_name(name, *pid) == beside)
}

/// Has the file say this again, also where it is gone.
pub fn put_back(path: &Path, text: &[u8]) -> Result<()> {
    if path.exists() {
        return edit(path, |_| Ok((Some(text.to_vec()), ())));
    }
    path.parent()
        .map_or(Ok(()), files::make_dir)
        .and_then(|()| files::write_new(path, text))
        .map_err(error::io("cannot write", path))
}

/// Whether the file has these bytes, and no others.
fn still_says(path: &Path, bytes: &[u8]) -> io::Result<bool> {
    let mut file = File::open(path)?;
    let (mut chunk, mut rest) = (vec![0; 1 << 18], bytes);
    loop {
        let read = match file.read(&mut chunk) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read?,
        };
        if read == 0 {
            return Ok(rest.is_empty());
        }
        match rest.strip_prefix(&chunk[..read]) {
            Some(left) => rest = left,
            None => return Ok(false),
        }
    }
}

/// Whether the name still leads to the file that is held.
fn is_same(held: &File, path: &Path) -> bool {
    let (Ok(held), Ok(there)) = (held.metadata(), fs::metadata(path)) else { return false };
    (held.dev(), held.ino()) == (there.dev(), there.ino())
}

/// A copy that is ready to take the file's place; gone again if it does not.
struct Made {
    path: std::path::PathBuf,
    placed: bool,
}

impl Made {
    fn beside(file: &Path, like: &File, text: &[u8]) -> io::Result<Self> {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let path = file.with_file_name(copy_name(&name, std::process::id()));
        files::remove(&path)?;
        point::file("create", &path)?;
        let mut copy = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        let made = Self { path, placed: false };
        point::torn(&made.path, || (&copy).write_all(&text[..text.len() / 2]))?;
        copy.write_all(text)?;
        copy.set_permissions(like.metadata()?.permissions())?;
        point::file("sync", &made.path)?;
        copy.sync_all()?;
        Ok(made)
    }

    fn replace(mut self, file: &Path) -> io::Result<()> {
        files::rename(&self.path, file)?;
        self.placed = true;
        file.parent().map_or(Ok(()), files::sync_dir)
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        if !self.placed {
            let _ = files::remove(&self.path);
        }
    }
}
