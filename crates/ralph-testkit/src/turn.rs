//! One answer of the model. Each API renders it into its own wire form.

use crate::http::End;
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
pub struct Turn(pub(crate) Kind);

#[derive(Clone, Debug)]
pub(crate) enum Kind {
    Message(Message),
    Refusal(Refusal),
}

#[derive(Clone, Debug)]
pub(crate) struct Message {
    pub(crate) blocks: Vec<Block>,
    pub(crate) end: End,
    pub(crate) usage: Usage,
}

#[derive(Clone, Debug)]
pub(crate) enum Block {
    Text(String),
    Tool { name: String, input: Value },
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Usage {
    pub(crate) input: u64,
    pub(crate) output: u64,
    pub(crate) cached: u64,
}

#[derive(Clone, Debug)]
pub(crate) struct Refusal {
    pub(crate) status: u16,
    pub(crate) kind: String,
    pub(crate) message: String,
    /// More of the error object.
    pub(crate) fields: Map<String, Value>,
    pub(crate) headers: Vec<(String, String)>,
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
        Self::message(vec![Block::Text(text.into())], End::Complete)
    }

    /// A tool call; the client asks again with the tool's result, which takes the next turn.
    pub fn tool(name: &str, input: Value) -> Self {
        Self::message(Vec::new(), End::Complete).and_tool(name, input)
    }

    pub fn text_and_tool(text: impl Into<String>, name: &str, input: Value) -> Self {
        Self::text(text).and_tool(name, input)
    }

    /// A refusal, with the word the API has for its kind: `error(529, "overloaded_error", "Overloaded")`.
    pub fn error(status: u16, kind: &str, message: &str) -> Self {
        let (kind, message) = (kind.to_owned(), message.to_owned());
        Turn(Kind::Refusal(Refusal { status, kind, message, fields: Map::new(), headers: Vec::new() }))
    }

    /// The connection closes in the middle of a word. Claude Code then asks once more, without streaming, even
    /// where it was told not to try again: to lose it for good takes two of these.
    pub fn cut() -> Self {
        Self::message(vec![Block::Text("I was about to".into())], End::Cut)
    }

    /// Begins to answer and never goes on.
    pub fn hang() -> Self {
        Self::message(vec![Block::Text("Let me think".into())], End::Hang)
    }

    fn message(blocks: Vec<Block>, end: End) -> Self {
        Turn(Kind::Message(Message { blocks, end, usage: Usage { input: 100, output: 50, cached: 0 } }))
    }

    /// One more tool call in the same message. Nothing on an error.
    #[must_use]
    pub fn and_tool(self, name: &str, input: Value) -> Self {
        self.on_message(|message| message.blocks.push(Block::Tool { name: name.into(), input }))
    }

    #[must_use]
    pub fn usage(self, input_tokens: u64, output_tokens: u64) -> Self {
        self.on_message(|message| {
            (message.usage.input, message.usage.output) = (input_tokens, output_tokens);
        })
    }

    /// Input tokens that came from the cache. Sent as they are: OpenAI and Gemini count them as a part of the
    /// input, Anthropic counts them beside it.
    #[must_use]
    pub fn cached(self, tokens: u64) -> Self {
        self.on_message(|message| message.usage.cached = tokens)
    }

    /// A header of an error's response, such as `retry-after`. Nothing on a message.
    #[must_use]
    pub fn header(self, name: &str, value: &str) -> Self {
        self.on_refusal(|refusal| refusal.headers.push((name.into(), value.into())))
    }

    /// One more field of the error object, such as OpenAI's `resets_at`, Gemini's `details`. Nothing on a
    /// message.
    #[must_use]
    pub fn field(self, name: &str, value: Value) -> Self {
        self.on_refusal(|refusal| drop(refusal.fields.insert(name.into(), value)))
    }

    fn on_message(mut self, change: impl FnOnce(&mut Message)) -> Self {
        if let Kind::Message(message) = &mut self.0 {
            change(message);
        }
        self
    }

    fn on_refusal(mut self, change: impl FnOnce(&mut Refusal)) -> Self {
        if let Kind::Refusal(refusal) = &mut self.0 {
            change(refusal);
        }
        self
    }
}

impl Message {
    pub(crate) fn is_complete(&self) -> bool {
        self.end == End::Complete
    }

    pub(crate) fn calls_tools(&self) -> bool {
        self.blocks.iter().any(|block| matches!(block, Block::Tool { .. }))
    }
}

impl Refusal {
    /// The error object, where the order of its keys does not show.
    pub(crate) fn object(&self, fields: Value) -> Value {
        let mut object = self.fields.clone();
        if let Value::Object(fields) = fields {
            object.extend(fields);
        }
        Value::Object(object)
    }
}

impl Ids {
    pub(crate) fn message(&mut self) -> u32 {
        self.messages += 1;
        self.messages
    }

    pub(crate) fn tool(&mut self) -> u32 {
        self.tools += 1;
        self.tools
    }
}

/// A text in two pieces, as a stream would bring it.
pub(crate) fn halves(text: &str) -> [&str; 2] {
    let middle = text.floor_char_boundary(text.len() / 2);
    let (first, second) = text.split_at(middle);
    [first, second]
}
