//! What was tried on an item: seed 003's `attempts`, to which is only ever added.

use alloc::borrow::Cow;

use super::json::Value;
use super::node::Node;
use super::write::Written;
use super::{Backlog, Shape};
use crate::prelude::*;
use crate::time::Time;

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
    pub files_changed: Vec<String>,
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
        if !self.files_changed.is_empty() {
            fields.push(("files_changed", list(&self.files_changed)));
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
}

impl<'a> Recorded<'a> {
    fn of(node: Node<'_, 'a>) -> Self {
        let mut attempt = Self::default();
        node.each_field(|name, node| {
            let text = || node.str().filter(|text| !text.trim().is_empty());
            match &*name {
                "run_id" => attempt.run_id = text(),
                "timestamp" => attempt.timestamp = text(),
                "result" => attempt.result = text(),
                "commit" => attempt.commit = text(),
                "failure_reason" => attempt.failure_reason = text(),
                "investigation" => attempt.investigation = text(),
                "reverted" => attempt.reverted = node.bool() == Some(true),
                "evidence" => node.each_field(|name, node| match &*name {
                    "commands_run" => {
                        attempt.commands = node.texts();
                        attempt.commands.retain(|command| !command.trim().is_empty());
                    }
                    "results_summary" => {
                        attempt.summary = node.str().filter(|text| !text.trim().is_empty());
                    }
                    _ => {}
                }),
                _ => {}
            }
        });
        attempt
    }

    pub fn is_passed(&self) -> bool {
        self.result.as_deref() == Some(Outcome::Passed.word())
    }
}

impl<'a> Backlog<'a> {
    /// What was tried, oldest first.
    pub fn attempts(&self, at: usize) -> Vec<Recorded<'a>> {
        let Some(item) = self.items.get(at).filter(|_| self.shape == Shape::Features) else {
            return Vec::new();
        };
        let list = if item.attempts.is_empty() {
            self.node(at).filter(|node| matches!(node, Node::Yaml(_))).and_then(|node| node.get("attempts"))
        } else {
            Some(Node::Json(Value::at(self.text, item.attempts.clone())))
        };
        let mut attempts = Vec::new();
        if let Some(list) = list {
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
