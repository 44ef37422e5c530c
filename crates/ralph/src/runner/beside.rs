//! What no snapshot holds, before an agent and after it: a change counts, and that nobody can take it back is said.

use ralph_core::beside::{self, Beside, Why};
use ralph_core::git_text::{Change, ChangeKind};

use super::Runner;
use crate::tree::{Snapshot, Tree};

impl Runner<'_> {
    /// As it is recorded: compared with what was, a name without its secret must be the same.
    pub(super) fn not_held(&self, snapshot: &Snapshot) -> Vec<Beside> {
        let mut all = snapshot.beside.clone();
        all.iter_mut().for_each(|one| self.secrets.hide_in(&mut one.path));
        all
    }
}

/// Adds what became of it to the changes. Returns what is worth a word. `outdated`: it was in a snapshot once.
pub(super) fn add(
    tree: &Tree,
    changes: &mut Vec<Change>,
    before: &[Beside],
    after: &[Beside],
    outdated: &[String],
) -> Vec<String> {
    let mut flags = vec![];
    for mut other in beside::changed(before, after, |one| tree.is_still(one)) {
        let path = other.path.trim_end_matches('/').as_bytes();
        let known = changes.iter().any(|change| change.path == path);
        // Another commit is checked out there, or it is gone: that is told already.
        if known && other.why == Why::Nested {
            continue;
        }
        if known || outdated.iter().any(|name| name == other.path) {
            other.kind = ChangeKind::Modified;
        }
        flags.extend(other.flag());
        if !known && !other.touched {
            let path = other.path.as_bytes().to_vec();
            changes.push(Change { path, kind: other.kind, old: None, new: None });
        }
    }
    changes.sort_by(|one, other| one.path.cmp(&other.path));
    flags
}
