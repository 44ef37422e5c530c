//! The ledger while a run goes on: it knows what ralph wrote, so that what anybody else did to the file is noticed, and
//! undone from a copy.

use std::fs::File;
use std::io;
use std::path::Path;

use ralph_core::own_files::How;
use serde_json::Value;

use super::super::copy::Copy;
use super::super::files;
use super::super::stamp::Stamp;
use super::{Appended, Ledger, Written};
use crate::point;

#[derive(Debug)]
pub struct HeldLedger {
    ledger: Ledger,
    /// The file as we left it.
    left: Option<Stamp>,
    known: Known,
    /// The last record could not be written: what is there of it is ours.
    is_torn: bool,
}

/// What the ledger is to say.
#[derive(Debug)]
enum Known {
    /// Nobody has worked yet, or what was known is lost.
    NotYet,
    /// There is none.
    Nothing,
    /// Made once; it grows with what is appended.
    Copied(Copy),
}

impl HeldLedger {
    pub fn of(truth: &Path) -> Self {
        Self { ledger: Ledger::of(truth), left: None, known: Known::NotYet, is_torn: false }
    }

    pub fn path(&self) -> &Path {
        self.ledger.path()
    }

    /// Somebody begins to work.
    pub fn watch(&mut self) {
        if !matches!(self.known, Known::NotYet) {
            return;
        }
        match File::open(self.path()) {
            Ok(mut file) => {
                self.known = Known::Copied(Copy::of(self.path(), &mut file));
                self.left = Stamp::sign(&file);
            }
            Err(_) if Stamp::at(self.path()).is_none() => self.known = Known::Nothing,
            Err(_) => {}
        }
    }

    /// Appends a record to what ralph wrote before: what somebody did to it meanwhile is undone first, and named.
    pub fn append(&mut self, record: Value) -> io::Result<Appended> {
        let was_torn = std::mem::replace(&mut self.is_torn, true);
        let touched = self.touched();
        if touched.is_some() {
            self.put_back()?;
        }
        let (mut appended, written) = self.ledger.write(record)?;
        self.is_torn = false;
        if let Some(written) = written {
            self.grow(&written);
        }
        if touched.is_some() && !was_torn {
            let problem = "the evidence ledger was changed while nobody was to work, and is put back";
            appended.problem.get_or_insert(problem.into());
        }
        Ok(appended)
    }

    fn grow(&mut self, written: &Written) {
        let path = self.ledger.path();
        match &mut self.known {
            Known::NotYet => return,
            Known::Nothing => {
                let mut copy = Copy::new(path);
                copy.append(written.text.as_bytes());
                self.known = Known::Copied(copy);
            }
            Known::Copied(copy) => {
                copy.cut(written.at);
                copy.append(written.text.as_bytes());
            }
        }
        // What came in between is not ours: then the next look compares every byte.
        let expected = written.at + written.text.len() as u64;
        let left = File::open(path).ok().as_ref().and_then(Stamp::sign);
        self.left = left.filter(|left| left.size() == expected);
    }

    /// What was done to the file since we wrote it. Looks only at its stamp, unless that has changed.
    pub fn touched(&mut self) -> Option<How> {
        let path = self.ledger.path();
        let named = Stamp::at(path);
        match (&mut self.known, named) {
            (Known::NotYet, _) | (Known::Nothing, None) => None,
            (Known::Copied(_), None) => Some(How::Removed),
            (Known::Nothing, Some(_)) => Some(How::Changed),
            (Known::Copied(_), Some(named)) if self.left == Some(named) => None,
            (Known::Copied(copy), Some(named)) => {
                let same = self.left.is_none_or(|left| left.same_file(named)) && !path.is_symlink();
                if same && copy.equals(path) {
                    self.left = Some(named);
                    return None;
                }
                Some(How::Changed)
            }
        }
    }

    /// Puts back what was written, byte for byte. What there is no copy of is known no more; what the disk refused may be tried
    /// again.
    pub fn put_back(&mut self) -> io::Result<()> {
        let done = files::twice(|| self.write_again());
        if done.is_err() && matches!(&self.known, Known::Copied(copy) if !copy.is_there()) {
            self.known = Known::NotYet;
        }
        done
    }

    fn write_again(&mut self) -> io::Result<()> {
        let path = self.ledger.path();
        let Known::Copied(copy) = &mut self.known else { return files::remove(path) };
        let dir = path.parent().unwrap_or(path);
        files::private_dir(dir)?;
        let beside = path.with_extension("back");
        let mut file = files::private_anew(&beside)?;
        copy.write_to(&mut file)?;
        point::file("sync", &beside)?;
        file.sync_all()?;
        files::rename(&beside, path)?;
        files::sync_dir(dir)?;
        self.left = Stamp::sign(&file);
        Ok(())
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests have files of their own")]
mod tests {
    use std::io::{Seek, SeekFrom, Write};

    use serde_json::json;

    use super::*;

    fn record(attempt: &str) -> Value {
        json!({"type": "attempt", "attempt": attempt})
    }

    #[test]
    fn whatever_is_done_to_the_ledger_is_undone_also_to_what_was_appended_meanwhile() {
        let sandbox = ralph_testkit::Sandbox::new();
        let truth = sandbox.project();
        Ledger::of(&truth).append(record("a")).expect("appended");
        let mut held = HeldLedger::of(&truth);
        held.watch();
        held.append(record("b")).expect("appended");
        let path = held.path().to_path_buf();
        let whole = std::fs::read(&path).expect("read");
        let open = || File::options().read(true).write(true).open(&path).expect("open");
        let harm: [(&dyn Fn(), How); 6] = [
            (
                &|| {
                    let mut file = open();
                    file.seek(SeekFrom::Start(20)).and_then(|_| file.write_all(b"X")).expect("written");
                },
                How::Changed,
            ),
            (&|| open().set_len(9).expect("cut"), How::Changed),
            (&|| open().set_len(0).expect("cut"), How::Changed),
            (
                &|| {
                    let mut file = open();
                    file.seek(SeekFrom::End(0)).and_then(|_| file.write_all(b"{}\n")).expect("written");
                },
                How::Changed,
            ),
            (
                &|| {
                    std::fs::remove_file(&path).expect("removed");
                    std::fs::write(&path, "another\n").expect("written");
                },
                How::Changed,
            ),
            (&|| std::fs::remove_file(&path).expect("removed"), How::Removed),
        ];
        for (nth, (harm, how)) in harm.into_iter().enumerate() {
            harm();
            assert_eq!(held.touched(), Some(how), "{nth}");
            held.put_back().expect("put back");
            assert_eq!(std::fs::read(&path).expect("read"), whole, "{nth}");
            assert_eq!(held.touched(), None, "{nth}");
        }
        // What says the same is no harm.
        open().write_all(&whole).expect("written");
        assert_eq!(held.touched(), None);
        // Before a record is appended it is looked at as well.
        open().set_len(3).expect("cut");
        let problem = held.append(record("c")).expect("appended").problem;
        assert!(problem.is_some_and(|problem| problem.contains("put back")));
        assert!(std::fs::read(&path).expect("read").starts_with(&whole));
    }

    #[test]
    fn a_ledger_that_somebody_else_makes_goes_again() {
        let sandbox = ralph_testkit::Sandbox::new();
        let mut held = HeldLedger::of(&sandbox.project());
        held.watch();
        assert_eq!(held.touched(), None);
        std::fs::write(held.path(), "made up\n").expect("written");
        assert_eq!(held.touched(), Some(How::Changed));
        held.put_back().expect("put back");
        assert!(!held.path().exists());
        held.append(record("a")).expect("appended");
        assert_eq!(held.touched(), None);
        std::fs::write(held.path(), "made up\n").expect("written");
        held.put_back().expect("put back");
        assert_eq!(held.ledger.read().expect("read").len(), 1);
        assert_eq!(held.touched(), None);
    }
}
