//! What a whole run changed, for whoever sums it up: the run itself, or somebody who followed it.

use std::collections::HashSet;

use ralph_core::event::{Measured, When};
use ralph_core::git_text::Change;
use ralph_core::state::{Iteration, State};
use ralph_core::trail::{By, Trail};
use ralph_core::view::event::RunChanges;

use super::{Runner, backlog, beside};
use crate::project::Project;
use crate::store::Run;
use crate::tree::{Tree, TreeError, TreeId};
use crate::work::Source;

struct Whole<'a> {
    project: &'a Project,
    run: &'a Run,
    state: &'a State,
    tree: &'a Tree,
    /// Who changed the files, where that was kept and need not be read.
    trail: Option<&'a Trail>,
}

/// The same for somebody who only reads the record.
pub(crate) fn changes_of(project: &Project, run: &Run, state: &State) -> Option<RunChanges> {
    let tree = Tree::look(&project.root, &project.truth, project.repo.as_ref()).ok()?;
    Whole { project, run, state, tree: &tree, trail: None }.changes()
}

/// All that agents of the run changed, line by line; `None` where nothing was measured.
pub(crate) fn patch_of(project: &Project, run: &Run, state: &State) -> Result<Option<Vec<u8>>, TreeError> {
    let tree = Tree::look(&project.root, &project.truth, project.repo.as_ref())?;
    let whole = Whole { project, run, state, tree: &tree, trail: None };
    let Some((before, after, _)) = whole.ends() else { return Ok(None) };
    let changes = whole.of_agents(&before, &after)?;
    let paths: Vec<Vec<u8>> = changes.into_iter().map(|change| change.path).collect();
    tree.patch_at(&before, &after, &paths).map(Some)
}

impl Runner<'_> {
    pub(super) fn changes_of_the_run(&self) -> Option<RunChanges> {
        let (project, run, state) = (self.project, &self.run, &self.state);
        Whole { project, run, state, tree: &self.tree, trail: self.trail.as_ref() }.changes()
    }
}

impl Whole<'_> {
    /// What differs between the tree before the run and the last one that was measured. What no agent touched is not the run's.
    fn changes(&self) -> Option<RunChanges> {
        let (before, after, last) = self.ends()?;
        let mut changes = self.of_agents(&before, &after).ok()?;
        beside::add(
            self.tree,
            &mut changes,
            &self.state.base.as_ref()?.beside,
            &last.after.as_ref()?.beside,
            &[],
        );
        let is_noted = self.is_noted();
        changes.retain(|change| !is_noted(&change.path));
        let Measured { changed, changed_total, .. } =
            Measured::new(When::After, after.to_string(), None, &changes);
        Some(RunChanges { paths: changed, total: changed_total })
    }

    /// The tree before the run, the last one that was measured, and the iteration that left it.
    fn ends(&self) -> Option<(TreeId, TreeId, &Iteration)> {
        // One that was stopped before it was judged has its files as well.
        let unjudged = self.state.current.as_ref().filter(|current| current.after.is_some());
        let last = unjudged.or(self.state.last.as_deref())?;
        // What was put back is as it was before that attempt.
        let reverted = last.settled.as_ref().is_some_and(|settled| settled.reverted);
        let after = if reverted { &last.before.as_ref()?.tree } else { &last.after.as_ref()?.tree };
        Some((TreeId::new(&self.state.base.as_ref()?.tree)?, TreeId::new(after)?, last))
    }

    /// What agents changed between the two, without marks in the task file: those are notes, whoever made them.
    fn of_agents(&self, before: &TreeId, after: &TreeId) -> Result<Vec<Change>, TreeError> {
        let mut changes = self.tree.diff(before, after)?;
        if !changes.is_empty()
            && let Some(touched) = self.touched_by_agents(before, after)
        {
            changes.retain(|change| touched.contains(&change.path));
        }
        let is_noted = self.is_noted();
        changes.retain(|change| !is_noted(&change.path));
        Ok(changes)
    }

    fn is_noted(&self) -> impl Fn(&[u8]) -> bool + use<> {
        let plan = self.state.run.as_ref().map(|run| &run.plan);
        let source = plan.and_then(|plan| Source::of(&self.project.root, plan)).and_then(Result::ok);
        backlog::is_noted(source.as_ref(), &self.project.root)
    }

    /// Files that agents of this run touched on the way from one snapshot to the other; `None` where nobody else did anything, or
    /// nobody can tell any more.
    fn touched_by_agents(&self, from: &TreeId, to: &TreeId) -> Option<HashSet<Vec<u8>>> {
        let paths = |changes: Vec<Change>| changes.into_iter().map(|change| change.path);
        // Where what they did is known from there on, the record need not be read.
        let spans = self.state.rules.items.spans.as_slice();
        if let [first, others @ ..] = spans
            && first.from == from.as_str()
        {
            if others.is_empty() && first.to == to.as_str() && !first.earlier {
                return None;
            }
            let own = spans.iter().filter(|span| !span.earlier);
            let ends = own.filter_map(|span| TreeId::new(&span.from).zip(TreeId::new(&span.to)));
            let ends: Vec<(TreeId, TreeId)> = ends.collect();
            let pairs: Vec<(&TreeId, &TreeId)> = ends.iter().map(|(from, to)| (from, to)).collect();
            return Some(self.tree.diff_all(&pairs).ok()?.into_iter().flat_map(paths).collect());
        }
        let read = if self.trail.is_some() { None } else { Some(self.run.trail().ok()?) };
        let trail = self.trail.or(read.as_ref())?;
        let begins_there = trail.trees().next() == Some(from.as_str());
        if begins_there && trail.steps(|_| true).iter().all(|step| step.by == By::Agent) {
            return None;
        }
        let steps = self.tree.along(trail).ok()?.into_iter();
        let theirs = steps.filter(|(by, _)| matches!(by, By::Agent | By::Unknown));
        Some(theirs.flat_map(|(_, changes)| paths(changes)).collect())
    }
}
