//! Policy as data: a profile is a named column of values, and a rule reads values, never a profile's name.

mod keys;
mod table;

use serde::{Deserialize, Serialize};

use crate::prelude::*;
use crate::report::PROMISE;

pub use keys::{KEYS, Key, WrongValue, key};
pub use table::{PROFILES, Profile, profile};

/// Which words say done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Gate {
    /// An explicit declaration, and completion language beside it.
    Dual,
    /// An explicit declaration in the agent's report.
    Explicit,
    /// Words are not asked: the facts alone decide.
    Evidence,
}

/// Which facts a claim must agree with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EvidenceNeeded {
    /// The run's checks, open items, and what the run left to do.
    Required,
    /// Open items only; what an item brings to prove it is run all the same, here and below.
    Backlog,
    Off,
}

/// What a check that failed before the run means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Baseline {
    /// It refuses like any other, and is named as such.
    Refuse,
    /// Failures that have a name and were there before are excused.
    Tolerate,
    /// Nobody looks before the run.
    Off,
}

/// What TODO and FIXME comments that the run added mean to a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Todos {
    Refuse,
    Flag,
    Off,
}

/// What it means to a claim that an agent changed or deleted existing tests, or what checks run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TestsChanged {
    #[default]
    Flag,
    /// The claim is refused for as long as they are not as they were when the run began.
    Refuse,
}

/// Which report the prompt asks for. All are heard always.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Protocol {
    Block,
    StatusFile,
    Json,
}

/// What the breaker does when a trigger fires.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trip {
    Off,
    Warn,
    /// One more iteration decides.
    HalfOpen,
    Open,
}

/// What saturation does when it is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Saturated {
    Off,
    /// Stops as a limit.
    Halt,
    /// Completes where the evidence holds, else stops as a limit.
    Complete,
}

/// Which agent of a pool is next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// The first that is able to.
    Listed,
    RoundRobin,
    /// By a recorded seed.
    Random,
}

/// What becomes of the work on an item that could not be proved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailedItem {
    /// It stays, for the next attempt.
    Keep,
    /// The code goes back to where it was before; the backlog and its harness do not.
    Revert,
}

/// What ralph commits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Commits {
    /// Every proved item of a backlog.
    Items,
    Never,
}

/// How many reviews a completion needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewPolicy {
    pub with_checks: u32,
    pub without_checks: u32,
}

/// The circuit breaker's triggers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct BreakerPolicy {
    pub no_progress: Trip,
    pub no_progress_after: u32,
    pub same_error: Trip,
    pub same_error_after: u32,
    pub decline: Trip,
    /// By how much the words must shrink, in per cent.
    pub decline_percent: u32,
    pub denials: Trip,
    pub denials_after: u32,
    /// How long an open circuit stays closed to probes; `None`: until somebody asks for one.
    pub cooldown_ms: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SaturationPolicy {
    pub test_only: Saturated,
    pub test_only_after: u32,
    pub done_signals: Saturated,
    pub done_signals_after: u32,
    pub test_share: Saturated,
    pub test_share_percent: u32,
    /// Iterations before the share means anything.
    pub test_share_after: u32,
}

impl SaturationPolicy {
    /// Whether polishing may end a run as complete.
    pub fn may_complete(&self) -> bool {
        [self.test_only, self.done_signals, self.test_share].contains(&Saturated::Complete)
    }
}

/// What a run may use; 0 = no limit.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Budget {
    pub time_ms: u64,
    pub tokens: u64,
    pub micro_usd: u64,
}

/// The values every decision of a run is made by. Stored in the run's first record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Policy {
    pub profile: String,
    pub protocol: Protocol,
    pub gate: Gate,
    /// Completion indicators the dual gate asks for.
    pub indicators: u32,
    /// Whether a report that contradicts itself is believed nevertheless (seed 002).
    pub believe_contradictions: bool,
    pub evidence: EvidenceNeeded,
    pub baseline: Baseline,
    /// The same for a backlog, its items and the whole of them; `None`: as `baseline`, which is all that earlier records have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item_baseline: Option<Baseline>,
    pub todos: Todos,
    /// Whether open items of a task file in the project refuse a claim about a goal.
    #[serde(default)]
    pub goal_backlog: bool,
    pub tests_changed: TestsChanged,
    pub reviews: ReviewPolicy,
    pub breaker: BreakerPolicy,
    pub saturation: SaturationPolicy,
    /// Iterations of one run; 0 = no limit.
    pub max_iterations: u64,
    pub budget: Budget,
    /// Questions in a row, with nothing changed, that mean blocked; 0 = never.
    pub questions: u32,
    pub order: Order,
    /// Failures of an agent in a row after which it is not started again.
    pub max_failures: u32,
    /// The first wait after a failure; doubled at each further one.
    pub backoff_ms: u64,
    pub max_backoff_ms: u64,
    /// Limits of an agent's provider in a row after which it is not started again.
    pub max_limits: u32,
    /// The first wait after a limit whose end is not known; doubled at each further one.
    pub limit_backoff_ms: u64,
    /// The longest wait for an agent.
    pub max_wait_ms: u64,
    /// Wall time of one agent process.
    pub agent_timeout_ms: u64,
    /// How long an agent may print nothing; 0 = for ever, as in records from before there was such a limit.
    #[serde(default)]
    pub idle_timeout_ms: u64,
    /// Wall time of one check.
    pub check_timeout_ms: u64,
    /// Of how many iterations the output is kept; 0 = of all.
    #[serde(default)]
    pub keep_output: u64,
    /// Whether `.ralph-session.json` is kept in the project (seed 002).
    pub session_view: bool,
    /// The text of the promise that says done.
    pub promise: String,
    /// Whether `max_iterations` is meant for each item of a backlog.
    pub each_item: bool,
    pub failed_item: FailedItem,
    pub commits: Commits,
    /// One attempt at one item of a backlog, then stop.
    pub once: bool,
    /// Whether the harness's `init.sh` must pass before anything is selected (seed 003).
    #[serde(default)]
    pub boot: bool,
    /// Whether `.harness.lock` tells others that somebody is at work (seed 003).
    #[serde(default)]
    pub harness_lock: bool,
    /// Iterations whose snapshots are kept, so that they can be looked at and undone; 0 = all, as in records from
    /// before any was let go.
    #[serde(default)]
    pub keep_snapshots: u64,
}

const MINUTE: u64 = 60_000;

impl Default for BreakerPolicy {
    fn default() -> Self {
        Self {
            no_progress: Trip::Open,
            no_progress_after: 3,
            same_error: Trip::Open,
            same_error_after: 5,
            decline: Trip::Warn,
            decline_percent: 70,
            denials: Trip::Open,
            denials_after: 2,
            cooldown_ms: Some(30 * MINUTE),
        }
    }
}

impl Default for SaturationPolicy {
    fn default() -> Self {
        Self {
            test_only: Saturated::Off,
            test_only_after: 3,
            done_signals: Saturated::Off,
            done_signals_after: 2,
            test_share: Saturated::Off,
            test_share_percent: 30,
            test_share_after: 10,
        }
    }
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            profile: "default".into(),
            protocol: Protocol::Block,
            gate: Gate::Explicit,
            indicators: 2,
            believe_contradictions: false,
            evidence: EvidenceNeeded::Required,
            baseline: Baseline::Refuse,
            item_baseline: Some(Baseline::Tolerate),
            todos: Todos::Flag,
            goal_backlog: false,
            tests_changed: TestsChanged::Flag,
            reviews: ReviewPolicy { with_checks: 1, without_checks: 3 },
            breaker: BreakerPolicy::default(),
            saturation: SaturationPolicy::default(),
            max_iterations: 50,
            budget: Budget::default(),
            questions: 2,
            order: Order::Listed,
            max_failures: 5,
            backoff_ms: 1_000,
            max_backoff_ms: MINUTE,
            max_limits: 10,
            limit_backoff_ms: MINUTE,
            max_wait_ms: 24 * 60 * MINUTE,
            agent_timeout_ms: 30 * MINUTE,
            idle_timeout_ms: 10 * MINUTE,
            check_timeout_ms: 30 * MINUTE,
            keep_output: 1_000,
            session_view: false,
            promise: PROMISE.into(),
            each_item: false,
            failed_item: FailedItem::Keep,
            commits: Commits::Items,
            once: false,
            boot: false,
            harness_lock: false,
            keep_snapshots: 1_000,
        }
    }
}

/// Profile `default`: always right to start with.
pub fn default() -> Policy {
    Policy::default()
}

impl Policy {
    /// Whether a claim must stand ralph's own checks.
    pub fn wants_checks(&self) -> bool {
        self.evidence == EvidenceNeeded::Required
    }

    /// Name and value of what is not as in its profile.
    pub fn set_apart(&self) -> impl Iterator<Item = (&'static str, String)> {
        let usual = profile(&self.profile).map(Profile::policy).unwrap_or_default();
        let values = KEYS.iter().map(move |key| (key.name, (key.get)(self), (key.get)(&usual)));
        values.filter(|(_, value, usual)| value != usual).map(|(name, value, _)| (name, value))
    }

    /// Sets one value by its name.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), WrongValue> {
        let key = key(name).ok_or_else(|| WrongValue::Name { name: name.into() })?;
        (key.set)(self, value.trim()).map_err(|expected| WrongValue::Value {
            name: key.name,
            value: value.into(),
            expected,
        })
    }
}

#[cfg(test)]
mod tests;
