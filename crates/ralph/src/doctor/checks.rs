//! The checks of a run, and the programs that they begin with.

use std::time::Duration;

use ralph_core::check::CheckSpec;
use ralph_core::text;

use super::{Finding, Meant};
use crate::process::{self, End, Spec};
use crate::project::Project;
use crate::{runner, trust};

const CHECK: Duration = Duration::from_secs(30 * 60);

pub(super) fn all(project: &Project, meant: &Meant, run: bool) -> Vec<Finding> {
    let told = |stack: &ralph_core::detect::Stack| Finding::held("stack", stack.described());
    let mut findings: Vec<Finding> = meant.stacks.iter().map(told).collect();
    for missing in &meant.missing {
        findings.push(Finding::warned("checks", missing, "install it, or name another command: [checks]"));
    }
    let unknown = trust::unknown(project, &meant.brought);
    let agreed = |check: &CheckSpec| unknown.iter().all(|command| command.command != check.command);
    for (check, from) in &meant.checks {
        findings.push(one(project, check, from, run, agreed(check)));
    }
    if meant.checks.is_empty() {
        findings.push(match meant.policy.wants_checks() {
            true => Finding::warned(
                "checks",
                "none are set, and none were found in the project's files",
                "ralph config set checks.test \"cargo test\", or ralph run --test-cmd",
            ),
            false => Finding::held("checks", format!("profile {} runs none", meant.policy.profile)),
        });
    }
    findings
}

fn one(project: &Project, check: &CheckSpec, from: &str, run: bool, agreed: bool) -> Finding {
    let about = format!("check {}", check.name);
    let shown = format!("{} ({from})", text::one_line(&check.command, 200));
    if let Some(tool) = process::missing_program(&check.command, &project.root) {
        return Finding::failed(
            &about,
            format!("{tool} is not there, or cannot be run: {shown}"),
            format!("install {tool}, or correct {from}"),
        );
    }
    match (run, agreed) {
        (false, _) => Finding::held(&about, format!("not run: {shown}")),
        (true, false) => Finding::failed(
            &about,
            format!("not run: it comes with the project, and nobody agreed to it: {shown}"),
            "read it; ralph run asks, and takes --yes where there is no terminal",
        ),
        (true, true) => tried(&about, check, project),
    }
}

fn tried(about: &str, check: &CheckSpec, project: &Project) -> Finding {
    let spec = runner::kept(Spec::shell(&check.command, &project.root), &project.truth);
    let remedy = "see what it says: run it yourself";
    match process::run_for(&spec, CHECK) {
        Ok(brief) if brief.end == End::Exited(0) => {
            Finding::held(about, format!("passed: {}", check.command))
        }
        Ok(brief) => {
            let last = text::last_line(&text::plain(&brief.words), 200).unwrap_or_default();
            Finding::failed(about, format!("{}: {}: {last}", check.command, brief.end), remedy)
        }
        Err(error) => Finding::failed(about, error.to_string(), remedy),
    }
}
