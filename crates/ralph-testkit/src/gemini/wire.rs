//! A message as the Gemini API sends it: a stream repeats the whole envelope around each piece.

use crate::turn::{Block, Ids, Message, Usage, halves};
use serde_json::{Value, json};

pub(super) fn whole(message: &Message, model: &str, ids: &mut Ids) -> Value {
    let parts: Vec<Value> = message.blocks.iter().map(|block| part(block, ids)).collect();
    envelope(&parts, Some("STOP"), message.usage, model, ids.message())
}

pub(super) fn events(message: &Message, model: &str, ids: &mut Ids) -> Vec<String> {
    let id = ids.message();
    let mut parts = Vec::new();
    for block in &message.blocks {
        match block {
            Block::Text(text) => parts.extend(halves(text).map(|piece| json!({"text": piece}))),
            Block::Tool { .. } => parts.push(part(block, ids)),
        }
    }
    let last = parts.len();
    let pieces = parts.iter().enumerate().map(|(index, part)| {
        let reason = (message.is_complete() && index + 1 == last).then_some("STOP");
        envelope(std::slice::from_ref(part), reason, message.usage, model, id)
    });
    pieces.map(|data| format!("data: {data}\r\n\r\n")).collect()
}

fn part(block: &Block, ids: &mut Ids) -> Value {
    match block {
        Block::Text(text) => json!({"text": text}),
        Block::Tool { name, input } => {
            json!({"functionCall": {"id": format!("call_{:04}", ids.tool()), "name": name, "args": input}})
        }
    }
}

fn envelope(parts: &[Value], reason: Option<&str>, usage: Usage, model: &str, id: u32) -> Value {
    let mut candidate = json!({"content": {"role": "model", "parts": parts}, "index": 0});
    if let Some(reason) = reason {
        candidate["finishReason"] = json!(reason);
    }
    json!({
        "candidates": [candidate],
        "usageMetadata": {
            "promptTokenCount": usage.input,
            "cachedContentTokenCount": usage.cached,
            "candidatesTokenCount": usage.output,
            "totalTokenCount": usage.input + usage.output,
        },
        "modelVersion": model,
        "responseId": format!("response_{id}"),
    })
}
