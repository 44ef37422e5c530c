//! Seed 000's validation checks and anti-patterns, row by row; each row is quoted.

use super::*;
use crate::report::form::tests::{EXACT, no_facts, violated, with};

const REST: &str = "RECOMMENDATION: All tasks complete, tests passing, documentation updated";

#[test]
fn the_validation_checks() {
    let failing = Facts {
        tests: Some(TestsFact { tests: Tests::Failing, run: "cargo test exit 101".into() }),
        ..no_facts()
    };
    let wrong_count =
        Facts { files: Some(FilesFact { names: vec!["a".into()], since: "HEAD".into() }), ..no_facts() };
    let open = Facts { tasks: Tasks::Remain(vec!["write it".into()]), ..no_facts() };
    let more = with("STATUS", "IN_PROGRESS").replace("EXIT_SIGNAL: true", "EXIT_SIGNAL: false");
    let no_signal = EXACT.replace("EXIT_SIGNAL: true\n", "");
    for (row, text, facts, check) in [
        (
            "| Format exact | Matches template character-for-character (except values) |",
            EXACT.replace("STATUS: C", "STATUS:  C"),
            &no_facts(),
            &[Check::Format][..],
        ),
        (
            "| STATUS consistency | COMPLETE requires EXIT_SIGNAL evaluation |",
            no_signal,
            &no_facts(),
            &[Check::Format, Check::StatusConsistency],
        ),
        (
            "| TESTS_STATUS matches reality | Value matches actual test run result |",
            more.clone(),
            &failing,
            &[Check::TestsMatchReality],
        ),
        (
            "| FILES_MODIFIED | Count actual changes |",
            more.clone(),
            &wrong_count,
            &[Check::FilesMatchReality],
        ),
        (
            "| EXIT_SIGNAL justified | true only when all 4 conditions met |",
            EXACT.to_owned(),
            &failing,
            &[Check::TestsMatchReality, Check::ExitSignalJustified],
        ),
        (
            "| EXIT_SIGNAL justified | true only when all 4 conditions met |",
            EXACT.to_owned(),
            &open,
            &[Check::StatusConsistency, Check::ExitSignalJustified],
        ),
        (
            "| RECOMMENDATION present | Non-empty, one line |",
            EXACT.replace(&format!("{REST}\n"), ""),
            &no_facts(),
            &[Check::RecommendationPresent],
        ),
        (
            "| No extra fields | Only the 7 defined fields |",
            EXACT.replace("WORK_TYPE", "MOOD: fine\nWORK_TYPE"),
            &no_facts(),
            &[Check::NoExtraFields],
        ),
    ] {
        assert_eq!(violated(&text, facts), check, "{row}");
    }
    for facts in [&failing, &wrong_count, &open] {
        assert!(!violated(&more, facts).contains(&Check::Format));
    }
    let true_facts = Facts {
        tests: Some(TestsFact { tests: Tests::Passing, run: "true exit 0".into() }),
        files: Some(FilesFact { names: vec!["a".into(), "b".into()], since: "HEAD".into() }),
        tasks: Tasks::None,
        todos: Some(AddedTodos::default()),
    };
    let left = Facts {
        todos: Some(AddedTodos { total: 1, samples: vec!["a.rs: // FIXME".into()] }),
        ..true_facts.clone()
    };
    assert_eq!(violated(EXACT, &left), [Check::ExitSignalJustified], "no meaningful work remains");
    assert_eq!(violated(EXACT, &true_facts), []);
}

#[test]
fn the_anti_patterns() {
    let open = Facts { tasks: Tasks::Remain(vec!["write it".into()]), ..no_facts() };
    let ran = |tests| Facts { tests: Some(TestsFact { tests, run: "make test".into() }), ..no_facts() };
    let counted = Facts { files: Some(FilesFact { names: vec![], since: "HEAD".into() }), ..no_facts() };
    assert!(find("All done.").is_none(), "| Omitting the status block | Every iteration ends with status |");
    for (row, text, facts, check) in [
        (
            "| Setting EXIT_SIGNAL true with failing tests | Verify all 4 conditions |",
            with("TESTS_STATUS", "FAILING"),
            no_facts(),
            Check::ExitSignalJustified,
        ),
        (
            "| Adding custom fields | Only the 7 defined fields |",
            EXACT.replace("EXIT_SIGNAL", "Confidence: high\nEXIT_SIGNAL"),
            no_facts(),
            Check::NoExtraFields,
        ),
        (
            "| Multi-line RECOMMENDATION | One line only |",
            EXACT.replace("updated", "updated\nnote: and more"),
            no_facts(),
            Check::RecommendationPresent,
        ),
        (
            "| TESTS_STATUS without running tests | Actually run the test suite |",
            EXACT.to_owned(),
            ran(Tests::Failing),
            Check::TestsMatchReality,
        ),
        (
            "| STATUS: COMPLETE with tasks remaining | Check IMPLEMENTATION_PLAN.md |",
            with("EXIT_SIGNAL", "false"),
            open,
            Check::StatusConsistency,
        ),
        (
            "| Skipping RECOMMENDATION | Always include actionable recommendation |",
            with("RECOMMENDATION", ""),
            no_facts(),
            Check::RecommendationPresent,
        ),
        (
            "| EXIT_SIGNAL: true when BLOCKED | BLOCKED always has EXIT_SIGNAL: false |",
            with("STATUS", "BLOCKED"),
            no_facts(),
            Check::StatusConsistency,
        ),
        (
            "| Changing the delimiter format | Use ---RALPH_STATUS--- exactly |",
            EXACT.replace("---RALPH_STATUS---", "--- ralph_status ---"),
            no_facts(),
            Check::Format,
        ),
        (
            "| Guessing FILES_MODIFIED | Count actual changes |",
            EXACT.to_owned(),
            counted,
            Check::FilesMatchReality,
        ),
    ] {
        assert!(violated(&text, &facts).contains(&check), "{row}: {:?}", violated(&text, &facts));
    }
    assert!(
        violated(&with("TESTS_STATUS", "NOT_RUN"), &ran(Tests::Passing)).contains(&Check::TestsMatchReality)
    );
}

#[test]
fn the_exact_form_is_valid_and_the_last_report_counts() {
    assert_eq!(violated(EXACT, &no_facts()), []);
    assert_eq!(
        violated(&with("EXIT_SIGNAL", "false"), &no_facts()),
        [],
        "COMPLETE with work left to mention"
    );
    let wrong = with("STATUS", "BLOCKED");
    assert_eq!(violated(&format!("{wrong}\n{EXACT}\n"), &no_facts()), []);
    assert_ne!(violated(&format!("{EXACT}\n{wrong}\n"), &no_facts()), []);
    let template = with("STATUS", "[IN_PROGRESS | COMPLETE | BLOCKED]").replace(": true", ": [false | true]");
    assert_eq!(violated(&format!("{EXACT}\nThe format:\n{template}\n"), &no_facts()), []);
    assert!(find(&template).is_none());
}

#[test]
fn a_violation_is_one_line_that_begins_with_its_check() {
    let text = with("STATUS", "BLOCKED");
    let lines: Vec<_> =
        find(&text).expect("a block").check(&no_facts()).iter().map(|found| found.to_string()).collect();
    assert_eq!(
        lines,
        [
            "status_consistency: EXIT_SIGNAL is true with STATUS BLOCKED",
            "exit_signal_justified: EXIT_SIGNAL is true, but blocked is not complete",
        ]
    );
}
