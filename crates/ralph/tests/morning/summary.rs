use ralph_testkit::{FakeAgent, Sandbox, Schema, StatusBlock, Steps};
use serde_json::{Value, json};

use crate::common::{GOAL, ralph, repository, run, says_done, says_more};

fn summary(sandbox: &Sandbox) -> String {
    let finished = ralph(sandbox).arg("summary").run();
    finished.assert_code(0);
    finished.stdout
}

fn document(sandbox: &Sandbox) -> Value {
    let document = ralph(sandbox).args(["summary", "--json"]).run().assert_code(0).json();
    Schema::published("ralph.summary/1").assert(&document);
    document
}

/// So many stories; STORY-3 depends on STORY-2.
fn stories(sandbox: &Sandbox, count: u64) {
    let story = |nth: u64| {
        let depends: &[&str] = if nth == 3 { &["STORY-2"] } else { &[] };
        json!({"id": format!("STORY-{nth}"), "title": format!("Write file number {nth}"), "passes": false,
               "priority": nth, "dependsOn": depends})
    };
    let stories: Vec<Value> = (1..=count).map(story).collect();
    sandbox.write("prd.json", json!({"userStories": stories}).to_string());
    sandbox.commit_all("stories");
}

const QUESTION: &str = "may the second file be empty, or has it to hold a word?";

#[test]
fn a_summary_names_what_is_proved_with_its_commit_and_the_question_with_its_answer() {
    let sandbox = repository();
    stories(&sandbox, 3);
    one_done_then_questions(&sandbox);

    let text = summary(&sandbox);
    let commit = sandbox.git(&["log", "-1", "--format=%H %s"]);
    let (hash, subject) = commit.trim().split_once(' ').expect("a commit");
    for line in [
        "Run 1: blocked; 1 proved, 1 parked, 1 waiting, 2 of 3 items open\n",
        &format!("Proved (1):\n  STORY-1 {} {subject}\n", &hash[..9]),
        "Parked (1):\n  STORY-2 Write file number 2: blocked: ",
        "    answer with: ralph note --item STORY-2 \"...\"\n",
        "Waiting (1):\n  STORY-3 Write file number 3: for STORY-2\n",
        "2 iterations, ",
        "Next: after your answers: ralph run\n",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    assert!(words.join(" ").contains(QUESTION), "{text}");
    assert!(!text.contains('\u{1b}'), "{text}");

    let document = document(&sandbox);
    assert_eq!(document["passed"][0]["id"], "STORY-1");
    assert_eq!(document["commits"], json!([{"hash": hash, "subject": subject, "by": "ralph"}]));
    assert!(document["parked"][0]["question"].as_str().is_some_and(|asked| asked.contains(QUESTION)));
    assert_eq!(document["waiting"][0]["waits_for"], json!(["STORY-2"]));
    assert_eq!(document["items"], json!({"total": 3, "open": 2}));
}

#[test]
fn a_list_of_ten_with_eight_questions_fits_a_phone_with_each_of_them_and_its_answer() {
    let sandbox = repository();
    stories(&sandbox, 10);
    one_done_then_questions(&sandbox);
    let text = summary(&sandbox);
    assert!(text.lines().count() <= 25 && text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert_eq!(text.matches(QUESTION).count(), 8, "{text}");
    for nth in [2, 4, 5, 6, 7, 8, 9, 10] {
        assert!(text.contains(&format!("answer with: ralph note --item STORY-{nth} \"...\"\n")), "{text}");
    }
    assert!(text.contains("Proved (1): STORY-1\n") && text.contains("Waiting (1): STORY-3\n"), "{text}");
}

/// An agent that does the first story and asks about all others.
fn one_done_then_questions(sandbox: &Sandbox) {
    let test =
        "if test -e file-1; then echo 'ok 1 - has_files'; else echo 'not ok 1 - has_files'; exit 1; fi";
    let blocked = StatusBlock::blocked(&format!("Blocked: {QUESTION}"));
    let agent = FakeAgent::new("agent")
        .call(Steps::new().write("file-1", "one\n").status(&StatusBlock::done()))
        .call(Steps::new().say("I need to know something.").status(&blocked))
        .install(sandbox);
    let backlog = ["run", "--yes", "--test-cmd", test, "--agent-cmd"];
    ralph(sandbox).args(backlog).arg(agent.path()).run().assert_code(2);
}

#[test]
fn a_goal_that_asks_shows_its_question_and_an_agent_s_commits_are_named_as_its_own() {
    let sandbox = repository();
    let commit = "git add -A && git -c user.name=a -c user.email=a@b commit -qm 'Add the parser'";
    let agent = FakeAgent::new("agent")
        .call(
            Steps::new()
                .write("parser.rs", "fn parse() {}\n")
                .shell(commit)
                .status(&StatusBlock::in_progress()),
        )
        .call(Steps::new().status(&StatusBlock::blocked("Blocked: which port?")))
        .install(&sandbox);
    run(&sandbox, &agent).run().assert_code(2);
    let text = summary(&sandbox);
    let hash = sandbox.git(&["rev-parse", "HEAD"]);
    for line in [
        "Run 1: blocked\n",
        &format!("Goal: {GOAL}\n"),
        "Needs your answer:\n  the goal: blocked: ",
        "which port?\n    answer with: ralph note \"...\"\n",
        &format!("Commits (1):\n  {} Add the parser (by the agent)\n", &hash[..9]),
        "Next: after your answer: ralph run\n",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    assert_eq!(document(&sandbox)["parked"][0]["id"], Value::Null);
}

#[test]
fn an_earlier_run_is_summed_up_by_its_number_and_an_unknown_one_is_refused_with_the_last() {
    let sandbox = repository();
    ralph(&sandbox).arg("summary").run().assert_code(0).assert_stdout_has("nothing has been run here yet");
    assert_eq!(document(&sandbox)["run"], Value::Null);
    ralph(&sandbox).args(["summary", "1"]).run().assert_code(64).assert_stderr_has("there is no run 1");

    let agent = FakeAgent::new("agent").call(says_more()).call(says_done()).install(&sandbox);
    run(&sandbox, &agent).args(["--max-iterations", "1"]).run().assert_code(3);
    ralph(&sandbox)
        .args(["run", "--fresh", "another goal", "--yes", "--reviews", "0", "--agent-cmd"])
        .arg(agent.path())
        .run()
        .assert_code(0);
    let earlier = ralph(&sandbox).args(["summary", "1"]).run();
    earlier.assert_code(0).assert_stdout_has("Run 1: 1 of 1 iterations used\n").assert_stdout_has(GOAL);
    assert!(!earlier.stdout.contains("Next:"), "a later run was begun\n{earlier}");
    assert!(summary(&sandbox).starts_with("Run 2: complete"), "{}", summary(&sandbox));
    ralph(&sandbox)
        .args(["summary", "7"])
        .run()
        .assert_code(64)
        .assert_stderr_has("there is no run 7")
        .assert_stderr_has("try: ralph summary 2");
}
