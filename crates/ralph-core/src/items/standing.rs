//! How checks stood when an item was begun: only what became better since speaks for the work on it.

use serde::{Deserialize, Serialize};

use crate::check::CheckResult;
use crate::evidence::Fixed;
use crate::prelude::*;

/// A run has few commands; what comes after these is held against nothing.
const MOST: usize = 50;

/// The best that checks had come to when the item that is worked on was begun, and by now. The best, and not the last: an item that
/// mends what another one broke has not brought anything that was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Standing {
    /// The item that is worked on, or was last.
    about: Option<String>,
    before: Vec<Stood>,
    best: Vec<Stood>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    fixed: Vec<Fixed>,
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

    fn or_better(&mut self, other: &Self) {
        self.passed |= other.passed;
        self.failing = self.failing.min(other.failing);
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

    /// With this item at work; `baseline`: how checks stood before the run.
    #[must_use]
    pub(crate) fn begun(mut self, item: &str, baseline: &[CheckResult]) -> Self {
        if self.about.as_deref() != Some(item) {
            self.note(baseline);
            self.before.clone_from(&self.best);
            self.about = Some(item.into());
        }
        self
    }

    /// With the checks that were run.
    #[must_use]
    pub(crate) fn with(mut self, checks: &[CheckResult]) -> Self {
        self.note(checks);
        self
    }

    fn note(&mut self, checks: &[CheckResult]) {
        for stood in checks.iter().map(Stood::of) {
            match self.best.iter().position(|known| known.command == stood.command) {
                Some(at) => self.best[at].or_better(&stood),
                None if self.best.len() < MOST => self.best.push(stood),
                None => {}
            }
        }
    }

    /// With the checks of a claim that was accepted: tests that failed before the run and pass now are not excused again.
    #[must_use]
    pub(crate) fn accepted(mut self, checks: &[CheckResult], baseline: &[CheckResult]) -> Self {
        for check in checks {
            let Some(before) = baseline.iter().find(|before| before.command == check.command) else {
                continue;
            };
            let passes = |name: &&String| check.passed() || !check.failing.contains(name);
            let tests: Vec<String> = before.failing.iter().filter(passes).cloned().collect();
            self.fixed.retain(|known| known.command != check.command);
            if !tests.is_empty() {
                self.fixed.push(Fixed { command: check.command.clone(), tests });
            }
        }
        self
    }

    pub(crate) fn fixed(&self) -> &[Fixed] {
        &self.fixed
    }

    /// The work on the item is put back: what its checks came to is gone with it.
    pub(crate) fn put_back(&mut self) {
        self.best.clone_from(&self.before);
    }

    /// What a check says for the work on the item.
    pub(crate) fn says(&self, check: &CheckResult) -> Says {
        says(check, self.before.iter().find(|before| before.command == check.command))
    }
}

/// Whether all these checks are as red as before the run, which is tolerated: they speak for nothing.
pub(crate) fn all_as_red(checks: &[CheckResult], baseline: &[CheckResult]) -> bool {
    let red = |check: &CheckResult| {
        let before = baseline.iter().find(|before| before.command == check.command).map(Stood::of);
        says(check, before.as_ref()) == Says::Red
    };
    !checks.is_empty() && checks.iter().all(red)
}

fn says(check: &CheckResult, before: Option<&Stood>) -> Says {
    let fewer = |before: &Stood| (check.failing.len() as u64) < before.failing;
    match (check.passed(), before) {
        (true, Some(before)) if before.passed => Says::Green,
        (true, _) => Says::Better,
        (false, Some(before)) if fewer(before) => Says::Better,
        (false, _) => Says::Red,
    }
}

#[cfg(test)]
mod tests {
    use core::slice::from_ref;

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
        let standing = Standing::default().begun("one", &baseline);
        assert_eq!(standing.says(&green), Says::Better);
        let standing = standing.with(from_ref(&green)).begun("two", &baseline);
        assert_eq!(standing.says(&green), Says::Green);
        // It broke what was green: to mend that is nothing that was asked for, whoever does it.
        let standing = standing.with(&[check(2, &["add"])]).begun("two", &baseline);
        assert_eq!(standing.says(&green), Says::Green);
        assert_eq!(standing.begun("three", &baseline).says(&green), Says::Green);
    }

    #[test]
    fn what_was_green_before_the_run_speaks_for_nobody_who_mends_it() {
        let (green, red) = (check(0, &[]), check(1, &[]));
        let broken = Standing::default().begun("one", from_ref(&green)).with(&[red]);
        assert_eq!(broken.begun("two", from_ref(&green)).says(&green), Says::Green);
    }

    #[test]
    fn what_is_put_back_has_turned_nothing_green() {
        let (green, red) = (check(0, &[]), check(1, &[]));
        let mut standing = Standing::default().begun("one", from_ref(&red)).with(from_ref(&green));
        assert_eq!(standing.clone().begun("two", from_ref(&red)).says(&green), Says::Green);
        standing.put_back();
        assert_eq!(standing.begun("two", from_ref(&red)).says(&green), Says::Better);
    }

    #[test]
    fn a_red_check_speaks_only_where_fewer_tests_fail_than_when_the_item_was_begun() {
        let baseline = [check(2, &["add", "mul"])];
        let (both, one) = (check(2, &["add", "mul"]), check(2, &["mul"]));
        let standing = Standing::default().begun("one", &baseline);
        assert_eq!(standing.says(&both), Says::Red);
        assert_eq!(standing.says(&one), Says::Better);
        let standing = standing.with(from_ref(&one)).begun("two", &baseline);
        assert_eq!(standing.says(&one), Says::Red);
        assert!(all_as_red(&[both], &baseline) && !all_as_red(&[one], &baseline));
        assert!(!all_as_red(&[], &baseline));
    }

    #[test]
    fn tests_that_pass_in_an_accepted_claim_are_fixed() {
        let baseline = [check(2, &["add", "mul"])];
        let standing = Standing::default().accepted(&baseline, &baseline);
        assert!(standing.fixed().is_empty());
        let standing = standing.accepted(&[check(2, &["mul"])], &baseline);
        assert_eq!(standing.fixed()[0].tests, ["add"]);
        assert_eq!(standing.accepted(&[check(0, &[])], &baseline).fixed()[0].tests, ["add", "mul"]);
    }

    #[test]
    fn what_nobody_ran_before_speaks_when_it_is_green() {
        assert_eq!(Standing::default().begun("one", &[]).says(&check(0, &[])), Says::Better);
        assert_eq!(Standing::default().begun("one", &[]).says(&check(1, &[])), Says::Red);
    }
}
