//! The stand-in API answers hand-made requests as the real one would.

mod client;

use client::{Client, events};
use ralph_testkit::{GeminiServer, Sandbox, Turn, gemini_setup};
use serde_json::{Value, json};

const STREAM: &str = "/v1beta/models/some-model:streamGenerateContent?alt=sse";
const WHOLE: &str = "/v1beta/models/some-model:generateContent";

fn request() -> Value {
    json!({"contents": [], "tools": [{"functionDeclarations": [{"name": "write_file"}]}]})
}

fn turn() -> Turn {
    Turn::text_and_tool("Grüße", "write_file", json!({"content": "x"})).usage(7, 9).cached(5)
}

#[test]
fn a_turn_comes_as_a_stream_of_envelopes() {
    let server = GeminiServer::start([turn(), turn()]);
    let mut client = Client::connect(&server);
    let answer = client.post(STREAM, &request());
    assert_eq!((answer.status, answer.complete), (200, true));
    let events = events(&answer);
    let candidates: Vec<&Value> = events.iter().map(|event| &event["candidates"][0]).collect();
    let parts: Vec<&Value> = candidates.iter().map(|one| &one["content"]["parts"][0]).collect();
    let text: String = parts.iter().filter_map(|part| part["text"].as_str()).collect();
    assert_eq!(text, "Grüße");
    assert_eq!(parts[2]["functionCall"]["args"], json!({"content": "x"}));
    let reasons: Vec<&Value> = candidates.iter().map(|one| &one["finishReason"]).collect();
    assert_eq!(reasons, [&Value::Null, &Value::Null, &json!("STOP")]);
    let usage = &events[2]["usageMetadata"];
    assert_eq!((&usage["promptTokenCount"], &usage["candidatesTokenCount"]), (&json!(7), &json!(9)));
    assert_eq!(usage["cachedContentTokenCount"], 5);
    assert_eq!(events[2]["modelVersion"], "some-model");

    let whole: Value = serde_json::from_str(&client.post(WHOLE, &request()).body).expect("JSON");
    let content = &whole["candidates"][0]["content"];
    assert_eq!((&content["role"], &content["parts"][0]["text"]), (&json!("model"), &json!("Grüße")));
}

#[test]
fn side_calls_take_no_turn() {
    let server = GeminiServer::start([Turn::text("main")]);
    let mut client = Client::connect(&server);
    assert!(client.post(WHOLE, &json!({"contents": []})).body.contains("Nothing more to do."));
    let count = "/v1beta/models/some-model:countTokens";
    assert!(client.post(count, &json!({})).body.contains("totalTokens"));
    assert_eq!(client.post("/v1beta/unknown", &json!({})).status, 404);
    assert_eq!(server.turns_left(), 1);
    assert!(client.post(STREAM, &request()).body.contains("ma"));
    assert_eq!((server.main_requests().len(), server.turns_left()), (1, 0));
}

#[test]
fn errors_have_their_code_and_details() {
    let turn = Turn::error(429, "RESOURCE_EXHAUSTED", "Enough.").field("details", json!([]));
    let server = GeminiServer::start([turn]);
    let answer = Client::connect(&server).post(STREAM, &request());
    assert_eq!(answer.status, 429);
    let body: Value = serde_json::from_str(&answer.body).expect("a JSON error");
    let error = json!({"code": 429, "message": "Enough.", "status": "RESOURCE_EXHAUSTED", "details": []});
    assert_eq!(body, json!({"error": error}));
}

#[test]
fn a_cut_ends_the_connection_in_the_middle() {
    let server = GeminiServer::start([Turn::cut()]);
    let answer = Client::connect(&server).post(STREAM, &request());
    assert!(!answer.complete);
    assert!(answer.body.contains("bout to") && !answer.body.contains("STOP"));
}

#[test]
fn settings_point_at_the_server() {
    let sandbox = Sandbox::new();
    let server = GeminiServer::start([]);
    let variables = gemini_setup(&sandbox, &server);
    assert!(variables.contains(&("GOOGLE_GEMINI_BASE_URL".to_owned(), server.url())));
    assert!(variables.contains(&("HTTPS_PROXY".to_owned(), server.url())));
    assert!(sandbox.home().join(".gemini/settings.json").is_file());
}
