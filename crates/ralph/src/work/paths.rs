//! Which files a commit may hold: those that agents changed, without what was not clean before the run and what
//! somebody else changed meanwhile.

use std::collections::BTreeSet;

use ralph_core::decision::TreeMark;
use ralph_core::event::is_progress;
use ralph_core::items::{CommitOrder, Span};

use crate::git::Repo;
use crate::tree::{Tree, TreeError, TreeId};

/// The files of a commit, and those that were left out.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Paths {
    pub(super) commit: Vec<Vec<u8>>,
    pub(super) left: Vec<Vec<u8>>,
}

/// `backlog` is the task file, which ralph changes itself, and whether nobody else had changed it.
pub(super) fn of(
    order: &CommitOrder,
    repo: &Repo,
    tree: &Tree,
    now: &TreeId,
    backlog: Option<(Vec<u8>, bool)>,
) -> Result<Paths, TreeError> {
    let mut changed = BTreeSet::new();
    for span in &order.spans {
        changed.extend(between(tree, &span.from, &span.to)?);
    }
    let mut foreign = foreign(order, repo, tree)?;
    if let Some((path, ours)) = backlog {
        if ours {
            foreign.remove(&path);
        }
        changed.insert(path);
    }
    let head = repo.head()?;
    let uncommitted: BTreeSet<Vec<u8>> =
        names(tree, &id(&repo.tree_of(head.as_deref())?), Some(now.clone()))?;
    let ours = changed.into_iter().filter(|path| uncommitted.contains(path) && !is_own(path));
    let (left, commit) = ours.partition(|path| foreign.contains(path));
    Ok(Paths { commit, left })
}

/// What was uncommitted when the run began, and what changed between the agents' turns.
fn foreign(order: &CommitOrder, repo: &Repo, tree: &Tree) -> Result<BTreeSet<Vec<u8>>, TreeError> {
    let mut foreign = BTreeSet::new();
    if let Some(base) = &order.base {
        let head = repo.tree_of(base.head.as_deref())?;
        foreign.extend(between(tree, &head, &base.tree)?);
    }
    for pair in order.spans.windows(2) {
        if let [Span { to, .. }, Span { from, .. }] = pair {
            foreign.extend(between(tree, to, from)?);
        }
    }
    Ok(foreign)
}

/// What commits of an agent hold and is to be taken back: the files are as they were before it, and HEAD is not. Left
/// are those that were not clean then.
pub(super) fn to_take_back(
    repo: &Repo,
    tree: &Tree,
    before: &TreeMark,
    keep: &dyn Fn(&[u8]) -> bool,
) -> Result<Paths, TreeError> {
    let old = repo.tree_of(before.head.as_deref())?;
    let new = repo.tree_of(repo.head()?.as_deref())?;
    let dirty = between(tree, &old, &before.tree)?;
    let committed = between(tree, &old, &new)?.into_iter().filter(|path| !keep(path));
    let (left, commit) = committed.partition(|path| dirty.contains(path));
    Ok(Paths { commit, left })
}

pub(super) fn between(tree: &Tree, from: &str, to: &str) -> Result<BTreeSet<Vec<u8>>, TreeError> {
    names(tree, &id(from), id(to))
}

fn names(tree: &Tree, from: &Option<TreeId>, to: Option<TreeId>) -> Result<BTreeSet<Vec<u8>>, TreeError> {
    let (Some(from), Some(to)) = (from, to) else { return Ok(BTreeSet::new()) };
    Ok(tree.diff(from, &to)?.into_iter().map(|change| change.path).collect())
}

fn id(tree: &str) -> Option<TreeId> {
    TreeId::new(tree)
}

/// ralph's own files are never committed; a harness and the knowledge file may be.
fn is_own(path: &[u8]) -> bool {
    !is_progress(path) && (path.starts_with(b".ralph") || path == b".harness.lock")
}
