//! Seed 000's phases 2 and 3: STATUS and EXIT_SIGNAL follow from facts.

use super::super::block::{Status, Tests};
use super::{Plan, status_word, tests_word};
use crate::prelude::*;
use crate::text;

/// Are there tasks left?
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tasks {
    /// These items of the plan are open.
    Remain(Vec<String>),
    /// All items of the plan are ticked.
    None,
    /// There is no plan, or it has no items: nothing tells.
    Untold,
}

impl From<Option<Plan>> for Tasks {
    fn from(plan: Option<Plan>) -> Self {
        match plan {
            Some(plan) if !plan.open.is_empty() => Self::Remain(plan.open),
            Some(plan) if plan.done > 0 => Self::None,
            _ => Self::Untold,
        }
    }
}

impl Tasks {
    /// `2 open items in the plan: write it, test it`
    pub(super) fn describe(open: &[String]) -> String {
        let named: Vec<&str> = open.iter().take(3).map(String::as_str).collect();
        let more = if open.len() > named.len() { ", …" } else { "" };
        let count = text::count(open.len() as u64, "open item");
        format!("{count} in the plan: {}{more}", named.join(", "))
    }
}

/// What is known at the end of an iteration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Situation {
    /// Nothing goes on without help from outside.
    pub blocked: bool,
    pub tasks: Tasks,
    pub tests: Tests,
    /// Something went wrong and is not settled.
    pub errors: bool,
    /// There is work left that is in no plan.
    pub more_work: bool,
}

/// The STATUS Decision Table. Where nothing tells whether tasks remain, they do.
pub fn status(situation: &Situation) -> Status {
    match situation {
        Situation { blocked: true, .. } => Status::Blocked,
        Situation { tasks: Tasks::None, tests: Tests::Passing, .. } => Status::Complete,
        _ => Status::InProgress,
    }
}

/// The EXIT_SIGNAL Decision Table, for a STATUS that was derived or accepted. Whoever says COMPLETE where no plan
/// tells vouches that no tasks remain.
pub fn exit_signal(status: Status, situation: &Situation) -> bool {
    let no_tasks = !matches!(situation.tasks, Tasks::Remain(_));
    let tests_pass = situation.tests == Tests::Passing;
    status == Status::Complete && no_tasks && tests_pass && !situation.errors && !situation.more_work
}

/// What speaks against a claimed STATUS. Only COMPLETE can be contradicted: to claim less than the facts allow is
/// nobody's loss, and only the agent knows what blocks it.
pub fn contradictions(claimed: Status, situation: &Situation) -> Vec<String> {
    if claimed != Status::Complete {
        return vec![];
    }
    let mut found = Vec::new();
    let word = status_word(claimed);
    if let Tasks::Remain(open) = &situation.tasks {
        found.push(format!("{word} with tasks remaining: {}", Tasks::describe(open)));
    }
    if situation.tests != Tests::Passing {
        found.push(format!("{word} needs passing tests: TESTS_STATUS is {}", tests_word(situation.tests)));
    }
    if situation.blocked {
        found.push(format!("{word} with a RECOMMENDATION that says blocked"));
    }
    found
}

#[cfg(test)]
mod tests;
