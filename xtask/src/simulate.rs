//! `cargo xtask simulate`: many seeded runs with hostile agents under every profile, as a release build on all cores.
//! What must not happen makes it fail; how long it takes is told and judged by nobody.

use crate::{Result, step, workspace};

pub(crate) fn main(runs: &str) -> Result<()> {
    let example = ["--release", "--package", "ralph-core", "--example", "simulate", "--locked"];
    let build = [&["build"], &example[..]].concat();
    step::run("release build", &format!("cargo {}", build.join(" ")), workspace::cargo().args(&build))?;
    let run = [&["run", "--quiet"], &example[..], &["--", runs]].concat();
    step::run("hostile agents", &format!("cargo {}", run.join(" ")), workspace::cargo().args(&run))
}
