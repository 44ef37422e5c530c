//! Claude Code's `--output-format stream-json`: one JSON object a line.
//!
//! One `assistant` line comes per content block and repeats the message's id and usage. Words of a
//! sub-agent (`parent_tool_use_id`) and messages the CLI itself made up to show an API failure
//! (`error`, model `<synthetic>`) are not the agent's own words.

use super::json::{
    all_words_of, cost, error_text, number, parts, status_of, string, target, words_of, written_file,
};
use super::usage::usage;
use super::value::Value;
use super::{Finished, Item, Usage};
use crate::limit::{self, Limit, LimitKind, Reset};
use crate::prelude::*;
use crate::time::Time;

/// The event that opens a stream: it begins, or a hook runs before that.
pub(super) fn introduces(event: &Value<'_>) -> bool {
    event["type"] == "system" && event["subtype"].is_string() && event["session_id"].is_string()
}

/// An event as filters and older wrappers leave it.
pub(super) fn may_be_first(event: &Value<'_>) -> bool {
    let content = &event["message"]["content"];
    match event["type"].as_str() {
        Some("system") => event["subtype"] == "init",
        Some("assistant") => content.is_string() || content.as_array().is_some(),
        Some("content_block_delta") => event["delta"]["text"].is_string(),
        _ => false,
    }
}

/// The closing event, which is all there is with `--output-format json`. Other tools leave its type or subtype out.
pub(super) fn is_result(event: &Value<'_>) -> bool {
    let told = !text_of(&event["result"]).is_empty();
    let ended = event["is_error"].as_bool().is_some();
    let session = event["session_id"].is_string() || event["sessionId"].is_string();
    match &event["type"] {
        Value::Null => event["response"].is_null() && told && (ended || session),
        kind if *kind == "result" => event["subtype"].is_string() || told || ended,
        _ => false,
    }
}

/// A line of a session's transcript file.
pub(super) fn introduces_session(event: &Value<'_>) -> bool {
    event["sessionId"].is_string()
        && event["type"].is_string()
        && (event["uuid"].is_string() || event["leafUuid"].is_string())
}

/// Most of a stream is tool results that went well; they need not be parsed to be passed over.
pub(super) fn can_be_passed_over(line: &[u8]) -> bool {
    is_user(line) && !mentions_failure(line)
}

/// Whether this is a message to the agent: a tool's result, or a prompt. A session's file names the type behind the
/// message, and there only its absence is proof: an event of another kind would have to name that somewhere.
fn is_user(line: &[u8]) -> bool {
    const TELLING: [&[u8]; 5] =
        [b"\"assistant\"", b"\"result\"", b"\"system\"", b"\"rate_limit_event\"", b"\"error\""];
    if let Some(kind) = line.strip_prefix(b"{\"type\":") {
        return kind.starts_with(b"\"user\"");
    }
    let mut user = false;
    for value in values_of(line, b"\"type\"") {
        if TELLING.iter().any(|kind| value.starts_with(kind)) {
            return false;
        }
        user |= value.starts_with(b"\"user\"");
    }
    user && line.starts_with(b"{") && line.ends_with(b"}")
}

/// Whether a line that lost its end is a tool result that did not go well, as this part of it or the lost one says.
pub(super) fn is_failure(line: &[u8], lost_one_fails: bool) -> bool {
    (lost_one_fails || mentions_failure(line))
        && values_of(line, b"\"type\"").any(|value| value.starts_with(b"\"tool_result\""))
}

/// `"is_error":true`, wherever it stands.
fn mentions_failure(line: &[u8]) -> bool {
    values_of(line, b"\"is_error\"").any(|value| value.starts_with(b"true"))
}

/// What follows a key, at any depth. Inside a quoted string its quotes are escaped, and outside of one nothing is.
fn values_of<'a>(line: &'a [u8], key: &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
    memchr::memmem::find_iter(line, key).filter_map(move |at| {
        let quoted = at > 0 && line[at - 1] == b'\\';
        let after = line[at + key.len()..].trim_ascii_start().strip_prefix(b":");
        after.filter(|_| !quoted).map(<[u8]>::trim_ascii_start)
    })
}

/// Works on loose values: a field that changes its type in the CLI's next version must not hide the others.
pub(super) fn items(event: &Value<'_>, each: &mut dyn FnMut(Item)) {
    match event["type"].as_str() {
        Some("system") if event["subtype"] == "init" => each(Item::Session {
            id: string(&event["session_id"]),
            model: string(&event["model"]),
            version: string(&event["claude_code_version"]),
        }),
        Some("assistant") => assistant(event, each),
        Some("user") => user(event, each),
        // The service's own stream, which a wrapper passes on. Claude's partial messages come in another event.
        Some("content_block_delta") => {
            if let Some(text) = string(&event["delta"]["text"]) {
                each(Item::MoreWords(text));
            }
        }
        Some("rate_limit_event") => {
            let info = &event["rate_limit_info"];
            rate_limit(if info.is_object() { info } else { event }, each);
        }
        Some("error") => failed(event, each),
        Some("result") => finished(event, each),
        None if is_result(event) => finished(event, each),
        _ => {}
    }
}

fn assistant(event: &Value<'_>, each: &mut dyn FnMut(Item)) {
    let message = &event["message"];
    let own = event["parent_tool_use_id"].is_null()
        && event["isSidechain"] != true
        && event["isApiErrorMessage"] != true
        && event["error"].is_null()
        && message["model"].as_str() != Some("<synthetic>");
    let content = if message.is_null() { &event["content"] } else { &message["content"] };
    if let Some(text) = string(content).filter(|_| own) {
        each(Item::Words(text));
    }
    for part in parts(content) {
        match part["type"].as_str() {
            Some("text") if own => each(Item::Words(string(&part["text"]).unwrap_or_default())),
            Some("tool_use") => {
                let name = part["name"].as_str().unwrap_or("tool");
                each(Item::Tool { name: name.to_owned(), target: target(&part["input"]) });
                if let Some(file) = written_file(name, &part["input"]) {
                    each(Item::File(file));
                }
            }
            _ => {}
        }
    }
    if let Some(usage) = usage(&message["usage"]) {
        each(Item::Usage { message: string(&message["id"]), usage });
    }
    if let Some(kind) = event["error"].as_str().and_then(limit_kind) {
        let text = words_of(&message["content"]);
        each(Item::Limit(Limit {
            kind,
            status: None,
            reset: limit::reset_in(&text),
            text: crate::text::one_line(&text, 300),
        }));
    }
}

/// The CLI's own word for what went wrong.
fn limit_kind(error: &str) -> Option<LimitKind> {
    match error {
        "authentication_failed" => Some(LimitKind::Auth),
        "billing_error" => Some(LimitKind::Credit),
        "rate_limit" => Some(LimitKind::Rate),
        "overloaded" => Some(LimitKind::Overload),
        _ => None,
    }
}

fn user(event: &Value<'_>, each: &mut dyn FnMut(Item)) {
    for part in parts(&event["message"]["content"]) {
        if part["is_error"].as_bool() == Some(true) {
            each(Item::ToolFailed(words_of(&part["content"])));
        }
    }
}

/// Only a rejection is a limit; warnings come long before.
fn rate_limit(info: &Value<'_>, each: &mut dyn FnMut(Item)) {
    if info["status"] != "rejected" {
        return;
    }
    let window = string(&info["rateLimitType"]).unwrap_or_else(|| "usage".into());
    let told = ["resetsAt", "resets_at"].into_iter().map(|name| number(&info[name])).find(|told| *told > 0);
    let reset = told.and_then(|told| i64::try_from(told).ok()).map(|told| {
        // Some tell it in milliseconds.
        let millis = if told < 100_000_000_000 { told.saturating_mul(1000) } else { told };
        Reset::At { time: Time::from_millis(millis) }
    });
    let text = format!("{window} limit reached");
    each(Item::Limit(Limit { kind: LimitKind::Usage, status: None, reset, text }));
}

/// The service's error as it came; a result that follows counts instead.
fn failed(event: &Value<'_>, each: &mut dyn FnMut(Item)) {
    let error = error_text(&event["error"]).or_else(|| error_text(&event["message"])).unwrap_or_default();
    let kind = event["error"]["type"].as_str().unwrap_or_default();
    let api_status = status_of(&event["error"]).or_else(|| limit::status_in(&error));
    let named = limit_kind(kind.strip_suffix("_error").unwrap_or(kind));
    if let Some(mut limit) = limit::of_service(api_status, &format!("{kind}: {error}")) {
        limit.text = crate::text::one_line(&error, 300);
        limit.kind = named.unwrap_or(limit.kind);
        each(Item::Limit(limit));
    }
    each(Item::Finished(Finished { error: Some(error), api_status, ..Finished::default() }));
}

fn finished(event: &Value<'_>, each: &mut dyn FnMut(Item)) {
    let subtype = event["subtype"].as_str().unwrap_or("");
    let failed = event["is_error"] == true || event["is_error"] == "true" || subtype.starts_with("error");
    let text = Some(text_of(&event["result"])).filter(|text| !text.trim().is_empty());
    let error = failed.then(|| text.clone().or_else(|| reason(event)).unwrap_or_default());
    let told = event["api_error_status"].as_u64().and_then(|status| u16::try_from(status).ok());
    let api_status = told.or_else(|| status_of(&event["error"]));
    let named = |error: &str| {
        let kind = limit_kind(event["terminal_reason"].as_str()?)?;
        Some(Limit { kind, status: api_status, reset: None, text: crate::text::one_line(error, 300) })
    };
    if let Some(limit) =
        error.as_deref().and_then(|error| limit::of(api_status, error).or_else(|| named(error)))
    {
        each(Item::Limit(limit));
    }
    // A single result is the only event.
    if let Some(id) = string(&event["session_id"]).or_else(|| string(&event["sessionId"])) {
        each(Item::Session { id: Some(id), model: None, version: None });
    }
    each(Item::Finished(Finished {
        // The text of a failed result is the CLI's notice, not the agent's words.
        text: text.filter(|_| error.is_none()),
        error,
        api_status,
        usage: final_usage(event),
        cost_micro_usd: cost(event),
        denied: parts(&event["permission_denials"])
            .filter_map(|denial| string(&denial["tool_name"]).or_else(|| string(&denial["tool"])))
            .collect(),
        over_budget: subtype == "error_max_budget_usd",
    }));
}

/// The final message: a string, parts of a message, or an object of a wrapper that holds one of these.
fn text_of(result: &Value<'_>) -> String {
    const NAMES: [&str; 5] = ["output", "content", "text", "response", "message"];
    let held = || NAMES.into_iter().map(|name| &result[name]);
    let deeper = held().map(|held| &held["content"]);
    let places = [result].into_iter().chain(held()).chain(deeper);
    places.map(all_words_of).find(|text| !text.is_empty()).unwrap_or_default()
}

/// Why it failed, where the result's text does not say.
fn reason(event: &Value<'_>) -> Option<String> {
    const SAYS_NOTHING: [&str; 6] = ["completed", "success", "error", "end_turn", "stop_sequence", "stop"];
    let word = |name: &str| string(&event[name]).filter(|word| !SAYS_NOTHING.contains(&word.as_str()));
    error_text(&event["errors"])
        .or_else(|| error_text(&event["error"]))
        .or_else(|| error_text(&event["result"]["error"]))
        .or_else(|| error_text(&event["message"]))
        .or_else(|| word("terminal_reason"))
        .or_else(|| word("subtype"))
        .or_else(|| word("stop_reason"))
}

/// After a retry `usage` misses the first try, and `modelUsage` has it: the larger one is what was spent.
fn final_usage(event: &Value<'_>) -> Option<Usage> {
    let by_model = ["modelUsage", "model_usage"]
        .into_iter()
        .flat_map(|name| event[name].fields())
        .fold(Usage::default(), |sum, model| sum.plus(usage(model).unwrap_or_default()));
    let places = [&event["usage"], &event["metadata"]["usage"], &event["result"]["usage"]];
    let bare = || usage(event).filter(|usage| usage.total() > 0);
    let told = places.into_iter().find_map(usage).or_else(bare);
    if by_model.total() > told.unwrap_or_default().total() { Some(by_model) } else { told }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(line: &str) -> Vec<Item> {
        let mut found = Vec::new();
        if !can_be_passed_over(line.as_bytes()) {
            items(&serde_json::from_str(line).unwrap_or_default(), &mut |item| found.push(item));
        }
        found
    }

    #[test]
    fn a_sub_agent_s_words_are_not_the_agent_s() {
        let line = r#"{"type":"assistant","message":{"content":[{"type":"text","text":"EXIT_SIGNAL: true"}]},"parent_tool_use_id":"toolu_1"}"#;
        assert_eq!(read(line), []);
    }

    #[test]
    fn thinking_and_tool_input_are_not_words() {
        let line = r#"{"type":"assistant","message":{"content":[{"type":"thinking","thinking":"EXIT_SIGNAL: true"},{"type":"tool_use","name":"Write","input":{"file_path":"/p/a.txt","content":"EXIT_SIGNAL: true"}}]},"parent_tool_use_id":null}"#;
        let tool = Item::Tool { name: "Write".into(), target: Some("/p/a.txt".into()) };
        assert_eq!(read(line), [tool, Item::File("/p/a.txt".into())]);
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
    fn a_session_s_tool_result_is_passed_over_and_a_failed_one_is_not() {
        let line = |failed: &str| {
            format!(
                r#"{{"parentUuid":"p","isSidechain":false,"message":{{"role":"user","content":[{{"type":"tool_result","content":"a \"type\":\"result\" b","is_error":{failed}}}]}},"type":"user","uuid":"u","sessionId":"s"}}"#
            )
        };
        assert!(can_be_passed_over(line("false").as_bytes()));
        assert_eq!(read(&line("true")), [Item::ToolFailed("a \"type\":\"result\" b".into())]);
    }

    #[test]
    fn what_may_be_another_kind_of_event_is_never_passed_over() {
        for line in [
            r#"{"message":{"content":[{"type":"user"}]},"type":"assistant"}"#,
            r#"{"data":{"type":"user"},"type":"result"}"#,
            r#"{"data":{"type":"user"},"type" : "system","subtype":"init"}"#,
            r#"{"data":{"type":"user"},"type":"rate_limit_event"}"#,
            r#"{"type":"assistant","data":{"type":"user"}}"#,
            r#"[{"type":"user"},{"type":"result"}]"#,
            r#"{"parentUuid":"p","type":"user","message"#,
            r#"{"summary":"user"}"#,
        ] {
            assert!(!can_be_passed_over(line.as_bytes()), "{line}");
        }
    }

    const KINDS: [&str; 9] = [
        "user", "assistant", "result", "system", "summary", "rate_limit_event", "tool_result", "text",
        "tool_use",
    ];

    /// A colon as Claude writes it, or with spaces.
    fn colon() -> impl Strategy<Value = &'static str> {
        prop::sample::select(vec![":", ": ", " : ", ":\t"])
    }

    /// A JSON string that looks like a piece of an event.
    fn text() -> impl Strategy<Value = String> {
        let pieces =
            vec!["\"", "\\", "type", "is_error", ":", "true", "user", "result", "assistant", "{", "}", ","];
        prop::collection::vec(prop::sample::select(pieces), 0..12)
            .prop_map(|pieces| serde_json::to_string(&pieces.concat()).unwrap_or_default())
    }

    /// An object with its fields in any order.
    fn object(fields: Vec<String>) -> impl Strategy<Value = String> {
        Just(fields).prop_shuffle().prop_map(|fields| format!("{{{}}}", fields.join(",")))
    }

    /// An object of any kind, in whatever an event holds.
    fn nested() -> impl Strategy<Value = String> {
        let field = (text(), text()).prop_map(|(name, value)| format!("{name}:{value}"));
        let leaf = (prop::sample::select(KINDS.to_vec()), colon(), text(), any::<bool>(), field)
            .prop_flat_map(|(kind, colon, text, failed, field)| {
                object(vec![
                    format!(r#""type"{colon}"{kind}""#),
                    format!(r#""text":{text},"content":{text},"name"{colon}"Write""#),
                    format!(r#""is_error"{colon}{failed}"#),
                    field,
                ])
            });
        leaf.prop_recursive(2, 6, 2, |inner| {
            (prop::sample::select(KINDS.to_vec()), colon(), inner).prop_flat_map(|(kind, colon, inner)| {
                object(vec![
                    format!(r#""type"{colon}"{kind}""#),
                    format!(r#""input":{inner},"text":"t""#),
                    format!(r#""content"{colon}[{inner}]"#),
                ])
            })
        })
    }

    /// An event with its keys in any order, and everything in it that looks like an event's.
    fn event() -> impl Strategy<Value = String> {
        let content = prop_oneof![
            text(),
            prop::collection::vec(nested(), 0..3).prop_map(|parts| format!("[{}]", parts.join(",")))
        ];
        let usage = r#"{"input_tokens":1,"output_tokens":2}"#;
        let fields =
            (prop::sample::select(KINDS.to_vec()), colon(), content, nested(), any::<bool>(), any::<bool>());
        fields.prop_flat_map(move |(kind, colon, content, answer, top, copy)| {
            let copy = if copy { "tool_use_result" } else { "data" };
            object(vec![
                format!(r#""type"{colon}"{kind}""#),
                format!(r#""message":{{"id":"m","usage":{usage},"content":{content}}}"#),
                format!(r#""is_error"{colon}{top},"result":"r","subtype":"init""#),
                format!(r#""rate_limit_info":{{"status":"rejected"}},"usage":{usage}"#),
                format!(r#""{copy}":{answer}"#),
            ])
        })
    }

    proptest! {
        #[test]
        fn passing_lines_over_loses_no_item(line in event()) {
            let mut all = Vec::new();
            items(&serde_json::from_str(&line).expect("JSON"), &mut |item| all.push(item));
            prop_assert_eq!(read(&line), all);
        }
    }

    #[test]
    fn an_api_failure_is_an_error_though_its_subtype_says_success() {
        let line = r#"{"type":"result","subtype":"success","is_error":true,"api_error_status":429,"result":"API Error: Request rejected (429)","total_cost_usd":0}"#;
        let [.., Item::Finished(finished)] = &read(line)[..] else { panic!("an end") };
        assert_eq!(finished.api_status, Some(429));
        assert_eq!(finished.error.as_deref(), Some("API Error: Request rejected (429)"));
        assert_eq!(finished.text, None);
    }

    #[test]
    fn the_larger_of_the_two_usage_counts_is_taken() {
        let line = r#"{"type":"result","subtype":"success","usage":{"input_tokens":100,"output_tokens":50},"modelUsage":{"a":{"inputTokens":200,"outputTokens":100},"b":{"cacheReadInputTokens":5}}}"#;
        let [.., Item::Finished(finished)] = &read(line)[..] else { panic!("an end") };
        assert_eq!(finished.usage.map(|usage| usage.total()), Some(305));
    }

    #[test]
    fn a_stream_is_introduced_by_its_start_or_a_hook_and_a_result_may_be_all_of_it() {
        let [introduced, first, whole] =
            [introduces, may_be_first, is_result].map(|is: fn(&Value<'_>) -> bool| {
                move |text: &str| is(&serde_json::from_str(text).expect("JSON"))
            });
        for text in [
            r#"{"session_id":"s","subtype":"init","type":"system"}"#,
            r#"{"type":"system","subtype":"hook_started","session_id":"s"}"#,
        ] {
            assert!(introduced(text) && !whole(text), "{text}");
        }
        assert!(first(r#"{"message":{"content":[]},"type":"assistant"}"#));
        for text in [
            r#"{"type":"result","subtype":"success","is_error":false,"result":"x","session_id":"s"}"#,
            r#"{"type":"result","is_error":true}"#,
            r#"{"type":"result","result":"x"}"#,
            r#"{"result":"x","sessionId":"s"}"#,
            r#"{"is_error":false,"result":"x"}"#,
        ] {
            assert!(whole(text) && !introduced(text) && !first(text), "{text}");
        }
        for text in [
            r#"{"level":"info","type":"system"}"#,
            r#"{"type":"result","value":3}"#,
            r#"{"result":"x"}"#,
            r#"{"result":3,"session_id":"s"}"#,
            r#"{"type":"item","result":"x","session_id":"s"}"#,
            "[]",
        ] {
            assert!(!introduced(text) && !first(text) && !whole(text), "{text}");
        }
    }

    #[test]
    fn a_message_whose_content_is_a_plain_string_is_words() {
        let line = r#"{"type":"assistant","message":{"content":"hi"},"parent_tool_use_id":null}"#;
        assert_eq!(read(line), [Item::Words("hi".into())]);
        assert_eq!(read(&line.replace("null", "\"toolu_1\"")), []);
        let failed = r#"{"type":"assistant","error":"rate_limit","message":{"content":"Slow down."}}"#;
        let [Item::Limit(limit)] = &read(failed)[..] else { panic!("a limit") };
        assert_eq!(limit.text, "Slow down.");
    }

    #[test]
    fn a_rejection_is_a_limit_with_its_reset_and_a_warning_is_none() {
        let line = |status: &str| {
            format!(
                r#"{{"type":"rate_limit_event","rate_limit_info":{{"status":"{status}","resetsAt":1794790000,"rateLimitType":"five_hour"}}}}"#
            )
        };
        let [Item::Limit(limit)] = &read(&line("rejected"))[..] else { panic!("a limit") };
        assert_eq!(limit.kind, LimitKind::Usage);
        assert_eq!(limit.reset, Some(Reset::At { time: Time::from_millis(1_794_790_000_000) }));
        assert_eq!(read(&line("allowed_warning")), []);
    }

    #[test]
    fn a_side_chain_of_a_session_transcript_is_not_the_agent() {
        let own = r#"{"parentUuid":null,"isSidechain":false,"message":{"content":[{"type":"text","text":"hi"}]},"type":"assistant","uuid":"u","sessionId":"s"}"#;
        assert_eq!(read(own), [Item::Words("hi".into())]);
        assert_eq!(read(&own.replace("\"isSidechain\":false", "\"isSidechain\":true")), []);
        assert!(introduces_session(&serde_json::from_str(own).expect("JSON")));
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
