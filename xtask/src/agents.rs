//! `cargo xtask agents`: the real agent CLIs that tests run, pinned, in a cache folder of our own.
//!
//! An install is made beside its place, proved by running it, marked and only then renamed into place, so
//! what is in place is whole. A lock keeps two of us apart; the second finds the work done.

mod install;
mod pins;
mod program;

use std::fs::File;
use std::path::{Path, PathBuf};

use crate::{Result, workspace};
use pins::{PINS, Pin};

/// An installed CLI.
#[derive(Debug)]
pub(crate) struct Agent {
    pub(crate) variable: &'static str,
    pub(crate) program: PathBuf,
}

pub(crate) fn main() -> Result<()> {
    for agent in install_all()? {
        println!("{}={}", agent.variable, agent.program.display());
    }
    Ok(())
}

/// Installs what is missing. An error is one line.
pub(crate) fn install_all() -> Result<Vec<Agent>> {
    // Before anything large is fetched in vain.
    PINS.iter().try_for_each(|pin| pin.program.check(pin.name))?;
    let cache = cache_dir()?;
    std::fs::create_dir_all(&cache).map_err(|error| format!("{}: {error}", cache.display()))?;
    let cache = cache.canonicalize().map_err(|error| format!("{}: {error}", cache.display()))?;
    let _lock = lock(&cache.join("lock"))?;
    PINS.iter()
        .map(|pin| Ok(Agent { variable: pin.variable, program: install::installed(pin, &cache)? }))
        .collect()
}

fn cache_dir() -> Result<PathBuf> {
    match std::env::var_os("RALPH_AGENT_CACHE").filter(|dir| !dir.is_empty()) {
        Some(dir) => Ok(PathBuf::from(dir)),
        None => Ok(workspace::target_dir()?.join("agents")),
    }
}

/// Waits for its turn; the system lets go when the process ends.
fn lock(path: &Path) -> Result<File> {
    let wrong = |error| format!("{}: {error}", path.display());
    let file = File::create(path).map_err(wrong)?;
    file.lock().map_err(wrong)?;
    Ok(file)
}
