//! Lines of Claude Code's `--output-format stream-json`, in the shape and key order of recorded ones.
//!
//! The order matters: readers may look for `"type"` at the start of a line before they parse anything. So lines
//! are made from text patterns; a JSON library would sort the keys.

use serde_json::Value;
use std::path::Path;

/// Stands in session and line ids for the twelve digits of the call's number, put in when the agent runs: each
/// call is a session of its own.
pub(crate) const CALL: &str = "@TESTKIT_CALL@";

const MODEL: &str = "claude-opus-4-8";
const COST_OF_A_MESSAGE: f64 = 0.00175;

#[derive(Clone, Debug)]
pub(crate) enum ClaudeLine {
    Init,
    Text(String),
    Tool { name: String, input: Value },
    ToolOk(String),
    ToolError(String),
    ApiError { error: String, text: String },
    Result(ClaudeResult),
}

/// The last line of a stream. Usage and cost are those of the messages before it unless set.
#[derive(Clone, Debug)]
pub struct ClaudeResult {
    outcome: Outcome,
    tokens: Option<(u64, u64)>,
    cost_usd: Option<f64>,
    denials: Vec<(String, Value)>,
}

#[derive(Clone, Debug)]
enum Outcome {
    Success(String),
    ApiError(Option<u16>, String),
    MaxTurns(u32),
}

impl ClaudeResult {
    /// Ended normally; the text is the agent's last words.
    pub fn success(text: impl Into<String>) -> Self {
        Self::of(Outcome::Success(text.into()))
    }

    /// What an API failure looks like: `subtype` success with `is_error` true. A lost connection has no status.
    pub fn api_error(status: impl Into<Option<u16>>, text: impl Into<String>) -> Self {
        Self::of(Outcome::ApiError(status.into(), text.into()))
    }

    /// Cut off by `--max-turns`; carries no text.
    pub fn max_turns(turns: u32) -> Self {
        Self::of(Outcome::MaxTurns(turns))
    }

    fn of(outcome: Outcome) -> Self {
        ClaudeResult { outcome, tokens: None, cost_usd: None, denials: Vec::new() }
    }

    #[must_use]
    pub fn usage(mut self, input_tokens: u64, output_tokens: u64) -> Self {
        self.tokens = Some((input_tokens, output_tokens));
        self
    }

    #[must_use]
    pub fn cost_usd(mut self, cost: f64) -> Self {
        self.cost_usd = Some(cost);
        self
    }

    /// A tool call that permissions did not allow.
    #[must_use]
    pub fn denied(mut self, tool: &str, input: Value) -> Self {
        self.denials.push((tool.into(), input));
        self
    }
}

/// Counts messages, tools and lines through one session.
pub(crate) struct ClaudeSession {
    cwd: String,
    lines: u32,
    messages: u32,
    tools: u32,
    in_message: bool,
}

impl ClaudeSession {
    pub(crate) fn new(cwd: &Path) -> Self {
        ClaudeSession {
            cwd: json(&cwd.to_string_lossy()),
            lines: 0,
            messages: 0,
            tools: 0,
            in_message: false,
        }
    }

    /// The line without its line end.
    pub(crate) fn render(&mut self, line: &ClaudeLine) -> String {
        self.lines += 1;
        match line {
            ClaudeLine::Init => self.fill(INIT).replace("@CWD@", &self.cwd),
            ClaudeLine::Text(text) => {
                let block = format!(r#"{{"type":"text","text":{}}}"#, json(text));
                self.assistant(&block)
            }
            ClaudeLine::Tool { name, input } => {
                self.tools += 1;
                let (id, name) = (self.tool_id(), json(name));
                let block = format!(r#"{{"type":"tool_use","id":"{id}","name":{name},"input":{input}}}"#);
                self.assistant(&block)
            }
            ClaudeLine::ToolOk(content) => {
                let (id, content) = (self.tool_id(), json(content));
                let block = format!(r#"{{"tool_use_id":"{id}","type":"tool_result","content":{content}}}"#);
                self.user(&block, &content)
            }
            ClaudeLine::ToolError(content) => {
                let (id, text) = (self.tool_id(), json(content));
                let block = format!(
                    r#"{{"type":"tool_result","content":{text},"is_error":true,"tool_use_id":"{id}"}}"#
                );
                self.user(&block, &json(&format!("Error: {content}")))
            }
            ClaudeLine::ApiError { error, text } => {
                self.in_message = false;
                self.fill(API_ERROR).replace("@ERROR@", &json(error)).replace("@TEXT@", &json(text))
            }
            ClaudeLine::Result(result) => self.result(result),
        }
    }

    fn assistant(&mut self, block: &str) -> String {
        if !self.in_message {
            self.messages += 1;
            self.in_message = true;
        }
        self.fill(ASSISTANT).replace("@MESSAGE@", &self.messages.to_string()).replace("@BLOCK@", block)
    }

    fn user(&mut self, block: &str, tool_use_result: &str) -> String {
        self.in_message = false;
        self.fill(USER).replace("@RESULT@", tool_use_result).replace("@BLOCK@", block)
    }

    fn result(&self, result: &ClaudeResult) -> String {
        let messages = u64::from(self.messages);
        let (input, output) = result.tokens.unwrap_or((100 * messages, 50 * messages));
        let cost = result.cost_usd.unwrap_or(COST_OF_A_MESSAGE * f64::from(self.messages));
        let turns = self.messages.max(1);
        let (mut reason, mut errors) = ("completed", String::new());
        let head = match &result.outcome {
            Outcome::Success(text) => success_head("false", "null", turns, text, "end_turn"),
            Outcome::ApiError(status, text) => {
                let status = status.map_or("null".to_owned(), |status| status.to_string());
                success_head("true", &status, turns, text, "stop_sequence")
            }
            Outcome::MaxTurns(most) => {
                reason = "max_turns";
                errors = format!(r#","errors":["Reached maximum number of turns ({most})"]"#);
                MAX_TURNS.replace("@TURNS@", &(turns + 1).to_string())
            }
        };
        let models = if messages == 0 { "" } else { MODELS };
        let denials: Vec<String> =
            result.denials.iter().map(|(tool, input)| self.denial(tool, input)).collect();
        self.fill(RESULT)
            .replace("@MODELS@", models)
            .replace("@INPUT@", &input.to_string())
            .replace("@OUTPUT@", &output.to_string())
            // Rounded like the real ones: sums of floats have tails.
            .replace("@COST@", &((cost * 1e8).round() / 1e8).to_string())
            .replace("@REASON@", reason)
            .replace("@ERRORS@", &errors)
            .replace("@DENIALS@", &denials.join(","))
            .replace("@HEAD@", &head)
    }

    fn denial(&self, tool: &str, input: &Value) -> String {
        let (tool, id) = (json(tool), self.tool_id());
        format!(r#"{{"tool_name":{tool},"tool_use_id":"{id}","tool_input":{input}}}"#)
    }

    fn tool_id(&self) -> String {
        format!("toolu_{:04}", self.tools)
    }

    /// Puts in what every line has. Called before any text of a test goes in, so that such a text stays as it is.
    fn fill(&self, pattern: &str) -> String {
        let session = format!("5e551000-0000-4000-8000-{CALL}");
        let uuid = format!("{:08x}-0000-4000-8000-{CALL}", self.lines);
        pattern.trim_end().replace("@SESSION@", &session).replace("@UUID@", &uuid).replace("@MODEL@", MODEL)
    }
}

fn success_head(is_error: &str, status: &str, turns: u32, text: &str, stop_reason: &str) -> String {
    let text = json(text);
    format!(
        r#""subtype":"success","is_error":{is_error},"api_error_status":{status},"duration_ms":741,"duration_api_ms":267,"num_turns":{turns},"result":{text},"stop_reason":"{stop_reason}""#
    )
}

/// The text as a JSON string.
pub(crate) fn json(text: &str) -> String {
    serde_json::to_string(text).expect("text is always JSON")
}

const INIT: &str = include_str!("claude/init.pattern");
const ASSISTANT: &str = include_str!("claude/assistant.pattern");
const API_ERROR: &str = include_str!("claude/api_error.pattern");
const USER: &str = include_str!("claude/user.pattern");
const RESULT: &str = include_str!("claude/result.pattern");
const MODELS: &str = r#""claude-opus-4-8[1m]":{"inputTokens":@INPUT@,"outputTokens":@OUTPUT@,"cacheReadInputTokens":0,"cacheCreationInputTokens":0,"webSearchRequests":0,"costUSD":@COST@,"contextWindow":1000000,"maxOutputTokens":64000}"#;
const MAX_TURNS: &str = r#""subtype":"error_max_turns","duration_ms":480,"duration_api_ms":92,"is_error":true,"num_turns":@TURNS@,"stop_reason":"tool_use""#;
