//! What all stand-in model servers share: the script, the record of requests, the end.

use crate::http::{End, HttpRequest, HttpServer, Response, find};
use crate::turn::{Ids, Kind, Message, Refusal, Turn};
use crate::watched::Watched;
use serde_json::Value;
use std::collections::VecDeque;
use std::sync::Arc;

/// How one service speaks: which requests ask its model, and how it sends an answer.
pub(crate) trait Api {
    fn asks_model(request: &ApiRequest) -> bool;
    fn wants_stream(request: &ApiRequest) -> bool;
    fn events(message: &Message, request: &ApiRequest, ids: &mut Ids) -> Vec<String>;
    fn whole(message: &Message, request: &ApiRequest, ids: &mut Ids) -> String;
    fn error(refusal: &Refusal) -> String;
    /// Everything that does not ask the model.
    fn other(request: &ApiRequest) -> Response;
}

/// Answers from a script: each main request takes the next [`Turn`], whichever process it comes from. After the
/// last one every answer is a short text. Side calls, which bring no tools, take nothing from the script.
pub struct ModelServer {
    http: HttpServer,
    state: Arc<Watched<State>>,
}

#[derive(Default)]
struct State {
    script: VecDeque<Turn>,
    requests: Vec<ApiRequest>,
    ids: Ids,
}

impl ModelServer {
    pub(crate) fn start<A: Api>(script: impl IntoIterator<Item = Turn>) -> Self {
        let script = script.into_iter().collect();
        let state = Arc::new(Watched::new(State { script, ..State::default() }));
        let shared = Arc::clone(&state);
        let http = HttpServer::start(move |request| {
            let mut request = ApiRequest::new(request);
            request.main = A::asks_model(&request) && request.offers_tools();
            shared.update(|state| {
                state.requests.push(request.clone());
                answer::<A>(&request, state)
            })
        });
        ModelServer { http, state }
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

    /// Hosts that a client wanted to reach through this server. It is the proxy of the CLIs that
    /// [`crate::codex_setup`] and its like prepare, so that a call to the outside ends here and is seen.
    pub fn calls_outside(&self) -> Vec<String> {
        let outside = |request: &ApiRequest| request.method == "CONNECT" || request.path.contains("://");
        self.requests().into_iter().filter(outside).map(|request| request.path).collect()
    }

    /// Blocks until so many main requests have come in, since the start.
    #[track_caller]
    pub fn wait_for_main_requests(&self, count: usize) {
        let come = |state: &State| state.requests.iter().filter(|request| request.is_main()).count();
        let met = self.state.wait(crate::LIMIT, |state| (come(state) >= count).then_some(()));
        assert!(met.is_some(), "{} of {count} main requests came in", self.state.read(come));
    }
}

fn answer<A: Api>(request: &ApiRequest, state: &mut State) -> Response {
    if !A::asks_model(request) {
        return A::other(request);
    }
    let turn = if request.is_main() { state.script.pop_front() } else { None };
    match turn.unwrap_or_else(|| Turn::text("Nothing more to do.")).0 {
        Kind::Refusal(refusal) => {
            let mut response = Response::json(refusal.status, A::error(&refusal));
            response.headers.extend(refusal.headers);
            response
        }
        Kind::Message(message) if A::wants_stream(request) => {
            Response::events(A::events(&message, request, &mut state.ids), message.end)
        }
        Kind::Message(message) if message.end == End::Complete => {
            Response::json(200, A::whole(&message, request, &mut state.ids))
        }
        Kind::Message(message) => Response::broken_json(message.end),
    }
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
    main: bool,
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
            main: false,
        }
    }

    pub(crate) fn is_post(&self, path: &str) -> bool {
        self.method == "POST" && self.path == path
    }

    fn offers_tools(&self) -> bool {
        self.body["tools"].as_array().is_some_and(|tools| !tools.is_empty())
    }

    /// The first header of that name, upper or lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        find(&self.headers, name)
    }

    /// A request for the agent's next step: it offers tools.
    pub fn is_main(&self) -> bool {
        self.main
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
