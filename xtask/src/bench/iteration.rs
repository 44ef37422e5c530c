//! What one iteration costs beyond its agent, in repositories of several sizes.

use std::path::Path;

use super::place::{self, Place};
use super::samples::Samples;
use super::table::{Row, Target, Value};
use super::worked::Worked;
use crate::Result;

/// ralph's exit code for a run that ended at its limit of iterations.
pub(super) const LIMIT_REACHED: i32 = 3;
/// Files that the busy agent changes each time.
const CHANGED: usize = 10;
/// The most that such an iteration may cost, in calls of `git status`.
const TEN_CHANGED: f64 = 5.0;
/// `git status` calls before, and again after, ralph's run of a round.
const STATUSES: usize = 5;

/// Iterations by which a run is continued to measure it, and how often.
const MORE: usize = 40;
const TIMES: usize = 7;
/// A history of more iterations is made while the repository has no more than so many files, and the others come then: in a large one it
/// would take an hour.
const MANY: usize = 1_000;
const FEW: usize = 1_000;
/// What an agent does that takes a while.
const WORK: &str = "sleep 0.05\n";
/// Where an agent writes down when it begins and when it ends, beside its repository.
const TIMES_OF: &str = "times";
/// The most that a long history may cost; the noise of a small difference included.
const FLAT: f64 = 1.2;

/// Ten files, all over the repository, with another content each time.
fn changes(files: usize) -> String {
    (0..CHANGED)
        .map(|number| format!("echo \"$$ {number}\" > {}\n", place::file(number * files / CHANGED)))
        .collect()
}

/// The overhead when a run has this many iterations behind it, each of which changed ten files: against `git status`,
/// and against the first of these. And what it takes to go on with it, and to stop again.
pub(super) fn growing(place: &Place, files: usize, behind: &[usize]) -> Result<Vec<Row>> {
    let mut quick = Bench::new(place, &format!("{files}-growing"), files, MORE, &changes(files))?;
    let mut bench = quick.slower()?;
    let mut done = 0;
    let mut first: Option<Vec<f64>> = None;
    let mut rows = Vec::new();
    for count in behind {
        if files > FEW && *count > MANY {
            quick = Bench::new(place, &format!("{files}-later"), FEW, MORE, &changes(FEW))?;
            quick.goes_on(*count)?;
            place.add_files(&quick.repo, FEW..files)?;
            quick.script = changes(files);
            bench = quick.slower()?;
            place.settle(*count)?;
            done = *count;
        } else if done < *count {
            quick.goes_on(*count)?;
            place.settle(*count - done)?;
            done = *count;
        }
        let (mut overhead, mut around, mut status) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..TIMES {
            let mut calls = Samples::default();
            bench.statuses(&mut calls)?;
            let (_, alone) = bench.watched(|| bench.shell(&bench.agent_loop))?;
            done += MORE;
            let (took, worked) = bench.watched(|| bench.goes_on(done))?;
            overhead.push(worked.between() - alone.between());
            around.push(took - worked.whole());
            bench.statuses(&mut calls)?;
            status.push(calls.median());
        }
        let what = format!("{files} files, 10 changed, after {count}");
        rows.push(row(what, &overhead, &status, "git status", Some(Target::AtMost(TEN_CHANGED))));
        match &first {
            Some(first) => {
                let flat = Some(Target::AtMost(FLAT));
                rows.push(row(format!("  flat: after {count}"), &overhead, first, "the first", flat));
            }
            None => first = Some(overhead),
        }
        rows.push(row("  going on and stopping".into(), &around, &status, "git status", None));
    }
    Ok(rows)
}

/// The overhead of an agent that changes nothing and of one that changes ten files each time.
pub(super) fn overhead(place: &Place, files: usize, iterations: usize, rounds: usize) -> Result<Vec<Row>> {
    let changes = changes(files);
    let mut rows = Vec::new();
    for (word, script, target) in [("0 changed", "", 3.0), ("10 changed", changes.as_str(), TEN_CHANGED)] {
        let name = format!("{files}-{}", word.replace(' ', "-"));
        let bench = Bench::new(place, &name, files, iterations, script)?;
        let round = bench.rounds(rounds)?;
        rows.extend(round.rows(&format!("{files} files, {word}"), iterations, target));
    }
    Ok(rows)
}

/// An agent and its repository.
struct Bench<'a> {
    place: &'a Place,
    repo: std::path::PathBuf,
    name: String,
    script: String,
    iterations: usize,
    agent: String,
    /// The loop that runs only the agent, and the one that also asks git.
    agent_loop: std::path::PathBuf,
    status_loop: std::path::PathBuf,
}

/// Times, in milliseconds, round by round.
#[derive(Default)]
struct Rounds {
    ralph: Vec<f64>,
    one: Vec<f64>,
    agent_loop: Vec<f64>,
    status_loop: Vec<f64>,
    /// Medians of the calls in a round.
    status: Vec<f64>,
}

impl<'a> Bench<'a> {
    fn new(place: &'a Place, name: &str, files: usize, iterations: usize, script: &str) -> Result<Self> {
        let repo = place.repository(name, files)?;
        Self::over(place, repo, name, iterations, script)
    }

    /// The same agent in the same repository, with as much time as leaves room for what is done beside an agent; it writes
    /// down its times.
    fn slower(&self) -> Result<Self> {
        let name = format!("{}-slower", self.name);
        let now = format!("date +%s%N >> ../{name}.{TIMES_OF}\n");
        let script = format!("{now}{}{WORK}{now}", self.script);
        Self::over(self.place, self.repo.clone(), &name, self.iterations, &script)
    }

    /// How long something takes that runs the agent again and again, and when the agent worked.
    fn watched(&self, run: impl FnOnce() -> Result<f64>) -> Result<(f64, Worked)> {
        let times = self.place.script(&format!("{}.{TIMES_OF}", self.name), "")?;
        let took = run()?;
        let text =
            std::fs::read_to_string(&times).map_err(|error| format!("{}: {error}", times.display()))?;
        Ok((took, Worked::read(&text)?))
    }

    fn over(
        place: &'a Place,
        repo: std::path::PathBuf,
        name: &str,
        iterations: usize,
        script: &str,
    ) -> Result<Self> {
        place.script(&format!("{name}.sh"), &format!("{script}echo worked\n"))?;
        let agent = format!("sh ../{name}.sh");
        let shell_loop = |what: &str, more: &str| {
            let text = format!(
                "i=0\nwhile [ $i -lt {iterations} ]; do\n  sh -c '{agent}'\n{more}  i=$((i + 1))\ndone\n"
            );
            place.script(&format!("{name}-{what}.sh"), &text)
        };
        let agent_loop = shell_loop("loop", "")?;
        let status_loop = shell_loop("status-loop", "  git status --porcelain\n")?;
        let (name, script) = (name.to_owned(), script.to_owned());
        Ok(Self { place, repo, name, script, iterations, agent, agent_loop, status_loop })
    }

    fn rounds(&self, rounds: usize) -> Result<Rounds> {
        let mut times = Rounds::default();
        // Not counted: caches are cold, and the files have their first change.
        self.shell(&self.status_loop)?;
        self.ralph(1)?;
        for _ in 0..rounds {
            let mut status = Samples::default();
            times.agent_loop.push(self.shell(&self.agent_loop)?);
            self.statuses(&mut status)?;
            times.ralph.push(self.ralph(self.iterations)?);
            self.statuses(&mut status)?;
            times.status_loop.push(self.shell(&self.status_loop)?);
            times.one.push(self.ralph(1)?);
            times.status.push(status.median());
        }
        Ok(times)
    }

    fn ralph(&self, iterations: usize) -> Result<f64> {
        self.run(iterations, &["--fresh"])
    }

    /// The same run, up to this many iterations in all.
    fn goes_on(&self, iterations: usize) -> Result<f64> {
        self.run(iterations, &[])
    }

    fn run(&self, iterations: usize, more: &[&str]) -> Result<f64> {
        let limit = iterations.to_string();
        let args = ["run", "bench", "--agent-cmd", &self.agent, "--max-iterations", &limit, "--quiet"];
        let args = [&args[..], more, &super::STILL].concat();
        self.place.time(&mut self.place.ralph(&self.repo, &args), LIMIT_REACHED)
    }

    fn shell(&self, script: &Path) -> Result<f64> {
        self.place.time(self.place.command("sh", &self.repo).arg(script), 0)
    }

    /// Some calls of `git status`, after one that refreshes the index.
    fn statuses(&self, samples: &mut Samples) -> Result<()> {
        let status =
            || self.place.time(self.place.command("git", &self.repo).args(["status", "--porcelain"]), 0);
        status()?;
        for _ in 0..STATUSES {
            samples.push(status()?);
        }
        Ok(())
    }
}

impl Rounds {
    fn rows(&self, what: &str, iterations: usize, target: f64) -> [Row; 3] {
        let count = iterations as f64;
        let overhead: Vec<f64> =
            self.ralph.iter().zip(&self.agent_loop).map(|(ralph, agent)| (ralph - agent) / count).collect();
        [
            row(
                format!("overhead: {what}"),
                &overhead,
                &self.status,
                "git status",
                Some(Target::AtMost(target)),
            ),
            row(
                format!("  {iterations} iterations"),
                &self.ralph,
                &self.status_loop,
                "loop + git status",
                None,
            ),
            row("  start + first".into(), &self.one, &self.status, "git status", None),
        ]
    }
}

/// The ratio is the median of the rounds' ratios: a machine that is busy for a while slows both sides of a
/// round.
fn row(
    what: String,
    measured: &[f64],
    baseline: &[f64],
    against: &'static str,
    target: Option<Target>,
) -> Row {
    let samples = |times: &[f64]| times.iter().copied().collect::<Samples>();
    let ratios: Samples =
        measured.iter().zip(baseline).map(|(measured, baseline)| measured / baseline).collect();
    let (measured, baseline) = (samples(measured), samples(baseline));
    Row {
        what,
        measured: Value::Millis(measured.median()),
        baseline: Value::Millis(baseline.median()),
        against,
        ratio: ratios.median(),
        target,
        runs: measured.len(),
        spread: Some(measured.spread()),
    }
}
