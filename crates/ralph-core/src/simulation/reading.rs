//! From what a scripted agent prints to the event of its end, by the readers of a real run.

use alloc::collections::BTreeMap;

use serde_json::json;

use super::turn::{PROMPT, Turn};
use crate::event::{AgentEnded, End};
use crate::limit::{self, Reset};
use crate::prelude::*;
use crate::report::{Builder, IterationReport, dialects};
use crate::text;
use crate::time::Time;
use crate::transcript::{Decoder, Format};

/// Reads agents. The same output is read once, however many runs print it.
#[derive(Debug, Default)]
pub struct Reader {
    known: BTreeMap<String, IterationReport>,
}

/// More different outputs than any set of scripts needs; then it begins anew.
const MOST_KNOWN: usize = 10_000;

impl Reader {
    /// `prompt` is asked for only where the agent repeats it: it changes nothing about other words.
    pub(super) fn ended(
        &mut self,
        turn: &Turn,
        prompt: impl FnOnce() -> String,
        now: Time,
        ran: Ran,
    ) -> AgentEnded {
        let mut report = self.report(turn, prompt);
        report.sayings.extend(dialects::status_file(&turn.status, None));
        let end = match &turn.not_started {
            Some(error) => End::NotStarted { error: error.clone() },
            None if ran.asked => End::Signaled { signal: 15 },
            None => turn.signal.map_or(End::Exited { code: turn.exit }, |signal| End::Signaled { signal }),
        };
        let failed = end != End::Exited { code: 0 } || report.error.is_some();
        if failed {
            let said = || limit::from_prose(!structured(turn), &report.last_words);
            report.limit =
                report.limit.take().or_else(|| limit::from_prose(true, &turn.stderr)).or_else(said);
        }
        let reset = report.limit.as_ref().and_then(|limit| limit.reset.as_ref());
        AgentEnded {
            end,
            duration_ms: ran.duration_ms,
            asked: ran.asked,
            leftovers: 0,
            stderr: text::last_line(&turn.stderr, 300),
            reset_at: reset.and_then(|reset| reset_at(reset, now)),
            report,
        }
    }

    /// What is known of an agent that died with ralph: how long it ran, and what it had printed, which may be all.
    pub(super) fn cut(
        &mut self,
        turn: Option<&Turn>,
        prompt: impl FnOnce() -> String,
        duration_ms: u64,
    ) -> AgentEnded {
        AgentEnded {
            end: End::Cut,
            duration_ms,
            asked: false,
            leftovers: 0,
            report: turn.map(|turn| self.report(turn, prompt)).unwrap_or_default(),
            stderr: None,
            reset_at: None,
        }
    }

    fn report(&mut self, turn: &Turn, prompt: impl FnOnce() -> String) -> IterationReport {
        let Turn { says, report, tokens, cost_micro_usd: cost, denied, error, .. } = turn;
        let echo = says.contains(PROMPT).then(prompt);
        let asked = echo.as_deref().unwrap_or_default();
        let key = format!("{says}\0{report:?} {tokens} {cost:?} {denied:?} {error:?} {asked}");
        if self.known.len() >= MOST_KNOWN {
            self.known.clear();
        }
        let words = || says.replace(PROMPT, asked);
        self.known.entry(key).or_insert_with(|| read(&printed(turn, &words()), asked)).clone()
    }
}

/// How long it ran, and whether it was asked to end.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ran {
    pub(super) duration_ms: u64,
    pub(super) asked: bool,
}

fn read(output: &str, prompt: &str) -> IterationReport {
    let mut decoder = Decoder::new(Format::Auto);
    let mut builder = Builder::new(prompt);
    decoder.feed(output.as_bytes(), |item| builder.add(item));
    decoder.finish(|item| builder.add(item));
    builder.finish()
}

/// Whether it talks in JSON: only there are tokens, money and denials told.
fn structured(turn: &Turn) -> bool {
    turn.tokens > 0 || turn.cost_micro_usd.is_some() || !turn.denied.is_empty() || turn.error.is_some()
}

fn printed(turn: &Turn, words: &str) -> String {
    let mut words = words.to_owned();
    if let Some(report) = turn.report {
        words.push('\n');
        words.push_str(&report.block());
    }
    if !structured(turn) {
        return words;
    }
    let said = json!({"type": "assistant", "parent_tool_use_id": null, "message": {"content": [{"type": "text", "text": words}]}});
    let mut result = json!({
        "type": "result",
        "subtype": "success",
        "session_id": "simulated",
        "is_error": turn.error.is_some(),
        "result": turn.error.as_deref().unwrap_or(&words),
        "usage": {"input_tokens": turn.tokens, "output_tokens": 0},
        "permission_denials": turn.denied.iter().map(|tool| json!({"tool_name": tool})).collect::<Vec<_>>(),
    });
    if let Some(cost) = turn.cost_micro_usd {
        result["total_cost_usd"] = json!(cost as f64 / 1e6);
    }
    let begin = json!({"type": "system", "subtype": "init", "session_id": "simulated"});
    format!("{begin}\n{said}\n{result}\n")
}

/// A world has no zones: a time of day is not known here, and then the wait is the machine's own.
fn reset_at(reset: &Reset, now: Time) -> Option<Time> {
    match reset {
        Reset::At { time } => Some(*time),
        Reset::After { ms } => Some(now.plus(*ms)),
        Reset::Clock { .. } | Reset::Day { .. } => None,
    }
}
