//! Output that is JSON documents over many lines, as `jq .` prints them, and nothing else. Lines are held back while it
//! may be that.

use super::lines::{Line, MAX_LINE};
use super::notices::is_notice;
use super::value::Value;
use crate::prelude::*;
use crate::text;

#[derive(Debug, Default)]
pub(super) struct Document {
    held: Vec<u8>,
    /// It is something else.
    over: bool,
}

impl Document {
    /// Whether the line is held back; a document begins only if one may `later` than at the start. If not,
    /// [`Self::take`] has what was held before it.
    pub(super) fn hold(&mut self, line: Line<'_>, later: bool) -> bool {
        if self.over {
            return false;
        }
        let bytes = line.bytes.trim_ascii_end();
        let fits = match &self.held[..] {
            [] => bytes == b"{",
            held => bytes.is_empty() || !closed(held) || bytes == b"{" || is_aside(bytes),
        };
        if fits && !line.cut && self.held.len() + line.bytes.len() < MAX_LINE {
            self.held.extend_from_slice(line.bytes);
            self.held.push(b'\n');
            return true;
        }
        // Empty lines may stand before it.
        self.over = !self.held.is_empty() || !later && !bytes.is_empty();
        false
    }

    pub(super) fn is_holding(&self) -> bool {
        !self.held.is_empty()
    }

    pub(super) fn take(&mut self) -> Vec<u8> {
        core::mem::take(&mut self.held)
    }
}

/// Whether the last line but what others said is one that closes a document.
fn closed(held: &[u8]) -> bool {
    without_asides(held).ends_with(b"\n}")
}

/// Whether it is a line of the program around it.
fn is_aside(line: &[u8]) -> bool {
    core::str::from_utf8(line).is_ok_and(|line| is_notice(&text::plain(line)))
}

fn without_asides(mut held: &[u8]) -> &[u8] {
    loop {
        held = held.trim_ascii_end();
        let start = memchr::memrchr(b'\n', held).map_or(0, |end| end + 1);
        // A part of a document ends in a bracket, a comma or a mark.
        if held.is_empty() || !is_aside(&held[start..]) {
            return held;
        }
        held = &held[..start];
    }
}

/// The documents, if there is nothing else in it.
pub(super) fn all(held: &[u8]) -> Vec<Value<'_>> {
    let documents = serde_json::Deserializer::from_slice(without_asides(held)).into_iter();
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
