//! Items of a backlog, from the question for one to what came of it.

use super::*;
use crate::breaker::Circuit;
use crate::decision::Conclusion;
use crate::event::{ChangedPath, Judging};
use crate::evidence::Items;
use crate::items::{Attempt, BacklogPlan, BacklogRead, Earlier, Found, ItemAfter, PhaseItems, Work};
use crate::report::dialects::{Dialect, Saying, Vote};

fn read(found: Found) -> Event {
    let items = Items { open: 1, total: 2 };
    let (phase, phases, blocked) = (None, vec![], 0);
    let earlier = Earlier::default();
    Event::BacklogRead(Box::new(BacklogRead {
        items,
        phase,
        phases,
        blocked,
        earlier,
        ..BacklogRead::new(found)
    }))
}

fn work() -> Work {
    Work { id: "FEAT-1".into(), title: "Greets".into(), criteria: "digest".into(), ..Work::default() }
}

fn backlog(change: impl FnOnce(&mut Plan)) -> Plan {
    let mut plan = plan(&["make test"]);
    plan.backlog = Some(BacklogPlan { file: "feature_list.json".into(), ..BacklogPlan::default() });
    change(&mut plan);
    plan
}

/// Up to the agent at work on the item.
fn at_work(plan: Plan) -> Sim {
    let mut sim = Sim::new(plan);
    select(&mut sim);
    sim
}

fn select(sim: &mut Sim) {
    select_one(sim, work());
}

fn select_one(sim: &mut Sim, work: Work) {
    assert_eq!(sim.effects, [Effect::ReadBacklog]);
    sim.event(read(Found::Selected(Box::new(work))));
    sim.tree(When::Before, 0);
    assert_eq!(sim.effects, [Effect::MarkItem { id: "FEAT-1".into() }]);
    assert_eq!(sim.state.phase, Phase::Selecting);
    sim.event(Event::ItemMarked { problem: None });
    assert_eq!(sim.effects, [Effect::StartAgent]);
    sim.event(Event::AgentStarted { pid: 7, noted: Default::default() });
}

/// So many items are proved, and nothing is left to do.
fn all_proved(plan: Plan, items: usize) -> Sim {
    let mut sim = Sim::new(plan);
    for nth in 1..=items {
        let check = CheckSpec::named("verify-1", format!("sh t{nth}.sh"));
        select_one(&mut sim, Work { checks: vec![check], ..work() });
        ends(&mut sim, DONE, 0, 2, ItemAfter::default());
        sim.check(0);
        sim.check(0);
        sim.event(Event::Settled(Box::default()));
    }
    sim.event(read(Found::Complete));
    sim
}

/// How it stopped, when what is to be committed is.
fn stop(sim: &mut Sim) -> Option<Stop> {
    if matches!(sim.effects[..], [Effect::Settle { .. }]) {
        sim.event(Event::Settled(Box::default()));
    }
    sim.state.stop().cloned()
}

const PROVED: Option<Stop> = Some(Stop::complete(Proof::Checks));

fn running(sim: &Sim) -> &str {
    let [Effect::RunCheck { check }] = &sim.effects[..] else { panic!("{:?}", sim.effects) };
    &check.command
}

#[test]
fn the_whole_is_judged_by_what_proved_its_items_too() {
    for (codes, stopped) in [(&[0, 0, 0][..], PROVED), (&[0, 1, 0], None), (&[0, 0, 1], None)] {
        let mut sim = all_proved(backlog(|_| {}), 2);
        sim.iteration(DONE, 0, End::Exited { code: 0 });
        for (code, command) in codes.iter().zip(["make test", "sh t1.sh", "sh t2.sh"]) {
            assert_eq!(running(&sim), command);
            sim.check(*code);
        }
        assert_eq!(stop(&mut sim), stopped, "{codes:?}");
        let refused = codes.contains(&1);
        assert_eq!(sim.outcome(), if refused { Outcome::Refused } else { Outcome::Accepted });
    }
}

#[test]
fn where_nobody_reviews_the_whole_what_was_proved_is_run_again_before_it_is_complete() {
    let unreviewed = || backlog(|plan| plan.policy.set("reviews", "0").expect("a value"));
    let mut sim = all_proved(unreviewed(), 3);
    assert_eq!(running(&sim), "sh t1.sh");
    sim.check(0);
    assert_eq!(sim.effects, [Effect::ReadBacklog]);
    sim.event(read(Found::Complete));
    assert_eq!(running(&sim), "sh t2.sh");
    sim.check(0);
    sim.event(read(Found::Complete));
    assert_eq!(stop(&mut sim), PROVED, "the third was run a moment ago");

    // One that was cut off says nothing: it is run again.
    let mut sim = all_proved(unreviewed(), 2);
    sim.event(Event::StopAsked { by: StopBy::Interrupt });
    assert_eq!(sim.effects, [Effect::EndCheck { why: Ending::Stop }]);
    sim.check_cut_off();
    assert_eq!(sim.stop(), "interrupted");

    let mut sim = all_proved(unreviewed(), 2);
    sim.check(1);
    sim.event(read(Found::Complete));
    let begins = sim.last.as_ref().and_then(|decision| decision.begins.as_ref());
    assert_eq!(begins.map(|begins| begins.kind), Some(Kind::Work), "somebody has to mend it");
    let prompt = crate::prompt::render(&sim.state, crate::prompt::Materials::default());
    assert!(prompt.contains("This was proved, and does not hold any more: sh t1.sh exit 1"), "{prompt}");
    sim.iteration(DONE, 1, End::Exited { code: 0 });
    ["make test", "sh t1.sh", "sh t2.sh"].iter().for_each(|command| {
        assert_eq!(running(&sim), *command);
        sim.check(0);
    });
    assert_eq!(stop(&mut sim), PROVED);

    assert_eq!(stop(&mut all_proved(unreviewed(), 1)), PROVED, "one alone was checked a moment ago");
}

#[test]
fn an_item_s_own_commands_are_run_whatever_else_is_asked_and_those_of_the_run_where_they_are() {
    let own = || Work { checks: vec![CheckSpec::named("verify-1", "sh t1.sh")], ..work() };
    for evidence in ["required", "backlog", "off"] {
        for (code, changed, passes) in [(0, 0, true), (1, 0, false), (1, 2, false)] {
            let plan = backlog(|plan| plan.policy.set("evidence", evidence).expect("a value"));
            let mut sim = Sim::new(plan);
            select_one(&mut sim, own());
            ends(&mut sim, DONE, 0, changed, ItemAfter::default());
            if evidence == "required" {
                assert_eq!(running(&sim), "make test");
                sim.check(0);
            }
            assert_eq!(running(&sim), "sh t1.sh", "{evidence}");
            sim.check(code);
            let attempted = if passes { Attempt::Passed } else { Attempt::Failed };
            assert_eq!(attempt(&sim), Some(attempted), "{evidence} {code} {changed}");
        }
    }
}

#[test]
fn what_proved_items_has_to_hold_at_the_end_though_the_run_has_no_checks_of_its_own() {
    for evidence in ["backlog", "off"] {
        let mut sim = Sim::new(backlog(|plan| {
            plan.policy.set("evidence", evidence).expect("a value");
            plan.policy.set("reviews", "0").expect("a value");
        }));
        for nth in 1..=2 {
            let check = CheckSpec::named("verify-1", format!("sh t{nth}.sh"));
            select_one(&mut sim, Work { checks: vec![check], ..work() });
            ends(&mut sim, DONE, 0, 2, ItemAfter::default());
            sim.check(0);
            sim.event(Event::Settled(Box::default()));
        }
        sim.event(read(Found::Complete));
        assert_eq!(running(&sim), "sh t1.sh", "{evidence}");
        sim.check(0);
        sim.event(read(Found::Complete));
        assert_eq!(stop(&mut sim), PROVED, "{evidence}");
    }
}

#[test]
fn the_prompt_speaks_of_checks_where_an_item_has_some() {
    let prompt = |work: Work| {
        let mut sim = Sim::new(backlog(|plan| plan.policy.set("evidence", "off").expect("a value")));
        select_one(&mut sim, work);
        crate::prompt::render(&sim.state, crate::prompt::Materials::default())
    };
    let own = prompt(Work { checks: vec![CheckSpec::named("verify-1", "sh t1.sh")], ..work() });
    assert!(own.contains("when its checks pass") && own.contains("    sh t1.sh"), "{own}");
    assert!(!own.contains("make test"), "nobody runs it: {own}");
    let bare = prompt(work());
    assert!(bare.contains("No command is run for it") && !bare.contains("checks pass"), "{bare}");
}

#[test]
fn what_nobody_can_mend_ends_a_run_that_only_items_limit() {
    let worker = backlog(|plan| {
        for (key, value) in
            [("reviews", "0"), ("each_item", "true"), ("max_iterations", "3"), ("same_error", "off")]
        {
            plan.policy.set(key, value).unwrap_or_else(|error| panic!("{error}"));
        }
    });
    let mut sim = all_proved(worker, 2);
    sim.check(1);
    sim.event(read(Found::Complete));
    for left in [2, 1, 0] {
        sim.iteration(DONE, 1, End::Exited { code: 0 });
        [0, 1, 0].iter().for_each(|code| sim.check(*code));
        assert_eq!(sim.effects, [Effect::ReadBacklog], "{left} left");
        sim.event(read(Found::Complete));
        assert_eq!(sim.state.stop().is_some(), left == 0, "nothing is run again for those who know why");
    }
    let Some(Stop::Blocked { why }) = sim.state.stop() else { panic!("{:?}", sim.state.stop()) };
    assert!(why.contains("3 iterations did not bring the whole to an end: sh t1.sh exit 1"), "{why}");
}

/// The agent ended so, having changed so many files, and done this to the backlog.
fn ends(sim: &mut Sim, says: &str, code: i32, changed: u64, item: ItemAfter) {
    sim.event(ended(says, End::Exited { code }));
    let mut measured = Measured::new(When::After, format!("t{}", sim.now.millis()), None, &[]);
    measured.changed_total = changed;
    measured.item = Some(ItemAfter { criteria: "digest".into(), ..item });
    sim.event(Event::TreeMeasured(Box::new(measured)));
}

fn attempt(sim: &Sim) -> Option<Attempt> {
    sim.last.as_ref().and_then(|decision| decision.concluded.as_ref()).and_then(|concluded| concluded.attempt)
}

fn rules(sim: &Sim) -> Vec<&str> {
    sim.last.iter().flat_map(|decision| &decision.reasons).map(|reason| reason.rule.as_str()).collect()
}

#[test]
fn an_agent_that_could_not_begin_has_not_tried_the_item() {
    let ticked = || ItemAfter { ticked_others: vec!["FEAT-2".into()], ..ItemAfter::default() };
    for (says, code, changed, item, tried) in [
        (MORE, 0, 0, ItemAfter::default(), Some(Attempt::InProgress)),
        (MORE, 0, 3, ItemAfter::default(), Some(Attempt::InProgress)),
        (MORE, 1, 3, ItemAfter::default(), Some(Attempt::Failed)),
        (MORE, 1, 0, ticked(), Some(Attempt::Failed)),
        (MORE, 1, 0, ItemAfter::default(), None),
    ] {
        let mut sim = at_work(backlog(|_| {}));
        ends(&mut sim, says, code, changed, item.clone());
        assert_eq!(attempt(&sim), tried, "{code} {changed} {item:?}");
        assert!(!rules(&sim).contains(&"reviews"), "nothing was accepted: {:?}", rules(&sim));
        assert!(!sim.state.rules.items.declared, "nobody said that all is done");
    }
}

#[test]
fn only_a_claim_without_a_change_is_remembered_as_one() {
    for (says, changed, unchanged) in
        [(DONE, 2, None), (DONE, 0, Some("FEAT-1")), (MORE, 0, None), (MORE, 2, None)]
    {
        let mut sim = at_work(backlog(|_| {}));
        ends(&mut sim, says, 0, changed, ItemAfter::default());
        if says == DONE {
            sim.check(1);
        }
        assert_eq!(sim.state.rules.items.unchanged.as_deref(), unchanged, "{says} {changed}");
        assert_eq!(sim.state.rules.items.declared, says == DONE);
    }
}

#[test]
fn an_item_that_is_proved_speaks_of_no_reviews() {
    let mut sim = at_work(backlog(|_| {}));
    ends(&mut sim, DONE, 0, 2, ItemAfter::default());
    sim.check(0);
    assert_eq!(attempt(&sim), Some(Attempt::Passed));
    assert!(!rules(&sim).contains(&"reviews"), "{:?}", rules(&sim));
}

/// What is said of an iteration that was measured so.
fn said(says: &str, with_item: bool, change: impl FnOnce(&mut Measured)) -> Conclusion {
    told(ended(says, End::Exited { code: 0 }), with_item, change)
}

fn told(ended: Event, with_item: bool, change: impl FnOnce(&mut Measured)) -> Conclusion {
    let mut sim = match with_item {
        true => at_work(backlog(|_| {})),
        false => {
            let mut sim = Sim::new(plan(&["make test"]));
            sim.tree(When::Before, 0);
            sim
        }
    };
    sim.event(ended);
    let mut measured = Measured::new(When::After, "after".into(), None, &[]);
    measured.item = with_item.then(|| ItemAfter { criteria: "digest".into(), ..ItemAfter::default() });
    change(&mut measured);
    sim.event(Event::TreeMeasured(Box::new(measured)));
    if matches!(sim.effects[..], [Effect::RunCheck { .. }]) {
        sim.check(0);
    }
    sim.state.last.as_ref().and_then(|last| last.conclusion.clone()).expect("concluded")
}

fn changing(measured: &mut Measured, kind: char, paths: &[&str]) {
    measured.changed.extend(paths.iter().map(|path| ChangedPath { kind, path: (*path).into() }));
    measured.changed_total = measured.changed.len() as u64;
}

#[test]
fn tests_that_nobody_looked_at_are_named_if_an_item_is_worked_on() {
    let tests = |count: usize| -> Vec<String> { (1..=count).map(|n| format!("tests/t{n}.rs")).collect() };
    let warned = |with_item: bool, kind: char, count: usize, looked: bool| {
        let names = tests(count);
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        said(MORE, with_item, |measured| {
            changing(measured, kind, &names);
            measured.judging = looked.then(Judging::default);
        })
        .warnings
    };
    let named = "tests/t1.rs, tests/t2.rs, tests/t3.rs, tests/t4.rs, tests/t5.rs";
    assert_eq!(warned(true, 'M', 1, false), ["existing tests were changed: tests/t1.rs"]);
    assert_eq!(warned(true, 'M', 5, false), [format!("existing tests were changed: {named}")]);
    assert_eq!(warned(true, 'M', 7, false), [format!("existing tests were changed: {named} and 2 more")]);
    for (with_item, kind, looked) in [(false, 'M', false), (true, 'A', false), (true, 'M', true)] {
        assert_eq!(warned(with_item, kind, 2, looked), [""; 0], "{with_item} {kind} {looked}");
    }
}

#[test]
fn what_judges_is_flagged_where_it_was_changed() {
    let flags = |with_item: bool, judging: Judging| {
        said(MORE, with_item, |measured| measured.judging = Some(judging)).flags
    };
    let [tests, scripts, recipes, named] =
        ["tests/a.rs", "check.sh", "make test (Makefile, test)", "make all"]
            .map(|name| vec![name.to_owned()]);
    let all = Judging { tests, scripts, recipes, named_recipes: named, ..Judging::default() };
    let (tests, scripts) =
        ("existing tests were changed: tests/a.rs", "files that checks run were changed: check.sh");
    let recipes = "checks run something else than when the run began: make test (Makefile, test), make all";
    assert_eq!(flags(false, all.clone()), [tests, scripts, recipes]);
    let named = "checks run something else than when the run began: make all";
    assert_eq!(flags(true, all), [tests, scripts, named], "about an item the others refuse");
    assert_eq!(flags(false, Judging::default()), [""; 0]);
}

#[test]
fn a_red_test_that_is_gone_with_its_file_is_named_where_its_name_tells_the_file() {
    let check = |code: i32, failing: &[&str]| CheckResult {
        name: "test".into(),
        command: "pytest".into(),
        end: End::Exited { code },
        asked: false,
        failing: failing.iter().map(|name| (*name).to_owned()).collect(),
        duration_ms: 1,
        output_tail: String::new(),
        hollow: false,
    };
    let red = [check(1, &["tests/a.py::test_login", "tests/a.py.bak::x", "web/b.ts > logs in", "login"])];
    let judging = Judging { tests: vec!["tests/a.py".into(), "web/b.ts".into()], ..Judging::default() };
    let changed = |kinds: [char; 2]| {
        let paths = ["tests/a.py", "web/b.ts"].iter().zip(kinds);
        paths.map(|(path, kind)| ChangedPath { kind, path: (*path).into() }).collect::<Vec<_>>()
    };
    let gone = |kinds, before: &[CheckResult]| judging.red_and_gone(&changed(kinds), before);
    let told = "tests that were red before the run are gone with their file: tests/a.py::test_login";
    assert_eq!(gone(['D', 'M'], &red).as_deref(), Some(told));
    assert_eq!(gone(['D', 'D'], &red), Some(format!("{told}, web/b.ts > logs in")));
    assert_eq!(gone(['M', 'M'], &red), None, "what became of it nobody can tell");
    assert_eq!(gone(['D', 'D'], &[check(0, &[])]), None);
}

#[test]
fn what_was_put_back_is_flagged_and_nothing_else() {
    let flags = |item: ItemAfter| {
        said(MORE, true, |measured| measured.item = Some(ItemAfter { criteria: "digest".into(), ..item }))
            .flags
    };
    assert_eq!(flags(ItemAfter::default()), [""; 0]);
    let restored = vec!["init.sh".to_owned()];
    let [flag] = &flags(ItemAfter { restored, ..ItemAfter::default() })[..] else { panic!("one flag") };
    assert!(flag.contains("init.sh"), "{flag}");
}

#[test]
fn a_report_that_claims_more_than_was_measured_is_set_right() {
    let claims = |says: &str, files: u64, tasks: u64, with_item: bool, commits: u64| {
        let mut ended = ended(says, End::Exited { code: 0 });
        if let Event::AgentEnded(ended) = &mut ended
            && let Some(block) = &mut ended.report.block
        {
            (block.files, block.tasks) = (Some(files), Some(tasks));
        }
        told(ended, with_item, |measured| {
            changing(measured, 'M', &["src/a.rs", "src/b.rs"]);
            measured.commits = commits;
        })
        .differences
    };
    assert_eq!(claims(MORE, 3, 0, true, 0), ["FILES_MODIFIED: 3, and 2 files changed"]);
    for (says, files, tasks, with_item, commits) in [
        (MORE, 0, 0, true, 0),
        (MORE, 2, 0, true, 0),
        (MORE, 3, 0, true, 1),  // what it committed is not counted here
        (DONE, 2, 1, true, 0),  // its check passes
        (MORE, 2, 7, false, 0), // without a backlog nobody counts tasks
    ] {
        let differences = claims(says, files, tasks, with_item, commits);
        assert_eq!(differences, [""; 0], "{says} {files} {tasks} {with_item} {commits}");
    }
    assert_eq!(claims(DONE, 2, 2, true, 0), ["TASKS_COMPLETED_THIS_LOOP: 2, and 1 proved"]);
    let others = said(MORE, true, |measured| {
        let ticked_others = vec!["FEAT-2".into(), "FEAT-3".into()];
        measured.item = Some(ItemAfter { criteria: "digest".into(), ticked_others, ..ItemAfter::default() });
    });
    assert_eq!(
        others.differences,
        ["marked as done without being worked on, and taken back: FEAT-2, FEAT-3"]
    );
}

fn marks(own: bool, others: &[&str]) -> ItemAfter {
    let ticked_others = others.iter().map(|id| (*id).to_owned()).collect();
    ItemAfter { ticked: own, ticked_others, criteria: "digest".into(), ..ItemAfter::default() }
}

#[test]
fn marks_of_other_items_are_told_without_a_report_too() {
    let silent = said("silence", true, |measured| measured.item = Some(marks(false, &["FEAT-2"])));
    assert_eq!(silent.outcome, Outcome::Silent);
    assert_eq!(silent.differences, ["marked as done without being worked on, and taken back: FEAT-2"]);
    assert_eq!(said("silence", true, |_| {}).differences, [""; 0]);
}

#[test]
fn marks_are_taken_back_though_the_agent_was_limited_or_stopped() {
    for once in [false, true] {
        for limited in [false, true] {
            let mut sim = at_work(backlog(|plan| plan.backlog.as_mut().expect("one").once = once));
            let mut event = ended("silence", End::Exited { code: 1 });
            if let Event::AgentEnded(ended) = &mut event {
                match limited {
                    true => ended.report.limit = crate::limit::of(Some(429), ""),
                    false => ended.end = End::Stopped,
                }
            }
            sim.event(event);
            let mut measured = Measured::new(When::After, "after".into(), None, &[]);
            measured.item = Some(marks(true, &["FEAT-2"]));
            sim.event(Event::TreeMeasured(Box::new(measured)));
            let [Effect::Settle { settlement }] = &sim.effects[..] else { panic!("{:?}", sim.effects) };
            assert_eq!(settlement.untick, ["FEAT-1", "FEAT-2"]);
            assert!(settlement.uncounted, "it was no attempt: {once} {limited}");
            assert_eq!(settlement.result, Attempt::InProgress, "it has not failed: {once} {limited}");
            assert_eq!((&settlement.revert, &settlement.block), (&None, &None));
            sim.event(Event::Settled(Box::default()));
            assert_eq!(sim.state.stop(), None, "it goes on: {once} {limited}");
            assert_eq!(sim.state.rules.items.attempts("FEAT-1"), 0, "{once} {limited}");
            assert!(!limited || sim.state.used == 0, "a limit is not counted");
        }
    }
}

#[test]
fn marks_since_ralph_was_cut_off_stay_and_are_named_for_they_may_be_a_person_s() {
    let mut sim = at_work(backlog(|_| {}));
    let mut event = ended("silence", End::Exited { code: 1 });
    if let Event::AgentEnded(ended) = &mut event {
        ended.end = End::Cut;
    }
    sim.event(event);
    let mut measured = Measured::new(When::After, "after".into(), None, &[]);
    measured.item = Some(marks(true, &["FEAT-2"]));
    sim.event(Event::TreeMeasured(Box::new(measured)));
    assert!(!sim.effects.iter().any(|effect| matches!(effect, Effect::Settle { .. })), "{:?}", sim.effects);
    let conclusion = sim.state.last.as_ref().and_then(|last| last.conclusion.clone()).expect("concluded");
    assert_eq!(conclusion.differences, [""; 0]);
    let [warning] = &conclusion.warnings[..] else { panic!("{:?}", conclusion.warnings) };
    assert!(warning.contains("proved by nobody: FEAT-1, FEAT-2; to have it worked on"), "{warning}");
}

#[test]
fn a_phase_that_is_said_to_be_done_while_items_of_it_are_open_is_told() {
    let told = |number: u32, says_done: bool| {
        let mut sim = Sim::new(backlog(|_| {}));
        let of = |name: &str, open| PhaseItems { name: name.into(), items: Items { open, total: 3 } };
        let Event::BacklogRead(mut read) = read(Found::Selected(Box::new(work()))) else { panic!("read") };
        (read.phase, read.phases) = (Some("mvp".into()), vec![of("mvp", 1), of("phase_2", 2), of("7", 0)]);
        sim.event(Event::BacklogRead(read));
        sim.tree(When::Before, 0);
        sim.event(Event::ItemMarked { problem: None });
        sim.event(Event::AgentStarted { pid: 7, noted: Default::default() });
        let mut event = ended(if says_done { DONE } else { MORE }, End::Exited { code: 0 });
        if let Event::AgentEnded(ended) = &mut event {
            let quote = format!("LOOP_COMPLETE_PHASE_{number}");
            let (dialect, vote) = (Dialect::Json, Vote::Done { phase: Some(number) });
            ended.report.sayings = vec![Saying { dialect, vote, quote, problems: vec![] }];
        }
        sim.event(event);
        let mut measured = Measured::new(When::After, "after".into(), None, &[]);
        (measured.item, measured.changed_total) = (Some(marks(false, &[])), 1);
        sim.event(Event::TreeMeasured(Box::new(measured)));
        if says_done {
            sim.check(0);
        }
        sim.state.last.as_ref().and_then(|last| last.conclusion.clone()).expect("concluded").differences
    };
    assert_eq!(told(1, false), ["LOOP_COMPLETE_PHASE_1, and of mvp there is 1 item open"]);
    assert_eq!(told(1, true), [""; 0], "its last item is proved");
    assert_eq!(told(2, true), ["LOOP_COMPLETE_PHASE_2, and of phase_2 there are 2 items open"]);
    assert_eq!(told(7, true), [""; 0], "by its name");
    assert_eq!(told(4, true), ["LOOP_COMPLETE_PHASE_4, and there are 3 phases"]);
    assert_eq!(told(0, true), ["LOOP_COMPLETE_PHASE_0, and there are 3 phases"]);
}

#[test]
fn the_whole_is_worked_on_where_nobody_has_to_review_it() {
    for (reviews, kind) in [("0", Kind::Work), ("2", Kind::Review)] {
        let mut sim = at_work(backlog(|plan| plan.policy.set("reviews", reviews).expect("a value")));
        let ticked = ItemAfter { ticked: true, ..ItemAfter::default() };
        ends(&mut sim, MORE, 0, 2, ticked);
        sim.check(0);
        assert!(matches!(sim.effects[..], [Effect::Settle { .. }]), "{:?}", sim.effects);
        sim.event(Event::Settled(Box::default()));
        assert_eq!(sim.effects, [Effect::ReadBacklog]);
        sim.event(read(Found::Complete));
        let begins = sim.last.as_ref().and_then(|decision| decision.begins.as_ref());
        assert_eq!(begins.map(|begins| begins.kind), Some(kind), "{reviews} reviews");
    }
}

#[test]
fn a_whole_that_is_not_done_is_worked_on_until_a_claim_is_accepted_and_then_reviewed() {
    let kind = |sim: &Sim| sim.state.current.as_ref().map(|current| current.kind);
    let whole = |sim: &mut Sim, says: &str, changed: u64, checks: &[i32]| {
        sim.iteration(says, changed, End::Exited { code: 0 });
        checks.iter().for_each(|code| sim.check(*code));
        sim.event(read(Found::Complete));
        kind(sim)
    };
    let mut sim = all_proved(backlog(|_| {}), 1);
    assert_eq!(kind(&sim), Some(Kind::Review), "the items are proved, and the whole is doubted");
    assert_eq!(whole(&mut sim, DONE, 1, &[1, 0]), Some(Kind::Work), "it was refused");
    assert_eq!(whole(&mut sim, MORE, 1, &[]), Some(Kind::Work), "there is more to do");
    assert_eq!(whole(&mut sim, DONE, 1, &[0, 0]), Some(Kind::Review), "it was accepted");
    sim.iteration(DONE, 0, End::Exited { code: 0 });
    [0, 0].iter().for_each(|code| sim.check(*code));
    assert_eq!(stop(&mut sim), PROVED);

    // Work that changes nothing is a stall, as with a goal.
    let mut sim = all_proved(backlog(|_| {}), 1);
    whole(&mut sim, MORE, 0, &[]);
    for left in [2, 1] {
        assert_eq!(whole(&mut sim, MORE, 0, &[]), Some(Kind::Work), "{left} left");
    }
    sim.iteration(MORE, 0, End::Exited { code: 0 });
    assert_eq!(sim.stop(), "circuit_open");
}

#[test]
fn the_boot_ritual_comes_first_and_what_it_finds_broken_is_not_worked_on() {
    let booting = || backlog(|plan| plan.boot = Some(CheckSpec::named("boot", "./init.sh")));
    let mut sim = Sim::new(booting());
    let [Effect::RunCheck { check }] = &sim.effects[..] else { panic!("{:?}", sim.effects) };
    assert_eq!(check.command, "./init.sh");
    sim.check(0);
    assert_eq!(sim.effects, [Effect::ReadBacklog], "it passed");
    let mut sim = Sim::new(booting());
    sim.check(1);
    let Some(Stop::Error { what }) = sim.state.stop() else { panic!("{:?}", sim.state.phase) };
    assert!(what.starts_with("Fix build before running Ralph Loop: "), "{what}");
}

#[test]
fn a_refusal_is_told_to_who_tries_the_same_item_again_and_stays_until_that_passes() {
    let prompt = |sim: &Sim| crate::prompt::render(&sim.state, crate::prompt::Materials::default());
    let refused = |sim: &Sim| prompt(sim).contains("# The last \"done\" was refused");
    let again = |sim: &mut Sim, id: &str, code: i32| {
        sim.event(read(Found::Selected(Box::new(Work { id: id.into(), ..work() }))));
        sim.tree(When::Before, 0);
        sim.event(Event::ItemMarked { problem: None });
        sim.event(Event::AgentStarted { pid: 7, noted: Default::default() });
        let told = refused(sim);
        ends(sim, DONE, 0, 2, ItemAfter::default());
        sim.check(code);
        sim.event(Event::Settled(Box::default()));
        told
    };
    let mut sim = Sim::new(backlog(|_| {}));
    let told: Vec<bool> = [("a", 1), ("b", 0), ("a", 1), ("a", 0), ("a", 0)]
        .into_iter()
        .map(|(id, code)| again(&mut sim, id, code))
        .collect();
    assert_eq!(told, [false, false, true, true, false]);
}

/// Two items tripped the breaker, and this one was tried so, with these checks each time, until the circuit opened; then a probe
/// claims it and changes nothing.
fn probed(work: &Work, tries: &[(&str, u64, &[i32])], checks: &[i32]) -> Circuit {
    let mut sim = Sim::new(backlog(|_| {}));
    for id in ["one", "one", "one", "two", "two", "two"] {
        sim.event(read(Found::Selected(Box::new(Work { id: id.into(), ..work.clone() }))));
        sim.tree(When::Before, 0);
        sim.event(Event::ItemMarked { problem: None });
        sim.event(Event::AgentStarted { pid: 7, noted: Default::default() });
        ends(&mut sim, MORE, 0, 0, ItemAfter::default());
        sim.event(Event::Settled(Box::default()));
    }
    let try_it = |sim: &mut Sim, says: &str, changed: u64, checks: &[i32]| {
        select_one(sim, work.clone());
        ends(sim, says, 0, changed, ItemAfter::default());
        checks.iter().for_each(|code| sim.check(*code));
        sim.event(Event::Settled(Box::default()));
    };
    for (says, changed, checks) in tries {
        try_it(&mut sim, says, *changed, checks);
    }
    assert_eq!(sim.stop(), "circuit_open");
    let plan = sim.state.run.clone().expect("a run").plan;
    let resumed = RunResumed { plan, version: "0".into(), probe: true, unrecorded_ms: 0 };
    sim.event(Event::RunResumed(Box::new(resumed)));
    try_it(&mut sim, DONE, 0, checks);
    assert_eq!(sim.stop() == "running", sim.state.rules.breaker.circuit == Circuit::Closed);
    sim.state.rules.breaker.circuit
}

#[test]
fn a_probe_that_changes_nothing_closes_the_circuit_by_checks_that_tell_of_something_new() {
    let own = Work { checks: vec![CheckSpec::named("verify-1", "sh own.sh")], ..work() };
    let idle: (&str, u64, &[i32]) = (MORE, 0, &[]);
    let refused: (&str, u64, &[i32]) = (DONE, 0, &[0, 1]);
    let green: &[i32] = &[0, 0];
    assert_eq!(probed(&own, &[refused, refused, refused], green), Circuit::Closed, "somebody mended it");
    assert_eq!(probed(&own, &[(MORE, 2, &[]), idle, idle, idle], green), Circuit::Closed, "there is work");
    assert_eq!(probed(&own, &[idle, idle, idle], green), Circuit::Open, "it was so all the time");
    let plain = [idle, idle, (DONE, 0, &[0][..])];
    assert_eq!(probed(&work(), &plain, &[0]), Circuit::Open, "the agent's word");
    let red = [idle, idle, (DONE, 0, &[1][..])];
    assert_eq!(probed(&work(), &red, &[1]), Circuit::Open, "refused again");
}

#[test]
fn an_item_that_is_only_claimed_counts_as_an_iteration_without_progress() {
    let own = || Work { checks: vec![CheckSpec::named("verify-1", "sh own.sh")], ..work() };
    for (work, checks, counted) in [(work(), 1, 2), (own(), 2, 0)] {
        let mut sim = Sim::new(backlog(|_| {}));
        let attempts: &[Option<Attempt>] = match counted {
            0 => &[Some(Attempt::Passed)],
            _ => &[Some(Attempt::Failed), Some(Attempt::Passed)],
        };
        for came in attempts {
            select_one(&mut sim, work.clone());
            ends(&mut sim, DONE, 0, 0, ItemAfter::default());
            (0..checks).for_each(|_| sim.check(0));
            assert_eq!(attempt(&sim), *came);
            sim.event(Event::Settled(Box::default()));
        }
        assert_eq!(sim.state.rules.breaker.no_progress, counted, "a check of its own could have failed");
    }
}

#[test]
fn parts_that_are_taken_back_with_the_only_attempt_are_named() {
    let parts = || ItemAfter { in_part: true, ..ItemAfter::default() };
    for once in [false, true] {
        let mut sim = at_work(backlog(|plan| plan.backlog.as_mut().expect("a backlog").once = once));
        ends(&mut sim, MORE, 0, 1, parts());
        let [Effect::Settle { settlement }] = &sim.effects[..] else { panic!("{:?}", sim.effects) };
        let taken_back = settlement.untick.contains(&"FEAT-1".to_owned());
        let told = sim.last.as_ref().and_then(|decision| decision.concluded.as_ref()).expect("concluded");
        let named = told.differences.iter().any(|line| line.starts_with("parts of FEAT-1"));
        assert_eq!((taken_back, named), (once, once), "{told:?}");
    }
}
