//! Whether a commit holds the files that were there when they were proved.

mod rewritten;

use std::collections::{BTreeMap, BTreeSet};

use ralph_core::gather::Gather as _;
use ralph_core::git_text::{Change, ChangeKind};
use ralph_core::ledger::Attempted;

pub(super) use rewritten::Rewritten;

use super::Loaded;
use crate::git::{GitError, Repo};
use crate::project::Project;
use crate::tree::{Tree, TreeError, TreeId};
use crate::work::{beads, is_below, is_own};

/// How many names are told.
const NAMED: usize = 10;

#[derive(Debug, Clone, Default)]
pub(super) struct Compared {
    /// Files that the work changed and that are others in the commit: a hook rewrote them, say.
    pub(super) differs: Vec<String>,
    pub(super) remarks: Vec<String>,
    /// Files that were there, and that git did not track.
    pub(super) untracked: Vec<String>,
}

/// What the repository knows of the commits of some attempts, asked once for all of them.
#[derive(Debug, Default)]
pub(crate) struct Commits {
    there: BTreeSet<String>,
    /// Those that no branch leads to.
    stray: BTreeSet<String>,
    /// The digests that the commits name.
    names: BTreeMap<String, Vec<String>>,
    /// By attempt.
    compared: BTreeMap<String, Compared>,
    rewritten: BTreeMap<String, Vec<Rewritten>>,
    /// Why nobody could be asked.
    failed: Option<String>,
}

impl Commits {
    pub(crate) fn of(project: &Project, attempts: &[Attempted], loaded: &Loaded) -> Self {
        let Some(repo) = &project.repo else { return Self::default() };
        Self::ask(project, repo, attempts, loaded)
            .unwrap_or_else(|error| Self { failed: Some(error.to_string()), ..Self::default() })
    }

    fn ask(
        project: &Project,
        repo: &Repo,
        attempts: &[Attempted],
        loaded: &Loaded,
    ) -> Result<Self, GitError> {
        let ids: BTreeSet<&str> = attempts.iter().filter_map(Attempted::commit).into_set();
        let there = repo.existing_commits(&ids)?;
        let stray = repo.stray(&there)?;
        let mut names: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for named in repo.evidence_named_by(&there)? {
            names.entry(named.commit).or_default().push(named.evidence);
        }
        let is_there = |attempted: &&Attempted| {
            attempted.record.passed() && attempted.commit().is_some_and(|id| there.contains(id))
        };
        let compared = compare(project, repo, &attempts.iter().filter(is_there).collect::<Vec<_>>())?;
        let gone = |id: &str| !there.contains(id) || stray.contains(id);
        let committed = |attempted: &&Attempted| attempted.record.passed() && attempted.commit().is_some();
        let committed: Vec<&Attempted> = attempts.iter().filter(committed).collect();
        let rewritten = rewritten::compare(project, repo, &committed, gone, loaded)?;
        let there = there.into_iter().map(str::to_owned).collect();
        Ok(Self { there, stray, names, compared, rewritten, failed: None })
    }

    /// Whether the commit of an attempt is there and its own.
    pub(super) fn look(&self, attempted: &Attempted, id: &str, loaded: &Loaded) -> Result<(), Gone> {
        if let Some(why) = &self.failed {
            return Err(Gone::Unknown(why.clone()));
        }
        let record = &attempted.record;
        if !self.there.contains(id) {
            let again = self.again(&record.digest, id, loaded);
            return Err(Gone::Unknown(format!(
                "commit {id} is gone: the history was rewritten and cleaned up{again}"
            )));
        }
        match self.names.get(id) {
            Some(names) if !names.contains(&record.digest) => {
                Err(Gone::Another(format!("commit {id} names other evidence than this record")))
            }
            None if loaded.settled.get(&record.attempt).map(String::as_str) != Some(id) => {
                Err(Gone::Unknown(format!("nothing but the ledger says that commit {id} is its commit")))
            }
            _ => Ok(()),
        }
    }

    /// What was compared, and what else is worth knowing of the commit.
    pub(super) fn compared(&self, attempted: &Attempted, id: &str, loaded: &Loaded) -> Compared {
        let mut compared = self.compared.get(&attempted.record.attempt).cloned().unwrap_or_default();
        if self.stray.contains(id) {
            let again = self.again(&attempted.record.digest, id, loaded);
            compared.remarks.insert(0, format!("commit {} is on no branch any more{again}", short(id)));
        }
        compared
    }

    /// What a rewritten history has in place of the commit of an attempt, or beside it.
    pub(super) fn rewritten(&self, attempted: &Attempted) -> &[Rewritten] {
        self.rewritten.get(&attempted.record.attempt).map_or(&[], |all| all)
    }

    /// Where a rewritten history has the work.
    fn again(&self, digest: &str, id: &str, loaded: &Loaded) -> String {
        let other = loaded.named.get(digest).and_then(|all| all.iter().find(|other| *other != id));
        other.map(|other| format!("; commit {} names the same evidence", short(other))).unwrap_or_default()
    }
}

/// Why there is nothing to check out.
pub(super) enum Gone {
    Unknown(String),
    /// It is somebody else's.
    Another(String),
}

fn short(id: &str) -> &str {
    id.get(..12).unwrap_or(id)
}

fn remark(text: impl Into<String>) -> Compared {
    Compared { remarks: vec![text.into()], ..Compared::default() }
}

/// The trees of one attempt: what was proved, what the commit holds, and what the work began with.
struct Trees<'a> {
    attempted: &'a Attempted,
    proved: TreeId,
    held: TreeId,
    base: TreeId,
}

fn compare(
    project: &Project,
    repo: &Repo,
    attempts: &[&Attempted],
) -> Result<BTreeMap<String, Compared>, GitError> {
    let heads = attempts.iter().filter_map(|attempted| attempted.record.base.head.as_deref());
    let commits: BTreeSet<&str> = attempts.iter().filter_map(|one| one.commit()).chain(heads).into_set();
    let answers = repo.trees_of(&commits)?;
    let known: BTreeMap<&str, TreeId> = (commits.iter().copied().zip(answers))
        .filter_map(|(commit, tree)| Some((commit, TreeId::new(&tree?)?)))
        .into_map();
    let mut compared = BTreeMap::new();
    let mut trees = vec![];
    for attempted in attempts {
        let record = &attempted.record;
        let Some(proved) = record.tree.as_deref().and_then(TreeId::new) else {
            let told = remark("nobody measured the files that were proved, so the commit is not compared");
            compared.insert(record.attempt.clone(), told);
            continue;
        };
        let base = match record.base.head.as_deref() {
            Some(head) => known.get(head).cloned(),
            None => record.base.tree.as_deref().and_then(TreeId::new),
        };
        let held = attempted.commit().and_then(|id| known.get(id)).cloned();
        if let (Some(held), Some(base)) = (held, base) {
            trees.push(Trees { attempted, proved, held, base });
        }
    }
    let of_all =
        Tree::look(&project.root, &project.truth, Some(repo)).and_then(|tree| differences(&tree, &trees));
    let attempt = |one: &Trees<'_>| one.attempted.record.attempt.clone();
    match of_all {
        Ok(of_all) => compared.extend(trees.iter().map(attempt).zip(of_all)),
        Err(error) => {
            let told = remark(format!("the commit could not be compared with what was proved: {error}"));
            compared.extend(trees.iter().map(|one| (attempt(one), told.clone())));
        }
    }
    Ok(compared)
}

fn differences(tree: &Tree, trees: &[Trees<'_>]) -> Result<Vec<Compared>, TreeError> {
    let proved: Vec<&TreeId> = trees.iter().map(|one| &one.proved).collect();
    let kept = tree.are_there(&proved)?;
    let whole: Vec<&Trees<'_>> =
        trees.iter().zip(&kept).filter(|(_, kept)| **kept).map(|(one, _)| one).collect();
    let mut work =
        tree.diff_all(&whole.iter().map(|one| (&one.base, &one.held)).collect::<Vec<_>>())?.into_iter();
    let mut others =
        tree.diff_all(&whole.iter().map(|one| (&one.proved, &one.held)).collect::<Vec<_>>())?.into_iter();
    let of_one = |(one, kept): (&Trees<'_>, &bool)| match kept
        .then(|| work.next().zip(others.next()))
        .flatten()
    {
        Some((work, others)) => differing(one.attempted, work, others),
        None => remark("the snapshot that was proved is not kept any more, so the commit is not compared"),
    };
    Ok(trees.iter().zip(&kept).map(of_one).collect())
}

/// An agent's own commit may have taken ralph's files along, which are no work, and marks in the backlog are none.
fn is_work(attempted: &Attempted, path: &[u8]) -> bool {
    let backlog = attempted.record.backlog.as_deref();
    let apart = backlog.filter(|file| *file == beads::FILE).map(|_| beads::FOLDER);
    !is_own(path) && Some(path) != backlog.map(str::as_bytes) && !is_below(path, apart)
}

fn differing(attempted: &Attempted, work: Vec<Change>, others: Vec<Change>) -> Compared {
    let work: BTreeSet<Vec<u8>> = work.into_iter().map(|change| change.path).into_set();
    let others = others.into_iter().filter(|change| is_work(attempted, &change.path));
    // What is in the snapshot alone was not tracked: files that the user has not added.
    let (untracked, others): (Vec<Change>, Vec<Change>) =
        others.partition(|change| change.kind == ChangeKind::Deleted);
    let (differs, beside): (Vec<Change>, Vec<Change>) =
        others.into_iter().partition(|change| work.contains(&change.path));
    let names =
        |changes: &[Change]| changes.iter().map(|change| change.name().into_owned()).collect::<Vec<_>>();
    let remarks = match names(&beside).as_slice() {
        [] => vec![],
        names => vec![format!(
            "uncommitted changes of other files were there when it was proved: {}",
            names.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ")
        )],
    };
    let untracked = names(untracked.get(..NAMED).unwrap_or(&untracked));
    Compared { differs: names(&differs), remarks, untracked }
}
