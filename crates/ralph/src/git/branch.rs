//! Branches: which one a project takes for its main one, and beginning a new one.

use super::{GitError, Repo};

impl Repo {
    /// The branch that HEAD is on, without asking git: for a word to people.
    pub fn branch_in_words(&self) -> Option<String> {
        let head = std::fs::read_to_string(self.git_dir.join("HEAD")).ok()?;
        let name = head.trim_end().strip_prefix("ref: refs/heads/")?;
        // A repository that keeps its branches in tables has this there.
        (name != ".invalid").then(|| name.to_owned())
    }

    /// What others clone, as far as can be told: what origin says, else the user's setting, else the usual names.
    pub fn default_branch(&self) -> Option<String> {
        let origin = self.call("symbolic-ref").args(["--quiet", "--short", "refs/remotes/origin/HEAD"]);
        let told = origin.line().ok().flatten().and_then(|name| Some(name.split_once('/')?.1.to_owned()));
        let set = || self.call("config").args(["--get", "init.defaultBranch"]).line().ok().flatten();
        let usual = || {
            let there = |name: &&str| self.has_branch(name).unwrap_or(false);
            ["main", "master"].into_iter().find(there).map(str::to_owned)
        };
        told.or_else(|| set().filter(|name| self.has_branch(name).unwrap_or(false))).or_else(usual)
    }

    pub fn has_branch(&self, name: &str) -> Result<bool, GitError> {
        let call = self.call("show-ref").args(["--verify", "--quiet", &format!("refs/heads/{name}")]);
        Ok(call.run()?.end.success())
    }

    /// Whether a branch could be called so.
    pub fn is_branch_name(&self, name: &str) -> bool {
        let call = self.call("check-ref-format").args([format!("refs/heads/{name}")]);
        !name.starts_with('-') && call.run().is_ok_and(|ran| ran.end.success())
    }

    /// Whether everything that `old` holds is in `new` as well.
    pub fn is_ancestor(&self, old: &str, new: &str) -> Result<bool, GitError> {
        let call = self.call("merge-base").args(["--is-ancestor", old, new]);
        Ok(call.run()?.end.success())
    }

    /// A new branch from here, checked out; files and index stay as they are.
    pub fn begin_branch(&self, name: &str) -> Result<(), GitError> {
        self.call("switch").args(["--quiet", "--create", name]).output().map(drop)
    }
}
