//! Rules one by one; `tests/*.txt` hold one message a line (`\\n` for a line end), `#` for a comment.

use super::*;

fn count(words: &str) -> u32 {
    indicators(words).count
}

#[test]
fn phrases_about_the_whole_count_and_each_stretch_once() {
    for words in [
        "All tests pass.",
        "All stories are complete.",
        "The project is complete.",
        "There is nothing left to do.",
        "All tasks completed.",
        "No remaining work.",
        "Everything is done.",
        "100% complete.",
    ] {
        assert_eq!(count(words), 1, "{words}");
    }
    assert_eq!(count("All tasks are complete. All tests pass."), 2);
}

#[test]
fn what_is_negated_conditional_partial_future_or_asked_does_not_count() {
    for words in [
        "The project is not complete.",
        "The work is incomplete.",
        "Once all tests pass, I will tidy up.",
        "3 of 7 stories complete.",
        "It will be done tomorrow.",
        "Is everything done?",
        "The function is done.",
    ] {
        assert_eq!(count(words), 0, "{words}");
    }
}

#[test]
fn blocks_code_quotation_and_markers_are_not_prose() {
    for words in [
        "---RALPH_STATUS---\nSTATUS: COMPLETE\nRECOMMENDATION: All tasks complete\n---END_RALPH_STATUS---",
        "`all tests pass`",
        "```\nall tests pass\n```",
        "> All tests pass.",
        "LOOP_COMPLETE",
        "<promise>COMPLETE</promise>",
        "- [ ] All tests pass",
    ] {
        assert_eq!(count(words), 0, "{words}");
    }
}

#[test]
fn a_sentence_that_announces_further_work_cancels_and_is_quoted() {
    let found = indicators("All tests pass. Next I will add the export.");
    assert_eq!((found.count, found.phrases.len()), (0, 0));
    assert!(found.cancelled_by.is_some_and(|sentence| sentence.contains("Next I will")));
}

#[test]
fn what_counted_is_told_in_the_agent_s_words() {
    let found = indicators("All tasks are complete.");
    assert_eq!(found.phrases.len(), 1);
    assert!(found.phrases[0].to_lowercase().contains("all tasks"), "{:?}", found.phrases);
}

fn messages(lines: &str) -> impl Iterator<Item = String> {
    lines.lines().filter(|line| !line.starts_with('#')).map(|line| line.replace("\\n", "\n"))
}

#[test]
fn every_message_of_the_counted_list_counts() {
    for words in messages(include_str!("tests/counted.txt")) {
        let found = indicators(&words);
        assert!(found.count >= 1, "{words:?}: {found:?}");
    }
}

#[test]
fn no_message_of_the_refused_list_counts() {
    for words in messages(include_str!("tests/refused.txt")) {
        let found = indicators(&words);
        assert_eq!(found.count, 0, "{words:?}: {found:?}");
    }
}

#[test]
fn a_label_with_none_behind_it_announces_nothing() {
    assert_eq!(count("Next steps: none. The project is complete."), 1);
    assert_eq!(count("## Next steps\n\nNone. The project is complete."), 1);
    assert_eq!(count("## Next steps\n\nThe exporter. The project is complete."), 0);
}

#[test]
fn an_open_box_is_further_work_and_a_ticked_one_is_a_statement() {
    assert_eq!(count("- [x] lexer\n- [x] all tests pass"), 1);
    let found = indicators("All tests pass.\n\n- [ ] write the docs");
    assert_eq!((found.count, found.cancelled_by.as_deref()), (0, Some("write the docs")));
}

#[test]
fn a_heading_or_lead_in_tells_whose_words_follow() {
    assert_eq!(count("Acceptance criteria:\n- all tests pass"), 0);
    assert_eq!(count("The old notes claimed:\n- all tests pass"), 0);
    assert_eq!(count("Verification:\n- all tests pass"), 1);
}

#[test]
fn quotation_marks_hide_what_they_quote_and_apostrophes_hide_nothing() {
    for quoted in ["“All done”", "\"all done\"", "«All done»", "„All done“", "'all done'", "‘all done’"]
    {
        assert_eq!(count(&format!("The toast shows {quoted} now.")), 0, "{quoted}");
    }
    assert_eq!(count("The users' data is safe, it's all done, that's the users' gain."), 1);
}

#[test]
fn colours_and_line_ends_of_other_systems_change_nothing() {
    assert_eq!(count("\u{1b}[32mAll tests\u{1b}[0m pass.\r\nThe project\r\nis complete.\r\n"), 2);
}

#[test]
fn a_block_without_its_end_line_ends_at_a_gap() {
    let block = "---RALPH_STATUS---\nSTATUS: COMPLETE\nRECOMMENDATION: All tasks complete";
    assert_eq!(count(&format!("{block}\n\nAll tests pass.")), 1);
    assert_eq!(count("RALPH_STATUS: {\n\"note\": \"x\"\n}\nAll tests pass."), 1);
}

#[test]
fn what_is_kept_is_bounded() {
    let found = indicators(&"All tests pass.\n\n".repeat(1000));
    assert_eq!((found.count, found.phrases.len()), (1000, 20));
    let long = format!("All tests pass. Next: {}", "x".repeat(100_000));
    assert!(indicators(&long).cancelled_by.is_some_and(|line| line.len() < 300));
}

fn words_in(text: &str) -> usize {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).count()
}

proptest::proptest! {
    #[test]
    fn any_text_is_read_without_a_panic(words in "\\PC{0,200}|(\\PC|\\s){0,200}") {
        let found = indicators(&words);
        proptest::prop_assert!(found.count as usize <= words_in(&words));
    }

    #[test]
    fn any_words_are_read_without_a_panic(words in "(all tests pass|complete|not |next|`|>|\n|\\. |[ -~]|ä){0,40}") {
        let found = indicators(&words);
        proptest::prop_assert!(found.count as usize <= words.split_whitespace().count());
    }
}
