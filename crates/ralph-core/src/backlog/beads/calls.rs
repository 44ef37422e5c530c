//! Changes of issues as calls of bd.

use super::{Call, ISSUE};
use crate::backlog::change::{Change, NewItem, Refusal};
use crate::backlog::fields::priority_of;
use crate::backlog::model::{Shape, State};
use crate::backlog::{Attempt, Backlog, moves};
use crate::prelude::*;
use crate::text;

/// How much is written into an issue at once.
const MOST: usize = 900;
/// How the reason begins for which ralph closes an issue.
const PROVED: &str = "proved by ralph: ";

impl Backlog<'_> {
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
        // To open what rests is to take it up.
        let taken_up = to == State::Open && self.rests(at);
        if item.state == to && !taken_up {
            let proof = attempt_in(together).filter(|_| to == State::Done);
            return Ok(proof.and_then(|_| self.proof_beside(at, &reason(together))));
        }
        let none = Refusal::NoState { shape: ISSUE, state: to.word() };
        let Some(word) = moves::word(Shape::Beads, to) else { return Err(none) };
        if !taken_up {
            self.may_move(at, to)?;
        }
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
