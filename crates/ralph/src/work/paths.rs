//! Which files a commit may hold: those that agents changed, as they were when they were proved; without what was not
//! clean before the run and what somebody else changed or committed meanwhile.

use std::collections::BTreeSet;

use ralph_core::decision::TreeMark;
use ralph_core::event::is_progress;
use ralph_core::gather::Gather as _;
use ralph_core::git_text::Change;
use ralph_core::items::{CommitOrder, Span};

use crate::git::{Entry, NESTED, Repo};
use crate::tree::{Tree, TreeError, TreeId};

/// The files of a commit, and those that were left out.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Paths {
    pub(super) commit: Vec<Entry>,
    /// They were not clean before, or are not the agents' alone.
    pub(super) left: Vec<String>,
    /// Repositories of their own, of which a commit would hold a name and no file.
    pub(super) nested: Vec<String>,
    /// Changed since they were proved; they are committed as proved.
    pub(super) since: Vec<String>,
    /// No file differs from HEAD, but for ralph's own.
    pub(super) clean: bool,
}

/// What a commit is to be made of.
#[derive(Debug)]
pub(super) struct Sources<'a> {
    pub(super) order: &'a CommitOrder,
    /// The files when they were proved, and HEAD then.
    pub(super) proved: &'a TreeId,
    pub(super) proved_head: Option<&'a str>,
    /// HEAD and the files now.
    pub(super) head: Option<&'a str>,
    pub(super) now: &'a TreeId,
    /// The task file, which ralph changes itself; whether nobody else had changed it.
    pub(super) backlog: Option<(Vec<u8>, bool)>,
    /// A folder of which nothing is committed, for it is another program's.
    pub(super) apart: Option<&'static str>,
    /// What was staged when the run began.
    pub(super) staged: BTreeSet<Vec<u8>>,
}

pub(super) fn of(sources: Sources<'_>, repo: &Repo, tree: &Tree) -> Result<Paths, TreeError> {
    let Sources { order, proved, proved_head, head, now, backlog, apart, staged } = sources;
    let mut changed = BTreeSet::new();
    for span in &order.spans {
        changed.extend(between(tree, &span.from, &span.to)?);
    }
    let mut foreign = foreign(order, proved, repo, tree)?;
    let mut earlier = BTreeSet::new();
    for span in order.spans.iter().filter(|span| span.earlier) {
        earlier.extend(between(tree, &span.from, &span.to)?);
    }
    // What an agent left is its work, staged or not.
    foreign.extend(staged.into_iter().filter(|path| !earlier.contains(path)));
    foreign.extend(order.not_ours.iter().map(|path| path.clone().into_bytes()));
    let in_head = repo.tree_of(head)?;
    if proved_head != head {
        // Somebody committed since: what is there is theirs.
        foreign.extend(between(tree, &repo.tree_of(proved_head)?, &in_head)?);
    }
    let task_file = backlog.as_ref().map(|(path, _)| path.clone());
    if let Some((path, ours)) = backlog {
        if ours {
            foreign.remove(&path);
        } else {
            foreign.insert(path.clone());
        }
        changed.insert(path);
    }
    let Some(in_head) = id(&in_head) else { return Ok(Paths::default()) };
    let is_task_file = |change: &Change| task_file.as_ref() == Some(&change.path);
    let proved_changes = tree.compare(&in_head, proved)?.into_iter().filter(|change| !is_task_file(change));
    let now_changes = tree.compare(&in_head, now)?;
    let clean = now_changes.iter().all(|change| is_own(&change.path) || is_below(&change.path, apart));
    let now_changes = now_changes.into_iter().filter(is_task_file);
    let since: BTreeSet<Vec<u8>> = names(tree, proved, now)?;
    let submodules = submodules(tree, proved);
    let mut paths = Paths { clean, ..Paths::default() };
    for change in proved_changes.chain(now_changes) {
        if !changed.contains(&change.path) || is_own(&change.path) || is_below(&change.path, apart) {
            continue;
        }
        let name = change.name().into_owned();
        if foreign.contains(&change.path) {
            paths.left.push(name);
        } else if is_nested(&change) && !submodules.contains(&name) {
            paths.nested.push(name);
        } else {
            if since.contains(&change.path) && !is_task_file(&change) {
                paths.since.push(name);
            }
            paths.commit.push(Entry { path: change.path, object: change.new });
        }
    }
    Ok(paths)
}

/// What was uncommitted when the run began, and what changed between the agents' turns.
fn foreign(
    order: &CommitOrder,
    proved: &TreeId,
    repo: &Repo,
    tree: &Tree,
) -> Result<BTreeSet<Vec<u8>>, TreeError> {
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
    if let Some(Span { to, .. }) = order.spans.last() {
        foreign.extend(between(tree, to, proved.as_str())?);
    }
    Ok(foreign)
}

/// A repository where HEAD has none.
fn is_nested(change: &Change) -> bool {
    let nested = |mode: u32| mode == NESTED;
    change.new.as_ref().is_some_and(|new| nested(new.mode))
        && change.old.as_ref().is_none_or(|old| !nested(old.mode))
}

/// The repositories that `.gitmodules` names: these are meant.
fn submodules(tree: &Tree, at: &TreeId) -> BTreeSet<String> {
    let file = tree.call("cat-file").args(["blob", &format!("{at}:.gitmodules")]).run();
    let text = file.map(|file| String::from_utf8_lossy(&file.stdout).into_owned()).unwrap_or_default();
    let path =
        |line: &str| Some(line.trim().strip_prefix("path")?.trim().strip_prefix('=')?.trim().to_owned());
    text.lines().filter_map(path).into_set()
}

/// What commits of an agent hold and is to be taken back: as HEAD had it before. Left are files that were not clean then.
/// `judged`: what it may not hold in any case.
pub(super) fn to_take_back(
    repo: &Repo,
    tree: &Tree,
    before: &TreeMark,
    keep: &dyn Fn(&[u8]) -> bool,
    judged: &dyn Fn(&[u8]) -> bool,
) -> Result<Paths, TreeError> {
    let old = repo.tree_of(before.head.as_deref())?;
    let new = repo.tree_of(repo.head()?.as_deref())?;
    let dirty = between(tree, &old, &before.tree)?;
    let (Some(from), Some(to)) = (id(&new), id(&old)) else { return Ok(Paths::default()) };
    let mut paths = Paths::default();
    for change in tree.compare(&from, &to)? {
        let never = is_own(&change.path) || judged(&change.path);
        if keep(&change.path) && !never {
            continue;
        }
        match dirty.contains(&change.path) && !never {
            true => paths.left.push(change.name().into_owned()),
            false => paths.commit.push(Entry { path: change.path, object: change.new }),
        }
    }
    Ok(paths)
}

pub(super) fn between(tree: &Tree, from: &str, to: &str) -> Result<BTreeSet<Vec<u8>>, TreeError> {
    match (id(from), id(to)) {
        (Some(from), Some(to)) => names(tree, &from, &to),
        _ => Ok(BTreeSet::new()),
    }
}

fn names(tree: &Tree, from: &TreeId, to: &TreeId) -> Result<BTreeSet<Vec<u8>>, TreeError> {
    Ok(tree.diff(from, to)?.into_iter().map(|change| change.path).into_set())
}

fn id(tree: &str) -> Option<TreeId> {
    TreeId::new(tree)
}

/// Whether a path is in this folder, which is named with a slash at its end.
pub(crate) fn is_below(path: &[u8], dir: Option<&str>) -> bool {
    dir.is_some_and(|dir| path.starts_with(dir.as_bytes()))
}

/// ralph's own files are never committed; a harness and the knowledge file may be.
pub(crate) fn is_own(path: &[u8]) -> bool {
    !is_progress(path) && (path.starts_with(b".ralph") || path == b".harness.lock")
}
