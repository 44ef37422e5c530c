//! `ralph init`: looking at what is there, and writing what is not.
//!
//! | file | holds |
//! |---|---|
//! | `found` | agents, checks, a backlog, the files of other loops |
//! | `plugin` | the file of Claude's ralph-loop plugin |
//! | `texts` | what the new files say |

mod found;
mod plugin;
mod texts;

use std::path::Path;

pub(crate) use found::{Found, FoundBacklog, items, look};
pub(crate) use plugin::{FILE as PLUGIN, Plugin, in_the_way};
pub(crate) use texts::{files, shared_ignore};

use crate::error::Result;
use crate::store::{self, Placed};

/// A file of `.ralph/` that is to be there.
#[derive(Debug, Clone)]
pub(crate) struct Wanted {
    pub(crate) name: &'static str,
    pub(crate) text: String,
    /// Whether `--force` may put it in the place of another.
    pub(crate) may_replace: bool,
}

/// Writes what is missing, `share` as the folder's ignore file; with `force` also over what is there, of which a copy stays.
pub(crate) fn write(
    dir: &Path,
    wanted: &[Wanted],
    share: Option<&str>,
    force: bool,
) -> Result<Vec<(String, Placed)>> {
    let mut done = vec![(".gitignore".to_owned(), store::own_folder(dir, share)?)];
    for file in wanted {
        let placed = store::place(&dir.join(file.name), file.text.as_bytes(), force && file.may_replace)?;
        done.push((file.name.to_owned(), placed));
    }
    Ok(done)
}
