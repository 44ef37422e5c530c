//! Limits: what a run may use before it must stop.

use serde::{Deserialize, Serialize};

use crate::decision::Stop;
use crate::prelude::*;
use crate::profile::Budget;
use crate::time::{self, Time};

/// What a run has used, and may use.
#[derive(Debug, Clone, Copy)]
pub struct Context<'a> {
    pub iterations: u64,
    pub max_iterations: u64,
    pub used: Used,
    pub budget: &'a Budget,
    /// When the run ends, by the clock.
    pub until: Option<Time>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Used {
    /// Time the run was at work; the time it stood still does not count.
    pub time_ms: u64,
    pub tokens: u64,
    pub micro_usd: u64,
}

/// What ran out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Resource {
    Money,
    Tokens,
    Time,
}

/// Asked before every iteration, before anything is spent.
pub fn judge(context: Context<'_>, now: Time) -> Option<Stop> {
    let Context { iterations: used, max_iterations: max, used: spent, budget, until } = context;
    let over = |what, used: u64, max: u64| {
        (max > 0 && used >= max).then_some(Stop::Budget { what, used, max, why: None, until: None })
    };
    (max > 0 && used >= max)
        .then_some(Stop::MaxIterations { used, max })
        .or_else(|| over(Resource::Money, spent.micro_usd, budget.micro_usd))
        .or_else(|| over(Resource::Tokens, spent.tokens, budget.tokens))
        .or_else(|| over(Resource::Time, spent.time_ms, budget.time_ms))
        .or_else(|| until.filter(|until| now >= *until).map(|until| at_its_end(context, until, None)))
}

fn at_its_end(context: Context<'_>, until: Time, why: Option<String>) -> Stop {
    let (used, max) = (context.used.time_ms, context.budget.time_ms);
    Stop::Budget { what: Resource::Time, used, max, why, until: Some(until) }
}

/// What an agent may use that begins when so much is used; `None` for as much as it likes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Left {
    pub tokens: Option<u64>,
    pub micro_usd: Option<u64>,
}

impl Left {
    pub fn of(budget: &Budget, used: Used) -> Self {
        let left = |max: u64, used: u64| (max > 0).then(|| max.saturating_sub(used));
        Self { tokens: left(budget.tokens, used.tokens), micro_usd: left(budget.micro_usd, used.micro_usd) }
    }

    /// What such a use exceeds, if it does.
    pub fn exceeded(self, tokens: u64, micro_usd: Option<u64>) -> Option<Resource> {
        let over =
            |left: Option<u64>, used: Option<u64>| left.zip(used).is_some_and(|(left, used)| used >= left);
        let money = over(self.micro_usd, micro_usd).then_some(Resource::Money);
        money.or(over(self.tokens, Some(tokens)).then_some(Resource::Tokens))
    }
}

/// How long somebody may work who begins when so much time is used; `None` for as long as it likes.
pub fn time_left(budget: &Budget, used_ms: u64) -> Option<u64> {
    (budget.time_ms > 0).then(|| budget.time_ms.saturating_sub(used_ms))
}

/// A wait that would last until the time is over is not begun.
pub fn wait(context: Context<'_>, now: Time, until: Time) -> Option<Stop> {
    let Context { used, budget, until: end, .. } = context;
    let after = used.time_ms.saturating_add(until.since(now));
    let over = budget.time_ms > 0 && after >= budget.time_ms;
    let why = Some(format!("waiting for an agent until {until} would outlast the rest"));
    if over {
        let (used, max) = (used.time_ms, budget.time_ms);
        return Some(Stop::Budget { what: Resource::Time, used, max, why, until: None });
    }
    end.filter(|end| until >= *end).map(|end| at_its_end(context, end, why))
}

impl Resource {
    /// `$5.00 of $4.00`
    pub fn describe(self, used: u64, max: u64) -> String {
        match self {
            Self::Money => format!("{} of {}", crate::view::money(used), crate::view::money(max)),
            Self::Tokens => {
                format!("{} of {} tokens", crate::view::thousands(used), crate::view::thousands(max))
            }
            Self::Time => format!("{} of {}", time::duration(used), time::duration(max)),
        }
    }

    /// `not told by the agent, of $4.00`
    pub fn describe_untold(self, untold: &str, max: u64) -> String {
        let described = self.describe(0, max);
        let of = described.split_once(" of ").map_or("", |(_, of)| of);
        format!("{untold}, of {of}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNLIMITED: Budget = Budget { time_ms: 0, tokens: 0, micro_usd: 0 };
    const UNUSED: Context<'_> = Context {
        iterations: 1,
        max_iterations: 50,
        used: Used { time_ms: 0, tokens: 0, micro_usd: 0 },
        budget: &UNLIMITED,
        until: None,
    };

    fn iterations(iterations: u64, max_iterations: u64) -> Option<Stop> {
        judge(Context { iterations, max_iterations, ..UNUSED }, Time::default())
    }

    #[test]
    fn zero_means_no_limit() {
        assert_eq!(iterations(1_000_000, 0), None);
        assert_eq!(iterations(49, 50), None);
        assert_eq!(iterations(50, 50), Some(Stop::MaxIterations { used: 50, max: 50 }));
    }

    #[test]
    fn money_tokens_and_time_stop_when_they_are_used_up() {
        let budget = Budget { time_ms: 100, tokens: 200, micro_usd: 300 };
        let stop = |time_ms, tokens, micro_usd| {
            let used = Used { time_ms, tokens, micro_usd };
            match judge(Context { used, budget: &budget, ..UNUSED }, Time::default()) {
                Some(Stop::Budget { what, .. }) => Some(what),
                other => {
                    assert_eq!(other, None);
                    None
                }
            }
        };
        assert_eq!(stop(99, 199, 299), None);
        assert_eq!(stop(100, 0, 0), Some(Resource::Time));
        assert_eq!(stop(0, 200, 0), Some(Resource::Tokens));
        assert_eq!(stop(0, 0, 300), Some(Resource::Money));
    }

    #[test]
    fn a_wait_past_the_end_of_the_time_is_not_begun() {
        let budget = Budget { time_ms: 100, ..UNLIMITED };
        let used = Used { time_ms: 60, ..Used::default() };
        let context = Context { used, budget: &budget, ..UNUSED };
        let now = Time::from_millis(1000);
        assert_eq!(wait(context, now, now.plus(39)), None);
        let stop = wait(context, now, now.plus(40)).expect("not begun").to_string();
        assert!(stop.starts_with("60ms of 100ms used, and waiting for an agent until"), "{stop}");
        assert_eq!(wait(Context { budget: &UNLIMITED, ..context }, now, now.plus(u64::MAX)), None);
    }

    #[test]
    fn a_run_ends_at_its_hour_and_waits_for_nobody_past_it() {
        let at = Time::from_millis;
        let context = Context { until: Some(at(1000)), ..UNUSED };
        let word = |stop: Option<Stop>| stop.map(|stop| (stop.word(), stop.exit_code()));
        assert_eq!(word(judge(context, at(999))), None);
        assert_eq!(word(judge(context, at(1000))), Some(("until", 6)));
        assert_eq!(word(wait(context, at(0), at(999))), None);
        assert_eq!(word(wait(context, at(0), at(1000))), Some(("until", 6)));
    }

    #[test]
    fn an_agent_may_use_what_is_left_and_no_more() {
        let budget = Budget { tokens: 100, micro_usd: 50, ..UNLIMITED };
        let left = Left::of(&budget, Used { tokens: 40, micro_usd: 60, time_ms: 0 });
        assert_eq!(left, Left { tokens: Some(60), micro_usd: Some(0) });
        assert_eq!(left.exceeded(59, None), None, "nothing tells its cost");
        assert_eq!(left.exceeded(60, None), Some(Resource::Tokens));
        assert_eq!(left.exceeded(60, Some(1)), Some(Resource::Money));
        assert_eq!(Left::of(&UNLIMITED, Used::default()).exceeded(u64::MAX, Some(u64::MAX)), None);
    }
}
