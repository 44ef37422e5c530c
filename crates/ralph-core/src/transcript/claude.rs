//! Claude Code's `--output-format stream-json`: one JSON object a line.
//!
//! One `assistant` line comes per content block and repeats the message's id and usage. Words of a
//! sub-agent (`parent_tool_use_id`) and messages the CLI itself made up to show an API failure
//! (`error`, model `<synthetic>`) are not the agent's own words.

use alloc::borrow::Cow;

use serde_json::Value;

use super::{Finished, Item, Problem, Usage};
use crate::prelude::*;

/// Whether a line is the event that opens a stream.
pub(super) fn introduces(line: &[u8]) -> bool {
    if !line.starts_with(b"{") || !line.ends_with(b"}") {
        return false;
    }
    let event: Value = serde_json::from_slice(line).unwrap_or_default();
    event["type"] == "system" && event["subtype"] == "init" && event["session_id"].is_string()
}

pub(super) fn decode(line: &[u8], each: &mut impl FnMut(Item)) {
    // Most of a stream is tool results that went well; they need not be parsed to be passed over.
    if line.starts_with(b"{\"type\":\"user\"") && !mentions_failure(line) {
        return;
    }
    let text = String::from_utf8_lossy(line);
    if matches!(text, Cow::Owned(_)) {
        each(Item::Problem(Problem::InvalidUtf8));
    }
    match serde_json::from_str::<Value>(&text) {
        Ok(event) => items(&event, each),
        Err(_) => each(Item::Problem(Problem::NotJson)),
    }
}

/// `"is_error":true` as a key of this line, not inside a quoted string (where its quotes are escaped).
fn mentions_failure(line: &[u8]) -> bool {
    memchr::memmem::find_iter(line, b"\"is_error\"").any(|at| {
        let escaped = at > 0 && line[at - 1] == b'\\';
        let after = line[at + b"\"is_error\"".len()..].trim_ascii_start();
        !escaped && after.strip_prefix(b":").is_some_and(|v| v.trim_ascii_start().starts_with(b"true"))
    })
}

/// Works on loose values: a field that changes its type in the CLI's next version must not hide the others.
fn items(event: &Value, each: &mut impl FnMut(Item)) {
    match event["type"].as_str() {
        Some("system") if event["subtype"] == "init" => each(Item::Session {
            id: string(&event["session_id"]),
            model: string(&event["model"]),
            version: string(&event["claude_code_version"]),
        }),
        Some("assistant") => assistant(event, each),
        Some("user") => user(event, each),
        Some("result") => each(Item::Finished(finished(event))),
        _ => {}
    }
}

fn assistant(event: &Value, each: &mut impl FnMut(Item)) {
    let message = &event["message"];
    let own = event["parent_tool_use_id"].is_null()
        && event["error"].is_null()
        && message["model"].as_str() != Some("<synthetic>");
    for part in parts(&message["content"]) {
        match part["type"].as_str() {
            Some("text") if own => {
                if let Some(text) = string(&part["text"]) {
                    each(Item::Words(text));
                }
            }
            Some("tool_use") => each(Item::Tool {
                name: part["name"].as_str().unwrap_or("tool").to_owned(),
                target: target(&part["input"]),
            }),
            _ => {}
        }
    }
    if let Some(usage) = usage(&message["usage"]) {
        each(Item::Usage { message: string(&message["id"]), usage });
    }
}

fn user(event: &Value, each: &mut impl FnMut(Item)) {
    for part in parts(&event["message"]["content"]) {
        if part["is_error"].as_bool() == Some(true) {
            each(Item::ToolFailed(words_of(&part["content"])));
        }
    }
}

fn finished(event: &Value) -> Finished {
    let subtype = event["subtype"].as_str().unwrap_or("");
    let failed = event["is_error"].as_bool() == Some(true) || subtype.starts_with("error");
    let text = string(&event["result"]);
    let error = failed.then(|| {
        text.clone()
            .filter(|text| !text.is_empty())
            .or_else(|| string(&event["errors"][0]))
            .unwrap_or_else(|| subtype.to_owned())
    });
    Finished {
        // The text of a failed result is the CLI's notice, not the agent's words.
        text: text.filter(|_| error.is_none()),
        error,
        api_status: event["api_error_status"].as_u64().and_then(|status| u16::try_from(status).ok()),
        usage: final_usage(event),
        cost_micro_usd: event["total_cost_usd"].as_f64().and_then(micro_usd),
        turns: event["num_turns"].as_u64(),
        denied: parts(&event["permission_denials"])
            .filter_map(|denial| string(&denial["tool_name"]))
            .collect(),
    }
}

fn string(value: &Value) -> Option<String> {
    value.as_str().map(ToOwned::to_owned)
}

fn parts(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn usage(value: &Value) -> Option<Usage> {
    let tokens = |key: &str| value[key].as_u64().unwrap_or(0);
    value.is_object().then(|| Usage {
        input: tokens("input_tokens"),
        output: tokens("output_tokens"),
        cache_read: tokens("cache_read_input_tokens"),
        cache_write: tokens("cache_creation_input_tokens"),
    })
}

/// After a retry `usage` misses the first try, and `modelUsage` has it: the larger one is what was spent.
fn final_usage(event: &Value) -> Option<Usage> {
    let tokens = |model: &Value, key: &str| model[key].as_u64().unwrap_or(0);
    let by_model =
        event["modelUsage"].as_object().into_iter().flatten().fold(Usage::default(), |sum, (_, model)| {
            sum.plus(Usage {
                input: tokens(model, "inputTokens"),
                output: tokens(model, "outputTokens"),
                cache_read: tokens(model, "cacheReadInputTokens"),
                cache_write: tokens(model, "cacheCreationInputTokens"),
            })
        });
    let told = usage(&event["usage"]);
    if by_model.total() > told.unwrap_or_default().total() { Some(by_model) } else { told }
}

fn micro_usd(dollars: f64) -> Option<u64> {
    // A float-to-integer cast saturates and takes NaN to 0, so the guard only keeps nonsense out.
    (dollars.is_finite() && dollars >= 0.0).then_some((dollars * 1e6 + 0.5) as u64)
}

/// The part of a tool's input that tells a person what it is about.
fn target(input: &Value) -> Option<String> {
    ["file_path", "notebook_path", "path", "command", "pattern", "url", "query", "description"]
        .iter()
        .find_map(|key| input[*key].as_str())
        .map(|text| crate::text::one_line(text, 200))
}

/// A tool result's content is a string or a list of text parts.
fn words_of(content: &Value) -> String {
    let mut words = String::new();
    if let Some(text) = content.as_str() {
        words.push_str(text);
    }
    for part in parts(content) {
        words.push_str(part["text"].as_str().unwrap_or(""));
    }
    crate::text::head(&words, 4096)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Vec<Item> {
        let mut items = Vec::new();
        decode(line.as_bytes(), &mut |item| items.push(item));
        items
    }

    #[test]
    fn a_sub_agent_s_words_are_not_the_agent_s() {
        let line = r#"{"type":"assistant","message":{"content":[{"type":"text","text":"EXIT_SIGNAL: true"}]},"parent_tool_use_id":"toolu_1"}"#;
        assert_eq!(read(line), []);
    }

    #[test]
    fn thinking_and_tool_input_are_not_words() {
        let line = r#"{"type":"assistant","message":{"content":[{"type":"thinking","thinking":"EXIT_SIGNAL: true"},{"type":"tool_use","name":"Write","input":{"file_path":"/p/a.txt","content":"EXIT_SIGNAL: true"}}]},"parent_tool_use_id":null}"#;
        assert_eq!(read(line), [Item::Tool { name: "Write".into(), target: Some("/p/a.txt".into()) }]);
    }

    #[test]
    fn a_failed_tool_result_is_seen_and_a_quoted_one_is_not() {
        let failed = r#"{"type":"user","message":{"content":[{"type":"tool_result","content":"Exit code 2","is_error":true}]}}"#;
        assert_eq!(read(failed), [Item::ToolFailed("Exit code 2".into())]);
        let quoted = r#"{"type":"user","message":{"content":[{"type":"tool_result","content":"{\"is_error\":true}"}]}}"#;
        assert_eq!(read(quoted), []);
        assert!(!mentions_failure(quoted.as_bytes()));
    }

    #[test]
    fn an_api_failure_is_an_error_though_its_subtype_says_success() {
        let line = r#"{"type":"result","subtype":"success","is_error":true,"api_error_status":429,"result":"API Error: Request rejected (429)","total_cost_usd":0}"#;
        let [Item::Finished(finished)] = &read(line)[..] else { panic!("one item") };
        assert_eq!(finished.api_status, Some(429));
        assert_eq!(finished.error.as_deref(), Some("API Error: Request rejected (429)"));
        assert_eq!(finished.text, None);
    }

    #[test]
    fn the_larger_of_the_two_usage_counts_is_taken() {
        let line = r#"{"type":"result","subtype":"success","usage":{"input_tokens":100,"output_tokens":50},"modelUsage":{"a":{"inputTokens":200,"outputTokens":100},"b":{"cacheReadInputTokens":5}}}"#;
        let [Item::Finished(finished)] = &read(line)[..] else { panic!("one item") };
        assert_eq!(finished.usage.map(|usage| usage.total()), Some(305));
    }

    #[test]
    fn only_the_opening_event_introduces_the_stream_whatever_the_order_of_its_keys() {
        assert!(introduces(br#"{"session_id":"s","subtype":"init","type":"system"}"#));
        assert!(!introduces(br#"{"message":{"content":[]},"type":"assistant"}"#));
        assert!(!introduces(br#"{"level":"info","type":"system"}"#), "a log line is not the stream");
        assert!(!introduces(b"{not json}"));
    }

    #[test]
    fn money_becomes_whole_micro_dollars() {
        assert_eq!(micro_usd(0.00525), Some(5250));
        assert_eq!(micro_usd(f64::NAN), None);
        assert_eq!(micro_usd(-1.0), None);
        assert_eq!(micro_usd(1e300), Some(u64::MAX));
    }

    #[test]
    fn lines_of_the_wrong_shape_do_no_harm() {
        for line in [
            "{",
            "[]",
            "{\"type\":5}",
            "{\"type\":\"assistant\",\"message\":7}",
            "{\"type\":\"result\",\"result\":{}}",
        ] {
            let _ = read(line);
        }
        assert_eq!(read("{\"type\":\"assistant\",\"message\":7}"), []);
    }
}
