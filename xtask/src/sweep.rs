//! `cargo xtask sweep`: the crash sweep at every point, both scenarios. The gate tries all kills of one scenario, and of the
//! rest a sample.

use crate::{Result, step, workspace};

pub(crate) fn main() -> Result<()> {
    let args = [
        "test", "--package", "ralph", "--test", "crash_sweep", "--locked", "--", "--nocapture",
        "--test-threads=1",
    ];
    let repeat = format!("RALPH_SWEEP=full cargo {}", args.join(" "));
    step::run("crash sweep", &repeat, workspace::cargo().env("RALPH_SWEEP", "full").args(args))
}
