//! `ralph backlog validate`: seed 003's rules of evidence, and the PRDs that items refer to.

use std::collections::BTreeSet;
use std::process::ExitCode;

use ralph_core::backlog::{Backlog, Finding, Findings, Requirements, Rule, validate_with};
use ralph_core::gather::Gather as _;
use ralph_core::text;
use serde_json::{Value, json};

use super::args::ValidateArgs;
use crate::error::{Error, Result};
use crate::git;
use crate::ui::Ui;
use crate::work::{Place, TwoHands};

pub(super) fn main(args: &ValidateArgs, ui: &mut Ui) -> Result<ExitCode> {
    let place = args.common.place()?;
    if place.is_beads() {
        return Err(Error::no("issues of beads hold no evidence that could be validated")
            .because("attempts at them are recorded by ralph's own ledger")
            .hint("ralph evidence verify, for what was proved; bd doctor, for the issues"));
    }
    let bytes = place.read()?;
    let backlog = place.parse(&bytes)?;
    let only = args.id.as_ref().map(|id| place.meant(&backlog, id)).transpose()?;
    let mut found = validate_with(&backlog, only, args.strict, &TwoHands);
    requirements(&place, &backlog, only, &mut found);
    commits(&place, &mut found)?;
    let valid = found.findings.iter().all(|finding| finding.harmless);
    if args.common.json {
        let severity = |finding: &Finding| if finding.harmless { "warning" } else { "error" };
        let findings = found.findings.iter().map(|finding| {
            json!({ "id": finding.id, "rule": finding.rule.word(), "line": finding.line, "what": finding.what,
                "severity": severity(finding) })
        });
        ui.json(&json!({
            "schema": "ralph.validation/1",
            "backlog": place.shown(),
            "valid": valid,
            "strict": args.strict,
            "checked": found.checked,
            "findings": findings.collect::<Vec<Value>>(),
        }));
    } else {
        let line = |finding: &Finding| {
            let id = finding.id.as_deref().unwrap_or("the file");
            // What is wrong with the shape names its line itself.
            let place = finding.line.filter(|_| finding.rule != Rule::Shape);
            let place = place.map_or_else(String::new, |line| format!(" (line {line})"));
            let word = if finding.harmless { "warning" } else { finding.rule.word() };
            format!("{word}: {id}{place}: {}", finding.what)
        };
        // All at once: there may be as many as items.
        let lines: Vec<String> = found.findings.iter().map(line).collect();
        if !lines.is_empty() {
            ui.data_line(&lines.join("\n"));
        }
        let checked = text::count(found.checked, "item");
        let warned = found.findings.iter().filter(|finding| finding.harmless).count();
        let warnings = match warned {
            0 => String::new(),
            some => format!(", {}", text::count(some as u64, "warning")),
        };
        match found.findings.len() - warned {
            0 if backlog.items().is_empty() => {
                ui.say("no item is in it, so nothing could be wrong: ralph backlog add \"TITLE\"");
            }
            0 => ui.say(&format!("{checked} checked: all in order{warnings}")),
            faults => {
                ui.say(&format!(
                    "{checked} checked: {} found{warnings}",
                    text::count(faults as u64, "fault")
                ));
            }
        }
    }
    Ok(ExitCode::from(u8::from(!valid)))
}

fn requirements(place: &Place, backlog: &Backlog<'_>, only: Option<usize>, found: &mut Findings) {
    let all = 0..backlog.items().len();
    for at in all.filter(|at| only.is_none_or(|only| only == *at)) {
        let faults = match place.requirements(backlog, at) {
            None => continue,
            Some(Ok(prd)) => {
                let other = another_s(backlog, at, &prd);
                prd.faults.into_iter().chain(other).map(|fault| format!("its PRD: {fault}")).collect()
            }
            Some(Err(why)) => vec![why],
        };
        let id = &backlog.items()[at].id;
        let finding = |what| Finding::new(Some(id.clone().into_owned()), Rule::Requirements, what);
        found.findings.extend(faults.into_iter().map(finding));
    }
}

/// Requirements of something that is no item may be for several; those of another item are a slip.
fn another_s(backlog: &Backlog<'_>, at: usize, prd: &Requirements) -> Option<String> {
    let other = backlog.find(&prd.feature_id)?;
    let id = &backlog.items()[other].id;
    (*id != backlog.items()[at].id).then(|| format!("its feature_id is {id}, which is another item"))
}

/// Asks git for the commits that attempts name.
fn commits(place: &Place, found: &mut Findings) -> Result<()> {
    if found.commits.is_empty() {
        return Ok(());
    }
    let path = std::path::absolute(&place.path).unwrap_or_else(|_| place.path.clone());
    let repo =
        git::discover(path.parent().unwrap_or(&path)).map_err(|error| Error::new(error.to_string()))?;
    let names: BTreeSet<&str> = found.commits.iter().map(|(_, commit)| commit.as_str()).into_set();
    let there = match repo {
        Some(repo) => repo.existing_commits(&names).map_err(|error| Error::new(error.to_string()))?,
        None => BTreeSet::new(),
    };
    let missing: Vec<Finding> = (found.commits.iter().filter(|(_, commit)| !there.contains(commit.as_str())))
        .map(|(id, commit)| {
            let what = format!("the commit {} is not in this repository", text::one_line(commit, 80));
            Finding::new(Some(id.clone()), Rule::Commit, what)
        })
        .collect();
    found.findings.extend(missing);
    Ok(())
}
