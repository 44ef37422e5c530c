//! Who changed what, where ralph was cut off or interrupted before an iteration was concluded and its files are measured when
//! somebody is back. What they were when they were first measured is the agent's; where nobody had measured them yet, what was
//! written after its keeper saw it end is not its work.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::Metadata;
use std::path::Path;

use ralph_core::decision::TreeMark;
use ralph_core::event::{Measured, When};
use ralph_core::gather::Gather as _;
use ralph_core::git_text::Change;
use ralph_core::text;

use super::Runner;
use crate::tree::{Snapshot, TreeError, TreeId};
use crate::unix::identity::MetadataExt;
use crate::unix::names::OsStrExt;
use crate::work::{is_below, is_own};

/// What the agent left, where others worked since.
#[derive(Debug, Default)]
pub(super) struct Since {
    /// The files as it left them.
    pub(super) left: Option<String>,
    /// HEAD as it left it; `None` where it is there.
    pub(super) head: Option<Option<String>>,
    /// Its changes alone; `None` where all of them are.
    pub(super) agents: Option<Vec<Change>>,
    pub(super) told: Option<String>,
}

impl Runner<'_> {
    /// When the agent ended, where ralph did not come to measure what it left: the first who does may come much later.
    fn ended_unmeasured_at(&self) -> Option<(i64, i64)> {
        let current = self.state.current.as_ref()?;
        let unmeasured = current.after.is_none() && (current.is_cut() || self.state.resumed);
        self.files().agent_ended_at().filter(|_| unmeasured)
    }

    /// Whether what is staged now may be somebody else's doing: ralph is back, and the index was written since the agent ended.
    pub(super) fn index_is_others(&self) -> bool {
        let index = self.project.repo.as_ref().map(|repo| repo.git_dir.join("index"));
        let ended_at = self.ended_unmeasured_at();
        index.zip(ended_at).is_some_and(|(index, ended_at)| is_later(&index, ended_at))
    }

    pub(super) fn since_it_ended(
        &self,
        when: When,
        before: Option<&TreeMark>,
        now: &Snapshot,
        changes: &[Change],
    ) -> Result<Since, TreeError> {
        let (Some(before), Some(current), When::After) =
            (before.and_then(|mark| TreeId::new(&mark.tree)), &self.state.current, when)
        else {
            return Ok(Since::default());
        };
        let ended_at = self.ended_unmeasured_at();
        // A session goes on with its work while nobody answers it.
        if self.is_session() || (current.after.is_none() && ended_at.is_none()) {
            return Ok(Since::default());
        }
        if let Some(first) = &current.after
            && let Some(left) =
                TreeId::new(first.left()).filter(|left| self.tree.has(left) && self.tree.has(&before))
        {
            return self.since_it_was_measured(first, &left, &before, now, changes);
        }
        let Some(ended_at) = ended_at else { return Ok(Since::default()) };
        let root = &self.project.root;
        let theirs = |change: &&Change| {
            !self.is_ralph_s(change, &[], changes)
                && is_later(&root.join(OsStr::from_bytes(&change.path)), ended_at)
        };
        let others: BTreeSet<&[u8]> =
            changes.iter().filter(theirs).map(|change| change.path.as_slice()).into_set();
        let repo = self
            .project
            .repo
            .as_ref()
            .filter(|_| current.before.as_ref().map(|mark| &mark.head) != Some(&now.head));
        let head = repo.and_then(|repo| repo.head_until(ended_at.0));
        if others.is_empty() {
            return Ok(Since { head, ..Since::default() });
        }
        // With what is stored at each path, which a list of names may not know.
        let back = self.tree.compare(&before, &now.tree)?;
        let back: Vec<&Change> =
            back.iter().filter(|change| others.contains(change.path.as_slice())).collect();
        let left = back.iter().map(|change| (change.path.as_slice(), change.old.as_ref()));
        let end = if current.is_cut() { "was cut off" } else { "ended" };
        Ok(Since {
            left: self.without_others(&now.tree, left)?,
            head,
            agents: Some(
                changes.iter().filter(|change| !others.contains(change.path.as_slice())).cloned().collect(),
            ),
            told: told(end, &others),
        })
    }

    /// What differs from how it was first measured is somebody else's: the user's, or a check's that was cut off.
    fn since_it_was_measured(
        &self,
        first: &Measured,
        left: &TreeId,
        before: &TreeId,
        now: &Snapshot,
        changes: &[Change],
    ) -> Result<Since, TreeError> {
        let restored = first.item.as_ref().map_or(&[][..], |item| &item.restored);
        let mut since = self.tree.compare(left, &now.tree)?;
        since.retain(|change| !self.is_ralph_s(change, restored, changes));
        let others: BTreeSet<&[u8]> = since.iter().map(|change| change.path.as_slice()).into_set();
        let head = first.left_head().map(str::to_owned);
        let head = (head != now.head).then_some(head);
        let entries = since.iter().map(|change| (change.path.as_slice(), change.old.as_ref()));
        let Some(left) = self.without_others(&now.tree, entries)? else {
            return Ok(Since { head, ..Since::default() });
        };
        let mut agents = match TreeId::new(&left) {
            Some(left) => self.tree.compare(before, &left)?,
            None => vec![],
        };
        // What no snapshot holds.
        let known: BTreeSet<Vec<u8>> = agents.iter().map(|change| change.path.clone()).into_set();
        let unheld =
            |change: &&Change| !known.contains(&change.path) && !others.contains(change.path.as_slice());
        agents.extend(changes.iter().filter(unheld).cloned());
        agents.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(Since { left: Some(left), head, agents: Some(agents), told: told("ended", &others) })
    }

    /// A snapshot with what the agent left where others worked; nothing where nobody did.
    fn without_others<'e>(
        &self,
        now: &TreeId,
        entries: impl Iterator<Item = (&'e [u8], Option<&'e ralph_core::git_text::Object>)>,
    ) -> Result<Option<String>, TreeError> {
        let mut entries = entries.peekable();
        if entries.peek().is_none() {
            return Ok(None);
        }
        Ok(Some(self.tree.with(now, entries)?.to_string()))
    }

    /// Whether ralph itself wrote this since: its own files, marks in the task file, and what it put back as it was before the
    /// agent. `changes`: what differs from then.
    fn is_ralph_s(&self, change: &Change, restored: &[String], changes: &[Change]) -> bool {
        let path = change.path.as_slice();
        if is_own(path) {
            return true;
        }
        let is_back = || !changes.iter().any(|other| other.path == path);
        let Some(Ok(source)) = self.source() else { return false };
        if is_below(path, source.apart()) {
            return true;
        }
        if source.below(&self.project.root).as_deref() == Some(path) {
            return is_back() || self.own_backlog(&source).left(&source);
        }
        let judged = is_below(path, source.harness().as_deref())
            || restored.iter().any(|name| *name == String::from_utf8_lossy(path));
        judged && is_back()
    }
}

fn told(end: &str, others: &BTreeSet<&[u8]>) -> Option<String> {
    let names: Vec<_> = others.iter().map(|path| String::from_utf8_lossy(path)).collect();
    let shown = text::one_line(&names.join(", "), 400);
    (!names.is_empty()).then(|| format!("changed since the agent {end}, and not taken for its work: {shown}"))
}

/// Whether a file was written to later: the one time may be set by hand, and the other changes where a project is copied.
/// Of a file that is gone nobody can tell: its folder changes with every other file.
fn is_later(path: &Path, moment: (i64, i64)) -> bool {
    let written = |data: &Metadata| (data.mtime(), data.mtime_nsec());
    let changed = |data: &Metadata| (data.ctime(), data.ctime_nsec());
    let later = |data: Metadata| written(&data).min(changed(&data)) > moment;
    std::fs::symlink_metadata(path).is_ok_and(later)
}
