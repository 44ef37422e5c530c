//! Files of the user's that an agent's own commit took along: `git add -A` asks nobody whose a file is. That cannot be
//! taken back without rewriting history, but it is said. Nor does `git stash` or `git checkout` ask, and that is said too.

use std::collections::{BTreeMap, BTreeSet};

use ralph_core::decision::TreeMark;
use ralph_core::gather::Gather as _;
use ralph_core::git_text::{Change, ChangeKind, Object};
use ralph_core::items::Span;

use super::paths::{between, is_own};
use crate::git::Repo;
use crate::tree::{Tree, TreeError, TreeId};

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

/// What HEAD holds at the paths that the user had not committed, of the head that was asked about last: agents work on the
/// same files time and again, and git need not compare whole trees for that.
#[derive(Debug, Default)]
pub(crate) struct InHead {
    /// Of which head; the outer `None`: of none yet.
    head: Option<Option<String>>,
    objects: BTreeMap<Vec<u8>, Option<Object>>,
}

/// What the user had not committed when the run began, by these paths: an agent deleted it, or made it what HEAD has. What an
/// earlier commit has is no loss: that is what an undo, or `git checkout`, had brought back.
pub(crate) fn thrown_away(
    repo: &Repo,
    tree: &Tree,
    dirty: &BTreeSet<Vec<u8>>,
    changes: &[Change],
    (head, before, now): (Option<&str>, &str, &str),
    in_head: &mut InHead,
) -> Result<Vec<String>, TreeError> {
    // What was not there before the agent is no loss, though its absence was not committed.
    let is_theirs = |change: &&Change| {
        change.kind != ChangeKind::Added && dirty.contains(&change.path) && !is_own(&change.path)
    };
    let theirs: Vec<&Change> = changes.iter().filter(is_theirs).collect();
    let is_there = |change: &&&Change| change.kind != ChangeKind::Deleted;
    let there: BTreeSet<Vec<u8>> =
        theirs.iter().filter(is_there).map(|change| change.path.clone()).into_set();
    let restored = in_head.holds(repo, tree, (dirty, &there), (head, now))?;
    let gone = |change: &&&Change| !is_there(change) || restored.contains(&change.path);
    let gone: Vec<&Change> = theirs.iter().filter(gone).copied().collect();
    let (Some(head), Some(before), Some(now)) = (head, TreeId::new(before), TreeId::new(now)) else {
        return Ok(names(gone.into_iter()));
    };
    if gone.is_empty() {
        return Ok(vec![]);
    }
    let olds: BTreeMap<Vec<u8>, Object> = tree
        .compare(&before, &now)?
        .into_iter()
        .filter_map(|change| Some((change.path, change.old?)))
        .into_map();
    let asked = gone
        .iter()
        .take(MOST_ASKED)
        .filter_map(|change| Some((change.path.as_slice(), olds.get(&change.path)?.id.as_str())));
    let held = repo.held_before(head, &asked.collect::<Vec<_>>()).unwrap_or_default();
    let was_committed = |change: &&Change| olds.get(&change.path).is_some_and(|old| held.contains(&old.id));
    Ok(names(gone.into_iter().filter(|change| !was_committed(change))))
}

/// Of so many files it is asked whether a commit has them; no more are named.
const MOST_ASKED: usize = 50;

fn names<'a>(changes: impl Iterator<Item = &'a Change>) -> Vec<String> {
    changes.map(|change| change.name().into_owned()).collect()
}

impl InHead {
    /// Which of `asked` are now as HEAD has them.
    fn holds(
        &mut self,
        repo: &Repo,
        tree: &Tree,
        (dirty, asked): (&BTreeSet<Vec<u8>>, &BTreeSet<Vec<u8>>),
        (head, now): (Option<&str>, &str),
    ) -> Result<BTreeSet<Vec<u8>>, TreeError> {
        let Some(now) = TreeId::new(now).filter(|_| !asked.is_empty()) else { return Ok(BTreeSet::new()) };
        let is_known = self.head.as_ref().is_some_and(|known| known.as_deref() == head);
        if is_known && let Some(held) = tree.held(&now, asked) {
            let same =
                |path: &&Vec<u8>| self.objects.get(*path).is_some_and(|old| old.as_ref() == held.get(*path));
            return Ok(asked.iter().filter(same).cloned().collect());
        }
        let Some(in_head) = TreeId::new(&repo.tree_of(head)?) else { return Ok(BTreeSet::new()) };
        let mut old: BTreeMap<Vec<u8>, Option<Object>> =
            tree.compare(&in_head, &now)?.into_iter().map(|change| (change.path, change.old)).into_map();
        let restored = asked.iter().filter(|path| !old.contains_key(*path)).cloned().collect();
        if let Some(mut held) = tree.held(&now, dirty) {
            // What does not differ is the same there and here.
            let mut object = |path: &Vec<u8>| old.remove(path).unwrap_or_else(|| held.remove(path));
            self.objects = dirty.iter().map(|path| (path.clone(), object(path))).collect();
            self.head = Some(head.map(str::to_owned));
        }
        Ok(restored)
    }
}

/// What the user had not committed when the run began.
pub(crate) fn dirty_at(repo: &Repo, tree: &Tree, base: &TreeMark) -> Result<BTreeSet<Vec<u8>>, TreeError> {
    between(tree, &repo.tree_of(base.head.as_deref())?, &base.tree)
}
