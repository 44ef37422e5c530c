//! What a run came to, for a person who did not watch: one value that the terminal, notifications and other views share.
//!
//! [`Gathered`] is folded over the iterations of a run, [`of`] makes the value, and `words` is the only place that puts it
//! into words.

mod words;

use serde_json::{Value, json};

use super::{ended, status_word};
use crate::decision::Outcome;
use crate::evidence::Items;
use crate::items::{Attempt, ParkReason, Work};
use crate::prelude::*;
use crate::state::{Iteration, State, Totals};
use crate::text;
use crate::time::Time;

pub use words::Page;

/// The command that answers a goal.
const NOTE: &str = "ralph note \"...\"";

/// How much of a reason or a question is kept.
const LONGEST: usize = 500;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Summary {
    pub run: u64,
    pub goal: String,
    /// As `ralph status` calls it.
    pub status: &'static str,
    /// `None`: it has not stopped.
    pub ended: Option<Ended>,
    pub started_at: Time,
    pub updated_at: Time,
    pub iterations: u64,
    pub active_ms: u64,
    pub totals: Totals,
    /// `None`: it worked on a goal.
    pub items: Option<Items>,
    pub passed: Vec<PassedItem>,
    pub parked: Vec<ParkedLine>,
    pub waiting: Vec<WaitingLine>,
    /// Tried in this run, neither passed nor parked.
    pub unfinished: Vec<UnfinishedItem>,
    pub commits: Vec<Commit>,
    /// What to type next.
    pub next: Vec<String>,
}

/// How a run stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// The stable word of the stop.
    pub reason: &'static str,
    pub text: String,
    pub exit_code: u8,
}

/// An item by what people call it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Named {
    pub id: String,
    pub title: String,
    /// ralph made the id, so that it means nothing to people.
    pub made_id: bool,
}

impl Named {
    fn of(work: &Work) -> Self {
        Self { id: work.id.clone(), title: text::one_line(&work.title, 200), made_id: work.made_id }
    }

    /// `FEAT-1 Login form`, or the title alone.
    pub fn words(&self) -> String {
        match (self.made_id, self.title.is_empty()) {
            (true, false) => self.title.clone(),
            (_, true) => self.id.clone(),
            (false, false) => format!("{} {}", self.id, self.title),
        }
    }

    fn short(&self) -> &str {
        if self.made_id { &self.title } else { &self.id }
    }
}

/// What an item that passed rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rests {
    Proved,
    /// On checks that were green before it was begun.
    GreenAlready,
    /// On the agent's word.
    Claimed,
}

impl Rests {
    fn of(iteration: &Iteration, state: &State) -> Self {
        match () {
            () if iteration.is_claimed() => Self::Claimed,
            () if iteration.is_unmeasured(&state.baseline.results) => Self::GreenAlready,
            () => Self::Proved,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Proved => "proved",
            Self::GreenAlready => "green_already",
            Self::Claimed => "claimed",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PassedItem {
    pub item: Named,
    pub rests_on: Rests,
    /// The commit that holds it, if ralph or the agent made one.
    pub commit: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParkedLine {
    /// `None`: the goal.
    pub item: Option<Named>,
    pub reason: String,
    /// What a person is asked, word for word.
    pub question: Option<String>,
    /// The command that answers it.
    pub answer_with: String,
    /// The command that leaves it out, where no answer is asked for.
    pub leave_out_with: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitingLine {
    pub item: Named,
    /// Items that have to be done first, by id.
    pub waits_for: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnfinishedItem {
    pub item: Named,
    pub attempts: u64,
    /// Why the last attempt did not pass.
    pub why: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    pub hash: String,
    /// `None`: the repository does not have it any more.
    pub subject: Option<String>,
    pub by_agent: bool,
}

/// What the iterations of a run tell, one after the other.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Gathered {
    passed: Vec<PassedItem>,
    unfinished: Vec<UnfinishedItem>,
    commits: Vec<Committed>,
}

/// Commits that an iteration left, as far as its record names them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Committed {
    ByRalph(String),
    /// Those that `after` has and `before` has not.
    ByAgent {
        before: Option<String>,
        after: String,
    },
}

impl Gathered {
    /// With one more iteration; `state` is the state when it was concluded.
    pub fn take(&mut self, iteration: &Iteration, state: &State) {
        let after = iteration.after.as_ref();
        let left_head = after.and_then(|after| after.left_head());
        if let (Some(head), true) = (left_head, after.is_some_and(|after| after.commits > 0)) {
            let before = iteration.before.as_ref().and_then(|before| before.head.clone());
            self.commits.push(Committed::ByAgent { before, after: head.to_owned() });
        }
        let settled = iteration.settled.as_ref();
        let made = settled.into_iter().flat_map(|settled| settled.undid.iter().chain(&settled.commit));
        let made = made.filter(|commit| Some(commit.as_str()) != left_head);
        self.commits.extend(made.cloned().map(Committed::ByRalph));
        if let Some(item) = &iteration.item {
            self.take_item(item, iteration, state);
        }
    }

    fn take_item(&mut self, item: &Work, iteration: &Iteration, state: &State) {
        let named = Named::of(item);
        let Some(conclusion) = &iteration.conclusion else { return };
        let settled = iteration.settled.as_ref();
        let unmarked = settled.is_some_and(|settled| settled.unmarked.is_some());
        if conclusion.attempt == Some(Attempt::Passed) && !unmarked {
            self.unfinished.retain(|known| known.item.id != named.id);
            self.passed.retain(|known| known.item.id != named.id);
            let commit = settled.and_then(|settled| settled.commit.clone());
            self.passed.push(PassedItem { item: named, rests_on: Rests::of(iteration, state), commit });
            return;
        }
        let why = conclusion.refusal.clone().or_else(|| super::failure(state, iteration));
        let why = why.map(|why| text::one_line(&why, LONGEST));
        match self.unfinished.iter_mut().find(|known| known.item.id == named.id) {
            Some(known) => {
                known.attempts = known.attempts.saturating_add(1);
                known.why = why.or(known.why.take());
            }
            None => self.unfinished.push(UnfinishedItem { item: named, attempts: 1, why }),
        }
    }

    /// What was committed, oldest first.
    pub fn commits(&self) -> &[Committed] {
        &self.commits
    }
}

/// What the shell knows beside the record.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Around {
    /// A process is at work on the run.
    pub running: bool,
    /// The flag that names the backlog to a command, where one is needed.
    pub which_backlog: String,
    pub commits: Vec<Commit>,
    /// What to type next.
    pub next: Vec<String>,
}

/// What a run came to.
pub fn of(state: &State, gathered: Gathered, around: Around) -> Summary {
    let run = state.run.as_ref();
    let plan = run.map(|run| &run.plan);
    let parked = parked(state, &around.which_backlog);
    let is_parked = |id: &str| parked.iter().any(|one| one.item.as_ref().is_some_and(|item| item.id == id));
    let mut unfinished = gathered.unfinished;
    unfinished.retain(|one| !is_parked(&one.item.id));
    let waiting = state.backlog.iter().flat_map(|read| &read.waiting).map(|item| WaitingLine {
        item: Named { id: item.id.clone(), title: text::one_line(&item.title, 200), made_id: false },
        waits_for: item.on.clone(),
    });
    Summary {
        run: run.map_or(0, |run| run.number),
        goal: run.map_or_else(String::new, |run| run.goal.clone()),
        status: status_word(state, around.running),
        ended: state.stop().map(|stop| Ended {
            reason: stop.word(),
            text: ended(state, stop),
            exit_code: stop.exit_code(),
        }),
        started_at: state.started_at,
        updated_at: state.updated_at,
        iterations: state.used,
        active_ms: state.active_ms,
        totals: state.totals,
        items: state
            .backlog
            .as_ref()
            .filter(|_| plan.is_some_and(|plan| plan.backlog.is_some()))
            .map(|read| read.items),
        passed: gathered.passed,
        waiting: waiting.collect(),
        parked,
        unfinished,
        commits: around.commits,
        next: around.next,
    }
}

/// What needs a person: items that are set aside, or the goal.
fn parked(state: &State, which: &str) -> Vec<ParkedLine> {
    let known = state.backlog.as_ref().map_or(&[][..], |read| &read.parked);
    let line = |id: &str, title: &str, reason: &ParkReason| {
        let named = text::quoted(id);
        let (words, answer_with) = match reason.asks() {
            Some(_) => (reason.word().into(), format!("ralph note --item {named} \"...\"{which}")),
            None => {
                (text::one_line(&reason.to_string(), LONGEST), format!("ralph backlog reset {named}{which}"))
            }
        };
        ParkedLine {
            item: Some(Named { id: id.into(), title: text::one_line(title, 200), made_id: false }),
            reason: words,
            question: reason.asks().map(Into::into),
            leave_out_with: reason.asks().is_none().then(|| format!("ralph backlog skip {named}{which}")),
            answer_with,
        }
    };
    let mut parked: Vec<ParkedLine> =
        known.iter().map(|item| line(&item.id, &item.title, &item.reason)).collect();
    // The backlog is not read again after the only attempt of a run.
    if let Some(last) = &state.last
        && let (Some(item), Some(conclusion)) = (&last.item, &last.conclusion)
        && let Some(reason) = &conclusion.parked
        && known.iter().all(|known| known.id != item.id)
        && state.stop().is_some()
    {
        parked.push(line(&item.id, &item.title, reason));
    }
    if parked.is_empty() { goal(state).into_iter().collect() } else { parked }
}

/// The goal, where it waits for an answer.
fn goal(state: &State) -> Option<ParkedLine> {
    let question = text::one_line(state.question()?, LONGEST);
    let says_so = state.last.as_ref().is_some_and(|last| last.outcome() == Some(Outcome::Blocked));
    let reason = if says_so { "blocked" } else { "question" };
    Some(ParkedLine {
        item: None,
        reason: reason.into(),
        question: Some(question),
        answer_with: NOTE.into(),
        leave_out_with: None,
    })
}

impl Summary {
    /// `ralph.summary/1`
    pub fn document(&self) -> Value {
        let ended = self.ended.as_ref();
        json!({
            "schema": "ralph.summary/1",
            "run": Some(self.run).filter(|run| *run > 0),
            "goal": self.goal,
            "status": self.status,
            "reason": ended.map(|ended| ended.reason),
            "text": ended.map(|ended| &ended.text),
            "exit_code": ended.map(|ended| ended.exit_code),
            "started_at": self.started_at,
            "updated_at": self.updated_at,
            "iterations": self.iterations,
            "duration_ms": self.active_ms,
            "agent_ms": self.totals.agent_ms,
            "cost": {
                "micro_usd": self.totals.cost_micro_usd,
                "tokens": self.totals.usage.total(),
                "iterations_without_cost": self.totals.without_cost,
            },
            "items": self.items.map(|items| json!({"total": items.total, "open": items.open})),
            "passed": self.passed.iter().map(|one| json!({
                "id": one.item.id,
                "title": one.item.title,
                "proof": one.rests_on.word(),
                "commit": one.commit,
            })).collect::<Vec<_>>(),
            "parked": self.parked.iter().map(|one| json!({
                "id": one.item.as_ref().map(|item| &item.id),
                "title": one.item.as_ref().map(|item| &item.title),
                "reason": one.reason,
                "question": one.question,
                "answer_with": one.answer_with,
                "leave_out_with": one.leave_out_with,
            })).collect::<Vec<_>>(),
            "waiting": self.waiting.iter().map(|one| json!({
                "id": one.item.id,
                "title": one.item.title,
                "waits_for": one.waits_for,
            })).collect::<Vec<_>>(),
            "unfinished": self.unfinished.iter().map(|one| json!({
                "id": one.item.id,
                "title": one.item.title,
                "attempts": one.attempts,
                "why": one.why,
            })).collect::<Vec<_>>(),
            "commits": self.commits.iter().map(|one| json!({
                "hash": one.hash,
                "subject": one.subject,
                "by": if one.by_agent { "agent" } else { "ralph" },
            })).collect::<Vec<_>>(),
            "next": self.next,
        })
    }
}

#[cfg(test)]
mod tests;
