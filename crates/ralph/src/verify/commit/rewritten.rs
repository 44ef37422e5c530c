//! Where a history was rewritten: the commits that name an attempt's evidence now, and whether they hold what was proved.

use std::collections::{BTreeMap, BTreeSet};

use ralph_core::gather::Gather as _;
use ralph_core::git_text::{Change, ChangeKind};
use ralph_core::ledger::Attempted;

use super::{Loaded, is_work};
use crate::git::{GitError, Repo};
use crate::project::Project;
use crate::tree::{Tree, TreeError, TreeId};

#[derive(Debug, Clone)]
pub(in crate::verify) struct Rewritten {
    pub(in crate::verify) commit: String,
    /// Files of the work that are others there than those that were proved.
    pub(in crate::verify) differs: Vec<String>,
    /// The same, where later work changed them whose evidence the commit names too.
    pub(in crate::verify) since: Vec<String>,
    /// Whoever has HEAD has what was proved: this one is on another branch.
    pub(in crate::verify) beside: bool,
    /// Why nobody could compare.
    pub(in crate::verify) unknown: Option<String>,
}

/// An attempt, and another commit than its own that names its evidence.
#[derive(Clone, Copy)]
struct Pair<'a> {
    attempted: &'a Attempted,
    other: &'a str,
    beside: bool,
}

/// Of these attempts, which passed and were committed. `gone`: commits that are not there, or that nothing leads to.
pub(super) fn compare(
    project: &Project,
    repo: &Repo,
    attempts: &[&Attempted],
    gone: impl Fn(&str) -> bool,
    loaded: &Loaded,
) -> Result<BTreeMap<String, Vec<Rewritten>>, GitError> {
    let named = |one: &Attempted| loaded.named.get(&one.record.digest).map_or(&[][..], |all| all.as_slice());
    let others: Vec<(&Attempted, &str)> = attempts
        .iter()
        .flat_map(|one| named(one).iter().map(|other| (*one, other.as_str())))
        .filter(|(one, other)| one.commit() != Some(*other))
        .collect();
    if others.is_empty() {
        return Ok(BTreeMap::new());
    }
    let own = others.iter().filter_map(|(one, _)| one.commit()).filter(|own| !gone(own));
    let asked: BTreeSet<&str> = others.iter().map(|(_, other)| *other).chain(own).into_set();
    let (off_branches, off_head) = (repo.on_no_branch(&asked)?, repo.not_in_head(&asked)?);
    let pair = |(attempted, other): &(&'_ Attempted, &'_ str)| {
        let is_gone = attempted.commit().is_none_or(&gone);
        let in_head = |commit: &str| !off_head.contains(commit);
        let own_in_head = !is_gone && attempted.commit().is_some_and(in_head);
        // A tag, say, may keep what was before.
        (is_gone || !off_branches.contains(*other)).then_some(own_in_head && !in_head(other))
    };
    let pairs: Vec<Pair<'_>> = others
        .iter()
        .filter_map(|one| Some(Pair { attempted: one.0, other: one.1, beside: pair(one)? }))
        .collect();
    if pairs.is_empty() {
        return Ok(BTreeMap::new());
    }
    let mut trees = Trees::of(project, repo, &pairs, loaded)?;
    let mut found = BTreeMap::<String, Vec<Rewritten>>::new();
    for pair in pairs {
        found.entry(pair.attempted.record.attempt.clone()).or_default().push(trees.compared(pair, loaded));
    }
    Ok(found)
}

/// The attempts after this one whose evidence a commit names too.
fn later<'a>(attempted: &Attempted, commit: &str, loaded: &'a Loaded) -> impl Iterator<Item = &'a Attempted> {
    let digest = attempted.record.digest.clone();
    let commit = commit.to_owned();
    let after = loaded.attempts.iter().skip_while(move |one| one.record.digest != digest).skip(1);
    after.filter(move |one| loaded.named.get(&one.record.digest).is_some_and(|all| all.contains(&commit)))
}

/// What an attempt changed; `None` where nobody can tell any more.
type Work = Option<BTreeSet<Vec<u8>>>;

/// The trees of the commits, and those that were measured.
struct Trees {
    tree: Result<Tree, TreeError>,
    known: Known,
}

struct Known {
    trees: BTreeMap<String, TreeId>,
    /// By the digests of their attempts: in a squashed history each is asked for with every attempt before it.
    works: BTreeMap<String, Work>,
}

impl Trees {
    fn of(project: &Project, repo: &Repo, pairs: &[Pair<'_>], loaded: &Loaded) -> Result<Self, GitError> {
        let mut asked = BTreeSet::new();
        for pair in pairs {
            asked.insert(pair.other);
            for one in later(pair.attempted, pair.other, loaded).chain([pair.attempted]) {
                asked.extend(one.record.base.head.as_deref().into_iter().chain(one.commit()));
            }
        }
        let answers = repo.trees_of(&asked)?;
        let known = (asked.iter().zip(answers))
            .filter_map(|(commit, tree)| Some(((*commit).to_owned(), TreeId::new(&tree?)?)));
        let known = Known { trees: known.collect(), works: BTreeMap::new() };
        Ok(Self { known, tree: Tree::look(&project.root, &project.truth, Some(repo)) })
    }

    fn compared(&mut self, pair: Pair<'_>, loaded: &Loaded) -> Rewritten {
        let found = match &self.tree {
            Ok(tree) => self.known.differs(tree, pair, loaded).map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        };
        let (found, unknown) = match found {
            Ok(Some(found)) => (found, None),
            Ok(None) => (vec![], Some("the snapshot that was proved is not kept any more".into())),
            Err(why) => (vec![], Some(why)),
        };
        let names = |wanted: bool| {
            let these = found.iter().filter(|(_, since)| *since == wanted);
            these.map(|(change, _)| change.name().into_owned()).collect()
        };
        Rewritten {
            commit: pair.other.into(),
            differs: names(false),
            since: names(true),
            beside: pair.beside,
            unknown,
        }
    }
}

impl Known {
    /// The files that the work changed and that are others in this commit, each with whether later work did that; `None` where
    /// nobody can tell any more.
    fn differs(
        &mut self,
        tree: &Tree,
        pair: Pair<'_>,
        loaded: &Loaded,
    ) -> Result<Option<Vec<(Change, bool)>>, TreeError> {
        let Pair { attempted, other, .. } = pair;
        let (Some(proved), Some(now)) =
            (measured(attempted.record.tree.as_ref()), self.trees.get(other).cloned())
        else {
            return Ok(None);
        };
        if tree.are_there(&[&proved])?.contains(&false) {
            return Ok(None);
        }
        let others = tree.diff(&proved, &now)?.into_iter();
        // Where the commit itself is gone, files that were never in it cannot be told from files that the new one lost.
        let all = attempted.commit().is_some_and(|id| self.trees.contains_key(id));
        let Some(work) = self.work(tree, attempted)? else { return Ok(None) };
        let told = others.filter(|change| {
            work.contains(change.path.as_slice())
                && is_work(attempted, &change.path)
                && (all || change.kind != ChangeKind::Deleted)
        });
        let mut told: Vec<(Change, bool)> = told.map(|change| (change, false)).collect();
        for one in later(attempted, other, loaded) {
            if told.iter().all(|(_, since)| *since) {
                break;
            }
            let work = self.work(tree, one)?;
            for (change, since) in &mut told {
                // Where nobody can tell, it may have been any of them.
                *since |= work.as_ref().is_none_or(|work| work.contains(&change.path));
            }
        }
        Ok(Some(told))
    }

    fn work(&mut self, tree: &Tree, attempted: &Attempted) -> Result<&Work, TreeError> {
        let digest = &attempted.record.digest;
        if !self.works.contains_key(digest) {
            let work = self.find_work(tree, attempted)?;
            self.works.insert(digest.clone(), work);
        }
        Ok(self.works.get(digest).unwrap_or(&None))
    }

    fn find_work(&self, tree: &Tree, attempted: &Attempted) -> Result<Work, TreeError> {
        let record = &attempted.record;
        let then = || measured(record.base.tree.as_ref());
        let base = match record.base.head.as_deref() {
            Some(head) => self.trees.get(head).cloned().or_else(then),
            None => then(),
        };
        let held = attempted.commit().and_then(|id| self.trees.get(id)).cloned();
        let worked_on = held.or_else(|| measured(record.tree.as_ref()));
        let (Some(base), Some(worked_on)) = (base, worked_on) else { return Ok(None) };
        if tree.are_there(&[&base, &worked_on])?.contains(&false) {
            return Ok(None);
        }
        let changes = tree.diff(&base, &worked_on)?.into_iter();
        Ok(Some(changes.map(|change| change.path).collect()))
    }
}

fn measured(tree: Option<&String>) -> Option<TreeId> {
    tree.and_then(|tree| TreeId::new(tree))
}
