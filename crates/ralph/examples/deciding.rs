//! What `cargo xtask bench deciding` measures in one process: decisions, appending to a journal; and journals of any
//! length, for opening them. Each answer is one line of JSON.
#![expect(clippy::disallowed_macros, clippy::disallowed_methods, reason = "a bench, not the product")]

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::Instant;

use ralph::store::JournalFile;
use ralph_core::event::{Carried, RunInfo, RunStarted};
use ralph_core::journal::{Body, Record, encode};
use ralph_core::profile::Policy;
use ralph_core::simulation::turn::{Agent, Glance, Report, Turn};
use ralph_core::simulation::world::World;
use ralph_core::simulation::{Reader, Simulation};
use ralph_core::state::apply;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["decisions", iterations] => decisions(iterations.parse()?),
        ["append", path, records] => append(Path::new(path), records.parse()?)?,
        ["journal", path, iterations] => journal(Path::new(path), iterations.parse()?)?,
        _ => return Err("decisions N | append PATH N | journal PATH N".into()),
    }
    Ok(())
}

/// Changes a file each time and never says done.
struct Busy;

impl Agent for Busy {
    fn turn(&mut self, _: Glance<'_>) -> Turn {
        Turn {
            says: "Went on with the parser and its tests.".into(),
            report: Some(Report::More),
            writes: vec!["src/parser.rs".into(), "tests/parser.rs".into()],
            tokens: 1000,
            cost_micro_usd: Some(1000),
            ..Turn::default()
        }
    }
}

fn started(iterations: u64) -> RunStarted {
    let policy = Policy { max_iterations: iterations, ..Policy::default() };
    let agents = vec![ralph::agent::custom("busy".into(), ralph_core::transcript::Format::Auto)];
    let plan = ralph_core::event::Plan {
        policy,
        checks: vec![],
        agents,
        backlog: None,
        commit: false,
        boot: None,
        stack: None,
        left_out: vec![],
        stack_commands: vec![],
        until: None,
    };
    let run = RunInfo { id: "bench".into(), number: 1, goal: "bench".into(), plan, version: "0".into() };
    RunStarted { run, carried: Carried::default() }
}

/// Runs to the limit, every record through `each`.
fn simulate(iterations: u64, mut each: impl FnMut(&Record)) {
    let mut reader = Reader::default();
    let mut simulation = Simulation::new(World::default(), vec![Box::new(Busy)], &mut reader);
    each(&simulation.start(started(iterations)));
    while let Some(record) = simulation.step() {
        each(&record);
        if simulation.state.wants_checkpoint() {
            let body = Body::Checkpoint { state: Box::new(simulation.state.clone()) };
            let record = Record { seq: simulation.state.seq + 1, at: simulation.now, body };
            each(&record);
            simulation.state = apply(std::mem::take(&mut simulation.state), &record);
        }
    }
}

fn decisions(iterations: u64) {
    let begun = Instant::now();
    let mut decided = 0u64;
    simulate(iterations, |_| decided += 1);
    println!("{}", serde_json::json!({"decisions": decided, "seconds": begun.elapsed().as_secs_f64()}));
}

/// The same bytes, each made durable: as records, and as bytes alone.
fn append(path: &Path, records: usize) -> Result<(), Box<dyn std::error::Error>> {
    let mut sample = vec![];
    simulate(records as u64, |record| {
        if sample.len() < records {
            sample.push(record.clone());
        }
    });
    let mut file = JournalFile::create(path)?;
    let mut raw = File::create(path.with_extension("raw"))?;
    let (mut of_records, mut of_bytes) = (vec![], vec![]);
    for record in &sample {
        let line = encode(record);
        let begun = Instant::now();
        raw.write_all(line.as_bytes())?;
        raw.sync_data()?;
        of_bytes.push(begun.elapsed().as_secs_f64() * 1e3);
        let begun = Instant::now();
        file.append(record)?;
        of_records.push(begun.elapsed().as_secs_f64() * 1e3);
    }
    println!("{}", serde_json::json!({"records": of_records, "bytes": of_bytes}));
    Ok(())
}

fn journal(path: &Path, iterations: u64) -> Result<(), Box<dyn std::error::Error>> {
    let mut file = BufWriter::new(File::create(path)?);
    let mut wrong = None;
    simulate(iterations, |record| {
        if let Err(error) = file.write_all(encode(record).as_bytes()) {
            wrong.get_or_insert(error);
        }
    });
    file.flush()?;
    wrong.map_or(Ok(()), |error| Err(error.into()))
}
