//! What one recording says, as a person reads it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;

use ralph_core::limit::{self, Limit, LimitKind, Reset};
use ralph_core::report::block::{Block, Status, Tests, WorkType};
use ralph_core::text;
use ralph_core::transcript::{Format, Usage};
use serde::Deserialize;

use crate::reading::Reading;

#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Expectation {
    /// For people.
    #[serde(rename = "why")]
    _why: String,
    format: Format,
    session: Option<String>,
    model: Option<String>,
    version: Option<String>,
    /// The agent's own messages in order. The block follows the last one after an empty line.
    words: Vec<String>,
    /// The name of a block in `blocks.json`.
    block: Option<String>,
    tools: Vec<String>,
    tool_failures: Vec<String>,
    denied: Vec<String>,
    files: Vec<String>,
    usage: Usage,
    micro_usd: Option<u64>,
    error: Option<String>,
    api_status: Option<u16>,
    /// Of plain text: what its prose says about a process that ended like this one.
    limit: Option<Said>,
    errors: BTreeSet<String>,
    cut_short: bool,
    problems: Vec<String>,
    /// Of standard error: the line that a run shows.
    last_line: Option<String>,
}

impl Default for Expectation {
    fn default() -> Self {
        Self {
            _why: String::new(),
            format: Format::Auto,
            session: None,
            model: None,
            version: None,
            words: Vec::new(),
            block: None,
            tools: Vec::new(),
            tool_failures: Vec::new(),
            denied: Vec::new(),
            files: Vec::new(),
            usage: Usage::default(),
            micro_usd: None,
            error: None,
            api_status: None,
            limit: None,
            errors: BTreeSet::new(),
            cut_short: false,
            problems: Vec::new(),
            last_line: None,
        }
    }
}

/// A limit without the notice, which is the error's text again.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Said {
    kind: LimitKind,
    status: Option<u16>,
    reset: Option<Reset>,
}

impl From<Limit> for Said {
    fn from(limit: Limit) -> Self {
        Self { kind: limit.kind, status: limit.status, reset: limit.reset }
    }
}

pub(crate) type Blocks = BTreeMap<String, ExpectedBlock>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExpectedBlock {
    /// Line by line.
    text: Vec<String>,
    status: Status,
    tasks: u64,
    files: u64,
    tests: Tests,
    work_type: WorkType,
    exit_signal: bool,
    recommendation: String,
}

impl ExpectedBlock {
    fn read(&self) -> Block {
        Block {
            status: Some(self.status),
            tasks: Some(self.tasks),
            files: Some(self.files),
            tests: Some(self.tests),
            work_type: Some(self.work_type),
            exit_signal: self.exit_signal,
            odd_signal: None,
            odd_status: None,
            odd_tests: None,
            recommendation: Some(self.recommendation.clone()),
            verbatim: self.text.join("\n"),
            problems: Vec::new(),
        }
    }
}

/// What differs, in words.
#[derive(Default)]
struct Complaints(Vec<String>);

impl Complaints {
    fn compare<T: PartialEq + Debug + ?Sized>(&mut self, what: &str, read: &T, expected: &T) {
        if read != expected {
            self.0.push(format!("{what} is {read:?}, expected {expected:?}"));
        }
    }
}

impl Expectation {
    pub(crate) fn complaints(
        &self,
        reading: &Reading,
        bytes: &[u8],
        failed: bool,
        blocks: &Blocks,
    ) -> Vec<String> {
        let mut found = Complaints::default();
        let report = &reading.report;
        found.compare("format", &reading.format, &self.format);
        found.compare("session", &report.session, &self.session);
        found.compare("model", &report.model, &self.model);
        found.compare("version", &report.agent_version, &self.version);
        let block = self.block.as_ref().map(|name| &blocks[name]);
        found.compare("block", &report.block, &block.map(ExpectedBlock::read));
        found.compare("other dialects", &report.sayings[..], &[]);
        let (words, length) = self.own_words(block, bytes);
        found.compare("words", &report.last_words, &words);
        found.compare("length of the words", &report.words, &(length as u64));
        found.compare("completion indicators", &report.indicators.phrases[..], &[]);
        found.compare("tools", &reading.tools, &self.tools);
        found.compare("number of tools", &report.tools, &(self.tools.len() as u64));
        found.compare("tool failures", &reading.tool_failures, &self.tool_failures);
        found.compare("number of failures", &report.tool_failures, &(self.tool_failures.len() as u64));
        found.compare("denied", &report.denied, &self.denied);
        found.compare("files", &report.files, &self.files);
        found.compare("usage", &report.usage, &self.usage);
        found.compare("micro-dollars", &report.cost_micro_usd, &self.micro_usd);
        found.compare("error", &report.error, &self.error);
        found.compare("API status", &report.api_status, &self.api_status);
        if self.is_text() {
            found.compare("limit by structure", &report.limit, &None);
        }
        let limit = if self.is_text() { prose(bytes, failed) } else { report.limit.clone() };
        found.compare("limit", &limit.map(Said::from), &self.limit);
        found.compare("errors", &report.errors.errors, &self.errors);
        found.compare("cut short", &report.cut_short, &self.cut_short);
        found.compare("problems", &report.problems, &self.problems);
        found.compare("last line, which only standard error has,", &None, &self.last_line);
        found.0
    }

    /// A run keeps standard error beside the words and shows its last line. A notice of a limit that stands there is
    /// one of the CLI's own lines.
    pub(crate) fn complaints_of_stderr(&self, bytes: &[u8], failed: bool) -> Vec<String> {
        let mut found = Complaints::default();
        found.compare("format", &Reading::of(bytes, bytes.len()).format, &Format::Auto);
        found.compare("last line", &text::last_line(&String::from_utf8_lossy(bytes), 300), &self.last_line);
        found.compare("limit", &prose(bytes, failed).map(Said::from), &self.limit);
        found.0
    }

    fn is_text(&self) -> bool {
        self.format == Format::Auto
    }

    /// All of them, and how many bytes they have: in a stream those of the messages, in plain text every line.
    fn own_words(&self, block: Option<&ExpectedBlock>, bytes: &[u8]) -> (String, usize) {
        let mut messages = self.words.clone();
        if let (Some(block), Some(last)) = (block, messages.last_mut()) {
            last.push_str("\n\n");
            last.push_str(&block.text.join("\n"));
        }
        let torn = !bytes.is_empty() && !bytes.ends_with(b"\n");
        let in_text = bytes.len() + usize::from(torn);
        let length = if self.is_text() { in_text } else { messages.iter().map(String::len).sum() };
        (messages.join("\n"), length)
    }
}

fn prose(bytes: &[u8], failed: bool) -> Option<Limit> {
    limit::from_prose(failed, &String::from_utf8_lossy(bytes))
}
