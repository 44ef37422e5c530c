//! Where the user stood in the repository: the branch, and what was staged. Kept with an iteration, before its agent and
//! after it, so that what the agent did to it can be told from what was the user's. The ralph that kept it knows it by heart; one
//! that comes after it reads the files, and believes them only where the record has their digest.

use std::collections::BTreeSet;
use std::path::Path;

use ralph_core::gather::Gather as _;
use ralph_core::lost::{Staged, Stash};

use super::paths;
use crate::git::{self, Entry, GitError, Repo};
use crate::{bounded, digest, store};

/// A longer list of what was staged is not believed.
const MOST: u64 = 256 << 20;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stand {
    /// `None`: HEAD stood for no branch.
    pub(crate) branch: Option<String>,
    pub(crate) staged: Staged,
    pub(crate) stashes: Vec<Stash>,
}

impl Stand {
    /// Keeps it. `index`: what is staged as well, which git has to be asked for.
    pub(crate) fn keep(
        path: &Path,
        repo: &Repo,
        branch: Option<&str>,
        index: bool,
    ) -> std::result::Result<Stood, String> {
        let mut text = branch.unwrap_or_default().as_bytes().to_vec();
        for Stash { id, words } in repo.stashes() {
            text.extend(format!("\n{id} {words}").bytes());
        }
        text.push(0);
        if index {
            text.extend(repo.staged_raw().map_err(|error| error.to_string())?);
        }
        store::write_private(path, &text).map_err(|error| error.to_string())?;
        Ok(Stood::of(&text))
    }

    fn parse(text: &[u8]) -> Option<Self> {
        let at = text.iter().position(|byte| *byte == 0)?;
        let mut lines = std::str::from_utf8(&text[..at]).ok()?.split('\n');
        let branch = lines.next().map(str::to_owned).filter(|branch| !branch.is_empty());
        let stash = |line: &str| {
            let (id, words) = line.split_once(' ')?;
            Some(Stash { id: id.to_owned(), words: words.to_owned() })
        };
        let stashes = lines.filter_map(stash).collect();
        Some(Self { branch, staged: Repo::read_staged(&text[at + 1..])?, stashes })
    }
}

/// What is said where an agent, or whoever else, wrote over what ralph had kept.
pub(crate) const CHANGED: &str = "what ralph had kept of your branch and index before the agent was changed or removed since, by an agent or in a power cut; look \
     where you are with git status, and begin a new run: ralph run --fresh";

/// What is known of the user's stand at a moment.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) enum Stood {
    Known {
        stand: Stand,
        digest: String,
    },
    /// Nobody kept it.
    #[default]
    Unknown,
    /// The file is not what was kept.
    Changed,
}

impl Stood {
    fn of(text: &[u8]) -> Self {
        match Stand::parse(text) {
            Some(stand) => Self::Known { stand, digest: digest::of(text) },
            None => Self::Unknown,
        }
    }

    /// As another ralph kept it, with the digest by the record; older records have none.
    pub(crate) fn read(path: &Path, digest: Option<&str>) -> Self {
        match (bounded::read(path, MOST).ok(), digest) {
            (Some(text), Some(digest)) if digest::of(&text) != digest => Self::Changed,
            (Some(text), _) => Self::of(&text),
            (None, Some(_)) => Self::Changed,
            (None, None) => Self::Unknown,
        }
    }

    pub(crate) fn stand(&self) -> Option<&Stand> {
        match self {
            Self::Known { stand, .. } => Some(stand),
            Self::Unknown | Self::Changed => None,
        }
    }

    pub(crate) fn digest(&self) -> Option<&str> {
        match self {
            Self::Known { digest, .. } => Some(digest),
            Self::Unknown | Self::Changed => None,
        }
    }
}

/// The user's stand when the run began, before the agent of an iteration, and after it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stands {
    pub(crate) start: Stood,
    pub(crate) before: Stood,
    pub(crate) after: Stood,
}

/// What an agent staged and unstaged.
#[derive(Debug, Default)]
pub(super) struct Restaged {
    before: Staged,
    after: Staged,
}

impl Restaged {
    pub(super) fn of(stands: &Stands) -> Self {
        let both = stands.before.stand().zip(stands.after.stand());
        both.map_or_else(Self::default, |(before, after)| Self {
            before: before.staged.clone(),
            after: after.staged.clone(),
        })
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
        let touched: BTreeSet<&Vec<u8>> = self.before.keys().chain(self.after.keys()).into_set();
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

/// Where HEAD went, if it is not on the branch that it was on, or that lost commits; with the way back. `astray`: before the agent HEAD
/// was elsewhere already, so that `before` is no commit of that branch.
pub(crate) fn departed(
    repo: &Repo,
    (stood, before): (Option<&str>, Option<&str>),
    (branch, head): (Option<&str>, Option<&str>),
    astray: bool,
) -> Option<String> {
    let short = |id: &str| id.get(..12).unwrap_or(id).to_owned();
    let at = before.map_or_else(|| "no commit".to_owned(), short);
    if stood != branch {
        let name = |branch: Option<&str>| {
            branch.map_or_else(|| "no branch".to_owned(), |name| format!("branch {name}"))
        };
        let back =
            stood.map_or_else(|| format!("git switch --detach {at}"), |name| format!("git switch {name}"));
        let was = match stood.filter(|_| astray) {
            Some(_) => format!("{} when the run began", name(stood)),
            None => format!("{} at {at}", name(stood)),
        };
        return Some(format!("HEAD was on {was} and is on {}; to get back: {back}", name(branch)));
    }
    let before = before?;
    let name = branch.unwrap_or("HEAD");
    // A disk may fail for a moment, and HEAD did not move by that.
    let holds = |head| repo.is_ancestor(before, head).or_else(|_| repo.is_ancestor(before, head));
    match head.map_or(Ok(false), |head| if head == before { Ok(true) } else { holds(head) }) {
        Ok(true) => None,
        Ok(false) => Some(format!(
            "{name} was at {at}, which it no longer holds; to have it back, leaving the files alone: git reset {at}"
        )),
        Err(error) => {
            Some(format!("{name} was at {at}, and nobody can tell whether it still holds it: {error}"))
        }
    }
}

/// The same where nobody kept where HEAD was before the agent: its commit is on the branch that HEAD is on, and not on the one that
/// it was on.
pub(crate) fn is_astray(repo: &Repo, stood: Option<&str>, before: Option<&str>, head: Option<&str>) -> bool {
    let (Some(stood), Some(before), Some(head)) = (stood, before, head) else { return false };
    let holds = |branch: &str| repo.is_ancestor(before, branch);
    holds(head).unwrap_or(false) && !holds(&format!("refs/heads/{stood}")).unwrap_or(true)
}
