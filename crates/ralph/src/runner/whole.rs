//! What a whole run changed, for whoever sums it up: the run itself, or somebody who followed it.

use std::collections::HashSet;

use ralph_core::event::{Measured, When};
use ralph_core::git_text::Change;
use ralph_core::state::State;
use ralph_core::trail::{By, Trail};
use ralph_core::view::event::RunChanges;

use super::{Runner, backlog, beside};
use crate::project::Project;
use crate::store::Run;
use crate::tree::{Tree, TreeId};
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

impl Runner<'_> {
    pub(super) fn changes_of_the_run(&self) -> Option<RunChanges> {
        let (project, run, state) = (self.project, &self.run, &self.state);
        Whole { project, run, state, tree: &self.tree, trail: self.trail.as_ref() }.changes()
    }
}

impl Whole<'_> {
    /// What differs between the tree before the run and the last one that was measured. What no agent touched is not the run's.
    fn changes(&self) -> Option<RunChanges> {
        // One that was stopped before it was judged has its files as well.
        let unjudged = self.state.current.as_ref().filter(|current| current.after.is_some());
        let last = unjudged.or(self.state.last.as_deref())?;
        // What was put back is as it was before that attempt.
        let reverted = last.settled.as_ref().is_some_and(|settled| settled.reverted);
        let after = if reverted { &last.before.as_ref()?.tree } else { &last.after.as_ref()?.tree };
        let base = self.state.base.as_ref()?;
        let (before, after) = (TreeId::new(&base.tree)?, TreeId::new(after)?);
        let mut changes = self.tree.diff(&before, &after).ok()?;
        if !changes.is_empty()
            && let Some(touched) = self.touched_by_agents(&before, &after)
        {
            changes.retain(|change| touched.contains(&change.path));
        }
        beside::add(self.tree, &mut changes, &base.beside, &last.after.as_ref()?.beside, &[]);
        // Marks in the task file are notes, whoever made them.
        let plan = &self.state.run.as_ref()?.plan;
        let source = Source::of(&self.project.root, plan).and_then(Result::ok);
        let is_noted = backlog::is_noted(source.as_ref(), &self.project.root);
        changes.retain(|change| !is_noted(&change.path));
        let Measured { changed, changed_total, .. } =
            Measured::new(When::After, after.to_string(), None, &changes);
        Some(RunChanges { paths: changed, total: changed_total })
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
