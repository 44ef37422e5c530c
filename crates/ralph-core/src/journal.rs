//! The journal's codec: one JSON object a line, `{"v","seq","at","type",…,"crc"}`.
//!
//! The checksum covers every byte of the line before its own field. A torn last line is dropped; anything
//! else that does not fit is a named problem and ends what can be trusted.

use serde::{Deserialize, Serialize};

use crate::decision::Decision;
use crate::event::Event;
use crate::prelude::*;
use crate::state::{State, apply};
use crate::time::Time;

/// The version this program writes. A newer one is read as far as it is understood, and never written.
pub const VERSION: u32 = 2;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    pub seq: u64,
    pub at: Time,
    pub body: Body,
}

#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "a record lives for one append or one fold step")]
pub enum Body {
    /// An event and what was decided about it.
    Step { event: Event, decision: Decision },
    /// The whole state, so that opening a long run reads only its end.
    Checkpoint { state: Box<State> },
    /// What only another version understands: it changes nothing here.
    Unknown,
}

/// The shape of a stored state. A checkpoint of another shape is passed over, for a state that misses what this
/// version derives from old records would differ from their fold.
const STATE_SHAPE: u32 = 16;

/// What every version's line has.
#[derive(Deserialize)]
struct Head {
    v: u32,
    seq: u64,
    at: Time,
}

#[derive(Serialize, Deserialize)]
struct Wire {
    v: u32,
    seq: u64,
    at: Time,
    #[serde(rename = "type")]
    kind: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    shape: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    event: Option<Event>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    decision: Option<Decision>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    state: Option<Box<State>>,
}

const CRC_KEY: &str = ",\"crc\":\"";
/// `,"crc":"` + eight hex digits + `"}`
const CRC_LEN: usize = CRC_KEY.len() + 8 + 2;
/// How a checkpoint's line of our shape can be told without parsing it.
fn checkpoint_mark() -> String {
    format!("\"type\":\"checkpoint\",\"shape\":{STATE_SHAPE},")
}

/// The record as one line, with its line end.
pub fn encode(record: &Record) -> String {
    let mut wire = Wire {
        v: VERSION,
        seq: record.seq,
        at: record.at,
        kind: "step".into(),
        shape: None,
        event: None,
        decision: None,
        state: None,
    };
    match &record.body {
        Body::Step { event, decision } => {
            wire.event = Some(event.clone());
            wire.decision = Some(decision.clone());
        }
        Body::Checkpoint { state } => {
            wire.kind = "checkpoint".into();
            wire.shape = Some(STATE_SHAPE);
            wire.state = Some(state.clone());
        }
        Body::Unknown => wire.kind = "unknown".into(),
    }
    // Only maps with keys that are not strings can fail to serialize, and there are none.
    let mut line = serde_json::to_string(&wire).unwrap_or_else(|_| String::from("{}"));
    line.pop();
    let crc = checksum(line.as_bytes());
    line.push_str(&format!("{CRC_KEY}{crc}\"}}\n"));
    line
}

fn checksum(text: &[u8]) -> String {
    format!("{:08x}", crc32fast::hash(text))
}

/// What is wrong with a line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    #[error("line {line}: the checksum does not fit")]
    Checksum { line: u64 },
    #[error("line {line}: not a record ({why})")]
    Unreadable { line: u64, why: String },
    #[error("line {line}: record {found} where {expected} should be")]
    Sequence { line: u64, expected: u64, found: u64 },
    #[error("the last line is cut off")]
    Torn,
    #[error("written by a newer version (journal format {version}, this program writes {VERSION})")]
    Newer { version: u32 },
}

/// What a journal's bytes amount to.
#[derive(Debug, Default)]
pub struct Opened {
    pub state: State,
    pub problems: Vec<Problem>,
    /// Bytes, from the start of what was read, that hold whole good records.
    pub good: usize,
    pub records: u64,
}

impl Opened {
    /// Whether records may be appended: nothing is wrong but a torn last line.
    pub fn writable(&self) -> bool {
        self.problems.iter().all(|problem| *problem == Problem::Torn)
    }
}

/// Folds the records of `bytes`, which starts at a line's start; `each` sees every record and the state after it.
pub fn open(bytes: &[u8], each: impl FnMut(&Record, &State)) -> Opened {
    go_on(State::default(), bytes, each)
}

/// The same for the records that follow those of a state: a journal that grows is read as it grows.
pub fn go_on(state: State, bytes: &[u8], mut each: impl FnMut(&Record, &State)) -> Opened {
    let mut opened = Opened { state, ..Opened::default() };
    let mut known = opened.state.seq > 0;
    let mut line_number = 0;
    while opened.good < bytes.len() {
        line_number += 1;
        let rest = &bytes[opened.good..];
        let end = memchr::memchr(b'\n', rest);
        let line = &rest[..end.unwrap_or(rest.len())];
        let last = end.is_none_or(|end| end + 1 == rest.len());
        let expected = known.then_some(opened.state.seq.wrapping_add(1));
        match decode(line, line_number, expected) {
            // A crash can tear only the last line; a whole line without its line end is torn as well.
            _ if end.is_none() => {
                opened.problems.push(Problem::Torn);
                break;
            }
            // So is one whose checksum does not fit. A line whose checksum fits is whole, understood or not.
            Err(Problem::Checksum { .. }) if last => {
                opened.problems.push(Problem::Torn);
                break;
            }
            Err(problem) => {
                opened.problems.push(problem);
                break;
            }
            Ok((version, record)) => {
                if version > VERSION && !opened.problems.iter().any(|p| matches!(p, Problem::Newer { .. })) {
                    opened.problems.push(Problem::Newer { version });
                }
                opened.state = apply(core::mem::take(&mut opened.state), &record);
                opened.good += line.len() + 1;
                opened.records += 1;
                known = true;
                each(&record, &opened.state);
            }
        }
    }
    opened
}

/// Where the last checkpoint's line starts in `bytes`, if there is one. `whole`: `bytes` starts at a line's start.
pub fn last_checkpoint(bytes: &[u8], whole: bool) -> Option<usize> {
    // Inside an agent's words the quotes would be escaped, so the mark is the record's own.
    let at = memchr::memmem::rfind(bytes, checkpoint_mark().as_bytes())?;
    let newline = memchr::memrchr(b'\n', &bytes[..at]).map(|newline| newline + 1);
    newline.or(whole.then_some(0))
}

fn decode(line: &[u8], number: u64, expected: Option<u64>) -> Result<(u32, Record), Problem> {
    let unreadable = |why: &str| Problem::Unreadable { line: number, why: why.to_owned() };
    let no_checksum = Problem::Checksum { line: number };
    let Some(body) = line.len().checked_sub(CRC_LEN) else { return Err(no_checksum) };
    let (text, crc) = line.split_at(body);
    let crc = crc.strip_prefix(CRC_KEY.as_bytes()).and_then(|crc| crc.strip_suffix(b"\"}")).unwrap_or(b"");
    if crc != checksum(text).as_bytes() {
        return Err(no_checksum);
    }
    let mut json = text.to_vec();
    json.push(b'}');
    let head: Head = serde_json::from_slice(&json).map_err(|error| unreadable(&error.to_string()))?;
    let Head { v, seq, at } = head;
    if let Some(expected) = expected.filter(|expected| *expected != seq) {
        return Err(Problem::Sequence { line: number, expected, found: seq });
    }
    let wire: Wire = match serde_json::from_slice(&json) {
        Ok(wire) => wire,
        Err(_) if v > VERSION => return Ok((v, Record { seq, at, body: Body::Unknown })),
        Err(error) => return Err(unreadable(&error.to_string())),
    };
    let body = match (wire.kind.as_str(), wire.event, wire.decision, wire.state) {
        ("step", Some(event), Some(decision), _) => Body::Step { event, decision },
        ("checkpoint", _, _, Some(state)) if wire.shape == Some(STATE_SHAPE) => Body::Checkpoint { state },
        ("checkpoint", ..) => Body::Unknown,
        _ if wire.v > VERSION => Body::Unknown,
        (kind, ..) => return Err(unreadable(&format!("unknown type {kind}"))),
    };
    Ok((v, Record { seq, at, body }))
}

#[cfg(test)]
mod tests;
