use super::*;
use crate::event::End;

fn check(code: i32, failing: &[&str]) -> CheckResult {
    CheckResult {
        name: "test".into(),
        command: "cargo test".into(),
        end: End::Exited { code },
        asked: false,
        failing: failing.iter().map(|name| (*name).into()).collect(),
        duration_ms: 5,
        output_tail: String::new(),
        hollow: false,
    }
}

const NOTHING: Context<'static> = Context {
    needed: EvidenceNeeded::Required,
    baseline: Baseline::Refuse,
    todos: Todos::Flag,
    failure: None,
    checks: &[],
    before: &[],
    fixed: &[],
    items: None,
    task_files: &[],
    item: None,
    unchanged: false,
    added_todos: None,
    judging: None,
};

fn failures(context: Context<'_>) -> Vec<String> {
    let evidence = judge(context);
    assert_eq!(evidence.holds(), evidence.failures().next().is_none());
    evidence.failures().map(|condition| condition.fact.clone()).collect()
}

#[test]
fn a_red_check_refuses_and_names_the_test() {
    let red = [check(101, &["auth::login"])];
    assert_eq!(failures(Context { checks: &red, ..NOTHING }), ["cargo test exit 101 (auth::login)"]);
}

#[test]
fn a_green_check_and_a_normal_end_hold() {
    assert!(failures(Context { checks: &[check(0, &[])], ..NOTHING }).is_empty());
    assert!(failures(NOTHING).is_empty());
}

#[test]
fn an_agent_that_failed_refuses_whatever_the_checks_say_and_whatever_is_asked() {
    let expected = ["the agent did not end normally: exit 1"];
    for needed in [EvidenceNeeded::Required, EvidenceNeeded::Backlog, EvidenceNeeded::Off] {
        let context = Context { needed, failure: Some("exit 1"), checks: &[check(0, &[])], ..NOTHING };
        assert_eq!(failures(context), expected);
    }
}

#[test]
fn open_items_refuse_unless_nothing_is_asked() {
    let items = Some(Items { open: 2, total: 7 });
    assert_eq!(failures(Context { items, ..NOTHING }), ["2 of 7 items open"]);
    assert_eq!(
        failures(Context { items, needed: EvidenceNeeded::Backlog, ..NOTHING }),
        ["2 of 7 items open"]
    );
    assert!(failures(Context { items, needed: EvidenceNeeded::Off, ..NOTHING }).is_empty());
    assert!(failures(Context { items: Some(Items { open: 0, total: 7 }), ..NOTHING }).is_empty());
}

#[test]
fn a_check_that_was_run_counts_and_only_required_evidence_misses_one() {
    let (red, green) = ([check(1, &[])], [check(0, &[])]);
    for needed in [EvidenceNeeded::Required, EvidenceNeeded::Backlog, EvidenceNeeded::Off] {
        assert_eq!(failures(Context { needed, checks: &red, ..NOTHING }), ["cargo test exit 1"]);
        assert!(failures(Context { needed, checks: &green, ..NOTHING }).is_empty());
        let told = judge(Context { needed, ..NOTHING });
        let missed = told.conditions.iter().any(|condition| condition.name == "checks");
        assert_eq!(missed, needed == EvidenceNeeded::Required);
    }
}

#[test]
fn what_was_red_before_the_run_refuses_and_is_named_as_such() {
    let (before, now) = ([check(1, &["a", "b"])], [check(1, &["a"])]);
    let context = Context { checks: &now, before: &before, ..NOTHING };
    assert_eq!(failures(context), ["cargo test exit 1 (a, red before the run)"]);
    let new = [check(1, &["a", "c"])];
    assert_eq!(failures(Context { checks: &new, ..context }), ["cargo test exit 1 (a, c, 1 of them new)"]);
    let others = [check(1, &["c"])];
    let by_others = ["cargo test exit 1 (c, red before the run, by other tests)"];
    assert_eq!(failures(Context { checks: &others, ..context }), by_others);
    let green = [check(0, &[])];
    assert_eq!(failures(Context { before: &green, ..context }), ["cargo test exit 1 (a, new)"]);
}

#[test]
fn tolerate_excuses_only_failures_with_a_name_that_were_there_before() {
    let before = [check(1, &["a", "b"])];
    let tolerant = Context { baseline: Baseline::Tolerate, before: &before, ..NOTHING };
    assert!(failures(Context { checks: &[check(1, &["a"])], ..tolerant }).is_empty());
    assert_eq!(failures(Context { checks: &[check(1, &["c"])], ..tolerant }).len(), 1);
    assert_eq!(failures(Context { checks: &[check(1, &[])], ..tolerant }).len(), 1, "no names");
    assert_eq!(
        failures(Context { checks: &[check(1, &["a"])], before: &[check(0, &[])], ..tolerant }).len(),
        1
    );
    let hung = CheckResult { end: End::TimedOut, ..check(1, &["a"]) };
    assert_eq!(failures(Context { checks: &[hung], ..tolerant }).len(), 1, "it did not come to its end");
    assert_eq!(failures(Context { checks: &[check(139, &["a"])], ..tolerant }).len(), 1, "another end");
    let many: Vec<String> = (0..failing::MOST).map(|n| format!("t{n}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let (before, now) = ([check(1, &many)], [check(1, &many)]);
    assert_eq!(
        failures(Context { checks: &now, before: &before, ..tolerant }).len(),
        1,
        "more may be hidden"
    );
}

#[test]
fn a_test_that_was_fixed_is_not_excused_again_and_is_named_as_such() {
    let before = [check(1, &["a", "b"])];
    let fixed = [Fixed { command: "cargo test".into(), tests: vec!["a".into()] }];
    let tolerant = Context { baseline: Baseline::Tolerate, before: &before, fixed: &fixed, ..NOTHING };
    assert!(failures(Context { checks: &[check(1, &["b"])], ..tolerant }).is_empty());
    assert_eq!(
        failures(Context { checks: &[check(1, &["a", "b"])], ..tolerant }),
        ["cargo test exit 1 (a, b, fixed in this run, and failing again)"]
    );
}

#[test]
fn a_runner_that_ends_with_the_number_of_failures_can_be_compared() {
    let before = [check(2, &["a", "b"])];
    let tolerant = Context { baseline: Baseline::Tolerate, before: &before, ..NOTHING };
    assert!(failures(Context { checks: &[check(1, &["a"])], ..tolerant }).is_empty());
    assert_eq!(failures(Context { checks: &[check(2, &["a"])], ..tolerant }).len(), 0, "the same end");
    assert_eq!(failures(Context { checks: &[check(3, &["a"])], ..tolerant }).len(), 1, "another end");
}

#[test]
fn todos_that_the_run_added_are_shown_and_refuse_where_that_is_asked() {
    let todos = AddedTodos { total: 1, samples: vec!["a.rs: // TODO: mend".into()] };
    let flagged = judge(Context { added_todos: Some(&todos), ..NOTHING });
    assert!(flagged.holds());
    assert!(
        flagged
            .conditions
            .iter()
            .any(|c| c.fact == "1 line with TODO, FIXME or unimplemented! added: a.rs: // TODO: mend")
    );
    let refused = Context { added_todos: Some(&todos), todos: Todos::Refuse, ..NOTHING };
    assert_eq!(failures(refused).len(), 1);
    assert!(failures(Context { added_todos: Some(&AddedTodos::default()), ..refused }).is_empty());
    assert!(failures(Context { todos: Todos::Off, ..refused }).is_empty());
}

#[test]
fn a_goal_for_which_nothing_was_done_holds_and_says_what_green_checks_are_worth_then() {
    let told = |context: Context<'_>| {
        let evidence = judge(Context { unchanged: true, ..context });
        assert!(evidence.holds(), "it may have been reached before");
        let found = evidence.conditions.into_iter().find(|condition| condition.name == "change");
        found.map(|condition| condition.fact).unwrap_or_default()
    };
    let (green, red) = ([check(0, &[])], [check(1, &[])]);
    let worth = "nothing was changed, and the checks were green before the run";
    assert!(told(Context { checks: &green, before: &green, ..NOTHING }).starts_with(worth));
    for (checks, before) in [(&green[..], &red[..]), (&green, &[]), (&[], &[])] {
        assert_eq!(told(Context { checks, before, ..NOTHING }), "nothing was changed in this run");
    }
    assert_eq!(told(Context { item: Some(&[]), ..NOTHING }), "", "items have a rule of their own");
    assert!(judge(NOTHING).conditions.iter().all(|condition| condition.name != "change"));
}

#[test]
fn what_judges_and_is_not_as_it_was_refuses_where_it_may() {
    let names = |names: &[&str]| -> Vec<String> { names.iter().map(|name| (*name).into()).collect() };
    assert!(failures(Context { judging: Some(&Judging::default()), ..NOTHING }).is_empty());
    let standing = Judging {
        tests: names(&["tests/a.rs"]),
        standing: names(&["tests/a.rs", "check.sh"]),
        recipes: names(&["make test (Makefile, test)"]),
        named_recipes: names(&["make all (Makefile, all)"]),
        ..Judging::default()
    };
    let refused = failures(Context { judging: Some(&standing), ..NOTHING });
    assert_eq!(
        refused,
        ["not as when the run began: tests/a.rs, check.sh, what is run by make test (Makefile, test), \
          what is run by make all (Makefile, all); put it back as it was, and add new tests instead"]
    );
}
