//! `cargo xtask agents`: the real agent CLIs that tests run, pinned, in a cache folder of our own.
//!
//! An install is made beside its place, proved by running it, marked and only then renamed into place, so
//! what is in place is whole. A lock keeps two of us apart; the second finds the work done.

mod install;

use std::fs::File;
use std::path::{Path, PathBuf};

use crate::{Result, workspace};

/// One CLI as npm has it.
#[derive(Debug, Clone, Copy)]
struct Pin {
    name: &'static str,
    package: &'static str,
    version: &'static str,
    /// Where the native program is: in a folder of `scope` whose name begins with `platform_prefix`, because
    /// npm installs only the package of this platform.
    scope: &'static str,
    platform_prefix: &'static str,
    program: &'static str,
    /// Set while it proves its version.
    env: &'static [(&'static str, &'static str)],
    /// Tells the tests where the program is.
    variable: &'static str,
}

const PINS: &[Pin] = &[Pin {
    name: "claude",
    package: "@anthropic-ai/claude-code",
    version: "2.1.197",
    scope: "@anthropic-ai",
    platform_prefix: "claude-code-",
    program: "claude",
    env: &[("DISABLE_AUTOUPDATER", "1")],
    variable: "RALPH_TEST_CLAUDE",
}];

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
