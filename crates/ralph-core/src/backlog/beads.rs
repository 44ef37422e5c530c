//! Issues that `bd` keeps (beads). There is no file to edit: what `bd list` and `bd ready` print becomes a text of ralph's
//! own that is read like any other task list, and a change becomes calls of `bd`.

use alloc::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::change::{Change, NewItem, Refusal};
use super::fields::priority_of;
use super::model::{Shape, State, Unreadable};
use super::{Attempt, Backlog, moves};
use crate::prelude::*;
use crate::text;

/// How much is written into an issue at once.
const MOST: usize = 900;
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
/// What has no place for something, or no such state.
const ISSUE: &str = "beads issue";
/// How the reason begins for which ralph closes an issue.
const PROVED: &str = "proved by ralph: ";
const PARENT: &str = "parent-child";
/// By whom an issue is held that is nobody's business here.
pub(super) const OTHERS: &str = "held_by_others";
/// Whether bd hands it out to whoever asks.
const READY: &str = "handed_out";
/// Until when nobody is to be bothered with it.
const DEFERRED: &str = "defer_until";
/// What an issue itself says that it waits for.
pub(super) const BLOCKED_BY: &str = "blocked_by";

/// One call of `bd`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    pub args: Vec<String>,
    /// For a `bd` that does not know this flag.
    pub instead: Option<(&'static str, Vec<String>)>,
}

impl Call {
    fn new(args: &[&str]) -> Self {
        Self { args: args.iter().map(|arg| (*arg).to_owned()).collect(), instead: None }
    }

    fn or(self, flag: &'static str, args: &[&str]) -> Self {
        Self { instead: Some((flag, Self::new(args).args)), ..self }
    }
}

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

/// All issues as one task list: those that can begin first, in the order of `bd ready`. `actor` is who ralph is there.
pub fn compose(list: &str, ready: &str, actor: &str) -> Result<String, String> {
    let mut listed = issues(list).map_err(|why| format!("bd list: {why}"))?;
    let ready = issues(ready).map_err(|why| format!("bd ready: {why}"))?;
    listed.retain(|issue| text_of(issue, "status") != "tombstone");
    let rank: BTreeMap<String, usize> =
        ready.iter().enumerate().map(|(nth, issue)| (text_of(issue, "id").into(), nth)).collect();
    let known: BTreeSet<String> = listed.iter().map(|issue| text_of(issue, "id").into()).collect();
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

impl<'a> Backlog<'a> {
    /// Whether somebody else has it in hand.
    pub(super) fn is_others(&self, at: usize) -> bool {
        self.shape == Shape::Beads && self.node(at).and_then(|node| node.get(OTHERS)?.bool()).unwrap_or(false)
    }

    /// Whether it was this run's to do, and is now put where nobody looks for it: not by what it waits for, nor by its end.
    pub(super) fn is_set_apart(&self, at: usize, before: &Backlog<'_>, old: usize) -> bool {
        let handed_out = |backlog: &Backlog<'_>, at: usize| {
            backlog.node(at).and_then(|node| node.get(READY)?.bool()).unwrap_or(false)
        };
        let (was, is) = (&before.items[old], &self.items[at]);
        if !was.enabled || is.enabled || self.is_others(at) {
            return false;
        }
        // An epic of which every part is done is not handed out by every bd: nobody did anything to it.
        is.state != State::Open
            || handed_out(before, old)
            || before.field(old, DEFERRED) != self.field(at, DEFERRED)
    }

    fn field(&self, at: usize, name: &str) -> String {
        self.node(at).and_then(|node| node.get(name)?.str()).map(Into::into).unwrap_or_default()
    }

    pub(super) fn blocked_by(&self, at: usize) -> Vec<String> {
        let node = self.node(at).and_then(|node| node.get(BLOCKED_BY));
        node.map(|node| node.texts().into_iter().map(Into::into).collect()).unwrap_or_default()
    }

    /// The call that makes a change; none where it is so already. `together` are the changes of which it is one.
    pub fn call(&self, change: &Change, together: &[Change], actor: &str) -> Result<Option<Call>, Refusal> {
        let no_place = |what| Refusal::NoPlace { shape: ISSUE, what };
        match change {
            Change::State { id, to, .. } => self.to(self.one(id)?, *to, together, actor),
            Change::Reset { id } => {
                let at = self.one(id)?;
                self.may_reset(at)?;
                self.to(at, State::Open, together, actor)
            }
            Change::Attempt { id, .. } => self.one(id).and(Err(no_place("attempts"))),
            Change::Increment { id, .. } => self.one(id).and(Err(no_place("iterations"))),
            Change::Add(new) => self.creation(new).map(Some),
        }
    }

    fn to(&self, at: usize, to: State, together: &[Change], actor: &str) -> Result<Option<Call>, Refusal> {
        let item = &self.items[at];
        let id = &*item.id;
        if item.state == to {
            let proof = attempt_in(together).filter(|_| to == State::Done);
            return Ok(proof.and_then(|_| self.proof_beside(at, &reason(together))));
        }
        let none = Refusal::NoState { shape: ISSUE, state: to.word() };
        let Some(word) = moves::word(Shape::Beads, to) else { return Err(none) };
        self.may_move(at, to)?;
        Ok(Some(match to {
            State::InProgress => Call::new(&["update", id, "--claim"])
                .or("--claim", &["update", id, "--status", word, "--assignee", actor]),
            State::Done => Call::new(&["close", id, "--reason", &reason(together)]),
            State::Blocked => {
                let note = note(together);
                let notes = self.notes(at).map(|notes| format!("{}\n{note}", notes.trim_end()));
                let notes = notes.as_deref().unwrap_or(&note);
                Call::new(&["update", id, "--status", word, "--append-notes", &note])
                    .or("--append-notes", &["update", id, "--status", word, "--notes", notes])
            }
            _ if item.state == State::Done => {
                Call::new(&["reopen", id, "--reason", "reopened by ralph: it is not proved"])
            }
            _ if self.is_others(at) => Call::new(&["update", id, "--status", word]),
            // Any ralph may claim it then.
            _ => Call::new(&["update", id, "--status", word, "--assignee", ""]),
        }))
    }

    /// Closed by the agent, in its own words: what proves it is added, once.
    fn proof_beside(&self, at: usize, proof: &str) -> Option<Call> {
        let id = &*self.items[at].id;
        let notes = self.notes(at).unwrap_or_default();
        let proof = proof.trim();
        if self.field(at, "close_reason") == proof || notes.contains(proof) {
            return None;
        }
        let all = format!("{}\n{proof}", notes.trim_end());
        let call = Call::new(&["update", id, "--append-notes", proof]);
        Some(call.or("--append-notes", &["update", id, "--notes", all.trim_start()]))
    }

    fn creation(&self, new: &NewItem) -> Result<Call, Refusal> {
        let asked =
            [(new.phase.is_some(), "a phase"), (!new.verification.is_empty(), "verification commands")];
        if let Some((_, what)) = asked.into_iter().find(|(asked, _)| *asked) {
            return Err(Refusal::NoPlace { shape: ISSUE, what });
        }
        if new.title.trim().is_empty() {
            return Err(Refusal::NoTitle);
        }
        let mut args = Call::new(&["create", "--title", new.title.trim(), "--type", "task"]).args;
        let mut add = |flag: &str, value: &str| args.extend([flag.to_owned(), value.to_owned()]);
        if let Some(id) = &new.id {
            if self.find(id).is_some() {
                return Err(Refusal::Duplicate(id.clone()));
            }
            add("--id", id);
        }
        if let Some(word) = &new.priority {
            let number = priority_of(word).filter(|number| (0..=4).contains(number));
            add("--priority", &number.ok_or_else(|| Refusal::BadPriority(word.clone()))?.to_string());
        }
        if let Some(description) = &new.description {
            add("--description", description);
        }
        if !new.criteria.is_empty() {
            add("--acceptance", &new.criteria.join("\n"));
        }
        for dependency in &new.dependencies {
            if self.find(dependency).is_none() {
                let id = new.id.clone().unwrap_or_else(|| new.title.clone());
                return Err(Refusal::MissingDependency { id, dependency: dependency.clone() });
            }
        }
        if !new.dependencies.is_empty() {
            add("--deps", &new.dependencies.join(","));
        }
        Ok(Call { args, instead: None })
    }

    /// What puts the issues back as they were `before`, where more was done to them than agents may do. What was added stays.
    pub fn way_back(&self, before: &Backlog<'_>) -> Vec<Call> {
        let touched = self.touched_since(before);
        let mut calls = Vec::new();
        for id in &touched.removed {
            calls.extend(before.find(id).into_iter().flat_map(|old| before.made_again(old)));
        }
        // Whoever waited for a removed issue has lost that with it.
        for (old, item) in before.items.iter().enumerate() {
            let still =
                self.find(&item.id).filter(|_| !touched.changed.iter().any(|altered| altered.id == item.id));
            let Some(now) = still.filter(|_| !before.is_others(old)) else { continue };
            let is = self.blocked_by(now);
            let lost = before
                .blocked_by(old)
                .into_iter()
                .filter(|on| touched.removed.contains(on) && !is.contains(on));
            calls.extend(lost.map(|on| Call::new(&["dep", "add", &item.id, &on])));
        }
        for altered in &touched.changed {
            let (Some(old), Some(new)) = (before.find(&altered.id), self.find(&altered.id)) else { continue };
            let id = &*altered.id;
            let mut args = Call::new(&["update", id]).args;
            let changed = |what: &str| altered.what.contains(&what);
            if changed("title") {
                args.extend(["--title".into(), before.items[old].title.to_string()]);
            }
            if changed("description") {
                before.texts_as_flags(old, &["description"], &mut args);
            }
            if changed("criteria") {
                before.texts_as_flags(old, &["acceptance"], &mut args);
            }
            let apart = changed("who has it") || changed("that it is handed out");
            if changed("state") || apart {
                args.extend(["--status".into(), before.status(old)]);
            }
            if apart {
                args.extend(["--assignee".into(), before.field(old, "assignee")]);
                for (flag, name) in [("--type", "issue_type"), ("--defer", DEFERRED)] {
                    let was = before.field(old, name);
                    let differs = was != self.field(new, name);
                    args.extend(differs.then(|| [flag.to_owned(), was]).into_iter().flatten());
                }
            }
            if args.len() > 2 {
                calls.push(Call { args, instead: None });
            }
            let (was, is) = (before.blocked_by(old), self.blocked_by(new));
            let missing = was.iter().filter(|on| !is.contains(on));
            calls.extend(missing.map(|on| Call::new(&["dep", "add", id, on])));
            let extra = is.iter().filter(|on| !was.contains(on));
            calls.extend(extra.map(|on| Call::new(&["dep", "remove", id, on])));
        }
        calls
    }

    /// The calls that make a removed issue anew: bd creates only open ones that nobody has and that wait for nothing.
    fn made_again(&self, at: usize) -> Vec<Call> {
        let item = &self.items[at];
        let id = &*item.id;
        let mut args = Call::new(&["create", "--id", id, "--force", "--title"]).args;
        args.push(item.title.to_string());
        self.texts_as_flags(at, &["description", "acceptance", "design"], &mut args);
        for (flag, name) in [("--type", "issue_type"), ("--notes", "notes")] {
            let text = self.field(at, name);
            args.extend((!text.is_empty()).then(|| [flag.to_owned(), text]).into_iter().flatten());
        }
        if (0..=4).contains(&item.priority) {
            args.extend(["--priority".into(), item.priority.to_string()]);
        }
        let labels = self.node(at).and_then(|node| node.get("labels"));
        let labels = labels.map(|node| node.texts().join(",")).filter(|labels| !labels.is_empty());
        args.extend(labels.map(|labels| ["--labels".to_owned(), labels]).into_iter().flatten());
        let mut calls = vec![Call { args, instead: None }];
        let (status, holder) = (self.status(at), self.field(at, "assignee"));
        if status != "open" || !holder.is_empty() {
            calls.push(Call::new(&["update", id, "--status", &status, "--assignee", &holder]));
        }
        calls.extend(self.blocked_by(at).iter().map(|on| Call::new(&["dep", "add", id, on])));
        calls
    }

    fn texts_as_flags(&self, at: usize, flags: &[&str], args: &mut Vec<String>) {
        for flag in flags {
            let name = if *flag == "acceptance" { "acceptance_criteria" } else { flag };
            let text = self.node(at).and_then(|node| node.get(name)?.str()).unwrap_or_default();
            args.extend([format!("--{flag}"), text.into()]);
        }
    }

    /// How the work on an issue was designed, and what an agent may do to it.
    pub(super) fn words_of_issue(&self, at: usize) -> String {
        if self.shape != Shape::Beads {
            return String::new();
        }
        let design = self.node(at).and_then(|node| node.get("design")?.str());
        let design = design.map(|text| format!("\nDesign:\n{}\n", text.trim_end())).unwrap_or_default();
        let id = &self.items[at].id;
        format!(
            "{design}\nThis is an issue of beads (bd show {id}). Others may be added with bd create; to close this one \
             only claims that it is done.\n"
        )
    }
}

/// Whether it is the list that [`compose`] makes.
pub(super) fn is_list(text: &str) -> Result<(), Unreadable> {
    match text.trim_start().starts_with('[') {
        true => Ok(()),
        false => Err(Unreadable { line: 1, why: "there is no list of issues".into() }),
    }
}

fn attempt_in(together: &[Change]) -> Option<&Attempt> {
    together.iter().find_map(|change| match change {
        Change::Attempt { attempt, .. } => Some(attempt),
        _ => None,
    })
}

/// Why an issue is closed: what was run, and where it is.
fn reason(together: &[Change]) -> String {
    let Some(attempt) = attempt_in(together) else { return "closed with ralph backlog set".into() };
    let mut parts = vec![format!("{PROVED}{}", attempt.summary.as_deref().unwrap_or("its checks pass"))];
    if !attempt.commands.is_empty() {
        parts.push(format!("ran: {}", attempt.commands.join("; ")));
    }
    parts.extend(attempt.commit.as_ref().map(|commit| format!("commit: {commit}")));
    parts.extend(attempt.run_id.as_ref().map(|id| format!("evidence: ralph evidence show {id}")));
    text::one_line(&parts.join(" | "), MOST)
}

/// Why an issue is blocked.
fn note(together: &[Change]) -> String {
    let why = together.iter().find_map(|change| match change {
        Change::Increment { override_reason, .. } => override_reason.as_deref(),
        _ => None,
    });
    let mut note = format!("blocked by ralph: {}", why.unwrap_or("by a person's word (ralph backlog set)"));
    if let Some(last) = attempt_in(together).and_then(|attempt| attempt.failure_reason.as_ref()) {
        note.push_str(&format!(" | last attempt: {last}"));
    }
    text::one_line(&note, MOST)
}

#[cfg(test)]
mod tests;
