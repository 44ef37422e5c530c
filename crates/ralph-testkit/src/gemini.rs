//! A stand-in for the Gemini API, so that the real Gemini CLI runs end to end without a model.

mod wire;

use crate::http::Response;
use crate::server::{Api, ApiRequest, ModelServer};
use crate::turn::{Ids, Message, Refusal, Turn};
use serde_json::json;
use std::ops::Deref;

/// ```
/// use ralph_testkit::{GeminiServer, Turn};
/// let server = GeminiServer::start([Turn::text("Hello.")]);
/// assert!(server.url().starts_with("http://127.0.0.1:"));
/// assert_eq!(server.turns_left(), 1);
/// ```
pub struct GeminiServer(ModelServer);

impl GeminiServer {
    pub fn start(script: impl IntoIterator<Item = Turn>) -> Self {
        GeminiServer(ModelServer::start::<Gemini>(script))
    }
}

impl Deref for GeminiServer {
    type Target = ModelServer;

    fn deref(&self) -> &ModelServer {
        &self.0
    }
}

const STREAM: &str = ":streamGenerateContent";
const WHOLE: &str = ":generateContent";

struct Gemini;

impl Api for Gemini {
    fn asks_model(request: &ApiRequest) -> bool {
        request.method == "POST" && (request.path.ends_with(STREAM) || request.path.ends_with(WHOLE))
    }

    fn wants_stream(request: &ApiRequest) -> bool {
        request.path.ends_with(STREAM)
    }

    fn events(message: &Message, request: &ApiRequest, ids: &mut Ids) -> Vec<String> {
        wire::events(message, model(request), ids)
    }

    fn whole(message: &Message, request: &ApiRequest, ids: &mut Ids) -> String {
        wire::whole(message, model(request), ids).to_string()
    }

    fn error(refusal: &Refusal) -> String {
        let fields = json!({"code": refusal.status, "message": refusal.message, "status": refusal.kind});
        json!({"error": refusal.object(fields)}).to_string()
    }

    fn other(request: &ApiRequest) -> Response {
        if request.method == "POST" && request.path.ends_with(":countTokens") {
            return Response::json(200, r#"{"totalTokens":100}"#);
        }
        Response::json(404, r#"{"error":{"code":404,"message":"Not found","status":"NOT_FOUND"}}"#)
    }
}

/// `/v1beta/models/MODEL:method`.
fn model(request: &ApiRequest) -> &str {
    let last = request.path.rsplit('/').next().unwrap_or_default();
    last.split(':').next().unwrap_or_default()
}
