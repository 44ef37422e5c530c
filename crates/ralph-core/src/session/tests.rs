use super::*;

fn arm() -> Arm {
    Arm { run: 1, armed_at: Time::from_millis(1_000), session: None }
}

/// A session starts after all of this was armed.
fn starts(arm: &Arm, session: &str, source: Option<&str>) -> Whose {
    arm.starts(session, source, Time::from_millis(i64::MAX))
}

#[test]
fn only_the_session_that_is_bound_is_held() {
    let bound = arm().bound("a");
    assert_eq!(bound.stops("a"), Whose::Held);
    assert_eq!(bound.stops("b"), Whose::Other);
    assert_eq!(starts(&bound, "b", Some("startup")), Whose::Other);
}

#[test]
fn the_next_session_is_the_one_whose_start_is_told() {
    assert_eq!(starts(&arm(), "new", Some("startup")), Whose::Next);
    for source in [Some("resume"), Some("clear"), Some("compact"), None] {
        assert_eq!(starts(&arm(), "old", source), Whose::Other, "{source:?}");
    }
    assert_eq!(arm().stops("somebody"), Whose::Other, "it may have been open before");
}

#[test]
fn a_session_whose_name_was_made_before_arming_is_not_the_next_one() {
    let made = Time::parse("2026-11-17T04:17:46.666Z").expect("a time");
    let session = "01a1e7b9-a8aa-7513-ad2a-b62b7294a078";
    for (armed_at, whose) in [(0, Whose::Next), (1, Whose::Other)] {
        let armed_at = Time::from_millis(made.millis() + armed_at);
        assert_eq!(starts(&Arm { armed_at, ..arm() }, session, Some("startup")), whose, "{armed_at}");
    }
    let late = Arm { armed_at: made, ..arm() };
    // Version 4, as Claude Code has it, tells nothing, and neither does any other name.
    for other in ["01a1e7b0-a8aa-4513-ad2a-b62b7294a078", "01a1e7b0-a8aa-7513", "-", "", "\u{e4}-b-7-d-e"] {
        assert_eq!(starts(&late, other, Some("startup")), Whose::Next, "{other}");
    }
}

#[test]
fn a_session_whose_hook_was_fired_before_arming_is_not_the_next_one() {
    for (fired_at, whose) in [(999, Whose::Other), (1_000, Whose::Next), (1_001, Whose::Next)] {
        assert_eq!(arm().starts("s", Some("startup"), Time::from_millis(fired_at)), whose, "{fired_at}");
    }
    let bound = arm().bound("s");
    assert_eq!(bound.starts("s", Some("startup"), Time::from_millis(999)), Whose::Held, "it was named");
}

#[test]
fn a_stop_is_taken_up_while_its_words_are_judged_and_when_they_were() {
    use crate::machine::tests::{DONE, Sim, plan};
    let mut sim = Sim::new(plan(&["make test"]));
    assert!(!is_taken_up(&sim.state, sim.now), "nothing was heard yet");
    sim.work(DONE, 1);
    let current = sim.state.current.as_ref().expect("an iteration");
    let ended = current.ended.as_ref().expect("its words");
    let heard = current.started_at.expect("its start").plus(ended.duration_ms);
    let is_taken_up = |sim: &Sim, after_ms: i64| {
        let fired_at = Time::from_millis(heard.millis() + after_ms);
        super::is_taken_up(&sim.state, fired_at)
    };
    for at_its_checks in [true, false] {
        for (after_ms, taken_up) in [(-60_000, true), (0, true), (5_000, true), (5_001, false)] {
            assert_eq!(is_taken_up(&sim, after_ms), taken_up, "{at_its_checks} {after_ms}");
        }
        if at_its_checks {
            sim.check(1);
            assert!(sim.state.current.as_ref().is_none_or(|next| next.ended.is_none()), "it was refused");
        }
    }
}

#[test]
fn what_an_earlier_ralph_wrote_about_other_sessions_is_passed_over() {
    let old = r#"{"run":1,"armed_at":"1970-01-01T00:00:01.000Z","session":null,"others":["a"]}"#;
    assert_eq!(serde_json::from_str::<Arm>(old).ok(), Some(arm()));
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
}

#[test]
fn what_a_session_used_is_counted_once_however_late_it_is_written_down() {
    let line = |id: &str, at: i64, tokens: u64| {
        let (at, usage) = (Time::from_millis(at), json!({"input_tokens": tokens, "output_tokens": 1}));
        let message = json!({"id": id, "role": "assistant", "content": [], "usage": usage});
        format!("{}\n", json!({"type": "assistant", "message": message, "timestamp": at.to_string()}))
    };
    let began = Time::from_millis(1_000);
    let used = |text: &str, whole: bool, known: Usage| used_since(text.as_bytes(), whole, began, known);
    let (before, one, two) = (line("a", 500, 7), line("b", 1_500, 10), line("c", 2_500, 20));
    let none = Usage::default();
    let first = used(&before, true, none).expect("all of it");
    assert_eq!(first, none, "what was before is not the run's");
    let second = used(&format!("{before}{one}{one}{two}"), true, none).expect("all of it");
    assert_eq!((second.input, second.output), (30, 2), "also what the stop before did not find");
    assert_eq!(used(&format!("{before}{one}{two}"), true, second), Some(none), "and not again");
    let cut = format!("half a line\n{before}{one}");
    assert_eq!(used(&cut, false, none).map(|used| used.input), Some(10), "it goes back far enough");
    assert_eq!(used(&format!("half a line\n{one}{two}"), false, none), None, "nobody can tell");
}
