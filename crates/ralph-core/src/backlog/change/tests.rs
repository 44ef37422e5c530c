//! Changes dialect by dialect: exactly these bytes, or exactly this refusal.

use super::*;
use crate::backlog::tests::FEATURES;
use crate::backlog::{Attempt, Outcome, Syntax};

fn changed(text: &str, syntax: Syntax, change: &Change) -> Result<String, Refusal> {
    Ok(Backlog::read(text, syntax)?.change(change)?.text)
}

fn state(id: &str, to: State) -> Change {
    Change::State { id: id.into(), to, at: None }
}

/// What an edit did: the part that went, and the part that came.
fn difference<'a>(old: &'a str, new: &'a str) -> (&'a str, &'a str) {
    let start = old.bytes().zip(new.bytes()).take_while(|(a, b)| a == b).count();
    let most = old.len().min(new.len()) - start;
    let end = old.bytes().rev().zip(new.bytes().rev()).take(most).take_while(|(a, b)| a == b).count();
    (&old[start..old.len() - end], &new[start..new.len() - end])
}

fn attempt(outcome: Outcome) -> Attempt {
    Attempt {
        run_id: None,
        at: Time::parse("2026-11-16T08:00:00Z").expect("a time"),
        outcome,
        commands: vec!["make test".into()],
        summary: Some("12 \"green\"".into()),
        commit: Some("abc".into()),
        reverted: false,
        failure_reason: None,
        investigation: None,
        files_changed: None,
    }
}

#[test]
fn at_somebody_else_s_limit_a_note_is_left_where_there_is_a_place_and_a_reset_takes_it_out() {
    let blocked = |id: &str| Change::Increment {
        id: id.into(),
        block_on_max: true,
        override_reason: Some("five tries".into()),
    };
    let reset = || Change::Reset { id: "a".into() };
    for (text, with) in [
        ("tasks:\n  - id: a\n    notes: mine\n", "\"mine\\nMax iterations reached, human review required\""),
        ("tasks:\n  - id: a\n    status: todo\n", "notes: Max iterations reached, human review required"),
    ] {
        let noted = changed(text, Syntax::Yaml, &blocked("a")).expect("a note");
        assert!(noted.contains(with), "{noted}");
        assert_eq!(changed(&noted, Syntax::Yaml, &blocked("a")).as_ref(), Ok(&noted), "once");
        let back = changed(&noted, Syntax::Yaml, &reset()).expect("a reset");
        assert!(!back.contains("Max iterations"), "{back}");
    }
    let story = r#"{"userStories":[{"id":"a","passes":false,"notes":""}]}"#;
    let noted = changed(story, Syntax::Json, &blocked("a")).expect("a note");
    assert_eq!(difference(story, &noted), ("", "Max iterations reached, human review required"));
    for (text, syntax) in [
        ("- [ ] a\n", Syntax::Markdown),
        (r#"[{"description":"a","passes":false}]"#, Syntax::Json),
        ("tasks:\n  - id: a\n    notes: [b]\n", Syntax::Yaml),
    ] {
        let id = Backlog::read(text, syntax).expect("readable").items()[0].id.to_string();
        let refused = changed(text, syntax, &blocked(&id));
        assert!(matches!(refused, Err(Refusal::NoPlace { .. })), "{text}: {refused:?}");
    }
    let counted = Change::Increment { id: "a".into(), block_on_max: false, override_reason: None };
    let refused = changed("tasks:\n  - id: a\n", Syntax::Yaml, &counted);
    assert!(matches!(refused, Err(Refusal::NoPlace { .. })), "nobody asked for a note: {refused:?}");
}

#[test]
fn each_dialect_gets_its_own_words_and_nothing_else_changes() {
    use State::{Blocked, Done, InProgress, Open};
    for (syntax, text, id, to, gone, came) in [
        (
            Syntax::Yaml,
            "tasks:\n  - id: a # x\n    status: \"todo\" # y\n",
            "a",
            InProgress,
            "todo",
            "in-progress",
        ),
        (Syntax::Yaml, "tasks:\r\n- id: a\r\n  status: 'todo'\r\n", "a", Blocked, "todo", "blocked"),
        (Syntax::Yaml, "tasks: [{id: a, status: todo}]", "a", Done, "todo", "done"),
        (Syntax::Yaml, "tasks: [{\"id\": \"a\"}]", "a", Done, "", ", \"status\": \"done\""),
        (Syntax::Yaml, "tasks:\n  - id: a", "a", Done, "", "\n    status: done"),
        (Syntax::Yaml, "tasks:\n  - id: a\n    status:\n  - id: b\n", "a", Done, "", " done"),
        (Syntax::Yaml, "tasks:\n  - title: a\n    completed: false\n", "a", Done, "false", "true"),
        (Syntax::Json, r#"{"userStories":[{"id":"a","passes":false}]}"#, "a", Done, "false", "true"),
        (
            Syntax::Json,
            r#"{"userStories":[{"id":"a","status":"pending"}]}"#,
            "a",
            InProgress,
            "pending",
            "in_progress",
        ),
        (Syntax::Json, r#"{"userStories":[{"id":"a"}]}"#, "a", Done, "", ",\"passes\":true"),
        (Syntax::Json, r#"{"stories":[{"id":"a","status":"open"}]}"#, "a", Done, "open", "done"),
        (Syntax::Json, r#"[{"id":"a","passes":true}]"#, "a", Open, "true", "false"),
        (Syntax::Markdown, "- [ ] a", "af63dc4c", InProgress, " ", "/"),
    ] {
        let backlog = Backlog::read(text, syntax).expect("a backlog");
        let id = if syntax == Syntax::Markdown { &*backlog.items()[0].id } else { id };
        let new = changed(text, syntax, &state(id, to)).unwrap_or_else(|refusal| panic!("{text}: {refusal}"));
        // `todo` and `done` share letters: compare with what stands around them.
        let at = if gone.is_empty() { None } else { text.rfind(gone) };
        match at {
            Some(at) if syntax != Syntax::Markdown => {
                assert_eq!(new, format!("{}{came}{}", &text[..at], &text[at + gone.len()..]), "{text}");
            }
            _ => assert_eq!(difference(text, &new), (gone, came), "{text}"),
        }
        assert_eq!(Backlog::read(&new, syntax).expect("a backlog").items()[0].state, to);
    }
}

#[test]
fn both_fields_change_where_a_story_has_both_and_times_where_there_are_some() {
    let text = r#"{"userStories":[{"id":"a","status":"pending","passes":false}]}"#;
    let new = changed(text, Syntax::Json, &state("a", State::Done)).expect("changed");
    assert_eq!(new, r#"{"userStories":[{"id":"a","status":"completed","passes":true}]}"#);
    let text = r#"{"stories":[{"id":"a","status":"open","startedAt":null}]}"#;
    let at = Time::parse("2026-11-16T08:00:00Z");
    let new = changed(text, Syntax::Json, &Change::State { id: "a".into(), to: State::InProgress, at });
    let expected =
        r#"{"stories":[{"id":"a","status":"in_progress","startedAt":"2026-11-16T08:00:00.000Z"}]}"#;
    assert_eq!(new.expect("changed"), expected);
}

#[test]
fn what_is_so_already_needs_no_edit() {
    let backlog = Backlog::read(FEATURES, Syntax::Json).expect("a backlog");
    let same = backlog.change(&state("FEAT-2", State::Open)).expect("fine");
    assert!(same.edits.is_empty() && same.text == FEATURES);
}

#[test]
fn an_attempt_is_added_at_the_end_in_the_way_the_file_is_written() {
    let text = "{\n  \"items\": [\n    {\n      \"id\": \"A\",\n      \"attempts\": []\n    }\n  ]\n}\n";
    let once =
        changed(text, Syntax::Json, &Change::Attempt { id: "A".into(), attempt: attempt(Outcome::Passed) });
    let once = once.expect("changed");
    let expected = "[\n        {\n          \"run_id\": \"worker-001\",\n          \"timestamp\": \"2026-11-16T08:00:00.000Z\",\n          \"result\": \"PASSED\",\n          \"evidence\": {\n            \"commands_run\": [\n              \"make test\"\n            ],\n            \"results_summary\": \"12 \\\"green\\\"\"\n          },\n          \"commit\": \"abc\",\n          \"reverted\": false\n        }\n      ]";
    assert_eq!(once, text.replace("[]", expected));
    let failed = Attempt {
        failure_reason: Some("slow".into()),
        investigation: Some("cache".into()),
        reverted: true,
        commit: None,
        ..attempt(Outcome::Failed)
    };
    let twice =
        changed(&once, Syntax::Json, &Change::Attempt { id: "A".into(), attempt: failed }).expect("changed");
    assert!(twice.contains("\"run_id\": \"worker-002\"") && twice.contains("\"commit\": null"), "{twice}");
    assert!(twice.contains("        },\n        {\n          \"run_id\": \"worker-002\""), "{twice}");
    assert!(twice.contains(
        "\"reverted\": true,\n          \"failure_reason\": \"slow\",\n          \"investigation\": \"cache\""
    ));
    let compact = r#"{"items":[{"id":"A"}]}"#;
    let new = changed(
        compact,
        Syntax::Json,
        &Change::Attempt { id: "A".into(), attempt: attempt(Outcome::InProgress) },
    );
    assert!(
        new.expect("changed")
            .starts_with(r#"{"items":[{"id":"A","attempts":[{"run_id":"worker-001","timestamp":"#)
    );
}

#[test]
fn an_attempt_never_changes_the_status() {
    let new = changed(
        FEATURES,
        Syntax::Json,
        &Change::Attempt { id: "FEAT-2".into(), attempt: attempt(Outcome::Passed) },
    );
    let new = new.expect("changed");
    let backlog = Backlog::read(&new, Syntax::Json).expect("a backlog");
    assert_eq!((backlog.items()[0].state, backlog.attempts(0).len()), (State::Open, 1));
    let proved = changed(&new, Syntax::Json, &state("FEAT-2", State::Done)).expect("evidence is there");
    let limit = Backlog::read(&proved, Syntax::Json).expect("a backlog").items()[0].limit;
    assert_eq!(limit, Some(Limit { used: 1, max: 5 }), "the count stays: it shows the effort");
}

#[test]
fn the_count_goes_up_and_blocks_only_where_asked_and_with_a_reason() {
    let increment = |text: &str, block_on_max, reason: Option<&str>| {
        let backlog = Backlog::read(text, Syntax::Json).expect("a backlog");
        let override_reason = reason.map(ToOwned::to_owned);
        backlog.change(&Change::Increment { id: "FEAT-2".into(), block_on_max, override_reason })
    };
    let one = increment(FEATURES, true, None).expect("changed");
    assert_eq!(difference(FEATURES, &one.text), ("1", "2"));
    assert_eq!(one.incremented, Some(Incremented { limit: Limit { used: 2, max: 5 }, blocked: false }));
    let near = FEATURES.replace("\"current_iteration\": 1", "\"current_iteration\": 4");
    let warned = increment(&near, false, None).expect("changed");
    assert_eq!(difference(&near, &warned.text), ("4", "5"), "without the flag the status stays");
    assert_eq!(increment(&near, true, None).unwrap_err(), Refusal::ReasonNeeded("FEAT-2".into()));
    assert_eq!(increment(&near, true, Some(" ")).unwrap_err(), Refusal::ReasonNeeded("FEAT-2".into()));
    let blocked = increment(&near, true, Some("five times the same")).expect("changed");
    assert_eq!(blocked.incremented.map(|told| told.blocked), Some(true));
    let backlog = Backlog::read(&blocked.text, Syntax::Json).expect("a backlog");
    let value = backlog.value(0);
    assert_eq!(
        (&value["status"], &value["override_reason"], &value["notes"]),
        (&"BLOCKED".into(), &"five times the same".into(), &AT_LIMIT.into())
    );
    let reset = backlog.change(&Change::Reset { id: "FEAT-2".into() }).expect("changed");
    let item = &Backlog::read(&reset.text, Syntax::Json).expect("a backlog").items()[0].clone();
    assert_eq!((item.state, item.limit), (State::Open, Some(Limit { used: 0, max: 5 })));
}

#[test]
fn a_reset_takes_out_the_note_of_the_limit_and_nobody_else_s() {
    let reset = |notes: &str, reason: &str| {
        let text = FEATURES
            .replace("\"notes\": \"\"", &format!("\"notes\": \"{notes}\""))
            .replace("\"override_reason\": null", &format!("\"override_reason\": \"{reason}\""));
        let text = changed(&text, Syntax::Json, &Change::Reset { id: "FEAT-2".into() }).expect("changed");
        let value = Backlog::read(&text, Syntax::Json).expect("a backlog").value(0);
        (value["notes"].as_str().map(str::to_owned), value["override_reason"].as_str().map(str::to_owned))
    };
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(reset(AT_LIMIT, AT_LIMIT), (some(""), None));
    assert_eq!(reset(&format!("mine\\n{AT_LIMIT}"), "my reason"), (some("mine"), some("my reason")));
    let own = format!("not {AT_LIMIT}");
    assert_eq!(reset(&own, &own), (some(&own), some(&own)));
}

#[test]
fn a_new_item_is_written_as_its_dialect_has_them() {
    let add = |id: Option<&str>, depends: &[&str]| {
        Change::Add(NewItem {
            id: id.map(Into::into),
            title: "New: one".into(),
            dependencies: depends.iter().map(|id| (*id).into()).collect(),
            ..NewItem::default()
        })
    };
    let text = "tasks:\n  - id: \"a\"\n    title: \"A\"\n    notes: |\n      x\n\n# the end\n";
    let new = changed(text, Syntax::Yaml, &add(None, &["a"])).expect("changed");
    assert!(new.contains("  - id: \"new-one\"\n    title: \"New: one\"\n    priority: \"medium\"\n    status: \"todo\"\n    dependencies:\n      - \"a\"\n"), "{new}");
    assert!(
        new.ends_with("# the end\n")
            && new.starts_with("tasks:\n  - id: \"a\"\n    title: \"A\"\n    notes: |\n      x\n")
    );
    for empty in ["tasks: []\n", "tasks:\n", "project: x\ntasks:"] {
        let new = changed(empty, Syntax::Yaml, &add(None, &[]))
            .unwrap_or_else(|refusal| panic!("{empty}: {refusal}"));
        assert!(
            new.contains("tasks:") && new.contains("\n  - id: \"new-one\"\n    title: \"New: one\"\n"),
            "{new}"
        );
    }
    let new = changed(FEATURES, Syntax::Json, &add(Some("FEAT-3"), &["FEAT-2"])).expect("changed");
    let backlog = Backlog::read(&new, Syntax::Json).expect("a backlog");
    let last = backlog.items().last().expect("one");
    assert_eq!((&*last.id, last.enabled, last.limit), ("FEAT-3", true, Some(Limit { used: 0, max: 5 })));
    let list = "1. [x] a\n2. [ ] b\n   more\n\nEnd.\n";
    let new = changed(list, Syntax::Markdown, &add(None, &[])).expect("changed");
    assert_eq!(new, "1. [x] a\n2. [ ] b\n   more\n3. [ ] New: one\n\nEnd.\n");
    assert_eq!(
        changed("# Plan", Syntax::Markdown, &add(None, &[])).expect("changed"),
        "# Plan\n- [ ] New: one\n"
    );
    let stories = r#"{"userStories": []}"#;
    let new = changed(stories, Syntax::Json, &add(None, &[])).expect("changed");
    assert!(new.starts_with(r#"{"userStories": [{"id": "new-one", "title": "New: one""#), "{new}");
}

fn titled(priority: Option<&str>) -> Change {
    Change::Add(NewItem { title: "new".into(), priority: priority.map(Into::into), ..NewItem::default() })
}

#[test]
fn a_new_box_is_nobody_s_part_and_goes_where_its_priority_is() {
    for (list, priority, expected) in [
        (
            "- [ ] a\n  - [ ] b\n    of b\n  of a\nEnd.\n",
            None,
            "- [ ] a\n  - [ ] b\n    of b\n  of a\n- [ ] new\nEnd.\n",
        ),
        ("3. [ ] a\n   1. [ ] b", None, "3. [ ] a\n   1. [ ] b\n4. [ ] new"),
        ("- [ ] a\n## Other\n  * [ ] b\n", None, "- [ ] a\n## Other\n  * [ ] b\n  * [ ] new\n"),
        (
            "## High\n- [ ] a\n\n## Low\n- [ ] b\n",
            Some("high"),
            "## High\n- [ ] a\n- [ ] new\n\n## Low\n- [ ] b\n",
        ),
        ("## High\n\n## Low\n- [ ] b\n", Some("1"), "## High\n\n- [ ] new\n\n## Low\n- [ ] b\n"),
        ("## Low\r\n- [ ] b\r\n## High", Some("High"), "## Low\r\n- [ ] b\r\n## High\r\n\r\n- [ ] new\r\n"),
        ("## High\ntext\n", Some("high"), "## High\n\n- [ ] new\ntext\n"),
        ("- [ ] a\n## Low\n- [ ] b\n", Some("medium"), "- [ ] a\n- [ ] new\n## Low\n- [ ] b\n"),
    ] {
        let new = changed(list, Syntax::Markdown, &titled(priority))
            .unwrap_or_else(|why| panic!("{list:?}: {why}"));
        assert_eq!(new, expected);
    }
    for (list, word, message) in [
        ("## Low\n- [ ] b\n", "high", "no heading of this checklist stands for the priority high"),
        ("- [ ] b\n", "soon", "'soon' is no priority here"),
    ] {
        let refusal = changed(list, Syntax::Markdown, &titled(Some(word))).expect_err(message);
        assert_eq!(refusal.to_string(), message);
    }
}

#[test]
fn dependencies_of_a_new_item_are_written_as_those_of_the_others() {
    let add = |id: &str| {
        Change::Add(NewItem { title: "new".into(), dependencies: vec![id.into()], ..NewItem::default() })
    };
    for (stories, expected) in [
        (r#"{"userStories":[{"id":"a"},{"id":"b","dependencies":[]}]}"#, r#""dependencies":["a"]"#),
        (
            r#"{"userStories":[{"id":"a","dependencies":{"depends_on":[],"blocks":[]}}]}"#,
            r#""dependencies":{"depends_on":["a"],"blocks":[]}"#,
        ),
        (r#"{"userStories":[{"id":"a"}]}"#, r#""dependsOn":["a"]"#),
    ] {
        let new = changed(stories, Syntax::Json, &add("a")).expect("changed");
        assert!(new.replace(' ', "").contains(expected), "{new}");
        assert_eq!(
            Backlog::read(&new, Syntax::Json).expect("a backlog").items().last().expect("one").dependencies,
            ["a"]
        );
    }
}

#[test]
fn the_first_task_leaves_neither_a_space_nor_a_comment_elsewhere() {
    for (list, expected) in [
        ("tasks: []\n", "tasks:\n  - id: \"new\"\n"),
        ("tasks:   [ ]  # none yet\r\n", "tasks:  # none yet\r\n  - id: \"new\"\r\n"),
        ("tasks: ~", "tasks:\n  - id: \"new\"\n"),
    ] {
        let new = changed(list, Syntax::Yaml, &titled(None)).expect("changed");
        assert!(new.starts_with(expected), "{new:?}");
    }
    assert!(changed("{tasks: []}", Syntax::Yaml, &titled(None)).is_err(), "what cannot be done is refused");
}

#[test]
fn a_truth_value_beside_the_word_changes_with_it() {
    let text = r#"{"items":[{"id":"a","status":"PASSING","passes":true}]}"#;
    let new = changed(text, Syntax::Json, &state("a", State::Open)).expect("changed");
    assert_eq!(new, r#"{"items":[{"id":"a","status":"FAILING","passes":false}]}"#);
}

#[test]
fn a_date_where_a_truth_value_could_stand_is_left_as_it_is() {
    let text = r#"{"items":[{"id":"a","status":"CANCELLED","completed":"2026-01-02"}]}"#;
    let new = changed(text, Syntax::Json, &state("a", State::Open)).expect("changed");
    assert_eq!(new, r#"{"items":[{"id":"a","status":"FAILING","completed":"2026-01-02"}]}"#);
}

#[test]
fn a_ticked_box_is_not_reset_and_what_a_dialect_cannot_say_is_known_beforehand() {
    let reset = Change::Reset {
        id: Backlog::read("- [x] a\n", Syntax::Markdown).expect("one").items()[0].id.to_string(),
    };
    let refusal = changed("- [x] a\n", Syntax::Markdown, &reset).expect_err("done");
    assert!(refusal.to_string().ends_with("is done: a reset is for what is open or blocked"), "{refusal}");
    assert_eq!(changed("- [/] a\n", Syntax::Markdown, &reset).expect("changed"), "- [ ] a\n");
    for (syntax, text, can) in [
        (Syntax::Markdown, "- [ ] a\n", false),
        (Syntax::Json, r#"{"userStories":[{"id":"a","passes":false}]}"#, false),
        (Syntax::Json, r#"{"userStories":[{"id":"a","status":"pending"}]}"#, true),
        (Syntax::Yaml, "tasks: [{id: a}]", true),
    ] {
        assert_eq!(Backlog::read(text, syntax).expect("a backlog").can_say(0, State::Blocked), can, "{text}");
    }
}

#[test]
fn each_refusal_says_its_own_reason() {
    let add = |id: &str, depends: &[&str]| {
        Change::Add(NewItem {
            id: Some(id.into()),
            title: "T".into(),
            dependencies: depends.iter().map(|id| (*id).into()).collect(),
            ..NewItem::default()
        })
    };
    let passed = |commands: &[&str], summary: Option<&str>| Change::Attempt {
        id: "FEAT-2".into(),
        attempt: Attempt {
            commands: commands.iter().map(|c| (*c).into()).collect(),
            summary: summary.map(Into::into),
            ..attempt(Outcome::Passed)
        },
    };
    let twice = FEATURES.replace("\"OLD\"", "\"FEAT-2\"");
    let waits = FEATURES.replace("[\"FEAT-1\"]", "[\"FEAT-9\"]");
    for (text, change, message) in [
        (FEATURES, state("FEAT-7", State::Done), "there is no item FEAT-7"),
        (&twice, state("FEAT-2", State::Blocked), "there are several items with the id FEAT-2"),
        (FEATURES, add("FEAT-1", &[]), "there is an item FEAT-1 already"),
        (FEATURES, add("FEAT-9", &["FEAT-8"]), "FEAT-9 depends on FEAT-8, which is not in the file"),
        (
            FEATURES,
            add("FEAT-9", &["FEAT-9"]),
            "items would depend on each other in a ring: FEAT-9 -> FEAT-9",
        ),
        (
            &waits,
            add("FEAT-9", &["FEAT-2"]),
            "items would depend on each other in a ring: FEAT-2 -> FEAT-9 -> FEAT-2",
        ),
        (
            FEATURES,
            state("OLD", State::Done),
            "OLD is cancelled, and cannot become done (PASSING) from there",
        ),
        (
            FEATURES,
            state("FEAT-1", State::Blocked),
            "FEAT-1 is done (PASSING), and cannot become blocked from there",
        ),
        (FEATURES, state("FEAT-2", State::InProgress), "a feature list has no state 'in_progress'"),
        (
            FEATURES,
            state("FEAT-2", State::Done),
            "FEAT-2 cannot become done (PASSING): it has no PASSED attempt",
        ),
        (FEATURES, passed(&[], Some("x")), "PASSED needs evidence: --commands is missing"),
        (FEATURES, passed(&["make"], None), "PASSED needs evidence: --summary is missing"),
        (
            FEATURES,
            Change::Reset { id: "FEAT-1".into() },
            "FEAT-1 is done (PASSING): a reset is for what is open or blocked",
        ),
    ] {
        let refusal = changed(text, Syntax::Json, &change).expect_err(message);
        assert_eq!(refusal.to_string(), message);
    }
    let yaml = "tasks:\n  - id: a\n    status: todo\n";
    let refusal =
        changed(yaml, Syntax::Yaml, &Change::Attempt { id: "a".into(), attempt: attempt(Outcome::Failed) });
    assert_eq!(refusal.unwrap_err().to_string(), "a task list has no place for attempts");
    let folded = "tasks:\n  - id: a\n    status: >\n      todo\n";
    let refusal = changed(folded, Syntax::Yaml, &state("a", State::Done)).unwrap_err();
    assert!(refusal.to_string().ends_with("its value runs over several lines"), "{refusal}");
    let tagged = "tasks:\n  - id: a\n    status: !!str todo\n";
    assert!(
        changed(tagged, Syntax::Yaml, &state("a", State::Done))
            .is_ok_and(|new| new == tagged.replace("todo", "\"done\""))
    );
}

#[test]
fn a_value_behind_an_alias_changes_where_it_is_used_only() {
    let text = "open: &open todo\ntasks:\n  - id: a\n    status: *open\n  - id: b\n    status: *open\n";
    let new = changed(text, Syntax::Yaml, &state("a", State::Done)).expect("changed");
    assert_eq!(new, text.replacen("*open", "done", 1));
}

#[test]
fn an_item_is_proved_where_it_stands_only_if_nothing_around_it_changes() {
    let text = r#"[{"id":"a","passes":false},{"description":"x","passes":false},{"description":"x","passes":false}]"#;
    let backlog = Backlog::read(text, Syntax::Json).expect("read");
    let value = |passes: bool| serde_json::json!({"id": "a", "passes": passes});
    let proves = |new: &str, edit: Edit, expected: &serde_json::Value| {
        backlog.prove_in_place(new, 0, &[edit], expected).map(|proof| proof.is_ok())
    };
    let (at, new) = (text.find("false").expect("there"), text.replacen("false", "true", 1));
    let edit = Edit::replace(at..at + 5, "true");
    assert_eq!(proves(&new, edit.clone(), &value(true)), Some(true));
    assert_eq!(proves(&new, edit.clone(), &value(false)), Some(false), "another meaning");
    let elsewhere = new.replacen("\"x\"", "\"y\"", 1);
    assert_eq!(proves(&elsewhere, edit.clone(), &value(true)), None, "another item changed");
    let broken = text.replacen("false", "true}", 1);
    assert_eq!(proves(&broken, edit, &value(true)), None, "it is no whole item any more");
    assert_eq!(proves(&new, Edit::replace(1..at + 5, ""), &value(true)), None, "an edit of its edge");
    // An id that is made of the text depends on the items before: there the whole file is read again.
    let second = backlog.items()[2].id.clone().into_owned();
    let new = changed(text, Syntax::Json, &state(&second, State::Done)).expect("changed");
    assert_eq!(difference(text, &new), ("fals", "tru"));
    assert!(new.ends_with("true}]"), "{new}");
}

/// The items of a list beside one that says nothing of its state.
fn beside(list: &str, other: &str) -> String {
    format!("{{\"{list}\": [{{\"id\": \"a\", {other}}}, {{\"id\": \"b\", \"title\": \"Do: b\"}}]}}")
}

#[test]
fn an_item_that_says_nothing_of_its_state_is_told_as_the_others_of_its_file() {
    for (list, other, with) in [
        ("tasks", "\"completed\": false", "\"completed\": true"),
        ("tasks", "\"passes\": false", "\"passes\": true"),
        ("tasks", "\"status\": \"todo\"", "\"status\": \"done\""),
        ("tasks", "\"priority\": 1", "\"status\": \"done\""),
        ("stories", "\"passes\": false", "\"passes\": true"),
        ("stories", "\"priority\": 1", "\"status\": \"done\""),
        ("userStories", "\"status\": \"pending\"", "\"status\": \"completed\""),
        ("userStories", "\"completed\": false", "\"completed\": true"),
        (
            "userStories",
            "\"status\": \"pending\", \"passes\": false",
            "\"status\": \"completed\", \"passes\": true",
        ),
        ("userStories", "\"priority\": 1", "\"passes\": true"),
        ("features", "\"passes\": false", "\"passes\": true"),
    ] {
        let text = beside(list, other);
        let new = changed(&text, Syntax::Json, &state("b", State::Done)).expect(other);
        let value: serde_json::Value = serde_json::from_str(&new).expect("JSON");
        let mut meant: serde_json::Value =
            serde_json::from_str(&format!("{{\"id\": \"b\", \"title\": \"Do: b\", {with}}}")).expect("JSON");
        assert_eq!(value[list][1], meant, "{list} beside {other}");
        let back = changed(&new, Syntax::Json, &state("b", State::Open)).expect(other);
        let open = Backlog::read(&back, Syntax::Json).expect("read");
        assert_eq!(open.items()[1].state, State::Open, "{back}");
        meant = open.value(1);
        assert_eq!(meant.as_object().map(|fields| fields.len()), value[list][1].as_object().map(|f| f.len()));
    }
    let text = "tasks:\n  - title: one\n  - title: two\n    completed: true\n";
    let new = changed(text, Syntax::Yaml, &state("one", State::Done)).expect("changed");
    assert_eq!(new, text.replacen("one\n", "one\n    completed: true\n", 1));
    let add = Change::Add(NewItem { title: "three".into(), ..NewItem::default() });
    let new = changed(text, Syntax::Yaml, &add).expect("added");
    assert_eq!(new, format!("{text}  - title: three\n    completed: false\n"));
    let refused = changed(text, Syntax::Yaml, &state("one", State::InProgress)).unwrap_err();
    assert_eq!(refused.to_string(), "a task list has no state 'in_progress'");
}

#[test]
fn what_is_open_again_says_neither_when_it_began_nor_when_it_ended() {
    let moment = "\"2026-02-02T10:00:00Z\"";
    for (list, fields) in [
        ("stories", "\"status\": \"done\", \"startedAt\": T, \"completedAt\": T"),
        ("userStories", "\"passes\": true, \"execution\": {\"attempts\": 2, \"completed_at\": T}"),
        ("tasks", "\"completed\": true, \"completed_at\": T, \"notes\": \"mine\""),
    ] {
        let text = format!("{{\"{list}\": [{{\"id\": \"a\", {fields}}}]}}");
        let done = text.replace('T', moment);
        let open = changed(&done, Syntax::Json, &state("a", State::Open)).expect("open again");
        let state = [("\"done\"", "\"open\""), ("true", "false")];
        let meant = state.iter().fold(text.replace('T', "null"), |text, (from, to)| text.replace(from, to));
        assert_eq!(open, meant);
    }
    let yaml = "stories:\n  - id: a\n    status: done\n    completedAt: 2026-02-02 10:00:00\n";
    let open = changed(yaml, Syntax::Yaml, &state("a", State::Open)).expect("open again");
    assert_eq!(open, yaml.replace("done", "open").replace("2026-02-02 10:00:00", "null"));
    // And where the dialect keeps it, it is told anew.
    let kept = r#"{"userStories": [{"id": "a", "passes": false, "execution": {"completed_at": null}}]}"#;
    let at = Time::parse("2026-11-16T08:00:00Z");
    let done = changed(kept, Syntax::Json, &Change::State { id: "a".into(), to: State::Done, at });
    assert!(done.expect("done").contains("\"completed_at\": \"2026-11-16T08:00:00.000Z\""));
    let array = r#"[{"description": "a", "passes": true, "completedAt": "then"}]"#;
    let id = Backlog::read(array, Syntax::Json).expect("read").items()[0].id.to_string();
    let open = changed(array, Syntax::Json, &state(&id, State::Open)).expect("open again");
    assert_eq!(open, array.replace("true", "false"), "only passes changes there");
}

#[test]
fn passing_needs_a_passed_attempt_that_still_stands() {
    let attempt = |result: &str, reverted: bool| {
        format!(
            r#"{{"run_id": "w", "timestamp": "2026-01-07T20:30:00Z", "result": "{result}", "reverted": {reverted},
             "evidence": {{"commands_run": ["make"], "results_summary": "so"}}}}"#
        )
    };
    for (attempts, why) in [
        (&[("PASSED", false)][..], None),
        (&[("FAILED", true), ("PASSED", false)], None),
        (&[("PASSED", false), ("IN_PROGRESS", false)], None),
        (&[("PASSED", true)], Some("what its PASSED attempt did was reverted")),
        (&[("PASSED", true), ("FAILED", false)], Some("what its PASSED attempt did was reverted")),
        (
            &[("PASSED", false), ("FAILED", true)],
            Some("an attempt after the PASSED one failed or was reverted"),
        ),
        (
            &[("PASSED", false), ("PASSED", true)],
            Some("an attempt after the PASSED one failed or was reverted"),
        ),
    ] {
        let list: Vec<String> =
            attempts.iter().map(|(result, reverted)| attempt(result, *reverted)).collect();
        let list = list.join(", ");
        let text = format!(
            r#"{{"items": [{{"id": "A", "title": "a", "status": "FAILING", "attempts": [{list}]}}]}}"#
        );
        let refused = changed(&text, Syntax::Json, &state("A", State::Done)).err();
        let meant = why.map(|why| format!("A cannot become done (PASSING): {why}"));
        assert_eq!(refused.map(|refusal| refusal.to_string()), meant, "{attempts:?}");
    }
}

#[test]
fn a_field_is_added_behind_a_text_of_several_lines() {
    for (tail, behind) in [
        ("|\n      status: todo\n\n      more\n", ""),
        ("|\n      more\n\n", ""),
        ("|\n      more\n\n", "  - id: b\n    status: todo\n"),
        ("|+\n      more\n\n", "  - id: b\n    status: todo\n"),
        (">-\n      more\n\n\n", "# the end\n"),
        ("|\n      more", ""),
        ("|\n      more\r\n\r\n", "  - id: b\r\n    status: todo\r\n"),
    ] {
        let text = format!("tasks:\n  - id: a\n    notes: {tail}{behind}");
        let new = changed(&text, Syntax::Yaml, &state("a", State::Done))
            .unwrap_or_else(|refusal| panic!("{refusal} {text:?}"));
        let without = ["    status: done\r\n", "    status: done\n", "\n    status: done"];
        assert!(without.iter().any(|line| new.replacen(line, "", 1) == text), "{new:?}");
    }
}
