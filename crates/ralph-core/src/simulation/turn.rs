//! What an agent does in one iteration.

use serde::Deserialize;

use super::world::World;
use crate::decision::Kind;
use crate::prelude::*;

/// Stands in an agent's words for the prompt it was given.
pub const PROMPT: &str = "{{PROMPT}}";

/// Somebody who works.
pub trait Agent {
    fn turn(&mut self, glance: Glance<'_>) -> Turn;
}

/// What an agent can see when it starts.
#[derive(Debug, Clone, Copy)]
pub struct Glance<'a> {
    /// The iteration within the run, from 1.
    pub nth: u64,
    pub kind: Kind,
    pub world: &'a World,
}

/// One iteration's work: what is printed, what is changed, how it ends.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Turn {
    /// What it prints.
    pub says: String,
    /// A status block below it.
    pub report: Option<Report>,
    /// What it writes to standard error.
    pub stderr: String,
    /// What it writes into `.ralph/status`.
    pub status: String,
    pub writes: Vec<String>,
    pub removes: Vec<String>,
    /// The first holds what was changed, further ones are empty.
    pub commits: u64,
    /// Items of the backlog.
    pub closes: u64,
    pub opens: u64,
    /// It changes what the item is judged by.
    pub tampers: bool,
    /// It removes, cancels or weakens other items.
    pub harms: bool,
    /// TODO comments that it adds.
    pub todos: u64,
    pub takes_ms: u64,
    /// It runs until it is ended.
    pub never_ends: bool,
    /// It prints nothing while it works; what it says comes at its end.
    pub silent: bool,
    pub exit: i32,
    pub signal: Option<i32>,
    /// Why it cannot be started.
    pub not_started: Option<String>,
    pub tokens: u64,
    pub cost_micro_usd: Option<u64>,
    /// Tools it was denied.
    pub denied: Vec<String>,
    /// What its closing event calls an error.
    pub error: Option<String>,
}

impl Default for Turn {
    fn default() -> Self {
        Self {
            says: String::new(),
            report: None,
            stderr: String::new(),
            status: String::new(),
            writes: vec![],
            removes: vec![],
            commits: 0,
            closes: 0,
            opens: 0,
            tampers: false,
            harms: false,
            todos: 0,
            takes_ms: 60_000,
            never_ends: false,
            silent: false,
            exit: 0,
            signal: None,
            not_started: None,
            tokens: 0,
            cost_micro_usd: None,
            denied: vec![],
            error: None,
        }
    }
}

/// Which status block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Report {
    Done,
    /// Done, although tests fail.
    Contradiction,
    More,
    /// More, of tests.
    Testing,
    Blocked,
}

impl Report {
    pub(super) fn block(self) -> String {
        let (status, tests, work, exit) = match self {
            Self::Done => ("COMPLETE", "PASSING", "IMPLEMENTATION", true),
            Self::Contradiction => ("COMPLETE", "FAILING", "IMPLEMENTATION", true),
            Self::More => ("IN_PROGRESS", "PASSING", "IMPLEMENTATION", false),
            Self::Testing => ("IN_PROGRESS", "PASSING", "TESTING", false),
            Self::Blocked => ("BLOCKED", "NOT_RUN", "IMPLEMENTATION", false),
        };
        format!(
            "{}\nSTATUS: {status}\nTASKS_COMPLETED_THIS_LOOP: 1\nFILES_MODIFIED: 1\nTESTS_STATUS: {tests}\n\
             WORK_TYPE: {work}\nEXIT_SIGNAL: {exit}\nRECOMMENDATION: Ask for the key\n{}\n",
            crate::report::block::BEGIN,
            crate::report::block::END
        )
    }
}
