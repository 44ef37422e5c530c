//! What is shown of a run whose commands hold a secret. A record keeps commands as they were given, so that a run which is
//! continued starts them again, and words about a check name its command; nobody is shown them like that.

use alloc::borrow::Cow;
use alloc::collections::BTreeSet;
use core::iter;
use core::ops::Range;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::Secrets;
use crate::check::{CheckResult, CheckSpec};
use crate::event::{AgentInfo, Plan};
use crate::journal::{Body, Record};
use crate::prelude::*;
use crate::state::{Iteration, State};

impl Secrets {
    /// The state as it may be shown.
    pub fn shown_state<'a>(&self, state: &'a State) -> Cow<'a, State> {
        if self.are_told(state) { self.shown(state) } else { Cow::Borrowed(state) }
    }

    /// A record of a run that stands like this, as it may be shown.
    pub fn shown_record<'a>(&self, state: &State, record: &'a Record) -> Cow<'a, Record> {
        let Body::Step { event, decision } = &record.body else { return Cow::Borrowed(record) };
        if !self.are_told(state) {
            return Cow::Borrowed(record);
        }
        let (event, decision) = (self.shown(event).into_owned(), self.shown(decision).into_owned());
        Cow::Owned(Record { body: Body::Step { event, decision }, ..record.clone() })
    }

    /// An iteration as it may be shown.
    pub fn shown_iteration<'a>(&self, iteration: &'a Iteration) -> Cow<'a, Iteration> {
        match of_iteration(iteration).any(|command| self.is_told(command)) {
            true => self.shown(iteration),
            false => Cow::Borrowed(iteration),
        }
    }

    /// Every text in it without secrets. To be asked for what is small, or where something is to be hidden.
    pub fn shown<'a, T: Serialize + DeserializeOwned + Clone>(&self, value: &'a T) -> Cow<'a, T> {
        let told = match self.exact.len() {
            0 => None,
            _ => written(value).and_then(|written| self.without_secrets(&written)),
        };
        told.map_or(Cow::Borrowed(value), Cow::Owned)
    }

    /// A known value may also be a word of ralph's own (`round_robin`), without which nothing could be read any more. Such words
    /// stay, and tell nothing; every other text is without secrets all the same.
    fn without_secrets<T: Serialize + DeserializeOwned>(&self, written: &Value) -> Option<T> {
        let mut found = 0;
        self.hide_value(&mut written.clone(), &mut |_| false, &mut found);
        let (mut shown, mut hidden) = (None, BTreeSet::new());
        let mut parts: Vec<Range<usize>> = iter::once(0..found).collect();
        while let Some(part) = parts.pop().filter(|part| !part.is_empty()) {
            let tried: BTreeSet<usize> = hidden.iter().copied().chain(part.clone()).into_set();
            let mut told = written.clone();
            self.hide_value(&mut told, &mut |nth| tried.contains(&nth), &mut 0);
            let half = part.start + part.len() / 2;
            match read::<T>(&told) {
                Some((read, as_it_is)) if as_it_is || !is_kept::<T>(written) => {
                    (shown, hidden) = (Some(read), tried);
                }
                _ if part.len() > 1 => parts.extend([half..part.end, part.start..half]),
                _ => {}
            }
        }
        shown
    }

    /// Hides in those texts with a secret that are wanted, by their number.
    fn hide_value(&self, value: &mut Value, wanted: &mut dyn FnMut(usize) -> bool, found: &mut usize) {
        match value {
            Value::String(text) => {
                if let Some(hidden) = self.exact.hide(text) {
                    if wanted(*found) {
                        *text = hidden;
                    }
                    *found += 1;
                }
            }
            Value::Array(list) => list.iter_mut().for_each(|value| self.hide_value(value, wanted, found)),
            Value::Object(fields) => {
                fields.iter_mut().for_each(|(_, value)| self.hide_value(value, wanted, found));
            }
            _ => {}
        }
    }

    fn is_told(&self, command: &str) -> bool {
        self.exact.hide(command).is_some()
    }

    /// Whether any command that the state knows holds a known value. Shapes are hidden wherever commands are shown.
    fn are_told(&self, state: &State) -> bool {
        let plan = state.run.iter().flat_map(|run| of_plan(&run.plan));
        let baseline = &state.baseline;
        let before = baseline.results.iter().chain(&baseline.boot).chain(&baseline.again).map(of_result);
        let iterations = state.current.iter().chain(state.last.as_deref()).flat_map(of_iteration);
        self.exact.len() > 0 && plan.chain(before).chain(iterations).any(|command| self.is_told(command))
    }
}

/// By way of text, as records are written and read: whatever makes values of values would be compiled a second time.
fn written<T: Serialize>(value: &T) -> Option<Value> {
    serde_json::from_slice(serde_json::to_string(value).ok()?.as_bytes()).ok()
}

/// What is read, and whether it would be written like that again: a word that nobody knows may be read as one that stands
/// for all of those.
fn read<T: Serialize + DeserializeOwned>(told: &Value) -> Option<(T, bool)> {
    let read = serde_json::from_slice(told.to_string().as_bytes()).ok()?;
    let as_it_is = written(&read)? == *told;
    Some((read, as_it_is))
}

fn is_kept<T: Serialize + DeserializeOwned>(written: &Value) -> bool {
    read::<T>(written).is_some_and(|(_, as_it_is)| as_it_is)
}

fn of_plan(plan: &Plan) -> impl Iterator<Item = &str> {
    let checks = plan.checks.iter().chain(&plan.left_out).chain(&plan.boot).map(of_check);
    checks.chain(plan.agents.iter().flat_map(of_agent))
}

fn of_agent(agent: &AgentInfo) -> impl Iterator<Item = &str> {
    agent.command.iter().chain(&agent.args).chain(&agent.model).map(String::as_str)
}

fn of_iteration(iteration: &Iteration) -> impl Iterator<Item = &str> {
    let wanted = iteration.item.iter().flat_map(|item| &item.checks).map(of_check);
    iteration.checks.iter().map(of_result).chain(wanted)
}

fn of_check(check: &CheckSpec) -> &str {
    &check.command
}

fn of_result(check: &CheckResult) -> &str {
    &check.command
}
