//! Issues that `bd` keeps (beads). There is no file to edit: what `bd list` and `bd ready` print becomes a text of ralph's
//! own that is read like any other task list (`printed`), and a change becomes calls of `bd` (`calls`, `back`).

mod back;
mod calls;
mod printed;

use super::Backlog;
use super::model::{Shape, State, Unreadable};
use crate::prelude::*;

pub use printed::{closed_by, complaint, compose, created};

/// What has no place for something, or no such state.
const ISSUE: &str = "beads issue";
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

impl Backlog<'_> {
    /// Whether somebody else has it in hand.
    pub(super) fn is_others(&self, at: usize) -> bool {
        self.shape == Shape::Beads && self.node(at).and_then(|node| node.get(OTHERS)?.bool()).unwrap_or(false)
    }

    /// The issues that somebody else had in hand `before`, and that are closed now.
    pub fn closed_for_others(&self, before: &Backlog<'_>) -> Vec<String> {
        let others = (0..before.items.len()).filter(|old| before.is_others(*old));
        let was_open = others.filter(|old| before.items[*old].state != State::Done);
        let ids = was_open.map(|old| &*before.items[old].id);
        let is_closed = |id: &&str| self.find(id).is_some_and(|at| self.items[at].state == State::Done);
        ids.filter(is_closed).map(ToOwned::to_owned).collect()
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
            || self.rests(at)
            || handed_out(before, old)
            || before.field(old, DEFERRED) != self.field(at, DEFERRED)
    }

    /// Whether somebody put it aside: it is to be done some day, and bd hands it out to nobody.
    pub(super) fn rests(&self, at: usize) -> bool {
        self.shape == Shape::Beads && self.items[at].state == State::Open && self.status(at) != "open"
    }

    fn field(&self, at: usize, name: &str) -> String {
        self.node(at).and_then(|node| node.get(name)?.str()).map(Into::into).unwrap_or_default()
    }

    pub(super) fn blocked_by(&self, at: usize) -> Vec<String> {
        let node = self.node(at).and_then(|node| node.get(BLOCKED_BY));
        node.map(|node| node.texts().into_iter().map(Into::into).collect()).unwrap_or_default()
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

/// What a status means that only bd has.
pub(super) fn other_state(word: &str) -> State {
    match word {
        "hooked" => State::InProgress,
        "deferred" | "pinned" => State::Open,
        // A project may have words of its own.
        _ => State::Unknown,
    }
}

/// Whether it is the list that [`compose`] makes.
pub(super) fn is_list(text: &str) -> Result<(), Unreadable> {
    match text.trim_start().starts_with('[') {
        true => Ok(()),
        false => Err(Unreadable { line: 1, why: "there is no list of issues".into() }),
    }
}

#[cfg(test)]
mod tests;
