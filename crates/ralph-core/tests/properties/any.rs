//! Any event, likely or not, at any time.

use proptest::prelude::*;
use ralph_core::check::CheckResult;
use ralph_core::effect::Effect;
use ralph_core::event::{
    AgentEnded, Carried, End, Event, Measured, Plan, PutBack, RunInfo, RunResumed, RunStarted, Stamped,
    StopBy, When,
};
use ralph_core::evidence::{AddedTodos, Items};
use ralph_core::limit::{Limit, LimitKind};
use ralph_core::profile::PROFILES;
use ralph_core::report::{Builder, IterationReport};
use ralph_core::simulation::hostile::scene;
use ralph_core::time::Time;
use ralph_core::transcript::{Item, Usage};

/// Whether it takes a halted run up, or begins one.
pub(crate) fn begins(event: &Event) -> bool {
    matches!(event, Event::RunStarted(_) | Event::RunResumed(_))
}

pub(crate) fn stamped() -> impl Strategy<Value = Stamped> {
    let time = prop_oneof![
        4 => 1_750_000_000_000..1_750_100_000_000i64,
        1 => any::<i64>(),
    ];
    (time, event()).prop_map(|(at, event)| Stamped { at: Time::from_millis(at), event })
}

/// An event that mostly answers what was asked for, and sometimes does not.
#[derive(Debug)]
pub(crate) struct Surprise {
    any: Stamped,
    measured: Measured,
    ended: AgentEnded,
    checked: CheckResult,
    answers: bool,
    ms: u64,
}

pub(crate) fn surprise() -> impl Strategy<Value = Surprise> {
    (stamped(), measured(), ended(), checked(), prop::bool::weighted(0.8), 0..10_000_000u64).prop_map(
        |(any, measured, ended, checked, answers, ms)| Surprise {
            any,
            measured,
            ended,
            checked,
            answers,
            ms,
        },
    )
}

impl Surprise {
    pub(crate) fn event(&self, effects: &[Effect]) -> Event {
        match effects.first().filter(|_| self.answers) {
            Some(Effect::MeasureTree { when, .. }) => {
                Event::TreeMeasured(Box::new(Measured { when: *when, ..self.measured.clone() }))
            }
            Some(Effect::StartAgent | Effect::EndAgent { .. } | Effect::RecoverAgent) => {
                Event::AgentEnded(Box::new(self.ended.clone()))
            }
            Some(Effect::RunCheck { .. } | Effect::EndCheck { .. }) => {
                Event::CheckEnded(Box::new(self.checked.clone()))
            }
            _ => self.any.event.clone(),
        }
    }

    /// Mostly later than before; a clock may be set back, or anywhere.
    pub(crate) fn later(&self, now: Time) -> Time {
        if self.answers { now.plus(self.ms) } else { self.any.at }
    }
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        3 => measured().prop_map(|measured| Event::TreeMeasured(Box::new(measured))),
        4 => ended().prop_map(|ended| Event::AgentEnded(Box::new(ended))),
        3 => checked().prop_map(|check| Event::CheckEnded(Box::new(check))),
        2 => Just(Event::DeadlinePassed),
        2 => number().prop_map(|for_ms| Event::AgentSilent { for_ms }),
        1 => number().prop_map(|ms| Event::Slept { ms }),
        2 => prop_oneof![Just(StopBy::Interrupt), Just(StopBy::Terminate), Just(StopBy::Request)]
            .prop_map(|by| Event::StopAsked { by }),
        1 => Just(Event::AgentStarted { pid: 7, noted: Default::default() }),
        1 => Just(Event::AgentNeverStarted),
        1 => Just(Event::MeasureFailed { error: "gone".into() }),
        1 => Just(Event::NoteAdded { id: "n".into(), text: "use tabs".into() }),
        1 => Just(Event::CircuitReset),
        1 => put_back(),
        1 => Just(Event::RunClosed),
        1 => Just(Event::Unknown),
        2 => (plan(), any::<bool>()).prop_map(|(plan, probe)| {
            Event::RunResumed(Box::new(RunResumed { plan, version: "2".into(), probe, unrecorded_ms: 0 }))
        }),
        1 => (plan(), any::<u64>(), any::<bool>()).prop_map(|(plan, seed, probe)| {
            let run = RunInfo { id: "r".into(), number: 1, goal: "g".into(), plan, version: "2".into() };
            let carried = Carried { iteration: seed, seed, probe, ..Carried::default() };
            Event::RunStarted(Box::new(RunStarted { run, carried }))
        }),
    ]
}

fn put_back() -> impl Strategy<Value = Event> {
    prop::option::of(0..9u64).prop_map(|iteration| {
        let (from, to) = ("a".repeat(40), "b".repeat(40));
        Event::TreePutBack(Box::new(PutBack { iteration, from, to, files: 3, head: None, only: vec![] }))
    })
}

/// Another plan than before: other agents, or none, and values at their ends.
fn plan() -> impl Strategy<Value = Plan> {
    let number = || prop_oneof![Just(0u64), Just(1), 2..100u64, Just(u64::MAX)];
    let numbers = prop::collection::vec(number(), 8);
    (0..PROFILES.len(), any::<u64>(), any::<bool>(), numbers).prop_map(|(profile, seed, nobody, numbers)| {
        let mut plan = scene(&PROFILES[profile].policy(), seed).started.run.plan;
        let policy = &mut plan.policy;
        policy.max_iterations = numbers[0];
        policy.budget.tokens = numbers[1];
        policy.budget.micro_usd = numbers[2];
        policy.budget.time_ms = numbers[3];
        policy.backoff_ms = numbers[4];
        policy.limit_backoff_ms = numbers[5];
        policy.agent_timeout_ms = numbers[6];
        policy.breaker.cooldown_ms = Some(numbers[7]);
        if nobody {
            plan.agents.clear();
        }
        plan
    })
}

fn end() -> impl Strategy<Value = End> {
    prop_oneof![
        4 => Just(End::Exited { code: 0 }),
        1 => any::<i32>().prop_map(|code| End::Exited { code }),
        1 => any::<i32>().prop_map(|signal| End::Signaled { signal }),
        1 => Just(End::TimedOut),
        1 => number().prop_map(|ms| End::Idle { ms }),
        1 => Just(End::Stopped),
        1 => Just(End::Cut),
        1 => Just(End::Lost),
        1 => Just(End::NotStarted { error: "no".into() }),
    ]
}

fn number() -> impl Strategy<Value = u64> {
    prop_oneof![3 => 0..10_000u64, 1 => any::<u64>(), 1 => Just(u64::MAX)]
}

fn report() -> impl Strategy<Value = IterationReport> {
    let words = prop_oneof![
        Just(
            "---RALPH_STATUS---\nSTATUS: COMPLETE\nTESTS_STATUS: PASSING\nEXIT_SIGNAL: true\n---END_RALPH_STATUS---"
        ),
        Just("All tasks are complete. The project is finished.\n<promise>COMPLETE</promise>"),
        Just("---RALPH_STATUS---\nSTATUS: BLOCKED\nEXIT_SIGNAL: false\n---END_RALPH_STATUS---"),
        Just("Shall I go on?"),
        Just("error[E0425]: cannot find value `x` in this scope"),
        Just(""),
    ];
    let kinds = prop::sample::select(vec![LimitKind::Usage, LimitKind::Overload, LimitKind::Credit]);
    (words, number(), prop::option::of(number()), prop::option::weighted(0.2, kinds), any::<bool>()).prop_map(
        |(words, tokens, cost, limit, denied)| {
            let mut builder = Builder::default();
            builder.add(Item::Words(words.into()));
            if denied {
                builder.add(Item::Denied("Write".into()));
            }
            let mut report = builder.finish();
            report.usage = Usage { input: tokens, output: tokens, ..Usage::default() };
            report.cost_micro_usd = cost;
            report.words = tokens;
            report.limit = limit.map(|kind| Limit { kind, status: None, reset: None, text: "limit".into() });
            report
        },
    )
}

fn ended() -> impl Strategy<Value = AgentEnded> {
    (end(), number(), any::<bool>(), report(), prop::option::of(any::<i64>())).prop_map(
        |(end, duration_ms, asked, report, reset)| AgentEnded {
            end,
            duration_ms,
            asked,
            leftovers: 0,
            report,
            stderr: None,
            reset_at: reset.map(Time::from_millis),
        },
    )
}

fn measured() -> impl Strategy<Value = Measured> {
    let items = prop::option::of((number(), number()).prop_map(|(open, total)| Items { open, total }));
    (any::<bool>(), number(), any::<bool>(), items, prop::option::of(number())).prop_map(
        |(before, changed, committed, items, todos)| {
            let when = if before { When::Before } else { When::After };
            let mut measured = Measured::new(when, format!("t{changed}"), None, &[]);
            measured.changed_total = changed;
            measured.committed_change = committed;
            measured.items = items;
            measured.todos = todos.map(|total| AddedTodos { total, samples: vec![] });
            measured
        },
    )
}

fn checked() -> impl Strategy<Value = CheckResult> {
    (end(), any::<bool>(), number()).prop_map(|(end, asked, duration_ms)| CheckResult {
        name: "test".into(),
        command: "make test".into(),
        end,
        asked,
        failing: vec!["a".into()],
        duration_ms,
        output_tail: String::new(),
        hollow: false,
    })
}
