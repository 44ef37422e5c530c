//! How checks stood when an item was begun: only what became better since speaks for the work on it.

use serde::{Deserialize, Serialize};

use crate::check::CheckResult;
use crate::prelude::*;

/// A run has few commands; what comes after these is held against nothing.
const MOST: usize = 50;

/// How checks stood when the item that is worked on was begun, and how they stood last.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Standing {
    /// The item that is worked on, or was last.
    about: Option<String>,
    before: Vec<Stood>,
    last: Vec<Stood>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Stood {
    command: String,
    passed: bool,
    /// How many tests failed, as far as they have names.
    failing: u64,
}

impl Stood {
    fn of(check: &CheckResult) -> Self {
        let failing = check.failing.len() as u64;
        Self { command: check.command.clone(), passed: check.passed(), failing }
    }
}

/// What a check that refuses nothing says for the work on an item, or in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Says {
    /// It was red before, or nobody knew it.
    Better,
    /// It was green before.
    Green,
    /// It is as red as before, which is tolerated.
    Red,
}

impl Standing {
    pub(crate) fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    /// With this item at work: what was there when it was begun is what was there last.
    #[must_use]
    pub(crate) fn begun(mut self, item: &str) -> Self {
        if self.about.as_deref() != Some(item) {
            self.before.clone_from(&self.last);
            self.about = Some(item.into());
        }
        self
    }

    /// With the checks that were run.
    #[must_use]
    pub(crate) fn with(mut self, checks: &[CheckResult]) -> Self {
        for stood in checks.iter().map(Stood::of) {
            match self.last.iter().position(|known| known.command == stood.command) {
                Some(at) => self.last[at] = stood,
                None if self.last.len() < MOST => self.last.push(stood),
                None => {}
            }
        }
        self
    }

    /// What a check says for the work on the item; `baseline`: how those stood before the run that were not run since.
    pub(crate) fn says(&self, check: &CheckResult, baseline: &[CheckResult]) -> Says {
        let known = self.before.iter().find(|before| before.command == check.command).cloned();
        says(check, known.or_else(|| before_the_run(check, baseline)))
    }
}

fn before_the_run(check: &CheckResult, baseline: &[CheckResult]) -> Option<Stood> {
    baseline.iter().find(|before| before.command == check.command).map(Stood::of)
}

/// Whether all these checks are as red as before the run, which is tolerated: they speak for nothing.
pub(crate) fn all_as_red(checks: &[CheckResult], baseline: &[CheckResult]) -> bool {
    let red = |check: &CheckResult| says(check, before_the_run(check, baseline)) == Says::Red;
    !checks.is_empty() && checks.iter().all(red)
}

fn says(check: &CheckResult, before: Option<Stood>) -> Says {
    let fewer = |before: &Stood| (check.failing.len() as u64) < before.failing;
    match (check.passed(), before) {
        (true, Some(before)) if before.passed => Says::Green,
        (true, _) => Says::Better,
        (false, Some(before)) if fewer(&before) => Says::Better,
        (false, _) => Says::Red,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::End;

    fn check(code: i32, failing: &[&str]) -> CheckResult {
        CheckResult {
            name: "test".into(),
            command: "make test".into(),
            end: End::Exited { code },
            asked: false,
            failing: failing.iter().map(|name| (*name).into()).collect(),
            duration_ms: 1,
            output_tail: String::new(),
            hollow: false,
        }
    }

    #[test]
    fn a_check_speaks_for_the_item_during_which_it_became_green_and_for_no_later_one() {
        let baseline = [check(2, &["add", "mul"])];
        let green = check(0, &[]);
        let standing = Standing::default().begun("one");
        assert_eq!(standing.says(&green, &baseline), Says::Better);
        let standing = standing.with(core::slice::from_ref(&green)).begun("two");
        assert_eq!(standing.says(&green, &baseline), Says::Green);
        // It broke what was green: to mend that is nothing that was asked for.
        let standing = standing.with(&[check(2, &["add"])]).begun("two");
        assert_eq!(standing.says(&green, &baseline), Says::Green);
        // The next one finds it broken.
        assert_eq!(standing.begun("three").says(&green, &baseline), Says::Better);
    }

    #[test]
    fn a_red_check_speaks_only_where_fewer_tests_fail_than_when_the_item_was_begun() {
        let baseline = [check(2, &["add", "mul"])];
        let (both, one) = (check(2, &["add", "mul"]), check(2, &["mul"]));
        let standing = Standing::default().begun("one");
        assert_eq!(standing.says(&both, &baseline), Says::Red);
        assert_eq!(standing.says(&one, &baseline), Says::Better);
        let standing = standing.with(core::slice::from_ref(&one)).begun("two");
        assert_eq!(standing.says(&one, &baseline), Says::Red);
        assert!(all_as_red(&[both], &baseline) && !all_as_red(&[one], &baseline));
        assert!(!all_as_red(&[], &baseline));
    }

    #[test]
    fn what_nobody_ran_before_speaks_when_it_is_green() {
        assert_eq!(Standing::default().begun("one").says(&check(0, &[]), &[]), Says::Better);
        assert_eq!(Standing::default().begun("one").says(&check(1, &[]), &[]), Says::Red);
    }
}
