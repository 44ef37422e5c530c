//! What bd prints: its issues, and what it says where something went wrong.

use alloc::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::{BLOCKED_BY, DEFERRED, OTHERS, READY};
use crate::prelude::*;
use crate::text;

/// What is told of an issue, as bd names it.
const TOLD: [&str; 8] = [
    "title",
    "description",
    "design",
    "acceptance_criteria",
    "notes",
    "issue_type",
    "close_reason",
    DEFERRED,
];
/// Kinds of edges that keep an issue from beginning.
const BLOCKING: [&str; 4] = ["", "blocks", "conditional-blocks", "waits-for"];
const PARENT: &str = "parent-child";

/// The issues in what `bd` printed: a bare list, one issue, or either in an envelope.
fn issues(printed: &str) -> Result<Vec<Value>, String> {
    let value: Value = serde_json::from_str(printed).map_err(|error| format!("it is no JSON: {error}"))?;
    in_envelope(value, 2)
}

fn in_envelope(value: Value, depth: u8) -> Result<Vec<Value>, String> {
    match value {
        Value::Array(issues) => Ok(issues),
        Value::Null => Ok(vec![]),
        Value::Object(mut map) => {
            if let Some(said) = map.get("error") {
                return Err(error_of(said));
            }
            let inner = ["data", "items", "issues"].iter().find_map(|name| map.remove(*name));
            match inner.filter(|_| depth > 0) {
                Some(inner) => in_envelope(inner, depth - 1),
                None if map.contains_key("id") => Ok(vec![Value::Object(map)]),
                None => Err("there are no issues in it".into()),
            }
        }
        _ => Err("there are no issues in it".into()),
    }
}

fn error_of(said: &Value) -> String {
    let words = said.as_str().or_else(|| said.get("message")?.as_str());
    words.map_or_else(|| said.to_string(), Into::into)
}

/// What went wrong, by what `bd` printed: with `--json` it may say so on standard output.
pub fn complaint(stdout: &str, stderr: &str) -> String {
    let error = |text: &str| Some(error_of(serde_json::from_str::<Value>(text.trim()).ok()?.get("error")?));
    let words = error(stderr).or_else(|| error(stdout)).unwrap_or_else(|| {
        let said = if stderr.trim().is_empty() { stdout } else { stderr };
        said.trim().to_owned()
    });
    text::one_line(&words, 400)
}

/// The id of an issue that was made.
pub fn created(printed: &str) -> Option<String> {
    let made = issues(printed).ok()?;
    made.first()?.get("id")?.as_str().map(Into::into)
}

/// The issues that `actor` closed, by what bd wrote down of changes: who changed an issue last counts.
pub fn closed_by(trail: &str, actor: &str) -> BTreeSet<String> {
    let mut closed = BTreeSet::new();
    for entry in trail.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
        let (id, change) = (text_of(&entry, "issue_id"), &entry["extra"]);
        if text_of(change, "field") != "status" {
            continue;
        }
        if text_of(change, "new_value") == "closed" && text_of(&entry, "actor") == actor {
            closed.insert(id.to_owned());
        } else {
            closed.remove(id);
        }
    }
    closed
}

/// All issues as one task list: those that can begin first, in the order of `bd ready`. `actor` is who ralph is there.
pub fn compose(list: &str, ready: &str, actor: &str) -> Result<String, String> {
    let mut listed = issues(list).map_err(|why| format!("bd list: {why}"))?;
    let ready = issues(ready).map_err(|why| format!("bd ready: {why}"))?;
    listed.retain(|issue| text_of(issue, "status") != "tombstone");
    let rank: BTreeMap<String, usize> =
        ready.iter().enumerate().map(|(nth, issue)| (text_of(issue, "id").into(), nth)).into_map();
    let known: BTreeSet<String> = listed.iter().map(|issue| text_of(issue, "id").into()).into_set();
    listed.extend(ready.into_iter().filter(|issue| !known.contains(text_of(issue, "id"))));
    listed.sort_by_key(|issue| rank.get(text_of(issue, "id")).copied().unwrap_or(usize::MAX));
    let graph = Graph::of(&listed);
    let lines: Vec<String> = listed
        .iter()
        .map(|issue| graph.told(issue, rank.contains_key(text_of(issue, "id")), actor).to_string())
        .collect();
    Ok(format!("[\n{}\n]\n", lines.join(",\n")))
}

fn text_of<'v>(issue: &'v Value, name: &str) -> &'v str {
    issue.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// The other ends of an issue's edges that are of a kind that `wanted` names.
fn ends<'v>(issue: &'v Value, wanted: &'v [&str]) -> impl Iterator<Item = &'v str> {
    let edges = issue.get("dependencies").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    edges.iter().filter_map(move |edge| {
        let kind = ["type", "dependency_type", "dep_type"].iter().find_map(|name| edge.get(*name)?.as_str());
        // An edge, or the issue at its end.
        let end = ["depends_on_id", "id"].iter().find_map(|name| edge.get(*name)?.as_str());
        end.filter(|_| wanted.contains(&kind.unwrap_or_default()))
    })
}

fn parents(issue: &Value) -> impl Iterator<Item = &str> {
    ends(issue, &[PARENT]).chain(issue.get("parent").and_then(Value::as_str))
}

/// What waits for what.
struct Graph<'v> {
    issues: BTreeMap<&'v str, &'v Value>,
    children: BTreeMap<&'v str, BTreeSet<&'v str>>,
}

impl<'v> Graph<'v> {
    fn of(all: &'v [Value]) -> Self {
        let issues = all.iter().map(|issue| (text_of(issue, "id"), issue)).collect();
        let mut children = BTreeMap::<&str, BTreeSet<&str>>::new();
        for issue in all {
            for parent in parents(issue) {
                children.entry(parent).or_default().insert(text_of(issue, "id"));
            }
        }
        Self { issues, children }
    }

    /// What is not told about may be hidden (gates are), and is not done.
    fn is_open(&self, id: &str) -> bool {
        self.issues.get(id).is_none_or(|issue| text_of(issue, "status") != "closed")
    }

    fn open_children(&self, id: &str) -> Vec<String> {
        let children = self.children.get(id).into_iter().flatten();
        children.filter(|child| self.is_open(child)).map(|child| (*child).to_owned()).collect()
    }

    /// Of the issue itself, else of what it is a part of.
    fn blockers(&self, issue: &'v Value) -> Vec<String> {
        let (mut at, mut seen) = (vec![issue], BTreeSet::new());
        while let Some(issue) = at.pop() {
            let open = ends(issue, &BLOCKING).filter(|id| self.is_open(id));
            let open: Vec<String> = open.map(Into::into).collect();
            if !open.is_empty() {
                return open;
            }
            let above = parents(issue).filter(|id| seen.insert(*id));
            at.extend(above.filter_map(|id| self.issues.get(id).copied()));
        }
        vec![]
    }

    /// An issue as an item. Only what is named here gets into it.
    fn told(&self, issue: &'v Value, ready: bool, actor: &str) -> Value {
        let (id, status) = (text_of(issue, "id"), text_of(issue, "status"));
        let holder = text_of(issue, "assignee");
        let others = !holder.is_empty() && holder != actor;
        let mut waits = self.open_children(id);
        let enabled = match status {
            // bd hands it out, and lets nobody else claim it.
            "open" | "" if others => false,
            "open" | "" if ready => true,
            "open" | "" => {
                waits.extend(self.blockers(issue));
                if waits.is_empty() && issue.get("dependencies").is_none() {
                    let count = issue.get("dependency_count").and_then(Value::as_u64).unwrap_or(0);
                    waits.extend((count > 0).then(|| format!("what bd show {id} tells")));
                }
                // bd does not hand it out, and not because of another issue.
                !waits.is_empty()
            }
            "in_progress" | "hooked" => !holder.is_empty() && holder == actor,
            // What others have blocked waits for them.
            "blocked" => !others,
            "closed" => true,
            // Deferred, pinned, or a status of the project's own.
            _ => false,
        };
        let mut told = Map::new();
        told.insert("id".into(), id.into());
        for name in TOLD {
            if let Some(text) = issue.get(name).and_then(Value::as_str).filter(|text| !text.is_empty()) {
                told.insert(name.into(), text.into());
            }
        }
        for name in ["priority", "labels"] {
            told.extend(issue.get(name).map(|value| (name.to_owned(), value.clone())));
        }
        told.insert("status".into(), if status.is_empty() { "open".into() } else { status.into() });
        if !holder.is_empty() {
            told.insert("assignee".into(), holder.into());
        }
        told.insert(OTHERS.into(), others.into());
        told.insert(READY.into(), ready.into());
        let mut own: Vec<&str> = ends(issue, &BLOCKING).collect();
        own.sort_unstable();
        told.insert(BLOCKED_BY.into(), json!(own));
        told.insert("dependencies".into(), json!(waits));
        told.insert("ralph_loop".into(), json!({ "enabled": enabled }));
        Value::Object(told)
    }
}
