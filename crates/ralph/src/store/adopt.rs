//! Files that ralph has no record of, under names that it writes to: moved aside before the first write.

use std::path::{Path, PathBuf};

use super::{files, guard, views};
use crate::error::{self, Result};

/// Below `.ralph/`.
const KEPT: &str = "before-ralph";

/// What was moved, from the top of the project, and where it is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Adopted {
    pub moved: Vec<String>,
    pub to: String,
}

/// Moves aside what a first run would write over; to be called while the project has no run. Each move is one rename, and
/// nothing takes the place of anything, so that a ralph that was cut off in between leaves the rest to the next one.
pub fn adopt(root: &Path, ralph_dir: &Path) -> Result<Option<Adopted>> {
    // Nothing is written through a link that leads out of the project, so nothing there is in danger.
    if files::stays_within(root, ralph_dir).is_err() {
        return Ok(None);
    }
    let found = in_the_way(root, ralph_dir);
    if found.is_empty() {
        return Ok(None);
    }
    let to = free(ralph_dir, &found);
    for (from, name) in &found {
        let target = to.join(name);
        let dir = target.parent().unwrap_or(&to);
        files::make_dir(dir).map_err(error::io("cannot make", dir))?;
        files::rename(from, &target).map_err(error::io("cannot move aside", from))?;
        files::sync_dir(dir).map_err(error::io("cannot write", dir))?;
    }
    let shown = |path: &Path| path.strip_prefix(root).unwrap_or(path).display().to_string();
    let moved = found.iter().map(|(from, _)| shown(from)).collect();
    Ok(Some(Adopted { moved, to: shown(&to) }))
}

/// Each with its name below the folder that it is kept in.
fn in_the_way(root: &Path, ralph_dir: &Path) -> Vec<(PathBuf, String)> {
    let inside = views::written().chain(guard::half_written()).map(|name| (ralph_dir.join(&name), name));
    let outside = [(root.join(views::SESSION_VIEW), views::SESSION_VIEW.to_owned())];
    inside.chain(outside).filter(|(path, _)| is_in_danger(path)).collect()
}

/// What is empty, or says what ralph itself would write, loses nothing.
fn is_in_danger(path: &Path) -> bool {
    let Ok(data) = std::fs::symlink_metadata(path) else { return false };
    if data.is_dir() {
        return std::fs::read_dir(path).map_or(true, |mut entries| entries.next().is_some());
    }
    !(data.is_file() && std::fs::read(path).is_ok_and(|text| text == views::IDLE))
}

/// `before-ralph`, or the next one in which none of these names is taken.
fn free(ralph_dir: &Path, found: &[(PathBuf, String)]) -> PathBuf {
    let numbered = (2_u32..).map(|number| ralph_dir.join(format!("{KEPT}-{number}")));
    let is_free = |dir: &PathBuf| {
        let stands = |path: &Path| path.symlink_metadata().is_ok();
        (!stands(dir) || dir.is_dir() && !dir.is_symlink())
            && !found.iter().any(|(_, name)| stands(&dir.join(name)))
    };
    let first = ralph_dir.join(KEPT);
    std::iter::once(first.clone()).chain(numbered).find(is_free).unwrap_or(first)
}
