//! Seed 000's field specifications, row by row, and every way to miss its template.

use crate::prelude::*;
use crate::report::form::tests::{EXACT, no_facts, violated, with};
use crate::report::form::{Check, find};

#[test]
fn the_field_specifications() {
    for (row, field, allowed, wrong) in [
        (
            "| STATUS | enum | IN_PROGRESS, COMPLETE, BLOCKED |",
            "STATUS",
            &["IN_PROGRESS", "COMPLETE", "BLOCKED"][..],
            &["complete", "DONE", "IN PROGRESS", "[COMPLETE]", "**COMPLETE**", ""][..],
        ),
        (
            "| TASKS_COMPLETED_THIS_LOOP | integer | 0+ |",
            "TASKS_COMPLETED_THIS_LOOP",
            &["0", "1", "250"],
            &["-1", "+1", "one", "1.5", "1 task", "", "99999999999999999999999"],
        ),
        ("| FILES_MODIFIED | integer | 0+ |", "FILES_MODIFIED", &["0", "12"], &["-3", "~3", "a, b", "3,"]),
        (
            "| TESTS_STATUS | enum | PASSING, FAILING, NOT_RUN |",
            "TESTS_STATUS",
            &["PASSING", "FAILING", "NOT_RUN"],
            &["passing", "PASSED", "NOT RUN", "3 FAILING"],
        ),
        (
            "| WORK_TYPE | enum | IMPLEMENTATION, TESTING, DOCUMENTATION, REFACTORING |",
            "WORK_TYPE",
            &["IMPLEMENTATION", "TESTING", "DOCUMENTATION", "REFACTORING"],
            &["Testing", "DEBUGGING", "TESTING, DOCUMENTATION"],
        ),
        ("| EXIT_SIGNAL | boolean | false, true |", "EXIT_SIGNAL", &["false", "true"], &["True", "yes", "0"]),
    ] {
        for value in allowed {
            assert!(!violated(&with(field, value), &no_facts()).contains(&Check::Format), "{row}: {value}");
        }
        for value in wrong {
            assert!(violated(&with(field, value), &no_facts()).contains(&Check::Format), "{row}: {value}");
        }
    }
    let row = "| RECOMMENDATION | string | Free text (one line only) |";
    for value in ["x", "Next: a: b", "3 tests — häuser"] {
        assert_eq!(violated(&with("RECOMMENDATION", value), &no_facts()), [], "{row}: {value}");
    }
    for value in ["", "a\nb"] {
        assert_eq!(
            violated(&with("RECOMMENDATION", value), &no_facts()),
            [Check::RecommendationPresent],
            "{row}: {value:?}"
        );
    }
}

#[test]
fn format_exact_matches_template_character_for_character_except_values() {
    let lines: Vec<&str> = EXACT.lines().collect();
    let swapped = [&lines[..2], &[lines[3], lines[2]], &lines[4..]].concat().join("\n");
    for (name, text) in [
        ("crlf", EXACT.replace('\n', "\r\n")),
        ("colours", EXACT.replace("STATUS: C", "\u{1b}[1mSTATUS\u{1b}[0m: C")),
        ("quoted", EXACT.lines().map(|line| format!("> {line}\n")).collect()),
        ("indented", EXACT.lines().map(|line| format!("  {line}\n")).collect()),
        ("fenced", format!("```\n{EXACT}\n```\n")),
        (
            "code mark",
            EXACT
                .replace("---RALPH_STATUS---", "```---RALPH_STATUS---")
                .replace("\n---END_RALPH_STATUS---", ""),
        ),
        ("bold", EXACT.replace("EXIT_SIGNAL:", "**EXIT_SIGNAL:**")),
        ("lower case name", EXACT.replace("WORK_TYPE", "Work_Type")),
        ("no space", EXACT.replace("STATUS: COMPLETE", "STATUS:COMPLETE")),
        ("two spaces", EXACT.replace("STATUS: COMPLETE", "STATUS:  COMPLETE")),
        ("space before the colon", EXACT.replace("STATUS: COMPLETE", "STATUS : COMPLETE")),
        ("space at the end", EXACT.replace("PASSING\n", "PASSING \n")),
        ("missing", EXACT.replace("WORK_TYPE: DOCUMENTATION\n", "")),
        ("repeated", EXACT.replace("WORK_TYPE", "WORK_TYPE: TESTING\nWORK_TYPE")),
        ("swapped", swapped),
        ("blank line", EXACT.replace("WORK_TYPE", "\nWORK_TYPE")),
        ("prose", EXACT.replace("WORK_TYPE", "so it is\nWORK_TYPE")),
        ("no end", EXACT.replace("\n---END_RALPH_STATUS---", "")),
        ("no end in a fence", format!("```\n{}\n```\n", EXACT.replace("\n---END_RALPH_STATUS---", ""))),
    ] {
        let found = find(&text).expect("a block").check(&no_facts());
        assert!(!found.is_empty() && found.iter().all(|v| v.check == Check::Format), "{name}: {found:?}");
        assert!(found.len() <= 3 || matches!(name, "quoted" | "indented"), "{name}: {found:?}");
    }
    let surrounded = format!("```\ncode\n```\n{EXACT}\n\n```\nmore\n```\n");
    assert_eq!(violated(&surrounded, &no_facts()), [], "what stands around it is no part of it");
}

#[test]
fn what_cannot_be_seen_is_named_instead_of_shown() {
    for (text, what) in [
        (format!("\u{feff}{EXACT}"), "a byte order mark stands before the block"),
        (EXACT.replace("EXIT_SIGNAL", "EXIT_\u{200b}SIGNAL"), "characters that cannot be seen"),
    ] {
        let found = find(&text).expect("a block").check(&no_facts());
        assert_eq!(found.iter().map(|violation| violation.what.as_str()).collect::<Vec<_>>(), [what]);
    }
}
