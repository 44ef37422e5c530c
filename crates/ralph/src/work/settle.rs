//! Settling an attempt. ralph may be cut off between any two parts and settle again: each part looks first whether it
//! is there already.

use std::collections::BTreeSet;
use std::ffi::OsStr;

use ralph_core::backlog::{Attempt as Recorded, Change, Outcome, State};
use ralph_core::decision::TreeMark;
use ralph_core::event::is_progress;
use ralph_core::items::{Attempt, InHead, PutAside, Settled, Settlement, UNCOMMITTED, attempt_id};
use ralph_core::redact::Secrets;
use ralph_core::state::Iteration;
use ralph_core::text;

use super::commit::Committed;
use super::record::Whole;
use super::stand::Stands;
use super::{paths, record};
use crate::error::{Error, Result, is_of_the_disk};
use crate::git::{IDENTIFY, Kept, is_locked};
use crate::project::Project;
use crate::store::{HeldLedger, IterationFiles};
use crate::tree::Tree;
use crate::unix::names::OsStrExt as _;
use crate::work::{OwnBacklog, Source, in_a_line};
use crate::{clock, digest};

pub(crate) struct Settler<'a> {
    pub(crate) project: &'a Project,
    pub(crate) tree: &'a mut Tree,
    pub(crate) source: Option<&'a Source>,
    /// The run's id.
    pub(crate) run: &'a str,
    pub(crate) files: IterationFiles,
    /// The tree when the run began.
    pub(crate) base: Option<&'a TreeMark>,
    /// Where the user stood when the run began, before the agent and after it.
    pub(crate) stands: Stands,
    /// The task file before the item was marked.
    pub(crate) backlog: Option<Vec<u8>>,
    pub(crate) secrets: &'a Secrets,
    pub(crate) ledger: &'a mut HeldLedger,
    /// How hooks are run.
    pub(crate) kept: Kept<'a>,
    /// What is to be committed of the task file is the agent's and ralph's alone; found out when it is settled.
    pub(crate) task_file_is_ours: bool,
    /// Nobody changed it since this ralph looked after the agent.
    pub(crate) task_file_is_known: bool,
    /// What the goal rests on, where that is settled.
    pub(crate) whole: Option<Whole>,
    /// The run makes commits.
    pub(crate) commits: bool,
    /// What else was done, in words.
    pub(crate) remarks: Vec<String>,
    /// The commit that takes back what the agent had committed.
    pub(crate) undid: Option<String>,
}

/// Why nothing is settled for now: whoever refused may take it later.
enum Refused {
    Disk(String),
    /// bd, which keeps the items.
    Bd(Error),
}

impl Refused {
    fn told(self, iteration: u64) -> Error {
        let what = format!("iteration {iteration} could not be settled");
        match self {
            Self::Disk(why) => Error::new(what)
                .because(why)
                .hint("make room on that disk, or look after it; then go on, and it is settled: ralph run"),
            Self::Bd(error) => {
                let why = in_a_line(&error);
                Error { what, ..error }
                    .because(why)
                    .hint("see to that; then go on, and it is settled without another attempt: ralph run")
            }
        }
    }
}

impl Settler<'_> {
    /// Does what is still to be done. What cannot be done is named, and the rest is done all the same. Where the disk refuses
    /// something it is begun anew, once; if that is no use, or bd does not do its part, nothing is settled, and the next ralph
    /// will do it.
    pub(crate) fn settle(&mut self, settlement: &Settlement, iteration: &Iteration) -> Result<Settled> {
        let mut problems = vec![];
        let settled = self.do_all(settlement, iteration, &mut problems).or_else(|refused| match refused {
            Refused::Disk(_) => self.do_all(settlement, iteration, &mut problems),
            // It was called several times.
            Refused::Bd(_) => Err(refused),
        });
        let mut settled = settled.map_err(|refused| refused.told(settlement.iteration))?;
        // What was found twice is said once.
        for problem in problems {
            if !settled.problems.contains(&problem) {
                settled.problems.push(problem);
            }
        }
        settled.remarks.append(&mut self.remarks);
        settled.undid = self.undid.take();
        Ok(settled)
    }

    fn do_all(
        &mut self,
        settlement: &Settlement,
        iteration: &Iteration,
        problems: &mut Vec<String>,
    ) -> std::result::Result<Settled, Refused> {
        let mut settled = Settled::default();
        let hidden = self.secrets;
        // Nobody else was here since the disk refused something.
        self.task_file_is_ours =
            self.task_file_is_ours || settlement.commit.is_some() && self.task_file_is_as_left(iteration)?;
        // What is in it from here on is ralph's doing, or else the user's too.
        let mut left_by_us = self.source.is_some()
            && (self.task_file_is_known || self.task_file_is_ours || self.task_file_is_as_left(iteration)?);
        let backlog = self.source.and_then(|source| source.below(&self.project.root));
        let in_all = self.files_in_all(settlement, iteration, backlog.as_deref());
        let pinned = settlement.park.as_ref().map(|park| self.pin(park));
        let pinned = match pinned.transpose() {
            Ok(pinned) => pinned,
            Err(error) => {
                problems
                    .push(named("its work could not be kept aside, so the files stay as they are", error)?);
                None
            }
        };
        if !settlement.uncounted {
            let evidence = record::of(
                settlement,
                iteration,
                self.run,
                &self.files,
                backlog.as_deref(),
                in_all,
                self.whole.as_ref(),
            );
            let patch = pinned.as_ref().and_then(|work| work.patch.as_ref());
            let evidence = match &settlement.park {
                Some(park) => record::with_park(evidence, park, patch),
                None => evidence,
            };
            match self.ledger.append(record::without_secrets(evidence, hidden)) {
                Ok(appended) => {
                    settled.evidence = Some(appended.digest);
                    let broken =
                        |problem| format!("{problem}; to look at it: ralph evidence verify --no-run");
                    problems.extend(appended.problem.map(broken));
                }
                // Nothing else remembers that the item is parked.
                Err(error) if settlement.park.is_some() => return Err(Refused::Disk(error.to_string())),
                Err(error) => problems.push(named("the evidence could not be recorded", error)?),
            }
        }
        if let Some(park) = &settlement.park {
            let evidence = settled.evidence.clone();
            let aside = match &pinned {
                Some(work) => {
                    self.put_aside(park, work, settlement, iteration, evidence.as_deref(), problems)
                }
                None => {
                    PutAside { stays: Some("its work could not be kept aside".into()), ..PutAside::default() }
                }
            };
            if let Some(why) = &aside.stays {
                unless_refused(why.clone())?;
            }
            settled.reverted = aside.stays.is_none() && (aside.patch.is_some() || self.undid.is_some());
            settled.put_aside = Some(aside);
        }
        if let Some(mark) = &settlement.revert {
            match self.put_back(mark, iteration) {
                Ok(left) => {
                    settled.reverted = true;
                    if !left.is_empty() {
                        problems.push(format!(
                            "changed since the attempt, and left as it is: {}",
                            left.join(", ")
                        ));
                    }
                }
                Err(error) => problems.push(named("the code was not put back", error)?),
            }
            match self.take_commits_back(mark, settlement, iteration, settled.evidence.as_deref(), problems) {
                Ok(left) => settled.left = left,
                Err(error) => {
                    problems.extend(Self::still_committed(iteration, &error));
                    problems.push(named("commits of the agent stay", error)?);
                }
            }
        }
        if let (Some(source), Some(before)) = (self.source, &self.backlog) {
            match source.mend(before) {
                Ok(false) => {}
                Ok(true) => problems.push(
                    "the agent left the backlog unreadable; it is put back as it was before the attempt"
                        .into(),
                ),
                Err(error) => problems.push(unless_refused(in_a_line(&error))?),
            }
        }
        for problem in self.mark(settlement)? {
            problems.push(unless_refused(problem)?);
        }
        let marked = self.task_file();
        let mut mark_alone = false;
        // What the backlog would not take in is not committed either.
        settled.unmarked = self.record_attempt(settlement, iteration, &settled, Source::would_change)?;
        if settlement.commit.is_some() && settled.unmarked.is_none() {
            match self.commit(settlement, iteration, settled.evidence.as_deref(), problems) {
                Ok(Committed { commit, left, mark_alone: alone, in_head }) => {
                    settled.in_head = in_head;
                    mark_alone = alone;
                    settled.uncommitted = match (&commit, left.is_empty()) {
                        (_, true) => None,
                        (None, false) => Some("its files were not clean before the run".into()),
                        (Some(_), false) => {
                            let names = text::one_line(&left.join(", "), 300);
                            Some(format!("its commit is without files that were not clean before: {names}"))
                        }
                    };
                    (settled.commit, settled.left) = (commit, left);
                }
                Err(error) => {
                    let why = self.with_a_remedy(error);
                    problems.push(named(UNCOMMITTED, &why)?);
                    settled.uncommitted = Some(why);
                }
            }
        }
        if settlement.revert.is_none() && settlement.commit.is_some() {
            self.say_what_head_kept(iteration, problems);
        }
        let put_back = settlement.revert.is_some() || settled.reverted;
        if !put_back && settlement.commit.is_none() {
            let mended = self.mend_head(settlement, iteration, settled.evidence.as_deref(), problems);
            if let Err(why) = mended {
                let why = unless_refused(why)?;
                problems.extend(Self::still_committed(iteration, &why));
            }
        }
        if let Err(error) = self.unstage(put_back) {
            problems.push(named("what the agent staged stays staged", error)?);
        }
        if let (Some(commit), Some(evidence)) = (&settled.commit, &settled.evidence)
            && let Err(error) = self.ledger.append(record::without_secrets(
                record::committed(settlement, self.run, commit, evidence, &settled.left),
                hidden,
            ))
        {
            problems.push(named("the commit could not be recorded as evidence", error)?);
        }
        left_by_us &= self.task_file() == marked;
        if settled.unmarked.is_none() {
            settled.unmarked = self.record_attempt(settlement, iteration, &settled, Source::change_all)?;
        }
        if (mark_alone || settled.in_head != InHead::Untold) && self.task_file_is_uncommitted() {
            // Marked since: some formats name the commit with the mark.
            settled.in_head = InHead::Untold;
            if mark_alone && settlement.item.is_some() && settled.left.is_empty() {
                let why = "no file was changed for it, and a mark alone is not committed";
                settled.uncommitted = Some(why.into());
            }
        }
        if let Some(source) = self.source.filter(|_| left_by_us) {
            OwnBacklog::new(self.project, self.tree, self.base, source).keep(source);
            settled.task_file = self.task_file();
        }
        Ok(settled)
    }

    /// A digest of the task file as it is.
    fn task_file(&self) -> Option<String> {
        let source = self.source.filter(|source| source.is_file())?;
        Some(digest::of(&source.bytes().ok()?))
    }

    /// Whether git would commit something of the task file. Where nobody can tell, it is taken for that.
    fn task_file_is_uncommitted(&self) -> bool {
        let path = self.source.filter(|source| source.is_file());
        let path = path.and_then(|source| source.below(&self.project.root));
        let (Some(repo), Some(path)) = (&self.project.repo, path) else { return false };
        repo.is_uncommitted(OsStr::from_bytes(&path)).unwrap_or(true)
    }

    /// How many files were changed by all the iterations that are committed now; `None` where that is this one alone, or
    /// nobody can tell.
    fn files_in_all(
        &self,
        settlement: &Settlement,
        iteration: &Iteration,
        backlog: Option<&[u8]>,
    ) -> Option<usize> {
        let order = settlement.commit.as_ref()?;
        // Where nothing can be committed, what earlier items changed is always among it.
        if self.project.repo.is_none() && settlement.item.is_some() {
            return None;
        }
        let own = iteration.before.as_ref().zip(iteration.after.as_ref());
        if let ([span], Some((before, after))) = (&order.spans[..], own)
            && (span.from.as_str(), span.to.as_str()) == (&before.tree, after.left())
        {
            return None;
        }
        let mut changed = BTreeSet::new();
        for span in &order.spans {
            changed.extend(paths::between(self.tree, &span.from, &span.to).ok()?);
        }
        // As an iteration counts them.
        let harness = self.source.and_then(Source::harness);
        let apart = self.source.and_then(Source::apart);
        let noted = |path: &[u8]| {
            Some(path) == backlog || paths::is_below(path, harness.as_deref()) || paths::is_below(path, apart)
        };
        Some(changed.iter().filter(|path| is_progress(path) && !noted(path)).count())
    }

    /// Why there is no commit, and what to do where git is locked or does not know whose it would be.
    fn with_a_remedy(&self, error: String) -> String {
        match &self.project.repo {
            _ if is_locked(&error) => {
                format!(
                    "{error} if no other git is at work here, remove that file, and commit what is proved"
                )
            }
            Some(repo) if repo.identity().is_err() => format!("{error}; tell git who you are: {IDENTIFY}"),
            _ => error,
        }
    }

    /// What the commit is to hold of the backlog: marks that nobody could prove are gone, and a proved item is done.
    /// Where that needs a recorded attempt it is refused for now.
    fn mark(&self, settlement: &Settlement) -> std::result::Result<Vec<String>, Refused> {
        let Some(source) = self.source else { return Ok(vec![]) };
        let mut problems = vec![];
        for id in &settlement.untick {
            match source.untick(id, self.backlog.as_deref()) {
                Ok(()) => {}
                // Left as it is, it would count as done.
                Err(error) if source.may_do_it_later(&error) => return Err(Refused::Bd(error)),
                Err(error) => problems.push(in_a_line(&error)),
            }
        }
        // An issue is closed once there is a commit to name.
        if settlement.result == Attempt::Passed
            && source.is_file()
            && let Some(Err(error)) = state(source, settlement).map(|change| source.change(&change))
        {
            problems.extend(Some(in_a_line(&error)).filter(|why| is_of_the_disk(why)));
        }
        if self.task_file_is_ours {
            // Cut off from here on, it is known again.
            OwnBacklog::new(self.project, self.tree, self.base, source).keep(source);
        }
        Ok(problems)
    }

    /// Whether the task file is as the agent left it, or as ralph did.
    fn task_file_is_as_left(&mut self, iteration: &Iteration) -> std::result::Result<bool, Refused> {
        let Some((source, after)) = self.source.zip(iteration.after.as_ref()) else { return Ok(true) };
        if !source.is_file() {
            return Ok(false);
        }
        let Some(path) = source.below(&self.project.root) else { return Ok(false) };
        let changed = self
            .tree
            .snapshot()
            .and_then(|now| paths::between(self.tree, after.left(), now.tree.as_str()))
            .map(|changed| changed.contains(&path));
        if let Err(error) = &changed {
            unless_refused(error.to_string())?;
        }
        let own = || OwnBacklog::new(self.project, self.tree, self.base, source).left(source);
        Ok(!changed.unwrap_or(true) || own())
    }

    /// Where the backlog keeps attempts, this one; and one more iteration, if it did not pass. `edit` makes the changes, or
    /// only tries them; what it says if they cannot be.
    fn record_attempt(
        &self,
        settlement: &Settlement,
        iteration: &Iteration,
        settled: &Settled,
        edit: impl Fn(&Source, &[Change]) -> Result<()>,
    ) -> std::result::Result<Option<String>, Refused> {
        let (Some(source), Some(item)) = (self.source, &settlement.item) else { return Ok(None) };
        let run_id = attempt_id(self.run, settlement.iteration);
        if settlement.uncounted || source.has_attempt(&item.id, &run_id) {
            return Ok(None);
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
            files_changed: files_changed(settlement.result, iteration, settled.commit.is_some()),
        };
        // One more iteration is counted where the attempt is recorded, in the same edit.
        let counted = (settlement.result != Attempt::Passed).then(|| Change::Increment {
            id: item.id.clone(),
            block_on_max: settlement.block.is_some(),
            override_reason: settlement.block.clone(),
        });
        let attempt = Change::Attempt { id: item.id.clone(), attempt: shown(attempt, self.secrets) };
        let changes: Vec<Change> =
            counted.into_iter().chain([attempt]).chain(state(source, settlement)).collect();
        match edit(source, &changes) {
            Ok(()) => Ok(None),
            // The work is proved, and perhaps committed: nobody is to do it again.
            Err(error) if source.may_do_it_later(&error) => Err(Refused::Bd(error)),
            Err(error) => {
                let why = in_a_line(&error);
                unless_refused(format!("{} cannot be marked in the backlog: {why}", item.id)).map(Some)
            }
        }
    }
}

/// A problem that is no refusal of the disk.
fn unless_refused(problem: String) -> std::result::Result<String, Refused> {
    if is_of_the_disk(&problem) { Err(Refused::Disk(problem)) } else { Ok(problem) }
}

fn named(what: &str, why: impl std::fmt::Display) -> std::result::Result<String, Refused> {
    unless_refused(format!("{what}: {why}"))
}

/// What the item is to be, if it is to be anything else.
fn state(source: &Source, settlement: &Settlement) -> Option<Change> {
    let id = settlement.item.as_ref()?.id.clone();
    let to = match settlement.result {
        Attempt::Passed => State::Done,
        _ if settlement.park.is_some() => source.state_of_parked(&id),
        _ if settlement.block.is_some() => State::Blocked,
        _ => return None,
    };
    Some(Change::State { id, to, at: Some(clock::now()) })
}

/// What a failed attempt changed; that one without a commit passed without a change.
fn files_changed(result: Attempt, iteration: &Iteration, committed: bool) -> Option<Vec<String>> {
    let after = iteration.after.as_ref()?;
    match result {
        Attempt::Failed => Some(after.changed.iter().take(50).map(|change| change.path.clone()).collect()),
        Attempt::Passed if !committed && (iteration.is_without_change() || iteration.is_untouched()) => {
            Some(vec![])
        }
        _ => None,
    }
    .filter(|files| result == Attempt::Passed || !files.is_empty())
}

/// An attempt as it may stand in a file that is committed.
fn shown(mut attempt: Recorded, secrets: &Secrets) -> Recorded {
    let hide = |text: &mut String| *text = secrets.hide(text).into_owned();
    attempt.commands.iter_mut().for_each(hide);
    attempt.summary.iter_mut().for_each(hide);
    attempt.failure_reason.iter_mut().for_each(hide);
    attempt.investigation.iter_mut().for_each(hide);
    attempt.files_changed.iter_mut().flatten().for_each(hide);
    attempt
}
