//! Who changed what, where an agent was cut off together with ralph and its files are measured when somebody is back: what
//! was written after its keeper saw it end is not its work.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::Metadata;
use std::path::Path;

use ralph_core::decision::TreeMark;
use ralph_core::event::When;
use ralph_core::git_text::Change;
use ralph_core::text;

use super::Runner;
use crate::tree::{TreeError, TreeId};
use crate::unix::identity::MetadataExt;
use crate::unix::names::OsStrExt;

/// What the agent left, where others worked since.
#[derive(Debug, Default)]
pub(super) struct CutOff {
    /// The files as it left them.
    pub(super) left: Option<String>,
    /// Its changes alone; `None` where all of them are.
    pub(super) agents: Option<Vec<Change>>,
    pub(super) told: Option<String>,
}

impl Runner<'_> {
    pub(super) fn since_it_was_cut_off(
        &self,
        when: When,
        before: Option<&TreeMark>,
        now: &TreeId,
        changes: &[Change],
    ) -> Result<CutOff, TreeError> {
        let cut = self.state.current.as_ref().is_some_and(|current| current.is_cut());
        let ended_at = self.files().agent_ended_at().filter(|_| cut && when == When::After);
        let (Some(ended_at), Some(before)) = (ended_at, before.and_then(|mark| TreeId::new(&mark.tree)))
        else {
            return Ok(CutOff::default());
        };
        let root = &self.project.root;
        let own = self.own_notes();
        let is_own = |path: &[u8]| {
            own.iter().any(|own| matches!(path.strip_prefix(own.as_slice()), Some([] | [b'/', ..])))
        };
        let theirs = |change: &&Change| !is_own(&change.path) && changed_since(root, change, ended_at);
        let others: BTreeSet<&[u8]> =
            changes.iter().filter(theirs).map(|change| change.path.as_slice()).collect();
        if others.is_empty() {
            return Ok(CutOff::default());
        }
        let is_theirs = |path: &[u8]| others.contains(path);
        // With what is stored at each path, which a list of names may not know.
        let compared = self.tree.compare(&before, now)?;
        let back = compared.iter().filter(|change| is_theirs(&change.path));
        let left = self.tree.with(now, back.map(|change| (change.path.as_slice(), change.old.as_ref())));
        let names: Vec<_> = others.iter().map(|path| String::from_utf8_lossy(path)).collect();
        let told = format!(
            "changed since the agent was cut off, and not taken for its work: {}",
            text::one_line(&names.join(", "), 400)
        );
        Ok(CutOff {
            left: Some(left?.to_string()),
            agents: Some(changes.iter().filter(|change| !is_theirs(&change.path)).cloned().collect()),
            told: Some(told),
        })
    }
}

/// Whether a file was written to later: the one time may be set by hand, and the other changes where a project is copied.
/// Of a file that is gone nobody can tell: its folder changes with every other file.
fn changed_since(root: &Path, change: &Change, moment: (i64, i64)) -> bool {
    let written = |data: &Metadata| (data.mtime(), data.mtime_nsec());
    let changed = |data: &Metadata| (data.ctime(), data.ctime_nsec());
    let later = |data: Metadata| written(&data).min(changed(&data)) > moment;
    std::fs::symlink_metadata(root.join(OsStr::from_bytes(&change.path))).is_ok_and(later)
}
