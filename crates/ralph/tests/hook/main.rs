//! Holding a session: what its hooks are answered, whom they hold, and what is installed for it.

mod armed;
mod background;
#[path = "../common/mod.rs"]
mod common;
mod install;
mod rest;
mod struck;
mod whose;

use std::fs;

use common::{GOAL, TEST, history, one_call, outcomes, ralph, repository, run, says_done, status};
use ralph_testkit::{Finished, Sandbox, Schema, StatusBlock};
use serde_json::{Value, json};

const SESSION: &str = "5f3c";

fn arm(sandbox: &Sandbox, args: &[&str]) -> Finished {
    let finished = ralph(sandbox).args(["hook", "arm", GOAL]).args(args).run();
    finished.assert_code(0).assert_stderr_has("armed: ");
    finished
}

/// A session wants to stop; the answer, if there is one.
fn stops_with(sandbox: &Sandbox, told: &Value) -> Option<Value> {
    let finished = ralph(sandbox).args(["hook", "stop"]).stdin(told.to_string()).run();
    finished.assert_code(0);
    assert_eq!(finished.stderr, "", "a hook says nothing there");
    (!finished.stdout.is_empty()).then(|| finished.json())
}

fn stops(sandbox: &Sandbox, session: &str, words: &str) -> Option<Value> {
    stops_with(
        sandbox,
        &json!({"session_id": session, "hook_event_name": "Stop", "last_assistant_message": words}),
    )
}

fn says(words: &str, block: &StatusBlock) -> String {
    format!("{words}\n\n{block}")
}

fn more() -> String {
    says("Going on.", &StatusBlock::in_progress())
}

fn done() -> String {
    says("All done.", &StatusBlock::done())
}

/// A session begins; what it is told.
fn starts(sandbox: &Sandbox, session: &str, source: &str) -> String {
    let told = json!({"session_id": session, "hook_event_name": "SessionStart", "source": source});
    let finished = ralph(sandbox).args(["hook", "session"]).stdin(told.to_string()).run();
    finished.assert_code(0);
    finished.stdout
}

fn is_blocked(answer: Option<&Value>) -> bool {
    answer.is_some_and(|answer| answer["decision"] == "block")
}

#[test]
fn a_lie_is_refused_with_the_test_s_name_and_the_truth_lets_the_session_go() {
    let sandbox = repository();
    arm(&sandbox, &["--session", SESSION, "--test-cmd", TEST]);
    let refused = stops(&sandbox, SESSION, &done()).expect("an answer");
    let reason = refused["reason"].as_str().expect("a prompt");
    for part in
        [GOAL, "was refused", "not ok 1 - is_green", "---RALPH_STATUS---", "<promise>COMPLETE</promise>"]
    {
        assert!(reason.contains(part), "{part}: {reason}");
    }
    assert!(
        refused["systemMessage"].as_str().is_some_and(|words| words.contains("claimed done, refused")),
        "{refused}"
    );
    sandbox.write("green", "");
    let let_go = stops(&sandbox, SESSION, &done()).expect("an answer");
    assert_eq!(let_go.get("decision"), None);
    assert!(
        let_go["systemMessage"].as_str().is_some_and(|words| words.contains("proved by checks")),
        "{let_go}"
    );
    assert_eq!(outcomes(&sandbox), [(1, "refused".to_owned()), (2, "accepted".to_owned())]);
    assert_eq!(history(&sandbox)[1]["files_changed"], 1);
    assert_eq!(stops(&sandbox, SESSION, &more()), None, "it is let go for good");
}

#[test]
fn a_known_value_in_a_check_s_command_is_not_told_to_whoever_watches_the_session() {
    let sandbox = repository();
    let secret = "zyx987wvu654tsr";
    sandbox.write(".env", format!("STRIPE={secret}\n"));
    let check = format!("test -n {secret} && test -e green");
    arm(&sandbox, &["--session", SESSION, "--test-cmd", &check]);
    let refused = stops(&sandbox, SESSION, &done()).expect("an answer");
    let said = refused["systemMessage"].as_str().expect("a message");
    assert!(said.contains("refused") && said.contains("[redacted:STRIPE]"), "{said}");
    assert!(!said.contains(secret), "{said}");
    sandbox.write("green", "");
    let let_go = stops(&sandbox, SESSION, &done()).expect("an answer");
    assert!(let_go.get("decision").is_none() && !let_go.to_string().contains(secret), "{let_go}");
}

#[test]
fn nothing_is_said_to_sessions_that_nobody_holds() {
    let sandbox = repository();
    assert_eq!(stops(&sandbox, SESSION, &more()), None, "nothing was armed");
    arm(&sandbox, &["--session", SESSION]);
    assert_eq!(stops(&sandbox, "another", &more()), None);
    let inner = ralph(&sandbox).args(["hook", "stop"]).env("RALPH_RUN_ID", "1");
    let told = json!({"session_id": SESSION, "last_assistant_message": "x"}).to_string();
    assert_eq!(inner.stdin(told).run().stdout, "", "an agent that ralph started is nobody's session");
    assert!(is_blocked(stops(&sandbox, SESSION, &more()).as_ref()));
}

#[test]
fn the_next_session_that_starts_is_held_and_told_its_goal() {
    let sandbox = repository();
    arm(&sandbox, &[]);
    assert_eq!(starts(&sandbox, "resumed", "resume"), "");
    assert_eq!(stops(&sandbox, "resumed", &more()), None);
    sandbox.write("by the user", "between arming and the session");
    let told: Value = serde_json::from_str(&starts(&sandbox, "new", "startup")).expect("JSON");
    let context = told["hookSpecificOutput"]["additionalContext"].as_str().expect("a context");
    assert!(context.contains(GOAL) && context.contains("iteration 1 of at most 50"), "{context}");
    assert_eq!(starts(&sandbox, "newer", "startup"), "");
    assert_eq!(stops(&sandbox, "newer", &more()), None);
    assert!(is_blocked(stops(&sandbox, "new", &more()).as_ref()));
    assert_eq!(
        history(&sandbox)[0]["files_changed"],
        0,
        "what the user did before it began is not its doing"
    );
}

#[test]
fn a_session_whose_start_was_not_told_since_arming_is_never_the_next_one() {
    let sandbox = repository();
    assert_eq!(starts(&sandbox, "open", "startup"), "", "nothing was armed");
    arm(&sandbox, &[]);
    let path = sandbox.root().join("tmp/transcript.jsonl");
    // Claude Code begins the transcript with the first prompt, however long the session was open.
    sandbox.write(&path, "{\"type\":\"user\",\"timestamp\":\"2999-01-01T00:00:00Z\"}\n");
    let stop = json!({"session_id": "open", "transcript_path": path, "last_assistant_message": more()});
    for _ in 0..2 {
        assert_eq!(stops_with(&sandbox, &stop), None);
    }
    assert!(starts(&sandbox, "new", "startup").contains(GOAL));
    assert!(is_blocked(stops(&sandbox, "new", &more()).as_ref()));
    assert_eq!(stops_with(&sandbox, &stop), None);
}

#[test]
fn without_words_of_the_hook_the_transcript_s_end_is_read() {
    let sandbox = repository();
    arm(&sandbox, &["--session", SESSION]);
    let path = sandbox.root().join("tmp/long.jsonl");
    let line = |kind: &str, text: &str| {
        json!({"type": kind, "isSidechain": false, "message": {"role": kind, "content": [{"type": "text", "text": text}]},
            "timestamp": "2999-01-01T00:00:00Z"})
        .to_string()
    };
    let padding = vec![line("user", &"x".repeat(1000)); 2000].join("\n");
    sandbox
        .write(&path, format!("{padding}\n{}\n", line("assistant", "Well.\n\n<promise>COMPLETE</promise>")));
    let answer =
        stops_with(&sandbox, &json!({"session_id": SESSION, "transcript_path": path})).expect("an answer");
    let said = answer["systemMessage"].as_str().expect("a message");
    assert!(
        said.contains("complete")
            && said.contains("; nothing was changed in this run, and no check was run (ralph"),
        "{answer}"
    );
}

#[test]
fn trouble_lets_the_session_stop_and_says_so() {
    let trouble = |sandbox: &Sandbox, stdin: &str| {
        let finished = ralph(sandbox).args(["hook", "stop"]).stdin(stdin).run();
        finished.assert_code(0);
        let answer = finished.json();
        assert_eq!(answer.get("decision"), None);
        answer["systemMessage"].as_str().expect("a message").to_owned()
    };
    let told = json!({"session_id": SESSION, "last_assistant_message": more()}).to_string();
    let sandbox = repository();
    arm(&sandbox, &["--session", SESSION]);
    sandbox.damages_the_record();
    assert!(trouble(&sandbox, "{ not JSON").contains("told its hook cannot be read"));
    assert!(trouble(&sandbox, "").contains("told its hook cannot be read"));
    let journal = sandbox.read(".git/ralph/runs/0001/journal.jsonl");
    sandbox.write(".git/ralph/runs/0001/journal.jsonl", journal.replacen("make it", "fake it", 1));
    assert!(trouble(&sandbox, &told).contains("journal"), "{}", trouble(&sandbox, &told));
    let status = ralph(&sandbox).args(["hook", "status"]).run();
    assert!(status.stdout.starts_with("armed, but the record of its run is damaged"), "{status}");
    sandbox.write(".git/ralph/hook.json", "{");
    assert!(trouble(&sandbox, &told).contains("ralph hook disarm"));
    ralph(&sandbox).args(["hook", "disarm"]).run();
    assert_eq!(stops(&sandbox, SESSION, &more()), None);
}

#[test]
fn a_hook_beside_a_run_that_goes_on_lets_the_session_stop() {
    let sandbox = repository();
    arm(&sandbox, &["--session", SESSION]);
    let lock =
        fs::File::options().write(true).open(sandbox.project().join(".git/ralph/lock")).expect("a lock");
    lock.lock().expect("free");
    let answer = stops(&sandbox, SESSION, &more()).expect("an answer");
    assert!(
        answer["systemMessage"].as_str().is_some_and(|words| words.contains("another run is going on")),
        "{answer}"
    );
    lock.unlock().expect("held");
    assert!(is_blocked(stops(&sandbox, SESSION, &more()).as_ref()), "and nothing was lost");
}

#[test]
fn the_breaker_the_limit_and_a_block_let_go() {
    let sandbox = repository();
    arm(&sandbox, &["--session", SESSION]);
    let held = (1..10).take_while(|_| is_blocked(stops(&sandbox, SESSION, &more()).as_ref())).count();
    assert_eq!((held, &status(&sandbox)["stop_reason"]), (3, &json!("circuit_open")));
    let refused = ralph(&sandbox).args(["hook", "arm", GOAL]).run();
    refused.assert_code(1).assert_stderr_has("circuit open").assert_stderr_has("ralph circuit reset");
    ralph(&sandbox).args(["circuit", "reset"]).run().assert_code(0);
    arm(&sandbox, &["--session", SESSION, "--max-iterations", "2"]);
    assert!(is_blocked(stops(&sandbox, SESSION, &more()).as_ref()));
    let over = stops(&sandbox, SESSION, &more()).expect("an answer");
    assert_eq!(over["systemMessage"], "ralph: 2 of 2 iterations used (ralph history)");
    arm(&sandbox, &["--session", SESSION]);
    let blocked = stops(&sandbox, SESSION, &says("Help.", &StatusBlock::blocked("a key is missing")))
        .expect("an answer");
    assert!(
        blocked["systemMessage"].as_str().is_some_and(|words| words.contains("blocked: a key is missing")),
        "{blocked}"
    );
}

#[test]
fn a_note_reaches_the_session_with_its_next_prompt() {
    let sandbox = repository();
    arm(&sandbox, &["--session", SESSION]);
    let noted = ralph(&sandbox).args(["note", "use the staging server"]).run();
    noted
        .assert_code(0)
        .assert_stderr_has("noted; the session that is held is told when it next wants to stop");
    let stop = ralph(&sandbox).arg("stop").run();
    stop.assert_code(1).assert_stderr_has("try: to let go of it: ralph hook disarm");
    let answer = stops(&sandbox, SESSION, &more()).expect("an answer");
    assert!(
        answer["reason"].as_str().is_some_and(|prompt| prompt.contains("use the staging server")),
        "{answer}"
    );
}

#[test]
fn what_is_held_is_shown_and_can_be_let_go() {
    let sandbox = repository();
    let shown = || ralph(&sandbox).args(["hook", "status", "--json"]).run().json();
    let complaints = |document: &Value| Schema::published("ralph.hook/1").complaints(document);
    assert_eq!((shown()["armed"].clone(), complaints(&shown())), (json!(false), vec![]));
    arm(&sandbox, &["--session", SESSION, "--promise", "SHIPPED"]);
    let held = shown();
    assert_eq!(
        (&held["session"], &held["promise"], complaints(&held)),
        (&json!(SESSION), &json!("SHIPPED"), vec![])
    );
    assert_eq!(
        (&status(&sandbox)["running"], &status(&sandbox)["status"]),
        (&json!(true), &json!("working"))
    );
    ralph(&sandbox).arg("status").run().assert_stdout_has("session 5f3c is to be held");
    ralph(&sandbox)
        .args(["hook", "arm", "other"])
        .run()
        .assert_code(1)
        .assert_stderr_has("ralph hook disarm");
    ralph(&sandbox).args(["hook", "disarm"]).run().assert_code(0).assert_stderr_has("disarmed");
    assert_eq!((stops(&sandbox, SESSION, &more()), &shown()["armed"]), (None, &json!(false)));
    assert_eq!(status(&sandbox)["stop_reason"], "closed");
    let told = ralph(&sandbox).arg("status").run();
    told.assert_stdout_has("closed by hand");
    assert!(!told.stdout.contains("ralph reset"), "{told}");
    ralph(&sandbox).args(["hook", "disarm"]).run().assert_code(0).assert_stderr_has("no session is held");
}

#[test]
fn without_hooks_nothing_is_said_to_be_held() {
    let sandbox = repository();
    let armed = ralph(&sandbox).args(["hook", "arm", "goal", "--session", "s9"]).run();
    armed.assert_code(0).assert_stderr_has("session s9 is to be held").assert_stderr_lacks("s9 is held");
    armed.assert_stderr_has("until then nothing is held: ralph hook install");
    let told = || ralph(&sandbox).arg("status").run().stdout;
    assert!(
        told().contains("s9 is to be held; no agent's settings") && !told().contains("s9 is held"),
        "{}",
        told()
    );
    ralph(&sandbox).args(["hook", "install"]).run().assert_code(0);
    let status = ralph(&sandbox).args(["hook", "status"]).run();
    status.assert_stdout_has("session s9 is held");
    status.assert_stdout_has("hooks are installed for claude (.claude/settings.json)");
    assert!(told().contains("session s9 is held"), "{}", told());
    assert!(is_blocked(stops(&sandbox, "s9", &more()).as_ref()));
    let view = ".ralph-session.json, which shows how the last held session stood, stays";
    ralph(&sandbox).args(["hook", "disarm"]).run().assert_code(0).assert_stderr_has(view);
    ralph(&sandbox).args(["hook", "uninstall"]).run().assert_code(0).assert_stderr_has(view);
    let gone = sandbox.command("rm").arg(".ralph-session.json").status().expect("start rm");
    assert!(gone.success());
    ralph(&sandbox).args(["hook", "install"]).run().assert_code(0);
    ralph(&sandbox).args(["hook", "uninstall"]).run().assert_code(0).assert_stderr_lacks(view);
    let waits = ralph(&sandbox).args(["hook", "arm", "goal"]).run();
    waits.assert_code(0).assert_stderr_has("say go: it is told the goal when it starts");
}

#[test]
fn arming_and_letting_go_leave_no_session_file_and_touch_none_that_was_there() {
    let file = ".ralph-session.json";
    for session in [&[][..], &["--session", SESSION]] {
        let sandbox = repository();
        arm(&sandbox, session);
        assert!(!sandbox.exists(file), "no session has told anything");
        let let_go = ralph(&sandbox).args(["hook", "disarm"]).run();
        let_go.assert_code(0).assert_stderr_lacks(file);
        assert_eq!(sandbox.git(&["status", "--porcelain"]), "");
        sandbox.write(file, "{\"mine\": true}\n");
        arm(&sandbox, session);
        ralph(&sandbox).args(["hook", "disarm"]).run().assert_code(0).assert_stderr_lacks(file);
        assert_eq!(sandbox.read(file), "{\"mine\": true}\n");
    }
}

#[test]
fn a_run_that_was_armed_and_let_go_without_a_session_had_no_iteration() {
    let sandbox = repository();
    arm(&sandbox, &[]);
    let waits = ralph(&sandbox).arg("status").run();
    waits.assert_stdout_has("iteration:  none yet of run 1: 1/50 begins with the session\n");
    let told = ralph(&sandbox).arg("history").run();
    told.assert_stdout_has("no iteration yet: its session has not started");
    assert!(history(&sandbox).is_empty(), "{told}");
    ralph(&sandbox).args(["hook", "disarm"]).run().assert_code(0);
    ralph(&sandbox).arg("status").run().assert_stdout_has("iteration:  none of run 1\n");
    let one = ralph(&sandbox).args(["history", "1"]).run();
    one.assert_code(64).assert_stderr_has("there is no iteration 1");
    let none = ralph(&sandbox).args(["history", "--transcript"]).run();
    none.assert_code(0).assert_stdout_has("no iteration: ");
    let told = ralph(&sandbox).arg("history").run();
    told.assert_code(0).assert_stdout_has("no iteration: no session wanted to stop before it was let go");
    assert!(!told.stdout.contains("#1") && !told.stdout.contains("UNFINISHED"), "{told}");
    assert!(history(&sandbox).is_empty());
    arm(&sandbox, &["--session", SESSION]);
    assert!(is_blocked(stops(&sandbox, SESSION, &more()).as_ref()));
    ralph(&sandbox).args(["hook", "disarm"]).run().assert_code(0);
    assert_eq!(history(&sandbox).len(), 1, "the one that the session came to the end of");
}

#[test]
fn arming_says_what_holds_the_session_or_that_nothing_does() {
    let sandbox = repository();
    let armed = arm(&sandbox, &["--session", SESSION]);
    armed.assert_stderr_has("no check holds it: its word that it is done is enough; to add one: ");
    let again = format!("ralph hook disarm, then ralph hook arm '{GOAL}' --session {SESSION} --test-cmd CMD");
    armed.assert_stderr_has(&again);
    ralph(&sandbox).args(["hook", "status"]).run().assert_stdout_has(&again);
    ralph(&sandbox).args(["hook", "disarm"]).run().assert_code(0);

    sandbox.write("Makefile", "test:\n\ttest -e green\n");
    arm(&sandbox, &[]).assert_stderr_has(&format!("arm '{GOAL}' --test-cmd 'make test'"));
    ralph(&sandbox).args(["hook", "disarm"]).run().assert_code(0);

    let armed = arm(&sandbox, &["--test-cmd", "test -e green", "--lint-cmd", "true"]);
    let held = "it is let go when it says done and ralph sees this pass: test: test -e green; lint: true";
    armed.assert_stderr_has(held).assert_stderr_lacks("no check holds it");
    ralph(&sandbox).args(["hook", "status"]).run().assert_stdout_has(held);
    ralph(&sandbox).args(["hook", "disarm"]).run().assert_code(0);

    let armed = arm(&sandbox, &["--test-cmd", "true", "--set", "evidence=off", "--set", "reviews=2"]);
    armed.assert_stderr_has(
        "its word that it is done, and 2 reviews, or 1 where the claim changed nothing, are enough",
    );
    armed.assert_stderr_has("--set evidence=required");
}

/// The settings of the project with some of the hooks.
fn with_hooks(sandbox: &Sandbox, file: &str, hooks: &[(&str, &str)]) {
    let group =
        |word: &str| json!([{"hooks": [{"type": "command", "command": format!("ralph hook {word}")}]}]);
    let hooks: serde_json::Map<String, Value> =
        hooks.iter().map(|(event, word)| ((*event).to_owned(), group(word))).collect();
    sandbox.write(file, json!({"hooks": hooks}).to_string());
}

const STOP: (&str, &str) = ("Stop", "stop");
const START: (&str, &str) = ("SessionStart", "session");

#[test]
fn with_the_stop_hook_alone_only_a_session_that_is_named_is_said_to_be_held() {
    let sandbox = repository();
    with_hooks(&sandbox, ".claude/settings.json", &[STOP]);
    let shown = |args: &[&str]| ralph(&sandbox).args(args).run().stdout;
    let missing = "only a session that --session or /ralph names is held, and not the next one that starts";
    let armed = arm(&sandbox, &[]);
    armed.assert_stderr_has("the next session that starts here is to be held").assert_stderr_has(missing);
    armed.assert_stderr_has("ralph hook install");
    for args in [&["hook", "status"][..], &["status"]] {
        let shown = shown(args);
        for part in ["the next session that starts here is to be held", missing, "ralph hook install"] {
            assert!(shown.replace("\n            ", " ").contains(part), "{args:?}: {part}: {shown}");
        }
    }
    assert!(shown(&["hook", "status"]).contains("claude (.claude/settings.json, Stop alone)"));
    ralph(&sandbox).args(["hook", "disarm"]).run().assert_code(0);
    arm(&sandbox, &["--session", SESSION])
        .assert_stderr_has("session 5f3c is held")
        .assert_stderr_lacks(missing);
    assert!(!shown(&["hook", "status"]).contains(missing));
    let document = ralph(&sandbox).args(["hook", "status", "--json"]).run().json();
    assert_eq!(Schema::published("ralph.hook/1").complaints(&document), Vec::<String>::new());
    assert_eq!(document["installed"], false);
    let there =
        json!([{"agent": "claude", "file": ".claude/settings.json", "stop": true, "session_start": false}]);
    assert_eq!(document["hooks"], there);
}

#[test]
fn hooks_in_two_files_of_one_agent_are_whole_and_those_of_two_agents_are_not() {
    for (file, whole) in [(".claude/settings.local.json", true), (".codex/hooks.json", false)] {
        let sandbox = repository();
        with_hooks(&sandbox, file, &[START]);
        let status = ralph(&sandbox).args(["hook", "status"]).run();
        status.assert_stdout_has("SessionStart alone").assert_stdout_has("ralph's Stop hook");
        with_hooks(&sandbox, ".claude/settings.json", &[STOP]);
        let document = ralph(&sandbox).args(["hook", "status", "--json"]).run().json();
        assert_eq!(document["installed"], whole, "{file}");
        let says = if whole { "will be held" } else { "is to be held" };
        arm(&sandbox, &[]).assert_stderr_has(&format!("the next session that starts here {says}"));
    }
}

#[test]
fn a_run_beside_a_session_that_is_held_is_refused_until_it_is_let_go() {
    let sandbox = repository();
    ralph(&sandbox).args(["hook", "install"]).run().assert_code(0);
    arm(&sandbox, &["--session", SESSION]);
    assert!(is_blocked(stops(&sandbox, SESSION, &more()).as_ref()));
    let agent = one_call(&sandbox, says_done());
    let other = || run(&sandbox, &agent).args(["--test-cmd", "true", "--reviews", "0"]);
    for refused in [other().run(), other().arg("--fresh").run(), ralph(&sandbox).arg("run").run()] {
        refused.assert_code(1).assert_stderr_has("ralph: session 5f3c is held");
        refused.assert_stderr_has("two agents in one tree").assert_stderr_has("try: ralph hook disarm");
    }
    other().arg("--dry-run").run().assert_code(0);
    assert!(is_blocked(stops(&sandbox, SESSION, &more()).as_ref()), "it is held as before");
    ralph(&sandbox).args(["hook", "disarm"]).run().assert_code(0);
    other().run().assert_code(0);
    assert_eq!(stops(&sandbox, SESSION, &more()), None);
}

#[test]
fn no_run_begins_beside_a_session_that_is_waited_for() {
    for hooks in [false, true] {
        let sandbox = repository();
        if hooks {
            ralph(&sandbox).args(["hook", "install"]).run().assert_code(0);
        }
        ralph(&sandbox).args(["hook", "arm", "another goal"]).run().assert_code(0);
        let agent = one_call(&sandbox, says_done());
        let begun = || run(&sandbox, &agent).args(["--test-cmd", "true", "--reviews", "0"]);
        let will = if hooks { "will be held" } else { "is to be held" };
        let refused = begun().run();
        refused
            .assert_code(1)
            .assert_stderr_has(&format!("ralph: the next session that starts here {will}: another goal"))
            .assert_stderr_has("try: ralph hook disarm");
        let waits = ralph(&sandbox).args(["hook", "status"]).run();
        waits.assert_stdout_has("armed: the next session that starts here");
        assert!(agent.calls(&sandbox).is_empty(), "nothing was started");
        begun().arg("--dry-run").run().assert_code(0);
        ralph(&sandbox).args(["hook", "disarm"]).run().assert_code(0);
        begun().run().assert_code(0);
    }
}

#[test]
fn a_run_in_script_mode_waits_until_the_session_is_let_go() {
    let sandbox = repository();
    arm(&sandbox, &["--session", SESSION]);
    let agent = one_call(&sandbox, says_done());
    for refused in [ralph(&sandbox).args(["run", "--yes"]), run(&sandbox, &agent)] {
        refused.run().assert_code(1).assert_stderr_has(&format!("ralph: session {SESSION} is to be held"));
    }
    ralph(&sandbox).args(["hook", "disarm"]).run().assert_code(0);
    run(&sandbox, &agent).args(["--test-cmd", "true", "--reviews", "0"]).run().assert_code(0);
    assert_eq!(stops(&sandbox, SESSION, &more()), None);
}

#[test]
fn mode_hook_arms_explains_and_returns() {
    let sandbox = repository();
    ralph(&sandbox).args(["run", "--mode", "hook"]).run().assert_code(64).assert_stderr_has("needs a goal");
    let with_goal = [
        "--agent-cmd x",
        "--agents claude",
        "--model x",
        "--permissions full",
        "--no-detect",
        "--timeout 1m",
        "--idle-timeout 1m",
        "--commit",
        "--branch x",
        "--dry-run",
        "--resume",
        "--fresh",
        "--yes",
        "--json",
        "--quiet",
    ];
    let without = ["--once", "--phase x", "--all", "--backlog x", "--task x", "--harness-dir x"];
    let orders =
        with_goal.iter().map(|args| (Some(GOAL), args)).chain(without.iter().map(|args| (None, args)));
    for (goal, args) in orders {
        let refused = ralph(&sandbox).args(["run", "--mode", "hook"]).args(goal).args(args.split(' ')).run();
        let flag = args.split(' ').next().expect("a flag");
        refused.assert_code(64).assert_stderr_has(&format!("{flag} does not go with it"));
    }
    let refused = ralph(&sandbox).args(["run", "--mode", "hook", GOAL, "--", "--verbose"]).run();
    refused.assert_code(64).assert_stderr_has("an argument for the agent");
    assert!(
        !sandbox.exists(".git/ralph/hook.json") && !sandbox.exists(".git/ralph/runs"),
        "nothing was armed"
    );
    let armed = ralph(&sandbox).args(["run", GOAL, "--mode", "hook", "--max-iterations", "3"]).run();
    armed
        .assert_code(0)
        .assert_stderr_has("the next session that starts here is to be held")
        .assert_stderr_has("ralph hook install");
    assert_eq!(ralph(&sandbox).args(["hook", "status", "--json"]).run().json()["max_iterations"], 3);
}

#[test]
fn the_installed_skill_announces_the_report_and_asks_for_facts() {
    let sandbox = repository();
    ralph(&sandbox).args(["hook", "install"]).run().assert_code(0);
    let skill = sandbox.read(".claude/skills/ralph-report/SKILL.md");
    for part in [
        "name: ralph-report",
        "Use when",
        "\"Producing RALPH_STATUS block for this iteration.\"",
        "report emit",
    ] {
        assert!(skill.contains(part), "{part}: {skill}");
    }
    let emit = skill.split('`').find(|code| code.ends_with("report emit --help")).expect("a command");
    let emit: Vec<&str> = emit.split_whitespace().skip(1).collect();
    ralph(&sandbox).args(emit).run().assert_code(0).assert_stdout_has("Usage");
}

#[test]
fn a_session_that_met_a_limit_is_not_sent_back_and_nothing_is_counted() {
    let sandbox = repository();
    arm(&sandbox, &["--session", SESSION]);
    let path = sandbox.root().join("tmp/limited.jsonl");
    let line = |error: Option<&str>, words: &str| {
        json!({"type": "assistant", "isSidechain": false, "error": error, "isApiErrorMessage": error.is_some(),
            "message": {"role": "assistant", "content": [{"type": "text", "text": words}]},
            "timestamp": "2999-01-01T00:00:00Z"})
        .to_string()
    };
    let notice = "You've hit your session limit";
    let limited = format!("{}\n{}\n", line(None, "I begin."), line(Some("rate_limit"), notice));
    let stop = |transcript: &str, words: &str| {
        sandbox.write(&path, transcript);
        stops_with(
            &sandbox,
            &json!({"session_id": SESSION, "transcript_path": path, "last_assistant_message": words}),
        )
        .expect("an answer")
    };
    let answer = stop(&limited, notice);
    let said = answer["systemMessage"].as_str().expect("a message");
    assert!(answer.get("decision").is_none() && said.contains(notice), "{answer}");
    assert_eq!(outcomes(&sandbox), [(1, "open".to_owned())], "neither failed nor counted");
    // It went on, and is held as it was said.
    let answer = stop(&format!("{limited}{}\n", line(None, "Going on.")), &more());
    assert!(is_blocked(Some(&answer)), "{answer}");
    assert_eq!(outcomes(&sandbox)[0], (1, "more".to_owned()));
}

#[test]
fn a_session_at_its_limit_is_told_what_goes_on_and_no_command_that_is_refused() {
    let sandbox = repository();
    arm(&sandbox, &["--session", SESSION, "--max-iterations", "1"]);
    stops(&sandbox, SESSION, &more()).expect("an answer");
    let shown = ralph(&sandbox).arg("status").run();
    shown.assert_stdout_has(&format!(
        "to hold another session for it: ralph hook arm '{GOAL}' --max-iterations 10\n"
    ));
    shown.assert_stdout_has(
        "to go on, in a loop of fresh processes: ralph run --agents claude --max-iterations 11\n",
    );
    let without = ralph(&sandbox).args(["run", "--yes", "--max-iterations", "11"]).run();
    without.assert_code(64).assert_stderr_has("held in a session");
    let waited = ralph(&sandbox).args(["hook", "arm", GOAL, "--max-iterations", "10"]).run();
    waited.assert_code(0);
    let noted = ralph(&sandbox).args(["note", "a word"]).run();
    noted.assert_stderr_has("noted; the session that is waited for is told when it starts");
}
