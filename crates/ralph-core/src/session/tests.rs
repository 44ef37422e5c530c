use super::*;

fn arm() -> Arm {
    Arm { run: 1, armed_at: Time::from_millis(1_000), session: None, others: vec![] }
}

#[test]
fn only_the_session_that_is_bound_is_held() {
    let bound = arm().bound("a");
    assert_eq!(bound.stops("a", None), Whose::Held);
    assert_eq!(bound.stops("b", Some(Time::from_millis(2_000))), Whose::Other);
    assert_eq!(bound.starts("b", Some("startup")), Whose::Other);
}

#[test]
fn the_next_session_is_one_that_started_after_arming() {
    let later = Some(Time::from_millis(1_001));
    assert_eq!(arm().stops("new", later), Whose::Next);
    assert_eq!(arm().stops("old", Some(Time::from_millis(999))), Whose::Other);
    assert_eq!(arm().stops("unknown", None), Whose::Other, "it may have been open before");
    assert_eq!(arm().starts("new", Some("startup")), Whose::Next);
    for source in [Some("resume"), Some("clear"), Some("compact"), None] {
        assert_eq!(arm().starts("old", source), Whose::Other, "{source:?}");
    }
    assert_eq!(arm().passed_over("cleared").stops("cleared", later), Whose::Other);
}

#[test]
fn what_a_hook_is_told_is_read_whatever_else_is_in_it() {
    let told =
        Told::read(br#"{"session_id":"s","transcript_path":null,"turn_id":"t","background_tasks":[]}"#);
    assert_eq!(told.map(|told| (told.session_id, told.transcript_path)), Ok(("s".into(), None)));
    for bad in [&b""[..], b"{", b"[]", b"{}", b"{\"session_id\":7}", b"\xff"] {
        assert!(Told::read(bad).is_err(), "{bad:?}");
    }
}

#[test]
fn an_answer_has_no_property_that_codex_refuses() {
    let block = Answer::Block { reason: "go \"on\"\n".into(), message: "1/5".into() };
    let line = block.line().expect("a line");
    let value: Value = serde_json::from_str(&line).expect("JSON");
    assert_eq!(value, json!({"decision": "block", "reason": "go \"on\"\n", "systemMessage": "1/5"}));
    assert!(!line.contains('\n'));
    assert_eq!(Answer::Nothing.line(), None);
}

#[test]
fn a_transcript_s_lines_are_told_apart_by_their_time() {
    let old = br#"{"type":"assistant","timestamp":"2026-01-01T00:00:00.000Z","message":{}}"#;
    let new = br#"{"message":{"toolUseResult":{"timestamp":"2020-01-01T00:00:00Z"}},"timestamp":"2026-01-02T00:00:00.000Z"}"#;
    let bare = br#"{"type":"summary"}"#;
    let tail = [&old[..], new, bare].join(&b"\n"[..]);
    let since = Time::parse("2026-01-01T12:00:00Z").expect("a time");
    let lines = lines_since(&tail, true, since);
    assert_eq!(lines.len(), 1);
    assert!(lines[0].starts_with(new));
    assert_eq!(lines_since(&tail[30..], false, Time::from_millis(0)).len(), 1, "half a line is none");
    assert_eq!(first_moment(&tail), Time::parse("2026-01-01T00:00:00Z"));
    assert_eq!(first_moment(b"\"timestamp\":\"x"), None);
}
