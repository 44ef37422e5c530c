//! Files that are put where none are, for people to write on.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::{files, views};
use crate::error::{self, Error, Result};

/// What became of a file that was to be there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Placed {
    Wrote,
    /// Another one, or the same, was there and was not touched.
    Kept,
    /// A copy of what was there stays under this name.
    Replaced {
        copy: String,
    },
}

/// The folder, and the file in it that keeps it out of commits: its own, or `shared`, which takes the place of its own.
pub fn own_folder(dir: &Path, shared: Option<&str>) -> Result<Placed> {
    if dir.exists() && !dir.is_dir() {
        return Err(Error::new(format!("{} is not a folder", dir.display()))
            .because("ralph keeps there what people and agents read")
            .hint("move it away, then try again"));
    }
    files::stays_within(dir.parent().unwrap_or(dir), dir).map_err(|why| {
        Error::new(format!("{} is not written to", dir.display()))
            .because(why)
            .hint("put a folder of the project in its place, then try again")
    })?;
    let ignore = dir.join(".gitignore");
    let before = std::fs::read(&ignore).ok();
    files::make_dir(dir).map_err(error::io("cannot make", dir))?;
    let text = shared.unwrap_or(views::OWN_IGNORE);
    match before {
        None => {}
        Some(own) if own == views::OWN_IGNORE.as_bytes() && shared.is_some() => {}
        // What was shared before, and more.
        Some(own) if !own.is_empty() && own.len() < text.len() && text.as_bytes().starts_with(&own) => {}
        Some(_) => return Ok(Placed::Kept),
    }
    files::replace(&ignore, text.as_bytes()).map_err(error::io("cannot write", &ignore))?;
    Ok(Placed::Wrote)
}

/// A file with its folders, none of which may lead out of the project, where there is none of that name.
pub fn place_below(root: &Path, path: &Path, text: &[u8]) -> Result<Placed> {
    let dir = path.parent().unwrap_or(root);
    for above in dir.ancestors().take_while(|above| *above != root) {
        files::stays_within(root, above).map_err(error::io("cannot write", path))?;
    }
    files::make_dir(dir).map_err(error::io("cannot make", dir))?;
    place(path, text, false)
}

pub fn place(path: &Path, text: &[u8], force: bool) -> Result<Placed> {
    let cannot = || error::io("cannot write", path);
    match files::write_new(path, text) {
        Ok(()) => return Ok(Placed::Wrote),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        Err(error) => return Err(cannot()(error)),
    }
    // A link, a folder or a pipe is somebody's decision.
    let plain = std::fs::symlink_metadata(path).is_ok_and(|data| data.is_file());
    if !force || !plain || std::fs::read(path).is_ok_and(|there| there == text) {
        return Ok(Placed::Kept);
    }
    let before = std::fs::read(path).map_err(error::io("cannot read", path))?;
    let copy = free_name(path);
    files::write_new(&copy, &before).map_err(error::io("cannot write", &copy))?;
    files::replace(path, text).map_err(cannot())?;
    Ok(Placed::Replaced { copy: copy.file_name().unwrap_or_default().to_string_lossy().into_owned() })
}

/// `config.toml.1.old`, or the next number that is free.
fn free_name(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let numbered = (1_u32..).map(|number| path.with_file_name(format!("{name}.{number}.old")));
    numbered.into_iter().find(|path| path.symlink_metadata().is_err()).unwrap_or_else(|| path.to_path_buf())
}
