//! The stand-in API answers hand-made requests as the real one would.

mod client;

use client::{Client, events};
use ralph_testkit::{AnthropicServer, Turn, claude_env};
use serde_json::{Value, json};

fn request(stream: bool) -> Value {
    json!({"model": "some-model", "stream": stream, "tools": [{"name": "Write"}],
        "messages": [{"role": "user", "content": [{"type": "text", "text": "line one\nline two"}]}]})
}

#[test]
fn a_turn_comes_as_a_stream_of_events() {
    let turn = Turn::text_and_tool("Grüße", "Write", json!({"file_path": "/a", "content": "x"})).usage(7, 9);
    let server = AnthropicServer::start([turn, Turn::text("end")]);
    let mut client = Client::connect(&server);
    let answer = client.post("/v1/messages?beta=true", &request(true));
    assert_eq!((answer.status, answer.complete), (200, true));
    assert!(answer.head.contains("content-type: text/event-stream"));
    let events = events(&answer);
    let types: Vec<&str> = events.iter().filter_map(|event| event["type"].as_str()).collect();
    let (start, delta, stop) = ("content_block_start", "content_block_delta", "content_block_stop");
    assert_eq!(
        types,
        [
            "message_start", start, delta, delta, stop, start, delta, delta, stop, "message_delta",
            "message_stop"
        ]
    );
    assert_eq!(events[0]["message"]["model"], "some-model");
    assert_eq!(events[0]["message"]["usage"]["input_tokens"], 7);
    let joined = |from: usize, key: &str| -> String {
        events[from..from + 2].iter().filter_map(|event| event["delta"][key].as_str()).collect()
    };
    assert_eq!(joined(2, "text"), "Grüße");
    assert_eq!(joined(6, "partial_json"), r#"{"content":"x","file_path":"/a"}"#);
    assert_eq!(events[9]["delta"]["stop_reason"], "tool_use");
    assert_eq!(events[9]["usage"]["output_tokens"], 9);

    // The same connection goes on.
    let end = client.post("/v1/messages", &request(false));
    let message: Value = serde_json::from_str(&end.body).expect("a JSON message");
    assert_eq!(
        (&message["content"][0]["text"], &message["stop_reason"]),
        (&json!("end"), &json!("end_turn"))
    );
    assert_eq!(server.turns_left(), 0);
    let after = client.post("/v1/messages", &request(false));
    assert!(after.body.contains("Nothing more to do."));
}

#[test]
fn requests_are_recorded_and_side_calls_take_no_turn() {
    let server = AnthropicServer::start([Turn::text("main")]);
    let mut client = Client::connect(&server);
    let side = client.post("/v1/messages", &json!({"model": "small", "messages": []}));
    assert_eq!(side.status, 200);
    assert!(client.post("/v1/messages/count_tokens", &json!({})).body.contains("input_tokens"));
    assert_eq!(server.turns_left(), 1);

    let body = request(false).to_string();
    let (first, second) = body.split_at(10);
    client
        .send("POST /v1/messages?beta=true HTTP/1.1\r\nUser-Agent: me\r\nTransfer-Encoding: chunked\r\n\r\n");
    client.send(&format!("{:x}\r\n{first}\r\n{:x};x=y\r\n{second}\r\n0\r\n\r\n", first.len(), second.len()));
    assert!(client.answer().body.contains("main"));
    server.wait_for_main_requests(1);

    let [main] = &server.main_requests()[..] else { panic!("one main request") };
    assert_eq!((main.path.as_str(), main.query.as_str()), ("/v1/messages", "beta=true"));
    assert_eq!(main.header("user-agent"), Some("me"));
    assert!(main.mentions("one\nline"));
    assert_eq!(server.requests().len(), 3);
    assert_eq!(server.requests()[0].header("x-api-key"), Some("x"));
}

#[test]
fn errors_have_their_status_and_headers() {
    let server = AnthropicServer::start([
        Turn::error(429, "rate_limit_error", "Slow down.").header("retry-after", "30")
    ]);
    let answer = Client::connect(&server).post("/v1/messages", &request(true));
    assert_eq!(answer.status, 429);
    assert!(answer.head.contains("retry-after: 30"));
    let body: Value = serde_json::from_str(&answer.body).expect("a JSON error");
    assert_eq!(
        body,
        json!({"type": "error", "error": {"type": "rate_limit_error", "message": "Slow down."}})
    );
}

#[test]
fn a_cut_ends_the_connection_in_the_middle() {
    let server = AnthropicServer::start([Turn::cut()]);
    let answer = Client::connect(&server).post("/v1/messages", &request(true));
    assert!(!answer.complete);
    assert!(answer.body.contains("message_start") && !answer.body.contains("message_stop"));
}

#[test]
fn a_server_ends_while_a_client_hangs() {
    let server = AnthropicServer::start([Turn::hang()]);
    let mut client = Client::connect(&server);
    let body = request(true).to_string();
    client.send(&format!("POST /v1/messages HTTP/1.1\r\nContent-Length: {}\r\n\r\n{body}", body.len()));
    // It has begun to answer, and is now in the middle of it.
    assert_eq!(client.line().trim(), "HTTP/1.1 200 OK");
    server.wait_for_main_requests(1);
    drop(server);
    let rest = client.rest();
    assert!(!rest.contains("message_stop"), "{rest}");
}

#[test]
fn other_paths_and_methods_are_answered() {
    let server = AnthropicServer::start([]);
    let mut client = Client::connect(&server);
    client.send("HEAD / HTTP/1.1\r\n\r\n");
    assert_eq!(client.line().trim(), "HTTP/1.1 200 OK");
    while !client.line().trim().is_empty() {}
    client.send("GET /v1/unknown HTTP/1.1\r\nConnection: close\r\n\r\n");
    let answer = client.answer();
    assert_eq!(answer.status, 404);
    assert_eq!(client.line(), "", "closed when the client asked for it");
}

#[test]
fn the_environment_for_claude_points_at_the_server() {
    let server = AnthropicServer::start([]);
    let variables = claude_env(&server);
    assert!(variables.contains(&("ANTHROPIC_BASE_URL".to_owned(), server.url())));
    assert!(variables.contains(&("CLAUDE_CODE_MAX_RETRIES".to_owned(), "0".to_owned())));
}
