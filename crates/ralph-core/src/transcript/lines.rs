//! Splits a stream into lines, whatever the chunks, with bounded memory.

use crate::prelude::*;

/// A longer line is cut here; its rest is dropped and the line is flagged.
pub const MAX_LINE: usize = 8 << 20;

/// One line, without its line end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line<'a> {
    pub bytes: &'a [u8],
    pub cut: bool,
}

/// Holds the unfinished last line between chunks.
#[derive(Debug, Default)]
pub struct Lines {
    partial: Vec<u8>,
    cut: bool,
}

impl Lines {
    /// Calls `each` for every line that `bytes` completes. A line that lies whole within `bytes` is
    /// handed on without a copy.
    pub fn feed(&mut self, mut bytes: &[u8], mut each: impl FnMut(Line<'_>)) {
        while let Some(end) = memchr::memchr(b'\n', bytes) {
            let (line, rest) = (&bytes[..end], &bytes[end + 1..]);
            if self.partial.is_empty() && !self.cut {
                let cut = line.len() > MAX_LINE;
                each(Line { bytes: &line[..line.len().min(MAX_LINE)], cut });
            } else {
                self.keep(line);
                each(Line { bytes: &self.partial, cut: self.cut });
                self.partial.clear();
                self.cut = false;
            }
            bytes = rest;
        }
        self.keep(bytes);
    }

    /// The last line, if the stream did not end with a line end.
    pub fn finish(&mut self, mut each: impl FnMut(Line<'_>)) {
        if !self.partial.is_empty() || self.cut {
            each(Line { bytes: &self.partial, cut: self.cut });
        }
        self.partial = Vec::new();
        self.cut = false;
    }

    fn keep(&mut self, bytes: &[u8]) {
        let room = MAX_LINE - self.partial.len();
        self.cut |= bytes.len() > room;
        self.partial.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }
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
}
