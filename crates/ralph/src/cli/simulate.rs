//! `ralph util simulate SCRIPT`: a run of scripted agents, files and checks, decided as a real one; no process is
//! started and nothing is written.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use ralph_core::decision::Stop;
use ralph_core::journal::{Body, Record};
use ralph_core::simulation::script::Script;
use ralph_core::simulation::{Reader, Simulation};
use ralph_core::state::Iteration;
use ralph_core::{text, time, view};
use serde_json::{Value, json};

use crate::error::{self, Error, Result};
use crate::ui::Ui;

#[derive(Debug, Subcommand)]
pub(super) enum UtilCommand {
    /// Play a script of agents, files and checks through the rules; docs/testing.md says how one is written
    Simulate(SimulateArgs),
}

#[derive(Debug, Args)]
pub(super) struct SimulateArgs {
    /// A script, as JSON
    script: PathBuf,
    /// As JSON (schema ralph.simulation/1)
    #[arg(long)]
    json: bool,
}

pub(super) fn main(command: &UtilCommand, ui: &Ui) -> Result<ExitCode> {
    let UtilCommand::Simulate(args) = command;
    let file = &args.script;
    let text = std::fs::read_to_string(file).map_err(error::io("cannot read", file))?;
    let wrong = |why: String| Error::data(format!("{} is no script", file.display())).because(why);
    let script = Script::read(&text).map_err(wrong)?;
    let started = script.started().map_err(wrong)?;
    let mut reader = Reader::default();
    let mut sim = Simulation::new(script.world(), script.agents(), &mut reader);
    let mut iterations = vec![];
    sim.run(started, script.most_records, |record, sim| {
        iterations.extend(sim.state.last.as_deref().and_then(|last| concluded(record, last)));
    });
    let played = json!({
        "schema": "ralph.simulation/1",
        "iterations": iterations,
        "stop": sim.state.stop().map(|stop| {
            json!({"reason": stop.word(), "text": stop.to_string(), "exit_code": stop.exit_code()})
        }),
        "counted": sim.state.used,
        "cost_micro_usd": sim.state.totals.cost_micro_usd,
        "tokens": sim.state.spent().tokens,
        "active_ms": sim.state.active_ms,
        "checks_red": sim.world.red(),
        "items_open": sim.world.open_items(),
    });
    if args.json {
        ui.json(&played);
    } else {
        lines(&played).iter().for_each(|line| ui.data_line(line));
    }
    let Some(stop) = sim.state.stop() else {
        return Err(Error::new(format!("no end after {}", text::count(sim.state.seq, "record"))));
    };
    Ok(ExitCode::from(Stop::exit_code(stop)))
}

/// An iteration, where this record concluded one.
fn concluded(record: &Record, last: &Iteration) -> Option<Value> {
    let Body::Step { decision, .. } = &record.body else { return None };
    let conclusion = decision.concluded.as_ref()?;
    let reasons: Vec<Value> =
        decision.reasons.iter().map(|reason| json!({"rule": reason.rule, "text": reason.text})).collect();
    Some(json!({
        "nth": last.nth,
        "at": record.at,
        "kind": last.kind,
        "agent": last.agent,
        "outcome": conclusion.outcome,
        "verdict": decision.verdict,
        "changed": last.after.as_ref().map_or(0, |after| after.changed_total),
        "took_ms": last.ended.as_ref().map_or(0, |ended| ended.duration_ms),
        "reasons": reasons,
    }))
}

/// The same for people.
fn lines(played: &Value) -> Vec<String> {
    let word = |value: &Value| value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned);
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let number = |value: &Value| value.as_u64().unwrap_or(0);
    let mut lines = vec![];
    for iteration in list(&played["iterations"]) {
        lines.push(format!(
            "iteration {} ({}, {}): {}; {}, {}",
            iteration["nth"],
            word(&iteration["kind"]),
            word(&iteration["agent"]),
            word(&iteration["outcome"]),
            text::count(number(&iteration["changed"]), "changed file"),
            time::duration(number(&iteration["took_ms"])),
        ));
        let reasons = list(&iteration["reasons"]);
        lines.extend(reasons.iter().map(|why| format!("  {}: {}", word(&why["rule"]), word(&why["text"]))));
    }
    lines.push(match played["stop"]["text"].as_str() {
        Some(text) => format!("stop: {} ({text})", word(&played["stop"]["reason"])),
        None => "it does not stop".to_owned(),
    });
    let cost = played["cost_micro_usd"].as_u64().map_or_else(|| "no cost told".to_owned(), view::money);
    lines.push(format!(
        "{} counted, {cost}, {}",
        text::count(number(&played["counted"]), "iteration"),
        time::duration(number(&played["active_ms"]))
    ));
    lines
}
