//! What was replayed, as JSON: `ralph.replay/1`.

use ralph_core::decision::Stop;
use ralph_core::replay::{Agreement, Came, Disagreement, Side, Told, Turn};
use serde_json::{Map, Value, json};

use super::{Replayed, Saved, Shown};
use crate::settings::OtherRules;

impl Shown<'_> {
    pub(super) fn document(&self) -> Value {
        let state = &self.opened.state;
        let problems: Vec<String> = self.opened.problems.iter().map(ToString::to_string).collect();
        let mut document = json!({
            "schema": "ralph.replay/1",
            "run": self.number,
            "records": self.opened.records,
            "recorded": side(&Side {
                iterations: state.used,
                totals: state.totals,
                stop: state.stop().cloned(),
            }),
            "problems": problems,
        });
        let more = match self.replayed {
            Replayed::Unchanged(agreement) => unchanged(agreement),
            Replayed::Changed(rules, told) => changed(rules, told, &self.remarks()),
        };
        if let (Value::Object(document), Value::Object(more)) = (&mut document, more) {
            document.extend(more);
        }
        document
    }
}

fn unchanged(agreement: &Agreement) -> Value {
    json!({
        "changes": Value::Null,
        "steps": agreement.steps,
        "agrees": agreement.disagreement.is_none(),
        "disagreement": agreement.disagreement.as_ref().map(disagreement),
    })
}

fn disagreement(found: &Disagreement) -> Value {
    json!({
        "iteration": found.number,
        "run_iteration": found.nth,
        "seq": found.seq,
        "parts": found.parts,
        "recorded": {"version": found.version, "reasons": found.recorded},
        "decided": {"version": env!("CARGO_PKG_VERSION"), "reasons": found.decided},
    })
}

fn changed(rules: &OtherRules, told: &Told, remarks: &[String]) -> Value {
    let set: Map<String, Value> =
        rules.values().iter().map(|value| (value.key.clone(), value.value.as_str().into())).collect();
    let (result, why) = match &told.came {
        Came::Same => ("same", None),
        Came::Stops => ("stops", None),
        Came::GoesOn => ("goes_on", None),
        Came::CannotBeTold { why } => ("cannot_be_told", Some(why)),
    };
    json!({
        "changes": {"profile": rules.profile(), "set": set},
        "result": result,
        "why": why,
        "replayed": side(&told.replayed),
        "divergence": told.divergence.as_ref().map(|divergence| json!({
            "iteration": divergence.replayed.number,
            "run_iteration": divergence.replayed.nth,
            "recorded": divergence.recorded.as_ref().map(turn),
            "replayed": turn(&divergence.replayed),
        })),
        "other_reasons": told.other_reasons,
        "saved": Saved::of(told).map(|saved| json!({
            "iterations": saved.iterations,
            "micro_usd": saved.micro_usd,
            "tokens": saved.tokens,
            "at_least": saved.at_least,
        })),
        "remarks": remarks,
    })
}

fn side(side: &Side) -> Value {
    json!({
        "iterations": side.iterations,
        "stop_reason": side.stop.as_ref().map(Stop::word),
        "stop_text": side.stop.as_ref().map(ToString::to_string),
        "micro_usd": side.totals.cost_micro_usd,
        "tokens": side.totals.usage.total(),
    })
}

fn turn(turn: &Turn) -> Value {
    json!({
        "seq": turn.seq,
        "verdict": turn.verdict,
        "outcome": turn.outcome,
        "stop_reason": turn.stop.as_ref().map(Stop::word),
        "next": turn.next.as_ref().map(|(kind, agent)| json!({"kind": kind, "agent": agent})),
        "reasons": turn.reasons,
    })
}
