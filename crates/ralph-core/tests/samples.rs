//! Task files as people write them, one or more of each dialect: every item is changed in every way that its dialect
//! allows, also with other line ends, with a byte order mark, and without a last line end.

#[path = "lossless/bounds.rs"]
mod bounds;

use std::path::Path;

use ralph_core::backlog::{
    Attempt, Backlog, Change, NewItem, Outcome, Refusal, Rule, State, Syntax, validate,
};
use ralph_core::time::Time;

use State::{Blocked, Cancelled, Done, InProgress, Open};

const SAMPLES: [(&str, &[State]); 9] = [
    ("feature_list.json", &[Done, Open, Blocked, Cancelled]),
    ("ralph.yml", &[Done, InProgress, Open, Open, Blocked]),
    ("tasks.yaml", &[Done, Open, Open, Open]),
    ("prd.json", &[Done, Open, Open]),
    ("prd-2.json", &[Done, Open, InProgress, Blocked]),
    ("features.json", &[Done, Open, Open]),
    ("stories.json", &[Done, InProgress, Open]),
    ("fix_plan.md", &[Done, InProgress, Open, Done, Open, Open, Open, Open, Done, Open]),
    ("plan.md", &[Done, Open, Open]),
];

fn folder() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples")
}

/// The file as it is, and as other editors would leave it.
fn versions(name: &str) -> Vec<(String, String)> {
    let text = std::fs::read_to_string(folder().join(name)).expect("a sample");
    let windows = text.replace('\n', "\r\n");
    let cut = text.trim_end_matches('\n').to_owned();
    [("", text.clone()), (" with CRLF", windows), (" with a mark", format!("\u{feff}{text}")), (" cut", cut)]
        .into_iter()
        .map(|(how, text)| (format!("{name}{how}"), text))
        .collect()
}

fn attempt() -> Attempt {
    Attempt {
        run_id: None,
        at: Time::from_millis(0),
        outcome: Outcome::Failed,
        commands: vec!["make".into()],
        summary: Some("red".into()),
        commit: None,
        reverted: true,
        failure_reason: Some("it \"broke\"".into()),
        investigation: None,
        files_changed: Some(vec!["a b".into()]),
    }
}

/// Everything that could be asked of an item.
fn changes(id: &str) -> Vec<Change> {
    let id = || id.to_owned();
    let at = Some(Time::from_millis(0));
    let states = [Open, InProgress, Done, Blocked, Cancelled].into_iter();
    let mut changes: Vec<Change> = states.map(|to| Change::State { id: id(), to, at }).collect();
    changes.push(Change::Attempt { id: id(), attempt: attempt() });
    changes.push(Change::Increment { id: id(), block_on_max: false, override_reason: None });
    changes.push(Change::Increment { id: id(), block_on_max: true, override_reason: Some("why".into()) });
    changes.push(Change::Reset { id: id() });
    changes.push(Change::Add(NewItem { title: "one more".into(), ..NewItem::default() }));
    changes
}

/// Whether a refusal is the dialect's or the rules', and not that of an editor who cannot find the place.
fn is_by_the_rules(refusal: &Refusal) -> bool {
    !matches!(refusal, Refusal::NotLossless(_) | Refusal::Unreadable(_) | Refusal::UnknownId(_))
}

/// Tries every change of every item; how many were made.
fn edited(what: &str, text: &str, syntax: Syntax) -> usize {
    let backlog = Backlog::read(text, syntax).unwrap_or_else(|error| panic!("{what}: {error}"));
    let mut made = 0;
    for (at, item) in backlog.items().iter().enumerate() {
        for change in changes(&item.id) {
            let what = format!("{what}, {}: {change:?}", item.id);
            let changed = match backlog.change(&change) {
                Ok(changed) => changed,
                Err(refusal) => {
                    assert!(is_by_the_rules(&refusal), "{what}: {refusal}");
                    continue;
                }
            };
            made += 1;
            bounds::hold(&change, text, &changed.text, &changed.edits, &what);
            let after = Backlog::read(&changed.text, syntax).expect("readable");
            let added = usize::from(matches!(change, Change::Add(_)));
            assert_eq!(after.items().len(), backlog.items().len() + added, "{what}");
            if let Change::State { to, .. } = change {
                assert_eq!(after.items()[at].state, to, "{what}");
            }
            for (nth, other) in backlog.items().iter().enumerate().filter(|(nth, _)| *nth != at) {
                let place = after.find(&other.id).expect("still there");
                assert_eq!(after.value(place), backlog.value(nth), "{what}");
                assert_eq!(after.items()[place].state, other.state, "{what}");
            }
        }
    }
    made
}

#[test]
fn samples_of_every_dialect_change_in_the_bytes_of_the_change_only() {
    for (name, states) in SAMPLES {
        let syntax = Syntax::of_name(name).expect("a known end");
        for (what, text) in versions(name) {
            let backlog = Backlog::read(&text, syntax).expect("readable");
            let found: Vec<State> = backlog.items().iter().map(|item| item.state).collect();
            assert_eq!(found, states, "{what}");
            assert_eq!(backlog.problems(), [], "{what}");
            let kinds = validate(&backlog, None, false).findings.into_iter();
            let kinds: Vec<_> = kinds.filter(|finding| finding.rule == Rule::Kind).collect();
            assert_eq!(kinds, [], "{what}");
            // At least: to stay, one other state, a reset or a way back, and one more.
            let made = edited(&what, &text, syntax);
            assert!(made >= 3 * states.len(), "{what}: {made} changes");
        }
    }
}

#[test]
fn every_sample_is_tried() {
    let there = std::fs::read_dir(folder()).expect("the samples");
    let there: Vec<String> =
        there.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    assert_eq!(there.len(), SAMPLES.len(), "{there:?}");
    assert!(SAMPLES.iter().all(|(name, _)| there.iter().any(|known| known == name)));
}

#[test]
fn a_task_of_a_plan_is_one_item_and_its_boxes_are_its_steps() {
    let text = std::fs::read_to_string(folder().join("plan.md")).expect("a sample");
    let plan = Backlog::read(&text, Syntax::Markdown).expect("readable");
    let titles: Vec<&str> = plan.items().iter().map(|item| &*item.title).collect();
    assert_eq!(titles, ["Task 1: Write rows", "Task 2: Choose columns", "Task 3: Documentation"]);
    assert!(plan.words(0, None).contains("**Files:** `src/csv.rs`\n\n- [x] quote what needs it"));
    assert_eq!(plan.criteria(1), ["a flag `--columns a,b`", "write tests", "run the tests"]);
    let id = plan.items()[1].id.to_string();
    let to = |backlog: &Backlog<'_>, to: State| {
        let change = Change::State { id: id.clone(), to, at: None };
        backlog.change(&change).expect("a change").text
    };
    let begun = to(&plan, InProgress);
    assert_eq!(begun, text.replacen("- [ ] a flag", "- [/] a flag", 1));
    // An agent ticks steps as it goes: no harm, and not done before all are.
    let ticked = begun.replacen("- [/] a flag", "- [x] a flag", 1);
    let after = Backlog::read(&ticked, Syntax::Markdown).expect("readable");
    let touched = after.touched_since(&plan);
    assert!(!touched.is_harm() && touched.ticked.is_empty(), "{touched:?}");
    assert_eq!(after.items()[1].state, InProgress);
    assert_eq!(after.judged_by(1, None), plan.judged_by(1, None));
    let proved = to(&after, Done);
    let all = Backlog::read(&proved, Syntax::Markdown).expect("readable");
    assert_eq!(all.items()[1].state, Done);
    assert_eq!(all.touched_since(&plan).ticked, [id.as_str()], "all of them are the claim");
    assert_eq!(to(&all, Open), text);
    // Another step, or other words, is another task to be done.
    let bent = text.replacen("- [ ] write tests", "- [ ] write no tests", 1);
    let bent = Backlog::read(&bent, Syntax::Markdown).expect("readable");
    assert!(bent.touched_since(&plan).is_harm());
    assert_ne!(bent.judged_by(1, None), plan.judged_by(1, None));
    let added = plan
        .change(&Change::Add(NewItem { title: "Import".into(), ..NewItem::default() }))
        .expect("one more");
    assert_eq!(added.text, format!("{}\n\n### Task 4: Import\n\n- [ ] Import\n", text.trim_end()));
}
