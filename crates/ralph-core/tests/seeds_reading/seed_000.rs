//! Seed 000: the status block's values and the dual-condition gate.

use ralph_core::report::block::{Status, Tests, WorkType};

use crate::{block, count, decision, read};

#[test]
fn each_status_value_has_its_loop_action() {
    let twice = "Everything is done. All tests pass.\n\n";
    for (status, exit_signal, action) in [
        ("IN_PROGRESS", "false", "continue"),
        ("COMPLETE", "false", "continue"),
        ("COMPLETE", "true", "project_complete"),
        ("BLOCKED", "false", "blocked"),
        ("BLOCKED", "true", "blocked"),
    ] {
        let output = format!("{twice}{}", block(status, "PASSING", exit_signal, "a word"));
        assert_eq!(decision("dual", &output), action, "{status} {exit_signal}");
    }
}

#[test]
fn a_blocked_report_says_what_blocks() {
    let report = read(&block("BLOCKED", "NOT_RUN", "false", "Blocked: no credentials"));
    let block = report.block.expect("a block");
    assert_eq!((block.status, block.exit_signal), (Some(Status::Blocked), false));
    assert_eq!(block.recommendation.as_deref(), Some("Blocked: no credentials"));
}

#[test]
fn every_value_of_every_field_is_read() {
    for (word, status) in
        [("IN_PROGRESS", Status::InProgress), ("COMPLETE", Status::Complete), ("BLOCKED", Status::Blocked)]
    {
        assert_eq!(read(&block(word, "PASSING", "false", "x")).block.and_then(|b| b.status), Some(status));
    }
    for (word, tests) in
        [("PASSING", Tests::Passing), ("FAILING", Tests::Failing), ("NOT_RUN", Tests::NotRun)]
    {
        assert_eq!(read(&block("COMPLETE", word, "false", "x")).block.and_then(|b| b.tests), Some(tests));
    }
    for (word, work) in [
        ("IMPLEMENTATION", WorkType::Implementation),
        ("TESTING", WorkType::Testing),
        ("DOCUMENTATION", WorkType::Documentation),
        ("REFACTORING", WorkType::Refactoring),
    ] {
        let text = block("COMPLETE", "PASSING", "false", "x").replace("IMPLEMENTATION", word);
        assert_eq!(read(&text).block.and_then(|b| b.work_type), Some(work));
    }
    for (word, signal) in [("true", true), ("false", false)] {
        assert_eq!(read(&block("COMPLETE", "PASSING", word, "x")).block.map(|b| b.exit_signal), Some(signal));
    }
    for number in [0, 1, 250] {
        let text = block("COMPLETE", "PASSING", "false", "x");
        let text = text.replace("LOOP: 1", &format!("LOOP: {number}"));
        let found =
            read(&text.replace("MODIFIED: 2", &format!("MODIFIED: {number}"))).block.expect("a block");
        assert_eq!((found.tasks, found.files), (Some(number), Some(number)));
        assert_eq!(found.problems, Vec::<String>::new());
    }
}

#[test]
fn the_gate_s_phrases_of_completion_count() {
    for words in ["All done.", "Everything passes.", "No remaining work."] {
        assert_eq!(count(words), 1, "{words}");
    }
}

#[test]
fn two_phrases_and_the_declaration_are_both_needed() {
    let says = |words: &str, exit_signal: &str| {
        decision("dual", &format!("{words}\n\n{}", block("COMPLETE", "PASSING", exit_signal, "a word")))
    };
    for (words, exit_signal, expected) in [
        ("All done. Everything passes.", "true", "project_complete"),
        ("All done. Everything passes.", "false", "continue"),
        ("All done.", "true", "continue"),
        ("I looked around.", "true", "continue"),
        ("All done.", "false", "continue"),
    ] {
        assert_eq!(says(words, exit_signal), expected, "{words} {exit_signal}");
    }
    assert_eq!(decision("dual", "All done. Everything passes."), "continue", "no declaration");
}

#[test]
fn casual_completion_language_or_done_while_work_goes_on_does_not_end_a_loop() {
    let declared = block("COMPLETE", "PASSING", "true", "a word");
    for words in [
        "The parser is done and the lexer is ready.",
        "I am done with the header. Done reading, too.",
        "All done with step 1. Everything passes so far, next I write the exporter.",
    ] {
        assert_eq!(decision("dual", &format!("{words}\n\n{declared}")), "continue", "{words}");
    }
}

#[test]
fn the_block_s_own_words_are_no_completion_language() {
    let output = block("COMPLETE", "PASSING", "true", "All tasks complete, tests passing, all done");
    assert_eq!(read(&output).indicators.count, 0);
    assert_eq!(decision("dual", &output), "continue");
}

#[test]
fn a_signal_that_the_report_itself_contradicts_is_not_believed() {
    let twice = "All done. Everything passes.\n\n";
    for (status, tests) in [("COMPLETE", "FAILING"), ("COMPLETE", "NOT_RUN"), ("IN_PROGRESS", "PASSING")] {
        let output = format!("{twice}{}", block(status, tests, "true", "a word"));
        assert_eq!(decision("dual", &output), "continue", "{status} {tests}");
    }
}

#[test]
fn without_a_block_nothing_is_declared() {
    let report = read("All done. Everything passes.");
    assert_eq!((report.block, report.sayings.len(), report.indicators.count), (None, 0, 2));
}
