//! What is read of an item only when somebody asks: criteria, commands, and its words for a prompt.

use super::checklist::{Checklist, Entry};
use super::node::Node;
use super::requirements::Requirements;
use super::{Backlog, Shape, Source, State};
use crate::check::CheckSpec;
use crate::detect::CHECKS;
use crate::prelude::*;

/// Which checks must pass before an item does: seed 003's `convergence_criteria`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Convergence {
    pub build: bool,
    pub tests: bool,
    pub acceptance: bool,
}

/// The names that each thing has in one dialect or another.
pub(super) const CRITERIA: [&str; 4] = ["acceptance_criteria", "acceptanceCriteria", "criteria", "steps"];
pub(super) const COMMANDS: [&str; 4] =
    ["verification", "verification_commands", "validation_commands", "verify"];
pub(super) const PARTS: [&str; 2] = ["subtasks", "tasks"];
const NOTES: [&str; 2] = ["notes", "completionNotes"];

impl<'a> Backlog<'a> {
    /// The whole item as it stands in the file.
    pub fn value(&self, at: usize) -> serde_json::Value {
        match (self.node(at), &self.source) {
            (Some(node), _) => node.value(),
            (None, Source::Markdown(list)) => match list.entries.get(at) {
                None => serde_json::Value::Null,
                Some(entry) if entry.section.is_some() => {
                    let steps = list.boxes[entry.boxes.clone()].iter();
                    let steps = steps.map(
                        |step| serde_json::json!({ "text": step.words, "done": step.state == State::Done }),
                    );
                    serde_json::json!({ "text": entry.title, "steps": steps.collect::<Vec<_>>() })
                }
                Some(entry) => {
                    let found = &list.boxes[entry.boxes.start];
                    serde_json::json!({ "text": found.words, "heading": found.heading })
                }
            },
            (None, _) => serde_json::Value::Null,
        }
    }

    pub fn criteria(&self, at: usize) -> Vec<String> {
        if let Some((list, entry)) = self.task(at) {
            return list.boxes[entry.boxes.clone()].iter().map(|step| step.words.to_owned()).collect();
        }
        self.texts_of(at, &CRITERIA)
    }

    /// Commands whose success is the item's own proof.
    pub fn verification(&self, at: usize) -> Vec<String> {
        self.texts_of(at, &COMMANDS)
    }

    pub fn subtasks(&self, at: usize) -> Vec<String> {
        self.texts_of(at, &PARTS)
    }

    pub fn notes(&self, at: usize) -> Option<String> {
        self.text_of(at, &NOTES)
    }

    pub fn description(&self, at: usize) -> Option<String> {
        if let Source::Markdown(list) = &self.source {
            let entry = list.entries.get(at)?;
            let Some(section) = &entry.section else { return list.boxes[entry.boxes.start].description() };
            // Without its marks, which are no part of what is to be done.
            let mut text = self.text[section.clone()].to_owned();
            for step in list.boxes[entry.boxes.clone()].iter().rev() {
                let mark = step.mark - section.start;
                let old = text[mark..].chars().next().map_or(1, char::len_utf8);
                text.replace_range(mark..mark + old, " ");
            }
            return Some(text.trim().to_owned());
        }
        self.text_of(at, &["description"])
    }

    /// A task of a plan with its steps, where that is what this item is.
    fn task(&self, at: usize) -> Option<(&Checklist<'a>, &Entry<'a>)> {
        let Source::Markdown(list) = &self.source else { return None };
        let entry = list.entries.get(at).filter(|entry| entry.section.is_some())?;
        Some((list, entry))
    }

    /// The file with its requirements: `prd_reference.file`. A path that leads elsewhere is none.
    pub fn prd_file(&self, at: usize) -> Option<String> {
        if !self.has_prd(at) {
            return None;
        }
        let file = self.node(at)?.get("prd_reference")?.get("file")?.str()?.into_owned();
        let plain = !file.is_empty() && !file.starts_with('/') && !file.split('/').any(|part| part == "..");
        plain.then(|| if file.ends_with(".json") { file } else { format!("{file}.json") })
    }

    /// All are required where an item says nothing.
    pub fn convergence(&self, at: usize) -> Convergence {
        let criteria = self.node(at).and_then(|node| node.get("ralph_loop")?.get("convergence_criteria"));
        let wanted = |name: &str| {
            criteria.and_then(|criteria| criteria.get(name)).and_then(|node| node.bool()) != Some(false)
        };
        Convergence {
            build: wanted("build_passes"),
            tests: wanted("tests_pass"),
            acceptance: wanted("acceptance_met"),
        }
    }

    /// Commands that the file wants to pass for every item: quality gates, a plan's validation commands. The source says
    /// where in the file each stands.
    pub fn checks(&self) -> Vec<CheckSpec> {
        let numbered = |name: &'static str, place: &'static str| {
            move |(nth, command): (usize, String)| CheckSpec {
                source: Some(format!("{place} {}", nth + 1)),
                ..CheckSpec::named(format!("{name}-{}", nth + 1), command)
            }
        };
        if let Source::Markdown(list) = &self.source {
            let commands = list.commands.iter().map(|command| command.clone().into_owned());
            return commands.enumerate().map(numbered("validate", "Validation Commands")).collect();
        }
        let Some(root) = self.root() else { return Vec::new() };
        let gates = root.get("qualityGates").map(|gates| gates.texts()).unwrap_or_default();
        let gates = gates.into_iter().map(Into::into).filter(|gate: &String| !gate.trim().is_empty());
        let mut checks: Vec<CheckSpec> = gates.enumerate().map(numbered("gate", "qualityGates")).collect();
        for name in CHECKS {
            let key = format!("{name}_command");
            let command = root.get("config").and_then(|config| config.get(&key)?.str());
            let spec = |command| CheckSpec {
                source: Some(format!("config.{key}")),
                ..CheckSpec::named(name, String::from(command))
            };
            checks.extend(command.filter(|command| !command.trim().is_empty()).map(spec));
        }
        checks
    }

    /// How many iterations a run may have by the file: `config.max_iterations` of a prd.json of version 2.0.
    pub fn max_iterations(&self) -> Option<u64> {
        let config = self.root().filter(|_| self.shape == Shape::UserStories)?.get("config")?;
        let most = config.get("max_iterations")?.number()?;
        u64::try_from(most).ok().filter(|most| *most > 0)
    }

    /// The branch that the work belongs on: `branchName` of a prd.json.
    pub fn branch_name(&self) -> Option<String> {
        let name = self.root().filter(|_| self.shape == Shape::UserStories)?.get("branchName")?;
        let name = name.str()?.trim().to_owned();
        (!name.is_empty()).then_some(name)
    }

    /// What the project is called, where the file says so.
    pub fn project(&self) -> (Option<String>, Option<String>) {
        let project = self.root().and_then(|root| root.get("project"));
        let text = |name: &str| project.and_then(|project| project.get(name)?.str()).map(Into::into);
        let name = project.and_then(|project| project.str()).map(Into::into).or_else(|| text("name"));
        (name, text("version"))
    }

    /// What an item is judged by, in one text: if the agent changes any of it, its hash changes.
    pub fn judged_by(&self, at: usize, prd: Option<&str>) -> String {
        let title = self.items.get(at).map_or("", |item| &*item.title);
        self.judged_by_as(at, title, prd)
    }

    /// The same under this title: that it has another one now is told apart from its criteria.
    pub fn judged_by_as(&self, at: usize, title: &str, prd: Option<&str>) -> String {
        let mut judged = self.judged_by_alone(at, prd);
        judged["id"] = self.items.get(at).map(|item| item.id.clone()).into();
        judged["title"] = title.into();
        judged.to_string()
    }

    /// The same without whose it is, as it was recorded once: items without criteria had one hash.
    pub fn judged_by_before(&self, at: usize, prd: Option<&str>) -> String {
        self.judged_by_alone(at, prd).to_string()
    }

    fn judged_by_alone(&self, at: usize, prd: Option<&str>) -> serde_json::Value {
        let convergence = self.convergence(at);
        serde_json::json!({
            "criteria": self.criteria(at),
            "verification": self.verification(at),
            "convergence": [convergence.build, convergence.tests, convergence.acceptance],
            "checks": self.checks().into_iter().map(|check| check.command).collect::<Vec<_>>(),
            "prd": prd,
        })
    }

    /// The item in words, for a prompt: with its PRD, and with its own criteria where they are others.
    pub fn words(&self, at: usize, prd: Option<&Requirements>) -> String {
        let Some(item) = self.items.get(at) else { return String::new() };
        let mut words = format!("{}: {}\n", item.id, item.title);
        if let Some(section) = self.task(at).and_then(|(_, entry)| entry.section.clone()) {
            // As it stands, with the steps that are ticked.
            words.push_str(&format!("\n{}\n", self.text[section].trim()));
            return words;
        }
        if let Source::Markdown(list) = &self.source
            && let Some(heading) =
                list.entries.get(at).and_then(|entry| list.boxes[entry.boxes.start].heading)
        {
            words.push_str(&format!("(under the heading: {heading})\n"));
        }
        if let Some(text) = self.description(at).filter(|text| *text != item.title) {
            words.push_str(&format!("\n{}\n", text.trim_end()));
        }
        if let Some(prd) = prd {
            words.push_str(&prd.words());
        }
        let own =
            |lines: Vec<String>| if prd.is_some_and(|prd| prd.criteria == lines) { vec![] } else { lines };
        section(&mut words, "Acceptance criteria", &own(self.criteria(at)));
        section(&mut words, "Parts", &self.subtasks(at));
        section(&mut words, "Commands that must succeed", &self.verification(at));
        if let Some(notes) = self.notes(at) {
            words.push_str(&format!("\nNotes: {}\n", notes.trim_end()));
        }
        words.push_str(&self.words_of_issue(at));
        // Of those before it nobody needs to know: what they met is passed, or was met again.
        let attempts = self.attempts(at);
        let last = attempts.last().filter(|last| !last.is_passed());
        if let Some((last, reason)) = last.and_then(|last| Some((last, last.failure_reason.as_ref()?))) {
            words.push_str(&format!("\nThe last attempt failed: {reason}\n"));
            if let Some(next) = &last.investigation {
                words.push_str(&format!("What was found out: {next}\n"));
            }
        }
        words
    }

    fn first_of(&self, at: usize, names: &[&str]) -> Option<Node<'_, 'a>> {
        let node = self.node(at)?;
        names.iter().find_map(|name| node.get(name)).filter(|node| !node.is_null())
    }

    fn text_of(&self, at: usize, names: &[&str]) -> Option<String> {
        let text = self.first_of(at, names)?.str()?;
        (!text.trim().is_empty()).then(|| text.into_owned())
    }

    fn texts_of(&self, at: usize, names: &[&str]) -> Vec<String> {
        self.first_of(at, names).map(lines_of).unwrap_or_default()
    }
}

/// Texts, or objects that have one.
fn lines_of(node: Node<'_, '_>) -> Vec<String> {
    if let Some(text) = node.str() {
        return vec![text.into_owned()];
    }
    node.elements().iter().filter_map(line_of).collect()
}

/// A text, or that of an object.
pub(super) fn line_of(node: &Node<'_, '_>) -> Option<String> {
    let named = ["description", "command", "title", "text", "name"];
    node.str().or_else(|| named.iter().find_map(|name| node.get(name)?.str())).map(Into::into)
}

pub(crate) fn section(words: &mut String, title: &str, lines: &[String]) {
    if !lines.is_empty() {
        words.push_str(&format!("\n{title}:\n"));
        for line in lines {
            words.push_str(&format!("- {}\n", line.trim()));
        }
    }
}
