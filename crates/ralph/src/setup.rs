//! `ralph init`: looking at what is there, and writing what is not.
//!
//! | file | holds |
//! |---|---|
//! | `earlier` | what an earlier tool left: moved aside before the first write |
//! | `found` | agents, checks, a backlog, the files of other loops |
//! | `plugin` | the file of Claude's ralph-loop plugin |
//! | `texts` | what the new files say |

mod earlier;
mod found;
mod plugin;
mod texts;

use std::path::Path;

pub(crate) use earlier::keep as keep_earlier;
pub(crate) use found::{Fitting, Found, FoundBacklog, look};
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

/// Puts the schema of requirements with them, where the task file is a harness's and there is none. Says where.
pub(crate) fn write_schema(root: &Path, found: &Found) -> Result<Option<String>> {
    let fitting = found.backlog.as_ref().and_then(|backlog| backlog.profile.as_ref());
    let Some(path) = fitting.and_then(|fitting| fitting.schema.as_ref()) else { return Ok(None) };
    let name = path.strip_prefix(root).unwrap_or(path).display().to_string();
    let placed = store::place_below(root, path, texts::prd_schema().as_bytes())?;
    Ok((placed == Placed::Wrote).then_some(name))
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
