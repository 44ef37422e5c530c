//! A stand-in for the Anthropic API, so that the real Claude Code runs end to end without a model.

use crate::http::{HttpRequest, HttpServer, Response, find};
use crate::turn::{Ids, Turn, error};
use crate::watched::Watched;
use serde_json::Value;
use std::collections::VecDeque;
use std::sync::Arc;

/// Answers from a script: each main request takes the next [`Turn`], whichever process it comes from. After the
/// last one every answer is a short text. Side calls, which bring no tools, take nothing from the script.
///
/// ```
/// use ralph_testkit::{AnthropicServer, Turn};
/// let server = AnthropicServer::start([Turn::text("Hello.")]);
/// assert!(server.url().starts_with("http://127.0.0.1:"));
/// assert!(server.requests().is_empty());
/// ```
pub struct AnthropicServer {
    http: HttpServer,
    state: Arc<Watched<State>>,
}

#[derive(Default)]
struct State {
    script: VecDeque<Turn>,
    requests: Vec<ApiRequest>,
    ids: Ids,
}

/// What a client asked.
#[derive(Clone, Debug)]
pub struct ApiRequest {
    pub method: String,
    /// Without the query.
    pub path: String,
    pub query: String,
    pub headers: Vec<(String, String)>,
    /// Null where there was none, or none in JSON.
    pub body: Value,
}

impl AnthropicServer {
    pub fn start(script: impl IntoIterator<Item = Turn>) -> Self {
        let script = script.into_iter().collect();
        let state = Arc::new(Watched::new(State { script, ..State::default() }));
        let shared = Arc::clone(&state);
        let http = HttpServer::start(move |request| {
            let request = ApiRequest::new(request);
            shared.update(|state| {
                state.requests.push(request.clone());
                answer(&request, state)
            })
        });
        AnthropicServer { http, state }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.http.address())
    }

    /// Adds to the end of the script.
    pub fn push(&self, turn: Turn) {
        self.state.update(|state| state.script.push_back(turn));
    }

    /// Turns of the script that nobody has asked for yet.
    pub fn turns_left(&self) -> usize {
        self.state.read(|state| state.script.len())
    }

    /// Every request so far, side calls and other paths too.
    pub fn requests(&self) -> Vec<ApiRequest> {
        self.state.read(|state| state.requests.clone())
    }

    /// The requests that took a turn.
    pub fn main_requests(&self) -> Vec<ApiRequest> {
        self.requests().into_iter().filter(ApiRequest::is_main).collect()
    }

    /// Blocks until so many main requests have come in, since the start.
    #[track_caller]
    pub fn wait_for_main_requests(&self, count: usize) {
        let come = |state: &State| state.requests.iter().filter(|request| request.is_main()).count();
        let met = self.state.wait(crate::LIMIT, |state| (come(state) >= count).then_some(()));
        assert!(met.is_some(), "{} of {count} main requests came in", self.state.read(come));
    }
}

/// What the real `claude` needs in its environment to talk to the stand-in and to nobody else, and to run as
/// root without asking. API errors are shown at once instead of being tried again.
pub fn claude_env(server: &AnthropicServer) -> Vec<(String, String)> {
    let mut variables = vec![("ANTHROPIC_BASE_URL".to_owned(), server.url())];
    for (name, value) in [
        ("ANTHROPIC_API_KEY", "x"),
        ("IS_SANDBOX", "1"),
        ("DISABLE_AUTOUPDATER", "1"),
        ("DISABLE_TELEMETRY", "1"),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
        ("CLAUDE_CODE_MAX_RETRIES", "0"),
    ] {
        variables.push((name.to_owned(), value.to_owned()));
    }
    variables
}

impl ApiRequest {
    fn new(request: HttpRequest) -> Self {
        let (path, query) = request.target.split_once('?').unwrap_or((&request.target, ""));
        ApiRequest {
            path: path.to_owned(),
            query: query.to_owned(),
            body: serde_json::from_slice(&request.body).unwrap_or_default(),
            method: request.method,
            headers: request.headers,
        }
    }

    /// The first header of that name, upper or lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        find(&self.headers, name)
    }

    /// A request for the agent's next step: it offers tools.
    pub fn is_main(&self) -> bool {
        let offers_tools = self.body["tools"].as_array().is_some_and(|tools| !tools.is_empty());
        self.method == "POST" && self.path == "/v1/messages" && offers_tools
    }

    /// Some text of the body has this in it.
    pub fn mentions(&self, text: &str) -> bool {
        mentions(&self.body, text)
    }
}

fn mentions(value: &Value, text: &str) -> bool {
    match value {
        Value::String(string) => string.contains(text),
        Value::Array(values) => values.iter().any(|value| mentions(value, text)),
        Value::Object(fields) => fields.values().any(|value| mentions(value, text)),
        _ => false,
    }
}

fn answer(request: &ApiRequest, state: &mut State) -> Response {
    match (request.method.as_str(), request.path.as_str()) {
        ("POST", "/v1/messages") => {
            let (model, stream) = (&request.body["model"], request.body["stream"] == true);
            let turn = if request.is_main() { state.script.pop_front() } else { None };
            turn.unwrap_or_else(|| Turn::text("Nothing more to do.")).respond(model, stream, &mut state.ids)
        }
        ("POST", "/v1/messages/count_tokens") => Response::json(200, r#"{"input_tokens":100}"#),
        ("GET" | "HEAD", "/") => Response::json(200, "{}"),
        _ => error(404, "not_found_error", "Not found"),
    }
}
