//! The rules of evidence (seed 003's five, and two more that are strict), and what else a backlog must be.

use core::ops::Range;

use super::hands::{Hands, OneHand, in_halves};
use super::index::Dependencies;
use super::kinds::{Names, Wrong};
use super::{Backlog, Recorded, Shape, State, select};
use crate::edit::LineCount;
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
            Looking::at(backlog, strict).item(at, places.into_iter(), &mut found);
        }
        None => {
            let shape = backlog.problems().iter();
            found.findings.extend(shape.map(|problem| Finding {
                line: Some(problem.line()),
                harmless: problem.is_harmless(),
                ..Finding::new(None, Rule::Shape, problem.to_string())
            }));
            let mut lines = LineCount::new(backlog.text);
            let for_all = backlog.wrong_kinds_for_all();
            found.findings.extend(for_all.into_iter().map(|wrong| of_kind(&mut lines, None, wrong)));
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
    let mut looking = Looking::at(backlog, strict);
    items.for_each(|at| looking.item(at, dependencies.at(at), &mut found));
    found
}

fn of_kind(lines: &mut LineCount<'_>, id: Option<String>, wrong: Wrong) -> Finding {
    let line = Some(lines.of(wrong.at));
    Finding { line, ..Finding::new(id, Rule::Kind, wrong.what) }
}

/// One item after the other, with what the ones before told.
struct Looking<'b, 'a> {
    backlog: &'b Backlog<'a>,
    strict: bool,
    lines: LineCount<'b>,
    names: Names,
}

impl<'b, 'a> Looking<'b, 'a> {
    fn at(backlog: &'b Backlog<'a>, strict: bool) -> Self {
        Self { backlog, strict, lines: LineCount::new(backlog.text), names: Names::default() }
    }

    fn item(&mut self, at: usize, dependencies: impl Iterator<Item = Option<usize>>, found: &mut Findings) {
        let backlog = self.backlog;
        let item = &backlog.items()[at];
        found.checked += 1;
        let id = || Some(item.id.clone().into_owned());
        let mut wrong = backlog.wrong_kinds(at, &mut self.names);
        wrong.sort_by_key(|wrong| wrong.at);
        found.findings.extend(wrong.into_iter().map(|wrong| of_kind(&mut self.lines, id(), wrong)));
        for (missing, _) in item.dependencies.iter().zip(dependencies).filter(|(_, place)| place.is_none()) {
            let what = format!("it depends on {missing}, which is not in the file");
            found.findings.push(Finding::new(id(), Rule::Dependency, what));
        }
        if backlog.shape() == Shape::Features {
            attempts(backlog, at, self.strict, found);
        }
    }
}

fn attempts(backlog: &Backlog<'_>, at: usize, strict: bool, found: &mut Findings) {
    let item = &backlog.items()[at];
    let mut add = |rule: Rule, what: String| {
        found.findings.push(Finding::new(Some(item.id.clone().into_owned()), rule, what));
    };
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
    if !attempts.iter().any(Recorded::is_passed) {
        add(Rule::PassedAttempt, "it is PASSING without a PASSED attempt".into());
    } else if !attempts.iter().any(Recorded::proves) {
        add(Rule::PassedAttempt, "it is PASSING, and what its PASSED attempt did was reverted".into());
    }
    if !strict {
        return;
    }
    match attempts.last() {
        Some(last) if last.proves() => match &last.commit {
            Some(name) if !is_hash(name) => {
                let name = crate::text::one_line(name, 80);
                add(Rule::Commit, format!("its newest attempt names '{name}', which is no commit's hash"));
            }
            Some(commit) => {
                found.commits.push((item.id.clone().into_owned(), commit.clone().into_owned()));
            }
            None if last.without_change => {}
            None => add(Rule::Commit, "its newest attempt names no commit".into()),
        },
        Some(last) if last.reverted => add(Rule::Newest, "its newest attempt was reverted".into()),
        Some(_) => add(Rule::Newest, "its newest attempt is not PASSED".into()),
        None => {}
    }
}

/// A hash or its beginning. Names such as HEAD are of another commit tomorrow.
fn is_hash(text: &str) -> bool {
    (4..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// ISO 8601: with a zone, or in nobody's.
fn is_moment(text: &str) -> bool {
    is_plain_moment(text.as_bytes())
        || Time::parse(text).is_some()
        || Time::parse(&format!("{text}Z")).is_some()
}

/// As programs write it, `2026-01-07T19:30:00Z`, on a day that every month has: most are like that, and need no calendar.
fn is_plain_moment(text: &[u8]) -> bool {
    const FORM: &[u8; 20] = b"0000-00-00T00:00:00Z";
    let formed = |(byte, form): (&u8, &u8)| if *form == b'0' { byte.is_ascii_digit() } else { byte == form };
    let two = |at: usize| (text[at] - b'0') * 10 + (text[at + 1] - b'0');
    text.len() == FORM.len()
        && text.iter().zip(FORM).all(formed)
        && (1..=12).contains(&two(5))
        && (1..=28).contains(&two(8))
        && two(11) < 24
        && two(14) < 60
        && two(17) < 60
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_moment_is_one_that_the_calendar_knows_too() {
        let fields = |month: u32, day: u32, hour: u32, minute: u32, second: u32| {
            format!("2026-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
        };
        let mut plain = 0;
        for (month, day) in (0..=13).flat_map(|month| (0..=32).map(move |day| (month, day))) {
            for (hour, minute, second) in [(0, 0, 0), (23, 59, 59), (24, 0, 0), (7, 60, 0), (7, 0, 60)] {
                let text = fields(month, day, hour, minute, second);
                plain += usize::from(is_plain_moment(text.as_bytes()));
                assert!(!is_plain_moment(text.as_bytes()) || Time::parse(&text).is_some(), "{text}");
            }
        }
        assert_eq!(plain, 12 * 28 * 2);
        for text in ["2026-01-07 19:30:00Z", "2026-01-07T19:30:00", "2o26-01-07T19:30:00Z", ""] {
            assert!(!is_plain_moment(text.as_bytes()), "{text}");
        }
    }
}
