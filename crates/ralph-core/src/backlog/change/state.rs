//! A state as fields of an item: those in which it, or else its file, tells states already; and what tells when it began
//! and ended.

use super::{AT_LIMIT, Refusal};
use crate::backlog::node::Node;
use crate::backlog::validate::{Finding, Rule, validate};
use crate::backlog::write::{Step, Written};
use crate::backlog::{Backlog, Recorded, Shape, State, moves};
use crate::prelude::*;
use crate::time::Time;

type Path = &'static [&'static str];

const WORD: Path = &["status"];
const PASSES: Path = &["passes"];
const COMPLETED: Path = &["completed"];
/// Some dialects have a truth value, some a word, some both. A truth value outweighs the word.
const TELLING: [Path; 3] = [WORD, PASSES, COMPLETED];

/// Moments that are true only of what has begun or is done.
const BEGAN: [Path; 3] = [&["startedAt"], &["started_at"], &["execution", "started_at"]];
const ENDED: [Path; 3] = [&["completedAt"], &["completed_at"], &["execution", "completed_at"]];

impl Backlog<'_> {
    pub(super) fn to_state(&self, at: usize, to: State, time: Option<Time>) -> Result<Vec<Step>, Refusal> {
        if self.items[at].state == to {
            return Ok(Vec::new());
        }
        self.may_move(at, to)?;
        if self.shape == Shape::Features && to == State::Done {
            self.has_evidence(at)?;
        }
        let fields = self.fields_of_state(Some(at));
        let none = || Refusal::NoState { shape: self.shape.word(), state: to.word() };
        let worded = fields.contains(&WORD);
        if !worded && !matches!(to, State::Open | State::Done) {
            return Err(none());
        }
        let mut steps = Vec::new();
        for field in fields {
            let written = match field {
                WORD => Written::Text(moves::word(self.shape, to).ok_or_else(none)?.into()),
                _ => Written::Bool(to == State::Done),
            };
            steps.push(Step::Set(field, written));
        }
        steps.extend(self.moments(at, to, time));
        if to == State::Blocked && self.items[at].limit.is_some_and(|limit| limit.is_reached()) {
            steps.extend(self.blocked_at_limit(at, AT_LIMIT));
        }
        Ok(steps)
    }

    /// The fields that tell the state of an item, or of a new one: its own; else those of the first item that has some;
    /// else what the dialect begins with.
    pub(super) fn fields_of_state(&self, at: Option<usize>) -> Vec<Path> {
        // Nothing else in it may change.
        if self.shape == Shape::FeatureArray {
            return vec![PASSES];
        }
        let own = |at: usize| -> Vec<Path> {
            let Some(node) = self.node(at) else { return vec![] };
            // A date, say, in `completed` tells nothing that is read, and stays.
            let tells =
                |path: Path, told: Node<'_, '_>| path == WORD || told.is_null() || told.bool().is_some();
            TELLING
                .into_iter()
                .filter(|path| field(node, path).is_some_and(|told| tells(path, told)))
                .collect()
        };
        let known = at.into_iter().chain(0..self.items.len()).map(own).find(|fields| !fields.is_empty());
        known.unwrap_or_else(|| vec![if self.shape == Shape::UserStories { PASSES } else { WORD }])
    }

    /// When it began or ended, where that is kept; nothing of it is left where it is open again.
    fn moments(&self, at: usize, to: State, time: Option<Time>) -> Vec<Step> {
        let Some(node) = self.node(at).filter(|_| self.shape != Shape::FeatureArray) else { return vec![] };
        let (places, time) = match to {
            State::InProgress => (&BEGAN, time),
            State::Done => (&ENDED, time),
            State::Open => {
                let known = BEGAN.into_iter().chain(ENDED);
                let told = known.filter(|path| field(node, path).is_some_and(|moment| !moment.is_null()));
                return told.map(|path| Step::Set(path, Written::Null)).collect();
            }
            _ => return vec![],
        };
        let Some(time) = time else { return vec![] };
        let there = places.iter().copied().find(|path| field(node, path).is_some());
        let place = there.or_else(|| (self.shape == Shape::Stories).then_some(places[0]));
        place.map(|path| Step::Set(path, Written::Text(time.to_string()))).into_iter().collect()
    }

    /// PASSING needs attempts that are in order, and of those that ended the newest must have passed and still stand.
    fn has_evidence(&self, at: usize) -> Result<(), Refusal> {
        let refused = |why: &str| {
            Err(Refusal::NoEvidence { id: self.items[at].id.clone().into_owned(), why: why.into() })
        };
        let attempts = self.attempts(at);
        if !attempts.iter().any(Recorded::is_passed) {
            return refused("it has no PASSED attempt");
        }
        if !attempts.iter().any(Recorded::proves) {
            return refused("what its PASSED attempt did was reverted");
        }
        if !attempts.iter().rfind(|attempt| !attempt.is_unfinished()).is_some_and(Recorded::proves) {
            return refused("an attempt after the PASSED one failed or was reverted");
        }
        let of_attempts = |finding: &&Finding| !matches!(finding.rule, Rule::Dependency | Rule::Kind);
        match validate(self, Some(at), false).findings.iter().find(of_attempts) {
            Some(finding) => refused(&finding.what),
            None => Ok(()),
        }
    }
}

fn field<'t, 'a>(node: Node<'t, 'a>, path: Path) -> Option<Node<'t, 'a>> {
    path.iter().try_fold(node, |node, name| node.is_map().then(|| node.get(name)).flatten())
}
