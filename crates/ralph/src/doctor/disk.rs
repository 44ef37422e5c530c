//! Room and rights, as the system tells them.

use std::path::Path;

use rustix::fs::{Access, access, statvfs};

use super::Finding;
use crate::project::Project;

const MB: u64 = 1 << 20;
/// A run writes transcripts and snapshots; with less it may not get far.
const LITTLE: u64 = 1024 * MB;
const TOO_LITTLE: u64 = 64 * MB;

pub(super) fn is_writable(dir: &Path) -> bool {
    access(dir, Access::WRITE_OK | Access::EXEC_OK).is_ok()
}

pub(super) fn room(project: &Project) -> Finding {
    let there = project.truth.ancestors().find(|dir| dir.is_dir()).unwrap_or(&project.root);
    let told = match statvfs(there) {
        Ok(told) => told,
        Err(error) => {
            let text = format!("{} does not tell how much room there is: {error}", there.display());
            return Finding::warned("disk", text, "see for yourself: df");
        }
    };
    let free = told.f_bavail.saturating_mul(told.f_frsize);
    let text = format!("{} MB free", free / MB);
    let remedy = "make room: transcripts and snapshots are kept there";
    match free {
        ..TOO_LITTLE => Finding::failed("disk", text, remedy),
        TOO_LITTLE..LITTLE => Finding::warned("disk", text, remedy),
        _ => Finding::held("disk", text),
    }
}
