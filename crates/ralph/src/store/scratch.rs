//! Folders for a while: made in the system's temporary folder, seen by the user alone, and gone with their owner.
#![expect(clippy::disallowed_methods, reason = "what is removed was made here")]

use std::fs::DirBuilder;
use std::io;
use std::path::{Path, PathBuf};

use super::files;
use crate::point;
use crate::unix::rights::{DirBuilderExt, PermissionsExt};

/// A folder that is removed when nobody needs it any more.
#[derive(Debug)]
pub struct Scratch {
    dir: PathBuf,
}

impl Scratch {
    /// A new folder whose name begins with `name`.
    pub fn new(name: &str) -> io::Result<Self> {
        let base = std::fs::canonicalize(std::env::temp_dir())?;
        for nth in 0..u32::MAX {
            let dir = base.join(format!("{name}-{}-{nth}", std::process::id()));
            point::file("make folder", &dir)?;
            match DirBuilder::new().mode(0o700).create(&dir) {
                Ok(()) => return Ok(Self { dir }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    pub fn path(&self) -> &Path {
        &self.dir
    }

    /// A folder in it.
    pub fn folder(&self, name: &str) -> io::Result<PathBuf> {
        let dir = self.dir.join(name);
        files::private_dir(&dir)?;
        Ok(dir)
    }

    /// Removes it now, and tells if that cannot be done.
    pub fn remove(self) -> io::Result<()> {
        remove_all(&self.dir)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = remove_all(&self.dir);
    }
}

fn remove_all(dir: &Path) -> io::Result<()> {
    let gone = |error: &io::Error| error.kind() == io::ErrorKind::NotFound;
    match point::file("remove folder", dir).and_then(|()| std::fs::remove_dir_all(dir)) {
        Err(error) if !gone(&error) => {
            // Some tools leave folders that nobody may write to.
            open_up(dir);
            std::fs::remove_dir_all(dir)
        }
        _ => Ok(()),
    }
}

fn open_up(dir: &Path) {
    let _ = std::fs::set_permissions(dir, PermissionsExt::from_mode(0o700));
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            open_up(&entry.path());
        }
    }
}

/// Lets a repository that ralph made read objects from elsewhere. `objects` is its own store.
pub fn lend_objects(objects: &Path, lender: &[u8]) -> io::Result<()> {
    files::private_dir(&objects.join("info"))?;
    files::write_private(&objects.join("info/alternates"), lender)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_goes_with_its_owner_whatever_was_left_in_it() {
        let (first, second) =
            (Scratch::new("ralph-scratch").unwrap(), Scratch::new("ralph-scratch").unwrap());
        assert_ne!(first.path(), second.path());
        let locked = first.folder("a/locked").unwrap();
        std::fs::write(locked.join("file"), "x").unwrap();
        std::fs::set_permissions(&locked, PermissionsExt::from_mode(0o500)).unwrap();
        let place = first.path().to_owned();
        first.remove().unwrap();
        assert!(!place.exists());
        let place = second.path().to_owned();
        drop(second);
        assert!(!place.exists());
    }
}
