//! A message cut into segments (paragraph, list item, heading, table row), without the lines that are
//! not the agent's own prose: status blocks, marker lines, code, quotations.

use core::ops::ControlFlow;

use crate::prelude::*;
use crate::report::block::{self, Delimiter};
use crate::text::{self, Fences, Place};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    Paragraph,
    Heading,
    Item,
    /// `- [x] …`
    Ticked,
    /// `- [ ] …`
    Unticked,
    Row,
}

#[derive(Debug)]
pub(super) struct Segment {
    pub shape: Shape,
    pub text: String,
    /// Something that is not prose stands before it: a blank line, code, a report.
    pub after_gap: bool,
}

/// Longer segments are cut, so that memory stays bounded whatever comes in.
const LONGEST: usize = 16 * 1024;
/// A line shorter than this, followed by a capital, was not wrapped there.
const SHORTEST_WRAP: usize = 40;

/// Calls `each` for one segment after the other, until it has enough.
pub(super) fn segments(words: &str, each: &mut dyn FnMut(Segment) -> ControlFlow<()>) {
    let mut cutter = Cutter {
        each,
        open: None,
        inside: Inside::Prose,
        fences: Fences::default(),
        in_list: false,
        gap: false,
        last_line: 0,
        flow: ControlFlow::Continue(()),
    };
    let unjoined = block::unjoined(words);
    let words: &str = &unjoined.words;
    let last_end = words.rfind("END_RALPH_STATUS").unwrap_or(0);
    let mut at = 0;
    for line in words.split_inclusive('\n') {
        if cutter.flow.is_break() {
            return;
        }
        at += line.len();
        let mut rest = line;
        while rest.len() > LONGEST {
            let (chunk, more) = rest.split_at(text_cut(rest));
            cutter.line(&text::plain(chunk), at <= last_end);
            rest = more;
        }
        cutter.line(text::plain(rest).trim_end(), at <= last_end);
    }
    cutter.flush();
}

fn text_cut(line: &str) -> usize {
    let mut end = LONGEST;
    while !line.is_char_boundary(end) {
        end -= 1;
    }
    line[..end].rfind(' ').filter(|at| *at > 0).unwrap_or(end)
}

#[derive(Clone, Copy)]
enum Inside {
    Prose,
    Block,
    Json { depth: usize },
}

struct Cutter<'a> {
    each: &'a mut dyn FnMut(Segment) -> ControlFlow<()>,
    open: Option<Segment>,
    inside: Inside,
    fences: Fences,
    in_list: bool,
    /// No prose since the last segment.
    gap: bool,
    /// Length of the line before, while a segment is open.
    last_line: usize,
    /// What `each` said last.
    flow: ControlFlow<()>,
}

impl Cutter<'_> {
    fn flush(&mut self) {
        if let Some(segment) = self.open.take()
            && self.flow.is_continue()
        {
            self.flow = (self.each)(segment);
        }
    }

    /// What is not prose parts paragraphs.
    fn part(&mut self) {
        self.flush();
        self.gap = true;
    }

    fn line(&mut self, line: &str, end_follows: bool) {
        let bare = line.trim();
        match self.inside {
            Inside::Block => {
                if block::delimiter(bare) == Some(Delimiter::End) || (bare.is_empty() && !end_follows) {
                    self.inside = Inside::Prose;
                }
            }
            Inside::Json { depth } => {
                let depth = braces(bare, depth);
                self.inside =
                    if depth == 0 || bare.is_empty() { Inside::Prose } else { Inside::Json { depth } };
            }
            Inside::Prose => self.prose(line, bare),
        }
    }

    fn prose(&mut self, line: &str, bare: &str) {
        if self.fences.line(bare) != Place::Outside {
            self.part();
        } else if block::delimiter(bare) == Some(Delimiter::Begin) {
            self.part();
            self.inside = Inside::Block;
        } else if let Some(json) = text::undecorated(bare).strip_prefix("RALPH_STATUS:") {
            self.part();
            let depth = braces(json, 0);
            if depth > 0 {
                self.inside = Inside::Json { depth };
            }
        } else if bare.is_empty() || is_rule(bare) || is_declaration(bare) || bare.starts_with('>') {
            self.part();
        } else if is_divider(bare) {
            // The row above a divider names columns.
            self.open = None;
        } else {
            let indented = line.starts_with("    ") || line.starts_with('\t');
            if !(indented && self.open.is_none() && !self.in_list) {
                self.words(line, bare, indented);
            }
        }
    }

    fn words(&mut self, line: &str, bare: &str, indented: bool) {
        let (shape, content) = shape(bare);
        let starts = shape != Shape::Paragraph || self.starts_segment(bare);
        self.in_list = match shape {
            Shape::Item | Shape::Ticked | Shape::Unticked => true,
            _ => self.in_list && (indented || line.starts_with(' ') || !starts),
        };
        let full = self.open.as_ref().is_some_and(|open| open.text.len() > LONGEST);
        match &mut self.open {
            Some(open) if !starts && !full && !matches!(open.shape, Shape::Heading | Shape::Row) => {
                open.text.push('\n');
                open.text.push_str(content);
            }
            _ => {
                self.flush();
                let after_gap = core::mem::take(&mut self.gap);
                self.open = Some(Segment { shape, text: content.to_owned(), after_gap });
            }
        }
        self.last_line = bare.len();
    }

    /// Lines that follow each other are one paragraph, unless they were plainly not wrapped.
    fn starts_segment(&self, bare: &str) -> bool {
        let Some(first) = bare.trim_start_matches(['*', '_']).chars().next() else { return false };
        let picture = !first.is_ascii()
            && !first.is_alphabetic()
            && !matches!(first, '—' | '–' | '“' | '‘' | '„' | '«');
        let capital = first.is_uppercase();
        let label =
            capital && bare.split_once(':').is_some_and(|(label, _)| label.split_whitespace().count() <= 4);
        picture || label || (capital && self.last_line < SHORTEST_WRAP)
    }
}

fn shape(bare: &str) -> (Shape, &str) {
    let after_hashes = bare.trim_start_matches('#');
    let hashes = bare.len() - after_hashes.len();
    let heading = (1..=6).contains(&hashes) && after_hashes.starts_with(' ');
    let content = if heading { after_hashes.trim_start() } else { bare };
    let (marked, item) = match item(content) {
        Some(item) => (true, item),
        None => (false, content),
    };
    match tick(item) {
        Some((true, rest)) => (Shape::Ticked, rest),
        Some((false, rest)) => (Shape::Unticked, rest),
        None if heading || is_bold_line(bare) => (Shape::Heading, content),
        None if marked => (Shape::Item, item),
        None if bare.starts_with('|') => (Shape::Row, bare),
        None => (Shape::Paragraph, bare),
    }
}

/// What follows `- `, `* `, `+ `, `• `, `1. ` or `1) `.
fn item(line: &str) -> Option<&str> {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let rest = if (1..=4).contains(&digits) {
        line[digits..].strip_prefix(['.', ')'])?
    } else {
        line.strip_prefix(['-', '*', '+', '•', '◦', '▪', '–'])?
    };
    rest.starts_with(char::is_whitespace).then(|| rest.trim_start())
}

fn tick(item: &str) -> Option<(bool, &str)> {
    for (mark, ticked) in [
        ("[ ]", false),
        ("[]", false),
        ("[-]", false),
        ("[~]", false),
        ("☐", false),
        ("⬜", false),
        ("🔲", false),
        ("🚧", false),
        ("⏳", false),
        ("[x]", true),
        ("[X]", true),
        ("☑", true),
        ("✅", true),
        ("✔", true),
    ] {
        if let Some(rest) = item.strip_prefix(mark) {
            return Some((ticked, rest.trim_start()));
        }
    }
    None
}

fn is_bold_line(bare: &str) -> bool {
    let inside = bare.trim_end_matches(':').strip_prefix("**").and_then(|rest| rest.strip_suffix("**"));
    inside.is_some_and(|inside| !inside.contains("**"))
}

/// A line of some protocol, with or without its frame: the marker of a loop, or a field of the block.
fn is_declaration(bare: &str) -> bool {
    const NAMES: [&str; 10] = [
        "LOOP_COMPLETE",
        "LOOP_CONTINUE",
        "LOOP_BLOCKED",
        "STATUS:",
        "TASKS_COMPLETED_THIS_LOOP",
        "FILES_MODIFIED",
        "TESTS_STATUS",
        "WORK_TYPE",
        "EXIT_SIGNAL",
        "RECOMMENDATION:",
    ];
    let line = text::undecorated(bare);
    NAMES.iter().any(|name| line.starts_with(name))
}

fn is_rule(bare: &str) -> bool {
    bare.len() >= 3 && bare.chars().all(|c| matches!(c, '-' | '=' | '*' | '_' | ' '))
}

fn is_divider(bare: &str) -> bool {
    bare.starts_with('|') && bare.contains('-') && bare.chars().all(|c| matches!(c, '|' | '-' | ':' | ' '))
}

fn braces(line: &str, depth: usize) -> usize {
    line.bytes().fold(depth, |depth, b| match b {
        b'{' => depth + 1,
        b'}' => depth.saturating_sub(1),
        _ => depth,
    })
}
