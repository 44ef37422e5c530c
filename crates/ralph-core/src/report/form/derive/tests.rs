//! Seed 000's decision tables, row by row; each row is quoted.

use super::*;

fn open() -> Tasks {
    Tasks::Remain(vec!["write it".into()])
}

fn situation(tasks: Tasks, tests: Tests) -> Situation {
    Situation { blocked: false, tasks, tests, errors: false, more_work: false }
}

#[test]
fn the_status_decision_table() {
    let blocked = |tasks, tests| Situation { blocked: true, ..situation(tasks, tests) };
    for (row, cases, expected, exit) in [
        (
            "| Tasks remain, work completed this iteration | IN_PROGRESS | false |",
            vec![situation(open(), Tests::Passing), situation(open(), Tests::Failing)],
            Status::InProgress,
            false,
        ),
        (
            "| Tasks remain, no work completed (investigation) | IN_PROGRESS | false |",
            vec![situation(open(), Tests::NotRun)],
            Status::InProgress,
            false,
        ),
        (
            "| Cannot proceed, needs external input | BLOCKED | false |",
            vec![blocked(open(), Tests::NotRun), blocked(Tasks::None, Tests::Passing)],
            Status::Blocked,
            false,
        ),
        (
            "| All tasks complete, all tests pass | COMPLETE | Evaluate Phase 3 |",
            vec![situation(Tasks::None, Tests::Passing)],
            Status::Complete,
            true,
        ),
        (
            "| All tasks complete, tests failing | IN_PROGRESS | false |",
            vec![situation(Tasks::None, Tests::Failing)],
            Status::InProgress,
            false,
        ),
    ] {
        for case in cases {
            assert_eq!(status(&case), expected, "{row}: {case:?}");
            assert_eq!(exit_signal(status(&case), &case), exit, "{row}: {case:?}");
        }
    }
}

#[test]
fn the_exit_signal_decision_table() {
    let any_tests = [Tests::Passing, Tests::Failing, Tests::NotRun, Tests::Unknown];
    let any = [false, true];
    for (row, tasks, tests, errors, more_work, expected) in [
        ("| Yes | Any | Any | Any | false |", open(), &any_tests[..], &any[..], &any[..], false),
        ("| No | FAILING | Any | Any | false |", Tasks::None, &[Tests::Failing], &any, &any, false),
        ("| No | PASSING | Yes | Any | false |", Tasks::None, &[Tests::Passing], &[true], &any, false),
        ("| No | PASSING | No | Yes | false |", Tasks::None, &[Tests::Passing], &[false], &[true], false),
        ("| No | PASSING | No | No | true |", Tasks::None, &[Tests::Passing], &[false], &[false], true),
    ] {
        for tests in tests {
            for errors in errors {
                for more_work in more_work {
                    let case = Situation {
                        errors: *errors,
                        more_work: *more_work,
                        ..situation(tasks.clone(), *tests)
                    };
                    assert_eq!(exit_signal(Status::Complete, &case), expected, "{row}: {case:?}");
                    assert!(!exit_signal(Status::Blocked, &case), "BLOCKED always has EXIT_SIGNAL: false");
                    assert!(!exit_signal(Status::InProgress, &case), "{case:?}");
                }
            }
        }
    }
}

#[test]
fn tests_that_were_not_run_do_not_complete_anything() {
    let case = situation(Tasks::None, Tests::NotRun);
    assert_eq!(status(&case), Status::InProgress);
    assert!(!exit_signal(Status::Complete, &case));
}

#[test]
fn where_no_plan_tells_only_a_claim_completes() {
    let case = situation(Tasks::Untold, Tests::Passing);
    assert_eq!(status(&case), Status::InProgress);
    assert_eq!(contradictions(Status::Complete, &case), Vec::<String>::new());
    assert!(exit_signal(Status::Complete, &case));
}

#[test]
fn each_contradiction_is_named_and_less_may_always_be_claimed() {
    let worst = Situation { blocked: true, ..situation(open(), Tests::Failing) };
    assert_eq!(
        contradictions(Status::Complete, &worst),
        [
            "COMPLETE with tasks remaining: 1 open item in the plan: write it",
            "COMPLETE needs passing tests: TESTS_STATUS is FAILING",
            "COMPLETE with a RECOMMENDATION that says blocked",
        ]
    );
    assert_eq!(contradictions(Status::Complete, &situation(Tasks::None, Tests::NotRun)).len(), 1);
    let best = situation(Tasks::None, Tests::Passing);
    for claimed in [Status::Complete, Status::InProgress, Status::Blocked] {
        assert_eq!(contradictions(claimed, &best), Vec::<String>::new());
    }
}

#[test]
fn a_plan_tells_only_if_it_has_items() {
    let plan =
        |open: &[&str], done| Some(Plan { open: open.iter().map(|&word| word.into()).collect(), done });
    assert_eq!(Tasks::from(None), Tasks::Untold);
    assert_eq!(Tasks::from(plan(&[], 0)), Tasks::Untold);
    assert_eq!(Tasks::from(plan(&[], 2)), Tasks::None);
    assert_eq!(Tasks::from(plan(&["write it"], 2)), open());
}
