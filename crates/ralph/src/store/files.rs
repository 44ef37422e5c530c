//! Folders, private files, and replacing a file whole.
#![expect(clippy::disallowed_methods, reason = "the store writes ralph's files")]

use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Seek, Write};
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use super::stamp::Stamp;
use crate::error::{self, Result};
use crate::unix::rights::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use crate::{clock, point};

/// A folder only the user can look into, with its parents.
pub(super) fn private_dir(dir: &Path) -> io::Result<()> {
    point::file("make folder", dir)?;
    DirBuilder::new().recursive(true).mode(0o700).create(dir)
}

/// A folder others may look into, as the user's own settings say.
pub fn make_dir(dir: &Path) -> io::Result<()> {
    point::file("make folder", dir)?;
    std::fs::create_dir_all(dir)
}

/// What comes of a folder that is being removed while something is made in it: the next attempt may succeed.
pub fn is_passing(error: &io::Error) -> bool {
    use io::ErrorKind::{AlreadyExists, DirectoryNotEmpty, NotFound};
    matches!(error.kind(), NotFound | AlreadyExists | DirectoryNotEmpty)
}

/// What a disk refuses for a moment is asked for once more. `effect` begins anew each time.
pub(super) fn twice<T>(mut effect: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    effect().or_else(|_| effect())
}

/// Leaves the time on a file: whoever writes to it was at work until now. What is no file is let be.
pub fn sign_of_life(path: &Path) {
    if !std::fs::symlink_metadata(path).is_ok_and(|data| data.is_file()) {
        return;
    }
    let now = Duration::from_millis(u64::try_from(clock::now().millis()).unwrap_or_default());
    // Where it cannot be, the last write is the last sign.
    let _ = File::open(path).and_then(|file| file.set_modified(UNIX_EPOCH + now));
}

/// A new private file. An old one of that name (of an attempt that was cut off) is replaced.
pub fn write_private(path: &Path, text: &[u8]) -> io::Result<()> {
    let mut file = new_private(path)?;
    point::torn(path, || (&file).write_all(&text[..text.len() / 2]))?;
    file.write_all(text)
}

/// The same, to be written to.
pub(super) fn new_private(path: &Path) -> io::Result<File> {
    make_anew("create", path, private().write(true))
}

/// A new file with the user's own permissions; there must be none of that name.
pub fn write_new(path: &Path, text: &[u8]) -> io::Result<()> {
    point::file("create", path)?;
    OpenOptions::new().write(true).create_new(true).open(path)?.write_all(text)
}

/// The same with these rights.
pub fn write_with(path: &Path, text: &[u8], mode: u32) -> io::Result<()> {
    write_new(path, text)?;
    point::file("set the rights of", path)?;
    std::fs::set_permissions(path, Permissions::from_mode(mode))
}

/// A file of settings where there was none, with its folder; in a project that folder ignores itself.
pub fn write_settings(path: &Path, text: &[u8], in_project: bool) -> Result<()> {
    let dir = path.parent().unwrap_or(Path::new("."));
    if in_project {
        stays_within(dir.parent().unwrap_or(dir), dir).map_err(error::io("cannot write", path))?;
    }
    let made = match in_project {
        true => super::views::make_own_folder(dir),
        false => make_dir(dir),
    };
    made.map_err(error::io("cannot make", dir))?;
    write_new(path, text).map_err(error::io("cannot write", path))
}

/// A private file to append to.
pub fn append_private(path: &Path) -> io::Result<File> {
    open_itself("open", path, private().read(true).append(true))
}

/// Opens the file of this name, or makes it: never the one that a link leads to. Names in a project can be guessed, so
/// whoever makes its files could have ralph write to any file of the user's.
pub fn open_itself(verb: &str, path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    point::file(verb, path)?;
    match options.create_new(true).open(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        made => return made,
    }
    if !path.is_symlink() {
        let file = options.create_new(false).open(path)?;
        let opened = Stamp::of_open(&file).zip(Stamp::at(path));
        if opened.is_some_and(|(opened, named)| opened.same_file(named)) {
            return Ok(file);
        }
    }
    Err(io::Error::other("it is a link, and ralph writes through none; remove it"))
}

/// Refuses a folder that a link leads out of the project.
pub(super) fn stays_within(root: &Path, dir: &Path) -> io::Result<()> {
    if !dir.is_symlink() || dir.canonicalize()?.starts_with(root.canonicalize()?) {
        return Ok(());
    }
    let name = dir.strip_prefix(root).unwrap_or(dir).display();
    Err(io::Error::other(format!(
        "{name} is a link that leads out of the project, and nothing is written there"
    )))
}

/// A file that was written to and lost its name meanwhile gets it back, with all that is in it.
pub fn put_back_if_gone(path: &Path, file: &mut File) -> io::Result<()> {
    let held = Stamp::of_open(file).zip(Stamp::at(path));
    if held.is_some_and(|(held, named)| held.same_file(named)) {
        return Ok(());
    }
    if let Some(dir) = path.parent() {
        private_dir(dir)?;
    }
    file.rewind()?;
    io::copy(file, &mut private_anew(path)?).map(drop)
}

/// A private file made anew, whatever stands there.
pub(super) fn private_anew(path: &Path) -> io::Result<File> {
    remove(path)?;
    point::file("create", path)?;
    private().read(true).write(true).create_new(true).open(path)
}

/// A private file that nobody can find: it has no name any more.
pub(super) fn nameless(path: &Path) -> io::Result<File> {
    let file = private_anew(path)?;
    remove(path)?;
    Ok(file)
}

/// A file that may be gone already.
pub fn remove(path: &Path) -> io::Result<()> {
    match point::file("remove", path).and_then(|()| std::fs::remove_file(path)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// A folder without anything in it.
pub(super) fn remove_empty(path: &Path) -> io::Result<()> {
    point::file("remove", path)?;
    std::fs::remove_dir(path)
}

pub(super) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    point::file("rename", to)?;
    std::fs::rename(from, to)
}

/// A file of this name that was not there before, so that nothing is written through a link.
fn make_anew(verb: &str, path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    point::file(verb, path)?;
    match options.create_new(true).open(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            remove(path)?;
            options.open(path)
        }
        made => made,
    }
}

fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.mode(0o600);
    options
}

/// Replaces a view whole, so that a reader sees the old or the new one. Not synced: views are made again.
pub(super) fn replace(path: &Path, text: &[u8]) -> io::Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    replace_through(&path.with_file_name(format!(".{name}.new")), path, text)
}

/// The same, with the place where the new one is made; it must be on the same file system.
pub(super) fn replace_through(made: &Path, path: &Path, text: &[u8]) -> io::Result<()> {
    let replaced = write_anew(made, text)
        .and_then(|()| point::file("rename", path))
        .and_then(|()| std::fs::rename(made, path));
    if replaced.is_err() {
        // Nobody asks for it under that name; where it cannot be removed either, it is as harmless as it is useless.
        let _ = std::fs::remove_file(made);
    }
    replaced
}

/// A file of this name with this text, which was not there before.
pub(super) fn write_anew(path: &Path, text: &[u8]) -> io::Result<()> {
    make_anew("write", path, OpenOptions::new().write(true)).and_then(|mut file| file.write_all(text))
}

/// Replaces a private file whole; it is durable when this returns.
pub(super) fn replace_durably(path: &Path, text: &[u8]) -> io::Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let beside = path.with_file_name(format!(".{name}.new"));
    let mut file = new_private(&beside)?;
    file.write_all(text)?;
    point::file("sync", &beside)?;
    file.sync_all()?;
    point::file("rename", path)?;
    std::fs::rename(&beside, path)?;
    path.parent().map_or(Ok(()), sync_dir)
}

/// Makes the names in a folder durable.
pub(super) fn sync_dir(dir: &Path) -> io::Result<()> {
    point::file("sync folder", dir)?;
    File::open(dir)?.sync_all()
}
