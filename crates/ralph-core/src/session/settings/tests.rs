use super::*;

fn wanted() -> Wanted {
    wanted_by("/x/ralph")
}

fn wanted_by(program: &str) -> Wanted {
    let hook = |event, word: &str| Hook {
        event,
        command: format!("{program} hook {word}"),
        timeout: 60,
        fails_closed: true,
    };
    Wanted { hooks: vec![hook("Stop", "stop"), hook("SessionStart", "session")], env: Some((CAP, "1000000")) }
}

const SETTINGS: [&str; 23] = [
    "{}",
    "{}\n",
    "{ }",
    "{\n}\n",
    "{\"a\":1}",
    "{\n  \"model\": \"x\",\n  \"permissions\": {\n    \"allow\": [\"Bash\"]\n  }\n}\n",
    "{\r\n\t\"hooks\": {},\r\n\t\"env\": {}\r\n}\r\n",
    "{\n  \"hooks\": {\n    \"Stop\": []\n  }\n}\n",
    "{\n  \"hooks\": {\n    \"Stop\": [\n      {\n        \"hooks\": [\n          {\"type\": \"command\", \"command\": \"say done\"}\n        ]\n      }\n    ],\n    \"PreToolUse\": []\n  },\n  \"env\": {\"A\": \"b\"}\n}\n",
    "{ \"env\" : { \"A\" : \"\\u00e4\" } , \"hooks\" : { \"SessionStart\" : [] } }",
    "{\"hooks\":{\"Stop\":[{\"matcher\":\"\",\"hooks\":[]}]},\"z\":[1 , 2]}",
    "",
    "\n",
    " \t\r\n ",
    "{\"hooks\": { }, \"env\": {\n} }",
    "{\n  \"hooks\": {\n    \"Stop\": [ ],\n    \"SessionStart\": [\n    ]\n  }\n}\n",
    "{\"env\": { }}",
    "  {\"hooks\" : {\t}}  ",
    "{\"hooks\":{\"Stop\":[\n]},\"env\":{}}",
    "{\"hooks\":{\"Stop\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"x ralph\"}] } ]} }",
    "{\"hooks\":{\"Stop\":null}}",
    "{\n  \"hooks\": {\n    \"Stop\": null,\n    \"SessionStart\" : null\n  },\n  \"env\": {}\n}\n",
    "{\"hooks\":{\"SessionStart\":[{\"matcher\":\"resume\",\"hooks\":[{\"type\":\"command\",\"command\":\"ralph hook session\"}]}]}}",
];

fn installed(text: &str) -> Installed {
    install(text, &wanted(), &Put::default()).unwrap_or_else(|why| panic!("{text}: {why}"))
}

#[test]
fn what_an_earlier_version_put_in_fails_closed_from_now_on_and_goes_as_it_came() {
    let mut before = wanted();
    before.hooks.iter_mut().for_each(|hook| hook.fails_closed = false);
    for text in SETTINGS {
        let old = install(text, &before, &Put::default()).unwrap_or_else(|why| panic!("{text}: {why}"));
        assert!(!old.text.contains("onFailure"));
        let new = install(&old.text, &wanted(), &old.put).expect("installed");
        assert_eq!(new.text.matches("\"onFailure\": \"block\"").count(), old.put.hooks.len(), "{}", new.text);
        assert_eq!(uninstall(&new.text, &new.put).expect("taken out"), text);
        let theirs = install(&old.text, &wanted(), &Put::default()).expect("installed");
        assert_eq!(theirs.text, old.text, "a hook of somebody's own is left alone");
    }
}

#[test]
fn what_is_put_in_is_there_once_and_goes_to_the_byte() {
    let programs = ["/x/ralph", "ralph"].map(wanted_by);
    for (before, wanted) in SETTINGS.iter().flat_map(|before| programs.iter().map(move |by| (*before, by))) {
        let installed =
            install(before, wanted, &Put::default()).unwrap_or_else(|why| panic!("{before}: {why}"));
        let value: Value = serde_json::from_str(&installed.text).expect("JSON");
        for hook in &wanted.hooks {
            assert!(runs(&installed.text, hook) && !runs(before, hook), "{}", installed.text);
        }
        assert_eq!(value["env"][CAP], "1000000");
        let again = install(&installed.text, wanted, &installed.put).expect("installed");
        assert_eq!(
            (again.text.as_str(), &again.put),
            (installed.text.as_str(), &installed.put),
            "twice is once"
        );
        let after = uninstall(&installed.text, &installed.put).expect("taken out");
        assert_eq!(after, before, "installed: {}", installed.text);
    }
}

#[test]
fn whoever_is_cut_off_before_the_edit_may_begin_anew_or_take_it_out() {
    for before in SETTINGS {
        let meant = installed(before).put;
        assert_eq!(uninstall(before, &meant).as_deref(), Ok(before), "nothing was put there");
        let again = install(before, &wanted(), &meant).expect("installed");
        assert_eq!(again, installed(before));
    }
}

#[test]
fn what_the_user_wrote_meanwhile_stays() {
    let installed = installed("{\n  \"a\": 1\n}\n");
    let mut value: Value = serde_json::from_str(&installed.text).expect("JSON");
    let own = serde_json::json!({"hooks": [{"type": "command", "command": "say done"}]});
    value["hooks"]["Stop"].as_array_mut().expect("a list").push(own.clone());
    value["env"]["B"] = "c".into();
    let edited = serde_json::to_string_pretty(&value).expect("JSON");
    let after = uninstall(&edited, &installed.put).expect("taken out");
    let after: Value = serde_json::from_str(&after).expect("JSON");
    assert_eq!(after, serde_json::json!({"a": 1, "hooks": {"Stop": [own]}, "env": {"B": "c"}}));
}

#[test]
fn hooks_and_a_variable_of_the_user_s_own_are_neither_replaced_nor_taken_out() {
    for own in ["cd sub && ralph hook stop", "/opt/other/ralph hook stop", "/x/ralph hook stop"] {
        let before = serde_json::json!({
            "hooks": {"Stop": [{"hooks": [{"type": "command", "command": own}]}]}, "env": {CAP: "1000000"},
        });
        let installed = installed(&before.to_string());
        let now: Value = serde_json::from_str(&installed.text).expect("JSON");
        assert_eq!(now["hooks"]["Stop"], before["hooks"]["Stop"], "one hook is enough");
        assert_eq!(installed.remarks.len(), usize::from(!own.starts_with("/x")), "{:?}", installed.remarks);
        assert_eq!(uninstall(&installed.text, &installed.put).expect("taken out"), before.to_string());
        assert_eq!(uninstall(&before.to_string(), &Put::default()).expect("taken out"), before.to_string());
    }
    // The very hook once more, by the user: one of the two goes.
    let installed = installed("{}");
    let mut value: Value = serde_json::from_str(&installed.text).expect("JSON");
    let twice = value["hooks"]["Stop"][0].clone();
    value["hooks"]["Stop"].as_array_mut().expect("a list").push(twice.clone());
    let after = uninstall(&value.to_string(), &installed.put).expect("taken out");
    assert_eq!(after, serde_json::json!({"hooks": {"Stop": [twice]}}).to_string());
}

/// Settings with one hook for each event.
fn with_commands(stop: &Value, start: &Value) -> String {
    let group = |hook: &Value| serde_json::json!([{"hooks": [hook]}]);
    serde_json::json!({"hooks": {"Stop": group(stop), "SessionStart": group(start)}}).to_string()
}

#[test]
fn a_hook_that_runs_ralph_already_is_known_in_whatever_way_it_does() {
    let command = |command: String| serde_json::json!({"type": "command", "command": command});
    for way in [
        "ralph hook @ || true",
        "ralph hook @ 2>/dev/null",
        "ralph hook @;",
        "/usr/local/bin/ralph hook @",
        "timeout 60 ralph hook @",
        "sh -c 'ralph hook @'",
        "bash -lc \"cd sub && exec '/a b/ralph' hook @\"",
        "RALPH_X=1 \"$HOME/bin/ralph\" hook @ | tee log",
        "[ -e .x ] || (ralph  hook\t@)",
    ] {
        let own = |word: &str| command(way.replace('@', word));
        let before = with_commands(&own("stop"), &own("session"));
        let installed = installed(&before);
        assert_eq!(installed.put.hooks, [], "{way}");
        assert_eq!(installed.remarks.len(), 2, "{way}: {:?}", installed.remarks);
        assert_eq!(uninstall(&installed.text, &installed.put).as_deref(), Ok(before.as_str()), "{way}");
    }
    let apart =
        |word: &str| serde_json::json!({"type": "command", "command": "ralph", "args": ["hook", word]});
    assert_eq!(installed(&with_commands(&apart("stop"), &apart("session"))).put.hooks, []);
    for other in
        ["ralph hook status", "ralph-hook stop", "hook stop", "myralph hook stop", "ralph hook", "ralph"]
    {
        let other = command(other.into());
        assert_eq!(installed(&with_commands(&other, &other)).put.hooks.len(), 2, "{other}");
    }
}

#[test]
fn a_program_that_moved_is_named_anew_and_a_cap_of_the_user_s_is_left() {
    let before = format!("{{\"env\": {{\"{CAP}\": \"20\"}}}}");
    let first = installed(&before);
    assert_eq!(first.remarks, [format!("{CAP} is 20 there, and was left so")]);
    assert_eq!(installed(&before.replace("\"20\"", "20")).remarks, first.remarks, "a number too");
    let mut moved = wanted();
    moved.hooks[0].command = "'/new place/ralph' hook stop".into();
    let again = install(&first.text, &moved, &first.put).expect("installed");
    assert_eq!(again.text.matches("hook stop").count(), 1, "{}", again.text);
    assert!(again.text.contains("/new place/ralph"), "{}", again.text);
    assert_eq!(uninstall(&again.text, &again.put).expect("taken out"), before);
    let both = again.put.clone().and(&first.put);
    for text in [&first.text, &again.text] {
        assert_eq!(uninstall(text, &both).expect("taken out"), before, "cut off before or after the edit");
    }
}

#[test]
fn a_hook_that_the_user_made_for_other_sessions_is_left_and_another_one_is_put_beside_it() {
    let first = installed("{}");
    let start = "\"SessionStart\": [";
    let at = first.text.find(start).expect("a list") + start.len();
    let at = at + first.text[at..].find('{').expect("a group") + 1;
    let mut narrowed = first.text.clone();
    narrowed.insert_str(at, "\"matcher\": \"resume\", ");
    assert!(!runs(&narrowed, &wanted().hooks[1]), "{narrowed}");
    for program in ["/x/ralph", "/new/ralph"] {
        let wanted = wanted_by(program);
        let again = install(&narrowed, &wanted, &first.put).expect("installed");
        assert!(wanted.hooks.iter().all(|hook| runs(&again.text, hook)), "{}", again.text);
        let groups = &root(&again.text).expect("read").1[HOOKS]["SessionStart"];
        let before = &root(&narrowed).expect("read").1[HOOKS]["SessionStart"];
        assert_eq!((&groups[0], groups.as_array().map(Vec::len)), (&before[0], Some(2)), "{}", again.text);
        let twice = install(&again.text, &wanted, &again.put).expect("installed");
        assert_eq!((&twice.text, &twice.put), (&again.text, &again.put), "once is enough");
        let left = root(&uninstall(&again.text, &again.put).expect("taken out")).expect("read").1;
        assert_eq!(&left[HOOKS]["SessionStart"], before, "what the user made of it stays");
    }
}

#[test]
fn what_cannot_be_edited_without_loss_is_refused() {
    for (text, why) in [
        ("{\n // mine\n}", "line 2"),
        ("[]", "no object"),
        ("{\"hooks\": 1}", "hooks is no object"),
        ("{\"hooks\": {\"Stop\": 1}}", "Stop is no list"),
        ("{\"env\": 1}", "env is no object"),
        ("{", "line 1"),
    ] {
        let error = install(text, &wanted(), &Put::default()).expect_err(text);
        assert!(error.contains(why), "{text}: {error}");
    }
}
