//! What a run does right now, for a line on the screen that is drawn again and again.

use crate::decision::Phase;
use crate::prelude::*;
use crate::redact;
use crate::state::{State, Totals};
use crate::text::one_line;
use crate::time::{Time, counted};
use crate::transcript::Item;

use super::money;

/// Shorter silences are nothing to speak of: a model thinks.
const QUIET_MS: u64 = 10_000;

/// What takes time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Doing {
    Agent { since: Time },
    Check { command: String, since: Time },
    Wait { until: Time, why: String },
}

impl Doing {
    /// `None` where the run stands still, or does what is over in a moment.
    pub fn of(state: &State) -> Option<Self> {
        match &state.phase {
            // A run that was taken up again reads what a cut-off agent left; nobody works.
            Phase::Working if state.resumed => None,
            Phase::Working => Some(Self::Agent { since: state.current.as_ref()?.started_at? }),
            Phase::Checking => {
                let plan = &state.run.as_ref()?.plan;
                let (check, since) = match &state.current {
                    Some(current) => {
                        let nth = state.checks_for(plan, current.item.as_deref()).nth(current.checks.len());
                        (nth, current.check_started_at)
                    }
                    None => {
                        let known = &state.baseline.results;
                        let open = |command: &str| known.iter().all(|result| result.command != command);
                        let boot = plan.boot.as_ref().filter(|_| state.baseline.boot.is_none());
                        let baseline = || plan.checks.iter().find(|check| open(&check.command));
                        let first = boot.or_else(|| match &state.last {
                            Some(_) => state.unknown_proof(plan),
                            None => baseline(),
                        });
                        (first, state.baseline.check_started_at)
                    }
                };
                Some(Self::Check { command: redact::command(&check?.command, 200), since: since? })
            }
            Phase::Waiting { until, why } => Some(Self::Wait { until: *until, why: one_line(why, 300) }),
            Phase::Fresh
            | Phase::Measuring { .. }
            | Phase::Selecting
            | Phase::Settling { .. }
            | Phase::Halted { .. } => None,
        }
    }

    /// How long until what is shown of it changes by itself: to the next full second.
    pub fn next_change_ms(&self, now: Time) -> u64 {
        match self {
            Self::Agent { since } | Self::Check { since, .. } => 1000 - now.since(*since) % 1000,
            Self::Wait { until, .. } => until.since(now) % 1000 + 1,
        }
    }
}

/// What was heard of an agent or a check since it started.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Heard {
    /// The tool it uses, or what it said last.
    pub what: Option<String>,
    pub tokens: u64,
    pub cost_micro_usd: Option<u64>,
    /// When, last.
    pub at: Option<Time>,
    /// How often.
    pub times: u64,
    reporting: bool,
}

impl Heard {
    pub fn item(&mut self, item: &Item) {
        match item {
            Item::Tool { name, target } => {
                let what = format!("{name} {}", target.as_deref().unwrap_or(""));
                self.what = Some(one_line(what.trim_end(), 200));
            }
            Item::Words(words) => {
                // A report is not what it does.
                self.reporting |= words.contains("RALPH_STATUS");
                let line = crate::text::last_line(words, 200).filter(|_| !self.reporting);
                self.what = line.or(self.what.take());
            }
            _ => {}
        }
    }

    pub fn something(&mut self, at: Time) {
        self.at = Some(at);
        self.times = self.times.wrapping_add(1);
    }
}

/// The two ends of the line about an agent or a check: what may be cut, and what is always shown.
pub fn parts(doing: &Doing, heard: &Heard, totals: &Totals, now: Time) -> (String, String) {
    let (what, since) = match doing {
        Doing::Agent { since } => (heard.what.clone().unwrap_or_else(|| "started".into()), *since),
        Doing::Check { command, since } => (format!("checking: {command}"), *since),
        Doing::Wait { .. } => return Default::default(),
    };
    let mut rest = counted(now.since(since));
    if heard.tokens > 0 {
        rest.push_str(&format!(" · {} tokens", short(heard.tokens)));
    }
    if let Some(cost) = cost(heard, totals) {
        rest.push_str(&format!(" · {cost}"));
    }
    let silent = now.since(heard.at.unwrap_or(since).max(since));
    if silent >= QUIET_MS {
        rest.push_str(&format!(" · quiet for {}", counted(silent)));
    }
    (what, rest)
}

/// What the agent told; else what its tokens would cost at the dearest price so far, as a killed one is charged.
fn cost(heard: &Heard, totals: &Totals) -> Option<String> {
    let cents = |micro_usd: u64| match micro_usd {
        10_000.. => format!("${}.{:02}", micro_usd / 1_000_000, micro_usd % 1_000_000 / 10_000),
        _ => money(micro_usd),
    };
    let guessed = u128::from(heard.tokens) * u128::from(totals.dearest) / 1_000_000;
    let guessed = u64::try_from(guessed).ok().filter(|cost| *cost > 0);
    let told = heard.cost_micro_usd.map(cents);
    told.or_else(|| guessed.map(|cost| format!("~{}", cents(cost))))
}

/// `950`, `4.8k`, `48k`, `1.2M`
pub fn short(n: u64) -> String {
    match n {
        0..1_000 => n.to_string(),
        1_000..10_000 => format!("{}.{}k", n / 1_000, n % 1_000 / 100),
        10_000..1_000_000 => format!("{}k", n / 1_000),
        _ => format!("{}.{}M", n / 1_000_000, n % 1_000_000 / 100_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Time {
        Time::from_millis(second * 1000)
    }

    #[test]
    fn an_agent_s_line_tells_tool_time_tokens_and_money() {
        let mut heard = Heard { tokens: 48_321, cost_micro_usd: Some(310_000), ..Heard::default() };
        heard.item(&Item::Tool { name: "Edit".into(), target: Some("src/auth.rs".into()) });
        heard.something(at(130));
        let (what, rest) = parts(&Doing::Agent { since: at(0) }, &heard, &Totals::default(), at(133));
        assert_eq!((what.as_str(), rest.as_str()), ("Edit src/auth.rs", "2:13 · 48k tokens · $0.31"));
        let (_, rest) = parts(&Doing::Agent { since: at(0) }, &heard, &Totals::default(), at(230));
        assert!(rest.ends_with("$0.31 · quiet for 1:40"), "{rest}");
    }

    #[test]
    fn money_that_nobody_told_is_guessed_and_says_so_or_is_not_shown() {
        let heard = Heard { tokens: 2_000_000, ..Heard::default() };
        assert_eq!(cost(&heard, &Totals::default()), None);
        let totals = Totals { dearest: 3_000_000, ..Totals::default() };
        assert_eq!(cost(&heard, &totals).as_deref(), Some("~$6.00"));
    }

    #[test]
    fn words_are_shown_where_there_are_no_tools_but_not_the_report() {
        let mut heard = Heard::default();
        heard.item(&Item::Words("Reading.\nLooking at the tests\n".into()));
        assert_eq!(heard.what.as_deref(), Some("Looking at the tests"));
        for line in ["---RALPH_STATUS---\n", "STATUS: COMPLETE\n"] {
            heard.item(&Item::Words(line.into()));
        }
        assert_eq!(heard.what.as_deref(), Some("Looking at the tests"));
    }

    #[test]
    fn big_numbers_are_short() {
        let shorts = [950, 4_870, 48_321, 1_250_000].map(short);
        assert_eq!(shorts, ["950", "4.8k", "48k", "1.2M"]);
    }

    #[test]
    fn the_next_change_is_at_a_full_second() {
        let now = Time::from_millis(12_300);
        assert_eq!(Doing::Agent { since: at(10) }.next_change_ms(now), 700);
        let wait = Doing::Wait { until: at(20), why: String::new() };
        assert_eq!(wait.next_change_ms(now), 701);
    }
}
