//! Setting a parked item aside: its work is kept as a snapshot, that is recorded, and only then are the files put back.
//!
//! Put back are paths that agents changed for the item and that are still as they left them. Everything else stays and is
//! named: somebody else has worked on it.

use std::collections::{BTreeMap, BTreeSet};

use ralph_core::git_text::Object;
use ralph_core::items::{Parking, Patch, PutAside, Settlement};
use ralph_core::state::Iteration;

use super::commit::told;
use super::settle::Settler;
use crate::tree::TreeId;

type Told<T> = std::result::Result<T, String>;
type Contents = BTreeMap<Vec<u8>, Option<Object>>;

/// What agents changed for an item.
#[derive(Debug, Default)]
pub(super) struct Work {
    /// The paths as they were before the first attempt, and as the last one left them.
    before: Contents,
    after: Contents,
    /// Somebody else changed them between two attempts.
    mixed: BTreeSet<Vec<u8>>,
    /// The snapshots without and with it, where there is any.
    pub(super) patch: Option<Patch>,
}

impl Settler<'_> {
    /// The item's work as two snapshots, stored.
    pub(super) fn pin(&self, park: &Parking) -> Told<Work> {
        let mut work = Work::default();
        let stays = self.stays();
        let Some(first) = park.spans.first().and_then(|span| TreeId::new(&span.from)) else {
            return Ok(work);
        };
        for span in &park.spans {
            let (Some(from), Some(to)) = (TreeId::new(&span.from), TreeId::new(&span.to)) else { continue };
            for change in self.tree.compare(&from, &to).map_err(told)? {
                if stays(&change.path) {
                    continue;
                }
                match work.after.insert(change.path.clone(), change.new) {
                    Some(left) if left != change.old => drop(work.mixed.insert(change.path)),
                    Some(_) => {}
                    None => drop(work.before.insert(change.path, change.old)),
                }
            }
        }
        // What an attempt did and a later one undid is no work.
        let same: Vec<Vec<u8>> = work
            .after
            .iter()
            .filter(|(path, left)| work.before.get(*path) == Some(left))
            .map(|(path, _)| path.clone())
            .collect();
        for path in same.iter().filter(|path| !work.mixed.contains(*path)) {
            work.before.remove(path);
            work.after.remove(path);
        }
        if work.after.is_empty() {
            return Ok(work);
        }
        let before = self.with(&first, &work.before)?;
        let after = self.with(&before, &work.after)?;
        work.patch = Some(Patch { before: before.to_string(), after: after.to_string() });
        Ok(work)
    }

    fn with(&self, tree: &TreeId, contents: &Contents) -> Told<TreeId> {
        let entries = contents.iter().map(|(path, object)| (path.as_slice(), object.as_ref()));
        self.tree.with(tree, entries).map_err(told)
    }

    /// Puts the files, and commits of the agent, back to before the item's first attempt.
    pub(super) fn put_aside(
        &mut self,
        park: &Parking,
        work: &Work,
        settlement: &Settlement,
        iteration: &Iteration,
        evidence: Option<&str>,
        problems: &mut Vec<String>,
    ) -> PutAside {
        let mut aside = PutAside { patch: work.patch.clone(), ..PutAside::default() };
        let done = self.commits_may_go(park, settlement, iteration, evidence).and_then(|commits| {
            // A commit may be refused, by a hook say: then the files stay too.
            if let Some(began) = park.began.as_ref().filter(|_| commits) {
                aside.in_head =
                    self.take_commits_back(&began.mark, settlement, iteration, evidence, problems)?;
            }
            (aside.files, aside.left) = self.put_work_back(work)?;
            Ok(())
        });
        aside.stays = done.err();
        aside
    }

    /// Whether the agent made commits for the item; an error where these cannot be taken back, so that nothing is.
    fn commits_may_go(
        &self,
        park: &Parking,
        settlement: &Settlement,
        iteration: &Iteration,
        evidence: Option<&str>,
    ) -> Told<bool> {
        let (Some(began), Some(repo)) = (&park.began, &self.project.repo) else { return Ok(false) };
        let after = iteration.after.as_ref().and_then(|after| after.left_head().map(str::to_owned));
        if after == began.mark.head {
            return Ok(false);
        }
        if self.made_already(repo, settlement, iteration, evidence)?.is_some() {
            return Ok(true);
        }
        if !park.may_commit {
            return Err("the agent committed it, and this run makes no commits".into());
        }
        if began.others_committed || repo.head().map_err(told)? != after {
            return Err("somebody else committed since its first attempt".into());
        }
        if let Some(what) = repo.is_busy() {
            return Err(format!("{what} is under way"));
        }
        self.is_in_place(repo, began.mark.head.as_deref(), after.as_deref())?;
        Ok(true)
    }

    /// How many files were put back, and which stay because they are not as the agent left them.
    fn put_work_back(&mut self, work: &Work) -> Told<(u64, Vec<String>)> {
        let Some(patch) = &work.patch else { return Ok((0, vec![])) };
        let to = TreeId::new(&patch.before).ok_or("the snapshot has no name")?;
        let now = self.tree.snapshot().map_err(told)?;
        let as_left = self.with(&now.tree, &work.after)?;
        let others = super::paths::between(self.tree, as_left.as_str(), now.tree.as_str()).map_err(told)?;
        let not_ours = |path: &[u8]| {
            !work.after.contains_key(path) || others.contains(path) || work.mixed.contains(path)
        };
        let wrong = super::paths::between(self.tree, &patch.before, now.tree.as_str()).map_err(told)?;
        let way = self.tree.way_back_from(now, &to, &not_ours).map_err(told)?;
        self.tree.put_back(&way).map_err(told)?;
        let left = wrong.iter().filter(|path| work.after.contains_key(*path) && not_ours(path));
        let left = left.map(|path| String::from_utf8_lossy(path).into_owned());
        let nested = way.nested.iter().filter(|name| work.after.contains_key(name.as_bytes())).cloned();
        Ok((way.changes.len() as u64, left.chain(nested).collect()))
    }
}
