//! The gate: do the words say done?

use core::fmt;

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
        /// The gate asks for no words, and these did not say done: `why` is what they said.
        unasked: bool,
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
    /// Completion indicators that the dual gate wants beside the declaration.
    pub indicators: u32,
    /// In a review an explicit done is enough.
    pub review: bool,
    /// Whether ralph has a test command: if not, the agent's NOT_RUN is no objection.
    pub has_test_check: bool,
    /// Whether a report that contradicts itself is believed nevertheless (seed 002).
    pub believes_contradictions: bool,
}

pub fn judge(context: Context, report: &IterationReport) -> Words {
    let words = heard(context, report);
    match (context.gate, &words) {
        (Gate::Dual, Words::Done { .. })
            if !context.review && report.indicators.count < context.indicators =>
        {
            Words::More { why: too_few(context, report).to_string() }
        }
        (Gate::Explicit | Gate::Dual, _) | (Gate::Evidence, Words::Blocked { .. }) => words,
        (Gate::Evidence, Words::Done { .. }) => words,
        (Gate::Evidence, Words::More { why }) => {
            Words::Done { why: format!("not done: {why}"), unasked: true }
        }
        (Gate::Evidence, Words::Silence) => Words::Done { why: "no report".into(), unasked: true },
    }
}

/// Why a report that says done is not read so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Objection {
    /// What stands there as EXIT_SIGNAL.
    OddSignal(String),
    TestsFail,
    TestsNotRun,
    /// What stands there as TESTS_STATUS.
    OddTests(String),
    InProgress,
    /// What stands there as STATUS.
    OddStatus(String),
    /// The sentence of the final message that announces further work.
    Announces(String),
    /// How often its prose says done, and how often it should.
    TooFewWords {
        said: u32,
        wanted: u32,
    },
}

impl fmt::Display for Objection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OddSignal(value) => write!(f, "EXIT_SIGNAL: {value}, which is not plainly true"),
            Self::TestsFail => f.write_str("EXIT_SIGNAL: true contradicts TESTS_STATUS: FAILING"),
            Self::TestsNotRun => f.write_str("EXIT_SIGNAL: true contradicts TESTS_STATUS: NOT_RUN"),
            Self::OddTests(value) => write!(f, "EXIT_SIGNAL: true with an unknown TESTS_STATUS: {value}"),
            Self::InProgress => f.write_str("EXIT_SIGNAL: true contradicts STATUS: IN_PROGRESS"),
            Self::OddStatus(value) => write!(f, "EXIT_SIGNAL: true with an unknown STATUS: {value}"),
            Self::Announces(sentence) => write!(f, "claims done, and announces further work: {sentence}"),
            Self::TooFewWords { said, wanted } => {
                write!(f, "claims done, but its prose says so {said} of {wanted} times")
            }
        }
    }
}

fn too_few(context: Context, report: &IterationReport) -> Objection {
    let indicators = &report.indicators;
    match &indicators.cancelled_by {
        Some(sentence) => Objection::Announces(sentence.clone()),
        None => Objection::TooFewWords { said: indicators.count, wanted: context.indicators },
    }
}

/// A claim of being done that the gate did not read as one, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadClaim {
    pub objection: Objection,
    /// The report itself says that the tests pass.
    pub reports_passing_tests: bool,
}

/// What of a report means done and is not read so. A report that says itself that there is more to do is none.
pub fn unread_claim(context: Context, report: &IterationReport) -> Option<UnreadClaim> {
    let block = report.block.as_ref();
    let objection = match (judge(context, report), block) {
        (Words::More { .. }, Some(block)) if block.exit_signal => {
            objection(context.has_test_check, block).filter(|_| !context.believes_contradictions)
        }
        (Words::More { .. }, Some(block)) => block
            .odd_signal
            .clone()
            .filter(|_| block.status.is_none_or(|status| status == Status::Complete))
            .map(Objection::OddSignal),
        _ => None,
    };
    let explicit = Context { gate: Gate::Explicit, ..context };
    let too_few = || {
        let dual = context.gate == Gate::Dual && matches!(judge(context, report), Words::More { .. });
        (dual && matches!(judge(explicit, report), Words::Done { .. })).then(|| too_few(context, report))
    };
    let reports_passing_tests = block.is_some_and(|block| block.tests == Some(Tests::Passing));
    Some(UnreadClaim { objection: objection.or_else(too_few)?, reports_passing_tests })
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
    pub fn done(why: impl Into<String>) -> Self {
        Self::Done { why: why.into(), unasked: false }
    }

    /// Whether facts are asked though the words did not say done.
    pub fn is_unasked(&self) -> bool {
        matches!(self, Self::Done { unasked: true, .. })
    }

    /// What was said, for people.
    pub fn describe(&self) -> String {
        match self {
            Self::Done { why, unasked: true } => format!("judged by evidence alone (the agent: {why})"),
            Self::Done { why, unasked: false } => format!("claims done: {why}"),
            Self::Blocked { why } => format!("says blocked: {why}"),
            Self::More { why } => format!("not done: {why}"),
            Self::Silence => "no report: not a vote".into(),
        }
    }

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
        Vote::Done { .. } => Words::done(saying.quote.clone()),
        Vote::More => Words::More { why: why() },
        Vote::Blocked { why } => Words::Blocked { why: reason(why) },
    }
}

/// Why it is blocked, without the word itself, which is said before it anyway: agents are asked for `Blocked: …`.
fn reason(told: &str) -> String {
    const WORD: &str = "blocked:";
    let told = told.trim();
    let named = told.get(..WORD.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(WORD));
    let rest = if named { told[WORD.len()..].trim_start() } else { told };
    if rest.is_empty() { told } else { rest }.to_owned()
}

fn of_block(context: Context, block: &Block) -> Words {
    let recommendation = block.recommendation.as_deref().unwrap_or("no recommendation given");
    if block.status == Some(Status::Blocked) {
        return Words::Blocked { why: reason(recommendation) };
    }
    let more = |why: &str| Words::More { why: why.to_owned() };
    if !block.exit_signal {
        return more(&no_signal(block));
    }
    match objection(context.has_test_check, block) {
        Some(why) if !context.believes_contradictions => more(&why.to_string()),
        _ => Words::done("EXIT_SIGNAL: true"),
    }
}

/// How the signal is missing.
fn no_signal(block: &Block) -> String {
    if let Some(odd) = &block.odd_signal {
        Objection::OddSignal(odd.clone()).to_string()
    } else if block.problems.iter().any(|problem| problem == "missing field EXIT_SIGNAL") {
        "no EXIT_SIGNAL".into()
    } else {
        "EXIT_SIGNAL: false".into()
    }
}

/// What in a block speaks against its exit signal.
fn objection(has_test_check: bool, block: &Block) -> Option<Objection> {
    let value = |odd: &Option<String>| odd.clone().unwrap_or_default();
    match (block.tests, block.status) {
        (Some(Tests::Failing), _) => Some(Objection::TestsFail),
        (Some(Tests::Unknown), _) => Some(Objection::OddTests(value(&block.odd_tests))),
        (Some(Tests::NotRun), _) if has_test_check => Some(Objection::TestsNotRun),
        (_, Some(Status::InProgress)) => Some(Objection::InProgress),
        (_, Some(Status::Unknown)) => Some(Objection::OddStatus(value(&block.odd_status))),
        _ => None,
    }
}

/// In what a report contradicts itself, whether or not that is believed.
pub fn contradiction(report: &IterationReport) -> Option<String> {
    let block = report.block.as_ref();
    if let Some(block) = block {
        let within = match (block.exit_signal, block.status, block.tests) {
            (true, Some(Status::Blocked), _) => Some("EXIT_SIGNAL: true contradicts STATUS: BLOCKED".into()),
            (true, ..) => objection(true, block).map(|objection| objection.to_string()),
            (false, Some(Status::Complete), Some(Tests::Failing)) => {
                Some("STATUS: COMPLETE contradicts TESTS_STATUS: FAILING".into())
            }
            _ => None,
        };
        if let Some(why) = within {
            return Some(why);
        }
    }
    let believing = Context {
        gate: Gate::Explicit,
        indicators: 0,
        review: false,
        has_test_check: false,
        believes_contradictions: true,
    };
    let votes = block.map(|block| of_block(believing, block)).into_iter();
    let votes: Vec<Words> = votes.chain(report.sayings.iter().map(of_saying)).collect();
    let other = votes.iter().find(|vote| vote.weight() != votes[0].weight())?;
    Some(format!("one report {}, another one {}", votes[0].describe(), other.describe()))
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
        judge(Context { has_test_check, ..EXPLICIT }, &report)
    }

    #[test]
    fn blocked_is_not_said_twice() {
        for (told, why) in [
            ("Blocked: which database?", "which database?"),
            (" BLOCKED:which database?", "which database?"),
            ("blocked by the firewall", "blocked by the firewall"),
            ("Blocked:", "Blocked:"),
            ("\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}", "\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}"),
            ("", ""),
        ] {
            assert_eq!(reason(told), why);
        }
    }

    const EXPLICIT: Context = Context {
        gate: Gate::Explicit,
        indicators: 2,
        review: false,
        has_test_check: true,
        believes_contradictions: false,
    };

    fn said(exit: bool, indicators: u32, context: Context) -> &'static str {
        let text =
            format!("---RALPH_STATUS---\nSTATUS: COMPLETE\nEXIT_SIGNAL: {exit}\n---END_RALPH_STATUS---");
        let mut report = IterationReport { block: crate::report::block::last(&text).0, ..Default::default() };
        report.indicators.count = indicators;
        match judge(context, &report) {
            Words::Done { .. } => "done",
            Words::More { .. } => "more",
            Words::Blocked { .. } => "blocked",
            Words::Silence => "silence",
        }
    }

    #[test]
    fn the_dual_gate_wants_the_declaration_and_completion_language() {
        let dual = Context { gate: Gate::Dual, ..EXPLICIT };
        let table =
            [(2, true, "done"), (2, false, "more"), (1, true, "more"), (1, false, "more"), (0, true, "more")];
        for (indicators, exit, expected) in table {
            assert_eq!(said(exit, indicators, dual), expected, "{indicators} indicators, {exit}");
        }
        assert_eq!(said(true, 0, Context { review: true, ..dual }), "done", "in a review");
        assert_eq!(said(false, 9, Context { review: true, ..dual }), "more", "in a review");
        assert_eq!(said(true, 2, Context { indicators: 3, ..dual }), "more", "three are wanted");
    }

    #[test]
    fn the_explicit_gate_does_not_count_indicators() {
        assert_eq!(said(true, 0, EXPLICIT), "done");
        assert_eq!(said(false, 5, EXPLICIT), "more");
    }

    #[test]
    fn the_evidence_gate_asks_no_words_but_hears_blocked() {
        let evidence = Context { gate: Gate::Evidence, ..EXPLICIT };
        assert_eq!(said(false, 0, evidence), "done");
        assert!(matches!(judge(evidence, &IterationReport::default()), Words::Done { .. }));
        let blocked =
            crate::report::block::last("---RALPH_STATUS---\nSTATUS: BLOCKED\n---END_RALPH_STATUS---").0;
        let report = IterationReport { block: blocked, ..Default::default() };
        assert!(matches!(judge(evidence, &report), Words::Blocked { .. }));
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
            judge(EXPLICIT, &builder.finish())
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
    fn a_signal_that_is_missing_or_odd_is_not_called_false() {
        let why = |exit: &str| match words("COMPLETE", "PASSING", exit, true) {
            Words::More { why } => why,
            other => panic!("{other:?}"),
        };
        assert_eq!(why("false"), "EXIT_SIGNAL: false");
        assert_eq!(why("perhaps"), "EXIT_SIGNAL: perhaps, which is not plainly true");
        let block =
            crate::report::block::last("---RALPH_STATUS---\nSTATUS: COMPLETE\n---END_RALPH_STATUS---").0;
        let report = IterationReport { block, ..Default::default() };
        assert_eq!(judge(EXPLICIT, &report), Words::More { why: "no EXIT_SIGNAL".into() });
        let block = crate::report::block::last(
            "---RALPH_STATUS---\nSTATUS: COMPLETE\nEXIT_SIGNAL: false\n---END_RALPH_STATUS---",
        );
        let report = IterationReport { block: block.0, ..Default::default() };
        let why = "EXIT_SIGNAL: false".to_owned();
        assert_eq!(judge(EXPLICIT, &report), Words::More { why }, "other fields are missing");
    }

    #[test]
    fn of_reports_that_say_the_same_the_first_is_quoted() {
        let block = "---RALPH_STATUS---\nSTATUS: BLOCKED\nRECOMMENDATION: no key\n---END_RALPH_STATUS---\n";
        let mut builder = crate::report::Builder::default();
        builder.add(crate::transcript::Item::Words(format!("{block}LOOP_BLOCKED: no network\n")));
        let report = builder.finish();
        assert_eq!(report.sayings.len(), 1, "{:?}", report.sayings);
        assert_eq!(judge(EXPLICIT, &report), Words::Blocked { why: "no key".into() });
    }

    #[test]
    fn contradictions_within_a_block_and_between_dialects_are_told() {
        let told = |words: &str| {
            let mut builder = crate::report::Builder::default();
            builder.add(crate::transcript::Item::Words(words.into()));
            contradiction(&builder.finish())
        };
        let block = |status: &str, tests: &str, exit: bool| {
            format!(
                "---RALPH_STATUS---\nSTATUS: {status}\nTESTS_STATUS: {tests}\nEXIT_SIGNAL: {exit}\n---END_RALPH_STATUS---\n"
            )
        };
        for (status, tests, exit) in [
            ("COMPLETE", "FAILING", true),
            ("COMPLETE", "NOT_RUN", true),
            ("IN_PROGRESS", "PASSING", true),
            ("BLOCKED", "PASSING", true),
            ("COMPLETE", "FAILING", false),
        ] {
            let why = told(&block(status, tests, exit)).expect("a contradiction");
            assert!(why.contains("contradicts"), "{why}");
        }
        for (status, tests, exit) in
            [("COMPLETE", "PASSING", true), ("IN_PROGRESS", "FAILING", false), ("BLOCKED", "NOT_RUN", false)]
        {
            assert_eq!(told(&block(status, tests, exit)), None, "{status} {tests} {exit}");
        }
        let both = format!("{}\n<promise>COMPLETE</promise>", block("IN_PROGRESS", "PASSING", false));
        let why = told(&both).expect("a contradiction");
        assert!(why.starts_with("one report not done: ") && why.contains("another one claims done"), "{why}");
        assert_eq!(told("nothing"), None);
    }

    #[test]
    fn a_claim_that_is_not_read_as_one_says_why_and_what_says_more_work_is_none() {
        let block = |status: &str, tests: &str, exit: &str| {
            let text = format!(
                "---RALPH_STATUS---\nSTATUS: {status}\nTESTS_STATUS: {tests}\nEXIT_SIGNAL: {exit}\n---END_RALPH_STATUS---"
            );
            IterationReport { block: crate::report::block::last(&text).0, ..Default::default() }
        };
        let dual = Context { gate: Gate::Dual, ..EXPLICIT };
        let why =
            |context, report: &IterationReport| unread_claim(context, report).map(|claim| claim.objection);
        for (status, tests, exit, objection) in [
            ("COMPLETE", "MOSTLY", "true", Objection::OddTests("MOSTLY".into())),
            ("ALMOST", "PASSING", "true", Objection::OddStatus("ALMOST".into())),
            ("COMPLETE", "PASSING", "probably", Objection::OddSignal("probably".into())),
            ("COMPLETE", "FAILING", "true", Objection::TestsFail),
            ("COMPLETE", "NOT_RUN", "true", Objection::TestsNotRun),
            ("IN_PROGRESS", "PASSING", "true", Objection::InProgress),
        ] {
            assert_eq!(
                why(EXPLICIT, &block(status, tests, exit)),
                Some(objection),
                "{status} {tests} {exit}"
            );
        }
        let done = block("COMPLETE", "PASSING", "true");
        assert_eq!(why(EXPLICIT, &done), None);
        assert_eq!(why(dual, &done), Some(Objection::TooFewWords { said: 0, wanted: 2 }));
        assert!(unread_claim(dual, &done).is_some_and(|claim| claim.reports_passing_tests));
        for (status, exit) in [("IN_PROGRESS", "false"), ("IN_PROGRESS", "not yet"), ("BLOCKED", "true")] {
            assert_eq!(why(dual, &block(status, "PASSING", exit)), None, "{status} {exit}");
        }
        assert_eq!(why(dual, &IterationReport::default()), None);
    }

    #[test]
    fn no_block_is_silence() {
        assert_eq!(judge(EXPLICIT, &IterationReport::default()), Words::Silence);
    }
}
