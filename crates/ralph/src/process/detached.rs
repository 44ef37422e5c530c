//! A ralph that outlives the one that starts it.

use std::fs::File;
use std::os::unix::process::CommandExt;
use std::process::Stdio;

use super::{SpawnError, Spec, mark};
use crate::point;

/// Starts it in a process group of its own, with everything it says in `log`, and returns its process id. The caller does
/// not wait for its end.
pub fn start_detached(spec: &Spec, log: File) -> Result<u32, SpawnError> {
    let failed = |error: std::io::Error| spec.spawn_error(&error);
    let mut command = spec.command();
    let errors = log.try_clone().map_err(failed)?;
    command.args(&spec.args).stdin(Stdio::null()).stdout(log).stderr(errors).process_group(0);
    let spawned = point::call("start", &spec.program, &spec.args)
        .and_then(|()| mark::started_with(None, || command.spawn()));
    spawned.map(|child| child.id()).map_err(failed)
}
