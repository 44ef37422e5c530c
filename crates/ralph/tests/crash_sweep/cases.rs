//! Every point of a scenario, struck once each, on all cores.
#![expect(clippy::disallowed_macros, reason = "a sweep says what it covered")]

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use crate::scenario::Scenario;

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
    /// The one in the middle of every second name, from the first or from the second one on.
    Every2nd(usize),
    /// The same of every so many names that the whole run does not pass, from this one on.
    Own { every: usize, from: usize },
}

/// The N-th passing of a name.
type Point = (String, usize);

/// Every point is to be struck in every way.
pub(crate) fn is_full() -> bool {
    std::env::var("RALPH_SWEEP").is_ok_and(|value| value == "full")
}

/// `RALPH_SWEEP_PART=2/7`: the second of seven parts of the cases.
fn part() -> (usize, usize) {
    let Ok(told) = std::env::var("RALPH_SWEEP_PART") else { return (1, 1) };
    let numbers = told.split_once('/').and_then(|(part, of)| Some((part.parse().ok()?, of.parse().ok()?)));
    let part = numbers.filter(|(part, of)| (1..=*of).contains(part));
    part.unwrap_or_else(|| panic!("RALPH_SWEEP_PART={told}: such as 2/7"))
}

pub(crate) fn sweep(scenario: &Scenario, how: How, sample: Sample) {
    let begun = Instant::now();
    let points = dry_run(scenario);
    let chosen = if is_full() { points.clone() } else { choose(&points, sample) };
    let only = std::env::var("RALPH_SWEEP_ONLY").unwrap_or_default();
    let (part, parts) = part();
    let cases: VecDeque<String> = chosen
        .iter()
        .map(|(name, nth)| format!("{}:{name}#{nth}", how.word()))
        .filter(|case| case.contains(&only))
        .skip(part - 1)
        .step_by(parts)
        .collect();
    let (total, tried) = (points.len(), cases.len());
    // What is looked for may be in another scenario.
    assert!(tried > 0 || !only.is_empty(), "no case of {total} was chosen");
    let failures = on_all_cores(cases, |case| (scenario.verdict)(scenario, how, case));
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

/// The points of an undisturbed run: those that are written down, or one went missing, or nobody looked at a new one.
fn dry_run(scenario: &Scenario) -> Vec<Point> {
    let copy = scenario.copy();
    copy.run().run().assert_code(scenario.code);
    let file = scenario.name.replace(' ', "_") + ".points";
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/crash_sweep").join(file);
    let known = Known::read(&std::fs::read_to_string(&file).unwrap_or_default());
    let mut counts = BTreeMap::<String, usize>::new();
    let mut points = Vec::new();
    for name in copy.points() {
        let nth = counts.entry(name.clone()).or_default();
        *nth += 1;
        // Where it depends on the time how often it is passed, no more than that is sure.
        if known.at_least.get(&name).is_none_or(|least| *nth <= *least) {
            points.push((name, *nth));
        }
    }
    if std::env::var_os("RALPH_SWEEP_BLESS").is_some() {
        std::fs::write(&file, known.blessed(&counts)).expect("write the points");
        return points;
    }
    println!("{}: {} points", scenario.name, points.len());
    let wrong = known.differences(&counts);
    assert!(
        wrong.is_empty(),
        "{}: a point is missing, or is new; RALPH_SWEEP_BLESS=1 writes down what is passed now\n{}",
        scenario.name,
        wrong.join("\n")
    );
    points
}

/// How often each name is to be passed: `3 rename index`, or `3+ rename snapshot` where that is the least.
struct Known {
    exactly: BTreeMap<String, usize>,
    at_least: BTreeMap<String, usize>,
}

impl Known {
    fn read(text: &str) -> Known {
        let mut known = Known { exactly: BTreeMap::new(), at_least: BTreeMap::new() };
        for line in text.lines() {
            let (count, name) = line.split_once(' ').expect("a count and a name");
            let (counts, count) = match count.strip_suffix('+') {
                Some(count) => (&mut known.at_least, count),
                None => (&mut known.exactly, count),
            };
            counts.insert(name.to_owned(), count.parse().expect("a count"));
        }
        known
    }

    fn differences(&self, counts: &BTreeMap<String, usize>) -> Vec<String> {
        let names: BTreeSet<&String> =
            self.exactly.keys().chain(self.at_least.keys()).chain(counts.keys()).collect();
        let wrong = |name: &&String| {
            let now = counts.get(*name).copied().unwrap_or(0);
            match self.at_least.get(*name) {
                Some(least) => {
                    (now < *least).then(|| format!("'{name}': {now} times, and was {least} at least"))
                }
                None => {
                    let was = self.exactly.get(*name).copied().unwrap_or(0);
                    (now != was).then(|| format!("'{name}': {now} times, and was {was}"))
                }
            }
        };
        names.iter().filter_map(wrong).collect()
    }

    fn blessed(&self, counts: &BTreeMap<String, usize>) -> String {
        let line = |(name, count): (&String, &usize)| match self.at_least.get(name) {
            Some(least) => format!("{}+ {name}\n", least.min(count)),
            None => format!("{count} {name}\n"),
        };
        counts.iter().map(line).collect()
    }
}

fn choose(points: &[Point], sample: Sample) -> Vec<Point> {
    let last = |name: &str| points.iter().filter(|(other, _)| other == name).count();
    let names: BTreeSet<&str> = points.iter().map(|(name, _)| name.as_str()).collect();
    let place = |name: &str| names.iter().position(|known| *known == name).unwrap_or_default();
    let known: BTreeSet<&str> =
        include_str!("whole_run.points").lines().filter_map(|line| Some(line.split_once(' ')?.1)).collect();
    let own: Vec<&str> = names.difference(&known).copied().collect();
    let middle = |name: &str, nth: usize| nth == last(name).div_ceil(2);
    let wanted = |(name, nth): &&Point| match sample {
        Sample::Ends => *nth == 1 || *nth == last(name),
        Sample::Own { every, from } => {
            middle(name, *nth) && own.iter().position(|own| own == name).is_some_and(|at| at % every == from)
        }
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
