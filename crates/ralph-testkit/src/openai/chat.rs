//! A message as the Chat Completions API sends it: one choice, in pieces.

use crate::turn::{Block, Ids, Message, Usage, halves};
use serde_json::{Value, json};

pub(super) fn whole(message: &Message, model: &Value, ids: &mut Ids) -> Value {
    let id = ids.message();
    let mut said = json!({"role": "assistant", "content": text(message)});
    let calls: Vec<Value> = tools(message).map(|(name, input)| call(name, &input.to_string(), ids)).collect();
    if !calls.is_empty() {
        said["tool_calls"] = Value::Array(calls);
    }
    let choice = json!({"index": 0, "message": said, "finish_reason": finish_reason(message)});
    json!({"id": format!("chatcmpl-{id}"), "object": "chat.completion", "created": 0, "model": model,
        "choices": [choice], "usage": usage(message.usage)})
}

pub(super) fn events(message: &Message, model: &Value, ids: &mut Ids) -> Vec<String> {
    let id = format!("chatcmpl-{}", ids.message());
    let chunk = |choices: Value, usage: Value| {
        json!({"id": id, "object": "chat.completion.chunk", "created": 0, "model": model,
            "choices": choices, "usage": usage})
    };
    let choice = |delta: Value, reason: Value| {
        chunk(json!([{"index": 0, "delta": delta, "finish_reason": reason}]), Value::Null)
    };
    let mut events = vec![choice(json!({"role": "assistant", "content": ""}), Value::Null)];
    let words = text(message);
    events.extend(halves(&words).map(|piece| choice(json!({"content": piece}), Value::Null)));
    for (index, (name, input)) in tools(message).enumerate() {
        let input = input.to_string();
        let [first, second] = halves(&input);
        let mut begun = call(name, first, ids);
        begun["index"] = json!(index);
        events.push(choice(json!({"tool_calls": [begun]}), Value::Null));
        let rest = json!({"index": index, "function": {"arguments": second}});
        events.push(choice(json!({"tool_calls": [rest]}), Value::Null));
    }
    if !message.is_complete() {
        return events.iter().map(event).collect();
    }
    events.push(choice(json!({}), json!(finish_reason(message))));
    events.push(chunk(json!([]), usage(message.usage)));
    let last = "data: [DONE]\n\n".to_owned();
    events.iter().map(event).chain([last]).collect()
}

fn text(message: &Message) -> String {
    let texts = message.blocks.iter().filter_map(|block| match block {
        Block::Text(text) => Some(text.as_str()),
        Block::Tool { .. } => None,
    });
    texts.collect()
}

fn tools(message: &Message) -> impl Iterator<Item = (&str, &Value)> {
    message.blocks.iter().filter_map(|block| match block {
        Block::Text(_) => None,
        Block::Tool { name, input } => Some((name.as_str(), input)),
    })
}

fn call(name: &str, arguments: &str, ids: &mut Ids) -> Value {
    let id = format!("call_{:04}", ids.tool());
    json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}})
}

fn finish_reason(message: &Message) -> &'static str {
    if message.calls_tools() { "tool_calls" } else { "stop" }
}

fn usage(usage: Usage) -> Value {
    json!({
        "prompt_tokens": usage.input,
        "prompt_tokens_details": {"cached_tokens": usage.cached},
        "completion_tokens": usage.output,
        "total_tokens": usage.input + usage.output,
    })
}

fn event(data: &Value) -> String {
    format!("data: {data}\n\n")
}
