//! What other rules ask for and nobody recorded.

use super::changed::{Changed, wanted};
use crate::effect::Ending;
use crate::event::{AgentEnded, Event, When};
use crate::machine::allowed;
use crate::prelude::*;
use crate::profile::{Policy, Todos};
use crate::state::State;
use crate::text::one_line;
use crate::time;

/// Why the recorded event is not what the replayed machine would have been told, if it is not.
pub(super) fn fact<F>(replay: &Changed<F>, event: &Event) -> Option<String> {
    let (recorded, replayed) = (&replay.recorded, &replay.replayed);
    let (policy, old) = (policy(replayed)?, policy(recorded)?);
    let nth = recorded.used;
    match event {
        Event::AgentEnded(ended) => {
            let (by, was) = (replayed.current.as_ref()?, recorded.current.as_ref()?);
            if by.agent != was.agent {
                return Some(format!(
                    "iteration {nth} would have been {}'s, and the record holds what {} did",
                    by.agent, was.agent
                ));
            }
            let who = format!("the agent of iteration {nth}");
            if ended.report.over_budget && policy.budget.micro_usd != old.budget.micro_usd {
                return Some(format!(
                    "{who} ended when its money was used up; what it would have done by other rules is not recorded"
                ));
            }
            let ((now, _), (then, _)) = (allowed(policy, by), allowed(old, was));
            let times = Times { took: ended.duration_ms, now, then };
            times
                .told(&who, ended.asked, [was.ending, by.ending])
                .or_else(|| silence(&who, ended, [was.ending, by.ending], [old, policy]))
        }
        Event::CheckEnded(check) => {
            let times =
                Times { took: check.duration_ms, now: policy.check_timeout_ms, then: old.check_timeout_ms };
            times.told(&quoted(&check.command), check.asked, [ending(recorded), ending(replayed)])
        }
        Event::TreeMeasured(measured) if measured.when == When::After => {
            let (looked, wanted) = replay.todos;
            let unknown = wanted && !looked && measured.todos.is_none() && policy.todos == Todos::Refuse;
            unknown.then(|| {
                format!("the record does not hold which TODO comments there were after iteration {nth}")
            })
        }
        _ => None,
    }
}

/// The check that the replayed machine wants to run now.
pub(super) fn check(replayed: &State) -> String {
    let checks = replayed.run.as_ref().map_or(&[][..], |run| &run.plan.checks);
    let (command, when) = match &replayed.current {
        Some(current) => (wanted(replayed).next(), format!("after iteration {}", current.nth)),
        None => (
            checks.get(replayed.baseline.results.len()).map(|check| check.command.as_str()),
            "before the run".into(),
        ),
    };
    let name = command.map_or_else(|| "a check".into(), quoted);
    format!("the record does not hold how {name} stood {when}")
}

fn policy(state: &State) -> Option<&Policy> {
    state.run.as_ref().map(|run| &run.plan.policy)
}

fn ending(state: &State) -> Option<Ending> {
    state.current.as_ref().map_or(state.baseline.ending, |current| current.ending)
}

fn quoted(command: &str) -> String {
    format!("`{}`", one_line(command, 120))
}

/// A silence is recorded only where it was too long, so a shorter limit cannot be told from the record.
fn silence(
    who: &str,
    ended: &AgentEnded,
    endings: [Option<Ending>; 2],
    [old, new]: [&Policy; 2],
) -> Option<String> {
    let [recorded, replayed] = endings.map(|ending| ending.filter(|_| ended.asked));
    if let (Some(Ending::Idle { ms }), None) = (recorded, replayed) {
        let silent = time::span(ms);
        return Some(format!(
            "{who} was ended after {silent} of silence; what it would have said later, nobody knows"
        ));
    }
    let limit = new.idle_timeout_ms;
    let shorter = limit > 0 && (old.idle_timeout_ms == 0 || limit < old.idle_timeout_ms);
    (shorter && recorded.is_none() && ended.duration_ms >= limit)
        .then(|| format!("the record does not hold whether {who} was silent for {}", time::span(limit)))
}

/// How long a process ran, and how long it may: by these rules, and by the recorded ones.
struct Times {
    took: u64,
    now: u64,
    then: u64,
}

impl Times {
    fn told(&self, what: &str, asked: bool, [recorded, replayed]: [Option<Ending>; 2]) -> Option<String> {
        let timed_out = |ending| asked && ending == Some(Ending::Timeout);
        // One that was stopped with its run goes on by rules that give the run more time.
        let cut = |ending| timed_out(ending) || asked && ending == Some(Ending::Stop);
        if cut(recorded) && !cut(replayed) {
            // Money and tokens may be used up before the time is.
            let after = if timed_out(recorded) { self.then } else { self.took.min(self.then) };
            return Some(format!(
                "{what} was ended after {}; what it would have done with more time, nobody knows",
                time::duration(after)
            ));
        }
        // A process that ended by itself in its last moment may have taken a little longer than it was to.
        (self.now < self.then && self.took >= self.now && !timed_out(recorded)).then(|| {
            format!(
                "{what} took {}; by these rules it would have been ended after {}",
                time::duration(self.took),
                time::duration(self.now)
            )
        })
    }
}
