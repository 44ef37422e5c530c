//! What running the recorded checks again amounts to.

use super::{Fault, Ran, Record};
use crate::check::{CheckResult, NOT_FOUND, NOT_STARTED};
use crate::event::End;
use crate::prelude::*;
use crate::text::count;

/// In the order in which one outweighs the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// The attempt did not pass: there is nothing to hold.
    NotProved,
    Holds,
    CouldNotRun,
    Fails,
}

impl Verdict {
    pub fn word(self) -> &'static str {
        match self {
            Self::NotProved => "not_proved",
            Self::Holds => "holds",
            Self::CouldNotRun => "could_not_run",
            Self::Fails => "fails",
        }
    }
}

/// One check, then and now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    pub recorded: Ran,
    pub now: Option<CheckResult>,
    pub verdict: Verdict,
    pub why: String,
}

/// One attempt, verified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verified {
    pub record: Record,
    pub commit: Option<String>,
    pub verdict: Verdict,
    pub why: String,
    /// Worth knowing, and decides nothing.
    pub remarks: Vec<String>,
    pub checks: Vec<Checked>,
}

impl Verified {
    /// The verdict of its checks.
    #[must_use]
    pub fn judged(mut self) -> Self {
        let of = |verdict| self.checks.iter().filter(move |check| check.verdict == verdict);
        let worst = self.checks.iter().map(|check| check.verdict).max();
        (self.verdict, self.why) = match worst {
            None => (Verdict::CouldNotRun, "no check proved it, so there is none to run again".into()),
            Some(Verdict::Holds) => {
                (Verdict::Holds, format!("{} as recorded", count(self.checks.len() as u64, "check")))
            }
            Some(worst) => {
                let told = of(worst).map(|check| check.why.as_str()).collect::<Vec<_>>();
                (worst, told.join("; "))
            }
        };
        self
    }

    /// Whether it passed by words alone, so that nothing can be run again.
    pub fn is_claimed_alone(&self) -> bool {
        self.record.passed() && self.record.checks.is_empty() && self.verdict == Verdict::CouldNotRun
    }
}

/// A check that was recorded, and its run of now.
pub fn of_check(recorded: &Ran, now: &CheckResult) -> (Verdict, String) {
    let described = now.describe();
    let code = match &now.end {
        End::Exited { code } => *code,
        End::Signaled { .. } => return (Verdict::Fails, described),
        _ => return (Verdict::CouldNotRun, described),
    };
    if code == 0 {
        return (Verdict::Holds, described);
    }
    if matches!(code, NOT_FOUND | NOT_STARTED) && recorded.exit != Some(code) {
        let why = format!("{described}: a tool that it needs is not here");
        return (Verdict::CouldNotRun, why);
    }
    // Red then as well, and tolerated: by the same tests and no others.
    let known = !now.failing.is_empty() && now.failing.iter().all(|name| recorded.failing.contains(name));
    if recorded.exit == Some(code) && known {
        return (Verdict::Holds, format!("{described}, as recorded"));
    }
    (Verdict::Fails, format!("{described}, recorded was {}", recorded.end))
}

/// Of a whole ledger. One without a proof proves nothing.
pub fn overall(faults: &[Fault], verified: &[Verified]) -> Verdict {
    if !faults.is_empty() {
        return Verdict::Fails;
    }
    match verified.iter().map(|verified| verified.verdict).max() {
        None | Some(Verdict::NotProved) => Verdict::CouldNotRun,
        Some(worst) => worst,
    }
}
