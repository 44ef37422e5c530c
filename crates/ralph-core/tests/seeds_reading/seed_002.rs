//! Seed 002: the analyzer.

use serde_json::json;

use crate::{analyse, block, count, decision, read};

const TWICE: &str = "All tests pass. All stories are complete.\n\n";

#[test]
fn the_four_indicators_of_the_exit_logic_count() {
    for words in ["all tests pass", "all stories complete", "project complete", "nothing left to do"] {
        assert_eq!(count(words), 1, "{words}");
    }
}

#[test]
fn the_completion_patterns_count_whatever_their_case() {
    for words in [
        "All tests pass.",
        "All the stories are now complete.",
        "The project is complete.",
        "Implementation complete.",
        "There is nothing left for me to do.",
        "All tasks completed.",
        "Everything is COMPLETE.",
        "The project is 100% complete.",
    ] {
        for words in [words.to_owned(), words.to_lowercase(), words.to_uppercase()] {
            assert_eq!(count(&words), 1, "{words}");
        }
    }
}

#[test]
fn the_bare_word_complete_counts_only_about_the_whole() {
    for words in ["The lexer is COMPLETE.", "COMPLETE the form first.", "STATUS: COMPLETE"] {
        assert_eq!(count(words), 0, "{words}");
    }
    assert_eq!(count("Everything is COMPLETE."), 1);
}

#[test]
fn the_branches_of_the_exit_logic() {
    let report = |status: &str, exit_signal: &str| block(status, "PASSING", exit_signal, "a word");
    for (branch, words, report, expected) in [
        ("indicators and signal", TWICE, report("COMPLETE", "true"), "project_complete"),
        ("indicators, no signal", TWICE, report("COMPLETE", "false"), "continue"),
        ("signal alone", "", report("COMPLETE", "true"), "project_complete"),
        ("blocked", "", report("BLOCKED", "false"), "blocked"),
        ("blocked beats indicators", TWICE, report("BLOCKED", "false"), "blocked"),
        ("blocked beats the signal", TWICE, report("BLOCKED", "true"), "blocked"),
        ("else", "", report("IN_PROGRESS", "false"), "continue"),
    ] {
        assert_eq!(decision("analyzer", &format!("{words}{report}")), expected, "{branch}");
    }
}

#[test]
fn an_explicit_false_beats_any_completion_language() {
    let words = TWICE.repeat(10);
    let output = format!("{words}{}", block("COMPLETE", "PASSING", "false", "a word"));
    let analysis = analyse("analyzer", &output);
    assert_eq!(
        (&analysis["completion_indicators"], &analysis["exit_decision"]),
        (&json!(20), &json!("continue"))
    );
}

#[test]
fn a_missing_block_leaves_the_heuristics_recorded_and_ends_nothing() {
    let analysis = analyse("analyzer", TWICE);
    assert_eq!(analysis["ralph_status"]["found"], false);
    assert_eq!(analysis["completion_indicators"], 2);
    assert_eq!(analysis["exit_decision"], "continue");
}

#[test]
fn malformed_json_is_read_as_text_and_its_key_fields_are_found() {
    let text = format!("{TWICE}{}", block("COMPLETE", "PASSING", "true", "a word"));
    let escaped = serde_json::to_string(&text).expect("JSON");
    let torn = format!("{{\"type\":\"result\",\"is_error\":false,\"result\":{escaped},\"usa");
    let pretty = format!("{{\n  \"type\": \"result\",\n  \"result\": {escaped}\n}}\n");
    let after = format!("{{\"type\":\"banana\",\n{text}");
    for (name, output) in [("torn", &torn), ("over lines", &pretty), ("before text", &after)] {
        let analysis = analyse("analyzer", output);
        assert_eq!(analysis["ralph_status"]["status"], "COMPLETE", "{name}");
        assert_eq!(analysis["ralph_status"]["tasks_completed"], 1, "{name}");
        assert_eq!(analysis["completion_indicators"], 2, "{name}");
        assert_eq!(analysis["exit_decision"], "project_complete", "{name}");
    }
    let loose = "RALPH_STATUS: {completion_indicators: 3, EXIT_SIGNAL: true,}\nLOOP_COMPLETE";
    assert_eq!(decision("analyzer", loose), "project_complete");
}

#[test]
fn an_ambiguous_exit_signal_is_false() {
    for value in ["maybe", "true or false", "", "1", "true, I think", "tbd"] {
        let output = format!("{TWICE}{}", block("COMPLETE", "PASSING", value, "a word"));
        let analysis = analyse("analyzer", &output);
        assert_eq!(analysis["ralph_status"]["exit_signal"], false, "{value}");
        assert_eq!(analysis["exit_decision"], "continue", "{value}");
    }
}

#[test]
fn of_several_blocks_the_last_is_used() {
    let (done, more) =
        (block("COMPLETE", "PASSING", "true", "b"), block("IN_PROGRESS", "FAILING", "false", "a"));
    assert_eq!(decision("analyzer", &format!("{more}\n\n{done}")), "project_complete");
    let analysis = analyse("analyzer", &format!("{done}\n\n{more}"));
    assert_eq!(analysis["exit_decision"], "continue");
    assert_eq!(analysis["ralph_status"]["tests_status"], "FAILING");
}

#[test]
fn the_analysis_has_the_seed_s_keys_with_their_types() {
    let analysis = analyse("analyzer", &block("IN_PROGRESS", "PASSING", "false", "Continue to US-006"));
    let status = &analysis["ralph_status"];
    for (key, text) in [
        ("status", "IN_PROGRESS"),
        ("tests_status", "PASSING"),
        ("work_type", "IMPLEMENTATION"),
        ("recommendation", "Continue to US-006"),
    ] {
        assert_eq!(status[key], text, "{key}");
    }
    for (key, number) in [("tasks_completed", 1), ("files_modified", 2)] {
        assert_eq!(status[key], number, "{key}");
    }
    assert_eq!((&status["found"], &status["exit_signal"]), (&json!(true), &json!(false)));
    assert_eq!(status.as_object().map(|keys| keys.len()), Some(8));
    assert_eq!(analysis["timestamp"], "1970-01-01T00:00:00.000Z");
    assert_eq!((&analysis["iteration"], &analysis["completion_indicators"]), (&json!(5), &json!(0)));
    assert_eq!(
        (&analysis["exit_decision"], &analysis["stuck_loop_detected"]),
        (&json!("continue"), &json!(false))
    );
    assert_eq!(analysis["circuit_breaker_state"], "CLOSED");
}

#[test]
fn status_complete_alone_ends_nothing() {
    let output = block("COMPLETE", "PASSING", "false", "a word");
    assert_eq!(decision("analyzer", &output), "continue");
}

#[test]
fn the_promise_ends_at_once_and_only_where_it_is_given() {
    assert_eq!(decision("analyzer", "It works.\n\n<promise>COMPLETE</promise>"), "project_complete");
    for words in
        ["<promise>SOON</promise>", "I will print <promise>COMPLETE</promise> when it works.", "COMPLETE"]
    {
        assert_eq!(decision("analyzer", words), "continue", "{words}");
    }
    let more = block("IN_PROGRESS", "PASSING", "false", "a word");
    assert_eq!(decision("analyzer", &format!("{more}\n\n<promise>COMPLETE</promise>")), "continue");
}

#[test]
fn what_blocks_is_handed_on() {
    let analysis = analyse("analyzer", &block("BLOCKED", "NOT_RUN", "false", "Blocked: need a database"));
    assert_eq!(analysis["exit_decision"], "blocked");
    assert_eq!(analysis["ralph_status"]["recommendation"], "Blocked: need a database");
}

#[test]
fn the_template_is_no_report() {
    let template = "---RALPH_STATUS---\nSTATUS: IN_PROGRESS | COMPLETE | BLOCKED\nTASKS_COMPLETED_THIS_LOOP: <number>\n\
        FILES_MODIFIED: <number>\nTESTS_STATUS: PASSING | FAILING | NOT_RUN\n\
        WORK_TYPE: IMPLEMENTATION | TESTING | DOCUMENTATION | REFACTORING\nEXIT_SIGNAL: false | true\n\
        RECOMMENDATION: <one line summary>\n---END_RALPH_STATUS---";
    assert_eq!(read(template).block, None);
    assert_eq!(analyse("analyzer", template)["ralph_status"]["found"], false);
}
