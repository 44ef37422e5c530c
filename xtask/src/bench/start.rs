//! What does not depend on the size of a project: starting, and how a long run weighs.

use std::path::Path;

use super::place::Place;
use super::samples::Samples;
use super::table::{Row, Target, Value};
use crate::Result;

const STARTS: usize = 300;
/// The long run, and what it is compared with.
const LONG: usize = 200;
const LARGE: usize = 10_000;
const SHORT: usize = 10;
/// Iterations that each is then continued by, and how often.
const MORE: usize = 10;
const TIMES: usize = 9;
/// The most that a long history may cost; the noise of a small difference included.
const FLAT: f64 = 1.2;

/// `ralph --version` against a program that does nothing.
pub(super) fn version(place: &Place) -> Result<Vec<Row>> {
    let home = place.script("empty", "")?;
    let cwd = home.parent().unwrap_or(&home);
    Ok(vec![against_true(place, cwd, "ralph --version", &["--version"], 2.0)?])
}

/// `ralph status` after a long run, and whether its iterations cost the same as a short one's.
pub(super) fn long_run(place: &Place, large: bool) -> Result<Vec<Row>> {
    let behind = if large { LARGE } else { LONG };
    place.script("still.sh", "echo nothing to do\n")?;
    let agent = "sh ../still.sh";
    let (long, short) = (place.repository("long", 100)?, place.repository("short", 100)?);
    let run = |repo: &Path, iterations: usize| {
        let limit = iterations.to_string();
        let args = ["run", "bench", "--agent-cmd", agent, "--max-iterations", &limit, "--quiet"];
        let args = [&args[..], &super::STILL].concat();
        place.time(&mut place.ralph(repo, &args), super::iteration::LIMIT_REACHED)
    };
    run(&long, behind)?;
    run(&short, SHORT)?;
    place.settle(behind)?;
    let what = format!("ralph status, after {behind} iterations");
    let status = against_true(place, &long, &what, &["status"], 5.0)?;
    let (mut of_long, mut of_short) = (Samples::default(), Samples::default());
    for time in 1..=TIMES {
        of_short.push(run(&short, SHORT + time * MORE)?);
        of_long.push(run(&long, behind + time * MORE)?);
    }
    let flat = Row {
        what: format!("flat: {MORE} iterations after {behind}"),
        measured: Value::Millis(of_long.median()),
        baseline: Value::Millis(of_short.median()),
        against: "10 after 10",
        ratio: of_long.median() / of_short.median(),
        target: Some(Target::AtMost(FLAT)),
        runs: TIMES,
        spread: Some(of_long.spread()),
    };
    Ok(vec![status, flat])
}

pub(super) fn against_true(place: &Place, cwd: &Path, what: &str, args: &[&str], target: f64) -> Result<Row> {
    let nothing = ["/bin/true", "/usr/bin/true"].into_iter().find(|path| Path::new(path).exists());
    let nothing = nothing.ok_or("this machine has no /bin/true to measure against")?;
    let (mut ralph, mut baseline) = (Samples::default(), Samples::default());
    for _ in 0..STARTS {
        baseline.push(place.time(&mut place.command(nothing, cwd), 0)?);
        ralph.push(place.time(&mut place.ralph(cwd, args), 0)?);
    }
    Ok(Row {
        what: what.into(),
        measured: Value::Millis(ralph.median()),
        baseline: Value::Millis(baseline.median()),
        against: "true",
        ratio: ralph.median() / baseline.median(),
        target: Some(Target::AtMost(target)),
        runs: ralph.len(),
        spread: Some(ralph.spread()),
    })
}
