//! What iterations and whole runs changed, line by line and counted.

use std::collections::BTreeMap;

use ralph_core::state::Iteration;
use ralph_core::view::counted::LineCounts;

use super::lost;
use crate::error::{Error, Result};
use crate::project::Project;
use crate::runner;
use crate::store::Runs;
use crate::tree::{Tree, TreeId};
use crate::ui::Ui;

/// Of how many iterations lines are counted, the newest first, and with how many files at most: a list of thousands is not to
/// wait for git.
const MOST_ITERATIONS: usize = 50;
const MOST_FILES: u64 = 500;

/// The snapshots before and after an iteration.
fn ends(iteration: &Iteration) -> Option<(TreeId, TreeId)> {
    let before = iteration.before.as_ref().and_then(|mark| TreeId::new(&mark.tree));
    before.zip(iteration.after.as_ref().and_then(|after| TreeId::new(after.left())))
}

/// How many lines each of these iterations added and removed, by its number; those that nobody can tell any more are left out.
pub(super) fn counts(project: &Project, iterations: &[Iteration]) -> BTreeMap<u64, LineCounts> {
    let worth_it = |iteration: &&Iteration| {
        iteration.after.as_ref().is_some_and(|after| (1..=MOST_FILES).contains(&after.changed_total))
    };
    let wanted = iterations.iter().rev().filter(worth_it).take(MOST_ITERATIONS);
    let wanted: Vec<(u64, (TreeId, TreeId))> =
        wanted.filter_map(|iteration| Some((iteration.number, ends(iteration)?))).collect();
    if wanted.is_empty() {
        return BTreeMap::new();
    }
    let Ok(tree) = Tree::look(&project.root, &project.truth, project.repo.as_ref()) else {
        return BTreeMap::new();
    };
    let trees: Vec<&TreeId> = wanted.iter().flat_map(|(_, (from, to))| [from, to]).collect();
    let there = tree.are_there(&trees).unwrap_or_default();
    let kept = wanted.iter().zip(there.chunks(2)).filter(|(_, there)| **there == [true, true]);
    let (numbers, pairs): (Vec<u64>, Vec<(&TreeId, &TreeId)>) =
        kept.map(|((number, (from, to)), _)| (*number, (from, to))).unzip();
    let counted = tree.line_counts(&pairs).unwrap_or_default();
    numbers.into_iter().zip(counted).collect()
}

/// What an iteration did to the files, from the snapshots before and after it.
pub(super) fn diff(
    project: &Project,
    runs: &Runs,
    (iteration, keep): (&Iteration, u64),
    ui: &Ui,
) -> Result<Vec<u8>> {
    let number = iteration.number;
    let Some((before, after)) = ends(iteration) else {
        return Err(Error::no(format!("iteration {number} has no two snapshots to compare"))
            .because("it is still at work, or was cut off before it was measured"));
    };
    if before == after {
        ui.talk(&format!("iteration {number} changed no files\n"));
        return Ok(vec![]);
    }
    let patch = Tree::look(&project.root, &project.truth, project.repo.as_ref())
        .and_then(|tree| tree.patch(&before, &after));
    match patch {
        Ok(patch) => {
            ui.patch(&patch);
            Ok(patch)
        }
        Err(error) => {
            let gone = Error::new(format!("what iteration {number} changed is not stored any more"));
            Err(match lost(runs, number, keep)? {
                Some(why) => gone.because(why),
                None => gone
                    .because(error)
                    .hint("keep_snapshots says how many iterations are kept: ralph profile show"),
            })
        }
    }
}

/// What the agents of the last run did to the files, all iterations together.
pub(super) fn whole(project: &Project, runs: &Runs, ui: &Ui) -> Result<()> {
    let Some((run, opened)) = runs.shown()? else { return Ok(()) };
    let number = run.number;
    match runner::patch_of(project, &run, &opened.state) {
        Ok(Some(patch)) if patch.is_empty() => ui.talk(&format!("run {number} changed no files\n")),
        Ok(Some(patch)) => ui.patch(&patch),
        Ok(None) => {
            return Err(Error::no(format!("run {number} has no two snapshots to compare"))
                .because("no iteration was measured yet"));
        }
        Err(error) => {
            return Err(Error::new(format!("what run {number} changed is not stored any more"))
                .because(error)
                .hint("of one iteration: ralph history N --diff")
                .hint("keep_snapshots says how many iterations are kept: ralph profile show"));
        }
    }
    Ok(())
}
