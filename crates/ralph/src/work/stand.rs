//! Where the user stood in the repository: the branch, and what was staged. Kept with an iteration, before its agent and
//! after it, so that what the agent did to it can be told from what was the user's.

use std::collections::BTreeSet;
use std::path::Path;

use ralph_core::event::When;

use super::paths;
use crate::git::{self, Entry, GitError, Repo, Staged};
use crate::store::{self, IterationFiles};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stand {
    /// `None`: HEAD stood for no branch.
    pub(crate) branch: Option<String>,
    pub(crate) staged: Staged,
}

impl Stand {
    /// Keeps it. `index`: what is staged as well, which git has to be asked for.
    pub(crate) fn keep(
        path: &Path,
        repo: &Repo,
        branch: Option<&str>,
        index: bool,
    ) -> std::result::Result<(), String> {
        let mut text = branch.unwrap_or_default().as_bytes().to_vec();
        text.push(0);
        if index {
            text.extend(repo.staged_raw().map_err(|error| error.to_string())?);
        }
        store::write_private(path, &text).map_err(|error| error.to_string())
    }

    pub(crate) fn read(path: &Path) -> Option<Self> {
        let text = std::fs::read(path).ok()?;
        let at = text.iter().position(|byte| *byte == 0)?;
        let branch = std::str::from_utf8(&text[..at]).ok()?;
        let branch = Some(branch.to_owned()).filter(|branch| !branch.is_empty());
        Some(Self { branch, staged: Repo::read_staged(&text[at + 1..])? })
    }
}

/// What an agent staged and unstaged.
#[derive(Debug, Default)]
pub(super) struct Restaged {
    before: Staged,
    after: Staged,
}

impl Restaged {
    pub(super) fn of(files: &IterationFiles) -> Self {
        let both = Stand::read(&files.stand(When::Before)).zip(Stand::read(&files.stand(When::After)));
        both.map_or_else(Self::default, |(before, after)| Self { before: before.staged, after: after.staged })
    }

    /// What is staged at this path is the agent's doing.
    pub(super) fn is_the_agent_s(&self, path: &[u8], now: &Staged) -> bool {
        let (before, after) = (self.before.get(path), self.after.get(path));
        before != after && now.get(path) == after
    }

    /// Puts the index back as it was before the agent, where nobody else changed it since. ralph's own files are never
    /// left staged; `others`: nor is anything else that the agent staged, and what it unstaged is staged again.
    pub(super) fn take_back(
        &self,
        repo: &Repo,
        others: bool,
        keep: &dyn Fn(&[u8]) -> bool,
    ) -> Result<(), GitError> {
        if self.before == self.after {
            return Ok(());
        }
        let changes = repo.staged()?;
        let now = git::as_staged(changes.clone());
        let touched: BTreeSet<&Vec<u8>> = self.before.keys().chain(self.after.keys()).collect();
        let touched = touched.into_iter().filter(|path| self.is_the_agent_s(path, &now));
        let meant = touched.filter(|path| paths::is_own(path) || (others && !keep(path)));
        let mut entries = vec![];
        for path in meant {
            let in_head =
                || changes.iter().find(|change| change.path == *path).map(|change| change.old.clone());
            // What is staged nowhere is as HEAD has it.
            let object = self.before.get(path).cloned().or_else(in_head);
            entries.extend(object.map(|object| Entry { path: path.clone(), object }));
        }
        let like = repo.tree_of(None)?;
        repo.stage(&entries, &like)
    }
}

/// Where HEAD went, if it is not on the branch that it was on, or that lost commits; with the way back.
pub(crate) fn departed(
    repo: &Repo,
    stood: Option<&str>,
    before: Option<&str>,
    branch: Option<&str>,
    head: Option<&str>,
) -> Option<String> {
    let short = |id: &str| id.get(..12).unwrap_or(id).to_owned();
    let at = before.map_or_else(|| "no commit".to_owned(), short);
    if stood != branch {
        let name = |branch: Option<&str>| {
            branch.map_or_else(|| "no branch".to_owned(), |name| format!("branch {name}"))
        };
        let back =
            stood.map_or_else(|| format!("git switch --detach {at}"), |name| format!("git switch {name}"));
        return Some(format!(
            "HEAD was on {} at {at} and is on {}; to get back: {back}",
            name(stood),
            name(branch)
        ));
    }
    let before = before?;
    let name = branch.unwrap_or("HEAD");
    // A disk may fail for a moment, and HEAD did not move by that.
    let holds = |head| repo.is_ancestor(before, head).or_else(|_| repo.is_ancestor(before, head));
    match head.map_or(Ok(false), |head| if head == before { Ok(true) } else { holds(head) }) {
        Ok(true) => None,
        Ok(false) => Some(format!(
            "{name} was at {at}, which it no longer holds; to have it back: git reset --keep {at}"
        )),
        Err(error) => {
            Some(format!("{name} was at {at}, and nobody can tell whether it still holds it: {error}"))
        }
    }
}
