//! The agent's health: failures in a row, and how long to wait before it is started again.

use serde::{Deserialize, Serialize};

/// What this rule remembers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Agents {
    pub failures: u32,
}

/// What follows from how the agent ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Health {
    Fine,
    /// Start it again after this many milliseconds.
    BackOff(u64),
    /// It failed too often in a row.
    Exhausted,
}

/// The values of the policy that matter here.
#[derive(Debug, Clone, Copy)]
pub struct Context {
    pub max_failures: u32,
    pub backoff_ms: u64,
    pub max_backoff_ms: u64,
}

impl Agents {
    #[must_use]
    pub fn step(self, context: Context, failed: bool) -> (Self, Health) {
        if !failed {
            return (Self::default(), Health::Fine);
        }
        let failures = self.failures.saturating_add(1);
        let health = if failures >= context.max_failures {
            Health::Exhausted
        } else {
            let doubled = context.backoff_ms.saturating_mul(1u64 << (failures - 1).min(40));
            Health::BackOff(doubled.min(context.max_backoff_ms))
        };
        (Self { failures }, health)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONTEXT: Context = Context { max_failures: 5, backoff_ms: 1000, max_backoff_ms: 6000 };

    #[test]
    fn waits_double_up_to_the_cap_and_the_fifth_failure_exhausts() {
        let mut agents = Agents::default();
        let mut seen = std::vec::Vec::new();
        for _ in 0..5 {
            let (next, health) = agents.step(CONTEXT, true);
            agents = next;
            seen.push(health);
        }
        use Health::{BackOff, Exhausted};
        assert_eq!(seen, [BackOff(1000), BackOff(2000), BackOff(4000), BackOff(6000), Exhausted]);
    }

    #[test]
    fn a_good_end_forgets_the_failures() {
        let agents = Agents { failures: 4 };
        assert_eq!(agents.step(CONTEXT, false), (Agents { failures: 0 }, Health::Fine));
    }
}
