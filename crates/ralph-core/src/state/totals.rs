//! What the agents of a run did and used, added up.

use serde::{Deserialize, Serialize};

use super::Iteration;
use crate::prices::Prices;
use crate::report::IterationReport;
use crate::transcript::Usage;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Totals {
    pub usage: Usage,
    /// `None` until an agent told its cost.
    pub cost_micro_usd: Option<u64>,
    pub agent_ms: u64,
    /// Iterations whose agent told no cost.
    pub without_cost: u64,
    /// Iterations that were concluded, counted or not.
    pub concluded: u64,
    /// Tasks that agents say they completed.
    pub tasks: u64,
    /// Files changed, counted again in each iteration.
    pub files: u64,
    pub commits: u64,
    /// The highest price so far of a million tokens, in micro-dollars.
    pub dearest: u64,
}

impl Totals {
    fn charge(&mut self, micro_usd: u64) {
        self.cost_micro_usd = Some(self.cost_micro_usd.unwrap_or(0).saturating_add(micro_usd));
    }

    /// Charges what an agent cost that has ended. Where it told none, its prices tell.
    pub(super) fn charge_agent(&mut self, report: &mut IterationReport, prices: Option<Prices>) {
        let (usage, tokens) = (report.usage, report.usage.total());
        let priced = prices.filter(|prices| !prices.assumed && tokens > 0);
        report.cost_micro_usd = report.cost_micro_usd.or(priced.map(|prices| prices.cost(usage)));
        if let Some(cost) = report.cost_micro_usd {
            self.charge(cost);
            let rate = u128::from(cost) * 1_000_000 / u128::from(tokens.max(1));
            self.dearest = self.dearest.max(u64::try_from(rate).unwrap_or(u64::MAX));
            return;
        }
        // One that was killed told its tokens and no price: the dearest one so far is charged, or what they cost at most.
        let dearest = u128::from(tokens) * u128::from(self.dearest) / 1_000_000;
        let most = prices.filter(|_| self.dearest == 0).map(|prices| prices.cost(usage));
        let cost = most.unwrap_or_else(|| u64::try_from(dearest).unwrap_or(u64::MAX));
        if cost > 0 {
            self.charge(cost);
        }
        self.without_cost = self.without_cost.saturating_add(1);
    }

    /// Whether no agent of the run has changed anything.
    pub fn is_unchanged(self) -> bool {
        self.files == 0 && self.commits == 0
    }

    /// With an iteration that was concluded.
    pub(super) fn with(self, iteration: &Iteration) -> Self {
        let (block, after) = (iteration.block(), iteration.after.as_ref());
        let count = |value: Option<u64>| value.unwrap_or(0);
        Self {
            concluded: self.concluded.saturating_add(1),
            tasks: self.tasks.saturating_add(count(block.and_then(|block| block.tasks))),
            files: self.files.saturating_add(count(after.map(|after| after.changed_total))),
            commits: self.commits.saturating_add(count(after.map(|after| after.commits))),
            ..self
        }
    }
}
