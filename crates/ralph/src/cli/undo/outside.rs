//! What an undo would put back that is not, or not only, the work of agents.

use std::ffi::OsStr;

use ralph_core::git_text::{Change, ChangeKind};
use ralph_core::text;
use ralph_core::trail::{self, Content, Outside};

use super::{NAMED, Target, UndoArgs, are, typed};
use crate::digest;
use crate::error::Error;
use crate::project::Project;
use crate::tree::{Snapshot, Tree, TreeError, WayBack};
use crate::ui::Ui;
use crate::unix::names::OsStrExt;

const IN_BETWEEN: &str = "changed outside of the iterations, by you or somebody else";
const SINCE: &str = "changed since the last iteration or undo, by you or somebody else";
const AROUND: &str = "changed in or after an iteration that was cut off, or around a snapshot that is gone: by an \
                      agent, by you or by somebody else";
const CHECKED: &str = "changed while checks ran: by them, or by you beside them";
const MIXED: &str = "an iteration was cut off, or a snapshot is gone: what you changed around it in files that agents \
                     changed too cannot be told from their work, and is put back";

pub(super) fn of(
    target: &Target,
    now: &Snapshot,
    tree: &Tree,
    project: &Project,
) -> Result<Outside, TreeError> {
    let mut trail = target.trail.clone();
    let back = tree.compare(&now.tree, &target.tree)?;
    if trail.trees().next().is_none() {
        let untold = back.into_iter().filter(|_| target.iteration.is_some()).map(|change| change.path);
        return Ok(Outside { untold: untold.collect(), ..Outside::default() });
    }
    trail.end(now.tree.as_str());
    let steps = tree.along(&trail)?;
    // The task file with its marks.
    let whose = |change: &Change| {
        let path = project.root.join(OsStr::from_bytes(&change.path));
        if !trail.task_files.iter().any(|file| project.root.join(file) == path) {
            return Content::Other;
        }
        let content = change.new.as_ref().filter(|_| !trail.left.is_empty());
        let content = content.and_then(|new| tree.call("cat-file").args(["blob", &new.id]).output().ok());
        match content.is_some_and(|bytes| trail.left.contains(&digest::of(&bytes))) {
            true => Content::Ralphs,
            false => Content::TaskFile,
        }
    };
    Ok(trail::outside(&back, &steps, whose))
}

/// Before anything is done.
pub(super) fn say(way: &WayBack, outside: &Outside, args: &UndoArgs, ui: &mut Ui) {
    // What was not named is nobody's concern.
    if !way.kept.is_empty() && args.files.is_empty() {
        let stay = if way.kept.len() == 1 { "stays as it is" } else { "stay as they are" };
        ui.say(&format!("{} {stay}: {IN_BETWEEN}", text::count(way.kept.len() as u64, "file")));
        name(&way.kept, ui);
        let new = way.kept.iter().filter(|change| change.kind == ChangeKind::Deleted).count();
        let (them, goes) = match (way.kept.len(), new) {
            (1, 0) => ("it", ""),
            (1, _) => ("it", ", which deletes it"),
            (_, 0) => ("them", ""),
            (all, new) if all == new => ("them", ", which deletes them"),
            _ => ("them", ", which deletes those that were not there"),
        };
        ui.say(&format!("to have {them} as at that time too{goes}: {}", typed(args, true)));
    }
    let whose = if args.to.is_some() { SINCE } else { IN_BETWEEN };
    // Whoever names a file wants it as it was.
    let told = if args.files.is_empty() { &way.changes[..] } else { &[] };
    for (paths, whose) in [(&outside.paths, whose), (&outside.untold, AROUND), (&outside.checked, CHECKED)] {
        let theirs: Vec<Change> =
            told.iter().filter(|change| paths.contains(&change.path)).cloned().collect();
        if !theirs.is_empty() {
            let files = match args.dry_run {
                true => format!("{} would be", text::count(theirs.len() as u64, "file")),
                false => are(theirs.len()),
            };
            ui.say(&format!("{files} put back too: {whose}"));
            name(&theirs, ui);
        }
    }
    if outside.mixed && !told.is_empty() {
        ui.warn(MIXED);
    }
}

/// Why nothing is put back unless all of it is asked for.
pub(super) fn refuse(way: &WayBack, outside: &Outside, args: &UndoArgs, ui: &mut Ui) -> Option<Error> {
    let untold = way.changes.iter().filter(|change| outside.untold.contains(&change.path));
    let untold: Vec<Change> = untold.cloned().collect();
    if untold.is_empty() {
        return None;
    }
    ui.say(&format!("{}, {AROUND}", text::count(untold.len() as u64, "file")));
    name(&untold, ui);
    let all = typed(args, true);
    Some(
        Error::new("ralph cannot tell whether these files are an agent's work or yours; no file was touched")
            .hint(format!("to see all that would be put back: {all} --dry-run"))
            .hint(format!(
                "to put back all of it, after a snapshot, and be told how to take that back: {all}"
            )),
    )
}

fn name(changes: &[Change], ui: &mut Ui) {
    for change in changes.iter().take(NAMED) {
        ui.say(&format!("  {}", text::one_line(&change.name(), 200)));
    }
    if let more @ 1.. = changes.len().saturating_sub(NAMED) {
        ui.say(&format!("  and {more} more"));
    }
}
