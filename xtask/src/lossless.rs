//! `cargo xtask lossless`: many made-up task files, edited by chance. A byte that changes and should not makes it fail.

use crate::{Result, step, workspace};

pub(crate) fn main(files: &str) -> Result<()> {
    let run = [
        "run", "--quiet", "--release", "--package", "ralph-core", "--example", "lossless", "--locked", "--",
        files,
    ];
    step::run("edits of task files", &format!("cargo {}", run.join(" ")), workspace::cargo().args(run))
}
