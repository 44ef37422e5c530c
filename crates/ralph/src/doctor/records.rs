//! What ralph keeps: whether it can be read, written and believed.

use std::path::Path;

use ralph_core::breaker::Circuit;
use ralph_core::text;
use ralph_core::time::{self, Time};

use super::{Finding, disk};
use crate::project::Project;
use crate::store::{self, ArmFile, JournalFile, Ledger, LockState, Run, Runs};
use crate::unix::rights::PermissionsExt;
use crate::verify::{self, Anchored};
use crate::{clock, secrets};

/// The folders that ralph writes to.
pub(super) fn folders(project: &Project) -> Vec<Finding> {
    let above = project.truth.parent().unwrap_or(&project.root);
    vec![folder(".ralph", &project.ralph_dir, &project.root), folder("records", &project.truth, above)]
}

pub(super) fn all(project: &Project) -> Vec<Finding> {
    let mut findings = folders(project);
    if !project.truth.is_dir() {
        let yet = |about| Finding::held(about, "not there yet: the first run begins it");
        findings.extend([yet("journal"), clock_of(None, clock::now()), yet("evidence"), yet("lock")]);
        return findings;
    }
    findings.extend(private(&project.truth));
    let (journal, last) = journals(project);
    findings.extend([journal, clock_of(last, clock::now())]);
    findings.push(evidence(project));
    findings.push(lock(&project.truth));
    findings.extend(circuit(project, clock::now()));
    findings.extend(session(&project.truth));
    findings
}

/// Which session is held, where one was armed: until that can be read, every session that stops here is told of trouble.
fn session(truth: &Path) -> Option<Finding> {
    match ArmFile::of(truth).read() {
        Ok(arm) => arm.map(|arm| {
            Finding::held("session", format!("run {} was armed; how it stands: ralph hook status", arm.run))
        }),
        Err(error) => {
            let why = error.why.map_or_else(String::new, |why| format!(": {why}"));
            let remedy = error.hints.first().cloned().unwrap_or_else(|| "see to its rights".into());
            Some(Finding::warned("session", format!("{}{why}", error.what), remedy))
        }
    }
}

/// An open circuit, which lets no run begin: since when that may be tried again, and how.
fn circuit(project: &Project, now: Time) -> Option<Finding> {
    let (_, opened) = Runs::of(&project.truth).shown().ok()??;
    let breaker = &opened.state.rules.breaker;
    if breaker.circuit != Circuit::Open {
        return None;
    }
    let probe = match breaker.probe_at {
        Some(at) if now >= at => "the next run may try again now".to_owned(),
        Some(at) => format!("no run begins before {}", clock::local(at, now)),
        None => "no run begins by itself".to_owned(),
    };
    let why = breaker.reason.as_deref().map(|why| format!(": {}", text::one_line(why, 200)));
    let why = secrets::of(&project.root).hide(&why.unwrap_or_default()).into_owned();
    let remedy =
        "ralph circuit status; to try once all the same: ralph run --probe; to close it: ralph circuit reset";
    Some(Finding::warned("circuit", format!("open{why}; {probe}"), remedy))
}

fn lock(truth: &Path) -> Finding {
    match store::lock_state(truth) {
        Ok(LockState::Free) => Finding::held("lock", "free"),
        Ok(LockState::Held(Some(holder))) => {
            let since = clock::local(holder.since, clock::now());
            Finding::held("lock", format!("a run is going on (pid {}, since {since})", holder.pid))
        }
        Ok(LockState::Held(None)) => Finding::warned(
            "lock",
            "somebody holds it, and it does not say who",
            format!("look who has {} open: fuser, or ps", truth.join("lock").display()),
        ),
        Err(why) => Finding::failed(
            "lock",
            format!("cannot be looked at: {why}"),
            format!("see to the rights of {}", truth.join("lock").display()),
        ),
    }
}

/// A folder that is there and may be written to, or may be made.
fn folder(about: &str, dir: &Path, above: &Path) -> Finding {
    let remedy = format!("see to the rights of {}", dir.display());
    if dir.is_dir() {
        return match disk::is_writable(dir) {
            true => Finding::held(about, dir.display().to_string()),
            false => Finding::failed(about, format!("{} cannot be written to", dir.display()), remedy),
        };
    }
    if dir.symlink_metadata().is_ok() {
        return Finding::failed(about, format!("{} is not a folder", dir.display()), "move it away");
    }
    match disk::is_writable(above) || !above.exists() {
        true => Finding::held(about, format!("{} is not there yet", dir.display())),
        false => Finding::failed(
            about,
            format!("{} cannot be made", dir.display()),
            format!("see to the rights of {}", above.display()),
        ),
    }
}

/// Transcripts may hold anything, so nobody else should look into them.
fn private(truth: &Path) -> Option<Finding> {
    let mode = std::fs::metadata(truth).ok()?.permissions().mode();
    (mode & 0o077 != 0).then(|| {
        Finding::warned(
            "privacy",
            format!("others on this machine can look into {}", truth.display()),
            format!("chmod 700 {}", truth.display()),
        )
    })
}

/// Whether every run can be read from its first record on, and when the last record was made.
fn journals(project: &Project) -> (Finding, Option<Time>) {
    let runs = Runs::of(&project.truth).all();
    let mut last = None;
    let mut finding = Finding::held("journal", text::count(runs.len() as u64, "readable run"));
    for run in &runs {
        let about = format!("run {}: ", run.number);
        let newest = runs.last().is_some_and(|last| last.number == run.number);
        match run.peek() {
            Ok(opened) if opened.writable() => {
                last = last.max(Some(opened.state.updated_at));
                if let Some(why) = damage(run) {
                    finding = Finding::warned(
                        "journal",
                        format!("{about}{} is damaged: {why}", run.journal().display()),
                        "history, replay and undo tell of it up to that line; ralph run --fresh \"GOAL\" begins a new record",
                    );
                }
            }
            peeked => {
                let error = match &peeked {
                    Ok(opened) => store::cannot_continue(&run.journal(), opened),
                    Err(error) => error.clone(),
                };
                let remedy = error.hints.first().cloned();
                let remedy = remedy.unwrap_or_else(|| "ralph run --fresh \"GOAL\" begins anew".into());
                finding = match newest {
                    true => Finding::failed("journal", about + &error.what, remedy),
                    false => Finding::warned(
                        "journal",
                        about + &error.what,
                        "an old run: new ones are not concerned",
                    ),
                };
            }
        }
    }
    (finding, last)
}

/// What is wrong with a journal that can be continued: runs go on from the last checkpoint, and what stands before it is
/// not looked at.
fn damage(run: &Run) -> Option<String> {
    match JournalFile::read(&run.journal(), |_, _| {}) {
        Ok(opened) if opened.writable() => None,
        Ok(opened) => opened.problems.first().map(ToString::to_string),
        Err(error) => Some(error.why.unwrap_or(error.what)),
    }
}

/// A clock that was set back makes waits, and an open circuit, last longer than they should.
fn clock_of(last: Option<Time>, now: Time) -> Finding {
    match last {
        Some(last) if last > now => Finding::warned(
            "clock",
            format!("the last record was made {} from now, by this clock", time::duration(last.since(now))),
            "set the clock; until then waits and an open circuit last longer than they should",
        ),
        _ => Finding::held("clock", now.to_string()),
    }
}

/// Whether the ledger is whole, by itself and by what journals and commits hold of it.
fn evidence(project: &Project) -> Finding {
    const VERIFY: &str = "ralph evidence verify --no-run tells what still stands";
    let loaded = match verify::load(project, Anchored::Asked) {
        Ok(loaded) => loaded,
        Err(error) => {
            let why = error.why.map_or_else(String::new, |why| format!(": {why}"));
            let remedy = error.hints.first().cloned().unwrap_or_else(|| VERIFY.into());
            return Finding::failed("evidence", format!("{}{why}", error.what), remedy);
        }
    };
    match loaded.summary.faults.as_slice() {
        [] if !loaded.unread.is_empty() => Finding::warned(
            "evidence",
            format!("not all of it could be held against the journals: {}", loaded.unread.join("; ")),
            VERIFY,
        ),
        [] => Finding::held("evidence", text::count(loaded.summary.records as u64, "record")),
        [first, ..] => Finding::failed(
            "evidence",
            format!("{}: {}", Ledger::of(&project.truth).path().display(), first.what),
            format!("somebody changed the ledger: {VERIFY}"),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Outcome;

    #[test]
    fn a_clock_behind_the_last_record_is_a_warning() {
        let at = |second: i64| Time::from_millis(second * 1000);
        assert_eq!(clock_of(Some(at(5)), at(5)).outcome, Outcome::Held);
        assert_eq!(clock_of(None, at(5)).outcome, Outcome::Held);
        let behind = clock_of(Some(at(65)), at(5));
        assert_eq!(behind.outcome, Outcome::Warned);
        assert!(behind.text.starts_with("the last record was made 1m"), "{}", behind.text);
    }
}
