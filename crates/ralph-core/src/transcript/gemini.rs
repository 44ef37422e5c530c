//! Gemini CLI's `--output-format stream-json`, whose words come in pieces (`delta`), and `--output-format json`.

use super::json::{all_words_of, error_text, number, status_of, string, target, words_of, written_file};
use super::usage::usage;
use super::value::Value;
use super::{Finished, Item, Usage};
use crate::limit::{self, LimitKind};
use crate::prelude::*;

pub(super) fn introduces(event: &Value<'_>) -> bool {
    event["type"] == "init" && event["session_id"].is_string() && event["model"].is_string()
}

/// An error before anything else.
pub(super) fn may_be_first(event: &Value<'_>) -> bool {
    event["type"] == "error" && event["severity"].is_string() && event["message"].is_string()
}

pub(super) fn items(event: &Value<'_>, each: &mut dyn FnMut(Item)) {
    match event["type"].as_str() {
        Some("init") => {
            each(Item::Session {
                id: string(&event["session_id"]),
                model: string(&event["model"]),
                version: None,
            });
        }
        Some("message") if event["role"] == "assistant" => {
            let text = all_words_of(&event["content"]);
            each(if event["delta"] == true { Item::MoreWords(text) } else { Item::Words(text) });
        }
        Some("tool_use") => {
            let name = string(&event["tool_name"]).unwrap_or_else(|| "tool".into());
            let file = written_file(&name, &event["parameters"]);
            each(Item::Tool { name, target: target(&event["parameters"]) });
            if let Some(file) = file {
                each(Item::File(file));
            }
        }
        Some("tool_result") if event["status"] == "error" => {
            let why = string(&event["error"]["message"]).unwrap_or_else(|| words_of(&event["output"]));
            // A tool that its settings do not allow is not there at all.
            if matches!(event["error"]["type"].as_str(), Some("tool_not_registered" | "policy_violation")) {
                let tool = event["tool_id"].as_str().unwrap_or("tool");
                each(Item::Denied(tool.split("__").next().unwrap_or(tool).to_owned()));
            }
            each(Item::ToolFailed(why));
        }
        Some("error") if event["severity"] != "warning" => failed(event, None, each),
        Some("result") if event["status"] == "error" || !event["error"].is_null() => {
            failed(event, usage(&event["stats"]), each);
        }
        Some("result") => each(Item::Finished(Finished {
            text: string(&event["response"]),
            usage: usage(&event["stats"]),
            ..Finished::default()
        })),
        None if is_document(event) => document(event, each),
        _ => {}
    }
}

/// An `error` event is the end unless a result follows.
fn failed(event: &Value<'_>, usage: Option<Usage>, each: &mut dyn FnMut(Item)) {
    let error = error_text(&event["error"]).or_else(|| error_text(&event["message"])).unwrap_or_default();
    let told = || status_of(&event["error"]).or_else(|| limit::status_in(&error));
    let api_status = code_in(&error).or_else(told);
    if let Some(mut limit) = limit::of_service(api_status, answer_in(&error)) {
        // The service sends whoever used a quota up to the "billing details"; what comes back by itself is no money.
        if limit.kind == LimitKind::Credit && limit.reset.is_some() {
            limit.kind = LimitKind::Usage;
        }
        each(Item::Limit(limit));
    }
    each(Item::Finished(Finished { error: Some(error), api_status, usage, ..Finished::default() }));
}

/// How many calls of tools are believed, of all tools together.
const MOST_CALLS: u64 = 10_000;

/// The one document of `--output-format json`, or what it is for a run that failed.
pub(super) fn is_document(document: &Value<'_>) -> bool {
    let answered = document["response"].is_string() && document["stats"].is_object();
    let failed = document["session_id"].is_string() && document["error"].is_object();
    document["type"].is_null() && (answered || failed)
}

fn document(document: &Value<'_>, each: &mut dyn FnMut(Item)) {
    each(Item::Session { id: string(&document["session_id"]), model: None, version: None });
    let stats = &document["stats"];
    let mut left = MOST_CALLS;
    for (name, tool) in stats["tools"]["byName"].entries() {
        let mut called = |how: &str| {
            let calls = number(&tool[how]).min(left);
            left -= calls;
            0..calls
        };
        called("count").for_each(|_| each(Item::Tool { name: name.to_owned(), target: None }));
        called("fail").for_each(|_| each(Item::ToolFailed(format!("{name} failed"))));
    }
    if let Some(answer) = string(&document["response"]) {
        each(Item::Words(answer));
    }
    let models = stats["models"].entries();
    let spent = models
        .fold(Usage::default(), |sum, (_, model)| sum.plus(usage(&model["tokens"]).unwrap_or_default()));
    if document["error"].is_object() {
        return failed(document, Some(spent), each);
    }
    each(Item::Finished(Finished { usage: Some(spent), ..Finished::default() }));
}

/// What the service said, in brackets and over several lines, with when to try again; what follows is the CLI's advice,
/// which speaks of quotas in any case.
fn answer_in(error: &str) -> &str {
    match error.find("]\n") {
        Some(end) if error.starts_with("[API Error: ") => &error[..=end],
        _ => error.lines().next().unwrap_or(""),
    }
}

/// The service's answer stands in the message as it came: `[API Error: {"error":{"code":401,…}}]`.
fn code_in(message: &str) -> Option<u16> {
    let answer = message.strip_prefix("[API Error: ")?.trim_end().strip_suffix(']')?;
    let answer: Value<'_> = serde_json::from_str(answer).ok()?;
    answer["error"]["code"].as_u64().and_then(|code| u16::try_from(code).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_message_is_kept_to_its_end_where_the_report_stands() {
        let text = format!("{}the end", "x".repeat(10_000));
        let line = serde_json::json!({"type": "message", "role": "assistant", "content": text}).to_string();
        let event: Value<'_> = serde_json::from_str(&line).expect("JSON");
        let mut said = Vec::new();
        items(&event, &mut |item| said.push(item));
        assert_eq!(said, [Item::Words(text)]);
    }

    #[test]
    fn when_a_quota_comes_back_stands_in_a_later_line_and_makes_it_no_matter_of_money() {
        let limit = |message: &str| {
            let event =
                serde_json::json!({"type": "result", "status": "error", "error": {"message": message}});
            let (line, mut told) = (event.to_string(), None);
            items(&serde_json::from_str(&line).expect("JSON"), &mut |item| {
                if let Item::Limit(limit) = item {
                    told = Some((limit.kind, limit.reset));
                }
            });
            told
        };
        let quota =
            "[API Error: You exceeded your current quota, please check your plan and billing details.";
        let advice = "\nPlease wait and try again in 5 minutes, or purchase credits.";
        let after = |ms| Some(limit::Reset::After { ms });
        assert_eq!(
            limit(&format!(
                "{quota} \n* Quota exceeded\nPlease retry in 3600.07s.\nSuggested retry after 3600s.]{advice}"
            )),
            Some((LimitKind::Usage, after(3_600_070)))
        );
        assert_eq!(limit(&format!("{quota}]{advice}")), Some((LimitKind::Credit, None)));
        assert_eq!(limit(&format!("[API Error: Too many requests.]{advice}")), Some((LimitKind::Rate, None)));
    }

    #[test]
    fn a_document_cannot_tell_of_more_calls_than_anybody_counts() {
        let tool = |nth: u32| (format!("tool_{nth}"), serde_json::json!({"count": 9_999, "fail": 9_999}));
        let by_name: serde_json::Map<_, _> = (0..1000).map(tool).collect();
        let line = serde_json::json!({"stats": {"tools": {"byName": by_name}}, "response": "hi"}).to_string();
        let read: Value<'_> = serde_json::from_str(&line).expect("JSON");
        let (mut tools, mut failures, mut words) = (0, 0, 0);
        document(&read, &mut |item| match item {
            Item::Tool { .. } => tools += 1,
            Item::ToolFailed(_) => failures += 1,
            Item::Words(_) => words += 1,
            _ => {}
        });
        assert_eq!((tools, failures, words), (9_999, 1, 1));
    }
}
