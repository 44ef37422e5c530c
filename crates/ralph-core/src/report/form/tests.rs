//! Seed 000's examples, and what is written is what is accepted.

use super::*;

/// The seed's four concrete examples, and whether their RECOMMENDATION follows its own guidelines.
const EXAMPLES: [(&str, &str, bool); 4] = [
    (
        "Example: Typical IN_PROGRESS Status",
        "---RALPH_STATUS---
STATUS: IN_PROGRESS
TASKS_COMPLETED_THIS_LOOP: 1
FILES_MODIFIED: 3
TESTS_STATUS: PASSING
WORK_TYPE: IMPLEMENTATION
EXIT_SIGNAL: false
RECOMMENDATION: Next: implement user authentication middleware
---END_RALPH_STATUS---",
        true,
    ),
    (
        "Example: Completion Status",
        "---RALPH_STATUS---
STATUS: COMPLETE
TASKS_COMPLETED_THIS_LOOP: 1
FILES_MODIFIED: 2
TESTS_STATUS: PASSING
WORK_TYPE: DOCUMENTATION
EXIT_SIGNAL: true
RECOMMENDATION: All tasks complete, tests passing, documentation updated
---END_RALPH_STATUS---",
        true,
    ),
    (
        "Example: Blocked Status",
        "---RALPH_STATUS---
STATUS: BLOCKED
TASKS_COMPLETED_THIS_LOOP: 0
FILES_MODIFIED: 0
TESTS_STATUS: PASSING
WORK_TYPE: IMPLEMENTATION
EXIT_SIGNAL: false
RECOMMENDATION: Blocked: need database credentials for integration test setup
---END_RALPH_STATUS---",
        true,
    ),
    (
        "Example: Test Failure Status",
        "---RALPH_STATUS---
STATUS: IN_PROGRESS
TASKS_COMPLETED_THIS_LOOP: 1
FILES_MODIFIED: 4
TESTS_STATUS: FAILING
WORK_TYPE: TESTING
EXIT_SIGNAL: false
RECOMMENDATION: 3 tests failing in auth module — investigating root cause next iteration
---END_RALPH_STATUS---",
        false,
    ),
];

pub(super) const EXACT: &str = EXAMPLES[1].1;

pub(super) fn no_facts() -> Facts {
    Facts { tests: None, files: None, tasks: Tasks::Untold, todos: None }
}

/// The names of the checks that the text's block does not pass.
pub(super) fn violated(text: &str, facts: &Facts) -> Vec<Check> {
    let mut checks: Vec<Check> =
        find(text).expect("a block").check(facts).iter().map(|violation| violation.check).collect();
    checks.dedup();
    checks
}

/// The completion example with another value.
pub(super) fn with(field: &str, value: &str) -> String {
    let line = |line: &str| match line.split_once(": ") {
        Some((name, _)) if name == field => format!("{name}: {value}\n"),
        _ => format!("{line}\n"),
    };
    EXACT.lines().map(line).collect()
}

#[test]
fn the_concrete_examples_are_valid_and_the_last_one_only_earns_a_warning() {
    for (name, example, follows) in EXAMPLES {
        let found = find(example).expect("a block");
        assert_eq!(found.check(&no_facts()), [], "{name}");
        assert_eq!(found.warning().is_none(), follows, "{name}: {:?}", found.warning());
    }
}

#[test]
fn the_concrete_examples_are_written_character_for_character() {
    let blank = Form {
        status: Status::InProgress,
        tasks: 1,
        files: 3,
        tests: Tests::Passing,
        work_type: WorkType::Implementation,
        exit_signal: false,
        recommendation: "Next: implement user authentication middleware".into(),
    };
    let forms = [
        blank.clone(),
        Form {
            status: Status::Complete,
            files: 2,
            work_type: WorkType::Documentation,
            exit_signal: true,
            recommendation: "All tasks complete, tests passing, documentation updated".into(),
            ..blank.clone()
        },
        Form {
            status: Status::Blocked,
            tasks: 0,
            files: 0,
            recommendation: "Blocked: need database credentials for integration test setup".into(),
            ..blank.clone()
        },
        Form {
            files: 4,
            tests: Tests::Failing,
            work_type: WorkType::Testing,
            recommendation: "3 tests failing in auth module — investigating root cause next iteration".into(),
            ..blank
        },
    ];
    for (form, (name, example, follows)) in forms.iter().zip(EXAMPLES) {
        assert_eq!(form.to_string(), example, "{name}");
        assert_eq!(form.warning().is_none(), follows, "{name}");
    }
}

#[test]
fn the_recommendation_guidelines_warn_and_no_more() {
    for (row, status, follows, other) in [
        ("| IN_PROGRESS | \"Next: [specific next task]\" |", "IN_PROGRESS", "Next: the rest", "the rest"),
        (
            "| COMPLETE | \"All tasks complete, tests passing, [summary]\" |",
            "COMPLETE",
            "All tasks complete, tests passing, it works",
            "it works",
        ),
        ("| BLOCKED | \"Blocked: [specific blocker description]\" |", "BLOCKED", "Blocked: no key", "no key"),
    ] {
        for (words, warned) in [(follows, false), (other, true)] {
            let text = EXAMPLES[0].1.replace("IN_PROGRESS", status);
            let text = text.replace("Next: implement user authentication middleware", words);
            let found = find(&text).expect("a block");
            assert_eq!(found.warning().is_some(), warned, "{row}: {words}");
            assert_eq!(found.check(&no_facts()), [], "{row}: {words}");
        }
    }
}

#[test]
fn a_recommendation_is_one_line_with_something_in_it() {
    for wrong in ["", "  ", "\t", "a\nb", "a\r", "a\u{1b}[1m", "a\u{2028}b", "\n"] {
        assert!(recommendation_fault(wrong).is_some(), "{wrong:?}");
    }
    for right in ["Next: x", "3 tests — häuser", "a\tb", "RECOMMENDATION: x"] {
        assert_eq!(recommendation_fault(right), None, "{right}");
    }
}

proptest::proptest! {
    #[test]
    fn whatever_is_written_is_accepted(
        tasks in 0..u64::MAX,
        files in 0..u64::MAX,
        pick in 0..36usize,
        recommendation in "[ -~äöü—|:\\[\\]]{1,60}",
        around in "(text|```|\n|---END_RALPH_STATUS---\n|> quoted\n){0,5}",
    ) {
        proptest::prop_assume!(recommendation_fault(&recommendation).is_none());
        let status = [Status::InProgress, Status::Blocked, Status::Complete][pick % 3];
        let tests = [Tests::Passing, Tests::Failing, Tests::NotRun][pick / 3 % 3];
        let tests = if status == Status::Complete { Tests::Passing } else { tests };
        let work_types =
            [WorkType::Implementation, WorkType::Testing, WorkType::Documentation, WorkType::Refactoring];
        let form = Form {
            status,
            tasks,
            files,
            tests,
            work_type: work_types[pick / 9],
            exit_signal: status == Status::Complete && pick % 2 == 0,
            recommendation: recommendation.trim().to_owned(),
        };
        let text = std::format!("{around}\n{form}\n");
        let found = find(&text).expect("a block");
        proptest::prop_assert_eq!(found.check(&no_facts()), []);
    }

    #[test]
    fn any_text_is_checked_without_a_panic(words in "(---RALPH_STATUS---|---END_RALPH_STATUS---|EXIT_SIGNAL: true|STATUS:|RECOMMENDATION: x|\n|\r|```|\u{1b}\\[|[ -~]|ä){0,40}") {
        let found = find(&words);
        let read = super::super::block::last(&words).0;
        proptest::prop_assert_eq!(found.is_some(), read.is_some());
        if let Some(found) = found {
            let _ = (found.check(&no_facts()), found.warning());
        }
    }
}
