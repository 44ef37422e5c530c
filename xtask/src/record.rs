//! `cargo xtask record`: what the pinned agent CLIs print, written down by the testkit's recorder.

use std::path::PathBuf;

use crate::{Result, agents, step, workspace};

pub(crate) fn main(folder: Option<&str>, prefix: &str) -> Result<()> {
    let folder = match folder {
        // Cargo is run elsewhere.
        Some(folder) => std::path::absolute(folder).map_err(|error| format!("{folder:?}: {error}"))?,
        None => recordings(),
    };
    let folder = folder.to_str().ok_or_else(|| format!("{folder:?}: not UTF-8"))?;
    let agents = step::timed("agent CLIs", agents::install_all)?;
    let mut args = vec!["run", "--quiet", "--locked", "--package", "ralph-testkit"];
    args.extend(["--features", "real-agents", "--example", "record", "--", folder]);
    args.extend((!prefix.is_empty()).then_some(prefix));
    step::cargo("recordings", &args, &agents)
}

fn recordings() -> PathBuf {
    workspace::root().join("crates/ralph-testkit/recordings")
}
