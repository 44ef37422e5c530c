//! What was done to a task file while an agent worked. Agents may add items, and tick what they did; everything else about
//! an item is not theirs to change: not whether it is there, not what it is judged by, not how often it was tried. Issues
//! (beads) that somebody else had in hand before are that one's business.

use alloc::collections::BTreeMap;

use super::{Backlog, Shape, State};
use crate::prelude::*;

/// What became of the items that were there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Touched {
    /// Done now, and not before; also items that came as done.
    pub ticked: Vec<String>,
    /// Items that are not done, with steps or parts that are and were not.
    pub stepped: Vec<String>,
    /// Items with other marks of their parts than before, or another count of attempts: taken back where nobody proved them.
    pub in_part: Vec<String>,
    pub removed: Vec<String>,
    pub changed: Vec<Altered>,
    pub added: Vec<String>,
}

/// An item that is not what it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Altered {
    pub id: String,
    /// What of it: `title`, `criteria`, …
    pub what: Vec<&'static str>,
}

/// What is said of the file as a whole.
pub const COMMANDS_FOR_ALL: &str = "the commands for every item";
const LIMIT: &str = "how many iterations a run may have (config.max_iterations)";
const KIND: &str = "the kind of the list";

impl Touched {
    /// Whether more was done than agents may do.
    pub fn is_harm(&self) -> bool {
        !self.removed.is_empty() || !self.changed.is_empty()
    }
}

impl Backlog<'_> {
    fn bytes_of(&self, at: usize) -> Option<&str> {
        self.text.get(self.items[at].span.clone())
    }

    /// What was done since the file was as in `before`.
    pub fn touched_since(&self, before: &Backlog<'_>) -> Touched {
        let mut touched = Touched::default();
        let whole = |id: &str| Altered { id: id.into(), what: vec![] };
        if self.shape != before.shape {
            touched.changed.push(whole(KIND));
        }
        if self.checks() != before.checks() {
            touched.changed.push(whole(COMMANDS_FOR_ALL));
        }
        if self.max_iterations() != before.max_iterations() {
            touched.changed.push(whole(LIMIT));
        }
        let mut there = by_id(self);
        for (id, old) in by_id(before) {
            let new = there.remove(id).unwrap_or_default();
            for (nth, at) in old.iter().enumerate() {
                match new.get(nth) {
                    // Not by how it stands now: to give an issue away would be a way to be rid of it.
                    _ if before.is_others(*at) => {}
                    None => touched.removed.push(id.into()),
                    // A task that had nothing to tick is an item only now.
                    Some(now) if before.lacks_steps(*at) && !self.lacks_steps(*now) => {
                        touched.came(self, id, &[*now]);
                    }
                    Some(now) => touched.compared(before, *at, self, *now),
                }
            }
            if new.len() > old.len() {
                // Whoever looks for it would find another one.
                touched.changed.push(Altered { id: id.into(), what: vec!["its id, which is there twice"] });
            }
        }
        for (id, new) in there {
            touched.came(self, id, &new);
        }
        touched
    }
}

impl Touched {
    fn came(&mut self, after: &Backlog<'_>, id: &str, places: &[usize]) {
        self.added.push(id.into());
        if places.iter().any(|at| after.items[*at].state == State::Done && !after.is_others(*at)) {
            self.ticked.push(id.into());
        }
    }

    fn compared(&mut self, before: &Backlog<'_>, old: usize, after: &Backlog<'_>, new: usize) {
        // What belongs to a box or a task stands below its line.
        let by_its_bytes = before.shape == after.shape && after.shape != Shape::Checklist;
        if by_its_bytes && before.bytes_of(old) == after.bytes_of(new) {
            return;
        }
        let id = || before.items[old].id.to_string();
        let (was, is) = (before.items[old].state, after.items[new].state);
        let new_parts = after.has_new_parts(new, before, old);
        if was.is_open() && is == State::Done && !before.rests(old) {
            self.ticked.push(id());
        } else if was != State::Done && (new_parts || after.has_new_steps(new, before, old)) {
            self.stepped.push(id());
        }
        if new_parts || after.is_counted_anew(new, before, old) {
            self.in_part.push(id());
        }
        let what = differences(before, old, after, new);
        if !what.is_empty() {
            self.changed.push(Altered { id: id(), what });
        }
    }
}

/// The places of each id; several, where it is there several times.
fn by_id<'b>(backlog: &'b Backlog<'_>) -> BTreeMap<&'b str, Vec<usize>> {
    let mut places = BTreeMap::<&str, Vec<usize>>::new();
    for (at, item) in backlog.items.iter().enumerate() {
        places.entry(&item.id).or_default().push(at);
    }
    places
}

fn differences(before: &Backlog<'_>, old: usize, after: &Backlog<'_>, new: usize) -> Vec<&'static str> {
    let (was, is) = (&before.items[old], &after.items[new]);
    let texts = |read: &dyn Fn(&Backlog<'_>, usize) -> Vec<String>| read(before, old) != read(after, new);
    let issues = after.shape == Shape::Beads;
    let differs = [
        ("state", !may_become(was.state, is.state)),
        ("state", before.rests(old) && before.status(old) != after.status(new)),
        ("title", was.title != is.title),
        ("phase", was.phase != is.phase),
        // Of an issue both follow from how others stand; what it says itself is looked at below.
        ("dependencies", !issues && was.dependencies != is.dependencies),
        ("dependencies", issues && texts(&|backlog, at| backlog.blocked_by(at))),
        ("enabled", !issues && was.enabled != is.enabled),
        ("who has it", issues && after.is_others(new)),
        ("that it is handed out", issues && after.is_set_apart(new, before, old)),
        ("its iterations", was.limit != is.limit),
        ("attempts", before.attempts(old) != after.attempts(new)),
        ("description", before.description(old) != after.description(new)),
        ("criteria", texts(&|backlog, at| backlog.criteria(at))),
        ("verification", texts(&|backlog, at| backlog.verification(at))),
        ("parts", texts(&|backlog, at| backlog.subtasks(at))),
        ("convergence_criteria", before.convergence(old) != after.convergence(new)),
        ("prd_reference", before.prd_file(old) != after.prd_file(new)),
    ];
    differs.into_iter().filter(|(_, differs)| *differs).map(|(what, _)| what).collect()
}

/// An item that is open may be begun or ticked; all other states are set by ralph and by people.
fn may_become(was: State, is: State) -> bool {
    was == is || (was.is_open() && (is.is_open() || is == State::Done))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backlog::Syntax;

    const FEATURES: &str = r#"{"items": [
      {"id": "F-1", "title": "one", "status": "FAILING", "priority": 1, "verification": ["make one"],
       "acceptance_criteria": ["a"], "attempts": [{"run_id": "w-1", "result": "FAILED"}], "notes": "",
       "ralph_loop": {"enabled": true, "max_iterations": 3, "current_iteration": 2}},
      {"id": "F-2", "title": "two", "status": "FAILING", "dependencies": ["F-1"], "description": "d",
       "verification": ["make two"], "ralph_loop": {"enabled": true}}
    ]}"#;
    const TASKS: &str = "tasks:\n  - id: T-1\n    title: one\n    status: todo\n    phase: mvp\n  - id: T-2\n    title: two\n    status: blocked\n";
    const BOXES: &str = "# Plan\n\n- [ ] first\n- [ ] second\n\n## Validation Commands\n\n- `make test`\n";

    fn touched(text: &str, syntax: Syntax, from: &str, to: &str) -> Touched {
        assert!(text.contains(from), "{from}");
        let edited = text.replacen(from, to, 1);
        let before = Backlog::read(text, syntax).expect("before");
        Backlog::read(&edited, syntax).expect("after").touched_since(&before)
    }

    /// What is said to have been changed, as `id: what`.
    fn harm(text: &str, syntax: Syntax, from: &str, to: &str) -> Vec<String> {
        let touched = touched(text, syntax, from, to);
        let changed = touched.changed.iter().map(|item| format!("{}: {}", item.id, item.what.join(", ")));
        touched.removed.iter().map(|id| format!("-{id}")).chain(changed).collect()
    }

    #[test]
    fn whatever_an_agent_changes_about_an_item_is_named() {
        for (from, to, said) in [
            ("\"title\": \"two\"", "\"title\": \"too\"", "F-2: title"),
            ("\"status\": \"FAILING\", \"dep", "\"status\": \"CANCELLED\", \"dep", "F-2: state"),
            ("\"status\": \"FAILING\", \"dep", "\"status\": \"BLOCKED\", \"dep", "F-2: state"),
            ("[\"make two\"]", "[]", "F-2: verification"),
            ("[\"F-1\"]", "[]", "F-2: dependencies"),
            ("\"d\"", "\"e\"", "F-2: description"),
            ("[\"a\"]", "[\"b\"]", "F-1: criteria"),
            ("\"current_iteration\": 2", "\"current_iteration\": 0", "F-1: its iterations"),
            ("\"max_iterations\": 3", "\"max_iterations\": 300", "F-1: its iterations"),
            ("\"FAILED\"", "\"PASSED\"", "F-1: attempts"),
            ("{\"enabled\": true}", "{\"enabled\": false}", "F-2: enabled"),
            (
                "{\"enabled\": true}",
                "{\"enabled\": true, \"convergence_criteria\": {\"tests_pass\": false}}",
                "F-2: convergence_criteria",
            ),
            ("\"id\": \"F-2\"", "\"id\": \"F-3\"", "-F-2"),
            ("\"id\": \"F-2\"", "\"id\": \"F-1\"", "-F-2"),
        ] {
            let found = harm(FEATURES, Syntax::Json, from, to);
            assert_eq!(found.first().map(String::as_str), Some(said), "{to}: {found:?}");
        }
        assert_eq!(harm(TASKS, Syntax::Yaml, "phase: mvp", "phase: later"), ["T-1: phase"]);
        assert_eq!(harm(TASKS, Syntax::Yaml, "status: blocked", "status: done"), ["T-2: state"]);
        assert_eq!(harm(BOXES, Syntax::Markdown, "- [ ] second\n", "").len(), 1);
        assert_eq!(
            harm(BOXES, Syntax::Markdown, "second", "the second").len(),
            1,
            "another text is another item"
        );
        assert_eq!(harm(BOXES, Syntax::Markdown, "make test", "true"), ["the commands for every item: "]);
        let detailed = "- [ ] first\n  in full\n";
        assert!(harm(detailed, Syntax::Markdown, "in full", "in part")[0].ends_with(": description"));
        assert_eq!(harm(FEATURES, Syntax::Json, "\"items\"", "\"userStories\"")[0], "the kind of the list: ");
        for limited in [
            "{\"config\": {\"max_iterations\": 3}, \"userStories\": []}",
            "{\"userStories\": [], \"config\": {\"max_iterations\": 3}}",
        ] {
            for raised in ["\"max_iterations\": 99", "\"max\": 3"] {
                let found = harm(limited, Syntax::Json, "\"max_iterations\": 3", raised);
                assert_eq!(found, ["how many iterations a run may have (config.max_iterations): "]);
            }
        }
    }

    #[test]
    fn parts_of_what_was_done_before_are_nobody_s_progress_and_no_claim() {
        let story = |status: &str, part: &str| {
            format!(
                "{{\"id\": \"S\", \"title\": \"s\", \"status\": \"{status}\", \"acceptanceCriteria\": [{{\"description\": \"a\", \"done\": {part}}}]}}"
            )
        };
        for (status, stepped) in [("completed", 0), ("pending", 1), ("blocked", 1)] {
            let file =
                |part| format!("{{\"schemaVersion\": \"2.0\", \"userStories\": [{}]}}", story(status, part));
            let found = touched(&file("false"), Syntax::Json, "false", "true");
            assert_eq!((found.stepped.len(), found.ticked.len()), (stepped, 0), "{status}: {found:?}");
        }
    }

    #[test]
    fn ticks_notes_priorities_and_new_items_are_no_harm() {
        for (from, to) in [
            ("\"notes\": \"\"", "\"notes\": \"learnt\""),
            ("\"priority\": 1", "\"priority\": 9"),
            ("\"status\": \"FAILING\", \"dep", "\"status\": \"PASSING\", \"dep"),
            ("{\"items\": [", "{\"items\": [{\"id\": \"F-9\", \"title\": \"new\", \"status\": \"FAILING\"},"),
        ] {
            let found = touched(FEATURES, Syntax::Json, from, to);
            assert!(!found.is_harm(), "{to}: {found:?}");
        }
        let ticked = touched(BOXES, Syntax::Markdown, "- [ ] first", "- [x] first").ticked;
        assert_eq!(ticked.len(), 1);
        assert!(!touched(TASKS, Syntax::Yaml, "status: todo", "status: in-progress").is_harm());
        let planned = "### Task 1: one\n- [ ] a\n### Task 2: two\nwords\n";
        let given = touched(planned, Syntax::Markdown, "words\n", "words\n- [x] b\n");
        assert_eq!((given.added.len(), given.ticked.len(), given.is_harm()), (1, 1, false));
        assert_eq!(harm(planned, Syntax::Markdown, "### Task 2: two\nwords\n", "").len(), 1, "taken away");
        let added = touched(TASKS, Syntax::Yaml, "tasks:\n", "tasks:\n  - id: T-0\n    status: done\n");
        assert_eq!(
            (added.added.as_slice(), added.ticked.as_slice()),
            (&["T-0".to_owned()][..], &["T-0".to_owned()][..])
        );
    }
}
