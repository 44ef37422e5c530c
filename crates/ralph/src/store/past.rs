//! The records that are not this run's. Earlier journals are held open: a file that somebody removes can still be read by
//! whoever has it open. Of the ledger, which grows, there is a copy.

use std::fs::File;
use std::io::{self, Seek};
use std::path::{Path, PathBuf};

use super::stamp::Stamp;
use super::{HeldLedger, Run, Runs, files};
use crate::point;
use ralph_core::own_files::How;

/// Of so many earlier runs; the number of open files is limited.
const MOST: usize = 64;

#[derive(Debug)]
pub struct Past {
    ledger: HeldLedger,
    journals: Vec<Held>,
    /// Journals of still earlier runs, which nobody holds.
    older: Vec<PathBuf>,
}

#[derive(Debug)]
struct Held {
    path: PathBuf,
    file: File,
    size: u64,
}

/// What became of records that were there.
#[derive(Debug, Default)]
pub struct Restored {
    pub back: Vec<(PathBuf, How)>,
    pub lost: Vec<(PathBuf, How, String)>,
}

impl Past {
    /// Earlier runs do not change while this one goes on, so they are looked up once.
    pub fn hold(truth: &Path, run: &Run) -> Self {
        let mut earlier: Vec<PathBuf> = Runs::of(truth)
            .all()
            .into_iter()
            .filter(|other| other.number < run.number)
            .map(|run| run.journal())
            .collect();
        let newest = earlier.split_off(earlier.len().saturating_sub(MOST));
        let journals = newest.into_iter().filter_map(|path| Held::of(path).ok()).collect();
        Self { ledger: HeldLedger::of(truth), journals, older: earlier }
    }

    /// Somebody begins to work.
    pub fn watch(&mut self) {
        self.ledger.watch();
    }

    /// What is appended through it is known to be ralph's.
    pub fn ledger(&mut self) -> &mut HeldLedger {
        &mut self.ledger
    }

    /// Puts back what was taken away, and what was done to the ledger. To be asked when nobody is at work any more.
    pub fn put_back(&mut self) -> Restored {
        let mut restored = Restored::default();
        let gone = How::Removed;
        for held in &mut self.journals {
            match held.put_back() {
                Ok(false) => {}
                Ok(true) => restored.back.push((held.path.clone(), gone)),
                Err(error) => restored.lost.push((held.path.clone(), gone, error.to_string())),
            }
        }
        if let Some(how) = self.ledger.touched() {
            let path = self.ledger.path().to_path_buf();
            match self.ledger.put_back() {
                Ok(()) => restored.back.push((path, how)),
                Err(error) => restored.lost.push((path, how, error.to_string())),
            }
        }
        // What is lost is told once.
        self.journals.retain(|held| held.path.exists());
        let older = self.older.extract_if(.., |path| !path.exists());
        restored.lost.extend(older.map(|path| (path, gone, "there is no copy of it".into())));
        restored
    }
}

impl Held {
    fn of(path: PathBuf) -> io::Result<Self> {
        let file = File::open(&path)?;
        let size = file.metadata()?.len();
        Ok(Self { path, file, size })
    }

    /// Whether it had to be.
    fn put_back(&mut self) -> io::Result<bool> {
        let named = Stamp::at(&self.path);
        let same = Stamp::of_open(&self.file).zip(named).is_some_and(|(held, named)| held.same_file(named));
        let size = self.file.metadata()?.len();
        if size < self.size {
            self.size = size;
            return Err(io::Error::other("a part of it was cut away, and there is no copy of it"));
        }
        if same {
            return Ok(false);
        }
        if let Some(dir) = self.path.parent() {
            files::private_dir(dir)?;
        }
        let mut new = files::private_anew(&self.path)?;
        self.file.rewind()?;
        io::copy(&mut self.file, &mut new)?;
        point::file("sync", &self.path)?;
        new.sync_all()?;
        self.file = File::open(&self.path)?;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{JournalFile, Ledger, remove, write_private};
    use super::*;

    #[test]
    fn records_that_are_removed_come_back_and_those_that_are_cut_are_named() {
        let sandbox = ralph_testkit::Sandbox::new();
        let truth = sandbox.project();
        let runs = Runs::of(&truth);
        let made: Vec<Run> = (0..3)
            .map(|n| {
                let run = runs.next();
                JournalFile::create(&run.journal()).expect("a journal");
                write_private(&run.journal(), format!("record {n}\n").as_bytes()).expect("written");
                run
            })
            .collect();
        let ledger = Ledger::of(&truth).path().to_path_buf();
        write_private(&ledger, b"evidence\n").expect("written");
        let mut past = Past::hold(&truth, &made[2]);
        past.watch();
        assert!(past.put_back().back.is_empty());
        remove(&made[0].journal()).expect("removed");
        remove(&ledger).expect("removed");
        let cut = File::options().write(true).open(made[1].journal()).expect("open");
        cut.set_len(3).expect("cut");
        let restored = past.put_back();
        assert_eq!(restored.back, [made[0].journal(), ledger.clone()].map(|path| (path, How::Removed)));
        assert_eq!(restored.lost.len(), 1);
        assert_eq!(restored.lost[0].0, made[1].journal());
        assert_eq!(std::fs::read_to_string(made[0].journal()).expect("read"), "record 0\n");
        assert_eq!(std::fs::read_to_string(&ledger).expect("read"), "evidence\n");
        let again = past.put_back();
        assert!(again.back.is_empty() && again.lost.is_empty(), "{again:?}");
    }
}
