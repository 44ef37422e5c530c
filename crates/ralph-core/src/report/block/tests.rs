use super::*;

const EXACT: &str = "---RALPH_STATUS---
STATUS: COMPLETE
TASKS_COMPLETED_THIS_LOOP: 1
FILES_MODIFIED: 2
TESTS_STATUS: PASSING
WORK_TYPE: DOCUMENTATION
EXIT_SIGNAL: true
RECOMMENDATION: All tasks complete, tests passing, documentation updated
---END_RALPH_STATUS---";

fn block(words: &str) -> Block {
    last(words).0.expect("a block")
}

#[test]
fn the_exact_form_has_no_problems() {
    let block = block(EXACT);
    assert_eq!(block.status, Some(Status::Complete));
    assert_eq!((block.tasks, block.files), (Some(1), Some(2)));
    assert_eq!(block.tests, Some(Tests::Passing));
    assert_eq!(block.work_type, Some(WorkType::Documentation));
    assert!(block.exit_signal);
    assert_eq!(
        block.recommendation.as_deref(),
        Some("All tasks complete, tests passing, documentation updated")
    );
    assert_eq!(block.verbatim, EXACT);
    assert_eq!(block.problems, Vec::<String>::new());
}

fn each_line(change: impl Fn(&str) -> String) -> String {
    EXACT.lines().map(|line| change(line) + "\n").collect()
}

/// Everything that SPEC 3 has read all the same, and named.
#[test]
fn decoration_is_read_all_the_same_and_named() {
    for (name, words, problem) in [
        ("no end", EXACT.replace("\n---END_RALPH_STATUS---", ""), "missing end line"),
        ("crlf", EXACT.replace('\n', "\r\n"), "CRLF line ends"),
        ("colours", EXACT.replace("STATUS: C", "\u{1b}[1mSTATUS\u{1b}[0m: C"), "terminal escape codes"),
        ("fence", format!("Here:\n```\n{EXACT}\n```\n"), "code fence"),
        ("fence of its own kind", format!("~~~text\n{EXACT}\n~~~"), "code fence"),
        ("fence inside", EXACT.replace("STATUS: C", "```\nSTATUS: C"), "code fence"),
        ("fence and no end", format!("```\n{}\n```", EXACT.replace(END, "")), "code fence"),
        ("quoted fence", format!("> ```\n{}> ```\n", each_line(|l| format!("> {l}"))), "code fence"),
        ("quoted", each_line(|l| format!("> {l}")), "quote marks"),
        ("quoted delimiter", EXACT.replace(BEGIN, "\"---RALPH_STATUS---\""), "quote marks"),
        ("quoted fields", EXACT.replace("STATUS: COM", "> STATUS: COM"), "quote marks"),
        ("quoted value", EXACT.replace(": true", ": \"true\""), "quote marks"),
        ("indented", each_line(|l| format!("    {l}")), "indentation"),
        ("indented field", EXACT.replace("WORK_TYPE", "\tWORK_TYPE"), "indentation"),
        ("indented end", EXACT.replace(END, "  ---END_RALPH_STATUS---"), "indentation"),
        ("bold name", EXACT.replace("EXIT_SIGNAL: true", "**EXIT_SIGNAL**: true"), "bold"),
        ("bold with colon", EXACT.replace("EXIT_SIGNAL: true", "**EXIT_SIGNAL:** true"), "bold"),
        ("bold delimiter", EXACT.replace(BEGIN, "**---RALPH_STATUS---**"), "bold"),
        ("bold value", EXACT.replace(": true", ": **true**"), "decorated value of EXIT_SIGNAL"),
        ("code", EXACT.replace(": true", ": `true`"), "code marks"),
        ("list", EXACT.replace("EXIT_SIGNAL", "- EXIT_SIGNAL"), "list marks"),
        ("lower case", EXACT.replace("COMPLETE\n", "complete\n"), "STATUS is not in upper case"),
        ("lower name", EXACT.replace("WORK_TYPE", "work_type"), "the name WORK_TYPE is not in upper case"),
        ("lower delimiter", EXACT.replace(BEGIN, "---ralph_status---"), "a delimiter is not in upper case"),
        ("True", EXACT.replace(": true", ": True"), "EXIT_SIGNAL is not in lower case"),
        ("spaces", EXACT.replace(BEGIN, "--- RALPH_STATUS ---"), "spaces in a delimiter"),
        (
            "space before the colon",
            EXACT.replace("WORK_TYPE:", "WORK_TYPE :"),
            "spaces around the colon or the value of WORK_TYPE",
        ),
        (
            "no space",
            EXACT.replace("EXIT_SIGNAL: ", "EXIT_SIGNAL:"),
            "spaces around the colon or the value of EXIT_SIGNAL",
        ),
        (
            "space at the end",
            EXACT.replace("true", "true "),
            "spaces around the colon or the value of EXIT_SIGNAL",
        ),
        ("missing", EXACT.replace("FILES_MODIFIED: 2\n", ""), "missing field FILES_MODIFIED"),
        ("extra", EXACT.replace("WORK_TYPE", "MOOD: fine\nWORK_TYPE"), "unknown field MOOD"),
        (
            "repeated",
            EXACT.replace("FILES_MODIFIED", "FILES_MODIFIED: 9\nFILES_MODIFIED"),
            "repeated field FILES_MODIFIED",
        ),
        (
            "over the line",
            EXACT.replace("documentation", "\nand documentation"),
            "a value runs over the line",
        ),
    ] {
        let block = block(&words);
        assert!(block.exit_signal, "{name}: {block:?}");
        assert_eq!(block.status, Some(Status::Complete), "{name}");
        assert!(block.problems.iter().any(|p| p == problem), "{name}: {:?}", block.problems);
        assert!(last(&words).1.iter().any(|p| p == problem), "{name}: named outside the block too");
    }
}

#[test]
fn a_fence_that_was_closed_before_the_block_is_not_around_it() {
    let words = format!("```\ncode\n```\n\n{EXACT}\n\n```\nmore\n```\n");
    assert_eq!(block(&words).problems, Vec::<String>::new());
}

#[test]
fn a_word_that_is_odd_is_named_for_what_it_is() {
    let spaced = EXACT.replace("STATUS: COMPLETE", "STATUS: IN PROGRESS");
    assert_eq!(block(&spaced).problems, ["STATUS has no underscore between its words"]);
    let unknown = EXACT.replace("STATUS: COMPLETE", "STATUS: ALMOST");
    assert_eq!(block(&unknown).problems, ["unknown value of STATUS: ALMOST"]);
    let odd = block(&EXACT.replace(": true", ": perhaps"));
    assert_eq!((odd.exit_signal, odd.odd_signal.as_deref()), (false, Some("perhaps")));
}

#[test]
fn a_missing_field_is_named_and_nothing_is_made_up() {
    let block = block("---RALPH_STATUS---\nEXIT_SIGNAL: true\n---END_RALPH_STATUS---");
    assert_eq!(block.status, None);
    assert_eq!(block.tests, None);
    assert!(block.problems.iter().any(|p| p == "missing field STATUS"));
}

#[test]
fn templates_are_not_reports() {
    let seed = "---RALPH_STATUS---
STATUS: [IN_PROGRESS | COMPLETE | BLOCKED]
TASKS_COMPLETED_THIS_LOOP: [number]
FILES_MODIFIED: [number]
TESTS_STATUS: [PASSING | FAILING | NOT_RUN]
WORK_TYPE: [IMPLEMENTATION | TESTING | DOCUMENTATION | REFACTORING]
EXIT_SIGNAL: [false | true]
RECOMMENDATION: [one-line summary of next action or completion state]
---END_RALPH_STATUS---";
    let analyzer = seed.replace(['[', ']'], "").replace("number", "<number>");
    for template in [seed, &analyzer] {
        let (block, problems) = last(template);
        assert_eq!(block, None);
        assert_eq!(problems, ["only the template of a status block, not a report"]);
    }
    let both = format!("{EXACT}\n\nThe format was:\n\n{seed}\n");
    assert!(block(&both).exit_signal, "the real block before a quoted template counts");
}

#[test]
fn the_last_of_several_counts() {
    let more = EXACT.replace("EXIT_SIGNAL: true", "EXIT_SIGNAL: false").replace("COMPLETE", "IN_PROGRESS");
    assert!(!block(&format!("{EXACT}\ntext\n{more}\n")).exit_signal);
    assert!(block(&format!("{more}\ntext\n{EXACT}\n")).exit_signal);
}

#[test]
fn brackets_left_around_values_are_decoration_and_never_hide_a_report() {
    let kept: String = EXACT
        .lines()
        .map(|line| match line.split_once(": ") {
            Some((name, value)) => format!("{name}: [{value}]\n"),
            None => format!("{line}\n"),
        })
        .collect();
    assert!(block(&kept).exit_signal);
    assert_eq!(block(&kept).tasks, Some(1));
    let more = EXACT.replace("EXIT_SIGNAL: true", "EXIT_SIGNAL: false").replace("LOOP: 1", "LOOP: [number]");
    assert!(!block(&format!("{EXACT}\n{more}")).exit_signal, "the newer report counts, odd as it is");
    let unfilled = EXACT.replace("EXIT_SIGNAL: true", "EXIT_SIGNAL: [false | true]");
    assert!(!block(&format!("{EXACT}\n{unfilled}")).exit_signal, "half a template is a bad report");
}

#[test]
fn of_repeated_values_the_worst_counts_and_unknown_ones_are_kept() {
    let twice = EXACT.replace("STATUS: COMPLETE", "STATUS: BLOCKED\nSTATUS: COMPLETE");
    assert_eq!(block(&twice).status, Some(Status::Blocked));
    assert_eq!(block(&EXACT.replace("PASSING\nW", "MOSTLY\nW")).tests, Some(Tests::Unknown));
    assert_eq!(block(&EXACT.replace("COMPLETE\n", "ALMOST\n")).status, Some(Status::Unknown));
}

#[test]
fn a_block_of_many_blank_lines_is_read_in_one_pass() {
    let words = format!("{BEGIN}\nSTATUS: IN_PROGRESS\n{}EXIT_SIGNAL: false\n{END}", "\n".repeat(200_000));
    assert_eq!(block(&words).status, Some(Status::InProgress));
}

#[test]
fn only_a_plain_true_is_an_exit_signal() {
    for value in ["1", "true?", "true (almost)", "not true", "TRUEISH", "", "false"] {
        let words = EXACT.replace("EXIT_SIGNAL: true", &format!("EXIT_SIGNAL: {value}"));
        assert!(!block(&words).exit_signal, "{value}");
    }
    let twice = EXACT.replace("EXIT_SIGNAL: true", "EXIT_SIGNAL: true\nEXIT_SIGNAL: false");
    assert!(!block(&twice).exit_signal);
    let twice = EXACT.replace("EXIT_SIGNAL: true", "EXIT_SIGNAL: false\nEXIT_SIGNAL: true");
    assert!(!block(&twice).exit_signal);
}

#[test]
fn prose_about_the_block_is_not_one() {
    for words in
        ["I would set EXIT_SIGNAL: true here.", "EXIT_SIGNAL: true", "see ---RALPH_STATUS--- in the docs", ""]
    {
        assert_eq!(last(words).0, None, "{words}");
    }
}

#[test]
fn prose_after_an_unfinished_block_is_not_part_of_it() {
    let words = "---RALPH_STATUS---\nSTATUS: IN_PROGRESS\nEXIT_SIGNAL: false\n\nI will go on with EXIT_SIGNAL: true later.";
    let block = block(words);
    assert!(!block.exit_signal);
    assert_eq!(block.status, Some(Status::InProgress));
}

#[test]
fn a_frame_with_nothing_in_it_is_no_report_and_is_named() {
    let words =
        format!("{EXACT}\n\nI wrote it between\n`---RALPH_STATUS---`\n`---END_RALPH_STATUS---`\nas asked.\n");
    let (found, problems) = last(&words);
    assert!(found.is_some_and(|block| block.exit_signal));
    assert_eq!(problems, ["a status block without any field is no report"]);
    let (found, problems) = last("between\n`---RALPH_STATUS---`\nand\n`---END_RALPH_STATUS---`");
    assert_eq!(found, None);
    assert_eq!(problems, ["a status block without any field is no report"]);
}

#[test]
fn templates_are_known_however_their_choices_are_written() {
    for (status, signal) in [
        ("IN_PROGRESS|COMPLETE|BLOCKED", "true|false"),
        ("COMPLETE|BLOCKED", "false|true"),
        ("[COMPLETE|BLOCKED]", "[true|false]"),
        ("IN_PROGRESS/COMPLETE", "true/false"),
        ("...", "..."),
        ("…", "…"),
        ("{status}", "{true or false}"),
    ] {
        let template =
            EXACT.replace(": COMPLETE", &format!(": {status}")).replace(": true", &format!(": {signal}"));
        assert_eq!(last(&template).1, ["only the template of a status block, not a report"], "{status}");
        assert!(block(&format!("{EXACT}\n\nThe form was:\n{template}")).exit_signal, "{status}");
        let half = EXACT.replace(": true", &format!(": {signal}"));
        assert!(!block(&format!("{EXACT}\n{half}")).exit_signal, "half a template is a bad report: {signal}");
    }
}

#[test]
fn a_signal_with_something_invisible_in_its_line_is_not_plainly_true() {
    for hidden in ["tr\u{200b}ue", "\u{2060}true", "true\u{feff}", "tr\0ue"] {
        let block = block(&EXACT.replace("true", hidden));
        assert!(!block.exit_signal, "{hidden:?}");
        for problem in ["invisible characters", "EXIT_SIGNAL is not plainly true or false"] {
            assert!(block.problems.iter().any(|p| p == problem), "{hidden:?}: {:?}", block.problems);
        }
        assert!(block.odd_signal.is_some(), "{hidden:?}");
    }
    let elsewhere = block(&EXACT.replace("updated", "up\u{200b}dated"));
    assert!(elsewhere.exit_signal);
    assert_eq!(elsewhere.problems, ["invisible characters"]);
    assert_eq!(block(&format!("\u{200b}before\n{EXACT}\nafter\u{200b}")).problems, Vec::<String>::new());
}

#[test]
fn a_longer_fence_around_a_shorter_one_is_still_open() {
    let words = format!("````\n```\ncode\n```\n{EXACT}\n````\n");
    assert_eq!(block(&words).problems, ["code fence"]);
}

proptest::proptest! {
    #[test]
    fn any_text_is_read_without_a_panic(words in "(---RALPH_STATUS---|---END_RALPH_STATUS---|EXIT_SIGNAL: true|STATUS:|\n|\u{1b}\\[|[ -~]|ä){0,40}") {
        let _ = last(&words);
    }
}

#[test]
fn a_block_that_shares_a_line_with_words_is_read_and_named() {
    let begins = "the block begins in the middle of a line";
    let one_line = EXACT.replace('\n', " ");
    for (words, problem) in [
        (format!("All tests pass, no failures. {EXACT}"), begins),
        (format!("Here is the report: {EXACT}"), begins),
        (format!("Done.{EXACT}\nThanks!"), begins),
        (format!("Here it is: {one_line}"), begins),
        (one_line, begins),
        (EXACT.replacen('\n', " ", 1), begins),
        (EXACT.replace("\n---END", " ---END"), "the end of the block shares its line"),
        (format!("{EXACT} Thank you."), "the end of the block shares its line"),
    ] {
        let block = block(&words);
        assert!(block.exit_signal, "{words}: {block:?}");
        assert_eq!((block.status, block.tests), (Some(Status::Complete), Some(Tests::Passing)), "{words}");
        assert_eq!(block.files, Some(2), "{words}");
        assert!(block.problems.iter().any(|found| found == problem), "{words}: {:?}", block.problems);
        let told = block.recommendation.unwrap_or_default();
        assert_eq!(told, "All tasks complete, tests passing, documentation updated", "{words}");
    }
}

#[test]
fn a_block_that_a_sentence_only_speaks_of_is_not_read() {
    let (read, problems) = last(&format!("When all is done I will end with {EXACT}\nI am not there yet."));
    assert_eq!(read, None);
    assert_eq!(problems, ["a status block begins in a sentence that puts it off, so it was not read"]);
    for words in [
        "The prompt asks for a ---RALPH_STATUS--- block.\nIt has seven fields.",
        "It stands in `---RALPH_STATUS---`\nSTATUS: COMPLETE\nEXIT_SIGNAL: true",
        "Between ---RALPH_STATUS--- and ---END_RALPH_STATUS--- there are seven fields.",
    ] {
        assert_eq!(last(words), (None, vec![]), "{words}");
    }
    let own = block(&format!("{EXACT}\nThat was the ---RALPH_STATUS--- block."));
    assert_eq!(own.problems, Vec::<String>::new());
}

#[test]
fn other_words_for_the_same_are_read_and_named() {
    for (from, to, problem) in [
        ("COMPLETE\nT", "COMPLETED\nT", "STATUS: COMPLETED was read as COMPLETE"),
        ("COMPLETE\nT", "DONE\nT", "STATUS: DONE was read as COMPLETE"),
        ("PASSING", "PASSED", "TESTS_STATUS: PASSED was read as PASSING"),
        ("PASSING", "PASSING (12/12)", "TESTS_STATUS: PASSING (12/12) was read as PASSING"),
        (": true", ": true.", "EXIT_SIGNAL: true. was read as true"),
        (": true", ": yes", "EXIT_SIGNAL: yes was read as true"),
        ("DOCUMENTATION", "DOCS", "WORK_TYPE: DOCS was read as DOCUMENTATION"),
        ("MODIFIED: 2", "MODIFIED: 2 files", "FILES_MODIFIED is not a number alone"),
    ] {
        let read = block(&EXACT.replace(from, to));
        let exact = Block { problems: vec![], verbatim: EXACT.into(), ..read.clone() };
        assert_eq!(exact, block(EXACT), "{to}");
        assert_eq!(read.problems, [problem]);
    }
}
