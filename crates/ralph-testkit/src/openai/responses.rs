//! A message as the Responses API sends it: a list of items, each announced, filled and finished.

use crate::turn::{Block, Ids, Message, Usage, halves};
use serde_json::{Value, json};

pub(super) fn whole(message: &Message, model: &Value, ids: &mut Ids) -> Value {
    let id = ids.message();
    let items: Vec<Value> = message.blocks.iter().map(|block| item(block, ids)).collect();
    response(id, model, "completed", &items, Some(message.usage))
}

pub(super) fn events(message: &Message, model: &Value, ids: &mut Ids) -> Vec<String> {
    let id = ids.message();
    let mut events = vec![json!({
        "type": "response.created",
        "response": response(id, model, "in_progress", &[], None),
    })];
    let mut items = Vec::new();
    for (index, block) in message.blocks.iter().enumerate() {
        let item = item(block, ids);
        let mut begun = item.clone();
        begun["status"] = json!("in_progress");
        if let Block::Text(text) = block {
            begun["content"] = json!([]);
            events.push(json!({"type": "response.output_item.added", "output_index": index, "item": begun}));
            events.extend(halves(text).map(|piece| {
                json!({"type": "response.output_text.delta", "item_id": item["id"], "output_index": index,
                    "content_index": 0, "delta": piece})
            }));
        }
        if message.is_complete() {
            events.push(json!({"type": "response.output_item.done", "output_index": index, "item": item}));
        }
        items.push(item);
    }
    if message.is_complete() {
        let response = response(id, model, "completed", &items, Some(message.usage));
        events.push(json!({"type": "response.completed", "response": response}));
    }
    events.iter().map(event).collect()
}

fn response(id: u32, model: &Value, status: &str, items: &[Value], usage: Option<Usage>) -> Value {
    let usage = usage.map(|usage| {
        json!({
            "input_tokens": usage.input,
            "input_tokens_details": {"cached_tokens": usage.cached},
            "output_tokens": usage.output,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": usage.input + usage.output,
        })
    });
    json!({"id": format!("resp_{id}"), "object": "response", "status": status, "model": model,
        "output": items, "usage": usage})
}

fn item(block: &Block, ids: &mut Ids) -> Value {
    let id = ids.tool();
    match block {
        Block::Text(text) => json!({"type": "message", "id": format!("msg_{id:04}"), "role": "assistant",
            "status": "completed", "content": [{"type": "output_text", "text": text, "annotations": []}]}),
        Block::Tool { name, input } => json!({"type": "function_call", "id": format!("fc_{id:04}"),
            "call_id": format!("call_{id:04}"), "name": name, "arguments": input.to_string(),
            "status": "completed"}),
    }
}

fn event(data: &Value) -> String {
    format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap_or_default())
}
