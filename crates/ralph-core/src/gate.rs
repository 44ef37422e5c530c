//! The gate: do the words say done?

use crate::prelude::*;
use crate::profile::Gate;
use crate::report::IterationReport;
use crate::report::block::{Block, Status, Tests};

/// What the words amount to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Words {
    Done {
        why: String,
    },
    Blocked {
        why: String,
    },
    More {
        why: String,
    },
    /// Nothing that any dialect understands; not a vote.
    Silence,
}

/// What the gate needs to know beside the report.
#[derive(Debug, Clone, Copy)]
pub struct Context {
    pub gate: Gate,
    /// Whether ralph has a test command: if not, the agent's NOT_RUN is no objection.
    pub has_test_check: bool,
}

pub fn judge(context: Context, report: &IterationReport) -> Words {
    match context.gate {
        Gate::Explicit => report.block.as_ref().map_or(Words::Silence, |block| explicit(context, block)),
    }
}

fn explicit(context: Context, block: &Block) -> Words {
    let recommendation = block.recommendation.as_deref().unwrap_or("no recommendation given");
    if block.status == Some(Status::Blocked) {
        return Words::Blocked { why: recommendation.to_owned() };
    }
    let more = |why: &str| Words::More { why: why.to_owned() };
    if !block.exit_signal {
        return more("EXIT_SIGNAL: false");
    }
    match (block.tests, block.status) {
        (Some(Tests::Failing), _) => more("EXIT_SIGNAL: true contradicts TESTS_STATUS: FAILING"),
        (Some(Tests::Unknown), _) => more("EXIT_SIGNAL: true with an unknown TESTS_STATUS"),
        (Some(Tests::NotRun), _) if context.has_test_check => {
            more("EXIT_SIGNAL: true contradicts TESTS_STATUS: NOT_RUN")
        }
        (_, Some(Status::InProgress)) => more("EXIT_SIGNAL: true contradicts STATUS: IN_PROGRESS"),
        (_, Some(Status::Unknown)) => more("EXIT_SIGNAL: true with an unknown STATUS"),
        _ => Words::Done { why: "EXIT_SIGNAL: true".into() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(status: &str, tests: &str, exit: &str, has_test_check: bool) -> Words {
        let text = format!(
            "---RALPH_STATUS---\nSTATUS: {status}\nTASKS_COMPLETED_THIS_LOOP: 1\nFILES_MODIFIED: 1\nTESTS_STATUS: {tests}\nWORK_TYPE: TESTING\nEXIT_SIGNAL: {exit}\nRECOMMENDATION: need a key\n---END_RALPH_STATUS---"
        );
        let (block, _) = crate::report::block::last(&text);
        let report = IterationReport { block, ..Default::default() };
        judge(Context { gate: Gate::Explicit, has_test_check }, &report)
    }

    #[test]
    fn the_table_of_statuses() {
        let done = |w: Words| matches!(w, Words::Done { .. });
        let more = |w: Words| matches!(w, Words::More { .. });
        assert!(done(words("COMPLETE", "PASSING", "true", true)));
        assert!(more(words("COMPLETE", "PASSING", "false", true)));
        assert!(more(words("IN_PROGRESS", "PASSING", "false", true)));
        assert!(more(words("IN_PROGRESS", "PASSING", "true", true)));
        assert!(more(words("COMPLETE", "FAILING", "true", true)));
        assert!(more(words("COMPLETE", "NOT_RUN", "true", true)));
        assert!(done(words("COMPLETE", "NOT_RUN", "true", false)));
        assert!(more(words("NEARLY", "PASSING", "true", true)));
        assert!(more(words("COMPLETE", "2 FAILED", "true", true)));
    }

    #[test]
    fn blocked_beats_an_exit_signal() {
        assert_eq!(words("BLOCKED", "PASSING", "true", true), Words::Blocked { why: "need a key".into() });
        assert_eq!(words("BLOCKED", "PASSING", "false", true), Words::Blocked { why: "need a key".into() });
    }

    #[test]
    fn no_block_is_silence() {
        let context = Context { gate: Gate::Explicit, has_test_check: true };
        assert_eq!(judge(context, &IterationReport::default()), Words::Silence);
    }
}
