//! The status block an agent prints at the end of an iteration.

use std::fmt;

/// Displays as the block, character for character, without a line end after the last line.
///
/// ```
/// use ralph_testkit::StatusBlock;
/// let failing = StatusBlock { tests: "FAILING".into(), ..StatusBlock::done() };
/// assert!(failing.to_string().contains("\nTESTS_STATUS: FAILING\n"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusBlock {
    pub status: String,
    pub tasks: u32,
    pub files: u32,
    pub tests: String,
    pub work_type: String,
    pub exit_signal: bool,
    pub recommendation: String,
}

impl StatusBlock {
    /// All is done, tests pass, please stop.
    pub fn done() -> Self {
        StatusBlock {
            status: "COMPLETE".into(),
            tasks: 1,
            files: 2,
            tests: "PASSING".into(),
            work_type: "IMPLEMENTATION".into(),
            exit_signal: true,
            recommendation: "All tasks complete, tests passing, summary".into(),
        }
    }

    /// Something was done, more is to do.
    pub fn in_progress() -> Self {
        StatusBlock {
            status: "IN_PROGRESS".into(),
            exit_signal: false,
            recommendation: "Next: the rest of the work".into(),
            ..StatusBlock::done()
        }
    }

    /// A person is needed.
    pub fn blocked(reason: &str) -> Self {
        StatusBlock {
            status: "BLOCKED".into(),
            tasks: 0,
            files: 0,
            tests: "NOT_RUN".into(),
            exit_signal: false,
            recommendation: reason.into(),
            ..StatusBlock::done()
        }
    }
}

impl fmt::Display for StatusBlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "---RALPH_STATUS---")?;
        writeln!(f, "STATUS: {}", self.status)?;
        writeln!(f, "TASKS_COMPLETED_THIS_LOOP: {}", self.tasks)?;
        writeln!(f, "FILES_MODIFIED: {}", self.files)?;
        writeln!(f, "TESTS_STATUS: {}", self.tests)?;
        writeln!(f, "WORK_TYPE: {}", self.work_type)?;
        writeln!(f, "EXIT_SIGNAL: {}", self.exit_signal)?;
        writeln!(f, "RECOMMENDATION: {}", self.recommendation)?;
        write!(f, "---END_RALPH_STATUS---")
    }
}
