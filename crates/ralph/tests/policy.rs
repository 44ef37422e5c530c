//! The rules a run decides by: profiles, the project's file, and the command line over both.

mod common;

use common::{history, one_call, ralph, repository, run, says_done, says_more, status};
use ralph_testkit::{ClaudeResult, Sandbox, StatusBlock, Steps};
use serde_json::{Value, json};

fn shown(sandbox: &Sandbox, name: &str) -> Value {
    let finished = ralph(sandbox).args(["profile", "show", name, "--json"]).run();
    finished.assert_code(0);
    finished.json()
}

fn key<'a>(profile: &'a Value, name: &str) -> &'a Value {
    let keys = profile["keys"].as_array().expect("a list");
    keys.iter().find(|key| key["key"] == name).unwrap_or_else(|| panic!("{name} is missing"))
}

#[test]
fn profiles_are_listed_with_when_to_use_them() {
    let sandbox = Sandbox::new();
    let list = ralph(&sandbox).args(["profile", "list"]).run();
    list.assert_code(0).assert_stdout_has("default     always").assert_stdout_has("strict ");
    let json = ralph(&sandbox).args(["profile", "list", "--json"]).run().json();
    assert_eq!(json["schema"], "ralph.profiles/1");
    let names: Vec<&str> =
        json["profiles"].as_array().expect("a list").iter().filter_map(|p| p["name"].as_str()).collect();
    assert_eq!(names, ["default", "strict", "dual", "rotations", "analyzer", "worker", "phases"]);
}

#[test]
fn a_profile_shows_every_value_and_marks_what_differs_from_the_default() {
    let sandbox = Sandbox::new();
    let text = ralph(&sandbox).args(["profile", "show", "strict"]).run();
    text.assert_code(0)
        .assert_stdout_has("* gate                    dual")
        .assert_stdout_has("[default: explicit]");
    assert!(text.stdout.lines().any(|line| line.starts_with("  max_iterations          50 ")), "{text}");
    let strict = shown(&sandbox, "strict");
    assert_eq!((&strict["schema"], &strict["name"]), (&json!("ralph.profile/1"), &json!("strict")));
    let gate = key(&strict, "gate");
    assert_eq!(
        (&gate["value"], &gate["default"], &gate["differs"]),
        (&json!("dual"), &json!("explicit"), &json!(true))
    );
    assert_eq!(key(&strict, "cooldown")["differs"], false);
    assert!(key(&strict, "cooldown")["about"].as_str().is_some_and(|about| about.contains("probe")));

    let default = ralph(&sandbox).args(["profile", "show"]).run();
    default.assert_code(0).assert_stdout_has("profile default: always");
    assert!(!default.stdout.contains('*'), "{default}");
}

#[test]
fn a_profile_that_is_not_there_is_64_with_a_suggestion() {
    let sandbox = Sandbox::new();
    ralph(&sandbox)
        .args(["profile", "show", "strickt"])
        .run()
        .assert_code(64)
        .assert_stderr_has("there is no profile 'strickt'")
        .assert_stderr_has("ralph profile show strict");
    ralph(&sandbox)
        .args(["profile", "show", "banana"])
        .run()
        .assert_code(64)
        .assert_stderr_has("profile list");
}

#[test]
fn the_project_s_file_is_for_new_runs_and_the_command_line_beats_it() {
    let sandbox = repository();
    let agent = one_call(&sandbox, Steps::new().shell("echo x >> work").status(&StatusBlock::in_progress()));
    sandbox
        .write(".ralph/config.toml", "profile = \"strict\"\n\n[policy]\nmax_iterations = 1\nreviews = 2\n");
    run(&sandbox, &agent).run().assert_code(3).assert_stderr_has("at most 1 iteration");
    let file = status(&sandbox);
    assert_eq!((&file["run"]["profile"], &file["done_needed"]), (&json!("strict"), &json!(2)));

    let flags = ["--fresh", "--profile", "dual", "--set", "max_iterations=4", "--max-iterations", "2"];
    run(&sandbox, &agent).args(flags).run().assert_code(3);
    let over = status(&sandbox);
    assert_eq!((&over["run"]["profile"], &over["max_iterations"]), (&json!("dual"), &json!(2)));
    assert_eq!(over["done_needed"], 2, "what the file says about single values still holds");

    sandbox.write(".ralph/config.toml", "[policy]\nmax_iterations = 50\n");
    ralph(&sandbox).args(["run", "--set", "reviews=1"]).run().assert_code(3).assert_stderr_has("2 of 2");
    assert_eq!(status(&sandbox)["max_iterations"], 2, "a run that goes on keeps its plan");
}

#[test]
fn a_mistake_in_the_project_s_file_is_told_with_its_line_before_anything_is_begun() {
    let sandbox = repository();
    let agent = one_call(&sandbox, says_done());
    for (text, code, told) in [
        ("[policy]\n\nreviewss = 1\n", 64, ".ralph/config.toml:3: there is no key 'reviewss'"),
        ("[policy]\nreviewss = 1\n", 64, "try: write reviews instead of reviewss"),
        ("[policy]\ngate = \"half\"\n", 64, ".ralph/config.toml:2: 'half' is no value for gate: one of dual"),
        ("profile = \"strickt\"\n", 64, "profile = \"strict\""),
        ("[policy\n", 65, ".ralph/config.toml:1: this is not TOML"),
    ] {
        sandbox.write(".ralph/config.toml", text);
        run(&sandbox, &agent).run().assert_code(code).assert_stderr_has(told);
    }
    sandbox.write(".ralph/config.toml", b"# caf\xe9\n");
    run(&sandbox, &agent).run().assert_code(65).assert_stderr_has("not UTF-8");
    assert_eq!(agent.calls(&sandbox).len(), 0);
    assert!(!sandbox.exists(".git/ralph"), "nothing was begun");
}

#[test]
fn a_budget_warns_once_about_a_command_that_tells_no_cost() {
    let sandbox = repository();
    let agent = one_call(&sandbox, Steps::new().shell("echo x >> work").status(&StatusBlock::in_progress()));
    let finished = run(&sandbox, &agent).args(["--budget", "2", "--max-iterations", "2"]).run();
    finished.assert_code(3);
    assert_eq!(finished.stderr.matches("told no cost").count(), 1, "{finished}");
    ralph(&sandbox).arg("status").run().assert_stdout_has("budget:     not told by the agent, of $2.00\n");
    let most = run(&sandbox, &agent).args(["--fresh", "--max-tokens", "1000", "--max-iterations", "1"]).run();
    most.assert_code(3);
    let shown = ralph(&sandbox).arg("status").run();
    shown.assert_stdout_has("budget:     not told by the agent, of 1,000 tokens\n");
    let without = run(&sandbox, &agent).args(["--fresh", "--max-iterations", "1"]).run();
    without.assert_code(3).assert_stderr_lacks("told no cost");
}

#[test]
fn a_budget_that_is_counted_stops_the_run_and_is_shown() {
    let sandbox = repository();
    let words = format!("More.\n\n{}", StatusBlock::in_progress());
    let steps = Steps::new()
        .shell("echo x >> work")
        .claude_init()
        .claude_text(&words)
        .claude_result(ClaudeResult::success(&words).cost_usd(0.75).usage(1000, 200));
    let agent = one_call(&sandbox, steps);
    run(&sandbox, &agent)
        .args(["--budget", "1.00", "--max-tokens", "1000000"])
        .run()
        .assert_code(6)
        .assert_stderr_has("at most 50 iterations, $1.00, 1,000,000 tokens, one iteration may use more (");
    let shown = ralph(&sandbox).arg("status").run();
    shown.assert_stdout_has("$1.50 of $1.00").assert_stdout_has("2,400 of 1,000,000 tokens");
    let more = one_call_named(&sandbox, "other");
    run(&sandbox, &more).args(["--fresh", "--max-iterations", "1"]).run().assert_code(3);
    let unlimited = ralph(&sandbox).arg("status").run();
    assert!(!unlimited.stdout.contains("budget:"), "{unlimited}");
}

fn one_call_named(sandbox: &Sandbox, name: &str) -> ralph_testkit::InstalledAgent {
    ralph_testkit::FakeAgent::new(name).call(says_more()).install(sandbox)
}

#[test]
fn what_was_spent_is_counted_on_when_a_run_is_continued() {
    let words = format!("More.\n\n{}", StatusBlock::in_progress());
    for (limit, word, shown) in [
        (["--budget", "1.00"], "budget", "$1.50 of $1.00"),
        (["--max-tokens", "2000"], "max_tokens", "2,400 of 2,000 tokens"),
    ] {
        let sandbox = repository();
        let result = ClaudeResult::success(&words).cost_usd(0.75).usage(1000, 200);
        let steps =
            Steps::new().shell("echo x >> work").claude_init().claude_text(&words).claude_result(result);
        let agent = one_call(&sandbox, steps);
        run(&sandbox, &agent).args(limit).args(["--max-iterations", "1"]).run().assert_code(3);
        ralph(&sandbox).args(["run", "--max-iterations", "9"]).run().assert_code(6);
        assert_eq!(status(&sandbox)["stop_reason"], word);
        assert_eq!(agent.calls(&sandbox).len(), 2, "half of it was used before");
        ralph(&sandbox).arg("status").run().assert_stdout_has(shown);
    }
}

#[test]
fn how_to_go_on_names_every_limit_that_is_used_up() {
    let words = format!("More.\n\n{}", StatusBlock::in_progress());
    let result = ClaudeResult::success(&words).cost_usd(0.75).usage(1000, 200);
    let steps = Steps::new().shell("echo x >> work").claude_init().claude_text(&words).claude_result(result);
    let sandbox = repository();
    let agent = one_call(&sandbox, steps);
    let money = ["--max-iterations", "1", "--budget", "0.50", "--max-tokens", "1000"];
    let time = ["--fresh", "--max-iterations", "1", "--max-time", "1ms"];
    for (limits, next) in [
        (&money[..], "ralph run --max-iterations 11 --budget 2 --max-tokens 2400"),
        (&time, "ralph run --max-iterations 11 --max-time 1m"),
    ] {
        let stopped = run(&sandbox, &agent).args(limits).run();
        stopped.assert_code(3).assert_stderr_has(&format!("to go on: {next}\n"));
        ralph(&sandbox).arg("status").run().assert_stdout_has(next);
        let before = agent.calls(&sandbox).len();
        ralph(&sandbox).args(next.split(' ').skip(1)).run();
        assert!(agent.calls(&sandbox).len() > before, "it goes on");
    }
}

/// A message of claude's that uses a tool, and so many tokens.
fn step(id: &str, tokens: u64) -> String {
    let tool = json!({"type": "tool_use", "id": id, "name": "Bash", "input": {"command": "make"}});
    message(id, &tool, tokens)
}

fn message(id: &str, content: &Value, tokens: u64) -> String {
    let usage = json!({"input_tokens": tokens, "output_tokens": 0});
    let message = json!({"id": id, "model": "m", "content": [content], "usage": usage});
    format!("{}\n", json!({"type": "assistant", "message": message, "parent_tool_use_id": null}))
}

/// Works until somebody ends it, and says what it uses meanwhile.
fn spends(steps: Steps) -> Steps {
    steps.write("half.txt", "half\n").claude_init().print(step("one", 600)).print(step("two", 600)).hang()
}

#[test]
fn an_agent_that_uses_up_the_tokens_in_the_middle_of_its_work_is_ended_and_nothing_is_held_against_it() {
    let sandbox = repository();
    sandbox.write("fix_plan.md", "- [ ] first thing\n");
    let agent = one_call(&sandbox, spends(Steps::new()));
    let stopped = ralph(&sandbox)
        .args(["run", "--yes", "--agent-format", "claude", "--agent-cmd"])
        .arg(agent.path())
        .args(["--max-tokens", "1000", "--test-cmd", "test -e half.txt"])
        .run();
    stopped.assert_code(6).assert_stderr_has("the run's tokens are used up (max_tokens)");
    stopped
        .assert_stderr_has("at most 50 iterations, 1,000 tokens: ")
        .assert_stderr_has("1,200 of 1,000 tokens");
    assert_eq!(status(&sandbox)["stop_reason"], "max_tokens");
    assert_eq!(history(&sandbox)[0]["outcome"], "interrupted");
    assert_eq!(sandbox.read("half.txt"), "half\n", "its work is kept");
    assert_eq!(sandbox.read("fix_plan.md"), "- [/] first thing\n", "it is still begun");
    assert!(!sandbox.exists(".git/ralph/evidence.jsonl"), "no attempt is counted");
    sandbox.assert_no_processes();
}

#[test]
fn tokens_with_prices_are_money_and_none_of_it_is_lost_with_a_ralph_that_is_killed() {
    let sandbox = repository();
    let agent = ralph_testkit::FakeAgent::new("pricey")
        .call(Steps::new().claude_init().print(step("one", 600)).reach("agent").hang())
        .call(spends(Steps::new()))
        .install(&sandbox);
    sandbox.write(
        ".ralph/config.toml",
        format!(
            "pool = [\"mine\"]\n[agents.mine]\ncommand = {:?}\nformat = \"claude\"\nprices = \"1000/1000\"\n",
            agent.path()
        ),
    );
    let running = ralph(&sandbox).args(["run", "go", "--yes", "--budget", "1"]).spawn();
    sandbox.wait_for("agent");
    running.kill9();
    running.wait().assert_code(137);
    let stopped = ralph(&sandbox).args(["run", "--yes"]).run();
    // 60 cents before the kill; the 60 of the first message since are enough.
    stopped.assert_code(6).assert_stderr_has("the run's money is used up (budget)");
    assert_eq!(status(&sandbox)["stop_reason"], "budget");
    assert!(stopped.stderr.contains("of $1.00"), "{stopped}");
    let spent = status(&sandbox)["cost"]["micro_usd"].as_u64().expect("its cost");
    assert!((1_200_000..=1_800_000).contains(&spent), "{spent}");
    assert_eq!(agent.calls(&sandbox).len(), 2);
}

#[test]
fn an_agent_that_says_done_with_its_last_tokens_is_heard() {
    let sandbox = repository();
    let words = format!("All done.\n\n{}", StatusBlock::done());
    let said = message("two", &json!({"type": "text", "text": words}), 600);
    let steps = Steps::new().write("whole.txt", "whole\n").claude_init().print(step("one", 600)).print(said);
    let agent = one_call(&sandbox, steps.claude_result(ClaudeResult::success(&words).usage(1200, 0)));
    let finished =
        run(&sandbox, &agent).args(["--max-tokens", "1000", "--reviews", "0", "--test-cmd", "true"]).run();
    finished.assert_code(0);
}

#[test]
fn where_nothing_tells_what_an_agent_uses_the_first_line_says_that_it_may_use_more() {
    let sandbox = repository();
    let agent = one_call_named(&sandbox, "quiet");
    let first = |args: &[&str]| {
        let finished = run(&sandbox, &agent).args(["--fresh", "--max-iterations", "1"]).args(args).run();
        finished.stderr.lines().find(|line| line.contains(" started")).expect("a first line").to_owned()
    };
    let may = "one iteration may use more (quiet may report usage only at the end): ";
    assert!(first(&["--max-tokens", "9"]).contains(&format!("9 tokens, {may}")));
    assert!(first(&["--budget", "2"]).contains(&format!("$2.00, {may}")));
    let plain = first(&["--max-tokens", "9", "--agent-format", "text"]);
    assert!(plain.contains("(quiet reports usage only at the end)"), "{plain}");
    assert!(!first(&["--max-tokens", "9", "--agent-format", "claude"]).contains("may use more"));
    assert!(!first(&[]).contains("may use more"));
}
