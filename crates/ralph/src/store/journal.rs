//! A run's journal on disk.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use ralph_core::journal::{self, Opened, Problem, Record};
use ralph_core::own_files::How;
use ralph_core::state::State;

use super::copy::Copy;
use super::files;
use super::lock::{LockState, lock_state, pause};
use super::stamp::Stamp;
use super::syncer::Syncer;
use crate::error::{self, Error, Result};
use crate::point;

/// How much of the end is read at first to find the last checkpoint.
const TAIL: u64 = 64 << 10;

/// Open for appending. It knows what it wrote, so that what anybody else did to the file is noticed, and undone from a
/// copy of its own.
#[derive(Debug)]
pub struct JournalFile {
    file: File,
    path: PathBuf,
    /// The file as we left it.
    left: Option<Stamp>,
    copy: Copy,
    /// What was undone while a record was written.
    mended: Option<How>,
    /// Nothing more is recorded in it: somebody works against that.
    given_up: bool,
    /// How often it was put back for the last record.
    tries: usize,
    /// The last record, on its way to the disk.
    syncer: Syncer,
}

/// How long a deletion that goes on is waited out before each further attempt to write.
const WAITS: [u64; 7] = [5, 10, 20, 40, 80, 160, 320];

impl JournalFile {
    /// A new run's journal; its folder is made with it.
    pub fn create(path: &Path) -> Result<Self> {
        let dir = path.parent().unwrap_or(path);
        files::private_dir(dir).map_err(error::io("cannot make", dir))?;
        let file = files::append_private(path).map_err(error::io("cannot write", path))?;
        // The names on the way to it must survive a power loss too: run, runs, the truth folder and what it is in.
        for dir in dir.ancestors().take(4) {
            files::sync_dir(dir).map_err(error::io("cannot sync", dir))?;
        }
        let left = Stamp::sign(&file);
        Ok(Self {
            left,
            copy: Copy::new(path),
            file,
            path: path.to_path_buf(),
            mended: None,
            given_up: false,
            tries: 0,
            syncer: Syncer::default(),
        })
    }

    /// Opens a run to continue it: a torn last line is dropped, anything worse refuses.
    pub fn resume(path: &Path) -> Result<(Self, State)> {
        let (mut journal, state) = Self::resume_briefly(path)?;
        if let Ok(mut whole) = File::open(path) {
            journal.copy = Copy::of(path, &mut whole);
        }
        Ok((journal, state))
    }

    /// The same for one turn, without a copy of all that was written before, which would cost more with every turn.
    pub fn resume_briefly(path: &Path) -> Result<(Self, State)> {
        let (opened, good) = read_tail(path)?;
        if !opened.writable() {
            return Err(cannot_continue(path, &opened));
        }
        let io = |error| error::io("cannot write", path)(error);
        let file = files::append_private(path).map_err(io)?;
        // What is there need not be durable yet: nothing is done before the next record, which syncs it along.
        if file.metadata().map_err(io)?.len() > good {
            point::file("cut", path).and_then(|()| file.set_len(good)).map_err(io)?;
        }
        let left = Stamp::sign(&file);
        let copy = Copy::none();
        Ok((
            Self {
                left,
                copy,
                file,
                path: path.to_path_buf(),
                mended: None,
                given_up: false,
                tries: 0,
                syncer: Syncer::default(),
            },
            opened.state,
        ))
    }

    /// The record is durable, under the journal's name, when this returns.
    pub fn append(&mut self, record: &Record) -> Result<()> {
        self.begin(record)?;
        self.settle()
    }

    /// Writes a record and lets it become durable while the caller goes on: looking at things, making views, not doing any. The one
    /// before is durable first, so that a power loss costs the end and nothing in the middle.
    pub fn begin(&mut self, record: &Record) -> Result<()> {
        self.settle()?;
        self.tries = 0;
        self.hold()?;
        self.write(&journal::encode(record))
    }

    /// What was begun is durable, under the journal's name, when this returns.
    pub fn settle(&mut self) -> Result<()> {
        if !self.syncer.is_begun() {
            return Ok(());
        }
        self.syncer.settle().map_err(error::io("cannot write the journal", &self.path))?;
        self.hold()
    }

    /// Sees to it that the file is what was written to it. Whoever takes it away is waited out for a while, once for each
    /// record: a folder is not removed in one moment.
    fn hold(&mut self) -> Result<()> {
        while let Some(how) = self.touched() {
            if self.another_s() {
                self.give_up();
                return Err(self.cannot_be_kept(how));
            }
            let put_back = self.put_back();
            let passing = put_back.as_ref().err().is_none_or(files::is_passing);
            let wait = WAITS.get(self.tries).copied();
            self.tries += 1;
            match wait.filter(|_| passing) {
                Some(_) if put_back.is_ok() => {
                    self.mended.get_or_insert(how);
                }
                Some(wait) => pause(Duration::from_millis(wait)),
                None => {
                    self.give_up();
                    return Err(self.cannot_be_kept(how));
                }
            }
        }
        Ok(())
    }

    fn write(&mut self, line: &str) -> Result<()> {
        let before = self.left.map_or(0, Stamp::size);
        point::file("append to", &self.path)
            .and_then(|()| {
                point::torn(&self.path, || self.file.write_all(&line.as_bytes()[..line.len() / 2]))
            })
            .and_then(|()| self.file.write_all(line.as_bytes()))
            .and_then(|()| self.begin_sync())
            .map_err(error::io("cannot write the journal", &self.path))?;
        self.copy.append(line.as_bytes());
        // What came in between is not ours: then the next look compares every byte.
        let expected = before + line.len() as u64;
        self.left = Stamp::sign(&self.file).filter(|left| left.size() == expected);
        Ok(())
    }

    fn begin_sync(&mut self) -> io::Result<()> {
        self.syncer.begin(&self.file, &self.path)
    }

    /// Whether another ralph has taken the place: what has the journal's name may be its own.
    fn another_s(&self) -> bool {
        let held = self.path.ancestors().nth(3).map(lock_state);
        let Some(Ok(LockState::Held(holder))) = held else { return false };
        holder.is_none_or(|holder| holder.pid != std::process::id())
    }

    fn cannot_be_kept(&self, how: How) -> Error {
        let did = if how == How::Removed { "gone" } else { "not what was written" };
        Error::new(format!("the journal {} is {did}", self.path.display()))
            .because(
                "something changed it again and again while the run went on, so nothing more can be recorded",
            )
            .hint("look at what was done here: ralph status; git status")
    }

    pub fn give_up(&mut self) {
        self.given_up = true;
    }

    pub fn is_given_up(&self) -> bool {
        self.given_up
    }

    /// What was undone since the last look, where a record had to be written in between.
    pub fn mended(&mut self) -> Option<How> {
        self.mended.take()
    }

    /// What was done to the file since we wrote it. Looks only at its stamp, unless that has changed.
    pub fn touched(&mut self) -> Option<How> {
        let named = Stamp::at(&self.path);
        if self.left.is_some() && named == self.left {
            return None;
        }
        match (Stamp::of_open(&self.file), named) {
            (_, None) => Some(How::Removed),
            (Some(open), Some(named)) if open.same_file(named) && self.copy.equals(&self.path) => {
                self.left = Some(named);
                None
            }
            _ => Some(How::Changed),
        }
    }

    /// Puts back what was written, byte for byte.
    pub fn put_back(&mut self) -> io::Result<()> {
        let dir = self.path.parent().unwrap_or(&self.path);
        files::private_dir(dir)?;
        let beside = self.path.with_extension("back");
        let mut file = files::private_anew(&beside)?;
        self.copy.write_to(&mut file)?;
        point::file("sync", &beside)?;
        file.sync_all()?;
        files::rename(&beside, &self.path)?;
        files::sync_dir(dir)?;
        self.file = files::append_private(&self.path)?;
        self.left = Stamp::sign(&self.file);
        Ok(())
    }

    /// The state at the end of a journal, from its last checkpoint on.
    pub fn peek(path: &Path) -> Result<Opened> {
        read_tail(path).map(|(opened, _)| opened)
    }

    /// Every record from the start.
    pub fn read(path: &Path, each: impl FnMut(&Record, &State)) -> Result<Opened> {
        let bytes = std::fs::read(path).map_err(error::io("cannot read", path))?;
        Ok(journal::open(&bytes, each))
    }

    /// The first record alone.
    pub fn first(path: &Path) -> Result<State> {
        let mut reader = std::io::BufReader::new(File::open(path).map_err(error::io("cannot read", path))?);
        let mut line = Vec::new();
        std::io::BufRead::read_until(&mut reader, b'\n', &mut line)
            .map_err(error::io("cannot read", path))?;
        Ok(journal::open(&line, |_, _| {}).state)
    }
}

/// A journal that another process writes, read as it grows.
#[derive(Debug)]
pub struct JournalTail {
    path: PathBuf,
    file: File,
    /// Up to where it was read.
    read: u64,
    state: State,
}

impl JournalTail {
    pub fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).map_err(error::io("cannot read", path))?;
        let (opened, read) = read_tail(path)?;
        Ok(Self { path: path.to_path_buf(), file, read, state: opened.state })
    }

    pub fn state(&self) -> &State {
        &self.state
    }

    /// What has come since, as far as its lines are whole.
    pub fn more(&mut self, mut each: impl FnMut(&Record, &State)) -> Result<()> {
        let open = Stamp::of_open(&self.file).zip(Stamp::at(&self.path));
        if open.is_some_and(|(open, named)| !open.same_file(named)) {
            self.begin_again(&mut each)?;
        }
        let mut bytes = Vec::new();
        self.file
            .seek(SeekFrom::Start(self.read))
            .and_then(|_| self.file.read_to_end(&mut bytes))
            .map_err(error::io("cannot read", &self.path))?;
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let opened = journal::go_on(std::mem::take(&mut self.state), &bytes[..whole], each);
        (self.state, self.read) = (opened.state, self.read + opened.good as u64);
        match opened.problems.first() {
            Some(
                problem @ (Problem::Checksum { .. } | Problem::Unreadable { .. } | Problem::Sequence { .. }),
            ) => Err(Error::data(format!("the journal {} cannot be followed", self.path.display()))
                .because(problem)),
            _ => Ok(()),
        }
    }
}

impl JournalTail {
    /// Another file has its name: the journal was put back, or is about to be. What was shown is not shown again, and what
    /// tells less than that is not the journal.
    fn begin_again(&mut self, each: &mut impl FnMut(&Record, &State)) -> Result<()> {
        let Ok(mut file) = File::open(&self.path) else { return Ok(()) };
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(error::io("cannot read", &self.path))?;
        let seen = self.state.seq;
        let opened = journal::open(&bytes, |record, state| {
            if record.seq > seen {
                each(record, state);
            }
        });
        if opened.state.seq >= seen {
            (self.file, self.read, self.state) = (file, opened.good as u64, opened.state);
        }
        Ok(())
    }
}

/// Reads from the last checkpoint, going back in growing steps; returns also how many bytes of the file are good.
fn read_tail(path: &Path) -> Result<(Opened, u64)> {
    let io = |error| error::io("cannot read", path)(error);
    let mut file = File::open(path).map_err(io)?;
    let length = file.metadata().map_err(io)?.len();
    let mut span = TAIL;
    loop {
        let start = length.saturating_sub(span);
        file.seek(SeekFrom::Start(start)).map_err(io)?;
        let mut bytes = Vec::with_capacity(usize::try_from(length - start).unwrap_or(0) + 1);
        Read::by_ref(&mut file).take(length - start).read_to_end(&mut bytes).map_err(io)?;
        let from = journal::last_checkpoint(&bytes, start == 0).or((start == 0).then_some(0));
        if let Some(from) = from {
            let opened = journal::open(&bytes[from..], |_, _| {});
            // A damaged checkpoint tells nothing; the whole file may.
            if opened.records > 0 || start == 0 && from == 0 {
                let good = start + from as u64 + opened.good as u64;
                return Ok((opened, good));
            }
            span = length;
            if start == 0 {
                let opened = journal::open(&bytes, |_, _| {});
                let good = opened.good as u64;
                return Ok((opened, good));
            }
            continue;
        }
        span = span.saturating_mul(4);
    }
}

/// Why this journal must not be written to.
pub fn cannot_continue(path: &Path, opened: &Opened) -> Error {
    let newer = opened.problems.iter().any(|problem| matches!(problem, Problem::Newer { .. }));
    let why: Vec<String> = opened.problems.iter().map(ToString::to_string).collect();
    let error =
        Error::data(format!("the journal {} cannot be continued", path.display())).because(why.join("; "));
    if newer {
        error.hint("use the newer ralph that wrote it, or start a new run: ralph run --fresh \"GOAL\"")
    } else {
        error.hint("start a new run: ralph run --fresh \"GOAL\" (the damaged journal is kept)")
    }
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;

    use super::*;
    use ralph_core::event::{Event, Stamped};
    use ralph_core::journal::Body;
    use ralph_core::machine::decide;
    use ralph_core::state::apply;
    use ralph_core::time::Time;

    fn write(path: &Path, records: u64, checkpoint_every: u64) -> State {
        let mut journal = JournalFile::create(path).expect("created");
        let mut state = State::default();
        for n in 1..=records {
            let at = Time::from_millis(i64::try_from(n).expect("small"));
            let event = Event::MeasureFailed { error: "x".repeat(2000) };
            let decision = decide(&state, &Stamped { at, event: event.clone() });
            let mut record = Record { seq: state.seq + 1, at, body: Body::Step { event, decision } };
            journal.append(&record).expect("appended");
            state = apply(state, &record);
            if n % checkpoint_every == 0 {
                record = Record {
                    seq: state.seq + 1,
                    at,
                    body: Body::Checkpoint { state: Box::new(state.clone()) },
                };
                journal.append(&record).expect("appended");
                state = apply(state, &record);
            }
        }
        state
    }

    #[expect(clippy::disallowed_methods, reason = "a test's own folder")]
    fn scratch(name: &str) -> PathBuf {
        let dir = std::env::temp_dir().join(format!("ralph-journal-{name}-{}", std::process::id()));
        // Another container may have had the same number here.
        let _ = std::fs::remove_dir_all(&dir);
        dir.join("journal.jsonl")
    }

    #[test]
    fn the_tail_gives_the_same_state_as_the_whole() {
        for (name, records, every) in
            [("none", 300, 1000), ("often", 300, 10), ("far", 300, 290), ("short", 3, 2)]
        {
            let path = scratch(name);
            let state = write(&path, records, every);
            let peeked = JournalFile::peek(&path).expect("read");
            assert_eq!((&peeked.state, &peeked.problems[..]), (&state, &[][..]), "{name}");
            let whole = JournalFile::read(&path, |_, _| {}).expect("read");
            assert_eq!(whole.state, state, "{name}");
            #[expect(clippy::disallowed_methods, reason = "a test's own folder")]
            std::fs::remove_dir_all(path.parent().expect("a folder")).expect("removed");
        }
    }

    #[test]
    fn a_torn_tail_is_cut_and_the_run_goes_on() {
        let path = scratch("torn");
        let state = write(&path, 5, 100);
        let mut file = OpenOptions::new().append(true).open(&path).expect("open");
        file.write_all(b"{\"v\":1,\"seq\":6,\"at").expect("written");
        let (mut journal, resumed) = JournalFile::resume(&path).expect("resumed");
        assert_eq!(resumed, state);
        let body = Body::Checkpoint { state: Box::new(resumed) };
        journal.append(&Record { seq: 6, at: Time::default(), body }).expect("appended");
        let opened = JournalFile::peek(&path).expect("read");
        assert_eq!((opened.state.seq, opened.problems), (6, vec![]));
        #[expect(clippy::disallowed_methods, reason = "a test's own folder")]
        std::fs::remove_dir_all(path.parent().expect("a folder")).expect("removed");
    }

    #[test]
    fn a_write_of_the_same_length_in_the_same_moment_is_noticed_and_undone() {
        let path = scratch("touched");
        write(&path, 3, 100);
        let (mut journal, state) = JournalFile::resume(&path).expect("resumed");
        let whole = std::fs::read(&path).expect("read");
        assert_eq!(journal.touched(), None);
        for n in 0..50 {
            let at = state.updated_at;
            let body = Body::Checkpoint { state: Box::new(state.clone()) };
            journal.append(&Record { seq: state.seq + 1 + n, at, body }).expect("appended");
            let written = std::fs::read(&path).expect("read");
            let mut file = OpenOptions::new().write(true).open(&path).expect("open");
            file.seek(SeekFrom::Start(40)).and_then(|_| file.write_all(b"#")).expect("written");
            assert_eq!(journal.touched(), Some(How::Changed), "{n}");
            journal.put_back().expect("put back");
            assert_eq!(journal.touched(), None);
            assert_eq!(std::fs::read(&path).expect("read"), written);
        }
        assert!(std::fs::read(&path).expect("read").starts_with(&whole));
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a test's own folder")]
    fn a_journal_that_goes_between_a_look_and_a_write_is_written_whole_and_that_is_told() {
        let path = scratch("goes");
        write(&path, 3, 100);
        let (mut journal, state) = JournalFile::resume(&path).expect("resumed");
        let body = || Body::Checkpoint { state: Box::new(state.clone()) };
        assert_eq!((journal.touched(), journal.mended()), (None, None));
        std::fs::remove_dir_all(path.parent().expect("a folder")).expect("removed");
        journal.append(&Record { seq: 4, at: state.updated_at, body: body() }).expect("appended");
        assert_eq!((journal.touched(), journal.mended()), (None, Some(How::Removed)));
        // Somebody goes on removing it while it is written.
        let dir = path.parent().expect("a folder").to_path_buf();
        let removing = std::thread::spawn(move || (0..200).for_each(|_| drop(std::fs::remove_dir_all(&dir))));
        for seq in 5..30 {
            journal.append(&Record { seq, at: state.updated_at, body: body() }).expect("appended");
        }
        removing.join().expect("ended");
        if journal.touched().is_some() {
            journal.put_back().expect("put back");
        }
        let opened = JournalFile::peek(&path).expect("read");
        assert_eq!((opened.state.seq, opened.problems), (29, vec![]));
        std::fs::remove_dir_all(path.parent().expect("a folder")).expect("removed");
    }

    #[test]
    fn a_journal_that_was_only_looked_at_or_linked_is_not_touched() {
        let path = scratch("linked");
        write(&path, 2, 100);
        let (mut journal, _) = JournalFile::resume(&path).expect("resumed");
        let link = path.with_extension("link");
        let _ = files::remove(&link);
        std::fs::hard_link(&path, &link).expect("linked");
        std::fs::read(&path).expect("read");
        assert_eq!(journal.touched(), None);
    }
}
