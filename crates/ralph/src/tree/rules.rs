//! `.ralphignore` at the top of the working tree: files that ralph is neither to measure, nor to keep, nor to put back,
//! tracked or not. It is written like `.gitignore`.
//!
//! git takes one file of such rules from its settings, which may be the user's own; so both are put into one.

use std::fs;
use std::path::{Path, PathBuf};

use super::memory::Stamp;
use super::{Place, TreeError};
use crate::{point, store};

const NAME: &str = ".ralphignore";

impl Place {
    /// The user's rules for all repositories, and the project's for ralph.
    pub(super) fn rules(&self) -> PathBuf {
        self.beside("ignore")
    }

    fn own_rules(&self) -> PathBuf {
        self.in_work_tree(NAME)
    }
}

/// Which rules hold that are in no `.gitignore`; another stamp, other rules.
pub(super) fn look(place: &mut Place) -> Result<Stamp, TreeError> {
    let own = place.own_rules();
    place.has_own_rules = fs::metadata(&own).is_ok_and(|data| data.is_file());
    let outside = Stamp::at(&place.exclude)?;
    if place.has_own_rules { Ok(outside.and(&Stamp::at(&own)?)) } else { Ok(outside) }
}

/// Puts them where git looks for them.
pub(super) fn make(place: &Place) -> Result<(), TreeError> {
    if !place.has_own_rules {
        return Ok(());
    }
    let asked =
        place.outside_settings("config").args(["--type=path", "--get", "core.excludesFile"]).line()?;
    let users = asked.map(PathBuf::from).or_else(usual);
    let mut rules = users.and_then(|path| fs::read(path).ok()).unwrap_or_default();
    rules.push(b'\n');
    let own = place.own_rules();
    rules.extend(fs::read(&own).map_err(TreeError::file(&own))?);
    let path = place.rules();
    point::file("write", &path)
        .and_then(|()| store::write_private(&path, &rules))
        .map_err(TreeError::file(&path))
}

/// Where git looks if nothing is set.
fn usual() -> Option<PathBuf> {
    let folder = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let config = folder("XDG_CONFIG_HOME").or_else(|| Some(folder("HOME")?.join(".config")))?;
    Some(config.join("git/ignore"))
}

/// What an index has and these rules leave out, as a `-z` list.
pub(super) fn left_out(place: &Place, index: &Path) -> Result<Vec<u8>, TreeError> {
    if !place.has_own_rules {
        return Ok(Vec::new());
    }
    let call = place.call_on(index, "ls-files").args(["-z", "--cached", "--ignored", "--exclude-from"]);
    Ok(call.arg(place.own_rules()).output()?)
}
