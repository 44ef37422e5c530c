//! The commit of a settlement: what was proved, and nothing that happened since.

use std::collections::BTreeSet;

use ralph_core::beside::{Beside, Why};
use ralph_core::event::Measured;
use ralph_core::git_text::Change;
use ralph_core::items::{self, CommitFiles, CommitOrder, InHead, Settlement, attempt_id};
use ralph_core::redact::Secrets;
use ralph_core::state::Iteration;

use super::paths::{self, Paths, Sources};
use super::settle::Settler;
use super::stand::{CHANGED, Restaged, Stood, departed};
use crate::git::{self, Entry, NESTED, Repo, Wanted};
use crate::store::Ledger;
use crate::tree::TreeId;
use crate::work::{OwnBacklog, Source};

/// The trailers by which a commit of ours is known again. The digest is not known to anybody before the agent has ended.
const ATTEMPT: &str = "Ralph-Iteration";
const EVIDENCE: &str = "Ralph-Evidence";

type Told<T> = std::result::Result<T, String>;

#[expect(clippy::needless_pass_by_value, reason = "map_err hands it over")]
pub(super) fn told(error: impl ToString) -> String {
    error.to_string()
}

/// What came of committing.
#[derive(Debug, Default)]
pub(super) struct Committed {
    /// No commit where everything is committed already.
    pub(super) commit: Option<String>,
    /// What was left out of it, for it was not clean before.
    pub(super) left: Vec<String>,
    /// There is none, for no file was changed for it: a mark at most would be in it.
    pub(super) mark_alone: bool,
    pub(super) in_head: InHead,
}

impl Committed {
    fn made(commit: Option<String>, left: Vec<String>) -> Self {
        Self { commit, left, ..Self::default() }
    }
}

impl Settler<'_> {
    /// The commit and what was left out of it.
    pub(super) fn commit(
        &mut self,
        settlement: &Settlement,
        iteration: &Iteration,
        evidence: Option<&str>,
        problems: &mut Vec<String>,
    ) -> Told<Committed> {
        let (Some(repo), Some(order)) = (self.project.repo.clone(), &settlement.commit) else {
            return Ok(Committed::default());
        };
        if let Some(made) = self.made_already(&repo, settlement, iteration, evidence)? {
            // Cut off after it, what it lacks was not told yet.
            let below = repo.below(&made);
            let left =
                below.map_err(told).and_then(|head| self.paths(&repo, order, iteration, head.as_deref()));
            return Ok(Committed::made(Some(made), left.map_or(vec![], |paths| paths.left)));
        }
        if let Some(what) = repo.is_busy() {
            return Err(format!("{what} is under way in this repository"));
        }
        let (before, after) = (iteration.before.as_ref(), iteration.after.as_ref());
        let head = repo.head().map_err(told)?;
        let before_head = before.and_then(|mark| mark.head.as_deref());
        self.is_in_place(&repo, before_head, head.as_deref())?;
        let Paths { mut commit, left, nested, since, clean } =
            self.paths(&repo, order, iteration, head.as_deref())?;
        let in_head = match commit.is_empty() && left.is_empty() && nested.is_empty() {
            true if clean => InHead::All,
            true => InHead::Work,
            false => InHead::Untold,
        };
        let leaked = self.leaked(&repo, head.as_deref())?;
        let mut say = |names: &[String], what: &str| {
            if !names.is_empty() {
                problems.push(format!("{what}: {}", names.join(", ")));
            }
        };
        say(&nested, "not committed, for it is a repository of its own");
        say(
            &self.unheld(iteration, Why::Big),
            "not committed, for it is over 50 MB and no snapshot holds it",
        );
        say(
            &self.unheld(iteration, Why::Filter),
            "not committed, for its filter fails and no snapshot holds it",
        );
        // A tick without the work would tell everybody that it is done.
        let task_file = self.source.and_then(|source| source.below(&self.project.root));
        let by_agent = after.is_some_and(|after| after.committed_change);
        let lacks_work = !left.is_empty() || order.with_work;
        let mark_alone = commit.iter().all(|entry| Some(&entry.path) == task_file.as_ref());
        let lacks_work = lacks_work && !by_agent && mark_alone;
        if lacks_work {
            commit.clear();
        }
        // What the agent committed by itself is the commit, where nothing is left to commit.
        let own = after.and_then(Measured::left_head).filter(|own| Some(*own) != before_head && !lacks_work);
        let own = own.filter(|_| commit.is_empty()).map(str::to_owned);
        if commit.is_empty() && leaked.is_empty() {
            let in_head = if own.is_none() { in_head } else { InHead::Untold };
            return Ok(Committed { commit: own, left, mark_alone: lacks_work, in_head });
        }
        let of_work = commit.iter().filter(|entry| Some(&entry.path) != task_file.as_ref());
        let changed: Vec<String> =
            of_work.map(|entry| String::from_utf8_lossy(&entry.path).into_owned()).collect();
        commit.extend(leaked);
        say(
            &since,
            "changed since it was proved; the commit has what was proved, and your files are as they are",
        );
        let files = CommitFiles { changed: &changed, left: &left };
        let message = items::commit_message(settlement, iteration, self.run, evidence, files);
        let message = without_secrets(&message, self.secrets);
        match self.put_in(&repo, head.as_deref(), before_head, &commit, &message, problems) {
            Ok(made) => {
                self.say_what_head_lost(iteration, &commit);
                Ok(Committed::made(Some(made), left))
            }
            // Whoever waited for it may have died after it was there.
            Err(error) => match (self.made_already(&repo, settlement, iteration, evidence)?, own) {
                (Some(made), _) => Ok(Committed::made(Some(made), left)),
                (None, Some(own)) => {
                    problems.push(format!("what is ralph's own stays in the agent's commit: {error}"));
                    Ok(Committed::made(Some(own), left))
                }
                (None, None) => Err(error),
            },
        }
    }

    /// Files that no snapshot holds and that came or changed since the run began.
    fn unheld(&self, iteration: &Iteration, why: Why) -> Vec<String> {
        let before = self.base.map_or(&[][..], |base| &base.beside);
        let after = iteration.after.iter().flat_map(|after| &after.beside);
        let is_known =
            |one: &Beside| before.iter().any(|old| old.path == one.path && old.is_like(&one.stamp));
        let new = after.filter(|one| one.why == why && !is_known(one));
        new.map(|one| one.path.clone()).collect()
    }

    /// What a commit on top of `head` is to hold, and what not.
    fn paths(
        &mut self,
        repo: &Repo,
        order: &CommitOrder,
        iteration: &Iteration,
        head: Option<&str>,
    ) -> Told<Paths> {
        let after = iteration.after.as_ref();
        let now = self.tree.snapshot().map_err(told)?;
        let proved = after.map(|after| &after.tree).or(order.spans.last().map(|span| &span.to));
        let proved = proved.and_then(|tree| TreeId::new(tree)).ok_or("nobody measured what was proved")?;
        let sources = Sources {
            order,
            proved: &proved,
            proved_head: after.and_then(Measured::left_head),
            head,
            now: &now.tree,
            backlog: self.source.and_then(|source| {
                if !source.is_file() {
                    return None;
                }
                let ours = OwnBacklog::new(self.project, self.tree, self.base, source).is_ours();
                Some((source.below(&self.project.root)?, ours && self.task_file_is_ours))
            }),
            apart: self.source.and_then(Source::apart),
            staged: match &self.stands.start {
                Stood::Known { stand, .. } => stand.staged.keys().cloned().collect(),
                Stood::Unknown => BTreeSet::new(),
                Stood::Changed => return Err(CHANGED.into()),
            },
        };
        paths::of(sources, repo, self.tree).map_err(told)
    }

    /// A commit of ours that is there: ralph was cut off after it.
    pub(super) fn made_already(
        &self,
        repo: &Repo,
        settlement: &Settlement,
        iteration: &Iteration,
        evidence: Option<&str>,
    ) -> Told<Option<String>> {
        let id = attempt_id(self.run, settlement.iteration);
        let trailers = [(ATTEMPT, Some(id.as_str())), (EVIDENCE, evidence)];
        let trailers: Vec<(&str, &str)> =
            trailers.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
        // What the agent left is the agent's, whatever it says.
        let left = iteration.after.as_ref().and_then(Measured::left_head);
        let left = left.filter(|left| repo.has_commit(left).unwrap_or(false));
        repo.commit_with_trailers(&trailers, left).map_err(told)
    }

    /// HEAD is on the branch where the user was, and holds what it held before the agent.
    pub(super) fn is_in_place(&self, repo: &Repo, before: Option<&str>, now: Option<&str>) -> Told<()> {
        let branch = repo.branch().map_err(told)?;
        let stood = match &self.stands.before {
            Stood::Known { stand, .. } => stand.branch.as_deref(),
            // Where nobody kept it, what it lost can still be told.
            Stood::Unknown => branch.as_deref(),
            Stood::Changed => return Err(CHANGED.into()),
        };
        departed(repo, (stood, before), (branch.as_deref(), now), false).map_or(Ok(()), Err)
    }

    /// Makes a commit of these entries on top of HEAD. The user's index gets them where nothing of the user's is staged.
    pub(super) fn put_in(
        &self,
        repo: &Repo,
        head: Option<&str>,
        before: Option<&str>,
        entries: &[Entry],
        message: &str,
        problems: &mut Vec<String>,
    ) -> Told<String> {
        let objects = entries.iter().filter_map(|entry| entry.object.as_ref());
        let blobs: Vec<&str> =
            objects.filter(|object| object.mode != NESTED).map(|object| object.id.as_str()).collect();
        repo.borrow(&blobs, |command| self.tree.call(command)).map_err(told)?;
        let message = &Ledger::of(&self.project.truth).signed(message);
        let wanted = Wanted { head, entries, message, folder: &self.project.truth };
        let made = repo.make_commit(wanted, &self.kept).map_err(told)?;
        let made = made.ok_or("there is nothing new to commit")?;
        // A hook takes its time.
        if repo.head().map_err(told)?.as_deref() != head {
            return Err("somebody else committed meanwhile".into());
        }
        self.is_in_place(repo, before, head)?;
        let (there, back) = self.to_stage(repo, made.changes)?;
        // First the index: cut off here, it holds what is about to be committed, and not the opposite of it.
        repo.stage(&there, &made.commit).map_err(told)?;
        let title = message.lines().next().unwrap_or_default();
        if let Err(error) = repo.move_head(&made.commit, head, title, &self.kept) {
            // Whoever lost touch with git may find that it is done.
            let moved = repo.head().is_ok_and(|now| now.as_ref() == Some(&made.commit));
            if !moved {
                let _ = repo.stage(&back, &made.commit);
                return Err(told(error));
            }
        }
        repo.after_commit(&self.kept);
        let mut differs = made.differs;
        // A hook of bd's adds its export to every commit.
        let apart = self.source.and_then(Source::apart);
        differs.retain(|name| !paths::is_below(name.as_bytes(), apart));
        if !differs.is_empty() {
            problems.push(format!(
                "a hook changed what is committed, which is not what was proved: {}; look at it: git show",
                differs.join(", ")
            ));
        }
        Ok(made.commit)
    }

    /// What is to be in the user's index, and how it was.
    fn to_stage(&self, repo: &Repo, changes: Vec<Change>) -> Told<(Vec<Entry>, Vec<Entry>)> {
        let staged = git::as_staged(repo.staged().map_err(told)?);
        let restaged = Restaged::of(&self.stands);
        let free = |path: &[u8]| !staged.contains_key(path) || restaged.is_the_agent_s(path, &staged);
        let changes = changes.into_iter().filter(|change| free(&change.path));
        let both = changes.map(|Change { path, old, new, .. }| {
            let back = staged.get(&path).cloned().unwrap_or(old);
            (Entry { path: path.clone(), object: new }, Entry { path, object: back })
        });
        Ok(both.unzip())
    }
}

/// A message without what is secret. Its trailers are ids and digests.
pub(super) fn without_secrets(message: &str, secrets: &Secrets) -> String {
    match message.rsplit_once("\n\n") {
        Some((text, trailers)) => format!("{}\n\n{trailers}", secrets.hide(text)),
        None => secrets.hide(message).into_owned(),
    }
}
