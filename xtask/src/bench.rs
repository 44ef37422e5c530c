//! `cargo xtask bench`: the targets of speed and size, each as a ratio to something measured in the same run,
//! so that the numbers mean the same on every machine. It informs: only a program that fails makes it fail.

mod iteration;
mod place;
mod samples;
mod start;
mod table;

use crate::{Result, step, workspace};
use place::Place;
use table::{Row, Value};

/// The most the release binary may weigh.
const MEGABYTES: f64 = 8.0;

pub(crate) fn main(large: bool) -> Result<()> {
    let args = ["build", "--release", "--package", "ralph", "--locked"];
    step::run("release build", &format!("cargo {}", args.join(" ")), workspace::cargo().args(args))?;
    let target = workspace::target_dir()?;
    let ralph = target.join("release").join("ralph");
    let place = Place::new(&target, &ralph)?;
    let mut rows = vec![size(&place)?];
    rows.extend(step::timed("start-up", || start::version(&place))?);
    rows.extend(step::timed("a long run", || start::long_run(&place))?);
    let mut sizes = vec![(100, 40, 7), (1_000, 40, 7)];
    if large {
        sizes.push((50_000, 10, 3));
    }
    for (files, iterations, rounds) in sizes {
        let name = format!("iterations in {files} files");
        rows.extend(step::timed(&name, || iteration::overhead(&place, files, iterations, rounds))?);
    }
    print!("\n{}", table::render(&rows));
    println!("\n{}", NOTES.trim());
    Ok(())
}

fn size(place: &Place) -> Result<Row> {
    let file =
        std::fs::metadata(&place.ralph).map_err(|error| format!("{}: {error}", place.ralph.display()))?;
    let megabytes = file.len() as f64 / 1e6;
    Ok(Row {
        what: "release binary".into(),
        measured: Value::Megabytes(megabytes),
        baseline: Value::Megabytes(MEGABYTES),
        against: "the limit",
        ratio: megabytes / MEGABYTES,
        target: Some(1.0),
        runs: 1,
        spread: None,
    })
}

const NOTES: &str = "
Medians; what is compared is run in turn. Spread: 10th to 90th percentile of what was measured, in ms.
overhead: (ralph's run - the same agent in a bare shell loop) / iterations, against one refreshed
`git status --porcelain` there. ralph's start and its first snapshot are in it, spread over the iterations;
`start + first` is a run of one iteration, agent included, to tell how much that is.
flat: ten more iterations of a run that has 200 behind it against ten more of one that has 10.
";
