//! The evidence ledger: one line for every settled attempt and for its commit, each holding the digest of the one before,
//! so that a line that was changed, removed or moved is found. `ralph_core::ledger` tells what is wrong with one.

mod held;
mod tally;

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use ralph_core::ledger::{Held, Link};
use serde_json::{Value, json};

use super::files;
use crate::{clock, digest, point};

pub use held::HeldLedger;
pub use tally::{Park, Pass, Tally, Tried};

/// How much of the end is read at first; a record is rarely longer.
const TAIL: u64 = 16 << 10;

#[derive(Debug, Clone)]
pub struct Ledger {
    path: PathBuf,
}

/// One line, and what it says of its place in the chain.
#[derive(Debug, Clone)]
pub struct Line {
    /// Null where it cannot be read.
    pub record: Value,
    pub link: Link,
}

/// A record that is there now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Appended {
    pub digest: String,
    /// What was found wrong with the end of the ledger.
    pub problem: Option<String>,
}

/// What was written, and where: behind all that is whole.
#[derive(Debug)]
struct Written {
    at: u64,
    text: String,
}

/// The trailer that names the ledger in which a commit's evidence is.
const TRAILER: &str = "Ralph-Ledger";

impl Ledger {
    pub fn of(truth: &Path) -> Self {
        Self { path: truth.join("evidence.jsonl") }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends a record; one that is there already, by type and attempt, is not written again. Reads the end of the
    /// ledger only. Where that is broken, a record that says so comes first, and the chain goes on from there.
    pub fn append(&self, record: Value) -> io::Result<Appended> {
        self.write(record).map(|(appended, _)| appended)
    }

    fn write(&self, record: Value) -> io::Result<(Appended, Option<Written>)> {
        let new = !self.path.exists();
        let mut file = files::append_private(&self.path)?;
        // A reset comes from another process. The lock goes with the file.
        file.lock()?;
        let attempt = record["attempt"].as_str().unwrap_or_default();
        let End { lines, whole, unended } = end_of(&mut file, attempt)?;
        let same = |line: &&Line| line.is_sound() && line.is(&record["type"], attempt);
        if let Some(known) = lines.iter().rev().find(same).and_then(|line| line.link.held.as_ref()) {
            return Ok((Appended { digest: known.digest.clone(), problem: None }, None));
        }
        let mut place = lines.last().map_or((0, String::new()), Line::place);
        let mut text = String::from(if unended { "\n" } else { "" });
        let problem = lines.last().and_then(Line::problem);
        if let (Some(problem), Some(last)) = (&problem, lines.last()) {
            let found = json!({"v": 1, "type": "break", "at": clock::now(), "problem": problem});
            place.1 = last.link.raw.clone();
            place = chained(found, &place, &mut text);
        }
        let (_, digest) = chained(record, &place, &mut text);
        if file.metadata()?.len() != whole {
            // What was being written when ralph or the machine died never counted.
            point::file("cut", &self.path)?;
            file.set_len(whole)?;
        }
        point::torn(&self.path, || (&file).write_all(&text.as_bytes()[..text.len() / 2]))?;
        point::file("append", &self.path)?;
        file.write_all(text.as_bytes())?;
        point::file("sync", &self.path)?;
        file.sync_data()?;
        if new {
            self.path.parent().map_or(Ok(()), files::sync_dir)?;
        }
        Ok((Appended { digest, problem }, Some(Written { at: whole, text })))
    }

    /// What this ledger is known by elsewhere: the digest of its first record.
    pub fn id(&self) -> Option<String> {
        let mut first = vec![];
        BufReader::new(File::open(&self.path).ok()?).read_until(b'\n', &mut first).ok()?;
        Some(Line::of(1, first.trim_ascii()).link.held?.digest).filter(|digest| !digest.is_empty())
    }

    /// The words of a commit with a trailer more, by which it is known that its evidence belongs here: where the record
    /// is gone, and its journal too, the ledger was cut.
    pub fn signed(&self, message: &str) -> String {
        match self.id() {
            Some(id) => format!("{}\n{TRAILER}: {id}\n", message.trim_end()),
            None => message.to_owned(),
        }
    }

    /// All lines. A torn last one is none.
    pub fn read(&self) -> io::Result<Vec<Line>> {
        match std::fs::read(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(vec![]),
            bytes => Ok(split(&bytes?).0),
        }
    }
}

impl Line {
    fn of(number: usize, text: &[u8]) -> Self {
        let mut record: Value = serde_json::from_slice(text).unwrap_or_default();
        let content = digest_of(&mut record);
        let word = |key: &str| record[key].as_str().unwrap_or_default().to_owned();
        let held = record.is_object().then(|| Held {
            seq: record["seq"].as_u64().unwrap_or_default(),
            previous: word("previous"),
            digest: word("digest"),
            content: content.clone(),
            kind: word("type"),
            attempt: word("attempt"),
            evidence: word("evidence"),
            commit: word("commit"),
        });
        Self { link: Link { line: number, raw: digest::of(text), held }, record }
    }

    fn is(&self, kind: &Value, attempt: &str) -> bool {
        self.record["type"] == *kind && self.record["attempt"] == attempt
    }

    /// Whether its content is what was recorded.
    pub fn is_sound(&self) -> bool {
        self.link.held.as_ref().is_some_and(|held| held.digest == held.content)
    }

    fn problem(&self) -> Option<String> {
        match &self.link.held {
            None => Some("the last record of the evidence ledger cannot be read".into()),
            Some(_) if self.is_sound() => None,
            Some(_) => Some("the last record of the evidence ledger is not what was recorded".into()),
        }
    }

    /// Its number and digest.
    fn place(&self) -> (u64, String) {
        self.link.held.as_ref().map_or((0, String::new()), |held| (held.seq, held.digest.clone()))
    }
}

/// Writes the record down behind the one at `place`; where it is itself.
fn chained(mut record: Value, place: &(u64, String), text: &mut String) -> (u64, String) {
    let seq = place.0 + 1;
    record["seq"] = seq.into();
    record["previous"] = place.1.clone().into();
    let digest = digest_of(&mut record);
    record["digest"] = digest.clone().into();
    text.push_str(&format!("{record}\n"));
    (seq, digest)
}

/// The end of the ledger.
struct End {
    /// At least one, where there is one, and all at the end that belong to the attempt in question.
    lines: Vec<Line>,
    /// How long the file is without a torn line.
    whole: u64,
    /// The last record is whole, and its line break is gone.
    unended: bool,
}

fn end_of(file: &mut File, attempt: &str) -> io::Result<End> {
    let length = file.seek(SeekFrom::End(0))?;
    let mut size = TAIL.min(length);
    loop {
        file.seek(SeekFrom::Start(length - size))?;
        let mut bytes = Vec::new();
        file.take(size).read_to_end(&mut bytes)?;
        let start = match bytes.iter().position(|byte| *byte == b'\n') {
            _ if size == length => 0,
            Some(end) => end + 1,
            None => bytes.len(),
        };
        let (lines, rest) = split(&bytes[start..]);
        let others = lines.iter().any(|line| line.record["attempt"] != attempt);
        if others || size == length {
            let unended = rest == 0 && bytes.last().is_some_and(|byte| *byte != b'\n');
            return Ok(End { lines, whole: length - rest as u64, unended });
        }
        size = size.saturating_mul(4).min(length);
    }
}

/// The lines, and how many bytes at the end are none. What has no line break is one only if it is whole all the same.
fn split(bytes: &[u8]) -> (Vec<Line>, usize) {
    let end = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let texts = bytes.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).enumerate();
    let texts = texts.filter(|(_, text)| !text.is_empty());
    let mut lines: Vec<Line> = texts.map(|(nth, text)| Line::of(nth + 1, text)).collect();
    let torn = end < bytes.len() && lines.last().is_some_and(|line| !line.is_sound());
    if torn {
        lines.pop();
    }
    (lines, if torn { bytes.len() - end } else { 0 })
}

/// Of everything but the digest itself. Keys are written in one order, so the text is always the same.
fn digest_of(record: &mut Value) -> String {
    let digest = record.as_object_mut().and_then(|map| map.remove("digest"));
    let content = digest::of(record.to_string().as_bytes());
    if let Some(digest) = digest {
        record["digest"] = digest;
    }
    content
}

#[cfg(test)]
mod tests;
