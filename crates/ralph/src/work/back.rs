//! Taking a failed attempt back: files, commits and what was staged. Only what is still as the agent left it: ralph may be
//! cut off and do it again much later, when somebody has gone on working.

use ralph_core::decision::TreeMark;
use ralph_core::event::is_progress;
use ralph_core::items::{self, Settlement};
use ralph_core::state::Iteration;

use super::commit::{told, without_secrets};
use super::settle::Settler;
use super::stand::Restaged;
use super::{Source, paths};
use crate::tree::TreeId;

type Told<T> = std::result::Result<T, String>;

impl Settler<'_> {
    /// The code as it was before the attempt; the backlog, its harness and what is known stay, and so does what the
    /// agent did not touch. Returns the files that somebody changed since, which stay too.
    pub(super) fn put_back(&mut self, mark: &TreeMark, iteration: &Iteration) -> Told<Vec<String>> {
        let Some(after) = &iteration.after else { return Ok(vec![]) };
        let to = TreeId::new(&mark.tree).ok_or("the snapshot has no name")?;
        let touched = paths::between(self.tree, &mark.tree, after.left()).map_err(told)?;
        let now = self.tree.snapshot().map_err(told)?;
        let since = paths::between(self.tree, after.left(), now.tree.as_str()).map_err(told)?;
        let wrong = paths::between(self.tree, &mark.tree, now.tree.as_str()).map_err(told)?;
        let kept = self.stays();
        let ours = |path: &[u8]| !kept(path) && touched.contains(path);
        let keep = |path: &[u8]| !ours(path) || since.contains(path);
        let way = self.tree.way_back_but(&to, &keep).map_err(told)?;
        self.tree.put_back(&way).map_err(told)?;
        let left = wrong.iter().filter(|path| ours(path) && since.contains(*path));
        Ok(left.map(|path| String::from_utf8_lossy(path).into_owned()).collect())
    }

    /// What an attempt that failed leaves: the harness with the attempts, and what was learnt.
    pub(super) fn stays(&self) -> impl Fn(&[u8]) -> bool + use<> {
        let backlog = self.source.and_then(|source| source.below(&self.project.root));
        let harness = self.source.and_then(Source::harness);
        let apart = self.source.and_then(Source::apart);
        let in_harness =
            move |path: &[u8]| paths::is_below(path, harness.as_deref()) || paths::is_below(path, apart);
        move |path: &[u8]| !is_progress(path) || backlog.as_deref() == Some(path) || in_harness(path)
    }

    /// Commits of the agent are taken back by one commit. Returns files that were not clean before, and stay.
    pub(super) fn take_commits_back(
        &mut self,
        mark: &TreeMark,
        settlement: &Settlement,
        iteration: &Iteration,
        evidence: Option<&str>,
        problems: &mut Vec<String>,
    ) -> Told<Vec<String>> {
        let Some(repo) = self.project.repo.clone() else { return Ok(vec![]) };
        let head = repo.head().map_err(told)?;
        if head == mark.head {
            return Ok(vec![]);
        }
        if let Some(made) = self.made_already(&repo, settlement, iteration, evidence)? {
            self.undid = Some(made);
            return Ok(vec![]);
        }
        let after = iteration.after.as_ref().and_then(|after| after.left_head().map(str::to_owned));
        if after == mark.head {
            // Somebody else committed since; that is not the agent's.
            return Ok(vec![]);
        }
        if let Some(what) = repo.is_busy() {
            return Err(format!("{what} is under way"));
        }
        if head != after {
            return Err("HEAD is not where the agent left it".into());
        }
        let (old, new) = (mark.head.as_deref(), head.as_deref());
        self.is_in_place(&repo, old, new)
            .map_err(|where_to| format!("HEAD stays where it is: {where_to}"))?;
        let keep = self.stays();
        let judged = self.judged_in_commits(iteration);
        let paths = paths::to_take_back(&repo, self.tree, mark, &keep, &judged).map_err(told)?;
        if !paths.commit.is_empty() {
            let message = items::revert_message(settlement, iteration, self.run, evidence);
            let message = without_secrets(&message, self.secrets);
            self.undid = Some(self.put_in(&repo, new, old, &paths.commit, &message, problems)?);
            self.say_what_head_lost(iteration, &paths.commit);
        }
        Ok(paths.left)
    }

    /// What the agent staged and unstaged. `all`: the attempt failed; else only ralph's own files.
    pub(super) fn unstage(&self, all: bool) -> Told<()> {
        let Some(repo) = &self.project.repo else { return Ok(()) };
        Restaged::of(&self.stands).take_back(repo, all, &self.stays()).map_err(told)
    }
}
