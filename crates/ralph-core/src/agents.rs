//! The agents of a run: who is next, who has to wait, and who is not started again.

use serde::{Deserialize, Serialize};

use crate::decision::Kind;
use crate::limit::LimitKind;
use crate::prelude::*;
use crate::profile::{Order, Policy};
use crate::text;
use crate::time::Time;

/// What this rule remembers.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Agents {
    /// In the order of the plan.
    pub members: Vec<Member>,
    /// Who worked last.
    pub last: Option<usize>,
    /// The state of the dice, for a random order.
    pub dice: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Member {
    pub name: String,
    /// In a row.
    pub failures: u32,
    /// Limits of its provider in a row.
    pub limits: u32,
    /// Why it is not started now.
    pub out: Option<Out>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Out {
    /// `None`: for the rest of the run.
    pub until: Option<Time>,
    pub why: String,
    /// The limit that it met, if it was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<LimitKind>,
}

/// What an agent of a pool is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    #[default]
    Any,
    Work,
    Review,
}

impl Role {
    fn fits(self, kind: Kind) -> bool {
        match self {
            Self::Any => true,
            Self::Work => kind == Kind::Work,
            Self::Review => kind == Kind::Review,
        }
    }
}

/// How an agent ended, as far as it matters here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended<'a> {
    Fine,
    Failed {
        why: &'a str,
        /// Work that is there is no failure in a row, but whoever breaks down rests before the next start.
        progress: bool,
    },
    Limited {
        kind: LimitKind,
        until: Option<Time>,
        why: &'a str,
        /// It had made progress before.
        progress: bool,
    },
}

/// Who is next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    Agent(usize),
    /// Nobody yet, but somebody at that time.
    Wait {
        until: Time,
        why: String,
    },
    /// Nobody any more.
    Nobody {
        failures: u32,
        why: String,
    },
}

impl Agents {
    /// For a run's agents by name. Who is out for good gets another chance: somebody looked after it since.
    #[must_use]
    pub fn for_run(&self, names: &[&str], seed: u64) -> Self {
        let member = |name: &&str| {
            let known = self.members.iter().find(|member| member.name == **name).cloned().unwrap_or_default();
            match known.out {
                Some(Out { until: Some(_), .. }) => known,
                _ => Member { name: (*name).into(), ..Member::default() },
            }
        };
        let dice = if self.members.is_empty() { seed } else { self.dice };
        let worked = self.last.and_then(|last| self.members.get(last));
        let last = worked.and_then(|worked| names.iter().position(|name| *name == worked.name));
        Self { members: names.iter().map(member).collect(), last, dice }
    }

    #[must_use]
    pub fn step(&self, policy: &Policy, now: Time, agent: usize, ended: Ended<'_>) -> Self {
        let mut next = self.clone();
        next.last = Some(agent);
        let Some(member) = next.members.get_mut(agent) else { return next };
        if let Ended::Limited { progress: true, .. } = ended {
            member.failures = 0;
        }
        match ended {
            Ended::Fine => *member = Member { name: core::mem::take(&mut member.name), ..Member::default() },
            Ended::Failed { why, progress } => {
                member.failures = if progress { 0 } else { member.failures.saturating_add(1) };
                member.limits = if progress { 0 } else { member.limits };
                let rest = doubled(policy.backoff_ms, member.failures).min(policy.max_backoff_ms);
                let until = (member.failures < policy.max_failures).then(|| now.plus(rest));
                member.out = Some(Out { until, why: text::one_line(why, 300), limit: None });
            }
            Ended::Limited { kind: kind @ (LimitKind::Auth | LimitKind::Credit), why, .. } => {
                member.out = Some(Out { until: None, why: text::one_line(why, 300), limit: Some(kind) });
            }
            Ended::Limited { kind, until, why, .. } => {
                member.limits = member.limits.saturating_add(1);
                let rest = doubled(policy.limit_backoff_ms, member.limits)
                    .min(policy.limit_backoff_ms.saturating_mul(30));
                let until = until.filter(|until| *until > now).unwrap_or(now.plus(rest));
                let until = (member.limits < policy.max_limits).then_some(until);
                member.out = Some(Out { until, why: text::one_line(why, 300), limit: Some(kind) });
            }
        }
        next
    }

    /// Who is next, and the pool after that choice. Where nobody of the right role is left, another one does it.
    #[must_use]
    pub fn choose(&self, policy: &Policy, now: Time, kind: Kind, roles: &[Role]) -> (Self, Next) {
        let able = |agent: &usize| {
            self.members[*agent].out.as_ref().is_none_or(|out| out.until.is_some_and(|until| now >= until))
        };
        let fits = |agent: &usize| roles.get(*agent).is_none_or(|role| role.fits(kind));
        let all = || 0..self.members.len();
        let mut candidates: Vec<usize> = all().filter(fits).filter(able).collect();
        let mut awaited: Vec<usize> = vec![];
        if candidates.is_empty() {
            let soon = |until: Time| until.since(now) <= policy.max_wait_ms;
            let waits = |agent: &usize| {
                self.members[*agent].out.as_ref().is_some_and(|out| out.until.is_some_and(soon))
            };
            awaited = all().filter(fits).filter(waits).collect();
        }
        if candidates.is_empty() && awaited.is_empty() {
            candidates = all().filter(able).collect();
            awaited = all().collect();
        }
        let mut next = self.clone();
        if candidates.is_empty() {
            return (next, self.nobody(policy, now, &awaited));
        }
        let chosen = match policy.order {
            Order::Listed => candidates[0],
            Order::RoundRobin => {
                let last = self.last.map_or(-1, |last| last as i64);
                candidates.iter().copied().find(|agent| *agent as i64 > last).unwrap_or(candidates[0])
            }
            Order::Random => {
                next.dice = thrown(self.dice);
                candidates[(next.dice % candidates.len() as u64) as usize]
            }
        };
        (next, Next::Agent(chosen))
    }

    /// Nobody is able now. Those who are not awaited may be, so their times do not count.
    fn nobody(&self, policy: &Policy, now: Time, awaited: &[usize]) -> Next {
        let waiting = awaited.iter().filter_map(|agent| {
            let member = self.members.get(*agent)?;
            let out = member.out.as_ref()?;
            Some((out.until?, member, out))
        });
        // Only who is out for its failures is told by their number.
        let failed = |member: &&Member| member.failures >= policy.max_failures;
        let failures = self.members.iter().filter(failed).map(|member| member.failures).max().unwrap_or(0);
        match waiting.min_by_key(|(until, ..)| *until) {
            Some((until, member, out)) if until.since(now) <= policy.max_wait_ms => {
                // Failures before a limit are not why it is waited for.
                let why = match if out.limit.is_some() { 0 } else { member.failures } {
                    0 => format!("{}: {}", member.name, out.why),
                    n => format!("{}: failure {n} in a row: {}", member.name, out.why),
                };
                Next::Wait { until, why }
            }
            Some((until, member, out)) => {
                Next::Nobody { failures, why: format!("{} is out until {until}: {}", member.name, out.why) }
            }
            None => {
                let whys: Vec<String> = self
                    .members
                    .iter()
                    .filter_map(|member| Some((member, member.out.as_ref()?)))
                    .map(|(member, out)| match self.members.len() {
                        1 => out.why.clone(),
                        _ => format!("{}: {}", member.name, out.why),
                    })
                    .collect();
                Next::Nobody { failures, why: whys.join("; ") }
            }
        }
    }
}

fn doubled(first: u64, times: u32) -> u64 {
    first.saturating_mul(1u64 << times.saturating_sub(1).min(40))
}

/// One throw of the dice: a 64-bit mix of a counter, the same for the same seed everywhere.
pub(crate) fn thrown(dice: u64) -> u64 {
    let mut x = dice.wrapping_add(0x9E37_79B9_7F4A_7C15);
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests;
