//! Codex's `exec --json`: threads, turns and items.
//!
//! `item.completed` of type `error` is a warning of the CLI, not a failure; `turn.failed` and a bare `error` are. The
//! last turn decides how it ended. There is no money, only tokens.

use super::json::{error_text, parts, status_of, string};
use super::usage::usage;
use super::value::Value;
use super::{Finished, Item};
use crate::limit;
use crate::prelude::*;

pub(super) fn introduces(event: &Value<'_>) -> bool {
    event["type"] == "thread.started" && event["thread_id"].is_string()
}

/// A thread that goes on.
pub(super) fn may_be_first(event: &Value<'_>) -> bool {
    event["type"] == "turn.started"
}

/// Another turn begins: the end of the last one was not the end.
pub(super) fn reopens(event: &Value<'_>) -> bool {
    event["type"] == "turn.started"
}

pub(super) fn items(event: &Value<'_>, each: &mut dyn FnMut(Item)) {
    match event["type"].as_str() {
        Some("thread.started") => {
            each(Item::Session { id: string(&event["thread_id"]), model: None, version: None });
        }
        Some("item.started") => started(&event["item"], each),
        Some("item.completed") => completed(&event["item"], each),
        Some("turn.completed") => {
            let usage = usage(&event["usage"]).unwrap_or_default();
            each(Item::Usage { message: None, usage });
            let text = string(&event["last_agent_message"]);
            each(Item::Finished(Finished { text, ..Finished::default() }));
        }
        Some("turn.failed" | "error") => failed(event, each),
        _ => {}
    }
}

fn started(item: &Value<'_>, each: &mut dyn FnMut(Item)) {
    match item["type"].as_str() {
        Some("command_execution") => each(Item::Tool { name: "shell".into(), target: command(item) }),
        Some("mcp_tool_call") => {
            each(Item::Tool { name: string(&item["tool"]).unwrap_or_else(|| "mcp".into()), target: None });
        }
        Some("web_search") => each(Item::Tool { name: "web_search".into(), target: string(&item["query"]) }),
        _ => {}
    }
}

fn completed(item: &Value<'_>, each: &mut dyn FnMut(Item)) {
    match item["type"].as_str() {
        Some("agent_message") => {
            if let Some(text) = string(&item["text"]) {
                each(Item::Words(text));
            }
        }
        Some("command_execution") => {
            let failed =
                item["exit_code"].as_i64().is_some_and(|code| code != 0) || item["status"] == "failed";
            if failed {
                let output = crate::text::head(item["aggregated_output"].as_str().unwrap_or(""), 4096);
                let code =
                    item["exit_code"].as_i64().map_or_else(String::new, |code| format!("Exit code {code}\n"));
                each(Item::ToolFailed(format!("{code}{output}")));
            }
            if item["status"] == "declined" {
                each(Item::Denied("shell".into()));
            }
        }
        Some("file_change") => {
            each(Item::Tool { name: "apply_patch".into(), target: string(&item["changes"][0]["path"]) });
            for change in parts(&item["changes"]) {
                each(Item::File(string(&change["path"]).unwrap_or_default()));
            }
            match item["status"].as_str() {
                Some("failed") => each(Item::ToolFailed("the patch could not be applied".into())),
                Some("declined") => each(Item::Denied("apply_patch".into())),
                _ => {}
            }
        }
        Some("mcp_tool_call") if item["status"] == "failed" => {
            each(Item::ToolFailed(
                string(&item["error"]["message"]).unwrap_or_else(|| "a tool failed".into()),
            ));
        }
        _ => {}
    }
}

/// Its reason stands in `error.message` or in `message`; without one, the last that was told counts.
fn failed(event: &Value<'_>, each: &mut dyn FnMut(Item)) {
    let error = error_text(&event["error"]).or_else(|| error_text(&event["message"])).unwrap_or_default();
    let api_status = status_of(&event["error"]).or_else(|| limit::status_in(&error));
    if let Some(limit) = limit::of_service(api_status, &error) {
        each(Item::Limit(limit));
    }
    each(Item::Finished(Finished { error: Some(error), api_status, ..Finished::default() }));
}

/// Codex wraps what it runs: `/bin/bash -lc 'make'`.
fn command(item: &Value<'_>) -> Option<String> {
    item["command"].as_str().map(|command| crate::text::one_line(command, 200))
}
