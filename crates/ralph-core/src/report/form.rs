//! Seed 000's status block as a form: written character for character, and checked as strictly.
//!
//! [`block`](super::block) reads generously, because a loop must understand whatever an agent wrote. Here it is the
//! other way round: an agent asks whether its block is right, or has ralph write it from what was measured.
//!
//! | file | holds |
//! |---|---|
//! | `exact` | the raw lines of the last block, compared with the template |
//! | `check` | seed 000's validation checks |
//! | `derive` | STATUS and EXIT_SIGNAL from facts, and claims that contradict these |
//! | `plan` | the items of a checklist |

mod check;
mod derive;
mod exact;
mod plan;

use core::fmt;

use super::block::{BEGIN, END, Status, Tests, WorkType};
use crate::prelude::*;

pub use check::{Check, Facts, FilesFact, Found, TestsFact, Violation, find};
pub use derive::{Situation, Tasks, contradictions, exit_signal, status};
pub use plan::{Plan, read_plan};

/// The seven values of a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Form {
    pub status: Status,
    pub tasks: u64,
    pub files: u64,
    pub tests: Tests,
    pub work_type: WorkType,
    pub exit_signal: bool,
    /// One line.
    pub recommendation: String,
}

/// The block, character for character, without a line end after its last line.
impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{BEGIN}")?;
        writeln!(f, "STATUS: {}", status_word(self.status))?;
        writeln!(f, "TASKS_COMPLETED_THIS_LOOP: {}", self.tasks)?;
        writeln!(f, "FILES_MODIFIED: {}", self.files)?;
        writeln!(f, "TESTS_STATUS: {}", tests_word(self.tests))?;
        writeln!(f, "WORK_TYPE: {}", work_type_word(self.work_type))?;
        writeln!(f, "EXIT_SIGNAL: {}", self.exit_signal)?;
        writeln!(f, "RECOMMENDATION: {}", self.recommendation)?;
        f.write_str(END)
    }
}

impl Form {
    /// What the seed's guidelines would have otherwise. Only advice: one of its own examples does not follow them.
    pub fn warning(&self) -> Option<String> {
        prefix_warning(self.status, &self.recommendation)
    }
}

/// Why a text cannot be a RECOMMENDATION; `None` if it can.
pub fn recommendation_fault(text: &str) -> Option<&'static str> {
    let breaks = |c: char| (c.is_control() && c != '\t') || matches!(c, '\u{2028}' | '\u{2029}');
    if text.trim().is_empty() {
        Some("RECOMMENDATION is empty")
    } else if text.contains(['\n', '\r']) {
        Some("RECOMMENDATION has more than one line")
    } else if text.contains(breaks) {
        Some("RECOMMENDATION has control characters")
    } else {
        None
    }
}

/// Whether the recommendation says, in the form of the guidelines, that nothing goes on without help.
pub fn says_blocked(recommendation: &str) -> bool {
    recommendation.starts_with(guideline(Status::Blocked))
}

/// Whether it names a next task in the form of the guidelines: then there is work left.
pub fn says_next(recommendation: &str) -> bool {
    recommendation.starts_with(guideline(Status::InProgress))
}

fn prefix_warning(status: Status, recommendation: &str) -> Option<String> {
    let prefix = guideline(status);
    let follows = recommendation.starts_with(prefix);
    (!follows).then(|| format!("RECOMMENDATION for {} usually begins with \"{prefix}\"", status_word(status)))
}

/// How a RECOMMENDATION begins.
fn guideline(status: Status) -> &'static str {
    match status {
        Status::InProgress | Status::Unknown => "Next: ",
        Status::Complete => "All tasks complete, tests passing",
        Status::Blocked => "Blocked: ",
    }
}

/// A word that is none of the three counts as in progress.
pub(super) fn status_word(status: Status) -> &'static str {
    match status {
        Status::Complete => "COMPLETE",
        Status::InProgress | Status::Unknown => "IN_PROGRESS",
        Status::Blocked => "BLOCKED",
    }
}

/// A word that is none of the three proves no run.
pub(super) fn tests_word(tests: Tests) -> &'static str {
    match tests {
        Tests::Passing => "PASSING",
        Tests::NotRun | Tests::Unknown => "NOT_RUN",
        Tests::Failing => "FAILING",
    }
}

fn work_type_word(work_type: WorkType) -> &'static str {
    match work_type {
        WorkType::Implementation => "IMPLEMENTATION",
        WorkType::Testing => "TESTING",
        WorkType::Documentation => "DOCUMENTATION",
        WorkType::Refactoring => "REFACTORING",
    }
}

#[cfg(test)]
mod tests;
