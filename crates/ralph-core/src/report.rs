//! From items to an [`IterationReport`]: what one agent claims, normalised. Claims, not evidence.

pub mod block;
pub mod dialects;
pub mod form;
mod marks;
mod shown;
mod torn;
mod withheld;

use alloc::borrow::Cow;
use alloc::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::indicator::{self, Indicators};
use crate::limit::{Limit, Reset};
use crate::prelude::*;
use crate::prompt::protocol;
use crate::redact::Secrets;
use crate::signature::{ErrorSet, Errors};
use crate::text::{MESSAGE_END, MESSAGE_ENDS, TOOLS_USED};
use crate::transcript::{Item, Problem, Usage};
use block::Block;
use dialects::{Saying, Vote};

/// How much of the agent's own words is kept to be read; a report stands at their end.
const KEPT_WORDS: usize = 256 << 10;

/// So much of the end of a final message tells whether it was said before.
const REPEATED: usize = 2000;

/// How many files and denied tools are kept, and how much of each name.
const MOST_NAMES: usize = 200;
const LONGEST_NAME: usize = 1000;

/// How many messages are remembered as counted. A message's lines come close together.
const MOST_MESSAGES: usize = 10_000;

/// A promise that was given where it is not heard.
pub const MISPLACED: &str = "a promise was there, but not alone on its line, so it was not heard";

/// The promise an agent gives when it is done, unless it was asked for another one.
pub const PROMISE: &str = "COMPLETE";

/// What one agent said in one iteration.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct IterationReport {
    /// The last status block, if there was one.
    pub block: Option<Block>,
    /// What the other dialects said.
    pub sayings: Vec<Saying>,
    /// Completion language in the prose of its final message.
    pub indicators: Indicators,
    /// What went wrong on the way, in a form that can be compared.
    pub errors: ErrorSet,
    /// The end of the agent's own words, for people.
    pub last_words: String,
    /// Bytes of its own words in all.
    pub words: u64,
    pub tools: u64,
    /// Tool calls that failed.
    pub tool_failures: u64,
    pub denied: Vec<String>,
    /// Files it says it wrote, bounded.
    pub files: Vec<String>,
    /// Why the model's service would not go on.
    pub limit: Option<Limit>,
    /// What the agent's closing event calls an error.
    pub error: Option<String>,
    pub api_status: Option<u16>,
    pub usage: Usage,
    pub cost_micro_usd: Option<u64>,
    pub session: Option<String>,
    pub model: Option<String>,
    pub agent_version: Option<String>,
    /// The stream ended before its closing event.
    pub cut_short: bool,
    /// The agent reached the limit of money that it was started with.
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub over_budget: bool,
    pub problems: Vec<String>,
}

/// The names of denied tools, each once, in one line; nothing where nothing was denied.
pub fn denied_tools(denied: &[String]) -> Option<String> {
    let tools: BTreeSet<&str> = denied.iter().map(String::as_str).into_set();
    let tools: Vec<&str> = tools.into_iter().collect();
    (!tools.is_empty()).then(|| crate::text::one_line(&tools.join(", "), 200))
}

/// So much of the end of what a failed tool printed is looked at.
const MOST_OF_FAILURE: usize = 256 << 10;
/// Longer than any secret.
const EDGE: usize = 8 << 10;

/// Builds the report while the agent works.
#[derive(Debug, Default)]
pub struct Builder {
    report: IterationReport,
    words: String,
    /// What the agent was asked: an echo of it is not its own words.
    prompt: String,
    /// Hashes of their ids: a stream may have very many.
    seen_messages: BTreeSet<u64>,
    /// A tool was used since the last words.
    interrupted: bool,
    /// Words come as whole messages, and not line by line.
    in_messages: bool,
    errors: Errors,
    summed: Usage,
    summed_cost: Option<u64>,
    final_usage: Option<Usage>,
    final_text: Option<String>,
    /// The closing event was seen.
    finished: bool,
    secrets: Secrets,
    /// The promise it was asked for, if not the usual one.
    promise: Option<String>,
}

impl Builder {
    /// For an agent that was given this prompt.
    pub fn new(prompt: &str) -> Self {
        Self { prompt: without_ends(prompt.trim()).into_owned(), ..Self::default() }
    }

    /// What is told is told without these. They are hidden before anything is read, cut or compared.
    #[must_use]
    pub fn hiding(mut self, secrets: Secrets) -> Self {
        secrets.hide_in(&mut self.prompt);
        self.secrets = secrets;
        self
    }

    /// The promise that says done.
    #[must_use]
    pub fn expecting(mut self, promise: &str) -> Self {
        self.promise = Some(promise.to_owned());
        self
    }

    pub fn add(&mut self, item: Item) {
        self.in_messages |= matches!(
            item,
            Item::Session { .. } | Item::Tool { .. } | Item::Usage { .. } | Item::MoreWords(_)
        );
        match item {
            Item::StreamBegins => self.begin_again(true),
            Item::TextBegins => self.begin_again(false),
            Item::Session { id, model, version } => {
                let bounded = |name: Option<String>| name.map(|name| crate::text::one_line(&name, 200));
                let report = &mut self.report;
                report.session = bounded(id).or(report.session.take());
                report.model = bounded(model).or(report.model.take());
                report.agent_version = bounded(version).or(report.agent_version.take());
            }
            Item::Words(text) => self.say(&text),
            Item::MoreWords(text) => self.go_on(&text),
            Item::File(path) => {
                let path = crate::text::head(&path, LONGEST_NAME);
                if self.report.files.len() < MOST_NAMES && !self.report.files.contains(&path) {
                    self.report.files.push(path);
                }
            }
            Item::Denied(tool) => self.deny(&tool),
            Item::Cost(cost) => self.summed_cost = Some(self.summed_cost.unwrap_or(0).saturating_add(cost)),
            // A later one that knows more (a status, a reset) replaces an earlier one. A moment that the CLI told as such
            // stays: in its words it is a time of day, without the day or the seconds.
            Item::Limit(mut limit) => {
                limit.text = crate::text::one_line(&self.secrets.hide(&limit.text), 300);
                self.report.limit = Some(match self.report.limit.take() {
                    Some(known) if known.reset.is_some() && limit.reset.is_none() => known,
                    Some(Limit { reset: told @ Some(Reset::At { .. }), .. })
                        if !matches!(limit.reset, Some(Reset::At { .. })) =>
                    {
                        Limit { reset: told, ..limit }
                    }
                    _ => limit,
                });
            }
            Item::Tool { .. } => {
                self.report.tools += 1;
                self.interrupted = true;
            }
            Item::ToolFailed(text) => {
                self.report.tool_failures += 1;
                // What is cut off first may be half a secret, so the edge goes once they are hidden.
                let hidden = self.secrets.hide(crate::text::tail(&text, MOST_OF_FAILURE + EDGE));
                self.errors.tool_failed(crate::text::tail(&hidden, MOST_OF_FAILURE));
            }
            Item::Usage { message, usage } => self.count(message, usage),
            Item::Finished(finished) => {
                if finished.error.is_none() {
                    self.report.limit.take_if(|limit| !says_only(finished.text.as_deref(), limit));
                }
                self.report.error =
                    finished.error.map(|error| crate::text::one_line(&self.secrets.hide(&error), 500));
                self.report.api_status = finished.api_status;
                self.report.cost_micro_usd = finished.cost_micro_usd;
                finished.denied.iter().for_each(|tool| self.deny(tool));
                self.report.over_budget = finished.over_budget;
                self.final_usage = finished.usage;
                self.finished = true;
                self.final_text = finished.text;
            }
            Item::Problem(problem) => {
                self.report.cut_short |= problem == Problem::NoResult;
                self.note(problem.to_string());
            }
        }
    }

    /// Tokens and money, as far as the agent has told them by now.
    pub fn spent(&self) -> (Usage, Option<u64>) {
        let usage = match self.final_usage {
            Some(usage) if usage.total() >= self.summed.total() => usage,
            _ => self.summed,
        };
        (usage, self.report.cost_micro_usd.or(self.summed_cost))
    }

    /// Whether the agent has said that it is at its end.
    pub fn is_finished(&self) -> bool {
        self.finished
    }

    /// The agent's own words, as far as they are kept.
    pub fn into_words(mut self) -> String {
        self.settle_words();
        without_ends(&self.words).into_owned()
    }

    fn settle_words(&mut self) {
        if let Some(text) = self.final_text.take().filter(|text| !self.has_said(text)) {
            self.say(&text);
        }
        if let Some(text) = torn::result_text(&self.words) {
            self.note("the result is not JSON; its text was read".to_owned());
            self.words = text;
        }
    }

    /// The closing event repeats the last message, in most streams.
    fn has_said(&self, text: &str) -> bool {
        let end = without_ends(crate::text::tail(text.trim(), REPEATED));
        end.is_empty() || self.words.contains(&*end)
    }

    pub fn finish(mut self) -> IterationReport {
        self.settle_words();
        self.secrets.hide_in(&mut self.words);
        let own = own_part(&self.words, &self.prompt);
        let (block, problems) = block::last(own);
        if let Some(error) = &self.report.error {
            self.errors.tool_failed(error);
        }
        self.errors.words(&without_ends(own));
        let expected = self.promise.as_deref().unwrap_or(PROMISE);
        let promise = dialects::promise(own, expected);
        let misplaced = promise.is_none() && dialects::misplaced(own, expected);
        self.report.sayings = [dialects::json_and_marker(own), promise].into_iter().flatten().collect();
        let phase = self.report.sayings.iter().find_map(|saying| match saying.vote {
            Vote::Done { phase } => phase,
            _ => None,
        });
        let context = indicator::Context { plain_text: !self.in_messages, phase };
        self.report.indicators = indicator::count(crate::text::final_message(own), context);
        self.report.block = block;
        for problem in problems.into_iter().chain(misplaced.then(|| MISPLACED.into())) {
            self.note(problem);
        }
        self.report.errors = core::mem::take(&mut self.errors).finish();
        // The closing event counts side calls too; without one (a crash), what was seen is summed.
        (self.report.usage, self.report.cost_micro_usd) = self.spent();
        let words = without_ends(&self.words);
        self.report.last_words = crate::text::plain(crate::text::tail(words.trim_end(), 2000));
        self.report
    }

    /// What came before is not the agent's.
    fn begin_again(&mut self, in_messages: bool) {
        let problems = core::mem::take(&mut self.report.problems);
        let report = IterationReport { problems, ..IterationReport::default() };
        let (prompt, secrets) = (core::mem::take(&mut self.prompt), core::mem::take(&mut self.secrets));
        *self =
            Self { report, prompt, secrets, promise: self.promise.take(), in_messages, ..Self::default() };
    }

    fn say(&mut self, text: &str) {
        self.report.words = self.report.words.saturating_add(text.len() as u64);
        let tools_used = !text.trim().is_empty() && core::mem::take(&mut self.interrupted);
        if !self.words.is_empty() {
            // Only a line of plain text ends where the next one goes on with the same message.
            let whole = self.in_messages || !self.words.ends_with('\n') || text.trim_end().contains('\n');
            if !self.words.ends_with('\n') {
                self.words.push('\n');
            }
            if tools_used {
                self.words.push(TOOLS_USED);
            } else if whole {
                self.words.push(MESSAGE_END);
            }
        }
        self.words.push_str(&without_ends(crate::text::tail(text, KEPT_WORDS)));
        self.forget_the_beginning();
    }

    /// Words that continue the ones before.
    fn go_on(&mut self, text: &str) {
        if self.interrupted {
            return self.say(text);
        }
        self.report.words = self.report.words.saturating_add(text.len() as u64);
        self.words.push_str(&without_ends(text));
        self.forget_the_beginning();
    }

    fn forget_the_beginning(&mut self) {
        if self.words.len() > 2 * KEPT_WORDS {
            self.words = crate::text::tail(&self.words, KEPT_WORDS).to_owned();
        }
    }

    fn deny(&mut self, tool: &str) {
        if self.report.denied.len() < MOST_NAMES {
            self.report.denied.push(crate::text::one_line(tool, 200));
        }
    }

    fn count(&mut self, message: Option<String>, usage: Usage) {
        if self.seen_messages.len() >= MOST_MESSAGES {
            self.seen_messages.clear();
        }
        let fresh = message.is_none_or(|id| self.seen_messages.insert(crate::text::hash(&id)));
        if fresh {
            self.summed = self.summed.plus(usage);
        }
    }

    fn note(&mut self, problem: String) {
        if self.report.problems.len() < 20 && !self.report.problems.contains(&problem) {
            self.report.problems.push(problem);
        }
    }
}

/// What ended well has overcome its limits, unless a notice is all it has to say.
fn says_only(text: Option<&str>, limit: &Limit) -> bool {
    let Some(text) = text.map(str::trim) else { return false };
    let notice = || !text.contains('\n') && crate::limit::of(None, text).is_some();
    crate::text::one_line(text, 300) == limit.text || notice()
}

/// The words without the marks between messages.
fn without_ends(words: &str) -> Cow<'_, str> {
    if words.contains(MESSAGE_ENDS) {
        Cow::Owned(words.replace(MESSAGE_ENDS, ""))
    } else {
        Cow::Borrowed(words)
    }
}

/// What comes after the last echo of the prompt, or of the instructions it ends with. A report stands at the end, so
/// nothing is lost that counts.
fn own_part<'a>(words: &'a str, prompt: &str) -> &'a str {
    let after =
        |echo: &str| (!echo.is_empty()).then(|| words.rfind(echo)).flatten().map(|at| at + echo.len());
    let instructions = protocol::every().filter_map(|asked| after(asked.trim())).max();
    let start = after(prompt).max(instructions).unwrap_or(0);
    &words[start..]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::block::{Status, Tests, WorkType};
    use crate::time::Time;
    use crate::transcript::{Decoder, Format};

    fn report(bytes: &[u8]) -> IterationReport {
        let mut decoder = Decoder::new(Format::Auto);
        let mut builder = Builder::default();
        decoder.feed(bytes, |item| builder.add(item));
        decoder.finish(|item| builder.add(item));
        builder.finish()
    }

    #[test]
    fn the_recorded_work_stream_is_read_whole() {
        let report = report(include_bytes!("../tests/transcripts/claude-work-stream.jsonl"));
        let block = report.block.expect("a status block");
        assert_eq!(block.status, Some(Status::InProgress));
        assert_eq!(block.tasks, Some(1));
        assert_eq!(block.files, Some(1));
        assert_eq!(block.tests, Some(Tests::Passing));
        assert_eq!(block.work_type, Some(WorkType::Implementation));
        assert!(!block.exit_signal);
        assert_eq!(block.recommendation.as_deref(), Some("Next: add the farewell"));
        assert_eq!(report.usage.total(), 450);
        assert_eq!(report.cost_micro_usd, Some(5250));
        assert_eq!(report.agent_version.as_deref(), Some("2.1.197"));
        assert_eq!((report.tools, report.tool_failures), (2, 1));
        assert_eq!(report.error, None);
        assert_eq!(report.problems, Vec::<String>::new());
    }

    #[test]
    fn the_recorded_text_says_the_same() {
        let block =
            report(include_bytes!("../tests/transcripts/claude-work-text.txt")).block.expect("a block");
        assert_eq!(block.status, Some(Status::InProgress));
        assert_eq!(block.problems, Vec::<String>::new());
    }

    #[test]
    fn recorded_api_failures_are_errors_and_not_words() {
        for (bytes, status, words) in [
            (
                &include_bytes!("../tests/transcripts/claude-r400-stream.jsonl")[..],
                400,
                "Credit balance is too low",
            ),
            (include_bytes!("../tests/transcripts/claude-r401-stream.jsonl"), 401, "Invalid API key"),
            (
                include_bytes!("../tests/transcripts/claude-r429-stream.jsonl"),
                429,
                "API Error: Request rejected",
            ),
            (
                include_bytes!("../tests/transcripts/claude-r529-stream.jsonl"),
                529,
                "API Error: 529 Overloaded",
            ),
        ] {
            let report = report(bytes);
            assert_eq!(report.api_status, Some(status));
            assert!(report.error.as_deref().is_some_and(|error| error.starts_with(words)), "{status}");
            assert_eq!(report.words, 0);
            assert_eq!(report.block, None);
        }
    }

    #[test]
    fn recorded_max_turns_and_denials_are_seen() {
        let turns = report(include_bytes!("../tests/transcripts/claude-maxturns-stream.jsonl"));
        assert_eq!(turns.error.as_deref(), Some("Reached maximum number of turns (1)"));
        let denied = report(include_bytes!("../tests/transcripts/claude-denied-stream.jsonl"));
        assert_eq!(denied.denied, ["Write"]);
        assert_eq!(denied.error, None);
    }

    #[test]
    fn an_echo_of_the_prompt_is_not_a_report_whatever_the_prompt_quotes() {
        let example = "---RALPH_STATUS---\nSTATUS: COMPLETE\nEXIT_SIGNAL: true\n---END_RALPH_STATUS---";
        let prompt = format!(
            "Notes:\n{example}\n\n{}\n",
            crate::prompt::protocol::ask(crate::profile::Protocol::Block, protocol::About::Whole)
        );
        let said = |words: &str| {
            let mut builder = Builder::new(&prompt);
            builder.add(Item::Words(words.into()));
            builder.finish().block.is_some()
        };
        assert!(!said(&prompt), "the whole prompt");
        assert!(!said(&format!("> got this:\n{}", &prompt[3..])), "most of it");
        assert!(said(&format!("{prompt}\nI am done.\n{example}\n")), "its own report after the echo");
        assert!(said(example));
    }

    fn messages(said: &[&str]) -> IterationReport {
        let mut builder = Builder::default();
        builder.add(Item::Session { id: Some("s".into()), model: None, version: None });
        said.iter().for_each(|text| builder.add(Item::Words((*text).into())));
        builder.finish()
    }

    #[test]
    fn a_fence_that_one_message_leaves_open_hides_nothing_of_the_next() {
        for open in ["It prints:\n```\nok", "It prints:\n```\nok\n", "```\n"] {
            let report = messages(&[open, "All tests pass.\n\n<promise>COMPLETE</promise>"]);
            assert_eq!(report.indicators.count, 1, "{open:?}");
            assert_eq!(report.sayings.len(), 1, "{open:?}");
            assert!(!report.last_words.contains(MESSAGE_ENDS));
        }
    }

    fn worked(said: &[&str]) -> IterationReport {
        let mut builder = Builder::default();
        for text in said {
            builder.add(Item::Tool { name: "Bash".into(), target: None });
            builder.add(Item::Words((*text).into()));
        }
        builder.finish()
    }

    #[test]
    fn only_what_is_said_after_the_last_tool_counts_and_cancels() {
        let done = "All tasks are complete. All tests pass.";
        assert_eq!(worked(&["Let me look at the module first.", done]).indicators.count, 2);
        assert_eq!(worked(&[done, "Committed."]).indicators.count, 0, "narration does not count either");
        let further = worked(&[done, "Next I will write the docs."]).indicators;
        assert!(further.cancelled_by.is_some_and(|sentence| sentence.contains("the docs")));
        assert_eq!(worked(&[done, "  \n"]).indicators.count, 2, "white space is no message");
    }

    #[test]
    fn words_that_come_in_pieces_are_one_final_message() {
        let mut builder = Builder::default();
        let pieces = |builder: &mut Builder, pieces: &[&str]| {
            pieces.iter().for_each(|piece| builder.add(Item::MoreWords((*piece).into())));
        };
        pieces(&mut builder, &["I'll start ", "with the lexer."]);
        builder.add(Item::Tool { name: "edit".into(), target: None });
        pieces(&mut builder, &["\n", "All tasks are ", "complete. All te", "sts pass."]);
        assert_eq!(builder.finish().indicators.count, 2);
    }

    #[test]
    fn in_plain_text_a_later_paragraph_leaves_narration_behind() {
        let count = |text: &str| report(text.as_bytes()).indicators.count;
        let block = "\n\n---RALPH_STATUS---\nSTATUS: COMPLETE\nEXIT_SIGNAL: true\n---END_RALPH_STATUS---\n";
        let done = "All tasks are complete.\n\nAll tests pass.";
        assert_eq!(count(&format!("Let me look at the module first.\n\n{done}{block}")), 2);
        assert_eq!(count(&format!("{done}\n\nNext I will write the docs.{block}")), 0);
        assert_eq!(count(&format!("{done} Next I will write the docs.{block}")), 0, "in one paragraph");
        assert_eq!(count(&format!("{done}\n\nNext steps:\n\n- the docs{block}")), 0);
        assert_eq!(count(&format!("{done}\n\nI'll tidy up.\n\nTidied up.{block}")), 0, "said before that");
    }

    #[test]
    fn a_phase_counts_as_the_whole_only_where_the_report_names_it() {
        let json =
            "RALPH_STATUS: {\"completion_indicators\": 2, \"EXIT_SIGNAL\": true}\nLOOP_COMPLETE_PHASE_";
        let said = "Phase 2 is complete. All tests pass.";
        assert_eq!(messages(&[&format!("{said}\n\n{json}2")]).indicators.count, 2);
        assert_eq!(messages(&[&format!("{said}\n\n{json}3")]).indicators.count, 1);
        assert_eq!(messages(&[said]).indicators.count, 1);
    }

    #[test]
    fn a_block_is_never_glued_from_two_messages() {
        let report =
            messages(&["---RALPH_STATUS---\nSTATUS: COMPLETE", "EXIT_SIGNAL: true\n---END_RALPH_STATUS---"]);
        let block = report.block.expect("half a block");
        assert!(!block.exit_signal);
        assert!(block.problems.iter().any(|problem| problem == "missing end line"));
        let json = messages(&["RALPH_STATUS: {\"note\": 1,", "\"EXIT_SIGNAL\": true}\nLOOP_COMPLETE"]);
        assert_eq!(json.sayings[0].vote, dialects::Vote::More);
    }

    #[test]
    fn a_report_in_an_earlier_message_and_its_marker_in_a_later_one_belong_together() {
        let report = messages(&["RALPH_STATUS: {\"EXIT_SIGNAL\": true}", "LOOP_COMPLETE_PHASE_2"]);
        assert_eq!(report.sayings[0].vote, dialects::Vote::Done { phase: Some(2) });
        let ended = messages(&["It ends with: <promise>COMPLETE</promise>", "Now the next story."]);
        assert_eq!(ended.sayings, []);
    }

    #[test]
    fn lines_of_plain_text_are_one_message_and_a_mark_in_them_parts_nothing() {
        let report = report(b"```\n\x1e<promise>COMPLETE</promise>\nAll tests pass.\n```\n");
        assert_eq!((report.indicators.count, report.sayings), (0, vec![]));
    }

    #[test]
    fn a_quoted_result_does_not_replace_what_is_said_after_it() {
        let quoted = |signal: &str| {
            format!("---RALPH_STATUS---\\nSTATUS: COMPLETE\\nEXIT_SIGNAL: {signal}\\n---END_RALPH_STATUS---")
        };
        let own = quoted("false").replace("\\n", "\n");
        let result = format!(r#"{{"type":"result","result":"{}"}}"#, quoted("true"));
        let said = report(format!("{result}\nis what the fixture holds. I am not done.\n{own}\n").as_bytes());
        assert!(said.block.is_some_and(|block| !block.exit_signal));
        assert_eq!(
            report(format!("{result}\nis what the fixture holds. I am not done.\n").as_bytes()).block,
            None
        );
        let alone = report(result.trim_end_matches('}').as_bytes());
        assert!(alone.block.is_some_and(|block| block.exit_signal));
        assert_eq!(alone.problems[0], "the result is not JSON; its text was read");
    }

    #[test]
    fn usage_counts_once_per_message() {
        let mut builder = Builder::default();
        let usage = Usage { input: 100, output: 50, cache_read: 7, cache_write: 3 };
        for id in ["a", "a", "b"] {
            builder.add(Item::Usage { message: Some(id.into()), usage });
        }
        assert_eq!(builder.finish().usage.total(), 320);
    }

    const REJECTED: &str = r#"{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":1794790000,"rateLimitType":"five_hour"}}"#;

    fn claude(is_error: bool, result: &str, before: &str) -> Option<Limit> {
        let init = r#"{"type":"system","subtype":"init","session_id":"s"}"#;
        let result = serde_json::json!({
            "type": "result", "subtype": "success", "is_error": is_error, "result": result, "session_id": "s"
        });
        report(format!("{init}\n{before}\n{result}\n").as_bytes()).limit
    }

    #[test]
    fn a_limit_that_was_overcome_is_no_limit() {
        let codex = |end: &str| {
            let error = r#"{"type":"error","message":"Reconnecting... 1/5 (unexpected status 503 Service Unavailable: busy, url: http://127.0.0.1:8080/v1/responses)"}"#;
            let start = r#"{"type":"thread.started","thread_id":"t"}"#;
            report(format!("{start}\n{error}\n{end}\n").as_bytes()).limit.map(|limit| limit.kind)
        };
        let overload = Some(crate::limit::LimitKind::Overload);
        assert_eq!(codex(r#"{"type":"turn.completed","usage":{}}"#), None);
        assert_eq!(codex(r#"{"type":"turn.failed","error":{"message":"cut"}}"#), overload);
        assert_eq!(codex(""), overload, "it never ended");
        assert_eq!(claude(false, "I wrote the parser.", REJECTED), None);
        assert_eq!(claude(false, "Done.\nCredit balance is too low", REJECTED), None);
        assert!(claude(true, "stopped", REJECTED).is_some_and(|limit| limit.reset.is_some()));
    }

    #[test]
    fn a_good_result_that_is_only_the_notice_has_overcome_nothing() {
        for notice in ["five_hour limit reached", "You've hit your session limit · resets 3pm (UTC)"] {
            assert!(claude(false, notice, REJECTED).is_some(), "{notice}");
        }
    }

    #[test]
    fn a_moment_that_was_told_as_such_is_not_forgotten_for_a_time_of_day() {
        let at = |seconds: i64| Some(Reset::At { time: Time::from_millis(seconds * 1000) });
        let limit =
            claude(true, "You've hit your limit · resets Nov 23, 5pm (UTC)", REJECTED).expect("limited");
        assert_eq!(limit.reset, at(1_794_790_000), "in a week, perhaps, and not at the next 5pm");
        assert!(limit.text.starts_with("You've hit your limit"), "{}", limit.text);
        let later = claude(true, "Claude AI usage limit reached|1794790001", REJECTED);
        assert_eq!(later.expect("limited").reset, at(1_794_790_001));
    }

    #[test]
    fn prose_in_a_failed_result_is_no_limit() {
        for prose in [
            "I implemented the billing page and the access token refresh.",
            "The login page answers with status 401, and error 503 is retried.",
            "Forbidden: the guest role can no longer delete.",
        ] {
            assert_eq!(claude(true, prose, ""), None, "{prose}");
        }
        assert!(claude(true, "Claude AI usage limit reached|1794790000", "").is_some());
    }

    #[test]
    fn an_agent_cannot_fill_the_report_with_names() {
        let mut builder = Builder::default();
        let long = || "n".repeat(100_000);
        builder.add(Item::Session { id: Some(long()), model: Some(long()), version: Some(long()) });
        for nth in 0..1000 {
            builder.add(Item::File(format!("{nth}{}", long())));
            builder.add(Item::Denied(long()));
            builder.add(Item::Usage { message: Some(long()), usage: Usage::default() });
        }
        let limit = crate::limit::of(Some(429), "");
        builder.add(Item::Limit(Limit { text: long(), ..limit.expect("a limit") }));
        let report = builder.finish();
        assert_eq!((report.files.len(), report.denied.len()), (200, 200));
        assert!(serde_json::to_string(&report).expect("JSON").len() < 1 << 20);
    }

    #[test]
    fn memory_stays_bounded_and_the_block_at_the_end_is_found() {
        let mut builder = Builder::default();
        for _ in 0..40 {
            builder.add(Item::Words("x".repeat(100_000)));
        }
        assert!(builder.words.capacity() < 8 * KEPT_WORDS);
        builder.add(Item::Words(
            "---RALPH_STATUS---\nSTATUS: COMPLETE\nEXIT_SIGNAL: true\n---END_RALPH_STATUS---".into(),
        ));
        let report = builder.finish();
        assert!(report.block.is_some_and(|block| block.exit_signal));
        assert!(report.words > 4_000_000);
    }
}
