//! The runs of a project, each in a folder of its own: `runs/0001/journal.jsonl` and what its iterations left.

use std::path::{Path, PathBuf};

use ralph_core::journal::Opened;
use ralph_core::state::{Iteration, State};

use super::{JournalFile, cannot_continue, files};
use crate::error::{self, Result};

#[derive(Debug, Clone)]
pub struct Runs {
    dir: PathBuf,
}

/// One run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    pub number: u64,
    dir: PathBuf,
}

impl Runs {
    pub fn of(truth: &Path) -> Self {
        Self { dir: truth.join("runs") }
    }

    /// All runs, oldest first. A folder whose journal was never begun is none.
    pub fn all(&self) -> Vec<Run> {
        let mut runs = self.folders();
        runs.retain(|run| std::fs::metadata(run.journal()).is_ok_and(|data| data.len() > 0));
        runs
    }

    fn folders(&self) -> Vec<Run> {
        let mut runs: Vec<Run> = std::fs::read_dir(&self.dir)
            .into_iter()
            .flatten()
            .filter_map(|entry| {
                let entry = entry.ok()?;
                let number = entry.file_name().to_str()?.parse().ok()?;
                Some(Run { number, dir: entry.path() })
            })
            .collect();
        runs.sort_by_key(|run| run.number);
        runs
    }

    /// The highest iteration number that left anything behind, whatever became of its journal.
    pub fn last_iteration(&self) -> u64 {
        let folders = |run: &Run| std::fs::read_dir(&run.dir).into_iter().flatten().flatten();
        let number = |name: &str| name.strip_prefix("iteration-")?.parse().ok();
        let last = |run: &Run| folders(run).filter_map(|entry| number(entry.file_name().to_str()?)).max();
        // Numbers only grow, so the newest run that has any has the highest.
        self.folders().iter().rev().find_map(last).unwrap_or(0)
    }

    /// What there is to show: the same run that `newest` means, also if its journal is damaged. Where none was begun,
    /// the last attempt.
    pub fn shown(&self) -> Result<Option<(Run, Opened)>> {
        let mut attempt = None;
        for run in self.all().into_iter().rev() {
            let opened = run.peek()?;
            if opened.state.run.is_some() || !opened.writable() {
                return Ok(Some((run, opened)));
            }
            attempt.get_or_insert((run, opened));
        }
        Ok(attempt)
    }

    /// The newest run that was really begun, and how it stands. One whose journal is damaged is not passed over: it may
    /// be the one that is meant. `damaged`: what can be read of it will do.
    pub fn newest(&self, damaged: bool) -> Result<Option<(Run, State)>> {
        for run in self.all().into_iter().rev() {
            let opened = run.peek()?;
            if !opened.writable() && !damaged {
                return Err(cannot_continue(&run.journal(), &opened));
            }
            if opened.state.run.is_some() {
                return Ok(Some((run, opened.state)));
            }
        }
        Ok(None)
    }

    pub fn next(&self) -> Run {
        let number = self.folders().last().map_or(1, |run| run.number + 1);
        Run { number, dir: self.dir.join(format!("{number:04}")) }
    }

    /// The run that holds the project's iteration `number`.
    pub fn of_iteration(&self, number: u64) -> Result<Option<(Run, Iteration, State)>> {
        for run in self.all().into_iter().rev() {
            if run.first_iteration()? > number {
                continue;
            }
            let mut found = None;
            run.iterations(|iteration, state| {
                if iteration.number == number {
                    found = Some((iteration.clone(), state.clone()));
                }
            })?;
            return Ok(found.map(|(iteration, state)| (run, iteration, state)));
        }
        Ok(None)
    }
}

impl Run {
    pub fn journal(&self) -> PathBuf {
        self.dir.join("journal.jsonl")
    }

    pub fn peek(&self) -> Result<Opened> {
        JournalFile::peek(&self.journal())
    }

    pub fn files(&self, iteration: u64) -> IterationFiles {
        IterationFiles { dir: self.dir.join(format!("iteration-{iteration:06}")) }
    }

    /// What the checks before the first iteration leave behind.
    pub fn baseline_files(&self) -> IterationFiles {
        IterationFiles { dir: self.dir.join("baseline") }
    }

    /// The number of the first iteration of this run, which its first record begins.
    fn first_iteration(&self) -> Result<u64> {
        Ok(JournalFile::first(&self.journal())?.iteration)
    }

    /// Each concluded iteration, and the one under way, with the state at that point.
    pub fn iterations(&self, mut each: impl FnMut(&Iteration, &State)) -> Result<Opened> {
        let mut last = 0;
        let opened = JournalFile::read(&self.journal(), |_, state| {
            if let Some(iteration) = &state.last
                && iteration.number > last
            {
                last = iteration.number;
                each(iteration, state);
            }
        })?;
        if let Some(current) = &opened.state.current {
            each(current, &opened.state);
        }
        Ok(opened)
    }
}

/// What one iteration leaves behind: its prompt, what the agent printed, what the checks printed.
#[derive(Debug, Clone)]
pub struct IterationFiles {
    dir: PathBuf,
}

impl IterationFiles {
    pub fn make(&self) -> Result<()> {
        files::private_dir(&self.dir).map_err(error::io("cannot make", &self.dir))
    }

    pub fn prompt(&self) -> PathBuf {
        self.dir.join("prompt.md")
    }

    pub fn transcript(&self) -> PathBuf {
        self.dir.join("transcript.out")
    }

    pub fn stderr(&self) -> PathBuf {
        self.dir.join("transcript.err")
    }

    /// The output of a check; its name is made safe as a file name.
    pub fn check(&self, name: &str) -> PathBuf {
        let safe: String = name
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_') { c } else { '_' })
            .collect();
        self.dir.join(format!("check-{safe}.out"))
    }
}
