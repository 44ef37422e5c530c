//! What was tried on an item: seed 003's `attempts`, to which is only ever added.

use alloc::borrow::Cow;

use super::json::{Fault, Value, Walk};
use super::node::Node;
use super::write::Written;
use super::{Backlog, Shape};
use crate::prelude::*;
use crate::time::Time;

const EVIDENCE: &str = "evidence";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    Passed,
    Failed,
    InProgress,
}

impl Outcome {
    pub fn word(self) -> &'static str {
        match self {
            Self::Passed => "PASSED",
            Self::Failed => "FAILED",
            Self::InProgress => "IN_PROGRESS",
        }
    }
}

/// An attempt to be recorded.
#[derive(Debug, Clone)]
pub struct Attempt {
    /// None: the next `worker-NNN` of the item.
    pub run_id: Option<String>,
    pub at: Time,
    pub outcome: Outcome,
    pub commands: Vec<String>,
    pub summary: Option<String>,
    pub commit: Option<String>,
    pub reverted: bool,
    pub failure_reason: Option<String>,
    pub investigation: Option<String>,
    /// Of a failed one; none at all of one that passed without a change, which has no commit of its own.
    pub files_changed: Option<Vec<String>>,
}

impl Attempt {
    /// As the seed has it; keys that only failures have are left out where there is nothing to say.
    pub(crate) fn written(&self, run_id: String) -> Written {
        let text = |text: &Option<String>| text.clone().map_or(Written::Null, Written::Text);
        let list = |list: &[String]| Written::List(list.iter().cloned().map(Written::Text).collect());
        let evidence = Written::map([
            ("commands_run", list(&self.commands)),
            ("results_summary", Written::Text(self.summary.clone().unwrap_or_default())),
        ]);
        let mut fields = vec![
            ("run_id", Written::Text(run_id)),
            ("timestamp", Written::Text(self.at.to_string())),
            ("result", Written::Text(self.outcome.word().into())),
            ("evidence", evidence),
            ("commit", text(&self.commit)),
            ("reverted", Written::Bool(self.reverted)),
        ];
        for (name, said) in [("failure_reason", &self.failure_reason), ("investigation", &self.investigation)]
        {
            if said.is_some() {
                fields.push((name, text(said)));
            }
        }
        if let Some(files) = &self.files_changed {
            fields.push(("files_changed", list(files)));
        }
        Written::map(fields)
    }
}

/// An attempt that a file has. Nothing in it is certain.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recorded<'a> {
    pub run_id: Option<Cow<'a, str>>,
    pub timestamp: Option<Cow<'a, str>>,
    pub result: Option<Cow<'a, str>>,
    pub commands: Vec<Cow<'a, str>>,
    pub summary: Option<Cow<'a, str>>,
    pub commit: Option<Cow<'a, str>>,
    pub failure_reason: Option<Cow<'a, str>>,
    pub investigation: Option<Cow<'a, str>>,
    pub reverted: bool,
    /// It says that it changed no file.
    pub without_change: bool,
}

impl<'a> Recorded<'a> {
    fn of(node: Node<'_, 'a>) -> Self {
        let mut attempt = Self::default();
        node.each_field(|name, node| match &*name {
            EVIDENCE => node.each_field(|name, node| attempt.evidence(&name, node)),
            _ => attempt.field(&name, node),
        });
        attempt
    }

    /// The same where it stands in JSON, gone over once.
    fn walked(walk: &mut Walk<'a>) -> Result<Self, Fault> {
        let mut attempt = Self::default();
        if walk.peek() != b'{' {
            return walk.any().map(|_| attempt);
        }
        walk.fields_with(|walk, key| {
            let name = walk.name(&key);
            if name != EVIDENCE || walk.peek() != b'{' {
                attempt.field(&name, Node::Json(walk.any()?));
                return Ok(());
            }
            walk.fields_with(|walk, key| {
                attempt.evidence(&walk.name(&key), Node::Json(walk.any()?));
                Ok(())
            })
        })?;
        Ok(attempt)
    }

    fn field(&mut self, name: &str, node: Node<'_, 'a>) {
        match name {
            "run_id" => self.run_id = words(node),
            "timestamp" => self.timestamp = words(node),
            "result" => self.result = words(node),
            "commit" => self.commit = words(node),
            "failure_reason" => self.failure_reason = words(node),
            "investigation" => self.investigation = words(node),
            "reverted" => self.reverted = node.bool() == Some(true),
            "files_changed" => self.without_change = node.value() == serde_json::Value::Array(vec![]),
            _ => {}
        }
    }

    fn evidence(&mut self, name: &str, node: Node<'_, 'a>) {
        match name {
            "commands_run" => {
                self.commands = node.texts();
                self.commands.retain(|command| !command.trim().is_empty());
            }
            "results_summary" => self.summary = words(node),
            _ => {}
        }
    }

    pub fn is_passed(&self) -> bool {
        self.result.as_deref() == Some(Outcome::Passed.word())
    }

    /// What was reverted proves nothing any more.
    pub fn proves(&self) -> bool {
        self.is_passed() && !self.reverted
    }

    pub(crate) fn is_unfinished(&self) -> bool {
        self.result.as_deref() == Some(Outcome::InProgress.word())
    }
}

/// A text that says something.
fn words<'a>(node: Node<'_, 'a>) -> Option<Cow<'a, str>> {
    node.str().filter(|text| !text.trim().is_empty())
}

impl<'a> Backlog<'a> {
    /// What was tried, oldest first.
    pub fn attempts(&self, at: usize) -> Vec<Recorded<'a>> {
        let Some(item) = self.items.get(at).filter(|_| self.shape == Shape::Features) else {
            return Vec::new();
        };
        let mut attempts = Vec::new();
        if !item.attempts.is_empty() {
            Value::at(self.text, item.attempts.clone()).each_walked(|walk| {
                attempts.push(Recorded::walked(walk)?);
                Ok(())
            });
        } else if let Some(Node::Yaml(node)) = self.node(at)
            && let Some(list) = Node::Yaml(node).get("attempts")
        {
            list.each_element(|node| attempts.push(Recorded::of(node)));
        }
        attempts
    }

    /// `worker-NNN`, one more than the highest that the item has.
    pub(crate) fn next_run_id(&self, at: usize) -> String {
        let attempts = self.attempts(at);
        let numbers =
            attempts.iter().filter_map(|attempt| attempt.run_id.as_deref()?.strip_prefix("worker-"));
        let highest = numbers.filter_map(|number| number.parse::<u64>().ok()).max().unwrap_or(0);
        format!("worker-{:03}", highest.saturating_add(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempts_are_gone_over_once_and_read_as_ever() {
        let text = r#"[ 7, {}, [], {"run_id": "r", "run_id": " ", "timestamp": "t\n", "result": "PASSED", "more": {"a": [1]}},
            {"evidence": 7, "reverted": true, "commit": null}, {"evid\u0065nce": {"commands_run": ["a", " ", 7, "b"],
            "results_summary": "s", "x": []}, "failure_reason": "f", "investigation": "i"}, {"evidence": {"commands_run": "a"}} ]"#;
        let list = Value::at(text, 0..text.len());
        let mut walked = Vec::new();
        list.each_walked(|walk| {
            walked.push(Recorded::walked(walk)?);
            Ok(())
        });
        let read: Vec<_> = list.elements().into_iter().map(|value| Recorded::of(Node::Json(value))).collect();
        assert_eq!(walked, read);
        assert_eq!((walked.len(), walked[5].commands.join(" ").as_str()), (7, "a b"));
        assert_eq!((walked[3].run_id.as_deref(), walked[4].reverted), (None, true));
    }
}
