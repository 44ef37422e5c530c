//! Seed 004: completion language, the JSON report and its markers.

use ralph_core::report::dialects::Vote;

use crate::{analyse, count, decision, read};

const TWICE: &str = "All tasks complete. The project is ready.\n\n";

fn report(exit_signal: bool) -> String {
    format!("RALPH_STATUS: {{\n  \"completion_indicators\": 2,\n  \"EXIT_SIGNAL\": {exit_signal}\n}}\n\n")
}

fn vote(output: &str) -> Option<Vote> {
    read(output).sayings.into_iter().next().map(|saying| saying.vote)
}

#[test]
fn each_word_of_completion_counts_about_the_whole_and_not_about_a_part() {
    for word in ["done", "complete", "finished", "ready", "implemented", "built"] {
        assert_eq!(count(&format!("Everything is {word}.")), 1, "{word}");
        assert_eq!(count(&format!("The login page is {word}.")), 0, "{word}");
    }
}

#[test]
fn each_phrase_of_completion_counts() {
    for words in ["All tasks complete.", "Project ready.", "The phase is finished."] {
        assert_eq!(count(words), 1, "{words}");
    }
}

#[test]
fn each_word_of_further_work_cancels() {
    for words in [
        "Next I write the exporter.",
        "I will continue with the exporter.",
        "There is more work in the exporter.",
        "Remaining: the exporter.",
        "TODO: the exporter.",
    ] {
        let found = read(&format!("{TWICE}{words}")).indicators;
        assert_eq!(found.count, 0, "{words}");
        assert!(found.cancelled_by.is_some(), "{words}");
    }
    assert_eq!(count(TWICE), 2);
}

#[test]
fn fewer_than_two_indicators_are_low_confidence() {
    for (words, expected) in [
        ("I worked on it.", "continue"),
        ("All tasks complete.", "continue"),
        (TWICE, "project_complete"),
        ("All tasks complete. The project is ready. Everything is built.", "project_complete"),
    ] {
        let output = format!("{words}\n\n{}LOOP_COMPLETE", report(true));
        assert_eq!(decision("phases", &output), expected, "{words}");
    }
}

#[test]
fn the_dual_condition_exit_table() {
    for (words, exit_signal, marker, expected) in [
        (TWICE, true, "LOOP_COMPLETE", "project_complete"),
        (TWICE, false, "LOOP_CONTINUE", "continue"),
        ("All tasks complete.\n\n", true, "LOOP_COMPLETE", "continue"),
        ("I worked on it.\n\n", false, "LOOP_CONTINUE", "continue"),
    ] {
        let output = format!("{words}{}{marker}\n", report(exit_signal));
        assert_eq!(decision("phases", &output), expected, "{words} {exit_signal}");
    }
}

#[test]
fn the_agent_s_own_number_does_not_decide() {
    let boast = report(true).replace(": 2", ": 9");
    let analysis = analyse("phases", &format!("I worked on it.\n\n{boast}LOOP_COMPLETE"));
    assert_eq!(
        (analysis["completion_indicators"].as_u64(), analysis["exit_decision"].as_str()),
        (Some(0), Some("continue"))
    );
}

#[test]
fn the_example_that_moves_on_continues_and_the_one_that_is_ready_exits() {
    let moving = format!("Phase complete, moving to next feature\n\n{}LOOP_CONTINUE", report(false));
    assert_eq!(decision("phases", &moving), "continue");
    let ready = format!("All tasks complete, project ready\n\n{}LOOP_COMPLETE", report(true));
    assert_eq!(decision("phases", &ready), "project_complete");
}

#[test]
fn each_marker_is_read_with_its_report() {
    for (marker, expected) in [
        ("LOOP_COMPLETE_PHASE_1", Vote::Done { phase: Some(1) }),
        ("LOOP_COMPLETE_PHASE_2", Vote::Done { phase: Some(2) }),
        ("LOOP_COMPLETE_PHASE_3", Vote::Done { phase: Some(3) }),
        ("LOOP_COMPLETE", Vote::Done { phase: None }),
        ("LOOP_BLOCKED: no database", Vote::Blocked { why: "no database".into() }),
        ("LOOP_CONTINUE", Vote::More),
    ] {
        assert_eq!(vote(&format!("{TWICE}{}{marker}\n", report(true))), Some(expected), "{marker}");
    }
}

#[test]
fn a_complete_marker_against_a_false_signal_or_without_a_report_continues() {
    for marker in ["LOOP_COMPLETE", "LOOP_COMPLETE_PHASE_1", "LOOP_COMPLETE_PHASE_2", "LOOP_COMPLETE_PHASE_3"]
    {
        assert_eq!(vote(&format!("{TWICE}{}{marker}\n", report(false))), Some(Vote::More), "{marker}");
        assert_eq!(vote(&format!("{TWICE}{marker}\n")), Some(Vote::More), "{marker}");
    }
}

#[test]
fn blocked_is_blocked_whatever_the_signal() {
    for exit_signal in [true, false] {
        let output = format!("{TWICE}{}LOOP_BLOCKED: the schema is missing", report(exit_signal));
        assert_eq!(decision("phases", &output), "blocked");
    }
    assert_eq!(decision("phases", "LOOP_BLOCKED: the schema is missing"), "blocked");
}

#[test]
fn an_agent_s_reasons_for_an_open_circuit_are_read_whole() {
    for reason in [
        "circuit_breaker_open",
        "circuit_breaker_open - no_progress: 3 iterations with no file changes",
        "circuit_breaker_open - same_error: 5 iterations with error: no such table",
        "circuit_breaker_open - output_decline: output declined by 80%",
    ] {
        assert_eq!(vote(&format!("LOOP_BLOCKED: {reason}")), Some(Vote::Blocked { why: reason.into() }));
    }
}

#[test]
fn the_template_of_the_output_format_is_no_report() {
    let template = "RALPH_STATUS: {\n  \"completion_indicators\": N,\n  \"EXIT_SIGNAL\": true/false\n}\n\nLOOP_BLOCKED: [specific reason]";
    assert_eq!(vote(template), None);
}
