//! Evidence: do the facts agree with a claim of done?

use serde::{Deserialize, Serialize};

use crate::check::CheckResult;
use crate::prelude::*;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Held {
    Held,
    Failed,
    NotApplicable,
}

/// One condition, with the fact that decided it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Condition {
    pub name: String,
    pub held: Held,
    pub fact: String,
}

/// The conditions of one claim.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Evidence {
    pub conditions: Vec<Condition>,
}

impl Evidence {
    pub fn holds(&self) -> bool {
        self.conditions.iter().all(|condition| condition.held != Held::Failed)
    }

    pub fn failures(&self) -> impl Iterator<Item = &Condition> {
        self.conditions.iter().filter(|condition| condition.held == Held::Failed)
    }
}

/// `failure` is how the agent process went wrong, if it did. Then checks are not asked: the claim is refused
/// whatever they say.
pub fn judge(failure: Option<&str>, checks: &[CheckResult]) -> Evidence {
    let mut conditions = vec![match failure {
        None => condition("agent", Held::Held, "the agent ended normally".into()),
        Some(failure) => {
            condition("agent", Held::Failed, format!("the agent did not end normally: {failure}"))
        }
    }];
    if checks.is_empty() {
        let fact = if failure.is_none() { "no check is configured" } else { "not run" };
        conditions.push(condition("checks", Held::NotApplicable, fact.into()));
    }
    conditions.extend(checks.iter().map(|check| {
        let held = if check.passed() { Held::Held } else { Held::Failed };
        condition(&format!("check {}", check.name), held, check.describe())
    }));
    Evidence { conditions }
}

fn condition(name: &str, held: Held, fact: String) -> Condition {
    Condition { name: name.into(), held, fact }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::End;

    fn check(code: i32) -> CheckResult {
        CheckResult {
            name: "test".into(),
            command: "cargo test".into(),
            end: End::Exited { code },
            asked: false,
            failing: vec!["auth::login".into()],
            duration_ms: 5,
            output_tail: String::new(),
        }
    }

    #[test]
    fn a_red_check_refuses_and_names_the_test() {
        let evidence = judge(None, &[check(101)]);
        assert!(!evidence.holds());
        let failures: Vec<&str> = evidence.failures().map(|c| c.fact.as_str()).collect();
        assert_eq!(failures, ["cargo test exit 101 (auth::login)"]);
    }

    #[test]
    fn a_green_check_and_a_normal_end_hold() {
        assert!(judge(None, &[check(0)]).holds());
        assert!(judge(None, &[]).holds());
    }

    #[test]
    fn an_agent_that_failed_refuses_whatever_the_checks_say() {
        assert!(!judge(Some("exit 1"), &[]).holds());
        assert!(!judge(Some("exit 1"), &[check(0)]).holds());
    }
}
