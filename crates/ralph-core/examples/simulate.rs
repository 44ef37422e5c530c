//! Many seeded runs with hostile agents under every profile, on all cores; `cargo xtask simulate` starts it.
//! The first argument is how many for each profile; with a profile's name, only that one.
#![expect(clippy::disallowed_macros, reason = "a table for people")]

use std::process::ExitCode;
use std::thread;
use std::time::Instant;

use ralph_core::profile::{EvidenceNeeded, PROFILES, Policy};
use ralph_core::simulation::Reader;
use ralph_core::simulation::hostile::Survey;

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let runs: u64 = args.next().and_then(|runs| runs.parse().ok()).unwrap_or(100_000);
    let only = args.next();
    let begun = Instant::now();
    let mut total = Survey::default();
    let mut failed = false;
    for profile in PROFILES.iter().filter(|profile| only.as_deref().is_none_or(|name| name == profile.name)) {
        let began = Instant::now();
        let policy = profile.policy();
        let survey = on_all_cores(&policy, runs);
        print(profile.name, &policy, &survey, began.elapsed().as_secs_f64());
        failed |= !survey.violations.is_empty();
        total = total.and(survey);
    }
    let (seconds, iterations, records) = (begun.elapsed().as_secs_f64(), total.iterations, total.records);
    println!("{} runs, {iterations} iterations, {records} decisions in {seconds:.1} s", total.runs);
    if failed || total.runs == 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

fn on_all_cores(policy: &Policy, runs: u64) -> Survey {
    let cores = thread::available_parallelism().map_or(1, |cores| cores.get() as u64);
    thread::scope(|scope| {
        let share = |core: u64| runs * core / cores..runs * (core + 1) / cores;
        let workers: Vec<_> = (0..cores)
            .map(|core| scope.spawn(move || Survey::of(policy, share(core), &mut Reader::default())))
            .collect();
        workers.into_iter().fold(Survey::default(), |all, worker| match worker.join() {
            Ok(survey) => all.and(survey),
            Err(panic) => std::panic::resume_unwind(panic),
        })
    })
}

fn print(name: &str, policy: &Policy, survey: &Survey, seconds: f64) {
    let list = |counts: &std::collections::BTreeMap<&str, u64>| {
        let list: Vec<String> = counts.iter().map(|(word, count)| format!("{word} {count}")).collect();
        if list.is_empty() { "none".to_owned() } else { list.join(", ") }
    };
    let facts = match policy.evidence {
        EvidenceNeeded::Required => "checks and items",
        EvidenceNeeded::Backlog => "items",
        EvidenceNeeded::Off => "no facts",
    };
    println!("{name}: {} runs held against {facts}, {seconds:.1} s", survey.runs);
    println!("  stops              {}", list(&survey.stops));
    println!("  complete           {}", list(&survey.complete));
    println!("  ... but not done   {}", list(&survey.wrong));
    println!("  must not happen    {}", survey.violations.len());
    for violation in &survey.violations {
        println!("    {violation}");
    }
}
