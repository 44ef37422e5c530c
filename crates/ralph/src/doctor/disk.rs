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
    enough(told.f_bavail.saturating_mul(told.f_frsize))
}

/// Whether a run gets far with this many bytes.
fn enough(free: u64) -> Finding {
    let text = format!("{} MB free", free / MB);
    let remedy = "make room: transcripts and snapshots are kept there";
    match free {
        ..TOO_LITTLE => Finding::failed("disk", text, remedy),
        TOO_LITTLE..LITTLE => Finding::warned("disk", text, remedy),
        _ => Finding::held("disk", text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Outcome;

    #[test]
    fn little_room_is_a_warning_and_hardly_any_a_failure() {
        for (free, outcome) in [
            (0, Outcome::Failed),
            (TOO_LITTLE - 1, Outcome::Failed),
            (TOO_LITTLE, Outcome::Warned),
            (LITTLE - 1, Outcome::Warned),
            (LITTLE, Outcome::Held),
        ] {
            let told = enough(free);
            assert_eq!(told.outcome, outcome, "{free}");
            assert_eq!(told.text, format!("{} MB free", free / MB));
            assert_eq!(told.remedy.is_some(), outcome != Outcome::Held, "{free}");
        }
    }
}
