//! What becomes of an iteration's files when it is over: its output is packed, and the oldest that are too many go.
//!
//! One thread beside the loop does both, an iteration at a time: neither holds the next one up, and neither looks at
//! more of the past than has changed. What it does not come to, because ralph ends, the next run does for the last
//! iteration; a file that stays as it is, is only larger.

use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use super::{IterationFiles, Run, Runs};

/// The hand that tidies up.
#[derive(Debug)]
pub struct Keeping {
    /// Iterations that are over, and of how many the files are kept.
    orders: Option<Sender<(u64, u64)>>,
    done: Receiver<()>,
}

impl Keeping {
    pub fn new(runs: Runs, run: Run) -> Self {
        let (orders, inbox) = mpsc::channel();
        let (tell, done) = mpsc::channel();
        thread::spawn(move || {
            let mut past = Past { runs, run, others: None, gone: 0 };
            for (iteration, keep) in inbox {
                past.settle(iteration, keep);
            }
            let _ = tell.send(());
        });
        Self { orders: Some(orders), done }
    }

    /// This iteration is over; the files of so many are kept, 0: of all.
    pub fn concluded(&self, iteration: u64, keep: u64) {
        if let Some(orders) = &self.orders {
            // Whoever ends before it is tidied up leaves it to the next run.
            let _ = orders.send((iteration, keep));
        }
    }

    /// Waits until all is done, but no longer than that.
    pub fn finish(&mut self, longest: Duration) {
        self.orders = None;
        let _: Result<(), RecvTimeoutError> = self.done.recv_timeout(longest);
    }
}

#[derive(Debug)]
struct Past {
    runs: Runs,
    run: Run,
    /// Earlier runs, newest first; looked up when something of theirs is to go.
    others: Option<Vec<Run>>,
    /// Up to this iteration nothing is left.
    gone: u64,
}

impl Past {
    /// Files that cannot be packed or removed stay: they are the user's to look at, and no reason to stop.
    fn settle(&mut self, iteration: u64, keep: u64) {
        let _ = self.run.baseline_files().pack();
        let _ = self.files(iteration).map(|files| files.pack());
        let Some(last) = iteration.checked_sub(keep).filter(|_| keep > 0) else { return };
        // Numbers have no gaps, so the oldest that is there is found by going back. It goes first: if this is cut off,
        // what is left still has no gap.
        let mut old: Vec<IterationFiles> = Vec::new();
        for number in (self.gone + 1..=last).rev() {
            match self.files(number) {
                Some(files) => old.push(files),
                None => break,
            }
        }
        old.into_iter().rev().for_each(|files| files.remove());
        self.gone = self.gone.max(last);
    }

    fn files(&mut self, iteration: u64) -> Option<IterationFiles> {
        let own = self.run.files(iteration);
        if own.exist() {
            return Some(own);
        }
        let (runs, run) = (&self.runs, &self.run);
        let others = self.others.get_or_insert_with(|| {
            let mut others = runs.all();
            others.retain(|other| other.number < run.number);
            others.reverse();
            others
        });
        others.iter().map(|run| run.files(iteration)).find(IterationFiles::exist)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::{JournalFile, write_private};
    use super::*;

    /// A run with these iterations.
    fn run(runs: &Runs, iterations: std::ops::RangeInclusive<u64>) -> Run {
        let run = runs.next();
        JournalFile::create(&run.journal()).expect("a journal");
        write_private(&run.journal(), b"{}\n").expect("not empty");
        for number in iterations {
            let files = run.files(number);
            files.make().expect("a folder");
            write_private(&files.prompt(), b"prompt").expect("written");
            write_private(&files.transcript(), &[b'x'; 10_000]).expect("written");
            write_private(&files.check("test"), b"short").expect("written");
            let touched = files.folder().join("touched-config.toml");
            write_private(&touched, b"what an agent made of it").expect("written");
        }
        run
    }

    fn kept(run: &Run, iterations: std::ops::RangeInclusive<u64>) -> Vec<u64> {
        iterations.filter(|number| run.files(*number).exist()).collect()
    }

    #[test]
    fn output_is_packed_and_what_is_too_old_goes_whichever_run_it_is_of() {
        let sandbox = ralph_testkit::Sandbox::new();
        let runs = Runs::of(&sandbox.project());
        let (first, second) = (run(&runs, 1..=20), run(&runs, 21..=40));
        let mut keeping = Keeping::new(runs, second.clone());
        keeping.concluded(40, 15);
        keeping.finish(Duration::from_secs(60));
        assert_eq!(kept(&first, 1..=20), Vec::<u64>::new());
        assert_eq!(kept(&second, 21..=40), (26..=40).collect::<Vec<_>>());
        let there = |path: &Path| path.exists();
        let last = second.files(40);
        assert!(!there(&last.transcript()) && there(&last.transcript().with_extension("out.gz")));
        assert!(there(&last.check("test")), "too small to be packed");
        assert!(there(&first.journal()) && there(&second.journal()), "the journal stays");
    }

    #[test]
    fn nothing_goes_where_everything_is_kept_and_strangers_files_never_do() {
        let sandbox = ralph_testkit::Sandbox::new();
        let runs = Runs::of(&sandbox.project());
        let run = run(&runs, 1..=30);
        let notes = run.files(3).prompt().with_file_name("notes.txt");
        write_private(&notes, b"mine").expect("written");
        let mut keeping = Keeping::new(runs.clone(), run.clone());
        keeping.concluded(30, 0);
        keeping.finish(Duration::from_secs(60));
        assert_eq!(kept(&run, 1..=30).len(), 30);

        let mut keeping = Keeping::new(runs, run.clone());
        keeping.concluded(30, 20);
        keeping.finish(Duration::from_secs(60));
        assert!(notes.exists() && !run.files(3).prompt().exists());
        assert_eq!(kept(&run, 1..=30).len(), 21);
    }
}
