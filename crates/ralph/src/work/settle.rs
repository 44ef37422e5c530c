//! Settling an attempt. ralph may be cut off between any two parts and settle again: each part looks first whether it
//! is there already.

use ralph_core::backlog::{Attempt as Recorded, Change, Outcome, State};
use ralph_core::items::{self, Attempt, Settled, Settlement, attempt_id};
use ralph_core::state::Iteration;
use ralph_core::text;

use super::{paths, record};
use crate::error::Result;
use crate::git::{self, Repo};
use crate::project::Project;
use crate::store::{self, IterationFiles, Ledger};
use crate::tree::{Tree, TreeId};
use crate::work::Source;
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
        if settlement.revert.is_some() {
            match self.put_back(settlement, iteration, settled.evidence.as_deref()) {
                Ok(left) => (settled.reverted, settled.left) = (true, left),
                Err(error) => problems.push(format!("the code was not put back: {error}")),
            }
        }
        problems.extend(self.mark(settlement, false).err().map(|error| error.to_string()));
        if settlement.commit.is_some() {
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
        let attempted =
            self.record_attempt(settlement, iteration, &settled).and_then(|()| self.mark(settlement, true));
        problems.extend(attempted.err().map(|error| error.to_string()));
        settled.problems = problems;
        settled
    }

    /// The item's state in the backlog. Where passing needs a recorded attempt, the first try is refused, and the one
    /// after the attempt is not.
    fn mark(&self, settlement: &Settlement, last: bool) -> Result<()> {
        let (Some(source), Some(item)) = (self.source, &settlement.item) else { return Ok(()) };
        for id in settlement.untick.iter().filter(|_| !last) {
            source.change(&Change::State { id: id.clone(), to: State::Open, at: None })?;
        }
        let to = match (settlement.result, &settlement.block) {
            (Attempt::Passed, _) => State::Done,
            (_, Some(_)) => State::Blocked,
            (_, None) => return Ok(()),
        };
        match source.change(&Change::State { id: item.id.clone(), to, at: Some(clock::now()) }) {
            Err(_) if !last => Ok(()),
            done => done,
        }
    }

    /// Where the backlog keeps attempts, this one; and one more iteration, if it did not pass.
    fn record_attempt(
        &self,
        settlement: &Settlement,
        iteration: &Iteration,
        settled: &Settled,
    ) -> Result<()> {
        let (Some(source), Some(item)) = (self.source, &settlement.item) else { return Ok(()) };
        let run_id = attempt_id(self.run, settlement.iteration);
        if source.has_attempt(&item.id, &run_id) {
            return Ok(());
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
            commands: iteration.checks.iter().map(|check| check.command.clone()).collect(),
            summary: Some(text::one_line(&settlement.why, 500)),
            commit: settled.commit.clone(),
            reverted: settled.reverted,
            failure_reason: failed.then(|| text::one_line(&settlement.why, 500)),
            investigation: said.filter(|_| failed),
            files_changed: iteration.after.as_ref().filter(|_| failed).map_or(vec![], |after| {
                after.changed.iter().take(50).map(|change| change.path.clone()).collect()
            }),
        };
        // One edit after the other: a cut in between leaves the attempt recorded and its iteration not yet counted,
        // so the count comes first.
        if settlement.result != Attempt::Passed {
            source.change(&Change::Increment {
                id: item.id.clone(),
                block_on_max: settlement.block.is_some(),
                override_reason: settlement.block.clone(),
            })?;
        }
        source.change(&Change::Attempt { id: item.id.clone(), attempt })
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
        let backlog = self.source.and_then(|source| source.below(&self.project.root));
        let paths =
            paths::of(order, &repo, self.tree, &now.tree, backlog).map_err(|error| error.to_string())?;
        let left = paths.left.iter().map(|path| String::from_utf8_lossy(path).into_owned()).collect();
        if paths.commit.is_empty() {
            // What the agent committed by itself is the commit.
            let own = repo.head().map_err(|error| error.to_string())?;
            let moved = own
                .filter(|head| iteration.before.as_ref().and_then(|mark| mark.head.as_ref()) != Some(head));
            return Ok((moved, left));
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
        let list = self.project.truth.join("commit-paths");
        store::write_private(&list, &git::joined(paths)).map_err(|error| error.to_string())?;
        let commit = repo.commit_paths(paths, &list, message).map_err(|error| error.to_string());
        let _ = store::remove(&list);
        commit
    }

    /// The code as it was before the attempt; the backlog, its harness and what is known stay. Commits of the agent
    /// are taken back by one commit. Returns files that could not be taken back there.
    fn put_back(
        &mut self,
        settlement: &Settlement,
        iteration: &Iteration,
        evidence: Option<&str>,
    ) -> std::result::Result<Vec<String>, String> {
        let Some(mark) = &settlement.revert else { return Ok(vec![]) };
        let to = TreeId::new(&mark.tree).ok_or("the snapshot has no name")?;
        let backlog = self.source.and_then(|source| source.below(&self.project.root));
        let keep = |path: &[u8]| !ralph_core::event::is_progress(path) || backlog.as_deref() == Some(path);
        let way = self.tree.way_back_but(&to, &keep).map_err(|error| error.to_string())?;
        self.tree.put_back(&way).map_err(|error| error.to_string())?;
        let Some(repo) = self.project.repo.clone() else { return Ok(vec![]) };
        let head = repo.head().map_err(|error| error.to_string())?;
        if head == mark.head || self.made_already(&repo, settlement)?.is_some() {
            return Ok(vec![]);
        }
        if let Some(what) = repo.is_busy() {
            return Err(format!("commits of the agent stay, for {what} is under way"));
        }
        if repo.commits_between(mark.head.as_deref(), head.as_deref()).is_ok_and(|commits| commits.total == 0)
        {
            return Err("the agent went to another commit or branch; HEAD stays where it is".into());
        }
        let paths = paths::to_take_back(&repo, self.tree, mark, &keep).map_err(|error| error.to_string())?;
        let left = paths.left.iter().map(|path| String::from_utf8_lossy(path).into_owned()).collect();
        if !paths.commit.is_empty() {
            let message = items::revert_message(settlement, iteration, self.run, evidence);
            self.commit_paths(&repo, &paths.commit, &message)?;
        }
        Ok(left)
    }
}
