//! The rules of evidence (seed 003's five, and two more that are strict), and what else a backlog must be.

use core::ops::Range;

use super::hands::{Hands, OneHand, in_halves};
use super::index::Dependencies;
use super::kinds::Wrong;
use super::{Backlog, Shape, State, select};
use crate::edit::line_of;
use crate::prelude::*;
use crate::time::Time;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    PassedAttempt,
    CommandsRun,
    ResultsSummary,
    Timestamp,
    RunId,
    /// Strict: the newest attempt of what passes is PASSED.
    Newest,
    /// Strict: and names a commit that exists.
    Commit,
    Dependency,
    Cycle,
    Requirements,
    /// A field is of another kind than is read.
    Kind,
    Shape,
}

impl Rule {
    pub fn word(self) -> &'static str {
        match self {
            Self::PassedAttempt => "passed_attempt",
            Self::CommandsRun => "commands_run",
            Self::ResultsSummary => "results_summary",
            Self::Timestamp => "timestamp",
            Self::RunId => "run_id",
            Self::Newest => "newest_attempt",
            Self::Commit => "commit",
            Self::Dependency => "dependency",
            Self::Cycle => "cycle",
            Self::Requirements => "prd",
            Self::Kind => "kind",
            Self::Shape => "shape",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// None: about the file.
    pub id: Option<String>,
    pub rule: Rule,
    /// Where that is one place.
    pub line: Option<usize>,
    pub what: String,
    /// ralph does the right thing all the same.
    pub harmless: bool,
}

impl Finding {
    pub fn new(id: Option<String>, rule: Rule, what: String) -> Self {
        Self { id, rule, line: None, what, harmless: false }
    }
}

#[derive(Debug, Default)]
pub struct Findings {
    pub findings: Vec<Finding>,
    /// How many items were looked at.
    pub checked: u64,
    /// Strict: commits that must exist, with the item that names them.
    pub commits: Vec<(String, String)>,
}

/// Looks at one item, or at all of them and the file.
pub fn validate(backlog: &Backlog<'_>, only: Option<usize>, strict: bool) -> Findings {
    validate_with(backlog, only, strict, &OneHand)
}

/// The same with a hand that is lent.
pub fn validate_with(
    backlog: &Backlog<'_>,
    only: Option<usize>,
    strict: bool,
    hands: &impl Hands,
) -> Findings {
    let mut found = Findings::default();
    match only {
        Some(at) => {
            let places: Vec<_> = backlog.items()[at].dependencies.iter().map(|id| backlog.find(id)).collect();
            item(backlog, at, strict, places.into_iter(), &mut found);
        }
        None => {
            let shape = backlog.problems().iter();
            found.findings.extend(shape.map(|problem| Finding {
                line: Some(problem.line()),
                harmless: problem.is_harmless(),
                ..Finding::new(None, Rule::Shape, problem.to_string())
            }));
            let for_all = backlog.wrong_kinds_for_all();
            found.findings.extend(for_all.into_iter().map(|wrong| of_kind(backlog, None, wrong)));
            let dependencies = Dependencies::of(backlog, hands);
            if let Some(ring) = select::ring(backlog, &dependencies) {
                let what = format!("items depend on each other in a ring: {}", ring.join(" -> "));
                found.findings.push(Finding::new(None, Rule::Cycle, what));
            }
            let look = |items: Range<usize>| look(backlog, items, strict, &dependencies);
            for part in in_halves(hands, backlog.text, backlog.items().len(), look) {
                found.findings.extend(part.findings);
                found.commits.extend(part.commits);
                found.checked += part.checked;
            }
        }
    }
    found
}

fn look(backlog: &Backlog<'_>, items: Range<usize>, strict: bool, dependencies: &Dependencies) -> Findings {
    let mut found = Findings::default();
    items.for_each(|at| item(backlog, at, strict, dependencies.at(at), &mut found));
    found
}

fn of_kind(backlog: &Backlog<'_>, id: Option<String>, wrong: Wrong) -> Finding {
    let line = Some(line_of(backlog.text, wrong.at));
    Finding { line, ..Finding::new(id, Rule::Kind, wrong.what) }
}

fn item(
    backlog: &Backlog<'_>,
    at: usize,
    strict: bool,
    dependencies: impl Iterator<Item = Option<usize>>,
    found: &mut Findings,
) {
    let item = &backlog.items()[at];
    found.checked += 1;
    let findings = &mut found.findings;
    let id = || Some(item.id.clone().into_owned());
    findings.extend(backlog.wrong_kinds(at).into_iter().map(|wrong| of_kind(backlog, id(), wrong)));
    let mut add = |rule: Rule, what: String| findings.push(Finding::new(id(), rule, what));
    for (id, _) in item.dependencies.iter().zip(dependencies).filter(|(_, place)| place.is_none()) {
        add(Rule::Dependency, format!("it depends on {id}, which is not in the file"));
    }
    if backlog.shape() != Shape::Features {
        return;
    }
    let attempts = backlog.attempts(at);
    for (nth, attempt) in attempts.iter().enumerate() {
        let nth = nth + 1;
        if attempt.is_passed() {
            if attempt.commands.is_empty() {
                add(Rule::CommandsRun, format!("attempt {nth} is PASSED without evidence.commands_run"));
            }
            if attempt.summary.is_none() {
                add(
                    Rule::ResultsSummary,
                    format!("attempt {nth} is PASSED without evidence.results_summary"),
                );
            }
        }
        match &attempt.timestamp {
            None => add(Rule::Timestamp, format!("attempt {nth} has no timestamp")),
            Some(text) if !is_moment(text) => {
                add(Rule::Timestamp, format!("the timestamp of attempt {nth} is not ISO 8601: '{text}'"));
            }
            Some(_) => {}
        }
        if attempt.run_id.is_none() {
            add(Rule::RunId, format!("attempt {nth} has no run_id"));
        }
    }
    if item.state != State::Done {
        return;
    }
    if !attempts.iter().any(super::attempt::Recorded::is_passed) {
        add(Rule::PassedAttempt, "it is PASSING without a PASSED attempt".into());
    }
    if !strict {
        return;
    }
    match attempts.last() {
        Some(last) if last.is_passed() => match &last.commit {
            Some(commit) => {
                found.commits.push((item.id.clone().into_owned(), commit.clone().into_owned()));
            }
            None => add(Rule::Commit, "its newest attempt names no commit".into()),
        },
        Some(_) => add(Rule::Newest, "its newest attempt is not PASSED".into()),
        None => {}
    }
}

/// ISO 8601: with a zone, or in nobody's.
fn is_moment(text: &str) -> bool {
    Time::parse(text).is_some() || Time::parse(&format!("{text}Z")).is_some()
}
