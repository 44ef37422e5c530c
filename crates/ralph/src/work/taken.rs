//! Files of the user's that an agent's own commit took along: `git add -A` asks nobody whose a file is. That cannot be
//! taken back without rewriting history, but it is said. Nor does `git stash` or `git checkout` ask, and that is said too.

use std::collections::BTreeSet;

use ralph_core::decision::TreeMark;
use ralph_core::git_text::{Change, ChangeKind};
use ralph_core::items::Span;

use super::paths::{between, is_own};
use crate::git::Repo;
use crate::tree::{Tree, TreeError};

/// How it stood before the agent.
#[derive(Debug)]
pub(crate) struct Before<'a> {
    pub(crate) mark: &'a TreeMark,
    /// When the run began.
    pub(crate) base: Option<&'a TreeMark>,
    /// What agents changed since the last commit of ours: not committed, and no work of the user's.
    pub(crate) spans: &'a [Span],
    pub(crate) staged: BTreeSet<Vec<u8>>,
    /// The task file, where it was nobody's but ralph's.
    pub(crate) backlog: Option<Vec<u8>>,
}

/// What the commits up to `head` hold of that which the user had not committed.
pub(crate) fn taken_along(
    repo: &Repo,
    tree: &Tree,
    before: &Before<'_>,
    head: Option<&str>,
) -> Result<Vec<String>, TreeError> {
    let old = repo.tree_of(before.mark.head.as_deref())?;
    let committed = between(tree, &old, &repo.tree_of(head)?)?;
    let mut dirty = between(tree, &old, &before.mark.tree)?;
    dirty.extend(before.staged.iter().cloned());
    let ours = |path: &&Vec<u8>| is_own(path) || before.backlog.as_ref() == Some(path);
    let both: Vec<&Vec<u8>> = committed.intersection(&dirty).filter(|path| !ours(path)).collect();
    if both.is_empty() {
        return Ok(vec![]);
    }
    let mut agents = BTreeSet::new();
    for span in before.spans {
        agents.extend(between(tree, &span.from, &span.to)?);
    }
    if let Some(base) = before.base {
        // What both worked on holds the user's work as well.
        let head = repo.tree_of(base.head.as_deref())?;
        for path in between(tree, &head, &base.tree)? {
            agents.remove(&path);
        }
    }
    let theirs = both.into_iter().filter(|path| !agents.contains(*path));
    Ok(theirs.map(|path| String::from_utf8_lossy(path).into_owned()).collect())
}

/// What the user had not committed when the run began, by these paths: an agent deleted it, or made it what HEAD has.
pub(crate) fn thrown_away(
    repo: &Repo,
    tree: &Tree,
    dirty: &BTreeSet<Vec<u8>>,
    changes: &[Change],
    (head, now): (Option<&str>, &str),
) -> Result<Vec<String>, TreeError> {
    let theirs: Vec<&Change> =
        changes.iter().filter(|change| dirty.contains(&change.path) && !is_own(&change.path)).collect();
    if theirs.is_empty() {
        return Ok(vec![]);
    }
    let still = between(tree, &repo.tree_of(head)?, now)?;
    let gone = |change: &&&Change| change.kind == ChangeKind::Deleted || !still.contains(&change.path);
    Ok(theirs.iter().filter(gone).map(|change| change.name().into_owned()).collect())
}

/// What the user had not committed when the run began.
pub(crate) fn dirty_at(repo: &Repo, tree: &Tree, base: &TreeMark) -> Result<BTreeSet<Vec<u8>>, TreeError> {
    between(tree, &repo.tree_of(base.head.as_deref())?, &base.tree)
}
