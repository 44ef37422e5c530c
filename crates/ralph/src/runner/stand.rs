//! Where the user stands in the repository, before an agent and after it: the branch, what is staged, and what of the
//! user's the agent committed.

use std::cell::OnceCell;
use std::ffi::OsStr;

use ralph_core::decision::TreeMark;
use ralph_core::event::{Measured, Noted, THROWN_AWAY, When, is_progress};
use ralph_core::git_text::Change;
use ralph_core::lost::Staged;
use ralph_core::profile::FailedItem;
use ralph_core::state::Iteration;
use ralph_core::text;

use super::{Mine, Runner, Seen};
use crate::git::Repo;
use crate::store::IterationFiles;
use crate::unix::names::OsStrExt;
use crate::work::{Before, CHANGED, Stand, Stands, Stood, departed, dirty_at, taken_along, thrown_away};
use crate::{digest, suggest};

const UNKNOWN: &str = "nobody will know what the agent stages";

/// What this ralph kept of it; `None` where another one did, and the files tell.
#[derive(Debug, Default)]
pub(super) struct KeptStands {
    start: Option<Stood>,
    before: Option<Stood>,
    after: Option<Stood>,
}

impl Runner<'_> {
    /// Where the user stood around this iteration: the last one whose agent was started.
    pub(super) fn stands_of(&self, iteration: &Iteration, files: &IterationFiles) -> Stands {
        let Noted { start, before, .. } = &iteration.noted;
        let after = iteration.after.as_ref().and_then(|after| after.stood.as_deref());
        let known = |kept: &Option<Stood>, files: &IterationFiles, when: When, digest: Option<&str>| {
            kept.clone().unwrap_or_else(|| Stood::read(&files.stand(when), digest))
        };
        let KeptStands { start: at_start, before: at_before, after: at_after } = &self.stands;
        Stands {
            start: known(at_start, &self.run.baseline_files(), When::Before, start.as_deref()),
            before: known(at_before, files, When::Before, before.as_deref()),
            after: known(at_after, files, When::After, after),
        }
    }

    fn stood_before(&self) -> Stood {
        let current = self.state.current.as_ref();
        current.map_or(Stood::Unknown, |current| self.stands_of(current, &self.files()).before)
    }

    /// For the record, so that a ralph after this one believes no file that an agent wrote over.
    pub(super) fn noted(&self) -> Noted {
        let digest = |stood: &Option<Stood>| stood.as_ref()?.digest().map(str::to_owned);
        Noted {
            // Of what was written over since, the record still knows what it was.
            start: digest(&self.stands.start).or_else(|| self.noted_start().map(str::to_owned)),
            before: digest(&self.stands.before),
            backlog: self.backlog.as_deref().map(digest::of),
            way: self.way.as_ref().map(|way| digest::of(&way.to_bytes().unwrap_or_default())),
        }
    }

    fn noted_start(&self) -> Option<&str> {
        let iterations = [self.state.current.as_ref(), self.state.last.as_deref()];
        iterations.into_iter().flatten().find_map(|iteration| iteration.noted.start.as_deref())
    }

    /// Before an agent starts. Without it nobody knows what it did to the index and HEAD, and that is said.
    pub(super) fn keep_stand(&mut self, files: &IterationFiles) {
        let Some(repo) = &self.project.repo else { return };
        // Afterwards the snapshot may be gone that knows it. A session is measured by another process, which would not know.
        if let (None, Some(base), false) = (&self.dirty, &self.state.base, self.is_session()) {
            self.dirty = dirty_at(repo, &self.tree, base).ok();
        }
        // A session is measured by another process.
        if !self.is_session() {
            let earlier = self.mine.as_ref().map(|mine| &mine.seen);
            self.seen = Seen::now(repo, !self.asks_the_index(), earlier);
        }
        self.stands.before = Some(Stood::Unknown);
        self.stands.after = None;
        if self.stands.start.is_none() {
            let path = self.run.baseline_files().stand(When::Before);
            let noted = self.noted_start();
            self.stands.start = (noted.is_some() || path.exists()).then(|| Stood::read(&path, noted));
        }
        let kept = (|| {
            let branch = match self.branch.as_ref().or(self.measured_branch.as_ref()) {
                Some(branch) => branch.clone(),
                None => repo.branch().map_err(|error| error.to_string())?,
            };
            self.astray = self.measured_branch.as_ref().is_some_and(|now| *now != branch);
            self.branch = Some(branch.clone());
            let branch = branch.as_deref();
            let start = self.run.baseline_files();
            if self.asks_the_index() && self.stands.start.is_none() {
                start.make().map_err(|error| error.to_string())?;
                self.stands.start = Some(Stand::keep(&start.stand(When::Before), repo, branch, true)?);
            }
            let before = Stand::keep(&files.stand(When::Before), repo, branch, self.asks_the_index())?;
            self.stands.before = Some(before);
            Ok::<(), String>(())
        })();
        if let Err(why) = kept {
            self.ui.warn(&format!("{UNKNOWN}: {why}"));
        }
        if self.mine.is_none() && !self.is_session() {
            self.mine = Some(self.mine_now());
        }
    }

    /// What is the user's, as no agent of this ralph's did anything yet.
    fn mine_now(&self) -> Mine {
        let current = self.state.current.as_ref();
        let head = current.and_then(|current| current.before.as_ref()?.head.clone());
        // Where another ralph kept it when the run began, that counts.
        let stand = |stood: &Option<Stood>| stood.as_ref()?.stand().cloned();
        let (staged, stashes) = match stand(&self.stands.start).or_else(|| stand(&self.stands.before)) {
            Some(Stand { staged, stashes, .. }) => (Some(staged), stashes),
            None => (None, vec![]),
        };
        let asked = self.asks_the_index().then(|| OnceCell::from(staged));
        Mine { seen: self.seen.clone(), head, stashes, staged: asked.unwrap_or_default() }
    }

    /// What is staged after the agent, where this ralph asked for it.
    pub(super) fn staged_after(&self) -> Option<&Staged> {
        Some(&self.stands.after.as_ref()?.stand()?.staged)
    }

    /// What is staged matters only where ralph commits or puts back.
    pub(super) fn asks_the_index(&self) -> bool {
        let plan = self.state.run.as_ref().map(|run| &run.plan);
        plan.is_some_and(|plan| {
            plan.commits() || (plan.backlog.is_some() && plan.policy.failed_item == FailedItem::Revert)
        })
    }

    /// Whose files the commits of this iteration hold.
    pub(super) fn measure_taken(&self, measured: &mut Measured, repo: &Repo, mark: &TreeMark) {
        let stood = self.stood_before();
        let staged = stood.stand().map(|stand| &stand.staged);
        let source = self.source().and_then(Result::ok);
        let ours = source.filter(|source| !source.is_file() || self.own_backlog(source).is_ours());
        let before = Before {
            mark,
            base: self.state.base.as_ref(),
            spans: &self.state.rules.items.spans,
            staged: staged.into_iter().flat_map(|staged| staged.keys().cloned()).collect(),
            backlog: ours.and_then(|source| source.below(&self.project.root)),
        };
        match taken_along(repo, &self.tree, &before, measured.left_head()) {
            Ok(paths) => measured.takes_along(paths),
            Err(error) => {
                measured.notes.push(format!("nobody could look whose files were committed: {error}"));
            }
        }
    }

    /// What the agent threw away of the user's. An undo has it, as every snapshot does.
    pub(super) fn measure_thrown_away(
        &mut self,
        measured: &mut Measured,
        changes: &[Change],
        mark: &TreeMark,
    ) {
        let (Some(repo), Some(base)) = (&self.project.repo, &self.state.base) else { return };
        let dirty = match &self.dirty {
            Some(dirty) => Ok(dirty),
            None => dirty_at(repo, &self.tree, base).map(|dirty| &*self.dirty.insert(dirty)),
        };
        // What it committed is told otherwise.
        let now = (mark.head.as_deref(), mark.tree.as_str(), measured.tree.as_str());
        let in_head = &mut self.in_head;
        let gone = dirty.and_then(|dirty| thrown_away(repo, &self.tree, dirty, changes, now, in_head));
        let mut gone = gone.unwrap_or_default();
        gone.retain(|path| !measured.taken.contains(path));
        if !gone.is_empty() {
            let names = text::one_line(&gone.join(", "), 400);
            measured.flags.push(format!("{THROWN_AWAY} {} FILE): {names}", self.state.iteration));
        }
    }

    /// Where the snapshots are gone: what the user had not committed and is not there any more.
    pub(super) fn measure_gone(&mut self, measured: &mut Measured) {
        let (Some(repo), Some(dirty)) = (&self.project.repo, &mut self.dirty) else { return };
        let there = |path: &Vec<u8>| repo.root.join(OsStr::from_bytes(path)).symlink_metadata().is_ok();
        let deleted = |path: &&Vec<u8>| !there(path) && is_progress(path);
        let gone: Vec<Vec<u8>> = dirty.iter().filter(deleted).cloned().collect();
        if gone.is_empty() {
            return;
        }
        // Told once.
        dirty.retain(|path| !gone.contains(path));
        let names: Vec<_> = gone.iter().map(|path| String::from_utf8_lossy(path)).collect();
        let told = format!(
            "what you had not committed is gone with what the agent did, and no snapshot has it any more: {}",
            text::one_line(&names.join(", "), 400)
        );
        measured.flags.push(told);
    }

    /// Why nothing can be measured where an agent removed the repository itself.
    pub(super) fn without_a_repository(&self) -> Option<String> {
        let repo = self.project.repo.as_ref().filter(|repo| !repo.git_dir.join("HEAD").exists())?;
        Some(format!(
            "{} was removed since the run began, and with it the history, branches and stashes, and what ralph kept there; \
             your files are as they were left; put that folder back from a copy, or have the history again with git clone",
            self.shown(&repo.git_dir)
        ))
    }

    /// What an agent, or somebody else, left the user with when the run is over.
    pub(super) fn say_where_head_is(&mut self) {
        let (Some(began), Some(now)) = (&self.branch, &self.measured_branch) else { return };
        if began == now {
            return;
        }
        let name = |branch: &Option<String>| match branch {
            Some(branch) => format!("branch {}", text::one_line(branch, 200)),
            None => "no branch".to_owned(),
        };
        let back =
            began.as_ref().map(|began| format!("; to get back: git switch {}", suggest::quoted(began)));
        let told = format!(
            "HEAD is on {}, and was on {} when the run began{}",
            name(now),
            name(began),
            back.unwrap_or_default()
        );
        self.ui.warn(&told);
    }

    /// A branch that was left, or that lost commits, is no place to commit to. Returns where HEAD went.
    pub(super) fn measure_stand(&mut self, measured: &mut Measured, branch: Option<&str>) -> Option<String> {
        let project = self.project;
        let (Some(repo), When::After) = (&project.repo, measured.when) else { return None };
        let files = self.files();
        let first = self.state.current.as_ref().and_then(|current| current.after.as_ref());
        let first = first.filter(|_| !self.is_session()).cloned();
        if let Some(Measured { stood: stood @ Some(_), .. }) = &first {
            // What was staged since the agent's part was first measured is somebody else's.
            measured.stood.clone_from(stood);
        } else if self.asks_the_index() {
            let kept = match self.index_is_others() {
                true => Ok(Stood::Unknown),
                false => Stand::keep(&files.stand(When::After), repo, branch, true),
            };
            measured.notes.extend(kept.as_ref().err().map(|why| format!("{UNKNOWN}: {why}")));
            let kept = kept.unwrap_or_default();
            measured.stood = kept.digest().map(str::to_owned);
            self.stands.after = Some(kept);
        }
        let before = self.state.current.as_ref().and_then(|current| current.before.as_ref());
        let where_to = match self.stood_before() {
            Stood::Unknown => return None,
            Stood::Changed => CHANGED.to_owned(),
            Stood::Known { stand, .. } => {
                match first {
                    // What is gone since may be the user's own doing.
                    Some(first) => {
                        let known = first.flags.into_iter().filter(|flag| !measured.flags.contains(flag));
                        measured.flags.extend(known.collect::<Vec<_>>());
                    }
                    None => self.measure_what_is_gone(measured, repo, &stand, before),
                }
                let before = before?;
                let (old, new) = (before.head.as_deref(), measured.head.as_deref());
                departed(repo, (stand.branch.as_deref(), old), (branch, new), self.astray)?
            }
        };
        if let Some(item) = &mut measured.item {
            item.departed = Some(where_to.clone());
        }
        measured.notes.push(where_to.clone());
        Some(where_to)
    }
}
