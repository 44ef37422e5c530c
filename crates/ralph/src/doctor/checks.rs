//! The checks of a run, and the programs that they begin with.

use std::time::Duration;

use ralph_core::check::CheckSpec;
use ralph_core::{detect, text, time};

use super::{Finding, Meant};
use crate::process::{self, End, Spec};
use crate::project::Project;
use crate::{runner, trust};

pub(super) fn all(project: &Project, meant: &Meant, run: bool) -> Vec<Finding> {
    let told = |stack: &ralph_core::detect::Stack| Finding::held("stack", stack.described());
    let mut findings: Vec<Finding> = meant.stacks.iter().map(told).collect();
    for missing in &meant.missing {
        findings.push(Finding::warned("checks", missing.what.clone(), missing.remedy.clone()));
    }
    let unknown = trust::unknown(project, &meant.brought);
    let agreed = |check: &CheckSpec| unknown.iter().all(|command| command.command != check.command);
    for (check, from) in &meant.checks {
        let limit = run.then(|| Duration::from_millis(meant.policy.check_timeout_ms));
        findings.push(one(project, check, from, limit, agreed(check)));
    }
    if meant.checks.is_empty() {
        findings.push(match meant.policy.wants_checks() {
            true if !meant.missing.is_empty() => Finding::warned(
                "checks",
                "none is left: every check that was found is left out, as said above, so that only words and \
                 reviews would prove anything",
                "ralph run --test-cmd CMD, with a command that runs here",
            ),
            true => Finding::warned(
                "checks",
                "none are set, and none were found in the project's files",
                format!(
                    "ralph config set checks.test \"{}\", or whatever tests this project",
                    example(project, meant)
                ),
            ),
            false => Finding::held(
                "checks",
                format!("profile {} runs none but what items bring", meant.policy.profile),
            ),
        });
    }
    findings
}

fn example(project: &Project, meant: &Meant) -> &'static str {
    let entries = project.root.read_dir().into_iter().flatten().flatten();
    let names: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    detect::usual_test(&meant.stacks, names.iter().map(String::as_str))
}

/// `run_for`: how long it may take, where it is to be run.
fn one(project: &Project, check: &CheckSpec, from: &str, run_for: Option<Duration>, agreed: bool) -> Finding {
    let about = format!("check {}", check.name);
    let shown = format!("{} ({from})", text::one_line(&check.command, 200));
    if let Some(tool) = process::missing_program(&check.command, &project.root) {
        return Finding::failed(
            &about,
            format!("{tool} is not there, or cannot be run: {shown}"),
            format!("install {tool}, or correct {from}"),
        );
    }
    match (run_for, agreed) {
        (None, _) => Finding::held(&about, format!("not run: {shown}")),
        (Some(_), false) => Finding::failed(
            &about,
            format!("not run: it comes with the project, and nobody agreed to it: {shown}"),
            "read it; ralph run asks, and takes --yes where there is no terminal",
        ),
        (Some(limit), true) => tried(&about, check, project, limit),
    }
}

fn tried(about: &str, check: &CheckSpec, project: &Project, limit: Duration) -> Finding {
    let spec = runner::kept(Spec::shell(&check.command, &project.root), &project.truth);
    let remedy = "see what it says: run it yourself";
    match process::run_for(&spec, limit) {
        Ok(brief) if brief.end == End::Exited(0) => {
            Finding::held(about, format!("passed: {}", check.command))
        }
        Ok(brief) if brief.end == End::TimedOut => Finding::failed(
            about,
            format!(
                "{}: ended after {}, the longest time for a check",
                check.command,
                time::duration(limit.as_millis() as u64)
            ),
            "ralph config set policy.check_timeout 1h, if it needs longer",
        ),
        Ok(brief) => {
            let last = text::last_line(&text::plain(&brief.words), 200).unwrap_or_default();
            Finding::failed(about, format!("{}: {}: {last}", check.command, brief.end), remedy)
        }
        Err(error) => Finding::failed(about, error.to_string(), remedy),
    }
}
