//! What the seeds say about reading, row by row: blocks, signals, completion language, decisions of words alone.
//! `seeds.toml` maps each row to its tests.

mod seed_000;
mod seed_001;
mod seed_002;
mod seed_004;

use ralph_core::analysis::{self, Question};
use ralph_core::report::{Builder, IterationReport};
use ralph_core::time::Time;
use ralph_core::transcript::{Decoder, Format};
use serde_json::Value;

/// What an agent's plain output amounts to.
fn read(output: &str) -> IterationReport {
    let mut decoder = Decoder::new(Format::Auto);
    let mut builder = Builder::default();
    decoder.feed(output.as_bytes(), |item| builder.add(item));
    decoder.finish(|item| builder.add(item));
    builder.finish()
}

fn analyse(profile: &str, output: &str) -> Value {
    let policy = ralph_core::profile::profile(profile).expect("a profile").policy();
    let question = Question { policy: &policy, format: Format::Text, iteration: 5, at: Time::from_millis(0) };
    analysis::analyse(&read(output), &[], question)
}

/// The word of the decision.
fn decision(profile: &str, output: &str) -> String {
    analyse(profile, output)["exit_decision"].as_str().expect("a word").to_owned()
}

fn count(words: &str) -> u32 {
    read(words).indicators.count
}

/// A status block with these values.
fn block(status: &str, tests: &str, exit_signal: &str, recommendation: &str) -> String {
    format!(
        "---RALPH_STATUS---\nSTATUS: {status}\nTASKS_COMPLETED_THIS_LOOP: 1\nFILES_MODIFIED: 2\n\
         TESTS_STATUS: {tests}\nWORK_TYPE: IMPLEMENTATION\nEXIT_SIGNAL: {exit_signal}\n\
         RECOMMENDATION: {recommendation}\n---END_RALPH_STATUS---"
    )
}
