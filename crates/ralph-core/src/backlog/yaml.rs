//! YAML as a tree whose nodes know their bytes. The parser is a whole one, so that whatever somebody writes is either
//! understood as every other reader understands it, or an error.

use alloc::borrow::Cow;
use alloc::collections::BTreeMap;
use core::ops::Range;

use granit_parser::{Event, Parser, ScalarStyle, StructureStyle};

use crate::prelude::*;

/// Nodes deeper than this are an error; reading them is recursive.
const DEPTH: usize = 128;

#[derive(Debug, Clone)]
pub(crate) struct Node<'a> {
    pub(crate) span: Range<usize>,
    pub(crate) kind: Kind<'a>,
}

#[derive(Debug, Clone)]
pub(crate) enum Kind<'a> {
    Scalar { text: Cow<'a, str>, style: Style },
    List { items: Vec<Node<'a>>, flow: bool },
    Map { fields: Vec<(Node<'a>, Node<'a>)>, flow: bool },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    Plain,
    Single,
    Double,
    /// `|` or `>`, over several lines.
    Block,
    /// With a tag: whatever it looks like, it is text here.
    Tagged,
}

/// Why the text cannot be used, and at which byte.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) at: usize,
    pub(crate) why: String,
}

impl Node<'_> {
    /// What a plain word means: YAML 1.2's core schema.
    pub(crate) fn plain(&self) -> Option<&str> {
        match &self.kind {
            Kind::Scalar { text, style: Style::Plain } => Some(text),
            _ => None,
        }
    }

    pub(crate) fn is_null(&self) -> bool {
        self.plain().is_some_and(is_null)
    }

    pub(crate) fn bool(&self) -> Option<bool> {
        bool_of(self.plain()?)
    }

    /// Where its text ends: the last byte of its last part. The parser's own end of a block runs on to the next token.
    pub(crate) fn end(&self) -> usize {
        match &self.kind {
            Kind::Scalar { .. } => self.span.end,
            Kind::List { items, flow: false } => items.last().map_or(self.span.end, Node::end),
            Kind::Map { fields, flow: false } => {
                fields.last().map_or(self.span.end, |(key, value)| value.end().max(key.span.end))
            }
            _ => self.span.end,
        }
    }
}

pub(crate) fn is_null(word: &str) -> bool {
    matches!(word, "" | "~" | "null" | "Null" | "NULL")
}

pub(crate) fn bool_of(word: &str) -> Option<bool> {
    match word {
        "true" | "True" | "TRUE" => Some(true),
        "false" | "False" | "FALSE" => Some(false),
        _ => None,
    }
}

/// The only document of a text; null where there is none.
pub(crate) fn read(text: &str) -> Result<Node<'_>, Fault> {
    // The parser leaves a mark at the start out of its counting.
    let skipped = if text.starts_with('\u{feff}') { 3 } else { 0 };
    let body = &text[skipped..];
    let mut reader =
        Reader { parser: Parser::new_from_str(body), skipped, length: text.len(), anchors: BTreeMap::new() };
    let mut root = None;
    while let Some((event, span)) = reader.next()? {
        match event {
            Event::DocumentStart(..) | Event::DocumentEnd | Event::StreamStart | Event::StreamEnd => {}
            event if root.is_none() => root = Some(reader.node(event, span, DEPTH)?),
            _ => return Err(Fault { at: span.start, why: "there is more than one document".into() }),
        }
    }
    let nothing = Node {
        span: text.len()..text.len(),
        kind: Kind::Scalar { text: Cow::Borrowed(""), style: Style::Plain },
    };
    Ok(root.unwrap_or(nothing))
}

struct Reader<'a> {
    parser: Parser<'a, granit_parser::StrInput<'a>>,
    skipped: usize,
    length: usize,
    /// Anchored scalars. Whole structures by alias are read as nothing: task files do not need them.
    anchors: BTreeMap<usize, (Cow<'a, str>, Style)>,
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Result<Option<(Event<'a>, Range<usize>)>, Fault> {
        let place = |marker: &granit_parser::Marker, reader: &Self| {
            marker.byte_offset().map_or(reader.length, |at| (at + reader.skipped).min(reader.length))
        };
        match self.parser.next_event() {
            None => Ok(None),
            Some(Ok((event, span))) => {
                let (start, end) = (place(&span.start, self), place(&span.end, self));
                Ok(Some((event, start..end.max(start))))
            }
            Some(Err(error)) => Err(Fault { at: place(error.marker(), self), why: error.info() }),
        }
    }

    fn inner(&mut self) -> Result<(Event<'a>, Range<usize>), Fault> {
        self.next()?.ok_or_else(|| Fault { at: self.length, why: "it ends in the middle".into() })
    }

    fn node(&mut self, event: Event<'a>, span: Range<usize>, depth: usize) -> Result<Node<'a>, Fault> {
        if depth == 0 {
            return Err(Fault { at: span.start, why: "nested too deeply".into() });
        }
        let start = span.start;
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let style = match style {
                    _ if tag.is_some() => Style::Tagged,
                    ScalarStyle::Plain => Style::Plain,
                    ScalarStyle::SingleQuoted => Style::Single,
                    ScalarStyle::DoubleQuoted => Style::Double,
                    _ => Style::Block,
                };
                if anchor != 0 {
                    self.anchors.insert(anchor, (text.clone(), style));
                }
                Ok(Node { span, kind: Kind::Scalar { text, style } })
            }
            Event::Alias(anchor) => {
                let known = self.anchors.get(&anchor).cloned();
                let (text, style) = known.unwrap_or((Cow::Borrowed(""), Style::Plain));
                Ok(Node { span, kind: Kind::Scalar { text, style } })
            }
            Event::SequenceStart(style, ..) => {
                let mut items = Vec::new();
                loop {
                    let (event, span) = self.inner()?;
                    if matches!(event, Event::SequenceEnd) {
                        let flow = style == StructureStyle::Flow;
                        return Ok(Node { span: start..span.end, kind: Kind::List { items, flow } });
                    }
                    items.push(self.node(event, span, depth - 1)?);
                }
            }
            Event::MappingStart(style, ..) => {
                let mut fields = Vec::new();
                loop {
                    let (event, span) = self.inner()?;
                    if matches!(event, Event::MappingEnd) {
                        let flow = style == StructureStyle::Flow;
                        return Ok(Node { span: start..span.end, kind: Kind::Map { fields, flow } });
                    }
                    let key = self.node(event, span, depth - 1)?;
                    let (event, span) = self.inner()?;
                    let value = self.node(event, span, depth - 1)?;
                    fields.push((key, value));
                }
            }
            _ => Err(Fault { at: start, why: "something that is no node".into() }),
        }
    }
}
