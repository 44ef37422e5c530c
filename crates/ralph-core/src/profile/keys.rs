//! The keys of a policy: one list of names, meanings, readers and writers. `--set`, the config file, `profile show` and
//! the profiles themselves all go through it.

use super::{
    Baseline, Commits, EvidenceNeeded, FailedItem, Gate, Order, Policy, Protocol, ReviewPolicy, Saturated,
    TestsChanged, Todos, Trip,
};
use crate::prelude::*;
use crate::{text, time};

const LONGEST_TEXT: usize = 200;

/// One value of the policy.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    pub name: &'static str,
    /// What it means, on one line.
    pub about: &'static str,
    pub get: fn(&Policy) -> String,
    /// The error says what would be right.
    pub set: fn(&mut Policy, &str) -> Result<(), String>,
}

impl Key {
    /// Which values it takes, in words.
    pub fn takes(&self) -> String {
        // No value has a NUL in it, so the answer is what would be right.
        (self.set)(&mut Policy::default(), "\0").err().unwrap_or_default()
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WrongValue {
    #[error("there is no key '{name}'")]
    Name { name: String },
    #[error("'{value}' is no value for {name}: {expected}")]
    Value { name: &'static str, value: String, expected: String },
}

pub fn key(name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.name == name)
}

/// A value with a text form.
trait Word: Sized {
    fn write(&self) -> String;
    fn read(text: &str) -> Result<Self, String>;
}

macro_rules! words {
    ($type:ty { $($word:literal = $value:expr),+ $(,)? }) => {
        impl Word for $type {
            fn write(&self) -> String {
                [$(($word, $value)),+].iter().find(|(_, value)| value == self).map_or("", |(word, _)| word).into()
            }
            fn read(text: &str) -> Result<Self, String> {
                [$(($word, $value)),+]
                    .into_iter()
                    .find(|(word, _)| *word == text)
                    .map(|(_, value)| value)
                    .ok_or_else(|| format!("one of {}", [$($word),+].join(", ")))
            }
        }
    };
}

words!(Gate { "dual" = Gate::Dual, "explicit" = Gate::Explicit, "evidence" = Gate::Evidence });
words!(EvidenceNeeded {
    "required" = EvidenceNeeded::Required,
    "backlog" = EvidenceNeeded::Backlog,
    "off" = EvidenceNeeded::Off,
});
words!(Baseline { "refuse" = Baseline::Refuse, "tolerate" = Baseline::Tolerate, "off" = Baseline::Off });

/// For goals and for backlogs; one word stands for both.
struct Baselines(Baseline, Option<Baseline>);

impl Word for Baselines {
    fn write(&self) -> String {
        match self.1.filter(|items| *items != self.0) {
            None => self.0.write(),
            Some(items) => format!("{}/{}", self.0.write(), items.write()),
        }
    }

    fn read(text: &str) -> Result<Self, String> {
        let word = |text: &str| {
            let wrong = |expected| format!("{expected}, or two of them: goals/items");
            Baseline::read(text.trim()).map_err(wrong)
        };
        match text.split_once('/') {
            None => Ok(Self(word(text)?, None)),
            Some((goals, items)) => {
                let goals = word(goals)?;
                Ok(Self(goals, Some(word(items)?).filter(|items| *items != goals)))
            }
        }
    }
}

words!(FailedItem { "keep" = FailedItem::Keep, "revert" = FailedItem::Revert });
words!(Commits { "items" = Commits::Items, "never" = Commits::Never });
words!(Todos { "refuse" = Todos::Refuse, "flag" = Todos::Flag, "off" = Todos::Off });
words!(TestsChanged { "flag" = TestsChanged::Flag, "refuse" = TestsChanged::Refuse });
words!(Protocol {
    "block" = Protocol::Block,
    "status_file" = Protocol::StatusFile,
    "json" = Protocol::Json
});
words!(Trip { "off" = Trip::Off, "warn" = Trip::Warn, "half_open" = Trip::HalfOpen, "open" = Trip::Open });
words!(Saturated {
    "off" = Saturated::Off,
    "halt" = Saturated::Halt,
    "complete" = Saturated::Complete
});
words!(Order {
    "listed" = Order::Listed,
    "round_robin" = Order::RoundRobin,
    "random" = Order::Random
});
words!(bool { "true" = true, "false" = false });

macro_rules! numbers {
    ($($type:ty),+) => { $(impl Word for $type {
        fn write(&self) -> String {
            self.to_string()
        }
        fn read(text: &str) -> Result<Self, String> {
            text.parse().map_err(|_| "a whole number".into())
        }
    })+ };
}
numbers!(u32, u64);

/// A text on one line.
impl Word for String {
    fn write(&self) -> String {
        self.clone()
    }

    fn read(text: &str) -> Result<Self, String> {
        let folded = text::one_line(text, LONGEST_TEXT);
        let fits = !folded.is_empty() && text.len() <= LONGEST_TEXT && !text.contains(['\0', '<', '>']);
        fits.then_some(folded)
            .ok_or_else(|| format!("a text of at most {LONGEST_TEXT} bytes without < and >"))
    }
}

impl Word for ReviewPolicy {
    fn write(&self) -> String {
        match (self.with_checks, self.without_checks) {
            (with, without) if with == without => with.to_string(),
            (with, without) => format!("{with}/{without}"),
        }
    }

    fn read(text: &str) -> Result<Self, String> {
        let number =
            |text: &str| text.parse().map_err(|_| "a number, or two: with checks/without".to_owned());
        let (with, without) = text.split_once('/').unwrap_or((text, text));
        Ok(Self { with_checks: number(with)?, without_checks: number(without)? })
    }
}

/// A count that must be at least one: a trigger that needs nothing would always fire.
struct AtLeastOne(u32);

impl Word for AtLeastOne {
    fn write(&self) -> String {
        self.0.to_string()
    }

    fn read(text: &str) -> Result<Self, String> {
        text.parse().ok().filter(|n| *n > 0).map(Self).ok_or_else(|| "a number from 1 on".into())
    }
}

/// A share of the whole: a number from 1 to 99.
struct Percent(u32);

impl Word for Percent {
    fn write(&self) -> String {
        self.0.to_string()
    }

    fn read(text: &str) -> Result<Self, String> {
        text.parse().ok().filter(|n| (1..100).contains(n)).map(Self).ok_or_else(|| "1 to 99".into())
    }
}

/// A length of time: `90s`, `30m`, `2h`.
struct Span(u64);

impl Word for Span {
    fn write(&self) -> String {
        time::span(self.0)
    }

    fn read(text: &str) -> Result<Self, String> {
        time::parse_span(text)
            .filter(|ms| *ms > 0)
            .map(Self)
            .ok_or_else(|| "a time, such as 90s, 30m or 2h".into())
    }
}

/// A length of time that may be absent.
struct Maybe(Option<u64>);

impl Word for Maybe {
    fn write(&self) -> String {
        self.0.map_or_else(|| "none".into(), time::span)
    }

    fn read(text: &str) -> Result<Self, String> {
        if text == "none" {
            return Ok(Self(None));
        }
        time::parse_span(text).map(|ms| Self(Some(ms))).ok_or_else(|| "a time such as 30m, or none".into())
    }
}

/// A limit where 0 or `none` means that there is none.
struct SpanLimit(u64);

impl Word for SpanLimit {
    fn write(&self) -> String {
        if self.0 == 0 { "none".into() } else { time::span(self.0) }
    }

    fn read(text: &str) -> Result<Self, String> {
        match text {
            "0" | "none" => Ok(Self(0)),
            _ => time::parse_span(text)
                .map(Self)
                .ok_or_else(|| "a time, such as 90s, 30m or 2h, or 0 for no limit".into()),
        }
    }
}

/// How many iterations are kept: the last few are what prompts and people are pointed to, so they always are.
struct Kept(u64);

impl Kept {
    const FEWEST: u64 = 10;
}

impl Word for Kept {
    fn write(&self) -> String {
        self.0.to_string()
    }

    fn read(text: &str) -> Result<Self, String> {
        let number = text.parse().ok().filter(|n| *n == 0 || *n >= Self::FEWEST);
        number.map(Self).ok_or_else(|| format!("a number from {} on, or 0", Self::FEWEST))
    }
}

/// Money in dollars, kept in millionths.
struct Money(u64);

impl Word for Money {
    fn write(&self) -> String {
        match self.0 {
            0 => "none".into(),
            micro => {
                let text = format!("{}.{:06}", micro / 1_000_000, micro % 1_000_000);
                text.trim_end_matches('0').trim_end_matches('.').into()
            }
        }
    }

    fn read(text: &str) -> Result<Self, String> {
        let wrong = || "dollars, such as 5 or 0.50, or none (0 too)".to_owned();
        if text == "none" {
            return Ok(Self(0));
        }
        let (whole, part) = text
            .strip_prefix('$')
            .unwrap_or(text)
            .split_once('.')
            .unwrap_or((text.trim_start_matches('$'), ""));
        let digits = |text: &str| text.chars().all(|c| c.is_ascii_digit());
        if whole.is_empty() || !digits(whole) || !digits(part) || part.len() > 6 {
            return Err(wrong());
        }
        let micro: u64 = format!("{part:0<6}").parse().map_err(|_| wrong())?;
        let whole: u64 = whole.parse().map_err(|_| wrong())?;
        let sum = whole.checked_mul(1_000_000).and_then(|whole| whole.checked_add(micro));
        sum.map(Self).ok_or_else(wrong)
    }
}

macro_rules! keys {
    ($($name:literal, $($field:ident).+ $(with $other:ident)? $(as $word:ident)?, $about:literal;)+) => {
        /// Every key, in the order they are shown.
        pub const KEYS: &[Key] = &[$(Key {
            name: $name,
            about: $about,
            get: |policy| keys!(@write policy.$($field).+ $(, with policy.$other)? $(, $word)?),
            set: |policy, text| keys!(@set text, policy.$($field).+ $(, with policy.$other)? $(, $word)?),
        }),+];
    };
    (@write $value:expr) => { Word::write(&$value) };
    (@write $value:expr, $word:ident) => { $word($value).write() };
    (@write $value:expr, with $other:expr, $word:ident) => { $word($value, $other).write() };
    (@set $text:expr, $value:expr) => { Word::read($text).map(|word| $value = word) };
    (@set $text:expr, $value:expr, $word:ident) => { $word::read($text).map(|word| $value = word.0) };
    (@set $text:expr, $value:expr, with $other:expr, $word:ident) => {
        $word::read($text).map(|word| ($value, $other) = (word.0, word.1))
    };
}

keys! {
    "protocol", protocol, "Which report the prompt asks for; every dialect is heard always";
    "gate", gate, "Which words say done: dual also wants completion language, evidence asks no words";
    "indicators", indicators as AtLeastOne, "Completion indicators that the dual gate wants";
    "believe_contradictions", believe_contradictions, "Believe EXIT_SIGNAL: true beside failing tests";
    "evidence", evidence, "Which facts a claim must agree with; what an item brings to prove it is always run";
    "baseline", baseline with item_baseline as Baselines, "Checks that fail before the run: tolerate excuses tests by name, off does not look";
    "todos", todos, "What TODO, FIXME and unimplemented! added by the run mean to a claim";
    "goal_backlog", goal_backlog, "Refuse a goal while a task file of the project has open items";
    "tests_changed", tests_changed, "What existing tests and check scripts that an agent changed mean to a claim; refuse: until put back";
    "reviews", reviews, "Passes in a row that change nothing; two numbers: with checks/without; not for held sessions";
    "no_progress", breaker.no_progress, "Iterations that change nothing";
    "no_progress_after", breaker.no_progress_after as AtLeastOne, "How many of them in a row";
    "same_error", breaker.same_error, "Iterations with the same errors";
    "same_error_after", breaker.same_error_after as AtLeastOne, "How many of them in a row";
    "decline", breaker.decline, "An iteration whose words shrink against the last three";
    "decline_percent", breaker.decline_percent as Percent, "By more than how many per cent";
    "denials", breaker.denials, "Iterations that were denied a tool and changed nothing";
    "denials_after", breaker.denials_after as AtLeastOne, "How many of them in a row";
    "cooldown", breaker.cooldown_ms as Maybe, "When an open circuit allows a probe, doubled at each that fails; none: only --probe";
    "test_only", saturation.test_only, "Iterations that change tests alone";
    "test_only_after", saturation.test_only_after as AtLeastOne, "How many of them in a row";
    "done_signals", saturation.done_signals, "Iterations that talk of being done while work goes on";
    "done_signals_after", saturation.done_signals_after as AtLeastOne, "How many of them in a row";
    "test_share", saturation.test_share, "A run that is mostly tests";
    "test_share_percent", saturation.test_share_percent as Percent, "From which share on";
    "test_share_after", saturation.test_share_after, "After how many iterations it counts";
    "max_iterations", max_iterations, "Iterations of a run; 0 = no limit";
    "each_item", each_item, "Count max_iterations for each item of a backlog, not for the run";
    "max_time", budget.time_ms as SpanLimit, "Time a run may work; none = no limit";
    "max_tokens", budget.tokens, "Tokens a run may use; 0 = no limit";
    "budget", budget.micro_usd as Money, "Dollars a run may cost; none = no limit";
    "questions", questions, "Questions in a row with nothing changed that mean blocked; 0 = never";
    "order", order, "Which agent of several is next";
    "max_failures", max_failures as AtLeastOne, "Failures of an agent in a row until it is not started again";
    "backoff", backoff_ms as Span, "The first wait after a failure, doubled at each further one";
    "max_backoff", max_backoff_ms as Span, "The longest of these waits";
    "max_limits", max_limits as AtLeastOne, "Limits of an agent in a row until it is not started again";
    "limit_backoff", limit_backoff_ms as Span, "The first wait after a limit that does not say when it ends, doubled too";
    "max_wait", max_wait_ms as Span, "The longest wait for an agent that is limited";
    "timeout", agent_timeout_ms as Span, "Longest time for one agent process";
    "idle_timeout", idle_timeout_ms as SpanLimit, "Longest silence of an agent process; none = no limit";
    "check_timeout", check_timeout_ms as Span, "Longest time for one check";
    "keep_output", keep_output as Kept, "Of how many iterations, counted back, prompt and output are kept; 0 = of all";
    "keep_snapshots", keep_snapshots, "Iterations, the last ones, whose files can be undone and compared; 0 = all of them";
    "failed_item", failed_item, "What becomes of work on an item that could not be proved";
    "once", once, "Stop after one attempt at one item of a backlog";
    "boot", boot, "The harness's init.sh must pass first, or what ralph doctor looks at";
    "harness_lock", harness_lock, "Tell others by .harness.lock that an item is worked on";
    "commits", commits, "What ralph commits: every proved item of a backlog, or never";
    "promise", promise, "The text that says done as <promise>TEXT</promise>";
    "session_view", session_view, "Keep .ralph-session.json at the top of the project";
}
