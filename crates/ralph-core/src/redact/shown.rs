//! What is shown of a run whose commands hold a secret. A record keeps commands as they were given, so that a run which is
//! continued starts them again, and words about a check name its command; nobody is shown them like that.

use alloc::borrow::Cow;

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
        // By way of text, as records are written and read: whatever reads values from values would be compiled a second time.
        let told = || {
            let text = serde_json::to_string(value).ok()?;
            let mut told: Value = serde_json::from_slice(text.as_bytes()).ok()?;
            self.hide_value(&mut told).then(|| serde_json::from_slice(told.to_string().as_bytes()).ok())?
        };
        match self.exact.len() {
            0 => Cow::Borrowed(value),
            _ => told().map_or(Cow::Borrowed(value), Cow::Owned),
        }
    }

    /// Whether anything was hidden.
    fn hide_value(&self, value: &mut Value) -> bool {
        match value {
            Value::String(text) => {
                let hidden = self.exact.hide(text);
                let found = hidden.is_some();
                *text = hidden.unwrap_or_else(|| core::mem::take(text));
                found
            }
            Value::Array(list) => list.iter_mut().fold(false, |found, value| self.hide_value(value) | found),
            Value::Object(fields) => {
                fields.iter_mut().fold(false, |found, (_, value)| self.hide_value(value) | found)
            }
            _ => false,
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

fn of_plan(plan: &Plan) -> impl Iterator<Item = &str> {
    let checks = plan.checks.iter().chain(&plan.boot).map(of_check);
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
