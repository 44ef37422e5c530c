use super::*;
use crate::check::CheckResult;
use crate::decision::{Begin, Kind, TreeMark};
use crate::event::Judging;
use crate::event::{End, Measured, PutBack, When};
use crate::evidence::{Condition, Held};
use crate::gate::Words;
use crate::report::IterationReport;
use crate::report::block;
use crate::state::Iteration;
use crate::time::Time;
use crate::transcript::Format;

fn report(tasks: u64, tests: &str) -> IterationReport {
    let text = format!(
        "---RALPH_STATUS---\nSTATUS: IN_PROGRESS\nTASKS_COMPLETED_THIS_LOOP: {tasks}\nTESTS_STATUS: {tests}\n\
         EXIT_SIGNAL: false\n---END_RALPH_STATUS---"
    );
    IterationReport { block: block::last(&text).0, ..IterationReport::default() }
}

fn more() -> Words {
    Words::More { why: "EXIT_SIGNAL: false".into() }
}

#[test]
fn a_mark_in_the_backlog_or_a_counted_task_claims_an_item() {
    let ticked = ItemAfter { ticked: true, ..ItemAfter::default() };
    let claims = |words, report: &IterationReport, after: Option<&ItemAfter>| {
        matches!(claim(words, report, after), Words::Done { .. })
    };
    assert!(claims(more(), &report(1, "PASSING"), None));
    assert!(claims(more(), &report(0, "PASSING"), Some(&ticked)));
    assert!(claims(Words::Silence, &IterationReport::default(), Some(&ticked)), "without a report");
    assert!(!claims(more(), &report(0, "PASSING"), Some(&ItemAfter::default())));
    assert!(!claims(more(), &report(1, "FAILING"), Some(&ticked)), "it says itself that tests fail");
    let blocked = Words::Blocked { why: "a key".into() };
    assert_eq!(claim(blocked.clone(), &report(1, "PASSING"), Some(&ticked)), blocked);
}

fn work() -> Work {
    Work { id: "FEAT-1".into(), title: "Greets by name".into(), criteria: "digest".into(), ..Work::default() }
}

fn failed(work: &Work, after: &ItemAfter, changed: bool, memory: &Memory) -> Vec<String> {
    let conditions = conditions(work, Some(after), None, changed, true, memory);
    conditions.into_iter().filter(|c| c.held == Held::Failed).map(|c| c.name).collect()
}

#[test]
fn what_an_item_is_judged_by_must_be_as_it_was() {
    let same = ItemAfter { criteria: "digest".into(), ..ItemAfter::default() };
    assert!(failed(&work(), &same, true, &Memory::default()).is_empty());
    let other = ItemAfter { criteria: "easier".into(), ..same.clone() };
    assert_eq!(failed(&work(), &other, true, &Memory::default()), ["custody"]);
    let harness = ItemAfter { tampered: vec!["init.sh".into()], ..same };
    assert_eq!(failed(&work(), &harness, true, &Memory::default()), ["custody"]);
}

#[test]
fn a_mark_without_work_needs_a_check_of_the_item_s_own_or_a_second_agent() {
    let after = ItemAfter { criteria: "digest".into(), ticked: true, ..ItemAfter::default() };
    assert_eq!(failed(&work(), &after, false, &Memory::default()), ["change"]);
    let again = Memory::default().judged("FEAT-1", Attempt::Failed, true);
    assert!(failed(&work(), &after, false, &again).is_empty());
    let another = Memory::default().judged("FEAT-2", Attempt::Failed, true);
    assert_eq!(failed(&work(), &after, false, &another), ["change"], "said of another item");
    let own = CheckSpec::named("verify-1", "grep x y");
    let with_own = Work { checks: vec![own], ..work() };
    assert!(failed(&with_own, &after, false, &Memory::default()).is_empty());
    let unasked = Work { needs: Needs { acceptance: false, ..Needs::default() }, ..with_own };
    assert_eq!(failed(&unasked, &after, false, &Memory::default()), ["change"]);
}

#[test]
fn convergence_criteria_choose_the_checks() {
    let check = |name: &str| CheckSpec::named(name, name);
    let project = ["build", "test", "lint"].map(check);
    let names = |build, tests, acceptance| {
        let needs = Needs { build, tests, acceptance };
        let work = Work { needs, checks: vec![check("verify-1")], ..work() };
        work.checks(&project).map(|check| check.name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(names(true, true, true), ["build", "test", "lint", "verify-1"]);
    assert_eq!(names(false, true, true), ["test", "lint", "verify-1"]);
    assert_eq!(names(true, false, true), ["build", "lint", "verify-1"]);
    assert_eq!(names(true, true, false), ["build", "test", "lint"]);
}

#[test]
fn what_agents_changed_is_remembered_until_it_is_committed() {
    let memory = ["aa", "ab", "bc", "de"].iter().fold(Memory::default(), |memory, way| {
        let (from, to) = way.split_at(1);
        memory.changed(from, to, None)
    });
    let span = |from: &str, to: &str| Span { from: from.into(), to: to.into(), item: None, earlier: false };
    assert_eq!(memory.spans, [span("a", "c"), span("d", "e")]);
    let nothing = Settled::default();
    assert_eq!(memory.clone().settled(&nothing, None).spans.len(), 2, "still to be committed");
    assert!(memory.settled(&Settled { commit: Some("1".into()), ..nothing }, None).spans.is_empty());
}

fn judged() -> Iteration {
    let begin = Begin {
        number: 7,
        nth: 1,
        kind: Kind::Work,
        agent: "claude".into(),
        format: Format::Auto,
        before: None,
        item: Some(Box::new(work())),
    };
    let mut iteration = Iteration::new(&begin, Time::from_millis(0));
    iteration.checks.push(CheckResult {
        name: "test".into(),
        command: "cargo test".into(),
        end: End::Exited { code: 0 },
        asked: false,
        failing: vec![],
        duration_ms: 1,
        output_tail: String::new(),
        hollow: false,
    });
    iteration
}

fn settlement() -> Settlement {
    Settlement {
        iteration: 7,
        item: Some(work()),
        result: Attempt::Passed,
        why: "cargo test exit 101 (greets)".into(),
        commit: None,
        revert: None,
        block: None,
        untick: vec![],
        unchecked: None,
        park: None,
        uncounted: false,
        said: None,
    }
}

#[test]
fn a_commit_names_the_item_its_verification_and_its_evidence() {
    assert_eq!(
        commit_message(&settlement(), &judged(), "run-id", Some("blake"), CommitFiles::default()),
        "feat(FEAT-1): Greets by name\n\nVerification:\n- cargo test exit 0\n\nRalph-Item: FEAT-1\n\
         Ralph-Iteration: run-id/7\nRalph-Evidence: blake\n"
    );
}

#[test]
fn an_id_that_ralph_made_stands_in_the_trailer_alone() {
    let made = Work { id: "60749deb".into(), made_id: true, ..work() };
    let settlement = Settlement { item: Some(made), ..settlement() };
    let commit = commit_message(&settlement, &judged(), "run-id", None, CommitFiles::default());
    assert!(commit.starts_with("feat: Greets by name\n\n"), "{commit}");
    let revert = revert_message(&settlement, &judged(), "run-id", None);
    assert!(revert.starts_with("revert: Greets by name - cargo test exit 101"), "{revert}");
    let mend = mend_message(&settlement, "run-id", None);
    assert!(mend.starts_with("revert: Greets by name - what no agent may commit\n"), "{mend}");
    for text in [commit, revert, mend] {
        assert!(text.contains("\nRalph-Item: 60749deb\n"), "{text}");
    }
}

#[test]
fn a_commit_names_other_items_whose_work_it_holds() {
    let memory = [("a", "b", "FEAT-0"), ("b", "c", "FEAT-1"), ("c", "d", "FEAT-1"), ("d", "e", "FEAT-0")];
    let memory =
        memory.into_iter().fold(Memory::default(), |m, (from, to, id)| m.changed(from, to, Some(id)));
    assert_eq!(memory.spans.len(), 3, "each item's own");
    let order =
        CommitOrder { spans: memory.spans, base: None, flagged: vec![], with_work: false, not_ours: vec![] };
    let message = commit_message(
        &Settlement { commit: Some(order), ..settlement() },
        &judged(),
        "run-id",
        None,
        CommitFiles::default(),
    );
    let said = message.lines().find(|line| line.contains("other items"));
    assert_eq!(said, Some("Holds as well what attempts at other items left: FEAT-0."), "{message}");
}

#[test]
fn a_revert_names_the_reason_and_what_was_tried() {
    assert_eq!(
        revert_message(&settlement(), &judged(), "run-id", None),
        "revert: FEAT-1 - cargo test exit 101 (greets)\n\nInvestigation: cargo test exit 101 (greets).\n\n\
         Ralph-Item: FEAT-1\nRalph-Iteration: run-id/7\n"
    );
}

#[test]
fn an_item_s_words_cannot_forge_a_trailer() {
    let mut settlement = settlement();
    settlement.item =
        Some(Work { id: "A\nRalph-Evidence: forged".into(), title: "x\n\nRalph-Item: B".into(), ..work() });
    let message = commit_message(&settlement, &judged(), "run", None, CommitFiles::default());
    assert!(
        !message.lines().any(|line| line.starts_with("Ralph-Evidence") || line == "Ralph-Item: B"),
        "{message}"
    );
}

#[test]
fn a_claim_that_nothing_can_prove_is_refused_and_says_what_to_do() {
    let after = ItemAfter { criteria: "digest".into(), ticked: true, ..ItemAfter::default() };
    let found = conditions(&work(), Some(&after), None, true, false, &Memory::default());
    let refused: Vec<&Condition> = found.iter().filter(|condition| condition.held == Held::Failed).collect();
    assert_eq!((refused.len(), refused[0].name.as_str()), (1, "proof"));
    assert!(
        refused[0].fact.contains("FEAT-1") && refused[0].fact.contains("--test-cmd"),
        "{}",
        refused[0].fact
    );
}

#[test]
fn an_attempt_names_its_checks_or_what_stands_for_them() {
    assert_eq!(settlement().commands(&judged()), ["cargo test"]);
    let unchecked = Settlement { unchecked: Some("the agent's word".into()), ..settlement() };
    let iteration = Iteration { checks: vec![], ..judged() };
    assert_eq!(unchecked.commands(&iteration), ["the agent's word"]);
}

#[test]
fn what_was_done_to_other_items_stands_against_the_claim_and_is_said() {
    let same = ItemAfter { criteria: "digest".into(), ticked: true, ..ItemAfter::default() };
    assert_eq!(same.describe_put_back(), None);
    let removed = ItemAfter { removed: vec!["US-2".into()], put_back: true, ..same.clone() };
    let changed =
        ItemAfter { changed: vec!["US-3 (title)".into()], let_go: vec!["US-9".into()], ..removed.clone() };
    for after in [&removed, &changed, &ItemAfter { unreadable: true, ..same }] {
        assert_eq!(failed(&work(), after, true, &Memory::default()), ["custody"], "{after:?}");
        assert!(after.is_touched());
    }
    assert_eq!(
        changed.describe_put_back().as_deref(),
        Some(
            "the backlog is put back as it was before the attempt (removed US-2; changed US-3 (title); what was added \
             went with it: US-9)"
        )
    );
}

#[test]
fn a_check_that_runs_something_else_than_when_the_run_began_refuses_the_pass() {
    let after = ItemAfter { criteria: "digest".into(), ..ItemAfter::default() };
    let custody = |judging: Judging| {
        let found = conditions(&work(), Some(&after), Some(&judging), true, true, &Memory::default());
        let custody = found.into_iter().find(|condition| condition.name == "custody").expect("custody");
        (custody.held, custody.fact)
    };
    let names = || vec!["make test (Makefile, test)".to_owned()];
    assert_eq!(
        custody(Judging { recipes: names(), tests: names(), ..Judging::default() }),
        (Held::Failed, "the agent changed what is run by make test (Makefile, test)".into())
    );
    let as_it_was = "what it is judged by is as it was";
    assert_eq!(custody(Judging::default()), (Held::Held, as_it_was.into()));
    for judging in [
        Judging { tests: names(), ..Judging::default() },
        Judging { scripts: names(), ..Judging::default() },
        Judging { named_recipes: names(), ..Judging::default() },
    ] {
        assert_eq!(custody(judging), (Held::Held, format!("{as_it_was}, but for what is flagged")));
    }
}

#[test]
fn what_is_flagged_stands_in_the_commit_and_above_its_trailers() {
    let flags = [
        "existing tests were changed: tests/a.sh".to_owned(),
        "files that checks run were changed: b".into(),
    ];
    let memory = Memory::default().changed("a", "b", None).flagged(flags.iter().chain(&flags).cloned());
    assert_eq!(memory.flagged, flags, "once");
    let order = CommitOrder {
        spans: memory.spans.clone(),
        base: None,
        flagged: memory.flagged.clone(),
        with_work: false,
        not_ours: vec![],
    };
    let text = commit_message(
        &Settlement { commit: Some(order), ..settlement() },
        &judged(),
        "run",
        None,
        CommitFiles::default(),
    );
    let told = "\n\nFlagged: existing tests were changed: tests/a.sh; files that checks run\nwere changed: b\n\nRalph-Item: ";
    assert!(text.contains(told), "{text}");
    let settled = |commit: Option<&str>| Settled { commit: commit.map(Into::into), ..Settled::default() };
    assert_eq!(memory.clone().settled(&settled(None), None).flagged, flags);
    assert_eq!(memory.settled(&settled(Some("c")), None).flagged, [""; 0]);
}

#[test]
fn a_commit_without_all_that_was_proved_says_so() {
    let left = ["greet.sh".to_owned(), "b.sh".to_owned()];
    let text =
        commit_message(&settlement(), &judged(), "run", None, CommitFiles { left: &left, changed: &[] });
    let told = "\n\nVerified with, and not in this commit (not clean before): greet.sh, b.sh\n\nRalph-Item: ";
    assert!(text.contains(told), "{text}");
}

#[test]
fn a_commit_of_what_is_claimed_says_so_and_names_no_verification() {
    let claimed = Settlement { unchecked: Some("no check was run: the agent's word".into()), ..settlement() };
    let bare = Iteration { checks: vec![], ..judged() };
    let text = commit_message(
        &claimed,
        &bare,
        "run",
        None,
        CommitFiles { left: &["fix_plan.md".to_owned()], changed: &[] },
    );
    let told = "Verification: no check was configured.\n\nClaimed, not proved: no check was run: the agent's word.\n\n\
                Not in this commit, for it was not clean before: fix_plan.md\n\nRalph-Item: ";
    assert!(text.contains(told), "{text}");
    let text = commit_message(
        &claimed,
        &judged(),
        "run",
        None,
        CommitFiles { left: &["a".to_owned(), "b".to_owned()], changed: &[] },
    );
    assert!(text.contains("\n\nNot in this commit, for they were not clean before: a, b\n\n"), "{text}");
    assert!(!text.contains("Verified with"), "{text}");
}

#[test]
fn the_first_of_many_names_are_shown_with_how_many_more_there_are() {
    let names: Vec<String> = (0..12).map(|n| format!("i{n}")).collect();
    assert_eq!(some(&names[..2]), "i0, i1");
    assert_eq!(some(&names), "i0, i1, i2, i3, i4, i5, i6, i7, i8, i9 and 2 more");
    let memory = names.iter().fold(Memory::default(), |memory, name| memory.unmeasured(name));
    assert_eq!(some_of(&memory.unmeasured_items, memory.unmeasured), some(&names));
    let mut one = Memory::default().unmeasured("a").unmeasured("b");
    one.not_unmeasured("b");
    assert_eq!((one.unmeasured, &one.unmeasured_items[..]), (1, &["a".to_owned()][..]));
}

#[test]
fn what_agents_changed_after_the_last_proof_is_unproved() {
    let span = |from: &str, to: &str| Span { from: from.into(), to: to.into(), item: None, earlier: false };
    let spans = vec![span("a", "b"), span("b", "c"), span("d", "e")];
    let memory = |proved: Option<&str>| Memory {
        spans: spans.clone(),
        proved_tree: proved.map(Into::into),
        ..Memory::default()
    };
    assert_eq!(memory(None).unproved(), &spans[..]);
    assert_eq!(memory(Some("b")).unproved(), &spans[1..]);
    assert_eq!(memory(Some("e")).unproved(), &[]);
    assert_eq!(memory(Some("committed since")).unproved(), &spans[..]);
}

#[test]
fn what_an_earlier_run_left_stays_apart_from_what_this_one_does() {
    let left = Span { from: "a".into(), to: "b".into(), item: Some("1".into()), earlier: true };
    let work = Inherited { left: vec![left.clone()], ..Inherited::default() };
    let memory = Memory::inherited(&work).changed("b", "c", Some("1"));
    assert_eq!(memory.spans.len(), 2);
    assert_eq!(memory.spans[0], left);
    assert!(!memory.spans[1].earlier);
}

#[test]
fn a_test_that_was_written_for_an_item_counts_until_it_is_put_back() {
    let begin = Begin {
        number: 1,
        nth: 1,
        kind: Kind::Work,
        agent: "agent".into(),
        format: Format::Auto,
        before: Some(TreeMark { tree: "t0".into(), head: None, beside: vec![] }),
        item: Some(Box::new(work())),
    };
    let after = Measured::new(When::After, "t1".into(), None, &[]);
    let iteration = Iteration { after: Some(after), ..Iteration::new(&begin, Time::default()) };
    let id = &work().id;
    let earlier = Memory::default().worked_on(id, true, None).changed("t", "t0", Some(id));
    let memory = earlier.worked_on(id, true, Some(1)).changed("t0", "t1", Some(id));
    let again = memory.clone().worked_on(id, true, None);
    assert!(again.is_tested(id) && !again.is_tested("another"));
    let inherited = Inherited {
        worked_on: again.worked_on_in_vain(),
        tested: again.tested_in_vain(),
        ..Inherited::default()
    };
    assert!(Memory::inherited(&inherited).is_tested(id), "by the next run too");
    let reverted = Settled { reverted: true, ..Settled::default() };
    let after = memory.clone().settled(&reverted, Some(&iteration));
    assert!(!after.is_tested(id) && !after.is_untouched(id), "what an earlier iteration did is there");
    for (undone, is_tested) in [(2, true), (1, false)] {
        let mut memory = memory.clone();
        memory.undone_from(undone);
        assert_eq!(memory.is_tested(id), is_tested, "undo {undone}");
    }
}

#[test]
fn an_undo_of_what_agents_left_is_no_change_of_the_user_s_and_one_of_what_is_committed_is() {
    let put_back = |iteration: Option<u64>, from: &str, to: &str| PutBack {
        iteration,
        from: from.into(),
        to: to.into(),
        files: 1,
        head: None,
        only: vec![],
    };
    let spans = |memory: &Memory| -> Vec<(String, String)> {
        memory.spans.iter().map(|span| (span.from.clone(), span.to.clone())).collect()
    };
    let span = |from: &str, to: &str| (from.to_owned(), to.to_owned());
    let memory = Memory::default().changed("t1", "t2", Some("a"));
    let undone = memory.clone().put_back(&put_back(Some(2), "t2", "t1"), false);
    assert_eq!(spans(&undone), [span("t1", "t1")]);
    assert_eq!(spans(&undone.clone().changed("t1", "t3", Some("a"))), [span("t1", "t3")]);
    assert_eq!(spans(&undone.put_back(&put_back(None, "t1", "t2"), true)), [span("t1", "t2")]);
    for (from, to) in [("t2", "t0"), ("edited", "t1")] {
        let same = memory.clone().put_back(&put_back(Some(1), from, to), false);
        assert_eq!(spans(&same), [span("t1", "t2")], "{from} to {to}");
    }
}
