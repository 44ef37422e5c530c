//! What must hold for every made-up file and every change of it.

use ralph_core::backlog::{Attempt, Backlog, Change, NewItem, Outcome, State, Syntax};
use ralph_core::time::Time;

use super::bounds;
use super::dice::Dice;
use super::documents::{self, Kind, Task};

/// Tries one file with a change of its state and one of another kind; panics with the seed if something is wrong.
pub(crate) fn hold(kind: Kind, seed: u64) {
    let tasks = documents::tasks(kind, seed);
    let text = documents::write(kind, seed, &tasks);
    let mut dice = Dice::new(seed ^ 0xabcd);
    let at = dice.below(tasks.len());
    another_state(kind, seed, &text, &tasks, at, &mut dice);
    another_change(kind, seed, &text, &tasks, at, &mut dice);
}

fn syntax(kind: Kind) -> Syntax {
    match kind {
        Kind::Yaml | Kind::Completed => Syntax::Yaml,
        Kind::Checklist | Kind::Plan => Syntax::Markdown,
        _ => Syntax::Json,
    }
}

fn state(word: &str) -> State {
    match word {
        " " | "false" => State::Open,
        "/" => State::InProgress,
        "x" | "true" => State::Done,
        word => State::parse(word).expect("a known word"),
    }
}

fn read<'a>(kind: Kind, seed: u64, text: &'a str, tasks: &[Task]) -> Backlog<'a> {
    let backlog =
        Backlog::read(text, syntax(kind)).unwrap_or_else(|error| panic!("{kind:?} {seed}: {error}\n{text}"));
    let read: Vec<State> = backlog.items().iter().map(|item| item.state).collect();
    let written: Vec<State> = tasks.iter().map(|task| state(task.state)).collect();
    assert_eq!(read, written, "{kind:?} {seed}\n{text}");
    backlog
}

/// The file with another state is, byte for byte, the file as it would have been written with that state.
fn another_state(kind: Kind, seed: u64, text: &str, tasks: &[Task], at: usize, dice: &mut Dice) {
    let backlog = read(kind, seed, text, tasks);
    let to = dice.pick(documents::states(kind));
    let from = state(tasks[at].state);
    let id = backlog.items()[at].id.clone().into_owned();
    let change = Change::State { id, to: state(to), at: None };
    let changed = backlog.change(&change);
    if from != state(to) && !ralph_core::backlog::legal(from, state(to)) {
        assert!(changed.is_err(), "{kind:?} {seed}: an illegal move\n{text}");
        return;
    }
    if from != state(to) && state(to) == State::Done && !documents::is_proved(kind, seed, at) {
        assert!(changed.is_err(), "{kind:?} {seed}: nothing proves it\n{text}");
        return;
    }
    let changed = changed.unwrap_or_else(|refusal| panic!("{kind:?} {seed}: {refusal}\n{text}"));
    // At its limit, a blocked item gets a note too.
    let noted = state(to) == State::Blocked
        && from != State::Blocked
        && backlog.items()[at].limit.is_some_and(|limit| limit.is_reached());
    if noted {
        return bounds::hold(&change, text, &changed.text, &changed.edits, &format!("{kind:?} {seed}"));
    }
    if tasks[at].silent {
        bounds::hold(&change, text, &changed.text, &changed.edits, &format!("{kind:?} {seed}"));
        return is_told_as_others(kind, seed, &backlog, &changed.text, at, to);
    }
    let mut meant = tasks.to_vec();
    meant[at].state = to;
    assert_eq!(changed.text, documents::write(kind, seed, &meant), "{kind:?} {seed}");
}

/// An item that said nothing of its state says it in the field of its file, and is otherwise what it was.
fn is_told_as_others(kind: Kind, seed: u64, before: &Backlog<'_>, new: &str, at: usize, to: &str) {
    let after = Backlog::read(new, syntax(kind)).expect("readable");
    for nth in 0..before.items().len() {
        let mut meant = before.value(nth);
        if nth == at && state(to) != State::Open {
            meant[documents::field_of(kind)] = to.parse::<bool>().map_or_else(|_| to.into(), Into::into);
        }
        assert_eq!(after.value(nth), meant, "{kind:?} {seed}\n{new}");
    }
    assert_eq!(after.items()[at].state, state(to), "{kind:?} {seed}\n{new}");
}

/// Other changes add bytes or replace few: every byte outside of them is where it was, and what is read is what was
/// meant.
fn another_change(kind: Kind, seed: u64, text: &str, tasks: &[Task], at: usize, dice: &mut Dice) {
    let backlog = read(kind, seed, text, tasks);
    let what = format!("{kind:?} {seed}");
    let change = any_change(kind, &backlog, at, dice);
    let changed = match backlog.change(&change) {
        Ok(changed) => changed,
        Err(refusal) => {
            assert!(is_against_rules(&change, &backlog, at), "{what}: {refusal}\n{text}");
            return;
        }
    };
    assert!(!is_against_rules(&change, &backlog, at), "{what}: {change:?}\n{text}");
    bounds::hold(&change, text, &changed.text, &changed.edits, &what);
    let after = Backlog::read(&changed.text, syntax(kind)).expect("readable");
    let added = matches!(change, Change::Add(_));
    assert_eq!(after.items().len(), tasks.len() + usize::from(added), "{what}");
    let place = if added { after.find(&changed.id).expect("the new one") } else { tasks.len() };
    for (nth, item) in backlog.items().iter().enumerate() {
        let place = nth + usize::from(nth >= place);
        let new = &after.items()[place];
        assert_eq!((&new.id, &new.title), (&item.id, &item.title), "{what}");
        if added || nth != at {
            assert_eq!((new.state, after.value(place)), (item.state, backlog.value(nth)), "{what}");
        }
    }
    is_as_meant(&change, &backlog, &after, at, place, &what);
    if syntax(kind) == Syntax::Json {
        others_agree(kind, text, &changed.text, &what);
    }
}

fn any_change(kind: Kind, backlog: &Backlog<'_>, at: usize, dice: &mut Dice) -> Change {
    let id = backlog.items()[at].id.clone().into_owned();
    let add = NewItem { title: TITLE.into(), ..NewItem::default() };
    let reason = || Some("nobody \"knows\"".to_owned());
    match (kind, dice.below(6)) {
        (Kind::Features, 0) => Change::Attempt { id, attempt: attempt() },
        (Kind::Features, 1) => Change::Increment { id, block_on_max: false, override_reason: None },
        (Kind::Features, 2) => Change::Increment { id, block_on_max: true, override_reason: reason() },
        (_, 3) => Change::Reset { id },
        // Among those of a priority, which may be anywhere in the file.
        (Kind::Checklist, 0 | 1) => {
            let priority = Some(backlog.items()[at].priority.to_string());
            Change::Add(NewItem { priority, ..add })
        }
        _ => Change::Add(add),
    }
}

const TITLE: &str = "one more: thing";

/// Whether the change is against the rules, as far as that can be told without asking who makes it.
fn is_against_rules(change: &Change, backlog: &Backlog<'_>, at: usize) -> bool {
    let item = &backlog.items()[at];
    let reached = item.limit.is_some_and(|limit| limit.used + 1 >= limit.max);
    match change {
        Change::Reset { .. } => matches!(item.state, State::Done | State::Cancelled),
        Change::Increment { block_on_max: true, .. } => {
            reached && matches!(item.state, State::Done | State::Cancelled)
        }
        _ => false,
    }
}

fn is_as_meant(
    change: &Change,
    before: &Backlog<'_>,
    after: &Backlog<'_>,
    at: usize,
    place: usize,
    what: &str,
) {
    let (old, new) = (&before.items()[at], after.items().get(at));
    match change {
        Change::Attempt { .. } => {
            let list = after.value(at)["attempts"].as_array().expect("a list").clone();
            assert_eq!(list.len(), before.attempts(at).len() + 1, "{what}");
            let (last, earlier) = list.split_last().expect("one");
            let known = before.value(at)["attempts"].as_array().cloned().unwrap_or_default();
            assert_eq!(earlier, known, "{what}");
            let run_id = last["run_id"].as_str().expect("an id");
            assert!(run_id.starts_with("worker-") && run_id.len() == 10, "{what}: {run_id}");
            let meant = serde_json::json!({"run_id": run_id, "timestamp": "1970-01-01T00:00:00.000Z", "result": "PASSED",
                "evidence": {"commands_run": ["make \"all\"", "größe"], "results_summary": "two\nlines"}, "commit": null,
                "reverted": false});
            assert_eq!(*last, meant, "{what}");
            assert_eq!(new.map(|new| new.state), Some(old.state), "{what}");
        }
        Change::Increment { block_on_max, .. } => {
            let used = old.limit.map(|limit| limit.used + 1);
            assert_eq!(new.and_then(|new| new.limit).map(|limit| limit.used), used, "{what}");
            let blocks = *block_on_max && old.limit.is_some_and(|limit| limit.used + 1 >= limit.max);
            let state = if blocks { State::Blocked } else { old.state };
            assert_eq!(new.map(|new| new.state), Some(state), "{what}");
            let reason = after.value(at)["override_reason"].clone();
            let newly = blocks && old.state != State::Blocked;
            assert_eq!(reason == "nobody \"knows\"", newly, "{what}");
        }
        Change::Reset { .. } => {
            let new = new.expect("still there");
            assert_eq!((new.state, new.limit.map_or(0, |limit| limit.used)), (State::Open, 0), "{what}");
        }
        Change::Add(NewItem { priority: Some(_), .. }) => {
            let found = &after.items()[place];
            assert_eq!((&*found.title, found.priority), (TITLE, old.priority), "{what}");
        }
        _ => {
            let title = &after.items()[before.items().len()].title;
            // In a plan it is the next task.
            assert!(
                title == TITLE || title.ends_with(&format!(" {}: {TITLE}", before.items().len() + 1)),
                "{what}: {title}"
            );
        }
    }
}

/// JSON is held against another reader too.
fn others_agree(kind: Kind, text: &str, changed: &str, what: &str) {
    let json = |text: &str| serde_json::from_str::<serde_json::Value>(text.trim_start_matches('\u{feff}'));
    let (before, after) = (json(text).expect("JSON"), json(changed).expect("JSON"));
    for (name, value) in before.as_object().into_iter().flatten() {
        if name != documents::list_of(kind) {
            assert_eq!(value, &after[name], "{what}");
        }
    }
}

fn attempt() -> Attempt {
    Attempt {
        run_id: None,
        at: Time::from_millis(0),
        outcome: Outcome::Passed,
        commands: vec!["make \"all\"".into(), "größe".into()],
        summary: Some("two\nlines".into()),
        commit: None,
        reverted: false,
        failure_reason: None,
        investigation: None,
        files_changed: None,
    }
}
