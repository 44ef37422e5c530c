//! The stand-in API answers hand-made requests as the real one would, on both of its paths.

mod client;

use client::{Client, events};
use ralph_testkit::{OpenAiServer, Sandbox, Turn, codex_setup, opencode_setup};
use serde_json::{Value, json};

const RESPONSES: &str = "/v1/responses";
const CHAT: &str = "/v1/chat/completions";

fn request(stream: bool) -> Value {
    json!({"model": "some-model", "stream": stream, "tools": [{"type": "function", "name": "exec_command"}]})
}

fn turn() -> Turn {
    Turn::text_and_tool("Grüße", "exec_command", json!({"cmd": "ls"})).usage(7, 9).cached(5)
}

#[test]
fn responses_come_as_items() {
    let server = OpenAiServer::start([turn(), turn()]);
    let mut client = Client::connect(&server);
    let answer = client.post(RESPONSES, &request(true));
    assert_eq!((answer.status, answer.complete), (200, true));
    assert!(answer.head.contains("content-type: text/event-stream"));
    let events = events(&answer);
    let types: Vec<&str> = events.iter().filter_map(|event| event["type"].as_str()).collect();
    let (delta, done) = ("response.output_text.delta", "response.output_item.done");
    let added = "response.output_item.added";
    assert_eq!(types, ["response.created", added, delta, delta, done, done, "response.completed"]);
    assert_eq!(answer.body.matches("event: ").count(), types.len());
    assert_eq!(events[4]["item"]["content"][0]["text"], "Grüße");
    let call = &events[5]["item"];
    assert_eq!((&call["type"], &call["name"]), (&json!("function_call"), &json!("exec_command")));
    assert_eq!(call["arguments"], r#"{"cmd":"ls"}"#);
    let response = &events[6]["response"];
    assert_eq!(response["id"], events[0]["response"]["id"]);
    assert_eq!(response["usage"]["input_tokens_details"]["cached_tokens"], 5);
    assert_eq!(
        (&response["usage"]["input_tokens"], &response["usage"]["total_tokens"]),
        (&json!(7), &json!(16))
    );

    let whole: Value = serde_json::from_str(&client.post(RESPONSES, &request(false)).body).expect("JSON");
    assert_eq!(whole["output"].as_array().map(Vec::len), Some(2));
    assert_ne!(whole["id"], response["id"]);
}

#[test]
fn chat_completions_come_in_pieces() {
    let server = OpenAiServer::start([turn(), turn()]);
    let mut client = Client::connect(&server);
    let answer = client.post(CHAT, &request(true));
    assert!(answer.body.ends_with("data: [DONE]\n\n"));
    let events = events(&answer);
    let choices: Vec<&Value> = events.iter().map(|event| &event["choices"][0]).collect();
    let text: String = choices.iter().filter_map(|choice| choice["delta"]["content"].as_str()).collect();
    assert_eq!(text, "Grüße");
    let calls: Vec<&Value> = choices.iter().map(|choice| &choice["delta"]["tool_calls"][0]).collect();
    let arguments: String = calls.iter().filter_map(|call| call["function"]["arguments"].as_str()).collect();
    assert_eq!(arguments, r#"{"cmd":"ls"}"#);
    assert!(choices.iter().any(|choice| choice["finish_reason"] == "tool_calls"));
    let usage = &events.last().expect("a last event")["usage"];
    assert_eq!((&usage["prompt_tokens"], &usage["completion_tokens"]), (&json!(7), &json!(9)));
    assert_eq!(usage["prompt_tokens_details"]["cached_tokens"], 5);

    let whole: Value = serde_json::from_str(&client.post(CHAT, &request(false)).body).expect("JSON");
    let choice = &whole["choices"][0];
    assert_eq!(
        (&choice["message"]["content"], &choice["finish_reason"]),
        (&json!("Grüße"), &json!("tool_calls"))
    );
    assert_eq!(choice["message"]["tool_calls"][0]["function"]["name"], "exec_command");
}

#[test]
fn both_paths_take_turns_from_one_script_and_side_calls_take_none() {
    let server = OpenAiServer::start([Turn::text("one"), Turn::text("two")]);
    let mut client = Client::connect(&server);
    let side = client.post(CHAT, &json!({"model": "small", "messages": []}));
    assert!(side.body.contains("Nothing more to do."));
    assert!(client.post(RESPONSES, &request(false)).body.contains("one"));
    assert!(client.post(CHAT, &request(false)).body.contains("two"));
    assert_eq!(client.post("/v1/unknown", &json!({})).status, 404);
    assert_eq!((server.requests().len(), server.main_requests().len(), server.turns_left()), (4, 2, 0));
}

#[test]
fn errors_have_their_fields_and_headers() {
    let limit = Turn::error(429, "usage_limit_reached", "Enough.").field("resets_at", json!(1_893_456_000));
    let server = OpenAiServer::start([limit.header("retry-after", "30")]);
    let answer = Client::connect(&server).post(RESPONSES, &request(true));
    assert_eq!(answer.status, 429);
    assert!(answer.head.contains("retry-after: 30"));
    let body: Value = serde_json::from_str(&answer.body).expect("a JSON error");
    let error = json!({"type": "usage_limit_reached", "message": "Enough.", "resets_at": 1_893_456_000});
    assert_eq!(body, json!({"error": error}));
}

#[test]
fn a_cut_ends_the_connection_in_the_middle() {
    for (path, last) in [(RESPONSES, "response.completed"), (CHAT, "[DONE]")] {
        let server = OpenAiServer::start([Turn::cut()]);
        let answer = Client::connect(&server).post(path, &request(true));
        assert!(!answer.complete);
        assert!(answer.body.contains("bout to") && !answer.body.contains(last), "{}", answer.body);
    }
}

#[test]
fn calls_outside_are_refused_and_seen() {
    let server = OpenAiServer::start([]);
    let mut client = Client::connect(&server);
    client.send("CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n");
    assert_eq!(client.answer().status, 404);
    client.send("GET http://example.com/a?b HTTP/1.1\r\n\r\n");
    assert_eq!(client.answer().status, 404);
    assert_eq!(server.calls_outside(), ["example.com:443", "http://example.com/a"]);
}

#[test]
fn settings_point_at_the_server_and_nowhere_else() {
    let sandbox = Sandbox::new();
    let server = OpenAiServer::start([]);
    for variables in [codex_setup(&sandbox, &server), opencode_setup(&sandbox, &server)] {
        assert!(variables.contains(&("HTTPS_PROXY".to_owned(), server.url())));
    }
    for path in [".codex/config.toml", ".config/opencode/opencode.json"] {
        let text = std::fs::read_to_string(sandbox.home().join(path)).expect("settings");
        assert!(text.contains(&format!("\"{}/v1\"", server.url())), "{text}");
    }
}
