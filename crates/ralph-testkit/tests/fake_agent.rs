//! A scripted agent does what its script says and saves what it was given.

use ralph_testkit::{ClaudeResult, FakeAgent, Sandbox, StatusBlock, Steps};
use serde_json::{Value, json};

const BLOCK: &str = "---RALPH_STATUS---
STATUS: COMPLETE
TASKS_COMPLETED_THIS_LOOP: 1
FILES_MODIFIED: 2
TESTS_STATUS: PASSING
WORK_TYPE: IMPLEMENTATION
EXIT_SIGNAL: true
RECOMMENDATION: All tasks complete, tests passing, summary
---END_RALPH_STATUS---
";

#[test]
fn files_words_and_exit_code_are_as_scripted() {
    let sandbox = Sandbox::new();
    sandbox.write("old.txt", "x");
    let awkward = "it's \"$HOME\" `id` \\n %s\nsecond line without an end";
    let agent = FakeAgent::new("agent")
        .call(
            Steps::new()
                .write("deep/it's $new.txt", awkward)
                .append("deep/it's $new.txt", "\nmore\n")
                .delete("old.txt")
                .shell("echo \"call $call\" > number.txt")
                .say(awkward)
                .status(&StatusBlock::done())
                .complain("a warning")
                .print([b'a', 0, 0xff])
                .exit(7)
                .say("never said"),
        )
        .install(&sandbox);
    let output = sandbox.command(agent.path()).output().expect("start the agent");
    assert_eq!(output.status.code(), Some(7));
    assert_eq!(output.stdout, [format!("{awkward}\n{BLOCK}").as_bytes(), &[b'a', 0, 0xff]].concat());
    assert_eq!(output.stderr, b"a warning\n");
    assert_eq!(sandbox.read("deep/it's $new.txt"), format!("{awkward}\nmore\n"));
    assert_eq!(sandbox.read("number.txt"), "call 1\n");
    assert!(!sandbox.exists("old.txt"));
}

#[test]
fn each_call_has_its_steps_and_the_last_ones_repeat() {
    let sandbox = Sandbox::new();
    let agent =
        FakeAgent::new("agent").call(Steps::new().say("one")).call(Steps::new().say("two")).install(&sandbox);
    let said: Vec<String> = (0..3).map(|_| sandbox.ralph(agent.path()).run().stdout).collect();
    assert_eq!(said, ["one\n", "two\n", "two\n"]);
}

#[test]
fn steps_can_follow_the_iteration_instead_of_the_call() {
    let sandbox = Sandbox::new();
    let agent = FakeAgent::new("agent").call(Steps::new().say("one")).call(Steps::new().say("two"));
    let agent = agent.by_iteration().install(&sandbox);
    let run = |iteration: &str| sandbox.ralph(agent.path()).env("RALPH_ITERATION", iteration).run();
    assert_eq!(run("2").stdout, "two\n");
    assert_eq!(run("1").stdout, "one\n");
}

#[test]
fn prompt_arguments_and_environment_are_saved() {
    let sandbox = Sandbox::new();
    let first = FakeAgent::new("claude").install(&sandbox);
    let second = FakeAgent::new("other").ignoring_stdin().install(&sandbox);
    let command = sandbox.ralph(first.path()).args(["-p", "two\nlines", ""]).env("RALPH_RUN_ID", "a\nb");
    command.stdin("the prompt\n").run().assert_code(0);
    sandbox.ralph(second.path()).stdin("unread").run().assert_code(0);

    let calls = sandbox.agent_calls();
    assert_eq!(calls.len(), 2);
    assert_eq!((calls[0].agent.as_str(), calls[0].prompt.as_str()), ("claude", "the prompt\n"));
    assert_eq!(calls[0].args, ["-p", "two\nlines", ""]);
    assert_eq!(calls[0].ralph_env().into_iter().collect::<Vec<_>>(), [("RALPH_RUN_ID", "a\nb")]);
    assert_eq!(second.calls(&sandbox), [calls[1].clone()]);
    assert_eq!((calls[1].prompt.as_str(), calls[1].args.len()), ("", 0));
    assert!(sandbox.root().join("prompts/001.txt").is_file());
}

#[test]
fn test_and_agent_meet_without_sleeping() {
    let sandbox = Sandbox::new();
    let steps = Steps::new().reach("inside").hold("go").write("after.txt", "x").reach("done").hang();
    let agent = FakeAgent::new("agent").call(steps).install(&sandbox);
    let running = sandbox.ralph(agent.path()).spawn();
    sandbox.wait_for("inside");
    assert!(!sandbox.exists("after.txt"));
    sandbox.release("go");
    sandbox.wait_for("done");
    assert!(sandbox.exists("after.txt"));
    running.kill9();
    running.wait().assert_code(137);
    sandbox.assert_no_processes();
}

#[test]
fn a_claude_stream_has_the_shape_of_the_real_one() {
    let sandbox = Sandbox::new();
    let steps = Steps::new()
        .claude_init()
        .claude_text("I will write it.")
        .claude_tool("Write", json!({"file_path": "hello.txt", "content": "it's\n"}))
        .claude_tool_ok("File created successfully")
        .claude_tool("Bash", json!({"command": "false"}))
        .claude_tool_error("Exit code 1")
        .claude_text(format!("Done \\ \"now\".\n\n{}", StatusBlock::done()))
        .claude_result(ClaudeResult::success("Done").denied("Bash", json!({"command": "false"})));
    let agent = FakeAgent::new("claude").call(steps).install(&sandbox);
    let lines = |text: &str| -> Vec<Value> {
        text.lines().map(|line| serde_json::from_str(line).expect("a JSON line")).collect()
    };
    let output = sandbox.ralph(agent.path()).run();
    let first = lines(&output.stdout);

    assert!(output.stdout.lines().all(|line| line.starts_with(r#"{"type":""#)));
    let types: Vec<&str> = first.iter().filter_map(|line| line["type"].as_str()).collect();
    assert_eq!(
        types,
        ["system", "assistant", "assistant", "user", "assistant", "user", "assistant", "result"]
    );
    assert_eq!(first[0]["cwd"], sandbox.project().to_str().expect("a path in UTF-8"));
    let ids: Vec<&Value> = [1, 2, 4, 6].iter().map(|&line| &first[line]["message"]["id"]).collect();
    assert_eq!(ids, ["msg_1", "msg_1", "msg_2", "msg_3"]);
    assert_eq!(first[2]["message"]["content"][0]["input"]["content"], "it's\n");
    assert_eq!(first[3]["message"]["content"][0]["tool_use_id"], "toolu_0001");
    assert_eq!(first[5]["message"]["content"][0]["is_error"], true);
    assert_eq!(
        first[6]["message"]["content"][0]["text"],
        format!("Done \\ \"now\".\n\n{}", BLOCK.trim_end())
    );
    let result = &first[7];
    assert_eq!(result["usage"]["output_tokens"], 150);
    assert_eq!(result["total_cost_usd"], 0.00525);
    assert_eq!(result["permission_denials"][0]["tool_name"], "Bash");

    let second = lines(&sandbox.ralph(agent.path()).run().stdout);
    assert_ne!(first[0]["session_id"], second[0]["session_id"]);
    assert!(first.iter().all(|line| line["session_id"] == first[0]["session_id"]));
}

#[test]
fn a_claude_stream_can_fail_in_the_real_ways() {
    let sandbox = Sandbox::new();
    let refused = Steps::new()
        .claude_init()
        .claude_api_error("rate_limit", "API Error: Request rejected (429)")
        .claude_result(ClaudeResult::api_error(429, "API Error: Request rejected (429)"))
        .exit(1);
    let cut_off =
        Steps::new().claude_text("x").claude_result(ClaudeResult::max_turns(1).usage(7, 8).cost_usd(0.25));
    let agent = FakeAgent::new("claude").call(refused).call(cut_off).install(&sandbox);
    let last = |code: i32| -> Value {
        let output = sandbox.ralph(agent.path()).run();
        output.assert_code(code);
        serde_json::from_str(output.stdout.lines().last().expect("a line")).expect("a JSON line")
    };
    let refusal = last(1);
    assert_eq!((&refusal["subtype"], &refusal["is_error"]), (&json!("success"), &json!(true)));
    assert_eq!((&refusal["api_error_status"], &refusal["total_cost_usd"]), (&json!(429), &json!(0)));
    let cut = last(0);
    assert_eq!((&cut["subtype"], &cut["result"]), (&json!("error_max_turns"), &Value::Null));
    assert_eq!((&cut["usage"]["input_tokens"], &cut["total_cost_usd"]), (&json!(7), &json!(0.25)));
}
