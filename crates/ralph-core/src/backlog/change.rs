//! A change of the backlog: what it means, whether it may be, and its edits. The edited text is read again, and only
//! if it says exactly what was meant is it handed out.

mod add;
mod parts;
mod prove;
mod state;
mod steps;

use super::attempt::{Attempt, Outcome};
use super::model::{Problem, Shape, State, Unreadable};
use super::moves;
use super::node::Node;
use super::write::{self, Step, Written};
use super::{Backlog, Limit, Source};
use crate::edit::{Edit, splice};
use crate::prelude::*;
use crate::time::Time;

pub use add::NewItem;
use prove::Now;

#[derive(Debug, Clone)]
pub enum Change {
    /// `at` is written where the dialect keeps when something began or ended.
    State {
        id: String,
        to: State,
        at: Option<Time>,
    },
    Attempt {
        id: String,
        attempt: Attempt,
    },
    /// One more iteration; blocked at the limit only where that is asked for, with the reason. Where the file keeps no
    /// count and somebody else's limit is reached, only the note is left that says so.
    Increment {
        id: String,
        block_on_max: bool,
        override_reason: Option<String>,
    },
    /// Back to no iterations; what is blocked or begun is open again.
    Reset {
        id: String,
    },
    Add(NewItem),
}

/// A file after a change.
#[derive(Debug)]
pub struct Changed {
    pub text: String,
    /// None, where it was so already.
    pub edits: Vec<Edit>,
    pub id: String,
    /// The state that the item has now, and the file's own word for it.
    pub state: State,
    pub status: String,
    pub limit: Option<Limit>,
    pub incremented: Option<Incremented>,
    /// The attempt's, where one was recorded.
    pub run_id: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Incremented {
    pub limit: Limit,
    pub blocked: bool,
}

/// Why a change is not made. The file stays as it is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("there is no item {0}")]
    UnknownId(String),
    #[error("there are several items with the id {0}")]
    Ambiguous(String),
    #[error("'{words}' may be any of several items")]
    Several { words: String, ids: Vec<String> },
    #[error("there is an item {0} already")]
    Duplicate(String),
    #[error("{id} is {from}, and cannot become {to} from there")]
    IllegalMove { id: String, from: String, to: String },
    #[error("{id} is {from}: a reset is for what is open or blocked")]
    NotOpen { id: String, from: String },
    #[error("{} has no state '{state}'", with_article(.shape))]
    NoState { shape: &'static str, state: &'static str },
    #[error("{id} cannot become done (PASSING): {why}")]
    NoEvidence { id: String, why: String },
    #[error("PASSED needs evidence: {0} is missing")]
    PassedWithout(&'static str),
    #[error("{id} depends on {dependency}, which is not in the file")]
    MissingDependency { id: String, dependency: String },
    #[error("items would depend on each other in a ring: {}", .0.join(" -> "))]
    Cycle(Vec<String>),
    #[error("{0} has reached its limit, and blocking it needs a reason")]
    ReasonNeeded(String),
    #[error("{} has no place for {what}", with_article(.shape))]
    NoPlace { shape: &'static str, what: &'static str },
    #[error("'{0}' is no priority here")]
    BadPriority(String),
    #[error("no heading of this checklist stands for the priority {0}")]
    NoHeading(String),
    #[error("{0} has no box below its heading, so there is nothing to mark")]
    NoBox(String),
    #[error("an item needs a title")]
    NoTitle,
    #[error("an id needs letters")]
    NoId,
    /// The change cannot be made by editing a few bytes.
    #[error("the file cannot be edited without changing more than was asked for: {0}")]
    NotLossless(String),
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
}

/// A dialect as the subject of a sentence.
fn with_article(shape: &str) -> String {
    match shape {
        "stories" => "a list of stories".into(),
        "beads" => shape.into(),
        _ => format!("a {shape}"),
    }
}

/// What is written into an item's notes when it is blocked at its limit.
const AT_LIMIT: &str = "Max iterations reached, human review required";

/// A change in steps, and what there is to tell about it.
#[derive(Debug, Default)]
struct Plan {
    steps: Vec<Step>,
    /// The state that the item must have when it is read again.
    becomes: Option<State>,
    incremented: Option<Incremented>,
    run_id: Option<String>,
}

impl Backlog<'_> {
    /// Makes a change, or says why not.
    pub fn change(&self, change: &Change) -> Result<Changed, Refusal> {
        let (id, at, plan) = match change {
            Change::Add(new) => return self.add(new),
            Change::State { id, to, at } => {
                let item = self.one(id)?;
                if let Source::Markdown(_) = self.source {
                    return self.tick(item, *to);
                }
                (
                    id,
                    item,
                    Plan { steps: self.to_state(item, *to, *at)?, becomes: Some(*to), ..Plan::default() },
                )
            }
            Change::Attempt { id, attempt } => {
                let item = self.one(id)?;
                (id, item, self.attempt(item, attempt)?)
            }
            Change::Increment { id, block_on_max, override_reason } => {
                let item = self.one(id)?;
                (id, item, self.increment(item, *block_on_max, override_reason.as_deref())?)
            }
            Change::Reset { id } => {
                let item = self.one(id)?;
                self.may_reset(item)?;
                if let Source::Markdown(_) = self.source {
                    return self.tick(item, State::Open);
                }
                (id, item, Plan { steps: self.reset(item)?, becomes: Some(State::Open), ..Plan::default() })
            }
        };
        let node = self.node(at).ok_or_else(|| Refusal::UnknownId(id.clone()))?;
        let mut edits = Vec::new();
        let mut expected = node.value();
        for step in &plan.steps {
            step.expect(&mut expected);
            let edit = match node {
                Node::Json(value) => write::json::edit(self.text, value, step),
                Node::Yaml(map) => write::yaml::edit(self.text, map, step),
            };
            edits.push(edit.map_err(Refusal::NotLossless)?);
        }
        let text = self.spliced(&edits)?;
        let Now { state, status, limit } = match self.prove_in_place(&text, at, &edits, &expected) {
            Some(proved) => proved?,
            None => self.prove_item(&text, at, &expected)?,
        };
        let Plan { becomes, incremented, run_id, .. } = plan;
        if becomes.is_some_and(|wanted| wanted != state) {
            let why = format!("other fields of {id} would still say that it is {}", state.word());
            return Err(Refusal::NotLossless(why));
        }
        Ok(Changed { text, edits, id: id.clone(), state, status, limit, incremented, run_id })
    }

    /// Whether the item's dialect has a word for this state.
    pub fn can_say(&self, at: usize, to: State) -> bool {
        match self.source {
            Source::Markdown(_) => moves::word(self.shape, to).is_some(),
            _ => !matches!(self.to_state(at, to, None), Err(Refusal::NoState { .. })),
        }
    }

    fn spliced(&self, edits: &[Edit]) -> Result<String, Refusal> {
        splice(self.text, edits).ok_or_else(|| Refusal::NotLossless("two edits meet in one place".into()))
    }

    /// The only item of this id.
    pub(super) fn one(&self, id: &str) -> Result<usize, Refusal> {
        if self.problems.iter().filter_map(Problem::duplicate).any(|again| again == id) {
            return Err(Refusal::Ambiguous(id.into()));
        }
        self.find(id).ok_or_else(|| Refusal::UnknownId(id.into()))
    }

    pub(super) fn may_move(&self, at: usize, to: State) -> Result<(), Refusal> {
        let item = &self.items[at];
        if !moves::legal(item.state, to) {
            let id = item.id.clone().into_owned();
            return Err(Refusal::IllegalMove { id, from: self.named(item.state), to: self.named(to) });
        }
        Ok(())
    }

    fn attempt(&self, at: usize, attempt: &Attempt) -> Result<Plan, Refusal> {
        if self.shape != Shape::Features {
            return Err(Refusal::NoPlace { shape: self.shape.word(), what: "attempts" });
        }
        if attempt.outcome == Outcome::Passed {
            if attempt.commands.iter().all(|command| command.trim().is_empty()) {
                return Err(Refusal::PassedWithout("--commands"));
            }
            if attempt.summary.as_ref().is_none_or(|summary| summary.trim().is_empty()) {
                return Err(Refusal::PassedWithout("--summary"));
            }
        }
        let run_id = attempt.run_id.clone().unwrap_or_else(|| self.next_run_id(at));
        let steps = vec![Step::Push("attempts", attempt.written(run_id.clone()))];
        Ok(Plan { steps, run_id: Some(run_id), ..Plan::default() })
    }

    fn increment(&self, at: usize, block: bool, reason: Option<&str>) -> Result<Plan, Refusal> {
        let item = &self.items[at];
        let Some(limit) = item.limit else {
            let none = Refusal::NoPlace { shape: self.shape.word(), what: "a count of iterations" };
            let steps = self.note_at_limit(at).filter(|_| block).ok_or(none)?;
            return Ok(Plan { steps, ..Plan::default() });
        };
        let limit = Limit { used: limit.used.saturating_add(1), ..limit };
        let used = i64::try_from(limit.used).unwrap_or(i64::MAX);
        let mut steps = vec![Step::Set(&["ralph_loop", "current_iteration"], Written::Number(used))];
        let blocked = block && limit.is_reached() && item.state != State::Blocked;
        if blocked {
            self.may_move(at, State::Blocked)?;
            let reason = reason.filter(|reason| !reason.trim().is_empty());
            let reason = reason.ok_or_else(|| Refusal::ReasonNeeded(item.id.clone().into_owned()))?;
            let word = moves::word(self.shape, State::Blocked).unwrap_or_default();
            steps.push(Step::Set(&["status"], Written::Text(word.into())));
            steps.extend(self.blocked_at_limit(at, reason));
        }
        Ok(Plan { steps, incremented: Some(Incremented { limit, blocked }), ..Plan::default() })
    }

    fn blocked_at_limit(&self, at: usize, reason: &str) -> [Step; 2] {
        [
            Step::Set(&["override_reason"], Written::Text(reason.into())),
            Step::Set(&["notes"], Written::Text(self.with_own_note(at))),
        ]
    }

    fn with_own_note(&self, at: usize) -> String {
        match self.notes(at) {
            Some(notes) => format!("{}\n{AT_LIMIT}", notes.trim_end()),
            None => AT_LIMIT.into(),
        }
    }

    /// The note alone, in dialects that have a place for it; once, however often it is asked for.
    fn note_at_limit(&self, at: usize) -> Option<Vec<Step>> {
        let notes = self.node(at)?.get("notes").filter(|node| !node.is_null());
        if !matches!(self.shape, Shape::Tasks | Shape::UserStories)
            || notes.is_some_and(|notes| notes.str().is_none())
        {
            return None;
        }
        let there =
            notes.and_then(|notes| notes.str()).is_some_and(|notes| notes.trim_end().ends_with(AT_LIMIT));
        let note = || Step::Set(&["notes"], Written::Text(self.with_own_note(at)));
        Some(if there { vec![] } else { vec![note()] })
    }

    /// What is finished keeps its state: to open it again is another wish.
    pub(super) fn may_reset(&self, at: usize) -> Result<(), Refusal> {
        let item = &self.items[at];
        if !item.state.satisfies() {
            return Ok(());
        }
        let id = item.id.clone().into_owned();
        Err(Refusal::NotOpen { id, from: self.named(item.state) })
    }

    /// A state, with the dialect's word where that is another: `done (PASSING)`.
    fn named(&self, state: State) -> String {
        let own = moves::word(self.shape, state).filter(|_| self.shape != Shape::Checklist);
        match own.filter(|own| !state.is_called(own)) {
            Some(own) => format!("{} ({own})", state.word()),
            None => state.word().into(),
        }
    }

    fn reset(&self, at: usize) -> Result<Vec<Step>, Refusal> {
        let item = &self.items[at];
        let mut steps = self.to_state(at, State::Open, None)?;
        if item.limit.is_some_and(|limit| limit.used > 0) {
            steps.push(Step::Set(&["ralph_loop", "current_iteration"], Written::Number(0)));
        }
        steps.extend(self.without_own_note(at));
        Ok(steps)
    }

    /// Takes out what was written when the item was blocked at its limit, and nothing that anybody else wrote.
    fn without_own_note(&self, at: usize) -> Vec<Step> {
        let noted = matches!(self.shape, Shape::Features | Shape::Tasks | Shape::UserStories);
        let node = self.node(at).filter(|_| noted);
        let text = |name: &str| node.and_then(|node| node.get(name)?.str());
        let mut steps = Vec::new();
        if text("override_reason").is_some_and(|reason| reason == AT_LIMIT) {
            steps.push(Step::Set(&["override_reason"], Written::Null));
        }
        if let Some(rest) = text("notes").as_deref().and_then(|notes| notes.strip_suffix(AT_LIMIT))
            && (rest.is_empty() || rest.ends_with('\n'))
        {
            steps.push(Step::Set(&["notes"], Written::Text(rest.trim_end().into())));
        }
        steps
    }

    /// A box has no fields, only its mark.
    fn tick(&self, at: usize, to: State) -> Result<Changed, Refusal> {
        let Source::Markdown(list) = &self.source else { return Err(Refusal::UnknownId(String::new())) };
        let item = &self.items[at];
        let id = item.id.clone().into_owned();
        if self.lacks_steps(at) {
            return Err(Refusal::NoBox(id));
        }
        let mut edits = Vec::new();
        if item.state != to {
            self.may_move(at, to)?;
            let mark = moves::word(self.shape, to)
                .ok_or(Refusal::NoState { shape: self.shape.word(), state: to.word() })?;
            let steps = list.entries.get(at).map_or(0..0, |entry| entry.boxes.clone());
            let other = steps.filter(|step| list.boxes[*step].state != to);
            // A task is begun with its first step that is not done; it is done, or open again, in all of them.
            let most = if to == State::InProgress { 1 } else { usize::MAX };
            let begins = |step: &usize| to != State::InProgress || list.boxes[*step].state != State::Done;
            for step in other.filter(begins).take(most) {
                edits.push(write::lines::mark(self.text, list, step, mark).map_err(Refusal::NotLossless)?);
            }
        }
        let text = self.spliced(&edits)?;
        self.prove_tick(&text, at, to)?;
        Ok(Changed {
            text,
            edits,
            id,
            state: to,
            status: to.word().into(),
            limit: None,
            incremented: None,
            run_id: None,
        })
    }
}

#[cfg(test)]
mod tests;
