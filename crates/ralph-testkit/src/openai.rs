//! A stand-in for the OpenAI API, so that the real Codex and OpenCode run end to end without a model.

mod chat;
mod responses;

use crate::http::Response;
use crate::server::{Api, ApiRequest, ModelServer};
use crate::turn::{Ids, Message, Refusal, Turn};
use serde_json::json;
use std::ops::Deref;

/// Answers `/v1/responses` (Codex) and `/v1/chat/completions` (OpenCode) from one script.
///
/// ```
/// use ralph_testkit::{OpenAiServer, Turn};
/// let server = OpenAiServer::start([Turn::text("Hello.")]);
/// assert!(server.url().starts_with("http://127.0.0.1:"));
/// assert_eq!(server.turns_left(), 1);
/// ```
pub struct OpenAiServer(ModelServer);

impl OpenAiServer {
    pub fn start(script: impl IntoIterator<Item = Turn>) -> Self {
        OpenAiServer(ModelServer::start::<OpenAi>(script))
    }
}

impl Deref for OpenAiServer {
    type Target = ModelServer;

    fn deref(&self) -> &ModelServer {
        &self.0
    }
}

const RESPONSES: &str = "/v1/responses";
const CHAT: &str = "/v1/chat/completions";

struct OpenAi;

impl Api for OpenAi {
    fn asks_model(request: &ApiRequest) -> bool {
        request.is_post(RESPONSES) || request.is_post(CHAT)
    }

    fn wants_stream(request: &ApiRequest) -> bool {
        request.body["stream"] == true
    }

    fn events(message: &Message, request: &ApiRequest, ids: &mut Ids) -> Vec<String> {
        let model = &request.body["model"];
        if request.path == CHAT {
            chat::events(message, model, ids)
        } else {
            responses::events(message, model, ids)
        }
    }

    fn whole(message: &Message, request: &ApiRequest, ids: &mut Ids) -> String {
        let model = &request.body["model"];
        let body = if request.path == CHAT {
            chat::whole(message, model, ids)
        } else {
            responses::whole(message, model, ids)
        };
        body.to_string()
    }

    fn error(refusal: &Refusal) -> String {
        let fields = json!({"message": refusal.message, "type": refusal.kind});
        json!({"error": refusal.object(fields)}).to_string()
    }

    fn other(_: &ApiRequest) -> Response {
        Response::json(404, r#"{"error":{"message":"Not found","type":"invalid_request_error"}}"#)
    }
}
