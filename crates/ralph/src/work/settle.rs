//! Settling an attempt. ralph may be cut off between any two parts and settle again: each part looks first whether it
//! is there already.

use ralph_core::backlog::{Attempt as Recorded, Change, Outcome, State};
use ralph_core::decision::TreeMark;
use ralph_core::event::is_progress;
use ralph_core::items::{self, Attempt, Settled, Settlement, attempt_id};
use ralph_core::state::Iteration;
use ralph_core::text;

use super::{paths, record};
use crate::error::Result;
use crate::git::{self, Repo};
use crate::project::Project;
use crate::store::{self, IterationFiles, Ledger};
use crate::tree::{Tree, TreeId};
use crate::work::{OwnBacklog, Source, in_a_line};
use crate::{clock, secrets};

/// The trailer by which a commit of ours is known again.
const TRAILER: &str = "Ralph-Iteration";

pub(crate) struct Settler<'a> {
    pub(crate) project: &'a Project,
    pub(crate) tree: &'a mut Tree,
    pub(crate) source: Option<&'a Source>,
    /// The run's id.
    pub(crate) run: &'a str,
    pub(crate) files: IterationFiles,
    /// The tree when the run began.
    pub(crate) base: Option<&'a TreeMark>,
}

impl Settler<'_> {
    /// Does what is still to be done. What cannot be done is named, and the rest is done all the same.
    pub(crate) fn settle(&mut self, settlement: &Settlement, iteration: &Iteration) -> Settled {
        let mut settled = Settled::default();
        let mut problems = vec![];
        let ledger = Ledger::of(&self.project.truth);
        let hidden = secrets::of(&self.project.root);
        let backlog = self.source.and_then(|source| source.below(&self.project.root));
        let evidence = record::of(settlement, iteration, self.run, &self.files, backlog.as_deref());
        match ledger.append(record::without_secrets(evidence, &hidden)) {
            Ok(appended) => {
                settled.evidence = Some(appended.digest);
                let broken = |problem| format!("{problem}; to look at it: ralph evidence verify --no-run");
                problems.extend(appended.problem.map(broken));
            }
            Err(error) => problems.push(format!("the evidence could not be recorded: {error}")),
        }
        if let Some(mark) = &settlement.revert {
            match self.put_back(mark, iteration) {
                Ok(()) => settled.reverted = true,
                Err(error) => problems.push(format!("the code was not put back: {error}")),
            }
            match self.take_commits_back(mark, settlement, iteration, settled.evidence.as_deref()) {
                Ok(left) => settled.left = left,
                Err(error) => problems.push(format!("commits of the agent stay: {error}")),
            }
        }
        if let (Some(source), Ok(before)) = (self.source, std::fs::read(self.files.backlog())) {
            match source.mend(&before) {
                Ok(false) => {}
                Ok(true) => problems.push(
                    "the agent left the backlog unreadable; it is put back as it was before the attempt"
                        .into(),
                ),
                Err(error) => problems.push(error.to_string()),
            }
        }
        problems.extend(self.mark(settlement).err().map(|error| in_a_line(&error)));
        // What the backlog would not take in is not committed either.
        settled.unmarked = self.record_attempt(settlement, iteration, &settled, Source::would_change);
        if settlement.commit.is_some() && settled.unmarked.is_none() {
            match self.commit(settlement, iteration, settled.evidence.as_deref()) {
                Ok((commit, left)) => (settled.commit, settled.left) = (commit, left),
                Err(error) => problems.push(format!("the work is proved and not committed: {error}")),
            }
        }
        if let (Some(commit), Some(evidence)) = (&settled.commit, &settled.evidence)
            && let Err(error) = ledger.append(record::without_secrets(
                record::committed(settlement, self.run, commit, evidence, &settled.left),
                &hidden,
            ))
        {
            problems.push(format!("the commit could not be recorded as evidence: {error}"));
        }
        if settled.unmarked.is_none() {
            settled.unmarked = self.record_attempt(settlement, iteration, &settled, Source::change_all);
        }
        if let Some(source) = self.source {
            OwnBacklog::new(self.project, self.tree, self.base, source).keep(source);
        }
        settled.problems = problems;
        settled
    }

    /// What the commit is to hold of the backlog: marks that nobody could prove are gone, and a proved item is done.
    /// Where that needs a recorded attempt it is refused for now.
    fn mark(&self, settlement: &Settlement) -> Result<()> {
        let Some(source) = self.source else { return Ok(()) };
        for id in &settlement.untick {
            source.change(&Change::State { id: id.clone(), to: State::Open, at: None })?;
        }
        if settlement.result == Attempt::Passed {
            let _ = state(settlement).map(|change| source.change(&change));
        }
        Ok(())
    }

    /// Where the backlog keeps attempts, this one; and one more iteration, if it did not pass. `edit` makes the changes, or
    /// only tries them; what it says if they cannot be.
    fn record_attempt(
        &self,
        settlement: &Settlement,
        iteration: &Iteration,
        settled: &Settled,
        edit: impl Fn(&Source, &[Change]) -> Result<()>,
    ) -> Option<String> {
        let (Some(source), Some(item)) = (self.source, &settlement.item) else { return None };
        let run_id = attempt_id(self.run, settlement.iteration);
        if source.has_attempt(&item.id, &run_id) {
            return None;
        }
        let failed = settlement.result == Attempt::Failed;
        let said = iteration.block().and_then(|block| block.recommendation.clone());
        let attempt = Recorded {
            run_id: Some(run_id),
            at: clock::now(),
            outcome: match settlement.result {
                Attempt::Passed => Outcome::Passed,
                Attempt::Failed => Outcome::Failed,
                Attempt::InProgress => Outcome::InProgress,
            },
            commands: settlement.commands(iteration),
            summary: Some(text::one_line(&settlement.why, 500)),
            commit: settled.commit.clone(),
            reverted: settled.reverted,
            failure_reason: failed.then(|| text::one_line(&settlement.why, 500)),
            investigation: said.filter(|_| failed),
            files_changed: iteration.after.as_ref().filter(|_| failed).map_or(vec![], |after| {
                after.changed.iter().take(50).map(|change| change.path.clone()).collect()
            }),
        };
        // One more iteration is counted where the attempt is recorded, in the same edit.
        let counted = (settlement.result != Attempt::Passed).then(|| Change::Increment {
            id: item.id.clone(),
            block_on_max: settlement.block.is_some(),
            override_reason: settlement.block.clone(),
        });
        let attempt = Change::Attempt { id: item.id.clone(), attempt };
        let changes: Vec<Change> = counted.into_iter().chain([attempt]).chain(state(settlement)).collect();
        let unmarked = |error| format!("{} cannot be marked in the backlog: {}", item.id, in_a_line(&error));
        edit(source, &changes).err().map(unmarked)
    }

    /// The commit and what was left out of it; no commit where everything is committed already.
    fn commit(
        &mut self,
        settlement: &Settlement,
        iteration: &Iteration,
        evidence: Option<&str>,
    ) -> std::result::Result<(Option<String>, Vec<String>), String> {
        let (Some(repo), Some(order)) = (self.project.repo.clone(), &settlement.commit) else {
            return Ok((None, vec![]));
        };
        if let Some(made) = self.made_already(&repo, settlement)? {
            return Ok((Some(made), vec![]));
        }
        if let Some(what) = repo.is_busy() {
            return Err(format!("{what} is under way in this repository"));
        }
        let now = self.tree.snapshot().map_err(|error| error.to_string())?;
        let backlog = self.source.and_then(|source| {
            let ours = OwnBacklog::new(self.project, self.tree, self.base, source).is_ours();
            Some((source.below(&self.project.root)?, ours))
        });
        let paths =
            paths::of(order, &repo, self.tree, &now.tree, backlog).map_err(|error| error.to_string())?;
        let left = paths.left.iter().map(|path| String::from_utf8_lossy(path).into_owned()).collect();
        if paths.commit.is_empty() {
            // What the agent committed by itself is the commit.
            let head = |mark: Option<&String>| mark.cloned();
            let (before, after) = (iteration.before.as_ref(), iteration.after.as_ref());
            let before = head(before.and_then(|mark| mark.head.as_ref()));
            let own =
                head(after.and_then(|after| after.head.as_ref())).filter(|own| Some(own) != before.as_ref());
            return Ok((own, left));
        }
        let message = items::commit_message(settlement, iteration, self.run, evidence);
        self.commit_paths(&repo, &paths.commit, &message).map(|commit| (Some(commit), left))
    }

    fn made_already(
        &self,
        repo: &Repo,
        settlement: &Settlement,
    ) -> std::result::Result<Option<String>, String> {
        let id = attempt_id(self.run, settlement.iteration);
        repo.commit_with_trailer(TRAILER, &id).map_err(|error| error.to_string())
    }

    fn commit_paths(
        &self,
        repo: &Repo,
        paths: &[Vec<u8>],
        message: &str,
    ) -> std::result::Result<String, String> {
        let message = &Ledger::of(&self.project.truth).signed(message);
        let list = self.project.truth.join("commit-paths");
        store::write_private(&list, &git::joined(paths)).map_err(|error| error.to_string())?;
        let commit = repo.commit_paths(paths, &list, message).map_err(|error| error.to_string());
        let _ = store::remove(&list);
        commit
    }

    /// The code as it was before the attempt; the backlog, its harness and what is known stay, and so does what the
    /// agent did not touch.
    fn put_back(&mut self, mark: &TreeMark, iteration: &Iteration) -> std::result::Result<(), String> {
        let Some(after) = &iteration.after else { return Ok(()) };
        let to = TreeId::new(&mark.tree).ok_or("the snapshot has no name")?;
        let touched =
            paths::between(self.tree, &mark.tree, &after.tree).map_err(|error| error.to_string())?;
        let kept = self.kept();
        let keep = |path: &[u8]| kept(path) || !touched.contains(path);
        let way = self.tree.way_back_but(&to, &keep).map_err(|error| error.to_string())?;
        self.tree.put_back(&way).map_err(|error| error.to_string())
    }

    /// What an attempt that failed leaves: the harness with the attempts, and what was learnt.
    fn kept(&self) -> impl Fn(&[u8]) -> bool + use<> {
        let backlog = self.source.and_then(|source| source.below(&self.project.root));
        let harness = self.source.and_then(Source::harness);
        let in_harness =
            move |path: &[u8]| harness.as_ref().is_some_and(|dir| path.starts_with(dir.as_bytes()));
        move |path: &[u8]| !is_progress(path) || backlog.as_deref() == Some(path) || in_harness(path)
    }

    /// Commits of the agent are taken back by one commit. Returns files that were not clean before, and stay.
    fn take_commits_back(
        &mut self,
        mark: &TreeMark,
        settlement: &Settlement,
        iteration: &Iteration,
        evidence: Option<&str>,
    ) -> std::result::Result<Vec<String>, String> {
        let Some(repo) = self.project.repo.clone() else { return Ok(vec![]) };
        let head = repo.head().map_err(|error| error.to_string())?;
        if head == mark.head || self.made_already(&repo, settlement)?.is_some() {
            return Ok(vec![]);
        }
        let after = iteration.after.as_ref().and_then(|after| after.head.clone());
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
        if repo.commits_between(mark.head.as_deref(), head.as_deref()).is_ok_and(|commits| commits.total == 0)
        {
            return Err("it went to another commit or branch, and HEAD stays where it is".into());
        }
        let keep = self.kept();
        let paths = paths::to_take_back(&repo, self.tree, mark, &keep).map_err(|error| error.to_string())?;
        let left = paths.left.iter().map(|path| String::from_utf8_lossy(path).into_owned()).collect();
        if !paths.commit.is_empty() {
            let message = items::revert_message(settlement, iteration, self.run, evidence);
            self.commit_paths(&repo, &paths.commit, &message)?;
        }
        Ok(left)
    }
}

/// What the item is to be, if it is to be anything else.
fn state(settlement: &Settlement) -> Option<Change> {
    let to = match (settlement.result, &settlement.block) {
        (Attempt::Passed, _) => State::Done,
        (_, Some(_)) => State::Blocked,
        (_, None) => return None,
    };
    Some(Change::State { id: settlement.item.as_ref()?.id.clone(), to, at: Some(clock::now()) })
}
