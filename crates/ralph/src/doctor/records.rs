//! What ralph keeps: whether it can be read, written and believed.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use ralph_core::time;

use super::{Finding, disk};
use crate::clock;
use crate::project::Project;
use crate::store::{self, Ledger, Runs};

pub(super) fn all(project: &Project) -> Vec<Finding> {
    let mut findings = vec![folder(".ralph", &project.ralph_dir, &project.root)];
    let above = project.truth.parent().unwrap_or(&project.root);
    findings.push(folder("records", &project.truth, above));
    if !project.truth.is_dir() {
        return findings;
    }
    findings.extend(private(&project.truth));
    findings.push(journals(project));
    findings.push(evidence(project));
    findings.push(match store::holder(&project.truth) {
        Some(holder) => {
            Finding::held("lock", format!("a run is going on (pid {}, since {})", holder.pid, holder.since))
        }
        None => Finding::held("lock", "free"),
    });
    findings
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
        false => Finding::failed(about, format!("{} cannot be made", dir.display()), remedy),
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

fn journals(project: &Project) -> Finding {
    let runs = Runs::of(&project.truth).all();
    let mut last = None;
    for run in &runs {
        let about = format!("run {}: ", run.number);
        match run.peek() {
            Err(error) => {
                return Finding::failed(
                    "journal",
                    about + &error.what,
                    "ralph run --fresh \"GOAL\" begins anew",
                );
            }
            Ok(opened) if !opened.writable() => {
                let error = store::cannot_continue(&run.journal(), &opened);
                let newest = runs.last().is_some_and(|last| last.number == run.number);
                let remedy =
                    error.hints.first().cloned().unwrap_or_else(|| "ralph run --fresh \"GOAL\"".into());
                return match newest {
                    true => Finding::failed("journal", about + &error.what, remedy),
                    false => Finding::warned(
                        "journal",
                        about + &error.what,
                        "it is an old run; new ones are not concerned",
                    ),
                };
            }
            Ok(opened) => last = last.max(Some(opened.state.updated_at)),
        }
    }
    match last {
        Some(at) if at > clock::now() => Finding::warned(
            "clock",
            format!("the last record was made in {}, by this clock", time::duration(at.since(clock::now()))),
            "set the clock; until then waits and an open circuit last longer than they should",
        ),
        _ => Finding::held("journal", ralph_core::text::count(runs.len() as u64, "readable run")),
    }
}

fn evidence(project: &Project) -> Finding {
    let ledger = Ledger::of(&project.truth);
    match ledger.read() {
        Err(error) => Finding::failed("evidence", format!("cannot be read: {error}"), "see to its rights"),
        Ok(lines) => match lines.iter().find_map(|line| Some((line.number, line.problem.as_ref()?))) {
            None => Finding::held("evidence", ralph_core::text::count(lines.len() as u64, "record")),
            Some((line, problem)) => Finding::failed(
                "evidence",
                format!("{}:{line}: {problem}", ledger.path().display()),
                "somebody changed the ledger: what stands below that line proves nothing",
            ),
        },
    }
}
