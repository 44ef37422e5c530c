//! The records that are not this run's. Earlier journals are held open: a file that somebody removes can still be read by
//! whoever has it open. When somebody works there are copies of the newest ones, from which what was edited comes back. Of
//! the ledger, which grows, there is a copy too.

use std::fs::File;
use std::io::{self, Seek};
use std::mem;
use std::path::{Path, PathBuf};

use super::copy::Copy;
use super::stamp::Stamp;
use super::{HeldLedger, Run, Runs, files};
use crate::point;
use ralph_core::own_files::How;

/// Of so many earlier runs; the number of open files is limited.
const MOST: usize = 64;
/// So many bytes of them are copied, the newest first: what a hook that ends at once can bear too.
const COPIED: u64 = 16 << 20;

const NO_COPY: &str = "there is no copy of it";

#[derive(Debug)]
pub struct Past {
    ledger: HeldLedger,
    /// That it could not be put back was told.
    ledger_told: bool,
    journals: Vec<Held>,
    /// Journals of still earlier runs and such as could not be opened, which nobody holds.
    older: Vec<PathBuf>,
    copied: bool,
}

/// An earlier journal as it was found.
#[derive(Debug)]
struct Held {
    path: PathBuf,
    left: Stamp,
    kept: Kept,
    /// That it could not be put back was told.
    told: bool,
}

#[derive(Debug)]
enum Kept {
    /// What is written to it is lost.
    Open(File),
    Copied(Copy),
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
        let mut journals = vec![];
        for path in earlier.split_off(earlier.len().saturating_sub(MOST)) {
            match files::twice(|| Held::of(&path)) {
                Ok(held) => journals.push(held),
                Err(_) => earlier.push(path),
            }
        }
        let ledger = HeldLedger::of(truth);
        Self { ledger, ledger_told: false, journals, older: earlier, copied: false }
    }

    /// Somebody begins to work.
    pub fn watch(&mut self) {
        self.ledger.watch();
        if mem::replace(&mut self.copied, true) {
            return;
        }
        let mut room = COPIED;
        for held in self.journals.iter_mut().rev() {
            let Some(left) = room.checked_sub(held.left.size()) else { break };
            room = left;
            held.copy();
        }
    }

    /// What is appended through it is known to be ralph's.
    pub fn ledger(&mut self) -> &mut HeldLedger {
        &mut self.ledger
    }

    /// Puts back what was taken away, and what was done to the ledger. To be asked when nobody is at work any more. What the disk
    /// refuses is told once and tried again the next time: this may be the only copy.
    pub fn put_back(&mut self) -> Restored {
        let mut restored = Restored::default();
        self.journals.retain_mut(|held| {
            let Some(how) = held.touched() else { return true };
            match files::twice(|| held.put_back()) {
                Ok(()) => {
                    held.told = false;
                    restored.back.push((held.path.clone(), how));
                    true
                }
                Err(error) => {
                    if !mem::replace(&mut held.told, true) {
                        restored.lost.push((held.path.clone(), how, error.to_string()));
                    }
                    held.is_whole()
                }
            }
        });
        if let Some(how) = self.ledger.touched() {
            let path = self.ledger.path().to_path_buf();
            match self.ledger.put_back() {
                Ok(()) => {
                    self.ledger_told = false;
                    restored.back.push((path, how));
                }
                Err(error) if !mem::replace(&mut self.ledger_told, true) => {
                    restored.lost.push((path, how, error.to_string()));
                }
                Err(_) => {}
            }
        }
        let older = self.older.extract_if(.., |path| matches!(path.try_exists(), Ok(false)));
        restored.lost.extend(older.map(|path| (path, How::Removed, NO_COPY.into())));
        restored
    }
}

impl Held {
    fn of(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let left = Stamp::of(&file.metadata()?);
        Ok(Self { path: path.to_path_buf(), left, kept: Kept::Open(file), told: false })
    }

    /// What it held can still be had from here.
    fn is_whole(&self) -> bool {
        match &self.kept {
            Kept::Copied(copy) => copy.is_there(),
            Kept::Open(file) => Stamp::of_open(file).is_none_or(|now| now.same_content(self.left)),
        }
    }

    /// Where there can be none, the open file must do.
    fn copy(&mut self) {
        let Kept::Open(file) = &mut self.kept else { return };
        let mut copy = Copy::of(&self.path, file);
        // Only of what was found, all of it.
        if Stamp::of_open(file) == Some(self.left) && copy.equals(&self.path) {
            self.kept = Kept::Copied(copy);
        }
    }

    /// What was done to it. Looks only at its stamp, unless that has changed.
    fn touched(&mut self) -> Option<How> {
        let Some(named) = Stamp::at(&self.path) else { return Some(How::Removed) };
        if named == self.left {
            return None;
        }
        let same = match &mut self.kept {
            Kept::Open(_) => named.same_content(self.left),
            Kept::Copied(copy) => copy.equals(&self.path),
        };
        if named.same_file(self.left) && same {
            self.left = named;
            return None;
        }
        Some(How::Changed)
    }

    /// Byte for byte, and never half of it under its name.
    fn put_back(&mut self) -> io::Result<()> {
        if !self.is_whole() {
            return Err(io::Error::other(NO_COPY));
        }
        let dir = self.path.parent().unwrap_or(&self.path);
        files::private_dir(dir)?;
        let beside = self.path.with_extension("back");
        let mut new = files::private_anew(&beside)?;
        match &mut self.kept {
            Kept::Copied(copy) => copy.write_to(&mut new)?,
            Kept::Open(file) => {
                file.rewind()?;
                point::file("fill", &beside)?;
                io::copy(file, &mut new)?;
            }
        }
        point::file("sync", &beside)?;
        new.sync_all()?;
        files::rename(&beside, &self.path)?;
        files::sync_dir(dir)?;
        self.left = Stamp::of(&new.metadata()?);
        if let Kept::Open(file) = &mut self.kept {
            *file = new;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::super::{JournalFile, Ledger, remove, write_private};
    use super::*;

    /// Three runs, with the journals of the first two held, and the ledger.
    fn three_runs(sandbox: &ralph_testkit::Sandbox) -> (Past, Vec<PathBuf>, PathBuf) {
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
        let past = Past::hold(&truth, &made[2]);
        (past, made.iter().map(Run::journal).collect(), ledger)
    }

    fn text(path: &Path) -> String {
        std::fs::read_to_string(path).expect("read")
    }

    #[test]
    fn records_that_are_removed_or_edited_come_back_as_they_were() {
        let sandbox = ralph_testkit::Sandbox::new();
        let (mut past, journals, ledger) = three_runs(&sandbox);
        past.watch();
        assert!(past.put_back().back.is_empty());
        remove(&journals[0]).expect("removed");
        remove(&ledger).expect("removed");
        let open = || File::options().write(true).open(&journals[1]).expect("open");
        let edits: [&dyn Fn(); 4] = [
            &|| open().set_len(3).expect("cut"),
            &|| open().write_all(b"RECORD").expect("written"),
            &|| {
                let mut file = open();
                file.seek(io::SeekFrom::End(0)).and_then(|_| file.write_all(b"more\n")).expect("written");
            },
            &|| write_private(&journals[1], b"another\n").expect("written"),
        ];
        for (nth, edit) in edits.into_iter().enumerate() {
            edit();
            let restored = past.put_back();
            let mut expected = vec![(journals[1].clone(), How::Changed)];
            if nth == 0 {
                expected.insert(0, (journals[0].clone(), How::Removed));
                expected.push((ledger.clone(), How::Removed));
            }
            assert_eq!((restored.back, restored.lost), (expected, vec![]), "{nth}");
            assert_eq!(
                [&journals[0], &journals[1]].map(|path| text(path)),
                ["record 0\n", "record 1\n"],
                "{nth}"
            );
            assert!(!journals[1].with_extension("back").exists());
        }
        assert_eq!(text(&ledger), "evidence\n");
        // What says the same is no harm.
        open().write_all(b"record 1\n").expect("written");
        let again = past.put_back();
        assert!(again.back.is_empty() && again.lost.is_empty(), "{again:?}");
    }

    #[test]
    fn without_a_copy_what_is_removed_comes_back_and_what_is_edited_is_named_once() {
        let sandbox = ralph_testkit::Sandbox::new();
        let (mut past, journals, _) = three_runs(&sandbox);
        remove(&journals[0]).expect("removed");
        let mut edited = File::options().append(true).open(&journals[1]).expect("open");
        edited.write_all(b"more\n").expect("written");
        let restored = past.put_back();
        assert_eq!(restored.back, [(journals[0].clone(), How::Removed)]);
        assert_eq!(restored.lost, [(journals[1].clone(), How::Changed, NO_COPY.to_owned())]);
        assert_eq!(text(&journals[0]), "record 0\n");
        let again = past.put_back();
        assert!(again.back.is_empty() && again.lost.is_empty(), "{again:?}");
    }
    #[test]
    fn what_the_disk_refuses_for_a_while_is_told_once_and_comes_back_when_it_does_not() {
        for watched in [false, true] {
            let sandbox = ralph_testkit::Sandbox::new();
            let (mut past, journals, ledger) = three_runs(&sandbox);
            if watched {
                past.watch();
            }
            // Its folder cannot be made, and what is in the way of the ledger cannot be written.
            let folder = journals[0].parent().expect("a folder").to_path_buf();
            let in_the_way = ledger.with_extension("back").join("in-the-way");
            remove(&journals[0]).and_then(|()| std::fs::remove_dir(&folder)).expect("removed");
            write_private(&folder, b"no folder").expect("written");
            remove(&ledger).expect("removed");
            sandbox.write(&in_the_way, "x");
            let lost = past.put_back().lost;
            let paths: Vec<&PathBuf> = lost.iter().map(|(path, ..)| path).collect();
            assert_eq!(paths, [&journals[0], &ledger][..1 + usize::from(watched)], "{lost:?}");
            let again = past.put_back();
            assert!(again.back.is_empty() && again.lost.is_empty(), "{again:?}");
            remove(&folder).and_then(|()| remove(&in_the_way)).expect("removed");
            std::fs::remove_dir(ledger.with_extension("back")).expect("removed");
            let back: Vec<PathBuf> = past.put_back().back.into_iter().map(|(path, _)| path).collect();
            assert_eq!(back.len(), 1 + usize::from(watched), "{back:?}");
            assert_eq!(text(&journals[0]), "record 0\n");
            assert!(!watched || text(&ledger) == "evidence\n");
        }
    }
}
