//! Named pipes in the place of files that git reads by itself: it waits at them for ever, and is ended. That says little to a
//! user, so the pipes are looked for then.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use super::{Place, TreeError};
use crate::git::GitError;
use crate::process::Hurry;
use crate::unix::identity::MetadataExt;

/// What git reads in every folder.
const READ: [&str; 2] = [".gitignore", ".gitattributes"];
/// And in its own one.
const OWN: [&str; 6] = ["HEAD", "config", "index", "packed-refs", "info/exclude", "info/attributes"];
/// What kind of file it is, as the system has it in its mode.
const KIND: u32 = 0o170_000;
const PIPE: u32 = 0o010_000;
/// How many files and folders are looked at.
const MOST: usize = 200_000;
/// How many pipes are named.
const NAMED: usize = 5;

/// The error of a git that was ended, with the pipes that it may have waited for.
pub(super) fn named_in(error: TreeError, place: &Place) -> TreeError {
    let TreeError::Git(GitError::Ended { command, why }) = error else { return error };
    // Whoever is in a hurry does not want to wait for a search either.
    let hurried = place.hurry.as_ref().is_some_and(Hurry::is_up);
    let pipes = if hurried { vec![] } else { found(place) };
    let why = match pipes.is_empty() {
        true => why,
        false => format!("it waits for a named pipe in the place of a file; remove it: {}", pipes.join(", ")),
    };
    GitError::Ended { command, why }.into()
}

fn found(place: &Place) -> Vec<String> {
    let top = place.in_work_tree("");
    let mut found: Vec<PathBuf> =
        OWN.iter().map(|name| place.git_dir().join(name)).filter(|path| is_pipe(path)).collect();
    let mut folders = vec![top.clone()];
    let mut left = MOST;
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            left = left.saturating_sub(1);
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() && entry.file_name() != OsStr::new(".git") {
                folders.push(entry.path());
            } else if READ.iter().any(|name| entry.file_name() == OsStr::new(name)) && is_pipe(&entry.path())
            {
                found.push(entry.path());
            }
        }
        if left == 0 {
            break;
        }
    }
    found.sort();
    let name = |path: &PathBuf| path.strip_prefix(&top).unwrap_or(path).display().to_string();
    found.iter().take(NAMED).map(name).collect()
}

/// A pipe, or a link to one.
fn is_pipe(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|data| data.mode() & KIND == PIPE)
}
