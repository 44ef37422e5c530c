//! `cargo xtask sweep`: ralph struck at every point of every scenario, in every way. The gate tries a sample of each
//! (docs/testing.md), and all points of a session's hook.

use crate::{Result, step, workspace};

pub(crate) fn main() -> Result<()> {
    let args = [
        "test", "--package", "ralph", "--test", "crash_sweep", "--locked", "--", "--nocapture",
        "--test-threads=1",
    ];
    let repeat = format!("RALPH_SWEEP=full cargo {}", args.join(" "));
    step::run("crash sweep", &repeat, workspace::cargo().env("RALPH_SWEEP", "full").args(args))
}
