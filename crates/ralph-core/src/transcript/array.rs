//! A stream printed as one JSON array, in whatever layout: `[{…},{…}]`, one object a line, or over many lines. It is cut
//! into its elements as it comes, so that only one of them is in memory.
//!
//! Plain text may begin with a bracket too. Until an element is known to open a stream, everything is kept as it came.

use super::lines::{Line, Lines, MAX_LINE};
use crate::prelude::*;

/// Cuts an array into its elements.
#[derive(Debug, Default)]
pub(super) struct Array {
    /// All bytes since the bracket, until a stream is recognised in it.
    held: Vec<u8>,
    recognised: bool,
    element: Lines,
    place: Place,
    depth: u32,
    in_string: bool,
    escaped: bool,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Place {
    #[default]
    Start,
    BeforeElement,
    InElement,
    AfterElement,
}

/// What was found in some bytes.
pub(super) enum Found<'b> {
    /// Nothing yet; all bytes were taken.
    Nothing,
    /// An element ended; [`Array::take_element`] has it.
    Element { rest: &'b [u8] },
    /// The array ended.
    End { rest: &'b [u8] },
    /// It is not an array of objects from here on.
    Other { rest: &'b [u8] },
}

impl Array {
    /// One that is known to be a stream.
    pub(super) fn recognised() -> Self {
        Self { recognised: true, ..Self::default() }
    }

    pub(super) fn is_recognised(&self) -> bool {
        self.recognised
    }

    /// What was kept, if no stream was recognised so far.
    pub(super) fn into_held(self) -> Vec<u8> {
        self.held
    }

    /// Reads up to the end of the next element.
    pub(super) fn next<'b>(&mut self, bytes: &'b [u8]) -> Found<'b> {
        if self.recognised {
            return self.find(bytes);
        }
        let (near, far) = bytes.split_at(bytes.len().min(MAX_LINE - self.held.len()));
        let found = self.find(near);
        let left = match found {
            Found::Element { rest } | Found::End { rest } | Found::Other { rest } => rest.len(),
            Found::Nothing => 0,
        };
        let (taken, rest) = bytes.split_at(near.len() - left);
        self.held.extend_from_slice(taken);
        match found {
            Found::Element { .. } => Found::Element { rest },
            Found::End { .. } => Found::End { rest },
            // So much without an event of a stream is something else.
            Found::Nothing if far.is_empty() => Found::Nothing,
            Found::Nothing | Found::Other { .. } => Found::Other { rest },
        }
    }

    fn find<'b>(&mut self, bytes: &'b [u8]) -> Found<'b> {
        let mut at = 0;
        while at < bytes.len() {
            if self.place == Place::InElement {
                at += self.inside(&bytes[at..]);
                if self.place == Place::AfterElement {
                    return Found::Element { rest: &bytes[at..] };
                }
                continue;
            }
            let (place, taken) = match (self.place, bytes[at]) {
                (place, byte) if byte.is_ascii_whitespace() => (place, 1),
                (Place::Start, b'[') | (Place::AfterElement, b',') => (Place::BeforeElement, 1),
                (Place::BeforeElement, b'{') => (Place::InElement, 0),
                (Place::BeforeElement | Place::AfterElement, b']') => {
                    return Found::End { rest: &bytes[at + 1..] };
                }
                _ => return Found::Other { rest: &bytes[at..] },
            };
            self.place = place;
            at += taken;
        }
        Found::Nothing
    }

    /// Takes bytes of an element up to its end. Line ends between its parts are of no meaning.
    fn inside(&mut self, bytes: &[u8]) -> usize {
        let mut at = 0;
        let mut from = 0;
        while at < bytes.len() {
            if self.in_string {
                at += self.in_string(&bytes[at..]);
                continue;
            }
            match bytes[at] {
                b'"' => self.in_string = true,
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => self.depth = self.depth.saturating_sub(1),
                b'\n' | b'\r' => {
                    self.element.keep(&bytes[from..at]);
                    from = at + 1;
                }
                _ => {}
            }
            at += 1;
            if self.depth == 0 {
                self.place = Place::AfterElement;
                break;
            }
        }
        self.element.keep(&bytes[from..at]);
        at
    }

    /// How many bytes belong to the string, its closing mark included.
    fn in_string(&mut self, bytes: &[u8]) -> usize {
        if core::mem::take(&mut self.escaped) {
            return 1;
        }
        match memchr::memchr2(b'"', b'\\', bytes) {
            Some(at) if bytes[at] == b'"' => {
                self.in_string = false;
                at + 1
            }
            Some(at) => {
                self.escaped = true;
                at + 1
            }
            None => bytes.len(),
        }
    }

    /// The element that ended.
    pub(super) fn take_element(&mut self, each: impl FnMut(Line<'_>)) {
        self.element.end_line(each);
    }

    /// What there is of an element that did not end.
    pub(super) fn finish(mut self, each: impl FnMut(Line<'_>)) {
        self.element.finish(each);
    }
}
