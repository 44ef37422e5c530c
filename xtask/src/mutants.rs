//! `cargo xtask mutants`: does a test fail for every change to a rule? Not part of `test`: it takes most of an hour.

use crate::{Result, step, workspace};

const VERSION: &str = "27.1.0";

/// The rules, and their order.
const FILES: [&str; 13] = [
    "gate.rs",
    "evidence.rs",
    "reviews.rs",
    "breaker.rs",
    "saturation.rs",
    "questions.rs",
    "agents.rs",
    "limits.rs",
    "machine.rs",
    "machine/begin.rs",
    "machine/conclude.rs",
    "machine/items.rs",
    "state.rs",
];

/// Only tests that can notice: the others would make every mutant wait.
const TESTS: [&str; 10] = [
    "gate::", "evidence::", "reviews::", "breaker::", "saturation::", "questions::", "agents::", "limits::",
    "machine::", "journal::",
];

pub(crate) fn main(rest: &[&str]) -> Result<()> {
    let tools = workspace::target_dir()?.join("tools");
    let tool = tools.join("bin/cargo-mutants");
    if !tool.exists() {
        let root = tools.display().to_string();
        let args = ["install", "--locked", "--version", VERSION, "--root", &root, "cargo-mutants"];
        step::run("cargo-mutants", &format!("cargo {}", args.join(" ")), workspace::cargo().args(args))?;
    }
    let output = workspace::target_dir()?.join("mutants").display().to_string();
    let files: Vec<String> = FILES.iter().map(|file| format!("crates/ralph-core/src/{file}")).collect();
    // Only what is tested is built; a rule without its limit lets a simulated run go on for ever, which the time tells.
    let mut args = vec![
        "mutants",
        "--package",
        "ralph-core",
        "--output",
        &output,
        "--no-shuffle",
        "--jobs",
        "2",
        "--timeout",
        "60",
        "--cargo-arg=--lib",
    ];
    files.iter().for_each(|file| args.extend(["--file", file]));
    args.extend(rest);
    args.extend(["--", "--lib", "--"]);
    args.extend(TESTS);
    step::run(
        "mutants",
        &format!("PROPTEST_CASES=16 cargo {}", args.join(" ")),
        workspace::program(&tool).env("PROPTEST_CASES", "16").args(args),
    )
}
