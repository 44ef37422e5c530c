//! The boot ritual: `init.sh` of the harness must pass before anything is selected.

use ralph_core::check::CheckSpec;
use ralph_core::items::BacklogPlan;

use super::Source;
use crate::digest;
use crate::error::{self, Result};
use crate::project::Project;

const SCRIPT: &str = "init.sh";
/// Where a harness is, unless the task file is in one.
const HARNESS: &str = ".claude/harness/";

/// What is to be run.
#[derive(Debug)]
pub(crate) struct Boot {
    pub(crate) check: CheckSpec,
    /// Where it stands, and what it is, for whoever is to trust it.
    pub(crate) source: String,
    pub(crate) content: String,
}

/// `None` where the harness has no such script.
pub(crate) fn boot(project: &Project, plan: &BacklogPlan) -> Result<Option<Boot>> {
    let dir = Source::new(&project.root, plan, 0)?.harness().unwrap_or_else(|| HARNESS.into());
    let source = format!("{dir}{SCRIPT}");
    let path = project.root.join(&source);
    if !path.is_file() {
        return Ok(None);
    }
    let digest = digest::of_file(&path).map_err(error::io("cannot read", &path))?;
    let quoted = dir.replace('\'', "'\\''");
    let command = format!("cd '{quoted}' && if test -x ./{SCRIPT}; then ./{SCRIPT}; else sh ./{SCRIPT}; fi");
    let content = format!("./{SCRIPT} as it is now (BLAKE3 {digest})");
    Ok(Some(Boot { check: CheckSpec::named("boot", command), source, content }))
}
