//! A transcript for people: what the agent said, which tools it used and what they answered, in any CLI's stream.
//!
//! The decoders read for decisions and pass over what went well. This reads the same events for the eye: results too, and what
//! sub-agents did. Nothing here feeds a decision.

use serde_json::Value;

use super::Format;
use super::lines::{Line, Lines, MAX_LINE};
use crate::prelude::*;
use crate::text::{count, one_line, plain};

/// How many lines of a tool's result are shown, and how much of each.
const LINES_OF_RESULT: usize = 6;
const COLUMNS_OF_RESULT: usize = 160;
const COLUMNS_OF_INPUT: usize = 200;

/// One step of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    pub part: Part,
    /// A sub-agent did it.
    pub sub_agent: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    Words(String),
    Tool {
        name: String,
        /// What it was given, on a line.
        input: String,
    },
    Result {
        text: String,
        failed: bool,
    },
    /// The agent, or its provider, gave up.
    Failed(String),
    /// A line that is no event.
    Other(String),
}

impl Step {
    /// The step as lines. `hide` takes secrets out, before anything is cut.
    pub fn lines(&self, hide: &dyn Fn(&str) -> String) -> Vec<String> {
        let clean = |text: &str| plain(&hide(text));
        let lines = match &self.part {
            Part::Words(text) => {
                let text = clean(text);
                // An empty line sets words apart from tools.
                text.trim().lines().map(ToOwned::to_owned).chain([String::new()]).collect()
            }
            Part::Tool { name, input } => {
                let input = one_line(&clean(input), COLUMNS_OF_INPUT);
                let name = one_line(name, 80);
                vec![if input.is_empty() { format!("> {name}") } else { format!("> {name}: {input}") }]
            }
            Part::Result { text, failed } => shortened(&clean(text), *failed),
            Part::Failed(why) => vec![format!("failed: {}", one_line(&clean(why), 500))],
            Part::Other(line) => vec![clean(line)],
        };
        let mark = if self.sub_agent { "  | " } else { "" };
        lines.into_iter().map(|line| format!("{mark}{line}").trim_end().to_owned()).collect()
    }
}

/// The first lines of a result, indented, and how many more there are.
fn shortened(text: &str, failed: bool) -> Vec<String> {
    let all: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let cut = |line: &str| {
        let head: String = line.chars().take(COLUMNS_OF_RESULT).collect();
        if head.len() < line.len() { format!("    {head}…") } else { format!("    {head}") }
    };
    let mut lines: Vec<String> = all.iter().take(LINES_OF_RESULT).map(|line| cut(line)).collect();
    if let Some(more) = all.len().checked_sub(LINES_OF_RESULT).filter(|more| *more > 0) {
        lines.push(format!("    … {}", count(more as u64, "more line")));
    }
    match (failed, lines.first_mut()) {
        (true, Some(first)) => *first = format!("    failed: {}", first.trim_start()),
        (true, None) => lines.push("    failed".into()),
        (false, _) => {}
    }
    lines
}

/// Reads a transcript whose format is known, chunk by chunk.
#[derive(Debug)]
pub struct Reader {
    format: Format,
    lines: Lines,
    /// An event was read.
    begun: bool,
    /// The agent said something of its own.
    spoke: bool,
    /// Words that came in pieces.
    pieces: String,
    /// Lines before the first event: a document over many lines, or what a wrapper printed.
    held: String,
}

impl Reader {
    pub fn new(format: Format) -> Self {
        let (pieces, held) = (String::new(), String::new());
        Self { format, lines: Lines::default(), begun: false, spoke: false, pieces, held }
    }

    pub fn feed(&mut self, bytes: &[u8], each: &mut dyn FnMut(Step)) {
        let mut lines = core::mem::take(&mut self.lines);
        lines.feed(bytes, |line| self.line(line, each));
        self.lines = lines;
    }

    pub fn finish(&mut self, each: &mut dyn FnMut(Step)) {
        let mut lines = core::mem::take(&mut self.lines);
        lines.finish(|line| self.line(line, each));
        let held = core::mem::take(&mut self.held);
        match serde_json::from_str::<Value>(&held) {
            Ok(document) if !self.begun => self.document(&document, each),
            _ => held.lines().for_each(|line| each(own(Part::Other(line.into())))),
        }
        self.end_words(each);
    }

    fn line(&mut self, line: Line<'_>, each: &mut dyn FnMut(Step)) {
        let text = String::from_utf8_lossy(line.bytes);
        if matches!(self.format, Format::Auto | Format::Text) {
            return each(own(Part::Other(text.into_owned())));
        }
        if line.cut {
            return each(own(Part::Other(format!("(a line of over {} MB is left out)", MAX_LINE >> 20))));
        }
        // An array of events may have each of them on a line of its own.
        let event = text.trim().trim_start_matches('[').trim_end_matches([',', ']']);
        match serde_json::from_str::<Value>(text.trim()).or_else(|_| serde_json::from_str(event)) {
            Ok(Value::Array(events)) => events.iter().for_each(|event| self.event(event, each)),
            Ok(event @ Value::Object(_)) => {
                for line in core::mem::take(&mut self.held).lines().filter(|line| *line != "[") {
                    each(own(Part::Other(line.into())));
                }
                self.event(&event, each);
            }
            _ if self.begun || self.held.len() > MAX_LINE => {
                if !matches!(text.trim(), "" | "]") {
                    each(own(Part::Other(text.into_owned())));
                }
            }
            _ => {
                self.held.push_str(&text);
                self.held.push('\n');
            }
        }
    }

    fn document(&mut self, document: &Value, each: &mut dyn FnMut(Step)) {
        match (document, document["response"].as_str()) {
            (Value::Array(events), _) => events.iter().for_each(|event| self.event(event, each)),
            (_, Some(response)) => self.say(response, false, each),
            _ => self.event(document, each),
        }
    }

    fn event(&mut self, event: &Value, each: &mut dyn FnMut(Step)) {
        self.begun = true;
        // Only these are put together with what follows.
        if !(event["type"] == "message" && event["delta"] == true) {
            self.end_words(each);
        }
        match self.format {
            Format::Claude | Format::Hook => self.claude(event, each),
            Format::Codex => self.codex(event, each),
            Format::Opencode => self.opencode(event, each),
            Format::Gemini => self.gemini(event, each),
            Format::Auto | Format::Text => {}
        }
    }

    fn say(&mut self, text: &str, sub_agent: bool, each: &mut dyn FnMut(Step)) {
        if !text.trim().is_empty() {
            self.spoke |= !sub_agent;
            each(Step { part: Part::Words(text.into()), sub_agent });
        }
    }

    fn end_words(&mut self, each: &mut dyn FnMut(Step)) {
        let pieces = core::mem::take(&mut self.pieces);
        self.say(&pieces, false, each);
    }

    fn claude(&mut self, event: &Value, each: &mut dyn FnMut(Step)) {
        let sub_agent = !event["parent_tool_use_id"].is_null() || event["isSidechain"] == true;
        let content = &event["message"]["content"];
        match event["type"].as_str() {
            Some("assistant") => {
                self.say(content.as_str().unwrap_or_default(), sub_agent, each);
                for part in content.as_array().into_iter().flatten() {
                    match part["type"].as_str() {
                        Some("text") => self.say(part["text"].as_str().unwrap_or_default(), sub_agent, each),
                        Some("tool_use") => {
                            each(Step { part: tool(&part["name"], &part["input"]), sub_agent });
                        }
                        _ => {}
                    }
                }
            }
            Some("user") => {
                let results = content.as_array().into_iter().flatten();
                for part in results.filter(|part| part["type"] == "tool_result") {
                    let (text, failed) = (words_of(&part["content"]), part["is_error"] == true);
                    each(Step { part: Part::Result { text, failed }, sub_agent });
                }
            }
            Some("result") => {
                let text = event["result"].as_str().unwrap_or_default();
                match event["is_error"] == true {
                    true => each(own(Part::Failed(if text.is_empty() {
                        words_of(&event["subtype"])
                    } else {
                        text.into()
                    }))),
                    // It repeats the last words.
                    false if self.spoke => {}
                    false => self.say(text, false, each),
                }
            }
            _ => {}
        }
    }

    fn codex(&mut self, event: &Value, each: &mut dyn FnMut(Step)) {
        let item = &event["item"];
        match (event["type"].as_str(), item["type"].as_str()) {
            (Some("item.completed"), Some("agent_message")) => {
                self.say(item["text"].as_str().unwrap_or_default(), false, each);
            }
            (Some("item.completed"), Some("command_execution")) => {
                each(own(Part::Tool { name: "shell".into(), input: words_of(&item["command"]) }));
                let failed = item["exit_code"].as_i64().is_some_and(|code| code != 0)
                    || matches!(item["status"].as_str(), Some("failed" | "declined"));
                each(own(Part::Result { text: words_of(&item["aggregated_output"]), failed }));
            }
            (Some("item.completed"), Some("file_change")) => {
                let paths =
                    item["changes"].as_array().into_iter().flatten().map(|change| words_of(&change["path"]));
                let input = paths.collect::<Vec<_>>().join(", ");
                each(own(Part::Tool { name: "apply_patch".into(), input }));
                if matches!(item["status"].as_str(), Some("failed" | "declined")) {
                    each(own(Part::Result { text: words_of(&item["status"]), failed: true }));
                }
            }
            (Some("item.completed"), Some("mcp_tool_call")) => {
                each(own(tool(&item["tool"], &item["arguments"])));
                let (error, result) = (&item["error"]["message"], &item["result"]["content"]);
                let failed = item["status"] == "failed";
                each(own(Part::Result { text: words_of(if failed { error } else { result }), failed }));
            }
            (Some("item.completed"), Some("web_search")) => {
                each(own(Part::Tool { name: "web_search".into(), input: words_of(&item["query"]) }));
            }
            (Some("turn.failed"), _) => each(own(Part::Failed(words_of(&event["error"]["message"])))),
            (Some("error"), _) => each(own(Part::Failed(words_of(&event["message"])))),
            _ => {}
        }
    }

    fn opencode(&mut self, event: &Value, each: &mut dyn FnMut(Step)) {
        let part = &event["part"];
        match event["type"].as_str() {
            Some("text") => self.say(part["text"].as_str().unwrap_or_default(), false, each),
            Some("tool_use") => {
                let state = &part["state"];
                each(own(tool(&part["tool"], &state["input"])));
                let error = state["status"] == "error";
                let failed = error || state["metadata"]["exit"].as_i64().is_some_and(|code| code != 0);
                each(own(Part::Result {
                    text: words_of(if error { &state["error"] } else { &state["output"] }),
                    failed,
                }));
            }
            Some("error") => {
                let error = &event["error"];
                let told = [&error["data"]["message"], &error["message"], &error["name"]];
                let why = told.into_iter().find(|told| told.is_string()).map(words_of);
                each(own(Part::Failed(why.unwrap_or_default())));
            }
            _ => {}
        }
    }

    fn gemini(&mut self, event: &Value, each: &mut dyn FnMut(Step)) {
        match event["type"].as_str() {
            Some("message") if event["role"] == "assistant" => {
                let text = words_of(&event["content"]);
                match event["delta"] == true {
                    true => self.pieces.push_str(&text),
                    false => self.say(&text, false, each),
                }
            }
            Some("tool_use") => each(own(tool(&event["tool_name"], &event["parameters"]))),
            Some("tool_result") => {
                let failed = event["status"] == "error";
                let error = words_of(&event["error"]["message"]);
                let text = if failed && !error.is_empty() { error } else { words_of(&event["output"]) };
                each(own(Part::Result { text, failed }));
            }
            Some("error") => each(own(Part::Failed(words_of(&event["message"])))),
            Some("result") if event["status"] == "error" => {
                each(own(Part::Failed(words_of(&event["error"]["message"]))));
            }
            _ => {}
        }
    }
}

fn own(part: Part) -> Step {
    Step { part, sub_agent: false }
}

fn tool(name: &Value, input: &Value) -> Part {
    let name = name.as_str().unwrap_or("tool").to_owned();
    Part::Tool { name, input: short_input(input) }
}

/// What says most about a call: the command, the file, or what is looked for.
fn short_input(input: &Value) -> String {
    const TELLING: [&str; 13] = [
        "command", "cmd", "file_path", "filePath", "absolute_path", "path", "notebook_path", "pattern",
        "query", "url", "description", "prompt", "skill",
    ];
    let known = TELLING.iter().map(|key| &input[*key]).find(|value| value.is_string() || value.is_array());
    match (known, input) {
        (Some(value), _) => words_of(value),
        (None, Value::Object(fields)) if fields.is_empty() => String::new(),
        (None, Value::Null) => String::new(),
        (None, Value::String(text)) => text.clone(),
        (None, other) => other.to_string(),
    }
}

/// The words of a content that may be a text, or a list of texts and of parts that have one.
fn words_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let words = parts.iter().map(|part| match part["text"].as_str().or(part.as_str()) {
                Some(text) => text.to_owned(),
                None => part["type"].as_str().map_or_else(String::new, |kind| format!("({kind})")),
            });
            words.collect::<Vec<_>>().join(" ")
        }
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(format: Format, text: &str) -> String {
        let mut reader = Reader::new(format);
        let mut lines = Vec::new();
        let mut each = |step: Step| lines.extend(step.lines(&|text| text.replace("s3cret", "[redacted]")));
        // Chunks end anywhere.
        text.as_bytes().chunks(7).for_each(|chunk| reader.feed(chunk, &mut each));
        reader.finish(&mut each);
        lines.join("\n")
    }

    #[test]
    fn claude_s_tools_results_and_sub_agents_are_told_apart() {
        let text = r#"{"type":"system","subtype":"init","session_id":"x"}
{"type":"assistant","message":{"content":[{"type":"text","text":"I run the tests.\nThen I look."},{"type":"tool_use","name":"Bash","input":{"command":"cargo test s3cret"}}]}}
{"type":"user","message":{"content":[{"type":"tool_result","content":"1\n2\n3\n4\n5\n6\n7\n8"}]}}
{"type":"assistant","parent_tool_use_id":"t1","message":{"content":[{"type":"text","text":"Found it."},{"type":"tool_use","name":"Read","input":{"file_path":"src/a.rs"}}]}}
{"type":"user","parent_tool_use_id":"t1","message":{"content":[{"type":"tool_result","is_error":true,"content":[{"type":"text","text":"no such file"}]}]}}
stray words
{"type":"assistant","message":{"content":[{"type":"text","text":"Done."}]}}
{"type":"result","subtype":"success","is_error":false,"result":"Done."}
"#;
        assert_eq!(
            read(Format::Claude, text),
            "I run the tests.\nThen I look.\n\n> Bash: cargo test [redacted]\n    1\n    2\n    3\n    4\n    5\n    6\n    … 2 more lines\n  \
             | Found it.\n  |\n  | > Read: src/a.rs\n  |     failed: no such file\nstray words\nDone.\n"
        );
    }

    #[test]
    fn codex_opencode_and_gemini_are_read_as_well() {
        let codex = r#"{"type":"thread.started","thread_id":"x"}
{"type":"item.completed","item":{"type":"agent_message","text":"Hello."}}
{"type":"item.completed","item":{"type":"command_execution","command":"bash -lc ls","aggregated_output":"a\nb","exit_code":1}}
{"type":"item.completed","item":{"type":"file_change","changes":[{"path":"a.rs"},{"path":"b.rs"}]}}
{"type":"turn.failed","error":{"message":"no quota"}}
"#;
        assert_eq!(
            read(Format::Codex, codex),
            "Hello.\n\n> shell: bash -lc ls\n    failed: a\n    b\n> apply_patch: a.rs, b.rs\nfailed: no quota"
        );
        let opencode = r#"{"type":"text","part":{"text":"Hello."}}
{"type":"tool_use","part":{"tool":"write","state":{"status":"completed","input":{"filePath":"a.txt","content":"x"},"output":"Wrote file"}}}
"#;
        assert_eq!(read(Format::Opencode, opencode), "Hello.\n\n> write: a.txt\n    Wrote file");
        let gemini = r#"{"type":"init","session_id":"x"}
{"type":"message","role":"assistant","content":"Hel","delta":true}
{"type":"message","role":"assistant","content":"lo.","delta":true}
{"type":"tool_use","tool_name":"list_directory","parameters":{"dir":"src"}}
{"type":"tool_result","status":"success","output":"2 files"}
"#;
        assert_eq!(
            read(Format::Gemini, gemini),
            "Hello.\n\n> list_directory: {\"dir\":\"src\"}\n    2 files"
        );
    }

    #[test]
    fn documents_over_many_lines_and_plain_text_are_read_too() {
        let gemini = "{\n  \"session_id\": \"x\",\n  \"response\": \"Hello.\",\n  \"stats\": {}\n}\n";
        assert_eq!(read(Format::Gemini, gemini), "Hello.\n");
        let array = "[\n{\"type\":\"assistant\",\"message\":{\"content\":\"One.\"}},\n{\"type\":\"result\",\"result\":\"Two.\"}\n]\n";
        assert_eq!(read(Format::Claude, array), "One.\n");
        let single = "{\"type\":\"result\",\"subtype\":\"success\",\"result\":\"Only this.\"}";
        assert_eq!(read(Format::Claude, single), "Only this.\n");
        assert_eq!(read(Format::Text, "one\n\n  two"), "one\n\n  two");
        assert_eq!(read(Format::Claude, "{ torn\n"), "{ torn");
    }
}
