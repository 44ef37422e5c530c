//! Where the user stands in the repository, before an agent and after it: the branch, what is staged, and what of the
//! user's the agent committed.

use ralph_core::decision::TreeMark;
use ralph_core::event::{Measured, When};
use ralph_core::git_text::Change;
use ralph_core::profile::FailedItem;
use ralph_core::text;

use super::Runner;
use crate::git::Repo;
use crate::store::IterationFiles;
use crate::work::{Before, Stand, departed, dirty_at, taken_along, thrown_away};

const UNKNOWN: &str = "nobody will know what the agent stages";

impl Runner<'_> {
    /// Before an agent starts. Without it nobody knows what it did to the index and HEAD, and that is said.
    pub(super) fn keep_stand(&mut self, files: &IterationFiles) {
        let Some(repo) = &self.project.repo else { return };
        let kept = (|| {
            let branch = match self.branch.as_ref().or(self.measured_branch.as_ref()) {
                Some(branch) => branch.clone(),
                None => repo.branch().map_err(|error| error.to_string())?,
            };
            self.branch = Some(branch.clone());
            let branch = branch.as_deref();
            let start = self.run.baseline_files();
            if self.asks_the_index() && !start.stand(When::Before).exists() {
                start.make().map_err(|error| error.to_string())?;
                Stand::keep(&start.stand(When::Before), repo, branch, true)?;
            }
            Stand::keep(&files.stand(When::Before), repo, branch, self.asks_the_index())
        })();
        if let Err(why) = kept {
            self.ui.warn(&format!("{UNKNOWN}: {why}"));
        }
    }

    /// What is staged matters only where ralph commits or puts back.
    fn asks_the_index(&self) -> bool {
        let plan = self.state.run.as_ref().map(|run| &run.plan);
        plan.is_some_and(|plan| {
            plan.commits() || (plan.backlog.is_some() && plan.policy.failed_item == FailedItem::Revert)
        })
    }

    /// Whose files the commits of this iteration hold.
    pub(super) fn measure_taken(&self, measured: &mut Measured, repo: &Repo, mark: &TreeMark) {
        let staged = Stand::read(&self.files().stand(When::Before)).map(|stand| stand.staged);
        let source = self.source().and_then(Result::ok);
        let ours = source.filter(|source| !source.is_file() || self.own_backlog(source).is_ours());
        let before = Before {
            mark,
            base: self.state.base.as_ref(),
            spans: &self.state.rules.items.spans,
            staged: staged.into_iter().flat_map(|staged| staged.into_keys()).collect(),
            backlog: ours.and_then(|source| source.below(&self.project.root)),
        };
        match taken_along(repo, &self.tree, &before, measured.head.as_deref()) {
            Ok(paths) => measured.takes_along(paths),
            Err(error) => {
                measured.notes.push(format!("nobody could look whose files were committed: {error}"));
            }
        }
    }

    /// What the agent threw away of the user's. An undo has it, as every snapshot does.
    pub(super) fn measure_thrown_away(
        &mut self,
        measured: &mut Measured,
        changes: &[Change],
        mark: &TreeMark,
    ) {
        let (Some(repo), Some(base)) = (&self.project.repo, &self.state.base) else { return };
        let dirty = match &self.dirty {
            Some(dirty) => Ok(dirty),
            None => dirty_at(repo, &self.tree, base).map(|dirty| &*self.dirty.insert(dirty)),
        };
        // What it committed is told otherwise.
        let now = (mark.head.as_deref(), measured.tree.as_str());
        let gone = dirty.and_then(|dirty| thrown_away(repo, &self.tree, dirty, changes, now));
        let mut gone = gone.unwrap_or_default();
        gone.retain(|path| !measured.taken.contains(path));
        if !gone.is_empty() {
            let told = format!(
                "what you had not committed is gone with what the agent did: {}; to have it back: ralph undo {}",
                text::one_line(&gone.join(", "), 400),
                self.state.iteration
            );
            self.ui.warn(&told);
            measured.notes.push(told);
        }
    }

    /// A branch that was left, or that lost commits, is no place to commit to. Returns where HEAD went.
    pub(super) fn measure_stand(&self, measured: &mut Measured, branch: Option<&str>) -> Option<String> {
        let (Some(repo), When::After) = (&self.project.repo, measured.when) else { return None };
        let files = self.files();
        if self.asks_the_index() {
            let kept = Stand::keep(&files.stand(When::After), repo, branch, true);
            measured.notes.extend(kept.err().map(|why| format!("{UNKNOWN}: {why}")));
        }
        let before = self.state.current.as_ref().and_then(|current| current.before.as_ref());
        let (stood, before) = Stand::read(&files.stand(When::Before)).zip(before)?;
        let (old, new) = (before.head.as_deref(), measured.head.as_deref());
        let where_to = departed(repo, stood.branch.as_deref(), old, branch, new)?;
        if let Some(item) = &mut measured.item {
            item.tampered.push(format!("where commits go ({where_to})"));
        }
        measured.notes.push(where_to.clone());
        Some(where_to)
    }
}
