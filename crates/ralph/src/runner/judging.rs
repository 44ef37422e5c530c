//! What became of that by which claims are judged: tests, what checks run, the recipes behind them.

use std::collections::HashSet;

use ralph_core::check::CheckSpec;
use ralph_core::detect;
use ralph_core::event::{Judge, Judging, Measured, When};
use ralph_core::git_text::{Change, ChangeKind};

use super::Runner;
use crate::tree::TreeId;

impl Runner<'_> {
    pub(super) fn measure_judging(&self, measured: &mut Measured, changes: &[Change]) {
        let Some(plan) = self.state.run.as_ref().map(|run| &run.plan) else { return };
        if measured.when != When::After {
            return;
        }
        let item = self.state.current.as_ref().and_then(|current| current.item.as_deref());
        let touched = changes.iter().filter(|change| change.kind != ChangeKind::Added);
        let judged =
            |change: &Change| Some((change.name().into_owned(), plan.judged_by(item, &change.name())?));
        let mut judged: Vec<(String, Judge)> = touched.filter_map(judged).collect();
        if !judged.is_empty()
            && let Some(known) = self.changed_since_the_run_began(&measured.tree)
        {
            judged.retain(|(name, _)| known.contains(name));
        }
        let of = |wanted: Judge| {
            let names = judged.iter().filter(move |(_, judge)| *judge == wanted);
            names.map(|(name, _)| name.clone()).take(50).collect()
        };
        let recipes = self.state.checks_for(plan, item).filter(|check| self.runs_something_else(check));
        let recipes = recipes.map(|check| check.named_with_source()).collect();
        measured.judging = Some(Judging { tests: of(Judge::Test), scripts: of(Judge::Script), recipes });
    }

    /// Files that were there when the run began and are others now; `None` where nobody knows.
    fn changed_since_the_run_began(&self, tree: &str) -> Option<HashSet<String>> {
        let (base, now) = (TreeId::new(&self.state.base.as_ref()?.tree)?, TreeId::new(tree)?);
        let changes = self.tree.diff(&base, &now).ok()?.into_iter();
        let there = changes.filter(|change| change.kind != ChangeKind::Added);
        Some(there.map(|change| change.name().into_owned()).collect())
    }

    fn runs_something_else(&self, check: &CheckSpec) -> bool {
        let (Some(recipe), Some(source)) = (&check.recipe, &check.source) else { return false };
        recipe_now(&self.project.root, source).as_ref() != Some(recipe)
    }
}

/// A digest of what a check that was found stands for, by the files as they are.
pub(crate) fn recipe_now(root: &std::path::Path, source: &str) -> Option<String> {
    let read = |file: &str| std::fs::read(root.join(file)).ok();
    detect::recipe(source, |file| Some(String::from_utf8_lossy(&read(file)?).into_owned()))
}
