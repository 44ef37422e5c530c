//! Deciding: decisions a second, a durable record against the bare bytes, and opening a run of any length.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value as Json;

use super::place::Place;
use super::samples::Samples;
use super::start;
use super::table::{Row, Target, Value};
use crate::{Result, step, workspace};

const DECIDED: &str = "20000";
const APPENDED: &str = "400";
/// A record is bytes, a checksum and a state taken over; the disk takes longest.
const APPEND: f64 = 1.5;
/// As `status` of any run.
const OPENING: f64 = 5.0;

pub(super) fn deciding(place: &Place, large: bool) -> Result<(Vec<Row>, Vec<String>)> {
    let args = ["build", "--release", "--package", "ralph", "--example", "deciding", "--locked"];
    step::run(
        "the bench's own program",
        &format!("cargo {}", args.join(" ")),
        workspace::cargo().args(args),
    )?;
    let program = workspace::target_dir()?.join("release/examples/deciding");
    let decided = answer(&program, &["decisions", DECIDED])?;
    let number = |key: &str| decided[key].as_f64().unwrap_or_default();
    let a_second = number("decisions") / number("seconds").max(1e-9);
    let remark = format!("decisions: {:.0} a second, each with its state taken over (one core)", a_second);
    let mut rows = vec![append(place, &program)?];
    let sizes: &[u64] = if large { &[10, 1_000, 100_000] } else { &[10, 1_000] };
    for iterations in sizes {
        rows.push(opening(place, &program, *iterations)?);
    }
    Ok((rows, vec![remark]))
}

fn append(place: &Place, program: &Path) -> Result<Row> {
    let path = place.at("append.jsonl").display().to_string();
    let times = answer(program, &["append", &path, APPENDED])?;
    let samples = |key: &str| -> Samples {
        times[key].as_array().into_iter().flatten().filter_map(Json::as_f64).collect()
    };
    let (records, bytes) = (samples("records"), samples("bytes"));
    Ok(Row {
        what: "a record, durable".into(),
        measured: Value::Millis(records.median()),
        baseline: Value::Millis(bytes.median()),
        against: "its bytes + fdatasync",
        ratio: records.median() / bytes.median(),
        target: Some(Target::AtMost(APPEND)),
        runs: records.len(),
        spread: Some(records.spread()),
    })
}

fn opening(place: &Place, program: &Path, iterations: u64) -> Result<Row> {
    let repo = place.repository(&format!("opening-{iterations}"), 1)?;
    let folder: PathBuf = repo.join(".git/ralph/runs/0001");
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let journal = folder.join("journal.jsonl").display().to_string();
    run(Command::new(program).args(["journal", &journal, &iterations.to_string()]))?;
    let what = format!("ralph status, {iterations} iterations");
    start::against_true(place, &repo, &what, &["status"], OPENING)
}

fn answer(program: &Path, args: &[&str]) -> Result<Json> {
    let output = run(Command::new(program).args(args))?;
    serde_json::from_slice(&output).map_err(|error| format!("{}: {error}", program.display()))
}

fn run(command: &mut Command) -> Result<Vec<u8>> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    match output.status.success() {
        true => Ok(output.stdout),
        false => Err(format!("{command:?}: {}", String::from_utf8_lossy(&output.stderr))),
    }
}
