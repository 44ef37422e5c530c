//! Which backlog a run works through.

use std::path::{Path, PathBuf};

use ralph_core::event::Plan;
use ralph_core::items::BacklogPlan;

use super::RunArgs;
use crate::error::{Error, Result};
use crate::project::Project;
use crate::settings::Wishes;
use crate::trust::Commands;
use crate::work::{self, Place, Source};

/// What the command line says; `None` where it does not speak of a backlog.
pub(super) fn wanted(project: &Project, args: &RunArgs) -> Result<Option<BacklogPlan>> {
    let named = args.backlog.is_some() || args.harness_dir.is_some();
    let meant = named || args.task.is_some() || args.phase.is_some() || args.once || args.all;
    if !meant {
        return Ok(None);
    }
    let place = Place::of(args.backlog.as_deref(), args.harness_dir.as_deref())?;
    place.is_there()?;
    let plan = BacklogPlan {
        file: below(project, &place.path)?,
        task: args.task.clone(),
        phase: args.phase.clone(),
        once: args.once,
    };
    source(project, &plan)?.is_there()?;
    Ok(Some(plan))
}

/// The project's backlog, and what working through it is called, where nobody says what to do.
pub(super) fn found(project: &Project) -> Result<Option<(BacklogPlan, String)>> {
    let Some(path) = work::find(&project.root)? else { return Ok(None) };
    let plan = BacklogPlan { file: below(project, &path)?, ..BacklogPlan::default() };
    source(project, &plan)?.is_there()?;
    let goal = called(&plan);
    Ok(Some((plan, goal)))
}

fn source(project: &Project, plan: &BacklogPlan) -> Result<Source> {
    Source::new(&project.root, plan, 0)
}

/// The commands that a run's backlog brings: those of its items, and the boot ritual, which becomes part of the plan.
pub(super) fn brought(project: &Project, plan: &mut Plan) -> Result<Commands> {
    let mut commands = Commands::default();
    plan.boot = None;
    let Some(backlog) = &plan.backlog else { return Ok(commands) };
    if plan.policy.boot
        && let Some(boot) = work::boot(project, backlog)?
    {
        commands.add(boot.source, boot.content);
        plan.boot = Some(boot.check);
    }
    if plan.policy.wants_checks() {
        // What cannot be read stops the run, with its own words.
        for (source, command) in source(project, backlog)?.commands().unwrap_or_default() {
            commands.add(source, command);
        }
    }
    Ok(commands)
}

/// What a run is called that works through a backlog.
pub(super) fn goal(wishes: &Wishes) -> Option<String> {
    wishes.backlog.as_ref().map(called)
}

fn called(plan: &BacklogPlan) -> String {
    match (&plan.task, &plan.phase) {
        (Some(task), _) => format!("item {task} of {}", plan.file),
        (None, Some(phase)) => format!("phase {phase} of {}", plan.file),
        (None, None) => format!("every item of {}", plan.file),
    }
}

/// From the top of the project.
pub(in crate::cli) fn below(project: &Project, path: &Path) -> Result<String> {
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
