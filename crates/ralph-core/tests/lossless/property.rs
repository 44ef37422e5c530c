//! What must hold for every made-up file and every change of it.

use ralph_core::backlog::{Attempt, Backlog, Change, NewItem, Outcome, State, Syntax};
use ralph_core::time::Time;

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
        Kind::Features | Kind::UserStories => Syntax::Json,
        Kind::Yaml => Syntax::Yaml,
        Kind::Checklist => Syntax::Markdown,
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
    let changed = backlog.change(&Change::State { id, to: state(to), at: None });
    if from != state(to) && !ralph_core::backlog::legal(from, state(to)) {
        assert!(changed.is_err(), "{kind:?} {seed}: an illegal move\n{text}");
        return;
    }
    let changed = changed.unwrap_or_else(|refusal| panic!("{kind:?} {seed}: {refusal}\n{text}"));
    let mut meant = tasks.to_vec();
    meant[at].state = to;
    assert_eq!(changed.text, documents::write(kind, seed, &meant), "{kind:?} {seed}");
}

/// Other changes add bytes or replace few: every byte outside of them is where it was, and what is read is what was
/// meant.
fn another_change(kind: Kind, seed: u64, text: &str, tasks: &[Task], at: usize, dice: &mut Dice) {
    let backlog = read(kind, seed, text, tasks);
    let id = backlog.items()[at].id.clone().into_owned();
    let title = "one more: thing";
    let add = NewItem { title: title.into(), ..NewItem::default() };
    let (change, added) = match (kind, dice.below(3)) {
        (Kind::Features, 0) => (Change::Attempt { id, attempt: attempt() }, false),
        (Kind::Features, 1) => (Change::Increment { id, block_on_max: false, override_reason: None }, false),
        // Among those of a priority, which may be anywhere in the file.
        (Kind::Checklist, 0) => {
            let priority = Some(backlog.items()[at].priority.to_string());
            (Change::Add(NewItem { priority, ..add }), true)
        }
        _ => (Change::Add(add), true),
    };
    let changed =
        backlog.change(&change).unwrap_or_else(|refusal| panic!("{kind:?} {seed}: {refusal}\n{text}"));
    outside_is_untouched(text, &changed.text, &changed.edits, kind, seed);
    let after = Backlog::read(&changed.text, syntax(kind)).expect("readable");
    assert_eq!(after.items().len(), tasks.len() + usize::from(added), "{kind:?} {seed}");
    let place = if added { after.find(&changed.id).expect("the new one") } else { tasks.len() };
    for (nth, item) in backlog.items().iter().enumerate() {
        let place = nth + usize::from(nth >= place);
        let new = &after.items()[place];
        assert_eq!((&new.id, &new.title, new.state), (&item.id, &item.title, item.state), "{kind:?} {seed}");
        if added || nth != at {
            assert_eq!(after.value(place), backlog.value(nth), "{kind:?} {seed}");
        }
    }
    match change {
        Change::Attempt { .. } => {
            assert_eq!(after.attempts(at).len(), backlog.attempts(at).len() + 1, "{seed}\n{}", changed.text);
        }
        Change::Increment { .. } => {
            assert_eq!(after.items()[at].limit.map(|limit| limit.used), Some(tasks[at].count + 1), "{seed}");
        }
        Change::Add(NewItem { priority: Some(_), .. }) => {
            let priorities = (after.items()[place].priority, backlog.items()[at].priority);
            assert_eq!((&*after.items()[place].title, priorities.0), (title, priorities.1), "{seed}");
        }
        _ => assert_eq!(after.items()[tasks.len()].title, title, "{kind:?} {seed}"),
    }
    // JSON is held against another reader too.
    if syntax(kind) == Syntax::Json {
        let json =
            |text: &str| serde_json::from_str::<serde_json::Value>(text.trim_start_matches('\u{feff}'));
        let (before, after) = (json(text).expect("JSON"), json(&changed.text).expect("JSON"));
        for (name, value) in before.as_object().expect("an object") {
            if name != "items" && name != "userStories" {
                assert_eq!(value, &after[name], "{kind:?} {seed}");
            }
        }
    }
}

fn outside_is_untouched(old: &str, new: &str, edits: &[ralph_core::edit::Edit], kind: Kind, seed: u64) {
    let (mut at, mut in_new) = (0, 0);
    let mut ordered: Vec<_> = edits.iter().collect();
    ordered.sort_by_key(|edit| edit.range.start);
    for edit in ordered {
        let kept = edit.range.start - at;
        assert_eq!(old[at..][..kept], new[in_new..][..kept], "{kind:?} {seed}");
        in_new += kept;
        assert_eq!(new[in_new..][..edit.text.len()], edit.text, "{kind:?} {seed}");
        (at, in_new) = (edit.range.end, in_new + edit.text.len());
    }
    assert_eq!(old[at..], new[in_new..], "{kind:?} {seed}");
    let of_windows = |text: &str| text.matches("\r\n").count() == text.matches('\n').count();
    // A file of one line tells nothing about how lines end.
    if old.contains('\n') {
        assert_eq!(of_windows(new), of_windows(old), "line ends: {kind:?} {seed}\n{new:?}");
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
        files_changed: vec![],
    }
}
