//! Splits a stream into lines, whatever the chunks, with bounded memory.

use crate::prelude::*;

/// A longer line is cut here; its rest is dropped and the line is flagged.
pub const MAX_LINE: usize = 8 << 20;

/// What is told of the rest that is dropped: a tool failed. Inside a string its quotes would be escaped.
const FAILS: &[u8] = b"\"is_error\":true";

/// One line, without its line end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line<'a> {
    pub bytes: &'a [u8],
    pub cut: bool,
    /// What was cut off says that a tool failed.
    pub fails: bool,
}

/// Holds the unfinished last line between chunks.
#[derive(Debug, Default)]
pub struct Lines {
    partial: Vec<u8>,
    cut: bool,
    fails: bool,
    /// The end of what was dropped, where the next piece may go on.
    dropped: Vec<u8>,
}

impl Lines {
    /// Calls `each` for every line that `bytes` completes. A line that lies whole within `bytes` is
    /// handed on without a copy.
    pub fn feed(&mut self, bytes: &[u8], each: impl FnMut(Line<'_>)) {
        self.feed_until(bytes, |_| false, each);
    }

    /// The same up to a line whose first byte is to stop at. Gives what is left from there on.
    pub fn feed_until<'b>(
        &mut self,
        mut bytes: &'b [u8],
        stops_at: impl Fn(u8) -> bool,
        mut each: impl FnMut(Line<'_>),
    ) -> &'b [u8] {
        loop {
            if self.partial.is_empty() && bytes.first().is_some_and(|first| stops_at(*first)) {
                return bytes;
            }
            let Some(end) = memchr::memchr(b'\n', bytes) else { break };
            let (line, rest) = (&bytes[..end], &bytes[end + 1..]);
            if self.partial.is_empty() && line.len() <= MAX_LINE {
                each(Line { bytes: line, cut: false, fails: false });
            } else {
                self.keep(line);
                self.end_line(&mut each);
            }
            bytes = rest;
        }
        self.keep(bytes);
        &[]
    }

    /// A piece of a line that [`Self::end_line`] ends, whatever bytes are in it.
    pub(super) fn keep(&mut self, bytes: &[u8]) {
        let room = MAX_LINE - self.partial.len();
        let (kept, rest) = bytes.split_at(bytes.len().min(room));
        self.partial.extend_from_slice(kept);
        if !rest.is_empty() {
            self.drop(rest);
        }
    }

    pub(super) fn end_line(&mut self, mut each: impl FnMut(Line<'_>)) {
        each(self.line());
        self.partial.clear();
        (self.cut, self.fails) = (false, false);
    }

    /// The last line, if the stream did not end with a line end.
    pub fn finish(&mut self, mut each: impl FnMut(Line<'_>)) {
        if !self.partial.is_empty() {
            each(self.line());
        }
        *self = Self::default();
    }

    fn line(&self) -> Line<'_> {
        Line { bytes: &self.partial, cut: self.cut, fails: self.fails }
    }

    /// Looks through what does not fit, and through the seam to what came before it.
    fn drop(&mut self, rest: &[u8]) {
        const SEAM: usize = FAILS.len();
        if !self.cut {
            self.cut = true;
            self.dropped.clear();
            self.dropped.extend_from_slice(&self.partial[MAX_LINE - SEAM..]);
        }
        let start = &rest[..rest.len().min(SEAM)];
        self.dropped.extend_from_slice(start);
        self.fails |= fails(&self.dropped) || fails(rest);
        self.dropped.extend_from_slice(&rest[start.len().max(rest.len().saturating_sub(SEAM))..]);
        self.dropped.drain(..self.dropped.len() - SEAM);
    }
}

/// The first line with its end, or what there is of it, and the others.
pub(super) fn split_first(bytes: &[u8]) -> (&[u8], &[u8]) {
    bytes.split_at(memchr::memchr(b'\n', bytes).map_or(bytes.len(), |end| end + 1))
}

/// What stands at the very start is seen with what came before it.
fn fails(bytes: &[u8]) -> bool {
    memchr::memmem::find_iter(bytes, FAILS).any(|at| at > 0 && bytes[at - 1] != b'\\')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(chunks: &[&[u8]]) -> Vec<(Vec<u8>, bool)> {
        let mut lines = Lines::default();
        let mut out = Vec::new();
        for chunk in chunks {
            lines.feed(chunk, |line| out.push((line.bytes.to_vec(), line.cut)));
        }
        lines.finish(|line| out.push((line.bytes.to_vec(), line.cut)));
        out
    }

    #[test]
    fn any_chunking_gives_the_same_lines() {
        let text: &[u8] = b"one\n\ntwo\r\nthree";
        let whole = split(&[text]);
        assert_eq!(whole.len(), 4);
        for at in 0..=text.len() {
            assert_eq!(split(&[&text[..at], &text[at..]]), whole, "split at {at}");
        }
    }

    #[test]
    fn a_huge_line_is_cut_and_flagged_and_the_next_one_is_whole() {
        let huge = vec![b'x'; MAX_LINE + 10];
        let lines = split(&[&huge[..100], &huge[100..], b"yy\nnext\n"]);
        assert_eq!(lines.len(), 2);
        assert_eq!((lines[0].0.len(), lines[0].1), (MAX_LINE, true));
        assert_eq!(lines[1], (b"next".to_vec(), false));
    }

    #[test]
    fn what_is_cut_off_tells_that_a_tool_failed_wherever_it_is_cut() {
        let fails = |line: &[u8], chunk: usize| {
            let (mut lines, mut found) = (Lines::default(), Vec::new());
            // The part that is kept need not come in small pieces.
            let (kept, rest) = line.split_at(MAX_LINE - 40);
            lines.feed(kept, |_| {});
            rest.chunks(chunk).for_each(|piece| lines.feed(piece, |line| found.push(line.fails)));
            lines.finish(|line| found.push(line.fails));
            found
        };
        let line = |before: usize, said: &str| {
            [&vec![b'x'; before][..], said.as_bytes(), &vec![b'y'; 3 * FAILS.len()], b"\nnext"].concat()
        };
        for before in [MAX_LINE - 20, MAX_LINE - 15, MAX_LINE - 14, MAX_LINE - 1, MAX_LINE, MAX_LINE + 33] {
            let lost = before + FAILS.len() + 1 > MAX_LINE;
            for chunk in [1, 2, 7, FAILS.len(), 1 << 20] {
                let said = line(before, ",\"is_error\":true");
                assert_eq!(fails(&said, chunk), [lost, false], "{before} {chunk}");
                let quoted = line(before, "\\\"is_error\":true");
                assert_eq!(fails(&quoted, chunk), [false, false], "{before} {chunk}, quoted");
            }
        }
    }
}
