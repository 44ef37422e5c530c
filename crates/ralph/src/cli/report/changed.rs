//! Which files changed since a revision: created, edited or deleted, committed or not, ignored ones left out.
//!
//! git is only asked, and the user's index only read: `git diff REV` would tell the same in one call, but it rewrites
//! the index where files were touched. ralph's snapshots cannot be used, because a run may be going on that owns them.

use std::collections::{BTreeSet, HashMap};
use std::ffi::OsStr;

use ralph_core::evidence::AddedTodos;
use ralph_core::gather::Gather as _;
use ralph_core::git_text::{self, Change, Dirty};
use ralph_core::report::form::FilesFact;
use ralph_core::todos;

use crate::bounded;
use crate::error::{Error, Result};
use crate::git::{self, Repo};
use crate::project::Project;
use crate::store::Runs;
use crate::unix::names::OsStrExt;
use crate::unix::rights::PermissionsExt;

/// ralph's own folder is not the work.
const OURS: &[u8] = b".ralph/";
/// Larger files are not source that somebody writes.
const MOST_OF_A_FILE: u64 = 2 << 20;
const MOST_SAMPLES: usize = 5;

/// Against HEAD unless told otherwise; before the first commit everything is new.
pub(super) fn since(project: &Project, rev: Option<&str>) -> Result<FilesFact> {
    let repo = match &project.repo {
        Some(repo) => repo.clone(),
        None => git::discover(&project.root).map_err(failed)?.ok_or_else(|| {
            Error::new("FILES_MODIFIED cannot be counted")
                .because(format!("{} is not in a git repository", project.root.display()))
                .hint("git init")
        })?,
    };
    let tree = tree_of(&repo, rev)?;
    let staged = staged(&repo, &tree)?;
    let mut changed: BTreeSet<&[u8]> = staged.keys().map(Vec::as_slice).into_set();
    let dirty = dirty(&repo)?;
    for entry in &dirty {
        match staged.get(&entry.path) {
            Some(change) if is_undone(&repo, change, entry)? => changed.remove(entry.path.as_slice()),
            _ => changed.insert(&entry.path),
        };
    }
    let names = changed.into_iter().filter(|path| !path.starts_with(OURS));
    Ok(FilesFact {
        names: names.map(|path| String::from_utf8_lossy(path).into_owned()).collect(),
        since: rev.unwrap_or("HEAD").to_owned(),
    })
}

/// Work that was put off since then: TODO, FIXME and macros that stand for missing code.
pub(super) fn todos(project: &Project, rev: Option<&str>) -> Result<AddedTodos> {
    let run = run_base(project);
    let rev = rev.or(run.as_deref());
    let Some(repo) = &project.repo else { return Ok(AddedTodos::default()) };
    let tree = tree_of(repo, rev)?;
    let mut all = AddedTodos::default();
    for name in since(project, rev)?.names {
        let Ok(new) = bounded::read(&project.root.join(&name), MOST_OF_A_FILE) else { continue };
        if todos::added_between(&name, b"", &new).total == 0 {
            continue;
        }
        // A file that is new has no old content.
        let old =
            repo.call("cat-file").args(["blob", &format!("{tree}:{name}")]).output().unwrap_or_default();
        let added = todos::added_between(&name, &old, &new);
        all.total += added.total;
        all.samples.extend(added.samples);
    }
    all.samples.truncate(MOST_SAMPLES);
    Ok(all)
}

/// Where the run began that the caller is an agent of.
fn run_base(project: &Project) -> Option<String> {
    let id = std::env::var("RALPH_RUN_ID").ok()?;
    let (_, state) = Runs::of(&project.truth).newest_of(1, |_| true)?;
    state.run.filter(|run| run.id == id)?;
    state.base?.head
}

fn tree_of(repo: &Repo, rev: Option<&str>) -> Result<String> {
    let head = || repo.head().map_err(failed);
    let Some(rev) = rev.map(str::to_owned).map_or_else(head, |rev| Ok(Some(rev)))? else {
        let empty = repo.call("hash-object").args(["-t", "tree", "/dev/null"]);
        return empty.line().map_err(failed)?.ok_or_else(|| Error::new("git knows no empty tree"));
    };
    let asked = repo.call("rev-parse").args(["--quiet", "--verify"]).arg(format!("{rev}^{{tree}}")).line();
    match asked {
        Ok(Some(id)) if !rev.starts_with('-') && git_text::is_object_id(&id) => Ok(id),
        _ => Err(Error::usage(format!("there is no revision '{rev}' here")).hint("git log --oneline")),
    }
}

/// What differs between the revision and the index.
fn staged(repo: &Repo, tree: &str) -> Result<HashMap<Vec<u8>, Change>> {
    let call = repo.call("diff-index").measuring();
    // Conflicts have no one content; `status` tells of them.
    let call = call.args(["--cached", "-z", "--no-renames", "--diff-filter=u", tree]);
    let changes = git_text::parse_diff(&call.output().map_err(failed)?).map_err(failed)?;
    Ok(changes.into_iter().map(|change| (change.path.clone(), change)).collect())
}

/// What differs between the index and the files.
fn dirty(repo: &Repo) -> Result<Vec<Dirty>> {
    let call = repo.call("status").measuring().args([
        "--porcelain=v2",
        "-z",
        "--no-renames",
        "--untracked-files=all",
        "--ignore-submodules=dirty",
    ]);
    Ok(git_text::parse_status(&call.output().map_err(failed)?).map_err(failed)?.dirty)
}

/// Staged or committed since the revision, and then taken back in the working tree.
fn is_undone(repo: &Repo, staged: &Change, now: &Dirty) -> Result<bool> {
    let Some(old) = staged.old.as_ref().filter(|_| !now.gone) else {
        return Ok(staged.old.is_none() && now.gone);
    };
    let name = OsStr::from_bytes(&now.path);
    if mode_of(repo, name) != Some(old.mode) {
        return Ok(false);
    }
    let id = repo.call("hash-object").measuring().arg("--").arg(name).line().map_err(failed)?;
    Ok(id.is_some_and(|id| id == old.id))
}

/// The mode of a plain file as git has it.
fn mode_of(repo: &Repo, name: &OsStr) -> Option<u32> {
    let data = std::fs::symlink_metadata(repo.root.join(name)).ok().filter(std::fs::Metadata::is_file)?;
    Some(if data.permissions().mode() & 0o100 == 0 { 0o100_644 } else { 0o100_755 })
}

fn failed(error: impl std::fmt::Display) -> Error {
    Error::new("the changed files cannot be counted").because(error)
}
