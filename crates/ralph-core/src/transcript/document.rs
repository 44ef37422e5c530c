//! Output that is JSON documents over many lines, as `jq .` prints them, and nothing else. Lines are held back while it
//! may be that.

use super::lines::{Line, MAX_LINE};
use super::value::Value;
use crate::prelude::*;

#[derive(Debug, Default)]
pub(super) struct Document {
    held: Vec<u8>,
    /// It is something else.
    over: bool,
}

impl Document {
    /// Whether the line is held back. If not, [`Self::take`] has what was held before it.
    pub(super) fn hold(&mut self, line: Line<'_>) -> bool {
        if self.over {
            return false;
        }
        let blank = line.bytes.trim_ascii().is_empty();
        let fits = match (&self.held[..], line.bytes) {
            ([], bytes) => matches!(bytes.trim_ascii_end(), b"{" | b"["),
            (held, bytes) => blank || !closed(held) || bytes.trim_ascii_end() == b"{",
        };
        if fits && !line.cut && self.held.len() + line.bytes.len() < MAX_LINE {
            self.held.extend_from_slice(line.bytes);
            self.held.push(b'\n');
            return true;
        }
        // Empty lines may stand before it.
        self.over = !blank || !self.held.is_empty();
        false
    }

    pub(super) fn take(&mut self) -> Vec<u8> {
        core::mem::take(&mut self.held)
    }
}

/// Whether the last line is one that closes a document.
fn closed(held: &[u8]) -> bool {
    let close: &[u8] = if held.starts_with(b"[") { b"\n]" } else { b"\n}" };
    held.trim_ascii_end().ends_with(close)
}

/// The documents, if there is nothing else in it.
pub(super) fn all(held: &[u8]) -> Vec<Value<'_>> {
    let documents = serde_json::Deserializer::from_slice(held).into_iter();
    documents.collect::<Result<_, _>>().unwrap_or_default()
}

/// The lines of what was held back.
pub(super) fn lines(held: &[u8]) -> impl Iterator<Item = Line<'_>> {
    let text = held.strip_suffix(b"\n");
    text.into_iter().flat_map(|text| text.split(|byte| *byte == b'\n')).map(|bytes| Line {
        bytes,
        cut: false,
        fails: false,
    })
}
