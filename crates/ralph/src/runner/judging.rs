//! What became of that by which claims are judged: tests, what checks run, the recipes behind them.

use std::collections::{HashMap, HashSet};
use std::path::{Component, Path};

use ralph_core::check::CheckSpec;
use ralph_core::detect;
use ralph_core::event::{Judge, Judging, Measured, When};
use ralph_core::git_text::{Change, ChangeKind};
use ralph_core::items::{BacklogRead, Found, Work};
use ralph_core::profile::TestsChanged;

use super::Runner;
use crate::bounded;
use crate::tree::{TreeError, TreeId};

/// What stands in place of names where snapshots are gone.
const UNTOLD: &str = "files that nobody can compare any more, for snapshots of this run are gone (ralph run --fresh begins anew)";
/// How many files are told.
const MOST_NAMED: usize = 50;

impl Runner<'_> {
    pub(super) fn measure_judging(&self, measured: &mut Measured, changes: &[Change]) {
        let Some(plan) = self.state.run.as_ref().map(|run| &run.plan) else { return };
        if measured.when != When::After {
            return;
        }
        let item = self.state.current.as_ref().and_then(|current| current.item.as_deref());
        let beside = self.beside(self.state.checks_for(plan, item));
        let judge = |change: &Change| {
            let name = change.name();
            let judge = plan.judged_by(item, &name).filter(|_| change.kind != ChangeKind::Added);
            let takes_part = || beside.iter().any(|pattern| detect::is_beside(pattern, &name));
            // A file that was not there may take part all the same, once it is included.
            Some((name.to_string(), judge.or_else(|| takes_part().then_some(Judge::Script))?))
        };
        let mut judged: Vec<(String, Judge)> = changes.iter().filter_map(judge).collect();
        if !judged.is_empty()
            && let Some(known) = self.changed_since_the_run_began(&measured.tree)
        {
            let takes_part = |name: &str| beside.iter().any(|pattern| detect::is_beside(pattern, name));
            judged.retain(|(name, _)| {
                known.get(name).is_some_and(|kind| *kind != ChangeKind::Added || takes_part(name))
            });
        }
        let standing = match plan.policy.tests_changed {
            TestsChanged::Flag => vec![],
            TestsChanged::Refuse => self
                .changed_by_agents(&measured.tree, changes)
                .map(|changes| {
                    changes.iter().filter_map(judge).map(|(name, _)| name).take(MOST_NAMED).collect()
                })
                // Whoever removes what it is compared with has not put anything back by that.
                .unwrap_or_else(|_| vec![UNTOLD.to_owned()]),
        };
        let of = |wanted: Judge| {
            let names = judged.iter().filter(move |(_, judge)| *judge == wanted);
            names.map(|(name, _)| name.clone()).take(MOST_NAMED).collect()
        };
        let others = self.state.checks_for(plan, item).filter(|check| self.runs_something_else(check));
        let (named, brought): (Vec<&CheckSpec>, Vec<&CheckSpec>) =
            others.partition(|check| is_named(check, item));
        let (recipes, mut named_recipes) = (told(&brought), told(&named));
        named_recipes.retain(|check| !recipes.contains(check));
        let (tests, scripts) = (of(Judge::Test), of(Judge::Script));
        measured.judging = Some(Judging { tests, scripts, recipes, named_recipes, standing });
    }

    /// Files that were changed since the run began, and how; `None` where nobody knows.
    fn changed_since_the_run_began(&self, tree: &str) -> Option<HashMap<String, ChangeKind>> {
        let (base, now) = (TreeId::new(self.state.judged_from()?)?, TreeId::new(tree)?);
        let changes = self.tree.diff(&base, &now).ok()?.into_iter();
        Some(changes.map(|change| (change.name().into_owned(), change.kind)).collect())
    }

    /// What agents changed since the run began, the last of them by these changes, and is not as it was then.
    fn changed_by_agents(&self, tree: &str, last: &[Change]) -> Result<Vec<Change>, TreeError> {
        let between = |from: &str, to: &str| match (TreeId::new(from), TreeId::new(to)) {
            (Some(from), Some(to)) => self.tree.diff(&from, &to),
            _ => Ok(vec![]),
        };
        let mut theirs: HashSet<Vec<u8>> = last.iter().map(|change| change.path.clone()).collect();
        for span in self.state.rules.items.spans.iter().chain(&self.state.unproved) {
            theirs.extend(between(&span.from, &span.to)?.into_iter().map(|change| change.path));
        }
        let mut changed = between(self.state.judged_from().unwrap_or_default(), tree)?;
        changed.retain(|change| theirs.contains(&change.path));
        Ok(changed)
    }

    fn runs_something_else(&self, check: &CheckSpec) -> bool {
        let (Some(recipe), Some(source)) = (&check.recipe, check.recipe_source()) else { return false };
        detect::recipe(source, on_disk(&self.project.root)).as_ref() != Some(recipe)
    }

    /// Files beside the recipes that were there when the run began.
    fn beside<'c>(&self, checks: impl Iterator<Item = &'c CheckSpec>) -> Vec<String> {
        let sources = checks.filter(|check| check.recipe.is_some()).filter_map(CheckSpec::recipe_source);
        sources.flat_map(|source| detect::beside(source, on_disk(&self.project.root))).collect()
    }

    /// An item with what its own checks stood for when the last item was proved, or when the run began.
    pub(super) fn with_recipes(&self, mut read: BacklogRead) -> BacklogRead {
        if let Found::Selected(work) = &mut read.found {
            let wanted: Vec<String> =
                work.checks.iter().flat_map(|check| detect::files(&check.command)).collect();
            let proved = self.state.rules.items.proved_tree.as_deref();
            let base = proved.or(self.state.judged_from()).and_then(TreeId::new);
            let texts =
                base.filter(|_| !wanted.is_empty()).and_then(|base| self.tree.texts(&base, &wanted).ok());
            let root = &self.project.root;
            let text = |file: &str| match &texts {
                Some(texts) => texts.get(file).cloned(),
                None => on_disk(root)(file),
            };
            work.checks = work.checks.drain(..).map(|check| check.with_recipe(text)).collect();
        }
        read
    }
}

/// Each once: an item may have a command of its own that was found as well.
fn told(checks: &[&CheckSpec]) -> Vec<String> {
    let mut told: Vec<String> = checks.iter().map(|check| check.named_with_source()).collect();
    let mut known = HashSet::new();
    told.retain(|check| known.insert(check.clone()));
    told
}

/// Whether the user named a check himself: it is neither found nor the item's own.
fn is_named(check: &CheckSpec, item: Option<&Work>) -> bool {
    check.source.is_none() && !item.is_some_and(|item| item.checks.contains(check))
}

/// Recipes are short.
const MOST: u64 = 1 << 20;

/// The texts of files as they are; of a pipe or of what is outside of the project nobody waits for one.
pub(crate) fn on_disk(root: &Path) -> impl Fn(&str) -> Option<String> {
    |file| {
        let inside =
            Path::new(file).components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
        let path = root.join(file);
        let data = std::fs::metadata(&path).ok().filter(|data| inside && !data.is_dir())?;
        if !data.is_file() {
            // A program that takes it finds nothing of use there, and takes no other.
            return Some(String::new());
        }
        let bytes = bounded::read(&path, MOST).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a test's own files")]
    fn only_files_of_the_project_are_read_and_nobody_waits_for_a_pipe() {
        let sandbox = ralph_testkit::Sandbox::new();
        let root = sandbox.project();
        std::fs::create_dir_all(root.join("sub")).expect("a folder");
        std::fs::write(root.join("sub/common.mk"), "X = 1\n").expect("written");
        std::fs::write(root.join("../outside.mk"), "Y = 1\n").expect("written");
        assert!(sandbox.command("mkfifo").arg("pipe.mk").status().expect("started").success());
        let text = on_disk(&root);
        assert_eq!(text("sub/common.mk").as_deref(), Some("X = 1\n"));
        assert_eq!(text("pipe.mk").as_deref(), Some(""));
        for name in ["../outside.mk", "sub/../../outside.mk", "/dev/zero", "sub", "none.mk"] {
            assert_eq!(text(name), None, "{name}");
        }
    }
}
