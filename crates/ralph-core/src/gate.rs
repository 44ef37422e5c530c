//! The gate: do the words say done?

use crate::prelude::*;
use crate::profile::Gate;
use crate::report::IterationReport;
use crate::report::block::{Block, Status, Tests};
use crate::report::dialects::{Saying, Vote};

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
    /// Whether a report that contradicts itself is believed nevertheless (seed 002).
    pub believes_contradictions: bool,
}

pub fn judge(context: Context, report: &IterationReport) -> Words {
    match context.gate {
        Gate::Explicit => heard(context, report),
    }
}

/// All dialects are heard; blocked beats more work beats done.
fn heard(context: Context, report: &IterationReport) -> Words {
    let block = report.block.as_ref().map(|block| of_block(context, block));
    let others = report.sayings.iter().map(of_saying);
    block.into_iter().chain(others).fold(Words::Silence, |strongest, words| {
        if words.weight() > strongest.weight() { words } else { strongest }
    })
}

impl Words {
    fn weight(&self) -> u8 {
        match self {
            Self::Silence => 0,
            Self::Done { .. } => 1,
            Self::More { .. } => 2,
            Self::Blocked { .. } => 3,
        }
    }
}

fn of_saying(saying: &Saying) -> Words {
    let why = || if saying.problems.is_empty() { saying.quote.clone() } else { saying.problems.join("; ") };
    match &saying.vote {
        Vote::Done { .. } => Words::Done { why: saying.quote.clone() },
        Vote::More => Words::More { why: why() },
        Vote::Blocked { why } => Words::Blocked { why: why.clone() },
    }
}

fn of_block(context: Context, block: &Block) -> Words {
    let recommendation = block.recommendation.as_deref().unwrap_or("no recommendation given");
    if block.status == Some(Status::Blocked) {
        return Words::Blocked { why: recommendation.to_owned() };
    }
    let more = |why: &str| Words::More { why: why.to_owned() };
    if !block.exit_signal {
        return more("EXIT_SIGNAL: false");
    }
    if context.believes_contradictions {
        return Words::Done { why: "EXIT_SIGNAL: true".into() };
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
        judge(Context { gate: Gate::Explicit, has_test_check, believes_contradictions: false }, &report)
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
    fn all_dialects_are_heard_and_the_cautious_one_wins() {
        let judge = |words: &str| {
            let mut builder = crate::report::Builder::default();
            builder.add(crate::transcript::Item::Words(words.into()));
            judge(
                Context { gate: Gate::Explicit, has_test_check: true, believes_contradictions: false },
                &builder.finish(),
            )
        };
        let json = |signal: bool| {
            format!("RALPH_STATUS: {{\"completion_indicators\": 2, \"EXIT_SIGNAL\": {signal}}}\n")
        };
        let promise = "<promise>COMPLETE</promise>";
        assert!(matches!(judge(promise), Words::Done { .. }));
        assert!(matches!(judge(&format!("{}LOOP_COMPLETE", json(true))), Words::Done { .. }));
        assert!(matches!(judge(&format!("{}LOOP_CONTINUE\n{promise}", json(false))), Words::More { .. }));
        assert!(matches!(judge(&format!("LOOP_BLOCKED: no key\n{promise}")), Words::Blocked { .. }));
    }

    #[test]
    fn no_block_is_silence() {
        let context = Context { gate: Gate::Explicit, has_test_check: true, believes_contradictions: false };
        assert_eq!(judge(context, &IterationReport::default()), Words::Silence);
    }
}
