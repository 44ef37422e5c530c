//! What the model answers in each recording.

use crate::agents::Agent;
use ralph_testkit::{StatusBlock, Turn};
use serde_json::{Value, json};

/// More than any client asks for: an API that refuses goes on refusing.
const ALWAYS: usize = 50;
/// The first second of 2030.
const RESET: u64 = 1_893_456_000;
const PATCH: &str =
    "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: notes.txt\n+a note\n*** End Patch\nEOF";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Case {
    /// A file written, a command that fails, closing words.
    Work,
    /// The same, by an agent that may not write.
    Denied,
    /// The same, with too few turns allowed.
    MaxTurns,
    BadRequest,
    BadKey,
    RateLimit,
    RateLimitAfter,
    /// The account's quota is used up until a given time.
    Quota,
    Unavailable,
    Overloaded,
    /// The connection is lost in the middle of the answer.
    Cut,
    /// The connection is lost once, then all goes well.
    CutOnce,
}

impl Case {
    pub(crate) const ALL: [Case; 12] = [
        Case::Work,
        Case::Denied,
        Case::MaxTurns,
        Case::BadRequest,
        Case::BadKey,
        Case::RateLimit,
        Case::RateLimitAfter,
        Case::Quota,
        Case::Unavailable,
        Case::Overloaded,
        Case::Cut,
        Case::CutOnce,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Case::Work => "work",
            Case::Denied => "denied",
            Case::MaxTurns => "maxturns",
            Case::BadRequest => "r400",
            Case::BadKey => "r401",
            Case::RateLimit => "r429",
            Case::RateLimitAfter => "r429after",
            Case::Quota => "quota",
            Case::Unavailable => "r503",
            Case::Overloaded => "r529",
            Case::Cut => "cut",
            Case::CutOnce => "cutonce",
        }
    }

    pub(crate) fn script(self, agent: Agent, project: &str) -> Vec<Turn> {
        // OpenCode asks again without a word, after the wait that the service wants: here none, so that it comes to one.
        let now = |turn: Turn| match agent {
            Agent::Opencode => turn.header("retry-after-ms", "1"),
            _ => turn,
        };
        let always = |turn: Turn| vec![turn; ALWAYS];
        match self {
            Case::Work | Case::Denied | Case::MaxTurns => work(agent, project),
            Case::CutOnce => vec![Turn::cut(), closing()],
            Case::Cut => always(Turn::cut()),
            Case::Quota => always(now(quota(agent))),
            Case::BadRequest => always(refusal(agent, 400)),
            Case::BadKey => always(refusal(agent, 401)),
            Case::RateLimit => always(now(refusal(agent, 429))),
            Case::RateLimitAfter => always(refusal(agent, 429).header("retry-after", "30")),
            Case::Unavailable => always(now(refusal(agent, 503))),
            Case::Overloaded => always(now(refusal(agent, 529))),
        }
    }
}

fn work(agent: Agent, project: &str) -> Vec<Turn> {
    let (write, input) = agent.write_call(&format!("{project}/hello.txt"), "hello\n");
    let (shell, command) = agent.shell_call("cat hello.txt; ls missing-file");
    let mut turns = vec![
        Turn::text_and_tool("I will write the greeting.", write, input),
        Turn::tool(shell, command).usage(400, 30).cached(200),
        closing(),
    ];
    if agent == Agent::Codex {
        // The only thing it shows as a change of files.
        let (shell, patch) = agent.shell_call(PATCH);
        turns.insert(1, Turn::tool(shell, patch));
    }
    turns
}

fn closing() -> Turn {
    let status =
        StatusBlock { recommendation: "Next: add the farewell".into(), ..StatusBlock::in_progress() };
    Turn::text(format!("The greeting is in place.\n\n{status}")).usage(600, 120).cached(400)
}

/// With the words that the agent's own service uses.
fn refusal(agent: Agent, status: u16) -> Turn {
    let (anthropic, openai, gemini, message) = match status {
        // Words about the length of the prompt would make OpenCode shorten it and ask again for ever.
        400 => ("invalid_request_error", "invalid_request_error", "INVALID_ARGUMENT", "Not a valid request."),
        401 => ("authentication_error", "invalid_request_error", "UNAUTHENTICATED", "Not a valid API key."),
        429 => ("rate_limit_error", "rate_limit_exceeded", "RESOURCE_EXHAUSTED", "Too many requests."),
        503 => ("api_error", "server_error", "UNAVAILABLE", "The service is unavailable."),
        _ => ("overloaded_error", "server_error", "UNAVAILABLE", "Overloaded"),
    };
    let kind = match agent {
        Agent::Claude => anthropic,
        Agent::Codex | Agent::Opencode => openai,
        Agent::Gemini => gemini,
    };
    Turn::error(status, kind, message)
}

fn quota(agent: Agent) -> Turn {
    match agent {
        Agent::Claude => {
            let reset = RESET.to_string();
            Turn::error(429, "rate_limit_error", "This request would exceed your account's rate limit.")
                .header("anthropic-ratelimit-unified-status", "rejected")
                .header("anthropic-ratelimit-unified-reset", &reset)
                .header("anthropic-ratelimit-unified-representative-claim", "five_hour")
                .header("anthropic-ratelimit-unified-overage-status", "rejected")
        }
        Agent::Codex => Turn::error(429, "usage_limit_reached", "The usage limit has been reached")
            .field("plan_type", json!("plus"))
            .field("resets_at", json!(RESET)),
        Agent::Opencode => Turn::error(429, "insufficient_quota", "You exceeded your current quota.")
            .field("code", json!("insufficient_quota")),
        Agent::Gemini => Turn::error(429, "RESOURCE_EXHAUSTED", "You exceeded your current quota.")
            .field("details", gemini_quota()),
    }
}

fn gemini_quota() -> Value {
    let violation = json!({"quotaMetric": "generativelanguage.googleapis.com/generate_requests_per_day",
        "quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier", "quotaValue": "50"});
    json!([
        {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [violation]},
        {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "30s"},
    ])
}
