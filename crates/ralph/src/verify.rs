//! Verifying evidence: is the chain of records whole, does the commit hold what was measured, and do the recorded checks
//! come out the same in a clean checkout of it?
//!
//! Commands are run without a question: they ran here before, when the user agreed to them, and the record stands in the
//! git directory, which no clone brings along. Those of a record that was changed are not run.

mod commit;
mod ledger;

use std::path::Path;

use commit::Gone;
use ralph_core::check::CheckSpec;
use ralph_core::event::StopBy;
use ralph_core::ledger::{Attempted, Checked, Ran, Verdict, Verified, of_check};

use crate::error::Error;
use crate::git::Repo;
use crate::project::Project;
use crate::runner::Again;
use crate::store::Scratch;
use crate::ui::Ui;

pub(crate) use commit::Commits;
pub(crate) use ledger::{Anchored, Loaded, load};

/// Why verifying ended early.
pub(crate) enum Ended {
    Asked(StopBy),
    Failed(Error),
}

impl From<Error> for Ended {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

/// One attempt. Without `again`, nothing is run.
pub(crate) fn attempt(
    project: &Project,
    attempted: &Attempted,
    loaded: &Loaded,
    commits: &Commits,
    again: Option<&mut Again>,
    ui: &mut Ui,
) -> std::result::Result<Verified, Ended> {
    let mut verified = Verified {
        record: attempted.record.clone(),
        commit: attempted.commit().map(str::to_owned),
        verdict: Verdict::CouldNotRun,
        why: String::new(),
        remarks: vec![],
        checks: vec![],
    };
    let commit = match standing(project, attempted, loaded, commits) {
        Ok(commit) => commit,
        Err((verdict, why)) => {
            return Ok(rewritten(Verified { verdict, why, ..verified }, attempted, commits));
        }
    };
    let compared = commits.compared(attempted, commit.id, loaded);
    verified.remarks = compared.remarks;
    let left = attempted.commit.as_ref().map_or(&[][..], |commit| &commit.left);
    if !left.is_empty() {
        let names = left.iter().take(10).cloned().collect::<Vec<_>>().join(", ");
        verified.remarks.push(format!("its commit is without files that were not clean before: {names}"));
    }
    let Some(again) = again else {
        verified.verdict = Verdict::Holds;
        verified.why = "the record and its commit are as they were; its checks were not run".into();
        return Ok(rewritten(differing(verified, &compared.differs), attempted, commits));
    };
    let (checks, remark) = run_again(&commit, &attempted.record.checks, again, ui)?;
    verified.checks = checks;
    verified.remarks.extend(remark);
    let mut verified = rewritten(differing(verified.judged(), &compared.differs), attempted, commits);
    if verified.verdict == Verdict::Fails && !compared.untracked.is_empty() {
        let names = compared.untracked.join(", ");
        verified
            .remarks
            .push(format!("files that git does not track were there when it was proved: {names}"));
    }
    Ok(verified)
}

/// A commit that can be checked out.
struct Commit<'a> {
    repo: &'a Repo,
    id: &'a str,
}

/// The commit of an attempt that is worth running, or why there is none.
fn standing<'a>(
    project: &'a Project,
    attempted: &'a Attempted,
    loaded: &Loaded,
    commits: &Commits,
) -> std::result::Result<Commit<'a>, (Verdict, String)> {
    let could_not = |why: String| Err((Verdict::CouldNotRun, why));
    if !attempted.record.passed() {
        return Err((Verdict::NotProved, attempted.record.why.clone()));
    }
    if !loaded.is_sound(&attempted.record.attempt) {
        let why = "its record is not what was recorded, or nobody else tells of it, so nothing of it is run";
        return could_not(why.into());
    }
    let Some(id) = attempted.commit() else {
        let why = "it is not committed, so it cannot be checked in a checkout of its own; its files may be in your \
                   working tree";
        return could_not(why.into());
    };
    let Some(repo) = &project.repo else { return could_not("the project is no git repository".into()) };
    match commits.look(attempted, id, loaded) {
        Ok(()) => Ok(Commit { repo, id }),
        Err(Gone::Unknown(why)) => could_not(why),
        Err(Gone::Another(why)) => Err((Verdict::Fails, why)),
    }
}

/// Files that are other ones in the commit than those that were proved fail it, whatever the checks say.
fn differing(mut verified: Verified, differs: &[String]) -> Verified {
    if !differs.is_empty() {
        let names = differs.iter().take(10).cloned().collect::<Vec<_>>().join(", ");
        verified.why = format!("the commit holds other files than were proved: {names}; {}", verified.why);
        verified.verdict = Verdict::Fails;
    }
    verified
}

/// The work is where the history has it now: what was proved says nothing of other files there.
fn rewritten(mut verified: Verified, attempted: &Attempted, commits: &Commits) -> Verified {
    for now in commits.rewritten(attempted).iter().filter(|_| attempted.record.passed()) {
        let id = now.commit.get(..12).unwrap_or(&now.commit);
        let some = |names: &[String]| names.iter().take(10).cloned().collect::<Vec<_>>().join(", ");
        let (names, since) = (some(&now.differs), some(&now.since));
        if let Some(why) = &now.unknown {
            verified.remarks.push(format!("commit {id} was not compared with what was proved: {why}"));
        }
        if !since.is_empty() {
            verified.remarks.push(format!(
                "commit {id} names the evidence of later work too, which changed files of this one: {since}"
            ));
        }
        match names.is_empty() {
            true => {}
            false if now.beside => verified.remarks.push(format!(
                "commit {id} of another branch names this evidence and holds other files than were proved: {names}"
            )),
            false => {
                verified.why = format!(
                    "commit {id} names this evidence and holds other files than were proved: {names}; {}",
                    verified.why
                );
                verified.verdict = Verdict::Fails;
            }
        }
    }
    verified
}

/// The checks in a clean checkout, which is gone afterwards; and what could not be cleaned up.
fn run_again(
    commit: &Commit<'_>,
    checks: &[Ran],
    again: &mut Again,
    ui: &mut Ui,
) -> std::result::Result<(Vec<Checked>, Option<String>), Ended> {
    let scratch = Scratch::new("ralph-verify")
        .map_err(|error| Error::new("there is no temporary folder to check out into").because(error))?;
    let checked = checks_in(&scratch, commit, checks, again, ui)?;
    let place = scratch.path().display().to_string();
    let left = scratch.remove().err().map(|error| format!("{place} could not be removed: {error}"));
    Ok((checked, left))
}

fn checks_in(
    scratch: &Scratch,
    commit: &Commit<'_>,
    checks: &[Ran],
    again: &mut Again,
    ui: &mut Ui,
) -> std::result::Result<Vec<Checked>, Ended> {
    let made = |error| Error::new("the checkout cannot be made").because(error);
    let (dir, beside) = (scratch.folder("project").map_err(made)?, scratch.folder("beside").map_err(made)?);
    let unready = commit.repo.check_out_elsewhere(commit.id, &dir).err();
    if let Some(by) = again.asked_to_stop() {
        return Err(Ended::Asked(by));
    }
    let unready = unready.map(|error| format!("its commit cannot be checked out: {error}"));
    checks.iter().map(|recorded| check_in(recorded, unready.as_deref(), &dir, &beside, again, ui)).collect()
}

fn check_in(
    recorded: &Ran,
    unready: Option<&str>,
    dir: &Path,
    beside: &Path,
    again: &mut Again,
    ui: &mut Ui,
) -> std::result::Result<Checked, Ended> {
    let hidden = recorded.argv.iter().any(|word| word.contains("[redacted"));
    let why_not = match unready {
        Some(why) => Some(why.to_owned()),
        None if hidden => Some(format!("{} holds a secret, which is not recorded", recorded.name)),
        None => None,
    };
    if let Some(why) = why_not {
        return Ok(Checked { recorded: recorded.clone(), now: None, verdict: Verdict::CouldNotRun, why });
    }
    let check = CheckSpec::named(&recorded.name, recorded.command());
    ui.say(&format!("  {}: {}", check.name, ralph_core::check::shown(&check.command)));
    let now = again.run(&check, dir, beside, ui).map_err(Ended::Asked)?;
    let (verdict, why) = of_check(recorded, &now);
    Ok(Checked { recorded: recorded.clone(), now: Some(now), verdict, why })
}

/// What a stop means to whoever started ralph.
pub(crate) fn exit_code(by: StopBy) -> u8 {
    match by {
        StopBy::Interrupt | StopBy::Request => 130,
        StopBy::Terminate => 143,
    }
}
