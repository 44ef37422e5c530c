use super::*;
use crate::backlog::change::{Change, NewItem};
use crate::backlog::{Attempt, Outcome, Selection, Syntax, Wish, select};
use crate::time::Time;

const ACTOR: &str = "ralph-x";

/// As bd prints it.
const LIST: &str = r#"[
  {"id": "bd-e", "title": "Epic", "status": "open", "priority": 0, "issue_type": "epic"},
  {"id": "bd-1", "title": "One", "status": "open", "priority": 2, "issue_type": "task", "design": "plain",
   "acceptance_criteria": "- a\n- b", "notes": "n", "verification": ["rm -rf /"], "metadata": {"x": 1},
   "dependencies": [{"issue_id": "bd-1", "depends_on_id": "bd-e", "type": "parent-child"}], "parent": "bd-e"},
  {"id": "bd-2", "title": "Two", "status": "open", "priority": 0, "issue_type": "bug",
   "dependencies": [{"issue_id": "bd-2", "depends_on_id": "bd-1", "type": "blocks"},
                    {"issue_id": "bd-2", "depends_on_id": "bd-9", "type": "related"}]},
  {"id": "bd-3", "title": "Three", "status": "in_progress", "priority": 1, "assignee": "alice"},
  {"id": "bd-4", "title": "Four", "status": "deferred", "priority": 1},
  {"id": "bd-5", "title": "Five", "status": "closed", "priority": 1},
  {"id": "bd-6", "title": "Six", "status": "open", "priority": 1, "issue_type": "gizmo"},
  {"id": "bd-7", "title": "Seven", "status": "in-review", "priority": 1},
  {"id": "bd-8", "title": "Eight", "status": "open", "priority": 0, "assignee": "bob"}
]"#;
const READY: &str = r#"[{"id": "bd-8"}, {"id": "bd-e"}, {"id": "bd-1"}]"#;

fn composed(list: &str, ready: &str) -> String {
    compose(list, ready, ACTOR).expect("issues")
}

fn read(text: &str) -> Backlog<'_> {
    Backlog::read(text, Syntax::Beads).expect("a list")
}

fn selected(backlog: &Backlog<'_>) -> Option<String> {
    match select(backlog, Wish::default()).0 {
        Selection::Item(at) => Some(backlog.items()[at].id.to_string()),
        _ => None,
    }
}

#[test]
fn every_shape_in_which_bd_hands_out_issues_is_read() {
    let one = r#"{"id": "bd-1", "title": "One", "status": "open", "priority": 1}"#;
    for shape in [
        format!("[{one}]"),
        format!("{{\"schema_version\": 1, \"data\": [{one}]}}"),
        format!("{{\"schema_version\": 1, \"items\": [{one}]}}"),
        format!("{{\"issues\": [{one}], \"meta\": {{}}}}"),
        one.to_owned(),
    ] {
        let text = composed(&shape, &shape);
        assert_eq!(selected(&read(&text)).as_deref(), Some("bd-1"), "{shape}");
        assert_eq!(created(&shape).as_deref(), Some("bd-1"), "{shape}");
    }
    for none in ["[]", "null", "{\"data\": null}"] {
        assert_eq!(read(&composed(none, none)).items().len(), 0, "{none}");
    }
}

#[test]
fn what_is_no_list_of_issues_is_refused_with_whose_answer_it_was() {
    for (list, ready, why) in [
        ("Welcome!", "[]", "bd list: it is no JSON"),
        ("[]", "", "bd ready: it is no JSON"),
        ("[]", "{}", "bd ready: there are no issues in it"),
        ("7", "[]", "bd list: there are no issues in it"),
        (r#"{"error": "database is locked"}"#, "[]", "bd list: database is locked"),
        (r#"{"error": {"code": "X", "message": "gone"}}"#, "[]", "bd list: gone"),
    ] {
        let said = compose(list, ready, ACTOR).unwrap_err();
        assert!(said.starts_with(why), "{said}");
    }
    assert_eq!(complaint("{\"error\": \"locked\"}", "warning: slow\n"), "locked");
    assert_eq!(complaint("", "Error: no database\n"), "Error: no database");
    assert!(Backlog::read("{}", Syntax::Beads).is_err() && Backlog::read("[1, ", Syntax::Beads).is_err());
}

#[test]
fn bd_says_what_can_begin_and_an_epic_waits_for_its_parts() {
    let text = composed(LIST, READY);
    let backlog = read(&text);
    assert_eq!(selected(&backlog).as_deref(), Some("bd-1"), "the epic is more urgent, but has an open part");
    assert_eq!(backlog.problems(), []);
    let item = |id: &str| &backlog.items()[backlog.find(id).expect("there")];
    assert_eq!(item("bd-2").dependencies, ["bd-1"], "an edge that only relates keeps nobody");
    for (id, state, enabled) in [
        ("bd-2", State::Open, true),
        ("bd-3", State::InProgress, false),
        ("bd-4", State::Open, false),
        ("bd-5", State::Done, true),
        ("bd-6", State::Open, false),
        ("bd-7", State::Unknown, false),
        ("bd-8", State::Open, false),
    ] {
        assert_eq!((item(id).state, item(id).enabled), (state, enabled), "{id}");
    }
    let words = backlog.words(backlog.find("bd-1").expect("there"), None);
    assert!(words.contains("Design:\nplain") && words.contains("Notes: n") && words.contains("bd show bd-1"));
    assert!(backlog.verification(1).is_empty(), "an issue cannot bring commands");
    let mine = LIST.replace("alice", ACTOR);
    assert_eq!(selected(&read(&composed(&mine, READY))).as_deref(), Some("bd-3"), "what ralph began goes on");
}

#[test]
fn a_part_waits_for_what_its_whole_waits_for() {
    let list = r#"[
      {"id": "e", "title": "e", "status": "open", "priority": 1,
       "dependencies": [{"depends_on_id": "x", "type": "blocks"}]},
      {"id": "p", "title": "p", "status": "open", "priority": 1, "dependencies": [{"id": "e", "dependency_type": "parent-child"}]},
      {"id": "x", "title": "x", "status": "blocked", "priority": 1},
      {"id": "u", "title": "u", "status": "open", "priority": 1, "dependency_count": 2}
    ]"#;
    let text = composed(list, "[]");
    let backlog = read(&text);
    let (Selection::Waiting(waiting), _) = select(&backlog, Wish::default()) else { panic!("they wait") };
    let told: Vec<String> = waiting.iter().map(|waits| waits.told(&backlog)).collect();
    assert!(told.contains(&"p waits for x (blocked)".into()), "{told:?}");
    assert!(told.iter().any(|told| told.starts_with("u waits for what bd show u tells")), "{told:?}");
}

fn state(id: &str, to: State) -> Change {
    Change::State { id: id.into(), to, at: None }
}

fn made(backlog: &Backlog<'_>, change: &Change, together: &[Change]) -> String {
    let call = backlog.call(change, together, ACTOR).expect("allowed");
    call.map(|call| call.args.join(" ")).unwrap_or_default()
}

#[test]
fn a_change_is_a_call_and_what_is_so_already_is_none() {
    let text = composed(&LIST.replace("alice", ACTOR), READY);
    let backlog = read(&text);
    let attempt = Attempt {
        run_id: Some("r-1".into()),
        at: Time::from_millis(0),
        outcome: Outcome::Passed,
        commands: vec!["make test".into()],
        summary: Some("12 tests pass".into()),
        commit: Some("abc".into()),
        reverted: false,
        failure_reason: Some("make test exit 1".into()),
        investigation: None,
        files_changed: None,
    };
    let together = [
        Change::Increment {
            id: "bd-3".into(),
            block_on_max: true,
            override_reason: Some("two tries".into()),
        },
        Change::Attempt { id: "bd-3".into(), attempt },
    ];
    assert_eq!(made(&backlog, &state("bd-5", State::Done), &[]), "");
    let beside = made(&backlog, &state("bd-5", State::Done), &together);
    assert!(
        beside.starts_with("update bd-5 --append-notes proved by ralph: 12 tests pass | ran: make test"),
        "{beside}"
    );
    let proof = beside.trim_start_matches("update bd-5 --append-notes ");
    for field in ["notes", "close_reason"] {
        let noted = format!(r#"[{{"id": "bd-5", "title": "F", "status": "closed", "{field}": "{proof}"}}]"#);
        assert_eq!(made(&read(&composed(&noted, "[]")), &state("bd-5", State::Done), &together), "", "once");
    }
    for (change, call) in [
        (state("bd-1", State::InProgress), "update bd-1 --claim"),
        (state("bd-3", State::InProgress), ""),
        (
            state("bd-3", State::Done),
            "close bd-3 --reason proved by ralph: 12 tests pass | ran: make test | commit: abc | evidence: ralph evidence show r-1",
        ),
        (
            state("bd-3", State::Blocked),
            "update bd-3 --status blocked --append-notes blocked by ralph: two tries | last attempt: make test exit 1",
        ),
        (state("bd-4", State::Open), "update bd-4 --status open --assignee "),
        (state("bd-5", State::Open), "reopen bd-5 --reason reopened by ralph: it is not proved"),
        (Change::Reset { id: "bd-3".into() }, "update bd-3 --status open --assignee "),
    ] {
        assert_eq!(made(&backlog, &change, &together), call);
    }
    let claim =
        backlog.call(&state("bd-1", State::InProgress), &[], ACTOR).expect("allowed").expect("a call");
    let (flag, instead) = claim.instead.expect("another way");
    assert_eq!(
        (flag, instead.join(" ").as_str()),
        ("--claim", "update bd-1 --status in_progress --assignee ralph-x")
    );
    for (change, refused) in [
        (state("bd-1", State::Cancelled), "a beads issue has no state 'cancelled'"),
        (state("bd-99", State::Done), "there is no item bd-99"),
        (together[1].clone(), "a beads issue has no place for attempts"),
        (
            Change::Reset { id: "bd-5".into() },
            "bd-5 is done (closed): a reset is for what is open or blocked",
        ),
    ] {
        assert_eq!(backlog.call(&change, &[], ACTOR).unwrap_err().to_string(), refused);
    }
    let new = NewItem {
        title: "More".into(),
        priority: Some("high".into()),
        criteria: vec!["a".into(), "b".into()],
        dependencies: vec!["bd-1".into()],
        ..NewItem::default()
    };
    assert_eq!(
        made(&backlog, &Change::Add(new), &[]),
        "create --title More --type task --priority 1 --acceptance a\nb --deps bd-1"
    );
}

#[test]
fn what_an_agent_did_beyond_its_part_is_put_back_and_what_others_do_is_not() {
    let text = composed(LIST, READY);
    let before = read(&text);
    let back = |from: &str, to: &str| {
        assert!(LIST.contains(from), "{from}");
        let text = composed(&LIST.replacen(from, to, 1), READY);
        let calls = read(&text).way_back(&before);
        calls.iter().map(|call| call.args.join(" ")).collect::<Vec<_>>().join("; ")
    };
    for (from, to, calls) in [
        (r#""title": "One""#, r#""title": "Won""#, "update bd-1 --title One"),
        (r#"- a\n- b"#, "none", "update bd-1 --acceptance - a\n- b"),
        (
            r#""status": "open", "priority": 2"#,
            r#""status": "blocked", "priority": 2"#,
            "update bd-1 --status open",
        ),
        (r#""type": "blocks"}"#, r#""type": "related"}"#, "dep add bd-2 bd-1"),
        (r#""id": "bd-6", "title""#, r#""id": "bd-66", "title""#, "create --id bd-6 --force --title Six"),
        // Out of the run: given away, given away and closed, put off.
        (
            r#""status": "open", "priority": 2"#,
            r#""status": "in_progress", "assignee": "x", "priority": 2"#,
            "update bd-1 --status open --assignee ",
        ),
        (
            r#""status": "open", "priority": 2"#,
            r#""status": "closed", "assignee": "alice", "priority": 2"#,
            "update bd-1 --status open --assignee ",
        ),
        (
            r#""status": "open", "priority": 2"#,
            r#""status": "deferred", "priority": 2"#,
            "update bd-1 --status open --assignee ",
        ),
        (
            r#""status": "open", "priority": 2"#,
            r#""status": "in_progress", "priority": 2"#,
            "update bd-1 --status open --assignee ",
        ),
        // What somebody put aside is theirs to take up, or to end.
        (r#""status": "deferred""#, r#""status": "open""#, "update bd-4 --status deferred"),
        (r#""status": "deferred""#, r#""status": "closed""#, "update bd-4 --status deferred"),
        // A tick, a note, a priority, more to do.
        (r#""status": "open", "priority": 2"#, r#""status": "closed", "priority": 2"#, ""),
        (r#""notes": "n""#, r#""notes": "learnt""#, ""),
        (r#""priority": 2"#, r#""priority": 0"#, ""),
        // Alice's.
        (r#""title": "Three""#, r#""title": "Tree""#, ""),
        (r#""status": "in_progress""#, r#""status": "closed""#, ""),
    ] {
        let found = back(from, to);
        assert!(if calls.is_empty() { found.is_empty() } else { found.starts_with(calls) }, "{to}: {found}");
    }
    // Which issues are ready changes with every issue that is closed.
    let one_closed =
        LIST.replacen(r#""status": "open", "priority": 2"#, r#""status": "closed", "priority": 2"#, 1);
    let other = composed(&one_closed, r#"[{"id": "bd-2"}, {"id": "bd-e"}]"#);
    assert!(!read(&other).touched_since(&before).is_harm());
    let put_off = LIST.replacen(r#""notes": "n""#, r#""defer_until": "2099-01-01T00:00:00Z""#, 1);
    let put_off = composed(&put_off, r#"[{"id": "bd-8"}, {"id": "bd-e"}]"#);
    let calls = read(&put_off).way_back(&before);
    assert_eq!(calls[0].args.join(" "), "update bd-1 --status open --assignee  --defer ");
    let ended = composed(&LIST.replacen("deferred", "closed", 1), READY);
    assert!(read(&ended).touched_since(&before).ticked.is_empty(), "it is put aside again, and not opened");
    let closed = composed(&LIST.replacen("in_progress", "closed", 1), READY);
    assert!(read(&closed).touched_since(&before).ticked.is_empty(), "alice closed her own");
}

#[test]
fn a_removed_issue_is_made_again_as_it_stood_and_so_is_what_waited_for_it() {
    let held = LIST.replacen(
        r#""status": "open", "priority": 2"#,
        r#""status": "in_progress", "assignee": "ralph-x", "labels": ["p", "q"], "priority": 2"#,
        1,
    );
    let waiting = held.replacen(r#""bd-e", "type": "parent-child""#, r#""bd-6", "type": "blocks""#, 1);
    let (text, gone) =
        (composed(&waiting, READY), composed(r#"[{"id": "bd-2", "status": "open", "title": "Two"}]"#, "[]"));
    let before = read(&text);
    let calls: Vec<String> = read(&gone).way_back(&before).iter().map(|call| call.args.join(" ")).collect();
    let of = |id: &str| calls.iter().filter(|call| call.contains(id)).cloned().collect::<Vec<_>>().join("; ");
    let one = of("bd-1");
    assert!(
        one.contains("--labels p,q; update bd-1 --status in_progress --assignee ralph-x; dep add bd-1 bd-6"),
        "{one}"
    );
    assert!(one.contains("dep add bd-2 bd-1"), "{one}");
    assert!(of("bd-5").contains("update bd-5 --status closed"), "{calls:?}");
    assert_eq!(of("bd-3"), "", "alice's is hers");
}

#[test]
fn an_issue_that_others_blocked_is_not_in_the_way_of_the_end() {
    let list = r#"[{"id": "bd-1", "title": "One", "status": "blocked", "assignee": "alice"}]"#;
    assert!(matches!(select(&read(&composed(list, "[]")), Wish::default()).0, Selection::Complete));
    let own = list.replace("alice", ACTOR);
    assert!(matches!(select(&read(&composed(&own, "[]")), Wish::default()).0, Selection::Blocked(_)));
}

#[test]
fn what_one_closed_of_others_is_told_by_who_changed_it_last() {
    let line = |id: &str, actor: &str, field: &str, to: &str| {
        format!(
            r#"{{"kind": "field_change", "issue_id": "{id}", "actor": "{actor}", "extra": {{"field": "{field}", "new_value": "{to}"}}}}"#
        )
    };
    let trail = [
        line("bd-3", ACTOR, "status", "closed"),
        line("bd-3", "alice", "assignee", "alice"),
        line("bd-5", "alice", "status", "closed"),
        line("bd-6", ACTOR, "status", "open"),
        line("bd-8", ACTOR, "status", "closed"),
        line("bd-8", "bob", "status", "closed"),
        "torn".into(),
    ];
    let closed = closed_by(&trail.join("\n"), ACTOR);
    assert_eq!(closed.iter().map(String::as_str).collect::<Vec<_>>(), ["bd-3"]);
    let (text, after) =
        (composed(LIST, READY), composed(&LIST.replace(r#""in_progress""#, r#""closed""#), READY));
    assert_eq!(read(&after).closed_for_others(&read(&text)), ["bd-3"]);
    assert_eq!(read(&text).closed_for_others(&read(&text)), Vec::<String>::new());
}
