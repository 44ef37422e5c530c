//! That by which claims are judged: what an agent did to it, and the flags that tell of it.

use serde::{Deserialize, Serialize};

use super::ChangedPath;
use crate::check::CheckResult;
use crate::items;
use crate::prelude::*;

/// That by which claims are judged, and which was there before the run: what the agent did to it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Judging {
    /// Tests that it changed or deleted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tests: Vec<String>,
    /// Files that checks run, likewise.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub scripts: Vec<String>,
    /// Checks whose recipe is another than when the run began: `make test (Makefile, test)`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub recipes: Vec<String>,
    /// Those among them that the user named himself, and that stand here alone: no item is refused by them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub named_recipes: Vec<String>,
    /// Tests and files that checks run which agents changed or deleted, in whichever iteration, and which are not as they were when
    /// the run began; where that refuses a claim.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub standing: Vec<String>,
}

impl Judging {
    /// All by which claims are judged and that is not as it was when the run began.
    pub(crate) fn not_as_before(&self) -> Vec<String> {
        // Where nobody was to be refused by it, only what one iteration changed is known.
        let new = self.tests.iter().chain(&self.scripts).filter(|name| !self.standing.contains(name));
        let recipes = self.recipes.iter().chain(&self.named_recipes);
        let recipes = recipes.map(|check| format!("what is run by {check}"));
        self.standing.iter().chain(new).cloned().chain(recipes).collect()
    }

    /// Whether a flag tells of something that is not as it was.
    pub fn stands_in(&self, flag: &str) -> bool {
        let recipes = self.recipes.iter().chain(&self.named_recipes);
        let mut names = self.standing.iter().chain(recipes);
        is_of_judging(flag) && names.any(|name| flag.contains(name.as_str()))
    }

    /// Tests that failed before the run, by the names that runners give them, whose file the agent deleted. A name tells its file
    /// with some runners only, and a green check names no test: of others nobody can tell a test that was mended from one that is gone.
    pub(crate) fn red_and_gone(&self, changed: &[ChangedPath], before: &[CheckResult]) -> Option<String> {
        let deleted = |path: &&String| changed.iter().any(|one| one.kind == 'D' && one.path == **path);
        let deleted: Vec<&String> = self.tests.iter().filter(deleted).collect();
        let held = |name: &&String| {
            let mut files = deleted.iter().filter_map(|file| name.strip_prefix(file.as_str()));
            files.any(|rest| rest.starts_with("::") || rest.starts_with(" > "))
        };
        let red = before.iter().filter(|check| !check.passed()).flat_map(|check| &check.failing);
        flag(&red.filter(held).cloned().collect::<Vec<_>>(), RED_AND_GONE)
    }

    /// What was changed in an iteration and is worth a look, in words.
    pub(crate) fn touched(&self) -> impl Iterator<Item = String> {
        let tests = flag(&self.tests, TESTS_CHANGED);
        tests.into_iter().chain(flag(&self.scripts, SCRIPTS_CHANGED))
    }

    /// What checks run instead of what they ran when the run began, likewise. About an item, what was found or is its own
    /// refuses, and is said there.
    pub(crate) fn others_run(&self, about_an_item: bool) -> Option<String> {
        let refusing: &[String] = if about_an_item { &[] } else { &self.recipes };
        let checks: Vec<String> = refusing.iter().chain(&self.named_recipes).cloned().collect();
        flag(&checks, OTHERS_RUN)
    }
}

/// How flags begin that tell what an agent did to that by which claims are judged; names come next.
pub const TESTS_CHANGED: &str = "existing tests were changed";
pub const SCRIPTS_CHANGED: &str = "files that checks run were changed";
/// How earlier versions said the same: their records are still read.
pub(crate) const SCRIPTS_CHANGED_BEFORE: &str = "what checks run was changed";
pub const OTHERS_RUN: &str = "checks run something else than when the run began";

pub const RED_AND_GONE: &str = "tests that were red before the run are gone with their file";

/// Whether a flag tells of that by which claims are judged.
pub fn is_of_judging(flag: &str) -> bool {
    [TESTS_CHANGED, SCRIPTS_CHANGED, SCRIPTS_CHANGED_BEFORE, OTHERS_RUN, RED_AND_GONE]
        .iter()
        .any(|beginning| flag.starts_with(beginning))
}

fn flag(names: &[String], what: &str) -> Option<String> {
    (!names.is_empty()).then(|| format!("{what}: {}", items::some(names)))
}
