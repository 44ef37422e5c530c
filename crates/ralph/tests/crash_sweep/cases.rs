//! Every point of a scenario, struck once each, on all cores.
#![expect(clippy::disallowed_macros, reason = "a sweep says what it covered")]

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use crate::scenario::Scenario;
use crate::verdict;

pub(crate) const POINT: &str = "RALPH_CRASH_POINT";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum How {
    Kill,
    DiskFull,
    DiskFails,
}

impl How {
    fn word(self) -> &'static str {
        match self {
            How::Kill => "kill",
            How::DiskFull => "enospc",
            How::DiskFails => "eio",
        }
    }
}

/// Which passings of each name are struck where the sweep is not to be full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sample {
    /// The first and the last passing of each name.
    Ends,
    /// The one in the middle.
    Middle,
    /// The same of every second name, from the first or from the second one on.
    Every2nd(usize),
}

/// The N-th passing of a name.
type Point = (String, usize);

/// Every point is to be struck in every way.
pub(crate) fn is_full() -> bool {
    std::env::var("RALPH_SWEEP").is_ok_and(|value| value == "full")
}

pub(crate) fn sweep(scenario: &Scenario, how: How, sample: Sample) {
    let begun = Instant::now();
    let points = dry_run(scenario);
    let chosen = if is_full() { points.clone() } else { choose(&points, sample) };
    let only = std::env::var("RALPH_SWEEP_ONLY").unwrap_or_default();
    let cases: VecDeque<String> = chosen
        .iter()
        .map(|(name, nth)| format!("{}:{name}#{nth}", how.word()))
        .filter(|case| case.contains(&only))
        .collect();
    let (total, tried) = (points.len(), cases.len());
    assert!(tried > 0, "no case of {total} has '{only}' in its name");
    let failures = on_all_cores(cases, |case| verdict::check(scenario, how, case));
    println!(
        "{}, {}: {total} points, {tried} struck, {} failed, {:.1} s",
        scenario.name,
        how.word(),
        failures.len(),
        begun.elapsed().as_secs_f64()
    );
    let told: Vec<String> = failures.iter().map(|(case, why)| format!("=== {case}\n{why}")).collect();
    assert!(told.is_empty(), "{} of {tried} cases failed\n{}", told.len(), told.join("\n"));
}

/// The points of an undisturbed run. Fewer of a name than there were is a point that went missing.
fn dry_run(scenario: &Scenario) -> Vec<Point> {
    let copy = scenario.copy();
    copy.run().run().assert_code(0);
    let mut counts = BTreeMap::<String, usize>::new();
    let mut points = Vec::new();
    for name in copy.points() {
        let nth = counts.entry(name.clone()).or_default();
        *nth += 1;
        points.push((name, *nth));
    }
    let listed: String = counts.iter().map(|(name, count)| format!("{count} {name}\n")).collect();
    println!("{}: {} points\n{listed}", scenario.name, points.len());
    for line in expected(scenario.name).lines() {
        let (count, name) = line.split_once(' ').expect("a count and a name");
        let now = counts.get(name).copied().unwrap_or(0);
        assert!(
            now >= count.parse().expect("a count"),
            "{}: '{name}' was passed {count} times and is now {now} times: a point is missing, or \
             tests/crash_sweep/ is to be changed\n{listed}",
            scenario.name
        );
    }
    points
}

fn expected(scenario: &str) -> &'static str {
    match scenario {
        "whole run" => include_str!("whole_run.points"),
        _ => include_str!("taken_up_again.points"),
    }
}

fn choose(points: &[Point], sample: Sample) -> Vec<Point> {
    let last = |name: &str| points.iter().filter(|(other, _)| other == name).count();
    let names: BTreeSet<&str> = points.iter().map(|(name, _)| name.as_str()).collect();
    let place = |name: &str| names.iter().position(|known| *known == name).unwrap_or_default();
    let middle = |name: &str, nth: usize| nth == last(name).div_ceil(2);
    let wanted = |(name, nth): &&Point| match sample {
        Sample::Ends => *nth == 1 || *nth == last(name),
        Sample::Middle => middle(name, *nth),
        Sample::Every2nd(from) => middle(name, *nth) && place(name) % 2 == from,
    };
    points.iter().filter(wanted).cloned().collect()
}

/// The cases that failed, and why.
fn on_all_cores(cases: VecDeque<String>, check: impl Fn(&str) + Sync) -> Vec<(String, String)> {
    let cases = Mutex::new(cases);
    let failures = Mutex::new(Vec::new());
    let next = || cases.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
    // Most of a case is waiting: for processes, and for the disk.
    let threads = 2 * thread::available_parallelism().map_or(2, usize::from);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(case) = next() {
                    let Err(panic) = catch_unwind(AssertUnwindSafe(|| check(&case))) else { continue };
                    let text = panic.downcast_ref::<String>().cloned();
                    let text = text.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string));
                    let failure = (case, text.unwrap_or_default());
                    failures.lock().unwrap_or_else(PoisonError::into_inner).push(failure);
                }
            });
        }
    });
    failures.into_inner().unwrap_or_else(PoisonError::into_inner)
}
