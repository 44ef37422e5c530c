//! Which backlog a run works through.

use std::path::{Path, PathBuf};

use ralph_core::items::BacklogPlan;

use super::RunArgs;
use crate::error::{Error, Result};
use crate::project::Project;
use crate::settings::Wishes;
use crate::work::{self, Place};

/// What the command line says; `None` where it does not speak of a backlog.
pub(super) fn wanted(project: &Project, args: &RunArgs) -> Result<Option<BacklogPlan>> {
    let named = args.backlog.is_some() || args.harness_dir.is_some();
    let meant = named || args.task.is_some() || args.phase.is_some() || args.once || args.all;
    if !meant {
        return Ok(None);
    }
    let place = Place::of(args.backlog.as_deref(), args.harness_dir.as_deref())?;
    place.is_there()?;
    Ok(Some(BacklogPlan {
        file: below(project, &place.path)?,
        task: args.task.clone(),
        phase: args.phase.clone(),
        once: args.once,
    }))
}

/// The project's backlog, and what working through it is called, where nobody says what to do.
pub(super) fn found(project: &Project, unsaid: bool) -> Result<Option<(BacklogPlan, String)>> {
    let path = if unsaid { work::find(&project.root)? } else { None };
    let file = path.and_then(|path| below(project, &path).ok());
    Ok(file.map(|file| {
        let plan = BacklogPlan { file, ..BacklogPlan::default() };
        let goal = called(&plan);
        (plan, goal)
    }))
}

/// What a run is called that works through a backlog.
pub(super) fn goal(wishes: &Wishes) -> Option<String> {
    wishes.backlog.as_ref().map(called)
}

fn called(plan: &BacklogPlan) -> String {
    format!("every item of {}", plan.file)
}

/// From the top of the project.
fn below(project: &Project, path: &Path) -> Result<String> {
    let full = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    let full = full.canonicalize().unwrap_or(full);
    let root = project.root.canonicalize().unwrap_or_else(|_| project.root.clone());
    let inside = full.strip_prefix(&root).map(Path::to_path_buf).ok();
    // A link out of the project is still the project's file.
    let inside = inside.or_else(|| path.strip_prefix(&project.root).map(PathBuf::from).ok());
    let name = inside.and_then(|path| path.to_str().map(str::to_owned));
    name.ok_or_else(|| {
        Error::usage(format!("{} is not in this project", path.display()))
            .because(format!("a run works on {}", project.root.display()))
    })
}
