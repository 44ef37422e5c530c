//! `ralph analyze`: what an agent's output says, as seed 002's JSON. It judges words only; what is really there, a run
//! measures.

use serde_json::{Value, json};

use crate::breaker::Circuit;
use crate::gate::{self, Words};
use crate::prelude::*;
use crate::profile::{BreakerPolicy, Gate, Policy, Saturated, Trip};
use crate::report::IterationReport;
use crate::report::block::WorkType;
use crate::signature;
use crate::time::Time;
use crate::transcript::Format;

/// What is asked about a report.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    pub policy: &'a Policy,
    pub format: Format,
    pub iteration: u64,
    pub at: Time,
}

/// One condition of the decision, with the words that decided.
struct Condition {
    name: &'static str,
    held: bool,
    words: String,
}

/// `ralph.analysis/1`
pub fn analyse(report: &IterationReport, previous: &[IterationReport], question: Question<'_>) -> Value {
    let (decision, conditions) = decide(report, previous, question.policy);
    let all = || previous.iter().chain([report]);
    let errors: Vec<signature::ErrorSet> = all().map(|report| report.errors.clone()).collect();
    let block = report.block.as_ref();
    json!({
        "schema": "ralph.analysis/1",
        "timestamp": question.at,
        "iteration": question.iteration,
        "profile": question.policy.profile,
        "format": question.format,
        "ralph_status": {
            "found": block.is_some(),
            "status": block.and_then(|block| block.status),
            "tasks_completed": block.and_then(|block| block.tasks),
            "files_modified": block.and_then(|block| block.files),
            "tests_status": block.and_then(|block| block.tests),
            "work_type": block.and_then(|block| block.work_type),
            "exit_signal": block.map(|block| block.exit_signal),
            "recommendation": block.and_then(|block| block.recommendation.as_deref()),
        },
        "completion_indicators": report.indicators.count,
        "exit_decision": decision,
        "stuck_loop_detected": signature::stuck(&errors),
        "circuit_breaker_state": circuit(previous, report, &question.policy.breaker).word(),
        "dialects": report.sayings,
        "reasons": conditions.iter().map(|condition| json!({
            "condition": condition.name,
            "held": condition.held,
            "words": condition.words,
        })).collect::<Vec<_>>(),
        "errors": report.errors.errors,
        "usage": {
            "input_tokens": report.usage.input,
            "output_tokens": report.usage.output,
            "cache_read_tokens": report.usage.cache_read,
            "cache_write_tokens": report.usage.cache_write,
            "total_tokens": report.usage.total(),
        },
        "cost_usd": report.cost_micro_usd.map(|micro| micro as f64 / 1e6),
        "limits": report.limit.iter().collect::<Vec<_>>(),
        "problems": report.problems,
    })
}

/// What the breaker makes of the outputs at the end of which this one stands: the same errors, or no file changed as the
/// reports have it. A half-open circuit lets one more through.
fn circuit(previous: &[IterationReport], report: &IterationReport, policy: &BreakerPolicy) -> Circuit {
    let latest = || [report].into_iter().chain(previous.iter().rev());
    let same = latest().take_while(|one| one.errors.same_as(&report.errors)).count();
    let idle = |one: &&IterationReport| one.block.as_ref().is_some_and(|block| block.files == Some(0));
    let idle = latest().take_while(idle).count();
    let trips = [
        (policy.same_error, same, policy.same_error_after),
        (policy.no_progress, idle, policy.no_progress_after),
    ];
    let states = trips.into_iter().map(|(trip, count, after)| {
        let over = count.checked_sub(after as usize);
        match (trip, over) {
            (Trip::Off | Trip::Warn, _) | (_, None) => Circuit::Closed,
            (Trip::HalfOpen, Some(0)) => Circuit::HalfOpen,
            (Trip::Open | Trip::HalfOpen, Some(_)) => Circuit::Open,
        }
    });
    states
        .max_by_key(|state| match state {
            Circuit::Closed => 0,
            Circuit::HalfOpen => 1,
            Circuit::Open => 2,
        })
        .unwrap_or_default()
}

fn decide(
    report: &IterationReport,
    previous: &[IterationReport],
    policy: &Policy,
) -> (&'static str, Vec<Condition>) {
    let context = gate::Context {
        gate: Gate::Explicit,
        indicators: policy.indicators,
        review: false,
        has_test_check: true,
        believes_contradictions: policy.believe_contradictions,
    };
    let words = gate::judge(context, report);
    let count = report.indicators.count;
    let (explicit, hindrance) = match &words {
        Words::Done { why, .. } | Words::More { why } => (why.clone(), "nothing says blocked".into()),
        Words::Blocked { why } => ("says blocked".into(), why.clone()),
        Words::Silence => ("no report".into(), "nothing says blocked".into()),
    };
    let blocked = matches!(words, Words::Blocked { .. });
    let contradiction = gate::contradiction(report);
    let done = matches!(words, Words::Done { .. });
    let believed = done && policy.believe_contradictions;
    let quoted = match &report.indicators.cancelled_by {
        Some(sentence) => format!("{count} of {} needed; cancelled by: {sentence}", policy.indicators),
        None if count == 0 => format!("0 of {} needed", policy.indicators),
        None => format!("{count} of {} needed: {}", policy.indicators, report.indicators.phrases.join("; ")),
    };
    let testing = |report: &IterationReport| {
        report.block.as_ref().is_some_and(|block| block.work_type == Some(WorkType::Testing))
    };
    let tests = 1 + previous.iter().rev().take_while(|report| testing(report)).count();
    let (dual, enough) = (policy.gate == Gate::Dual, count >= policy.indicators);
    let saturates = policy.saturation.test_only != Saturated::Off;
    let saturated = saturates && testing(report) && tests >= policy.saturation.test_only_after as usize;
    let facts_alone = policy.gate == Gate::Evidence;
    let mut conditions = vec![
        Condition { name: "not_blocked", held: !blocked, words: hindrance },
        Condition { name: "explicit_done", held: done, words: explicit },
        Condition {
            name: if believed && contradiction.is_some() { "contradiction_believed" } else { "consistent" },
            // What is believed all the same does not speak against the decision.
            held: contradiction.is_none() || believed,
            words: match contradiction {
                Some(why) if believed => {
                    format!("{why}; profile {} believes EXIT_SIGNAL all the same", policy.profile)
                }
                Some(why) => why,
                None if matches!(words, Words::Silence) => "no report".into(),
                None => "the report does not contradict itself".into(),
            },
        },
    ];
    if dual {
        conditions.push(Condition { name: "completion_indicators", held: enough, words: quoted });
    }
    if facts_alone {
        let words = "this profile asks facts, and a transcript holds none".into();
        conditions.push(Condition { name: "facts", held: false, words });
    }
    if saturates {
        let alone = crate::text::count(if testing(report) { tests as u64 } else { 0 }, "iteration");
        let words =
            format!("{alone} of tests alone; {} in a row saturate", policy.saturation.test_only_after);
        conditions.push(Condition { name: "test_saturation", held: saturated, words });
    }
    let decision = match () {
        () if blocked => "blocked",
        () if done && !facts_alone && (!dual || enough) => "project_complete",
        () if saturated => "test_saturation",
        () => "continue",
    };
    (decision, conditions)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Builder;
    use crate::transcript::Item;

    fn report(status: &str, tests: &str, work: &str, exit: &str) -> IterationReport {
        let mut builder = Builder::default();
        builder.add(Item::Words(format!(
            "---RALPH_STATUS---\nSTATUS: {status}\nTASKS_COMPLETED_THIS_LOOP: 1\nFILES_MODIFIED: 2\nTESTS_STATUS: {tests}\nWORK_TYPE: {work}\nEXIT_SIGNAL: {exit}\nRECOMMENDATION: Continue to US-006\n---END_RALPH_STATUS---"
        )));
        builder.finish()
    }

    fn ask(report: &IterationReport, previous: &[IterationReport], profile: &str) -> Value {
        let policy = crate::profile::profile(profile).expect("a profile").policy();
        let question =
            Question { policy: &policy, format: Format::Text, iteration: 5, at: Time::from_millis(0) };
        analyse(report, previous, question)
    }

    #[test]
    fn seed_002_s_example_has_its_keys_and_values() {
        let json = ask(&report("IN_PROGRESS", "PASSING", "IMPLEMENTATION", "false"), &[], "analyzer");
        assert_eq!(json["iteration"], 5);
        let expected = json!({
            "found": true, "status": "IN_PROGRESS", "tasks_completed": 1, "files_modified": 2,
            "tests_status": "PASSING", "work_type": "IMPLEMENTATION", "exit_signal": false,
            "recommendation": "Continue to US-006",
        });
        assert_eq!(json["ralph_status"], expected);
        assert_eq!(json["exit_decision"], "continue");
        assert_eq!(json["stuck_loop_detected"], false);
        assert_eq!(json["circuit_breaker_state"], "CLOSED");
        assert_eq!(json["completion_indicators"], 0);
    }

    #[test]
    fn without_a_block_every_field_is_there_and_null() {
        let json = ask(&IterationReport::default(), &[], "analyzer");
        let status = json["ralph_status"].as_object().expect("an object");
        assert_eq!(status.len(), 8);
        assert_eq!(status["found"], false);
        assert!(status.iter().all(|(key, value)| key == "found" || value.is_null()), "{status:?}");
        assert_eq!(json["exit_decision"], "continue");
    }

    #[test]
    fn the_decisions_of_seed_002() {
        let decision = |report: &IterationReport, profile: &str| {
            ask(report, &[], profile)["exit_decision"].as_str().expect("a word").to_owned()
        };
        let done = report("COMPLETE", "PASSING", "IMPLEMENTATION", "true");
        assert_eq!(decision(&done, "analyzer"), "project_complete");
        assert_eq!(decision(&done, "default"), "project_complete");
        assert_eq!(decision(&done, "worker"), "continue", "words are not asked");
        assert_eq!(decision(&done, "dual"), "continue", "no completion language beside the block");
        assert_eq!(decision(&report("BLOCKED", "PASSING", "TESTING", "true"), "analyzer"), "blocked");
        let red = report("COMPLETE", "FAILING", "IMPLEMENTATION", "true");
        assert_eq!(decision(&red, "analyzer"), "project_complete", "seed 002 does not look at the tests");
        assert_eq!(decision(&red, "default"), "continue");
        assert_eq!(decision(&report("COMPLETE", "PASSING", "TESTING", "false"), "analyzer"), "continue");
    }

    #[test]
    fn every_profile_says_whether_the_report_contradicts_itself() {
        let red = report("COMPLETE", "FAILING", "IMPLEMENTATION", "true");
        for profile in crate::profile::PROFILES {
            let reasons = ask(&red, &[], profile.name)["reasons"].clone();
            let name = if profile.name == "analyzer" { "contradiction_believed" } else { "consistent" };
            let found = reasons.as_array().into_iter().flatten().find(|reason| reason["condition"] == name);
            let found = found.unwrap_or_else(|| panic!("{}: {reasons}", profile.name));
            assert_eq!(found["held"], profile.name == "analyzer", "{}", profile.name);
            let words = found["words"].as_str().unwrap_or_default();
            assert!(words.starts_with("EXIT_SIGNAL: true contradicts TESTS_STATUS: FAILING"), "{words}");
            assert_eq!(words.contains("believes"), profile.name == "analyzer", "{words}");
        }
        let fine = ask(&report("COMPLETE", "PASSING", "TESTING", "true"), &[], "analyzer");
        assert_eq!(fine["reasons"][2]["held"], true, "{fine}");
    }

    #[test]
    fn each_condition_says_what_it_is_about() {
        let words = |report: &IterationReport, profile: &str, condition: &str| {
            let reasons = ask(report, &[], profile)["reasons"].clone();
            let found =
                reasons.as_array().into_iter().flatten().find(|reason| reason["condition"] == condition);
            found.and_then(|reason| reason["words"].as_str()).unwrap_or_default().to_owned()
        };
        let test = report("IN_PROGRESS", "PASSING", "TESTING", "false");
        assert_eq!(words(&test, "analyzer", "not_blocked"), "nothing says blocked");
        assert_eq!(
            words(&test, "analyzer", "test_saturation"),
            "1 iteration of tests alone; 3 in a row saturate"
        );
        assert_eq!(words(&test, "dual", "completion_indicators"), "0 of 2 needed");
        let blocked = report("BLOCKED", "PASSING", "TESTING", "false");
        assert_eq!(words(&blocked, "analyzer", "not_blocked"), "Continue to US-006");
        assert_eq!(words(&blocked, "analyzer", "explicit_done"), "says blocked");
    }

    #[test]
    fn three_iterations_of_tests_alone_saturate() {
        let test = report("IN_PROGRESS", "PASSING", "TESTING", "false");
        let work = report("IN_PROGRESS", "PASSING", "IMPLEMENTATION", "false");
        let decision =
            |previous: &[IterationReport], profile| ask(&test, previous, profile)["exit_decision"].clone();
        assert_eq!(decision(&[test.clone(), test.clone()], "analyzer"), "test_saturation");
        assert_eq!(decision(&[test.clone(), work, test.clone()], "analyzer"), "continue");
        assert_eq!(decision(&[test.clone(), test.clone()], "default"), "continue");
    }

    #[test]
    fn the_same_errors_in_three_outputs_are_stuck_and_no_errors_are_not() {
        let failing = |text: &str| {
            let mut builder = Builder::default();
            builder.add(Item::ToolFailed(text.into()));
            builder.finish()
        };
        let same = failing("error[E0308]: mismatched types at 3");
        let json = ask(&same, &[same.clone(), failing("error[E0308]: mismatched types at 9")], "analyzer");
        assert_eq!(json["stuck_loop_detected"], true, "{json}");
        let clean = IterationReport::default();
        assert_eq!(ask(&clean, &[clean.clone(), clean.clone()], "analyzer")["stuck_loop_detected"], false);
        let five = ask(&same, &[same.clone(), same.clone(), same.clone(), same.clone()], "analyzer");
        assert_eq!(five["circuit_breaker_state"], "OPEN");
    }

    #[test]
    fn no_reason_speaks_against_its_decision() {
        for profile in crate::profile::PROFILES {
            for status in ["IN_PROGRESS", "COMPLETE", "BLOCKED"] {
                for tests in ["PASSING", "FAILING", "NOT_RUN"] {
                    for exit in ["true", "false"] {
                        let report = report(status, tests, "TESTING", exit);
                        let json = ask(&report, &[report.clone(), report.clone()], profile.name);
                        let reasons = json["reasons"].as_array().cloned().unwrap_or_default();
                        let done = reasons.iter().filter(|reason| reason["condition"] != "test_saturation");
                        let all = done.clone().all(|reason| reason["held"] == true);
                        let complete = json["exit_decision"] == "project_complete";
                        assert_eq!(complete, all, "{}: {json}", profile.name);
                        let believed =
                            done.clone().any(|reason| reason["words"].to_string().contains("believes"));
                        assert!(complete || !believed, "{}: {json}", profile.name);
                    }
                }
            }
        }
    }
}
