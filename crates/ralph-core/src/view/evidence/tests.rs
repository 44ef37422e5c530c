use super::*;
use crate::evidence::Condition;
use crate::ledger::Custody;

fn attempted() -> Attempted {
    let check = Ran {
        name: "test".into(),
        argv: vec!["sh".into(), "-c".into(), "make test | grep `x`".into()],
        exit: Some(1),
        end: "exit 1".into(),
        failing: vec!["is_green".into()],
        duration_ms: 430,
        output_digest: Some("f".repeat(64)),
    };
    let record = Record {
        attempt: "r/3".into(),
        iteration: 3,
        item: Some("FEAT-1".into()),
        title: Some("Store <b>".into()),
        result: "FAILED".into(),
        why: "make test exit 1".into(),
        agent: "claude".into(),
        files_changed: Some(2),
        checks: vec![check],
        conditions: Some(vec![Condition { name: "custody".into(), held: Held::Failed, fact: "a|b".into() }]),
        custody: Custody {
            criteria_changed: true,
            changed: vec![".claude/harness/x".into()],
            existing_tests_changed: vec!["tests/a.rs".into()],
            scripts_changed: vec!["check.sh".into()],
            recipes_changed: vec!["make test (Makefile, test)".into()],
        },
        ..Record::default()
    };
    Attempted { record, commit: None }
}

#[test]
fn people_are_shown_what_was_claimed_measured_and_found() {
    let text = lines(&attempted()).join("\n");
    for part in [
        "✗ FEAT-1 Store <b>: FAILED in #3",
        "claimed   nothing",
        "2 files changed by claude",
        "exit 1 (is_green) in 430ms",
        "(refuses): .claude/harness/x",
        "the item's criteria or commands were changed (refuses)",
        "existing tests were changed or deleted (flagged): tests/a.rs",
        "files that checks run were changed (flagged): check.sh",
        "checks run something else than when the run began (flagged): make test (Makefile, test)",
        "against   custody: a|b",
        "commit    none",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

#[test]
fn what_earlier_iterations_changed_is_not_told_as_nothing() {
    let goal = |files_in_all| Record {
        iteration: 2,
        agent: "custom".into(),
        files_changed: Some(0),
        files_in_all,
        ..Record::default()
    };
    assert_eq!(measured(&goal(Some(1))), "1 file changed in all, nothing in #2, by custom");
    assert_eq!(
        measured(&Record { files_changed: Some(3), ..goal(Some(4)) }),
        "4 files changed in all, 3 files in #2, by custom"
    );
    assert_eq!(measured(&goal(None)), "nothing changed in #2 by custom", "as older records have it");
}

#[test]
fn what_decided_is_told_once() {
    let mut attempted = attempted();
    attempted.record.why = "refused: a|b".into();
    let text = lines(&attempted).join("\n");
    assert!(text.contains("why       refused: a|b") && !text.contains("against"), "{text}");
}

#[test]
fn markdown_takes_words_for_words() {
    let text = markdown(&Ledger::default(), &[attempted()]);
    for part in [
        "## FEAT-1 Store \\<b\\>: FAILED",
        "| `` make test \\| grep `x` `` | exit 1 |",
        "**failed** | a\\|b |",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

#[test]
fn an_item_that_passed_without_a_check_is_not_called_proved() {
    let mut attempted = attempted();
    let record = &mut attempted.record;
    (record.result, record.why) = ("PASSED".into(), "no check is configured".into());
    record.checks.clear();
    let text = lines(&attempted).join("\n");
    // A record of before flags had a place of their own.
    let flagged = "PASSED (flagged: tests/a.rs, check.sh changed by the agent; checks run something else than when the \
                   run began: make test (Makefile, test)), claimed without a check in #3";
    assert!(text.contains(flagged), "{text}");
    attempted.record.custody = Custody::default();
    let text = lines(&attempted).join("\n");
    assert!(text.contains("⚠ FEAT-1 Store <b>: PASSED, claimed without a check in #3"), "{text}");
    assert!(text.contains("rests on  the agent's word: no check is configured"), "{text}");
    assert!(!text.contains("proved"), "{text}");
    let page = markdown(&Ledger::default(), &[attempted.clone()]);
    assert!(
        page.contains(": PASSED, claimed without a check\n") && page.contains("- rests on: the agent's word"),
        "{page}"
    );
    // A goal without a check is proved by reviews.
    attempted.record.item = None;
    let text = lines(&attempted).join("\n");
    assert!(text.contains(": PASSED in #3") && text.contains("  proved "), "{text}");
}
