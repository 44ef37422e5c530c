//! The evidence ledger: one line for every settled attempt, each holding the digest of the one before, so that a line
//! that was changed, removed or moved is found.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::files;
use crate::{digest, point};

/// What the first line has instead of a digest before it.
const FIRST: &str = "";

#[derive(Debug, Clone)]
pub struct Ledger {
    path: PathBuf,
}

/// One line and how it stands in the chain.
#[derive(Debug, Clone)]
pub struct Line {
    /// From 1.
    pub number: usize,
    pub record: Value,
    /// What is wrong with it.
    pub problem: Option<String>,
}

/// How often an item failed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Failures {
    /// Since it was last blocked.
    pub attempts: u64,
    pub blocked: bool,
    pub in_all: u64,
}

impl Ledger {
    pub fn of(truth: &Path) -> Self {
        Self { path: truth.join("evidence.jsonl") }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends a record and returns its digest; one that is there already, by type and attempt, is not written again.
    pub fn append(&self, mut record: Value) -> io::Result<String> {
        let name = |record: &Value| (record["type"].clone(), record["attempt"].clone());
        let lines = self.read()?;
        if let Some(known) = lines.iter().rev().find(|line| name(&line.record) == name(&record)) {
            return Ok(known.record["digest"].as_str().unwrap_or_default().to_owned());
        }
        let last = lines.last().and_then(|line| line.record["digest"].as_str());
        record["seq"] = (lines.len() + 1).into();
        record["previous"] = last.unwrap_or(FIRST).into();
        let digest = digest_of(&record);
        record["digest"] = digest.clone().into();
        let new = !self.path.exists();
        let mut file = files::append_private(&self.path)?;
        // A line that was cut off in the middle must not swallow this one.
        let torn = self.is_torn()?;
        let text = format!("{}{record}\n", if torn { "\n" } else { "" });
        point::file("append to", &self.path)?;
        file.write_all(text.as_bytes())?;
        file.sync_data()?;
        if new {
            self.path.parent().map_or(Ok(()), files::sync_dir)?;
        }
        Ok(digest)
    }

    /// Attempts that did not pass, by item, each with whether the last one had the item blocked. A pass
    /// begins anew.
    pub fn failures(&self) -> HashMap<String, Failures> {
        let mut failures = HashMap::<String, Failures>::new();
        let lines = self.read().unwrap_or_default();
        for record in lines.iter().map(|line| &line.record).filter(|record| record["type"] == "attempt") {
            let Some(item) = record["item"].as_str() else { continue };
            let known = failures.entry(item.to_owned()).or_default();
            match record["result"].as_str() {
                Some("PASSED") => *known = Failures::default(),
                _ => {
                    let so_far = if known.blocked { 0 } else { known.attempts };
                    known.in_all += 1;
                    *known = Failures { attempts: so_far + 1, blocked: record["blocked"] == true, ..*known };
                }
            }
        }
        failures
    }

    fn is_torn(&self) -> io::Result<bool> {
        let bytes = std::fs::read(&self.path)?;
        Ok(bytes.last().is_some_and(|byte| *byte != b'\n'))
    }

    /// All lines, each checked against the one before. A torn last line is none.
    pub fn read(&self) -> io::Result<Vec<Line>> {
        let file = match File::open(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(vec![]),
            file => file?,
        };
        let mut lines: Vec<Line> = vec![];
        let mut previous = FIRST.to_owned();
        for (nth, text) in BufReader::new(file).split(b'\n').enumerate() {
            let text = text?;
            let Ok(record) = serde_json::from_slice::<Value>(&text) else {
                if !text.iter().all(u8::is_ascii_whitespace) {
                    lines.push(Line {
                        number: nth + 1,
                        record: Value::Null,
                        problem: Some("it cannot be read".into()),
                    });
                }
                continue;
            };
            let problem = problem(&record, &previous, lines.len() + 1);
            previous = record["digest"].as_str().unwrap_or_default().to_owned();
            lines.push(Line { number: nth + 1, record, problem });
        }
        // What was being written when the machine died never counted.
        if lines.last().is_some_and(|line| line.record.is_null()) && self.is_torn()? {
            lines.pop();
        }
        Ok(lines)
    }
}

fn problem(record: &Value, previous: &str, seq: usize) -> Option<String> {
    if record["digest"].as_str() != Some(&digest_of(record)) {
        return Some("its content is not what was recorded".into());
    }
    if record["previous"].as_str() != Some(previous) || record["seq"].as_u64() != Some(seq as u64) {
        return Some("a record before it was removed, added or moved".into());
    }
    None
}

/// Of everything but the digest itself. Keys are written in one order, so the text is always the same.
fn digest_of(record: &Value) -> String {
    let mut bare = record.clone();
    if let Some(map) = bare.as_object_mut() {
        map.remove("digest");
    }
    digest::of(bare.to_string().as_bytes())
}
