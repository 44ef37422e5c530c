//! `cargo xtask bench`: the targets of speed and size, each as a ratio to something measured in the same run,
//! so that the numbers mean the same on every machine. It informs: only a program that fails makes it fail.

mod analyse;
mod backlog;
mod custody;
mod deciding;
mod hook;
mod iteration;
mod memory;
mod place;
mod samples;
mod start;
mod streams;
mod table;
mod worked;

use std::path::Path;

use crate::{Result, step, workspace};
use place::Place;
use table::{Row, Target, Value};

/// The most the release binary may weigh.
const MEGABYTES: f64 = 8.0;

/// Agents that change nothing are what is measured here, so the breaker lets them.
const STILL: [&str; 2] = ["--set", "no_progress=off"];

/// How many iterations a growing run has behind it when it is measured.
const BEHIND: [usize; 4] = [10, 100, 1_000, 10_000];

/// The parts that can be asked for alone.
pub(crate) const PARTS: [&str; 7] =
    ["start", "iterations", "analyse", "deciding", "custody", "backlog", "hook"];

/// Which parts to measure; all of them where none is named.
#[derive(Debug, PartialEq, Eq)]
struct Wanted<'a> {
    parts: Vec<&'a str>,
    large: bool,
    /// Where the projects are; else in the target folder.
    at: Option<&'a str>,
}

impl<'a> Wanted<'a> {
    fn of(args: &[&'a str]) -> Result<Self> {
        let at = match args.iter().position(|arg| *arg == "--at") {
            Some(flag) => Some(*args.get(flag + 1).ok_or("--at takes a folder")?),
            None => None,
        };
        let rest = args.iter().filter(|arg| **arg != "--at" && Some(**arg) != at);
        let (large, parts): (Vec<&str>, Vec<&str>) = rest.partition(|arg| **arg == "--large");
        match parts.iter().find(|part| !PARTS.contains(part)) {
            Some(unknown) => Err(format!("the bench has no part '{unknown}', but {}", PARTS.join(", "))),
            None => Ok(Self { parts, large: !large.is_empty(), at }),
        }
    }

    fn has(&self, part: &str) -> bool {
        self.parts.is_empty() || self.parts.contains(&part)
    }
}

pub(crate) fn main(args: &[&str]) -> Result<()> {
    let wanted = Wanted::of(args)?;
    let args = ["build", "--release", "--package", "ralph", "--locked"];
    step::run("release build", &format!("cargo {}", args.join(" ")), workspace::cargo().args(args))?;
    let target = workspace::target_dir()?;
    let ralph = target.join("release").join("ralph");
    let place = Place::new(wanted.at.map_or(target.as_path(), Path::new), &ralph)?;
    let mut rows = vec![size(&place)?];
    let mut remarks = Vec::new();
    if wanted.has("start") {
        rows.extend(step::timed("start-up", || start::version(&place))?);
        rows.extend(step::timed("a long run", || start::long_run(&place, wanted.large))?);
    }
    if wanted.has("iterations") || wanted.has("hook") {
        // Whatever was deleted before, by an earlier bench for example.
        step::timed("a minute's rest", || place.settle(usize::MAX))?;
    }
    if wanted.has("iterations") {
        let mut sizes = vec![(100, 40, 7), (1_000, 40, 7)];
        if wanted.large {
            sizes.push((50_000, 10, 3));
        }
        for (files, iterations, rounds) in sizes {
            let name = format!("iterations in {files} files");
            rows.extend(step::timed(&name, || iteration::overhead(&place, files, iterations, rounds))?);
        }
        let mut grown: Vec<(usize, &[usize])> = vec![(100, &BEHIND[..3]), (1_000, &BEHIND[..3])];
        if wanted.large {
            grown = [100, 1_000, 50_000].map(|files| (files, &BEHIND[..])).to_vec();
        }
        for (files, behind) in grown {
            let name = format!("a growing run in {files} files");
            rows.extend(step::timed(&name, || iteration::growing(&place, files, behind))?);
        }
    }
    if wanted.has("analyse") {
        let (of_reading, left_out) =
            step::timed("reading agents' output", || analyse::reading(&place, wanted.large))?;
        rows.extend(of_reading);
        remarks.extend(left_out);
    }
    if wanted.has("deciding") {
        let (of_deciding, said) = step::timed("deciding", || deciding::deciding(&place, wanted.large))?;
        rows.extend(of_deciding);
        remarks.extend(said);
    }
    if wanted.has("custody") {
        let (of_custody, said) = step::timed("custody", || custody::custody(&place, wanted.large))?;
        rows.extend(of_custody);
        remarks.extend(said);
    }
    if wanted.has("backlog") {
        let (of_backlogs, said) = step::timed("backlogs", || backlog::against_python(&place))?;
        rows.extend(of_backlogs);
        remarks.extend(said);
    }
    if wanted.has("hook") {
        let (of_hooks, said) = step::timed("hooks", || hook::hook(&place))?;
        rows.extend(of_hooks);
        remarks.extend(said);
    }
    print!("\n{}", table::render(&rows));
    println!("\n{}", NOTES.trim());
    for remark in remarks {
        println!("{remark}");
    }
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
        target: Some(Target::AtMost(1.0)),
        runs: 1,
        spread: None,
    })
}

const NOTES: &str = "
Medians; what is compared is run in turn. Spread: 10th to 90th percentile of what was measured, in ms.
overhead: (ralph's run - the same agent in a bare shell loop) / iterations, against one refreshed
`git status --porcelain` there. ralph's start and its first snapshot are in it, spread over the iterations;
`start + first` is a run of one iteration, agent included, to tell how much that is.
after N: the same for a run that has N behind it, from the end of an agent to the next beginning, by forty more iterations and without
what lies between two agents in the shell loop. The agent takes 50 ms there: while an agent works, ralph packs what it stored.
In 50,000 files the 10,000 are behind it since there were 1,000 files. Going on and stopping: what those forty took before the first agent began and after the last one ended.
flat: ten more iterations of a run that has 200 behind it against ten more of one that has 10.
analyse: `ralph analyze FILE` on made-up output, mostly tool results. Against jq (`select(.type==\"result\")`) the
ratio says how many times as fast, against `wc -l` how many times as long.
backlog: the same on the same feature list by python3 with its standard library; both start and read the file.
hook: one stop of a session by the length of its transcript; `- scan`: without one `git status` there, which stands for the
look at the tree. bash+jq: grep for the last message, jq, the same answer, and `git status`; it keeps no record.
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_parts_are_measured_unless_some_are_named() {
        let all = Wanted::of(&["--large"]).expect("known");
        assert!(all.large && PARTS.iter().all(|part| all.has(part)));
        let one = Wanted::of(&["analyse"]).expect("known");
        assert!(!one.large && one.has("analyse") && !one.has("start") && one.at.is_none());
        let elsewhere = Wanted::of(&["hook", "--at", "somewhere", "--large"]).expect("known");
        assert!(elsewhere.large && elsewhere.at == Some("somewhere") && elsewhere.parts == ["hook"]);
        assert!(Wanted::of(&["hook", "--at"]).unwrap_err().contains("a folder"));
        assert!(Wanted::of(&["analyze"]).unwrap_err().contains("no part 'analyze'"));
    }
}
