//! From an agent's bytes to [`Item`]s: a streaming decoder that never fails and whose memory is bounded.

mod array;
pub mod claude;
pub mod codex;
mod document;
pub mod gemini;
mod json;
pub mod lines;
mod notices;
pub mod opencode;
pub mod readable;
mod recognise;
mod usage;
mod value;

use alloc::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::limit::Limit;
use crate::prelude::*;
use array::{Array, Found};
use document::Document;
use lines::{Line, Lines, MAX_LINE};
use recognise::Recognising;
use value::Value;

/// One thing an agent's output said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item {
    /// The agent's own output begins: what came before was a wrapper's, or quoted.
    StreamBegins,
    /// What came before was quoted, and the agent's own output is plain text.
    TextBegins,
    /// The agent introduced itself.
    Session { id: Option<String>, model: Option<String>, version: Option<String> },
    /// The agent's own words: one message, or one line of plain text.
    Words(String),
    /// The next piece of the words before it: some agents stream theirs.
    MoreWords(String),
    /// The agent used a tool; `target` is the file or command it names.
    Tool { name: String, target: Option<String> },
    /// A file it says it wrote.
    File(String),
    /// A tool it was not allowed to use.
    Denied(String),
    /// A tool it used failed, in the tool's words.
    ToolFailed(String),
    /// Tokens of one message; repeated for the same `message` they count once.
    Usage { message: Option<String>, usage: Usage },
    /// Money spent by one step, in micro-dollars, where there is no sum at the end.
    Cost(u64),
    /// The model's service would not go on.
    Limit(Limit),
    /// The agent's own summary of how it ended. Of several, the last counts.
    Finished(Finished),
    /// A line that is neither words nor understood.
    Problem(Problem),
}

/// Tokens, each kind apart, since they are priced apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    pub input: u64,
    pub output: u64,
    pub cache_read: u64,
    pub cache_write: u64,
}

impl Usage {
    pub fn total(&self) -> u64 {
        [self.input, self.output, self.cache_read, self.cache_write]
            .iter()
            .fold(0, |a, b| a.saturating_add(*b))
    }

    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            input: self.input.saturating_add(other.input),
            output: self.output.saturating_add(other.output),
            cache_read: self.cache_read.saturating_add(other.cache_read),
            cache_write: self.cache_write.saturating_add(other.cache_write),
        }
    }

    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        Self {
            input: self.input.saturating_sub(other.input),
            output: self.output.saturating_sub(other.output),
            cache_read: self.cache_read.saturating_sub(other.cache_read),
            cache_write: self.cache_write.saturating_sub(other.cache_write),
        }
    }
}

/// What an agent's closing event says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Finished {
    /// `None` when it ended well, else what went wrong in the CLI's words.
    pub error: Option<String>,
    /// The HTTP status of the model's service, when that is what went wrong.
    pub api_status: Option<u16>,
    /// The final message. It repeats the last words and is used only where there were none.
    pub text: Option<String>,
    pub usage: Option<Usage>,
    pub cost_micro_usd: Option<u64>,
    /// Names of the tools that were denied.
    pub denied: Vec<String>,
    /// It reached the limit of money that it was started with.
    pub over_budget: bool,
}

/// Something that was read all the same, and is worth a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Problem {
    /// A line over the limit was cut.
    LineTooLong,
    /// Bytes that are not UTF-8 were replaced.
    InvalidUtf8,
    /// A line of a JSON stream that is not JSON.
    NotJson,
    /// The stream ended without its closing event.
    NoResult,
    /// It looked like a stream and ended in plain words, which a stream does not.
    NoStream { seemed: Format },
    /// Nothing in it is in the format that was asked for.
    OtherFormat { asked: Format, seems: Option<Format> },
}

impl core::fmt::Display for Problem {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Self::LineTooLong => return write!(f, "a line over {} MB was cut", MAX_LINE >> 20),
            Self::InvalidUtf8 => "bytes that are not UTF-8 were replaced",
            Self::NotJson => "a line of the JSON stream is not JSON",
            Self::NoResult => "the stream ended without a result",
            Self::NoStream { seemed } => {
                let whose = seemed.whose();
                return write!(
                    f,
                    "what looked like {whose} output goes on in plain words: read as plain text, since no format was named"
                );
            }
            Self::OtherFormat { asked, seems } => {
                write!(f, "nothing in it looks like {} output", asked.whose())?;
                return match seems {
                    Some(seems) => {
                        write!(f, "; it looks like {}, which --format auto recognises", seems.whose())
                    }
                    None => Ok(()),
                };
            }
        })
    }
}

/// How to read an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    Auto,
    /// Claude Code: stream-json, a single result, or an array of events.
    Claude,
    Codex,
    Opencode,
    Gemini,
    /// Claude Code's session transcript, as a Stop hook finds it.
    Hook,
    Text,
}

impl Format {
    /// For people.
    fn whose(self) -> &'static str {
        match self {
            Self::Claude => "Claude Code's",
            Self::Codex => "Codex's",
            Self::Opencode => "OpenCode's",
            Self::Gemini => "Gemini's",
            Self::Hook => "a Claude Code session's",
            Self::Auto | Self::Text => "plain text's",
        }
    }
}

/// Reads one agent's output, chunk by chunk.
#[derive(Debug)]
pub struct Decoder {
    format: Format,
    lines: Lines,
    /// The array that is being read.
    array: Option<Array>,
    document: Document,
    finished: bool,
    /// What the last closing event called an error.
    error: Option<String>,
    /// A tool was denied since the last message or step.
    denied: bool,
    recognising: Recognising,
    /// How much of a byte order mark was seen; all of it once something else was.
    mark: usize,
    asked: Asked,
}

/// What becomes of a format that was not recognised but asked for.
#[derive(Debug, Default)]
struct Asked {
    /// Something was read in it; or nothing was asked.
    understood: bool,
    /// Lines that were looked at for another format.
    looked: u32,
    /// What they would have been recognised as.
    other: Option<Format>,
}

/// Said where a closing event names no reason, and none was named before.
const UNNAMED: &str = "the run failed";

/// Some programs write it at the start of a file.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// How many lines are looked at for another format than the one that was asked for.
const MOST_LOOKED_AT: u32 = 50;

impl Decoder {
    pub fn new(format: Format) -> Self {
        Self {
            format,
            lines: Lines::default(),
            array: None,
            document: Document::default(),
            finished: false,
            error: None,
            denied: false,
            recognising: Recognising::default(),
            mark: 0,
            asked: Asked { understood: matches!(format, Format::Auto | Format::Text), ..Asked::default() },
        }
    }

    /// The format in use: `Auto` until the first line that tells.
    pub fn format(&self) -> Format {
        self.format
    }

    pub fn feed(&mut self, bytes: &[u8], mut each: impl FnMut(Item)) {
        self.read(bytes, &mut each);
    }

    /// The stream is over.
    pub fn finish(&mut self, mut each: impl FnMut(Item)) {
        self.end(&mut each);
    }

    /// Not for each caller anew: this is what is hot, and callers are built for size.
    fn read(&mut self, bytes: &[u8], each: &mut dyn FnMut(Item)) {
        let mut rest = self.after_mark(bytes, each);
        while !rest.is_empty() {
            rest = match self.array.take() {
                Some(array) => self.read_array(array, rest, each),
                None => self.read_lines(rest, each),
            };
        }
    }

    /// What comes after the byte order mark, which may come in pieces as well.
    fn after_mark<'b>(&mut self, bytes: &'b [u8], each: &mut dyn FnMut(Item)) -> &'b [u8] {
        let seen = self.mark;
        let Some(marked) = BYTE_ORDER_MARK.get(seen..).filter(|left| !left.is_empty()) else { return bytes };
        let same = bytes.iter().zip(marked).take_while(|(byte, mark)| byte == mark).count();
        if same == bytes.len() || same == marked.len() {
            self.mark += same;
            return &bytes[same..];
        }
        self.mark = BYTE_ORDER_MARK.len();
        // What began like one was none.
        self.read(&BYTE_ORDER_MARK[..seen], each);
        bytes
    }

    /// Reads lines up to one that begins an array; gives what is left.
    fn read_lines<'b>(&mut self, bytes: &'b [u8], each: &mut dyn FnMut(Item)) -> &'b [u8] {
        let mut lines = core::mem::take(&mut self.lines);
        let mut rest = lines.feed_until(bytes, |first| first == b'[', |line| self.line(line, each));
        if rest.first() == Some(&b'[') {
            if self.may_be_array() {
                self.array = Some(Array::default());
            } else {
                let (first, others) = lines::split_first(rest);
                lines.feed(first, |line| self.line(line, each));
                rest = others;
            }
        }
        self.lines = lines;
        rest
    }

    /// Whether a bracket at the start of a line may begin a stream.
    fn may_be_array(&self) -> bool {
        match self.format {
            Format::Text => false,
            Format::Auto => !self.document.is_holding() && self.recognising.may_open(),
            _ => !self.document.is_holding(),
        }
    }

    /// Reads elements of an array; gives what is left where it ends or is none.
    fn read_array<'b>(
        &mut self,
        mut array: Array,
        mut bytes: &'b [u8],
        each: &mut dyn FnMut(Item),
    ) -> &'b [u8] {
        loop {
            match array.next(bytes) {
                Found::Nothing => {
                    self.array = Some(array);
                    return &[];
                }
                Found::Element { rest } => {
                    bytes = rest;
                    array = self.element(array, each);
                }
                Found::End { rest } | Found::Other { rest } => {
                    // Without a stream in it, it is lines like all others.
                    let held = array.into_held();
                    let mut lines = core::mem::take(&mut self.lines);
                    lines.feed(&held, |line| self.line(line, each));
                    self.lines = lines;
                    return rest;
                }
            }
        }
    }

    fn element(&mut self, mut array: Array, each: &mut dyn FnMut(Item)) -> Array {
        if array.is_recognised() {
            array.take_element(|line| self.next_line(line, each));
            return array;
        }
        if self.format == Format::Auto {
            let mut opened = None;
            array.take_element(|line| opened = self.recognising.open(line.bytes.trim_ascii(), line.cut));
            let Some(format) = opened else { return array };
            self.begin(format, each);
        }
        // From its start: what came before the event that tells is the agent's as well.
        let held = array.into_held();
        let (mut array, mut bytes) = (Array::recognised(), &held[..]);
        while let Found::Element { rest } = array.next(bytes) {
            array.take_element(|line| self.next_line(line, each));
            bytes = rest;
        }
        array
    }

    fn end(&mut self, each: &mut dyn FnMut(Item)) {
        if self.mark < BYTE_ORDER_MARK.len() {
            let seen = core::mem::replace(&mut self.mark, BYTE_ORDER_MARK.len());
            self.read(&BYTE_ORDER_MARK[..seen], each);
        }
        let mut lines = core::mem::take(&mut self.lines);
        match self.array.take() {
            Some(array) if array.is_recognised() => array.finish(|line| self.next_line(line, each)),
            Some(array) => lines.feed(&array.into_held(), |line| self.line(line, each)),
            None => {}
        }
        lines.finish(|line| self.line(line, each));
        self.end_of_document(each);
        if self.recognising.ends_in_words() {
            self.take_back(each);
        }
        self.name_warnings(each);
        // A session transcript has no closing event.
        let ends = matches!(self.format, Format::Claude | Format::Codex | Format::Opencode | Format::Gemini);
        if ends && !self.finished {
            each(Item::Problem(Problem::NoResult));
        }
        if !self.asked.understood && self.asked.looked > 0 {
            each(Item::Problem(Problem::OtherFormat { asked: self.format, seems: self.asked.other }));
        }
    }

    fn line(&mut self, line: Line<'_>, each: &mut dyn FnMut(Item)) {
        if self.format != Format::Text {
            let later = self.format == Format::Auto;
            let begins = self.document.is_holding() || !later || self.recognising.may_open();
            if begins && self.document.hold(line, later) {
                return;
            }
            self.release(each);
        }
        self.next_line(line, each);
    }

    /// What was held back is no document.
    fn release(&mut self, each: &mut dyn FnMut(Item)) {
        let held = self.document.take();
        document::lines(&held).for_each(|line| self.next_line(line, each));
    }

    fn end_of_document(&mut self, each: &mut dyn FnMut(Item)) {
        let held = self.document.take();
        let documents = document::all(&held);
        let may_be = |format| matches!(self.format, Format::Auto) || self.format == format;
        let opened = documents.first().and_then(recognise::opened);
        let opened = opened.filter(|(format, how)| may_be(*format) && self.recognising.allows(*how));
        if let Some((format, _)) = opened {
            self.begin(format, each);
            documents.iter().for_each(|document| self.each_event(document, each));
        } else {
            document::lines(&held).for_each(|line| self.next_line(line, each));
        }
    }

    fn begin(&mut self, format: Format, each: &mut dyn FnMut(Item)) {
        self.format = format;
        each(Item::StreamBegins);
    }

    fn next_line(&mut self, line: Line<'_>, each: &mut dyn FnMut(Item)) {
        if line.cut {
            each(Item::Problem(Problem::LineTooLong));
        }
        let bytes = line.bytes.trim_ascii();
        if self.format == Format::Auto
            && let Some(format) = self.recognising.open(bytes, line.cut)
        {
            self.begin(format, each);
        }
        if matches!(self.format, Format::Auto | Format::Text) {
            self.text(line.bytes, each);
        } else if !bytes.is_empty() {
            self.event(bytes, line, each);
        }
    }

    fn text(&mut self, bytes: &[u8], each: &mut dyn FnMut(Item)) {
        let mut text = readable(bytes, each).into_owned();
        self.recognising.said(bytes, &text);
        text.push('\n');
        each(Item::Words(text));
    }

    /// What was recognised is no stream: the plain lines are the agent's, the events it only quoted.
    fn take_back(&mut self, each: &mut dyn FnMut(Item)) {
        let said = self.recognising.take_back();
        each(Item::TextBegins);
        each(Item::Problem(Problem::NoStream { seemed: self.format }));
        (self.format, self.finished) = (Format::Text, false);
        document::lines(&said).for_each(|line| self.text(line.bytes, each));
    }

    /// The stream goes on, or is torn: the lines before that are no events were not the agent's words.
    fn name_warnings(&mut self, each: &mut dyn FnMut(Item)) {
        if self.recognising.went_on() {
            each(Item::Problem(Problem::NotJson));
        }
    }

    fn event(&mut self, bytes: &[u8], line: Line<'_>, each: &mut dyn FnMut(Item)) {
        if !self.asked.understood && self.asked.other.is_none() && self.asked.looked < MOST_LOOKED_AT {
            self.asked.looked += 1;
            self.asked.other =
                recognise::opening(bytes).map(|(format, _)| format).filter(|format| *format != self.format);
        }
        if matches!(self.format, Format::Claude | Format::Hook) {
            // What is cut cannot be parsed: its words are lost, that it failed is not.
            if line.cut && claude::is_failure(bytes, line.fails) {
                self.name_warnings(each);
                return each(Item::ToolFailed(String::new()));
            }
            if claude::can_be_passed_over(bytes) {
                return self.name_warnings(each);
            }
        }
        let text = readable(bytes, each);
        let Ok(event) = serde_json::from_str::<Value<'_>>(recognise::object(&text)) else {
            if !self.recognising.is_open() {
                return each(Item::Problem(Problem::NotJson));
            }
            if self.recognising.interrupted(line.bytes, &text) {
                self.take_back(each);
            }
            return;
        };
        if self.recognising.is_open() && !recognise::is_event(&event) {
            if self.recognising.digressed(line.bytes, &event) {
                self.take_back(each);
            }
            return;
        }
        self.name_warnings(each);
        self.each_event(&event, each);
    }

    fn each_event(&mut self, event: &Value<'_>, each: &mut dyn FnMut(Item)) {
        let format = self.format;
        let reopens = match format {
            Format::Codex => codex::reopens(event),
            Format::Opencode => opencode::reopens(event),
            _ => false,
        };
        self.finished &= !reopens;
        if format == Format::Opencode && opencode::stops_at_denial(event, self.denied) {
            self.hand_on(Item::Finished(Finished::default()), each);
        }
        self.denied &= !opencode::introduces(event);
        let mut each = |item: Item| self.hand_on(item, each);
        match format {
            Format::Claude | Format::Hook => claude::items(event, &mut each),
            Format::Codex => codex::items(event, &mut each),
            Format::Opencode => opencode::items(event, &mut each),
            Format::Gemini => gemini::items(event, &mut each),
            Format::Auto | Format::Text => {}
        }
    }

    /// What an event says, remembering what is to be known at the end.
    fn hand_on(&mut self, mut item: Item, each: &mut dyn FnMut(Item)) {
        if let Item::Finished(finished) = &mut item {
            // OpenCode ends its step after an error as well: that is not a better end.
            let stays = self.format == Format::Opencode && self.finished && self.error.is_some();
            if stays && finished.error.is_none() {
                return;
            }
            if let Some(error) = finished.error.as_mut().filter(|error| error.trim().is_empty()) {
                *error = self.error.take().unwrap_or_else(|| UNNAMED.into());
            }
            self.finished = true;
            self.error.clone_from(&finished.error);
            self.recognising.ended(finished.error.is_some());
        }
        self.denied |= matches!(item, Item::Denied(_));
        // A bare closing event is the same in more than one format.
        self.asked.understood |= match &item {
            Item::Finished(finished) => finished.text.is_some(),
            Item::Problem(_) => false,
            _ => true,
        };
        each(item);
    }
}

/// The text of a line, with bytes that are not UTF-8 replaced and named.
fn readable<'a>(bytes: &'a [u8], each: &mut dyn FnMut(Item)) -> Cow<'a, str> {
    // `from_utf8_lossy` alone is many times slower on what needs no repair.
    if let Ok(text) = core::str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    each(Item::Problem(Problem::InvalidUtf8));
    String::from_utf8_lossy(bytes)
}

#[cfg(test)]
mod tests;
