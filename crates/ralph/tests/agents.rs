//! Which agents a run has: by default, by name, by the project's file. The built-in ones are stand-ins here;
//! `real_agents` has the real ones.

mod common;

use common::{GOAL, history, ralph, repository, status};
use ralph_testkit::{Finished, Sandbox, StatusBlock, Terminal};
use serde_json::{Value, json};

/// A program of that name that keeps its arguments and its prompt, and says in its CLI's way that it is done.
fn install(sandbox: &Sandbox, name: &str) {
    let script = format!(
        "#!/bin/sh\nprintf '%s\\n' \"$*\" >> \"$HOME/{name}.args\"\ncat > \"$HOME/{name}.prompt\"\n\
         cmp \"$RALPH_PROMPT_FILE\" \"$HOME/{name}.prompt\" && test \"$PWD\" = \"$(pwd -P)\" || exit 9\n\
         cat <<'END'\n{}\nEND\n",
        stream(name)
    );
    sandbox.install_script(name, &script);
}

fn stream(name: &str) -> String {
    let words = format!("Nothing to do.\n\n{}", StatusBlock::done());
    let lines = match name {
        "claude" => vec![json!({"type": "result", "subtype": "success", "is_error": false, "result": words})],
        "codex" => vec![
            json!({"type": "thread.started", "thread_id": "x"}),
            json!({"type": "item.completed", "item": {"id": "1", "type": "agent_message", "text": words}}),
            json!({"type": "turn.completed", "usage": {"input_tokens": 1, "output_tokens": 1}}),
        ],
        "opencode" => vec![
            json!({"type": "text", "sessionID": "x", "part": {"text": words}}),
            json!({"type": "step_finish", "sessionID": "x", "part": {"reason": "stop"}}),
        ],
        "gemini" => vec![
            json!({"type": "message", "role": "assistant", "content": words, "delta": true}),
            json!({"type": "result", "status": "success", "stats": {}}),
        ],
        _ => return words,
    };
    lines.iter().map(Value::to_string).collect::<Vec<_>>().join("\n")
}

fn kept(sandbox: &Sandbox, file: &str) -> String {
    std::fs::read_to_string(sandbox.home().join(file)).unwrap_or_default()
}

fn run(sandbox: &Sandbox, args: &[&str]) -> Finished {
    ralph(sandbox).args(["run", GOAL, "--fresh", "--reviews", "0"]).args(args).run()
}

#[test]
fn without_a_name_the_first_installed_agent_works_and_that_is_said() {
    let sandbox = repository();
    for name in ["gemini", "opencode", "codex", "claude"] {
        install(&sandbox, name);
        let finished = run(&sandbox, &["--permissions", "full"]);
        finished.assert_code(0).assert_stderr_has(&format!("{name} is the first that is installed"));
        assert_eq!(history(&sandbox).last().expect("an iteration")["agent"]["name"], name);
    }
    let named = run(&sandbox, &["--permissions", "full", "--agents", "codex"]);
    named.assert_code(0).assert_stderr_lacks("the first that is installed");
}

#[test]
fn the_prompt_comes_on_standard_input_at_the_top_of_the_project_and_never_as_an_argument() {
    let sandbox = repository();
    sandbox.write("sub/x", "");
    for name in ["claude", "codex", "opencode", "gemini"] {
        install(&sandbox, name);
        let args = ["run", GOAL, "--fresh", "--reviews", "0", "--permissions", "full", "--agents", name];
        ralph(&sandbox).in_folder("sub").args(args).run().assert_code(0);
        assert!(kept(&sandbox, &format!("{name}.prompt")).contains(GOAL), "{name}");
        assert!(!kept(&sandbox, &format!("{name}.args")).contains(GOAL), "{name}");
    }
}

#[test]
fn an_agent_that_is_not_installed_says_how_to_install_that_one() {
    let sandbox = repository();
    for (name, package) in [("codex", "@openai/codex"), ("opencode", "opencode-ai"), ("gemini", "gemini-cli")]
    {
        let finished = run(&sandbox, &["--agents", name, "--permissions", "full"]);
        finished.assert_code(1).assert_stderr_has(&format!("`{name}` is not on the PATH"));
        finished.assert_stderr_has(package).assert_stderr_lacks("claude-code");
    }
    assert!(!sandbox.exists(".ralph"), "nothing was begun");
}

#[test]
fn a_budget_is_refused_with_an_agent_that_tells_no_cost() {
    let sandbox = repository();
    for (name, code) in [("claude", 0), ("codex", 64), ("opencode", 0), ("gemini", 64)] {
        install(&sandbox, name);
        let args = ["--agents", name, "--permissions", "full", "--budget", "5"];
        run(&sandbox, &args).assert_code(code);
    }
    let pool = run(&sandbox, &["--agents", "claude,codex:review", "--permissions", "full", "--budget", "5"]);
    pool.assert_code(64).assert_stderr_has("codex does not report what it costs");
    pool.assert_stderr_has("ralph config set agents.codex.prices INPUT/OUTPUT");
    ralph(&sandbox).args(["config", "set", "agents.codex.prices", "1/10"]).run().assert_code(0);
    let priced = run(&sandbox, &["--agents", "codex", "--permissions", "full", "--budget", "5"]);
    priced
        .assert_code(0)
        .assert_stderr_has("one iteration may use more (codex reports usage only at the end)");
    assert_eq!(status(&sandbox)["cost"]["micro_usd"], 11, "one token in, one out");
    let wrong = ralph(&sandbox).args(["config", "set", "agents.codex.prices", "cheap"]).run();
    wrong.assert_code(64).assert_stderr_has("invalid prices 'cheap'").assert_stderr_has("1.25/10/0.125");
}

/// A claude that spends what it is given, as the real one does.
const SPENDS: &str = r#"#!/bin/sh
cat > /dev/null
for arg; do [ "$last" = --max-budget-usd ] && given=$arg; last=$arg; done
printf '%s\n' "$given" >> "$HOME/given"
echo x >> work
if [ "$given" = 1.000000 ]; then
  echo '{"type":"result","subtype":"success","is_error":false,"result":"More to do.","total_cost_usd":0.75}'
else
  echo '{"type":"result","subtype":"error_max_budget_usd","is_error":true,"errors":["Reached maximum budget"],"total_cost_usd":0.2501}'
  exit 1
fi
"#;

#[test]
fn claude_is_given_what_is_left_of_the_budget_and_its_end_there_is_the_run_s_and_no_failure() {
    let sandbox = repository();
    sandbox.install_script("claude", SPENDS);
    let stopped = run(&sandbox, &["--agents", "claude", "--permissions", "full", "--budget", "1"]);
    stopped
        .assert_code(6)
        .assert_stderr_has("at most 50 iterations, $1.00: ")
        .assert_stderr_has("$1.00 of $1.00");
    assert_eq!(kept(&sandbox, "given"), "1.000000\n0.250000\n");
    let outcomes: Vec<Value> = history(&sandbox).iter().map(|entry| entry["outcome"].clone()).collect();
    assert_eq!(outcomes, ["silent", "interrupted"]);
    assert_eq!(status(&sandbox)["stop_reason"], "budget");
    assert_eq!(sandbox.read("work"), "x\nx\n", "its work is kept");
    // A limit of the user's own that is lower is the agent's affair.
    let own = ["--agents", "claude", "--permissions", "full", "--budget", "9", "--max-iterations", "1"];
    run(&sandbox, &[&own[..], &["--", "--max-budget-usd", "0.2"]].concat()).assert_code(3);
    assert_eq!(history(&sandbox).last().expect("an iteration")["outcome"], "failed");
}

#[test]
fn a_permission_that_a_cli_does_not_know_is_refused_and_may_be_chosen_for_one_alone() {
    let sandbox = repository();
    install(&sandbox, "claude");
    install(&sandbox, "opencode");
    let refused = run(&sandbox, &["--agents", "claude,opencode", "--permissions", "edits"]);
    refused.assert_code(64).assert_stderr_has("opencode has no mode").assert_stderr_has("opencode=inherit");
    let each = ["--agents", "claude,opencode", "--permissions", "edits", "--permissions", "opencode=inherit"];
    run(&sandbox, &each).assert_code(0);
    assert!(kept(&sandbox, "claude.args").contains("acceptEdits"));
    let wrong = run(&sandbox, &["--agents", "claude", "--permissions", "all"]);
    wrong.assert_code(64).assert_stderr_has("one of full, edits, inherit");
}

#[test]
fn models_go_to_the_agent_they_are_named_for() {
    let sandbox = repository();
    install(&sandbox, "claude");
    install(&sandbox, "codex");
    let pool = ["--agents", "claude:work,codex:review", "--permissions", "full"];
    run(&sandbox, &[&pool[..], &["--model", "opus"]].concat())
        .assert_code(64)
        .assert_stderr_has("--model claude=opus");
    run(&sandbox, &[&pool[..], &["--", "--fast"]].concat())
        .assert_code(64)
        .assert_stderr_has("[agents.claude]");
    let args = [&pool[..], &["--model", "claude=opus", "--model", "codex=o9"]].concat();
    ralph(&sandbox).args(["run", GOAL, "--reviews", "2"]).args(&args).run().assert_code(0);
    assert!(kept(&sandbox, "claude.args").contains("--model opus"));
    assert!(kept(&sandbox, "codex.args").contains("--model o9"));
}

#[test]
fn a_command_of_the_project_s_file_is_an_agent_like_others() {
    let sandbox = repository();
    install(&sandbox, "mine");
    install(&sandbox, "claude");
    sandbox.write(
        ".ralph/config.toml",
        "pool = ['mine:work', 'claude:review']\n\n[agents.mine]\ncommand = 'mine --now'\ntitle = 'Mine'\n\
         cost = false\n\n[agents.claude]\nmodel = 'opus'\npermissions = 'edits'\nargs = ['--max-turns', '9']\n",
    );
    // What a file permits is agreed to on a terminal, never by --yes.
    let mut terminal = Terminal::start(&ralph(&sandbox).args(["run", GOAL, "--reviews", "2"]).into_command());
    terminal.wait_for("[y/N]");
    terminal.type_text("y\r");
    assert_eq!(terminal.wait(), 0, "{}", terminal.all_output());
    let names: Vec<_> = history(&sandbox).iter().map(|entry| entry["agent"]["name"].clone()).collect();
    assert_eq!(names, ["mine", "claude"]);
    assert_eq!(kept(&sandbox, "mine.args"), "--now\n");
    let claude =
        "-p --output-format stream-json --verbose --permission-mode acceptEdits --model opus --max-turns 9\n";
    assert_eq!(kept(&sandbox, "claude.args"), claude);
    run(&sandbox, &["--agents", "mine", "--budget", "5"])
        .assert_code(64)
        .assert_stderr_has("mine does not report");
    run(&sandbox, &["--agents", "mime"]).assert_code(64).assert_stderr_has("--agents mine");
    run(&sandbox, &["--agents", "mine", "--permissions", "full"]).assert_code(64);
}

#[test]
fn a_run_that_goes_on_keeps_its_agents_and_takes_others_by_name_from_the_file() {
    let sandbox = repository();
    install(&sandbox, "one");
    install(&sandbox, "two");
    let tables = |one: &str| {
        format!("pool = ['one']\n[agents.one]\ncommand = '{one}'\n[agents.two]\ncommand = 'two'\n")
    };
    sandbox.write(".ralph/config.toml", tables("one first"));
    let limited = ["run", GOAL, "--yes", "--max-iterations", "1"];
    ralph(&sandbox).args(limited).run().assert_code(3);
    sandbox.write(".ralph/config.toml", tables("one second"));
    ralph(&sandbox).args(["run", "--max-iterations", "2"]).run().assert_code(3);
    assert_eq!(kept(&sandbox, "one.args"), "first\nfirst\n");
    ralph(&sandbox).args(["run", "--agents", "two", "--yes"]).run();
    assert_eq!(status(&sandbox)["agent"]["name"], "two");
}

#[test]
fn a_command_is_known_by_the_name_of_its_program_wherever_people_read_of_it() {
    let sandbox = repository();
    install(&sandbox, "my-agent.sh");
    let command = format!("sh {}", sandbox.bin().join("my-agent.sh").display());
    run(&sandbox, &["--agent-cmd", &command, "--commit", "--test-cmd", "true"]).assert_code(0);
    assert_eq!(history(&sandbox)[0]["agent"]["name"], "my-agent.sh");
    assert_eq!(status(&sandbox)["agents"], json!(["my-agent.sh"]));
    let page = sandbox.read(".ralph/history/iteration-001.md");
    assert!(page.contains("- Agent: my-agent.sh\n"), "{page}");

    let pool =
        ["--agent-cmd", &command, "--agent-cmd", &format!("false || {command}"), "--agent-cmd", &command];
    let finished = run(&sandbox, &pool);
    finished.assert_code(0).assert_stderr_has("begins, by my-agent.sh\n");
    let names = json!(["my-agent.sh", "false", "my-agent.sh-2"]);
    assert_eq!(status(&sandbox)["agents"], names, "each has a name of its own");
    ralph(&sandbox).arg("history").run().assert_stdout_has(", by my-agent.sh");
    let shown = ralph(&sandbox).arg("status").run();
    shown.assert_stdout_has(&format!("agent:      my-agent.sh-2: {command}"));
}

#[test]
fn a_new_run_takes_no_agent_over_but_says_which_one_the_last_had_and_what_to_type() {
    let sandbox = repository();
    install(&sandbox, "my-agent.sh");
    let path = sandbox.bin().join("my-agent.sh");
    let path = path.display().to_string();
    run(&sandbox, &["--agent-cmd", &path]).assert_code(0);
    let refused = ralph(&sandbox).args(["run", "goal B", "--reviews", "0"]).run();
    refused.assert_code(1).assert_stderr_has("no agent found");
    let again = hint(&refused, "with the agent of the last run: ");
    assert_eq!(again, format!("ralph run 'goal B' --reviews 0 --agent-cmd {path}"));
    typed(&sandbox, &again).assert_code(0);

    let keep = hint(&refused, "to have it in every run here: ");
    typed(&sandbox, &keep).assert_code(0);
    ralph(&sandbox).args(["run", "goal C", "--reviews", "0", "--yes"]).run().assert_code(0);
    assert_eq!(history(&sandbox).last().expect("an iteration")["agent"]["name"], "my-agent");

    // The same for an agent whose permissions somebody has to choose.
    typed(&sandbox, "ralph config unset pool").assert_code(0);
    install(&sandbox, "claude");
    run(&sandbox, &["--agents", "claude", "--permissions", "edits"]).assert_code(0);
    let refused = ralph(&sandbox).args(["run", "goal D", "--reviews", "0"]).run();
    refused.assert_code(64).assert_stderr_has("permissions are not chosen");
    let again = hint(&refused, "with the agent of the last run: ");
    assert_eq!(again, "ralph run 'goal D' --reviews 0 --agents claude --permissions edits");
    typed(&sandbox, &again).assert_code(0);
}

#[test]
fn where_another_agent_would_work_it_is_said_that_the_last_run_had_a_command() {
    let sandbox = repository();
    install(&sandbox, "my-agent.sh");
    install(&sandbox, "claude");
    let path = sandbox.bin().join("my-agent.sh");
    let path = path.display().to_string();
    run(&sandbox, &["--agent-cmd", &path]).assert_code(0);
    let had = format!("the last run had --agent-cmd {path}");
    let finished = run(&sandbox, &["--permissions", "full"]);
    finished.assert_code(0).assert_stderr_has(&format!("claude is the first that is installed ({had})"));
    run(&sandbox, &["--agent-cmd", &path]).assert_code(0);
    let asked = ralph(&sandbox).args(["run", "goal B", "--reviews", "0"]).into_command();
    let mut terminal = Terminal::builder(&asked).size(200, 30).start();
    terminal.wait_for(&format!("No agent was named; {had}."));
    terminal.wait_for("What may claude do in this folder without asking?");
    terminal.type_text("full\n");
    assert_eq!(terminal.wait(), 0, "{}", terminal.all_output());
}

/// What stands behind these words of an error.
fn hint(finished: &Finished, words: &str) -> String {
    let start = format!("  try: {words}");
    let mut lines = finished.stderr.lines();
    lines
        .find_map(|line| line.strip_prefix(&start))
        .unwrap_or_else(|| panic!("{words}: {finished}"))
        .to_owned()
}

/// A line as somebody types it in a shell.
fn typed(sandbox: &Sandbox, line: &str) -> Finished {
    let line = format!("ralph() {{ '{}' \"$@\"; }}\n{line}", env!("CARGO_BIN_EXE_ralph"));
    sandbox.ralph(std::path::Path::new("/bin/sh")).args(["-c", &line]).run()
}
