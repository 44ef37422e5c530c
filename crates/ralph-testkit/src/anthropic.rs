//! A stand-in for the Anthropic API, so that the real Claude Code runs end to end without a model.

mod wire;

use crate::http::Response;
use crate::server::{Api, ApiRequest, ModelServer};
use crate::setup;
use crate::turn::{Ids, Message, Refusal, Turn};
use std::ops::Deref;

/// ```
/// use ralph_testkit::{AnthropicServer, Turn};
/// let server = AnthropicServer::start([Turn::text("Hello.")]);
/// assert!(server.url().starts_with("http://127.0.0.1:"));
/// assert!(server.requests().is_empty());
/// ```
pub struct AnthropicServer(ModelServer);

impl AnthropicServer {
    pub fn start(script: impl IntoIterator<Item = Turn>) -> Self {
        AnthropicServer(ModelServer::start::<Messages>(script))
    }
}

impl Deref for AnthropicServer {
    type Target = ModelServer;

    fn deref(&self) -> &ModelServer {
        &self.0
    }
}

/// What the real `claude` needs in its environment to talk to the stand-in and to nobody else, and to run as
/// root without asking. API errors are shown at once instead of being tried again.
pub fn claude_env(server: &AnthropicServer) -> Vec<(String, String)> {
    let url = server.url();
    setup::variables(
        server,
        &[
            ("ANTHROPIC_BASE_URL", &url),
            ("ANTHROPIC_API_KEY", "x"),
            ("IS_SANDBOX", "1"),
            ("DISABLE_AUTOUPDATER", "1"),
            ("DISABLE_TELEMETRY", "1"),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
            ("CLAUDE_CODE_MAX_RETRIES", "0"),
        ],
    )
}

struct Messages;

impl Api for Messages {
    fn asks_model(request: &ApiRequest) -> bool {
        request.is_post("/v1/messages")
    }

    fn wants_stream(request: &ApiRequest) -> bool {
        request.body["stream"] == true
    }

    fn events(message: &Message, request: &ApiRequest, ids: &mut Ids) -> Vec<String> {
        wire::events(message, &request.body["model"], ids)
    }

    fn whole(message: &Message, request: &ApiRequest, ids: &mut Ids) -> String {
        wire::whole(message, &request.body["model"], ids)
    }

    fn error(refusal: &Refusal) -> String {
        wire::error(refusal)
    }

    fn other(request: &ApiRequest) -> Response {
        match (request.method.as_str(), request.path.as_str()) {
            ("POST", "/v1/messages/count_tokens") => Response::json(200, r#"{"input_tokens":100}"#),
            ("GET" | "HEAD", "/") => Response::json(200, "{}"),
            _ => Response::json(
                404,
                r#"{"type":"error","error":{"type":"not_found_error","message":"Not found"}}"#,
            ),
        }
    }
}
