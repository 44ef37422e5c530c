//! What people and programs see of a run. Views are made from the state, can be deleted, and never feed a
//! decision.

pub mod counted;
pub mod doing;
mod ended;
pub mod event;
pub mod evidence;
pub mod files;
pub mod flagged;
pub mod json;
pub mod notice;
pub mod summary;

pub use ended::{
    GREEN_ALREADY, WITHOUT_CHANGE, earlier, ended, is_only_claimed, missing, no_item_proved, none_proved,
    not_proved, nothing_to_commit, printed_last, weak_points,
};

use crate::decision::{Outcome, Phase};
use crate::event::{AgentInfo, End, StopBy};
use crate::limit::LimitKind;
use crate::limits::Resource;
use crate::prelude::*;
use crate::profile::Budget;
use crate::state::{Iteration, State, Totals};
use crate::time;

/// The word of an iteration's result, as the boxes and history show it.
pub fn result_word(iteration: &Iteration) -> &'static str {
    outcome_word(iteration.outcome(), iteration.signal(), iteration.is_unasked())
}

/// The same for people: that nobody is logged in or has paid is no limit to wait for.
pub fn result_for_people(iteration: &Iteration) -> &'static str {
    let limit = iteration.ended.as_ref().and_then(|ended| ended.report.limit.as_ref());
    match (iteration.outcome(), limit.map(|limit| limit.kind)) {
        (Some(Outcome::Limited), Some(LimitKind::Auth)) => "NO LOGIN",
        (Some(Outcome::Limited), Some(LimitKind::Credit)) => "NO CREDIT",
        _ => result_word(iteration),
    }
}

/// Who signals by file is shown its own word.
fn outcome_word(outcome: Option<Outcome>, signal: Option<&str>, unasked: bool) -> &'static str {
    match outcome {
        Some(Outcome::Accepted) if unasked => "PASSED",
        Some(Outcome::Refused) if unasked => "NOT PASSED",
        Some(Outcome::Accepted | Outcome::Refused) => "DONE",
        Some(Outcome::More) if signal == Some("ROTATE") => "ROTATE",
        Some(Outcome::More | Outcome::Silent) => "CONTINUE",
        Some(Outcome::Blocked) if signal == Some("STUCK") => "STUCK",
        Some(Outcome::Blocked) => "BLOCKED",
        Some(Outcome::Failed) => "FAILED",
        Some(Outcome::Limited) => "LIMITED",
        Some(Outcome::Interrupted) => "INTERRUPTED",
        None => "UNFINISHED",
    }
}

/// The agent that works now, or worked last, or would be first.
pub fn agent_of(state: &State) -> Option<&AgentInfo> {
    let plan = &state.run.as_ref()?.plan;
    let last = state.current.as_ref().or(state.last.as_deref());
    last.and_then(|iteration| plan.agent(&iteration.agent)).or(plan.agents.first())
}

/// What the run is doing, or why it stopped, in one stable word.
pub fn status_word(state: &State, running: bool) -> &'static str {
    match &state.phase {
        Phase::Halted { stop } => stop.word(),
        _ if !running => "cut_off",
        Phase::Fresh | Phase::Measuring { .. } => "measuring",
        Phase::Working => "working",
        Phase::Selecting => "selecting",
        Phase::Checking => "checking",
        Phase::Settling { .. } => "settling",
        Phase::Waiting { .. } => "waiting",
    }
}

/// What its provider said when it was a limit that ended it.
pub fn limit_words(iteration: &Iteration) -> Option<String> {
    let limited = iteration.outcome() == Some(Outcome::Limited);
    let limit = iteration.ended.as_ref().filter(|_| limited)?.report.limit.as_ref()?;
    Some(crate::text::one_line(&limit.text, 200)).filter(|text| !text.is_empty())
}

/// What went wrong with its agent, if anything did: who ended it is told too, as far as the state of that moment knows it.
pub fn failure(state: &State, iteration: &Iteration) -> Option<String> {
    let ended = iteration.ended.as_ref()?;
    Some(ended_by(state, &ended.end).unwrap_or(ended.failure()?))
}

/// How it ended, where that was asked for by a signal that is not Ctrl-C.
pub(crate) fn ended_by(state: &State, end: &End) -> Option<String> {
    let asked = *end == End::Stopped && state.stop_asked == Some(StopBy::Terminate);
    asked.then(|| "ended: ralph was asked to end (SIGTERM or SIGHUP)".into())
}

/// Where nobody has the files any more with which they could be compared.
const UNTOLD: &str = "which files changed cannot be told";

/// `no changes`, `3 files changed`, `2 files changed, 1 commit`
pub fn files(iteration: &Iteration) -> String {
    let after = iteration.after.as_ref();
    if after.is_some_and(|after| after.untold) {
        return UNTOLD.into();
    }
    changes(after.map(|after| after.changed_total), after.map_or(0, |after| after.commits))
}

fn changes(files: Option<u64>, commits: u64) -> String {
    let mut words = match files {
        None => return "not measured".into(),
        Some(0) => "no changes".to_owned(),
        Some(n) => format!("{} changed", crate::text::count(n, "file")),
    };
    if commits > 0 {
        words.push_str(&format!(", {}", crate::text::count(commits, "commit")));
    }
    words
}

/// `$0.0525`, more digits for small sums; nothing when no agent told.
pub fn money(micro_usd: u64) -> String {
    if micro_usd >= 1_000_000 {
        format!("${}.{:02}", micro_usd / 1_000_000, micro_usd % 1_000_000 / 10_000)
    } else {
        format!("${}.{:04}", micro_usd / 1_000_000, micro_usd % 1_000_000 / 100)
    }
}

/// `$2.00`, `100,000 tokens`, `8h in all`: what a run may use, where that is limited.
pub fn budget(budget: &Budget) -> impl Iterator<Item = String> {
    let money = (budget.micro_usd > 0).then(|| money(budget.micro_usd));
    let tokens = (budget.tokens > 0).then(|| format!("{} tokens", thousands(budget.tokens)));
    let time = (budget.time_ms > 0).then(|| format!("{} in all", time::span(budget.time_ms)));
    [money, tokens, time].into_iter().flatten()
}

/// `12,345 tokens, $0.0525`; cost is named as unknown rather than as nothing.
pub fn cost(totals: &Totals) -> String {
    let tokens = format!("{} tokens", thousands(totals.usage.total()));
    match (totals.cost_micro_usd, totals.usage.total()) {
        (Some(cost), _) if totals.without_cost > 0 => format!("{tokens}, at least {}", money(cost)),
        (Some(cost), _) => format!("{tokens}, {}", money(cost)),
        (None, 0) => "not told by the agent".into(),
        (None, _) => tokens,
    }
}

/// Why nobody knows how much of it is used, if so.
pub fn untold(state: &State, what: Resource) -> Option<&'static str> {
    let is_told = match what {
        Resource::Money => state.totals.cost_micro_usd.is_some(),
        Resource::Tokens => state.totals.usage.total() > 0,
        Resource::Time => true,
    };
    let waits = state.totals.concluded == 0 && state.stop().is_none();
    (!is_told).then_some(if waits { "not told yet" } else { "not told by the agent" })
}

/// What the run has cost so far: agents tell it when they end, so before the first one has nothing is known yet.
pub fn spent(state: &State) -> String {
    let waits = state.totals.concluded == 0 && state.stop().is_none();
    match (state.totals.cost_micro_usd, state.totals.usage.total()) {
        (None, 0) if waits => "not told yet".into(),
        _ => cost(&state.totals),
    }
}

pub fn thousands(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `3/50`, or `3` without a limit.
pub fn nth_of(state: &State, nth: u64) -> String {
    match state.run.as_ref().map_or(0, |run| run.plan.most_iterations()) {
        0 => nth.to_string(),
        max => format!("{nth}/{max}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_naturally() {
        assert_eq!(thousands(0), "0");
        assert_eq!(thousands(999), "999");
        assert_eq!(thousands(1_234_567), "1,234,567");
        assert_eq!(money(5_250), "$0.0052");
        assert_eq!(money(12_345_678), "$12.34");
    }

    #[test]
    fn what_no_agent_could_tell_yet_is_not_held_against_it() {
        let mut state = State::default();
        assert_eq!(spent(&state), "not told yet");
        state.totals.usage.input = 1200;
        assert_eq!(spent(&state), "1,200 tokens");
        state.totals = Totals { concluded: 1, ..Totals::default() };
        assert_eq!(spent(&state), "not told by the agent");
    }

    #[test]
    fn an_unknown_cost_is_not_shown_as_zero() {
        let mut totals = Totals::default();
        assert_eq!(cost(&totals), "not told by the agent");
        totals.usage.input = 1200;
        assert_eq!(cost(&totals), "1,200 tokens");
        totals.cost_micro_usd = Some(10_000);
        assert_eq!(cost(&totals), "1,200 tokens, $0.0100");
        totals.without_cost = 1;
        assert_eq!(cost(&totals), "1,200 tokens, at least $0.0100");
    }
}
