//! One table a dialect: what is read, and what is next.

use super::*;

fn json(text: &str) -> Backlog<'_> {
    Backlog::read(text, Syntax::Json).expect("a backlog")
}

fn yaml(text: &str) -> Backlog<'_> {
    Backlog::read(text, Syntax::Yaml).expect("a backlog")
}

/// `id state priority` of each item.
fn rows(backlog: &Backlog<'_>) -> Vec<String> {
    let row = |item: &Item<'_>| format!("{} {} {}", item.id, item.state.word(), item.priority);
    backlog.items().iter().map(row).collect()
}

fn next(backlog: &Backlog<'_>) -> Option<String> {
    match select(backlog, Wish::default()).0 {
        Selection::Item(at) => Some(backlog.items()[at].id.clone().into_owned()),
        _ => None,
    }
}

pub(super) const FEATURES: &str = r#"{
  "$schema": "x", "schema_version": "1.0", "description": "our features",
  "items": [
    {"id": "FEAT-2", "title": "Search", "description": "find notes", "acceptance_criteria": ["finds a word"],
     "verification": ["cargo test search"], "status": "FAILING", "priority": 2, "dependencies": ["FEAT-1"],
     "attempts": [], "override_reason": null, "notes": "",
     "ralph_loop": {"enabled": true, "max_iterations": 5, "current_iteration": 1,
       "convergence_criteria": {"build_passes": true, "tests_pass": false, "acceptance_met": true}},
     "prd_reference": {"file": "FEAT-2.json", "last_updated": "2026-01-07T00:00:00Z", "version": "1.0.0"}},
    {"id": "FEAT-1", "title": "Store", "status": "PASSING", "priority": 1, "dependencies": [], "attempts": [
      {"run_id": "worker-001", "timestamp": "2026-01-07T19:30:00Z", "result": "FAILED",
       "evidence": {"commands_run": ["make"], "results_summary": "red"}, "commit": null, "reverted": true,
       "failure_reason": "no disk", "investigation": "use memory", "files_changed": ["a.c"]},
      {"run_id": "worker-002", "timestamp": "2026-01-07T20:30:00", "result": "PASSED",
       "evidence": {"commands_run": ["make", "make test"], "results_summary": "green"}, "commit": "abc1234", "reverted": false}],
     "ralph_loop": {"enabled": true}},
    {"id": "FIX-TEST-ASSERTIONS", "title": "By hand", "status": "FAILING", "priority": 0, "dependencies": []},
    {"id": "OLD", "title": "Gone", "status": "CANCELLED", "priority": 9, "ralph_loop": {"enabled": true}}
  ]
}"#;

#[test]
fn a_feature_list_is_read_with_everything_an_item_has() {
    let backlog = json(FEATURES);
    assert_eq!(backlog.shape(), Shape::Features);
    assert_eq!(
        rows(&backlog),
        ["FEAT-2 open 2", "FEAT-1 done 1", "FIX-TEST-ASSERTIONS open 0", "OLD cancelled 9"]
    );
    assert_eq!(backlog.problems(), []);
    let item = &backlog.items()[0];
    assert_eq!((item.enabled, item.limit), (true, Some(Limit { used: 1, max: 5 })));
    assert_eq!(item.dependencies, ["FEAT-1"]);
    assert_eq!(backlog.criteria(0), ["finds a word"]);
    assert_eq!(backlog.verification(0), ["cargo test search"]);
    assert_eq!(backlog.prd_file(0).as_deref(), Some("FEAT-2.json"));
    assert_eq!(backlog.convergence(0), Convergence { build: true, tests: false, acceptance: true });
    assert_eq!((backlog.line(0), backlog.lines()), (4, vec![4, 10, 17, 18]));
    assert_eq!((backlog.status(0), backlog.has_prd(0), backlog.has_prd(1)), ("FAILING".into(), true, false));
    let attempts = backlog.attempts(1);
    assert_eq!((attempts.len(), attempts[1].is_passed(), attempts[0].reverted), (2, true, true));
    assert_eq!(attempts[1].commands, ["make", "make test"]);
    assert!(!backlog.words(1, None).contains("The last attempt"), "the newest one passed");
    let failed =
        FEATURES.replace("\"result\": \"PASSED\"", "\"result\": \"FAILED\", \"failure_reason\": \"no net\"");
    let words = json(&failed).words(1, None);
    assert!(words.contains("The last attempt failed: no net") && !words.contains("no disk"), "{words}");
    assert_eq!(backlog.items()[1].limit, Some(Limit { used: 0, max: 5 }), "5 where an item says none");
}

#[test]
fn only_enabled_items_are_for_the_loop_and_dependencies_come_first() {
    let backlog = json(FEATURES);
    let (selection, stats) = select(&backlog, Wish::default());
    assert_eq!(selection, Selection::Item(0));
    let expected =
        Stats { total: 4, open: 2, done: 1, cancelled: 1, eligible: 1, disabled: 1, ..Stats::default() };
    assert_eq!(stats, expected);
    let text = FEATURES.replace("PASSING", "FAILING");
    assert_eq!(next(&json(&text)).as_deref(), Some("FEAT-1"));
    let text = FEATURES.replace("PASSING", "BLOCKED");
    let backlog = json(&text);
    let (selection, _) = select(&backlog, Wish::default());
    assert_eq!(
        selection,
        Selection::Waiting(vec![Waiting { item: 0, on: vec!["FEAT-1".into()], at_limit: vec![] }])
    );
}

#[test]
fn of_one_priority_the_lower_id_comes_first_in_a_feature_list_and_the_file_decides_elsewhere() {
    let item = |id: &str| {
        format!(r#"{{"id":"{id}","status":"FAILING","priority":1,"ralph_loop":{{"enabled":true}}}}"#)
    };
    let text = format!(r#"{{"items":[{},{}]}}"#, item("B"), item("A"));
    assert_eq!(next(&json(&text)).as_deref(), Some("A"));
    let text =
        r#"{"userStories":[{"id":"B","priority":1,"passes":false},{"id":"A","priority":1,"passes":false}]}"#;
    assert_eq!(next(&json(text)).as_deref(), Some("B"));
}

#[test]
fn what_is_at_its_limit_is_not_selected_and_is_told_apart() {
    let text = FEATURES.replace("\"current_iteration\": 1", "\"current_iteration\": 5");
    let (selection, stats) = select(&json(&text), Wish::default());
    assert_eq!((selection, stats.at_limit), (Selection::AtLimit(vec![0]), 1));
    let text = FEATURES.replacen("FAILING", "BLOCKED", 1);
    assert_eq!(select(&json(&text), Wish::default()).0, Selection::Blocked(vec![0]));
    let text = FEATURES.replacen("FAILING", "CANCELLED", 1);
    assert_eq!(select(&json(&text), Wish::default()).0, Selection::Complete);
    let text = FEATURES.replacen("FAILING", "WIBBLE", 1);
    assert_eq!(
        select(&json(&text), Wish::default()).0,
        Selection::Unknown(vec![0]),
        "nobody said that it is done"
    );
}

#[test]
fn a_cycle_anywhere_is_named() {
    let text = r#"{"userStories":[{"id":"free","passes":false},{"id":"a","dependsOn":["b"]},
        {"id":"b","dependsOn":["c","free"]},{"id":"c","dependsOn":["free","a"]}]}"#;
    let ring = ["a", "b", "c", "a"].map(String::from).to_vec();
    assert_eq!(select(&json(text), Wish::default()).0, Selection::Cycle(ring));
    let alone = r#"{"userStories":[{"id":"a","dependsOn":["a"]}]}"#;
    assert_eq!(cycle(&json(alone)), Some(vec!["a".into(), "a".into()]));
    assert_eq!(
        cycle(&json(r#"{"userStories":[{"id":"a","dependsOn":["b","b"]},{"id":"b","dependsOn":["gone"]}]}"#)),
        None
    );
}

#[test]
fn ids_that_look_alike_to_the_index_are_told_apart() {
    let (one, other) = ("FEAT-223493", "FEAT-472220");
    assert_eq!(crate::text::hash(one) >> 32, crate::text::hash(other) >> 32);
    let alone = format!(r#"[{{"id":"{one}"}}]"#);
    assert_eq!((json(&alone).find(one), json(&alone).find(other)), (Some(0), None));
    let both = format!(r#"[{{"id":"{one}"}},{{"id":"{other}"}}]"#);
    assert_eq!((json(&both).find(other), json(&both).problems()), (Some(1), &[][..]));
}

#[test]
fn a_dependency_that_is_not_there_holds_an_item_back() {
    let backlog = json(r#"{"userStories":[{"id":"a","dependsOn":["gone"]}]}"#);
    let (selection, _) = select(&backlog, Wish::default());
    assert_eq!(
        selection,
        Selection::Waiting(vec![Waiting { item: 0, on: vec!["gone".into()], at_limit: vec![] }])
    );
}

const RALPH_YML: &str = r#"# our tasks
project:
  name: "Notes"
  version: "1.0.0"
  objectives: [one, two]

tasks:
  - id: "setup"
    title: "Set up"      # first of all
    priority: "high"
    status: "done"
  - id: 'search'
    title: Search
    priority: low
    status: todo
    dependencies: ["setup"]
    acceptance_criteria:
      - "finds a word"
    subtasks:
      - index
    notes: |
      two
      lines
  - {id: flow, title: In flow, status: in-progress, priority: critical, phase: phase_2}
  - id: later
    title: "Later: much"
    status: blocked
    estimated_hours: 3
workflows: {}
"#;

#[test]
fn ralph_yml_is_read_in_block_and_flow_style() {
    let backlog = yaml(RALPH_YML);
    assert_eq!(rows(&backlog), ["setup done 1", "search open 3", "flow in_progress 0", "later blocked 2"]);
    assert_eq!(backlog.project(), (Some("Notes".into()), Some("1.0.0".into())));
    assert_eq!(backlog.criteria(1), ["finds a word"]);
    assert_eq!(backlog.subtasks(1), ["index"]);
    assert_eq!(backlog.notes(1).as_deref(), Some("two\nlines\n"));
    assert_eq!(backlog.phases(), ["phase_2"]);
    assert_eq!(next(&backlog).as_deref(), Some("flow"), "what was begun is resumed first");
    let text = RALPH_YML.replace("in-progress", "todo").replace("done", "todo");
    assert_eq!(next(&yaml(&text)).as_deref(), Some("flow"), "priority wins over order");
}

#[test]
fn phases_come_in_order_and_one_can_be_asked_for() {
    let text = "tasks:\n  - {id: a, phase: two, priority: critical}\n  - {id: b, phase: one}\n  - {id: c}\n";
    let backlog = yaml(text);
    let pick = |phase| match select(&backlog, Wish { phase: Some(phase), task: None }).0 {
        Selection::Item(at) => backlog.items()[at].id.clone().into_owned(),
        other => format!("{other:?}"),
    };
    assert_eq!((pick("two").as_str(), pick("one").as_str()), ("a", "b"));
    assert_eq!(pick("three"), "Complete");
    assert_eq!(select(&backlog, Wish { phase: None, task: Some("c") }).0, Selection::Item(2));
}

#[test]
fn lists_with_completed_have_their_titles_as_ids() {
    let backlog = yaml(
        "tasks:\n  - title: First thing\n    completed: true\n    parallel_group: 1\n  - title: Second\n    completed: false\n",
    );
    assert_eq!(rows(&backlog), ["First thing done 2", "Second open 2"]);
}

#[test]
fn prd_json_and_its_dialects_are_read() {
    let common = r#"{"project":"P","branchName":"b","userStories":[{"id":"US-1","title":"T","description":"d",
        "acceptanceCriteria":["one"],"priority":2,"passes":true,"notes":""},{"id":"US-2","title":"U","priority":1,"passes":false}]}"#;
    let backlog = json(common);
    assert_eq!(rows(&backlog), ["US-1 done 2", "US-2 open 1"]);
    assert_eq!((backlog.criteria(0), backlog.project().0.as_deref()), (vec!["one".into()], Some("P")));
    let second = r#"{"schemaVersion":"2.0","config":{"max_iterations":9,"test_command":"npm test","lint_command":""},
        "userStories":[{"id":"S1","name":"N","status":"in_progress","passes":false,
        "acceptanceCriteria":[{"id":"c1","description":"works","done":false}],"tasks":["x"],
        "dependencies":{"depends_on":["S2"],"blocks":[]},"execution":{"attempts":1}},
        {"id":"S2","status":"failed","priority":1},{"id":"S3","passes":true,"status":"pending"}]}"#;
    let backlog = json(second);
    assert_eq!(rows(&backlog)[1..], ["S2 open 1", "S3 done 9223372036854775807"]);
    assert_eq!((backlog.items()[0].state, &backlog.items()[0].title[..]), (State::InProgress, "N"));
    assert_eq!(
        (backlog.criteria(0), backlog.items()[0].dependencies.clone()),
        (vec!["works".into()], vec!["S2".into()])
    );
    let check = backlog.checks().pop().expect("a check");
    assert_eq!(check.described(), "test: npm test (config.test_command)");
    assert_eq!(next(&backlog).as_deref(), Some("S2"));
}

#[test]
fn stories_with_a_status_and_bare_arrays_are_read() {
    let stories = r#"{"version":1,"qualityGates":["make","make test"],"stories":[{"id":"s","title":"T","status":"open","dependsOn":[],
        "acceptanceCriteria":["a"],"startedAt":null}]}"#;
    let backlog = json(stories);
    let checks: Vec<String> = backlog.checks().iter().map(crate::check::CheckSpec::described).collect();
    assert_eq!(backlog.shape(), Shape::Stories);
    assert_eq!(checks, ["gate-1: make (qualityGates 1)", "gate-2: make test (qualityGates 2)"]);
    let array = r#"[{"category":"ui","description":"a button","steps":["look","click"],"passes":false},
        {"category":"ui","description":"a button","steps":[],"passes":true}]"#;
    let wrapped = format!("{{\"features\":{array}}}");
    for text in [array, &wrapped] {
        let backlog = json(text);
        assert_eq!(backlog.shape(), Shape::FeatureArray);
        assert_eq!(backlog.items()[0].title, "a button");
        assert_eq!(backlog.items()[1].id, format!("{}-2", backlog.items()[0].id), "told apart by a number");
        assert_eq!(backlog.criteria(0), ["look", "click"]);
    }
}

#[test]
fn an_id_is_made_where_the_file_has_none() {
    for (text, made) in [
        (r#"[{"description":"a button","passes":false}]"#, true),
        (r#"[{"id":7,"description":"a button","passes":false}]"#, false),
        (r#"{"stories":[{"title":"T","status":"open"}]}"#, true),
        (r#"{"stories":[{"id":"s","title":"T","status":"open"}]}"#, false),
    ] {
        assert_eq!(json(text).made_id(0), made, "{text}");
    }
    assert!(Backlog::read("- [ ] Fix add\n", Syntax::Markdown).expect("a list").made_id(0));
}

#[test]
fn items_decide_where_the_name_of_their_list_does_not() {
    let seed = r#"{"features":[{"id":"F1","title":"one","status":"FAILING","priority":1,"ralph_loop":{"enabled":false}},
        {"id":"F2","title":"two","status":"FAILING","priority":2,"ralph_loop":{"enabled":true}}]}"#;
    let backlog = json(seed);
    assert_eq!((backlog.shape(), next(&backlog).as_deref()), (Shape::Features, Some("F2")));
    assert_eq!(backlog.items()[1].limit, Some(Limit { used: 0, max: Limit::DEFAULT }));
    let refused = backlog.change(&Change::State { id: "F2".into(), to: State::Done, at: None });
    assert!(matches!(refused, Err(Refusal::NoEvidence { .. })), "{refused:?}");
    let array = r#"[{"id":"a","passes":false},{"id":"b","status":"open"},{"id":"c","status":"PASSING"}]"#;
    assert_eq!(json(array).shape(), Shape::Features, "one item of the seed's is enough");
    let stories = "features:\n  - id: b\n    status: done\n";
    assert_eq!((yaml(stories).shape(), yaml(stories).items()[0].state), (Shape::Stories, State::Done));
    // What is told in two places is taken back in both.
    let both = r#"[{"id":"a","status":"done","passes":true}]"#;
    let open = json(both).change(&Change::State { id: "a".into(), to: State::Open, at: None });
    assert_eq!(open.expect("changed").text, r#"[{"id":"a","status":"pending","passes":false}]"#);
}

#[test]
fn what_an_item_blocks_waits_for_it_whoever_says_so() {
    let text = r#"{"userStories":[{"id":"a","dependencies":{"depends_on":["b"],"blocks":["c","gone"]}},
        {"id":"b","dependencies":{"blocks":["a"]}},{"id":"c"}]}"#;
    let backlog = json(text);
    let on: Vec<_> = backlog.items().iter().map(|item| item.dependencies.join(" ")).collect();
    assert_eq!((on, next(&backlog).as_deref()), (vec!["b".into(), String::new(), "a".into()], Some("b")));
    let ring = text.replace(r#"{"id":"c"}"#, r#"{"id":"c","dependencies":{"blocks":["b"]}}"#);
    assert!(matches!(select(&json(&ring), Wish::default()).0, Selection::Cycle(_)));
}

/// Counting from the start for each of them took minutes.
#[test]
fn the_lines_of_many_odd_items_are_counted_once() {
    let many = 20_000;
    let text = format!("{{\"tasks\":[\n{}7]}}", "{\"id\":\"a\"},\n7,\n{},\n".repeat(many));
    let backlog = json(&text);
    let lines = |wanted: fn(&Problem) -> Option<usize>| backlog.problems().iter().rev().find_map(wanted);
    assert_eq!(
        lines(|p| if let Problem::Duplicate { line, .. } = p { Some(*line) } else { None }),
        Some(59_999)
    );
    assert_eq!(lines(|p| if let Problem::NoName { line } = p { Some(*line) } else { None }), Some(60_001));
    assert_eq!(lines(|p| if let Problem::NoItem { line } = p { Some(*line) } else { None }), Some(60_002));
}

#[test]
fn items_without_criteria_are_told_apart_by_what_they_are_judged_by() {
    let backlog = Backlog::read("- [ ] one\n- [ ] two\n", Syntax::Markdown).expect("a checklist");
    assert_ne!(backlog.judged_by(0, None), backlog.judged_by(1, None));
    assert_eq!(
        backlog.judged_by_before(0, None),
        backlog.judged_by_before(1, None),
        "as it was recorded once"
    );
    let ticked = Backlog::read("- [x] one\n- [ ] two\n", Syntax::Markdown).expect("a checklist");
    assert_eq!(ticked.judged_by(0, None), backlog.judged_by(0, None), "a tick is no criterion");
}

#[test]
fn the_limit_of_a_prd_is_read_and_that_of_another_kind_is_not() {
    let of = |most: &str| {
        let text = format!("{{\"config\": {{\"max_iterations\": {most}}}, \"userStories\": []}}");
        json(&text).max_iterations()
    };
    assert_eq!((of("12"), of("0"), of("-1"), of("\"12\""), of("null")), (Some(12), None, None, None, None));
    assert_eq!(json("{\"config\": {\"max_iterations\": 12}, \"items\": []}").max_iterations(), None);
}

#[test]
fn a_checklist_is_a_backlog() {
    let text = "# Plan\n## Low\n- [ ] later\n## High\n1. [x] done\n2. [ ] soon\n   - [ ] inner\n```\n- [ ] no\n```\n";
    let backlog = Backlog::read(text, Syntax::Markdown).expect("a checklist");
    let titles: Vec<&str> = backlog.items().iter().map(|item| &*item.title).collect();
    assert_eq!(titles, ["later", "done", "soon", "inner"]);
    assert_eq!(select(&backlog, Wish::default()).0, Selection::Item(2));
    assert!(backlog.words(2, None).contains("soon\n(under the heading: High)"));
    let moved = format!("- [ ] new\n{text}");
    let after = Backlog::read(&moved, Syntax::Markdown).expect("a checklist");
    assert_eq!(after.items()[3].id, backlog.items()[2].id, "an id does not depend on the place");
}

#[test]
fn what_is_odd_is_named_and_read_all_the_same() {
    let text = "{\"userStories\":[\n{\"id\":\"a\",\"status\":\"almost\"},\n{\"id\":\"a\",\"priority\":\"soon\"},\n7,\n{\"x\":1},\n{\"id\":9}]}";
    let backlog = json(text);
    let problems: Vec<String> = backlog.problems().iter().map(ToString::to_string).collect();
    assert_eq!(
        problems,
        [
            "a in line 2 has the status 'almost', which nobody knows: it is not worked on; write pending, in_progress, \
             completed or blocked",
            "a in line 3 has the priority 'soon', which nobody knows: it comes last; write a number, or critical, high, \
             medium or low",
            "what stands in line 4 of the list is no item",
            "the item in line 5 has neither id nor title",
            "a is there twice, again in line 3",
        ]
    );
    assert_eq!(backlog.items()[0].state, State::Unknown);
    assert_eq!(backlog.find("9"), Some(2), "a number is an id");
}

#[test]
fn what_is_no_backlog_is_an_error_with_its_line() {
    for (syntax, text, line, why) in [
        (Syntax::Json, "{\n\"items\": [\n{]}", 3, "the file is no JSON: a name in quotes was expected"),
        (Syntax::Json, "{\"a\": 1}", 1, "there is no list of items"),
        (Syntax::Json, "", 1, "the file is no JSON: it ends in the middle"),
        (Syntax::Json, "{\"items\": []}\nx", 2, "the file is no JSON: something stands after the end"),
        (Syntax::Yaml, "tasks:\n  - a: 1\n b: [", 3, "the file is no YAML"),
        (Syntax::Yaml, "a: 1\n", 1, "there is no list of items"),
        (Syntax::Yaml, "tasks: []\n---\ntasks: []\n", 3, "more than one document"),
    ] {
        let error = Backlog::read(text, syntax).expect_err(text);
        assert!(error.why.contains(why), "{text}: {error}");
        assert_eq!(error.line, line, "{text}: {error}");
    }
    let error = Backlog::parse(b"{\n\xff}", Syntax::Json).expect_err("no UTF-8");
    assert_eq!((error.line, error.why.as_str()), (2, "the file is not UTF-8"));
}

#[test]
fn what_an_item_is_judged_by_changes_with_criteria_commands_and_requirements_only() {
    let judged = |text: &str, prd| json(text).judged_by(0, prd);
    let before = judged(FEATURES, Some("prd"));
    assert_ne!(judged(&FEATURES.replace("finds a word", "finds"), Some("prd")), before);
    assert_ne!(judged(&FEATURES.replace("cargo test search", "true"), Some("prd")), before);
    assert_ne!(
        judged(&FEATURES.replace("\"acceptance_met\": true", "\"acceptance_met\": false"), Some("prd")),
        before
    );
    assert_ne!(judged(FEATURES, Some("another")), before);
    assert_eq!(judged(&FEATURES.replace("find notes", "find all notes"), Some("prd")), before);
}

#[test]
fn a_reference_that_leads_elsewhere_is_none() {
    for (file, found) in [("../../etc/passwd", None), ("/etc/x.json", None), ("FEAT-2", Some("FEAT-2.json"))]
    {
        let text = FEATURES.replace("FEAT-2.json", file);
        assert_eq!(json(&text).prd_file(0).as_deref(), found);
    }
}

#[test]
fn the_five_rules_of_evidence_and_the_strict_ones_are_held() {
    let rules = |text: &str, strict| -> Vec<&'static str> {
        validate(&json(text), None, strict).findings.iter().map(|finding| finding.rule.word()).collect()
    };
    assert_eq!(rules(FEATURES, false), Vec::<&str>::new());
    assert_eq!(validate(&json(FEATURES), None, true).commits, [("FEAT-1".into(), "abc1234".into())]);
    for (from, to, rule) in [
        ("\"result\": \"PASSED\"", "\"result\": \"FAILED\"", "passed_attempt"),
        ("[\"make\", \"make test\"]", "[]", "commands_run"),
        ("\"green\"", "\" \"", "results_summary"),
        ("2026-01-07T20:30:00\"", "tomorrow\"", "timestamp"),
        ("\"timestamp\": \"2026-01-07T20:30:00\",", "", "timestamp"),
        ("\"run_id\": \"worker-002\",", "", "run_id"),
        ("\"dependencies\": [\"FEAT-1\"]", "\"dependencies\": [\"FEAT-9\"]", "dependency"),
        ("\"dependencies\": [\"FEAT-1\"]", "\"dependencies\": [\"FEAT-2\"]", "cycle"),
        ("\"id\": \"OLD\"", "\"id\": \"FEAT-1\"", "shape"),
    ] {
        assert_eq!(rules(&FEATURES.replace(from, to), false), [rule], "{to}");
    }
    assert_eq!(rules(&FEATURES.replace("\"abc1234\"", "null"), true), ["commit"]);
    let again = FEATURES.replace("\"FAILED\"", "\"PASSED\"").replacen(
        "\"PASSED\",\n       \"evidence\": {\"commands_run\": [\"make\", ",
        "\"FAILED\",\n       \"evidence\": {\"commands_run\": [\"make\", ",
        1,
    );
    assert_eq!(rules(&again, true), ["passed_attempt", "newest_attempt"], "what passed was reverted");
    let stands = again.replace("\"reverted\": true", "\"reverted\": false");
    assert_eq!(rules(&stands, true), ["newest_attempt"]);
    for name in ["HEAD", "main", "abc", "abc1234~1", "v1.0"] {
        let named = FEATURES.replace("abc1234", name);
        assert_eq!((rules(&named, true), rules(&named, false)), (vec!["commit"], vec![]), "{name}");
    }
}
