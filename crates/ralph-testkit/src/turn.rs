//! One answer of the model, and how the Anthropic API would send it.
//!
//! Claude Code passes parts of it on as they are, so keys stand in the API's order and not in a JSON library's.

use crate::claude::json;
use crate::http::{End, Response};
use serde_json::{Map, Value};

/// ```
/// use ralph_testkit::Turn;
/// use serde_json::json;
/// let script = vec![
///     Turn::text_and_tool("I will write it.", "Bash", json!({"command": "echo hello > hello.txt"})),
///     Turn::text("It is written.").usage(2_000, 10),
///     Turn::error(429, "rate_limit_error", "This request would exceed your rate limit.").header("retry-after", "30"),
/// ];
/// # drop(script);
/// ```
#[derive(Clone, Debug)]
pub struct Turn {
    kind: Kind,
    input_tokens: u64,
    output_tokens: u64,
}

#[derive(Clone, Debug)]
enum Kind {
    Message(Vec<Block>, End),
    Error { status: u16, kind: String, message: String, headers: Vec<(String, String)> },
}

#[derive(Clone, Debug)]
enum Block {
    Text(String),
    Tool { name: String, input: Value },
}

/// Numbers the server counts up, so that ids differ through its life.
#[derive(Default)]
pub(crate) struct Ids {
    messages: u32,
    tools: u32,
}

impl Turn {
    /// Plain words: the end of a session.
    pub fn text(text: impl Into<String>) -> Self {
        Self::of(Kind::Message(vec![Block::Text(text.into())], End::Complete))
    }

    /// A tool call; the client asks again with the tool's result, which takes the next turn.
    pub fn tool(name: &str, input: Value) -> Self {
        Self::of(Kind::Message(Vec::new(), End::Complete)).and_tool(name, input)
    }

    pub fn text_and_tool(text: impl Into<String>, name: &str, input: Value) -> Self {
        Self::text(text).and_tool(name, input)
    }

    /// A refusal, in the API's shape: `error(529, "overloaded_error", "Overloaded")`.
    pub fn error(status: u16, kind: &str, message: &str) -> Self {
        let (kind, message) = (kind.to_owned(), message.to_owned());
        Self::of(Kind::Error { status, kind, message, headers: Vec::new() })
    }

    /// The connection closes in the middle of a word. Claude Code then asks once more, without streaming, even
    /// where it was told not to try again: to lose it for good takes two of these.
    pub fn cut() -> Self {
        Self::of(Kind::Message(vec![Block::Text("I was about to".into())], End::Cut))
    }

    /// Begins to answer and never goes on.
    pub fn hang() -> Self {
        Self::of(Kind::Message(vec![Block::Text("Let me think".into())], End::Hang))
    }

    fn of(kind: Kind) -> Self {
        Turn { kind, input_tokens: 100, output_tokens: 50 }
    }

    /// One more tool call in the same message. Nothing on an error.
    #[must_use]
    pub fn and_tool(mut self, name: &str, input: Value) -> Self {
        if let Kind::Message(blocks, _) = &mut self.kind {
            blocks.push(Block::Tool { name: name.into(), input });
        }
        self
    }

    #[must_use]
    pub fn usage(mut self, input_tokens: u64, output_tokens: u64) -> Self {
        (self.input_tokens, self.output_tokens) = (input_tokens, output_tokens);
        self
    }

    /// A header of an error's response, such as `retry-after`. Nothing on a message.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        if let Kind::Error { headers, .. } = &mut self.kind {
            headers.push((name.into(), value.into()));
        }
        self
    }

    pub(crate) fn respond(&self, model: &Value, stream: bool, ids: &mut Ids) -> Response {
        match &self.kind {
            Kind::Error { status, kind, message, headers } => {
                let mut response = error(*status, kind, message);
                response.headers.extend(headers.iter().cloned());
                response
            }
            Kind::Message(blocks, end) if stream => {
                Response::events(self.events(blocks, *end, model, ids), *end)
            }
            Kind::Message(blocks, End::Complete) => {
                let content: Vec<String> = blocks.iter().map(|block| block.whole(ids)).collect();
                let stop_reason = json(stop_reason(blocks));
                Response::json(200, self.message(model, ids, &content.join(","), &stop_reason))
            }
            Kind::Message(_, end) => Response::broken_json(*end),
        }
    }

    fn message(&self, model: &Value, ids: &mut Ids, content: &str, stop_reason: &str) -> String {
        ids.messages += 1;
        let (id, input, output) = (ids.messages, self.input_tokens, self.output_tokens);
        format!(
            r#"{{"id":"msg_{id}","type":"message","role":"assistant","model":{model},"content":[{content}],"stop_reason":{stop_reason},"stop_sequence":null,"usage":{{"input_tokens":{input},"output_tokens":{output},"cache_creation_input_tokens":0,"cache_read_input_tokens":0}}}}"#
        )
    }

    fn events(&self, blocks: &[Block], end: End, model: &Value, ids: &mut Ids) -> Vec<String> {
        let opening = self.message(model, ids, "", "null");
        let mut events = vec![event("message_start", &format!(r#""message":{opening}"#))];
        for (index, block) in blocks.iter().enumerate() {
            let (empty, deltas) = block.parts(ids);
            events.push(event("content_block_start", &format!(r#""index":{index},"content_block":{empty}"#)));
            for delta in deltas {
                events.push(event("content_block_delta", &format!(r#""index":{index},"delta":{delta}"#)));
            }
            if end == End::Complete {
                events.push(event("content_block_stop", &format!(r#""index":{index}"#)));
            }
        }
        if end == End::Complete {
            let (reason, output) = (stop_reason(blocks), self.output_tokens);
            let delta = format!(r#""delta":{{"stop_reason":"{reason}","stop_sequence":null}}"#);
            events.push(event("message_delta", &format!(r#"{delta},"usage":{{"output_tokens":{output}}}"#)));
            events.push("event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n".to_owned());
        }
        events
    }
}

impl Block {
    fn whole(&self, ids: &mut Ids) -> String {
        match self {
            Block::Text(text) => text_block(text),
            Block::Tool { name, input } => tool_block(name, input, ids),
        }
    }

    /// The block as it is announced, and its content in two pieces.
    fn parts(&self, ids: &mut Ids) -> (String, [String; 2]) {
        match self {
            Block::Text(text) => {
                let delta = |piece| format!(r#"{{"type":"text_delta","text":{}}}"#, json(piece));
                (text_block(""), halves(text).map(delta))
            }
            Block::Tool { name, input } => {
                let delta =
                    |piece| format!(r#"{{"type":"input_json_delta","partial_json":{}}}"#, json(piece));
                (tool_block(name, &Value::Object(Map::new()), ids), halves(&input.to_string()).map(delta))
            }
        }
    }
}

fn text_block(text: &str) -> String {
    format!(r#"{{"type":"text","text":{}}}"#, json(text))
}

fn tool_block(name: &str, input: &Value, ids: &mut Ids) -> String {
    ids.tools += 1;
    let (id, name) = (ids.tools, json(name));
    format!(r#"{{"type":"tool_use","id":"toolu_{id:04}","name":{name},"input":{input}}}"#)
}

pub(crate) fn error(status: u16, kind: &str, message: &str) -> Response {
    let (kind, message) = (json(kind), json(message));
    Response::json(status, format!(r#"{{"type":"error","error":{{"type":{kind},"message":{message}}}}}"#))
}

fn stop_reason(blocks: &[Block]) -> &'static str {
    if blocks.iter().any(|block| matches!(block, Block::Tool { .. })) { "tool_use" } else { "end_turn" }
}

fn halves(text: &str) -> [&str; 2] {
    let middle = text.floor_char_boundary(text.len() / 2);
    let (first, second) = text.split_at(middle);
    [first, second]
}

fn event(name: &str, fields: &str) -> String {
    format!("event: {name}\ndata: {{\"type\":\"{name}\",{fields}}}\n\n")
}
