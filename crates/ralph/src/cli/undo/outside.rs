//! What an undo would put back that is not, or not only, the work of agents.

use std::ffi::OsStr;

use ralph_core::git_text::Change;
use ralph_core::text;
use ralph_core::trail::{self, Outside};

use super::{NAMED, Target, UndoArgs, are, typed};
use crate::digest;
use crate::project::Project;
use crate::tree::{Snapshot, Tree, TreeError, WayBack};
use crate::ui::Ui;
use crate::unix::names::OsStrExt;

const IN_BETWEEN: &str = "changed outside of the iterations, by you, a check or somebody else";
const SINCE: &str = "changed since the last iteration or undo, by you or somebody else";
const UNTOLD: &str = "an iteration was cut off, or a snapshot is gone: what you changed around it cannot be told from \
                      its work, and is put back too";

pub(super) fn of(
    target: &Target,
    now: &Snapshot,
    tree: &Tree,
    project: &Project,
) -> Result<Outside, TreeError> {
    let mut trail = target.trail.clone();
    if trail.trees().next().is_none() {
        return Ok(Outside { untold: target.iteration.is_some(), ..Outside::default() });
    }
    trail.end(now.tree.as_str());
    let back = tree.compare(&now.tree, &target.tree)?;
    let steps = tree.along(&trail)?;
    // The task file with its marks.
    let is_ours = |change: &Change| {
        let path = project.root.join(OsStr::from_bytes(&change.path));
        let is_task_file = trail.task_files.iter().any(|file| project.root.join(file) == path);
        let content = change.new.as_ref().filter(|_| is_task_file && !trail.left.is_empty());
        let content = content.and_then(|new| tree.call("cat-file").args(["blob", &new.id]).output().ok());
        content.is_some_and(|bytes| trail.left.contains(&digest::of(&bytes)))
    };
    Ok(trail::outside(&back, &steps, is_ours))
}

/// Before anything is done.
pub(super) fn say(way: &WayBack, outside: &Outside, args: &UndoArgs, ui: &mut Ui) {
    if !way.kept.is_empty() {
        let stay = if way.kept.len() == 1 { "stays as it is" } else { "stay as they are" };
        ui.say(&format!("{} {stay}: {IN_BETWEEN}", text::count(way.kept.len() as u64, "file")));
        name(&way.kept, ui);
        let them = if way.kept.len() == 1 { "it" } else { "them" };
        ui.say(&format!("to put {them} back too: {}", typed(args, true)));
    }
    let theirs = way.changes.iter().filter(|change| outside.paths.contains(&change.path));
    let theirs: Vec<Change> = theirs.cloned().collect();
    if !theirs.is_empty() {
        let whose = if args.to.is_some() { SINCE } else { IN_BETWEEN };
        ui.say(&format!("{} put back too: {whose}", are(theirs.len())));
        name(&theirs, ui);
    }
    if outside.untold && !way.changes.is_empty() {
        ui.warn(UNTOLD);
    }
}

fn name(changes: &[Change], ui: &mut Ui) {
    for change in changes.iter().take(NAMED) {
        ui.say(&format!("  {}", text::one_line(&change.name(), 200)));
    }
    if let more @ 1.. = changes.len().saturating_sub(NAMED) {
        ui.say(&format!("  and {more} more"));
    }
}
