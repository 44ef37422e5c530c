//! From an agent's bytes to [`Item`]s: a streaming decoder that never fails and whose memory is bounded.

pub mod claude;
pub mod codex;
mod document;
pub mod gemini;
mod json;
pub mod lines;
pub mod opencode;
mod value;

use alloc::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::limit::Limit;
use crate::prelude::*;
use document::Document;
use lines::{Line, Lines};
use value::Value;

/// One thing an agent's output said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item {
    /// A stream begins: what came before were a wrapper's words, not the agent's.
    StreamBegins,
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
    pub turns: Option<u64>,
    /// Names of the tools that were denied.
    pub denied: Vec<String>,
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
}

impl core::fmt::Display for Problem {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Self::LineTooLong => "a line over 8 MB was cut",
            Self::InvalidUtf8 => "bytes that are not UTF-8 were replaced",
            Self::NotJson => "a line of the JSON stream is not JSON",
            Self::NoResult => "the stream ended without a result",
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

/// Reads one agent's output, chunk by chunk.
#[derive(Debug)]
pub struct Decoder {
    format: Format,
    lines: Lines,
    document: Document,
    finished: bool,
    /// A status block was begun in plain text, so this is no wrapper talking before a stream.
    reported: bool,
}

impl Decoder {
    pub fn new(format: Format) -> Self {
        Self {
            format,
            lines: Lines::default(),
            document: Document::default(),
            finished: false,
            reported: false,
        }
    }

    /// The format in use: `Auto` until the first line that tells.
    pub fn format(&self) -> Format {
        self.format
    }

    pub fn feed(&mut self, bytes: &[u8], mut each: impl FnMut(Item)) {
        let mut lines = core::mem::take(&mut self.lines);
        lines.feed(bytes, |line| self.line(line, &mut each));
        self.lines = lines;
    }

    /// The stream is over.
    pub fn finish(&mut self, mut each: impl FnMut(Item)) {
        let mut lines = core::mem::take(&mut self.lines);
        lines.finish(|line| self.line(line, &mut each));
        self.end_of_document(&mut each);
        // A session transcript has no closing event.
        let ends = matches!(self.format, Format::Claude | Format::Codex | Format::Opencode | Format::Gemini);
        if ends && !self.finished {
            each(Item::Problem(Problem::NoResult));
        }
    }

    fn line(&mut self, line: Line<'_>, each: &mut impl FnMut(Item)) {
        if matches!(self.format, Format::Auto | Format::Gemini) {
            if self.document.hold(line) {
                return;
            }
            self.release(each);
        }
        self.next_line(line, each);
    }

    /// What was held back is no document.
    fn release(&mut self, each: &mut impl FnMut(Item)) {
        let held = self.document.take();
        document::lines(&held).for_each(|line| self.next_line(line, each));
    }

    fn end_of_document(&mut self, each: &mut impl FnMut(Item)) {
        let held = self.document.take();
        match serde_json::from_slice(&held) {
            Ok(document) if gemini::is_document(&document) => {
                self.format = Format::Gemini;
                self.finished = true;
                each(Item::StreamBegins);
                gemini::document(&document, each);
            }
            _ => document::lines(&held).for_each(|line| self.next_line(line, each)),
        }
    }

    fn next_line(&mut self, line: Line<'_>, each: &mut impl FnMut(Item)) {
        if line.cut {
            each(Item::Problem(Problem::LineTooLong));
        }
        let bytes = line.bytes.trim_ascii();
        // What a wrapper prints before the stream starts is plain text until the stream introduces itself. Only its
        // first event does: an agent that talks in plain text may well quote another one.
        if self.format == Format::Auto
            && !self.reported
            && let Some(format) = introduces(bytes)
        {
            self.format = format;
            each(Item::StreamBegins);
        }
        if matches!(self.format, Format::Auto | Format::Text) {
            self.text(line.bytes, each);
        } else if !bytes.is_empty() {
            self.event(bytes, line.cut, each);
        }
    }

    fn text(&mut self, bytes: &[u8], each: &mut impl FnMut(Item)) {
        let mut text = readable(bytes, each).into_owned();
        self.reported |= text.contains("RALPH_STATUS---");
        text.push('\n');
        each(Item::Words(text));
    }

    fn event(&mut self, line: &[u8], cut: bool, each: &mut impl FnMut(Item)) {
        let claude = matches!(self.format, Format::Claude | Format::Hook);
        if claude && claude::can_be_passed_over(line) {
            return;
        }
        // What is cut cannot be parsed: its words are lost, that it failed is not.
        if claude && cut && claude::is_failure(line) {
            return each(Item::ToolFailed(String::new()));
        }
        let text = readable(line, each);
        let Ok(event) = serde_json::from_str::<Value<'_>>(&text) else {
            return each(Item::Problem(Problem::NotJson));
        };
        let mut each = |item: Item| {
            self.finished |= matches!(item, Item::Finished(_));
            each(item);
        };
        match (self.format, &event) {
            (Format::Claude, Value::Array(events)) => {
                events.iter().for_each(|event| claude::items(event, &mut each));
            }
            (Format::Claude | Format::Hook, event) => claude::items(event, &mut each),
            (Format::Codex, event) => codex::items(event, &mut each),
            (Format::Opencode, event) => opencode::items(event, &mut each),
            (Format::Gemini, event) => gemini::items(event, &mut each),
            (Format::Auto | Format::Text, _) => {}
        }
    }
}

/// The text of a line, with bytes that are not UTF-8 replaced and named.
fn readable<'a>(bytes: &'a [u8], each: &mut impl FnMut(Item)) -> Cow<'a, str> {
    // `from_utf8_lossy` alone is many times slower on what needs no repair.
    if let Ok(text) = core::str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    each(Item::Problem(Problem::InvalidUtf8));
    String::from_utf8_lossy(bytes)
}

/// The stream that a line opens, if it opens one.
fn introduces(line: &[u8]) -> Option<Format> {
    let braces = line.starts_with(b"{") && line.ends_with(b"}");
    let brackets = line.starts_with(b"[{") && line.ends_with(b"}]");
    if !braces && !brackets {
        return None;
    }
    let event: Value<'_> = serde_json::from_slice(line).ok()?;
    if claude::introduces(&event) {
        Some(Format::Claude)
    } else if claude::introduces_session(&event) {
        Some(Format::Hook)
    } else if codex::introduces(&event) {
        Some(Format::Codex)
    } else if opencode::introduces(&event) {
        Some(Format::Opencode)
    } else if gemini::introduces(&event) {
        Some(Format::Gemini)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn decode(format: Format, chunks: &[&[u8]]) -> (Format, Vec<Item>) {
        let mut decoder = Decoder::new(format);
        let mut items = Vec::new();
        for chunk in chunks {
            decoder.feed(chunk, |item| items.push(item));
        }
        decoder.finish(|item| items.push(item));
        (decoder.format(), items)
    }

    #[test]
    fn plain_text_is_words_and_bad_bytes_are_named() {
        let (format, items) = decode(Format::Auto, &[b"hello\nbad \xff byte"]);
        assert_eq!(format, Format::Auto);
        assert_eq!(
            items,
            [
                Item::Words("hello\n".into()),
                Item::Problem(Problem::InvalidUtf8),
                Item::Words("bad \u{fffd} byte\n".into())
            ]
        );
    }

    #[test]
    fn a_quoted_line_of_a_stream_does_not_make_plain_text_a_stream() {
        let quoted =
            br#"{"type":"assistant","message":{"content":[{"type":"text","text":"EXIT_SIGNAL: true"}]}}"#;
        let (format, _) = decode(Format::Auto, &[b"look:\n", quoted, b"\nso it says\n"]);
        assert_eq!(format, Format::Auto);
        let init =
            b"---END_RALPH_STATUS---\n{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s\"}\n";
        assert_eq!(decode(Format::Auto, &[init]).0, Format::Auto);
    }

    #[test]
    fn a_stream_is_recognised_after_a_wrapper_s_own_lines() {
        let stream = b"npm notice\n{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s\"}\n";
        let (format, items) = decode(Format::Auto, &[stream]);
        assert_eq!(format, Format::Claude);
        assert_eq!(items.last(), Some(&Item::Problem(Problem::NoResult)));
    }

    #[test]
    fn a_document_is_read_only_where_it_is_the_whole_output() {
        let whole = "{\n  \"session_id\": \"s\",\n  \"response\": \"hi\",\n  \"stats\": {}\n}";
        let read = |text: &str| decode(Format::Auto, &[text.as_bytes()]);
        let (format, items) = read(whole);
        assert_eq!(format, Format::Gemini);
        assert!(items.contains(&Item::Words("hi".into())), "{items:?}");
        assert_eq!(read(&format!("\n{whole}\n\n")).0, Format::Gemini);
        for text in [
            format!("It says:\n{whole}\n"),
            format!("{whole}\nis what it says\n"),
            whole.replace("response", "answer"),
            whole.trim_end_matches('}').to_owned(),
        ] {
            let (format, items) = read(&text);
            assert_eq!(format, Format::Auto, "{text}");
            let expected: Vec<Item> = text.lines().map(|line| Item::Words(format!("{line}\n"))).collect();
            assert_eq!(items, expected, "nothing is lost");
        }
    }

    #[test]
    fn a_tool_result_that_is_too_long_to_parse_is_still_known_to_have_failed() {
        let init = b"{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s\"}\n".as_slice();
        let long = "x".repeat(lines::MAX_LINE);
        let answer = |failed: bool| {
            format!(
                r#"{{"type":"user","message":{{"content":[{{"type":"tool_result","is_error":{failed},"content":"{long}"}}]}}}}"#
            )
        };
        let about = |line: &str| decode(Format::Auto, &[init, line.as_bytes()]).1[2..].to_vec();
        let too_long = Item::Problem(Problem::LineTooLong);
        let no_result = Item::Problem(Problem::NoResult);
        assert_eq!(
            about(&answer(true)),
            [too_long.clone(), Item::ToolFailed(String::new()), no_result.clone()]
        );
        assert_eq!(about(&answer(false)), [too_long, no_result]);
    }

    #[test]
    fn json_that_is_not_a_stream_stays_text() {
        let (format, _) = decode(Format::Auto, &[b"{\"type\":\"banana\"}\n[1,2]\n"]);
        assert_eq!(format, Format::Auto);
    }
}
