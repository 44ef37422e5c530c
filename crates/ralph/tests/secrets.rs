//! Secrets in what agents and checks print: nothing of them in what ralph keeps or shows, but for the raw transcripts.

mod common;

use std::path::{Path, PathBuf};

use common::{history, ralph, repository, run, says_done};
use ralph_testkit::{ClaudeResult, FakeAgent, Sandbox, StatusBlock, Steps};
use serde_json::json;

const FILED: &str = "zyx987wvu654tsr";
const IN_ENVIRONMENT: &str = "swordfish-and-chips";

/// Put together here, so that no scanner of repositories takes them for real ones.
fn keys() -> Vec<String> {
    let random = "A1b2C3d4E5f6G7h8J9k0L1m2N3p4Q5r6S7t8";
    vec![
        format!("sk-ant-api03-{random}"),
        format!("ghp_{random}"),
        format!("AKIA{}", "A1B2C3D4E5F6G7H8"),
        FILED.to_owned(),
        IN_ENVIRONMENT.to_owned(),
    ]
}

fn files_below(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).expect("a folder").flatten();
    let below = entries.map(|entry| entry.path());
    below.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}

/// Looks into every file of ralph's, and into what its commands print.
fn assert_hidden(sandbox: &Sandbox, talk: &str) {
    let raw = |path: &Path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        name.starts_with("transcript.") || name.ends_with(".out")
    };
    let mut texts = vec![("stderr".to_owned(), talk.to_owned())];
    for dir in [".ralph", ".git/ralph/runs"] {
        for path in files_below(&sandbox.project().join(dir)).into_iter().filter(|path| !raw(path)) {
            let text = String::from_utf8_lossy(&std::fs::read(&path).expect("readable")).into_owned();
            texts.push((path.display().to_string(), text));
        }
    }
    for args in [
        &["status"][..],
        &["status", "--json"],
        &["history"],
        &["history", "--json"],
        &["history", "1"],
        &["history", "1", "--json"],
        &["history", "1", "--transcript"],
        &["history", "1", "--checks"],
        &["status", "--follow"],
        &["status", "--follow", "--json"],
        &["evidence", "show"],
        &["evidence", "export"],
        &["evidence", "export", "--json"],
    ] {
        // What is secret is told by the environment of whoever looks.
        let shown = ralph(sandbox).env("MY_API_TOKEN", IN_ENVIRONMENT).args(args).run();
        texts.push((format!("{args:?}"), format!("{}{}", shown.stdout, shown.stderr)));
    }
    for (place, text) in texts {
        for key in keys() {
            assert!(!text.contains(&key), "{key} in {place}:\n{text}");
        }
    }
}

#[test]
fn keys_in_words_errors_and_check_output_reach_neither_record_nor_views_nor_the_next_prompt() {
    let sandbox = repository();
    sandbox.write(".env", format!("STRIPE={FILED}\n"));
    let all = keys().join(" ");
    let words = format!("I used {all} to log in.");
    let block = StatusBlock::done();
    let failing = format!("echo 'not ok 1 - logs_in_with_{FILED}'; echo 'error: {all}'; exit 1");
    sandbox.write("check.sh", failing);
    let agent = FakeAgent::new("agent")
        .call(Steps::new().say(&words).complain(format!("fatal: bad key {all}")).status(&block))
        .call(says_done())
        .install(&sandbox);
    let done = run(&sandbox, &agent)
        .env("MY_API_TOKEN", IN_ENVIRONMENT)
        .args(["--test-cmd", "sh check.sh", "--max-iterations", "2"])
        .run();
    done.assert_code(3);
    assert_hidden(&sandbox, &done.stderr);
    let told = run(&sandbox, &agent)
        .env("MY_API_TOKEN", IN_ENVIRONMENT)
        .args(["--fresh", "--json", "--test-cmd", "sh check.sh", "--max-iterations", "1"])
        .run();
    assert!(told.json_lines().len() > 3, "{told}");
    assert_hidden(&sandbox, &format!("{}{}", told.stdout, told.stderr));
    let prompt = &agent.calls(&sandbox)[1].prompt;
    assert!(
        prompt.contains("error: [redacted] [redacted] [redacted] [redacted:STRIPE] [redacted:MY_API_TOKEN]"),
        "{prompt}"
    );
    assert!(
        sandbox.read(".git/ralph/runs/0001/iteration-000001/transcript.out").contains(FILED),
        "raw as it was"
    );
    let shown = ralph(&sandbox).args(["history", "1", "--transcript"]).run();
    shown.assert_stdout_has("I used [redacted] [redacted]").assert_stdout_has("[redacted:STRIPE]");
}

#[test]
fn keys_in_a_stream_s_tool_calls_and_errors_are_hidden_too() {
    let sandbox = repository();
    sandbox.write(".env.local", format!("STRIPE={FILED}\n"));
    let all = keys().join(" ");
    let steps = Steps::new()
        .claude_init()
        .claude_text(format!("Calling it with {all}"))
        .claude_tool("Bash", json!({"command": format!("curl -H 'x: {all}'")}))
        .claude_tool_error(&format!("Exit code 1\nerror: refused {all}"))
        .claude_text(StatusBlock::in_progress().to_string())
        .claude_result(ClaudeResult::success("going on"));
    let agent = FakeAgent::new("agent").call(steps).install(&sandbox);
    let done = run(&sandbox, &agent)
        .env("MY_API_TOKEN", IN_ENVIRONMENT)
        .args(["--max-iterations", "1", "--test-cmd", "true"])
        .run();
    done.assert_code(3);
    assert_hidden(&sandbox, &done.stderr);
    assert_eq!(history(&sandbox)[0]["outcome"], "more");
}

#[test]
fn a_goal_or_note_with_a_key_is_kept_without_it_and_that_is_said() {
    let sandbox = repository();
    let key = &keys()[0];
    let agent = FakeAgent::new("agent")
        .call(Steps::new().reach("agent").hold("go"))
        .call(says_done())
        .install(&sandbox);
    let command =
        || ralph(&sandbox).args(["run", &format!("log in with {key}"), "--agent-cmd"]).arg(agent.path());
    let running = command().args(["--test-cmd", "true", "--max-iterations", "1"]).spawn();
    sandbox.wait_for("agent");
    ralph(&sandbox).args(["note", &format!("or with {key}")]).run().assert_code(0);
    sandbox.release("go");
    let first = running.wait();
    first.assert_code(3).assert_stderr_has("the goal holds what looks like a secret");
    // The same goal is the same goal, also with the key in it.
    let second = command().args(["--max-iterations", "5"]).run();
    second.assert_code(0).assert_stderr_has("run 1 continued");
    let prompt = &agent.calls(&sandbox)[1].prompt;
    assert!(prompt.contains("log in with [redacted]") && prompt.contains("or with [redacted]"), "{prompt}");
    assert_hidden(&sandbox, &format!("{}{}", first.stderr, second.stderr));
}

#[test]
fn a_secret_stays_one_though_the_file_that_told_it_is_gone() {
    let sandbox = repository();
    sandbox.write(".env", format!("STRIPE={FILED}\n"));
    let agent = FakeAgent::new("agent")
        .call(Steps::new().delete(".env").status(&StatusBlock::in_progress()))
        .call(Steps::new().say(format!("It was {FILED}.")).status(&StatusBlock::in_progress()))
        .install(&sandbox);
    let done = run(&sandbox, &agent).args(["--max-iterations", "2", "--set", "no_progress=off"]).run();
    done.assert_code(3);
    let journal = sandbox.read(".git/ralph/runs/0001/journal.jsonl");
    assert!(!journal.contains(FILED) && journal.contains("It was [redacted:STRIPE]"), "{journal}");
}

#[test]
fn values_in_env_files_of_a_project_s_parts_are_hidden_too() {
    let sandbox = repository();
    let told = [
        ("apps/api/.env", "zyx987wvu654tsr"),
        ("packages/@team/web/.env.local", "wvu654tsr321zyx"),
        ("infra/.envrc", "tsr321qpo098wvu"),
    ];
    // Not a part of the project, deeper than its parts are, and one that shows how to write one.
    let other = [
        ("node_modules/x/.env", "abc123def456ghi"),
        ("a/b/c/d/.env", "ghi789jkl012mno"),
        ("apps/api/.env.example", "mno345pqr678stu"),
    ];
    for (path, value) in told.iter().chain(&other) {
        sandbox.write(path, format!("STRIPE={value}\n"));
    }
    let all = |of: &[(&str, &str)]| of.iter().map(|(_, value)| *value).collect::<Vec<_>>().join(" ");
    let words = format!("I used {} and {}.", all(&told), all(&other));
    let agent = FakeAgent::new("agent")
        .call(Steps::new().say(&words).status(&StatusBlock::in_progress()))
        .install(&sandbox);
    run(&sandbox, &agent).args(["--max-iterations", "1"]).run().assert_code(3);
    let hidden = format!("I used {0} {0} {0} and {1}.", "[redacted:STRIPE]", all(&other));
    let shown = ralph(&sandbox).args(["history", "1", "--transcript"]).run();
    shown.assert_code(0).assert_stdout_has(&hidden);
    let journal = sandbox.read(".git/ralph/runs/0001/journal.jsonl");
    assert!(journal.contains(&hidden), "{journal}");
}

#[test]
fn a_note_that_waits_is_kept_and_shown_without_its_key() {
    let sandbox = repository();
    let noted = ralph(&sandbox).args(["note", &format!("log in with {}", keys()[0])]).run();
    noted.assert_code(0).assert_stderr_has("the note holds what looks like a secret");
    for args in [&["status"][..], &["status", "--json"]] {
        let shown = ralph(&sandbox).args(args).run();
        shown.assert_code(0).assert_stdout_has("log in with [redacted]");
        assert!(!shown.stdout.contains(&keys()[0]), "{shown}");
    }
    for file in files_below(&sandbox.project().join(".git/ralph/requests")) {
        assert!(!std::fs::read_to_string(&file).expect("text").contains(&keys()[0]), "{}", file.display());
    }
}

#[test]
fn a_key_in_a_command_is_shown_nowhere_and_its_keeping_is_warned_of() {
    let sandbox = repository();
    let key = &keys()[1];
    let held = Steps::new().reach("agent").hold("go").status(&StatusBlock::done());
    let agent = FakeAgent::new("agent").call(held).call(says_done()).install(&sandbox);
    let check = format!("test -n {key}");
    let arguments = ["--test-cmd", &check, "--reviews", "0"];
    let running = run(&sandbox, &agent).args(arguments).spawn();
    sandbox.wait_for("agent");
    let during = ralph(&sandbox).arg("status").run();
    sandbox.release("go");
    let talked = running.wait();
    talked.assert_code(0).assert_stderr_has("a command holds what looks like a secret");
    let mut shown = vec![during, talked];
    shown.push(run(&sandbox, &agent).args(["--json", "--fresh"]).args(arguments).run());
    for args in [&["status"][..], &["status", "--json"], &["history", "--json"], &["history", "1"]] {
        shown.push(ralph(&sandbox).args(args).run());
    }
    for shown in shown {
        assert!(!shown.stdout.contains(key) && !shown.stderr.contains(key), "{shown}");
    }
    assert!(agent.calls(&sandbox).iter().all(|call| !call.prompt.contains(key)));
    assert_hidden_views(&sandbox, key);
}

/// No view tells it.
fn assert_hidden_views(sandbox: &Sandbox, key: &str) {
    for file in files_below(&sandbox.project().join(".ralph")) {
        assert!(
            !String::from_utf8_lossy(&std::fs::read(&file).expect("readable")).contains(key),
            "{}",
            file.display()
        );
    }
}

#[test]
fn a_key_among_an_agent_s_arguments_is_warned_of() {
    let sandbox = repository();
    sandbox.install_script("claude", "#!/bin/sh\necho '2.1.0 (Claude Code)'\n");
    let key = &keys()[0];
    let told = ralph(&sandbox)
        .args([
            "run", "goal", "--yes", "--agents", "claude", "--permissions", "inherit", "--max-iterations",
            "1", "--", "--key", key,
        ])
        .run();
    told.assert_stderr_has("a command holds what looks like a secret");
    assert!(!told.stderr.contains(key), "{told}");
}

#[test]
fn more_values_in_env_files_than_are_kept_are_said_once_and_hold_nothing_up() {
    let sandbox = repository();
    let many: String = (0..10_000).map(|n| format!("V{n}=zyx{n}wvu98765\n")).collect();
    sandbox.write(".env.data", many + "LAST_TOKEN=" + IN_ENVIRONMENT + "\n");
    let words = format!("{IN_ENVIRONMENT} zyx7wvu98765");
    let agent = FakeAgent::new("agent").call(Steps::new().write("a.txt", "1").say(words)).install(&sandbox);
    let ran = run(&sandbox, &agent).args(["--max-iterations", "2"]).run();
    assert_eq!(ran.stderr.matches("hold 10001 values").count(), 1, "{ran}");
    let kept = sandbox.read(".git/ralph/runs/0001/journal.jsonl");
    assert!(kept.contains("[redacted:LAST_TOKEN] [redacted:V7]"), "{kept}");
}

/// The journal has them, to continue the run.
#[test]
fn values_inside_commands_are_shown_nowhere() {
    let sandbox = repository();
    sandbox.write(".env", format!("STRIPE={FILED}\n"));
    let agent = FakeAgent::new("agent")
        .call(Steps::new().write("a.txt", "1").status(&StatusBlock::done()))
        .install(&sandbox);
    let command = format!("{} --key {IN_ENVIRONMENT}", agent.path().display());
    let check = format!("test -n {FILED} && echo {IN_ENVIRONMENT} && false");
    let long = format!(
        "{} && true",
        format!("test -n {FILED}{IN_ENVIRONMENT} && ").repeat(8).trim_end_matches(" && ")
    );
    let with = |args: &[&str]| {
        ralph(&sandbox)
            .env("MY_API_TOKEN", IN_ENVIRONMENT)
            .args([
                "run", "goal", "--yes", "--agent-cmd", &command, "--test-cmd", &check, "--lint-cmd", &long,
            ])
            .args(["--max-iterations", "1", "--fresh"])
            .args(args)
            .run()
    };
    let mut texts = String::new();
    for args in [&["--dry-run"][..], &[], &["--json"]] {
        let shown = with(args);
        texts.push_str(&format!("{args:?}\n{}{}", shown.stdout, shown.stderr));
    }
    for args in [
        &["status"][..],
        &["status", "--json"],
        &["history"],
        &["history", "--json"],
        &["history", "1"],
        &["history", "1", "--json"],
        &["history", "1", "--checks"],
    ] {
        let shown = ralph(&sandbox).env("MY_API_TOKEN", IN_ENVIRONMENT).args(args).run();
        texts.push_str(&format!("{args:?}\n{}{}", shown.stdout, shown.stderr));
    }
    for path in files_below(&sandbox.project().join(".ralph")) {
        texts.push_str(&format!("{}\n{}\n", path.display(), std::fs::read_to_string(&path).expect("text")));
    }
    for secret in [FILED, IN_ENVIRONMENT] {
        let lines = texts.lines().filter(|line| line.contains(&secret[..8]));
        assert_eq!(lines.collect::<Vec<_>>(), [""; 0], "{secret}");
    }
    assert!(texts.contains("--key [redacted:MY_API_TOKEN]"), "{texts}");
    assert!(sandbox.read(".git/ralph/runs/0001/journal.jsonl").contains(IN_ENVIRONMENT));
}

#[test]
fn a_value_inside_a_command_is_shown_nowhere_though_another_one_is_a_word_of_the_record() {
    let sandbox = repository();
    sandbox.write(".env", format!("STRIPE={FILED}\nAUTH_MODE=round_robin\nX_KEY=check_ended\n"));
    let agent = FakeAgent::new("agent").call(says_done()).install(&sandbox);
    let check = format!("test -n {FILED} && false");
    let ran = |args: &[&str]| {
        let run = run(&sandbox, &agent).args(["--max-iterations", "1", "--fresh", "--test-cmd", &check]);
        run.args(["--set", "order=round_robin"]).args(args).run()
    };
    let mut shown = vec![ran(&[]), ran(&["--json"])];
    for args in [&["status"][..], &["status", "--json"], &["history", "1"], &["history", "1", "--json"]] {
        shown.push(ralph(&sandbox).args(args).run());
    }
    for shown in &shown {
        assert!(!shown.stdout.contains(FILED) && !shown.stderr.contains(FILED), "{shown}");
    }
    shown[0].assert_stderr_has("[redacted:STRIPE]");
    let events = shown[1].json_lines();
    assert!(events.iter().any(|event| event["type"] == "check_ended"), "{}", shown[1]);
    assert_hidden_views(&sandbox, FILED);
}

#[test]
fn a_stop_that_names_a_command_is_told_without_its_secret() {
    let sandbox = repository();
    sandbox.write("fix_plan.md", "- [ ] first thing\n");
    sandbox.commit_all("plan");
    sandbox.write(".env", format!("STRIPE={FILED}\n"));
    let agent = FakeAgent::new("agent")
        .call(Steps::new().write("a.txt", "1").status(&StatusBlock::done()))
        .install(&sandbox);
    let check = format!("test -n {FILED} && false");
    let args = ["run", "--yes", "--once", "--test-cmd", &check, "--set", "baseline=off", "--agent-cmd"];
    ralph(&sandbox).args(args).arg(agent.path()).run().assert_code(3);
    for args in [&["history"][..], &["history", "--json"], &["status"], &["status", "--json"]] {
        let shown = ralph(&sandbox).args(args).run();
        shown.assert_code(0).assert_stdout_has("[redacted:STRIPE]");
        assert!(!shown.stdout.contains(FILED), "{shown}");
    }
    let document = ralph(&sandbox).args(["history", "--json"]).run().json();
    let told = document["stops"][0]["text"].as_str().expect("words").to_owned();
    assert!(told.contains("[redacted:STRIPE]"), "{told}");
}
