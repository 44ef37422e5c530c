//! Seed 000's phase 5: is a block right, in form and in fact?

use core::fmt;

use super::super::block::{Block, Status, Tests};
use super::exact::{self, Raw};
use super::{Tasks, prefix_warning, status_word, tests_word};
use crate::evidence::AddedTodos;
use crate::prelude::*;
use crate::text;
use crate::todos;

/// The checks, as the seed has them, and one more for the count that its anti-patterns call guessed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Check {
    Format,
    StatusConsistency,
    TestsMatchReality,
    FilesMatchReality,
    ExitSignalJustified,
    RecommendationPresent,
    NoExtraFields,
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Format => "format",
            Self::StatusConsistency => "status_consistency",
            Self::TestsMatchReality => "tests_match_reality",
            Self::FilesMatchReality => "files_match_reality",
            Self::ExitSignalJustified => "exit_signal_justified",
            Self::RecommendationPresent => "recommendation_present",
            Self::NoExtraFields => "no_extra_fields",
        })
    }
}

/// A check that a block does not pass, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    pub check: Check,
    pub what: String,
}

/// One line.
impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.check, text::one_line(&self.what, 400))
    }
}

/// What was measured; what was not is not compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    pub tests: Option<TestsFact>,
    pub files: Option<FilesFact>,
    pub tasks: Tasks,
    /// Work that was put off since some revision.
    pub todos: Option<AddedTodos>,
}

/// One run of the tests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestsFact {
    pub tests: Tests,
    /// `cargo test exit 101`
    pub run: String,
}

/// What changed since some revision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilesFact {
    pub names: Vec<String>,
    pub since: String,
}

/// A block in a text, not yet checked.
pub struct Found {
    block: Block,
    raw: Raw,
}

/// The last block of a text. Templates are passed over.
pub fn find(words: &str) -> Option<Found> {
    exact::last(words).map(|(block, raw)| Found { block, raw })
}

impl Found {
    /// Whether it says that no tasks remain, so that the plan is worth a look.
    pub fn claims_done(&self) -> bool {
        self.block.exit_signal || self.block.status == Some(Status::Complete)
    }

    /// Every check that it does not pass, in the seed's order. Decorated values are understood, so that one wrong
    /// character does not hide a wrong claim.
    pub fn check(&self, facts: &Facts) -> Vec<Violation> {
        let mut found = self.raw.compare();
        let mut add = |check, what: Vec<String>| {
            found.extend(what.into_iter().map(|what| Violation { check, what }));
        };
        add(Check::StatusConsistency, self.consistency(facts));
        add(Check::TestsMatchReality, self.tests(facts).into_iter().collect());
        add(Check::FilesMatchReality, self.files(facts).into_iter().collect());
        add(Check::ExitSignalJustified, self.exit_signal(facts));
        found.sort_by_key(|violation| violation.check);
        found
    }

    /// What the seed's guidelines would have otherwise; no violation.
    pub fn warning(&self) -> Option<String> {
        prefix_warning(self.block.status?, self.block.recommendation.as_deref()?)
    }

    fn consistency(&self, facts: &Facts) -> Vec<String> {
        let Some(status) = self.block.status else { return vec![] };
        let mut found = Vec::new();
        if status != Status::Complete {
            if self.block.exit_signal {
                found.push(format!("EXIT_SIGNAL is true with STATUS {}", said_status(status)));
            }
            return found;
        }
        if self.block.problems.iter().any(|problem| problem == "missing field EXIT_SIGNAL") {
            found.push("STATUS is COMPLETE without an EXIT_SIGNAL".to_owned());
        }
        match self.block.tests {
            Some(Tests::Passing) => {}
            Some(tests) => found.push(format!("STATUS is COMPLETE with TESTS_STATUS {}", said_tests(tests))),
            None => found.push("STATUS is COMPLETE without a TESTS_STATUS".to_owned()),
        }
        if let Tasks::Remain(open) = &facts.tasks {
            found.push(format!("STATUS is COMPLETE with tasks remaining: {}", Tasks::describe(open)));
        }
        found
    }

    fn tests(&self, facts: &Facts) -> Option<String> {
        let fact = facts.tests.as_ref()?;
        let claim = match self.block.tests {
            Some(claimed) if claimed == fact.tests => return None,
            Some(claimed) => said_tests(claimed),
            None => "missing",
        };
        Some(format!("TESTS_STATUS is {claim}, but the tests are {}: {}", tests_word(fact.tests), fact.run))
    }

    fn files(&self, facts: &Facts) -> Option<String> {
        let FilesFact { names, since } = facts.files.as_ref()?;
        let counted = names.len() as u64;
        let claim = match self.block.files {
            Some(claimed) if claimed == counted => return None,
            Some(claimed) => claimed.to_string(),
            None => "not a number".to_owned(),
        };
        let mut what = format!("FILES_MODIFIED is {claim}, but git counts {counted} since {since}");
        if !names.is_empty() {
            let more = if names.len() > 5 { ", …" } else { "" };
            what.push_str(&format!(
                ": {}{more}",
                names.iter().take(5).cloned().collect::<Vec<_>>().join(", ")
            ));
        }
        Some(what)
    }

    /// Of the four conditions those that the block and the facts tell about.
    fn exit_signal(&self, facts: &Facts) -> Vec<String> {
        let mut found = Vec::new();
        if !self.block.exit_signal {
            return found;
        }
        match self.block.status {
            Some(Status::Complete) => {}
            Some(Status::Blocked) => {
                found.push("EXIT_SIGNAL is true, but blocked is not complete".to_owned());
            }
            _ => found.push("EXIT_SIGNAL is true, but STATUS does not say that no tasks remain".to_owned()),
        }
        if let Tasks::Remain(open) = &facts.tasks {
            found.push(format!("EXIT_SIGNAL is true with {}", Tasks::describe(open)));
        }
        match self.block.tests {
            Some(Tests::Passing) => {}
            Some(tests) => found.push(format!("EXIT_SIGNAL is true with TESTS_STATUS {}", said_tests(tests))),
            None => found.push("EXIT_SIGNAL is true without a TESTS_STATUS".to_owned()),
        }
        if let Some(fact) = facts.tests.as_ref().filter(|fact| fact.tests != Tests::Passing) {
            found.push(format!("EXIT_SIGNAL is true, but the tests do not pass: {}", fact.run));
        }
        if let Some(added) = facts.todos.as_ref().filter(|added| added.total > 0) {
            found.push(format!("EXIT_SIGNAL is true, but work is left: {}", todos::told(added)));
        }
        found
    }
}

fn said_status(status: Status) -> &'static str {
    if status == Status::Unknown { "unknown" } else { status_word(status) }
}

fn said_tests(tests: Tests) -> &'static str {
    if tests == Tests::Unknown { "unknown" } else { tests_word(tests) }
}

#[cfg(test)]
mod tests;
