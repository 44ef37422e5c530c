//! OpenCode's `run --format json`: parts of steps. There is no closing event: the steps are summed.

use super::json::{error_text, micro_usd, number, status_of, string, target, words_of, written_file};
use super::usage::usage;
use super::value::Value;
use super::{Finished, Item};
use crate::limit::{self, LimitKind, Reset};
use crate::prelude::*;

pub(super) fn introduces(event: &Value<'_>) -> bool {
    event["sessionID"].is_string() && event["type"] == "step_start"
}

/// An error, before any step, or a part of a step whose start is missing.
pub(super) fn may_be_first(event: &Value<'_>) -> bool {
    event["sessionID"].is_string()
        && match event["type"].as_str() {
            Some("error") => true,
            Some("text" | "tool_use" | "step_finish") => event["part"].is_object(),
            _ => false,
        }
}

/// Whether it is a part of a step, or the end of one that only called tools: the agent has not ended yet.
pub(super) fn reopens(event: &Value<'_>) -> bool {
    match event["type"].as_str() {
        Some("step_start" | "text" | "tool_use") => true,
        Some("step_finish") => is_for_tools(&event["part"]["reason"]),
        _ => false,
    }
}

/// Where a tool was denied, no further step follows the one that called it.
pub(super) fn stops_at_denial(event: &Value<'_>, denied: bool) -> bool {
    denied && event["type"] == "step_finish" && is_for_tools(&event["part"]["reason"])
}

fn is_for_tools(reason: &Value<'_>) -> bool {
    matches!(reason.as_str(), Some("tool-calls" | "tool_calls" | "tool-call" | "tool_use"))
}

pub(super) fn items(event: &Value<'_>, each: &mut dyn FnMut(Item)) {
    let part = &event["part"];
    if event["type"] == "step_start" || event["type"] == "error" {
        each(Item::Session { id: string(&event["sessionID"]), model: None, version: None });
    }
    match event["type"].as_str() {
        Some("text") => each(Item::Words(string(&part["text"]).unwrap_or_default())),
        Some("tool_use") => tool(part, each),
        Some("step_finish") => step_finished(part, each),
        Some("error") => failed(event, each),
        _ => {}
    }
}

fn step_finished(part: &Value<'_>, each: &mut dyn FnMut(Item)) {
    let usage = usage(&part["tokens"]).unwrap_or_default();
    each(Item::Usage { message: string(&part["id"]), usage });
    // Of a model without a price it says 0, which is not what it costs.
    if let Some(cost) = micro_usd(&part["cost"]).filter(|cost| *cost > 0) {
        each(Item::Cost(cost));
    }
    let error = match part["reason"].as_str() {
        _ if is_for_tools(&part["reason"]) => return,
        Some("error") => Some(String::new()),
        // The answer was cut off.
        Some(reason @ ("length" | "content-filter" | "content_filter")) => {
            Some(format!("the last step ended with reason {reason}"))
        }
        _ => None,
    };
    each(Item::Finished(Finished { error, ..Finished::default() }));
}

fn failed(event: &Value<'_>, each: &mut dyn FnMut(Item)) {
    let error = &event["error"];
    let message = error_text(error).or_else(|| error_text(&event["message"])).unwrap_or_default();
    let api_status = status_of(error).or_else(|| limit::status_in(&message));
    if let Some(mut limit) = limit::of_service(api_status, &message) {
        if wants_money(&error["data"]["responseBody"]) {
            limit.kind = LimitKind::Credit;
        }
        limit.reset = limit.reset.or_else(|| retry_after(&error["data"]["responseHeaders"]));
        each(Item::Limit(limit));
    }
    each(Item::Finished(Finished { error: Some(message), api_status, ..Finished::default() }));
}

/// The time that the service asks to wait, in seconds.
fn retry_after(headers: &Value<'_>) -> Option<Reset> {
    let seconds = number(&headers["retry-after"]);
    limit::reset_in(&format!("retry-after: {seconds}")).filter(|_| seconds > 0)
}

/// The service's answer as it came; only there stands the name of the error, by which OpenAI tells credit from quotas.
fn wants_money(body: &Value<'_>) -> bool {
    let body =
        body.as_str().and_then(|body| serde_json::from_str::<Value<'_>>(body).ok()).unwrap_or_default();
    ["code", "type"].into_iter().any(|key| body["error"][key] == "insufficient_quota")
}

/// How it tells that nobody allowed a call, and that a rule forbids it. A file that may not be written is another matter.
const DENIALS: [&str; 2] = ["The user rejected permission", "The user has specified a rule which prevents"];

fn tool(part: &Value<'_>, each: &mut dyn FnMut(Item)) {
    let (name, state) = (string(&part["tool"]).unwrap_or_else(|| "tool".into()), &part["state"]);
    let file = written_file(&name, &state["input"]);
    let exit = state["metadata"]["exit"].as_i64();
    each(Item::Tool { name: name.clone(), target: target(&state["input"]) });
    if let Some(file) = file {
        each(Item::File(file));
    }
    if state["status"] == "error" {
        let why = string(&state["error"]).unwrap_or_else(|| "the tool failed".into());
        if DENIALS.iter().any(|words| why.starts_with(words)) {
            each(Item::Denied(name));
        }
        each(Item::ToolFailed(why));
    } else if let Some(code) = exit.filter(|code| *code != 0) {
        each(Item::ToolFailed(format!("Exit code {code}\n{}", words_of(&state["output"]))));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(event: &serde_json::Value) -> Vec<Item> {
        let (line, mut found) = (event.to_string(), Vec::new());
        items(&serde_json::from_str(&line).expect("JSON"), &mut |item| found.push(item));
        found
    }

    #[test]
    fn a_rule_denies_and_a_file_that_may_not_be_written_does_not() {
        let denied = |why: &str| {
            let state = serde_json::json!({"status": "error", "error": why});
            let event = serde_json::json!({"type": "tool_use", "part": {"tool": "write", "state": state}});
            read(&event).contains(&Item::Denied("write".into()))
        };
        assert!(denied("The user rejected permission to use this specific tool call."));
        assert!(denied(
            "The user has specified a rule which prevents you from using this specific tool call."
        ));
        assert!(!denied("EACCES: permission denied, open '/etc/passwd'"));
    }

    #[test]
    fn missing_credit_is_told_by_the_name_of_the_error_alone() {
        let kind = |name: &str| {
            let body = serde_json::json!({"error": {"type": name, "message": "x"}}).to_string();
            let data = serde_json::json!({"message": "You exceeded your current quota.", "statusCode": 429, "responseBody": body});
            let event = serde_json::json!({"type": "error", "sessionID": "s", "error": {"data": data}});
            read(&event).into_iter().find_map(|item| match item {
                Item::Limit(limit) => Some(limit.kind),
                _ => None,
            })
        };
        assert_eq!(kind("insufficient_quota"), Some(LimitKind::Credit));
        assert_eq!(kind("rate_limit_exceeded"), Some(LimitKind::Usage));
    }
}
