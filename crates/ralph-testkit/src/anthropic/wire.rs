//! A message as the Anthropic API sends it.
//!
//! Claude Code passes parts of it on as they are, so keys stand in the API's order and not in a JSON library's.

use crate::claude::json;
use crate::turn::{Block, Ids, Message, Refusal, halves};
use serde_json::{Map, Value};

pub(super) fn whole(message: &Message, model: &Value, ids: &mut Ids) -> String {
    let content: Vec<String> = message.blocks.iter().map(|block| whole_block(block, ids)).collect();
    envelope(message, model, ids, &content.join(","), &json(stop_reason(message)))
}

pub(super) fn events(message: &Message, model: &Value, ids: &mut Ids) -> Vec<String> {
    let opening = envelope(message, model, ids, "", "null");
    let mut events = vec![event("message_start", &format!(r#""message":{opening}"#))];
    for (index, block) in message.blocks.iter().enumerate() {
        let (empty, deltas) = parts(block, ids);
        events.push(event("content_block_start", &format!(r#""index":{index},"content_block":{empty}"#)));
        for delta in deltas {
            events.push(event("content_block_delta", &format!(r#""index":{index},"delta":{delta}"#)));
        }
        if message.is_complete() {
            events.push(event("content_block_stop", &format!(r#""index":{index}"#)));
        }
    }
    if message.is_complete() {
        let (reason, output) = (stop_reason(message), message.usage.output);
        let delta = format!(r#""delta":{{"stop_reason":"{reason}","stop_sequence":null}}"#);
        events.push(event("message_delta", &format!(r#"{delta},"usage":{{"output_tokens":{output}}}"#)));
        events.push("event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n".to_owned());
    }
    events
}

pub(super) fn error(refusal: &Refusal) -> String {
    let (kind, message) = (json(&refusal.kind), json(&refusal.message));
    let more: String =
        refusal.fields.iter().map(|(name, value)| format!(",{}:{value}", json(name))).collect();
    format!(r#"{{"type":"error","error":{{"type":{kind},"message":{message}{more}}}}}"#)
}

fn envelope(message: &Message, model: &Value, ids: &mut Ids, content: &str, stop_reason: &str) -> String {
    let (id, usage) = (ids.message(), message.usage);
    let (input, output, cached) = (usage.input, usage.output, usage.cached);
    format!(
        r#"{{"id":"msg_{id}","type":"message","role":"assistant","model":{model},"content":[{content}],"stop_reason":{stop_reason},"stop_sequence":null,"usage":{{"input_tokens":{input},"output_tokens":{output},"cache_creation_input_tokens":0,"cache_read_input_tokens":{cached}}}}}"#
    )
}

fn whole_block(block: &Block, ids: &mut Ids) -> String {
    match block {
        Block::Text(text) => text_block(text),
        Block::Tool { name, input } => tool_block(name, input, ids),
    }
}

/// The block as it is announced, and its content in two pieces.
fn parts(block: &Block, ids: &mut Ids) -> (String, [String; 2]) {
    match block {
        Block::Text(text) => {
            let delta = |piece| format!(r#"{{"type":"text_delta","text":{}}}"#, json(piece));
            (text_block(""), halves(text).map(delta))
        }
        Block::Tool { name, input } => {
            let delta = |piece| format!(r#"{{"type":"input_json_delta","partial_json":{}}}"#, json(piece));
            (tool_block(name, &Value::Object(Map::new()), ids), halves(&input.to_string()).map(delta))
        }
    }
}

fn text_block(text: &str) -> String {
    format!(r#"{{"type":"text","text":{}}}"#, json(text))
}

fn tool_block(name: &str, input: &Value, ids: &mut Ids) -> String {
    let (id, name) = (ids.tool(), json(name));
    format!(r#"{{"type":"tool_use","id":"toolu_{id:04}","name":{name},"input":{input}}}"#)
}

fn stop_reason(message: &Message) -> &'static str {
    if message.calls_tools() { "tool_use" } else { "end_turn" }
}

fn event(name: &str, fields: &str) -> String {
    format!("event: {name}\ndata: {{\"type\":\"{name}\",{fields}}}\n\n")
}
