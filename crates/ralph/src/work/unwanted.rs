//! What a commit of an agent's may hold and HEAD must not keep: ralph's own files of a moment, which `git add -A` takes along,
//! other criteria than items had, and marks of items that nobody proved. The next commit of ralph's has them as they were; where it makes none, that is said.

use std::collections::BTreeSet;

use ralph_core::decision::TreeMark;
use ralph_core::git_text::Change;
use ralph_core::items::{self, Attempt, Settlement};
use ralph_core::state::Iteration;
use ralph_core::text;

use super::commit::{told, without_secrets};
use super::paths;
use super::settle::Settler;
use crate::git::{Entry, Repo};
use crate::tree::{Tree, TreeError, TreeId};

/// Files that are there while a run goes on. What else is ralph's is in a folder that git is told to leave out.
const OF_A_MOMENT: [&str; 2] = [".harness.lock", ".ralph-session.json"];

type Told<T> = std::result::Result<T, String>;

/// What the commits of an agent changed, against the files as they were before it; and by which of these paths HEAD held
/// something else then.
pub(crate) fn by_commits(
    repo: &Repo,
    tree: &Tree,
    before: &TreeMark,
    head: Option<&str>,
) -> Result<(Vec<Change>, BTreeSet<Vec<u8>>), TreeError> {
    let (old, new) = (repo.tree_of(before.head.as_deref())?, repo.tree_of(head)?);
    let committed = paths::between(tree, &old, &new)?;
    let (Some(from), Some(to)) = (TreeId::new(&before.tree), TreeId::new(&new)) else {
        return Ok((vec![], committed));
    };
    let changes = tree.compare(&from, &to)?.into_iter();
    Ok((changes.filter(|change| committed.contains(&change.path)).collect(), committed))
}

impl Settler<'_> {
    /// Whether HEAD is to hold this as before the agent, whatever else stays: the task file, which ralph looks after, and what
    /// items are judged by.
    pub(super) fn judged_in_commits(&self, iteration: &Iteration) -> impl Fn(&[u8]) -> bool + use<> {
        let file = self.source.filter(|source| source.is_file());
        let file = file.and_then(|source| source.below(&self.project.root));
        let names = committed(iteration).to_vec();
        move |path: &[u8]| file.as_deref() == Some(path) || is_among(&names, path)
    }

    /// Ralph's own files of a moment that HEAD has and had not when the run began.
    pub(super) fn leaked(&self, repo: &Repo, head: Option<&str>) -> Told<Vec<Entry>> {
        let now = repo.names_in(head, &OF_A_MOMENT).map_err(told)?;
        if now.is_empty() {
            return Ok(vec![]);
        }
        let base = self.base.and_then(|base| base.head.as_deref());
        let then = repo.names_in(base, &OF_A_MOMENT).map_err(told)?;
        let new = now.into_iter().filter(|name| !then.contains(name));
        Ok(new.map(|name| Entry { path: name.into_bytes(), object: None }).collect())
    }

    /// Where an attempt is neither committed nor taken back, HEAD is freed of it all the same.
    pub(super) fn mend_head(
        &mut self,
        settlement: &Settlement,
        iteration: &Iteration,
        evidence: Option<&str>,
        problems: &mut Vec<String>,
    ) -> Told<()> {
        let (Some(repo), Some(before)) = (self.project.repo.clone(), &iteration.before) else {
            return Ok(());
        };
        let after = iteration.after.as_ref().and_then(|after| after.left_head().map(str::to_owned));
        if after == before.head {
            return Ok(());
        }
        if let Some(made) = self.made_already(&repo, settlement, iteration, evidence)? {
            self.undid = Some(made);
            return Ok(());
        }
        let judged = &self.unwanted(iteration);
        if !self.commits {
            return match judged.is_empty() {
                true => Ok(()),
                false => Err("ralph makes no commits in this run; commit these files as they are now".into()),
            };
        }
        let head = repo.head().map_err(told)?;
        let mut entries = self.leaked(&repo, head.as_deref())?;
        if !judged.is_empty() {
            if head != after {
                return Err("HEAD is not where the agent left it".into());
            }
            let (now, old) = (repo.tree_of(head.as_deref()), repo.tree_of(before.head.as_deref()));
            let (now, old) = (now.map_err(told)?, old.map_err(told)?);
            if let (Some(now), Some(old)) = (TreeId::new(&now), TreeId::new(&old)) {
                let changes = self.tree.compare(&now, &old).map_err(told)?.into_iter();
                let changes = changes.filter(|change| is_among(judged, &change.path));
                entries.extend(changes.map(|change| Entry { path: change.path, object: change.new }));
            }
        }
        if entries.is_empty() {
            return Ok(());
        }
        if let Some(what) = repo.is_busy() {
            return Err(format!("{what} is under way"));
        }
        let message = without_secrets(&items::mend_message(settlement, self.run, evidence), self.secrets);
        let (old, new) = (before.head.as_deref(), head.as_deref());
        self.is_in_place(&repo, old, new)?;
        self.undid = Some(self.put_in(&repo, new, old, &entries, &message, problems)?);
        self.say_what_head_lost(iteration, &entries);
        Ok(())
    }

    /// In words, of what a commit took out again.
    pub(super) fn say_what_head_lost(&mut self, iteration: &Iteration, entries: &[Entry]) {
        let named = |wanted: &dyn Fn(&[u8]) -> bool| {
            let paths = entries.iter().map(|entry| entry.path.as_slice()).filter(|path| wanted(path));
            let names: Vec<_> = paths.map(String::from_utf8_lossy).collect();
            (!names.is_empty()).then(|| text::one_line(&names.join(", "), 300))
        };
        let judged = named(&|path| is_among(committed(iteration), path)).map(|names| {
            format!(
                "the agent had committed other criteria than items have; HEAD has them as before its commits: {names}"
            )
        });
        let marks = unproved(iteration);
        let marks = self.marked(iteration).filter(|_| judged.is_none()).and_then(|file| {
            let names = named(&|path| is_among(std::slice::from_ref(&file), path))?;
            let marks = items::some(&marks);
            Some(format!("the agent had committed marks that nobody proved, which HEAD does not have any more: {marks} in {names}"))
        });
        let own = named(&|path| OF_A_MOMENT.iter().any(|own| own.as_bytes() == path));
        let own = own.map(|names| {
            format!("the agent had committed what is ralph's own; HEAD does not have it any more: {names}")
        });
        for remark in judged.into_iter().chain(marks).chain(own) {
            if !self.remarks.contains(&remark) {
                self.remarks.push(remark);
            }
        }
    }

    /// Why criteria that the agent committed are still in HEAD.
    pub(super) fn still_committed(iteration: &Iteration, why: &str) -> Option<String> {
        let (names, marks) = (committed(iteration), unproved(iteration));
        let shown = text::one_line(&names.join(", "), 300);
        let criteria = (!names.is_empty()).then(|| {
            format!("a commit of the agent's holds other criteria than items have, and stays in HEAD: {shown} ({why})")
        });
        criteria.or_else(|| (!marks.is_empty()).then(|| marks_stay(&marks, why)))
    }

    /// Marks that nobody proved and that HEAD has all the same: the commit of what was proved is without the task file, or
    /// there is none.
    pub(super) fn say_what_head_kept(&self, iteration: &Iteration, problems: &mut Vec<String>) {
        let (Some(repo), Some(source), Some(item)) = (&self.project.repo, self.source, &iteration.item)
        else {
            return;
        };
        let (marks, file) = (unproved(iteration), source.below(&self.project.root));
        let (Some(file), Some(before), false) = (file, &self.backlog, marks.is_empty()) else { return };
        let head = repo.head().ok().flatten();
        let committed = head.and_then(|head| repo.file_at(&head, &file));
        let now = source.ticked_since(committed.as_deref(), &[before.as_slice()], item);
        let left: Vec<String> = marks.into_iter().filter(|id| now.contains(id)).collect();
        if !left.is_empty() {
            problems.push(marks_stay(&left, "commit the task file as it is now"));
        }
    }

    /// The files that HEAD is to hold as before the agent, by their names.
    fn unwanted(&self, iteration: &Iteration) -> Vec<String> {
        let mut names = committed(iteration).to_vec();
        names.extend(self.marked(iteration).filter(|file| !committed(iteration).contains(file)));
        names
    }

    /// The task file, where the agent committed marks that nobody proved.
    fn marked(&self, iteration: &Iteration) -> Option<String> {
        let source = self.source.filter(|source| source.is_file() && !unproved(iteration).is_empty())?;
        Some(String::from_utf8_lossy(&source.below(&self.project.root)?).into_owned())
    }
}

fn marks_stay(marks: &[String], why: &str) -> String {
    let shown = items::some(marks);
    format!("a commit of the agent's holds marks that nobody proved, and stays in HEAD: {shown} ({why})")
}

/// Items that the agent's commits hold as done: its own one is, where it passed.
fn unproved(iteration: &Iteration) -> Vec<String> {
    let after = iteration.after.as_ref().and_then(|after| after.item.as_ref());
    let attempt = iteration.conclusion.as_ref().and_then(|conclusion| conclusion.attempt);
    let own = iteration.item.as_ref().filter(|_| attempt == Some(Attempt::Passed)).map(|item| &item.id);
    let ticked = after.map_or(&[][..], |after| &after.ticked_in_commits).iter();
    ticked.filter(|id| Some(*id) != own).cloned().collect()
}

fn committed(iteration: &Iteration) -> &[String] {
    let after = iteration.after.as_ref().and_then(|after| after.item.as_ref());
    after.map_or(&[], |after| &after.committed)
}

fn is_among(names: &[String], path: &[u8]) -> bool {
    names.iter().any(|name| *name == String::from_utf8_lossy(path))
}
