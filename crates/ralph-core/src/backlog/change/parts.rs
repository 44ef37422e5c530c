//! Marks of an item's parts in JSON and YAML (`acceptanceCriteria[].done`, `tasks[].done`), and how often it says that it was tried
//! (`execution.attempts`): what an agent wrote there and nobody proved is taken back.

use super::Refusal;
use crate::backlog::detail::{CRITERIA, PARTS};
use crate::backlog::node::Node;
use crate::backlog::{Backlog, State};
use crate::edit::Edit;
use crate::prelude::*;

/// How a part says that it is done.
const MARKS: [&str; 3] = ["done", "passes", "completed"];

impl Backlog<'_> {
    /// Whether a part is done that was not.
    pub(in crate::backlog) fn has_new_parts(&self, at: usize, before: &Backlog<'_>, old: usize) -> bool {
        !self.new_marks(at, before, old).is_empty()
    }

    /// Whether the item says that it was tried more or less often than before.
    pub(in crate::backlog) fn is_counted_anew(&self, at: usize, before: &Backlog<'_>, old: usize) -> bool {
        self.new_count(at, before, old).is_some()
    }

    /// The text with parts and count as they were; `None` where they are.
    pub fn without_new_parts(&self, id: &str, before: &Backlog<'_>) -> Option<Result<String, Refusal>> {
        let (at, old) = (self.find(id)?, before.find(id)?);
        let mut edits = self.new_marks(at, before, old);
        edits.extend(self.new_count(at, before, old));
        (!edits.is_empty()).then(|| {
            let text = self.spliced(&edits)?;
            let new = self.again(&text)?;
            let left = new.has_new_parts(at, before, old) || new.is_counted_anew(at, before, old);
            let states = |backlog: &Backlog<'_>| -> Vec<(String, State)> {
                backlog.items.iter().map(|item| (item.id.to_string(), item.state)).collect()
            };
            match !left && states(&new) == states(self) {
                true => Ok(text),
                false => Err(Refusal::NotLossless("another mark would change".into())),
            }
        })
    }

    fn new_marks(&self, at: usize, before: &Backlog<'_>, old: usize) -> Vec<Edit> {
        let (Some(node), Some(was)) = (self.node(at), before.node(old)) else { return vec![] };
        let mut edits = vec![];
        for name in CRITERIA.into_iter().chain(PARTS) {
            let parts = |node: Node<'_, '_>| node.get(name).map(|list| list.elements().len());
            // Other parts are another matter.
            if parts(node) != parts(was) {
                continue;
            }
            let (Some(now), Some(then)) = (node.get(name), was.get(name)) else { continue };
            for (part, old_part) in now.elements().into_iter().zip(then.elements()) {
                if part.is_map() && old_part.is_map() {
                    edits.extend(marks_of(part, old_part, before.text));
                }
            }
        }
        edits
    }

    fn new_count(&self, at: usize, before: &Backlog<'_>, old: usize) -> Option<Edit> {
        let count = |node: Node<'_, '_>| {
            let count = node.get("execution").filter(Node::is_map)?.get("attempts")?;
            Some((count.number(), count.span()))
        };
        let (now, span) = count(self.node(at)?)?;
        let then = count(before.node(old)?);
        if then.as_ref().map_or(Some(0), |(then, _)| *then) == now {
            return None;
        }
        let text = then.and_then(|(_, span)| before.text.get(span)).unwrap_or("0");
        Some(Edit::replace(span, text))
    }
}

fn marks_of(part: Node<'_, '_>, old: Node<'_, '_>, text: &str) -> Vec<Edit> {
    let mut edits = vec![];
    for mark in MARKS {
        let Some(now) = part.get(mark).filter(|now| now.bool() == Some(true)) else { continue };
        let was = old.get(mark);
        if was.is_none_or(|was| was.bool() != Some(true)) {
            let was = was.and_then(|was| text.get(was.span())).unwrap_or("false");
            edits.push(Edit::replace(now.span(), was));
        }
    }
    let done = |node: Node<'_, '_>| node.str().and_then(|word| State::parse(&word)) == Some(State::Done);
    if let (Some(now), Some(was)) = (part.get("status"), old.get("status"))
        && done(now)
        && !done(was)
    {
        edits.extend(text.get(was.span()).map(|was| Edit::replace(now.span(), was)));
    }
    edits
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backlog::Syntax;

    #[test]
    fn parts_that_were_marked_and_a_count_are_as_they_were_to_their_last_byte() {
        let story = |first: &str, second: &str, task: &str, count: &str| {
            format!(
                "{{\"userStories\": [{{\"id\": \"S1\", \"status\": \"pending\",\n  \"acceptanceCriteria\": \
                 [{{\"description\": \"a\", \"done\": {first}}}, {{\"description\": \"b\", \"done\" : {second}}}],\n  \
                 \"tasks\": [{{\"title\": \"t\", \"status\": \"{task}\"}}], \"execution\": {{\"attempts\": {count}}}}}]}}\n"
            )
        };
        let before = story("true", "false", "pending", "1");
        let old = Backlog::read(&before, Syntax::Json).expect("before");
        for (now, parts, count) in [
            (story("true", "true", "pending", "1"), true, false),
            (story("true", "false", "completed", "1"), true, false),
            (story("true", "true", "done", "7"), true, true),
            (story("true", "false", "pending", "0"), false, true),
        ] {
            let new = Backlog::read(&now, Syntax::Json).expect("after");
            assert_eq!((new.has_new_parts(0, &old, 0), new.is_counted_anew(0, &old, 0)), (parts, count));
            assert_eq!(new.without_new_parts("S1", &old).expect("something").expect("an edit"), before);
        }
        assert!(old.without_new_parts("S1", &old).is_none());
        let untold = before.replace("\"attempts\": 1", "");
        let untold = Backlog::read(&untold, Syntax::Json).expect("read");
        let none = old.without_new_parts("S1", &untold).expect("something").expect("an edit");
        assert!(none.contains("\"attempts\": 0"), "{none}");
        let yaml =
            "tasks:\n  - id: T-1\n    title: one\n    tasks:\n      - title: a\n        done: no # yet\n";
        let old = Backlog::read(yaml, Syntax::Yaml).expect("before");
        let now = yaml.replace("done: no", "done: true");
        let new = Backlog::read(&now, Syntax::Yaml).expect("after");
        assert_eq!(new.without_new_parts("T-1", &old).expect("something").expect("an edit"), yaml);
    }
}
