//! Policy as data: a profile is a named set of values, and a rule reads values, never a profile's name.

use serde::{Deserialize, Serialize};

use crate::prelude::*;

/// Which words say done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Gate {
    /// An explicit declaration in the agent's report.
    Explicit,
}

/// How many reviews a completion needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewPolicy {
    pub with_checks: u32,
    pub without_checks: u32,
}

/// The values every decision of a run is made by. Stored in the run's first record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Policy {
    pub profile: String,
    pub gate: Gate,
    pub reviews: ReviewPolicy,
    /// Iterations of one run; 0 = no limit.
    pub max_iterations: u64,
    /// Failures of an agent in a row after which it is not started again.
    pub max_failures: u32,
    /// The first wait after a failure; doubled at each further one.
    pub backoff_ms: u64,
    pub max_backoff_ms: u64,
    /// Wall time of one agent process.
    pub agent_timeout_ms: u64,
    /// Wall time of one check.
    pub check_timeout_ms: u64,
}

/// Profile `default`: always right to start with.
pub fn default() -> Policy {
    Policy {
        profile: "default".into(),
        gate: Gate::Explicit,
        reviews: ReviewPolicy { with_checks: 1, without_checks: 3 },
        max_iterations: 50,
        max_failures: 5,
        backoff_ms: 1_000,
        max_backoff_ms: 60_000,
        agent_timeout_ms: 30 * 60_000,
        check_timeout_ms: 30 * 60_000,
    }
}
