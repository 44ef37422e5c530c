//! Fields that are there and are of another kind than ralph reads them as: `"enabled": "true"` is a text, so the item is
//! never handed out, and nobody would say so.

use alloc::collections::BTreeMap;

use super::detail::{COMMANDS, CRITERIA, line_of};
use super::node::Node;
use super::{Backlog, Shape, Source};
use crate::prelude::*;
use crate::text::slips;

/// What is wrong with a field, and at which byte.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Wrong {
    pub(super) at: usize,
    pub(super) what: String,
}

const TRUTH: &str = "write true or false, without quotes";
const WHOLE: &str = "write a whole number, without quotes";

/// What an item is judged and handed out by: a slip in one of these names would go unnoticed.
const TELLING: [&str; 11] = [
    "verification",
    "acceptance_criteria",
    "acceptanceCriteria",
    "dependencies",
    "depends_on",
    "dependsOn",
    "priority",
    "status",
    "passes",
    "ralph_loop",
    "convergence_criteria",
];

/// The field that was meant, where a name is a slip away from it.
fn slip(name: &str) -> Option<&'static str> {
    if TELLING.contains(&name) {
        return None;
    }
    if name == "depends" {
        return Some("depends_on");
    }
    let most = if name.len() < 8 { 1 } else { 2 };
    TELLING.into_iter().find(|known| known.len().abs_diff(name.len()) <= most && slips(name, known) <= most)
}

/// What was found out about names of fields: all items of a file have the same ones.
#[derive(Debug, Default)]
pub(super) struct Names(BTreeMap<String, Option<&'static str>>);

impl Names {
    /// How many are kept in mind.
    const MOST: usize = 1000;

    fn slip(&mut self, name: &str) -> Option<&'static str> {
        if let Some(known) = self.0.get(name) {
            return *known;
        }
        let meant = slip(name);
        if self.0.len() < Self::MOST {
            self.0.insert(name.into(), meant);
        }
        meant
    }
}

#[derive(Default)]
struct Found(Vec<Wrong>);

impl Found {
    fn wrong(&mut self, name: &str, node: Node<'_, '_>, so: &str, right: &str) {
        let what = format!("{name} is {}, {so}; {right}", node.shown());
        self.0.push(Wrong { at: node.span().start, what });
    }

    fn truth(&mut self, name: &str, node: Node<'_, '_>, so: &str) {
        if node.bool().is_none() && !node.is_null() {
            self.wrong(name, node, so, TRUTH);
        }
    }

    fn whole(&mut self, name: &str, node: Node<'_, '_>, least: i64, so: &str) {
        if node.number().is_none_or(|number| number < least) && !node.is_null() {
            self.wrong(name, node, so, WHOLE);
        }
    }

    /// A text, a list of them, or of objects that have one.
    fn texts(&mut self, name: &str, node: Node<'_, '_>, so: &str) {
        if node.is_null() || node.is_text() {
            return;
        }
        const RIGHT: &str = "write a list of texts";
        if !node.is_list() {
            return self.wrong(name, node, so, RIGHT);
        }
        let lost = node.first_element(|element| !element.is_text() && line_of(element).is_none());
        if let Some(element) = lost {
            self.wrong(&format!("{name} has a part that"), element, so, RIGHT);
        }
    }

    fn names(&mut self, name: &str, node: Node<'_, '_>) {
        let is_name = |node: &Node<'_, '_>| node.is_text() || node.number().is_some();
        const SO: &str = "so the item waits for nothing";
        const RIGHT: &str = "write a list of ids";
        if node.is_null() || is_name(&node) {
            return;
        }
        if node.is_list() {
            let lost = node.first_element(|element| !is_name(element));
            lost.into_iter().for_each(|element| {
                self.wrong(&format!("{name} has a part that"), element, SO, RIGHT);
            });
            return;
        }
        let named = |key: &str| node.is_map().then(|| node.get(key)).flatten();
        match named("depends_on").or_else(|| named("dependsOn")) {
            Some(inner) if !inner.is_map() => self.names(&format!("{name}.depends_on"), inner),
            None if named("blocks").is_some() => {}
            _ => self.wrong(name, node, SO, RIGHT),
        }
    }

    fn looping(&mut self, node: Node<'_, '_>) {
        if node.is_null() {
            return;
        }
        if !node.is_map() {
            let right = "write {\"enabled\": true}";
            return self.wrong("ralph_loop", node, "so the item is not for the loop", right);
        }
        node.each_field(|name, node| match &*name {
            "enabled" => self.truth("ralph_loop.enabled", node, "so the item is not for the loop"),
            "max_iterations" => {
                self.whole("ralph_loop.max_iterations", node, 0, "so the item has 5 iterations");
            }
            "current_iteration" => {
                self.whole("ralph_loop.current_iteration", node, 0, "so no iteration counts");
            }
            "convergence_criteria" => node.each_field(|name, node| {
                self.truth(&format!("convergence_criteria.{name}"), node, "so that check is required");
            }),
            _ => {}
        });
    }
}

impl Backlog<'_> {
    /// Of one item.
    pub(super) fn wrong_kinds(&self, at: usize, names: &mut Names) -> Vec<Wrong> {
        let Some(node) = self.node(at) else { return vec![] };
        let mut found = Found::default();
        let features = self.shape == Shape::Features;
        let attempts = &self.items[at].attempts;
        node.each_field_over(attempts, |name, node| match &*name {
            "id" if !node.is_text() && node.number().is_none() && !node.is_null() => {
                found.wrong("id", node, "so the item goes by its title", "write a text");
            }
            "title" | "name" | "description" if !node.is_text() && !node.is_null() => {
                found.wrong(&name, node, "so no agent is told of it", "write a text");
            }
            "passes" | "completed" => found.truth(&name, node, "so it does not count as done"),
            "phase" if !node.is_text() && node.number().is_none() && !node.is_null() => {
                found.wrong("phase", node, "so the item is in the first one", "write a text");
            }
            "dependencies" | "dependsOn" | "depends_on" => found.names(&name, node),
            "ralph_loop" if features => found.looping(node),
            "attempts" if features && !node.is_list() && !node.is_null() => {
                found.wrong("attempts", node, "so no attempt is known", "write a list of attempts");
            }
            name if COMMANDS.contains(&name) => found.texts(name, node, "and what is no text is never run"),
            name if CRITERIA.contains(&name) => {
                found.texts(name, node, "and no agent is told of what is no text");
            }
            // What nearly every item has need not be looked up.
            "id" | "title" | "name" | "description" | "status" | "priority" | "phase" | "attempts"
            | "notes" => {}
            name => {
                if let Some(meant) = names.slip(name) {
                    let what = format!("{name} is a field that nobody reads; write {meant}");
                    found.0.push(Wrong { at: node.span().start, what });
                }
            }
        });
        found.0
    }

    /// Of the file: what it wants for every item.
    pub(super) fn wrong_kinds_for_all(&self) -> Vec<Wrong> {
        let mut found = Found::default();
        // To ask for a field of the whole file is to go over all of its items, around which it would stand.
        let ends = |at: usize| self.items.get(at).map(|item| item.span.clone());
        let (first, last) = (ends(0), ends(self.items.len().wrapping_sub(1)));
        let before = first.and_then(|first| self.text.get(..first.start)).unwrap_or(self.text);
        let behind = last.and_then(|last| self.text.get(last.end..)).unwrap_or_default();
        let named = |name: &str| before.contains(name) || behind.contains(name);
        if !["qualityGates", "config"].into_iter().any(named) {
            return vec![];
        }
        let root = if let Source::Markdown(_) = self.source { None } else { self.root() };
        let Some(root) = root.filter(Node::is_map) else { return vec![] };
        if let Some(gates) = root.get("qualityGates") {
            found.texts("qualityGates", gates, "and what is no text is never run");
        }
        let Some(config) = root.get("config").filter(Node::is_map) else { return found.0 };
        config.each_field(|name, node| match &*name {
            "max_iterations" => found.whole("config.max_iterations", node, 1, "so it limits nothing"),
            "build_command" | "test_command" | "lint_command" if !node.is_text() && !node.is_null() => {
                found.wrong(&format!("config.{name}"), node, "so it is never run", "write a text");
            }
            _ => {}
        });
        found.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backlog::{Syntax, validate};

    /// What is found in a file with this item, and the lines.
    fn found(text: &str, syntax: Syntax) -> Vec<(Option<usize>, String)> {
        let backlog = Backlog::read(text, syntax).expect("readable");
        validate(&backlog, None, false)
            .findings
            .into_iter()
            .map(|finding| (finding.line, finding.what))
            .collect()
    }

    #[track_caller]
    fn says(field: &str, words: &[&str]) {
        let text = format!(
            "{{\"items\": [\n {{\"id\": \"F-1\", \"title\": \"one\", \"status\": \"FAILING\",\n  {field}}}\n]}}"
        );
        let found = found(&text, Syntax::Json);
        let told: Vec<&str> = found.iter().map(|(_, what)| what.as_str()).collect();
        assert_eq!(told.len(), words.len(), "{field}: {told:?}");
        assert!(told.iter().zip(words).all(|(told, word)| told.starts_with(word)), "{field}: {told:?}");
        assert!(found.iter().all(|(line, _)| *line == Some(3)), "{field}: {found:?}");
    }

    #[test]
    fn a_field_of_another_kind_is_named_with_its_line_and_what_to_write() {
        says(
            r#""ralph_loop": {"enabled": "true"}"#,
            &[
                "ralph_loop.enabled is \"true\", so the item is not for the loop; write true or false, without quotes",
            ],
        );
        says(r#""ralph_loop": true"#, &["ralph_loop is true, so the item is not for the loop"]);
        says(r#""ralph_loop": {"max_iterations": "5"}"#, &["ralph_loop.max_iterations is \"5\""]);
        says(r#""ralph_loop": {"current_iteration": -1}"#, &["ralph_loop.current_iteration is -1"]);
        says(
            r#""ralph_loop": {"convergence_criteria": {"tests_pass": "false"}}"#,
            &["convergence_criteria.tests_pass is \"false\", so that check is required"],
        );
        says(r#""passes": "yes""#, &["passes is \"yes\", so it does not count as done"]);
        says(r#""description": ["a"]"#, &["description is [\"a\"]"]);
        says(r#""phase": {}"#, &["phase is {}"]);
        says(r#""dependencies": true"#, &["dependencies is true, so the item waits for nothing"]);
        says(r#""dependencies": [{}]"#, &["dependencies has a part that is {}"]);
        says(r#""attempts": {}"#, &["attempts is {}"]);
        says(
            r#""verification": {"cmd": "make"}"#,
            &["verification is {\"cmd\":\"make\"}, and what is no text is never run"],
        );
        says(r#""verification": [{"cmd": "make"}]"#, &["verification has a part that is {\"cmd\":\"make\"}"]);
        says(r#""acceptance_criteria": 5"#, &["acceptance_criteria is 5"]);
        says(r#""title": 5"#, &["title is 5"]);
    }

    #[test]
    fn what_dialects_write_in_other_ways_is_in_order() {
        for field in [
            r#""id": 7"#,
            r#""priority": "2""#,
            r#""dependencies": "G-1", "ralph_loop": null"#,
            r#""dependencies": {"depends_on": [], "blocks": []}"#,
            r#""dependencies": {"blocks": []}"#,
            r#""verification": "make""#,
            r#""acceptanceCriteria": [{"id": 1, "description": "a", "done": false}]"#,
            r#""passes": null, "completed": false, "phase": 2"#,
        ] {
            let text = format!("{{\"userStories\": [{{\"id\": \"G-1\"}}, {{\"title\": \"one\", {field}}}]}}");
            assert_eq!(found(&text, Syntax::Json), [], "{field}");
        }
        assert_eq!(found("tasks:\n- title: 5\n  completed: true\n  steps: [1, yes]\n", Syntax::Yaml), []);
    }

    #[test]
    fn what_a_file_wants_for_every_item_is_looked_at_too() {
        let text = r#"{"qualityGates": {"lint": "make lint"}, "userStories": [],
            "config": {"test_command": ["make"], "max_iterations": "20"}}"#;
        let found = found(text, Syntax::Json);
        assert!(found[0].1.starts_with("qualityGates is {\"lint\":\"make lint\"}"), "{found:?}");
        assert!(found[1].1.starts_with("config.test_command is [\"make\"], so it is never run"), "{found:?}");
        assert!(found[2].1.starts_with("config.max_iterations is \"20\", so it limits nothing"), "{found:?}");
        assert_eq!(found.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [Some(1), Some(2), Some(2)]);
    }

    #[test]
    fn a_slip_in_the_name_of_a_field_is_named_and_a_field_of_somebody_s_own_is_not() {
        says(
            "\"verifiction\": [\"true\"]",
            &["verifiction is a field that nobody reads; write verification"],
        );
        says("\"depends\": [\"F-2\"]", &["depends is a field that nobody reads; write depends_on"]);
        says("\"pases\": true", &["pases is a field that nobody reads; write passes"]);
        says("\"state\": 1, \"owner\": \"me\", \"estimate\": 3, \"labels\": []", &[]);
    }

    #[test]
    fn a_slip_is_named_in_every_item_that_has_it_with_the_line_it_is_on() {
        let item = |id: usize| {
            format!("{{\"verifiction\": [], \"id\": \"G-{id}\",\n \"passes\": 1,\n \"owner\": \"me\"}}")
        };
        let items: Vec<String> = (1..=5).map(item).collect();
        let found = found(&format!("{{\"userStories\": [\n{}\n]}}", items.join(",\n")), Syntax::Json);
        let lines: Vec<_> = found.iter().map(|(line, what)| (line.expect("a line"), &what[..6])).collect();
        let wanted = (0..5).flat_map(|nth| [(2 + 3 * nth, "verifi"), (3 + 3 * nth, "passes")]);
        assert_eq!(lines, wanted.collect::<Vec<_>>());
    }

    #[test]
    fn a_word_of_yaml_that_is_no_truth_is_named() {
        let found = found("tasks:\n- title: a\n  completed: yes\n", Syntax::Yaml);
        assert_eq!(found[0].0, Some(3));
        assert!(found[0].1.starts_with("completed is \"yes\", so it does not count as done"), "{found:?}");
    }
}
