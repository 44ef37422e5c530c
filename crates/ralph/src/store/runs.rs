//! The runs of a project, each in a folder of its own: `runs/0001/journal.jsonl` and what its iterations left.

use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use ralph_core::decision::{Phase, Stop};
use ralph_core::event::{Event, PutBack, When};
use ralph_core::journal::{Body, Opened};
use ralph_core::state::{Iteration, State, Undone};
use ralph_core::time::Time;
use ralph_core::trail::Trail;

use super::{JournalFile, cannot_continue, files, packed};
use crate::error::{self, Result};
use crate::point;
use crate::unix::identity::MetadataExt;

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

/// What the record of a run tells to people.
#[derive(Debug, Clone, Copy)]
pub enum Moment<'a> {
    Iteration(&'a Iteration),
    /// It stopped, and may have been taken up again later.
    Stopped(&'a Stop),
    Undone(&'a Undone),
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

    /// The folder of the newest run, whose journal may not have been begun.
    pub fn newest_folder(&self) -> Option<PathBuf> {
        self.folders().pop().map(|run| run.dir)
    }

    /// Where they are, or will be.
    pub fn dir(&self) -> &Path {
        &self.dir
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

    /// The newest of the last few runs of which this holds. What cannot be read is passed over.
    pub fn newest_of(&self, most: usize, wanted: impl Fn(&State) -> bool) -> Option<(Run, State)> {
        let runs = self.all().into_iter().rev().take(most);
        let mut opened = runs.filter_map(|run| Some((run.peek().ok()?.state, run)));
        opened.find(|(state, _)| wanted(state)).map(|(state, run)| (run, state))
    }

    /// The run of this number, if it is the newest. Its journal is not looked at, unless a later one may have been begun.
    pub fn if_newest(&self, number: u64) -> Result<Option<Run>> {
        let last = self.all().pop().filter(|run| run.number == number);
        match last {
            Some(run) => Ok(Some(run)),
            None => Ok(self.newest(false)?.map(|(run, _)| run).filter(|run| run.number == number)),
        }
    }

    pub fn next(&self) -> Run {
        let number = self.folders().last().map_or(1, |run| run.number + 1);
        Run { number, dir: self.dir.join(format!("{number:04}")) }
    }

    /// Every tree that the records name, with the iteration it belongs to; oldest runs first.
    pub fn trees(&self) -> Result<Vec<(u64, String)>> {
        let mut trees = Vec::new();
        for run in self.all() {
            run.moments(|moment, _| match moment {
                Moment::Iteration(iteration) => {
                    let before = iteration.before.as_ref().map(|mark| &mark.tree);
                    let after =
                        iteration.after.iter().flat_map(|after| after.left.iter().chain([&after.tree]));
                    trees
                        .extend(before.into_iter().chain(after).map(|tree| (iteration.number, tree.clone())));
                }
                Moment::Undone(undone) => {
                    let PutBack { from, to, .. } = &undone.put_back;
                    trees.extend([from, to].map(|tree| (undone.after, tree.clone())));
                }
                Moment::Stopped(_) => {}
            })?;
        }
        Ok(trees)
    }

    /// Who changed the files from the snapshot before an iteration on, which this run holds.
    pub fn trail(&self, run: &Run, iteration: u64) -> Result<Trail> {
        let mut trail = Trail::from(iteration);
        for run in self.all().into_iter().filter(|other| other.number >= run.number) {
            JournalFile::read(&run.journal(), |record, state| trail.take(record, state))?;
        }
        Ok(trail)
    }

    /// The run that holds the project's iteration `number`.
    pub fn of_iteration(&self, number: u64) -> Result<Option<(Run, Iteration, State)>> {
        for run in self.all().into_iter().rev() {
            let first = run.first_iteration()?;
            if first > number {
                continue;
            }
            let mut found = None;
            run.iterations(|iteration, state| {
                if iteration.number == number {
                    found = Some((iteration.clone(), state.clone()));
                }
            })?;
            // A run that looks at its checks or its backlog first begins with the number of the last iteration before it.
            if found.is_some() || first < number {
                return Ok(found.map(|(iteration, state)| (run, iteration, state)));
            }
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

    /// The number of the first iteration of this run, if its first record begins it; else of the last one before.
    fn first_iteration(&self) -> Result<u64> {
        Ok(JournalFile::first(&self.journal())?.iteration)
    }

    /// Who changed the files while it was there.
    pub fn trail(&self) -> Result<Trail> {
        let mut trail = Trail::default();
        JournalFile::read(&self.journal(), |record, state| trail.take(record, state))?;
        Ok(trail)
    }

    /// Each concluded iteration, and the one under way, with the state at that point.
    pub fn iterations(&self, mut each: impl FnMut(&Iteration, &State)) -> Result<Opened> {
        self.moments(|moment, state| {
            if let Moment::Iteration(iteration) = moment {
                each(iteration, state);
            }
        })
    }

    /// What became of the run, in its order; an iteration that is not concluded comes last.
    pub fn moments(&self, mut each: impl FnMut(Moment<'_>, &State)) -> Result<Opened> {
        let (mut last, mut stood) = (0, None);
        let opened = JournalFile::read(&self.journal(), |record, state| {
            // One that is being settled is told when it is.
            if let Some(iteration) = &state.last
                && iteration.number > last
                && !matches!(state.phase, Phase::Settling { .. })
            {
                last = iteration.number;
                each(Moment::Iteration(iteration), state);
            }
            if let Some(stop) = state.stop().filter(|stop| stood.as_ref() != Some(*stop)) {
                each(Moment::Stopped(stop), state);
            }
            stood = state.stop().cloned();
            let undone = matches!(&record.body, Body::Step { event: Event::TreePutBack(_), .. });
            if let Some(undone) = state.undone.last().filter(|_| undone) {
                each(Moment::Undone(undone), state);
            }
        })?;
        let cut_off = opened.state.last.as_deref().filter(|iteration| iteration.number > last);
        for current in cut_off.into_iter().chain(&opened.state.current) {
            each(Moment::Iteration(current), &opened.state);
        }
        Ok(opened)
    }
}

const PROMPT: &str = "prompt.md";
const TRANSCRIPT: &str = "transcript.out";
const ERRORS: &str = "transcript.err";
const BACKLOG: &str = "backlog";
const WAY: &str = "backlog-way";
const STAND: [&str; 2] = ["stand-before", "stand-after"];
/// How the name of what an agent had changed of ralph's own files begins.
pub(super) const TOUCHED: &str = "touched-";

fn is_output(name: &str) -> bool {
    [TRANSCRIPT, ERRORS].contains(&name) || (name.starts_with("check-") && name.ends_with(".out"))
}

/// Whether ralph wrote it for an iteration, packed, half made or as it was.
fn is_kept(entry: &std::fs::DirEntry) -> bool {
    let name = entry.file_name().to_string_lossy().into_owned();
    let name = name.trim_start_matches('.').trim_end_matches(".new").trim_end_matches(".gz");
    [PROMPT, BACKLOG, WAY].contains(&name)
        || STAND.contains(&name)
        || name.starts_with(TOUCHED)
        || is_output(name)
}

/// What one iteration leaves behind: its prompt, what the agent printed, what the checks printed.
#[derive(Debug, Clone)]
pub struct IterationFiles {
    dir: PathBuf,
}

impl IterationFiles {
    /// Files of a check that belongs to no iteration.
    pub fn at(dir: &Path) -> Self {
        Self { dir: dir.to_path_buf() }
    }

    pub fn make(&self) -> Result<()> {
        files::private_dir(&self.dir).map_err(error::io("cannot make", &self.dir))
    }

    pub fn folder(&self) -> &Path {
        &self.dir
    }

    pub fn prompt(&self) -> PathBuf {
        self.dir.join(PROMPT)
    }

    pub fn transcript(&self) -> PathBuf {
        self.dir.join(TRANSCRIPT)
    }

    pub fn stderr(&self) -> PathBuf {
        self.dir.join(ERRORS)
    }

    /// The task file when the agent was started.
    pub fn backlog(&self) -> PathBuf {
        self.dir.join(BACKLOG)
    }

    /// Which links led to it then; nothing where there was none.
    pub fn backlog_way(&self) -> PathBuf {
        self.dir.join(WAY)
    }

    /// Where the user stood in the repository before the agent was started, and after it had ended.
    pub fn stand(&self, when: When) -> PathBuf {
        self.dir.join(STAND[usize::from(when == When::After)])
    }

    pub(super) fn exist(&self) -> bool {
        self.dir.is_dir()
    }

    /// Whether anything of it is left. A file alone may be gone: agents remove more than they should.
    pub fn are_kept(&self) -> bool {
        std::fs::read_dir(&self.dir).into_iter().flatten().flatten().any(|entry| is_kept(&entry))
    }

    /// When anything was last written here.
    pub fn last_sign(&self) -> Option<Time> {
        let entries = std::fs::read_dir(&self.dir).into_iter().flatten().flatten().filter(is_kept);
        let written = entries.filter_map(|entry| entry.metadata().and_then(|data| data.modified()).ok());
        let since_1970 = written.max()?.duration_since(UNIX_EPOCH).ok()?;
        Some(Time::from_millis(i64::try_from(since_1970.as_millis()).unwrap_or(i64::MAX)))
    }

    /// When the agent's keeper saw its end; `None` where nobody left that time. A sign has whole milliseconds, which a write
    /// has by chance only; on a file system that knows no parts of them nothing can be told.
    pub fn agent_ended_at(&self) -> Option<(i64, i64)> {
        let data = std::fs::metadata(self.transcript()).ok()?;
        let whole = |nanos: i64| nanos % 1_000_000 == 0;
        let signed = whole(data.mtime_nsec()) && !whole(data.ctime_nsec());
        signed.then(|| (data.mtime(), data.mtime_nsec()))
    }

    /// Somebody was at work here until now: on the last file that was written to.
    pub fn sign(&self) {
        let entries = std::fs::read_dir(&self.dir).into_iter().flatten().flatten().filter(is_kept);
        let last = entries.max_by_key(|entry| entry.metadata().and_then(|data| data.modified()).ok());
        if let Some(last) = last {
            files::sign_of_life(&last.path());
        }
    }

    /// Packs what was printed. What somebody else put here is left alone.
    pub(super) fn pack(&self) -> io::Result<()> {
        for entry in std::fs::read_dir(&self.dir)?.flatten() {
            let large = entry.metadata().is_ok_and(|data| data.is_file() && data.len() >= packed::WORTH_IT);
            if large && entry.file_name().to_str().is_some_and(is_output) {
                packed::pack(&entry.path())?;
            }
        }
        Ok(())
    }

    /// Removes what ralph wrote here, and the folder if nothing else is in it.
    pub(super) fn remove(&self) {
        for entry in std::fs::read_dir(&self.dir).into_iter().flatten().flatten() {
            if is_kept(&entry) {
                // What cannot be removed stays.
                let _ = files::remove(&entry.path());
            }
        }
        let _ = point::file("remove folder", &self.dir).and_then(|()| std::fs::remove_dir(&self.dir));
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
