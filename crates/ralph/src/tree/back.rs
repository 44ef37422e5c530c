//! Putting the files back as an earlier snapshot has them.
//!
//! All that can be refused is refused before a file is touched. The private index alone is used: the user's index, HEAD,
//! branches and stash stay as they are. What no snapshot holds stays on disk: ignored files, files that are too big, and
//! the inside of nested repositories.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::path::PathBuf;

use ralph_core::git_text::{self, Change, Object, parse_paths};

use super::{Snapshot, Tree, TreeError, TreeId, inexact, rules, seed};
use crate::unix::names::OsStrExt;

/// A nested repository.
const NESTED: u32 = 0o160_000;

/// How to get from the files as they are to an earlier snapshot.
#[derive(Debug)]
pub struct WayBack {
    /// The files as they are, which leads back here.
    pub now: Snapshot,
    /// What the files will be: the earlier snapshot without what is left alone.
    pub to: TreeId,
    pub changes: Vec<Change>,
    /// What would have changed and was to be kept.
    pub kept: Vec<Change>,
    /// Nested repositories that were at another commit, and stay as they are.
    pub nested: Vec<String>,
    /// Files that will have other line ends than they had.
    pub inexact: Vec<String>,
}

/// Why the files cannot be put back. None of them was touched.
#[derive(Debug, thiserror::Error)]
pub enum BackError {
    #[error(transparent)]
    Tree(#[from] TreeError),
    #[error("the snapshot {0} is not stored any more")]
    Gone(TreeId),
    #[error("what {} held is not stored any more", some(.0))]
    Lost(Vec<String>),
    #[error("{} would be lost: no snapshot holds what is there now", some(.0))]
    InTheWay(Vec<String>),
    #[error("git will not do it: {0}")]
    Refused(String),
}

/// A few names and how many more there are.
fn some(names: &[String]) -> String {
    const SHOWN: usize = 5;
    let more = names.len().saturating_sub(SHOWN);
    let shown = names.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
    if more == 0 { shown } else { format!("{shown} and {more} more") }
}

impl Tree {
    /// Takes a snapshot and finds the way from it to an earlier one, with some files as they are. Touches no file.
    pub fn way_back_but(&mut self, to: &TreeId, keep: &dyn Fn(&[u8]) -> bool) -> Result<WayBack, BackError> {
        let now = self.snapshot()?;
        self.way_back_from(now, to, keep)
    }

    /// The same from a snapshot that was just taken.
    pub fn way_back_from(
        &self,
        now: Snapshot,
        to: &TreeId,
        keep: &dyn Fn(&[u8]) -> bool,
    ) -> Result<WayBack, BackError> {
        let there = self.stored().call("cat-file").arg("-e").arg(format!("{to}^{{tree}}")).run();
        if !there.map_err(TreeError::from)?.end.success() {
            return Err(BackError::Gone(to.clone()));
        }
        let all = self.compare(&now.tree, to).map_err(|error| match error.is_final() {
            // Nobody could ask git.
            true => BackError::Tree(error),
            false => BackError::Gone(to.clone()),
        })?;
        let stays = |change: &Change| is_nested(change) || keep(&change.path);
        let (staying, changes): (Vec<Change>, Vec<Change>) = all.into_iter().partition(stays);
        let (to, changes) = match staying.is_empty() && !self.place.has_own_rules {
            true => (to.clone(), changes),
            false => {
                let to = self.without(to, &staying, keep)?;
                let changes = self.compare(&now.tree, &to)?;
                (to, changes)
            }
        };
        self.is_stored(&changes)?;
        self.is_clear(&changes)?;
        let tried = self.read_tree(&["-n"], &now.tree, &to)?;
        let (nested, kept): (Vec<Change>, Vec<Change>) = staying.into_iter().partition(is_nested);
        let nested = nested.iter().map(|change| change.name().into_owned()).collect();
        let inexact = inexact::among(&self.place, &changes);
        tried.map(|()| WayBack { now, to, changes, kept, nested, inexact })
    }

    /// Goes there.
    pub fn put_back(&mut self, way: &WayBack) -> Result<(), BackError> {
        self.read_tree(&[], &way.now.tree, &way.to)?
    }

    /// The outer error: git could not be asked. It refuses where a file has changed since the snapshot.
    fn read_tree(
        &self,
        more: &[&str],
        from: &TreeId,
        to: &TreeId,
    ) -> Result<Result<(), BackError>, TreeError> {
        let call = self.stored().call("read-tree").to_its_end();
        let call = call.args(["-m", "-u", "--no-sparse-checkout"]).args(more);
        let captured = call.arg(from.as_str()).arg(to.as_str()).run();
        self.place.end_left();
        let captured = captured?;
        if captured.end.success() {
            return Ok(Ok(()));
        }
        Ok(Err(BackError::Refused(git_text::reason(&captured.stderr))))
    }

    /// The snapshot with nested repositories and kept files as they are now, and without what `.ralphignore` names.
    fn without(
        &self,
        to: &TreeId,
        staying: &[Change],
        keep: &dyn Fn(&[u8]) -> bool,
    ) -> Result<TreeId, TreeError> {
        let entries = staying.iter().map(|change| {
            let now = change.old.as_ref().filter(|old| old.mode == NESTED || keep(&change.path));
            (change.path.as_slice(), now)
        });
        let next = self.index_with(to, entries)?;
        let left_out = rules::left_out(&self.place, &next)?;
        seed::update_index(&self.place, &next, "--force-remove", &parse_paths(&left_out)?)?;
        self.write_tree_of(&next)
    }

    /// A snapshot with other contents at these paths; nothing where there is `None`.
    pub fn with<'e>(
        &self,
        tree: &TreeId,
        entries: impl Iterator<Item = (&'e [u8], Option<&'e Object>)>,
    ) -> Result<TreeId, TreeError> {
        let next = self.index_with(tree, entries)?;
        let made = self.write_tree_of(&next);
        // No snapshot may follow that would take its place.
        seed::remove(&next)?;
        made
    }

    fn index_with<'e>(
        &self,
        tree: &TreeId,
        entries: impl Iterator<Item = (&'e [u8], Option<&'e Object>)>,
    ) -> Result<PathBuf, TreeError> {
        let next = self.stored().next_index();
        self.place.call_on(&next, "read-tree").arg(tree.as_str()).output()?;
        let gone = Object { mode: 0, id: "0".repeat(tree.as_str().len()) };
        let mut lines = Vec::new();
        for (path, object) in entries {
            let object = object.unwrap_or(&gone);
            lines.extend(format!("{:o} {}\t", object.mode, object.id).bytes());
            lines.extend_from_slice(path);
            lines.push(0);
        }
        if !lines.is_empty() {
            let call = self.place.call_on(&next, "update-index").args(["-z", "--replace", "--index-info"]);
            call.stdin(lines).output()?;
        }
        Ok(next)
    }

    /// Objects that only the user's repository had may have gone with its history.
    fn is_stored(&self, changes: &[Change]) -> Result<(), BackError> {
        let wanted: HashMap<&str, &Change> =
            changes.iter().filter_map(|change| Some((change.new.as_ref()?.id.as_str(), change))).collect();
        if wanted.is_empty() {
            return Ok(());
        }
        let ids: Vec<u8> = wanted.keys().flat_map(|id| [id.as_bytes(), b"\n"].concat()).collect();
        let call = self.place.call("cat-file").arg("--batch-check=%(objectname)").stdin(ids);
        let answer = call.output().map_err(TreeError::from)?;
        let answer = String::from_utf8_lossy(&answer);
        let missing = answer.lines().filter_map(|line| line.strip_suffix(" missing"));
        let mut lost: Vec<String> =
            missing.filter_map(|id| wanted.get(id)).map(|change| change.name().into_owned()).collect();
        lost.sort();
        if lost.is_empty() { Ok(()) } else { Err(BackError::Lost(lost)) }
    }

    /// git takes ignored files for worthless and would write over them.
    fn is_clear(&self, changes: &[Change]) -> Result<(), BackError> {
        let leaves: HashSet<&[u8]> = changes
            .iter()
            .filter(|change| change.old.is_some())
            .map(|change| change.path.as_slice())
            .collect();
        let mut there = Vec::new();
        for change in changes.iter().filter(|change| change.new.is_some()) {
            let above =
                (0..change.path.len()).filter(|at| change.path[*at] == b'/').map(|at| &change.path[..at]);
            let file = above.filter(|path| !leaves.contains(path)).find(|path| self.place.has_file(path));
            if let Some(file) = file {
                there.push(String::from_utf8_lossy(file).into_owned());
            } else if self.place.has_folder(&change.path) {
                there.extend(self.strangers(&change.path)?);
            } else if change.old.is_none() && self.place.has_file(&change.path) && !self.is_same(change)? {
                there.push(change.name().into_owned());
            }
        }
        there.dedup();
        if there.is_empty() { Ok(()) } else { Err(BackError::InTheWay(there)) }
    }

    /// Files in a folder that no snapshot holds.
    fn strangers(&self, folder: &[u8]) -> Result<Vec<String>, TreeError> {
        let call = self.place.call("ls-files").args(["-z", "--others"]).env("GIT_LITERAL_PATHSPECS", "1");
        let listing = call.arg("--").arg(OsStr::from_bytes(folder)).output()?;
        Ok(parse_paths(&listing)?.iter().map(|path| String::from_utf8_lossy(path).into_owned()).collect())
    }

    /// The file on disk is what it would become.
    fn is_same(&self, change: &Change) -> Result<bool, TreeError> {
        let Some(new) = change.new.as_ref().filter(|new| new.mode & 0o170_000 == 0o100_000) else {
            return Ok(false);
        };
        let call = self.place.call("hash-object").arg("--").arg(OsStr::from_bytes(&change.path));
        Ok(self.place.file_size(&change.path) > 0 && call.line()? == Some(new.id.clone()))
    }
}

fn is_nested(change: &Change) -> bool {
    [&change.old, &change.new].into_iter().flatten().any(|object| object.mode == NESTED)
}
