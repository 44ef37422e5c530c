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
    /// Nothing in it is in the format that was asked for.
    OtherFormat { asked: Format, seems: Option<Format> },
}

impl core::fmt::Display for Problem {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Self::LineTooLong => "a line over 8 MB was cut",
            Self::InvalidUtf8 => "bytes that are not UTF-8 were replaced",
            Self::NotJson => "a line of the JSON stream is not JSON",
            Self::NoResult => "the stream ended without a result",
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
    document: Document,
    finished: bool,
    /// A status block was begun in plain text, so this is no wrapper talking before a stream.
    reported: bool,
    /// Something was said in plain text.
    said: bool,
    /// The stream did not introduce itself as it should: a report in plain text proves that it is none.
    doubtful: bool,
    /// The first line was seen.
    begun: bool,
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

/// Some programs write it at the start of a file.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// How many lines are looked at for another format than the one that was asked for.
const MOST_LOOKED_AT: u32 = 50;

impl Decoder {
    pub fn new(format: Format) -> Self {
        Self {
            format,
            lines: Lines::default(),
            document: Document::default(),
            finished: false,
            reported: false,
            said: false,
            doubtful: false,
            begun: false,
            asked: Asked { understood: matches!(format, Format::Auto | Format::Text), ..Asked::default() },
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
        if !self.asked.understood && self.asked.looked > 0 {
            each(Item::Problem(Problem::OtherFormat { asked: self.format, seems: self.asked.other }));
        }
    }

    fn line(&mut self, mut line: Line<'_>, each: &mut impl FnMut(Item)) {
        if !core::mem::replace(&mut self.begun, true) {
            line.bytes = line.bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line.bytes);
        }
        if matches!(self.format, Format::Auto | Format::Gemini | Format::Claude) {
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
        let document = serde_json::from_slice::<Value<'_>>(&held).unwrap_or_default();
        let may_be = |format| matches!(self.format, Format::Auto) || self.format == format;
        if may_be(Format::Gemini) && gemini::is_document(&document) {
            self.begin(Format::Gemini, each);
            gemini::document(&document, &mut |item| self.hand_on(item, each));
        } else if may_be(Format::Claude) && claude::seems_to_introduce(&document) {
            self.begin(Format::Claude, each);
            claude_items(&document, &mut |item| self.hand_on(item, each));
        } else {
            document::lines(&held).for_each(|line| self.next_line(line, each));
        }
    }

    fn begin(&mut self, format: Format, each: &mut impl FnMut(Item)) {
        self.format = format;
        each(Item::StreamBegins);
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
            && let Some((format, sure)) = introduces(bytes).filter(|(_, sure)| *sure || !self.said)
        {
            self.doubtful = !sure;
            self.begin(format, each);
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
        self.said |= !bytes.trim_ascii().is_empty();
        text.push('\n');
        each(Item::Words(text));
    }

    fn event(&mut self, line: &[u8], cut: bool, each: &mut impl FnMut(Item)) {
        if !self.asked.understood && self.asked.other.is_none() && self.asked.looked < MOST_LOOKED_AT {
            self.asked.looked += 1;
            self.asked.other =
                introduces(line).map(|(format, _)| format).filter(|format| *format != self.format);
        }
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
            if self.doubtful && is_report(&text) {
                // An agent that talks in plain text, and quoted a stream before.
                (self.format, self.doubtful) = (Format::Text, false);
                each(Item::StreamBegins);
                return self.text(line, each);
            }
            return each(Item::Problem(Problem::NotJson));
        };
        let format = self.format;
        let mut each = |item: Item| self.hand_on(item, each);
        match format {
            Format::Claude => claude_items(&event, &mut each),
            Format::Hook => claude::items(&event, &mut each),
            Format::Codex => codex::items(&event, &mut each),
            Format::Opencode => opencode::items(&event, &mut each),
            Format::Gemini => gemini::items(&event, &mut each),
            Format::Auto | Format::Text => {}
        }
    }

    /// What an event says, remembering what is to be known at the end.
    fn hand_on(&mut self, item: Item, each: &mut impl FnMut(Item)) {
        self.finished |= matches!(item, Item::Finished(_));
        // A bare closing event is the same in more than one format.
        self.asked.understood |= match &item {
            Item::Finished(finished) => finished.text.is_some(),
            Item::Problem(_) => false,
            _ => true,
        };
        each(item);
    }
}

/// An event, or an array of them.
fn claude_items(event: &Value<'_>, each: &mut impl FnMut(Item)) {
    match event {
        Value::Array(events) => events.iter().for_each(|event| claude::items(event, each)),
        event => claude::items(event, each),
    }
}

/// Whether a line of plain text is part of a report, in one of the dialects.
fn is_report(line: &str) -> bool {
    ["RALPH_STATUS", "LOOP_", "<promise>"].iter().any(|mark| line.contains(mark))
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

/// The stream that a line opens, if it opens one, and whether that is sure wherever it stands.
fn introduces(line: &[u8]) -> Option<(Format, bool)> {
    let braces = line.starts_with(b"{") && line.ends_with(b"}");
    let brackets = line.starts_with(b"[{") && line.ends_with(b"}]");
    if !braces && !brackets {
        return None;
    }
    let event: Value<'_> = serde_json::from_slice(line).ok()?;
    if claude::introduces(&event) {
        Some((Format::Claude, true))
    } else if claude::introduces_session(&event) {
        Some((Format::Hook, true))
    } else if codex::introduces(&event) {
        Some((Format::Codex, true))
    } else if opencode::introduces(&event) {
        Some((Format::Opencode, true))
    } else if gemini::introduces(&event) {
        Some((Format::Gemini, true))
    } else if claude::seems_to_introduce(&event) {
        Some((Format::Claude, false))
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

    const BLOCK: &str = "---RALPH_STATUS---\\nSTATUS: COMPLETE\\nEXIT_SIGNAL: true\\n---END_RALPH_STATUS---";

    fn words(items: &[Item]) -> Vec<&str> {
        items
            .iter()
            .filter_map(|item| match item {
                Item::Words(words) => Some(words.as_str()),
                _ => None,
            })
            .collect()
    }

    #[test]
    fn claude_s_stream_is_recognised_without_a_session_s_id_where_nothing_was_said_before() {
        let assistant =
            format!(r#"{{"type":"assistant","message":{{"content":[{{"type":"text","text":"{BLOCK}"}}]}}}}"#);
        let result = format!(r#"{{"type":"result","subtype":"success","result":"{BLOCK}"}}"#);
        let init = r#"{"type":"system","subtype":"init","cwd":"/x"}"#;
        for stream in [
            format!("{init}\n{assistant}\n{result}\n"),
            format!("\n{assistant}\n{result}\n"),
            format!("[{assistant},{result}]"),
            format!("{assistant}\nnpm warn deprecated\n{result}"),
        ] {
            let (format, items) = decode(Format::Auto, &[stream.as_bytes()]);
            assert_eq!(format, Format::Claude, "{stream}");
            assert_eq!(words(&items).concat().trim(), BLOCK.replace("\\n", "\n"), "{stream}");
            let later = decode(Format::Auto, &[b"It printed:\n", stream.as_bytes()]);
            assert_eq!(later.0, Format::Auto, "somebody quotes it: {stream}");
        }
        assert_eq!(decode(Format::Auto, &[result.as_bytes()]).0, Format::Claude);
        let marked = decode(Format::Auto, &[b"\xef", b"\xbb\xbf", result.as_bytes()]);
        assert_eq!(marked.0, Format::Claude, "behind a byte order mark");
    }

    #[test]
    fn an_agent_that_quotes_a_stream_first_and_reports_in_plain_text_is_heard() {
        let quoted =
            format!(r#"{{"type":"assistant","message":{{"content":[{{"type":"text","text":"{BLOCK}"}}]}}}}"#);
        for report in
            ["---RALPH_STATUS---\nSTATUS: BLOCKED", "LOOP_BLOCKED: no key", "<promise>DONE</promise>"]
        {
            let text = format!("{quoted}\nis what it says.\n{report}\nBye.\n");
            let (format, items) = decode(Format::Auto, &[text.as_bytes()]);
            assert_eq!(format, Format::Text, "{report}");
            let begins = items.iter().rposition(|item| *item == Item::StreamBegins).expect("begun again");
            assert_eq!(words(&items[begins..]).concat(), format!("{report}\nBye.\n"));
        }
    }

    #[test]
    fn json_that_only_resembles_claude_s_stays_text() {
        for line in [
            r#"{"type":"system","message":"up"}"#,
            r#"{"type":"assistant","text":"hi"}"#,
            r#"{"type":"assistant","message":"hi"}"#,
            r#"{"type":"result","value":3}"#,
            r#"{"type":"user","message":{"content":"hi"}}"#,
            r#"[{"type":"result"}]"#,
            "[]",
        ] {
            assert_eq!(decode(Format::Auto, &[line.as_bytes()]).0, Format::Auto, "{line}");
        }
    }

    #[test]
    fn claude_s_result_and_array_are_read_over_many_lines_too() {
        let result = "{\n  \"type\": \"result\",\n  \"subtype\": \"success\",\n  \"is_error\": false,\n  \"result\": \"hi\"\n}";
        let array = format!(
            "[\n  {},\n  {}\n]",
            r#"{"type": "system", "subtype": "init"}"#,
            result.replace('\n', "\n  ")
        );
        for document in [result, &array] {
            for text in [format!("{document}\n"), format!("\n{document}\n\n"), document.replace('\n', "\r\n")]
            {
                for format in [Format::Auto, Format::Claude] {
                    let (read, items) = decode(format, &[text.as_bytes()]);
                    assert_eq!(read, Format::Claude, "{text}");
                    let finished = |item: &Item| matches!(item, Item::Finished(end) if end.text.as_deref() == Some("hi"));
                    assert!(items.iter().any(finished), "{items:?}");
                    assert!(!items.iter().any(|item| matches!(item, Item::Problem(_))), "{items:?}");
                }
            }
            let (read, items) = decode(Format::Auto, &[document.as_bytes(), b"\nis what it said\n"]);
            assert_eq!(read, Format::Auto);
            assert_eq!(items.len(), document.lines().count() + 1, "nothing is lost");
        }
        assert_eq!(decode(Format::Auto, &[b"[\n  1,\n  2\n]\n"]).0, Format::Auto);
    }

    #[test]
    fn a_format_that_was_asked_for_and_is_not_there_is_named() {
        let claude = br#"{"type":"system","subtype":"init","session_id":"s"}
{"type":"assistant","message":{"content":[{"type":"text","text":"hi"}]}}
{"type":"result","subtype":"success","is_error":false,"result":"hi"}
"#;
        let wrong = |format, bytes: &[u8]| {
            let found = decode(format, &[bytes]).1.into_iter().find_map(|item| match item {
                Item::Problem(problem @ Problem::OtherFormat { .. }) => Some(problem.to_string()),
                _ => None,
            });
            found.unwrap_or_default()
        };
        for format in [Format::Codex, Format::Opencode, Format::Gemini] {
            let said = wrong(format, claude);
            assert!(
                said.starts_with(&format!("nothing in it looks like {} output; ", format.whose())),
                "{said}"
            );
            assert!(said.ends_with("it looks like Claude Code's, which --format auto recognises"), "{said}");
        }
        assert_eq!(wrong(Format::Codex, b"Hello.\n"), "nothing in it looks like Codex's output");
        for (format, bytes) in [
            (Format::Claude, &claude[..]),
            (Format::Auto, claude),
            (Format::Text, claude),
            (Format::Codex, b"\n"),
        ] {
            assert_eq!(wrong(format, bytes), "", "{format:?}");
        }
    }

    #[test]
    fn json_that_is_not_a_stream_stays_text() {
        let (format, _) = decode(Format::Auto, &[b"{\"type\":\"banana\"}\n[1,2]\n"]);
        assert_eq!(format, Format::Auto);
    }
}
