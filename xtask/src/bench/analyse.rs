//! Reading what agents print: `ralph analyze` against programs that everybody has, on files of several sizes.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use super::memory::peak;
use super::place::Place;
use super::samples::Samples;
use super::streams::{self, Shape};
use super::table::{Row, Target, Value};
use crate::Result;

/// The most memory that reading may take, whatever the size.
const MEGABYTES: f64 = 16.0;
/// Bytes that take so long to read that the reader can be watched.
const LONG_ENOUGH: u64 = 10_000_000;
const FILTER: &str = "select(.type==\"result\")";

/// A file to be read, and what is wanted of it.
struct Subject {
    what: &'static str,
    shape: Shape,
    bytes: u64,
    rounds: usize,
    /// How many times as fast as jq.
    jq: Option<f64>,
    /// How many times as long as `wc -l`.
    wc: Option<f64>,
}

/// Rows, and a word on what could not be measured.
pub(super) fn reading(place: &Place, large: bool) -> Result<(Vec<Row>, Vec<String>)> {
    let stream = |what, bytes, rounds| Subject {
        what,
        shape: Shape::Claude,
        bytes,
        rounds,
        jq: Some(15.0),
        wc: Some(5.0),
    };
    let session =
        |what, bytes, rounds| Subject { what, shape: Shape::Session, bytes, rounds, jq: Some(6.0), wc: None };
    let other = |what, shape| Subject { what, shape, bytes: 20_000_000, rounds: 5, jq: None, wc: None };
    let mut subjects = vec![
        stream("stream-json, 1 MB", 1_000_000, 41),
        stream("stream-json, 100 MB", 100_000_000, 7),
        session("session, 1 MB", 1_000_000, 41),
        session("session, 100 MB", 100_000_000, 7),
        other("codex, 20 MB", Shape::Codex),
        other("opencode, 20 MB", Shape::Opencode),
        other("gemini, 20 MB", Shape::Gemini),
    ];
    if large {
        subjects.push(stream("stream-json, 1 GB", 1_000_000_000, 3));
        subjects.push(session("session, 1 GB", 1_000_000_000, 3));
    }
    let jq = has("jq");
    let mut rows = Vec::new();
    let mut remarks = Vec::new();
    for subject in &subjects {
        let file = place.at("stream.jsonl");
        streams::write(&file, subject.shape, subject.bytes)?;
        rows.extend(subject.times(place, &file, jq)?);
        if subject.bytes >= LONG_ENOUGH {
            match peak(&mut analyze(place, &file))? {
                Some(megabytes) => rows.push(memory(megabytes)),
                None => remarks.push("Peak memory is read from /proc, which this system has not: left out."),
            }
        }
        let _ = fs::remove_file(&file);
    }
    if !jq {
        remarks.push("jq is not installed: the ratios to it are left out.");
    }
    remarks.dedup();
    Ok((rows, remarks.into_iter().map(String::from).collect()))
}

fn has(program: &str) -> bool {
    let mut command = Command::new(program);
    command.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

impl Subject {
    fn times(&self, place: &Place, file: &Path, jq: bool) -> Result<Vec<Row>> {
        let cwd = file.parent().unwrap_or(file);
        let analyze = || analyze(place, file);
        let wc = || {
            let mut wc = place.command("wc", cwd);
            wc.arg("-l").arg(file);
            wc
        };
        let filter = || {
            let mut filter = place.command("jq", cwd);
            filter.args(["-c", FILTER]).arg(file);
            filter
        };
        understood(&mut analyze())?;
        place.time(&mut wc(), 0)?;
        let (mut ralph, mut lines, mut filtered) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..self.rounds {
            lines.push(place.time(&mut wc(), 0)?);
            ralph.push(place.time(&mut analyze(), 0)?);
            if jq {
                filtered.push(place.time(&mut filter(), 0)?);
            }
        }
        let mut rows = Vec::new();
        if jq {
            let ratio = ratio(&filtered, &ralph);
            let target = self.jq.map(Target::AtLeast);
            rows.push(row(&format!("analyse {}", self.what), &ralph, &filtered, "jq", ratio, target));
        }
        let what = if jq { "  the same".to_owned() } else { format!("analyse {}", self.what) };
        let target = self.wc.map(Target::AtMost);
        rows.push(row(&what, &ralph, &lines, "wc -l", ratio(&ralph, &lines), target));
        Ok(rows)
    }
}

fn analyze(place: &Place, file: &Path) -> Command {
    let mut command = place.ralph(file.parent().unwrap_or(file), &["analyze"]);
    command.arg(file);
    command
}

/// Reading fast and wrong would be no use: the report at the end of every file must be found.
fn understood(command: &mut Command) -> Result<()> {
    let output = command.stdout(Stdio::piped()).output().map_err(|error| format!("{command:?}: {error}"))?;
    let answer: serde_json::Value =
        serde_json::from_slice(&output.stdout).map_err(|error| format!("{command:?}: {error}"))?;
    let found = |path: &str| answer.pointer(path).and_then(serde_json::Value::as_bool);
    if found("/ralph_status/exit_signal") == Some(true) {
        return Ok(());
    }
    Err(format!("{command:?} did not find the report at the end:\n{answer:#}"))
}

fn memory(megabytes: f64) -> Row {
    Row {
        what: "  peak memory".into(),
        measured: Value::Megabytes(megabytes),
        baseline: Value::Megabytes(MEGABYTES),
        against: "the limit",
        ratio: megabytes / MEGABYTES,
        target: Some(Target::AtMost(1.0)),
        runs: 1,
        spread: None,
    }
}

/// The median of the rounds' ratios.
fn ratio(over: &[f64], under: &[f64]) -> f64 {
    over.iter().zip(under).map(|(over, under)| over / under).collect::<Samples>().median()
}

fn row(
    what: &str,
    measured: &[f64],
    baseline: &[f64],
    against: &'static str,
    ratio: f64,
    target: Option<Target>,
) -> Row {
    let samples = |times: &[f64]| times.iter().copied().collect::<Samples>();
    let (measured, baseline) = (samples(measured), samples(baseline));
    Row {
        what: what.into(),
        measured: Value::Millis(measured.median()),
        baseline: Value::Millis(baseline.median()),
        against,
        ratio,
        target,
        runs: measured.len(),
        spread: Some(measured.spread()),
    }
}
