use super::*;
use crate::event::{End, Measured, PutBack, RunResumed, StopBy};
use crate::evidence::Items;
use crate::git_text::ChangeKind;
use crate::items::{BacklogPlan, BacklogRead, Found, Work};
use crate::journal;
use crate::machine::tests::{DONE, MORE, Sim, ended, plan};

fn change(path: &str, new: Option<&str>) -> Change {
    let new = new.map(|id| Object { mode: 0o100_644, id: id.into() });
    Change { path: path.into(), kind: ChangeKind::Modified, old: None, new }
}

fn found(back: &[Change], steps: &[(By, Vec<Change>)]) -> Vec<String> {
    let paths = outside(back, steps, |_| Content::Other).paths;
    paths.into_iter().map(|path| String::from_utf8(path).expect("text")).collect()
}

#[test]
fn what_somebody_else_brought_is_told_from_what_agents_did() {
    let back = [change("a", Some("0")), change("b", Some("0")), change("c", None), change("d", Some("0"))];
    let steps = [
        (By::Agent, vec![change("a", Some("1")), change("b", Some("1"))]),
        (By::Else, vec![change("b", Some("2")), change("c", Some("1")), change("other", Some("1"))]),
        (By::Agent, vec![change("b", Some("3"))]),
        (By::Ralph, vec![change("a", Some("4"))]),
        (By::Else, vec![change("d", None)]),
    ];
    assert_eq!(found(&back, &steps), ["b", "c", "d"], "changed by both, made, and deleted");
}

#[test]
fn what_was_put_back_as_it_had_been_is_nothing_new() {
    let back = [change("a", Some("0")), change("b", None)];
    let steps = [
        (By::Agent, vec![change("a", Some("1"))]),
        (By::Agent, vec![change("a", Some("2")), change("b", Some("1"))]),
        (By::Else, vec![change("a", Some("1")), change("b", None)]),
        (By::Agent, vec![change("a", Some("3")), change("b", Some("2"))]),
    ];
    assert_eq!(found(&back, &steps), [""; 0]);
}

#[test]
fn what_ralph_wrote_and_what_nobody_can_tell_is_not_called_the_user_s() {
    let back = [change("plan.md", Some("0"))];
    let marked = vec![change("plan.md", Some("1"))];
    let whose = |change: &Change| match &change.new {
        Some(new) if new.id == "1" => Content::Ralphs,
        _ => Content::TaskFile,
    };
    let known = outside(&back, &[(By::Else, marked.clone()), (By::Checks, marked.clone())], whose);
    assert_eq!(known, Outside::default());
    let unknown = outside(&back, &[(By::Unknown, marked)], whose);
    assert_eq!((unknown.paths.len(), unknown.untold.len()), (0, 1));
    let elsewhere = outside(&back, &[(By::Unknown, vec![change("x", Some("1"))])], whose);
    assert_eq!(elsewhere, Outside::default());
}

#[test]
fn what_checks_wrote_is_the_iteration_s_but_a_task_file_is_nothing_that_they_write() {
    let back = [change("lock", Some("0")), change("plan.md", Some("0"))];
    let wrote = vec![change("lock", Some("1")), change("plan.md", Some("1"))];
    let whose = |change: &Change| match change.path.as_slice() {
        b"plan.md" => Content::TaskFile,
        _ => Content::Other,
    };
    let found = outside(&back, &[(By::Checks, wrote.clone())], whose);
    assert_eq!(found.paths, BTreeSet::from([b"plan.md".to_vec()]));
    assert_eq!(found.checked, BTreeSet::from([b"lock".to_vec()]), "it is put back and named");
    let worked = vec![change("lock", Some("2"))];
    let found = outside(&back, &[(By::Checks, wrote), (By::Agent, worked)], whose);
    assert_eq!(found.checked, BTreeSet::new(), "an agent changed it too");
}

#[test]
fn what_nobody_can_tell_is_named_unless_agents_changed_it_elsewhere_or_somebody_else_did() {
    let back = [change("a", Some("0")), change("b", Some("0")), change("c", Some("0"))];
    let cut_off = vec![change("a", Some("2")), change("b", Some("2")), change("c", Some("2"))];
    let steps = [
        (By::Unknown, cut_off),
        (By::Agent, vec![change("b", Some("3"))]),
        (By::Else, vec![change("c", Some("3"))]),
    ];
    let found = outside(&back, &steps, |_| Content::Other);
    let only = |path: &str| BTreeSet::from([path.as_bytes().to_vec()]);
    assert_eq!(found, Outside { paths: only("c"), untold: only("a"), checked: BTreeSet::new(), mixed: true });
}

fn measured(sim: &mut Sim, when: When, tree: &str, changed: u64) {
    let mut measured = Measured::new(when, tree.into(), None, &[]);
    measured.changed_total = changed;
    sim.event(Event::TreeMeasured(Box::new(measured)));
}

fn trail(sim: &Sim, first: u64) -> Trail {
    let mut trail = Trail::from(first);
    journal::open(sim.journal.as_bytes(), |record, state| trail.take(record, state));
    trail
}

fn told(trail: &Trail, gone: &str) -> Vec<(String, By)> {
    let steps = trail.steps(|tree| tree != gone);
    steps.into_iter().map(|step| (format!("{} {}", step.from, step.to), step.by)).collect()
}

#[test]
fn the_way_of_the_files_is_read_off_the_record() {
    let mut sim = Sim::new(plan(&["make test"]));
    let first = sim.state.iteration;
    let more = || ended(MORE, End::Exited { code: 0 });
    measured(&mut sim, When::Before, "t0", 0);
    sim.event(more());
    measured(&mut sim, When::After, "t1", 1);
    // Nothing ran in between: the next one begins with the same snapshot.
    sim.event(ended(DONE, End::Exited { code: 0 }));
    measured(&mut sim, When::After, "t2", 1);
    sim.check(1);
    measured(&mut sim, When::Before, "t3", 0);
    sim.event(Event::StopAsked { by: StopBy::Interrupt });
    sim.event(ended(MORE, End::Stopped));
    measured(&mut sim, When::After, "t4", 1);
    assert_eq!(sim.stop(), "interrupted");
    let put_back = PutBack {
        iteration: Some(1),
        from: "t5".into(),
        to: "t6".into(),
        files: 1,
        head: None,
        only: vec![],
    };
    sim.event(Event::TreePutBack(Box::new(put_back)));
    let step = |way: &str, by| (way.to_owned(), by);
    let later = [
        step("t2 t3", By::Checks),
        step("t3 t4", By::Agent),
        step("t4 t5", By::Else),
        step("t5 t6", By::Ralph),
    ];
    let all = [&[step("t0 t1", By::Agent), step("t1 t2", By::Agent)][..], &later[..]].concat();
    assert_eq!((told(&trail(&sim, 0), ""), told(&trail(&sim, first), "")), (all.clone(), all.clone()));
    assert_eq!(told(&trail(&sim, first + 1), ""), all[1..]);
    assert_eq!(told(&trail(&sim, first + 2), ""), later[1..]);
    assert_eq!(told(&trail(&sim, first + 1), "t2")[0], step("t1 t3", By::Unknown), "two steps in one");
    assert_eq!(told(&trail(&sim, first), "t1")[0], step("t0 t2", By::Agent), "of the same");
    let mut ends = trail(&sim, first + 2);
    ends.end("t7");
    assert_eq!(told(&ends, "").last(), Some(&step("t6 t7", By::Else)));
}

#[test]
fn of_an_agent_that_was_cut_off_nobody_knows_who_came_after_it() {
    let mut sim = Sim::new(plan(&[]));
    let first = sim.state.iteration;
    measured(&mut sim, When::Before, "t0", 0);
    let mut cut = trail(&sim, first);
    cut.end("t1");
    assert_eq!(told(&cut, ""), [("t0 t1".to_owned(), By::Unknown)]);
    let (plan, version) = (plan(&[]), "0".into());
    sim.event(Event::RunResumed(Box::new(RunResumed { plan, version, probe: false, unrecorded_ms: 0 })));
    sim.event(ended(MORE, End::Cut));
    measured(&mut sim, When::After, "t2", 1);
    assert_eq!(told(&trail(&sim, first), ""), [("t0 t2".to_owned(), By::Unknown)]);
}

#[test]
fn what_came_while_ralph_stood_still_or_waited_is_nothing_that_checks_wrote() {
    let mut sim = Sim::new(plan(&["make test"]));
    let first = sim.state.iteration;
    measured(&mut sim, When::Before, "t0", 0);
    sim.event(ended(DONE, End::Exited { code: 0 }));
    measured(&mut sim, When::After, "t1", 1);
    let (plan, version) = (plan(&["make test"]), "0".into());
    sim.event(Event::RunResumed(Box::new(RunResumed { plan, version, probe: false, unrecorded_ms: 0 })));
    measured(&mut sim, When::After, "t2", 1);
    sim.check(1);
    measured(&mut sim, When::Before, "t3", 0);
    let step = |way: &str, by| (way.to_owned(), by);
    let mut ends = trail(&sim, first);
    ends.end("t4");
    assert_eq!(
        told(&ends, ""),
        [
            step("t0 t1", By::Agent),
            step("t1 t2", By::Else),
            step("t2 t3", By::Checks),
            step("t3 t4", By::Unknown)
        ]
    );
}

#[test]
fn an_item_that_could_not_be_marked_had_no_agent() {
    for (problem, by) in [(None, By::Unknown), (Some("it is gone".to_owned()), By::Else)] {
        let mut plan = plan(&[]);
        plan.backlog = Some(BacklogPlan { file: "plan.md".into(), ..BacklogPlan::default() });
        let mut sim = Sim::new(plan);
        let found = Found::Selected(Box::new(Work { id: "FEAT-1".into(), ..Work::default() }));
        let (items, phases) = (Items { open: 1, total: 1 }, vec![]);
        let read = BacklogRead { items, phases, ..BacklogRead::new(found) };
        sim.event(Event::BacklogRead(Box::new(read)));
        measured(&mut sim, When::Before, "t0", 0);
        assert_eq!(sim.effects, [Effect::MarkItem { id: "FEAT-1".into() }]);
        sim.event(Event::ItemMarked { problem });
        let mut trail = trail(&sim, sim.state.iteration);
        trail.end("t1");
        assert_eq!(told(&trail, ""), [("t0 t1".to_owned(), by)]);
    }
}
