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
    assert_eq!(found.count, 0);
    assert!(found.cancelled_by.is_some_and(|sentence| sentence.contains("Next I will")));
}

#[test]
fn what_counted_is_told_in_the_agent_s_words() {
    let found = indicators("All tasks are complete.");
    assert_eq!(found.phrases.len(), 1);
    assert!(found.phrases[0].to_lowercase().contains("all tasks"), "{:?}", found.phrases);
}

proptest::proptest! {
    #[test]
    fn any_words_are_read_without_a_panic(words in "(all tests pass|complete|not |next|`|>|\n|\\. |[ -~]|ä){0,40}") {
        let found = indicators(&words);
        proptest::prop_assert!(found.count as usize <= words.split_whitespace().count());
    }
}
