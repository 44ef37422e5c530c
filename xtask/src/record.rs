//! `cargo xtask record`: what the pinned agent CLIs print, written down by the testkit's recorder.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::{Result, agents, step, workspace};

pub(crate) fn main(folder: Option<&str>, prefix: &str) -> Result<()> {
    let folder = match folder {
        // Cargo is run elsewhere.
        Some(folder) => std::path::absolute(folder).map_err(|error| format!("{folder:?}: {error}"))?,
        None => recordings(),
    };
    let folder = folder.to_str().ok_or_else(|| format!("{folder:?}: not UTF-8"))?;
    if !has_timeout() {
        return Err("the recorder needs `timeout`, as GNU coreutils have it".into());
    }
    let agents = step::timed("agent CLIs", agents::install_all)?;
    let mut args = vec!["run", "--quiet", "--locked", "--package", "ralph-testkit"];
    args.extend(["--features", "real-agents", "--example", "record", "--", folder]);
    args.extend((!prefix.is_empty()).then_some(prefix));
    step::cargo("recordings", &args, &agents)
}

fn recordings() -> PathBuf {
    workspace::root().join("crates/ralph-testkit/recordings")
}

/// Some agents never give up; `timeout` ends them, and those that do not listen.
fn has_timeout() -> bool {
    let mut timeout = Command::new("timeout");
    timeout.args(["-k", "5", "25", "true"]).stdin(Stdio::null()).stderr(Stdio::null());
    timeout.status().is_ok_and(|status| status.success())
}
