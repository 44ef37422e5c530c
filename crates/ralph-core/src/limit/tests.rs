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
