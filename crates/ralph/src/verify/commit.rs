//! Whether a commit holds the files that were there when they were proved.

use std::collections::BTreeSet;

use ralph_core::git_text::{Change, ChangeKind};
use ralph_core::ledger::Record;

use crate::git::Repo;
use crate::project::Project;
use crate::tree::{Tree, TreeError, TreeId};

#[derive(Debug, Default)]
pub(super) struct Compared {
    /// Files that the work changed and that are others in the commit: a hook rewrote them, say.
    pub(super) differs: Vec<String>,
    pub(super) remarks: Vec<String>,
}

pub(super) fn compare(project: &Project, repo: &Repo, record: &Record, commit: &str) -> Compared {
    let Some(proved) = record.tree.as_deref().and_then(TreeId::new) else {
        return remark("nobody measured the files that were proved, so the commit is not compared".into());
    };
    match differences(project, repo, record, commit, &proved) {
        Ok(compared) => compared,
        Err(error) => remark(format!("the commit could not be compared with what was proved: {error}")),
    }
}

fn remark(text: String) -> Compared {
    Compared { differs: vec![], remarks: vec![text] }
}

fn differences(
    project: &Project,
    repo: &Repo,
    record: &Record,
    commit: &str,
    proved: &TreeId,
) -> Result<Compared, TreeError> {
    let tree = Tree::look(&project.root, &project.truth, Some(repo))?;
    if !tree.has(proved) {
        return Ok(remark(
            "the snapshot that was proved is not kept any more, so the commit is not compared".into(),
        ));
    }
    let held = repo.tree_of(Some(commit))?;
    let (Some(held), Some(base)) = (TreeId::new(&held), base(repo, record)?) else {
        return Ok(Compared::default());
    };
    let work: BTreeSet<Vec<u8>> = tree.diff(&base, &held)?.into_iter().map(|change| change.path).collect();
    // What is in the snapshot alone was not tracked: files that the user has not added.
    let others = tree.diff(proved, &held)?.into_iter().filter(|change| change.kind != ChangeKind::Deleted);
    let backlog = record.backlog.as_deref().map(str::as_bytes);
    let others = others.filter(|change| Some(change.path.as_slice()) != backlog);
    let (differs, beside): (Vec<Change>, Vec<Change>) =
        others.partition(|change| work.contains(&change.path));
    let names =
        |changes: &[Change]| changes.iter().map(|change| change.name().into_owned()).collect::<Vec<_>>();
    let beside = names(&beside);
    let remarks = match beside.as_slice() {
        [] => vec![],
        names => vec![format!(
            "uncommitted changes of other files were there when it was proved: {}",
            names.iter().take(10).cloned().collect::<Vec<_>>().join(", ")
        )],
    };
    Ok(Compared { differs: names(&differs), remarks })
}

/// What the work began with.
fn base(repo: &Repo, record: &Record) -> Result<Option<TreeId>, TreeError> {
    let Some(head) = record.base.head.as_deref() else {
        return Ok(record.base.tree.as_deref().and_then(TreeId::new));
    };
    if !repo.has_commit(head)? {
        return Ok(None);
    }
    Ok(TreeId::new(&repo.tree_of(Some(head))?))
}
