//! One iteration: what is known of it, and what follows from that.

use serde::{Deserialize, Serialize};

use crate::check::CheckResult;
use crate::decision::{Begin, Conclusion, Kind, Outcome, TreeMark};
use crate::effect::Ending;
use crate::event::{AgentEnded, End, Measured, Noted};
use crate::evidence::{Condition, Held, were_green};
use crate::items::{Attempt, Settled, Work};
use crate::ledger::is_by_word;
use crate::prelude::*;
use crate::report::block::Block;
use crate::report::dialects::{Dialect, Vote};
use crate::saturation::is_test_path;
use crate::time::Time;
use crate::transcript::Format;

/// One iteration as far as it has come.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Iteration {
    pub number: u64,
    pub nth: u64,
    pub kind: Kind,
    /// Who works, and how it is read: a run that is continued may go on with another agent.
    pub agent: String,
    pub format: Format,
    pub began_at: Time,
    pub before: Option<TreeMark>,
    /// When the agent was asked to start.
    pub started_at: Option<Time>,
    pub pid: Option<u32>,
    pub ending: Option<Ending>,
    pub ended: Option<AgentEnded>,
    pub after: Option<Measured>,
    /// When the running check was started.
    pub check_started_at: Option<Time>,
    pub checks: Vec<CheckResult>,
    pub conclusion: Option<Conclusion>,
    pub concluded_at: Option<Time>,
    /// How many of the user's notes its prompt held.
    #[serde(default)]
    pub notes: usize,
    /// The run's time when the agent was asked to start.
    #[serde(default)]
    pub active_before_ms: u64,
    /// The item it works on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<Box<Work>>,
    /// What came of settling it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settled: Option<Settled>,
    /// What was done to ralph's own files while it went on, in words.
    #[serde(default)]
    pub own_files: Vec<String>,
    /// What was kept beside the record before its agent.
    #[serde(default, skip_serializing_if = "Noted::is_nothing")]
    pub noted: Noted,
}

impl Iteration {
    pub(crate) fn new(begin: &Begin, at: Time) -> Self {
        Self {
            number: begin.number,
            nth: begin.nth,
            kind: begin.kind,
            agent: begin.agent.clone(),
            format: begin.format,
            began_at: at,
            before: begin.before.clone(),
            started_at: None,
            pid: None,
            ending: None,
            ended: None,
            after: None,
            check_started_at: None,
            checks: Vec::new(),
            conclusion: None,
            concluded_at: None,
            notes: 0,
            active_before_ms: 0,
            item: begin.item.clone(),
            settled: None,
            own_files: Vec::new(),
            noted: Noted::default(),
        }
    }

    /// The phase that a marker says is done, with the words that say so.
    pub(crate) fn phase_saying(&self) -> Option<(u32, &str)> {
        let sayings = &self.ended.as_ref()?.report.sayings;
        sayings.iter().find_map(|saying| match saying.vote {
            Vote::Done { phase } => Some((phase?, saying.quote.as_str())),
            _ => None,
        })
    }

    /// Whether ralph did not see its agent end: whatever was done since may be anybody's doing.
    pub fn is_cut(&self) -> bool {
        self.ended.as_ref().is_some_and(|ended| matches!(ended.end, End::Cut))
    }

    pub fn progress(&self) -> bool {
        self.after.as_ref().is_some_and(Measured::progress)
    }

    /// Whether its item passed, and nothing but the agent's word says that it is done.
    pub fn is_claimed(&self) -> bool {
        let passed = self.conclusion.as_ref().is_some_and(|told| told.attempt == Some(Attempt::Passed));
        passed && is_by_word(self.checks.is_empty(), self.is_untouched(), self.is_tolerated())
    }

    /// Whether its item passed though all its checks are as red as when it was begun.
    pub fn is_tolerated(&self) -> bool {
        self.conclusion.as_ref().is_some_and(|told| told.tolerated)
    }

    /// Whether its item passed by words, and no file was changed for it.
    pub fn is_untouched(&self) -> bool {
        self.conclusion.as_ref().is_some_and(|told| told.untouched)
    }

    /// Whether its item passed by checks that can tell its work, and no file was changed for it.
    pub fn is_without_change(&self) -> bool {
        self.conclusion.as_ref().is_some_and(|told| told.without_change)
    }

    /// How a check of its ended, and whether that was tolerated.
    pub fn describe(&self, check: &CheckResult) -> String {
        let conditions = self.conclusion.iter().flat_map(|told| &told.evidence.conditions);
        let of_it =
            |condition: &&Condition| condition.name.strip_prefix("check ") == Some(check.name.as_str());
        let held = |condition: &&Condition| condition.held == Held::Held && !check.passed();
        let tolerated = conditions.filter(of_it).find(held);
        tolerated.map_or_else(|| check.describe(), |condition| condition.fact.clone())
    }

    /// Whether all its checks were green before the run, and none is its item's own: only a test that was written could have failed.
    pub(crate) fn is_green_anyway(&self, before: &[CheckResult]) -> bool {
        let own = self.item.as_ref().is_some_and(|item| item.has_own_checks());
        !own && were_green(&self.checks, before)
    }

    pub(crate) fn changed_tests(&self) -> bool {
        let changed = self.after.as_ref().map_or(&[][..], |after| &after.changed);
        changed.iter().any(|changed| is_test_path(&changed.path))
    }

    /// The same, as it was decided: older records do not say.
    pub fn passed_anyway(&self) -> bool {
        self.conclusion.as_ref().is_some_and(|told| told.unmeasured == Some(true))
    }

    /// Whether its item passed by checks that could not have failed for want of the work.
    pub fn is_unmeasured(&self, before: &[CheckResult]) -> bool {
        let told = self.conclusion.as_ref().and_then(|told| told.unmeasured);
        told.unwrap_or_else(|| self.is_green_anyway(before) && !self.changed_tests())
    }

    /// The agent's status block, if it gave one.
    pub fn block(&self) -> Option<&Block> {
        self.ended.as_ref()?.report.block.as_ref()
    }

    /// The agent's word in `.ralph/status`, if it wrote one.
    pub fn signal(&self) -> Option<&str> {
        let mut sayings = self.ended.as_ref()?.report.sayings.iter();
        sayings.find(|saying| saying.dialect == Dialect::StatusFile).map(|saying| saying.quote.as_str())
    }

    /// Whether facts alone were asked, and the agent did not say done.
    pub fn is_unasked(&self) -> bool {
        self.conclusion.as_ref().is_some_and(|told| told.unasked)
    }

    pub fn outcome(&self) -> Option<Outcome> {
        self.conclusion.as_ref().map(|conclusion| conclusion.outcome)
    }
}
