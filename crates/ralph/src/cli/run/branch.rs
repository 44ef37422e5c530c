//! Where commits go: said where it is the default branch or nowhere, and elsewhere if asked.

use ralph_core::event::Plan;
use ralph_core::text;

use super::super::introduction;
use super::Last;
use crate::error::{Error, Result};
use crate::project::Project;
use crate::suggest;
use crate::ui::Ui;
use crate::work::{Source, inherit};

/// Refuses commits that somebody asked for and nobody could make.
pub(super) fn may_commit(project: &Project, asked: bool) -> Result<()> {
    if asked && project.repo.is_none() {
        return Err(Error::usage("--commit needs a git repository")
            .because("there is none in this folder")
            .hint("git init, or leave --commit out: what is proved stays in your files"));
    }
    Ok(())
}

/// Refuses what git takes for no name.
pub(super) fn is_name(project: &Project, name: &str) -> Result<()> {
    let Some(repo) = &project.repo else { return Ok(()) };
    if repo.is_branch_name(name) {
        return Ok(());
    }
    let fine: String =
        name.chars().map(|c| if c.is_alphanumeric() || "-_./".contains(c) { c } else { '-' }).collect();
    let fine = fine.trim_matches(['-', '.', '/']).to_owned();
    let error = Error::usage(format!("'{}' is no name for a branch", text::one_line(name, 100)))
        .because("git does not take it: git check-ref-format --branch NAME");
    Err(match repo.is_branch_name(&fine) {
        true => error.hint(format!("--branch {fine}")),
        false => error.hint("--branch NAME, of letters, digits, - and /"),
    })
}

/// The branch that a new run's task file names, where it commits and nothing else names one.
pub(super) fn of_backlog(project: &Project, plan: &Plan, ui: &mut Ui) -> Result<Option<String>> {
    let (Some(repo), Some(backlog)) = (&project.repo, &plan.backlog) else { return Ok(None) };
    let Some(name) = Source::new(&project.root, backlog, 0)?.branch_name().filter(|_| plan.commits()) else {
        return Ok(None);
    };
    let file = &backlog.file;
    let stay = match repo.branch().ok().flatten() {
        Some(here) if here == name => return Ok(Some(name)),
        Some(here) => format!("--branch {}, which stays on it", suggest::quoted(&here)),
        None => "--branch NAME".to_owned(),
    };
    is_name(project, &name).map_err(|error| {
        Error { hints: vec![], ..error }.hint(format!("correct branchName in {file}")).hint(stay.clone())
    })?;
    if repo.has_branch(&name).map_err(|error| Error::new(error.to_string()))? {
        return Err(Error::usage(format!("{file} names the branch {name}, which is not checked out"))
            .because("ralph starts new branches and does not switch to existing ones")
            .hint(format!("git switch {}, then run again", suggest::quoted(&name)))
            .hint(stay));
    }
    ui.remark(&format!("{file} names the branch {name}; another: --branch NAME"));
    Ok(Some(name))
}

/// Refuses what could not be begun, before anything is written.
pub(super) fn may_begin(project: &Project, name: &str) -> Result<()> {
    let Some(repo) = &project.repo else {
        return Err(Error::usage("--branch needs a git repository").because("there is none in this folder"));
    };
    let there = repo.has_branch(name).map_err(|error| Error::new(error.to_string()))?;
    if there && !is_on(project, name) {
        return Err(Error::usage(format!("there is a branch {name} already"))
            .because("ralph begins new branches and leaves those that are there alone")
            .hint(format!("git switch {name}, then ralph run without --branch; or another name")));
    }
    Ok(())
}

/// Refuses to begin where the last agent left HEAD: what was refused there would be accepted by a ralph that knows of no other place.
pub(super) fn is_where_it_was(project: &Project, last: &Last) -> Result<()> {
    let Some(where_to) = inherit::left_elsewhere(project, &last.run, &last.state) else { return Ok(()) };
    Err(Error::new("the last agent left HEAD elsewhere")
        .because(where_to)
        .hint("go back first; or, to go on from where it is, the same command with --fresh"))
}

/// Goes to the new branch, or says that commits go to the default one, or that there are none. Returns the branch that was left.
pub(super) fn begin(
    project: &Project,
    plan: &Plan,
    name: Option<&str>,
    ui: &mut Ui,
) -> Result<Option<String>> {
    if !plan.commits() {
        return Ok(None);
    }
    let Some(repo) = &project.repo else {
        ui.remark(
            "proved work is not committed, for this folder is no git repository; it stays in your files",
        );
        return Ok(None);
    };
    // What nothing could prove passes by words, and its commit says that.
    let claims = || match introduction::takes_claims(project, plan) {
        true => ", and so is, as claimed, what is claimed without a check",
        false => "",
    };
    match name {
        Some(name) if is_on(project, name) => {}
        Some(name) => {
            let left = repo.branch().ok().flatten();
            repo.begin_branch(name).map_err(|error| {
                Error::new(format!("the branch {name} could not be begun")).because(error)
            })?;
            ui.remark(&format!("commits go to the new branch {name}, and you are left on it"));
            return Ok(left);
        }
        None => match repo.branch() {
            Ok(None) => ui.remark(&format!(
                "what passes is committed where HEAD is, which is on no branch{}: git loses such commits in time; on a branch: --branch NAME",
                claims()
            )),
            Ok(Some(branch)) if repo.default_branch().as_ref() == Some(&branch) => ui.remark(&format!(
                "what passes is committed on {branch}, the default branch{}; elsewhere: --branch NAME",
                claims()
            )),
            _ => {}
        },
    }
    Ok(None)
}

/// Where the run leaves whoever asked for a new branch, if that is where HEAD still is.
pub(super) fn way_back(project: &Project, name: Option<&str>, left: Option<String>) -> Option<String> {
    let (name, left) = (name.filter(|name| is_on(project, name))?, left?);
    Some(format!("you are on branch {name}; back: git switch {}", suggest::quoted(&left)))
}

fn is_on(project: &Project, name: &str) -> bool {
    project.repo.as_ref().is_some_and(|repo| repo.branch().ok().flatten().as_deref() == Some(name))
}
