use super::*;

#[test]
fn a_status_tells_the_kind_and_words_refine_it() {
    for (status, text, kind) in [
        (Some(401), "Invalid API key", Some(LimitKind::Auth)),
        (Some(429), "Too many requests", Some(LimitKind::Rate)),
        (Some(429), "You have reached your weekly limit", Some(LimitKind::Usage)),
        (Some(529), "Overloaded", Some(LimitKind::Overload)),
        (Some(503), "The service is unavailable", Some(LimitKind::Overload)),
        (Some(400), "Credit balance is too low", Some(LimitKind::Credit)),
        (Some(400), "Not a valid request", None),
        (None, "You\u{2019}ve hit your usage limit.", Some(LimitKind::Usage)),
        (None, "Connection to the API was lost", None),
    ] {
        assert_eq!(of(status, text).map(|limit| limit.kind), kind, "{status:?} {text}");
    }
}

#[test]
fn the_status_is_read_from_a_cli_s_own_words() {
    assert_eq!(status_in("unexpected status 401 Unauthorized: x"), Some(401));
    assert_eq!(status_in("exceeded retry limit, last status: 429 Too Many Requests"), Some(429));
    assert_eq!(status_in("API Error: 529 Overloaded."), Some(529));
    assert_eq!(status_in("it took 429 seconds"), None);
}

#[test]
fn resets_are_read_in_their_forms() {
    let seconds = 1_794_790_000;
    let at = Reset::At { time: Time::from_millis(seconds * 1000) };
    assert_eq!(reset_in(&format!("Claude AI usage limit reached|{seconds}")), Some(at));
    let three = |zone: Option<&str>| Reset::Clock { hour: 15, minute: 0, zone: zone.map(ToOwned::to_owned) };
    assert_eq!(reset_in("5-hour limit reached \u{2219} resets 3pm"), Some(three(None)));
    assert_eq!(reset_in("try again at 3:05 PM"), Some(Reset::Clock { hour: 15, minute: 5, zone: None }));
    assert_eq!(reset_in("All good."), None);
}

#[test]
fn prose_about_limits_is_no_limit() {
    let notice = "Claude AI usage limit reached|1794790000";
    assert_eq!(from_prose(true, notice).map(|limit| limit.kind), Some(LimitKind::Usage));
    assert_eq!(from_prose(false, notice), None, "the process did not fail");
    assert_eq!(from_prose(true, "I added handling for 429 rate limit errors to the client."), None);
}

#[test]
fn waits_are_added_up_and_rounded_up() {
    for (text, ms) in [
        ("try again in 5 minutes", 300_000),
        ("or try again in 2 days 3 hours 12 minutes.", 184_320_000),
        ("Please try again in 7.06s.", 7_060),
        ("rate limit exceeded, retry after 20s", 20_000),
        ("Retry-After: 30", 30_000),
        ("\"retryDelay\": \"34.2s\"", 34_200),
        ("resets in 1h30m", 5_400_000),
    ] {
        assert_eq!(reset_in(text), Some(Reset::After { ms }), "{text}");
    }
    assert_eq!(reset_in("try again in a moment"), None);
    assert_eq!(reset_in("try again in 99999999 days"), None);
    assert_eq!(reset_in("try again in 999999999999 days"), None, "more milliseconds than there are numbers");
}

#[test]
fn clocks_are_read_with_zone_and_beside_a_date() {
    let clock = |hour, minute, zone: &str| {
        Some(Reset::Clock {
            hour,
            minute,
            zone: Some(zone).filter(|zone| !zone.is_empty()).map(ToOwned::to_owned),
        })
    };
    assert_eq!(reset_in("resets 3:40pm (Europe/Berlin)"), clock(15, 40, "Europe/Berlin"));
    assert_eq!(reset_in("resets Oct 9, 5pm (America/New_York)"), clock(17, 0, "America/New_York"));
    assert_eq!(reset_in("resets 12am"), clock(0, 0, ""));
    assert_eq!(reset_in("resets at 15:05 UTC"), clock(15, 5, "UTC"));
    assert_eq!(reset_in("resets 25:00"), None);
    let day = |day, hour, zone: Option<&str>| {
        let zone = zone.map(ToOwned::to_owned);
        Some(Reset::Day { year: 2026, month: 11, day, hour, minute: 5, zone })
    };
    assert_eq!(reset_in("try again at Nov 20th, 2026 3:05 PM."), day(20, 15, None));
    assert_eq!(
        reset_in("resets November 2, 2026 at 09:05 (Europe/Berlin)"),
        day(2, 9, Some("Europe/Berlin"))
    );
    assert_eq!(reset_in("try again at Nov 2nd, 2026"), None);
    let time = Time::from_millis(1_791_565_200_000);
    assert_eq!(reset_in(&format!("try again at {time}")), Some(Reset::At { time }));
}

#[test]
fn only_the_cli_s_own_line_at_the_end_is_a_notice() {
    for line in [
        "5-hour limit reached ∙ resets 7pm",
        "Opus weekly limit reached ∙ resets Monday 9am",
        "[API Error: You have exhausted your daily quota on this model.]",
        "ERROR: unexpected status 401 Unauthorized: x",
        "Error: AI_APICallError: Overloaded",
        "  ⎿  Invalid API key · Please run /login",
        "API Error: 503 The service is unavailable. This is a server-side issue.",
        "Error: Not a valid API key.",
    ] {
        assert!(from_prose(true, &format!("I read the router first.\n\n{line}\n")).is_some(), "{line}");
        for shown in [
            format!("```\n{line}\n```"),
            format!("> {line}"),
            format!("The line `{line}` is new."),
            format!("I saw \"{line}\"."),
        ] {
            assert_eq!(from_prose(true, &shown), None, "{shown}");
        }
    }
    for line in [
        "Rate limit exceeded responses carry a header now.",
        "Error: 429 handling is in place.",
        "Invalid API key errors are mapped to 401.",
        "You've hit your usage limit is the text I look for.",
        "tar: Cannot write: Disk quota exceeded",
    ] {
        assert_eq!(from_prose(true, line), None, "{line}");
    }
    let early = format!("Credit balance is too low\n{}", "I went on with the parser.\n".repeat(20));
    assert_eq!(from_prose(true, &early), None);
}

#[test]
fn sentences_about_statuses_logins_and_quotas_are_no_notices_whoever_reports_them() {
    for line in [
        "HTTP 503 responses are now retried by the client.",
        "Status 500 is what the old handler returned.",
        "Status: 403 for anonymous users, 200 for admins.",
        "Forbidden: the guest role can no longer delete.",
        "Unauthorized, then redirected to /login: both paths are tested.",
        "Not logged in: the page shows the form.",
        "Status: 401",
        "Unexpected status 401 Unauthorized: the fixture signs with the old key.",
        "Repeated 529 Overloaded errors open the breaker.",
        "Rate limit reached for anonymous users leads to a captcha.",
        "Quota exceeded: the upload stops at 5 GB.",
        "Credit balance is too low to buy the item.",
        "Please run /login to see the form.",
        "Error: 401 - the test expects 200.",
        "I implemented the billing page and the access token refresh.",
    ] {
        assert_eq!(from_prose(true, line), None, "{line}");
        assert_eq!(of(None, line), None, "in a field: {line}");
        assert_eq!(of(Some(400), line), None, "with a status that says nothing: {line}");
    }
}

#[test]
fn a_status_is_believed_behind_a_tag_or_with_its_reason_to_the_end_of_the_line() {
    for (line, status) in [
        ("API Error: 529", 529),
        ("API Error: 429 rate limited, retry after 1 seconds", 429),
        ("Error: HTTP 503", 503),
        ("Error: status 429 Too Many Requests: slow down", 429),
        ("API Error: Repeated 529 Overloaded errors", 529),
        ("API Error: 500: upstream connect error", 500),
        ("Error: 429 status code (no body)", 429),
        ("ERROR: unexpected status 529 <unknown status code>: Overloaded", 529),
        ("HTTP 503 Service Unavailable", 503),
        ("Status: 403 Forbidden.", 403),
        ("unexpected status 401 Unauthorized", 401),
        ("429 Too Many Requests", 429),
        ("503 Service Unavailable", 503),
    ] {
        assert_eq!(from_prose(true, line).and_then(|limit| limit.status), Some(status), "{line}");
    }
    for line in ["Forbidden", "Unauthorized.", "Overloaded", "Not logged in"] {
        assert!(from_prose(true, line).is_some(), "{line}");
    }
}

#[test]
fn an_error_without_a_status_is_known_by_a_line_of_it() {
    for (text, kind) in [
        ("The turn ended.\nCredit balance is too low", LimitKind::Credit),
        ("You have reached your specified API usage limits. You will regain access soon.", LimitKind::Usage),
        ("Anthropic API key is missing. Pass it using the 'apiKey' parameter.", LimitKind::Auth),
        ("Your access token could not be refreshed because your refresh token was revoked.", LimitKind::Auth),
        ("Selected model is at capacity. Please try a different model.", LimitKind::Overload),
        ("Quota exceeded. Check your plan and billing details.", LimitKind::Credit),
        (
            "stream disconnected before completion: Rate limit reached for gpt-5 on tokens per min",
            LimitKind::Rate,
        ),
    ] {
        assert_eq!(of(None, text).map(|limit| limit.kind), Some(kind), "{text}");
    }
    assert_eq!(of(None, "It prints:\n```\nCredit balance is too low\n```"), None, "in a fence");
}

#[test]
fn of_a_service_s_answer_its_names_count_and_a_message_that_is_a_notice() {
    let answer = |kind: &str, message: &str| {
        serde_json::json!({"error": {"type": kind, "message": message}}).to_string()
    };
    let low = "Your credit balance is too low to access the Anthropic API.";
    for (kind, message, limit) in [
        ("invalid_request_error", low, Some(LimitKind::Credit)),
        ("insufficient_quota", "x", Some(LimitKind::Credit)),
        ("authentication_error", "x", Some(LimitKind::Auth)),
        ("invalid_request_error", "messages.3: the billing page, its access token and a quota", None),
    ] {
        let answer = answer(kind, message);
        for text in [answer.clone(), format!("API Error: {answer}"), format!("API Error: 400 {answer}")] {
            assert_eq!(of(None, &text).map(|limit| limit.kind), limit, "{text}");
        }
    }
    assert_eq!(of(None, r#"{"note":"rate_limit_error"}"#), None, "no answer of a service");
    assert_eq!(from_prose(true, &answer("overloaded_error", "x")), None, "without a tag, the agent shows it");
}

#[test]
fn gemini_s_report_is_a_notice_above_the_object_it_shows() {
    let output = |said: &str, status: u16| {
        let frames = "    at somewhere (file.js:429:16)\n".repeat(12);
        format!(
            "Error when talking to Gemini API Full report available at: /tmp/x.json {said}\n{frames}  status: {status}\n}}\n"
        )
    };
    for (said, status, kind) in [
        ("TerminalQuotaError: You have exhausted your daily quota on this model.", 429, LimitKind::Usage),
        ("RetryableQuotaError: Too many requests.", 429, LimitKind::Rate),
        ("RetryableQuotaError: The service is unavailable.", 503, LimitKind::Overload),
    ] {
        let limit = from_prose(true, &output(said, status)).expect(said);
        assert_eq!((limit.kind, limit.status), (kind, Some(status)), "{said}");
    }
    let lines = "TerminalQuotaError: You exceeded your current quota.\n* Quota exceeded for metric: requests\nPlease retry in 7.5s.";
    let limit = from_prose(true, &output(lines, 429)).expect("a limit");
    assert_eq!((limit.status, limit.reset), (Some(429), Some(Reset::After { ms: 7_500 })), "in a later line");
    let below = output("RetryableQuotaError: Too many requests.", 429) + "Please retry in 7.5s.\n";
    assert_eq!(
        from_prose(true, &below).and_then(|limit| limit.reset),
        None,
        "below the frames is not the answer"
    );
    assert_eq!(from_prose(true, &output("_ApiError: {\"error\":{\"code\":400}}", 400)), None);
    assert_eq!(
        from_prose(true, &format!("I read this:\n> {}", output("QuotaError: daily quota", 400))),
        None
    );
}

#[test]
fn on_standard_error_of_a_failed_process_any_line_that_states_a_limit_is_one() {
    use LimitKind::{Auth, Credit, Overload, Rate, Usage};
    let secs = |seconds: u64| Some(Reset::After { ms: seconds * 1000 });
    let clock = |hour, minute| Some(Reset::Clock { hour, minute, zone: None });
    let at = |seconds: i64| Some(Reset::At { time: Time::from_millis(seconds * 1000) });
    let mut wrong = Vec::new();
    for (line, kind, reset) in [
        ("Error: HTTP 429 Too Many Requests", Rate, None),
        ("Request failed with status 429", Rate, None),
        ("Request failed with status code 429", Rate, None),
        ("The API returned error 429", Rate, None),
        ("api-error: 429 response", Rate, None),
        ("anthropic.RateLimitError: Error code: 429 - {'type': 'error'}", Rate, None),
        ("Error: Rate limit exceeded for this API key", Rate, None),
        ("API rate-limit reached", Rate, None),
        ("openai API rate limit reached", Rate, None),
        ("Anthropic API rate limit exceeded, please slow down", Rate, None),
        ("Rate limit. Retry after: 45s", Rate, secs(45)),
        ("Rate limit exceeded. retry-after: 30s", Rate, secs(30)),
        ("429 Too Many Requests (retry-after: 17)", Rate, secs(17)),
        ("Rate limit hit, retry_after_seconds=12", Rate, secs(12)),
        ("Too many requests; retry-after-ms: 1500", Rate, Some(Reset::After { ms: 1500 })),
        ("Too many requests. Please wait 30 seconds before trying again.", Rate, secs(30)),
        ("Error: Too many requests in a short period", Rate, None),
        ("Error: Exceeded tokens per minute limit", Rate, None),
        ("Requests per minute limit exceeded", Rate, None),
        ("Azure service throttling request", Rate, None),
        ("Request was throttled. Expected available in 4 seconds.", Rate, secs(4)),
        ("Request limit exceeded", Rate, None),
        ("Exceeded API limit", Rate, None),
        ("Please back off and retry", Rate, None),
        ("RESOURCE_EXHAUSTED: Resource has been exhausted (e.g. check quota).", Rate, None),
        ("Error: API quota exceeded", Usage, None),
        ("quota-exceeded error", Usage, None),
        ("Your quota will reset after 5h12m3s.", Usage, secs(18_723)),
        ("You have hit your limit for today · resets 3pm", Usage, clock(15, 0)),
        ("hit your limit - resets at 3:05 PM", Usage, clock(15, 5)),
        ("You have hit the 5-hour limit. Please try again at 18:30.", Usage, clock(18, 30)),
        ("Your usage limit has been reached, try again at 3:05 PM", Usage, clock(15, 5)),
        ("usage limit reached|1794790000", Usage, at(1_794_790_000)),
        (
            "You have reached your specified API usage limits. You will regain access on 2026-12-01 at 00:00 UTC.",
            Usage,
            Some(Reset::Day { year: 2026, month: 12, day: 1, hour: 0, minute: 0, zone: Some("UTC".into()) }),
        ),
        ("Server is overloaded, please try again later", Overload, None),
        ("Error: Claude is currently overloaded. Please wait.", Overload, None),
        ("Service at capacity", Overload, None),
        ("Error: 529 {\"type\":\"overloaded_error\"}", Overload, None),
        (
            "{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}",
            Overload,
            None,
        ),
        ("OpenRouter: API status 503", Overload, None),
        ("Error: insufficient credits, add more to go on", Credit, None),
        ("402 Payment Required", Credit, None),
        ("Billing hard limit has been reached", Credit, None),
        (
            "Error: Your account is not active, please check your billing details: billing not active",
            Credit,
            None,
        ),
        ("Error: Invalid API key", Auth, None),
        ("Some prefix of a log. Rate limit exceeded for user. More.", Rate, None),
        ("[2026-11-18T12:00:01Z] ERROR provider: rate limit exceeded", Rate, None),
        ("✖ Too many requests", Rate, None),
        (
            "httpx.HTTPStatusError: Client error '429 Too Many Requests' for url 'https://api.example.com/v1'",
            Rate,
            None,
        ),
        ("An error occurred (ThrottlingException) when calling InvokeModel: Rate exceeded", Rate, None),
        ("Error 429: rate limit", Rate, None),
        (
            "Usage limit reached for 5 hour. Your limit will reset at 2026-12-01 15:00:00",
            Usage,
            Some(Reset::Day { year: 2026, month: 12, day: 1, hour: 15, minute: 0, zone: None }),
        ),
        ("402: This request requires more credits, or fewer max_tokens", Credit, None),
        ("[resource_exhausted] Error", Rate, None),
    ] {
        for output in
            [format!("{line}\n"), format!("Starting.\n\u{1b}[31m{line}\u{1b}[0m\n    at run (x.js:3:1)\n")]
        {
            let limit = from_stderr(true, &output).map(|limit| (limit.kind, limit.reset));
            if limit != Some((kind, reset.clone())) {
                wrong.push(format!("{line}: {limit:?}"));
            }
            assert_eq!(from_stderr(false, &output), None, "the process did not fail: {line}");
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    let apart = from_stderr(true, "HTTP 429 Too Many Requests\ncontent-type: text/plain\nretry-after: 9\n");
    assert_eq!(apart.and_then(|limit| limit.reset), secs(9));
}

#[test]
fn words_about_limits_on_standard_error_are_none() {
    let wrong: Vec<&str> = [
        "I added handling for 429 rate limit errors to the client.",
        "Implemented the rate limit: too many requests now get status 429.",
        "The middleware returns 429 when the rate limit is exceeded.",
        "FAILED tests/test_limits.py::test_rate_limit_exceeded - assert 429 == 200",
        "test limits::too_many_requests ... FAILED",
        "error: test failed: rate_limit_exceeded",
        "assertion failed: expected status 429, got 200",
        "TypeError: ratelimit.check is not a function",
        "import { Ratelimit } from \"@upstash/ratelimit\"",
        "ESLint: issues with stripe, @upstash/redis, @upstash/ratelimit",
        "Error: File not found",
        "Error: Network timeout",
        "Processing item 429",
        "src/limits.rs:429:5: error: expected `;`",
        "error: time limit exceeded",
        "RecursionError: recursion limit exceeded",
        "Error: context length limit exceeded",
        "Reached the iteration limit",
        "tar: Cannot write: Disk quota exceeded",
        "error: The requested URL returned error: 503",
        "curl: (22) The requested URL returned error: 429",
        "HTTP 503 from the staging server",
        "retry limit reached for tests",
        "The overloaded operator has no matching function",
        "error: ambiguous overloaded call to `add(i32)`",
        "The tests for the billing page pass; credit balance is a method.",
        "    Rate limit exceeded",
        "> Rate limit exceeded",
        "the text `Rate limit exceeded` is shown",
        "throttled() is called twice",
        "Rate limit: 100 calls per hour",
        "Daily limit: 50 runs",
        "bash: fork: retry: Resource temporarily unavailable",
        "warning: the overloaded operator+ must have at least one parameter",
        "Rate limit reached, retrying in 2s (attempt 1 of 5)",
    ]
    .into_iter()
    .filter(|line| from_stderr(true, line).is_some())
    .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    let early = format!("Rate limit exceeded\n{}", "Reading the next file.\n".repeat(20));
    assert_eq!(from_stderr(true, &early), None, "it went on");
}

#[test]
fn a_limit_is_stored_with_how_it_ends() {
    let limit = of(Some(429), "5-hour limit reached ∙ resets 3pm (UTC)").expect("a limit");
    let json = serde_json::to_string(&limit).expect("plain data");
    assert!(json.contains(r#""kind":"usage""#) && json.contains(r#""how":"clock","hour":15"#), "{json}");
    assert_eq!(serde_json::from_str::<Limit>(&json).expect("the same"), limit);
}

#[test]
fn a_wait_of_a_hundred_million_years_is_no_reset() {
    assert_eq!(reset_in("try again in 20000000000000000 "), None);
    assert_eq!(reset_in("try again in 99999999999999999999999 hours"), None);
}

proptest::proptest! {
    #[test]
    fn any_output_is_read_without_a_panic(text in "(resets |try again in |at |\\||[0-9]{1,12}|API Error: |limit reached|:|am|pm|[ -~]|é|\n){0,30}") {
        let _ = (status_in(&text), reset_in(&text), of(None, &text), from_prose(true, &text));
    }
}
